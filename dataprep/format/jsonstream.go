package format

import (
	"bytes"
	"errors"
	"io"
	"unicode/utf8"
)

// A jsonStream walks a JSON text of any size with a window over it. Only a value
// that is being captured is held whole.
type jsonStream struct {
	r    io.Reader
	max  int // longest value captured
	err  error
	buf  []byte
	pos  int // next byte
	end  int
	keep int // start of what must stay in the buffer; -1: nothing
	eof  bool

	line      int // number of the line buf[0] stands on, from 1
	lineRunes int // characters of that line that already left the buffer
}

// errLongValue says that a value is longer than what is held.
var errLongValue = errors.New("value too long")

func newJSONStream(r io.Reader) *jsonStream {
	return &jsonStream{r: r, max: maxRow, keep: -1, line: 1}
}

// peek returns the next byte without passing it; false at the end.
func (s *jsonStream) peek() (byte, bool) {
	for s.pos == s.end {
		if s.eof || s.err != nil {
			return 0, false
		}
		s.fill()
	}
	return s.buf[s.pos], true
}

// space passes white space and returns the byte behind it.
func (s *jsonStream) space() (byte, bool) {
	for {
		c, ok := s.peek()
		if !ok || c != ' ' && c != '\t' && c != '\n' && c != '\r' {
			return c, ok
		}
		s.pos++
	}
}

// fill reads on. What lies before keep, or before pos, leaves the buffer.
func (s *jsonStream) fill() {
	from := s.pos
	if s.keep >= 0 {
		from = s.keep
	}
	if from > 0 {
		s.passed(s.buf[:from])
		copy(s.buf, s.buf[from:s.end])
		s.pos, s.end = s.pos-from, s.end-from
		if s.keep >= 0 {
			s.keep = 0
		}
	}
	if s.end == len(s.buf) {
		s.buf = append(s.buf, make([]byte, max(len(s.buf), 256<<10))...)
	}
	n, err := s.r.Read(s.buf[s.end:])
	s.end += n
	if err != nil {
		s.eof = true
		if !errors.Is(err, io.EOF) {
			s.err = err
		}
	}
}

// passed keeps count of the lines that leave the buffer.
func (s *jsonStream) passed(b []byte) {
	if i := bytes.LastIndexByte(b, '\n'); i >= 0 {
		s.line += bytes.Count(b, []byte{'\n'})
		s.lineRunes = 0
		b = b[i+1:]
	}
	s.lineRunes += utf8.RuneCount(b)
}

// place returns line, column and the text of the line at an offset of the
// buffer. The excerpt is what of the line is in the buffer, at most 200
// characters around the place; col is within the line.
func (s *jsonStream) place(at int) (line, col int, excerpt string) {
	before := s.buf[:at]
	line, col = s.line, s.lineRunes+1
	if i := bytes.LastIndexByte(before, '\n'); i >= 0 {
		line += bytes.Count(before, []byte{'\n'})
		before, col = before[i+1:], 1
	}
	col += utf8.RuneCount(before)
	rest := s.buf[at:s.end]
	if i := bytes.IndexByte(rest, '\n'); i >= 0 {
		rest = rest[:i]
	}
	if col > 120 { // too far right to show from the start of the line
		return line, col, ""
	}
	return line, col, string(bytes.ToValidUTF8(append(bytes.Clone(before), rest[:min(len(rest), 200)]...), []byte("\ufffd")))
}

// capture passes one value and returns it, valid until the next read. Brackets
// and strings are followed, nothing else is checked. On an error the bytes are
// what was seen of the value.
func (s *jsonStream) capture() ([]byte, error) {
	s.keep = s.pos
	err := s.skipValue()
	b := s.buf[s.keep:s.pos]
	s.keep = -1
	return b, err
}

func (s *jsonStream) skipValue() error {
	c, ok := s.peek()
	if !ok {
		return s.ended()
	}
	if c == '"' {
		return s.skipString()
	}
	if c != '{' && c != '[' {
		return s.skipScalar()
	}
	for depth := 0; ; {
		if _, ok := s.peek(); !ok {
			return s.ended()
		}
		// on to the next quote or bracket
		i := s.pos
		for i < s.end && !structural(s.buf[i]) {
			i++
		}
		if s.pos = i; i < s.end {
			switch s.buf[i] {
			case '"':
				if err := s.skipString(); err != nil {
					return err
				}
				continue
			case '{', '[':
				depth++
			default:
				depth--
			}
			if s.pos++; depth == 0 {
				return nil
			}
		}
		if s.keep >= 0 && s.pos-s.keep > s.max {
			return errLongValue
		}
	}
}

func structural(c byte) bool { return c == '"' || c|0x20 == '{' || c|0x20 == '}' }

func (s *jsonStream) skipString() error {
	for s.pos++; ; {
		c, ok := s.peek()
		switch {
		case !ok:
			return s.ended()
		case s.keep >= 0 && s.pos-s.keep > s.max:
			return errLongValue
		case c == '"':
			s.pos++
			return nil
		case c == '\\':
			s.pos++
			if _, ok = s.peek(); !ok {
				return s.ended()
			}
			s.pos++
		default:
			rest := s.buf[s.pos:s.end]
			n := bytes.IndexByte(rest, '"')
			if n < 0 {
				n = len(rest)
			}
			if i := bytes.IndexByte(rest[:n], '\\'); i >= 0 {
				n = i
			}
			s.pos += n
		}
	}
}

// skipScalar passes a number or a word: all until a delimiter.
func (s *jsonStream) skipScalar() error {
	start := s.pos
	for {
		c, ok := s.peek()
		if start > s.pos {
			start = 0 // the buffer moved
		}
		if !ok {
			if s.err != nil {
				return s.err
			}
			return nil
		}
		switch c {
		case ',', ']', '}', ':', ' ', '\t', '\n', '\r', '"', '{', '[':
			return nil
		}
		s.pos++
		if s.keep >= 0 && s.pos-s.keep > s.max {
			return errLongValue
		}
	}
}

func (s *jsonStream) ended() error {
	if s.err != nil {
		return s.err
	}
	return io.ErrUnexpectedEOF
}
