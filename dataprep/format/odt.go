package format

import (
	"context"
	"iter"
	"path"
	"strings"

	"golang.org/x/net/html"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/internal/msg"
)

// odtFormat reads OpenDocument texts (ODF 1.3) as a reader sees them: numbers
// and letters of lists restored, tracked changes accepted, fields by what they
// show.
//
// Blocks and their places are those of a Word document: a paragraph, a line of
// one with line breaks, a table row of cells. Footnotes and endnotes come at the
// end (At.Part "notes"). Page headers, footers and comments are not read.
func odtFormat() Format {
	return Format{
		Name:    "odt",
		Exts:    []string{".odt", ".ott"},
		Summary: msg.Text{"OpenDocument texts, as LibreOffice writes them", "OpenDocument 文档（LibreOffice 等）"},
		Sniff: func(head []byte, name string) bool {
			return sniffPackage(head, name, "application/vnd.oasis.opendocument.text", "content.xml", ".odt")
		},
		Read: readODT,
	}
}

func readODT(ctx context.Context, u Unit, note func(Note)) iter.Seq2[drydock.Block, error] {
	mend := msg.Text{"open it in LibreOffice and save it anew", "请用 LibreOffice 打开后重新保存"}
	return packageBlocks(u.File, mend, func(p *officePackage, yield func(drydock.Block, error) bool) {
		o := &odt{docx: docx{ctx: ctx, pkg: p, note: note, yield: yield}, styles: map[string]*odtStyle{}, lists: newODTLists()}
		if err := o.read(); err != nil && err != errStop {
			yield(drydock.Block{}, err)
		}
	})
}

// odt reads one document. What is the same in a Word document it does as that
// is done.
type odt struct {
	docx
	styles map[string]*odtStyle // by family/name
	lists  *odtLists
	notes  []paragraph // of footnotes and endnotes, in the order they are met
	inNote bool
	depth  int // of what is inside each other: notes, text boxes
}

func (o *odt) read() error {
	if err := o.refuseEncrypted(); err != nil {
		return err
	}
	if o.pkg.has("styles.xml") {
		if err := o.part("styles.xml"); err != nil {
			return err
		}
	}
	if err := o.part("content.xml"); err != nil {
		return err
	}
	for i := range o.notes {
		o.docx.part = "notes"
		o.notes[i].number = i + 1
		if err := o.docx.lines(o.notes[i]); err != nil {
			return err
		}
	}
	o.tell()
	return nil
}

// refuseEncrypted refuses a document with a password, which its manifest tells.
func (o *odt) refuseEncrypted() error {
	const manifest = "META-INF/manifest.xml"
	if !o.pkg.has(manifest) {
		return nil
	}
	x, err := o.pkg.tokens(o.ctx, manifest)
	if err != nil {
		return err
	}
	defer x.close()
	for x.next() {
		if x.start && localName(x.name) == "encryption-data" {
			return unreadable(o.pkg.file, msg.Text{"the file is encrypted with a password", "文件已用密码加密"}).
				Hint(msg.Text{"open it in LibreOffice and save it without a password", "请用 LibreOffice 打开后另存为无密码的文件"})
		}
	}
	return x.err
}

// part reads the styles of a part and, if it has one, the text.
func (o *odt) part(name string) error {
	x, err := o.pkg.tokens(o.ctx, name)
	if err != nil {
		return err
	}
	defer x.close()
	for x.next() {
		if !x.start {
			continue
		}
		switch x.name {
		case "style:style":
			o.style(x)
		case "text:list-style", "text:outline-style":
			o.lists.define(x)
		case "office:master-styles", "office:font-face-decls", "office:scripts", "office:meta", "office:settings":
			x.skip()
		case "office:text":
			if err := o.inside(x); err != nil {
				return err
			}
		case "office:spreadsheet", "office:presentation", "office:drawing":
			return unreadable(o.pkg.file, msg.Text{"this is an OpenDocument file, but no text", "这是 OpenDocument 文件，但不是文字文档"}).
				Hint(msg.Text{"save it as XLSX or PDF and try again", "请另存为 XLSX 或 PDF 后再试"})
		}
	}
	return x.err
}

// inside reads the elements inside one whose start was just read.
func (o *odt) inside(x *xmlTokens) error {
	for in := x.depth; x.next() && x.depth >= in; {
		if x.start {
			if err := o.element(x); err != nil {
				return err
			}
		}
	}
	return x.err
}

