package format

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/klippa-app/go-pdfium"
	"github.com/klippa-app/go-pdfium/enums"
	"github.com/klippa-app/go-pdfium/references"
	"github.com/klippa-app/go-pdfium/requests"
	"github.com/zeebo/xxh3"

	"github.com/drydock-ml/drydock"
)

// A box is the place of an image on a page, in points, in the page's own frame: y
// grows upwards.
type box struct {
	x0, y0, x1, y1 float64
	sum            uint64 // of the image's bytes
}

// holdsImages reports whether a PDF holds images at all: their dictionaries stand
// in the file as they are, since a stream cannot lie in a compressed object
// stream (ISO 32000-1, 7.5.7), and encryption leaves names alone. Most exam
// papers hold none, and looking for them on every page is slow.
func holdsImages(r io.Reader) (bool, error) {
	name := []byte("/Image")
	buf := make([]byte, 256<<10)
	kept := 0
	for {
		n, err := io.ReadFull(r, buf[kept:])
		seen := buf[:kept+n]
		for i := 0; ; i++ {
			j := bytes.Index(seen[i:], name)
			if j < 0 {
				break
			}
			// /ImageMask and /ImageC name other things
			if i += j; i+len(name) == len(seen) || !isNameByte(seen[i+len(name)]) {
				return true, nil
			}
		}
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		kept = copy(buf, seen[len(seen)-len(name):])
	}
}

func isNameByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-' || c == '#'
}

// readPictures looks for the images of a page, and for what a page without text
// shows instead. A drawing of many strokes may be text turned to curves.
func (raw *rawPage) readPictures(p pdfium.Pdfium, page requests.Page) error {
	const manyStrokes = 50
	n, err := p.FPDFPage_CountObjects(&requests.FPDFPage_CountObjects{Page: page})
	if err != nil {
		return err
	}
	if n.Count > mostObjects { // a map or a drawing, or text turned to curves
		if len(raw.glyphs) < fewGlyphs {
			raw.pictures++
		}
		return nil
	}
	size, err := p.FPDF_GetPageBoundingBox(&requests.FPDF_GetPageBoundingBox{Page: page})
	area := math.Inf(1)
	if err == nil {
		area = math.Abs(float64((size.Rect.Right - size.Rect.Left) * (size.Rect.Top - size.Rect.Bottom)))
	}
	if a, err := p.FPDFPage_GetAnnotCount(&requests.FPDFPage_GetAnnotCount{Page: page}); err == nil && len(raw.glyphs) == 0 {
		raw.pictures += a.Count // a stamp or a form field: drawn, but no text of the page
	}
	raw.objects += n.Count
	strokes := 0
	for i := range n.Count {
		o, err := p.FPDFPage_GetObject(&requests.FPDFPage_GetObject{Page: page, Index: i})
		if err != nil {
			continue
		}
		t, err := p.FPDFPageObj_GetType(&requests.FPDFPageObj_GetType{PageObject: o.PageObject})
		if err != nil {
			continue
		}
		switch t.Type {
		case enums.FPDF_PAGEOBJ_IMAGE, enums.FPDF_PAGEOBJ_FORM:
			raw.pictures++
			b, err := p.FPDFPageObj_GetBounds(&requests.FPDFPageObj_GetBounds{PageObject: o.PageObject})
			if err != nil {
				continue
			}
			at := box{x0: float64(b.Left), y0: float64(b.Bottom), x1: float64(b.Right), y1: float64(b.Top)}
			const most, whole = 0.5, 0.8
			part := (at.x1 - at.x0) * (at.y1 - at.y0) / area
			raw.scan = raw.scan || part > most
			if part < whole && at.isFigure() && (t.Type == enums.FPDF_PAGEOBJ_IMAGE || isPicture(p, o.PageObject)) {
				if d, err := p.FPDFImageObj_GetImageDataRaw(&requests.FPDFImageObj_GetImageDataRaw{ImageObject: o.PageObject}); err == nil {
					at.sum = xxh3.Hash(d.Data)
				}
				raw.figures = append(raw.figures, at)
			}
		case enums.FPDF_PAGEOBJ_PATH:
			strokes++
		}
	}
	if strokes >= manyStrokes {
		raw.pictures++
	}
	if len(raw.glyphs) >= fewGlyphs {
		raw.scan = false
	}
	return nil
}

// isFigure reports whether a picture is large enough to show something: icons,
// bullets and rules are not.
func (b box) isFigure() bool {
	const least = 24 // points
	return b.x1-b.x0 >= least && b.y1-b.y0 >= least
}

