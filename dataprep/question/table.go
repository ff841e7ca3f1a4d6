package question

import (
	"strings"
	"unicode/utf8"

	"github.com/drydock-ml/drydock"
)

// tableLook is how many rows are held to learn what the columns are.
const tableLook = 60

// A table is the open table or sheet.
type table struct {
	rows    []tableRow
	cols    *columns
	decided bool
	asText  bool // no columns known: rows are read as lines
	sheet   string
	part    string
	form    drydock.QuestionKind // from a section row
	counted stemCount
	open    *tableRow // a stem whose options may stand in the rows below
}

// A stemCount follows the numbers that stems carry in their text where nothing
// else numbers the rows.
type stemCount struct{ last int }

// next returns the number a stem begins with when it goes on with the count,
// else 0.
func (c *stemCount) next(stem string) int {
	m := scanNumber(trim(stem))
	if m.style != numPlain || m.n != c.last+1 {
		return 0
	}
	c.last = m.n
	return m.n
}

type tableRow struct {
	cells  []string
	at     drydock.Locator
	figure string // an image that stands in the row
	shown  []int  // cells whose whole text looks different
}

// tableRow takes the next row; the first ones wait until the columns are known.
func (r *reader) tableRow(b drydock.Block) {
	t := &r.tab
	if b.At.Sheet != t.sheet || b.At.Part != t.part {
		r.endTable()
		t.sheet, t.part = b.At.Sheet, b.At.Part
	}
	empty := true
	for _, c := range b.Cells {
		empty = empty && trim(c) == ""
	}
	if empty {
		return
	}
	row := tableRow{append([]string(nil), b.Cells...), b.At, b.Figure, shownCells(b)}
	if !t.decided {
		t.rows = append(t.rows, row)
		if len(t.rows) >= tableLook {
			r.decideTable()
		}
		return
	}
	r.row(row)
}

// endTable finishes the open table.
func (r *reader) endTable() {
	if !r.tab.decided && len(r.tab.rows) > 0 {
		r.decideTable()
	}
	if open := r.tab.open; open != nil && !r.stopped() {
		r.tab.open = nil
		r.item(*open)
	}
	r.tab = table{}
}

// decideTable learns the columns from the rows held and reads them.
func (r *reader) decideTable() {
	t := &r.tab
	t.decided = true
	rows := t.rows
	t.rows = nil
	if runs := keyTable(rows); runs != nil {
		r.keyRows(rows, runs)
		return
	}
	if c := cards(rows); c != nil {
		rows = c
	}
	var layouts []Layout
	t.cols, layouts = chooseColumns(rows)
	t.asText = t.cols == nil
	if t.cols != nil {
		if g := r.gridOf(rows[0].at); len(g.Layouts) == 0 {
			g.Layouts = layouts
		}
		rows = rows[t.cols.header:]
	}
	for _, row := range rows {
		if r.stopped() {
			return
		}
		r.row(row)
	}
}

// cell returns a cell's text; empty for a column that is not there.
func (t tableRow) cell(i int) string {
	if i < 0 || i >= len(t.cells) {
		return ""
	}
	return trim(repair(untag(t.cells[i])))
}

// row makes an item of a row.
func (r *reader) row(row tableRow) {
	t := &r.tab
	c := t.cols
	if t.asText {
		r.textRow(row)
		return
	}
	if h := headerAgain(row, c.question); h != nil {
		if open := t.open; open != nil {
			t.open = nil
			r.item(*open)
		}
		if h.answer >= 0 || h.question != c.question {
			t.cols = h // the header once more, or the one of the next section
		}
		return
	}
	if form, ok := sectionRow(row); ok {
		if open := t.open; open != nil {
			t.open = nil
			r.item(*open)
		}
		t.form = form
		return
	}
	if t.optionRow(row) {
		return
	}
	if last := t.hold(row); last != nil {
		r.item(*last)
	}
}

// headerAgain reads a row of column names further down, whose name in the column
// of the stems is short; nil for any other row.
func headerAgain(row tableRow, question int) *columns {
	if s := row.cell(question); len(s) > 40 {
		return nil
	} else if what, _ := roleOf(s); what == roleNone {
		return nil
	}
	if h := headerRow(row.cells); h != nil && h.question >= 0 {
		return h
	}
	return nil
}

// item makes an item of a row whose columns are known.
func (r *reader) item(row tableRow) {
	t := &r.tab
	c := t.cols
	d := r.rowDraft(row)
	if exampleOfForm(d.stem) {
		r.give(nil, d.reject(r.doc.File, reasonNotQuestion, "an example of how the form is filled in"))
		return
	}
	if d.stem == "" && len(d.options) == 0 {
		r.give(nil, d.reject(r.doc.File, reasonBadRow, "the row has no question text"))
		return
	}
	if d.ans.text != "" && len(d.options) > 0 {
		if reason, detail := r.indexAnswer(d, c.first, tableIndex(c, t.sheet)); reason != "" {
			r.refuse(d, reason, detail)
			return
		}
	}
	if c.answer < 0 && !d.given && (len(d.options) >= 2 || d.form == drydock.Judge) {
		r.wait(d) // the answers may stand in another table
		return
	}
	r.settle(d)
}

