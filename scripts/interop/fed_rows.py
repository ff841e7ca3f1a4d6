#!/usr/bin/env python3
"""Has a trainer's own loader read every row that drydock writes for it, and records
what it feeds: the token ids, and which of them the loss is taken on.

    VENV/bin/python fed_rows.py trl|axolotl|llamafactory|swift --drydock BIN --scratch DIR --base DIR [--update]

Run it with the Python of an environment that has the trainer; no GPU is needed. DIR
of --base is a folder named Qwen3-8B with a config.json of model type qwen3, the
tokenizer of Qwen3-8B and any weights (vllm_model.py makes one of two layers).

The sample's bank and conversations of all shapes are written in every shape of rows
the trainer reads, under every contract; the trainer's files are those `drydock train`
plans, where it plans any. A row that the trainer leaves out, or parts in two, ends
the script with 1. So does an answer that differs from launch/parity/testdata/fed/
NAME.jsonl.gz, to which plain go test holds what drydock predicts; --update rewrites
it. A line of it: kind, contract, the row as it was written, and samples, each with
ids and loss (from and behind the last, one pair for each run of tokens).
"""
import argparse
import collections
import contextlib
import gzip
import importlib
import io
import json
import os
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
RAW = ROOT / "data" / "samples" / "colreg" / "raw"
os.environ.update(HF_HUB_OFFLINE="1", TRANSFORMERS_OFFLINE="1", AXOLOTL_DO_NOT_TRACK="1", DO_NOT_TRACK="1", DISABLE_VERSION_CHECK="1",
                  CUDA_VISIBLE_DEVICES="", OMP_NUM_THREADS="1", HF_DATASETS_DISABLE_PROGRESS_BARS="1", TOKENIZERS_PARALLELISM="false")

EMPTY = "<think>\n\n</think>\n\n"


def user(text):
    return {"role": "user", "content": text}


def answer(text, **more):
    return {"role": "assistant", "content": text, **more}


def system(text):
    return {"role": "system", "content": text}


