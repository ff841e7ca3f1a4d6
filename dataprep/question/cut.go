package question

import (
	"strings"
	"unicode/utf8"
)

// The parts of an item's text.
type parts struct {
	body    string // stem and options, lines kept
	answer  string
	hasAns  bool
	twice   bool // two answers that differ
	explain string
}

// A region is the part of an item that the lines now belong to.
type region uint8

const (
	inBody    region = iota
	inAnswer         // behind an answer
	inExplain        // behind an explanation label
	inValue          // behind an answer label whose value is on the next line
)

// A cutter takes answer and explanation off an item's text, line by line.
type cutter struct {
	parts
	bodyText    strings.Builder
	explainText []byte
	words       []byte // the answer, when it is in words and goes on over lines
	where       region
	listed      bool // the body is known to hold an option list
	looks       int  // how often the body was looked through for one
}

// maxLabels is how many labels of answers and explanations are looked for on one
// line; maxLooks, how often the text of one item is searched for a list of options.
// What has more of them is no question.
const maxLabels, maxLooks = 64, 32

// hasList reports whether the body holds an option list.
func (c *cutter) hasList() bool {
	if !c.listed && c.looks < maxLooks {
		c.looks++
		c.listed = scanOptionsFast(c.bodyText.String()) >= 2
	}
	return c.listed
}

// inWords reports an answer that is neither letters nor a true/false mark.
func (c *cutter) inWords() bool {
	return len(c.words) > maxValue || !readable(c.answer)
}

// maxValue is how many bytes letters may take as an answer.
const maxValue = 256

// cut takes the item apart.
func (it *item) cut() parts {
	size := 0
	for _, l := range it.lines {
		size += len(l.text) + 1
	}
	var c cutter
	c.bodyText.Grow(size)
	for i, l := range it.lines {
		s := l.text
		if i == 0 {
			s = s[it.num.end:]
		}
		c.line(s, i+1 == len(it.lines))
	}
	c.body, c.explain = c.bodyText.String(), string(c.explainText)
	if c.words != nil {
		c.answer = string(c.words)
	}
	return c.parts
}

// line takes the next line; last says that none follows.
func (c *cutter) line(s string, last bool) {
	if c.where == inBody && metaLine(s) && c.hasList() {
		if start, _, found := nextLabel(s); !found {
			c.explainText = join(c.explainText, s)
			return
		} else if start > 0 {
			c.explainText, s = join(c.explainText, trim(s[:start])), s[start:]
		}
	}
	for n := 0; s != ""; n++ {
		start, lb, found := 0, label{}, false
		if n < maxLabels {
			start, lb, found = nextLabel(s)
		}
		before := s
		if found {
			before = s[:start]
		}
		if b := trim(before); b != "" && !noise(b) {
			c.keep(before, b)
		}
		if !found {
			break
		}
		s = s[start+lb.end:]
		if lb.explain {
			c.where = inExplain
			continue
		}
		s = c.value(s)
	}
	// an answer label with its value on the next line
	switch {
	case c.where == inAnswer && !c.hasAns && !last:
		c.where = inValue
	case c.where == inValue:
		c.where = inAnswer
		c.answer, c.hasAns, c.words = trim(string(c.explainText)), true, nil
		c.explainText = c.explainText[:0]
	}
}

// keep files a stretch of text under the region it stands in; b is the same
// without the blanks around it.
func (c *cutter) keep(text, b string) {
	if c.where == inAnswer && c.bodyText.Len() > 0 && opensOption(b) && !c.hasList() {
		c.where = inBody // （答案：B） stood before the options
	}
	switch {
	case c.where == inBody:
		if c.bodyText.Len() > 0 {
			c.bodyText.WriteByte('\n')
		}
		c.bodyText.WriteString(text)
	case c.where == inAnswer && c.hasAns && c.inWords():
		if c.words == nil {
			c.words = []byte(c.answer)
		}
		if c.words = join(c.words, b); len(c.words) <= maxValue {
			c.answer = string(c.words)
		}
	default:
		c.explainText = join(c.explainText, b)
	}
}

// value takes the answer that follows a label and returns the rest of the line.
func (c *cutter) value(s string) string {
	v, rest := cutValue(s)
	if !strings.ContainsAny(v, "（([") {
		v = strings.TrimRight(v, "）)] ") // of （答案：B）
	}
	if c.where == inExplain && c.hasAns {
		c.explainText = join(c.explainText, trim(v)) // “故答案为B” in an explanation
		return rest
	}
	c.where = inAnswer
	if c.hasAns && !c.inWords() && c.answer != v && readable(v) {
		c.twice = true
	}
	if v != "" && (!c.hasAns || c.inWords()) {
		c.answer, c.hasAns, c.words = v, true, nil
	}
	if noise(trim(rest)) {
		return ""
	}
	return rest
}

// leadingAnswer takes off an answer in brackets that stands right behind the
// number: 1. (A) stem (A) … (B) …, 2. （√）…. Letters that stand so and again
// further on name things, not options.
func (p *parts) leadingAnswer() {
	i := skipSpace(p.body, 0)
	r, w := utf8.DecodeRuneInString(p.body[i:])
	if r != '(' && r != '（' || p.hasAns {
		return
	}
	end := strings.IndexAny(p.body[i:min(len(p.body), i+maxInline)], ")）")
	if end < 0 {
		return
	}
	in := trim(p.body[i+w : i+end])
	_, cw := utf8.DecodeRuneInString(p.body[i+end:])
	a, rest := readAnswer(in), p.body[i+end+cw:]
	if a.letters == nil && a.judge == "" || !upperOnly(in) {
		return
	}
	b := splitBody(rest)
	if _, again := findInline(b.stem); again || b.stem == "" || b.gap != "" {
		return
	}
	if len(b.options) >= 2 && a.letters != nil || len(b.options) == 0 && a.judge != "" && judgeMark(in) == len(in) {
		p.body, p.answer, p.hasAns = trim(rest), in, true
	}
}

func readable(v string) bool {
	a := readAnswer(v)
	return a.letters != nil || a.judge != ""
}
