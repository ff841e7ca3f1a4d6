package format

import (
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/drydock-ml/drydock"
)

// A pdfText is the text of a row, raised and lowered parts written by signs, and
// its coloured parts.
type pdfText struct {
	Text  string
	Spans []drydock.Span
}

// Spaces between glyphs, in parts of the em beyond the row's usual spacing.
const (
	wordGap = 0.15 // between letters and digits
	tight   = 0.07 // and where PDFium sees a space, too
	mixGap  = 0.32 // between Chinese and Latin script, which programs set a quarter em apart
	hanGap  = 0.6  // between Chinese characters, which have no word spaces
	wideGap = 1.2  // a tab or the next column of options: two spaces
)

// text puts the glyphs of a row together.
func (w *row) text() pdfText {
	var t textMaker
	t.em, t.usual = w.size, w.usualGaps()
	for ri := range w.runs {
		r := &w.runs[ri]
		t.shift = r.shift
		for gi := range r.glyphs {
			t.add(&r.glyphs[gi])
		}
		t.endShift()
	}
	t.endColour()
	return pdfText{t.b.String(), t.spans}
}

// A textMaker strings the glyphs of a row together.
type textMaker struct {
	em    float64
	usual usualGaps

	b     strings.Builder
	last  *glyph
	space bool // white space stood after last

	shift int             // of the glyphs that come
	small strings.Builder // the raised or lowered glyphs so far

	spans []drydock.Span
	start int // of the coloured stretch that goes on
	ink   ink
}

func (t *textMaker) add(g *glyph) {
	if unicode.IsSpace(g.r) {
		t.space = true
		return
	}
	gap := ""
	if t.last != nil {
		gap = between(*t.last, *g, t.space, t.em, t.usual)
	}
	if t.shift != 0 {
		if t.small.Len() == 0 {
			t.b.WriteString(gap)
		} else {
			t.small.WriteString(gap)
		}
		t.small.WriteString(plainRune(g.r))
	} else {
		if g.ink != t.ink {
			t.endColour()
			t.ink, t.start = g.ink, t.b.Len()+len(gap)
		}
		t.b.WriteString(gap)
		t.b.WriteString(plainRune(g.r))
	}
	t.last, t.space = g, false
}

// endShift writes what was raised or lowered.
func (t *textMaker) endShift() {
	if t.small.Len() == 0 {
		return
	}
	if t.shift > 0 {
		t.b.WriteString(raisedAfter(t.b.String(), t.small.String()))
	} else {
		t.b.WriteString(lowered(t.small.String()))
	}
	t.small.Reset()
}

func (t *textMaker) endColour() {
	if t.ink.coloured() && t.b.Len() > t.start {
		t.spans = append(t.spans, t.ink.span(t.start, t.b.Len()))
	}
	t.ink, t.start = 0, t.b.Len()
}

// usualGaps are the distances of neighbours within words, between letters and
// between Chinese characters: above 0 in spaced-out type.
type usualGaps struct {
	letters, han float64
	padded       bool // a space stands after nearly every Chinese character
}

func (w *row) usualGaps() usualGaps {
	var letters, han []float64
	spaces := 0
	var last *glyph
	space := false
	for ri := range w.runs {
		for gi := range w.runs[ri].glyphs {
			g := &w.runs[ri].glyphs[gi]
			if unicode.IsSpace(g.r) {
				space = true
				continue
			}
			if last != nil && isLetter(last.r) && isLetter(g.r) {
				switch gap := g.x0 - last.x1; {
				case isWide(last.r) && isWide(g.r):
					han = append(han, gap)
					if space {
						spaces++
					}
				case gi > 0 && !space:
					letters = append(letters, gap)
				}
			}
			last, space = g, false
		}
	}
	const enough, most = 5, 0.8
	padded := len(han) >= enough && float64(spaces) >= most*float64(len(han))
	return usualGaps{inWords(letters, 0.5*w.size), inWords(han, 1.5*w.size), padded}
}

// inWords returns the gap that most neighbours have who stand in one word.
func inWords(gaps []float64, most float64) float64 {
	const enough, within = 4, 0.4 // fewer say nothing about the row
	if len(gaps) < enough {
		return 0
	}
	slices.Sort(gaps)
	return min(max(0, gaps[int(within*float64(len(gaps)))]), most)
}

func isLetter(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// between returns the white space between two neighbours: none, a word space,
// or two for a wide gap.
func between(a, b glyph, literal bool, em float64, usual usualGaps) string {
	need, within := wordGap, usual.letters
	switch {
	case isWide(a.r) && isWide(b.r):
		need, within = hanGap, usual.han
		literal = literal && !usual.padded
	case isWide(a.r) && !isLetter(a.r) || isWide(b.r) && !isLetter(b.r):
		need = hanGap // punctuation brings room of its own
	case isWide(a.r) || isWide(b.r):
		need = mixGap
	case b.spaced:
		need = tight
	}
	gap := (b.x0 - a.x1 - within) / em
	switch {
	case gap >= wideGap:
		return "  "
	case literal || gap >= need:
		return " "
	}
	return ""
}

// isWide reports whether a character fills a whole em and is written without
// word spaces: Chinese and Japanese script and their punctuation.
func isWide(r rune) bool {
	switch {
	case r < 0x2E80:
		return false
	case r <= 0x9FFF, // radicals, CJK punctuation, kana, ideographs
		r >= 0xF900 && r <= 0xFAFF,
		r >= 0xFE30 && r <= 0xFE4F,
		r >= 0xFF00 && r <= 0xFF60,
		r >= 0xFFE0 && r <= 0xFFE6,
		r >= 0x20000 && r <= 0x3FFFF:
		return true
	}
	return false
}

// plainRune returns the character a glyph stands for. Fonts often name an
// ideograph by the radical that looks the same, or two letters by their
// ligature; nobody types those.
func plainRune(r rune) string {
	switch {
	case r >= 0x2E80 && r <= 0x2FDF, r >= 0xF900 && r <= 0xFAFF, r >= 0xFB00 && r <= 0xFB06:
		return norm.NFKC.String(string(r))
	}
	return string(r)
}
