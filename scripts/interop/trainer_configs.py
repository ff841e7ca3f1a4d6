#!/usr/bin/env python3
"""Has the real trainers' own parsers read what `drydock train` writes.

Run it with the Python of an environment that has one of llamafactory, ms-swift, trl
or axolotl installed; no GPU is needed:

    VENV/bin/python trainer_configs.py llamafactory|swift|trl|axolotl --drydock BIN --scratch DIR --base DIR [--update]

DIR of --base is a folder named Qwen3-8B with a config.json of model type qwen3, a
tokenizer and any weights. For every method and contract the parser must take the
files and the command line whole, and hold what they say. It ends with 1 when it does
not, or when a plan differs from launch/testdata/parsers/NAME.json, to which plain go
test holds drydock; --update rewrites that.
"""
import argparse
import contextlib
import enum
import io
import json
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
os.environ.update(HF_HUB_OFFLINE="1", AXOLOTL_DO_NOT_TRACK="1", DO_NOT_TRACK="1", DISABLE_VERSION_CHECK="1", CUDA_VISIBLE_DEVICES="", OMP_NUM_THREADS="1")

CASES = [(c, {"method": m, "learning_rate": 1e-5}) for c, m in (
    ("empty-think", "lora"), ("empty-think-masked", "lora"), ("cot", "lora"), ("empty-think", "full"), ("empty-think", "dpo"), ("empty-think", "pretrain"))]

PROJECT = {
    "version": 1, "seed": 7,
    "sources": [{"name": "own", "path": "own.jsonl", "license": "CC0-1.0"}],
    "steps": ["parse_questions"],
}


def plan(a, project, trainer, contract, options):
    config = {**PROJECT, "output": [
        {"qwen3_chat": {"path": "build/训练 集.jsonl", "contract": contract}}, {"text": {"path": "build/text.jsonl"}},
        {f"{trainer}-dpo": {"path": "build/pairs.jsonl"}}], "train": {"dry_run": True, trainer: options}}
    (project / "drydock.yaml").write_text(json.dumps(config, ensure_ascii=False), encoding="utf-8")
    # without the environment on PATH: the plan is then for the version that is tried
    env = {**os.environ, "PATH": "/usr/bin:/bin", "DRYDOCK_HOME": str(a.scratch / "home"), "LC_ALL": "C.UTF-8"}
    p = subprocess.run([a.drydock, "train", "-n", "--json", "--no-input"], cwd=project, env=env, capture_output=True, text=True)
    if p.returncode:
        sys.exit(f"drydock train -n ended with {p.returncode}: {p.stderr}")
    return json.loads(p.stdout.splitlines()[-1])["plan"]


def plain(v):
    if isinstance(v, enum.Enum):
        return v.value
    if isinstance(v, (list, tuple)):
        return [plain(x) for x in v]
    if isinstance(v, dict):
        return {str(k): plain(x) for k, x in v.items()}
    return v if isinstance(v, (str, int, float, bool, type(None))) else str(v)


def held(groups, names):
    out = {}
    for n in names:
        for g in groups:
            if hasattr(g, n):
                out[n] = plain(getattr(g, n))
                break
        else:
            out[n] = "the parser holds no such setting"
    return out


def llamafactory(argv):
    from llamafactory.hparams import get_train_args
    from omegaconf import OmegaConf
    values = OmegaConf.to_container(OmegaConf.load(argv[-1]))
    groups = get_train_args({**values, "use_cpu": True})  # a machine without a GPU refuses bf16 otherwise
    return held(groups, values), values


def swift(argv):
    from swift.arguments import PretrainArguments, RLHFArguments, SftArguments
    from swift.utils import parse_args
    parsed, rest = parse_args({"sft": SftArguments, "pt": PretrainArguments, "rlhf": RLHFArguments}[argv[1]], argv[2:] + ["--use_cpu", "true"])
    assert not rest, rest
    values = {}
    for a in argv[2:]:
        if a.startswith("--"):
            name = a[2:]
        else:
            values[name] = a
    return held([parsed], values), values


