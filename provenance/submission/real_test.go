package submission

import (
	"bytes"
	"context"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/drydock-ml/drydock/eval/benchmark/benchtest"
	"github.com/drydock-ml/drydock/internal/golden"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/google/go-cmp/cmp"
)

// The files of the real evaluator pass the gates about results, with a
// registered copy of the benchmark and without one.
func TestRealEvaluatorsFiles(t *testing.T) {
	t.Parallel()
	dir := golden.RealData(t, "evalscope-golden", "v1.4.2")
	items := benchtest.RealItems(t)
	for _, tc := range []struct {
		run  string
		want map[string]Status
	}{
		{"full-perfect", map[string]Status{}},
		{"full-messy", map[string]Status{"G05": Warn}},
		{"limit25", map[string]Status{"G01": Fail, "G02": Fail, "G03": Skip, "G05": Warn, "G06": Fail}},
		{"fail25-ignore-errors", map[string]Status{"G01": Fail, "G02": Fail, "G03": Skip, "G05": Warn, "G06": Fail}},
		{"system-prompt-limit4", map[string]Status{"G01": Fail, "G02": Fail, "G03": Fail, "G06": Fail}},
	} {
		for _, registered := range []bool{true, false} {
			name := tc.run
			if registered {
				name += " registered"
			}
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				pack := t.TempDir()
				put := func(name string, data []byte) {
					path := filepath.Join(pack, filepath.FromSlash(name))
					if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
						t.Fatal(err)
					}
					if err := os.WriteFile(path, data, 0o644); err != nil {
						t.Fatal(err)
					}
				}
				put("results/maritime_bench_default.jsonl", golden.ReadFile(t, filepath.Join(dir, tc.run, "reviews.jsonl")))
				put("results/reports/maritime_bench.json", golden.ReadFile(t, filepath.Join(dir, tc.run, "report.json")))
				r, err := Verify(context.Background(), pack, Options{Benchmark: func(context.Context, string) (Registered, error) {
					if !registered {
						return Registered{}, fs.ErrNotExist
					}
					return Registered{Items: items}, nil
				}})
				if err != nil {
					t.Fatal(err)
				}
				got := map[string]Status{}
				for id, s := range statuses(r) {
					if strings.HasPrefix(id, "G") {
						got[id] = s
					}
				}
				want := map[string]Status{}
				for id, s := range tc.want {
					if registered && s == Skip { // a part of the items can be compared
						continue
					}
					if !registered && id == "G03" {
						s = Skip
					}
					want[id] = s
				}
				if d := cmp.Diff(want, got); d != "" {
					t.Errorf("gates (-want +got):\n%s\n%s", d, r.Markdown(msg.En))
				}
			})
		}
	}
}

// The sample the organisers handed out has nothing wrong but its length.
func TestOfficialSample(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile(golden.RealData(t, "maritimebench", "Q2-sample-submit.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for i, line := range bytes.Split(bytes.TrimSpace(data), []byte("\n")) {
		if _, ok, f := readReview("sample", line, i+1); !ok || f != nil {
			t.Errorf("line %d: %v", i+1, f.Text.In(msg.En))
		}
	}
}

func TestRealDocuments(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"colreg-bank-zh/选择题题库.pdf", "maritimebench/Q2-Manual.pdf"} {
		data, err := os.ReadFile(golden.RealData(t, filepath.FromSlash(name)))
		if err != nil {
			t.Fatal(err)
		}
		if text, _, err := pdfHasText(data); err != nil || !text {
			t.Errorf("%s: text %v, %v", name, text, err)
		}
	}
	data, err := os.ReadFile(golden.RealData(t, "docx-bank-zh", "单选题.docx"))
	if err != nil {
		t.Fatal(err)
	}
	if text, err := docxText(data); err != nil || len(text) < 1000 {
		t.Errorf("单选题.docx: %d bytes, %v", len(text), err)
	}
}

// An independent reader's word on 89 difficult PDFs: damaged files aside, both
// agree on which have text.
func TestRealPDFs(t *testing.T) {
	t.Parallel()
	dir := golden.RealData(t, "pdfjs-pdfs")
	list, err := os.ReadFile(filepath.Join(dir, "poppler-22.12-oracle.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for line := range bytes.Lines(list) {
		var o struct {
			File       string   `json:"file"`
			Categories []string `json:"categories"`
			Chars      int      `json:"chars_first5pages"`
		}
		if err := json.Unmarshal(line, &o); err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(filepath.Join(dir, o.File))
		if err != nil {
			t.Fatal(err)
		}
		text, unknown, err := pdfHasText(data)
		n++
		if text == (o.Chars > 0) || !text && unknown || slices.Contains(o.Categories, "broken") || slices.Contains(o.Categories, "damaged-but-readable") {
			continue
		}
		// one picture has an empty text operator over it
		if o.File != "issue17147.pdf" {
			t.Errorf("%s: text %v, %v; the other reader finds %d characters", o.File, text, err, o.Chars)
		}
	}
	if n < 80 {
		t.Errorf("only %d files", n)
	}
}
