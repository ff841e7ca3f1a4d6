package format

import (
	"bytes"
	"encoding/base64"
	"encoding/xml"
	"errors"
	"io"
	"strings"

	"github.com/drydock-ml/drydock/internal/msg"
)

// Namespaces of documents that are one XML file.
const (
	flatPackage = "http://schemas.microsoft.com/office/2006/xmlPackage"
	word2003    = "http://schemas.microsoft.com/office/word/2003/wordml"
)

// maxFlat is the largest flat package read; it is held whole.
const maxFlat = 256 << 20

// flatKind tells an XML file that is a Word document by its head: the namespace
// of its root element; empty for any other.
func flatKind(head []byte) string {
	head = head[:min(len(head), 8<<10)]
	if e, ok := byMark(head); ok && !e.plain() {
		head = decodeHead(head)
	}
	text := string(bytes.TrimSpace(bytes.TrimPrefix(head, []byte("\xEF\xBB\xBF"))))
	if !strings.HasPrefix(text, "<") {
		return ""
	}
	switch {
	case strings.Contains(text, flatPackage) && strings.Contains(text, ":package"):
		return flatPackage
	case strings.Contains(text, word2003) && strings.Contains(text, ":wordDocument"):
		return word2003
	}
	return ""
}

func holdsFlat(r io.ReaderAt) bool {
	head := make([]byte, 8<<10)
	n, _ := r.ReadAt(head, 0)
	return flatKind(head[:n]) != ""
}

// openFlat opens a document that is one XML file: a package written as one (Flat
// OPC, [MS-DOCX] 2.2), or a document of Word 2003, whose text, styles and lists
// are the same part.
func openFlat(file *File, mend msg.Text, r io.ReaderAt) (*officePackage, error) {
	if file.Size > maxFlat {
		return nil, unreadable(file, msg.Text{"the document is larger than %d MiB", "文档超过 %d MiB"}, maxFlat>>20).
			Hint(msg.Text{"save it as DOCX", "请另存为 DOCX"})
	}
	b := make([]byte, file.Size)
	n, err := r.ReadAt(b, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, cannotOpen(file, err)
	}
	b = b[:n]
	p := &officePackage{file: file, parts: map[string]*officePart{}, mend: mend}
	if flatKind(b) == word2003 {
		p.add("word/document.xml", b)
		p.add("word/styles.xml", b)
		p.add("word/numbering.xml", b)
		return p, nil
	}
	if e, ok := byMark(b); ok && !e.plain() { // the places of parts are counted in UTF-8
		if b, err = io.ReadAll(e.reader(bytes.NewReader(b[e.bom:]))); err != nil {
			return nil, cannotOpen(file, err)
		}
	}
	if err := p.unfold(b); err != nil {
		return nil, unreadable(file, msg.Text{"the file is damaged or cut off: %v", "文件已损坏或不完整：%v"}, err).
			Hint(mend)
	}
	return p, nil
}

// add puts bytes in memory as a part.
func (p *officePackage) add(name string, b []byte) {
	p.parts[partKey(name)] = &officePart{
		name: name, packed: uint64(len(b)),
		open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(b)), nil },
	}
}

// unfold finds the parts of a flat package in b: elements of the root, each with
// the part's XML or its bytes in an element of its own.
func (p *officePackage) unfold(b []byte) error {
	const inPart = 3
	d := xml.NewDecoder(bytes.NewReader(b))
	d.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil }
	depth, name, start := 0, "", int64(0)
	for {
		before := d.InputOffset()
		t, err := d.RawToken()
		if errors.Is(err, io.EOF) && depth == 0 {
			return nil
		}
		if err != nil {
			return err
		}
		switch t := t.(type) {
		case xml.StartElement:
			if depth++; depth > maxXMLDepth {
				return errors.New("elements nest too deep")
			}
			if depth == inPart-1 {
				name = ""
				for _, a := range t.Attr {
					if a.Name.Local == "name" {
						name = a.Value
					}
				}
			}
			if depth == inPart {
				start = d.InputOffset()
			}
		case xml.EndElement:
			if depth--; depth == inPart-1 && !p.has(name) && len(p.parts) < maxParts {
				data := b[start:before]
				if t.Name.Local == "binaryData" {
					if data, err = base64.StdEncoding.DecodeString(string(bytes.Join(bytes.Fields(data), nil))); err != nil {
						return err
					}
				}
				p.add(name, data)
			}
		}
	}
}
