package pipeline

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/dataprep/format"
	"github.com/drydock-ml/drydock/dataprep/overlay"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/runstore"
	"github.com/drydock-ml/drydock/provenance"
)

// A runner is one run of one configuration.
type runner struct {
	cfg     *Config
	env     Env
	opt     Options
	base    string // relative paths start here
	project runstore.Project
	parsers []namedStep
	steps   []namedStep
	benches map[string]*Bench
	pdf     *format.PDFRuntime
	log     *runstore.Run // nil when nothing is to be kept
	result  Result

	inputs   []opened
	fixes    *overlay.Overlay // corrections to questions; nil: none
	members  Members          // what was unpacked, while it is read
	parts    []*part
	owner    []*opened // of each part
	corpus   *corpus
	ledgers  *provenance.Summary // what the written ledgers say
	dropFile string              // what hints call the list of what was left out
	reviewed string              // the file that question review is to look at; "": it finds the project's
	warned   int
	noted    map[string]int // notes shown, by code
	// staleBaselines says that the data changed since the baselines answered.
	staleBaselines bool
	partial        fail.List // inputs that could not be read: exit 3
	mu             sync.Mutex
}

func newRunner(cfg *Config, env Env, opt Options) *runner {
	r := &runner{
		cfg: cfg, env: env, opt: opt, base: cfg.Dir, project: runstore.Project{Dir: cfg.Dir},
		dropFile: SourceDrops,
	}
	for _, s := range cfg.Steps {
		if s.parser != nil {
			r.parsers = append(r.parsers, s)
		} else {
			r.steps = append(r.steps, s)
		}
	}
	return r
}

// Run executes a configuration that has no findings. The result says what
// happened to each stage even when the error is not nil; errors that name
// inputs which could not be read come as kind partial.
func Run(ctx context.Context, cfg *Config, env Env, opt Options) (*Result, error) {
	r := newRunner(cfg, env, opt)
	if err := r.validOptions(); err != nil {
		return &r.result, err
	}
	lock, err := r.project.Acquire(ctx, runstore.Holder{PID: env.PID, Host: env.Host, Start: env.Now()}, opt.Wait)
	if err != nil {
		return &r.result, err
	}
	defer lock.Close()
	var findings fail.List
	if r.benches, findings = cfg.Resolve(env.Home); len(findings) > 0 {
		return &r.result, findings
	}
	if !opt.DryRun {
		r.log, err = runstore.Begin(r.project.Runs(), runstore.Info{
			Command: "run", Start: env.Now(), Host: env.Host, PID: env.PID, Tool: env.Tool,
			Overrides: opt.Gates.Lifted(),
		}, cfg.Source)
		if err != nil {
			return &r.result, err
		}
		r.result.RunID = r.log.Info().ID
	}
	r.pdf = newPDF(env)
	err = r.all(ctx)
	if cerr := r.pdf.Close(); err == nil && cerr != nil {
		err = cerr
	}
	err = r.verdict(ctx, err)
	r.result.Err = err
	return &r.result, r.end(err)
}

func (r *runner) validOptions() error {
	if r.opt.Limit < 0 {
		return fail.New(fail.Usage, msg.Text{"limit %d: read at least one record, or 0 for all", "limit 为 %d：至少读取一条记录，0 表示全部"}, r.opt.Limit)
	}
	for _, s := range []string{r.opt.Only, r.opt.From} {
		if s != "" && !slices.Contains(Stages(), s) {
			e := fail.New(fail.Usage, msg.Text{"there is no stage %q", "不存在阶段 %q"}, s)
			return e.Hint(msg.Text{"the stages: %s", "可用阶段：%s"}, msg.List(Stages()))
		}
	}
	return nil
}

// all runs the stages in order.
func (r *runner) all(ctx context.Context) error {
	stages := []struct {
		names []string
		run   func(context.Context) error
	}{
		{[]string{StageSources, StageSteps}, r.prepare},
		{[]string{StageDedup, StageContam, StageMix, StageOutput}, r.runCorpus},
		{[]string{StageCard}, r.runCard},
		{[]string{StageTrain}, r.runTrain},
		{[]string{StageEval}, r.runEval},
		{[]string{StagePack}, r.runPack},
	}
	for _, s := range stages {
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		if err := s.run(ctx); err != nil {
			r.failedStage(s.names[len(s.names)-1], err)
			return err
		}
		if r.opt.Only != "" && slices.Contains(s.names, r.opt.Only) {
			return nil
		}
	}
	return nil
}

// stage returns the folder of a stage; folders are numbered in the order of
// [Stages].
func (r *runner) stage(name string) runstore.Stage { return stageOf(r.project, name) }

func stageOf(p runstore.Project, name string) runstore.Stage {
	return p.Stage(1+slices.Index(Stages(), name), name)
}

