//go:build unix

package main

import (
	"os"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// cpuTime is the CPU time this process has used.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// peakBytes is the largest resident size the process had.
func peakBytes(s *os.ProcessState) float64 {
	u, ok := s.SysUsage().(*syscall.Rusage)
	switch {
	case !ok:
		return 0
	case runtime.GOOS == "darwin":
		return float64(u.Maxrss) // bytes there, kilobytes elsewhere
	}
	return float64(u.Maxrss) * 1024
}

// load says how busy the machine is, where it tells.
func load() string {
	b, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "load unknown"
	}
	one, _, _ := strings.Cut(string(b), " ")
	return "load " + one
}
