package feed

import (
	"slices"
	"sort"
	"strings"
	"unicode/utf8"

	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/qwen3"

	"golang.org/x/text/unicode/norm"
)

// Axolotl are the settings of axolotl 0.21.0 that change what a row becomes.
//
// Messages are read under type: chat_template with roles_to_train: [assistant] and
// train_on_eos: turn. No setting has them train the think block: the reader of
// axolotl's training file leaves out what is null (utils/config, exclude_none), so
// that null is these same values.
type Axolotl struct {
	// Segments: the row is what [Segments] makes of it, under type: input_output.
	Segments bool
}

// dummy is the question axolotl puts in front of an answer of a preference pair,
// and the first of the answers it puts in a turn's place to see where the turn lies.
const dummy = "[[dummy_message]]"

const imEnd = 151645 // <|im_end|>

// Feeder returns what these settings make of a row.
func (o Axolotl) Feeder() Feeder {
	if o.Segments {
		return apart
	}
	return func(c *qwen3.Conversation) (Sample, error) {
		rendered, err := qwen3.Render(nil, c, qwen3.RenderOptions{})
		if err != nil {
			return Sample{}, err
		}
		text := norm.NFC.String(string(rendered)) // as the tokens have it
		var s Sample
		s.add(text, false)
		ends, end := make([]int, len(s.IDs)), 0
		for i := range s.IDs {
			end += len(qwen3.Decode(s.IDs[i : i+1]))
			ends[i] = end
		}
		for i, m := range c.Messages {
			if m.Role == "assistant" {
				if err := s.turn(c, i, text, ends); err != nil {
					return Sample{}, err
				}
			}
		}
		return s, nil
	}
}

// turn takes the loss on the tokens of what changes in the text when the turn is
// another one, and on the <|im_end|> after it. Two others are tried, whose ends
// have no letter in common, and the wider span is taken. ends are the bytes of the
// text behind each token.
func (s *Sample) turn(c *qwen3.Conversation, i int, text string, ends []int) error {
	from, to := len(text), 0
	for _, other := range [...]string{dummy, "zzdummymessagezz"} {
		changed := qwen3.Conversation{Messages: slices.Clone(c.Messages), Tools: c.Tools}
		changed.Messages[i] = qwen3.Message{Role: "assistant", Content: other, Text: true}
		with, err := qwen3.Render(nil, &changed, qwen3.RenderOptions{})
		if err != nil {
			return err
		}
		a, b := changedSpan(text, norm.NFC.String(string(with)))
		from, to = min(from, a), max(to, b)
	}
	if from >= to {
		return nil
	}
	start := sort.SearchInts(ends, from+1)
	end := 1 + sort.SearchInts(ends, to) // ends: the token that holds the last changed byte
	for k := start; k < end; k++ {
		s.Loss[k] = true
	}
	if k := slices.Index(s.IDs[end:], imEnd); k >= 0 {
		s.Loss[end+k] = true
	}
	return nil
}

// changedSpan returns the bytes of a text that differ from another one, whole
// characters, as what neither begins nor ends alike.
func changedSpan(text, other string) (from, to int) {
	n := min(len(text), len(other))
	for from < n && text[from] == other[from] {
		from++
	}
	for from > 0 && from < len(text) && !utf8.RuneStart(text[from]) {
		from--
	}
	k := 0
	for k < n-from && text[len(text)-1-k] == other[len(other)-1-k] {
		k++
	}
	for to = len(text) - k; to < len(text) && !utf8.RuneStart(text[to]); {
		to++
	}
	return from, to
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

// Segments renders a conversation with the model's template and parts the text in
// front of the last answer, think block and all: the loss is taken on what is
// trained only. The error is of kind partial.
func Segments(c *qwen3.Conversation) (given, trained string, err error) {
	last := len(c.Messages) - 1
	if last < 1 || c.Messages[last].Role != "assistant" {
		return "", "", fail.New(fail.Partial, msg.Text{"messages does not end with an answer to a question", "messages 未以对问题的回答结尾"})
	}
	prompt, err := qwen3.Render(nil, &qwen3.Conversation{Messages: c.Messages[:last], Tools: c.Tools}, qwen3.RenderOptions{GenerationPrompt: true})
	if err != nil {
		return "", "", err
	}
	text, err := qwen3.Render(nil, c, qwen3.RenderOptions{})
	if err != nil {
		return "", "", err
	}
	trained, ok := strings.CutPrefix(string(text), string(prompt))
	if !ok { // as the last, the answer before it has a think block
		return "", "", fail.New(fail.Partial, msg.Text{"two answers stand one behind the other at the end of messages", "messages 末尾有两个相邻的回答"})
	}
	return string(prompt), trained, nil
}

// apart encodes each segment by itself, as axolotl does.
func apart(c *qwen3.Conversation) (Sample, error) {
	given, trained, err := Segments(c)
	if err != nil {
		return Sample{}, err
	}
	var s Sample
	s.add(given, false)
	s.add(trained, true)
	return s, nil
}