LEFT = "左舷灯是什么颜色？\nA. 红\nB. 绿"
CHATS = [
    ("one turn", [user(LEFT), answer("[A]")]),
    ("one turn in English", [user("What is shown by a vessel at anchor?"), answer("An all-round white light.")]),
    ("the block is written", [user(LEFT), answer(EMPTY + "[A]")]),
    ("reasoning", [user(LEFT), answer("<think>\n红灯在左，\n\n绿灯在右。\n</think>\n\n[A]")]),
    ("reasoning in a field", [user(LEFT), answer("[A]", reasoning_content="红灯在左。")]),
    ("reasoning without line ends", [user(LEFT), answer("<think>红灯在左。</think>[A]")]),
    ("system", [system("只输出选项。"), user("尾灯的颜色？"), answer("[C]")]),
    ("two turns", [user("左舷灯？"), answer("[A]"), user("右舷灯？"), answer("[B]")]),
    ("two turns, a block in the first", [user("左舷灯？"), answer(EMPTY + "[A]"), user("右舷灯？"), answer("[B]")]),
    ("two turns, the last reasons", [user("左舷灯？"), answer("[A]"), user("右舷灯？"), answer("<think>\n绿灯在右。\n</think>\n\n[B]")]),
    ("three turns and a system", [system("Answer with one letter."), user("Port?"), answer("[A]"), user("Starboard?"), answer(" [B]\n"), user("Stern?"), answer("[C]")]),
    ("white space around", [user("  尾灯？ \n"), answer(" [C] ")]),
    ("line ends around", [user("\n\n尾灯？\n\n"), answer("[C]\n\n")]),
    ("line ends in front", [user("尾灯？"), answer("\n\n[C]")]),
    ("carriage returns", [user("一\r\n二"), answer("三\r\n四")]),
    ("a tab and two spaces", [user("a\tb  c"), answer("\td  e")]),
    ("not in NFC", [user("cafe\u0301 Ａ１ ㈱"), answer("re\u0301sume\u0301")]),
    ("emoji and other planes", [user("⚓️🚢 𠮷野家 👩‍✈️"), answer("🟥⬅️ 𠮷")]),
    ("numbers and symbols", [user("4.8 ± 0.5 kn, 360°, 1,852 m; ≥ 50%?"), answer("= 8.89 km/h")]),
    ("code and marks", [user('{"a": [1, 2]}\n```py\nx = "\\n"\n```'), answer("<b>x</b> & \\ / \"q\" 'q'")]),
    ("what a dummy is", [user("[[dummy_message]]"), answer("[[dummy_message]]")]),
    ("the question again", [user("[A]"), answer("[A]")]),
    ("tags of tools", [user("What does <tools> mean?"), answer("A list of tools.")]),
    ("a long one", [user("值班驾驶员应当保持正规的瞭望。" * 40), answer("应当。" * 40)]),
]
PAIRS = [
    ("pair", [user(LEFT), answer("[A]")], "[B]"),
    ("pair of one beginning", [user("尾灯？"), answer("白色的灯。")], "白色的旗。"),
    ("pair of which one is the beginning of the other", [user("尾灯？"), answer("白")], "白色"),
    ("pair behind two turns", [user("左舷灯？"), answer("[A]"), user("右舷灯？"), answer("[B]")], "[A]"),
    ("pair behind a system", [system("只输出选项。"), user("尾灯？"), answer("[C]")], "[D]"),
    ("pair with white space", [user(" 尾灯？ "), answer(" [C] ")], " [D]\n"),
    ("pair with line ends in front", [user("尾灯？"), answer("\n[C]")], "\n\n[D]"),
    ("pair that reasons", [user(LEFT), answer("<think>\n红灯在左。\n</think>\n\n[A]")], "<think>\n绿灯在左。\n</think>\n\n[B]"),
    ("pair that reasons behind two turns", [user("左舷灯？"), answer("[A]"), user("右舷灯？"), answer("<think>\n绿。\n</think>\n\n[B]")], "<think>\n绿吗？\n</think>\n\n[A]"),
    ("pair of a dummy", [user("一"), answer("[[dummy_message]]")], "[[dummy_message]]。"),
    ("pair in English", [user("What is shown by a vessel at anchor?"), answer("An all-round white light.")], "Two all-round red lights."),
    ("pair with emoji", [user("⚓️？"), answer("🚢")], "👩‍✈️"),
]
LABELS = [
    ("liked", [user(LEFT), answer("[A]")], True),
    ("disliked", [user(LEFT), answer("[B]")], False),
    ("liked behind two turns", [system("只输出选项。"), user("左舷灯？"), answer("[A]"), user("右舷灯？"), answer("[B]")], True),
    ("disliked, reasons", [user(LEFT), answer("<think>\n绿灯在左。\n</think>\n\n[B]")], False),
    ("liked, reasons", [user(LEFT), answer("<think>\n红灯在左。\n</think>\n\n[A]")], True),
    ("liked, white space", [user(" 尾灯？ "), answer(" [C] ")], True),
]
TEXTS = ["船舶应当保持正规的瞭望。", "  indented\n\n\ttabbed\n", "ends with a line\n", "cafe\u0301 ⚓️ 𠮷 1,852 m", "\n\n前有换行", "一。" * 300]


def call(f):
    return {"id": "call_1", "type": "function", "function": f}


def tool(name, properties):
    return {"type": "function", "function": {"name": name, "description": "船位 of a vessel", "parameters": {"type": "object", "properties": properties, "required": list(properties)}}}


