package format

import (
	"context"
	"strconv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/drydock-ml/drydock"
)

// list reads ol and ul with their numbering.
func (w *htmlWalk) list(n *html.Node) error {
	if err := w.flush(); err != nil {
		return err
	}
	l := htmlList{ordered: n.DataAtom == atom.Ol, format: "decimal", next: 1, step: 1}
	switch attrOf(n, "type") {
	case "a":
		l.format = "lowerLetter"
	case "A":
		l.format = "upperLetter"
	case "i":
		l.format = "lowerRoman"
	case "I":
		l.format = "upperRoman"
	}
	listStyle(attrOf(n, "style"), &l)
	if v, err := strconv.Atoi(attrOf(n, "start")); err == nil {
		l.next = v
	}
	if hasAttr(n, "reversed") {
		if l.step = -1; !hasAttr(n, "start") {
			l.next = 0
			for c := n.FirstChild; c != nil; c = c.NextSibling {
				if c.DataAtom == atom.Li {
					l.next++
				}
			}
		}
	}
	w.lists = append(w.lists, l)
	err := w.children(n)
	w.lists = w.lists[:len(w.lists)-1]
	if err != nil {
		return err
	}
	return w.flush()
}

// listStyle reads list-style-type from a style attribute.
func listStyle(style string, l *htmlList) {
	for _, decl := range strings.Split(strings.ToLower(style), ";") {
		name, value, _ := strings.Cut(decl, ":")
		if name = strings.TrimSpace(name); name != "list-style-type" && name != "list-style" {
			continue
		}
		for _, v := range strings.Fields(value) {
			switch v {
			case "none":
				l.unlisted = true
			case "decimal":
				l.format, l.ordered = "decimal", true
			case "decimal-leading-zero":
				l.format, l.ordered = "decimalZero", true
			case "lower-alpha", "lower-latin":
				l.format, l.ordered = "lowerLetter", true
			case "upper-alpha", "upper-latin":
				l.format, l.ordered = "upperLetter", true
			case "lower-roman":
				l.format, l.ordered = "lowerRoman", true
			case "upper-roman":
				l.format, l.ordered = "upperRoman", true
			case "cjk-ideographic", "simp-chinese-informal", "trad-chinese-informal":
				l.format, l.ordered = "chineseCounting", true
			case "cjk-decimal":
				l.format, l.ordered = "ideographDigital", true
			case "cjk-heavenly-stem":
				l.format, l.ordered = "ideographTraditional", true
			}
		}
	}
}

// item reads one list item and puts its number before its text.
func (w *htmlWalk) item(n *html.Node) error {
	if err := w.flush(); err != nil {
		return err
	}
	outer := w.label
	if len(w.lists) > 0 {
		l := &w.lists[len(w.lists)-1]
		if v, err := strconv.Atoi(attrOf(n, "value")); err == nil {
			l.next = v
		}
		switch own := *l; {
		case l.unlisted:
		case own.ordered:
			listStyle(attrOf(n, "style"), &own)
			sep := ". "
			if own.format == "chineseCounting" || own.format == "ideographDigital" || own.format == "ideographTraditional" {
				sep = "、"
			}
			label := formatNumber(l.next, own.format) + sep
			if !hasLabel(textOf(n), label) {
				w.label = label
			}
		default:
			w.label = "• "
		}
		l.next += l.step
	}
	if err := w.styled(n); err != nil {
		return err
	}
	if err := w.flush(); err != nil {
		return err
	}
	w.label = outer // an item without text has no number
	return nil
}

// table reads a table: a block for each row. A table of one column, and one
// that holds other tables or headings, is layout and gives its content.
func (w *htmlWalk) table(n *html.Node) error {
	if err := w.flush(); err != nil {
		return err
	}
	rows := tableRows(n)
	if w.cell != nil || layout(n, rows) {
		return w.blockOf(n)
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if c.DataAtom == atom.Caption {
			if err := w.blockOf(c); err != nil {
				return err
			}
		}
	}
	var open []spanning
	for _, row := range rows {
		if w.ctx.Err() != nil {
			return context.Cause(w.ctx)
		}
		b, err := w.row(row, &open)
		if err != nil {
			return err
		}
		b.Figure = firstImage(b.Spans)
		if strings.TrimSpace(strings.Join(b.Cells, "")) == "" && b.Figure == "" {
			continue
		}
		if err := w.emit(b); err != nil {
			return err
		}
	}
	return nil
}

