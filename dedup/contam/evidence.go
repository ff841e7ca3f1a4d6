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
	gaps    [][2]int // interruptions of the stem: windows of letters
	options []offer  // what the record offers as options

	numbers  *numbering
	fields   []field
	next     int           // the first field that is one of the record behind; 0: none is
	counters []runeCounter // of the fields

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
	s.unfold()
	var out []Finding
	for _, i := range s.order {
		if f, ok := s.worst(i); ok {
			f.Record.ID = id
			out = append(out, f)
			if f.Fail {
				s.failed = append(s.failed, i)
			}
		}
	}
	return out
}

// worst returns what the matches of item i amount to: the first that fails the
// check, else the first that is anything.
func (s *Scanner) worst(i uint32) (worst Finding, ok bool) {
	for m := range s.places(i) {
		e := s.located(i, m)
		f, is := s.finding(&e)
		if is && (f.Fail || !ok) {
			worst, ok = f, true
		}
		if is && f.Fail {
			break
		}
	}
	return worst, ok
}

// unfold reads the record's text again, with the place of every letter.
func (s *Scanner) unfold() {
	full := &s.full
	full.reset()
	full.want = true
	for i := range s.fields {
		s.fields[i].first = len(full.letters)
		s.ix.alpha.feed(full, s.fields[i].text)
	}
	copy(full.letters, s.text.letters) // with the allowed passages blotted out
}

// located returns a match of item i in the unfolded text, with its pieces in
// their places.
func (s *Scanner) located(i uint32, m match) evidence {
	e := evidence{match: m, it: &s.ix.items[i], numbers: s.ix.numbers, fields: s.fields, letters: len(s.full.letters)}
	e.window, e.offs = s.full.letters[m.lo:m.hi], s.full.offs[m.lo:m.hi]
	s.locate(&e)
	return e
}

// finding is what a located match amounts to; false when that is nothing.
func (s *Scanner) finding(e *evidence) (Finding, bool) {
	verdict, rule := s.judge(e)
	if verdict == "" || verdict == Boilerplate {
		return Finding{}, false
	}
	f := Finding{
		Item:    ItemRef{Benchmark: s.ix.sets[e.it.set].Ref.Name, Index: e.it.index},
		Verdict: verdict,
		Fail:    slices.Contains(e.it.limits.Fail, verdict),
		Score:   e.score,
		Rule:    rule,
		Config:  s.ix.hash,
	}
	if verdict == StemOnly {
		f.Score = e.match.stem
	}
	if f.Score < e.it.limits.Least[string(verdict)] {
		return Finding{}, false
	}
	f.Components = Components{e.match.stem, orNaN(e.match.options), orNaN(e.statements)}
	f.Record.Pointer, f.Spans = e.spans()
	f.Alignment, f.Run = e.alignment(s.ix), e.longestRun()
	f.Answer = e.answer()
	return f, true
}

func orNaN(v float64) float64 {
	if v < 0 {
		return math.NaN()
	}
	return v
}

// shortPiece letters stand anywhere.
const shortPiece = 3

// locate finds the places of the pieces and the region of the stem.
func (s *Scanner) locate(e *evidence) {
	w := slices.Clone(e.window)
	e.region = [2]int{len(w), 0}
	place1 := func(p *piece) {
		if d, end := s.m.search(p.letters, w); d*5 <= len(p.letters)*2 {
			e.pieces = append(e.pieces, found{p, place{dist: d, start: s.m.start(p.letters, w, end, d), end: end}})
		}
	}
	pieces := e.it.stem
	if e.how == asClauses {
		pieces = e.it.clauses
	}
	for i := range pieces {
		p := &pieces[i]
		if e.how == asBroken {
			if d, _ := s.m.search(p.letters, w); d > gapCost {
				e.locateBroken(p, &s.gaps)
				continue
			}
		}
		place1(p)
	}
	for _, f := range e.pieces {
		if len(f.piece.letters) > shortPiece || e.it.stemLen <= 6 {
			e.region[0], e.region[1] = min(e.region[0], f.place.start), max(e.region[1], f.place.end)
		}
	}
	e.reach()
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

// reach takes the stem's shortest pieces, which stand anywhere, and those that
// the stem has twice into its region where they touch it, but for the number of a
// statement between them: those behind the piece it ends with at its end, those
// before the one it begins with at its begin.
func (e *evidence) reach() {
	if e.region[0] > e.region[1] {
		return
	}
	end := slices.IndexFunc(e.pieces, func(f found) bool { return f.place.end == e.region[1] })
	for i := end + 1; i < len(e.pieces); i++ {
		for at := e.region[1]; at <= e.region[1]+1; at++ {
			if f := &e.pieces[i]; f.standsAt(e.window, at) {
				e.region[1] = f.place.end
				break
			}
		}
	}
	begin := slices.IndexFunc(e.pieces, func(f found) bool { return f.place.start == e.region[0] })
	for i := begin - 1; i >= 0; i-- {
		f := &e.pieces[i]
		for at := e.region[0] - len(f.piece.letters); at >= e.region[0]-len(f.piece.letters)-1; at-- {
			if f.standsAt(e.window, at) {
				e.region[0] = at
				break
			}
		}
	}
}

// standsAt reports whether the piece stands at letter at of the window, letter by
// letter, and makes that its place.
func (f *found) standsAt(window []letter, at int) bool {
	ls := f.piece.letters
	if at < 0 || at+len(ls) > len(window) || !slices.Equal(window[at:at+len(ls)], ls) {
		return false
	}
	f.place = place{start: at, end: at + len(ls)}
	return true
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
	return at + signLen(e.fields[n].text, at)
}

// signLen returns the bytes of the code point at b[i:], or of the character
// reference or escape that stands for it.
func signLen(b []byte, i int) int {
	if _, n := sign(b, i); n > 0 {
		return n
	}
	_, n := utf8.DecodeRune(b[i:])
	return n
}
