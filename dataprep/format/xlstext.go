package format

import (
	"encoding/binary"
	"math"
	"strings"
	"unicode/utf16"

	"golang.org/x/text/encoding/charmap"
)

// u64 reads a number of eight bytes; outside of the bytes it is 0.
func (b docBytes) u64(off int) uint64 {
	if p := b.at(off, 8); p != nil {
		return binary.LittleEndian.Uint64(p)
	}
	return 0
}

// rkNumber unpacks a number of four bytes ([MS-XLS] 2.5.217).
func rkNumber(rk uint32) float64 {
	v := math.Float64frombits(uint64(rk&^3) << 32)
	if rk&2 != 0 {
		v = float64(int32(rk) >> 2)
	}
	if rk&1 != 0 {
		v /= 100
	}
	return v
}

// xlsError is the text of an error value ([MS-XLS] 2.5.10).
func xlsError(code int) string {
	switch code {
	case 0x00:
		return "#NULL!"
	case 0x07:
		return "#DIV/0!"
	case 0x0F:
		return "#VALUE!"
	case 0x17:
		return "#REF!"
	case 0x1D:
		return "#NAME?"
	case 0x24:
		return "#NUM!"
	case 0x2A:
		return "#N/A"
	}
	return "#ERR"
}

// An xlsText is a text with the places where another font begins.
type xlsText struct {
	text string
	runs []xlsRun
}

// An xlsRun begins at a byte of the text.
type xlsRun struct{ at, font int }

// xlsShortString reads a text whose length is one byte: a sheet's name.
func xlsShortString(b docBytes) string {
	r := xlsReader{parts: []docBytes{b}}
	return r.text(r.u8()).text
}

// An xlsReader reads through a record and its continuations.
type xlsReader struct {
	parts []docBytes
	at    int // in the first of parts
}

// left is how many bytes there still are.
func (r *xlsReader) left() int {
	n := -r.at
	for _, p := range r.parts {
		n += len(p)
	}
	return n
}

// take returns the next bytes, fewer at the end.
func (r *xlsReader) take(n int) []byte {
	var out []byte
	for n > 0 && len(r.parts) > 0 {
		p := r.parts[0][r.at:]
		if len(p) == 0 {
			r.parts, r.at = r.parts[1:], 0
			continue
		}
		p = p[:min(n, len(p))]
		if r.at += len(p); out == nil && len(p) == n {
			return p
		}
		out, n = append(out, p...), n-len(p)
	}
	return out
}

func (r *xlsReader) u8() int  { return docBytes(r.take(1)).u8(0) }
func (r *xlsReader) u16() int { return docBytes(r.take(2)).u16(0) }
func (r *xlsReader) u32() int { return docBytes(r.take(4)).u32(0) }

// text reads a text of n characters ([MS-XLS] 2.5.293). Where it runs on into a
// continuation, that says anew how many bytes a character has.
func (r *xlsReader) text(n int) (t xlsText) {
	const wideFlag, extFlag, richFlag = 1, 4, 8
	flags := r.u8()
	runs, ext := 0, 0
	if flags&richFlag != 0 {
		runs = r.u16()
	}
	if flags&extFlag != 0 {
		ext = max(r.u32(), 0)
	}
	var b strings.Builder
	offsets := []int32{} // of UTF-16 units in b, where there are runs
	wide := flags&wideFlag != 0
	for n > 0 && len(r.parts) > 0 {
		here := len(r.parts[0]) - r.at
		if here == 0 {
			if r.parts, r.at = r.parts[1:], 0; len(r.parts) > 0 {
				wide = r.u8()&wideFlag != 0
			}
			continue
		}
		width := 1
		if wide {
			width = 2
		}
		chunk := docBytes(r.take(min(n, max(here/width, 1)) * width))
		units := make([]uint16, 0, len(chunk)/width)
		for i := 0; i+width <= len(chunk); i += width {
			if wide {
				units = append(units, uint16(chunk.u16(i)))
			} else {
				units = append(units, uint16(charmap.ISO8859_1.DecodeByte(chunk[i])))
			}
		}
		n -= max(len(units), 1)
		for _, c := range utf16.Decode(units) {
			for range utf16.RuneLen(c) {
				if runs > 0 {
					offsets = append(offsets, int32(b.Len()))
				}
			}
			b.WriteRune(c)
		}
	}
	t.text = b.String()
	for range runs {
		at, font := r.u16(), r.u16()
		place := len(t.text)
		if at < len(offsets) {
			place = int(offsets[at])
		}
		if at > len(offsets) {
			continue
		}
		t.runs = append(t.runs, xlsRun{at: place, font: font})
	}
	r.take(ext)
	return t
}
