// Package llm is the one client for OpenAI-compatible chat endpoints: it sends
// exactly what it is told, keeps the raw reply, and tries again only what can
// get better by waiting.
package llm

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
)

// maxReply is how much of a reply is read, bytes.
const maxReply = 64 << 20

// A Doer sends one HTTP request; *http.Client is one.
type Doer interface {
	Do(*http.Request) (*http.Response, error)
}

// Options say where and how to ask. The zero value of a limit is its default.
type Options struct {
	BaseURL  string                                     // http://host/v1; a /chat/completions at the end is dropped
	APIKey   string                                     // sent as a bearer token; empty: no header
	HTTP     Doer                                       // required; see [Transport]
	Timeout  time.Duration                              // of one attempt; 10 minutes
	Deadline time.Duration                              // of one question with all attempts; 30 minutes
	Attempts int                                        // for transient failures; 5
	Clock    func() time.Time                           // required: deadlines, dates in Retry-After
	Sleep    func(context.Context, time.Duration) error // nil: a timer
}

// A Client asks one endpoint. It is safe for concurrent use.
type Client struct {
	o     Options
	url   string
	shown string // the URL without user, password and query
}

// Transport returns an http transport that keeps one connection per worker
// open.
func Transport(concurrency int) *http.Transport {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.MaxIdleConns = 0
	t.MaxIdleConnsPerHost = max(concurrency, 2)
	t.MaxConnsPerHost = 0
	return t
}

// New checks the options.
func New(o Options) (*Client, error) {
	base := strings.TrimSuffix(strings.TrimRight(o.BaseURL, "/"), "/chat/completions")
	u, err := url.Parse(strings.TrimRight(base, "/"))
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
		return nil, fail.New(fail.Usage, msg.Text{"the base URL is not an http or https address", "base URL 不是 http 或 https 地址"}).
			Hint(msg.Text{"it looks like http://127.0.0.1:8000/v1", "形如 http://127.0.0.1:8000/v1"})
	}
	u = u.JoinPath("chat", "completions")
	if o.HTTP == nil || o.Clock == nil {
		return nil, errors.New("llm: options lack HTTP or Clock")
	}
	if o.Timeout <= 0 {
		o.Timeout = 10 * time.Minute
	}
	if o.Deadline <= 0 {
		o.Deadline = 30 * time.Minute
	}
	if o.Attempts <= 0 {
		o.Attempts = 5
	}
	if o.Sleep == nil {
		o.Sleep = sleep
	}
	return &Client{o: o, url: u.String(), shown: u.Scheme + "://" + u.Host + u.Path}, nil
}

// URL returns the address that is asked, without credentials.
func (c *Client) URL() string { return c.shown }

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-t.C:
		return nil
	}
}

// A Request is one question.
type Request struct {
	Model       string             // as the server knows it
	Messages    []drydock.Message  // role and content are sent, nothing else
	Temperature *float64           // nil: not sent
	Extra       []drydock.RawField // further fields of the body, in this order
}

// Body returns the request body: model, messages, temperature, then the extra
// fields, in this order; UTF-8, nothing escaped that need not be.
func (r *Request) Body() ([]byte, error) {
	b := append([]byte(nil), `{"model":`...)
	b = drydock.AppendJSONString(b, r.Model)
	b = append(b, `,"messages":[`...)
	for i, m := range r.Messages {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, `{"role":`...)
		b = drydock.AppendJSONString(b, m.Role)
		b = append(b, `,"content":`...)
		b = drydock.AppendJSONString(b, m.Content)
		b = append(b, '}')
	}
	b = append(b, ']')
	if r.Temperature != nil {
		b = drydock.AppendJSONFloat(append(b, `,"temperature":`...), *r.Temperature)
	}
	for _, f := range r.Extra {
		switch f.Name {
		case "model", "messages", "temperature", "stream":
			return nil, fail.New(fail.Usage, msg.Text{"extra body: %q is set elsewhere", "附加请求体：%q 由其他选项设置"}, f.Name)
		}
		if !json.Valid(f.Value) {
			return nil, fail.New(fail.Usage, msg.Text{"extra body: the value of %q is not JSON", "附加请求体：%q 的值不是 JSON"}, f.Name)
		}
		b = append(b, ',')
		b = drydock.AppendJSONString(b, f.Name)
		b = append(b, ':')
		b = append(b, f.Value...)
	}
	return append(b, '}'), nil
}

// A Reply is the first choice of a completion, and the body it came in.
type Reply struct {
	Raw      []byte // the body as it came
	Attempts int    // requests made, from 1
	Model    string // as the server names it
	Content, ReasoningContent, Reasoning,
	Refusal *string // nil: null or absent
	Finish *string // finish_reason; nil: null or absent
	Usage  *Usage  // nil: the server gave none
	// Replaced tells that the text held code points no text can have (lone
	// surrogates), now U+FFFD.
	Replaced bool
}

