package eval_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/eval"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/golden"
	"github.com/drydock-ml/drydock/internal/llm"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/qwen3"
)

// A vllm answers as vLLM 0.32.0 does (the shapes are those of
// realdata/vllm-real); a rune is a token.
type vllm struct {
	version  string
	models   string                                  // the data of /v1/models
	render   func(m []drydock.Message, q url) string // the prompt; nil: Qwen's template
	ids      func([]int32) []int32                   // what the tokenizer makes of them; nil: Qwen's own
	answer   func(model string, i int) (content, reasoning any, finish string)
	logprob  func(model string) float64
	penalty  float64
	maxLen   int
	tokenize bool

	mu    sync.Mutex
	calls []string
}

// url is a request's chat_template_kwargs.
type url struct {
	Thinking *bool `json:"enable_thinking"`
}

func qwen(m []drydock.Message, q url) string {
	var b strings.Builder
	for _, x := range m {
		fmt.Fprintf(&b, "<|im_start|>%s\n%s<|im_end|>\n", x.Role, x.Content)
	}
	b.WriteString("<|im_start|>assistant\n")
	if q.Thinking != nil && !*q.Thinking {
		b.WriteString("<think>\n\n</think>\n\n")
	}
	return b.String()
}

func (v *vllm) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	var q struct {
		Model    string
		Messages []drydock.Message
		Tokens   []int32
		Kwargs   url `json:"chat_template_kwargs"`
	}
	_ = json.Unmarshal(body, &q)
	v.mu.Lock()
	v.calls = append(v.calls, r.URL.Path)
	v.mu.Unlock()
	send := func(x any) { _ = json.NewEncoder(w).Encode(x) }
	render := v.render
	if render == nil {
		render = qwen
	}
	switch r.URL.Path {
	case "/v1/models":
		io.WriteString(w, `{"object":"list","data":[`+v.models+`]}`)
	case "/version":
		if v.version == "" {
			http.NotFound(w, r)
			return
		}
		send(map[string]any{"version": v.version})
	case "/tokenize":
		if !v.tokenize {
			http.NotFound(w, r)
			return
		}
		ids := qwen3.Encode(nil, render(q.Messages, q.Kwargs))
		if v.ids != nil {
			ids = v.ids(ids)
		}
		send(map[string]any{"tokens": ids, "max_model_len": v.maxLen})
	case "/detokenize":
		send(map[string]any{"prompt": qwen3.Decode(q.Tokens)})
	case "/v1/chat/completions/render":
		if v.penalty == 0 {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		send(map[string]any{"sampling_params": map[string]any{"repetition_penalty": v.penalty, "top_p": 1}})
	case "/v1/chat/completions":
		prompt := q.Messages[len(q.Messages)-1].Content
		content, reasoning, finish := v.answer(q.Model, indexOf(prompt))
		n := qwen3.Count(render(q.Messages, q.Kwargs))
		choice := map[string]any{"index": 0, "finish_reason": finish, "message": map[string]any{"role": "assistant", "content": content, "reasoning": reasoning}}
		if v.logprob != nil && strings.Contains(string(body), `"logprobs":true`) {
			choice["logprobs"] = map[string]any{"content": []any{map[string]any{"token": "[", "logprob": v.logprob(q.Model)}}}
		}
		send(map[string]any{"model": q.Model, "system_fingerprint": "vllm-0.32.0-tp1", "choices": []any{choice}, "usage": map[string]any{"prompt_tokens": n, "completion_tokens": 3, "total_tokens": n + 3}})
	default:
		http.NotFound(w, r)
	}
}

func goodVLLM() *vllm {
	return &vllm{
		version: "0.32.0", models: `{"id":"qwen3-8b","root":"./tiny","parent":null,"max_model_len":4096},{"id":"ck1","root":"/a","parent":"qwen3-8b","max_model_len":null}`,
		maxLen: 4096, tokenize: true,
		answer: func(_ string, i int) (any, any, string) { return gold(i), nil, "stop" },
	}
}

