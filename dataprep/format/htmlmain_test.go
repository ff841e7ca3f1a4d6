package format_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/drydock-ml/drydock/dataprep/format"
	"github.com/drydock-ml/drydock/dataprep/format/formattest"
)

const around = `<div class="topbar"><ul class="menu"><li><a href="/a">首页</a></li><li><a href="/b">题库</a></li><li><a href="/c">考试</a></li><li><a href="/d">登录</a></li></ul></div>` +
	`<div class="sidebar"><h3>推荐</h3><p>更多试题见此</p></div>` +
	`<div class="hot"><ul><li><a href="/1">1. 下列船舶（ ）</a></li><li><a href="/2">2. 号灯</a></li><li><a href="/3">3. 号型</a></li><li><a href="/4">4. 声号</a></li></ul></div>` +
	`<div id="comments"><p>用户甲：这题谁能解释一下？我看了很久也没有弄明白。</p></div>`

func TestHTMLMain(t *testing.T) {
	t.Parallel()
	prose := strings.Repeat("<p>船舶在任何时候都应以安全航速行驶。</p>", 20)
	for _, c := range []struct {
		name, body string
		want       string // first block and last, and how many
		left       bool
	}{
		{"article among other things", around + `<div class="content">` + prose + `</div>`, "20 船舶在 船舶在", true},
		{"article element", `<div>导语在外</div><article>` + prose + `</article><div>版权声明文字</div>`, "20 船舶在 船舶在", true},
		{"small article element", `<article><p>推荐一篇</p></article><div>` + prose + `</div>`, "21 推荐一 船舶在", false},
		{"nothing around", `<div class="content">` + prose + `</div>`, "20 船舶在 船舶在", false},
		{"page of links", `<ul>` + strings.Repeat(`<li><a href="/x">第一章 总则</a></li>`, 9) + `</ul>`, "9 • 第 • 第", false},
		{"contents of the page itself", `<ul>` + strings.Repeat(`<li><a href="#x">第一节 瞭望</a></li>`, 9) + `</ul>` + prose, "29 • 第 船舶在", false},
		{"bank named as a side column", `<div class="sidebar"><p>1. 雾号（ ）</p><p>A. 一长声</p></div>` + prose, "22 1. 船舶在", false},
		{"bank outside the article", `<article>` + prose + `</article><div><p>1. 雾号是？</p><p>A. 一长声</p><p>答案：A</p></div>`, "23 船舶在 答案：", false},
		{"bank in a form", `<form class="login">` + strings.Repeat(`<label><input type="radio" name="a">是</label>`, 2) + `</form>` + prose, "21 A. 船舶在", false},
		{"bank of tables", around + `<table>` + strings.Repeat(`<tr><td>1</td><td>雾航</td><td>A</td></tr>`, 30) + `</table>`, "30 1\t雾 1\t雾", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			path := fileOf(t, "m.html", []byte("<html><body>"+c.body+"</body></html>"))
			r := readAll(t, path)
			var texts []string
			for _, b := range r.Blocks {
				texts = append(texts, strings.TrimSpace(string([]rune(formattest.Text(b) + "   ")[:3])))
			}
			if got := fmt.Sprint(len(texts), " ", texts[0], " ", texts[len(texts)-1]); got != c.want {
				t.Errorf("got %s, want %s: %q", got, c.want, shown(r))
			}
			if left := len(codes(r)) > 0; left != c.left {
				t.Errorf("notes %v", codes(r))
			}
			whole, _ := formattest.Read(t.Context(), path, format.Options{WholePage: true})
			if len(codes(whole)) > 0 || len(whole.Blocks) < len(r.Blocks) {
				t.Errorf("the whole page gave %d blocks, notes %v", len(whole.Blocks), codes(whole))
			}
		})
	}
	r, _ := formattest.Read(t.Context(), fileOf(t, "n.html", []byte("<html><nav>菜单</nav><p>文</p><footer>脚</footer></html>")), format.Options{WholePage: true})
	compare(t, []string{"para1|菜单", "para2|文", "para3|脚"}, shown(r))
}

