package question

import (
	"slices"
	"strings"

	"github.com/drydock-ml/drydock"
)

// keyTable recognises a table of answers: rows 题号 1 2 3 over 答案 B C A, or
// column pairs 题号, 答案 read across. It returns nil for any other table.
func keyTable(rows []tableRow) []keyRun {
	if runs := keyTableAcross(rows); runs != nil {
		return runs
	}
	return keyTableDown(rows)
}

func isNumberHead(s string) bool {
	switch foldName(s) {
	case "题号", "題號", "序号", "序號", "题", "no", "qno", "questionno", "number", "question", "q", "编号", "id", "题目编号", "试题编号":
		return true
	}
	return false
}

func isAnswerHead(s string) bool {
	what, _ := roleOf(s)
	return what == roleAnswer
}

// keyTableAcross reads pairs of rows, numbers over answers.
func keyTableAcross(rows []tableRow) []keyRun {
	if len(rows) < 2 || len(rows)%2 != 0 {
		return nil
	}
	var out []keyRun
	for i := 0; i < len(rows); i += 2 {
		head, ans := rows[i], rows[i+1]
		from := 1
		if !isNumberHead(head.cell(0)) || !isAnswerHead(ans.cell(0)) || len(head.cells) < 2 {
			if from = 0; !countsUp(head) || !allKeys(ans) {
				return nil
			}
		}
		for j := from; j < len(head.cells); j++ {
			n, w := number(head.cell(j))
			if head.cell(j) == "" {
				continue
			}
			if w != len(head.cell(j)) || n == 0 {
				return nil
			}
			if v := ans.cell(j); v != "" {
				out = append(out, keyRun{from: n, to: n, groups: []string{v}, at: ans.at})
			}
		}
	}
	return out
}

// countsUp reports a row without a word at its head that holds numbers one
// after the other, two at least.
func countsUp(row tableRow) bool {
	cells := trimCells(row.cells)
	last := 0
	for i := range cells {
		n, w := number(row.cell(i))
		if w == 0 || w != len(row.cell(i)) || i > 0 && n != last+1 {
			return false
		}
		last = n
	}
	return len(cells) >= 2
}

// allKeys reports a row that holds letters or true/false marks only.
func allKeys(row tableRow) bool {
	for i := range trimCells(row.cells) {
		if !readable(row.cell(i)) {
			return false
		}
	}
	return true
}

// keyTableDown reads columns, numbers beside answers, several pairs in a row.
func keyTableDown(rows []tableRow) []keyRun {
	if len(rows) < 2 {
		return nil
	}
	head := rows[0]
	n := len(trimCells(head.cells))
	if n < 2 || n%2 != 0 {
		return nil
	}
	for i := 0; i < n; i += 2 {
		if !isNumberHead(head.cell(i)) || !isAnswerHead(head.cell(i+1)) {
			return nil
		}
	}
	var out []keyRun
	for i := 0; i < n; i += 2 {
		for _, row := range rows[1:] {
			id, value := row.cell(i), row.cell(i+1)
			v, w := number(id)
			switch {
			case id == "" && value == "":
				continue
			case value == "":
				return nil
			case w == len(id) && w > 0:
				out = append(out, keyRun{from: v, to: v, groups: []string{value}, at: row.at})
				continue
			}
			if !readable(value) || strings.IndexFunc(id, isSpace) >= 0 || !strings.ContainsAny(id, "0123456789") {
				return nil
			}
			out = append(out, keyRun{from: 1, to: 1, code: id, groups: []string{value}, at: row.at})
		}
	}
	return out
}

// keyRows hands a table of answers to the open chapter.
func (r *reader) keyRows(rows []tableRow, runs []keyRun) {
	c := &r.text
	var all []string
	for _, row := range rows {
		all = append(all, cellsAsText(row.cells))
	}
	if len(r.waiting) > 0 && c.cur == nil && len(c.secs) == 0 {
		f := r.doc.File
		if c.keyFile != nil {
			f = c.keyFile
		}
		r.giveWaiting(&keyPart{runs: runs, at: rows[0].at, text: all}, f)
		return
	}
	if !c.zone {
		c.header = nil
		c.openZone()
	}
	l := line{text: all[0], at: rows[0].at}
	c.addKeyRow(keyRow{runs: runs}, l)
	if k := c.lastKey(); k != nil {
		k.text = append(k.text[:len(k.text)-1], all...)
	}
}

// An indexBase is what answers given as numbers count from.
type indexBase struct {
	known bool
	base  int // 0 or 1; -1 when nothing decides it
}

