package question

import (
	"strings"
	"unicode/utf8"

	"github.com/drydock-ml/drydock"
)

// openZone begins a table of answers.
func (c *chapter) openZone() {
	c.forget()
	c.closeItem(numberMark{})
	c.dropOrphans()
	c.zone = true
	c.pending, c.open = nil, nil
}

// labelFrom keeps the header of a key for the part it names: 第一章参考答案.
func (c *chapter) labelFrom(l line) {
	if label, end := labelPart(l.text); end > 0 && (label.chapter > 0 || label.article > 0 || label.isForm) {
		c.pending = append(c.pending[:0], l)
	}
}

// zoneFeed takes a line of a key table. It returns false when the line begins
// something else; the table is then closed and the line must be read again.
func (c *chapter) zoneFeed(l line, level int8) bool {
	if c.zoneTake(l, level) {
		return true
	}
	c.closeZone()
	return false
}

// zoneTake takes a line of a key table; false when it is none.
func (c *chapter) zoneTake(l line, level int8) bool {
	if ok, _ := keyHeader(l.text); ok {
		c.labelFrom(l)
		return true
	}
	if len(c.keys) > 0 && c.runningTitle(l) || keyHeads(l.text) {
		return true
	}
	if row, ok := scanKeyRow(l.text, l.at, true); ok {
		c.addKeyRow(row, l)
		return true
	}
	if c.explainedKey(l) {
		return true
	}
	if _, end := labelPart(l.text); end > 0 && scanNumber(l.text[end:]).style != noNumber {
		// 四、8.答：…: the label of a part and its first answer
		label, rest := l, l
		label.text, rest.text = l.text[:end], l.text[end:]
		c.pending = append(c.pending[:0], label)
		if c.zoneTake(rest, 0) {
			return true
		}
		c.pending = c.pending[:0]
	}
	m := scanNumber(l.text)
	if c.goesOn(m, l) {
		return true
	}
	if m.style == noNumber || m.style == numHan {
		if k := c.lastKey(); k != nil && len(k.runs) > 0 && k.runs[len(k.runs)-1].explain != nil && scanHeading(l.text, level).kind == notHeading {
			r := &k.runs[len(k.runs)-1]
			r.explain = append(r.explain, l.text)
			k.text = append(k.text, l.text)
			return true
		}
		if _, part := labelPart(l.text); (part > 0 || titleLike(l.text)) && utf8.RuneCountInString(l.text) <= maxTitle && len(c.pending) < 4 {
			c.pending = append(c.pending, l)
			return true
		}
	}
	return false
}

// goesOn adds a line to the answer in words above it, unless the line opens the
// next answer or a part of the bank.
func (c *chapter) goesOn(m numberMark, l line) bool {
	k := c.lastKey()
	if k == nil || len(k.runs) == 0 || len(c.pending) > 0 {
		return false
	}
	r := &k.runs[len(k.runs)-1]
	if !r.open || m.style == numHan || m.style == numPlain || m.style == numWord || scanHeading(l.text, 0).kind != notHeading {
		return false
	}
	if r.words == nil {
		r.words = []byte(r.groups[0])
	}
	r.words = join(r.words, l.text)
	k.text = append(k.text, l.text)
	return true
}

// tableLine takes the two lines of a key table printed as text: 题号 1 2 3 over
// 答案 B C A.
func (c *chapter) tableLine(l line) bool {
	if c.numbers == nil {
		rest, ok := numberHead(l.text)
		if !ok && !((c.zone || c.header != nil) && numbersOnly(l.text)) {
			return false
		}
		for f := range strings.FieldsFuncSeq(rest, func(r rune) bool { return isSpace(r) || r == '|' }) {
			n, w := number(f)
			if w != len(f) || n == 0 {
				c.numbers = nil
				return false
			}
			c.numbers = append(c.numbers, n)
		}
		if c.numbers != nil {
			if !c.zone {
				c.header = nil
				c.openZone()
			}
			c.pending = append(c.pending, l)
		}
		return c.numbers != nil
	}
	numbers := c.numbers
	c.numbers = nil
	lb, ok := scanLabel(l.text)
	rest, cut := strings.CutPrefix(l.text, "答案")
	switch {
	case ok:
		rest = l.text[lb.end:]
	case !cut && !keysOnly(l.text):
		return false
	}
	values := strings.FieldsFunc(rest, func(r rune) bool { return isSpace(r) || r == '|' })
	if len(values) != len(numbers) {
		return false
	}
	row := keyRow{}
	for i, v := range values {
		row.runs = append(row.runs, keyRun{from: numbers[i], to: numbers[i], groups: []string{v}, at: l.at})
	}
	c.pending = c.pending[:max(0, len(c.pending)-1)]
	c.addKeyRow(row, l)
	return true
}

