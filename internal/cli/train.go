package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/pipeline"
	"github.com/drydock-ml/drydock/internal/ui"
	"github.com/drydock-ml/drydock/launch"
)

// TrainOptions are the flags of train.
type TrainOptions struct {
	DryRun bool
	Gates  pipeline.Gates
}

func newTrainCommand(a *app) *cobra.Command {
	var o TrainOptions
	c := a.command("train", about{
		short: msg.Text{"Start the trainer of drydock.yaml on the data of the last run.", "用最近一次运行的数据启动 drydock.yaml 中的训练器。"},
		long: msg.Text{
			"It refuses unless a contamination check covers these very bytes and found no leak (of the last run, of a drydock contam check in this project, or --contam-report), every source has a licence, every row is fed as the endpoint will be asked (drydock template check), and none is longer than the trainer takes. The trainer runs in its own process group; ^C asks it to stop and saves what it wrote. -n prints the command and the files it would write.",
			"除非污染检查覆盖了这些字节且未发现泄漏（来自最近一次运行、本项目中的 drydock contam check 或 --contam-report），每个来源都有许可，每一行的训练内容与提问一致（drydock template check），且没有行超过训练器的长度上限，否则拒绝启动。训练器在自己的进程组中运行；^C 请其停止，已写出的内容会保留。-n 输出将执行的命令和将写出的文件。",
		},
		examples: []example{
			{msg.Text{"what would be started", "将启动什么"}, "drydock train -n"},
			{msg.Text{"start and follow it", "启动并跟踪"}, "drydock train"},
		},
		exits: []int{21},
	}, nil)
	c.RunE = func(cmd *cobra.Command, _ []string) error { return runTrain(cmd.Context(), a, o) }
	f := a.flags(c.Flags())
	f.dryRun(&o.DryRun)
	f.trainGates(&o.Gates)
	f.str(&o.Gates.ContamReport, "contam-report", "", "", msg.Text{"the contamination check that vouches for the data: a report of drydock contam check, or its summary, as `FILE`", "为数据作证的污染检查：drydock contam check 的报告或其摘要 `FILE`"})
	return c
}

// A trainPrinter shows a training while it goes.
type trainPrinter interface {
	event(e launch.Event)
	end(r *pipeline.TrainResult, planned bool) error
}

func runTrain(ctx context.Context, a *app, o TrainOptions) error {
	cfg, err := a.loadProject()
	if err != nil {
		return err
	}
	env, err := a.runEnv()
	if err != nil {
		return err
	}
	var p trainPrinter = &textTrain{t: a.term}
	if a.term.JSON() {
		p = &jsonTrain{t: a.term}
	}
	r, err := pipeline.Train(ctx, cfg, env, pipeline.TrainOptions{
		DryRun: o.DryRun, Gates: o.Gates,
		Observe: p.event, Warn: func(m msg.Localizer) { a.term.Warn(msg.Text{"%s", "%s"}, m) },
	})
	if r == nil || (err != nil && !r.Ran) {
		return err
	}
	if perr := p.end(r, o.DryRun); perr != nil && err == nil {
		err = perr
	}
	return err
}

// trainSummary is the last line of train.
type trainSummary struct {
	Type   string `json:"type"`
	Schema string `json:"schema"`
	DryRun bool   `json:"dry_run"`
	*pipeline.TrainResult
	Problems []string `json:"problems"`
}

func newTrainSummary(r *pipeline.TrainResult, planned bool, l msg.Lang) trainSummary {
	s := trainSummary{"summary", "drydock.train/1", planned, r, []string{}}
	for _, p := range r.Problems {
		s.Problems = append(s.Problems, p.In(l))
	}
	return s
}

type jsonTrain struct {
	t   *ui.Terminal
	err error
}

func (p *jsonTrain) event(e launch.Event) {
	err := p.t.Value(struct {
		Type   string `json:"type"`
		Schema string `json:"schema"`
		launch.Event
	}{"item", "drydock.train.event/1", e})
	if err != nil && p.err == nil {
		p.err = err
	}
}

func (p *jsonTrain) end(r *pipeline.TrainResult, planned bool) error {
	if p.err != nil {
		return p.err
	}
	return p.t.Value(newTrainSummary(r, planned, p.t.Lang()))
}

type textTrain struct {
	t        *ui.Terminal
	progress *ui.Progress
}

func (p *textTrain) event(e launch.Event) {
	if e.MaxSteps > 0 {
		if p.progress == nil {
			p.progress = p.t.Progress(p.t.Say(msg.Text{"training", "训练"}), int64(e.MaxSteps), false)
		}
		p.progress.Set(int64(e.Step))
	}
	if line := figures(e); line != "" {
		p.t.Note(msg.Text{"%s", "%s"}, line)
	}
}

// figures writes what a trainer said: "step 20  loss 1.23  lr 1e-05".
func figures(e launch.Event) string {
	var parts []string
	if e.Step > 0 {
		parts = append(parts, fmt.Sprintf("step %d", e.Step))
	}
	for _, f := range []struct {
		name string
		v    *float64
	}{{"epoch", e.Epoch}, {"loss", e.Loss}, {"eval_loss", e.EvalLoss}, {"lr", e.LR}, {"grad_norm", e.GradNorm}} {
		if f.v != nil {
			parts = append(parts, fmt.Sprintf("%s %.4g", f.name, *f.v))
		}
	}
	return strings.Join(parts, "  ")
}

func (p *textTrain) end(r *pipeline.TrainResult, planned bool) error {
	if p.progress != nil {
		p.progress.End()
	}
	if !planned {
		if f := r.Feed; f != nil {
			p.t.Print(msg.Text{"fed: %d {row|rows}, %s tokens, longest %d (%s)", "送入：%d 行，%s 个 token，最长 %d（%s）"}, f.Rows, grouped(f.Tokens), f.Longest, f.Contract)
		}
		if line := figures(r.Last); line != "" {
			p.t.Println(line)
		}
		p.t.Print(msg.Text{"%s has ended; log and checkpoints: %s", "%s 已结束；日志与检查点：%s"}, r.Trainer, r.Plan.Dir)
		return nil
	}
	p.t.Println(strings.TrimRight(r.Plan.Text(p.t.Lang()), "\n"))
	printPreflight(p.t, r)
	for _, x := range r.Problems {
		p.t.Warn(msg.Text{"%s", "%s"}, x.Error)
		for _, h := range x.Hints(p.t.Lang()) {
			p.t.Note(msg.Text{"hint: %s", "提示：%s"}, h)
		}
	}
	return nil
}
