package format_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/dataprep/format"
	"github.com/drydock-ml/drydock/dataprep/format/formattest"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/golden"
	"github.com/drydock-ml/drydock/internal/msg"
)

// sharedPDF is one runtime for all tests: its code is compiled once, and kept
// for the next run of the tests.
var sharedPDF = sync.OnceValue(func() *format.PDFRuntime {
	return format.NewPDFRuntime(filepath.Join(os.TempDir(), "drydock-test-wasm"))
})

func pdfOptions() format.Options { return format.Options{PDF: sharedPDF()} }

func writePDF(t testing.TB, f pdfFile) string {
	t.Helper()
	return writeBytes(t, "x.pdf", f.bytes())
}

func writeBytes(t testing.TB, name string, b []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, b, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func readPDFFile(t *testing.T, f pdfFile, o format.Options) formattest.Result {
	t.Helper()
	r, _ := formattest.Read(t.Context(), writePDF(t, f), o)
	return r
}

func texts(r formattest.Result) []string {
	var out []string
	for _, b := range r.Blocks {
		out = append(out, b.Text)
	}
	return out
}

func noteCodes(r formattest.Result) []string {
	var out []string
	for _, n := range r.Notes {
		out = append(out, n.Code)
	}
	return out
}

func onePage(stream string) pdfFile { return pdfFile{pages: []pdfContent{{stream: stream}}} }

func bank(n int) pdfFile {
	var f pdfFile
	for p := range n {
		f.pages = append(f.pages, pdfContent{stream: lines(72, 760, 11, 16,
			fmt.Sprintf("%d．两船对遇，第 %d 题，各应如何行动？", p+1, p+1), "A．向左转向", "B．向右转向", "C．减速", "D．停车")})
	}
	return f
}

func TestPDFContract(t *testing.T) {
	t.Parallel()
	path := writePDF(t, bank(3))
	formattest.Run(t, named(t, "pdf"), path, formattest.With(pdfOptions()))
}

func TestPDFLayout(t *testing.T) {
	t.Parallel()
	column := func(x float64, name string) []string {
		var out []string
		for i := range 6 {
			out = append(out, fmt.Sprintf("%s column line %d with words up to", name, i+1))
		}
		return out
	}
	left, right := column(60, "left"), column(310, "right")
	var interleaved strings.Builder
	for i := range left {
		interleaved.WriteString(at(60, 700-float64(i)*14, 10, left[i]) + at(310, 700-float64(i)*14, 10, right[i]))
	}
	for _, c := range []struct {
		name   string
		stream string
		rotate int
		want   []string
	}{
		{"stream order is not reading order", at(72, 600, 10, "third") + at(72, 700, 10, "first") + at(72, 650, 10, "second"), 0, []string{"first", "second", "third"}},
		{
			"options side by side stay on their line", at(72, 700, 10, "1. Which light is shown?") + at(72, 686, 10, "A. white") + at(200, 686, 10, "B. red") + at(72, 672, 10, "C. green") + at(200, 672, 10, "D. blue"), 0,
			[]string{"1. Which light is shown?", "A. white  B. red", "C. green  D. blue"},
		},
		{"many options side by side", repeatOptions(8), 0, wantOptions(8)},
		{"columns", lines(60, 700, 10, 14, left...) + lines(310, 700, 10, 14, right...), 0, append(slices.Clone(left), right...)},
		{
			"columns under a title", at(150, 740, 14, "A title that stands across both of the columns") + lines(60, 700, 10, 14, left...) + lines(310, 700, 10, 14, right...), 0,
			append(append([]string{"A title that stands across both of the columns"}, left...), right...),
		},
		{"columns written line by line", interleaved.String(), 0, append(slices.Clone(left), right...)},
		{
			"a question bank in two columns written line by line", bankColumns(), 0,
			[]string{"1. one", "A. a1", "B. b1", "C. c1", "D. d1", "2. two", "A. a2", "B. b2", "C. c2", "D. d2"},
		},
		{
			"a table is read by rows", at(60, 700, 10, "Rule") + at(200, 700, 10, "Signal") + at(400, 700, 10, "Lights") + at(60, 685, 10, "34") + at(200, 685, 10, "one short blast") + at(400, 685, 10, "none") +
				at(60, 670, 10, "35") + at(200, 670, 10, "one prolonged blast") + at(400, 670, 10, "two") + at(60, 655, 10, "36") + at(200, 655, 10, "any") + at(400, 655, 10, "any"), 0,
			[]string{"Rule  Signal  Lights", "34  one short blast  none", "35  one prolonged blast  two", "36  any  any"},
		},
		{"chinese and latin", at(72, 700, 10, "船舶AIS的MMSI为9位"), 0, []string{"船舶AIS的MMSI为9位"}},
		{"no spaces between chinese characters", at(72, 700, 10, "对") + at(84, 700, 10, "遇") + at(96, 700, 10, "局") + at(108, 700, 10, "面"), 0, []string{"对遇局面"}},
		{"words set apart without spaces", at(72, 700, 10, "port") + at(93, 700, 10, "side"), 0, []string{"port side"}},
		{"superscript and subscript", at(72, 700, 12, "10") + at(85.5, 705, 7, "3") + at(89.5, 700, 12, " m and H") + at(139.5, 697, 7, "2") + at(143.5, 700, 12, "O"), 0, []string{"10³ m and H₂O"}},
		{"printed twice for bold", at(72, 700, 10, "Bold 粗体") + at(72.3, 700, 10, "Bold 粗体"), 0, []string{"Bold 粗体"}},
		{"a page turned by 90", turned(200, 100, 10, 0, 1, "first line") + turned(214, 100, 10, 0, 1, "second line"), 90, []string{"first line", "second line"}},
		{"a page turned by 270", turned(200, 600, 10, 0, -1, "first line") + turned(186, 600, 10, 0, -1, "second line"), 270, []string{"first line", "second line"}},
		{"figures on a page turned by 90", turned(200, 100, 10, 0, 1, "1. 1.125 m, 11 ft"), 90, []string{"1. 1.125 m, 11 ft"}},
		{"boxes wider than the advance", "BT /F2 10 Tf 72 700 Td [<0031> 500 <0032> 500 <0020> 700 <006D> 300 <56FD>] TJ ET", 0, []string{"12 m国"}},
		{"text upside down", turned(300, 200, 10, -1, 0, "first line") + turned(300, 214, 10, -1, 0, "second line"), 180, []string{"first line", "second line"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := readPDFFile(t, pdfFile{pages: []pdfContent{{c.stream, c.rotate}}}, pdfOptions())
			if !r.Silent() {
				t.Errorf("not silent: %v %v %v", r.Err, r.Drops, noteCodes(r))
			}
			if d := cmp.Diff(c.want, texts(r)); d != "" {
				t.Error(d)
			}
			for i, b := range r.Blocks {
				if want := (drydock.Locator{Page: 1, Line: i + 1}); b.At != want {
					t.Errorf("block %d stands at %v, want %v", i, b.At, want)
				}
			}
		})
	}
}

func repeatOptions(n int) string {
	var b strings.Builder
	for i := range n {
		y := 780 - float64(i)*42
		fmt.Fprint(&b, at(72, y, 10, fmt.Sprintf("%d. Short stem?", i+1)), at(72, y-14, 10, "A. yes"), at(300, y-14, 10, "B. no"), at(72, y-28, 10, "C. both"), at(300, y-28, 10, "D. none"))
	}
	return b.String()
}

func wantOptions(n int) []string {
	var out []string
	for i := range n {
		out = append(out, fmt.Sprintf("%d. Short stem?", i+1), "A. yes  B. no", "C. both  D. none")
	}
	return out
}

func bankColumns() string {
	var b strings.Builder
	for i, s := range []string{"1. one", "A. a1", "B. b1", "C. c1", "D. d1"} {
		other := []string{"2. two", "A. a2", "B. b2", "C. c2", "D. d2"}[i]
		b.WriteString(at(72, 700-float64(i)*14, 10, s) + at(320, 700-float64(i)*14, 10, other))
	}
	return b.String()
}

// TestPDFScripts writes raised and lowered type by the signs Unicode has.
func TestPDFScripts(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	line := 0
	// each line: text, then what is set small after it, points above the baseline
	small := func(before, script string, rise float64, after string) {
		y := 760 - float64(line)*30
		x := 72 + 6.7*float64(len([]rune(before)))
		b.WriteString(at(72, y, 12, before) + at(x, y+rise, 7, script) + at(x+4*float64(len([]rune(script)))+1, y, 12, after))
		line++
	}
	want := []string{"10³ m", "CO₂ tanks", "m² of deck", "10⁻³ bar", "xₙ", "x^(Ab) long", "21st of May", "45° north"}
	small("10", "3", 5, " m")
	small("CO", "2", -3, " tanks")
	small("m", "2", 5, " of deck")
	small("10", "-3", 5, " bar")
	small("x", "n", -3, "")
	small("x", "Ab", 5, " long")
	small("21", "st", 4, " of May")
	small("45", "o", 5, " north")
	got := texts(readPDFFile(t, onePage(b.String()), pdfOptions()))
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// TestPDFColours marks what is printed in a colour, as answers sometimes are.
func TestPDFColours(t *testing.T) {
	t.Parallel()
	page := at(72, 700, 11, "A. left") + "1 0 0 rg " + at(180, 700, 11, "B. right") + "0.2 g " + at(300, 700, 11, "C. stop")
	want := []drydock.Block{{
		Text: "A. left  B. right  C. stop", At: drydock.Locator{Page: 1, Line: 1},
		Spans: []drydock.Span{{Start: 9, End: 17, Kind: drydock.Color, Value: "FF0000"}},
	}}
	if d := cmp.Diff(want, readPDFFile(t, onePage(page), pdfOptions()).Blocks); d != "" {
		t.Error(d)
	}
}

func TestPDFRunningLines(t *testing.T) {
	t.Parallel()
	var f pdfFile
	const pages = 25
	for p := range pages {
		header := "船舶避碰手册"
		if p%2 == 1 {
			header = "Part B  Steering and sailing rules"
		}
		f.pages = append(f.pages, pdfContent{stream: at(72, 800, 9, header) +
			lines(72, 760, 11, 16, fmt.Sprintf("Text that only page %s has", strings.Repeat("x", p+1)), "A．正确", "B．错误") +
			at(290, 40, 9, fmt.Sprintf("- %d -", p+5))})
	}
	r := readPDFFile(t, f, pdfOptions())
	if len(r.Blocks) != 3*pages {
		t.Errorf("%d blocks, want %d: %q", len(r.Blocks), 3*pages, texts(r))
	}
	if r.Blocks[0].At.Line != 2 {
		t.Errorf("the first line left stands at %v; lines left out keep their number", r.Blocks[0].At)
	}
	if len(r.Notes) != 1 || r.Notes[0].Code != "running_lines" || !strings.Contains(r.Notes[0].In(msg.En), " 50 headers") {
		t.Errorf("notes %v", r.Notes)
	}
}

// TestPDFRomanPages finds page numbers in Roman numerals, and a header that a
// table follows at once.
func TestPDFRomanPages(t *testing.T) {
	t.Parallel()
	var f pdfFile
	for p := range 4 {
		table := ruledTable{60, 740, []float64{60, 150, 60}, [][]string{{"No", "Question", "Key"}}, stroked}
		for i := range 8 {
			table.rows = append(table.rows, []string{fmt.Sprint(8*p + i + 1), strings.Repeat("q", 8*p+i+1), string(rune('A' + (p+i)%4))})
		}
		f.pages = append(f.pages, pdfContent{stream: at(72, 765, 9, "Bank of questions") + table.stream() + at(280, 30, 9, "- "+[]string{"i", "ii", "iii", "iv"}[p]+" -")})
	}
	r := readPDFFile(t, f, pdfOptions())
	for _, b := range r.Blocks {
		if b.Cells == nil {
			t.Errorf("left: %q", b.Text)
		}
	}
	if len(r.Blocks) != 36 || len(r.Notes) != 1 || !strings.Contains(r.Notes[0].In(msg.En), " 8 headers") {
		t.Errorf("%d rows, notes %v", len(r.Blocks), r.Notes)
	}
}

// TestPDFTwoPages finds the running lines of a file of two pages in two columns,
// whose gutter cuts the page number in two.
func TestPDFTwoPages(t *testing.T) {
	t.Parallel()
	var f pdfFile
	for p := range 2 {
		page := at(72, 800, 9, "航运公司考试题库 内部资料") + at(270, 30, 9, fmt.Sprintf("第 %d 页 共 2 页", p+1))
		for column := range 2 {
			for i := range 4 {
				n := p*8 + column*4 + i + 1
				page += lines(72+float64(column)*240, 760-float64(i)*60, 11, 16, fmt.Sprintf("%d. 第%s题的题干在此", n, strings.Repeat("一", n)), "A. 甲", "B. 乙")
			}
		}
		f.pages = append(f.pages, pdfContent{stream: page})
	}
	r := readPDFFile(t, f, pdfOptions())
	if got := texts(r); len(got) != 48 || slices.ContainsFunc(got, func(s string) bool { return strings.Contains(s, "页") || strings.Contains(s, "内部") }) {
		t.Errorf("%d lines: %q", len(got), got)
	}
}

// TestPDFWatermarks leaves out what is printed over the text and what is put in
// between, wherever it stands, and nothing else.
func TestPDFWatermarks(t *testing.T) {
	t.Parallel()
	item := func(p int) []string {
		return []string{fmt.Sprintf("%d．第%s题：两船对遇时各应如何行动才最为妥当？", p+1, strings.Repeat("一", p+1)), "A．以上都对", "B．各自向右转向", "C．正确", "D．错误"}
	}
	for _, c := range []struct {
		name string
		mark func(page int) string
		n    int // lines of it on a page
	}{
		{"large and grey over the text", func(int) string { return "0.85 g " + at(80, 690, 60, "航海题库") + "0 g " }, 1},
		{"characters far apart", func(int) string {
			return "0.85 g " + at(80, 690, 40, "航") + at(200, 690, 40, "海") + at(320, 690, 40, "网") + "0 g "
		}, 1},
		{"across the page", func(int) string { return turned(150, 500, 40, 0.707, 0.707, "internal use only") }, 1},
		{"across the page, elsewhere on each", func(p int) string {
			return turned(150, 300+20*float64(p), 40, 0.707, 0.707, "内部资料 不得外传")
		}, 1},
		{"tiles", func(int) string {
			var b strings.Builder
			for i := range 6 {
				b.WriteString("0.9 g " + turned(60+80*float64(i), 100+90*float64(i), 12, 0.866, 0.5, "某某教育") + "0 g ")
			}
			return b.String()
		}, 6},
		{"up the margin", func(int) string { return turned(30, 300, 10, 0, 1, "某某航海学院题库") }, 1},
		{"a site between question and options", func(p int) string { return at(72, 751, 9, "更多题库请访问 www.example.com") }, 1},
		{"a site where there is room", func(p int) string { return at(72, 600-30*float64(p), 9, "关注微信公众号：某某题库") }, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var f pdfFile
			var want []string
			const pages = 5
			for p := range pages {
				f.pages = append(f.pages, pdfContent{stream: lines(72, 760, 11, 22, item(p)...) + c.mark(p)})
				want = append(want, item(p)...)
			}
			r := readPDFFile(t, f, pdfOptions())
			if d := cmp.Diff(want, texts(r)); d != "" {
				t.Error(d)
			}
			if len(r.Notes) != 1 || r.Notes[0].Code != "watermarks" || !strings.Contains(r.Notes[0].In(msg.En), fmt.Sprintf(" %d lines", c.n*pages)) {
				t.Errorf("notes %v", r.Notes)
			}
		})
	}
}

// TestPDFKeepsItems sees to it that what only looks like a running line stays.
func TestPDFKeepsItems(t *testing.T) {
	t.Parallel()
	var f pdfFile
	for p := range 6 {
		f.pages = append(f.pages, pdfContent{stream: at(72, 790, 11, fmt.Sprintf("第%d条", p+1)) +
			lines(72, 700, 11, 16, strings.Repeat("甲", p+1), strings.Repeat("乙", p+1)) + at(72, 60, 11, "D．以上都对")})
	}
	r := readPDFFile(t, f, pdfOptions())
	if !r.Silent() || len(r.Blocks) != 24 {
		t.Errorf("%d blocks, want 24; notes %v", len(r.Blocks), noteCodes(r))
	}
	f = pdfFile{}
	for range 4 {
		f.pages = append(f.pages, pdfContent{stream: at(72, 700, 11, "the same on every page")})
	}
	if r := readPDFFile(t, f, pdfOptions()); len(r.Blocks) != 4 {
		t.Errorf("pages of one line each lost it: %q", texts(r))
	}
}

// TestPDFGarbled decodes Chinese whose bytes a font shows as Latin letters, and
// leaves alone what only looks like that.
func TestPDFGarbled(t *testing.T) {
	t.Parallel()
	want := []string{"船舶在能见度不良的水域中航行时，应以安全航速行驶。", "1. 两船对遇时应（B）。", "A．向左转向 B．根据AIS"}
	show := func(text string, enc encoding.Encoding) string {
		b := []byte(text)
		if enc != nil {
			var err error
			if b, err = enc.NewEncoder().Bytes(b); err != nil {
				t.Fatal(err)
			}
		}
		var s strings.Builder
		for _, c := range b {
			fmt.Fprintf(&s, "\\%03o", c)
		}
		return s.String()
	}
	page := func(texts []string, enc encoding.Encoding) string {
		var b strings.Builder
		for i, text := range texts {
			fmt.Fprintf(&b, "BT /F1 11 Tf 1 0 0 1 40 %d Tm (%s) Tj ET\n", 760-18*i, show(text, enc))
		}
		return b.String()
	}
	for _, c := range []struct {
		name string
		page string
		want []string
		code string
	}{
		{"GB18030", page(want, simplifiedchinese.GB18030), want, "redecoded"},
		{"Big5", page([]string{"船舶在能見度不良的水域中航行時", "應以安全航速行駛"}, traditionalchinese.Big5), []string{"船舶在能見度不良的水域中航行時", "應以安全航速行駛"}, "redecoded"},
		{"UTF-8, as far as it can be told", page([]string{"船在水域中航行时应以安全为主"}, nil), []string{"船在水域中航行时应以安全为主"}, "redecoded"},
		{"French", page([]string{"Les règles de barre sont déjà élevées à l'état définitif.", "Où êtes-vous né ?"}, charmap.Windows1252), []string{"Les règles de barre sont déjà élevées à l'état définitif.", "Où êtes-vous né ?"}, ""},
		{"Portuguese in capitals", page([]string{"NAVEGAÇÃO E SINALIZAÇÃO: CONDIÇÕES, POSIÇÕES, AÇÕES"}, charmap.Windows1252), []string{"NAVEGAÇÃO E SINALIZAÇÃO: CONDIÇÕES, POSIÇÕES, AÇÕES"}, ""},
		{"marks in Chinese", at(72, 700, 11, "所采取的行动……应是积极地——见“规则” ·· ··"), []string{"所采取的行动……应是积极地——见“规则” ·· ··"}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			f := onePage(c.page)
			r := readPDFFile(t, f, pdfOptions())
			if d := cmp.Diff(c.want, texts(r)); d != "" {
				t.Error(d)
			}
			if got := strings.Join(noteCodes(r), " "); got != c.code {
				t.Errorf("notes %q, want %q", got, c.code)
			}
		})
	}
}

