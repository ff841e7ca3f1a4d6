package format

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"unicode/utf8"
)

// Bounds on one token of XML: a tag, a comment, and how much text is given at
// once.
const (
	maxXMLTag  = 16 << 20
	xmlTextRun = 1 << 20
)

// An xmlScanner cuts XML in UTF-8 into tags and text. It checks what an office
// file must keep to be read with confidence, not all that the standard asks:
// that tags, attributes and references are whole. It allocates nothing a token,
// which is what makes it several times as fast as encoding/xml.
type xmlScanner struct {
	r        io.Reader
	buf      []byte
	pos, end int // what is not given yet lies in buf[pos:end]
	eof      bool
	failed   error // of reading

	line, column int // of buf[0], from 1 and 0

	tag     []byte    // name of a start or end, valid until next
	attrs   []xmlAttr // of a start, valid until next
	text    []byte    // valid until next
	scratch []byte
	closing bool // the start was also an end
}

// An xmlAttr is an attribute as it stands in the file, references and all.
type xmlAttr struct{ name, value []byte }

// local is the name without its prefix.
func (a xmlAttr) local() []byte {
	if i := bytes.IndexByte(a.name, ':'); i >= 0 {
		return a.name[i+1:]
	}
	return a.name
}

// An xmlKind is a kind of token.
type xmlKind uint8

const (
	xmlStart xmlKind = iota + 1
	xmlEnd
	xmlText
)

func newXMLScanner(r io.Reader) *xmlScanner {
	return &xmlScanner{r: r, buf: make([]byte, 64<<10), line: 1}
}

// more reads on; false at the end.
func (s *xmlScanner) more() bool {
	if s.eof {
		return false
	}
	if s.pos > 0 {
		s.count(s.buf[:s.pos])
		s.end = copy(s.buf, s.buf[s.pos:s.end])
		s.pos = 0
	}
	if s.end == len(s.buf) {
		s.buf = append(s.buf, make([]byte, len(s.buf))...)
	}
	for range 100 { // a reader may give nothing without an error
		n, err := s.r.Read(s.buf[s.end:])
		s.end += n
		if err != nil {
			s.eof = true
			if !errors.Is(err, io.EOF) {
				s.failed = err
			}
		}
		if n > 0 || s.eof {
			return n > 0
		}
	}
	s.eof, s.failed = true, io.ErrNoProgress
	return false
}

// count keeps line and column of what is given away.
func (s *xmlScanner) count(b []byte) {
	if i := bytes.LastIndexByte(b, '\n'); i >= 0 {
		s.line += bytes.Count(b, []byte("\n"))
		s.column = len(b) - i - 1
		return
	}
	s.column += len(b)
}

// place is the line and column read to, from 1.
func (s *xmlScanner) place() (line, column int) {
	p := *s
	p.count(s.buf[:s.pos])
	return p.line, p.column + 1
}

// find returns where sub stands behind pos, at from or later; -1: nowhere.
func (s *xmlScanner) find(sub string, from int) int {
	for {
		if from < s.end-s.pos {
			if i := bytes.Index(s.buf[s.pos+from:s.end], []byte(sub)); i >= 0 {
				return from + i
			}
			from = max(from, s.end-s.pos-len(sub)+1)
		}
		if s.end-s.pos > maxXMLTag || !s.more() {
			return -1
		}
	}
}

// torn is the error of input that ends inside a token.
func (s *xmlScanner) torn() error {
	if s.failed != nil {
		return s.failed
	}
	if s.end-s.pos > maxXMLTag {
		return fmt.Errorf("a tag is longer than %d MiB", maxXMLTag>>20)
	}
	return io.ErrUnexpectedEOF
}

