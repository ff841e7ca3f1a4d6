package cli

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/runstore"
	"github.com/drydock-ml/drydock/internal/training"
	"github.com/drydock-ml/drydock/internal/ui"
)

func newRunsCompareCommand(a *app) *cobra.Command {
	c := a.command("compare", about{
		use: "[A [B]]", args: argRule{0, 2, "A B"},
		short: msg.Text{"Say in what two trainings differ: data, settings, environment, figures.", "比较两次训练的差异：数据、设置、环境、指标。"},
		examples: []example{
			{msg.Text{"the newest with the one before it", "最近一次与前一次"}, "drydock runs compare"},
			{msg.Text{"by the beginning of their ids", "按编号开头指定"}, "drydock runs compare 20261129 20261130"},
		},
	}, nil)
	c.RunE = func(cmd *cobra.Command, args []string) error { return a.compareRuns(cmd.Context(), args) }
	c.ValidArgsFunction = a.completeRuns
	return c
}

// A difference is one fact that two trainings have differently; "" is one that
// the other has alone.
type difference struct {
	Part  string `json:"part"` // data, settings, environment, figures
	Field string `json:"field"`
	A     string `json:"a"`
	B     string `json:"b"`
}

type compareRunsAnswer struct {
	Schema      string       `json:"schema"`
	A           string       `json:"a"`
	B           string       `json:"b"`
	Differences []difference `json:"differences"`
	// Same says that they would do the same: their data and plans are equal.
	Same bool `json:"same"`
}

func (r compareRunsAnswer) text(t *ui.Terminal) {
	if r.Same {
		t.Print(msg.Text{"same data and same plan", "数据与计划均相同"})
	}
	tb := t.Table(ui.Column{}, ui.Column{}, ui.Column{}).Bare()
	names := map[string]msg.Text{
		"data": {"data", "数据"}, "settings": {"settings", "设置"}, "environment": {"environment", "环境"}, "figures": {"figures", "指标"},
	}
	or := func(s string) string {
		if s == "" {
			return "-"
		}
		return s
	}
	tb.Row("", r.A, r.B)
	for _, d := range r.Differences {
		part := d.Part
		if t.OutTTY() {
			part = t.Say(names[d.Part])
		}
		tb.Row(part+" "+d.Field, or(d.A), or(d.B))
	}
	tb.Print()
}

// A trained is a training as it is compared.
type trained struct {
	info     runstore.Info
	manifest runstore.Manifest
	facts    []fact
}

type fact struct{ part, field, value string }

// pair completes the ids of two trainings: one that is missing is the newest, two
// are the one before it and the newest.
func (a *app) pair(ids []string) ([2]string, error) {
	if len(ids) == 2 {
		return [2]string{ids[0], ids[1]}, nil
	}
	if len(ids) == 1 {
		return [2]string{ids[0], ""}, nil
	}
	runs, err := a.projectRuns()
	if err != nil {
		return [2]string{}, err
	}
	all, err := runstore.Trainings(runs)
	if err != nil {
		return [2]string{}, err
	}
	if len(all) < 2 {
		return [2]string{}, fail.New(fail.Usage, msg.Text{"there are no two trainings to compare", "没有两次训练可供比较"}).
			Hint(msg.Text{"see drydock runs list", "参见 drydock runs list"})
	}
	return [2]string{all[1].Run, all[0].Run}, nil
}

func (a *app) compareRuns(_ context.Context, args []string) error {
	ids, err := a.pair(args)
	if err != nil {
		return err
	}
	x, err := a.trained(ids[0])
	if err != nil {
		return err
	}
	y, err := a.trained(ids[1])
	if err != nil {
		return err
	}
	return a.answer(compareRunsAnswer{
		Schema: "drydock.runs.compare/1", A: x.info.ID, B: y.info.ID,
		Differences: differences(x.facts, y.facts), Same: x.manifest.Fingerprint == y.manifest.Fingerprint,
	})
}

