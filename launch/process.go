package launch

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/parallel"
)

// defaultGrace is how long a program may take to end when it is asked to.
const defaultGrace = 15 * time.Second

// A program is what a process is started from.
type program struct {
	Argv []string
	Dir  string   // where it runs, on this machine
	Env  []string // NAME=value pairs, all it gets; see [environment]
	// Output gets stdout and stderr together, in the order they were written.
	// The caller closes it once the process has started.
	Output *os.File
	// Grace is how long the group may take to end should drydock die without
	// having stopped it; 0 is defaultGrace.
	Grace time.Duration
}

// A process is a program that runs in a group of its own together with
// everything it starts. Whoever starts one calls end, once and always: it leaves
// nothing of the group behind.
type process struct {
	cmd     *exec.Cmd
	group   *group
	guard   *guard
	waiting *parallel.Task
}

// markerOf names the processes of a run in their environment: by the drydock that
// started them and by the folder they work in.
func markerOf(dir string) string { return fmt.Sprintf("%s=%d:%s", markerName, os.Getpid(), dir) }

// start starts a program. Signals that drydock was told to ignore, as a shell
// tells what it puts in the background, are not ignored by it: it would never
// hear ^C again.
func start(p program) (*process, error) {
	if len(p.Argv) == 0 {
		return nil, fail.New(fail.Internal, msg.Text{"a plan without a program", "计划中没有程序"})
	}
	marker := markerOf(p.Dir)
	cmd := exec.Command(p.Argv[0], p.Argv[1:]...)
	cmd.Dir = p.Dir
	cmd.Env = append(p.Env[:len(p.Env):len(p.Env)], marker)
	cmd.Stdout, cmd.Stderr = p.Output, p.Output
	g := newGroup(cmd, marker)
	heard := hearSignals()
	err := cmd.Start()
	heard()
	if err != nil {
		g.close()
		return nil, notStarted(p.Argv[0], err)
	}
	if err := g.started(cmd); err != nil {
		g.kill()
		err = errors.Join(err, cmd.Wait())
		g.close()
		return nil, err
	}
	return &process{cmd: cmd, group: g, guard: newGuard(g, graceOr(p.Grace)), waiting: parallel.Go(cmd.Wait)}, nil
}

func graceOr(d time.Duration) time.Duration {
	if d <= 0 {
		return defaultGrace
	}
	return d
}

// done is closed when the program itself has ended; what it started may still
// run.
func (p *process) done() <-chan struct{} { return p.waiting.Done() }

// pid is the number of the program, and of its group where the system has
// groups.
func (p *process) pid() int { return p.cmd.Process.Pid }

// state says how the program ended; nil while it runs.
func (p *process) state() *os.ProcessState { return p.cmd.ProcessState }

// end asks the program and everything it started to end, kills what is left
// after the grace, or as soon as now is closed, and waits until all are gone. The
// error is that of the program: an exit code other than 0, or a signal.
func (p *process) end(grace time.Duration, now <-chan struct{}) error {
	grace = graceOr(grace)
	select {
	case <-p.waiting.Done():
		grace = min(grace, defaultGrace/3) // it is done; what is left has nothing to save
	default:
	}
	if p.group.alive(p.waiting) {
		p.group.terminate()
		p.await(grace, now)
	}
	// one that was being started while the others were counted is met the next
	// time round
	for range 50 {
		p.group.kill()
		if !p.group.alive(p.waiting) {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	err := p.waiting.Wait()
	p.guard.dismiss()
	p.group.close()
	return err
}

// await waits until the whole group is gone, the grace is over or now is closed.
func (p *process) await(grace time.Duration, now <-chan struct{}) {
	end := time.NewTimer(grace)
	defer end.Stop()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for p.group.alive(p.waiting) {
		select {
		case <-tick.C:
		case <-end.C:
			return
		case <-now:
			return
		}
	}
}

// environment leaves drydock's own variables out: the program has no use for the
// key of an endpoint.
func environment(environ, set []string) []string {
	out := make([]string, 0, len(environ)+len(set)+1)
	for _, kv := range environ {
		if !strings.HasPrefix(kv, "DRYDOCK_") {
			out = append(out, kv)
		}
	}
	return append(out, set...)
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

// An exit says how a program ended, in words.
type exit struct{ s *os.ProcessState }

// In says it in a language.
func (e exit) In(l msg.Lang) string {
	if code := e.s.ExitCode(); code >= 0 {
		return msg.Text{"exit code %d", "退出码 %d"}.Format(l, code)
	}
	return e.s.String() // signal: killed
}