// forced reports whether a stage must run though nothing changed.
func (r *runner) forced(names ...string) bool {
	if r.opt.Fresh || slices.Contains(names, r.opt.Only) {
		return true
	}
	from := slices.Index(Stages(), r.opt.From)
	if from < 0 {
		return false
	}
	for _, n := range names {
		if slices.Index(Stages(), n) >= from {
			return true
		}
	}
	return false
}

// clock measures a stage.
func (r *runner) clock() func() float64 {
	start := r.env.Now()
	return func() float64 { return r.env.Now().Sub(start).Round(time.Millisecond).Seconds() }
}

// done records a stage's result and tells the watcher.
func (r *runner) done(s StageResult) error {
	if s.Sums != nil && s.Sums.Dropped == nil {
		s.Sums.Dropped = map[string]int{}
	}
	for i := range s.Steps {
		if s.Steps[i].Sums.Dropped == nil {
			s.Steps[i].Sums.Dropped = map[string]int{}
		}
	}
	r.mu.Lock()
	r.result.Stages = append(r.result.Stages, s)
	r.mu.Unlock()
	r.tell(Event{Type: "stage", Stage: s.Name, Result: &s})
	if r.log == nil {
		return nil
	}
	if err := r.log.Event(r.env.Now(), "stage", map[string]any{"stage": s.Name, "status": s.Status, "seconds": s.Seconds}); err != nil {
		return err
	}
	return r.log.Stage(runstore.StageInfo{Name: s.Name, Status: s.Status, Key: s.key, Seconds: s.Seconds, Files: s.done})
}

func (r *runner) failedStage(name string, err error) {
	r.mu.Lock()
	known := r.result.Stage(name) != nil
	r.mu.Unlock()
	if !known {
		status := StatusFailed
		if fail.Code(err) == fail.Interrupted.Code() {
			status = StatusInterrupted
		}
		// the error itself is what the user is told; a second one would hide it
		_ = r.done(StageResult{Name: name, Status: status})
	}
}

func (r *runner) tell(e Event) {
	if r.opt.Observe == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.opt.Observe(e)
}

func (r *runner) warn(text msg.Localizer) {
	r.mu.Lock()
	r.warned++
	r.mu.Unlock()
	r.tell(Event{Type: "warning", Text: text})
	if r.log != nil {
		// a warning that cannot be logged has been shown
		_ = r.log.Event(r.env.Now(), "warning", map[string]any{"text": text.In(msg.En)})
	}
}

// verdict turns what happened into the one error that decides the exit code.
func (r *runner) verdict(ctx context.Context, err error) error {
	if err != nil {
		if ctx.Err() != nil && fail.Code(err) != fail.Internal.Code() {
			return fail.New(fail.Interrupted, msg.Text{"interrupted", "已中断"}).
				Because(err).
				Hint(msg.Text{"drydock run goes on where this run stopped", "再次执行 drydock run 会从中断处继续"})
		}
		return err
	}
	var all fail.List
	all = append(all, r.partial...)
	if s := r.result.Stage(StageContam); s != nil && r.cfg.Contamination.OnHit == OnHitAnnotate {
		for _, c := range s.Contam {
			if c.Leaks > 0 {
				all = append(all, fail.New(fail.Contamination, msg.Text{
					"%d {record of the output is an item|records of the output are items} of %s",
					"输出中有 %d 条记录是 %s 的题目",
				}, c.Leaks, c.Benchmark).
					Hint(msg.Text{"on_hit: drop removes them", "on_hit: drop 会将其删除"}))
			}
		}
	}
	if s := r.result.Stage(StageEval); s != nil && r.cfg.Eval.MinAcc > 0 {
		for _, e := range s.Eval {
			if e.Summary.Accuracy < r.cfg.Eval.MinAcc && !strings.HasPrefix(e.Endpoint, "builtin:") {
				all = append(all, fail.New(fail.BelowMinAcc, msg.Text{
					"%s: accuracy %.4f is below min_acc %.4f",
					"%s：准确率 %.4f 低于 min_acc %.4f",
				}, e.Endpoint, e.Summary.Accuracy, r.cfg.Eval.MinAcc))
			}
		}
	}
	if s := r.result.Stage(StagePack); s != nil && s.Pack != nil && s.Pack.Summary.Failed+s.Pack.Summary.Errors > 0 {
		all = append(all, fail.New(fail.Submission, msg.Text{
			"the package breaks %d {rule|rules} of the challenge", "提交包违反 %d 条竞赛规则",
		}, s.Pack.Summary.Failed+s.Pack.Summary.Errors).
			Hint(msg.Text{"drydock submit verify %s lists them", "drydock submit verify %s 会逐条列出"}, s.Pack.Path))
	}
	return all.OrNil()
}

