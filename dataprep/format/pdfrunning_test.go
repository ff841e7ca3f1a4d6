package format_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/drydock-ml/drydock/internal/msg"
)

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
	for p := range 6 { // a question on each page, its options always the same and without letters
		f.pages = append(f.pages, pdfContent{stream: lines(72, 760, 11, 22, fmt.Sprintf("%d．第%s题", p+1, strings.Repeat("一", p+1)), "正确", "错误", "以上都对")})
	}
	if r := readPDFFile(t, f, pdfOptions()); len(r.Blocks) != 24 || !r.Silent() {
		t.Errorf("options without letters were lost: %q", texts(r))
	}
	f = pdfFile{}
	for range 4 {
		f.pages = append(f.pages, pdfContent{stream: at(72, 700, 11, "the same on every page")})
	}
	if r := readPDFFile(t, f, pdfOptions()); len(r.Blocks) != 4 {
		t.Errorf("pages of one line each lost it: %q", texts(r))
	}
}