func TestPDFPictures(t *testing.T) {
	t.Parallel()
	f := pdfFile{pages: []pdfContent{
		{stream: at(72, 700, 11, "text")},
		{stream: picture(0, 0, 595, 842)},
		{stream: picture(0, 0, 595, 842) + at(300, 30, 8, "scanned by X")},
		{stream: ""},
		{stream: at(72, 700, 11, "more text") + picture(10, 10, 50, 50)},
	}}
	r := readPDFFile(t, f, pdfOptions())
	if d := cmp.Diff([]string{"text", "scanned by X", "more text", ""}, texts(r)); d != "" {
		t.Error(d)
	}
	var got []string
	for _, d := range r.Drops {
		got = append(got, d.Reason+" "+d.Record.Origin.At.String())
	}
	if d := cmp.Diff([]string{"image_only_page p2", "image_only_page p3"}, got); d != "" {
		t.Error(d)
	}
	if len(r.Notes) != 1 || !r.Notes[0].Damage || !strings.Contains(r.Notes[0].In(msg.Zh), "2–3") || !strings.Contains(r.Notes[0].In(msg.Zh), "OCR") {
		t.Errorf("notes %v", r.Notes)
	}
	if r := readPDFFile(t, onePage(""), pdfOptions()); !slices.Equal(noteCodes(r), []string{"no_text"}) {
		t.Errorf("an empty document gave the notes %v", noteCodes(r))
	}
}

