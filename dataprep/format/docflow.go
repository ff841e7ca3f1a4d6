package format

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/drydock-ml/drydock"
)

// flowState is where the reading of the text stands.
type flowState struct {
	p          paragraph
	fields     []bool // open fields; true: in its instruction, which is code
	cells      []string
	spans      []drydock.Span
	cell       []paragraph // paragraphs of the cell being read
	row        []paragraph // of the whole row
	rows       int         // of the table
	first      int         // paragraph the row begins with
	charHint   int
	paraHint   int
	lookOf     *docRun // marks was read from
	lookStyle  int
	marks      wordMarks
	struck     bool
	special    bool
	symbol     string
	paragraphs int
	boxes      []docBox // anchored in the paragraph or row being read
}

// A docParaProps is what a paragraph's properties say that matters for text.
type docParaProps struct {
	style, list, level, outline int
	inTable, rowEnd, innerCell  bool
	innerRowEnd                 bool
}

// read gives the text with its boxes, then the notes.
func (d *doc) read() error {
	d.readFormatting()
	d.readStyles()
	d.readLists()
	var counts [7]int
	for i := range counts {
		// the count of macros, always 0, stands among them
		counts[i] = max(d.main.u32(fibText+4*i), 0)
	}
	last := d.pieces[len(d.pieces)-1].to
	if counts[0] > last {
		d.bad += counts[0] - last
	}
	var stories [len(counts)]docBox
	from := 0
	for i, n := range counts {
		stories[i] = docBox{from, from + min(n, last-from)}
		from = stories[i].to
	}
	d.readBoxes(stories[0].to, stories[6].from, stories[6].to)
	if err := d.story("", stories[0].from, stories[0].to); err != nil {
		return err
	}
	if err := d.looseBoxes(); err != nil {
		return err
	}
	// between them: page headers, macros, comments
	if err := d.story("footnotes", stories[1].from, stories[1].to); err != nil {
		return err
	}
	if err := d.story("endnotes", stories[5].from, stories[5].to); err != nil {
		return err
	}
	d.tell()
	d.tellBad()
	return nil
}

// story reads the characters of one story.
func (d *doc) story(part string, from, to int) error {
	d.docx.part = part
	d.flow = flowState{lookStyle: -1}
	return d.characters(from, to)
}

// characters reads the paragraphs from one place to another.
func (d *doc) characters(from, to int) error {
	d.begin()
	var err error
	steps := 0
	d.text(from, to, func(c docChar) bool {
		if steps++; steps&1023 == 0 && d.ctx.Err() != nil {
			err = context.Cause(d.ctx)
			return false
		}
		err = d.char(c)
		return err == nil
	})
	if err != nil {
		return err
	}
	if f := &d.flow; len(f.cells) > 0 || len(f.cell) > 0 { // a table without its end
		d.endCell()
		if err := d.endRow(); err != nil {
			return err
		}
	}
	if last := d.flow.p; len(last.lines) > 1 || last.lines[0].text.Len() > 0 {
		d.begin()
		if err := d.docx.lines(last); err != nil {
			return err
		}
	}
	return d.anchored()
}

// begin starts a paragraph.
func (d *doc) begin() {
	d.flow.paragraphs++
	d.flow.p = paragraph{number: d.flow.paragraphs, lines: make([]line, 1)}
}

// char takes one character of the text ([MS-DOC] 2.4.1 and 2.8.26).
func (d *doc) char(c docChar) error {
	f := &d.flow
	d.lookAt(c.off)
	switch c.r {
	case 0x08:
		d.anchor(c)
		return nil
	case 0x13:
		f.fields = append(f.fields, true)
		return nil
	case 0x14:
		if n := len(f.fields); n > 0 {
			f.fields[n-1] = false
		}
		return nil
	case 0x15:
		if n := len(f.fields); n > 0 {
			f.fields = f.fields[:n-1]
		}
		return nil
	case '\r', 0x07, 0x0C:
		if err := d.endParagraph(c); err != nil {
			return err
		}
		return d.anchored()
	}
	for _, code := range f.fields {
		if code {
			return nil
		}
	}
	if f.struck {
		f.p.struck = true
		return nil
	}
	s := string(c.r)
	switch {
	case c.r == 0x0B, c.r == 0x0E:
		f.p.lines = append(f.p.lines, line{})
		return nil
	case c.r == 0x1E:
		s = "-"
	case c.r == '(' && f.symbol != "":
		s = f.symbol
	case c.r == '\t':
	case c.r < ' ', c.r == 0x1F: // pictures, references to notes, soft hyphens
		if c.r == 1 && f.special {
			l := &f.p.lines[len(f.p.lines)-1]
			l.image(fmt.Sprintf("picture-at-%d", c.off))
		}
		return nil
	}
	l := &f.p.lines[len(f.p.lines)-1]
	start := l.text.Len()
	l.text.WriteString(s)
	l.look(start, l.text.Len(), f.marks)
	return nil
}

