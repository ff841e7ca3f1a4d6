package format_test

import (
	"bytes"
	"encoding/binary"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/drydock-ml/drydock/dataprep/format"
	"github.com/drydock-ml/drydock/dataprep/format/formattest"
	"github.com/drydock-ml/drydock/internal/meter"
)

// A wordText is a document of Word 97 made by a test: its pieces in the order
// of the text, and the properties of the paragraphs that end in each.
type wordText struct {
	pieces  []wordPiece
	backTo  bool // pieces stand in the file in the opposite order, as a fast save leaves them
	flags   uint16
	version uint16
	magic   uint16
	boxes   []string // text boxes; one for each \b in the pieces, then of a group
}

// A wordPiece is one paragraph: text and mark, and its properties.
type wordPiece struct {
	text  string
	wide  bool
	para  []byte // modifiers of the paragraph
	char  []byte // modifiers of its characters
	style uint16
}

// bytes writes the document as a compound file.
func (w wordText) bytes() []byte {
	le := binary.LittleEndian
	main := make([]byte, 0x600)
	body := w.pieces
	w.pieces = slices.Clone(body)
	for _, text := range w.boxes {
		w.pieces = append(w.pieces, wordPiece{text: text, wide: true})
	}
	type placed struct{ from, to int }
	places := make([]placed, len(w.pieces))
	for i := range w.pieces {
		at := i
		if w.backTo {
			at = len(w.pieces) - 1 - i
		}
		p := w.pieces[at]
		from := len(main)
		if p.wide {
			for _, u := range utf16.Encode([]rune(p.text)) {
				main = le.AppendUint16(main, u)
			}
		} else {
			main = append(main, p.text...)
		}
		places[at] = placed{from, len(main)}
		main = append(main, make([]byte, len(main)%2)...)
	}
	clx, count := []byte{2, 0, 0, 0, 0}, 0
	for i := range w.pieces {
		clx = le.AppendUint32(clx, uint32(count))
		count += w.pieces[i].length()
	}
	clx = le.AppendUint32(clx, uint32(count))
	for i, p := range w.pieces {
		fc := uint32(places[i].from)
		if !p.wide {
			fc = fc*2 | 1<<30
		}
		clx = le.AppendUint16(le.AppendUint32(le.AppendUint16(clx, 0), fc), 0)
	}
	le.PutUint32(clx[1:], uint32(len(clx)-5))
	table := append(make([]byte, 64), clx...)
	pair := func(n int, b []byte) {
		le.PutUint32(main[0x9A+8*n:], uint32(len(table)))
		le.PutUint32(main[0x9A+8*n+4:], uint32(len(b)))
		table = append(table, b...)
	}
	le.PutUint32(main[0x9A+8*33:], 64)
	le.PutUint32(main[0x9A+8*33+4:], uint32(len(clx)))
	// a page of formatting for each piece, in the order of the bytes
	for n, para := range map[int]bool{12: false, 13: true} {
		var ends, pages []byte
		for i := range w.pieces {
			at := i
			if w.backTo {
				at = len(w.pieces) - 1 - i
			}
			p := w.pieces[at]
			main = append(main, make([]byte, (512-len(main)%512)%512)...)
			ends = le.AppendUint32(ends, uint32(places[at].from))
			pages = le.AppendUint32(pages, uint32(len(main)/512))
			page := make([]byte, 512)
			le.PutUint32(page, uint32(places[at].from))
			le.PutUint32(page[4:], uint32(places[at].to))
			page[511] = 1
			page[8] = 100 // words
			if para {
				if body := append(le.AppendUint16(nil, p.style), p.para...); len(body)%2 == 1 {
					page[200] = byte((len(body) + 1) / 2)
					copy(page[201:], body)
				} else {
					page[201] = byte(len(body) / 2)
					copy(page[202:], body)
				}
			} else {
				page[200] = byte(len(p.char))
				copy(page[201:], p.char)
			}
			main = append(main, page...)
		}
		pair(n, append(append(ends, 0xFF, 0xFF, 0xFF, 0x7F), pages...))
	}
	le.PutUint16(main, max(w.magic, 0xA5EC))
	if w.magic != 0 {
		le.PutUint16(main, w.magic)
	}
	le.PutUint16(main[2:], max(w.version, 1)*0xC1)
	if w.version != 0 {
		le.PutUint16(main[2:], w.version)
	}
	le.PutUint16(main[0x0A:], w.flags|0x0200)
	le.PutUint32(main[0x4C:], uint32(count))
	if len(w.boxes) > 0 {
		chars, anchors, texts := w.putBoxes(main, body)
		le.PutUint32(main[0x4C:], uint32(chars))
		pair(40, anchors)
		pair(56, texts)
	}
	return compound(streamOf{"WordDocument", main}, streamOf{"1Table", table})
}

