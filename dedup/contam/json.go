package contam

import (
	"bytes"
	"fmt"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// A field is one text of a record in the stream.
type field struct {
	first   int // its first letter in the stream
	text    []byte
	pointer string // of a row: only known in the second walk
}

// rowScanner walks a JSON value without building anything: it checks the
// syntax and hands over every string and number that is a value.
type rowScanner struct {
	b       []byte
	i       int
	depth   int
	stack   [maxDepth / 64]uint64 // bit set: object
	scratch []byte                // unescaped strings, kept until the row ends
	key     []byte                // the last key read
	value   func(text []byte, number bool)
	track   bool // keep path
	path    []step
}

const maxDepth = 512

// A SyntaxError says where a row stops being JSON.
type SyntaxError struct {
	Column int // byte of the row, from 1
	What   string
}

// Error implements error.
func (e *SyntaxError) Error() string { return fmt.Sprintf("column %d: %s", e.Column, e.What) }

func (r *rowScanner) fail(what string) error { return &SyntaxError{r.i + 1, what} }

// longestKey is the longest name of a field; a longer one with spaces or letters
// beyond ASCII is a text, as where questions are the keys of their answers.
const longestKey = 24 // bytes

// shortKey bytes name a field even where they look like a sentence.
const shortKey = 12

// walk calls value for every string (unescaped) and number of the row, also for
// keys that are texts. The texts are valid until the next walk.
func (r *rowScanner) walk(row []byte, value func(text []byte, number bool)) error {
	r.b, r.i, r.depth, r.key, r.scratch, r.path = row, 0, 0, nil, r.scratch[:0], r.path[:0]
	r.value = value
	if err := r.one(value); err != nil {
		return err
	}
	r.space()
	if r.i < len(r.b) {
		return r.fail("text after the JSON value")
	}
	return nil
}

func (r *rowScanner) space() {
	for r.i < len(r.b) && (r.b[r.i] == ' ' || r.b[r.i] == '\t' || r.b[r.i] == '\n' || r.b[r.i] == '\r') {
		r.i++
	}
}

// one walks a whole value. It is a loop with a bit stack instead of a
// recursion, so that no row can exhaust the stack.
func (r *rowScanner) one(value func([]byte, bool)) error {
	for {
		r.space()
		if r.i >= len(r.b) {
			return r.fail("the JSON value is cut off")
		}
		open, err := r.begin(value)
		if err != nil {
			return err
		}
		if open {
			first, err := r.enter()
			if err != nil {
				return err
			}
			if first {
				continue
			}
		}
		// a value has ended: close what ends with it
		again, err := r.after()
		if err != nil || !again {
			return err
		}
	}
}

// begin reads a scalar, or steps into an object or array.
func (r *rowScanner) begin(value func([]byte, bool)) (open bool, err error) {
	at := r.i
	switch c := r.b[r.i]; {
	case c == '"':
		s, err := r.str()
		if err == nil {
			value(s, false)
		}
		return false, err
	case c == '{' || c == '[':
		if r.depth == maxDepth {
			return false, r.fail("nested too deeply")
		}
		if w, bit := r.depth/64, uint64(1)<<(r.depth%64); c == '{' {
			r.stack[w] |= bit
		} else {
			r.stack[w] &^= bit
		}
		r.depth++
		r.i++
		if r.track {
			at := step{index: -1}
			if c == '[' {
				at.index = 0
			}
			r.path = append(r.path, at)
		}
		return true, nil
	case c == '-' || c >= '0' && c <= '9':
		for r.i < len(r.b) && (r.b[r.i] >= '0' && r.b[r.i] <= '9' || bytes.IndexByte([]byte("+-.eE"), r.b[r.i]) >= 0) {
			r.i++
		}
		value(r.b[at:r.i], true)
		return false, nil
	}
	for _, w := range [...]string{"true", "false", "null", "NaN", "Infinity"} {
		if bytes.HasPrefix(r.b[r.i:], []byte(w)) {
			r.i += len(w)
			return false, nil
		}
	}
	return false, r.fail("not a JSON value")
}

func (r *rowScanner) object() bool { return r.stack[(r.depth-1)/64]>>((r.depth-1)%64)&1 == 1 }

// enter reads what follows an opening bracket; false: it was closed at once.
func (r *rowScanner) enter() (first bool, err error) {
	r.space()
	if r.i < len(r.b) && (r.b[r.i] == '}' && r.object() || r.b[r.i] == ']' && !r.object()) {
		r.close()
		return false, nil
	}
	if r.object() {
		return true, r.name()
	}
	return true, nil
}

func (r *rowScanner) close() {
	r.i++
	r.depth--
	if r.track {
		r.path = r.path[:len(r.path)-1]
	}
}

func (r *rowScanner) name() error {
	r.space()
	if r.i >= len(r.b) || r.b[r.i] != '"' {
		return r.fail("a key is missing")
	}
	s, err := r.str()
	if err != nil {
		return err
	}
	r.key = s
	if len(s) > longestKey && (bytes.IndexByte(s, ' ') >= 0 || !ascii(s)) || len(s) > shortKey && sentence(s) {
		r.keyText(s)
	}
	if r.track {
		r.path[len(r.path)-1].name = string(s)
	}
	r.space()
	if r.i >= len(r.b) || r.b[r.i] != ':' {
		return r.fail("a colon is missing")
	}
	r.i++
	return nil
}

// keyText hands over a key as a text; its pointer is that of the object.
func (r *rowScanner) keyText(s []byte) {
	path := r.path
	if r.track {
		r.path = path[:len(path)-1]
	}
	r.value(s, false)
	r.path = path
}

// sentence reports whether a key has a blank to fill in or ends as a sentence does.
func sentence(s []byte) bool {
	return bytes.Contains(s, []byte("___")) || bytes.HasSuffix(s, []byte("？")) || bytes.HasSuffix(s, []byte("。")) || s[len(s)-1] == '?'
}

func ascii(b []byte) bool {
	for _, c := range b {
		if c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// after reads what follows a value; false: the whole value has ended.
func (r *rowScanner) after() (again bool, err error) {
	for r.depth > 0 {
		r.space()
		if r.i >= len(r.b) {
			return false, r.fail("the JSON value is cut off")
		}
		switch c := r.b[r.i]; {
		case c == ',':
			r.i++
			if r.object() {
				return true, r.name()
			}
			if r.track {
				r.path[len(r.path)-1].index++
			}
			return true, nil
		case c == '}' && r.object() || c == ']' && !r.object():
			r.close()
		default:
			return false, r.fail("a comma or closing bracket is missing")
		}
	}
	return false, nil
}

// str reads the string at r.i. Without escapes it is a part of the row.
func (r *rowScanner) str() ([]byte, error) {
	start := r.i + 1
	b := r.b[start:]
	end := bytes.IndexByte(b, '"')
	if end < 0 {
		return nil, r.fail("a string is cut off")
	}
	if bytes.IndexByte(b[:end], '\\') < 0 {
		r.i = start + end + 1
		return b[:end:end], nil
	}
	from := len(r.scratch)
	r.i = start
	for {
		b := r.b[r.i:]
		n := quoteOrBackslash(b)
		if n < 0 {
			return nil, r.fail("a string is cut off")
		}
		r.scratch = append(r.scratch, b[:n]...)
		r.i += n
		if r.b[r.i] == '"' {
			r.i++
			return r.scratch[from:len(r.scratch):len(r.scratch)], nil
		}
		if err := r.escape(); err != nil {
			return nil, err
		}
	}
}

// escape appends what the backslash at r.i stands for.
func (r *rowScanner) escape() error {
	if r.i+1 >= len(r.b) {
		return r.fail("a string is cut off")
	}
	c := r.b[r.i+1]
	r.i += 2
	switch c {
	case '"', '\\', '/':
		r.scratch = append(r.scratch, c)
	case 'n':
		r.scratch = append(r.scratch, '\n')
	case 't':
		r.scratch = append(r.scratch, '\t')
	case 'r':
		r.scratch = append(r.scratch, '\r')
	case 'b':
		r.scratch = append(r.scratch, '\b')
	case 'f':
		r.scratch = append(r.scratch, '\f')
	case 'u':
		v, ok := r.hex()
		if !ok {
			return r.fail(`\u without four hex digits`)
		}
		if utf16.IsSurrogate(v) {
			low := rune(0)
			if r.i+6 <= len(r.b) && r.b[r.i] == '\\' && r.b[r.i+1] == 'u' {
				save := r.i
				r.i += 2
				if low, ok = r.hex(); !ok || utf16.DecodeRune(v, low) == utf8.RuneError {
					r.i = save
				}
			}
			v = utf16.DecodeRune(v, low)
		}
		r.scratch = utf8.AppendRune(r.scratch, v)
	default:
		r.i--
		return r.fail("unknown escape in a string")
	}
	return nil
}

func (r *rowScanner) hex() (rune, bool) {
	if r.i+4 > len(r.b) {
		return 0, false
	}
	v, err := strconv.ParseUint(string(r.b[r.i:r.i+4]), 16, 32)
	if err != nil || r.b[r.i] == '+' {
		return 0, false
	}
	r.i += 4
	return rune(v), true
}

// quoteOrBackslash returns where the first of the two is, -1 when neither is.
func quoteOrBackslash(b []byte) int {
	for i, c := range b {
		if c == '"' || c == '\\' {
			return i
		}
	}
	return -1
}

// A step is one level of the path to a value.
type step struct {
	name  string
	index int // of an array's element; -1: a name
}

// pointer returns the JSON pointer (RFC 6901) of the value being read; tracked
// walks only.
func (r *rowScanner) pointer() string {
	var b []byte
	for _, s := range r.path {
		b = append(b, '/')
		if s.index >= 0 {
			b = strconv.AppendInt(b, int64(s.index), 10)
			continue
		}
		for _, c := range []byte(s.name) {
			switch c {
			case '~':
				b = append(b, '~', '0')
			case '/':
				b = append(b, '~', '1')
			default:
				b = append(b, c)
			}
		}
	}
	return string(b)
}
