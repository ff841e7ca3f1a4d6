package pipeline

import (
	"context"
	"os"
	"path/filepath"
	"time"

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
	t, err := r.cfg.planTrain(ctx, r.env)
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
	if err := r.cfg.preflight(ctx, r.project, t, r.env, r.opt.Gates, r.warn); err != nil {
		return err
	}
	if err := r.cfg.chooseBegin(t, TrainOptions{}); err != nil {
		return err
	}
	if err := stage.Reset(); err != nil {
		return err
	}
	if err := launchPlan(ctx, r.cfg, t, r.env, r.log, TrainOptions{
		Warn: r.warn,
		Observe: func(p launch.Report) {
			r.tell(Event{Type: "progress", Stage: StageTrain, Done: p.Step, Total: p.MaxSteps})
		},
	}); err != nil {
		return err
	}
	_, err := stage.Finish(r.project, k, nil)
	return err
}

// TrainOptions are the flags of train.
type TrainOptions struct {
	DryRun bool
	Gates  Gates
	// Fresh begins at step 0 although an earlier training could be gone on with.
	Fresh bool
	// Resume is a checkpoint to go on from, from the project, whatever the
	// settings were that made it; "" finds one if there is one.
	Resume string
	// Stall ends a trainer that has said nothing for so long; 0: none is ended.
	Stall   time.Duration
	Lang    msg.Lang            // of the page with the loss
	Observe func(launch.Report) // may be nil
	Note    func(msg.Localizer) // may be nil
	Warn    func(msg.Localizer) // may be nil
}

// Train plans the configured training for the data the last run wrote and,
// unless DryRun, starts it and follows it to its end.
func Train(ctx context.Context, cfg *Config, env Env, o TrainOptions) (*TrainResult, error) {
	if cfg.Train.trainer == nil {
		return nil, cfg.noTrainer()
	}
	t, err := cfg.planTrain(ctx, env)
	if err != nil {
		return nil, err
	}
	project := runstore.Project{Dir: cfg.Dir}
	if o.DryRun {
		if err := cfg.chooseBegin(t, o); err != nil {
			return t, err
		}
		return t, cfg.foresee(ctx, project, t, env, o.Gates)
	}
	lock, err := project.Acquire(ctx, runstore.Holder{PID: env.PID, Host: env.Host, Start: env.Now()}, 0)
	if err != nil {
		return t, err
	}
	defer lock.Close()
	if err := cfg.chooseBegin(t, o); err != nil {
		return t, err
	}
	warned, warn := 0, sayer(o.Warn)
	o.Warn = func(w msg.Localizer) {
		warned++
		warn(w)
	}
	if err := cfg.preflight(ctx, project, t, env, o.Gates, o.Warn); err != nil {
		return t, err
	}
	log, err := runstore.Begin(filepath.Join(cfg.Dir, "runs"), runstore.Info{
		Command: "train", Start: env.Now(), Host: env.Host, PID: env.PID, Tool: env.Tool,
		Overrides: o.Gates.lifted(),
	}, cfg.Source)
	if err != nil {
		return t, err
	}
	err = launchPlan(ctx, cfg, t, env, log, o)
	return t, endLog(log, env, err, warned)
}

// preflight refuses to start a training that would not hold, and warns of what
// may go wrong.
func (c *Config) preflight(ctx context.Context, p runstore.Project, t *TrainResult, env Env, g Gates, warn func(msg.Localizer)) error {
	data, _ := c.trainData()
	if _, err := os.Stat(inside(c.Dir, data)); err != nil {
		return fail.New(fail.Refused, msg.Text{"there is no training data yet: %v", "尚无训练数据：%v"}, err).
			Hint(msg.Text{"drydock run makes it", "请先执行 drydock run"})
	}
	if err := c.gates(ctx, p, t, g); err != nil {
		return err
	}
	if err := refusal(t.Gates); err != nil {
		return err
	}
	t.Machine = c.machine(ctx, env, t)
	for _, r := range t.Gates {
		if r.State == GateLifted {
			warn(r.err)
		}
	}
	for _, w := range t.Machine.warnings {
		warn(w)
	}
	return nil
}

// foresee tells what preflight would, for a plan.
func (c *Config) foresee(ctx context.Context, p runstore.Project, t *TrainResult, env Env, g Gates) error {
	data, _ := c.trainData()
	if _, err := os.Stat(inside(c.Dir, data)); err == nil {
		if err := c.gates(ctx, p, t, g); err != nil {
			return err
		}
	}
	t.Machine = c.machine(ctx, env, t)
	return nil
}

// planTrain looks for the trainer and makes its plan. Problems of the machine
// are in the result; they stop a start, not a plan.
func (c *Config) planTrain(ctx context.Context, env Env) (*TrainResult, error) {
	data, contract := c.trainData()
	if data == "" {
		return nil, c.noTrainData()
	}
	found, problems := c.Train.trainer.Check(ctx, env.programs())
	job := launch.Job{Data: data, Dir: c.Train.folder(), Contract: contract, Seed: c.Seed}
	plan, err := c.Train.trainer.Plan(job, found)
	if err != nil {
		return nil, err
	}
	t := &TrainResult{Trainer: c.Train.name, Plan: &plan, Found: true, Problems: problems, job: job, found: found}
	for _, p := range problems {
		t.Found = t.Found && !p.Fatal
	}
	return t, nil
}
