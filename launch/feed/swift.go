package feed

import (
	"strings"
	"unicode"

	"github.com/drydock-ml/drydock/qwen3"
)

// Swift are the settings of ms-swift 4.6.0 that change what a row becomes.
type Swift struct {
	Template                string // qwen3 (or empty), qwen3_nothinking, qwen3_thinking
	DisableIgnoreEmptyThink bool   // the loss is taken on an empty think block, too
	NoNonThinkingPrefix     bool   // --add_non_thinking_prefix false
	LastRound               bool   // --loss_scale last_round
}

// Feeder returns what these settings make of a row. ms-swift leaves none out: it
// joins turns of one role, and puts an empty question before a first answer.
func (o Swift) Feeder() Feeder {
	return func(c *qwen3.Conversation) (Sample, error) {
		var s Sample
		turns := c.Messages
		head := ""
		if len(turns) > 0 && turns[0].Role == "system" {
			if turns[0].Content != "" { // an empty one is not written
				head = "<|im_start|>system\n" + turns[0].Content + "<|im_end|>\n"
			}
			turns = turns[1:]
		}
		turns = joined(turns)
		for i := 0; i < len(turns); i += 2 {
			s.add(head+"<|im_start|>user\n"+turns[i].Content+"<|im_end|>\n<|im_start|>assistant\n", false)
			head = ""
			if i+1 == len(turns) {
				s.add(o.opening(), false) // a question without an answer is opened as for inference
				break
			}
			o.answer(&s, turns[i+1].Content, i+2 >= len(turns))
		}
		return s, nil
	}
}

// joined makes turns go to and fro, beginning with a user's.
func joined(turns []qwen3.Message) []qwen3.Message {
	var out []qwen3.Message
	for _, m := range turns {
		switch {
		case len(out) == 0 && m.Role == "assistant":
			out = append(out, qwen3.Message{Role: "user", Text: true}, m)
		case len(out) > 0 && out[len(out)-1].Role == m.Role:
			out[len(out)-1].Content += m.Content
		default:
			out = append(out, m)
		}
	}
	return out
}

// thinks reports whether the template is the one that mixes thinking and not.
func (o Swift) thinks() bool { return o.Template == "" || o.Template == "qwen3" }

// opening is what an answer to come begins with.
func (o Swift) opening() string {
	switch o.Template {
	case "qwen3_thinking":
		return "<think>\n"
	case "qwen3_nothinking":
		return ""
	}
	return qwen3.EmptyThink
}

func (o Swift) answer(s *Sample, text string, last bool) {
	loss := last || !o.LastRound
	switch {
	case o.LastRound && !last:
		if i := strings.LastIndex(text, "</think>"); i >= 0 {
			text = text[i+len("</think>"):]
		}
		text = strings.TrimSpace(text)
	case o.thinks() && !o.NoNonThinkingPrefix && !strings.HasPrefix(text, "<think>"):
		text = qwen3.EmptyThink + text
	}
	n := 0
	if o.thinks() && !o.DisableIgnoreEmptyThink {
		n = emptyThink(text)
	}
	s.add(text[:n], false)
	s.add(text[n:]+"<|im_end|>\n", loss)
}

// emptyThink returns the length of an empty think block and the white space after
// it that s begins with.
func emptyThink(s string) int {
	rest, ok := strings.CutPrefix(s, "<think>")
	if !ok {
		return 0
	}
	rest, ok = strings.CutPrefix(strings.TrimLeftFunc(rest, unicode.IsSpace), "</think>")
	if !ok {
		return 0
	}
	return len(s) - len(strings.TrimLeftFunc(rest, unicode.IsSpace))
}
