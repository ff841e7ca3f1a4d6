package cli

import (
	"context"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/runstore"
	"github.com/drydock-ml/drydock/internal/ui"
)

// RunsGCOptions are the flags of runs gc.
type RunsGCOptions struct {
	OlderThan string
	Keep      int
	DryRun    bool
}

func newRunsGCCommand(a *app) *cobra.Command {
	var o RunsGCOptions
	c := a.command("gc", about{
		short: msg.Text{"Remove old runs, with the checkpoints moved aside for them.", "清理旧的运行，以及为其移到旁边的检查点。"},
		long: msg.Text{
			"A run goes when every rule given allows it. One that has not ended stays, and so does one that a later run builds on: a training it was resumed from, a contamination check that vouched for its data. -n lists what would go.",
			"满足所有给定条件的运行会被清理。未结束的运行会保留；后续运行所依赖的也会保留：被其继续的训练、为其数据作证的污染检查。-n 只列出将清理的内容。",
		},
		examples: []example{
			{msg.Text{"what is older than a month, but never the last ten", "一个月以前的，但始终保留最近十次"}, "drydock runs gc --older-than 30d --limit 10 -n"},
		},
	}, nil)
	c.RunE = func(cmd *cobra.Command, _ []string) error { return a.gcRuns(cmd.Context(), o) }
	f := a.flags(c.Flags())
	f.str(&o.OlderThan, "older-than", "", "", msg.Text{"runs that began more than `TIME` ago (30d, 12h)", "开始于 `TIME` 之前的运行（30d、12h）"})
	f.typed("older-than")
	f.int(&o.Keep, "limit", "", 0, msg.Text{"all but the newest `N` runs", "最近 `N` 次以外的运行"})
	f.typed("limit")
	f.dryRun(&o.DryRun)
	return c
}

// RunsRemoveOptions are the flags of runs rm.
type RunsRemoveOptions struct{ Force, DryRun bool }

func newRunsRemoveCommand(a *app) *cobra.Command {
	var o RunsRemoveOptions
	c := a.command("rm", about{
		use: "RUN…", args: someArgs("RUN"),
		short: msg.Text{"Remove runs, with the checkpoints moved aside for them.", "删除运行，以及为其移到旁边的检查点。"},
		long: msg.Text{
			"A run that has not ended is never removed; one that a later run builds on only with --force.",
			"未结束的运行不会被删除；后续运行所依赖的运行，只有加 --force 才会删除。",
		},
		examples: []example{{msg.Text{"one run, by its id", "按编号删除一次运行"}, "drydock runs rm 20261130-101500"}},
	}, nil)
	c.RunE = func(cmd *cobra.Command, args []string) error { return a.removeRuns(cmd.Context(), args, o) }
	c.ValidArgsFunction = a.completeRuns
	f := a.flags(c.Flags())
	f.gate(&o.Force, "force", "", msg.Text{"also runs that later ones build on", "也删除后续运行所依赖的运行"})
	f.dryRun(&o.DryRun)
	return c
}

// removedAnswer says what went, or would.
type removedAnswer struct {
	Schema  string       `json:"schema"`
	DryRun  bool         `json:"dry_run"`
	Removed []removedRun `json:"removed"`
	Kept    []keptRun    `json:"kept"`
	Bytes   int64        `json:"bytes"`
}

type removedRun struct {
	ID    string    `json:"id"`
	Start time.Time `json:"start"`
	Bytes int64     `json:"bytes"`
	Paths []string  `json:"paths"`
}

// A keptRun stays because of another that builds on it.
type keptRun struct {
	ID string `json:"id"`
	By string `json:"by"`
}

func (r removedAnswer) text(t *ui.Terminal) {
	if len(r.Removed) == 0 {
		t.Note(msg.Text{"no run goes", "没有可清理的运行"})
	}
	tb := t.Table(
		ui.Column{Title: msg.Text{"run", "运行"}}, ui.Column{Title: msg.Text{"start", "开始"}},
		ui.Column{Title: msg.Text{"size", "大小"}, Right: true}, ui.Column{Title: msg.Text{"folders", "目录"}},
	)
	for _, x := range r.Removed {
		size := strconv.FormatInt(x.Bytes, 10)
		if t.OutTTY() {
			size = ui.Size(x.Bytes)
		}
		tb.Row(x.ID, x.Start.UTC().Format(time.RFC3339), size, msg.List(x.Paths).In(t.Lang()))
	}
	tb.Print()
	for _, k := range r.Kept {
		t.Note(msg.Text{"%s stays: run %s builds on it", "%s 保留：运行 %s 依赖它"}, k.ID, k.By)
	}
	if r.DryRun && len(r.Removed) > 0 {
		t.Note(msg.Text{"nothing was removed (-n)", "未删除任何内容（-n）"})
	}
}

