package format_test

import (
	"bytes"
	"image"
	"image/png"
	"testing"

	"github.com/xuri/excelize/v2"

	"github.com/drydock-ml/drydock/dataprep/format/formattest"
)

// dot is the smallest picture.
func dot(t testing.TB) []byte {
	t.Helper()
	var b bytes.Buffer
	ok(t, png.Encode(&b, image.NewGray(image.Rect(0, 0, 1, 1))))
	return b.Bytes()
}

func TestXLSXLooks(t *testing.T) {
	t.Parallel()
	file := xlsxBytes(t, excelize.Options{}, func(f *excelize.File) {
		style := func(cell string, s *excelize.Style) {
			id, err := f.NewStyle(s)
			ok(t, err)
			ok(t, f.SetCellStr("Sheet1", cell, "格"))
			ok(t, f.SetCellStyle("Sheet1", cell, cell, id))
		}
		style("A1", &excelize.Style{Font: &excelize.Font{Color: "FF0000"}})
		style("B1", &excelize.Style{Font: &excelize.Font{Bold: true, Underline: "single"}})
		style("C1", &excelize.Style{Fill: excelize.Fill{Type: "pattern", Pattern: 1, Color: []string{"FFFF00"}}})
		style("D1", &excelize.Style{Font: &excelize.Font{Color: "000000"}})
		theme, indexed := 4, 10
		style("E1", &excelize.Style{Font: &excelize.Font{ColorTheme: &theme}})
		style("F1", &excelize.Style{Font: &excelize.Font{ColorIndexed: indexed}})
		ok(t, f.SetCellRichText("Sheet1", "A2", []excelize.RichTextRun{
			{Text: "A.甲 "}, {Text: "B.乙", Font: &excelize.Font{Color: "FF0000"}}, {Text: " 10"}, {Text: "3", Font: &excelize.Font{VertAlign: "superscript"}},
		}))
	})
	r := readAll(t, fileOf(t, "l.xlsx", file))
	compare(t, []string{"sheet:Sheet1 r1|[格|格|格|格|格|格]", "sheet:Sheet1 r2|[A.甲 B.乙 10³]"}, shown(r))
	compare(t, []string{
		"color FF0000 0:格", "bold  1:格", "under  1:格", "color FFFF00 2:格", "color 5B9BD5 4:格", "color FF0000 5:格", "color FF0000 0:B.乙",
	}, marked(r))
}

// Pictures stand in their cell, those in an empty row with the row above.
func TestXLSXImages(t *testing.T) {
	t.Parallel()
	file := xlsxBytes(t, excelize.Options{}, func(f *excelize.File) {
		for cell, text := range map[string]string{"A1": "题干", "B1": "图", "A2": "见图一", "A3": "无图", "A5": "见图二", "B5": "答"} {
			ok(t, f.SetCellStr("Sheet1", cell, text))
		}
		for _, cell := range []string{"B2", "C5", "C6", "A5"} {
			ok(t, f.AddPictureFromBytes("Sheet1", cell, &excelize.Picture{Extension: ".png", File: append(dot(t), cell...)}))
		}
	})
	r := readAll(t, fileOf(t, "i.xlsx", file))
	compare(t, []string{
		"sheet:Sheet1 r1|[题干|图]", "sheet:Sheet1 r2|[见图一|]{image1.png}", "sheet:Sheet1 r3|[无图]", "sheet:Sheet1 r5|[见图二|答|]{image4.png}",
	}, shown(r))
	compare(t, []string{"image image1.png 1:", "image image4.png 0:", "image image2.png 2:", "image image3.png 2:"}, marked(r))
}

// WPS keeps a picture inside a cell as a formula with an id.
func TestXLSXCellImage(t *testing.T) {
	t.Parallel()
	file := zipOf(t, map[string]string{
		"xl/workbook.xml":              `<workbook ` + sheetNS + `><sheets><sheet name="S" sheetId="1" r:id="rId1"/></sheets></workbook>`,
		"xl/_rels/workbook.xml.rels":   `<Relationships ` + relsNS + `><Relationship Id="rId1" Type="` + relURI + `worksheet" Target="worksheets/sheet1.xml"/></Relationships>`,
		"xl/worksheets/sheet1.xml":     `<worksheet ` + sheetNS + `><sheetData><row r="1"><c r="A1" t="inlineStr"><is><t>题</t></is></c><c r="B1" t="str"><f>_xlfn.DISPIMG("ID_1F",1)</f><v>=DISPIMG("ID_1F",1)</v></c><c r="C1" t="str"><f>DISPIMG("ID_2",1)</f></c></row><row r="2" hidden="1"><c r="A2"><v>7</v></c></row></sheetData></worksheet>`,
		"xl/cellimages.xml":            `<e:cellImages xmlns:e="http://www.wps.cn/officeDocument/2017/etCustomData" xmlns:p="http://schemas.openxmlformats.org/drawingml/2006/spreadsheetDrawing" xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" ` + sheetNS + `><e:cellImage><p:pic><p:nvPicPr><p:cNvPr id="2" name="ID_1F"/></p:nvPicPr><p:blipFill><a:blip r:embed="rId1"/></p:blipFill></p:pic></e:cellImage></e:cellImages>`,
		"xl/_rels/cellimages.xml.rels": `<Relationships ` + relsNS + `><Relationship Id="rId1" Type="` + relURI + `image" Target="media/image9.png"/></Relationships>`,
	})
	r := readAll(t, fileOf(t, "w.xlsx", file))
	compare(t, []string{"sheet:S r1|[题||]{image9.png}", "sheet:S r2|[7]"}, shown(r))
	compare(t, []string{"image image9.png 1:", "image ID_2 2:"}, marked(r))
	compare(t, []string{"hidden_rows"}, codes(r))
}

func TestXLSXContract(t *testing.T) {
	t.Parallel()
	file := xlsxBytes(t, excelize.Options{}, func(f *excelize.File) {
		for i, row := range [][]any{{"题干", "答案"}, {"锚链一节长", "B"}, {"雾号", "C"}} {
			cell, err := excelize.CoordinatesToCellName(1, i+1)
			ok(t, err)
			ok(t, f.SetSheetRow("Sheet1", cell, &row))
		}
		ok(t, f.AddPictureFromBytes("Sheet1", "A2", &excelize.Picture{Extension: ".png", File: dot(t)}))
	})
	formattest.Run(t, named(t, "xlsx"), fileOf(t, "c.xlsx", file))
}