// end closes the run's record.
func (r *runner) end(err error) error {
	if r.corpus != nil { // cut before it has decided
		if e := r.corpus.close(); err == nil {
			err = e
		}
	}
	if r.log == nil {
		return err
	}
	return r.log.EndWith(r.env.Now(), err, r.warned)
}

// prepare is pass 1: sources and steps.
func (r *runner) prepare(ctx context.Context) (err error) {
	took := r.clock()
	stage := r.stage(StageSteps)
	if !r.opt.DryRun {
		if err := r.sweep(); err != nil {
			return err
		}
		r.members.Dir = filepath.Dir(stage.Dir)
		if err := os.MkdirAll(r.members.Dir, 0o755); err != nil {
			return err
		}
	}
	defer func() {
		if cerr := r.members.Close(); err == nil {
			err = cerr
		}
	}()
	if err := r.readFixes(); err != nil {
		return err
	}
	if err := r.openAll(ctx); err != nil {
		return err
	}
	jobs, err := r.cut(ctx, stage)
	if err != nil {
		return err
	}
	var keys []string
	for _, j := range jobs {
		keys = append(keys, j.key)
	}
	whole := runstore.Key(keys...)
	if r.corpus, err = r.newCorpus(whole); err != nil {
		return err
	}
	if r.opt.DryRun {
		return r.planPrepare(jobs, stage, took)
	}
	if err := stage.Reset(); err != nil {
		return err
	}
	cached, err := r.runUnits(ctx, jobs)
	if err != nil {
		return err
	}
	return r.finishPrepare(ctx, stage, whole, cached, took)
}

// sweep removes what a killed run was writing. The evaluations sweep their own
// folders, each under its lock.
func (r *runner) sweep() error {
	if err := runstore.SweepTree(filepath.Join(r.base, ".drydock", "stages")); err != nil {
		return err
	}
	for _, dir := range []string{"build", trainDir} {
		if err := runstore.Sweep(inside(r.base, dir)); err != nil {
			return err
		}
	}
	return nil
}

// openAll finds, hashes and sniffs every input. One that cannot be opened is
// reported and the rest go on.
func (r *runner) openAll(ctx context.Context) error {
	var inputs []input
	for i := range r.cfg.Sources {
		found, err := r.cfg.Sources[i].find(r.base)
		if err != nil {
			return fail.New(fail.Failed, msg.Text{"source %s: %v", "来源 %s：%v"}, r.cfg.Sources[i].Name, err)
		}
		inputs = append(inputs, found...)
	}
	inputs, err := r.unpack(ctx, inputs)
	if err != nil {
		return err
	}
	r.inputs, err = r.open(ctx, inputs)
	return err
}

// cut lists the units of all inputs and gives each its key.
func (r *runner) cut(ctx context.Context, stage runstore.Stage) ([]*unitJob, error) {
	steps := ""
	for _, s := range r.cfg.Steps {
		steps += runstore.Key(s.name, s.params)
	}
	var jobs []*unitJob
	for i := range r.inputs {
		in := &r.inputs[i]
		if in.err != nil {
			continue
		}
		units, err := in.format.Units(ctx, in.file)
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if err != nil {
			in.err = err
			continue
		}
		if r.opt.Limit > 0 && len(units) > 1 {
			units = units[:1]
		}
		keySum := ""
		if in.key != nil && in.key.file != nil {
			keySum = in.key.file.SHA256
		}
		for _, u := range units {
			n := len(jobs) + 1
			r.owner = append(r.owner, in)
			jobs = append(jobs, &unitJob{
				part: &part{n: n, stage: stage}, from: in, unit: u,
				key: runstore.Key(r.env.Tool.Program, steps, in.src.Name, in.src.Lang, in.src.License, in.src.As,
					in.src.Encoding, in.src.HTML, fmt.Sprint(in.src.AllowRestricted), in.src.OCRCommand, in.file.Options.Password, in.name, in.file.SHA256, keySum,
					fmt.Sprint(n, u.Index, u.Start, u.End, r.opt.Limit), r.fixesKey()),
			})
		}
	}
	return jobs, nil
}

// asPartial makes any error about an input one of kind partial, keeping its
// words.
func asPartial(name string, err error) *fail.Error {
	var e *fail.Error
	if errors.As(err, &e) {
		c := *e
		c.Kind = fail.Partial
		if c.Where.File == "" {
			c.Where.File = name
		}
		return &c
	}
	return fail.New(fail.Partial, msg.Text{"%v", "%v"}, err).At(fail.Where{File: name})
}

func relative(base, p string) string {
	rel, err := filepath.Rel(base, p)
	if err != nil {
		return filepath.ToSlash(p)
	}
	return filepath.ToSlash(rel)
}

func countKinds(m map[string]int, r *drydock.Record) {
	switch {
	case r.Question != nil:
		m[string(r.Question.Kind)]++
	default:
		m[string(r.Kind())]++
	}
}
