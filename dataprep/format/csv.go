package format

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"iter"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/internal/msg"
)

const csvName = "csv"

// csvFormat reads comma-separated tables and their kin (semicolon, tab, bar).
// One block a record; At.Row counts records, At.Line is where it begins.
func csvFormat() Format {
	return Format{
		Name:    csvName,
		Exts:    []string{".csv", ".tsv", ".tab"},
		Summary: msg.Text{"tables as text: CSV, TSV, ; and | too", "文本表格：CSV、TSV，也支持 ; 与 |"},
		Sniff:   sniffCSV,
		Read:    readCSV,
	}
}

// sniffCSV takes what is named as a table unless it is plainly something else,
// and, under any other name, only text whose first records all have the same
// three or more cells.
func sniffCSV(head []byte, name string) bool {
	if !looksText(head) {
		return false
	}
	text := decodeHead(head)
	trimmed := bytes.TrimSpace(text)
	switch strings.ToLower(filepath.Ext(name)) {
	case ".csv", ".tsv", ".tab":
		return !bytes.HasPrefix(trimmed, []byte("{")) && !bytes.HasPrefix(trimmed, []byte("[{"))
	case ".md", ".markdown", ".html", ".htm", ".json", ".jsonl", ".xml", ".yaml", ".yml", ".toml", ".go", ".py", ".log":
		return false
	}
	if len(trimmed) == 0 || trimmed[0] == '{' || trimmed[0] == '[' || trimmed[0] == '<' {
		return false
	}
	d := sniffDialect(text, name)
	return d.records >= 5 && d.width >= 3 && d.even && d.comma != ' '
}

// A dialect is how a table is written.
type dialect struct {
	comma   byte
	width   int  // columns: see measureScore
	records int  // how many were looked at
	even    bool // all of them have the same number of cells
	skip    int  // bytes of a leading "sep=;" line
}

// sniffDialect finds the delimiter by which the first records agree best on
// their number of cells. With none that gives two cells, it is the comma: a
// table of one column.
func sniffDialect(text []byte, name string) dialect {
	skip := 0
	if line, _, _ := bytes.Cut(text, []byte{'\n'}); len(line) >= 5 && bytes.EqualFold(line[:4], []byte("sep=")) {
		return measure(text[min(len(line)+1, len(text)):], line[4], len(line)+1)
	}
	candidates := []byte{',', '\t', ';', '|'}
	if ext := strings.ToLower(filepath.Ext(name)); ext == ".tsv" || ext == ".tab" {
		candidates = []byte{'\t', ',', ';', '|'}
	}
	best, bestScore := measure(text, candidates[0], skip), 0.0
	for _, c := range candidates {
		d, score := measureScore(text, c)
		if score > bestScore {
			best, bestScore = d, score
		}
	}
	return best
}

func measure(text []byte, comma byte, skip int) dialect {
	d, _ := measureScore(text, comma)
	d.skip = skip
	return d
}

// measureScore reads up to 100 records with a delimiter. The score is the share
// of records with the commonestWidth number of cells, squared, so that agreement
// counts for more than width; 0 when that number is 1.
func measureScore(text []byte, comma byte) (dialect, float64) {
	d := dialect{comma: comma}
	counts, filled := map[int]int{}, map[int]int{} // records by cells, and by cells up to the last with text
	s := csvScanner{r: bytes.NewReader(text), comma: comma, max: len(text)}
	for d.records < 100 && s.next() {
		// the head may end inside the last record
		if s.eof && s.start == s.end && len(text) >= HeadSize && d.records > 0 {
			break
		}
		if s.bad != "" || s.empty() {
			continue
		}
		n := len(s.cells)
		if d.records++; d.records == 1 {
			d.width = n
		}
		counts[n]++
		for n > 1 && len(s.cells[n-1]) == 0 {
			n--
		}
		filled[n]++
	}
	d.even = len(counts) == 1
	common, most := commonestWidth(counts)
	// a table is as wide as its first row, as most rows, or as several agree
	usual, _ := commonestWidth(filled)
	d.width = max(d.width, usual)
	for n, k := range filled {
		if k >= 2 && k*20 >= d.records {
			d.width = max(d.width, n)
		}
	}
	if common < 2 || d.records == 0 {
		return d, 0
	}
	share := float64(most) / float64(d.records)
	return d, share * share * (1 + float64(min(common, 20))/100)
}

