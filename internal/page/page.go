// Package page writes a report twice from one description: as Markdown and as
// one HTML file that needs nothing else (no network, no script), readable by day
// and by night, and on paper.
package page

import (
	"bytes"
	"html"
	"strings"
)

// A Doc is a report, written from top to bottom.
type Doc struct {
	lang, title string
	blocks      []block
}

// block is one part of a report in both forms.
type block interface {
	html(b *bytes.Buffer)
	markdown(b *bytes.Buffer)
}

// New begins a report. lang is its language as in BCP 47 (zh, en).
func New(lang, title string) *Doc { return &Doc{lang: lang, title: title} }

// Heading begins a section.
func (d *Doc) Heading(text string) { d.blocks = append(d.blocks, heading(text)) }

// Text adds a paragraph.
func (d *Doc) Text(text string) { d.blocks = append(d.blocks, paragraph(text)) }

// List adds a list of points.
func (d *Doc) List(points ...string) {
	if len(points) > 0 {
		d.blocks = append(d.blocks, list(points))
	}
}

// A Column is the head of a column of a table.
type Column struct {
	Name  string
	Right bool // numbers
}

// Table adds a table; every row has as many cells as there are columns.
func (d *Doc) Table(columns []Column, rows [][]string) {
	d.blocks = append(d.blocks, table{columns, rows})
}

// Chart adds a drawing: SVG for the page, characters for Markdown.
func (d *Doc) Chart(svg, text string) { d.blocks = append(d.blocks, drawing{svg, text}) }

// HTML returns the page.
func (d *Doc) HTML() []byte {
	var b bytes.Buffer
	b.WriteString("<!doctype html>\n<html lang=\"" + html.EscapeString(d.lang) + "\">\n<head>\n<meta charset=\"utf-8\">\n" +
		"<meta name=\"viewport\" content=\"width=device-width\">\n<title>" + html.EscapeString(d.title) + "</title>\n<style>" + Style + "</style>\n</head>\n<body>\n")
	b.WriteString("<h1>" + html.EscapeString(d.title) + "</h1>\n")
	for _, x := range d.blocks {
		x.html(&b)
	}
	b.WriteString("</body>\n</html>\n")
	return b.Bytes()
}

// Markdown returns the report as Markdown with tables (GitHub's dialect).
func (d *Doc) Markdown() []byte {
	var b bytes.Buffer
	b.WriteString("# " + inline(d.title) + "\n")
	for _, x := range d.blocks {
		var part bytes.Buffer
		if x.markdown(&part); part.Len() > 0 {
			b.WriteByte('\n')
			b.Write(part.Bytes())
		}
	}
	return b.Bytes()
}

// Style is the sheet of the pages drydock writes.
const Style = `:root{color-scheme:light dark;--ink:#1a1a1a;--soft:#666;--rule:#d5d5d5;--paper:#fff}
@media(prefers-color-scheme:dark){:root{--ink:#e8e8e8;--soft:#a0a0a0;--rule:#444;--paper:#161616}}
body{font:15px/1.55 system-ui,"Noto Sans CJK SC","Microsoft YaHei","PingFang SC",sans-serif;color:var(--ink);background:var(--paper);max-width:60rem;margin:2rem auto;padding:0 1rem}
h1{font-size:1.5rem}h2{font-size:1.15rem;margin-top:2rem;border-bottom:1px solid var(--rule)}
table{border-collapse:collapse;margin:1rem 0;display:block;overflow-x:auto}
th,td{padding:.25rem .8rem .25rem 0;text-align:left;vertical-align:top;border-bottom:1px solid var(--rule)}th{color:var(--soft);font-weight:600}
.n{text-align:right;font-variant-numeric:tabular-nums}
figure{margin:1rem 0;overflow-x:auto}svg{max-width:100%;height:auto}
@media print{body{max-width:none;margin:0}h2{break-after:avoid}tr,figure{break-inside:avoid}}
`

type heading string

