package cli

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/drydock-ml/drydock/dedup/contam"
	"github.com/drydock-ml/drydock/dedup/contam/report"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/ui"
	"github.com/drydock-ml/drydock/provenance"
)

func (c *contamAnswer) text(t *ui.Terminal) {
	c.against(t)
	if c.Shard != nil {
		t.Print(msg.Text{"shard %d of %d: drydock contam merge joins the reports", "第 %d 个分片，共 %d 个：用 drydock contam merge 合并报告"}, c.Shard.Index, c.Shard.Of)
	}
	c.scanned(t)
	if c.Judge != nil {
		c.Judge.text(t)
	}
	c.verdicts(t)
	c.waived(t)
	c.inputs(t)
	switch {
	case c.Records == 0 && c.Shard == nil:
		t.Println(t.Bad(t.Say(msg.Text{"nothing was checked", "没有检查任何内容"})))
	case len(c.Verdicts) > 0:
	case c.Exit == 0:
		t.Println(t.Good(t.Say(msg.Text{"no benchmark item found", "未发现评测集题目"})))
	default:
		t.Print(msg.Text{"no benchmark item found in what could be read", "可读取的内容中未发现评测集题目"})
	}
	c.leaks(t)
	c.files(t)
}

// against says what the data was checked against, and what such a check cannot
// see.
func (c *contamAnswer) against(t *ui.Terminal) {
	for _, b := range c.Benchmarks {
		blind := 0
		for _, it := range c.Blind {
			if it.Benchmark == b.Name {
				blind++
			}
		}
		seen := t.Say(msg.Text{"%d blind {spot|spots}", "盲区 %d 题"}, blind)
		if blind > 0 {
			seen = t.Bad(seen)
		}
		t.Print(msg.Text{"%s  %d {item|items} (%s), %s", "%s  %d 题（%s），%s"}, b.Ref, b.Items, b.SHA256[:min(8, len(b.SHA256))], seen)
	}
	if len(c.Blind) > 0 {
		t.Print(msg.Text{"blind to %d {item|items}: a verbatim copy would not be found", "对 %d 题是盲区：即使逐字复制也不会被发现"}, len(c.Blind))
		few := c.Blind
		if !t.Verbose(1) {
			few = few[:min(len(few), shownBlind)]
		}
		listItems(t, few)
		if len(few) < len(c.Blind) {
			t.Print(msg.Text{"  … (-v lists all)", "  ……（-v 列出全部）"})
		}
	}
	if len(c.BlindStemOnly) == 0 {
		return
	}
	if t.Verbose(1) {
		t.Print(msg.Text{"%d {item|items} whose stem alone would not fail, only with options:", "%d 题仅凭题干不会判为泄漏，连同选项才会："}, len(c.BlindStemOnly))
		listItems(t, c.BlindStemOnly)
		return
	}
	t.Print(msg.Text{"%d {item|items} whose stem alone would not fail, only with options (-v lists them)", "%d 题仅凭题干不会判为泄漏，连同选项才会（-v 列出）"}, len(c.BlindStemOnly))
}

// shownBlind is how many blind spots are named unless all are asked for.
const shownBlind = 24

// listItems names items, many a line.
func listItems(t *ui.Terminal, items []report.Item) {
	by := map[string][]string{}
	var names []string
	for _, it := range items {
		if by[it.Benchmark] == nil {
			names = append(names, it.Benchmark)
		}
		by[it.Benchmark] = append(by[it.Benchmark], fmt.Sprint(it.Index))
	}
	for _, n := range names {
		for _, l := range ui.Wrap(n+" "+strings.Join(by[n], " "), min(t.Width(), 100)-2) {
			t.Println("  " + l)
		}
	}
}

func (c *contamAnswer) scanned(t *ui.Terminal) {
	what := t.Count(c.Records, "record", "records", "条记录")
	files := t.Count(len(c.Inputs), "file", "files", "个文件")
	raw := 0
	for _, in := range c.Inputs {
		if in.ReadAs == "raw" {
			raw++
		}
	}
	if raw > 0 {
		files += t.Say(msg.Text{" (%d as raw bytes)", "（其中 %d 个按原始字节）"}, raw)
	}
	if c.seconds == 0 {
		t.Print(msg.Text{"scanned  %s of %s, %s", "已扫描  %s，%s，%s"}, what, files, ui.Size(c.Bytes))
	} else {
		t.Print(msg.Text{"scanned  %s of %s, %s in %s", "已扫描  %s，%s，%s，用时 %s"}, what, files, ui.Size(c.Bytes), t.Duration(secondsOf(c.seconds)))
	}
	if c.Records == 0 {
		return
	}
	for _, in := range c.Inputs {
		if in.Records == 0 && c.Shard == nil {
			t.Print(msg.Text{"  %s: no record in it", "  %s：其中没有记录"}, in.File)
		}
	}
}