// keyHeads reports the line over a key in columns: 题号 答案 题号 答案, No. Ans.
func keyHeads(s string) bool {
	if s == "" || s[0] >= '0' && s[0] <= '9' {
		return false // the commonest lines
	}
	n := 0
	for f := range strings.FieldsFuncSeq(s, isSpace) {
		if n++; n%2 == 1 && !isNumberHead(f) || n%2 == 0 && !isAnswerHead(f) {
			return false
		}
	}
	return n >= 2 && n%2 == 0
}

// numbersOnly reports a line of numbers that count up by one, three at least.
func numbersOnly(s string) bool {
	last, n := 0, 0
	for f := range strings.FieldsFuncSeq(s, isSpace) {
		v, w := number(f)
		if w != len(f) || n > 0 && v != last+1 {
			return false
		}
		last = v
		n++
	}
	return n >= 3
}

// keysOnly reports a line of letters or true/false marks with blanks between.
func keysOnly(s string) bool {
	for f := range strings.FieldsFuncSeq(s, isSpace) {
		if !readable(f) {
			return false
		}
	}
	return true
}

// numberHead cuts the word that heads a row of question numbers.
func numberHead(s string) (rest string, ok bool) {
	for _, w := range [...]string{"题号", "題號"} {
		if rest, ok = strings.CutPrefix(s, w); ok {
			return strings.TrimLeft(rest, ":：|"), true
		}
	}
	return s, false
}

func (c *chapter) lastKey() *keyPart {
	if len(c.keys) == 0 {
		return nil
	}
	return c.keys[len(c.keys)-1]
}

// addKeyRow takes a row, under the label that stood on the lines before it.
func (c *chapter) addKeyRow(row keyRow, l line) {
	label := row.label
	for _, p := range c.pending {
		pl, end := labelPart(p.text)
		switch {
		case end > 0 && (pl.chapter > 0 || pl.article > 0):
			if pl.chapter > 0 {
				label.chapter = pl.chapter
			} else if label.article == 0 {
				label.article = pl.article
			}
			if label.title == "" {
				label.title = p.text
			}
		case end > 0 && pl.part > 0:
			label.part = pl.part
			if label.title == "" {
				label.title = p.text
			}
		case end > 0 && pl.isForm:
			label.form, label.isForm, label.title = pl.form, true, p.text
		case label.empty():
			label.title = p.text
		}
	}
	if last := c.lastKey(); last != nil && label.empty() && len(c.pending) == 0 {
		c.continueKey(last, row, l)
		return
	}
	if last := c.lastKey(); last != nil && label.chapter == 0 && last.label.chapter > 0 && (label.article > 0 || label.isForm) {
		label.chapter = last.label.chapter
	}
	c.pending = nil
	c.keys = append(c.keys, &keyPart{label: label, runs: row.runs, none: row.none && len(row.runs) == 0, at: l.at, text: []string{l.text}})
}

// continueKey adds a row without a label to the part before it. Letters without
// a number go on with the run they were broken off.
func (c *chapter) continueKey(k *keyPart, row keyRow, l line) {
	runs := row.runs
	if len(runs) > 0 && runs[0].from == 0 && runs[0].paren == 0 && len(k.runs) > 0 {
		last := &k.runs[len(k.runs)-1]
		last.groups = append(last.groups, runs[0].groups...)
		runs = runs[1:]
	}
	k.runs = append(k.runs, runs...)
	k.text = append(k.text, l.text)
}

