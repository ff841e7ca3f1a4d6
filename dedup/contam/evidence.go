package contam

import (
	"math"
	"slices"
	"unicode/utf8"
)

// evidence is a match with the text it stands in.
type evidence struct {
	match
	it      *item
	window  []letter
	offs    []int32
	region  [2]int // the stem's letters in the window
	pieces  []found
	options [][]letter // what the record offers as options

	fields []field

	lettered bool // and letters them A, B, C, or names fields so
	letters  int  // of the whole stream
}

// found is a piece at its place in the window.
type found struct {
	piece *piece
	place place
}

// findings decides what every match of the record amounts to. The fields must
// hold their texts and pointers.
func (s *Scanner) findings(id string) []Finding {
	if len(s.order) == 0 {
		return nil
	}
	full := stream{want: true}
	for i := range s.fields {
		s.fields[i].first = len(full.letters)
		s.ix.alpha.feed(&full, s.fields[i].text)
	}
	copy(full.letters, s.text.letters) // with the allowed passages blotted out
	var out []Finding
	for _, i := range s.order {
		m := s.best[i]
		e := evidence{match: m, it: &s.ix.items[i], fields: s.fields, letters: len(full.letters)}
		e.window, e.offs = full.letters[m.lo:m.hi], full.offs[m.lo:m.hi]
		s.locate(&e)
		verdict, rule := s.judge(&e)
		if verdict == "" || verdict == Boilerplate {
			continue
		}
		f := Finding{
			Record:  Place{ID: id},
			Item:    ItemRef{Benchmark: s.ix.sets[e.it.set].Ref.Name, Index: e.it.index},
			Verdict: verdict,
			Fail:    slices.Contains(s.ix.config.Fail, verdict),
			Score:   m.score,
			Rule:    rule,
			Config:  s.ix.hash,
		}
		if verdict == StemOnly {
			f.Score = m.stem
		}
		f.Components = Components{m.stem, orNaN(m.options), orNaN(m.statements)}
		f.Record.Pointer, f.Spans = e.spans()
		f.Answer = e.answer()
		out = append(out, f)
	}
	return out
}

func orNaN(v float64) float64 {
	if v < 0 {
		return math.NaN()
	}
	return v
}

// locate finds the places of the pieces and the region of the stem.
func (s *Scanner) locate(e *evidence) {
	w := slices.Clone(e.window)
	e.region = [2]int{len(w), 0}
	place1 := func(p *piece) (place, bool) {
		d, end := s.m.search(p.letters, w)
		pl := place{dist: d, end: end}
		if d*5 > len(p.letters)*2 {
			return pl, false
		}
		pl.start = s.m.start(p.letters, w, end, d)
		e.pieces = append(e.pieces, found{p, pl})
		return pl, true
	}
	for i := range e.it.stem {
		p := &e.it.stem[i]
		pl, ok := place1(p)
		// two letters stand anywhere
		if ok && (len(p.letters) > 3 || e.it.stemLen <= 6) {
			e.region[0], e.region[1] = min(e.region[0], pl.start), max(e.region[1], pl.end)
		}
	}
	for _, f := range e.pieces {
		for k := f.place.start; k < f.place.end; k++ {
			w[k] = none
		}
	}
	for i := range e.it.options {
		o := &e.it.options[i]
		if o.trivial {
			continue
		}
		for k := range o.pieces {
			place1(&o.pieces[k])
		}
	}
	if e.region[0] > e.region[1] {
		e.region = [2]int{0, 0}
		return
	}
	if e.same {
		e.options = e.offered(s.ix.alpha)
	}
}

// fieldOf returns the field that holds a letter of the window.
func (e *evidence) fieldOf(k int) int {
	at := e.lo + k
	n, ok := slices.BinarySearchFunc(e.fields, at, func(f field, at int) int { return f.first - at })
	if ok {
		// empty fields begin at the same letter as the next one
		for n+1 < len(e.fields) && e.fields[n+1].first == at {
			n++
		}
		return n
	}
	return n - 1
}

// after returns the byte behind letter k of the window, in its field.
func (e *evidence) after(k int) int {
	n := e.fieldOf(k)
	at := int(e.offs[k])
	_, size := utf8.DecodeRune(e.fields[n].text[at:])
	return at + size
}

// spans returns the field in which most of the item stands, and the ranges of
// its text that matched.
func (e *evidence) spans() (pointer string, spans []Span) {
	type stretch struct{ field, from, to int } // bytes
	var all []stretch
	weight := map[int]int{}
	for _, f := range e.pieces {
		if f.place.end <= f.place.start || len(f.piece.letters) < 2 {
			continue
		}
		first, last := e.fieldOf(f.place.start), e.fieldOf(f.place.end-1)
		if first != last {
			// split over two fields: the longer share is shown
			cut := f.place.start
			for cut < f.place.end && e.fieldOf(cut) == first {
				cut++
			}
			if cut-f.place.start >= f.place.end-cut {
				f.place.end = cut
			} else {
				f.place.start = cut
				for e.fieldOf(f.place.start) != last {
					f.place.start++
				}
				first = last
			}
		}
		w := f.place.end - f.place.start
		if f.piece.kind != optionPart {
			w *= 4 // the stem's field is the one to look at
		}
		weight[first] += w
		all = append(all, stretch{first, int(e.offs[f.place.start]), e.after(f.place.end - 1)})
	}
	best := -1
	for i := range e.fields {
		if w := weight[i]; w > 0 && (best < 0 || w > weight[best]) {
			best = i
		}
	}
	if best < 0 {
		return "", nil
	}
	slices.SortFunc(all, func(a, b stretch) int { return a.from - b.from })
	text := e.fields[best].text
	to := -1
	for _, a := range all {
		if a.field != best || a.to <= a.from {
			continue
		}
		if to >= 0 && a.from <= to {
			if a.to > to {
				to = a.to
				spans[len(spans)-1].End = utf8.RuneCount(text[:to])
			}
			continue
		}
		to = a.to
		spans = append(spans, Span{utf8.RuneCount(text[:a.from]), utf8.RuneCount(text[:a.to])})
	}
	return e.fields[best].pointer, spans
}
