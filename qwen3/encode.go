package qwen3

import (
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Encode appends the ids of text to dst, as Hugging Face's tokenizers and vLLM
// make them: the spelling of a special token is that token, wherever it stands.
// Bytes that are no UTF-8 count as U+FFFD.
func Encode(dst []int32, text string) []int32 {
	var r room
	e := encoder{v: getVocab(), ids: dst, stack: r.stack[:0], dead: r.dead[:0]}
	e.all(text)
	return e.ids
}

// EncodeOrdinary is [Encode] for text that must not control anything: the
// spelling of a special token is encoded like any other text.
func EncodeOrdinary(dst []int32, text string) []int32 {
	var r room
	e := encoder{v: getVocab(), ids: dst, stack: r.stack[:0], dead: r.dead[:0]}
	e.ordinary(text)
	return e.ids
}

// Count returns how many ids [Encode] gives, without making them.
func Count(text string) int {
	var r room
	e := encoder{v: getVocab(), counting: true, stack: r.stack[:0], dead: r.dead[:0]}
	e.all(text)
	return e.n
}

// Decode returns the text of ids. Ids that are no token are left out; bytes that
// make no character are kept as they are.
func Decode(ids []int32) string {
	v := getVocab()
	var b strings.Builder
	for _, id := range ids {
		switch {
		case id >= 0 && uint32(id) < v.size():
			b.Write(v.bytes(uint32(id)))
		case id >= firstSpecial && int(id-firstSpecial) < len(specials):
			b.WriteString(specials[id-firstSpecial])
		}
	}
	return b.String()
}

// encoder is the state of one call.
type encoder struct {
	v        *vocab
	ids      []int32
	n        int // ids, when only counting
	counting bool
	stack    []uint32 // tokens of the piece so far
	dead     []uint64 // by bit: positions of the piece from which no encoding goes on
}

// room is what the pieces of most texts need, in one allocation a call.
type room struct {
	stack [64]uint32
	dead  [8]uint64
}

func (e *encoder) put(id uint32) {
	if e.counting {
		e.n++
		return
	}
	e.ids = append(e.ids, int32(id))
}

func (e *encoder) all(text string) {
	for {
		s, ok := FindSpecial(text)
		if !ok {
			e.ordinary(text)
			return
		}
		e.ordinary(text[:s.Start])
		e.put(uint32(s.ID))
		text = text[s.End:]
	}
}

func (e *encoder) ordinary(text string) {
	if !utf8.ValidString(text) {
		text = strings.ToValidUTF8(text, "\ufffd")
	}
	if !plainNFC(text) && !norm.NFC.IsNormalString(text) {
		text = norm.NFC.String(text)
	}
	for len(text) > 0 {
		n := nextPiece(text)
		e.piece(text[:n])
		text = text[n:]
	}
}

// plainNFC reports whether a text holds nothing but the characters of most text,
// none of which takes part in composing: all below U+0300, and most of the
// blocks of Chinese text. It says less than package norm, and sooner.
func plainNFC(s string) bool {
	for i := 0; i < len(s); {
		if s[i] < 0xCC { // below U+0300; a second byte is no more than that either
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r >= 0x3100 && r < 0xA000, r >= 0x3000 && r < 0x302A, r >= 0x2002 && r < 0x2070, r >= 0xFF01 && r < 0xFF60:
		default:
			return false
		}
		i += n
	}
	return true
}

// piece encodes what stands between two borders. It looks for the one sequence
// of tokens of which no two neighbours would have merged otherwise: that is what
// merging pair by pair, best rank first, comes to. At each place the longest
// token is tried first and shorter ones after it; a place that leads nowhere is
// never tried again, so the cost grows with the length alone. (H. van Antwerpen
// and A. Neubeck, "So many tokens, so little time", 2024.)
func (e *encoder) piece(p string) {
	v := e.v
	tok := v.trie.longest(p)
	if v.length(tok) == len(p) { // most pieces are one token
		e.put(tok)
		return
	}
	e.stack = e.stack[:0]
	if n := len(p)/64 + 1; n <= cap(e.dead) {
		e.dead = e.dead[:n]
		clear(e.dead)
	} else {
		e.dead = make([]uint64, n)
	}
	at, last := 0, none
	for {
		end := at + v.length(tok)
		if e.dead[end/64]>>(end%64)&1 == 0 && (last == none || v.fits(last, tok, none)) {
			e.stack = append(e.stack, tok)
			if end == len(p) {
				break
			}
			at, last = end, tok
			tok = v.trie.longest(p[at:])
			continue
		}
		if s := v.shorter[tok]; s != none {
			tok = s
			continue
		}
		// back to the token before, and a shorter one in its place
		e.dead[at/64] |= 1 << (at % 64)
		e.stack = e.stack[:len(e.stack)-1]
		tok = last
		at -= v.length(tok)
		last = none
		if len(e.stack) > 0 {
			last = e.stack[len(e.stack)-1]
		}
	}
	for _, t := range e.stack {
		e.put(t)
	}
}

// fits reports whether two tokens can stand beside each other: no merge of a
// rank below limit joins what lies at their border before either is whole. The
// younger of the two is taken apart, step by step, towards the border.
func (v *vocab) fits(l, r, limit uint32) bool {
	for {
		if m := v.pairs.get(l, r); m < limit {
			return false
		}
		if l > r {
			limit = l
			if l = v.right[l]; l != limit {
				continue
			}
			// a byte cannot be taken apart
			limit = r + 1
			if r = v.left[r]; r+1 == limit {
				return true
			}
			continue
		}
		limit = r + 1 // of equal pairs the left one merges first
		if r = v.left[r]; r+1 != limit {
			continue
		}
		limit = l
		if l = v.right[l]; l == limit {
			return true
		}
	}
}

func (v *vocab) length(id uint32) int { return int(v.start[id+1] - v.start[id]) }
