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
}

type tableRow struct {
	cells []string
	at    drydock.Locator
}

// columns says where in a row things stand; -1 for nowhere.
type columns struct {
	id, question, answer, options, wrong, explain, form, figure, lang int
	option                                                            []int
	subject                                                           []int
	header                                                            int // rows up to and with the header
}

func noColumns() *columns {
	return &columns{id: -1, question: -1, answer: -1, options: -1, wrong: -1, explain: -1, form: -1, figure: -1, lang: -1}
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
	row := tableRow{append([]string(nil), b.Cells...), b.At}
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
	t.cols = findColumns(rows)
	t.asText = t.cols == nil
	if t.cols != nil {
		rows = rows[t.cols.header:]
	}
	for _, row := range rows {
		if r.stopped() {
			return
		}
		r.row(row)
	}
}

// findColumns looks for a header among the first rows, else at what the cells
// hold. It returns nil when the table is no list of items.
func findColumns(rows []tableRow) *columns {
	for i, row := range rows[:min(len(rows), 10)] {
		if c := headerRow(row.cells); c != nil {
			c.header = i + 1
			c.learn(rows[i+1:])
			if c.question < 0 {
				return nil
			}
			return c
		}
	}
	return byContent(rows)
}

// headerRow reads a row of column names; nil when it is none.
func headerRow(cells []string) *columns {
	c := noColumns()
	known := 0
	var numbers []int
	letters := map[int]int{}
	for i, s := range cells {
		if utf8.RuneCountInString(s) > 40 {
			return nil
		}
		if _, ok := optionNumber(s); ok {
			numbers = append(numbers, i)
			continue
		}
		switch what, v := roleOf(s); what {
		case roleNone:
		case roleSubject:
			c.subject = append(c.subject, i)
			known++
		case roleOption:
			if _, dup := letters[v]; !dup {
				letters[v] = i
			}
		default:
			if p := c.place(what); *p < 0 {
				*p = i
				known++
			}
		}
	}
	c.setOptions(letters, numbers)
	if c.question >= 0 && (c.answer >= 0 || len(c.option) >= 2 || c.options >= 0 || known >= 3) || len(c.option) >= 3 && known >= 1 {
		return c
	}
	return nil
}

// place is where the column of a role is kept.
func (c *columns) place(r role) *int {
	switch r {
	case roleID:
		return &c.id
	case roleQuestion:
		return &c.question
	case roleAnswer:
		return &c.answer
	case roleOptions:
		return &c.options
	case roleWrong:
		return &c.wrong
	case roleExplain:
		return &c.explain
	case roleForm:
		return &c.form
	case roleFigure:
		return &c.figure
	}
	return &c.lang
}

// setOptions takes the option columns: those named A, B, C … from A without a
// gap, else those that are counted.
func (c *columns) setOptions(letters map[int]int, numbers []int) {
	for v := range maxOptions {
		i, ok := letters[v]
		if !ok {
			break
		}
		c.option = append(c.option, i)
	}
	if len(c.option) >= 2 {
		return
	}
	c.option = nil
	if len(numbers) >= 2 {
		c.option = numbers
	}
}

// learn finds, by what the cells hold, columns that the header did not name.
func (c *columns) learn(rows []tableRow) {
	if len(rows) == 0 {
		return
	}
	taken := map[int]bool{c.id: true, c.question: true, c.answer: true, c.options: true, c.wrong: true, c.explain: true, c.form: true, c.figure: true, c.lang: true}
	for _, i := range append(append([]int(nil), c.option...), c.subject...) {
		taken[i] = true
	}
	width := 0
	for _, r := range rows {
		width = max(width, len(r.cells))
	}
	for i := range width {
		if taken[i] {
			continue
		}
		p := profile(rows, i)
		switch {
		case c.answer < 0 && len(c.option) >= 2 && p.filled >= len(rows)*9/10 && p.letters == p.filled && p.top < len(c.option):
			c.answer = i
			taken[i] = true
		case c.question < 0 && p.mean >= 8 && p.letters == 0 && p.filled >= len(rows)*9/10:
			c.question = i
			taken[i] = true
		}
	}
	for i := range width {
		if p := profile(rows, i); c.id < 0 && !taken[i] && p.filled == len(rows) && p.unique == len(rows) && p.code == len(rows) && len(rows) > 1 {
			c.id = i
		}
	}
}

// A columnProfile is what the cells of one column have in common.
type columnProfile struct {
	filled, letters, judges, unique, code int
	top                                   int // the highest option letter
	mean                                  int // characters
}

