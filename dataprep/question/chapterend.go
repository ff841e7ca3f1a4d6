package question

import (
	"slices"
	"strings"
)

// settle is called where a new chapter begins: what needs nothing more leaves.
func (c *chapter) settle() {
	for _, e := range c.entries {
		if e.item != nil && !e.item.solved {
			return // its key may stand further down
		}
	}
	c.flush()
}

// finish joins keys and questions and lets everything go.
func (c *chapter) finish() {
	c.closeItem(numberMark{})
	c.dropSub()
	c.endShared()
	c.dropOrphans()
	c.endSegment()
	if c.early != nil && len(c.keys) == 0 {
		c.keys, c.early = c.early, nil
	}
	c.refit()
	matchKeys(c.secs, c.keys)
	c.asked = c.asked || len(c.secs) > 0
	file := c.file
	if c.keyFile != nil {
		file = c.keyFile
	}
	for _, k := range c.keys {
		if k.used && k.why == "" {
			continue
		}
		if k.why == "" {
			k.why = "answers for questions that are not in the file"
		}
		c.entries = append(c.entries, entry{drop: rejected(file, k.at, c.path.subject(), strings.Join(k.text, "\n"), reasonKeyUnused, k.why)})
		if !k.used {
			s := &section{path: path{chapterTitle: k.label.title}}
			s.tally.keyed, s.tally.At, s.tally.First = k.size(), k.at.String(), k.at
			c.secs = append(c.secs, s)
		}
	}
	c.keys = nil
	c.flush()
	c.sec = nil
}

// flush yields what is held, in the order of the file, and tells what became of
// its sections.
func (c *chapter) flush() {
	secs := c.secs
	c.flushEntries()
	c.tellParts(secs)
	c.used = 0 // no item is left
}

// tellParts tells what became of sections that are done.
func (c *chapter) tellParts(secs []*section) {
	for _, s := range secs {
		if p := s.tally.done(); c.part != nil && !c.stopped && (p.Questions > 0 || p.Keys > 0) {
			p.Title = append(p.Title, s.path.titles()...)
			c.part(p)
		}
	}
}

func (c *chapter) flushEntries() {
	for _, e := range c.entries {
		if c.stopped {
			break
		}
		if e.drop != nil {
			c.stopped = !c.emit(nil, e.drop)
			continue
		}
		r, d := c.build(e.item)
		if e.sec != nil {
			e.sec.tally.took(e.item.lines[0].at, r, d, e.item.given, e.item.hasKey)
			if e.item.num.style != numLoose {
				e.sec.tally.asked.add(e.item.num.n)
			}
		}
		c.stopped = !c.emit(r, d)
	}
	c.entries, c.secs, c.held, c.answered = nil, nil, 0, 0
	c.sec = nil
	c.segs, c.seg = nil, segment{}
}

// What may wait for a key: this many entries are looked at together, and above
// this many bytes the rest of the file is searched for a key before more is held.
const (
	lookEntries = 512
	holdBytes   = 10 << 20
)

// relieve lets go what needs nothing more, so that a bank of any length with
// answers beside its questions is never held whole.
func (c *chapter) relieve() {
	n := len(c.entries)
	if n == 0 || n%lookEntries != 0 || c.zone || c.trial {
		return
	}
	if c.held < holdBytes {
		for ; c.answered < n; c.answered++ {
			if it := c.entries[c.answered].item; it != nil && !it.answered() {
				return
			}
		}
	} else if c.early != nil || c.ahead != nil && c.ahead() {
		return
	}
	const keep = 32 // a list of statements may yet join the latest ones
	tail := append([]entry(nil), c.entries[n-keep:]...)
	c.entries = c.entries[:n-keep]
	sec, path, old := c.sec, c.path, c.secs
	for _, s := range old {
		if len(s.tally.Layouts) == 0 {
			r := reading{secs: []*section{s}}
			r.fit(0, 0)
			s.tally.Layouts = []Layout{r.Layout}
		}
	}
	c.flushEntries()
	c.seg.torn = true
	c.path = path
	c.held = 0
	for _, e := range tail {
		c.entries = append(c.entries, e)
		if e.sec == nil {
			continue
		}
		c.held += e.item.size()
		if len(c.secs) == 0 || c.secs[len(c.secs)-1] != e.sec {
			c.secs = append(c.secs, e.sec)
			e.sec.items = e.sec.items[:0:0]
		}
		e.sec.items = append(e.sec.items, e.item)
	}
	if sec != nil && (len(c.secs) == 0 || c.secs[len(c.secs)-1] != sec) {
		sec.items = sec.items[:0:0]
		c.secs = append(c.secs, sec)
	}
	c.sec = sec
	c.tellParts(slices.DeleteFunc(old, func(s *section) bool { return slices.Contains(c.secs, s) }))
}
