"""Near-duplicate removal beside datasketch and rensa, on the same text.

Short Chinese records are made from words of the trade: one in ten repeats an
earlier one but for a letter, one in twenty is its twin with another number, side
or negation. Each program gets the same lines and says which it would remove.
Measured are records per CPU second (reading and cutting into grams included),
the share of planted copies removed, and of twins removed, which must stay.

datasketch and rensa cut into 3-letter grams, 128 permutations, threshold 0.5:
what a 40-letter record needs for an edited letter to be found.

    python scripts/interop/dedup.py --drydock DRYDOCK --scratch DIR [--records N]
"""

import argparse
import json
import os
import random
import resource
import subprocess
import sys

WORDS = """船舶 航行 值班 驾驶 轮机 甲板 货舱 压载 锚泊 靠泊 引航 拖带 瞭望 雷达 罗经 海图 航道 浮标 灯塔 潮汐 洋流 风浪
气压 能见 避让 追越 交叉 对遇 号灯 号型 声号 信号 通信 电台 救生 消防 堵漏 演习 应急 弃船 落水 搜救 油污 垃圾 排放 记录
检查 证书 船级 检验 吨位 吃水 干舷 稳性 强度 绑扎 散货 集装 危险 冷藏 液货 惰气 洗舱 主机 辅机 锅炉 舵机 锚机 绞缆 起货
水泵 滤器 阀门 管路 轴系 螺旋 燃油 滑油 冷却 增压 喷油 气缸 活塞 曲轴 轴承 温度 压力 转速 负荷 报警 配电 发电 蓄电 绝缘""".split()
TWISTS = [("间距不小于1506米", "间距不小于1507米"), ("位于左舷", "位于右舷"), ("应当使用", "不应当使用"), ("显示红光", "显示绿光")]
NOISE = "己已末土士汔沿治冶洁渔演湿滩"


def text(rng):
    return "".join(rng.choice(WORDS) for _ in range(rng.randint(18, 26)))


def corpus(n, seed):
    """Returns the lines, and which line is a copy or a twin of an earlier one."""
    rng = random.Random(seed)
    lines, copies, twins = [], {}, {}
    while len(lines) < n:
        kind = len(lines) % 20
        if kind in (9, 19) and lines:
            k = rng.choice([k for k in range(max(0, len(lines) - 4000), len(lines)) if k not in copies])
            s = list(lines[k])
            s[rng.randrange(len(s) - 14, len(s))] = rng.choice(NOISE)  # never what a twist turns
            copies[len(lines)] = k
            lines.append("".join(s))
        elif kind == 14:
            a, b = rng.choice(TWISTS)
            head, tail = text(rng), text(rng)
            twins[len(lines) + 1] = len(lines)
            lines += [head[:20] + a + tail[:20], head[:20] + b + tail[:20]]
        else:
            lines.append(text(rng))
    return lines, copies, twins


def cpu(who=resource.RUSAGE_SELF):
    u = resource.getrusage(who)
    return u.ru_utime + u.ru_stime


def grams(s):
    return {s[i : i + 3] for i in range(len(s) - 2)}


def run_datasketch(lines):
    from datasketch import MinHash, MinHashLSH

    lsh, removed = MinHashLSH(threshold=0.5, num_perm=128), set()
    for i, s in enumerate(lines):
        m = MinHash(num_perm=128)
        m.update_batch([g.encode() for g in grams(s)])
        if lsh.query(m):
            removed.add(i)
        else:
            lsh.insert(i, m)
    return removed


def run_rensa(lines):
    from rensa import RMinHash, RMinHashLSH

    lsh, removed, kept = RMinHashLSH(threshold=0.5, num_perm=128, num_bands=32), set(), {}
    for i, s in enumerate(lines):
        m = RMinHash(num_perm=128, seed=42)
        m.update(list(grams(s)))
        if any(m.jaccard(kept[k]) >= 0.5 for k in lsh.query(m)):
            removed.add(i)
        else:
            lsh.insert(i, m)
            kept[i] = m
    return removed


def run_drydock(drydock, scratch, lines):
    src, report = os.path.join(scratch, "rows.jsonl"), os.path.join(scratch, "pairs.jsonl")
    with open(src, "w", encoding="utf-8") as f:
        for s in lines:
            f.write(json.dumps({"text": s}, ensure_ascii=False) + "\n")
    before = cpu(resource.RUSAGE_CHILDREN)
    subprocess.run([drydock, "dedup", src, "-o", os.path.join(scratch, "out.jsonl"), "--report", report, "-j", "1"],
                   check=True, stdout=subprocess.DEVNULL, env={**os.environ, "GOMAXPROCS": "1"})
    used = cpu(resource.RUSAGE_CHILDREN) - before
    with open(report, encoding="utf-8") as f:
        pairs = [json.loads(line) for line in f]
    return {int(p["removed"]["locator"][1:]) - 1 for p in pairs if "removed" in p}, used


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--drydock", required=True)
    ap.add_argument("--scratch", required=True)
    ap.add_argument("--records", type=int, default=20000)
    a = ap.parse_args()
    os.makedirs(a.scratch, exist_ok=True)
    lines, copies, twins = corpus(a.records, 7)
    speeds = {}
    for name in ("datasketch", "rensa", "drydock"):
        if name == "drydock":
            removed, used = run_drydock(a.drydock, a.scratch, lines)
        else:
            before = cpu()
            try:
                removed = {"datasketch": run_datasketch, "rensa": run_rensa}[name](lines)
            except ImportError:
                print(f"{name}: not installed, skipped", file=sys.stderr)
                continue
            used = cpu() - before
        speeds[name] = len(lines) / used
        found = sum(i in removed for i in copies) / len(copies)
        lost = sum(i in removed for i in twins) / len(twins)
        strangers = len([i for i in removed if i not in copies and i not in twins])
        print(f"{name:10} {speeds[name]:9.0f} records/CPU-s   copies removed {found:.3f}   twins removed {lost:.3f}   others removed {strangers}")
        if name == "drydock" and (found < 0.99 or lost > 0):
            sys.exit("drydock: a copy was missed, or a twin removed")
    for name, speed in speeds.items():
        if name != "drydock":
            print(f"drydock / {name}: {speeds['drydock'] / speed:.1f}")


if __name__ == "__main__":
    main()
