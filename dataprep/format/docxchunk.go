package format

import (
	"bytes"
	"io"
	"path"
	"strings"

	"golang.org/x/net/html"

	"github.com/drydock-ml/drydock"
)

// maxChunkDepth bounds documents inside documents.
const maxChunkDepth = 4

// altChunk reads a document that lies inside this one: a web page, plain or with
// its pictures as one file (MHT), another Word document, or plain text. What
// cannot be read is counted.
func (d *docx) altChunk(id string) error {
	rel, ok := d.rels[id]
	if !ok || rel.external || !d.pkg.has(rel.target) || d.chunkDepth >= maxChunkDepth {
		d.altChunks++
		return nil
	}
	if err := d.flush(); err != nil {
		return err
	}
	r, err := d.pkg.open(rel.target)
	if err != nil {
		return err
	}
	defer r.Close()
	body, err := io.ReadAll(io.LimitReader(r, maxHTML+1))
	if err != nil {
		return d.pkg.damaged(rel.target, err)
	}
	if len(body) > maxHTML {
		d.altChunks++
		return nil
	}
	head := body[:min(len(body), HeadSize)]
	switch {
	case bytes.HasPrefix(body, []byte(zipSignature)) || flatKind(head) != "":
		return d.innerDocument(rel.target, body)
	case isWebArchive(head, rel.target):
		page, label, err := webArchivePage(bytes.NewReader(body))
		if err != nil {
			d.altChunks++
			return nil
		}
		return d.innerPage(rel.target, page, label)
	case looksText(head) && !bytes.HasPrefix(body, []byte(`{\rtf`)):
		if sniffHTML(head, rel.target) || strings.HasPrefix(path.Ext(rel.target), ".htm") {
			return d.innerPage(rel.target, body, "")
		}
		return d.innerText(rel.target, body)
	}
	d.altChunks++
	return nil
}

// innerDocument reads a Word document in memory; its blocks get the part's name.
func (d *docx) innerDocument(part string, body []byte) error {
	file := *d.pkg.file
	file.Size = int64(len(body))
	p, err := openPackageAt(&file, d.pkg.mend, bytes.NewReader(body))
	if err != nil {
		d.altChunks++
		return nil
	}
	in := &docx{ctx: d.ctx, pkg: p, note: d.note, chunkDepth: d.chunkDepth + 1}
	in.yield = func(b drydock.Block, err error) bool {
		if err != nil {
			return d.yield(b, err)
		}
		b.At.Part = path.Join(part, b.At.Part)
		return d.emit(b) == nil
	}
	return in.read()
}

// innerPage reads a web page.
func (d *docx) innerPage(part string, body []byte, label string) error {
	text, damage, err := pageText(body, label)
	if err != nil {
		return d.pkg.damaged(part, err)
	}
	root, err := html.Parse(strings.NewReader(text))
	if err != nil {
		return d.pkg.damaged(part, err)
	}
	w := &htmlWalk{ctx: d.ctx, file: d.pkg.file, left: map[string]int{}, part: part}
	w.yield = func(b drydock.Block, _ error) bool { return d.emit(b) == nil }
	if err := w.page(root); err != nil {
		return err
	}
	damage.tell(d.pkg.file, d.note)
	w.tell(d.note, "")
	return nil
}

// innerText reads plain text.
func (d *docx) innerText(part string, body []byte) error {
	text, damage, err := pageText(body, "")
	if err != nil {
		return d.pkg.damaged(part, err)
	}
	lines := strings.Split(strings.TrimRight(strings.ReplaceAll(text, "\r\n", "\n"), "\n"), "\n")
	for i, l := range lines {
		if err := d.emit(drydock.Block{Text: l, At: drydock.Locator{Part: part, Para: i + 1}}); err != nil {
			return err
		}
	}
	damage.tell(d.pkg.file, d.note)
	return nil
}
