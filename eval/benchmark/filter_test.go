package benchmark_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/drydock-ml/drydock/eval/benchmark"
	"github.com/drydock-ml/drydock/internal/fail"
)

func TestFilters(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ filters, text, want string }{
		{"", "x", "x"},
		{`{"remove_until":"</think>"}`, "a</think>b</think>c", "b</think>c"},
		{`{"remove_until":"</think>"}`, "no tag", "no tag"},
		{`{"extract":"\\d+"}`, "a 12 b 34", "12"},
		{`{"extract":"x(\\d*)(\\w)"}`, "xq", "q"},
		{`{"extract":"x( *)"}`, "x  ", ""},
		{`{"extract":"z"}`, "a", "[invalid]"},
		{`{"remove_until":"：","extract":"\\[[A-D]\\]"}`, "[A]：[B]", "[B]"},
	} {
		f, err := benchmark.ParseFilters(c.filters)
		if err != nil {
			t.Fatal(err)
		}
		if got := f.Apply(c.text); got != c.want {
			t.Errorf("%s on %q: %q, want %q", c.filters, c.text, got, c.want)
		}
		again, err := benchmark.ParseFilters(f.String())
		if d := cmp.Diff(f, again); d != "" || err != nil {
			t.Errorf("%s reads back as %v, %v", f, again, err)
		}
	}
	for _, bad := range []string{"x", "[]", `{"remove_until":1}`, `{"nosuch":"x"}`, `{"extract":"("}`, `{"remove_until":""}`, `{"extract":"a"} b`, `{"extract":"a","extract":"b"}`, `{"extract":"a"`} {
		if f, err := benchmark.ParseFilters(bad); fail.Code(err) != 2 {
			t.Errorf("%s: %v, %v", bad, f, err)
		}
	}
	b := maritime(t).WithFilters(benchmark.Filters{{Name: "remove_until", Value: "</think>"}})
	if b.Fingerprint() == maritime(t).Fingerprint() {
		t.Error("filters are not in the fingerprint")
	}
}

func FuzzParseFilters(f *testing.F) {
	f.Add(`{"remove_until":"</think>","extract":"\\[([A-D])\\]"}`, "a</think>[B]")
	f.Fuzz(func(t *testing.T, src, text string) {
		fs, err := benchmark.ParseFilters(src)
		if err != nil {
			return
		}
		_ = fs.Apply(text)
		again, err := benchmark.ParseFilters(fs.String())
		if err != nil || fs.String() != again.String() {
			t.Fatalf("%q reads back as %q, %v", fs.String(), again.String(), err)
		}
	})
}

func TestStreamedAssistantText(t *testing.T) {
	t.Parallel()
	s := func(v string) *string { return &v }
	for name, c := range map[string]struct {
		in     benchmark.Assistant
		finish *string
		want   benchmark.Reply
	}{
		"reasoning is lost":       {benchmark.Assistant{Content: s("[B]"), Reasoning: s("x")}, s("stop"), benchmark.Reply{Text: "[B]", Finish: "stop"}},
		"reasoning_content stays": {benchmark.Assistant{Content: s("\n[B]"), ReasoningContent: s("x")}, s("length"), benchmark.Reply{Text: "\n[B]", Reasoning: "x", Think: &benchmark.Think{}, Finish: "max_tokens"}},
		"a refusal is not seen":   {benchmark.Assistant{Content: s(""), Refusal: s("no")}, nil, benchmark.Reply{Finish: "stop"}},
		"a think block goes":      {benchmark.Assistant{Content: s("<think>a</think>[B]"), ReasoningContent: s("")}, nil, benchmark.Reply{Text: "[B]", Reasoning: "a", Think: &benchmark.Think{}, Finish: "stop"}},
	} {
		if d := cmp.Diff(c.want, benchmark.StreamedAssistantText(c.in, c.finish)); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
	}
}
