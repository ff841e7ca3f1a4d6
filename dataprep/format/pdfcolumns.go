package format

import (
	"cmp"
	"slices"
	"unicode"
)

// columns parts runs into regions to be read one after the other. Type set in
// columns is told from a table or from options side by side by three signs: the
// content stream goes down one column before it begins the next; lines on both
// sides fill their column; question and option labels go on downwards, not to
// the right.
func columns(runs []run, depth int) [][]run {
	const (
		deepest = 3
		fewest  = 6 // runs; less is no column
	)
	if depth >= deepest || len(runs) < fewest {
		return [][]run{runs}
	}
	var best []band
	score := 0
	rows := rowsOf(runs)
	for _, x := range gutters(runs, len(rows)) {
		if bands, s := partBands(rows, x); s > score {
			best, score = bands, s
		}
	}
	if best == nil {
		return [][]run{runs}
	}
	var regions [][]run
	var across []run // bands read line by line, joined until columns begin
	for _, b := range best {
		if !b.parted {
			across = append(across, b.cross...)
			across = append(across, b.left...)
			across = append(across, b.right...)
			continue
		}
		if len(across) > 0 {
			regions = append(regions, across)
			across = nil
		}
		regions = append(regions, columns(b.left, depth+1)...)
		regions = append(regions, columns(b.right, depth+1)...)
	}
	if len(across) > 0 {
		regions = append(regions, across)
	}
	return regions
}

// A band is a stretch of the page, top to bottom, at one gutter: a line that
// crosses it, or what stands left and right between two such lines.
type band struct {
	cross, left, right []run
	parted             bool // left and right are columns
}

