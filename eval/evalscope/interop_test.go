package evalscope_test

import (
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/drydock-ml/drydock/eval/benchmark"
	"github.com/drydock-ml/drydock/eval/evalscope"
	"github.com/drydock-ml/drydock/internal/golden"
)

// TestInterop writes, from the replies of a scripted server, what the real
// EvalScope 1.4.2 wrote from them. scripts/interop/evalscope.py made the files
// in testdata/interop; the items are the project's own.
func TestInterop(t *testing.T) {
	t.Parallel()
	const model = "qwen3-8b-sft"
	for folder, path := range map[string]string{
		"sample": filepath.Join("..", "..", "data", "samples", "colreg", "bench", "sample_bench.json"),
		"edge":   filepath.Join("testdata", "interop", "edge", "test.jsonl"),
	} {
		t.Run(folder, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join("testdata", "interop", folder)
			replies := readReplies(t, filepath.Join(dir, "replies.jsonl"))
			b := maritime(t)
			items := loadItems(t, path)
			if len(replies) != len(items) {
				t.Fatalf("%d replies to %d items", len(replies), len(items))
			}
			var reviews, predictions []byte
			correct := 0
			for i, it := range items {
				m := b.Prompt(it)
				r := replies[i]
				served := r.Model
				if served == "" {
					served = model
				}
				reply := r.reply()
				g := b.Grade(it, reply)
				if g.Verdict == benchmark.Correct {
					correct++
				}
				reviews = evalscope.AppendReview(reviews, &evalscope.Review{
					Index: i, Input: evalscope.Input(m), Target: it.Gold[0], Acc: g.Score,
					Extracted: g.Extracted, Prediction: reply.Text, SampleID: i, GroupID: i,
				})
				predictions = evalscope.AppendPrediction(predictions, &evalscope.Prediction{
					Index: i, Model: model, Served: served, ID: "XXXXXXXX", Reply: reply, Usage: r.usage(t, m[0].Content),
				})
			}
			report := evalscope.AppendReport(nil, &evalscope.Report{Model: model, Bench: "maritime_bench", Info: b.Info(), Correct: correct, Num: len(items)})
			for name, got := range map[string][]byte{"reviews.jsonl": reviews, "predictions.jsonl": predictions, "report.json": report} {
				want := strings.ReplaceAll(string(golden.ReadFile(t, filepath.Join(dir, name))), "\r\n", "\n")
				if d := cmp.Diff(strings.Split(want, "\n"), strings.Split(string(got), "\n")); d != "" {
					t.Errorf("%s (-EvalScope +drydock):\n%s", name, d)
				}
			}
		})
	}
}

// TestEveryReport makes the reports of all possible scores and expects the bytes
// the real EvalScope 1.4.2 makes of them; scripts/interop/reports.py took the
// hashes.
func TestEveryReport(t *testing.T) {
	t.Parallel()
	info := maritime(t).Info()
	sumOf := func(counts func(yield func(right, n int))) string {
		h := sha256.New()
		var buf []byte
		counts(func(right, n int) {
			buf = evalscope.AppendReport(buf[:0], &evalscope.Report{Model: "m", Bench: "maritime_bench", Info: info, Correct: right, Num: n})
			h.Write(append(buf, '\n'))
		})
		return hex.EncodeToString(h.Sum(nil))
	}
	got := sumOf(func(yield func(right, n int)) {
		for k := range 1889 {
			yield(k, 1888)
		}
	}) + "  1888\n" + sumOf(func(yield func(right, n int)) {
		for n := 1; n <= 120; n++ {
			for k := range n + 1 {
				yield(k, n)
			}
		}
	}) + "  1-120\n"
	want := strings.ReplaceAll(string(golden.ReadFile(t, filepath.Join("testdata", "interop", "reports.sha256"))), "\r\n", "\n")
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("hashes (-EvalScope +drydock):\n%s", d)
	}
}
