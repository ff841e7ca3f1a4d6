package format

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode/utf8"

	"github.com/drydock-ml/drydock/internal/textnorm"
)

// maxJSONDepth is how deep arrays and objects may nest: the limit of the
// fastest reader behind us (fastjson), so that no row passes here and fails
// there.
const maxJSONDepth = 300

// A jsonFault is the first place where bytes stop being strict JSON. Text says
// in English what stands there and what was wanted.
type jsonFault struct {
	Offset int
	Reason string // of the drop: bad_json, duplicate_key, invalid_utf8
	Text   string
}

// A jsonChecker proves that bytes are one JSON value by RFC 8259, with two
// things added: invalid UTF-8 and a key given twice in one object are faults,
// since readers disagree on what such a row says. Its buffers are reused; the
// zero value is ready.
type jsonChecker struct {
	b     []byte
	keys  [][]byte // keys of the open objects, innermost last
	depth int
	// nans are the offsets of NaN, Infinity and -Infinity where a value stands:
	// Python writes them, JSON has none of them.
	nans []int
	// surrogate is the offset of the first \uD800–\uDFFF without its other
	// half, -1 when there is none.
	surrogate int
}

// check returns nil for a valid value, which may stand among white space. nans
// and surrogate are valid afterwards.
func (c *jsonChecker) check(b []byte) *jsonFault {
	c.b, c.keys, c.nans, c.depth, c.surrogate = b, c.keys[:0], c.nans[:0], 0, -1
	i, f := c.value(c.space(0))
	if f == nil {
		if i = c.space(i); i < len(b) {
			f = c.bad(i, "the end of the row")
		}
	}
	if f == nil { // outside of strings all is ASCII, and str has seen to the rest
		return nil
	}
	if i := textnorm.InvalidUTF8(b); i >= 0 {
		return &jsonFault{i, "invalid_utf8", fmt.Sprintf("byte 0x%02X is not UTF-8", b[i])}
	}
	return f
}

func (c *jsonChecker) space(i int) int {
	for i < len(c.b) {
		switch c.b[i] {
		case ' ', '\t', '\n', '\r':
			i++
		default:
			return i
		}
	}
	return i
}

// bad is the fault of meeting something else than what was wanted.
func (c *jsonChecker) bad(i int, want string) *jsonFault {
	if i >= len(c.b) {
		return &jsonFault{len(c.b), "bad_json", "it ends where " + want + " should stand"}
	}
	r, _ := utf8.DecodeRune(c.b[i:])
	return &jsonFault{i, "bad_json", fmt.Sprintf("%q where %s should stand", r, want)}
}

func (c *jsonChecker) value(i int) (int, *jsonFault) {
	if i >= len(c.b) {
		return i, c.bad(i, "a value")
	}
	switch ch := c.b[i]; ch {
	case '"':
		return c.str(i)
	case '{':
		return c.object(i)
	case '[':
		return c.array(i)
	case 't':
		return c.word(i, "true")
	case 'f':
		return c.word(i, "false")
	case 'n':
		return c.word(i, "null")
	case 'N':
		c.nans = append(c.nans, i)
		return c.word(i, "NaN")
	case 'I':
		c.nans = append(c.nans, i)
		return c.word(i, "Infinity")
	default:
		if ch == '-' && i+1 < len(c.b) && c.b[i+1] == 'I' {
			c.nans = append(c.nans, i)
			return c.word(i, "-Infinity")
		}
		return c.number(i)
	}
}

func (c *jsonChecker) word(i int, w string) (int, *jsonFault) {
	if !bytes.HasPrefix(c.b[i:], []byte(w)) {
		return i, c.bad(i, "a value")
	}
	return i + len(w), nil
}

func (c *jsonChecker) digits(i int) int {
	for i < len(c.b) && c.b[i]-'0' <= 9 {
		i++
	}
	return i
}

func (c *jsonChecker) number(i int) (int, *jsonFault) {
	start := i
	if c.b[i] == '-' {
		i++
	}
	j := c.digits(i)
	switch {
	case j == i && i == start:
		return i, c.bad(i, "a value")
	case j == i:
		return i, c.bad(i, "a digit")
	case c.b[i] == '0' && j > i+1:
		return i, &jsonFault{i, "bad_json", "a number begins with 0"}
	}
	if i = j; i < len(c.b) && c.b[i] == '.' {
		if j = c.digits(i + 1); j == i+1 {
			return j, c.bad(j, "a digit")
		}
		i = j
	}
	if i < len(c.b) && c.b[i]|0x20 == 'e' {
		if i++; i < len(c.b) && (c.b[i] == '+' || c.b[i] == '-') {
			i++
		}
		if j = c.digits(i); j == i {
			return j, c.bad(j, "a digit")
		}
		i = j
	}
	return i, nil
}

func (c *jsonChecker) array(i int) (int, *jsonFault) {
	if c.depth++; c.depth > maxJSONDepth {
		return i, &jsonFault{i, "bad_json", fmt.Sprintf("nested deeper than %d levels", maxJSONDepth)}
	}
	if i = c.space(i + 1); i < len(c.b) && c.b[i] == ']' {
		c.depth--
		return i + 1, nil
	}
	for {
		var f *jsonFault
		if i, f = c.value(i); f != nil {
			return i, f
		}
		i = c.space(i)
		switch {
		case i < len(c.b) && c.b[i] == ',':
			i = c.space(i + 1)
		case i < len(c.b) && c.b[i] == ']':
			c.depth--
			return i + 1, nil
		default:
			return i, c.bad(i, "',' or ']'")
		}
	}
}

