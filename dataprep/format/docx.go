package format

import (
	"context"
	"iter"
	"path"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/internal/msg"
)

// docxFormat reads Word documents as a reader sees them: numbers and option
// letters of lists restored, tracked changes accepted, fields by their result.
//
// A paragraph is a block (At.Para counts all paragraphs of the text, those in
// tables too); one with line breaks is a block for each line (At.Line). A table
// row is a block of cells (At.Row within its table, At.Line the depth of a table
// inside a cell); a row of one cell is a box and gives its paragraphs. Tables inside cells and text boxes come after the
// row or paragraph that holds them, footnotes and endnotes at the end
// (At.Part). What another document lies inside (altChunk) comes where it stands,
// At.Part naming its part. Headers, footers and comments are not read.
//
// Read the same way are documents that are one XML file: those of Word 2003, and
// packages written flat. Formulas come as LaTeX.
func docxFormat() Format {
	return Format{
		Name:    "docx",
		Exts:    []string{".docx", ".docm", ".dotx"},
		Summary: msg.Text{"Word documents", "Word 文档"},
		Sniff: func(head []byte, name string) bool {
			return sniffOffice(head, name, "word/", ".docx")
		},
		Read: readDOCX,
	}
}

func readDOCX(ctx context.Context, u Unit, note func(Note)) iter.Seq2[drydock.Block, error] {
	return officeBlocks(u.File, func(p *officePackage, yield func(drydock.Block, error) bool) {
		if !p.has("word/document.xml") && p.has("xl/workbook.xml") {
			readWorkbook(ctx, p, note, yield) // encrypted, so that only now can be told
			return
		}
		d := &docx{ctx: ctx, pkg: p, note: note, yield: yield}
		if err := d.read(); err != nil && err != errStop {
			yield(drydock.Block{}, err)
		}
	})
}

// docx reads one document.
type docx struct {
	ctx   context.Context
	pkg   *officePackage
	note  func(Note)
	yield func(drydock.Block, error) bool

	styles     map[string]*wordStyle
	numbering  *numbering
	rels       map[string]relation // of the part being read
	part       string              // set in notes only: At.Part
	para       int
	notes      []noteRef // footnotes and endnotes in the order they are met
	hidden     bool      // hidden text was met
	comments   int       // met, not read
	carry      *paragraph
	held       []func(drydock.Block, error) bool // where blocks went before a hold
	boxDepth   int
	altChunks  int // that could not be read
	chunkDepth int
	asides     []paragraph // notes that stand where they are referred to, in a document of Word 2003
	gaveBlocks bool
}

// A noteRef is one footnote or endnote by id.
type noteRef struct{ kind, id string }

func (d *docx) read() error {
	root, err := d.pkg.relations(d.ctx, "")
	if err != nil {
		return err
	}
	main := d.pkg.related(root, "officeDocument", "word/document.xml")
	if main == "" {
		return unreadable(d.pkg.file, msg.Text{"there is no text in the file: word/document.xml is missing", "文件中没有正文：缺少 word/document.xml"}).
			Hint(msg.Text{"open it in Word and save it anew", "请用 Word 打开后重新保存"})
	}
	if d.rels, err = d.pkg.relations(d.ctx, main); err != nil {
		return err
	}
	dir := path.Dir(main)
	if d.styles, err = readStyles(d.ctx, d.pkg, d.pkg.related(d.rels, "styles", path.Join(dir, "styles.xml"))); err != nil {
		return err
	}
	if d.numbering, err = readNumbering(d.ctx, d.pkg, d.pkg.related(d.rels, "numbering", path.Join(dir, "numbering.xml")), d.styles); err != nil {
		return err
	}
	if err := d.body(main); err != nil {
		return err
	}
	if err := d.readNotes(dir); err != nil {
		return err
	}
	for i, p := range d.asides {
		d.part, p.number = "notes", i+1
		if err := d.lines(p); err != nil {
			return err
		}
	}
	d.part = ""
	d.tell()
	return nil
}

// tell notes what is not as it looks.
func (d *docx) tell() {
	name := d.pkg.file.name()
	if d.hidden {
		d.note(Note{Code: "hidden_text", Text: msg.Text{
			"%s: text formatted as hidden was read like any other", "%s：设为隐藏的文字已照常读取",
		}, Args: []any{name}})
	}
	if d.comments > 0 {
		d.note(Note{Code: "comments_left_out", Text: msg.Text{
			"%s: %d {comment was|comments were} left out", "%s：略去 %d 条批注",
		}, Args: []any{name, d.comments}})
	}
	if d.altChunks > 0 {
		d.note(Note{Code: "embedded_document", Damage: true, Text: msg.Text{
			"%s: %d embedded {document|documents} (altChunk) could not be read; open the file in Word and save it anew to make them text",
			"%s：有 %d 个内嵌文档（altChunk）无法读取；用 Word 打开并重新保存即可变为正文",
		}, Args: []any{name, d.altChunks}})
	}
	if !d.gaveBlocks {
		d.note(Note{Code: "no_text", Damage: true, Text: msg.Text{
			"%s: the document holds no text; if it shows pictures of text, OCR is needed", "%s：文档中没有文字；若内容是图片，需要先 OCR",
		}, Args: []any{name}})
	}
}

// body reads the main text.
func (d *docx) body(part string) error {
	x, err := d.pkg.tokens(d.ctx, part)
	if err != nil {
		return err
	}
	defer x.close()
	root, old := false, false
	for x.next() {
		if !x.start {
			continue
		}
		switch x.name {
		case "w:document", "w:body":
			root, old = true, false
		case "w:wordDocument": // of 2003: styles and more stand before the body
			root, old = true, true
		default:
			if !root {
				return unreadable(d.pkg.file, msg.Text{"%s begins with <%s>, not with the text of a document", "%s 以 <%s> 开头，不是文档正文"}, part, x.name).
					Hint(msg.Text{"open it in Word and save it anew", "请用 Word 打开后重新保存"})
			}
			if old {
				x.skip()
				continue
			}
			if err := d.element(x); err != nil {
				return err
			}
		}
	}
	if x.err != nil {
		return x.err
	}
	return d.flush()
}

