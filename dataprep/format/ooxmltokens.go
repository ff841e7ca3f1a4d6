package format

import (
	"bytes"
	"context"
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
	s     *xmlScanner
	pkg   *officePackage
	part  string
	r     io.Closer
	ctx   context.Context
	names map[string]string // as written, to usual
	ns    map[string]string // prefix to usual prefix
	steps int

	start, end bool // which the token is; neither: text
	name       string
	text       []byte // valid until next
	depth      int    // open elements, this start included
	err        error
}

func (p *officePackage) tokens(ctx context.Context, part string) (*xmlTokens, error) {
	r, err := p.open(part)
	if err != nil {
		return nil, err
	}
	const declaration = 256
	head := make([]byte, declaration)
	n, err := io.ReadFull(r, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		r.Close()
		return nil, p.damaged(part, err)
	}
	head = head[:n]
	mark, _ := byMark(head)
	in := io.MultiReader(bytes.NewReader(head[mark.bom:]), r)
	if !mark.plain() {
		in = mark.reader(in)
	} else if label := declaredXML(head); label != "" && mark.bom == 0 && !strings.EqualFold(label, "utf-8") {
		if in, err = charset.NewReaderLabel(label, in); err != nil {
			r.Close()
			return nil, p.damaged(part, err)
		}
	}
	return &xmlTokens{s: newXMLScanner(in), pkg: p, part: part, r: r, ctx: ctx, names: map[string]string{}, ns: map[string]string{}}, nil
}

// declaredXML is the encoding an XML declaration names.
func declaredXML(head []byte) string {
	decl, _, ok := bytes.Cut(head, []byte("?>"))
	if !ok || !bytes.HasPrefix(decl, []byte("<?xml")) {
		return ""
	}
	_, rest, ok := bytes.Cut(decl, []byte("encoding="))
	if !ok || len(rest) < 2 {
		return ""
	}
	label, _, _ := bytes.Cut(rest[1:], rest[:1])
	return string(label)
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
	kind, err := x.s.next()
	if err != nil {
		x.fail(err)
		return false
	}
	x.start, x.end, x.text = kind == xmlStart, kind == xmlEnd, nil
	switch kind {
	case xmlText:
		x.text = x.s.text
	case xmlStart:
		for _, a := range x.s.attrs {
			if prefix, ok := bytes.CutPrefix(a.name, []byte("xmlns")); ok {
				if len(prefix) == 0 {
					x.declare("", string(a.value))
				} else if prefix[0] == ':' {
					x.declare(string(prefix[1:]), string(a.value))
				}
			}
		}
		x.name = x.usual(x.s.tag)
		if x.depth++; x.depth > maxXMLDepth {
			x.err = x.pkg.damaged(x.part, fmt.Errorf("elements nest deeper than %d", maxXMLDepth))
			return false
		}
	case xmlEnd:
		x.name = x.usual(x.s.tag)
		if x.depth--; x.depth < 0 {
			x.err = x.pkg.damaged(x.part, errors.New("an element is closed that was not open"))
			return false
		}
	}
	return true
}

// fail keeps the error of the scanner; the end inside an element is one.
func (x *xmlTokens) fail(err error) {
	if errors.Is(err, io.EOF) {
		if x.depth == 0 {
			return
		}
		err = io.ErrUnexpectedEOF
	}
	line, col := x.s.place()
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
func (x *xmlTokens) usual(raw []byte) string {
	if s, ok := x.names[string(raw)]; ok {
		return s
	}
	prefix, local, found := strings.Cut(string(raw), ":")
	if !found {
		prefix, local = "", prefix
	}
	p, known := x.ns[prefix]
	if !known {
		p = prefix
	}
	s := local
	if p != "" {
		s = p + ":" + local
	}
	x.names[string(raw)] = s
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
	for _, a := range x.s.attrs {
		if string(a.local()) == local {
			return x.value(a)
		}
	}
	return ""
}

// prefixed is attr for one with a prefix, whichever: r:id, not id.
func (x *xmlTokens) prefixed(local string) string {
	for _, a := range x.s.attrs {
		if string(a.local()) == local && len(a.name) > len(local) {
			return x.value(a)
		}
	}
	return ""
}

// value resolves the references of an attribute.
func (x *xmlTokens) value(a xmlAttr) string {
	if bytes.IndexByte(a.value, '&') < 0 {
		return string(a.value)
	}
	v, err := unreferenced(nil, a.value)
	if err != nil {
		return string(a.value)
	}
	return string(v)
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
	if !x.next() || x.depth < in { // as nearly always
		return first
	}
	var b strings.Builder
	b.WriteString(first)
	b.Write(x.text)
	for x.next() && x.depth >= in {
		b.Write(x.text)
	}
	return b.String()
}

// skip passes the rest of the element whose start was just read.
func (x *xmlTokens) skip() {
	for want := x.depth - 1; x.depth > want && x.next(); {
	}
}
