package format

import (
	"fmt"
	"math"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/klippa-app/go-pdfium"
	"github.com/klippa-app/go-pdfium/enums"
	"github.com/klippa-app/go-pdfium/references"
	"github.com/klippa-app/go-pdfium/requests"
)

// A glyph is one character of a page in the frame of its reading direction: x
// grows along the line, y down the page, in points.
type glyph struct {
	r      rune
	x0, x1 float64 // with the room the font gives the character
	base   float64 // y of the baseline
	size   float64 // height of the em, by the font's ascent and descent
	angle  int     // direction of the line against the page's x axis, degrees
	spaced bool    // PDFium takes the room before it for a space
	ink    ink
}

// A rawPage is what the file says of a page, before any layout. Glyphs are in
// the order of the content stream.
type rawPage struct {
	glyphs   []glyph
	unmapped int   // characters whose font does not tell what they are
	private  int   // characters that only their font knows, outside the usual signs
	pictures int   // images and, on a page without text, drawings and annotations
	scan     bool  // a picture covers most of it
	figures  []box // of images that may show something
	strokes  []stroke
	objects  int // of the page that were asked for

	garbled   int    // characters that were shown by their bytes and put right
	garbledIn string // the encoding of those bytes

	space bool // PDFium made up a space after the last glyph
	cork  bool // codes that only TeX's encoding T1 has were seen
}

// fewGlyphs is below what a page of text has; such a page may be a scan with a
// stamp or a running line on it.
const fewGlyphs = 200

// maxGlyphs bounds one page: a broadsheet in small print has 50,000.
const maxGlyphs = 2_000_000

// readPage reads one page of an open document, counted from 0. pictures says
// that the file holds images and that they are to be found.
func readPage(p pdfium.Pdfium, doc references.FPDF_DOCUMENT, index int, pictures bool) (*rawPage, error) {
	loaded, err := loadPage(p, doc, index)
	if err != nil {
		return nil, err
	}
	defer p.FPDF_ClosePage(&requests.FPDF_ClosePage{Page: loaded})
	page := requests.Page{ByReference: &loaded}
	text, err := p.FPDFText_LoadPage(&requests.FPDFText_LoadPage{Page: page})
	if err != nil {
		return nil, err
	}
	defer p.FPDFText_ClosePage(&requests.FPDFText_ClosePage{TextPage: text.TextPage})
	count, err := p.FPDFText_CountChars(&requests.FPDFText_CountChars{TextPage: text.TextPage})
	if err != nil {
		return nil, err
	}
	if count.Count > maxGlyphs {
		return nil, fmt.Errorf("it holds %d characters; more than %d are not read", count.Count, maxGlyphs)
	}
	raw := &rawPage{glyphs: make([]glyph, 0, max(0, count.Count))}
	high := rune(0) // first half of a surrogate pair
	for i := range count.Count {
		u, err := p.FPDFText_GetUnicode(&requests.FPDFText_GetUnicode{TextPage: text.TextPage, Index: i})
		if err != nil {
			return nil, err
		}
		r := rune(u.Unicode)
		if utf16.IsSurrogate(r) {
			if r < 0xDC00 {
				high = r
				continue
			}
			r, high = utf16.DecodeRune(high, r), 0
		}
		if err := raw.add(p, text.TextPage, i, r); err != nil {
			return nil, err
		}
	}
	raw.ungarble()
	raw.resolve()
	if mayHoldTable(raw.glyphs) {
		raw.strokes, raw.objects = readStrokes(p, page)
	}
	if len(raw.glyphs) < fewGlyphs || pictures {
		err = raw.readPictures(p, page)
	}
	return raw, err
}

// loadPage loads a page with what was filled into its form, or typed onto it,
// as part of its text.
func loadPage(p pdfium.Pdfium, doc references.FPDF_DOCUMENT, index int) (references.FPDF_PAGE, error) {
	req := &requests.FPDF_LoadPage{Document: doc, Index: index}
	loaded, err := p.FPDF_LoadPage(req)
	if err != nil {
		return "", err
	}
	page := requests.Page{ByReference: &loaded.Page}
	if !hasFields(p, page) {
		return loaded.Page, nil
	}
	// in this sandbox's copy of the document; the page shows it when loaded again
	if _, err := p.FPDFPage_Flatten(&requests.FPDFPage_Flatten{Page: page, Usage: requests.FPDFPage_FlattenUsageNormalDisplay}); err != nil {
		return loaded.Page, nil //nolint:nilerr // the page as it was is better than none
	}
	if _, err := p.FPDF_ClosePage(&requests.FPDF_ClosePage{Page: loaded.Page}); err != nil {
		return "", err
	}
	if loaded, err = p.FPDF_LoadPage(req); err != nil {
		return "", err
	}
	return loaded.Page, nil
}

