package llm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
)

// longestWait bounds how long a server may have one question wait by its
// Retry-After.
const longestWait = 2 * time.Minute

// An Error is a question that got no answer. Its text never holds the key.
type Error struct {
	Status   int    // of the last attempt; 0: there was no HTTP answer
	Code     string // as the server put it, for example context_length_exceeded
	Text     string // one line, the key taken out
	Message  string // the server's words as they came, the key taken out; empty: none
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
	if e.retry > longestWait {
		s += fmt.Sprintf("; it asks to wait %v", e.retry)
	}
	if e.Attempts > 1 {
		s += fmt.Sprintf(" (%d attempts)", e.Attempts)
	}
	return s
}

// Unwrap returns the cause, if the failure was not an HTTP answer.
func (e *Error) Unwrap() error { return e.cause }

// A Retry is an attempt that failed and is about to be made again.
type Retry struct {
	Err   *Error        // what failed
	Wait  time.Duration // until the next attempt
	Asked time.Duration // what the server's Retry-After says; 0: nothing. It may be more than Wait
}

type retryKey struct{}

// WithRetryHook returns a context under which [Client.Chat] calls hook before it
// waits for another attempt.
func WithRetryHook(ctx context.Context, hook func(Retry)) context.Context {
	return context.WithValue(ctx, retryKey{}, hook)
}

// wait returns how long to wait after the n-th attempt: what the server asked
// for, up to longestWait, else from half a second doubling up to eight. Jitter
// makes it up to a quarter longer.
func (c *Client) wait(n int, e *Error) time.Duration {
	d := min(250*time.Millisecond<<min(n, 5), 8*time.Second)
	if e.retry > 0 {
		d = min(e.retry, longestWait)
	}
	if c.o.Jitter != nil {
		d += time.Duration(c.o.Jitter() * float64(d) / 4)
	}
	return d
}

// transport sorts failures without an HTTP answer. What happens after the
// connection stood is transient. A host that was never there is not, but one
// that has answered before may be starting again, and a connection attempt that
// timed out may go better.
func (c *Client) transport(err error) *Error {
	e := &Error{cause: err, Transient: true, Text: c.hide(reason(err))}
	var op *net.OpError
	if errors.As(err, &op) && op.Op == "dial" {
		e.dial, e.Transient = true, op.Timeout() || c.reached.Load()
	}
	var dns *net.DNSError
	if errors.As(err, &dns) {
		e.dial, e.Transient = true, dns.IsTimeout || dns.IsTemporary || c.reached.Load()
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
	e.Message, e.Code = serverMessage(raw)
	e.Message = c.hide(e.Message)
	e.Text = oneLine(e.Message)
	if e.Text == "" {
		e.Text = http.StatusText(resp.StatusCode)
	}
	if transientStatus(resp.StatusCode) {
		e.Transient = true
		e.retry = c.retryAfter(resp.Header.Get("Retry-After"))
	}
	return e
}

func transientStatus(s int) bool {
	return s == http.StatusRequestTimeout || s == http.StatusTooEarly || s == http.StatusTooManyRequests || s >= 500
}

// retryAfter reads both forms of the header: seconds, and a date.
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
// or takes whatever came.
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
			return inner.Message, codeText(inner.Code)
		}
		var s string
		if len(b.Error) > 0 && json.Unmarshal(b.Error, &s) == nil && s != "" {
			return s, codeText(b.Code)
		}
		if b.Message != "" {
			return b.Message, codeText(b.Code)
		}
		if len(b.Detail) > 0 {
			return string(b.Detail), codeText(b.Code)
		}
	}
	return string(raw), ""
}

// codeText is a code as servers write it: a word, or, as vLLM does, the status
// once more.
func codeText(v any) string {
	switch c := v.(type) {
	case string:
		return c
	case float64:
		return strconv.FormatFloat(c, 'f', -1, 64)
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

// explain gives the failures that no other question escapes their kind.
func (c *Client) explain(e *Error) error {
	switch {
	case e.Status == http.StatusUnauthorized, e.Status == http.StatusForbidden:
		return fail.New(fail.Credentials, msg.Text{"%s refused the key: %v", "%s 拒绝了密钥：%v"}, c.shown, e).
			Because(e).
			Hint(msg.Text{"the key comes from DRYDOCK_API_KEY or --api-key-file", "密钥来自 DRYDOCK_API_KEY 或 --api-key-file"})
	case e.dial:
		return fail.New(fail.Unreachable, msg.Text{"%s cannot be reached: %v", "无法连接 %s：%v"}, c.shown, e).
			Because(e).
			Hint(msg.Text{"is the server running, and is the address right?", "服务是否已启动，地址是否正确？"})
	case e.Status == http.StatusNotFound:
		f := fail.New(fail.Failed, msg.Text{"%s: %v", "%s：%v"}, c.shown, e).Because(e)
		if !strings.HasSuffix(strings.TrimSuffix(c.shown, "/chat/completions"), "/v1") {
			return f.Hint(msg.Text{"most servers want a base URL that ends in /v1", "多数服务的 base URL 以 /v1 结尾"})
		}
		return f.Hint(msg.Text{"is the model's name the one the server serves?", "模型名称是否与服务端一致？"})
	}
	return e
}