// Usage is the token count as servers send it.
type Usage struct {
	Prompt        int `json:"prompt_tokens"`
	Completion    int `json:"completion_tokens"`
	Total         int `json:"total_tokens"`
	PromptDetails *struct {
		Cached *int `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
	CompletionDetails *struct {
		Reasoning *int `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`
}

// An Error is a question that got no answer. Its text never holds the key.
type Error struct {
	Status   int    // of the last attempt; 0: there was no HTTP answer
	Code     string // as the server put it, for example context_length_exceeded
	Text     string // one line, the key taken out
	Attempts int    // requests made, from 1
	// Transient tells that another attempt might have gone well.
	Transient bool
	retry     time.Duration // what Retry-After asked for
	dial      bool
	cause     error
}

// Error says status and reason in one line.
func (e *Error) Error() string {
	s := e.Text
	if e.Status > 0 {
		s = fmt.Sprintf("HTTP %d: %s", e.Status, s)
	}
	if e.Attempts > 1 {
		s += fmt.Sprintf(" (%d attempts)", e.Attempts)
	}
	return s
}

// Unwrap returns the cause, if the failure was not an HTTP answer.
func (e *Error) Unwrap() error { return e.cause }

// Chat asks once, and again while the failure is transient: 408, 429, 5xx,
// resets and timeouts. Any other answer fails at once. 401 and 403 come back as
// fail.Credentials, a host that cannot be reached as fail.Unreachable, the rest
// as *[Error]; a cancelled ctx as its cause.
func (c *Client) Chat(ctx context.Context, r Request) (*Reply, error) {
	body, err := r.Body()
	if err != nil {
		return nil, err
	}
	until := c.o.Clock().Add(c.o.Deadline)
	for n := 1; ; n++ {
		reply, e := c.once(ctx, body)
		if e == nil {
			reply.Attempts = n
			return reply, nil
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		e.Attempts = n
		wait := backoff(n)
		if e.retry > 0 {
			wait = e.retry
		}
		if !e.Transient || n >= c.o.Attempts || c.o.Clock().Add(wait).After(until) {
			return nil, c.explain(e)
		}
		if err := c.o.Sleep(ctx, wait); err != nil {
			return nil, err
		}
	}
}

// backoff doubles from half a second up to eight.
func backoff(n int) time.Duration {
	return min(250*time.Millisecond<<min(n, 5), 8*time.Second)
}

func (c *Client) once(ctx context.Context, body []byte) (*Reply, *Error) {
	ctx, cancel := context.WithTimeout(ctx, c.o.Timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, bytes.NewReader(body))
	if err != nil {
		return nil, &Error{Text: "the request cannot be built"}
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", "drydock")
	if c.o.APIKey != "" {
		req.Header.Set("Authorization", "Bearer "+c.o.APIKey)
	}
	resp, err := c.o.HTTP.Do(req)
	if err != nil {
		return nil, c.transport(err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(resp.Body, maxReply+1))
	if err != nil {
		return nil, c.transport(err)
	}
	if len(raw) > maxReply {
		return nil, &Error{Status: resp.StatusCode, Text: "the reply is larger than 64 MiB"}
	}
	if resp.StatusCode != http.StatusOK {
		return nil, c.status(resp, raw)
	}
	return c.parse(raw)
}

// transport sorts failures without an HTTP answer. What happens after the
// connection stood is transient; a host that is not there is not, but a
// connection attempt that timed out may be.
func (c *Client) transport(err error) *Error {
	e := &Error{cause: err, Transient: true, Text: c.hide(reason(err))}
	var op *net.OpError
	if errors.As(err, &op) && op.Op == "dial" {
		e.dial, e.Transient = true, op.Timeout()
	}
	var dns *net.DNSError
	if errors.As(err, &dns) {
		e.dial, e.Transient = true, dns.IsTimeout || dns.IsTemporary
	}
	return e
}

// reason drops the method and URL net/http puts before the cause.
func reason(err error) string {
	var ue *url.Error
	if errors.As(err, &ue) {
		err = ue.Err
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return "no answer within the time limit"
	}
	return err.Error()
}

func (c *Client) status(resp *http.Response, raw []byte) *Error {
	e := &Error{Status: resp.StatusCode}
	e.Text, e.Code = serverMessage(raw)
	if e.Text == "" {
		e.Text = http.StatusText(resp.StatusCode)
	}
	e.Text = c.hide(e.Text)
	switch s := resp.StatusCode; {
	case s == http.StatusRequestTimeout, s == http.StatusTooManyRequests, s >= 500:
		e.Transient = true
		e.retry = c.retryAfter(resp.Header.Get("Retry-After"))
	}
	return e
}

func (c *Client) retryAfter(v string) time.Duration {
	if v == "" {
		return 0
	}
	if s, err := strconv.ParseFloat(v, 64); err == nil && s >= 0 && s < 1e6 {
		return time.Duration(s * float64(time.Second))
	}
	if t, err := http.ParseTime(v); err == nil {
		return max(t.Sub(c.o.Clock()), 0)
	}
	return 0
}

// serverMessage reads {"error":{"message","code"}}, {"message"}, {"detail"},
// or takes the first line of whatever came.
func serverMessage(raw []byte) (text, code string) {
	var b struct {
		Error   json.RawMessage `json:"error"`
		Message string          `json:"message"`
		Detail  json.RawMessage `json:"detail"`
		Code    any             `json:"code"`
	}
	if json.Unmarshal(raw, &b) == nil {
		var inner struct {
			Message string `json:"message"`
			Code    any    `json:"code"`
		}
		if len(b.Error) > 0 && json.Unmarshal(b.Error, &inner) == nil && inner.Message != "" {
			return oneLine(inner.Message), codeText(inner.Code)
		}
		var s string
		if len(b.Error) > 0 && json.Unmarshal(b.Error, &s) == nil && s != "" {
			return oneLine(s), codeText(b.Code)
		}
		if b.Message != "" {
			return oneLine(b.Message), codeText(b.Code)
		}
		if len(b.Detail) > 0 {
			return oneLine(string(b.Detail)), codeText(b.Code)
		}
	}
	return oneLine(string(raw)), ""
}

func codeText(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	return ""
}

func oneLine(s string) string {
	s = strings.Join(strings.Fields(strings.ToValidUTF8(s, "\ufffd")), " ")
	const most = 300
	if r := []rune(s); len(r) > most {
		s = string(r[:most]) + "…"
	}
	return s
}

// hide takes the key out of a text: some servers quote it in their refusal.
func (c *Client) hide(s string) string {
	if len(c.o.APIKey) < 4 {
		return s
	}
	return strings.ReplaceAll(s, c.o.APIKey, "[key]")
}

type wireReply struct {
	Model   string `json:"model"`
	Choices []struct {
		Message *struct {
			Content          json.RawMessage `json:"content"`
			ReasoningContent *string         `json:"reasoning_content"`
			Reasoning        *string         `json:"reasoning"`
			Refusal          *string         `json:"refusal"`
		} `json:"message"`
		Finish *string `json:"finish_reason"`
	} `json:"choices"`
	Usage *Usage          `json:"usage"`
	Error json.RawMessage `json:"error"`
}

func (c *Client) parse(raw []byte) (*Reply, *Error) {
	var w wireReply
	if err := json.Unmarshal(raw, &w); err != nil {
		return nil, &Error{Status: http.StatusOK, Text: "the reply is not a chat completion: " + oneLine(err.Error()), cause: err}
	}
	if len(w.Choices) == 0 || w.Choices[0].Message == nil {
		text := "the reply has no choices"
		if len(w.Error) > 0 && string(w.Error) != "null" {
			m, _ := serverMessage(raw)
			text = c.hide(m)
		}
		return nil, &Error{Status: http.StatusOK, Text: text}
	}
	m := w.Choices[0].Message
	r := &Reply{
		Raw: raw, Model: w.Model, ReasoningContent: m.ReasoningContent, Reasoning: m.Reasoning,
		Refusal: m.Refusal, Finish: w.Choices[0].Finish, Usage: w.Usage,
	}
	if len(m.Content) > 0 && string(m.Content) != "null" {
		var s string
		if json.Unmarshal(m.Content, &s) != nil {
			return nil, &Error{Status: http.StatusOK, Text: "the reply's content is not text"}
		}
		r.Content = &s
		r.Replaced = strings.ContainsRune(s, '\ufffd') && !bytes.Contains(m.Content, []byte("\ufffd"))
	}
	return r, nil
}

func (c *Client) explain(e *Error) error {
	switch {
	case e.Status == http.StatusUnauthorized, e.Status == http.StatusForbidden:
		return fail.New(fail.Credentials, msg.Text{"%s refused the key: %v", "%s 拒绝了密钥：%v"}, c.shown, e).
			Hint(msg.Text{"the key comes from DRYDOCK_API_KEY or --api-key-file", "密钥来自 DRYDOCK_API_KEY 或 --api-key-file"})
	case e.dial:
		return fail.New(fail.Unreachable, msg.Text{"%s cannot be reached: %v", "无法连接 %s：%v"}, c.shown, e).
			Hint(msg.Text{"is the server running, and is the address right?", "服务是否已启动，地址是否正确？"})
	case e.Status == http.StatusNotFound:
		f := fail.New(fail.Failed, msg.Text{"%s: %v", "%s：%v"}, c.shown, e)
		if !strings.HasSuffix(strings.TrimSuffix(c.shown, "/chat/completions"), "/v1") {
			return f.Hint(msg.Text{"most servers want a base URL that ends in /v1", "多数服务的 base URL 以 /v1 结尾"})
		}
		return f.Hint(msg.Text{"is the model's name the one the server serves?", "模型名称是否与服务端一致？"})
	}
	return e
}