NUMBER, TEXT = {"type": "number"}, {"type": "string", "enum": ["港", "sea"]}
# with tools, for drydock convert; each row has other ones
TOOLS = [
    ("offered", [tool("position", {"mmsi": TEXT})], [user("你好"), answer("你好！")]),
    ("called", [tool("tide", {"port": TEXT, "day": NUMBER})], [
        system("你是大副。"), user("潮高？"), answer("", tool_calls=[call({"name": "tide", "arguments": {"port": "港", "day": 3}})]),
        {"role": "tool", "content": '{"height": 2.5}'}, answer("2.5 米。")]),
    ("called behind text", [tool("eta", {"knots": NUMBER})], [
        user("几点到？"), answer("我算一下。", tool_calls=[call({"name": "eta", "arguments": {"knots": 12.5}})]), {"role": "tool", "content": "18:00"}, answer("18:00 到。")]),
    ("two tools", [tool("position", {"mmsi": TEXT}), tool("eta", {"knots": NUMBER})], [user("Hello"), answer("Hi."), user("And?"), answer("Nothing.")]),
]

CONTRACTS = ("empty-think", "empty-think-masked", "cot", "plain")
# kind: the shape of its rows, the method of drydock train; None: none plans it
KINDS = {
    "trl": {"trl": "lora", "trl-dpo": "dpo", "trl-kto": None, "text": "pretrain", "tokens": None},
    "axolotl": {"axolotl": "lora", "axolotl-dpo": "dpo", "axolotl-segments": None, "text": "pretrain", "tokens": None},
    "llamafactory": {"llamafactory": "lora", "llamafactory-dpo": "dpo", "llamafactory-kto": None, "llamafactory-pretrain": "pretrain"},
    "swift": {"swift": "lora", "swift-dpo": "dpo", "swift-kto": None, "swift-pretrain": "pretrain"},
}
# rows of these have no contract
RUNNING = ("text", "llamafactory-pretrain", "swift-pretrain")
CONVERTED = ("trl", "axolotl")  # the trainers that render tools by the model's template


def write(path, rows):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(r, ensure_ascii=False) + "\n" for r in rows), encoding="utf-8", newline="\n")
    return path


class Dock:
    """drydock, in a project of the scratch folder."""

    def __init__(self, a):
        self.exe, self.folder = a.drydock, a.scratch / "project"
        # without the environment on PATH: a plan is then for the version that is tried
        self.env = {**os.environ, "PATH": "/usr/bin:/bin", "DRYDOCK_HOME": str(a.scratch / "home"), "LC_ALL": "C.UTF-8"}

    def run(self, *args):
        p = subprocess.run([self.exe, *map(str, args)], cwd=self.folder, env=self.env, capture_output=True, text=True)
        if p.returncode:
            sys.exit(f"drydock {' '.join(map(str, args))} ended with {p.returncode}: {p.stderr}")
        return p.stdout

    def sources(self):
        chats = write(self.folder / "chats.jsonl", [{"id": n, "messages": m} for n, m in CHATS])
        pairs = write(self.folder / "pairs.jsonl", [{"id": n, "messages": m, "rejected_response": r} for n, m, r in PAIRS])
        labels = write(self.folder / "labels.jsonl", [{"id": n, "messages": m, "label": good} for n, m, good in LABELS])
        write(self.folder / "tools.jsonl", [{"id": n, "tools": t, "messages": m} for n, t, m in TOOLS])
        write(self.folder / "texts.jsonl", [{"text": t} for t in TEXTS])
        return [chats, pairs, labels, RAW / "bank.xlsx"]

    def rows(self, kind, contract, sources):
        """The rows of a kind, as drydock writes them."""
        out = self.folder / "build" / f"{kind}-{contract or 'rows'}.jsonl"
        if kind in RUNNING:
            self.run("convert", "texts.jsonl", "-q", "--from", "text", "--to", kind, "-o", out)
            more = out.with_name("more-" + out.name)
            self.run("prep", RAW / "rules.docx", "-q", "--to", kind, "--license", "CC0-1.0", "-o", more)
            out.write_bytes(out.read_bytes() + more.read_bytes())
        elif contract == "converted":
            self.run("convert", "tools.jsonl", "-q", "--from", "openai", "--to", kind, "-o", out)
        else:
            self.run("prep", *sources, "-q", "--to", kind, "--contract", contract, "--license", "CC0-1.0", "-o", out)
        return out

    def plan(self, trainer, method, kind, contract, data):
        """The files of a training, in its folder, and its command line."""
        target = {kind: {"path": os.path.relpath(data, self.folder)}}
        if kind not in RUNNING:
            target[kind]["contract"] = contract if contract in CONTRACTS else "empty-think"
        config = {"version": 1, "seed": 7, "sources": [{"name": "own", "path": "chats.jsonl", "license": "CC0-1.0"}], "steps": ["parse_questions"], "output": [target],
                  "train": {"dry_run": True, trainer: {"base": "models/Qwen3-8B", "method": method, "learning_rate": 1e-5}}}
        (self.folder / "drydock.yaml").write_text(json.dumps(config, ensure_ascii=False), encoding="utf-8")
        p = json.loads(self.run("train", "-n", "--json", "--no-input").splitlines()[-1])["plan"]
        folder = self.folder / p["dir"]
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        for f in p["files"]:
            (folder / f["name"]).write_text(f["content"], encoding="utf-8", newline="\n")
        for d in p.get("derived", []):
            if d["layout"] == "segments":
                from transformers import AutoTokenizer
                tokenizer = AutoTokenizer.from_pretrained(str(self.folder / "models" / "Qwen3-8B"))
                write(folder / d["name"], [segments(tokenizer, json.loads(l)) for l in (folder / d["from"]).read_text(encoding="utf-8").splitlines()])
            else:  # rows of prompt and completion already
                shutil.copy(folder / d["from"], folder / d["name"])
        return folder, p["argv"]


