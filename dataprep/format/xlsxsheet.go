package format

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/internal/msg"
)

// A sheetReader reads the rows of a sheet.
type sheetReader struct {
	w      *workbook
	x      *xmlTokens
	name   string
	merges []merge // not begun yet, by first row
	open   []merge // begun above
	images []sheetImage
	held   *drydock.Block // the last row, while pictures may follow that belong to it
	number int            // of the row, from 1
	given  int
	cells  []string
	spans  []drydock.Span
	figure string
	fault  string // what is wrong with the row
	// what is hidden is read all the same
	hiddenRows, hiddenColumns int
	hidden                    bool

	dates, errors, empties, lost oddCells
}

// oddCells counts cells that need a word.
type oddCells struct {
	n     int
	first string
}

func (o *oddCells) add(column, row int) {
	if o.n++; o.n == 1 {
		o.first = cellName(column, row)
	}
}

// row reads and yields one row; its start was just read.
func (r *sheetReader) row() error {
	x := r.x
	r.number++
	if n, err := strconv.Atoi(x.attr("r")); err == nil {
		if n < r.number || n > maxSheetRows {
			return r.w.pkg.damaged(x.part, fmt.Errorf("row %d stands after row %d", n, r.number-1))
		}
		r.number = n
	}
	v := x.attr("hidden")
	r.hidden = v == "1" || v == "true"
	r.cells, r.spans, r.figure, r.fault = nil, nil, "", ""
	column := 0
	for in := x.depth; x.next() && x.depth >= in; {
		if !x.start || x.name != "c" {
			continue
		}
		column++
		if ref := x.attr("r"); ref != "" {
			c, ok := columnOf(ref)
			if !ok || c < column {
				return r.w.pkg.damaged(x.part, fmt.Errorf("a cell of row %d is called %q", r.number, ref))
			}
			column = c
		}
		if column > maxSheetColumns {
			return r.w.pkg.damaged(x.part, fmt.Errorf("row %d has more than %d columns", r.number, maxSheetColumns))
		}
		r.put(column, r.cell(column))
	}
	if x.err != nil {
		return x.err
	}
	return r.give()
}

// put writes a cell with its looks and its picture.
func (r *sheetReader) put(column int, c sheetCell) {
	if c.text == "" && c.image == "" {
		return
	}
	for len(r.cells) < column {
		r.cells = append(r.cells, "")
	}
	cell := column - 1
	r.cells[cell] = c.text
	for _, s := range c.spans {
		s.Cell = cell
		r.spans = append(r.spans, s)
	}
	if c.looks != nil {
		r.spans = c.looks.mark(r.spans, 0, len(c.text), cell)
	}
	if c.image != "" {
		b := drydock.Block{Cells: r.cells, Spans: r.spans, Figure: r.figure}
		addImage(&b, cell, c.image)
		r.spans, r.figure = b.Spans, b.Figure
	}
}

// give yields the row unless it is empty.
func (r *sheetReader) give() error {
	blank := true
	for _, c := range r.cells {
		if strings.TrimSpace(c) != "" {
			blank = false
			break
		}
	}
	r.remember()
	if blank && r.fault == "" && r.figure == "" {
		return nil
	}
	if err := r.flush(r.number); err != nil {
		return err
	}
	at := drydock.Locator{Sheet: r.name, Row: r.number}
	r.given++
	r.w.rows++
	if r.hidden {
		r.hiddenRows++
	}
	if r.fault != "" {
		if !r.w.yield(drydock.Block{}, badBlock(r.w.pkg.file, at, "bad_cell", r.fault, strings.Join(r.cells, "\t"))) {
			return errStop
		}
		return nil
	}
	r.repeat()
	b := drydock.Block{Cells: r.cells, Spans: r.spans, Figure: r.figure, At: at}
	if len(r.images) > 0 {
		r.held = &b
		return nil
	}
	return r.send(b)
}

func (r *sheetReader) send(b drydock.Block) error {
	if !r.w.yield(b, nil) {
		return errStop
	}
	return nil
}

// flush yields the row that waited for pictures, now that the row next is met.
func (r *sheetReader) flush(next int) error {
	if r.held == nil {
		return nil
	}
	b := *r.held
	r.held = nil
	r.hang(&b, next)
	return r.send(b)
}

// A sheetCell is one cell as it shows.
type sheetCell struct {
	sheetText
	looks *sheetLooks // of the whole cell; nil: the usual
	image string      // that stands in it
}

