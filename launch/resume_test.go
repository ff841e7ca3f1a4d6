package launch_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/drydock-ml/drydock/internal/golden"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/launch"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// The last whole checkpoint is found, and each broken one behind it is named.
func TestLastCheckpoint(t *testing.T) {
	t.Parallel()
	edit := func(name string, change func([]byte) []byte) func(dir string) error {
		return func(dir string) error {
			b, err := os.ReadFile(filepath.Join(dir, name))
			if err != nil {
				return err
			}
			return os.WriteFile(filepath.Join(dir, name), change(b), 0o644)
		}
	}
	cut := func(b []byte) []byte { return b[:len(b)-3] }
	remove := func(name string) func(dir string) error {
		return func(dir string) error { return os.Remove(filepath.Join(dir, name)) }
	}
	for name, c := range map[string]struct {
		change func(dir string) error
		why    string // "": it is whole
	}{
		"whole":             {func(string) error { return nil }, ""},
		"no state":          {remove("trainer_state.json"), "no trainer_state.json"},
		"half a state":      {edit("trainer_state.json", cut), "trainer_state.json is not whole"},
		"state of nothing":  {edit("trainer_state.json", func([]byte) []byte { return []byte("{}") }), "trainer_state.json is not whole"},
		"half the weights":  {edit("adapter_model.safetensors", cut), "weights are not whole"},
		"no weights":        {remove("adapter_model.safetensors"), "no weights"},
		"no optimizer":      {remove("optimizer.pt"), "save_only_model"},
		"half an optimizer": {edit("optimizer.pt", cut), "optimizer.pt is not whole"},
		"DeepSpeed": {func(dir string) error {
			return errors.Join(remove("optimizer.pt")(dir), os.Mkdir(filepath.Join(dir, "global_step20"), 0o755),
				os.WriteFile(filepath.Join(dir, "latest"), []byte("global_step20\n"), 0o644))
		}, ""},
		"DeepSpeed, cut": {func(dir string) error {
			return errors.Join(remove("optimizer.pt")(dir), os.WriteFile(filepath.Join(dir, "latest"), []byte("global_step20"), 0o644))
		}, "global_step20"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			output := t.TempDir()
			for _, step := range []int{5, 10, 100} {
				if err := writeCheckpoint(output, step); err != nil {
					t.Fatal(err)
				}
			}
			if err := c.change(filepath.Join(output, "checkpoint-100")); err != nil {
				t.Fatal(err)
			}
			got, broken := launch.LastCheckpoint(output)
			if c.why == "" {
				if got == nil || got.Step != 100 || got.MaxSteps != 20 || len(broken) != 0 || len(got.Losses) != 2 {
					t.Errorf("%+v, %v", got, broken)
				}
				return
			}
			if got == nil || got.Step != 10 || len(broken) != 1 || !strings.Contains(broken[0].Why.In(msg.En), c.why) {
				t.Errorf("%+v, %v", got, broken)
			}
		})
	}
	if got, broken := launch.LastCheckpoint(filepath.Join(t.TempDir(), "none")); got != nil || broken != nil {
		t.Errorf("a folder that is not there: %v, %v", got, broken)
	}
}

// The states that real trainers wrote are read.
func TestRealStates(t *testing.T) {
	t.Parallel()
	for _, trainer := range []string{"axolotl", "llamafactory", "trl"} {
		b, err := os.ReadFile(golden.RealData(t, "trainers-real", "logs", trainer+"_checkpoint-5_trainer_state.json"))
		if err != nil {
			t.Fatal(err)
		}
		output := t.TempDir()
		if err := writeCheckpoint(output, 5); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(output, "checkpoint-5", "trainer_state.json"), b, 0o644); err != nil {
			t.Fatal(err)
		}
		c, broken := launch.LastCheckpoint(output)
		if c == nil || c.Step != 5 || len(c.Losses) != 5 || len(broken) != 0 {
			t.Errorf("%s: %+v, %v", trainer, c, broken)
		}
	}
}

// watch returns what a training comes to that had these losses before a
// checkpoint of step 10, and reports these afterwards, from a step on.
func watch(before []float64, from int, after ...float64) *launch.Continuation {
	c := &launch.Checkpoint{Step: 10}
	for i, x := range before {
		c.Losses = append(c.Losses, launch.Event{Step: i + 1, Loss: &x})
	}
	w := launch.NewContinuation(c)
	for i, x := range after {
		w.Add(launch.Report{Event: launch.Event{Step: from + i, Loss: &x}})
	}
	return w
}

func TestContinuation(t *testing.T) {
	t.Parallel()
	level := []float64{1.1, 1.0, 1.05, 0.95, 1.0, 0.9, 0.98, 1.02, 0.97, 0.96}
	for name, c := range map[string]struct {
		w       *launch.Continuation
		want    string
		settled bool
	}{
		"nothing came":        {watch(level, 11), launch.Unseen, false},
		"goes on":             {watch(level, 11, 0.97, 0.99, 0.95), launch.Continues, true},
		"one hard batch":      {watch(level, 11, 1.5, 0.99, 0.95), launch.Continues, true},
		"after one step":      {watch(level, 11, 0.97), launch.Continues, false},
		"began anew":          {watch(level, 1, 2.5), launch.Restarted, true},
		"the same step again": {watch(level, 10, 0.97), launch.Restarted, true},
		"lost what it learnt": {watch(level, 11, 2.4, 2.5, 2.3), launch.LossJumped, true},
		"no losses before":    {watch(nil, 11, 2.4, 2.5, 2.3), launch.Continues, true},
		"flat before":         {watch([]float64{11.8, 11.8}, 11, 11.85, 11.9, 11.8), launch.Continues, true},
	} {
		if got := c.w.Verdict(); got != c.want || c.w.Settled() != c.settled {
			t.Errorf("%s: %s, settled %v", name, got, c.w.Settled())
		}
	}
}