def segments(tokenizer, row):
    """A row of messages as drydock train makes it for axolotl, by the template itself."""
    if "messages" not in row:  # segments or tokens already
        return row
    turns, tools = row["messages"], row.get("tools")
    given = tokenizer.apply_chat_template(turns[:-1], tools=tools, tokenize=False, add_generation_prompt=True)
    text = tokenizer.apply_chat_template(turns, tools=tools, tokenize=False)
    assert text.startswith(given), (given, text)
    return {"segments": [{"label": False, "text": given}, {"label": True, "text": text[len(given):]}]}


def sample(ids, labels):
    """Ids and the runs of those the loss is taken on."""
    ids, loss = [int(i) for i in ids], []
    for k, l in enumerate(labels):
        if l == -100:
            continue
        assert l == ids[k], (l, ids[k])
        if loss and loss[-1][1] == k:
            loss[-1][1] = k + 1
        else:
            loss.append([k, k + 1])
    return {"ids": ids, "loss": loss}


def masked(ids, mask):
    return sample(ids, [i if m else -100 for i, m in zip(ids, mask)])


def edit(path, change):
    import yaml
    values = yaml.safe_load(path.read_text(encoding="utf-8"))
    change(values)
    path.write_text(yaml.safe_dump(values, allow_unicode=True), encoding="utf-8")


def trl(folder, argv, kind):
    from trl import get_dataset, get_peft_config
    command = "kto" if kind == "trl-kto" else argv[1]

    def change(v):
        if kind in ("trl-kto", "tokens"):
            v.pop("completion_only_loss")
    edit(folder / "trl.yaml", change)
    script, training, model, data = importlib.import_module(f"trl.scripts.{command}").make_parser().parse_args_and_config(
        ["--config", "trl.yaml", "--use_cpu", "true", "--bf16", "false", "--dtype", "float32"])
    training.model_init_kwargs = {"dtype": model.dtype}
    name = {"sft": "SFTTrainer", "dpo": "DPOTrainer", "kto": "KTOTrainer"}[command]
    trainer = getattr(importlib.import_module("trl"), name)(
        model=model.model_name_or_path, args=training, train_dataset=get_dataset(data)[script.dataset_train_split], peft_config=get_peft_config(model))
    for row in trainer.train_dataset:
        b = {k: v.tolist() for k, v in trainer.data_collator([row]).items() if hasattr(v, "tolist")}
        if "labels" in b:
            yield [sample(b["input_ids"][0], b["labels"][0])]
            continue
        real = [[i for i, m in zip(*two) if m] for two in zip(b["input_ids"], b["attention_mask"])]
        yield [masked(i, m) for i, m in zip(real, b["completion_mask"])]