// putBoxes counts the characters of the text and of its boxes, and makes the tables
// of the anchors and of the boxes' texts.
func (w wordText) putBoxes(main []byte, body []wordPiece) (chars int, anchors, texts []byte) {
	le := binary.LittleEndian
	shape := func(i int) uint32 { return uint32(0x402 + i) }
	var shapes, boxes []byte
	for _, p := range body {
		for i, c := range utf16.Encode([]rune(p.text)) {
			if c == '\b' {
				anchors = le.AppendUint32(anchors, uint32(chars+i))
				shapes = append(le.AppendUint32(shapes, shape(len(shapes)/26)), make([]byte, 22)...)
			}
		}
		chars += p.length()
	}
	texts = make([]byte, 4)
	n := 0
	for i, s := range w.boxes {
		n += wordPiece{text: s, wide: true}.length()
		texts = le.AppendUint32(texts, uint32(n))
		boxes = append(le.AppendUint32(append(boxes, make([]byte, 14)...), shape(i)), 0, 0, 0, 0)
	}
	le.PutUint32(main[0x4C+24:], uint32(n))
	return chars, append(le.AppendUint32(anchors, uint32(chars)), shapes...), append(texts, boxes...)
}

func (p wordPiece) length() int {
	if p.wide {
		return len(utf16.Encode([]rune(p.text)))
	}
	return len(p.text)
}

type streamOf struct {
	name string
	data []byte
}

// compound writes streams of more than 4096 bytes as a compound file ([MS-CFB])
// of sectors of 512 bytes: one sector of the directory, and of the table as many
// as are needed.
func compound(streams ...streamOf) []byte {
	const sector, free, end, fat = 512, 0xFFFFFFFF, 0xFFFFFFFE, 0xFFFFFFFD
	le := binary.LittleEndian
	var body []byte
	var chain []uint32
	dir := make([]byte, 0, sector)
	entry := func(name string, kind byte, right, child, start, size uint32) {
		e := make([]byte, 128)
		for i, u := range utf16.Encode([]rune(name)) {
			le.PutUint16(e[2*i:], u)
		}
		le.PutUint16(e[64:], uint16(2*len(name)+2))
		e[66], e[67] = kind, 1
		le.PutUint32(e[68:], free)
		le.PutUint32(e[72:], right)
		le.PutUint32(e[76:], child)
		le.PutUint32(e[116:], start)
		le.PutUint32(e[120:], size)
		dir = append(dir, e...)
	}
	entry("Root Entry", 5, free, 1, end, 0)
	for i, s := range streams {
		data := append(bytes.Clone(s.data), make([]byte, max(0, 4096-len(s.data)))...)
		size := len(data)
		data = append(data, make([]byte, (sector-size%sector)%sector)...)
		right := uint32(i + 2)
		if i == len(streams)-1 {
			right = free
		}
		entry(s.name, 2, right, free, uint32(len(chain)), uint32(size))
		for range len(data)/sector - 1 {
			chain = append(chain, uint32(len(chain)+1))
		}
		chain = append(chain, end)
		body = append(body, data...)
	}
	dir = append(dir, make([]byte, (sector-len(dir)%sector)%sector)...)
	dirAt := uint32(len(chain))
	chain = append(chain, end)
	body = append(body, dir...)
	tables := (len(chain) + sector/4) / (sector/4 - 1)
	head := make([]byte, sector)
	copy(head, "\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1")
	le.PutUint16(head[24:], 0x3E)
	le.PutUint16(head[26:], 3)
	le.PutUint16(head[28:], 0xFFFE)
	le.PutUint16(head[30:], 9)
	le.PutUint16(head[32:], 6)
	le.PutUint32(head[44:], uint32(tables))
	le.PutUint32(head[48:], dirAt)
	le.PutUint32(head[56:], 4096)
	le.PutUint32(head[60:], end)
	le.PutUint32(head[68:], end)
	for i := range 109 {
		at := uint32(free)
		if i < tables {
			at = uint32(len(chain) + i)
		}
		le.PutUint32(head[76+4*i:], at)
	}
	for range tables {
		chain = append(chain, fat)
	}
	for len(chain) < tables*sector/4 {
		chain = append(chain, free)
	}
	for _, c := range chain {
		body = le.AppendUint32(body, c)
	}
	return append(head, body...)
}

