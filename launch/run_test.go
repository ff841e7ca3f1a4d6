package launch_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/launch"
)

// TestMain lets the test binary play the trainer: with the arguments
// "play MODE …" it acts a part instead of running tests.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "play" {
		os.Exit(play(os.Args[2], os.Args[3:]))
	}
	os.Exit(m.Run())
}

func play(mode string, args []string) int {
	switch mode {
	case "train":
		fmt.Println("starting with", os.Getenv("HUB_TOKEN"), "in", filepath.Base(first(os.Getwd())))
		fmt.Print(" 50%|##   | 1/2 [00:01<00:01]\r\r100%|####| 2/2 [00:02<00:00]\r\n")
		fmt.Fprintln(os.Stderr, "{'loss': 0.5, 'learning_rate': 1e-05, 'epoch': 1.0}")
		if err := os.MkdirAll("output", 0o755); err != nil {
			return 9
		}
		if err := os.WriteFile("output/log.jsonl", []byte("{\"current_steps\": 2, \"total_steps\": 2, \"loss\": 0.25}\n{\"torn"), 0o644); err != nil {
			return 9
		}
		fmt.Print("no line end, drydock sees ", os.Getenv("DRYDOCK_API_KEY"), ";")
	case "env":
		for _, v := range os.Environ() {
			fmt.Println(v)
		}
	case "fail":
		for i := range 50 {
			fmt.Println("line", i)
		}
		fmt.Println("torch.OutOfMemoryError: CUDA out of memory.")
		return 3
	case "silent":
		return 1
	case "sleep":
		fmt.Println("pid", os.Getpid())
		time.Sleep(time.Minute)
	default:
		if code, played := playFault(mode); played {
			return code
		}
		return playMore(mode, args)
	}
	return 0
}

func first(s string, _ error) string { return s }

// planOf makes a plan that runs the test binary in a part.
func planOf(t testing.TB, mode string, args ...string) launch.Plan {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return launch.Plan{Trainer: "command", Dir: "run", Argv: append([]string{self, "play", mode}, args...)}
}

// recorder keeps the lines of a run.
type recorder struct {
	mu    sync.Mutex
	lines []launch.Line
	when  func(launch.Line)
}

func (r *recorder) take(l launch.Line) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lines = append(r.lines, l)
	if r.when != nil {
		r.when(l)
	}
}

func run(t testing.TB, ctx context.Context, p launch.Plan, o launch.Options) (launch.Result, *recorder, error) {
	t.Helper()
	r := &recorder{}
	if o.OnLine == nil {
		o.OnLine = r.take
	}
	if o.Root == "" {
		o.Root = t.TempDir()
	}
	tr, _ := build("command", "argv: [a]")
	res, err := launch.Run(ctx, tr, p, o)
	return res, r, err
}

func TestRun(t *testing.T) {
	t.Parallel()
	p := planOf(t, "train")
	p.Files = []launch.File{{Name: "conf/a.yaml", Content: "a: 1\n"}}
	p.Follow = []string{"output/log.jsonl"}
	root := t.TempDir()
	var log bytes.Buffer
	res, rec, err := run(t, t.Context(), p, launch.Options{
		Root: root, Log: &log,
		Environ: []string{"HUB_TOKEN=hush-hush", "DRYDOCK_API_KEY=never-shown", "SYSTEMROOT=" + os.Getenv("SYSTEMROOT")},
	})
	if err != nil {
		t.Fatal(err)
	}
	wantLog := "starting with [redacted] in run\n100%|####| 2/2 [00:02<00:00]\n{'loss': 0.5, 'learning_rate': 1e-05, 'epoch': 1.0}\nno line end, drydock sees ;\n"
	if log.String() != wantLog {
		t.Errorf("log:\n%q, want\n%q", log.String(), wantLog)
	}
	if b, err := os.ReadFile(filepath.Join(root, "run", "conf", "a.yaml")); err != nil || string(b) != "a: 1\n" {
		t.Errorf("the plan's file: %q, %v", b, err)
	}
	if res.ExitCode != 0 || res.Event.Step != 2 || *res.Event.Loss != 0.25 && *res.Event.Loss != 0.5 || *res.Event.LR != 1e-5 {
		t.Errorf("result %+v", res)
	}
	bars, followed := 0, 0
	for _, l := range rec.lines {
		if l.Bar {
			bars++
		}
		if l.From == "output/log.jsonl" {
			followed++
		}
		if strings.Contains(l.Text, "hush") {
			t.Errorf("a secret came through: %q", l.Text)
		}
	}
	if bars != 1 || followed != 1 {
		t.Errorf("%d bars, %d followed lines in %+v", bars, followed, rec.lines)
	}
}