// days reads a duration that may count days, which Go's do not.
func days(flag, s string) (time.Duration, error) {
	if n, found := strings.CutSuffix(s, "d"); found {
		if d, err := strconv.ParseFloat(n, 64); err == nil && d > 0 && d < 36500 {
			return time.Duration(d * 24 * float64(time.Hour)), nil
		}
	} else if d, err := time.ParseDuration(s); err == nil && d > 0 {
		return d, nil
	}
	return 0, fail.New(fail.Usage, msg.Text{"%s %q: want a time such as 30d or 12h", "%s %q：应为时长，例如 30d 或 12h"}, flag, s)
}

// store is the project whose runs are meant; outside a project, the home that
// keeps runs made outside one.
func (a *app) store() (runstore.Project, error) {
	runs, err := a.projectRuns()
	return runstore.Project{Dir: filepath.Dir(runs)}, err
}

func (a *app) gcRuns(ctx context.Context, o RunsGCOptions) error {
	var rule runstore.Retention
	var err error
	if o.OlderThan != "" {
		if rule.OlderThan, err = days("--older-than", o.OlderThan); err != nil {
			return err
		}
	}
	if o.Keep < 0 {
		return fail.New(fail.Usage, msg.Text{"--limit %d: must not be negative", "--limit %d：不能为负数"}, o.Keep)
	}
	if rule.Keep = o.Keep; rule == (runstore.Retention{}) {
		return fail.New(fail.Usage, msg.Text{"runs gc needs a rule: --older-than, --limit or both", "runs gc 需要条件：--older-than、--limit 或两者"})
	}
	p, err := a.store()
	if err != nil {
		return err
	}
	gone, kept, err := p.Removable(a.host.Now(), rule)
	if err != nil {
		return err
	}
	ans := removedAnswer{Schema: "drydock.runs.gc/1", DryRun: o.DryRun, Removed: []removedRun{}, Kept: []keptRun{}}
	for id, by := range kept {
		ans.Kept = append(ans.Kept, keptRun{id, by})
	}
	slices.SortFunc(ans.Kept, func(x, y keptRun) int { return strings.Compare(x.ID, y.ID) })
	return a.remove(ctx, ans, gone)
}

func (a *app) removeRuns(ctx context.Context, ids []string, o RunsRemoveOptions) error {
	p, err := a.store()
	if err != nil {
		return err
	}
	var gone []runstore.Removal
	for _, id := range ids {
		info, dir, err := a.findRun(id)
		if err != nil {
			return err
		}
		infos, _, err := runstore.List(filepath.Dir(dir))
		if err != nil {
			return err
		}
		if info.End == nil && !crashedRuns(filepath.Dir(dir), infos)[info.ID] {
			return fail.New(fail.Refused, msg.Text{"run %s has not ended", "运行 %s 尚未结束"}, info.ID).
				Hint(msg.Text{"drydock runs stop ends a training", "drydock runs stop 可停止训练"})
		}
		by, err := runstore.Dependents(filepath.Dir(dir), info.ID)
		if err != nil {
			return err
		}
		by = slices.DeleteFunc(by, func(b string) bool { return slices.Contains(ids, b) })
		if len(by) > 0 && !o.Force {
			return fail.New(fail.Refused, msg.Text{"%s {builds|build} on run %s", "%s 依赖运行 %s"}, msg.List(by), info.ID).
				Hint(msg.Text{"--force removes it all the same", "--force 可强制删除"})
		}
		g, err := p.Removal(info.ID)
		if err != nil {
			return err
		}
		gone = append(gone, g)
	}
	ans := removedAnswer{Schema: "drydock.runs.rm/1", DryRun: o.DryRun, Removed: []removedRun{}, Kept: []keptRun{}}
	return a.remove(ctx, ans, gone)
}

// remove does what an answer says and prints it.
func (a *app) remove(ctx context.Context, ans removedAnswer, gone []runstore.Removal) error {
	for _, g := range gone {
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		if !ans.DryRun {
			if err := g.Remove(); err != nil {
				return err
			}
		}
		r := removedRun{ID: g.ID, Start: g.Start, Bytes: g.Bytes, Paths: []string{}}
		for _, p := range g.Paths {
			r.Paths = append(r.Paths, filepath.ToSlash(p))
		}
		ans.Removed = append(ans.Removed, r)
		ans.Bytes += g.Bytes
	}
	return a.answer(ans)
}
