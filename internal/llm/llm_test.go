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
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/llm"
	"github.com/drydock-ml/drydock/internal/msg"
)

const (
	key  = "sk-topsecret-123456"
	good = `{"id":"x","model":"served","choices":[{"message":{"role":"assistant","content":"[B]"},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":2,"total_tokens":5,"prompt_tokens_details":{"cached_tokens":1},"completion_tokens_details":null}}`
)

// clock moves only when the client sleeps.
type clock struct {
	mu    sync.Mutex
	now   time.Time
	slept []time.Duration
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) Sleep(ctx context.Context, d time.Duration) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
	c.slept = append(c.slept, d)
	return ctx.Err()
}

func client(t *testing.T, url string, change func(*llm.Options)) (*llm.Client, *clock) {
	t.Helper()
	k := &clock{now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
	tr := llm.Transport(4)
	t.Cleanup(tr.CloseIdleConnections)
	o := llm.Options{BaseURL: url, APIKey: key, HTTP: &http.Client{Transport: tr}, Clock: k.Now, Sleep: k.Sleep}
	if change != nil {
		change(&o)
	}
	c, err := llm.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return c, k
}

func request() llm.Request {
	zero := 0.0
	return llm.Request{Model: "qwen3", Messages: []drydock.Message{{Role: "user", Content: "甲 <b> \u2028\n"}}, Temperature: &zero}
}

func TestBody(t *testing.T) {
	t.Parallel()
	r := request()
	r.Extra = []drydock.RawField{{Name: "top_k", Value: drydock.RawJSON("20")}, {Name: "chat_template_kwargs", Value: drydock.RawJSON(`{"enable_thinking":false}`)}}
	b, err := r.Body()
	if err != nil {
		t.Fatal(err)
	}
	want := `{"model":"qwen3","messages":[{"role":"user","content":"甲 <b> ` + "\u2028" + `\n"}],"temperature":0.0,"top_k":20,"chat_template_kwargs":{"enable_thinking":false}}`
	if d := cmp.Diff(want, string(b)); d != "" {
		t.Error(d)
	}
	for _, f := range []drydock.RawField{{Name: "model", Value: drydock.RawJSON(`"x"`)}, {Name: "k", Value: drydock.RawJSON(`{`)}} {
		r.Extra = []drydock.RawField{f}
		if _, err := r.Body(); err == nil {
			t.Errorf("extra %s=%s: no error", f.Name, f.Value)
		}
	}
}

func TestChat(t *testing.T) {
	t.Parallel()
	var got atomic.Pointer[http.Request]
	var body atomic.Pointer[string]
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		text := string(b)
		body.Store(&text)
		got.Store(r)
		io.WriteString(w, good)
	}))
	t.Cleanup(s.Close)
	for _, base := range []string{s.URL + "/v1", s.URL + "/v1/", s.URL + "/v1/chat/completions", s.URL + "/v1/chat/completions/"} {
		c, _ := client(t, base, nil)
		r, err := c.Chat(t.Context(), request())
		if err != nil {
			t.Fatal(err)
		}
		if *r.Content != "[B]" || r.Model != "served" || *r.Finish != "stop" || r.Attempts != 1 || string(r.Raw) != good {
			t.Errorf("reply %+v", r)
		}
		if r.Usage == nil || r.Usage.Total != 5 || *r.Usage.PromptDetails.Cached != 1 || r.Usage.CompletionDetails != nil {
			t.Errorf("usage %+v", r.Usage)
		}
		if p := got.Load().URL.Path; p != "/v1/chat/completions" {
			t.Errorf("%s asks %s", base, p)
		}
		if h := got.Load().Header.Get("Authorization"); h != "Bearer "+key {
			t.Errorf("authorization %q", h)
		}
	}
	if want := `{"model":"qwen3","messages":[{"role":"user","content":"甲 <b> ` + "\u2028" + `\n"}],"temperature":0.0}`; *body.Load() != want {
		t.Errorf("body %s", *body.Load())
	}
}

