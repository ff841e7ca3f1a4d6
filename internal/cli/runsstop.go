package cli

import (
	"context"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/runstore"
	"github.com/drydock-ml/drydock/internal/ui"
)

// RunsStopOptions are the flags of runs stop.
type RunsStopOptions struct{ Now bool }

func newRunsStopCommand(a *app) *cobra.Command {
	var o RunsStopOptions
	c := a.command("stop", about{
		use: "[RUN]", args: maybeArg("RUN"),
		short: msg.Text{"Stop a training, also one without a terminal.", "停止训练，包括脱离终端的训练。"},
		long: msg.Text{
			"The training is asked to stop as by ^C: a trainer that can be asked for a checkpoint writes one, then it and everything it started is asked to end, and killed after 15 seconds. drydock train goes on from the last whole checkpoint. ^C leaves before it has ended; the request stands.",
			"效果与 ^C 相同：能按要求写检查点的训练器会先写一个，然后它和它启动的所有进程会被请求结束，15 秒后强制终止。drydock train 会从最近的完整检查点继续。提前按 ^C 只是离开，停止请求仍然有效。",
		},
		examples: []example{{msg.Text{"the newest training", "最近的训练"}, "drydock runs stop"}},
	}, nil)
	c.RunE = func(cmd *cobra.Command, args []string) error { return a.stopRun(cmd.Context(), firstOf(args), o) }
	c.ValidArgsFunction = a.completeRuns
	a.flags(c.Flags()).gate(&o.Now, "now", "", msg.Text{"do not wait for a checkpoint or an orderly end: kill at once", "不等待检查点或正常结束，立即终止"})
	return c
}

// stopAnswer says how a run ended that was asked to.
type stopAnswer struct {
	Schema string          `json:"schema"`
	RunID  string          `json:"run_id"`
	Status runstore.Status `json:"status"`
	Exit   *int            `json:"exit,omitempty"`
}

func (s stopAnswer) text(t *ui.Terminal) {
	t.Print(msg.Text{"run %s: %s", "运行 %s：%s"}, s.RunID, runStatus(t, s.Status, s.Exit == nil))
	t.Next("drydock train")
}

func (a *app) stopRun(ctx context.Context, id string, o RunsStopOptions) error {
	info, _, dir, err := a.findTraining(id)
	if err != nil {
		return err
	}
	project := runstore.Project{Dir: filepath.Dir(filepath.Dir(dir))}
	if info.End != nil || !project.Held() {
		return fail.New(fail.Usage, msg.Text{"run %s does not run", "运行 %s 并未在进行"}, info.ID).
			Hint(msg.Text{"see drydock runs list", "参见 drydock runs list"})
	}
	if err := runstore.AskToStop(dir, o.Now); err != nil {
		return err
	}
	a.term.Note(msg.Text{"asked run %s to stop", "已请求运行 %s 停止"}, info.ID)
	for info.End == nil && project.Held() {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(pollRun):
		}
		if info, err = runstore.Read(dir); err != nil {
			return err
		}
	}
	if info, err = runstore.Read(dir); err != nil {
		return err
	}
	s := stopAnswer{"drydock.runs.stop/1", info.ID, info.Status, nil}
	if info.End != nil {
		s.Exit = &info.Exit
	}
	return a.answer(s)
}
