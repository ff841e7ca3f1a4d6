package contam

import (
	"slices"
	"unicode/utf8"

	"github.com/drydock-ml/drydock"
)

// spans returns the field in which most of the item stands, and the ranges that
// matched: those of that field first, then the other fields', in their order.
func (e *evidence) spans() (pointer string, spans []Span) {
	type stretch struct{ field, from, to int } // bytes
	var all []stretch
	weight := map[int]int{}
	for _, f := range e.pieces {
		if len(f.piece.letters) < 2 {
			continue
		}
		for from := f.place.start; from < f.place.end; {
			n := e.fieldOf(from)
			to := e.fieldEnd(from, f.place.end)
			w := to - from
			if f.piece.kind != optionPart {
				w *= 4 // the stem's field is the one to look at
			}
			weight[n] += w
			all = append(all, stretch{n, int(e.offs[from]), e.after(to - 1)})
			from = to
		}
	}
	best := -1
	for i := range e.fields {
		if e.isNext(i) && best >= 0 {
			break // a finding belongs to the record in which it begins
		}
		if w := weight[i]; w > 0 && (best < 0 || w > weight[best]) {
			best = i
		}
	}
	if best < 0 {
		return "", nil
	}
	slices.SortFunc(all, func(a, b stretch) int {
		switch {
		case a.field == b.field:
			return a.from - b.from
		case a.field == best:
			return -1
		case b.field == best:
			return 1
		}
		return a.field - b.field
	})
	var last stretch
	for i, a := range all {
		c := e.counter(a.field)
		if i > 0 && a.field == last.field && a.from <= last.to {
			if a.to > last.to {
				last.to = a.to
				spans[len(spans)-1].End = c.at(a.to)
			}
			continue
		}
		last = a
		f := &e.fields[a.field]
		spans = append(spans, Span{Start: c.at(a.from), End: c.at(a.to), Pointer: f.pointer, Next: e.isNext(a.field)})
	}
	return e.fields[best].pointer, spans
}

// isNext reports whether a field is one of the record behind.
func (e *evidence) isNext(field int) bool { return e.next > 0 && field >= e.next }

// fieldEnd returns where the letters from on leave their field, at most most.
func (e *evidence) fieldEnd(from, most int) int {
	n := e.fieldOf(from)
	for i := n + 1; i < len(e.fields); i++ {
		if end := e.fields[i].first - e.lo; end > from {
			return min(end, most)
		}
	}
	return most
}

// A runeCounter turns byte offsets of a text into numbers of code points. Asked
// in rising order it reads the text once.
type runeCounter struct {
	text        []byte
	byte, runes int
}

func (c *runeCounter) at(b int) int {
	if b < c.byte {
		c.byte, c.runes = 0, 0
	}
	c.runes += utf8.RuneCount(c.text[c.byte:b])
	c.byte = b
	return c.runes
}

// counter returns the counter of a field.
func (e *evidence) counter(field int) *runeCounter {
	if e.counters == nil {
		e.counters = make([]runeCounter, len(e.fields))
	}
	c := &e.counters[field]
	c.text = e.fields[field].text
	return c
}

// A step of an edit script in letters: op is one of the Op constants; from and
// to count in the item's stem or option, lo and hi in the window.
type letterEdit struct {
	op       string
	option   int
	from, to int
	lo, hi   int
}

// alignment returns the edit script of every piece that was found, in the
// coordinates of the texts.
func (e *evidence) alignment(ix *Index) []Edit {
	q := &ix.sets[e.it.set].Items[e.it.number].Question
	var out []Edit
	texts := map[int][]Range{} // by option, 0 the stem: where each letter stands
	for _, s := range e.script() {
		places, ok := texts[s.option]
		if !ok {
			places = ix.alpha.letterPlaces(q, s.option)
			texts[s.option] = places
		}
		if s.to > len(places) {
			continue
		}
		for {
			end := s.hi
			if s.lo < s.hi {
				end = e.fieldEnd(s.lo, s.hi)
			}
			d := Edit{Op: s.op, Option: s.option, Item: rangeOf(places, s.from, s.to)}
			if end < s.hi && s.op != OpInsert {
				// both sides go on in the next field
				cut := min(s.from+end-s.lo, s.to)
				d.Item = rangeOf(places, s.from, cut)
				s.from = cut
			}
			n := e.fieldOf(max(0, min(s.lo, len(e.offs)-1)))
			c := e.counter(n)
			d.Pointer, d.Next = e.fields[n].pointer, e.isNext(n)
			switch {
			case s.lo < end:
				d.Data = Range{c.at(int(e.offs[s.lo])), c.at(e.after(end - 1))}
			case s.lo > 0 && s.lo <= len(e.offs) && e.fieldOf(s.lo-1) == n:
				d.Data.Start = c.at(e.after(s.lo - 1))
				d.Data.End = d.Data.Start
			case s.lo < len(e.offs):
				d.Data.Start = c.at(int(e.offs[s.lo]))
				d.Data.End = d.Data.Start
			}
			out = append(out, d)
			if s.lo = end; s.lo >= s.hi {
				break
			}
		}
	}
	return out
}

