package bm25_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/drydock-ml/drydock/internal/bm25"
)

func docs(texts ...string) [][]string {
	var out [][]string
	for _, s := range texts {
		out = append(out, strings.Fields(s))
	}
	return out
}

func TestSearch(t *testing.T) {
	t.Parallel()
	s := bm25.New(docs("red green", "red red red", "blue", "", "green red")).Searcher()
	for _, c := range []struct {
		query string
		k     int
		want  []int
	}{
		{"blue", 9, []int{2}},
		{"green", 9, []int{0, 4}}, // equals in their order
		{"red", 9, []int{1, 0, 4}},
		{"red", 1, []int{1}},
		{"red green blue", 2, []int{2, 0}},
		{"white", 9, nil},
		{"", 9, nil},
	} {
		var got []int
		for _, h := range s.Search(strings.Fields(c.query), c.k) {
			got = append(got, h.Doc)
			if h.Score <= 0 {
				t.Errorf("%q: score %v", c.query, h.Score)
			}
		}
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%q (-want +got):\n%s", c.query, d)
		}
	}
	if got := bm25.New(nil).Searcher().Search([]string{"x"}, 3); len(got) != 0 {
		t.Errorf("an empty index finds %v", got)
	}
}

// The scores are those of the formula, computed the slow way, and a searcher
// that has been used gives what a new one gives.
func TestScores(t *testing.T) {
	t.Parallel()
	word := rapid.SampledFrom([]string{"a", "b", "c", "d", "e"})
	rapid.Check(t, func(t *rapid.T) {
		all := rapid.SliceOfN(rapid.SliceOfN(word, 0, 8), 1, 12).Draw(t, "docs")
		query := rapid.SliceOfN(word, 1, 6).Draw(t, "query")
		ix := bm25.New(all)
		s := ix.Searcher()
		s.Search([]string{"a", "b"}, 3)
		want := map[int]float64{}
		total := 0
		for _, d := range all {
			total += len(d)
		}
		mean := max(float64(total)/float64(len(all)), 1)
		seen := map[string]bool{}
		for _, q := range query {
			if seen[q] {
				continue
			}
			seen[q] = true
			df := 0.0
			for _, d := range all {
				if slices.Contains(d, q) {
					df++
				}
			}
			for i, d := range all {
				tf := 0.0
				for _, w := range d {
					if w == q {
						tf++
					}
				}
				if tf > 0 {
					idf := math.Log(1 + (float64(len(all))-df+0.5)/(df+0.5))
					want[i] += idf * tf * 2.2 / (tf + 1.2*(0.25+0.75*float64(len(d))/mean))
				}
			}
		}
		hits := s.Search(query, len(all))
		if len(hits) != len(want) {
			t.Fatalf("%d hits, want %d", len(hits), len(want))
		}
		for _, h := range hits {
			if math.Abs(h.Score-want[h.Doc]) > 1e-9 {
				t.Fatalf("document %d: %v, want %v", h.Doc, h.Score, want[h.Doc])
			}
		}
		if d := cmp.Diff(ix.Searcher().Search(query, len(all)), hits); d != "" {
			t.Fatal(d)
		}
	})
}

func BenchmarkSearch(b *testing.B) {
	var all [][]string
	for i := range 1300 {
		var d []string
		for j := range 40 {
			d = append(d, fmt.Sprint((i*31+j*j*7)%2000))
		}
		all = append(all, d)
	}
	s := bm25.New(all).Searcher()
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		s.Search(all[i%len(all)], 10)
	}
}
