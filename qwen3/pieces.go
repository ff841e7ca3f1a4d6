package qwen3

import (
	"sync"
	"unicode"
	"unicode/utf8"
)

// class is what the borders of pieces depend on.
type class uint8

const (
	other   class = iota
	letter        // \p{L}
	number        // \p{N}
	space         // white space that ends no line
	newline       // \r and \n
)

var getClasses = sync.OnceValue(func() *[1 << 16]class {
	var t [1 << 16]class
	for r := range t {
		t[r] = classify(rune(r))
	}
	return &t
})

func classify(r rune) class {
	switch {
	case r == '\r' || r == '\n':
		return newline
	case unicode.IsSpace(r):
		return space
	case unicode.IsLetter(r):
		return letter
	case unicode.IsNumber(r):
		return number
	case unicode.Is(newLetters, r):
		return letter
	case unicode.Is(newNumbers, r):
		return number
	}
	return other
}

// The tokenizers go by Unicode 16.0, package unicode by 15.0. These are the
// letters and numbers between the two; scripts/interop/qwen3_tokenizer.py
// --classes lists what differs.
var (
	newLetters = &unicode.RangeTable{
		R16: []unicode.Range16{{0x1C89, 0x1C8A, 1}, {0xA7CB, 0xA7CD, 1}, {0xA7DA, 0xA7DC, 1}},
		R32: []unicode.Range32{
			{0x105C0, 0x105F3, 1},
			{0x10D4A, 0x10D65, 1},
			{0x10D6F, 0x10D85, 1},
			{0x10EC2, 0x10EC4, 1},
			{0x11380, 0x11389, 1},
			{0x1138B, 0x1138B, 1},
			{0x1138E, 0x1138E, 1},
			{0x11390, 0x113B5, 1},
			{0x113B7, 0x113B7, 1},
			{0x113D1, 0x113D1, 1},
			{0x113D3, 0x113D3, 1},
			{0x11BC0, 0x11BE0, 1},
			{0x13460, 0x143FA, 1},
			{0x16100, 0x1611D, 1},
			{0x16D40, 0x16D6C, 1},
			{0x18CFF, 0x18CFF, 1},
			{0x1E5D0, 0x1E5ED, 1},
			{0x1E5F0, 0x1E5F0, 1},
			{0x2EBF0, 0x2EE5D, 1},
		},
	}
	newNumbers = &unicode.RangeTable{R32: []unicode.Range32{
		{0x10D40, 0x10D49, 1},
		{0x116D0, 0x116E3, 1},
		{0x11BF0, 0x11BF9, 1},
		{0x16130, 0x16139, 1},
		{0x16D70, 0x16D79, 1},
		{0x1CCF0, 0x1CCF9, 1},
		{0x1E5F1, 0x1E5FA, 1},
	}}
)

// classAt decodes the character s begins with; width 0 at the end.
func classAt(t *[1 << 16]class, s string) (class, int) {
	if len(s) == 0 {
		return other, 0
	}
	if s[0] < utf8.RuneSelf {
		return t[s[0]], 1
	}
	r, n := utf8.DecodeRuneInString(s)
	if r < 1<<16 {
		return t[r], n
	}
	return classify(r), n
}

// run returns the length of the characters of a class that s begins with.
func run(t *[1 << 16]class, s string, c class) int {
	i := 0
	for {
		k, n := classAt(t, s[i:])
		if n == 0 || k != c {
			return i
		}
		i += n
	}
}

// nextPiece returns the length of the piece that s, which is not empty, begins
// with. It does what this expression of the tokenizer does, which has a
// look-ahead that package regexp has not:
//
//	(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}|
//	 ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+
func nextPiece(s string) int {
	t := getClasses()
	c, n := classAt(t, s)
	switch c {
	case letter:
		return n + run(t, s[n:], letter)
	case number:
		return n
	}
	if c == other && s[0] == '\'' {
		if k := contraction(s); k > 0 {
			return k
		}
	}
	if c != newline {
		if k := run(t, s[n:], letter); k > 0 {
			return n + k
		}
	}
	start := 0
	if s[0] == ' ' {
		start = 1
	}
	if k := run(t, s[start:], other); k > 0 {
		k += start
		return k + run(t, s[k:], newline)
	}
	return blanks(t, s)
}

// blanks returns the piece of white space that s begins with: up to its last
// line end, else all of it but the last character, which goes with what follows.
func blanks(t *[1 << 16]class, s string) int {
	end, line, last := 0, 0, 0
	for {
		c, n := classAt(t, s[end:])
		if n == 0 || c != space && c != newline {
			break
		}
		last = end
		end += n
		if c == newline {
			line = end
		}
	}
	switch {
	case line > 0:
		return line
	case end == len(s) || last == 0:
		return end
	}
	return last
}

// contraction returns the length of an English ending ('s 't 're 've 'm 'll 'd)
// that s begins with, in either case; 0 for none.
func contraction(s string) int {
	if len(s) < 2 {
		return 0
	}
	lower := func(i int) byte {
		if i < len(s) {
			return s[i] | 0x20
		}
		return 0
	}
	switch lower(1) {
	case 's', 't', 'm', 'd':
		return 2
	case 'r', 'v':
		if lower(2) == 'e' {
			return 3
		}
	case 'l':
		if lower(2) == 'l' {
			return 3
		}
	}
	return 0
}
