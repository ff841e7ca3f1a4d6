package contam

import "slices"

// A place is where a piece was found in a window.
type place struct {
	dist, start, end int // start is only known where it was asked for
}

// A match is how much of an item stands in one window, by letters alone; what
// it amounts to is decided in judge.go with the text beside it.
type match struct {
	lo, hi int // the window in the stream

	stem       float64 // similarity of the stem, 0–1
	stemAbove  float64 // the same above what chance gives in this script
	stemDist   int
	nats       float64 // surprise of what matched of the stem
	statements float64 // share of the statements found; -1: the item has none
	options    float64 // share of the telling options found; -1: it has none
	optLetters int     // letters of the options found
	found      int     // options found, trivial ones too
	inOrder    bool    // all options, letter by letter, one after the other
	how        how     // what of the stem was searched as one
	// places are those of the item's pieces, the stem's in the window, those of the
	// options in what the stem leaves of it, -1 where that was not measured; nil: none was.
	places []place

	same  bool // the letters say it is the item
	shown bool // less, but worth showing
	score float64
}

// chance is the similarity that a pattern has to some place of an unrelated
// window: four fifths of all letters differ in Chinese, half in Latin script.
func chance(latin bool) float64 {
	if latin {
		return 0.45
	}
	return 0.1
}

// tolerance is how many edits an option of n letters may have and still be that
// option.
func tolerance(n int, latin bool) int {
	if latin {
		return n / 5
	}
	return n / 4
}

// verify measures an item against a window. It does not allocate once its
// buffers have grown.
//
// withOptions says that the seeds hit speak for the options by themselves; else
// the search ends as soon as the stem is too far off to be the item with them.
func (s *Scanner) verify(it *item, window []letter, withOptions bool) match {
	c := it.limits
	base := chance(it.latin)
	far := it.stemLen + 1
	if !withOptions {
		// the stem must reach StemWithAllOptions above chance
		far = int((1-c.StemWithAllOptions)*(1-base)*float64(it.stemLen)) + 1
	}
	m := match{statements: -1, options: -1}
	places := s.unplaced(it)
	stemDist, good := 0, 0
	for i := range it.stem {
		p := &it.stem[i]
		d, end := s.m.search(p.letters, window)
		if stemDist += d; stemDist > far {
			return m
		}
		places[i] = place{dist: d, end: end}
		if p.kind == statementPart && d*4 <= len(p.letters) {
			good++
		}
	}
	m.setStem(it, stemDist)
	if it.statements > 0 {
		m.statements = float64(good) / float64(statementPieces(it))
	}
	if m.stemAbove < c.StemWithAllOptions && !withOptions {
		return m
	}
	w := append(s.work[:0], window...)
	s.work = w
	for i := range min(len(it.stem), maxPlaces) {
		if p := &it.stem[i]; places[i].dist*5 <= len(p.letters)*2 {
			places[i].start = s.blot(w, p.letters, places[i])
		}
	}
	s.options(it, w, &m)
	if m.decide(it, c); m.same || m.shown {
		from := len(s.placed)
		s.placed = append(s.placed, places...)
		m.places = s.placed[from:len(s.placed):len(s.placed)]
	}
	return m
}

// unplaced returns room for the places of an item's pieces, none of which is known.
func (s *Scanner) unplaced(it *item) []place {
	s.trial = slices.Grow(s.trial[:0], len(it.all))[:len(it.all)]
	for i := range s.trial {
		s.trial[i] = place{dist: -1}
	}
	return s.trial
}

// setStem says how far the stem is from what stands in the window.
func (m *match) setStem(it *item, dist int) {
	base := chance(it.latin)
	if it.stemLen > 0 {
		m.stem = 1 - float64(dist)/float64(it.stemLen)
	}
	m.stemDist = dist
	m.stemAbove = max(0, (m.stem-base)/(1-base))
	m.nats = m.stem * float64(it.stemMass)
}

