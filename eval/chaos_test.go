package eval_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"flag"
	"fmt"
	"hash/fnv"
	"io"
	"maps"
	mathrand "math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/drydock-ml/drydock/eval"
	"github.com/drydock-ml/drydock/eval/benchmark"
	"github.com/drydock-ml/drydock/eval/evalscope"
	"github.com/drydock-ml/drydock/internal/llm"
)

var (
	// kills is how many processes the kill test ends.
	kills = flag.Int("kills", 20, "how many times the evaluation is killed")
	// chaosURL and chaosDir make the test binary the process that is killed.
	chaosURL = flag.String("chaos-url", "", "ask this server")
	chaosDir = flag.String("chaos-dir", "", "run an evaluation in this folder until killed")
)

// misdeeds are what a server can do in the place of an answer. Each is given the
// answer it withholds.
var misdeeds = map[string]func(w http.ResponseWriter, r *http.Request, good string){
	"reset": func(w http.ResponseWriter, _ *http.Request, _ string) {
		c, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			return
		}
		_ = c.(*net.TCPConn).SetLinger(0)
		c.Close()
	},
	"429": func(w http.ResponseWriter, _ *http.Request, _ string) {
		w.Header().Set("Retry-After", "1")
		http.Error(w, `{"error":{"message":"too many [A]"}}`, http.StatusTooManyRequests)
	},
	"429 until a date": func(w http.ResponseWriter, _ *http.Request, _ string) {
		w.Header().Set("Retry-After", time.Now().Add(time.Second).UTC().Format(http.TimeFormat))
		w.WriteHeader(http.StatusTooManyRequests)
	},
	"408": func(w http.ResponseWriter, _ *http.Request, _ string) { w.WriteHeader(http.StatusRequestTimeout) },
	"425": func(w http.ResponseWriter, _ *http.Request, _ string) { w.WriteHeader(http.StatusTooEarly) },
	"500": func(w http.ResponseWriter, _ *http.Request, _ string) {
		http.Error(w, `{"error":{"message":"EngineCore encountered an issue","code":500}}`, 500)
	},
	"502, a page": func(w http.ResponseWriter, _ *http.Request, _ string) {
		w.Header().Set("Content-Type", "text/html")
		w.WriteHeader(http.StatusBadGateway)
		io.WriteString(w, "<html><h1>502 [B]</h1></html>")
	},
	"503": func(w http.ResponseWriter, _ *http.Request, _ string) { w.WriteHeader(503) },
	"200, a page": func(w http.ResponseWriter, _ *http.Request, _ string) {
		w.Header().Set("Content-Type", "text/html")
		io.WriteString(w, "<html><h1>[B]</h1></html>")
	},
	"200, nothing": func(http.ResponseWriter, *http.Request, string) {},
	"200, an error": func(w http.ResponseWriter, _ *http.Request, _ string) {
		io.WriteString(w, `{"error":{"message":"overloaded [C]","code":503}}`)
	},
	"half JSON": func(w http.ResponseWriter, _ *http.Request, good string) { io.WriteString(w, good[:len(good)/2]) },
	"half a body": func(w http.ResponseWriter, _ *http.Request, good string) {
		w.Header().Set("Content-Length", fmt.Sprint(len(good)))
		io.WriteString(w, good[:len(good)/3])
	},
	"hang": func(_ http.ResponseWriter, r *http.Request, _ string) { <-r.Context().Done() },
	"a hanging body": func(w http.ResponseWriter, r *http.Request, good string) {
		io.WriteString(w, good[:len(good)/2])
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	},
	"a stream cut off": func(w http.ResponseWriter, _ *http.Request, _ string) {
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"[A\"}}]}\n\ndata: {\"cho")
	},
	"a stream with an error": func(w http.ResponseWriter, _ *http.Request, _ string) {
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"[A]\"}}]}\n\nevent: error\ndata: {\"error\":{\"message\":\"gone\"}}\n\n")
	},
}

// A chaotic server answers every item in the end, after up to two misdeeds.
type chaotic struct {
	calm    bool
	huge    bool // one reply has 10 MB
	nonce   string
	latency atomic.Int64 // nanoseconds; set while a killed run's requests are still answered
	mu      sync.Mutex
	tries   map[int]int
	did     map[string]int
	calls   atomic.Int64
}

func newChaotic(t testing.TB, calm bool) (*chaotic, string) {
	t.Helper()
	c := &chaotic{calm: calm, nonce: rand.Text(), tries: map[int]int{}, did: map[string]int{}}
	s := httptest.NewServer(c)
	t.Cleanup(s.Close)
	resp, err := http.Get(s.URL + "/nonce")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if b, _ := io.ReadAll(resp.Body); string(b) != c.nonce {
		t.Fatalf("another server answers on this port: %q", b)
	}
	return c, s.URL
}

