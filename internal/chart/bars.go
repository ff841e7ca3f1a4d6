package chart

import (
	"fmt"
	"math"
	"strings"
)

// A Bar is one value with its interval; Low = High means that there is none.
type Bar struct {
	Name      string
	Value     float64
	Low, High float64
	Note      string // written behind the value: 12 of 40
}

// Bars is a chart of values from 0 up, one below the other.
type Bars struct {
	Title string
	Scale Scale
	Most  float64 // right end; 0: the largest value or interval
	Bars  []Bar
}

func (c *Bars) most() float64 {
	most := c.Most
	for _, b := range c.Bars {
		if c.Most == 0 {
			most = max(most, b.Value, b.High)
		}
	}
	if !(most > 0) {
		return 1
	}
	return most
}

// say writes a bar's value: shares with one place, other numbers as they are.
func (c *Bars) say(v float64) string {
	if c.Scale == Percent {
		return Percent.say(v, 0.001)
	}
	return num(v)
}

// SVG draws the chart, 720 wide and as high as it has bars.
func (c *Bars) SVG() string {
	const width, row, top = 720.0, 24.0, 32.0
	height := top + row*float64(len(c.Bars)) + 8
	d := newDrawing(c.Title, width, height)
	d.text("", "start", 8, 18, c.Title)
	left, note := 8.0, 0.0
	for _, b := range c.Bars {
		left = max(left, min(textWidth(b.Name)+24, 260))
		note = max(note, textWidth(c.say(b.Value)+"  "+b.Note))
	}
	right := width - note - 24
	most := c.most()
	px := func(v float64) float64 { return left + max(0, min(v, most))/most*(right-left) }
	d.line("axis", left, top, left, height-8)
	for i, b := range c.Bars {
		y := top + row*float64(i) + 4
		d.text("", "end", left-8, y+12, cut(b.Name, 36))
		d.group("s0")
		fmt.Fprintf(&d.b, `<rect class="dot" opacity=".75" x="%s" y="%s" width="%s" height="16"/>`, num(left), num(y), num(px(b.Value)-left))
		d.end()
		if b.Low < b.High {
			d.line("err", px(b.Low), y+8, px(b.High), y+8)
			d.line("err", px(b.Low), y+4, px(b.Low), y+12)
			d.line("err", px(b.High), y+4, px(b.High), y+12)
		}
		d.text("", "start", max(px(b.Value), px(b.High))+8, y+12, strings.TrimSpace(c.say(b.Value)+"  "+b.Note))
	}
	return d.svg()
}

// Text draws the chart with characters, width columns wide; the interval's ends
// are thin.
func (c *Bars) Text(width int) string {
	name, note := 0, 0
	for _, b := range c.Bars {
		name = max(name, min(columns(b.Name), width/3))
		note = max(note, columns(c.say(b.Value)+"  "+b.Note))
	}
	cols := max(8, width-name-note-3)
	most := c.most()
	at := func(v float64) int { return int(math.Round(max(0, min(v, most)) / most * float64(cols))) }
	var out strings.Builder
	for _, b := range c.Bars {
		row := strings.Repeat("█", at(b.Value))
		if b.Low < b.High {
			row = strings.Repeat("█", at(b.Low)) + strings.Repeat("▓", max(0, at(b.Value)-at(b.Low))) + strings.Repeat("░", max(0, at(b.High)-at(b.Value)))
		}
		out.WriteString(pad(cut(b.Name, name), name, false) + " " + pad(row, cols, false) + " " + strings.TrimSpace(c.say(b.Value)+"  "+b.Note) + "\n")
	}
	return out.String()
}

// Counts is a table of whole numbers, shaded by size: what was answered against
// what was right.
type Counts struct {
	Title            string
	RowName, ColName string
	Rows, Cols       []string
	N                [][]int // by row, then column
	Diagonal         bool    // mark the cells where row and column have one name
}

// SVG draws the table.
func (c *Counts) SVG() string {
	const cell, high = 56.0, 28.0
	left := textWidth(c.RowName) + 16
	for _, r := range c.Rows {
		left = max(left, textWidth(r)+24)
	}
	const top = 64.0
	width := max(left+cell*float64(len(c.Cols))+8, textWidth(c.Title)+16)
	d := newDrawing(c.Title, width, top+high*float64(len(c.Rows))+8)
	d.text("", "start", 8, 18, c.Title)
	d.text("soft", "start", left, 38, c.ColName)
	d.text("soft", "start", 8, top-6, c.RowName)
	most := 1
	for _, row := range c.N {
		for _, n := range row {
			most = max(most, n)
		}
	}
	for j, name := range c.Cols {
		d.text("", "middle", left+cell*(float64(j)+.5), top-6, name)
	}
	for i, name := range c.Rows {
		y := top + high*float64(i)
		d.text("", "end", left-8, y+18, name)
		for j := range c.Cols {
			x := left + cell*float64(j)
			class := "s1"
			if c.Diagonal && name == c.Cols[j] {
				class = "s0"
			}
			d.group(class)
			fmt.Fprintf(&d.b, `<rect class="dot" opacity="%s" x="%s" y="%s" width="%s" height="%s"/>`,
				num(0.65*math.Sqrt(float64(c.N[i][j])/float64(most))), num(x+1), num(y+1), num(cell-2), num(high-2))
			d.end()
			d.text("", "middle", x+cell/2, y+18, fmt.Sprint(c.N[i][j]))
		}
	}
	return d.svg()
}