// element reads a paragraph, a table or what wraps them; its start was just
// read.
func (d *docx) element(x *xmlTokens) error {
	switch x.name {
	case "w:p":
		p := d.paragraph(x)
		if x.err != nil {
			return x.err
		}
		return d.give(p)
	case "w:tbl":
		return d.table(x, 0)
	case "w:altChunk":
		id := x.attr("id")
		x.skip()
		if x.err != nil {
			return x.err
		}
		return d.altChunk(id)
	case "aml:annotation":
		if d.annotated(x) {
			x.skip()
			return x.err
		}
		return d.inside(x)
	case "w:sectPr", "w:sdtPr", "w:sdtEndPr", "w:del", "w:moveFrom":
		x.skip()
	case "mc:AlternateContent":
		return d.alternate(x, func() error { return d.element(x) })
	default: // w:sdt, w:customXml, w:ins …: what is inside counts
		return d.inside(x)
	}
	return x.err
}

// inside reads what an element wraps.
func (d *docx) inside(x *xmlTokens) error {
	for in := x.depth; x.next() && x.depth >= in; {
		if x.start {
			if err := d.element(x); err != nil {
				return err
			}
		}
	}
	return x.err
}

// annotated reports a change or a comment of a Word 2003 document whose content
// is not of the text.
func (d *docx) annotated(x *xmlTokens) bool {
	switch x.attr("type") {
	case "Word.Comment":
		d.comments++
		return true
	case "Word.Deletion":
		return true
	}
	return false
}

// alternate reads the first choice of several renderings of one thing; the
// fallback only when there is no choice.
func (d *docx) alternate(x *xmlTokens, inside func() error) error {
	taken := false
	for in := x.depth; x.next() && x.depth >= in; {
		switch {
		case !x.start:
		case (x.name == "mc:Choice" || x.name == "mc:Fallback") && !taken:
			taken = true
			for in := x.depth; x.next() && x.depth >= in; {
				if x.start {
					if err := inside(); err != nil {
						return err
					}
				}
			}
		default:
			x.skip()
		}
	}
	return x.err
}

// give yields a paragraph. One whose mark was deleted by a tracked change runs
// on into the next.
func (d *docx) give(p paragraph) error {
	if d.carry != nil {
		p = d.carry.join(p)
		d.carry = nil
	}
	if p.joined {
		p.joined = false
		d.carry = &p
		return nil
	}
	if p.gone() {
		return nil
	}
	return d.lines(p)
}

// flush gives a paragraph still waiting for the next one.
func (d *docx) flush() error {
	if d.carry == nil {
		return nil
	}
	p := *d.carry
	d.carry = nil
	return d.lines(p)
}

// lines yields a block for each line of a paragraph, then its text boxes.
func (d *docx) lines(p paragraph) error {
	for i, l := range p.lines {
		at := drydock.Locator{Part: d.part, Para: p.number}
		if len(p.lines) > 1 {
			at.Line = i + 1
		}
		b := drydock.Block{Text: l.text.String(), Level: p.level, Spans: l.spans, Figure: l.figure, At: at}
		if err := d.emit(b); err != nil {
			return err
		}
	}
	for _, box := range p.boxes {
		if err := d.lines(box); err != nil {
			return err
		}
	}
	return nil
}

func (d *docx) emit(b drydock.Block) error {
	if b.Text != "" || b.Cells != nil || b.Figure != "" {
		d.gaveBlocks = true
	}
	if !d.yield(b, nil) {
		return errStop
	}
	return nil
}

// readNotes appends the footnotes and endnotes the text refers to.
func (d *docx) readNotes(dir string) error {
	for _, kind := range []string{"footnote", "endnote"} {
		var ids []string
		for _, n := range d.notes {
			if n.kind == kind {
				ids = append(ids, n.id)
			}
		}
		if len(ids) == 0 {
			continue
		}
		part := d.pkg.related(d.rels, kind+"s", path.Join(dir, kind+"s.xml"))
		if part == "" {
			d.note(Note{Code: "missing_notes", Damage: true, Text: msg.Text{
				"%s: the text refers to %d notes, but the part with them is missing", "%s：正文引用了 %d 个脚注或尾注，但文件中没有其内容",
			}, Args: []any{d.pkg.file.name(), len(ids)}})
			continue
		}
		if err := d.readNotesOf(part, kind, ids); err != nil {
			return err
		}
	}
	return nil
}

func (d *docx) readNotesOf(part, kind string, ids []string) error {
	rels, err := d.pkg.relations(d.ctx, part)
	if err != nil {
		return err
	}
	outer, outerPara := d.rels, d.para
	d.rels, d.para, d.part = rels, 0, part
	defer func() { d.rels, d.para, d.part = outer, outerPara, "" }()
	wanted := map[string]bool{}
	for _, id := range ids {
		wanted[id] = true
	}
	x, err := d.pkg.tokens(d.ctx, part)
	if err != nil {
		return err
	}
	defer x.close()
	for x.next() {
		if !x.start || x.name != "w:"+kind {
			continue
		}
		if !wanted[x.attr("id")] {
			x.skip()
			continue
		}
		for in := x.depth; x.next() && x.depth >= in; {
			if x.start {
				if err := d.element(x); err != nil {
					return err
				}
			}
		}
	}
	if x.err != nil {
		return x.err
	}
	return d.flush()
}