// next returns the next token; the error is io.EOF at the end.
func (s *xmlScanner) next() (xmlKind, error) {
	if s.closing {
		s.closing = false
		return xmlEnd, nil
	}
	for {
		if s.pos == s.end && !s.more() {
			if s.failed != nil {
				return 0, s.failed
			}
			return 0, io.EOF
		}
		if s.buf[s.pos] != '<' {
			return xmlText, s.readText()
		}
		if s.end-s.pos < 2 && !s.more() {
			return 0, s.torn()
		}
		switch s.buf[s.pos+1] {
		case '!':
			if text, err := s.markup(); text || err != nil {
				return xmlText, err
			}
		case '?':
			i := s.find("?>", 2)
			if i < 0 {
				return 0, s.torn()
			}
			s.pos += i + 2
		default:
			return s.readTag()
		}
	}
}

// markup passes a comment or a declaration; text: it was literal text.
func (s *xmlScanner) markup() (text bool, err error) {
	const longest = len("<![CDATA[")
	for s.end-s.pos < longest && s.more() {
	}
	head := s.buf[s.pos:min(s.pos+longest, s.end)]
	skip := func(open, closing string) (int, error) {
		i := s.find(closing, len(open))
		if i < 0 {
			return 0, s.torn()
		}
		return i, nil
	}
	switch {
	case bytes.HasPrefix(head, []byte("<!--")):
		i, err := skip("<!--", "-->")
		s.pos += i + len("-->")
		return false, err
	case bytes.HasPrefix(head, []byte("<![CDATA[")):
		i, err := skip("<![CDATA[", "]]>")
		if err != nil {
			return false, err
		}
		s.text = s.buf[s.pos+longest : s.pos+i]
		s.pos += i + len("]]>")
		return true, s.checkText()
	}
	depth := 0 // a document type may hold declarations
	for i := 2; ; i++ {
		if s.pos+i >= s.end && !s.more() || i > maxXMLTag {
			return false, s.torn()
		}
		switch s.buf[s.pos+i] {
		case '<', '[':
			depth++
		case ']':
			depth--
		case '>':
			if depth <= 0 {
				s.pos += i + 1
				return false, nil
			}
			if s.buf[s.pos+i-1] != ']' {
				depth--
			}
		}
	}
}

// readText takes the text up to the next tag, or a part of it when it is long.
func (s *xmlScanner) readText() error {
	from := 0
	for {
		i := bytes.IndexByte(s.buf[s.pos+from:s.end], '<')
		if i >= 0 {
			from += i
			break
		}
		from = s.end - s.pos
		if from >= xmlTextRun {
			from = wholeText(s.buf[s.pos : s.pos+from])
			break
		}
		if !s.more() {
			break
		}
	}
	if s.failed != nil && s.pos+from == s.end {
		return s.failed
	}
	raw := s.buf[s.pos : s.pos+from]
	s.pos += from
	if bytes.IndexByte(raw, '&') < 0 && bytes.IndexByte(raw, '\r') < 0 {
		s.text = raw
		return s.checkText()
	}
	var err error
	s.scratch, err = unreferenced(s.scratch[:0], raw)
	if s.text = s.scratch; err != nil {
		return err
	}
	return s.checkText()
}

// wholeText is how much of b ends in neither a torn character nor a torn
// reference.
func wholeText(b []byte) int {
	const longest = 12 // of a reference
	n := len(b)
	if i := bytes.LastIndexByte(b, '&'); i >= 0 && n-i < longest {
		n = i
	}
	for i := n - 1; i >= 0 && i >= n-utf8.UTFMax; i-- {
		if utf8.RuneStart(b[i]) {
			if !utf8.FullRune(b[i:n]) {
				n = i
			}
			break
		}
	}
	if n > 0 && b[n-1] == '\r' {
		n--
	}
	return n
}

func (s *xmlScanner) checkText() error {
	if !utf8.Valid(s.text) {
		return errors.New("invalid UTF-8")
	}
	return nil
}