// isPicture reports whether a form, which may be any part of a page, holds an
// image and no text.
func isPicture(p pdfium.Pdfium, form references.FPDF_PAGEOBJECT) bool {
	const most = 50 // things in it; a drawn diagram has more
	n, err := p.FPDFFormObj_CountObjects(&requests.FPDFFormObj_CountObjects{PageObject: form})
	if err != nil || n.Count > most {
		return false
	}
	image := false
	for i := range n.Count {
		o, err := p.FPDFFormObj_GetObject(&requests.FPDFFormObj_GetObject{PageObject: form, Index: uint64(i)})
		if err != nil {
			return false
		}
		t, err := p.FPDFPageObj_GetType(&requests.FPDFPageObj_GetType{PageObject: o.PageObject})
		if err != nil || t.Type == enums.FPDF_PAGEOBJ_TEXT {
			return false
		}
		image = image || t.Type == enums.FPDF_PAGEOBJ_IMAGE
	}
	return image
}

// A figure is an image of a page in the frame of its text.
type figure struct {
	x0, x1, top, low float64
	name             string
	sum              uint64 // of the image's bytes
	after            int    // index of the line it follows; -1: none
	repeated         bool
}

// placeFigures finds for each image the line it stands under or beside.
func (p *pdfPage) placeFigures(boxes []box) {
	if len(p.lines) == 0 || p.scan {
		return
	}
	sin, cos := math.Sincos(float64(p.lines[0].angle) * math.Pi / 180)
	for i, b := range merged(boxes) {
		f := figure{x0: math.Inf(1), x1: math.Inf(-1), top: math.Inf(1), low: math.Inf(-1), after: -1}
		for _, c := range [][2]float64{{b.x0, b.y0}, {b.x0, b.y1}, {b.x1, b.y0}, {b.x1, b.y1}} {
			x, y := c[0]*cos+c[1]*sin, c[0]*sin-c[1]*cos
			f.x0, f.x1, f.top, f.low = min(f.x0, x), max(f.x1, x), min(f.top, y), max(f.low, y)
		}
		f.sum = b.sum
		f.name = fmt.Sprintf("p%d-%d", p.number, i+1)
		f.after = p.lineAbove(f)
		p.figures = append(p.figures, f)
	}
	slices.SortStableFunc(p.figures, func(a, b figure) int { return a.after - b.after })
}

// merged joins images that touch: many programs cut one picture into strips.
func merged(boxes []box) []box {
	const touch, most = 1.5, 200
	if len(boxes) > most {
		return nil // a mosaic
	}
	out := slices.Clone(boxes)
	for i := 0; i < len(out); i++ {
		for j := i + 1; j < len(out); j++ {
			a, b := out[i], out[j]
			if a.x0 > b.x1+touch || b.x0 > a.x1+touch || a.y0 > b.y1+touch || b.y0 > a.y1+touch {
				continue
			}
			out[i] = box{min(a.x0, b.x0), min(a.y0, b.y0), max(a.x1, b.x1), max(a.y1, b.y1), a.sum ^ b.sum}
			out = slices.Delete(out, j, j+1)
			i = -1
			break
		}
	}
	return out
}

// lineAbove returns the lowest line that begins above the picture's foot, in its
// column when there is one.
func (p *pdfPage) lineAbove(f figure) int {
	best, beside := -1, -1
	for i, l := range p.lines {
		if l.angle != p.lines[0].angle || l.over || l.base > f.low {
			continue
		}
		if l.x0 < f.x1 && f.x0 < l.x1 {
			if best < 0 || l.base >= p.lines[best].base {
				best = i
			}
		} else if beside < 0 || l.base >= p.lines[beside].base {
			beside = i
		}
	}
	if best < 0 || beside >= 0 && p.lines[beside].base > f.top && p.lines[best].base < f.top && p.lines[best].x0 > p.lines[beside].x1 {
		return beside
	}
	return best
}

// repeatedFigures marks the page's pictures that stand again in the same place on
// the pages around it: logos and backgrounds.
func (s *pdfSums) repeatedFigures(page *pdfPage, around []*pdfPage) {
	const still, share = 2.0, 0.35
	for i := range page.figures {
		f := &page.figures[i]
		same := 0
		for _, o := range around {
			if o != page && slices.ContainsFunc(o.figures, func(g figure) bool {
				return f.sum == g.sum && abs(f.x0-g.x0) < still && abs(f.x1-g.x1) < still && abs(f.top-g.top) < still && abs(f.low-g.low) < still
			}) {
				same++
			}
		}
		if f.repeated = same >= 2 && float64(same) >= share*float64(len(around)-1); f.repeated {
			s.logos++
		}
	}
}

// block is the picture as a block of its own.
func (f figure) block(at drydock.Locator) drydock.Block {
	return drydock.Block{
		Figure: f.name, At: at,
		Spans: []drydock.Span{{Kind: drydock.Image, Value: f.name}},
	}
}
