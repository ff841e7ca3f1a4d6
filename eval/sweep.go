package eval

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/drydock-ml/drydock/eval/benchmark"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/llm"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/launch/checkpoint"
)

// A SweepJob evaluates every checkpoint of a training over one server, one after
// another, each loaded under a name of its own and dropped again.
type SweepJob struct {
	// Job is how each is asked. Model is the name of the model the adapters sit
	// on; Endpoint is made here; WorkDir gets a folder a checkpoint. Items are the
	// test's.
	Job         Job
	Client      *llm.Client
	Sampling    Sampling
	Checkpoints []checkpoint.Checkpoint
	// Dev is what the choice is made on: every checkpoint is asked its items, and
	// only the best one the test's. nil: every checkpoint is asked the test.
	Dev *Exam
	// Begin is called before each run of a checkpoint.
	Begin func(c checkpoint.Checkpoint, exam string, items int)
}

// An Exam is a benchmark with its items.
type Exam struct {
	Benchmark benchmark.Benchmark
	Items     []benchmark.Item
}

// SweepSchema names the shape of a [Sweep] as JSON.
const SweepSchema = "drydock.eval.sweep/1"

// A Sweep is what came of a [SweepJob].
type Sweep struct {
	Type      string     `json:"type"` // summary
	Schema    string     `json:"schema"`
	Benchmark string     `json:"benchmark"`     // of the test, name@revision
	Dev       string     `json:"dev,omitempty"` // of what the choice was made on
	Base      string     `json:"base"`          // the model the adapters sit on
	Rows      []SweepRow `json:"checkpoints"`   // by step
	// Chosen is the checkpoint that did best on the development set, the earlier
	// one of equals; empty without such a set.
	Chosen  string `json:"chosen,omitempty"`
	Queries int    `json:"queries"` // runs of this project that asked a model the test's items
	// BaseDev is the base on the development set, and Comparison the checkpoints
	// beside it, item by item; nil without such a set, or where the base did not
	// answer.
	BaseDev    *Summary    `json:"base_dev,omitempty"`
	BaseError  string      `json:"base_error,omitempty"` // why the base did not answer
	Comparison *Comparison `json:"comparison,omitempty"`
}

// A SweepRow is one checkpoint. Dev and Test are nil where it was not asked.
type SweepRow struct {
	Checkpoint string   `json:"checkpoint"`
	Step       int      `json:"step"`
	SHA256     string   `json:"sha256"`
	Served     string   `json:"served"`
	Dev        *Summary `json:"dev,omitempty"`
	Test       *Summary `json:"test,omitempty"`
	Error      string   `json:"error,omitempty"` // why it could not be evaluated
	failed     error
}

// Failed is why a checkpoint could not be evaluated; nil: it was.
func (r *SweepRow) Failed() error { return r.failed }

// Err returns what makes the sweep incomplete.
func (s *Sweep) Err() error {
	failed := 0
	var errs []error
	for i := range s.Rows {
		if s.Rows[i].failed != nil {
			failed++
		}
		for _, x := range []*Summary{s.Rows[i].Dev, s.Rows[i].Test} {
			if x != nil {
				errs = append(errs, x.Err())
			}
		}
	}
	if failed > 0 {
		errs = append(errs, fail.New(fail.Partial, msg.Text{"%d of %d {checkpoint|checkpoints} could not be evaluated", "%d 个检查点（共 %d 个）无法评测"}, failed, len(s.Rows)))
	}
	return errors.Join(errs...)
}

// RunSweep evaluates the checkpoints. One that cannot be served is in the
// sweep's rows with its reason, and the others go on; an error is what ends all
// of them: cancelled, no server, no entry.
func RunSweep(ctx context.Context, job SweepJob) (Sweep, error) {
	s := Sweep{Type: "summary", Schema: SweepSchema, Benchmark: job.Job.Benchmark.Ref().String(), Base: job.Job.Model}
	test := Exam{job.Job.Benchmark, job.Job.Items}
	first := test
	if job.Dev != nil {
		s.Dev = job.Dev.Benchmark.Ref().String()
		first = *job.Dev
	}
	if job.Dev != nil {
		if err := job.base(ctx, &s); err != nil {
			return s, err
		}
	}
	best := -1
	for i, c := range job.Checkpoints {
		s.Rows = append(s.Rows, SweepRow{Checkpoint: c.Name, Step: c.Step, SHA256: c.SHA256, Served: c.Served()})
		row := &s.Rows[i]
		sum, err := job.one(ctx, c, first, job.Dev != nil, &s)
		if err != nil {
			if row.failed = err; endsSweep(ctx, err) {
				return s, err
			}
			row.Error = err.Error()
			continue
		}
		if job.Dev == nil {
			row.Test = sum
			continue
		}
		row.Dev = sum
		if best < 0 || sum.Accuracy > s.Rows[best].Dev.Accuracy {
			best = i
		}
	}
	if best < 0 {
		return s, nil
	}
	s.compare()
	row := &s.Rows[best]
	s.Chosen = row.Checkpoint
	var err error
	if row.Test, err = job.one(ctx, job.Checkpoints[best], test, false, &s); err != nil {
		row.failed, row.Error = err, err.Error()
		if endsSweep(ctx, err) {
			return s, err
		}
	}
	return s, nil
}

