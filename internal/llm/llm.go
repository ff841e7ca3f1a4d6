// Package llm is the one client for OpenAI-compatible chat endpoints: it sends
// exactly what it is told, keeps the raw reply, and tries again only what can
// get better by waiting.
package llm

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
)

// maxReply is how much of a reply is read, bytes.
const maxReply = 64 << 20

// The time limits of an attempt and of a question.
const (
	defaultTimeout  = 10 * time.Minute
	defaultDeadline = 30 * time.Minute
)

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
	Jitter   func() float64                             // in [0,1): spreads waits, so that a storm's clients do not come back together; nil: none
}

// A Client asks one endpoint. It is safe for concurrent use.
type Client struct {
	o       Options
	base    *url.URL
	url     string
	shown   string       // the URL without user, password and query
	reached *atomic.Bool // the server has answered something: it exists
}

// Transport returns an http transport that keeps one connection per worker
// open. A proxy comes from the environment, as everywhere in Go: HTTP_PROXY,
// HTTPS_PROXY, NO_PROXY; this machine itself is never asked through one.
func Transport(concurrency int) *http.Transport {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.MaxIdleConns = 0
	t.MaxIdleConnsPerHost = max(concurrency, 2)
	t.MaxConnsPerHost = 0
	return t
}

// Sized returns c, or a copy of it whose transport keeps that many connections.
func Sized(c *http.Client, concurrency int) *http.Client {
	if c == nil {
		return nil
	}
	t, ok := c.Transport.(*http.Transport)
	if !ok || t.MaxIdleConnsPerHost >= concurrency {
		return c
	}
	larger := *c
	t = t.Clone()
	t.MaxIdleConnsPerHost = concurrency
	larger.Transport = t
	return &larger
}

// New checks the options.
func New(o Options) (*Client, error) {
	base := strings.TrimSuffix(strings.TrimRight(o.BaseURL, "/"), "/chat/completions")
	u, err := url.Parse(strings.TrimRight(base, "/"))
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
		return nil, fail.New(fail.Usage, msg.Text{"the base URL is not an http or https address", "base URL 不是 http 或 https 地址"}).
			Hint(msg.Text{"it looks like http://127.0.0.1:8000/v1", "形如 http://127.0.0.1:8000/v1"})
	}
	if o.HTTP == nil || o.Clock == nil {
		return nil, errors.New("llm: options lack HTTP or Clock")
	}
	if o.Timeout <= 0 {
		o.Timeout = defaultTimeout
	}
	if o.Deadline <= 0 {
		o.Deadline = defaultDeadline
	}
	if o.Attempts <= 0 {
		o.Attempts = 5
	}
	if o.Sleep == nil {
		o.Sleep = sleep
	}
	chat := u.JoinPath("chat", "completions")
	return &Client{o: o, base: u, url: chat.String(), shown: shownURL(chat), reached: new(atomic.Bool)}, nil
}

// Patient returns the client with the default time limits: a server's first
// answers may take it far longer than all others.
func (c *Client) Patient() *Client {
	p := *c
	p.o.Timeout, p.o.Deadline = defaultTimeout, defaultDeadline
	return &p
}

// shownURL leaves out user, password and query: they may hold secrets.
func shownURL(u *url.URL) string { return u.Scheme + "://" + u.Host + u.Path }

// URL returns the address that is asked, without credentials.
func (c *Client) URL() string { return c.shown }

// Now tells the client's time.
func (c *Client) Now() time.Time { return c.o.Clock() }

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

// Chat asks once, and again while the failure is transient: 408, 425, 429, 5xx,
// resets, timeouts, bodies that broke off, and a server that was there and
// cannot be reached now. Any other answer fails at once. 401 and 403 come back
// as fail.Credentials, a host that cannot be reached as fail.Unreachable, 404
// as fail.Failed, the rest as *[Error]; a cancelled ctx as its cause.
func (c *Client) Chat(ctx context.Context, r Request) (*Reply, error) {
	body, err := r.Body()
	if err != nil {
		return nil, err
	}
	var reply *Reply
	n, err := c.persist(ctx, func(limit time.Duration) (e *Error) {
		reply, e = c.once(ctx, body, limit)
		return e
	})
	if err != nil {
		return nil, err
	}
	reply.Attempts = n
	return reply, nil
}

// persist sends a request until it is answered, its failure is not transient, or
// the deadline is near, and returns how often it was sent.
func (c *Client) persist(ctx context.Context, send func(limit time.Duration) *Error) (attempts int, err error) {
	until := c.o.Clock().Add(c.o.Deadline)
	for n := 1; ; n++ {
		e := send(min(c.o.Timeout, until.Sub(c.o.Clock())))
		if e == nil {
			return n, nil
		}
		if ctx.Err() != nil {
			return n, context.Cause(ctx)
		}
		e.Attempts = n
		wait := c.wait(n, e)
		if !e.Transient || n >= c.o.Attempts || !c.o.Clock().Add(wait).Before(until) {
			return n, c.explain(e)
		}
		if hook, ok := ctx.Value(retryKey{}).(func(Retry)); ok {
			hook(Retry{Err: e, Wait: wait, Asked: e.retry})
		}
		if err := c.o.Sleep(ctx, wait); err != nil {
			return n, err
		}
	}
}

// once sends a chat request, waiting at most timeout.
func (c *Client) once(ctx context.Context, body []byte, timeout time.Duration) (*Reply, *Error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	resp, raw, e := c.do(ctx, http.MethodPost, c.url, body)
	if e != nil {
		return nil, e
	}
	if isStream(resp.Header, raw) {
		return c.parseStream(raw)
	}
	return c.parse(raw)
}

// do sends one request and reads the whole answer. Any status but 200 is an
// error.
func (c *Client) do(ctx context.Context, method, address string, body []byte) (*http.Response, []byte, *Error) {
	req, err := http.NewRequestWithContext(ctx, method, address, bytes.NewReader(body))
	if err != nil {
		return nil, nil, &Error{Text: "the request cannot be built"}
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", "drydock")
	if c.o.APIKey != "" {
		req.Header.Set("Authorization", "Bearer "+c.o.APIKey)
	}
	resp, err := c.o.HTTP.Do(req)
	if err != nil {
		return nil, nil, c.transport(err)
	}
	defer resp.Body.Close()
	c.reached.Store(true)
	raw, err := readBody(resp)
	if err != nil {
		return nil, nil, c.transport(err)
	}
	if len(raw) > maxReply {
		return nil, nil, &Error{Status: resp.StatusCode, Text: "the reply is larger than 64 MiB"}
	}
	if resp.StatusCode != http.StatusOK {
		return nil, nil, c.status(resp, raw)
	}
	return resp, raw, nil
}

// readBody reads with one allocation where the server said how much will come.
func readBody(resp *http.Response) ([]byte, error) {
	var b bytes.Buffer
	if n := resp.ContentLength; n > 0 && n <= maxReply {
		b.Grow(int(n) + bytes.MinRead)
	}
	_, err := b.ReadFrom(io.LimitReader(resp.Body, maxReply+1))
	return b.Bytes(), err
}
