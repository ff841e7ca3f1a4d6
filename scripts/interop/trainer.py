#!/usr/bin/env python3
"""Compares what `drydock train` writes with what the real LLaMA-Factory 0.9.5 reads.

Run it with the Python that has llamafactory installed; no GPU is needed:

    VENV/bin/python trainer.py --drydock BIN --scratch DIR [--tokenizer DIR [--train]] [--update]

For every set of options: PyYAML and OmegaConf (which llamafactory-cli uses) read
the same values; floats are floats, texts are texts; LLaMA-Factory's own argument
parser takes the file; dataset_info.json is what its reader wants. With a folder
that holds Qwen3's tokenizer.json (or .gz) and tokenizer_config.json, its data
loader also reads the rows: none is lost, the prompt is the one a server renders,
and what is trained is the answer. --train makes a model of two layers of noise, and
lets drydock train it for 4 steps, then up to 8: some minutes of CPU.

It ends with 1 when anything differs, also from the goldens kept in
launch/testdata/interop; --update rewrites them.
"""
import argparse
import enum
import gzip
import importlib.metadata
import json
import os
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
GOLDEN = ROOT / "launch" / "testdata" / "interop"
PROJECT = ROOT / "data" / "samples" / "colreg"

# name, contract of the rows, options of the trainer, values the files must hold
CASES = [
    ("lora", "empty-think", {"method": "lora"},
     {"learning_rate": 1e-4, "num_train_epochs": 3.0, "lora_dropout": 0.0, "lora_rank": 16, "lora_alpha": 32, "enable_thinking": True}),
    ("masked", "empty-think-masked", {"method": "lora", "rank": 8, "alpha": 8, "dropout": 0.05, "learning_rate": 1e-5, "epochs": 2},
     {"learning_rate": 1e-5, "num_train_epochs": 2.0, "lora_dropout": 0.05, "lora_rank": 8, "lora_alpha": 8, "enable_thinking": False}),
    ("qlora", "empty-think", {"method": "qlora", "learning_rate": 2e-4, "epochs": 0.5, "extra": {
        "weight_decay": 1e-7, "max_grad_norm": 1, "max_steps": 10, "warmup_steps": 3, "optim": "adamw_torch", "bf16": False,
        "gradient_checkpointing": True, "adam_epsilon": 1e-8, "neftune_noise_alpha": 5, "run_name": "12e3", "val_size": 0.1,
        "lora_target": "q_proj,v_proj", "additional_target": None, "save_total_limit": 2, "logging_dir": "on"}},
     {"quantization_bit": 4, "weight_decay": 1e-7, "max_steps": 10, "adam_epsilon": 1e-8, "gradient_checkpointing": True, "bf16": False}),
    ("full", "empty-think", {"method": "full", "learning_rate": 5e-7, "batch_size": 1, "accumulate": 16, "max_tokens": 4096},
     {"finetuning_type": "full", "learning_rate": 5e-7, "gradient_accumulation_steps": 16, "cutoff_len": 4096}),
    ("paths", "empty-think", {"method": "lora", "base": "模型 夹/it's ${HOME} #1: \"x\"/Qwen3-8B"},
     {"model_name_or_path": "../../模型 夹/it's ${HOME} #1: \"x\"/Qwen3-8B"}),
    ("cot", "cot", {"method": "lora", "learning_rate": 0.000123456789, "epochs": 1e-3}, {"learning_rate": 0.000123456789, "num_train_epochs": 0.001}),
]


class Verdicts:
    def __init__(self):
        self.bad = 0

    def same(self, what, want, got):
        ok = want == got and type(want) is type(got)
        if ok:
            print(f"  same     {what}")
            return
        self.bad += 1
        print(f"  DIFFERS  {what}\n           want {want!r:.1200}\n           got  {got!r:.1200}")


def drydock(a, env, project, *argv):
    p = subprocess.run([a.drydock, *argv], cwd=project, env=env, capture_output=True, text=True)
    if p.returncode:
        sys.exit(f"drydock {' '.join(argv)} ended with {p.returncode}: {p.stderr}")
    return p.stdout


REASONED = """version: 1
seed: 7
sources:
  - {name: own, path: own.jsonl, as: question, lang: zh, license: CC0-1.0}
steps:
  - parse_questions
output:
  - qwen3_chat: {path: build/训练 集.jsonl, contract: cot}
card:
  title: Reasoned questions
train:
  dry_run: true
  llamafactory: %s
"""