// TestPDFFigures refers to pictures where they stand, and to no logos, icons or
// backgrounds.
func TestPDFFigures(t *testing.T) {
	t.Parallel()
	show := func(r formattest.Result) (out []string) {
		for _, b := range r.Blocks {
			if b.Figure != "" {
				if len(b.Spans) != 1 || b.Spans[0].Kind != drydock.Image || b.Spans[0].Value != b.Figure || b.Text != "" {
					t.Errorf("a figure came as %+v", b)
				}
				out = append(out, "["+b.Figure+"]")
				continue
			}
			out = append(out, b.Text)
		}
		return out
	}
	column := func(x, y float64, n int) string {
		return lines(x, y, 11, 16, fmt.Sprintf("%d. Which light is shown in the figure below here?", n)) +
			lines(x, y-130, 11, 16, "A. white and red over green", "B. red and white over green", "C. all of the lights above", "D. none of the lights above")
	}
	page := column(60, 760, 1) + picture(100, 640, 100, 100) + // whole
		column(60, 540, 2) + picture(100, 470, 100, 40) + picture(100, 430, 100, 40) + // in two strips
		column(330, 760, 3) + picture(340, 640, 150, 100) + column(330, 540, 4) + // in the right column
		picture(320, 520, 8, 8) // an icon
	want := []string{}
	for n := range 4 {
		want = append(want, fmt.Sprintf("%d. Which light is shown in the figure below here?", n+1))
		if n < 3 {
			want = append(want, fmt.Sprintf("[p1-%d]", n+1))
		}
		want = append(want, "A. white and red over green", "B. red and white over green", "C. all of the lights above", "D. none of the lights above")
	}
	r := readPDFFile(t, onePage(page), pdfOptions())
	if d := cmp.Diff(want, show(r)); d != "" {
		t.Error(d)
	}
	if !r.Silent() {
		t.Errorf("not silent: %v", noteCodes(r))
	}
	f := bank(5)
	for i := range f.pages {
		f.pages[i].stream += picture(500, 780, 40, 40)
	}
	f.pages[2].stream += picture(80, 400, 90, 90)
	r = readPDFFile(t, f, pdfOptions())
	if got := show(r); len(got) != 26 || got[15] != "[p3-2]" || !slices.Equal(noteCodes(r), []string{"repeated_pictures"}) {
		t.Errorf("got %q, notes %v", got, noteCodes(r))
	}
}

