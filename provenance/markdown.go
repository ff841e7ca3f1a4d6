package provenance

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/drydock-ml/drydock/internal/msg"
)

// markdown writes a document in one language.
type markdown struct {
	bytes.Buffer
	lang msg.Lang
}

func (m *markdown) say(t msg.Text, args ...any) string { return t.Format(m.lang, args...) }

func (m *markdown) h1(t msg.Text, args ...any) { fmt.Fprintf(m, "# %s\n", m.say(t, args...)) }
func (m *markdown) h2(t msg.Text, args ...any) { fmt.Fprintf(m, "\n## %s\n", m.say(t, args...)) }
func (m *markdown) p(t msg.Text, args ...any)  { fmt.Fprintf(m, "\n%s\n", m.say(t, args...)) }

// list writes the lines as items; nothing for none.
func (m *markdown) list(items []string) {
	if len(items) == 0 {
		return
	}
	m.WriteByte('\n')
	for _, s := range items {
		fmt.Fprintf(m, "- %s\n", s)
	}
}

// a column has a heading; numbers stand at the right.
type column struct {
	head  msg.Text
	right bool
}

func col(head msg.Text) column { return column{head: head} }
func num(head msg.Text) column { return column{head: head, right: true} }

// table writes rows whose cells are already escaped (see cell and code).
func (m *markdown) table(cols []column, rows [][]string) {
	m.WriteString("\n|")
	for _, c := range cols {
		fmt.Fprintf(m, " %s |", c.head.In(m.lang))
	}
	m.WriteString("\n|")
	for _, c := range cols {
		if c.right {
			m.WriteString("---:|")
		} else {
			m.WriteString("---|")
		}
	}
	for _, r := range rows {
		m.WriteString("\n|")
		for _, s := range r {
			fmt.Fprintf(m, " %s |", s)
		}
	}
	m.WriteByte('\n')
}

// cell escapes text that stands in a table.
func cell(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	return strings.NewReplacer("|", `\|`, "<", "&lt;", "*", `\*`, "`", "\\`", "[", `\[`).Replace(s)
}

// code writes s as a code span that may stand in a table; empty stays empty.
func code(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if s == "" {
		return ""
	}
	s = strings.ReplaceAll(s, "|", `\|`)
	fence := "`"
	for strings.Contains(s, fence) {
		fence += "`"
	}
	if strings.HasPrefix(s, "`") || strings.HasSuffix(s, "`") {
		s = " " + s + " "
	}
	return fence + s + fence
}

func count(n int) string { return fmt.Sprint(n) }

// percent writes a share with one decimal; of nothing it is a dash.
func percent(n, of int) string {
	if of == 0 {
		return "–"
	}
	return fmt.Sprintf("%.1f %%", 100*float64(n)/float64(of))
}

func short(hash string) string {
	if len(hash) > 12 {
		return hash[:12]
	}
	return hash
}

// orUnknown writes a value or the word for unknown.
func (m *markdown) orUnknown(s string) string {
	if s == "" {
		return m.say(msg.Text{"unknown", "未知"})
	}
	return cell(s)
}