// contamGroup is how verdicts are shown together.
type contamGroup struct {
	title    msg.Text
	verdicts []contam.Verdict
	note     msg.Text
}

// groups are LEAK, variant, overlap. What a configuration lets fail moves to the
// first.
func (c *contamAnswer) groups() []contamGroup {
	leak := contamGroup{title: msg.Text{"LEAK", "泄漏"}}
	variant := contamGroup{title: msg.Text{"variant", "变体"}, note: msg.Text{"not counted as leaks", "不计为泄漏"}}
	overlap := contamGroup{title: msg.Text{"overlap", "重叠"}, note: msg.Text{"not counted as leaks", "不计为泄漏"}}
	for _, v := range contam.Verdicts() {
		g := &variant
		switch {
		case c.Leak(string(v)):
			g = &leak
		case v == contam.SharedMaterial, v == contam.SourceOverlap, v == contam.Boilerplate:
			g = &overlap
		}
		g.verdicts = append(g.verdicts, v)
	}
	return []contamGroup{leak, variant, overlap}
}

// verdicts prints how often each was given: for a program a line each, on a
// terminal by group, with what they mean.
func (c *contamAnswer) verdicts(t *ui.Terminal) {
	if !t.OutTTY() {
		c.verdictRows(t)
		return
	}
	for _, g := range c.groups() {
		n := 0
		tb := t.Table(ui.Column{}, ui.Column{}, ui.Column{Right: true}, ui.Column{}).Bare().Wrapped()
		for _, v := range g.verdicts {
			if k := c.Verdicts[string(v)]; k > 0 {
				n += k
				means, _ := provenance.VerdictMeaning(string(v))
				tb.Row("", string(v), fmt.Sprint(k), t.Say(means))
			}
		}
		if n == 0 {
			continue
		}
		title := t.Say(g.title)
		if g.note == (msg.Text{}) {
			t.Println(t.Bad(title) + "  " + t.Say(msg.Text{"%d {finding|findings} in %d {record|records}", "%d 个发现，%d 条记录"}, n-c.Waived, c.Failed))
		} else {
			t.Println(t.Bold(title) + "  " + t.Say(msg.Text{"%d {finding|findings}, %s", "%d 个发现，%s"}, n, msg.Phrase{Text: g.note}))
		}
		tb.Print()
	}
}

func (c *contamAnswer) verdictRows(t *ui.Terminal) {
	tb := t.Table(ui.Column{}, ui.Column{Right: true}, ui.Column{}).Bare()
	for _, v := range contam.Verdicts() {
		n := c.Verdicts[string(v)]
		if n == 0 {
			continue
		}
		note := t.Say(msg.Text{"not counted as a leak", "不计为泄漏"})
		if c.Leak(string(v)) {
			note = t.Bad(t.Say(msg.Text{"LEAK", "泄漏"}))
		}
		tb.Row(string(v), fmt.Sprint(n), note)
	}
	tb.Print()
}

// waived says what was excused, and which waivers no longer do.
func (c *contamAnswer) waived(t *ui.Terminal) {
	if c.Waivers == nil {
		return
	}
	t.Print(msg.Text{"waived  %d {finding|findings}, by %d {waiver|waivers}", "已豁免  %d 个发现，共 %d 条豁免"}, c.Waived, len(c.Waivers.Entries))
	for _, e := range c.Waivers.Entries {
		item := benchItem(contam.ItemRef{Benchmark: e.Item.Benchmark, Index: e.Item.Index})
		record := strings.TrimPrefix(e.Record, "sha256:")
		record = record[:min(12, len(record))]
		switch e.State {
		case report.WaiverExpired:
			t.Print(msg.Text{"  expired on %s and excuses nothing: %s in record %s (%s)", "  已于 %s 到期，不再豁免：%s，记录 %s（%s）"}, e.Expires, item, record, e.Author)
		case report.WaiverUnmatched:
			if c.Shard == nil {
				t.Print(msg.Text{"  matches nothing: %s in record %s (%s, until %s)", "  无匹配：%s，记录 %s（%s，截止 %s）"}, item, record, e.Author, e.Expires)
			}
		default:
			t.Print(msg.Text{"  %s until %s: %s (%s)", "  %s，截止 %s：%s（%s）"}, item, e.Expires, e.Reason, e.Author)
		}
	}
}

// shownInputs is how many files with leaks are named.
const shownInputs = 10

