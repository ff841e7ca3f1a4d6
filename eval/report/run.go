package report

import (
	"fmt"
	"maps"
	"slices"

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
	w.orders(s.Permutations)
	w.failures(s)
	w.problems(s)
	w.checks(s.Preflight)
	w.lists(s)
	w.dependsOn(s.DependsOn)
	return w.doc
}

// facts is the table a reader looks for first.
func (w writer) facts(s *eval.Summary, a *eval.Analysis) {
	f := &facts{w: w}
	f.made(s)
	f.counted(s, a)
	f.read(s, a)
	for _, x := range []struct{ name, path string }{
		{"reviews", s.Files.Reviews}, {"predictions", s.Files.Predictions}, {"report", s.Files.Report}, {"config", s.Files.Config},
	} {
		if x.path != "" {
			f.rows = append(f.rows, []string{x.name, x.path})
		}
	}
	w.table([]head{{msg.Text{"figure", "指标"}, false}, {msg.Text{"value", "数值"}, false}}, f.rows)
}

// facts gathers rows of a name and a value.
type facts struct {
	w    writer
	rows [][]string
}

func (f *facts) add(name msg.Text, value string) {
	f.rows = append(f.rows, []string{f.w.say(name), value})
}

// made says who answered, and how that went.
func (f *facts) made(s *eval.Summary) {
	l := f.w.l
	f.add(msg.Text{"benchmark", "评测集"}, s.Benchmark)
	if s.Model != "" {
		model := s.Model
		if s.Baseline {
			model += f.w.say(msg.Text{" (a baseline, no model)", "（基线，不是模型）"})
		}
		f.add(msg.Text{"model", "模型"}, model)
	}
	if s.Source != nil {
		f.add(msg.Text{"file of", "文件类型"}, SourceWords(s.Source, l))
		f.add(msg.Text{"file", "文件"}, s.Source.File)
	}
	if s.Preflight != nil {
		f.add(msg.Text{"preflight", "预检"}, PreflightWords(s.Preflight, l))
	}
	if s.Traffic != nil {
		f.add(msg.Text{"requests", "请求"}, TrafficWords(s.Traffic, l))
	}
	if s.Reused > 0 {
		f.add(msg.Text{"answers of an earlier run", "沿用以往运行的回答"}, fmt.Sprint(s.Reused))
	}
	if s.Queries > 0 {
		f.add(msg.Text{"runs that asked a model these items so far", "至今向模型提问这些题目的运行次数"}, fmt.Sprint(s.Queries))
	}
}

// counted is the headline, and what it would be counted otherwise.
func (f *facts) counted(s *eval.Summary, a *eval.Analysis) {
	of := func(share float64, correct, n int) string {
		return f.w.say(msg.Text{"%s (%d of %d)", "%s（%d / %d）"}, Share(share), correct, n)
	}
	f.add(msg.Text{"accuracy", "准确率"}, of(s.Accuracy, s.Correct, s.N))
	f.add(msg.Text{"interval (Wilson, 95 in 100)", "区间（Wilson，置信度 0.95）"}, Interval(s.Wilson95))
	if a.Grouping != nil {
		by := msg.Text{"items of one subject depending on each other", "同一学科的题目相互关联"}
		if a.Grouped == "stem" {
			by = msg.Text{"items with the same stem depending on each other", "题干相同的题目相互关联"}
		}
		f.add(msg.Text{"interval, clustered", "区间（聚类）"}, f.w.say(msg.Text{"%s, with %s", "%s，考虑%s"}, Interval(*a.Grouping), by))
	}
	f.add(msg.Text{"asked, rows, counted", "提问、记录、计入"}, fmt.Sprintf("%d, %d, %d", s.Asked, s.Rows, s.N))
	if s.Repeats > 1 {
		f.add(msg.Text{"answers to each item", "每题回答数"}, fmt.Sprint(s.Repeats))
	}
	if o := s.EvalScope; o != nil {
		f.add(msg.Text{"as EvalScope counts", "按 EvalScope 计"}, of(o.Accuracy, o.Correct, o.N))
	}
	if o := s.AllCounted; o != nil {
		f.add(msg.Text{"with every item", "全部计入"}, of(o.Accuracy, o.Correct, o.N))
	}
	if s.Logprobs != nil {
		f.add(msg.Text{"by the most probable letter", "按概率最高的字母"}, LogprobWords(s.Logprobs, f.w.l))
		f.add(msg.Text{"its interval", "其区间"}, Interval(s.Logprobs.Wilson95))
	}
	if s.Permutations != nil {
		f.add(msg.Text{"other orders of the options", "其他选项顺序"}, PermutationWords(s.Permutations, f.w.l))
	}
	f.add(msg.Text{"gain another run must have to be told apart by accuracy alone", "仅凭准确率可区分的最小差距"}, size(a.Gain))
}

