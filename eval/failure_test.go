package eval_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/drydock-ml/drydock/eval"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/llm"
	"github.com/drydock-ml/drydock/internal/msg"
)

// What fails stays in the count as wrong, is listed, and is asked again next
// time. A refusal and an empty reply are listed, too, and not asked again.
func TestFailures(t *testing.T) {
	t.Parallel()
	items := ownItems(t, 30)
	dir := t.TempDir()
	broken := true
	j := job(t, items, dir, func(_ context.Context, i int) (eval.Answer, error) {
		switch {
		case i == 4 && broken:
			return eval.Answer{}, &llm.Error{Status: 400, Text: "context too long [A]", Attempts: 1}
		case i == 11 && broken:
			return eval.Answer{}, &llm.Error{Status: 503, Text: "overloaded", Attempts: 5}
		case i == 5:
			a := says("不能回答 [A]")
			a.Reply.Refused = true
			return a, nil
		case i == 6:
			return says(""), nil
		}
		return says(gold(i)), nil
	})
	s, err := eval.Run(t.Context(), j)
	if err != nil {
		t.Fatal(err)
	}
	refused := []eval.Failure{
		{Index: 5, Kind: eval.FailureRefused, Cause: "refusal: 不能回答 [A]", Attempts: 1},
		{Index: 6, Kind: eval.FailureEmpty, Cause: "no text (finish_reason stop)", Attempts: 1},
	}
	want := []eval.Failure{
		{Index: 4, Kind: eval.FailureRequest, Cause: "HTTP 400: context too long [A]", Attempts: 1},
		refused[0], refused[1],
		{Index: 11, Kind: eval.FailureRequest, Cause: "HTTP 503: overloaded (5 attempts)", Attempts: 5},
	}
	if d := cmp.Diff(want, s.Failures); d != "" {
		t.Errorf("failures (-want +got):\n%s", d)
	}
	if s.N != 30 || s.Correct != 26 || fail.Code(s.Err()) != 3 {
		t.Errorf("n %d, correct %d, %v", s.N, s.Correct, s.Err())
	}
	rows := strings.Split(read(t, s.Files.Predictions), "\n")
	if !strings.Contains(rows[4], `"content": "", `) || !strings.Contains(rows[4], `"usage": null`) || !strings.Contains(rows[4], `"error": "HTTP 400: context too long [A]"`) {
		t.Errorf("row of a failure: %s", rows[4])
	}
	if rows := strings.Split(read(t, s.Files.Reviews), "\n"); !strings.Contains(rows[4], `"acc": 0.0}, "extracted_prediction": "", "prediction": ""`) {
		t.Errorf("review of a failure: %s", rows[4])
	}
	broken = false
	s, err = eval.Run(t.Context(), j)
	if err != nil || s.Err() != nil || s.Reused != 28 || s.Correct != 28 {
		t.Errorf("second run: reused %d, failures %v, correct %d, %v", s.Reused, s.Failures, s.Correct, err)
	}
	if d := cmp.Diff(refused, s.Failures, cmpopts.IgnoreFields(eval.Failure{}, "Attempts")); d != "" {
		t.Errorf("failures of the second run (-want +got):\n%s", d)
	}
}

func TestFatalEndsAndSaves(t *testing.T) {
	t.Parallel()
	items := ownItems(t, 40)
	dir := t.TempDir()
	down := true
	j := job(t, items, dir, func(_ context.Context, i int) (eval.Answer, error) {
		if i >= 20 && down {
			return eval.Answer{}, fail.New(fail.Unreachable, msg.Text{"gone", "已断开"})
		}
		return says(gold(i)), nil
	})
	_, err := eval.Run(t.Context(), j)
	if fail.Code(err) != 20 {
		t.Fatalf("error %v", err)
	}
	if h := fail.All(err)[0].Hints(msg.En); len(h) == 0 || !strings.Contains(h[len(h)-1], "of 40 answers are saved") {
		t.Errorf("hints %q", h)
	}
	down = false
	if s, err := eval.Run(t.Context(), j); err != nil || s.Reused != 20 || s.Correct != 40 {
		t.Errorf("reused %d, correct %d, %v", s.Reused, s.Correct, err)
	}
	// and one that never answers is given up
	var calls atomic.Int64
	j = job(t, items, t.TempDir(), func(context.Context, int) (eval.Answer, error) {
		calls.Add(1)
		return eval.Answer{}, &llm.Error{Status: 422, Text: "no such parameter"}
	})
	j.Concurrency = 1
	if _, err := eval.Run(t.Context(), j); err == nil || calls.Load() != 20 || !strings.Contains(err.Error(), "no such parameter") {
		t.Errorf("%d calls, %v", calls.Load(), err)
	}
}