// reply is what an item is answered in the end; one may be huge.
func (c *chaotic) reply(i int) string {
	text := gold(i % 7)
	if i == 5 && c.huge {
		text += strings.Repeat("海", 10<<20/3)
	}
	return text
}

func (c *chaotic) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	switch r.URL.Path {
	case "/nonce":
		io.WriteString(w, c.nonce)
		return
	case "/v1/models":
		io.WriteString(w, `{"data":[{"id":"m/qwen3"}]}`)
		return
	case "/v1/chat/completions":
	default:
		http.NotFound(w, r)
		return
	}
	c.calls.Add(1)
	time.Sleep(time.Duration(c.latency.Load()))
	i := indexOf(string(body))
	good, _ := json.Marshal(map[string]any{
		"model": "m/qwen3", "choices": []any{map[string]any{"index": 0, "finish_reason": "stop", "message": map[string]any{"role": "assistant", "content": c.reply(i)}}},
	})
	if strings.Contains(string(body), `"stream":true`) {
		good = stream(c.reply(i))
		w.Header().Set("Content-Type", "text/event-stream")
	} else if i%3 == 0 {
		w.Header().Set("Content-Type", "text/plain")
	}
	if name := c.misdeed(i); name != "" {
		w.Header().Del("Content-Type")
		misdeeds[name](w, r, string(good))
		return
	}
	if i%11 == 3 { // slowly
		for _, part := range slices.Collect(slices.Chunk(good, 1+len(good)/4)) {
			_, _ = w.Write(part)
			_ = http.NewResponseController(w).Flush()
			time.Sleep(time.Millisecond)
		}
		return
	}
	_, _ = w.Write(good)
}

