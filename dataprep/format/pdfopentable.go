package format

import (
	"cmp"
	"slices"
)

// Many programs draw only the lines between a table's rows. Its columns are then
// the strips that no text of any row crosses, named by the header.

// openGrids finds tables whose rows are parted by lines of one length and whose
// columns are parted by nothing. The first row must be a header with text in
// every column.
func openGrids(glyphs []glyph, across []rule) []*pdfGrid {
	const fewest, same = 2, 4.0 // lines, points
	sorted := slices.Clone(across)
	slices.SortFunc(sorted, func(a, b rule) int { return cmp.Compare(a.at, b.at) })
	var out []*pdfGrid
	for len(sorted) >= fewest {
		first := sorted[0]
		var group, others []rule
		for _, r := range sorted {
			if abs(r.from-first.from) <= same && abs(r.to-first.to) <= same {
				group = append(group, r)
			} else {
				others = append(others, r)
			}
		}
		sorted = others
		if len(group) < fewest {
			continue
		}
		if g := openGrid(glyphs, group); g != nil {
			out = append(out, g)
		}
	}
	return out
}

// fewestGaps is how many strips part the columns of an open table at least: two
// columns are as likely a list.
const fewestGaps = 2

// openGrid makes a grid of the lines between rows; nil: the text has no columns.
func openGrid(glyphs []glyph, lines []rule) *pdfGrid {
	x0, x1 := lines[0].from, lines[0].to
	top, bottom := lines[0].at, lines[len(lines)-1].at
	var inside []glyph
	for _, c := range glyphs {
		if y := c.base - 0.3*c.size; y >= top && y <= bottom && c.x1 > x0 && c.x0 < x1 {
			inside = append(inside, c)
		}
	}
	t := unruledText{inside: inside, x0: x0, x1: x1, gaps: strips(inside, x0, x1)}
	if len(t.gaps) < fewestGaps {
		return nil
	}
	g := &pdfGrid{open: true, across: lines}
	for _, l := range lines {
		g.ys = append(g.ys, l.at)
	}
	// the header may have no line above it, a row that goes on overleaf none below
	if y := t.reach(glyphs, top, -1); y < top {
		g.ys = append([]float64{y}, g.ys...)
	}
	if y := t.reach(glyphs, bottom, 1); y > bottom {
		g.ys = append(g.ys, y)
	}
	g.xs = append(g.xs, x0)
	for _, s := range headed(glyphs, t.gaps, g.ys[0], g.ys[1], x0, x1) {
		g.xs = append(g.xs, (s[0]+s[1])/2)
	}
	g.xs = append(g.xs, x1)
	if len(g.xs) < fewestGaps+2 {
		return nil
	}
	for _, x := range g.xs {
		g.down = append(g.down, rule{x, g.ys[0], g.ys[len(g.ys)-1]})
	}
	g.join()
	return g
}

// strips returns the upright strips between x0 and x1 that no glyph touches.
func strips(glyphs []glyph, x0, x1 float64) [][2]float64 {
	const narrow = 3.0
	sorted := slices.Clone(glyphs)
	slices.SortFunc(sorted, func(a, b glyph) int { return cmp.Compare(a.x0, b.x0) })
	var out [][2]float64
	for i, edge := 0, x0; i < len(sorted); i++ {
		if i > 0 && sorted[i].x0-edge >= narrow && edge > x0 && sorted[i].x0 < x1 {
			out = append(out, [2]float64{edge, sorted[i].x0})
		}
		edge = max(edge, sorted[i].x1)
	}
	return out
}

// An unruledText is the text of an open table between x0 and x1 with the strips that
// part its columns.
type unruledText struct {
	inside []glyph
	x0, x1 float64
	gaps   [][2]float64
}

// reach takes in the text that goes on past the table's outermost line, up (-1)
// or down (1), and returns its end: printed lines that follow each other and
// keep to the columns. A header may close strips that are no columns.
func (t *unruledText) reach(glyphs []glyph, edge, way float64) float64 {
	const step, edges = 2.0, 0.6 // em
	var near []glyph
	for _, c := range glyphs {
		if (c.base-0.3*c.size-edge)*way > 0 && c.x1 > t.x0 && c.x0 < t.x1 {
			near = append(near, c)
		}
	}
	slices.SortFunc(near, func(a, b glyph) int { return cmp.Compare(a.base*way, b.base*way) })
	last, complete := edge, way > 0
	for i := 0; i < len(near); {
		j := i
		for j < len(near) && abs(near[j].base-near[i].base) < rowBase*near[i].size {
			j++
		}
		middle := near[i].base - 0.3*near[i].size
		if abs(middle-last) > step*near[i].size {
			break
		}
		inside := append(slices.Clone(t.inside), near[i:j]...)
		gaps := strips(inside, t.x0, t.x1)
		if len(gaps) < fewestGaps || complete && len(gaps) < len(t.gaps) {
			break
		}
		t.inside, t.gaps = inside, gaps
		complete = complete || len(headed(near[:j], gaps, near[j-1].base-near[j-1].size, edge, t.x0, t.x1)) == len(gaps)
		last, i = middle, j
	}
	if last == edge {
		return edge
	}
	return last + way*edges*near[0].size
}

// headed keeps the strips that part columns with a header: one within a column
// has none to its right.
func headed(glyphs []glyph, gaps [][2]float64, top, bottom, x0, x1 float64) [][2]float64 {
	var out [][2]float64
	for i, s := range gaps {
		right := x1
		if i+1 < len(gaps) {
			right = (gaps[i+1][0] + gaps[i+1][1]) / 2
		}
		left := (s[0] + s[1]) / 2
		if slices.ContainsFunc(glyphs, func(c glyph) bool {
			x, y := (c.x0+c.x1)/2, c.base-0.3*c.size
			return y > top && y < bottom && x > left && x < right && x > x0
		}) {
			out = append(out, s)
		}
	}
	return out
}

// wellFilled reports whether a grid without lines between its columns is a table
// beyond doubt: its header has every column, and so have most rows. The more
// columns, the fewer rows will do: the last page of a table may have only one.
func (g *pdfGrid) wellFilled() bool {
	const fewestRows, fewestBoth, most = 2, 7, 0.7
	whole, written := 0, 0
	for i, row := range g.rows {
		n := 0
		for _, c := range row {
			if len(c.glyphs) > 0 {
				n++
			}
		}
		if i == 0 && n < len(row) {
			return false
		}
		if n > 0 {
			written++
		}
		if n == len(row) {
			whole++
		}
	}
	return whole >= fewestRows && whole+len(g.xs)-1 >= fewestBoth && float64(whole) >= most*float64(written)
}
