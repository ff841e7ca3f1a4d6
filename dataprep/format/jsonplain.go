package format

import (
	"encoding/binary"

	"github.com/drydock-ml/drydock/internal/textnorm"
)

// Eight bytes as one number: in each of the byte's value, or of its highest bit.
const (
	eachByte = 0x0101010101010101
	highBits = 0x80 * eachByte
)

// plain reports whether a text is UTF-8 without control characters.
func plain(text []byte) bool {
	var odd, due uint64
	b := text
	for ; len(b) >= 32; b = b[32:] {
		w0, w1 := binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:])
		w2, w3 := binary.LittleEndian.Uint64(b[16:]), binary.LittleEndian.Uint64(b[24:])
		if (w0|w1|w2|w3)&highBits|due == 0 { // ASCII: next to nothing can be wrong
			odd |= ^(aboveControl(w0) & aboveControl(w1) & aboveControl(w2) & aboveControl(w3)) & highBits
			continue
		}
		var o0, o1, o2, o3 uint64
		o0, due = oddBytes(w0, due)
		o1, due = oddBytes(w1, due)
		o2, due = oddBytes(w2, due)
		o3, due = oddBytes(w3, due)
		odd |= o0 | o1 | o2 | o3
	}
	for ; len(b) >= 8; b = b[8:] {
		var o uint64
		o, due = oddBytes(binary.LittleEndian.Uint64(b), due)
		odd |= o
	}
	last := [8]byte{' ', ' ', ' ', ' ', ' ', ' ', ' ', ' '}
	copy(last[:], b)
	o, _ := oddBytes(binary.LittleEndian.Uint64(last[:]), due)
	return odd|o == 0 || plainOneByOne(text)
}

// aboveControl has the highest bit set of each byte that is no control character.
func aboveControl(w uint64) uint64 { return w | w<<1 | w<<2 }

// oddBytes looks at eight bytes of text and has the highest bit set of those that
// need a closer look: all that are wrong, and the first of some characters that
// may be. due are the bytes that must go on a character of the eight before, next
// is the same for the eight behind.
//
// There is no jump on what the bytes are: in text that goes to and fro between ASCII
// and ideographs it would be guessed wrong at every change. Of the numbers within,
// the highest bit of a byte says something of that byte, the others nothing.
func oddBytes(w, due uint64) (odd, next uint64) {
	lead := w & (w << 1)     // begins a character of two bytes or more
	three := lead & (w << 2) // of three or more
	due |= lead<<8 | three<<16
	odd = w ^ lead ^ due | // goes one on, but none is due, or the other way round
		^aboveControl(w) | // a control character
		three&(w<<3) | // begins a character of four, or none
		lead&(highBits-w&(0x1E*eachByte)) | // 0xC0, 0xC1: none; 0xE0, 0xE1
		three&(highBits-(w&(0x1F*eachByte)^0x0D*eachByte)) // 0xED
	return odd & highBits, lead>>56 | three>>48
}

// plainOneByOne is plain for any text.
func plainOneByOne(text []byte) bool {
	for _, c := range text {
		if c < ' ' {
			return false
		}
	}
	return textnorm.InvalidUTF8(text) < 0
}
