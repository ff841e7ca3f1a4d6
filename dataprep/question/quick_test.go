package question

import (
	"testing"
	"unicode"

	"github.com/drydock-ml/drydock"
)

// TestQuickLooks holds the quick looks that save the slow ones to what they stand
// for.
func TestQuickLooks(t *testing.T) {
	t.Parallel()
	for _, w := range figurePhrases {
		if !figureWordIn("x " + w + " y") {
			t.Errorf("%q is among the phrases, and no word of figureWordIn is in it", w)
		}
	}
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if got, want := lowerRune(r), unicode.ToLower(r); got != want {
			t.Errorf("lowerRune(%U) = %U, want %U", r, got, want)
		}
		s := string(r)
		p := keyScanner{s: s}
		p.row.runs = []keyRun{{from: 1, to: 1, at: drydock.Locator{Line: 1}}} // as behind a number
		if p.token() && !startsToken(s) {
			t.Errorf("%q is a token, and startsToken says it begins none", s)
		}
		if n, _ := roman(s+"、甲", 0); n == 0 && r >= 'Ⅰ' && r <= 'Ⅻ' {
			t.Errorf("%q is no numeral", s)
		}
		if _, _, ok := lastBracket("（甲" + s); ok != (r == '）' || r == ')') {
			t.Errorf("lastBracket takes %q for the end: %v", s, ok)
		}
	}
}
