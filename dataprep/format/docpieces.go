package format

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf16"

	"golang.org/x/text/encoding/charmap"

	"github.com/drydock-ml/drydock/internal/msg"
)

// A docPiece is a run of characters that stand together in the file ([MS-DOC]
// 2.8.35): of one byte in windows-1252, or of two in UTF-16.
type docPiece struct {
	from, to int // characters of the document
	off      int // of the first byte in the main stream
	wide     bool
}

// readPieces reads the piece table.
func (d *doc) readPieces() []docPiece {
	clx := d.pair(pairPieces)
	for len(clx) > 3 && clx[0] == 1 { // changes of a fast save, which pieces refer to
		clx = clx[min(3+clx.u16(1), len(clx)):]
	}
	if len(clx) < 5 || clx[0] != 2 {
		return nil
	}
	plc := clx.at(5, clx.u32(1))
	const place, descriptor = 4, 8
	n := (len(plc) - place) / (place + descriptor)
	var out []docPiece
	for i := range n {
		p := docPiece{from: docBytes(plc).u32(i * place), to: docBytes(plc).u32((i + 1) * place)}
		fc := uint32(docBytes(plc).u32((n+1)*place + i*descriptor + 2))
		if p.wide = fc&(1<<30) == 0; p.wide {
			p.off = int(fc)
		} else {
			p.off = int(fc&^(1<<30)) / 2
		}
		if p.from < 0 || p.to < p.from || len(out) > 0 && p.from != out[len(out)-1].to {
			return nil
		}
		out = append(out, p)
	}
	return out
}

// A docChar is a character with its place in the text, and that of its bytes, by
// which its looks are found.
type docChar struct {
	r       rune
	at, off int
}

// text calls each with the characters from one place to another, in order,
// until it returns false. Characters whose bytes are not in the file are counted.
func (d *doc) text(from, to int, each func(docChar) bool) {
	i, _ := slices.BinarySearchFunc(d.pieces, from, func(p docPiece, at int) int {
		if p.to <= at {
			return -1
		}
		return 1
	})
	var high rune
	for ; i < len(d.pieces) && d.pieces[i].from < to; i++ {
		p := &d.pieces[i]
		width := 1
		if p.wide {
			width = 2
		}
		first, last := max(from, p.from), min(to, p.to)
		if room := (len(d.main) - p.off) / width; p.off < 0 || last-p.from > room {
			d.bad += last - max(first, p.from+max(room, 0))
			last = p.from + max(room, 0)
		}
		for c := first; c < last; c++ {
			ch := docChar{at: c, off: p.off + (c-p.from)*width}
			if ch.r = rune(d.main.u16(ch.off)); !p.wide {
				ch.r = charmap.Windows1252.DecodeByte(d.main[ch.off])
			}
			switch {
			case high != 0 && utf16.IsSurrogate(ch.r):
				ch.r, high = utf16.DecodeRune(high, ch.r), 0
			case utf16.IsSurrogate(ch.r):
				high = ch.r
				continue
			}
			if !each(ch) {
				return
			}
		}
	}
}

// A docRun is a range of bytes of the main stream with one look.
type docRun struct {
	end   int
	props docBytes // of property modifiers
}

// A docPara is a range of bytes that ends with a paragraph's mark.
type docPara struct {
	docRun
	style int
}

// formatted reads the pages of formatting that a table of the table stream
// names ([MS-DOC] 2.9.33, 2.9.174): each page of 512 bytes holds the places and
// properties of some runs.
func (d *doc) formatted(pair int, each func(end, page, at int)) {
	const page = 512
	plc := d.pair(pair)
	n := (len(plc) - 4) / 8
	for i := range max(n, 0) {
		start := (plc.u32((n+1)*4+i*4) & 0x3FFFFF) * page
		p := docBytes(d.main.at(start, page))
		if p == nil {
			continue
		}
		for k := range int(p[page-1]) {
			if (k+2)*4 < page {
				each(p.u32((k+1)*4), start, k)
			}
		}
	}
}

