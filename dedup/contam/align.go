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

// align returns the pairs of a cheapest alignment, in order; letters that only b
// has are left out.
func align(a, b []letter) []pair {
	out := make([]pair, len(a))
	if slices.Equal(a, b) && !slices.Contains(a, foreign) {
		for i := range out {
			out[i] = pair{i, i}
		}
		return out
	}
	// what both end with is paired from the end on in any case
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] && a[len(a)-1] != foreign {
		a, b = a[:len(a)-1], b[:len(b)-1]
		out[len(a)] = pair{len(a), len(b)}
	}
	w := len(b) + 1
	cost := make([]int32, (len(a)+1)*w)
	for j := range w {
		cost[j] = int32(j)
	}
	for i := 1; i <= len(a); i++ {
		cost[i*w] = int32(i)
		for j := 1; j < w; j++ {
			sub := cost[(i-1)*w+j-1]
			if a[i-1] != b[j-1] || a[i-1] == foreign {
				sub++
			}
			cost[i*w+j] = min(sub, cost[(i-1)*w+j]+1, cost[i*w+j-1]+1)
		}
	}
	i, j := len(a), len(b)
	for i > 0 {
		switch c := cost[i*w+j]; {
		case j > 0 && c == cost[(i-1)*w+j-1] && a[i-1] == b[j-1] && a[i-1] != foreign:
			i, j = i-1, j-1
			out[i] = pair{i, j}
		case c == cost[(i-1)*w+j]+1:
			i--
			out[i] = pair{i, -1}
		case j > 0 && c == cost[(i-1)*w+j-1]+1:
			i, j = i-1, j-1
			out[i] = pair{i, j}
		default:
			j--
		}
	}
	return out
}
