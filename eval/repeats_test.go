package eval_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/drydock-ml/drydock/eval"
	"github.com/drydock-ml/drydock/eval/benchmark"
	"github.com/drydock-ml/drydock/internal/stats"
)

// TestRepeatsAreOneTrial: answers to one item are one trial, also of a file whose rows
// only tell by their group.
func TestRepeatsAreOneTrial(t *testing.T) {
	t.Parallel()
	const items, repeats = 40, 3
	var rows strings.Builder
	right := 0
	for i := range items * repeats {
		letter := "A"
		if i/repeats%2 == 0 && i%repeats > 0 {
			letter = "B"
		} else {
			right++
		}
		fmt.Fprintf(&rows, `{"index":%d,"input":"**User**: \n第 %d 题","target":"A","sample_score":{"score":{"value":{"acc":1.0},"extracted_prediction":%q,"prediction":"[%s]"},"sample_id":%d,"group_id":%d}}`+"\n",
			i, i/repeats, letter, letter, i, i/repeats)
	}
	b, err := benchmark.Lookup("maritime_bench")
	if err != nil {
		t.Fatal(err)
	}
	s, err := eval.Score(eval.ScoreJob{Benchmark: b, Name: "r.jsonl", Data: []byte(rows.String())})
	if err != nil {
		t.Fatal(err)
	}
	if s.N != items*repeats || s.Correct != right || s.Repeats != repeats {
		t.Errorf("n %d, correct %d, repeats %d", s.N, s.Correct, s.Repeats)
	}
	if got := len(s.Outcomes()); got != items {
		t.Errorf("%d outcomes of %d items", got, items)
	}
	low, high := stats.WilsonMean(20+20/3.0, items) // 20 items right in all, 20 in one of three
	if math.Abs(s.Wilson95[0]-low) > 1e-12 || math.Abs(s.Wilson95[1]-high) > 1e-12 {
		t.Errorf("interval %v, of %d items [%v, %v]", s.Wilson95, items, low, high)
	}
	if a := s.Analyze(nil); a.Repeated != items*(repeats-1) || a.FlipRate != 0.5 {
		t.Errorf("%d answers repeated, flip rate %v", a.Repeated, a.FlipRate)
	}
}
