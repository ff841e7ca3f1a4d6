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
	style       string
	blocks      []Block
}

// A Block is one part of a report in both forms. Texts in it go through
// [EscapeHTML] and [EscapeMarkdown]; one that writes nothing is left out.
type Block interface {
	HTML(b *bytes.Buffer)
	Markdown(b *bytes.Buffer)
}

// New begins a report. lang is its language as in BCP 47 (zh, en).
func New(lang, title string) *Doc { return &Doc{lang: lang, title: title} }

// Style adds rules (CSS) to those that all pages have. The colours --ink, --soft,
// --rule and --paper follow day and night.
func (d *Doc) Style(css string) { d.style += css }

// Add adds a part of the caller's own making.
func (d *Doc) Add(b Block) { d.blocks = append(d.blocks, b) }

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

// Fold adds what fill writes, folded away under a line of text; Markdown has it
// open.
func (d *Doc) Fold(text string, fill func(*Doc)) {
	inner := &Doc{}
	fill(inner)
	d.blocks = append(d.blocks, fold{paragraph(text), inner.blocks})
}

// A Column is the head of a column of a table.
type Column struct {
	Name  string
	Right bool // numbers
	Code  bool // names and hashes, in type of one width
}

// Table adds a table; every row has as many cells as there are columns. One
// without rows is left out.
func (d *Doc) Table(columns []Column, rows [][]string) {
	if len(rows) > 0 {
		d.blocks = append(d.blocks, table{columns, rows})
	}
}

// Chart adds a drawing: SVG for the page, characters for Markdown.
func (d *Doc) Chart(svg, text string) { d.blocks = append(d.blocks, drawing{svg, text}) }

// HTML returns the page.
func (d *Doc) HTML() []byte {
	var b bytes.Buffer
	b.WriteString("<!doctype html>\n<html lang=\"" + EscapeHTML(d.lang) + "\">\n<head>\n<meta charset=\"utf-8\">\n" +
		"<meta name=\"viewport\" content=\"width=device-width\">\n<title>" + EscapeHTML(d.title) + "</title>\n<style>" + style + d.style + "</style>\n</head>\n<body>\n")
	b.WriteString("<h1>" + EscapeHTML(d.title) + "</h1>\n")
	for _, x := range d.blocks {
		x.HTML(&b)
	}
	b.WriteString("</body>\n</html>\n")
	return b.Bytes()
}

// Markdown returns the report as Markdown with tables (GitHub's dialect).
func (d *Doc) Markdown() []byte {
	var b bytes.Buffer
	b.WriteString("# " + inline(d.title) + "\n")
	markdown(&b, d.blocks)
	return b.Bytes()
}

// markdown writes blocks, an empty line before each.
func markdown(b *bytes.Buffer, blocks []Block) {
	for _, x := range blocks {
		var part bytes.Buffer
		if x.Markdown(&part); part.Len() > 0 {
			b.WriteByte('\n')
			b.Write(part.Bytes())
		}
	}
}

