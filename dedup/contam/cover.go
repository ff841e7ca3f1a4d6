package contam

// A candidate in Latin script is easy to come by: texts of one subject share
// many a phrase of a few words. Before its edit distance is taken, the share of
// the stem's short grams that stand in the text around it must be coverLeast.
// Of a stem with every tenth letter wrong, two thirds of the grams are left, and
// some of the others stand there by chance; of another stem on the same subject,
// about a third.
const (
	coverLeast = 0.45
	coverMin   = 24 // grams; fewer say too little
	coverLen   = 4  // letters in a gram
	coverBits  = 15
)

// coverChunk letters of the stream share a set of grams.
const coverChunk = 1024

// coverOf returns the hashes of the grams of the parts.
func coverOf(parts [][]letter) []uint16 {
	var out []uint16
	for _, ls := range parts {
		for i := coverLen; i <= len(ls); i++ {
			out = append(out, coverHash(plainKey(ls[i-coverLen:i])))
		}
	}
	return out
}

func coverHash(key uint64) uint16 { return uint16(key * mix >> (64 - coverBits)) }

// A cover holds which grams begin in each chunk of a stream.
type cover struct {
	sets []*coverSet
	made []bool
}

type coverSet [1 << coverBits / 64]uint64

func (c *cover) reset(letters int) {
	n := letters/coverChunk + 1
	for len(c.sets) < n {
		c.sets = append(c.sets, nil)
		c.made = append(c.made, false)
	}
	clear(c.made)
}

// set returns the grams of one chunk.
func (c *cover) set(ls []letter, chunk int) *coverSet {
	if c.made[chunk] {
		return c.sets[chunk]
	}
	if c.sets[chunk] == nil {
		c.sets[chunk] = new(coverSet)
	}
	set := c.sets[chunk]
	clear(set[:])
	c.made[chunk] = true
	from := chunk * coverChunk
	to := min(len(ls), from+coverChunk+coverLen-1)
	if to-from < coverLen {
		return set
	}
	key := plainKey(ls[from : from+coverLen-1])
	for _, l := range ls[from+coverLen-1 : to] {
		key = key<<16 | uint64(l)
		h := coverHash(key)
		set[h>>6] |= 1 << (h & 63)
	}
	return set
}

// share returns how many of the grams stand in ls[lo:hi] or near it.
func (c *cover) share(grams []uint16, ls []letter, lo, hi int) float64 {
	first, last := lo/coverChunk, max(lo, hi-1)/coverChunk
	n := 0
	switch a := c.set(ls, first); {
	case first == last:
		for _, g := range grams {
			n += int(a[g>>6] >> (g & 63) & 1)
		}
	default:
		for _, g := range grams {
			for k := first; k <= last; k++ {
				if c.set(ls, k)[g>>6]>>(g&63)&1 == 1 {
					n++
					break
				}
			}
		}
	}
	return float64(n) / float64(len(grams))
}
