// Command eval measures what docs/design/030-speed.md says of evaluation: a whole
// run of 1,888 items against a server that answers after a fixed time, how near
// the request phase comes to the best order of the same requests, and, where the
// real EvalScope 1.4.2 is installed, both on the same items and the same server.
//
//	go run ./scripts/bench/eval [-evalscope PATH] [-runs 3]
//
// The items are made up here. Wall times need an idle machine; CPU times and peak
// memory hold on a busy one. The server runs in this process, so its own CPU time
// is in none of the figures.
package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"hash/fnv"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// items is how many MaritimeBench has.
const items = 1888

func main() {
	evalscope := flag.String("evalscope", "", "path of EvalScope 1.4.2's command; empty: only drydock")
	runs := flag.Int("runs", 3, "runs of each; the fastest counts")
	flag.Parse()
	if err := run(*evalscope, *runs); err != nil {
		fmt.Fprintln(os.Stderr, "bench/eval:", err)
		os.Exit(1)
	}
}

func run(evalscope string, runs int) error {
	dir, err := os.MkdirTemp("", "drydock-bench-eval-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	exe := filepath.Join(dir, "drydock")
	if runtime.GOOS == "windows" {
		exe += ".exe"
	}
	build := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", exe, "./cmd/drydock")
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		return fmt.Errorf("go build ./cmd/drydock: %w", err)
	}
	data := filepath.Join(dir, "data")
	if err := writeItems(data); err != nil {
		return err
	}
	s, err := newServer()
	if err != nil {
		return err
	}
	defer s.listener.Close()
	b := &bench{out: bufio.NewWriter(os.Stdout), dir: dir, exe: exe, data: filepath.Join(data, "test.jsonl"), server: s, runs: runs}
	defer b.out.Flush()
	fmt.Fprintf(b.out, "%s/%s, %d CPUs, %s, load %s\n\n", runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.Version(), load())
	own, err := b.fixed()
	if err != nil {
		return err
	}
	if evalscope != "" {
		if err := b.against(evalscope, data, own); err != nil {
			return err
		}
	}
	return b.ideal()
}

// load is the load average where the system tells it.
func load() string {
	b, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	return strings.Fields(string(b))[0]
}

// writeItems makes as many items of MaritimeBench's shape as it has; prompts are
// as long as its are on average, every fourth item has three options.
func writeItems(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	var b strings.Builder
	for i := range items {
		d := `"丁项"`
		if i%4 == 0 {
			d = "null"
		}
		fmt.Fprintf(&b, `{"question": "第%d号：%s______。", "answer": "%c", "A": "甲项%d", "B": "乙项", "C": "丙项", "D": %s}`+"\n",
			i, strings.Repeat("船舶在航", 12), 'A'+i%3, i, d)
	}
	return os.WriteFile(filepath.Join(dir, "test.jsonl"), []byte(b.String()), 0o644)
}

var itemNumber = regexp.MustCompile(`第(\d+)号`)

// A server answers each item with its key after a time of its own.
type server struct {
	listener net.Listener
	nonce    string

	mu      sync.Mutex
	latency func(i int) time.Duration
	begun   []int // items in the order they were asked
	first   time.Time
	last    time.Time
}

func newServer() (*server, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &server{listener: l, nonce: strconv.FormatInt(time.Now().UnixNano(), 36)}
	go http.Serve(l, s)
	resp, err := http.Get("http://" + l.Addr().String() + "/nonce")
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if b, err := io.ReadAll(resp.Body); err != nil || string(b) != s.nonce {
		return nil, fmt.Errorf("another server answers at %s: %q, %v", l.Addr(), b, err)
	}
	return s, nil
}

func (s *server) url() string { return "http://" + s.listener.Addr().String() + "/v1" }

