package format_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/drydock-ml/drydock/dataprep/format/formattest"
)

// A ruledTable is drawn with its upper left corner at x, y. The lines of a cell
// are parted by \n.
type ruledTable struct {
	x, y   float64
	widths []float64
	rows   [][]string
	draw   func(x0, y0, x1, y1 float64) string // a line
}

// stroked draws a line, filled a thin area, as Word does.
func stroked(x0, y0, x1, y1 float64) string {
	return fmt.Sprintf("0.5 w %g %g m %g %g l S\n", x0, y0, x1, y1)
}

func filled(x0, y0, x1, y1 float64) string {
	return fmt.Sprintf("%g %g %g %g re f\n", x0, min(y0, y1), max(x1-x0, 0.5), max(abs(y1-y0), 0.5))
}

func abs(v float64) float64 { return max(v, -v) }

const tablePitch = 13

func (t ruledTable) stream() string {
	var b strings.Builder
	right := t.x
	for _, w := range t.widths {
		right += w
	}
	y := t.y
	b.WriteString(t.draw(t.x, y, right, y))
	for _, row := range t.rows {
		most := 1
		for _, c := range row {
			most = max(most, 1+strings.Count(c, "\n"))
		}
		bottom := y - tablePitch*float64(most) - 5
		x := t.x
		for i, c := range row {
			b.WriteString(t.draw(x, bottom, x, y))
			all := strings.Split(c, "\n")
			room := float64(most-len(all)) * tablePitch / 2 // in the middle, as programs do
			b.WriteString(lines(x+3, y-12-room, 9, tablePitch, all...))
			x += t.widths[i]
		}
		b.WriteString(t.draw(right, bottom, right, y))
		b.WriteString(t.draw(t.x, bottom, right, bottom))
		y = bottom
	}
	return b.String()
}

func cellsOf(r formattest.Result) [][]string {
	var out [][]string
	for _, b := range r.Blocks {
		if b.Cells != nil {
			out = append(out, b.Cells)
		}
	}
	return out
}

var bankWidths = []float64{30, 130, 90, 90, 30}

func TestPDFTable(t *testing.T) {
	t.Parallel()
	head := []string{"序号", "题目", "选项A", "选项B", "答案"}
	rows := [][]string{
		head,
		{"1", "两艘机动船在狭水道\n内对遇时各自应当\n如何行动？", "向右转向", "alter course\nto port", "A"},
		{"2", "Sound signal of\na vessel at anchor", "急敲号钟", "鸣放一短声\n并减速", "A"},
		{"3", "锚球挂在何处？", "最易见处", "船尾", "A"},
	}
	want := [][]string{
		head,
		{"1", "两艘机动船在狭水道内对遇时各自应当如何行动？", "向右转向", "alter course to port", "A"},
		{"2", "Sound signal of a vessel at anchor", "急敲号钟", "鸣放一短声并减速", "A"},
		{"3", "锚球挂在何处？", "最易见处", "船尾", "A"},
	}
	for name, draw := range map[string]func(x0, y0, x1, y1 float64) string{"stroked": stroked, "filled": filled} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			table := ruledTable{60, 740, bankWidths, rows, draw}
			f := onePage(at(60, 780, 11, "避碰题库") + table.stream() + at(60, 500, 11, "表后的文字"))
			r := readPDFFile(t, f, pdfOptions())
			if diff := cmp.Diff(want, cellsOf(r)); diff != "" {
				t.Errorf("cells (-want +got):\n%s", diff)
			}
			var at []string
			for _, b := range r.Blocks {
				at = append(at, b.At.String())
			}
			if diff := cmp.Diff([]string{"p1 l1", "p1 l2", "p1 l3", "p1 l6", "p1 l8", "p1 l9"}, at); diff != "" {
				t.Errorf("places (-want +got):\n%s", diff)
			}
			if first, last := r.Blocks[0].Text, r.Blocks[len(r.Blocks)-1].Text; first != "避碰题库" || last != "表后的文字" {
				t.Errorf("around the table stand %q and %q", first, last)
			}
		})
	}
}

