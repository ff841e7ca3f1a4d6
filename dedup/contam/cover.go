package contam

import "math/bits"

// A candidate in Latin script is easy to come by: texts of one subject share
// many a phrase of a few words. Before its edit distance is taken, the share of
// its short grams that stand where its marks say it lies must be coverLeast. Of a
// stem with every tenth letter wrong, two thirds of the grams are left; of
// another stem on the same subject, about a fifth stand that close.
const (
	coverLeast = 0.35
	coverApart = 0.5 // the same for an option, and for a stem without a mark
	coverWhole = 0.7 // all words are there, if not in their order
	coverMin   = 24  // grams of a stem; fewer say too little
	coverFew   = 5   // the same of an option
	coverLen   = 4   // letters in a gram
	// coverSlack letters more or less may stand before a place than in the item.
	coverSlack = 24
	// Most candidates are turned away by fewer letters around, and a lower share.
	coverNear  = 8
	coverFirst = 0.25
)

// A gramPiece is a piece of an item made ready to tell which of its grams a text
// holds.
type gramPiece struct {
	places [latinEnd + 1]uint64 // by letter: a bit for each place where it stands; none for the last
	from   int                  // its first letter, counted in the item
	to     int
	grams  int // of Latin letters only
}

// itemGrams are the pieces of an item's stem and options; none where grams are not
// asked for.
type itemGrams struct {
	stem    []gramPiece
	grams   int // of the stem
	options []optionGrams
}

// optionGrams are the pieces of one option.
type optionGrams struct {
	pieces []gramPiece
	grams  int
}

// gramsOf returns the grams of an item in Latin script.
func gramsOf(it *item) (g itemGrams) {
	if !it.latin {
		return g
	}
	at := 0
	g.stem, g.grams = gramPieces(it.stem, &at)
	for i := range it.options {
		pieces, grams := gramPieces(it.options[i].pieces, &at)
		g.options = append(g.options, optionGrams{pieces, grams})
	}
	return g
}

// gramPieces makes pieces ready of which the first begins with letter at of the
// item; at is moved behind the last.
func gramPieces(pieces []piece, at *int) (out []gramPiece, grams int) {
	out = make([]gramPiece, len(pieces))
	for i := range pieces {
		ls, g := pieces[i].letters, &out[i]
		g.from, g.to = *at, *at+len(ls)
		*at = g.to
		for k, l := range ls {
			if l < latinEnd {
				g.places[l] |= 1 << k
			}
		}
		g.grams = bits.OnesCount64(g.in(ls))
		grams += g.grams
	}
	return out, grams
}

// in returns a bit for each gram of the piece that the text holds. All places of
// the piece move on together: where a letter stands behind one that the text has
// before it is a pair, a pair behind a pair is a gram. Two letters a step leave
// nothing to be moved from one variable to another.
func (g *gramPiece) in(text []letter) (found uint64) {
	var last, odd, even uint64 // the letter before; the pairs that end one and two letters before, by turns
	i := 0
	for ; i+1 < len(text); i += 2 {
		here := g.places[min(text[i], latinEnd)]
		pair := here & (last << 1)
		found |= pair & (even << 2)
		even = pair
		last = g.places[min(text[i+1], latinEnd)]
		pair = last & (here << 1)
		found |= pair & (odd << 2)
		odd = pair
	}
	if i < len(text) {
		found |= g.places[min(text[i], latinEnd)] & (last << 1) & (even << 2)
	}
	return found
}

// A shift is how many letters further on than in the item its letters stand in the
// stream: from lo to hi.
type shift struct{ lo, hi int }

// shifts returns the shifts of those marks whose seeds end in the item's letters
// from to to, rising; what lies close together is one. They are valid until the
// next call.
func (s *Scanner) shifts(marks []mark, from, to int) []shift {
	all := s.shift[:0]
	for i := range marks {
		if p := int(marks[i].place); p > from && p <= to {
			d := int(marks[i].end) - p
			k := len(all)
			all = append(all, shift{})
			for ; k > 0 && all[k-1].lo > d; k-- {
				all[k] = all[k-1]
			}
			all[k] = shift{d, d}
		}
	}
	s.shift = all
	n := 0
	for _, d := range all {
		if n > 0 && d.lo-all[n-1].hi <= maxPiece {
			all[n-1].hi = d.hi
			continue
		}
		all[n] = d
		n++
	}
	return all[:n]
}

