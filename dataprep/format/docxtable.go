package format

import (
	"strings"

	"github.com/drydock-ml/drydock"
)

// maxTableDepth bounds tables inside tables; deeper ones give their paragraphs.
const maxTableDepth = 16

// table reads a table and yields its rows.
func (d *docx) table(x *xmlTokens, depth int) error {
	if err := d.flush(); err != nil {
		return err
	}
	t := &docxTable{depth: depth}
	for in := x.depth; x.next() && x.depth >= in; {
		if !x.start {
			continue
		}
		var err error
		switch x.name {
		case "w:tr":
			err = d.row(x, t)
		case "w:tblPr", "w:tblGrid":
			x.skip()
		default: // w:sdt, w:customXml, w:ins around rows: go in
		}
		if err != nil {
			return err
		}
	}
	return x.err
}

// docxTable is what is remembered from row to row.
type docxTable struct {
	depth int
	row   int
	above []string // text of the cells that a vertical merge repeats, by column
}

// A docxRow gathers one row.
type docxRow struct {
	cells   []string
	spans   []drydock.Span
	paras   []paragraph // of all cells
	real    int         // cells that stand in the file
	first   int
	deleted bool
}

// row reads one row and yields it, then the tables inside it.
func (d *docx) row(x *xmlTokens, t *docxTable) error {
	t.row++
	r := docxRow{first: d.para + 1}
	pending := d.hold()
	for in := x.depth; x.next() && x.depth >= in; {
		if !x.start {
			continue
		}
		switch x.name {
		case "w:trPr":
			for in := x.depth; x.next() && x.depth >= in; {
				r.deleted = r.deleted || x.start && x.name == "w:del"
			}
		case "w:tblPrEx":
			x.skip()
		case "w:tc":
			if err := d.cell(x, t, &r); err != nil {
				return err
			}
		}
	}
	inner := d.release(pending)
	if x.err != nil {
		return x.err
	}
	if r.deleted {
		return nil
	}
	if r.real == 1 { // a box around text
		for _, p := range r.paras {
			if err := d.give(p); err != nil {
				return err
			}
		}
		if err := d.flush(); err != nil {
			return err
		}
	} else if r.real > 0 {
		// a table may begin a cell of another one: the depth keeps them apart
		at := drydock.Locator{Part: d.part, Para: r.first, Line: t.depth, Row: t.row}
		if err := d.emit(drydock.Block{Cells: r.cells, Spans: r.spans, Figure: firstImage(r.spans), At: at}); err != nil {
			return err
		}
		for _, p := range r.paras {
			for _, box := range p.boxes {
				if err := d.lines(box); err != nil {
					return err
				}
			}
		}
	}
	for _, b := range inner {
		if err := d.emit(b); err != nil {
			return err
		}
	}
	return nil
}

// hold makes blocks wait: those of a table inside a cell come after its row.
func (d *docx) hold() *[]drydock.Block {
	outer := d.yield
	var held []drydock.Block
	h := &held
	d.yield = func(b drydock.Block, _ error) bool {
		*h = append(*h, b)
		return true
	}
	d.held = append(d.held, outer)
	return h
}

// release ends a hold and returns what waited.
func (d *docx) release(h *[]drydock.Block) []drydock.Block {
	last := len(d.held) - 1
	d.yield, d.held = d.held[last], d.held[:last]
	return *h
}

// cell reads one cell into the row.
func (d *docx) cell(x *xmlTokens, t *docxTable, r *docxRow) error {
	r.real++
	span, merged := 1, ""
	from := len(r.paras)
	column := len(r.cells)
	for in := x.depth; x.next() && x.depth >= in; {
		if !x.start {
			continue
		}
		switch x.name {
		case "w:tcPr":
			span, merged = cellProperties(x)
		case "w:p":
			r.paras = append(r.paras, d.paragraph(x))
		case "w:tbl":
			if t.depth < maxTableDepth {
				if err := d.table(x, t.depth+1); err != nil {
					return err
				}
			}
		case "w:del", "w:moveFrom", "w:sdtPr":
			x.skip()
		}
	}
	text, spans := cellOf(r.paras[from:], column)
	r.spans = append(r.spans, spans...)
	for len(t.above) <= column {
		t.above = append(t.above, "")
	}
	if merged == "continue" && strings.TrimSpace(text) == "" {
		text = t.above[column]
	}
	t.above[column] = ""
	if merged != "" {
		t.above[column] = text
	}
	r.cells = append(r.cells, text)
	for range min(span, 64) - 1 {
		r.cells = append(r.cells, "")
	}
	return x.err
}

// cellProperties returns over how many columns a cell runs and its part in a
// vertical merge: restart, continue or none.
func cellProperties(x *xmlTokens) (span int, merged string) {
	span = 1
	for in := x.depth; x.next() && x.depth >= in; {
		if !x.start {
			continue
		}
		switch x.name {
		case "w:gridSpan":
			span = max(1, atoiOr(x.attr("val"), 1))
		case "w:vMerge", "w:vmerge": // the latter of Word 2003
			if merged = x.attr("val"); merged == "" {
				merged = "continue"
			}
		}
	}
	return span, merged
}
