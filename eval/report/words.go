package report

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/drydock-ml/drydock/eval"
	"github.com/drydock-ml/drydock/internal/msg"
)

// SourceWords says what was scored.
func SourceWords(s *eval.Source, l msg.Lang) string {
	kinds := map[string]msg.Text{
		"reviews": {"EvalScope reviews", "EvalScope reviews"}, "predictions": {"EvalScope predictions", "EvalScope predictions"},
		"lm_eval": {"lm-eval samples", "lm-eval samples"}, "opencompass": {"OpenCompass predictions", "OpenCompass 预测"},
		"swift": {"swift results, in their order", "swift 结果（按行序）"}, "outputs": {"rows of index and output", "含 index 与 output 的行"},
	}
	words := kinds[s.Kind].In(l)
	if s.Schema != "" {
		words += " " + string(s.Schema)
	}
	return words
}

// LetterCounts says how often each letter was read.
func LetterCounts(m map[string]int, l msg.Lang) string {
	var parts []string
	for _, letter := range slices.Sorted(maps.Keys(m)) {
		name := letter
		if letter == "" {
			name = msg.Text{"none", "无"}.In(l)
		}
		parts = append(parts, fmt.Sprintf("%s %d", name, m[letter]))
	}
	return strings.Join(parts, " · ")
}

// TrafficWords says how many requests it took.
func TrafficWords(c *eval.Traffic, l msg.Lang) string {
	return msg.Text{"%d; %d tried again, %d asked twice", "%d 个；其中重试 %d 个，重复提问 %d 个"}.Format(l, c.Requests, c.Retries, c.Hedged)
}

// PreflightWords says what was found before the first request.
func PreflightWords(p *eval.PreflightReport, l msg.Lang) string {
	n := map[eval.CheckStatus]int{}
	for _, c := range p.Checks {
		n[c.Status]++
	}
	if len(p.Checks) == 0 {
		return msg.Text{"left out", "未做"}.In(l)
	}
	words := msg.Text{"%d {check|checks} passed", "%d 项通过"}.Format(l, n[eval.CheckPassed])
	if k := n[eval.CheckWarned]; k > 0 {
		words += msg.Text{", %d warned", "，%d 项警告"}.Format(l, k)
	}
	if k := n[eval.CheckSkipped]; k > 0 {
		words += msg.Text{", %d not told by the server", "，%d 项服务端未提供"}.Format(l, k)
	}
	return words
}

// LogprobWords says what the most probable letters come to.
func LogprobWords(p *eval.LogprobScore, l msg.Lang) string {
	words := msg.Text{
		"%.2f %%, %d of %d; the same letter as written on %d, no letter on %d", "%.2f %%，%d / %d；与所写字母相同 %d 题，无字母 %d 题",
	}.Format(l, 100*p.Accuracy, p.Correct, p.N, p.Same, p.Missing)
	if p.Margin != nil {
		words += msg.Text{"; median lead on the next letter %.2f", "；对次高字母的领先中位数 %.2f"}.Format(l, *p.Margin)
	}
	return words
}

// PermutationWords says what other orders of the options gave.
func PermutationWords(p *eval.Permutations, l msg.Lang) string {
	var parts []string
	for _, o := range p.Orders[1:] {
		parts = append(parts, fmt.Sprintf("%.2f %%", 100*o.Accuracy))
	}
	return msg.Text{"%s; the same option in every order: %d of %d, right ones %d", "%s；各顺序选择一致：%d / %d，其中正确 %d"}.Format(l,
		msg.List(parts), p.Consistent, p.Items, p.AlwaysRight)
}
