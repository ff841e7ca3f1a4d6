package launch

import (
	"context"
	"errors"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// fakeSMI answers as nvidia-smi does.
func fakeSMI(out string, err error) Host {
	return Host{
		LookPath: func(name string) (string, error) { return "/usr/bin/" + name, nil },
		Output:   func(context.Context, ...string) ([]byte, error) { return []byte(out), err },
	}
}

func TestGPUs(t *testing.T) {
	t.Parallel()
	got, err := fakeSMI("0, NVIDIA GeForce RTX 4090, 24564, 24200, 560.35.03, 8.9\n1, Tesla K80, 11441, [N/A], 418.87, [Not Supported]\nwarning: something\n", nil).GPUs(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := []GPU{
		{0, "NVIDIA GeForce RTX 4090", 24564 << 20, 24200 << 20, "560.35.03", "8.9"},
		{1, "Tesla K80", 11441 << 20, 0, "418.87", ""},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if _, err := fakeSMI("Failed to initialize NVML", errors.New("exit status 18")).GPUs(t.Context()); err == nil {
		t.Error("a driver that fails counts as no card")
	}
	none := Host{LookPath: func(string) (string, error) { return "", exec.ErrNotFound }}
	if got, err := none.GPUs(t.Context()); err != nil || got != nil {
		t.Errorf("no tool: %v, %v", got, err)
	}
}

func TestVisibleGPUs(t *testing.T) {
	t.Parallel()
	all := []GPU{{Index: 0}, {Index: 1}, {Index: 2}}
	for value, want := range map[string][]int{
		"": {}, "2,0": {2, 0}, "1": {1}, "-1": {}, "0,-1,1": {0}, "GPU-8932": {0, 1, 2}, " 1 , 2": {1, 2},
	} {
		got := []int{}
		for _, g := range VisibleGPUs(all, []string{"A=b", "CUDA_VISIBLE_DEVICES=" + value}) {
			got = append(got, g.Index)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%q: %s", value, d)
		}
	}
	if got := VisibleGPUs(all, nil); len(got) != 3 {
		t.Errorf("without the variable: %v", got)
	}
}

func TestFreeSpace(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	here, err := FreeSpace(dir)
	if err != nil || here <= 0 {
		t.Fatalf("%d, %v", here, err)
	}
	if _, err := FreeSpace(filepath.Join(dir, "not", "yet")); err != nil {
		t.Error(err)
	}
}

// What others measured or tell their users: ms-swift's 22 GB; LLaMA-Factory's
// table of 18 bytes a weight for full training; a rank-16 adapter of 43.6 million
// weights.
func TestEstimateMemory(t *testing.T) {
	t.Parallel()
	gb := func(l Load) float64 { return float64(EstimateMemory(l).Total) / 1e9 }
	for name, c := range map[string]struct {
		load     Load
		from, to float64
	}{
		"ms-swift's example": {Load{Method: "lora", Rank: 8, BatchSize: 1, Tokens: 2048, Checkpointing: true}, 20, 24},
		"qlora on 12 GB":     {Load{Method: "qlora", Rank: 16, BatchSize: 1, Tokens: 1024, Checkpointing: true}, 7, 12},
		"full, one card":     {Load{Method: "full", BatchSize: 1, Tokens: 512, Checkpointing: true}, 140, 155},
		"full, eight cards":  {Load{Method: "full", BatchSize: 1, Tokens: 512, Devices: 8, Checkpointing: true}, 19, 24},
	} {
		if got := gb(c.load); got < c.from || got > c.to {
			t.Errorf("%s: %.1f GB, want %.0f to %.0f", name, got, c.from, c.to)
		}
	}
	base := Load{Method: "lora", Rank: 16, BatchSize: 2, Tokens: 1024, Checkpointing: true}
	for name, grow := range map[string]func(*Load){
		"rank": func(l *Load) { l.Rank = 64 }, "batch": func(l *Load) { l.BatchSize = 4 }, "tokens": func(l *Load) { l.Tokens = 2048 },
		"pairs": func(l *Load) { l.Preference = true }, "no checkpointing": func(l *Load) { l.Checkpointing = false },
	} {
		l := base
		grow(&l)
		if gb(l) <= gb(base) {
			t.Errorf("%s does not raise the estimate", name)
		}
	}
	if got := CheckpointBytes(Load{Method: "lora", Rank: 16}); got != 12*43_646_976 {
		t.Errorf("a rank-16 checkpoint has %d bytes", got)
	}
}
