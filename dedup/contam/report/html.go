package report

import (
	"bufio"
	_ "embed"
	"fmt"
	"html"
	"io"
	"iter"
	"strings"

	"github.com/drydock-ml/drydock/internal/msg"
)

// pageCSS is the style of the page, which loads nothing.
//
//go:embed page.css
var pageCSS string

// htmlShown is how many findings of a group a page shows; more would make it too
// heavy to open.
const htmlShown = 2000

// HTML writes a check as one page that needs nothing else: no script, no font, no
// image. Findings are filtered by verdict with check boxes and style alone.
func HTML(w io.Writer, s *Summary, hits iter.Seq2[Hit, error], lang msg.Lang) error {
	b := bufio.NewWriter(w)
	p := htmlPage{b, s, lang}
	title := p.say(msg.Text{"Contamination check", "污染检查"})
	fmt.Fprintf(b, "<!DOCTYPE html>\n<html lang=%q>\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<meta name=\"color-scheme\" content=\"light dark\">\n<title>%s</title>\n<style>\n%s",
		lang.String(), title, pageCSS)
	lines := s.verdictLines(lang)
	for _, v := range lines {
		fmt.Fprintf(b, "#f-%[1]s:not(:checked)~main .v-%[1]s{display:none}\n"+
			"#f-%[1]s:not(:checked)~header label[for=f-%[1]s]{text-decoration:line-through;opacity:.5}\n"+
			"#f-%[1]s:focus-visible~header label[for=f-%[1]s]{outline:2px solid}\n", slug(v.Verdict))
	}
	fmt.Fprint(b, "</style>\n</head>\n<body>\n")
	for _, v := range lines {
		fmt.Fprintf(b, "<input type=\"checkbox\" class=\"filter\" id=\"f-%s\" checked aria-label=\"%s\">\n", slug(v.Verdict), esc(v.Verdict))
	}
	tone := "good"
	if s.Failed > 0 || s.Records == 0 || s.Exit != 0 {
		tone = "bad"
	}
	fmt.Fprintf(b, "<header>\n<h1>%s</h1>\n<p class=\"answer %s\">%s</p>\n", title, tone, esc(s.Sentence(lang)))
	p.summary(lines)
	fmt.Fprint(b, "</header>\n<main>\n")
	if err := p.findings(hits); err != nil {
		return err
	}
	p.items()
	p.waivers()
	fmt.Fprintf(b, "</main>\n<footer><p>%s</p></footer>\n</body>\n</html>\n", esc(madeWith(s, lang)))
	return b.Flush()
}

type htmlPage struct {
	b    *bufio.Writer
	s    *Summary
	lang msg.Lang
}

func (p *htmlPage) say(t msg.Text, args ...any) string { return esc(t.Format(p.lang, args...)) }

func (p *htmlPage) summary(lines []verdictLine) {
	p.table([]msg.Text{{"benchmark", "评测集"}, {"items", "题数"}, {"sha256", "sha256"}}, func(row func(...string)) {
		for _, x := range p.s.Benchmarks {
			row(esc(x.Ref), itoa(x.Items), code(short(x.SHA256)))
		}
	})
	fmt.Fprintf(p.b, "<p>%s</p>\n", esc(blindLine(p.s, p.lang)))
	if len(p.s.BlindStemOnly) > 0 {
		fmt.Fprintf(p.b, "<details><summary>%s</summary><p>%s</p></details>\n", esc(stemLine(p.s, p.lang)), esc(itemList(p.s.BlindStemOnly)))
	}
	p.table([]msg.Text{{"verdict", "判定"}, {"findings", "次数"}, {"leak", "泄漏"}, {"means", "含义"}}, func(row func(...string)) {
		for _, v := range lines {
			row(fmt.Sprintf("<label for=\"f-%s\">%s</label>", slug(v.Verdict), code(v.Verdict)), itoa(v.Count), yesNo(v.Leak, p.lang), esc(v.Means))
		}
	})
	if len(lines) > 0 {
		fmt.Fprintf(p.b, "<p class=\"hint\">%s</p>\n", p.say(msg.Text{"Click a verdict to hide or show its findings.", "点击判定名称可隐藏或显示对应条目。"}))
	}
	fmt.Fprintf(p.b, "<details><summary>%s</summary>\n", p.say(msg.Text{"%d {input|inputs}, %d {record|records}", "%d 个输入，%d 条记录"}, len(p.s.Inputs), p.s.Records))
	p.table([]msg.Text{{"input", "输入"}, {"records", "记录数"}, {"bytes", "字节"}, {"sha256", "sha256"}}, func(row func(...string)) {
		for _, in := range p.s.Inputs {
			row(esc(in.File), itoa(in.Records), fmt.Sprint(in.Bytes), code(short(in.SHA256)))
		}
	})
	fmt.Fprint(p.b, "</details>\n")
}

