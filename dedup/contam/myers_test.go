package contam

import (
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

// someLetters draws texts over so few letters that they often match.
func someLetters(t *rapid.T, most int, name string) []letter {
	return rapid.SliceOfN(rapid.SampledFrom([]letter{1, 2, 3, 27, firstOwn, firstOwn + 1, foreign}), 0, most).Draw(t, name)
}

// The one-word distance is the one that rows of numbers give.
func TestDistance(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a, b := someLetters(t, 90, "a"), someLetters(t, 90, "b")
		if got, want := distance(a, b), distanceByRows(a, b); got != want {
			t.Errorf("distance is %d, want %d", got, want)
		}
	})
}

// Two patterns searched at once are as far, and where, each is by itself.
func TestLeast(t *testing.T) {
	t.Parallel()
	m := newMatcher(lastOwn)
	rapid.Check(t, func(t *rapid.T) {
		p, q := someLetters(t, maxPiece, "p"), someLetters(t, maxPiece, "q")
		if len(p) == 0 || len(q) == 0 {
			return
		}
		text := someLetters(t, 200, "text")
		var wantA, wantB place
		wantA.dist, wantA.end = m.search(p, text)
		wantB.dist, wantB.end = m.search(q, text)
		if a, b := m.least(p, q, text); a != wantA.dist || b != wantB.dist {
			t.Errorf("least gives %d and %d, search %d and %d", a, b, wantA.dist, wantB.dist)
		}
		if a, b := m.searchTwo(p, q, text); a != wantA || b != wantB {
			t.Errorf("searchTwo gives %+v and %+v, search %+v and %+v", a, b, wantA, wantB)
		}
	})
}

// The longest run found by four letters at a time is the longest there is.
func TestLongestRun(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		ls, text := someLetters(t, 60, "ls"), someLetters(t, 120, "text")
		want := 0
		for i := range ls {
			for j := range text {
				n := 0
				for i+n < len(ls) && j+n < len(text) && ls[i+n] == text[j+n] && ls[i+n] != foreign {
					n++
				}
				want = max(want, n)
			}
		}
		var x runIndex
		x.reset(text)
		got := x.longest(ls, 0)
		if want < runLen {
			want = 0
		}
		if got != want {
			t.Errorf("longest run is %d, want %d", got, want)
		}
	})
}

func BenchmarkMatcher(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 2))
	some := func(n int) []letter {
		out := make([]letter, n)
		for i := range out {
			out[i] = firstA + letter(rng.IntN(26))
		}
		return out
	}
	p, q, text := some(50), some(40), some(500)
	m := newMatcher(lastOwn)
	b.Run("search", func(b *testing.B) {
		for b.Loop() {
			m.search(p, text)
		}
	})
	b.Run("least", func(b *testing.B) {
		for b.Loop() {
			m.least(p, q, text)
		}
	})
}