def alone():
    """datasets without workers: each of them would import the trainer again."""
    from datasets import Dataset
    for name in ("map", "filter", "save_to_disk"):
        was = getattr(Dataset, name)
        if not hasattr(was, "alone"):
            def one(self, *args, was=was, num_proc=None, **more):
                return was(self, *args, **more)
            one.alone = True
            setattr(Dataset, name, one)


def axolotl(folder, argv, kind):
    alone()
    from axolotl.cli.config import load_cfg
    from axolotl.common.datasets import load_datasets, load_preference_datasets

    def change(v):
        v.update(shuffle_merged_datasets=False, dataset_num_proc=1)  # to know the rows again
        types = {"axolotl-segments": "input_output", "tokens": None}
        if kind in types:
            d = v["datasets"][0]
            v["datasets"] = [{"path": d["path"], "ds_type": d["ds_type"], "type": types[kind]}]
    edit(folder / "axolotl.yaml", change)
    cfg = load_cfg("axolotl.yaml", bf16=False, lora_mlp_kernel=False, lora_qkv_kernel=False, lora_o_kernel=False)
    if not cfg.rl:
        for row in load_datasets(cfg=cfg).train_dataset:
            yield [sample(row["input_ids"], row["labels"])]
        return
    from axolotl.train import setup_model_and_trainer
    trainer = setup_model_and_trainer(cfg, load_preference_datasets(cfg=cfg))[0]
    for row in trainer.train_dataset:
        b = {k: v.tolist() for k, v in trainer.data_collator([row]).items() if hasattr(v, "tolist")}
        real = [[i for i, m in zip(*two) if m] for two in zip(b["input_ids"], b["attention_mask"])]
        yield [masked(i, m) for i, m in zip(real, b["completion_mask"])]


def llamafactory(folder, argv, kind):
    from llamafactory.data import get_dataset, get_template_and_fix_tokenizer
    from llamafactory.hparams import get_train_args
    from llamafactory.model import load_tokenizer
    from omegaconf import OmegaConf
    values = OmegaConf.to_container(OmegaConf.load("llamafactory.yaml"))
    values.update(use_cpu=True, overwrite_cache=True)
    if kind.endswith("-kto"):
        values.update(stage="kto", mask_history=False)  # refused there
    if kind.endswith("-pretrain"):
        values.update(packing=False)  # to know the rows again
    model, data, training, *_ = get_train_args(values)
    tok = load_tokenizer(model)
    rows = get_dataset(get_template_and_fix_tokenizer(tok["tokenizer"], data), model, data, training, stage="rm" if values["stage"] == "dpo" else values["stage"], **tok)["train_dataset"]
    for r in rows:
        if "chosen_input_ids" in r:
            yield [sample(r["chosen_input_ids"], r["chosen_labels"]), sample(r["rejected_input_ids"], r["rejected_labels"])]
        else:
            yield [sample(r["input_ids"], r.get("labels", r["input_ids"]))]


def swift(folder, argv, kind):
    from swift.arguments import PretrainArguments, RLHFArguments, SftArguments
    from swift.dataset import load_dataset
    from swift.utils import parse_args
    words = argv[2:] + ["--use_cpu", "true"]
    if kind.endswith("-kto"):
        argv, words = ["swift", "rlhf"], words + ["--rlhf_type", "kto"]
    args, rest = parse_args({"sft": SftArguments, "pt": PretrainArguments, "rlhf": RLHFArguments}[argv[1]], words)
    assert not rest, rest
    _, processor = args.get_model_processor(load_model=False)
    template = args.get_template(processor)
    template.set_mode("kto" if kind.endswith("-kto") else "rlhf" if argv[1] == "rlhf" else "train")
    rows, _ = load_dataset(args.dataset, split_dataset_ratio=0, columns=args.columns, strict=args.strict, num_proc=1, shuffle=False, load_from_cache_file=False)
    for r in rows:
        fed = template.encode({k: v for k, v in r.items() if v is not None})
        if "chosen_input_ids" in fed:
            yield [sample(fed[f"{side}_input_ids"], fed[f"{side}_labels"]) for side in ("chosen", "rejected")]
        elif "completion_input_ids" in fed:
            yield [sample(fed["completion_input_ids"], fed["completion_labels"])]
        else:
            yield [sample(fed["input_ids"], fed["labels"])]


