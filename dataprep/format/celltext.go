package format

import (
	"sort"
	"strings"

	"github.com/drydock-ml/drydock"
)

// A cellWriter gathers the text of one table cell and its spans.
type cellWriter struct {
	index int // of the cell
	lines int
	text  strings.Builder
	spans []drydock.Span
}

// line adds a line with its spans. Raised and lowered signs are written as such.
func (c *cellWriter) line(text string, spans []drydock.Span) {
	if c.lines++; c.lines > 1 {
		c.text.WriteByte('\n')
	}
	base := c.text.Len()
	shown, cuts := shifts(text, spans)
	c.text.WriteString(shown)
	for _, s := range spans {
		if s.Kind == drydock.Superscript || s.Kind == drydock.Subscript || s.Start > len(text) {
			continue
		}
		s.Start, s.End, s.Cell = base+cuts.place(s.Start), base+cuts.place(min(s.End, len(text))), c.index
		c.spans = append(c.spans, s)
	}
}

// A shift is a place where a text and its shown form are known to meet.
type shift struct{ text, shown int }

type shiftList []shift

// shifts writes the raised and lowered spans of a text by signs, and says where
// its characters have moved to.
func shifts(text string, spans []drydock.Span) (string, shiftList) {
	var b strings.Builder
	var cuts shiftList
	at := 0
	for _, s := range spans {
		if s.Kind != drydock.Superscript && s.Kind != drydock.Subscript || s.Start < at || s.End > len(text) {
			continue
		}
		b.WriteString(text[at:s.Start])
		cuts = append(cuts, shift{s.Start, b.Len()})
		if in := text[s.Start:s.End]; s.Kind == drydock.Superscript {
			b.WriteString(raisedAfter(text[:s.Start], in))
		} else {
			b.WriteString(lowered(in))
		}
		at = s.End
		cuts = append(cuts, shift{at, b.Len()})
	}
	if cuts == nil {
		return text, nil
	}
	b.WriteString(text[at:])
	return b.String(), cuts
}

// place is where a byte of the text stands in its shown form.
func (c shiftList) place(at int) int {
	i := sort.Search(len(c), func(i int) bool { return c[i].text > at }) - 1
	if i < 0 {
		return at
	}
	if i%2 == 0 && at > c[i].text { // inside what was rewritten
		return c[i+1].shown
	}
	return c[i].shown + at - c[i].text
}

// done returns the text and its spans, without what cut has at the end, and at
// the start if both is set.
func (c *cellWriter) done(cut string, both bool) (string, []drydock.Span) {
	text, lead := strings.TrimRight(c.text.String(), cut), 0
	if both {
		lead = len(text) - len(strings.TrimLeft(text, cut))
		text = text[lead:]
	}
	kept := c.spans[:0]
	for _, s := range c.spans {
		s.Start, s.End = min(max(s.Start-lead, 0), len(text)), min(max(s.End-lead, 0), len(text))
		if s.Start < s.End || s.Kind == drydock.Image {
			kept = append(kept, s)
		}
	}
	return text, kept
}

// cellOf writes the paragraphs of a cell as one text.
func cellOf(paras []paragraph, index int) (string, []drydock.Span) {
	c := cellWriter{index: index}
	for _, p := range paras {
		for i := range p.lines {
			c.line(p.lines[i].text.String(), p.lines[i].spans)
		}
	}
	return c.done("\n", false)
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
