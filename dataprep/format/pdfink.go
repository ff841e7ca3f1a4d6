package format

import (
	"fmt"
	"unicode"

	"github.com/klippa-app/go-pdfium"
	"github.com/klippa-app/go-pdfium/references"
	"github.com/klippa-app/go-pdfium/requests"

	"github.com/drydock-ml/drydock"
)

// An ink is what a glyph is filled with: red, green, blue, and how much of what
// lies under it shows through, a byte each from the highest. Black is 0.
type ink uint32

// mayChangeInk reports whether b may have another colour than a, the glyph
// before it. Asking costs as much as half of a glyph's geometry, so it is done
// only where colour means something: at the start of a piece of text and at
// what may be the letter of an option or an answer.
func mayChangeInk(a, b glyph) bool {
	return a.angle != b.angle || b.spaced || unicode.IsSpace(a.r) || unicode.IsUpper(b.r) ||
		a.r == '(' || a.r == '（' || !follows(a, b)
}

// readInk asks for the fill of character i; black where nobody knows.
func readInk(p pdfium.Pdfium, text references.FPDF_TEXTPAGE, i int) ink {
	c, err := p.FPDFText_GetFillColor(&requests.FPDFText_GetFillColor{TextPage: text, Index: i})
	if err != nil {
		return 0
	}
	return ink(c.R&0xFF)<<24 | ink(c.G&0xFF)<<16 | ink(c.B&0xFF)<<8 | ink(255-c.A&0xFF)
}

// over returns the components as they show on white paper, 0–255.
func (k ink) over() (r, g, b int) {
	a := 255 - int(k&0xFF)
	on := func(shift uint) int { return (int(k>>shift&0xFF)*a + 255*(255-a)) / 255 }
	return on(24), on(16), on(8)
}

// faint reports whether the ink is so light that text in it is meant to be
// looked through, as a watermark's is.
func (k ink) faint() bool {
	const light = 160 // of 255; the grey of footers and captions is darker
	r, g, b := k.over()
	return 299*r+587*g+114*b >= 1000*light && max(r, g, b)-min(r, g, b) < 96
}

// coloured reports whether the ink has a hue that a reader would call a colour.
func (k ink) coloured() bool {
	const vivid = 96
	r, g, b := k.over()
	return max(r, g, b)-min(r, g, b) >= vivid
}

// span marks a stretch of text as coloured.
func (k ink) span(start, end int) drydock.Span {
	r, g, b := k.over()
	return drydock.Span{Start: start, End: end, Kind: drydock.Color, Value: fmt.Sprintf("%02X%02X%02X", r, g, b)}
}
