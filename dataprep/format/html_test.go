package format_test

import (
	"bytes"
	"strings"
	"testing"

	"golang.org/x/text/encoding/simplifiedchinese"

	"github.com/drydock-ml/drydock/dataprep/format"
	"github.com/drydock-ml/drydock/dataprep/format/formattest"
	"github.com/drydock-ml/drydock/internal/golden"
	"github.com/drydock-ml/drydock/internal/meter"
)

func TestHTMLText(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, body string
		want       []string
	}{
		{"paragraphs", "<h2>第五条 瞭望</h2><p>每一船舶\n应始终保持</p>文字<div>块</div>", []string{"para1|h2|第五条 瞭望", "para2|每一船舶应始终保持", "para3|文字", "para4|块"}},
		{"blanks", "<p>  a \n b&nbsp;c </p>", []string{"para1|a b c"}},
		{"breaks", "1. 题<br>A. 甲<br/>B. 乙<br><br>2. 题", []string{"para1|1. 题", "para2|A. 甲", "para3|B. 乙", "para4|", "para5|2. 题"}},
		{"lists", `<ol><li>一<ol type="A"><li>甲</li><li>乙</li></ol></li><li><p>二</p></li></ol><ul><li>点</li></ul><ol start="7"><li>七</li><li value="9">九</li></ol><ol reversed><li>c</li><li>b</li></ol>`, []string{"para1|1. 一", "para2|A. 甲", "para3|B. 乙", "para4|2. 二", "para5|• 点", "para6|7. 七", "para7|9. 九", "para8|2. c", "para9|1. b"}},
		{"list numbered twice", `<ol><li>1. 已有</li><li>2.5米</li></ol><ul style="list-style: none"><li>无</li></ul><ol style="list-style-type:cjk-ideographic"><li>甲</li></ol>`, []string{"para1|1. 已有", "para2|2. 2.5米", "para3|无", "para4|一、甲"}},
		{"table", `<table><caption>表</caption><thead><tr><th>题</th><th>答</th></tr></thead><tbody><tr><td rowspan=2>章</td><td>10<sup>3</sup></td></tr><tr><td>b<br>c</td></tr><tr><td colspan=2>宽</td></tr></tbody></table>`, []string{"para1|表", "para2|[题|答]", "para3|[章|10³]", "para4|[章|b\nc]", "para5|[宽|]"}},
		{"layout table", `<table><tr><td><p>左</p><table><tr><td>1</td><td>2</td></tr></table></td><td>右</td></tr></table>`, []string{"para1|左", "para2|[1|2]", "para3|右"}},
		{"left out", `<script>x</script><style>y</style><nav>菜单</nav><header>栏</header><p>文</p><footer>脚</footer><p hidden>藏</p><p style="display: none">藏</p><!-- c -->`, []string{"para1|文"}},
		{"hidden answers", `<p>1. 题</p><div style="display:none">正确答案：<b>A</b><span hidden>解析：略</span></div><p hidden>藏</p>`, []string{"para1|1. 题", "para2|正确答案：A", "para3|解析：略"}},
		{"aside", `<p>文</p><aside><h3>推荐</h3><ul><li><a href="/1">船长考试经验谈</a></li></ul></aside><aside><p>旁注。</p></aside>`, []string{"para1|文", "para2|旁注。"}},
		{"title in header", `<header><h1>题名</h1></header><article><header>节首</header></article>`, []string{"para1|h1|题名", "para2|节首"}},
		{"pre", "<pre>a  b\n c</pre>", []string{"para1|a  b", "para2| c"}},
		{"figure", `<p>见图 <img src="/img/D032.gif?x=1" alt="z"></p>`, []string{"para1|见图{D032.gif}"}},
		{"ruby and entity", `<ruby>锚<rp>(</rp><rt>mao</rt></ruby>&ge;3 &#x2103; &amp;lt;`, []string{"para1|锚≥3 ℃ &lt;"}},
		{"math", `<math><mfrac><mi>a</mi><mrow><mi>b</mi><mo>+</mo><mn>1</mn></mrow></mfrac></math>`, []string{"para1|$\\frac{a}{b+1}$"}},
		{"unclosed", `<p>一<p>二<b>三<div>四`, []string{"para1|一", "para2|二三", "para3|四"}},
		{"definition list", `<dl><dt>词</dt><dd>义</dd></dl><select><option>甲<option>乙</select>`, []string{"para1|词", "para2|义", "para3|甲", "para4|乙"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			compare(t, c.want, shown(readAll(t, fileOf(t, "t.html", []byte("<html><body>"+c.body+"</body></html>")))))
		})
	}
}

