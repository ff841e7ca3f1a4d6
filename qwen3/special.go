package qwen3

import (
	"iter"
	"strings"
)

// firstSpecial is the id of the first special token.
const firstSpecial = 151643

// specials are the tokens beyond the merges, from firstSpecial on.
var specials = [...]string{
	"<|endoftext|>", "<|im_start|>", "<|im_end|>",
	"<|object_ref_start|>", "<|object_ref_end|>", "<|box_start|>", "<|box_end|>", "<|quad_start|>", "<|quad_end|>",
	"<|vision_start|>", "<|vision_end|>", "<|vision_pad|>", "<|image_pad|>", "<|video_pad|>",
	"<tool_call>", "</tool_call>",
	"<|fim_prefix|>", "<|fim_middle|>", "<|fim_suffix|>", "<|fim_pad|>", "<|repo_name|>", "<|file_sep|>",
	"<tool_response>", "</tool_response>", "<think>", "</think>",
}

// A Special is a special token found in a text.
type Special struct {
	ID         int32
	Text       string
	Start, End int // bytes
}

// FindSpecial returns the first special token spelled out in text. Every trainer
// and server takes the spelling for the token, whoever wrote it.
func FindSpecial(text string) (Special, bool) {
	for at := 0; ; {
		i := strings.IndexByte(text[at:], '<')
		if i < 0 {
			return Special{}, false
		}
		at += i
		for k, s := range specials { // none begins another
			if strings.HasPrefix(text[at:], s) {
				return Special{firstSpecial + int32(k), s, at, at + len(s)}, true
			}
		}
		at++
	}
}

// Specials yields every special token spelled out in text, with the byte it
// begins at.
func Specials(text string) iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		for at := 0; ; {
			s, ok := FindSpecial(text[at:])
			if !ok || !yield(at+s.Start, s.Text) {
				return
			}
			at += s.End
		}
	}
}

// Escape writes every special token spelled out in text so that it is text: a
// backslash behind its "<", <\|im_end|> for <|im_end|>. What looks so already gets
// one more, so that no two texts are written alike.
func Escape(text string) string {
	var b strings.Builder
	from := 0
	for at := 0; ; at++ {
		i := strings.IndexByte(text[at:], '<')
		if i < 0 {
			break
		}
		at += i
		rest := strings.TrimLeft(text[at+1:], `\`)
		if !restOfSpecial(rest) {
			continue
		}
		b.WriteString(text[from : at+1])
		b.WriteByte('\\')
		from = at + 1
	}
	if from == 0 {
		return text
	}
	b.WriteString(text[from:])
	return b.String()
}

// restOfSpecial reports a special token without its "<".
func restOfSpecial(s string) bool {
	for _, t := range specials {
		if strings.HasPrefix(s, t[1:]) {
			return true
		}
	}
	return false
}