// layout reports whether a table is there for the looks only.
func layout(n *html.Node, rows []*html.Node) bool {
	if role := attrOf(n, "role"); role == "presentation" || role == "none" {
		return true
	}
	widest := 0
	for _, r := range rows {
		cells := 0
		for c := r.FirstChild; c != nil; c = c.NextSibling {
			if c.DataAtom == atom.Td || c.DataAtom == atom.Th {
				cells++
			}
		}
		widest = max(widest, cells)
	}
	if widest < 2 {
		return true
	}
	for c := range n.Descendants() {
		switch c.DataAtom {
		case atom.Table, atom.H1, atom.H2, atom.H3:
			return true
		}
	}
	return false
}

// tableRows are the rows of a table itself, not of those inside it.
func tableRows(n *html.Node) []*html.Node {
	var rows []*html.Node
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		switch c.DataAtom {
		case atom.Tr:
			rows = append(rows, c)
		case atom.Thead, atom.Tbody, atom.Tfoot:
			rows = append(rows, tableRows(c)...)
		}
	}
	return rows
}

// A spanning is a cell that reaches down into rows to come.
type spanning struct {
	rows int // left
	text string
}

// row reads the cells of a row. One that reaches over several rows stands in
// each; one over several columns in the first.
func (w *htmlWalk) row(n *html.Node, open *[]spanning) (b drydock.Block, err error) {
	fromAbove := func() {
		for at := len(b.Cells); at < len(*open) && (*open)[at].rows > 0; at = len(b.Cells) {
			(*open)[at].rows--
			b.Cells = append(b.Cells, (*open)[at].text)
		}
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if c.DataAtom != atom.Td && c.DataAtom != atom.Th || unseen(c) != "" {
			continue
		}
		fromAbove()
		at := len(b.Cells)
		text, spans, err := w.readCell(c, at)
		if err != nil {
			return b, err
		}
		b.Cells, b.Spans = append(b.Cells, text), append(b.Spans, spans...)
		for range min(max(atoiOr(attrOf(c, "colspan"), 1), 1), 64) - 1 {
			b.Cells = append(b.Cells, "")
		}
		if down := atoiOr(attrOf(c, "rowspan"), 1); down > 1 {
			for len(*open) < len(b.Cells) {
				*open = append(*open, spanning{})
			}
			for i := at; i < len(b.Cells); i++ {
				(*open)[i] = spanning{rows: down - 1, text: b.Cells[i]}
			}
		}
	}
	fromAbove()
	return b, nil
}

// readCell reads the content of the cell with this index.
func (w *htmlWalk) readCell(n *html.Node, index int) (string, []drydock.Span, error) {
	w.cell = &cellWriter{index: index}
	outerLists, outerLabel, outerLevel := w.lists, w.label, w.level
	w.lists, w.label, w.level = nil, "", 0
	err := w.styled(n)
	if err == nil {
		err = w.flush()
	}
	c := w.cell
	w.lists, w.label, w.level, w.cell = outerLists, outerLabel, outerLevel, nil
	text, spans := c.done(" \t\n", true)
	return text, spans, err
}

// cssColor reads a colour as RRGGBB: #rgb, #rrggbb, rgb(…) and the names tests
// are marked with; empty when it is none of these.
func cssColor(s string) string {
	s = strings.ToLower(strings.TrimSpace(s))
	if h, ok := strings.CutPrefix(s, "#"); ok {
		if len(h) == 3 {
			h = string([]byte{h[0], h[0], h[1], h[1], h[2], h[2]})
		}
		if len(h) == 6 && strings.Trim(h, "0123456789abcdef") == "" {
			return strings.ToUpper(h)
		}
		return ""
	}
	if in, ok := strings.CutPrefix(s, "rgb("); ok {
		out := ""
		for _, p := range strings.Split(strings.TrimSuffix(in, ")"), ",") {
			v := atoiOr(strings.TrimSpace(p), -1)
			if v < 0 || v > 255 {
				return ""
			}
			out += strings.ToUpper(string("0123456789abcdef"[v>>4]) + string("0123456789abcdef"[v&15]))
		}
		if len(out) == 6 {
			return out
		}
		return ""
	}
	switch s {
	case "red":
		return "FF0000"
	case "green":
		return "008000"
	case "lime":
		return "00FF00"
	case "blue":
		return "0000FF"
	case "yellow":
		return "FFFF00"
	case "orange":
		return "FFA500"
	case "purple":
		return "800080"
	case "gray", "grey":
		return "808080"
	}
	return ""
}
