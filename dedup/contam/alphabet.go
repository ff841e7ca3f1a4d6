package contam

import (
	"bytes"
	"strconv"
	"unicode/utf8"

	"github.com/drydock-ml/drydock/internal/textnorm"
)

// A letter is one code point of the folded stream. Latin letters and digits
// have fixed numbers below latinEnd, so that eight of them fit one key; the
// other code points of the items are numbered from firstOwn in the order in
// which they come.
type letter = uint16

const (
	none     letter = 0 // not part of the stream
	firstA   letter = 1
	first0   letter = 27
	latinEnd letter = 37
	foreign  letter = 64 // a letter no item has; matches nothing, not even itself
	firstOwn letter = 65
	ask      letter = 0xFFFF // the table needs the slow path
	lastOwn  letter = 0xFFF0
)

func isDigit(l letter) bool { return l >= first0 && l < latinEnd }

// alphabet numbers code points. It grows while items are parsed and is
// read-only afterwards.
type alphabet struct {
	folder textnorm.Folder
	own    map[rune]letter
	next   letter
	bmp    *[1 << 16]letter // by code point below 0x10000; ask: see slow
}

func newAlphabet() *alphabet {
	return &alphabet{folder: textnorm.NewFolder(), own: map[rune]letter{}, next: firstOwn}
}

// number returns the letter of a folded piece, giving it a number when grow is
// set.
func (a *alphabet) number(p textnorm.Piece, grow bool) letter {
	switch p.Class {
	case textnorm.Han, textnorm.Letter, textnorm.Digit:
	default:
		return none
	}
	switch r := p.Rune; {
	case r >= 'a' && r <= 'z':
		return firstA + letter(r-'a')
	case r >= '0' && r <= '9':
		return first0 + letter(r-'0')
	}
	if l, ok := a.own[p.Rune]; ok {
		return l
	}
	if !grow || a.next >= lastOwn {
		return foreign
	}
	a.own[p.Rune] = a.next
	a.next++
	return a.next - 1
}

