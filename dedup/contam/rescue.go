package contam

import "slices"

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

// A stretch is a part of a piece and the letters it was found at.
type stretch struct{ from, to, lo, hi int }

// stretches returns the parts into which interruptions cut a piece, as gapped
// finds them.
func (t *gapTable) stretches(pattern, text []letter) []stretch {
	t.reset(len(pattern), len(text))
	for i, p := range pattern {
		for j, l := range text {
			t.fill(int32(i+1), int32(j+1), p == l && p != foreign)
		}
	}
	return t.parts()
}

// gapTable is what gapped keeps a column of, with the way to each cell: by letter
// of the pattern, then of the text, both counted from 1. It may be used again.
type gapTable struct {
	n, w  int32
	cells []gapCell
}

type gapCell struct {
	cost  int32
	gap   int32 // cost within an interruption behind this letter of the pattern
	start int32 // where that interruption began
	way   gapWay
}

// A gapWay is how the least cost of a cell came to be.
type gapWay uint8

const (
	byMatch gapWay = iota
	bySwap
	byInsert
	byDelete
	byGap // a match behind an interruption
)

// reset makes the table one for a pattern and a text of so many letters, with its
// first row and column filled.
func (t *gapTable) reset(pattern, text int) {
	t.n, t.w = int32(pattern), int32(text+1)
	size := (pattern + 1) * (text + 1)
	t.cells = slices.Grow(t.cells[:0], size)[:size]
	for j := range t.w {
		t.cells[j] = gapCell{gap: t.n}
	}
	for i := range t.n + 1 {
		t.cells[i*t.w] = gapCell{cost: i, gap: t.n, way: byDelete}
	}
}

// fill computes the cell of letter i of the pattern and letter j of the text, once
// those before it are there; same says that the two letters are.
func (t *gapTable) fill(i, j int32, same bool) {
	at := i*t.w + j
	diagonal, left, up := &t.cells[at-t.w-1], &t.cells[at-1], &t.cells[at-t.w]
	c := gapCell{cost: diagonal.cost + 1, gap: left.gap, start: left.start, way: bySwap}
	if same {
		c.cost, c.way = diagonal.cost, byMatch
	}
	if d := left.cost + 1; d < c.cost {
		c.cost, c.way = d, byInsert
	}
	if d := up.cost + 1; d < c.cost {
		c.cost, c.way = d, byDelete
	}
	if same && diagonal.gap < c.cost {
		c.cost, c.way = diagonal.gap, byGap
	}
	if j-c.start > longestGap {
		c.gap = t.n
	}
	if i < t.n && c.cost+gapCost < c.gap {
		c.gap, c.start = c.cost+gapCost, j
	}
	t.cells[at] = c
}

// parts walks back from the cheapest end of the whole pattern.
func (t *gapTable) parts() []stretch {
	last := t.cells[t.n*t.w:]
	j := 0
	for k := range last {
		if last[k].cost < last[j].cost {
			j = k
		}
	}
	i, w := int(t.n), int(t.w)
	var out []stretch
	to, hi := i, j
	for i > 0 {
		switch t.cells[i*w+j].way {
		case byMatch, bySwap:
			i, j = i-1, j-1
		case byInsert:
			j--
		case byDelete:
			i--
		case byGap:
			i, j = i-1, j-1
			out = append(out, stretch{i, to, j, hi})
			j = int(t.cells[i*w+j].start)
			to, hi = i, j
		}
	}
	out = append(out, stretch{0, to, j, hi})
	slices.Reverse(out)
	return out
}

// locateBroken is locate for a piece that something interrupts.
func (e *evidence) locateBroken(p *piece, t *gapTable) {
	parts := t.stretches(p.letters, e.window)
	for k, r := range parts {
		part := *p
		part.letters, part.from, part.more = p.letters[r.from:r.to], p.from+r.from, p.more || k > 0
		e.pieces = append(e.pieces, found{&part, place{
			dist: distance(part.letters, e.window[r.lo:r.hi]), start: r.lo, end: r.hi,
		}})
		if k > 0 {
			e.gaps = append(e.gaps, [2]int{parts[k-1].hi, r.lo})
		}
	}
}

// interrupted reports whether every gap in the stem is one that lies between
// the lines, turns or brackets of the text. Words put into a sentence make
// another question of it.
func (e *evidence) interrupted() bool {
	return !slices.ContainsFunc(e.gaps, func(g [2]int) bool { return g[0] < g[1] && !e.breaksAt(g[0], g[1]) })
}

// breaksAt reports whether the gap from lo to hi begins and ends at a break, or
// does when it is moved over letters that stand at both of its ends: where they
// belong cannot be told.
func (e *evidence) breaksAt(lo, hi int) bool {
	for k := 0; hi+k <= len(e.window); k++ {
		if e.breaks(lo+k-1) && e.breaks(hi+k-1) {
			return true
		}
		if hi+k == len(e.window) || e.window[lo+k] != e.window[hi+k] {
			break
		}
	}
	for k := 1; lo-k >= 0 && e.window[lo-k] == e.window[hi-k]; k++ {
		if e.breaks(lo-k-1) && e.breaks(hi-k-1) {
			return true
		}
	}
	return false
}

// breaks reports whether a line, a field or a bracket ends or begins between
// letter k of the window and the next.
func (e *evidence) breaks(k int) bool {
	if k < 0 || k+1 >= len(e.offs) || e.fieldOf(k) != e.fieldOf(k+1) {
		return true
	}
	from, to := e.after(k), int(e.offs[k+1])
	if from >= to {
		return false // both are of one character, as of a ligature
	}
	between := e.fields[e.fieldOf(k)].text[from:to]
	return slices.ContainsFunc([]rune(string(between)), func(r rune) bool {
		switch r {
		case '\n', '(', ')', '（', '）', '[', ']', '【', '】', '<', '>', '{', '}', '|', '「', '」', '*', '_', '#':
			return true
		}
		return false
	})
}
