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
	"github.com/drydock-ml/drydock/launch"
)

// pollRun is how often the files of a run are looked at.
const pollRun = 200 * time.Millisecond

// RunsAttachOptions are the flags of runs attach.
type RunsAttachOptions struct{ Last int }

func newRunsAttachCommand(a *app) *cobra.Command {
	var o RunsAttachOptions
	c := a.command("attach", about{
		use: "[RUN]", args: maybeArg("RUN"),
		short: msg.Text{"Follow a training that runs, also one without a terminal.", "跟踪正在进行的训练，包括脱离终端的训练。"},
		long: msg.Text{
			"It shows the last figures, then new ones as they come, and ends with the training, with its exit code. ^C leaves; the training goes on (drydock runs stop ends it). Of a training that has ended it shows the figures and how it ended.",
			"先显示最近的指标，再显示新的指标，并随训练结束，退出码与训练相同。^C 只是离开，训练会继续（drydock runs stop 可将其停止）。对已结束的训练，显示其指标和结束情况。",
		},
		examples: []example{
			{msg.Text{"the newest training", "最近的训练"}, "drydock runs attach"},
			{msg.Text{"all figures, for a script", "全部指标，供脚本使用"}, "drydock runs attach 20261130-101500 --last 0 --json"},
		},
		exits: []int{21},
	}, nil)
	c.RunE = func(cmd *cobra.Command, args []string) error { return a.attach(cmd.Context(), firstOf(args), o) }
	c.ValidArgsFunction = a.completeRuns
	a.flags(c.Flags()).int(&o.Last, "last", "", 10, msg.Text{"begin with the last `N` figures (0: all)", "先显示最近 `N` 条指标（0：全部）"})
	return c
}

func firstOf(args []string) string {
	if len(args) == 0 {
		return ""
	}
	return args[0]
}

// completeRuns completes the id of a run.
func (a *app) completeRuns(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return a.runIDs(), cobra.ShellCompDirectiveNoFileComp
}

// findTraining returns the run with an id, or the newest training for "".
func (a *app) findTraining(id string) (info runstore.Info, m runstore.Manifest, dir string, err error) {
	if id == "" {
		runs, err := a.projectRuns()
		if err != nil {
			return info, m, "", err
		}
		all, err := runstore.Trainings(runs)
		if err != nil {
			return info, m, "", err
		}
		if len(all) == 0 {
			return info, m, "", fail.New(fail.Usage, msg.Text{"no training has been started here", "这里还没有启动过训练"}).
				Hint(msg.Text{"drydock train starts one; -C names another project", "drydock train 会启动训练；-C 可指定其他项目"})
		}
		id = all[0].Run
	}
	info, dir, err = a.findRun(id)
	if err != nil {
		return info, m, dir, err
	}
	m, ok, err := runstore.ReadManifest(dir)
	if err == nil && !ok {
		err = fail.New(fail.Usage, msg.Text{"run %s trained nothing (%s)", "运行 %s 没有训练（%s）"}, info.ID, info.Command).
			Hint(msg.Text{"see drydock runs list", "参见 drydock runs list"})
	}
	return info, m, dir, err
}

// attachSummary is the last line of runs attach.
type attachSummary struct {
	Type     string            `json:"type"`
	Schema   string            `json:"schema"`
	RunID    string            `json:"run_id"`
	Status   runstore.Status   `json:"status"`
	Crashed  bool              `json:"crashed,omitempty"`
	Exit     *int              `json:"exit,omitempty"`
	Error    string            `json:"error,omitempty"`
	Training runstore.Manifest `json:"training"`
}

// An attachment follows one run.
type attachment struct {
	a      *app
	dir    string
	events *runstore.EventReader
	print  trainPrinter
}

func (a *app) attach(ctx context.Context, id string, o RunsAttachOptions) error {
	info, _, dir, err := a.findTraining(id)
	if err != nil {
		return err
	}
	f := &attachment{a: a, dir: dir, events: runstore.Events(dir), print: a.trainPrinter()}
	if err := f.past(o.Last); err != nil {
		return err
	}
	crashed := false
	for info.End == nil && !crashed {
		select {
		case <-ctx.Done():
			a.term.Note(msg.Text{"the training goes on; drydock runs stop %s ends it", "训练仍在继续；drydock runs stop %s 可将其停止"}, info.ID)
			return context.Cause(ctx)
		case <-time.After(pollRun):
		}
		if info, err = runstore.Read(dir); err != nil {
			return err
		}
		crashed = info.End == nil && !runstore.Project{Dir: filepath.Dir(filepath.Dir(dir))}.Held()
		if crashed { // or it ended a moment ago
			if info, err = runstore.Read(dir); err != nil {
				return err
			}
			crashed = info.End == nil
		}
		if err := f.events.Read(f.line); err != nil {
			return err
		}
	}
	return f.end(info, crashed)
}

// line shows one event.
func (f *attachment) line(b []byte) error {
	if r, ok := launch.ReadReport(b); ok {
		f.print.report(r)
	}
	return nil
}

// past shows the last n figures that are there already; 0: all.
func (f *attachment) past(n int) error {
	var all []launch.Report
	err := f.events.Read(func(b []byte) error {
		if r, ok := launch.ReadReport(b); ok {
			all = append(all, r)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if n > 0 {
		all = all[max(0, len(all)-n):]
	}
	for _, r := range all {
		f.print.report(r)
	}
	return nil
}

// end says how the training ended, and ends like it.
func (f *attachment) end(info runstore.Info, crashed bool) error {
	m, _, err := runstore.ReadManifest(f.dir)
	if err != nil {
		return err
	}
	if text, ok := f.print.(*textTrain); ok && text.progress != nil {
		text.progress.End()
	}
	s := attachSummary{"summary", "drydock.runs.attach/1", info.ID, info.Status, crashed, nil, info.Error, m}
	if info.End != nil {
		s.Exit = &info.Exit
	}
	if f.a.term.JSON() {
		err = f.a.term.Value(s)
	} else {
		s.text(f.a.term)
	}
	switch {
	case err != nil:
		return err
	case crashed:
		return shown{fail.New(fail.Failed, msg.Text{"run %s was killed or crashed", "运行 %s 被终止或崩溃"}, info.ID)}
	case info.Exit != 0:
		return shown{fail.New(kindOf(info.Exit), msg.Text{"run %s ended with exit code %d", "运行 %s 结束，退出码 %d"}, info.ID, info.Exit)}
	}
	return nil
}

func (s attachSummary) text(t *ui.Terminal) {
	t.Print(msg.Text{"run %s: %s", "运行 %s：%s"}, s.RunID, runStatus(t, s.Status, s.Crashed))
	if s.Error != "" {
		t.Println(s.Error)
	}
}
