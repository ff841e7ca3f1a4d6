package format_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/dataprep/format/formattest"
	"github.com/drydock-ml/drydock/internal/msg"
)

func TestPDFPictures(t *testing.T) {
	t.Parallel()
	f := pdfFile{pages: []pdfContent{
		{stream: at(72, 700, 11, "text")},
		{stream: picture(0, 0, 595, 842)},
		{stream: picture(0, 0, 595, 842) + at(300, 30, 8, "scanned by X")},
		{stream: ""},
		{stream: at(72, 700, 11, "more text") + picture(10, 10, 50, 50)},
	}}
	r := readPDFFile(t, f, pdfOptions())
	if d := cmp.Diff([]string{"text", "scanned by X", "more text", ""}, texts(r)); d != "" {
		t.Error(d)
	}
	var got []string
	for _, d := range r.Drops {
		got = append(got, d.Reason+" "+d.Record.Origin.At.String())
	}
	if d := cmp.Diff([]string{"image_only_page p2", "image_only_page p3"}, got); d != "" {
		t.Error(d)
	}
	if len(r.Notes) != 1 || !r.Notes[0].Damage || !strings.Contains(r.Notes[0].In(msg.Zh), "2–3") || !strings.Contains(r.Notes[0].In(msg.Zh), "OCR") {
		t.Errorf("notes %v", r.Notes)
	}
	if r := readPDFFile(t, onePage(""), pdfOptions()); !slices.Equal(noteCodes(r), []string{"no_text"}) {
		t.Errorf("an empty document gave the notes %v", noteCodes(r))
	}
}

// TestPDFFigures refers to pictures where they stand, and to no logos, icons or
// backgrounds.
func TestPDFFigures(t *testing.T) {
	t.Parallel()
	show := func(r formattest.Result) (out []string) {
		for _, b := range r.Blocks {
			if b.Figure != "" {
				if len(b.Spans) != 1 || b.Spans[0].Kind != drydock.Image || b.Spans[0].Value != b.Figure || b.Text != "" {
					t.Errorf("a figure came as %+v", b)
				}
				out = append(out, "["+b.Figure+"]")
				continue
			}
			out = append(out, b.Text)
		}
		return out
	}
	column := func(x, y float64, n int) string {
		return lines(x, y, 11, 16, fmt.Sprintf("%d. Which light is shown in the figure below here?", n)) +
			lines(x, y-130, 11, 16, "A. white and red over green", "B. red and white over green", "C. all of the lights above", "D. none of the lights above")
	}
	page := column(60, 760, 1) + picture(100, 640, 100, 100) + // whole
		column(60, 540, 2) + picture(100, 470, 100, 40) + picture(100, 430, 100, 40) + // in two strips
		column(330, 760, 3) + picture(340, 640, 150, 100) + column(330, 540, 4) + // in the right column
		picture(320, 520, 8, 8) // an icon
	want := []string{}
	for n := range 4 {
		want = append(want, fmt.Sprintf("%d. Which light is shown in the figure below here?", n+1))
		if n < 3 {
			want = append(want, fmt.Sprintf("[p1-%d]", n+1))
		}
		want = append(want, "A. white and red over green", "B. red and white over green", "C. all of the lights above", "D. none of the lights above")
	}
	r := readPDFFile(t, onePage(page), pdfOptions())
	if d := cmp.Diff(want, show(r)); d != "" {
		t.Error(d)
	}
	if !r.Silent() {
		t.Errorf("not silent: %v", noteCodes(r))
	}
	f := bank(5)
	for i := range f.pages {
		f.pages[i].stream += picture(500, 780, 40, 40)
	}
	f.pages[2].stream += picture(80, 400, 90, 90)
	r = readPDFFile(t, f, pdfOptions())
	if got := show(r); len(got) != 26 || got[15] != "[p3-2]" || !slices.Equal(noteCodes(r), []string{"repeated_pictures"}) {
		t.Errorf("got %q, notes %v", got, noteCodes(r))
	}
}

// TestPDFFields reads what was filled into a form where it stands.
func TestPDFFields(t *testing.T) {
	t.Parallel()
	const content, filled = "BT /F1 11 Tf 72 700 Td (Name:) Tj 0 -20 Td (Answer: B) Tj ET", "BT /F1 11 Tf 2 4 Td (Zhang San) Tj ET"
	file := fmt.Sprintf(`%%PDF-1.4
1 0 obj << /Type /Catalog /Pages 2 0 R /AcroForm << /Fields [6 0 R] >> >> endobj
2 0 obj << /Type /Pages /Kids [3 0 R] /Count 1 >> endobj
3 0 obj << /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R /Annots [6 0 R] /Resources << /Font << /F1 5 0 R >> >> >> endobj
4 0 obj << /Length %d >> stream
%s
endstream endobj
5 0 obj << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> endobj
6 0 obj << /Type /Annot /Subtype /Widget /FT /Tx /T (name) /V (Zhang San) /F 4 /Rect [110 696 210 712] /AP << /N 7 0 R >> >> endobj
7 0 obj << /Type /XObject /Subtype /Form /BBox [0 0 100 16] /Resources << /Font << /F1 5 0 R >> >> /Length %d >> stream
%s
endstream endobj
trailer << /Root 1 0 R >>
%%%%EOF
`, len(content), content, len(filled), filled)
	r, _ := formattest.Read(t.Context(), writeBytes(t, "x.pdf", []byte(file)), pdfOptions())
	if d := cmp.Diff([]string{"Name: Zhang San", "Answer: B"}, texts(r)); d != "" {
		t.Error(d)
	}
}