// style is the sheet of the pages drydock writes.
const style = `:root{color-scheme:light dark;--ink:#1a1a1a;--soft:#666;--rule:#d5d5d5;--paper:#fff}
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

func (h heading) HTML(b *bytes.Buffer) {
	b.WriteString("<h2>" + EscapeHTML(string(h)) + "</h2>\n")
}
func (h heading) Markdown(b *bytes.Buffer) { b.WriteString("## " + inline(string(h)) + "\n") }

type paragraph string

func (p paragraph) HTML(b *bytes.Buffer) {
	b.WriteString("<p>" + EscapeHTML(string(p)) + "</p>\n")
}
func (p paragraph) Markdown(b *bytes.Buffer) { b.WriteString(inline(string(p)) + "\n") }

type list []string

func (l list) HTML(b *bytes.Buffer) {
	b.WriteString("<ul>\n")
	for _, p := range l {
		b.WriteString("<li>" + EscapeHTML(p) + "</li>\n")
	}
	b.WriteString("</ul>\n")
}

func (l list) Markdown(b *bytes.Buffer) {
	for _, p := range l {
		b.WriteString("- " + inline(p) + "\n")
	}
}

type table struct {
	columns []Column
	rows    [][]string
}

func (t table) HTML(b *bytes.Buffer) {
	cell := func(tag, text string, c Column) {
		b.WriteString("<" + tag)
		if c.Right {
			b.WriteString(` class="n"`)
		}
		text = EscapeHTML(text)
		if c.Code && tag == "td" {
			text = "<code>" + text + "</code>"
		}
		b.WriteString(">" + text + "</" + tag + ">")
	}
	b.WriteString("<table>\n<tr>")
	for _, c := range t.columns {
		cell("th", c.Name, c)
	}
	b.WriteString("</tr>\n")
	for _, row := range t.rows {
		b.WriteString("<tr>")
		for i, c := range t.columns {
			cell("td", row[i], c)
		}
		b.WriteString("</tr>\n")
	}
	b.WriteString("</table>\n")
}

func (t table) Markdown(b *bytes.Buffer) {
	b.WriteByte('|')
	for _, c := range t.columns {
		b.WriteString(" " + oneLine(c.Name) + " |")
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
		for i, c := range t.columns {
			if c.Code && row[i] != "" && !strings.ContainsAny(row[i], "`|\n") {
				b.WriteString(" `" + row[i] + "` |")
				continue
			}
			b.WriteString(" " + oneLine(row[i]) + " |")
		}
		b.WriteByte('\n')
	}
}

type drawing struct{ svg, text string }

func (d drawing) HTML(b *bytes.Buffer) { b.WriteString("<figure>" + d.svg + "</figure>\n") }
func (d drawing) Markdown(b *bytes.Buffer) {
	if d.text != "" {
		b.WriteString("```text\n" + strings.TrimRight(d.text, "\n") + "\n```\n")
	}
}

type fold struct {
	text   paragraph
	blocks []Block
}

func (f fold) HTML(b *bytes.Buffer) {
	b.WriteString("<details><summary>" + EscapeHTML(string(f.text)) + "</summary>\n")
	for _, x := range f.blocks {
		x.HTML(b)
	}
	b.WriteString("</details>\n")
}

func (f fold) Markdown(b *bytes.Buffer) {
	f.text.Markdown(b)
	markdown(b, f.blocks)
}

// EscapeHTML makes text that a page shows as it is. Control characters, which
// HTML cannot hold, become U+FFFD.
func EscapeHTML(s string) string { return html.EscapeString(strings.Map(shownRune, s)) }

func shownRune(r rune) rune {
	if r < ' ' && r != '\n' && r != '\t' && r != '\r' || r == 0x7f {
		return '\ufffd'
	}
	return r
}

// special are the characters by which text could turn into markup, $ and ~ in
// GitHub's dialect.
var special = strings.NewReplacer(`\`, `\\`, "`", "\\`", "*", `\*`, "[", `\[`, "]", `\]`, "<", "&lt;", "&", "&amp;",
	"$", `\$`, "~", `\~`, "|", `\|`, "\r\n", " ", "\n", " ", "\r", " ")

// EscapeMarkdown makes text of one line that Markdown shows as it is within a
// line or a cell. Line ends become spaces. An underscore inside a word is no
// markup.
func EscapeMarkdown(s string) string {
	s = special.Replace(strings.Map(shownRune, s))
	var b strings.Builder
	for i := range len(s) {
		if s[i] == '_' && !(i > 0 && i+1 < len(s) && alphanumeric(s[i-1]) && alphanumeric(s[i+1])) {
			b.WriteByte('\\')
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// inline makes text of one line that Markdown shows as it is. Markup that only
// counts at the beginning of a line is defused there.
func inline(s string) string {
	s = oneLine(s)
	if s == "" {
		return s
	}
	if strings.ContainsRune("#+-=>", rune(s[0])) {
		return `\` + s
	}
	digits := strings.TrimLeft(s, "0123456789")
	if n := len(s) - len(digits); n > 0 && digits != "" && (digits[0] == '.' || digits[0] == ')') && (len(digits) == 1 || digits[1] == ' ') {
		return s[:n] + `\` + digits
	}
	return s
}

func alphanumeric(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

func oneLine(s string) string { return strings.TrimSpace(EscapeMarkdown(s)) }
