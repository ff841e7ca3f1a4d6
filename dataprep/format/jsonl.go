package format

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"strings"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/internal/msg"
)

const (
	jsonlName = "jsonl"
	// unitSize is about how much of a row file one unit holds.
	unitSize = 4 << 20
	// maxRow is the longest row kept; a longer one is no row but a file that
	// lost its line ends.
	maxRow = 64 << 20
)

// jsonlFormat reads JSON Lines: one JSON value a line. A broken line is a drop
// that names line and column; the others still come.
func jsonlFormat() Format {
	return Format{
		Name:    jsonlName,
		Exts:    []string{".jsonl", ".ndjson", ".jsonlines"},
		Summary: msg.Text{"JSON Lines, one row a line", "JSON Lines，每行一条"},
		Sniff:   sniffJSONL,
		Cut:     cutJSONL,
		Read:    readJSONL,
	}
}

// sniffJSONL wants a first line that is a whole JSON object, or the name of a
// JSON Lines file over lines that open as rows do: a torn line or a git conflict
// may stand first.
func sniffJSONL(head []byte, name string) bool {
	if !looksText(head) {
		return false
	}
	ext := strings.ToLower(filepath.Ext(name))
	named := ext == ".jsonl" || ext == ".ndjson" || ext == ".jsonlines"
	lines, cut := firstLines(decodeHead(head), 8)
	if len(lines) == 0 {
		return false
	}
	first, second := lines[0], byte(0)
	if len(lines) > 1 {
		second = lines[1][0]
	}
	var c jsonChecker
	f := c.check(first)
	switch {
	case first[0] == '[':
		// an array on one line is a document; several such lines are rows
		return named && f == nil && second == '['
	case first[0] == '{' && f == nil && second == 0:
		return ext != ".json" // one row: it reads the same either way
	case first[0] == '{' && f == nil:
		return named || second == '{'
	case first[0] == '{' && cut && len(lines) == 1:
		return named // longer than the head: an object, whatever follows it
	case first[0] == '{':
		// an indented document breaks its lines where a value may go on
		switch first[len(first)-1] {
		case '{', '[', ':':
			return false
		case ',':
			return named && second == '{'
		}
		return named
	}
	for _, l := range lines {
		if named && l[0] == '{' {
			return true
		}
	}
	return false
}

// firstLines returns up to n lines that are not blank. cut says that the last of
// them may go on behind the head.
func firstLines(head []byte, n int) (lines [][]byte, cut bool) {
	for len(head) > 0 && len(lines) < n {
		line, rest, ended := bytes.Cut(head, []byte{'\n'})
		head, cut = rest, !ended
		if line = bytes.TrimSpace(line); len(line) > 0 {
			lines = append(lines, line)
		}
	}
	return lines, cut
}

// utf8Max is how far a cut inside a character can move the fault.
const utf8Max = 4

// cutJSONL divides the file about every 4 MB, after a line end. It counts lines
// on the way, so that each unit knows its own.
func cutJSONL(ctx context.Context, file *File) iter.Seq2[Unit, error] {
	return func(yield func(Unit, error) bool) {
		f, err := os.Open(file.Path)
		if err != nil {
			yield(Unit{}, cannotOpen(file, err))
			return
		}
		defer f.Close()
		enc, err := rowsEncoding(f, file, func(Note) {})
		if err != nil {
			yield(Unit{}, err)
			return
		}
		u := Unit{File: file, Line: 1, End: file.Size}
		if !enc.lineSafe() {
			yield(u, nil) // the byte 0x0A is not a line end in UTF-16
			return
		}
		buf := make([]byte, 1<<20)
		line := 1 // of the byte at off
		for off := int64(0); off < file.Size; {
			if ctx.Err() != nil {
				yield(Unit{}, context.Cause(ctx))
				return
			}
			n, err := f.ReadAt(buf[:min(int64(len(buf)), file.Size-off)], off)
			if n == 0 {
				if err == nil || errors.Is(err, io.EOF) {
					err = io.ErrUnexpectedEOF
				}
				yield(Unit{}, cannotOpen(file, err))
				return
			}
			b := buf[:n]
			// the first line end at or after the wanted size ends the unit
			if want := u.Start + unitSize - off; want < int64(n) {
				if i := bytes.IndexByte(b[max(want, 0):], '\n'); i >= 0 {
					b = b[:int(max(want, 0))+i+1]
					line += bytes.Count(b, []byte{'\n'})
					off += int64(len(b))
					u.End = off
					if !yield(u, nil) {
						return
					}
					u = Unit{File: file, Index: u.Index + 1, Start: off, End: file.Size, Line: line}
					continue
				}
			}
			line += bytes.Count(b, []byte{'\n'})
			off += int64(n)
		}
		if u.Start < file.Size {
			yield(u, nil)
		}
	}
}