// Modifiers of paragraphs.
var (
	inTable = []byte{0x16, 0x24, 1}
	rowEnd  = []byte{0x16, 0x24, 1, 0x17, 0x24, 1}
)

func wordBank(backTo bool) wordText {
	return wordText{backTo: backTo, pieces: []wordPiece{
		{text: "总则\r", wide: true, style: 1},
		{text: "Keep a \x93proper\x94 look-out\r"},
		{text: "甲\v乙\x13 PAGE \x14三\x15\r", wide: true},
		{text: "号灯\x07", wide: true, para: inTable},
		{text: "112.5\xB0\x07", para: inTable},
		{text: "\x07", para: rowEnd},
		{text: "红字", wide: true, char: []byte{0x35, 0x08, 1, 0x70, 0x68, 0xFF, 0, 0, 0}},
		{text: "删去", wide: true, char: []byte{0x00, 0x08, 1}},
		{text: "𠀀止\r", wide: true},
	}}
}

func TestDOCText(t *testing.T) {
	t.Parallel()
	for _, backTo := range []bool{false, true} {
		r := readAll(t, fileOf(t, "t.doc", wordBank(backTo).bytes()))
		compare(t, []string{
			"para1|h1|总则", "para2|Keep a “proper” look-out", "para3 l1|甲", "para3 l2|乙三", "para4 r1|[号灯|112.5°]", "para7|红字𠀀止",
		}, shown(r))
		var got []string
		b := r.Blocks[len(r.Blocks)-1]
		for _, s := range b.Spans {
			got = append(got, string('0'+rune(s.Kind))+s.Value+":"+b.Text[s.Start:s.End])
		}
		compare(t, []string{"1:红字", "2FF0000:红字"}, got)
	}
}

// boxedBank has boxes in a paragraph, in a row and in deleted text, and one in a
// group.
func boxedBank() wordText {
	return wordText{
		boxes: []string{"框一\r框一尾\r", "框二\r", "删\r", "组\r合"},
		pieces: []wordPiece{
			{text: "第一段\b与\r", wide: true},
			{text: "号灯\b\x07", wide: true, para: inTable},
			{text: "弧度\x07", wide: true, para: inTable},
			{text: "\x07", para: rowEnd},
			{text: "\b", char: []byte{0x00, 0x08, 1}},
			{text: "末段\r", wide: true},
		},
	}
}

func TestDOCTextBoxes(t *testing.T) {
	t.Parallel()
	r := readAll(t, fileOf(t, "t.doc", boxedBank().bytes()))
	compare(t, []string{
		"para1|第一段与", "para2|框一", "para3|框一尾", "para4 r1|[号灯|弧度]", "para7|框二", "para8|末段",
		"part:textboxes para1|组", "part:textboxes para2|合",
	}, shown(r))
	formattest.Run(t, named(t, "doc"), fileOf(t, "c.doc", boxedBank().bytes()))

	damaged := boxedBank().bytes()
	binary.LittleEndian.PutUint32(damaged[512+0x9A+8*56+4:], 0) // no table of the boxes
	r = readAll(t, fileOf(t, "d.doc", damaged))
	compare(t, []string{
		"para1|第一段与", "para2 r1|[号灯|弧度]", "para5|末段", "part:textboxes para1|框一", "part:textboxes para2|框一尾",
		"part:textboxes para3|框二", "part:textboxes para4|删", "part:textboxes para5|组", "part:textboxes para6|合",
	}, shown(r))
}