func sampling(t *testing.T, extra string) eval.Sampling {
	t.Helper()
	f, err := llm.ParseExtra(extra)
	if err != nil {
		t.Fatal(err)
	}
	zero := 0.0
	return eval.Sampling{Temperature: &zero, Extra: f}
}

func askVLLM(t *testing.T, v *vllm, s eval.Sampling, change func(*eval.Job)) (eval.Summary, []eval.Note, error) {
	t.Helper()
	srv := httptest.NewServer(v)
	t.Cleanup(srv.Close)
	c, err := llm.New(llm.Options{BaseURL: srv.URL + "/v1", HTTP: srv.Client(), Clock: time.Now, Attempts: 1})
	if err != nil {
		t.Fatal(err)
	}
	var told []eval.Note
	j := eval.Job{
		Benchmark: choice(t), Items: ownItems(t, 24), Model: "ck1", WorkDir: t.TempDir(), Concurrency: 4, Clock: time.Now,
		Warn: func(n eval.Note) { told = append(told, n) },
	}
	if change != nil {
		change(&j)
	}
	j.Endpoint = eval.NewHTTP(c, j.Model, s)
	sum, err := eval.Run(t.Context(), j)
	return sum, told, err
}

func TestPreflightPasses(t *testing.T) {
	t.Parallel()
	v := goodVLLM()
	v.logprob = func(model string) float64 { return -float64(len(model)) }
	s, told, err := askVLLM(t, v, sampling(t, ""), func(j *eval.Job) {
		j.Preflight = eval.Preflight{Contract: "empty-think", BaseModel: "qwen3-8b"}
	})
	if err != nil || len(told) != 0 || s.Correct != 24 || s.Asked != 24 {
		t.Fatal(err, told, s.Correct)
	}
	p := s.Preflight
	var got []string
	for _, c := range p.Checks {
		got = append(got, c.ID+" "+string(c.Status))
	}
	want := []string{
		"alive pass", "model pass", "version pass", "prompt pass", "tokens pass", "length pass", "sampling skip",
		"content pass", "thinking pass", "letter pass", "adapter pass",
	}
	if d := cmp.Diff(want, got); d != "" || p.Status != eval.CheckPassed {
		t.Errorf("%s (-want +got):\n%s", p.Status, d)
	}
	// the letters are the base's; that its probabilities differ is said
	if last := p.Checks[len(p.Checks)-1].Text; !strings.Contains(last, "as qwen3-8b does, with other probabilities, by up to 5") {
		t.Error(last)
	}
	if p.Server.Version != "0.32.0" || p.Server.Parent != "qwen3-8b" || p.Server.Fingerprint != "vllm-0.32.0-tp1" || p.Server.PromptEnd != "<|im_start|>assistant\n" || len(p.Server.PromptTokens) == 0 {
		t.Errorf("server %+v", p.Server)
	}
	// the first item is the canary: nothing is asked twice
	chats := 0
	for _, c := range v.calls {
		if c == "/v1/chat/completions" {
			chats++
		}
	}
	if chats != 24+2*16 {
		t.Errorf("%d chat requests", chats)
	}
}

