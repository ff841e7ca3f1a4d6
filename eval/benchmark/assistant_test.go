package benchmark_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/eval/benchmark"
	"github.com/drydock-ml/drydock/eval/benchmark/benchtest"
)

func TestSplitThink(t *testing.T) {
	t.Parallel()
	sig := "s1"
	for _, c := range []struct {
		in, rest, reasoning string
		think               *benchmark.Think
	}{
		{in: "[B]  \n", rest: "[B]  \n"},
		{in: "<think>\n先看 [D]\n</think>\n\n[B]", rest: "[B]", reasoning: "先看 [D]", think: &benchmark.Think{}},
		{in: "<think>\n\n</think>\n\n[B]", rest: "[B]", think: &benchmark.Think{}},
		{in: "前言<think>[A]</think>[C] ", rest: "前言[C]", reasoning: "[A]", think: &benchmark.Think{}},
		{in: "<think>一</think>中<think>[C]</think>[D]", rest: "中<think>[C]</think>[D]", reasoning: "一", think: &benchmark.Think{}},
		{in: `<think signature="s1" redacted="true">x</think>y`, rest: "y", reasoning: "x", think: &benchmark.Think{Signature: &sig, Redacted: true}},
		{in: `<think redacted="true" >x</think>y`, rest: "y", reasoning: "x", think: &benchmark.Think{Redacted: true}},
		{in: `<think redacted="true" signature="s1">x</think>y`, rest: `<think redacted="true" signature="s1">x</think>y`},
		{in: "<think>[A]", rest: "<think>[A]"},
		{in: "[A]</think>[B]", rest: "[A]</think>[B]"},
		{in: "<THINK>a</THINK>b", rest: "<THINK>a</THINK>b"},
		{in: "<thinking>a</thinking>b", rest: "<thinking>a</thinking>b"},
		{in: "<thinking><think>a</think>b", rest: "<thinking>b", reasoning: "a", think: &benchmark.Think{}},
		{in: "<think>a</think>\x1c\u3000b\u200b", rest: "b\u200b", reasoning: "a", think: &benchmark.Think{}},
	} {
		rest, reasoning, think := benchmark.SplitThink(c.in)
		if rest != c.rest || reasoning != c.reasoning || cmp.Diff(c.think, think) != "" {
			t.Errorf("SplitThink(%q) = %q, %q, %+v", c.in, rest, reasoning, think)
		}
	}
}

func TestAssistantText(t *testing.T) {
	t.Parallel()
	s := func(s string) *string { return &s }
	for name, c := range map[string]struct {
		in   benchmark.Assistant
		want benchmark.Reply
	}{
		"null content":              {benchmark.Assistant{}, benchmark.Reply{}},
		"reasoning apart":           {benchmark.Assistant{Content: s("\n\n[A]"), ReasoningContent: s("r")}, benchmark.Reply{Text: "\n\n[A]", Reasoning: "r", Think: &benchmark.Think{}}},
		"think inside stays":        {benchmark.Assistant{Content: s("<think>x</think>[A]"), Reasoning: s("r")}, benchmark.Reply{Text: "<think>x</think>[A]", Reasoning: "r", Think: &benchmark.Think{}}},
		"empty reasoning":           {benchmark.Assistant{Content: s("\n[A]"), Reasoning: s("")}, benchmark.Reply{Text: "\n[A]", Think: &benchmark.Think{}}},
		"empty reasoning_content":   {benchmark.Assistant{Content: s("\n[A]"), ReasoningContent: s("")}, benchmark.Reply{Text: "\n[A]"}},
		"refusal replaces":          {benchmark.Assistant{Content: s("[B]"), Refusal: s("不能 [A]")}, benchmark.Reply{Text: "不能 [A]", Refused: true}},
		"reasoning and a refusal":   {benchmark.Assistant{Reasoning: s("r"), Refusal: s("no")}, benchmark.Reply{Text: "no", Reasoning: "r", Think: &benchmark.Think{}, Refused: true}},
		"empty refusal keeps think": {benchmark.Assistant{Content: s("<think>x</think>"), Refusal: s("")}, benchmark.Reply{Text: "<think>x</think>", Refused: true}},
	} {
		got := benchmark.AssistantText(c.in, nil)
		c.want.Finish = "unknown"
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
	}
	for in, want := range map[string]string{
		"stop": "stop", "eos": "stop", "length": "max_tokens", "max_tokens": "max_tokens", "tool_calls": "tool_calls", "function_call": "tool_calls",
		"content_filter": "content_filter", "model_length": "model_length", "abort": "unknown", "": "unknown",
	} {
		if got := benchmark.AssistantText(benchmark.Assistant{}, &in).Finish; got != want {
			t.Errorf("finish_reason %q is told as %q, want %q", in, got, want)
		}
	}
}

