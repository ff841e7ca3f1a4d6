package launch

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/drydock-ml/drydock/internal/golden"
	"github.com/drydock-ml/drydock/internal/msg"
)

// deaths are the last lines of trainers that failed, in the shapes the programs
// print, and the cause each must come to.
func deaths() map[string]struct {
	lines, id, says string
} {
	return map[string]struct{ lines, id, says string }{
		"gpu": {"  File \"trainer.py\", line 1\ntorch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.32 GiB. GPU 0 has a total capacity of 23.68 GiB", "gpu_memory", "memory is full"},
		"gpu on one rank, the others lose it": {
			"[rank1]: torch.OutOfMemoryError: CUDA out of memory.\n[rank0]: torch.distributed.DistBackendError: NCCL error in: ncclRemoteError\ntorch.distributed.elastic.multiprocessing.errors.ChildFailedError:", "gpu_memory", "",
		},
		"host, the launcher's summary": {
			"torch.distributed.elastic.multiprocessing.errors.ChildFailedError:\nRoot Cause (first observed failure):\n[0]:\n  time      : 2026-11-30_10:00:00\n  rank      : 3 (local_rank: 3)\n  exitcode  : -9 (pid: 4242)\n  error_file: <N/A>\n  traceback : Signal 9 (SIGKILL) received by PID 4242", "host_memory", "memory was full",
		},
		"host, older launcher":  {"ERROR:torch.distributed.elastic.multiprocessing.api:failed (exitcode: -9) local_rank: 0 (pid: 4242) of binary: python", "host_memory", ""},
		"host, the shell":       {"Killed", "host_memory", ""},
		"host, a worker":        {"RuntimeError: DataLoader worker (pid 77) is killed by signal: Killed.", "host_memory", ""},
		"host, allocation":      {"RuntimeError: [enforce fail at alloc_cpu.cpp:118] DefaultCPUAllocator: can't allocate memory: you tried to allocate 622329856 bytes.", "host_memory", ""},
		"shared memory":         {"ERROR: Unexpected bus error encountered in worker. This might be caused by insufficient shared memory (shm).", "shared_memory", "/dev/shm"},
		"disk":                  {"OSError: [Errno 28] No space left on device: 'output/checkpoint-10'", "disk", "disk is full"},
		"disk, torch":           {"RuntimeError: [enforce fail at inline_container.cc:664] . unexpected pos 4096 vs 3990", "disk", ""},
		"disk, torch's writer":  {"RuntimeError: PytorchStreamWriter failed writing file data/12: file write failed", "disk", ""},
		"disk, safetensors":     {"safetensors_rust.SafetensorError: Error while serializing: I/O error: No space left on device (os error 28)", "disk", ""},
		"disk, quota":           {"OSError: [Errno 122] Disk quota exceeded", "disk", ""},
		"disk, a limit":         {"OSError: [Errno 27] File too large", "disk", ""},
		"weights only":          {"_pickle.UnpicklingError: Weights only load failed. This file can still be loaded, to do so you have two options", "weights_only", "2.6"},
		"another optimizer":     {"ValueError: loaded state dict contains a parameter group that doesn't match the size of optimizer's group", "resume_mismatch", ""},
		"another rank":          {"RuntimeError: Error(s) in loading state_dict for PeftModelForCausalLM:\n\tsize mismatch for base_model.model.x.lora_A.weight", "resume_mismatch", ""},
		"old transformers":      {"KeyError: 'qwen3'", "architecture", ""},
		"older message":         {"ValueError: The checkpoint you are trying to load has model type `qwen3` but Transformers does not recognize this architecture.", "architecture", ""},
		"no base":               {"OSError: models/Qwen3-8B is not a local folder and is not a valid model identifier listed on 'https://huggingface.co/models'", "model_files", ""},
		"gated":                 {"huggingface_hub.errors.GatedRepoError: 401 Client Error.", "access", "refused"},
		"offline":               {"huggingface_hub.errors.OfflineModeIsEnabled: Cannot reach https://huggingface.co: offline mode is enabled.", "network", ""},
		"no data, LF":           {"ValueError: File data/nosuch.jsonl not found.", "data", "data/nosuch.jsonl"},
		"no data, swift":        {"ConnectionError: Couldn't reach 'data/nosuch.jsonl' on the Hub (OfflineModeIsEnabled)", "data", "data/nosuch.jsonl"},
		"no data, Python":       {"FileNotFoundError: [Errno 2] No such file or directory: 'build/train.jsonl'", "data", "build/train.jsonl"},
		"data":                  {"datasets.exceptions.DatasetGenerationError: An error occurred while generating the dataset", "data", "cannot be read"},
		"no valid rows":         {"RuntimeError: Cannot find valid samples, check `data/README.md` for the data format.", "data", ""},
		"a JSON file":           {"json.decoder.JSONDecodeError: Expecting ',' delimiter: line 1 column 5 (char 4)", "json", ""},
		"module":                {"ModuleNotFoundError: No module named 'bitsandbytes'", "module", "bitsandbytes"},
		"version":               {"ImportError: accelerate>=1.3.0 is required for a normal functioning of this module, but found accelerate==0.34.2.", "module", "accelerate>=1.3.0"},
		"no driver":             {"RuntimeError: Found no NVIDIA driver on your system. Please check that you have an NVIDIA GPU", "cuda_driver", ""},
		"old driver":            {"The NVIDIA driver on your system is too old (found version 11040).", "cuda_driver", ""},
		"no such GPU":           {"RuntimeError: CUDA error: invalid device ordinal", "cuda_driver", ""},
		"port":                  {"torch.distributed.DistNetworkError: The server socket has failed to listen on any local network address. port: 29500, useIpv6: false, code: -98, name: EADDRINUSE, message: address already in use", "port", "port is in use"},
		"option, LF":            {"ValueError: Some keys are not used by the HfArgumentParser: ['lora_rnk']", "option", "lora_rnk"},
		"option, swift":         {"ValueError: remaining_argv: ['--lora_rnk', '8']", "option", "--lora_rnk"},
		"option, TRL":           {"Accelerate launch command: error: unrecognized arguments: --lora_rnk", "option", "--lora_rnk"},
		"collective":            {"[rank0]:[E ProcessGroupNCCL.cpp:632] [Rank 0] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=4, OpType=ALLREDUCE, Timeout(ms)=1800000) ran for 1800090 milliseconds before timing out.", "nccl_timeout", ""},
		"collective, no reason": {"torch.distributed.DistBackendError: NCCL error in: ProcessGroupNCCL.cpp:1970, unhandled system error, NCCL version 2.21.5\nncclSystemError: System call failed", "nccl", ""},
		"permission":            {"PermissionError: [Errno 13] Permission denied: '/data/output'", "permission", "/data/output"},
		"loader":                {"RuntimeError: DataLoader worker (pid(s) 812) exited unexpectedly", "batch", ""},
		"nothing known":         {"ValueError: something else", "", ""},
		"a word of ours":        {"the user talks of NCCL and disks", "", ""},
	}
}

