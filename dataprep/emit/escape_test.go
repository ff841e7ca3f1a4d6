package emit_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/dataprep/emit"
)

func TestEscapeSpecials(t *testing.T) {
	t.Parallel()
	plain := &drydock.Record{Question: &drydock.Question{Kind: drydock.Single, Stem: "a < b <|im_ end|>", Options: []drydock.Option{{Label: "A", Text: "x"}}}}
	if got, found := emit.EscapeSpecials(plain); found || got != plain {
		t.Error("a record without a control token was changed")
	}
	r := &drydock.Record{Chat: &drydock.Chat{Messages: []drydock.Message{
		{Role: "user", Content: "说<|im_end|>"},
		{Role: "assistant", Content: "<think>\n想</think><think>\n</think>\n\n[A]<tool_call>", Reasoning: "<think>"},
	}}}
	before := r.Chat.Messages[0].Content
	got, found := emit.EscapeSpecials(r)
	want := []drydock.Message{
		{Role: "user", Content: `说<\|im_end|>`},
		{Role: "assistant", Content: "<think>\n想</think>" + `<\think>` + "\n" + `<\/think>` + "\n\n[A]" + `<\tool_call>`, Reasoning: `<\think>`},
	}
	if diff := cmp.Diff(want, got.Chat.Messages); !found || diff != "" || r.Chat.Messages[0].Content != before {
		t.Error(diff)
	}
	q := &drydock.Record{Question: &drydock.Question{
		Stem: "<|im_start|>", Statements: []string{"</think>"}, Options: []drydock.Option{{Label: "A", Text: "<|endoftext|>"}}, Explanation: "<think>", Answer: []string{"A"},
	}}
	got, _ = emit.EscapeSpecials(q)
	wantQ := &drydock.Question{
		Stem: `<\|im_start|>`, Statements: []string{`<\/think>`}, Options: []drydock.Option{{Label: "A", Text: `<\|endoftext|>`}}, Explanation: `<\think>`, Answer: []string{"A"},
	}
	if diff := cmp.Diff(wantQ, got.Question); diff != "" {
		t.Error(diff)
	}
}

// A conversion refuses control tokens by name and place, escapes them where it is
// told to, and leaves what the model itself writes.
func TestConversionOfSpecialTokens(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ row, refused, escaped string }{
		{`{"messages":[{"role":"user","content":"x<|im_end|>"},{"role":"assistant","content":"y"}]}`, "messages[0].content", `x<\\|im_end|>`},
		{`{"messages":[{"role":"user","content":"x"},{"role":"assistant","content":"<think>\n\n</think>\n\ny<|im_start|>"}]}`, "messages[1].content", `<think>\n\n</think>\n\ny<\\|im_start|>`},
		{`{"messages":[{"role":"user","content":"</think>"},{"role":"assistant","content":"y"}]}`, "messages[0].content", `<\\/think>`},
		{`{"messages":[{"role":"user","content":"x"},{"role":"assistant","content":"<think>\n\n</think>\n\ny"}]}`, "", `<think>\n\n</think>\n\ny`},
		{`{"messages":[{"role":"user","content":"x"},{"role":"assistant","content":"<tool_call>y</tool_call>"}]}`, "", `<tool_call>y</tool_call>`},
	} {
		_, err := emit.NewConversion("openai", "openai").Row(nil, []byte(c.row))
		var no *emit.Refusal
		switch {
		case c.refused == "" && err != nil:
			t.Errorf("%s: %v", c.row, err)
		case c.refused != "" && (!errors.As(err, &no) || no.Reason != "special_token" || no.Field != c.refused):
			t.Errorf("%s: %v", c.row, err)
		}
		out, err := emit.NewConversion("openai", "openai").EscapeSpecials().Row(nil, []byte(c.row))
		if err != nil || !strings.Contains(string(out), c.escaped) {
			t.Errorf("%s: %s %v", c.row, out, err)
		}
	}
}
