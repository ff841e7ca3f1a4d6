package vllm_test

import (
	"context"
	"errors"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/launch"
	"github.com/drydock-ml/drydock/launch/vllm"
)

func TestFind(t *testing.T) {
	t.Parallel()
	host := func(python, program string) launch.Host {
		return launch.Host{
			LookPath: func(name string) (string, error) { return "/venv/bin/" + name, nil },
			Output: func(_ context.Context, argv ...string) ([]byte, error) {
				out := program
				if strings.Contains(argv[0], "python") {
					out = python
				}
				if out == "" {
					return nil, errors.New("not there")
				}
				return []byte(out), nil
			},
		}
	}
	for _, c := range []struct{ python, program, version, transformers string }{
		{"5.19.0\n0.32.0+cpu\n", "", "0.32.0+cpu", "5.19.0"},
		{"", "W1130 08:26 triton not found\n0.32.0\n", "0.32.0", ""},
		{"", "", "", ""},
		{"", "no version here", "", ""},
	} {
		f, err := vllm.Find(t.Context(), host(c.python, c.program), "vllm")
		if err != nil || f.Version != c.version || f.Packages["transformers"] != c.transformers || f.Binary != "/venv/bin/vllm" {
			t.Errorf("%+v: %+v, %v", c, f, err)
		}
	}
	_, err := vllm.Find(t.Context(), launch.Host{LookPath: func(string) (string, error) { return "", exec.ErrNotFound }}, "vllm")
	if fail.Code(err) != 1 {
		t.Error(err)
	}
}

func TestGPUMemory(t *testing.T) {
	t.Parallel()
	h := launch.Host{
		LookPath: func(string) (string, error) { return "/usr/bin/nvidia-smi", nil },
		Output: func(context.Context, ...string) ([]byte, error) {
			return []byte("0, A, 81920, 81408, 550.1, 9.0\n1, B, 81920, 40960, 550.1, 9.0\n"), nil
		},
	}
	if got := vllm.GPUMemory(t.Context(), h); !slices.Equal(got, []int{512, 40960}) {
		t.Errorf("%v", got)
	}
	h.LookPath = func(string) (string, error) { return "", exec.ErrNotFound }
	if got := vllm.GPUMemory(t.Context(), h); got != nil {
		t.Errorf("without a driver: %v", got)
	}
}
