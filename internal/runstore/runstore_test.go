package runstore

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
)

func TestLock(t *testing.T) {
	t.Parallel()
	p := Project{t.TempDir()}
	ctx := context.Background()
	first, err := p.Acquire(ctx, Holder{PID: 12, Host: "bridge", Start: time.Unix(0, 0).UTC()}, 0)
	if err != nil {
		t.Fatal(err)
	}
	if !p.Held() {
		t.Error("not held")
	}
	_, err = p.Acquire(ctx, Holder{PID: 13}, 0)
	if fail.Code(err) != 1 || !strings.Contains(err.Error(), "process 12 on bridge") {
		t.Errorf("second holder: %v", err)
	}
	if _, err = p.Acquire(ctx, Holder{PID: 13}, 150*time.Millisecond); err == nil {
		t.Error("waiting did not end in a refusal")
	}
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	if _, err = p.Acquire(cancelled, Holder{}, time.Hour); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled wait: %v", err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	if p.Held() {
		t.Error("held after Close")
	}
	if nowhere := filepath.Join(t.TempDir(), "none"); (Project{nowhere}).Held() {
		t.Error("a project that is not there is held")
	} else if _, err := os.Stat(nowhere); !os.IsNotExist(err) {
		t.Errorf("asking made a folder: %v", err)
	}
	again, err := p.Acquire(ctx, Holder{PID: 13}, 0)
	if err != nil {
		t.Fatal(err)
	}
	again.Close()
}