def trl(argv):
    import yaml
    from importlib import import_module
    parser = import_module(f"trl.scripts.{argv[1]}").make_parser()
    values = yaml.safe_load(open("trl.yaml", encoding="utf-8"))
    return held(parser.parse_args_and_config(["--config", "trl.yaml", "--use_cpu", "true", "--bf16", "false"]), values), values


def axolotl(argv):
    import yaml
    from axolotl.cli.config import load_cfg
    values = yaml.safe_load(open("axolotl.yaml", encoding="utf-8"))
    with contextlib.redirect_stdout(io.StringIO()):
        c = load_cfg("axolotl.yaml", bf16=False, lora_mlp_kernel=False, lora_qkv_kernel=False, lora_o_kernel=False)
    # it ignores what it does not know; then it is not in what it holds
    return {n: plain(c[n]) if n in c else "ignored" for n in values}, values


def equal(want, got):
    """A value as the parser holds it: numbers may have been texts, a dataset more
    fields than were written."""
    if isinstance(want, list) and isinstance(got, list):
        return len(want) == len(got) and all(equal(w, g) for w, g in zip(want, got))
    if isinstance(want, dict):
        return isinstance(got, str) or all(k in got and equal(v, got[k]) for k, v in want.items())
    if isinstance(got, list):
        return [str(want)] == got or str(want).split(",") == [str(g) for g in got] or want == "none" and not got
    if isinstance(got, bool):
        return str(want).lower() == str(got).lower()
    if isinstance(got, (int, float)):
        return float(want) == got
    return str(want) == str(got) or isinstance(got, str) and os.path.abspath(str(want)) == os.path.abspath(got)


# what the script sets itself, and what a parser makes of a setting
DERIVED = {
    "swift": ["torch_dtype", "dataset", "columns", "report_to", "output_dir", "loss_scale", "model"],
    "axolotl": ["bf16", "base_model", "datasets"], "trl": ["bf16", "datasets", "lora_target_modules"], "llamafactory": [],
}


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("trainer", choices=["llamafactory", "swift", "trl", "axolotl"])
    ap.add_argument("--drydock", required=True, help="the drydock program")
    ap.add_argument("--scratch", required=True, type=lambda s: pathlib.Path(s).resolve(), help="a folder to work in")
    ap.add_argument("--base", required=True, type=lambda s: pathlib.Path(s).resolve(), help="a folder named Qwen3-8B")
    ap.add_argument("--update", action="store_true", help="rewrite the golden")
    a = ap.parse_args()
    a.drydock = str(pathlib.Path(a.drydock).absolute())
    project = a.scratch / "project"
    (project / "models").mkdir(parents=True, exist_ok=True)
    base = project / "models" / "Qwen3-8B"
    if not base.exists():
        base.symlink_to(a.base)
    (project / "own.jsonl").write_text('{"question": "一海里为多少米？", "A": "1852", "B": "1609", "answer": "A"}\n', encoding="utf-8")
    bad, cases = 0, []
    for contract, options in CASES:
        options = {"base": "models/Qwen3-8B", **options}
        p = plan(a, project, a.trainer, contract, options)
        folder = project / p["dir"]
        folder.mkdir(parents=True, exist_ok=True)
        for f in p["files"]:
            (folder / f["name"]).write_text(f["content"], encoding="utf-8", newline="\n")
        os.chdir(folder)
        got, want = globals()[a.trainer](p["argv"])
        derived = DERIVED[a.trainer]
        wrong = {k: (v, got[k]) for k, v in want.items() if k not in derived and not equal(v, got[k])}
        print(f"  {'same    ' if not wrong else 'DIFFERS '} {options['method']} {contract}: {len(want)} settings {wrong or ''}")
        bad += len(wrong)
        cases.append({"contract": contract, "options": options, "argv": p["argv"], "files": p["files"], "derived": p.get("derived", [])})
    golden = ROOT / "launch" / "testdata" / "parsers" / f"{a.trainer}.json"
    text = json.dumps(cases, indent=1, ensure_ascii=False) + "\n"
    if a.update:
        golden.parent.mkdir(parents=True, exist_ok=True)
        golden.write_text(text, encoding="utf-8", newline="\n")
    if not golden.exists() or golden.read_text(encoding="utf-8") != text:
        print("  DIFFERS  from the golden")
        bad += 1
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