// commonestWidth returns the number that is counted most, the greater of two, and its
// count.
func commonestWidth(counts map[int]int) (n, count int) {
	for v, k := range counts {
		if k > count || k == count && v > n {
			n, count = v, k
		}
	}
	return n, count
}

// readCSV gives one block a record. A record with more cells than the table has
// columns is a drop, since its cells no longer stand under their headings; one
// with fewer comes as it is, and is noted.
func readCSV(ctx context.Context, u Unit, note func(Note)) iter.Seq2[drydock.Block, error] {
	return func(yield func(drydock.Block, error) bool) {
		r, err := openText(u, note)
		if err != nil {
			yield(drydock.Block{}, err)
			return
		}
		defer r.Close()
		head := make([]byte, HeadSize)
		n, err := io.ReadFull(r, head)
		if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
			yield(drydock.Block{}, cannotOpen(u.File, err))
			return
		}
		head = head[:n]
		d := sniffDialect(head, u.File.Path)
		s := csvScanner{r: io.MultiReader(bytes.NewReader(head[d.skip:]), r), comma: d.comma, max: maxRow / 4, width: d.width}
		if d.skip > 0 {
			s.line = 1
		}
		rows := csvRows{unit: u, note: note, yield: yield, dialect: d, damage: damaged{encoding: r.encoding}}
		for s.next() {
			if s.row&63 == 0 && ctx.Err() != nil {
				yield(drydock.Block{}, context.Cause(ctx))
				return
			}
			if !rows.record(&s) {
				return
			}
		}
		if s.err != nil {
			yield(drydock.Block{}, cannotOpen(u.File, s.err))
			return
		}
		rows.finish()
	}
}

// csvRows turns records into blocks and counts what was odd.
type csvRows struct {
	unit    Unit
	note    func(Note)
	yield   func(drydock.Block, error) bool
	dialect dialect
	short   oddity // fewer cells than columns
	damage  damaged
	given   int
	quotes  oddity // a quote inside an unquoted cell, or text behind a closing one
}

// An oddity counts lines that were read although something was off.
type oddity struct{ n, first int }

func (o *oddity) add(line int) {
	if o.n++; o.n == 1 {
		o.first = line
	}
}

func (r *csvRows) record(s *csvScanner) bool {
	at := drydock.Locator{Row: s.row, Line: s.begin}
	r.given++
	if s.bad != "" {
		return r.yield(drydock.Block{}, badBlock(r.unit.File, at, s.bad, s.detail(), string(s.raw)))
	}
	if s.empty() {
		r.given--
		return true
	}
	cells := make([]string, len(s.cells))
	if utf8.Valid(s.cell) && !bytes.Contains(s.cell, []byte(replacement)) { // as nearly always: one string for the row
		row, at := string(s.cell), 0
		for i, end := range s.ends {
			cells[i], at = row[at:end], end
		}
	} else {
		for i, c := range s.cells {
			cells[i] = r.damage.mend(c, s.begin)
		}
	}
	for len(cells) > r.dialect.width && strings.TrimSpace(cells[len(cells)-1]) == "" {
		cells = cells[:len(cells)-1]
	}
	if len(cells) > r.dialect.width {
		detail := fmt.Sprintf("line %d has %d cells where the table has %d columns; a %q inside a cell may lack its quotes",
			s.begin, len(cells), r.dialect.width, r.dialect.comma)
		return r.yield(drydock.Block{}, badBlock(r.unit.File, at, "ragged_row", detail, string(s.raw)))
	}
	if len(cells) < r.dialect.width {
		r.short.add(s.begin)
	}
	if s.odd {
		r.quotes.add(s.begin)
	}
	return r.yield(drydock.Block{Cells: cells, At: at}, nil)
}

