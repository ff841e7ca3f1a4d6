package format_test

import (
	"testing"

	"github.com/xuri/excelize/v2"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/dataprep/format"
	"github.com/drydock-ml/drydock/dataprep/format/formattest"
	"github.com/drydock-ml/drydock/internal/fail"
)

// formatNamed returns the format of that name.
func formatNamed(t testing.TB, name string) *format.Format {
	t.Helper()
	all := format.All()
	for i := range all {
		if all[i].Name == name {
			return &all[i]
		}
	}
	t.Fatalf("no format %q", name)
	return nil
}

func TestContract(t *testing.T) {
	t.Parallel()
	docx := docxBytes(t, para(num("1", "0"), "首题")+para(num("1", "1"), "甲")+
		`<w:tbl><w:tr><w:tc><w:p/></w:tc><w:tc><w:p><w:r><w:t>答</w:t></w:r></w:p></w:tc></w:tr></w:tbl>`+
		`<w:p><w:r><w:t>一</w:t><w:br/><w:t>二</w:t></w:r></w:p>`, map[string]string{"word/numbering.xml": questionNumbering})
	xlsx := xlsxBytes(t, excelize.Options{}, func(f *excelize.File) {
		ok(t, f.SetSheetRow("Sheet1", "A1", &[]string{"题目", "答案"}))
		ok(t, f.SetSheetRow("Sheet1", "A2", &[]any{"一", 2}))
	})
	html := "<!DOCTYPE html>\n<html><head><title>t</title></head><body><h1>题</h1><p>一</p><ol><li>甲<li>乙</ol><table><tr><td>a<td>b</table></body></html>"
	for _, c := range []struct {
		format, fixture string
		opts            []formattest.Option
	}{
		{"jsonl", "testdata/rows.jsonl", nil},
		{"json", "testdata/rows.json", nil},
		{"csv", "testdata/table.csv", nil},
		{"parquet", "testdata/interop/types.parquet", nil},
		{"arrow", "testdata/interop/types.arrow", nil},
		{"arrow", "testdata/interop/types.arrows", nil},
		{"docx", fileOf(t, "min.docx", docx), nil},
		{"xlsx", fileOf(t, "min.xlsx", xlsx), nil},
		{"html", fileOf(t, "min.html", []byte(html)), nil},
	} {
		t.Run(c.format, func(t *testing.T) {
			t.Parallel()
			formattest.Run(t, formatNamed(t, c.format), c.fixture, c.opts...)
		})
	}
}

// checkFuzzed is what any input must keep to: no bug, spans inside their text,
// places that read back, and not a word lost without one said.
func checkFuzzed(t *testing.T, r formattest.Result) {
	t.Helper()
	if fail.Code(r.Err) == 70 {
		t.Fatal(r.Err)
	}
	for _, b := range r.Blocks {
		if got, err := drydock.ParseLocator(b.At.String()); err != nil || got != b.At {
			t.Fatalf("locator %q reads back as %v, %v", b.At, got, err)
		}
		for _, s := range b.Spans {
			if fault := formattest.SpanFault(b, s); fault != "" {
				t.Fatal(fault)
			}
		}
	}
}
