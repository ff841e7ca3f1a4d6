package contam

import (
	"strings"
	"testing"
)

// The share of a stem's grams counts what stands near its marks: all of it in a
// copy, wherever that lies in a long text, about a third of it elsewhere.
func TestCovered(t *testing.T) {
	t.Parallel()
	ix := testIndex(t)
	s := ix.Scanner()
	const item = 4 // in English
	stem := testItems[item].stem
	filler := strings.Repeat("The crew shall keep the decks dry, and report what they see to the officer of the watch. ", 20)
	for name, c := range map[string]struct {
		text        string
		least, most float64
	}{
		"copy":              {stem, 1, 1},
		"copy in a text":    {filler + stem + filler, 1, 1},
		"across two chunks": {filler[:1250] + stem + filler, 1, 1}, // its letters lie around the 1,024th
		"other text":        {filler, 0, 0.4},
	} {
		s.begin()
		s.addText([]byte(c.text))
		s.scan()
		s.cover.reset(len(s.text.letters))
		marks := []mark{{end: int32(len(s.text.letters) / 2), stem: 1}}
		if len(s.hits) > 0 {
			marks = nil
			for _, h := range s.hits {
				marks = append(marks, mark{end: h.end, stem: 1})
			}
		}
		share := s.covered(item, marks, 0, len(s.text.letters), false)
		if share < c.least || share > c.most {
			t.Errorf("%s: share %.2f, want %.2f to %.2f", name, share, c.least, c.most)
		}
	}
}

// Items in Chinese, and those with too few letters, are not asked for grams.
func TestGramsOf(t *testing.T) {
	t.Parallel()
	ix := testIndex(t)
	for i := range ix.items {
		it := &ix.items[i]
		if have, want := ix.covers[i].stem != nil, it.latin && it.stemLen >= coverMin+coverLen; have != want {
			t.Errorf("item %d: grams %v, want %v", i, have, want)
		}
	}
}
