package format

import (
	"slices"
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"
)

// TestGridsKeepText draws lines and letters at random: whatever is taken for a
// table, every letter comes out once.
func TestGridsKeepText(t *testing.T) {
	t.Parallel()
	tables := 0
	rapid.Check(t, func(t *rapid.T) {
		cols, rows := rapid.IntRange(1, 6).Draw(t, "cols"), rapid.IntRange(1, 7).Draw(t, "rows")
		width, height := rapid.Float64Range(10, 90).Draw(t, "width"), rapid.Float64Range(8, 40).Draw(t, "height")
		var strokes []stroke
		drawn := rapid.SampledFrom([]int{0, 9, 10, 10, 10, 10}) // of ten lines
		upright, level := drawn.Draw(t, "upright"), drawn.Draw(t, "level")
		keep := func(of int) bool { return rapid.IntRange(1, 10).Draw(t, "keep") <= of }
		for c := range cols + 1 {
			for r := range rows + 1 {
				x, y := float64(c)*width, float64(r)*height
				if r < rows && keep(upright) {
					strokes = append(strokes, stroke{x, y, x + 0.5, y + height})
				}
				if c < cols && keep(level) {
					strokes = append(strokes, stroke{x, y, x + width, y + 0.5})
				}
			}
		}
		var glyphs []glyph
		want := 0
		if rapid.Bool().Draw(t, "filled") && width > 20 && height > 10 {
			for i := range cols * rows {
				x, y := float64(i%cols)*width+5, float64(i/cols)*height+2
				glyphs = append(glyphs, glyph{r: '满', x0: x, x1: x + 8, base: -y, size: 9})
				want++
			}
		}
		for range rapid.IntRange(0, 60).Draw(t, "glyphs") {
			x := float64(rapid.IntRange(-1, cols).Draw(t, "col"))*width + rapid.Float64Range(0, 20).Draw(t, "x")
			y := float64(rapid.IntRange(-1, rows).Draw(t, "row"))*height + rapid.Float64Range(0, 20).Draw(t, "y")
			r := rapid.SampledFrom([]rune("题甲A7")).Draw(t, "rune")
			if slices.ContainsFunc(glyphs, func(g glyph) bool { return abs(g.x0-x) < 6 && abs(g.base+y) < 6 }) {
				continue // printed twice
			}
			glyphs = append(glyphs, glyph{r: r, x0: x, x1: x + 8, base: -y, size: 9})
			want++
		}
		got := 0
		for _, l := range layoutPage(glyphs, strokes) {
			text := l.Text
			if l.cells != nil {
				tables++
				text = strings.Join(l.cells, "")
			}
			for _, r := range text {
				if !unicode.IsSpace(r) && r != '^' && r != '_' && r != '(' && r != ')' {
					got++
				}
			}
		}
		if got != want {
			t.Fatalf("%d letters come out of %d", got, want)
		}
	})
	if tables == 0 {
		t.Error("no table came up")
	}
}
