package question

import "slices"

// contentWins is by how much more rows the columns found by what they hold must
// make whole before the names in a header are not believed.
const contentWins = 0.3

// chooseColumns finds what the columns of a table hold, by their names and by
// their cells, and takes the one that makes more rows whole questions; nil when
// the table is no list of items. The layouts have the chosen one first.
func chooseColumns(rows []tableRow) (*columns, []Layout) {
	named := findColumns(rows)
	if named == nil {
		return nil, nil
	}
	if named.header == 0 {
		return named, []Layout{named.layout("content", rows, nil)}
	}
	head, body := rows[named.header-1], rows[named.header:]
	out := []Layout{named.layout("header", body, &head)}
	if held := byContent(body); held != nil && !held.same(named) {
		held.header = named.header
		out = append(out, held.layout("content", body, &head))
		if out[1].Whole > out[0].Whole+contentWins {
			slices.Reverse(out)
			return held, out
		}
	}
	return named, out
}

// same reports columns that take question, answer and options from one place.
func (c *columns) same(d *columns) bool {
	return c.question == d.question && c.answer == d.answer && c.options == d.options && slices.Equal(c.option, d.option)
}

// layout says where the columns stand and how many of the rows they make whole.
func (c *columns) layout(kind string, rows []tableRow, head *tableRow) Layout {
	l := Layout{Kind: kind, Columns: c.names(head), Used: 1, Order: 1}
	whole := 0
	for _, row := range rows {
		if row.cell(c.question) == "" {
			continue
		}
		l.Questions++
		options := 0
		for _, i := range c.option {
			if row.cell(i) != "" {
				options++
			}
		}
		switch answer := row.cell(c.answer); {
		case options >= 2 || row.cell(c.wrong) != "":
			whole++
		case row.cell(c.options) != "" && len(cellOptions(row.cell(c.options))) >= 2:
			whole++
		case len(splitBody(row.cell(c.question)).options) >= 2:
			whole++
		case options == 0 && answer != "" && readLetters(answer) == nil:
			whole++
		}
	}
	if l.Questions > 0 {
		l.Whole = float64(int(1000*float64(whole)/float64(l.Questions)+0.5)) / 1000
	}
	l.Score = l.Whole
	return l
}

// names says which column has which role: by its name where there is a header,
// else by its place from 1.
func (c *columns) names(head *tableRow) []string {
	var out []string
	add := func(role string, i int) {
		if i < 0 {
			return
		}
		name := itoa(i + 1)
		if head != nil && head.cell(i) != "" {
			name = clip(head.cell(i), 20)
		}
		out = append(out, role+"="+name)
	}
	add("id", c.id)
	add("kind", c.form)
	add("question", c.question)
	for v, i := range c.option {
		add(letter(v), i)
	}
	add("options", c.options)
	add("wrong", c.wrong)
	add("answer", c.answer)
	add("explanation", c.explain)
	add("figure", c.figure)
	return out
}