def configure(project, contract, options):
    """Gives drydock.yaml of the sample another contract and trainer. JSON is YAML."""
    if contract == "cot":  # the sample has no explanations
        rows = [{"question": f"某船以 {n} 节航速直航 2 小时，航程为______。", "answer": "ABC"[n % 3], "A": f"{2 * n + (n % 3 != 0)} n mile",
                 "B": f"{2 * n + 2 * (n % 3 != 1)} n mile", "C": f"{2 * n + 3 * (n % 3 != 2)} n mile", "explanation": f"航程 = 航速 × 时间 = {n} × 2 = {2 * n} n mile。"}
                for n in range(8, 20)]
        (project / "own.jsonl").write_text("".join(json.dumps(r, ensure_ascii=False) + "\n" for r in rows), encoding="utf-8")
        (project / "drydock.yaml").write_text(REASONED % json.dumps(options), encoding="utf-8")
        return
    text = (PROJECT / "drydock.yaml").read_text(encoding="utf-8")
    for was, now in (("contract: empty-think}", f"contract: {contract}}}"), ("llamafactory: {method: lora}", f"llamafactory: {json.dumps(options)}")):
        assert text.count(was) == 1, was
        text = text.replace(was, now)
    (project / "drydock.yaml").write_text(text, encoding="utf-8")


def plan(a, env, project):
    out = json.loads(drydock(a, env, project, "train", "-n", "--json", "--no-input").splitlines()[-1])
    return out.get("plan", out)


def read(folder):
    """What the two YAML readers make of the file."""
    import yaml
    from omegaconf import OmegaConf
    with open(folder / "llamafactory.yaml", encoding="utf-8") as f:
        safe = yaml.safe_load(f)
    return safe, OmegaConf.to_container(OmegaConf.merge(OmegaConf.load(folder / "llamafactory.yaml"), OmegaConf.from_cli([])))


def parsed(values):
    """What LLaMA-Factory's own parser makes of the values, key by key."""
    from llamafactory.hparams import get_train_args
    # a machine without a GPU refuses bf16 otherwise
    groups = get_train_args({**values, "use_cpu": True})
    out = {}
    for k in values:
        held = [getattr(g, k) for g in groups if hasattr(g, k)]
        out[k] = (held[0].value if isinstance(held[0], enum.Enum) else held[0]) if held else "?"
    return groups, out


def tokenizer(folder, scratch):
    from transformers import AutoTokenizer
    out = scratch / "tokenizer"
    out.mkdir(exist_ok=True)
    for name in ("tokenizer.json", "tokenizer_config.json"):
        data = (folder / name).read_bytes() if (folder / name).exists() else gzip.decompress((folder / (name + ".gz")).read_bytes())
        (out / name).write_bytes(data)
    return AutoTokenizer.from_pretrained(out)


def loaded(v, tok, groups, rows, thinking):
    """The rows as LLaMA-Factory's loader and template make them."""
    from llamafactory.data import get_dataset, get_template_and_fix_tokenizer
    model, data, training = groups[:3]
    data.overwrite_cache = True
    template = get_template_and_fix_tokenizer(tok, data)
    got = get_dataset(template, model, data, training, stage="sft", tokenizer=tok)["train_dataset"]
    v.same(f"rows loaded, of {len(rows)}", len(rows), len(got))
    prompts = trained = 0
    for row, g in zip(rows, got):
        ids, labels = list(g["input_ids"]), list(g["labels"])
        want = tok.apply_chat_template(row["messages"][:-1], add_generation_prompt=True, enable_thinking=thinking, tokenize=False)
        want = tok(want, add_special_tokens=False)["input_ids"]
        prompts += ids[:len(want)] == want and set(labels[:len(want)]) == {-100}
        answer = row["messages"][-1]["content"]
        if not thinking:
            answer = answer.removeprefix("<think>\n\n</think>\n\n")
        trained += tok.decode(ids[len(want):]) == answer + "<|im_end|>\n" and labels[len(want):] == ids[len(want):]
    v.same("prompt ids are those a server renders, none of them trained", len(rows), prompts)
    v.same("trained is the answer, its end, and nothing else", len(rows), trained)