// finish tells what was odd, once all is read.
func (r *csvRows) finish() {
	r.damage.tell(r.unit.File, r.note)
	if r.given == 0 {
		r.note(Note{Code: "no_text", Damage: true, Text: msg.Text{
			"%s: the table has no rows", "%s：表格中没有任何行",
		}, Args: []any{r.unit.File.name()}})
	}
	if r.short.n > 0 {
		r.note(Note{Code: "short_rows", Text: msg.Text{
			"%d rows have fewer cells than the table has columns (%d), the first in line %d",
			"%d 行的单元格少于列数（%d），首个在第 %d 行",
		}, Args: []any{r.short.n, r.dialect.width, r.short.first}})
	}
	if r.quotes.n > 0 {
		r.note(Note{Code: "bare_quotes", Text: msg.Text{
			"%d rows have a quotation mark where CSV allows none; it was kept as text, first in line %d",
			"%d 行在 CSV 不允许的位置出现引号，已按文字保留，首个在第 %d 行",
		}, Args: []any{r.quotes.n, r.quotes.first}})
	}
}

// A csvScanner cuts a table into records. Quoted cells may hold line ends and
// doubled quotes; a quote elsewhere is text. A quote that never closes spoils
// its own line only.
type csvScanner struct {
	r     io.Reader
	comma byte
	max   int // longest record

	raw   []byte   // the record as it stood, without its line end; valid until next
	cells [][]byte // its cells, likewise
	row   int      // its number, from 1
	begin int      // the line it begins on, from 1
	line  int      // the last line passed
	width int      // cells of a usual record; 0: not known
	odd   bool     // a quote stood where none may
	torn  bool     // it stood behind a line end inside a quoted cell: who can tell where the cell ends
	bad   string   // reason of a drop; empty: fine
	err   error

	buf        []byte
	cell       []byte
	ends       []int
	start, end int
	eof        bool
}

func (s *csvScanner) empty() bool { return len(s.cells) == 1 && len(s.cells[0]) == 0 }

func (s *csvScanner) detail() string {
	switch s.bad {
	case "row_too_long":
		return fmt.Sprintf("line %d is longer than %d MiB", s.begin, s.max>>20)
	case "ambiguous_quotes":
		return fmt.Sprintf("lines %d to %d: a quotation mark inside a cell of several lines is not doubled; where the cell ends cannot be told", s.begin, s.line)
	default:
		return fmt.Sprintf("line %d: a quotation mark opens here and never closes", s.begin)
	}
}

// next moves to the next record.
func (s *csvScanner) next() bool {
	for {
		if s.err != nil || s.eof && s.start == s.end {
			return false
		}
		n, whole := s.parse(s.buf[s.start:s.end])
		switch {
		case whole && s.torn && s.nextLineIsRow(s.buf[s.start:s.start+n]):
			return s.giveUp()
		case whole:
			s.take(n)
			if s.torn {
				s.bad = "ambiguous_quotes"
			}
			return true
		}
		if s.eof || s.end-s.start > s.max {
			return s.giveUp()
		}
		s.fill()
	}
}

// take makes the first n bytes of the buffer the record.
func (s *csvScanner) take(n int) bool {
	s.raw = s.buf[s.start : s.start+n]
	s.start += n
	s.row++
	s.begin = s.line + 1
	s.line += bytes.Count(s.raw, []byte{'\n'})
	if bytes.IndexByte(s.raw, '\n') < 0 {
		s.line += bytes.Count(s.raw, []byte{'\r'}) // lines end in CR alone
	}
	s.raw = bytes.TrimRight(s.raw, "\r\n")
	s.bad = ""
	s.cells = s.cells[:0]
	at := 0
	for _, e := range s.ends {
		s.cells = append(s.cells, s.cell[at:e])
		at = e
	}
	return true
}

// nextLineIsRow reports whether the second line of a doubtful record has the
// cells of a whole one, so that the quote on the first line never closed.
func (s *csvScanner) nextLineIsRow(b []byte) bool {
	_, b, _ = bytes.Cut(b, []byte{'\n'})
	line, _, _ := bytes.Cut(b, []byte{'\n'})
	return s.width > 1 && bytes.Count(line, []byte{s.comma}) >= s.width-1
}

