package contam

import (
	"slices"
	"testing"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/eval/benchmark"
)

// numericIndex holds Chinese items most of whose letters are digits and units,
// and one whose options are numbers.
func numericIndex(t *testing.T) *Index {
	t.Helper()
	item := func(n int, stem, answer string, options ...string) benchmark.Item {
		q := drydock.Question{Kind: drydock.Single, Stem: stem, Answer: []string{answer}}
		for i, o := range options {
			q.Options = append(q.Options, drydock.Option{Label: string(rune('A' + i)), Text: o})
		}
		return benchmark.Item{Index: n, Question: q}
	}
	ix, err := NewIndex([]benchmark.Item{
		item(0, "一台水泵转速1450r/min，流量36.5m3/h，扬程28.4m，效率0.72，则轴功率约为______kW。", "B", "2.91", "3.92", "4.93", "5.94"),
		item(1, "手提式泡沫灭火器的喷嘴有______个。", "A", "1", "2", "3"),
	}, benchmark.Ref{Name: "numbers", Revision: "1"}, Config{})
	if err != nil {
		t.Fatal(err)
	}
	return ix
}

// The same question with all its numbers changed is shown as such, however much
// of it is numbers.
func TestNumbersOnly(t *testing.T) {
	t.Parallel()
	s := numericIndex(t).Scanner()
	for _, c := range []struct {
		text string
		item int
		want Verdict
	}{
		{"一台水泵转速1450r/min，流量36.5m3/h，扬程28.4m，效率0.72，则轴功率约为______kW。\nA. 2.91\nB. 3.92\nC. 4.93\nD. 5.94", 0, Exact},
		{"一台水泵转速2961r/min，流量71.2m3/h，扬程93.7m，效率0.85，则轴功率约为______kW。\nA. 3.68\nB. 6.11\nC. 7.07\nD. 8.26", 0, NumericVariant},
		{"一台水泵转速2961r/min，轴承温度71.2度，油压93.7kPa，则轴功率约为______kW。\nA. 3.68\nB. 6.11", 0, ""},
		{"手提式泡沫灭火器的喷嘴有______个。\nA. 1\nB. 2\nC. 3", 1, Exact},
		{"手提式泡沫灭火器的喷嘴有______个。\nA. 3\nB. 1\nC. 2", 1, Near},
		{"手提式泡沫灭火器的喷嘴有______个。\nA. 4\nB. 5\nC. 6", 1, NumericVariant},
	} {
		found, err := s.Row(row(c.text))
		if err != nil {
			t.Fatal(err)
		}
		if got := verdict(found, c.item); got != c.want {
			t.Errorf("%q: verdict %q, want %q", c.text, got, c.want)
		}
	}
}

// Numerals of any kind are the number they are worth.
func TestPlainNumbers(t *testing.T) {
	t.Parallel()
	ix := numericIndex(t)
	for text, want := range map[string]string{
		"三": "3", "二十七": "27", "十五分": "15分", "一百二十": "120", "一百零五": "105", "二〇二六": "2026", "30": "30", "十": "10", "百分": "百分",
		"两": "2", "一二三四五六七十": "123456710",
	} {
		got, as := ix.numbers.plain(lettersOf(ix, text)), lettersOf(ix, want)
		if !slices.Equal(got, as) {
			t.Errorf("%s: letters %v, want those of %s, %v", text, got, want, as)
		}
	}
}