// lookAt finds the looks of the character at a byte of the main stream.
func (d *doc) lookAt(off int) {
	f := &d.flow
	run := runAt(d.chars, off, &f.charHint, func(r *docRun) int { return r.end })
	para := runAt(d.paras, off, &f.paraHint, func(p *docPara) int { return p.end })
	style := 0
	if para != nil {
		style = para.style
	}
	if run == f.lookOf && style == f.lookStyle {
		return
	}
	f.lookOf, f.lookStyle = run, style
	f.marks, f.struck, f.special, f.symbol = wordMarks{}, false, false, ""
	for _, s := range d.chain(style) {
		d.looks(s.props.char)
	}
	if run != nil {
		modifiers(run.props, func(code int, v docBytes) {
			if code == 0x4A30 { // a character style
				for _, s := range d.chain(v.u16(0)) {
					d.looks(s.props.char)
				}
			}
		})
		d.looks(run.props)
	}
	if h := f.marks.hidden; h != nil && *h {
		d.hidden = true
	}
}

// looks applies modifiers of characters ([MS-DOC] 2.6.1).
func (d *doc) looks(b docBytes) {
	f := &d.flow
	modifiers(b, func(code int, v docBytes) {
		// 0, 1: off, on; 128: as the style, 129: the other way round
		toggle := func(was *bool) *bool {
			on := v.u8(0)&1 != 0
			if v.u8(0)&0x80 != 0 {
				on = on != (was != nil && *was)
			}
			return &on
		}
		switch code {
		case 0x0800:
			f.struck = v.u8(0) != 0 // a tracked deletion
		case 0x0855:
			f.special = v.u8(0) != 0
		case 0x0835:
			f.marks.bold = toggle(f.marks.bold)
		case 0x083C:
			f.marks.hidden = toggle(f.marks.hidden)
		case 0x2A3E:
			on := v.u8(0) != 0
			f.marks.underline = &on
		case 0x2A48:
			f.marks.vertical = [...]string{"baseline", "superscript", "subscript", "baseline"}[v.u8(0)&3]
		case 0x4845: // raised by half points, as LibreOffice writes it
			f.marks.vertical = [...]string{"subscript", "baseline", "superscript"}[cmp.Compare(int16(v.u16(0)), 0)+1]
		case 0x2A42:
			f.marks.color = docColor(v.u8(0))
		case 0x6870:
			if f.marks.color = "AUTO"; v.u8(3) == 0 {
				f.marks.color = fmt.Sprintf("%02X%02X%02X", v.u8(0), v.u8(1), v.u8(2))
			}
		case 0x2A0C:
			f.marks.highlight = docColor(v.u8(0))
		case 0x6A09:
			f.symbol = symbol("symbol", fmt.Sprintf("%04X", v.u16(2)))
		}
	})
}

// docColor is one of the sixteen colours ([MS-DOC] 2.9.119) as RRGGBB.
func docColor(ico int) string {
	const colors = "AUTO  0000000000FF00FFFF00FF00FF00FFFF0000FFFF00FFFFFF00008B008B8B0064008B008B8B00008B8B00A9A9A9D3D3D3"
	if ico < 0 || ico > 16 {
		return "AUTO"
	}
	return strings.TrimSpace(colors[ico*6 : ico*6+6])
}

