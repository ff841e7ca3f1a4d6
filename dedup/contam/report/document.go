package report

import (
	_ "embed"
	"fmt"
	"io"
	"iter"

	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/page"
)

// pageCSS is what the page has beyond the style of all pages.
//
//go:embed page.css
var pageCSS string

const (
	// htmlShown is how many findings of a group, and how many items, a page shows;
	// more would make it too heavy to open.
	htmlShown = 2000
	// mdShown is how many findings of a group Markdown shows side by side.
	mdShown = 100
	// mdItems is how many items its table of the most frequent has.
	mdItems = 20
)

// HTML writes a check as one page that needs nothing else: no script, no font, no
// image. Findings are filtered by verdict with check boxes and style alone.
func HTML(w io.Writer, s *Summary, hits iter.Seq2[Hit, error], lang msg.Lang) error {
	d, err := newDocument(s, hits, lang, htmlShown, htmlShown)
	if err != nil {
		return err
	}
	_, err = w.Write(d.HTML())
	return err
}

// Markdown writes a check as a page for a technical report.
func Markdown(w io.Writer, s *Summary, hits iter.Seq2[Hit, error], lang msg.Lang) error {
	d, err := newDocument(s, hits, lang, mdShown, mdItems)
	if err != nil {
		return err
	}
	_, err = w.Write(d.Markdown())
	return err
}

// A document is a check as it is written for people.
type document struct {
	*page.Doc
	s    *Summary
	lang msg.Lang
}

// newDocument lays out a check with so many findings of each group and so many
// items.
func newDocument(s *Summary, hits iter.Seq2[Hit, error], lang msg.Lang, findings, items int) (*page.Doc, error) {
	d := document{page.New(lang.String(), msg.Text{"Contamination check", "污染检查"}.In(lang)), s, lang}
	d.Style(pageCSS)
	d.Add(answer{s.Sentence(lang), s.Failed == 0 && s.Records > 0 && s.Exit == 0})
	d.against()
	d.verdicts()
	d.inputs()
	if err := d.findings(hits, findings); err != nil {
		return nil, err
	}
	d.items(items)
	d.waivers()
	d.Text(madeWith(s, lang))
	return d.Doc, nil
}

func (d *document) say(t msg.Text, args ...any) string { return t.Format(d.lang, args...) }

func (d *document) name(t msg.Text) page.Column  { return page.Column{Name: d.say(t)} }
func (d *document) count(t msg.Text) page.Column { return page.Column{Name: d.say(t), Right: true} }
func (d *document) code(t msg.Text) page.Column  { return page.Column{Name: d.say(t), Code: true} }

// against says what was checked against, and what such a check cannot see.
func (d *document) against() {
	var rows [][]string
	for _, x := range d.s.Benchmarks {
		rows = append(rows, []string{x.Ref, itoa(x.Items), short(x.SHA256)})
	}
	d.Table([]page.Column{d.name(msg.Text{"benchmark", "评测集"}), d.count(msg.Text{"items", "题数"}), d.code(msg.Text{"sha256", "sha256"})}, rows)
	blind := d.say(msg.Text{"Blind spots: %d {item|items} whose verbatim copy these settings would not find.", "盲区：%d 题，即使逐字复制，当前设置也不会发现。"}, len(d.s.Blind))
	if len(d.s.Blind) > 0 {
		blind += " " + itemList(d.s.Blind)
	}
	d.Text(blind)
	if n := len(d.s.BlindStemOnly); n > 0 {
		d.Fold(d.say(msg.Text{"Stems that alone would not fail: %d.", "仅凭题干不会判为泄漏的题目：%d 题。"}, n), func(in *page.Doc) {
			in.Text(itemList(d.s.BlindStemOnly))
		})
	}
}