// TestPDFTableOptions keeps options that share a cell on lines of their own.
func TestPDFTableOptions(t *testing.T) {
	t.Parallel()
	rows := [][]string{
		{"题号", "题干", "选项", "答案"},
		{"1", "应显示何灯？", "A. 红灯\nB. 绿灯，并在\n船尾显示白灯", "B"},
		{"2", "应挂何号型？", "A. 球体\nB. 圆锥体", "A"},
	}
	r := readPDFFile(t, onePage(ruledTable{60, 740, []float64{30, 150, 150, 40}, rows, stroked}.stream()), pdfOptions())
	got := cellsOf(r)
	if len(got) != 3 || got[1][2] != "A. 红灯\nB. 绿灯，并在船尾显示白灯" {
		t.Errorf("cells: %q", got)
	}
}

// TestPDFTableOverflow keeps text together that is too high for its row and stands
// over its neighbours.
func TestPDFTableOverflow(t *testing.T) {
	t.Parallel()
	rows := [][]string{{"序号", "题目", "答案"}, {"1", "", "A"}, {"2", "", "B"}, {"3", "", "C"}, {"4", "", "D"}}
	empty := ruledTable{60, 740, []float64{40, 90, 40}, rows, stroked}
	stream := empty.stream()
	for i := range 4 { // in rows 18 points high
		y := 740 - 18*float64(i+1) - 3
		stream += at(63, y-9, 9, fmt.Sprint("n", i+1)) + lines(103, y+5, 9, 11, fmt.Sprintf("上%d", i+1), fmt.Sprintf("中%d", i+1), fmt.Sprintf("下%d", i+1))
	}
	for i, c := range cellsOf(readPDFFile(t, onePage(stream), pdfOptions())) {
		if want := fmt.Sprintf("上%d中%d下%d", i, i, i); i > 0 && c[1] != want {
			t.Errorf("row %d: %q, want %q", i, c[1], want)
		}
	}
}

// TestPDFTablePages joins a row that the turn of the page parts, under a header
// that is printed again, and keeps that header though it repeats.
func TestPDFTablePages(t *testing.T) {
	t.Parallel()
	head := []string{"序号", "题目", "选项A", "选项B", "答案"}
	var f pdfFile
	n := 0
	for page := range 4 {
		rows := [][]string{head}
		if page > 0 {
			rows = append(rows, []string{"", "下半句？", "", "part", ""})
		}
		for range 4 {
			n++
			rows = append(rows, []string{fmt.Sprint(n), fmt.Sprintf("第%d题的上半句，", n), "甲", "second", "B"})
		}
		table := ruledTable{60, 740, bankWidths, rows, stroked}
		f.pages = append(f.pages, pdfContent{stream: at(60, 800, 9, "题库汇编") + table.stream() + at(280, 30, 9, fmt.Sprintf("第%d页", page+1))})
	}
	got := cellsOf(readPDFFile(t, f, pdfOptions()))
	heads := 0
	var numbers []string
	for _, c := range got {
		if slices.Equal(c, head) {
			heads++
			continue
		}
		numbers = append(numbers, c[0])
		whole := strings.HasSuffix(c[1], "下半句？") && c[3] == "second part"
		if parted := len(numbers)%4 == 0 && len(numbers) < n; parted != whole {
			t.Errorf("row %q: joined %v, want %v", c, whole, parted)
		}
	}
	if heads != 4 || len(numbers) != n || numbers[n-1] != fmt.Sprint(n) {
		t.Errorf("%d headers, rows %q", heads, numbers)
	}
}