func (p *htmlPage) findings(hits iter.Seq2[Hit, error]) error {
	last, n := group(255), 0
	end := func() {
		if n > htmlShown {
			fmt.Fprintf(p.b, "<p class=\"hint\">%s</p>\n", p.say(msg.Text{"… and %d more, in the report's rows", "……另有 %d 条，见报告数据行"}, n-htmlShown))
		}
		if last <= shown {
			fmt.Fprint(p.b, "</section>\n")
		}
	}
	for h, err := range grouped(hits) {
		if err != nil {
			return err
		}
		if g := groupOf(&h.Row); g != last {
			end()
			last, n = g, 0
			fmt.Fprintf(p.b, "<section class=\"%s\">\n<h2>%s</h2>\n", g.class(), p.say(g.title()))
		}
		if n++; n <= htmlShown {
			p.finding(&h)
		}
	}
	end()
	return nil
}

func (p *htmlPage) finding(h *Hit) {
	fmt.Fprintf(p.b, "<article class=\"v-%s\">\n<h3><span class=\"where\">%s</span> <code>%s</code> <span>%s %d</span> <span class=\"score\">%.2f</span></h3>\n",
		slug(string(h.Verdict)), esc(Where(&h.Record)), esc(string(h.Verdict)), esc(h.Item.Benchmark), h.Item.Index, h.Score)
	if h.Waived != nil {
		fmt.Fprintf(p.b, "<p class=\"hint\">%s</p>\n", esc(waivedBecause(h.Waived).In(p.lang)))
	}
	v := h.View()
	if len(v.Data)+len(v.Item) > 0 {
		fmt.Fprint(p.b, "<div class=\"sides\">\n")
		p.side(msg.Text{"data", "数据"}, v.Data, "ins")
		p.side(msg.Text{"item", "题目"}, v.Item, "del")
		fmt.Fprint(p.b, "</div>\n")
	}
	if v.Order != "" {
		fmt.Fprintf(p.b, "<p class=\"hint\">%s</p>\n", p.say(orderText(), v.Order))
	}
	fmt.Fprint(p.b, "</article>\n")
}

func (p *htmlPage) side(title msg.Text, side []Stretch, diff string) {
	fmt.Fprintf(p.b, "<div><h4>%s</h4><p>", p.say(title))
	if len(side) == 0 {
		fmt.Fprintf(p.b, "<em>%s</em>", p.say(msg.Text{"not at hand", "不可得"}))
	}
	for _, s := range side {
		switch s.Mark {
		case Same:
			fmt.Fprintf(p.b, "<mark>%s</mark>", esc(s.Text))
		case Diff:
			fmt.Fprintf(p.b, "<%s>%s</%[1]s>", diff, esc(s.Text))
		default:
			p.b.WriteString(esc(s.Text))
		}
	}
	fmt.Fprint(p.b, "</p></div>\n")
}

func (p *htmlPage) items() {
	if len(p.s.ByItem) == 0 {
		return
	}
	fmt.Fprintf(p.b, "<section>\n<h2>%s</h2>\n", p.say(msg.Text{"Items found, by how often", "按命中次数列出的题目"}))
	p.table([]msg.Text{{"item", "题目"}, {"findings", "次数"}, {"of them leaks", "其中泄漏"}}, func(row func(...string)) {
		for _, h := range p.s.TopItems(htmlShown) {
			row(esc(h.Benchmark)+" "+itoa(h.Index), itoa(h.Findings), itoa(h.Failing))
		}
	})
	fmt.Fprint(p.b, "</section>\n")
}

func (p *htmlPage) waivers() {
	if p.s.Waivers == nil {
		return
	}
	fmt.Fprintf(p.b, "<section>\n<h2>%s</h2>\n", p.say(msg.Text{"Waivers", "豁免"}))
	p.table([]msg.Text{{"item", "题目"}, {"record", "记录"}, {"state", "状态"}, {"until", "截止"}, {"by", "豁免人"}, {"reason", "理由"}}, func(row func(...string)) {
		for _, e := range p.s.Waivers.Entries {
			row(esc(e.Item.Benchmark)+" "+itoa(e.Item.Index), code(short(e.Record)), p.say(stateWord(e.State)), esc(e.Expires), esc(e.Author), esc(e.Reason))
		}
	})
	fmt.Fprint(p.b, "</section>\n")
}

// table writes a table; the cells are HTML. One without rows is left out.
func (p *htmlPage) table(head []msg.Text, fill func(row func(cells ...string))) {
	n := 0
	fill(func(cells ...string) {
		if n++; n == 1 {
			fmt.Fprintf(p.b, "<div class=\"wide\"><table>\n<thead><tr>")
			for _, h := range head {
				fmt.Fprintf(p.b, "<th>%s</th>", p.say(h))
			}
			fmt.Fprint(p.b, "</tr></thead>\n<tbody>\n")
		}
		fmt.Fprintf(p.b, "<tr><td>%s</td></tr>\n", strings.Join(cells, "</td><td>"))
	})
	if n > 0 {
		fmt.Fprint(p.b, "</tbody>\n</table></div>\n")
	}
}

func esc(s string) string {
	return html.EscapeString(strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' && r != '\t' || r == 0x7f {
			return '\ufffd'
		}
		return r
	}, s))
}

func code(s string) string { return "<code>" + esc(s) + "</code>" }

// slug makes a name that can stand in a class: verdicts of other versions may
// hold anything.
func slug(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '_' {
			return r
		}
		return '-'
	}, s)
}
