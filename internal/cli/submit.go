package cli

import (
	"context"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/drydock-ml/drydock/internal/atomicfile"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/pipeline"
	"github.com/drydock-ml/drydock/internal/ui"
	"github.com/drydock-ml/drydock/provenance/submission"
)

func newSubmitCommand(a *app) *cobra.Command {
	return a.group("submit", msg.Text{"Build and check the challenge package.", "生成和检查竞赛提交包。"}, newSubmitPackCommand(a), newSubmitVerifyCommand(a))
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
			"No GPU, no network and nothing of the team's is needed. Each gate says pass, FAIL, warn, not checked or ERROR, with file and line; what was not checked says why. Gates that need the benchmark's items use the copy registered with drydock bench add.",
			"无需 GPU、网络或队伍的任何环境。每一项给出通过、不通过、警告、未检查或出错，并附文件和行号；未检查的项说明原因。需要评测集题目的项使用 drydock bench add 登记的副本。",
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
	home, err := a.host.home()
	if err != nil {
		return err
	}
	own, err := a.projectBenchmarks()
	if err != nil {
		return err
	}
	r, err := submission.Verify(ctx, o.Package, pipeline.VerifyOptions(".", home, a.host.cache(), own))
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

// projectBenchmarks are the benchmarks only the project here knows; none
// outside a project.
func (a *app) projectBenchmarks() ([]pipeline.BenchmarkConfig, error) {
	if _, err := os.Stat(a.configFile()); err != nil && a.global.Config == "" {
		return nil, nil
	}
	cfg, err := a.loadProject()
	if err != nil {
		return nil, err
	}
	own := slices.Clone(cfg.Benchmarks)
	for i := range own { // their paths start from drydock.yaml, wherever the user stands
		if p := filepath.FromSlash(own[i].Path); !filepath.IsAbs(p) {
			own[i].Path = filepath.Join(cfg.Dir, p)
		}
	}
	return own, nil
}

// SubmitPackOptions are the flags of submit pack.
type SubmitPackOptions struct {
	Team string
	Out  string
}

func newSubmitPackCommand(a *app) *cobra.Command {
	var o SubmitPackOptions
	c := a.command("pack", about{
		short: msg.Text{"Build the challenge package of the project and check it.", "生成本项目的竞赛提交包并检查。"},
		long: msg.Text{
			"What is missing or out of date is run first. The package is written whole or not at all, then every gate is run over the file that was written. The same project gives the same bytes.",
			"缺失或过期的阶段会先运行。提交包要么完整写出，要么不写；随后对写出的文件运行全部检查。同一项目得到相同的字节。",
		},
		examples: []example{
			{msg.Text{"the project here", "当前项目"}, "drydock submit pack"},
			{msg.Text{"under another name", "使用其他名称"}, "drydock submit pack --team harbour -o harbour_submission.zip"},
		},
		exits: []int{3, 11, 20, 21},
	}, nil)
	c.RunE = func(cmd *cobra.Command, _ []string) error { return runSubmitPack(cmd.Context(), a, o) }
	f := a.flags(c.Flags())
	f.str(&o.Team, "team", "", "", msg.Text{"`NAME` of the team (default: as drydock.yaml says)", "队伍名称 `NAME`（默认：以 drydock.yaml 为准）"})
	f.output(&o.Out, "output", "o", msg.Text{"write the package to `FILE`", "将提交包写入 `FILE`"})
	return c
}

func runSubmitPack(ctx context.Context, a *app, o SubmitPackOptions) error {
	cfg, err := a.loadProject()
	if err != nil {
		return err
	}
	if o.Team != "" {
		cfg.Submission.Team = o.Team
	}
	if o.Out != "" {
		if cfg.Submission.Path, err = filepath.Abs(o.Out); err != nil {
			return err
		}
	}
	env, err := a.runEnv()
	if err != nil {
		return err
	}
	p := &textRun{t: a.term}
	res, err := pipeline.PackProject(ctx, cfg, env, pipeline.Options{Workers: a.workers(), Observe: func(e pipeline.Event) {
		if e.Type == "progress" {
			p.event(e)
		}
	}})
	p.endProgress()
	if res == nil || res.Report == nil {
		return err
	}
	if verr := a.verdict(res.Report); verr != nil {
		return verr
	}
	if err == nil && !a.term.JSON() {
		a.term.Print(msg.Text{"package: %s  sha256 %s", "提交包：%s  sha256 %s"}, res.Path, res.SHA256)
	}
	return err
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

func printGates(t *ui.Terminal, r *submission.Report) {
	tb := t.Table(
		ui.Column{Title: msg.Text{"gate", "检查项"}}, ui.Column{Title: msg.Text{"result", "结果"}},
		ui.Column{Title: msg.Text{"what is checked", "检查内容"}},
	).Wrapped()
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
	t.Print(msg.Text{"%d passed, %d failed, %d {warning|warnings}, %d not checked, %d {error|errors}", "通过 %d，不通过 %d，警告 %d，未检查 %d，出错 %d"},
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
	t.Prose(head)
	if g.First.Fix != nil {
		t.Prose("  " + t.Say(msg.Text{"hint: ", "提示："}) + t.Commands(g.First.Fix.In(t.Lang())))
	}
	for _, f := range g.Evidence[:min(len(g.Evidence), shownFindings)] {
		line := "  "
		if p := f.Place(); p != "" {
			line += p + "  "
		}
		t.Prose(line + f.Text.In(t.Lang()))
	}
	if more := g.Findings - 1 - min(len(g.Evidence), shownFindings); more > 0 {
		t.Print(msg.Text{"  … and %d more; --json and --report list them", "  ……另有 %d 处；--json 和 --report 会列出"}, more)
	}
}
