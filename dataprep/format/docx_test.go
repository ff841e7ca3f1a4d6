package format_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/dataprep/format"
	"github.com/drydock-ml/drydock/dataprep/format/formattest"
	"github.com/drydock-ml/drydock/internal/golden"
	"github.com/drydock-ml/drydock/internal/meter"
)

const questionNumbering = `<w:numbering ` + wordNS + `>
<w:abstractNum w:abstractNumId="0">
 <w:lvl w:ilvl="0"><w:start w:val="1"/><w:numFmt w:val="decimal"/><w:lvlText w:val="%1．"/></w:lvl>
 <w:lvl w:ilvl="1"><w:start w:val="1"/><w:numFmt w:val="upperLetter"/><w:lvlText w:val="%2."/></w:lvl>
 <w:lvl w:ilvl="2"><w:start w:val="1"/><w:numFmt w:val="decimalEnclosedCircle"/><w:lvlText w:val="%3"/><w:suff w:val="nothing"/></w:lvl>
</w:abstractNum>
<w:abstractNum w:abstractNumId="1">
 <w:lvl w:ilvl="0"><w:start w:val="1"/><w:numFmt w:val="chineseCounting"/><w:lvlText w:val="第%1章"/><w:pStyle w:val="Chapter"/></w:lvl>
 <w:lvl w:ilvl="1"><w:start w:val="1"/><w:numFmt w:val="decimal"/><w:lvlText w:val="%1.%2"/><w:isLgl/></w:lvl>
</w:abstractNum>
<w:abstractNum w:abstractNumId="2"><w:lvl w:ilvl="0"><w:numFmt w:val="bullet"/><w:lvlText w:val="&#xF0B7;"/></w:lvl></w:abstractNum>
<w:abstractNum w:abstractNumId="3"><w:numStyleLink w:val="ListStyle"/></w:abstractNum>
<w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num>
<w:num w:numId="2"><w:abstractNumId w:val="1"/></w:num>
<w:num w:numId="3"><w:abstractNumId w:val="2"/></w:num>
<w:num w:numId="4"><w:abstractNumId w:val="0"/><w:lvlOverride w:ilvl="0"><w:startOverride w:val="5"/></w:lvlOverride></w:num>
<w:num w:numId="5"><w:abstractNumId w:val="3"/></w:num>
</w:numbering>`

const questionStyles = `<w:styles ` + wordNS + `>
<w:style w:type="paragraph" w:styleId="Chapter"><w:name w:val="heading 1"/><w:pPr><w:numPr><w:numId w:val="2"/></w:numPr></w:pPr></w:style>
<w:style w:type="paragraph" w:styleId="Sub"><w:name w:val="My Sub"/><w:basedOn w:val="H2"/></w:style>
<w:style w:type="paragraph" w:styleId="H2"><w:name w:val="标题 2"/></w:style>
<w:style w:type="numbering" w:styleId="ListStyle"><w:name w:val="x"/><w:pPr><w:numPr><w:numId w:val="1"/></w:numPr></w:pPr></w:style>
<w:style w:type="character" w:styleId="Right"><w:name w:val="r"/><w:rPr><w:color w:val="ff0000"/></w:rPr></w:style>
</w:styles>`

func TestDOCXNumbering(t *testing.T) {
	t.Parallel()
	body := para(`<w:pStyle w:val="Chapter"/>`, "总则") +
		para(num("1", "0"), "首题") + para(num("1", "1"), "甲") + para(num("1", "1"), "乙") +
		para(num("1", "0"), "2．已有题号") + para(num("1", "1"), "A、已有字母") + para(num("1", "1"), "2.5米浪高") +
		para(num("1", "2"), "其一") + para(num("1", "2"), "其二") +
		para(`<w:pStyle w:val="Chapter"/>`, "航行规则") + para(num("2", "1"), "分节") +
		para(num("4", "0"), "从五起") + para(num("1", "0"), "接着数") +
		para(num("3", "0"), "圆点") + para(num("0", "0"), "不编号") +
		para(num("5", "0"), "经样式") + para(num("1", "0"), "") + para(`<w:pStyle w:val="Sub"/>`, "小节")
	path := fileOf(t, "n.docx", docxBytes(t, body, map[string]string{
		"word/numbering.xml": questionNumbering, "word/styles.xml": questionStyles,
	}))
	compare(t, []string{
		"para1|h1|第一章 总则",
		"para2|1．首题", "para3|A. 甲", "para4|B. 乙",
		"para5|2．已有题号", "para6|A、已有字母", "para7|B. 2.5米浪高",
		"para8|①其一", "para9|②其二",
		"para10|h1|第二章 航行规则", "para11|2.1 分节",
		"para12|5．从五起", "para13|6．接着数",
		"para14|• 圆点", "para15|不编号",
		"para16|7．经样式", "para17|", "para18|h2|小节",
	}, shown(readAll(t, path)))
}

