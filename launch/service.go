package launch

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/parallel"
)

// ServiceOptions say how a program that runs until it is stopped is started.
type ServiceOptions struct {
	Argv    []string
	Dir     string   // where it runs; "" is the current folder
	Environ []string // NAME=value pairs; drydock's variables are left out
	Set     []string // more of them
	Log     io.Writer
	OnLine  func(Line)    // called for each line, one at a time; nil: not at all
	Grace   time.Duration // between the request to end and the kill; 0 is 15 seconds
}

// A Service is a program that runs until it is stopped, such as a model server,
// in a process group of its own with everything it starts.
type Service struct {
	o       ServiceOptions
	proc    *process
	follow  *follower
	out     *os.File
	reading *parallel.Task
}

// An Ended says how a service ended.
type Ended struct {
	Words  msg.Localizer // "exit code 1", or the signal
	Code   int           // -1 when a signal ended it
	Last   []string      // the last lines of its output
	Remain bool          // something of its group could not be ended
}

// noReports reads nothing in a line: a server has no steps.
type noReports struct{ Trainer }

// Parse reads nothing.
func (noReports) Parse(string, []byte) (Event, bool) { return Event{}, false }

// StartService starts a program. Whoever does stops it, once and always.
func StartService(o ServiceOptions) (*Service, error) {
	dir, err := filepath.Abs(o.Dir)
	if err != nil {
		return nil, err
	}
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	proc, err := start(program{Argv: o.Argv, Dir: dir, Env: environment(o.Environ, o.Set), Output: w, Grace: o.Grace})
	w.Close()
	if err != nil {
		return nil, errors.Join(err, r.Close())
	}
	s := &Service{o: o, proc: proc, out: r}
	s.follow = newFollower(noReports{}, Plan{Set: o.Set}, Options{Environ: o.Environ, Log: o.Log, OnLine: o.OnLine}, dir)
	s.reading = parallel.Go(func() error { return s.follow.output(r) })
	return s, nil
}

// Done is closed when the program itself has ended; what it started may still
// run.
func (s *Service) Done() <-chan struct{} { return s.proc.done() }

// PID is the number of the program and of its group.
func (s *Service) PID() int { return s.proc.pid() }

// Stop asks the program and everything it started to end, kills what is left
// after the grace or as soon as now is closed, and waits until all are gone. It
// is called when the program has ended by itself, too: what it started may live
// on. An error is of reading its output.
func (s *Service) Stop(now <-chan struct{}) (Ended, error) {
	_ = s.proc.end(s.o.Grace, now) // how it ended is in its state
	settle(s.reading, s.out)
	err := s.reading.Wait()
	_ = s.out.Close()
	state := s.proc.state()
	return Ended{
		Words: exit{state}, Code: state.ExitCode(), Last: s.follow.last(), Remain: s.proc.group.alive(s.proc.waiting),
	}, err
}
