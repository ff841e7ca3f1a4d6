package cli

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/drydock-ml/drydock/eval"
	"github.com/drydock-ml/drydock/eval/report"
	"github.com/drydock-ml/drydock/internal/atomicfile"
	"github.com/drydock-ml/drydock/internal/chart"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/page"
	"github.com/drydock-ml/drydock/internal/pipeline"
	"github.com/drydock-ml/drydock/internal/ui"
)

// CompareOptions are the flags of compare.
type CompareOptions struct {
	Runs  []string
	Bench string
	Rule  string
	reportOptions
	DryRun bool
}

func newCompareCommand(a *app) *cobra.Command {
	var o CompareOptions
	c := a.command("compare", about{
		use: "A B…", args: someArgs("A"),
		short: msg.Text{"Compare runs item by item, the first against the others.", "逐题比较多次运行：第一个为基准。"},
		long: msg.Text{
			"A and B are reviews, predictions or {\"index\", \"output\"} rows, or work folders of eval or EvalScope. Runs over the same items are far easier to tell apart than two accuracies: printed are the items gained and lost, the difference with its interval, the exact p-value, and the smallest gain so many items can show.",
			"A、B 为 reviews、predictions 或 {\"index\", \"output\"} 行，或 eval、EvalScope 的工作目录。对同一批题目逐题比较，比只看两个准确率灵敏得多：列出新增正确与新增错误的题目、差值及其区间、精确 p 值，以及该题数能检出的最小增益。",
		},
		examples: []example{
			{msg.Text{"two checkpoints", "两个检查点"}, "drydock compare base/ ck400/ --bench dev.jsonl"},
			{msg.Text{"a page with charts for the report", "输出带图表的报告网页"}, "drydock compare base/ ck200/ ck400/ --html compare.html"},
		},
		exits: []int{3},
	}, nil)
	c.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) < 2 {
			return fail.New(fail.Usage, msg.Text{"one run has nothing to be compared with", "只有一次运行，无法比较"}).
				Hint(msg.Text{"name the base first, then the others: drydock compare BASE RUN…", "先写基准，再写其他运行：drydock compare BASE RUN…"})
		}
		o.Runs = args
		return runCompare(cmd.Context(), a, o)
	}
	f := a.flags(c.Flags())
	f.str(&o.Bench, "bench", "", "maritime_bench", msg.Text{"benchmark name, file or folder `REF`", "评测集名称、文件或文件夹 `REF`"})
	f.str(&o.Rule, "rule", "", "", msg.Text{"read the letter by `RULE` (default: the benchmark's)", "按 `RULE` 抽取字母（默认：评测集的规则）"})
	f.reports(&o.reportOptions)
	f.dryRun(&o.DryRun)
	a.completeFunc(c, "bench", a.knownBenches)
	a.complete(c, "rule", ruleNames()...)
	return c
}

// reportOptions name the reports people read, and what they are told about the
// items.
type reportOptions struct{ Markdown, HTML, Subjects string }

func (f flags) reports(o *reportOptions) {
	f.output(&o.Markdown, "md", "", msg.Text{"write a report as Markdown to `FILE`", "将报告以 Markdown 写入 `FILE`"})
	f.output(&o.HTML, "html", "", msg.Text{"write a report with charts as one HTML `FILE`", "将带图表的报告写成单个 HTML 文件 `FILE`"})
	f.str(&o.Subjects, "subjects", "", "", msg.Text{"`FILE` that says what items are about: CSV with index,subject", "说明各题学科的 `FILE`：含 index,subject 的 CSV"})
}

// writePages writes the reports that were asked for, and names them. None is
// built when none was.
func (a *app) writePages(o reportOptions, build func() *page.Doc) error {
	if o.Markdown == "" && o.HTML == "" {
		return nil
	}
	doc := build()
	for _, f := range []struct {
		name string
		data func() []byte
		said msg.Text
	}{
		{o.Markdown, doc.Markdown, msg.Text{"Markdown: %s", "Markdown：%s"}},
		{o.HTML, doc.HTML, msg.Text{"page: %s", "网页：%s"}},
	} {
		if f.name == "" {
			continue
		}
		err := atomicfile.Write(f.name, func(w io.Writer) error { _, err := w.Write(f.data()); return err })
		if err != nil {
			return err
		}
		a.term.Note(f.said, f.name)
	}
	return nil
}

func (a *app) readSubjects(name string) (eval.Subjects, error) {
	if name == "" {
		return nil, nil
	}
	data, err := a.readFile(name)
	if err != nil {
		return nil, err
	}
	return eval.ReadSubjects(filepath.ToSlash(name), data)
}

// comparison prints runs beside a base.
type comparison struct{ eval.Comparison }

func runCompare(_ context.Context, a *app, o CompareOptions) error {
	b, err := a.benchToGrade(o.Bench)
	if err != nil {
		return err
	}
	if err := useRule(b, o.Rule); err != nil {
		return err
	}
	subjects, err := a.readSubjects(o.Subjects)
	if err != nil {
		return err
	}
	var runs []eval.Graded
	var bad fail.List
	for _, name := range o.Runs {
		g, err := a.gradedRun(b, name)
		if err != nil {
			if fail.Code(err) != 3 {
				return err
			}
			bad = append(bad, fail.All(err)...)
		}
		runs = append(runs, g)
	}
	distinguish(runs)
	c := eval.Compare(b.Benchmark.Ref().String(), runs[0], runs[1:], subjects.By(runs[0].Outcomes))
	for i := range c.Others {
		if c.Others[i].Shared == 0 {
			return fail.New(fail.Usage, msg.Text{"%s and %s have no item in common", "%s 与 %s 没有共同的题目"}, c.Base.File, c.Others[i].File)
		}
	}
	if err := a.answer(comparison{c}); err != nil {
		return err
	}
	if o.DryRun {
		o.Markdown, o.HTML = "", ""
	}
	if err := a.writePages(o.reportOptions, func() *page.Doc { return report.Comparison(&c, a.term.Lang()) }); err != nil {
		return err
	}
	return bad.OrNil()
}

