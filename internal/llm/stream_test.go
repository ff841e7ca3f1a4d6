package llm_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/internal/llm"
)

const (
	chunkA   = `{"model":"served","system_fingerprint":"fp","choices":[{"index":0,"delta":{"role":"assistant","content":"","reasoning_content":"想"}}]}`
	chunkB   = `{"choices":[{"index":1,"delta":{"content":"other choice"}},{"index":0,"delta":{"content":"甲"}}]}`
	chunkC   = `{"choices":[{"index":0,"delta":{"content":"[B]"},"finish_reason":"stop"}]}`
	chunkEnd = `{"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":2,"total_tokens":5}}`
)

// pieces sends a body in pieces of n bytes.
func pieces(t *testing.T, kind, body string, n int) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", kind)
		for len(body) > 0 {
			k := min(n, len(body))
			io.WriteString(w, body[:k])
			http.NewResponseController(w).Flush()
			body = body[k:]
		}
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// However the server cuts, ends and comments its lines, the reply is the same.
func TestStream(t *testing.T) {
	t.Parallel()
	events := func(end string, chunks ...string) string {
		var b strings.Builder
		for _, c := range chunks {
			b.WriteString("data: " + c + end + end)
		}
		return b.String()
	}
	all := []string{chunkA, chunkB, chunkC, chunkEnd, "[DONE]"}
	for name, c := range map[string]struct{ kind, body string }{
		"LF":              {"text/event-stream", events("\n", all...)},
		"CRLF":            {"text/event-stream; charset=utf-8", events("\r\n", all...)},
		"CR":              {"text/event-stream", events("\r", all...)},
		"comments, ids":   {"text/event-stream", ": ping\n\nid: 7\nretry: 10\n" + strings.ReplaceAll(events("\n", all...), "data: ", ": keep-alive\n\ndata:")},
		"no DONE":         {"text/event-stream", events("\n", all[:4]...)},
		"no last newline": {"text/event-stream", strings.TrimRight(events("\n", all...), "\n")},
		"data in lines":   {"text/event-stream", strings.ReplaceAll(events("\n", all...), `"choices":[`, "\"choices\":\ndata: [")},
		"BOM":             {"text/event-stream", "\ufeff" + events("\n", all...)},
		"wrong type":      {"application/json", events("\n", all...)},
		"after DONE":      {"text/event-stream", events("\n", append(all, `{"choices":[{"index":0,"delta":{"content":"late"}}]}`)...)},
		"usage each time": {"text/event-stream", events("\n", strings.Replace(chunkA, `{"model"`, `{"usage":{"prompt_tokens":3,"completion_tokens":0,"total_tokens":3},"model"`, 1), chunkB, chunkC, chunkEnd, "[DONE]")},
	} {
		for _, n := range []int{1, 7, 1 << 20} {
			t.Run(fmt.Sprintf("%s by %d", name, n), func(t *testing.T) {
				t.Parallel()
				cl, _ := client(t, pieces(t, c.kind, c.body, n), nil)
				q := request()
				q.Stream = true
				r, err := cl.Chat(t.Context(), q)
				if err != nil {
					t.Fatal(err)
				}
				if *r.Content != "甲[B]" || *r.ReasoningContent != "想" || r.Reasoning != nil || *r.Finish != "stop" || r.Model != "served" ||
					r.Fingerprint != "fp" || r.Usage == nil || r.Usage.Total != 5 || !r.Streamed || string(r.Raw) != c.body {
					t.Errorf("reply %+v", r)
				}
			})
		}
	}
}

func TestStreamFailures(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		body, want string
		calls      int
	}{
		"an error in the middle": {"data: " + chunkA + "\n\ndata: {\"error\":{\"message\":\"engine died\",\"code\":500}}\n\n", "engine died", 5},
		"an error event":         {"event: error\ndata: " + "no room\n\n", "no room", 5},
		"cut in a chunk":         {"data: " + chunkA[:40], "no chat completion", 5},
		"cut between chunks":     {"data: " + chunkA + "\n\n", "ended before the reply did", 5},
		"nothing":                {"", "ended before", 5},
		"content in parts":       {`data: {"choices":[{"index":0,"delta":{"content":[1]}}]}`, "not text", 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var calls atomic.Int64
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				calls.Add(1)
				w.Header().Set("Content-Type", "text/event-stream")
				io.WriteString(w, c.body)
			}))
			t.Cleanup(s.Close)
			cl, _ := client(t, s.URL, nil)
			if _, err := cl.Chat(t.Context(), request()); err == nil || !strings.Contains(err.Error(), c.want) || int(calls.Load()) != c.calls {
				t.Errorf("%d calls, %v", calls.Load(), err)
			}
		})
	}
}