// base asks the model the adapters sit on the development set. Where it does not
// answer, the checkpoints can still be compared with each other.
func (job *SweepJob) base(ctx context.Context, s *Sweep) error {
	j := job.Job
	j.Benchmark, j.Items = job.Dev.Benchmark, job.Dev.Items
	j.WorkDir = filepath.Join(job.Job.WorkDir, "dev", "base")
	j.Limit, j.Queries, j.Preflight.BaseModel = 0, "", ""
	j.Endpoint = NewHTTP(job.Client, j.Model, job.Sampling)
	if job.Begin != nil {
		job.Begin(checkpoint.Checkpoint{Name: "base"}, s.Dev, len(j.Items))
	}
	sum, err := Run(ctx, j)
	if err != nil {
		if endsSweep(ctx, err) {
			return err
		}
		s.BaseError = err.Error()
		return nil
	}
	s.BaseDev = &sum
	return nil
}

// compare sets the checkpoints beside the base on the development set.
func (s *Sweep) compare() {
	if s.BaseDev == nil {
		return
	}
	var others []Graded
	for i := range s.Rows {
		if r := &s.Rows[i]; r.Dev != nil {
			others = append(others, Graded{Name: r.Checkpoint, Model: r.Served, File: r.Dev.Files.Reviews, Outcomes: r.Dev.Outcomes()})
		}
	}
	base := Graded{Name: s.Base, Model: s.Base, File: s.BaseDev.Files.Reviews, Outcomes: s.BaseDev.Outcomes()}
	c := Compare(s.Dev, base, others, nil)
	s.Comparison = &c
}

// endsSweep tells what no other checkpoint escapes.
func endsSweep(ctx context.Context, err error) bool {
	if ctx.Err() != nil {
		return true
	}
	for _, e := range fail.All(err) {
		switch e.Kind {
		case fail.Credentials, fail.Unreachable, fail.Interrupted, fail.Usage:
			return true
		}
	}
	return errors.Is(err, checkpoint.ErrNoLoading)
}

// one asks one checkpoint one exam. It is loaded when there is something to ask.
func (job *SweepJob) one(ctx context.Context, c checkpoint.Checkpoint, x Exam, dev bool, s *Sweep) (*Summary, error) {
	if c.Problem != nil {
		return nil, c.Problem
	}
	j := job.Job
	j.Benchmark, j.Items = x.Benchmark, x.Items
	j.WorkDir = filepath.Join(job.Job.WorkDir, c.Name)
	if dev {
		j.WorkDir = filepath.Join(job.Job.WorkDir, "dev", c.Name)
		j.Limit, j.Queries = 0, ""
	}
	j.Model = c.Served()
	j.Endpoint = NewHTTP(job.Client, j.Model, job.Sampling)
	if j.Preflight.BaseModel == "" {
		j.Preflight.BaseModel = job.Job.Model
	}
	loaded := false
	j.Ready = func(ctx context.Context) error {
		err := checkpoint.Load(ctx, job.Client, c.Served(), c.Dir)
		loaded = err == nil
		return err
	}
	if job.Begin != nil {
		job.Begin(c, x.Benchmark.Ref().Name, len(x.Items))
	}
	sum, err := Run(ctx, j)
	if loaded {
		// also when the run was cut: the next checkpoint needs the room
		err = errors.Join(err, ignoreGone(checkpoint.Unload(context.WithoutCancel(ctx), job.Client, j.Model)))
	}
	if err != nil {
		return nil, err
	}
	if !dev {
		s.Queries = max(s.Queries, sum.Queries)
	}
	return &sum, nil
}

// ignoreGone drops what does not matter when an adapter is dropped: that it is
// gone already, or the server itself.
func ignoreGone(err error) error {
	var e *llm.Error
	if errors.As(err, &e) && (e.Status == 404 || e.Status == 0) {
		return nil
	}
	return err
}
