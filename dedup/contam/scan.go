package contam

import (
	"iter"
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
	behind []hit // for their order

	maybes [maybeLen]int32 // where seeds end that the filter knows

	weight  [][2]float32 // by item: nats of stem and options hit in this block
	touched []uint32
	chosen  []int32 // by item: number of its window list + 1
	lists   [][]mark

	shift    []shift  // of shifts
	work     []letter // a window's copy for the verification
	dists    []int    // of a nearness
	trial    []place  // of an item's pieces, while it is verified
	placed   []place  // those of the record's matches
	cost     []gapState
	gaps     gapTable
	best     map[uint32]match
	further  map[uint32][]match // by item: more places that are the item by their letters
	order    []uint32           // the items of best
	verified int                // candidates looked at closely, for tests and tuning

	unfolded     unfolded // the fields of a record that has findings
	evidence     evidence
	failed       []uint32 // items that fail the record checked last
	variants     []uint32 // items of which it holds a variant that does not
	seams        bool     // remember the record before
	before, last kept
	left         []uint32 // items close before the seam
}

// A hit is a seed found in the stream.
type hit struct {
	end  int32
	seed uint32
}

// A mark is a hit of one candidate.
type mark struct {
	end   int32   // in the stream
	place int32   // where it ends in the item's letters
	stem  float32 // nats; the other is 0
	opt   float32
}

func markOf(end int32, nats float32, p posting) mark {
	if p.option() {
		return mark{end: end, place: p.end(), opt: nats}
	}
	return mark{end: end, place: p.end(), stem: nats}
}

// Scanner returns a new scanner.
func (ix *Index) Scanner() *Scanner {
	s := &Scanner{
		ix: ix, m: newMatcher(ix.alpha.next),
		weight:  make([][2]float32, len(ix.items)),
		chosen:  make([]int32, len(ix.items)),
		best:    map[uint32]match{},
		further: map[uint32][]match{},

		unfolded: unfolded{alpha: ix.alpha},
		evidence: evidence{buffers: &buffers{}},
	}
	s.add = s.addValue
	return s
}

// maybeLen bounds how many places wait for their look-up in the table.
const maybeLen = 256

// scan finds the seeds of the stream, in the order of their ends. Allowed
// passages are blotted out on the way. It repeats eachSeed for speed: first only
// the filter is asked, without a jump on its answer, so that many questions are
// under way at a time; then the table, where it said yes.
func (s *Scanner) scan() {
	ls := s.text.letters
	s.hits = s.hits[:0]
	for i := seedLen - 1; i < len(ls); i += maybeLen {
		s.others(ls, i, min(len(ls), i+maybeLen))
	}
	for w := 0; w < len(s.text.starts); w += maybeLen {
		s.words(ls, w, min(len(s.text.starts), w+maybeLen))
	}
	s.merge()
}

// merge puts the hits in the order of their ends. Those of four letters are, and behind
// them those of words.
func (s *Scanner) merge() {
	n := 1
	for n < len(s.hits) && s.hits[n-1].end <= s.hits[n].end {
		n++
	}
	if n >= len(s.hits) {
		return
	}
	s.behind = append(s.behind[:0], s.hits[n:]...)
	i, k := n-1, len(s.hits)-1
	for j := len(s.behind) - 1; j >= 0; k-- {
		if i >= 0 && s.hits[i].end > s.behind[j].end {
			s.hits[k] = s.hits[i]
			i--
		} else {
			s.hits[k] = s.behind[j]
			j--
		}
	}
}

// others looks for the seeds of four letters that end in ls[i:end], at most
// maybeLen.
func (s *Scanner) others(ls []letter, i, end int) {
	if allLatin(ls[i-seedLen+1 : end]) {
		return
	}
	n := 0
	filter, maybes := s.ix.seeds.filter, &s.maybes
	var key uint64
	for _, l := range ls[i-seedLen+1 : i] {
		key = key>>16 | uint64(l)<<48
	}
	for k, l := range ls[i:end] {
		key = key>>16 | uint64(l)<<48
		maybes[n&(maybeLen-1)] = int32(i + k)
		if filter.has(key * mix) {
			n++
		}
	}
	s.resolve(ls, maybes[:n], seedLen)
}

