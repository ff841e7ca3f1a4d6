package contam

import (
	"slices"
	"unicode/utf8"

	"github.com/drydock-ml/drydock"
)

// matched is a stretch of a field's text that a piece was found at, in code points,
// and what it weighs.
type matched struct{ field, from, to, weight int }

// spansOf returns the field in which most of the item stands, and the ranges that
// matched: those of that field first, then the other fields', in their order.
func (e *evidence) spansOf() (pointer string, spans []Span) {
	all := e.matched[:0]
	for _, f := range e.pieces {
		if len(f.piece.letters) < 2 {
			continue
		}
		for from := f.place.start; from < f.place.end; {
			to := e.fieldEnd(from, f.place.end)
			w := to - from
			if f.piece.kind != optionPart {
				w *= 4 // the stem's field is the one to look at
			}
			all = append(all, matched{e.fieldOf(from), int(e.origins[from].char), int(e.behind(to - 1).char), w})
			from = to
		}
	}
	e.matched = all
	best := e.mainField()
	if best < 0 {
		return "", nil
	}
	slices.SortFunc(all, func(a, b matched) int {
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
	spans = e.spans[:0]
	for i, a := range all {
		if i > 0 && a.field == all[i-1].field {
			last := &spans[len(spans)-1]
			if a.from <= last.End {
				last.End = max(last.End, a.to)
				continue
			}
		}
		spans = append(spans, Span{Start: a.from, End: a.to, Pointer: e.fields[a.field].pointer, Next: e.isNext(a.field)})
	}
	e.spans = spans
	return e.fields[best].pointer, slices.Clone(spans)
}

// mainField returns the field that weighs most; -1: there is none. A finding belongs
// to the record in which it begins, so it is none of the one behind if another is
// there.
func (e *evidence) mainField() int {
	weights := e.weights[:0]
	for _, m := range e.matched {
		i := slices.IndexFunc(weights, func(w matched) bool { return w.field == m.field })
		if i < 0 {
			weights = append(weights, m)
			continue
		}
		weights[i].weight += m.weight
	}
	e.weights = weights
	best := matched{field: -1}
	for _, w := range weights {
		switch {
		case best.field < 0,
			e.isNext(w.field) || e.isNext(best.field) || w.weight == best.weight:
			if best.field < 0 || w.field < best.field {
				best = w
			}
		case w.weight > best.weight:
			best = w
		}
	}
	return best.field
}

// isNext reports whether a field is one of the record behind.
func (e *evidence) isNext(field int) bool { return e.next > 0 && field >= e.next }

// fieldEnd returns where the letters from on leave their field, at most most.
func (e *evidence) fieldEnd(from, most int) int {
	e.fieldOf(from)
	return min(e.around.to, most)
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
	out := e.out[:0]
	var chars []int32 // of the letters of option, 0 the stem
	option := -1
	for _, s := range e.script() {
		if s.option != option {
			option = s.option
			chars = e.charsOf(ix.alpha, q, option)
		}
		if s.to > len(chars) {
			continue
		}
		for {
			end := s.hi
			if s.lo < s.hi {
				end = e.fieldEnd(s.lo, s.hi)
			}
			d := Edit{Op: s.op, Option: s.option, Item: rangeOf(chars, s.from, s.to)}
			if end < s.hi && s.op != OpInsert {
				// both sides go on in the next field
				cut := min(s.from+end-s.lo, s.to)
				d.Item = rangeOf(chars, s.from, cut)
				s.from = cut
			}
			n := e.fieldOf(max(0, min(s.lo, len(e.origins)-1)))
			d.Pointer, d.Next = e.fields[n].pointer, e.isNext(n)
			d.Data = e.dataRange(n, s.lo, end)
			out = append(out, d)
			if s.lo = end; s.lo >= s.hi {
				break
			}
		}
	}
	e.out = out
	if len(out) == 0 {
		return nil
	}
	return slices.Clone(out)
}

// dataRange returns the text of letters lo to hi of the window, which stand in field
// n; behind the letter before, or at the next, when there are none.
func (e *evidence) dataRange(n, lo, hi int) (r Range) {
	switch {
	case lo < hi:
		return Range{int(e.origins[lo].char), int(e.behind(hi - 1).char)}
	case lo > 0 && lo <= len(e.origins) && e.fieldOf(lo-1) == n:
		r.Start = int(e.behind(lo - 1).char)
	case lo < len(e.origins):
		r.Start = int(e.origins[lo].char)
	}
	r.End = r.Start
	return r
}

// rangeOf returns the text of letters from to to; at the letter itself when
// there are none. chars are the code points before each letter.
func rangeOf(chars []int32, from, to int) Range {
	switch {
	case from < to:
		return Range{int(chars[from]), int(chars[to-1]) + 1}
	case from < len(chars):
		return Range{int(chars[from]), int(chars[from])}
	case len(chars) > 0:
		return Range{int(chars[len(chars)-1]) + 1, int(chars[len(chars)-1]) + 1}
	}
	return Range{}
}

// charsOf returns how many code points stand before each letter of the item's stem,
// or of option n (from 1). It is valid until the next call.
func (e *evidence) charsOf(a *alphabet, q *drydock.Question, option int) []int32 {
	e.chars = e.chars[:0]
	if option > 0 {
		e.addChars(a, q.Options[option-1].Text, len(e.it.options[option-1].letters), 0)
		return e.chars
	}
	before, read := 0, 0
	for i, seg := range e.it.texts {
		before += utf8.RuneCountInString(q.Stem[read:seg.at])
		read = seg.at
		e.addChars(a, seg.text, len(e.it.segments[i]), before)
	}
	return e.chars
}

// addChars adds those of text, which has so many letters, with before code points
// before it.
func (e *evidence) addChars(a *alphabet, text string, letters, before int) {
	u := &e.itemText
	u.alpha = a
	u.origins = slices.Grow(u.origins[:0], letters)[:letters]
	e.plain = append(e.plain[:0], text...)
	var next origin
	for _, o := range u.origins[:u.more(e.plain, &next, u.origins, letters)] {
		e.chars = append(e.chars, int32(before)+o.char)
	}
}

// script aligns the pieces with the letters they were found at, in the order of
// the item; stretches that go on from one cut of a long text to the next are one.
func (e *evidence) script() []letterEdit {
	out := e.edits[:0]
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
		from, at := f.piece.from, f.place.start
		text := e.window[f.place.start:f.place.end]
		if len(text) > 0 && same(f.piece.letters, text) {
			put(letterEdit{OpEqual, option, from, from + len(text), at, f.place.end})
			continue
		}
		for i, p := range e.aligner.align(f.piece.letters, text) {
			from := from + i
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
			end := from + len(f.piece.letters)
			put(letterEdit{OpInsert, option, end, end, at, f.place.end})
		}
	}
	e.edits = out
	return out
}

// longestRun returns the letters of the longest stretch that stands in the
// window as it stands in the stem or in an option.
func (e *evidence) longestRun() int {
	best := 0
	for _, s := range e.edits {
		if n := s.to - s.from; s.op == OpEqual && n >= runLen {
			best = max(best, n)
		}
	}
	for _, seg := range e.it.segments {
		best = e.runs.longest(seg, best)
	}
	for i := range e.it.options {
		best = e.runs.longest(e.it.options[i].letters, best)
	}
	return best
}

// runLen is the shortest stretch that a runIndex sees; a match has a seed, which
// is no shorter.
const runLen = seedLen

// A runIndex finds where runLen letters stand in a text. It may be used again.
type runIndex struct {
	text []letter
	head [512]int32 // by hash: the last place with it + 1
	next []int32    // by place: the one before with the same hash + 1
}

// reset makes it the index of a text.
func (x *runIndex) reset(text []letter) {
	x.text = text
	clear(x.head[:])
	n := max(0, len(text)-runLen+1)
	x.next = slices.Grow(x.next[:0], n)[:n]
	for i := range n {
		h := runHash(text[i:])
		x.next[i], x.head[h] = x.head[h], int32(i+1)
	}
}

// runShift leaves the bits of a hash that number the heads.
const runShift = 55

func runHash(ls []letter) int { return int(seedKey(ls) * mix >> runShift) }

// find returns where ls first ends in text, which is that of the index but for
// letters that were taken out of it; 0: it is not there.
func (x *runIndex) find(ls, text []letter) (end int) {
	if len(ls) == 0 || slices.Contains(ls, foreign) {
		return 0
	}
	if len(ls) < runLen {
		if at := index(text, ls); at >= 0 {
			end = at + len(ls)
		}
		return end
	}
	for j := x.head[runHash(ls)]; j > 0; j = x.next[j-1] {
		if at := int(j - 1); at+len(ls) <= len(text) && slices.Equal(text[at:at+len(ls)], ls) {
			end = at + len(ls) // an earlier one may follow
		}
	}
	return end
}

// longest returns the length of the longest stretch of ls in the text, best when
// none is longer than that. Of a longer one every so many letters need a look only,
// from which it is followed to both sides.
func (x *runIndex) longest(ls []letter, best int) int {
	for i := 0; i+runLen <= len(ls); i += max(1, best-runLen+2) {
		for j := x.head[runHash(ls[i:])]; j > 0; j = x.next[j-1] {
			n := commonPrefix(ls[i:], x.text[j-1:])
			if n < runLen {
				continue // another with the same hash
			}
			best = max(best, n+commonSuffix(ls[:i], x.text[:j-1]))
		}
	}
	return best
}

// commonPrefix returns how many letters two texts begin with alike.
func commonPrefix(a, b []letter) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] && a[n] != foreign {
		n++
	}
	return n
}

// commonSuffix returns how many letters two texts end with alike.
func commonSuffix(a, b []letter) int {
	n := 0
	for n < len(a) && n < len(b) && a[len(a)-1-n] == b[len(b)-1-n] && a[len(a)-1-n] != foreign {
		n++
	}
	return n
}
