#!/usr/bin/env python3
"""Compares drydock's presets with the programs whose rules they follow, and
measures those programs beside drydock's own check.

    contam_peers.py --decon BIN --drydock BIN --scratch DIR [--update]
    contam_peers.py --decon BIN --drydock BIN --scratch DIR --corpus DIR

Run it with the python that has datatrove 0.10.1 and lm-eval 0.4.13. The first
form asks the peers about our own small corpus and compares with the goldens in
dedup/contam/preset/testdata/interop; it ends with 1 when anything differs, and
--update rewrites them. The second form takes a labelled corpus (bench.json,
labels.jsonl, and flat.jsonl or corpus.jsonl) that is no part of this project,
and prints agreement, recall and precision; nothing of it is kept.
"""
import argparse
import collections
import contextlib
import hashlib
import importlib.util
import io
import json
import os
import pathlib
import re
import resource
import shutil
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
GOLDEN = ROOT / "dedup" / "contam" / "preset" / "testdata" / "interop"
HAN = re.compile(r"[\u3400-\u9fff]")
# as decon's own documentation tunes it: no reference is left out, every token is
# looked at, questions stand alone
BEST = ["--tokenizer", "uniseg", "--eval-min-token-length", "0", "--eval-min-unique-word-count", "0",
        "--sample-every-m-tokens", "1", "--contamination-score-threshold", "0.6"]


# --- items and rows ---------------------------------------------------------

def items(bench):
    for i, row in enumerate(json.loads(bench.read_text(encoding="utf-8"))):
        options = [(k, row[k]) for k in "ABCD" if row.get(k)]
        yield {"index": row.get("index", i), "stem": row["question"], "options": options,
               "right": dict(options).get(row["answer"], "")}


def flat(folder):
    name = folder / "flat.jsonl"
    rows = [json.loads(l) for l in (name if name.exists() else folder / "corpus.jsonl").open(encoding="utf-8")]
    return [{"id": r["id"], "text": r["text"] if "text" in r else "\n".join(m["content"] for m in r["messages"])} for r in rows]


def printed(item):
    return item["stem"] + "".join(f"\n{k}. {t}" for k, t in item["options"])


# --- the peers --------------------------------------------------------------

def lm_eval(bench, rows):
    """The Janitor in Python; its clean() drops any text of less than 200
    characters, so the comparison inside it is asked."""
    where = pathlib.Path(importlib.util.find_spec("lm_eval").submodule_search_locations[0])
    spec = importlib.util.spec_from_file_location("janitor", where / "decontamination" / "janitor.py")
    module = importlib.util.module_from_spec(spec)
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        spec.loader.exec_module(module)
    janitor = module.Janitor()
    for item in bench:
        janitor.register_contaminant_python(printed(item))
    hit = lambda text: any(janitor.normalize_string(gram) in janitor.dirt_ngrams
                           for gram, _ in module.word_ngrams_indices(text, janitor.ngram_n))
    return {r["id"] for r in rows if hit(r["text"])}


def datatrove(bench, rows, scratch, query, language="eng"):
    """The indexer's own hashes and the filter's own answer; run() is left out,
    since it cannot be had without lighteval."""
    import numpy
    from loguru import logger
    logger.remove()
    from datatrove.data import Document
    from datatrove.pipeline.decont.n_grams import NGramsDecontConfig, NGramsDecontFilter, NGramsDecontIndexer
    NGramsDecontIndexer._requires_dependencies = []
    config = NGramsDecontConfig(find_query_ngrams=query)
    folder = scratch / f"datatrove-{query}-{language}"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    indexer = NGramsDecontIndexer(str(folder), config=config, language=language)
    hashes = set()
    for item in bench:
        hashes.update(indexer.compute_hashes(item["right"], item["stem"]))
    numpy.array(sorted(hashes), dtype=config.hash_config.np_descr).tofile(folder / "items.index.hashes")
    filt = NGramsDecontFilter(str(folder), config=config, language=language)
    with contextlib.redirect_stderr(io.StringIO()):
        return {r["id"] for r in rows if filt.filter(Document(text=r["text"], id=r["id"])) is not True}


