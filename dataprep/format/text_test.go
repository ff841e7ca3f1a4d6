package format

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
	"golang.org/x/text/encoding/unicode"
	"pgregory.net/rapid"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/meter"
	"github.com/drydock-ml/drydock/internal/msg"
)

// readBytes writes a file, opens it as a run would and returns its lines.
func readBytes(t testing.TB, name string, content []byte, o Options) (blocks []drydock.Block, drops []*drydock.Drop, notes []Note, err error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, content, 0o644); err != nil {
		t.Fatal(err)
	}
	note := func(n Note) { notes = append(notes, n) }
	f, kind, err := Open(&drydock.File{Name: name}, path, o, note)
	if err != nil {
		return nil, nil, notes, err
	}
	for b, err := range kind.Document(Unit{File: f, End: f.Size, Line: 1}, note).Blocks(t.Context()) {
		if d, ok := err.(*drydock.Drop); ok {
			drops = append(drops, d)
		} else if err != nil {
			return blocks, drops, notes, err
		} else {
			blocks = append(blocks, b)
		}
	}
	return blocks, drops, notes, nil
}

func texts(blocks []drydock.Block) []string {
	var out []string
	for _, b := range blocks {
		out = append(out, b.Text)
	}
	return out
}

func codes(notes []Note) []string {
	var out []string
	for _, n := range notes {
		out = append(out, n.Code)
	}
	return out
}

func encode(t testing.TB, enc encoding.Encoding, s string) []byte {
	t.Helper()
	b, err := enc.NewEncoder().Bytes([]byte(s))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestEncodings(t *testing.T) {
	t.Parallel()
	const (
		simplified  = "1. 能见度不良时，在航机动船应每隔不超过几分钟鸣放声号？\nA．一分钟\nB．两分钟\n答案：B\n"
		traditional = "1. 能見度不良時，在航機動船應每隔不超過幾分鐘鳴放聲號？\nA．一分鐘\nB．兩分鐘\n答案：B\n"
		english     = "The vessel’s master – a “prudent” mariner – keeps a café lookout at 5°.\nSecond line.\n"
	)
	le, be := unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM), unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM)
	for _, c := range []struct {
		name  string
		text  string
		bytes []byte
		found string // empty: no note
	}{
		{"utf-8", simplified, []byte(simplified), ""},
		{"utf-8 with mark", simplified, append([]byte("\xEF\xBB\xBF"), simplified...), ""},
		{"ascii", "a\nb\n", []byte("a\nb\n"), ""},
		{"gb18030", simplified, encode(t, simplifiedchinese.GB18030, simplified), "GB18030"},
		{"traditional in gbk", traditional, encode(t, simplifiedchinese.GBK, traditional), "GB18030"},
		{"gb18030 four bytes", "㐀䶵与一个的是船\n", encode(t, simplifiedchinese.GB18030, "㐀䶵与一个的是船\n"), "GB18030"},
		{"big5", traditional, encode(t, traditionalchinese.Big5, traditional), "BIG5"},
		{"gbk, two characters", "船长", encode(t, simplifiedchinese.GBK, "船长"), "GB18030"},
		{"gbk, four characters", "避碰规则", encode(t, simplifiedchinese.GBK, "避碰规则"), "GB18030"},
		{"big5, two characters", "船長", encode(t, traditionalchinese.Big5, "船長"), "BIG5"},
		{"big5, four characters", "避碰規則", encode(t, traditionalchinese.Big5, "避碰規則"), "BIG5"},
		{"utf-16le with mark", simplified, append([]byte("\xFF\xFE"), encode(t, le, simplified)...), "UTF-16LE"},
		{"utf-16be with mark", simplified, append([]byte("\xFE\xFF"), encode(t, be, simplified)...), "UTF-16BE"},
		{"utf-16le", simplified, encode(t, le, simplified), "UTF-16LE"},
		{"utf-16be", traditional, encode(t, be, traditional), "UTF-16BE"},
		{"utf-16le english", english, encode(t, le, english), "UTF-16LE"},
		{"utf-16be without ascii", "船舶在航行中应当保持正规的瞭望", encode(t, be, "船舶在航行中应当保持正规的瞭望"), "UTF-16BE"},
		{"windows-1252", english, encode(t, charmap.Windows1252, english), "windows-1252"},
		{"windows-1252, short", "café naïve résumé", encode(t, charmap.Windows1252, "café naïve résumé"), "windows-1252"},
		{"windows-1252, a sign", "5°", encode(t, charmap.Windows1252, "5°"), "windows-1252"},
		{"traditional in gbk, four characters", "臺灣海峽", encode(t, simplifiedchinese.GBK, "臺灣海峽"), "GB18030"},
		{"euc-kr", "선박은 주위의 상황 및 다른 선박과 충돌할 수 있는 위험성을", encode(t, korean.EUCKR, "선박은 주위의 상황 및 다른 선박과 충돌할 수 있는 위험성을"), "EUC-KR"},
		{"far into the file", strings.Repeat("plain ascii line\n", 20000) + simplified, encode(t, simplifiedchinese.GB18030, strings.Repeat("plain ascii line\n", 20000)+simplified), "GB18030"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			blocks, drops, notes, err := readBytes(t, "x.txt", c.bytes, Options{})
			if err != nil || len(drops) > 0 {
				t.Fatal(err, drops)
			}
			if d := cmp.Diff(strings.Split(strings.TrimSuffix(c.text, "\n"), "\n"), texts(blocks)); d != "" {
				t.Error(d)
			}
			var want []string
			if c.found != "" {
				want = []string{"encoding_chosen"}
			}
			if d := cmp.Diff(want, codes(notes)); d != "" {
				t.Fatal(d)
			}
			if c.found != "" && !strings.Contains(notes[0].In(msg.Zh), c.found) {
				t.Errorf("note %q does not name %s", notes[0].In(msg.Zh), c.found)
			}
		})
	}
}

