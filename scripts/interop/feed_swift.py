"""Records what ms-swift feeds a Qwen3 model under the settings drydock writes, and
which tokens it takes the loss on.

    python feed_swift.py MODEL > launch/feed/testdata/swift.jsonl

Run it with a Python that has ms-swift. MODEL is a folder with a Qwen3 config.json,
tokenizer.json and tokenizer_config.json; no weights are read. A line is a
conversation under one setting: name, messages, settings, input_ids, mask (1: the
loss is taken), or dropped.
"""

import json
import os
import sys

os.environ["HF_HUB_OFFLINE"] = "1"

# launch/feed: forSwift
SETTINGS = [
    ["--loss_scale", "last_round"],
    ["--loss_scale", "last_round", "--disable_ignore_empty_think", "true"],
    ["--loss_scale", "last_round", "--add_non_thinking_prefix", "false"],
]

EMPTY = "<think>\n\n</think>\n\n"
THOUGHT = "<think>\n红灯在左。\n</think>\n\n"


def user(text):
    return {"role": "user", "content": text}


def answer(text):
    return {"role": "assistant", "content": text}


CONVERSATIONS = {
    "one turn": [user("左舷灯是什么颜色？\nA. 红\nB. 绿"), answer("[A]")],
    "one turn, the block written": [user("左舷灯是什么颜色？"), answer(EMPTY + "[A]")],
    "one turn, reasoning": [user("左舷灯是什么颜色？"), answer(THOUGHT + "[A]")],
    "reasoning without line ends": [user("左舷灯是什么颜色？"), answer("<think>红灯在左。</think>[A]")],
    "system": [{"role": "system", "content": "只输出选项。"}, user("尾灯的颜色？"), answer("[C]")],
    "empty system": [{"role": "system", "content": ""}, user("尾灯的颜色？"), answer("[C]")],
    "two turns": [user("左舷灯？"), answer("[A]"), user("右舷灯？"), answer("[B]")],
    "two turns, blocks written": [user("左舷灯？"), answer(EMPTY + "[A]"), user("右舷灯？"), answer(EMPTY + "[B]")],
    "two turns, both reason": [user("左舷灯？"), answer(THOUGHT + "[A]"), user("右舷灯？"), answer("<think>\n绿灯在右。\n</think>\n\n[B]")],
    "two turns, the last reasons": [user("左舷灯？"), answer("[A]"), user("右舷灯？"), answer("<think>\n绿灯在右。\n</think>\n\n[B]")],
    "three turns and a system": [
        {"role": "system", "content": "Answer with one letter."},
        user("Port?"), answer("[A]"), user("Starboard?"), answer(" [B]\n"), user("Stern?"), answer("[C]"),
    ],
    "three turns, a block in the middle": [user("一"), answer("[A]"), user("二"), answer(EMPTY + "[B]"), user("三"), answer("[C]")],
    "line ends before the answer": [user("尾灯？"), answer("\n\n[C]")],
    "a closing tag only": [user("尾灯？"), answer("想过了</think>\n\n[C]")],
    "the last turn asks": [user("左舷灯？"), answer("[A]"), user("右舷灯？")],
    "two answers": [user("左舷灯？"), answer("[A]"), answer("[B]")],
    "an answer first": [answer("你好"), user("左舷灯？"), answer("[A]")],
}


def main(model):
    lines, sys.stdout = sys.stdout, sys.stderr  # the library prints, too
    from datasets import Dataset
    from swift.arguments import SftArguments
    from swift.dataset import AutoPreprocessor
    from swift.utils import parse_args

    base = [
        "--model", model, "--model_type", "qwen3", "--template", "qwen3", "--dataset", "none.jsonl", "--use_hf", "true",
        "--use_cpu", "true", "--torch_dtype", "float32", "--check_model", "false", "--max_length", "2048",
        "--output_dir", "out", "--add_version", "false", "--report_to", "none", "--split_dataset_ratio", "0",
    ]
    for extra in SETTINGS:
        args, _ = parse_args(SftArguments, base + extra)
        _, processor = args.get_model_processor(load_model=False)
        template = args.get_template(processor)
        template.set_mode("train")
        for name, messages in CONVERSATIONS.items():
            out = {"case": name, "messages": messages, "settings": {"args": " ".join(extra)}}
            rows = AutoPreprocessor()(Dataset.from_list([{"messages": messages}]), num_proc=1, load_from_cache_file=False, strict=False)
            if len(rows) == 0:
                out["dropped"] = "preprocessor"
            else:
                fed = template.encode({k: v for k, v in rows[0].items() if v is not None})
                out["input_ids"] = list(fed["input_ids"])
                out["mask"] = [int(x != -100) for x in fed["labels"]]
            lines.write(json.dumps(out, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
