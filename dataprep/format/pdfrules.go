package format

import (
	"cmp"
	"math"
	"slices"
	"unicode"

	"github.com/klippa-app/go-pdfium"
	"github.com/klippa-app/go-pdfium/enums"
	"github.com/klippa-app/go-pdfium/references"
	"github.com/klippa-app/go-pdfium/requests"
)

// A stroke is a straight line that a page draws, as the box of its ink, in the
// page's own frame: y grows upwards.
type stroke struct{ x0, y0, x1, y1 float64 }

// A rule is such a line in the frame of the text: at its place across, from and
// to along.
type rule struct{ at, from, to float64 }

// What a ruling line is, in points, and how much of a page is looked at for
// them. Drawings and maps have more.
const (
	thickest     = 3.0
	shortest     = 4.0
	mostObjects  = 20000
	mostStrokes  = 4000
	mostSegments = 400 // of one path
)

// mayHoldTable reports whether enough pieces of text stand side by side for a
// table to be worth looking for: asking for a page's lines is slow.
func mayHoldTable(glyphs []glyph) bool {
	const fewest, near, apart = 3, 0.9, 0.3
	type piece struct{ x0, x1, base, size float64 }
	var runs []piece
	var last glyph
	for _, g := range glyphs {
		switch {
		case unicode.IsSpace(g.r):
			continue
		case len(runs) > 0 && follows(last, g):
			runs[len(runs)-1].x1 = g.x1
		default:
			runs = append(runs, piece{g.x0, g.x1, g.base, g.size})
		}
		last = g
	}
	slices.SortFunc(runs, func(a, b piece) int { return cmp.Or(cmp.Compare(a.base, b.base), cmp.Compare(a.x0, b.x0)) })
	n := 0
	for i := 1; i < len(runs); i++ {
		a, b := runs[i-1], runs[i]
		if b.base-a.base < near*b.size && max(a.x0-b.x1, b.x0-a.x1) > apart*b.size {
			n++
		}
	}
	return n >= fewest
}

// readStrokes looks for the straight lines a page draws. It reports how many
// objects it asked for.
func readStrokes(p pdfium.Pdfium, page requests.Page) ([]stroke, int) {
	n, err := p.FPDFPage_CountObjects(&requests.FPDFPage_CountObjects{Page: page})
	if err != nil || n.Count > mostObjects {
		return nil, 0
	}
	var out []stroke
	for i := range n.Count {
		o, err := p.FPDFPage_GetObject(&requests.FPDFPage_GetObject{Page: page, Index: i})
		if err != nil {
			continue
		}
		t, err := p.FPDFPageObj_GetType(&requests.FPDFPageObj_GetType{PageObject: o.PageObject})
		if err != nil || t.Type != enums.FPDF_PAGEOBJ_PATH {
			continue
		}
		if out = pathStrokes(p, o.PageObject, out); len(out) > mostStrokes {
			return nil, i + 1 // a drawing
		}
	}
	return out, n.Count
}

// pathStrokes adds the straight lines of one path.
func pathStrokes(p pdfium.Pdfium, o references.FPDF_PAGEOBJECT, out []stroke) []stroke {
	b, err := p.FPDFPageObj_GetBounds(&requests.FPDFPageObj_GetBounds{PageObject: o})
	if err != nil {
		return out
	}
	if s := (stroke{float64(b.Left), float64(b.Bottom), float64(b.Right), float64(b.Top)}); s.thin() {
		return append(out, s)
	}
	mode, err := p.FPDFPath_GetDrawMode(&requests.FPDFPath_GetDrawMode{PageObject: o})
	if err != nil || !mode.Stroke && mode.FillMode == enums.FPDF_FILLMODE_NONE {
		return out
	}
	n, err := p.FPDFPath_CountSegments(&requests.FPDFPath_CountSegments{PageObject: o})
	if err != nil || n.Count < 2 || n.Count > mostSegments || !mode.Stroke && n.Count < 8 {
		return out // a filled area, or a drawing
	}
	place, err := p.FPDFPageObj_GetMatrix(&requests.FPDFPageObj_GetMatrix{PageObject: o})
	if err != nil {
		return out
	}
	m := place.Matrix
	var sub [][2]float64 // the corners of one subpath
	curved := false
	flush := func(closed bool) {
		if !curved {
			out = subpathStrokes(sub, closed, mode.Stroke, out)
		}
		sub, curved = sub[:0], false
	}
	for i := range n.Count {
		s, err := p.FPDFPath_GetPathSegment(&requests.FPDFPath_GetPathSegment{PageObject: o, Index: i})
		if err != nil {
			return out
		}
		kind, err1 := p.FPDFPathSegment_GetType(&requests.FPDFPathSegment_GetType{PathSegment: s.PathSegment})
		at, err2 := p.FPDFPathSegment_GetPoint(&requests.FPDFPathSegment_GetPoint{PathSegment: s.PathSegment})
		end, err3 := p.FPDFPathSegment_GetClose(&requests.FPDFPathSegment_GetClose{PathSegment: s.PathSegment})
		if err1 != nil || err2 != nil || err3 != nil {
			return out
		}
		if kind.Type == enums.FPDF_SEGMENT_MOVETO {
			flush(false)
		}
		curved = curved || kind.Type == enums.FPDF_SEGMENT_BEZIERTO
		x, y := float64(at.X), float64(at.Y)
		sub = append(sub, [2]float64{
			float64(m.A)*x + float64(m.C)*y + float64(m.E),
			float64(m.B)*x + float64(m.D)*y + float64(m.F),
		})
		if end.IsClose {
			flush(true)
		}
	}
	flush(false)
	return out
}

