package contam

import "slices"

// distance is the edit distance of two short texts. foreign letters differ from
// each other, too.
func distance(a, b []letter) int {
	if len(a) > len(b) {
		a, b = b, a
	}
	switch {
	case len(a) == 0:
		return len(b)
	case len(a) > maxPiece:
		return distanceByRows(a, b)
	}
	// Myers' algorithm for one machine word, as in matcher, but from end to end
	var masks letterMasks
	for i, l := range a {
		masks.add(l, uint64(1)<<i)
	}
	last := uint(len(a) - 1)
	pv, mv := ^uint64(0), uint64(0)
	score := len(a)
	for _, l := range b {
		eq := masks.of(l)
		xv := eq | mv
		xh := (((eq & pv) + pv) ^ pv) | eq
		ph := mv | ^(xh | pv)
		mh := pv & xh
		score += int(ph>>(last&63)&1) - int(mh>>(last&63)&1)
		ph = ph<<1 | 1
		mh <<= 1
		pv = mh | ^(xv | ph)
		mv = ph & xv
	}
	return score
}

// letterMasks maps the letters of one pattern to the bits of their places: a
// small table with open addressing, at most half full.
type letterMasks struct {
	keys  [2 * maxPiece]uint32 // letter + 1; 0: free
	masks [2 * maxPiece]uint64
}

func (t *letterMasks) slot(l letter) int {
	key := uint32(l) + 1
	at := key * 0x9E3779B1 >> 25
	for t.keys[at] != 0 && t.keys[at] != key {
		at = (at + 1) % uint32(len(t.keys))
	}
	return int(at)
}

func (t *letterMasks) add(l letter, bits uint64) {
	if l == foreign { // matches nothing
		return
	}
	at := t.slot(l)
	t.keys[at] = uint32(l) + 1
	t.masks[at] |= bits
}

// of returns the bits of a letter, none for one that the pattern has not.
func (t *letterMasks) of(l letter) uint64 { return t.masks[t.slot(l)] }

// distanceByRows is distance for texts of any length.
func distanceByRows(a, b []letter) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i, x := range a {
		prev := row[0]
		row[0] = i + 1
		for j, y := range b {
			cost := prev
			if x != y || x == foreign {
				cost++
			}
			prev = row[j+1]
			row[j+1] = min(cost, row[j]+1, prev+1)
		}
	}
	return row[len(b)]
}

// A pair is a letter of one text beside that of the other; -1 where one has
// none.
type pair struct{ from, to int }

// same reports whether two texts have the same letters.
func same(a, b []letter) bool { return slices.Equal(a, b) && !slices.Contains(a, foreign) }

// An aligner aligns texts. It may be used again.
type aligner struct {
	pairs []pair
	cost  []int32
}

// leastBand is how far from the diagonal align looks at first.
const leastBand = 3

// align returns the pairs of a cheapest alignment, in order; letters that only b
// has are left out. They are valid until the next call.
func (t *aligner) align(a, b []letter) []pair {
	t.pairs = slices.Grow(t.pairs[:0], len(a))[:len(a)]
	out := t.pairs
	// what both end with is paired from the end on in any case
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] && a[len(a)-1] != foreign {
		a, b = a[:len(a)-1], b[:len(b)-1]
		out[len(a)] = pair{len(a), len(b)}
	}
	if len(a) == 0 {
		return out
	}
	// A way of cost d is never more than d off the diagonal.
	band := max(leastBand, len(a)-len(b), len(b)-len(a))
	for t.fill(a, b, band) > band {
		band *= 2
	}
	w := 2*band + 1
	i, j := len(a), len(b)
	for i > 0 {
		at := i*w + j - i + band
		switch c := t.cost[at]; {
		case j > 0 && a[i-1] == b[j-1] && a[i-1] != foreign: // costs nothing, so it is a cheapest way
			i, j = i-1, j-1
			out[i] = pair{i, j}
		case j-i < band && c == t.cost[at-w+1]+1:
			i--
			out[i] = pair{i, -1}
		case j > 0 && c == t.cost[at-w]+1:
			i, j = i-1, j-1
			out[i] = pair{i, j}
		default:
			j--
		}
	}
	return out
}

// fill computes the costs of aligning the first i letters of a with the first j of
// b where i and j differ by at most band, row by row of 2*band+1, and returns that
// of both texts. A cost above band may be too high.
func (t *aligner) fill(a, b []letter, band int) int {
	w := 2*band + 1
	size := (len(a) + 1) * w
	t.cost = slices.Grow(t.cost[:0], size)[:size]
	far := int32(len(a) + len(b))
	for k := range w {
		t.cost[k] = int32(max(0, k-band))
	}
	for i := 1; i <= len(a); i++ {
		row, above := t.cost[i*w:(i+1)*w], t.cost[(i-1)*w:i*w]
		l := a[i-1]
		left := far
		from := band - i // the place of column 0
		for k := range row {
			j := k - from
			switch {
			case j < 0 || j > len(b):
				row[k] = far
				continue
			case j == 0:
				left = int32(i)
				row[k] = left
				continue
			}
			c := above[k]
			if l != b[j-1] || l == foreign {
				c++
			}
			if k+1 < w {
				c = min(c, above[k+1]+1)
			}
			left = min(c, left+1)
			row[k] = left
		}
	}
	return int(t.cost[len(a)*w+len(b)-len(a)+band])
}
