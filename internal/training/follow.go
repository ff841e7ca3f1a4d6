package training

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/parallel"
	"github.com/drydock-ml/drydock/internal/runstore"
	"github.com/drydock-ml/drydock/launch"
)

// A follower is one training from its start to its end, inside a run of the
// store.
type follower struct {
	cfg  *Config
	env  Env
	t    *Result
	log  *runstore.Run
	o    Options
	note func(msg.Localizer)
	warn func(msg.Localizer)

	manifest  runstore.Manifest
	curve     *launch.Curve
	continues *launch.Continuation // nil: it begins at step 0
	judged    bool                 // the continuation's verdict has been told
	recorded  time.Time            // when progress was last written down
	notFinite bool                 // the loss was, and it has been told
	zeros     int                  // reports in a row with a loss of exactly 0
	failed    error                // the first event that could not be written
}

// Launch starts a training that is ready and follows it to its end, inside a run
// of the store.
func (c *Config) Launch(ctx context.Context, t *Result, env Env, log *runstore.Run, o Options) error {
	for _, p := range t.Problems {
		if p.Fatal {
			return p.Error
		}
	}
	r := &follower{cfg: c, env: env, t: t, log: log, o: o, curve: launch.NewCurve()}
	r.note, r.warn = sayer(o.Note), sayer(o.Warn)
	t.RunID = log.Info().ID
	if err := r.prepare(ctx); err != nil {
		return err
	}
	err := r.follow(ctx)
	return errors.Join(err, r.failed, r.finish(err))
}

func sayer(f func(msg.Localizer)) func(msg.Localizer) {
	if f == nil {
		return func(msg.Localizer) {}
	}
	return f
}

