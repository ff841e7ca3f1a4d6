#!/usr/bin/env python3
"""Hashes the reports that the real EvalScope 1.4.2 makes of every possible score.

    VENV/bin/python reports.py [--update]

Run by the Python that EvalScope is installed for. Its own mean, generator and
encoder make a report for each count of right answers of 1,888, and for each of
every smaller test up to 120; the two hashes are those of all these reports, a
line end after each. They are compared with eval/evalscope/testdata/interop/
reports.sha256, or written there.
"""
import argparse
import hashlib
import pathlib
import sys
import types

GOLDEN = pathlib.Path(__file__).resolve().parent.parent.parent / "eval" / "evalscope" / "testdata" / "interop" / "reports.sha256"
DESCRIPTION = (
    "MaritimeBench is a benchmark for evaluating AI models on maritime-related multiple-choice questions. It consists of questions "
    "related to maritime knowledge, where the model must select the correct answer from given options."
)


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--update", action="store_true")
    a = ap.parse_args()

    sys.path.pop(0)  # this folder has an evalscope.py of its own
    from evalscope.api.metric import AggScore
    from evalscope.metrics.metric import Mean
    from evalscope.report.generator import ReportGenerator
    from evalscope.version import __version__
    assert __version__ == "1.4.2", __version__
    bench = types.SimpleNamespace(name="maritime_bench", category_map={}, description=DESCRIPTION, pretty_name="MaritimeBench")

    def report(right, n):
        score = Mean().agg_func([1.0] * right + [0.0] * (n - right))
        agg = AggScore(score=score, metric_name="acc", aggregation_name="mean", num=n)
        return ReportGenerator.generate_report({"default": [agg]}, "m", bench).to_json_str()

    def sum_of(counts):
        h = hashlib.sha256()
        for right, n in counts:
            h.update(report(right, n).encode() + b"\n")
        return h.hexdigest()

    got = "".join(f"{sum_of(counts)}  {name}\n" for name, counts in (
        ("1888", ((k, 1888) for k in range(1889))),
        ("1-120", ((k, n) for n in range(1, 121) for k in range(n + 1))),
    ))
    if a.update:
        GOLDEN.write_text(got, newline="\n")
    want = GOLDEN.read_text()
    print(got, end="")
    raise SystemExit(0 if got == want else f"differs from {GOLDEN}:\n{want}")


if __name__ == "__main__":
    main()