func (c *jsonChecker) object(i int) (int, *jsonFault) {
	if c.depth++; c.depth > maxJSONDepth {
		return i, &jsonFault{i, "bad_json", fmt.Sprintf("nested deeper than %d levels", maxJSONDepth)}
	}
	own := len(c.keys)
	var seen map[string]bool
	if i = c.space(i + 1); i < len(c.b) && c.b[i] == '}' {
		c.depth--
		return i + 1, nil
	}
	for {
		if i >= len(c.b) || c.b[i] != '"' {
			return i, c.bad(i, "a key in double quotes")
		}
		j, f := c.str(i)
		if f != nil {
			return j, f
		}
		if seen, f = c.addKey(own, i, c.b[i+1:j-1], seen); f != nil {
			return i, f
		}
		if i = c.space(j); i >= len(c.b) || c.b[i] != ':' {
			return i, c.bad(i, "':'")
		}
		if i, f = c.value(c.space(i + 1)); f != nil {
			return i, f
		}
		i = c.space(i)
		switch {
		case i < len(c.b) && c.b[i] == ',':
			i = c.space(i + 1)
		case i < len(c.b) && c.b[i] == '}':
			c.depth--
			c.keys = c.keys[:own]
			return i + 1, nil
		default:
			return i, c.bad(i, "',' or '}'")
		}
	}
}

// addKey finds a key given twice in the object whose keys begin at own. Few
// keys are compared one by one; from 32 on a map is made, so that a hostile
// row costs no square.
func (c *jsonChecker) addKey(own, at int, key []byte, seen map[string]bool) (map[string]bool, *jsonFault) {
	if bytes.IndexByte(key, '\\') >= 0 {
		var s string
		if json.Unmarshal(c.b[at:at+len(key)+2], &s) == nil {
			key = []byte(s)
		}
	}
	twice := false
	if seen != nil {
		twice = seen[string(key)]
		seen[string(key)] = true
	} else {
		for _, k := range c.keys[own:] {
			if len(k) == len(key) && bytes.Equal(k, key) {
				twice = true
			}
		}
		c.keys = append(c.keys, key)
		if len(c.keys)-own == 32 {
			seen = map[string]bool{}
			for _, k := range c.keys[own:] {
				seen[string(k)] = true
			}
		}
	}
	if twice {
		return seen, &jsonFault{at, "duplicate_key", fmt.Sprintf("key %q stands twice in one object", key)}
	}
	return seen, nil
}

// str passes a string; i is its opening quote. It is looked at from escape to
// escape. Of a byte that is no UTF-8 it only says that there is a fault.
func (c *jsonChecker) str(i int) (int, *jsonFault) {
	start, b, quote := i, c.b, i
	for i++; ; {
		if quote < i { // at first, and where an escape has passed it
			if quote = len(b); i < quote {
				if n := bytes.IndexByte(b[i:], '"'); n >= 0 {
					quote = i + n
				}
			}
		}
		end := quote
		if n := bytes.IndexByte(b[i:quote], '\\'); n >= 0 {
			end = i + n
		}
		if !plain(b[i:end]) {
			return i, c.notPlain(i, end)
		}
		switch {
		case end < quote:
			var f *jsonFault
			if i, f = c.escape(end); f != nil {
				return i, f
			}
		case quote == len(b):
			return quote, &jsonFault{quote, "bad_json", fmt.Sprintf("the string that opens at byte %d never closes", start+1)}
		default:
			return quote + 1, nil
		}
	}
}

// notPlain is the fault in a text of a string.
func (c *jsonChecker) notPlain(i, end int) *jsonFault {
	for ; i < end; i++ {
		if c.b[i] < ' ' {
			return &jsonFault{i, "bad_json", fmt.Sprintf("control character 0x%02X inside a string", c.b[i])}
		}
	}
	return c.bad(end, "UTF-8")
}

// escape passes one escape; i is its backslash.
func (c *jsonChecker) escape(i int) (int, *jsonFault) {
	if i+1 >= len(c.b) {
		return i, c.bad(i+1, "an escape")
	}
	switch c.b[i+1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return i + 2, nil
	case 'u':
		if _, ok := hex4(c.b, i+2); !ok {
			return i, &jsonFault{i, "bad_json", `\u needs four hex digits`}
		}
		n := escapeLength(c.b, i)
		if n < 0 {
			n = 6
			if c.surrogate < 0 {
				c.surrogate = i
			}
		}
		return i + n, nil
	}
	return i, &jsonFault{i, "bad_json", fmt.Sprintf(`\%c is not an escape of JSON`, rune(c.b[i+1]))}
}

// escapeLength is how many bytes the valid escape at i takes, both halves of a
// surrogate pair being one; -1: it is a half that stands alone.
func escapeLength(b []byte, i int) int {
	if b[i+1] != 'u' {
		return 2
	}
	v, _ := hex4(b, i+2)
	if v < 0xD800 || v > 0xDFFF {
		return 6
	}
	if v < 0xDC00 && i+7 < len(b) && b[i+6] == '\\' && b[i+7] == 'u' {
		if low, ok := hex4(b, i+8); ok && low >= 0xDC00 && low <= 0xDFFF {
			return 12
		}
	}
	return -1
}

func hex4(b []byte, i int) (v int, ok bool) {
	if i+4 > len(b) {
		return 0, false
	}
	for _, ch := range b[i : i+4] {
		switch {
		case ch-'0' <= 9:
			v = v<<4 | int(ch-'0')
		case ch|0x20 >= 'a' && ch|0x20 <= 'f':
			v = v<<4 | int(ch|0x20-'a'+10)
		default:
			return 0, false
		}
	}
	return v, true
}

// runeColumn is the column of an offset in a line, in characters from 1.
func runeColumn(line []byte, offset int) int {
	return utf8.RuneCount(line[:min(offset, len(line))]) + 1
}
