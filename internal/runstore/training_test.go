package runstore_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/drydock-ml/drydock/internal/runstore"

	"github.com/google/go-cmp/cmp"
)

// training records a run that trained, ended so many hours after the epoch.
func training(t *testing.T, dir string, hours int, m runstore.Manifest) string {
	t.Helper()
	start := time.Unix(0, 0).Add(time.Duration(hours) * time.Hour)
	r, err := runstore.Begin(filepath.Join(dir, "runs"), runstore.Info{Command: "train", Start: start}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.SaveManifest(m); err != nil {
		t.Fatal(err)
	}
	if err := r.Record(start, "train", struct {
		Step int `json:"step"`
	}{hours}); err != nil {
		t.Fatal(err)
	}
	if err := r.End(start.Add(time.Minute), runstore.Success, 0, "", 0); err != nil {
		t.Fatal(err)
	}
	return r.Info().ID
}

// From a checkpoint's hash or name the way leads to its training, and from there to
// its evaluations; the same one is noted once.
func TestTrainingIsFound(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	runs := filepath.Join(dir, "runs")
	id := training(t, dir, 1, runstore.Manifest{
		Trainer:     runstore.Training{Dir: "build/train", Output: "output"},
		Checkpoints: []runstore.CheckpointSum{{Path: "build/train/output/checkpoint-5", Step: 5, SHA256: "abc", Served: "checkpoint-5-abc"}},
	})
	for _, key := range []string{"abc", "checkpoint-5-abc"} {
		m, c, ok, err := runstore.FindTraining(runs, key)
		if err != nil || !ok || m.Run != id || c.Step != 5 {
			t.Errorf("%s: %+v %+v %v %v", key, m, c, ok, err)
		}
	}
	for _, key := range []string{"", "Qwen/Qwen3-8B"} {
		if _, _, ok, err := runstore.FindTraining(runs, key); ok || err != nil {
			t.Errorf("%q is found: %v", key, err)
		}
	}
	e := runstore.Evaluation{Checkpoint: "c", Step: 5, SHA256: "abc", Benchmark: "b@1", N: 10, Correct: 7}
	for range 2 {
		if err := runstore.AddEvaluation(runs, id, e); err != nil {
			t.Fatal(err)
		}
	}
	got, err := runstore.Evaluations(filepath.Join(runs, id))
	if d := cmp.Diff([]runstore.Evaluation{e}, got); d != "" || err != nil {
		t.Error(d, err)
	}
	if err := runstore.MoveOutput(runs, id, "output."+id); err != nil {
		t.Fatal(err)
	}
	m, _, err := runstore.ReadManifest(filepath.Join(runs, id))
	if err != nil || m.Trainer.Output != "output."+id || m.Checkpoints[0].Path != "build/train/output."+id+"/checkpoint-5" {
		t.Errorf("%+v, %v", m, err)
	}
}

// What a later run builds on stays, link by link; checkpoints moved aside for a run
// go with it, the folder that trainers write to never.
func TestRemovable(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	old := training(t, dir, 1, runstore.Manifest{Trainer: runstore.Training{Dir: "build/train", Output: "output"}})
	if err := runstore.MoveOutput(filepath.Join(dir, "runs"), old, "output."+old); err != nil {
		t.Fatal(err)
	}
	first := training(t, dir, 2, runstore.Manifest{Trainer: runstore.Training{Dir: "build/train", Output: "output"}})
	second := training(t, dir, 3, runstore.Manifest{Resumed: &runstore.Resumed{Run: first}})
	third := training(t, dir, 4, runstore.Manifest{Resumed: &runstore.Resumed{Run: second}})
	for _, name := range []string{"output", "output." + old} {
		if err := os.MkdirAll(filepath.Join(dir, "build", "train", name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "build", "train", name, "w"), make([]byte, 5000), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	p := runstore.Project{Dir: dir}
	now := time.Unix(0, 0).Add(100 * time.Hour)
	gone, kept, err := p.Removable(now, runstore.Retention{Keep: 1})
	if err != nil || len(gone) != 1 || gone[0].ID != old || len(gone[0].Paths) != 2 || gone[0].Bytes < 5000 {
		t.Fatalf("%+v, %v", gone, err)
	}
	if d := cmp.Diff(map[string]string{second: third, first: second}, kept); d != "" {
		t.Error(d)
	}
	if gone, _, err := p.Removable(now, runstore.Retention{Keep: 1, OlderThan: 1000 * time.Hour}); len(gone) != 0 || err != nil {
		t.Errorf("both rules must allow it: %+v, %v", gone, err)
	}
	if by, err := runstore.Dependents(filepath.Join(dir, "runs"), first); err != nil || !cmp.Equal(by, []string{second}) {
		t.Errorf("%v, %v", by, err)
	}
	if err := gone[0].Remove(); err != nil {
		t.Fatal(err)
	}
	for path, there := range map[string]bool{"runs/" + old: false, "build/train/output." + old: false, "build/train/output/w": true, "runs/" + first: true} {
		if _, err := os.Stat(filepath.Join(dir, filepath.FromSlash(path))); (err == nil) != there {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// A reader of events meets each whole line once.
func TestEvents(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "events.jsonl")
	var got []string
	r := runstore.Events(dir)
	for i, c := range []struct {
		add  string
		want []string
	}{{"", nil}, {"a\nb", []string{"a"}}, {"c\n", []string{"bc"}}, {"", nil}} {
		f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.WriteString(c.add); err != nil {
			t.Fatal(err)
		}
		f.Close()
		got = nil
		if err := r.Read(func(b []byte) error { got = append(got, string(b)); return nil }); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%d: %s", i, d)
		}
	}
}

func TestStopAsked(t *testing.T) {
	t.Parallel()
	r, err := runstore.Begin(t.TempDir(), runstore.Info{Start: time.Unix(0, 0)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ ask, asked, now bool }{{false, false, false}, {true, true, false}, {true, true, true}} {
		if c.ask {
			if err := runstore.AskToStop(r.Dir, c.now); err != nil {
				t.Fatal(err)
			}
		}
		if asked, now := r.StopAsked(); asked != c.asked || now != c.now {
			t.Errorf("asked %v, now %v, want %+v", asked, now, c)
		}
	}
	if err := r.End(time.Unix(1, 0), runstore.Success, 0, "", 0); err != nil {
		t.Fatal(err)
	}
}