def references(bench, folder, answers=True):
    """decon's reference rows, one for each option."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    with (folder / "bench.jsonl").open("w", encoding="utf-8") as out:
        number = 0
        for item in bench:
            for k, text in (item["options"] or [("", "")]) if answers else [("", None)]:
                row = {"eval_key": "bench", "eval_instance_index": item["index"], "split": "test", "doc_id": number,
                       "question": item["stem"]}
                if text is not None:
                    row |= {"answer": text, "is_correct": text == item["right"]}
                mark = hashlib.sha256((row["question"] + (text or "")).encode()).hexdigest()[:16]
                out.write(json.dumps(row | {"fingerprint": mark}, ensure_ascii=False) + "\n")
                number += 1


def decon(binary, bench, rows, scratch, flags, answers=True):
    """decon detect; returns id → items, and the processor time of one run."""
    evals, train, report = scratch / "decon-evals", scratch / "decon-train", scratch / "decon-report"
    references(bench, evals, answers)
    for d in (train, report):
        shutil.rmtree(d, ignore_errors=True)
        d.mkdir(parents=True)
    with (train / "rows.jsonl").open("w", encoding="utf-8") as out:
        for r in rows:
            out.write(json.dumps(r, ensure_ascii=False) + "\n")
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([binary, "detect", "--training-dir", train, "--evals-dir", evals, "--report-output-dir", report,
                    "--content-key", "text", "--worker-threads", "1", *flags], check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    hits = collections.defaultdict(set)
    for name in report.rglob("*.jsonl"):
        for line in name.open(encoding="utf-8"):
            r = json.loads(line)
            hits[rows[r["training_line"]]["id"]].add(r["eval_instance_index"])
    return hits, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


# --- drydock ----------------------------------------------------------------

def drydock(binary, folder, rows, scratch, flags=()):
    """drydock contam check; returns id → items that fail, and processor time."""
    data, report = scratch / "rows.jsonl", scratch / "report.jsonl"
    with data.open("w", encoding="utf-8") as out:
        for r in rows:
            out.write(json.dumps(r, ensure_ascii=False) + "\n")
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([binary, "contam", "check", data, "--against", folder / "bench.json", "--report", report, "-q",
                           "-j", "1", *flags], capture_output=True, text=True, env=dict(os.environ, DRYDOCK_HOME=str(scratch / "home")))
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode not in (0, 10):
        sys.exit(f"drydock {' '.join(flags)}: {done.stderr}")
    hits = collections.defaultdict(set)
    for line in report.open(encoding="utf-8"):
        r = json.loads(line)
        if r["fail"]:
            hits[r["record"]["id"]].add(r["item"]["index"])
    return hits, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


PRESETS = ["decon", "lm-eval", "datatrove", "datatrove-query"]


def peers(a, bench, rows):
    """What each program says, by the preset that follows it."""
    return {
        "decon": {i: sorted(v) for i, v in decon(a.decon, bench, rows, a.scratch, ["--tokenizer", "uniseg"])[0].items()},
        "lm-eval": sorted(lm_eval(bench, rows)),
        "datatrove": sorted(datatrove(bench, rows, a.scratch, False)),
        "datatrove-query": sorted(datatrove(bench, rows, a.scratch, True)),
    }


def agreement(rows, theirs, ours, named=False):
    same = [r for r in rows if (set(theirs.get(r["id"], ())) == ours.get(r["id"], set()) if named
                                else (r["id"] in theirs) == (r["id"] in ours))]
    return len(same), [r["id"] for r in rows if r not in same]


# --- our own corpus ---------------------------------------------------------

def own(a):
    bench, rows = list(items(GOLDEN / "bench.json")), flat(GOLDEN)
    theirs = peers(a, bench, rows)
    bad = 0
    for name in PRESETS:
        file = GOLDEN / f"{name}.json"
        text = json.dumps(theirs[name], ensure_ascii=False, indent=1, sort_keys=True) + "\n"
        if a.update:
            file.write_text(text, encoding="utf-8")
        elif file.read_text(encoding="utf-8") != text:
            print(f"{name}: the program's answer is not the golden one")
            bad += 1
        hits, _ = drydock(a.drydock, GOLDEN, rows, a.scratch, ["--preset", name])
        same, other = agreement(rows, theirs[name], hits, named=name == "decon")
        print(f"{name:16} {same} of {len(rows)} rows agree, {len(theirs[name])} hit", *other[:10])
        bad += same < .98 * len(rows)
    return bad


# --- a labelled corpus ------------------------------------------------------

def score(labels, hits, named):
    found, positive, wrong, negative = 0, 0, 0, 0
    for l in labels:
        got = hits.get(l["id"])
        if l["label"] == "positive":
            positive += 1
            found += bool(got is not None and (not named or set(got) & {l["item"], *l["also"]}))
        elif l["label"] == "negative":
            negative += 1
            wrong += l["id"] in hits
    return found / positive, wrong / negative, found / max(1, found + wrong)


def labelled(a):
    bench, rows = list(items(a.corpus / "bench.json")), flat(a.corpus)
    labels = [json.loads(l) for l in (a.corpus / "labels.jsonl").open(encoding="utf-8")]
    english = [r for r in rows if not HAN.search(r["text"])]
    chinese = [r for r in rows if HAN.search(r["text"])]
    size = sum(len(r["text"].encode()) for r in rows) / 1e6
    theirs = peers(a, bench, rows)
    bad = 0
    print(f"{len(rows)} rows, {len(english)} of them English, {len(bench)} items, {size:.1f} MB of text\n")
    print(f"{'preset':16} {'English':>8} {'Chinese':>8} {'hits':>6} {'theirs':>6}  rows that differ")
    for name in PRESETS:
        hits, _ = drydock(a.drydock, a.corpus, rows, a.scratch, ["--preset", name])
        en, other = agreement(english, theirs[name], hits)
        zh, more = agreement(chinese, theirs[name], hits)
        print(f"{name:16} {en / len(english):8.4f} {zh / len(chinese):8.4f} {len(hits):6} {len(theirs[name]):6} ", *other[:4], *more[:4])
        bad += en < .98 * len(english)
    for name, preset, hits in [
            ("decon, its default", "decon-cl100k", decon(a.decon, bench, rows, a.scratch, [])[0]),
            ("datatrove, zh words", "datatrove-query", {i: () for i in datatrove(bench, rows, a.scratch, True, "cmn_Hani")})]:
        ours, _ = drydock(a.drydock, a.corpus, rows, a.scratch, ["--preset", preset])
        en, other = agreement(english, hits, ours)
        zh, more = agreement(chinese, hits, ours)
        print(f"{name:20} {en / len(english):4.4f} {zh / len(chinese):8.4f} {len(ours):6} {len(hits):6} ", *other[:4], *more[:4])
    print(f"\n{'program':34} {'recall':>7} {'false':>7} {'precision':>9} {'CPU s':>7}")
    runs = [("drydock", lambda: drydock(a.drydock, a.corpus, rows, a.scratch)),
            ("drydock --preset gpt3", lambda: drydock(a.drydock, a.corpus, rows, a.scratch, ["--preset", "gpt3"])),
            ("decon 0.3.0, defaults", lambda: decon(a.decon, bench, rows, a.scratch, [])),
            ("decon 0.3.0, best recall", lambda: decon(a.decon, bench, rows, a.scratch, BEST, answers=False))]
    for name, run in runs:
        hits, cpu = run()
        r, f, p = score(labels, hits, True)
        print(f"{name:34} {r:7.4f} {f:7.4f} {p:9.4f} {cpu:7.2f}")
    for name in ("lm-eval", "datatrove", "datatrove-query"):
        r, f, p = score(labels, {i: () for i in theirs[name]}, False)
        print(f"{name + ' (any item counts)':34} {r:7.4f} {f:7.4f} {p:9.4f}")
    start = time.process_time()
    jieba = datatrove(bench, rows, a.scratch, True, "cmn_Hani")
    r, f, p = score(labels, {i: () for i in jieba}, False)
    print(f"{'datatrove-query, Chinese words':34} {r:7.4f} {f:7.4f} {p:9.4f} {time.process_time() - start:7.2f}")
    return bad


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--decon", required=True)
    p.add_argument("--drydock", required=True)
    p.add_argument("--scratch", type=pathlib.Path, required=True)
    p.add_argument("--corpus", type=pathlib.Path)
    p.add_argument("--update", action="store_true")
    a = p.parse_args()
    a.scratch.mkdir(parents=True, exist_ok=True)
    sys.exit(1 if (labelled(a) if a.corpus else own(a)) else 0)


main()