// readJSONL gives the rows of a unit. Raw is a slice of the read buffer unless
// the row had to be decoded or mended.
func readJSONL(ctx context.Context, u Unit, note func(Note)) iter.Seq2[drydock.Block, error] {
	return func(yield func(drydock.Block, error) bool) {
		src, err := openRows(u, note)
		if err != nil {
			yield(drydock.Block{}, err)
			return
		}
		defer src.close()
		rows := jsonlRows{unit: u, note: note, yield: yield, enc: src.enc, damage: damaged{encoding: src.enc}}
		lines := &src.lines
		for lines.next() {
			if lines.line&63 == 0 && ctx.Err() != nil {
				yield(drydock.Block{}, context.Cause(ctx))
				return
			}
			if !rows.line(lines.text, lines.line, lines.torn, lines.long) {
				return
			}
		}
		if lines.err != nil {
			yield(drydock.Block{}, cannotOpen(u.File, lines.err))
			return
		}
		rows.damage.tell(u.File, note)
	}
}

// jsonlSource is where the lines of a unit come from.
type jsonlSource struct {
	lines lineScanner
	enc   textEncoding
	file  *os.File // nil: the bytes are there
}

func openRows(u Unit, note func(Note)) (s jsonlSource, err error) {
	s.lines = lineScanner{max: maxRow, line: max(u.Line, 1) - 1}
	if u.bytes == nil {
		if s.file, err = os.Open(u.File.Path); err != nil {
			return s, cannotOpen(u.File, err)
		}
	}
	if u.enc != nil {
		s.enc = *u.enc
	} else if s.enc, err = rowsEncoding(s.file, u.File, note); err != nil {
		s.close()
		return s, err
	}
	start := u.Start
	if u.Index == 0 {
		start = max(start, int64(s.enc.bom))
	}
	if u.bytes != nil {
		b := u.bytes[start-u.Start:]
		s.lines.buf, s.lines.end, s.lines.eof = b, len(b), true
		return s, nil
	}
	s.lines.r = io.NewSectionReader(s.file, start, u.End-start)
	if !s.enc.lineSafe() {
		s.lines.r = s.enc.reader(s.lines.r)
	}
	return s, nil
}

func (s *jsonlSource) close() {
	if s.file != nil {
		s.file.Close()
	}
}

// jsonlRows turns lines into blocks.
type jsonlRows struct {
	unit   Unit
	note   func(Note)
	yield  func(drydock.Block, error) bool
	enc    textEncoding
	check  jsonChecker
	mend   jsonMender
	damage damaged
}

