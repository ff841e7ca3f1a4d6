package cli

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/drydock-ml/drydock/eval"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/ui"
)

// evalSummary prints what came of an evaluation.
type evalSummary struct{ eval.Summary }

func (s evalSummary) text(t *ui.Terminal) {
	tb := t.Table(ui.Column{}, ui.Column{}).Bare().Wrapped()
	row := func(label msg.Text, value string) { tb.Row(t.Say(label), value) }
	row(msg.Text{"benchmark", "评测集"}, s.Benchmark)
	if s.Model != "" {
		model := s.Model
		if s.Baseline {
			model += t.Say(msg.Text{" (a baseline, no model)", "（基线，不是模型）"})
		}
		row(msg.Text{"model", "模型"}, model)
	}
	row(msg.Text{"accuracy", "准确率"}, t.Say(msg.Text{
		"%.2f %%, 95 %% interval %.2f–%.2f, %d of %d", "%.2f %%，95 %% 置信区间 %.2f–%.2f，%d / %d",
	}, 100*s.Accuracy, 100*s.Wilson95[0], 100*s.Wilson95[1], s.Correct, s.N))
	rule := s.Rule
	if s.OtherDiffers > 0 {
		rule += t.Say(msg.Text{"; %s reads another letter on %d {item|items} (%s) and finds %d correct", "；%s 在 %d 题上抽取到不同字母（%s），判对 %d 题"},
			s.OtherRule, s.OtherDiffers, firstNumbers(s.OtherDiffersIndexes), s.OtherCorrect)
	}
	row(msg.Text{"rule", "抽取规则"}, rule)
	if s.Reused > 0 {
		row(msg.Text{"taken over", "沿用"}, t.Say(msg.Text{"%d {answer|answers} of an earlier run", "以往运行的 %d 个回答"}, s.Reused))
	}
	if p := s.Preflight; p != nil {
		row(msg.Text{"preflight", "预检"}, preflightWords(t, p))
	}
	if c := s.Traffic; c != nil && c.Requests > s.Asked-s.Reused {
		row(msg.Text{"requests", "请求"}, t.Say(msg.Text{"%d; %d tried again, %d asked twice", "%d 个；其中重试 %d 个，重复提问 %d 个"}, c.Requests, c.Retries, c.Hedged))
	}
	row(msg.Text{"no letter", "未抽取到字母"}, fmt.Sprint(s.NoExtraction))
	if s.OutsideOptions > 0 {
		row(msg.Text{"letter not offered", "字母不在选项中"}, fmt.Sprint(s.OutsideOptions))
	}
	if s.Truncated > 0 {
		row(msg.Text{"cut off", "被截断"}, fmt.Sprint(s.Truncated))
	}
	row(msg.Text{"letters", "字母"}, letterCounts(t, s.Letters))
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
	for _, p := range s.Problems {
		if p.Line > 0 {
			t.Warn(msg.Text{"line %d: %s", "第 %d 行：%s"}, p.Line, p)
			continue
		}
		t.Warn(msg.Text{"%s", "%s"}, p)
	}
	for _, f := range s.Failures {
		t.Warn(msg.Text{"item %d: %s", "第 %d 题：%s"}, f.Index, f.Cause)
	}
	for _, n := range s.Notes {
		t.Note(msg.Text{"%s", "%s"}, n)
	}
	noteQueries(t, s.Queries)
	if s.LeakSignal != nil {
		t.Print(msg.Text{"%s", "%s"}, s.LeakSignal)
	}
}

// firstNumbers lists the first of many numbers.
func firstNumbers(numbers []int) string {
	const most = 12
	var parts []string
	for i, n := range numbers {
		if i == most {
			parts = append(parts, "…")
			break
		}
		parts = append(parts, strconv.Itoa(n))
	}
	return strings.Join(parts, ", ")
}

func letterCounts(t *ui.Terminal, m map[string]int) string {
	var parts []string
	for _, l := range slices.Sorted(maps.Keys(m)) {
		name := l
		if l == "" {
			name = t.Say(msg.Text{"none", "无"})
		}
		parts = append(parts, fmt.Sprintf("%s %d", name, m[l]))
	}
	return strings.Join(parts, " · ")
}

// preflightWords says what was found before the first request, and what with -v.
func preflightWords(t *ui.Terminal, p *eval.PreflightReport) string {
	n := map[eval.CheckStatus]int{}
	for _, c := range p.Checks {
		n[c.Status]++
		t.Detail(msg.Text{"preflight, %s: %s", "预检 %s：%s"}, c.ID, c)
	}
	if len(p.Checks) == 0 {
		return t.Say(msg.Text{"left out", "未做"})
	}
	words := t.Say(msg.Text{"%d {check|checks} passed", "%d 项通过"}, n[eval.CheckPassed])
	if k := n[eval.CheckWarned]; k > 0 {
		words += t.Say(msg.Text{", %d warned", "，%d 项警告"}, k)
	}
	if k := n[eval.CheckSkipped]; k > 0 {
		words += t.Say(msg.Text{", %d not told by the server", "，%d 项服务端未提供"}, k)
	}
	return words
}