// near returns the letters of the window from lo to hi in which those from to to of
// the item stand by a shift, slack letters more or less.
func (s *Scanner) near(d shift, from, to, slack, lo, hi int) []letter {
	lo, hi = max(lo, d.lo+from-slack), min(hi, d.hi+to+slack)
	if lo >= hi {
		return nil
	}
	return s.text.letters[lo:hi]
}

// found returns how many grams of pieces stand in the window from lo to hi where the
// shifts say, slack letters more or less; without a shift they may stand anywhere.
func (s *Scanner) found(pieces []gramPiece, by []shift, slack, lo, hi int) int {
	n := 0
	for i := range pieces {
		g := &pieces[i]
		var have uint64
		for _, d := range by {
			have |= g.in(s.near(d, g.from, g.to, slack, lo, hi))
		}
		if len(by) == 0 {
			have = g.in(s.text.letters[lo:hi])
		}
		n += bits.OnesCount64(have)
	}
	return n
}

// covered reports whether so many grams of an item stand around its marks in the
// window from lo to hi that it may be there: of its stem, or with options that
// speak for themselves, of most of these.
func (s *Scanner) covered(i uint32, marks []mark, lo, hi int, withOptions bool) bool {
	it, g := &s.ix.items[i], &s.ix.covers[i]
	if !it.latin || !withOptions && g.grams < coverMin {
		return true
	}
	if by := s.shifts(marks, 0, it.stemLen); len(by) > 0 {
		n := float64(s.found(g.stem, by, coverNear, lo, hi))
		if n >= coverFirst*float64(g.grams) && n < coverLeast*float64(g.grams) {
			n = float64(s.found(g.stem, by, coverSlack, lo, hi))
		}
		if n >= coverLeast*float64(g.grams) {
			return true
		}
	} else if !withOptions {
		return float64(s.found(g.stem, nil, 0, lo, hi)) >= coverApart*float64(g.grams)
	}
	return withOptions && s.optionsCovered(i, marks, lo, hi)
}

// optionsCovered reports whether the window may hold enough of the item's options.
func (s *Scanner) optionsCovered(i uint32, marks []mark, lo, hi int) bool {
	it, g := &s.ix.items[i], &s.ix.covers[i]
	c := it.limits
	telling := it.telling()
	least := min(c.OptionsNear, c.OptionsOnly) * float64(telling)
	have, left := 0, telling
	lo, hi = optionWindow(it, marks, lo, hi)
	for k := range it.options {
		if o := &it.options[k]; o.trivial || len(o.letters) == 0 {
			continue
		}
		left--
		if s.optionCovered(&g.options[k], marks, lo, hi) {
			have++
		}
		if float64(have+left) < least {
			return false
		}
	}
	return telling > 0
}

func (s *Scanner) optionCovered(o *optionGrams, marks []mark, lo, hi int) bool {
	if o.grams < coverFew {
		return true
	}
	by := s.shifts(marks, o.pieces[0].from, o.pieces[len(o.pieces)-1].to)
	return float64(s.found(o.pieces, by, coverSlack, lo, hi)) >= coverApart*float64(o.grams)
}

// optionWindow narrows the window from lo to hi to where the options lie, in
// whatever order, of which some have marks.
func optionWindow(it *item, marks []mark, lo, hi int) (from, to int) {
	from, to = hi, lo
	for _, m := range marks {
		if m.opt > 0 {
			from, to = min(from, int(m.end)), max(to, int(m.end))
		}
	}
	reach := it.optionLen + coverSlack
	return max(lo, from-reach), min(hi, to+reach)
}

// stemWhole reports whether nearly all grams of an item's stem stand around its
// marks, in whatever order.
func (s *Scanner) stemWhole(i uint32, marks []mark, lo, hi int) bool {
	g := &s.ix.covers[i]
	if g.grams < coverMin {
		return true
	}
	n := 0
	around := s.stemWindow(i, marks, lo, hi)
	for k := range g.stem {
		n += bits.OnesCount64(g.stem[k].in(around))
	}
	return float64(n) >= coverWhole*float64(g.grams)
}

// stemWindow returns the letters of the window from lo to hi in which the stem of
// an item lies, as its marks say; all of them where it has none.
func (s *Scanner) stemWindow(i uint32, marks []mark, lo, hi int) []letter {
	n := s.ix.items[i].stemLen
	by := s.shifts(marks, 0, n)
	if len(by) == 0 {
		return s.text.letters[lo:hi]
	}
	return s.near(shift{by[0].lo, by[len(by)-1].hi}, 0, n, longestGap, lo, hi)
}
