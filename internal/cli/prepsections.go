package cli

import (
	"fmt"
	"strings"

	"github.com/drydock-ml/drydock/dataprep/question"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/pipeline"
	"github.com/drydock-ml/drydock/internal/ui"
	"github.com/drydock-ml/drydock/provenance"
)

// shownSections is how many sections of one file are listed unless all are asked
// for; of those that do not close, more are.
const shownSections, shownOpen = 40, 400

// printSections lists the sections of the question banks with the proof of each:
// as many questions as answers, and every answer joined to its question.
func printSections(t *ui.Terminal, inputs []pipeline.InputResult, all bool) {
	tb := t.Table(
		ui.Column{Title: msg.Text{"file", "文件"}}, ui.Column{Title: msg.Text{"section", "部分"}},
		ui.Column{Title: msg.Text{"questions", "题目"}, Right: true}, ui.Column{Title: msg.Text{"key letters", "答案"}, Right: true},
		ui.Column{Title: msg.Text{"matched", "已对应"}, Right: true}, ui.Column{Title: msg.Text{"counts", "核对"}},
	).Wrapped()
	rows, more, open := 0, 0, 0
	for _, in := range inputs {
		proof := len(question.Unclosed(in.Sections)) > 0
		for i, p := range in.Sections {
			if i >= shownSections && !all && (p.Closed || i >= shownOpen) {
				if more++; !p.Closed {
					open++
				}
				continue
			}
			tb.Row(in.File, pipeline.SectionName(p).In(t.Lang()), fmt.Sprint(p.Questions), fmt.Sprint(p.Keys), fmt.Sprint(p.Matched), closedWord(t, proof, p))
			rows++
		}
	}
	if rows == 0 {
		return
	}
	tb.Print()
	for _, l := range sectionTotals(t, inputs) {
		t.Println(l)
	}
	switch {
	case open > 0:
		t.Print(msg.Text{"and %d more {section|sections}, %d of them not closed; --explain lists them", "另有 %d 个部分，其中 %d 个数量不符；用 --explain 全部列出"}, more, open)
	case more > 0:
		t.Print(msg.Text{"and %d more {section|sections}, all closed; --explain lists them", "另有 %d 个部分，数量均相符；用 --explain 全部列出"}, more)
	}
}

// sectionTotals adds the sections up, a line for all files together.
func sectionTotals(t *ui.Terminal, inputs []pipeline.InputResult) []string {
	n, open := 0, 0
	var all question.Part
	for _, in := range inputs {
		n += len(in.Sections)
		open += len(question.Unclosed(in.Sections))
		for _, p := range in.Sections {
			all.Add(p)
		}
	}
	if n == 0 {
		return nil
	}
	out := []string{t.Say(msg.Text{
		"%d {section|sections}: questions %d, key letters %d, matched %d", "%d 个部分：题目 %d，答案 %d，已对应 %d",
	}, n, all.Questions, all.Keys, all.Matched)}
	if open > 0 {
		out = append(out, t.Say(msg.Text{"%d {section does|sections do} not close", "%d 个部分数量不符"}, open))
	}
	return out
}

// shownConflicts is how many questions with different answers are listed.
const shownConflicts = 20

// conflictLines names the questions that stand with different answers, each
// place with its id and what it calls right.
func conflictLines(t *ui.Terminal, all []pipeline.Conflict) []string {
	var out []string
	for i, c := range all {
		if i == shownConflicts {
			out = append(out, t.Say(msg.Text{"and %d more; --json has them all", "另有 %d 道；--json 中有全部内容"}, len(all)-i))
			break
		}
		out = append(out, t.Say(msg.Text{"different answers: %s", "答案不一：%s"}, ui.Truncate(c.Stem, 50)))
		for _, it := range c.Items {
			out = append(out, t.Say(msg.Text{"  %s %s (id %s): %s", "  %s %s（编号 %s）：%s"}, it.File, it.At, it.ID, strings.Join(it.Answer, " | ")))
		}
	}
	return out
}

// closedWord says how the counts of a section stand; a program gets the word of
// the data. proof says that a section of the file does not close although answers
// are given.
func closedWord(t *ui.Terminal, proof bool, p question.Part) string {
	word, text := "closed", msg.Text{"equal", "相符"}
	switch {
	case !p.Closed && p.Keys == 0 && !proof:
		word, text = "no_key", msg.Text{"no key", "无答案"}
	case !p.Closed:
		word, text = "open", msg.Text{"differ", "不符"}
	}
	if !t.OutTTY() {
		return word
	}
	return t.Say(text)
}

// explainSections says of each section how it was read, what the next best way
// to read it was, and what was left out and why.
func explainSections(t *ui.Terminal, inputs []pipeline.InputResult) {
	for _, in := range inputs {
		for _, p := range in.Sections {
			t.Println("")
			t.Prose(t.Say(msg.Text{"%s: %s", "%s：%s"}, in.File, pipeline.SectionName(p)))
			for i, l := range p.Layouts {
				head := msg.Text{"layout: %s, score %.3f", "版式：%s，得分 %.3f"}
				if i > 0 {
					head = msg.Text{"runner-up: %s, score %.3f", "次优：%s，得分 %.3f"}
				}
				t.Prose("  " + t.Say(head, layoutName(l), l.Score))
				t.Prose("    " + t.Say(measures(l)))
			}
			t.Prose("  " + t.Say(msg.Text{"why: %s", "理由：%s"}, whyLayout(p.Layouts)))
			t.Prose("  " + t.Say(msg.Text{"questions %d, key letters %d, matched %d, read whole %d", "题目 %d，答案 %d，已对应 %d，完整读出 %d"}, p.Questions, p.Keys, p.Matched, p.Records))
			explainRest(t, p)
		}
	}
}