// hasFields reports whether a page has form fields or typed notes. What else is
// laid onto pages, such as links, holds no text.
func hasFields(p pdfium.Pdfium, page requests.Page) bool {
	n, err := p.FPDFPage_GetAnnotCount(&requests.FPDFPage_GetAnnotCount{Page: page})
	if err != nil {
		return false
	}
	const most = 500 // looked at
	for i := range min(n.Count, most) {
		a, err := p.FPDFPage_GetAnnot(&requests.FPDFPage_GetAnnot{Page: page, Index: i})
		if err != nil {
			continue
		}
		t, err := p.FPDFAnnot_GetSubtype(&requests.FPDFAnnot_GetSubtype{Annotation: a.Annotation})
		p.FPDFPage_CloseAnnot(&requests.FPDFPage_CloseAnnot{Annotation: a.Annotation})
		if err == nil && (t.Subtype == enums.FPDF_ANNOT_SUBTYPE_WIDGET || t.Subtype == enums.FPDF_ANNOT_SUBTYPE_FREETEXT) {
			return true
		}
	}
	return false
}

// add takes in character i of a page. Spaces that PDFium made up are only noted,
// its line ends left out: the layout finds its own.
func (raw *rawPage) add(p pdfium.Pdfium, text references.FPDF_TEXTPAGE, i int, r rune) error {
	if r == ' ' || r == '\r' || r == '\n' || r == 0 { // it makes up nothing else
		made, err := p.FPDFText_IsGenerated(&requests.FPDFText_IsGenerated{TextPage: text, Index: i})
		if err != nil || made.IsGenerated {
			raw.space = err == nil && r == ' '
			return nil //nolint:nilerr // -1: no character at all
		}
	}
	var last *glyph
	if n := len(raw.glyphs); n > 0 {
		last = &raw.glyphs[n-1]
	}
	g := glyph{r: r, spaced: raw.space}
	raw.space = false
	ok, err := g.place(p, text, i, last)
	if !ok || err != nil {
		return err
	}
	raw.cork = raw.cork || r >= 0x1B && r <= 0x1F
	if last != nil && !mayChangeInk(*last, g) {
		g.ink = last.ink
	} else {
		g.ink = readInk(p, text, i)
	}
	raw.glyphs = append(raw.glyphs, g)
	return nil
}

// resolve puts characters for PDFium's codes, takes out what shows nothing and
// parts ligatures.
func (raw *rawPage) resolve() {
	kept := raw.glyphs[:0]
	for _, g := range raw.glyphs {
		g.r = meant(g.r, g.x1-g.x0 > 0.2*g.size, raw.cork)
		if g.r == 0 {
			continue
		}
		if g.r == utf8.RuneError {
			raw.unmapped++
		}
		if isPrivate(g.r) {
			raw.private++
		}
		kept = append(kept, g)
	}
	raw.glyphs = kept
	for i := 0; i < len(kept); {
		j := i + 1
		for j < len(kept) && sameBox(kept[i], kept[j]) && !isWide(kept[j].r) {
			j++
		}
		// the letters of one glyph share its box: each gets a part
		part := (kept[i].x1 - kept[i].x0) / float64(j-i)
		for k := i; k < j; k++ {
			x := kept[i].x0
			if k > i {
				x = kept[k-1].x1
			}
			kept[k].x0, kept[k].x1 = x, x+part
		}
		i = j
	}
	clip(kept)
}

// clip ends each glyph where the next begins: for a font that the file does not
// carry, PDFium does not know how wide a character is, only where it stands.
func clip(glyphs []glyph) {
	const apart = 0.15 // of the em; type printed again for bold is nearer
	for i := 1; i < len(glyphs); i++ {
		a, b := &glyphs[i-1], glyphs[i]
		if a.angle == b.angle && abs(a.base-b.base) <= sameBase*a.size && b.x0-a.x0 > apart*a.size && b.x0 < a.x1 {
			a.x1 = b.x0
		}
	}
}

// isPrivate reports whether r is of Unicode's private use, apart from the places
// where programs put the signs of Symbol and Wingdings: those are bullets and
// arrows, and nothing is lost with them.
func isPrivate(r rune) bool {
	return r >= 0xE000 && r < 0xF900 && (r < 0xF020 || r > 0xF0FF) || r >= 0xF0000
}

func sameBox(a, b glyph) bool {
	return a.x0 == b.x0 && a.x1 == b.x1 && a.base == b.base && a.angle == b.angle
}

