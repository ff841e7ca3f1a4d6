package format

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/url"
	"path"
	"path/filepath"
	"strings"

	"golang.org/x/net/html"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
)

// epubFormat reads e-books: the chapters in the order of the spine (EPUB 3.3,
// 5.7), each as a web page is read. At.Part is the chapter's file and At.Para
// counts within it. The table of contents comes first. Where a chapter does not
// mark its headings, the ones that table names are given their level.
func epubFormat() Format {
	return Format{
		Name:    "epub",
		Exts:    []string{".epub"},
		Summary: msg.Text{"e-books (EPUB 2 and 3)", "电子书（EPUB 2 和 3）"},
		Sniff: func(head []byte, name string) bool {
			return sniffPackage(head, name, "application/epub+zip", "meta-inf/container.xml", ".epub")
		},
		Read: readEPUB,
	}
}

// sniffPackage reports whether an archive is a document of a media type: by the
// entry "mimetype" that stands first in it, else by a part such documents have
// and the file's name.
func sniffPackage(head []byte, name, mediaType, part, ext string) bool {
	if !bytes.HasPrefix(head, []byte(zipSignature)) {
		return false
	}
	if m := zipMediaType(head); m != "" {
		return strings.HasPrefix(m, mediaType)
	}
	if strings.EqualFold(filepath.Ext(name), ext) {
		return true
	}
	for _, n := range zipNames(head) {
		if n == part {
			return part != "content.xml" // a name anyone may use
		}
	}
	return false
}

// zipMediaType is what an archive that begins with an uncompressed entry
// "mimetype" says it is; empty for any other.
func zipMediaType(head []byte) string {
	const fixed, name = 30, "mimetype"
	if len(head) < fixed+len(name) || head[8] != 0 || string(head[fixed:fixed+len(name)]) != name ||
		int(binary.LittleEndian.Uint16(head[26:])) != len(name) {
		return ""
	}
	rest := head[min(fixed+len(name)+int(binary.LittleEndian.Uint16(head[28:])), len(head)):]
	media, _, _ := bytes.Cut(rest, []byte("PK")) // with which the next entry begins
	if len(media) > 128 || !bytes.HasPrefix(media, []byte("application/")) {
		return ""
	}
	return strings.TrimSpace(string(media))
}

func readEPUB(ctx context.Context, u Unit, note func(Note)) iter.Seq2[drydock.Block, error] {
	again := msg.Text{"get the book again; a reader such as calibre may mend it", "请重新获取该书；也可用 calibre 等软件修复"}
	return packageBlocks(u.File, again, func(p *officePackage, yield func(drydock.Block, error) bool) {
		e := &epub{ctx: ctx, pkg: p, note: note, yield: yield}
		if err := e.read(); err != nil && err != errStop {
			yield(drydock.Block{}, err)
		}
	})
}

// epub reads one book.
type epub struct {
	ctx   context.Context
	pkg   *officePackage
	note  func(Note)
	yield func(drydock.Block, error) bool

	root   string // folder that holds the book in the archive: packers may keep it
	book   epubBook
	toc    bool                       // there is a table of contents, and it was given
	titles map[string]map[string]int8 // by part, as the table of contents has them
	given  int                        // blocks of all chapters
	left   map[string]int
	sheets map[string]string // style sheets read so far, by part
	styled int               // bytes of them that chapters used
}

func (e *epub) read() error {
	opf, err := e.rootFile()
	if err != nil {
		return err
	}
	if e.book, err = readOPF(e.ctx, e.pkg, opf); err != nil {
		return err
	}
	if err := e.refuseProtected(); err != nil {
		return err
	}
	if len(e.book.spine) == 0 {
		return unreadable(e.pkg.file, msg.Text{"the book names no chapters (%s)", "书中没有列出任何章节（%s）"}, opf).Hint(e.pkg.mend)
	}
	e.left = map[string]int{}
	if err := e.contents(); err != nil {
		return err
	}
	for _, part := range e.book.spine {
		if err := e.chapter(part); err != nil {
			return err
		}
	}
	(&htmlWalk{file: e.pkg.file, given: e.given, left: e.left}).tell(e.note, "")
	return nil
}

