#!/usr/bin/env python3
"""Ids that Hugging Face's tokenizers gives for strings made up at random.

  qwen3_tokenizer.py --tokenizer tokenizer.json [--n 6000] [--seed 1] > strings.jsonl
  qwen3_tokenizer.py --tokenizer tokenizer.json --bench FILE    time encoding a text file
  qwen3_tokenizer.py --classes                                  ranges of letters, numbers, white space

The golden is `... | gzip -9n > qwen3/testdata/encode.jsonl.gz`; other seeds are for
comparing by hand: DRYDOCK_QWEN3_STRINGS=strings.jsonl go test ./qwen3 -run Strings.
Needs tokenizers (made with 0.23.3). The strings are composed here; none is taken
from a data set.
"""
import argparse
import json
import random
import sys
import time

import tokenizers

WORDS_ZH = ("船舶 避碰 规则 主机 发电机 压载水 锚机 舵 航标 能见度 不良 时 应 当 采取 安全 航速 雾号 驾驶台 值班 "
            "轮机 员 检查 柴油机 气缸 压力 温度 下列 说法 正确 的 是 以下 哪项 不 属于 海图 水深 潮汐 货物 积载").split()
WORDS_EN = ("the vessel shall keep out of the way when Engine's it'll WE'RE don't ballast COLREG Rule 19(b) radar lookout "
            "starboard port IMO SOLAS MARPOL Annex VI 0.50% m/m x_y camelCase HTTPServer").split()
PUNCT = list("，。；：？！、（）《》“”‘’……——·,.;:?!()[]{}<>\"'`~@#$%^&*-_=+|\\/") + ["______", "①②③④", "Ⅰ Ⅱ", "．", "　"]
SPACE = [" ", "  ", "   ", "\t", "\n", "\n\n", "\r\n", " \n ", "\u00a0", "\u3000", "\u2028", "\u0085", "\u200b", "\ufeff", "\x0b", "\x1c"]
SPECIAL = ["<|im_start|>", "<|im_end|>", "<think>", "</think>", "<|endoftext|>", "<tool_call>", "<|im_", "im_end|>", "<|box_end|>"]
ODD = ["e\u0301", "\u212b", "ﬁ", "㎡", "½", "²", "٣", "१", "𝟙", "𠀀", "👍🏽", "👨‍👩‍👧", "한국어", "ひらがな", "Ελλάδα", "русский", "ไทย", "עִבְרִית",
       "\u0958", "\u1e9b\u0323", "'ſ", "'S", "'LL", "'K", "\ud7a3", "가", "a\u0315\u0300", "\u0344", "𝒳", "ǅ", "ª", "〇", "々", "ー"]


def text(rng):
    out = []
    for _ in range(rng.randrange(1, 14)):
        kind = rng.random()
        if kind < .30:
            out.append("".join(rng.choice(WORDS_ZH) for _ in range(rng.randrange(1, 8))))
        elif kind < .50:
            out.append(" ".join(rng.choice(WORDS_EN) for _ in range(rng.randrange(1, 5))))
        elif kind < .62:
            out.append(rng.choice(PUNCT) * rng.randrange(1, 4))
        elif kind < .74:
            out.append(rng.choice(SPACE))
        elif kind < .79:
            out.append(str(rng.randrange(10 ** rng.randrange(1, 9))))
        elif kind < .83:
            out.append(rng.choice(SPECIAL))
        elif kind < .91:
            out.append(rng.choice(ODD))
        elif kind < .95:
            out.append("".join(chr(rng.randrange(0x4e00, 0x9fff)) for _ in range(rng.randrange(1, 6))))
        elif kind < .97:
            out.append(rng.choice("aA的 -=.1'") * rng.randrange(2, 40))
        else:
            c = rng.choice([rng.randrange(0x20, 0x250), rng.randrange(0x250, 0x3000), rng.randrange(0x3000, 0xd800),
                            rng.randrange(0xe000, 0x10000), rng.randrange(0x10000, 0x20000)])
            out.append(chr(c))
    return "".join(out)


def classes():
    for name, pattern in (("L", r"\p{L}"), ("N", r"\p{N}"), ("S", r"\s")):
        split = tokenizers.pre_tokenizers.Split(tokenizers.Regex(pattern), "removed")
        points = [c for c in range(0x110000) if not 0xd800 <= c < 0xe000]
        members = []
        for i in range(0, len(points), 4096):
            chunk = points[i:i + 4096]
            kept = {ord(c) for piece, _ in split.pre_tokenize_str("".join(map(chr, chunk))) for c in piece}
            members += [c for c in chunk if c not in kept]
        start = None
        for c, after in zip(members, members[1:] + [None]):
            start = c if start is None else start
            if after != c + 1:
                print(name, f"{start:X}", f"{c:X}")
                start = None


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--tokenizer")
    ap.add_argument("--classes", action="store_true")
    ap.add_argument("--n", type=int, default=6000)
    ap.add_argument("--seed", type=int, default=1)
    ap.add_argument("--bench")
    a = ap.parse_args()
    if a.classes:
        return classes()
    tok = tokenizers.Tokenizer.from_file(a.tokenizer)
    if a.bench:
        s = open(a.bench, encoding="utf8").read()
        lines = s.split("\n")
        for name, f in (("whole", lambda: tok.encode(s, add_special_tokens=False)),
                        ("by line", lambda: [tok.encode(x, add_special_tokens=False) for x in lines])):
            t = time.process_time()
            f()
            t = time.process_time() - t
            print(f"{name}: {len(s.encode()) / 1e6 / t:.2f} MB per CPU second")
        return
    rng = random.Random(a.seed)
    for _ in range(a.n):
        s = text(rng)
        ids = tok.encode(s, add_special_tokens=False).ids
        sys.stdout.write(json.dumps({"text": s, "ids": ids}, ensure_ascii=False, separators=(",", ":")) + "\n")


main()