// TestPDFFields reads what was filled into a form where it stands.
func TestPDFFields(t *testing.T) {
	t.Parallel()
	const content, filled = "BT /F1 11 Tf 72 700 Td (Name:) Tj 0 -20 Td (Answer: B) Tj ET", "BT /F1 11 Tf 2 4 Td (Zhang San) Tj ET"
	file := fmt.Sprintf(`%%PDF-1.4
1 0 obj << /Type /Catalog /Pages 2 0 R /AcroForm << /Fields [6 0 R] >> >> endobj
2 0 obj << /Type /Pages /Kids [3 0 R] /Count 1 >> endobj
3 0 obj << /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R /Annots [6 0 R] /Resources << /Font << /F1 5 0 R >> >> >> endobj
4 0 obj << /Length %d >> stream
%s
endstream endobj
5 0 obj << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> endobj
6 0 obj << /Type /Annot /Subtype /Widget /FT /Tx /T (name) /V (Zhang San) /F 4 /Rect [110 696 210 712] /AP << /N 7 0 R >> >> endobj
7 0 obj << /Type /XObject /Subtype /Form /BBox [0 0 100 16] /Resources << /Font << /F1 5 0 R >> >> /Length %d >> stream
%s
endstream endobj
trailer << /Root 1 0 R >>
%%%%EOF
`, len(content), content, len(filled), filled)
	r, _ := formattest.Read(t.Context(), writeBytes(t, "x.pdf", []byte(file)), pdfOptions())
	if d := cmp.Diff([]string{"Name: Zhang San", "Answer: B"}, texts(r)); d != "" {
		t.Error(d)
	}
}