// begin forgets what was asked and sets how long answers take.
func (s *server) begin(latency func(i int) time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.latency, s.begun, s.first, s.last = latency, nil, time.Time{}, time.Time{}
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/nonce" {
		io.WriteString(w, s.nonce)
		return
	}
	if r.Method == http.MethodGet || !strings.HasSuffix(r.URL.Path, "/chat/completions") {
		http.NotFound(w, r)
		return
	}
	now := time.Now()
	body, err := io.ReadAll(r.Body)
	m := itemNumber.FindSubmatch(body)
	if err != nil || m == nil {
		http.Error(w, "no item", http.StatusBadRequest)
		return
	}
	i, _ := strconv.Atoi(string(m[1]))
	s.mu.Lock()
	latency := s.latency(i)
	if len(s.begun) == 1 { // drydock asks the first item by itself, to look at the answer
		s.first = now
	}
	s.begun = append(s.begun, i)
	s.mu.Unlock()
	time.Sleep(latency - time.Since(now))
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"id":"x","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"[%c]"},"finish_reason":"stop"}],"usage":{"prompt_tokens":100,"completion_tokens":3,"total_tokens":103}}`, 'A'+i%3)
	s.mu.Lock()
	s.last = time.Now()
	s.mu.Unlock()
}

type bench struct {
	out    *bufio.Writer
	dir    string
	exe    string
	data   string
	server *server
	runs   int
}

// A cost is what one run took.
type cost struct {
	wall, cpu time.Duration
	peak      int64 // bytes; 0: not known
}

// command runs a program and measures it.
func command(dir string, argv ...string) (cost, error) {
	c := exec.Command(argv[0], argv[1:]...)
	c.Dir = dir
	var stderr strings.Builder
	c.Stderr = &stderr
	start := time.Now()
	err := c.Run()
	took := cost{wall: time.Since(start)}
	if err != nil {
		return took, fmt.Errorf("%s: %w: %.2000s", filepath.Base(argv[0]), err, stderr.String())
	}
	took.cpu = c.ProcessState.UserTime() + c.ProcessState.SystemTime()
	took.peak = peak(c.ProcessState)
	return took, nil
}

// peak is the largest resident size of a process, where the system tells it:
// kilobytes, on macOS bytes.
func peak(s *os.ProcessState) int64 {
	v := reflect.Indirect(reflect.ValueOf(s.SysUsage()))
	if v.Kind() != reflect.Struct || !v.FieldByName("Maxrss").IsValid() {
		return 0
	}
	n := v.FieldByName("Maxrss").Int()
	if runtime.GOOS == "darwin" {
		return n
	}
	return n * 1024
}

// drydock evaluates everything once into a folder of its own.
func (b *bench) drydock(concurrency string) (cost, error) {
	work, err := os.MkdirTemp(b.dir, "work")
	if err != nil {
		return cost{}, err
	}
	c := exec.Command(b.exe, "eval", "--bench", b.data, "--model", "m", "--base-url", b.server.url(), "--work-dir", work, "--json", "--concurrency", concurrency)
	c.Dir, c.Env = work, append(os.Environ(), "DRYDOCK_HOME="+b.dir)
	start := time.Now()
	out, err := c.Output()
	took := cost{wall: time.Since(start)}
	if err != nil {
		return took, fmt.Errorf("drydock eval: %w: %.2000s", err, stderrOf(err))
	}
	took.cpu, took.peak = c.ProcessState.UserTime()+c.ProcessState.SystemTime(), peak(c.ProcessState)
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	var s struct{ N, Correct int }
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &s); err != nil || s.N != items || s.Correct != items {
		return took, fmt.Errorf("drydock counted %d of %d, %v", s.Correct, s.N, err)
	}
	return took, nil
}

func stderrOf(err error) string {
	if e, ok := err.(*exec.ExitError); ok {
		return string(e.Stderr)
	}
	return ""
}

func (b *bench) line(name string, c cost) {
	fmt.Fprintf(b.out, "%-44s %7.2f s wall %7.2f s CPU %6.0f MB peak\n", name, c.wall.Seconds(), c.cpu.Seconds(), float64(c.peak)/1e6)
	b.out.Flush()
}

