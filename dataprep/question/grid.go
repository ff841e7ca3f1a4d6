package question

import "github.com/drydock-ml/drydock"

// A grid is a table, a sheet or a list of JSON rows: a part whose questions are
// its rows.
type grid struct {
	part, sheet string
	tally
}

// gridOf returns the tally of the rows that stand where at says.
func (r *reader) gridOf(at drydock.Locator) *grid {
	for _, g := range r.grids {
		if g.part == at.Part && g.sheet == at.Sheet {
			return g
		}
	}
	g := &grid{part: at.Part, sheet: at.Sheet}
	g.Rows = true
	for _, s := range [...]string{at.Part, at.Sheet} {
		if s != "" {
			g.Title = append(g.Title, s)
		}
	}
	r.grids = append(r.grids, g)
	return g
}

// settle makes a record or a drop of a row's draft and counts it.
func (r *reader) settle(d *draft) {
	d.keep = r.keep
	rec, drop := d.finish(r.doc.File, r.bar)
	r.gaveRow(d, rec, drop)
}

// refuse drops a row's draft and counts it.
func (r *reader) refuse(d *draft, reason, detail string) {
	r.gaveRow(d, nil, d.reject(r.doc.File, reason, detail))
}

func (r *reader) gaveRow(d *draft, rec *drydock.Record, drop *drydock.Drop) {
	if r.stopped() {
		return
	}
	r.gridOf(d.at).took(d.at, rec, drop, d.given && !d.ans.none(), false)
	r.give(rec, drop)
}

// tellGrids tells what became of the rows, table by table.
func (r *reader) tellGrids() {
	for _, g := range r.grids {
		p := g.done()
		if len(p.Layouts) > 0 && p.Layouts[0].Kind == "fields" && p.Questions > 0 {
			l := &p.Layouts[0]
			l.Questions = p.Questions
			l.Whole = float64(int(1000*float64(p.Records)/float64(p.Questions)+0.5)) / 1000
			l.Score = l.Whole
		}
		if r.part != nil && !r.stopped() && p.Questions > 0 {
			r.part(p)
		}
	}
}
