package format

import (
	"bytes"
	"context"
	"iter"
	"path/filepath"
	"slices"
	"strings"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/internal/msg"
)

// markdownFormat reads Markdown as text whose headings and tables are known.
func markdownFormat() Format {
	exts := []string{".md", ".markdown", ".mdown"}
	return Format{
		Name:    "markdown",
		Exts:    exts,
		Summary: msg.Text{"Markdown, with headings and tables", "Markdown，识别标题与表格"},
		// nothing in Markdown's bytes tells it from text: only the name can
		Sniff: func(head []byte, name string) bool {
			return slices.Contains(exts, strings.ToLower(filepath.Ext(name))) &&
				!bytes.HasPrefix(head, []byte(`{\rtf`)) && looksText(head)
		},
		Read: readMarkdown,
	}
}

// readMarkdown gives a block for each line as plain text does. Marks that are
// no text are taken off: heading signs (the level is kept), bold stars (a
// span), backslashes before punctuation, the rule under a heading or a table's
// first row (an empty block), front matter (noted). Code blocks stay as they
// are.
func readMarkdown(_ context.Context, u Unit, note func(Note)) iter.Seq2[drydock.Block, error] {
	return func(yield func(drydock.Block, error) bool) {
		m := markdown{first: u.Start == 0}
		for b, err := range textLines(u, note) {
			if err != nil {
				if !m.flush(yield) || !yield(b, err) {
					return
				}
				continue
			}
			if !m.line(b, yield) {
				return
			}
		}
		if m.matter > 0 && !m.inMatter {
			note(Note{Code: "front_matter", Text: msg.Text{
				"%s: %d lines of front matter were left out", "%s：略去文首元数据 %d 行",
			}, Args: []any{u.File.name(), m.matter}})
		}
		m.flush(yield)
	}
}

// markdown holds back one line, since the next may make it a heading.
type markdown struct {
	first    bool // the next line is the file's first
	inMatter bool
	matter   int             // lines of front matter
	held     []drydock.Block // front matter not yet closed, or one line of text
	fence    string          // what closes the code block we are in
}

// maxMatter is how many lines front matter may have; an opening rule that is
// not closed within them is a rule.
const maxMatter = 200

func (m *markdown) line(b drydock.Block, yield func(drydock.Block, error) bool) bool {
	trimmed := strings.TrimSpace(b.Text)
	if m.first {
		m.first = false
		if trimmed == "---" {
			m.inMatter = true
			m.held = append(m.held, b)
			return true
		}
	}
	if m.inMatter {
		return m.matterLine(b, trimmed, yield)
	}
	if m.fence != "" || fenceOf(trimmed) != "" {
		switch {
		case m.fence == "":
			m.fence = fenceOf(trimmed)
		case strings.HasPrefix(trimmed, m.fence) && strings.Trim(trimmed, m.fence[:1]) == "":
			m.fence = ""
		}
		return m.flush(yield) && yield(b, nil)
	}
	if level := underline(trimmed); level > 0 && len(m.held) == 1 && setextTitle(m.held[0]) {
		m.held[0].Level = level
		b.Text = ""
		return m.flush(yield) && yield(b, nil)
	}
	if !m.flush(yield) {
		return false
	}
	if cells := tableRow(trimmed); cells != nil {
		b.Text, b.Cells = "", cells
		if tableRule(cells) {
			b.Cells = nil
		}
		return yield(b, nil)
	}
	if level, title := heading(b.Text); level > 0 {
		b.Level, b.Text = level, title
	}
	b.Text, b.Spans = inline(b.Text)
	m.held = append(m.held, b)
	return true
}

// matterLine holds front matter until it is closed. What never closes was text.
func (m *markdown) matterLine(b drydock.Block, trimmed string, yield func(drydock.Block, error) bool) bool {
	m.held = append(m.held, b)
	switch {
	case trimmed == "---" || trimmed == "...":
		m.matter = len(m.held)
		m.held, m.inMatter = m.held[:0], false
	case len(m.held) > maxMatter:
		m.inMatter = false
		return m.flush(yield)
	}
	return true
}

