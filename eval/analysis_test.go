package eval_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/eval"
	"github.com/drydock-ml/drydock/eval/benchmark"
	"github.com/drydock-ml/drydock/internal/fail"
)

// scored grades one answer for each of n four-option items whose keys go round
// A, B, C, D; answer gives the letter for an item, "" for none.
func scored(t *testing.T, n int, answer func(i int, key string) string, tag func(i int) string) eval.Summary {
	t.Helper()
	b, err := benchmark.Lookup("maritime_bench")
	if err != nil {
		t.Fatal(err)
	}
	var items []benchmark.Item
	var rows strings.Builder
	for i := range n {
		key := string(rune('A' + i%4))
		it := benchmark.Item{ID: fmt.Sprint("q", i), Index: i, Gold: []string{key}}
		it.Question = drydock.Question{Kind: drydock.Single, Stem: fmt.Sprintf("第%d题______。", i), Answer: []string{key}}
		for j, text := range []string{"甲", "乙", "丙", "丁"} {
			it.Question.Options = append(it.Question.Options, drydock.Option{Label: string(rune('A' + j)), Text: text})
		}
		if tag != nil {
			it.Tags = map[string]string{"subject": tag(i)}
		}
		items = append(items, it)
		out := "我不确定"
		if l := answer(i, key); l != "" {
			out = "[" + l + "]"
		}
		fmt.Fprintf(&rows, "{\"index\":%d,\"output\":%q}\n", i, out)
	}
	s, err := eval.Score(eval.ScoreJob{Benchmark: b, Items: items, Name: "rows.jsonl", Data: []byte(rows.String())})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestAnalyzeLetters(t *testing.T) {
	t.Parallel()
	// right three times in four; every wrong answer is D, or A where D is right
	leaning := func(i int, key string) string {
		switch {
		case i%16 < 12:
			return key
		case key == "D":
			return "A"
		}
		return "D"
	}
	s := scored(t, 640, leaning, nil)
	a := s.Analyze(nil)
	want := [][]int{{120, 0, 0, 40, 0}, {0, 120, 0, 40, 0}, {0, 0, 120, 40, 0}, {40, 0, 0, 120, 0}}
	if d := cmp.Diff(want, a.Letters.N); d != "" {
		t.Errorf("confusion: %s", d)
	}
	if d := cmp.Diff([]string{"A", "B", "C", "D", ""}, a.Letters.Answered); d != "" {
		t.Error(d)
	}
	b := a.Letters.Bias
	// 160 wrong answers, 40 expected of each letter: 120 of D, 40 of A. A count has
	// the variance 120·⅓·⅔, which is 8/9 of that of one urn with four letters.
	if b.Wrong != 160 || b.Excess["D"] != 80 || b.Excess["B"] != -40 || b.DF != 3 || math.Abs(b.ChiSquare-(160+40+40)*9.0/8) > 1e-6 || b.PValue > 1e-10 {
		t.Errorf("%+v", b)
	}
	spread := func(i int, key string) string {
		if i%16 < 12 {
			return key
		}
		return string("ABCD"[(strings.Index("ABCD", key)+1+i/16%3)%4])
	}
	s = scored(t, 640, spread, nil)
	if b := s.Analyze(nil).Letters.Bias; b.PValue < 0.5 {
		t.Errorf("an even spread: %+v", b)
	}
	s = scored(t, 8, func(int, string) string { return "" }, nil)
	if a := s.Analyze(nil); a.Letters.Bias.PValue != 1 || a.Letters.N[0][len(a.Letters.N[0])-1] != 2 {
		t.Errorf("no letter at all: %+v", a.Letters)
	}
}

func TestAnalyzeSubjects(t *testing.T) {
	t.Parallel()
	right := func(i int, key string) string {
		if i/10%2 == 0 {
			return key
		}
		return "" // every other subject is all wrong
	}
	tens := func(i int) string { return fmt.Sprint("科目", i/10) }
	s := scored(t, 100, right, tens)
	a := s.Analyze(nil)
	if len(a.Subjects) != 10 || a.Subjects[0].Accuracy != 1 || a.Subjects[1].Accuracy != 0 || a.Subjects[0].N != 10 || a.Unnamed != 0 {
		t.Errorf("%+v", a.Subjects)
	}
	if a.Grouped != "subject" || a.Grouping == nil || a.Grouping[1]-a.Grouping[0] < 0.7 {
		t.Errorf("ten subjects that go one way each are ten observations: %v", a.Grouping)
	}
	s = scored(t, 100, right, func(i int) string { return fmt.Sprint("科目", i/50) })
	if a := s.Analyze(nil); a.Grouping != nil || len(a.Subjects) != 2 {
		t.Errorf("two groups say nothing about groups: %v", a.Grouping)
	}
	s = scored(t, 100, func(_ int, key string) string { return key }, tens)
	if a := s.Analyze(nil); a.Grouping != nil {
		t.Errorf("all right: an interval without width, %v", *a.Grouping)
	}
	s = scored(t, 100, right, tens)
	// the file speaks first, by id or by index
	a = s.Analyze(eval.Subjects{"q0": "值班", "1": "值班"})
	if len(a.Subjects) != 11 || a.Unmatched != 0 {
		t.Errorf("%+v", a)
	}
	if a = s.Analyze(eval.Subjects{"0": "值班", "100": "值班", "q100": "值班"}); a.Unmatched != 2 {
		t.Errorf("%d rows name no item", a.Unmatched)
	}
	s = scored(t, 10, right, nil)
	if a := s.Analyze(nil); a.Grouped != "" || a.Grouping != nil || len(a.Subjects) != 0 || a.Unnamed != 0 {
		t.Errorf("no groups: %+v", a)
	}
}

func TestReadSubjects(t *testing.T) {
	t.Parallel()
	want := eval.Subjects{"0": "航海", "1": "轮机"}
	for name, data := range map[string]string{
		"csv":    "index,subject\n0,航海\n1,轮机\n",
		"bom":    "\ufeffIndex, Subject\r\n0, 航海\r\n1, 轮机\r\n",
		"tsv":    "subject\tid\n航海\t0\n轮机\t1",
		"quoted": "index,note,subject\n0,\"a\nb\",航海\n1,,轮机\n",
		"jsonl":  "{\"index\":0,\"subject\":\"航海\"}\n\n{\"id\":\"1\",\"subject\":\"轮机\"}\n",
		"zh":     "题号,学科\n0,航海\n1,轮机\n",
		"number": "{\"id\":0,\"subject\":\"航海\"}\n{\"index\":1,\"id\":7,\"subject\":\"轮机\"}",
	} {
		got, err := eval.ReadSubjects(name, []byte(data))
		if err != nil || !cmp.Equal(want, got) {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
	for _, c := range []struct {
		data string
		line int
	}{
		{"", 1},
		{"a,b\n1,2\n", 1},
		{"index,subject\n0,航海\n0,轮机\n", 3},
		{"index,subject\n0,\n", 2},
		{"index,subject\n0,x,y\n", 2},
		{"{\"index\":0,\"subject\":\"x\"}\n{\n", 2},
		{"{\"subject\":\"x\"}\n", 1},
		{"index,subject\n0,\xba\xbd\xba\xa3\n", 2},
		{"index,subject\n", 1},
	} {
		_, err := eval.ReadSubjects("s.csv", []byte(c.data))
		all := fail.All(err)
		if len(all) != 1 || all[0].Where.Line != c.line || fail.Code(err) != 2 {
			t.Errorf("%q: %v (%+v)", c.data, err, all)
		}
	}
}

func FuzzReadSubjects(f *testing.F) {
	f.Add([]byte("index,subject\n0,航海\n"))
	f.Add([]byte("{\"index\":0,\"subject\":\"x\"}\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := eval.ReadSubjects("s", data)
		if err != nil && fail.Code(err) != 2 {
			t.Fatalf("%v", err)
		}
		for k, v := range s {
			if k == "" || v == "" {
				t.Fatalf("%q: %q", k, v)
			}
		}
	})
}
