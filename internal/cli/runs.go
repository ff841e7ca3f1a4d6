package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/runstore"
	"github.com/drydock-ml/drydock/internal/ui"
	"github.com/drydock-ml/drydock/launch"
)

func newRunsCommand(a *app) *cobra.Command {
	return a.group("runs", msg.Text{"List, follow, compare and remove runs.", "列出、跟踪、比较和清理运行。"},
		newRunsListCommand(a), newRunsShowCommand(a), newRunsAttachCommand(a), newRunsStopCommand(a),
		newRunsCompareCommand(a), newRunsRemoveCommand(a), newRunsGCCommand(a))
}

// RunsListOptions are the flags of runs list.
type RunsListOptions struct{ Limit int }

func newRunsListCommand(a *app) *cobra.Command {
	var o RunsListOptions
	c := a.command("list", about{
		short:    msg.Text{"List the runs of this project, newest first.", "列出本项目的运行，最新的在前。"},
		examples: []example{{msg.Text{"the last three", "最近三次"}, "drydock runs list --limit 3"}},
		exits:    []int{3},
	}, nil)
	c.RunE = func(cmd *cobra.Command, _ []string) error { return runRunsList(cmd.Context(), a, o) }
	a.flags(c.Flags()).int(&o.Limit, "limit", "", 0, msg.Text{"at most `N` runs (0: all)", "最多 `N` 次运行（0：全部）"})
	return c
}

// projectRuns is where the project's runs lie; outside a project, those made
// outside one.
func (a *app) projectRuns() (string, error) {
	if _, err := os.Stat(a.configFile()); err == nil {
		return filepath.Join(filepath.Dir(a.configFile()), "runs"), nil
	}
	home, err := a.host.home()
	if err != nil {
		return "", err
	}
	return filepath.Join(home, "runs"), nil
}

// configFile is the drydock.yaml in use.
func (a *app) configFile() string {
	if a.global.Config != "" {
		return a.global.Config
	}
	return "drydock.yaml"
}

// runRow is one run in a list.
type runRow struct {
	ID      string          `json:"id"`
	Status  runstore.Status `json:"status"`
	Command string          `json:"command"`
	Start   time.Time       `json:"start"`
	Seconds *float64        `json:"seconds,omitempty"` // nil: never ended
	Exit    *int            `json:"exit,omitempty"`    // nil: never ended
	Crashed bool            `json:"crashed,omitempty"` // killed, or broken down, before it ended
}

// crashedRuns names the runs that have not ended and have no process any more.
// runs are the newest first: only one can hold the project's lock.
func crashedRuns(dir string, runs []runstore.Info) map[string]bool {
	crashed := map[string]bool{}
	var held, asked bool
	for _, r := range runs {
		if r.Status != runstore.Started {
			continue
		}
		if !asked {
			held, asked = runstore.Project{Dir: filepath.Dir(dir)}.Held(), true
		}
		crashed[r.ID] = !held
		held = false
	}
	return crashed
}

// runStatus says in words what became of a run; a program gets the word of
// run.json.
func runStatus(t *ui.Terminal, s runstore.Status, crashed bool) string {
	if !t.OutTTY() {
		if crashed {
			return "crashed"
		}
		return string(s)
	}
	words := map[runstore.Status]msg.Text{
		runstore.Started: {"running", "运行中"}, runstore.Success: {"success", "成功"}, runstore.Partial: {"partial", "部分完成"},
		runstore.Failed: {"failed", "失败"}, runstore.Cancelled: {"interrupted", "已中断"},
	}
	switch w, ok := words[s]; {
	case crashed:
		return t.Say(msg.Text{"killed or crashed", "被终止或崩溃"})
	case ok:
		return t.Say(w)
	}
	return string(s)
}

type runsAnswer struct {
	Schema string   `json:"schema"`
	Runs   []runRow `json:"runs"`
	now    time.Time
}

func runRunsList(_ context.Context, a *app, o RunsListOptions) error {
	dir, err := a.projectRuns()
	if err != nil {
		return err
	}
	infos, bad, err := runstore.List(dir)
	if err != nil {
		return err
	}
	crashed := crashedRuns(dir, infos)
	ans := runsAnswer{Schema: "drydock.runs.list/1", Runs: []runRow{}, now: a.host.Now()}
	for _, i := range infos {
		if o.Limit > 0 && len(ans.Runs) == o.Limit {
			break
		}
		r := runRow{ID: i.ID, Status: i.Status, Command: i.Command, Start: i.Start, Crashed: crashed[i.ID]}
		if i.End != nil {
			s := i.End.Sub(i.Start).Seconds()
			r.Seconds, r.Exit = &s, &i.Exit
		}
		ans.Runs = append(ans.Runs, r)
	}
	if err := a.answer(ans); err != nil || len(bad) == 0 {
		return err
	}
	return fail.New(fail.Partial, msg.Text{"runs whose run.json cannot be read: %s", "以下运行的 run.json 无法读取：%s"}, msg.List(bad))
}

func (r runsAnswer) text(t *ui.Terminal) {
	if len(r.Runs) == 0 {
		t.Note(msg.Text{"no runs here yet", "这里还没有运行"})
		return
	}
	tb := t.Table(
		ui.Column{Title: msg.Text{"run", "运行"}}, ui.Column{Title: msg.Text{"status", "状态"}},
		ui.Column{Title: msg.Text{"start", "开始"}}, ui.Column{Title: msg.Text{"took", "用时"}, Right: true}, ui.Column{Title: msg.Text{"command", "命令"}},
	)
	for _, x := range r.Runs {
		start, took := x.Start.UTC().Format(time.RFC3339), "-"
		if t.OutTTY() {
			start = t.Ago(r.now.Sub(x.Start))
		}
		if x.Seconds != nil {
			took = t.Duration(time.Duration(*x.Seconds * float64(time.Second)))
		}
		tb.Row(x.ID, runStatus(t, x.Status, x.Crashed), start, took, x.Command)
	}
	tb.Print()
}