// gutters returns the middles of upright strips that few runs cross.
func gutters(runs []run, rows int) []float64 {
	const (
		bins     = 1.0  // point
		crossers = 0.25 // of the rows may cross
		narrow   = 0.9  // em
	)
	lo, hi := runs[0].x0, runs[0].x1
	var sizes []float64
	for _, r := range runs {
		lo, hi = min(lo, r.x0), max(hi, r.x1)
		sizes = append(sizes, r.size)
	}
	n := int((hi-lo)/bins) + 1
	const widest = 20000 // points; a page is far narrower
	if n < 20 || n > widest {
		return nil
	}
	slices.Sort(sizes)
	em := sizes[len(sizes)/2]
	cover := make([]int, n+1)
	for _, r := range runs {
		for i := int((r.x0 - lo) / bins); i <= int((r.x1-lo)/bins) && i <= n; i++ {
			cover[i]++
		}
	}
	limit := int(crossers * float64(rows))
	var out []float64
	// a strip with nothing in it is better than one that a title crosses, so
	// each level from empty to the limit offers its own
	for _, level := range slices.Compact([]int{0, min(1, limit), min(2, limit), limit / 2, limit}) {
		for i := 0; i < n; {
			j := i
			for j < n && cover[j] <= level {
				j++
			}
			if wide := float64(j-i) * bins; i > 0 && j < n && wide >= narrow*em {
				out = append(out, lo+float64(i+j)/2*bins)
			}
			i = j + 1
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// partBands cuts the page at the rows that cross x and judges what stands
// between them. The score is how many glyphs stand in columns.
func partBands(rows []row, x float64) ([]band, int) {
	var bands []band
	cur := band{}
	score := 0
	flush := func() {
		if len(cur.left)+len(cur.right) > 0 {
			if cur.parted = areColumns(cur.left, cur.right); cur.parted {
				for _, r := range append(slices.Clone(cur.left), cur.right...) {
					score += len(r.glyphs)
				}
			}
			bands = append(bands, cur)
		}
		cur = band{}
	}
	for _, w := range rows {
		if slices.ContainsFunc(w.runs, func(r run) bool { return r.x0 < x && r.x1 > x }) {
			flush()
			bands = append(bands, band{cross: w.runs})
			continue
		}
		for _, r := range w.runs {
			if r.x1 <= x {
				cur.left = append(cur.left, r)
			} else {
				cur.right = append(cur.right, r)
			}
		}
	}
	flush()
	return bands, score
}

// areColumns judges whether two stacks of runs are columns of text.
func areColumns(left, right []run) bool {
	const fewest = 3
	l, r := rowsOf(left), rowsOf(right)
	if len(l) < fewest || len(r) < fewest {
		return false
	}
	lx0, lx1 := extent(left)
	rx0, rx1 := extent(right)
	lw, rw := lx1-lx0, rx1-rx0
	const slim = 0.15 // of both: a column of numbers or marks
	if min(lw, rw) < slim*(lw+rw) {
		return false
	}
	if onlyLabels(l) {
		return false // labels that a list sets apart from their text
	}
	if numbersGoOn(l, r) {
		return true
	}
	across, down := labelSteps(l, r)
	if across > 0 && across >= down {
		return false
	}
	if switches(left, right) <= 1+(len(l)+len(r))/10 {
		return true
	}
	if down >= fewest && across == 0 {
		return true
	}
	const alike = 0.6
	return min(lw, rw) >= alike*max(lw, rw) && fills(l, lx1) && fills(r, rx1)
}

func extent(runs []run) (x0, x1 float64) {
	x0, x1 = runs[0].x0, runs[0].x1
	for _, r := range runs {
		x0, x1 = min(x0, r.x0), max(x1, r.x1)
	}
	return x0, x1
}

// switches counts how often the content stream goes from one side to the other.
func switches(left, right []run) int {
	type mark struct {
		seq  int
		left bool
	}
	var all []mark
	for _, r := range left {
		all = append(all, mark{r.seq, true})
	}
	for _, r := range right {
		all = append(all, mark{r.seq, false})
	}
	slices.SortFunc(all, func(a, b mark) int { return cmp.Compare(a.seq, b.seq) })
	n := 0
	for i := 1; i < len(all); i++ {
		if all[i].left != all[i-1].left {
			n++
		}
	}
	return n
}

// fills reports whether most rows reach the right edge without large holes, as
// running text does and the cells of a table do not.
func fills(rows []row, edge float64) bool {
	const dense = 0.75
	n := 0
	for _, w := range rows {
		x0, x1 := extent(w.runs)
		ink := 0.0
		for _, r := range w.runs {
			ink += r.x1 - r.x0
		}
		if edge-x1 < 1.5*w.size && ink >= dense*(x1-x0) {
			n++
		}
	}
	const most = 0.6
	return float64(n) >= most*float64(len(rows))
}

// labelSteps counts the places where an option label is followed by the next
// one: on the same baseline to the right, or in the same stack below.
func labelSteps(left, right []row) (across, down int) {
	for _, l := range left {
		a := optionLabel(l)
		if a == 0 {
			continue
		}
		for _, r := range right {
			if b := optionLabel(r); b > a && b <= a+2 && abs(l.base-r.base) <= rowBase*l.size {
				across++
			}
		}
	}
	for _, side := range [][]row{left, right} {
		last := rune(0)
		for _, w := range side {
			if a := optionLabel(w); a != 0 {
				if last != 0 && a == last+1 {
					down++
				}
				last = a
			}
		}
	}
	return across, down
}

// numbersGoOn reports whether both stacks hold numbered items that count upwards
// and the right one goes on where the left one ended. The cells of a table that
// is read across never do.
func numbersGoOn(left, right []row) bool {
	const fewest = 2
	l, r := itemNumbers(left), itemNumbers(right)
	return len(l) >= fewest && len(r) >= fewest && slices.IsSorted(l) && slices.IsSorted(r) &&
		r[0] > l[len(l)-1] && r[0] <= l[len(l)-1]+2
}

// itemNumbers returns the numbers with a mark behind them that rows begin with.
func itemNumbers(rows []row) []int {
	var out []int
	for _, w := range rows {
		n, digits := 0, 0
		head := w.head(6)
		for digits < len(head) && digits < 4 && head[digits] >= '0' && head[digits] <= '9' {
			n = n*10 + int(head[digits]-'0')
			digits++
		}
		if digits == 0 || digits >= len(head) || !isLabelMark(head[digits]) {
			continue
		}
		if digits+1 < len(head) && unicode.IsDigit(head[digits+1]) {
			continue // a decimal
		}
		out = append(out, n)
	}
	return out
}

// onlyLabels reports whether every row is a list number or an option letter with
// nothing behind it.
func onlyLabels(rows []row) bool {
	for _, w := range rows {
		head := w.head(6)
		if len(head) > 5 || len(head) < 2 || !isLabelMark(head[len(head)-1]) {
			return false
		}
		for _, c := range head[:len(head)-1] {
			if !unicode.IsDigit(c) && !unicode.IsUpper(c) && !unicode.IsLower(c) && c != '(' && c != '（' {
				return false
			}
		}
	}
	return true
}

// head returns the first n characters of a row, white space left out.
func (w row) head(n int) []rune {
	head := make([]rune, 0, n)
	for _, r := range w.runs {
		for _, g := range r.glyphs {
			if len(head) == n {
				return head
			}
			if !unicode.IsSpace(g.r) {
				head = append(head, g.r)
			}
		}
	}
	return head
}

func isLabelMark(r rune) bool {
	switch r {
	case '.', '．', '、', ')', '）', ']', '】', ':', '：', '，', ',':
		return true
	}
	return false
}

// optionLabel returns A–H when the row begins with such a label, bare before a
// stop or in brackets; else 0.
func optionLabel(w row) rune {
	head := w.head(3)
	if len(head) > 0 && (head[0] == '(' || head[0] == '（' || head[0] == '[' || head[0] == '【') {
		head = head[1:]
	}
	if len(head) < 2 {
		return 0
	}
	letter := head[0]
	if letter >= 'Ａ' && letter <= 'Ｈ' {
		letter -= 'Ａ' - 'A'
	}
	letter = unicode.ToUpper(letter)
	if letter < 'A' || letter > 'H' {
		return 0
	}
	if isLabelMark(head[1]) {
		return letter
	}
	return 0
}
