package checkpoint

import (
	"context"
	"errors"
	"math"
	"slices"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/llm"
	"github.com/drydock-ml/drydock/internal/parallel"
)

// Canaries is how many prompts an adapter and its base are compared on.
const Canaries = 16

// How they are compared: so many tokens of each answer, and the difference of
// the first token's log probability that batching alone can make.
const (
	canaryTokens = 16
	sameLogProb  = 1e-3
)

// A Canary is what the comparison of an adapter with its base came to.
type Canary struct {
	Compared int     // prompts both answered
	Same     int     // answered alike
	Told     bool    // every answer came with log probabilities
	Most     float64 // the largest difference of the first token's, nats
}

// Applied reports whether the adapter answers otherwise than its base. sure is
// false where only equal texts say it does not.
func (c Canary) Applied() (applied, sure bool) {
	applied = c.Same < c.Compared || c.Told && c.Most > sameLogProb
	return applied, applied || c.Told
}

// Compare asks a base and an adapter on it the same questions at temperature 0,
// and compares what they say. The one is asked everything before the other is:
// vLLM 0.32.0 on a CPU was seen to answer for the base where requests of both
// met in one batch. asked is called before each request; nil: not at all. A
// question that one of them refuses is left out; an error is what ends all.
func Compare(ctx context.Context, client *llm.Client, adapter, base string, questions []llm.Request, asked func()) (Canary, error) {
	replies := make([][2]*llm.Reply, len(questions))
	for i, model := range []string{adapter, base} {
		err := parallel.Each(ctx, 4, len(questions), func(ctx context.Context, k int) (err error) {
			if asked != nil {
				asked()
			}
			replies[k][i], err = ask(ctx, client, model, questions[k])
			return err
		})
		if err != nil {
			return Canary{}, err
		}
	}
	return compareReplies(replies), nil
}

// ask sends one question; the reply is nil where the server refuses it.
func ask(ctx context.Context, client *llm.Client, model string, q llm.Request) (*llm.Reply, error) {
	zero := 0.0
	q.Model, q.Stream, q.MaxTokens, q.Temperature = model, false, canaryTokens, &zero
	q.Extra = append(slices.DeleteFunc(slices.Clone(q.Extra), func(f drydock.RawField) bool { return f.Name == "logprobs" || f.Name == "structured_outputs" }),
		drydock.RawField{Name: "logprobs", Value: []byte("true")})
	reply, err := client.Chat(ctx, q)
	var e *llm.Error
	var fatal *fail.Error
	if errors.As(err, &e) && !errors.As(err, &fatal) {
		return nil, nil // one comparison less
	}
	return reply, err
}

func compareReplies(replies [][2]*llm.Reply) Canary {
	c := Canary{Told: true}
	for _, two := range replies {
		a, b := two[0], two[1]
		if a == nil || b == nil {
			continue
		}
		c.Compared++
		if textOf(a) == textOf(b) {
			c.Same++
		}
		if len(a.Tokens) == 0 || len(b.Tokens) == 0 {
			c.Told = false
			continue
		}
		c.Most = max(c.Most, math.Abs(a.Tokens[0].LogProb-b.Tokens[0].LogProb))
	}
	return c
}

// textOf is all a model said.
func textOf(r *llm.Reply) string {
	var s string
	for _, p := range []*string{r.Reasoning, r.ReasoningContent, r.Content} {
		if p != nil {
			s += *p + "\x00"
		}
	}
	return s
}