// flush gives what was held back.
func (m *markdown) flush(yield func(drydock.Block, error) bool) bool {
	for i, b := range m.held {
		if !yield(b, nil) {
			return false
		}
		m.held[i] = drydock.Block{}
	}
	m.held = m.held[:0]
	return true
}

// fenceOf returns the sign run that opens a code block, or nothing.
func fenceOf(s string) string {
	for _, c := range []string{"`", "~"} {
		n := len(s) - len(strings.TrimLeft(s, c))
		if n >= 3 && (c == "~" || !strings.Contains(s[n:], "`")) {
			return s[:n]
		}
	}
	return ""
}

// underline returns the level a line of = or - gives to the line above it.
func underline(s string) int8 {
	switch {
	case len(s) >= 2 && strings.Trim(s, "=") == "":
		return 1
	case len(s) >= 2 && strings.Trim(s, "-") == "":
		return 2
	}
	return 0
}

func setextTitle(b drydock.Block) bool { return b.Level == 0 && strings.TrimSpace(b.Text) != "" }

// heading splits "## Title ##"; level 0 is no heading.
func heading(s string) (int8, string) {
	t := strings.TrimLeft(s, " ")
	n := len(t) - len(strings.TrimLeft(t, "#"))
	if len(s)-len(t) > 3 || n < 1 || n > 6 || len(t) > n && t[n] != ' ' && t[n] != '\t' {
		return 0, ""
	}
	title := strings.TrimSpace(t[n:])
	if closed := strings.TrimRight(title, "#"); closed == "" || strings.HasSuffix(closed, " ") {
		title = strings.TrimSpace(closed)
	}
	return int8(n), title
}

// tableRow splits "| a | b |" into cells; nil is no row. A bar after a
// backslash belongs to the cell.
func tableRow(s string) []string {
	if len(s) < 3 || s[0] != '|' || s[len(s)-1] != '|' || strings.HasSuffix(s, `\|`) {
		return nil
	}
	var cells []string
	var cell strings.Builder
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == '\\' && i+1 < len(s) && s[i+1] == '|':
			cell.WriteByte('|')
			i++
		case s[i] == '|':
			text, _ := inline(strings.TrimSpace(cell.String()))
			cells = append(cells, text)
			cell.Reset()
		default:
			cell.WriteByte(s[i])
		}
	}
	return cells
}

// tableRule reports whether the cells are the rule under a table's head.
func tableRule(cells []string) bool {
	for _, c := range cells {
		if strings.Trim(c, ":") == "" || strings.Trim(strings.Trim(c, ":"), "-") != "" {
			return false
		}
	}
	return true
}

// inline takes off bold stars, which become spans, and the backslash before
// punctuation. Single stars and underlines stay: blanks to fill in and products
// look the same.
func inline(s string) (string, []drydock.Span) {
	if !strings.ContainsAny(s, `*\`) {
		return s, nil
	}
	var out strings.Builder
	var spans []drydock.Span
	open := -1 // where the bold text began in out
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '\\' && i+1 < len(s) && isPunct(s[i+1]):
			i++
			out.WriteByte(s[i])
		case strings.HasPrefix(s[i:], "**") && open >= 0 && out.Len() > open:
			spans = append(spans, drydock.Span{Start: open, End: out.Len(), Kind: drydock.Bold})
			open = -1
			i++
		case strings.HasPrefix(s[i:], "**") && open < 0 && strings.Contains(s[i+2:], "**"):
			open = out.Len()
			i++
		default:
			out.WriteByte(s[i])
		}
	}
	return out.String(), spans
}

func isPunct(c byte) bool {
	return c > ' ' && c < 0x7F && (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'z')
}