// rootFile is the package document that META-INF/container.xml names first.
func (e *epub) rootFile() (string, error) {
	const container = "META-INF/container.xml"
	e.root = e.pkg.folderOf(container)
	x, err := e.pkg.tokens(e.ctx, e.root+container)
	if err != nil {
		return "", err
	}
	defer x.close()
	for x.next() {
		if full := e.root + x.attr("full-path"); x.start && localName(x.name) == "rootfile" && e.pkg.has(full) {
			return full, nil
		}
	}
	if x.err != nil {
		return "", x.err
	}
	return "", unreadable(e.pkg.file, msg.Text{"the part META-INF/container.xml names no book", "部件 META-INF/container.xml 未指明书的内容"}).Hint(e.pkg.mend)
}

// folderOf is the folder of a part that should stand at the root of an archive,
// with a slash behind it; empty when it does, or stands nowhere.
func (p *officePackage) folderOf(part string) string {
	found := ""
	for name := range p.parts {
		if folder, ok := strings.CutSuffix(name, "/"+partKey(part)); ok && (found == "" || folder < found) {
			found = folder
		}
	}
	if found == "" || p.has(part) {
		return ""
	}
	at := p.parts[found+"/"+partKey(part)].name
	return strings.ReplaceAll(at, `\`, "/")[:len(at)-len(part)]
}

// refuseProtected refuses a book whose chapters are encrypted, by the name of
// what protects it. Obfuscated fonts do not matter.
func (e *epub) refuseProtected() error {
	list := e.root + "META-INF/encryption.xml"
	if !e.pkg.has(list) {
		return nil
	}
	x, err := e.pkg.tokens(e.ctx, list)
	if err != nil {
		return err
	}
	defer x.close()
	needed := map[string]bool{}
	for _, part := range e.book.spine {
		needed[partKey(part)] = true
	}
	locked := ""
	for x.next() {
		if x.start && localName(x.name) == "CipherReference" {
			uri := x.attr("URI")
			if s, err := url.PathUnescape(uri); err == nil {
				uri = s
			}
			if needed[partKey(e.root+uri)] {
				locked = uri
			}
		}
	}
	if x.err != nil || locked == "" {
		return x.err
	}
	by := "encryption.xml"
	for _, k := range [...]struct{ part, name string }{
		{"META-INF/rights.xml", "Adobe ADEPT"}, {"META-INF/license.lcpl", "Readium LCP"}, {"META-INF/sinf.xml", "Apple FairPlay"},
	} {
		if e.pkg.has(e.root + k.part) {
			by = k.name
		}
	}
	return unreadable(e.pkg.file, msg.Text{"the book is protected against copying (%s): %s is encrypted", "该书受版权保护（%s）：%s 已加密"}, by, locked).
		Hint(msg.Text{"ask its publisher for a copy without protection", "请向出版方索取无保护的版本"})
}

// chapter gives the blocks of one part of the spine. One that cannot be read is
// a drop, and the others go on.
func (e *epub) chapter(part string) error {
	inBook := *e.pkg.file
	meta := drydock.File{Name: e.pkg.file.name() + "!" + part}
	inBook.File = &meta
	text, damage, err := e.page(part)
	if err != nil {
		if e.ctx.Err() != nil {
			return context.Cause(e.ctx)
		}
		d := badBlock(e.pkg.file, drydock.Locator{Part: part}, "part_unreadable", reasonOf(err), "")
		if !e.yield(drydock.Block{}, d) {
			return errStop
		}
		return nil
	}
	root, err := html.Parse(strings.NewReader(text))
	if err != nil {
		return e.pkg.damaged(part, err)
	}
	w := &htmlWalk{
		ctx: e.ctx, file: &inBook, yield: e.yield, left: e.left, given: e.given,
		part: part, titles: e.titles[partKey(part)],
		sheet: func(href string) string { return e.sheet(sheetPath(part, href)) },
	}
	if part == e.book.nav && e.toc {
		w.left = map[string]int{} // the table was given
	}
	err = w.page(root)
	e.given = w.given
	damage.tell(&inBook, e.note)
	return err
}

// maxStyled bounds the bytes of style sheets that the chapters of a book use together.
const maxStyled = 128 << 20

// sheet is the text of a style sheet of the book, which its chapters share.
func (e *epub) sheet(part string) string {
	text, known := e.sheets[part]
	if e.styled += len(text); e.styled > maxStyled {
		return ""
	}
	if known || part == "" || !e.pkg.has(part) {
		return text
	}
	if r, err := e.pkg.open(part); err == nil {
		text = styleText(r)
		r.Close()
	}
	if e.sheets == nil {
		e.sheets = map[string]string{}
	}
	e.sheets[part] = text
	return text
}

// reasonOf is an error's text without the file, for a drop's detail.
func reasonOf(err error) string {
	var e *fail.Error
	if errors.As(err, &e) {
		return e.In(msg.En)
	}
	return err.Error()
}

// page returns a chapter as HTML in UTF-8.
func (e *epub) page(part string) (string, *damaged, error) {
	r, err := e.pkg.open(part)
	if err != nil {
		return "", nil, err
	}
	defer r.Close()
	body, err := io.ReadAll(io.LimitReader(r, maxHTML+1))
	if err == nil && len(body) > maxHTML {
		err = fmt.Errorf("it is larger than %d MiB", maxHTML>>20)
	}
	if err != nil {
		return "", nil, e.pkg.damaged(part, err)
	}
	// the standard allows UTF-8 and UTF-16; older books have others
	text, damage, err := pageText(body, "")
	if err != nil {
		return "", nil, e.pkg.damaged(part, err)
	}
	return openEmpty(text), damage, nil
}

// localName is the name of an element without its prefix.
func localName(name string) string { return name[strings.IndexByte(name, ':')+1:] }

// An epubBook is what the package document says: the chapters in order, and
// where the table of contents is.
type epubBook struct {
	spine    []string // names of parts
	nav, ncx string   // EPUB 3 and 2; empty: none
}

// readOPF reads the package document.
func readOPF(ctx context.Context, p *officePackage, opf string) (epubBook, error) {
	var b epubBook
	x, err := p.tokens(ctx, opf)
	if err != nil {
		return b, err
	}
	defer x.close()
	type item struct{ part, media string }
	items := map[string]item{}
	toc := ""
	seen := map[string]bool{}
	for x.next() {
		if !x.start {
			continue
		}
		switch localName(x.name) {
		case "item":
			it := item{partAt(path.Dir(opf), x.attr("href")), x.attr("media-type")}
			items[x.attr("id")] = it
			if strings.Contains(" "+x.attr("properties")+" ", " nav ") {
				b.nav = it.part
			}
			if it.media == "application/x-dtbncx+xml" {
				b.ncx = it.part
			}
		case "spine":
			toc = x.attr("toc")
		case "itemref":
			// the standard forbids a chapter to stand twice
			if it, known := items[x.attr("idref")]; known && !seen[it.part] {
				seen[it.part] = true
				b.spine = append(b.spine, it.part)
			}
		}
	}
	if it, known := items[toc]; known {
		b.ncx = it.part
	}
	return b, x.err
}

// partAt resolves a reference of a part in dir to the name of a part, without
// the place inside it.
func partAt(dir, href string) string {
	href, _, _ = strings.Cut(href, "#")
	if s, err := url.PathUnescape(href); err == nil {
		href = s
	}
	if href == "" {
		return ""
	}
	return strings.TrimPrefix(path.Join(dir, href), "/")
}
