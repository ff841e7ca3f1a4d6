package feed

import (
	"bytes"
	"slices"
	"strings"

	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/qwen3"
)

// TRL are the settings of TRL 1.16.0 that change what a row becomes.
type TRL struct {
	// PromptCompletion: the last answer is the completion, all before it the
	// prompt; else the row is "messages".
	PromptCompletion bool
	// NoThinking is "chat_template_kwargs": {"enable_thinking": false} in the row;
	// it says something only of prompt and completion.
	NoThinking bool
	// AssistantOnlyLoss takes the loss on answers only, for rows of messages; TRL
	// then renders with a template of its own, which puts a think block on every
	// answer.
	AssistantOnlyLoss bool
}

// Feeder returns what these settings make of a row.
func (o TRL) Feeder() Feeder {
	switch {
	case o.PromptCompletion:
		return o.completion
	case o.AssistantOnlyLoss:
		return answersOnly
	}
	return whole
}

// whole takes the loss on everything.
func whole(c *qwen3.Conversation) (Sample, error) {
	text, err := qwen3.Render(nil, c, qwen3.RenderOptions{})
	if err != nil {
		return Sample{}, err
	}
	var s Sample
	s.add(string(text), true)
	return s, nil
}

// completion takes the loss on what the ids of the whole conversation have
// beyond those of the prompt.
func (o TRL) completion(c *qwen3.Conversation) (Sample, error) {
	last := len(c.Messages) - 1
	if last < 1 || c.Messages[last].Role != "assistant" {
		return Sample{}, fail.New(fail.Partial, msg.Text{"a row of prompt and completion must end with an answer", "prompt/completion 行必须以回答结尾"})
	}
	prompt, err := qwen3.Render(nil, &qwen3.Conversation{Messages: c.Messages[:last], Tools: c.Tools}, qwen3.RenderOptions{GenerationPrompt: true, NoThinking: o.NoThinking})
	if err != nil {
		return Sample{}, err
	}
	text, err := qwen3.Render(nil, c, qwen3.RenderOptions{})
	if err != nil {
		return Sample{}, err
	}
	given := qwen3.Encode(make([]int32, 0, len(text)/2), string(prompt))
	ids := encodeOn(given, prompt, text)
	return trainedFrom(ids, sameStart(ids, given)), nil
}

// Pair returns what trl dpo makes of a preference pair: the loss is taken on what
// is beyond the prompt, and begins in both at the same place.
func (o TRL) Pair() PairFeeder {
	return func(chosen, rejected *qwen3.Conversation) (won, lost Sample, err error) {
		if won, lost, err = each(o.completion)(chosen, rejected); err != nil {
			return won, lost, err
		}
		from := min(slices.Index(won.Loss, true), slices.Index(lost.Loss, true))
		return trainedFrom(won.IDs, from), trainedFrom(lost.IDs, from), nil
	}
}

// answersOnly renders with TRL's training template: history keeps its thinking.
func answersOnly(c *qwen3.Conversation) (Sample, error) {
	var s Sample
	from := 0
	for i, m := range c.Messages {
		if m.Role != "assistant" {
			continue
		}
		// what lies between two answers has none, so the template's rules for
		// answers do not touch it
		if err := s.between(c, from, i); err != nil {
			return Sample{}, err
		}
		reasoning, answer := m.Thinking()
		s.add("<|im_start|>assistant\n", false)
		s.add("<think>\n"+strings.Trim(reasoning, "\n")+"\n</think>\n\n"+strings.TrimLeft(answer, "\n")+"<|im_end|>\n", true)
		from = i + 1
	}
	return s, s.between(c, from, len(c.Messages))
}

// between adds the turns from one index to another, none of them an answer.
func (s *Sample) between(c *qwen3.Conversation, from, to int) error {
	if from == to {
		return nil
	}
	part := qwen3.Conversation{Messages: c.Messages[from:to]}
	if from == 0 {
		part.Tools = c.Tools
	}
	text, err := qwen3.Render(nil, &part, qwen3.RenderOptions{})
	s.add(string(text), false)
	return err
}

// encodeOn returns the ids of a text. ids are those of a prompt: where the text
// goes on behind it with a special token, they are the beginning, since such a
// token parts texts, and are not made again.
func encodeOn(ids []int32, prompt, text []byte) []int32 {
	rest, goesOn := bytes.CutPrefix(text, prompt)
	if goesOn {
		if s, ok := qwen3.FindSpecial(string(rest[:min(len(rest), len(qwen3.EmptyThink))])); ok && s.Start == 0 {
			return qwen3.Encode(ids, string(rest))
		}
	}
	return qwen3.Encode(nil, string(text))
}

// sameStart returns how many ids two sequences begin with in common.
func sameStart(a, b []int32) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}
