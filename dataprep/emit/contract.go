package emit

import "strings"

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
	// Plain: no block at all. Qwen3-8B's own template puts one, so the server
	// needs another; rows of drydock's are never written so.
	Plain Contract = "plain"
)

// Contracts lists the contracts that rows are written under, the default first.
func Contracts() []Contract { return []Contract{EmptyThink, EmptyThinkMasked, CoT} }

// thinkBlock is the assistant text in front of the answer; these line ends are
// the model's own.
func thinkBlock(reasoning string) string {
	if reasoning == "" {
		return "<think>\n\n</think>\n\n"
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

// specialToken returns the first token of Qwen3's added vocabulary in text, ""
// when there is none. Such text becomes a control token in training, whatever
// it was meant to be.
func specialToken(text string) string {
	if !strings.Contains(text, "<") {
		return ""
	}
	first, at := "", len(text)
	for _, t := range [...]string{
		"<|endoftext|>", "<|im_start|>", "<|im_end|>",
		"<|object_ref_start|>", "<|object_ref_end|>", "<|box_start|>", "<|box_end|>", "<|quad_start|>", "<|quad_end|>",
		"<|vision_start|>", "<|vision_end|>", "<|vision_pad|>", "<|image_pad|>", "<|video_pad|>",
		"<tool_call>", "</tool_call>", "<|fim_prefix|>", "<|fim_middle|>", "<|fim_suffix|>", "<|fim_pad|>",
		"<|repo_name|>", "<|file_sep|>", "<tool_response>", "</tool_response>", "<think>", "</think>",
	} {
		if i := strings.Index(text[:at], t); i >= 0 {
			first, at = t, i
		}
	}
	return first
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
