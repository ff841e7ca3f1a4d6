//go:build !windows && !linux

package launch

import "syscall"

// signal reaches the group. Where there is no /proc, a daemon that made a
// session of its own is out of reach.
func (g *group) signal(sig syscall.Signal) {
	// no such group means all have ended
	_ = syscall.Kill(-g.pgid, sig)
}

func (g *group) members() bool { return syscall.Kill(-g.pgid, 0) == nil }
