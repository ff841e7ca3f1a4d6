//go:build !windows

package launch

import (
	"os"
	"os/exec"
	"syscall"

	"github.com/drydock-ml/drydock/internal/parallel"
)

// markerName is an environment variable every process of a run inherits: by it
// those are found that left the group.
const markerName = "DRYDOCK_RUN"

// A group is a program and everything it starts.
type group struct {
	pgid   int
	marker string
}

// newGroup makes cmd start as the leader of a process group of its own.
func newGroup(cmd *exec.Cmd, marker string) *group {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return &group{marker: marker}
}

func (g *group) started(cmd *exec.Cmd) error {
	g.pgid = cmd.Process.Pid
	return nil
}

// terminate asks every process to end.
func (g *group) terminate() { g.signal(syscall.SIGTERM) }

// kill ends every process.
func (g *group) kill() { g.signal(syscall.SIGKILL) }

func (g *group) close() {}

// alive reports whether the leader or anything it started still runs.
func (g *group) alive(leader *parallel.Task) bool {
	select {
	case <-leader.Done():
		return g.members()
	default:
		return true
	}
}

// signalOf returns the number of the signal that ended a process; 0 for none.
func signalOf(s *os.ProcessState) int {
	if w, ok := s.Sys().(syscall.WaitStatus); ok && w.Signaled() {
		return int(w.Signal())
	}
	return 0
}
