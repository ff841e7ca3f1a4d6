package qwen3_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/drydock-ml/drydock/qwen3"

	"pgregory.net/rapid"
)

func TestEscape(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                             "",
		"a < b, c > d":                 "a < b, c > d",
		"x<|im_end|>y":                 `x<\|im_end|>y`,
		"</think><think>":              `<\/think><\think>`,
		`<\|im_end|>`:                  `<\\|im_end|>`,
		"<<|im_start|>":                `<<\|im_start|>`,
		"<|im_end|":                    "<|im_end|",
		`<\\</tool_call>`:              `<\\<\/tool_call>`,
		"<|endoftext|><|endoftext|> 尾": `<\|endoftext|><\|endoftext|> 尾`,
	} {
		if got := qwen3.Escape(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// unescape takes one backslash off every special token that the test below spells.
func unescape(text string) string {
	return regexp.MustCompile(`<\\(\\*(?:\|im_(?:start|end)\|>|/?think>))`).ReplaceAllString(text, "<$1")
}

// Whatever a text holds, it comes back; and escaped, it holds no special token.
func TestEscapeComesBack(t *testing.T) {
	t.Parallel()
	piece := rapid.OneOf(
		rapid.SampledFrom([]string{"<", `\`, "|", ">", "/", "<|im_end|>", "<think>", "</think>", `<\|im_start|>`, "im_end|>", "think>", "缆"}),
		rapid.StringN(0, 3, -1),
	)
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(piece, 0, 12).Draw(t, "text"), "")
		escaped := qwen3.Escape(text)
		if s, found := qwen3.FindSpecial(escaped); found {
			t.Fatalf("%q escaped is %q, which holds %s", text, escaped, s.Text)
		}
		if got := unescape(escaped); got != text {
			t.Fatalf("%q escaped is %q and comes back as %q", text, escaped, got)
		}
	})
}
