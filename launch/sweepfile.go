package launch

import (
	"fmt"
	"slices"
	"strings"

	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/spec"

	"go.yaml.in/yaml/v3"
)

// A Sweep is several trainings of one project that differ in settings, in the
// order they are to be run.
type Sweep struct {
	Jobs   []SweepJob
	Budget SweepBudget
	Eval   []string // the program that scores a checkpoint, and its arguments; nil: none
	Stop   SweepStop
}

// A SweepJob is one of the trainings.
type SweepJob struct {
	ID       string         // 01, 02, …
	Settings []SweepSetting // what it sets otherwise, in the file's order
	Trainer  Trainer
	Params   string // all options, canonically: equal trainings have equal ones
	places   map[string]fail.Where
}

// Place is where the sweep file sets an option; ok is false where it does not.
func (j SweepJob) Place(option string) (at fail.Where, ok bool) {
	at, ok = j.places[option]
	return at, ok
}

// A SweepSetting is one setting of a job.
type SweepSetting struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// SweepBudget limits a sweep. Zero values limit nothing.
type SweepBudget struct {
	Runs  int     `yaml:"runs" help:"Trainings at most; those behind are left out." zh:"最多进行的训练次数；其余略过。"`
	Hours float64 `yaml:"hours" help:"Hours after which no training begins, and the one that runs is stopped." zh:"超过此小时数后不再开始训练，并停止正在进行的训练。"`
}

// SweepStop says when a training is ended before its time.
type SweepStop struct {
	Patience   int  `yaml:"patience" help:"End a training after so many checkpoints in a row that score no higher than its best; 0: never." zh:"连续若干个检查点未超过该次训练的最好成绩时结束；0 表示不结束。"`
	Outclassed bool `yaml:"outclassed" help:"End a training when the 95 % interval of its latest checkpoint lies below that of the best training so far." zh:"当最新检查点的 95 % 区间低于目前最好训练的区间时结束。"`
}

type sweepFile struct {
	Grid   yaml.Node   `yaml:"grid"`
	List   yaml.Node   `yaml:"list"`
	Budget SweepBudget `yaml:"budget"`
	Eval   struct {
		Argv []string `yaml:"argv" required:"true"`
	} `yaml:"eval"`
	Stop SweepStop `yaml:"stop"`
}

// maxSweep is the most trainings a file may name: more is a slip of the pen.
const maxSweep = 1000

// ReadSweep reads a sweep file: grid, of which every combination is a training,
// the last setting changing first; list, of which every entry is one; or both. A
// setting is an option of the trainer, or extra.NAME. trainer makes the jobs'
// trainers, base are its options in drydock.yaml (nil: none), which a job's own
// replace. All findings come back at once.
func ReadSweep(file string, src []byte, trainer spec.Spec[Trainer], base *yaml.Node) (*Sweep, fail.List) {
	d := spec.Parse(file, src)
	if d.Root == nil {
		return nil, d.Findings()
	}
	var f sweepFile
	d.Decode(d.Root, &f, msg.Text{"the sweep file", "扫描文件"})
	s := &Sweep{Budget: f.Budget, Eval: f.Eval.Argv, Stop: f.Stop}
	for _, v := range []struct {
		group, name string
		negative    bool
	}{
		{"budget", "runs", f.Budget.Runs < 0}, {"budget", "hours", f.Budget.Hours < 0}, {"stop", "patience", f.Stop.Patience < 0},
	} {
		if v.negative {
			d.Report(spec.ValueOf(spec.ValueOf(d.Root, v.group), v.name), msg.Text{"%s: %s must not be negative", "%s：%s 不能为负"}, v.group, v.name)
		}
	}
	if (f.Stop.Patience > 0 || f.Stop.Outclassed) && len(s.Eval) == 0 {
		d.Report(spec.ValueOf(d.Root, "stop"), msg.Text{"stop needs eval: nothing else says how good a checkpoint is", "stop 需要 eval：没有其他依据判断检查点的好坏"})
	}
	sets := append(gridOf(d, &f.Grid), listOf(d, &f.List)...)
	switch {
	case len(d.Findings()) > 0:
		return nil, d.Findings()
	case len(sets) == 0:
		d.Report(d.Root, msg.Text{"it names no training: write grid or list", "未列出任何训练：请写 grid 或 list"})
	case len(sets) > maxSweep:
		d.Report(d.Root, msg.Text{"it names %d trainings; %d are the most", "列出了 %d 次训练；最多 %d 次"}, len(sets), maxSweep)
	}
	if len(d.Findings()) > 0 {
		return nil, d.Findings()
	}
	for i, set := range sets {
		options := overlay(base, set)
		t, ok := trainer.Build(d, options, trainer.Name)
		if !ok {
			return nil, d.Findings() // the next job would say the same again
		}
		j := SweepJob{ID: fmt.Sprintf("%02d", i+1), Trainer: t, Params: flow(options), places: map[string]fail.Where{}}
		for _, p := range set {
			j.places[p.Key.Value] = d.Where(p.Value)
			j.Settings = append(j.Settings, SweepSetting{p.Key.Value, strings.Trim(flow(p.Value), `"`)})
		}
		s.Jobs = append(s.Jobs, j)
	}
	return s, nil
}

