package report

import (
	"fmt"
	"strconv"

	"github.com/drydock-ml/drydock/eval"
	"github.com/drydock-ml/drydock/internal/chart"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/page"
)

// Sweep writes the report of the checkpoints of a training run.
func Sweep(s *eval.Sweep, l msg.Lang) *page.Doc {
	w := newWriter(l, msg.Text{"Checkpoints on %s", "检查点：%s"}, s.Benchmark)
	if c := SweepChart(s, l); c != nil {
		w.doc.Chart(c.SVG(), c.Text(76, 16))
	}
	heads := []head{
		{msg.Text{"step", "步数"}, true},
		{msg.Text{"checkpoint", "检查点"}, false},
		{msg.Text{"development set", "开发集"}, true},
		{msg.Text{"interval", "区间"}, true},
		{msg.Text{"test", "测试集"}, true},
		{msg.Text{"interval", "区间"}, true},
		{msg.Text{"not evaluated", "未评测"}, false},
	}
	var rows [][]string
	if s.BaseDev != nil {
		rows = append(rows, append(append([]string{"", s.Base}, figures(s.BaseDev)...), "", "", ""))
	}
	for i := range s.Rows {
		r := &s.Rows[i]
		name := r.Checkpoint
		if name == s.Chosen {
			name += w.say(msg.Text{" (chosen)", "（选中）"})
		}
		row := append([]string{strconv.Itoa(r.Step), name}, figures(r.Dev)...)
		rows = append(rows, append(append(row, figures(r.Test)...), r.Error))
	}
	w.table(heads, rows)
	w.text(msg.Text{
		"The test was asked in %d {run|runs} of this project so far.",
		"本项目至今有 %d 次运行向模型提问测试集。",
	}, s.Queries)
	if advice := SweepAdvice(s, l); advice != "" {
		w.doc.Text(advice)
	}
	if s.BaseError != "" {
		w.text(msg.Text{"%s was not compared with: %s", "未能与 %s 比较：%s"}, s.Base, s.BaseError)
	}
	if s.Comparison != nil {
		w.contrasts(s.Comparison)
	}
	for i := range s.Rows {
		for _, x := range []*eval.Summary{s.Rows[i].Dev, s.Rows[i].Test} {
			if x != nil && len(x.Failures) > 0 {
				w.text(msg.Text{"%s, %s: %d {item|items} without an answer, counted as wrong.", "%s，%s：%d 道题没有回答，按错误计。"}, s.Rows[i].Checkpoint, x.Benchmark, len(x.Failures))
			}
		}
	}
	w.sweepDependsOn(s)
	return w.doc
}

// SweepAdvice says what a best figure is worth when every checkpoint was asked the
// test; empty: not so.
func SweepAdvice(s *eval.Sweep, l msg.Lang) string {
	if s.Dev != "" || len(s.Rows) < 2 {
		return ""
	}
	return msg.Text{
		"every checkpoint was asked the test: the best of %d is better by luck, too; --dev FILE chooses on other items and asks the test once",
		"每个检查点都做了测试集：%d 个中的最高分含运气成分；--dev FILE 可在其他题目上选择，只做一次测试集",
	}.Format(l, len(s.Rows))
}

// sweepDependsOn lists what all the runs share, and of each checkpoint its weights
// and answers.
func (w writer) sweepDependsOn(s *eval.Sweep) {
	var rows [][]string
	shared := map[string]bool{}
	add := func(name string, x *eval.Summary) {
		if x == nil {
			return
		}
		for _, c := range x.DependsOn {
			who := name
			if c.Name != "model" && c.Name != "reviews" && c.Name != "served_from" {
				if who = x.Benchmark; shared[who+"\x00"+c.Name+"\x00"+c.Value] {
					continue
				}
				shared[who+"\x00"+c.Name+"\x00"+c.Value] = true
			}
			rows = append(rows, []string{who, c.Name, c.Value})
		}
	}
	add(s.Base, s.BaseDev)
	for i := range s.Rows {
		r := &s.Rows[i]
		rows = append(rows, []string{r.Checkpoint, "weights", "sha256:" + r.SHA256})
		add(r.Checkpoint, r.Dev)
		add(r.Checkpoint, r.Test)
	}
	if len(rows) > 0 {
		w.heading(msg.Text{"What this depends on", "结果所依据的条件"})
		w.table([]head{{msg.Text{"of", "对象"}, false}, {msg.Text{"name", "名称"}, false}, {msg.Text{"value", "值"}, false}}, rows)
	}
}

// figures are accuracy and interval; empty where nothing was asked.
func figures(s *eval.Summary) []string {
	if s == nil {
		return []string{"", ""}
	}
	return []string{fmt.Sprintf("%s (%d)", Share(s.Accuracy), s.N), Interval(s.Wilson95)}
}

// SweepChart draws accuracy over steps, of the set the choice was made on where
// there is one; nil when no checkpoint was evaluated.
func SweepChart(s *eval.Sweep, l msg.Lang) *chart.Lines {
	c := &chart.Lines{
		Title: msg.Text{"accuracy over steps, with its interval", "各步准确率及其区间"}.In(l), XName: msg.Text{"step", "步数"}.In(l), YScale: chart.Percent,
	}
	line := chart.Series{Name: s.Benchmark}
	if s.Dev != "" {
		line.Name = s.Dev
	}
	for i := range s.Rows {
		r := &s.Rows[i]
		x := r.Test
		if s.Dev != "" {
			x = r.Dev
		}
		if x != nil {
			line.Points = append(line.Points, chart.Point{X: float64(r.Step), Y: x.Accuracy, Low: x.Wilson95[0], High: x.Wilson95[1], Chosen: r.Checkpoint == s.Chosen})
		}
	}
	if len(line.Points) == 0 {
		return nil
	}
	c.Series = []chart.Series{line}
	if s.BaseDev != nil {
		c.Levels = []chart.Level{{Name: s.Base, Y: s.BaseDev.Accuracy}}
	}
	return c
}