// freeze fills the lookup table for the scan.
func (a *alphabet) freeze() {
	a.bmp = new([1 << 16]letter)
	for r := range rune(1 << 16) {
		p, rest := a.folder.Rune(r)
		if rest != nil {
			a.bmp[r] = ask
			continue
		}
		a.bmp[r] = a.number(p, false)
	}
	for _, c := range `<&\` { // may begin markup
		a.bmp[c] = ask
	}
}

// A stream is the folded text of one record, field after field.
type stream struct {
	letters []letter
	offs    []int32 // where wanted: the byte offset in its field of each letter
	want    bool
}

func (s *stream) reset() { s.letters, s.offs = s.letters[:0], s.offs[:0] }

func (s *stream) put(l letter, at int) {
	if l == none {
		return
	}
	s.letters = append(s.letters, l)
	if s.want {
		s.offs = append(s.offs, int32(at))
	}
}

// feed appends the letters of a field's text. The table must be frozen.
func (a *alphabet) feed(s *stream, text []byte) {
	if s.want {
		a.feedOffsets(s, text)
		return
	}
	for rest := text; len(rest) > 0; {
		n := a.run(s, rest)
		rest = rest[n:]
		if len(rest) > 0 {
			rest = rest[a.slow(s, text, len(text)-len(rest), false):]
		}
	}
}

// run appends letters up to the first place that needs the slow path, and
// returns how many bytes that was. It is half of the check's cost, so it is
// written for the compiler: the tail is sliced off instead of indexed.
func (a *alphabet) run(s *stream, text []byte) int {
	n := len(s.letters)
	if cap(s.letters)-n < len(text) {
		s.letters = append(make([]letter, 0, 2*(n+len(text))), s.letters...)
	}
	out := s.letters[n : n+len(text)]
	k := 0
	bmp := a.bmp
	t := text
	for len(t) > 0 {
		c := t[0]
		var l letter
		switch {
		case c < utf8.RuneSelf:
			l = bmp[c]
			if l == ask {
				s.letters = s.letters[:n+k]
				return len(text) - len(t)
			}
			t = t[1:]
		case c&0xF0 == 0xE0 && len(t) >= 3 && t[1]&0xC0 == 0x80 && t[2]&0xC0 == 0x80 && (c != 0xE0 || t[1] >= 0xA0):
			l = bmp[uint16(c)<<12|uint16(t[1]&0x3F)<<6|uint16(t[2]&0x3F)]
			if l == ask {
				s.letters = s.letters[:n+k]
				return len(text) - len(t)
			}
			t = t[3:]
		case c&0xE0 == 0xC0 && c >= 0xC2 && len(t) >= 2 && t[1]&0xC0 == 0x80:
			l = bmp[uint16(c&0x1F)<<6|uint16(t[1]&0x3F)]
			if l == ask {
				s.letters = s.letters[:n+k]
				return len(text) - len(t)
			}
			t = t[2:]
		default:
			s.letters = s.letters[:n+k]
			return len(text) - len(t)
		}
		if l != none {
			out[k] = l
			k++
		}
	}
	s.letters = s.letters[:n+k]
	return len(text)
}

// feedOffsets is feed with offsets.
func (a *alphabet) feedOffsets(s *stream, text []byte) {
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRune(text[i:])
		if r >= 1<<16 || r == utf8.RuneError || a.bmp[r] == ask {
			i += a.slow(s, text, i, false)
			continue
		}
		s.put(a.bmp[r], i)
		i += n
	}
}

// learn returns the letters of an item's text; the alphabet grows.
func (a *alphabet) learn(text string) []letter {
	var s stream
	for i := 0; i < len(text); {
		i += a.slow(&s, []byte(text), i, true)
	}
	return s.letters
}

// slow appends what stands at text[i:] and returns how many bytes that was.
func (a *alphabet) slow(s *stream, text []byte, i int, grow bool) int {
	if n := skipMarkup(text[i:]); n > 0 {
		return n
	}
	r, n := utf8.DecodeRune(text[i:])
	if e, w := entity(text[i:]); w > 0 {
		r, n = e, w
	} else if e, w := unicodeEscape(text[i:]); w > 0 {
		r, n = e, w
	}
	if !utf8.ValidRune(r) || r == utf8.RuneError {
		return n
	}
	p, rest := a.folder.Rune(r)
	s.put(a.number(p, grow), i)
	for _, q := range rest {
		s.put(a.number(q, grow), i)
	}
	return n
}

// maxTag bounds the search for the end of a tag.
const maxTag = 200

// skipMarkup returns the length of the HTML tag, TeX command or escape that b
// begins with, 0 when there is none. What it skips would put letters of markup
// between those of the text.
func skipMarkup(b []byte) int {
	if len(b) < 2 {
		return 0
	}
	switch b[0] {
	case '<':
		return htmlTag(b)
	case '\\':
		return escape(b)
	}
	return 0
}

// htmlTag matches <name …>, </name> and <!-- of the names texts are marked up
// with; a<b is no tag.
func htmlTag(b []byte) int {
	i := 1
	if b[i] == '/' {
		i++
	}
	start := i
	for i < len(b) && i-start < 12 && (b[i]|0x20 >= 'a' && b[i]|0x20 <= 'z' || i > start && b[i] >= '0' && b[i] <= '9') {
		i++
	}
	if i == start || i == len(b) {
		return 0
	}
	if c := b[i]; c != '>' && c != ' ' && c != '/' && c != '\n' {
		return 0
	}
	end := bytes.IndexByte(b[i:min(len(b), i+maxTag)], '>')
	if end < 0 || bytes.IndexByte(b[i:i+end], '<') >= 0 {
		return 0
	}
	return i + end + 1
}

// escape matches what a backslash begins: \n and \t of a string inside a
// string, and the TeX commands that set type or spacing.
func escape(b []byte) int {
	i := 1
	for i < len(b) && i < 20 && (b[i]|0x20) >= 'a' && (b[i]|0x20) <= 'z' {
		i++
	}
	switch string(b[1:i]) {
	case "text", "mathrm", "mathbf", "mathit", "rm", "bf", "left", "right", "quad", "qquad", "circ", "cdot", "times",
		"frac", "sqrt", "le", "leq", "ge", "geq", "pm", "degree", "textbf", "textit", "underline", "displaystyle":
		return i
	}
	if i > 1 && (b[1] == 'n' || b[1] == 't' || b[1] == 'r') {
		return 2
	}
	return 0
}

// entity decodes the HTML character reference b begins with; n is 0 when there
// is none. Named ones stand for signs, so their value does not matter.
func entity(b []byte) (r rune, n int) {
	if len(b) < 4 || b[0] != '&' {
		return 0, 0
	}
	end := bytes.IndexByte(b[:min(len(b), 12)], ';')
	if end < 3 {
		return 0, 0
	}
	name := b[1:end]
	if name[0] != '#' {
		for _, c := range name {
			if c|0x20 < 'a' || c|0x20 > 'z' {
				return 0, 0
			}
		}
		return ' ', end + 1
	}
	base, digits := rune(10), name[1:]
	if digits[0]|0x20 == 'x' {
		base, digits = 16, digits[1:]
	}
	for _, c := range digits {
		d := rune(0)
		switch {
		case c >= '0' && c <= '9':
			d = rune(c - '0')
		case base == 16 && c|0x20 >= 'a' && c|0x20 <= 'f':
			d = rune(c|0x20-'a') + 10
		default:
			return 0, 0
		}
		if r = r*base + d; r > utf8.MaxRune {
			return 0, 0
		}
	}
	if len(digits) == 0 {
		return 0, 0
	}
	return r, end + 1
}

// unicodeEscape decodes the \u8239 of a JSON string inside a string.
func unicodeEscape(b []byte) (r rune, n int) {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return 0, 0
	}
	v, err := strconv.ParseUint(string(b[2:6]), 16, 16)
	if err != nil || b[2] == '+' {
		return 0, 0
	}
	return rune(v), 6
}
