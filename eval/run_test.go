package eval_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/drydock-ml/drydock/eval"
	"github.com/drydock-ml/drydock/eval/benchmark"
	"github.com/drydock-ml/drydock/eval/evalscope"
	"github.com/drydock-ml/drydock/internal/fail"
)

// ownItems makes n items of our own; every third has three options.
func ownItems(t testing.TB, n int) []benchmark.Item {
	t.Helper()
	var b strings.Builder
	for i := range n {
		d := `"丁"`
		if i%3 == 0 {
			d = "null"
		}
		fmt.Fprintf(&b, `{"question":"自编题%d：______。","answer":"%c","A":"甲%d","B":"乙","C":"丙","D":%s}`+"\n", i, 'A'+i%3, i, d)
	}
	items, err := benchmark.ReadItems("own.jsonl", []byte(b.String()))
	if err != nil {
		t.Fatal(err)
	}
	return items
}

var number = regexp.MustCompile(`自编题(\d+)：`)

// indexOf finds which of ownItems a prompt asks.
func indexOf(prompt string) int {
	n := 0
	_, _ = fmt.Sscan(number.FindStringSubmatch(prompt)[1], &n)
	return n
}

func gold(i int) string { return fmt.Sprintf("[%c]", 'A'+i%3) }

func job(t testing.TB, items []benchmark.Item, dir string, reply func(ctx context.Context, i int) (eval.Answer, error)) eval.Job {
	return eval.Job{
		Benchmark: choice(t), Items: items, Model: "m/qwen3", WorkDir: dir, Concurrency: 4,
		Endpoint: fake{func(ctx context.Context, p string) (eval.Answer, error) { return reply(ctx, indexOf(p)) }},
	}
}