func TestDOCXText(t *testing.T) {
	t.Parallel()
	run := func(props, text string) string {
		return `<w:r><w:rPr>` + props + `</w:rPr><w:t>` + text + `</w:t></w:r>`
	}
	for _, c := range []struct {
		name, body string
		want       []string
	}{
		{"tab and break", `<w:p><w:r><w:t>A．一</w:t><w:tab/><w:t>B．二</w:t><w:br/><w:t>C．三</w:t></w:r></w:p>`, []string{"para1 l1|A．一\tB．二", "para1 l2|C．三"}},
		{"page break", `<w:p><w:r><w:br w:type="page"/><w:t>新页</w:t></w:r></w:p>`, []string{"para1|新页"}},
		{"tracked", `<w:p><w:ins><w:r><w:t>增</w:t></w:r></w:ins><w:del><w:r><w:delText>删</w:delText></w:r></w:del><w:r><w:t>留</w:t></w:r></w:p>`, []string{"para1|增留"}},
		{"deleted mark", `<w:p><w:pPr><w:rPr><w:del/></w:rPr></w:pPr><w:r><w:t>前</w:t></w:r></w:p><w:p><w:r><w:t>后</w:t></w:r></w:p>`, []string{"para1|前后"}},
		{"deleted paragraph", `<w:p><w:pPr><w:rPr><w:del/></w:rPr></w:pPr><w:del><w:r><w:delText>无</w:delText></w:r></w:del></w:p><w:p><w:r><w:t>有</w:t></w:r></w:p>`, []string{"para1|有"}},
		{"field", `<w:p><w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText> PAGE </w:instrText></w:r><w:r><w:t>code</w:t></w:r><w:r><w:fldChar w:fldCharType="separate"/></w:r><w:r><w:t>12</w:t></w:r><w:r><w:fldChar w:fldCharType="end"/></w:r><w:r><w:t>页</w:t></w:r></w:p>`, []string{"para1|12页"}},
		{"link and control", `<w:p><w:hyperlink><w:r><w:t>链</w:t></w:r></w:hyperlink><w:sdt><w:sdtPr><w:alias w:val="x"/></w:sdtPr><w:sdtContent><w:r><w:t>接</w:t></w:r></w:sdtContent></w:sdt></w:p>`, []string{"para1|链接"}},
		{"table", `<w:tbl><w:tr><w:tc><w:p><w:r><w:t>题号</w:t></w:r></w:p></w:tc><w:tc><w:p><w:r><w:t>答案</w:t></w:r></w:p><w:p><w:r><w:t>注</w:t></w:r></w:p></w:tc></w:tr></w:tbl>`, []string{"para1 r1|[题号|答案\n注]"}},
		{"box", `<w:tbl><w:tr><w:tc><w:p><w:r><w:t>1．题</w:t></w:r></w:p><w:p><w:r><w:t>A．甲</w:t></w:r></w:p></w:tc></w:tr></w:tbl>`, []string{"para1|1．题", "para2|A．甲"}},
		{"merged", `<w:tbl><w:tr><w:tc><w:tcPr><w:vMerge w:val="restart"/></w:tcPr><w:p><w:r><w:t>章</w:t></w:r></w:p></w:tc><w:tc><w:tcPr><w:gridSpan w:val="2"/></w:tcPr><w:p><w:r><w:t>宽</w:t></w:r></w:p></w:tc></w:tr><w:tr><w:tc><w:tcPr><w:vMerge/></w:tcPr><w:p/></w:tc><w:tc><w:p><w:r><w:t>b</w:t></w:r></w:p></w:tc><w:tc><w:p><w:r><w:t>c</w:t></w:r></w:p></w:tc></w:tr></w:tbl>`, []string{"para1 r1|[章|宽|]", "para3 r2|[章|b|c]"}},
		{"nested table", `<w:tbl><w:tr><w:tc><w:p><w:r><w:t>外</w:t></w:r></w:p><w:tbl><w:tr><w:tc><w:p><w:r><w:t>内1</w:t></w:r></w:p></w:tc><w:tc><w:p><w:r><w:t>内2</w:t></w:r></w:p></w:tc></w:tr></w:tbl></w:tc><w:tc><w:p><w:r><w:t>右</w:t></w:r></w:p></w:tc></w:tr></w:tbl>`, []string{"para1 r1|[外|右]", "para2 l1 r1|[内1|内2]"}},
		{"table first in a cell", `<w:tbl><w:tr><w:tc><w:tbl><w:tr><w:tc><w:p/></w:tc><w:tc><w:p/></w:tc></w:tr></w:tbl><w:p/></w:tc><w:tc><w:p/></w:tc></w:tr></w:tbl><w:p><w:r><w:t>文</w:t></w:r></w:p>`, []string{"para1 r1|[|]", "para1 l1 r1|[|]", "para5|文"}},
		{"raised in a cell", `<w:tbl><w:tr><w:tc><w:p>` + run("", "10") + run(`<w:vertAlign w:val="superscript"/>`, "3") + `</w:p></w:tc><w:tc><w:p>` + run("", "H") + run(`<w:vertAlign w:val="subscript"/>`, "2") + run("", "O") + `</w:p></w:tc></w:tr></w:tbl>`, []string{"para1 r1|[10³|H₂O]"}},
		{"formula", `<w:p><w:r><w:t>GM=</w:t></w:r><m:oMath><m:f><m:num><m:r><m:t>M</m:t></m:r></m:num><m:den><m:r><m:t>Δ</m:t></m:r><m:sSup><m:e><m:r><m:t>x</m:t></m:r></m:e><m:sup><m:r><m:t>2</m:t></m:r></m:sup></m:sSup></m:den></m:f><m:rad><m:deg/><m:e><m:r><m:t>a+b</m:t></m:r></m:e></m:rad></m:oMath></w:p>`, []string{"para1|GM=$\\frac{M}{\\Delta x^{2}}\\sqrt{a+b}$"}},
		{"figure", `<w:p><w:r><w:t>见图</w:t><w:drawing><a:blip r:embed="rId7"/></w:drawing></w:r></w:p>`, []string{"para1|见图{image3.png}"}},
		{"text box once", `<w:p><w:r><mc:AlternateContent><mc:Choice><w:txbxContent><w:p><w:r><w:t>框</w:t></w:r></w:p></w:txbxContent></mc:Choice><mc:Fallback><w:pict><v:textbox><w:txbxContent><w:p><w:r><w:t>框</w:t></w:r></w:p></w:txbxContent></v:textbox></w:pict></mc:Fallback></mc:AlternateContent><w:t>正文</w:t></w:r></w:p>`, []string{"para1|正文", "para2|框"}},
		{"symbol", `<w:p><w:r><w:sym w:font="Wingdings" w:char="F0FC"/><w:noBreakHyphen/></w:r></w:p>`, []string{"para1|✓-"}},
		{"ruby", `<w:p><w:r><w:ruby><w:rt><w:r><w:t>mao</w:t></w:r></w:rt><w:rubyBase><w:r><w:t>锚</w:t></w:r></w:rubyBase></w:ruby></w:r></w:p>`, []string{"para1|锚"}},
		{"unknown wrapper", `<w:customXml><w:p><w:smartTag><w:r><w:t>在</w:t></w:r></w:smartTag></w:p></w:customXml>`, []string{"para1|在"}},
		{"footnote", `<w:p><w:r><w:t>正</w:t><w:footnoteReference w:id="2"/></w:r></w:p>`, []string{"para1|正", "part:word/footnotes.xml para1|注二"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			path := fileOf(t, "t.docx", docxBytes(t, c.body, map[string]string{
				"word/_rels/document.xml.rels": `<Relationships ` + relsNS + `><Relationship Id="rId7" Type="` + relURI + `image" Target="media/image3.png"/></Relationships>`,
				"word/footnotes.xml":           `<w:footnotes ` + wordNS + `><w:footnote w:id="1"><w:p><w:r><w:t>注一</w:t></w:r></w:p></w:footnote><w:footnote w:id="2"><w:p><w:r><w:t>注二</w:t></w:r></w:p></w:footnote></w:footnotes>`,
			}))
			compare(t, c.want, shown(readAll(t, path)))
		})
	}
}