func TestNamedEncoding(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		enc  encoding.Encoding
		text string
	}{
		{"Shift_JIS", japanese.ShiftJIS, "海上衝突予防法"},
		{"euc-kr", korean.EUCKR, "선박의 항법"},
		{"GB2312", simplifiedchinese.GBK, "镕字在国标之外"},
		{"big5", traditionalchinese.Big5, "航海"},
		{"UTF-16LE", unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM), "甲"},
		{"utf_16", unicode.UTF16(unicode.BigEndian, unicode.UseBOM), "甲乙"},
	} {
		blocks, _, notes, err := readBytes(t, "x.txt", encode(t, c.enc, c.text), Options{Encoding: c.name})
		if err != nil || len(notes) > 0 {
			t.Errorf("%s: %v, notes %v", c.name, err, codes(notes))
			continue
		}
		if got := texts(blocks); !slices.Equal(got, []string{c.text}) {
			t.Errorf("%s: got %q, want %q", c.name, got, c.text)
		}
	}
	if err := CheckEncoding("utf-9"); fail.Code(err) != 2 {
		t.Errorf("an unknown name gave %v", err)
	}
	if err := CheckEncoding(""); err != nil {
		t.Error(err)
	}
	_, _, _, err := readBytes(t, "x.txt", []byte("x\n"), Options{Encoding: "no-such"})
	if fail.Code(err) != 2 {
		t.Errorf("reading with an unknown encoding gave %v", err)
	}
}

func TestNoEncoding(t *testing.T) {
	t.Parallel()
	junk := make([]byte, 3000)
	x := uint32(7)
	for i := range junk {
		x = x*1664525 + 1013904223
		junk[i] = byte(x>>24) | 0x80
	}
	_, _, _, err := readBytes(t, "x.txt", junk, Options{})
	if fail.Code(err) != 3 || !strings.Contains(err.Error(), "encoding") {
		t.Errorf("bytes that are no text in any encoding gave %v", err)
	}
}

func TestInvalidBytes(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("船舶在航行中应当保持正规的瞭望。\n", 20)
	gb := string(encode(t, simplifiedchinese.GB18030, long))
	for _, c := range []struct {
		name, in string
		want     []string // the last lines
		note     string
	}{
		{"utf-8", long + "甲\xff\xfe乙\n丙\xff丁\n", []string{"甲\uFFFD乙", "丙\uFFFD丁"}, "no valid UTF-8 at line 21, column 2 (2 such"},
		{"utf-8, torn end", long + "甲\xe4\xb9", []string{"甲\uFFFD"}, "no valid UTF-8 at line 21, column 2 (1 such"},
		{"gb18030", gb + "\xff\xb4\xac\n", []string{"\uFFFD船"}, "no valid GB18030 at line 21, column 1 (1 such"},
		{"gb18030, half a character before a line end", gb + "A\xb4\nB\n", []string{"A\uFFFD", "B"}, "no valid GB18030 at line 21, column 2 (1 such"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			blocks, drops, notes, err := readBytes(t, "x.txt", []byte(c.in), Options{})
			if err != nil || len(drops) > 0 {
				t.Fatal(err, drops)
			}
			got := texts(blocks)
			if d := cmp.Diff(c.want, got[len(got)-len(c.want):]); d != "" {
				t.Error(d)
			}
			last := notes[len(notes)-1]
			if last.Code != "invalid_bytes" || !last.Damage || !strings.Contains(last.In(msg.En), c.note) {
				t.Errorf("note %q, want %q", last.In(msg.En), c.note)
			}
		})
	}
	_, _, notes, err := readBytes(t, "x.txt", []byte("a\nb\uFFFD\n"), Options{})
	if err != nil || len(notes) != 1 || notes[0].Code != "replacement_chars" || notes[0].Damage {
		t.Errorf("a U+FFFD of the file itself: %v, %v", notes, err)
	}
}

