// Package chart draws the few charts reports need, as SVG that stands alone or
// inside a page, and as text for a terminal: lines over steps with intervals,
// bars with intervals, and a table of counts shaded by size.
//
// The drawings take their text colour from the page (currentColor) and their
// other colours from a style sheet of their own, which has a dark twin. Same
// data, same bytes.
package chart

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Scale says how the numbers of an axis are written.
type Scale uint8

const (
	Plain   Scale = iota // 0.5, 1200
	Percent              // shares as 50 %
)

// say writes v with as many places as a step between ticks needs.
func (s Scale) say(v, step float64) string {
	if s == Percent {
		v, step = v*100, step*100
	}
	places := 0
	for ; step > 0 && places < 9 && math.Abs(step-math.Round(step)) > 1e-6*step; places++ {
		step *= 10
	}
	out := strconv.FormatFloat(v, 'f', places, 64)
	if s == Percent {
		out += " %"
	}
	return out
}

// ticks returns round numbers that cover low to high, about n of them, and the
// step between two.
func ticks(low, high float64, n int) ([]float64, float64) {
	if !(high > low) {
		high = low + 1
	}
	raw := (high - low) / float64(max(n, 1))
	unit := math.Pow(10, math.Floor(math.Log10(raw)))
	step := 10 * unit
	for _, m := range [...]float64{1, 2, 2.5, 5} {
		if m*unit >= raw {
			step = m * unit
			break
		}
	}
	first := math.Floor(low/step + 1e-9)
	last := math.Ceil(high/step - 1e-9)
	var out []float64
	for i := first; i <= last; i++ {
		out = append(out, i*step)
	}
	return out, step
}

// style is what every drawing carries. Colours are told apart by people who do
// not see red and green alike (after Okabe and Ito).
const style = `<style>` +
	`.dd{font:12px system-ui,"Noto Sans CJK SC","Microsoft YaHei","PingFang SC",sans-serif;color:#1a1a1a}` +
	`.dd text{fill:currentColor}.dd .soft{opacity:.65}.dd .grid{stroke:currentColor;opacity:.15}.dd .axis{stroke:currentColor;opacity:.5}` +
	`.dd .s0{color:#0072b2}.dd .s1{color:#d55e00}.dd .s2{color:#009e73}.dd .s3{color:#cc79a7}.dd .s4{color:#e69f00}.dd .s5{color:#56b4e9}` +
	`.dd .line{fill:none;stroke:currentColor;stroke-width:2}.dd .err{stroke:currentColor;stroke-width:1.5}.dd .band{fill:currentColor;opacity:.15}.dd .dot{fill:currentColor}` +
	`.dd .ref{stroke:currentColor;stroke-dasharray:4 4;opacity:.6}` +
	`@media(prefers-color-scheme:dark){.dd{color:#e8e8e8}.dd .s0{color:#56b4e9}.dd .s1{color:#f0883e}}</style>`

const seriesColours = 6

// drawing builds one SVG.
type drawing struct{ b strings.Builder }

func newDrawing(title string, width, height float64) *drawing {
	d := &drawing{}
	fmt.Fprintf(&d.b, `<svg xmlns="http://www.w3.org/2000/svg" class="dd" role="img" viewBox="0 0 %s %s" width="%s" height="%s">`,
		num(width), num(height), num(width), num(height))
	d.b.WriteString("<title>" + escape(title) + "</title>" + style)
	return d
}

func (d *drawing) svg() string { return d.b.String() + "</svg>\n" }

func (d *drawing) line(class string, x1, y1, x2, y2 float64) {
	fmt.Fprintf(&d.b, `<line class="%s" x1="%s" y1="%s" x2="%s" y2="%s"/>`, class, num(x1), num(y1), num(x2), num(y2))
}

// text writes s; anchor is start, middle or end.
func (d *drawing) text(class, anchor string, x, y float64, s string) {
	if class != "" {
		class = ` class="` + class + `"`
	}
	fmt.Fprintf(&d.b, `<text%s text-anchor="%s" x="%s" y="%s">%s</text>`, class, anchor, num(x), num(y), escape(s))
}

func (d *drawing) group(class string) { d.b.WriteString(`<g class="` + class + `">`) }
func (d *drawing) end()               { d.b.WriteString(`</g>`) }

// num writes a coordinate with at most two places, the same on every machine.
func num(v float64) string {
	return strconv.FormatFloat(math.Round(v*100)/100, 'f', -1, 64)
}

// escape makes s text of XML. Characters XML does not know become U+FFFD.
func escape(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '&':
			b.WriteString("&amp;")
		case r == '<':
			b.WriteString("&lt;")
		case r == '>':
			b.WriteString("&gt;")
		case r == '"':
			b.WriteString("&#34;")
		case r < 0x20 && r != '\t' && r != '\n' && r != '\r', r == 0xFFFE, r == 0xFFFF:
			b.WriteRune(utf8.RuneError)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// columns is how many terminal columns s takes: two for a wide character.
func columns(s string) int {
	n := 0
	for _, r := range s {
		n++
		if wide(r) {
			n++
		}
	}
	return n
}

// textWidth estimates the width of s in the drawings' type, in pixels.
func textWidth(s string) float64 {
	w := 0.0
	for _, r := range s {
		if wide(r) {
			w += 12
		} else {
			w += 6.8
		}
	}
	return w
}

func wide(r rune) bool {
	return r >= 0x1100 && (r <= 0x115F || r >= 0x2E80 && r <= 0xA4CF || r >= 0xAC00 && r <= 0xD7A3 ||
		r >= 0xF900 && r <= 0xFAFF || r >= 0xFE30 && r <= 0xFE6F || r >= 0xFF00 && r <= 0xFF60 || r >= 0x20000 && r <= 0x3FFFD)
}

// cut shortens s to n terminal columns.
func cut(s string, n int) string {
	if columns(s) <= n {
		return s
	}
	w := 1 // the ellipsis
	for i, r := range s {
		c := 1
		if wide(r) {
			c = 2
		}
		if w+c > n {
			return s[:i] + "…"
		}
		w += c
	}
	return s
}

// pad fills s with blanks up to n terminal columns, on its left where right is
// set.
func pad(s string, n int, right bool) string {
	gap := strings.Repeat(" ", max(0, n-columns(s)))
	if right {
		return gap + s
	}
	return s + gap
}
