package eval_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/drydock-ml/drydock/eval"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/llm"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/launch/checkpoint"
)

// adapterTensors writes a file of one module's lora_A and lora_B; b fills the
// latter.
func adapterTensors(b byte) []byte {
	header := `{"base_model.model.l.q_proj.lora_A.weight":{"dtype":"F32","shape":[8,1],"data_offsets":[0,32]},"base_model.model.l.q_proj.lora_B.weight":{"dtype":"F32","shape":[1,8],"data_offsets":[32,64]}}`
	out := binary.LittleEndian.AppendUint64(nil, uint64(len(header)))
	out = append(append(out, header...), make([]byte, 32)...)
	return append(out, bytes.Repeat([]byte{b}, 32)...)
}

func writeAdapter(t testing.TB, dir, config string, weights []byte) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{"adapter_config.json": []byte(config), "adapter_model.safetensors": weights} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

const lora = `{"peft_type":"LORA","r":8,"lora_alpha":16,"target_modules":["q_proj"],"bias":"none","use_dora":false,"modules_to_save":null}`

// A hot server loads adapters while it runs, one at a time, and answers for each
// as well as its step is high.
type hot struct {
	vllm
	loaded map[string]string
	log    []string
	refuse func(name string) (int, string)
	lock   sync.Mutex
}

func newHot() *hot {
	h := &hot{vllm: *goodVLLM(), loaded: map[string]string{}}
	h.logprob = func(model string) float64 { return -float64(len(model)) }
	return h
}

func (h *hot) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.lock.Lock()
	switch r.URL.Path {
	case "/v1/load_lora_adapter", "/v1/unload_lora_adapter":
		defer h.lock.Unlock()
		var q struct {
			Name string `json:"lora_name"`
			Path string `json:"lora_path"`
		}
		_ = json.NewDecoder(r.Body).Decode(&q)
		if q.Path == "" {
			h.log = append(h.log, "-"+q.Name[:strings.LastIndexByte(q.Name, '-')])
			delete(h.loaded, q.Name)
			return
		}
		if h.refuse != nil {
			if status, text := h.refuse(q.Name); status != 0 {
				w.WriteHeader(status)
				io.WriteString(w, text)
				return
			}
		}
		h.log = append(h.log, "+"+q.Name[:strings.LastIndexByte(q.Name, '-')])
		h.loaded[q.Name] = q.Path
		io.WriteString(w, "Success: LoRA adapter added successfully.")
		return
	case "/v1/models":
		h.models = `{"id":"qwen3-8b"}`
		for name := range h.loaded {
			h.models += fmt.Sprintf(`,{"id":%q,"parent":"qwen3-8b"}`, name)
		}
	}
	h.lock.Unlock()
	h.vllm.ServeHTTP(w, r)
}

func (h *hot) job(t *testing.T, dir string) (eval.SweepJob, func()) {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	c, err := llm.New(llm.Options{BaseURL: s.URL + "/v1", HTTP: s.Client(), Clock: time.Now, Attempts: 2})
	if err != nil {
		t.Fatal(err)
	}
	out := t.TempDir()
	for i, step := range []int{100, 200, 300} {
		writeAdapter(t, filepath.Join(out, fmt.Sprintf("checkpoint-%d", step)), lora, adapterTensors(byte(i+1)))
	}
	found, err := checkpoint.Find(out, checkpoint.AdapterOptions{})
	if err != nil {
		t.Fatal(err)
	}
	h.answer = func(model string, i int) (any, any, string) {
		wrong := map[string]int{"checkpoint-100": 2, "checkpoint-200": 6, "checkpoint-300": 3}
		for name, n := range wrong {
			if strings.HasPrefix(model, name) && i%n == 0 {
				return "[Z]", nil, "stop"
			}
		}
		return gold(i), nil, "stop"
	}
	return eval.SweepJob{
		Job: eval.Job{
			Benchmark: choice(t), Items: ownItems(t, 60), Model: "qwen3-8b", WorkDir: dir, Clock: time.Now,
			Queries: filepath.Join(dir, "queries.jsonl"),
		},
		Client: c, Sampling: sampling(t, ""), Checkpoints: found,
	}, s.Close
}

