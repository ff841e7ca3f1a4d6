package format

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// A pdfGrid is a ruled table on a page, in the frame of its text.
type pdfGrid struct {
	xs, ys       []float64 // the lines, outermost included
	across, down []rule
	rows         [][]gridCell // by row and column
	owner        []int        // of each place, the place of the cell that it is part of
	glyphs       int          // in all cells
	open         bool         // no lines part its columns
	cells        [][]string   // the text of the rows that have some
}

type gridCell struct{ glyphs []glyph }

// findGrids looks for ruled tables and takes their glyphs out of the page's. A
// table has at least two columns and three rows with text in them; what is
// drawn for looks, forms and diagrams mostly have not. Grids come from top to
// bottom.
func findGrids(glyphs []glyph, across, down []rule) (grids []*pdfGrid, rest []glyph) {
	const fewest, most = 2, 1000
	if len(across) < fewest || len(across) > most || len(down) > most {
		return nil, glyphs
	}
	rest = glyphs
	for _, g := range connected(across, down) {
		if !g.measure() {
			continue
		}
		if left, ok := g.take(rest); ok {
			grids, rest = append(grids, g), left
		}
	}
	if len(grids) == 0 {
		for _, g := range openGrids(rest, across) {
			if left, ok := g.take(rest); ok && g.wellFilled() {
				grids, rest = append(grids, g), left
			}
		}
	}
	slices.SortFunc(grids, func(a, b *pdfGrid) int { return int(a.ys[0] - b.ys[0]) })
	for i := 1; i < len(grids); i++ {
		if grids[i].ys[0] < grids[i-1].ys[len(grids[i-1].ys)-1]-meeting {
			return nil, glyphs // side by side, or one in the other
		}
	}
	return grids, rest
}

// connected parts lines into groups that hang together.
func connected(across, down []rule) []*pdfGrid {
	group := make([]int, len(across)+len(down))
	for i := range group {
		group[i] = i
	}
	find := func(i int) int {
		for group[i] != i {
			group[i] = group[group[i]]
			i = group[i]
		}
		return i
	}
	for i, h := range across {
		for j, v := range down {
			if v.at >= h.from-meeting && v.at <= h.to+meeting && h.at >= v.from-meeting && h.at <= v.to+meeting {
				a, b := find(i), find(len(across)+j)
				group[max(a, b)] = min(a, b)
			}
		}
	}
	byRoot := map[int]*pdfGrid{}
	var out []*pdfGrid
	for i := range group {
		root := find(i)
		g := byRoot[root]
		if g == nil {
			g = &pdfGrid{}
			byRoot[root] = g
			out = append(out, g)
		}
		if i < len(across) {
			g.across = append(g.across, across[i])
		} else {
			g.down = append(g.down, down[i-len(across)])
		}
	}
	return out
}

// measure finds the columns and rows of a group of lines. A side that is left
// open ends where the lines across it end.
func (g *pdfGrid) measure() bool {
	const mostPlaces = 20000
	if len(g.across) < 2 || len(g.down) < 1 {
		return false
	}
	g.xs, g.ys = places(g.down, g.across), places(g.across, g.down)
	if len(g.xs) < 3 || len(g.ys) < 2 || len(g.xs)*len(g.ys) > mostPlaces {
		return false
	}
	g.join()
	return true
}

// places returns where lines stand, and where those across them end far outside.
func places(lines, others []rule) []float64 {
	const narrow, outside = 4.0, 8.0
	at := make([]float64, 0, len(lines)+2)
	for _, l := range lines {
		at = append(at, l.at)
	}
	slices.Sort(at)
	lo, hi := at[0], at[len(at)-1]
	first, last := lo, hi
	for _, o := range others {
		first, last = min(first, o.from), max(last, o.to)
	}
	if first < lo-outside {
		at = append(at, first)
	}
	if last > hi+outside {
		at = append(at, last)
	}
	slices.Sort(at)
	return slices.CompactFunc(at, func(a, b float64) bool { return abs(b-a) < narrow })
}

