package contam

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"io"
	"path"
	"strings"
	"unicode/utf8"

	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
)

// An Input is one file to check: JSON Lines, a JSON array, JSON values one after
// another, or plain text, in UTF-8.
type Input struct {
	Name string // as reports show it; its extension settles JSON or text where the content does not
	Open func() (io.ReadCloser, error)
}

const (
	chunkSize = 1 << 20 // bytes a worker takes at a time, cut at a row
	// textOverlap bytes of plain text are seen again with the next chunk, so
	// that an item across the border is found; more than any item is long.
	textOverlap = 16 << 10
	maxRow      = 256 << 20 // bytes of one row
)

// A chunk is what one worker checks at a time: whole rows, or a stretch of text.
type chunk struct {
	seq   int
	input int
	text  bool
	data  []byte
	line  int   // number of the first line of data
	cuts  []int // where rows end; nil: at line ends
	lines []int // of each cut, the line on which its row begins
	seen  int   // bytes at the beginning that the chunk before has checked too
	runes int   // code points before data
}

// A source reads the inputs one after the other and cuts them into chunks. It is
// used by one goroutine at a time.
type source struct {
	ctx    context.Context
	inputs []Input
	sums   []string // sha256 by input, once it is read
	bytes  int64

	at     int // the open input
	file   io.ReadCloser
	hash   hash.Hash
	mode   mode
	buf    []byte // read, not yet cut
	eof    bool
	line   int
	runes  int
	overs  int // bytes of buf that were checked before
	seq    int
	within bool // inside the brackets of an array
	first  bool // no value has begun yet
}

type mode uint8

const (
	modeUnknown mode = iota
	modeLines
	modeValues
	modeText
)

// next returns the next chunk; nil at the end of the last input.
func (s *source) next() (*chunk, error) {
	for s.at < len(s.inputs) {
		if err := s.ctx.Err(); err != nil {
			return nil, context.Cause(s.ctx)
		}
		if s.file == nil {
			if err := s.open(); err != nil {
				return nil, err
			}
		}
		if err := s.fill(chunkSize); err != nil {
			return nil, err
		}
		if s.mode == modeUnknown {
			if err := s.detect(); err != nil {
				return nil, err
			}
		}
		c, err := s.cut()
		if err != nil {
			return nil, err
		}
		if c != nil {
			c.seq, c.input = s.seq, s.at
			s.seq++
			return c, nil
		}
		if err := s.close(); err != nil {
			return nil, err
		}
	}
	return nil, nil
}

func (s *source) open() error {
	in := s.inputs[s.at]
	f, err := in.Open()
	if err != nil {
		return err
	}
	s.file, s.hash, s.mode = f, sha256.New(), modeUnknown
	s.buf, s.eof, s.line, s.runes, s.overs, s.within, s.first = nil, false, 1, 0, 0, false, true
	return nil
}

func (s *source) close() error {
	err := s.file.Close()
	s.file = nil
	s.sums = append(s.sums, hex.EncodeToString(s.hash.Sum(nil)))
	s.at++
	return err
}

// fill reads until buf holds n bytes or the input has ended.
func (s *source) fill(n int) error {
	for !s.eof && len(s.buf) < n {
		if cap(s.buf) < n {
			s.buf = append(make([]byte, 0, n+n/4), s.buf...)
		}
		m, err := s.file.Read(s.buf[len(s.buf):cap(s.buf)])
		s.hash.Write(s.buf[len(s.buf) : len(s.buf)+m])
		s.buf = s.buf[:len(s.buf)+m]
		s.bytes += int64(m)
		switch {
		case errors.Is(err, io.EOF):
			s.eof = true
		case err != nil:
			return fail.New(fail.Failed, msg.Text{"reading %s: %v", "读取 %s：%v"}, s.inputs[s.at].Name, err)
		}
	}
	return nil
}

// detect settles how the open input is cut, by its first bytes and its name.
// What is no UTF-8 is refused: a check that cannot read a file must not call it
// clean.
func (s *source) detect() error {
	s.buf = bytes.TrimPrefix(s.buf, []byte("\ufeff"))
	if !readable(s.buf[:min(len(s.buf), 64<<10)]) {
		return fail.New(fail.Failed, msg.Text{"%s is not UTF-8 text", "%s 不是 UTF-8 文本"}, s.inputs[s.at].Name).
			Hint(msg.Text{"turn documents and other encodings into rows first: drydock prep", "请先用 drydock prep 把文档或其他编码转换为数据行"})
	}
	head := bytes.TrimLeft(s.buf, " \t\r\n")
	ext := strings.ToLower(path.Ext(strings.TrimSuffix(s.inputs[s.at].Name, ".gz")))
	switch {
	case ext == ".jsonl" || ext == ".ndjson":
		s.mode = modeLines
	case len(head) == 0 || head[0] != '{' && head[0] != '[' || ext == ".txt" || ext == ".md":
		s.mode = modeText
		if ext == ".json" {
			s.mode = modeLines // it will say what is wrong with its first line
		}
	default:
		line, _, _ := bytes.Cut(head, []byte("\n"))
		s.mode = modeValues
		var r rowScanner
		if head[0] == '{' && r.walk(line, func([]byte, bool) {}) == nil {
			s.mode = modeLines
		}
	}
	return nil
}

// readable reports whether head looks like UTF-8 text: no NUL, and hardly a byte
// that is out of place.
func readable(head []byte) bool {
	bad := 0
	for i := 0; i < len(head); {
		r, n := utf8.DecodeRune(head[i:])
		if r == 0 {
			return false
		}
		if r == utf8.RuneError && n == 1 && len(head)-i >= utf8.UTFMax {
			bad++
		}
		i += n
	}
	return bad*100 <= len(head)
}

