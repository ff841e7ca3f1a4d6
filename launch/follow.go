package launch

import (
	"io"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/drydock-ml/drydock/internal/msg"
)

const (
	// lastLines is how much of the output an error shows
	lastLines = 20
	// keptLines is how much is searched for the cause of death: the launchers of
	// several processes add long summaries behind it
	keptLines = 400
	maxLine   = 64 << 10
)

// A follower hands lines and reports on, from the output, from followed files
// and from the states of checkpoints.
type follower struct {
	trainer Trainer
	o       Options
	secrets Secrets
	tails   []*tail
	states  *stateReader // nil: the plan names no folder of checkpoints
	done    chan struct{}

	mu     sync.Mutex
	kept   []string // the last lines of the output
	event  Event
	merger *merger
	spoke  time.Time // when the program was last heard of

	logless bool // the log could not be written
}

func newFollower(t Trainer, p Plan, o Options, dir string) *follower {
	f := &follower{
		trainer: t, o: o, done: make(chan struct{}), merger: newMerger(len(p.Follow) > 0), spoke: o.clock(),
		secrets: SecretsOf(append(slices.Clone(o.Environ), p.Set...)),
	}
	for _, name := range p.Follow {
		f.tails = append(f.tails, newTail(name, filepath.Join(dir, filepath.FromSlash(name))))
	}
	if p.Output != "" {
		f.states = newStateReader(p.Output, filepath.Join(dir, filepath.FromSlash(p.Output)))
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
	for n := 0; ; n++ {
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
		if f.states != nil && (over || n%4 == 0) {
			f.take(f.states.read()...)
		}
		f.mu.Lock()
		f.hand(f.merger.release(f.o.clock()))
		f.mu.Unlock()
		if over {
			return nil
		}
	}
}

// stop ends files.
func (f *follower) stop() { close(f.done) }

// flush hands on what waited for a better source, once all have ended.
func (f *follower) flush() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.hand(f.merger.flush())
}

// silent says for how long nothing has been heard of the program.
func (f *follower) silent() time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.o.clock().Sub(f.spoke)
}

func (f *follower) take(events ...Event) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, e := range events {
		if e.Step > f.event.Step { // an output without bars names no steps
			f.event.Step, f.event.MaxSteps = e.Step, e.MaxSteps
		}
		f.hand(f.merger.add(e, f.o.clock()))
	}
}

// hand gives reports to the caller of Run. f.mu is held.
func (f *follower) hand(reports []Report) {
	for _, r := range reports {
		if f.o.OnReport != nil {
			f.o.OnReport(r)
		}
	}
}

func (f *follower) line(from string, text []byte, bar bool) error {
	text = f.secrets.Redact(text)
	l := Line{From: from, Text: strings.ToValidUTF8(string(text), "\ufffd"), Bar: bar}
	if e, ok := f.trainer.Parse(from, text); ok {
		l.Event = &e
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.spoke = f.o.clock()
	if l.Event != nil {
		f.event.merge(*l.Event)
		f.hand(f.merger.add(*l.Event, f.spoke))
	}
	if from == "" && !bar {
		if len(f.kept) == keptLines {
			f.kept = f.kept[1:]
		}
		f.kept = append(f.kept, l.Text)
	}
	if f.o.OnLine != nil {
		f.o.OnLine(l)
	}
	if f.o.Log != nil && !f.logless && from == "" && !bar {
		if _, err := io.WriteString(f.o.Log, l.Text+"\n"); err != nil {
			// a program whose output nobody reads would wait for ever
			f.logless = true
			f.o.note(msg.Text{"the log is not written any more: %v", "日志无法继续写入：%v"}, err)
		}
	}
	return nil
}

// last returns the end of the output, as errors show it.
func (f *follower) last() []string { return f.kept[max(0, len(f.kept)-lastLines):] }
