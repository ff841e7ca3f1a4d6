package launch

import (
	"io"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

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