func TestLineEnds(t *testing.T) {
	t.Parallel()
	blocks, _, _, err := readBytes(t, "x.txt", []byte("a\r\nb\rc\n\n\r\n d \u2028\r"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := []drydock.Block{
		{Text: "a", At: drydock.Locator{Line: 1}},
		{Text: "b", At: drydock.Locator{Line: 2}},
		{Text: "c", At: drydock.Locator{Line: 3}},
		{Text: "", At: drydock.Locator{Line: 4}},
		{Text: "", At: drydock.Locator{Line: 5}},
		{Text: " d \u2028", At: drydock.Locator{Line: 6}},
	}
	if d := cmp.Diff(want, blocks); d != "" {
		t.Error(d)
	}
}

// TestLines compares the splitter with the obvious way, in small and one-byte
// reads.
func TestLines(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		in := rapid.StringMatching(`([a-c船]{0,40}[\r\n]{0,3}){0,20}`).Draw(t, "text")
		limit := rapid.IntRange(4, 60).Draw(t, "limit")
		norm := strings.ReplaceAll(strings.ReplaceAll(in, "\r\n", "\n"), "\r", "\n")
		want := strings.Split(norm, "\n")
		if want[len(want)-1] == "" {
			want = want[:len(want)-1]
		}
		for _, r := range []io.Reader{strings.NewReader(in), iotest.OneByteReader(strings.NewReader(in)), iotest.DataErrReader(iotest.HalfReader(strings.NewReader(in)))} {
			l := newLines(r, limit)
			l.buf = make([]byte, 8)
			n := 0
			for ; l.next(); n++ {
				if n >= len(want) {
					t.Fatalf("more than %d lines", len(want))
				}
				if l.long {
					if !strings.HasPrefix(want[n], string(l.line)) || len(want[n]) < limit || !utf8.Valid(l.line) {
						t.Fatalf("line %d: long %q, want a start of %q", n, l.line, want[n])
					}
				} else if string(l.line) != want[n] {
					t.Fatalf("line %d: %q, want %q", n, l.line, want[n])
				}
			}
			if n != len(want) || l.err != nil {
				t.Fatalf("%d lines, want %d; %v", n, len(want), l.err)
			}
		}
	})
}

func TestLongLine(t *testing.T) {
	t.Parallel()
	blocks, drops, _, err := readBytes(t, "x.txt", []byte("a\n"+strings.Repeat("长", 2<<20)+"\nb\n"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got := texts(blocks); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("got %q", got)
	}
	if len(drops) != 1 || drops[0].Reason != "line_too_long" || drops[0].Record.Origin.At.Line != 2 || !strings.HasPrefix(drops[0].Record.Passage.Text, "长长") {
		t.Errorf("drops %v", drops)
	}
}

func TestMarkdown(t *testing.T) {
	t.Parallel()
	in := "---\ntitle: x\n---\n# 第一章 **总则** #\nText with **bold** and 5 \\* 3, 2. \\_\n\nSetext\n===\n| a | b\\|c |\n|---|:-:|\n| 1 |  |\n```sh\n# code **x**\n```\n#no heading\n***\n____ blank\n"
	blocks, _, notes, err := readBytes(t, "x.md", []byte(in), Options{})
	if err != nil {
		t.Fatal(err)
	}
	at := func(n int) drydock.Locator { return drydock.Locator{Line: n} }
	want := []drydock.Block{
		{Text: "第一章 总则", Level: 1, At: at(4), Spans: []drydock.Span{{Start: 10, End: 16, Kind: drydock.Bold}}},
		{Text: "Text with bold and 5 * 3, 2. _", At: at(5), Spans: []drydock.Span{{Start: 10, End: 14, Kind: drydock.Bold}}},
		{At: at(6)},
		{Text: "Setext", Level: 1, At: at(7)},
		{At: at(8)},
		{Cells: []string{"a", "b|c"}, At: at(9)},
		{At: at(10)},
		{Cells: []string{"1", ""}, At: at(11)},
		{Text: "```sh", At: at(12)},
		{Text: "# code **x**", At: at(13)},
		{Text: "```", At: at(14)},
		{Text: "#no heading", At: at(15)},
		{Text: "***", At: at(16)},
		{Text: "____ blank", At: at(17)},
	}
	if d := cmp.Diff(want, blocks); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"front_matter"}, codes(notes)); d != "" {
		t.Error(d)
	}
	// front matter that is never closed was none
	blocks, _, _, err = readBytes(t, "x.md", []byte("---\na\nb"), Options{})
	if got := texts(blocks); err != nil || !slices.Equal(got, []string{"---", "a", "b"}) {
		t.Errorf("got %q, %v", got, err)
	}
}

