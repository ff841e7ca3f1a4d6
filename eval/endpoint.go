package eval

import (
	"context"
	"strings"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/eval/benchmark"
	"github.com/drydock-ml/drydock/internal/llm"
)

// An Answer is one reply with what is known about it.
type Answer struct {
	Reply    benchmark.Reply
	Served   string           // the model as the server names it
	Usage    *benchmark.Usage // nil: not told
	Attempts int              // requests made, from 1
}

// An Endpoint answers. It is safe for concurrent use, and sees nothing but the
// messages: no endpoint can know the key. An error of kind credentials or
// unreachable ends the run; any other is that item's own.
type Endpoint interface {
	Ask(ctx context.Context, messages []drydock.Message) (Answer, error)
	// Kind is http or builtin.
	Kind() string
	// Conditions lists what the answers depend on besides the messages and the
	// model's name, by name, without secrets: sampling, training file.
	Conditions() []Condition
}

// A Condition is one thing a run's answers depend on.
type Condition struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// HTTP asks an OpenAI-compatible server.
type HTTP struct {
	client      *llm.Client
	model       string
	temperature *float64
	extra       []drydock.RawField
}

// NewHTTP returns an endpoint that asks client for model. A nil temperature is
// not sent; extra fields follow it in the request.
func NewHTTP(client *llm.Client, model string, temperature *float64, extra []drydock.RawField) *HTTP {
	return &HTTP{client, model, temperature, extra}
}

// Kind implements [Endpoint].
func (*HTTP) Kind() string { return "http" }

// Conditions implements [Endpoint]. The address is not among them: a server may
// move.
func (h *HTTP) Conditions() []Condition {
	r := llm.Request{Temperature: h.temperature, Extra: h.extra}
	body, err := r.Body()
	if err != nil {
		body = nil // Ask will say it
	}
	sampling := strings.TrimPrefix(string(body), `{"model":"","messages":[]`)
	return []Condition{{"sampling", "{" + strings.TrimPrefix(sampling, ",")}}
}

// URL returns the address that is asked, without credentials.
func (h *HTTP) URL() string { return h.client.URL() }

// Ask implements [Endpoint].
func (h *HTTP) Ask(ctx context.Context, messages []drydock.Message) (Answer, error) {
	r, err := h.client.Chat(ctx, llm.Request{Model: h.model, Messages: messages, Temperature: h.temperature, Extra: h.extra})
	if err != nil {
		return Answer{}, err
	}
	a := Answer{
		Reply: benchmark.AssistantText(benchmark.Assistant{
			Content: r.Content, ReasoningContent: r.ReasoningContent, Reasoning: r.Reasoning, Refusal: r.Refusal,
		}, r.Finish),
		Served: r.Model, Attempts: r.Attempts,
	}
	if u := r.Usage; u != nil {
		a.Usage = &benchmark.Usage{Input: u.Prompt, Output: u.Completion, Total: u.Total}
		if u.PromptDetails != nil {
			a.Usage.CacheRead = u.PromptDetails.Cached
		}
		if u.CompletionDetails != nil {
			a.Usage.Reasoning = u.CompletionDetails.Reasoning
		}
	}
	return a, nil
}
