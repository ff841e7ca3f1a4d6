package format_test

import (
	"encoding/base64"
	"strings"
	"testing"

	"golang.org/x/text/encoding/simplifiedchinese"

	"github.com/drydock-ml/drydock/dataprep/format"
	"github.com/drydock-ml/drydock/dataprep/format/formattest"
)

// flatDOCX is a package written as one XML file.
func flatDOCX(body string) []byte {
	part := func(name, xml string) string {
		return `<pkg:part pkg:name="` + name + `"><pkg:xmlData>` + xml + `</pkg:xmlData></pkg:part>`
	}
	return []byte(`<?xml version="1.0" encoding="UTF-8" standalone="yes"?><?mso-application progid="Word.Document"?>` +
		`<pkg:package xmlns:pkg="http://schemas.microsoft.com/office/2006/xmlPackage">` +
		part("/_rels/.rels", `<Relationships `+relsNS+`><Relationship Id="r1" Type="`+relURI+`officeDocument" Target="word/document.xml"/></Relationships>`) +
		part("/word/document.xml", `<w:document `+wordNS+`><w:body>`+body+`</w:body></w:document>`) +
		part("/word/_rels/document.xml.rels", `<Relationships `+relsNS+`><Relationship Id="r7" Type="`+relURI+`image" Target="media/a.png"/><Relationship Id="r8" Type="`+relURI+`numbering" Target="numbering.xml"/></Relationships>`) +
		part("/word/numbering.xml", questionNumbering) +
		`<pkg:part pkg:name="/word/media/a.png"><pkg:binaryData>` + base64.StdEncoding.EncodeToString([]byte("png")) + `</pkg:binaryData></pkg:part></pkg:package>`)
}

// word2003 is a document of Word 2003.
func word2003(body string) []byte {
	return []byte(`<?xml version="1.0"?><?mso-application progid="Word.Document"?><w:wordDocument xmlns:w="http://schemas.microsoft.com/office/word/2003/wordml" ` +
		`xmlns:wx="http://schemas.microsoft.com/office/word/2003/auxHint" xmlns:aml="http://schemas.microsoft.com/aml/2001/core" xmlns:o="urn:schemas-microsoft-com:office:office" xmlns:v="urn:schemas-microsoft-com:vml">` +
		`<o:DocumentProperties><o:Title>不是正文</o:Title></o:DocumentProperties>` +
		`<w:lists><w:listDef w:listDefId="3"><w:lvl w:ilvl="0"><w:start w:val="1"/><w:nfc w:val="3"/><w:lvlText w:val="%1."/></w:lvl></w:listDef><w:list w:ilfo="2"><w:ilst w:val="3"/></w:list></w:lists>` +
		`<w:styles><w:style w:type="paragraph" w:styleId="1"><w:name w:val="heading 1"/></w:style></w:styles><w:body><wx:sect>` + body +
		`<w:sectPr><w:hdr w:type="odd"><w:p><w:r><w:t>页眉</w:t></w:r></w:p></w:hdr></w:sectPr></wx:sect></w:body></w:wordDocument>`)
}

func TestDOCXFlat(t *testing.T) {
	t.Parallel()
	path := fileOf(t, "flat.doc", flatDOCX(para(num("1", "0"), "题")+para(num("1", "1"), "甲")+`<w:p><w:r><w:drawing><a:blip r:embed="r7"/></w:drawing></w:r></w:p>`))
	r, kind := formattest.Read(t.Context(), path, format.Options{})
	if r.Err != nil || kind.Name != "docx" {
		t.Fatal(r.Err, kind)
	}
	compare(t, []string{"para1|1．题", "para2|A. 甲", "para3|{a.png}"}, shown(r))
	compare(t, []string{"wrong_extension"}, codes(r))
	for _, c := range []struct {
		name string
		b    []byte
		want string
	}{
		{"torn", flatDOCX("")[:900], "damaged or cut off"},
		{"no text", []byte(`<pkg:package xmlns:pkg="http://schemas.microsoft.com/office/2006/xmlPackage"/>`), "word/document.xml is missing"},
		{"bad bytes", []byte(strings.Replace(string(flatDOCX("")), "<pkg:binaryData>", "<pkg:binaryData>!", 1)), "damaged"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			failsWith(t, fileOf(t, "f.docx", c.b), format.Options{}, c.want)
		})
	}
}

