//go:build !windows

package launch

import (
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"github.com/drydock-ml/drydock/internal/parallel"
)

// guardScript ends a group once its stdin closes, which happens when drydock
// dies, however it dies: no system but Windows ties a whole group to the life of
// another process. It needs nothing but a POSIX shell. The arguments are the
// group's number, the marker and the grace in seconds. Those that left the group
// are found by the marker where /proc shows environments (Linux).
const guardScript = `trap '' HUP INT TERM
while read -r _; do :; done
left() {
  kill -"$1" -- "-$pg" 2>/dev/null
  for e in /proc/[0-9]*/environ; do
    p=${e#/proc/}; p=${p%/environ}
    [ "$p" != $$ ] && tr '\0' '\n' <"$e" 2>/dev/null | grep -qxF -- "$mark" && kill -"$1" "$p" 2>/dev/null
  done
}
pg=$1 mark=$2 n=$3
left TERM
while [ "$n" -gt 0 ] && kill -0 -- "-$pg" 2>/dev/null; do sleep 1; n=$((n-1)); done
left KILL
`

// A guard outlives drydock to end a group that drydock can no longer end.
type guard struct {
	cmd    *exec.Cmd
	stdin  io.Closer
	reaped *parallel.Task
}

// newGuard starts the guard of a group. Without a shell there is none, and only
// the next start finds what a killed drydock left, see [SweepOrphans].
func newGuard(g *group, grace time.Duration) *guard {
	cmd := exec.Command("/bin/sh", "-c", guardScript, "drydock-guard", strconv.Itoa(g.pgid), g.marker, strconv.Itoa(int(grace.Seconds())))
	cmd.Env = []string{"PATH=/usr/bin:/bin"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // ^C at our terminal is not meant for it
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil
	}
	if err := cmd.Start(); err != nil {
		_ = stdin.Close()
		return nil
	}
	return &guard{cmd, stdin, parallel.Go(cmd.Wait)}
}

// dismiss ends the guard before it sees the end of its stdin.
func (g *guard) dismiss() {
	if g == nil {
		return
	}
	_ = g.cmd.Process.Signal(syscall.SIGKILL)
	_ = g.reaped.Wait()
	_ = g.stdin.Close()
}

// hearSignals restores, until the returned function is called, what a started
// program makes of the signals that end programs: a program inherits which ones
// are ignored, but not that we listen to them.
func hearSignals() func() {
	c := make(chan os.Signal, 1)
	for _, s := range []os.Signal{syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM} {
		if signal.Ignored(s) {
			signal.Notify(c, s)
		}
	}
	return func() { signal.Stop(c) }
}
