package question

import (
	"strings"
	"unicode/utf8"
)

// A bank may print no numbers at all. Then the first option tells that the lines
// before it were a question, so such an item is opened backwards. It is believed
// only with an answer: prose has lists from A, too.

// openLoose opens an item at its first option, with the lines before it as its
// stem; false when those belong to something else.
func (c *chapter) openLoose(l line) bool {
	m, ok := optionAt(l.text)
	if !ok || m.v != 0 || m.style.enclosed() && !m.lower && c.cur != nil {
		return false
	}
	var stem []line
	switch cur := c.cur; {
	case cur == nil:
		stem = c.looseStem()
	case cur.options >= 2 && cur.solved && len(cur.lines) > 2 && (cur.num.style == numLoose || !cur.explain):
		last := cur.lines[len(cur.lines)-1]
		_, label := scanLabel(last.text)
		if _, option := optionAt(last.text); label || option || last.text == "" {
			return false
		}
		last.text = stripCode(last.text)
		stem = []line{last}
		cur.lines = cur.lines[:len(cur.lines)-1]
	}
	if len(stem) == 0 {
		return false
	}
	num := numberMark{style: numLoose, n: c.lastNumber() + 1}
	if c.cur != nil {
		num.n = c.cur.num.n + 1
	}
	c.openItem(num, stem[0])
	for _, s := range stem[1:] {
		c.addLine(s)
	}
	c.addLine(l)
	return true
}

// looseStem takes the lines of a stem off the text that belongs to nothing: back
// to a word such as 题目： or a blank line near by, else the last line and those
// it was broken off from.
func (c *chapter) looseStem() []line {
	const far, near = 8, 4 // lines
	n := len(c.orphans)
	if n == 0 {
		return nil
	}
	from := n - 1
	for from > 0 && n-from < far && c.orphans[from-1].full && !c.orphans[from].blank {
		from--
	}
	for i := n - 1; i >= 0 && n-i <= far; i-- {
		if _, ok := stemLabel(c.orphans[i].text); ok || c.orphans[i].blank && n-i <= near {
			from = i
			break
		}
	}
	stem := append([]line(nil), c.orphans[from:]...)
	if rest, ok := stemLabel(stem[0].text); ok {
		stem[0].text = rest
	}
	stem[0].text = stripCode(stem[0].text)
	if r, w := utf8.DecodeRuneInString(stem[0].text); r >= '①' && r <= '⑳' && !strings.ContainsFunc(stem[0].text[w:], func(r rune) bool { return r >= '①' && r <= '⑳' }) && len(stem) == 1 {
		stem[0].text = trim(stem[0].text[w:]) // it numbers the question
	}
	if t := stem[0].text; t == "" || scanHeading(t, 0).kind != notHeading {
		return nil
	}
	c.orphans = c.orphans[:from]
	return stem
}

// stemLabel takes off a word that announces a question: 题目：, 【题干】, Question:.
func stemLabel(s string) (rest string, ok bool) {
	t := s
	r, w := utf8.DecodeRuneInString(t)
	open := openBracket(r)
	if open {
		t = t[w:]
		r, _ = utf8.DecodeRuneInString(t)
	}
	switch r {
	case '题', '试', '问', '題', '問', 'q', 'Q':
	default:
		return s, false
	}
	for _, word := range [...]string{"题目", "题干", "试题", "问题", "題目", "題幹", "問題", "question", "问"} {
		if !hasPrefixFold(t, word) {
			continue
		}
		rest := trim(t[len(word):])
		r, w := utf8.DecodeRuneInString(rest)
		if open && closeBracket(r) || !open && (r == ':' || r == '：') {
			return trim(strings.TrimLeft(rest[w:], ":： ")), true
		}
	}
	return s, false
}

// loneNumber reads a line that is nothing but a small number.
func loneNumber(s string) int {
	n, w := number(s)
	if w != len(s) || n == 0 || n > 9999 {
		return 0
	}
	return n
}

// loneHere reports whether a number alone on its line opens an item: the first
// one of the file, or the next one where the items before were so printed.
func (c *chapter) loneHere(n int) bool {
	if n == 0 {
		return false
	}
	if c.cur != nil {
		return c.cur.num.style == numLone && n == c.cur.num.n+1 && c.cur.closed()
	}
	if c.sec == nil || len(c.sec.items) == 0 {
		return n == 1
	}
	last := c.sec.items[len(c.sec.items)-1]
	return last.num.style == numLone && n == last.num.n+1
}
