package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/drydock-ml/drydock/eval"
	"github.com/drydock-ml/drydock/internal/chart"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/page"
)

// Run writes the report of one run, or of a file that was scored.
func Run(s *eval.Summary, a *eval.Analysis, l msg.Lang) *page.Doc {
	w := newWriter(l, msg.Text{"%s: %.2f %%", "%s：%.2f %%"}, s.Benchmark, 100*s.Accuracy)
	w.facts(s, a)
	for _, n := range s.Notes {
		w.doc.Text(n.In(l))
	}
	if s.LeakSignal != nil {
		w.doc.Text(s.LeakSignal.In(l))
	}
	w.letters(a)
	w.subjects(a)
	w.failures(s)
	w.lists(s)
	return w.doc
}

// facts is the table a reader looks for first.
func (w writer) facts(s *eval.Summary, a *eval.Analysis) {
	var rows [][]string
	add := func(name msg.Text, value string) { rows = append(rows, []string{name.In(w.l), value}) }
	add(msg.Text{"benchmark", "评测集"}, s.Benchmark)
	if s.Model != "" {
		add(msg.Text{"model", "模型"}, s.Model)
	}
	add(msg.Text{"accuracy", "准确率"}, w.say(msg.Text{"%s (%d of %d)", "%s（%d / %d）"}, Share(s.Accuracy), s.Correct, s.N))
	add(msg.Text{"interval (Wilson, 95 in 100)", "区间（Wilson，置信度 0.95）"}, Interval(s.Wilson95))
	if a.Grouping != nil {
		by := msg.Text{"items of one subject depending on each other", "同一学科的题目相互关联"}
		if a.Grouped == "stem" {
			by = msg.Text{"items with the same stem depending on each other", "题干相同的题目相互关联"}
		}
		add(msg.Text{"interval, clustered", "区间（聚类）"}, w.say(msg.Text{"%s, with %s", "%s，考虑%s"}, Interval(*a.Grouping), by))
	}
	add(msg.Text{"asked, rows, counted", "提问、记录、计入"}, fmt.Sprintf("%d, %d, %d", s.Asked, s.Rows, s.N))
	add(msg.Text{"rule", "抽取规则"}, s.Rule)
	if s.OtherDiffers > 0 {
		add(msg.Text{"other rule", "另一规则"}, w.say(msg.Text{"%s reads another letter on %d {item|items} and finds %d correct", "%s 在 %d 题上抽取到不同字母，判对 %d 题"}, s.OtherRule, s.OtherDiffers, s.OtherCorrect))
	}
	add(msg.Text{"no letter", "未抽取到字母"}, fmt.Sprint(s.NoExtraction))
	add(msg.Text{"letter not offered", "字母不在选项中"}, fmt.Sprint(s.OutsideOptions))
	add(msg.Text{"cut off", "被截断"}, fmt.Sprint(s.Truncated))
	if a.Repeated > 0 {
		add(msg.Text{"answers that changed when asked again", "重复提问时改变的回答"}, Share(a.FlipRate))
	}
	add(msg.Text{"gain another run must have to be told apart by accuracy alone", "仅凭准确率可区分的最小差距"}, size(a.Gain))
	for _, f := range []struct{ name, path string }{
		{"reviews", s.Files.Reviews}, {"predictions", s.Files.Predictions}, {"report", s.Files.Report}, {"config", s.Files.Config},
	} {
		if f.path != "" {
			rows = append(rows, []string{f.name, f.path})
		}
	}
	w.table([]head{{msg.Text{"figure", "指标"}, false}, {msg.Text{"value", "数值"}, false}}, rows)
}

func (w writer) letters(a *eval.Analysis) {
	if len(a.Letters.Key) == 0 {
		return
	}
	w.heading(msg.Text{"Letters", "字母"})
	c := chart.Counts{
		Title:   w.say(msg.Text{"right letter (rows) and answered letter (columns)", "正确字母（行）与回答字母（列）"}),
		RowName: w.say(msg.Text{"key", "答案"}), ColName: w.say(msg.Text{"answered", "回答"}),
		Rows: a.Letters.Key, N: a.Letters.N, Diagonal: true,
	}
	heads := []head{{msg.Text{"key", "答案"}, false}}
	for _, l := range a.Letters.Answered {
		c.Cols = append(c.Cols, Letter(l))
		heads = append(heads, head{msg.Text{Letter(l), Letter(l)}, true})
	}
	rows := make([][]string, len(a.Letters.Key))
	for i, k := range a.Letters.Key {
		rows[i] = []string{k}
		for _, n := range a.Letters.N[i] {
			rows[i] = append(rows[i], fmt.Sprint(n))
		}
	}
	w.doc.Chart(c.SVG(), "")
	w.table(heads, rows)
	w.doc.Text(BiasSentence(&a.Letters.Bias, w.l))
}