// gridOf returns every combination of a mapping of lists.
func gridOf(d *spec.Document, n *yaml.Node) [][]spec.Pair {
	if n.Kind == 0 {
		return nil
	}
	sets := [][]spec.Pair{nil}
	for _, p := range d.Pairs(n, "grid") {
		values := p.Value.Content
		if p.Value.Kind != yaml.SequenceNode {
			values = []*yaml.Node{p.Value}
		}
		if len(values) == 0 {
			d.Report(p.Value, msg.Text{"grid: %s has no value", "grid：%s 没有取值"}, p.Key.Value)
		}
		if len(sets)*len(values) > maxSweep {
			d.Report(p.Key, msg.Text{"it names more than %d trainings", "列出的训练超过 %d 次"}, maxSweep)
			return nil
		}
		var next [][]spec.Pair
		for _, set := range sets {
			for _, v := range values {
				next = append(next, append(slices.Clone(set), spec.Pair{Key: p.Key, Value: v}))
			}
		}
		sets = next
	}
	return sets
}

// listOf returns the entries of a list of mappings.
func listOf(d *spec.Document, n *yaml.Node) [][]spec.Pair {
	if n.Kind == 0 {
		return nil
	}
	var sets [][]spec.Pair
	for _, item := range d.Items(n, "list", false) {
		sets = append(sets, d.Pairs(item, "list"))
	}
	return sets
}

// overlay puts settings over a trainer's options; extra.NAME goes into extra.
func overlay(base *yaml.Node, set []spec.Pair) *yaml.Node {
	out := &yaml.Node{Kind: yaml.MappingNode}
	if base != nil && base.Kind == yaml.MappingNode {
		out.Content = slices.Clone(base.Content)
		out.Line, out.Column = base.Line, base.Column
	}
	for _, p := range set {
		name, inner := p.Key.Value, ""
		if rest, ok := strings.CutPrefix(name, "extra."); ok {
			name, inner = "extra", rest
		}
		if inner == "" {
			put(out, p.Key, p.Value)
			continue
		}
		old := spec.ValueOf(out, "extra")
		if old == out {
			old = nil
		}
		key := *p.Key
		key.Value = inner
		outer := *p.Key
		outer.Value = "extra"
		put(out, &outer, overlay(old, []spec.Pair{{Key: &key, Value: p.Value}}))
	}
	return out
}

// put sets a key of a mapping, without touching a node it shares with another.
func put(m, key, value *yaml.Node) {
	for i := 0; i+1 < len(m.Content); i += 2 {
		if m.Content[i].Value == key.Value {
			m.Content[i], m.Content[i+1] = key, value
			return
		}
	}
	m.Content = append(m.Content, key, value)
}
