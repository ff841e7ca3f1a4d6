// Package meter reports what a benchmark costs in processor time, which a busy
// machine does not change as it changes the clock.
package meter

import (
	"testing"
	"time"
)

// CPU begins to measure a benchmark each of whose rounds takes size bytes of
// input. The function it returns ends that and reports
//
//	cpuMB/s  megabytes of input a second of processor time, all threads and the
//	         garbage collector counted
//	of-hash  the same as a share of a plain FNV-1a loop, measured before and
//	         after: what it costs to look at each byte once
//
// Call it right before the loop:
//
//	defer meter.CPU(b, len(data))()
func CPU(b *testing.B, size int) func() {
	b.Helper()
	b.SetBytes(int64(size))
	b.ReportAllocs()
	limit := hashSpeed()
	start := Used()
	return func() {
		used := Used() - start
		if used <= 0 || b.N == 0 {
			return
		}
		speed := float64(size) * float64(b.N) / 1e6 / used.Seconds()
		b.ReportMetric(speed, "cpuMB/s")
		if limit = max(limit, hashSpeed()); limit > 0 {
			b.ReportMetric(speed/limit, "of-hash")
		}
	}
}

// hashSpeed is the speed of the byte loop, in megabytes a second of processor
// time: the best of a few rounds, since noise only adds. It is 0 where the time
// used is not known.
func hashSpeed() float64 {
	const rounds, times = 4, 4
	data := make([]byte, 1<<20)
	for i := range data {
		data[i] = byte(i * 7)
	}
	best, sum := time.Duration(0), uint64(0)
	for range rounds {
		start := Used()
		for range times {
			h := uint64(14695981039346656037)
			for _, c := range data {
				h = (h ^ uint64(c)) * 1099511628211
			}
			sum += h
		}
		if used := Used() - start; used > 0 && (best == 0 || used < best) {
			best = used
		}
	}
	if best == 0 || sum == 0 {
		return 0
	}
	return float64(times*len(data)) / 1e6 / best.Seconds()
}