// paraProps reads the properties of the paragraph whose mark stands at off.
func (d *doc) paraProps(off int) docParaProps {
	p := docParaProps{outline: -1}
	para := runAt(d.paras, off, &d.flow.paraHint, func(p *docPara) int { return p.end })
	if para == nil {
		return p
	}
	p.style = para.style
	apply := func(b docBytes) {
		modifiers(b, func(code int, v docBytes) {
			switch code {
			case 0x2416:
				p.inTable = v.u8(0) != 0
			case 0x2417:
				p.rowEnd = v.u8(0) != 0
			case 0x244B:
				p.innerCell = v.u8(0) != 0
			case 0x244C:
				p.innerRowEnd = v.u8(0) != 0
			case 0x260A:
				p.level = v.u8(0)
			case 0x460B:
				p.list = v.u16(0)
			case 0x2640:
				p.outline = v.u8(0)
			}
		})
	}
	for _, s := range d.chain(para.style) {
		apply(s.props.para)
	}
	apply(para.props)
	return p
}

// endParagraph finishes the open paragraph at its mark: of a paragraph, a cell
// or a row, or a page break, which ends one, too.
func (d *doc) endParagraph(c docChar) error {
	f := &d.flow
	props := d.paraProps(c.off)
	if c.r == '\r' && f.struck { // the mark is deleted: the next one goes on here
		f.p.struck = true
		return nil
	}
	if c.r == 0x0C && !props.inTable && len(f.p.lines) == 1 && f.p.lines[0].text.Len() == 0 && f.p.lines[0].figure == "" {
		return nil
	}
	p := f.p
	d.finishDOC(&p, props)
	d.begin()
	switch {
	case props.inTable && (props.rowEnd || props.innerRowEnd):
		if props.rowEnd {
			return d.endRow()
		}
		return nil
	case props.inTable || c.r == 0x07:
		if len(f.row) == 0 && len(f.cell) == 0 {
			f.first = p.number
		}
		f.cell = append(f.cell, p)
		if c.r == 0x07 {
			d.endCell()
		}
		return nil
	}
	f.rows = 0
	if p.struck && p.lines[0].text.Len() == 0 && len(p.lines) == 1 {
		return nil
	}
	return d.docx.lines(p)
}

// finishDOC gives a paragraph its level and number.
func (d *doc) finishDOC(p *paragraph, props docParaProps) {
	// styles 1 to 9 are the headings ([MS-DOC] 2.9.271), whatever their name
	switch {
	case props.outline >= 0 && props.outline < 9:
		p.level = int8(props.outline + 1)
	case props.outline < 0:
		for at, n := props.style, 0; n < maxParents && p.level == 0; n++ {
			if at >= 1 && at <= 9 {
				p.level = int8(at)
			}
			if at >= len(d.styles) {
				break
			}
			p.level = max(p.level, int8((&wordStyle{name: d.styles[at].name, outline: -1}).heading()))
			at = d.styles[at].based
		}
	}
	first := &p.lines[0]
	text := first.text.String()
	if props.list <= 0 || props.list == 0x7FF || text == "" && len(p.lines) == 1 && first.figure == "" {
		return
	}
	label := d.lists.label(strconv.Itoa(props.list), props.level)
	if label == "" || hasLabel(text, label) {
		return
	}
	first.text.Reset()
	first.text.WriteString(label + text)
	for i := range first.spans {
		first.spans[i].Start += len(label)
		first.spans[i].End += len(label)
	}
}

func (d *doc) endCell() {
	f := &d.flow
	text, spans := cellOf(f.cell, len(f.cells))
	f.cells, f.spans = append(f.cells, text), append(f.spans, spans...)
	f.row, f.cell = append(f.row, f.cell...), nil
}

// endRow yields a row; one of a single cell is a box and gives its paragraphs.
func (d *doc) endRow() error {
	f := &d.flow
	f.rows++
	cells, spans, paras := f.cells, f.spans, append(f.row, f.cell...)
	f.cells, f.spans, f.row, f.cell = nil, nil, nil, nil
	if len(cells) <= 1 {
		for _, p := range paras {
			if err := d.docx.lines(p); err != nil {
				return err
			}
		}
		return nil
	}
	if strings.TrimSpace(strings.Join(cells, "")) == "" && firstImage(spans) == "" {
		return nil
	}
	at := drydock.Locator{Part: d.docx.part, Para: f.first, Row: f.rows}
	return d.emit(drydock.Block{Cells: cells, Spans: spans, Figure: firstImage(spans), At: at})
}
