package format

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
)

// A misread is a way in which the bytes of Chinese text are shown as Latin
// letters: a font says that its codes are those of a Latin encoding, and draws
// Chinese all the same. 中国 in GB18030 then reads "ÖÐ¹ú".
type misread struct {
	name string            // of the bytes' encoding, as messages show it
	enc  encoding.Encoding // nil: UTF-8
	page latinPage
}

// A latinPage is an encoding of simple fonts, read backwards: bytes above 0x7F by
// the characters PDFium gives for them.
type latinPage struct {
	codes map[rune][]byte // more than one: nobody can tell which
	blank byte            // shown as a space
}

// standardCodes are what StandardEncoding (ISO 32000-1, annex D.2) has from 0xA1
// on; 0: nothing, for which PDFium takes Latin-1.
const standardCodes = "¡¢£⁄¥ƒ§¤'“«‹›ﬁﬂ\x00–†‡·\x00¶•‚„”»…‰\x00¿\x00`´ˆ˜¯˘˙¨\x00˚¸\x00˝˛ˇ—" +
	"\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00Æ\x00ª\x00\x00\x00\x00ŁØŒº\x00\x00\x00\x00\x00æ\x00\x00\x00ı\x00\x00łøœß"

// misreads lists the ways in the order they are believed when they read alike.
func misreads() []misread {
	var out []misread
	for _, p := range []latinPage{windowsPage(), standardPage(), charmapPage(charmap.Macintosh, 0xCA)} {
		out = append(
			out,
			misread{"GB18030", simplifiedchinese.GB18030, p},
			misread{"UTF-8", nil, p},
			misread{"BIG5", traditionalchinese.Big5, p},
		)
	}
	return out
}

func charmapPage(c *charmap.Charmap, blank byte) latinPage {
	p := latinPage{map[rune][]byte{}, blank}
	for b := 0x80; b < 0x100; b++ {
		if r := c.DecodeByte(byte(b)); r != utf8.RuneError && r > 0x9F {
			p.codes[r] = []byte{byte(b)}
		}
	}
	for _, same := range [][2]rune{{0x3A9, 0x2126}, {0x394, 0x2206}, {0xB5, 0x3BC}} {
		for i, r := range same {
			if p.codes[r] == nil && p.codes[same[1-i]] != nil {
				p.codes[r] = p.codes[same[1-i]]
			}
		}
	}
	return p
}

func windowsPage() latinPage {
	p := charmapPage(charmap.Windows1252, 0xA0)
	// PDFium shows a bullet where the encoding has nothing
	p.codes['•'] = []byte{0x95, 0x81, 0x8D, 0x8F, 0x90, 0x9D}
	return p
}

func standardPage() latinPage {
	p := latinPage{map[rune][]byte{}, 0xA0}
	b := byte(0xA1)
	for _, r := range standardCodes {
		if r == 0 {
			r = rune(b)
		}
		p.codes[r] = append(p.codes[r], b)
		b++
	}
	for ; b != 0; b++ {
		p.codes[rune(b)] = append(p.codes[rune(b)], b)
	}
	return p
}

// first returns what the first byte of a character may be, shown at glyph i.
func (p latinPage) first(glyphs []glyph, i int) []byte {
	r := glyphs[i].r
	switch {
	case r == '\'':
		return nil // only ever a later byte
	case r == ' ' && p.blank != 0xA0:
		// a byte, when what follows without it cannot be characters of two
		n := 0
		for i++; i < len(glyphs) && p.codes[glyphs[i].r] != nil; i++ {
			n++
		}
		if n%2 == 1 {
			return []byte{p.blank}
		}
	}
	return p.codes[r]
}

// later returns the bytes r may be behind a first one. A blank and a hyphen stand
// for bytes, too.
func (p latinPage) later(r rune) []byte {
	switch {
	case r == ' ' || r == 0xA0:
		return []byte{p.blank}
	case r == '-' || r == 0xAD || r == 0x02 || r == 0xFFFE:
		return []byte{0xAD}
	case p.codes[r] != nil:
		return p.codes[r]
	case r >= 0x40 && r < 0x7F:
		return []byte{byte(r)}
	}
	return nil
}

// A reread is a character found in the glyphs from one place to another.
type reread struct {
	from, to int
	r        rune
}

// ungarble puts Chinese characters for the Latin letters that their bytes are
// shown as, when that makes good Chinese of most of them.
func (raw *rawPage) ungarble() {
	if !mayBeGarbled(raw.glyphs) {
		return
	}
	const sure, fewest = 1.1, 2 // as for text files: see sample.decide
	var best []reread
	top, common := 0.0, commonSet()
	for _, m := range misreads() {
		found, worth := m.read(raw.glyphs, common)
		if len(found) >= fewest && worth > top && worth >= sure*float64(len(found)) {
			best, top, raw.garbledIn = found, worth, m.name
		}
	}
	if best == nil {
		return
	}
	kept := raw.glyphs[:0]
	i := 0
	for _, f := range best {
		kept = append(kept, raw.glyphs[i:f.from]...)
		g := raw.glyphs[f.from]
		for _, o := range raw.glyphs[f.from+1 : f.to] {
			g.x0, g.x1 = min(g.x0, o.x0), max(g.x1, o.x1)
		}
		g.r = f.r
		kept = append(kept, g)
		i = f.to
	}
	raw.glyphs = append(kept, raw.glyphs[i:]...)
	raw.garbled = len(best)
}