func TestStageIsDoneOnlyWhenFinished(t *testing.T) {
	t.Parallel()
	p := Project{t.TempDir()}
	s := p.Stage(3, "dedup")
	if filepath.Base(s.Dir) != "03-dedup" {
		t.Errorf("folder %s", s.Dir)
	}
	if err := s.Reset(); err != nil {
		t.Fatal(err)
	}
	file := s.Path("stats.json")
	if err := os.WriteFile(file, []byte("{}"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, ok := s.Done(); ok {
		t.Error("done before Finish")
	}
	if _, err := s.Finish(p, "key", []string{file}); err != nil {
		t.Fatal(err)
	}
	d, ok := s.Done()
	if !ok || d.Key != "key" || len(d.Files) != 1 || d.Files[".drydock/stages/03-dedup/stats.json"] == "" {
		t.Fatalf("%+v %v", d, ok)
	}
	if changed, ok := d.Intact(p); !ok {
		t.Errorf("%s changed", changed)
	}
	if err := os.WriteFile(file, []byte("{ }"), 0o644); err != nil {
		t.Fatal(err)
	}
	if changed, ok := d.Intact(p); ok || !strings.HasSuffix(changed, "stats.json") {
		t.Errorf("a changed file went unseen: %q", changed)
	}
	if err := os.WriteFile(s.Path("DONE"), []byte("{torn"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, ok := s.Done(); ok {
		t.Error("a torn DONE counts")
	}
	if _, err := s.Finish(p, "key", []string{s.Path("missing")}); err == nil {
		t.Error("a missing file is vouched for")
	}
}

func TestSweepTakesTemporaryFilesOnly(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{".tmp-train.jsonl-123", "train.jsonl", ".gitignore"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	half := filepath.Join(dir, ".tmp-provenance-7", "lineage.jsonl")
	if err := os.MkdirAll(filepath.Dir(half), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(half, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := Sweep(dir); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 2 {
		t.Errorf("%v %v", entries, err)
	}
	if err := Sweep(filepath.Join(dir, "nowhere")); err != nil {
		t.Error(err)
	}
	deep := filepath.Join(dir, "a", "b", ".tmp-report-1")
	if err := os.MkdirAll(filepath.Dir(deep), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(deep, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, root := range []string{dir, filepath.Join(dir, "nowhere")} {
		if err := SweepTree(root); err != nil {
			t.Error(err)
		}
	}
	if _, err := os.Stat(deep); !os.IsNotExist(err) {
		t.Errorf("below: %v", err)
	}
}

func TestPathStartsAtTheProject(t *testing.T) {
	t.Parallel()
	p := Project{Dir: "project"}
	abs, err := filepath.Abs("x.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"build/x.jsonl":       filepath.Join("project", "build", "x.jsonl"),
		filepath.ToSlash(abs): abs,
	} {
		if got := p.Path(name); got != want {
			t.Errorf("%s lies at %s, want %s", name, got, want)
		}
	}
}

func TestKeyTellsPartsApart(t *testing.T) {
	t.Parallel()
	seen := map[string][]string{}
	for _, parts := range [][]string{{}, {""}, {"", ""}, {"ab"}, {"a", "b"}, {"b", "a"}} {
		k := Key(parts...)
		if was, twice := seen[k]; twice {
			t.Errorf("%q and %q have one key", was, parts)
		}
		seen[k] = parts
	}
}

func TestEndWithTellsHowARunEnded(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		err    error
		status Status
	}{
		{nil, Success},
		{errors.New("no room"), Failed},
		{fail.New(fail.Partial, msg.Text{"two inputs", "两个输入"}), Partial},
		{fail.New(fail.Interrupted, msg.Text{"cut", "中断"}), Cancelled},
	} {
		r, err := Begin(t.TempDir(), Info{Command: "run", Start: at}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := r.EndWith(at, c.err, 2); got != c.err {
			t.Errorf("EndWith(%v) gives %v", c.err, got)
		}
		i := r.Info()
		if i.Status != c.status || i.Exit != fail.Code(c.err) || (i.Error == "") != (c.err == nil) || i.Warnings != 2 || !i.End.Equal(at) {
			t.Errorf("after %v: %+v", c.err, i)
		}
	}
}

func TestRuns(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "runs")
	at := time.Date(2026, 3, 1, 8, 0, 0, 0, time.FixedZone("CST", 8*3600))
	var ids []string
	for range 2 {
		r, err := Begin(dir, Info{Command: "run", Start: at}, []byte("version: 1\n"))
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, r.Info().ID)
		if err := r.Event(at, "stage", map[string]any{"stage": "dedup"}); err != nil {
			t.Fatal(err)
		}
		if err := r.Stage(StageInfo{Name: "dedup", Status: "done"}); err != nil {
			t.Fatal(err)
		}
		if len(ids) == 2 {
			if err := r.End(at.Add(time.Second), Success, 0, "", 1); err != nil {
				t.Fatal(err)
			}
		}
	}
	if ids[0] != "20260301-000000" || ids[1] != "20260301-000000-2" {
		t.Errorf("ids %v", ids)
	}
	if err := os.MkdirAll(filepath.Join(dir, "broken"), 0o755); err != nil {
		t.Fatal(err)
	}
	runs, bad, err := List(dir)
	if err != nil || len(runs) != 2 || len(bad) != 1 || bad[0] != "broken" {
		t.Fatalf("%+v %v %v", runs, bad, err)
	}
	if runs[0].ID != ids[1] || runs[0].Status != Success || runs[1].Status != Started {
		t.Errorf("order or status: %+v", runs)
	}
	if b, err := os.ReadFile(filepath.Join(dir, ids[0], "events.jsonl")); err != nil || !strings.Contains(string(b), `"stage":"dedup"`) {
		t.Errorf("events %s %v", b, err)
	}
	if runs, bad, err := List(filepath.Join(dir, "nowhere")); err != nil || runs != nil || bad != nil {
		t.Errorf("a project without runs: %v %v %v", runs, bad, err)
	}
}

func TestBenchmarks(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	if _, ok, err := FindBenchmark(home, "maritime_bench"); ok || err != nil {
		t.Errorf("found one in an empty home: %v", err)
	}
	for i, data := range []string{"one", "two"} {
		r := Registered{Name: "own", Like: "maritime_bench", File: "items.json", SHA256: strings.Repeat(data[:1], 64), Items: i + 1}
		if _, err := AddBenchmark(home, r, []byte(data)); err != nil {
			t.Fatal(err)
		}
	}
	r, ok, err := FindBenchmark(home, "own")
	if err != nil || !ok || r.Items != 2 {
		t.Fatalf("%+v %v %v", r, ok, err)
	}
	if b, err := os.ReadFile(r.Path()); err != nil || string(b) != "two" {
		t.Errorf("%s %v", b, err)
	}
	list, err := ListBenchmarks(home)
	if err != nil || len(list) != 1 {
		t.Errorf("%+v %v", list, err)
	}
	for _, name := range []string{"", "../x", "a/b", ".hidden", `a\b`} {
		if _, err := AddBenchmark(home, Registered{Name: name, File: "f"}, nil); fail.Code(err) != 2 {
			t.Errorf("name %q: %v", name, err)
		}
	}
}
