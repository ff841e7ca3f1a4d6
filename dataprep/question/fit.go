package question

import (
	"slices"

	"github.com/drydock-ml/drydock"
)

// A Layout is one way to read a part, and how well it fits. The score of lines
// is 0.4 Count + 0.25 Order + 0.25 Whole + 0.1 Used, over the weights of those
// that apply; that of rows is Whole.
type Layout struct {
	Kind string `json:"kind"` // lines, header, content, fields
	// Numbers and Options show how question numbers and option labels are
	// printed, as "1." and "A."; empty where none are.
	Numbers string `json:"numbers,omitempty"`
	Options string `json:"options,omitempty"`
	// Strict says that only the number that is due opened a question.
	Strict bool `json:"strict,omitempty"`
	// Columns names what was taken from which column or field: question=题干.
	Columns   []string `json:"columns,omitempty"`
	Questions int      `json:"questions"`
	Score     float64  `json:"score"`           // 0–1
	Order     float64  `json:"order"`           // share of numbers that follow the one before
	Whole     float64  `json:"whole"`           // share of questions with a list of options, or none and an answer
	Used      float64  `json:"used"`            // share of lines that belong to a question
	Count     *float64 `json:"count,omitempty"` // questions over answers of the key, the smaller over the larger; absent without a key
}

// A rule says which lines may open a question. The zero rule lets their
// neighbours decide.
type rule struct {
	mode   ruleMode
	family numStyle // of byFamily
	strict bool     // of byFamily: only the number that is due
}

type ruleMode uint8

const (
	byNeighbours ruleMode = iota
	byFamily              // numbers of one family only
	byOptions             // no number: the first option tells, as in loose.go
)

// allows reports whether a number may open a question at all.
func (r rule) allows(m numStyle) bool {
	return r.mode == byNeighbours || r.mode == byFamily && m == r.family
}

// A rawLine is a line as it came to the open part.
type rawLine struct {
	line
	level int8
}

// A segment is what stands between two headings: its lines, and what reading
// them by their neighbours has made of them.
type segment struct {
	path           path
	lines          []rawLine
	entries, secs  int // where its own begin in the chapter's
	toEntry, toSec int
	torn           bool // part of it is gone: it can't be read again
}

// maxSegment is how many lines are read again at most.
const maxSegment = 50000

// remember keeps a line that may have to be read again.
func (c *chapter) remember(l line, level int8) {
	if c.trial {
		return
	}
	if len(c.seg.lines) == 0 {
		c.seg.path = c.path
		if n := len(c.free); n > 0 && c.seg.lines == nil {
			c.seg.lines, c.free = c.free[n-1], c.free[:n-1]
		}
	}
	if c.seg.torn = c.seg.torn || len(c.seg.lines) >= maxSegment; !c.seg.torn {
		c.seg.lines = append(c.seg.lines, rawLine{l, level})
	}
	c.mayBeKey = true
}

// forget takes back the line that turned out to open a key.
func (c *chapter) forget() {
	if n := len(c.seg.lines); c.mayBeKey && n > 0 && !c.seg.torn {
		c.seg.lines = c.seg.lines[:n-1]
	}
	c.mayBeKey = false
}

// endSegment closes the open segment at a heading or at the end of the chapter.
func (c *chapter) endSegment() {
	if c.trial {
		return
	}
	s := c.seg
	if s.toEntry, s.toSec = len(c.entries), len(c.secs); s.toEntry > s.entries {
		c.segs = append(c.segs, s)
	}
	c.seg = segment{entries: s.toEntry, secs: s.toSec}
}

// A reading is what one rule makes of a segment.
type reading struct {
	rule    rule
	entries []entry
	secs    []*section
	whole   int // questions with options, or an answer where none are asked
	Layout
}