// differences sets two lists of facts against each other, in the order of their
// parts and fields.
func differences(x, y []fact) []difference {
	type name struct{ part, field string }
	var order []name
	both := map[name]*difference{}
	for i, facts := range [][]fact{x, y} {
		for _, f := range facts {
			n := name{f.part, f.field}
			d := both[n]
			if d == nil {
				d = &difference{Part: f.part, Field: f.field}
				both[n] = d
				order = append(order, n)
			}
			if i == 0 {
				d.A = f.value
			} else {
				d.B = f.value
			}
		}
	}
	parts := []string{"data", "settings", "environment", "figures"}
	slices.SortStableFunc(order, func(a, b name) int { return slices.Index(parts, a.part) - slices.Index(parts, b.part) })
	out := []difference{}
	for _, n := range order {
		if d := both[n]; d.A != d.B {
			out = append(out, *d)
		}
	}
	return out
}

func (a *app) trained(id string) (trained, error) {
	info, m, dir, err := a.findTraining(id)
	if err != nil {
		return trained{}, err
	}
	t := trained{info: info, manifest: m}
	t.settings(dir)
	t.environment()
	return t, t.figures(dir)
}

func (t *trained) add(part, field, value string) {
	if value != "" {
		t.facts = append(t.facts, fact{part, field, value})
	}
}

// settings lists what the training was given.
func (t *trained) settings(dir string) {
	m := t.manifest
	for _, f := range m.Data {
		t.add("data", f.Path, "sha256:"+f.SHA256)
	}
	tr := m.Trainer
	t.add("settings", "trainer", tr.Name)
	t.add("settings", "base", tr.Base)
	t.add("settings", "contract", tr.Contract)
	t.add("settings", "seed", strconv.FormatUint(tr.Seed, 10))
	t.add("settings", "argv", strings.Join(tr.Argv, " "))
	t.add("settings", "set", strings.Join(tr.Set, " "))
	t.add("settings", "lifted", strings.Join(m.Lifted, " "))
	for _, f := range tr.Files {
		keys := training.KeptSettings(dir, f.Path)
		for _, k := range keys {
			t.add("settings", f.Path+": "+k[0], k[1])
		}
		if len(keys) == 0 {
			t.add("settings", f.Path, "sha256:"+f.SHA256)
		}
	}
	if r := m.Resumed; r != nil {
		t.add("settings", "resumed", fmt.Sprintf("%s (%d)", r.Checkpoint, r.Step))
	}
	if c := m.Code; c != nil {
		t.add("settings", "commit", c.Commit)
		if c.Dirty {
			t.add("settings", "uncommitted changes", "true")
		}
	}
}

func (t *trained) environment() {
	e := t.manifest.Environment
	t.add("environment", "drydock", t.info.Tool.Version)
	t.add("environment", "trainer", t.manifest.Trainer.Version)
	t.add("environment", "host", t.info.Host)
	t.add("environment", "system", e.OS+"/"+e.Arch)
	t.add("environment", "python", e.Python)
	t.add("environment", "cuda", e.CUDA)
	t.add("environment", "driver", e.Driver)
	for i, g := range e.GPUs {
		t.add("environment", "GPU "+strconv.Itoa(i), g.Name)
	}
	for _, p := range e.Packages {
		if name, version, ok := strings.Cut(p, "=="); ok {
			t.add("environment", name, version)
		}
	}
}

// figures lists what came of the training.
func (t *trained) figures(dir string) error {
	t.add("figures", "status", string(t.info.Status))
	if t.info.End != nil {
		t.add("figures", "seconds", strconv.FormatFloat(t.info.End.Sub(t.info.Start).Round(time.Second).Seconds(), 'f', -1, 64))
	}
	if o := t.manifest.Outcome; o != nil {
		t.add("figures", "step", stepOf(o.Step, o.MaxSteps))
		t.add("figures", "cause", o.Cause)
		if o.EvalLoss != nil {
			t.add("figures", "eval_loss", fmt.Sprintf("%.4g", *o.EvalLoss))
		}
	}
	curve, err := training.ReadCurve(filepath.Dir(dir), t.info.ID)
	if err != nil {
		return err
	}
	if losses := curve.Losses(); len(losses) > 0 {
		t.add("figures", "last loss", fmt.Sprintf("%.4g", losses[len(losses)-1]))
		t.add("figures", "lowest loss", fmt.Sprintf("%.4g", slices.Min(losses)))
	}
	t.add("figures", "checkpoints", strconv.Itoa(len(t.manifest.Checkpoints)))
	evals, err := runstore.Evaluations(dir)
	for _, e := range evals {
		t.add("figures", fmt.Sprintf("%s at step %d", e.Benchmark, e.Step), fmt.Sprintf("%d/%d", e.Correct, e.N))
	}
	return err
}
