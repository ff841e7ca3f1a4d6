package vllm

import (
	"context"
	"errors"
	"io"
	"net"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/drydock-ml/drydock/internal/atomicfile"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/llm"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/launch"
)

// grace is how long the server may take to end when asked to: its engine waits 5
// seconds for the workers before it ends them.
const grace = 15 * time.Second

// afterFatal is how long a server that has said why it ends may take to do so.
const afterFatal = 20 * time.Second

// RunOptions say how a plan is carried out.
type RunOptions struct {
	Environ []string    // of the program; drydock's variables are left out
	Client  *llm.Client // asks the plan's BaseURL
	Log     io.Writer   // gets every line; nil: none
	OnLine  func(text string)
	OnPhase func(msg.Localizer) // how far the start is; nil: not told
	OnFatal func(Fatal)         // the first line that ends the server, at once; nil: not told
	// Wait bounds the start; 0: half an hour, which large weights on a network
	// disk may take.
	Wait time.Duration
	// Ready is called once the server answers. Its error ends the server.
	Ready func(context.Context) error
	// Grace is how long the server may take to end; 0: 15 seconds.
	Grace time.Duration
	Now   <-chan struct{} // when closed, ends the grace
	// Memory tells what is used of each GPU's memory, MiB, before the start and
	// after the end; nil: not looked at.
	Memory func(context.Context) []int
}

// A Result says how a server ran.
type Result struct {
	Ready bool // it answered
	PID   int
	Ended launch.Ended
	Fatal *Fatal // why it ended by itself, where the log tells
	Held  int    // MiB of GPU memory that are used after the end and were not before
}

// Run starts the server, waits until it answers, calls Ready, and waits for ctx
// to be cancelled. Then, as in every other case, the server and all it started
// are asked to end, killed after the grace, and gone when Run returns. A server
// that was ready and is stopped is no error; one that ends by itself is one of
// kind Trainer that names the cause.
func Run(ctx context.Context, p *Plan, o RunOptions) (*Result, error) {
	for _, f := range p.Files {
		if err := atomicfile.WriteFile(filepath.FromSlash(f.Name), []byte(f.Content)); err != nil {
			return &Result{}, err
		}
	}
	if ctx.Err() != nil {
		return &Result{}, context.Cause(ctx)
	}
	var before []int
	if o.Memory != nil {
		before = o.Memory(ctx)
	}
	w := &watch{o: o, reader: newReader(), fatal: make(chan struct{})}
	s, err := launch.StartService(launch.ServiceOptions{Argv: p.Argv, Environ: o.Environ, Set: p.Set, Log: o.Log, OnLine: w.line, Grace: graceOr(o.Grace)})
	if err != nil {
		return &Result{}, err
	}
	r := &Result{PID: s.PID()}
	err = w.serve(ctx, p, s, r)
	var serr error
	r.Ended, serr = s.Stop(o.Now)
	r.Fatal = w.found()
	if o.Memory != nil {
		r.Held = held(context.WithoutCancel(ctx), before, o.Memory)
	}
	switch {
	case errors.Is(err, errEnded):
		err = r.died(p)
	case err == nil && r.Ended.Remain:
		err = fail.New(fail.Failed, msg.Text{"a process of the server could not be ended and may hold memory: look for group %d", "服务的某个进程无法结束，可能仍占用内存：请查看进程组 %d"}, r.PID)
	}
	return r, errors.Join(err, serr)
}

// held says how much more of the GPUs' memory is used than before. Drivers give
// it back a moment after a process is gone.
func held(ctx context.Context, before []int, memory func(context.Context) []int) int {
	const enough, tries = 500, 10 // MiB that other programs come and go with
	most := 0
	for range tries {
		most = 0
		for i, used := range memory(ctx) {
			if i < len(before) {
				most = max(most, used-before[i])
			}
		}
		if most <= enough {
			return 0
		}
		time.Sleep(500 * time.Millisecond)
	}
	return most
}

// GPUMemory asks NVIDIA's tool what is used of each GPU's memory, MiB; nil where
// there is none.
func GPUMemory(ctx context.Context, h launch.Host) []int {
	gpus, err := h.GPUs(ctx)
	if err != nil {
		return nil
	}
	var used []int
	for _, g := range gpus {
		used = append(used, int((g.Memory-g.Free)>>20))
	}
	return used
}

func graceOr(d time.Duration) time.Duration {
	if d <= 0 {
		return grace
	}
	return d
}

// errEnded marks a server that ended by itself.
var errEnded = errors.New("the server ended")

// serve waits until the server is ready, then until it is to stop.
func (w *watch) serve(ctx context.Context, p *Plan, s *launch.Service, r *Result) error {
	if err := w.await(ctx, p, s); err != nil {
		return err
	}
	r.Ready = true
	w.mu.Lock()
	w.reader.ready = true
	w.mu.Unlock()
	if w.o.Ready != nil {
		if err := w.o.Ready(ctx); err != nil {
			select {
			case <-s.Done(): // what failed, failed because of it
				return errEnded
			default:
			}
			if ctx.Err() != nil {
				return nil
			}
			return err
		}
	}
	select {
	case <-ctx.Done():
		return nil
	case <-s.Done():
		return errEnded
	case <-w.fatal:
		return w.ending(ctx, s)
	}
}

