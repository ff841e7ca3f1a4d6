package contam

import (
	"slices"
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
	lastOwn  letter = 0xFFF0
)

func isDigit(l letter) bool { return l >= first0 && l < latinEnd }

// alphabet numbers code points. It grows while items are parsed and is
// read-only afterwards.
type alphabet struct {
	folder textnorm.Folder
	own    map[rune]letter
	next   letter
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
	// starts are the places where a word of Latin letters and digits begins, or
	// a stretch of other letters: that is where seeds are looked for. Between
	// two of them all letters are of one kind.
	starts []int32
	offs   []int32 // where wanted: the byte offset in its field of each letter
	want   bool

	inWord  bool // the last code point was a Latin letter or digit
	inOther bool // the last start is that of other letters
}

func (s *stream) reset() {
	s.letters, s.starts, s.offs = s.letters[:0], s.starts[:0], s.offs[:0]
	s.inWord, s.inOther = false, false
}

// put appends the letter of the code point at byte at.
func (s *stream) put(l letter, at int) {
	latin := l-1 < latinEnd-1
	if latin && !s.inWord || l >= foreign && !s.inOther {
		s.starts = append(s.starts, int32(len(s.letters)))
		s.inOther = !latin
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
		r, n := utf8.DecodeRune(text[i:])
		if l := a.at(r); l != ask {
			s.put(l, i)
			i += n
			continue
		}
		i += a.slow(s, text, i, false)
	}
}

// feedChunk bounds what run makes room for at once.
const feedChunk = 4096

// run appends letters from text[i:] up to the first place that the tables do
// not answer for, and returns where that is. It is half of the check's cost:
// ASCII and three-byte forms have a loop each, in which nothing branches but on
// the end of a run of such code points.
func (a *alphabet) run(s *stream, text []byte, i int) int {
	low, high := a.low, a.high
	for i < len(text) {
		limit := min(len(text), i+feedChunk)
		n, m := len(s.letters), len(s.starts)
		room := limit - i + 1
		s.letters, s.starts = slices.Grow(s.letters, room), slices.Grow(s.starts, room)
		from := i
		wide := min(limit, len(text)-3) // four bytes are read at a time
		out, starts := s.letters[n:n+room], s.starts[m:m+room]
		k, m2 := 0, 0
		word, other := btoi(s.inWord), s.inOther
		for i < limit {
			before, k0 := i, k
			for i < limit && text[i] < utf8.RuneSelf {
				l := low[text[i]]
				if l == ask {
					break
				}
				letters := (int(l) + 63) >> 6 // 1 for a letter, 0 for none
				starts[m2] = int32(n + k)
				m2 += letters &^ word
				out[k] = l
				k += letters
				word = letters
				i++
			}
			if k > k0 {
				other = false
			}
			k0, at := k, i
			for i < wide {
				w := uint32(text[i]) | uint32(text[i+1])<<8 | uint32(text[i+2])<<16 | uint32(text[i+3])<<24
				if w&0x00C0C0F0 != 0x008080E0 {
					break
				}
				l := high[uint16(w<<12|w>>2&0xFC0|w>>16&0x3F)]
				if l-1 < ask {
					break // Latin letters in full width, or not known here
				}
				out[k] = l
				k += int(-uint32(l) >> 31) // 1 for a letter, 0 for none
				i += 3
			}
			if i > at {
				word = 0
			}
			if k > k0 && !other {
				starts[m2] = int32(n + k0)
				m2++
				other = true
			}
			if i == before {
				break
			}
		}
		s.letters, s.starts = s.letters[:n+k], s.starts[:m+m2]
		s.inWord, s.inOther = word == 1, other
		if i < limit || i == from {
			return i
		}
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
