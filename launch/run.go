package launch

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/drydock-ml/drydock/internal/atomicfile"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/parallel"
	"github.com/drydock-ml/drydock/launch/checkpoint"
)

// Options say how a plan is run.
type Options struct {
	// Root is the folder the plan's Dir counts from; "" is the current one.
	Root string
	// Environ is the program's environment as NAME=value pairs, before the
	// plan's own; drydock's variables are left out of it.
	Environ []string
	// Gate is asked before anything is written or started; its error refuses the
	// run. Nil lets all pass: the caller has asked already.
	Gate func(context.Context) error
	// Log gets every line of output, secrets replaced; progress bars are left
	// out. Nil: none.
	Log io.Writer
	// OnLine is called for each line, one at a time. Nil: none.
	OnLine func(Line)
	// OnReport is called for each report, one at a time and not at the same time
	// as OnLine. Nil: none.
	OnReport func(Report)
	// OnStart is called with the number of the process that was started. Nil:
	// none.
	OnStart func(pid int)
	// OnNote is called with what the user should know while it happens. Nil:
	// none.
	OnNote func(msg.Localizer)
	// Clock tells the time for speed and what is left; nil: neither is known.
	Clock func() time.Time
	// Grace is how long the program may take to end when asked to, before it is
	// killed; 0 is 15 seconds.
	Grace time.Duration
	// SaveGrace is how long a program that can be asked for a checkpoint may take
	// to write it before it is asked to end; 0 is 5 minutes: it writes between two
	// steps, and a step may be long.
	SaveGrace time.Duration
	// Now, when closed, ends both graces.
	Now <-chan struct{}
	// Stall ends a program that has said nothing for so long; 0: none is ended.
	Stall time.Duration
	// Data is the file of training rows on this machine, searched for the row a
	// trainer could not read; "" is not searched.
	Data string
}

func (o Options) clock() time.Time {
	if o.Clock == nil {
		return time.Time{}
	}
	return o.Clock()
}

func (o Options) note(text msg.Text, args ...any) {
	if o.OnNote != nil {
		o.OnNote(msg.Phrase{Text: text, Args: args})
	}
}

// A Line is one line the program wrote, secrets replaced.
type Line struct {
	From  string // followed file; "" for the output
	Text  string // without its line end; UTF-8
	Bar   bool   // a progress bar that the next line overwrites
	Event *Event // what the line says about progress; nil when nothing
}

// A Result says how a run ended.
type Result struct {
	ExitCode int      // -1 when a signal ended the program
	Last     []string // the last lines of its output
	Event    Event    // the last known figures
	Cause    *Cause   // why it failed; nil when it did not, or the cause is not known
}

const (
	defaultSaveGrace = 5 * time.Minute
	// drain is how long output may still come when every process is gone
	drain = 2 * time.Second
	// silence is after how long without a word the user is told
	silence = 10 * time.Minute
)

// Run writes a plan's files, starts its program in a process group of its own
// and follows it to the end. When ctx is cancelled, a program that can be asked
// for a checkpoint is; then the whole group is asked to end, and killed after the
// grace; nothing it started stays behind, whether or not the program ended by
// itself. A program that ends with another code than 0 is an error of kind
// Trainer that names the cause where it is known and shows its last lines.
func Run(ctx context.Context, t Trainer, p Plan, o Options) (Result, error) {
	if o.Gate != nil {
		if err := o.Gate(ctx); err != nil {
			return Result{}, err
		}
	}
	dir := filepath.FromSlash(p.Dir)
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(o.Root, dir)
	}
	dir, err := filepath.Abs(dir) // the marker of its processes names it
	if err != nil {
		return Result{}, err
	}
	if err := prepare(dir, p); err != nil {
		return Result{}, err
	}
	if err := ctx.Err(); err != nil {
		return Result{}, stopped(ctx)
	}
	r, w, err := os.Pipe()
	if err != nil {
		return Result{}, err
	}
	defer r.Close()
	follow := newFollower(t, p, o, dir) // before the start: what is in the files now is no news
	proc, err := start(program{Argv: p.Argv, Dir: dir, Env: trainerEnvironment(o.Environ, p.Set, dir), Output: w, Grace: o.Grace})
	w.Close()
	if err != nil {
		return Result{}, err
	}
	if o.OnStart != nil {
		o.OnStart(proc.pid())
	}
	reading := parallel.Go(func() error { return follow.output(r) })
	tailing := parallel.Go(follow.files)
	stalled := await(ctx, proc, follow, o)
	if ctx.Err() != nil {
		askToSave(proc, p, dir, o)
	}
	// the program has ended or must end: so must everything it started
	waitErr := proc.end(o.Grace, o.Now)
	settle(reading, r)
	follow.stop()
	err = errors.Join(reading.Wait(), tailing.Wait())
	follow.flush()

	res := Result{ExitCode: proc.state().ExitCode(), Last: follow.last(), Event: follow.event}
	switch {
	case ctx.Err() != nil:
		return res, stopped(ctx)
	case err != nil:
		return res, err
	case waitErr != nil || stalled:
		d := death{lines: follow.kept, code: res.ExitCode, signal: signalOf(proc.state()), dir: dir, data: o.Data, stalled: stalled, stall: o.Stall}
		if c, ok := diagnose(d); ok {
			res.Cause = &c
		}
		return res, ended(p, proc.state(), res)
	}
	return res, nil
}

