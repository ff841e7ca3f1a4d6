// Command formats measures what reading, question parsing, emitting, converting and
// checking rows cost, as docs/design/030-speed.md quotes them: megabytes of input a
// second of processor time, and their share of a plain byte loop in the same run.
//
//	go run ./scripts/bench/formats [-count 3] [-only 'CSV|Emit']
//
// The best of the rounds counts, since noise only adds. Benchmarks whose files are
// not here, and peers that are not installed, are left out.
package main

import (
	"bufio"
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"strconv"
	"strings"
)

// suites are the benchmarks, package by package.
var suites = []struct{ dir, pattern string }{
	{"./dataprep/format", "^Benchmark(Text|CSV|JSONL|JSON|HTML|DOCX|DOC|ODT|EPUB|XLSX|XMLScanner|PDF)$"},
	{"./dataprep/question", "^Benchmark(Text|English|Table|JSON)$"},
	{"./dataprep/emit", "^Benchmark(Emit|EmitQuestion|DecodeQuestion|Convert)$"},
	{"./dataprep/rowfile", "^Benchmark(Parquet|Arrow)$"},
	{"./internal/pipeline", "^BenchmarkReadRows$"},
	{"./launch/parity", "^BenchmarkCheck$"},
	{"./qwen3", "^Benchmark(Encode|Count)$"},
}

func main() {
	count := flag.Int("count", 3, "rounds of each benchmark")
	only := flag.String("only", "", "lines to print, a regular expression over package and name")
	flag.Parse()
	if err := run(os.Stdout, *count, *only); err != nil {
		fmt.Fprintln(os.Stderr, "formats:", err)
		os.Exit(1)
	}
}

func run(w io.Writer, count int, only string) error {
	keep, err := regexp.Compile(only)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "%s/%s, %d CPUs, %s, %s before\n", runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.Version(), load())
	for _, s := range suites {
		cmd := exec.Command("go", "test", "-run", "^$", "-count", strconv.Itoa(count), "-benchtime", "0.3s", "-bench", s.pattern, s.dir)
		// one processor for all but the benchmark that compares two
		if cmd.Env = os.Environ(); s.dir != "./dataprep/format" {
			cmd.Env = append(cmd.Env, "GOMAXPROCS=1")
		}
		cmd.Stderr = os.Stderr
		text, err := cmd.Output()
		if err != nil {
			return fmt.Errorf("%s: %w\n%s", s.dir, err, text)
		}
		for _, f := range read(text) {
			if name := strings.TrimPrefix(s.dir, "./") + " " + f.name; keep.MatchString(name) {
				fmt.Fprintf(w, "%-58s %s\n", name, f)
			}
		}
	}
	fmt.Fprintf(w, "%s after\n", load())
	return nil
}

// A figure is the best of a benchmark's rounds, by unit.
type figure struct {
	name string
	best map[string]float64
}

// units are printed in this order, with so many places. A smaller x-pdftotext-cpu
// is the better one.
var units = []struct {
	name   string
	places int
}{{"cpuMB/s", 1}, {"of-hash", 4}, {"pages/cpu-s", 1}, {"pages/s", 1}, {"x-pdftotext-cpu", 2}, {"allocs/op", 0}}

func (f figure) String() string {
	var b strings.Builder
	for _, u := range units {
		if v, ok := f.best[u.name]; ok {
			fmt.Fprintf(&b, "  %8s %s", strconv.FormatFloat(v, 'f', u.places, 64), u.name)
		}
	}
	return b.String()
}

var procs = regexp.MustCompile(`-\d+$`)

// read collects the figures of go test's output.
func read(text []byte) []figure {
	var out []figure
	at := map[string]int{}
	lines := bufio.NewScanner(bytes.NewReader(text))
	for lines.Scan() {
		f := strings.Fields(lines.Text())
		if len(f) < 4 || !strings.HasPrefix(f[0], "Benchmark") {
			continue
		}
		name := procs.ReplaceAllString(strings.TrimPrefix(f[0], "Benchmark"), "")
		i, seen := at[name]
		if !seen {
			i = len(out)
			at[name] = i
			out = append(out, figure{name, map[string]float64{}})
		}
		for n := 2; n+1 < len(f); n += 2 {
			v, err := strconv.ParseFloat(f[n], 64)
			if err != nil {
				continue
			}
			unit := f[n+1]
			old, ok := out[i].best[unit]
			if smaller := unit == "allocs/op" || strings.HasPrefix(unit, "x-"); !ok || smaller && v < old || !smaller && v > old {
				out[i].best[unit] = v
			}
		}
	}
	return out
}

// load is how busy the machine is, where it says so.
func load() string {
	b, err := os.ReadFile("/proc/loadavg")
	if f := strings.Fields(string(b)); err == nil && len(f) > 0 {
		return "load " + f[0]
	}
	return "load unknown"
}