func (r *reader) give(rec *drydock.Record, d *drydock.Drop) {
	if !r.stopped() && !r.emit(rec, d) {
		r.done = true
	}
}

// rowDraft reads the cells by their columns.
func (r *reader) rowDraft(row tableRow) *draft {
	t, c := &r.tab, r.tab.cols
	d := &draft{
		at: row.at, rowID: row.cell(c.id), lang: row.cell(c.lang), form: t.form,
		text: func() string { return strings.Join(trimCells(row.cells), " | ") }, explain: row.cell(c.explain),
	}
	if c.truth && d.form == "" {
		d.form = drydock.Judge
	}
	if f := formValue(row.cell(c.form)); f != "" {
		d.form = f
	}
	for _, i := range c.subject {
		if s := row.cell(i); s != "" {
			d.subject = append(d.subject, s)
		}
	}
	if s := row.cell(c.figure); s != "" {
		d.figures = []string{s}
	}
	if row.figure != "" {
		d.figures = append(d.figures, row.figure)
	}
	a := row.cell(c.answer)
	d.ans, d.given = readAnswer(a), a != ""
	stem := row.cell(c.question)
	switch {
	case len(c.option) > 0:
		cells := make([]string, len(c.option))
		for i, col := range c.option {
			cells[i] = row.cell(col)
		}
		d.options, d.gap = optionCells(cells)
		if c.answer < 0 && d.gap == "" {
			d.byLooks(row.shown, c.option)
		}
	case row.cell(c.options) != "":
		d.options = cellOptions(row.cell(c.options))
	case row.cell(c.wrong) != "":
		d.options = withRight(splitOptions(row.cell(c.wrong)), a)
	}
	if len(d.options) == 0 && d.gap == "" {
		b := splitBody(stem)
		stem, d.options, d.gap = b.stem, b.options, b.gap
		d.doubts = append(d.doubts, b.doubts...)
	}
	n := rowNumber(d.rowID)
	if c.id < 0 {
		n = t.counted.next(stem)
	}
	var form drydock.QuestionKind
	d.stem, form = cleanStem(unwrap(stem), n)
	if form != "" && d.form == "" {
		d.form = form
	}
	if !d.given {
		if in, ok := findInline(d.stem); ok && in.strong {
			d.ans, d.given = in.ans, true
			d.stem = blankOut(d.stem, in)
		}
	}
	return d
}

// exampleOfForm recognises the stem of the row that shows how a form for banks
// is to be filled in: 示例：…, 【样例】….
func exampleOfForm(stem string) bool {
	s := strings.TrimLeft(stem, "【[（(")
	for _, w := range [...]string{"填写示例", "示例", "样例", "范例", "Example", "Sample"} {
		if rest, ok := strings.CutPrefix(s, w); ok {
			r, _ := utf8.DecodeRuneInString(rest)
			return strings.ContainsRune("：:】])）", r) && rest != ""
		}
	}
	return false
}

// rowNumber is a row's id as a number: stems often repeat it.
func rowNumber(id string) int {
	n, w := number(id)
	if w == 0 || w != len(id) {
		return 0
	}
	return n
}

func trimCells(cells []string) []string {
	out := make([]string, len(cells))
	for i, c := range cells {
		out[i] = trim(c)
	}
	for len(out) > 0 && out[len(out)-1] == "" {
		out = out[:len(out)-1]
	}
	return out
}

// cellOptions reads a cell that holds all options, a JSON list included.
func cellOptions(s string) []drydock.Option {
	if strings.HasPrefix(s, "[") || strings.HasPrefix(s, "{") {
		if o := jsonOptionsText(s); o != nil {
			return o
		}
	}
	return labelOptions(splitOptions(s))
}

// withRight adds the right option behind the wrong ones.
func withRight(wrong []string, right string) []drydock.Option {
	if right == "" {
		return labelOptions(wrong)
	}
	return labelOptions(append(append([]string(nil), wrong...), right))
}

// sectionRow recognises a row that only says 多选题.
func sectionRow(row tableRow) (drydock.QuestionKind, bool) {
	only := ""
	for _, c := range row.cells {
		if c = trim(c); c != "" {
			if only != "" && only != c { // merged cells repeat their text
				return "", false
			}
			only = c
		}
	}
	return formHeading(only)
}

// cellsAsText is a row as a line of text.
func cellsAsText(cells []string) string { return strings.Join(trimCells(cells), "\t") }

// cells counts a row for Accepts.
func (s *sampler) cells(cells []string) bool {
	if headerRow(cells) != nil {
		s.header = true
	}
	if s.header {
		return true
	}
	letters, texts := 0, 0
	for _, c := range cells {
		c = trim(c)
		switch {
		case c == "":
		case readLetters(c) != nil || readJudge(c) != "":
			letters++
		case utf8.RuneCountInString(c) >= 4:
			texts++
		}
	}
	if letters >= 1 && texts >= 2 {
		return true
	}
	s.line(cellsAsText(cells))
	return false
}
