package format

import (
	"path"
	"strings"

	"github.com/drydock-ml/drydock"
)

// inline reads one element inside a paragraph. Elements that are not known are
// gone into, so that text in them is not lost.
func (r *paragraphReader) inline() {
	x := r.x
	switch x.name {
	case "w:r":
		r.run()
		return
	case "w:t":
		r.text()
		return
	case "w:del", "w:moveFrom":
		r.p.struck = true
		x.skip()
		return
	case "w:delText", "w:delInstrText", "w:instrText", "w:sdtPr", "w:sdtEndPr", "w:smartTagPr", "w:customXmlPr",
		"w:rt", "w:rubyPr", "w:fldData", "w:binData", "w:proofErr", "w:pPrChange", "w:rPrChange":
		x.skip()
		return
	case "mc:AlternateContent":
		// the error, if any, stays in x
		_ = r.d.alternate(x, func() error { r.inline(); return x.err })
		return
	case "w:txbxContent":
		r.box()
		return
	case "m:oMath":
		r.add(readMath(x))
		return
	case "w:footnoteReference", "w:endnoteReference":
		kind := strings.TrimSuffix(strings.TrimPrefix(x.name, "w:"), "Reference")
		r.d.notes = append(r.d.notes, noteRef{kind, x.attr("id")})
	case "w:commentReference":
		r.d.comments++
	case "w:checkBox":
		r.tickBox()
		return
	case "a:blip":
		r.figure(x.attr("embed"), x.attr("link"))
	case "v:imagedata":
		if src := x.attr("src"); src != "" { // of Word 2003: wordml://01000001.png
			r.here().image(path.Base(src))
		} else {
			r.figure(x.attr("id"), x.attr("href"))
		}
	case "aml:annotation":
		if r.d.annotated(x) {
			r.p.struck = true
			x.skip()
			return
		}
	case "w:footnote", "w:endnote":
		r.aside()
		return
	default:
		if r.char() {
			x.skip()
			return
		}
	}
	for in := x.depth; x.next() && x.depth >= in; {
		if x.start {
			r.inline()
		}
	}
}

// run reads a w:r with its own looks.
func (r *paragraphReader) run() {
	x := r.x
	outer := r.marks
	r.marks = r.base
	for in := x.depth; x.next() && x.depth >= in; {
		switch {
		case !x.start:
		case x.name == "w:rPr":
			style, own := r.runMarks()
			if style != nil {
				own = own.over(style.marks)
			}
			r.marks = own.over(r.base)
			if r.marks.hidden != nil && *r.marks.hidden {
				r.d.hidden = true
			}
		default:
			r.inline()
		}
	}
	r.marks = outer
}

// runMarks reads w:rPr and the character style it names.
func (r *paragraphReader) runMarks() (*wordStyle, wordMarks) {
	var style *wordStyle
	x := r.x
	m := readMarksWith(x, func() {
		if x.name == "w:rStyle" {
			style = r.d.styles[x.attr("val")]
		}
	})
	return style, m
}

// text reads the characters of a w:t.
func (r *paragraphReader) text() {
	x := r.x
	for in := x.depth; x.next() && x.depth >= in; {
		if !x.start && !x.end {
			r.add(string(x.text))
		}
	}
}

// char handles the elements that stand for one sign; false for all others.
func (r *paragraphReader) char() bool {
	x := r.x
	switch x.name {
	case "w:tab", "w:ptab":
		r.add("\t")
	case "w:noBreakHyphen":
		r.add("-")
	case "w:softHyphen", "w:lastRenderedPageBreak", "w:annotationRef", "w:footnoteRef", "w:endnoteRef", "w:separator", "w:continuationSeparator":
	case "w:sym":
		r.add(symbol(x.attr("font"), x.attr("char")))
	case "w:cr":
		r.newLine()
	case "w:br":
		switch x.attr("type") {
		case "page", "column":
			r.brk = true
		default:
			r.newLine()
		}
	case "w:fldChar":
		switch x.attr("fldCharType") {
		case "begin":
			r.fields = append(r.fields, true)
			return false // what a form's field shows stands inside
		case "separate":
			if n := len(r.fields); n > 0 {
				r.fields[n-1] = false
			}
		case "end":
			if n := len(r.fields); n > 0 {
				r.fields = r.fields[:n-1]
			}
		}
	default:
		return false
	}
	return true
}

func (r *paragraphReader) newLine() {
	if r.inCode() {
		return
	}
	r.brk = false
	r.p.lines = append(r.p.lines, line{})
}

func (r *paragraphReader) inCode() bool {
	for _, code := range r.fields {
		if code {
			return true
		}
	}
	return false
}

// add appends text with the looks of the run.
func (r *paragraphReader) add(s string) {
	if s == "" || r.inCode() {
		return
	}
	l := r.here()
	start := l.text.Len()
	for _, c := range s { // a line end in the XML is a blank
		if c == '\n' || c == '\r' {
			c = ' '
		}
		l.text.WriteRune(c)
	}
	end := l.text.Len()
	l.look(start, end, r.marks)
}

// look marks a range of a line with the looks it has.
func (l *line) look(start, end int, m wordMarks) {
	if m.bold != nil && *m.bold {
		l.mark(start, end, drydock.Bold, "")
	}
	if m.underline != nil && *m.underline {
		l.mark(start, end, drydock.Underline, "")
	}
	switch color := m.color; {
	case len(color) == 6 && color != "000000":
		l.mark(start, end, drydock.Color, color)
	case len(m.highlight) == 6 && m.highlight != "FFFFFF":
		l.mark(start, end, drydock.Color, m.highlight)
	}
	switch m.vertical {
	case "superscript":
		l.mark(start, end, drydock.Superscript, "")
	case "subscript":
		l.mark(start, end, drydock.Subscript, "")
	}
}