func FuzzText(f *testing.F) {
	f.Add([]byte("a\r\nb"), ".txt")
	f.Add([]byte("\xb4\xac\xb3\xa4\n# x\n"), ".md")
	f.Add([]byte("\xff\xfea\x00\n\x00"), ".txt")
	f.Add([]byte("---\n| a | \n***\\"), ".md")
	f.Fuzz(func(t *testing.T, in []byte, ext string) {
		if ext != ".md" {
			ext = ".txt"
		}
		blocks, _, _, err := readBytes(t, "x"+ext, in, Options{})
		if fail.Code(err) == 70 {
			t.Fatal(err)
		}
		for _, b := range blocks {
			if !utf8.ValidString(b.Text) || strings.ContainsAny(b.Text, "\r\n") {
				t.Fatalf("block %q", b.Text)
			}
			for _, s := range b.Spans {
				if s.Start >= s.End || s.End > len(b.Text) {
					t.Fatalf("span %+v of %q", s, b.Text)
				}
			}
		}
	})
}

func BenchmarkText(b *testing.B) {
	line := "船舶在航行中应当保持正规的瞭望，并用视觉、听觉以及适合当时环境的一切有效手段。\n"
	utf := bytes.Repeat([]byte(line), 20000)
	for _, c := range []struct {
		name string
		data []byte
	}{{"utf-8", utf}, {"gb18030", encode(b, simplifiedchinese.GB18030, string(utf))}} {
		b.Run(c.name, func(b *testing.B) {
			path := filepath.Join(b.TempDir(), "x.txt")
			if err := os.WriteFile(path, c.data, 0o644); err != nil {
				b.Fatal(err)
			}
			f := &File{File: &drydock.File{}, Path: path, Size: int64(len(c.data))}
			text := textFormat()
			defer meter.CPU(b, int(f.Size))()
			for b.Loop() {
				for _, err := range text.Document(Unit{File: f, End: f.Size, Line: 1}, nil).Blocks(b.Context()) {
					if err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}

// TestZeroBytes keeps binary files apart from text in two-byte characters.
func TestZeroBytes(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("1. 船舶在雾中航行时应当\r\nA. 减速 B. 加速\r\n", 3)
	latin := "Keep a proper look-out by sight and hearing.\r\n"
	wide := func(e unicode.Endianness, s string) []byte { return encode(t, unicode.UTF16(e, unicode.IgnoreBOM), s) }
	numbers := make([]byte, 0, 4000)
	for i := range 1000 {
		numbers = append(numbers, byte(i), byte(i>>8), 0, 0)
	}
	for _, c := range []struct {
		name string
		data []byte
		want bool
	}{
		{"UTF-16LE", wide(unicode.LittleEndian, text), true},
		{"UTF-16BE", wide(unicode.BigEndian, text), true},
		{"UTF-16LE, Latin", wide(unicode.LittleEndian, latin), true},
		{"UTF-16BE, no ASCII", wide(unicode.BigEndian, "船舶在雾中航行应当减速并且注意观察"), true},
		{"a zero in text", []byte(text + "\x00" + text), false},
		{"strings with zeros", []byte(strings.Repeat("anchor\x00chain\x00", 50)), false},
		{"32-bit numbers", numbers, false},
		{"text and a table of numbers", append([]byte(latin), numbers...), false},
		{"zeros", make([]byte, 512), false},
	} {
		if got := looksText(c.data); got != c.want {
			t.Errorf("%s: text is %v, want %v", c.name, got, c.want)
		}
	}
}
