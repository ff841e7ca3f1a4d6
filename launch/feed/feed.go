// Package feed says what a trainer makes of a training row: the token ids the
// model is fed, and which of them the loss is taken on. Each trainer has its own
// idea of both, and none shows it; the functions here are held, id for id, to what
// the real trainers did.
package feed

import (
	"slices"

	"github.com/drydock-ml/drydock/qwen3"
)

// A Sample is one row as a trainer feeds it, before it is cut to a length.
type Sample struct {
	IDs  []int32
	Loss []bool // by id: whether the loss is taken on it
}

// Text returns the text of the ids.
func (s *Sample) Text() string { return qwen3.Decode(s.IDs) }

// Trained returns how many ids the loss is taken on.
func (s *Sample) Trained() int {
	n := 0
	for _, l := range s.Loss {
		if l {
			n++
		}
	}
	return n
}

// A Feeder makes samples of rows. The error is why the trainer leaves the row
// out, of kind partial.
type Feeder func(c *qwen3.Conversation) (Sample, error)

// A PairFeeder makes the two samples of a preference pair: of two conversations
// that differ in their last turn, the answers. The error is as a Feeder's.
type PairFeeder func(chosen, rejected *qwen3.Conversation) (won, lost Sample, err error)

// each feeds both sides of a pair by themselves.
func each(f Feeder) PairFeeder {
	return func(chosen, rejected *qwen3.Conversation) (won, lost Sample, err error) {
		if won, err = f(chosen); err == nil {
			lost, err = f(rejected)
		}
		return won, lost, err
	}
}

// joinedAt is a prompt and the answer behind it, which the loss is taken on.
func joinedAt(prompt, answer []int32) Sample {
	return trainedFrom(slices.Concat(prompt, answer), len(prompt))
}

// trainedFrom is a sample whose loss is taken on everything from one id on.
func trainedFrom(ids []int32, from int) Sample {
	return Sample{IDs: ids, Loss: append(make([]bool, from), slices.Repeat([]bool{true}, len(ids)-from)...)}
}

// add encodes a text by itself, as trainers do that join ids and not texts.
func (s *Sample) add(text string, loss bool) {
	n := len(s.IDs)
	s.IDs = qwen3.Encode(s.IDs, text)
	for range len(s.IDs) - n {
		s.Loss = append(s.Loss, loss)
	}
}

// pairs returns the questions and answers of a conversation that goes strictly
// to and fro, and the system text before them.
func pairs(c *qwen3.Conversation) (system string, turns []qwen3.Message, ok bool) {
	turns = c.Messages
	if len(turns) > 0 && turns[0].Role == "system" {
		system, turns = turns[0].Content, turns[1:]
	}
	if len(turns) == 0 || len(turns)%2 != 0 {
		return "", nil, false
	}
	for i := range turns {
		want := "user"
		if i%2 == 1 {
			want = "assistant"
		}
		if turns[i].Role != want {
			return "", nil, false
		}
	}
	return system, turns, true
}
