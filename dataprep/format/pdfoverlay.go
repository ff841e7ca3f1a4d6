package format

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A piece is a stretch of glyphs that follow each other, by its place in the
// page's glyphs.
type piece struct {
	from, to       int
	x0, x1         float64
	top, low, size float64
	faint          bool
}

// partOver takes out of the text what is printed over it in large or faint
// type, as watermarks are: read along with the text it would stand inside words.
func partOver(glyphs []glyph) (text, over []glyph) {
	const larger, most = 1.4, 500
	usual := commonest(glyphs)
	var looked []piece
	for _, p := range piecesOf(glyphs) {
		if p.faint || p.size >= larger*usual {
			looked = append(looked, p)
		}
	}
	if len(looked) == 0 || len(looked) > most {
		return glyphs, nil
	}
	out := make([]bool, len(looked))
	for i, p := range looked {
		out[i] = p.covers(glyphs)
	}
	taken := make([]bool, len(glyphs))
	for i, p := range looked {
		// characters set far apart do not all hit text
		near := func(j int) bool {
			o := looked[j]
			return out[j] && o.faint == p.faint && abs(o.size-p.size) < 0.5 && abs(o.low-p.low) < 0.2*p.size
		}
		if !out[i] && !slices.ContainsFunc(indices(len(looked)), near) {
			continue
		}
		for k := p.from; k < p.to; k++ {
			taken[k] = true
		}
		over = append(over, glyphs[p.from:p.to]...)
	}
	if len(over) == 0 || 2*len(over) > len(glyphs) {
		return glyphs, nil
	}
	for k, g := range glyphs {
		if !taken[k] {
			text = append(text, g)
		}
	}
	return text, over
}

func indices(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

func piecesOf(glyphs []glyph) []piece {
	var out []piece
	for i, g := range glyphs {
		top, low := g.base-0.75*g.size, g.base+0.1*g.size
		if i > 0 && follows(glyphs[i-1], g) {
			p := &out[len(out)-1]
			p.to = i + 1
			p.x0, p.x1 = min(p.x0, g.x0), max(p.x1, g.x1)
			p.top, p.low = min(p.top, top), max(p.low, low)
			p.faint = p.faint && g.ink.faint()
			continue
		}
		out = append(out, piece{i, i + 1, g.x0, g.x1, top, low, g.size, g.ink.faint()})
	}
	return out
}

// covers reports whether the middles of other glyphs lie in the box of p.
func (p piece) covers(glyphs []glyph) bool {
	const enough = 2
	n := 0
	for i, g := range glyphs {
		if i >= p.from && i < p.to || unicode.IsSpace(g.r) || g.size > 0.9*p.size && !p.faint || p.faint && g.ink.faint() {
			continue
		}
		x, y := (g.x0+g.x1)/2, g.base-0.35*g.size
		if x > p.x0 && x < p.x1 && y > p.top && y < p.low {
			if n++; n >= enough {
				return true
			}
		}
	}
	return false
}

// isSite reports whether a line advertises where the file came from: a web
// address or a group to join, and little else. Only such lines are taken for
// advertisements when they come again and again between questions.
func isSite(s string) bool {
	const longest = 60
	if utf8.RuneCountInString(s) > longest || looksLikeItem(s) {
		return false
	}
	lower := strings.ToLower(s)
	return slices.ContainsFunc([]string{
		"www.", "http://", "https://", ".com", ".cn", ".net", ".org", "qq群", "qq：", "qq:", "微信", "公众号", "公眾號", "扫码", "网校", "淘宝",
	}, func(mark string) bool { return strings.Contains(lower, mark) })
}
