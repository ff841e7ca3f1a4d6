package cli

import (
	"fmt"

	"github.com/drydock-ml/drydock/eval"
	"github.com/drydock-ml/drydock/eval/report"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/ui"
)

// evalSummary prints what came of an evaluation.
type evalSummary struct {
	eval.Summary
	Analysis eval.Analysis `json:"analysis"`
}

func (s evalSummary) text(t *ui.Terminal) {
	tb := t.Table(ui.Column{}, ui.Column{}).Bare().Wrapped()
	row := func(label msg.Text, value string) { tb.Row(t.Say(label), value) }
	s.figures(t, row)
	s.course(t, row)
	s.reading(t, row)
	for _, f := range []struct {
		label msg.Text
		path  string
	}{
		{msg.Text{"reviews", "reviews"}, s.Files.Reviews},
		{msg.Text{"predictions", "predictions"}, s.Files.Predictions},
		{msg.Text{"report", "report"}, s.Files.Report},
	} {
		if f.path != "" {
			row(f.label, f.path)
		}
	}
	tb.Print()
	s.subjects(t)
	s.problems(t)
	s.failures(t)
	for _, n := range s.Notes {
		t.Note(msg.Text{"%s", "%s"}, n)
	}
	s.noteReused(t)
	noteQueries(t, s.Queries)
	if s.LeakSignal != nil {
		t.Print(msg.Text{"%s", "%s"}, s.LeakSignal)
	}
}

// figures prints who answered and how well.
func (s evalSummary) figures(t *ui.Terminal, row func(msg.Text, string)) {
	row(msg.Text{"benchmark", "评测集"}, s.Benchmark)
	if s.Model != "" {
		model := s.Model
		if s.Baseline {
			model += t.Say(msg.Text{" (a baseline, no model)", "（基线，不是模型）"})
		}
		row(msg.Text{"model", "模型"}, model)
	}
	if s.Source != nil {
		row(msg.Text{"file of", "文件类型"}, report.SourceWords(s.Source, t.Lang()))
	}
	row(msg.Text{"accuracy", "准确率"}, t.Say(msg.Text{
		"%.2f %%, 95 %% interval %.2f–%.2f, %d of %d", "%.2f %%，95 %% 置信区间 %.2f–%.2f，%d / %d",
	}, 100*s.Accuracy, 100*s.Wilson95[0], 100*s.Wilson95[1], s.Correct, s.N))
	if o := s.EvalScope; o != nil {
		row(msg.Text{"as EvalScope counts", "按 EvalScope 计"}, t.Say(msg.Text{"%.2f %%, %d of %d counted", "%.2f %%，%d / 计入 %d"}, 100*o.Accuracy, o.Correct, o.N))
	}
	if o := s.AllCounted; o != nil {
		row(msg.Text{"with every item", "全部计入"}, t.Say(msg.Text{"%.2f %%, %d of %d", "%.2f %%，%d / %d"}, 100*o.Accuracy, o.Correct, o.N))
	}
	rule := s.Rule
	if s.OtherDiffers > 0 {
		rule += t.Say(msg.Text{"; %s reads another letter on %d {item|items} (%s) and finds %d correct", "；%s 在 %d 题上抽取到不同字母（%s），判对 %d 题"},
			s.OtherRule, s.OtherDiffers, firstNumbers(s.OtherDiffersIndexes), s.OtherCorrect)
	}
	row(msg.Text{"rule", "抽取规则"}, rule)
}

// noteReused says whose answers were taken over: a server tells its name only,
// and the next checkpoint is often served under the name of the last.
func (s evalSummary) noteReused(t *ui.Terminal) {
	if s.Reused > 0 && s.Endpoint == "http" {
		t.Note(msg.Text{
			"%d {answer was|answers were} given earlier under the name %s; if it stands for another model by now, --fresh asks again",
			"%d 个回答是以往以名称 %s 得到的；若该名称现已指向另一个模型，用 --fresh 重新提问",
		}, s.Reused, s.Model)
	}
}

// course prints how the asking went.
func (s evalSummary) course(t *ui.Terminal, row func(msg.Text, string)) {
	if s.Reused > 0 {
		row(msg.Text{"taken over", "沿用"}, t.Say(msg.Text{"%d {answer|answers} of an earlier run", "以往运行的 %d 个回答"}, s.Reused))
	}
	if p := s.Preflight; p != nil {
		row(msg.Text{"preflight", "预检"}, report.PreflightWords(p, t.Lang()))
		for _, c := range p.Checks {
			t.Detail(msg.Text{"preflight, %s: %s", "预检 %s：%s"}, c.ID, c)
		}
	}
	if c := s.Traffic; c != nil && c.Requests > s.Asked-s.Reused {
		row(msg.Text{"requests", "请求"}, report.TrafficWords(c, t.Lang()))
	}
}

