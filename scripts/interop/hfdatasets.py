#!/usr/bin/env python3
"""Loads rows that drydock wrote with the real Hugging Face `datasets`.

Run it with a Python that has datasets installed:

    VENV/bin/python hfdatasets.py --drydock BIN --scratch DIR [--update]

Every .jsonl file of the sample's run, and the sample's sources in each row shape,
must load as one table: as many rows as lines, every field of every row with its
value, the same columns and types as the golden (testdata/datasets.json beside
this script; --update rewrites it). It ends with 1 when anything differs.
"""
import argparse
import importlib.metadata
import json
import os
import pathlib
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
PROJECT = HERE.parent.parent / "data" / "samples" / "colreg"
GOLDEN = HERE / "testdata" / "datasets.json"


def kind(feature):
    """A feature in short: string, [string], {a: string}; the same in every version of datasets."""
    if isinstance(feature, dict):
        return {k: kind(v) for k, v in sorted(feature.items())}
    if isinstance(feature, list):
        return [kind(feature[0])]
    if hasattr(feature, "feature"):  # Sequence, List
        return [kind(feature.feature)]
    return feature.dtype


def covers(want, got):
    """Whether got holds want. Arrow gives fields that other rows have as null."""
    if isinstance(want, dict):
        return isinstance(got, dict) and all(covers(v, got.get(k)) for k, v in want.items()) and all(v is None for k, v in got.items() if k not in want)
    if isinstance(want, list):
        return isinstance(got, list) and len(want) == len(got) and all(map(covers, want, got))
    return want == got and (isinstance(want, bool) == isinstance(got, bool))


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--drydock", required=True, help="the drydock program")
    ap.add_argument("--scratch", required=True, type=lambda s: pathlib.Path(s).resolve(), help="a folder to work in")
    ap.add_argument("--update", action="store_true", help="rewrite the golden")
    a = ap.parse_args()
    drydock = str(pathlib.Path(a.drydock).absolute())
    a.scratch.mkdir(parents=True, exist_ok=True)
    os.environ.update(HF_HUB_OFFLINE="1", HF_HOME=str(a.scratch / "hf"), HF_DATASETS_DISABLE_PROGRESS_BARS="1")
    from datasets import load_dataset
    print("datasets", importlib.metadata.version("datasets"))

    project = a.scratch / "colreg"
    shutil.rmtree(project, ignore_errors=True)
    shutil.copytree(PROJECT, project, ignore=shutil.ignore_patterns("build", "runs", ".drydock"))
    env = {**os.environ, "DRYDOCK_HOME": str(a.scratch / "home"), "LC_ALL": "C.UTF-8"}
    subprocess.run([drydock, "run", "-q"], cwd=project, env=env, check=True, stdout=subprocess.DEVNULL)
    for shape, sources in (("question", ("bank.pdf", "bank.txt", "bank.xlsx")), ("passage", ("rules.docx", "rules.html")), ("qwen3_chat", ("bank.xlsx",))):
        subprocess.run([drydock, "prep", *(f"raw/{s}" for s in sources), "-q", "--to", shape, "--license", "CC0-1.0", "-o", f"build/prep/{shape}.jsonl", "--dropped", f"build/prep/{shape}.dropped.jsonl"],
                       cwd=project, env=env, check=True, stdout=subprocess.DEVNULL)

    kept = json.loads(GOLDEN.read_text(encoding="utf-8")) if GOLDEN.exists() else {}
    found, bad = {}, 0
    for path in sorted((project / "build").rglob("*.jsonl")):
        name = path.relative_to(project).as_posix()
        if "/." in name or name.startswith("build/eval/"):
            continue
        rows = [json.loads(l) for l in path.read_text(encoding="utf-8").split("\n") if l]
        if not rows:
            continue
        try:
            table = load_dataset("json", data_files=str(path), split="train", cache_dir=str(a.scratch / "cache" / name.replace("/", "_")))
        except Exception as err:  # what it raises is what we want to know
            bad += 1
            print(f"  FAILS    {name}: {err.__class__.__name__}: {err.__cause__ or err}")
            continue
        found[name] = {"rows": len(table), "columns": {k: kind(v) for k, v in table.features.items()}}
        lost = [i for i, (w, g) in enumerate(zip(rows, table)) if not covers(w, g)]
        ok = len(rows) == len(table) and not lost and (a.update or kept.get(name) == found[name])
        bad += not ok
        print(f"  {'same   ' if ok else 'DIFFERS'}  {name}: {len(table)} of {len(rows)} rows, {len(lost)} changed, columns {' '.join(table.column_names)}")
        if lost:
            print(f"           row {lost[0]}: {rows[lost[0]]!r:.600}\n           read {table[lost[0]]!r:.600}")
        elif not ok:
            print(f"           golden {kept.get(name)}\n           now    {found[name]}")
    if a.update:
        GOLDEN.parent.mkdir(exist_ok=True)
        GOLDEN.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8", newline="\n")
    print("everything is the same" if not bad else f"{bad} differences")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
