#!/usr/bin/env python3
"""Texts that Jinja renders of conversations made up at random.

  qwen3_template.py --template qwen3.jinja [--n 3000] [--seed 1] > renders.jsonl

The template is trl/chat_templates/qwen3.jinja of trl 1.16.0 (sha256 a55ee1b1…,
checked). The golden is `... | gzip -9n > qwen3/testdata/render.jsonl.gz`. Needs
jinja2 (made with 3.1.6), set up as transformers does. A row whose rendering
raises has "error" instead of "rendered". Nothing is taken from a data set.
"""
import argparse
import hashlib
import json
import random
import sys

import jinja2.sandbox

SHA = "a55ee1b1660128b7098723e0abcd92caa0788061051c62d51cbe87d9cf1974d8"
TEXTS = ["你好", "下列灯号正确的是（ ）。\nA. 红\nB. 绿", "", "\n\n开头有空行", "结尾有空行\n\n", "a </think> b", "<think>\n想一想\n</think>\n\n[C]",
         "<think>\n\n</think>\n\n[A]", "<think>半截", "</think>\n答", "x<think>y</think>z</think>\n\nw", "<tool_response>\n25\n</tool_response>",
         "<tool_response> 开头", "Rule 19(b) \"quoted\" \\ back\tslash", " /no_think", "<|im_end|>", "{{ braces }} {% tag %}", "⚓\u2028\u0007", "  两边空格  "]
REASONS = ["先看能见度。", "\n两行\n思考\n", "", "有 </think> 在内", "<think>标签"]
VALUES = [1, -3, 0, 2.5, 1e20, 1e-7, 1.0, 123456789012345678901234567890, True, False, None, "字\"符\\", "", [], {}, [1, "二", [3.25]],
          {"b": 1, "a": {"深": [None, 0.1]}}]


def value(rng, depth=0):
    v = rng.choice(VALUES)
    if depth < 2 and rng.random() < .3:
        return {rng.choice(["city", "船名", "x", "a b"]): value(rng, depth + 1) for _ in range(rng.randrange(4))}
    return v


def message(rng):
    role = rng.choice(["system", "user", "user", "assistant", "assistant", "assistant", "tool", "tool", "developer"])
    m = {"role": role, "content": rng.choice(TEXTS)}
    if rng.random() < .08:
        m["content"] = rng.choice([None, [{"type": "text", "text": "甲"}], 7, {"a": 1}])
    if rng.random() < .03:
        del m["content"]
    if role == "assistant":
        if rng.random() < .3:
            m["reasoning_content"] = rng.choice(REASONS + [None, 5])
        if rng.random() < .25:
            calls = []
            for _ in range(rng.randrange(0, 4)):
                call = {"name": rng.choice(["get_depth", "查询"]), "arguments": rng.choice([value(rng), value(rng), "{\"raw\": 1}"])}
                if not isinstance(call["arguments"], (dict, str)):
                    call["arguments"] = {"v": call["arguments"]}
                calls.append(call if rng.random() < .4 else {"type": "function", "id": "c1", "function": call})
            m["tool_calls"] = calls
    return m


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--template", required=True)
    ap.add_argument("--n", type=int, default=3000)
    ap.add_argument("--seed", type=int, default=1)
    a = ap.parse_args()
    source = open(a.template, "rb").read()
    if hashlib.sha256(source).hexdigest() != SHA:
        sys.exit("another template than the one this is about")
    env = jinja2.sandbox.ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True)
    env.filters["tojson"] = lambda x: json.dumps(x, ensure_ascii=False)
    template = env.from_string(source.decode())
    rng = random.Random(a.seed)
    for _ in range(a.n):
        row = {"messages": [message(rng) for _ in range(rng.randrange(0, 8) or rng.randrange(0, 3))]}
        if rng.random() < .3:
            row["messages"][:0] = [{"role": "system", "content": rng.choice(TEXTS)}]
        if rng.random() < .25:
            row["tools"] = [{"type": "function", "function": {"name": "f", "parameters": value(rng)}} for _ in range(rng.randrange(0, 3))]
        kwargs = {"add_generation_prompt": rng.random() < .5}
        if rng.random() < .6:
            kwargs["enable_thinking"] = rng.random() < .5
        out = {"row": row, "kwargs": kwargs}
        try:
            out["rendered"] = template.render(messages=row["messages"], tools=row.get("tools"), **kwargs)
        except (jinja2.UndefinedError, TypeError) as e:
            out["error"] = type(e).__name__
        sys.stdout.write(json.dumps(out, ensure_ascii=False, separators=(",", ":")) + "\n")


main()
