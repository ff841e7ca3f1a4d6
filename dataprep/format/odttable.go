package format

import (
	"strings"

	"github.com/drydock-ml/drydock"
)

// table reads a table and yields its rows, tables inside cells after the row.
// A cell that reaches down over several rows stands in each.
func (o *odt) table(x *xmlTokens, depth int) error {
	t := &odtTable{depth: depth}
	return o.rows(x, t)
}

// odtTable is what is remembered from row to row.
type odtTable struct {
	depth int
	row   int
	open  []spanning // cells that reach down, by column
}

// rows reads the rows inside an element: a table, or a group of them.
func (o *odt) rows(x *xmlTokens, t *odtTable) error {
	for in := x.depth; x.next() && x.depth >= in; {
		if !x.start {
			continue
		}
		var err error
		switch x.name {
		case "table:table-row":
			err = o.row(x, t)
		case "table:table-header-rows", "table:table-rows", "table:table-row-group":
			err = o.rows(x, t)
		default:
			x.skip()
		}
		if err != nil {
			return err
		}
	}
	return x.err
}

// row reads one row and yields it.
func (o *odt) row(x *xmlTokens, t *odtTable) error {
	t.row++
	first := o.para + 1
	var cells []string
	var paras []paragraph
	var spans []drydock.Span
	count := 0
	pending := o.hold()
	for in := x.depth; x.next() && x.depth >= in; {
		if !x.start {
			continue
		}
		if x.name != "table:table-cell" && x.name != "table:covered-table-cell" {
			x.skip()
			continue
		}
		covered := x.name == "table:covered-table-cell"
		repeat := min(max(atoiOr(x.attr("number-columns-repeated"), 1), 1), 64)
		down := atoiOr(x.attr("number-rows-spanned"), 1)
		wide := min(max(atoiOr(x.attr("number-columns-spanned"), 1), 1), 64)
		ps, err := o.cell(x, t)
		if err != nil {
			o.release(pending)
			return err
		}
		for range repeat {
			column := len(cells)
			text, looks := cellOf(ps, column)
			for len(t.open) < column+wide {
				t.open = append(t.open, spanning{})
			}
			if covered && t.open[column].rows > 0 {
				t.open[column].rows--
				cells = append(cells, t.open[column].text)
				continue
			}
			cells = append(cells, text)
			if covered {
				continue
			}
			count++
			paras, spans = append(paras, ps...), append(spans, looks...)
			t.open[column] = spanning{rows: down - 1, text: text}
			for i := 1; i < wide; i++ { // the covered ones beside it are empty, and below
				t.open[column+i] = spanning{}
			}
		}
	}
	inner := o.release(pending)
	if x.err != nil {
		return x.err
	}
	if err := o.give(t, drydock.Block{Cells: cells, Spans: spans}, max(first, 1), paras, count); err != nil {
		return err
	}
	for _, b := range inner {
		if err := o.emit(b); err != nil {
			return err
		}
	}
	return nil
}

// give yields a row; one that is a single cell is a box and gives its paragraphs.
func (o *odt) give(t *odtTable, b drydock.Block, first int, paras []paragraph, count int) error {
	if count == 1 && len(b.Cells) == 1 {
		for _, p := range paras {
			if err := o.docx.lines(p); err != nil {
				return err
			}
		}
		return nil
	}
	b.Figure = firstImage(b.Spans)
	if len(b.Cells) == 0 || strings.TrimSpace(strings.Join(b.Cells, "")) == "" && b.Figure == "" {
		return nil
	}
	b.At = drydock.Locator{Para: first, Line: t.depth, Row: t.row}
	if err := o.emit(b); err != nil {
		return err
	}
	for _, p := range paras {
		for _, box := range p.boxes {
			if err := o.docx.lines(box); err != nil {
				return err
			}
		}
	}
	return nil
}

// cell reads the content of a cell.
func (o *odt) cell(x *xmlTokens, t *odtTable) (paras []paragraph, err error) {
	var read func() error
	read = func() error {
		switch x.name {
		case "text:p", "text:h":
			paras = append(paras, o.paragraph(x))
		case "text:list":
			return o.list(x, read)
		case "table:table":
			if t.depth >= maxTableDepth {
				x.skip()
				return x.err
			}
			return o.table(x, t.depth+1)
		case "text:tracked-changes", "office:annotation":
			x.skip()
		default:
			for in := x.depth; x.next() && x.depth >= in; {
				if x.start {
					if err := read(); err != nil {
						return err
					}
				}
			}
		}
		return x.err
	}
	for in := x.depth; x.next() && x.depth >= in; {
		if x.start {
			if err := read(); err != nil {
				return nil, err
			}
		}
	}
	return paras, x.err
}