// await waits until the program ends, ctx is cancelled, or the program has been
// silent for too long, which it reports.
func await(ctx context.Context, proc *process, follow *follower, o Options) (stalled bool) {
	if o.Clock == nil {
		select {
		case <-proc.done():
		case <-ctx.Done():
		}
		return false
	}
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	told := false
	for {
		select {
		case <-proc.done():
			return false
		case <-ctx.Done():
			return false
		case <-tick.C:
		}
		quiet := follow.silent()
		if o.Stall > 0 && quiet >= o.Stall {
			return true
		}
		if quiet < silence {
			told = false
		} else if !told {
			told = true
			o.note(msg.Text{"the trainer has said nothing for %d {minute|minutes}", "训练器已 %d 分钟没有任何输出"}, int(silence.Minutes()))
		}
	}
}

// askToSave has a program write a checkpoint before it is ended, if it can be
// asked to, and waits until the checkpoint is whole.
func askToSave(proc *process, p Plan, dir string, o Options) {
	if p.SaveFile == "" || p.Output == "" {
		return
	}
	ask := filepath.Join(dir, filepath.FromSlash(p.SaveFile))
	output := filepath.Join(dir, filepath.FromSlash(p.Output))
	before := checkpoint.Steps(output)
	if os.MkdirAll(filepath.Dir(ask), 0o755) != nil || os.WriteFile(ask, nil, 0o644) != nil {
		return // a full disk takes no checkpoint either
	}
	defer os.Remove(ask) // one that was not heard must not be heard next time
	grace := o.SaveGrace
	if grace <= 0 {
		grace = defaultSaveGrace
	}
	o.note(msg.Text{"asked the trainer for a checkpoint; waiting for it", "已请训练器写出检查点，正在等待"})
	end := time.NewTimer(grace)
	defer end.Stop()
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-proc.done():
			return
		case <-end.C:
			o.note(msg.Text{"no checkpoint came", "未等到检查点"})
			return
		case <-o.Now:
			return
		case <-tick.C:
		}
		after := checkpoint.Steps(output)
		if len(after) == 0 || len(before) > 0 && after[len(after)-1] <= before[len(before)-1] {
			continue
		}
		if c, why := ReadCheckpoint(checkpoint.StepDir(output, after[len(after)-1])); why == nil {
			o.note(msg.Text{"checkpoint of step %d is written", "第 %d 步的检查点已写出"}, c.Step)
			return
		}
	}
}

// errorFile is where torch's launcher puts what the first rank that failed said.
const errorFile = "torch_error.json"

// trainerEnvironment is the environment of a trainer that runs in dir.
func trainerEnvironment(environ, set []string, dir string) []string {
	_ = os.Remove(filepath.Join(dir, errorFile)) // that of an earlier run
	return append(environment(environ, set), "TORCHELASTIC_ERROR_FILE="+filepath.Join(dir, errorFile))
}

// prepare writes the plan's files.
func prepare(dir string, p Plan) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, f := range p.Files {
		if err := atomicfile.WriteFile(filepath.Join(dir, filepath.FromSlash(f.Name)), []byte(f.Content)); err != nil {
			return err
		}
	}
	return derive(dir, p)
}

// settle waits for the rest of the output. Nobody we know of holds the pipe any
// more, but a process that got away might.
func settle(reading *parallel.Task, r *os.File) {
	timer := time.NewTimer(drain)
	defer timer.Stop()
	select {
	case <-reading.Done():
	case <-timer.C:
		r.Close()
	}
}

func stopped(ctx context.Context) error {
	return fail.New(fail.Interrupted, msg.Text{"training was stopped", "训练已停止"}).Because(context.Cause(ctx)).
		Hint(msg.Text{"the same command goes on from the last checkpoint if the trainer can", "若训练器支持，再次运行同一命令会从最近的检查点继续"})
}

// ended is the error of a program that failed: how it ended, the cause where it
// is known, and the last lines, in which the reader may see more.
func ended(p Plan, s *os.ProcessState, res Result) error {
	last := strings.Join(res.Last, "\n")
	var e *fail.Error
	switch {
	case res.Cause != nil && last != "":
		e = fail.New(fail.Trainer, msg.Text{"%s ended with %s: %s; its last lines:\n%s", "%s 结束，%s：%s；最后几行输出：\n%s"}, p.Argv[0], exit{s}, res.Cause.What, last)
	case res.Cause != nil:
		e = fail.New(fail.Trainer, msg.Text{"%s ended with %s and without a word: %s", "%s 结束，%s，没有任何输出：%s"}, p.Argv[0], exit{s}, res.Cause.What)
	case last != "":
		e = fail.New(fail.Trainer, msg.Text{"%s ended with %s; its last lines:\n%s", "%s 结束，%s；最后几行输出：\n%s"}, p.Argv[0], exit{s}, last)
	default:
		e = fail.New(fail.Trainer, msg.Text{"%s ended with %s and without a word", "%s 结束，%s，没有任何输出"}, p.Argv[0], exit{s})
	}
	if res.Cause != nil && res.Cause.Fix != nil {
		e.Hint(msg.Text{"%s", "%s"}, res.Cause.Fix)
	}
	return e
}
