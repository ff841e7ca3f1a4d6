package evalscope_test

import (
	"bytes"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/eval/benchmark"
	"github.com/drydock-ml/drydock/eval/evalscope"
	"github.com/drydock-ml/drydock/internal/msg"
)

func row(i int) string {
	return string(evalscope.AppendReview(nil, &evalscope.Review{Index: i, Input: "**User**: \n甲", Target: "A", Prediction: "[A]", Extracted: "A", Acc: 1, SampleID: i, GroupID: i}))
}

func prediction(i int) string {
	return string(evalscope.AppendPrediction(nil, &evalscope.Prediction{Index: i, Model: "m", Served: "m", ID: "0123abcd", Reply: benchmark.Reply{Text: "[A]", Finish: "stop"}}))
}

func TestReadNamesEveryBadLine(t *testing.T) {
	t.Parallel()
	type found struct {
		Code  string
		Line  int
		Index int
	}
	cut := strings.TrimSuffix(row(3), "\n")
	for name, c := range map[string]struct {
		data string
		kind evalscope.Kind
		rows []int
		want []found
	}{
		"whole, in any order": {row(2) + row(0) + row(1), evalscope.KindReviews, []int{2, 0, 1}, nil},
		"blank lines, CRLF":   {"\n" + strings.ReplaceAll(row(0), "\n", "\r\n") + "\n\n" + row(1), evalscope.KindReviews, []int{0, 1}, nil},
		"byte order mark":     {"\ufeff" + row(0), evalscope.KindReviews, []int{0}, nil},
		"torn":                {row(0) + cut[:len(cut)/2], evalscope.KindReviews, []int{0}, []found{{"torn", 2, -1}}},
		"no last line end":    {row(0) + cut, evalscope.KindReviews, []int{0, 3}, []found{{"no_final_newline", 2, 3}}},
		"two on one line":     {row(0) + cut + row(4) + row(5), evalscope.KindReviews, []int{0, 5}, []found{{"bad_json", 2, -1}}},
		"duplicates":          {row(1) + row(1) + row(2) + row(1), evalscope.KindReviews, []int{1, 2}, []found{{"duplicate", 2, 1}, {"duplicate", 4, 1}}},
		"mixed":               {prediction(0) + row(1), evalscope.KindPredictions, []int{0}, []found{{"mixed_kind", 2, 1}}},
		"no index":            {`{"output": "x"}` + "\n" + row(1), evalscope.KindReviews, []int{1}, []found{{"missing_field", 1, -1}}},
		"negative index":      {`{"index": -4, "output": "x"}` + "\n", evalscope.KindEmpty, nil, []found{{"missing_field", 1, -1}}},
		"no choices":          {`{"index": 3, "model_output": {"choices": []}}` + "\n", evalscope.KindEmpty, nil, []found{{"missing_field", 1, 3}}},
		"not text":            {row(0) + strings.Replace(row(1), "甲", "\xbc\xd7", 1), evalscope.KindReviews, []int{0}, []found{{"not_utf8", 2, -1}}},
		"torn inside a rune":  {row(0) + row(1)[:strings.Index(row(1), "甲")+1], evalscope.KindReviews, []int{0}, []found{{"torn", 2, -1}}},
		"an empty list":       {"[]\n", evalscope.KindEmpty, nil, nil},
		"a list":              {"[{\"index\":1,\"output\":\"x\"},\n 7, {\"index\":0,\n\"output\":\"y\"}]", evalscope.KindOutputs, []int{1, 0}, []found{{"bad_json", 2, -1}}},
		"a torn list":         {"[{\"index\":1,\"output\":\"x\"},\n {\"index\":0,\n\"outp", evalscope.KindOutputs, []int{1}, []found{{"torn", 3, -1}}},
		"conflict markers": {
			"<<<<<<< HEAD\n" + row(0) + "=======\n" + row(0) + ">>>>>>> main\n" + row(1), evalscope.KindReviews,
			[]int{0, 1},
			[]found{{"conflict_marker", 1, -1}, {"conflict_marker", 3, -1}, {"duplicate", 4, 0}, {"conflict_marker", 5, -1}},
		},
		"outputs": {`{"index": 1, "output": "<think>\nx\n</think>\n\n[C]"}`, evalscope.KindOutputs, []int{1}, []found{{"no_final_newline", 1, 1}}},
		"nothing": {"", evalscope.KindEmpty, nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			kind, rows, problems := evalscope.Read([]byte(c.data))
			var got []found
			for _, p := range problems {
				got = append(got, found{p.Code, p.Line, p.Index})
				if p.In(msg.En) == "" || p.In(msg.Zh) == "" || p.In(msg.En) == p.In(msg.Zh) {
					t.Errorf("problem speaks %q, %q", p.In(msg.En), p.In(msg.Zh))
				}
			}
			var indexes []int
			for _, r := range rows {
				indexes = append(indexes, r.Index)
			}
			if kind != c.kind {
				t.Errorf("kind %s, want %s", kind, c.kind)
			}
			if d := cmp.Diff(c.rows, indexes) + cmp.Diff(c.want, got); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

// What is written is read back the same, whatever the texts hold.
func TestPredictionRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String()
		p := evalscope.Prediction{
			Index: rapid.IntRange(0, 1<<40).Draw(t, "index"), Model: text.Draw(t, "model"), Served: text.Draw(t, "served"), ID: text.Draw(t, "id"),
			Reply: benchmark.Reply{Text: text.Draw(t, "text"), Finish: text.Draw(t, "finish"), Refused: rapid.Bool().Draw(t, "refused")},
			Error: text.Draw(t, "error"),
		}
		if rapid.Bool().Draw(t, "think") {
			p.Reply.Reasoning = text.Draw(t, "reasoning")
			p.Reply.Think = &benchmark.Think{Redacted: rapid.Bool().Draw(t, "redacted")}
			if rapid.Bool().Draw(t, "signed") {
				s := text.Draw(t, "signature")
				p.Reply.Think.Signature = &s
			}
		}
		if rapid.Bool().Draw(t, "usage") {
			n := rapid.IntRange(0, 99)
			p.Usage = &benchmark.Usage{Input: n.Draw(t, "in"), Output: n.Draw(t, "out"), Total: n.Draw(t, "total")}
			if rapid.Bool().Draw(t, "details") {
				a, b := n.Draw(t, "cached"), n.Draw(t, "thought")
				p.Usage.CacheRead, p.Usage.Reasoning = &a, &b
			}
		}
		line := evalscope.AppendPrediction(nil, &p)
		if n := strings.Count(string(line), "\n"); n != 1 {
			t.Fatalf("%d line ends in a row", n)
		}
		kind, rows, problems := evalscope.Read(line)
		if kind != evalscope.KindPredictions || len(rows) != 1 || len(problems) != 0 {
			t.Fatalf("%s, %d rows, %v", kind, len(rows), problems)
		}
		r := rows[0]
		got := evalscope.Prediction{Index: r.Index, Model: r.Model, Served: r.Served, ID: r.ID, Reply: *r.Reply, Usage: r.Usage, Error: r.Error}
		if d := cmp.Diff(p, got); d != "" {
			t.Fatalf("(-written +read):\n%s", d)
		}
	})
}

func TestReviewRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String()
		w := evalscope.Review{
			Index: rapid.IntRange(0, 1<<40).Draw(t, "index"), Input: text.Draw(t, "input"), Target: text.Draw(t, "target"),
			Acc: rapid.SampledFrom([]float64{0, 1, 0.5}).Draw(t, "acc"), Extracted: text.Draw(t, "extracted"), Prediction: text.Draw(t, "prediction"),
		}
		_, rows, problems := evalscope.Read(evalscope.AppendReview(nil, &w))
		if len(rows) != 1 || len(problems) != 0 {
			t.Fatalf("%d rows, %v", len(rows), problems)
		}
		r := rows[0]
		got := evalscope.Review{Index: r.Index, Input: r.Input, Target: r.Target, Acc: r.Acc, Extracted: r.Extracted, Prediction: r.Text}
		if d := cmp.Diff(w, got); d != "" || !r.Scored {
			t.Fatalf("(-written +read):\n%s", d)
		}
	})
}

func TestModelID(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a", 300)
	for in, want := range map[string]string{
		"qwen3-8b-sft": "qwen3-8b-sft", "Qwen/Qwen3-8B": "Qwen3-8B", "/models/x.y/": "untitled", "航海模型": "untitled", "builtin:lookup": "builtin_lookup",
		"a b__c": "a_b_c", "..x..": "x", "ｆｕｌｌ": "full", "é": "e", "模型v2": "v2", `C:\m`: "C_m", "": "untitled",
		long + ".bin": strings.Repeat("a", 251) + ".bin", long: strings.Repeat("a", 255),
	} {
		if got := evalscope.ModelID(in); got != want {
			t.Errorf("ModelID(%q) = %q, want %q", in, got, want)
		}
	}
}

// The eight counts of 1,888 at which multiplying and rounding would go up.
func TestRound4(t *testing.T) {
	t.Parallel()
	for k, want := range map[int]float64{59: 0.0312, 295: 0.1562, 531: 0.2812, 767: 0.4062, 1003: 0.5312, 1239: 0.6562, 1475: 0.7812, 1711: 0.9062, 553: 0.2929, 0: 0, 1888: 1} {
		if got := evalscope.Round4(float64(k) / 1888); got != want {
			t.Errorf("%d of 1888: %v, want %v", k, got, want)
		}
	}
}

