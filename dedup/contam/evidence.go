package contam

import (
	"math"
	"slices"
	"unicode/utf8"
)

// evidence is a match with the text it stands in. A scanner has one, which serves
// one match after another with the same buffers.
type evidence struct {
	match
	it      *item
	window  []letter
	origins []origin // of the window's letters
	region  [2]int   // the stem's letters in the window
	pieces  []found
	gaps    [][2]int // interruptions of the stem: windows of letters
	options []offer  // what the record offers as options

	numbers *numbering
	fields  []field
	letters int // of the whole stream
	next    int // the first field that is one of the record behind; 0: none is
	around  fieldSpan

	apart    bool // all pieces of the stem stand at places of their own
	lettered bool // the record letters its options A, B, C, or names fields so
	line     truth
	spotted  bool // spotList is that of this match

	spotList []spot
	alike    []truth // by option and offer: whether they are the same
	*buffers
}

// buffers are for what a match needs while it is judged and told of.
type buffers struct {
	sought   []found
	parts    []piece // interrupted pieces, in parts
	blotted  []letter
	runs     runIndex
	aligner  aligner
	changed  []change
	one, two []letter
	tailText []byte
	visible  []byte // what stands behind the stem
	plain    []byte
	texts    [][]byte
	offered  stream // letters of the options offered
	itemText unfolded
	chars    []int32
	matched  []matched
	weights  []matched
	edits    []letterEdit
	out      []Edit
	spans    []Span
}

// A truth is whether something holds, once that is known.
type truth uint8

const (
	unknown truth = iota
	no
	yes
)

func truthOf(b bool) truth {
	if b {
		return yes
	}
	return no
}

// found is a piece at its place in the window.
type found struct {
	piece *piece
	place place
	known bool // verify has found it
}

// findings decides what every match of the record amounts to. The fields must
// hold their texts and pointers.
func (s *Scanner) findings(id string) []Finding {
	if len(s.order) == 0 {
		return nil
	}
	s.unfolded.reset(s.fields, len(s.text.letters))
	var out []Finding
	for _, i := range s.order {
		if f, ok := s.worst(i); ok {
			f.Record.ID = id
			out = append(out, f)
			switch {
			case f.Fail:
				s.failed = append(s.failed, i)
			case f.Verdict.variant():
				s.variants = append(s.variants, i)
			}
		}
	}
	return out
}

// worst returns what the matches of item i amount to: the first that fails the
// check, else the first that is anything.
func (s *Scanner) worst(i uint32) (worst Finding, ok bool) {
	for m := range s.places(i) {
		f, is := s.finding(s.located(i, m))
		if is && (f.Fail || !ok) {
			worst, ok = f, true
		}
		if is && f.Fail {
			break
		}
	}
	return worst, ok
}

// located returns a match of item i with its pieces in their places. It is valid
// until the next is asked for.
func (s *Scanner) located(i uint32, m match) *evidence {
	e := s.evidenceOf(m, &s.ix.items[i])
	e.fields, e.letters = s.fields, len(s.text.letters)
	e.window, e.origins = s.text.letters[m.lo:m.hi], s.unfolded.window(m.lo, m.hi)
	s.locate(e)
	return e
}

// evidenceOf returns the scanner's evidence, made ready for a match of it.
func (s *Scanner) evidenceOf(m match, it *item) *evidence {
	e := &s.evidence
	*e = evidence{
		match: m, it: it, numbers: s.ix.numbers, pieces: e.pieces[:0], gaps: e.gaps[:0], options: e.options[:0],
		spotList: e.spotList[:0], alike: e.alike[:0], buffers: e.buffers,
	}
	e.parts = e.parts[:0]
	e.offered.reset()
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
	f.Record.Pointer, f.Spans = e.spansOf()
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
	e.blotted = append(e.blotted[:0], e.window...)
	e.runs.reset(e.window)
	s.locateStem(e)
	e.region = [2]int{len(e.window), 0}
	for _, f := range e.pieces {
		if len(f.piece.letters) > shortPiece || e.it.stemLen <= 6 {
			e.region[0], e.region[1] = min(e.region[0], f.place.start), max(e.region[1], f.place.end)
		}
	}
	e.reach()
	for _, f := range e.pieces {
		for k := f.place.start; k < f.place.end; k++ {
			e.blotted[k] = none
		}
	}
	s.locateOptions(e)
	if e.region[0] > e.region[1] {
		e.region = [2]int{0, 0}
		return
	}
	if e.same {
		e.findOffers(s.ix.alpha)
	}
}

