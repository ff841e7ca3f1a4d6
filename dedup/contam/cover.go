package contam

// A candidate in Latin script is easy to come by: texts of one subject share
// many a phrase of a few words. Before its edit distance is taken, the share of
// its short grams that stand in the text around it must be coverLeast. Of a stem
// with every tenth letter wrong, two thirds of the grams are left, and some of
// the others stand there by chance; of another stem on the same subject, about a
// third.
const (
	coverLeast = 0.45
	coverWhole = 0.7 // all words are there, if not in their order
	coverMin   = 24  // grams; fewer say too little
	coverLen   = 4   // letters in a gram
	coverBits  = 15
)

// coverChunk letters of the stream share a set of grams.
const coverChunk = 1024

// itemGrams are the hashes of an item's grams; nil where they are not asked for.
type itemGrams struct{ stem, options []uint16 }

func gramsOf(it *item) (g itemGrams) {
	if !it.latin {
		return g
	}
	for _, ls := range it.segments {
		g.stem = appendGrams(g.stem, ls)
	}
	for i := range it.options {
		g.options = appendGrams(g.options, it.options[i].letters)
	}
	if len(g.stem) < coverMin {
		g.stem = nil
	}
	return g
}

func appendGrams(grams []uint16, ls []letter) []uint16 {
	for i := coverLen; i <= len(ls); i++ {
		grams = append(grams, coverHash(plainKey(ls[i-coverLen:i])))
	}
	return grams
}

func plainKey(ls []letter) uint64 {
	var key uint64
	for _, l := range ls {
		key = key<<16 | uint64(l)
	}
	return key
}

func coverHash(key uint64) uint16 { return uint16(key * mix >> (64 - coverBits)) }

// A coverSet says which grams stand in a stretch of letters.
type coverSet [1 << coverBits / 64]uint64

// fill makes the set that of ls.
func (c *coverSet) fill(ls []letter) {
	clear(c[:])
	if len(ls) < coverLen {
		return
	}
	key := plainKey(ls[:coverLen-1])
	for _, l := range ls[coverLen-1:] {
		key = key<<16 | uint64(l)
		h := coverHash(key)
		c[h>>6] |= 1 << (h & 63)
	}
}

// share returns the share of the grams that the set has.
func (c *coverSet) share(grams []uint16) float64 {
	n := 0
	for _, g := range grams {
		if c[g>>6&(1<<coverBits/64-1)]&(1<<(g&63)) != 0 {
			n++
		}
	}
	return float64(n) / float64(len(grams))
}

// A cover holds the grams of a stream, chunk by chunk, as far as they have been
// asked for.
type cover struct {
	sets []*coverSet
	made []bool
	near coverSet
}

func (c *cover) reset(letters int) {
	for n := letters/coverChunk + 1; len(c.sets) < n; {
		c.sets = append(c.sets, nil)
		c.made = append(c.made, false)
	}
	clear(c.made)
}

// share returns the share of the grams that stand in the chunks of ls[lo:hi].
func (c *cover) share(grams []uint16, ls []letter, lo, hi int) float64 {
	first, last := lo/coverChunk, max(lo, hi-1)/coverChunk
	for k := first; k <= last; k++ {
		if !c.made[k] {
			c.made[k] = true
			if c.sets[k] == nil {
				c.sets[k] = new(coverSet)
			}
			c.sets[k].fill(ls[k*coverChunk : min(len(ls), (k+1)*coverChunk+coverLen-1)])
		}
	}
	if first == last {
		return c.sets[first].share(grams)
	}
	n := 0
	for _, g := range grams {
		for _, set := range c.sets[first : last+1] {
			if set[g>>6]&(1<<(g&63)) != 0 {
				n++
				break
			}
		}
	}
	return float64(n) / float64(len(grams))
}

// covered returns the share of the item's grams that stand around its marks in
// the window from lo to hi; 1 where it is not asked for.
func (s *Scanner) covered(i uint32, marks []mark, lo, hi int, withOptions bool) float64 {
	g := &s.ix.covers[i]
	if g.stem == nil || withOptions && len(g.options) < coverMin {
		return 1
	}
	ls := s.text.letters
	stem := s.cover.share(g.stem, ls, lo, hi)
	first, last := -1, -1
	for _, m := range marks {
		if m.stem > 0 {
			if last = int(m.end); first < 0 {
				first = last
			}
		}
	}
	if stem >= coverLeast && first >= 0 {
		// nearer: the stem lies around its marks
		reach := s.ix.items[i].stemLen + coverReach
		s.cover.near.fill(ls[max(lo, first-reach):min(hi, last+reach)])
		stem = s.cover.near.share(g.stem)
	}
	if stem < coverLeast && withOptions {
		return s.cover.share(g.options, ls, lo, hi)
	}
	return stem
}

// coverReach letters may stand between parts of a stem: an option in its blank.
const coverReach = 64