// explainRest says what is unusual about a section.
func explainRest(t *ui.Terminal, p question.Part) {
	if len(p.Missing) > 0 {
		t.Prose("  " + t.Say(msg.Text{"numbers that are not there: %s", "缺少的题号：%s"}, msg.Numbers(p.Missing)))
	}
	if len(p.Repeated) > 0 {
		t.Prose("  " + t.Say(msg.Text{"numbers that stand twice: %s", "重复的题号：%s"}, msg.Numbers(p.Repeated)))
	}
	if p.Figures > 0 {
		t.Prose("  " + t.Say(msg.Text{"%d {needs|need} a figure: not for training on text", "%d 道题需要看图：不用于文本训练"}, p.Figures))
	}
	for _, l := range meaningLines(t, p.Doubts, question.DoubtMeaning) {
		t.Prose("  " + t.Say(msg.Text{"doubt: %s", "存疑：%s"}, l))
	}
	for _, l := range p.Left {
		reason := l.Reason
		if means, ok := provenance.ReasonMeaning(l.Reason); ok {
			reason = t.Say(msg.Text{"%s, %s", "%s，%s"}, l.Reason, means)
		}
		t.Prose("  " + t.Say(msg.Text{"left out: %s: %s (%s)", "未采用：%s：%s（%s）"}, l.At, reason, detailWords(l.Detail)))
	}
	n := -len(p.Left)
	for _, v := range p.Dropped {
		n += v
	}
	if n > 0 {
		t.Prose("  " + t.Say(msg.Text{"and %d more; the drop file has them all", "另有 %d 道；全部见丢弃文件"}, n))
	}
}

// detailWords is the detail of a drop, in the reader's language where it is known.
func detailWords(detail string) any {
	if p, ok := question.DetailMeaning(detail); ok {
		return p
	}
	return detail
}

// layoutName says how a layout's marks look.
func layoutName(l question.Layout) msg.Text {
	both := func(en, zh string) msg.Text { return msg.Text{en, zh} }
	switch l.Kind {
	case "header":
		cols := strings.Join(l.Columns, " ")
		return both("columns by their header ("+cols+")", "按表头识别列（"+cols+"）")
	case "content":
		cols := strings.Join(l.Columns, " ")
		return both("columns by what they hold ("+cols+")", "按内容识别列（"+cols+"）")
	case "fields":
		cols := strings.Join(l.Columns, " ")
		return both("fields by their names ("+cols+")", "按名称识别字段（"+cols+"）")
	}
	en, zh := "lines without numbers", "无题号"
	if l.Numbers != "" {
		en, zh = "numbers "+l.Numbers, "题号 "+l.Numbers
	}
	if l.Strict {
		en, zh = en+" in strict order", zh+"（须连续）"
	}
	if l.Options != "" {
		return both(en+", options "+l.Options, zh+"，选项 "+l.Options)
	}
	return both(en+", no options", zh+"，无选项")
}

// measures says what a layout's score is made of.
func measures(l question.Layout) msg.Text {
	pc := func(v float64) string { return fmt.Sprintf("%.1f %%", 100*v) }
	if l.Kind != "lines" {
		return msg.Text{fmt.Sprintf("whole questions %s of %d rows", pc(l.Whole), l.Questions), fmt.Sprintf("完整题目 %s，共 %d 行", pc(l.Whole), l.Questions)}
	}
	en := fmt.Sprintf("questions %d, numbers in order %s, whole %s, lines used %s", l.Questions, pc(l.Order), pc(l.Whole), pc(l.Used))
	zh := fmt.Sprintf("题目 %d，题号连续 %s，完整 %s，所用行 %s", l.Questions, pc(l.Order), pc(l.Whole), pc(l.Used))
	if l.Count != nil {
		en, zh = en+", counts "+pc(*l.Count), zh+"，与答案数相符 "+pc(*l.Count)
	}
	return msg.Text{en, zh}
}

// whyLayout says what the chosen layout has over the next one.
func whyLayout(l []question.Layout) msg.Text {
	if len(l) < 2 {
		return msg.Text{"there is no other way to read it", "没有其他读法"}
	}
	a, b := l[0], l[1]
	var en, zh []string
	add := func(better bool, e, z string) {
		if better {
			en, zh = append(en, e), append(zh, z)
		}
	}
	add(a.Count != nil && b.Count != nil && *a.Count > *b.Count, "its count agrees better with the key", "题数与答案数更相符")
	add(a.Questions > b.Questions && a.Kind == "lines", fmt.Sprintf("it finds more questions (%d against %d)", a.Questions, b.Questions), fmt.Sprintf("找到的题目更多（%d 比 %d）", a.Questions, b.Questions))
	add(a.Order > b.Order, "more numbers follow one another", "题号更连续")
	add(a.Whole > b.Whole, "more of its questions are whole", "完整题目比例更高")
	add(a.Used > b.Used, "it leaves fewer lines over", "剩余的行更少")
	if len(en) == 0 {
		return msg.Text{"the other reading is not clearly better", "另一读法并不明显更好"}
	}
	return msg.Text{strings.Join(en, ", "), strings.Join(zh, "，")}
}