func TestDOCXWord2003(t *testing.T) {
	t.Parallel()
	item := func(list, text string) string {
		return `<w:p><w:pPr><w:listPr><w:ilvl w:val="0"/><w:ilfo w:val="2"/>` + list + `</w:listPr></w:pPr><w:r><w:t>` + text + `</w:t></w:r></w:p>`
	}
	body := `<w:p><w:pPr><w:pStyle w:val="1"/></w:pPr><w:r><w:t>章</w:t></w:r></w:p>` +
		item(`<wx:t wx:val="1、"/>`, "编号已写出") + item("", "编号须计算") + item("", "再一项") +
		`<w:p><w:r><w:t>正</w:t></w:r><aml:annotation w:type="Word.Deletion"><aml:content><w:r><w:delText>删</w:delText></w:r></aml:content></aml:annotation>` +
		`<aml:annotation w:type="Word.Insertion"><aml:content><w:r><w:t>增</w:t></w:r></aml:content></aml:annotation>` +
		`<w:r><aml:annotation w:type="Word.Comment"><aml:content><w:p><w:r><w:t>批注</w:t></w:r></w:p></aml:content></aml:annotation></w:r>` +
		`<w:r><w:footnote><w:p><w:r><w:t>脚注</w:t></w:r></w:p></w:footnote></w:r>` +
		`<w:r><w:pict><w:binData w:name="wordml://02000001.gif">R0lG</w:binData><v:shape><v:imagedata src="wordml://02000001.gif"/></v:shape></w:pict></w:r></w:p>` +
		`<w:tbl><w:tr><w:tc><w:tcPr><w:vmerge w:val="restart"/></w:tcPr><w:p><w:r><w:t>并</w:t></w:r></w:p></w:tc><w:tc><w:p><w:r><w:t>一</w:t></w:r></w:p></w:tc></w:tr>` +
		`<w:tr><w:tc><w:tcPr><w:vmerge/></w:tcPr><w:p/></w:tc><w:tc><w:p><w:r><w:t>二</w:t></w:r></w:p></w:tc></w:tr></w:tbl>`
	r, _ := formattest.Read(t.Context(), fileOf(t, "old.doc", word2003(body)), format.Options{})
	if r.Err != nil {
		t.Fatal(r.Err)
	}
	compare(t, []string{
		"para1|h1|章", "para2|1、 编号已写出", "para3|A. 编号须计算", "para4|B. 再一项", "para5|正增{02000001.gif}",
		"para6 r1|[并|一]", "para8 r2|[并|二]", "part:notes para1|脚注",
	}, shown(r))
	compare(t, []string{"comments_left_out", "wrong_extension"}, codes(r))
}

func TestDOCXAltChunk(t *testing.T) {
	t.Parallel()
	page := `<html><head><meta charset="gb2312"></head><body><h2>节</h2><ol><li>题</li></ol><p><font color="red">A．甲</font></p></body></html>`
	gbk, err := simplifiedchinese.GB18030.NewEncoder().String(page)
	ok(t, err)
	for _, c := range []struct {
		name, part string
		b          []byte
		want       []string
		codes      []string
	}{
		{"page", "c.html", []byte(gbk), []string{"para1|前", "part:word/c.html para1|h2|节", "part:word/c.html para2|1. 题", "part:word/c.html para3|A．甲", "para2|后"}, nil},
		{"web archive", "c.mht", webArchive(page), []string{"para1|前", "part:word/c.mht para1|h2|节", "part:word/c.mht para2|1. 题", "part:word/c.mht para3|A．甲", "para2|后"}, nil},
		{"document", "c.docx", docxBytes(t, para("", "内")+para("", "文"), nil), []string{"para1|前", "part:word/c.docx para1|内", "part:word/c.docx para2|文", "para2|后"}, nil},
		{"text", "c.txt", []byte("一行\r\n二行\r\n"), []string{"para1|前", "part:word/c.txt para1|一行", "part:word/c.txt para2|二行", "para2|后"}, nil},
		{"rtf", "c.rtf", []byte(`{\rtf1 x}`), []string{"para1|前", "para2|后"}, []string{"embedded_document"}},
		{"broken document", "c.docx", []byte("PK\x03\x04"), []string{"para1|前", "para2|后"}, []string{"embedded_document"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			body := para("", "前") + `<w:altChunk r:id="rc"/>` + para("", "后")
			r := readAll(t, fileOf(t, "c.docx", docxBytes(t, body, map[string]string{
				"word/_rels/document.xml.rels": `<Relationships ` + relsNS + `><Relationship Id="rc" Type="` + relURI + `aFChunk" Target="` + c.part + `"/></Relationships>`,
				"word/" + c.part:               string(c.b),
			})))
			compare(t, c.want, shown(r))
			compare(t, c.codes, codes(r))
		})
	}
}

