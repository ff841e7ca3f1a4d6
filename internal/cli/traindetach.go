package cli

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/parallel"
	"github.com/drydock-ml/drydock/internal/pipeline"
	"github.com/drydock-ml/drydock/internal/runstore"
	"github.com/drydock-ml/drydock/internal/ui"
	"github.com/drydock-ml/drydock/launch"
)

// detachedLog is the file in a run's folder with what its drydock said, which
// had no terminal.
const detachedLog = "drydock.log"

// detachedAnswer says what goes on without a terminal.
type detachedAnswer struct {
	Schema string `json:"schema"`
	RunID  string `json:"run_id"`
	PID    int    `json:"pid"`
	Log    string `json:"log"`
}

func (d detachedAnswer) text(t *ui.Terminal) {
	t.Print(msg.Text{"training goes on as run %s (process %d)", "训练以运行 %s 继续（进程 %d）"}, d.RunID, d.PID)
	t.Next("drydock runs attach " + d.RunID)
}

// detachTrain starts this same command again, without a terminal, and waits
// until its trainer runs: what refuses to start is said here, with its code.
func (a *app) detachTrain(ctx context.Context, cfg *pipeline.Config) error {
	log, err := detachLog(cfg.Dir)
	if err != nil {
		return err
	}
	defer log.Close()
	proc, err := a.again(log)
	if err != nil {
		return err
	}
	var state *os.ProcessState
	waiting := parallel.Go(func() (err error) {
		state, err = proc.Wait()
		return err
	})
	runs := filepath.Join(cfg.Dir, "runs")
	for {
		id, ended := startedRun(runs, proc.Pid)
		over := false
		select {
		case <-waiting.Done():
			over = true
		case <-ctx.Done():
			_ = proc.Kill() // and its guard ends what it started
			return context.Cause(ctx)
		case <-time.After(100 * time.Millisecond):
		}
		switch {
		case over:
			if err := waiting.Wait(); err != nil {
				return err
			}
			if state.ExitCode() != 0 {
				return a.saidElsewhere(log.Name(), state.ExitCode())
			}
			id, _ = startedRun(runs, proc.Pid)
		case id == "" || ended: // it says more in a moment
			continue
		}
		return a.answer(detachedAnswer{"drydock.train.detached/1", id, proc.Pid, keepLog(log.Name(), filepath.Join(runs, id))})
	}
}

func detachLog(dir string) (*os.File, error) {
	hidden := filepath.Join(dir, ".drydock")
	if err := os.MkdirAll(hidden, 0o755); err != nil {
		return nil, err
	}
	return os.CreateTemp(hidden, "detached-*.log")
}

// again starts this command without --detach.
func (a *app) again(log *os.File) (*os.Process, error) {
	if a.host.Executable == nil {
		return nil, fail.Bug("no way to start drydock again")
	}
	self, err := a.host.Executable()
	if err != nil {
		return nil, err
	}
	argv := []string{"drydock"}
	for _, arg := range a.args {
		if arg != "--detach" && !strings.HasPrefix(arg, "--detach=") {
			argv = append(argv, arg)
		}
	}
	if a.global.Dir != "" { // we are there already
		argv = append(argv, "--dir", ".")
	}
	return launch.Detach(self, append(argv, "--no-input"), a.host.Environ(), log)
}

// startedRun finds the run of a process once its trainer has been started, or has
// ended without.
func startedRun(runs string, pid int) (id string, ended bool) {
	infos, _, err := runstore.List(runs)
	if err != nil {
		return "", false
	}
	for _, i := range infos {
		if i.PID != pid {
			continue
		}
		started := false
		_ = runstore.Events(filepath.Join(runs, i.ID)).Read(func(line []byte) error {
			started = started || bytes.Contains(line, []byte(`"type":"started"`))
			return nil
		})
		if started || i.End != nil {
			return i.ID, i.End != nil
		}
		return "", false
	}
	return "", false
}

// keepLog moves the log into the run's folder and returns where it lies. On
// Windows a file that is being written stays where it is.
func keepLog(log, dir string) string {
	if to := filepath.Join(dir, detachedLog); os.Rename(log, to) == nil {
		log = to
	}
	return filepath.ToSlash(log)
}

// saidElsewhere shows what the detached drydock said, and ends as it did.
func (a *app) saidElsewhere(log string, code int) error {
	b, err := os.ReadFile(log)
	if err != nil {
		return err
	}
	_ = os.Remove(log)
	if _, err := a.host.Err.Write(b); err != nil {
		return err
	}
	return shown{fail.New(kindOf(code), msg.Text{"the training ended with exit code %d", "训练结束，退出码 %d"}, code)}
}

// kindOf returns a kind of error with an exit code.
func kindOf(code int) fail.Kind {
	for _, k := range []fail.Kind{
		fail.Usage, fail.Partial, fail.Credentials, fail.Contamination, fail.Submission, fail.BelowMinAcc,
		fail.Unreachable, fail.Trainer, fail.Internal, fail.Interrupted,
	} {
		if k.Code() == code {
			return k
		}
	}
	return fail.Failed
}
