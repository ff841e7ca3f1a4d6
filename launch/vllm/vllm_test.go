package vllm_test

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/drydock-ml/drydock/dataprep/emit"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/golden"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/launch"
	"github.com/drydock-ml/drydock/launch/vllm"
)

func config() vllm.Config {
	return vllm.Config{Model: "Qwen/Qwen3-8B", Contract: emit.EmptyThink, Host: "127.0.0.1", Port: 8000, MaxModelLen: 4096, DType: "bfloat16"}
}

func plan(t *testing.T, change func(*vllm.Config), version string) *vllm.Plan {
	t.Helper()
	c := config()
	if change != nil {
		change(&c)
	}
	p, err := vllm.NewPlan(c, launch.Found{Version: version})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// every plan that drydock can write.
func plans(t *testing.T) map[string]*vllm.Plan {
	t.Helper()
	adapters := []vllm.Adapter{{Name: "checkpoint-40-0a1b2c3d", Dir: "/runs/1/checkpoint-40", Rank: 33}}
	return map[string]*vllm.Plan{
		"empty-think":  plan(t, nil, "0.32.0"),
		"masked":       plan(t, func(c *vllm.Config) { c.Contract = emit.EmptyThinkMasked }, "0.32.0"),
		"masked-own":   plan(t, func(c *vllm.Config) { c.Contract, c.KwargsInRequests = emit.EmptyThinkMasked, true }, "0.32.0"),
		"cot":          plan(t, func(c *vllm.Config) { c.Contract = emit.CoT }, "0.32.0"),
		"plain":        plan(t, func(c *vllm.Config) { c.Contract = emit.Plain }, "0.32.0"),
		"adapter":      plan(t, func(c *vllm.Config) { c.Adapters, c.MaxAdapters = adapters, 8 }, "0.32.0+cpu"),
		"later":        plan(t, func(c *vllm.Config) { c.LoRA, c.MaxAdapters, c.MaxRank = true, 8, 64 }, "0.32.0"),
		"folder":       plan(t, func(c *vllm.Config) { c.Model, c.Name, c.Extra = "./merged", "m", []string{"--enforce-eager"} }, "0.32.0"),
		"other-vllm":   plan(t, func(c *vllm.Config) { c.BatchInvariant = true }, "0.33.1"),
		"anywhere":     plan(t, func(c *vllm.Config) { c.Host, c.Port = "0.0.0.0", 9000 }, ""),
		"own-template": plan(t, func(c *vllm.Config) { c.ChatTemplate = "t.jinja" }, "0.32.0"),
	}
}

func TestPlans(t *testing.T) {
	t.Parallel()
	for name, p := range plans(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, err := json.MarshalIndent(p, "", "  ")
			if err != nil {
				t.Fatal(err)
			}
			b = append(b, '\n')
			for _, n := range p.Notes {
				b = append(b, n.In(msg.En)+"\n"...)
			}
			golden.Equal(t, ".txt", b)
		})
	}
}

// What each trap asks of the flags: no parser takes the answers (S3), no
// sampling of the model's own (S16), a note on batching (S21).
func TestPlansKeepTheContract(t *testing.T) {
	t.Parallel()
	all := plans(t)
	for name, p := range all {
		line := strings.Join(p.Argv, " ")
		if (name == "cot") != strings.Contains(line, "--reasoning-parser qwen3") {
			t.Errorf("%s: reasoning parser: %s", name, line)
		}
		if (name == "masked") != strings.Contains(line, `--default-chat-template-kwargs {"enable_thinking": false}`) {
			t.Errorf("%s: thinking: %s", name, line)
		}
		if !strings.Contains(line, "--generation-config vllm") || !strings.Contains(line, "--dtype bfloat16") || !strings.Contains(line, "--seed 0") {
			t.Errorf("%s: %s", name, line)
		}
		said := slices.ContainsFunc(p.Notes, func(n launch.Note) bool { return strings.Contains(n.In(msg.En), "(S21)") })
		if said == (name == "other-vllm") {
			t.Errorf("%s: batching is said: %v", name, said)
		}
	}
	if p := all["adapter"]; !strings.Contains(strings.Join(p.Argv, " "), "--enable-lora --max-lora-rank 64 --max-loras 1 --max-cpu-loras 8") || !slices.Contains(p.Set, "VLLM_ALLOW_RUNTIME_LORA_UPDATING=True") {
		t.Errorf("rank 33 is served by %v with %v", p.Argv, p.Set)
	}
}

