package format_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/dataprep/format"
	"github.com/drydock-ml/drydock/dataprep/format/formattest"
	"github.com/drydock-ml/drydock/internal/meter"
)

const odfNS = `xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0" ` +
	`xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0" xmlns:style="urn:oasis:names:tc:opendocument:xmlns:style:1.0" ` +
	`xmlns:fo="urn:oasis:names:tc:opendocument:xmlns:xsl-fo-compatible:1.0" xmlns:draw="urn:oasis:names:tc:opendocument:xmlns:drawing:1.0" ` +
	`xmlns:svg="urn:oasis:names:tc:opendocument:xmlns:svg-compatible:1.0" xmlns:xlink="http://www.w3.org/1999/xlink"`

const odtStyles = `<style:style style:name="B" style:family="text"><style:text-properties fo:font-weight="bold"/></style:style>
<style:style style:name="R" style:family="text" style:parent-style-name="B"><style:text-properties fo:color="#ff0000"/></style:style>
<style:style style:name="U" style:family="text"><style:text-properties style:text-position="super 58%"/></style:style>
<style:style style:name="H" style:family="text"><style:text-properties text:display="none"/></style:style>
<style:style style:name="Q" style:family="paragraph" style:list-style-name="L"/>
<text:list-style style:name="L"><text:list-level-style-number text:level="1" style:num-suffix="、" style:num-format="1"/>
<text:list-level-style-number text:level="2" style:num-suffix="." style:num-format="A"/>
<text:list-level-style-bullet text:level="3" text:bullet-char="-"/></text:list-style>
<text:list-style style:name="C"><text:list-level-style-number text:level="1" style:num-prefix="第" style:num-suffix="条" style:num-format="一, 二, 三, ..."/></text:list-style>`

// odtBytes makes an OpenDocument text of a body and further parts.
func odtBytes(t testing.TB, body string, more ...part) []byte {
	t.Helper()
	parts := append([]part{
		{"mimetype", "application/vnd.oasis.opendocument.text"},
		{"styles.xml", `<?xml version="1.0"?><office:document-styles ` + odfNS + `><office:styles><text:outline-style style:name="Outline"><text:outline-level-style text:level="1" style:num-format=""/><text:outline-level-style text:level="2" style:num-format="1" style:num-suffix="."/></text:outline-style></office:styles></office:document-styles>`},
		{"content.xml", `<?xml version="1.0"?><office:document-content ` + odfNS + `><office:automatic-styles>` + odtStyles + `</office:automatic-styles><office:body><office:text>` + body + `</office:text></office:body></office:document-content>`},
	}, more...)
	return storedZip(t, parts...)
}

func TestODTText(t *testing.T) {
	t.Parallel()
	p := func(s string) string { return "<text:p>" + s + "</text:p>" }
	list := func(style string, items ...string) string {
		return `<text:list text:style-name="` + style + `"><text:list-item>` + strings.Join(items, "</text:list-item><text:list-item>") + `</text:list-item></text:list>`
	}
	for _, c := range []struct {
		name, body string
		want       []string
	}{
		{"headings", `<text:h text:outline-level="1">总则</text:h><text:h text:outline-level="2">适用</text:h><text:h text:outline-level="2">定义</text:h>`, []string{"para1|h1|总则", "para2|h2|1. 适用", "para3|h2|2. 定义"}},
		{"blanks", p("  a \n b<text:s text:c=\"3\"/>c<text:tab/>d ") + p("") + p("甲<text:line-break/>乙"), []string{"para1|a b   c\td", "para2|", "para3 l1|甲", "para3 l2|乙"}},
		{
			"lists", list("L", p("题一")+list("", p("甲"), p("乙")), p("题二")+p("续")) + list("L", p("另起")) +
				`<text:list text:style-name="L" text:continue-numbering="true"><text:list-item text:start-value="7">` + p("七") + `</text:list-item><text:list-header>` + p("无号") + `</text:list-header><text:list-item>` + p("八") + `</text:list-item></text:list>`,
			[]string{"para1|1、题一", "para2|A. 甲", "para3|B. 乙", "para4|2、题二", "para5|续", "para6|1、另起", "para7|7、七", "para8|无号", "para9|8、八"},
		},
		{"list of the paragraph's style", `<text:list><text:list-item><text:p text:style-name="Q">题</text:p></text:list-item></text:list>` + list("C", p("适用"), p("第二条 已有")), []string{"para1|1、题", "para2|第一条 适用", "para3|第二条 已有"}},
		{
			"table", `<table:table><table:table-column/><table:table-header-rows><table:table-row><table:table-cell>` + p("题") + `</table:table-cell><table:table-cell>` + p("答") + `</table:table-cell></table:table-row></table:table-header-rows>` +
				`<table:table-row><table:table-cell table:number-rows-spanned="2">` + p("章") + `</table:table-cell><table:table-cell>` + p(`10<text:span text:style-name="U">3</text:span>`) + p("二") + `</table:table-cell></table:table-row>` +
				`<table:table-row><table:covered-table-cell/><table:table-cell>` + list("L", p("b")) + `</table:table-cell></table:table-row>` +
				`<table:table-row><table:table-cell table:number-columns-spanned="2">` + p("宽") + `</table:table-cell><table:covered-table-cell/></table:table-row></table:table>`,
			[]string{"para1 r1|[题|答]", "para3 r2|[章|10³\n二]", "para6 r3|[章|1、b]", "para7 r4|[宽|]"},
		},
		{"table of one cell", `<table:table><table:table-row><table:table-cell>` + p("框") + `</table:table-cell></table:table-row></table:table>`, []string{"para1|框"}},
		{"table in a table", `<table:table><table:table-row><table:table-cell>` + p("外") + `<table:table><table:table-row><table:table-cell>` + p("内") + `</table:table-cell><table:table-cell>` + p("层") + `</table:table-cell></table:table-row></table:table></table:table-cell><table:table-cell>` + p("右") + `</table:table-cell></table:table-row></table:table>`, []string{"para1 r1|[外|右]", "para2 l1 r1|[内|层]"}},
		{"tracked changes", `<text:tracked-changes><text:changed-region><text:deletion>` + p("删去") + `</text:deletion></text:changed-region></text:tracked-changes>` + p(`留<text:change text:change-id="a"/>下<office:annotation>`+p("批注")+`</office:annotation>`), []string{"para1|留下"}},
		{"notes and boxes", p(`文<text:note text:note-class="footnote"><text:note-citation>1</text:note-citation><text:note-body>`+p("注释")+`</text:note-body></text:note>后`) + p(`框<draw:frame><draw:text-box>`+p("框内")+`</draw:text-box></draw:frame>`), []string{"para1|文后", "para2|框", "para3|框内", "part:notes para1|注释"}},
		{"figure", p(`见<draw:frame><draw:image xlink:href="Pictures/a.png"/><svg:title>t</svg:title></draw:frame>`), []string{"para1|见{a.png}"}},
		{"formula", p(`设<draw:frame><draw:object xlink:href="./Object 1"/><draw:image xlink:href="./ObjectReplacements/Object 1"/></draw:frame>。`), []string{"para1|设$\\frac{a}{b}$。"}},
		{"section and link", `<text:section text:name="s">` + p(`<text:a xlink:href="http://x">链</text:a><text:ruby><text:ruby-base>锚</text:ruby-base><text:ruby-text>mao</text:ruby-text></text:ruby>`) + `</text:section>`, []string{"para1|链锚"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := odtBytes(t, c.body, part{"Object 1/content.xml", `<math xmlns="http://www.w3.org/1998/Math/MathML"><mfrac><mi>a</mi><mi>b</mi></mfrac></math>`})
			compare(t, c.want, shown(readAll(t, fileOf(t, "t.odt", b))))
		})
	}
}