// Every fault that can be seen from outside is seen, with what to do; some end
// the run before it begins.
func TestPreflightFinds(t *testing.T) {
	t.Parallel()
	off := `{"chat_template_kwargs":{"enable_thinking":false}}`
	contract := func(j *eval.Job) { j.Preflight.Contract = "empty-think" }
	systemTurn := func(v *vllm) {
		v.render = func(m []drydock.Message, q url) string {
			return qwen(append([]drydock.Message{{Role: "system", Content: "detailed thinking off"}}, m...), q)
		}
	}
	for name, c := range map[string]struct {
		server   func(*vllm)
		extra    string
		change   func(*eval.Job)
		sampling func(*eval.Sampling)
		check    string
		says     string
		refused  bool
	}{
		"S3 reasoning parser": {
			server: func(v *vllm) {
				v.answer = func(_ string, i int) (any, any, string) { return nil, gold(i), "stop" }
			}, check: "content", says: "reasoning parser", refused: true,
		},
		"S3 reasoning hidden": {
			server: func(v *vllm) {
				v.answer = func(string, int) (any, any, string) { return nil, nil, "stop" }
			}, check: "content", says: "content is null", refused: true,
		},
		"S3 one odd reply is not the server": {
			server: func(v *vllm) {
				v.answer = func(_ string, i int) (any, any, string) {
					if i == 0 {
						return nil, "hm", "stop"
					}
					return gold(i), nil, "stop"
				}
			}, check: "content",
		},
		"another model's system turn": {server: systemTurn, check: "prompt", says: "2 turns"},
		"S1 a system turn": {
			server: systemTurn, change: contract, check: "prompt", says: "2 turns", refused: true,
		},
		"a template that trims": {
			server: func(v *vllm) {
				v.render = func(m []drydock.Message, q url) string {
					m = slices.Clone(m)
					m[0].Content = strings.TrimSpace(m[0].Content)
					return qwen(m, q)
				}
			}, change: func(j *eval.Job) { j.SystemPrompt = "你是船长。  " }, check: "text", says: "cuts white space",
		},
		"S13 another tokenizer": {
			server: func(v *vllm) {
				v.ids = func(ids []int32) []int32 { // letter by letter where it is ASCII
					var out []int32
					for _, id := range ids {
						text := qwen3.Decode([]int32{id})
						if id >= 151643 || strings.ContainsFunc(text, func(r rune) bool { return r >= 0x80 }) {
							out = append(out, id)
							continue
						}
						for _, r := range text {
							out = qwen3.Encode(out, string(r))
						}
					}
					return out
				}
			}, change: contract, check: "tokens", says: "token 1 of the prompt is", refused: true,
		},
		"S13 the same, of another model": {
			server: func(v *vllm) { v.ids = func(ids []int32) []int32 { return append([]int32{220}, ids...) } }, check: "prompt",
		},
		"a tokenizer that composes": {
			server: func(v *vllm) {
				v.render = func(m []drydock.Message, q url) string {
					return strings.ReplaceAll(qwen(m, q), "e\u0301", "\u00e9")
				}
			}, change: func(j *eval.Job) { j.SystemPrompt = "Cafe\u0301" }, check: "prompt",
		},
		"S2 thinking on for a masked contract": {
			change: func(j *eval.Job) { j.Preflight.Contract = "empty-think-masked" }, check: "prompt", says: "leaves thinking on", refused: true,
		},
		"S2 masked, closed": {
			extra: off, change: func(j *eval.Job) { j.Preflight.Contract = "empty-think-masked" }, check: "prompt",
		},
		"S2 cot, closed": {
			extra: off, change: func(j *eval.Job) { j.Preflight.Contract = "cot" }, check: "prompt", says: "closes thinking", refused: true,
		},
		"S2 cot, does not think": {
			change: func(j *eval.Job) { j.Preflight.Contract = "cot" }, check: "thinking", says: "does not think",
		},
		"S2 the base is served": {
			server: func(v *vllm) {
				v.answer = func(_ string, i int) (any, any, string) { return gold(i), "let me see", "stop" }
			}, change: func(j *eval.Job) { j.Preflight.Contract = "empty-think" }, check: "thinking", says: "the model thinks",
		},
		"S13 another template": {
			server: func(v *vllm) {
				v.render = func(m []drydock.Message, q url) string { return qwen(m, url{}) + "<think>\n\n" }
			}, change: contract, check: "prompt", says: "no beginning", refused: true,
		},
		"a template that changes the text": {
			server: func(v *vllm) {
				v.render = func(m []drydock.Message, q url) string {
					m = slices.Clone(m)
					m[0].Content = strings.TrimSpace(m[0].Content[:40])
					return qwen(m, q)
				}
			}, change: contract, check: "prompt", says: "does not hold", refused: true,
		},
		"S5 thinks, greedy": {
			server: func(v *vllm) {
				v.answer = func(_ string, i int) (any, any, string) { return gold(i), "let me see", "stop" }
			}, check: "thinking", says: "at temperature 0",
		},
		"S5 cut off": {
			server: func(v *vllm) {
				v.answer = func(string, int) (any, any, string) { return "so the", nil, "length" }
			}, check: "thinking", says: "cut off",
		},
		"too long a prompt": {
			server: func(v *vllm) { v.maxLen = 100; v.models = `{"id":"ck1"}` }, check: "length", says: "longest prompt", refused: true,
		},
		"too long an answer": {
			sampling: func(s *eval.Sampling) { s.MaxTokens = 5000 }, check: "length", says: "more than the server takes", refused: true,
		},
		"prompt and answer together": {
			sampling: func(s *eval.Sampling) { s.MaxTokens = 4090 }, check: "length", says: "without an error",
		},
		"S16 the server's own sampling": {
			server: func(v *vllm) { v.penalty = 1.05 }, check: "sampling", says: "repetition_penalty 1.05",
		},
		"S16 no temperature": {
			sampling: func(s *eval.Sampling) { s.Temperature = nil }, check: "sampling", says: "no temperature",
		},
		"S17 removed field": {extra: `{"guided_choice":["[A]"]}`, check: "version", says: "ignores it", refused: true},
		"S17 field to come": {
			server: func(v *vllm) { v.version = "0.11.0" }, extra: `{"structured_outputs":{"choice":["[A]"]}}`, check: "version", says: "ignores it", refused: true,
		},
		"S17 not applied": {
			server: func(v *vllm) {
				v.answer = func(string, int) (any, any, string) { return "The answer is [A]", nil, "stop" }
			}, extra: `{"structured_outputs":{"choice":["[A]","[B]","[C]"]}}`, check: "constraint", says: "does not apply it", refused: true,
		},
		"S17 applied": {extra: `{"structured_outputs":{"choice":["[A]","[B]","[C]"]}}`, check: "constraint"},
		"no letter": {
			server: func(v *vllm) {
				v.answer = func(string, int) (any, any, string) { return "port", nil, "stop" }
			}, check: "letter", says: "no letter",
		},
		"S15 adapter not applied": {
			server: func(v *vllm) { v.logprob = func(string) float64 { return -1 } },
			change: func(j *eval.Job) { j.Preflight.BaseModel = "qwen3-8b" }, check: "adapter", says: "probabilities included", refused: true,
		},
		"S15 perhaps not applied": {
			change: func(j *eval.Job) { j.Preflight.BaseModel = "qwen3-8b" }, check: "adapter", says: "may not be applied",
		},
		"no vLLM":      {server: func(v *vllm) { v.version = "" }, check: "prompt", says: "does not show"},
		"no /tokenize": {server: func(v *vllm) { v.tokenize = false }, check: "prompt", says: "does not show"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := goodVLLM()
			if c.server != nil {
				c.server(v)
			}
			s := sampling(t, c.extra)
			if c.sampling != nil {
				c.sampling(&s)
			}
			sum, told, err := askVLLM(t, v, s, c.change)
			if c.refused {
				if fail.Code(err) != 1 || !strings.Contains(err.Error(), "preflight, "+c.check+": ") || !strings.Contains(err.Error(), c.says) {
					t.Fatalf("error %v", err)
				}
				for _, l := range []msg.Lang{msg.En, msg.Zh} {
					if h := fail.All(err)[0].Hints(l); len(h) < 2 || !strings.Contains(h[len(h)-1], "--no-preflight") {
						t.Errorf("hints %q", h)
					}
				}
				return
			}
			if err != nil || sum.Asked != 24 {
				t.Fatal(err)
			}
			i := slices.IndexFunc(sum.Preflight.Checks, func(k eval.Check) bool { return k.ID == c.check })
			if i < 0 {
				t.Fatalf("no check %s in %+v", c.check, sum.Preflight.Checks)
			}
			k := sum.Preflight.Checks[i]
			if !strings.Contains(k.Text, c.says) || (c.says == "") != (k.Status == eval.CheckPassed) {
				t.Errorf("check %+v", k)
			}
			if k.Status == eval.CheckWarned && !slices.ContainsFunc(told, func(n eval.Note) bool { return n.Code == "preflight_"+c.check }) {
				t.Errorf("not told: %+v", told)
			}
		})
	}
}

