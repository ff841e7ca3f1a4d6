package pipeline

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"

	"github.com/drydock-ml/drydock/dataprep/emit"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/runstore"
	"github.com/drydock-ml/drydock/internal/spec"
	"github.com/drydock-ml/drydock/internal/training"
	"github.com/drydock-ml/drydock/launch"
)

// trainDir is where a run's trainer works, relative to the project.
const trainDir = "build/train"

// runTrain plans the training and, unless the configuration says dry_run,
// starts it.
func (r *runner) runTrain(ctx context.Context) error {
	res := StageResult{Name: StageTrain}
	if r.cfg.Train.trainer == nil {
		res.Status, res.Reason = StatusSkipped, "no train in the configuration"
		return r.done(res)
	}
	took := r.clock()
	c, err := r.cfg.Training()
	if err != nil {
		return err
	}
	t, err := c.Plan(ctx, r.env.Env)
	if err != nil {
		return err
	}
	res.Train = t
	stage := r.stage(StageTrain)
	k := runstore.Key(r.env.Tool.Program, r.corpus.key, r.cfg.Train.name, r.cfg.Train.params)
	d, done := stage.Done()
	switch {
	case r.cfg.Train.dryRun || r.opt.DryRun:
		res.Status, res.Reason = StatusPlanned, "dry_run"
		if r.opt.DryRun {
			res.Reason = "would start"
		}
	case done && d.Key == k && !r.forced(StageTrain):
		res.Status, res.Reason = StatusCached, "unchanged"
	default:
		if err := r.startTrain(ctx, c, t, stage, k); err != nil {
			return err
		}
		res.Status = StatusDone
	}
	res.Seconds = took()
	return r.done(res)
}

func (r *runner) startTrain(ctx context.Context, c *training.Config, t *training.Result, stage runstore.Stage, k string) error {
	o := training.Options{
		Gates: r.opt.Gates, Warn: r.warn,
		Observe: func(p launch.Report) {
			r.tell(Event{Type: "progress", Stage: StageTrain, Done: p.Step, Total: p.MaxSteps})
		},
	}
	if err := c.Ready(ctx, t, r.env.Env, o); err != nil {
		return err
	}
	if err := stage.Reset(); err != nil {
		return err
	}
	if err := c.Launch(ctx, t, r.env.Env, r.log, o); err != nil {
		return err
	}
	_, err := stage.Finish(r.project, k, nil)
	return err
}

// Training is what a training needs to know of the project. The error says that
// no trainer is configured.
func (c *Config) Training() (*training.Config, error) {
	if c.Train.trainer == nil {
		return nil, fail.New(fail.Config, msg.Text{"%s names no trainer", "%s 未指定训练器"}, filepath.Base(c.File)).
			Hint(msg.Text{"add train: {llamafactory: {method: lora}}", "请加入 train: {llamafactory: {method: lora}}"})
	}
	project := runstore.Project{Dir: c.Dir}
	t := &training.Config{
		Project: project, File: c.File, Source: c.Source, Seed: c.Seed, Against: c.Contamination.Against,
		Trainer: c.Train.trainer, Name: c.Train.name, Params: c.Train.params, Folder: trainDir, At: c.trainerOption,
		Rows: c.trainRows, Last: lastRun{project},
	}
	for _, s := range c.Sources {
		t.Sources = append(t.Sources, training.Source{Name: s.Name, License: s.License})
	}
	return t, nil
}

// trainerOption is the place of an option of the trainer: where it is written, else
// where the trainer is.
func (c *Config) trainerOption(name string) fail.Where {
	d := spec.Parse(c.File, c.Source) // it parsed before
	n := c.Train.options
	if n == nil || n.Line == 0 {
		n = c.Train.node
	}
	return d.Where(spec.ValueOf(n, name))
}

// ReadSweep reads a file of several trainings for the project's trainer.
func (c *Config) ReadSweep(file string) (*launch.Sweep, error) {
	src, err := os.ReadFile(file)
	if err != nil {
		return nil, fail.New(fail.Usage, msg.Text{"%v", "%v"}, err)
	}
	sp, _ := spec.Find(launch.Trainers(), c.Train.name)
	plan, bad := launch.ReadSweep(filepath.ToSlash(file), src, sp, c.Train.options)
	return plan, bad.OrNil()
}

// trainRows is the first output that holds rows of a kind which the trainer takes.
func (c *Config) trainRows(kind launch.RowKind) (file string, contract emit.Contract) {
	for _, o := range c.Output {
		t, trains := o.builder.(emit.Trained)
		if trains && fitsTrainer(t.Target(), c.Train.name, kind) && filepath.Ext(o.path()) == ".jsonl" {
			return filepath.ToSlash(o.path()), o.contract()
		}
	}
	return "", ""
}

// fitsTrainer reports whether a trainer takes the rows of an output. All read
// messages, the rows named after them, and running text; pairs are laid out for
// each.
func fitsTrainer(t emit.Target, trainer string, kind launch.RowKind) bool {
	switch kind {
	case launch.RowsPairs:
		return t.Task == emit.DPO && t.Trainer == trainer
	case launch.RowsText:
		return t.Task == emit.Pretrain && (t.Trainer == "" || t.Trainer == trainer)
	}
	return t.Task == emit.SFT && (t.Messages || t.Name == trainer)
}

// lastRun answers for what the last run of a project wrote.
type lastRun struct{ project runstore.Project }

func (l lastRun) Wrote(file, sha256 string) bool {
	d, done := stageOf(l.project, StageOutput).Done()
	return done && d.Files[file] == sha256
}

func (l lastRun) Checked() ([]training.Checked, error) {
	var saved savedCorpus
	b, err := os.ReadFile(stageOf(l.project, StageOutput).Path("result.json"))
	if err == nil {
		err = json.Unmarshal(b, &saved)
	}
	if err != nil {
		return nil, err
	}
	var out []training.Checked
	for _, k := range saved.Results[1].Contam {
		out = append(out, training.Checked{Benchmark: k.Benchmark, Leaks: k.Leaks, Removed: k.Removed})
	}
	return out, nil
}

func (l lastRun) Ledgers() string { return ledgerDir }