// mayBeGarbled reports whether Latin letters and signs beyond ASCII stand in
// pairs, as they hardly do in any language.
func mayBeGarbled(glyphs []glyph) bool {
	high, pairs := 0, 0
	last := false
	for _, g := range glyphs {
		is := g.r >= 0x80 && g.r < 0x2E80
		if is && !isTypographic(g.r) {
			high++
		}
		if last && is {
			pairs++
			is = false // each belongs to one pair
		}
		last = is
	}
	return high >= 2 && pairs >= 2 && 4*pairs >= high
}

// isTypographic reports whether r is a sign beyond ASCII that Chinese text uses
// as it is, often twice in a row.
func isTypographic(r rune) bool {
	return strings.ContainsRune("…—–“”‘’·•×÷°±§′″", r)
}

// read returns the characters that glyphs are when misread so, and what they are
// worth: about 2 each in ordinary Chinese.
func (m misread) read(glyphs []glyph, common map[rune]bool) (found []reread, worth float64) {
	row, rowWorth, signs := 0, 0.0, 0 // of the characters in a row: the first, and so on
	end := func() {
		if n := len(found) - row; n > 0 && 2*signs >= found[len(found)-1].to-found[row].from {
			found = found[:row] // ……, ·· and the like
		} else {
			worth += rowWorth
		}
		row, rowWorth, signs = len(found), 0, 0
	}
	for i := 0; i < len(glyphs); {
		leads := m.page.first(glyphs, i)
		if leads == nil {
			end()
			i++
			continue
		}
		r, to := m.character(glyphs, i, leads)
		if to == 0 {
			if !isTypographic(glyphs[i].r) {
				worth -= 2 // an accent of a Latin word
			}
			end()
			i++
			continue
		}
		rowWorth += worthOf(r, common)
		for _, g := range glyphs[i:to] {
			if isTypographic(g.r) {
				signs++
			}
		}
		found = append(found, reread{i, to, r})
		i = to
	}
	end()
	return found, worth
}

// character reads one character from glyph i on; to is the glyph behind it, 0
// when there is no character. U+FFFD is one that could be this or that.
func (m misread) character(glyphs []glyph, i int, leads []byte) (r rune, to int) {
	n := 2
	if m.enc == nil {
		if n = utf8Length(leads[0]); n < 2 {
			return 0, 0
		}
	}
	var ways [][]byte
	for _, b := range leads {
		ways = append(ways, []byte{b})
	}
	j := i + 1
	for ; n > 1; n-- {
		if j >= len(glyphs) || !follows(glyphs[j-1], glyphs[j]) {
			return 0, 0
		}
		next := m.page.later(glyphs[j].r)
		if j+1 < len(glyphs) && glyphs[j].r == 'f' && sameBox(glyphs[j], glyphs[j+1]) {
			switch glyphs[j+1].r { // a ligature in two letters
			case 'i':
				next, j = m.page.later('ﬁ'), j+1
			case 'l':
				next, j = m.page.later('ﬂ'), j+1
			}
		}
		var longer [][]byte
		for _, w := range ways {
			for _, b := range next {
				longer = append(longer, append(bytes.Clone(w), b))
			}
		}
		ways = longer
		j++
	}
	for _, w := range ways {
		switch d := m.decode(w); {
		case d == utf8.RuneError:
		case to == 0:
			r, to = d, j
		default:
			r = utf8.RuneError
		}
	}
	return r, to
}

func utf8Length(lead byte) int {
	switch {
	case lead >= 0xC2 && lead < 0xE0:
		return 2
	case lead >= 0xE0 && lead < 0xF0:
		return 3
	}
	return 0
}

func (m misread) decode(b []byte) rune {
	if m.enc != nil {
		var err error
		if b, err = m.enc.NewDecoder().Bytes(b); err != nil {
			return utf8.RuneError
		}
	}
	r, n := utf8.DecodeRune(b)
	if n != len(b) || !isWide(r) && !unicode.IsPunct(r) && !unicode.IsSymbol(r) && !unicode.IsNumber(r) {
		return utf8.RuneError
	}
	return r
}

// worthOf is what a character says for a decoding; compare [score].
func worthOf(r rune, common map[rune]bool) float64 {
	switch {
	case r == utf8.RuneError:
		return 0
	case r >= 0xE000 && r < 0xF900:
		return -4
	case common[r]:
		return 2.5
	case r >= 0x3000 && r < 0x3020, r >= 0xFF00 && r < 0xFF60, r >= 0x2010 && r < 0x2030, r >= 0x2460 && r < 0x2470, r == '·':
		return 1
	case r >= 0x4E00 && r < 0xA000:
		return -0.5
	}
	return -1
}