func TestPDFSecurity(t *testing.T) {
	t.Parallel()
	page := []pdfContent{{stream: at(72, 700, 11, "secret") + at(72, 680, 11, "秘密")}}
	user := pdfFile{pages: page, encrypted: true, user: "sesame"}
	restricted := pdfFile{pages: page, encrypted: true, owner: "master", forbid: true}
	for _, c := range []struct {
		name     string
		file     pdfFile
		password string
		allow    bool
		fails    string // part of the error
		hint     string
		notes    []string
	}{
		{name: "no password", file: user, fails: "needs a password", hint: "--password-file"},
		{name: "wrong password", file: user, password: "simsim", fails: "does not open", hint: "--password-file"},
		{name: "right password", file: user, password: "sesame"},
		{name: "restricted", file: restricted, fails: "owner forbids", hint: "--allow-restricted"},
		{name: "restricted, allowed", file: restricted, allow: true, notes: []string{"restricted"}},
		{name: "restricted, owner's password", file: restricted, password: "master"},
		{name: "encrypted, nothing forbidden", file: pdfFile{pages: page, encrypted: true, owner: "master"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			o := pdfOptions()
			o.Password, o.AllowRestricted = c.password, c.allow
			r := readPDFFile(t, c.file, o)
			if d := cmp.Diff(c.notes, noteCodes(r)); d != "" {
				t.Error(d)
			}
			if c.fails == "" {
				if r.Err != nil || !slices.Equal(texts(r), []string{"secret", "秘密"}) {
					t.Errorf("got %q, %v", texts(r), r.Err)
				}
				return
			}
			es := fail.All(r.Err)
			if fail.Code(r.Err) != 3 || !strings.Contains(es[0].In(msg.En), c.fails) || !strings.Contains(strings.Join(es[0].Hints(msg.Zh), ""), c.hint) {
				t.Errorf("error %v, hints %v", r.Err, es[0].Hints(msg.Zh))
			}
			if len(r.Blocks) > 0 {
				t.Errorf("text came all the same: %q", texts(r))
			}
		})
	}
}