func TestHTMLChoices(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, body string
		want       []string
	}{
		{"by order", `<p>题（ ）</p><ul><li><label><input type=radio name=q value=17> 甲</label></li><li><label><input type=radio name=q value=18> 乙</label></li></ul>`, []string{"题（ ）", "A. 甲", "B. 乙"}},
		{"by value", `<label><input type=radio name=q value=B>乙</label><label><input type=radio name=q value=A>甲</label>`, []string{"B. 乙 A. 甲"}},
		{"letters are there", `<label><input type=radio name=q>A．甲</label><br><label><input type=radio name=q>B．乙</label>`, []string{"A．甲", "B．乙"}},
		{"boxes with numbers", `<div><input type=checkbox name="q1_0"><span>甲</span></div><div><input type=checkbox name="q1_1"><span>乙</span></div>`, []string{"A. 甲", "B. 乙"}},
		{"one box", `<label><input type=checkbox name=agree>同意</label>`, []string{"同意"}},
		{"in a table", `<table><tr><td><input type=radio name=q></td><td>甲</td></tr><tr><td><input type=radio name=q></td><td>乙</td></tr></table>`, []string{"[A.|甲]", "[B.|乙]"}},
		{"right by class", `<style>.r{color:#F00} p.u { text-decoration : underline }</style><p class="r">A. 红</p><p class="u">B. 线</p><p class="is-correct">C. 对</p><p class=right>D. 右</p>`, []string{"A. 红", "B. 线", "C. 对", "D. 右"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := readAll(t, fileOf(t, "c.html", []byte("<html><body>"+c.body+"</body></html>")))
			var got []string
			for _, s := range shown(r) {
				_, text, _ := strings.Cut(s, "|")
				got = append(got, text)
			}
			compare(t, c.want, got)
			if c.name == "right by class" {
				compare(t, []string{"color FF0000 A. 红", "under  B. 线", "color 008000 C. 对"}, marked(r))
			}
		})
	}
}

func TestHTMLRenderedFormulas(t *testing.T) {
	t.Parallel()
	math := `<math><semantics><mi>x</mi><annotation encoding="application/x-tex">x^2</annotation></semantics></math>`
	for _, body := range []string{
		`<script type="math/tex">x^2</script>`,
		`<span class="MathJax_Preview">x2</span><span class="MathJax">x2</span><script type="math/tex; mode=display">x^2</script>`,
		`<span class="katex"><span class="katex-mathml">` + math + `</span><span class="katex-html">x2</span></span>`,
		`<span><span class="mwe-math-mathml-inline" style="display: none;">` + math + `</span><img class="mwe-math-fallback-image-inline" alt="x^2" src="x.svg"></span>`,
		`<span class="MathJax_SVG"><svg></svg><span class="MJX_Assistive_MathML">` + math + `</span></span>`,
		`<img eeimg="1" alt="x^2" src="e.svg">`,
	} {
		r := readAll(t, fileOf(t, "r.html", []byte("<html><body><p>设"+body+"为</p></body></html>")))
		compare(t, []string{"para1|设$x^2$为"}, shown(r))
	}
}

func TestHTMLImagesInPlace(t *testing.T) {
	t.Parallel()
	r := readAll(t, fileOf(t, "i.html", []byte(`<html><body><p>A. <img src="a.png"> B. <img src="b.png"></p><table><tr><td>甲<b>乙</b></td><td><img src="c.png"></td></tr></table></body></html>`)))
	compare(t, []string{"para1|A. B.{a.png}", "para2|[甲乙|]{c.png}"}, shown(r))
	compare(t, []string{"image a.png", "image b.png", "bold  0:乙", "image c.png 1:"}, marked(r))
}
