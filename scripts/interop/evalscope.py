#!/usr/bin/env python3
"""Compares drydock with the real EvalScope 1.4.2, byte for byte.

A server on the loopback answers both programs by script. Nothing else is asked.

    evalscope.py --evalscope VENV/bin/evalscope --drydock BIN --scratch DIR [--update]

It ends with 1 when anything differs, also from the goldens kept in
eval/evalscope/testdata/interop; --update rewrites them from what EvalScope did.
"""
import argparse
import http.server
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import threading

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
GOLDEN = ROOT / "eval" / "evalscope" / "testdata" / "interop"
SAMPLE = ROOT / "data" / "samples" / "colreg" / "bench" / "sample_bench.json"
MODEL = "qwen3-8b-sft"
FILE = "maritime_bench_default.jsonl"


# --- what the server says -------------------------------------------------

def shapes(gold, wrong):
    """Replies as models give them; each is merged into {"index", "pattern"}."""
    text = lambda name, content, **more: {"pattern": name, "content": content, **more}
    return [
        text("plain", f"[{gold}]"),
        text("wrong", f"[{wrong}]"),
        text("padded", f"\n\n[{gold}]\n"),
        text("empty think", f"<think>\n\n</think>\n\n[{gold}]"),
        text("think that names another", f"<think>先看 [{wrong}]，不对。</think>[{gold}]"),
        text("think cut off", f"<think>可能是 [{wrong}]，再想想", finish_reason="length"),
        text("think opened by the template", f"先看 [{wrong}]。</think>\n\n[{gold}]"),
        text("two thinks", f"<think>一</think>[{gold}]<think>[{wrong}]</think>"),
        text("signed think", f'<think signature="s1">甲</think>\n[{gold}]'),
        text("capital THINK", f"<THINK>[{wrong}]</THINK>[{gold}]"),
        text("other brackets", f"答案是【{gold}】"),
        text("wide letter", f"[{chr(ord(gold) + 0xFEE0)}]"),
        text("small letter", f"[{gold.lower()}]"),
        text("spaces within", f"[ {gold} ]"),
        text("two letters", f"[{gold}{wrong}]"),
        text("changed its mind", f"[{wrong}] 不对，应为 [{gold}]"),
        text("D", "[D]"),
        text("boxed", f"$\\boxed{{{gold}}}$"),
        text("empty", ""),
        text("null", None),
        text("reasoning_content", f"\n\n[{gold}]", reasoning_content=f"\n先看 [{wrong}]。\n"),
        text("reasoning", f"[{gold}]", reasoning="想"),
        text("empty reasoning", f"[{gold}]", reasoning=""),
        text("empty reasoning_content", f"[{gold}]", reasoning_content=""),
        text("reasoning_content and think", f"<think>乙</think>[{gold}]", reasoning_content="甲"),
        text("refusal", f"[{gold}]", message_extra={"refusal": "不便回答"}),
        text("escapes", f"\"q\" \\ / <b>&amp;</b> \t\b\f\r\n\u0001\u001f\u007f\u0085\u2028\u2029 [{gold}]"),
        text("beyond the plane", f"\U0001F6A2\ufeff\U00020BB7 [{gold}]"),
        text("nul", f"\u0000[{gold}]"),
        text("lines", f"解析：\r\n因为 A 错，\r\n所以选\r\n[{gold}]"),
        text("long", "推理。" * 800 + f"[{gold}]"),
        text("stopped short", "首先，", finish_reason="length"),
        text("filtered", "", finish_reason="content_filter"),
        text("no finish", f"[{gold}]", finish_null=True),
        text("strange finish", f"[{gold}]", finish_reason="eos"),
        text("no usage", f"[{gold}]", no_usage=True),
        text("detailed usage", f"[{gold}]", usage={
            "prompt_tokens": 7, "completion_tokens": 5, "total_tokens": 12,
            "prompt_tokens_details": {"cached_tokens": 4}, "completion_tokens_details": {"reasoning_tokens": 3}}),
        text("served by another name", f"[{gold}]", model="Qwen/Qwen3-8B@海"),
        text("no tool calls", f"[{gold}]", message_extra={"tool_calls": []}),
        text("unknown fields", f"[{gold}]", message_extra={"annotations": [], "audio": None, "x": 1}),
    ]