func (d *document) verdicts() {
	lines := d.s.verdictLines(d.lang)
	if len(lines) == 0 {
		return
	}
	var rows [][]string
	var names []string
	for _, v := range lines {
		leak := msg.Text{"no", "否"}
		if v.Leak {
			leak = msg.Text{"yes", "是"}
		}
		rows = append(rows, []string{v.Verdict, itoa(v.Count), d.say(leak), v.Means})
		names = append(names, v.Verdict)
	}
	d.Table([]page.Column{
		d.code(msg.Text{"verdict", "判定"}), d.count(msg.Text{"findings", "次数"}), d.name(msg.Text{"leak", "泄漏"}), d.name(msg.Text{"means", "含义"}),
	}, rows)
	f := filter{names, d.say(msg.Text{"Click a verdict to hide or show its findings.", "点击判定名称可隐藏或显示对应条目。"})}
	d.Style(f.style())
	d.Add(f)
}

func (d *document) inputs() {
	var rows [][]string
	for _, in := range d.s.Inputs {
		rows = append(rows, []string{in.File, itoa(in.Records), fmt.Sprint(in.Bytes), short(in.SHA256)})
	}
	d.Fold(d.say(msg.Text{"%d {input|inputs}, %d {record|records}", "%d 个输入，%d 条记录"}, len(d.s.Inputs), d.s.Records), func(in *page.Doc) {
		in.Table([]page.Column{
			d.name(msg.Text{"input", "输入"}), d.count(msg.Text{"records", "记录数"}), d.count(msg.Text{"bytes", "字节"}), d.code(msg.Text{"sha256", "sha256"}),
		}, rows)
	})
}

// findings adds the findings group by group, so many of each.
func (d *document) findings(hits iter.Seq2[Hit, error], most int) error {
	last, n := group(255), 0
	more := func() {
		if n > most {
			d.Text(d.say(msg.Text{"… and %d more, in the report's rows", "……另有 %d 条，见报告数据行"}, n-most))
		}
	}
	for h, err := range grouped(hits) {
		if err != nil {
			return err
		}
		g := groupOf(&h.Row)
		if g != last {
			more()
			last, n = g, 0
			d.Heading(d.say(g.title()))
		}
		if n++; n <= most {
			d.Add(newFinding(&h, g, d.lang))
		}
	}
	more()
	return nil
}

func (d *document) items(most int) {
	if len(d.s.ByItem) == 0 {
		return
	}
	var rows [][]string
	for _, h := range d.s.TopItems(most) {
		rows = append(rows, []string{h.Benchmark + " " + itoa(h.Index), itoa(h.Findings), itoa(h.Failing)})
	}
	d.Heading(d.say(msg.Text{"Items found most often", "命中最多的题目"}))
	d.Table([]page.Column{d.name(msg.Text{"item", "题目"}), d.count(msg.Text{"findings", "次数"}), d.count(msg.Text{"of them leaks", "其中泄漏"})}, rows)
}

func (d *document) waivers() {
	if d.s.Waivers == nil {
		return
	}
	var rows [][]string
	for _, e := range d.s.Waivers.Entries {
		rows = append(rows, []string{
			e.Item.Benchmark + " " + itoa(e.Item.Index), short(e.Record), d.say(stateWord(e.State)), e.Expires, e.Author, e.Reason,
		})
	}
	d.Heading(d.say(msg.Text{"Waivers", "豁免"}))
	d.Table([]page.Column{
		d.name(msg.Text{"item", "题目"}), d.code(msg.Text{"record", "记录"}), d.name(msg.Text{"state", "状态"}), d.name(msg.Text{"until", "截止"}),
		d.name(msg.Text{"by", "豁免人"}), d.name(msg.Text{"reason", "理由"}),
	}, rows)
}

func stateWord(state string) msg.Text {
	switch state {
	case WaiverUsed:
		return msg.Text{"used", "已使用"}
	case WaiverExpired:
		return msg.Text{"expired", "已到期"}
	}
	return msg.Text{"matches nothing", "无匹配"}
}

// madeWith says what the answer depends on besides data and benchmark.
func madeWith(s *Summary, lang msg.Lang) string {
	line := msg.Text{"drydock %s, settings %s", "drydock %s，设置 %s"}.Format(lang, s.Version, short(s.Config))
	if s.Waivers != nil {
		line += msg.Text{", waivers %s", "，豁免 %s"}.Format(lang, short(s.Waivers.SHA256))
	}
	if s.Redacted {
		line += msg.Text{"; texts are replaced by their hashes", "；文本已替换为哈希"}.In(lang)
	}
	return line
}
