package chart

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// A Point of a line. Low and High are its interval; equal to Y (or both 0 with
// Y not between them) means that there is none.
type Point struct {
	X, Y      float64
	Low, High float64
	Chosen    bool // drawn larger: the one that was picked
}

func (p Point) interval() bool { return p.Low < p.High && p.Low <= p.Y && p.Y <= p.High }

// A Series is one line. Points rise in X.
type Series struct {
	Name   string
	Points []Point
}

// A Level is a horizontal line to compare with, such as the base model.
type Level struct {
	Name string
	Y    float64
}

// Lines is a chart of values over steps.
type Lines struct {
	Title  string
	XName  string
	YScale Scale
	Series []Series
	Levels []Level
}

// bounds returns the range of all points with their intervals; ok is false when
// there is no point that is a number.
func (c *Lines) bounds() (x0, x1, y0, y1 float64, ok bool) {
	x0, y0 = math.Inf(1), math.Inf(1)
	x1, y1 = math.Inf(-1), math.Inf(-1)
	for _, s := range c.Series {
		for _, p := range s.Points {
			if !finite(p.X) || !finite(p.Y) {
				continue
			}
			ok = true
			x0, x1 = min(x0, p.X), max(x1, p.X)
			y0, y1 = min(y0, p.Y), max(y1, p.Y)
			if p.interval() {
				y0, y1 = min(y0, p.Low), max(y1, p.High)
			}
		}
	}
	for _, l := range c.Levels {
		y0, y1 = min(y0, l.Y), max(y1, l.Y)
	}
	if x0 == x1 { // a half to either side, so that ticks are whole where x is
		pad := max(1, math.Round(math.Abs(x0)/2))
		x0, x1 = x0-pad, x1+pad
	}
	if y0 == y1 {
		pad := max(math.Abs(y0)*0.05, 0.01)
		y0, y1 = y0-pad, y1+pad
	}
	return x0, x1, y0, y1, ok
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// SVG draws the chart, 720 by 320.
func (c *Lines) SVG() string {
	const width, height, top, bottom = 720.0, 320.0, 36.0, 44.0
	d := newDrawing(c.Title, width, height)
	d.text("", "start", 8, 18, c.Title)
	x0, x1, y0, y1, ok := c.bounds()
	if !ok {
		return d.svg()
	}
	yt, ystep := ticks(y0, y1, 5)
	y0, y1 = yt[0], yt[len(yt)-1]
	left := 16.0
	for _, y := range yt {
		left = max(left, textWidth(c.YScale.say(y, ystep))+16)
	}
	right := width - 16
	px := func(x float64) float64 { return left + (x-x0)/(x1-x0)*(right-left) }
	py := func(y float64) float64 { return height - bottom - (y-y0)/(y1-y0)*(height-top-bottom) }
	for _, y := range yt {
		d.line("grid", left, py(y), right, py(y))
		d.text("soft", "end", left-8, py(y)+4, c.YScale.say(y, ystep))
	}
	xt, xstep := ticks(x0, x1, 8)
	for _, x := range xt {
		if x < x0 || x > x1 {
			continue
		}
		d.line("axis", px(x), height-bottom, px(x), height-bottom+4)
		d.text("soft", "middle", px(x), height-bottom+18, Plain.say(x, xstep))
	}
	d.line("axis", left, height-bottom, right, height-bottom)
	d.text("soft", "end", right, height-6, c.XName)
	for _, l := range c.Levels {
		d.line("ref", left, py(l.Y), right, py(l.Y))
		d.text("soft", "end", right, py(l.Y)-4, l.Name)
	}
	for i, s := range c.Series {
		d.group(fmt.Sprintf("s%d", i%seriesColours))
		d.series(s, px, py)
		d.end()
	}
	if len(c.Series) > 1 {
		d.legend(c.Series, left, height-8)
	}
	return d.svg()
}

// manyPoints is where single points and error bars would only be ink: beyond
// it intervals are a band and points are not marked.
const manyPoints = 60

func (d *drawing) series(s Series, px, py func(float64) float64) {
	points := slices.DeleteFunc(slices.Clone(s.Points), func(p Point) bool { return !finite(p.X) || !finite(p.Y) })
	if len(points) > 1 {
		d.b.WriteString(`<polyline class="line" points="`)
		for i, p := range points {
			if i > 0 {
				d.b.WriteByte(' ')
			}
			d.b.WriteString(num(px(p.X)) + "," + num(py(p.Y)))
		}
		d.b.WriteString(`"/>`)
	}
	if len(points) > manyPoints {
		d.band(points, px, py)
		return
	}
	for _, p := range points {
		x := px(p.X)
		if p.interval() {
			d.line("err", x, py(p.Low), x, py(p.High))
			d.line("err", x-4, py(p.Low), x+4, py(p.Low))
			d.line("err", x-4, py(p.High), x+4, py(p.High))
		}
		r := 3.5
		if p.Chosen {
			r = 6
		}
		fmt.Fprintf(&d.b, `<circle class="dot" cx="%s" cy="%s" r="%s"/>`, num(x), num(py(p.Y)), num(r))
	}
}

func (d *drawing) band(points []Point, px, py func(float64) float64) {
	if !slices.ContainsFunc(points, Point.interval) {
		return
	}
	d.b.WriteString(`<polygon class="band" points="`)
	for _, p := range points {
		d.b.WriteString(num(px(p.X)) + "," + num(py(p.High)) + " ")
	}
	for _, p := range slices.Backward(points) {
		d.b.WriteString(num(px(p.X)) + "," + num(py(p.Low)) + " ")
	}
	d.b.WriteString(`"/>`)
}

func (d *drawing) legend(series []Series, x, y float64) {
	for i, s := range series {
		d.group(fmt.Sprintf("s%d", i%seriesColours))
		fmt.Fprintf(&d.b, `<circle class="dot" cx="%s" cy="%s" r="4"/>`, num(x+4), num(y-4))
		d.end()
		d.text("", "start", x+12, y, s.Name)
		x += textWidth(s.Name) + 28
	}
}

// marks of the series in a terminal, in their order.
var marks = [...]string{"●", "▲", "■", "◆", "○", "△"}

// Text draws the chart with characters: width columns wide, rows lines high,
// axes included. Intervals are dotted, the chosen point is a star.
func (c *Lines) Text(width, rows int) string {
	x0, x1, y0, y1, ok := c.bounds()
	if !ok {
		return ""
	}
	height := max(3, rows-2)
	yt, ystep := ticks(y0, y1, max(2, height/3))
	y0, y1 = yt[0], yt[len(yt)-1]
	label := 0
	for _, y := range yt {
		label = max(label, columns(c.YScale.say(y, ystep)))
	}
	cols := max(10, width-label-2)
	grid := newTextGrid(cols, height)
	px := func(x float64) int { return int(math.Round((x - x0) / (x1 - x0) * float64(cols-1))) }
	py := func(y float64) int { return height - 1 - int(math.Round((y-y0)/(y1-y0)*float64(height-1))) }
	for _, l := range c.Levels {
		for x := 0; x < cols; x += 2 {
			grid.put(x, py(l.Y), "·")
		}
	}
	for i, s := range c.Series {
		grid.series(s, marks[i%len(marks)], px, py)
	}
	var b strings.Builder
	named := map[int]string{}
	for _, y := range yt {
		named[py(y)] = c.YScale.say(y, ystep)
	}
	for y, row := range grid.rows {
		tick := "│"
		if named[y] != "" {
			tick = "┤"
		}
		b.WriteString(pad(named[y], label, true) + " " + tick + strings.TrimRight(strings.Join(row, ""), " ") + "\n")
	}
	b.WriteString(strings.Repeat(" ", label+1) + "└" + strings.Repeat("─", cols) + "\n")
	b.WriteString(xLabels(c.XName, x0, x1, label+2, cols, px))
	return b.String()
}

// xLabels writes the ticks below a terminal chart and the axis's name behind them,
// as many as fit.
func xLabels(name string, x0, x1 float64, indent, cols int, px func(float64) int) string {
	xt, step := ticks(x0, x1, max(1, cols/12))
	line := []rune(strings.Repeat(" ", indent+cols))
	free, end := 0, len(line)
	if name != "" {
		end -= columns(name) + 2
	}
	place := func(at int, s string) {
		at = min(at, end-len([]rune(s)))
		if at < free {
			return
		}
		copy(line[at:], []rune(s))
		free = at + len([]rune(s)) + 1
	}
	for _, x := range xt {
		if x < x0 || x > x1 {
			continue
		}
		s := Plain.say(x, step)
		place(max(0, indent+px(x)-len(s)/2), s)
	}
	out := strings.TrimRight(string(line), " ")
	if name != "" {
		out += "  " + name
	}
	return out + "\n"
}

// textGrid is a field of single-width characters.
type textGrid struct{ rows [][]string }

func newTextGrid(cols, height int) *textGrid {
	g := &textGrid{rows: make([][]string, height)}
	for i := range g.rows {
		g.rows[i] = make([]string, cols)
		for j := range g.rows[i] {
			g.rows[i][j] = " "
		}
	}
	return g
}

func (g *textGrid) put(x, y int, s string) {
	if y >= 0 && y < len(g.rows) && x >= 0 && x < len(g.rows[y]) {
		g.rows[y][x] = s
	}
}

func (g *textGrid) series(s Series, mark string, px, py func(float64) int) {
	for _, p := range s.Points {
		if !finite(p.X) || !finite(p.Y) {
			continue
		}
		if p.interval() && len(s.Points) <= manyPoints {
			for y := py(p.High); y <= py(p.Low); y++ {
				g.put(px(p.X), y, "┆")
			}
		}
	}
	for _, p := range s.Points {
		if !finite(p.X) || !finite(p.Y) {
			continue
		}
		m := mark
		if p.Chosen {
			m = "★"
		}
		g.put(px(p.X), py(p.Y), m)
	}
}