func TestDOCContract(t *testing.T) {
	t.Parallel()
	formattest.Run(t, named(t, "doc"), fileOf(t, "c.doc", wordBank(true).bytes()))
}

func TestDOCRefused(t *testing.T) {
	t.Parallel()
	with := func(change func(*wordText)) []byte {
		w := wordBank(false)
		change(&w)
		return w.bytes()
	}
	for want, b := range map[string][]byte{
		"encrypted with a password": with(func(w *wordText) { w.flags = 0x0100 }),
		"Word 6 or 95":              with(func(w *wordText) { w.version = 104 }),
		"holds no Word text":        compound(streamOf{"Other", make([]byte, 5000)}),
		"pieces is damaged":         with(func(w *wordText) { w.pieces = nil }),
		"damaged or cut off":        wordBank(false).bytes()[:2000],
	} {
		failsWith(t, fileOf(t, "r.doc", b), format.Options{}, want)
	}
	// a workbook is told by its streams
	if kind, wrong, err := format.Detect(compound(streamOf{"Workbook", make([]byte, 5000)}), "a.doc"); err != nil || kind.Name != "xls" || !wrong {
		t.Errorf("a workbook: %v, %v", kind, err)
	}
	if _, _, err := format.Detect(compound(streamOf{"PowerPoint Document", make([]byte, 5000)}), "a.ppt"); err == nil || !strings.Contains(err.Error(), "old Office file") {
		t.Errorf("slides: %v", err)
	}
}

// TestDOCInterop reads one text as LibreOffice wrote it, as Word 97 document and
// as OpenDocument.
func TestDOCInterop(t *testing.T) {
	t.Parallel()
	want := []string{
		"h1|避碰规则练习", "h2|第一章 总则", "1. 互见中的机动船对遇时应各自：", "A. 向左转向", "B. 向右转向", "C. 减速",
		"2. A prolonged blast lasts — about “4” to 6 s, H2O and 103", "前行", "后行", "[号灯|弧度]", "[舷灯|112.5°]", "尾注文字，结束。",
	}
	for _, name := range []string{"bank.doc", "bank.odt"} {
		r := readAll(t, filepath.Join("testdata", "interop", name))
		var got []string
		for _, s := range shown(r) {
			_, s, _ = strings.Cut(s, "|")
			got = append(got, s)
		}
		compare(t, want, got)
		marked := map[string]int{}
		for _, b := range r.Blocks {
			for _, s := range b.Spans {
				marked[string('0'+rune(s.Kind))+s.Value+b.Text[s.Start:s.End]]++
			}
		}
		if marked["2FF0000向右转向"] != 1 || marked["32"] != 1 || marked["43"] != 1 {
			t.Errorf("%s: marks %v", name, marked)
		}
	}
}

func FuzzDOC(f *testing.F) {
	f.Add(wordBank(true).bytes())
	f.Add(boxedBank().bytes())
	f.Add(wordBank(false).bytes()[:3000])
	f.Fuzz(func(t *testing.T, b []byte) {
		r, _ := formattest.Read(t.Context(), fileOf(t, "f.doc", b), format.Options{})
		checkFuzzed(t, r)
	})
}

func BenchmarkDOC(b *testing.B) {
	w := wordText{pieces: []wordPiece{{text: strings.Repeat("船舶在能见度不良的水域中航行时，应以安全航速行驶。\r", 20_000), wide: true}}}
	data := w.bytes()
	path := fileOf(b, "b.doc", data)
	defer meter.CPU(b, len(data))()
	for b.Loop() {
		if r, _ := formattest.Read(b.Context(), path, format.Options{}); len(r.Blocks) != 20_000 || r.Err != nil {
			b.Fatal(len(r.Blocks), r.Err)
		}
	}
}
