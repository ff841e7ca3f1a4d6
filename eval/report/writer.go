// Package report writes what came of an evaluation for people: one run, runs
// compared, checkpoints of a training run; as Markdown or as one HTML page, in
// English or Chinese. It adds no figure of its own: package eval has counted.
package report

import (
	"fmt"

	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/page"
)

// writer puts texts of two languages into a page of one.
type writer struct {
	doc *page.Doc
	l   msg.Lang
}

func newWriter(l msg.Lang, title msg.Text, args ...any) writer {
	return writer{page.New(l.String(), title.Format(l, args...)), l}
}

func (w writer) say(t msg.Text, args ...any) string { return t.Format(w.l, args...) }
func (w writer) heading(t msg.Text, args ...any)    { w.doc.Heading(w.say(t, args...)) }
func (w writer) text(t msg.Text, args ...any)       { w.doc.Text(w.say(t, args...)) }
func (w writer) table(heads []head, rows [][]string) {
	columns := make([]page.Column, len(heads))
	for i, h := range heads {
		columns[i] = page.Column{Name: h.name.In(w.l), Right: h.right}
	}
	w.doc.Table(columns, rows)
}

// head is the head of a column.
type head struct {
	name  msg.Text
	right bool
}

// Share writes a share as a percentage with two places.
func Share(v float64) string { return fmt.Sprintf("%.2f %%", 100*v) }

// Points writes a difference of two shares in percentage points, sign included.
func Points(v float64) string { return fmt.Sprintf("%+.2f pp", 100*v) }

// size writes a difference without a sign.
func size(v float64) string { return fmt.Sprintf("%.2f pp", 100*v) }

// Interval writes both ends of an interval of shares as percentages.
func Interval(v [2]float64) string { return fmt.Sprintf("%.2f–%.2f %%", 100*v[0], 100*v[1]) }

// PointsInterval writes both ends of an interval of differences.
func PointsInterval(v [2]float64) string {
	return fmt.Sprintf("%+.2f … %+.2f pp", 100*v[0], 100*v[1])
}

// PValue writes a chance with two digits that say something.
func PValue(p float64) string {
	if p < 0.001 {
		return "< 0.001"
	}
	return fmt.Sprintf("%.2g", p)
}

// Letter writes an answered letter; none is a dash.
func Letter(l string) string {
	if l == "" {
		return "–"
	}
	return l
}