func TestPlanRefuses(t *testing.T) {
	t.Parallel()
	for words, c := range map[string]struct {
		change  func(*vllm.Config)
		version string
	}{
		"names no model":         {func(c *vllm.Config) { c.Model = "" }, ""},
		"port 0":                 {func(c *vllm.Config) { c.Port = 0 }, ""},
		"length of 0":            {func(c *vllm.Config) { c.MaxModelLen = 0 }, ""},
		"too old":                {nil, "0.8.5"},
		"--max-lora-rank 17":     {func(c *vllm.Config) { c.MaxRank = 17 }, ""},
		"served as \"qwen3-8b\"": {func(c *vllm.Config) { c.Adapters = []vllm.Adapter{{Name: "qwen3-8b"}} }, ""},
		"served as \"a\"":        {func(c *vllm.Config) { c.Adapters = []vllm.Adapter{{Name: "a"}, {Name: "a"}} }, ""},
		"no --default-chat":      {func(c *vllm.Config) { c.Contract = emit.EmptyThinkMasked }, "0.13.0"},
		"no template contract":   {func(c *vllm.Config) { c.Contract = "think" }, ""},
	} {
		k := config()
		if c.change != nil {
			c.change(&k)
		}
		if _, err := vllm.NewPlan(k, launch.Found{Version: c.version}); fail.Code(err) != 2 || !strings.Contains(err.Error(), words) {
			t.Errorf("%s: %v", words, err)
		}
	}
}

// Our list is that of the real parser, and every plan passes it.
func TestRealOptions(t *testing.T) {
	t.Parallel()
	var real []struct {
		Flags   []string
		Nargs   any
		Choices []string
	}
	if err := json.Unmarshal(golden.ReadFile(t, golden.RealData(t, "vllm-real", "serve_flags_0.32.0.json")), &real); err != nil {
		t.Fatal(err)
	}
	want := map[string]vllm.Option{}
	for _, o := range real {
		if len(o.Flags) == 0 {
			continue // the model
		}
		values := map[any]string{nil: "1", 0.0: "0", "?": "?", "+": "+"}[o.Nargs]
		if values == "0" {
			o.Choices = nil
		}
		want[strings.Join(o.Flags, ",")] = vllm.Option{Names: o.Flags, Values: values, Choices: o.Choices}
	}
	have := map[string]vllm.Option{}
	for _, o := range vllm.Options() {
		have[strings.Join(o.Names, ",")] = o
	}
	if d := cmp.Diff(want, have); d != "" {
		t.Errorf("(-real +ours):\n%s", d)
	}
	for name, p := range plans(t) {
		for i := 3; i < len(p.Argv); i++ {
			o, ok := find(want, p.Argv[i])
			switch {
			case !ok:
				t.Errorf("%s: %s is no option", name, p.Argv[i])
			case o.Values != "0":
				i++
				if i == len(p.Argv) || strings.HasPrefix(p.Argv[i], "--") {
					t.Errorf("%s: %v lacks a value", name, o.Names)
				} else if len(o.Choices) > 0 && !slices.Contains(o.Choices, p.Argv[i]) {
					t.Errorf("%s: %v takes no %s", name, o.Names, p.Argv[i])
				}
			}
		}
	}
}

func find(all map[string]vllm.Option, name string) (vllm.Option, bool) {
	for _, o := range all {
		if slices.Contains(o.Names, name) {
			return o, true
		}
	}
	return vllm.Option{}, false
}