def fed(dock, a, kind, method, contract, sources):
    """Lines of the golden for one kind under one contract."""
    data = dock.rows(kind, contract, sources)
    rows = data.read_text(encoding="utf-8").splitlines()
    planned, method = (kind, method) if method else (a.trainer, "lora")
    folder, argv = dock.plan(a.trainer, method, planned, contract if contract != "plain" or a.trainer in ("llamafactory", "swift") else "empty-think", data)
    info = folder / "dataset_info.json"
    if info.exists() and planned != kind:  # drydock prep has written this kind's beside its rows
        own = json.loads((data.parent / "dataset_info.json").read_text(encoding="ascii"))
        entry = next(v for v in own.values() if v["file_name"] == data.name)
        known = json.loads(info.read_text(encoding="ascii"))
        for name, v in known.items():
            known[name] = {**entry, "file_name": v["file_name"]}
        info.write_text(json.dumps(known), encoding="ascii")
    os.chdir(folder)
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        got = list(globals()[a.trainer](folder, argv, kind))
    ok = len(got) == len(rows)
    print(f"  {'same    ' if ok else 'DIFFERS '} {kind} {contract}: {len(got)} of {len(rows)} rows loaded", flush=True)
    if not ok:
        return None
    return [{"kind": kind, "contract": contract, "row": r, "samples": g} for r, g in zip(rows, got)]


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("trainer", choices=KINDS)
    ap.add_argument("--drydock", required=True, help="the drydock program")
    ap.add_argument("--scratch", required=True, type=lambda s: pathlib.Path(s).resolve(), help="a folder to work in")
    ap.add_argument("--base", required=True, type=lambda s: pathlib.Path(s).resolve(), help="a folder named Qwen3-8B")
    ap.add_argument("--only", action="append", help="this kind of rows; may be repeated")
    ap.add_argument("--update", action="store_true", help="rewrite the golden")
    a = ap.parse_args()
    a.drydock = str(pathlib.Path(a.drydock).absolute())
    dock = Dock(a)
    shutil.rmtree(dock.folder, ignore_errors=True)
    (dock.folder / "models").mkdir(parents=True)
    (dock.folder / "models" / "Qwen3-8B").symlink_to(a.base)
    sources = dock.sources()
    golden = ROOT / "launch" / "parity" / "testdata" / "fed" / f"{a.trainer}.jsonl.gz"
    kept = [json.loads(l) for l in gzip.decompress(golden.read_bytes()).splitlines()] if golden.exists() else []
    bad = 0
    for kind, method in KINDS[a.trainer].items():
        if a.only and kind not in a.only:
            continue
        lines = []
        renders = a.trainer in ("trl", "axolotl") and kind not in ("tokens", "axolotl-segments")
        contracts = ("",) if kind in RUNNING else CONTRACTS[:3] if renders else CONTRACTS
        if kind in CONVERTED:
            contracts += ("converted",)
        for contract in contracts:
            got = fed(dock, a, kind, method, contract, sources)
            bad += got is None
            lines += got or []
        if lines != [l for l in kept if l["kind"] == kind] and not a.update:
            print(f"  DIFFERS  {kind} from the golden")
            bad += 1
        kept = [l for l in kept if l["kind"] != kind] + lines
        if a.update:
            kept.sort(key=lambda l: list(KINDS[a.trainer]).index(l["kind"]))
            text = "".join(json.dumps(l, ensure_ascii=False, separators=(",", ":")) + "\n" for l in kept).encode()
            golden.parent.mkdir(parents=True, exist_ok=True)
            golden.write_bytes(gzip.compress(text, 9, mtime=0))
    print("rows:", dict(collections.Counter(l["kind"] for l in kept)))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