// A refused run has asked next to nothing and saved nothing, so that it can be
// repeated once the server is put right; without the look it goes on.
func TestPreflightRefusalSavesNothing(t *testing.T) {
	t.Parallel()
	v := goodVLLM()
	v.answer = func(_ string, i int) (any, any, string) { return nil, gold(i), "stop" }
	dir := t.TempDir()
	_, _, err := askVLLM(t, v, sampling(t, ""), func(j *eval.Job) { j.WorkDir = dir })
	if fail.Code(err) != 1 {
		t.Fatal(err)
	}
	if b, _ := os.ReadFile(filepath.Join(dir, ".drydock", "eval", "ck1", "maritime_bench.jsonl")); len(b) != 0 {
		t.Errorf("saved: %s", b)
	}
	looks := filepath.Join(dir, ".drydock", "eval", "ck1", "maritime_bench.preflight.jsonl")
	if b := read(t, looks); !strings.Contains(b, `"status":"fail"`) || !strings.Contains(b, `"version":"0.32.0"`) || strings.Count(b, "\n") != 1 {
		t.Errorf("kept of the look: %s", b)
	}
	v.answer = goodVLLM().answer
	if s, _, err := askVLLM(t, v, sampling(t, ""), func(j *eval.Job) { j.WorkDir = dir }); err != nil || s.Reused != 0 || s.Correct != 24 {
		t.Error(err, s.Reused, s.Correct)
	}
	v.answer = func(_ string, i int) (any, any, string) { return nil, gold(i), "stop" }
	s, _, err := askVLLM(t, v, sampling(t, ""), func(j *eval.Job) { j.Preflight.Skip = true })
	if err != nil || s.Correct != 0 || s.Preflight.Status != eval.CheckSkipped {
		t.Error(err, s.Correct, s.Preflight)
	}
	// and one that has nothing left to ask looks at nothing
	before := len(v.calls)
	if s, _, err := askVLLM(t, v, sampling(t, ""), func(j *eval.Job) { j.WorkDir = dir }); err != nil || s.Reused != 24 || len(v.calls) != before {
		t.Error(err, s.Reused, len(v.calls)-before)
	}
}