func TestPDFDamaged(t *testing.T) {
	t.Parallel()
	whole := bank(2).bytes()
	for _, c := range []struct {
		name  string
		bytes []byte
		fails string
		notes []string
	}{
		{"only the signature", []byte("%PDF-1.7\n"), "cut off", nil},
		{"half", whole[:len(whole)/2], "cut off", nil},
		{"without its last line", whole[:len(whole)-8], "", []string{"cut_off"}},
		{"junk after the signature", append([]byte("%PDF-1.7\n"), append([]byte(strings.Repeat("junk\x00", 500)), "%%EOF"...)...), "damaged", nil},
		{"something before the signature", append([]byte("HTTP header\r\n\r\n"), whole...), "", nil},
		{"a broken xref", []byte(strings.Replace(string(whole), "startxref\n", "startxref\n9", 1)), "", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r, _ := formattest.Read(t.Context(), writeBytes(t, "x.pdf", c.bytes), pdfOptions())
			if c.fails != "" {
				if fail.Code(r.Err) != 3 || !strings.Contains(r.Err.Error(), c.fails) || !strings.HasPrefix(r.Err.Error(), "x.pdf") {
					t.Errorf("error %v, want one with %q", r.Err, c.fails)
				}
				return
			}
			if r.Err != nil || len(r.Blocks) == 0 {
				t.Errorf("%d blocks, error %v", len(r.Blocks), r.Err)
			}
			if d := cmp.Diff(c.notes, noteCodes(r)); d != "" {
				t.Error(d)
			}
		})
	}
}