// rangeOf returns the text of letters from to to; at the letter itself when
// there are none.
func rangeOf(places []Range, from, to int) Range {
	switch {
	case from < to:
		return Range{places[from].Start, places[to-1].End}
	case from < len(places):
		return Range{places[from].Start, places[from].Start}
	case len(places) > 0:
		return Range{places[len(places)-1].End, places[len(places)-1].End}
	}
	return Range{}
}

// letterPlaces returns where the letters of an item's stem, or of option n (from
// 1), stand in its text.
func (a *alphabet) letterPlaces(q *drydock.Question, option int) []Range {
	var out []Range
	add := func(text string, at int, whole string) {
		s := stream{want: true}
		a.feed(&s, []byte(text))
		c := runeCounter{text: []byte(whole)}
		for _, off := range s.offs {
			from := at + int(off)
			_, n := utf8.DecodeRuneInString(whole[from:])
			out = append(out, Range{c.at(from), c.at(from + n)})
		}
	}
	if option > 0 {
		text := q.Options[option-1].Text
		add(text, 0, text)
		return out
	}
	for _, seg := range segments(q.Stem) {
		add(seg.text, seg.at, q.Stem)
	}
	return out
}

// script aligns the pieces with the letters they were found at, in the order of
// the item; stretches that go on from one cut of a long text to the next are one.
func (e *evidence) script() []letterEdit {
	var out []letterEdit
	open := 0 // edits before this one are of another text
	put := func(s letterEdit) {
		if n := len(out); n > open {
			last := &out[n-1]
			if last.op == s.op && last.to == s.from && last.hi == s.lo {
				last.to, last.hi = s.to, s.hi
				return
			}
		}
		out = append(out, s)
	}
	for _, f := range e.pieces {
		if !f.piece.more {
			open = len(out)
		}
		option := 0
		if f.piece.kind == optionPart {
			option = f.piece.part + 1
		}
		at := f.place.start
		text := e.window[f.place.start:f.place.end]
		for i, p := range align(f.piece.letters, text) {
			from := f.piece.from + i
			if p.to < 0 {
				put(letterEdit{OpDelete, option, from, from + 1, at, at})
				continue
			}
			to := f.place.start + p.to
			if at < to {
				put(letterEdit{OpInsert, option, from, from, at, to})
			}
			op := OpEqual
			if l := f.piece.letters[i]; l != e.window[to] || l == foreign {
				op = OpReplace
			}
			put(letterEdit{op, option, from, from + 1, to, to + 1})
			at = to + 1
		}
		if at < f.place.end {
			end := f.piece.from + len(f.piece.letters)
			put(letterEdit{OpInsert, option, end, end, at, f.place.end})
		}
	}
	return out
}

// longestRun returns the letters of the longest stretch that stands in the
// window as it stands in the stem or in an option.
func (e *evidence) longestRun() int {
	at := newRunIndex(e.window)
	best := 0
	for _, seg := range e.it.segments {
		best = at.longest(seg, best)
	}
	for i := range e.it.options {
		best = at.longest(e.it.options[i].letters, best)
	}
	return best
}

// runLen is the shortest stretch that a runIndex sees; a match has a seed, which
// is no shorter.
const runLen = seedLen

// A runIndex finds where runLen letters stand in a text.
type runIndex struct {
	text []letter
	head [512]int32 // by hash: the last place with it + 1
	next []int32    // by place: the one before with the same hash + 1
}

func newRunIndex(text []letter) *runIndex {
	x := &runIndex{text: text, next: make([]int32, max(0, len(text)-runLen+1))}
	for i := range x.next {
		h := runHash(text[i:])
		x.next[i], x.head[h] = x.head[h], int32(i+1)
	}
	return x
}

func runHash(ls []letter) int { return int(plainKey(ls[:runLen]) * mix >> 55) }

// longest returns the length of the longest stretch of ls in the text, best when
// none is longer than that.
func (x *runIndex) longest(ls []letter, best int) int {
	for i := 0; i+max(runLen, best+1) <= len(ls); i++ {
		for j := x.head[runHash(ls[i:])]; j > 0; j = x.next[j-1] {
			w := x.text[j-1:]
			if best >= len(w) || w[best] != ls[i+best] { // can be no longer
				continue
			}
			n := 0
			for i+n < len(ls) && n < len(w) && ls[i+n] == w[n] && w[n] != foreign {
				n++
			}
			if n >= runLen {
				best = max(best, n)
			}
			if i+best >= len(ls) {
				return best
			}
		}
	}
	return best
}
