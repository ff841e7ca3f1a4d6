package launch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
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
	lastLines    = 20
	maxLine      = 64 << 10
	defaultGrace = 15 * time.Second
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
	marker := fmt.Sprintf("%s=%d:%s", markerName, os.Getpid(), dir)
	cmd := exec.Command(p.Argv[0], p.Argv[1:]...)
	cmd.Dir = dir
	cmd.Env = environment(o.Environ, p.Set, marker)
	cmd.Stdout, cmd.Stderr = w, w
	g := newGroup(cmd, marker)
	defer g.close()
	err = cmd.Start()
	w.Close()
	if err != nil {
		return Result{}, notStarted(p.Argv[0], err)
	}
	if err := g.started(cmd); err != nil {
		g.kill()
		return Result{}, errors.Join(err, cmd.Wait())
	}
	follow := newFollower(t, p, o, dir)
	reading := parallel.Go(func() error { return follow.output(r) })
	tailing := parallel.Go(follow.files)
	waitErr := supervise(ctx, cmd, g, o)
	settle(reading, r)
	follow.stop()
	err = errors.Join(reading.Wait(), tailing.Wait())

	res := Result{ExitCode: cmd.ProcessState.ExitCode(), Last: follow.last, Event: follow.event}
	switch {
	case ctx.Err() != nil:
		return res, stopped(ctx)
	case err != nil:
		return res, err
	case waitErr != nil:
		return res, ended(p, cmd.ProcessState, res)
	}
	return res, nil
}

// prepare writes the plan's files.
func prepare(dir string, p Plan) error {
	if len(p.Argv) == 0 {
		return fail.New(fail.Internal, msg.Text{"a plan without a program", "计划中没有程序"})
	}
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

// environment leaves drydock's own variables out: the program has no use for the
// key of an endpoint.
func environment(environ, set []string, marker string) []string {
	out := make([]string, 0, len(environ)+len(set)+1)
	for _, kv := range environ {
		if !strings.HasPrefix(kv, "DRYDOCK_") {
			out = append(out, kv)
		}
	}
	return append(append(out, set...), marker)
}

// supervise waits for the program and then for all it started. The error is
// that of the program.
func supervise(ctx context.Context, cmd *exec.Cmd, g *group, o Options) error {
	grace := o.Grace
	if grace <= 0 {
		grace = defaultGrace
	}
	waiting := parallel.Go(cmd.Wait)
	select {
	case <-waiting.Done():
		grace = min(grace, defaultGrace/3) // it is done; what is left has nothing to save
	case <-ctx.Done():
	}
	// the program has ended or must end: so must everything it started
	if left := g.alive(waiting); left {
		g.terminate()
		end := time.NewTimer(grace)
		defer end.Stop()
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		for g.alive(waiting) {
			select {
			case <-tick.C:
				continue
			case <-end.C:
			case <-o.Now:
			}
			break
		}
	}
	// one that was being started while the others were counted is met the next
	// time round
	for range 50 {
		g.kill()
		if !g.alive(waiting) {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	return waiting.Wait()
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

func notStarted(program string, err error) error {
	why := err
	if inner := errors.Unwrap(err); inner != nil {
		why = inner // the outer one names the program again
	}
	e := fail.New(fail.Trainer, msg.Text{"%s does not start: %s", "%s 无法启动：%s"}, program, why)
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, os.ErrNotExist) {
		e = fail.New(fail.Trainer, msg.Text{"the program %s is not found", "找不到程序 %s"}, program).Because(err)
	}
	return e.Hint(msg.Text{"drydock doctor says what each trainer needs", "drydock doctor 会列出各训练器的需求"})
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

// exit says how a program ended.
type exit struct{ s *os.ProcessState }

// In says it in a language.
func (e exit) In(l msg.Lang) string {
	if code := e.s.ExitCode(); code >= 0 {
		return msg.Text{"exit code %d", "退出码 %d"}.Format(l, code)
	}
	return e.s.String() // signal: killed
}

// A follower hands lines on, from the output and from followed files.
type follower struct {
	trainer Trainer
	o       Options
	secrets Secrets
	tails   []*tail
	done    chan struct{}

	mu    sync.Mutex
	last  []string
	event Event
}

func newFollower(t Trainer, p Plan, o Options, dir string) *follower {
	f := &follower{trainer: t, o: o, secrets: SecretsOf(append(slices.Clone(o.Environ), p.Set...)), done: make(chan struct{})}
	for _, name := range p.Follow {
		f.tails = append(f.tails, newTail(name, filepath.Join(dir, filepath.FromSlash(name))))
	}
	return f
}

// output reads the program's output until its end or until r is closed.
func (f *follower) output(r io.Reader) error {
	var s splitter
	buf := make([]byte, 32<<10)
	for {
		n, err := r.Read(buf)
		if werr := s.write(buf[:n], func(line []byte, bar bool) error { return f.line("", line, bar) }); werr != nil {
			return werr
		}
		if err != nil {
			// at the end of the pipe, and when settle closed it
			return s.end(func(line []byte, bar bool) error { return f.line("", line, bar) })
		}
	}
}

// files follows the plan's files until stop, and reads them once more then.
func (f *follower) files() error {
	tick := time.NewTicker(500 * time.Millisecond)
	defer tick.Stop()
	for {
		over := false
		select {
		case <-tick.C:
		case <-f.done:
			over = true
		}
		for _, t := range f.tails {
			if err := t.read(func(line []byte) error { return f.line(t.name, line, false) }); err != nil {
				return err
			}
		}
		if over {
			return nil
		}
	}
}

func (f *follower) stop() { close(f.done) }

func (f *follower) line(from string, text []byte, bar bool) error {
	text = f.secrets.Redact(text)
	l := Line{From: from, Text: strings.ToValidUTF8(string(text), "\ufffd"), Bar: bar}
	if e, ok := f.trainer.Parse(from, text); ok {
		l.Event = &e
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if l.Event != nil {
		f.event.merge(*l.Event)
	}
	if from == "" && !bar {
		if len(f.last) == lastLines {
			f.last = f.last[1:]
		}
		f.last = append(f.last, l.Text)
	}
	if f.o.OnLine != nil {
		f.o.OnLine(l)
	}
	if f.o.Log != nil && from == "" && !bar {
		if _, err := io.WriteString(f.o.Log, l.Text+"\n"); err != nil {
			return err
		}
	}
	return nil
}

// merge takes over the figures e has.
func (v *Event) merge(e Event) {
	if e.Step > 0 {
		v.Step, v.MaxSteps = e.Step, e.MaxSteps
	}
	for _, f := range [][2]**float64{{&v.Epoch, &e.Epoch}, {&v.Loss, &e.Loss}, {&v.EvalLoss, &e.EvalLoss}, {&v.LR, &e.LR}, {&v.GradNorm, &e.GradNorm}} {
		if *f[1] != nil {
			*f[0] = *f[1]
		}
	}
}
