package cli

import (
	"context"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/drydock-ml/drydock/internal/atomicfile"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/pipeline"
	"github.com/drydock-ml/drydock/internal/runstore"
	"github.com/drydock-ml/drydock/internal/ui"
	"github.com/drydock-ml/drydock/provenance/submission"
)

func newSubmitCommand(a *app) *cobra.Command {
	return a.group("submit", msg.Text{"Build and check the challenge package.", "生成和检查竞赛提交包。"}, newSubmitVerifyCommand(a))
}

// SubmitVerifyOptions are the flags of submit verify.
type SubmitVerifyOptions struct {
	Package string
	Report  string
}

func newSubmitVerifyCommand(a *app) *cobra.Command {
	var o SubmitVerifyOptions
	c := a.command("verify", about{
		use: "ZIP|DIR", args: oneArg("ZIP|DIR"),
		short: msg.Text{"Check a package against the rules, gate by gate.", "按规则逐项检查提交包。"},
		long: msg.Text{
			"No GPU, no network and nothing of the team's is needed. Each gate says pass, fail, warn, skip or error, with file and line; what was not checked says why. Gates that need the benchmark's items use the copy registered with drydock bench add.",
			"无需 GPU、网络或队伍的任何环境。每一项给出通过、失败、警告、跳过或错误，并附文件和行号；未检查的项说明原因。需要评测集题目的项使用 drydock bench add 登记的副本。",
		},
		examples: []example{
			{msg.Text{"a package as it was handed in", "收到的提交包"}, "drydock submit verify team_submission.zip"},
			{msg.Text{"with one page to hand back", "并生成一页反馈"}, "drydock submit verify team_submission.zip --report verdict.md"},
		},
		exits: []int{11},
	}, nil)
	c.RunE = func(cmd *cobra.Command, args []string) error {
		o.Package = args[0]
		return runSubmitVerify(cmd.Context(), a, o)
	}
	a.flags(c.Flags()).output(&o.Report, "report", "", msg.Text{"write the verdict as Markdown to `FILE`", "将检查结论以 Markdown 写入 `FILE`"})
	return c
}

func runSubmitVerify(ctx context.Context, a *app, o SubmitVerifyOptions) error {
	r, err := submission.Verify(ctx, o.Package, submission.Options{Benchmark: a.registeredBench})
	if err != nil {
		return err
	}
	if o.Report != "" {
		if err := atomicfile.WriteFile(o.Report, r.Markdown(a.lang)); err != nil {
			return err
		}
	}
	return a.verdict(&r)
}

// verdict prints what the gates say, and is an error when one says no.
func (a *app) verdict(r *submission.Report) error {
	if a.term.JSON() {
		b, err := r.JSON(a.lang)
		if err != nil {
			return err
		}
		if _, err := a.term.Write(b); err != nil {
			return err
		}
	} else {
		printGates(a.term, r)
	}
	if r.OK() {
		return nil
	}
	return fail.New(fail.Submission, msg.Text{"%s is not valid: gates failed: %d", "%s 无效：未通过的检查项：%d"}, filepath.ToSlash(r.Package), r.Summary.Failed+r.Summary.Errors)
}

// registeredBench hands the user's own copy of a benchmark to the gates.
func (a *app) registeredBench(_ context.Context, name string) (submission.Registered, error) {
	home, err := a.host.home()
	if err != nil {
		return submission.Registered{}, err
	}
	_, ok, err := runstore.FindBenchmark(home, name)
	if err != nil {
		return submission.Registered{}, err
	}
	if !ok {
		return submission.Registered{}, fmt.Errorf("%s: %w", name, fs.ErrNotExist)
	}
	b, err := pipeline.FindBench(name, "", home, nil)
	if err != nil {
		return submission.Registered{}, err
	}
	return submission.Registered{Benchmark: b.Benchmark, Items: b.Items}, nil
}

func printGates(t *ui.Terminal, r *submission.Report) {
	tb := t.Table(
		ui.Column{Title: msg.Text{"gate", "检查项"}}, ui.Column{Title: msg.Text{"result", "结果"}},
		ui.Column{Title: msg.Text{"what is checked", "检查内容"}},
	)
	for _, g := range r.Gates {
		tb.Row(g.ID, t.Say(g.Status.Text()), t.Say(g.Title))
	}
	tb.Print()
	for _, g := range r.Gates {
		if g.Status != submission.Pass {
			printFindings(t, g)
		}
	}
	s := r.Summary
	t.Println("")
	t.Print(msg.Text{"%d passed, %d failed, %d warnings, %d skipped, %d errors", "通过 %d，失败 %d，警告 %d，跳过 %d，错误 %d"},
		s.Passed, s.Failed, s.Warned, s.Skipped, s.Errors)
}

// shownFindings is how many findings of a gate are shown beside its first.
const shownFindings = 3

func printFindings(t *ui.Terminal, g submission.Verdict) {
	t.Println("")
	head := g.ID + " " + t.Say(g.Status.Text())
	switch g.Status {
	case submission.Fail, submission.Error:
		head = t.Bad(head)
	}
	if p := g.First.Place(); p != "" {
		head += "  " + p
	}
	if g.Reason != nil {
		head += "  " + g.Reason.In(t.Lang())
	}
	t.Println(head)
	if g.First.Fix != nil {
		t.Println("  " + t.Say(msg.Text{"hint: ", "提示："}) + g.First.Fix.In(t.Lang()))
	}
	for _, f := range g.Evidence[:min(len(g.Evidence), shownFindings)] {
		line := "  "
		if p := f.Place(); p != "" {
			line += p + "  "
		}
		t.Println(line + f.Text.In(t.Lang()))
	}
	if more := g.Findings - 1 - min(len(g.Evidence), shownFindings); more > 0 {
		t.Print(msg.Text{"  … and %d more; --json and --report list them", "  ……另有 %d 处；--json 和 --report 会列出"}, more)
	}
}