func (d *doc) readFormatting() {
	d.formatted(pairChars, func(end, start, k int) {
		p := docBytes(d.main[start : start+512])
		run := docRun{end: end}
		count := int(p[511])
		if at := p.u8((count+1)*4+k) * 2; at > 0 {
			run.props = p.at(at+1, p.u8(at))
		}
		d.chars = append(d.chars, run)
	})
	d.formatted(pairParas, func(end, start, k int) {
		p := docBytes(d.main[start : start+512])
		para := docPara{docRun: docRun{end: end}}
		count := int(p[511])
		if at := p.u8((count+1)*4+k*13) * 2; at > 0 {
			size := 2*p.u8(at) - 1
			if at++; size < 0 {
				size = 2 * p.u8(at)
				at++
			}
			para.style = p.u16(at)
			para.props = p.at(at+2, min(size, 512-at)-2)
		}
		d.paras = append(d.paras, para)
	})
	// pages come in the order of the bytes; a damaged file is put in order
	byEnd := func(a, b docRun) int { return cmp.Compare(a.end, b.end) }
	slices.SortStableFunc(d.chars, byEnd)
	slices.SortStableFunc(d.paras, func(a, b docPara) int { return byEnd(a.docRun, b.docRun) })
}

// runAt is the run a byte stands in, from the hint on, which is right for the
// next byte most of the time.
func runAt[T any](runs []T, off int, hint *int, end func(*T) int) *T {
	if i := *hint; i < len(runs) && end(&runs[i]) > off && (i == 0 || end(&runs[i-1]) <= off) {
		return &runs[i]
	}
	i, _ := slices.BinarySearchFunc(runs, off, func(r T, at int) int {
		if end(&r) <= at {
			return -1
		}
		return 1
	})
	if *hint = i; i >= len(runs) {
		return nil
	}
	return &runs[i]
}

// modifiers calls each with the property modifiers of a list ([MS-DOC] 2.2.5.1)
// and their operands.
func modifiers(b docBytes, each func(code int, operand docBytes)) {
	for len(b) >= 2 {
		code := b.u16(0)
		b = b[2:]
		size := [8]int{1, 1, 2, 4, 2, 2, 0, 3}[code>>13]
		if code>>13 == 6 {
			head := 1
			size = b.u8(0)
			if code == 0xD608 { // a table's definition has a longer count
				head, size = 2, b.u16(0)-1
			}
			b = b[min(head, len(b)):]
		}
		if size < 0 || size > len(b) {
			return
		}
		each(code, b[:size])
		b = b[size:]
	}
}

// A docStyle is what of a style matters for text.
type docStyle struct {
	based int
	name  string
	props docPropsList
}

// docPropsList is a style's own modifiers: of paragraphs and of characters.
type docPropsList struct{ para, char docBytes }

// readStyles reads the style sheet ([MS-DOC] 2.9.271).
func (d *doc) readStyles() {
	sheet := d.pair(pairStyles)
	if len(sheet) < 8 {
		return
	}
	count, base := sheet.u16(2), sheet.u16(4)
	at := 2 + sheet.u16(0)
	for range min(count, 4096) {
		size := sheet.u16(at)
		b := docBytes(sheet.at(at+2, size))
		at += 2 + size + size&1
		s := docStyle{based: 0xFFF}
		if len(b) > base+2 && base >= 10 {
			s.based = b.u16(2) >> 4
			kind, parts := b.u16(2)&15, b.u16(4)&15
			n := b.u16(base)
			var name []uint16
			for i := range min(n, 256) {
				name = append(name, uint16(b.u16(base+2+2*i)))
			}
			s.name = strings.ToLower(string(utf16.Decode(name)))
			p := base + 2 + 2*n + 2
			for i := range parts {
				p += p & 1
				u := docBytes(b.at(p+2, b.u16(p)))
				p += 2 + b.u16(p)
				if kind == 1 && i == 0 && len(u) > 2 {
					s.props.para = u[2:]
				} else if kind == 1 && i == 1 || kind == 2 && i == 0 {
					s.props.char = u
				}
			}
		}
		d.styles = append(d.styles, s)
	}
}

// chain is a style after those it is based on, the furthest first.
func (d *doc) chain(style int) (out []*docStyle) {
	for range maxParents {
		if style < 0 || style >= len(d.styles) {
			break
		}
		out = append(out, &d.styles[style])
		style = d.styles[style].based
	}
	slices.Reverse(out)
	return out
}

// tellBad notes characters whose bytes are missing.
func (d *doc) tellBad() {
	if d.bad > 0 {
		d.note(Note{Code: "torn_text", Damage: true, Text: msg.Text{
			"%s: %d characters are missing; the file may be cut off", "%s：缺少 %d 个字符，文件可能不完整",
		}, Args: []any{d.pkg.file.name(), d.bad}})
	}
}