// subpathStrokes adds the lines of a path without curves: its sides when it is
// stroked, all of it when it is a thin filled area.
func subpathStrokes(corners [][2]float64, closed, stroked bool, out []stroke) []stroke {
	if len(corners) < 2 {
		return out
	}
	side := func(points ...[2]float64) {
		s := stroke{points[0][0], points[0][1], points[0][0], points[0][1]}
		for _, c := range points {
			s.x0, s.y0, s.x1, s.y1 = min(s.x0, c[0]), min(s.y0, c[1]), max(s.x1, c[0]), max(s.y1, c[1])
		}
		if s.thin() {
			out = append(out, s)
		}
	}
	if !stroked {
		side(corners...)
		return out
	}
	for i := 1; i < len(corners); i++ {
		side(corners[i-1], corners[i])
	}
	if closed {
		side(corners[len(corners)-1], corners[0])
	}
	return out
}

// thin reports whether a box is a line along one of the axes.
func (s stroke) thin() bool {
	w, h := s.x1-s.x0, s.y1-s.y0
	sane := !math.IsNaN(w) && !math.IsNaN(h) && math.Abs(s.x0)+math.Abs(s.x1)+math.Abs(s.y0)+math.Abs(s.y1) < 1e6
	return sane && min(w, h) <= thickest && max(w, h) >= shortest && max(w, h) > 1.5*min(w, h)
}

// rulesOf turns strokes into the frame of text that runs along angle, lines
// across the text and lines down it. Pieces of one line are put together.
func rulesOf(strokes []stroke, angle int) (across, down []rule) {
	if angle%90 != 0 {
		return nil, nil
	}
	sin, cos := math.Sincos(float64(angle) * math.Pi / 180)
	for _, s := range strokes {
		u0, u1 := s.x0*cos+s.y0*sin, s.x1*cos+s.y1*sin
		v0, v1 := s.x0*sin-s.y0*cos, s.x1*sin-s.y1*cos
		if abs(u1-u0) > abs(v1-v0) {
			across = append(across, rule{(v0 + v1) / 2, min(u0, u1), max(u0, u1)})
		} else {
			down = append(down, rule{(u0 + u1) / 2, min(v0, v1), max(v0, v1)})
		}
	}
	return joinRules(across), joinRules(down)
}

// Distances in points: two borders side by side are one line, and lines this
// near meet.
const (
	oneLine = 2.5
	meeting = 3.5
)

// joinRules puts the pieces of each line together.
func joinRules(rules []rule) []rule {
	slices.SortFunc(rules, func(a, b rule) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.from, b.from)) })
	var out []rule
	for i := 0; i < len(rules); {
		j := i
		for j < len(rules) && rules[j].at-rules[i].at <= oneLine {
			j++
		}
		line := rules[i:j]
		at := (line[0].at + line[len(line)-1].at) / 2
		slices.SortFunc(line, func(a, b rule) int { return cmp.Compare(a.from, b.from) })
		for k, r := range line {
			if last := len(out) - 1; k > 0 && r.from <= out[last].to+meeting {
				out[last].to = max(out[last].to, r.to)
				continue
			}
			out = append(out, rule{at, r.from, r.to})
		}
		i = j
	}
	return out
}
