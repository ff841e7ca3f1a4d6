package chart

import (
	"encoding/xml"
	"errors"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestTicks(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		low, high float64
		n         int
		want      []float64
	}{
		{0, 1, 5, []float64{0, 0.2, 0.4, 0.6, 0.8, 1}},
		{0.5, 0.66, 4, []float64{0.5, 0.55, 0.6, 0.65, 0.7}},
		{200, 1000, 4, []float64{200, 400, 600, 800, 1000}},
		{3, 3, 2, []float64{3, 3.5, 4}},
	} {
		got, _ := ticks(c.low, c.high, c.n)
		if d := cmp.Diff(c.want, got, cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) < 1e-9 })); d != "" {
			t.Errorf("ticks(%v, %v, %d): %s", c.low, c.high, c.n, d)
		}
	}
}

func sweep() *Lines {
	return &Lines{
		Title: "accuracy & steps <dev>", XName: "step", YScale: Percent,
		Series: []Series{{Name: "dev", Points: []Point{
			{X: 200, Y: 0.617, Low: 0.569, High: 0.662},
			{X: 400, Y: 0.631, Low: 0.584, High: 0.676, Chosen: true},
			{X: 600, Y: 0.629, Low: 0.582, High: 0.674},
		}}},
		Levels: []Level{{"base", 0.558}},
	}
}

func TestLinesText(t *testing.T) {
	t.Parallel()
	want := strings.TrimPrefix(`
70 % ┤
     │                   ┆
     │┆                  ┆                 ┆
65 % ┤┆                  ┆                 ┆
     │┆                  ★                 ●
     │●                  ┆                 ┆
60 % ┤┆                  ┆                 ┆
     │┆                  ┆                 ┆
     │┆
55 % ┤· · · · · · · · · · · · · · · · · · ·
     └──────────────────────────────────────
     200                400        600  step
`, "\n")
	if d := cmp.Diff(want, sweep().Text(44, 12)); d != "" {
		t.Error(d)
	}
}

func wellFormed(t interface{ Fatalf(string, ...any) }, svg string) {
	d := xml.NewDecoder(strings.NewReader(svg))
	for {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatalf("%v in %s", err, svg)
		}
	}
}

// TestDrawings: whatever the data, the drawing is XML, has no number that is
// none, and comes out the same twice.
func TestDrawings(t *testing.T) {
	t.Parallel()
	value := rapid.OneOf(rapid.Float64Range(-1e6, 1e6), rapid.SampledFrom([]float64{0, 1, math.NaN(), math.Inf(1), 0.5}))
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.String().Draw(t, "name")
		c := Lines{Title: name, XName: name, YScale: Scale(rapid.IntRange(0, 1).Draw(t, "scale"))}
		for range rapid.IntRange(0, 3).Draw(t, "series") {
			s := Series{Name: name}
			for range rapid.IntRange(0, 70).Draw(t, "points") {
				y := value.Draw(t, "y")
				s.Points = append(s.Points, Point{X: value.Draw(t, "x"), Y: y, Low: y - 1, High: y + 1})
			}
			c.Series = append(c.Series, s)
		}
		b := Bars{Title: name, Bars: []Bar{{Name: name, Value: 3, Low: 1, High: 4, Note: name}, {Name: "无"}}}
		n := Counts{Title: name, Rows: []string{"A", name}, Cols: []string{"A", "B"}, N: [][]int{{3, 0}, {0, 7}}, Diagonal: true}
		for _, draw := range []func() string{c.SVG, b.SVG, n.SVG} {
			svg := draw()
			wellFormed(t, svg)
			if strings.Contains(svg, "NaN") || strings.Contains(svg, "Inf\"") {
				t.Fatalf("not a number in %s", svg)
			}
			if svg != draw() {
				t.Fatalf("two drawings differ")
			}
		}
		c.Text(rapid.IntRange(0, 120).Draw(t, "width"), rapid.IntRange(0, 30).Draw(t, "rows"))
		b.Text(rapid.IntRange(0, 120).Draw(t, "width2"))
	})
}

func TestBarsText(t *testing.T) {
	t.Parallel()
	c := Bars{Scale: Percent, Most: 1, Bars: []Bar{
		{Name: "航海", Value: 0.5, Low: 0.25, High: 0.75, Note: "10 of 20"}, {Name: "engine", Value: 1, Low: 1, High: 1, Note: "4 of 4"},
	}}
	want := "航海   █████▓▓▓▓▓░░░░░          50.0 %  10 of 20\nengine ████████████████████     100.0 %  4 of 4\n"
	got := c.Text(48)
	for _, line := range strings.Split(strings.TrimSpace(got), "\n") {
		if columns(line) > 48 {
			t.Errorf("%d columns: %q", columns(line), line)
		}
	}
	if strings.Count(got, "░") == 0 || strings.Count(got, "▓") == 0 {
		t.Errorf("no interval:\n%s\nwant something like\n%s", got, want)
	}
}