// indexAnswer turns an answer given as a number into a letter. Whether such
// numbers count from 0 or from 1 is settled by the whole file: a 0 says one
// thing, a number as high as the options are many the other; where neither is
// there, the names of the options do, which count from first unless it is below 0.
func (r *reader) indexAnswer(d *draft, first int, read func(drydock.Block) (v []int, n int)) (reason, detail string) {
	all := numbersOf(d.ans.text)
	if len(all) > 1 {
		return r.indexList(d, all, first, read)
	}
	if len(all) == 0 {
		return "", ""
	}
	v := all[0]
	same := -1
	for i, o := range d.options {
		if o.Text == d.ans.text {
			same = i
		}
	}
	if v > len(d.options) {
		return "", "" // a text; judge compares it with the options
	}
	base := r.indexBase(first, read)
	switch {
	case same >= 0 && base >= 0 && same != v-base && v-base < len(d.options):
		return reasonIndex, "the answer " + d.ans.text + " is an option's text and may be a position, too"
	case same >= 0:
		d.ans = answer{letters: []int{same}}
		return "", ""
	case base < 0:
		return reasonIndex, "the answer is the number " + d.ans.text + "; nothing in the file says whether such numbers count from 0 or 1"
	case v-base < 0 || v-base >= len(d.options):
		return reasonOutside, "the answer is number " + d.ans.text + ", there are " + itoa(len(d.options)) + " options"
	}
	d.ans = answer{letters: []int{v - base}}
	r.tell(Note{Code: "answer_by_index", At: d.at, Text: indexNote, Args: []any{v, letter(v - base), base}})
	return "", ""
}

// numbersOf reads an answer given as one number or a list of them; nil when it
// is anything else.
func numbersOf(s string) []int {
	var out []int
	for f := range strings.FieldsFuncSeq(s, func(r rune) bool { return isSpace(r) || strings.ContainsRune(",，、;；|/[]", r) }) {
		n, w := number(f)
		if w != len(f) || len(out) == maxOptions || slices.Contains(out, n) {
			return nil
		}
		out = append(out, n)
	}
	return out
}

// positions returns numbers that may all be places in a list of n options.
func positions(all []int, n int) []int {
	if n < 2 || len(all) == 0 || slices.Max(all) > n {
		return nil
	}
	return all
}

// indexList is indexAnswer for several numbers.
func (r *reader) indexList(d *draft, all []int, first int, read func(drydock.Block) (v []int, n int)) (reason, detail string) {
	if positions(all, len(d.options)) == nil {
		return "", ""
	}
	if l, ok := d.manyTexts(); ok {
		d.ans = answer{letters: l}
		return "", ""
	}
	base := r.indexBase(first, read)
	if base < 0 {
		return reasonIndex, "the answers are the numbers " + d.ans.text + "; nothing in the file says whether such numbers count from 0 or 1"
	}
	letters := make([]int, len(all))
	for i, v := range all {
		if letters[i] = v - base; letters[i] < 0 || letters[i] >= len(d.options) {
			return reasonOutside, "the answer is number " + itoa(v) + ", there are " + itoa(len(d.options)) + " options"
		}
	}
	d.ans = answer{letters: letters}
	r.tell(Note{Code: "answer_by_index", At: d.at, Text: indexNote, Args: []any{all[0], letter(letters[0]), base}})
	return "", ""
}

// indexBase reads the file once more for the evidence.
func (r *reader) indexBase(first int, read func(drydock.Block) (v []int, n int)) int {
	b := &r.base
	if b.known {
		return b.base
	}
	zero, top := false, false
	for blk, err := range r.doc.Blocks(r.ctx) {
		if err != nil {
			continue
		}
		all, n := read(blk)
		for _, v := range all {
			zero = zero || v == 0
			top = top || v == n
		}
	}
	b.known, b.base = true, -1
	switch {
	case zero && !top:
		b.base = 0
	case top && !zero:
		b.base = 1
	case !top && (first == 0 || first == 1):
		b.base = first
	}
	return b.base
}

// tableIndex reads a row's answer and option count for indexBase.
func tableIndex(c *columns, sheet string) func(drydock.Block) (v []int, n int) {
	return func(b drydock.Block) ([]int, int) {
		if b.Cells == nil || b.At.Sheet != sheet {
			return nil, 0
		}
		row := tableRow{cells: b.Cells, at: b.At}
		all := numbersOf(readAnswer(row.cell(c.answer)).text)
		n := 0
		for i, col := range c.option {
			if row.cell(col) != "" {
				n = i + 1
			}
		}
		if len(c.option) == 0 {
			n = len(cellOptions(row.cell(c.options)))
		}
		return positions(all, n), n
	}
}
