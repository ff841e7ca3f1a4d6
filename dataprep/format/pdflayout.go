package format

import (
	"cmp"
	"slices"
	"unicode"
)

// The layout of a page goes in four steps: glyphs that follow each other in the
// content stream make runs; runs are parted into columns (pdfcolumns.go); the
// runs of a column make rows by their baselines; the glyphs of a row make text
// (pdftext.go). docs/design/010-pdf-layout.md tells why.

// A run is a stretch of glyphs on one baseline without a wide gap.
type run struct {
	glyphs []glyph // no white space at either end
	x0, x1 float64
	base   float64
	size   float64 // of the em, the commonest
	seq    int     // place of the run in the content stream
	shift  int     // +1 superscript, -1 subscript, 0 on the line
}

// A row is what stands on one baseline, left to right.
type row struct {
	runs []run
	base float64
	size float64
}

// A pdfLine is one line of a page in reading order.
type pdfLine struct {
	pdfText
	x0, x1, base, size float64
	angle              int  // of its direction on the page, degrees
	number             int  // on the page, from 1
	running            bool // a header, footer, page number or stamp: left out
	stamp              bool // left out as a stamp, watermark or advertisement
	over, faint        bool // printed over other text; in ink to be looked through

	cells   []string // of a table's row; Text then only serves to compare lines
	grid    *pdfGrid // the row's table
	printed int      // lines the row takes on the page
	joined  bool     // to the row before the turn of the page: left out here
}

// layoutPage puts a page's glyphs in reading order. Text in the direction most
// of the page has comes first; what runs across, such as a stamp, follows.
func layoutPage(glyphs []glyph, strokes []stroke) []pdfLine {
	byAngle := map[int][]glyph{}
	var angles []int
	for _, g := range glyphs {
		if byAngle[g.angle] == nil {
			angles = append(angles, g.angle)
		}
		byAngle[g.angle] = append(byAngle[g.angle], g)
	}
	slices.SortStableFunc(angles, func(a, b int) int {
		return cmp.Or(cmp.Compare(len(byAngle[b]), len(byAngle[a])), cmp.Compare(a, b))
	})
	var lines []pdfLine
	number := 1 // of the next line
	for i, angle := range angles {
		group := byAngle[angle]
		var grids []*pdfGrid
		var over []glyph
		if i == 0 {
			group, over = partOver(group)
		}
		if isUpright(group) {
			group = layDown(group)
		} else if i == 0 && len(strokes) > 0 {
			across, down := rulesOf(strokes, angle)
			grids, group = findGrids(group, across, down)
		}
		found := layoutAround(group, grids, angle)
		for _, l := range layoutText(over, angle) {
			l.over = true
			found = append(found, l)
		}
		for _, l := range found {
			l.number = number
			number += max(1, l.printed)
			lines = append(lines, l)
		}
	}
	return lines
}

// layoutAround lays out text with tables in it: what stands above the first one,
// its rows, and so on down.
func layoutAround(glyphs []glyph, grids []*pdfGrid, angle int) []pdfLine {
	var lines []pdfLine
	for _, g := range grids {
		var above, below []glyph
		for _, c := range glyphs {
			if c.base-0.3*c.size < g.ys[0] {
				above = append(above, c)
			} else {
				below = append(below, c)
			}
		}
		lines = append(lines, layoutText(above, angle)...)
		lines = append(lines, g.lines(angle)...)
		glyphs = below
	}
	return append(lines, layoutText(glyphs, angle)...)
}

// layoutText puts glyphs that run in one direction in reading order.
func layoutText(glyphs []glyph, angle int) []pdfLine {
	var lines []pdfLine
	for _, region := range columns(runsOf(glyphs), 0) {
		for _, w := range rowsOf(region) {
			l := pdfLine{pdfText: w.text(), angle: angle, base: w.base, size: w.size}
			if l.Text == "" {
				continue
			}
			l.x0, l.x1 = w.runs[0].x0, w.runs[0].x1
			l.faint = true
			for _, r := range w.runs {
				l.x1 = max(l.x1, r.x1)
				l.faint = l.faint && r.glyphs[0].ink.faint()
			}
			lines = append(lines, l)
		}
	}
	return lines
}

// Gaps and shifts, in parts of the em.
const (
	runGap    = 1.0  // a wider gap ends a run
	backStep  = 0.5  // so much the next glyph may overlap the last
	sameBase  = 0.12 // baselines this near are one within a run
	rowBase   = 0.3  // and this near within a row
	sizeRatio = 0.82 // glyphs below this part of their neighbour's size may be raised or lowered
)

