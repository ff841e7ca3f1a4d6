package vllm_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/drydock-ml/drydock/dataprep/emit"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/llm"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/launch"
	"github.com/drydock-ml/drydock/launch/checkpoint"
	"github.com/drydock-ml/drydock/launch/vllm"
	"github.com/drydock-ml/drydock/launch/vllm/vllmtest"
)

func fake() { vllmtest.Main() }

func httpClient() *http.Client { return &http.Client{Transport: llm.Transport(4)} }

// freePort asks the system for a port nobody listens at.
func freePort(t *testing.T) int {
	t.Helper()
	for port := 20000 + os.Getpid()%20000; port < 60000; port++ {
		if vllm.CheckPort("127.0.0.1", port) == nil {
			return port
		}
	}
	t.Fatal("no port is free")
	return 0
}

var ports sync.Mutex

// A ran is what became of a fake server.
type ran struct {
	result *vllm.Result
	err    error
	phases []string
	fatal  []string
	checks []vllm.Check
	lines  string
}

// serve runs the fake vLLM with faults until ready has returned.
func serve(t *testing.T, faults string, change func(*vllm.Config), ready func(ctx context.Context, p *vllm.Plan, c *llm.Client) error) *ran {
	t.Helper()
	ports.Lock() // one server at a time: the port was free when it was asked for
	defer ports.Unlock()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := config()
	c.Port, c.LoRA = freePort(t), true
	if change != nil {
		change(&c)
	}
	p, err := vllm.NewPlan(c, launch.Found{Binary: exe, Version: "0.32.0"})
	if err != nil {
		t.Fatal(err)
	}
	client, err := llm.New(llm.Options{BaseURL: p.BaseURL, HTTP: httpClient(), Clock: time.Now, Attempts: 1})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r := &ran{}
	var log strings.Builder
	r.result, r.err = vllm.Run(ctx, p, vllm.RunOptions{
		Environ: append(os.Environ(), vllmtest.FaultsEnv+"="+faults+",", "DRYDOCK_API_KEY=k"), Client: client, Log: &log, Wait: 20 * time.Second, Grace: 2 * time.Second,
		OnPhase: func(l msg.Localizer) { r.phases = append(r.phases, l.In(msg.En)) },
		OnFatal: func(f vllm.Fatal) { r.fatal = append(r.fatal, f.ID) },
		Ready: func(ctx context.Context) error {
			var err error
			r.checks, err = p.Look(ctx, client)
			if err == nil && ready != nil {
				err = ready(ctx, p, client)
			}
			if err == nil && !strings.Contains(faults, "later") {
				cancel()
			}
			return err
		},
	})
	r.lines = log.String()
	return r
}

func (r *ran) status(id string) vllm.Status {
	for _, c := range r.checks {
		if c.ID == id {
			return c.Status
		}
	}
	return ""
}

func TestRun(t *testing.T) {
	t.Parallel()
	for _, contract := range []emit.Contract{emit.EmptyThink, emit.EmptyThinkMasked, emit.CoT} {
		r := serve(t, "ok", func(c *vllm.Config) { c.Contract = contract }, nil)
		if r.err != nil || !r.result.Ready || r.result.Ended.Code != 0 || len(r.fatal) > 0 {
			t.Fatalf("%s: %v, %+v\n%s", contract, r.err, r.result, r.lines)
		}
		for _, c := range r.checks {
			if c.Status != vllm.Passed && !(contract == emit.CoT && c.Status == vllm.Skipped) || c.In(msg.Zh) == "" {
				t.Errorf("%s: %s %s: %s", contract, c.ID, c.Status, c.In(msg.En))
			}
		}
		want := []string{"the model's configuration is read", "the weights are loaded", "the weights are there", "the server opens its port"}
		if d := cmp.Diff(want, r.phases); d != "" {
			t.Error(d)
		}
	}
	r := serve(t, "ok", func(c *vllm.Config) { c.Contract, c.KwargsInRequests = emit.EmptyThinkMasked, true }, nil)
	if r.err != nil || r.status("prompt") != vllm.Passed {
		t.Errorf("kwargs in requests: %v, %+v", r.err, r.checks)
	}
}

// A start that fails names the cause at once and at the end, with the fix.
func TestRunFails(t *testing.T) {
	t.Parallel()
	for fault, want := range map[string]string{
		"oom": "gpu_memory", "port": "port", "rank": "lora_rank", "tokenizer": "tokenizer", "mute": "",
	} {
		r := serve(t, fault, nil, nil)
		if fail.Code(r.err) != 21 || r.result.Ready {
			t.Errorf("%s: %v", fault, r.err)
			continue
		}
		e := fail.All(r.err)[0]
		if want == "" {
			if len(r.fatal) > 0 || !strings.Contains(e.Error(), "exit code 3") {
				t.Errorf("%s: %v %v", fault, r.fatal, e)
			}
			continue
		}
		if d := cmp.Diff([]string{want}, r.fatal); d != "" || len(e.Hints(msg.Zh)) == 0 {
			t.Errorf("%s: %s %v", fault, d, e)
		}
	}
	if r := serve(t, "other", nil, nil); fail.Code(r.err) != 1 || !strings.Contains(r.err.Error(), "something-else") {
		t.Errorf("another server: %v", r.err)
	}
}