// refit compares, for each segment, the ways it may be read, and takes the one
// that fits best: the one the neighbours gave, unless another is clearly better.
func (c *chapter) refit() {
	if len(c.segs) == 0 {
		return
	}
	want := c.expected()
	entries, secs := make([]entry, 0, len(c.entries)), make([]*section, 0, len(c.secs))
	for i, s := range c.segs {
		best := reading{entries: c.entries[s.entries:s.toEntry], secs: c.secs[s.secs:s.toSec]}
		best.fit(len(s.lines), want[i])
		all := []reading{best}
		if !s.torn && (c.compare || best.Score < perfect) {
			for _, r := range c.rules(s) {
				if other, ok := c.tryRule(s, r, want[i]); ok && other.Questions > 0 && !slices.ContainsFunc(all, other.same) {
					all = append(all, other)
				}
			}
			slices.SortStableFunc(all[1:], func(a, b reading) int {
				switch {
				case a.Score > b.Score:
					return -1
				case a.Score < b.Score:
					return 1
				}
				return 0
			})
			if len(all) > 1 && all[1].better(all[0]) {
				all[0], all[1] = all[1], all[0]
			}
		}
		all[0].tell(all)
		entries, secs = append(entries, all[0].entries...), append(secs, all[0].secs...)
	}
	for _, s := range c.segs {
		c.free = append(c.free, s.lines[:0])
	}
	c.entries, c.secs, c.segs = entries, secs, nil
}

// perfect is the score that leaves nothing to look for; clearly is by how much
// another reading must be better.
const perfect, clearly = 0.995, 0.03

// better reports whether b's place goes to a: it fits clearly better and finds
// more whole questions, or as many where that makes the counts agree. Counts that
// agree already are not given up.
func (a *reading) better(b reading) bool {
	agree := func(r *reading) bool { return r.Count != nil && *r.Count == 1 }
	switch {
	case agree(&b) || a.Score <= b.Score+clearly:
		return false
	case agree(a):
		return a.whole >= b.whole
	}
	return a.whole > b.whole
}

// same reports a reading that opens its questions at the same lines.
func (a *reading) same(b reading) bool {
	at := func(r *reading) (out []drydock.Locator) {
		for _, s := range r.secs {
			for _, it := range s.items {
				out = append(out, it.lines[0].at)
			}
		}
		return out
	}
	return slices.Equal(at(a), at(&b))
}

// tell hands the layouts, the chosen one first, to the sections of the reading.
func (a *reading) tell(all []reading) {
	for _, s := range a.secs {
		for _, r := range all[:min(len(all), 2)] {
			s.tally.Layouts = append(s.tally.Layouts, r.Layout)
		}
	}
}

// rules lists the other ways to read a segment: by each family of numbers that
// opens lines of it, strictly or not, and by the options alone.
func (c *chapter) rules(s segment) []rule {
	var seen [numLoose + 1]int
	for _, l := range s.lines {
		if m := scanNumber(l.text); m.style != noNumber && !m.weak {
			seen[m.style]++
		}
	}
	var out []rule
	for f, n := range seen {
		if n >= 2 {
			out = append(out, rule{mode: byFamily, family: numStyle(f)}, rule{mode: byFamily, family: numStyle(f), strict: true})
		}
	}
	return append(out, rule{mode: byOptions})
}

// tryRule reads a segment once more; false when its lines then leave the segment.
func (c *chapter) tryRule(s segment, r rule, want int) (reading, bool) {
	t := &chapter{file: c.file, path: s.path, usual: c.usual, edges: c.edges, rule: r, trial: true}
	for _, l := range s.lines {
		if t.header != nil {
			t.settleHeader(l.line)
		}
		if t.zone || t.stray {
			return reading{}, false
		}
		t.text(l.line, l.level)
	}
	if t.zone || t.stray {
		return reading{}, false
	}
	t.closeItem(numberMark{})
	t.dropSub()
	t.endShared()
	t.dropOrphans()
	out := reading{rule: r, entries: t.entries, secs: t.secs}
	out.fit(len(s.lines), want)
	return out, true
}

// fit measures a reading of so many lines, with so many answers in its key.
func (a *reading) fit(lines, want int) {
	a.Kind, a.Strict = "lines", a.rule.strict
	order, used := 0, 0
	a.whole = 0
	var families [numLoose + 1]int
	for _, s := range a.secs {
		last := 0
		for i, it := range s.items {
			a.Questions++
			families[it.num.style]++
			if it.num.style != numLoose && (i == 0 || it.num.n == last+1 || it.num.n == 1) || it.num.style == numLoose && a.rule.mode != byOptions {
				order++
			}
			last = it.num.n
			if it.options >= 2 && (it.num.style != numLoose || it.solved) || it.options == 0 && (it.solved || it.form == drydock.Judge || it.form == drydock.Blank || it.form == drydock.Short) {
				a.whole++
			}
			used += len(it.lines)
			if a.Options == "" && i < 8 {
				a.Options = it.labels()
			}
		}
	}
	if n := a.Questions; n > 0 {
		a.Order, a.Whole = float64(order)/float64(n), float64(a.whole)/float64(n)
	}
	if lines > 0 {
		a.Used = min(1, float64(used)/float64(lines))
	}
	top := 0
	for f, n := range families {
		if n > families[top] {
			top = f
		}
	}
	a.Numbers = numStyle(top).example()
	a.score(want)
}

