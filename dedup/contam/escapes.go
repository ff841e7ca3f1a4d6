package contam

import (
	"bytes"
	"unicode/utf8"
)

// sign decodes what stands at b[i:] for one code point without being it: a
// character reference or an escape. n is 0 when nothing does.
func sign(b []byte, i int) (r rune, n int) {
	switch b[i] {
	case '&':
		return entity(b[i:])
	case '\\':
		if r, n = unicodeEscape(b[i:]); n > 0 {
			return r, n
		}
		return byteEscape(b[i:])
	case '=':
		return byteEscape(b[i:])
	case '%':
		return percentEscape(b, i)
	}
	return 0, 0
}

// entity decodes the HTML character reference b begins with, also one that was
// escaped again (&amp;#x8239;); n is 0 when there is none. Named ones stand for
// signs, so their value does not matter.
func entity(b []byte) (r rune, n int) {
	if len(b) < 4 || b[0] != '&' {
		return 0, 0
	}
	skip := 1
	for bytes.HasPrefix(b[skip:], []byte("amp;")) {
		skip += len("amp;")
	}
	if r, n = reference(b[skip:]); n > 0 {
		return r, skip + n
	}
	if skip > 1 {
		return ' ', skip
	}
	return 0, 0
}

// reference decodes what stands behind the & of a character reference.
func reference(b []byte) (r rune, n int) {
	end := bytes.IndexByte(b[:min(len(b), 11)], ';')
	if end < 2 {
		return 0, 0
	}
	name := b[:end]
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
		d, ok := hexValue(c)
		if !ok || d >= base {
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

func hexValue(c byte) (rune, bool) {
	switch {
	case c >= '0' && c <= '9':
		return rune(c - '0'), true
	case c|0x20 >= 'a' && c|0x20 <= 'f':
		return rune(c|0x20-'a') + 10, true
	}
	return 0, false
}

// unicodeEscape decodes the \u8239 of a JSON string inside a string, and what other
// languages write: \u{8239}, \x{8239}, \U00008239. The backslash doubles each time
// it is quoted again.
func unicodeEscape(b []byte) (r rune, n int) {
	if len(b) < 6 || b[0] != '\\' {
		return 0, 0
	}
	bar := backslashes(b)
	if bar == len(b) || bar == mostQuoted {
		return 0, 0
	}
	kind, rest := b[bar], b[bar+1:]
	size := 4
	switch {
	case kind == 'U':
		size = 8
	case (kind == 'u' || kind == 'x') && len(rest) > 0 && rest[0] == '{':
		end := bytes.IndexByte(rest[:min(len(rest), 8)], '}')
		if end < 2 {
			return 0, 0
		}
		if r, ok := hexRune(rest[1:end]); ok {
			return r, bar + 1 + end + 1
		}
		return 0, 0
	case kind != 'u':
		return 0, 0
	}
	if len(rest) < size {
		return 0, 0
	}
	if r, ok := hexRune(rest[:size]); ok {
		return r, bar + 1 + size
	}
	return 0, 0
}

// mostQuoted backslashes are looked through: one, five times quoted. A text of
// nothing but backslashes must not be read to its end from each of them.
const mostQuoted = 32

// backslashes returns how many b begins with, at most mostQuoted.
func backslashes(b []byte) int {
	b = b[:min(len(b), mostQuoted)]
	return len(b) - len(bytes.TrimLeft(b, `\`))
}

func hexRune(digits []byte) (r rune, ok bool) {
	for _, c := range digits {
		d, is := hexValue(c)
		if !is {
			return 0, false
		}
		if r = r<<4 | d; r > utf8.MaxRune {
			return 0, false
		}
	}
	return r, true
}

// byteEscape decodes a code point above ASCII whose bytes are escaped one by one:
// =E8=88=B9 of a mail, which may break its line in between, \xe8\x88\xb9 and
// \350\210\271 of programs.
func byteEscape(b []byte) (r rune, n int) {
	var buf [utf8.UTFMax]byte
	got := 0
	for got < len(buf) {
		v, size := escapedAt(b[n:])
		if size == 0 || got == 0 && v < utf8.RuneSelf {
			break
		}
		buf[got] = v
		got++
		n += size
		if r, size := utf8.DecodeRune(buf[:got]); size == got && r != utf8.RuneError {
			return r, n
		}
	}
	return 0, 0
}

// escapedAt decodes the escaped byte at the begin of b; size is 0 when there is
// none.
func escapedAt(b []byte) (v byte, size int) {
	at := 0
	if bytes.HasPrefix(b, []byte("=\n")) || bytes.HasPrefix(b, []byte("=\r\n")) {
		at = bytes.IndexByte(b, '\n') + 1 // no line is only its break
	}
	mark, base, digits := 1, rune(16), 2
	switch rest := b[at:]; {
	case len(rest) < 3:
		return 0, 0
	case rest[0] == '=':
	case rest[0] == '\\':
		mark = backslashes(rest)
		if mark < len(rest) && rest[mark] == 'x' {
			mark++
		} else {
			base, digits = 8, 3
		}
	default:
		return 0, 0
	}
	at += mark
	if len(b) < at+digits {
		return 0, 0
	}
	value := rune(0)
	for _, c := range b[at : at+digits] {
		d, ok := hexValue(c)
		if !ok || d >= base {
			return 0, 0
		}
		value = value*base + d
	}
	if value > 0xFF {
		return 0, 0
	}
	return byte(value), at + digits
}

// percentEscape decodes the %E8%88%B9 of an address at b[i:], also where it was
// escaped again (%25E8): one code point above ASCII, or a sign that does not stand
// behind a space. Behind a digit, 50%20 may be a number: there it counts only with
// more of its kind around.
func percentEscape(b []byte, i int) (r rune, n int) {
	if b[i] != '%' {
		return 0, 0
	}
	var buf [utf8.UTFMax]byte
	size := 0
	for n < len(buf) {
		v, w := percentByte(b[i+size*n:])
		if w == 0 || n > 0 && w != size {
			break
		}
		buf[n], size = v, w
		n++
	}
	if n == 0 {
		return 0, 0
	}
	if c := buf[0]; c < utf8.RuneSelf {
		mark := c|0x20 < 'a' && (c < '0' || c > '9') || c > 'z'
		digit := i > 0 && b[i-1] >= '0' && b[i-1] <= '9'
		if mark && (i == 0 || b[i-1] != ' ') && (!digit || size > 3 || escapedNear(b, i)) {
			return rune(c), size
		}
		return 0, 0
	}
	if r, w := utf8.DecodeRune(buf[:n]); w > 1 {
		return r, size * w
	}
	return 0, 0
}

// percentByte decodes the %HH, or the %25HH, at the begin of b; size is 0 when there
// is none.
func percentByte(b []byte) (v byte, size int) {
	if len(b) == 0 || b[0] != '%' {
		return 0, 0
	}
	for size = 1; size+2 <= len(b); size += 2 {
		hi, ok1 := hexValue(b[size])
		lo, ok2 := hexValue(b[size+1])
		if !ok1 || !ok2 {
			break
		}
		v = byte(hi<<4 | lo)
		if v != '%' {
			return v, size + 2
		}
	}
	if v == '%' {
		return v, size
	}
	return 0, 0
}

// escapedNear reports whether %HH also stands close before or behind the one at
// b[i:].
func escapedNear(b []byte, i int) bool {
	const near = 15 // bytes
	for k := max(0, i-near); k+2 < min(len(b), i+3+near); k++ {
		if k == i || b[k] != '%' {
			continue
		}
		_, ok1 := hexValue(b[k+1])
		_, ok2 := hexValue(b[k+2])
		if ok1 && ok2 {
			return true
		}
	}
	return false
}
