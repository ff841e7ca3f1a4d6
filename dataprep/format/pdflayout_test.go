package format

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/drydock-ml/drydock/internal/msg"

	"pgregory.net/rapid"
)

// word lays out a word from x on, Latin letters half an em wide.
func word(s string, x, base, size float64) []glyph {
	var out []glyph
	for _, r := range s {
		w := size / 2
		if isWide(r) {
			w = size
		}
		out = append(out, glyph{r: r, x0: x, x1: x + w, base: base, size: size})
		x += w
	}
	return out
}

func sortedRunes(s string) string {
	r := []rune(strings.Join(strings.Fields(s), ""))
	slices.Sort(r)
	return string(r)
}

// TestLayoutLosesNothing lays out words on a grid in any stream order: each of
// their characters comes out once, whatever columns are seen in it.
func TestLayoutLosesNothing(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var all [][]glyph
		in := ""
		for y := range rapid.IntRange(1, 12).Draw(t, "rows") {
			for x := range rapid.IntRange(1, 4).Draw(t, "cells") {
				w := rapid.StringMatching(`([a-d]{1,9}|[甲乙丙丁，]{1,6}|[A-D][.．][a-z]{1,4}|[0-9]{1,3})`).Draw(t, "word")
				size := rapid.SampledFrom([]float64{9, 10, 12}).Draw(t, "size")
				shift := rapid.SampledFrom([]float64{0, 0, 0, 1, -3, 4}).Draw(t, "shift")
				in += w
				all = append(all, word(w, 50+float64(x)*rapid.SampledFrom([]float64{130, 140}).Draw(t, "pitch"), float64(y)*18+shift, size))
			}
		}
		order := rapid.Permutation(all).Draw(t, "order")
		lines := layoutPage(slices.Concat(order...), nil)
		out := ""
		for i, l := range lines {
			out += l.Text
			if l.number != i+1 || l.Text == "" || strings.TrimSpace(l.Text) != l.Text {
				t.Fatalf("line %d is number %d, text %q", i, l.number, l.Text)
			}
			for _, s := range l.Spans {
				if s.Start < 0 || s.Start >= s.End || s.End > len(l.Text) || !utf8.ValidString(l.Text[s.Start:s.End]) {
					t.Fatalf("span %+v of %q", s, l.Text)
				}
			}
		}
		if sortedRunes(out) != sortedRunes(in) {
			t.Fatalf("in  %s\nout %s", sortedRunes(in), sortedRunes(out))
		}
	})
}

func TestMeant(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		r           rune
		inked, cork bool
		want        rune
	}{
		{'a', true, false, 'a'},
		{'\t', false, false, ' '},
		{0x02, true, false, '-'},
		{0xAD, true, false, '-'},
		{'\n', false, false, 0},
		{0x0C, true, false, 'ﬁ'},
		{0x0D, true, false, 'ﬂ'},
		{0x1C, true, true, 'ﬁ'},
		{0x10, true, true, '“'},
		{0x10, true, false, utf8.RuneError},
		{0, false, false, utf8.RuneError},
	} {
		if got := meant(c.r, c.inked, c.cork); got != c.want {
			t.Errorf("meant(%U, %v, %v) = %q, want %q", c.r, c.inked, c.cork, got, c.want)
		}
	}
}

func TestPlainRune(t *testing.T) {
	t.Parallel()
	for in, want := range map[rune]string{'⽔': "水", 'ﬁ': "fi", '豈': "豈", '水': "水", '①': "①", '：': "："} {
		if got := plainRune(in); got != want {
			t.Errorf("plainRune(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestPageNumbers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text  string
		paged bool
	}{
		{"12", true},
		{"- 12 -", true},
		{"第 3 页 共 9 页", true},
		{"Page 3 of 9", true},
		{"3/9", true},
		{"iv", true},
		{"Steering rules  17", true},
		{"17  Steering rules", true},
		{"Contents  ii", true},
		{"第3条", false},
		{"Rule 14", false},
		{"Question 5", false},
		{"Steering rules", false},
		{"2024 edition", false},
	} {
		key, numbers := mask(c.text)
		if got := len(numbers) > 0 && pageForm(c.text, key); got != c.paged {
			t.Errorf("%q: page number %v, want %v", c.text, got, c.paged)
		}
	}
	for in, want := range map[string]int{"iv": 4, "XIV": 14, "Iv": 0, "mix": 0, "": 0, "xxxviii": 38} {
		if got := romanValue(in); got != want {
			t.Errorf("romanValue(%q) = %d, want %d", in, got, want)
		}
	}
	if got := ranges([]int{1, 2, 3, 7, 9, 10}).In(msg.En); got != "1–3, 7, 9–10" {
		t.Errorf("ranges: %q", got)
	}
}

func FuzzLayout(f *testing.F) {
	f.Add([]byte("\x10\x20\x0a\x41\x30\x20\x0a\x42"))
	f.Add([]byte("\x00\x00\x00\x00\xff\xff\xff\xff"))
	f.Fuzz(func(t *testing.T, in []byte) {
		var glyphs []glyph
		for i := 0; i+4 <= len(in); i += 4 {
			x, size := float64(in[i])*3, 1+float64(in[i+2]%30)
			glyphs = append(glyphs, glyph{
				r: rune(in[i+3]) * 97, x0: x, x1: x + size/2, base: float64(in[i+1]) * 4, size: size,
				angle: int(in[i+2]/64) * 90,
			})
		}
		for _, l := range layoutPage(glyphs, nil) {
			if l.Text == "" || math.IsNaN(l.base) {
				t.Fatalf("line %+v", l)
			}
		}
	})
}

func BenchmarkLayout(b *testing.B) {
	var glyphs []glyph
	for y := range 45 {
		glyphs = append(glyphs, word(strings.Repeat("船舶应当保持正规的瞭望", 3), 72, float64(y)*16, 10.5)...)
	}
	b.ReportAllocs()
	for b.Loop() {
		layoutPage(glyphs, nil)
	}
}

// BenchmarkLayoutOfManyPieces lays out pages as maps and drawings have them. Pages of
// ten times as many pieces must not take much more than ten times as long.
func BenchmarkLayoutOfManyPieces(b *testing.B) {
	for _, page := range []struct {
		name string
		at   func(i int, rnd uint32) (x, base float64)
	}{
		{"scattered", func(_ int, rnd uint32) (float64, float64) { return float64(rnd % 600), float64(rnd / 600 % 800) }},
		{"one line", func(_ int, rnd uint32) (float64, float64) { return float64(rnd % 60000), 100 }},
		{"one place", func(i int, _ uint32) (float64, float64) { return 100 + float64(i%7)*3, 100 }},
		{"two columns", func(i int, rnd uint32) (float64, float64) { return float64(i%2)*300 + float64(rnd%200), float64(i) }},
	} {
		for _, pieces := range []int{3000, 30000} {
			glyphs := scatter(pieces, page.at)
			b.Run(fmt.Sprintf("%s/%d", page.name, pieces), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					layoutPage(glyphs, nil)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*pieces), "ns/piece")
			})
		}
	}
}

// scatter sets so many letters in three sizes where at says.
func scatter(pieces int, at func(i int, rnd uint32) (x, base float64)) []glyph {
	glyphs := make([]glyph, 0, pieces)
	rnd := uint32(1)
	for i := range pieces {
		rnd = rnd*1664525 + 1013904223
		x, base := at(i, rnd>>8)
		glyphs = append(glyphs, word(string(rune('a'+rnd>>16%26)), x, base, 8+float64(rnd>>20%3)*4)...)
	}
	return glyphs
}
