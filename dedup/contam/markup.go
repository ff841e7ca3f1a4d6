package contam

import (
	"bytes"
	"unicode/utf8"
)

// maxTag bounds the search for the end of a tag; the attributes of one that
// shows a picture or a formula can be long.
const maxTag = 2000

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

// htmlTag matches <name …>, </name>, comments and declarations; a<b is no tag.
func htmlTag(b []byte) int {
	i := 1
	switch {
	case bytes.HasPrefix(b, []byte("<!--")):
		if end := bytes.Index(b[:min(len(b), maxTag)], []byte("-->")); end > 0 {
			return end + 3
		}
		return 0
	case bytes.HasPrefix(b, []byte("<![CDATA[")):
		return len("<![CDATA[")
	case b[i] == '/', b[i] == '!', b[i] == '?':
		i++
	}
	start := i
	for i < len(b) && i-start < 12 && (b[i]|0x20 >= 'a' && b[i]|0x20 <= 'z' || i > start && b[i] >= '0' && b[i] <= '9') {
		i++
	}
	if i == start || i == len(b) {
		return 0
	}
	if c := b[i]; c != '>' && c != ' ' && c != '/' && c != '\n' && c != ':' && c != '\t' {
		return 0
	}
	end := bytes.IndexByte(b[i:min(len(b), i+maxTag)], '>')
	if end < 0 || bytes.IndexByte(b[i:i+end], '<') >= 0 {
		return 0
	}
	return i + end + 1
}

// escape matches what a backslash begins: \n and \t of a string inside a
// string, however often it was quoted, and the TeX commands that set type or
// spacing.
func escape(b []byte) int {
	bar := 1
	for bar < len(b) && b[bar] == '\\' {
		bar++
	}
	i := bar
	for i < len(b) && i < bar+20 && (b[i]|0x20) >= 'a' && (b[i]|0x20) <= 'z' {
		i++
	}
	switch string(b[bar:i]) {
	case "text", "mathrm", "mathbf", "mathit", "mathsf", "mathtt", "operatorname", "rm", "bf", "it", "left", "right", "quad",
		"qquad", "circ", "cdot", "times", "frac", "dfrac", "tfrac", "sqrt", "le", "leq", "ge", "geq", "pm", "degree", "textbf",
		"textit", "textrm", "texttt", "textsf", "textsc", "emph", "underline", "displaystyle", "item",
		"overline", "hat", "bar", "vec", "mbox", "hbox", "boldsymbol", "large", "small", "newline", "par", "noindent", "centering",
		"section", "subsection", "hline", "ce", "unit", "si":
		return i
	case "begin", "end", "color", "textcolor", "hspace", "vspace", "label", "ref", "includegraphics":
		return i + braces(b[i:]) // what they take is no text
	}
	if i > bar && (b[bar] == 'n' || b[bar] == 't' || b[bar] == 'r') {
		return bar + 1
	}
	return 0
}

// braces returns the length of the {…} that b begins with, if it is short.
func braces(b []byte) int {
	if len(b) == 0 || b[0] != '{' {
		return 0
	}
	return 1 + bytes.IndexByte(b[:min(len(b), 40)], '}')
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

// unicodeEscape decodes the \u8239 of a JSON string inside a string; the
// backslash doubles each time it is quoted again.
func unicodeEscape(b []byte) (r rune, n int) {
	if len(b) < 6 || b[0] != '\\' {
		return 0, 0
	}
	bar := 1
	for bar < len(b) && b[bar] == '\\' {
		bar++
	}
	if len(b) < bar+5 || b[bar] != 'u' {
		return 0, 0
	}
	for _, c := range b[bar+1 : bar+5] {
		d, ok := hexValue(c)
		if !ok {
			return 0, 0
		}
		r = r<<4 | d
	}
	return r, bar + 5
}

// percentEscape decodes the %E8%88%B9 of an address at b[i:]: one code point
// above ASCII, or a sign that does not stand behind a space. Behind a digit, 50%20
// may be a number: there it counts only with more of its kind around.
func percentEscape(b []byte, i int) (r rune, n int) {
	if b[i] != '%' {
		return 0, 0
	}
	var buf [utf8.UTFMax]byte
	for n < len(buf) && len(b) >= i+3*n+3 && b[i+3*n] == '%' {
		hi, ok1 := hexValue(b[i+3*n+1])
		lo, ok2 := hexValue(b[i+3*n+2])
		if !ok1 || !ok2 {
			break
		}
		buf[n] = byte(hi<<4 | lo)
		n++
	}
	if n == 0 {
		return 0, 0
	}
	if c := buf[0]; c < utf8.RuneSelf {
		sign := c|0x20 < 'a' && (c < '0' || c > '9') || c > 'z'
		digit := i > 0 && b[i-1] >= '0' && b[i-1] <= '9'
		if sign && i > 0 && b[i-1] != ' ' && (!digit || escapedNear(b, i)) {
			return ' ', 3
		}
		return 0, 0
	}
	if r, size := utf8.DecodeRune(buf[:n]); size > 1 {
		return r, 3 * size
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
