package format

import (
	"context"
	"strconv"
	"strings"
)

// A wordStyle is what of a style matters for text.
type wordStyle struct {
	basedOn string
	name    string
	numID   string // empty: not said
	level   int    // -1: not said
	outline int    // 0–9 as written; -1: not said
	marks   wordMarks
}

// wordMarks are the looks of a run. Nil and empty: not said.
type wordMarks struct {
	bold, underline, hidden *bool
	color, highlight        string // RRGGBB; "auto"
	vertical                string // superscript, subscript, baseline
}

// over returns m with what it does not say taken from base.
func (m wordMarks) over(base wordMarks) wordMarks {
	if m.bold == nil {
		m.bold = base.bold
	}
	if m.underline == nil {
		m.underline = base.underline
	}
	if m.hidden == nil {
		m.hidden = base.hidden
	}
	if m.color == "" {
		m.color = base.color
	}
	if m.highlight == "" {
		m.highlight = base.highlight
	}
	if m.vertical == "" {
		m.vertical = base.vertical
	}
	return m
}

// readStyles reads the styles of a document by id, with what they inherit
// filled in.
func readStyles(ctx context.Context, p *officePackage, part string) (map[string]*wordStyle, error) {
	styles := map[string]*wordStyle{}
	if part == "" {
		return styles, nil
	}
	x, err := p.tokens(ctx, part)
	if err != nil {
		return nil, err
	}
	defer x.close()
	for x.next() {
		if x.start && x.name == "w:style" {
			id := x.attr("styleId")
			styles[id] = readStyle(x)
		}
	}
	done := map[string]bool{}
	for id := range styles {
		inherit(styles, id, done)
	}
	return styles, x.err
}

func readStyle(x *xmlTokens) *wordStyle {
	s := &wordStyle{level: -1, outline: -1}
	for in := x.depth; x.next() && x.depth >= in; {
		if !x.start {
			continue
		}
		switch x.name {
		case "w:basedOn":
			s.basedOn = x.attr("val")
		case "w:name":
			s.name = x.attr("val")
		case "w:numId", "w:ilfo":
			s.numID = x.attr("val")
		case "w:ilvl":
			s.level = atoiOr(x.attr("val"), -1)
		case "w:outlineLvl":
			s.outline = atoiOr(x.attr("val"), -1)
		case "w:rPr":
			s.marks = readMarks(x)
		case "w:tblStylePr":
			x.skip()
		}
	}
	return s
}

// inherit fills in what a style takes from those it is based on, each done
// once, circles cut.
func inherit(styles map[string]*wordStyle, id string, done map[string]bool) {
	s := styles[id]
	if s == nil || done[id] {
		return
	}
	done[id] = true
	base := styles[s.basedOn]
	if base == nil {
		return
	}
	inherit(styles, s.basedOn, done)
	if s.numID == "" {
		s.numID = base.numID
	}
	if s.level < 0 {
		s.level = base.level
	}
	if s.outline < 0 {
		if s.outline = base.outline; s.heading() == 0 && base.heading() > 0 {
			s.outline = base.heading() - 1
		}
	}
	s.marks = s.marks.over(base.marks)
}

// heading is the level of a heading style, 1–9, by its outline level or its
// name; 0 for any other.
func (s *wordStyle) heading() int {
	if s.outline >= 0 && s.outline < 9 {
		return s.outline + 1
	}
	name := strings.ToLower(strings.TrimSpace(strings.ReplaceAll(s.name, "_20_", " "))) // as LibreOffice writes it for Word 2003
	for _, p := range []string{"heading", "标题", "標題"} {
		if rest, ok := strings.CutPrefix(name, p); ok {
			if n := atoiOr(strings.TrimSpace(rest), 0); n >= 1 && n <= 9 {
				return n
			}
		}
	}
	if s.outline < 0 && (name == "title" || name == "标题" || name == "標題") {
		return 1
	}
	return 0
}

func atoiOr(s string, otherwise int) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		return otherwise
	}
	return n
}

// readMarks reads run properties; the start of w:rPr was just read.
func readMarks(x *xmlTokens) wordMarks { return readMarksWith(x, func() {}) }

// readMarksWith shows each property to see as well.
func readMarksWith(x *xmlTokens, see func()) wordMarks {
	var m wordMarks
	for in := x.depth; x.next() && x.depth >= in; {
		if !x.start {
			continue
		}
		see()
		on := x.on()
		switch x.name {
		case "w:b":
			m.bold = &on
		case "w:u":
			m.underline = &on
		case "w:vanish":
			m.hidden = &on
		case "w:color":
			m.color = strings.ToUpper(x.attr("val"))
		case "w:highlight":
			m.highlight = highlightColor(x.attr("val"))
		case "w:shd":
			if fill := strings.ToUpper(x.attr("fill")); len(fill) == 6 && m.highlight == "" {
				m.highlight = fill
			}
		case "w:vertAlign":
			m.vertical = x.attr("val")
		case "w:rPrChange":
			x.skip() // how it looked before
		}
	}
	return m
}

// highlightColor is the colour of a name of ST_HighlightColor.
func highlightColor(name string) string {
	switch name {
	case "yellow":
		return "FFFF00"
	case "green":
		return "00FF00"
	case "cyan":
		return "00FFFF"
	case "magenta":
		return "FF00FF"
	case "blue":
		return "0000FF"
	case "red":
		return "FF0000"
	case "darkBlue":
		return "00008B"
	case "darkCyan":
		return "008B8B"
	case "darkGreen":
		return "006400"
	case "darkMagenta":
		return "800080"
	case "darkRed":
		return "8B0000"
	case "darkYellow":
		return "808000"
	case "darkGray":
		return "A9A9A9"
	case "lightGray":
		return "D3D3D3"
	}
	return "auto"
}