// line gives one line's block or drop; false ends the reading.
func (r *jsonlRows) line(b []byte, n int, torn, long bool) bool {
	at := drydock.Locator{Line: n}
	if long {
		return r.drop(at, "row_too_long", fmt.Sprintf("line %d is longer than %d MiB; the file may have lost its line ends", n, maxRow>>20), b[:64<<10])
	}
	if b = bytes.TrimSpace(b); len(b) == 0 {
		return true
	}
	if r.enc.lineSafe() && !r.enc.plain() {
		b = r.enc.decode(b)
	}
	if !r.enc.plain() && bytes.Contains(b, []byte(replacement)) {
		r.damage.mend(b, n) // counted; the row itself may still be whole
	}
	if f := r.check.check(b); f != nil {
		reason, detail := f.Reason, fmt.Sprintf("line %d, column %d: %s", n, runeColumn(b, f.Offset), f.Text)
		switch mark := conflictMark(b); {
		case mark != "":
			reason, detail = "git_conflict", fmt.Sprintf("line %d is the mark %s of an unresolved git merge; both versions stand around it", n, mark)
		case torn && f.Offset >= len(b)-utf8Max && reason != "duplicate_key":
			reason, detail = "torn_line", detail+"; the last line is cut off"
		case reason == "invalid_utf8":
			detail += "; if the file has another encoding, name it (--encoding gb18030, or encoding: in drydock.yaml)"
		}
		return r.drop(at, reason, detail, b)
	}
	return r.yield(drydock.Block{Raw: r.mend.row(b, &r.check, at, r.note), At: at}, nil)
}

func (r *jsonlRows) drop(at drydock.Locator, reason, detail string, text []byte) bool {
	return r.yield(drydock.Block{}, badBlock(r.unit.File, at, reason, detail, string(text)))
}

// conflictMark returns the mark when a line is one that git leaves behind.
func conflictMark(b []byte) string {
	for _, m := range []string{"<<<<<<<", "=======", ">>>>>>>", "|||||||"} {
		if rest, ok := bytes.CutPrefix(b, []byte(m)); ok && (len(rest) == 0 || rest[0] == ' ') {
			return m
		}
	}
	return ""
}

// A lineScanner cuts a reader into lines without copying them. Fields are valid
// after next returned true.
type lineScanner struct {
	r    io.Reader
	max  int // longest line kept
	text []byte
	line int  // number of text, counting on from what it was
	torn bool // the last line, without a line end
	long bool // longer than max: text is its beginning, the rest was skipped
	err  error

	buf        []byte
	start, end int
	eof        bool
}

// next moves to the next line; text is valid until the one after.
func (s *lineScanner) next() bool {
	if s.err != nil {
		return false
	}
	s.long = false
	from := s.start
	for {
		if i := bytes.IndexByte(s.buf[from:s.end], '\n'); i >= 0 {
			s.text, s.start = s.buf[s.start:from+i], from+i+1
			s.line++
			return true
		}
		if s.eof {
			s.text, s.start, s.torn = s.buf[s.start:s.end], s.end, true
			if len(s.text) == 0 {
				return false
			}
			s.line++
			return true
		}
		if s.end-s.start > s.max {
			return s.skip()
		}
		from = s.end - s.start
		if !s.fill() {
			return false
		}
		from += s.start
	}
}

// fill reads more behind what is left, which moves to the front of the buffer.
func (s *lineScanner) fill() bool {
	if s.start > 0 {
		copy(s.buf, s.buf[s.start:s.end])
		s.start, s.end = 0, s.end-s.start
	}
	if s.end == len(s.buf) {
		s.buf = append(s.buf, make([]byte, max(len(s.buf), 64<<10))...)
	}
	n, err := s.r.Read(s.buf[s.end:])
	s.end += n
	if err != nil {
		s.eof = true
		if !errors.Is(err, io.EOF) {
			s.err = err
			return false
		}
	}
	return true
}

// skip passes the rest of a line that is too long, keeping its beginning.
func (s *lineScanner) skip() bool {
	s.text, s.long = bytes.Clone(s.buf[s.start:s.start+s.max]), true
	s.line++
	for {
		if i := bytes.IndexByte(s.buf[s.start:s.end], '\n'); i >= 0 {
			s.start += i + 1
			return true
		}
		if s.start = s.end; s.eof {
			return true
		}
		if !s.fill() {
			return false
		}
	}
}