// A server that only fails is not asked every item: its own errors and pages of a
// gateway refuse the run, what an item may be to blame for is a warning.
func TestPreflightOfServersThatOnlyFail(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		status int
		body   string
		asked  int32 // at least
		most   int32
	}{
		"own errors":       {500, `{"error":{"message":"out of memory"}}`, 4, 4},
		"a gateway's page": {200, "<html>Bad gateway</html>", 4, 4},
		"the item":         {400, `{"error":{"message":"too long"}}`, 20, 24},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var asked atomic.Int32
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path != "/v1/chat/completions" {
					http.NotFound(w, r)
					return
				}
				asked.Add(1)
				w.WriteHeader(c.status)
				_, _ = io.WriteString(w, c.body)
			}))
			t.Cleanup(srv.Close)
			client, err := llm.New(llm.Options{BaseURL: srv.URL + "/v1", HTTP: srv.Client(), Clock: time.Now, Attempts: 1})
			if err != nil {
				t.Fatal(err)
			}
			_, err = eval.Run(t.Context(), eval.Job{
				Benchmark: choice(t), Items: ownItems(t, 24), Model: "m", WorkDir: t.TempDir(), Concurrency: 4, Clock: time.Now,
				Endpoint: eval.NewHTTP(client, "m", sampling(t, "")),
			})
			if n := asked.Load(); fail.Code(err) != 1 || n < c.asked || n > c.most {
				t.Errorf("asked %d times: %v", n, err)
			}
		})
	}
}

