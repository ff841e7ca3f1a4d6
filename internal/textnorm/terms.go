package textnorm

import (
	"unicode/utf8"

	"github.com/zeebo/xxh3"
)

// Terms appends the words of s for lexical retrieval: words and numbers of
// alphabets as they fold, and for ideographs every pair of neighbours, or the
// one that stands alone. Pairs cross spaces and line ends, not punctuation.
func Terms(dst []string, s string) []string {
	f := NewFolder()
	var word []byte
	var han [2]rune // the last ideographs of the open run
	run := 0
	endWord := func() {
		if len(word) > 0 {
			dst = append(dst, string(word))
			word = word[:0]
		}
	}
	endHan := func() {
		if run == 1 {
			dst = append(dst, string(han[1]))
		}
		run = 0
	}
	one := func(p Piece, next byte) {
		switch p.Class {
		case Ignored:
		case Han:
			endWord()
			han[0], han[1] = han[1], p.Rune
			if run++; run > 1 {
				dst = append(dst, string(han[:]))
			}
		case Letter, Digit:
			endHan()
			word = utf8.AppendRune(word, p.Rune)
		case Space:
			endWord()
		default:
			endHan()
			if p.Rune == '.' && len(word) > 0 && isDigit(word[len(word)-1]) && isDigit(next) {
				word = append(word, '.')
				return
			}
			endWord()
		}
	}
	for i, r := range s {
		var next byte
		if i+1 < len(s) {
			next = s[i+1]
		}
		p, rest := f.Rune(r)
		one(p, next)
		for _, q := range rest {
			one(q, 0)
		}
	}
	endWord()
	endHan()
	return dst
}

func isDigit(b byte) bool { return b >= '0' && b <= '9' }

// Grams appends the hashes of every n neighbouring letters, digits and
// ideographs of s as they fold, across spaces and punctuation. A text shorter
// than n gives one hash of the whole; an empty one gives none. Hashes do not
// change between versions of drydock.
func Grams(dst []uint64, s string, n int) []uint64 {
	f := NewFolder()
	var buf []byte
	var starts []int
	add := func(p Piece) {
		if p.Class == Han || p.Class == Letter || p.Class == Digit || p.Class == Symbol {
			starts = append(starts, len(buf))
			buf = utf8.AppendRune(buf, p.Rune)
		}
	}
	for _, r := range s {
		p, rest := f.Rune(r)
		add(p)
		for _, q := range rest {
			add(q)
		}
	}
	if len(starts) == 0 {
		return dst
	}
	if len(starts) <= n {
		return append(dst, xxh3.Hash(buf))
	}
	starts = append(starts, len(buf))
	for i := 0; i+n < len(starts); i++ {
		dst = append(dst, xxh3.Hash(buf[starts[i]:starts[i+n]]))
	}
	return dst
}
