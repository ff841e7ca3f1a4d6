package format

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/drydock-ml/drydock/internal/meter"
)

// scanned lists the tokens of an XML text, neighbouring text joined.
func scanned(r io.Reader) (out []string, err error) {
	s := newXMLScanner(r)
	text := ""
	flush := func() {
		if text != "" {
			out = append(out, "text "+text)
		}
		text = ""
	}
	for {
		kind, err := s.next()
		if err != nil {
			flush()
			if errors.Is(err, io.EOF) {
				err = nil
			}
			return out, err
		}
		switch kind {
		case xmlText:
			text += string(s.text)
		case xmlStart:
			flush()
			line := "start " + string(s.tag)
			for _, a := range s.attrs {
				v, err := unreferenced(nil, a.value)
				if err != nil {
					v = a.value
				}
				line += fmt.Sprintf(" %s=%q", a.name, v)
			}
			out = append(out, line)
		case xmlEnd:
			flush()
			out = append(out, "end "+string(s.tag))
		}
	}
}

// decoded lists the tokens encoding/xml gives.
func decoded(doc string) (out []string, err error) {
	d := xml.NewDecoder(strings.NewReader(doc))
	text := ""
	flush := func() {
		if text != "" {
			out = append(out, "text "+text)
		}
		text = ""
	}
	name := func(n xml.Name) string {
		if n.Space != "" {
			return n.Space + ":" + n.Local
		}
		return n.Local
	}
	for {
		t, err := d.RawToken()
		if err != nil {
			flush()
			if errors.Is(err, io.EOF) {
				err = nil
			}
			return out, err
		}
		switch t := t.(type) {
		case xml.CharData:
			text += string(t)
		case xml.StartElement:
			flush()
			line := "start " + name(t.Name)
			for _, a := range t.Attr {
				line += fmt.Sprintf(" %s=%q", name(a.Name), a.Value)
			}
			out = append(out, line)
		case xml.EndElement:
			flush()
			out = append(out, "end "+name(t.Name))
		}
	}
}

func xmlSamples() []string {
	return []string{
		`<?xml version="1.0"?><!-- c > --><!DOCTYPE a [<!ENTITY x "y">]><a b="1" c='2>"'><d/>t&lt;&#x4E00;&#65;<![CDATA[<x>&]]>` + "\r\n" + `</a >`,
		`<w:p xmlns:w="u"><w:t xml:space="preserve"> 题 &amp; 文 </w:t></w:p>`,
		"<a\n b = \"x\ny\" />",
		`<a>` + strings.Repeat("长", 1000) + `</a>`,
	}
}

func TestXMLScanner(t *testing.T) {
	t.Parallel()
	for _, doc := range xmlSamples() {
		want, err := decoded(doc)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range []io.Reader{strings.NewReader(doc), iotest.OneByteReader(strings.NewReader(doc))} {
			if got, err := scanned(r); err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("%q:\n got %q, %v\nwant %q", doc, got, err, want)
			}
		}
	}
	for _, doc := range []string{"<a", "<a b=1>", "<a b>", "<!-- x", "<![CDATA[x", "<?xml", "a & b", "&nbsp;", "&#0;", "\xff", "<>", "</>", "<a b='x>", "<a<b>"} {
		if got, err := scanned(strings.NewReader(doc)); err == nil {
			t.Errorf("%q gave %q and no error", doc, got)
		}
	}
	s := newXMLScanner(strings.NewReader("<a>\n<b>\n <c x></c>"))
	for {
		if _, err := s.next(); err != nil {
			if line, column := s.place(); line != 3 || column != 7 {
				t.Errorf("the fault stands at %d:%d", line, column)
			}
			break
		}
	}
}

// Text longer than is given at once comes whole.
func TestXMLScannerLongText(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("船&amp;舶\r\n", 400_000)
	got, err := scanned(strings.NewReader("<a>" + text + "</a>"))
	if want := "text " + strings.Repeat("船&舶\n", 400_000); err != nil || len(got) != 3 || got[1] != want {
		t.Errorf("%d tokens, error %v", len(got), err)
	}
}

// What encoding/xml reads is read the same.
func FuzzXMLScanner(f *testing.F) {
	for _, s := range xmlSamples() {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, doc string) {
		if strings.Contains(doc, "<!") && !strings.Contains(doc, "<![CDATA[") || strings.Contains(doc, "<?") {
			_, _ = scanned(strings.NewReader(doc)) // declarations are passed over, not understood
			return
		}
		got, err := scanned(strings.NewReader(doc))
		again, err2 := scanned(iotest.HalfReader(strings.NewReader(doc)))
		if fmt.Sprint(got, err) != fmt.Sprint(again, err2) {
			t.Fatalf("%q read in pieces: %q %v, at once %q %v", doc, again, err2, got, err)
		}
		want, werr := decoded(doc)
		if werr == nil && (err != nil || strings.Join(got, "\n") != strings.Join(want, "\n")) {
			t.Fatalf("%q:\n got %q, %v\nwant %q", doc, got, err, want)
		}
	})
}

func BenchmarkXMLScanner(b *testing.B) {
	doc := "<w:document>" + strings.Repeat(`<w:p w:rsidR="00A1"><w:pPr><w:pStyle w:val="a"/></w:pPr><w:r><w:rPr><w:rFonts w:hint="eastAsia"/></w:rPr><w:t>船舶在能见度不良的水域中航行</w:t></w:r></w:p>`, 20_000) + "</w:document>"
	b.Run("drydock", func(b *testing.B) {
		defer meter.CPU(b, len(doc))()
		for b.Loop() {
			s := newXMLScanner(strings.NewReader(doc))
			for {
				if _, err := s.next(); err != nil {
					break
				}
			}
		}
	})
	b.Run("encoding/xml", func(b *testing.B) {
		defer meter.CPU(b, len(doc))()
		for b.Loop() {
			d := xml.NewDecoder(strings.NewReader(doc))
			for {
				if _, err := d.RawToken(); err != nil {
					break
				}
			}
		}
	})
}
