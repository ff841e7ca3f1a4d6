package eval_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/drydock-ml/drydock/eval"
	"github.com/drydock-ml/drydock/eval/benchmark"
)

// TestInteropOverHTTP asks a scripted server and expects what the real EvalScope
// 1.4.2 sent to it, every byte of each body, and wrote from its replies.
// scripts/interop/evalscope.py made the files; the items are the project's own.
func TestInteropOverHTTP(t *testing.T) {
	t.Parallel()
	goldens := filepath.Join("evalscope", "testdata", "interop")
	for folder, path := range map[string]string{
		"sample": filepath.Join("..", "data", "samples", "colreg", "bench", "sample_bench.json"),
		"edge":   filepath.Join(goldens, "edge", "test.jsonl"),
	} {
		t.Run(folder, func(t *testing.T) {
			t.Parallel()
			items, err := benchmark.ReadItems(filepath.Base(path), []byte(read(t, path)))
			if err != nil {
				t.Fatal(err)
			}
			dir := filepath.Join(goldens, folder)
			script := newScripted(t, items, filepath.Join(dir, "replies.jsonl"))
			var (
				mu     sync.Mutex
				bodies []string
			)
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, err := io.ReadAll(r.Body)
				if err != nil {
					t.Error(err)
				}
				mu.Lock()
				bodies = append(bodies, string(body))
				mu.Unlock()
				r.Body = io.NopCloser(bytes.NewReader(body))
				script.ServeHTTP(w, r)
			}))
			t.Cleanup(srv.Close)
			s, err := eval.Run(t.Context(), eval.Job{
				Benchmark: choice(t), Items: items, Model: "qwen3-8b-sft", WorkDir: t.TempDir(), Endpoint: endpoint(t, srv.URL, 8, time.Minute),
				Preflight: eval.Preflight{Skip: true},
			})
			if err != nil || s.Err() != nil {
				t.Fatal(err, s.Err())
			}
			lines := func(name string) []string {
				return strings.Split(strings.TrimSuffix(strings.ReplaceAll(read(t, filepath.Join(dir, name)), "\r\n", "\n"), "\n"), "\n")
			}
			asked := lines("requests.jsonl") // in the order of the items
			slices.Sort(asked)
			slices.Sort(bodies)
			if d := cmp.Diff(asked, bodies); d != "" {
				t.Errorf("requests (-EvalScope +drydock):\n%s", d)
			}
			for name, ours := range map[string]string{"reviews.jsonl": s.Files.Reviews, "predictions.jsonl": s.Files.Predictions} {
				want := lines(name)
				for i := range want {
					want[i] = strings.ReplaceAll(want[i], `"id": "XXXXXXXX"`, `"id": "X"`)
				}
				if d := cmp.Diff(want, sortedMasked(t, ours)); d != "" {
					t.Errorf("%s (-EvalScope +drydock):\n%s", name, d)
				}
			}
			if d := cmp.Diff(lines("report.json"), strings.Split(read(t, s.Files.Report), "\n")); d != "" {
				t.Errorf("report (-EvalScope +drydock):\n%s", d)
			}
		})
	}
}