// maxPlaces bounds the pieces whose places are kept; a stem of more has so many
// letters that the rest may be found twice without harm.
const maxPlaces = 48

func statementPieces(it *item) int {
	n := 0
	for i := range it.stem {
		if it.stem[i].kind == statementPart {
			n++
		}
	}
	return n
}

// blot overwrites what a pattern matched, so that nothing else matches there, and
// returns where that begins.
func (s *Scanner) blot(w, pattern []letter, p place) (start int) {
	start = s.m.start(pattern, w, p.end, p.dist)
	for i := start; i < p.end; i++ {
		w[i] = none
	}
	return start
}

// options searches the options in w, longest first: one may contain another. It
// notes the places of their pieces until one of them is taken out.
func (s *Scanner) options(it *item, w []letter, m *match) {
	m.inOrder = optionsInOrder(it, w)
	var done uint64
	telling, near := 0, 0
	for range it.options {
		best := -1
		for i := range it.options {
			if i < 64 && done>>i&1 == 0 && (best < 0 || len(it.options[i].letters) > len(it.options[best].letters)) {
				best = i
			}
		}
		if best < 0 {
			break
		}
		done |= 1 << best
		o := &it.options[best]
		if len(o.letters) == 0 {
			continue
		}
		if !o.trivial {
			telling++
		}
		dist := 0
		var places [maxPlaces]place
		for i := range o.pieces {
			d, end := s.m.search(o.pieces[i].letters, w)
			dist += d
			if i < maxPlaces {
				places[i] = place{dist: d, end: end}
			}
			if m.found == 0 {
				s.trial[o.first+i] = place{dist: d, end: end}
			}
		}
		if dist > tolerance(len(o.letters), it.latin) {
			continue
		}
		m.found++
		if !o.trivial {
			near++
			m.optLetters += len(o.letters)
		}
		for i := range min(len(o.pieces), maxPlaces) {
			s.blot(w, o.pieces[i].letters, places[i])
		}
	}
	if telling > 0 {
		m.options = float64(near) / float64(telling)
	}
}

// optionsInOrder reports whether all options stand in w one after the other,
// letter by letter.
func optionsInOrder(it *item, w []letter) bool {
	for i := range it.options {
		ls := it.options[i].letters
		at := index(w, ls)
		if at < 0 {
			return false
		}
		w = w[at+len(ls):]
	}
	return true
}

// index is strings.Index for letters.
func index(w, ls []letter) int {
	if len(ls) == 0 {
		return 0
	}
	for from := 0; ; {
		i := slices.Index(w[from:], ls[0])
		if i < 0 || len(w)-from-i < len(ls) {
			return -1
		}
		if slices.Equal(w[from+i:from+i+len(ls)], ls) {
			return from + i
		}
		from += i + 1
	}
}

// decide says whether the letters alone make it the item.
func (m *match) decide(it *item, c *Thresholds) {
	exact := m.stemDist == 0 && it.stemLen > 0
	telling := m.options >= 0
	m.same = exact ||
		m.stem >= c.StemSame && m.nats >= c.StemNats ||
		telling && m.stemAbove >= c.StemWithOptions && m.options >= c.OptionsNear ||
		m.stemAbove >= c.StemWithOptions && m.inOrder && it.optionLen >= 8 ||
		telling && m.stemAbove >= c.StemWithAllOptions && m.options >= c.OptionsOnly && m.optLetters >= c.OptionsOnlyLetters
	m.shown = m.stem >= c.StemShown && m.stemAbove >= c.StemWithOptions && m.nats >= c.StemNats ||
		telling && m.options >= c.OptionsOnly && m.optLetters >= c.OptionsOnlyLetters
	m.score = m.stem
	if telling {
		m.score = 0.6*m.stem + 0.4*m.options
	}
	if exact && m.inOrder {
		m.score = 1
	}
}
