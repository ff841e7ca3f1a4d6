package format

import (
	"path"
	"slices"
	"strings"

	"github.com/drydock-ml/drydock"
)

// A sheetImage is a picture and the cell its upper left corner lies in.
type sheetImage struct {
	row, column int // from 1
	name        string
}

// images finds the pictures anchored to the cells of a sheet, by row and column.
func (w *workbook) images(sheet string) ([]sheetImage, error) {
	rels, err := w.pkg.relations(w.ctx, sheet)
	if err != nil {
		return nil, err
	}
	drawing := w.pkg.related(rels, "drawing", "")
	if drawing == "" {
		return nil, nil
	}
	if rels, err = w.pkg.relations(w.ctx, drawing); err != nil {
		return nil, err
	}
	x, err := w.pkg.tokens(w.ctx, drawing)
	if err != nil {
		return nil, err
	}
	defer x.close()
	var out []sheetImage
	var at sheetImage
	from := false
	for x.next() {
		name := localName(x.name)
		switch {
		case name == "oneCellAnchor" || name == "twoCellAnchor" || name == "absoluteAnchor":
			at = sheetImage{row: 1, column: 1}
		case name == "from":
			from = x.start
		case x.start && from && name == "row":
			at.row = atoiOr(strings.TrimSpace(x.content()), 0) + 1
		case x.start && from && name == "col":
			at.column = atoiOr(strings.TrimSpace(x.content()), 0) + 1
		case x.start && name == "blip":
			if at.name = imageName(x, rels); at.name != "" && at.row >= 1 && at.column >= 1 && at.column <= maxSheetColumns {
				out = append(out, at)
			}
		}
	}
	slices.SortStableFunc(out, func(a, b sheetImage) int {
		if a.row != b.row {
			return a.row - b.row
		}
		return a.column - b.column
	})
	return out, x.err
}

// imageName is the name of the part a blip shows.
func imageName(x *xmlTokens, rels map[string]relation) string {
	for _, id := range []string{x.attr("embed"), x.attr("link")} {
		if rel, ok := rels[id]; ok {
			return path.Base(rel.target)
		}
	}
	return ""
}

// cellImages reads the pictures WPS keeps inside cells, by the id their formula
// names: =DISPIMG("ID_…",1).
func (w *workbook) cellImages(main string) (map[string]string, error) {
	part := path.Join(path.Dir(main), "cellimages.xml")
	if !w.pkg.has(part) {
		return nil, nil
	}
	rels, err := w.pkg.relations(w.ctx, part)
	if err != nil {
		return nil, err
	}
	x, err := w.pkg.tokens(w.ctx, part)
	if err != nil {
		return nil, err
	}
	defer x.close()
	out := map[string]string{}
	id := ""
	for x.next() {
		if !x.start {
			continue
		}
		switch localName(x.name) {
		case "cNvPr":
			id = x.attr("name")
		case "blip":
			if name := imageName(x, rels); id != "" && name != "" {
				out[id] = name
			}
		}
	}
	return out, x.err
}

// shownImage is the id a cell's DISPIMG formula, or the value it left, names.
func shownImage(s string) (id string, ok bool) {
	_, rest, ok := strings.Cut(s, "DISPIMG(")
	if !ok {
		return "", false
	}
	id, _, ok = strings.Cut(strings.TrimLeft(rest, ` "'`), `"`)
	return id, ok && strings.HasPrefix(id, "ID_")
}

// hang gives the held row the pictures anchored above the row number next: one
// that lies in an empty row belongs to the row above it.
func (r *sheetReader) hang(b *drydock.Block, next int) {
	for len(r.images) > 0 && r.images[0].row < next {
		im := r.images[0]
		r.images = r.images[1:]
		for len(b.Cells) < im.column && len(b.Cells) < 64 { // one far to the right is of the row
			b.Cells = append(b.Cells, "")
		}
		addImage(b, min(im.column, len(b.Cells))-1, im.name)
	}
}

// addImage puts a picture at the end of a cell.
func addImage(b *drydock.Block, cell int, name string) {
	end := len(b.Cells[cell])
	b.Spans = append(b.Spans, drydock.Span{Start: end, End: end, Kind: drydock.Image, Value: name, Cell: cell})
	if b.Figure == "" {
		b.Figure = name
	}
}
