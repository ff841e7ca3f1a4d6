package training

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/internal/atomicfile"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/parallel"
	"github.com/drydock-ml/drydock/internal/runstore"
	"github.com/drydock-ml/drydock/launch"
)

// sweepDir holds the trainings of a sweep, relative to the project, each in a
// folder of its id.
const sweepDir = "build/sweep"

// A SweepState says what became of one training of a sweep.
type SweepState string

// The states of a training.
const (
	SweepPlanned    SweepState = "planned"    // a dry run, or not yet begun
	SweepDone       SweepState = "done"       // it ended by itself
	SweepStopped    SweepState = "stopped"    // it was ended early: it no longer improved
	SweepOutclassed SweepState = "outclassed" // it was ended early: another one is better
	SweepFailed     SweepState = "failed"
	SweepLeftOut    SweepState = "left_out" // the budget was spent
)

// A SweepResult is what came of a sweep.
type SweepResult struct {
	Schema string     `json:"schema"`
	DryRun bool       `json:"dry_run"`
	Dir    string     `json:"dir"` // of the trainings, from the project
	Runs   []SweepRun `json:"runs"`
	// Best is the id of the training whose best checkpoint scored highest; "" when
	// none was scored.
	Best string `json:"best,omitempty"`
	// Luck is by how much the best of so many trainings, were all equally good,
	// would look better than it is: what choosing by a score buys.
	Luck float64 `json:"luck,omitempty"`
}

// A SweepRun is one training of a sweep.
type SweepRun struct {
	ID       string                `json:"id"`
	Settings []launch.SweepSetting `json:"settings"`
	State    SweepState            `json:"state"`
	Reused   bool                  `json:"reused"` // an earlier sweep trained it
	RunID    string                `json:"run_id,omitempty"`
	Steps    int                   `json:"steps"`
	MaxSteps int                   `json:"max_steps"`
	Loss     *float64              `json:"loss,omitempty"` // the last one
	Error    string                `json:"error,omitempty"`
	Scores   []SweepScore          `json:"scores"` // of its checkpoints, by step
	Best     *SweepScore           `json:"best,omitempty"`
	// Against the best training's best checkpoint; absent from that one, and where
	// there is nothing to compare.
	Contrast *SweepContrast `json:"contrast,omitempty"`
	Plan     *launch.Plan   `json:"plan,omitempty"` // of a dry run

	// Problems say what the trainer lacks on this machine; of a dry run.
	Problems []launch.Problem `json:"-"`
}

// Sweep trains every job of a plan in turn, scores its checkpoints while it
// trains where the plan names a program for that, and ends what is not worth
// going on with. What an earlier sweep finished with the same data and settings
// is not trained again. A training that fails does not stop the others: the error
// then is of kind Partial.
func Sweep(ctx context.Context, cfg *Config, env Env, plan *launch.Sweep, o Options, observe func(SweepRun, launch.Report)) (*SweepResult, error) {
	s := &sweep{cfg: cfg, env: env, plan: plan, o: o, observe: observe, begun: env.Now()}
	s.res = &SweepResult{Schema: "drydock.train.sweep/1", DryRun: o.DryRun, Dir: sweepDir, Runs: []SweepRun{}}
	failed := 0
	for i, job := range plan.Jobs {
		r := SweepRun{ID: job.ID, Settings: job.Settings, State: SweepPlanned, Scores: []SweepScore{}}
		err := s.one(ctx, i, job, &r)
		s.res.Runs = append(s.res.Runs, r)
		if ctx.Err() != nil || fatalToSweep(err) {
			s.res.compare()
			return s.res, err
		}
		if err != nil {
			failed++
		}
	}
	s.res.compare()
	if failed > 0 {
		return s.res, fail.New(fail.Partial, msg.Text{"%d of %d {training|trainings} failed", "%d 次训练失败（共 %d 次）"}, failed, len(plan.Jobs)).
			Hint(msg.Text{"the same command trains only what is missing", "再次执行同一命令只会训练缺少的部分"})
	}
	return s.res, nil
}

// fatalToSweep reports an error that would meet every other training, too: a gate,
// or a trainer that is not there.
func fatalToSweep(err error) bool {
	var e *fail.Error
	return errors.As(err, &e) && (e.Kind == fail.Refused || e.Kind == fail.Config || e.Kind == fail.Contamination)
}

type sweep struct {
	cfg     *Config
	env     Env
	plan    *launch.Sweep
	o       Options
	observe func(SweepRun, launch.Report)
	begun   time.Time
	trained int // how many this call has trained
	res     *SweepResult
}

// spent reports whether the budget allows no further training.
func (s *sweep) spent() bool {
	b := s.plan.Budget
	return b.Runs > 0 && s.trained >= b.Runs || b.Hours > 0 && s.env.Now().Sub(s.begun).Hours() >= b.Hours
}