// TestPDFRealBank compares chapters of a real bank with the text that was
// published beside it: letter for letter, white space aside.
func TestPDFRealBank(t *testing.T) {
	t.Parallel()
	path := golden.RealData(t, "colreg-bank-zh", "选择题题库.pdf")
	r, _ := formattest.Read(t.Context(), path, pdfOptions())
	if !r.Silent() {
		t.Fatalf("not silent: %v %v %v", r.Err, r.Drops, noteCodes(r))
	}
	whole := strings.Join(strings.Fields(strings.Join(texts(r), "")), "")
	for _, chapter := range []string{"第二章", "第三章"} {
		b, err := os.ReadFile(golden.RealData(t, "colreg-bank-zh", "选择题题库", chapter+".txt"))
		if err != nil {
			t.Fatal(err)
		}
		if text := strings.Join(strings.Fields(strings.TrimPrefix(string(b), "\uFEFF")), ""); !strings.Contains(whole, text) {
			t.Errorf("%s reads otherwise than its text file", chapter)
		}
	}
}

// TestPDFRealHard reads difficult files: none may end in a bug, give invalid
// text, or nothing without a word.
func TestPDFRealHard(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join(golden.RealData(t, "pdfjs-pdfs"), "*.pdf"))
	if err != nil || len(files) == 0 {
		t.Fatal(err)
	}
	for _, path := range files {
		o := pdfOptions()
		o.AllowRestricted = true
		r, kind := formattest.Read(t.Context(), path, o)
		if fail.Code(r.Err) == 70 {
			t.Errorf("%s: %v", filepath.Base(path), r.Err)
		}
		if kind != nil && len(r.Blocks) == 0 && r.Silent() {
			t.Errorf("%s gave nothing, and not a word", filepath.Base(path))
		}
	}
}