// A prompt can be taken apart again, whatever the question holds, as long as no
// option imitates the next letter.
func TestUnpromptUndoesPromptText(t *testing.T) {
	t.Parallel()
	b := maritime(t)
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.StringMatching(`[甲乙 \n{}A-D.]{1,20}`), rapid.String())
		q := drydock.Question{Kind: drydock.Single, Stem: text.Draw(t, "stem")}
		for i := range rapid.IntRange(2, 26).Draw(t, "n") {
			s := text.Draw(t, "option")
			for l := 'A'; l <= 'Z'; l++ {
				s = strings.ReplaceAll(s, string(l)+". ", "")
			}
			if strings.Contains(s, "选项") || strings.HasSuffix(s, "\n") {
				s = "x"
			}
			q.Options = append(q.Options, drydock.Option{Label: string(rune('A' + i)), Text: s})
		}
		p, err := b.PromptText(&q)
		if err != nil {
			t.Fatal(err)
		}
		got, ok := b.Unprompt(p)
		if d := cmp.Diff(q, got); !ok || d != "" {
			t.Fatalf("ok %v (-want +got):\n%s", ok, d)
		}
	})
	for _, s := range []string{"", "x", b.Template()[:200], strings.Replace(ownPrompt, "B. ", "X. ", 2)} {
		if _, ok := b.Unprompt(s); ok {
			t.Errorf("%q taken for a prompt", s)
		}
	}
}

func FuzzReadItems(f *testing.F) {
	for _, s := range []string{ownItems, "[" + `{"question":"q","answer":"A","A":"a","B":"b"}]`, "question,answer,A,B\nq,A,a,b\n", "question\tanswer\n", "{\"a\":[", "[[]]", "\ufeff", `{"question":"q","answer":"A","choices":[null,"x",1]}`} {
		f.Add([]byte(s))
	}
	b := maritime(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		items, err := benchmark.ReadItems("f", data)
		if (err == nil) != (len(items) > 0) {
			t.Fatalf("%d items, error %v", len(items), err)
		}
		for _, it := range items {
			if n := len(it.Question.Options); n < 2 || n > 4 || len(it.Gold) != 1 {
				t.Fatalf("%+v", it)
			}
			b.Prompt(it)
			b.Grade(it, benchmark.Reply{Text: "[A]"})
		}
		// what was read can be written and read again, the same
		var out []byte
		for i := range items {
			out = benchmark.AppendCanonical(out, &items[i])
		}
		if len(items) == 0 {
			return
		}
		again, err := benchmark.ReadItems("g", out)
		if err != nil || benchmark.CanonicalHash(again) != benchmark.CanonicalHash(items) {
			t.Fatalf("canonical rows read back otherwise: %v", err)
		}
	})
}

func FuzzGrade(f *testing.F) {
	for _, x := range extractions() {
		f.Add(x.Reply)
	}
	f.Add(`<think signature="` + strings.Repeat("<think ", 50))
	b := maritime(f)
	items, err := benchmark.ReadItems("x", []byte(ownItems))
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, s string) {
		rest, reasoning, think := benchmark.SplitThink(s)
		if think == nil && (rest != s || reasoning != "") {
			t.Fatalf("text changed without a think block: %q", rest)
		}
		if len(rest)+len(reasoning) > len(s) {
			t.Fatalf("text grew: %q, %q", rest, reasoning)
		}
		benchtest.CheckGrade(rapidTB{t}, b, items[0], s)
	})
}

// rapidTB lets a fuzz target use the suite's check.
type rapidTB struct{ *testing.T }

func BenchmarkGrade(b *testing.B) {
	m := maritime(b)
	items, err := benchmark.ReadItems("x", []byte(ownItems))
	if err != nil {
		b.Fatal(err)
	}
	r := benchmark.Reply{Text: strings.Repeat("思考 [x] ", 200) + "[B]"}
	b.SetBytes(int64(len(r.Text)))
	b.ReportAllocs()
	for b.Loop() {
		m.Grade(items[0], r)
	}
}

func BenchmarkReadItems(b *testing.B) {
	data := []byte(strings.Repeat(ownItems, 500))
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := benchmark.ReadItems("x", data); err != nil {
			b.Fatal(err)
		}
	}
}