func read(t testing.TB, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func logPath(dir string) string {
	return filepath.Join(dir, ".drydock", "eval", "qwen3", "maritime_bench.jsonl")
}

// tree reads all files of a folder but the lock.
func tree(t testing.TB, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasPrefix(d.Name(), "lock") {
			return err
		}
		rel, err := filepath.Rel(dir, p)
		if rel != filepath.Join(".drydock", "eval", "qwen3", "maritime_bench.jsonl") { // rows as they finished
			out[filepath.ToSlash(rel)] = read(t, p)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestFilesAndSummary(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	items := ownItems(t, 8)
	replies := []string{"[A]", "[A] 错，[B]", "", "[D]", "【B】", "[C]", "[A]", "[B]"}
	s, err := eval.Run(t.Context(), job(t, items, dir, func(_ context.Context, i int) (eval.Answer, error) {
		a := says(replies[i])
		a.Usage = &benchmark.Usage{Input: 5, Output: i, Total: 5 + i}
		return a, nil
	}))
	if err != nil || s.Err() != nil {
		t.Fatal(err, s.Err())
	}
	if s.N != 8 || s.Asked != 8 || s.Rows != 8 || s.Correct != 4 || s.Accuracy != 0.5 {
		t.Errorf("counts %+v", s)
	}
	for name, d := range map[string]string{
		"no extraction": cmp.Diff([]int{2, 4}, s.NoExtractionIndexes),
		"other rule":    cmp.Diff([]int{1}, s.OtherDiffersIndexes),
		"outside":       cmp.Diff([]int{3}, s.OutsideIndexes),
		"letters":       cmp.Diff(map[string]int{"A": 3, "B": 1, "C": 1, "D": 1, "": 2}, s.Letters),
	} {
		if d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
	}
	if s.Benchmark != "maritime_bench@evalscope-1.4.2" || s.OtherCorrect != 5 || s.Baseline {
		t.Errorf("summary %+v", s)
	}
	for _, p := range []string{"predictions/qwen3/maritime_bench_default.jsonl", "reviews/qwen3/maritime_bench_default.jsonl", "reports/qwen3/maritime_bench.json"} {
		if _, err := os.Stat(filepath.Join(dir, filepath.FromSlash(p))); err != nil {
			t.Error(err)
		}
	}
	lines := strings.Split(strings.TrimSpace(read(t, s.Files.Reviews)), "\n")
	if len(lines) != 8 || !strings.HasPrefix(lines[7], `{"index": 7, "input": "**User**: \n请回答单选题`) {
		t.Errorf("reviews: %d lines, the last %s", len(lines), lines[len(lines)-1])
	}
}

// The same replies give the same bytes at any concurrency.
func TestDeterministic(t *testing.T) {
	t.Parallel()
	items := ownItems(t, 60)
	var want map[string]string
	for _, n := range []int{1, 8, 0} {
		dir := t.TempDir()
		j := job(t, items, dir, func(_ context.Context, i int) (eval.Answer, error) { return says(gold(i % 7)), nil })
		// what the user typed stands in the config
		j.Concurrency = n
		if _, err := eval.Run(t.Context(), j); err != nil {
			t.Fatal(err)
		}
		got := tree(t, dir)
		for name := range got {
			if strings.HasPrefix(name, "configs/") {
				delete(got, name)
			}
		}
		if want == nil {
			want = got
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("concurrency %d:\n%s", n, d)
		}
	}
}

// Cancelled at any moment, then run again: the same files as an undisturbed run,
// and no answer is asked for twice.
func TestCancelAndResume(t *testing.T) {
	t.Parallel()
	items := ownItems(t, 50)
	answer := func(i int) eval.Answer { return says(gold(i % 5)) }
	straight := t.TempDir()
	if _, err := eval.Run(t.Context(), job(t, items, straight, func(_ context.Context, i int) (eval.Answer, error) { return answer(i), nil })); err != nil {
		t.Fatal(err)
	}
	want := tree(t, straight)
	for stop := 1; stop < 50; stop += 7 {
		dir := t.TempDir()
		ctx, cancel := context.WithCancel(t.Context())
		var mu sync.Mutex
		got := map[int]int{}
		var calls atomic.Int64
		j := job(t, items, dir, func(ctx context.Context, i int) (eval.Answer, error) {
			if calls.Add(1) > int64(stop) {
				cancel()
				return eval.Answer{}, context.Cause(ctx)
			}
			mu.Lock()
			got[i]++
			mu.Unlock()
			return answer(i), nil
		})
		_, err := eval.Run(ctx, j)
		cancel()
		if fail.Code(err) != 130 || !strings.Contains(err.Error(), fmt.Sprintf("%d of 50 answers are saved", stop)) {
			t.Fatalf("stop %d: %v", stop, err)
		}
		calls.Store(-1000)
		s, err := eval.Run(t.Context(), j)
		if err != nil || s.Reused != stop {
			t.Fatalf("stop %d: reused %d, %v", stop, s.Reused, err)
		}
		for i, n := range got {
			if n != 1 {
				t.Errorf("stop %d: item %d answered %d times", stop, i, n)
			}
		}
		if d := cmp.Diff(want, tree(t, dir)); d != "" {
			t.Errorf("stop %d:\n%s", stop, d)
		}
	}
}

// Whatever was torn off the log's end, and whatever bytes a crash left there,
// the run goes on with the whole rows and ends with the same files.
func TestTornLog(t *testing.T) {
	t.Parallel()
	items := ownItems(t, 12)
	base := t.TempDir()
	ask := func(_ context.Context, i int) (eval.Answer, error) { return says(gold(i)), nil }
	if _, err := eval.Run(t.Context(), job(t, items, base, ask)); err != nil {
		t.Fatal(err)
	}
	want := tree(t, base)
	whole := read(t, logPath(base))
	tails := []string{"", "\x00\x00\x00", "{\"index\": 3", "garbage\n", "\n\n"}
	for k := range 30 {
		cut, tail := len(whole)*k/29, tails[k%len(tails)]
		if err := os.WriteFile(logPath(base), []byte(whole[:cut]+tail), 0o644); err != nil {
			t.Fatal(err)
		}
		var asked atomic.Int64
		s, err := eval.Run(t.Context(), job(t, items, base, func(ctx context.Context, i int) (eval.Answer, error) {
			asked.Add(1)
			return ask(ctx, i)
		}))
		if err != nil {
			t.Fatal(err)
		}
		if rows := strings.Count(whole[:cut], "\n"); s.Reused < rows-1 || int(asked.Load())+s.Reused != 12 {
			t.Errorf("cut %d: %d whole rows, %d reused, %d asked", cut, rows, s.Reused, asked.Load())
		}
		if d := cmp.Diff(want, tree(t, base)); d != "" {
			t.Errorf("cut %d, tail %q:\n%s", cut, tail, d)
		}
		if n, twice := logRows(t, base); n != 12 || twice || !strings.HasSuffix(read(t, logPath(base)), "\n") {
			t.Errorf("cut %d, tail %q: log has %d rows, twice %v", cut, tail, n, twice)
		}
	}
}

// A run under other conditions does not mix with the answers there.
func TestOtherConditions(t *testing.T) {
	t.Parallel()
	items := ownItems(t, 6)
	ask := func(_ context.Context, i int) (eval.Answer, error) { return says(gold(i)), nil }
	changed := ownItems(t, 6)
	changed[3].Question.Stem = "自编题3：改过。"
	for name, c := range map[string]struct {
		change func(*eval.Job)
		says   string // empty: goes on
	}{
		"the same":           {func(*eval.Job) {}, ""},
		"a limit":            {func(j *eval.Job) { j.Limit = 3 }, ""},
		"more at a time":     {func(j *eval.Job) { j.Concurrency = 9 }, ""},
		"another item":       {func(j *eval.Job) { j.Items = changed }, "items was sha256:"},
		"a system prompt":    {func(j *eval.Job) { j.SystemPrompt = "你是船长。" }, "prompts was sha256:"},
		"a model of one id":  {func(j *eval.Job) { j.Model = "other/qwen3" }, "model was m/qwen3, is other/qwen3"},
		"a baseline":         {func(j *eval.Job) { j.Endpoint = eval.NewMajority(&eval.Training{SHA256: "00"}) }, "endpoint was http, is builtin"},
		"fresh, other model": {func(j *eval.Job) { j.Model = "other/qwen3"; j.Fresh = true }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if _, err := eval.Run(t.Context(), job(t, items, dir, ask)); err != nil {
				t.Fatal(err)
			}
			j := job(t, items, dir, ask)
			c.change(&j)
			_, err := eval.Run(t.Context(), j)
			switch {
			case c.says == "" && err != nil:
				t.Error(err)
			case c.says != "" && (fail.Code(err) != 1 || !strings.Contains(err.Error(), c.says)):
				t.Errorf("error %v does not say %q", err, c.says)
			}
		})
	}
}

// A baseline whose training file changed answers anew without being told.
func TestBaselineBeginsAgain(t *testing.T) {
	t.Parallel()
	items := ownItems(t, 4)
	dir := t.TempDir()
	for i, letter := range []string{"A", "B", "B"} {
		s, err := eval.Run(t.Context(), eval.Job{
			Benchmark: choice(t), Items: items, Model: eval.MajorityModel, WorkDir: dir,
			Endpoint: eval.NewMajority(&eval.Training{SHA256: letter, Examples: []eval.Example{{Letter: letter}}}),
		})
		if err != nil || s.Letters[letter] != 4 || !s.Baseline || (s.Reused == 4) != (i == 2) {
			t.Errorf("%s: letters %v, reused %d, %v", letter, s.Letters, s.Reused, err)
		}
		if !strings.Contains(s.Files.Reviews, "/builtin_majority/") {
			t.Errorf("reviews at %s", s.Files.Reviews)
		}
	}
}

// A limit narrows the files, never the answers.
func TestLimitKeepsAnswers(t *testing.T) {
	t.Parallel()
	items := ownItems(t, 9)
	dir := t.TempDir()
	var calls atomic.Int64
	j := job(t, items, dir, func(_ context.Context, i int) (eval.Answer, error) {
		calls.Add(1)
		return says(gold(i)), nil
	})
	for _, c := range []struct{ limit, n, calls int }{{0, 9, 9}, {4, 4, 9}, {100, 9, 9}} {
		j.Limit = c.limit
		s, err := eval.Run(t.Context(), j)
		if err != nil || s.N != c.n || int(calls.Load()) != c.calls || strings.Count(read(t, s.Files.Reviews), "\n") != c.n {
			t.Errorf("limit %d: n %d, %d calls, %v", c.limit, s.N, calls.Load(), err)
		}
	}
	j.Limit = -1
	if _, err := eval.Run(t.Context(), j); fail.Code(err) != 2 {
		t.Errorf("limit -1: %v", err)
	}
}

// Files that another program wrote are not overwritten.
func TestForeignFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := evalscope.Layout{Dir: dir, Model: "m/qwen3", Bench: "maritime_bench"}.Predictions()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("{}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	_, err := eval.Run(t.Context(), job(t, ownItems(t, 3), dir, func(_ context.Context, i int) (eval.Answer, error) { return says(gold(i)), nil }))
	if err == nil || read(t, path) != "{}\n" {
		t.Errorf("error %v", err)
	}
}

func TestTwoRunsOnOneFolder(t *testing.T) {
	t.Parallel()
	items := ownItems(t, 3)
	dir := t.TempDir()
	var second error
	var once sync.Once
	_, err := eval.Run(t.Context(), job(t, items, dir, func(_ context.Context, i int) (eval.Answer, error) {
		once.Do(func() {
			_, second = eval.Run(t.Context(), job(t, items, dir, func(context.Context, int) (eval.Answer, error) { return says("x"), nil }))
		})
		return says(gold(i)), nil
	}))
	if err != nil || second == nil {
		t.Errorf("first %v, second %v", err, second)
	}
}

func TestUsageErrors(t *testing.T) {
	t.Parallel()
	items := ownItems(t, 2)
	ask := func(_ context.Context, i int) (eval.Answer, error) { return says(gold(i)), nil }
	for name, change := range map[string]func(*eval.Job){
		"no items":  func(j *eval.Job) { j.Items = nil },
		"no model":  func(j *eval.Job) { j.Model = "" },
		"no folder": func(j *eval.Job) { j.WorkDir = "" },
	} {
		j := job(t, items, t.TempDir(), ask)
		change(&j)
		if _, err := eval.Run(t.Context(), j); fail.Code(err) != 2 {
			t.Errorf("%s: %v", name, err)
		}
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := eval.Run(t.Context(), job(t, items, file, ask)); err == nil {
		t.Error("a file as work folder: no error")
	}
	boom := job(t, items, t.TempDir(), func(context.Context, int) (eval.Answer, error) { panic("boom") })
	if _, err := eval.Run(t.Context(), boom); fail.Code(err) != 70 {
		t.Errorf("panic: %v", err)
	}
}

func TestSystemPrompt(t *testing.T) {
	t.Parallel()
	j := job(t, ownItems(t, 2), t.TempDir(), func(_ context.Context, i int) (eval.Answer, error) { return says(gold(i)), nil })
	j.SystemPrompt = "你是船长。"
	s, err := eval.Run(t.Context(), j)
	if err != nil {
		t.Fatal(err)
	}
	if got := read(t, s.Files.Reviews); !strings.HasPrefix(got, `{"index": 0, "input": "**System**: \n你是船长。\n\n**User**: \n请回答`) {
		t.Errorf("reviews %s", got)
	}
}

func TestProgress(t *testing.T) {
	t.Parallel()
	var last eval.Progress
	n := 0
	j := job(t, ownItems(t, 10), t.TempDir(), func(_ context.Context, i int) (eval.Answer, error) {
		if i == 3 {
			return eval.Answer{}, errors.New("no")
		}
		return says(gold(i)), nil
	})
	j.Progress = func(p eval.Progress) { last = p; n++ }
	if _, err := eval.Run(t.Context(), j); err != nil {
		t.Fatal(err)
	}
	if want := (eval.Progress{Done: 10, Total: 10, Correct: 9, Failed: 1}); last != want || n != 10 {
		t.Errorf("%d calls, the last %+v", n, last)
	}
}

func TestSummaryJSON(t *testing.T) {
	t.Parallel()
	s, err := eval.Run(t.Context(), job(t, ownItems(t, 2), t.TempDir(), func(_ context.Context, i int) (eval.Answer, error) { return says(gold(i)), nil }))
	if err != nil {
		t.Fatal(err)
	}
	b := marshal(t, s)
	for _, want := range []string{
		`"type":"summary"`, `"schema":"drydock.eval.summary/1"`, `"benchmark":"maritime_bench@evalscope-1.4.2"`, `"n":2`, `"correct":2`, `"accuracy":1`,
		`"wilson95":[`, `"no_extraction":0`, `"rule":"bracket_first@1"`, `"other_rule_differs":0`, `"failures":[]`, `"notes":[]`, `"files":{"reviews":"`,
	} {
		if !bytes.Contains(b, []byte(want)) {
			t.Errorf("%s is not in %s", want, b)
		}
	}
}
