package textnorm

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf8"
)

// InvalidUTF8 returns the offset of the first byte of b that is not UTF-8; -1
// when all are. Runs of ASCII and of three-byte forms, which most text is made
// of, are passed several bytes at a time.
func InvalidUTF8(b []byte) int {
	const (
		ascii = 0x8080808080808080
		// three-byte forms: the bits that make them one, and how they are set
		one, oneSet = 0xC0C0F0, 0x8080E0
		two, twoSet = one<<24 | one, oneSet<<24 | oneSet
	)
	for i := 0; i < len(b); {
		for i+8 <= len(b) {
			w := binary.LittleEndian.Uint64(b[i:])
			if w&ascii == 0 {
				i += 8
			} else if w&two == twoSet && wideLead>>(w&15)&(wideLead>>(w>>24&15))&1 == 1 {
				i += 6
			} else if n := bits.TrailingZeros64(w&ascii) >> 3; n > 0 {
				i += n
			} else if w&one == oneSet && wideLead>>(w&15)&1 == 1 {
				i += 3
			} else {
				break
			}
		}
		r, n := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return -1
}

// wideLead has a bit set for the low half of every byte 0xE0 to 0xEF behind which
// any two trailing bytes are a code point: all but 0xE0, whose form may be longer
// than allowed, and 0xED, which may begin a surrogate.
const wideLead = 0xFFFF &^ (1<<0x0 | 1<<0xD)