func TestCheckArgs(t *testing.T) {
	t.Parallel()
	for _, ok := range []string{
		"", "--enforce-eager", "-tp 2", "--tensor-parallel-size=2", "--gpu_memory_utilization 0.8", "--no-enable-prefix-caching", "-O3", "-O 2", "-O.level=3",
		"-cc.mode=none", "--compilation-config.mode 3", `--hf-overrides {"a":1}`, "--kv-cache-dtype fp8", "--cudagraph-capture-sizes 1 2 --trust-remote-code", "--max-num-seqs -1",
	} {
		if err := vllm.CheckArgs(strings.Fields(ok)); err != nil {
			t.Errorf("%s: %v", ok, err)
		}
	}
	for args, want := range map[string]string{
		"--no-such-flag 1":               "has no option --no-such-flag",
		"--gpu-memory-utilisation 0.8":   "did you mean --gpu-memory-utilization?",
		"--max-mod 2048":                 "abbreviations are not taken",
		"--tensor-par 2":                 "write --tensor-parallel-size",
		"--swap-space 4":                 "it was taken away",
		"--guided-decoding-backend x":    "--structured-outputs-config.backend",
		"--kv-cache-dtype fp9":           "did you mean fp8",
		"--tensor-parallel-size":         "wants a value",
		"--enforce-eager=true":           "takes no value",
		"--enforce-eager true":           `"true" belongs to no option`,
		"./other":                        "belongs to no option",
		"--reasoning-parser qwen3":       "is set by drydock",
		"--lora-modules a=/x":            "drydock serve --adapter DIR",
		"--api-key secret":               "VLLM_API_KEY",
		"--port 1":                       "before --",
		"--config x.yaml":                "give them one by one",
		"--model m":                      "drydock serve's argument",
		"--structured-output-config.x 1": "did you mean",
	} {
		err := vllm.CheckArgs(strings.Fields(args))
		all := ""
		for _, e := range fail.All(err) {
			all += e.Error() + "\n" + strings.Join(e.Hints(msg.En), "\n")
		}
		if fail.Code(err) != 2 || !strings.Contains(all, want) {
			t.Errorf("%s: %s", args, all)
		}
		if strings.Contains(all, "secret") {
			t.Errorf("%s: the key is repeated", args)
		}
	}
}

// FuzzCheckArgs: whatever is added, it is taken or refused.
func FuzzCheckArgs(f *testing.F) {
	for _, s := range []string{"--x", "-", "--", "-O", "--=1", "--a.b=c", "-tp", "--dtype=", "a b", "--middleware"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, args string) {
		if err := vllm.CheckArgs(strings.Fields(args)); err != nil && fail.Code(err) != 2 {
			t.Errorf("%q: %v", args, err)
		}
	})
}

// Every recorded end of a real server is explained by its root cause, and no
// line of a good one is taken for a fatal one.
func TestRealLogs(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"fatal_kv_memory": "kv_memory", "fatal_lora_path_missing": "lora_missing", "fatal_lora_rank": "lora_rank", "fatal_max_model_len": "max_model_len",
		"fatal_model_path_missing": "model_missing", "fatal_no_weights": "no_weights", "fatal_port_in_use": "port", "fatal_unknown_architecture": "architecture",
		"fatal_unknown_arg": "option", "ready": "", "sigterm_idle": "",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := ""
			log := string(golden.ReadFile(t, golden.RealData(t, "vllm-real", "logs", name+".log")))
			if f := vllm.Explain(strings.Split(log, "\n")); f != nil {
				got = f.ID
				if f.What.In(msg.Zh) == "" || f.Fix == nil || strings.Contains(f.What.In(msg.En), "%!") {
					t.Errorf("%s: %+v", f.ID, f)
				}
			}
			if got != want {
				t.Errorf("%q, want %q", got, want)
			}
		})
	}
}

// The words of other ends, as the projects' issues show them.
func TestExplain(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.90 GiB.":                                                                                                      "gpu_memory",
		"ValueError: Free memory on device (3.1/79.1 GiB) on startup is less than desired GPU memory utilization (0.9, 71.2 GiB).":                                                     "gpu_busy",
		"ValueError: No available memory for the cache blocks. Try increasing `gpu_memory_utilization` when initializing the engine.":                                                  "kv_memory",
		"ValueError: To serve at least one request with the models's max seq len (40960), (5.62 GiB KV cache is needed, which is larger than the available KV cache memory (2.1 GiB).": "kv_memory",
		"AttributeError: 'list' object has no attribute 'keys'":                                                                                                                        "tokenizer",
		"ValueError: Tokenizer class TokenizersBackend does not exist or is not currently imported.":                                                                                   "tokenizer",
		"ValueError: Bfloat16 is only supported on GPUs with compute capability of at least 8.0. Your Tesla T4 GPU has compute capability 7.5.":                                        "dtype",
		"RuntimeError: Failed to infer device type":                                                                                                                                    "no_gpu",
		"safetensors_rust.SafetensorError: Error while deserializing header":                                                                                                           "torn_weights",
		"vllm serve: error: argument --max-lora-rank: invalid choice: 17":                                                                                                              "option",
		"(APIServer pid=1) WARNING 11-30 [x.py:1] CUDA out of memory is retried":                                                                                                       "",
		"everything is fine": "",
	} {
		got := ""
		if f := vllm.Explain([]string{line}); f != nil {
			got = f.ID
		}
		if got != want {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
}

func TestMain(m *testing.M) {
	if os.Getenv("FAKE_VLLM") != "" {
		fake()
		return
	}
	os.Exit(m.Run())
}
