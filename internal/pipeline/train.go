package pipeline

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"

	"github.com/drydock-ml/drydock/dataprep/emit"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/runstore"
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
	t, err := r.cfg.planTrain(ctx)
	if err != nil {
		return err
	}
	res.Train = t
	stage := r.stage(StageTrain)
	k := key(r.env.Tool.Program, r.corpus.key, r.cfg.Train.name, r.cfg.Train.params)
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
		if err := r.startTrain(ctx, t, stage, k); err != nil {
			return err
		}
		res.Status = StatusDone
	}
	res.Seconds = took()
	return r.done(res)
}

func (r *runner) startTrain(ctx context.Context, t *TrainResult, stage runstore.Stage, k string) error {
	if err := r.cfg.coveredData(r.project, false); err != nil {
		return err
	}
	if err := r.cfg.fedAsAsked(ctx, t, r.opt.AllowTemplateMismatch); err != nil {
		return err
	}
	if w := t.Feed.cutWarning(); w != nil {
		r.warn(w)
	}
	if err := stage.Reset(); err != nil {
		return err
	}
	if err := launchPlan(ctx, r.cfg, t, r.env, func(e launch.Event) {
		r.tell(Event{Type: "progress", Stage: StageTrain, Done: e.Step, Total: e.MaxSteps})
	}); err != nil {
		return err
	}
	_, err := stage.Finish(r.project, k, nil)
	return err
}

// TrainOptions are the flags of train.
type TrainOptions struct {
	DryRun         bool
	AllowUnchecked bool // start though no contamination check covers the data
	// AllowTemplateMismatch starts though rows are fed otherwise than the
	// endpoint will be asked.
	AllowTemplateMismatch bool
	Observe               func(launch.Event)
	Warn                  func(msg.Localizer) // may be nil
}

// Train plans the configured training for the data the last run wrote and,
// unless DryRun, starts it and follows it to its end.
func Train(ctx context.Context, cfg *Config, env Env, o TrainOptions) (*TrainResult, error) {
	if cfg.Train.trainer == nil {
		return nil, fail.New(fail.Config, msg.Text{"%s names no trainer", "%s 未指定训练器"}, filepath.Base(cfg.File)).
			Hint(msg.Text{"add train: {llamafactory: {method: lora}}", "请加入 train: {llamafactory: {method: lora}}"})
	}
	t, err := cfg.planTrain(ctx)
	if err != nil || o.DryRun {
		return t, err
	}
	project := runstore.Project{Dir: cfg.Dir}
	lock, err := project.Acquire(ctx, runstore.Holder{PID: env.PID, Host: env.Host, Start: env.Now()}, 0)
	if err != nil {
		return t, err
	}
	defer lock.Close()
	if err := cfg.coveredData(project, o.AllowUnchecked); err != nil {
		return t, err
	}
	if err := cfg.fedAsAsked(ctx, t, o.AllowTemplateMismatch); err != nil {
		return t, err
	}
	warned := 0
	if w := t.Feed.cutWarning(); w != nil {
		warned++
		if o.Warn != nil {
			o.Warn(w)
		}
	}
	log, err := runstore.Begin(filepath.Join(cfg.Dir, "runs"), runstore.Info{
		Command: "train", Start: env.Now(), Host: env.Host, PID: env.PID, Tool: env.Tool,
		Overrides: overrides(o.AllowUnchecked, o.AllowTemplateMismatch),
	}, cfg.Source)
	if err != nil {
		return t, err
	}
	return t, endLog(log, env, launchPlan(ctx, cfg, t, env, o.Observe), warned)
}

// overrides names the gates that flags lifted.
func overrides(unchecked, mismatch bool) []string {
	var out []string
	if unchecked {
		out = append(out, "--allow-unchecked-data")
	}
	if mismatch {
		out = append(out, "--allow-template-mismatch")
	}
	return out
}