// ending gives a server that said why it ends the time to do so, since the lines
// that follow may say more.
func (w *watch) ending(ctx context.Context, s *launch.Service) error {
	timer := time.NewTimer(afterFatal)
	defer timer.Stop()
	select {
	case <-s.Done():
	case <-timer.C:
	case <-ctx.Done():
	}
	return errEnded
}

// await asks until the server answers that it serves what the plan says.
func (w *watch) await(ctx context.Context, p *Plan, s *launch.Service) error {
	limit := w.o.Wait
	if limit <= 0 {
		limit = 30 * time.Minute
	}
	end := time.NewTimer(limit)
	defer end.Stop()
	tick := time.NewTicker(300 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return fail.New(fail.Interrupted, msg.Text{"stopped before the server was ready", "服务就绪之前已停止"}).Because(context.Cause(ctx))
		case <-s.Done():
			return errEnded
		case <-w.fatal:
			return w.ending(ctx, s)
		case <-end.C:
			return fail.New(fail.Unreachable, msg.Text{"the server is not ready after %s", "服务在 %s 后仍未就绪"}, limit.String()).
				Hint(msg.Text{"--wait gives it longer; the log says what it does", "--wait 可延长等待；日志说明其进度"})
		case <-tick.C:
		}
		if ok, err := answers(ctx, w.o.Client, p); ok || err != nil {
			return err
		}
	}
}

// answers asks once. A server that answers and serves something else is another
// one.
func answers(ctx context.Context, c *llm.Client, p *Plan) (bool, error) {
	const limit = 5 * time.Second
	if c.Health(ctx, limit) != nil {
		return false, nil
	}
	models, err := c.Models(ctx, limit)
	var refused *fail.Error
	if errors.As(err, &refused) && refused.Kind == fail.Credentials {
		return false, err
	}
	if err != nil {
		return false, nil
	}
	names := make([]string, 0, len(models))
	for _, m := range models {
		if m.ID == p.Name {
			return true, nil
		}
		names = append(names, m.ID)
	}
	return false, fail.New(fail.Failed, msg.Text{"another server answers at %s: it serves %s", "%s 处是另一个服务：它部署了 %s"}, p.BaseURL, msg.List(names)).
		Hint(msg.Text{"choose another --port", "请更换 --port"})
}

// died is the error of a server that ended by itself.
func (r *Result) died(p *Plan) error {
	last := strings.Join(r.Ended.Last, "\n")
	if r.Fatal == nil {
		return fail.New(fail.Trainer, msg.Text{"%s ended with %s; its last lines:\n%s", "%s 结束，%s；最后几行输出：\n%s"}, filepath.Base(p.Argv[0]), r.Ended.Words, last)
	}
	e := fail.New(fail.Trainer, msg.Text{"%s ended with %s: %s\n%s", "%s 结束，%s：%s\n%s"}, filepath.Base(p.Argv[0]), r.Ended.Words, r.Fatal.What, r.Fatal.Line)
	if r.Fatal.Fix != nil {
		e = e.Hint(msg.Text{"%s", "%s"}, r.Fatal.Fix)
	}
	return e
}

// A watch reads the log.
type watch struct {
	o      RunOptions
	mu     sync.Mutex
	reader *reader
	first  *Fatal
	fatal  chan struct{} // closed at the first fatal line
}

func (w *watch) found() *Fatal {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.first
}

func (w *watch) line(l launch.Line) {
	if w.o.OnLine != nil && !l.Bar {
		w.o.OnLine(l.Text)
	}
	if w.o.OnPhase != nil {
		if says := phase(l.Text); says != nil {
			w.o.OnPhase(says)
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.first != nil || l.Bar {
		return
	}
	if w.first = w.reader.read(l.Text); w.first == nil {
		return
	}
	close(w.fatal)
	if w.o.OnFatal != nil {
		w.o.OnFatal(*w.first)
	}
}

// CheckPort refuses a port that is taken, before a start of minutes finds out.
func CheckPort(host string, port int) error {
	address := net.JoinHostPort(host, strconv.Itoa(port))
	l, err := net.Listen("tcp", address)
	if err == nil {
		return l.Close()
	}
	e := fail.New(fail.Refused, msg.Text{"nothing can listen at %s: %v", "无法在 %s 监听：%v"}, address, portReason(err))
	if free, err := net.Listen("tcp", net.JoinHostPort(host, "0")); err == nil {
		e = e.Hint(msg.Text{"--port %d is free", "--port %d 可用"}, free.Addr().(*net.TCPAddr).Port)
		_ = free.Close()
	}
	return e
}

// portReason is the system's own words, without the address again.
func portReason(err error) error {
	for inner := errors.Unwrap(err); inner != nil; inner = errors.Unwrap(inner) {
		err = inner
	}
	return err
}
