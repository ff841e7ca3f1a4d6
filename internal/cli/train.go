package cli

import (
	"context"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/training"
)

// TrainOptions are the flags of train.
type TrainOptions struct {
	DryRun bool
	Detach bool
	Fresh  bool
	Resume string
	Stall  string // as time.ParseDuration reads it; "": never
	Sweep  string // file with several trainings
	Gates  training.Gates
}

func newTrainCommand(a *app) *cobra.Command {
	var o TrainOptions
	c := a.command("train", about{
		short: msg.Text{"Start the trainer of drydock.yaml on the data of the last run.", "用最近一次运行的数据启动 drydock.yaml 中的训练器。"},
		long: msg.Text{
			"It refuses unless a contamination check covers these very bytes and found no leak (of the last run, of a drydock contam check in this project, or --contam-report), every source has a licence, every row is fed as the endpoint will be asked (drydock template check), and none is longer than the trainer takes. The trainer runs in its own process group; ^C asks it to stop, together with everything it started. A training that was cut goes on from its last whole checkpoint when the same command is given again and neither data nor settings have changed. -n prints the command and the files it would write.",
			"除非污染检查覆盖了这些字节且未发现泄漏（来自最近一次运行、本项目中的 drydock contam check 或 --contam-report），每个来源都有许可，每一行的训练内容与提问一致（drydock template check），且没有行超过训练器的长度上限，否则拒绝启动。训练器在自己的进程组中运行；^C 请其及其启动的所有进程停止。被中断的训练，在数据和设置都未变化时，再次执行同一命令会从最近的完整检查点继续。-n 输出将执行的命令和将写出的文件。",
		},
		examples: []example{
			{msg.Text{"what would be started", "将启动什么"}, "drydock train -n"},
			{msg.Text{"start and follow it", "启动并跟踪"}, "drydock train"},
			{msg.Text{"start it and log out", "启动后退出登录"}, "drydock train --detach"},
		},
		exits: []int{21},
	}, nil)
	c.RunE = func(cmd *cobra.Command, _ []string) error { return runTrain(cmd.Context(), a, o) }
	f := a.flags(c.Flags())
	f.dryRun(&o.DryRun)
	f.gate(&o.Detach, "detach", "", msg.Text{"go on without this terminal; drydock runs attach shows the training", "脱离终端继续运行；用 drydock runs attach 查看"})
	f.gate(&o.Fresh, "fresh", "", msg.Text{"begin at step 0 although an earlier training could go on; its checkpoints are moved aside", "即使之前的训练可以继续，也从第 0 步开始；其检查点会移到旁边"})
	f.str(&o.Resume, "resume", "", "", msg.Text{"go on from the checkpoint folder `DIR`, whatever settings it was made with", "从检查点目录 `DIR` 继续，不论其训练设置"})
	f.typed("resume")
	f.str(&o.Stall, "stall", "", "", msg.Text{"end a trainer that has said nothing for `TIME` (30m, 2h)", "结束超过 `TIME`（30m、2h）没有输出的训练器"})
	f.str(&o.Sweep, "sweep", "", "", msg.Text{"train every variant that `FILE` names, in turn, and compare them (guide: training)", "依次训练 `FILE` 中列出的各种设置并比较（见训练指南）"})
	f.trainGates(&o.Gates)
	f.str(&o.Gates.ContamReport, "contam-report", "", "", msg.Text{"the contamination check that vouches for the data: a report of drydock contam check, or its summary, as `FILE`", "为数据作证的污染检查：drydock contam check 的报告或其摘要 `FILE`"})
	return c
}

func runTrain(ctx context.Context, a *app, o TrainOptions) error {
	stall, err := o.stall()
	if err != nil {
		return err
	}
	if o.Sweep != "" && (o.Resume != "" || o.Detach) {
		return fail.New(fail.Usage, msg.Text{"--sweep runs here and begins each training by itself: leave --resume and --detach out", "--sweep 在当前终端运行并自行开始每次训练：请去掉 --resume 与 --detach"})
	}
	if o.Fresh && o.Resume != "" {
		return fail.New(fail.Usage, msg.Text{"--fresh begins anew and --resume goes on: give one of them", "--fresh 表示重新开始，--resume 表示继续：请只用其中之一"})
	}
	cfg, err := a.loadProject()
	if err != nil {
		return err
	}
	if o.Detach && !o.DryRun {
		return a.detachTrain(ctx, cfg)
	}
	env, err := a.runEnv()
	if err != nil {
		return err
	}
	p := a.trainPrinter()
	options := training.Options{
		DryRun: o.DryRun, Gates: o.Gates, Fresh: o.Fresh, Resume: filepath.ToSlash(o.Resume), Stall: stall, Lang: a.lang,
		Observe: p.report,
		Note:    func(m msg.Localizer) { a.term.Note(msg.Text{"%s", "%s"}, m) },
		Warn:    func(m msg.Localizer) { a.term.Warn(msg.Text{"%s", "%s"}, m) },
	}
	setup, err := cfg.Training()
	if err != nil {
		return err
	}
	if o.Sweep != "" {
		plan, err := cfg.ReadSweep(o.Sweep)
		if err != nil {
			return err
		}
		return runTrainSweep(ctx, a, setup, env.Env, plan, options)
	}
	r, err := training.Run(ctx, setup, env.Env, options)
	if r == nil || (err != nil && !r.Ran) {
		return err
	}
	if perr := p.end(r, o.DryRun); perr != nil && err == nil {
		err = perr
	}
	return err
}

// stall reads --stall.
func (o TrainOptions) stall() (time.Duration, error) {
	if o.Stall == "" {
		return 0, nil
	}
	d, err := time.ParseDuration(o.Stall)
	if err != nil || d <= 0 {
		return 0, fail.New(fail.Usage, msg.Text{"--stall %q: want a duration such as 30m or 2h", "--stall %q：应为时长，例如 30m 或 2h"}, o.Stall)
	}
	return d, nil
}
