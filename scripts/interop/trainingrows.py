#!/usr/bin/env python3
"""Opens rows that drydock wrote for training with the real libraries.

Run it with a Python that has datasets (4 or 5) and, for the templates, transformers:

    python3 -m venv VENV && VENV/bin/pip install datasets transformers jinja2
    VENV/bin/python trainingrows.py --drydock BIN --scratch DIR [--tokenizer DIR] [--update]

The sample's questions are written in every shape of training rows, as JSON Lines,
JSON, Parquet and Arrow, and as both folders. load_dataset and load_from_disk must
give the same rows for each, with the columns of the golden
(testdata/trainingrows.json beside this script; --update rewrites it). With
--tokenizer, a folder with Qwen3's tokenizer and chat template, the ids of the shape
tokens must be those apply_chat_template gives for the shape openai. It ends with 1
when anything differs.
"""
import argparse
import importlib.metadata
import json
import os
import pathlib
import shutil
import subprocess
import sys

from hfdatasets import covers, kind

HERE = pathlib.Path(__file__).resolve().parent
RAW = HERE.parent.parent / "data" / "samples" / "colreg" / "raw"
GOLDEN = HERE / "testdata" / "trainingrows.json"
QUESTIONS = ("openai", "prompt_completion", "sharegpt", "alpaca", "tokens", "swift", "swift-dpo", "swift-kto", "llamafactory", "llamafactory-dpo",
             "llamafactory-kto", "trl", "trl-dpo", "trl-kto", "axolotl", "axolotl-dpo", "axolotl-segments", "qwen3_chat")
TEXT = ("text", "swift-pretrain", "llamafactory-pretrain")


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--drydock", required=True, help="the drydock program")
    ap.add_argument("--scratch", required=True, type=lambda s: pathlib.Path(s).resolve(), help="a folder to work in; it is emptied")
    ap.add_argument("--tokenizer", help="a folder with Qwen3's tokenizer and chat template")
    ap.add_argument("--update", action="store_true", help="rewrite the golden")
    a = ap.parse_args()
    drydock = str(pathlib.Path(a.drydock).absolute())
    shutil.rmtree(a.scratch, ignore_errors=True)
    a.scratch.mkdir(parents=True)
    os.environ.update(HF_HUB_OFFLINE="1", HF_HOME=str(a.scratch / "hf"), HF_DATASETS_DISABLE_PROGRESS_BARS="1")
    from datasets import load_dataset, load_from_disk
    print("datasets", importlib.metadata.version("datasets"))
    env = {**os.environ, "DRYDOCK_HOME": str(a.scratch / "home"), "LC_ALL": "C.UTF-8"}

    def prep(shape, out, *more):
        subprocess.run([drydock, "prep", str(RAW / ("rules.docx" if shape in TEXT else "bank.xlsx")), "-q", "--to", shape, "--license", "CC0-1.0", "-o", str(out), *more],
                       env=env, check=True, stdout=subprocess.DEVNULL)

    kept = json.loads(GOLDEN.read_text(encoding="utf-8")) if GOLDEN.exists() else {}
    found, bad = {}, 0
    for shape in QUESTIONS + TEXT:
        work = a.scratch / shape
        prep(shape, work / "rows.jsonl")
        want = [json.loads(line) for line in (work / "rows.jsonl").read_text(encoding="utf-8").splitlines()]
        tables = {}
        for ext in ("json", "parquet", "arrow"):
            prep(shape, work / ("rows." + ext))
        for ext in ("jsonl", "json", "parquet", "arrow"):
            tables[ext] = lambda ext=ext: load_dataset("json" if ext == "jsonl" else ext, data_files=str(work / ("rows." + ext)), split="train", cache_dir=str(work / ("cache-" + ext)))
        prep(shape, work / "hub", "--layout", "hub")
        prep(shape, work / "disk", "--layout", "disk")
        tables["hub"] = lambda: load_dataset(str(work / "hub"), split="train", cache_dir=str(work / "cache-hub"))
        tables["disk"] = lambda: load_from_disk(str(work / "disk"))
        for name, load in tables.items():
            try:
                table = load()
            except Exception as err:  # what it raises is what we want to know
                bad += 1
                print(f"  FAILS    {shape} {name}: {err.__class__.__name__}: {err.__cause__ or err}")
                continue
            lost = sum(not covers(w, g) for w, g in zip(want, table))
            entry = {"rows": len(table), "columns": {k: kind(v) for k, v in table.features.items()}}
            if name in ("parquet", "arrow", "hub", "disk"):
                ok = found.setdefault(shape, entry) == entry
            else:
                ok = True
            ok = ok and len(table) == len(want) and not lost and (a.update or name in ("jsonl", "json") or kept.get(shape) == entry)
            bad += not ok
            print(f"  {'same   ' if ok else 'DIFFERS'}  {shape} {name}: {len(table)} of {len(want)} rows, {lost} changed")
    if a.tokenizer:
        from transformers import AutoTokenizer
        tok = AutoTokenizer.from_pretrained(a.tokenizer)
        rows = {s: [json.loads(line) for line in (a.scratch / s / "rows.jsonl").read_text(encoding="utf-8").splitlines()] for s in ("openai", "tokens")}
        differ = 0
        for chat, ids in zip(rows["openai"], rows["tokens"]):
            whole = tok.apply_chat_template(chat["messages"], tokenize=True, return_dict=False)
            prompt = tok.apply_chat_template(chat["messages"][:-1], tokenize=True, add_generation_prompt=True, return_dict=False)
            differ += ids["input_ids"] != whole or ids["labels"] != [-100] * len(prompt) + whole[len(prompt):] or ids["attention_mask"] != [1] * len(whole)
        bad += differ > 0
        print(f"  {'DIFFERS' if differ else 'same   '}  tokens against apply_chat_template: {differ} of {len(rows['tokens'])} rows differ")
    if a.update:
        GOLDEN.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8", newline="\n")
    print("everything is the same" if not bad else f"{bad} differences")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
