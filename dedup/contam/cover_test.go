package contam

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// latinLetters draws letters of a small Latin alphabet, with some of none.
func latinLetters(t *rapid.T, most int, name string) []letter {
	return rapid.SliceOfN(rapid.SampledFrom([]letter{firstA, firstA + 1, firstA + 2, foreign, firstOwn}), 0, most).Draw(t, name)
}

// A piece finds the grams of Latin letters that the text holds, each where it
// stands in the piece.
func TestGramPiece(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p, text := latinLetters(t, maxPiece, "piece"), latinLetters(t, 100, "text")
		at := 0
		pieces, _ := gramPieces([]piece{{letters: p}}, &at)
		var want uint64
		for i := coverLen; i <= len(p); i++ {
			for j := coverLen; j <= len(text); j++ {
				if g := p[i-coverLen : i]; allLatin(g) && slices.Equal(g, text[j-coverLen:j]) {
					want |= 1 << (i - 1)
				}
			}
		}
		if got := pieces[0].in(text); got != want {
			t.Errorf("grams %b, want %b", got, want)
		}
	})
}

// A stem is covered where its marks say that it lies: in a copy, wherever that is in
// a long text, also when something stands in its middle; not elsewhere.
func TestCovered(t *testing.T) {
	t.Parallel()
	ix := testIndex(t)
	s := ix.Scanner()
	const item = 4 // in English
	stem := testItems[item].stem
	half := len(stem) / 2
	filler := strings.Repeat("The crew shall keep the decks dry, and report what they see to the officer of the watch. ", 20)
	for name, c := range map[string]struct {
		text  string
		want  bool
		whole bool
	}{
		"copy":           {stem, true, true},
		"copy in a text": {filler + stem + filler, true, true},
		"interrupted":    {filler + stem[:half] + filler[:100] + stem[half:] + filler, true, true},
		"half":           {filler + stem[:half] + filler, true, false},
		"other text":     {filler, false, false},
	} {
		s.begin()
		s.addText([]byte(c.text))
		s.scan()
		n := len(s.text.letters)
		var marks []mark
		for _, h := range s.hits {
			idf, posts := ix.seeds.of(h.seed)
			for _, p := range posts {
				if p.item() == item {
					marks = append(marks, markOf(h.end, idf, p))
				}
			}
		}
		if got := s.covered(item, marks, 0, n, false); got != c.want {
			t.Errorf("%s: covered %v, want %v", name, got, c.want)
		}
		if got := s.stemWhole(item, marks, 0, n); got != c.whole {
			t.Errorf("%s: whole %v, want %v", name, got, c.whole)
		}
	}
}

// The shifts of an item's marks are rising and apart, and every mark has one.
func TestShifts(t *testing.T) {
	t.Parallel()
	s := testIndex(t).Scanner()
	rapid.Check(t, func(t *rapid.T) {
		marks := rapid.SliceOf(rapid.Custom(func(t *rapid.T) mark {
			return mark{end: rapid.Int32Range(8, 2000).Draw(t, "end"), place: rapid.Int32Range(8, 200).Draw(t, "place")}
		})).Draw(t, "marks")
		by := s.shifts(marks, 0, 100)
		for i := 1; i < len(by); i++ {
			if by[i].lo <= by[i-1].hi+maxPiece {
				t.Errorf("shifts %v", by)
			}
		}
		for _, m := range marks {
			d := int(m.end - m.place)
			has := slices.ContainsFunc(by, func(s shift) bool { return s.lo <= d && d <= s.hi })
			if m.place <= 100 && !has {
				t.Errorf("mark %v has none of %v", m, by)
			}
		}
	})
}

// What lies near a shift is within the window, and none of it where the shift leads
// out of that.
func TestNear(t *testing.T) {
	t.Parallel()
	s := testIndex(t).Scanner()
	s.begin()
	s.addText([]byte(strings.Repeat("a", 100)))
	rapid.Check(t, func(t *rapid.T) {
		lo := rapid.IntRange(0, 100).Draw(t, "lo")
		hi := rapid.IntRange(lo, 100).Draw(t, "hi")
		from, d := rapid.IntRange(0, 200).Draw(t, "from"), rapid.IntRange(-200, 200).Draw(t, "shift")
		got := s.near(shift{d, d}, from, from+30, 4, lo, hi)
		if want := max(0, min(hi, d+from+34)-max(lo, d+from-4)); len(got) != want {
			t.Errorf("%d letters, want %d", len(got), want)
		}
	})
}

// Items in Chinese are not asked for grams.
func TestGramsOf(t *testing.T) {
	t.Parallel()
	ix := testIndex(t)
	for i := range ix.items {
		if have := ix.covers[i].grams > 0; have != ix.items[i].latin {
			t.Errorf("item %d: grams %v", i, have)
		}
	}
}
