package format_test

import (
	"bufio"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"
	"unicode"

	"github.com/drydock-ml/drydock/dataprep/format/formattest"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/golden"
)

// An oraclePDF is what another reader, poppler, found in a difficult file.
type oraclePDF struct {
	File     string `json:"file"`
	Han      int    `json:"han"`
	Kana     int    `json:"kana"`
	Hangul   int    `json:"hangul"`
	Password string `json:"password"`
	Opens    bool   `json:"opens_without_password"`
}

func oraclePDFs(t *testing.T) (dir string, files []oraclePDF) {
	t.Helper()
	path := golden.RealData(t, "pdfjs-pdfs", "poppler-22.12-oracle.jsonl")
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		var o oraclePDF
		if err := json.Unmarshal(s.Bytes(), &o); err != nil {
			t.Fatal(err)
		}
		files = append(files, o)
	}
	return filepath.Dir(path), files
}

// TestPDFRealHard reads difficult files: each must end in time, in text or in an
// error or note that says why there is none, with no fewer Chinese, Japanese and
// Korean characters than poppler finds. A sandbox cannot take more than a
// gigabyte, see maxSandbox.
func TestPDFRealHard(t *testing.T) {
	t.Parallel()
	dir, files := oraclePDFs(t)
	readPDFFile(t, bank(1), pdfOptions()) // compiles PDFium
	for _, want := range files {
		o := pdfOptions()
		o.AllowRestricted, o.Password, o.Workers = true, want.Password, 1
		const longest = 10 * time.Second
		ctx, cancel := context.WithTimeout(t.Context(), longest)
		r, kind := formattest.Read(ctx, filepath.Join(dir, want.File), o)
		late := ctx.Err() != nil
		cancel()
		switch {
		case late:
			t.Errorf("%s takes longer than %v", want.File, longest)
		case fail.Code(r.Err) == 70:
			t.Errorf("%s: %v", want.File, r.Err)
		case kind != nil && len(r.Blocks) == 0 && r.Silent():
			t.Errorf("%s gave nothing, and not a word", want.File)
		case want.Password != "" && r.Err != nil:
			t.Errorf("%s, with its password: %v", want.File, r.Err)
		}
		if han, kana, hangul := scripts(r); han < want.Han || kana < want.Kana || hangul < want.Hangul {
			t.Errorf("%s: %d Han, %d kana, %d hangul; poppler finds %d, %d, %d", want.File, han, kana, hangul, want.Han, want.Kana, want.Hangul)
		}
	}
}

func scripts(r formattest.Result) (han, kana, hangul int) {
	for _, b := range r.Blocks {
		for _, c := range formattest.Text(b) {
			switch {
			case unicode.Is(unicode.Han, c):
				han++
			case c >= 0x3041 && c <= 0x30FF: // with the marks both scripts share
				kana++
			case unicode.Is(unicode.Hangul, c):
				hangul++
			}
		}
	}
	return han, kana, hangul
}
