package launch_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/drydock-ml/drydock/internal/golden"
	"github.com/drydock-ml/drydock/launch"
)

// Every row of the trainers' own logs says what encoding/json reads from it, and
// the odd last lines say nothing of a loss: LLaMA-Factory's ends each run with the
// last step alone, ms-swift's with a train_runtime row and a summary.
func TestParseLogsRowByRow(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		trainer string
		file    []string
		silent  int // rows that say nothing at all
	}{
		{"llamafactory", []string{"trainers-real", "logs", "llamafactory_trainer_log_with_resume.jsonl"}, 0},
		{"swift", []string{"trainers-real", "logs", "ms-swift_logging_with_resume.jsonl"}, 2},
		{"llamafactory", []string{"trainer-logs", "llamafactory_trainer_log_excerpt.jsonl"}, 0},
		{"llamafactory", []string{"trainer-logs", "llamafactory_trainer_log_final_line.jsonl"}, 0},
		{"swift", []string{"trainer-logs", "ms_swift_logging_excerpt.jsonl"}, 1},
	} {
		t.Run(c.file[1], func(t *testing.T) {
			t.Parallel()
			b, err := os.ReadFile(golden.RealData(t, c.file...))
			if err != nil {
				t.Fatal(err)
			}
			tr := must(t, c.trainer, "{}")
			silent := 0
			for line := range strings.Lines(string(b)) {
				line = strings.TrimSpace(line)
				if line == "" {
					continue
				}
				var row map[string]any
				if err := json.Unmarshal([]byte(line), &row); err != nil {
					t.Fatal(err)
				}
				e, ok := tr.Parse("output/log.jsonl", []byte(line))
				if !ok {
					silent++
					if row["loss"] != nil || row["eval_loss"] != nil {
						t.Errorf("nothing is read from %s", line)
					}
					continue
				}
				step := fmt.Sprintf("%v/%v", row["current_steps"], row["total_steps"])
				if s, is := row["global_step/max_steps"].(string); is {
					step = s
				}
				if got := fmt.Sprintf("%d/%d", e.Step, e.MaxSteps); got != step {
					t.Errorf("step %s, want %s: %s", got, step, line)
				}
				same(t, "loss", row["loss"], e.Loss, line)
				same(t, "eval_loss", row["eval_loss"], e.EvalLoss, line)
				same(t, "epoch", row["epoch"], e.Epoch, line)
				same(t, "grad_norm", row["grad_norm"], e.GradNorm, line)
				if m, has := row["memory(GiB)"].(float64); has && e.Memory != m {
					t.Errorf("memory %v, want %v", e.Memory, m)
				}
			}
			if silent != c.silent {
				t.Errorf("%d rows say nothing, want %d", silent, c.silent)
			}
		})
	}
}

func same(t *testing.T, name string, want any, got *float64, line string) {
	t.Helper()
	x, has := want.(float64)
	if has != (got != nil) || has && x != *got {
		t.Errorf("%s: %v, want %v: %s", name, got, want, line)
	}
}

// The state of a checkpoint holds the same figures as the output that was printed.
func TestParseStateAndOutputAgree(t *testing.T) {
	t.Parallel()
	for trainer, files := range map[string][2]string{
		"trl": {"trl_checkpoint-5_trainer_state.json", "trl_stdout.txt"}, "axolotl": {"axolotl_checkpoint-5_trainer_state.json", "axolotl_debug.log"},
	} {
		read := func(name string) string {
			b, err := os.ReadFile(golden.RealData(t, "trainers-real", "logs", name))
			if err != nil {
				t.Fatal(err)
			}
			return string(b)
		}
		var state struct {
			History []json.RawMessage `json:"log_history"`
		}
		if err := json.Unmarshal([]byte(read(files[0])), &state); err != nil || len(state.History) < 5 {
			t.Fatal(err, len(state.History))
		}
		tr := must(t, trainer, "{}")
		var printed []launch.Event
		for line := range strings.Lines(strings.ReplaceAll(read(files[1]), "\r", "\n")) {
			if e, ok := tr.Parse("", []byte(strings.TrimRight(line, "\n"))); ok && e.Loss != nil {
				printed = append(printed, e)
			}
		}
		for i, row := range state.History {
			e, ok := tr.Parse("output/checkpoint-5/trainer_state.json", row)
			if !ok || e.Step != i+1 || e.Loss == nil {
				t.Fatalf("%s: %+v of %s", trainer, e, row)
			}
			if i >= len(printed) || *printed[i].Loss-*e.Loss > 0.01 || *e.Loss-*printed[i].Loss > 0.01 {
				t.Errorf("%s: step %d: printed %v, state %v", trainer, e.Step, printed[min(i, len(printed)-1)].Loss, *e.Loss)
			}
		}
	}
}
