package report_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/eval"
	"github.com/drydock-ml/drydock/eval/benchmark"
	"github.com/drydock-ml/drydock/eval/report"
	"github.com/drydock-ml/drydock/internal/golden"
	"github.com/drydock-ml/drydock/internal/msg"
)

// run grades n answers of which every third is wrong, and some say nothing.
func run(t *testing.T, n, shift int) eval.Summary {
	t.Helper()
	b, err := benchmark.Lookup("maritime_bench")
	if err != nil {
		t.Fatal(err)
	}
	var items []benchmark.Item
	var rows strings.Builder
	for i := range n {
		key := string(rune('A' + i%4))
		it := benchmark.Item{ID: fmt.Sprint(i), Index: i, Gold: []string{key}, Tags: map[string]string{"subject": []string{"船舶避碰", "轮机 <1>"}[i%2]}}
		it.Question = drydock.Question{Kind: drydock.Single, Stem: fmt.Sprintf("第%d题______。", i), Answer: []string{key}}
		for j, text := range []string{"甲", "乙", "丙", "丁"} {
			it.Question.Options = append(it.Question.Options, drydock.Option{Label: string(rune('A' + j)), Text: text})
		}
		items = append(items, it)
		letter := key
		if (i+shift)%3 == 0 {
			letter = string(rune('A' + (i+1)%4))
		}
		out := "[" + letter + "]"
		switch {
		case i%29 == 0:
			out = "不知道"
		case i%23 == 0:
			out = "[A] 或 [" + letter + "]"
		}
		fmt.Fprintf(&rows, "{\"index\":%d,\"output\":%q}\n", i, out)
	}
	s, err := eval.Score(eval.ScoreJob{Benchmark: b, Items: items, Name: "rows.jsonl", Data: []byte(rows.String()), Model: "qwen3-8b"})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestRun(t *testing.T) {
	t.Parallel()
	s := run(t, 120, 0)
	a := s.Analyze(nil)
	for _, l := range []msg.Lang{msg.En, msg.Zh} {
		t.Run(l.String(), func(t *testing.T) {
			t.Parallel()
			golden.Equal(t, ".md", report.Run(&s, &a, l).Markdown())
		})
	}
	if page := string(report.Run(&s, &a, msg.Zh).HTML()); strings.Contains(page, "轮机 <1>") || strings.Count(page, "<svg") != 2 {
		t.Error("the page shows text as markup, or lacks a chart")
	}
}

// TestRunSaysEverything: what a summary knows stands in its report.
func TestRunSaysEverything(t *testing.T) {
	t.Parallel()
	s := run(t, 12, 0)
	s.Queries, s.Reused, s.Repeats, s.Baseline, s.Truncated = 31, 32, 33, true, 34
	s.EvalScope = &eval.Figures{N: 35, Correct: 7, Accuracy: 0.2}
	s.AllCounted = &eval.Figures{N: 36, Correct: 9, Accuracy: 0.25}
	s.Traffic = &eval.Traffic{Requests: 37, Retries: 38, Hedged: 39}
	s.Preflight = &eval.PreflightReport{Checks: []eval.Check{{ID: "letter", Status: eval.CheckWarned}, {ID: "server", Status: eval.CheckPassed}}}
	s.Failures = []eval.Failure{{Index: 40, Kind: eval.FailureRefused, Cause: "refusal: A", Attempts: 41}}
	s.Problems = []eval.FileProblem{{Code: "torn"}}
	s.Permutations = &eval.Permutations{Orders: []eval.OrderScore{{N: 12}, {Order: 1, N: 12, Accuracy: 0.42, Letters: map[string]int{"D": 43}}}, Items: 11, Fixed: 1}
	lead := 4.25
	s.Logprobs = &eval.LogprobScore{N: 12, Correct: 6, Accuracy: 0.5, Same: 5, Missing: 44, Margin: &lead}
	a := s.Analyze(nil)
	page := string(report.Run(&s, &a, msg.En).Markdown())
	for _, want := range []string{
		"| 31 |", "| 32 |", "| 33 |", "a baseline", "| 34 |", "20.00 % (7 of 35)", "25.00 % (9 of 36)", "37; 38 tried again, 39 asked twice",
		"1 check passed, 1 warned", "| letter |", "| 40 | refused | refusal: A | 41 |", "Lines of the file", "42.00 %", "D 43", "mean accuracy", "rows.jsonl",
		"50.00 %, 6 of 12; the same letter as written on 5, no letter on 44; median lead on the next letter 4.25",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the report lacks %q", want)
		}
	}
	if len(s.DependsOn) < 4 {
		t.Fatalf("it depends on %v", s.DependsOn)
	}
	for _, c := range s.DependsOn {
		if !strings.Contains(page, c.Value) {
			t.Errorf("the report lacks %s %s", c.Name, c.Value)
		}
	}
}

func TestComparison(t *testing.T) {
	t.Parallel()
	base, one, two := run(t, 120, 0), run(t, 120, 1), run(t, 119, 0)
	c := eval.Compare("maritime_bench", eval.Graded{Name: "base", Outcomes: base.Outcomes()}, []eval.Graded{
		{Name: "ck200", Outcomes: one.Outcomes()}, {Name: "ck400", Outcomes: two.Outcomes()},
	}, eval.Subjects(nil).By(base.Outcomes()))
	for _, l := range []msg.Lang{msg.En, msg.Zh} {
		t.Run(l.String(), func(t *testing.T) {
			t.Parallel()
			golden.Equal(t, ".md", report.Comparison(&c, l).Markdown())
		})
	}
}

// TestSweep: each checkpoint with its weights and answers, what they share once.
func TestSweep(t *testing.T) {
	t.Parallel()
	one, two := run(t, 60, 0), run(t, 60, 1)
	shared := eval.Condition{Name: "sampling", Value: "{\"temperature\":0.0}"}
	one.DependsOn = []eval.Condition{shared, {Name: "reviews", Value: "sha256:11"}}
	two.DependsOn = []eval.Condition{shared, {Name: "reviews", Value: "sha256:22"}}
	two.Failures = []eval.Failure{{Index: 3, Kind: eval.FailureRequest}}
	s := eval.Sweep{Benchmark: "b@1", Base: "base", BaseError: "no such model", Queries: 5, Rows: []eval.SweepRow{
		{Checkpoint: "ck100", Step: 100, SHA256: "aa", Test: &one},
		{Checkpoint: "ck200", Step: 200, SHA256: "bb", Test: &two},
		{Checkpoint: "ck300", Step: 300, SHA256: "cc", Error: "DoRA is not served"},
	}}
	page := string(report.Sweep(&s, msg.En).Markdown())
	for _, want := range []string{
		"asked in 5 runs", "every checkpoint was asked the test: the best of 3", "no such model", "DoRA is not served", "1 item without an answer",
		"| ck100 | weights | sha256:aa |", "| ck100 | reviews | sha256:11 |", "| ck200 | reviews | sha256:22 |", "| ck300 | weights | sha256:cc |",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the report lacks %q:\n%s", want, page)
		}
	}
	if n := strings.Count(page, "| sampling |"); n != 1 {
		t.Errorf("what they share is said %d times", n)
	}
	if s.Dev = "dev@1"; report.SweepAdvice(&s, msg.Zh) != "" {
		t.Error("a choice on other items needs no advice")
	}
}