func TestRunEnvironment(t *testing.T) {
	t.Parallel()
	p := planOf(t, "env")
	p.Set = []string{"A=2"}
	_, rec, err := run(t, t.Context(), p, launch.Options{Environ: []string{"A=1", "DRYDOCK_LANG=zh", "SYSTEMROOT=" + os.Getenv("SYSTEMROOT")}})
	if err != nil {
		t.Fatal(err)
	}
	has := func(s string) bool {
		return slices.ContainsFunc(rec.lines, func(l launch.Line) bool { return strings.HasPrefix(l.Text, s) })
	}
	if !has("A=2") || has("A=1") || has("DRYDOCK_LANG") || !has("DRYDOCK_RUN=") {
		t.Errorf("environment %+v", rec.lines)
	}
}

func TestRunFails(t *testing.T) {
	t.Parallel()
	res, _, err := run(t, t.Context(), planOf(t, "fail"), launch.Options{})
	if fail.Code(err) != 21 || res.ExitCode != 3 || len(res.Last) != 20 {
		t.Fatalf("%v, %+v", err, res)
	}
	e := fail.All(err)[0]
	for _, want := range []string{"exit code 3", "line 49", "CUDA out of memory"} {
		if !strings.Contains(e.Error(), want) {
			t.Errorf("%q is not in %s", want, e)
		}
	}
	if zh := e.In(msg.Zh); !strings.Contains(zh, "退出码 3") {
		t.Errorf("%s", zh)
	}
	if strings.Contains(e.Error(), "line 30\n") || !strings.Contains(e.Error(), "memory is full") || res.Cause.ID != "gpu_memory" {
		t.Errorf("%s, hints %q", e, e.Hints(msg.En))
	}
	_, _, err = run(t, t.Context(), planOf(t, "silent"), launch.Options{})
	if fail.Code(err) != 21 || !strings.Contains(err.Error(), "without a word") {
		t.Errorf("%v", err)
	}
}

func TestRunDoesNotStart(t *testing.T) {
	t.Parallel()
	_, _, err := run(t, t.Context(), launch.Plan{Dir: "run", Argv: []string{"no-such-program-here"}}, launch.Options{})
	if fail.Code(err) != 21 || !strings.Contains(err.Error(), "no-such-program-here is not found") {
		t.Errorf("%v", err)
	}
	dir := t.TempDir()
	_, _, err = run(t, t.Context(), launch.Plan{Dir: "run", Argv: []string{dir}}, launch.Options{})
	if fail.Code(err) != 21 || strings.Contains(err.Error(), "nil") {
		t.Errorf("%v", err)
	}
}

func TestRunIsGated(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	p := planOf(t, "train")
	p.Files = []launch.File{{Name: "a", Content: "b"}}
	no := fail.New(fail.Refused, msg.Text{"no report covers these bytes", "没有覆盖这些数据的报告"})
	_, _, err := run(t, t.Context(), p, launch.Options{Root: root, Gate: func(context.Context) error { return no }})
	if !errors.Is(err, no) {
		t.Errorf("%v", err)
	}
	if entries, _ := os.ReadDir(root); len(entries) != 0 {
		t.Errorf("files were written: %v", entries)
	}
}

func TestRunCancelledBeforeTheStart(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, rec, err := run(t, ctx, planOf(t, "train"), launch.Options{})
	if fail.Code(err) != 130 || len(rec.lines) != 0 {
		t.Errorf("%v, %v", err, rec.lines)
	}
}

func TestRunCancelled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	began := time.Now()
	_, _, err := run(t, ctx, planOf(t, "sleep"), launch.Options{
		Grace:  5 * time.Second,
		OnLine: func(launch.Line) { cancel() },
	})
	if fail.Code(err) != 130 || time.Since(began) > 20*time.Second {
		t.Errorf("%v after %v", err, time.Since(began))
	}
}
