package contam

import (
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
	ask      letter = 37 // in the tables only: the slow path knows
	foreign  letter = 64 // a letter no item has; matches nothing, not even itself
	firstOwn letter = 65
	lastOwn  letter = 0xEFF0 // a seed of Latin letters begins with 0xF
)

func isDigit(l letter) bool { return l >= first0 && l < latinEnd }

// alphabet numbers code points. It grows while items are parsed and is
// read-only afterwards.
type alphabet struct {
	folder textnorm.Folder
	own    map[rune]letter
	next   letter
	ascii  *[256]letter     // by byte; ask where it is no code point by itself
	low    *[lowEnd]letter  // by code point below lowEnd
	high   *[1 << 16]letter // by code point from lowEnd to 0xFFFF; ask below, which UTF-8 may not write so long
}

// lowEnd is the first code point whose UTF-8 form has three bytes of which the
// first says so by itself: 0xE0 may begin forms that are longer than allowed.
const lowEnd = 0x1000

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

// freeze fills the lookup tables for the scan.
func (a *alphabet) freeze() {
	a.low, a.high = new([lowEnd]letter), new([1 << 16]letter)
	for r := range rune(1 << 16) {
		l := ask
		if p, rest := a.folder.Rune(r); rest == nil {
			l = a.number(p, false)
		}
		if r < lowEnd {
			a.low[r], a.high[r] = l, ask
		} else {
			a.high[r] = l
		}
	}
	for _, c := range `<&\%=` { // may begin markup
		a.low[c] = ask
	}
	a.high['＜'] = ask
	a.ascii = new([256]letter)
	for c := range a.ascii {
		a.ascii[c] = ask
	}
	copy(a.ascii[:], a.low[:utf8.RuneSelf])
}

// at returns the letter of a code point, or ask.
func (a *alphabet) at(r rune) letter {
	switch {
	case r < lowEnd:
		return a.low[r]
	case r < 1<<16 && r != utf8.RuneError:
		return a.high[r]
	}
	return ask
}

// A stream is the folded text of one record, field after field.
type stream struct {
	letters []letter
	starts  []int32 // where a word of Latin letters and digits begins
	offs    []int32 // where wanted: the byte offset in its field of each letter
	want    bool

	inWord bool // the last code point was a Latin letter or digit
	folded *folded
}

func (s *stream) reset() {
	s.letters, s.starts, s.offs = s.letters[:0], s.starts[:0], s.offs[:0]
	s.inWord = false
}

// put appends the letter of the code point at byte at.
func (s *stream) put(l letter, at int) {
	latin := l-1 < latinEnd-1
	if latin && !s.inWord {
		s.starts = append(s.starts, int32(len(s.letters)))
	}
	s.inWord = latin
	if l == none {
		return
	}
	s.letters = append(s.letters, l)
	if s.want {
		s.offs = append(s.offs, int32(at))
	}
}

// feed appends the letters of a field's text. The tables must be frozen.
func (a *alphabet) feed(s *stream, text []byte) {
	s.inWord = false
	for i := 0; i < len(text); {
		if !s.want {
			if i = a.run(s, text, i); i == len(text) {
				return
			}
		}
		for {
			r, n := utf8.DecodeRune(text[i:])
			if l := a.at(r); l != ask {
				s.put(l, i)
			} else {
				n = a.slow(s, text, i, false)
			}
			// what run does not know comes in rows: Cyrillic, Greek
			if i += n; i == len(text) || text[i]-utf8.RuneSelf >= 0xE0-utf8.RuneSelf {
				break
			}
		}
	}
}

// feedChunk bytes of text at most are folded at once.
const feedChunk = 4096

// folded is what is made of them. It is apart from the stream so that the loops
// which fill it need few registers.
type folded struct {
	letters [feedChunk]letter
	starts  [feedChunk]int32 // letters of the chunk with which words begin
	k, m    int              // how many of both
	word    int              // 1 in a word, else 0
}

// run appends letters from text[i:] up to the first place that the tables do
// not answer for, and returns where that is.
func (a *alphabet) run(s *stream, text []byte, i int) int {
	if s.folded == nil {
		s.folded = new(folded)
	}
	c := s.folded
	c.word = btoi(s.inWord)
	for known := true; known && i < len(text); {
		c.k, c.m = 0, 0
		i, known = a.fold(c, text, i, min(len(text), i+feedChunk-2))
		n := int32(len(s.letters))
		s.letters = append(s.letters, c.letters[:c.k]...)
		for _, p := range c.starts[:c.m] {
			s.starts = append(s.starts, n+p)
		}
	}
	s.inWord = c.word == 1
	return i
}

// fold is run up to a limit, past which only a code point may reach that begins
// before it. It is a third of the check's cost: ASCII and three-byte forms have a
// loop each, in which nothing branches but on the end of a run of such code points.
func (a *alphabet) fold(c *folded, text []byte, i, limit int) (end int, known bool) {
	for i < limit {
		n := c.narrow(text[i:limit], a.ascii)
		i += n
		w := c.wide(text[i:min(len(text), limit+3)], a.high)
		i += w
		if n+w == 0 {
			return i, false
		}
	}
	return i, true
}

// narrow folds ASCII and returns how much there is.
func (c *folded) narrow(text []byte, table *[256]letter) int {
	k, m, word := c.k, c.m, c.word
	n := len(text)
	for i, b := range text {
		l := table[b]
		if l == ask {
			n = i
			break
		}
		some := (int(l) + 63) >> 6 // 1 for a letter, 0 for none
		c.starts[m] = int32(k)
		m += some &^ word
		c.letters[k] = l
		k += some
		word = some
	}
	c.k, c.m, c.word = k, m, word
	return n
}

// wide folds forms of three bytes and returns how many bytes there are.
func (c *folded) wide(text []byte, table *[1 << 16]letter) int {
	k, i := c.k, 0
	for ; i < len(text)-3; i += 3 {
		w := uint32(text[i]) | uint32(text[i+1])<<8 | uint32(text[i+2])<<16 | uint32(text[i+3])<<24 // one load
		if w&0x00C0C0F0 != 0x008080E0 {
			break
		}
		l := table[uint16(w<<12|w>>2&0xFC0|w>>16&0x3F)]
		if l-1 < ask {
			break // Latin letters in full width, or not known here
		}
		c.letters[k] = l
		k += int(-uint32(l) >> 31) // 1 for a letter, 0 for none
	}
	if i > 0 {
		c.k, c.word = k, 0
	}
	return i
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// learn returns the letters of an item's text; the alphabet grows.
func (a *alphabet) learn(text string) []letter { return a.learnStream(text).letters }

func (a *alphabet) learnStream(text string) *stream {
	s := stream{letters: make([]letter, 0, utf8.RuneCountInString(text))}
	b := []byte(text)
	for i := 0; i < len(b); {
		i += a.slow(&s, b, i, true)
	}
	return &s
}

// slow appends what stands at text[i:] and returns how many bytes that was.
func (a *alphabet) slow(s *stream, text []byte, i int, grow bool) int {
	if n := skipMarkup(text[i:]); n > 0 {
		s.inWord = false
		return n
	}
	r, n := utf8.DecodeRune(text[i:])
	if e, w := sign(text, i); w > 0 {
		r, n = e, w
	}
	if !utf8.ValidRune(r) || r == utf8.RuneError {
		s.inWord = false
		return n
	}
	p, rest := a.folder.Rune(r)
	s.put(a.number(p, grow), i)
	for _, q := range rest {
		s.put(a.number(q, grow), i)
	}
	return n
}
