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