// explainedKey reads the rows of a key with explanations: 1.【答案】B 【解析】…,
// "3. C 解析：…", and 填空 answers under their own heading: 1. 潜水员.
func (c *chapter) explainedKey(l line) bool {
	if lb, ok := scanLabel(l.text); ok && len(c.keys) > 0 {
		k := c.lastKey()
		if len(k.runs) == 0 {
			return false
		}
		r := &k.runs[len(k.runs)-1]
		rest := l.text[lb.end:]
		if !lb.explain {
			v, more := cutValue(rest)
			if len(r.groups) > 0 && len(r.groups[0]) > 0 || !readable(v) {
				return false
			}
			r.groups, rest = []string{v}, more
			if e := findExplainLabel(rest); e >= 0 {
				rest = rest[e:]
				if l2, ok := scanLabel(rest); ok {
					rest = rest[l2.end:]
				}
			}
		}
		k.text = append(k.text, l.text)
		r.explain = append(r.explain, trim(rest))
		return true
	}
	m := scanNumber(l.text)
	if m.style == noNumber || m.style == numHan || m.style == numBare {
		return false
	}
	rest := l.text[m.end:]
	value, explain, ok := splitExplained(rest)
	if !ok {
		return c.openKey(m, rest, l)
	}
	run := keyRun{from: m.n, to: m.n, groups: []string{value}, explain: []string{explain}, at: l.at}
	c.addKeyRow(keyRow{runs: []keyRun{run}}, l)
	return true
}

// openKey takes 1. 潜水员 under the heading of items without options.
func (c *chapter) openKey(m numberMark, rest string, l line) bool {
	form := drydock.QuestionKind("")
	if k := c.lastKey(); k != nil && len(c.pending) == 0 {
		form = k.label.form
	}
	for _, p := range c.pending {
		if pl, end := labelPart(p.text); end > 0 && pl.isForm {
			form = pl.form
		}
	}
	if form != drydock.Blank && form != drydock.Short && !c.asksOpenly(m.n) || trim(rest) == "" {
		return false
	}
	if lb, ok := scanLabel(rest); ok && !lb.explain {
		rest = rest[lb.end:]
	}
	c.addKeyRow(keyRow{runs: []keyRun{{from: m.n, to: m.n, groups: []string{trim(rest)}, at: l.at, open: true}}}, l)
	return true
}

// asksOpenly reports that the question of a number, the next one the key has to
// answer, offers no options: its answer may be a text.
func (c *chapter) asksOpenly(n int) bool {
	k := c.lastKey()
	if k == nil || len(k.runs) == 0 || k.runs[len(k.runs)-1].to+1 != n {
		return false
	}
	if c.open == nil {
		c.open = map[int]bool{}
		for _, s := range c.secs {
			for _, it := range s.items {
				open, seen := c.open[it.num.n]
				c.open[it.num.n] = (open || !seen) && it.options < 2 && !it.solved
			}
		}
	}
	return c.open[n]
}

// splitExplained cuts "B 【解析】…", "【答案】B", "B．因为…" into key and explanation.
func splitExplained(s string) (value, explain string, ok bool) {
	if lb, found := scanLabel(s); found && !lb.explain {
		s = s[lb.end:]
		v, rest := cutValue(s)
		if !readable(v) {
			return "", "", false
		}
		if e := findExplainLabel(rest); e >= 0 {
			rest = rest[e:]
			if l2, ok := scanLabel(rest); ok {
				rest = rest[l2.end:]
			}
		}
		return v, trim(rest), true
	}
	e := findExplainLabel(s)
	if e <= 0 {
		return splitAfterKey(s)
	}
	v := strings.TrimRight(trim(s[:e]), "。.；;，, ")
	if !readable(v) {
		return "", "", false
	}
	rest := s[e:]
	if lb, found := scanLabel(rest); found {
		rest = rest[lb.end:]
	}
	return v, trim(rest), true
}

// splitAfterKey cuts "B - Estimated time", "B：因为…", "B（见第3页）".
func splitAfterKey(s string) (value, explain string, ok bool) {
	s = trim(s)
	i := 0
	for i < len(s) && s[i] >= 'A' && s[i] < 'A'+maxOptions {
		i++
	}
	if i == 0 || readLetters(s[:i]) == nil {
		return "", "", false
	}
	rest := trim(s[i:])
	for _, w := range [...]string{"- ", "– ", "— ", "——", ": ", "：", ". ", "．", "（", "("} {
		if t, cut := strings.CutPrefix(rest, w); cut && trim(t) != "" {
			if w == "（" || w == "(" {
				t = stripBrackets(rest)
			}
			return s[:i], trim(t), true
		}
	}
	return "", "", false
}

// closeZone ends a key table: its answers go to the questions, the chapter is
// finished, and the lines that were waiting for a row are read as text.
func (c *chapter) closeZone() {
	c.zone = false
	pending := c.pending
	c.pending = nil
	switch {
	case len(c.keys) == 0:
	case len(c.secs) == 0 && c.early == nil && !c.asked:
		c.early, c.keys = c.keys, nil // the key stands before the questions
	default:
		c.finish()
	}
	for _, l := range pending {
		c.text(l, 0)
	}
}