func (h heading) html(b *bytes.Buffer) {
	b.WriteString("<h2>" + html.EscapeString(string(h)) + "</h2>\n")
}
func (h heading) markdown(b *bytes.Buffer) { b.WriteString("## " + inline(string(h)) + "\n") }

type paragraph string

func (p paragraph) html(b *bytes.Buffer) {
	b.WriteString("<p>" + html.EscapeString(string(p)) + "</p>\n")
}
func (p paragraph) markdown(b *bytes.Buffer) { b.WriteString(inline(string(p)) + "\n") }

type list []string

func (l list) html(b *bytes.Buffer) {
	b.WriteString("<ul>\n")
	for _, p := range l {
		b.WriteString("<li>" + html.EscapeString(p) + "</li>\n")
	}
	b.WriteString("</ul>\n")
}

func (l list) markdown(b *bytes.Buffer) {
	for _, p := range l {
		b.WriteString("- " + inline(p) + "\n")
	}
}

type table struct {
	columns []Column
	rows    [][]string
}

func (t table) html(b *bytes.Buffer) {
	cell := func(tag, text string, right bool) {
		b.WriteString("<" + tag)
		if right {
			b.WriteString(` class="n"`)
		}
		b.WriteString(">" + html.EscapeString(text) + "</" + tag + ">")
	}
	b.WriteString("<table>\n<tr>")
	for _, c := range t.columns {
		cell("th", c.Name, c.Right)
	}
	b.WriteString("</tr>\n")
	for _, row := range t.rows {
		b.WriteString("<tr>")
		for i, c := range t.columns {
			cell("td", row[i], c.Right)
		}
		b.WriteString("</tr>\n")
	}
	b.WriteString("</table>\n")
}

func (t table) markdown(b *bytes.Buffer) {
	b.WriteByte('|')
	for _, c := range t.columns {
		b.WriteString(" " + inCell(c.Name) + " |")
	}
	b.WriteString("\n|")
	for _, c := range t.columns {
		if c.Right {
			b.WriteString("--:|")
		} else {
			b.WriteString("---|")
		}
	}
	b.WriteByte('\n')
	for _, row := range t.rows {
		b.WriteByte('|')
		for i := range t.columns {
			b.WriteString(" " + inCell(row[i]) + " |")
		}
		b.WriteByte('\n')
	}
}

type drawing struct{ svg, text string }

func (d drawing) html(b *bytes.Buffer) { b.WriteString("<figure>" + d.svg + "</figure>\n") }
func (d drawing) markdown(b *bytes.Buffer) {
	if d.text != "" {
		b.WriteString("```text\n" + strings.TrimRight(d.text, "\n") + "\n```\n")
	}
}

// special are the characters by which text could turn into markup.
var special = strings.NewReplacer(`\`, `\\`, "`", "\\`", "*", `\*`, "[", `\[`, "]", `\]`, "<", "&lt;", "&", "&amp;", "\r\n", " ", "\n", " ", "\r", " ")

// inline makes text of one line that Markdown shows as it is. Markup that only
// counts at the beginning of a line is defused there.
func inline(s string) string {
	s = words(s)
	if s == "" {
		return s
	}
	if strings.ContainsRune("#+-=>~|", rune(s[0])) {
		return `\` + s
	}
	digits := strings.TrimLeft(s, "0123456789")
	if n := len(s) - len(digits); n > 0 && digits != "" && (digits[0] == '.' || digits[0] == ')') && (len(digits) == 1 || digits[1] == ' ') {
		return s[:n] + `\` + digits
	}
	return s
}

// words escapes what is markup anywhere in a line. An underscore inside a word
// is none.
func words(s string) string {
	s = strings.TrimSpace(special.Replace(s))
	var b strings.Builder
	for i := range len(s) {
		if s[i] == '_' && !(i > 0 && i+1 < len(s) && alphanumeric(s[i-1]) && alphanumeric(s[i+1])) {
			b.WriteByte('\\')
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

func alphanumeric(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

func inCell(s string) string { return strings.ReplaceAll(words(s), "|", `\|`) }
