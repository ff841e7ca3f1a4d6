package format

import (
	"bytes"

	"golang.org/x/text/encoding/unicode"
)

func utf16LE() textEncoding {
	return textEncoding{name: "UTF-16LE", enc: unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM)}
}

func utf16BE() textEncoding {
	return textEncoding{name: "UTF-16BE", enc: unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM)}
}

// utf16ByZeros recognises UTF-16 without a mark by the zero bytes that line
// ends, spaces and letters bring.
func utf16ByZeros(b []byte) (textEncoding, bool) {
	b = b[:len(b)&^1]
	if bytes.IndexByte(b, 0) < 0 {
		return textEncoding{}, false
	}
	return utf16ByText(b, commonSet())
}

// utf16ByText recognises UTF-16 without a mark by which byte order gives
// ordinary text.
func utf16ByText(b []byte, common map[rune]bool) (textEncoding, bool) {
	b = b[:min(len(b), scoredSample)&^1]
	le := plausible(b, func(lo, hi byte) rune { return rune(hi)<<8 | rune(lo) }, common)
	be := plausible(b, func(hi, lo byte) rune { return rune(hi)<<8 | rune(lo) }, common)
	const half = 0.5
	switch {
	case le >= half && le > 1.5*be:
		return utf16LE(), true
	case be >= half && be > 1.5*le:
		return utf16BE(), true
	}
	return textEncoding{}, false
}

// plausible is the share of 16-bit units that are ASCII text, common Chinese
// characters or their punctuation; 0 where more than one in a hundred is a
// control character, or one in twenty of no script texts are in, as numbers in a
// binary file are.
func plausible(b []byte, unit func(a, b byte) rune, common map[rune]bool) float64 {
	if len(b) < 2 {
		return 0
	}
	good, controls, odd := 0, 0, 0
	for i := 0; i+1 < len(b); i += 2 {
		r := unit(b[i], b[i+1])
		switch {
		case r >= ' ' && r < 0x7F, r == '\t', r == '\n', r == '\r',
			r >= 0x3000 && r < 0x3020, r >= 0xFF01 && r < 0xFF5F, r >= 0x2010 && r < 0x2030, common[r]:
			good++
		case r < ' ' && r != '\v' && r != '\f':
			controls++
		case r >= 0x0100 && r < 0x0370, r >= 0x0530 && r < 0x2000, r >= 0x2C00 && r < 0x2E80, r >= 0xE000 && r < 0xF900, r >= 0xFFF0:
			odd++
		}
	}
	if units := len(b) / 2; controls*100 <= units && odd*20 <= units {
		return float64(good) / float64(units)
	}
	return 0
}

// looksText reports whether the first bytes of a file are text in any encoding:
// hardly a control character, and a zero byte only in UTF-16 and UTF-32.
func looksText(head []byte) bool {
	if _, ok := byMark(head); ok {
		return true
	}
	zeros, controls := 0, 0
	for _, c := range head {
		switch {
		case c == 0:
			zeros++
		case c < ' ' && (c < '\t' || c > '\r') && c != 0x1A && c != 0x1B:
			controls++
		}
	}
	if zeros == 0 && controls*100 <= len(head) {
		return true
	}
	_, ok := utf16ByText(head, commonSet()) // without a single letter or line end
	return ok
}