// read says how the letters were found.
func (f *facts) read(s *eval.Summary, a *eval.Analysis) {
	f.add(msg.Text{"rule", "抽取规则"}, s.Rule)
	if s.OtherDiffers > 0 {
		f.add(msg.Text{"other rule", "另一规则"}, f.w.say(msg.Text{"%s reads another letter on %d {item|items} and finds %d correct", "%s 在 %d 题上抽取到不同字母，判对 %d 题"}, s.OtherRule, s.OtherDiffers, s.OtherCorrect))
	}
	if len(s.Letters) > 0 { // free questions have none
		f.add(msg.Text{"letters", "字母"}, LetterCounts(s.Letters, f.w.l))
		f.add(msg.Text{"no letter", "未抽取到字母"}, fmt.Sprint(s.NoExtraction))
		f.add(msg.Text{"letter not offered", "字母不在选项中"}, fmt.Sprint(s.OutsideOptions))
	}
	f.add(msg.Text{"cut off", "被截断"}, fmt.Sprint(s.Truncated))
	if a.Repeated > 0 {
		f.add(msg.Text{"answers that changed when asked again", "重复提问时改变的回答"}, Share(a.FlipRate))
	}
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
	for _, letter := range slices.Sorted(maps.Keys(b.Excess)) {
		more = append(more, fmt.Sprintf("%s %+.1f", letter, b.Excess[letter]))
	}
	switch {
	case b.Wrong == 0 || b.DF == 0:
		return msg.Text{"No wrong answer names an offered letter, so nothing can be said about a liking for one.", "没有答错且字母在选项中的回答，无法判断是否偏好某个字母。"}.In(l)
	case b.PValue == 1 && b.ChiSquare > 0: // see [eval.LetterBias]
		return msg.Text{
			"%d wrong {answer is|answers are} too few to say whether a letter is liked: %s against an even spread over the wrong options.",
			"%d 个错误回答太少，无法判断是否偏好某个字母：相对均匀分布 %s。",
		}.Format(l, b.Wrong, msg.List(more))
	case b.PValue < 0.01:
		return msg.Text{
			"The %d wrong answers lean to some letters: %s against an even spread over the wrong options (chi-square %.1f, p %s).",
			"%d 个错误回答偏向某些字母：相对均匀分布 %s（卡方 %.1f，p %s）。",
		}.Format(l, b.Wrong, msg.List(more), b.ChiSquare, PValue(b.PValue))
	}
	return msg.Text{
		"The %d wrong answers show no liking for a letter: %s against an even spread over the wrong options (chi-square %.1f, p %s).",
		"%d 个错误回答未显示对某个字母的偏好：相对均匀分布 %s（卡方 %.1f，p %s）。",
	}.Format(l, b.Wrong, msg.List(more), b.ChiSquare, PValue(b.PValue))
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
		rows[i] = []string{fmt.Sprint(f.Index), w.say(failureKind(f.Kind)), f.Cause, fmt.Sprint(max(f.Attempts, 1))}
	}
	w.table([]head{
		{msg.Text{"index", "序号"}, true}, {msg.Text{"kind", "类别"}, false}, {msg.Text{"cause", "原因"}, false}, {msg.Text{"attempts", "尝试次数"}, true},
	}, rows)
}

