package feed

import (
	"slices"
	"strings"

	"github.com/drydock-ml/drydock/qwen3"
)

// Axolotl are the settings of axolotl 0.21.0's chat_template rows that change
// what a row becomes.
type Axolotl struct {
	// LastOnly is roles_to_train: null together with train_on_eos: null: the loss
	// is taken on everything after the prompt of the last turn.
	LastOnly bool
}

// dummy is the answer axolotl puts in a turn's place to see where the turn lies.
const dummy = "[[dummy_message]]"

const imEnd = 151645 // <|im_end|>

// Feeder returns what these settings make of a row.
func (o Axolotl) Feeder() Feeder {
	if o.LastOnly {
		return afterPrompt
	}
	return func(c *qwen3.Conversation) (Sample, error) {
		ids, err := encoded(c, qwen3.RenderOptions{})
		if err != nil {
			return Sample{}, err
		}
		s := Sample{IDs: ids, Loss: make([]bool, len(ids))}
		for i, m := range c.Messages {
			if m.Role == "assistant" {
				if err := s.turn(c, i); err != nil {
					return Sample{}, err
				}
			}
		}
		return s, nil
	}
}

// turn takes the loss on what changes when the turn is another one, and on the
// <|im_end|> after it. Of a turn that is the dummy itself nothing changes, and
// axolotl goes on to the end.
func (s *Sample) turn(c *qwen3.Conversation, i int) error {
	dummy := dummy
	itself := c.Messages[i].Content == dummy
	if itself {
		dummy = "-"
	}
	other := qwen3.Conversation{Messages: slices.Clone(c.Messages), Tools: c.Tools}
	other.Messages[i] = qwen3.Message{Role: "assistant", Content: dummy, Text: true}
	if reasoning, _ := c.Messages[i].Thinking(); reasoning != "" {
		thought := dummy
		other.Messages[i].Reasoning = &thought
	}
	ids, err := encoded(&other, qwen3.RenderOptions{})
	if err != nil {
		return err
	}
	start := sameStart(s.IDs, ids)
	end := len(s.IDs)
	for k := len(ids); !itself && end > start && k > start && s.IDs[end-1] == ids[k-1]; k-- {
		end--
	}
	for k := start; k < end; k++ {
		s.Loss[k] = true
	}
	if k := slices.Index(s.IDs[end:], imEnd); k >= 0 {
		s.Loss[end+k] = true
	}
	return nil
}

// Pair returns what rl: dpo with type: chat_template.default makes of a preference
// pair. Answers are rendered behind a question that is a dummy, put behind the
// prompt as text, without the line end at the end, and encoded with it.
// roles_to_train and train_on_eos say nothing there: the think block is always
// trained. Of a turn only role and content are read.
func (Axolotl) Pair() PairFeeder { return renderedApart }

func renderedApart(chosen, rejected *qwen3.Conversation) (won, lost Sample, err error) {
	prompt, err := qwen3.Render(nil, textOnly(chosen.Messages[:len(chosen.Messages)-1]), qwen3.RenderOptions{GenerationPrompt: true})
	if err != nil {
		return won, lost, err
	}
	given := qwen3.Encode(nil, string(prompt))
	sides := [2]Sample{}
	for i, c := range []*qwen3.Conversation{chosen, rejected} {
		text, err := qwen3.Render(nil, textOnly([]qwen3.Message{{Role: "user", Content: dummy, Text: true}, c.Messages[len(c.Messages)-1]}), qwen3.RenderOptions{})
		if err != nil {
			return won, lost, err
		}
		answer := strings.TrimPrefix(string(text), "<|im_start|>user\n"+dummy+"<|im_end|>\n<|im_start|>assistant\n")
		sides[i].IDs = qwen3.Encode(nil, string(prompt)+strings.TrimSuffix(answer, "\n"))
	}
	from := min(sameStart(given, sides[0].IDs), sameStart(given, sides[1].IDs))
	return trainedFrom(sides[0].IDs, from), trainedFrom(sides[1].IDs, from), nil
}

// textOnly is a conversation of which role and content are left.
func textOnly(turns []qwen3.Message) *qwen3.Conversation {
	c := &qwen3.Conversation{Messages: make([]qwen3.Message, len(turns))}
	for i, m := range turns {
		c.Messages[i] = qwen3.Message{Role: m.Role, Content: m.Content, Text: m.Text}
	}
	return c
}

// afterPrompt puts the ids of the whole conversation behind those of its prompt,
// by their number; where the last turn is no answer, they do not fit.
func afterPrompt(c *qwen3.Conversation) (Sample, error) {
	last := max(0, len(c.Messages)-1)
	given, err := qwen3.Render(nil, &qwen3.Conversation{Messages: c.Messages[:last], Tools: c.Tools}, qwen3.RenderOptions{GenerationPrompt: true})
	if err != nil {
		return Sample{}, err
	}
	text, err := qwen3.Render(nil, c, qwen3.RenderOptions{})
	if err != nil {
		return Sample{}, err
	}
	prompt := qwen3.Encode(make([]int32, 0, len(text)/2), string(given))
	ids := encodeOn(prompt, given, text)
	s := Sample{IDs: prompt, Loss: make([]bool, len(prompt))}
	if len(ids) > len(prompt) {
		s.IDs = append(s.IDs, ids[len(prompt):]...)
		s.Loss = append(s.Loss, slices.Repeat([]bool{true}, len(ids)-len(prompt))...)
	}
	return s, nil
}

func encoded(c *qwen3.Conversation, o qwen3.RenderOptions) ([]int32, error) {
	text, err := qwen3.Render(nil, c, o)
	return qwen3.Encode(nil, string(text)), err
}
