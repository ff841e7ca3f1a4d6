package training

import (
	"context"
	"fmt"
	"net"
	"os/exec"
	"strings"
	"testing"

	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/runstore"
	"github.com/drydock-ml/drydock/launch"
)

// The memory a training takes is held against the cards it may use, at the length
// of the longest row.
func TestMachineWarnsOfMemory(t *testing.T) {
	t.Parallel()
	host := func(smi string) launch.Host {
		return launch.Host{
			LookPath: func(name string) (string, error) {
				if smi == "" {
					return "", exec.ErrNotFound
				}
				return name, nil
			},
			Output: func(context.Context, ...string) ([]byte, error) { return []byte(smi), nil },
		}
	}
	const big, small = "0, NVIDIA H200, 143771, 143000, 570.1, 9.0\n", "1, NVIDIA GeForce RTX 3080, 10240, 10000, 570.1, 8.6\n"
	for name, c := range map[string]struct {
		smi     string
		environ []string
		longest int
		warned  string
	}{
		"enough":              {big, nil, 400, ""},
		"too small":           {small, nil, 400, "drydock.yaml:1:6: the training takes about 20.1 GiB a card"},
		"the small one hid":   {big + small, []string{"CUDA_VISIBLE_DEVICES=0"}, 400, ""},
		"no card":             {"", nil, 400, ""},
		"all hidden":          {big, []string{"CUDA_VISIBLE_DEVICES="}, 400, "CUDA_VISIBLE_DEVICES hides every card"},
		"held by others":      {"0, NVIDIA H200, 143771, 9000, 570.1, 9.0\n", nil, 400, "drydock.yaml:1:6: the training takes"},
		"a row of its length": {"0, NVIDIA A10, 23028, 22000, 570.1, 8.6\n", nil, 8000, "drydock.yaml:1:10: the training takes"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := &Result{
				Plan: &launch.Plan{Dir: "build", Limit: 8192, Load: &launch.Load{Method: "lora", Rank: 16, BatchSize: 4, Checkpointing: true}},
				Feed: &Feed{Longest: c.longest},
			}
			m := (&Config{Project: runstore.Project{Dir: t.TempDir()}, At: atOption}).machine(t.Context(), Env{Programs: host(c.smi), Environ: c.environ}, r)
			if m.Estimate == nil || m.Estimate.Total <= m.Estimate.Weights {
				t.Fatalf("estimate %+v", m.Estimate)
			}
			var said []string
			for _, w := range m.Warnings() {
				said = append(said, w.In(msg.En))
			}
			text := strings.Join(said, "\n")
			if c.warned == "" && text != "" || !strings.Contains(text, c.warned) {
				t.Errorf("warned %q, want %q", text, c.warned)
			}
		})
	}
}

// atOption makes a place of an option of which its length can be told.
func atOption(name string) fail.Where {
	return fail.Where{File: "drydock.yaml", Line: 1, Column: len(name)}
}

// A warning names the option whose other value would make the training smaller.
func TestHeaviest(t *testing.T) {
	t.Parallel()
	for want, l := range map[string]launch.Load{
		"method":     {Method: "lora", Rank: 16, BatchSize: 1, Tokens: 512, Checkpointing: true},
		"weights":    {Method: "full", BatchSize: 1, Tokens: 512, Checkpointing: true, Preference: true},
		"rank":       {Method: "qlora", Rank: 512, BatchSize: 1, Tokens: 512, Checkpointing: true},
		"batch_size": {Method: "qlora", Rank: 16, BatchSize: 8, Tokens: 4096, Checkpointing: true},
		"max_tokens": {Method: "qlora", Rank: 16, BatchSize: 1, Tokens: 32768},
	} {
		if got := heaviest(l, launch.EstimateMemory(l)); got != want {
			t.Errorf("%+v: %s, want %s", l, got, want)
		}
	}
}

// Of several cards, the port at which their processes meet must be free.
func TestMachineWarnsOfThePort(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", ":0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	env := Env{Environ: []string{fmt.Sprintf("MASTER_PORT=%d", l.Addr().(*net.TCPAddr).Port)}, Programs: launch.Host{
		LookPath: func(name string) (string, error) { return name, nil },
		Output: func(context.Context, ...string) ([]byte, error) {
			return []byte("0, NVIDIA H200, 143771, 143000, 570.1, 9.0\n1, NVIDIA H200, 143771, 143000, 570.1, 9.0\n"), nil
		},
	}}
	m := (&Config{Project: runstore.Project{Dir: t.TempDir()}}).machine(t.Context(), env, &Result{Plan: &launch.Plan{Dir: "build"}})
	if w := m.Warnings(); len(w) != 1 || !strings.Contains(w[0].In(msg.En), "is in use, at which the processes of the training meet") {
		t.Errorf("warned %v", w)
	}
}
