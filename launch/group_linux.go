package launch

import (
	"bytes"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// signal reaches the group, and those that left it for a session of their own:
// a daemon keeps the environment it was born with.
func (g *group) signal(sig syscall.Signal) {
	for _, pid := range g.pids() {
		// a process that ended in between is what we want
		_ = syscall.Kill(pid, sig)
	}
}

func (g *group) members() bool { return len(g.pids()) > 0 }

// pids finds the processes of the run that are no zombies. The group's number is
// only trusted together with the marker or a running leader: numbers are given
// out again.
func (g *group) pids() []int {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		if syscall.Kill(-g.pgid, 0) == nil {
			return []int{-g.pgid}
		}
		return nil
	}
	var out []int
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || pid == os.Getpid() {
			continue
		}
		state, pgrp := procStat(pid)
		if state == 0 || state == 'Z' || state == 'X' {
			continue
		}
		if pgrp == g.pgid || g.isMarked(pid) {
			out = append(out, pid)
		}
	}
	return out
}

func (g *group) isMarked(pid int) bool { return marker(pid) == g.marker }

// marker returns the marker in a process's environment, NAME=value; "" when it
// has none or is another user's.
func marker(pid int) string {
	env, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
	if err != nil {
		return ""
	}
	for v := range bytes.SplitSeq(env, []byte{0}) {
		if bytes.HasPrefix(v, []byte(markerName+"=")) {
			return string(v)
		}
	}
	return ""
}

// SweepOrphans ends what an earlier drydock, killed before it could stop it, left
// running in the folder dir, and returns the numbers of those processes. The
// caller holds the lock of the project dir belongs to, so nothing that is
// found can be another's work. Only Linux shows enough to find them; elsewhere
// the guard of a group is all there is, and on Windows there is nothing to find.
func SweepOrphans(dir string) []int {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	var left []int
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || pid == os.Getpid() {
			continue
		}
		_, where, found := strings.Cut(marker(pid), ":")
		if state, _ := procStat(pid); !found || where != dir || state == 'Z' || state == 'X' {
			continue
		}
		left = append(left, pid)
		// one that ended in between is what we want
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	return left
}

// procStat reads state and process group; 0 when the process is gone.
func procStat(pid int) (state byte, pgrp int) {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0, 0
	}
	// the name stands in brackets and may hold brackets itself
	i := bytes.LastIndexByte(b, ')')
	if i < 0 {
		return 0, 0
	}
	f := bytes.Fields(b[i+1:])
	if len(f) < 3 || len(f[0]) != 1 {
		return 0, 0
	}
	pgrp, err = strconv.Atoi(string(f[2]))
	if err != nil {
		return 0, 0
	}
	return f[0][0], pgrp
}
