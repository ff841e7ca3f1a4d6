package eval_test

import (
	"context"
	"flag"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/drydock-ml/drydock/eval"
)

// childDir makes the test binary the process that is killed.
var childDir = flag.String("kill-child", "", "run an evaluation in this folder until killed")

const killItems, killWorkers = 400, 8

func killJob(t testing.TB, dir string) eval.Job {
	j := job(t, ownItems(t, killItems), dir, func(ctx context.Context, i int) (eval.Answer, error) {
		time.Sleep(time.Millisecond)
		return says(gold(i % 11)), nil
	})
	j.Concurrency = killWorkers
	return j
}

func TestKillChild(t *testing.T) {
	if *childDir == "" {
		t.Skip("only as the process that is killed")
	}
	_, _ = eval.Run(t.Context(), killJob(t, *childDir))
}

// A process killed at any moment loses nothing that was answered: every row it
// had written is taken over, and the files end up the same.
func TestKilled(t *testing.T) {
	t.Parallel()
	straight := t.TempDir()
	if _, err := eval.Run(t.Context(), killJob(t, straight)); err != nil {
		t.Fatal(err)
	}
	want := tree(t, straight)
	for _, rows := range []int{1, 60, 200} {
		dir := t.TempDir()
		cmd := exec.Command(os.Args[0], "-test.run=^TestKillChild$", "-kill-child="+dir)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		written := func() int {
			b, _ := os.ReadFile(logPath(dir))
			return strings.Count(string(b), "\n")
		}
		for end := time.Now().Add(20 * time.Second); written() < rows && time.Now().Before(end); {
			time.Sleep(time.Millisecond)
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait() // it was killed
		left := written()
		s, err := eval.Run(t.Context(), killJob(t, dir))
		if err != nil || s.Reused != left || left < rows {
			t.Errorf("killed after %d rows: %d reused, %v", left, s.Reused, err)
		}
		if d := cmp.Diff(want, tree(t, dir)); d != "" {
			t.Errorf("killed after %d rows:\n%s", left, d)
		}
	}
}
