package textnorm

import "unicode/utf8"

// InvalidUTF8 returns the offset of the first byte of b that is not UTF-8; -1
// when all are.
func InvalidUTF8(b []byte) int {
	if utf8.Valid(b) {
		return -1
	}
	for i := 0; i < len(b); {
		r, n := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return -1
}
