package question

import (
	"strings"
	"unicode/utf8"
)

// columns says where in a row things stand; -1 for nowhere.
type columns struct {
	id, question, answer, options, wrong, explain, form, figure, lang int
	option                                                            []int
	subject                                                           []int
	header                                                            int  // rows up to and with the header
	truth                                                             bool // every answer says true or false
	first                                                             int  // what the options' names count from, 选项1, 选项2, …; -1 where they do not
}

func noColumns() *columns {
	return &columns{id: -1, question: -1, answer: -1, options: -1, wrong: -1, explain: -1, form: -1, figure: -1, lang: -1, first: -1}
}

// findColumns looks for a header among the first rows, else at what the cells
// hold. It returns nil when the table is no list of items.
func findColumns(rows []tableRow) *columns {
	for i, row := range rows[:min(len(rows), 10)] {
		if i+1 < len(rows) {
			if c := twoRowHeader(row, rows[i+1]); c != nil {
				c.header = i + 2
				c.learn(rows[i+2:])
				return c
			}
		}
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

// twoRowHeader reads a header whose second row names the options that the first
// one only calls options: 题目 | 选项 | | | 答案 over | A | B | C |.
func twoRowHeader(upper, lower tableRow) *columns {
	options := 0
	for i := range lower.cells {
		s := lower.cell(i)
		if s == "" || s == upper.cell(i) { // merged down
			continue
		}
		if what, _ := roleOf(s); what != roleOption {
			return nil
		}
		options++
	}
	if options < 2 {
		return nil
	}
	cells := make([]string, max(len(upper.cells), len(lower.cells)))
	for i := range cells {
		if cells[i] = lower.cell(i); cells[i] == "" {
			cells[i] = upper.cell(i)
		}
	}
	if c := headerRow(cells); c != nil && c.question >= 0 && len(c.option) >= 2 {
		return c
	}
	return nil
}

// headerRow reads a row of column names; nil when it is none.
func headerRow(cells []string) *columns {
	c := noColumns()
	known := 0
	var numbers []int
	first := 0
	letters := map[int]int{}
	for i, s := range cells {
		if utf8.RuneCountInString(s) > 40 {
			return nil
		}
		if n, ok := optionNumber(s); ok {
			if len(numbers) == 0 {
				first = n
			}
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
	c.setOptions(letters, numbers, first)
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
func (c *columns) setOptions(letters map[int]int, numbers []int, first int) {
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
		c.option, c.first = numbers, first
	}
}

// learn finds, by what the cells hold, columns that the header did not name.
func (c *columns) learn(rows []tableRow) {
	if len(rows) == 0 {
		return
	}
	if p := profile(rows, c.answer); c.answer >= 0 && len(c.option) == 0 && c.options < 0 && p.filled > 0 && p.judges == p.filled {
		c.truth = true // F is the letter of no option here
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
	keys                                  int // letters or true/false marks
	top                                   int // the highest option letter
	mean                                  int // characters
}

func profile(rows []tableRow, i int) columnProfile {
	var p columnProfile
	seen := map[string]bool{}
	total := 0
	for _, r := range rows {
		if i < 0 || i >= len(r.cells) {
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
		if readable(s) {
			p.keys++
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
		if f := formColumn(rows, i); f && c.form < 0 {
			c.form = i
		}
		if c.answer < 0 && p.filled*10 >= len(rows)*8 && p.keys == p.filled && p.letters > 0 && !labelColumn(rows, i) {
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
	c.optionsBehind(profiles, len(rows))
	c.learn(rows)
	return c
}

// optionsBehind takes the longest run of text columns behind the stem for the
// options, if they are as many as the answers name.
func (c *columns) optionsBehind(profiles []columnProfile, rows int) {
	for i := c.question + 1; i < len(profiles); i++ {
		if i == c.answer {
			if len(c.option) > 0 {
				break
			}
			continue
		}
		if profiles[i].filled == 0 {
			continue // a column left empty for looks
		}
		if profiles[i].filled*2 < rows && len(c.option) < 2 {
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
}

// formColumn recognises a column that says what kind of item each row is.
func formColumn(rows []tableRow, i int) bool {
	n := 0
	for _, r := range rows {
		s := r.cell(i)
		if s == "" {
			continue
		}
		if _, _, ok := formOf(s); !ok || utf8.RuneCountInString(s) > 6 {
			return false
		}
		n++
	}
	return n*10 >= len(rows)*8
}

// labelColumn recognises a column that runs A, B, C …: the labels of one item's
// options laid out as a table, not the answers of many.
func labelColumn(rows []tableRow, i int) bool {
	if i > 0 || len(rows) > maxOptions {
		return false
	}
	for k, r := range rows {
		if l := readLetters(r.cell(i)); len(l) != 1 || l[0] != k {
			return false
		}
	}
	return true
}