func failureKind(k eval.FailureKind) msg.Text {
	switch k {
	case eval.FailureRequest:
		return msg.Text{"request failed", "请求失败"}
	case eval.FailureRefused:
		return msg.Text{"refused", "拒答"}
	case eval.FailureFiltered:
		return msg.Text{"filtered", "被过滤"}
	case eval.FailureEmpty:
		return msg.Text{"empty", "空回复"}
	}
	return msg.Text{string(k), string(k)}
}

// orders is the table of other orders of the options.
func (w writer) orders(p *eval.Permutations) {
	if p == nil {
		return
	}
	w.heading(msg.Text{"Orders of the options", "选项顺序"})
	rows := make([][]string, len(p.Orders))
	for i, o := range p.Orders {
		rows[i] = []string{fmt.Sprint(o.Order), Share(o.Accuracy), Interval(o.Wilson95), LetterCounts(o.Letters, w.l)}
	}
	w.table([]head{
		{msg.Text{"order", "顺序"}, true}, {msg.Text{"accuracy", "准确率"}, true}, {msg.Text{"interval", "区间"}, true}, {msg.Text{"letters", "字母"}, false},
	}, rows)
	w.text(msg.Text{
		"0 is the benchmark's own. %d {item was|items were} put in other orders, %d {keeps its|keep their} own; mean accuracy %s.",
		"0 为评测集原有顺序。%d 道题变换了顺序，%d 道题保持原样；平均准确率 %s。",
	}, p.Items, p.Fixed, Share(p.MeanAccuracy))
}

// mostProblems is how many problems of a file are listed; a file of another
// benchmark has as many as rows.
const mostProblems = 200

// problems lists the lines of the scored file that are not as they should be.
func (w writer) problems(s *eval.Summary) {
	if len(s.Problems) == 0 {
		return
	}
	w.heading(msg.Text{"Lines of the file", "文件中的行"})
	var points []string
	for i, p := range s.Problems {
		if i == mostProblems {
			points = append(points, w.say(msg.Text{"and %d more", "另有 %d 条"}, len(s.Problems)-i))
			break
		}
		points = append(points, p.In(w.l))
	}
	w.doc.List(points...)
}

// checks lists what preflight warned of.
func (w writer) checks(p *eval.PreflightReport) {
	if p == nil {
		return
	}
	var rows [][]string
	for _, c := range p.Checks {
		if c.Status == eval.CheckWarned || c.Status == eval.CheckFailed {
			rows = append(rows, []string{c.ID, c.In(w.l), c.FixIn(w.l)})
		}
	}
	if len(rows) > 0 {
		w.heading(msg.Text{"What preflight warned of", "预检警告"})
		w.table([]head{{msg.Text{"check", "检查"}, false}, {msg.Text{"found", "发现"}, false}, {msg.Text{"what to do", "处理办法"}, false}}, rows)
	}
}

// dependsOn lists what the figures rest on.
func (w writer) dependsOn(all []eval.Condition) {
	if len(all) == 0 {
		return
	}
	w.heading(msg.Text{"What this depends on", "结果所依据的条件"})
	rows := make([][]string, len(all))
	for i, c := range all {
		rows[i] = []string{c.Name, c.Value}
	}
	w.table([]head{{msg.Text{"name", "名称"}, false}, {msg.Text{"value", "值"}, false}}, rows)
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
			points = append(points, w.say(l.name, msg.Numbers(l.indexes)))
		}
	}
	if len(points) > 0 {
		w.heading(msg.Text{"Items to look at", "需要查看的题目"})
		w.doc.List(points...)
	}
}
