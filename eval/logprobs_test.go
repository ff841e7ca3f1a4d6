package eval_test

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/eval"
	"github.com/drydock-ml/drydock/internal/llm"
)

// thinking answers as vLLM 0.32 does with logprobs: the written letter is always B,
// the most probable one the key, whose spellings "[A]"'s "A" and " A" only together
// beat B's.
func thinking(t *testing.T, streamed bool) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var body struct {
			Messages []drydock.Message `json:"messages"`
			Logprobs bool              `json:"logprobs"`
			Top      int               `json:"top_logprobs"`
		}
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil || len(body.Messages) == 0 {
			t.Errorf("body: %v", err)
			return
		}
		if !body.Logprobs || body.Top != 20 {
			t.Errorf("logprobs %v, top_logprobs %d", body.Logprobs, body.Top)
		}
		key := strings.Trim(gold(indexOf(body.Messages[0].Content)), "[]")
		token := func(text string, p float64, top ...any) map[string]any {
			return map[string]any{"token": text, "logprob": math.Log(p), "top_logprobs": top}
		}
		tokens := []any{
			token("D", 0.9, token("D", 0.9), token("A", 0.1)), // thought, not answered
			token("</think>", 1),
			token("[", 0.99, token("[", 0.99), token("A", 0.001)),
			token("B", 0.4, token("B", 0.4), token(key, 0.3), token(" "+key, 0.25)),
			token("]", 1),
		}
		if key == "B" {
			tokens[3] = token("B", 0.8, token("B", 0.8), token("A", 0.1))
		}
		if !streamed {
			_ = json.NewEncoder(w).Encode(map[string]any{"model": "m", "choices": []any{map[string]any{
				"index": 0, "finish_reason": "stop", "message": map[string]any{"role": "assistant", "content": "[B]"}, "logprobs": map[string]any{"content": tokens},
			}}})
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		for i, piece := range []string{"", "", "[", "B", "]"} {
			b, _ := json.Marshal(map[string]any{"model": "m", "choices": []any{map[string]any{
				"index": 0, "delta": map[string]any{"content": piece}, "logprobs": map[string]any{"content": tokens[i : i+1]},
			}}})
			fmt.Fprintf(w, "data: %s\n\n", b)
		}
		fmt.Fprint(w, "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
	}
}

// TestLogprobs: the most probable letters are counted beside the written ones, of
// answers in one piece and in many, and again when the run is taken up.
func TestLogprobs(t *testing.T) {
	t.Parallel()
	for _, streamed := range []bool{false, true} {
		srv := httptest.NewServer(thinking(t, streamed))
		t.Cleanup(srv.Close)
		client, err := llm.New(llm.Options{BaseURL: srv.URL + "/v1", HTTP: srv.Client(), Clock: time.Now})
		if err != nil {
			t.Fatal(err)
		}
		sampling := eval.Sampling{Stream: streamed}
		sampling.AskLogprobs()
		items, dir := ownItems(t, 8), t.TempDir()
		j := job(t, items, dir, nil)
		j.Endpoint, j.Logprobs, j.Preflight.Skip = eval.NewHTTP(client, "m", sampling), true, true
		for _, again := range []bool{false, true} {
			s, err := eval.Run(t.Context(), j)
			if err != nil {
				t.Fatal(err)
			}
			written := 0
			for i := range items {
				if gold(i) == "[B]" {
					written++
				}
			}
			p := s.Logprobs
			if p == nil || p.Correct != 8 || p.N != 8 || p.Missing != 0 || p.Same != written || p.Margin == nil || s.Correct != written || s.EvalScope != nil {
				t.Errorf("streamed %v, again %v: %+v beside %d, evalscope %v", streamed, again, p, s.Correct, s.EvalScope)
			}
			if again != (s.Reused == 8) {
				t.Errorf("%d answers taken over", s.Reused)
			}
		}
	}
}

// TestLogprobsNotTold: a server that tells none is said to.
func TestLogprobsNotTold(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"model":"m","choices":[{"index":0,"finish_reason":"stop","message":{"content":"[A]"},"logprobs":null}]}`)
	}))
	t.Cleanup(srv.Close)
	client, err := llm.New(llm.Options{BaseURL: srv.URL + "/v1", HTTP: srv.Client(), Clock: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	j := job(t, ownItems(t, 3), t.TempDir(), nil)
	j.Endpoint, j.Logprobs, j.Preflight.Skip = eval.NewHTTP(client, "m", eval.Sampling{}), true, true
	s, err := eval.Run(t.Context(), j)
	if err != nil || s.Logprobs.Missing != 3 || !noted(s, "no_logprobs") {
		t.Errorf("%+v, %v", s.Logprobs, err)
	}
}
