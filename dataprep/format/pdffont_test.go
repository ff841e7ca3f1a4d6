package format

import (
	"encoding/binary"
	"flag"
	"os"
	"testing"
	"unicode/utf16"
)

var updateFont = flag.Bool("update-font", false, "write fonts/square.ttf again")

// TestSquareFont proves that the font in the tree is what this file builds.
func TestSquareFont(t *testing.T) {
	t.Parallel()
	const path = "fonts/square.ttf"
	want := squareFont()
	if *updateFont {
		if err := os.WriteFile(path, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != string(want) {
		t.Errorf("%s is not what squareFont builds (go test -run SquareFont -update-font)", path)
	}
}

// squareFont builds a TrueType font in which every character is the same em
// square. It says of itself that it covers the Chinese, Japanese and Korean
// code pages, so that PDFium takes it for a font that a PDF names but does not
// carry.
func squareFont() []byte {
	u16 := func(v ...int) (b []byte) {
		for _, x := range v {
			b = binary.BigEndian.AppendUint16(b, uint16(x))
		}
		return b
	}
	u32 := func(v ...int) (b []byte) {
		for _, x := range v {
			b = binary.BigEndian.AppendUint32(b, uint32(x))
		}
		return b
	}
	join := func(parts ...[]byte) (b []byte) {
		for _, p := range parts {
			b = append(b, p...)
		}
		return b
	}
	const ascent, descent, em = 880, -120, 1000
	square := join(u16(1, 0, descent, em, ascent, 3, 0), []byte{1, 1, 1, 1}, u16(0, em, 0, -em), u16(descent, 0, em, 0))
	ranges := [][2]int{{0x20, 0xD7FF}, {0xE000, 0xFFFD}, {0x10000, 0x3FFFF}}
	groups := []byte{}
	for _, r := range ranges {
		groups = join(groups, u32(r[0], r[1], 1))
	}
	// format 13: many characters, one glyph
	cmap := join(u16(0, 1, 3, 10), u32(12), u16(13, 0), u32(16+len(groups), 0, len(ranges)), groups)
	const codePages = 1<<17 | 1<<18 | 1<<19 | 1<<20 // JIS, GB, KS, Big5
	os2 := join(u16(1, em, 400, 5, 0), make([]byte, 20), u16(0), make([]byte, 10), u32(0, 1<<27, 0, 0), []byte("NONE"),
		u16(0x40, 0x20, 0xFFFD, ascent, descent, 0, ascent, -descent), u32(codePages, 0))
	tables := []struct {
		tag  string
		data []byte
	}{
		{"OS/2", os2},
		{"cmap", cmap},
		{"glyf", square},
		{"head", join(u32(0x10000, 0x10000, 0, 0x5F0F3CF5), u16(0, em), make([]byte, 16), u16(0, descent, em, ascent, 0, 8, 2, 0, 0))},
		{"hhea", join(u32(0x10000), u16(ascent, descent, 0, em, 0, 0, em, 1, 0, 0, 0, 0, 0, 0, 0, 1))},
		{"hmtx", u16(em, 0, 0)},
		{"loca", u16(0, 0, len(square)/2)},
		{"maxp", join(u32(0x10000), u16(2, 4, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0))},
		{"name", nameTable(u16, "Drydock Square")},
		{"post", join(u32(0x30000, 0), u16(0, 0), u32(1, 0, 0, 0, 0))},
	}
	head := join(u32(0x10000), u16(len(tables), 128, 3, len(tables)*16-128))
	body := []byte{}
	for _, tb := range tables {
		sum := uint32(0)
		padded := append(tb.data, make([]byte, -len(tb.data)&3)...)
		for i := 0; i < len(padded); i += 4 {
			sum += binary.BigEndian.Uint32(padded[i:])
		}
		head = join(head, []byte(tb.tag), binary.BigEndian.AppendUint32(nil, sum), u32(12+16*len(tables)+len(body), len(tb.data)))
		body = append(body, padded...)
	}
	return append(head, body...)
}

// nameTable names a font for the Macintosh, where PDFium looks, and Windows.
func nameTable(u16 func(...int) []byte, family string) []byte {
	wide := utf16BE16(family)
	var records, text []byte
	for _, p := range []struct {
		platform, encoding, language int
		family                       []byte
		regular                      []byte
	}{{1, 0, 0, []byte(family), []byte("Regular")}, {3, 1, 0x409, wide, utf16BE16("Regular")}} {
		for _, id := range []int{1, 2, 4, 6} {
			s := p.family
			if id == 2 {
				s = p.regular
			}
			records = append(records, u16(p.platform, p.encoding, p.language, id, len(s), len(text))...)
			text = append(text, s...)
		}
	}
	return append(append(u16(0, 8, 6+len(records)), records...), text...)
}

func utf16BE16(s string) (b []byte) {
	for _, u := range utf16.Encode([]rune(s)) {
		b = binary.BigEndian.AppendUint16(b, u)
	}
	return b
}
