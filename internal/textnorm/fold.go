// Package textnorm makes one text out of the many ways the same words are
// typed: compatibility forms, width, case, accents, traditional and simplified
// characters, look-alike radicals, punctuation and invisible characters. The
// folds are for comparing, never for showing.
package textnorm

import "unicode/utf8"

// Fold appends the folded form of s to dst. It is the text's letters, digits,
// ideographs and signs with a meaning (＜ ± ° %), and nothing else, except:
//
//   - one space where white space or punctuation stood between two letters or
//     between two digits, so that words and numbers stay apart. None stands
//     beside an ideograph, or between a number and its unit;
//   - a point between digits (1.5), and a minus before a number where nothing
//     that could be a range stands before it.
//
// Invalid UTF-8 counts as punctuation. Fold of a folded text is itself.
func Fold(dst []byte, s string) []byte {
	t := getTable()
	f := foldState{dst: dst}
	for i := 0; i < len(s); {
		if !f.gap {
			if end := t.plainHan(s, i); end > i { // most of Chinese text
				f.dst = append(f.dst, s[i:end]...)
				f.last, f.wrote = Han, true
				i = end
				continue
			}
		}
		r, n := rune(s[i]), 1
		if r >= utf8.RuneSelf {
			r, n = utf8.DecodeRuneInString(s[i:])
			if r == utf8.RuneError && n == 1 {
				f.pause(0)
				i++
				continue
			}
		}
		e := t.entries[int(t.page[r>>pageBits])<<pageBits|int(r&(pageSize-1))]
		v := rune(e & valueMax)
		if class := Class(e >> 21); class == multi {
			for _, p := range t.multi[v] {
				f.step(p.Rune, p.Class)
			}
		} else {
			if v == 0 {
				v = r
			}
			f.step(v, class)
		}
		i += n
	}
	return f.dst
}

// Key returns Fold(nil, s) as a string.
func Key(s string) string { return string(Fold(nil, s)) }

// foldState is what a fold remembers of the text before.
type foldState struct {
	dst   []byte
	last  Class // of the code point written last
	wrote bool
	// what stood since then
	gap   bool // white space or punctuation
	point bool // exactly one full stop
	minus bool // ends in a minus
}

// plainHan returns where the run of ideographs that fold to themselves ends
// which begins at i. It looks at three-byte forms from U+3000 to U+9FFF only,
// where every pair of trailing bytes is a code point.
func (t *table) plainHan(s string, i int) int {
	for ; i+2 < len(s); i += 3 {
		a, b, c := s[i], s[i+1], s[i+2]
		if a < 0xE3 || a > 0xE9 || b&0xC0 != 0x80 || c&0xC0 != 0x80 {
			break
		}
		r := rune(a&0x0F)<<12 | rune(b&0x3F)<<6 | rune(c&0x3F)
		if t.entries[int(t.page[r>>pageBits])<<pageBits|int(r&(pageSize-1))] != uint32(Han)<<21 {
			break
		}
	}
	return i
}

func (f *foldState) step(r rune, class Class) {
	switch class {
	case Ignored:
		return
	case Space, Punct:
		f.pause(r)
		return
	}
	if f.gap {
		f.bridge(class)
		f.gap = false
	}
	f.put(r)
	f.last, f.wrote = class, true
}

// pause takes white space and punctuation.
func (f *foldState) pause(r rune) {
	if !f.gap {
		f.gap, f.point = true, r == '.'
	} else {
		f.point = false
	}
	f.minus = r == '-'
}

// bridge writes what a gap before a code point of the class leaves.
func (f *foldState) bridge(class Class) {
	switch {
	case class == Digit && f.last == Digit && f.point:
		f.put('.')
	case class == Digit && f.minus && f.last != Digit && f.last != Letter:
		f.put('-')
	case f.wrote && class == f.last && (class == Letter || class == Digit):
		f.put(' ')
	}
}

func (f *foldState) put(r rune) {
	if r < utf8.RuneSelf {
		f.dst = append(f.dst, byte(r))
		return
	}
	f.dst = utf8.AppendRune(f.dst, r)
}
