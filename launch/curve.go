package launch

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/drydock-ml/drydock/internal/chart"
	"github.com/drydock-ml/drydock/internal/msg"
)

// A Curve is the loss of a training over its steps.
type Curve struct {
	train, eval map[int]curvePoint
}

type curvePoint struct {
	loss  float64
	trust trust
}

// NewCurve returns an empty curve.
func NewCurve() *Curve { return &Curve{map[int]curvePoint{}, map[int]curvePoint{}} }

// Add takes a report. Of two for one step the better source counts, of equal
// ones the later: a step that was trained again replaces what it was before.
func (c *Curve) Add(r Report) {
	put := func(points map[int]curvePoint, loss *float64) {
		if loss == nil || r.Step == 0 || points[r.Step].trust > r.trust() {
			return
		}
		points[r.Step] = curvePoint{*loss, r.trust()}
	}
	put(c.train, r.Loss)
	put(c.eval, r.EvalLoss)
}

// AddLine takes a line of a run's events; those of other kinds are passed over.
func (c *Curve) AddLine(line []byte) {
	if r, ok := ReadReport(line); ok {
		c.Add(r)
	}
}

// ReportType is the type of a report among the events of a run.
const ReportType = "train"

// ReadReport reads a line of a run's events; ok is false for one of another kind.
func ReadReport(line []byte) (r Report, ok bool) {
	if !bytes.Contains(line, []byte(`"`+ReportType+`"`)) {
		return r, false
	}
	var typed struct {
		Type string `json:"type"`
		Report
	}
	if json.Unmarshal(line, &typed) != nil || typed.Type != ReportType {
		return r, false
	}
	return typed.Report, true
}

// Until drops the steps behind one: those that a resumed training does again.
func (c *Curve) Until(step int) {
	for _, points := range []map[int]curvePoint{c.train, c.eval} {
		for s := range points {
			if s > step {
				delete(points, s)
			}
		}
	}
}

// Len returns the number of steps with a loss.
func (c *Curve) Len() int { return len(c.train) }

// Losses returns the training losses in the order of their steps.
func (c *Curve) Losses() []float64 {
	var out []float64
	for _, p := range points(c.train) {
		out = append(out, p.Y)
	}
	return out
}

// Chart returns the curve as a drawing of at most so many points a line: means of
// stretches where there are more steps.
func (c *Curve) Chart(l msg.Lang, most int) *chart.Lines {
	lines := &chart.Lines{Title: msg.Text{"loss", "损失"}.In(l), XName: msg.Text{"step", "步"}.In(l)}
	if len(c.train) > 0 {
		lines.Series = append(lines.Series, chart.Series{Name: msg.Text{"training", "训练"}.In(l), Points: thin(points(c.train), most)})
	}
	if len(c.eval) > 0 {
		lines.Series = append(lines.Series, chart.Series{Name: msg.Text{"held out", "留出"}.In(l), Points: thin(points(c.eval), most)})
	}
	return lines
}

// points returns what is drawn of a line, in the order of the steps.
func points(from map[int]curvePoint) []chart.Point {
	out := make([]chart.Point, 0, len(from))
	for step, p := range from {
		out = append(out, chart.Point{X: float64(step), Y: p.loss, Low: p.loss, High: p.loss})
	}
	slices.SortFunc(out, func(a, b chart.Point) int { return int(a.X - b.X) })
	return out
}

// thin joins neighbours into their mean until at most n points are left.
func thin(from []chart.Point, n int) []chart.Point {
	if len(from) <= n {
		return from
	}
	out := make([]chart.Point, 0, n)
	for i := range n {
		var mean chart.Point
		part := from[i*len(from)/n : (i+1)*len(from)/n]
		for _, p := range part {
			mean.X += p.X / float64(len(part))
			mean.Y += p.Y / float64(len(part))
		}
		mean.Low, mean.High = mean.Y, mean.Y
		out = append(out, mean)
	}
	return out
}

// Sparkline draws values in one line of so many characters, low to high; of more
// values than characters it takes the mean of each stretch.
func Sparkline(values []float64, width int) string {
	const bars = "▁▂▃▄▅▆▇█"
	if len(values) == 0 || width <= 0 {
		return ""
	}
	width = min(width, len(values))
	means := make([]float64, width)
	for i := range means {
		from, to := i*len(values)/width, (i+1)*len(values)/width
		for _, v := range values[from:to] {
			means[i] += v / float64(to-from)
		}
	}
	low, high := slices.Min(means), slices.Max(means)
	out := make([]rune, width)
	for i, m := range means {
		level := 0
		if high > low {
			level = min(7, int((m-low)/(high-low)*8))
		}
		out[i] = []rune(bars)[level]
	}
	return string(out)
}
