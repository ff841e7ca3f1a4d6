package question

import (
	"strings"

	"github.com/drydock-ml/drydock"
)

// A table need not have one item a row. A card has the names in its first column
// and one item in the second; a stem may have its options in the rows below it;
// the answers may stand in a table of their own.

// cards turns tables of names and values, 题目 | …, 选项A | …, 答案 | …, into rows
// under a header; nil for any other table.
func cards(rows []tableRow) []tableRow {
	var head []string
	place := map[string]int{}
	var out []tableRow
	for _, row := range rows {
		if len(trimCells(row.cells)) > 2 {
			return nil
		}
		name := row.cell(0)
		what, option := roleOf(name)
		if what == roleNone {
			return nil
		}
		if what == roleQuestion {
			out = append(out, tableRow{at: row.at})
		}
		if len(out) == 0 {
			return nil
		}
		key := foldName(name)
		if what == roleOption {
			key = letter(option)
		}
		i, ok := place[key]
		if !ok {
			i = len(head)
			place[key], head = i, append(head, name)
		}
		card := &out[len(out)-1]
		for len(card.cells) <= i {
			card.cells = append(card.cells, "")
		}
		card.cells[i] = row.cell(1)
	}
	if len(head) < 3 {
		return nil
	}
	return append([]tableRow{{cells: head, at: rows[0].at}}, out...)
}

// textRow reads a row of a table without known columns as lines: the number in a
// cell of its own, and the key behind the stem.
func (r *reader) textRow(row tableRow) {
	var cells []string
	for i := range row.cells {
		if c := row.cell(i); c != "" {
			cells = append(cells, c)
		}
	}
	key := ""
	if n := len(cells); n >= 2 && n <= 3 && readable(cells[n-1]) && upperOnly(cells[n-1]) && !opensAny(cells[0]) {
		if scanNumber(cells[0]).style != noNumber || loneNumber(cells[0]) > 0 && n == 3 {
			key, cells = cells[n-1], cells[:n-1]
		}
	}
	if len(cells) == 2 && loneNumber(cells[0]) > 0 && len(cells[1]) > 2*len("题") && !readable(cells[1]) {
		cells = []string{cells[0] + ". " + cells[1]}
	}
	r.text.feed(drydock.Block{Text: strings.Join(cells, "\t"), At: row.at})
	if key != "" {
		r.text.feed(drydock.Block{Text: "答案：" + key, At: row.at})
	}
}

// optionRow joins a row that only holds an option to the stem above it; false
// when the row is none.
func (t *table) optionRow(row tableRow) bool {
	c := t.cols
	if t.open == nil || len(c.option) > 0 || c.options >= 0 {
		return false
	}
	s := row.cell(c.question)
	if _, ok := optionAt(s); !ok || row.cell(c.answer) != "" || row.cell(c.id) != "" && c.id != c.question {
		return false
	}
	t.open.cells[c.question] += "\n" + s
	return true
}

// hold keeps a row back whose options may stand in the rows below; it returns
// the row held before.
func (t *table) hold(row tableRow) *tableRow {
	c := t.cols
	if len(c.option) > 0 || c.options >= 0 || c.question < 0 || c.question >= len(row.cells) {
		return &row
	}
	last := t.open
	t.open = &row
	return last
}

// giveWaiting hands the answers of a key to rows that came without one, by their
// numbers, else by their order. What fits nowhere is reported.
func (r *reader) giveWaiting(k *keyPart, f *drydock.File) {
	entries, broken := k.spell(len(r.waiting))
	if len(entries) > 0 && entries[0].code != "" {
		r.giveByID(entries, k, f)
		return
	}
	by := map[int]keyEntry{}
	twice := broken
	for i, e := range entries {
		if e.n == 0 {
			e.n = i + 1
		}
		_, dup := by[e.n]
		twice = twice || dup
		by[e.n] = e
	}
	numbers := map[int]bool{}
	for i, d := range r.waiting {
		n := rowNumber(d.rowID)
		if n == 0 {
			n = i + 1
		}
		twice = twice || numbers[n]
		numbers[n] = true
	}
	if !twice {
		for i, d := range r.waiting {
			n := rowNumber(d.rowID)
			if n == 0 {
				n = i + 1
			}
			if e, ok := by[n]; ok {
				d.ans, d.given, d.keyAt = readAnswer(e.value), true, e.at
				d.explain = string(join([]byte(d.explain), unwrap(strings.Join(e.explain, "\n"))))
				delete(by, n)
			}
		}
	}
	if twice || len(by) > 0 {
		why := itoa(len(entries)) + " answers for " + itoa(len(r.waiting)) + " rows"
		r.give(nil, rejected(f, k.at, nil, strings.Join(k.text, "\n"), reasonKeyUnused, why))
	}
	r.giveHeld()
}

// giveByID hands answers to the rows whose ids the key prints.
func (r *reader) giveByID(entries []keyEntry, k *keyPart, f *drydock.File) {
	by := map[string][]keyEntry{}
	for _, e := range entries {
		by[e.code] = append(by[e.code], e)
	}
	for _, d := range r.waiting {
		if e := by[d.rowID]; len(e) == 1 {
			d.ans, d.given, d.keyAt = readAnswer(e[0].value), true, e[0].at
			delete(by, d.rowID)
		}
	}
	if len(by) > 0 {
		why := itoa(len(by)) + " ids in the key are not in the file, or twice"
		r.give(nil, rejected(f, k.at, nil, strings.Join(k.text, "\n"), reasonKeyUnused, why))
	}
	r.giveHeld()
}

// maxWaiting is how many rows without answers wait for a table of answers that
// may never come.
const maxWaiting = 50000

// wait holds a row without an answer until the file's other tables, or its key
// file, have been seen.
func (r *reader) wait(d *draft) {
	if r.waiting == nil && r.tired {
		r.settle(d)
		return
	}
	if r.waiting = append(r.waiting, d); len(r.waiting) >= maxWaiting && r.doc.Key == nil {
		r.tired = true
		r.giveHeld()
	}
}

// giveHeld lets the rows go that waited for a key.
func (r *reader) giveHeld() {
	held := r.waiting
	r.waiting = nil
	for _, d := range held {
		r.settle(d)
	}
}
