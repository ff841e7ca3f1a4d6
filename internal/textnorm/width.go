package textnorm

// HalfWidth maps full-width ASCII and the ideographic space to ASCII; other
// characters stay as they are. It is the one fold that keeps the text readable.
func HalfWidth(r rune) rune {
	switch {
	case r >= 0xff01 && r <= 0xff5e:
		return r - 0xfee0
	case r == 0x3000:
		return ' '
	}
	return r
}