func BenchmarkPDF(b *testing.B) {
	path := golden.RealData(b, "colreg-bank-zh", "选择题题库.pdf")
	const pages = 109
	f, kind, err := format.Open(nil, path, pdfOptions(), nil)
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(f.Size)
	b.ReportAllocs()
	for b.Loop() {
		for _, err := range kind.Document(format.Unit{File: f, End: f.Size, Line: 1}, nil).Blocks(b.Context()) {
			if err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64(pages*b.N)/b.Elapsed().Seconds(), "pages/s")
}

// FuzzPDF reads damaged files. It runs in the sandbox, so a few thousand inputs
// a minute is all; what it looks for is a bug of ours, or text that is no UTF-8.
func FuzzPDF(f *testing.F) {
	whole := bank(1).bytes()
	f.Add(whole)
	f.Add(whole[:len(whole)-8])
	f.Add(pdfFile{pages: []pdfContent{{stream: turned(200, 100, 10, 0, 1, "turned") + picture(0, 0, 10, 10), rotate: 90}}}.bytes())
	f.Add(onePage(ruledTable{60, 740, []float64{40, 90, 40}, [][]string{{"a", "b", "c"}, {"1", "x", "A"}, {"2", "y", "B"}, {"3", "z", "A"}}, stroked}.stream()).bytes())
	f.Add(pdfFile{pages: bank(1).pages, encrypted: true, owner: "x", forbid: true}.bytes())
	f.Add([]byte("%PDF-1.4\n1 0 obj << /Type /Catalog /Pages 1 0 R >> endobj trailer << /Root 1 0 R >>"))
	f.Fuzz(func(t *testing.T, in []byte) {
		o := pdfOptions()
		o.AllowRestricted, o.Workers = true, 1
		r, _ := formattest.Read(t.Context(), writeBytes(t, "x.pdf", in), o)
		if fail.Code(r.Err) == 70 {
			t.Fatal(r.Err)
		}
		for _, b := range r.Blocks {
			if !utf8.ValidString(b.Text) {
				t.Fatalf("block %q", b.Text)
			}
		}
	})
}