func TestDiagnose(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for name, c := range deaths() {
		got, ok := diagnose(death{lines: strings.Split(c.lines, "\n"), code: 1})
		if ok != (c.id != "") || got.ID != c.id {
			t.Errorf("%s: %q, want %q", name, got.ID, c.id)
			continue
		}
		if ok && !strings.Contains(got.What.In(msg.En), c.says) {
			t.Errorf("%s: %s", name, got.What.In(msg.En))
		}
		seen[got.ID] = true
	}
	for _, s := range signs() {
		if !seen[s.id] {
			t.Errorf("no recorded death comes to %s", s.id)
		}
	}
}

func TestDiagnoseRank(t *testing.T) {
	t.Parallel()
	c, ok := diagnose(death{lines: strings.Split(deaths()["host, the launcher's summary"].lines, "\n"), code: 1})
	if !ok || c.Rank == nil || *c.Rank != 3 {
		t.Errorf("%+v", c)
	}
	// the words of the rank that failed first, from the file torch's launcher
	// writes
	for _, text := range []string{
		`{"message": {"message": "OutOfMemoryError: CUDA out of memory.", "extraInfo": {"py_callstack": "Traceback", "timestamp": "1"}}}`,
		`{"message": "CUDA out of memory."}`,
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, errorFile), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if c, _ := diagnose(death{dir: dir, code: 1, lines: []string{"ncclRemoteError"}}); c.ID != "gpu_memory" {
			t.Errorf("%s: %q", text, c.ID)
		}
	}
}

