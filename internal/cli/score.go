package cli

import (
	"context"
	"os"
	"path/filepath"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/drydock-ml/drydock/eval"
	"github.com/drydock-ml/drydock/eval/benchmark"
	"github.com/drydock-ml/drydock/eval/evalscope"
	"github.com/drydock-ml/drydock/eval/report"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/page"
	"github.com/drydock-ml/drydock/internal/pipeline"
)

// ScoreOptions are the flags of score.
type ScoreOptions struct {
	File    string
	Bench   string
	WorkDir string
	Model   string
	Rule    string
	Filter  string
	Schema  string
	MinAcc  float64
	reportOptions
	DryRun bool
}

func newScoreCommand(a *app) *cobra.Command {
	var o ScoreOptions
	c := a.command("score", about{
		use: "FILE|DIR", args: oneArg("FILE"),
		short: msg.Text{"Grade answers again, without the model.", "不使用模型，重新判分。"},
		long: msg.Text{
			"FILE holds EvalScope reviews or predictions of any version, lm-eval samples, OpenCompass predictions, swift results, or rows of {\"index\", \"output\"}; which it is, its shape tells. In DIR, an output folder of one of these, the one such file is found. The number counted is the number of rows given; every missing, doubled, misplaced or torn row is named.",
			"FILE 为任意版本 EvalScope 的 reviews 或 predictions、lm-eval samples、OpenCompass 预测、swift 结果，或形如 {\"index\", \"output\"} 的行，由内容自动识别。DIR 为上述工具的输出目录，其中唯一的此类文件会被找到。计数以给出的行为准；缺失、重复、错序或残缺的行都会逐一列出。",
		},
		examples: []example{
			{msg.Text{"a reviews file", "reviews 文件"}, "drydock score reviews/m/maritime_bench_default.jsonl"},
			{msg.Text{"a work folder, by the rule of newer versions", "工作目录，按新版规则"}, "drydock score outputs/20260101_120000 --rule bracket_last@1"},
			{msg.Text{"answers of any program", "任意程序的回答"}, "drydock score answers.jsonl --bench dev.jsonl --json"},
		},
		exits: []int{3, 12},
	}, nil)
	c.RunE = func(cmd *cobra.Command, args []string) error {
		o.File = args[0]
		return runScore(cmd.Context(), a, o)
	}
	f := a.flags(c.Flags())
	f.str(&o.Bench, "bench", "", "maritime_bench", msg.Text{"benchmark name, file or folder `REF`", "评测集名称、文件或文件夹 `REF`"})
	f.output(&o.WorkDir, "work-dir", "", msg.Text{"write EvalScope's files below `DIR`", "将 EvalScope 文件写入 `DIR`"})
	f.str(&o.Model, "model", "", "", msg.Text{"model `NAME` in these files (default: as the rows say)", "这些文件中的模型名 `NAME`（默认：以行内为准）"})
	f.str(&o.Rule, "rule", "", "", msg.Text{"read the letter by `RULE`: bracket_first@1, bracket_last@1 (default: the benchmark's)", "按 `RULE` 抽取字母：bracket_first@1、bracket_last@1（默认：评测集的规则）"})
	f.str(&o.Filter, "filter", "", "", msg.Text{"read replies through `FILTERS`, as EvalScope's: {\"remove_until\": \"</think>\"}", "先经 `FILTERS` 处理回复，写法同 EvalScope：{\"remove_until\": \"</think>\"}"})
	f.str(&o.Schema, "schema", "", "1.4.2", msg.Text{"write these files as EvalScope `VERSION` does: 1.4.2, 1.14", "按 EvalScope `VERSION` 的格式写文件：1.4.2、1.14"})
	f.float(&o.MinAcc, "min-acc", "", 0, msg.Text{"end with 12 when the accuracy is below `X` (0 to 1)", "准确率低于 `X`（0 到 1）时以 12 退出"})
	f.reports(&o.reportOptions)
	f.dryRun(&o.DryRun)
	a.completeFunc(c, "bench", a.knownBenches)
	a.complete(c, "rule", ruleNames()...)
	a.complete(c, "schema", string(evalscope.Schema142), string(evalscope.Schema114))
	return c
}

