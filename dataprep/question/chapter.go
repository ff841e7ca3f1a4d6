package question

import (
	"strings"
	"unicode/utf8"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/internal/msg"
)

// An entry is what the chapter holds in the order of the file.
type entry struct {
	item *item
	sec  *section
	drop *drydock.Drop
}

// A chapter is the open part of a bank: everything whose answers may still come.
// Lines go in by feed; finished records and drops leave by flush.
type chapter struct {
	file    *drydock.File
	keyFile *drydock.File // where the keys stand, when it is another file
	entries []entry
	secs    []*section
	sec     *section
	cur     *item
	path    path

	zone    bool // inside a table of answers
	keys    []*keyPart
	pending []line       // lines of the zone whose meaning the next row decides
	open    map[int]bool // numbers all of whose questions wait for an answer in words; nil until asked
	figure  string       // an image for the next line
	early   []*keyPart   // keys that stand before all questions
	header  *line        // 答案： alone on its line: a label or the head of a table

	orphans  []line // text that belongs to nothing
	blank    bool
	asked    bool // questions have been seen
	usual    int  // how many options the items here have
	widths   widths
	held     int // bytes of text waiting
	answered int // entries known to have their answers beside them
	page     int
	pageOver bool           // a page's number was the last line
	edges    map[string]int // running titles: how often a line stood at a page's edge
	lastAdd  *line
	numbers  []int       // 题号 1 2 3: the answers stand on the next line
	ahead    func() bool // whether a key table stands further down
	shared   *shared
	sub      *item // the line taken for a subsection title, until an item follows
	emit     func(*drydock.Record, *drydock.Drop) bool
	part     func(Part) // told of each section that is done; may be nil
	bar      float64    // least confidence
	keep     bool       // see Options.KeepLetters
	note     func(Note) // may be nil
	compare  bool       // try other layouts everywhere

	rule     rule // which lines open items
	seg      segment
	segs     []segment   // those that wait for a key
	mayBeKey bool        // the line remembered last may open a key
	free     [][]rawLine // lists that wait to be used again
	slab     []line
	used     int  // of slab
	trial    bool // a segment is being read again
	stray    bool // the trial has left its segment
	stopped  bool
}

// feed takes the next text block.
func (c *chapter) feed(b drydock.Block) {
	s := trim(repair(b.Text))
	if c.cur != nil && c.cur.radio {
		s = radioBox(s)
	}
	if s = plain(s); s == "" {
		c.blank = true
		c.picture(b.Figure)
		return
	}
	next := 0
	if c.cur != nil {
		next = c.cur.next
	}
	s, right := takeTicks(s, next)
	right.looks = lookedAt(b.Text, b.Spans)
	w := width(s)
	c.widths.add(w)
	l := line{text: s, at: b.At, full: c.widths.full(w), blank: c.blank, ticked: right, figure: b.Figure}
	if c.figure != "" && l.figure == "" {
		l.figure, c.figure = c.figure, ""
	}
	c.blank = false
	c.turnPage(&l)
	if pageLine(s) {
		c.pageEnds()
		return
	}
	if c.pageOver || strings.HasPrefix(b.Text, "\f") {
		c.pageOver = false
		l.edge = true
		c.countEdge(s)
	}
	if noise(s) || l.edge && onlyDigits(s) || c.cur != nil && c.cur.solved && scoreLine(s) {
		return
	}
	if titledPage(s, l.edge) {
		c.tell(Note{Code: "running_title", At: l.at, Text: msg.Text{"a title with a page number was left out", "已略去带页码的页眉页脚"}})
		return
	}
	if advert(s) && scanNumber(s).style == noNumber && !opensAny(s) {
		c.tell(Note{Code: "advertisement", At: l.at, Text: msg.Text{"a line of advertisement was left out", "已略去一行广告"}})
		return
	}
	if c.tableLine(l) {
		return
	}
	if c.header != nil {
		c.settleHeader(l)
		if c.zone && c.zoneFeed(l, b.Level) {
			return
		}
	} else if c.zone && c.zoneFeed(l, b.Level) {
		return
	}
	c.text(l, b.Level)
}

func (c *chapter) tell(n Note) {
	if c.note != nil {
		c.note(n)
	}
}

// picture takes an image that stands on a line of its own: it belongs to the open
// question while that waits for options or an answer, else to the text below.
func (c *chapter) picture(name string) {
	switch cur := c.cur; {
	case name == "":
	case cur != nil && !cur.solved && len(cur.lines) > 0 && (cur.options == 0 || cur.options < c.usual):
		cur.lines = append(cur.lines, line{at: cur.lines[len(cur.lines)-1].at, figure: name})
	default:
		c.figure = name
	}
}