func TestODTSpans(t *testing.T) {
	t.Parallel()
	r := readAll(t, fileOf(t, "s.odt", odtBytes(t, `<text:list text:style-name="L"><text:list-item><text:p>选 <text:span text:style-name="R">红<text:span text:style-name="U">2</text:span></text:span><text:span text:style-name="H">藏</text:span></text:p></text:list-item></text:list>`)))
	b := r.Blocks[0]
	var got []string
	for _, s := range b.Spans {
		got = append(got, string('0'+rune(s.Kind))+s.Value+":"+b.Text[s.Start:s.End])
	}
	compare(t, []string{"1:红2", "2FF0000:红2", "4:2"}, got)
	compare(t, []string{"hidden_text"}, codes(r))
	if b.Text != "1、选 红2藏" || b.Spans[0].Kind != drydock.Bold {
		t.Errorf("%q", b.Text)
	}
}

func TestODTContract(t *testing.T) {
	t.Parallel()
	body := `<text:h text:outline-level="1">总则</text:h><text:p>一<text:note><text:note-body><text:p>注</text:p></text:note-body></text:note></text:p>` +
		`<table:table><table:table-row><table:table-cell><text:p>a</text:p></table:table-cell><table:table-cell><text:p>b</text:p></table:table-cell></table:table-row></table:table>`
	formattest.Run(t, named(t, "odt"), fileOf(t, "c.odt", odtBytes(t, body)))
}

func TestODTRefused(t *testing.T) {
	t.Parallel()
	lock := part{"META-INF/manifest.xml", `<manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"><manifest:file-entry manifest:full-path="content.xml"><manifest:encryption-data/></manifest:file-entry></manifest:manifest>`}
	failsWith(t, fileOf(t, "p.odt", odtBytes(t, "", lock)), format.Options{}, "encrypted with a password")
	failsWith(t, fileOf(t, "s.ods", storedZip(t, part{"mimetype", "application/vnd.oasis.opendocument.spreadsheet"}, part{"content.xml", "<x/>"})), format.Options{}, "neither text nor a workbook")
	compare(t, []string{"no_text"}, codes(readAll(t, fileOf(t, "e.odt", odtBytes(t, "")))))
}

func FuzzODT(f *testing.F) {
	f.Add([]byte(`<text:list text:style-name="L"><text:list-item><text:p>a<text:note><text:p>b</text:p></text:note></text:p></text:list-item></text:list>`))
	f.Add([]byte(`<table:table><table:table-row><table:table-cell table:number-rows-spanned="9" table:number-columns-repeated="9"/><table:covered-table-cell/></table:table-row><table:table-row><table:covered-table-cell/></table:table-row></table:table>`))
	f.Fuzz(func(t *testing.T, body []byte) {
		r, _ := formattest.Read(t.Context(), fileOf(t, "f.odt", odtBytes(t, string(body))), format.Options{})
		checkFuzzed(t, r)
	})
}

func BenchmarkODT(b *testing.B) {
	body := strings.Repeat(`<text:p>船舶在能见度不良的水域中航行时，应以<text:span text:style-name="B">安全航速</text:span>行驶。</text:p>`, 10_000)
	path := filepath.Join(b.TempDir(), "b.odt")
	if err := os.WriteFile(path, odtBytes(b, body), 0o644); err != nil {
		b.Fatal(err)
	}
	defer meter.CPU(b, len(body))()
	for b.Loop() {
		if r, _ := formattest.Read(b.Context(), path, format.Options{}); len(r.Blocks) != 10_000 || r.Err != nil {
			b.Fatal(len(r.Blocks), r.Err)
		}
	}
}
