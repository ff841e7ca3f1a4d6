package report

import (
	"bufio"
	"fmt"
	"io"
	"iter"
	"strings"
	"unicode"

	"github.com/drydock-ml/drydock/internal/msg"
)

const (
	// mdShown is how many findings of a group a Markdown page shows side by side.
	mdShown = 100
	// topItems is how many items the table of the most frequent has.
	topItems = 20
)

// Markdown writes a check as a page for a technical report.
func Markdown(w io.Writer, s *Summary, hits iter.Seq2[Hit, error], lang msg.Lang) error {
	b := bufio.NewWriter(w)
	say := func(t msg.Text, args ...any) string { return t.Format(lang, args...) }
	fmt.Fprintf(b, "# %s\n\n**%s**\n\n", say(msg.Text{"Contamination check", "污染检查"}), s.Sentence(lang))
	mdTable(b, []string{say(msg.Text{"benchmark", "评测集"}), say(msg.Text{"items", "题数"}), "sha256"}, func(row func(...string)) {
		for _, x := range s.Benchmarks {
			row(md(x.Ref), itoa(x.Items), short(x.SHA256))
		}
	})
	fmt.Fprintf(b, "%s\n\n", md(blindLine(s, lang)))
	if len(s.BlindStemOnly) > 0 {
		fmt.Fprintf(b, "%s %s\n\n", md(stemLine(s, lang)), md(itemList(s.BlindStemOnly)))
	}
	if len(s.Verdicts) > 0 {
		mdTable(b, []string{say(msg.Text{"verdict", "判定"}), say(msg.Text{"findings", "次数"}), say(msg.Text{"leak", "泄漏"}), say(msg.Text{"means", "含义"})}, func(row func(...string)) {
			for _, v := range s.verdictLines(lang) {
				row("`"+v.Verdict+"`", itoa(v.Count), yesNo(v.Leak, lang), md(v.Means))
			}
		})
	}
	mdTable(b, []string{say(msg.Text{"input", "输入"}), say(msg.Text{"records", "记录数"}), say(msg.Text{"bytes", "字节"}), "sha256"}, func(row func(...string)) {
		for _, in := range s.Inputs {
			row(md(in.File), itoa(in.Records), fmt.Sprint(in.Bytes), short(in.SHA256))
		}
	})
	if err := mdFindings(b, s, hits, lang); err != nil {
		return err
	}
	if len(s.ByItem) > 0 {
		fmt.Fprintf(b, "## %s\n\n", say(msg.Text{"Items found most often", "命中最多的题目"}))
		mdTable(b, []string{say(msg.Text{"item", "题目"}), say(msg.Text{"findings", "次数"}), say(msg.Text{"of them leaks", "其中泄漏"})}, func(row func(...string)) {
			for _, h := range s.TopItems(topItems) {
				row(md(h.Benchmark)+" "+itoa(h.Index), itoa(h.Findings), itoa(h.Failing))
			}
		})
	}
	if s.Waivers != nil {
		fmt.Fprintf(b, "## %s\n\n", say(msg.Text{"Waivers", "豁免"}))
		mdTable(b, []string{say(msg.Text{"item", "题目"}), say(msg.Text{"record", "记录"}), say(msg.Text{"state", "状态"}), say(msg.Text{"until", "截止"}), say(msg.Text{"by", "豁免人"}), say(msg.Text{"reason", "理由"})}, func(row func(...string)) {
			for _, e := range s.Waivers.Entries {
				row(md(e.Item.Benchmark)+" "+itoa(e.Item.Index), short(e.Record), say(stateWord(e.State)), e.Expires, md(e.Author), md(e.Reason))
			}
		})
	}
	fmt.Fprintf(b, "%s\n", md(madeWith(s, lang)))
	return b.Flush()
}

