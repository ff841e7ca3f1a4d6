// Command bench measures what docs/design/030-speed.md quotes: ratios against a
// limit taken in the same run, start-up time, the size of the binary and how the
// peak memory of a run grows with its input.
//
//	go run ./scripts/bench [-large 200]
//
// Run it on an idle machine; it prints how busy the machine was.
package main

import (
	"bufio"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"time"
)

func main() {
	large := flag.Int("large", 200, "size of the large input, MB")
	flag.Parse()
	if err := run(*large); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(large int) error {
	dir, err := os.MkdirTemp("", "drydock-bench-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	fmt.Fprintf(out, "%s/%s, %d CPUs, %s\n", runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.Version())
	exe, err := build(out, dir)
	if err != nil {
		return err
	}
	if err := startup(out, exe); err != nil {
		return err
	}
	if err := ratios(out); err != nil {
		return err
	}
	out.Flush()
	return memory(out, exe, dir, large)
}

// build makes a stripped binary, as a release is.
func build(out *bufio.Writer, dir string) (string, error) {
	exe := filepath.Join(dir, "drydock")
	if runtime.GOOS == "windows" {
		exe += ".exe"
	}
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", exe, "./cmd/drydock")
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		return "", err
	}
	info, err := os.Stat(exe)
	if err != nil {
		return "", err
	}
	fmt.Fprintf(out, "binary, stripped        %.1f MB\n", float64(info.Size())/1e6)
	return exe, nil
}

// startup times `drydock version` as a whole process.
func startup(out *bufio.Writer, exe string) error {
	var times []time.Duration
	for range 21 {
		start := time.Now()
		if err := exec.Command(exe, "version").Run(); err != nil {
			return err
		}
		times = append(times, time.Since(start))
	}
	slices.Sort(times)
	ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
	fmt.Fprintf(out, "start-up of version     %.1f ms (median of %d; fastest %.1f)\n", ms(times[len(times)/2]), len(times), ms(times[0]))
	return nil
}

var benchLine = regexp.MustCompile(`(?m)^Benchmark(\w+?)(?:-\d+)?\s+\d+\s+.*?([\d.]+) cpuMB/s`)

// ratios runs the benchmarks that stand beside the code and sets each against
// the byte-hash loop of the same run, by CPU time. The best of three counts:
// noise only adds.
func ratios(out *bufio.Writer) error {
	cmd := exec.Command("go", "test", "-run", "^$", "-count", "3", "-bench", "^Benchmark(ByteHash|ReadDedupContam|ScanRows)$", "./internal/pipeline")
	cmd.Env = append(os.Environ(), "GOMAXPROCS=1")
	cmd.Stderr = os.Stderr
	text, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("%w\n%s", err, text)
	}
	best := map[string]float64{}
	var order []string
	for _, m := range benchLine.FindAllStringSubmatch(string(text), -1) {
		v, err := strconv.ParseFloat(m[2], 64)
		if err != nil {
			return err
		}
		if best[m[1]] == 0 {
			order = append(order, m[1])
		}
		best[m[1]] = max(best[m[1]], v)
	}
	limit := best["ByteHash"]
	if limit == 0 {
		return fmt.Errorf("no byte-hash figure in:\n%s", text)
	}
	for _, name := range order {
		fmt.Fprintf(out, "%-23s %.0f MB per CPU second, %.3f of the byte-hash loop\n", name, best[name], best[name]/limit)
	}
	return nil
}

// memory runs a project of question rows at 10 MB and at the large size and
// compares the peaks.
func memory(out *bufio.Writer, exe, dir string, large int) error {
	var peaks []int64
	for _, mb := range []int{10, large} {
		project := filepath.Join(dir, fmt.Sprintf("p%d", mb))
		if err := writeProject(project, mb); err != nil {
			return err
		}
		start := time.Now()
		cmd := exec.Command(exe, "run", "-C", project, "-q")
		cmd.Stderr = os.Stderr
		if err := cmd.Run(); err != nil {
			return err
		}
		took := time.Since(start)
		peak := peakBytes(cmd.ProcessState)
		peaks = append(peaks, peak)
		fmt.Fprintf(out, "run of %3d MB of rows    %.1f s, %.1f MB/s, peak memory %.0f MB\n", mb, took.Seconds(), float64(mb)/took.Seconds(), float64(peak)/1e6)
		if err := os.RemoveAll(project); err != nil {
			return err
		}
	}
	if peaks[0] > 0 {
		fmt.Fprintf(out, "peak memory grew        %.2f times\n", float64(peaks[1])/float64(peaks[0]))
	}
	return nil
}

// writeProject writes mb megabytes of Chinese question rows, no two alike, and
// a configuration without deduplication, whose keys are the one thing that must
// grow with the input.
func writeProject(dir string, mb int) error {
	if err := os.MkdirAll(filepath.Join(dir, "raw"), 0o755); err != nil {
		return err
	}
	f, err := os.Create(filepath.Join(dir, "raw", "rows.jsonl"))
	if err != nil {
		return err
	}
	defer f.Close()
	w := bufio.NewWriterSize(f, 1<<20)
	r := rand.New(rand.NewPCG(1, 2))
	nouns := []string{"舵机", "锚链", "舱口盖", "压载泵", "主机滑油", "救生艇", "测深仪", "磁罗经", "系泊缆", "通风筒"}
	size := 0
	for n := 0; size < mb<<20; n++ {
		line := fmt.Sprintf(`{"id":"r%d","kind":"single","lang":"zh","stem":"第%d号检查项目：%s在第%d次检修后的间隔不应超过______。","options":[`, n, n, nouns[r.IntN(len(nouns))], r.IntN(100000))
		for i := range 4 {
			if i > 0 {
				line += ","
			}
			line += fmt.Sprintf(`{"label":"%c","text":"%d个工作日零%d小时"}`, 'A'+i, 10*i+r.IntN(9), r.IntN(24))
		}
		line += fmt.Sprintf(`],"answer":["%c"]}`+"\n", 'A'+r.IntN(4))
		size += len(line)
		if _, err := w.WriteString(line); err != nil {
			return err
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	config := `version: 1
sources: [{name: rows, path: raw/rows.jsonl, license: CC0-1.0}]
dedup: {exact: false}
output: [{qwen3_chat: {path: build/train.jsonl}}]
`
	return os.WriteFile(filepath.Join(dir, "drydock.yaml"), []byte(config), 0o644)
}