// one trains a job, unless it was trained before or the budget is spent.
func (s *sweep) one(ctx context.Context, i int, job launch.SweepJob, r *SweepRun) error {
	c := *s.cfg
	c.Trainer, c.Params, c.Folder = job.Trainer, job.Params, path.Join(sweepDir, job.ID)
	c.At = func(option string) fail.Where {
		if at, ok := job.Place(option); ok {
			return at
		}
		return s.cfg.at(option)
	}
	k, err := s.key(&c, job)
	if err != nil {
		return err
	}
	saved := c.Path(path.Join(c.Folder, "sweep.json"))
	if s.saved(saved, k, r) {
		return nil
	}
	switch {
	case s.o.DryRun:
		return s.foresee(ctx, &c, r)
	case s.spent():
		r.State = SweepLeftOut
		return nil
	}
	s.trained++
	err = s.train(ctx, &c, r)
	if err != nil {
		r.State, r.Error = SweepFailed, err.Error()
		return err
	}
	b, err := drydock.MarshalJSON(savedSweep{k, *r})
	if err != nil {
		return err
	}
	return atomicfile.WriteFile(saved, append(b, '\n'))
}

type savedSweep struct {
	Key string   `json:"key"`
	Run SweepRun `json:"run"`
}

// key is the same for trainings that do the same with the same data and are
// scored alike.
func (s *sweep) key(c *Config, job launch.SweepJob) (string, error) {
	data, _ := c.data()
	if data == "" {
		return "", c.noData()
	}
	sum, err := runstore.HashFile(c.Path(data))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return "", err
	}
	return runstore.Key(sum, c.Name, job.Params, strconv.FormatUint(c.Seed, 10), strings.Join(s.plan.Eval, "\x00"), strconv.Itoa(s.plan.Stop.Patience)), nil
}

// saved takes over what an earlier sweep found. A training ended because another
// was better is trained again: the other one may be another one now.
func (s *sweep) saved(file, k string, r *SweepRun) bool {
	b, err := os.ReadFile(file)
	var was savedSweep
	if err != nil || json.Unmarshal(b, &was) != nil || was.Key != k || was.Run.State == SweepOutclassed {
		return false
	}
	id := r.ID
	*r = was.Run
	r.ID, r.Reused, r.Contrast = id, true, nil
	return true
}

// foresee plans a job.
func (s *sweep) foresee(ctx context.Context, c *Config, r *SweepRun) error {
	t, err := c.Plan(ctx, s.env)
	if err != nil {
		return err
	}
	r.Plan, r.Problems = t.Plan, t.Problems
	return nil
}

// train runs a job and scores its checkpoints.
func (s *sweep) train(ctx context.Context, c *Config, r *SweepRun) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	o := s.o
	o.Observe = func(p launch.Report) {
		r.Steps, r.MaxSteps = max(r.Steps, p.Step), max(r.MaxSteps, p.MaxSteps)
		if s.observe != nil {
			s.observe(SweepRun{ID: r.ID, Settings: r.Settings}, p)
		}
	}
	over := make(chan struct{})
	w := &sweepWatch{sweep: s, run: r, out: c.Path(path.Join(c.Folder, trainOutput)), dir: c.Dir, end: cancel}
	watching := parallel.Go(func() error { return w.follow(ctx, over) })
	t, err := Run(ctx, c, s.env, o)
	close(over)
	werr := watching.Wait()
	if t != nil {
		r.RunID, r.Loss = t.RunID, t.Last.Loss
	}
	r.Scores, r.Best = w.scores, w.best()
	switch {
	case werr != nil: // what the trainer says then is that it was stopped
		return werr
	case w.why != "": // we ended it
		r.State = w.why
		return nil
	case err != nil:
		return err
	}
	r.State = SweepDone
	return nil
}

// trainOutput is where every trainer but command leaves its checkpoints.
const trainOutput = "output"

// compare picks the best training and holds the others against it.
func (r *SweepResult) compare() {
	best := -1
	for i, x := range r.Runs {
		if x.Best != nil && (best < 0 || x.Best.Accuracy > r.Runs[best].Best.Accuracy) {
			best = i
		}
	}
	if best < 0 {
		return
	}
	r.Best = r.Runs[best].ID
	var at []int
	var p []float64
	for i := range r.Runs {
		x := &r.Runs[i]
		x.Contrast = nil
		if i == best || x.Best == nil {
			continue
		}
		x.Contrast = contrast(*r.Runs[best].Best, *x.Best)
		at, p = append(at, i), append(p, x.Contrast.PValue)
	}
	for n, adjusted := range holm(p) {
		r.Runs[at[n]].Contrast.Holm = adjusted
	}
	r.Luck = luck(r.Runs)
}

// sortedScores orders scores by step.
func sortedScores(s []SweepScore) {
	slices.SortFunc(s, func(a, b SweepScore) int { return cmp.Compare(a.Step, b.Step) })
}
