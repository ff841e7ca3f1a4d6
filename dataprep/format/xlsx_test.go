package format_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/xuri/excelize/v2"

	"github.com/drydock-ml/drydock/dataprep/format"
	"github.com/drydock-ml/drydock/dataprep/format/formattest"
	"github.com/drydock-ml/drydock/internal/golden"
	"github.com/drydock-ml/drydock/internal/meter"
)

// xlsxBytes makes a workbook with the library most programs in Go use.
func xlsxBytes(t testing.TB, o excelize.Options, fill func(*excelize.File)) []byte {
	t.Helper()
	f := excelize.NewFile()
	defer f.Close()
	fill(f)
	var b bytes.Buffer
	if err := f.Write(&b, o); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func ok(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestXLSXCells(t *testing.T) {
	t.Parallel()
	file := xlsxBytes(t, excelize.Options{}, func(f *excelize.File) {
		style := func(format string) int {
			id, err := f.NewStyle(&excelize.Style{CustomNumFmt: &format})
			ok(t, err)
			return id
		}
		set := func(cell string, v any, format string) {
			ok(t, f.SetCellValue("Sheet1", cell, v))
			if format != "" {
				ok(t, f.SetCellStyle("Sheet1", cell, cell, style(format)))
			}
		}
		set("A1", "题目", "")
		set("C1", "答案", "")
		set("A2", int64(412345678901234567), "")
		set("B2", 0.1+0.2, "")
		set("C2", true, "")
		set("A4", 46025, `m"月"d"日"`)
		set("B4", 46025.5, "yyyy-mm-dd hh:mm")
		set("C4", 0.125, "0.0%")
		set("A5", 12, "0000")
		set("B5", 3, `"第"0"题"`)
		set("C5", 1234.5, "#,##0.00")
		set("A6", "甲\r\n乙", "")
		set("B6", -7, "0")
		set("C6", "0012", "")
		ok(t, f.SetCellRichText("Sheet1", "A7", []excelize.RichTextRun{{Text: "10"}, {Text: "-3", Font: &excelize.Font{VertAlign: "superscript"}}, {Text: " m"}}))
		ok(t, f.SetCellFormula("Sheet1", "A8", "1+1"))
		ok(t, f.SetCellStyle("Sheet1", "A900", "Z1500", style("0.00"))) // formatted, empty
	})
	r := readAll(t, fileOf(t, "c.xlsx", file))
	compare(t, []string{
		"sheet:Sheet1 r1|[题目||答案]",
		"sheet:Sheet1 r2|[412345678901234567|0.3|TRUE]",
		"sheet:Sheet1 r4|[1月3日|2026-01-03 12:00|12.5%]",
		"sheet:Sheet1 r5|[0012|第3题|1234.5]",
		"sheet:Sheet1 r6|[甲\n乙|-7|0012]",
		"sheet:Sheet1 r7|[10⁻³ m]",
	}, shown(r))
	compare(t, []string{"date_cells", "formula_without_value"}, codes(r))
}

func TestXLSXSheetsAndMerges(t *testing.T) {
	t.Parallel()
	file := xlsxBytes(t, excelize.Options{}, func(f *excelize.File) {
		for _, s := range []string{"空", "藏", "题 库"} {
			_, err := f.NewSheet(s)
			ok(t, err)
		}
		ok(t, f.SetCellStr("Sheet1", "A1", "标题"))
		ok(t, f.MergeCell("Sheet1", "A1", "C1"))
		ok(t, f.SetCellStr("藏", "A1", "x"))
		ok(t, f.SetSheetVisible("藏", false))
		ok(t, f.SetCellStr("题 库", "A1", "第一章"))
		ok(t, f.MergeCell("题 库", "A1", "A3"))
		ok(t, f.SetCellStr("题 库", "B1", "一"))
		ok(t, f.SetCellStr("题 库", "B3", "三"))
		ok(t, f.SetCellStr("题 库", "B4", "四"))
	})
	r := readAll(t, fileOf(t, "m.xlsx", file))
	compare(t, []string{
		"sheet:Sheet1 r1|[标题]",
		"sheet:题%20库 r1|[第一章|一]", "sheet:题%20库 r3|[第一章|三]", "sheet:题%20库 r4|[|四]",
	}, shown(r))
	compare(t, []string{"empty_sheet", "hidden_sheet"}, codes(r))
}

func TestXLSXEncrypted(t *testing.T) {
	t.Parallel()
	file := xlsxBytes(t, excelize.Options{Password: "锚地7"}, func(f *excelize.File) { ok(t, f.SetCellStr("Sheet1", "A1", "密")) })
	path := fileOf(t, "e.xlsx", file)
	failsWith(t, path, format.Options{}, "encrypted with a password")
	failsWith(t, path, format.Options{Password: "no"}, "password does not open")
	r, _ := formattest.Read(t.Context(), path, format.Options{Password: "锚地7"})
	compare(t, []string{"sheet:Sheet1 r1|[密]"}, shown(r))
}

const sheetNS = `xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"`

// workbookOf makes a workbook of one hand-written sheet.
func workbookOf(t testing.TB, sheet string) []byte {
	t.Helper()
	return zipOf(t, map[string]string{
		"xl/workbook.xml":            `<workbook ` + sheetNS + `><sheets><sheet name="S" sheetId="1" r:id="rId1"/></sheets></workbook>`,
		"xl/_rels/workbook.xml.rels": `<Relationships ` + relsNS + `><Relationship Id="rId1" Type="` + relURI + `worksheet" Target="/xl/worksheets/sheet1.xml"/></Relationships>`,
		"xl/worksheets/sheet1.xml":   sheet,
		"xl/sharedStrings.xml":       `<sst ` + sheetNS + `><si><t>一</t><rPh><t>yi</t></rPh></si><si><t>a_x000D_b</t></si></sst>`,
	})
}

func TestXLSXByHand(t *testing.T) {
	t.Parallel()
	sheet := `<x:worksheet xmlns:x="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><x:sheetData>` +
		`<x:row><x:c t="s"><x:v>0</x:v></x:c><x:c t="s"><x:v>1</x:v></x:c></x:row>` +
		`<x:row r="3"><x:c r="B3" t="s"><x:v>9</x:v></x:c></x:row>` +
		`<x:row r="4"><x:c r="A4"><x:v>4.12345678901235E+17</x:v></x:c><x:c r="B4" t="e"><x:v>#N/A</x:v></x:c><x:c r="C4" t="inlineStr"><x:is><x:t>内</x:t></x:is></x:c></x:row>` +
		`</x:sheetData></x:worksheet>`
	r, _ := formattest.Read(t.Context(), fileOf(t, "h.xlsx", workbookOf(t, sheet)), format.Options{})
	compare(t, []string{"sheet:S r1|[一|a\nb]", "sheet:S r4|[412345678901235000|#N/A|内]"}, shown(r))
	compare(t, []string{"digits_lost", "error_cells"}, codes(r))
	if len(r.Drops) != 1 || r.Drops[0].Reason != "bad_cell" || r.Drops[0].Record.Origin.At.Row != 3 {
		t.Errorf("drops %v", r.Drops)
	}
}

// Some programs save a formula with an empty value, which is no result.
func TestXLSXFormulaWithoutValue(t *testing.T) {
	t.Parallel()
	sheet := `<worksheet ` + sheetNS + `><sheetData><row r="1"><c r="A1"><f>CHAR(65)</f><v></v></c><c r="B1" t="str"><f>""</f><v></v></c><c r="C1"><v>1</v></c></row></sheetData></worksheet>`
	r, _ := formattest.Read(t.Context(), fileOf(t, "f.xlsx", workbookOf(t, sheet)), format.Options{})
	compare(t, []string{"sheet:S r1|[||1]"}, shown(r))
	compare(t, []string{"formula_without_value"}, codes(r))
}

func TestXLSXBroken(t *testing.T) {
	t.Parallel()
	row := `<worksheet ` + sheetNS + `><sheetData><row r="1"><c r="A1"><v>1</v></c></row>`
	for _, c := range []struct {
		name, file string
		b          []byte
		want       string
	}{
		{"torn sheet", "b.xlsx", workbookOf(t, row), "unexpected EOF"},
		{"rows back", "b.xlsx", workbookOf(t, row+`<row r="1"/></sheetData></worksheet>`), "row 1 stands after row 1"},
		{"bad cell name", "b.xlsx", workbookOf(t, row+`<row r="2"><c r="7"/></row></sheetData></worksheet>`), `is called "7"`},
		{"binary", "b.xlsx", zipOf(t, map[string]string{"xl/workbook.bin": "x"}), ".xlsb"},
		{"no workbook", "b.xlsx", zipOf(t, map[string]string{"xl/styles.xml": "<x/>"}), "xl/workbook.xml is missing"},
		{"old", "b.xls", append([]byte("\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1"), make([]byte, 4096)...), "damaged"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			failsWith(t, fileOf(t, c.file, c.b), format.Options{}, c.want)
		})
	}
	t.Run("empty", func(t *testing.T) {
		t.Parallel()
		r := readAll(t, fileOf(t, "e.xlsx", workbookOf(t, `<worksheet `+sheetNS+`><sheetData/></worksheet>`)))
		compare(t, []string{"no_text"}, codes(r))
	})
}

func TestXLSXRealBank(t *testing.T) {
	t.Parallel()
	if r := readAll(t, golden.RealData(t, "xlsx-bank-no-options-zh", "题库.xlsx")); len(r.Blocks) != 8501 {
		t.Errorf("%d rows, want the header and 8,500", len(r.Blocks))
	}
}

func FuzzXLSX(f *testing.F) {
	f.Add([]byte(`<row r="1"><c r="A1" s="1"><v>4E2</v></c></row>`))
	f.Add([]byte(`<row><c t="s"><v>1</v></c></row></sheetData><mergeCells><mergeCell ref="A1:A3"/></mergeCells>`))
	f.Fuzz(func(t *testing.T, rows []byte) {
		path := fileOf(t, "f.xlsx", workbookOf(t, `<worksheet `+sheetNS+`><sheetData>`+string(rows)+`</sheetData></worksheet>`))
		r, _ := formattest.Read(t.Context(), path, format.Options{})
		checkFuzzed(t, r)
	})
}

func BenchmarkXLSX(b *testing.B) {
	path := fileOf(b, "b.xlsx", xlsxBytes(b, excelize.Options{}, func(f *excelize.File) {
		w, err := f.NewStreamWriter("Sheet1")
		ok(b, err)
		for i := 1; i <= 20_000; i++ {
			cells := []any{"题干", "选项甲", "选项乙", "A", i, float64(i) + 0.5, i * 7, "解析"}
			ok(b, w.SetRow(fmt.Sprintf("A%d", i), cells))
		}
		ok(b, w.Flush())
	}))
	const size = 20_000 * 8 * 40 // about the bytes of XML
	b.Run("drydock", func(b *testing.B) {
		defer meter.CPU(b, int(size))()
		for b.Loop() {
			if r, _ := formattest.Read(b.Context(), path, format.Options{}); len(r.Blocks) != 20_000 || r.Err != nil {
				b.Fatal(len(r.Blocks), r.Err)
			}
		}
	})
	b.Run("excelize", func(b *testing.B) { // for the note in docs/design on why the reader is our own
		defer meter.CPU(b, int(size))()
		for b.Loop() {
			f, err := excelize.OpenFile(path)
			ok(b, err)
			rows, err := f.Rows("Sheet1")
			ok(b, err)
			n := 0
			for rows.Next() {
				_, err := rows.Columns(excelize.Options{RawCellValue: true})
				ok(b, err)
				n++
			}
			if n != 20_000 {
				b.Fatal(n)
			}
			ok(b, rows.Close())
			ok(b, f.Close())
		}
	})
}