func TestModelNotServed(t *testing.T) {
	t.Parallel()
	for model, near := range map[string]string{"ck2": "ck1", "Qwen3-8B": "qwen3-8b", "Qwen/Qwen3-8B": "qwen3-8b"} {
		v := goodVLLM()
		_, _, err := askVLLM(t, v, sampling(t, ""), func(j *eval.Job) { j.Model = model })
		if fail.Code(err) != 1 || !strings.Contains(err.Error(), `it serves "qwen3-8b", "ck1"`) {
			t.Fatal(err)
		}
		if h := strings.Join(fail.All(err)[0].Hints(msg.En), "\n"); !strings.Contains(h, "--model "+near+"?") || !strings.Contains(h, "--no-preflight") {
			t.Errorf("%s: hints %q", model, h)
		}
		if slices.Contains(v.calls, "/v1/chat/completions") {
			t.Error("the model was asked all the same")
		}
	}
}

// What vLLM 0.32.0 itself answered, with and without its reasoning parser.
func TestPreflightOnRecordedReplies(t *testing.T) {
	t.Parallel()
	replies := map[string]string{}
	for l := range strings.Lines(read(t, golden.RealData(t, "vllm-real", "pairs.jsonl"))) {
		var p struct {
			ID       string
			Response struct{ Body json.RawMessage }
		}
		if err := json.Unmarshal([]byte(l), &p); err != nil {
			t.Fatal(err)
		}
		replies[p.ID] = string(p.Response.Body)
	}
	for id, check := range map[string]string{
		"rp_default_thinking": "content", "rp_include_reasoning_false": "content", "rp_choice_thinking_default": "content", "rp_choice_nothink": "",
	} {
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			switch r.URL.Path {
			case "/v1/models":
				io.WriteString(w, replies["models"])
			case "/version":
				io.WriteString(w, replies["version"])
			case "/v1/chat/completions":
				io.WriteString(w, replies[id])
			default:
				http.NotFound(w, r)
			}
		}))
		c, err := llm.New(llm.Options{BaseURL: srv.URL + "/v1", HTTP: srv.Client(), Clock: time.Now})
		if err != nil {
			t.Fatal(err)
		}
		s, err := eval.Run(t.Context(), eval.Job{
			Benchmark: choice(t), Items: ownItems(t, 8), Model: "qwen3-8b", WorkDir: t.TempDir(), Endpoint: eval.NewHTTP(c, "qwen3-8b", sampling(t, "")),
		})
		srv.Close()
		if check != "" && (fail.Code(err) != 1 || !strings.Contains(err.Error(), "preflight, "+check)) {
			t.Errorf("%s: %v", id, err)
		}
		if check == "" && (err != nil || s.Letters["C"] != 8) {
			t.Errorf("%s: %v, letters %v", id, err, s.Letters)
		}
	}
}

// Replies of a real vLLM 0.32.0 to items of our own, plain and streamed, as
// scripts/interop/vllm_cpu.py got them.
func TestRecordedVLLM(t *testing.T) {
	t.Parallel()
	for l := range strings.Lines(read(t, filepath.Join("testdata", "vllm-0.32.0.jsonl"))) {
		var row struct{ Kind, Raw string }
		if err := json.Unmarshal([]byte(l), &row); err != nil {
			t.Fatal(err)
		}
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			if row.Kind == "stream" {
				w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
			}
			io.WriteString(w, row.Raw)
		}))
		c, err := llm.New(llm.Options{BaseURL: srv.URL + "/v1", HTTP: srv.Client(), Clock: time.Now})
		if err != nil {
			t.Fatal(err)
		}
		a, err := eval.NewHTTP(c, "m", sampling(t, "")).Ask(t.Context(), []drydock.Message{{Role: "user", Content: "x"}})
		srv.Close()
		if err != nil {
			t.Fatal(err)
		}
		text := a.Reply.Text
		if len(text) != 3 || text[0] != '[' || text[2] != ']' || a.Reply.Finish != "stop" || a.Usage == nil || a.Usage.Output < 3 || a.Usage.Input < 100 ||
			!strings.HasPrefix(a.Server, "vllm-0.32.0-") || a.NoContent || a.Thought || string(a.Raw) != row.Raw {
			t.Errorf("%s: %+v", row.Kind, a)
		}
	}
}
