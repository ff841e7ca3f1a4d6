package step_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/dataprep/step"
	"github.com/drydock-ml/drydock/dataprep/step/steptest"
	"github.com/drydock-ml/drydock/internal/meter"
	"github.com/drydock-ml/drydock/internal/spec"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func build[T any](t testing.TB, specs []spec.Spec[T], name, options string) T {
	t.Helper()
	s, ok := spec.Find(specs, name)
	if !ok {
		t.Fatalf("no step %q", name)
	}
	if options == "" {
		made, err := s.Default()
		if err != nil {
			t.Fatal(err)
		}
		return made
	}
	d := spec.Parse("drydock.yaml", []byte(options))
	made, ok := s.Build(d, d.Root, "step "+name)
	if !ok {
		t.Fatal(d.Findings())
	}
	return made
}

func TestContract(t *testing.T) {
	t.Parallel()
	for _, s := range step.Steps() {
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			steptest.Step(t, build(t, step.Steps(), s.Name, ""), nil)
		})
	}
}

func TestOptionsAreChecked(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, options, want string }{
		{"drop_short", "min_runes: 0", "min_runes must be at least 1"},
		{"drop_short", "min_runs: 3", `did you mean "min_runes"`},
		{"shuffle_options", "seed: -1", "seed must be a whole number"},
	} {
		s, _ := spec.Find(step.Steps(), c.name)
		d := spec.Parse("drydock.yaml", []byte(c.options))
		if _, ok := s.Build(d, d.Root, "step "+c.name); ok {
			t.Errorf("%s with %s was built", c.name, c.options)
			continue
		}
		e := d.Findings()[0]
		if got := e.Error() + strings.Join(e.Hints(0), " "); !strings.Contains(got, c.want) {
			t.Errorf("%s: %s, want %q", c.options, got, c.want)
		}
	}
	p, _ := spec.Find(step.Parsers(), "split_sections")
	d := spec.Parse("drydock.yaml", []byte("max_runes: 3"))
	if _, ok := p.Build(d, d.Root, "step split_sections"); ok {
		t.Error("max_runes 3 was taken")
	}
}

func run(t testing.TB, s drydock.Step, in ...*drydock.Record) ([]*drydock.Record, []drydock.Drop) {
	t.Helper()
	for i, r := range in {
		r.ID = drydock.NewID("t", "f", fmt.Sprint(i))
	}
	out, dropped, err := s.Do(context.Background(), in)
	if err != nil {
		t.Fatal(err)
	}
	return out, dropped
}

func choice(answer string, texts ...string) *drydock.Question {
	q := &drydock.Question{Kind: drydock.Single, Stem: "灯号为？", Answer: []string{answer}}
	for i, s := range texts {
		q.Options = append(q.Options, drydock.Option{Label: string(rune('A' + i)), Text: s})
	}
	return q
}

