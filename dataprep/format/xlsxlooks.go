package format

import (
	"context"
	"strings"

	"github.com/drydock-ml/drydock"
)

// sheetLooks are the looks of a cell or a run that a bank may mark an answer by.
type sheetLooks struct {
	bold, underline bool
	color           string // RRGGBB of the type, else of what lies behind it; empty: the usual
	vertical        string // superscript, subscript or nothing
}

// plain reports looks that mark nothing.
func (l sheetLooks) plain() bool { return !l.bold && !l.underline && l.color == "" }

// mark adds the looks of a range of a cell to spans.
func (l sheetLooks) mark(spans []drydock.Span, start, end, cell int) []drydock.Span {
	if start >= end {
		return spans
	}
	add := func(k drydock.SpanKind, value string) {
		spans = append(spans, drydock.Span{Start: start, End: end, Kind: k, Value: value, Cell: cell})
	}
	if l.bold {
		add(drydock.Bold, "")
	}
	if l.underline {
		add(drydock.Underline, "")
	}
	if l.color != "" {
		add(drydock.Color, l.color)
	}
	return spans
}

// property takes one element of font or run properties.
func (l *sheetLooks) property(x *xmlTokens, theme []string) {
	switch x.name {
	case "b":
		l.bold = x.on()
	case "u":
		l.underline = x.on()
	case "color":
		if c := sheetColor(x, theme); c != "000000" {
			l.color = c
		}
	case "vertAlign":
		l.vertical = x.attr("val")
	}
}

// A cellStyle is what of a cell's style shows in text.
type cellStyle struct {
	number numberFormat
	looks  sheetLooks
}

// readCellStyles reads the styles of cells in the order cells name them.
func readCellStyles(ctx context.Context, p *officePackage, part string, theme []string) ([]cellStyle, error) {
	if part == "" {
		return nil, nil
	}
	x, err := p.tokens(ctx, part)
	if err != nil {
		return nil, err
	}
	defer x.close()
	codes := map[int]string{}
	var fonts []sheetLooks
	var fills []string
	var out []cellStyle
	group := ""
	for x.next() {
		switch {
		case !x.start:
			if x.end && x.name == group {
				group = ""
			}
		case x.name == "cellXfs", x.name == "fonts", x.name == "fills", x.name == "numFmts":
			group = x.name
		case x.name == "numFmt" && group == "numFmts":
			codes[atoiOr(x.attr("numFmtId"), -1)] = x.attr("formatCode")
		case x.name == "font" && group == "fonts":
			fonts = append(fonts, readFont(x, theme))
		case x.name == "fill" && group == "fills":
			fills = append(fills, readFill(x, theme))
		case x.name == "xf" && group == "cellXfs":
			id := atoiOr(x.attr("numFmtId"), 0)
			code, own := codes[id]
			if !own {
				code = builtinFormat(id)
			}
			s := cellStyle{number: parseNumberFormat(code)}
			if f := atoiOr(x.attr("fontId"), -1); f >= 0 && f < len(fonts) {
				s.looks = fonts[f]
			}
			if f := atoiOr(x.attr("fillId"), -1); s.looks.color == "" && f >= 0 && f < len(fills) {
				s.looks.color = fills[f]
			}
			out = append(out, s)
		}
	}
	return out, x.err
}

func readFont(x *xmlTokens, theme []string) (l sheetLooks) {
	for in := x.depth; x.next() && x.depth >= in; {
		if x.start {
			l.property(x, theme)
		}
	}
	return l
}

// readFill gives the colour of a solid fill, none for white.
func readFill(x *xmlTokens, theme []string) (color string) {
	solid := false
	for in := x.depth; x.next() && x.depth >= in; {
		switch {
		case !x.start:
		case x.name == "patternFill":
			solid = x.attr("patternType") == "solid"
		case x.name == "fgColor" && solid:
			if c := sheetColor(x, theme); c != "FFFFFF" {
				color = c
			}
		}
	}
	return color
}

// sheetColor is the colour of an element as RRGGBB; empty when it follows the
// system or cannot be told.
func sheetColor(x *xmlTokens, theme []string) string {
	if rgb := strings.ToUpper(x.attr("rgb")); len(rgb) == 8 {
		return rgb[2:]
	} else if len(rgb) == 6 {
		return rgb
	}
	if i := atoiOr(x.attr("theme"), -1); i >= 0 {
		if i < len(theme) {
			return theme[i]
		}
		return ""
	}
	if i := atoiOr(x.attr("indexed"), -1); i >= 0 && i < 64 {
		if i < 8 { // the first eight come twice
			i += 8
		}
		const each = len("RRGGBB")
		return indexedColors[(i-8)*each : (i-7)*each]
	}
	return ""
}

// indexedColors are the colours 8 to 63 of files that name them by number
// (ECMA-376 Part 1, 18.8.27).
const indexedColors = "000000FFFFFFFF000000FF000000FFFFFF00FF00FF00FFFF" +
	"800000008000000080808000800080008080C0C0C0808080" +
	"9999FF993366FFFFCCCCFFFF660066FF80800066CCCCCCFF" +
	"000080FF00FFFFFF0000FFFF8000808000000080800000FF" +
	"00CCFFCCFFFFCCFFCCFFFF9999CCFFFF99CCCC99FFFFCC99" +
	"3366FF33CCCC99CC00FFCC00FF9900FF6600666699969696" +
	"003366339966003300333300993300993366333399333333"

// readTheme gives the colours of a theme in the order sheets count them: light 1
// before dark 1, light 2 before dark 2.
func readTheme(ctx context.Context, p *officePackage, part string) ([]string, error) {
	if part == "" {
		return nil, nil
	}
	x, err := p.tokens(ctx, part)
	if err != nil {
		return nil, err
	}
	defer x.close()
	var colors []string
	inside := false
	for x.next() {
		switch {
		case x.name == "a:clrScheme":
			inside = x.start
		case x.start && inside && x.name == "a:srgbClr":
			colors = append(colors, strings.ToUpper(x.attr("val")))
		case x.start && inside && x.name == "a:sysClr":
			colors = append(colors, strings.ToUpper(x.attr("lastClr")))
		}
	}
	for _, i := range []int{0, 2} {
		if i+1 < len(colors) {
			colors[i], colors[i+1] = colors[i+1], colors[i]
		}
	}
	return colors, x.err
}

// A sheetText is the text of a string item with the looks of its runs.
type sheetText struct {
	text  string
	spans []drydock.Span
}

// richText reads a string item; raised and lowered signs are written as such,
// reading aids (rPh) left out.
func richText(x *xmlTokens, theme []string) sheetText {
	var b strings.Builder
	var s sheetText
	var looks sheetLooks
	for in := x.depth; x.next() && x.depth >= in; {
		switch {
		case !x.start:
		case x.name == "rPh" || x.name == "phoneticPr":
			x.skip()
		case x.name == "r":
			looks = sheetLooks{}
		case x.name == "t":
			start := b.Len()
			t := cellText(x.content())
			switch looks.vertical {
			case "superscript":
				t = raised(t)
			case "subscript":
				t = lowered(t)
			}
			b.WriteString(t)
			s.spans = looks.mark(s.spans, start, b.Len(), 0)
		default:
			looks.property(x, theme)
		}
	}
	s.text = b.String()
	return s
}
