package ui

import (
	"strings"

	"github.com/drydock-ml/drydock/internal/msg"
)

// A Column is one column of a table. The last one takes what is left of the
// line and is cut to it, or broken over lines if the table is wrapped.
type Column struct {
	Title msg.Text
	Right bool // numbers
}

// A Table collects rows and prints them: for a person aligned by display
// width under a header, for a program tab-separated without one.
type Table struct {
	t    *Terminal
	cols []Column
	rows [][]string
	bare bool
	wrap bool
}

// Table begins a table.
func (t *Terminal) Table(cols ...Column) *Table { return &Table{t: t, cols: cols} }

// Bare leaves the header out on a terminal, too.
func (tb *Table) Bare() *Table {
	tb.bare = true
	return tb
}

// Wrapped breaks a long last column over lines on a terminal instead of cutting
// it.
func (tb *Table) Wrapped() *Table {
	tb.wrap = true
	return tb
}

// Row adds a row; missing cells are empty.
func (tb *Table) Row(cells ...string) {
	row := make([]string, len(tb.cols))
	copy(row, cells)
	tb.rows = append(tb.rows, row)
}

// Len returns the number of rows.
func (tb *Table) Len() int { return len(tb.rows) }

// Print writes the table to stdout.
func (tb *Table) Print() {
	if !tb.t.c.OutTTY {
		tb.printPiped()
		return
	}
	tb.printAligned()
}

func (tb *Table) printPiped() {
	var b strings.Builder
	for _, row := range tb.rows {
		for i, c := range row {
			if i > 0 {
				b.WriteByte('\t')
			}
			b.WriteString(oneLine(c))
		}
		b.WriteByte('\n')
	}
	_, _ = tb.t.Write([]byte(b.String()))
}

func (tb *Table) printAligned() {
	head := make([]string, len(tb.cols))
	widths := make([]int, len(tb.cols))
	for i, c := range tb.cols {
		if !tb.bare {
			head[i] = tb.t.Say(c.Title)
		}
		widths[i] = Width(head[i])
		for _, row := range tb.rows {
			row[i] = Clean(oneLine(row[i]))
			widths[i] = max(widths[i], Width(row[i]))
		}
	}
	var b strings.Builder
	if !tb.bare {
		b.WriteString(tb.t.Bold(tb.line(head, widths)) + "\n")
	}
	for _, row := range tb.rows {
		b.WriteString(tb.line(row, widths) + "\n")
	}
	_, _ = tb.t.Write([]byte(b.String()))
}

func (tb *Table) line(cells []string, widths []int) string {
	var b strings.Builder
	used := 0
	for i, c := range cells {
		last := i == len(cells)-1
		if i > 0 {
			b.WriteString("  ")
			used += 2
		}
		switch {
		case tb.cols[i].Right:
			c = PadLeft(c, widths[i])
		case !last:
			c = Pad(c, widths[i])
		case tb.wrap:
			lines := Wrap(c, max(tb.t.c.Width-used, 12))
			c = strings.Join(lines, "\n"+strings.Repeat(" ", used))
		default:
			c = Truncate(c, max(tb.t.c.Width-used, 12))
		}
		b.WriteString(c)
		used += widths[i]
	}
	return strings.TrimRight(b.String(), " ")
}

// oneLine keeps a cell from breaking its row apart.
func oneLine(s string) string {
	return strings.NewReplacer("\t", " ", "\r\n", " ", "\n", " ", "\r", " ").Replace(s)
}
