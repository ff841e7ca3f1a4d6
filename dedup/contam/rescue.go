package contam

// An item whose words are all there can still be far away as one text: a page
// header, a reply or a gloss stands in the middle of its stem, or its clauses
// have changed places. Where the seeds say so, the stem is measured again.

const (
	// rescueShare of a stem's nats must be hit before that is tried.
	rescueShare = 0.55
	// gapCost is how many edits an interruption counts as, however long.
	gapCost = 2
	// longestGap is the longest interruption, in letters.
	longestGap = 160
	// shortestClause is the fewest letters a clause may have to be searched by
	// itself.
	shortestClause = 4
)

// A how says what of an item's stem was searched as one.
type how uint8

const (
	asPieces  how = iota // the pieces
	asBroken             // the pieces, each of which may be interrupted
	asClauses            // the clauses, in any order
)

// rescue measures an item again whose stem verify has not found as one text, and
// returns the better match.
func (s *Scanner) rescue(it *item, window []letter, m match) match {
	c := it.limits
	broken, clauses := 0, 0
	for i := range it.stem {
		p := &it.stem[i]
		d, _ := s.m.search(p.letters, window)
		broken += min(d, s.gapped(p.letters, window))
	}
	for i := range it.clauses {
		d, _ := s.m.search(it.clauses[i].letters, window)
		clauses += d
	}
	dist, way := broken, asBroken
	if len(it.clauses) > 0 && clauses < broken {
		dist, way = clauses, asClauses
	}
	if dist >= it.stemLen || m.stemDist > 0 && dist >= m.stemDist {
		return m
	}
	base := chance(it.latin)
	r := match{statements: m.statements, options: -1, stemDist: max(1, dist), how: way}
	r.stem = 1 - float64(dist)/float64(it.stemLen)
	r.stemAbove = max(0, (r.stem-base)/(1-base))
	r.nats = r.stem * float64(it.stemMass)
	s.work = append(s.work[:0], window...)
	s.unplaced(it)
	s.options(it, s.work, &r)
	r.decide(it, c)
	if !r.same || m.same && r.stem < c.StemSame {
		return m
	}
	return r
}

// gapped returns the least edit distance between pattern and any substring of
// text in which stretches of up to longestGap letters count as gapCost edits
// where they stand between two letters of the pattern.
func (s *Scanner) gapped(pattern, text []letter) int {
	n := len(pattern)
	s.cost = append(s.cost[:0], make([]gapState, n+1)...)
	cost := s.cost
	for i := range cost {
		cost[i] = gapState{run: i, gap: n}
	}
	best := n
	for j, l := range text {
		diagonal, gapDiagonal := cost[0].run, n
		for i := 1; i <= n; i++ {
			c := &cost[i]
			run, gap := c.run, c.gap
			if gap < n && j-c.from > longestGap {
				gap = n
			}
			next := min(diagonal+1, run+1, cost[i-1].run+1)
			if pattern[i-1] == l && l != foreign {
				next = min(next, diagonal, gapDiagonal)
			}
			diagonal, gapDiagonal = run, gap
			if i < n && run+gapCost < gap {
				c.gap, c.from = run+gapCost, j
			} else {
				c.gap = gap
			}
			c.run = next
		}
		best = min(best, cost[n].run)
	}
	return best
}

// gapState is one cell of gapped: the cost so far, and the cost within an
// interruption that began at letter from.
type gapState struct{ run, gap, from int }
