package question

// dropSub reports a line that was taken for a title, but nothing stands below it.
func (c *chapter) dropSub() {
	if c.sub != nil {
		c.entries = append(c.entries, entry{item: c.sub})
		c.sub = nil
	}
}

// isSubheading recognises 2、机动船 before a list that starts at 1 again.
func (c *chapter) isSubheading(it *item) bool {
	if len(it.lines) != 1 || it.closed() || it.options > 0 || c.openForm() || it.num.style == numWord {
		return false
	}
	t := trim(it.lines[0].text[it.num.end:])
	return t != "" && titleLike(t) && !hasBlank(t)
}

// hanTitle makes a title of 一、船舶结构, opened as an item, when a count of other
// numbers begins below it.
func (c *chapter) hanTitle(m numberMark) {
	cur := c.cur
	if cur == nil || cur.num.style != numHan && cur.num.style != numDotted && !cur.num.titles || len(cur.lines) != 1 || cur.closed() || cur.options > 0 {
		return
	}
	t := trim(cur.lines[0].text[cur.num.end:])
	if m.n != 1 || m.weak || m.style == cur.num.style || m.style != numPlain && m.style != numParen && m.style != numBracket && m.style != numWord || !titleLike(t) || hasBlank(t) {
		return
	}
	c.cur = nil
	if scanNumber(c.path.formTitle).style == numHan {
		c.path.form, c.path.isForm, c.path.formTitle = "", false, ""
	}
	c.path.title = cur.lines[0].text
	c.path.sub, c.path.subTitle = 0, ""
	c.sec = nil
}

// maxList is how many numbered lines of a stem, or steps of an explanation, are put
// back where they belong.
const maxList = 100

// mergeStatements gives an item with a numbered list in its stem its list back:
// 5. 下列正确的是： 1. … 2. … 3. … A. … B. …. Such a list runs from 1, only its
// last line is followed by options, and the count goes on from the stem's own
// number.
func (c *chapter) mergeStatements(sec *section, it *item, next numberMark) {
	k := it.num.n
	i := len(sec.items) - (k - 1) - 1 // the stem's place
	if it.options >= 2 && k >= 2 && k <= maxList && i >= 0 {
		stem := sec.items[i]
		ok := !stem.closed() && (next.n == stem.num.n+1 || next.n == 0)
		for j := range k - 1 {
			s := sec.items[i+1+j]
			ok = ok && s.num.n == j+1 && !s.closed() && s.options == 0
		}
		if ok {
			for _, s := range sec.items[i+1:] {
				stem.lines = append(stem.lines, s.lines...)
			}
			stem.lines = append(stem.lines, it.lines...)
			stem.options, stem.solved = it.options, it.solved
			c.removeEntries(k - 1)
			sec.items = sec.items[:i+1]
			return
		}
	}
	sec.items = append(sec.items, it)
	c.entries = append(c.entries, entry{item: it, sec: sec})
}

// rejoinSteps gives the steps of an explanation, 2. … 3. …, that were taken for
// items back to it when the number that is really next follows them.
func (c *chapter) rejoinSteps(m numberMark) bool {
	cur := c.cur
	if cur == nil || !cur.inside || cur.closed() || m.style != cur.num.style || m.weak || m.n > cur.num.n || c.sec == nil {
		return false
	}
	i := len(c.sec.items) - 1
	for i >= 0 && c.sec.items[i].inside && !c.sec.items[i].closed() && len(c.sec.items)-i <= maxList {
		i--
	}
	if i < 0 || c.sec.items[i].inside && !c.sec.items[i].closed() || m.n != c.sec.items[i].num.n+1 {
		return false
	}
	base, steps := c.sec.items[i], c.sec.items[i+1:]
	tail := len(c.entries) - len(steps)
	if tail < 0 {
		return false
	}
	for k, s := range steps {
		if c.entries[tail+k].item != s {
			return false // something else was reported in between
		}
	}
	for _, s := range steps {
		base.lines = append(base.lines, s.lines...)
	}
	base.lines = append(base.lines, cur.lines...)
	c.removeEntries(len(steps))
	c.sec.items = c.sec.items[:i+1]
	c.cur = nil
	return true
}

func (c *chapter) removeEntries(n int) {
	c.entries = c.entries[:len(c.entries)-n]
	c.answered = min(c.answered, len(c.entries))
}

// splitTitle takes a heading without any mark off the end of an item: a short
// last line that the options did not need, before the count starts again.
func (c *chapter) splitTitle(it *item, next numberMark) {
	n := len(it.lines)
	if n < 2 || it.options < 2 || next.n != 1 || it.explain {
		return
	}
	l, before := it.lines[n-1], it.lines[n-2]
	var buf [4]mark
	if before.full || !titleLike(l.text) || len(scanMarks(l.text, buf[:0])) > 0 && opensAny(l.text) {
		return
	}
	if _, ok := scanLabel(l.text); ok || l.edge && c.runningTitle(l) {
		return
	}
	it.lines = it.lines[:n-1]
	c.orphans = append(c.orphans, l)
}
