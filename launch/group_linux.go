package launch

import (
	"bytes"
	"os"
	"strconv"
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

func (g *group) isMarked(pid int) bool {
	env, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
	if err != nil {
		return false
	}
	for v := range bytes.SplitSeq(env, []byte{0}) {
		if string(v) == g.marker {
			return true
		}
	}
	return false
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