// best keeps the fastest of several runs.
func (b *bench) best(once func() (cost, error)) (cost, error) {
	var all []cost
	for range b.runs {
		c, err := once()
		if err != nil {
			return c, err
		}
		all = append(all, c)
	}
	return slices.MinFunc(all, func(x, y cost) int { return cmp.Compare(x.wall, y.wall) }), nil
}

// fixed is the whole command: start, look at the server, requests, log synced to
// the disk, scores, files.
func (b *bench) fixed() (cost, error) {
	fmt.Fprintf(b.out, "%d items, 20 ms an answer, 64 at a time; the whole command\n", items)
	b.server.begin(func(int) time.Duration { return 20 * time.Millisecond })
	c, err := b.best(func() (cost, error) { return b.drydock("64") })
	if err != nil {
		return c, err
	}
	b.line("drydock eval", c)
	auto, err := b.best(func() (cost, error) { return b.drydock("auto") })
	if err != nil {
		return c, err
	}
	b.line("drydock eval --concurrency auto", auto)
	return c, nil
}

// against runs the real EvalScope on the same items.
func (b *bench) against(evalscope, data string, own cost) error {
	version, err := exec.Command(evalscope, "--version").Output()
	if err != nil {
		return fmt.Errorf("%s --version: %w", evalscope, err)
	}
	b.server.begin(func(int) time.Duration { return 20 * time.Millisecond })
	args, err := json.Marshal(map[string]any{"maritime_bench": map[string]string{"local_path": data}})
	if err != nil {
		return err
	}
	theirs, err := b.best(func() (cost, error) {
		work, err := os.MkdirTemp(b.dir, "evalscope")
		if err != nil {
			return cost{}, err
		}
		return command(work, evalscope, "eval", "--model", "m", "--api-url", b.server.url(), "--api-key", "EMPTY", "--eval-type", "openai_api",
			"--datasets", "maritime_bench", "--dataset-args", string(args), "--eval-batch-size", "64", "--work-dir", work, "--no-timestamp")
	})
	if err != nil {
		return err
	}
	b.line(strings.Join(strings.Fields(string(version)), " "), theirs)
	fmt.Fprintf(b.out, "%-44s %7.1f × wall %6.1f × CPU %6.1f × memory\n", "drydock needs less by",
		theirs.wall.Seconds()/own.wall.Seconds(), theirs.cpu.Seconds()/own.cpu.Seconds(), float64(theirs.peak)/float64(max(own.peak, 1)))
	return nil
}

// ideal compares the request phase with list scheduling: the same requests in
// the same order, each begun the moment a worker is free.
func (b *bench) ideal() error {
	fmt.Fprintf(b.out, "\nrequests of 50 to 300 ms; from the second request to the last answer, against the ideal\n")
	latency := func(i int) time.Duration {
		h := fnv.New32a()
		fmt.Fprintf(h, "item %d", i)
		return 50*time.Millisecond + time.Duration(h.Sum32()%250_000)*time.Microsecond
	}
	for _, workers := range []int{64, 256} {
		over := []float64{}
		var want, best time.Duration
		for range b.runs {
			b.server.begin(latency)
			if _, err := b.drydock(strconv.Itoa(workers)); err != nil {
				return err
			}
			s := b.server
			want = schedule(s.begun[1:], workers, latency)
			got := s.last.Sub(s.first)
			if best == 0 || got < best {
				best = got
			}
			over = append(over, 100*(got.Seconds()/want.Seconds()-1))
		}
		fmt.Fprintf(b.out, "%3d at a time: %6.3f s, ideal %6.3f s, over it by %.1f %% (all runs: %.1f)\n",
			workers, best.Seconds(), want.Seconds(), slices.Min(over), over)
		b.out.Flush()
	}
	return nil
}

// schedule is how long workers need for jobs taken in their order.
func schedule(jobs []int, workers int, latency func(int) time.Duration) time.Duration {
	free := make([]time.Duration, workers)
	for _, j := range jobs {
		k := 0
		for i := range free {
			if free[i] < free[k] {
				k = i
			}
		}
		free[k] += latency(j)
	}
	return slices.Max(free)
}
