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

// nearness holds the least distances of pieces to any place of a text, measured
// two at a time when they are asked for.
type nearness struct {
	m      *matcher
	pieces []piece
	text   []letter
	dist   []int // of the first pieces
}

// of returns the distance of piece i.
func (n *nearness) of(i int) int {
	for i >= len(n.dist) {
		k := len(n.dist)
		if k+1 == len(n.pieces) {
			d, _ := n.m.search(n.pieces[k].letters, n.text)
			n.dist = append(n.dist, d)
			break
		}
		a, b := n.m.least(n.pieces[k].letters, n.pieces[k+1].letters, n.text)
		n.dist = append(n.dist, a, b)
	}
	return n.dist[i]
}

// sum returns the sum of the distances of pieces from to end; false when it is
// more than most.
func (n *nearness) sum(from, end, most int) (dist int, ok bool) {
	for i := from; i < end && dist <= most; i++ {
		dist += n.of(i)
	}
	return dist, dist <= most
}

// least returns the least edit distances of two patterns to any substring of
// text. The steps of one search wait for each other, those of two do not.
func (m *matcher) least(p, q, text []letter) (a, b int) {
	m.mark(p, q)
	a, b = leastOf(m.both, len(p), len(q), text)
	m.unmark(p, q)
	return a, b
}

// mark makes the masks of two patterns.
func (m *matcher) mark(p, q []letter) {
	lowP, lowQ := maxPiece-len(p), maxPiece-len(q)
	for i, l := range p {
		m.both[l][0] |= 1 << (lowP + i)
	}
	for i, l := range q {
		m.both[l][1] |= 1 << (lowQ + i)
	}
	m.both[foreign] = [2]uint64{}
}

// unmark makes the table all zero again.
func (m *matcher) unmark(p, q []letter) {
	for _, l := range p {
		m.both[l] = [2]uint64{}
	}
	for _, l := range q {
		m.both[l] = [2]uint64{}
	}
}

// leastOf is least with the masks made. It is runTwo without places, and apart from
// it since most candidates end here: English text would take 3 % longer. A pattern's
// last letter has the highest bit, so that its row is read by a constant shift; the
// bits below its first letter match everything and cost nothing.
func leastOf(peq [][2]uint64, n, k int, text []letter) (a, b int) {
	lowA, lowB := uint64(1)<<(maxPiece-n)-1, uint64(1)<<(maxPiece-k)-1
	pvA, mvA, pvB, mvB := ^lowA, uint64(0), ^lowB, uint64(0)
	scoreA, scoreB := n, k
	a, b = n, k
	for _, l := range text {
		e := &peq[l]
		eq := e[0] | lowA
		xv := eq | mvA
		xh := (((eq & pvA) + pvA) ^ pvA) | eq
		ph := mvA | ^(xh | pvA)
		mh := pvA & xh
		scoreA += int(ph>>63) - int(mh>>63)
		a = min(a, scoreA)
		ph <<= 1
		pvA = mh<<1 | ^(xv | ph)
		mvA = ph & xv

		eq = e[1] | lowB
		xv = eq | mvB
		xh = (((eq & pvB) + pvB) ^ pvB) | eq
		ph = mvB | ^(xh | pvB)
		mh = pvB & xh
		scoreB += int(ph>>63) - int(mh>>63)
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
	low := maxPiece - len(pattern)
	for i, l := range pattern {
		m.peq[l] |= 1 << (low + i)
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
	low := uint64(1)<<(maxPiece-n) - 1 // see leastOf
	pv, mv := ^low, uint64(0)
	score := n
	dist = n
	peq := m.peq
	for i, l := range text {
		eq := peq[l] | low
		xv := eq | mv
		xh := (((eq & pv) + pv) ^ pv) | eq
		ph := mv | ^(xh | pv)
		mh := pv & xh
		score += int(ph>>63) - int(mh>>63)
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

// searchTwo is search for two patterns at a time; see least.
func (m *matcher) searchTwo(p, q, text []letter) (a, b place) {
	m.mark(p, q)
	a, b = m.runTwo(len(p), len(q), text)
	m.unmark(p, q)
	return a, b
}

// runTwo is run for patterns of n and k letters.
func (m *matcher) runTwo(n, k int, text []letter) (a, b place) {
	lowA, lowB := uint64(1)<<(maxPiece-n)-1, uint64(1)<<(maxPiece-k)-1
	pvA, mvA, pvB, mvB := ^lowA, uint64(0), ^lowB, uint64(0)
	scoreA, scoreB := n, k
	a.dist, b.dist = n, k
	peq := m.both
	for i, l := range text {
		e := &peq[l]
		eq := e[0] | lowA
		xv := eq | mvA
		xh := (((eq & pvA) + pvA) ^ pvA) | eq
		ph := mvA | ^(xh | pvA)
		mh := pvA & xh
		scoreA += int(ph>>63) - int(mh>>63)
		if scoreA <= a.dist {
			a.improve(scoreA, i+1, n)
		}
		ph <<= 1
		pvA = mh<<1 | ^(xv | ph)
		mvA = ph & xv

		eq = e[1] | lowB
		xv = eq | mvB
		xh = (((eq & pvB) + pvB) ^ pvB) | eq
		ph = mvB | ^(xh | pvB)
		mh = pvB & xh
		scoreB += int(ph>>63) - int(mh>>63)
		if scoreB <= b.dist {
			b.improve(scoreB, i+1, k)
		}
		ph <<= 1
		pvB = mh<<1 | ^(xv | ph)
		mvB = ph & xv
	}
	return a, b
}

// improve takes the place that ends at end, of a pattern of n letters, where it is
// nearer than p, or as near and longer; see run.
func (p *place) improve(score, end, n int) {
	if score < p.dist || end-p.end <= p.dist && p.dist < n {
		p.dist, p.end = score, end
	}
}

// start returns where the match of pattern that ends at end with the given
// distance begins, at its longest.
func (m *matcher) start(pattern, text []letter, end, dist int) int {
	if dist >= len(pattern) {
		return end
	}
	return end - m.suffix(pattern, text[max(0, end-len(pattern)-dist):end])
}

// suffix returns the length of the longest suffix of text nearest to pattern. It
// reads both from behind.
func (m *matcher) suffix(pattern, text []letter) int {
	n := len(pattern)
	for i, l := range pattern {
		m.peq[l] |= 1 << (n - 1 - i)
	}
	m.peq[foreign] = 0
	last := uint64(1) << (n - 1)
	pv, mv := ^uint64(0), uint64(0)
	score, best, at := n, n, 0
	for i := range text {
		eq := m.peq[text[len(text)-1-i]]
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
