package eval

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/eval/benchmark"
	"github.com/drydock-ml/drydock/internal/llm"
)

// An Answer is one reply with what is known about it.
type Answer struct {
	Reply     benchmark.Reply
	Served    string           // the model as the server names it
	Usage     *benchmark.Usage // nil: not told
	Attempts  int              // requests made, from 1
	Raw       []byte           // the body as it came; nil: there was none
	Surrogate bool             // the text held half of a surrogate pair, now U+FFFD
	NoContent bool             // content was null: there is no answer, or it stands under reasoning
	Thought   bool             // the server gave reasoning apart, or a think block stood in the text
	Server    string           // the server's fingerprint of itself; empty: none
	// Places are the tokens the model thought of at each place of its answer, where
	// they were asked for.
	Places [][]benchmark.TokenLogprob
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

// Sampling is how a server is asked to answer.
type Sampling struct {
	Temperature *float64           // nil: not sent, the server's own counts
	MaxTokens   int                // 0: not sent
	Stream      bool               // have the reply sent piece by piece
	Extra       []drydock.RawField // further fields of the request, in this order
}

// mostLogprobs is how many tokens are asked for at each place: what OpenAI and, as
// it comes, vLLM allow.
const mostLogprobs = "20"

// AskLogprobs adds the fields that ask for log probabilities, unless they are there.
func (s *Sampling) AskLogprobs() {
	for _, f := range []drydock.RawField{{Name: "logprobs", Value: []byte("true")}, {Name: "top_logprobs", Value: []byte(mostLogprobs)}} {
		if !slices.ContainsFunc(s.Extra, func(x drydock.RawField) bool { return x.Name == f.Name }) {
			s.Extra = append(s.Extra, f)
		}
	}
}

// generation lists what is sent besides the temperature by the names of
// EvalScope's --generation-config.
func (s *Sampling) generation() []drydock.RawField {
	var g []drydock.RawField
	if s.MaxTokens > 0 {
		g = append(g, drydock.RawField{Name: "max_tokens", Value: strconv.AppendInt(nil, int64(s.MaxTokens), 10)})
	}
	if len(s.Extra) > 0 {
		b := []byte{'{'}
		for i, f := range s.Extra {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(append(drydock.AppendJSONString(b, f.Name), ':'), f.Value...)
		}
		g = append(g, drydock.RawField{Name: "extra_body", Value: append(b, '}')})
	}
	return g
}

// HTTP asks an OpenAI-compatible server.
type HTTP struct {
	client   *llm.Client
	model    string
	sampling Sampling
}

// NewHTTP returns an endpoint that asks client for model.
func NewHTTP(client *llm.Client, model string, s Sampling) *HTTP {
	return &HTTP{client, model, s}
}

// Kind implements [Endpoint].
func (*HTTP) Kind() string { return "http" }

// Conditions implements [Endpoint]. The address is not among them: a server may
// move.
func (h *HTTP) Conditions() []Condition {
	r := h.request(nil)
	r.Model = ""
	body, err := r.Body()
	if err != nil {
		body = nil // Ask will say it
	}
	sampling := strings.TrimPrefix(string(body), `{"model":""`)
	sampling = strings.Replace(sampling, `,"messages":[]`, "", 1) // the extra fields come after it
	return []Condition{{"sampling", "{" + strings.TrimPrefix(sampling, ",")}}
}

func (h *HTTP) request(messages []drydock.Message) llm.Request {
	s := &h.sampling
	return llm.Request{
		Model: h.model, Messages: messages, Stream: s.Stream, MaxTokens: s.MaxTokens, Temperature: s.Temperature, Extra: s.Extra,
	}
}

// URL returns the address that is asked, without credentials.
func (h *HTTP) URL() string { return h.client.URL() }

// Now tells the time by the client's clock.
func (h *HTTP) Now() time.Time { return h.client.Now() }

// Ask implements [Endpoint].
func (h *HTTP) Ask(ctx context.Context, messages []drydock.Message) (Answer, error) {
	r, err := h.client.Chat(ctx, h.request(messages))
	if err != nil {
		return Answer{}, err
	}
	return answerOf(r), nil
}

// answerOf reads a reply as EvalScope 1.4.2 would.
func answerOf(r *llm.Reply) Answer {
	read := benchmark.AssistantText
	if r.Streamed {
		read = benchmark.StreamedAssistantText
	}
	a := Answer{
		Reply: read(benchmark.Assistant{
			Content: r.Content, ReasoningContent: r.ReasoningContent, Reasoning: r.Reasoning, Refusal: r.Refusal,
		}, r.Finish),
		Served: r.Model, Attempts: r.Attempts, Raw: r.Raw, Surrogate: r.Replaced, NoContent: r.Content == nil, Server: r.Fingerprint,
		Places: placesOf(r.Tokens),
	}
	a.Thought = a.Reply.Reasoning != "" || notEmpty(r.ReasoningContent) || notEmpty(r.Reasoning)
	if u := r.Usage; u != nil {
		a.Usage = &benchmark.Usage{Input: u.Prompt, Output: u.Completion, Total: u.Total}
		if u.PromptDetails != nil {
			a.Usage.CacheRead = u.PromptDetails.Cached
		}
		if u.CompletionDetails != nil {
			a.Usage.Reasoning = u.CompletionDetails.Reasoning
		}
	}
	return a
}

func notEmpty(s *string) bool { return s != nil && *s != "" }
