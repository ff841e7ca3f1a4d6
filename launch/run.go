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
	// Grace is how long the program may take to end when asked to, before it is
	// killed; 0 is 15 seconds.
	Grace time.Duration
	// Now, when closed, ends the grace.
	Now <-chan struct{}
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
}

const (
	lastLines = 20
	maxLine   = 64 << 10
	// drain is how long output may still come when every process is gone
	drain = 2 * time.Second
)

// Run writes a plan's files, starts its program in a process group of its own
// and follows it to the end. When ctx is cancelled the whole group is asked to
// end, and killed after the grace; nothing it started stays behind, whether or
// not the program ended by itself. A program that ends with another code than 0
// is an error of kind Trainer that shows its last lines.
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
	proc, err := start(program{Argv: p.Argv, Dir: dir, Env: environment(o.Environ, p.Set), Output: w, Grace: o.Grace})
	w.Close()
	if err != nil {
		return Result{}, err
	}
	follow := newFollower(t, p, o, dir)
	reading := parallel.Go(func() error { return follow.output(r) })
	tailing := parallel.Go(follow.files)
	select {
	case <-proc.done():
	case <-ctx.Done():
	}
	// the program has ended or must end: so must everything it started
	waitErr := proc.end(o.Grace, o.Now)
	settle(reading, r)
	follow.stop()
	err = errors.Join(reading.Wait(), tailing.Wait())

	res := Result{ExitCode: proc.state().ExitCode(), Last: follow.last, Event: follow.event}
	switch {
	case ctx.Err() != nil:
		return res, stopped(ctx)
	case err != nil:
		return res, err
	case waitErr != nil:
		return res, ended(p, proc.state(), res)
	}
	return res, nil
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
	return nil
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

func ended(p Plan, s *os.ProcessState, res Result) error {
	last := strings.Join(res.Last, "\n")
	e := fail.New(fail.Trainer, msg.Text{"%s ended with %s; its last lines:\n%s", "%s 结束，%s；最后几行输出：\n%s"}, p.Argv[0], exit{s}, last)
	if last == "" {
		e = fail.New(fail.Trainer, msg.Text{"%s ended with %s and without a word", "%s 结束，%s，没有任何输出"}, p.Argv[0], exit{s})
	}
	if h, ok := diagnose(res.Last); ok {
		e.Hint(h)
	}
	return e
}