// element reads a paragraph, a table, a list or what wraps them.
func (o *odt) element(x *xmlTokens) error {
	switch x.name {
	case "text:p", "text:h":
		p := o.paragraph(x)
		if x.err != nil {
			return x.err
		}
		return o.docx.lines(p)
	case "text:list":
		return o.list(x, func() error { return o.element(x) })
	case "table:table":
		return o.table(x, 0)
	case "text:tracked-changes", "office:forms", "text:variable-decls", "text:sequence-decls", "text:user-field-decls",
		"office:annotation", "text:table-of-content-source", "text:illustration-index-source", "text:table-index-source",
		"text:alphabetical-index-source", "text:user-index-source", "text:bibliography-source", "table:table-columns", "table:table-column":
		x.skip() // deleted text, and code
		return x.err
	case "draw:frame", "draw:custom-shape", "draw:g": // anchored to the page
		p := paragraph{number: o.para + 1, lines: make([]line, 1)}
		r := &odtReader{o: o, x: x, p: &p}
		o.para++
		r.inline()
		if x.err != nil || p.lines[0].figure == "" && p.lines[0].text.Len() == 0 && len(p.boxes) == 0 {
			return x.err
		}
		return o.docx.lines(p)
	}
	return o.inside(x)
}

// list reads a list, its items by each.
func (o *odt) list(x *xmlTokens, each func() error) error {
	o.lists.open(x)
	defer o.lists.close()
	for in := x.depth; x.next() && x.depth >= in; {
		if !x.start {
			continue
		}
		o.lists.item(x.name == "text:list-item", x.attr("start-value"))
		for in := x.depth; x.next() && x.depth >= in; {
			if x.start {
				if err := each(); err != nil {
					return err
				}
			}
		}
	}
	return x.err
}

// maxODTDepth bounds notes and boxes inside each other.
const maxODTDepth = 16

// paragraph reads a text:p or text:h whose start was just read. The error, if
// any, is x.err.
func (o *odt) paragraph(x *xmlTokens) paragraph {
	o.para++
	p := paragraph{number: o.para, lines: make([]line, 1)}
	style := o.styles["paragraph/"+x.attr("style-name")]
	r := &odtReader{o: o, x: x, p: &p, marks: o.marksOf(style), space: true}
	heading := x.name == "text:h"
	if heading {
		p.level = int8(min(max(atoiOr(x.attr("outline-level"), 1), 1), 9))
	} else {
		p.level = int8(style.heading(o.styles))
	}
	label := ""
	switch {
	case o.inNote:
	case o.lists.inList():
		label = o.lists.label(o.listOf(style))
	case heading && x.attr("is-list-header") != "true":
		label = o.lists.outline(int(p.level), x.attr("start-value"), x.attr("restart-numbering") == "true")
	}
	r.content()
	r.trim()
	first := &p.lines[0]
	text := first.text.String()
	if label == "" || hasLabel(text, label) || text == "" && first.figure == "" && len(p.lines) == 1 {
		return p
	}
	first.text.Reset()
	first.text.WriteString(label + text)
	for i := range first.spans {
		first.spans[i].Start += len(label)
		first.spans[i].End += len(label)
	}
	return p
}

// An odtReader turns the content of one paragraph into lines.
type odtReader struct {
	o     *odt
	x     *xmlTokens
	p     *paragraph
	marks wordMarks
	space bool // a blank stands here, or the paragraph begins: another adds nothing
}

// content reads what is inside the element whose start was just read.
func (r *odtReader) content() {
	for in := r.x.depth; r.x.next() && r.x.depth >= in; {
		switch {
		case r.x.start:
			r.inline()
		case !r.x.end:
			r.text(string(r.x.text))
		}
	}
}