func TestDOCXFormBoxes(t *testing.T) {
	t.Parallel()
	box := func(state string) string {
		return `<w:r><w:fldChar w:fldCharType="begin"><w:ffData><w:name w:val="n"/><w:checkBox>` + state + `</w:checkBox></w:ffData></w:fldChar></w:r><w:r><w:instrText> FORMCHECKBOX </w:instrText></w:r><w:r><w:fldChar w:fldCharType="end"/></w:r>`
	}
	body := `<w:p>` + box(`<w:default w:val="0"/><w:checked/>`) + `<w:r><w:t>甲</w:t></w:r>` + box(`<w:default w:val="1"/>`) + box(`<w:default w:val="1"/><w:checked w:val="0"/>`) + `</w:p>` +
		`<w:p><w:sdt><w:sdtPr><w14:checkbox><w14:checked w14:val="1"/></w14:checkbox></w:sdtPr><w:sdtContent><w:r><w:t>☒</w:t></w:r></w:sdtContent></w:sdt></w:p>` +
		`<w:p><w:r><w:t>注</w:t></w:r><w:r><w:commentReference w:id="0"/></w:r></w:p>`
	r := readAll(t, fileOf(t, "b.docx", docxBytes(t, body, nil)))
	compare(t, []string{"para1|☑甲☑☐", "para2|☒", "para3|注"}, shown(r))
	compare(t, []string{"comments_left_out"}, codes(r))
}

func TestDOCXImagesAndCellLooks(t *testing.T) {
	t.Parallel()
	pic := `<w:r><w:drawing><a:blip r:embed="r7"/></w:drawing></w:r>`
	red := `<w:r><w:rPr><w:color w:val="FF0000"/></w:rPr><w:t>乙</w:t></w:r>`
	raised := `<w:r><w:rPr><w:vertAlign w:val="superscript"/></w:rPr><w:t>3</w:t></w:r>`
	cell := func(s string) string { return `<w:tc><w:p>` + s + `</w:p></w:tc>` }
	text := func(s string) string { return `<w:r><w:t>` + s + `</w:t></w:r>` }
	body := `<w:p>` + text("A．") + pic + text(" B．") + pic + `</w:p>` +
		`<w:tbl><w:tr>` + cell(text("10")+raised+red) + cell(text("图")+pic) + `</w:tr></w:tbl>`
	r := readAll(t, fileOf(t, "i.docx", docxBytes(t, body, map[string]string{
		"word/_rels/document.xml.rels": `<Relationships ` + relsNS + `><Relationship Id="r7" Type="` + relURI + `image" Target="media/i.png"/></Relationships>`,
	})))
	compare(t, []string{"para1|A． B．{i.png}", "para2 r1|[10³乙|图]{i.png}"}, shown(r))
	compare(t, []string{"image i.png", "image i.png", "color FF0000 0:乙", "image i.png 1:"}, marked(r))
	if at := r.Blocks[0].Spans[1].Start; at != len("A． B．") {
		t.Errorf("the second image stands at %d", at)
	}
}

func FuzzDOCXFlat(f *testing.F) {
	f.Add(flatDOCX(para("", "题")))
	f.Add(word2003(`<w:p><w:r><w:t>题</w:t></w:r></w:p>`))
	f.Fuzz(func(t *testing.T, b []byte) {
		r, _ := formattest.Read(t.Context(), fileOf(t, "f.docx", b), format.Options{})
		checkFuzzed(t, r)
	})
}