func TestDiagnoseByHowItEnded(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		code, signal int
		want         string
	}{
		{-1, 9, "host_memory"},
		{247, 0, "host_memory"}, // 256-9, of a launcher written in Python
		{137, 0, "host_memory"}, // 128+9, of a shell
		{-1, 11, "crash"},
		{245, 0, "crash"},
		{139, 0, "crash"},
		{250, 0, "crash"},
		{-1, 15, "terminated"},
		{241, 0, "terminated"},
		{1, 0, ""},
		{255, 0, ""},
		{128, 0, ""},
	} {
		if got, _ := diagnose(death{code: c.code, signal: c.signal}); got.ID != c.want {
			t.Errorf("code %d, signal %d: %q, want %q", c.code, c.signal, got.ID, c.want)
		}
	}
}

func TestDiagnoseNamesTheRow(t *testing.T) {
	t.Parallel()
	lines := []string{deaths()["data"].lines}
	for text, want := range map[string]string{
		"{\"a\":1}\n\n{\"a\":\n{}\n": ":3: unexpected end of JSON input",
		"{\"a\":1}\n[1]\n":           ":2: ",
		"{\"a\":\"\xff\"}\n":         ":1: the bytes are no UTF-8",
		"{\"a\":1}\n":                "the training data cannot be read",
	} {
		path := filepath.Join(t.TempDir(), "train.jsonl")
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		c, ok := diagnose(death{lines: lines, code: 1, data: path})
		if !ok || !strings.Contains(c.What.In(msg.En), want) {
			t.Errorf("%q: %s", text, c.What.In(msg.En))
		}
	}
	c, _ := diagnose(death{lines: lines, code: 1, data: filepath.Join(t.TempDir(), "none.jsonl")})
	if !strings.Contains(c.What.In(msg.En), "none.jsonl") {
		t.Errorf("a file that is not there: %s", c.What.In(msg.En))
	}
}

// The last lines of real failures come to their cause.
func TestDiagnoseRealLogs(t *testing.T) {
	t.Parallel()
	for file, want := range map[string]string{
		"fail_lf_badjson.txt": "data", "fail_lf_badkey.txt": "option", "fail_lf_badpath.txt": "data",
		"fail_sw_badjson.txt": "data", "fail_sw_badkey.txt": "option", "fail_sw_badpath.txt": "data",
		"fail_trl_badkey_yaml.txt": "option",
	} {
		b, err := os.ReadFile(golden.RealData(t, "trainers-real", "logs", file))
		if err != nil {
			t.Fatal(err)
		}
		if c, _ := diagnose(death{lines: strings.Split(string(b), "\n"), code: 1}); c.ID != want {
			t.Errorf("%s: %q, want %q", file, c.ID, want)
		}
	}
}

func FuzzDiagnose(f *testing.F) {
	for _, d := range deaths() {
		f.Add(d.lines, d.lines)
	}
	f.Add("", `{"message": {"message": 1}}`)
	f.Fuzz(func(t *testing.T, lines, said string) {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, errorFile), []byte(said), 0o644); err != nil {
			t.Fatal(err)
		}
		if c, ok := diagnose(death{lines: strings.Split(lines, "\n"), code: 1, dir: dir}); ok && (c.ID == "" || c.What.In(msg.Zh) == "") {
			t.Errorf("a cause without words: %+v", c)
		}
	})
}