func TestInput(t *testing.T) {
	t.Parallel()
	got := evalscope.Input([]drydock.Message{{Role: "system", Content: "s"}, {Role: "user", Content: "u"}})
	if want := "**System**: \ns\n\n**User**: \nu"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// Values a user may bring must stay what they are for a YAML reader.
func TestConfigQuotes(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"qwen3": "model: qwen3\n", "no": "model: 'no'\n", "nO": "model: nO\n", "1.5": "model: '1.5'\n", "1.5b": "model: 1.5b\n", "2026-01-02": "model: '2026-01-02'\n",
		"a: b": "model: 'a: b'\n", "- x": "model: '- x'\n", "it's: x": "model: 'it''s: x'\n", "</think>": "model: </think>\n", "<<": "model: '<<'\n",
		"a\n\nb c": "model: 'a\n\n\n  b c'\n", "\U0001F600": "model: \U0001F600\n",
		strings.Repeat("a b ", 21) + "x: y": "model: '" + strings.Repeat("a b ", 18) + "a\n  b " + strings.Repeat("a b ", 2) + "x: y'\n",
		"x\ty\u2028\ufeff\U0001F600\"\\":    `model: "x\ty\L\uFEFF\U0001F600\"\\"` + "\n", "builtin:lookup": "model: builtin:lookup\n", "@x": "model: '@x'\n",
	} {
		_, data := evalscope.Config{Model: in, Bench: "b"}.File()
		if !strings.Contains(string(data), "\n"+want) {
			t.Errorf("%q: %q is not in the file", in, want)
		}
	}
	a, _ := evalscope.Config{Model: "a"}.File()
	b, _ := evalscope.Config{Model: "b"}.File()
	if a == b || !strings.HasPrefix(a, "task_config_") || len(a) != len("task_config_123456.yaml") {
		t.Errorf("names %s, %s", a, b)
	}
}

func FuzzRead(f *testing.F) {
	documents := regexp.MustCompile(`^\s*(\[|\{\s*"[-+]?\d+"\s*:\s*\{)`)
	for _, s := range []string{
		row(0) + row(1), prediction(0), `{"index":1,"output":"x"}`, `{"index":0,"target":["B"],"messages":[{"role":"","content":null}],"sample_score":{"score":{"prediction":"x"}}}`, "{", `{"index":1e99}`, `{"index":0,"model_output":{"choices":[{"message":{"content":[{"type":"text"},7]}}]}}`,
		lmEvalGenerated, lmEvalChosen, openCompass, swiftInfer, ownResults, "[" + ownResults, `{"0":{"prediction":[]},"-1":{}}`, "<<<<<<<\n=======\n",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		kind, rows, problems := evalscope.Read(data)
		seen := map[int]bool{}
		for _, r := range rows {
			if seen[r.Index] || r.Line < 1 {
				t.Fatalf("index %d in line %d, twice or nowhere", r.Index, r.Line)
			}
			seen[r.Index] = true
		}
		if kind == evalscope.KindLMEval || documents.Match(bytes.TrimPrefix(data, []byte("\ufeff"))) {
			return // a filter's rows are told as one, a row of a document may take several lines
		}
		lines := 0
		for l := range strings.SplitSeq(strings.TrimPrefix(string(data), "\ufeff"), "\n") {
			if strings.Trim(l, " \t\r\n\v\f\u0085\u00a0") != "" {
				lines++
			}
		}
		bad := map[int]bool{}
		for _, p := range problems {
			if p.Code != evalscope.CodeNoNewline {
				bad[p.Line] = true
			}
		}
		// nothing disappears: a line is a row or a problem
		if len(rows)+len(bad) < lines {
			t.Fatalf("%d lines, %d rows, %d bad", lines, len(rows), len(bad))
		}
	})
}

func BenchmarkAppendReview(b *testing.B) {
	r := evalscope.Review{Index: 7, Input: "**User**: \n" + strings.Repeat("船舶", 130), Target: "B", Prediction: "[B]", Extracted: "B", Acc: 1}
	buf := evalscope.AppendReview(nil, &r)
	b.SetBytes(int64(len(buf)))
	b.ReportAllocs()
	for b.Loop() {
		buf = evalscope.AppendReview(buf[:0], &r)
	}
}

func BenchmarkRead(b *testing.B) {
	var data []byte
	for i := range 500 {
		data = append(data, row(i)...)
	}
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		evalscope.Read(data)
	}
}