// readTag reads a start or an end; it stands at pos.
func (s *xmlScanner) readTag() (xmlKind, error) {
	quote := byte(0)
	i := 1
	for ; ; i++ {
		if s.pos+i >= s.end && (i > maxXMLTag || !s.more()) {
			return 0, s.torn()
		}
		c := s.buf[s.pos+i]
		if quote != 0 {
			if c == quote {
				quote = 0
			}
			continue
		}
		if c == '>' {
			break
		}
		if c == '"' || c == '\'' {
			quote = c
		}
	}
	raw := s.buf[s.pos+1 : s.pos+i]
	s.pos += i + 1
	s.attrs = s.attrs[:0]
	if len(raw) == 0 {
		return 0, errors.New("a tag has no name")
	}
	if raw[0] == '/' {
		s.tag = bytes.TrimRight(raw[1:], " \t\r\n")
		if len(s.tag) == 0 || bytes.ContainsAny(s.tag, " \t\r\n<") {
			return 0, errors.New("a closing tag is malformed")
		}
		return xmlEnd, nil
	}
	if raw[len(raw)-1] == '/' {
		s.closing, raw = true, raw[:len(raw)-1]
	}
	at := bytes.IndexAny(raw, " \t\r\n")
	if at < 0 {
		s.tag = raw
	} else {
		s.tag = raw[:at]
		if err := s.readAttrs(raw[at:]); err != nil {
			return 0, err
		}
	}
	if len(s.tag) == 0 || bytes.IndexByte(s.tag, '<') >= 0 {
		return 0, errors.New("a tag is malformed")
	}
	return xmlStart, nil
}

// readAttrs reads the attributes of a start.
func (s *xmlScanner) readAttrs(b []byte) error {
	for {
		b = bytes.TrimLeft(b, " \t\r\n")
		if len(b) == 0 {
			return nil
		}
		i := bytes.IndexByte(b, '=')
		if i <= 0 {
			return fmt.Errorf("an attribute of <%s> has no value", s.tag)
		}
		name := bytes.TrimRight(b[:i], " \t\r\n")
		b = bytes.TrimLeft(b[i+1:], " \t\r\n")
		if len(b) == 0 || b[0] != '"' && b[0] != '\'' {
			return fmt.Errorf("the value of an attribute of <%s> is not quoted", s.tag)
		}
		n := bytes.IndexByte(b[1:], b[0])
		if n < 0 {
			return fmt.Errorf("the value of an attribute of <%s> is not closed", s.tag)
		}
		s.attrs = append(s.attrs, xmlAttr{name, b[1 : 1+n]})
		b = b[n+2:]
	}
}

// unreferenced appends text with its references resolved and its line ends as
// XML gives them.
func unreferenced(out, raw []byte) ([]byte, error) {
	for len(raw) > 0 {
		i := bytes.IndexAny(raw, "&\r")
		if i < 0 {
			return append(out, raw...), nil
		}
		out = append(out, raw[:i]...)
		if raw = raw[i:]; raw[0] == '\r' {
			out = append(out, '\n')
			raw = bytes.TrimPrefix(raw[1:], []byte("\n"))
			continue
		}
		const longest = 12
		end := bytes.IndexByte(raw[:min(len(raw), longest)], ';')
		if end < 0 {
			return out, errors.New("an & begins no reference")
		}
		r, ok := reference(string(raw[1:end]))
		if !ok {
			return out, fmt.Errorf("the reference &%s; is not known", raw[1:end])
		}
		out = utf8.AppendRune(out, r)
		raw = raw[end+1:]
	}
	return out, nil
}

// reference is the character a reference stands for.
func reference(name string) (rune, bool) {
	switch name {
	case "lt":
		return '<', true
	case "gt":
		return '>', true
	case "amp":
		return '&', true
	case "quot":
		return '"', true
	case "apos":
		return '\'', true
	}
	if len(name) < 2 || name[0] != '#' {
		return 0, false
	}
	base, digits := 10, name[1:]
	if digits[0] == 'x' || digits[0] == 'X' {
		base, digits = 16, digits[1:]
	}
	n, err := strconv.ParseUint(digits, base, 32)
	return rune(n), err == nil && n > 0 && n <= utf8.MaxRune && utf8.ValidRune(rune(n))
}