// giveUp drops the line on which an endless record begins and goes on behind.
func (s *csvScanner) giveUp() bool {
	reason := "unclosed_quote"
	rest := s.buf[s.start:s.end]
	n := bytes.IndexByte(rest, '\n') + 1
	if n == 0 {
		n = len(rest)
		if !s.eof {
			reason = "row_too_long"
		}
	}
	s.ends = append(s.ends[:0], 0)
	s.take(n)
	s.bad = reason
	return true
}

func (s *csvScanner) fill() {
	if s.start > 0 {
		copy(s.buf, s.buf[s.start:s.end])
		s.start, s.end = 0, s.end-s.start
	}
	if s.end == len(s.buf) {
		s.buf = append(s.buf, make([]byte, max(len(s.buf), 128<<10))...)
	}
	// to the brim: a record is parsed anew after each fill, and the buffer
	// doubles, so that a long one costs twice its length, not its square
	n, err := io.ReadFull(s.r, s.buf[s.end:])
	s.end += n
	if err != nil {
		s.eof = true
		if err != io.EOF && err != io.ErrUnexpectedEOF {
			s.err = err
		}
	}
}

// parse reads one record from b into cell and ends. whole is false when b may
// end inside it. n counts the line end in.
func (s *csvScanner) parse(b []byte) (n int, whole bool) {
	s.cell, s.ends, s.odd, s.torn = s.cell[:0], s.ends[:0], false, false
	i := 0
	for {
		if i < len(b) && b[i] == '"' {
			var closed bool
			if i, closed = s.quoted(b, i+1); !closed {
				return 0, false
			}
		} else {
			j := i
			for j < len(b) && b[j] != s.comma && b[j] != '\n' && b[j] != '\r' {
				if b[j] == '"' {
					s.odd = true
				}
				j++
			}
			s.cell = append(s.cell, b[i:j]...)
			i = j
		}
		s.ends = append(s.ends, len(s.cell))
		switch {
		case i >= len(b):
			return i, s.eof
		case b[i] == s.comma:
			i++
		case b[i] == '\n':
			return i + 1, true
		case i+1 < len(b) && b[i+1] == '\n': // CRLF
			return i + 2, true
		case i+1 >= len(b) && !s.eof:
			return 0, false
		default: // CR alone
			return i + 1, true
		}
	}
}

// quoted reads a quoted cell whose text begins at i. It ends before a
// delimiter, a line end or the end of b.
func (s *csvScanner) quoted(b []byte, i int) (next int, closed bool) {
	start := i
	for {
		j := bytes.IndexByte(b[i:], '"')
		if j < 0 {
			return i, false
		}
		s.cell = append(s.cell, b[i:i+j]...)
		i += j + 1
		switch {
		case i >= len(b):
			return i, s.eof
		case b[i] == '"':
			s.cell = append(s.cell, '"')
			i++
		case b[i] == s.comma || b[i] == '\n' || b[i] == '\r':
			return i, true
		case !s.closesLater(b[i:]): // "a"b: it closed, and text stands behind
			s.odd = true
			j := i
			for j < len(b) && b[j] != s.comma && b[j] != '\n' && b[j] != '\r' {
				j++
			}
			s.cell = append(s.cell, b[i:j]...)
			return j, j < len(b) || s.eof
		default: // "a "b" c": the quote is text
			s.odd = true
			s.torn = s.torn || bytes.IndexByte(b[start:i], '\n') >= 0
			s.cell = append(s.cell, '"')
		}
	}
}

// closesLater reports whether a quote further on in the line stands before a
// delimiter or the line's end.
func (s *csvScanner) closesLater(b []byte) bool {
	for i, c := range b {
		switch c {
		case '\n', '\r':
			return false
		case '"':
			if i+1 == len(b) || b[i+1] == s.comma || b[i+1] == '\n' || b[i+1] == '\r' {
				return true
			}
		}
	}
	return false
}