func TestReplies(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		body, want string
		calls      int64
	}{
		"no choices":         {`{"choices":[]}`, "no choices", 1},
		"error with 200":     {`{"error":{"message":"overloaded","code":1}}`, "overloaded", 1},
		"overload with 200":  {`{"error":{"message":"overloaded","code":503}}`, "overloaded", 5},
		"cut short":          {`{"id":"x","choices": [`, "not a chat completion", 5},
		"content parts":      {`{"choices":[{"message":{"content":[{"type":"text"}]}}]}`, "not text", 1},
		"html":               {`<html>`, "not a chat completion", 5},
		"no message":         {`{"choices":[{}]}`, "no choices", 1},
		"a stream that ends": {"data: {\"choices\":[{\"delta\":{\"content\":\"[A\"}}]}\n\n", "the stream ended", 5},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			calls := atomic.Int64{}
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				calls.Add(1)
				io.WriteString(w, c.body)
			}))
			t.Cleanup(s.Close)
			cl, _ := client(t, s.URL, nil)
			_, err := cl.Chat(t.Context(), request())
			var e *llm.Error
			if !errors.As(err, &e) || !strings.Contains(err.Error(), c.want) || calls.Load() != c.calls {
				t.Errorf("%d calls, error %v", calls.Load(), err)
			}
		})
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, `{"choices":[{"message":{"content":"\ud83d [D]","reasoning":null,"refusal":""},"finish_reason":null}]}`)
	}))
	t.Cleanup(s.Close)
	cl, _ := client(t, s.URL, nil)
	r, err := cl.Chat(t.Context(), request())
	if err != nil || *r.Content != "\ufffd [D]" || !r.Replaced || r.Finish != nil || r.Refusal == nil || r.Usage != nil {
		t.Errorf("lone surrogate: %+v, %v", r, err)
	}
}

func TestStatus(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		status, calls int
		kind          fail.Kind // empty: *llm.Error
	}{
		{400, 1, ""},
		{422, 1, ""},
		{413, 1, ""},
		{401, 1, fail.Credentials},
		{403, 1, fail.Credentials},
		{404, 1, fail.Failed},
		{408, 5, ""},
		{425, 5, ""},
		{429, 5, ""},
		{500, 5, ""},
		{502, 5, ""},
		{503, 5, ""},
	} {
		t.Run(fmt.Sprint(c.status), func(t *testing.T) {
			t.Parallel()
			calls := atomic.Int64{}
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				calls.Add(1)
				w.WriteHeader(c.status)
				fmt.Fprintf(w, `{"error":{"message":"no: %s","code":"some_code"}}`, r.Header.Get("Authorization"))
			}))
			t.Cleanup(s.Close)
			cl, _ := client(t, s.URL+"/v1", nil)
			_, err := cl.Chat(t.Context(), request())
			if calls.Load() != int64(c.calls) {
				t.Errorf("%d calls, want %d", calls.Load(), c.calls)
			}
			var f *fail.Error
			var e *llm.Error
			switch {
			case c.kind == "":
				if !errors.As(err, &e) || errors.As(err, &f) || e.Status != c.status || e.Code != "some_code" || e.Attempts != c.calls {
					t.Errorf("error %#v", err)
				}
			case !errors.As(err, &f) || f.Kind != c.kind:
				t.Errorf("error %v, want kind %s", err, c.kind)
			}
			for _, l := range []msg.Lang{msg.En, msg.Zh} {
				if s := fail.Describe(err, l); strings.Contains(s, key) || !strings.Contains(s, "[key]") {
					t.Errorf("the key is told, or the server's words are lost: %s", s)
				}
			}
		})
	}
}

func TestRecovers(t *testing.T) {
	t.Parallel()
	for name, first := range map[string]http.HandlerFunc{
		"500": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) },
		"408": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(408) },
		"reset": func(w http.ResponseWriter, _ *http.Request) {
			c, _, _ := http.NewResponseController(w).Hijack()
			c.(*net.TCPConn).SetLinger(0)
			c.Close()
		},
		"cut body": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "500")
			io.WriteString(w, good[:20])
		},
		"hang": func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			calls := atomic.Int64{}
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				io.Copy(io.Discard, r.Body)
				if calls.Add(1) == 1 {
					first(w, r)
					return
				}
				io.WriteString(w, good)
			}))
			t.Cleanup(s.Close)
			cl, _ := client(t, s.URL, func(o *llm.Options) {
				if name == "hang" {
					o.Timeout = 200 * time.Millisecond
				}
			})
			r, err := cl.Chat(t.Context(), request())
			if err != nil || r.Attempts != 2 {
				t.Errorf("reply %+v, %v", r, err)
			}
		})
	}
}

