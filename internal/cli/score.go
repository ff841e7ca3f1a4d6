package cli

import (
	"context"
	"path/filepath"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/drydock-ml/drydock/eval"
	"github.com/drydock-ml/drydock/eval/benchmark"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/pipeline"
)

// ScoreOptions are the flags of score.
type ScoreOptions struct {
	File    string
	Bench   string
	WorkDir string
	Model   string
	Rule    string
	MinAcc  float64
	DryRun  bool
}

func newScoreCommand(a *app) *cobra.Command {
	var o ScoreOptions
	c := a.command("score", about{
		use: "FILE", args: oneArg("FILE"),
		short: msg.Text{"Grade answers again, without the model.", "不使用模型，重新判分。"},
		long: msg.Text{
			"FILE holds EvalScope reviews or predictions, or rows of {\"index\", \"output\"}. The number counted is the number of rows given; every missing, doubled or torn row is named.",
			"FILE 为 EvalScope 的 reviews 或 predictions，或形如 {\"index\", \"output\"} 的行。计数以给出的行为准；缺失、重复或残缺的行都会逐一列出。",
		},
		examples: []example{
			{msg.Text{"a reviews file", "reviews 文件"}, "drydock score reviews/m/maritime_bench_default.jsonl"},
			{msg.Text{"answers of any program", "任意程序的回答"}, "drydock score answers.jsonl --bench dev.jsonl --json"},
		},
		exits: []int{3, 12},
	}, nil)
	c.RunE = func(cmd *cobra.Command, args []string) error {
		o.File = args[0]
		return runScore(cmd.Context(), a, o)
	}
	f := a.flags(c.Flags())
	f.str(&o.Bench, "bench", "", "maritime_bench", msg.Text{"benchmark name or file `REF`", "评测集名称或文件 `REF`"})
	f.output(&o.WorkDir, "work-dir", "", msg.Text{"write EvalScope's files below `DIR`", "将 EvalScope 文件写入 `DIR`"})
	f.str(&o.Model, "model", "", "", msg.Text{"model `NAME` in these files (default: as the rows say)", "这些文件中的模型名 `NAME`（默认：以行内为准）"})
	f.str(&o.Rule, "rule", "", "", msg.Text{"read the letter by `RULE`: bracket_first@1, bracket_last@1 (default: the benchmark's)", "按 `RULE` 抽取字母：bracket_first@1、bracket_last@1（默认：评测集的规则）"})
	f.float(&o.MinAcc, "min-acc", "", 0, msg.Text{"end with 12 when the accuracy is below `X` (0 to 1)", "准确率低于 `X`（0 到 1）时以 12 退出"})
	f.dryRun(&o.DryRun)
	a.completeFunc(c, "bench", a.knownBenches)
	a.complete(c, "rule", ruleNames()...)
	return c
}

func runScore(_ context.Context, a *app, o ScoreOptions) error {
	if o.MinAcc < 0 || o.MinAcc > 1 {
		return badValue("--min-acc", strconv.FormatFloat(o.MinAcc, 'g', -1, 64), kindWords{"a number from 0 to 1", "0 到 1 之间的数字"})
	}
	if o.DryRun {
		o.WorkDir = ""
	}
	b, err := a.findBench(o.Bench)
	if err != nil {
		return err
	}
	if err := useRule(b, o.Rule); err != nil {
		return err
	}
	data, err := a.readFile(o.File)
	if err != nil {
		return err
	}
	s, err := eval.Score(eval.ScoreJob{
		Benchmark: b.Benchmark, Items: b.Items, Name: filepath.ToSlash(o.File), Data: data, WorkDir: o.WorkDir, Model: o.Model,
	})
	if err != nil {
		return err
	}
	return a.evalAnswer(s, o.MinAcc)
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
		return fail.New(fail.Usage, msg.Text{"--rule %s: %s has no choice of rules", "--rule %s：%s 没有可选规则"}, rule, b.Name)
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

// evalAnswer prints a summary and returns what makes it less than good: rows
// that could not be counted, and an accuracy below the floor.
func (a *app) evalAnswer(s eval.Summary, floor float64) error {
	if err := a.answer(evalSummary{s}); err != nil {
		return err
	}
	var bad fail.List
	for _, err := range []error{s.Err(), s.AtLeast(floor)} {
		bad = append(bad, fail.All(err)...)
	}
	return bad.OrNil()
}
