package format_test

import (
	"flag"
	"fmt"
	"image/png"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/drydock-ml/drydock/dataprep/format"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
)

// TestOCRProgram is no test but the program that the tests below start: it is
// this test's own binary, with arguments behind the flags.
func TestOCRProgram(t *testing.T) {
	args := flag.Args()
	if len(args) < 2 {
		t.Skip("started by other tests only")
	}
	path := args[1]
	switch args[0] {
	case "read":
		f, err := os.Open(path)
		if err != nil {
			os.Exit(3)
		}
		im, err := png.Decode(f)
		if err != nil {
			os.Exit(4)
		}
		page := strings.TrimSuffix(path[strings.LastIndex(path, "page-"):], ".png")
		fmt.Printf("%s. 第一题？ %v\n\nA. 甲  \nB. 乙\f", page, im.Bounds().Dx() > im.Bounds().Dy())
	case "fail":
		fmt.Fprintln(os.Stderr, "loading\nno such language: xyz")
		os.Exit(1)
	case "fail-on-3":
		if strings.HasSuffix(path, "page-3.png") {
			os.Exit(1)
		}
		fmt.Println("文字")
	case "nothing":
		fmt.Println(" \n\f")
	case "latin1":
		os.Stdout.WriteString("\xD6\xD0\n")
	case "flood":
		line := []byte(strings.Repeat("x", 1<<16))
		for range 100 {
			os.Stdout.Write(line)
		}
	case "sleep":
		time.Sleep(time.Minute)
	}
	os.Exit(0)
}

// ocrProgram is a command that starts [TestOCRProgram].
func ocrProgram(t *testing.T, mode string) *format.OCR {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return &format.OCR{Argv: []string{exe, "-test.run=^TestOCRProgram$", mode, "{}"}}
}

func scanned(pages int) pdfFile {
	f := pdfFile{pages: []pdfContent{{stream: at(72, 700, 11, "printed text")}}}
	for range pages {
		f.pages = append(f.pages, pdfContent{stream: picture(0, 0, 595, 842) + at(250, 20, 8, "scanned by X")})
	}
	return f
}

func TestPDFOCR(t *testing.T) {
	t.Parallel()
	o := pdfOptions()
	o.OCR = ocrProgram(t, "read")
	r := readPDFFile(t, scanned(2), o)
	want := []string{
		"p1 l1 printed text",
		"p2 l1 ocr page-2. 第一题？ false", "p2 l2 ocr A. 甲", "p2 l3 ocr B. 乙",
		"p3 l1 ocr page-3. 第一题？ false", "p3 l2 ocr A. 甲", "p3 l3 ocr B. 乙",
	}
	var got []string
	for _, b := range r.Blocks {
		got = append(got, b.At.String()+" "+b.Text)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if r.Err != nil || len(r.Drops) > 0 || len(r.Notes) != 1 || r.Notes[0].Code != "ocr" || r.Notes[0].Damage || !strings.Contains(r.Notes[0].In(msg.En), "page 2–3") {
		t.Errorf("error %v, drops %v, notes %v", r.Err, r.Drops, r.Notes)
	}
}

// TestPDFOCRFails names the page and the cause, and reads the other pages.
func TestPDFOCRFails(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		mode   string
		drops  int
		detail string
	}{
		{"fail", 2, "page 2: the OCR command failed: exit status 1: no such language: xyz"},
		{"fail-on-3", 1, "page 3: the OCR command failed: exit status 1"},
		{"nothing", 2, "page 2: the OCR command failed: it found no text"},
		{"latin1", 2, "the output is not UTF-8"},
		{"flood", 2, "more than 4 MB of output"},
		{"sleep", 2, "no answer within 1s"},
	} {
		t.Run(c.mode, func(t *testing.T) {
			t.Parallel()
			o := pdfOptions()
			o.OCR = ocrProgram(t, c.mode)
			if c.mode == "sleep" {
				o.OCR.Timeout = time.Second
			}
			r := readPDFFile(t, scanned(2), o)
			if len(r.Drops) != c.drops || r.Drops[0].Reason != "ocr_failed" || !strings.Contains(r.Drops[0].Detail, c.detail) {
				t.Errorf("drops %v", r.Drops)
			}
			if !slices.Contains(texts(r), "printed text") || r.Err != nil {
				t.Errorf("lines %q, error %v", texts(r), r.Err)
			}
			if !slices.ContainsFunc(r.Notes, func(n format.Note) bool { return n.Code == "ocr_failed" && n.Damage }) {
				t.Errorf("notes %v", r.Notes)
			}
		})
	}
	o := pdfOptions()
	o.OCR = &format.OCR{Argv: []string{"no-such-program-anywhere"}}
	if r := readPDFFile(t, scanned(1), o); len(r.Drops) != 1 || !strings.Contains(r.Drops[0].Detail, "not found") {
		t.Errorf("drops %v", r.Drops)
	}
}

func TestParseOCR(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		command string
		want    []string
		fails   string
	}{
		{"tesseract {} stdout -l chi_sim+eng", []string{"tesseract", "{}", "stdout", "-l", "chi_sim+eng"}, ""},
		{`  "C:\Program Files\ocr.exe"  --in={}	'a "b"' `, []string{`C:\Program Files\ocr.exe`, "--in={}", `a "b"`}, ""},
		{`ocr "" x`, []string{"ocr", "", "x"}, ""},
		{`ocr $HOME | cat`, []string{"ocr", "$HOME", "|", "cat"}, ""},
		{`ocr "x`, nil, "not closed"},
		{" ", nil, "names no program"},
		{"{} x", nil, "names no program"},
	} {
		o, err := format.ParseOCR(c.command)
		if c.fails != "" {
			if fail.Code(err) != 2 || !strings.Contains(err.Error(), c.fails) {
				t.Errorf("%q: error %v, want one with %q", c.command, err, c.fails)
			}
			continue
		}
		if err != nil {
			t.Errorf("%q: %v", c.command, err)
			continue
		}
		if d := cmp.Diff(c.want, o.Argv); d != "" {
			t.Errorf("%q: %s", c.command, d)
		}
	}
}