func TestDropShort(t *testing.T) {
	t.Parallel()
	s := build(t, step.Steps(), "drop_short", "min_runes: 5")
	_, dropped := run(t, s,
		&drydock.Record{Passage: &drydock.Passage{Text: "一二三四"}},
		&drydock.Record{Passage: &drydock.Passage{Text: "一 二\n三 四\t"}},
		&drydock.Record{Passage: &drydock.Passage{Text: "一二三四五"}},
		&drydock.Record{Question: choice("A", "红", "白")}, // stem 4 + options 2
		&drydock.Record{Chat: &drydock.Chat{Messages: []drydock.Message{{Content: "ab"}, {Content: "cd"}}}},
	)
	var got []string
	for _, d := range dropped {
		got = append(got, d.Reason+" "+d.Detail)
	}
	want := []string{"too_short 4 characters, 5 wanted", "too_short 4 characters, 5 wanted", "too_short 4 characters, 5 wanted"}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestDropDuplicateOptions(t *testing.T) {
	t.Parallel()
	s := build(t, step.Steps(), "drop_duplicate_options", "")
	for _, c := range []struct {
		options []string
		dropped bool
	}{
		{[]string{"左舷", "右舷"}, false},
		{[]string{"左舷", "左舷"}, true},
		{[]string{"左舷", "右舷", " 左 舷。"}, true},
		{[]string{"Starboard", "port", "starboard"}, true},
		{[]string{"甲板機艙", "甲板机舱"}, true},
		{[]string{"5 mW", "5 MW"}, false},
		{[]string{"10²", "102"}, false},
		{[]string{"１０ 米", "10米"}, true},
		{[]string{"1.2", "12", "1:2"}, false},
		{[]string{"· —", "— ·"}, false},
		{[]string{"——", "——"}, true},
		{[]string{"", ""}, false},
		{[]string{"＜", "＞"}, false},
	} {
		_, dropped := run(t, s, &drydock.Record{Question: choice("A", c.options...)})
		if (len(dropped) == 1) != c.dropped {
			t.Errorf("%q: dropped %v", c.options, dropped)
		}
	}
}

func TestShuffleOptionsKeepsTheRightText(t *testing.T) {
	t.Parallel()
	s := build(t, step.Steps(), "shuffle_options", "seed: 3")
	moved := 0
	for i := range 200 {
		q := choice("B", "保向保速", "让路", "停车", "鸣笛")
		r := &drydock.Record{Question: q}
		r.ID = drydock.NewID("t", "f", fmt.Sprint(i))
		out, _, err := s.Do(t.Context(), []*drydock.Record{r})
		if err != nil {
			t.Fatal(err)
		}
		got := out[0].Question
		for _, o := range got.Options {
			if o.Label == got.Answer[0] && o.Text != "让路" {
				t.Fatalf("answer %v of %v", got.Answer, got.Options)
			}
		}
		if got.Answer[0] != "B" {
			moved++
		}
	}
	if moved < 120 || moved > 180 { // 150 expected
		t.Errorf("%d of 200 answers moved", moved)
	}
	q := choice("D", "甲", "乙", "丙", "以上都对")
	out, _ := run(t, s, &drydock.Record{Question: q})
	if out[0].Question.Answer[0] != "D" {
		t.Error("a positional option did not pin the order")
	}
}

func TestTidyText(t *testing.T) {
	t.Parallel()
	s := build(t, step.Steps(), "tidy_text", "")
	for _, c := range []struct{ in, want string }{
		{"  船舶　应当\u00a0减速  ", "船舶 应当 减速"},
		{"a\r\n\r\n\r\n\r\nb\rc", "a\n\nb\nc"},
		{"\ufeff船\u200b舶\u00ad\u2060", "船舶"},
		{"e\ufb03cient \ufb01re", "efficient fire"},
		{"⽤⽔灭⽕，⻔⻓⻛", "用水灭火，门长风"},
		{"a\x00b\x07c\x7f", "abc"},
		{"10²≠102，½，H₂O，①Ⅳ．Ａ", "10²≠102，½，H₂O，①Ⅳ．Ａ"},
		{"舶\u2028船", "舶\n船"},
		{"👨\u200d👩\u200d👧", "👨\u200d👩\u200d👧"},
		{"（　　）____", "（ ）____"},
		{"", ""},
		{"臺灣後裏", "臺灣後裏"},
	} {
		out, _ := run(t, s, &drydock.Record{Passage: &drydock.Passage{Text: c.in}})
		if got := out[0].Passage.Text; got != c.want {
			t.Errorf("%q → %q, want %q", c.in, got, c.want)
		}
	}
	out, _ := run(t, s, &drydock.Record{Chat: &drydock.Chat{Messages: []drydock.Message{{Role: "user", Content: "if x:\r\n    y()\u200b"}}}})
	if got := out[0].Chat.Messages[0].Content; got != "if x:\n    y()" {
		t.Errorf("a conversation's spaces must stay: %q", got)
	}
}

// What is tidy stays as it is, and no letter, digit or sign is lost.
func TestTidyTextProperties(t *testing.T) {
	t.Parallel()
	s := build(t, step.Steps(), "tidy_text", "")
	rapid.Check(t, func(rt *rapid.T) {
		in := rapid.StringOf(rapid.OneOf(rapid.Rune(), rapid.SampledFrom([]rune(" 　\t\r\n\u200b\ufeffﬁ⽤⻔船Ａa1。\x01")))).Draw(rt, "text")
		out, _ := run(t, s, &drydock.Record{Passage: &drydock.Passage{Text: in}})
		once := out[0].Passage.Text
		out, _ = run(t, s, &drydock.Record{Passage: &drydock.Passage{Text: once}})
		if twice := out[0].Passage.Text; twice != once {
			rt.Fatalf("%q → %q → %q", in, once, twice)
		}
		for _, must := range []string{"船", "Ａ", "a", "1", "。"} {
			if strings.Count(in, must) != strings.Count(once, must) {
				rt.Fatalf("%q lost %q: %q", in, must, once)
			}
		}
	})
}

func BenchmarkTidyText(b *testing.B) {
	s := build(b, step.Steps(), "tidy_text", "")
	text := strings.Repeat("本规则条款适用于在公海和连接于公海可供海船航行的一切水域中的一切船舶。", 20)
	for name, in := range map[string]string{"clean": text, "lines": strings.ReplaceAll(text, "。", "。\r\n　　")} {
		b.Run(name, func(b *testing.B) {
			r := []*drydock.Record{{Passage: &drydock.Passage{}}}
			defer meter.CPU(b, len(in))()
			for b.Loop() {
				r[0].Passage.Text = in
				if _, _, err := s.Do(b.Context(), r); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkDropDuplicateOptions(b *testing.B) {
	s := build(b, step.Steps(), "drop_duplicate_options", "")
	r := []*drydock.Record{{Question: choice("A", "保持航向和航速", "尽可能让开他船的航路", "立即停车", "鸣放至少五声短而急的号笛")}}
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := s.Do(b.Context(), r); err != nil {
			b.Fatal(err)
		}
	}
}