// cell reads one cell; its start was just read.
func (r *sheetReader) cell(column int) (c sheetCell) {
	x := r.x
	kind, style := x.attr("t"), atoiOr(x.attr("s"), 0)
	value, formula := "", ""
	isFormula, valued := false, false
	for in := x.depth; x.next() && x.depth >= in; {
		switch {
		case !x.start:
		case x.name == "v":
			valued = true
			value = x.content()
		case x.name == "is":
			valued = true
			c.sheetText = richText(x, r.w.theme)
		case x.name == "f":
			isFormula = true
			formula = x.content()
		}
	}
	for _, s := range []string{formula, value} {
		if id, ok := shownImage(s); ok {
			if c.image = r.w.pictures[id]; c.image == "" {
				c.image = id
			}
			return c
		}
	}
	if isFormula && (!valued || value == "" && kind != "str") { // some programs write an empty value
		r.empties.add(column, r.number)
		return c
	}
	if style >= 0 && style < len(r.w.styles) && !r.w.styles[style].looks.plain() {
		c.looks = &r.w.styles[style].looks
	}
	r.value(&c, kind, value, style, column)
	return c
}

// value sets what a cell shows by the kind of its value.
func (r *sheetReader) value(c *sheetCell, kind, value string, style, column int) {
	switch kind {
	case "s":
		i, err := strconv.Atoi(strings.TrimSpace(value))
		switch {
		case value == "":
		case err != nil || i < 0 || i >= len(r.w.shared):
			r.fault = fmt.Sprintf("cell %s refers to text %q of %d", cellName(column, r.number), value, len(r.w.shared))
		default:
			c.sheetText = r.w.shared[i]
		}
	case "inlineStr":
	case "str", "d":
		c.text = cellText(value)
	case "b":
		switch strings.TrimSpace(value) {
		case "1", "true":
			c.text = "TRUE"
		case "":
		default:
			c.text = "FALSE"
		}
	case "e":
		r.errors.add(column, r.number)
		c.text = value
	default:
		c.text = r.numeric(strings.TrimSpace(value), style, column)
	}
}

// numeric writes a number as its style shows it, see [xlsxFormat].
func (r *sheetReader) numeric(v string, style, column int) string {
	if v == "" {
		return ""
	}
	f := numberFormat{}
	if style >= 0 && style < len(r.w.styles) {
		f = r.w.styles[style].number
	}
	text, lost := f.write(v, r.w.date1904)
	if f.date != nil {
		r.dates.add(column, r.number)
	}
	if lost {
		r.lost.add(column, r.number)
	}
	return text
}

// tell notes what was odd about the sheet.
func (r *sheetReader) tell() {
	note, file := r.w.note, r.w.pkg.file.name()
	if r.given == 0 && len(r.w.sheets) > 1 {
		note(Note{Code: "empty_sheet", Text: msg.Text{"%s: the sheet %q is empty", "%s：工作表 %q 是空的"}, Args: []any{file, r.name}})
	}
	for _, h := range []struct {
		n    int
		code string
		text msg.Text
	}{
		{r.hiddenRows, "hidden_rows", msg.Text{
			"%s: sheet %q has %d hidden {row|rows}; {it was|they were} read like any other", "%s：工作表 %q 有 %d 个隐藏行，已照常读取",
		}},
		{r.hiddenColumns, "hidden_columns", msg.Text{
			"%s: sheet %q has %d hidden {column|columns}; {it was|they were} read like any other", "%s：工作表 %q 有 %d 个隐藏列，已照常读取",
		}},
	} {
		if h.n > 0 && r.given > 0 {
			note(Note{Code: h.code, Text: h.text, Args: []any{file, r.name, h.n}})
		}
	}
	for _, o := range []struct {
		cells  oddCells
		code   string
		damage bool
		text   msg.Text
	}{
		{r.dates, "date_cells", false, msg.Text{
			"%s: sheet %q has %d cells that are dates, the first %s; what was typed as 1-2 may have become one",
			"%s：工作表 %q 有 %d 个日期单元格，首个为 %s；输入的 1-2 之类可能已被 Excel 改成日期",
		}},
		{r.errors, "error_cells", false, msg.Text{
			"%s: sheet %q has %d cells with an error value such as #N/A, the first %s",
			"%s：工作表 %q 有 %d 个错误值单元格（如 #N/A），首个为 %s",
		}},
		{r.empties, "formula_without_value", true, msg.Text{
			"%s: sheet %q has %d formulas whose result is not in the file, the first %s; open and save it in Excel once",
			"%s：工作表 %q 有 %d 个公式没有保存结果，首个为 %s；请用 Excel 打开并保存一次",
		}},
		{r.lost, "digits_lost", true, msg.Text{
			"%s: sheet %q has %d numbers of more than 15 digits whose last digits Excel did not keep, the first %s; such ids must be typed as text",
			"%s：工作表 %q 有 %d 个超过 15 位的数，Excel 未保留其末位，首个为 %s；此类编号应以文本输入",
		}},
	} {
		if o.cells.n > 0 {
			note(Note{Code: o.code, Damage: o.damage, Text: o.text, Args: []any{file, r.name, o.cells.n, o.cells.first}})
		}
	}
}
