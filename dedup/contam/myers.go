package contam

// matcher searches patterns of up to 64 letters approximately (Myers 1999, in
// Hyyrö's form for substrings). It holds no state between calls but its table,
// which is all zero then.
type matcher struct {
	peq  []uint64    // by letter
	both [][2]uint64 // the same for two patterns at a time
}

// newMatcher returns a matcher for the letters below end.
func newMatcher(end letter) *matcher {
	return &matcher{peq: make([]uint64, end), both: make([][2]uint64, end)}
}

// atMost returns the sum of the least distances of the pieces to any place of
// the text; false when it is more than most.
func (m *matcher) atMost(pieces []piece, text []letter, most int) (dist int, ok bool) {
	for len(pieces) > 1 {
		a, b := m.least(pieces[0].letters, pieces[1].letters, text)
		if dist += a + b; dist > most {
			return dist, false
		}
		pieces = pieces[2:]
	}
	if len(pieces) == 1 {
		d, _ := m.search(pieces[0].letters, text)
		dist += d
	}
	return dist, dist <= most
}

// least returns the least edit distances of two patterns to any substring of
// text. The steps of one search wait for each other, those of two do not.
func (m *matcher) least(p, q, text []letter) (a, b int) {
	for i, l := range p {
		m.both[l][0] |= 1 << i
	}
	for i, l := range q {
		m.both[l][1] |= 1 << i
	}
	m.both[foreign] = [2]uint64{}
	a, b = leastOf(m.both, len(p), len(q), text)
	for _, l := range p {
		m.both[l] = [2]uint64{}
	}
	for _, l := range q {
		m.both[l] = [2]uint64{}
	}
	return a, b
}

func leastOf(peq [][2]uint64, n, k int, text []letter) (a, b int) {
	lastA, lastB := uint(n-1)&63, uint(k-1)&63
	pvA, mvA, pvB, mvB := ^uint64(0), uint64(0), ^uint64(0), uint64(0)
	scoreA, scoreB := n, k
	a, b = n, k
	for _, l := range text {
		e := &peq[l]
		eq := e[0]
		xv := eq | mvA
		xh := (((eq & pvA) + pvA) ^ pvA) | eq
		ph := mvA | ^(xh | pvA)
		mh := pvA & xh
		scoreA += int(ph>>lastA&1) - int(mh>>lastA&1)
		a = min(a, scoreA)
		ph <<= 1
		pvA = mh<<1 | ^(xv | ph)
		mvA = ph & xv

		eq = e[1]
		xv = eq | mvB
		xh = (((eq & pvB) + pvB) ^ pvB) | eq
		ph = mvB | ^(xh | pvB)
		mh = pvB & xh
		scoreB += int(ph>>lastB&1) - int(mh>>lastB&1)
		b = min(b, scoreB)
		ph <<= 1
		pvB = mh<<1 | ^(xv | ph)
		mvB = ph & xv
	}
	return a, b
}

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
	last := uint(n - 1)
	pv, mv := ^uint64(0), uint64(0)
	score := n
	dist = n
	peq := m.peq
	for i, l := range text {
		eq := peq[l]
		xv := eq | mv
		xh := (((eq & pv) + pv) ^ pv) | eq
		ph := mv | ^(xh | pv)
		mh := pv & xh
		score += int(ph>>(last&63)&1) - int(mh>>(last&63)&1)
		// of equal places that overlap the longest is the truest: it shows a
		// changed last letter as changed, not as missing
		if score <= dist && (score < dist || i+1-end <= dist && dist < n) {
			if dist, end = score, i+1; dist == 0 {
				break
			}
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