func runScore(_ context.Context, a *app, o ScoreOptions) error {
	if o.MinAcc < 0 || o.MinAcc > 1 {
		return badValue("--min-acc", strconv.FormatFloat(o.MinAcc, 'g', -1, 64), msg.Text{"a number from 0 to 1", "0 到 1 之间的数字"})
	}
	if o.DryRun {
		o.WorkDir, o.Markdown, o.HTML = "", "", ""
	}
	subjects, err := a.readSubjects(o.Subjects)
	if err != nil {
		return err
	}
	b, err := a.benchToGrade(o.Bench)
	if err != nil {
		return err
	}
	if err := useRule(b, o.Rule); err != nil {
		return err
	}
	filters, err := benchmark.ParseFilters(o.Filter)
	if err != nil {
		return err
	}
	if err := useFilters(b, filters); err != nil {
		return err
	}
	schema, err := evalscope.ParseSchema(o.Schema)
	if err != nil {
		return err
	}
	var data []byte
	if o.File, data, err = a.readAnswers(o.File); err != nil {
		return err
	}
	s, err := eval.Score(eval.ScoreJob{
		Benchmark: b.Benchmark, Items: b.Items, Name: filepath.ToSlash(o.File), Data: data, Predictions: predictionsOf(o.File),
		WorkDir: o.WorkDir, Model: o.Model, Schema: schema,
	})
	if err != nil {
		return err
	}
	return a.evalAnswer(s, o.MinAcc, o.reportOptions, subjects)
}

// benchToGrade resolves a benchmark. A shipped one of which the user has no copy
// grades rows that bring their own keys.
func (a *app) benchToGrade(ref string) (*pipeline.Bench, error) {
	b, err := a.findBench(ref)
	if err == nil {
		return b, nil
	}
	shipped, unknown := benchmark.Lookup(ref)
	if unknown != nil {
		return nil, err
	}
	return &pipeline.Bench{Name: shipped.Ref().Name, Benchmark: shipped}, nil
}

// readAnswers reads the file to grade: the one named, or the one in the folder
// named. One that lies there in parts is called by the first.
func (a *app) readAnswers(name string) (file string, data []byte, err error) {
	files := []string{name}
	// whatever is wrong, reading it will say
	if info, err := os.Stat(name); err == nil && info.IsDir() {
		found, err := eval.FindAnswers(os.DirFS(name))
		if err != nil {
			for _, e := range fail.All(err) {
				e.At(fail.Where{File: filepath.ToSlash(name)})
			}
			return "", nil, err
		}
		files = files[:0]
		for _, f := range found {
			files = append(files, filepath.Join(name, filepath.FromSlash(f)))
			a.term.Detail(msg.Text{"graded: %s", "评分文件：%s"}, filepath.ToSlash(files[len(files)-1]))
		}
	}
	for _, f := range files {
		part, err := a.readFile(f)
		if err != nil {
			return "", nil, err
		}
		data = append(data, part...)
	}
	return files[0], data, nil
}

// predictionsOf reads the predictions that lie where EvalScope keeps those of a
// reviews file; nil when there are none.
func predictionsOf(reviews string) []byte {
	model := filepath.Dir(reviews)
	kind := filepath.Dir(model)
	if filepath.Base(kind) != "reviews" {
		return nil
	}
	data, err := os.ReadFile(filepath.Join(filepath.Dir(kind), "predictions", filepath.Base(model), filepath.Base(reviews)))
	if err != nil {
		return nil
	}
	return data
}

func ruleNames() []string {
	var names []string
	for _, r := range benchmark.Rules() {
		names = append(names, r.String())
	}
	return names
}

// useRule has a benchmark graded by another rule; an empty name leaves its own.
func useRule(b *pipeline.Bench, rule string) error {
	if rule == "" {
		return nil
	}
	choice, ok := b.Benchmark.(*benchmark.Choice)
	if !ok {
		return fail.New(fail.Usage, msg.Text{"--rule %s: %s has no choice of rules", "--rule %s：%s 没有可选规则"}, rule, b.Name).
			Hint(benchmark.WhyNoROUGE())
	}
	if _, ok := benchmark.LookupRule(rule); !ok {
		return oneOf("--rule", rule, ruleNames()...)
	}
	graded, err := choice.WithRule(rule)
	if err != nil {
		return err
	}
	b.Benchmark = graded
	return nil
}

// evalAnswer prints a summary, writes the reports that were asked for, and
// returns what makes the result less than good: rows that could not be counted,
// and an accuracy below the floor.
func (a *app) evalAnswer(s eval.Summary, floor float64, o reportOptions, subjects eval.Subjects) error {
	analysis := s.Analyze(subjects)
	if err := a.answer(evalSummary{s, analysis}); err != nil {
		return err
	}
	if err := a.writePages(o, func() *page.Doc { return report.Run(&s, &analysis, a.term.Lang()) }); err != nil {
		return err
	}
	var bad fail.List
	for _, err := range []error{s.Err(), s.AtLeast(floor)} {
		bad = append(bad, fail.All(err)...)
	}
	return bad.OrNil()
}