// locateStem finds the places of the stem's pieces.
func (s *Scanner) locateStem(e *evidence) {
	pieces := e.it.stem
	if e.how == asClauses {
		pieces = e.it.clauses
	}
	e.sought = e.sought[:0]
	for i := range pieces {
		f := found{piece: &pieces[i]}
		if e.how == asPieces && e.places != nil {
			f.place, f.known = e.places[i], true
		}
		e.sought = append(e.sought, f)
	}
	s.nearest(e)
	for _, f := range e.sought {
		if e.how == asBroken && f.place.dist > gapCost {
			e.locateBroken(f.piece, &s.gaps)
			continue
		}
		s.put(e, f)
	}
	e.apart = e.standApart(len(pieces))
}

// locateOptions finds the places of the telling options in what the stem leaves.
func (s *Scanner) locateOptions(e *evidence) {
	e.sought = e.sought[:0]
	known := e.leftAlike()
	for i := range e.it.options {
		o := &e.it.options[i]
		if o.trivial {
			continue
		}
		for k := range o.pieces {
			f := found{piece: &o.pieces[k]}
			if known && e.places[o.first+k].dist >= 0 {
				f.place, f.known = e.places[o.first+k], true
			}
			e.sought = append(e.sought, f)
		}
	}
	s.nearest(e)
	for _, f := range e.sought {
		s.put(e, f)
	}
}

// nearest finds, for the pieces sought, the least distance to any place of what is
// left of the window, and where the first such place ends.
func (s *Scanner) nearest(e *evidence) {
	var waits *found // for another to be measured with
	for i := range e.sought {
		f := &e.sought[i]
		if f.known {
			continue
		}
		if f.place.end = e.runs.find(f.piece.letters, e.blotted); f.place.end > 0 {
			continue
		}
		if waits == nil {
			waits = f
			continue
		}
		waits.place, f.place = s.m.searchTwo(waits.piece.letters, f.piece.letters, e.blotted)
		waits = nil
	}
	if waits != nil {
		waits.place.dist, waits.place.end = s.m.search(waits.piece.letters, e.blotted)
	}
}

// standApart reports whether all pieces of the stem, so many, were found, each at a
// place of its own.
func (e *evidence) standApart(pieces int) bool {
	if len(e.pieces) != pieces || pieces > maxPlaces {
		return false
	}
	for i := range e.pieces {
		for k := range e.pieces[:i] {
			if a, b := &e.pieces[i].place, &e.pieces[k].place; a.start < b.end && b.start < a.end {
				return false
			}
		}
	}
	return true
}

// leftAlike reports whether the stem leaves the same of the window as it has left
// when verify measured the options.
func (e *evidence) leftAlike() bool {
	if e.how != asPieces || e.places == nil || len(e.it.stem) > maxPlaces {
		return false
	}
	n := 0
	for i := range e.it.stem {
		if p := &e.places[i]; p.dist*5 > len(e.it.stem[i].letters)*2 {
			continue
		} else if n == len(e.pieces) || e.pieces[n].place.start != p.start || e.pieces[n].place.end != p.end {
			return false
		}
		n++
	}
	return n == len(e.pieces)
}

// put notes where a piece was found, unless that is too far off.
func (s *Scanner) put(e *evidence, f found) {
	p, ls := &f.place, f.piece.letters
	if p.dist*5 > len(ls)*2 {
		return
	}
	p.start = p.end - len(ls)
	if p.dist > 0 {
		p.start = s.m.start(ls, e.blotted, p.end, p.dist)
	}
	e.pieces = append(e.pieces, f)
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

// A fieldSpan is the letters of the window that one field holds.
type fieldSpan struct{ field, from, to int }

// fieldOf returns the field that holds a letter of the window.
func (e *evidence) fieldOf(k int) int {
	if k < e.around.from || k >= e.around.to {
		// of empty fields that begin at the same letter it is the last
		n, _ := slices.BinarySearchFunc(e.fields, e.lo+k+1, func(f field, at int) int { return f.first - at })
		if n == 0 {
			return -1
		}
		e.around = fieldSpan{n - 1, e.fields[n-1].first - e.lo, len(e.window)}
		if n < len(e.fields) {
			e.around.to = e.fields[n].first - e.lo
		}
	}
	return e.around.field
}

// behind returns the place behind the character of letter k of the window.
func (e *evidence) behind(k int) origin {
	text, at := e.fields[e.fieldOf(k)].text, e.origins[k]
	bytes, chars := signLen(text, int(at.byte))
	return origin{at.byte + int32(bytes), at.char + int32(chars)}
}

// after returns the byte behind letter k of the window, in its field.
func (e *evidence) after(k int) int { return int(e.behind(k).byte) }

// signLen returns the bytes and the code points of the character at b[i:], which
// may be written as a reference or an escape, in ASCII.
func signLen(b []byte, i int) (bytes, chars int) {
	if _, n := sign(b, i); n > 0 {
		return n, n
	}
	_, n := utf8.DecodeRune(b[i:])
	return n, 1
}