def failures(gold):
    """Requests that come to nothing, and what EvalScope takes for an answer."""
    error = lambda status, code, text: {"status": status, "body": json.dumps({"error": {"message": text, "type": "x", "param": None, "code": code}})}
    choice = lambda content: json.dumps({"id": "x", "object": "chat.completion", "created": 1, "model": "m", "choices": [
        {"index": 0, "message": {"role": "assistant", "content": content}, "finish_reason": "stop"}]})
    return [
        {"pattern": "context too long", "fail": error(400, "context_length_exceeded", f"at most 10 tokens. [{gold}]")},
        {"pattern": "filtered", "fail": error(400, "content_filter", f"blocked [{gold}]")},
        {"pattern": "bad request", "fail": error(400, 400, f"bad [{gold}]")},
        {"pattern": "not found", "fail": error(404, "not_found", f"gone [{gold}]")},
        {"pattern": "no choices", "fail": {"status": 200, "body": '{"id":"x","object":"chat.completion","created":1,"model":"m","choices":[]}'}},
        {"pattern": "half a surrogate pair", "fail": {"status": 200, "body": choice("\ud83d [" + gold + "]")}},
        {"pattern": "plain", "content": f"[{gold}]"},
        {"pattern": "plain", "content": "[D]"},
    ]


def script(items):
    out = []
    for i, it in enumerate(items):
        gold = it["answer"]
        wrong = next(c for c in "ABC" if c != gold)
        s = shapes(gold, wrong)
        out.append({"index": i, **s[i % len(s)]})
    return out