// TestPDFTableOpen reads tables that have no upright lines, and perhaps none above
// the header. A gap that stands in one column on every row is no column.
func TestPDFTableOpen(t *testing.T) {
	t.Parallel()
	across := func(x0, y0, x1, y1 float64) string {
		if x0 == x1 {
			return ""
		}
		return stroked(x0, y0, x1, y1)
	}
	headless := func(x0, y0, x1, y1 float64) string {
		if y0 == 740 {
			return ""
		}
		return across(x0, y0, x1, y1)
	}
	rows := [][]string{
		{"序号", "题目", "选项A", "选项B", "答案"},
		{"1", "两艘机动船在狭水道\n内对遇时各自应当\n如何行动？", "向右转向", "alter course\nto port", "A"},
		{"2", "追越船应当\n如何行动？", "3 n mile", "5 n mile", "A"},
		{"3", "锚球挂在何处？", "3 n mile", "6 n mile", "B"},
		{"4", "雾号间隔多久？", "2 min", "3 min", "A"},
	}
	for name, draw := range map[string]func(x0, y0, x1, y1 float64) string{"closed": across, "headless": headless} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			table := ruledTable{60, 740, bankWidths, rows, draw}
			r := readPDFFile(t, onePage(at(60, 800, 11, "避碰题库")+table.stream()), pdfOptions())
			got := cellsOf(r)
			if len(got) != len(rows) || len(r.Blocks) != len(rows)+1 {
				t.Fatalf("%d rows in %d blocks, want %d: %q", len(got), len(r.Blocks), len(rows), got)
			}
			want := []string{"1", "两艘机动船在狭水道内对遇时各自应当如何行动？", "向右转向", "alter course to port", "A"}
			if diff := cmp.Diff(want, got[1]); diff != "" {
				t.Errorf("cells (-want +got):\n%s", diff)
			}
		})
	}
}

// TestPDFTableTurned reads a table on a page that is turned.
func TestPDFTableTurned(t *testing.T) {
	t.Parallel()
	rows := [][]string{{"序号", "题目", "答案"}, {"1", "first", "A"}, {"2", "second", "B"}, {"3", "third", "C"}}
	f := onePage(ruledTable{60, 540, []float64{60, 150, 60}, rows, stroked}.stream())
	f.pages[0].stream = "q 0 1 -1 0 595 0 cm\n" + f.pages[0].stream + "Q\n"
	f.pages[0].rotate = 90
	if diff := cmp.Diff(rows, cellsOf(readPDFFile(t, f, pdfOptions()))); diff != "" {
		t.Errorf("cells (-want +got):\n%s", diff)
	}
}

// TestPDFNoTable leaves text as lines where the lines drawn are no table of it.
func TestPDFNoTable(t *testing.T) {
	t.Parallel()
	text := lines(60, 740, 10, 18, "1．对遇时  A．向右  B．向左", "2．追越时  A．让路  B．直航",
		"3．交叉时  A．让路  B．直航", "4．锚泊时  A．一个球  B．两个球", "5．搁浅时  A．三个球  B．两个球")
	sideBySide := ""
	for i := range 5 {
		sideBySide += at(320, 740-18*float64(i), 10, "C．其他")
	}
	frame := ""
	for _, y := range []float64{760, 640} {
		frame += stroked(50, y, 500, y)
	}
	for _, x := range []float64{50, 500} {
		frame += stroked(x, 640, x, 760)
	}
	through := "" // a chart's grid behind text
	for i := range 8 {
		through += stroked(50+float64(i)*33, 640, 50+float64(i)*33, 760) + stroked(50, 640+float64(i)*17, 281, 640+float64(i)*17)
	}
	for name, drawn := range map[string]string{"frame": frame, "lines below": stroked(50, 700, 500, 700) + stroked(50, 650, 500, 650), "grid behind": through} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			plain := texts(readPDFFile(t, onePage(text+sideBySide), pdfOptions()))
			r := readPDFFile(t, onePage(drawn+text+sideBySide), pdfOptions())
			if diff := cmp.Diff(plain, texts(r)); diff != "" || len(plain) < 5 {
				t.Errorf("text (-without lines +with):\n%s", diff)
			}
		})
	}
}
