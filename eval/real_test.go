package eval_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"testing"
	"time"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/eval"
	"github.com/drydock-ml/drydock/eval/benchmark"
	"github.com/drydock-ml/drydock/eval/benchmark/benchtest"
	"github.com/drydock-ml/drydock/internal/golden"
)

// fake answers with what reply says; it counts the calls.
type fake struct {
	reply func(ctx context.Context, prompt string) (eval.Answer, error)
}

func (f fake) Kind() string                 { return "http" }
func (f fake) Conditions() []eval.Condition { return []eval.Condition{{Name: "sampling", Value: "{}"}} }

func (f fake) Ask(ctx context.Context, m []drydock.Message) (eval.Answer, error) {
	return f.reply(ctx, m[len(m)-1].Content)
}

func says(text string) eval.Answer {
	return eval.Answer{Reply: benchmark.Reply{Text: text, Finish: "stop"}, Served: "m", Attempts: 1}
}

func choice(t testing.TB) *benchmark.Choice {
	t.Helper()
	b, err := benchmark.Lookup("maritime_bench")
	if err != nil {
		t.Fatal(err)
	}
	return b.(*benchmark.Choice)
}

func fileSum(t testing.TB, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// Replies equal to the key give the reviews file of the specification.
func TestPerfectRun(t *testing.T) {
	t.Parallel()
	items := benchtest.RealItems(t)
	b := choice(t)
	gold := map[string]string{}
	for _, it := range items {
		gold[b.Prompt(it)[0].Content] = "[" + it.Gold[0] + "]"
	}
	s, err := eval.Run(t.Context(), eval.Job{
		Benchmark: b, Items: items, Model: "qwen3-8b-sft", WorkDir: t.TempDir(), Concurrency: 16,
		Endpoint: fake{func(_ context.Context, p string) (eval.Answer, error) { return says(gold[p]), nil }},
	})
	if err != nil || s.Err() != nil {
		t.Fatal(err, s.Err())
	}
	if s.N != 1888 || s.Correct != 1888 || s.Wilson95[1] != 1 {
		t.Errorf("summary %+v", s)
	}
	if got := fileSum(t, s.Files.Reviews); got != "028a182afe6e77b26ae073e1494d1a6e0125481cfd8aef6e32626cc2bbe5ba66" {
		t.Errorf("reviews sha256 %s", got)
	}
}

// A look-up over training rows that are not the benchmark's stays near chance;
// over the benchmark itself it gives the leak away. 1,888 items take well under
// five seconds.
func TestLookupOnRealItems(t *testing.T) {
	t.Parallel()
	items := benchtest.RealItems(t)
	b := choice(t)
	run := func(name, path string) eval.Summary {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		train, err := eval.ReadTraining(name, data, b)
		if err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		s, err := eval.Run(t.Context(), eval.Job{
			Benchmark: b, Items: items, Model: eval.LookupModel, WorkDir: t.TempDir(), Endpoint: eval.NewLookup(train, b),
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: %d examples, %d skipped, %d of %d right, leak signal %+v, %v", name, len(train.Examples), train.Skipped, s.Correct, s.N, s.LeakSignal, time.Since(start))
		return s
	}
	leak := run("maritimebench", golden.RealData(t, "maritimebench", "maritimebench_test.json"))
	if leak.LeakSignal == nil || leak.Accuracy < 0.99 || leak.LeakSignal.NearIdentical < 1800 {
		t.Errorf("the benchmark as training: %+v", leak.LeakSignal)
	}
	clean := run("colreg", golden.RealData(t, "colreg-bank-zh", "gold_corrected_ch1-3.jsonl"))
	if clean.LeakSignal != nil && clean.LeakSignal.NearIdentical > 100 {
		t.Errorf("a bank of other questions: %+v", clean.LeakSignal)
	}
}
