package contam

import (
	"testing"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/eval/benchmark"
)

// Exchanged neighbours leave a short stem hardly a seed, and options of two
// letters have none: the item is found all the same. A digit that has changed
// places with a letter makes no other number.
func TestSwapped(t *testing.T) {
	t.Parallel()
	item := func(n int, stem string, options ...string) benchmark.Item {
		q := drydock.Question{Kind: drydock.Single, Stem: stem, Answer: []string{"A"}}
		for i, o := range options {
			q.Options = append(q.Options, drydock.Option{Label: string(rune('A' + i)), Text: o})
		}
		return benchmark.Item{Index: n, Question: q}
	}
	ix, err := NewIndex([]benchmark.Item{
		item(0, "铸铁锚链的含锰量应小于______%。", "0.15", "0.21", "0.32", "0.48"),
		item(1, "蓄电池室内氢气浓度超过65%时，禁止______。", "明火", "通风", "照明", "充电"),
	}, benchmark.Ref{Name: "swaps", Revision: "1"}, Config{})
	if err != nil {
		t.Fatal(err)
	}
	s := ix.Scanner()
	for _, c := range []struct {
		text string
		item int
		want Verdict
	}{
		{"铸铁锚链的锰含量小应于______%。\nA. 0.15\nB. 0.21\nC. 0.32\nD. 0.48", 0, Near},
		{"蓄电池室内氢气浓度超6过5%时，禁止______。\nA. 明火\nB. 通风\nC. 照明\nD. 充电", 1, Near},
		{"蓄电池室内氢气浓度超过56%时，禁止______。\nA. 明火\nB. 通风\nC. 照明\nD. 充电", 1, NumericVariant},
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