// words looks for the seeds that begin in some words of Latin letters, at most
// maybeLen.
func (s *Scanner) words(ls []letter, from, to int) {
	n := 0
	filter, maybes := s.ix.seeds.filter, &s.maybes
	starts := s.text.starts
	for w, p := range starts[from:to] {
		begin, next := int(p), len(ls)
		if begin+latinSeedLen > next {
			break
		}
		if from+w+1 < len(starts) {
			next = int(starts[from+w+1])
		}
		key, strange := latinKey(ls[begin:])
		maybes[n&(maybeLen-1)] = int32(begin + latinSeedLen - 1)
		if filter.has(key * mix) {
			n++
		}
		// not two jumps: where scripts mix, each of the two is as often true as not
		if strange|uint64(next-begin-longestWord-1)>>63 == 0 {
			if last := s.text.lastSeed(from + w); last > begin {
				s.resolve(ls, maybes[:n], latinSeedLen)
				n = 0
				s.lostSpaces(ls, begin+1, last)
			}
		}
	}
	s.resolve(ls, maybes[:n], latinSeedLen)
}

// lostSpaces looks for the seeds of Latin letters that begin in ls[begin:last+1].
func (s *Scanner) lostSpaces(ls []letter, begin, last int) {
	for begin <= last {
		n := min(last+1-begin, maybeLen)
		for i := range n {
			s.maybes[i] = int32(begin + i + latinSeedLen - 1)
		}
		s.resolve(ls, s.maybes[:n], latinSeedLen)
		begin += n
	}
}

// resolve looks seeds of so many letters up that end in these places, where the
// second filter knows them, too. The letters are read again, since an allowed
// passage may have been blotted out meanwhile.
func (s *Scanner) resolve(ls []letter, ends []int32, length int) {
	n := 0
	for _, end := range ends {
		key, _ := keyAt(ls, int(end), length)
		ends[n] = end
		if s.ix.seeds.second.has(key * mix2) {
			n++
		}
	}
	for _, end := range ends[:n] {
		if key, strange := keyAt(ls, int(end), length); strange == 0 {
			s.seed(ls, key, int(end))
		}
	}
}

// keyAt returns the key of so many letters up to end; strange is not 0 where they
// are no seed.
func keyAt(ls []letter, end, length int) (key, strange uint64) {
	if length == seedLen {
		return seedKey(ls[end-seedLen+1:]), 0
	}
	return latinKey(ls[end-latinSeedLen+1:])
}

// seed notes the seed of the key that ends with letter end, if any item has it.
// Where it begins an allowed passage, that is blotted out.
func (s *Scanner) seed(ls []letter, key uint64, end int) {
	p := s.ix.seeds.find(key)
	if p == nil {
		return
	}
	if n := p.plan &^ noPost; n > 0 {
		a := &s.ix.allow[n-1]
		if past := a.mask(ls, end+1); past > 0 {
			// the seeds of both kinds in it, and those that end behind it
			s.hits = slices.DeleteFunc(s.hits, func(h hit) bool {
				return int(h.end) > past-a.length && int(h.end) < past+seedLen
			})
			return
		}
	}
	if p.plan&noPost != 0 {
		return
	}
	s.hits = append(s.hits, hit{int32(end + 1), p.seed - 1})
}

