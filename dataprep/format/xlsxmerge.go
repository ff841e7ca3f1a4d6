package format

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"
)

// A merge is a cell that covers several rows. Columns and rows count from 1.
type merge struct {
	column      int
	first, last int // rows
	text        string
}

// maxMerges bounds how many merged cells of a sheet are kept in mind.
const maxMerges = 1 << 20

// merges finds the cells merged over several rows. They are listed behind the
// rows, so the part is run through once, without parsing it: a "<" inside text
// is always escaped.
func (w *workbook) merges(part string) ([]merge, error) {
	r, err := w.pkg.open(part)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	var out []merge
	buf := make([]byte, 256<<10)
	have := 0
	for {
		if w.ctx.Err() != nil {
			return nil, context.Cause(w.ctx)
		}
		n, err := r.Read(buf[have:])
		have += n
		rest := scanMerges(buf[:have], &out)
		if err != nil {
			if errors.Is(err, io.EOF) {
				break
			}
			return nil, w.pkg.damaged(part, err)
		}
		// keep the start of a tag the buffer's end may have cut
		have = copy(buf, rest[max(0, len(rest)-4096):])
	}
	slices.SortFunc(out, func(a, b merge) int { return cmp.Or(cmp.Compare(a.first, b.first), cmp.Compare(a.column, b.column)) })
	return out, nil
}

// scanMerges adds the merged cells in b to out and returns what is not passed.
func scanMerges(b []byte, out *[]merge) []byte {
	for {
		i := bytes.Index(b, []byte("mergeCell "))
		if i < 0 {
			return b
		}
		end := bytes.IndexByte(b[i:], '>')
		if end < 0 {
			return b[i:]
		}
		tag := b[i : i+end]
		opened := i > 0 && (b[i-1] == '<' || b[i-1] == ':')
		if _, ref, ok := strings.Cut(string(tag), `ref="`); ok && opened && len(*out) < maxMerges {
			ref, _, _ = strings.Cut(ref, `"`)
			if m, ok := parseMerge(ref); ok {
				*out = append(*out, m)
			}
		}
		b = b[i+end:]
	}
}

// parseMerge reads "A2:C5"; ok is false for one row.
func parseMerge(ref string) (m merge, ok bool) {
	from, to, _ := strings.Cut(ref, ":")
	c, ok1 := columnOf(from)
	_, ok2 := columnOf(to)
	first, err1 := strconv.Atoi(strings.TrimLeft(strings.ToUpper(from), "ABCDEFGHIJKLMNOPQRSTUVWXYZ$"))
	last, err2 := strconv.Atoi(strings.TrimLeft(strings.ToUpper(to), "ABCDEFGHIJKLMNOPQRSTUVWXYZ$"))
	m = merge{column: c, first: first, last: last}
	return m, ok1 && ok2 && err1 == nil && err2 == nil && first >= 1 && last > first && last <= maxSheetRows
}

// remember keeps the text of the merged cells that begin on this row, and
// forgets those that end above it.
func (r *sheetReader) remember() {
	for len(r.merges) > 0 && r.merges[0].first <= r.number {
		m := r.merges[0]
		r.merges = r.merges[1:]
		if m.first == r.number && m.column <= len(r.cells) && r.cells[m.column-1] != "" {
			m.text = r.cells[m.column-1]
			r.open = append(r.open, m)
		}
	}
	r.open = slices.DeleteFunc(r.open, func(m merge) bool { return m.last < r.number })
}

// repeat writes the text of merged cells from above into the row.
func (r *sheetReader) repeat() {
	for _, m := range r.open {
		if m.first == r.number {
			continue
		}
		for len(r.cells) < m.column {
			r.cells = append(r.cells, "")
		}
		if r.cells[m.column-1] == "" {
			r.cells[m.column-1] = m.text
		}
	}
}