func TestSweep(t *testing.T) {
	t.Parallel()
	h := newHot()
	dir := t.TempDir()
	job, _ := h.job(t, dir)
	s, err := eval.RunSweep(t.Context(), job)
	if err != nil || s.Err() != nil {
		t.Fatal(err, s.Err())
	}
	var got []string
	for _, r := range s.Rows {
		got = append(got, fmt.Sprintf("%d %d/%d", r.Step, r.Test.Correct, r.Test.N))
	}
	if d := cmp.Diff([]string{"100 30/60", "200 50/60", "300 40/60"}, got); d != "" || s.Chosen != "" || s.Queries != 3 {
		t.Errorf("%s chosen %q, %d queries", d, s.Chosen, s.Queries)
	}
	if d := cmp.Diff([]string{"+checkpoint-100", "-checkpoint-100", "+checkpoint-200", "-checkpoint-200", "+checkpoint-300", "-checkpoint-300"}, h.log); d != "" {
		t.Error(d)
	}
	for _, r := range s.Rows {
		if !strings.Contains(r.Test.Files.Reviews, "/"+r.Checkpoint+"/reviews/") || r.Test.Preflight.Status == eval.CheckFailed {
			t.Errorf("%s: %s, %s", r.Checkpoint, r.Test.Files.Reviews, r.Test.Preflight.Status)
		}
	}
	// again: nothing is asked, nothing is loaded, the numbers stand
	calls := len(h.calls)
	if again, err := eval.RunSweep(t.Context(), job); err != nil || len(h.calls) != calls || len(h.log) != 6 || again.Rows[1].Test.Correct != 50 {
		t.Errorf("again: %v, %d calls", err, len(h.calls)-calls)
	}
}

// Chosen on the development set, the best one alone sees the test, once.
func TestSweepWithDev(t *testing.T) {
	t.Parallel()
	h := newHot()
	job, _ := h.job(t, t.TempDir())
	job.Dev = &eval.Exam{Benchmark: choice(t), Items: ownItems(t, 30)}
	s, err := eval.RunSweep(t.Context(), job)
	if err != nil || s.Err() != nil {
		t.Fatal(err, s.Err())
	}
	if s.Chosen != "checkpoint-200" || s.Queries != 1 {
		t.Errorf("chosen %s, %d queries", s.Chosen, s.Queries)
	}
	// the base answers everything right, checkpoint-200 every sixth item wrong
	if c := s.Comparison; c == nil || c.Base.Accuracy != 1 || len(c.Others) != 3 || c.Others[1].Lost != 5 || c.Others[1].Shared != 30 || c.Luck <= 0 {
		t.Errorf("compared: %+v", s.Comparison)
	}
	for _, r := range s.Rows {
		if r.Dev == nil || r.Dev.N != 30 || (r.Test != nil) != (r.Checkpoint == s.Chosen) {
			t.Errorf("%+v", r)
		}
	}
}

func TestSweepFailures(t *testing.T) {
	t.Parallel()
	// one is refused: the others go on
	h := newHot()
	h.refuse = func(name string) (int, string) {
		if strings.HasPrefix(name, "checkpoint-200") {
			return 500, `{"error":{"message":"Worker failed with error 'LoRA rank 32 is greater than max_lora_rank 16.'","code":500}}`
		}
		return 0, ""
	}
	job, _ := h.job(t, t.TempDir())
	s, err := eval.RunSweep(t.Context(), job)
	if err != nil || fail.Code(s.Err()) != 3 || s.Rows[1].Test != nil || !strings.Contains(s.Rows[1].Error, "rank 32") || s.Rows[2].Test == nil {
		t.Errorf("%v, %v, %+v", err, s.Err(), s.Rows)
	}
	// a server that loads nothing ends it at once, with what to do
	for _, body := range []string{`{"detail":"Not Found"}`, `{"error":{"message":"Not Found","code":404}}`} {
		h := newHot()
		h.refuse = func(string) (int, string) { return 404, body }
		job, _ := h.job(t, t.TempDir())
		_, err := eval.RunSweep(t.Context(), job)
		if fail.Code(err) != 1 || !strings.Contains(strings.Join(fail.All(err)[0].Hints(msg.En), " "), "VLLM_ALLOW_RUNTIME_LORA_UPDATING") {
			t.Errorf("%v", err)
		}
	}
	// a path the server does not have
	h = newHot()
	h.refuse = func(string) (int, string) {
		return 404, `{"error":{"message":"Loading lora x failed: No adapter found for <path>","code":404}}`
	}
	job, _ = h.job(t, t.TempDir())
	if s, err := eval.RunSweep(t.Context(), job); err != nil || len(s.Rows) != 3 || fail.Code(s.Err()) != 3 {
		t.Errorf("%v, %v", err, s.Err())
	}
	// cut in the middle: the adapter is dropped all the same, and the sweep goes on later
	h = newHot()
	dir := t.TempDir()
	job, _ = h.job(t, dir)
	ctx, cancel := context.WithCancelCause(t.Context())
	done := 0
	job.Job.Progress = func(eval.Progress) {
		if done++; done == 90 {
			cancel(errors.New("enough"))
		}
	}
	if _, err := eval.RunSweep(ctx, job); fail.Code(err) != 130 {
		t.Errorf("%v", err)
	}
	if h.log[len(h.log)-1] != "-checkpoint-200" || len(h.loaded) != 0 {
		t.Errorf("loads %v", h.log)
	}
	job.Job.Progress = nil
	if s, err := eval.RunSweep(t.Context(), job); err != nil || s.Err() != nil || s.Rows[0].Test.Reused != 60 || s.Rows[1].Test.Reused == 0 || s.Queries != 3 {
		t.Errorf("%v, %v", err, s.Err())
	}
}