def trained(v, a, env, project, tok):
    """drydock starts llamafactory-cli, follows it, and goes on from its checkpoint."""
    from transformers import Qwen3Config, Qwen3ForCausalLM
    base = project / "models" / "Qwen3-8B"
    Qwen3ForCausalLM(Qwen3Config(vocab_size=151936, hidden_size=64, intermediate_size=128, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2,
                                 head_dim=16, tie_word_embeddings=True, bos_token_id=151643, eos_token_id=151645)).save_pretrained(base)
    tok.save_pretrained(base)
    env = {**env, "PATH": os.path.dirname(sys.executable) + os.pathsep + env["PATH"]}
    for steps, first in ((4, 1), (8, 5)):
        configure(project, "empty-think", {"base": "models/Qwen3-8B", "batch_size": 2, "accumulate": 1, "save_steps": 2, "extra": {
            "use_cpu": True, "bf16": False, "max_steps": steps, "logging_steps": 1, "warmup_steps": 1}})
        if first == 1:
            drydock(a, env, project, "run", "-q")
        events = [json.loads(l) for l in drydock(a, env, project, "train", "--json", "--no-input").splitlines()]
        losses = [e for e in events if e.get("from", "").endswith("trainer_log.jsonl") and "loss" in e]
        v.same(f"to step {steps}: steps with a loss that drydock followed", list(range(first, steps + 1)), [e["step"] for e in losses])
        out = project / "build" / "train" / "output"
        v.same(f"to step {steps}: checkpoint and adapter are there", True, (out / f"checkpoint-{steps}").is_dir() and (out / "adapter_model.safetensors").is_file())


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--drydock", required=True, help="the drydock program")
    ap.add_argument("--scratch", required=True, type=lambda s: pathlib.Path(s).resolve(), help="a folder to work in")
    ap.add_argument("--tokenizer", type=lambda s: pathlib.Path(s).resolve(), help="a folder with Qwen3's tokenizer")
    ap.add_argument("--train", action="store_true", help="also train a tiny model on the CPU")
    ap.add_argument("--update", action="store_true", help="rewrite the goldens")
    a = ap.parse_args()
    a.drydock = str(pathlib.Path(a.drydock).absolute())
    version = importlib.metadata.version("llamafactory")
    if version != "0.9.5":
        sys.exit(f"llamafactory {version} is installed; the goldens are of 0.9.5")
    a.scratch.mkdir(parents=True, exist_ok=True)
    os.environ.update(HF_HUB_OFFLINE="1", HF_HOME=str(a.scratch / "hf"), DISABLE_VERSION_CHECK="1")
    env = {**os.environ, "DRYDOCK_HOME": str(a.scratch / "home"), "LC_ALL": "C.UTF-8"}
    tok = tokenizer(a.tokenizer, a.scratch) if a.tokenizer else None

    project = a.scratch / "colreg"
    shutil.rmtree(project, ignore_errors=True)
    shutil.copytree(PROJECT, project, ignore=shutil.ignore_patterns("build", "runs", ".drydock"))
    v = Verdicts()
    made = None
    for name, contract, options, values in CASES:
        print(name)
        configure(project, contract, options)
        if made != contract:
            drydock(a, env, project, "run")
            made = contract
        p = plan(a, env, project)
        folder = project / p["dir"]
        folder.mkdir(parents=True, exist_ok=True)
        for f in p["files"]:
            (folder / f["name"]).write_text(f["content"], encoding="utf-8", newline="\n")
        os.chdir(folder)

        safe, omega = read(folder)
        v.same("PyYAML and OmegaConf read the same", omega, safe)
        for k, want in values.items():
            v.same(f"{k} is {want!r}", want, safe.get(k))
        groups, held = parsed(omega)
        for k, want in omega.items():
            got = held[k]
            if k == "report_to" and want == "none":
                want = []
            elif isinstance(got, list):  # lists are given as text
                want = str(want).split(",")
            elif isinstance(want, int) and isinstance(got, float):
                want = float(want)
            v.same(f"LLaMA-Factory holds {k}", want, got)
        info = json.loads((folder / "dataset_info.json").read_text(encoding="ascii"))
        file = folder / info[safe["dataset"]]["file_name"]
        rows = [json.loads(l) for l in file.read_text(encoding="utf-8").split("\n") if l]
        if tok and "val_size" not in omega:
            loaded(v, tok, groups, rows, contract != "empty-think-masked")

        golden = {"llamafactory.yaml": (folder / "llamafactory.yaml").read_text(encoding="utf-8"),
                  "dataset_info.json": (folder / "dataset_info.json").read_text(encoding="utf-8"),
                  "options.yaml": json.dumps(options, indent=1) + "\n",
                  "read.json": json.dumps({"contract": contract, "dir": p["dir"], "data": os.path.relpath(file.resolve(), project.resolve()).replace(os.sep, "/"), "values": safe}, indent=1) + "\n"}
        for n, text in golden.items():
            path = GOLDEN / name / n
            if a.update:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8", newline="\n")
            v.same(f"golden {n}", path.read_text(encoding="utf-8") if path.exists() else None, text)
    if a.train and tok:
        print("train")
        os.chdir(a.scratch)
        shutil.rmtree(project / "build")
        trained(v, a, env, project, tok)
    print("everything is the same" if not v.bad else f"{v.bad} differences")
    return 1 if v.bad else 0


if __name__ == "__main__":
    sys.exit(main())
