package report

import (
	"fmt"

	"github.com/drydock-ml/drydock/eval"
	"github.com/drydock-ml/drydock/internal/chart"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/page"
)

// Comparison writes the report of runs beside a base.
func Comparison(c *eval.Comparison, l msg.Lang) *page.Doc {
	w := newWriter(l, msg.Text{"Runs compared: %s", "运行对比：%s"}, c.Benchmark)
	w.scores(c)
	w.contrasts(c)
	for i := range c.Others {
		w.flips(&c.Others[i])
	}
	w.runsDependOn(c)
	return w.doc
}

// contrasts is the table of the runs beside the base, with what it means.
func (w writer) contrasts(c *eval.Comparison) {
	w.heading(msg.Text{"Against %s, item by item", "与 %s 逐题比较"}, c.Base.Name)
	rows := make([][]string, len(c.Others))
	for i := range c.Others {
		k := &c.Others[i]
		rows[i] = []string{
			k.Name, fmt.Sprint(k.Shared), fmt.Sprint(k.Gained), fmt.Sprint(k.Lost),
			Points(k.Difference), PointsInterval(k.Interval95), PValue(k.PValue), PValue(k.Holm), size(k.Detectable),
		}
	}
	w.table([]head{
		{msg.Text{"run", "运行"}, false},
		{msg.Text{"items", "题数"}, true},
		{msg.Text{"gained", "新增正确"}, true},
		{msg.Text{"lost", "新增错误"}, true},
		{msg.Text{"difference", "差值"}, true},
		{msg.Text{"interval", "区间"}, true},
		{msg.Text{"p", "p"}, true},
		{msg.Text{"p (Holm)", "p（Holm）"}, true},
		{msg.Text{"detectable", "可检出"}, true},
	}, rows)
	w.text(msg.Text{
		"p: McNemar's exact test where every item has one answer, a paired t test where items were asked several times. Holm: adjusted for all comparisons of this table. Detectable: the smallest true gain this many items show four times in five when runs differ on as many. Intervals hold the true value 95 times in 100; pp is percentage points.",
		"p：每题一个回答时用 McNemar 精确检验，多次提问时用配对 t 检验。Holm：按本表全部比较校正。可检出：在差异比例相同的情况下，该题数五次中有四次能检出的最小真实增益。区间的置信度为 0.95；pp 为百分点。",
	})
	for _, line := range ComparisonNotes(c, w.l) {
		w.doc.Text(line)
	}
}

func (w writer) scores(c *eval.Comparison) {
	all := []eval.RunScore{c.Base}
	for i := range c.Others {
		all = append(all, c.Others[i].RunScore)
	}
	bars := chart.Bars{Title: w.say(msg.Text{"accuracy with its interval", "准确率及其区间"}), Scale: chart.Percent, Most: 1}
	rows := make([][]string, len(all))
	for i, s := range all {
		bars.Bars = append(bars.Bars, chart.Bar{Name: s.Name, Value: s.Accuracy, Low: s.Wilson95[0], High: s.Wilson95[1], Note: fmt.Sprintf("n %d", s.N)})
		rows[i] = []string{s.Name, s.Model, fmt.Sprint(s.N), Share(s.Accuracy), Interval(s.Wilson95), s.File}
	}
	w.table([]head{
		{msg.Text{"run", "运行"}, false},
		{msg.Text{"model", "模型"}, false},
		{msg.Text{"n", "n"}, true},
		{msg.Text{"accuracy", "准确率"}, true},
		{msg.Text{"interval", "区间"}, true},
		{msg.Text{"file", "文件"}, false},
	}, rows)
	w.doc.Chart(bars.SVG(), bars.Text(72))
}

// flips lists the items two runs score differently, by the letters they gave.
func (w writer) flips(k *eval.Contrast) {
	if len(k.Flips) == 0 {
		return
	}
	w.heading(msg.Text{"Items on which %s differs", "%s 与基准不同的题目"}, k.Name)
	rows := make([][]string, len(k.Flips))
	for i, f := range k.Flips {
		change := w.say(msg.Text{"lost", "变错"})
		if f.Gained {
			change = w.say(msg.Text{"gained", "变对"})
		}
		rows[i] = []string{fmt.Sprint(f.Index), f.Key, Letter(f.Before), Letter(f.After), change}
	}
	w.table([]head{
		{msg.Text{"index", "序号"}, true}, {msg.Text{"key", "答案"}, false}, {msg.Text{"base", "基准"}, false}, {msg.Text{"here", "本次"}, false}, {msg.Text{"change", "变化"}, false},
	}, rows)
}

// runsDependOn lists what the figures of each run rest on.
func (w writer) runsDependOn(c *eval.Comparison) {
	var rows [][]string
	add := func(s *eval.RunScore) {
		for _, x := range s.DependsOn {
			rows = append(rows, []string{s.Name, x.Name, x.Value})
		}
	}
	add(&c.Base)
	for i := range c.Others {
		add(&c.Others[i].RunScore)
	}
	if len(rows) == 0 {
		return
	}
	w.heading(msg.Text{"What this depends on", "结果所依据的条件"})
	w.table([]head{{msg.Text{"run", "运行"}, false}, {msg.Text{"name", "名称"}, false}, {msg.Text{"value", "值"}, false}}, rows)
}

// ComparisonNotes are the sentences a reader needs beside the table: items that
// only one run answered, and what choosing among several runs is worth.
func ComparisonNotes(c *eval.Comparison, l msg.Lang) []string {
	var out []string
	for i := range c.Others {
		k := &c.Others[i]
		if k.Holm >= 0.05 && k.Gained+k.Lost > 0 {
			out = append(out, msg.Text{"%s is not shown to differ from %s (p %s)", "尚不能证明 %s 与 %s 有差异（p %s）"}.Format(l, k.Name, c.Base.Name, PValue(k.Holm)))
		}
		if n, m := len(k.OnlyBase), len(k.OnlyHere); n+m > 0 {
			out = append(out, msg.Text{
				"%s: %d {item|items} only in the base, %d only here; the comparison is over the %d both have",
				"%s：%d 题仅基准有，%d 题仅本次有；按共有的 %d 题比较",
			}.Format(l, k.Name, n, m, k.Shared))
		}
		if k.Clustered != nil {
			out = append(out, msg.Text{
				"%s: with items of one subject depending on each other, the interval is %s",
				"%s：若同一学科的题目相互关联，区间为 %s",
			}.Format(l, k.Name, PointsInterval(*k.Clustered)))
		}
	}
	if c.Luck > 0 {
		out = append(out, msg.Text{
			"The best of these %d runs is about %s too good by luck alone: choose on other questions, then ask the benchmark once.",
			"这 %d 次运行中最好的一次，单凭运气就会偏高约 %s：请用其他题目选择检查点，再对评测集提问一次。",
		}.Format(l, len(c.Others), size(c.Luck)))
	}
	return out
}
