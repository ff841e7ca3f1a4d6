package preset

import (
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/words"
)

// unisegTokens are decon's --tokenizer uniseg: Unicode words, spaces among them.
func unisegTokens(s string) []string {
	var out []string
	for w := words.FromString(s); w.Next(); {
		out = append(out, w.Value())
	}
	return out
}

// cl100kPieces stand in for the tokens of cl100k: what its pattern cuts a clean
// text into, which for most English words is the token itself: a word with the
// space before it, a space alone before a number, numbers by three digits. Long
// words are cut as often as its vocabulary cuts them on the whole, and ideographs
// stand alone.
func cl100kPieces(s string) []string {
	var out []string
	for i := 0; i < len(s); {
		from := i
		r, n := utf8.DecodeRuneInString(s[i:])
		i += n
		if sign := !unicode.IsLetter(r) && !unicode.IsNumber(r); sign { // one may lead a word, a space also signs
			next, n := utf8.DecodeRuneInString(s[i:])
			if latin(next) || r == ' ' && n > 0 && !unicode.IsSpace(next) && !unicode.IsLetter(next) && !unicode.IsNumber(next) {
				r = next
				i += n
			}
		}
		switch {
		case latin(r):
			i += prefix(s[i:], len(s), latin)
			out = append(out, cutWord(s[from:i])...)
			continue
		case unicode.IsNumber(r):
			i += prefix(s[i:], 2, unicode.IsNumber)
		}
		out = append(out, s[from:i])
	}
	return out
}

// prefix returns the length of up to most characters of a kind that s begins
// with.
func prefix(s string, most int, kind func(rune) bool) int {
	for i, r := range s {
		if most == 0 || !kind(r) {
			return i
		}
		most--
	}
	return len(s)
}

// latin letters stand in words; others are tokens of their own.
func latin(r rune) bool { return unicode.IsLetter(r) && !unicode.Is(unicode.Han, r) }

// wordCut is the length, in bytes with the space, from which a word has two
// tokens.
const wordCut = 11

func cutWord(w string) []string {
	if len(w) < wordCut {
		return []string{w}
	}
	at := len(w) / 2
	for !utf8.RuneStart(w[at]) {
		at++
	}
	return []string{w[:at], w[at:]}
}
