package question

import (
	"strings"
	"unicode/utf8"
)

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

// pageLine recognises a line that is nothing but a page's number: 第12页 共30页,
// Page 3 of 9, 3 / 30, - 12 -.
func pageLine(s string) bool {
	if len(s) > 60 {
		return false
	}
	switch r, _ := utf8.DecodeRuneInString(s); {
	case r == '第':
		return pageOf(s)
	case r == 'p' || r == 'P':
		return pageEnglish(s)
	case isDigit(r):
		n, w := number(s)
		rest, ok := strings.CutPrefix(trim(s[w:]), "/")
		m, mw := number(trim(rest))
		return ok && len(s) > w && isSpace(rune(s[w])) && mw > 0 && mw == len(trim(rest)) && n > 0 && n <= m
	case r == '-' || r == '—' || r == '–':
		return strings.ContainsFunc(s, isDigit) && ruleOrPage(s)
	}
	return false
}

// pageEnds marks the lines on either side of a page's number: what stands there
// time and again is a running title. Files that tell pages apart are not asked.
func (c *chapter) pageEnds() {
	if c.page > 0 {
		return
	}
	c.pageOver = true
	if c.lastAdd != nil && c.cur != nil && !c.lastAdd.edge {
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
		!opensAny(l.text) && numberedPart(l.text).kind == notHeading && findAnswerLabel(l.text) < 0 && !readable(l.text) && !keyLike(l.text)
}

func onlyDigits(s string) bool {
	for _, r := range s {
		if !isDigit(r) && !isSpace(r) && !strings.ContainsRune("-—/", r) {
			return false
		}
	}
	return true
}