// runsOf strings glyphs together as the content stream gives them.
func runsOf(glyphs []glyph) []run {
	var runs []run
	var cur []glyph
	flush := func() {
		for len(cur) > 0 && unicode.IsSpace(cur[len(cur)-1].r) {
			cur = cur[:len(cur)-1]
		}
		if len(cur) > 0 {
			r := newRun(cur, len(runs))
			if !printedTwice(runs, r) {
				runs = append(runs, r)
			}
		}
		cur = nil
	}
	for _, g := range glyphs {
		if len(cur) > 0 && !follows(cur[len(cur)-1], g) {
			flush()
		}
		if len(cur) == 0 && unicode.IsSpace(g.r) {
			continue
		}
		if n := len(cur); n > 0 && !unicode.IsSpace(g.r) && overprint(cur[n-1], g) {
			continue
		}
		cur = append(cur, g)
	}
	flush()
	return runs
}

func follows(a, b glyph) bool {
	em := max(a.size, b.size)
	gap := b.x0 - a.x1
	return abs(a.base-b.base) <= sameBase*em && min(a.size, b.size) >= sizeRatio*em &&
		gap <= runGap*em && gap >= -backStep*em
}

// overprint reports whether b is a again, a hair beside it: how some programs
// make bold type.
func overprint(a, b glyph) bool {
	// boxes come from whatever font stands in for one that is not embedded and may
	// be twice as wide as the advance, so the type size bounds the offset, too: no
	// letter, not even the I of III, is set closer than a tenth of it
	near := min(0.4*min(a.x1-a.x0, b.x1-b.x0), 0.1*a.size)
	return a.r == b.r && abs(a.x0-b.x0) < near && abs(a.base-b.base) < 0.2*a.size
}

// printedTwice reports whether r, word for word, stands where one of the last
// runs stands: bold type or a shadow made by printing the line again.
func printedTwice(runs []run, r run) bool {
	const lately = 8
	for _, o := range runs[max(0, len(runs)-lately):] {
		if len(o.glyphs) == len(r.glyphs) && overprint(o.glyphs[0], r.glyphs[0]) &&
			slices.EqualFunc(o.glyphs, r.glyphs, func(a, b glyph) bool { return a.r == b.r }) {
			return true
		}
	}
	return false
}

// dropOverprints takes out type that was printed over the same type again, in
// pieces that printedTwice does not see.
func (w *row) dropOverprints() {
	if len(w.runs) < 2 {
		return
	}
	type printed struct {
		glyph
		run int // in w.runs
	}
	var all []printed
	for i, r := range w.runs {
		for _, g := range r.glyphs {
			all = append(all, printed{g, i})
		}
	}
	slices.SortStableFunc(all, func(a, b printed) int { return cmp.Compare(a.x0, b.x0) })
	const nearby = 16 // glyphs to either side; type is not set closer
	over := make([]int, len(w.runs))
	for i, g := range all {
		for _, h := range all[max(0, i-nearby):min(len(all), i+nearby+1)] {
			if w.runs[h.run].seq < w.runs[g.run].seq && overprint(h.glyph, g.glyph) {
				over[g.run]++
				break
			}
		}
	}
	kept := w.runs[:0:0]
	for i, r := range w.runs {
		const most = 0.7
		if float64(over[i]) < most*float64(len(r.glyphs)) {
			kept = append(kept, r)
		}
	}
	w.runs = kept
}

// isUpright reports whether a group of glyphs is written downwards, as
// classical Chinese and Japanese are: most glyphs stand right under the one
// before.
func isUpright(glyphs []glyph) bool {
	const fewest = 4
	below, wide := 0, 0
	for i, g := range glyphs {
		if isWide(g.r) {
			wide++
		}
		if i == 0 {
			continue
		}
		a := glyphs[i-1]
		middle := (g.x0 + g.x1 - a.x0 - a.x1) / 2
		if step := g.base - a.base; abs(middle) < 0.3*g.size && step > 0.5*g.size && step < 1.7*g.size {
			below++
		}
	}
	return len(glyphs) >= fewest && wide*2 > len(glyphs) && below*3 >= len(glyphs)*2
}

// layDown turns upright type so that its columns become lines, the rightmost
// first.
func layDown(glyphs []glyph) []glyph {
	out := slices.Clone(glyphs)
	for i, g := range glyphs {
		top := g.base - 0.85*g.size // of an em box whose baseline is where fonts put it
		out[i].x0, out[i].x1 = top, top+g.size
		out[i].base = -(g.x0 + g.x1) / 2
	}
	return out
}

