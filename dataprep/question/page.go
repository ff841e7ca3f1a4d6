package question

import "strings"

// widths remembers how wide the lines of the file run, to tell a wrapped line
// from one that ends.
type widths struct {
	ring [128]uint16
	n    int
	max  int
}

func (w *widths) add(n int) {
	n = min(n, 1<<16-1)
	old := w.ring[w.n%len(w.ring)]
	w.ring[w.n%len(w.ring)] = uint16(n)
	w.n++
	switch {
	case n >= w.max:
		w.max = n
	case int(old) == w.max:
		w.max = 0
		for _, v := range w.ring {
			w.max = max(w.max, int(v))
		}
	}
}

// full reports a line that reaches the right margin. Where lines run as long
// as paragraphs, none does.
func (w *widths) full(n int) bool {
	return w.n >= 8 && w.max <= 160 && w.max >= 24 && n*100 >= w.max*82
}

// turnPage marks the first line of a page and counts running titles.
func (c *chapter) turnPage(l *line) {
	if l.at.Page == 0 || l.at.Page == c.page {
		return
	}
	c.page = l.at.Page
	l.edge = true
	c.countEdge(l.text)
	if c.lastAdd != nil {
		c.lastAdd.edge = true
		c.countEdge(c.lastAdd.text)
	}
}

func (c *chapter) countEdge(s string) {
	if c.edges == nil {
		c.edges = map[string]int{}
	}
	if len(s) <= 120 && (len(c.edges) < 4096 || c.edges[edgeKey(s)] > 0) {
		c.edges[edgeKey(s)]++
	}
}

// edgeKey is a line with its numbers masked: "航海题库 第12页".
func edgeKey(s string) string {
	return strings.Map(func(r rune) rune {
		if isDigit(r) {
			return '#'
		}
		return r
	}, s)
}

// runningTitle reports a line that stood at the edge of several pages.
func (c *chapter) runningTitle(l line) bool {
	return l.edge && c.edges[edgeKey(l.text)] >= 3 && scanNumber(l.text).style == noNumber &&
		!opensAny(l.text) && numberedPart(l.text).kind == notHeading
}

func onlyDigits(s string) bool {
	for _, r := range s {
		if !isDigit(r) && !isSpace(r) && !strings.ContainsRune("-—/", r) {
			return false
		}
	}
	return true
}
