package launch

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/drydock-ml/drydock/internal/golden"
	"github.com/drydock-ml/drydock/launch/checkpoint"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// at returns a moment of a run, in seconds.
func at(seconds float64) time.Time {
	return time.Unix(1_700_000_000, 0).Add(time.Duration(seconds * float64(time.Second)))
}

// say parses a line and has the merger take it.
func say(t testing.TB, m *merger, from, line string, seconds float64) []string {
	t.Helper()
	e, ok := parseLine(from, []byte(line))
	if !ok {
		t.Fatalf("no event: %s", line)
	}
	return told(m.add(e, at(seconds)))
}

// told writes the figures of reports; progress alone is left out.
func told(reports []Report) []string {
	var out []string
	for _, r := range reports {
		if !r.figures() {
			continue
		}
		s := fmt.Sprintf("%d", r.Step)
		if r.Loss != nil {
			s += fmt.Sprintf(" loss %g", *r.Loss)
		}
		if r.EvalLoss != nil {
			s += fmt.Sprintf(" eval %g", *r.EvalLoss)
		}
		if r.Again {
			s += " again"
		}
		out = append(out, s)
	}
	return out
}

func TestMergerPrefersTheLog(t *testing.T) {
	t.Parallel()
	m := newMerger(true)
	for i, c := range []struct {
		from, line string
		want       []string
	}{
		{"", " 10%|# | 1/10 [00:01<00:09]", nil},
		{"", "{'loss': 1.5, 'epoch': 0.1}", nil}, // waits for the log
		{"log.jsonl", `{"current_steps": 1, "total_steps": 10, "loss": 1.5234}`, []string{"1 loss 1.5234"}},
		{"", " 20%|## | 2/10 [00:02<00:08]", nil},
		{"", "{'loss': 1.4, 'epoch': 0.2}", nil}, // the log says it
		{"log.jsonl", `{"current_steps": 2, "total_steps": 10, "loss": 1.4321}`, []string{"2 loss 1.4321"}},
		{"log.jsonl", `{"current_steps": 2, "total_steps": 10, "loss": 1.4321}`, nil}, // twice
		{"log.jsonl", `{"current_steps": 2, "total_steps": 10, "eval_loss": 1.1}`, []string{"2 eval 1.1"}},
		{"output/checkpoint-2/trainer_state.json", `{"step": 2, "loss": 1.43214}`, nil},
		{"log.jsonl", `{"current_steps": 10, "total_steps": 10, "epoch": 1}`, nil}, // no figures
	} {
		if d := cmp.Diff(c.want, say(t, m, c.from, c.line, float64(i))); d != "" {
			t.Errorf("%d: %s\n%s", i, c.line, d)
		}
	}
	if got := told(m.flush()); got != nil {
		t.Errorf("still held: %v", got)
	}
}

func TestMergerWithoutALog(t *testing.T) {
	t.Parallel()
	m := newMerger(true)
	say(t, m, "", " 10%|# | 1/10 [00:01<00:09]", 0)
	if got := say(t, m, "", "{'loss': 1.5, 'epoch': 0.1}", 1); got != nil {
		t.Errorf("not held: %v", got)
	}
	if got := told(m.release(at(5.9))); got != nil {
		t.Errorf("too early: %v", got)
	}
	if d := cmp.Diff([]string{"1 loss 1.5"}, told(m.release(at(6)))); d != "" {
		t.Error(d)
	}
	// a checkpoint's state says more exactly what was told, and what was not
	if d := cmp.Diff([]string{"1 loss 1.5234 again"}, say(t, m, "output/checkpoint-2/trainer_state.json", `{"step": 1, "loss": 1.5234}`, 7)); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"2 loss 1.4"}, say(t, m, "output/checkpoint-2/trainer_state.json", `{"step": 2, "loss": 1.4}`, 7)); d != "" {
		t.Error(d)
	}
	say(t, m, "", " 30%|# | 3/10 [00:01<00:09]", 8)
	say(t, m, "", "{'loss': 1.3, 'epoch': 0.3}", 8)
	if d := cmp.Diff([]string{"3 loss 1.3"}, told(m.flush())); d != "" {
		t.Error(d)
	}
}

// A launcher that starts its workers again goes back to a checkpoint: those steps
// are trained again.
func TestMergerGoesBack(t *testing.T) {
	t.Parallel()
	m := newMerger(false)
	line := `{"current_steps": %d, "total_steps": 10, "loss": %g}`
	for i, c := range []struct {
		step int
		loss float64
		want []string
	}{{4, 1.4, []string{"4 loss 1.4"}}, {5, 1.3, []string{"5 loss 1.3"}}, {4, 1.5, []string{"4 loss 1.5"}}, {5, 1.35, []string{"5 loss 1.35"}}} {
		if d := cmp.Diff(c.want, say(t, m, "l.jsonl", fmt.Sprintf(line, c.step, c.loss), float64(i))); d != "" {
			t.Errorf("%d: %s", i, d)
		}
	}
}

