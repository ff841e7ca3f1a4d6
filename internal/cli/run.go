package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/pipeline"
	"github.com/drydock-ml/drydock/internal/training"
)

// RunOptions are the flags of run and plan.
type RunOptions struct {
	Only, From string
	Fresh      bool
	Limit      int
	DryRun     bool
	Gates      training.Gates
}

func newRunCommand(a *app) *cobra.Command {
	var o RunOptions
	c := a.command("run", about{
		short: msg.Text{"Run the pipeline of drydock.yaml; go on where the last run stopped.", "运行 drydock.yaml 的流水线；从上次停止处继续。"},
		long: msg.Text{
			"What has not changed since it was last done is not done again. ^C stops cleanly, and the next run goes on from there. The same inputs give the same output files, whatever the number of workers.",
			"自上次完成以来未变化的阶段不会重做。^C 会干净地停止，下次运行从该处继续。相同输入得到相同的输出文件，与并发数无关。",
		},
		examples: []example{
			{msg.Text{"the project here", "当前项目"}, "drydock run"},
			{msg.Text{"another project, from the contamination check on", "另一个项目，从污染检查开始"}, "drydock run -C bank --from contam"},
		},
		exits: []int{3, 4, 10, 11, 12, 20, 21},
	}, nil)
	c.RunE = func(cmd *cobra.Command, _ []string) error { return runRun(cmd.Context(), a, o) }
	f := a.flags(c.Flags())
	a.stageFlags(c, f, &o)
	f.gate(&o.Fresh, "fresh", "", msg.Text{"forget what earlier runs did", "不使用以往运行的结果"})
	f.int(&o.Limit, "limit", "", 0, msg.Text{"read at most `N` records of each file (0: all)", "每个文件最多读取 `N` 条记录（0：全部）"})
	f.trainGates(&o.Gates)
	f.dryRun(&o.DryRun)
	return c
}

func newPlanCommand(a *app) *cobra.Command {
	var o RunOptions
	c := a.command("plan", about{
		short: msg.Text{"Say what drydock run would do, and why.", "说明 drydock run 将做什么以及原因。"},
		examples: []example{
			{msg.Text{"the project here", "当前项目"}, "drydock plan"},
			{msg.Text{"for a script", "供脚本使用"}, "drydock plan --json"},
		},
		exits: []int{3},
	}, nil)
	c.RunE = func(cmd *cobra.Command, _ []string) error {
		o.DryRun = true
		return runRun(cmd.Context(), a, o)
	}
	a.stageFlags(c, a.flags(c.Flags()), &o)
	return c
}

func (a *app) stageFlags(c *cobra.Command, f flags, o *RunOptions) {
	f.str(&o.Only, "only", "", "", msg.Text{"run `STAGE` alone, on what is there", "只运行阶段 `STAGE`，使用已有内容"})
	f.str(&o.From, "from", "", "", msg.Text{"run `STAGE` and what follows", "运行阶段 `STAGE` 及其后续阶段"})
	a.complete(c, "only", pipeline.Stages()...)
	a.complete(c, "from", pipeline.Stages()...)
}

func runRun(ctx context.Context, a *app, o RunOptions) error {
	cfg, err := a.loadProject()
	if err != nil {
		return err
	}
	env, err := a.runEnv()
	if err != nil {
		return err
	}
	p := a.runPrinter()
	res, err := pipeline.Run(ctx, cfg, env, pipeline.Options{
		Workers: a.workers(), Only: o.Only, From: o.From, Fresh: o.Fresh, Limit: o.Limit, DryRun: o.DryRun,
		Gates: o.Gates, Wait: 0, Observe: p.event,
	})
	if perr := p.end(res, err, o.DryRun); perr != nil && err == nil {
		err = perr
	}
	return err
}
