package contam

import (
	"bytes"
	"slices"
)

// A stretch is a part of a piece and the letters it was found at.
type stretch struct{ from, to, lo, hi int }

// gapTable finds the parts into which interruptions cut a piece, as gapped counts
// their cost, by the way to each cell: letter of the pattern, then of the text, both
// counted from 1. It may be used again.
type gapTable struct {
	row  []gapCell // by letter of the text, behind the last letter of the pattern read
	ways []gapWay
	out  []stretch
}

// gapCell is the least cost so far, and within an interruption behind this letter of
// the pattern, which began at letter start.
type gapCell struct{ cost, gap, start int32 }

// A gapWay is how the least cost of a cell came to be; byGap has added where the
// interruption began.
type gapWay int32

const (
	byMatch gapWay = iota
	bySwap
	byInsert
	byDelete
	byGap  // a match behind an interruption
	gapBit = 3
)

// stretches returns the parts of the pattern, valid until the next call.
func (t *gapTable) stretches(pattern, text []letter) []stretch {
	n, w := len(pattern), len(text)+1
	t.row = slices.Grow(t.row[:0], w)[:w]
	t.ways = slices.Grow(t.ways[:0], (n+1)*w)[:(n+1)*w]
	for j := range t.row {
		t.row[j] = gapCell{gap: int32(n)}
	}
	for i, l := range pattern {
		t.next(int32(i+1), int32(n), l, text, t.ways[(i+1)*w:(i+2)*w])
	}
	return t.parts(n, w)
}

// next moves the row on to letter i of the pattern, of n, and notes the ways.
func (t *gapTable) next(i, n int32, pattern letter, text []letter, ways []gapWay) {
	diagonal := t.row[0]
	left := gapCell{cost: i, gap: n}
	t.row[0], ways[0] = left, byDelete
	row, ways := t.row[1:], ways[1:]
	row, ways = row[:len(text)], ways[:len(text)]
	if pattern == foreign {
		pattern = none // which no text has
	}
	for k, l := range text {
		up := row[k]
		cost, way := diagonal.cost+1, bySwap
		if l == pattern {
			cost, way = diagonal.cost, byMatch
		}
		if left.cost+1 < cost {
			cost, way = left.cost+1, byInsert
		}
		if up.cost+1 < cost {
			cost, way = up.cost+1, byDelete
		}
		if l == pattern && diagonal.gap < cost {
			cost, way = diagonal.gap, byGap|gapWay(diagonal.start)<<gapBit
		}
		j := int32(k + 1)
		if j-left.start > longestGap {
			left.gap = n
		}
		if i < n && cost+gapCost < left.gap {
			left.gap, left.start = cost+gapCost, j
		}
		left.cost = cost
		row[k], ways[k], diagonal = left, way, up
	}
}

// parts walks back from the cheapest end of the whole pattern.
func (t *gapTable) parts(n, w int) []stretch {
	j := 0
	for k := range t.row {
		if t.row[k].cost < t.row[j].cost {
			j = k
		}
	}
	i := n
	out := t.out[:0]
	to, hi := i, j
	for i > 0 {
		switch way := t.ways[i*w+j]; way & (1<<gapBit - 1) {
		case byMatch, bySwap:
			i, j = i-1, j-1
		case byInsert:
			j--
		case byDelete:
			i--
		case byGap:
			i, j = i-1, j-1
			out = append(out, stretch{i, to, j, hi})
			j = int(way >> gapBit)
			to, hi = i, j
		}
	}
	out = append(out, stretch{0, to, j, hi})
	slices.Reverse(out)
	t.out = out
	return out
}

// locateBroken is locate for a piece that something interrupts.
func (e *evidence) locateBroken(p *piece, t *gapTable) {
	parts := t.stretches(p.letters, e.window)
	for k, r := range parts {
		part := *p
		part.letters, part.from, part.more = p.letters[r.from:r.to], p.from+r.from, p.more || k > 0
		e.parts = append(e.parts, part)
		e.pieces = append(e.pieces, found{piece: &e.parts[len(e.parts)-1], place: place{
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
	if k < 0 || k+1 >= len(e.origins) || e.fieldOf(k) != e.fieldOf(k+1) {
		return true
	}
	from, to := e.after(k), int(e.origins[k+1].byte)
	if from >= to {
		return false // both are of one character, as of a ligature
	}
	return bytes.ContainsAny(e.fields[e.fieldOf(k)].text[from:to], "\n()（）[]【】<>{}|「」*_#")
}
