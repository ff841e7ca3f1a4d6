//go:build !unix

package main

import (
	"os"
	"time"
)

var started = time.Now()

// cpuTime is the time that has passed: this system has no cheap other one.
func cpuTime() time.Duration { return time.Since(started) }

// peakBytes is not known on this system.
func peakBytes(*os.ProcessState) float64 { return 0 }

func load() string { return "load unknown" }