func TestDOCXSpans(t *testing.T) {
	t.Parallel()
	body := `<w:p><w:r><w:t>A．</w:t></w:r><w:r><w:rPr><w:rStyle w:val="Right"/><w:b/></w:rPr><w:t>安全</w:t></w:r><w:r><w:rPr><w:b/><w:color w:val="FF0000"/></w:rPr><w:t>航速</w:t></w:r>` +
		`<w:r><w:rPr><w:b w:val="0"/><w:vertAlign w:val="superscript"/></w:rPr><w:t>2</w:t></w:r><w:r><w:rPr><w:highlight w:val="yellow"/><w:u w:val="single"/></w:rPr><w:t>黄</w:t></w:r></w:p>`
	r := readAll(t, fileOf(t, "s.docx", docxBytes(t, body, map[string]string{"word/styles.xml": questionStyles})))
	var got []string
	b := r.Blocks[0]
	for _, s := range b.Spans {
		got = append(got, string('0'+rune(s.Kind))+s.Value+":"+b.Text[s.Start:s.End])
	}
	kind := func(k drydock.SpanKind) string { return string('0' + rune(k)) }
	compare(t, []string{
		kind(drydock.Bold) + ":安全航速", kind(drydock.Color) + "FF0000:安全航速", kind(drydock.Superscript) + ":2",
		kind(drydock.Underline) + ":黄", kind(drydock.Color) + "FFFF00:黄",
	}, got)
}