func mdFindings(b *bufio.Writer, s *Summary, hits iter.Seq2[Hit, error], lang msg.Lang) error {
	last, n := group(255), 0
	more := func() {
		if n > mdShown {
			fmt.Fprintf(b, "%s\n\n", msg.Text{"… and %d more", "……另有 %d 条"}.Format(lang, n-mdShown))
		}
	}
	for h, err := range grouped(hits) {
		if err != nil {
			return err
		}
		if g := groupOf(&h.Row); g != last {
			more()
			last, n = g, 0
			fmt.Fprintf(b, "## %s\n\n", g.title().In(lang))
		}
		if n++; n > mdShown {
			continue
		}
		fmt.Fprintf(b, "### %s · `%s` · %s %d · %.2f\n\n", md(Where(&h.Record)), h.Verdict, md(h.Item.Benchmark), h.Item.Index, h.Score)
		if h.Waived != nil {
			fmt.Fprintf(b, "%s\n\n", md(waivedBecause(h.Waived).In(lang)))
		}
		v := h.View()
		mdTable(b, []string{"", ""}, func(row func(...string)) {
			if len(v.Data) > 0 {
				row(msg.Text{"data", "数据"}.In(lang), mdStretches(v.Data, "ins"))
			}
			if len(v.Item) > 0 {
				row(msg.Text{"item", "题目"}.In(lang), mdStretches(v.Item, "del"))
			}
		})
		if v.Order != "" {
			fmt.Fprintf(b, "%s\n\n", orderText().Format(lang, v.Order))
		}
	}
	more()
	return nil
}

// mdStretches writes a side, what differs under an HTML tag: emphasis by
// asterisks does not work beside Chinese punctuation.
func mdStretches(side []Stretch, tag string) string {
	var b strings.Builder
	for _, s := range side {
		text := md(s.Text)
		if s.Mark == Diff {
			text = "<" + tag + ">" + text + "</" + tag + ">"
		}
		b.WriteString(text)
	}
	return b.String()
}

// mdTable writes a table; one without rows is left out.
func mdTable(b *bufio.Writer, head []string, fill func(row func(cells ...string))) {
	n := 0
	fill(func(cells ...string) {
		if n++; n == 1 {
			fmt.Fprintf(b, "| %s |\n|%s\n", strings.Join(head, " | "), strings.Repeat(" --- |", len(head)))
		}
		fmt.Fprintf(b, "| %s |\n", strings.Join(cells, " | "))
	})
	if n > 0 {
		b.WriteByte('\n')
	}
}

// md makes plain text of a text that goes into Markdown, on one line.
func md(s string) string {
	var b strings.Builder
	space := false
	for _, r := range s {
		if unicode.IsSpace(r) {
			if !space {
				b.WriteByte(' ')
			}
			space = true
			continue
		}
		space = false
		switch {
		case strings.ContainsRune("\\`*_[]<>|~$#&", r):
			b.WriteByte('\\')
			b.WriteRune(r)
		case r < ' ' || r == 0x7f:
			b.WriteRune('\ufffd')
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

func yesNo(v bool, lang msg.Lang) string {
	if v {
		return msg.Text{"yes", "是"}.In(lang)
	}
	return msg.Text{"no", "否"}.In(lang)
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

func blindLine(s *Summary, lang msg.Lang) string {
	line := msg.Text{"Blind spots: %d {item|items} whose verbatim copy these settings would not find.", "盲区：%d 题，即使逐字复制，当前设置也不会发现。"}.Format(lang, len(s.Blind))
	if len(s.Blind) > 0 {
		line += " " + itemList(s.Blind)
	}
	return line
}

func stemLine(s *Summary, lang msg.Lang) string {
	return msg.Text{"Stems that alone would not fail: %d.", "仅凭题干不会判为泄漏的题目：%d 题。"}.Format(lang, len(s.BlindStemOnly))
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

func orderText() msg.Text {
	return msg.Text{"The data has the item's options in the order %s.", "数据中选项的次序为 %s。"}
}