// find runs scan, candidates and verification over the stream; the best match
// of each item is left in s.best.
func (s *Scanner) find() {
	s.scan()
	clear(s.best)
	clear(s.further)
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
		idf, posts := t.of(h.seed)
		for _, p := range posts {
			w := &s.weight[p.item()]
			if w[0] == 0 && w[1] == 0 {
				s.touched = append(s.touched, p.item())
			}
			w[p>>postPlace&1] += idf
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
			idf, posts := t.of(h.seed)
			for _, p := range posts {
				if n := s.chosen[p.item()]; n > 0 {
					lists[n-1] = append(lists[n-1], markOf(h.end, idf, p))
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

// latinShare is the part of StemShare and OptionNats that is enough in Latin
// script. There an item has a seed a word and not a letter, so that damage may
// hit most of them.
const latinShare = 0.4

// fewSeeds letters of a stem have so few seeds that two damaged spots may leave
// one of them.
const fewSeeds = 28

func (c *Thresholds) needs(it *item) need {
	share, nats := c.StemShare, c.OptionNats
	if it.latin {
		share, nats = share*latinShare, nats*latinShare
	}
	stem := float32(share) * it.stemMass
	if it.optionMass == 0 && it.stemLen <= fewSeeds {
		// options too short for a seed: nothing but the stem can tell
		stem = float32(share/3) * it.stemMass
	}
	return need{
		stem:       stem,
		opt:        max(float32(nats), float32(c.OptionShare)*it.optionMass),
		bothStem:   float32(share/3) * it.stemMass,
		bothOption: it.optionMass / 2,
	}
}

func (n *need) met(stem, opt float32) bool {
	return stem > 0 && stem >= n.stem || opt > n.opt || opt > 0 && stem >= n.bothStem && opt >= n.bothOption
}

// windows slides a window over an item's marks and verifies the heaviest places
// that are heavy enough.
func (s *Scanner) windows(i uint32, marks []mark) {
	it, n := &s.ix.items[i], &s.ix.needs[i]
	c := it.limits
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
		if s.check(i, marks[first:at+1], best-optBest, withOptions) {
			return
		}
		// what was looked at weighs no more
		for k := first; k <= at; k++ {
			marks[k].stem, marks[k].opt = 0, 0
		}
	}
}

// check verifies the place of an item where it has these marks; those of the stem
// weigh stem. It reports whether the item stands there letter by letter, so that
// no other place can say more.
func (s *Scanner) check(i uint32, marks []mark, stem float32, withOptions bool) (whole bool) {
	it := &s.ix.items[i]
	ls := s.text.letters
	slack := it.length + 24
	lo := max(0, int(marks[0].end)-slack)
	hi := min(len(ls), int(marks[len(marks)-1].end)+slack)
	if !s.covered(i, marks, lo, hi, withOptions) {
		return false
	}
	s.verified++
	rescue := stem >= rescueShare*it.stemMass && s.stemWhole(i, marks, lo, hi)
	if !rescue && s.hopeless(it, s.stemWindow(i, marks, lo, hi), ls[lo:hi], withOptions) {
		return false
	}
	m := s.verify(it, ls[lo:hi], withOptions)
	if rescue && (!m.same || m.stem < it.limits.StemSame) {
		m = s.rescue(it, ls[lo:hi], m)
	}
	if !m.same && !m.shown {
		return false
	}
	m.lo, m.hi = lo, hi
	s.keep(i, m)
	return m.same && m.stemDist == 0 && m.inOrder
}

// maxFurther bounds the places of one item that are kept beside the best.
const maxFurther = 8

// keep notes a match of item i. A look-alike may score higher than the item
// itself: a variant with all options than the bare stem. So other places are kept,
// too.
func (s *Scanner) keep(i uint32, m match) {
	old, seen := s.best[i]
	if !seen {
		s.order = append(s.order, i)
		s.best[i] = m
		return
	}
	if m.score > old.score {
		s.best[i], m = m, old
	}
	if m.same && m.lo != s.best[i].lo && len(s.further[i]) < maxFurther {
		s.further[i] = append(s.further[i], m)
	}
}

// places returns the matches of item i, the best first.
func (s *Scanner) places(i uint32) iter.Seq[match] {
	return func(yield func(match) bool) {
		if m, ok := s.best[i]; ok && yield(m) {
			for _, m := range s.further[i] {
				if !yield(m) {
					return
				}
			}
		}
	}
}
