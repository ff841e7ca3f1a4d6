package format_test

import (
	"bytes"
	"testing"

	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/unicode"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/dataprep/format"
	"github.com/drydock-ml/drydock/dataprep/format/formattest"
	"github.com/drydock-ml/drydock/internal/golden"
	"github.com/drydock-ml/drydock/internal/meter"
)

func TestCSVRecords(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, file, text string
		want             []string
	}{
		{"plain", "a.csv", "a,b\n1,2\n", []string{"l1 r1|[a|b]", "l2 r2|[1|2]"}},
		{"quoted", "a.csv", "题,答\r\n\"一\r\n二,\"\"三\"\"\",A\r\n四,B", []string{"l1 r1|[题|答]", "l2 r2|[一\r\n二,\"三\"|A]", "l4 r3|[四|B]"}},
		{"semicolon", "a.csv", "a;b,c;d\n1;2,2;3\n4;5;6\n", []string{"l1 r1|[a|b,c|d]", "l2 r2|[1|2,2|3]", "l3 r3|[4|5|6]"}},
		{"tab", "a.tsv", "a\tb\n\n1\t\n", []string{"l1 r1|[a|b]", "l3 r3|[1|]"}},
		{"bar", "a.csv", "a|b|c\n1|2|3\n", []string{"l1 r1|[a|b|c]", "l2 r2|[1|2|3]"}},
		{"told", "a.csv", "sep=;\na;b\n1;2\n", []string{"l2 r1|[a|b]", "l3 r2|[1|2]"}},
		{"one column", "a.csv", "题目\n甲\n", []string{"l1 r1|[题目]", "l2 r2|[甲]"}},
		{"mark and CR", "a.csv", "\xEF\xBB\xBFa,b\r1,2\r", []string{"l1 r1|[a|b]", "l2 r2|[1|2]"}},
		{"named txt", "a.txt", "no,q,a\n1,x,A\n2,y,B\n3,z,C\n4,w,D\n", []string{"l1 r1|[no|q|a]", "l2 r2|[1|x|A]", "l3 r3|[2|y|B]", "l4 r4|[3|z|C]", "l5 r5|[4|w|D]"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			compare(t, c.want, shown(readAll(t, fileOf(t, c.file, []byte(c.text)))))
		})
	}
}

func TestCSVEncodings(t *testing.T) {
	t.Parallel()
	text := "题目,选项,答案\r\n船舶在雾中航行时应使用,安全航速,A\r\n锚泊船应显示,环照白灯,B\r\n"
	gbk, err := simplifiedchinese.GB18030.NewEncoder().String(text)
	ok(t, err)
	wide, err := unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewEncoder().String(text)
	ok(t, err)
	for name, b := range map[string]string{"GB18030": gbk, "UTF-16": wide, "UTF-8": text} {
		r := readAll(t, fileOf(t, "e.csv", []byte(b)))
		if len(r.Blocks) != 3 || r.Blocks[1].Cells[1] != "安全航速" {
			t.Errorf("%s: %q", name, shown(r))
		}
	}
}

// TestCSVOdd pins what happens to tables that break the rules: a row that
// cannot be trusted is a drop with its text, one that can is kept and noted.
func TestCSVOdd(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, text   string
		blocks       int
		drops, notes []string
	}{
		{"bare quote", "a,b\n5\" pipe,x\n", 2, nil, []string{"bare_quotes"}},
		{"text behind quote", "a,b\n\"x\"y,z\n", 2, nil, []string{"bare_quotes"}},
		{"short row", "a,b,c\n1,2\n1,2,3\n", 3, nil, []string{"short_rows"}},
		{"long row", "a,b\n1,2,3\n4,5\n", 2, []string{"l2 r2 ragged_row 1,2,3"}, nil},
		{"long but empty", "a,b\n1,2,,\n", 2, nil, nil},
		{"never closed", "a,b\n1,2\n\"3,4\n5,6\n", 3, []string{`l3 r3 unclosed_quote "3,4`}, nil},
		{"closed by a later row", "a,b\n\"1,2\n3,\"4\"\n5,6\n", 3, []string{`l2 r2 unclosed_quote "1,2`}, nil},
		{"invalid UTF-8", "题目在此,答案在此\n船\xff舶,A\n", 2, nil, []string{"invalid_bytes"}},
		{"title row", "题库\n题,A,B\n", 2, nil, []string{"short_rows"}},
		{"no rows", "\n\n", 0, nil, []string{"no_text"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r, _ := formattest.Read(t.Context(), fileOf(t, "o.csv", []byte(c.text)), format.Options{})
			if r.Err != nil {
				t.Fatal(r.Err)
			}
			if len(r.Blocks) != c.blocks {
				t.Errorf("blocks %q, want %d", shown(r), c.blocks)
			}
			compare(t, c.drops, dropped(r))
			compare(t, c.notes, codes(r))
		})
	}
}

func dropped(r formattest.Result) []string {
	var out []string
	for _, d := range r.Drops {
		out = append(out, d.Record.Origin.At.String()+" "+d.Reason+" "+d.Record.Passage.Text)
	}
	return out
}

func TestCSVReal(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		parts []string
		rows  int
		cells int
	}{
		{[]string{"uscg-rules-bank", "nav_rules_first640_no_explanations.csv"}, 641, 10},
		{[]string{"ham-radio-zh", "class_a.csv"}, 0, 9},
	} {
		r := readAll(t, golden.RealData(t, c.parts...))
		if c.rows > 0 && len(r.Blocks) != c.rows || len(r.Blocks) < 2 {
			t.Errorf("%s: %d rows", c.parts[1], len(r.Blocks))
		}
		for _, b := range r.Blocks {
			if len(b.Cells) != c.cells {
				t.Errorf("%s %s: %d cells", c.parts[1], b.At, len(b.Cells))
			}
		}
	}
}

func FuzzCSV(f *testing.F) {
	f.Add([]byte("a,b\n\"1\n,2\"\"\"\r\n3;4\n"))
	f.Add([]byte("sep=|\r\"x|\"y\"\n|"))
	f.Fuzz(func(t *testing.T, b []byte) {
		path := fileOf(t, "f.csv", append([]byte("h,"), b...))
		r, _ := formattest.Read(t.Context(), path, format.Options{})
		checkFuzzed(t, r)
	})
}

func BenchmarkCSV(b *testing.B) {
	text := bytes.Repeat([]byte("LY0001,1.1.1,\"船舶在雾中航行时，应以安全航速行驶，并\"\"鸣放\"\"雾号：\",A,一长声,两长声,一短声,两短声\n"), 40_000)
	path := fileOf(b, "b.csv", text)
	defer meter.CPU(b, len(text))()
	for b.Loop() {
		benchBlocks(b, path, 40_000)
	}
}

// benchBlocks reads a file without keeping its blocks.
func benchBlocks(b *testing.B, path string, want int) {
	b.Helper()
	f, kind, err := format.Open(&drydock.File{Name: "bench"}, path, format.Options{}, nil)
	ok(b, err)
	units, err := kind.Units(b.Context(), f)
	ok(b, err)
	n := 0
	for _, u := range units {
		for _, err := range kind.Document(u, nil).Blocks(b.Context()) {
			if err != nil { // not by ok, which costs more than a short row
				b.Fatal(err)
			}
			n++
		}
	}
	if n != want {
		b.Fatalf("%d blocks, want %d", n, want)
	}
}