class Server:
    """An OpenAI-compatible server that keeps the bodies it was sent."""

    def __init__(self, items, replies):
        self.items, self.replies, self.seen = items, replies, []
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                outer.seen.append(body)
                request = json.loads(body)
                status, answer = outer.answer(self.path, request)
                kind = "application/json"
                if request.get("stream") and status == 200:
                    kind, answer = "text/event-stream", outer.streamed(json.loads(answer))
                self.send_response(status)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            def do_GET(self):
                outer.seen.append(b"GET " + self.path.encode())
                self.send_response(404)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass

        self.http = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.http.server_port}/v1"
        threading.Thread(target=self.http.serve_forever, daemon=True).start()

    def close(self):
        self.http.shutdown()
        self.http.server_close()

    def taken(self):
        """The bodies since the last call, by index."""
        seen, self.seen = self.seen, []
        return sorted(((self.index(json.loads(b)["messages"][-1]["content"]), b) for b in seen), key=lambda p: p[0])

    def index(self, prompt):
        # the template is not known here: the question stands between a space
        # and the options
        hits = [i for i, it in enumerate(self.items) if f" {it['question']}\n选项：\nA. {it['A']}" in prompt]
        return hits[0] if len(hits) == 1 else -1

    @staticmethod
    def streamed(whole):
        """The events of a reply: thinking, then the text in two pieces, then the end, then the usage."""
        choice = whole["choices"][0]
        message = choice["message"]
        text = message.get("content") or ""
        deltas = [{"role": "assistant", "content": ""}]
        deltas += [{k: message[k]} for k in ("reasoning_content", "reasoning") if message.get(k)]
        deltas += [{"content": part} for part in (text[: len(text) // 2], text[len(text) // 2 :])]
        head = {k: whole[k] for k in ("id", "created", "model")} | {"object": "chat.completion.chunk"}
        events = [head | {"choices": [{"index": 0, "delta": d, "finish_reason": None}]} for d in deltas]
        events.append(head | {"choices": [{"index": 0, "delta": {}, "finish_reason": choice["finish_reason"]}]})
        if "usage" in whole:
            events.append(head | {"choices": [], "usage": whole["usage"]})
        return b"".join(b"data: " + json.dumps(e).encode() + b"\n\n" for e in events) + b"data: [DONE]\n\n"

    def answer(self, path, req):
        prompt = req["messages"][-1]["content"]
        i = self.index(prompt)
        if i < 0 or path != "/v1/chat/completions":
            return 422, b'{"error":{"message":"unknown prompt"}}'
        r = self.replies[i]
        if "fail" in r:
            return r["fail"]["status"], r["fail"]["body"].encode()
        message = {"role": "assistant", "content": r["content"]}
        message.update({k: r[k] for k in ("reasoning_content", "reasoning") if k in r})
        message.update(r.get("message_extra", {}))
        finish = None if r.get("finish_null") else r.get("finish_reason", "stop")
        out = {"id": f"chatcmpl-{i}", "object": "chat.completion", "created": 1700000000, "model": r.get("model", req["model"]),
               "choices": [{"index": 0, "message": message, "finish_reason": finish}]}
        if not r.get("no_usage"):
            n = len(r["content"] or "")
            out["usage"] = r.get("usage") or {"prompt_tokens": len(prompt), "completion_tokens": n, "total_tokens": len(prompt) + n}
        return 200, json.dumps(out).encode()


# --- running both ---------------------------------------------------------

class Failed(Exception):
    pass


def run(argv, env, cwd, log):
    with open(log, "wb") as f:
        code = subprocess.run(argv, env=env, cwd=cwd, stdout=f, stderr=subprocess.STDOUT).returncode
    if code:
        raise Failed(f"{argv[0]} ended with {code}; see {log}")


class Peer:
    """EvalScope, and drydock, with the same items."""

    def __init__(self, a, name, items_file, items, replies):
        self.a, self.dir = a, a.scratch / name
        shutil.rmtree(self.dir, ignore_errors=True)
        self.data = self.dir / "data"
        self.data.mkdir(parents=True)
        shutil.copy(items_file, self.data / ("test" + items_file.suffix))
        self.server = Server(items, replies)
        self.env = {**os.environ, "HF_HUB_OFFLINE": "1", "DRYDOCK_HOME": str(self.dir / "home"), "HOME": str(self.dir / "user"), "LC_ALL": "C.UTF-8"}
        for k in list(self.env):
            if k.lower().endswith("_proxy"):
                del self.env[k]
        run([a.drydock, "bench", "add", "maritime_bench", str(items_file)], self.env, self.dir, self.dir / "add.log")

    def evalscope(self, work, *extra, model=MODEL, args=(), cache=False):
        dataset = {"local_path": str(self.data), **dict(args)}
        where = ["--use-cache", str(work)] if cache else ["--work-dir", str(work), "--no-timestamp"]
        run([self.a.evalscope, "eval", "--model", model, "--api-url", self.server.url, "--api-key", "EMPTY", "--datasets", "maritime_bench",
             "--dataset-args", json.dumps({"maritime_bench": dataset}), *where, *extra], self.env, self.dir, f"{work}.evalscope.log")
        return self.server.taken()

    def drydock(self, work, *extra, model=MODEL):
        run([self.a.drydock, "eval", "--model", model, "--base-url", self.server.url, "--work-dir", str(work), "--json", "--no-preflight", *extra],
            self.env, self.dir, f"{work}.drydock.log")
        return self.server.taken()


def rows(path):
    """Lines in the order of index, ids masked: what differs between two runs of EvalScope."""
    lines = path.read_text(encoding="utf-8").split("\n")
    assert lines.pop() == "", f"{path}: no newline at the end"
    lines = [re.sub(r'"id": "[0-9a-f]{8}"', '"id": "XXXXXXXX"', l) for l in lines]
    return sorted(lines, key=lambda l: json.loads(l)["index"])


def files(work):
    """The three files of the only model below work."""
    out = {}
    for kind, name in (("predictions", FILE), ("reviews", FILE), ("reports", "maritime_bench.json")):
        found = list((work / kind).glob(f"*/{name}"))
        if len(found) != 1:
            raise Failed(f"{work}/{kind}: {len(found)} files")
        out[kind] = (found[0].parent.name, found[0].read_text(encoding="utf-8").split("\n") if kind == "reports" else rows(found[0]))
    return out


class Verdicts:
    def __init__(self):
        self.bad = 0

    def same(self, what, real, ours):
        if real == ours:
            n = len(real) if isinstance(real, (list, dict)) else real
            print(f"  same     {what} ({n})")
            return
        self.bad += 1
        print(f"  DIFFERS  {what}")
        if isinstance(real, list) and isinstance(ours, list):
            print(f"           {len(real)} real, {len(ours)} ours")
            for r, o in zip(real, ours):
                if r != o:
                    print(f"           real {r!r:.1500}\n           ours {o!r:.1500}")
                    break
        else:
            print(f"           real {real!r:.1500}\n           ours {ours!r:.1500}")

    def same_files(self, what, real, ours):
        for kind in ("predictions", "reviews", "reports"):
            self.same(f"{what}: {kind} folder", real[kind][0], ours[kind][0])
            self.same(f"{what}: {kind}", real[kind][1], ours[kind][1])


def config(work):
    """The one task configuration of a run, without its paths."""
    import yaml
    # how PyYAML writes the filters, an ordered dictionary
    tag = "tag:yaml.org,2002:python/object/apply:collections.OrderedDict"
    yaml.add_constructor(tag, lambda loader, node: loader.construct_sequence(node, deep=True), yaml.SafeLoader)
    found = list((work / "configs").glob("task_config_*.yaml"))
    if len(found) != 1:
        raise Failed(f"{work}/configs: {len(found)} files")
    c = yaml.safe_load(found[0].read_text(encoding="utf-8"))
    for k in ("work_dir", "dataset_dir"):
        c.pop(k, None)
    c.get("generation_config", {}).pop("timeout", None)  # see "server's temperature"
    for d in c.get("dataset_args", {}).values():
        d.pop("dataset_id", None)
        d.pop("local_path", None)
    return sorted(f"{k}: {json.dumps(v, ensure_ascii=False, sort_keys=True)}" for k, v in c.items())


def compare(v, p, n, extra=(), ours=(), args=(), model=MODEL, whole=True, repeats=1, fails=False):
    """One run of both; whole: also score again, resume and finish each other's.
    When requests fail, EvalScope makes each five times and names its timeout: then
    only the files are compared."""
    e, d = p.dir / "evalscope", p.dir / "drydock"
    for work in (e, d):
        shutil.rmtree(work, ignore_errors=True)
    sent_e = p.evalscope(e, *extra, args=args, model=model)
    sent_d = p.drydock(d, *ours, model=model)
    if not fails:
        v.same("requests asked", sorted(list(range(n)) * repeats), [i for i, _ in sent_d])
        v.same("request bodies, byte for byte", [b.decode() for _, b in sent_e], [b.decode() for _, b in sent_d])
    real, mine = files(e), files(d)
    v.same_files("run", real, mine)
    if not fails:
        v.same("task configuration", config(e), config(d))
    if whole:
        rescored(v, p, mine, n)
    return sent_e, real


def rescored(v, p, mine, n):
    """What each program makes of the other's files."""
    e, d = p.dir / "evalscope", p.dir / "drydock"
    for name, gone in (("predictions alone", ("reviews", "reports")), ("all files", ())):
        again = p.dir / "again"
        shutil.rmtree(again, ignore_errors=True)
        shutil.copytree(d, again, ignore=shutil.ignore_patterns(".drydock", *gone))
        v.same(f"--use-cache on {name}: requests", [], p.evalscope(again, cache=True))
        v.same_files(f"--use-cache on {name}", files(again), mine)

    half = p.dir / "half"
    shutil.rmtree(half, ignore_errors=True)
    p.drydock(half, "--limit", str(n // 2))
    asked = [i for i, _ in p.evalscope(half, cache=True)]
    v.same("begun by drydock, ended by EvalScope: asked", asked, list(range(n // 2, n)))
    v.same_files("begun by drydock, ended by EvalScope", files(half), mine)

    for kind in ("predictions", "reviews"):
        score = p.dir / f"score-{kind}"
        shutil.rmtree(score, ignore_errors=True)
        run([p.a.drydock, "score", str(e / kind / MODEL / FILE), "--work-dir", str(score), "--model", MODEL], p.env, p.dir, f"{score}.log")
        for k in ("reviews", "reports"):
            got = list((score / k).glob(f"{MODEL}/*"))
            v.same(f"drydock score on EvalScope's {kind}: {k}", mine[k][1],
                   (got[0].read_text(encoding="utf-8").split("\n") if k == "reports" else rows(got[0])) if got else None)


MCQ = [
    {"id": "1", "question": "锚球的颜色是______。", "A": "黑", "B": "白", "C": "红", "D": "绿", "E": "黄", "answer": "A"},
    {"id": "2", "question": "Which light shows to starboard?", "A": "red", "B": "green", "answer": "B"},
    {"id": "3", "question": "左舷灯是______。", "A": "黑", "B": "白", "C": "红", "D": "绿", "answer": "C"},
    {"id": "4", "question": "尾灯是______。", "A": "黑", "B": "白", "C": "红", "D": "绿", "answer": "B"},
    {"id": "5", "question": "拖带灯是______。", "A": "黑", "B": "白", "C": "红", "D": "黄", "answer": "D"},
    {"id": "6", "question": "桅灯是______。", "A": "黑", "B": "白", "C": "红", "D": "黄", "answer": "B"},
]
MCQ_REPLIES = ["答案：A", "答案 : B。", "答案：D，更正，答案：C", "应选B，不选C", "答案：d", ""]


def mcq(v, a):
    """A folder of EvalScope's general_mcq, asked by both."""
    print("general_mcq")
    replies = [{"index": i, "content": r} for i, r in enumerate(MCQ_REPLIES)]
    base = a.scratch / "mcq"
    shutil.rmtree(base, ignore_errors=True)
    (base / "exam").mkdir(parents=True)
    (base / "exam" / "exam_val.jsonl").write_text(jsonl(json.dumps(r, ensure_ascii=False) for r in MCQ), encoding="utf-8")
    p = Peer(a, "mcq-peer", SAMPLE, MCQ, replies)
    p.server.index = lambda prompt: next((i for i, it in enumerate(MCQ) if it["question"] in prompt), -1)
    e, d = p.dir / "evalscope", p.dir / "drydock"
    run([a.evalscope, "eval", "--model", MODEL, "--api-url", p.server.url, "--api-key", "EMPTY", "--datasets", "general_mcq", "--dataset-args",
         json.dumps({"general_mcq": {"local_path": str(base / "exam"), "subset_list": ["exam"]}}), "--work-dir", str(e), "--no-timestamp"], p.env, p.dir, f"{e}.evalscope.log")
    sent_e = p.server.taken()
    sent_d = p.drydock(d, "--bench", str(base / "exam"))
    v.same("request bodies, byte for byte", [b.decode() for _, b in sent_e], [b.decode() for _, b in sent_d])

    def graded(path):
        out = []
        for row in sorted(map(json.loads, path.read_text(encoding="utf-8").splitlines()), key=lambda r: r["index"]):
            score = row["sample_score"]["score"]
            out.append([row["index"], row["input"], row["target"], score["value"], score["extracted_prediction"], score["prediction"]])
        return out

    v.same("reviews, what they say", graded(next((e / "reviews").glob("*/*.jsonl"))), graded(next((d / "reviews").glob("*/*.jsonl"))))
    p.server.close()


def jsonl(lines):
    return "".join(l + "\n" for l in lines)


def goldens(v, a, name, replies, sent, real):
    """Keeps, or compares with, what EvalScope did."""
    want = {
        "replies.jsonl": jsonl(json.dumps(r, ensure_ascii=True) for r in replies),
        "requests.jsonl": jsonl(b.decode() for _, b in sent),
        "predictions.jsonl": jsonl(real["predictions"][1]),
        "reviews.jsonl": jsonl(real["reviews"][1]),
        "report.json": "\n".join(real["reports"][1]),
    }
    for file, text in want.items():
        path = GOLDEN / name / file
        if a.update:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8", newline="\n")
        v.same(f"golden {file}", text.split("\n"), path.read_text(encoding="utf-8").split("\n") if path.exists() else None)


def load(path):
    text = path.read_text(encoding="utf-8")
    return json.loads(text) if text.lstrip()[0] == "[" else [json.loads(l) for l in text.split("\n") if l]


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--evalscope", required=True, help="the evalscope program of version 1.4.2")
    ap.add_argument("--drydock", required=True, help="the drydock program")
    ap.add_argument("--scratch", required=True, type=lambda s: pathlib.Path(s).resolve(), help="a folder to work in")
    ap.add_argument("--update", action="store_true", help="rewrite the goldens")
    ap.add_argument("--only", action="append", default=[], help="a case to run, by its name as printed; may be repeated (default: all)")
    a = ap.parse_args()
    a.wanted = lambda name: not a.only or name in a.only
    a.evalscope, a.drydock = (str(pathlib.Path(x).absolute()) for x in (a.evalscope, a.drydock))
    python = str(pathlib.Path(a.evalscope).parent / "python")
    version = subprocess.run([python, "-c", "import importlib.metadata as m; print(m.version('evalscope'))"], capture_output=True, text=True).stdout.strip()
    if version != "1.4.2":
        sys.exit(f"evalscope {version or '?'} is installed; the goldens are of 1.4.2")

    v = Verdicts()
    for name, path in (("sample", SAMPLE), ("edge", GOLDEN / "edge" / "test.jsonl")):
        if not a.wanted(name):
            continue
        items = load(path)
        replies = script(items)
        print(f"{name}: {len(items)} items")
        p = Peer(a, name, path, items, replies)
        sent, real = compare(v, p, len(items))
        goldens(v, a, name, replies, sent, real)
        p.server.close()

    items = load(SAMPLE)
    p = Peer(a, "options", SAMPLE, items, script(items))
    few, ours = ["--limit", "3"], ["--limit", "3"]
    for what, extra, mine, args, model in (
        ("system prompt", [], ["--system-prompt", "你是船长。\n只答字母"], {"system_prompt": "你是船长。\n只答字母"}, MODEL),
        ("temperature 0.6", ["--generation-config", '{"temperature":0.6}'], ["--temperature", "0.6"], {}, MODEL),
        ("temperature 1", ["--generation-config", '{"temperature":1.0}'], ["--temperature", "1"], {}, MODEL),
        ("server's temperature", ["--generation-config", '{"timeout":60}'], ["--temperature", "server"], {}, MODEL),
        ("token limit and extra body",
         ["--generation-config", json.dumps({"temperature": 0.0, "max_tokens": 64, "extra_body": {"chat_template_kwargs": {"enable_thinking": False}}})],
         ["--max-tokens", "64", "--extra-body", '{"chat_template_kwargs":{"enable_thinking":false}}'], {}, MODEL),
        ("model with a slash", [], [], {}, "Qwen/Qwen3-8B"),
        ("Chinese model", [], [], {}, "海事模型"),
        ("mixed name", [], [], {}, "../out/Ｑwen3 8B（sft）v1.0_é..json"),
    ):
        if not a.wanted(what):
            continue
        print(what)
        compare(v, p, 3, few + extra, ours + mine, args, model, whole=False)
    if a.wanted("repeats"):
        print("repeats")
        compare(v, p, 3, few + ["--repeats", "2"], ours + ["--repeats", "2"], whole=False, repeats=2)
    # of a streamed reply, EvalScope takes no finish reason that OpenAI does not have:
    # the first 34 shapes have none
    for what, n, extra, mine, args in (
        ("filter", len(items), [], ["--filter", '{"remove_until": "</think>"}'], {"filters": {"remove_until": "</think>"}}),
        ("two filters", len(items), [], ["--filter", '{"remove_until": "，", "extract": "\\\\[[A-D]\\\\]"}'], {"filters": {"remove_until": "，", "extract": "\\[[A-D]\\]"}}),
        ("stream", 34, ["--stream", "--limit", "34"], ["--stream", "--limit", "34"], {}),
    ):
        if not a.wanted(what):
            continue
        print(what)
        compare(v, p, n, extra, mine, args, whole=False)
    p.server.close()

    if a.wanted("failing"):
        print("failing")
        p = Peer(a, "failing", SAMPLE, items, [{"index": i, **failures(it["answer"])[i % 8]} for i, it in enumerate(items)])
        compare(v, p, 16, ["--limit", "16", "--eval-batch-size", "16", "--ignore-errors"], ["--limit", "16", "--on-error", "evalscope"], whole=False, fails=True)
        p.server.close()
    if a.wanted("general_mcq"):
        mcq(v, a)

    print("everything is the same" if not v.bad else f"{v.bad} differences")
    return 1 if v.bad else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failed as err:
        sys.exit(str(err))
