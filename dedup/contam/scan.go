package contam

import (
	"slices"
)

// blockLen letters are weighed together, blockOverlap of them again with the
// next block, so that a long text costs no more per letter than a short one and
// an item that lies across a border is seen whole.
const (
	blockLen     = 8192
	blockOverlap = 2048
)

// A Scanner checks records one after another. It belongs to one goroutine; make
// one for each.
type Scanner struct {
	ix     *Index
	m      *matcher
	add    func(text []byte, number bool) // addValue, bound once
	row    rowScanner
	text   stream
	fields []field
	held   []byte // texts of a record, as bytes
	hits   []hit

	weight  [][2]float32 // by item: nats of stem and options hit in this block
	touched []uint32
	chosen  []int32 // by item: number of its window list + 1
	lists   [][]mark

	work     []letter // a window's copy for the verification
	best     map[uint32]match
	order    []uint32 // the items of best
	verified int      // candidates looked at closely, for tests and tuning
}

// A hit is a seed found in the stream.
type hit struct {
	end  int32
	seed uint32
}

// A mark is a hit of one candidate.
type mark struct {
	end  int32
	stem float32 // nats; the other is 0
	opt  float32
}

// Scanner returns a new scanner.
func (ix *Index) Scanner() *Scanner {
	s := &Scanner{
		ix: ix, m: newMatcher(),
		weight: make([][2]float32, len(ix.items)),
		chosen: make([]int32, len(ix.items)),
		best:   map[uint32]match{},
	}
	s.add = s.addValue
	return s
}

// scan finds the seeds of the stream. Allowed passages are blotted out on the
// way. It repeats eachSeed for speed.
func (s *Scanner) scan() {
	t := &s.ix.seeds
	ls := s.text.letters
	hits := s.hits[:0]
	filter, fshift := t.filter, t.fshift
	var key, latin uint64
	run := 0
	for i := 0; i < len(ls); i++ {
		l := ls[i]
		key = key<<16 | uint64(l)
		k := key
		if l < latinEnd {
			run++
			latin = latin<<6 | uint64(l)
			if run >= seedLen {
				if run < latinSeedLen {
					continue
				}
				k = latinKey(latin)
			}
		} else {
			run = 0
		}
		h := k * mix
		w := filter[h>>fshift]
		if w>>(h>>20&63)&(w>>(h>>26&63))&1 == 0 || i < seedLen-1 {
			continue
		}
		p := t.find(k)
		if p == nil {
			continue
		}
		if p.plan != 0 {
			if n := p.plan &^ noPost; n > 0 {
				a := &s.ix.allow[n-1]
				if end := a.mask(ls, i+1); end > 0 {
					for len(hits) > 0 && int(hits[len(hits)-1].end) > end-a.length {
						hits = hits[:len(hits)-1]
					}
					i, run, key = end-1, 0, 0
					continue
				}
			}
			if p.plan&noPost != 0 {
				continue
			}
		}
		hits = append(hits, hit{int32(i + 1), p.seed - 1})
	}
	s.hits = hits
}

// find runs scan, candidates and verification over the stream; the best match
// of each item is left in s.best.
func (s *Scanner) find() {
	s.scan()
	clear(s.best)
	s.order = s.order[:0]
	n := len(s.text.letters)
	for lo, from := 0, 0; ; lo += blockLen {
		for from < len(s.hits) && int(s.hits[from].end) <= lo {
			from++
		}
		to := from
		for to < len(s.hits) && int(s.hits[to].end) <= lo+blockLen+blockOverlap {
			to++
		}
		if to > from {
			s.block(s.hits[from:to])
		}
		if lo+blockLen >= n {
			break
		}
	}
	slices.Sort(s.order)
}

