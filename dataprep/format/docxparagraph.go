package format

import (
	"strings"

	"github.com/drydock-ml/drydock"
)

// A paragraph is one w:p as it shows.
type paragraph struct {
	number int
	level  int8
	lines  []line
	boxes  []paragraph // of text boxes anchored here
	joined bool        // its mark is deleted: the next one belongs to it
	struck bool        // a tracked deletion took something
}

// A line is a paragraph's text up to a line break.
type line struct {
	text   strings.Builder
	spans  []drydock.Span
	figure string
}

// gone reports whether tracked deletions left nothing and the paragraph with it.
func (p *paragraph) gone() bool {
	return p.struck && p.joined && len(p.lines) == 1 && p.lines[0].text.Len() == 0 && p.lines[0].figure == ""
}

// join appends the next paragraph to one whose mark was deleted.
func (p *paragraph) join(next paragraph) paragraph {
	last := &p.lines[len(p.lines)-1]
	for i := range next.lines {
		n := &next.lines[i]
		if i > 0 {
			p.lines = append(p.lines, *n)
			continue
		}
		shift := last.text.Len()
		last.text.WriteString(n.text.String())
		for _, s := range n.spans {
			s.Start, s.End = s.Start+shift, s.End+shift
			last.spans = append(last.spans, s)
		}
		if last.figure == "" {
			last.figure = n.figure
		}
	}
	out := *p
	out.boxes = append(out.boxes, next.boxes...)
	out.joined, out.struck = next.joined, out.struck || next.struck
	if out.level == 0 {
		out.level = next.level
	}
	return out
}

// A paragraphReader turns the content of one w:p into lines.
type paragraphReader struct {
	d     *docx
	x     *xmlTokens
	p     paragraph
	base  wordMarks // of the paragraph's style
	marks wordMarks // of the run being read
	// fields are the open complex fields; in the instruction of one (true) text
	// is code, not content.
	fields []bool
	brk    bool // a page break waits for text behind it
}

// paragraph reads a paragraph; the start of w:p was just read. The error, if
// any, is x.err.
func (d *docx) paragraph(x *xmlTokens) paragraph {
	d.para++
	r := &paragraphReader{d: d, x: x, p: paragraph{number: d.para, lines: make([]line, 1)}}
	props := paraProps{level: -1, outline: -1}
	for in := x.depth; x.next() && x.depth >= in; {
		if !x.start {
			continue
		}
		if x.name == "w:pPr" {
			props = r.properties()
			continue
		}
		r.inline()
	}
	r.finish(props)
	return r.p
}

// paraProps are the properties of a paragraph as written on it.
type paraProps struct {
	style   string
	numID   string // empty: not said
	level   int    // of the list; -1: not said
	outline int    // -1: not said
	label   string // number of the list as it shows, where the file has it
}

func (r *paragraphReader) properties() paraProps {
	x, p := r.x, paraProps{level: -1, outline: -1}
	for in := x.depth; x.next() && x.depth >= in; {
		if !x.start {
			continue
		}
		switch x.name {
		case "w:pStyle":
			p.style = x.attr("val")
		case "w:numId", "w:ilfo":
			p.numID = x.attr("val")
		case "w:ilvl":
			p.level = atoiOr(x.attr("val"), -1)
		case "w:outlineLvl":
			p.outline = atoiOr(x.attr("val"), -1)
		case "wx:t": // of Word 2003, which writes the number out
			p.label = x.attr("val")
		case "w:rPr":
			for in := x.depth; x.next() && x.depth >= in; {
				switch {
				case !x.start:
				case x.name == "w:del", x.name == "w:moveFrom":
					r.p.joined, r.p.struck = true, true
					x.skip()
				case x.name == "w:rPrChange":
					x.skip()
				}
			}
		case "w:pPrChange", "w:sectPr", "w:ins":
			x.skip() // how it was before
		}
	}
	if s := r.d.styles[p.style]; s != nil {
		r.base = s.marks
	}
	return p
}

// finish sets level and number once the text is known.
func (r *paragraphReader) finish(p paraProps) {
	style := r.d.styles[p.style]
	level := 0
	if style != nil {
		level = style.heading()
	}
	if p.outline >= 0 {
		if level = p.outline + 1; level > 9 {
			level = 0
		}
	}
	last := len(r.p.lines) - 1
	if last > 0 && r.p.lines[last].text.Len() == 0 && r.p.lines[last].figure == "" {
		r.p.lines = r.p.lines[:last]
	}
	r.p.level = int8(level)
	label := r.label(p, style)
	first := &r.p.lines[0]
	text := first.text.String()
	if label == "" || hasLabel(text, label) || text == "" && first.figure == "" && len(r.p.lines) == 1 {
		return // Word counts an empty item; it shows a number without text
	}
	first.text.Reset()
	first.text.WriteString(label + text)
	for i := range first.spans {
		first.spans[i].Start += len(label)
		first.spans[i].End += len(label)
	}
}

// label counts the paragraph in its list and returns its number with what parts
// it from the text; empty: none.
func (r *paragraphReader) label(p paraProps, style *wordStyle) string {
	numID, numLevel := p.numID, p.level
	if numID == "" && style != nil {
		numID = style.numID
		if numLevel < 0 {
			numLevel = style.level
		}
		if numLevel < 0 {
			numLevel = r.d.numbering.levelOf(numID, p.style)
		}
	}
	switch {
	case r.p.gone():
		return ""
	case p.label != "":
		if c := []rune(p.label); len(c) == 1 && c[0] >= 0xE000 && c[0] <= 0xF8FF {
			return "• " // a sign of a symbol font
		}
		return p.label + " "
	case numID == "" || numID == "0":
		return ""
	}
	return r.d.numbering.label(numID, max(numLevel, 0))
}