// BiasSentence says what the wrong answers tell about a liking for one letter.
func BiasSentence(b *eval.LetterBias, l msg.Lang) string {
	var more []string
	for _, letter := range sortedKeys(b.Excess) {
		more = append(more, fmt.Sprintf("%s %+.1f", letter, b.Excess[letter]))
	}
	switch {
	case b.Wrong == 0 || b.DF == 0:
		return msg.Text{"No wrong answer names an offered letter, so nothing can be said about a liking for one.", "没有答错且字母在选项中的回答，无法判断是否偏好某个字母。"}.In(l)
	case b.PValue < 0.01:
		return msg.Text{
			"The %d wrong answers lean to some letters: %s against an even spread over the wrong options (chi-square %.1f, p %s).",
			"%d 个错误回答偏向某些字母：相对均匀分布 %s（卡方 %.1f，p %s）。",
		}.Format(l, b.Wrong, strings.Join(more, ", "), b.ChiSquare, PValue(b.PValue))
	}
	return msg.Text{
		"The %d wrong answers show no liking for a letter: %s against an even spread over the wrong options (chi-square %.1f, p %s).",
		"%d 个错误回答未显示对某个字母的偏好：相对均匀分布 %s（卡方 %.1f，p %s）。",
	}.Format(l, b.Wrong, strings.Join(more, ", "), b.ChiSquare, PValue(b.PValue))
}

func sortedKeys(m map[string]float64) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

func (w writer) subjects(a *eval.Analysis) {
	if len(a.Subjects) == 0 {
		return
	}
	w.heading(msg.Text{"Subjects", "学科"})
	bars := chart.Bars{Title: w.say(msg.Text{"accuracy by subject with its interval", "各学科准确率及其区间"}), Scale: chart.Percent, Most: 1}
	rows := make([][]string, len(a.Subjects))
	for i, s := range a.Subjects {
		bars.Bars = append(bars.Bars, chart.Bar{Name: s.Name, Value: s.Accuracy, Low: s.Wilson95[0], High: s.Wilson95[1], Note: fmt.Sprintf("n %d", s.N)})
		rows[i] = []string{s.Name, fmt.Sprint(s.N), Share(s.Accuracy), Interval(s.Wilson95)}
	}
	w.doc.Chart(bars.SVG(), bars.Text(72))
	w.table([]head{{msg.Text{"subject", "学科"}, false}, {msg.Text{"n", "n"}, true}, {msg.Text{"accuracy", "准确率"}, true}, {msg.Text{"interval", "区间"}, true}}, rows)
	if a.Unnamed > 0 {
		w.text(msg.Text{"%d {item has|items have} no subject.", "%d 道题没有学科。"}, a.Unnamed)
	}
}

func (w writer) failures(s *eval.Summary) {
	if len(s.Failures) == 0 {
		return
	}
	w.heading(msg.Text{"Items without an answer", "没有回答的题目"})
	w.text(msg.Text{"They stay in the count, as wrong.", "仍计入总数，按错误计。"})
	rows := make([][]string, len(s.Failures))
	for i, f := range s.Failures {
		rows[i] = []string{fmt.Sprint(f.Index), f.Cause}
	}
	w.table([]head{{msg.Text{"index", "序号"}, true}, {msg.Text{"cause", "原因"}, false}}, rows)
}

// lists names the items behind the counts.
func (w writer) lists(s *eval.Summary) {
	var points []string
	for _, l := range []struct {
		name    msg.Text
		indexes []int
	}{
		{msg.Text{"no letter: %s", "未抽取到字母：%s"}, s.NoExtractionIndexes},
		{msg.Text{"letter not offered: %s", "字母不在选项中：%s"}, s.OutsideIndexes},
		{msg.Text{"the other rule reads another letter: %s", "另一规则抽取到不同字母：%s"}, s.OtherDiffersIndexes},
	} {
		if len(l.indexes) > 0 {
			points = append(points, w.say(l.name, numbers(l.indexes)))
		}
	}
	if len(points) > 0 {
		w.heading(msg.Text{"Items to look at", "需要查看的题目"})
		w.doc.List(points...)
	}
}

func numbers(n []int) string {
	parts := make([]string, len(n))
	for i, v := range n {
		parts[i] = strconv.Itoa(v)
	}
	return strings.Join(parts, ", ")
}