func (s *source) cut() (*chunk, error) {
	switch s.mode {
	case modeText:
		return s.cutText(), nil
	case modeValues:
		return s.cutValues()
	}
	return s.cutLines()
}

// take returns the first n bytes of buf and leaves the rest to a new buffer, so
// that the chunk owns its bytes.
func (s *source) take(n int) []byte {
	data := s.buf[:n:n]
	s.buf = append(make([]byte, 0, max(chunkSize+chunkSize/4, len(s.buf)-n)), s.buf[n:]...)
	return data
}

func (s *source) cutLines() (*chunk, error) {
	for {
		if len(s.buf) == 0 && s.eof {
			return nil, nil
		}
		n := bytes.LastIndexByte(s.buf, '\n') + 1
		if s.eof {
			n = len(s.buf)
		}
		if n > 0 {
			c := &chunk{line: s.line, data: s.take(n)}
			s.line += bytes.Count(c.data, []byte("\n"))
			return c, nil
		}
		if err := s.more(); err != nil {
			return nil, err
		}
	}
}

// more reads on where a row is longer than what is held.
func (s *source) more() error {
	if len(s.buf) > maxRow {
		return fail.New(fail.Failed, msg.Text{"%s line %d: a row of more than %d MB", "%s 第 %d 行：单行超过 %d MB"},
			s.inputs[s.at].Name, s.line, maxRow>>20)
	}
	return s.fill(2 * len(s.buf))
}

// cutValues cuts JSON values that are not one a line: the elements of an array,
// or objects spread over lines.
func (s *source) cutValues() (*chunk, error) {
	for {
		c, end := s.values()
		if c != nil {
			c.data = s.take(end)
			return c, nil
		}
		if s.eof {
			rest := bytes.Trim(s.buf, " \t\r\n,]")
			if len(rest) == 0 {
				return nil, nil
			}
			// a value that is cut off: one bad row, named by its worker
			c := &chunk{line: s.line, cuts: []int{len(s.buf)}, lines: []int{s.line}, data: s.take(len(s.buf))}
			return c, nil
		}
		if err := s.more(); err != nil {
			return nil, err
		}
	}
}

// values finds the whole values in buf; the last end is where the chunk ends.
func (s *source) values() (*chunk, int) {
	v := valueCutter{source: s, c: &chunk{line: s.line}, start: -1, line: s.line, endLine: s.line}
	for i := 0; i < len(s.buf); i++ {
		if s.buf[i] == '\n' {
			v.line++
		}
		if v.quoted {
			i = v.inString(i)
		} else {
			v.outside(i)
		}
	}
	if len(v.c.cuts) == 0 {
		return nil, 0
	}
	s.line = v.endLine
	return v.c, v.end
}

// A valueCutter follows brackets and strings, no more: whether a value is sound
// is for the worker to say.
type valueCutter struct {
	*source
	c            *chunk
	depth        int
	quoted       bool
	start        int // of the open value; -1: none
	line         int
	startLine    int
	end, endLine int // of the last whole value
}

func (v *valueCutter) inString(i int) int {
	switch v.buf[i] {
	case '\\':
		if i++; i < len(v.buf) && v.buf[i] == '\n' {
			v.line++
		}
	case '"':
		v.quoted = false
	}
	return i
}

func (v *valueCutter) outside(i int) {
	switch b := v.buf[i]; b {
	case ' ', '\t', '\r', '\n':
	case '{', '[':
		if b == '[' && !v.within && v.depth == 0 && v.start < 0 && len(bytes.TrimLeft(v.buf[:i], " \t\r\n")) == 0 && v.first {
			v.within, v.first = true, false
			v.buf[i] = ' ' // the array's own bracket
			return
		}
		v.begin(i)
		v.depth++
	case '}', ']':
		if v.depth > 0 {
			if v.depth--; v.depth == 0 {
				v.whole(i + 1)
			}
			return
		}
		if v.start >= 0 {
			v.whole(i)
		}
		v.buf[i] = ' ' // the end of the array
	case ',':
		if v.depth > 0 {
			return
		}
		if v.start >= 0 {
			v.whole(i)
		}
		v.buf[i] = ' '
	default:
		v.begin(i)
		v.quoted = b == '"'
	}
}

func (v *valueCutter) begin(i int) {
	v.first = false
	if v.start < 0 {
		v.start, v.startLine = i, v.line
	}
}

func (v *valueCutter) whole(end int) {
	v.c.cuts = append(v.c.cuts, end)
	v.c.lines = append(v.c.lines, v.startLine)
	v.end, v.endLine, v.start = end, v.line, -1
}

// cutText takes a stretch of text that ends at a line end, if it can, and leaves
// its last bytes to be seen again.
func (s *source) cutText() *chunk {
	if len(s.buf) == 0 || s.eof && len(s.buf) == s.overs {
		return nil
	}
	n := len(s.buf)
	if !s.eof {
		if i := bytes.LastIndexByte(s.buf[s.overs:], '\n'); i >= 0 && s.overs+i+1 > textOverlap {
			n = s.overs + i + 1
		} else {
			for n > 0 && !utf8.RuneStart(s.buf[n-1]) {
				n--
			}
			n = max(n-1, s.overs+1)
		}
	}
	c := &chunk{text: true, line: s.line, seen: s.overs, runes: s.runes}
	keep := 0
	if !s.eof || n < len(s.buf) {
		keep = min(textOverlap, n)
		for keep < n && !utf8.RuneStart(s.buf[n-keep]) {
			keep++
		}
	}
	c.data = append([]byte(nil), s.buf[:n]...)
	gone := n - keep
	s.line += bytes.Count(s.buf[:gone], []byte("\n"))
	s.runes += utf8.RuneCount(s.buf[:gone])
	s.take(gone)
	s.overs = keep
	return c
}
