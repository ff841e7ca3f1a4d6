package format

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"

	"golang.org/x/net/html/charset"

	"github.com/drydock-ml/drydock/internal/fail"
)

// xmlTokens walks the XML of a part. Names come with the usual prefix of their
// namespace ("w:p"), whatever prefix the file gives it.
type xmlTokens struct {
	d     *xml.Decoder
	pkg   *officePackage
	part  string
	r     io.Closer
	ctx   context.Context
	names map[xml.Name]string
	ns    map[string]string // prefix to usual prefix
	steps int

	start, end bool // which the token is; neither: text
	name       string
	attrs      []xml.Attr // of a start
	text       []byte     // valid until next
	depth      int        // open elements, this start included
	err        error
}

func (p *officePackage) tokens(ctx context.Context, part string) (*xmlTokens, error) {
	r, err := p.open(part)
	if err != nil {
		return nil, err
	}
	head := make([]byte, 4)
	n, err := io.ReadFull(r, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		r.Close()
		return nil, p.damaged(part, err)
	}
	in := io.MultiReader(bytes.NewReader(head[:n]), r)
	wide, isWide := byMark(head[:n])
	if isWide = isWide && !wide.plain(); isWide {
		in = wide.reader(io.MultiReader(bytes.NewReader(head[wide.bom:n]), r))
	}
	d := xml.NewDecoder(in)
	d.CharsetReader = func(label string, in io.Reader) (io.Reader, error) {
		if isWide {
			return in, nil // decoded already
		}
		return charset.NewReaderLabel(label, in)
	}
	return &xmlTokens{d: d, pkg: p, part: part, r: r, ctx: ctx, names: map[xml.Name]string{}, ns: map[string]string{}}, nil
}

func (x *xmlTokens) close() { x.r.Close() }

// next moves to the next start, end or text; false at the end or on an error.
func (x *xmlTokens) next() bool {
	if x.err != nil {
		return false
	}
	if x.steps++; x.steps&1023 == 0 && x.ctx.Err() != nil {
		x.err = context.Cause(x.ctx)
		return false
	}
	for {
		t, err := x.d.RawToken()
		if err != nil {
			x.fail(err)
			return false
		}
		x.start, x.end, x.text = false, false, nil
		switch t := t.(type) {
		case xml.StartElement:
			for _, a := range t.Attr {
				if a.Name.Space == "xmlns" {
					x.declare(a.Name.Local, a.Value)
				} else if a.Name.Space == "" && a.Name.Local == "xmlns" {
					x.declare("", a.Value)
				}
			}
			x.start, x.name, x.attrs = true, x.usual(t.Name), t.Attr
			if x.depth++; x.depth > maxXMLDepth {
				x.err = x.pkg.damaged(x.part, fmt.Errorf("elements nest deeper than %d", maxXMLDepth))
				return false
			}
			return true
		case xml.EndElement:
			x.end, x.name = true, x.usual(t.Name)
			if x.depth--; x.depth < 0 {
				x.err = x.pkg.damaged(x.part, errors.New("an element is closed that was not open"))
				return false
			}
			return true
		case xml.CharData:
			x.text = t
			return true
		}
	}
}

// fail keeps the error of the decoder; the end inside an element is one.
func (x *xmlTokens) fail(err error) {
	if errors.Is(err, io.EOF) {
		if x.depth == 0 {
			return
		}
		err = io.ErrUnexpectedEOF
	}
	line, col := x.d.InputPos()
	var e *fail.Error
	if !errors.As(err, &e) {
		err = fmt.Errorf("line %d, column %d: %w", line, col, err)
	}
	x.err = x.pkg.damaged(x.part, err)
}

func (x *xmlTokens) declare(prefix, uri string) {
	usual := usualPrefix(uri)
	if was, known := x.ns[prefix]; !known || was != usual {
		x.ns[prefix] = usual
		clear(x.names)
	}
}

// usual joins a name with the usual prefix of its namespace.
func (x *xmlTokens) usual(n xml.Name) string {
	if s, ok := x.names[n]; ok {
		return s
	}
	p, known := x.ns[n.Space]
	if !known {
		p = n.Space
	}
	s := n.Local
	if p != "" {
		s = p + ":" + n.Local
	}
	x.names[n] = s
	return s
}

// usualPrefix is how the standard's own text calls a namespace, transitional
// (ECMA-376 Part 4) or strict; empty for those of a single vocabulary.
func usualPrefix(uri string) string {
	switch uri {
	case "http://schemas.openxmlformats.org/wordprocessingml/2006/main", "http://purl.oclc.org/ooxml/wordprocessingml/main",
		word2003:
		return "w"
	case "http://schemas.microsoft.com/office/word/2003/auxHint":
		return "wx"
	case "http://schemas.microsoft.com/aml/2001/core":
		return "aml"
	case "http://schemas.openxmlformats.org/officeDocument/2006/math", "http://purl.oclc.org/ooxml/officeDocument/math":
		return "m"
	case "http://schemas.openxmlformats.org/drawingml/2006/main", "http://purl.oclc.org/ooxml/drawingml/main":
		return "a"
	case "http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing", "http://purl.oclc.org/ooxml/drawingml/wordprocessingDrawing":
		return "wp"
	case "http://schemas.openxmlformats.org/markup-compatibility/2006":
		return "mc"
	case "urn:schemas-microsoft-com:vml":
		return "v"
	case "http://schemas.openxmlformats.org/spreadsheetml/2006/main", "http://purl.oclc.org/ooxml/spreadsheetml/main",
		"http://schemas.openxmlformats.org/package/2006/relationships", "http://schemas.openxmlformats.org/package/2006/content-types":
		return ""
	}
	// OpenDocument: urn:oasis:names:tc:opendocument:xmlns:text:1.0
	if rest, ok := strings.CutPrefix(uri, "urn:oasis:names:tc:opendocument:xmlns:"); ok {
		name, _, _ := strings.Cut(rest, ":")
		return strings.TrimSuffix(strings.TrimSuffix(name, "-compatible"), "ing") // drawing is draw
	}
	return "other"
}

// attr returns an attribute by its local name.
func (x *xmlTokens) attr(local string) string {
	for i := range x.attrs {
		if x.attrs[i].Name.Local == local {
			return x.attrs[i].Value
		}
	}
	return ""
}

// on reads a switch such as <w:b/>: present without a value is on.
func (x *xmlTokens) on() bool {
	switch x.attr("val") {
	case "0", "false", "off", "none":
		return false
	}
	return true
}

// content reads the element whose start was just read and returns its text.
func (x *xmlTokens) content() string {
	in := x.depth
	if !x.next() || x.depth < in {
		return ""
	}
	first := string(x.text)
	for x.next() && x.depth >= in {
		first += string(x.text)
	}
	return first
}

// skip passes the rest of the element whose start was just read.
func (x *xmlTokens) skip() {
	for want := x.depth - 1; x.depth > want && x.next(); {
	}
}