func TestRetryAfterAndDeadline(t *testing.T) {
	t.Parallel()
	after := ""
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", after)
		w.WriteHeader(429)
	}))
	t.Cleanup(s.Close)
	for _, c := range []struct {
		after string
		want  []time.Duration
	}{
		{"2", []time.Duration{2 * time.Second, 2 * time.Second, 2 * time.Second, 2 * time.Second}},
		{"", []time.Duration{500 * time.Millisecond, time.Second, 2 * time.Second, 4 * time.Second}},
		{"Thu, 01 Jan 2026 00:00:30 GMT", []time.Duration{30 * time.Second, 500 * time.Millisecond << 1, 2 * time.Second, 4 * time.Second}},
		{"4000", []time.Duration{2 * time.Minute, 2 * time.Minute, 2 * time.Minute, 2 * time.Minute}}, // nobody waits an hour
	} {
		after = c.after
		cl, k := client(t, s.URL, nil)
		_, err := cl.Chat(t.Context(), request())
		if err == nil {
			t.Fatal("no error")
		}
		if d := cmp.Diff(c.want, k.slept); d != "" {
			t.Errorf("Retry-After %q: waits (-want +got):\n%s", c.after, d)
		}
	}
}

// The deadline bounds an attempt, too: nobody waits longer for an answer than
// was allowed for all attempts together.
func TestDeadlineBoundsAnAttempt(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		<-r.Context().Done()
	}))
	t.Cleanup(s.Close)
	cl, _ := client(t, s.URL, func(o *llm.Options) { o.Deadline, o.Clock = 50*time.Millisecond, time.Now })
	start := time.Now()
	_, err := cl.Chat(t.Context(), request())
	var e *llm.Error
	if !errors.As(err, &e) || !strings.Contains(err.Error(), "within the time limit") || time.Since(start) > 20*time.Second {
		t.Errorf("%v after %v", err, time.Since(start))
	}
}

func TestUnreachable(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	l.Close()
	for _, url := range []string{"http://" + addr + "/v1", "http://user:hidden@" + addr + "/v1?token=hidden"} {
		cl, k := client(t, url, nil)
		_, err = cl.Chat(t.Context(), request())
		if fail.Code(err) != 20 || len(k.slept) != 0 || strings.Contains(err.Error(), "hidden") {
			t.Errorf("%v after %d waits", err, len(k.slept))
		}
	}
	dns := doer(func(*http.Request) (*http.Response, error) {
		return nil, &net.OpError{Op: "dial", Err: &net.DNSError{Name: "nowhere.invalid", IsNotFound: true, Err: "no such host"}}
	})
	cl, _ := client(t, "http://nowhere.invalid/v1", func(o *llm.Options) { o.HTTP = dns })
	if _, err = cl.Chat(t.Context(), request()); fail.Code(err) != 20 {
		t.Errorf("%v", err)
	}
}

type doer func(*http.Request) (*http.Response, error)

func (d doer) Do(r *http.Request) (*http.Response, error) { return d(r) }

func TestCancel(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("enough")
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body) // only then does the server see the client go
		cancel(why)
		<-r.Context().Done()
	}))
	t.Cleanup(s.Close)
	cl, _ := client(t, s.URL, nil)
	if _, err := cl.Chat(ctx, request()); !errors.Is(err, why) {
		t.Errorf("%v", err)
	}
}

func TestNewRefuses(t *testing.T) {
	t.Parallel()
	for _, u := range []string{"", "127.0.0.1:8000/v1", "ftp://x/v1", "http://", "http://%zz"} {
		_, err := llm.New(llm.Options{BaseURL: u, HTTP: http.DefaultClient, Clock: time.Now})
		if fail.Code(err) != 2 {
			t.Errorf("%q: %v", u, err)
		}
	}
}