func profile(rows []tableRow, i int) columnProfile {
	var p columnProfile
	seen := map[string]bool{}
	total := 0
	for _, r := range rows {
		if i >= len(r.cells) {
			continue
		}
		s := trim(r.cells[i])
		if s == "" {
			continue
		}
		p.filled++
		total += utf8.RuneCountInString(s)
		if l := readLetters(s); l != nil {
			p.letters++
			for _, v := range l {
				p.top = max(p.top, v)
			}
		}
		if readJudge(s) != "" {
			p.judges++
		}
		if !seen[s] {
			seen[s] = true
			p.unique++
		}
		if len(s) <= 40 && strings.ContainsAny(s, "0123456789") && strings.IndexFunc(s, func(r rune) bool { return isSpace(r) || r >= 0x2E80 }) < 0 {
			p.code++
		}
	}
	if p.filled > 0 {
		p.mean = total / p.filled
	}
	return p
}

// byContent finds the columns of a table without a header: the stem is the
// widest text, the answer a column of letters or marks, the options the text
// columns between or after them.
func byContent(rows []tableRow) *columns {
	if len(rows) < 2 {
		return nil
	}
	width := 0
	for _, r := range rows {
		width = max(width, len(r.cells))
	}
	if width < 2 || width > 40 {
		return nil
	}
	c := noColumns()
	profiles := make([]columnProfile, width)
	for i := range width {
		p := profile(rows, i)
		profiles[i] = p
		if c.answer < 0 && p.filled*10 >= len(rows)*8 && p.letters == p.filled {
			c.answer = i
		}
	}
	if c.answer < 0 {
		for i, p := range profiles {
			if c.answer < 0 && p.filled*10 >= len(rows)*8 && p.judges == p.filled {
				c.answer = i
			}
		}
	}
	if c.answer < 0 {
		return nil
	}
	for i, p := range profiles {
		if i != c.answer && p.filled*10 >= len(rows)*9 && p.mean >= 6 && (c.question < 0 || p.mean > profiles[c.question].mean*3) {
			c.question = i
		}
	}
	if c.question < 0 {
		return nil
	}
	// the longest run of text columns behind the stem
	for i := c.question + 1; i < width; i++ {
		if i == c.answer {
			if len(c.option) > 0 {
				break
			}
			continue
		}
		if profiles[i].filled*2 < len(rows) && len(c.option) < 2 {
			break
		}
		c.option = append(c.option, i)
	}
	if n := profiles[c.answer]; len(c.option) < 2 || n.letters > 0 && n.top >= len(c.option) {
		if len(c.option) == 1 {
			c.options = c.option[0]
		}
		c.option = nil
	}
	c.learn(rows)
	return c
}

// cell returns a cell's text; empty for a column that is not there.
func (t tableRow) cell(i int) string {
	if i < 0 || i >= len(t.cells) {
		return ""
	}
	return trim(repair(t.cells[i]))
}

// row makes an item of a row.
func (r *reader) row(row tableRow) {
	t := &r.tab
	c := t.cols
	if t.asText {
		r.text.feed(drydock.Block{Text: cellsAsText(row.cells), At: row.at})
		return
	}
	if what, _ := roleOf(row.cell(c.question)); what == roleQuestion {
		if h := headerRow(row.cells); h != nil && h.question == c.question {
			return // the header once more
		}
	}
	if form, ok := sectionRow(row); ok {
		t.form = form
		return
	}
	d := r.rowDraft(row)
	if d.stem == "" && len(d.options) == 0 {
		r.give(nil, d.reject(r.doc.File, reasonBadRow, "the row has no question text"))
		return
	}
	if d.ans.text != "" && len(d.options) > 0 {
		if reason, detail := r.indexAnswer(d, tableIndex(c, t.sheet)); reason != "" {
			r.give(nil, d.reject(r.doc.File, reason, detail))
			return
		}
	}
	r.give(d.finish(r.doc.File))
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
		at: row.at, rowID: row.cell(c.id), lang: row.cell(c.lang), form: t.form, sure: 1,
		text: func() string { return strings.Join(trimCells(row.cells), " | ") }, explain: row.cell(c.explain),
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
	case row.cell(c.options) != "":
		d.options = cellOptions(row.cell(c.options))
	case row.cell(c.wrong) != "":
		d.options = withRight(splitOptions(row.cell(c.wrong)), a)
	}
	if len(d.options) == 0 && d.gap == "" {
		b := splitBody(stem)
		stem, d.options, d.gap = b.stem, b.options, b.gap
		d.sure *= b.sure
	}
	var form drydock.QuestionKind
	d.stem, form = cleanStem(unwrap(stem), rowNumber(d.rowID))
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