// join finds for each place of the grid the cell it belongs to: places without
// a line between them are one.
func (g *pdfGrid) join() {
	cols, rows := len(g.xs)-1, len(g.ys)-1
	g.owner = make([]int, cols*rows)
	for i := range g.owner {
		g.owner[i] = i
	}
	find := func(i int) int {
		for g.owner[i] != i {
			i = g.owner[i]
		}
		return i
	}
	merge := func(i, j int) {
		a, b := find(i), find(j)
		g.owner[max(a, b)] = min(a, b)
	}
	for r := range rows {
		for c := range cols {
			if c+1 < cols && !hasRule(g.down, g.xs[c+1], (g.ys[r]+g.ys[r+1])/2) {
				merge(r*cols+c, r*cols+c+1)
			}
			if r+1 < rows && !hasRule(g.across, g.ys[r+1], (g.xs[c]+g.xs[c+1])/2) {
				merge(r*cols+c, (r+1)*cols+c)
			}
		}
	}
	for i := range g.owner {
		g.owner[i] = find(i)
	}
}

func hasRule(rules []rule, at, middle float64) bool {
	return slices.ContainsFunc(rules, func(r rule) bool {
		return abs(r.at-at) <= meeting+1 && r.from <= middle && r.to >= middle
	})
}

// take fills the cells with the glyphs that stand in them and returns the
// others; false: the lines are no table.
func (g *pdfGrid) take(glyphs []glyph) ([]glyph, bool) {
	cols, rows := len(g.xs)-1, len(g.ys)-1
	g.rows = make([][]gridCell, rows)
	for i := range g.rows {
		g.rows[i] = make([]gridCell, cols)
	}
	rest := make([]glyph, 0, len(glyphs))
	var pieces []gridPiece
	beside, crossing := 0, 0
	apart := true // from the glyph before
	for _, c := range glyphs {
		x, y := (c.x0+c.x1)/2, c.base-0.3*c.size
		col, row := spaceOf(g.xs, x), spaceOf(g.ys, y)
		if row >= 0 && col < 0 {
			beside++
		}
		if row < 0 || col < 0 {
			rest = append(rest, c)
			apart = true
			continue
		}
		for _, edge := range g.xs[1:cols] {
			quarter := (c.x1 - c.x0) / 4
			if edge > c.x0+quarter && edge < c.x1-quarter && hasRule(g.down, edge, y) {
				crossing++
			}
		}
		o := g.owner[row*cols+col]
		if last := len(pieces) - 1; apart || pieces[last].cell != o {
			pieces = append(pieces, gridPiece{cell: o, apart: apart})
		}
		p := &pieces[len(pieces)-1]
		p.glyphs = append(p.glyphs, c)
		g.glyphs++
		apart = false
	}
	g.gather(pieces)
	const few = 0.02
	limit := 2 + int(few*float64(g.glyphs))
	return rest, beside <= limit && crossing <= limit && g.filled()
}

// A gridPiece is what the content stream writes into one cell before it goes on
// elsewhere.
type gridPiece struct {
	cell   int  // its place
	apart  bool // text outside the table came before it
	glyphs []glyph
}

// gather puts pieces into their cells. Text that is too high for its row stands
// over the rows above and below it, where it is cut off for the eye only: what
// the stream writes downwards in one go, over text that it writes at another
// time, is all of the cell in its middle.
func (g *pdfGrid) gather(pieces []gridPiece) {
	cols := len(g.xs) - 1
	times := map[int]int{}
	for _, p := range pieces {
		times[p.cell]++
	}
	for i := 0; i < len(pieces); {
		j := i + 1
		for j < len(pieces) && !pieces[j].apart && pieces[j].cell%cols == pieces[i].cell%cols && pieces[j].cell > pieces[j-1].cell {
			j++
		}
		chain := pieces[i:j]
		first, last := chain[0].glyphs[0], chain[len(chain)-1].glyphs
		over := len(chain) > 1 && slices.ContainsFunc(chain, func(p gridPiece) bool { return times[p.cell] > 1 })
		middle := spaceOf(g.ys, (first.base-first.size+last[len(last)-1].base)/2)
		for _, p := range chain {
			o := p.cell
			if over && middle >= 0 {
				o = g.owner[middle*cols+o%cols]
			}
			cell := &g.rows[o/cols][o%cols]
			cell.glyphs = append(cell.glyphs, p.glyphs...)
		}
		i = j
	}
}

// spaceOf returns the space between two of the lines that v stands in; -1: it
// stands outside.
func spaceOf(lines []float64, v float64) int {
	if v < lines[0]-1 || v > lines[len(lines)-1]+1 {
		return -1
	}
	i, _ := slices.BinarySearch(lines, v)
	return min(max(i-1, 0), len(lines)-2)
}

