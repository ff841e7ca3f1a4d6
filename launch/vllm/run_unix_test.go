//go:build !windows

package vllm_test

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/drydock-ml/drydock/internal/llm"
	"github.com/drydock-ml/drydock/launch/vllm"
)

// A server that does not end when asked to is killed after the grace, and what
// it started goes with it.
func TestRunLeavesNothing(t *testing.T) {
	for _, faults := range []string{"deaf", "orphan", "deaf,orphan"} {
		t.Run(faults, func(t *testing.T) {
			t.Chdir(t.TempDir())
			start := time.Now()
			r := serve(t, faults, nil, nil)
			if r.err != nil || r.result.Ended.Remain {
				t.Errorf("%v, %+v", r.err, r.result)
			}
			if took := time.Since(start); took > 15*time.Second {
				t.Errorf("it took %s", took)
			}
			if !strings.Contains(faults, "orphan") {
				return
			}
			b, err := os.ReadFile(filepath.Join(".", "orphan.pid"))
			if err != nil {
				t.Fatal(err)
			}
			pid, _ := strconv.Atoi(string(b))
			// the child of a dead parent is a zombie until the system's first process reaps it
			if state, _ := os.ReadFile("/proc/" + string(b) + "/stat"); syscall.Kill(pid, 0) == nil && !strings.Contains(string(state), ") Z ") {
				t.Errorf("process %d lives on", pid)
			}
		})
	}
}

func TestRunWaits(t *testing.T) {
	t.Chdir(t.TempDir())
	ports.Lock()
	defer ports.Unlock()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p := plan(t, func(c *vllm.Config) { c.Port = freePort(t) }, "0.32.0")
	p.Argv[0] = exe
	c, err := llm.New(llm.Options{BaseURL: p.BaseURL, HTTP: httpClient(), Clock: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	o := vllm.RunOptions{Environ: append(os.Environ(), "FAKE_VLLM=silent"), Client: c, Wait: time.Second, Grace: time.Second}
	if r, err := vllm.Run(t.Context(), p, o); err == nil || !strings.Contains(err.Error(), "not ready after 1s") || r.Ready {
		t.Errorf("%v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer cancel()
	o.Wait = time.Minute
	if _, err := vllm.Run(ctx, p, o); err == nil || !strings.Contains(err.Error(), "before the server was ready") {
		t.Errorf("%v", err)
	}
}
