package contam

// matcher searches patterns of up to 64 letters approximately (Myers 1999, in
// Hyyrö's form for substrings). It holds no state between calls but its table,
// which is all zero then.
type matcher struct {
	peq []uint64 // by letter
}

func newMatcher() *matcher { return &matcher{peq: make([]uint64, 1<<16)} }

// search returns the least edit distance between pattern and any substring of
// text, and the end of the first such substring, at its longest. foreign letters match
// nothing.
func (m *matcher) search(pattern, text []letter) (dist, end int) {
	for i, l := range pattern {
		m.peq[l] |= 1 << i
	}
	m.peq[foreign] = 0
	dist, end = m.run(pattern, text)
	for _, l := range pattern {
		m.peq[l] = 0
	}
	return dist, end
}

func (m *matcher) run(pattern, text []letter) (dist, end int) {
	n := len(pattern)
	last := uint64(1) << (n - 1)
	pv, mv := ^uint64(0), uint64(0)
	score := n
	dist = n
	for i, l := range text {
		eq := m.peq[l]
		xv := eq | mv
		xh := (((eq & pv) + pv) ^ pv) | eq
		ph := mv | ^(xh | pv)
		mh := pv & xh
		if ph&last != 0 {
			score++
		} else if mh&last != 0 {
			score--
		}
		// of equal places that overlap the longest is the truest: it shows a
		// changed last letter as changed, not as missing
		if score < dist || score == dist && i+1-end <= dist && dist < n {
			dist, end = score, i+1
		}
		ph <<= 1
		mh <<= 1
		pv = mh | ^(xv | ph)
		mv = ph & xv
	}
	return dist, end
}

// start returns where the match of pattern that ends at end with the given
// distance begins, at its longest.
func (m *matcher) start(pattern, text []letter, end, dist int) int {
	if dist >= len(pattern) {
		return end
	}
	lo := max(0, end-len(pattern)-dist)
	rev := make([]letter, 0, 2*len(pattern)+dist)
	for i := end - 1; i >= lo; i-- {
		rev = append(rev, text[i])
	}
	rp := make([]letter, len(pattern))
	for i, l := range pattern {
		rp[len(pattern)-1-i] = l
	}
	// anchored at the end: the distance of rp to a prefix of rev
	return end - m.prefix(rp, rev)
}

// prefix returns the length of the longest prefix of text nearest to pattern.
func (m *matcher) prefix(pattern, text []letter) int {
	for i, l := range pattern {
		m.peq[l] |= 1 << i
	}
	m.peq[foreign] = 0
	n := len(pattern)
	last := uint64(1) << (n - 1)
	pv, mv := ^uint64(0), uint64(0)
	score, best, at := n, n, 0
	for i, l := range text {
		eq := m.peq[l]
		xv := eq | mv
		xh := (((eq & pv) + pv) ^ pv) | eq
		ph := mv | ^(xh | pv)
		mh := pv & xh
		if ph&last != 0 {
			score++
		} else if mh&last != 0 {
			score--
		}
		if score <= best {
			best, at = score, i+1
		}
		ph = ph<<1 | 1
		mh <<= 1
		pv = mh | ^(xv | ph)
		mv = ph & xv
	}
	for _, l := range pattern {
		m.peq[l] = 0
	}
	return at
}