// filled reports whether text stands in the cells as it does in a table: most
// rows have all columns, and at least three of them some text in two. What goes
// on from another page may be one row or two, whose first has text everywhere.
func (g *pdfGrid) filled() bool {
	const fewestRows, fewestCols, share, most = 3, 2, 0.4, 0.6
	cols := len(g.xs) - 1
	byCol := make([]int, cols)
	full, whole, written, texts := 0, 0, 0, 0
	for r, row := range g.rows {
		n, merged := 0, false
		for c, cell := range row {
			if len(cell.glyphs) > 0 {
				byCol[c]++
				n++
			}
			merged = merged || c > 0 && g.owner[r*cols+c] == g.owner[r*cols+c-1]
		}
		texts += n
		if n > 0 {
			written++
		}
		if n >= 2 && !merged {
			full++
		}
		if r == 0 && n == cols {
			whole++
		}
	}
	if written < fewestRows {
		return whole > 0 && cols > fewestRows
	}
	used := 0
	for _, n := range byCol {
		if n >= 2 {
			used++
		}
	}
	return full >= fewestRows && used >= fewestCols &&
		float64(full) >= most*float64(written) && float64(texts) >= share*float64(full*used)
}

// lines gives the table's rows that have text.
func (g *pdfGrid) lines(angle int) []pdfLine {
	var out []pdfLine
	for _, row := range g.rows {
		l := pdfLine{angle: angle, x0: g.xs[0], x1: g.xs[len(g.xs)-1], cells: make([]string, len(row)), grid: g}
		for i, c := range row {
			printed := rowsOf(runsOf(c.glyphs))
			if len(printed) == 0 {
				continue
			}
			if l.printed == 0 || printed[0].base < l.base {
				l.base, l.size = printed[0].base, printed[0].size
			}
			l.printed = max(l.printed, len(printed))
			l.cells[i] = gridText(printed)
		}
		if l.printed == 0 {
			continue
		}
		l.Text = strings.Join(l.cells, "  ")
		g.cells = append(g.cells, l.cells)
		out = append(out, l)
	}
	return out
}

// gridText joins the printed lines of a cell. Where one begins like an option or
// an item, it stays a line.
func gridText(printed []row) string {
	s := ""
	for _, w := range printed {
		t := w.text()
		text := t.Text
		if s != "" && looksLikeItem(t.Text) {
			s += "\n" + text
			continue
		}
		s = joinWrapped(s, text)
	}
	return s
}

// joinWrapped joins what wrapping at a cell's edge parted.
func joinWrapped(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	last, _ := utf8.DecodeLastRuneInString(a)
	first, _ := utf8.DecodeRuneInString(b)
	if isWide(last) || isWide(first) || last == '-' {
		return a + b
	}
	return a + " " + b
}

// joinTables puts a row together that the turn of the page parted: in the column
// of numbers only one of the parts has one. The header may stand again between.
func joinTables(page, next *pdfPage) {
	const outside = 3 // printed lines between table and edge: headers, footers
	above := slices.IndexFunc(next.lines, func(l pdfLine) bool { return l.cells != nil })
	below := len(page.lines) - 1
	for below >= 0 && page.lines[below].cells == nil {
		below--
	}
	if above < 0 || above > outside || below < 0 || len(page.lines)-1-below > outside {
		return
	}
	a, b := &page.lines[below], &next.lines[above]
	if !sameColumns(a.grid, b.grid) {
		return
	}
	if slices.Equal(a.grid.cells[0], b.cells) {
		if above++; above >= len(next.lines) || next.lines[above].grid != b.grid {
			return
		}
		b = &next.lines[above]
	}
	for c := range a.cells {
		if (a.cells[c] == "") == (b.cells[c] == "") || !countsRows(a.grid, a.cells, c) {
			continue
		}
		for i, s := range b.cells {
			a.cells[i] = joinWrapped(a.cells[i], s)
		}
		b.joined = true
		b.grid.cells = slices.DeleteFunc(b.grid.cells, func(row []string) bool { return &row[0] == &b.cells[0] })
		return
	}
}

// countsRows reports whether every row of a column but the one given has a
// number in it; the first row may be a header.
func countsRows(g *pdfGrid, but []string, c int) bool {
	n := 0
	for i, row := range g.cells {
		if &row[0] == &but[0] {
			continue
		}
		if s := row[c]; s != "" && strings.Trim(s, "0123456789") == "" {
			n++
		} else if i > 0 {
			return false
		}
	}
	return n >= 2
}

func sameColumns(a, b *pdfGrid) bool {
	if a.open && b.open {
		return len(a.xs) == len(b.xs) // where they part depends on each page's text
	}
	return slices.EqualFunc(a.xs, b.xs, func(x, y float64) bool { return abs(x-y) <= meeting })
}