// The body of the same settings is EvalScope's, key by key in its order
// (realdata/evalscope-golden, requests).
func TestBodyOrder(t *testing.T) {
	t.Parallel()
	zero := 0.0
	m := []drydock.Message{{Role: "user", Content: "x"}}
	extra, err := llm.ParseExtra(` { "chat_template_kwargs" : { "enable_thinking" : false }, "top_k": 20 } `)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		r    llm.Request
		want string
	}{
		{llm.Request{Model: "m", Messages: m, Temperature: &zero}, `{"model":"m","messages":[{"role":"user","content":"x"}],"temperature":0.0}`},
		{llm.Request{Model: "m", Messages: m, MaxTokens: 64}, `{"model":"m","messages":[{"role":"user","content":"x"}],"max_tokens":64}`},
		{llm.Request{Model: "m", Messages: m, Temperature: &zero, Stream: true}, `{"model":"m","stream":true,"messages":[{"role":"user","content":"x"}],"stream_options":{"include_usage":true},"temperature":0.0}`},
		{llm.Request{Model: "m", Messages: m, Temperature: &zero, Extra: extra}, `{"model":"m","messages":[{"role":"user","content":"x"}],"temperature":0.0,"chat_template_kwargs":{"enable_thinking":false},"top_k":20}`},
	} {
		b, err := c.r.Body()
		if d := cmp.Diff(c.want, string(b)); d != "" || err != nil {
			t.Errorf("%v\n%s", err, d)
		}
	}
	for _, bad := range []string{"[]", "{", `{"a":}`, `{"a":1}x`, `{"a":1,"a":2}`, `{"model":"x"}`, `{"temperature":1}`, `{"a":1`, "null"} {
		if _, err := llm.ParseExtra(bad); err == nil {
			t.Errorf("%s: no error", bad)
		}
	}
}

// A server that was there and is gone may come back; one that never was will not.
func TestServerStartsAgain(t *testing.T) {
	t.Parallel()
	var down atomic.Bool
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, good) }))
	t.Cleanup(s.Close)
	var retries atomic.Int64
	cl, _ := client(t, s.URL, func(o *llm.Options) {
		real := o.HTTP
		o.HTTP = doer(func(r *http.Request) (*http.Response, error) {
			if down.Load() {
				return refused()
			}
			return real.Do(r)
		})
		o.Sleep = func(ctx context.Context, _ time.Duration) error {
			if retries.Add(1) == 3 {
				down.Store(false)
			}
			return ctx.Err()
		}
	})
	if _, err := cl.Chat(t.Context(), request()); err != nil {
		t.Fatal(err)
	}
	down.Store(true)
	hooked := 0
	ctx := llm.WithRetryHook(t.Context(), func(r llm.Retry) {
		hooked++
		if r.Wait <= 0 || r.Err == nil {
			t.Errorf("retry %+v", r)
		}
	})
	r, err := cl.Chat(ctx, request())
	if err != nil || r.Attempts != 4 || hooked != 3 {
		t.Errorf("reply %+v, %v after %d retries", r, err, hooked)
	}
}

func refused() (*http.Response, error) {
	return nil, &net.OpError{Op: "dial", Err: errors.New("connection refused")}
}

func TestServerRoutes(t *testing.T) {
	t.Parallel()
	var last atomic.Pointer[string]
	mux := http.NewServeMux()
	answer := func(route, body string) {
		mux.HandleFunc(route, func(w http.ResponseWriter, r *http.Request) {
			b, _ := io.ReadAll(r.Body)
			text := string(b)
			last.Store(&text)
			io.WriteString(w, body)
		})
	}
	answer("GET /v1/models", `{"object":"list","data":[{"id":"q","root":"./tiny","parent":null,"max_model_len":2048},{"id":"ck","parent":"q","root":"/a","max_model_len":null}]}`)
	answer("GET /version", `{"version":"0.32.0"}`)
	answer("POST /detokenize", `{"prompt":"<|im_start|>user\nx"}`)
	answer("POST /v1/load_lora_adapter", "Success: LoRA adapter 'ck' added successfully.")
	mux.HandleFunc("POST /tokenize", func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		if want := `{"model":"q","messages":[{"role":"user","content":"x"}],"chat_template_kwargs":{"enable_thinking":false}}`; string(b) != want {
			t.Errorf("tokenize was asked %s", b)
		}
		io.WriteString(w, `{"count":2,"max_model_len":2048,"tokens":[151644,872]}`)
	})
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	cl, _ := client(t, s.URL+"/v1", nil)
	ms, err := cl.Models(t.Context(), time.Minute)
	if d := cmp.Diff([]llm.ServedModel{{ID: "q", Root: "./tiny", MaxLen: 2048}, {ID: "ck", Parent: "q", Root: "/a"}}, ms); d != "" || err != nil {
		t.Error(d, err)
	}
	if v, err := cl.Version(t.Context(), time.Minute); v != "0.32.0" || err != nil {
		t.Error(v, err)
	}
	extra, _ := llm.ParseExtra(`{"top_k":1,"chat_template_kwargs":{"enable_thinking":false}}`)
	tok, err := cl.Tokenize(t.Context(), time.Minute, llm.Request{Model: "q", Messages: []drydock.Message{{Role: "user", Content: "x"}}, Extra: extra})
	if d := cmp.Diff(llm.Tokens{IDs: []int{151644, 872}, MaxLen: 2048, Text: "<|im_start|>user\nx"}, tok); d != "" || err != nil {
		t.Error(d, err)
	}
	if err := cl.LoadAdapter(t.Context(), time.Minute, "ck", "/a b"); err != nil || *last.Load() != `{"lora_name":"ck","lora_path":"/a b"}` {
		t.Error(err, *last.Load())
	}
	var e *llm.Error
	if err := cl.UnloadAdapter(t.Context(), time.Minute, "ck"); !errors.As(err, &e) || e.Status != 404 {
		t.Error(err)
	}
}