// meant returns the character that PDFium's code for a glyph stands for, U+FFFD
// where nobody knows, and 0 where there is nothing to see. Control codes are
// the places of ligatures and quotation marks in TeX's fonts, when these say
// nothing more: encoding OT1 or, with cork, T1.
func meant(r rune, inked, cork bool) rune {
	const corkQuotes = "“”„«»–—"
	switch {
	case r == '\t':
		return ' '
	case r == 0x02 || r == 0xFFFE || r == 0xAD: // how PDFium marks a hyphen at a line's end
		return '-'
	case r >= ' ' && r != 0x7F && r != 0xFEFF:
		return r
	case !inked && r != 0:
		return 0
	case cork && r >= 0x10 && r <= 0x16:
		return []rune(corkQuotes)[r-0x10]
	case cork && r >= 0x1B && r <= 0x1F:
		return 0xFB00 + r - 0x1B // ff, fi, fl, ffi, ffl
	case !cork && r >= 0x0B && r <= 0x0F:
		return 0xFB00 + r - 0x0B
	}
	return utf8.RuneError
}

// place finds where a glyph stands, given the one before it in the content
// stream, nil for the first; false: nowhere.
func (g *glyph) place(p pdfium.Pdfium, text references.FPDF_TEXTPAGE, i int, last *glyph) (bool, error) {
	origin, err := p.FPDFText_GetCharOrigin(&requests.FPDFText_GetCharOrigin{TextPage: text, Index: i})
	if err != nil {
		return false, nil //nolint:nilerr // the character has no place on the page
	}
	if last == nil || !last.goesOnAt(origin.X, origin.Y) {
		g.angle = readAngle(p, text, i)
	}
	if g.angle == 0 {
		// the loose box is as wide as the font's advance and as high as the em
		b, err := p.FPDFText_GetLooseCharBox(&requests.FPDFText_GetLooseCharBox{TextPage: text, Index: i})
		if err != nil {
			return false, nil //nolint:nilerr // as above
		}
		g.x0, g.x1 = float64(b.Rect.Left), float64(b.Rect.Right)
		g.size = float64(b.Rect.Top - b.Rect.Bottom)
		g.base = -origin.Y
	} else if err := g.placeTurned(p, text, i, origin.X, origin.Y); err != nil {
		return false, err
	}
	if g.x1 < g.x0 {
		g.x0, g.x1 = g.x1, g.x0
	}
	sane := func(v float64) bool { return !math.IsNaN(v) && math.Abs(v) < 1e6 }
	if !sane(g.x0) || !sane(g.x1) || !sane(g.base) || !sane(g.size) {
		return false, nil
	}
	g.size = max(math.Abs(g.size), 0.5)
	return true, nil
}

// goesOnAt reports whether a glyph at (x, y) of the page can only go on with the
// upright line of a, so that its angle need not be asked for.
func (a *glyph) goesOnAt(x, y float64) bool {
	return a.angle == 0 && -y == a.base && x >= a.x0 && x-a.x1 < runGap*a.size
}

// readAngle asks for the direction of character i's line, in degrees, to the
// nearest quarter turn when it is close to one.
func readAngle(p pdfium.Pdfium, text references.FPDF_TEXTPAGE, i int) int {
	const nearly = 3
	a, err := p.FPDFText_GetCharAngle(&requests.FPDFText_GetCharAngle{TextPage: text, Index: i})
	if err != nil {
		return 0
	}
	degrees := math.Mod(720-float64(a.CharAngle)*180/math.Pi, 360) // PDFium counts clockwise
	if quarter := math.Round(degrees/90) * 90; math.Abs(degrees-quarter) <= nearly {
		degrees = quarter
	}
	return int(math.Round(degrees)) % 360
}

// placeTurned places a glyph of a line that does not run along the x axis: the
// page is turned, or the text is. Loose boxes are wrong there, so that the em
// comes from the text matrix and the width from the ink.
func (g *glyph) placeTurned(p pdfium.Pdfium, text references.FPDF_TEXTPAGE, i int, x, y float64) error {
	sin, cos := math.Sincos(float64(g.angle) * math.Pi / 180)
	along := func(x, y float64) float64 { return x*cos + y*sin }
	g.base = x*sin - y*cos
	g.size = 10
	if f, err := p.FPDFText_GetFontSize(&requests.FPDFText_GetFontSize{TextPage: text, Index: i}); err == nil {
		g.size = f.FontSize
	}
	if m, err := p.FPDFText_GetMatrix(&requests.FPDFText_GetMatrix{TextPage: text, Index: i}); err == nil {
		g.size *= math.Hypot(float64(m.Matrix.C), float64(m.Matrix.D))
	}
	g.x0 = along(x, y)
	g.x1 = g.x0 + g.size/2
	if isWide(g.r) {
		g.x1 = g.x0 + g.size
	}
	// the box lies as if the line ran along the x axis: only its shape is of use
	b, err := p.FPDFText_GetLooseCharBox(&requests.FPDFText_GetLooseCharBox{TextPage: text, Index: i})
	if err != nil {
		return nil //nolint:nilerr // the guess stays
	}
	if high := float64(b.Rect.Top - b.Rect.Bottom); high > 0 {
		const widest = 3 // em
		if wide := float64(b.Rect.Right-b.Rect.Left) / high; wide > 0 && wide < widest {
			g.x1 = g.x0 + wide*g.size
		}
	}
	return nil
}