func TestDOCXBroken(t *testing.T) {
	t.Parallel()
	good := docxBytes(t, para("", "正文"), nil)
	ole := append([]byte("\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1"), make([]byte, 2048)...)
	locked := append(bytes.Clone(ole), "E\x00n\x00c\x00r\x00y\x00p\x00t\x00e\x00d\x00P\x00a\x00c\x00k\x00a\x00g\x00e\x00"...)
	for _, c := range []struct {
		name string
		file []byte
		o    format.Options
		want string
	}{
		{"cut", good[:len(good)-30], format.Options{}, "cut off"},
		{"no document", docxBytes(t, "", map[string]string{"word/document.xml": "", "word/other.xml": "<x/>"}), format.Options{}, "word/document.xml is missing"},
		{"torn xml", docxBytes(t, `<w:p><w:r><w:t>半`, map[string]string{"word/document.xml": `<w:document ` + wordNS + `><w:body><w:p><w:r><w:t>半`}), format.Options{}, "unexpected EOF"},
		{"not a document", docxBytes(t, "", map[string]string{"word/document.xml": `<html><p>x</p></html>`}), format.Options{}, "begins with <html>"},
		{"old", ole, format.Options{}, "old Office file"},
		{"encrypted", locked, format.Options{}, "encrypted with a password"},
		{"wrong password", locked, format.Options{Password: "x"}, "password does not open"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			failsWith(t, fileOf(t, "b.docx", c.file), c.o, c.want)
		})
	}
	t.Run("no text", func(t *testing.T) {
		t.Parallel()
		r := readAll(t, fileOf(t, "e.docx", docxBytes(t, `<w:p/>`, nil)))
		compare(t, []string{"no_text"}, codes(r))
	})
	t.Run("deep", func(t *testing.T) {
		t.Parallel()
		deep := strings.Repeat("<w:tbl><w:tr><w:tc>", 5000)
		failsWith(t, fileOf(t, "d.docx", docxBytes(t, deep, nil)), format.Options{}, "nest deeper")
	})
}

func TestDOCXRealBank(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]int{"单选题": 441, "判断题": 423} {
		r := readAll(t, golden.RealData(t, "docx-bank-zh", name+".docx"))
		n := 0
		for _, b := range r.Blocks {
			if strings.HasPrefix(b.Text, "正确答案") {
				n++
			}
		}
		if n != want {
			t.Errorf("%s: %d answer lines, want %d", name, n, want)
		}
	}
}

func FuzzDOCX(f *testing.F) {
	f.Add([]byte(para(num("1", "0"), "首题") + `<w:tbl><w:tr><w:tc><w:p/></w:tc><w:tc><w:tbl/></w:tc></w:tr></w:tbl>`))
	f.Add([]byte(`<w:p><m:oMath><m:nary><m:sub/></m:nary></m:oMath><w:r><w:br/><w:fldChar w:fldCharType="end"/></w:r>`))
	f.Fuzz(func(t *testing.T, body []byte) {
		path := fileOf(t, "f.docx", docxBytes(t, string(body), map[string]string{
			"word/numbering.xml": questionNumbering, "word/styles.xml": questionStyles,
		}))
		r, _ := formattest.Read(t.Context(), path, format.Options{})
		checkFuzzed(t, r)
	})
}

func BenchmarkDOCX(b *testing.B) {
	var body strings.Builder
	for range 5000 {
		body.WriteString(para(num("1", "0"), "船舶在能见度不良的水域中航行时，应以适合当时环境的安全航速行驶。") + para(num("1", "1"), "备车"))
	}
	file := docxBytes(b, body.String(), map[string]string{"word/numbering.xml": questionNumbering})
	path := fileOf(b, "b.docx", file)
	defer meter.CPU(b, body.Len())()
	for b.Loop() {
		if r, _ := formattest.Read(b.Context(), path, format.Options{}); len(r.Blocks) != 10000 || r.Err != nil {
			b.Fatal(len(r.Blocks), r.Err)
		}
	}
}
