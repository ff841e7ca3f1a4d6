// Command contam measures the contamination check as docs/design/030-speed.md
// quotes it: against a loop that only hashes the bytes, on the same text in the
// same run, by CPU time.
//
//	go run ./scripts/bench/contam -bench ITEMS.json -zh FILE -en FILE -neutral FILE
//	    [-large 200] [-huge] [-peer 'PROGRAM ARGUMENT… {dir}']
//
// The texts are JSON Lines, at least 10 MB each: Chinese and English of the
// benchmark's subject, and Chinese about something else. -huge adds 2 GB. -peer
// runs another program over the Chinese text, in a folder of its own; {dir} is
// its path.
//
// The scan is timed piece by piece, each several times in turn with the loop, and
// the best of each counts: what else the machine does only adds.
package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/drydock-ml/drydock/dedup/contam"
	"github.com/drydock-ml/drydock/eval/benchmark"
	"github.com/drydock-ml/drydock/internal/parallel"
)

type settings struct {
	bench, zh, en, neutral, peer string
	large                        int
	huge                         bool
}

func main() {
	var s settings
	flag.StringVar(&s.bench, "bench", "", "benchmark items")
	flag.StringVar(&s.zh, "zh", "", "Chinese text of the subject")
	flag.StringVar(&s.en, "en", "", "English text of the subject")
	flag.StringVar(&s.neutral, "neutral", "", "Chinese text about something else")
	flag.StringVar(&s.peer, "peer", "", "program to compare with")
	flag.IntVar(&s.large, "large", 200, "size of the large input, MB")
	flag.BoolVar(&s.huge, "huge", false, "measure 2 GB, too")
	flag.Parse()
	if s.bench == "" || s.zh == "" || s.en == "" || s.neutral == "" {
		flag.Usage()
		os.Exit(2)
	}
	if err := run(s); err != nil {
		fmt.Fprintln(os.Stderr, "contam:", err)
		os.Exit(1)
	}
}

func run(s settings) error {
	data, err := os.ReadFile(s.bench)
	if err != nil {
		return err
	}
	items, err := benchmark.ReadItems(filepath.Base(s.bench), data)
	if err != nil {
		return err
	}
	fmt.Printf("%s/%s, %d CPUs, %s, %s\n\n", runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.Version(), load())
	dir, err := os.MkdirTemp("", "drydock-bench-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	// first of all: a child's peak memory counts from that of its parent
	rate, err := command(s, dir)
	if err != nil {
		return err
	}
	ix, err := index(items)
	if err != nil {
		return err
	}
	fmt.Printf("\nscan, one core           byte loop   check   ratio  goal\n")
	limit := 0.0
	for _, t := range []struct {
		name, file string
		goal       float64
	}{{"Chinese, subject", s.zh, .25}, {"English, subject", s.en, .12}, {"Chinese, neutral", s.neutral, .5}} {
		loop, check, found, err := scan(ix, t.file)
		if err != nil {
			return err
		}
		limit = max(limit, loop)
		fmt.Printf("%-22s  %5.0f MB/s  %4.0f MB/s  %.3f  %.2f   %d findings\n", t.name, loop, check, check/loop, t.goal, found)
	}
	fmt.Printf("whole command          %5.0f MB/s  %4.0f MB/s  %.3f\n", limit, rate, rate/limit)
	return nil
}

// index times the building of the index and weighs it.
func index(items []benchmark.Item) (*contam.Index, error) {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	best := time.Hour
	var ix *contam.Index
	for range 9 {
		start := cpuTime()
		var err error
		if ix, err = contam.NewIndex(items, benchmark.Ref{Name: "bench"}, contam.Config{}); err != nil {
			return nil, err
		}
		best = min(best, cpuTime()-start)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	fmt.Printf("index of %d items       %.0f ms of CPU (goal 100), %.1f MB (goal 20)\n",
		ix.Items(), best.Seconds()*1e3, float64(after.HeapAlloc-before.HeapAlloc)/1e6)
	return ix, nil
}

// scan returns MB per CPU second of the loop and of the check on the first 10 MB
// of a file.
func scan(ix *contam.Index, file string) (loop, check float64, found int, err error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return 0, 0, 0, err
	}
	data = lines(data, 10e6)
	s := ix.Scanner()
	var hashing, checking time.Duration
	for rest := data; len(rest) > 0; {
		part := lines(rest, 1e6)
		rest = rest[len(part):]
		h, c := time.Hour, time.Hour
		for again := range 9 {
			start := cpuTime()
			hash(part)
			h = min(h, cpuTime()-start)
			start = cpuTime()
			n, err := rows(s, part)
			if err != nil {
				return 0, 0, 0, err
			}
			c = min(c, cpuTime()-start)
			if again == 0 {
				found += n
			}
		}
		hashing, checking = hashing+h, checking+c
	}
	rate := func(d time.Duration) float64 { return float64(len(data)) / 1e6 / d.Seconds() }
	return rate(hashing), rate(checking), found, nil
}

// lines returns whole lines of about size bytes from the front of data.
func lines(data []byte, size int) []byte {
	if len(data) <= size {
		return data
	}
	if i := bytes.IndexByte(data[size:], '\n'); i >= 0 {
		return data[:size+i+1]
	}
	return data
}

func rows(s *contam.Scanner, data []byte) (found int, err error) {
	for len(data) > 0 {
		line, rest, _ := bytes.Cut(data, []byte{'\n'})
		f, err := s.Row(line)
		if err != nil {
			return 0, err
		}
		found += len(f)
		data = rest
	}
	return found, nil
}

// hash is the limit: FNV-1a over every byte.
//
//go:noinline
func hash(data []byte) uint64 {
	h := uint64(14695981039346656037)
	for _, c := range data {
		h = (h ^ uint64(c)) * 1099511628211
	}
	return h
}

// command measures the whole program: reading, checking rows, hashing the input,
// writing the report. rate is MB a CPU second beyond the first 10 MB.
func command(s settings, dir string) (rate float64, err error) {
	exe := filepath.Join(dir, "drydock")
	if runtime.GOOS == "windows" {
		exe += ".exe"
	}
	build := exec.Command("go", "build", "-trimpath", "-o", exe, "./cmd/drydock")
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		return 0, err
	}
	sizes := []int{10, s.large}
	if s.huge {
		sizes = append(sizes, 2000)
	}
	fmt.Printf("contam check, Chinese, one worker\n")
	file := filepath.Join(dir, "rows", "rows.jsonl")
	var first, last sample
	for i, mb := range sizes {
		n, err := write(file, s.zh, mb)
		if err != nil {
			return 0, err
		}
		one, err := check(exe, file, s.bench, 1)
		if err != nil {
			return 0, err
		}
		one.mb = float64(n) / 1e6
		fmt.Printf("%5d MB                %6.2f s of CPU, peak memory %.0f MB (goal 150)\n", mb, one.cpu.Seconds(), one.peak/1e6)
		if i == 0 {
			first = one
		} else {
			rate = (one.mb - first.mb) / (one.cpu - first.cpu).Seconds()
			fmt.Printf("  beyond the first 10 MB  %4.0f MB a CPU second\n", rate)
		}
		last = one
	}
	two, err := check(exe, file, s.bench, 2)
	if err != nil {
		return 0, err
	}
	limit, err := twoLoops(s.zh)
	if err != nil {
		return 0, err
	}
	fmt.Printf("two workers             %.2f times one (goal 1.8); two byte loops at once %.2f times one\n\n", last.wall.Seconds()/two.wall.Seconds(), limit)
	if s.peer == "" {
		return rate, nil
	}
	return rate, peer(s, filepath.Dir(file), last)
}