// Whatever comes in whatever order, no step is told twice from equal sources, and
// what is told again is from a better one.
func TestMergerTellsNoStepTwice(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		m := newMerger(rapid.Bool().Draw(rt, "log"))
		best := map[int]trust{}
		check := func(reports []Report) {
			for _, r := range reports {
				if !r.figures() || r.Step == 0 {
					continue
				}
				if r.trust() <= best[r.Step] || r.Again != (best[r.Step] > 0) {
					rt.Fatalf("step %d from %d after %d, again %v", r.Step, r.trust(), best[r.Step], r.Again)
				}
				best[r.Step] = r.trust()
			}
		}
		steps := map[string]int{}
		for i := range rapid.IntRange(0, 60).Draw(rt, "n") {
			from := rapid.SampledFrom([]string{"", "o/checkpoint-1/trainer_state.json", "log"}).Draw(rt, "from")
			steps[from] = max(1, steps[from]+rapid.IntRange(0, 2).Draw(rt, "by"))
			loss := 1.0
			check(m.add(Event{From: from, Step: steps[from], MaxSteps: 90, Loss: &loss}, at(float64(i))))
		}
		check(m.flush())
	})
}

func TestPace(t *testing.T) {
	t.Parallel()
	var p pacer
	if got := p.at(Event{Step: 1, MaxSteps: 10}); got.ETA != nil || got.StepsPerSecond != nil {
		t.Errorf("a pace out of nothing: %+v", got)
	}
	// resumed at step 100: what was before does not count
	for i := range 11 {
		p.mark(at(float64(i)*2), 100+i, int64(1000+i*500))
	}
	got := p.at(Event{Step: 110, MaxSteps: 200})
	if *got.StepsPerSecond != 0.5 || *got.ETA != 180 || *got.TokensPerSecond != 250 {
		t.Errorf("%g steps/s, %g s left, %g tokens/s", *got.StepsPerSecond, *got.ETA, *got.TokensPerSecond)
	}
	// twice as fast since the window began
	for i := range 1200 {
		p.mark(at(20+float64(i+1)), 110+i+1, 0)
	}
	if got := p.at(Event{Step: 1310}); *got.StepsPerSecond != 1 || got.ETA != nil {
		t.Errorf("%g steps/s, left %v", *got.StepsPerSecond, got.ETA)
	}
}

// The real logs of the trainers give each step once, also where they hold two
// runs one behind the other.
func TestMergerOnRealLogs(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		file  string
		first []int
	}{
		{"llamafactory_trainer_log_with_resume.jsonl", seq(1, 14)},
		{"ms-swift_logging_with_resume.jsonl", append(seq(1, 10), seq(1, 14)...)},
		{"trl_stdout.txt", seq(1, 10)},
	} {
		t.Run(c.file, func(t *testing.T) {
			t.Parallel()
			b, err := os.ReadFile(golden.RealData(t, "trainers-real", "logs", c.file))
			if err != nil {
				t.Fatal(err)
			}
			from := c.file
			if !strings.HasSuffix(from, ".jsonl") {
				from = ""
			}
			m, steps := newMerger(false), []int(nil)
			var s splitter
			line := func(text []byte, _ bool) error {
				if e, ok := parseLine(from, text); ok {
					for _, r := range m.add(e, at(float64(len(steps)))) {
						if r.figures() {
							steps = append(steps, r.Step)
						}
					}
				}
				return nil
			}
			if err := s.write(b, line); err != nil {
				t.Fatal(err)
			}
			if err := s.end(line); err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(c.first, steps); d != "" {
				t.Error(d)
			}
		})
	}
}

func seq(from, to int) []int {
	var out []int
	for i := from; i <= to; i++ {
		out = append(out, i)
	}
	return out
}

func TestStateReader(t *testing.T) {
	t.Parallel()
	output := t.TempDir()
	put := func(step int, text string) {
		t.Helper()
		dir := checkpoint.StepDir(output, step)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, checkpoint.StateFile), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	put(2, `{"global_step": 2, "log_history": [{"step": 1, "loss": 9}]}`)
	r := newStateReader("output", output)
	if got := r.read(); got != nil {
		t.Errorf("what was there before is news: %v", got)
	}
	put(4, `{"global_step": 4, "max_steps": 8, "log_history": [{"step": 1, "loss": 9}, {"step": 3, "loss": 7}, {"step": 4, "eval_loss": 6}, {"step": 4, "train_loss": 1`)
	if got := r.read(); got != nil {
		t.Errorf("a state that is being written: %v", got)
	}
	put(4, `{"global_step": 4, "max_steps": 8, "log_history": [{"step": 1, "loss": 9}, {"step": 3, "loss": 7}, {"step": 4, "eval_loss": 6}, {"step": 4, "train_loss": 1}]}`)
	got := r.read()
	if len(got) != 2 || *got[0].Loss != 7 || got[0].Step != 3 || got[0].MaxSteps != 8 || *got[1].EvalLoss != 6 || got[1].trust() != trustState {
		t.Errorf("%+v", got)
	}
	if got := r.read(); got != nil {
		t.Errorf("read twice: %v", got)
	}
}
