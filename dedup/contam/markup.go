package contam

import (
	"bytes"
	"slices"
	"unicode"
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
		if n := writtenTag(b); n > 0 {
			return n
		}
		return escape(b)
	case '&', '%', fullWidth[0]:
		return writtenTag(b)
	}
	return 0
}

// htmlTag matches <name …>, </name>, comments and declarations; a<b is no tag. Of
// a tag with an attribute that is a text (<node text="…">) it takes what stands
// before that.
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
	if string(b[start:i]) != "img" { // whose alt stands in the middle of a sentence
		if at := textAttribute(b[i : i+end]); at > 0 {
			return i + at
		}
	}
	return i + end + 1
}

const (
	// attributeHan characters beyond ASCII, or attributeWords words, make a value a
	// text.
	attributeHan   = 4
	attributeWords = 5
)

// textAttribute returns where the first value begins that is a text, among the
// attributes of a tag; 0 when none is.
func textAttribute(b []byte) int {
	for at := 0; ; {
		eq := bytes.IndexByte(b[at:], '=')
		if eq < 0 || at+eq+2 > len(b) {
			return 0
		}
		name, quote := bytes.TrimSpace(b[at:at+eq]), b[at+eq+1]
		if at += eq + 1; quote != '"' && quote != '\'' {
			continue
		}
		at++
		value, _, closed := bytes.Cut(b[at:], []byte{quote})
		if !closed {
			return 0
		}
		if string(name) != "style" && string(name) != "class" && bytes.IndexByte(value, '{') < 0 && readsAsText(value) {
			return at
		}
		at += len(value) + 1
	}
}

// readsAsText reports whether a value has Chinese characters or a sentence's words.
func readsAsText(value []byte) bool {
	han, words := 0, 0
	inWord := false
	for i := 0; i < len(value); {
		r, n := sign(value, i)
		if n == 0 {
			r, n = utf8.DecodeRune(value[i:])
		}
		i += n
		letter := unicode.IsLetter(r)
		switch {
		case letter && r >= utf8.RuneSelf:
			han++
		case letter && !inWord:
			words++
		}
		inWord = letter || r != ' ' // a word has a space before it
	}
	return han >= attributeHan || words >= attributeWords
}

// fullWidth is ＜ in UTF-8.
const fullWidth = "\uff1c"

// longestWritten is the most code points of a tag that is written otherwise.
const longestWritten = 80

// writtenTags are the names of the tags that writtenTag knows: between brackets
// that are written otherwise may stand anything.
var writtenTags = []string{
	"a", "b", "blockquote", "br", "center", "code", "dd", "del", "div", "dl", "dt", "em", "font", "h1", "h2", "h3", "h4", "h5",
	"h6", "hr", "i", "img", "ins", "label", "li", "mark", "math", "mi", "mn", "mo", "mrow", "msub", "msup", "o:p", "ol", "p",
	"pre", "s", "small", "span", "strong", "sub", "sup", "table", "tbody", "td", "th", "thead", "tr", "u", "ul",
}

// writtenTag matches an HTML tag in references, escapes or full width: &lt;b&gt;,
// \u003cb\u003e, %3Cb%3E, ＜ｂ＞.
func writtenTag(b []byte) int {
	_, n := writtenOut(b)
	return n
}

// writtenOut returns the tag that writtenTag matches, in ASCII, and its length.
func writtenOut(b []byte) (tag []byte, n int) {
	if r, w := writtenSign(b, 0); r != '<' || w < 2 {
		return nil, 0
	}
	tag = make([]byte, 0, longestWritten)
	for n < len(b) && len(tag) < longestWritten {
		r, w := writtenSign(b, n)
		if r >= utf8.RuneSelf || r == '<' && n > 0 {
			return nil, 0
		}
		tag = append(tag, byte(r))
		n += w
		if r != '>' {
			continue
		}
		name, _, _ := bytes.Cut(bytes.Trim(tag, "</>"), []byte{' '})
		if htmlTag(tag) == len(tag) && slices.Contains(writtenTags, string(bytes.ToLower(bytes.TrimRight(name, "/")))) {
			return tag, n
		}
		break
	}
	return nil, 0
}

// writtenSign decodes the code point at b[i:], however it is written, and its
// width. Of a named reference only those of brackets are known.
func writtenSign(b []byte, i int) (r rune, n int) {
	if v, w := percentByte(b[i:]); w > 0 {
		return rune(v), w
	}
	if r, n = sign(b, i); n == 0 {
		r, n = utf8.DecodeRune(b[i:])
	}
	switch end := b[i : i+n]; {
	case n == 1:
	case bytes.HasSuffix(end, []byte("lt;")):
		r = '<'
	case bytes.HasSuffix(end, []byte("gt;")):
		r = '>'
	}
	if r > 0xFF00 && r < 0xFF5F {
		r -= 0xFEE0
	}
	if r == 0x3000 {
		r = ' '
	}
	return r, n
}

// escape matches what a backslash begins: \n and \t of a string inside a
// string, however often it was quoted, and the TeX commands that set type or
// spacing.
func escape(b []byte) int {
	bar := backslashes(b)
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
