package format

import (
	"strings"

	"github.com/drydock-ml/drydock"
)

// A cellWriter gathers the text of one table cell and its spans.
type cellWriter struct {
	index int // of the cell
	text  string
	spans []drydock.Span
}

// line adds a line with its spans. Raised and lowered signs are written as such.
func (c *cellWriter) line(text string, spans []drydock.Span, first bool) {
	if !first {
		c.text += "\n"
	}
	base := len(c.text)
	shown := shownText(text, spans)
	c.text += shown
	for _, s := range spans {
		if s.Kind == drydock.Superscript || s.Kind == drydock.Subscript || s.Start > len(text) {
			continue
		}
		if shown != text { // signs before it may have become longer
			s.Start, s.End = len(shownText(text[:s.Start], spans)), len(shownText(text[:min(s.End, len(text))], spans))
		}
		s.Start, s.End, s.Cell = s.Start+base, s.End+base, c.index
		c.spans = append(c.spans, s)
	}
}

// trim takes the cut set off the end, and spaces off the start if both is set.
func (c *cellWriter) trim(cut string, both bool) {
	c.text = strings.TrimRight(c.text, cut)
	lead := 0
	if both {
		lead = len(c.text) - len(strings.TrimLeft(c.text, cut))
		c.text = c.text[lead:]
	}
	kept := c.spans[:0]
	for _, s := range c.spans {
		s.Start, s.End = min(max(s.Start-lead, 0), len(c.text)), min(max(s.End-lead, 0), len(c.text))
		if s.Start < s.End || s.Kind == drydock.Image {
			kept = append(kept, s)
		}
	}
	c.spans = kept
}

// cellOf writes the paragraphs of a cell as one text.
func cellOf(paras []paragraph, index int) (string, []drydock.Span) {
	c := cellWriter{index: index}
	first := true
	for _, p := range paras {
		for i := range p.lines {
			c.line(p.lines[i].text.String(), p.lines[i].spans, first)
			first = false
		}
	}
	c.trim("\n", false)
	return c.text, c.spans
}

// firstImage is the first image among spans; empty: none.
func firstImage(spans []drydock.Span) string {
	for _, s := range spans {
		if s.Kind == drydock.Image {
			return s.Value
		}
	}
	return ""
}
