package contam

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// mixedText draws text in which stretches of the fixture's items stand among
// words, ideographs, digits, marks and tags.
func mixedText(t *rapid.T, items []string) string {
	pieces := append([]string{
		" ", "\n", "，", "。", "the vessel", "SOLAS", "20", "m", "a", "é", "＜br＞", "<br>", "&nbsp;", "ｖｅｓｓｅｌ", "船", "舶", "字",
		"whichofthefollowing", "“", "’", "\u200b", "\xff", "\\n", "1.5", "鑱", "𠀀",
	}, items...)
	n := rapid.IntRange(0, 40).Draw(t, "pieces")
	var b strings.Builder
	for range n {
		p := pieces[rapid.IntRange(0, len(pieces)-1).Draw(t, "piece")]
		lo := rapid.IntRange(0, len(p)).Draw(t, "from")
		b.WriteString(p[lo:])
	}
	return b.String()
}

// The scan finds the seeds that eachSeed names, and those only, in the order of
// their ends.
func TestScanIsEachSeed(t *testing.T) {
	t.Parallel()
	ix := testIndex(t)
	var items []string
	for _, it := range ix.sets[0].Items {
		items = append(items, it.Question.Stem)
	}
	s := ix.Scanner()
	rapid.Check(t, func(t *rapid.T) {
		s.begin()
		for range rapid.IntRange(1, 3).Draw(t, "fields") {
			s.addText([]byte(mixedText(t, items)))
		}
		var want []hit
		s.text.eachSeed(func(key uint64, end int) {
			if p := ix.seeds.find(key); p != nil && p.plan == 0 {
				want = append(want, hit{int32(end + 1), p.seed - 1})
			}
		})
		s.scan()
		byEnd := func(a, b hit) int { return int(a.end - b.end) }
		if !slices.IsSortedFunc(s.hits, byEnd) {
			t.Error("hits are not in order")
		}
		slices.SortStableFunc(want, byEnd)
		if !slices.Equal(want, s.hits) {
			t.Errorf("hits %v, want %v", s.hits, want)
		}
	})
}

// Where words begin does not depend on the path the text takes.
func TestStarts(t *testing.T) {
	t.Parallel()
	ix := testIndex(t)
	rapid.Check(t, func(t *rapid.T) {
		text := []byte(mixedText(t, nil))
		fast, slow := stream{}, stream{want: true}
		ix.alpha.feed(&fast, text)
		ix.alpha.feed(&slow, text)
		if !slices.Equal(fast.letters, slow.letters) || !slices.Equal(fast.starts, slow.starts) {
			t.Fatalf("fast %v %v\nslow %v %v", fast.letters, fast.starts, slow.letters, slow.starts)
		}
		for _, p := range fast.starts {
			if int(p) >= len(fast.letters) || fast.letters[p] >= latinEnd {
				t.Fatalf("no word begins at %d of %v", p, fast.letters)
			}
		}
	})
}

// hopeless never turns away what verify would take: on texts from copies to
// heavily damaged ones.
func TestHopeless(t *testing.T) {
	t.Parallel()
	ix := testIndex(t)
	s := ix.Scanner()
	rng := rand.New(rand.NewPCG(3, 4))
	turned, taken := 0, 0
	for range 300 {
		for n := range ix.items {
			it := &ix.items[n]
			q := &ix.sets[0].Items[n].Question
			text := q.Stem
			for _, o := range q.Options {
				if rng.IntN(4) > 0 {
					text += "\n" + o.Text
				}
			}
			s.begin()
			s.addText([]byte(damaged(rng, text, rng.Float64()*0.6)))
			for _, with := range []bool{false, true} {
				m := s.verify(it, s.text.letters, with)
				h := s.hopeless(it, s.text.letters, s.text.letters, with)
				if h && (m.same || m.shown) {
					t.Fatalf("item %d: hopeless, but %+v", n, m)
				}
				if h {
					turned++
				}
				if m.same {
					taken++
				}
			}
		}
	}
	if turned == 0 || taken == 0 {
		t.Errorf("turned away %d, taken %d", turned, taken)
	}
}

// damaged replaces a share of the characters.
func damaged(rng *rand.Rand, s string, share float64) string {
	r := []rune(s)
	for i := range r {
		if rng.Float64() < share {
			r[i] = r[rng.IntN(len(r))]
		}
	}
	if !utf8.ValidString(string(r)) {
		return s
	}
	return string(r)
}

// A row without a finding allocates nothing once the scanner's buffers have grown.
func TestRowAllocates(t *testing.T) {
	s := testIndex(t).Scanner()
	s.Break()
	line := row(strings.Repeat(proseBefore+"Keep the deck clear of lines. ", 20))
	n := testing.AllocsPerRun(20, func() {
		if found, err := s.Row(line); err != nil || len(found) > 0 {
			t.Fatal(found, err)
		}
	})
	if n > 0 {
		t.Errorf("%v allocations", n)
	}
}