// tickBox shows a box of a form as it is ticked.
func (r *paragraphReader) tickBox() {
	x := r.x
	on, set := false, false
	for in := x.depth; x.next() && x.depth >= in; {
		switch {
		case !x.start:
		case x.name == "w:checked":
			on, set = x.on(), true
		case x.name == "w:default" && !set:
			on = x.on()
		}
	}
	sign := "☐"
	if on {
		sign = "☑"
	}
	// it stands in the code of its field, which is not shown otherwise
	fields := r.fields
	r.fields = nil
	r.add(sign)
	r.fields = fields
}

// here is the line being written, after a page break that has text behind it.
func (r *paragraphReader) here() *line {
	last := &r.p.lines[len(r.p.lines)-1]
	if r.brk && (last.text.Len() > 0 || last.figure != "") {
		r.p.lines = append(r.p.lines, line{})
		last = &r.p.lines[len(r.p.lines)-1]
	}
	r.brk = false
	return last
}

// mark adds a span, or lengthens the one that ends where it begins.
func (l *line) mark(start, end int, kind drydock.SpanKind, value string) {
	for i := len(l.spans) - 1; i >= 0 && i >= len(l.spans)-4; i-- {
		if s := &l.spans[i]; s.Kind == kind && s.Value == value && s.End == start {
			s.End = end
			return
		}
	}
	l.spans = append(l.spans, drydock.Span{Start: start, End: end, Kind: kind, Value: value})
}

// figure puts an image by the name of its part.
func (r *paragraphReader) figure(id, link string) {
	name := ""
	if rel, ok := r.d.rels[id]; ok {
		name = path.Base(rel.target)
	} else if rel, ok := r.d.rels[link]; ok {
		name = path.Base(rel.target)
	}
	if name == "" || name == "." || r.inCode() {
		return
	}
	r.here().image(name)
}

// image puts an image at the end of the line.
func (l *line) image(name string) {
	at := l.text.Len()
	l.spans = append(l.spans, drydock.Span{Start: at, End: at, Kind: drydock.Image, Value: name})
	if l.figure == "" {
		l.figure = name
	}
}

// maxBoxDepth bounds text boxes inside text boxes.
const maxBoxDepth = 8

// box reads a text box: its paragraphs follow the one it is anchored in.
func (r *paragraphReader) box() {
	x, d := r.x, r.d
	if d.boxDepth >= maxBoxDepth {
		x.skip()
		return
	}
	d.boxDepth++
	defer func() { d.boxDepth-- }()
	for in := x.depth; x.next() && x.depth >= in; {
		switch {
		case !x.start:
		case x.name == "w:p":
			p := d.paragraph(x)
			r.p.boxes = append(r.p.boxes, p)
		case x.name == "w:sdtPr", x.name == "w:tblPr", x.name == "w:tblGrid", x.name == "w:del":
			x.skip()
		}
	}
}

// aside reads a note that stands where it is referred to; it comes at the end.
func (r *paragraphReader) aside() {
	x, d := r.x, r.d
	outer := d.para
	for in := x.depth; x.next() && x.depth >= in; {
		if x.start && x.name == "w:p" {
			d.asides = append(d.asides, d.paragraph(x))
		}
	}
	d.para = outer // the text's own are counted
}

// symbol maps the signs of symbol fonts that exam papers use: boxes to tick,
// ticks and crosses. Others keep their code of the private area.
func symbol(font, char string) string {
	var code rune
	for _, c := range char {
		switch {
		case c >= '0' && c <= '9':
			code = code<<4 | (c - '0')
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			code = code<<4 | (c | 0x20 - 'a' + 10)
		default:
			return ""
		}
	}
	if code <= 0 || code > 0x10FFFF || code >= 0xD800 && code < 0xE000 {
		return ""
	}
	low := code & 0xFF
	if code < 0xF000 || code > 0xF0FF {
		return string(code)
	}
	var table map[rune]string
	switch strings.ToLower(font) {
	case "wingdings":
		table = map[rune]string{
			0xFC: "✓", 0xFB: "✗", 0xFE: "☑", 0xFD: "☒", 0xA8: "☐", 0x6F: "☐", 0x6E: "■", 0x6C: "●", 0xD8: "➢", 0xE0: "→", 0xDF: "←",
			0x8C: "①", 0x8D: "②", 0x8E: "③", 0x8F: "④", 0x90: "⑤", 0x91: "⑥", 0x92: "⑦", 0x93: "⑧", 0x94: "⑨", 0x95: "⑩",
		}
	case "wingdings 2":
		table = map[rune]string{0x50: "✓", 0x4F: "✗", 0x52: "☑", 0x51: "☒", 0xA3: "☐", 0x2A: "☐"}
	case "symbol":
		table = map[rune]string{
			0x61: "α", 0x62: "β", 0x63: "χ", 0x64: "δ", 0x65: "ε", 0x66: "φ", 0x67: "γ", 0x68: "η", 0x6C: "λ", 0x6D: "μ", 0x70: "π",
			0x71: "θ", 0x72: "ρ", 0x73: "σ", 0x74: "τ", 0x77: "ω", 0x44: "Δ", 0x53: "Σ", 0x57: "Ω", 0xB0: "°", 0xB1: "±", 0xB4: "×",
			0xB8: "÷", 0xA3: "≤", 0xB3: "≥", 0xB9: "≠", 0xBB: "≈", 0xD6: "√", 0xA5: "∞", 0xB7: "•", 0xD0: "∠", 0xAE: "→",
		}
	}
	if s, ok := table[low]; ok {
		return s
	}
	return string(code)
}
