package training

import (
	"context"
	"os"
	"time"

	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/runstore"
	"github.com/drydock-ml/drydock/launch"
)

// Options are the flags of train.
type Options struct {
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

// A Result is the trainer's plan, or how its run ended.
type Result struct {
	Trainer string       `json:"trainer"`
	Plan    *launch.Plan `json:"plan,omitempty"`
	Found   bool         `json:"found"` // the trainer is installed
	Ran     bool         `json:"ran"`
	Last    launch.Event `json:"last"` // the last figures it gave
	// Feed says how the rows are fed; nil when the trainer's feed is not known,
	// and before a start.
	Feed    *Feed        `json:"feed,omitempty"`
	Gates   []GateResult `json:"gates,omitempty"`
	Machine *Machine     `json:"machine,omitempty"`
	// RunID is the folder below runs/ that keeps the record; "" before a start.
	RunID  string  `json:"run_id,omitempty"`
	Resume *Resume `json:"resume,omitempty"` // nil: it begins at step 0
	Exit   *int    `json:"exit,omitempty"`   // of the trainer; -1 for a signal, nil before its end
	Cause  string  `json:"cause,omitempty"`  // why it failed, where that is known; see [launch.Cause]
	Rank   *int    `json:"rank,omitempty"`   // the process that failed first, of several, where known
	// Checkpoints is how many it left.
	Checkpoints int `json:"checkpoints,omitempty"`
	// Problems say what the trainer lacks on this machine.
	Problems []launch.Problem `json:"-"`

	job         launch.Job
	found       launch.Found
	dataSum     string // sha256 of the rows
	fingerprint string
	notes       []msg.Localizer
	curve       *launch.Curve
}

// Notes say how the training begins, or would.
func (t *Result) Notes() []msg.Localizer { return t.notes }

// Run plans the configured training for the data the last run wrote and, unless
// DryRun, starts it and follows it to its end. What the result holds is true even
// when the error is not nil.
func Run(ctx context.Context, c *Config, env Env, o Options) (*Result, error) {
	t, err := c.Plan(ctx, env)
	if err != nil {
		return nil, err
	}
	if o.DryRun {
		if err := c.chooseBegin(t, o); err != nil {
			return t, err
		}
		return t, c.foresee(ctx, t, env, o.Gates)
	}
	lock, err := c.Acquire(ctx, runstore.Holder{PID: env.PID, Host: env.Host, Start: env.Now()}, 0)
	if err != nil {
		return t, err
	}
	defer lock.Close()
	if err := c.chooseBegin(t, o); err != nil {
		return t, err
	}
	warned, warn := 0, sayer(o.Warn)
	o.Warn = func(w msg.Localizer) {
		warned++
		warn(w)
	}
	if err := c.preflight(ctx, t, env, o.Gates, o.Warn); err != nil {
		return t, err
	}
	log, err := runstore.Begin(c.Runs(), runstore.Info{
		Command: "train", Start: env.Now(), Host: env.Host, PID: env.PID, Tool: env.Tool,
		Overrides: o.Gates.Lifted(),
	}, c.Source)
	if err != nil {
		return t, err
	}
	err = c.Launch(ctx, t, env, log, o)
	return t, log.EndWith(env.Now(), err, warned)
}

// Ready refuses a planned training that must not start, and chooses where it
// begins.
func (c *Config) Ready(ctx context.Context, t *Result, env Env, o Options) error {
	if err := c.preflight(ctx, t, env, o.Gates, sayer(o.Warn)); err != nil {
		return err
	}
	return c.chooseBegin(t, o)
}

// preflight refuses to start a training that would not hold, and warns of what
// may go wrong.
func (c *Config) preflight(ctx context.Context, t *Result, env Env, g Gates, warn func(msg.Localizer)) error {
	data, _ := c.data()
	if _, err := os.Stat(c.Path(data)); err != nil {
		return fail.New(fail.Refused, msg.Text{"there is no training data yet: %v", "尚无训练数据：%v"}, err).
			Hint(msg.Text{"drydock run makes it", "请先执行 drydock run"})
	}
	if err := c.gates(ctx, t, g); err != nil {
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
func (c *Config) foresee(ctx context.Context, t *Result, env Env, g Gates) error {
	data, _ := c.data()
	if _, err := os.Stat(c.Path(data)); err == nil {
		if err := c.gates(ctx, t, g); err != nil {
			return err
		}
	}
	t.Machine = c.machine(ctx, env, t)
	return nil
}

// Plan looks for the trainer and makes its plan. Problems of the machine are in
// the result; they stop a start, not a plan.
func (c *Config) Plan(ctx context.Context, env Env) (*Result, error) {
	data, contract := c.data()
	if data == "" {
		return nil, c.noData()
	}
	found, problems := c.Trainer.Check(ctx, env.programs())
	job := launch.Job{Data: data, Dir: c.Folder, Contract: contract, Seed: c.Seed}
	plan, err := c.Trainer.Plan(job, found)
	if err != nil {
		return nil, err
	}
	t := &Result{Trainer: c.Name, Plan: &plan, Found: true, Problems: problems, job: job, found: found}
	for _, p := range problems {
		t.Found = t.Found && !p.Fatal
	}
	return t, nil
}
