package emit

import (
	"strings"

	"github.com/drydock-ml/drydock/qwen3"
)

// A Contract says what stands between "assistant\n" and the answer, and what of
// it is trained. Rows, trainer, server and evaluation must keep the same one.
type Contract string

// The contracts for Qwen3, whose template opens an assistant turn without
// thinking by an empty think block.
const (
	// EmptyThink: the block stands in the row and in the loss, so that the model
	// gives it itself: right whether or not the server closes thinking.
	EmptyThink Contract = "empty-think"
	// EmptyThinkMasked: the same rows, the loss on the answer only; the server
	// must then be told enable_thinking=false.
	EmptyThinkMasked Contract = "empty-think-masked"
	// CoT: the block holds the reasoning.
	CoT Contract = "cot"
	// Plain: no block at all. Qwen3-8B's own template puts one, so the server and
	// the trainer need another; trainers that have none are not given such rows.
	Plain Contract = "plain"
)

// Contracts lists the contracts that every trainer can keep, the default first.
// Plain is kept by LLaMA-Factory and ms-swift only, under another template.
func Contracts() []Contract { return []Contract{EmptyThink, EmptyThinkMasked, CoT} }

// thinkBlock is the assistant text in front of the answer; these line ends are
// the model's own.
func thinkBlock(reasoning string) string {
	if reasoning == "" {
		return qwen3.EmptyThink
	}
	return "<think>\n" + reasoning + "\n</think>\n\n"
}

// splitThink takes a leading think block off an assistant text. ok is false
// when there is none or it is not closed.
func splitThink(content string) (reasoning, rest string, ok bool) {
	s, found := strings.CutPrefix(strings.TrimLeft(content, " \t\r\n"), "<think>")
	if !found {
		return "", content, false
	}
	reasoning, rest, found = strings.Cut(s, "</think>")
	if !found {
		return "", content, false
	}
	return strings.TrimSpace(reasoning), strings.TrimLeft(rest, "\r\n"), true
}

// BracketedLetter returns the first [A] … [H] in text, "" when there is none.
// Inside reasoning a grader that cuts nothing off would take it for the answer.
func BracketedLetter(text string) string {
	for i := 0; ; {
		j := strings.IndexByte(text[i:], '[')
		if j < 0 || i+j+2 >= len(text) {
			return ""
		}
		i += j
		if c := text[i+1]; c >= 'A' && c <= 'H' && text[i+2] == ']' {
			return text[i : i+3]
		}
		i++
	}
}