func TestCurve(t *testing.T) {
	t.Parallel()
	c := launch.NewCurve()
	for _, line := range []string{
		`{"time":"2026-01-01T00:00:00Z","type":"train","step":1,"loss":3}`,
		`{"time":"2026-01-01T00:00:00Z","type":"train","step":2,"loss":2.1}`,
		`{"time":"2026-01-01T00:00:00Z","type":"train","step":2,"loss":2.125,"from":"o/checkpoint-2/trainer_state.json","again":true}`,
		`{"time":"2026-01-01T00:00:00Z","type":"train","step":2,"loss":9}`, // a worse source
		`{"time":"2026-01-01T00:00:00Z","type":"train","step":2,"eval_loss":1.5}`,
		`{"time":"2026-01-01T00:00:00Z","type":"train","step":3}`,
		`{"time":"2026-01-01T00:00:00Z","type":"stage","stage":"train","loss":4}`,
		`{"torn`,
		``,
	} {
		c.AddLine([]byte(line))
	}
	if d := cmp.Diff([]float64{3, 2.125}, c.Losses()); d != "" {
		t.Error(d)
	}
	c.Until(1)
	if d := cmp.Diff([]float64{3}, c.Losses()); d != "" {
		t.Error(d)
	}
}

// A drawing is never wider than it may be, whatever the losses are.
func TestCurveFits(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		c := launch.NewCurve()
		for i, x := range rapid.SliceOfN(rapid.Float64Range(-1e6, 1e6), 2, 300).Draw(rt, "losses") {
			c.Add(launch.Report{Event: launch.Event{Step: i + 1, Loss: &x}})
		}
		width := rapid.IntRange(40, 100).Draw(rt, "width")
		for line := range strings.Lines(c.Chart(msg.Zh, width-12).Text(width, 12)) {
			if n := len([]rune(strings.TrimRight(line, "\n"))); n > width {
				rt.Fatalf("%d columns of %d: %s", n, width, line)
			}
		}
		if s := launch.Sparkline(c.Losses(), width); len([]rune(s)) > width || s == "" {
			rt.Fatalf("sparkline %q", s)
		}
	})
}

func TestSparkline(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		values []float64
		width  int
		want   string
	}{
		{nil, 10, ""},
		{[]float64{1}, 10, "▁"},
		{[]float64{8, 4, 1}, 10, "█▄▁"},
		{[]float64{8, 8, 4, 4, 1, 1}, 3, "█▄▁"},
		{[]float64{2, 2}, 0, ""},
	} {
		if got := launch.Sparkline(c.values, c.width); got != c.want {
			t.Errorf("%v: %q, want %q", c.values, got, c.want)
		}
	}
}

// The trainer's Python is the one its script names, or that of its environment,
// and never one that lies beside it by chance.
func TestEnvironment(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	put := func(name, text string) string {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
		return path
	}
	put("venv/pyvenv.cfg", "home = /usr/bin\n")
	want := launch.Environment{Python: "3.11.9", Torch: "2.6.0", CUDA: "12.4", Packages: []string{"torch==2.6.0"}}
	reply, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		binary, python string
	}{
		"script":       {put("bin/trl", "#!/opt/venv/bin/python3\nimport sys\n"), "/opt/venv/bin/python3"},
		"environment":  {put("venv/bin/swift", "\x7fELF"), filepath.Join(dir, "venv", "bin", "python")},
		"Python":       {"/usr/bin/python3.12", "/usr/bin/python3.12"},
		"another":      {put("bin/trainer", "\x7fELF"), ""},
		"shell script": {put("bin/train.sh", "#!/bin/sh\n"), ""},
		"not there":    {filepath.Join(dir, "bin", "none"), ""},
		"not found":    {"", ""},
	} {
		asked := ""
		h := launch.Host{Output: func(_ context.Context, argv ...string) ([]byte, error) {
			asked = strings.TrimSuffix(argv[0], ".exe")
			return append([]byte("a warning of the interpreter\n"), reply...), nil
		}}
		got, ok := h.Environment(t.Context(), c.binary)
		if asked != c.python || ok != (c.python != "") {
			t.Errorf("%s: asked %q, want %q", name, asked, c.python)
		}
		if d := cmp.Diff(want, got); ok && d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
	fails := launch.Host{Output: func(context.Context, ...string) ([]byte, error) { return nil, errors.New("no") }}
	if e, ok := fails.Environment(t.Context(), "/usr/bin/python3"); ok {
		t.Errorf("an environment out of nothing: %+v", e)
	}
}

func TestRepository(t *testing.T) {
	t.Parallel()
	commit := strings.Repeat("a1", 20)
	host := func(changes string, err error) launch.Host {
		return launch.Host{
			LookPath: func(string) (string, error) { return "git", err },
			Output: func(_ context.Context, argv ...string) ([]byte, error) {
				if argv[3] == "rev-parse" {
					return []byte(commit + "\n"), nil
				}
				return []byte(changes), nil
			},
		}
	}
	for changes, dirty := range map[string]bool{"": false, " M a.go\n": true} {
		r, ok := host(changes, nil).Repository(t.Context(), "p")
		if !ok || r.Commit != commit || r.Dirty != dirty {
			t.Errorf("%q: %+v %v", changes, r, ok)
		}
	}
	if r, ok := host("", fmt.Errorf("none")).Repository(t.Context(), "p"); ok {
		t.Errorf("without git: %+v", r)
	}
}