// block weighs the hits of one block and verifies the candidates.
func (s *Scanner) block(hits []hit) {
	t := &s.ix.seeds
	for _, h := range hits {
		sd := &t.seeds[h.seed]
		idf := sd.idf
		for _, p := range t.post[sd.from:sd.to] {
			w := &s.weight[p.item]
			if w[0] == 0 && w[1] == 0 {
				s.touched = append(s.touched, p.item)
			}
			if p.option {
				w[1] += idf
			} else {
				w[0] += idf
			}
		}
	}
	lists := s.lists[:0]
	for _, i := range s.touched {
		w := s.weight[i]
		s.weight[i] = [2]float32{}
		if s.ix.needs[i].met(w[0], w[1]) {
			if n := len(lists); n < cap(lists) {
				lists = lists[:n+1]
				lists[n] = lists[n][:0]
			} else {
				lists = append(lists, nil)
			}
			s.chosen[i] = int32(len(lists))
		}
	}
	if len(lists) > 0 {
		for _, h := range hits {
			sd := &t.seeds[h.seed]
			for _, p := range t.post[sd.from:sd.to] {
				if n := s.chosen[p.item]; n > 0 {
					m := mark{end: h.end, stem: sd.idf}
					if p.option {
						m = mark{end: h.end, opt: sd.idf}
					}
					lists[n-1] = append(lists[n-1], m)
				}
			}
		}
		for _, i := range s.touched {
			if n := s.chosen[i]; n > 0 {
				s.chosen[i] = 0
				s.windows(i, lists[n-1])
			}
		}
	}
	s.lists = lists
	s.touched = s.touched[:0]
}

// A need is how many nats of an item make it worth a closer look.
type need struct {
	stem, opt            float32 // either of these
	bothStem, bothOption float32 // or both of these: a damaged stem with its options
}

func (c *Config) needs(it *item) need {
	return need{
		stem:       float32(c.StemShare) * it.stemMass,
		opt:        max(float32(c.OptionNats), float32(c.OptionShare)*it.optionMass),
		bothStem:   float32(c.StemShare/3) * it.stemMass,
		bothOption: it.optionMass / 2,
	}
}

func (n *need) met(stem, opt float32) bool {
	return stem > 0 && stem >= n.stem || opt > n.opt || opt > 0 && stem >= n.bothStem && opt >= n.bothOption
}

// windows slides a window over an item's marks and verifies the heaviest places
// that are heavy enough.
func (s *Scanner) windows(i uint32, marks []mark) {
	it, c, n := &s.ix.items[i], &s.ix.config, &s.ix.needs[i]
	width := int32(it.length*9/5 + 40)
	for range 3 {
		var stem, opt, best float32
		at, from := -1, 0
		var optBest float32
		for to, m := range marks {
			stem += m.stem
			opt += m.opt
			for marks[from].end < m.end-width {
				stem -= marks[from].stem
				opt -= marks[from].opt
				from++
			}
			if w := stem + opt; w > best && n.met(stem+0.01, opt) {
				best, optBest, at = w, opt, to
			}
		}
		if at < 0 {
			return
		}
		hi := marks[at].end
		first := at
		for first > 0 && marks[first-1].end >= hi-width {
			first--
		}
		withOptions := float64(optBest) >= c.OptionShare*float64(it.optionMass) && it.optionLen >= c.OptionsOnlyLetters
		s.check(i, int(marks[first].end), int(hi), withOptions)
		if m, ok := s.best[i]; ok && m.same {
			return
		}
		// what was looked at weighs no more
		for k := first; k <= at; k++ {
			marks[k].stem, marks[k].opt = 0, 0
		}
	}
}

// check verifies one place of an item: the marks lie between first and last.
func (s *Scanner) check(i uint32, first, last int, withOptions bool) {
	it := &s.ix.items[i]
	ls := s.text.letters
	slack := it.length + 24
	lo := max(0, min(first-slack, last-slack))
	hi := min(len(ls), max(last, first)+slack)
	s.verified++
	m := s.verify(it, ls[lo:hi], withOptions)
	if !m.same && !m.shown {
		return
	}
	m.lo, m.hi = lo, hi
	old, seen := s.best[i]
	if !seen {
		s.order = append(s.order, i)
	}
	if !seen || m.score > old.score {
		s.best[i] = m
	}
}