// planTrain looks for the trainer and makes its plan. Problems of the machine
// are in the result; they stop a start, not a plan.
func (c *Config) planTrain(ctx context.Context) (*TrainResult, error) {
	data, contract := c.trainData()
	if data == "" {
		return nil, fail.New(fail.Config, msg.Text{"no output writes training rows", "没有任何输出写出训练数据"}).
			Hint(msg.Text{"add an output of shape qwen3_chat, in a .jsonl file", "请加入 qwen3_chat 形式的输出（.jsonl 文件）"})
	}
	found, problems := c.Train.trainer.Check(ctx, launch.Local())
	plan, err := c.Train.trainer.Plan(launch.Job{Data: data, Dir: trainDir, Contract: contract, Seed: c.Seed}, found)
	if err != nil {
		return nil, err
	}
	t := &TrainResult{Trainer: c.Train.name, Plan: &plan, Found: true, Problems: problems}
	for _, p := range problems {
		t.Found = t.Found && !p.Fatal
	}
	return t, nil
}

// trainData is the first output of rows that a trainer can be started on:
// messages, one a line.
func (c *Config) trainData() (path string, contract emit.Contract) {
	for _, o := range c.Output {
		t, trains := o.builder.(emit.Trained)
		if trains && t.Target().Messages && filepath.Ext(o.path()) == ".jsonl" {
			return filepath.ToSlash(o.path()), o.contract()
		}
	}
	return "", ""
}

// coveredData refuses unless the data on disk is, byte for byte, what the last
// run checked against the benchmarks and found free of leaks.
func (c *Config) coveredData(p runstore.Project, allowUnchecked bool) error {
	data, _ := c.trainData()
	stage := stageOf(p, StageOutput)
	d, done := stage.Done()
	sum, err := runstore.HashFile(inside(c.Dir, data))
	if err != nil {
		return fail.New(fail.Refused, msg.Text{"there is no training data yet: %v", "尚无训练数据：%v"}, err).
			Hint(msg.Text{"drydock run makes it", "请先执行 drydock run"})
	}
	if allowUnchecked {
		return nil
	}
	refuse := func(text msg.Text, args ...any) error {
		return fail.New(fail.Refused, text, args...).
			Hint(msg.Text{"run drydock run, or lift this gate with --allow-unchecked-data", "请执行 drydock run，或用 --allow-unchecked-data 放行"})
	}
	if !done || d.Files[data] != sum {
		return refuse(msg.Text{"no contamination check covers %s as it is now", "没有任何污染检查覆盖当前的 %s"}, data)
	}
	var saved savedCorpus
	b, err := os.ReadFile(stage.Path("result.json"))
	if err == nil {
		err = json.Unmarshal(b, &saved)
	}
	if err != nil {
		return err
	}
	contam := saved.Results[1].Contam
	if len(contam) == 0 {
		return fail.New(fail.Refused, msg.Text{"%s was checked against no benchmark", "%s 未与任何评测集比对"}, data).
			Hint(msg.Text{
				"add contamination: {against: [maritime_bench]} and run drydock run, or lift this gate with --allow-unchecked-data",
				"请加入 contamination: {against: [maritime_bench]} 并执行 drydock run，或用 --allow-unchecked-data 放行",
			})
	}
	for _, k := range contam {
		if k.Leaks > k.Removed {
			return refuse(msg.Text{"%s still holds %d {item|items} of %s", "%s 中仍有 %d 条来自 %s 的题目"}, data, k.Leaks-k.Removed, k.Benchmark)
		}
	}
	return nil
}

// launchPlan starts a plan and follows it to its end.
func launchPlan(ctx context.Context, c *Config, t *TrainResult, env Env, observe func(launch.Event)) error {
	for _, p := range t.Problems {
		if p.Fatal {
			return p.Error
		}
	}
	dir := inside(c.Dir, t.Plan.Dir)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	log, err := os.OpenFile(filepath.Join(dir, "train.log"), os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o644)
	if err != nil {
		return err
	}
	t.Ran = true
	res, err := launch.Run(ctx, c.Train.trainer, *t.Plan, launch.Options{
		Root: c.Dir, Environ: env.Environ, Log: log,
		OnLine: func(l launch.Line) {
			if l.Event != nil && observe != nil {
				observe(*l.Event)
			}
		},
	})
	t.Last = res.Event
	return errors.Join(err, log.Close())
}
