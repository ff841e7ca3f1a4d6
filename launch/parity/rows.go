package parity

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"

	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
)

// maxRow is the longest row that is read, bytes.
const maxRow = 64 << 20

// rowReader cuts a file into rows: the lines of JSON lines, or the elements of
// the array that the file is. An array of turns is one row.
type rowReader struct {
	in    *bufio.Reader
	line  int // of the next byte, from 1
	array bool
	whole bool // the array is one row
	began bool
	ended bool
	buf   []byte
}

func newRowReader(in io.Reader) *rowReader {
	return &rowReader{in: bufio.NewReaderSize(in, 1<<18), line: 1}
}

// next returns a row and the line it begins on; io.EOF after the last. The row
// is good until the next call. A row that is too long is skipped: its error is
// of kind partial, and reading goes on behind it.
func (r *rowReader) next() (row []byte, line int, err error) {
	if !r.began {
		r.began = true
		if err := r.begin(); err != nil {
			return nil, r.line, err
		}
	}
	if r.whole {
		return r.rest()
	}
	for !r.array {
		row, line, err := r.lineOf()
		if row = bytes.TrimSpace(row); len(row) > 0 || err != nil {
			return row, line, err
		}
	}
	return r.element()
}

// begin skips what may stand before the first row, and looks how the file goes.
func (r *rowReader) begin() error {
	if head, _ := r.in.Peek(3); bytes.Equal(head, []byte("\ufeff")) {
		_, _ = r.in.Discard(3)
	}
	c, err := r.skip()
	if err != nil || c != '[' {
		return err
	}
	// an array that ends on its own line is one row, where other lines follow
	head, _ := r.in.Peek(r.in.Size())
	if i := bytes.IndexByte(head, '\n'); i >= 0 && json.Valid(head[:i]) && len(bytes.TrimSpace(head[i:])) > 0 {
		return nil
	}
	if r.whole = beginsWithTurn(head); !r.whole {
		_, _ = r.in.Discard(1)
		r.array = true
	}
	return nil
}

// beginsWithTurn reports whether the first element of an array is a turn.
func beginsWithTurn(head []byte) bool {
	d := json.NewDecoder(bytes.NewReader(head))
	if _, err := d.Token(); err != nil {
		return false
	}
	var first struct{ Role, From json.RawMessage }
	return d.Decode(&first) == nil && (first.Role != nil || first.From != nil)
}

// rest returns all that is left as one row.
func (r *rowReader) rest() ([]byte, int, error) {
	if r.ended {
		return nil, r.line, io.EOF
	}
	r.ended = true
	row, err := io.ReadAll(io.LimitReader(r.in, maxRow+1))
	if err == nil && len(row) > maxRow {
		err = rowTooLong()
	}
	return bytes.TrimSpace(row), r.line, err
}

// skip passes white space over and returns the byte behind it, unread.
func (r *rowReader) skip() (byte, error) {
	for {
		c, err := r.in.ReadByte()
		switch {
		case err != nil:
			return 0, err
		case c == '\n':
			r.line++
		case c != ' ' && c != '\t' && c != '\r':
			return c, r.in.UnreadByte()
		}
	}
}

func (r *rowReader) lineOf() ([]byte, int, error) {
	r.buf = r.buf[:0]
	at, long := r.line, false
	for {
		part, err := r.in.ReadSlice('\n')
		if long = long || len(r.buf)+len(part) > maxRow; !long {
			r.buf = append(r.buf, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err == nil:
			r.line++
		case !errors.Is(err, io.EOF) || len(r.buf) == 0 && !long:
			return nil, at, err
		}
		if long {
			return nil, at, rowTooLong()
		}
		return r.buf, at, nil
	}
}

func rowTooLong() error {
	return fail.New(fail.Partial, msg.Text{"the row is longer than %d MiB", "该行超过 %d MiB"}, maxRow>>20)
}

// element returns the next element of the array.
func (r *rowReader) element() ([]byte, int, error) {
	if r.ended {
		return nil, r.line, io.EOF
	}
	c, err := r.skip()
	if err == nil && c == ',' {
		_, _ = r.in.Discard(1)
		c, err = r.skip()
	}
	switch {
	case errors.Is(err, io.EOF):
		r.ended = true
		return nil, r.line, fail.New(fail.Partial, msg.Text{"the array is not closed: ] is missing", "数组没有结束：缺少 ]"})
	case err != nil:
		return nil, r.line, err
	case c == ']':
		r.ended = true
		_, _ = r.in.Discard(1)
		if _, err := r.skip(); err == nil {
			return nil, r.line, fail.New(fail.Partial, msg.Text{"something stands behind the end of the array", "数组结束之后还有内容"})
		}
		return nil, r.line, io.EOF
	}
	at := r.line
	row, err := r.value()
	return row, at, err
}

// value reads up to the comma or bracket that ends an element. Whether it is
// JSON, its reader sees.
func (r *rowReader) value() ([]byte, error) {
	r.buf = r.buf[:0]
	depth, quoted, long := 0, false, false
	for {
		c, err := r.in.ReadByte()
		if err != nil {
			r.ended = true
			if errors.Is(err, io.EOF) {
				err = fail.New(fail.Partial, msg.Text{"the file ends in the middle of a row", "文件在一行数据中间结束"})
			}
			return nil, err
		}
		switch {
		case c == '\n':
			r.line++
		case quoted && c == '\\':
			r.keep(c, &long)
			if c, err = r.in.ReadByte(); err != nil {
				continue // the end shows again
			}
			if c == '\n' {
				r.line++
			}
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			depth++
		case depth == 0 && (c == ',' || c == ']'):
			if err := r.in.UnreadByte(); err != nil {
				return nil, err
			}
			if long {
				return nil, rowTooLong()
			}
			return bytes.TrimSpace(r.buf), nil
		case c == '}' || c == ']':
			depth = max(depth-1, 0)
		}
		r.keep(c, &long)
	}
}

func (r *rowReader) keep(c byte, long *bool) {
	if *long = *long || len(r.buf) >= maxRow; !*long {
		r.buf = append(r.buf, c)
	}
}
