package benchmark_test

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/eval/benchmark"
)

func itemOf(key string, options ...string) benchmark.Item {
	it := benchmark.Item{ID: "7", Index: 7, Gold: []string{key}, Question: drydock.Question{Kind: drydock.Single, Stem: "q"}}
	for i, o := range options {
		label := string(rune('A' + i))
		it.Question.Options = append(it.Question.Options, drydock.Option{Label: label, Text: o})
		if label == key {
			it.Question.Answer = []string{label}
		}
	}
	return it
}

// Whatever the seed, nothing is lost, the key goes with its option, and the item
// asked about is right exactly when the original one is.
func TestPermuteKeepsTheQuestion(t *testing.T) {
	t.Parallel()
	b := maritime(t)
	rapid.Check(t, func(t *rapid.T) {
		options := rapid.SliceOfN(rapid.StringMatching(`[a-z红绿白0-9]{1,8}`), 2, 4).Draw(t, "options")
		key := rapid.IntRange(0, len(options)-1).Draw(t, "key")
		it := itemOf(string(rune('A'+key)), options...)
		seed := rapid.IntRange(-3, 100).Draw(t, "seed")
		p := benchmark.Permute(it, seed)
		if again := benchmark.Permute(it, seed); !slices.Equal(p.Order, again.Order) {
			t.Fatalf("seed %d: %v, then %v", seed, p.Order, again.Order)
		}
		for to, from := range p.Order {
			if p.Item.Question.Options[to].Text != options[from] {
				t.Fatalf("place %d holds %q, not %q", to, p.Item.Question.Options[to].Text, options[from])
			}
			letter := string(rune('A' + to))
			g := b.Grade(p.Item, benchmark.Reply{Text: "[" + letter + "]"})
			if (g.Verdict == benchmark.Correct) != (from == key) {
				t.Fatalf("key %d, answer %s which was %d: %s", key, letter, from, g.Verdict)
			}
		}
		if sorted := slices.Sorted(slices.Values(p.Order)); !slices.Equal(sorted, benchmark.Permute(it, 0).Order) {
			t.Fatalf("order %v", p.Order)
		}
		if it.Gold[0] != string(rune('A'+key)) || it.Question.Options[0].Text != options[0] {
			t.Fatal("the item itself was changed")
		}
	})
}

// Over as many seeds as options, every option stands in every place once.
func TestPermuteIsBalanced(t *testing.T) {
	t.Parallel()
	it := itemOf("C", "红", "绿", "白", "黄")
	for _, first := range []int{0, 4, 8, 40} {
		var seen [4][4]int
		for seed := first; seed < first+4; seed++ {
			for to, from := range benchmark.Permute(it, seed).Order {
				seen[to][from]++
			}
		}
		if seen != [4][4]int{{1, 1, 1, 1}, {1, 1, 1, 1}, {1, 1, 1, 1}, {1, 1, 1, 1}} {
			t.Errorf("seeds from %d: %v", first, seen)
		}
	}
	if slices.Equal(benchmark.Permute(it, 4).Order, benchmark.Permute(it, 0).Order) && slices.Equal(benchmark.Permute(it, 8).Order, benchmark.Permute(it, 0).Order) {
		t.Error("no round is shuffled")
	}
}

func TestPermuteBound(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		options []string
		bound   bool
		moves   int // options that ever leave their place
	}{
		"free":              {[]string{"红", "绿", "白"}, false, 3},
		"last of all":       {[]string{"红", "绿", "以上都对"}, true, 2},
		"english":           {[]string{"red", "green", "white", "All of the above"}, true, 3},
		"in the middle":     {[]string{"红", "以上均不对", "白"}, true, 0},
		"letters joined":    {[]string{"红", "绿", "A和B"}, true, 0},
		"letters judged":    {[]string{"红", "绿", "AB都对"}, true, 0},
		"letters with plus": {[]string{"red", "green", "blue", "A + C"}, true, 0},
		"and":               {[]string{"red", "green", "both A and B"}, true, 0},
		"currents":          {[]string{"AC", "DC"}, false, 2},
		"grades":            {[]string{"A级", "B级", "C级"}, false, 3},
		"not our letters":   {[]string{"X和Y", "M & N"}, false, 2},
		"a word":            {[]string{"CAB, BAD", "x"}, false, 2},
	} {
		moved := map[int]bool{}
		var bound bool
		for seed := range 24 {
			p := benchmark.Permute(itemOf("A", c.options...), seed)
			bound = p.Bound
			for to, from := range p.Order {
				if to != from {
					moved[from] = true
				}
			}
		}
		if bound != c.bound || len(moved) != c.moves {
			t.Errorf("%s: bound %t, %d options move", name, bound, len(moved))
		}
	}
}

func TestChooseByLogprob(t *testing.T) {
	t.Parallel()
	q := itemOf("B", "红", "绿", "白").Question
	tok := func(s string, l float64) benchmark.TokenLogprob { return benchmark.TokenLogprob{Token: s, Logprob: l} }
	for name, c := range map[string]struct {
		places [][]benchmark.TokenLogprob
		letter string
		at     int
	}{
		"nothing":               {nil, "", -1},
		"no letters":            {[][]benchmark.TokenLogprob{{tok("我", -0.1)}}, "", -1},
		"the first place":       {[][]benchmark.TokenLogprob{{tok("B", -0.2), tok("A", -2)}}, "B", 0},
		"after the bracket":     {[][]benchmark.TokenLogprob{{tok("[", -0.01), tok("A", -5)}, {tok("C", -0.3), tok("A", -1.5)}, {tok("]", 0)}}, "C", 1},
		"spellings are summed":  {[][]benchmark.TokenLogprob{{tok("A", -1), tok("B", -1.3), tok(" B", -1.3)}}, "B", 0},
		"not offered":           {[][]benchmark.TokenLogprob{{tok("D", -0.1), tok("A", -3)}}, "A", 0},
		"letters only below":    {[][]benchmark.TokenLogprob{{tok("因", -0.1), tok("C", -3)}, {tok("为", -0.1)}}, "C", 0},
		"a tie takes the first": {[][]benchmark.TokenLogprob{{tok("C", -1), tok("A", -1)}}, "A", 0},
		"not a number":          {[][]benchmark.TokenLogprob{{tok("C", math.NaN()), tok("A", -1)}}, "A", 0},
	} {
		got := benchmark.ChooseByLogprob(&q, c.places)
		if got.Letter != c.letter || got.Position != c.at || len(got.Logprobs) != 3 || got.Margin < 0 {
			t.Errorf("%s: %+v", name, got)
		}
	}
	sum := benchmark.ChooseByLogprob(&q, [][]benchmark.TokenLogprob{{tok("B", math.Log(.25)), tok("[B", math.Log(.25))}})
	if math.Abs(sum.Logprobs[1]-math.Log(.5)) > 1e-12 || !math.IsInf(sum.Margin, 1) {
		t.Errorf("%+v", sum)
	}
	g := maritime(t).Grade(itemOf("B", "红", "绿", "白"), benchmark.Reply{Text: "[A]", Choice: "B"})
	if g.Verdict != benchmark.Correct || g.Rule != benchmark.RuleLogprob || g.Extracted != "B" || g.Other != "B" {
		t.Errorf("%+v", g)
	}
}