// prepare clears the ground and writes down what the training depends on.
func (r *follower) prepare(ctx context.Context) error {
	t := r.t
	dir := r.cfg.Path(t.Plan.Dir)
	abs, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	if left := launch.SweepOrphans(abs); len(left) > 0 {
		r.warn(msg.Phrase{Text: msg.Text{
			"ended %d {process that an earlier training|processes that earlier trainings} left running", "结束了之前训练遗留的 %d 个进程",
		}, Args: []any{len(left)}})
	}
	if err := r.cfg.setAside(t, t.RunID); err != nil {
		return err
	}
	for _, n := range t.notes {
		r.note(n)
	}
	if t.Resume != nil {
		r.continues = launch.NewContinuation(t.Resume.from)
		if err := r.inherit(t.Resume.Run, t.Resume.Step); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if err := r.keepFiles(); err != nil {
		return err
	}
	r.manifest = r.cfg.manifest(ctx, r.env, t, r.log.Info())
	return r.log.SaveManifest(r.manifest)
}

// inherit takes over the curve of the run that is gone on with, up to the
// checkpoint, so that it is whole.
func (r *follower) inherit(run string, step int) error {
	if run == "" {
		return nil
	}
	curve, err := ReadCurve(r.cfg.Runs(), run)
	if err != nil {
		return err
	}
	curve.Until(step)
	r.curve = curve
	return nil
}

// ReadCurve reads the loss of a training from the events of its run and of those
// it was resumed from.
func ReadCurve(runsDir, run string) (*launch.Curve, error) {
	curve := launch.NewCurve()
	dir := filepath.Join(runsDir, run)
	m, ok, err := runstore.ReadManifest(dir)
	// a manifest that names itself as its past, or an endless chain, is no history
	if err == nil && ok && m.Resumed != nil && m.Resumed.Run != "" && m.Resumed.Run < run {
		if curve, err = ReadCurve(runsDir, m.Resumed.Run); err == nil {
			curve.Until(m.Resumed.Step)
		}
	}
	if err != nil {
		return nil, err
	}
	return curve, runstore.Events(dir).Read(func(line []byte) error {
		curve.AddLine(line)
		return nil
	})
}

// progressEvery is how often progress without figures is written down.
const progressEvery = 10 * time.Second

// follow runs the trainer until it ends or is to stop.
func (r *follower) follow(ctx context.Context) error {
	t := r.t
	out, err := os.OpenFile(filepath.Join(r.cfg.Path(t.Plan.Dir), "train.log"), os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o644)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	now, over := make(chan struct{}), make(chan struct{})
	watching := parallel.Go(func() error { return r.watch(cancel, now, over) })
	t.Ran = true
	data, _ := r.cfg.data()
	res, err := launch.Run(ctx, r.cfg.Trainer, *t.Plan, launch.Options{
		Root: r.cfg.Dir, Environ: r.env.Environ, Log: out, Clock: r.env.Now, Now: now,
		Stall: r.o.Stall, Data: r.cfg.Path(data), OnReport: r.report, OnNote: r.note,
		OnStart: func(pid int) { r.keep(r.log.Record(r.env.Now(), "started", startedEvent{pid})) },
	})
	close(over)
	t.Last, t.Exit = res.Event, &res.ExitCode
	if res.Cause != nil {
		t.Cause, t.Rank = res.Cause.ID, res.Cause.Rank
	}
	err = errors.Join(err, watching.Wait(), out.Close())
	cancel(nil)
	return err
}

type startedEvent struct {
	PID int `json:"pid"`
}

// watch looks for a request to stop, from another drydock.
func (r *follower) watch(cancel context.CancelCauseFunc, now, over chan struct{}) error {
	tick := time.NewTicker(300 * time.Millisecond)
	defer tick.Stop()
	stopping, hurried := false, false
	for {
		select {
		case <-over:
			return nil
		case <-tick.C:
		}
		asked, at := r.log.StopAsked()
		if asked && !stopping {
			stopping = true
			cancel(fail.New(fail.Interrupted, msg.Text{"stopped by drydock runs stop", "已由 drydock runs stop 停止"}))
		}
		if at && !hurried {
			hurried = true
			close(now)
		}
	}
}

func (r *follower) keep(err error) {
	if err != nil && r.failed == nil {
		r.failed = err
	}
}

// report takes what the trainer said.
func (r *follower) report(p launch.Report) {
	now := r.env.Now()
	figures := p.Loss != nil || p.EvalLoss != nil || p.NotFinite
	if figures || now.Sub(r.recorded) >= progressEvery {
		r.recorded = now
		r.keep(r.log.Record(now, launch.ReportType, p))
	}
	r.curve.Add(p)
	if r.o.Observe != nil {
		r.o.Observe(p)
	}
	r.heed(p)
}

// zerosTold is how many losses of exactly 0 in a row are no chance.
const zerosTold = 3

// heed warns of figures that say training is worth nothing.
func (r *follower) heed(p launch.Report) {
	if p.NotFinite && !r.notFinite {
		r.notFinite = true
		r.warn(msg.Phrase{Text: msg.Text{
			"the loss is not a number any more (step %d): what follows trains nothing", "损失已不是有效数值（第 %d 步）：之后的训练无效",
		}, Args: []any{p.Step}})
	}
	if p.Loss != nil && !p.Again {
		if *p.Loss != 0 {
			r.zeros = 0
		} else if r.zeros++; r.zeros == zerosTold {
			r.warn(msg.Text{
				"the loss is exactly 0: no token of the rows is trained; look at the mask and the cut-off", "损失恰为 0：没有任何 token 参与训练；请检查掩码与截断长度",
			})
		}
	}
	if r.continues == nil {
		return
	}
	r.continues.Add(p)
	if r.continues.Settled() && !r.judged {
		r.judge()
	}
}

// judge tells whether the training goes on from its checkpoint.
func (r *follower) judge() {
	r.judged = true
	res := r.t.Resume
	res.Verdict, res.First = r.continues.Verdict(), r.continues.First()
	switch res.Verdict {
	case launch.Continues:
		r.note(msg.Phrase{Text: msg.Text{"training goes on at step %d, behind step %d of the checkpoint", "训练从第 %d 步继续（检查点为第 %d 步）"}, Args: []any{res.First, res.Step}})
	case launch.Restarted:
		r.warn(msg.Phrase{Text: msg.Text{"the trainer began anew at step %d instead of going on behind step %d", "训练器从第 %d 步重新开始，而不是从第 %d 步之后继续"}, Args: []any{res.First, res.Step}})
	case launch.LossJumped:
		r.warn(msg.Phrase{Text: msg.Text{"the step goes on at %d, but the loss is far above what it was before step %d", "步数从 %d 继续，但损失远高于第 %d 步之前"}, Args: []any{res.First, res.Step}})
	}
}

// finish writes what became of the training beside what it began from.
func (r *follower) finish(err error) error {
	if r.continues != nil && !r.judged {
		r.judge()
	}
	t := r.t
	m := &r.manifest
	if t.Exit != nil {
		m.Outcome = &runstore.Outcome{
			ExitCode: *t.Exit, Cause: t.Cause, Rank: t.Rank,
			Step: t.Last.Step, MaxSteps: t.Last.MaxSteps, Loss: t.Last.Loss, EvalLoss: t.Last.EvalLoss,
		}
	}
	if t.Resume != nil {
		m.Resumed.Verdict, m.Resumed.First = t.Resume.Verdict, t.Resume.First
	}
	m.Checkpoints = r.cfg.checkpoints(t)
	t.Checkpoints = len(m.Checkpoints)
	if err == nil && t.Checkpoints == 0 && t.Plan.Rows != "" { // a program of one's own may keep them elsewhere
		r.warn(msg.Phrase{Text: msg.Text{
			"%s ended well, and left no checkpoint in %s", "%s 正常结束，但未在 %s 中留下检查点",
		}, Args: []any{t.Trainer, t.outputDir()}})
	}
	t.curve = r.curve
	return errors.Join(r.log.SaveManifest(*m), r.drawCurve())
}