// settleHeader decides what a lone 答案： was, now that its next line is here.
func (c *chapter) settleHeader(l line) {
	h := *c.header
	c.header = nil
	_, part := labelPart(l.text)
	if c.cur != nil && !c.cur.solved && part == 0 && (readable(l.text) || len(c.cur.lines) > 0 && !keyLike(l.text) && scanNumber(l.text).style == noNumber && c.cur.options == 0) {
		if _, ok := scanLabel(h.text); !ok {
			h.text += "：" // alone on its line it needs no mark; before a value it does
		}
		c.addLine(h)
		return
	}
	c.openZone()
}

// keyLike reports a line that reads as a row of a key table.
func keyLike(s string) bool {
	_, ok := scanKeyRow(s, drydock.Locator{}, false)
	return ok
}

// text takes a line outside a key table.
func (c *chapter) text(l line, level int8) {
	c.remember(l, level)
	c.textLine(l, level)
	c.mayBeKey = c.header != nil
}

func (c *chapter) textLine(l line, level int8) {
	if c.cur != nil && level == 0 && c.cur.expects(l.text) && len(c.cur.lines) < maxLines {
		c.addLine(l) // the next option: the commonest line of a bank
		return
	}
	if c.headsKey(l) {
		return
	}
	m := scanNumber(l.text)
	if h := scanHeading(l.text, level); h.kind != notHeading && c.headingHere(h, m) {
		if h.kind == headForm && strings.Contains(h.title, "答案") {
			c.openZone() // 一、单选题（答案）
			c.labelFrom(l)
			return
		}
		c.openHeading(h)
		return
	}
	if c.opensKey(l, level) || c.shareLine(l) {
		return
	}
	if n := loneNumber(l.text); c.loneHere(n) {
		c.openItem(numberMark{style: numLone, n: n, end: len(l.text)}, l)
		return
	}
	if _, ok := stemLabel(l.text); ok && m.style == noNumber && (c.cur == nil || c.cur.closed()) {
		c.closeItem(numberMark{})
		l.blank = true
		c.orphans = append(c.orphans, l)
		return
	}
	if c.openLoose(l) {
		return
	}
	c.hanTitle(m)
	if c.opensItem(m, l) || c.rejoinSteps(m) {
		inside := c.cur != nil && (c.cur.explain || c.cur.inside && !c.cur.closed())
		c.openItem(m, l)
		c.cur.inside = inside
		return
	}
	if c.cur != nil && len(c.cur.lines) < maxLines && !c.foreign(l) {
		c.addLine(l)
		return
	}
	c.closeItem(numberMark{})
	if len(c.orphans) >= maxOrphans {
		c.dropOrphans()
	}
	c.orphans = append(c.orphans, l)
}

// headsKey opens the zone of a key where the line is its heading.
func (c *chapter) headsKey(l line) bool {
	if ok, bare := keyHeader(l.text); ok && !c.explains(l.text) {
		if bare {
			h := l // a copy: l itself stays off the heap
			c.header = &h
			return true
		}
		c.openZone()
		c.labelFrom(l)
		return true
	}
	if keyHeads(l.text) && (c.cur == nil || c.cur.closed()) && len(c.entries)+len(c.secs) > 0 {
		c.openZone()
		return true
	}
	return false
}

// explains reports 答案解析：, alone on its line, under a question that has its
// answer: no key begins there.
func (c *chapter) explains(s string) bool {
	lb, ok := scanLabel(s)
	return ok && lb.explain && c.cur != nil && c.cur.solved
}

// opensKey takes a line that begins a key table without a heading of its own.
func (c *chapter) opensKey(l line, level int8) bool {
	if lb, ok := scanLabel(l.text); ok && !lb.explain && (c.cur == nil || c.cur.num.n != 1 || c.cur.solved) {
		// 答案：1.B 2.A, all of them behind one label
		if row, ok := scanKeyRow(l.text[lb.end:], l.at, false); ok && len(row.runs) > 0 && row.runs[0].from > 0 && row.label.empty() {
			c.openZone()
			c.addKeyRow(row, l)
			return true
		}
	}
	if row, ok := scanKeyRow(l.text, l.at, false); ok && c.startsZone(row) {
		c.openZone()
		c.zoneFeed(l, level)
		return true
	}
	return false
}

