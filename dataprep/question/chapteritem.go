package question

import (
	"cmp"
	"strings"
	"unicode/utf8"

	"github.com/drydock-ml/drydock"
)

// opensItem decides whether a numbered line begins a new item or belongs to
// the open one: a statement of its stem, a wrapped decimal, a step of its
// explanation.
func (c *chapter) opensItem(m numberMark, l line) bool {
	if m.style == noNumber || !c.rule.allows(m.style) {
		return false
	}
	cur := c.cur
	if c.rule.strict {
		return !m.weak && (m.n == c.due() || m.n == 1 && (cur == nil || cur.closed()))
	}
	if cur == nil {
		return m.style != numBare || m.n == 1 || m.n == c.lastNumber()+1
	}
	next := m.n == cur.num.n+1
	sameStyle := m.style == cur.num.style
	switch {
	case cur.num.style == numLone && cur.options == 0 && !cur.solved && m.style != numBare:
		return true // a page number, after all
	case m.style == numBare:
		return next && (cur.closed() || sameStyle && c.openForm()) && (sameStyle || cur.num.style == numPlain) && !cur.explain && (!l.full || cur.solved || c.openForm() || cur.options >= 2 && !cur.lines[len(cur.lines)-1].full)
	case m.style == numCode && !sameStyle:
		return cur.closed() && !cur.explain && cur.num.style == numLoose
	case !sameStyle:
		return cur.closed() && (next || m.n == 1 || cur.num.style == numBare || cur.num.style == numLoose) && !cur.explain && !m.weak
	case cur.explain:
		return !m.weak && m.n > cur.num.n && m.n <= cur.num.n+3
	case cur.closed():
		return !m.weak || next
	case m.weak:
		return next && c.openForm()
	}
	return next || m.n == 1 || c.openForm() || m.n > cur.num.n && m.n <= cur.num.n+5
}

// due is the number that goes on with the count.
func (c *chapter) due() int {
	if c.cur != nil {
		return c.cur.num.n + 1
	}
	return c.lastNumber() + 1
}

// openForm reports a section whose items have no options.
func (c *chapter) openForm() bool {
	switch c.path.form {
	case drydock.Judge, drydock.Blank, drydock.Short:
		return true
	}
	return false
}

func (c *chapter) lastNumber() int {
	if c.sec == nil || len(c.sec.items) == 0 {
		return 0
	}
	return c.sec.items[len(c.sec.items)-1].num.n
}

func (c *chapter) openItem(m numberMark, l line) {
	c.closeItem(m)
	if len(c.orphans) > 0 {
		c.titleFromOrphans(m)
	}
	c.dropOrphans()
	c.cur = &item{num: m, form: cmp.Or(m.form, c.path.form), shared: c.sharedBy(m.n)}
	c.cur.lines = c.room()
	c.cur.addFirst(l)
	c.cur.radio = formMark(l.text)
	c.held += len(l.text) + itemCost
	c.lastAdd = &c.cur.lines[0]
}

// What a held item and a held line take in memory beside their text, about.
const itemCost, lineCost = 1 << 10, 1 << 7

// itemLines is how many lines an item has room for; slabLines, how many are
// allocated at once.
const itemLines, slabLines = 8, 1024

// room is an empty list of lines for an item. All of them end with the chapter,
// so they share one slab.
func (c *chapter) room() []line {
	if c.trial {
		return make([]line, 0, itemLines)
	}
	if c.used+itemLines > len(c.slab) {
		c.slab, c.used = make([]line, slabLines), 0
	}
	c.used += itemLines
	return c.slab[c.used-itemLines : c.used-itemLines : c.used]
}

// addFirst adds the line with the number; marks are looked for behind it.
func (it *item) addFirst(l line) {
	rest := l
	rest.text = l.text[it.num.end:]
	it.add(rest)
	it.lines[0] = l
}

func (c *chapter) addLine(l line) {
	c.cur.add(l)
	c.held += len(l.text) + lineCost
	c.lastAdd = &c.cur.lines[len(c.cur.lines)-1]
}

// titleFromOrphans makes a lone short line before question 1 a title.
func (c *chapter) titleFromOrphans(m numberMark) {
	if m.n != 1 || len(c.orphans) != 1 || !titleLike(c.orphans[0].text) {
		return
	}
	c.path.title = c.orphans[0].text
	c.path.sub, c.path.subTitle = 0, ""
	c.sec = nil
	c.orphans = nil
}

// titleLike reports a short line that is no sentence.
func titleLike(s string) bool {
	if _, ok := scanLabel(s); ok {
		return false
	}
	return utf8.RuneCountInString(s) <= 30 && !opensAny(s) && !strings.ContainsAny(s, "。？?；;！_＿") && !strings.HasSuffix(s, "：") && !strings.HasSuffix(s, ":")
}

// closeItem ends the open item. next is the number that follows, zero at a
// heading or the end.
func (c *chapter) closeItem(next numberMark) {
	it := c.cur
	if it == nil {
		return
	}
	c.cur = nil
	if it.options >= 2 {
		c.usual = it.options
	}
	if next.n == 1 && it.num.n > 1 || next.n == 0 {
		c.splitTitle(it, next)
	}
	c.relieve()
	sec := c.section()
	if it.num.weak && !it.closed() && !c.openForm() && len(sec.items) > 0 {
		last := sec.items[len(sec.items)-1]
		last.lines = append(last.lines, it.lines...)
		return
	}
	if next.n == 1 && next.style == numPlain && c.isSubheading(it) {
		c.dropSub()
		c.sub = it
		it.path = &sec.path
		c.path.sub, c.path.subTitle = it.num.n, trim(it.lines[0].text[it.num.end:])
		c.sec = nil
		return
	}
	c.sub = nil
	it.path = &sec.path
	c.mergeStatements(sec, it, next)
}

// opensAny reports a line that begins with any option label.
func opensAny(s string) bool {
	if _, ok := letterMark(s, 0); ok {
		return true
	}
	_, ok := enclosedMark(s, 0)
	return ok
}

// dropOrphans reports the text that belongs to nothing, one drop a run.
func (c *chapter) dropOrphans() {
	if len(c.orphans) == 0 {
		return
	}
	var keep []string
	for _, l := range c.orphans {
		if !c.runningTitle(l) {
			keep = append(keep, l.text)
		}
	}
	first := c.orphans[0].at
	lone := !c.trial && len(c.orphans) == 1 && c.sec == nil && len(c.secs) == 0 && titleLike(c.orphans[0].text)
	c.orphans = nil
	if len(keep) == 0 || lone {
		return
	}
	c.entries = append(c.entries, entry{drop: rejected(c.file, first, c.path.subject(),
		strings.Join(keep, "\n"), reasonUnparsed, "text that belongs to no question")})
}