// misdeed decides by item and attempt, so that a run can be played again.
func (c *chaotic) misdeed(i int) string {
	if c.calm {
		return ""
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	n := c.tries[i]
	c.tries[i]++
	names := slices.Sorted(maps.Keys(misdeeds))
	h := fnv.New32a()
	fmt.Fprintf(h, "%d.%d", i, n)
	k := int(h.Sum32())
	if n >= 2 || k%3 == 0 {
		return ""
	}
	name := names[k/3%len(names)]
	if strings.Contains(name, "hang") && c.did[name] >= 3 {
		name = "reset" // waiting for time limits is not what is tested
	}
	c.did[name]++
	return name
}

// stream writes a reply as events, one a rune for short ones.
func stream(text string) []byte {
	var b strings.Builder
	chunk := func(delta string, finish any) {
		j, _ := json.Marshal(map[string]any{"model": "m/qwen3", "choices": []any{map[string]any{"index": 0, "delta": map[string]any{"content": delta}, "finish_reason": finish}}})
		fmt.Fprintf(&b, "data: %s\n\n", j)
	}
	for _, r := range text[:3] {
		chunk(string(r), nil)
	}
	chunk(text[3:], "stop")
	b.WriteString("data: [DONE]\n\n")
	return []byte(b.String())
}

func chaosJob(t testing.TB, items []benchmark.Item, url, dir string, streamed bool, timeout time.Duration) eval.Job {
	t.Helper()
	tr := llm.Transport(16)
	t.Cleanup(tr.CloseIdleConnections)
	c, err := llm.New(llm.Options{
		BaseURL: url + "/v1", HTTP: &http.Client{Transport: tr}, Clock: time.Now, Timeout: timeout,
		Sleep: func(ctx context.Context, d time.Duration) error {
			time.Sleep(min(d, 5*time.Millisecond))
			return ctx.Err()
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	zero := 0.0
	return eval.Job{
		Benchmark: choice(t), Items: items, Model: "m/qwen3", WorkDir: dir, Concurrency: 16, Clock: time.Now,
		Endpoint: eval.NewHTTP(c, "m/qwen3", eval.Sampling{Temperature: &zero, Stream: streamed}),
	}
}

// outputs are the files a run is for; the configuration names the port, and each
// look at the server is kept.
func outputs(t testing.TB, dir string) map[string]string {
	t.Helper()
	files := tree(t, dir)
	maps.DeleteFunc(files, func(name, _ string) bool {
		return strings.HasPrefix(name, "configs/") || strings.HasSuffix(name, ".preflight.jsonl")
	})
	return files
}

// Whatever the server does on the way, the files end up as if it had done
// nothing.
func TestChaos(t *testing.T) {
	t.Parallel()
	items := ownItems(t, 240)
	for name, c := range map[string]struct{ streamed, hedge bool }{"plain": {}, "streamed": {streamed: true}, "hedged": {hedge: true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			quiet, calm := newChaotic(t, true)
			quiet.huge = true
			dir := t.TempDir()
			start := time.Now()
			if s, err := eval.Run(t.Context(), chaosJob(t, items, calm, dir, c.streamed, 0)); err != nil || s.Err() != nil {
				t.Fatal(err, s.Err())
			}
			// no answer takes as long as all of them did: what does, hangs
			timeout := max(2*time.Second, time.Since(start))
			want := outputs(t, dir)
			server, url := newChaotic(t, false)
			server.huge = true
			dir = t.TempDir()
			j := chaosJob(t, items, url, dir, c.streamed, timeout)
			j.Hedge = c.hedge
			told := map[string]int{}
			j.Warn = func(n eval.Note) { told[n.Code]++ }
			s, err := eval.Run(t.Context(), j)
			if err != nil || s.Err() != nil {
				t.Fatal(err, s.Err(), s.Failures)
			}
			if d := cmp.Diff(want, outputs(t, dir)); d != "" {
				t.Errorf("the files differ:\n%.2000s", d)
			}
			if len(server.did) != len(misdeeds) {
				t.Errorf("only %d of %d misdeeds were done: %v", len(server.did), len(misdeeds), server.did)
			}
			if s.Traffic == nil || s.Traffic.Requests < int(server.calls.Load()) || s.Traffic.Retries == 0 || told["retry"] == 0 {
				t.Errorf("traffic %+v, %d calls, told %v", s.Traffic, server.calls.Load(), told)
			}
		})
	}
}

// killTimeout is how long a hanging answer is waited for.
const killTimeout = 5 * time.Second

// TestChaosChild is the process that TestKilledAtRandom kills.
func TestChaosChild(t *testing.T) {
	if *chaosDir == "" {
		t.Skip("only as the process that is killed")
	}
	s, err := eval.Run(t.Context(), chaosJob(t, ownItems(t, killItems), *chaosURL, *chaosDir, false, killTimeout))
	if err != nil || s.Err() != nil {
		t.Fatal(err, s.Err())
	}
}

// Killed at random moments, over and over, while the server does its worst, the
// evaluation ends with the files of an undisturbed run: no row lost, none twice.
func TestKilledAtRandom(t *testing.T) {
	t.Parallel()
	items := ownItems(t, killItems)
	_, calm := newChaotic(t, true)
	dir := t.TempDir()
	if _, err := eval.Run(t.Context(), chaosJob(t, items, calm, dir, false, 0)); err != nil {
		t.Fatal(err)
	}
	want := outputs(t, dir)
	server, url := newChaotic(t, false)
	server.latency.Store(int64(4 * time.Millisecond))
	draw := mathrand.New(mathrand.NewPCG(1, 2))
	dir = t.TempDir()
	rows := 0
	for killed := 0; killed < *kills; {
		var out strings.Builder
		cmd := exec.Command(os.Args[0], "-test.run=^TestChaosChild$", "-chaos-url="+url, "-chaos-dir="+dir)
		cmd.Stdout, cmd.Stderr = &out, &out
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		timer := time.AfterFunc(time.Duration(draw.Int64N(int64(350*time.Millisecond))), func() { _ = cmd.Process.Kill() })
		err := cmd.Wait()
		timer.Stop()
		n, twice := logRows(t, dir)
		if n < rows || twice {
			t.Fatalf("after %d kills the log holds %d rows, it held %d; twice: %v", killed, n, rows, twice)
		}
		rows = n
		switch {
		case err == nil:
			if d := cmp.Diff(want, outputs(t, dir)); d != "" {
				t.Fatalf("after %d kills the files differ:\n%.2000s", killed, d)
			}
			dir, rows = t.TempDir(), 0
		case strings.Contains(out.String(), "FAIL"):
			t.Fatalf("the evaluation failed by itself after %d kills: %s", killed, out.String())
		default:
			killed++
		}
	}
	if s, err := eval.Run(t.Context(), chaosJob(t, items, url, dir, false, killTimeout)); err != nil || s.Reused != rows {
		t.Fatalf("%d of %d rows taken over, %v", s.Reused, rows, err)
	}
	if d := cmp.Diff(want, outputs(t, dir)); d != "" {
		t.Errorf("the files differ:\n%.2000s", d)
	}
}

// logRows counts the whole rows of a log, and tells whether an item has two.
func logRows(t *testing.T, dir string) (n int, twice bool) {
	t.Helper()
	b, err := os.ReadFile(logPath(dir))
	if err != nil {
		return 0, false
	}
	_, rows, problems := evalscope.Read(b)
	for _, p := range problems {
		switch p.Code {
		case evalscope.CodeTorn, evalscope.CodeNoNewline:
		case evalscope.CodeDuplicate:
			twice = true
		default:
			t.Errorf("log: %v", p)
		}
	}
	return len(rows), twice
}