// gradedRun grades a file, or the reviews in a work folder. A run with rows that
// could not be read comes with an error of kind partial.
func (a *app) gradedRun(b *pipeline.Bench, name string) (eval.Graded, error) {
	file, data, err := a.readAnswers(name)
	if err != nil {
		return eval.Graded{}, err
	}
	s, err := eval.Score(eval.ScoreJob{Benchmark: b.Benchmark, Items: b.Items, Name: filepath.ToSlash(file), Data: data, Predictions: predictionsOf(file)})
	if err != nil {
		return eval.Graded{}, err
	}
	for _, n := range s.Notes {
		a.term.Note(msg.Text{"%s: %s", "%s：%s"}, filepath.ToSlash(file), n)
	}
	g := eval.Graded{Name: runName(name), Model: s.Model, File: filepath.ToSlash(file), Outcomes: s.Outcomes(), DependsOn: s.DependsOn}
	for _, p := range s.Problems {
		if p.Lost() {
			err = fail.New(fail.Partial, msg.Text{"%s", "%s"}, p).At(fail.Where{File: filepath.ToSlash(file), Line: p.Line})
		}
	}
	return g, err
}

// distinguish calls runs of one name by their files.
func distinguish(runs []eval.Graded) {
	seen := map[string]int{}
	for i := range runs {
		seen[runs[i].Name]++
	}
	for i := range runs {
		if seen[runs[i].Name] > 1 {
			runs[i].Name = runs[i].File
		}
	}
}

// runName is how a run is called in tables: its folder, or its file without
// extension; a file with the usual name of reviews is called by its folder.
func runName(name string) string {
	name = filepath.Clean(name)
	base := strings.TrimSuffix(filepath.Base(name), filepath.Ext(name))
	if strings.HasSuffix(base, "_default") {
		base = filepath.Base(filepath.Dir(name))
	}
	return base
}

func (c comparison) text(t *ui.Terminal) {
	t.Println(c.Benchmark)
	tb := t.Table(
		ui.Column{Title: msg.Text{"run", "运行"}}, ui.Column{Title: msg.Text{"n", "n"}, Right: true},
		ui.Column{Title: msg.Text{"accuracy", "准确率"}, Right: true}, ui.Column{Title: msg.Text{"interval", "区间"}},
		ui.Column{Title: msg.Text{"difference", "差值"}, Right: true}, ui.Column{Title: msg.Text{"interval", "区间"}},
		ui.Column{Title: msg.Text{"p", "p"}, Right: true},
	)
	tb.Row(c.Base.Name, fmt.Sprint(c.Base.N), report.Share(c.Base.Accuracy), report.Interval(c.Base.Wilson95), "", "", "")
	for i := range c.Others {
		k := &c.Others[i]
		p := k.PValue
		if len(c.Others) > 1 {
			p = k.Holm
		}
		tb.Row(k.Name, fmt.Sprint(k.N), report.Share(k.Accuracy), report.Interval(k.Wilson95), report.Points(k.Difference), strings.TrimSuffix(report.PointsInterval(k.Interval95), " pp"), report.PValue(p))
	}
	tb.Print()
	for i := range c.Others {
		c.contrast(t, &c.Others[i])
	}
	for _, line := range report.ComparisonNotes(&c.Comparison, t.Lang()) {
		t.Println(line)
	}
	if len(c.Others) > 1 {
		t.Print(msg.Text{"p is adjusted for %d comparisons (Holm)", "p 已按 %d 次比较校正（Holm）"}, len(c.Others))
	}
	if t.OutTTY() {
		c.bars(t)
	}
}

func (c comparison) contrast(t *ui.Terminal, k *eval.Contrast) {
	var gained, lost []int
	for _, f := range k.Flips {
		if f.Gained {
			gained = append(gained, f.Index)
		} else {
			lost = append(lost, f.Index)
		}
	}
	t.Print(msg.Text{"%s: gained %s, lost %s", "%s：新增正确 %s，新增错误 %s"}, k.Name, flipped(t, k.Gained, gained), flipped(t, k.Lost, lost))
	t.Print(msg.Text{"  %d items show a true gain of %.2f points or more four times in five", "  %d 题能以五分之四的把握检出 %.2f 个百分点以上的真实增益"}, k.Shared, 100*k.Detectable)
}

// flipped counts items and names the first of them.
func flipped(t *ui.Terminal, n int, items []int) string {
	if n == 0 {
		return t.Say(msg.Text{"0", "0 题"})
	}
	return t.Say(msg.Text{"%d (%s)", "%d 题（%s）"}, n, firstNumbers(items))
}

func (c comparison) bars(t *ui.Terminal) {
	bars := chart.Bars{Scale: chart.Percent, Most: 1, Bars: []chart.Bar{runBar(c.Base)}}
	for i := range c.Others {
		bars.Bars = append(bars.Bars, runBar(c.Others[i].RunScore))
	}
	t.Println("")
	t.Println(strings.TrimRight(bars.Text(min(t.Width(), 100)), "\n"))
}

func runBar(s eval.RunScore) chart.Bar {
	return chart.Bar{Name: s.Name, Value: s.Accuracy, Low: s.Wilson95[0], High: s.Wilson95[1]}
}