func TestHTMLSpans(t *testing.T) {
	t.Parallel()
	r := readAll(t, fileOf(t, "s.html", []byte(`<!DOCTYPE html><p><b>粗 <font color="red">红</font></b>x<sup>2</sup><span style="color:#0a0; text-decoration: underline">绿</span></p></html>`)))
	b := r.Blocks[0]
	var got []string
	for _, s := range b.Spans {
		got = append(got, string('0'+rune(s.Kind))+s.Value+":"+b.Text[s.Start:s.End])
	}
	compare(t, []string{"1:粗 红", "2FF0000:红", "4:2", "5:绿", "200AA00:绿"}, got)
}

func TestHTMLEncodings(t *testing.T) {
	t.Parallel()
	page := `<html><head><meta charset="gb2312"></head><body><p>船舶在雾中航行时，应以安全航速行驶，并鸣放雾号。</p></body></html>`
	gbk, err := simplifiedchinese.GB18030.NewEncoder().String(page)
	ok(t, err)
	short, err := simplifiedchinese.GB18030.NewEncoder().String(`<html><head><meta http-equiv="Content-Type" content="text/html; charset=gbk"></head><body>罱</body></html>`)
	ok(t, err)
	for _, c := range []struct{ name, page, want string }{
		{"declared and true", gbk, "船舶在雾中航行时，应以安全航速行驶，并鸣放雾号。"},
		{"declared, but UTF-8", page, "船舶在雾中航行时，应以安全航速行驶，并鸣放雾号。"},
		{"one character", short, "罱"},
		{"mark", "\xEF\xBB\xBF<html><body>é</body></html>", "é"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := readAll(t, fileOf(t, "e.html", []byte(c.page)))
			if len(r.Blocks) != 1 || r.Blocks[0].Text != c.want {
				t.Errorf("%q", shown(r))
			}
		})
	}
}

func TestHTMLNotes(t *testing.T) {
	t.Parallel()
	for page, want := range map[string][]string{
		"<html><body><script>go()</script></body></html>": {"no_text"},
		"<html><body><p>文":                                {"torn_page"},
		"<html><nav>菜单</nav><p>文<p hidden>x</html>":       {"hidden_text", "navigation_left_out"},
		"<html><p>\xff坏字在此文中</html>":                      {"invalid_bytes"},
	} {
		compare(t, want, codes(readAll(t, fileOf(t, "n.html", []byte(page)))))
	}
	deep := "<html>" + strings.Repeat("<div>", 100_000) + "底</html>"
	r, _ := formattest.Read(t.Context(), fileOf(t, "d.html", []byte(deep)), format.Options{})
	if r.Err == nil && len(r.Blocks) != 1 {
		t.Errorf("a deep page gave %d blocks", len(r.Blocks))
	}
}

func TestHTMLReal(t *testing.T) {
	t.Parallel()
	r := readAll(t, golden.RealData(t, "debian-docs-zh", "debian-edu-bullseye-manual.html"))
	headings := 0
	for _, b := range r.Blocks {
		if b.Level > 0 {
			headings++
		}
	}
	if headings < 50 || len(r.Blocks) < 1000 {
		t.Errorf("%d headings in %d blocks", headings, len(r.Blocks))
	}
}

func FuzzHTML(f *testing.F) {
	f.Add([]byte("<html><ol><li>1<table><tr><td rowspan=9>a<td>b</table><b>x<sup>y</html>"))
	f.Add([]byte("<html><table><tr><td colspan=99><li><pre>\n\n</pre><math><msup></math>"))
	f.Fuzz(func(t *testing.T, page []byte) {
		path := fileOf(t, "f.html", append(bytes.Clone([]byte("<html>")), page...))
		r, _ := formattest.Read(t.Context(), path, format.Options{})
		checkFuzzed(t, r)
	})
}

func BenchmarkHTML(b *testing.B) {
	page := "<html><body>" + strings.Repeat("<p>船舶在能见度不良的水域中航行时，应以<b>安全航速</b>行驶。</p><ol><li>备车</li></ol>", 5000) + "</body></html>"
	path := fileOf(b, "b.html", []byte(page))
	defer meter.CPU(b, len(page))()
	for b.Loop() {
		if r, _ := formattest.Read(b.Context(), path, format.Options{}); len(r.Blocks) != 10000 || r.Err != nil {
			b.Fatal(len(r.Blocks), r.Err)
		}
	}
}