// twoLoops returns how many times as fast two byte loops at once go through the same
// bytes as one: what this machine has to give just now.
func twoLoops(file string) (float64, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return 0, err
	}
	halves := [][]byte{data[:len(data)/2], data[len(data)/2:]}
	const passes = 10 // each long enough that starting goroutines does not count
	round := func(workers int) (time.Duration, error) {
		start := time.Now()
		err := parallel.Each(context.Background(), workers, len(halves), func(_ context.Context, i int) error {
			for range passes {
				hash(halves[i])
			}
			return nil
		})
		return time.Since(start), err
	}
	one, two := time.Hour, time.Hour
	for range 5 {
		a, err := round(1)
		if err != nil {
			return 0, err
		}
		b, err := round(2)
		if err != nil {
			return 0, err
		}
		one, two = min(one, a), min(two, b)
	}
	return one.Seconds() / two.Seconds(), nil
}

// sample is what one run of a program took.
type sample struct {
	mb        float64
	cpu, wall time.Duration
	peak      float64
}

func check(exe, file, bench string, workers int) (sample, error) {
	return measure(exe, "contam", "check", file, "--against", bench, "-q", "-j", fmt.Sprint(workers), "--report", filepath.Join(filepath.Dir(exe), "report.jsonl"))
}

// measure runs a program. Findings make drydock end with 10.
func measure(argv ...string) (sample, error) {
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "GOGC=") })
	start := time.Now()
	text, err := cmd.CombinedOutput()
	wall := time.Since(start)
	if cmd.ProcessState == nil || err != nil && cmd.ProcessState.ExitCode() != 10 {
		return sample{}, fmt.Errorf("%s: %w\n%s", argv[0], err, text)
	}
	return sample{cpu: cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), wall: wall, peak: peakBytes(cmd.ProcessState)}, nil
}

// write repeats the rows of a file until there are mb megabytes, without holding
// it.
func write(name, from string, mb int) (size int, err error) {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return 0, err
	}
	f, err := os.Create(name)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	for want := mb * 1e6; size < want; {
		in, err := os.Open(from)
		if err != nil {
			return 0, err
		}
		for r := bufio.NewReader(in); size < want; {
			line, err := r.ReadBytes('\n')
			n, werr := f.Write(line)
			size += n
			if werr != nil {
				return 0, errors.Join(werr, in.Close())
			}
			if err != nil {
				break
			}
		}
		if err := in.Close(); err != nil {
			return 0, err
		}
	}
	return size, f.Close()
}

// peer runs another program over the text that the last sample was taken on.
func peer(s settings, dir string, ours sample) error {
	argv := strings.Fields(s.peer)
	for i := range argv {
		argv[i] = strings.ReplaceAll(argv[i], "{dir}", dir)
	}
	theirs, err := measure(argv...)
	if err != nil {
		return err
	}
	fmt.Printf("%-22s  %6.2f s of CPU: %.1f times ours, peak memory %.0f MB\n", filepath.Base(argv[0]), theirs.cpu.Seconds(), theirs.cpu.Seconds()/ours.cpu.Seconds(), theirs.peak/1e6)
	return nil
}