func newRunsShowCommand(a *app) *cobra.Command {
	c := a.command("show", about{
		use: "[RUN]", args: maybeArg("RUN"),
		short: msg.Text{"Show a run: its stages, sums and hashes; of a training, its loss and the way from data to evaluation.", "查看一次运行：各阶段、计数与哈希；训练则显示损失曲线及从数据到评测的链路。"},
		examples: []example{
			{msg.Text{"the last one", "最近一次"}, "drydock runs show"},
			{msg.Text{"a run by the beginning of its id", "按编号开头查找"}, "drydock runs show 20261130"},
		},
	}, func(cmd *cobra.Command, args []string) error { return runRunsShow(cmd.Context(), a, firstOf(args)) })
	c.ValidArgsFunction = a.completeRuns
	return c
}

func (a *app) runIDs() []string {
	dir, err := a.projectRuns()
	if err != nil {
		return nil
	}
	infos, _, _ := runstore.List(dir)
	var ids []string
	for _, i := range infos {
		ids = append(ids, i.ID)
	}
	return ids
}

// findRun returns the run with an id or the only one whose id begins so; the
// newest for "".
func (a *app) findRun(id string) (runstore.Info, string, error) {
	dir, err := a.projectRuns()
	if err != nil {
		return runstore.Info{}, "", err
	}
	infos, _, err := runstore.List(dir)
	if err != nil {
		return runstore.Info{}, "", err
	}
	var found []runstore.Info
	for _, i := range infos {
		if i.ID == id || id == "" {
			return i, filepath.Join(dir, i.ID), nil
		}
		if len(i.ID) > len(id) && i.ID[:len(id)] == id {
			found = append(found, i)
		}
	}
	switch {
	case len(found) == 1:
		return found[0], filepath.Join(dir, found[0].ID), nil
	case len(found) > 1:
		return runstore.Info{}, "", fail.New(fail.Usage, msg.Text{"%d {run begins|runs begin} with %s", "有 %d 次运行以 %s 开头"}, len(found), id)
	case len(infos) == 0:
		return runstore.Info{}, "", fail.New(fail.Usage, msg.Text{"no runs here yet", "这里还没有运行"}).
			Hint(msg.Text{"drydock run makes one; -C names another project", "drydock run 会产生一次运行；-C 可指定其他项目"})
	}
	return runstore.Info{}, "", fail.New(fail.Usage, msg.Text{"there is no run %s", "没有运行 %s"}, id).
		Hint(msg.Text{"see drydock runs list", "参见 drydock runs list"})
}

// runAnswer is run.json as it stands, under a schema of its own.
type runAnswer struct {
	runstore.Info
	Exit    *int   `json:"exit,omitempty"` // in place of that of Info: nil when it never ended
	Crashed bool   `json:"crashed,omitempty"`
	Dir     string `json:"dir"`
	// Training and Evaluations are those of a training; nil for another run.
	Training    *runstore.Manifest    `json:"training,omitempty"`
	Evaluations []runstore.Evaluation `json:"evaluations,omitempty"`
	curve       *launch.Curve
}

func runRunsShow(_ context.Context, a *app, id string) error {
	info, dir, err := a.findRun(id)
	if err != nil {
		return err
	}
	infos, _, err := runstore.List(filepath.Dir(dir))
	if err != nil {
		return err
	}
	ans := runAnswer{Info: info, Crashed: crashedRuns(filepath.Dir(dir), infos)[info.ID], Dir: filepath.ToSlash(dir)}
	if info.End != nil {
		ans.Exit = &info.Exit
	}
	if err := ans.training(dir); err != nil {
		return err
	}
	return a.answer(ans)
}

func (r runAnswer) text(t *ui.Terminal) {
	end, exit := "-", "-"
	if r.End != nil {
		end, exit = t.Duration(r.End.Sub(r.Start)), fmt.Sprint(*r.Exit)
	}
	head := t.Table(ui.Column{}, ui.Column{}).Bare().Wrapped()
	head.Row(t.Say(msg.Text{"run", "运行"}), r.ID)
	head.Row(t.Say(msg.Text{"status", "状态"}), runStatus(t, r.Status, r.Crashed))
	head.Row(t.Say(msg.Text{"start", "开始"}), r.Start.Format(time.RFC3339))
	head.Row(t.Say(msg.Text{"took", "用时"}), end)
	head.Row(t.Say(msg.Text{"exit code", "退出码"}), exit)
	head.Row(t.Say(msg.Text{"version", "版本"}), r.Tool.Version)
	head.Row(t.Say(msg.Text{"folder", "目录"}), r.Dir)
	for _, o := range r.Overrides {
		head.Row(t.Say(msg.Text{"lifted gate", "被解除的检查"}), o)
	}
	if r.Error != "" {
		head.Row(t.Say(msg.Text{"error", "错误"}), r.Error)
	}
	head.Print()
	r.trainingText(t)
	if len(r.Stages) == 0 {
		return
	}
	t.Println("")
	tb := t.Table(
		ui.Column{Title: msg.Text{"stage", "阶段"}}, ui.Column{Title: msg.Text{"status", "状态"}},
		ui.Column{Title: msg.Text{"took", "用时"}, Right: true}, ui.Column{Title: msg.Text{"key", "键"}},
	)
	for _, s := range r.Stages {
		tb.Row(s.Name, stageWord(t, s.Status), t.Duration(time.Duration(s.Seconds*float64(time.Second))), s.Key[:min(12, len(s.Key))])
	}
	tb.Print()
}
