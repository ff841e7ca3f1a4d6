package textnorm

import (
	"strings"
	"sync"
	"unicode/utf8"

	"golang.org/x/text/encoding/traditionalchinese"
)

// Traditional returns s in traditional characters, one for one: the simplified
// forms of the folding table are turned back. Where several traditional
// characters share a simplified one, the first in Big5's list of common
// characters is taken, which is the one with the fewest strokes; a character
// that is common in traditional text as it stands (后 里 干) stays. So this is
// what a converter without a dictionary of phrases writes. Folding undoes it.
func Traditional(s string) string {
	back := traditional()
	return strings.Map(func(r rune) rune {
		if t, ok := back[r]; ok {
			return t
		}
		return r
	}, s)
}

var traditional = sync.OnceValue(func() map[rune]rune {
	back := map[rune]rune{}
	rank := map[rune]int{}
	for from, to := range pairsOf(hanPairs) {
		at := big5Common(from)
		if at == 0 || big5Common(to) > 0 {
			continue
		}
		if old := rank[to]; old == 0 || at < old {
			back[to], rank[to] = from, at
		}
	}
	return back
})

// big5Common returns the place of r in level 1 of Big5, the 5,401 common
// characters in the order of their strokes; 0 if it is not there.
func big5Common(r rune) int {
	const first, last = 0xA440, 0xC67E
	b, err := traditionalchinese.Big5.NewEncoder().Bytes(utf8.AppendRune(nil, r))
	if err != nil || len(b) != 2 {
		return 0
	}
	if at := int(b[0])<<8 | int(b[1]); at >= first && at <= last {
		return at
	}
	return 0
}