// maxLines is how many lines one question may have, its explanation included; what
// runs on is something else.
const maxLines = 5000

// maxOrphans is how many lines of foreign text are reported together.
const maxOrphans = 200

// foreign reports a line that does not go on with the open item: the item has
// all its options or its answer, and a blank line parts them.
func (c *chapter) foreign(l line) bool {
	cur := c.cur
	before := cur.lines[len(cur.lines)-1].text
	if lb, ok := scanLabel(before); ok && trim(before[lb.end:]) == "" {
		return false // 答案： on the line above waits for its value
	}
	if cur.num.style == numLoose && cur.solved && cur.options >= 2 && (!cur.explain || l.blank) {
		_, label := scanLabel(l.text)
		_, option := optionAt(l.text)
		return !label && !option && findAnswerLabel(l.text) < 0
	}
	if _, ok := scanLabel(l.text); ok || cur.explain || opensAny(l.text) || findAnswerLabel(l.text) >= 0 {
		return false
	}
	if cur.marked && cur.options == 0 {
		return true
	}
	if !l.blank || !cur.closed() || cur.options < c.usual && !cur.solved || cur.lines[len(cur.lines)-1].full {
		return false
	}
	r, _ := utf8.DecodeRuneInString(l.text)
	if r >= 'a' && r <= 'z' || strings.ContainsRune("，。、；：）的和与或及", r) {
		return false // it reads on
	}
	var buf [16]mark
	for _, m := range scanMarks(l.text, buf[:0]) {
		if m.v == cur.next {
			return false
		}
	}
	return true
}

// startsZone reports whether a row of keys without a header over it is one: it
// names several questions, and questions wait for answers.
func (c *chapter) startsZone(row keyRow) bool {
	if c.cur == nil && len(c.entries) == 0 {
		return len(row.runs) > 1 // a separate answer file
	}
	if c.cur != nil && (!c.cur.closed() && c.cur.options > 0 || c.cur.explain) {
		return false
	}
	n := 0
	for _, r := range row.runs {
		if r.from > 0 {
			n += r.to - r.from + 1
		} else {
			n++
		}
	}
	return n > 1 || n == 1 && len(row.runs) == 1 && row.runs[0].from == 1 && c.cur != nil && c.cur.num.n > 1 && c.cur.closed()
}

// headingHere tells a heading from a line of an open stem that reads like one.
func (c *chapter) headingHere(h heading, m numberMark) bool {
	if c.cur == nil {
		return true
	}
	last := c.cur.lines[len(c.cur.lines)-1]
	if h.kind == headForm {
		// 3、判断题… in the middle of a running count is an item
		return m.style != numPlain || c.cur.closed() && m.n != c.cur.num.n+1
	}
	if h.kind == headTitle {
		return true
	}
	if c.cur.closed() && !h.glued {
		return true
	}
	return !last.full || c.cur.closed() && l0(last)
}

// l0 reports a line that ends a sentence.
func l0(l line) bool {
	r, _ := utf8.DecodeLastRuneInString(l.text)
	return strings.ContainsRune("。.！!？?", r)
}

func (c *chapter) openHeading(h heading) {
	same := h.kind == headChapter && c.path.chapterTitle == h.title
	if same && c.sec != nil {
		return // a running title
	}
	if c.trial {
		c.stray = true
		return
	}
	c.forget()
	c.closeItem(numberMark{})
	c.dropSub()
	c.endShared()
	c.dropOrphans()
	c.endSegment()
	if c.path.isForm && h.kind != headForm && numberedPart(c.path.formTitle).kind == headForm {
		c.path.form, c.path.isForm, c.path.formTitle = "", false, "" // Section B: True or False, Section C: …
	}
	switch h.kind {
	case headChapter:
		c.settle()
		c.path = path{chapter: h.n, chapterTitle: h.title, form: c.path.form, isForm: c.path.isForm}
	case headArticle:
		c.path.article, c.path.articleTitle = h.n, h.title
		c.path.sub, c.path.subTitle, c.path.title = 0, "", ""
	case headForm:
		c.path.form, c.path.isForm, c.path.formTitle = h.form, true, h.title
	case headTitle:
		c.path.title = h.title
		c.path.sub, c.path.subTitle = 0, ""
	}
	c.sec = nil
}

// section returns the open section, making it when items begin.
func (c *chapter) section() *section {
	if c.sec == nil {
		c.sec = &section{path: c.path}
		c.secs = append(c.secs, c.sec)
	}
	return c.sec
}
