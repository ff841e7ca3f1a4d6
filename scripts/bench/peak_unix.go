//go:build unix

package main

import (
	"os"
	"runtime"
	"syscall"
)

// peakBytes is the largest resident size the process had.
func peakBytes(s *os.ProcessState) int64 {
	u, ok := s.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	if runtime.GOOS == "darwin" {
		return int64(u.Maxrss) // bytes there, kilobytes elsewhere
	}
	return int64(u.Maxrss) * 1024
}