// score weighs the measures; see [Layout].
func (a *reading) score(want int) {
	total, weight := 0.25*a.Order+0.25*a.Whole+0.1*a.Used, 0.6
	if want > 0 {
		c := float64(min(a.Questions, want)) / float64(max(a.Questions, want))
		a.Count = &c
		total, weight = total+0.4*c, 1
	}
	a.Score = total / weight
	for _, v := range [...]*float64{&a.Score, &a.Order, &a.Whole, &a.Used, a.Count} {
		if v == nil {
			continue
		}
		*v = float64(int(*v*1000+0.5)) / 1000
	}
}

// example shows a family of numbers as it is printed.
func (f numStyle) example() string {
	return [...]string{noNumber: "", numPlain: "1.", numParen: "(1)", numBracket: "[1]", numWord: "第1题", numHan: "一、", numBare: "1", numDotted: "1.1", numCode: "ID001", numLone: "1⏎", numLoose: ""}[f]
}

// labels shows how the item's options are labelled.
func (it *item) labels() string {
	if it.options < 2 {
		return ""
	}
	var buf [48]mark
	for _, l := range it.lines {
		for _, m := range scanMarks(l.text, buf[:0]) {
			if m.v == 0 && m.place > placeGlued {
				a := map[bool]string{true: "a", false: "A"}[m.lower]
				switch m.style {
				case labelDot:
					return a + "."
				case labelComma:
					return a + "、"
				case labelParen:
					return a + ")"
				case labelColon:
					return a + ":"
				case labelRound:
					return "(" + a + ")"
				case labelSquare:
					return "[" + a + "]"
				}
				return a
			}
		}
	}
	return ""
}

// expected is how many answers the keys hold for each segment; 0 where they do
// not tell. Where several segments share a key, each is expected to have what the
// others leave.
func (c *chapter) expected() []int {
	out := make([]int, len(c.segs))
	asked := make([]int, len(c.segs))
	var open []int
	for i, s := range c.segs {
		for _, sec := range c.secs[s.secs:s.toSec] {
			asked[i] += sec.questions()
		}
		if asked[i] > 0 {
			open = append(open, i)
		}
	}
	forgetForms(c.secs, c.keys)
	split := splitRestarts(c.keys)
	if len(split.labelled) > 0 && !c.expectLabelled(out, asked, split.labelled) {
		return make([]int, len(c.segs))
	}
	switch plain := split.plain; {
	case len(plain) == len(open):
		for n, k := range plain {
			out[open[n]] = k.size()
		}
	case len(plain) == 1:
		share(out, asked, open, plain[0].size())
	}
	return out
}

// maxShares bounds how many pairs of a key and a segment it may be for are weighed.
const maxShares = 1 << 22

// expectLabelled adds what keys with labels hold for the segments that ask
// something; false when there are too many ways to tell.
func (c *chapter) expectLabelled(out, asked []int, keys []*keyPart) bool {
	of := make(map[*section]int, len(c.secs))
	for i, s := range c.segs {
		for _, sec := range c.secs[s.secs:s.toSec] {
			of[sec] = i
		}
	}
	x, left := indexSections(c.secs), maxShares
	for _, k := range keys {
		var fits []int
		list, _ := x.candidates(k.label)
		if left -= len(list); left < 0 {
			return false
		}
		for _, sec := range list {
			i, held := of[sec]
			if held && asked[i] > 0 && (len(fits) == 0 || fits[len(fits)-1] != i) && sec.fits(k.label) {
				fits = append(fits, i)
			}
		}
		share(out, asked, fits, k.size())
	}
	return true
}

// share tells segments that have one key of n answers together what each of them
// is expected to ask.
func share(out, asked, segs []int, n int) {
	total := 0
	for _, i := range segs {
		total += asked[i]
	}
	for _, i := range segs {
		out[i] += max(0, n-(total-asked[i]))
	}
}