// reading prints what was found in the answers.
func (s evalSummary) reading(t *ui.Terminal, row func(msg.Text, string)) {
	if len(s.Letters) > 0 { // free questions have none
		row(msg.Text{"no letter", "未抽取到字母"}, fmt.Sprint(s.NoExtraction))
	}
	if s.OutsideOptions > 0 {
		row(msg.Text{"letter not offered", "字母不在选项中"}, fmt.Sprint(s.OutsideOptions))
	}
	if s.Truncated > 0 {
		row(msg.Text{"cut off", "被截断"}, fmt.Sprint(s.Truncated))
	}
	if p := s.Logprobs; p != nil {
		row(msg.Text{"by log probability", "按对数概率"}, report.LogprobWords(p, t.Lang()))
	}
	if p := s.Permutations; p != nil {
		row(msg.Text{"other orders", "其他顺序"}, report.PermutationWords(p, t.Lang()))
	}
	if len(s.Letters) > 0 {
		row(msg.Text{"letters", "字母"}, report.LetterCounts(s.Letters, t.Lang()))
	}
	if !s.Baseline && s.Analysis.Letters.Bias.PValue < biasShown {
		row(msg.Text{"leaning", "偏好"}, report.BiasSentence(&s.Analysis.Letters.Bias, t.Lang()))
	}
	if s.Analysis.Repeated > 0 {
		row(msg.Text{"changed when asked again", "再次提问时改变"}, report.Share(s.Analysis.FlipRate))
	}
	if g := s.Analysis.Grouping; g != nil {
		row(msg.Text{"clustered interval", "聚类区间"}, report.Interval(*g))
	}
}

// biasShown is the p-value below which the wrong letters are worth a line.
const biasShown = 0.01

// subjects prints the accuracy on the items of each subject.
func (s evalSummary) subjects(t *ui.Terminal) {
	if n := s.Analysis.Unmatched; n > 0 {
		t.Warn(msg.Text{"%d {row|rows} of the subject file {names|name} no item; an index counts from 0", "学科文件中有 %d 行不对应任何题目；index 从 0 起"}, n)
	}
	if len(s.Analysis.Subjects) < 2 {
		return
	}
	tb := t.Table(
		ui.Column{Title: msg.Text{"SUBJECT", "学科"}}, ui.Column{Title: msg.Text{"N", "题数"}, Right: true},
		ui.Column{Title: msg.Text{"ACCURACY", "准确率"}, Right: true}, ui.Column{Title: msg.Text{"INTERVAL", "区间"}},
	)
	for _, x := range s.Analysis.Subjects {
		tb.Row(x.Name, fmt.Sprint(x.N), report.Share(x.Accuracy), report.Interval(x.Wilson95))
	}
	tb.Print()
}

// problems names the lines of the scored file that are not counted, and the
// indexes it lacks, runs of those as one.
func (s evalSummary) problems(t *ui.Terminal) {
	file := ""
	if s.Source != nil {
		file = s.Source.File
	}
	said := 0
	for i := 0; i < len(s.Problems); i++ {
		if said == mostProblems {
			t.Warn(msg.Text{"and %d more problems of this file; --json lists all", "该文件另有 %d 处问题；--json 列出全部"}, len(s.Problems)-i)
			return
		}
		said++
		p := s.Problems[i]
		last := i
		for p.Code == "missing" && p.Index >= 0 && last+1 < len(s.Problems) && s.Problems[last+1].Code == "missing" && s.Problems[last+1].Index == s.Problems[last].Index+1 {
			last++
		}
		text := t.Say(msg.Text{"%s", "%s"}, p)
		if last > i {
			text = t.Say(msg.Text{"no row has an index from %d to %d (%d)", "没有 index 为 %d 至 %d 的行（共 %d 个）"}, p.Index, s.Problems[last].Index, last-i+1)
			i = last
		}
		if p.Line > 0 {
			t.Warn(msg.Text{"%s:%d: %s", "%s:%d：%s"}, file, p.Line, text)
			continue
		}
		t.Warn(msg.Text{"%s", "%s"}, text)
	}
}

// mostProblems is how many problems of a scored file are printed.
const mostProblems = 20

// mostFailures is how many items without an answer are printed one by one; all of
// them stand in the summary as JSON.
const mostFailures = 20

// failures lists the items that got no answer of the model.
func (s evalSummary) failures(t *ui.Terminal) {
	for i, f := range s.Failures {
		if i == mostFailures {
			t.Warn(msg.Text{"and %d more items without an answer", "另有 %d 道题没有回答"}, len(s.Failures)-i)
			return
		}
		t.Warn(msg.Text{"item %d: %s", "第 %d 题：%s"}, f.Index, f.Cause)
	}
}

// firstNumbers lists the first of many numbers.
func firstNumbers(numbers []int) msg.List { return msg.Few(msg.Numbers(numbers), 12) }