func newRun(glyphs []glyph, seq int) run {
	r := run{glyphs: glyphs, x0: glyphs[0].x0, x1: glyphs[0].x1, base: glyphs[0].base, size: glyphs[0].size, seq: seq}
	for _, g := range glyphs {
		r.x0, r.x1 = min(r.x0, g.x0), max(r.x1, g.x1)
	}
	r.size = commonest(glyphs)
	return r
}

// commonest is the size most glyphs have, to a tenth of a point.
func commonest(glyphs []glyph) float64 {
	counts := map[int]int{}
	best, most := 0, 0
	for _, g := range glyphs {
		k := int(g.size*10 + 0.5)
		counts[k]++
		if n := counts[k]; n > most || n == most && k > best {
			best, most = k, n
		}
	}
	return float64(best) / 10
}

// rowsOf gathers runs that share a baseline and hangs raised and lowered small
// type onto the row it belongs to.
func rowsOf(runs []run) []row {
	byBase := slices.Clone(runs)
	slices.SortStableFunc(byBase, func(a, b run) int {
		return cmp.Or(cmp.Compare(a.base, b.base), cmp.Compare(a.x0, b.x0))
	})
	var rows []row
	for _, r := range byBase {
		if n := len(rows); n > 0 && abs(r.base-rows[n-1].base) <= rowBase*min(r.size, rows[n-1].size) && !smallBeside(rows[n-1], r) {
			rows[n-1].add(r)
			continue
		}
		rows = append(rows, row{runs: []run{r}, base: r.base, size: r.size})
	}
	rows = hangScripts(rows)
	for i := range rows {
		rows[i].dropOverprints()
		slices.SortStableFunc(rows[i].runs, func(a, b run) int {
			return cmp.Or(cmp.Compare(a.x0, b.x0), cmp.Compare(a.seq, b.seq))
		})
	}
	return rows
}

// smallBeside reports whether r is so much smaller or larger than the row, and
// off its baseline, that one of them is a script of the other: hangScripts
// decides which.
func smallBeside(w row, r run) bool {
	return abs(r.base-w.base) > sameBase*max(r.size, w.size) &&
		min(r.size, w.size) < sizeRatio*max(r.size, w.size)
}

func (w *row) add(r run) {
	// the baseline of the larger type rules
	if r.size > w.size {
		w.base, w.size = r.base, r.size
	}
	w.runs = append(w.runs, r)
}

// hangScripts moves runs of small type that stand close beside larger type, a
// little above or below, onto the row of that type.
func hangScripts(rows []row) []row {
	const most = 20000 // pairs of two rows; no text has so many
	out := rows[:0:0]
	for i := range rows {
		kept := rows[i].runs[:0:0]
		for _, r := range rows[i].runs {
			host := -1
			for _, j := range []int{i - 1, i + 1} {
				if j >= 0 && j < len(rows) && len(rows[i].runs)*len(rows[j].runs) <= most && r.hangs(rows[j]) &&
					(host < 0 || abs(r.base-rows[j].base) < abs(r.base-rows[host].base)) {
					host = j
				}
			}
			if host < 0 {
				kept = append(kept, r)
				continue
			}
			r.shift = 1
			if r.base > rows[host].base {
				r.shift = -1
			}
			rows[host].runs = append(rows[host].runs, r)
		}
		rows[i].runs = kept
	}
	for _, w := range rows {
		if len(w.runs) == 0 {
			continue
		}
		if !slices.ContainsFunc(w.runs, func(r run) bool { return r.shift == 0 }) {
			for i := range w.runs {
				w.runs[i].shift = 0 // its row was hung elsewhere
			}
		}
		out = append(out, w)
	}
	return out
}

// hangs reports whether r is raised or lowered type of the row h.
func (r *run) hangs(h row) bool {
	if r.shift != 0 || r.size >= sizeRatio*h.size || abs(r.base-h.base) > 0.6*h.size {
		return false
	}
	for _, o := range h.runs {
		if o.shift != 0 || r.size >= sizeRatio*o.size {
			continue
		}
		before, after := o.x0-r.x1, r.x0-o.x1
		if gap := max(before, after); gap > -0.3*h.size && gap < 0.5*h.size || inGap(*r, o, h.size) {
			return true
		}
	}
	return false
}

// inGap reports whether r stands in a space between two glyphs of o.
func inGap(r, o run, em float64) bool {
	for i := 1; i < len(o.glyphs); i++ {
		if o.glyphs[i-1].x1 <= r.x0+0.2*em && r.x1 <= o.glyphs[i].x0+0.2*em {
			return true
		}
	}
	return false
}

func abs(v float64) float64 {
	if v < 0 {
		return -v
	}
	return v
}