// A server that never answers is given up, and one that dies later is explained.
func TestRunGivesUp(t *testing.T) {
	t.Parallel()
	r := serve(t, "later", nil, func(ctx context.Context, _ *vllm.Plan, c *llm.Client) error {
		return checkpoint.Load(ctx, c, "a", adapterDir(t, 8))
	})
	if fail.Code(r.err) != 21 || !r.result.Ready || !strings.Contains(r.err.Error(), "the engine has died") {
		t.Errorf("%v", r.err)
	}
}

func adapterDir(t *testing.T, rank int) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "adapter_config.json"), []byte(`{"r":`+map[int]string{8: "8", 32: "32"}[rank]+`}`), 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

// What the server's replies to loading and dropping mean (S14, S15).
func TestAdapters(t *testing.T) {
	t.Parallel()
	r := serve(t, "ok", nil, func(ctx context.Context, p *vllm.Plan, c *llm.Client) error {
		dir := adapterDir(t, 8)
		if err := errors.Join(checkpoint.Load(ctx, c, "a", dir), checkpoint.Load(ctx, c, "a", dir)); err != nil {
			t.Errorf("loading, and again: %v", err)
		}
		for words, err := range map[string]error{
			"max_lora_rank":  checkpoint.Load(ctx, c, "b", adapterDir(t, 32)),
			"No adapter":     checkpoint.Load(ctx, c, "b", t.TempDir()),
			"conflicts with": checkpoint.Load(ctx, c, p.Name, dir),
			"cannot be":      checkpoint.Unload(ctx, c, "b"),
		} {
			if err == nil || !strings.Contains(err.Error(), words) || fail.Code(err) != 1 || words != "cannot be" && len(fail.All(err)[0].Hints(msg.Zh)) == 0 {
				t.Errorf("%s: %v", words, err)
			}
		}
		k, err := p.Canary(ctx, c, "a")
		if err != nil || k.Status != vllm.Passed {
			t.Errorf("canary: %+v, %v", k, err)
		}
		return checkpoint.Unload(ctx, c, "a")
	})
	// what a refused adapter logs is no end of the server
	if r.err != nil || len(r.fatal) > 0 {
		t.Errorf("%v, %v", r.err, r.fatal)
	}
	r = serve(t, "cold", nil, func(ctx context.Context, _ *vllm.Plan, c *llm.Client) error {
		return checkpoint.Load(ctx, c, "a", adapterDir(t, 8))
	})
	if !errors.Is(r.err, checkpoint.ErrNoLoading) {
		t.Errorf("cold: %v", r.err)
	}
}

// Each trap a running server can spring is seen: S1, S2, S13 by the prompt, S3
// by the answer, S15 by the canary, S17 by the constraint.
func TestTraps(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		faults string
		change func(*vllm.Config)
		id     string
		want   vllm.Status
		trap   string
	}{
		{"system", nil, "prompt", vllm.Failed, "S1"},
		{"ok", func(c *vllm.Config) { // thinking off here, and on where it was trained
			c.Extra = []string{"--default-chat-template-kwargs", `{"enable_thinking": false}`}
		}, "prompt", vllm.Failed, "S2"},
		{"template", nil, "prompt", vllm.Failed, "S13"},
		{"parser", nil, "content", vllm.Failed, "S3"},
		{"free", nil, "constraint", vllm.Warned, "S17"},
		{"parser", nil, "constraint", vllm.Warned, "S17"},
	} {
		r := serve(t, c.faults, c.change, nil)
		found := false
		for _, k := range r.checks {
			if k.ID == c.id {
				found = k.Status == c.want && strings.Contains(strings.Join(k.Traps, " ")+" ", c.trap+" ") && k.FixIn(msg.Zh) != "" && k.In(msg.En) != ""
			}
		}
		if !found || r.err != nil {
			t.Errorf("%s (%s): %v, %+v", c.trap, c.faults, r.err, r.checks)
		}
	}
	r := serve(t, "base", nil, func(ctx context.Context, p *vllm.Plan, c *llm.Client) error {
		if err := checkpoint.Load(ctx, c, "a", adapterDir(t, 8)); err != nil {
			return err
		}
		k, err := p.Canary(ctx, c, "a")
		if k.Status != vllm.Warned || !strings.Contains(k.In(msg.En), "not applied") {
			t.Errorf("S15: %+v", k)
		}
		return err
	})
	if r.err != nil {
		t.Error(r.err)
	}
	// the same words with other probabilities: an adapter is there and does little
	r = serve(t, "echo", nil, func(ctx context.Context, p *vllm.Plan, c *llm.Client) error {
		if err := checkpoint.Load(ctx, c, "a", adapterDir(t, 8)); err != nil {
			return err
		}
		k, err := p.Canary(ctx, c, "a")
		if k.Status != vllm.Warned || !strings.Contains(k.In(msg.En), "answers 16 of 16 prompts as its base does; only the probabilities differ, by up to 0.25") {
			t.Errorf("same words: %+v", k)
		}
		return err
	})
	if r.err != nil {
		t.Error(r.err)
	}
}

func TestCheckPort(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	port := l.Addr().(*net.TCPAddr).Port
	err = vllm.CheckPort("127.0.0.1", port)
	if fail.Code(err) != 1 || err == nil || !strings.Contains(strings.Join(fail.All(err)[0].Hints(msg.En), ""), "is free") {
		t.Errorf("%v", err)
	}
}