// inputs says which of several files hold leaks.
func (c *contamAnswer) inputs(t *ui.Terminal) {
	if len(c.Inputs) < 2 {
		return
	}
	named := 0
	for _, in := range c.Inputs {
		if in.Failing == 0 {
			continue
		}
		if named++; named > shownInputs {
			continue
		}
		switch in.ReadAs {
		case "raw":
			t.Print(msg.Text{"%s: %d {leak|leaks} among its bytes", "%s：字节中有 %d 处泄漏"}, in.File, in.Failing)
		case "archive":
			t.Print(msg.Text{"%s: %d {leak|leaks} in its members", "%s：成员文件中有 %d 处泄漏"}, in.File, in.Failing)
		default:
			t.Print(msg.Text{"%s: %d {leak|leaks}", "%s：%d 处泄漏"}, in.File, in.Failing)
		}
	}
	if named > shownInputs {
		t.Print(msg.Text{"and %d more {file|files} with leaks", "另有 %d 个文件含泄漏"}, named-shownInputs)
	}
}

// leaks shows the first of them side by side.
func (c *contamAnswer) leaks(t *ui.Terminal) {
	for i := range c.shown {
		if i == shownHits {
			break
		}
		t.Println("")
		printHit(t, &c.shown[i], 3)
	}
	failing := 0
	for _, h := range c.ByItem {
		failing += h.Failing
	}
	more := failing - min(len(c.shown), shownHits)
	switch {
	case more <= 0:
	case c.Report != "":
		t.Println("")
		t.Print(msg.Text{"%d more: drydock contam review %s", "另有 %d 个：drydock contam review %s"}, more, shellWord(c.Report))
	default:
		t.Println("")
		t.Print(msg.Text{"%d more: --report FILE lists all, and drydock contam review shows them", "另有 %d 个：--report FILE 列出全部，drydock contam review 可逐一查看"}, more)
	}
}

func (c *contamAnswer) files(t *ui.Terminal) {
	for _, f := range []struct {
		label msg.Text
		path  string
	}{
		{msg.Text{"report: %s", "报告：%s"}, c.Report},
		{msg.Text{"Markdown: %s", "Markdown：%s"}, c.Markdown},
		{msg.Text{"page: %s", "网页：%s"}, c.HTML},
		{msg.Text{"JUnit: %s", "JUnit：%s"}, c.JUnit},
		{msg.Text{"SARIF: %s", "SARIF：%s"}, c.SARIF},
	} {
		if f.path != "" {
			t.Print(f.label, f.path)
		}
	}
	c.contamClean.text(t)
}

// printHit shows a finding with both sides; most lines of each, 0: all.
func printHit(t *ui.Terminal, h *report.Hit, most int) {
	head := fmt.Sprintf("%s  %s  %s  %.2f", report.Where(&h.Record), h.Verdict, benchItem(h.Item), h.Score)
	if h.Waived != nil {
		head += "  " + t.Say(msg.Text{"(waived)", "（已豁免）"})
	}
	t.Println(t.Bold(head))
	v := h.View()
	printSide(t, msg.Text{"yours", "数据"}, v.Data, "+[", "]+", most)
	printSide(t, msg.Text{"bench", "题目"}, v.Item, "-[", "]-", most)
	if v.Order != "" {
		t.Println("         " + t.Say(msg.Text{"its options stand in the order %s", "其选项的次序为 %s"}, v.Order))
	}
}

// printSide shows a text under a label, what differs marked.
func printSide(t *ui.Terminal, label msg.Text, side []report.Stretch, opening, closing string, most int) {
	if len(side) == 0 {
		return
	}
	var b strings.Builder
	for _, s := range side {
		text := ui.Clean(spaced(s.Text))
		if s.Mark == report.Diff {
			text = t.Differs(text, opening, closing)
		}
		b.WriteString(text)
	}
	width := min(t.Width(), 100) - 9
	lines := ui.Wrap(b.String(), width)
	if most > 0 && len(lines) > most {
		lines = slices.Clone(ui.Wrap(b.String(), width-1)[:most]) // leaves room for the sign
		lines[most-1] += "…"
	}
	for i, l := range lines {
		head := ""
		if i == 0 {
			head = t.Say(label)
		}
		t.Println("  " + ui.Pad(head, 7) + l)
	}
}

// spaced writes every run of white space as one space.
func spaced(s string) string {
	var b strings.Builder
	in := false
	for _, r := range s {
		if space := unicode.IsSpace(r); space && !in {
			b.WriteByte(' ')
			in = true
		} else if !space {
			b.WriteRune(r)
			in = false
		}
	}
	return b.String()
}
