package dedup_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/dedup"
)

// decide runs a Remover over one list of records and returns the pairs by the
// line of the removed or listed one.
func decide(t testing.TB, o dedup.Options, list []*drydock.Record) map[int]dedup.Pair {
	t.Helper()
	e := dedup.New(o)
	if err := e.Sketch(0)(t.Context(), list); err != nil {
		t.Fatal(err)
	}
	if err := e.Decide(t.Context()); err != nil {
		t.Fatal(err)
	}
	out := map[int]dedup.Pair{}
	for _, p := range e.Pairs() {
		out[p.Removed.At.Line] = p
	}
	return out
}

// TestQuality plants edited copies and twisted twins among texts of the same
// vocabulary and measures by kind, language and length what is found. The figures
// are those of docs/design/022-near-duplicates.md; -v prints them.
func TestQuality(t *testing.T) {
	t.Parallel()
	const n = 250
	for _, lang := range []string{"zh", "en"} {
		for _, size := range []int{30, 120, 900} {
			if lang == "en" {
				size = size * 5 / 2
			}
			t.Run(fmt.Sprint(lang, " ", size), func(t *testing.T) {
				t.Parallel()
				w := newWriter(uint64(size))
				write := w.zh
				if lang == "en" {
					write = w.en
				}
				for _, e := range edits {
					removed, listed, similar := plant(t, w, n, func() (string, string) { s := write(size); return s, e.do(w, s) })
					t.Logf("%-18s removed %.3f, listed %.3f, similarity %.3f", e.name, removed, listed, similar)
					if removed+listed < 0.99 {
						t.Errorf("%s: %.3f removed, %.3f listed: too few found", e.name, removed, listed)
					}
					if removed < 0.98 {
						t.Errorf("%s: %.3f removed: too few", e.name, removed)
					}
				}
				for _, tw := range twists {
					removed, listed, _ := plant(t, w, n/5, func() (string, string) { return tw.pair(w, lang, size) })
					t.Logf("%-18s removed %.3f, listed %.3f", tw.name, removed, listed)
					if removed > 0 || listed < 0.99 {
						t.Errorf("%s: %.3f removed, must be 0; %.3f listed", tw.name, removed, listed)
					}
				}
			})
		}
	}
}

// plant mixes n pairs and says how many of the second ones are removed for, or
// listed with, the first. Nothing else may be removed.
func plant(t *testing.T, w writer, n int, pair func() (string, string)) (removed, listed, similar float64) {
	t.Helper()
	var list []*drydock.Record
	twin := map[*drydock.Record]*drydock.Record{}
	for range n {
		a, b := pair()
		x, y := text(a), text(b)
		list = append(list, x, y)
		twin[x], twin[y] = y, x
	}
	rand.New(rand.NewPCG(1, 2)).Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	found := decide(t, dedup.Options{Threshold: dedup.DefaultThreshold}, records(0, list))
	for i, r := range list {
		p, ok := found[i+1]
		if !ok {
			continue
		}
		if list[p.Kept.At.Line-1] != twin[r] {
			if !p.Listed {
				t.Errorf("removed for a stranger: %q, %q", r.Passage.Text, list[p.Kept.At.Line-1].Passage.Text)
			}
			continue
		}
		similar += p.Similarity
		if p.Listed {
			listed++
		} else {
			removed++
		}
	}
	similar /= max(1, removed+listed)
	return removed / float64(n), listed / float64(n), similar
}