// inline reads one element inside a paragraph.
func (r *odtReader) inline() {
	x := r.x
	switch x.name {
	case "text:span":
		outer := r.marks
		r.marks = r.o.marksOf(r.o.styles["text/"+x.attr("style-name")]).over(outer)
		if r.marks.hidden != nil && *r.marks.hidden {
			r.o.hidden = true
		}
		r.content()
		r.marks = outer
	case "text:s":
		r.put(strings.Repeat(" ", min(max(atoiOr(x.attr("c"), 1), 1), 1000)))
		r.space = false
		x.skip()
	case "text:tab":
		r.put("\t")
		r.space = false
		x.skip()
	case "text:line-break":
		r.p.lines = append(r.p.lines, line{})
		r.space = true
		x.skip()
	case "text:note":
		r.note()
	case "draw:image":
		r.figure(x.attr("href"))
		x.skip()
	case "draw:object":
		if formula := r.o.formula(x.attr("href")); formula != "" {
			r.put(formula)
			r.figure("") // its picture says the same
		}
		x.skip()
	case "text:p", "text:h": // of a text box
		p := r.o.paragraph(x)
		r.p.boxes = append(r.p.boxes, p)
	case "text:list":
		_ = r.o.list(x, func() error { r.inline(); return x.err })
	case "office:annotation", "text:note-citation", "text:ruby-text", "text:tracked-changes", "svg:title", "svg:desc",
		"text:bookmark", "text:reference-mark", "table:table-columns":
		x.skip()
	case "draw:frame":
		r.frame()
	default:
		r.content()
	}
}

// frame reads what a frame shows: the first of several renderings that says
// anything.
func (r *odtReader) frame() {
	x := r.x
	done := false
	for in := x.depth; x.next() && x.depth >= in; {
		switch {
		case !x.start:
		case done && (x.name == "draw:image" || x.name == "draw:object"):
			x.skip()
		default:
			done = done || x.name == "draw:image" || x.name == "draw:object" && r.o.formula(x.attr("href")) != ""
			r.inline()
		}
	}
}

// note keeps a footnote or endnote for the end of the document.
func (r *odtReader) note() {
	x, o := r.x, r.o
	if o.depth >= maxODTDepth {
		x.skip()
		return
	}
	o.depth++
	outer, para := o.inNote, o.para
	o.inNote = true
	defer func() { o.inNote, o.para = outer, para; o.depth-- }()
	for in := x.depth; x.next() && x.depth >= in; {
		switch {
		case !x.start:
		case x.name == "text:p" || x.name == "text:h":
			p := o.paragraph(x)
			o.notes = append(o.notes, p)
		case x.name == "text:note-citation":
			x.skip()
		}
	}
}

// text adds characters, blanks folded (ODF 1.3 Part 3, 6.1.2).
func (r *odtReader) text(s string) {
	for len(s) > 0 {
		i := strings.IndexAny(s, " \t\r\n")
		if i < 0 {
			r.put(s)
			r.space = false
			return
		}
		if i > 0 {
			r.put(s[:i])
			r.space = false
		}
		if !r.space {
			r.put(" ")
		}
		r.space = true
		s = strings.TrimLeft(s[i:], " \t\r\n")
	}
}

// put adds text as it stands, with the looks of the span.
func (r *odtReader) put(s string) {
	l := &r.p.lines[len(r.p.lines)-1]
	start := l.text.Len()
	l.text.WriteString(s)
	l.look(start, l.text.Len(), r.marks)
}

// trim takes off the blank that folding left at the end.
func (r *odtReader) trim() {
	l := &r.p.lines[len(r.p.lines)-1]
	text := l.text.String()
	if !r.space || !strings.HasSuffix(text, " ") {
		return
	}
	l.text.Reset()
	l.text.WriteString(text[:len(text)-1])
	kept := l.spans[:0]
	for _, s := range l.spans {
		if s.End = min(s.End, len(text)-1); s.Start < s.End || s.Kind == drydock.Image {
			s.Start = min(s.Start, s.End)
			kept = append(kept, s)
		}
	}
	l.spans = kept
}

// figure puts an image by the name of its file.
func (r *odtReader) figure(href string) {
	if name := path.Base(href); href != "" && name != "." && name != "/" {
		r.p.lines[len(r.p.lines)-1].image(name)
	}
}

// formula is the text of an embedded formula; empty when the object is another.
func (o *odt) formula(href string) string {
	name := path.Join(href, "content.xml")
	if href == "" || !o.pkg.has(name) {
		return ""
	}
	r, err := o.pkg.open(name)
	if err != nil {
		return ""
	}
	defer r.Close()
	root, err := html.Parse(boundedText(r))
	if err != nil {
		return ""
	}
	for n := range root.Descendants() {
		if n.Data == "math" || n.Data == "math:math" {
			return mathText(n)
		}
	}
	return ""
}
