package eval_test

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/eval"
	"github.com/drydock-ml/drydock/eval/benchmark"
	"github.com/drydock-ml/drydock/eval/benchmark/benchtest"
	"github.com/drydock-ml/drydock/eval/evalscope"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/golden"
)

func marshal(t testing.TB, v any) []byte {
	t.Helper()
	b, err := drydock.MarshalJSON(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// review writes one review row of a question of ours.
func review(t testing.TB, index int, options []string, target, prediction string) string {
	t.Helper()
	q := drydock.Question{Stem: "自编题"}
	for _, o := range options {
		q.Options = append(q.Options, drydock.Option{Text: o})
	}
	p, err := choice(t).PromptText(&q)
	if err != nil {
		t.Fatal(err)
	}
	return string(evalscope.AppendReview(nil, &evalscope.Review{
		Index: index, Input: evalscope.Input([]drydock.Message{{Role: "user", Content: p}}), Target: target, Prediction: prediction, SampleID: index, GroupID: index,
	}))
}

// The letter was not offered (modelscope/evalscope issue 494).
func TestScoreOutsideOptions(t *testing.T) {
	t.Parallel()
	data := read(t, filepath.Join("testdata", "07-outside-options.jsonl"))
	s, err := eval.Score(eval.ScoreJob{Benchmark: choice(t), Name: "07.jsonl", Data: []byte(data)})
	if err != nil || s.Err() != nil {
		t.Fatal(err, s.Err())
	}
	if s.N != 4 || s.Accuracy != 0.5 || s.OutsideOptions != 1 || s.OutsideIndexes[0] != 0 || s.NoExtraction != 1 || s.NoExtractionIndexes[0] != 1 || len(s.Problems) != 0 {
		t.Errorf("%s", marshal(t, s))
	}
	// items of another benchmark, registered under the name, change nothing
	other, err := eval.Score(eval.ScoreJob{Benchmark: choice(t), Items: ownItems(t, 9), Name: "07.jsonl", Data: []byte(data)})
	if err != nil || other.Accuracy != 0.5 || other.OutsideOptions != 1 || len(other.Problems) != 0 || !noted(other, "other_items") || !noted(other, "out_of_order") {
		t.Errorf("with other items: %s, %v", marshal(t, other), err)
	}
	if fail.Code(s.AtLeast(0.6)) != 12 || s.AtLeast(0.5) != nil {
		t.Errorf("floor: %v, %v", s.AtLeast(0.6), s.AtLeast(0.5))
	}
}

func noted(s eval.Summary, code string) bool {
	return slices.ContainsFunc(s.Notes, func(n eval.Note) bool { return n.Code == code })
}

// A contestant's own results, with question and key in each row, need no items.
func TestScoreResultsOfAContestant(t *testing.T) {
	t.Parallel()
	data := golden.ReadFile(t, golden.RealData(t, "maritimebench-runs", "predictions.jsonl"))
	for _, items := range [][]benchmark.Item{nil, benchtest.RealItems(t)} {
		s, err := eval.Score(eval.ScoreJob{Benchmark: choice(t), Items: items, Name: "predictions.jsonl", Data: data})
		if err != nil || s.Err() != nil {
			t.Fatal(err, s.Err())
		}
		if s.N != 101 || s.Correct != 57 || math.Abs(s.Wilson95[0]-.467) > .0005 || math.Abs(s.Wilson95[1]-.657) > .0005 || s.Source.Kind != "outputs" {
			t.Errorf("%d of %d, %v, %+v", s.Correct, s.N, s.Wilson95, s.Source)
		}
		if missing := len(s.Problems); (items == nil && missing != 0) || (items != nil && missing != 1787) {
			t.Errorf("%d problems", missing)
		}
		if noted(s, "other_key") || noted(s, "other_items") || noted(s, "file_differs") {
			t.Errorf("notes %+v", s.Notes)
		}
	}
}

// What other programs leave is graded by the rule asked for, and a letter chosen by
// likelihood is taken as it is.
func TestScoreOtherPrograms(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		data       string
		kind       string
		n, correct int
		rule       string
	}{
		"lm-eval": {`{"doc_id":0,"doc":{"question":"q","A":"x","B":"y"},"target":"1","resps":[[["-3","False"]],[["-1","False"]]],"filtered_resps":[["-3","False"],["-1","False"]],"filter":"none","acc":1.0}
{"doc_id":1,"doc":{"question":"r","A":"x","B":"y"},"target":"0","resps":[[["-3","False"]],[["-1","False"]]],"filtered_resps":[["-3","False"],["-1","False"]],"filter":"none","acc":0.0}
`, "lm_eval", 2, 1, "bracket_first@1"},
		"OpenCompass": {`{"0":{"prediction":"[A] 不，[B]","gold":"B"},"1":{"prediction":"[B]","gold":"B"}}`, "opencompass", 2, 2, "bracket_last@1"},
		"swift":       {`{"response":"[A]","labels":"A","messages":[{"role":"user","content":"q"}]}` + "\n", "swift", 1, 1, "bracket_first@1"},
		"repeats":     {review(t, 0, []string{"红", "绿"}, "A", "[A]") + strings.Replace(review(t, 1, []string{"红", "绿"}, "A", "[B]"), `"group_id": 1`, `"group_id": 0`, 1), "reviews", 2, 1, "bracket_first@1"},
	} {
		b, err := choice(t).WithRule(c.rule)
		if err != nil {
			t.Fatal(err)
		}
		s, err := eval.Score(eval.ScoreJob{Benchmark: b, Name: "f", Data: []byte(c.data)})
		if err != nil || s.Err() != nil {
			t.Errorf("%s: %v, %v", name, err, s.Err())
			continue
		}
		if s.N != c.n || s.Correct != c.correct || s.Source.Kind != c.kind {
			t.Errorf("%s: %s", name, marshal(t, s))
		}
	}
}

// Repeats are rows of their own; items are joined to them by their group.
func TestScoreRepeats(t *testing.T) {
	t.Parallel()
	root := golden.RealData(t, "evalscope-golden", "v1.4.2", "repeats2-limit4")
	items := benchtest.RealItems(t)[:4]
	for _, file := range []string{"reviews.jsonl", "predictions.jsonl"} {
		dir := t.TempDir()
		s, err := eval.Score(eval.ScoreJob{
			Benchmark: choice(t), Items: items, Name: file, Data: golden.ReadFile(t, filepath.Join(root, file)), WorkDir: dir, Model: "qwen3-8b-sft",
		})
		if err != nil || s.N != 8 || s.Correct != 8 || len(s.Problems) != 0 {
			t.Fatalf("%s: %s, %v", file, marshal(t, s), err)
		}
		want := strings.Split(strings.TrimSpace(string(golden.ReadFile(t, filepath.Join(root, "reviews.jsonl")))), "\n")
		got := strings.Split(strings.TrimSpace(read(t, s.Files.Reviews)), "\n")
		slices.Sort(want)
		if slices.Sort(got); !slices.Equal(want, got) {
			t.Errorf("%s: reviews (-real +ours):\n%s", file, cmp.Diff(want, got))
		}
	}
}

// A refusal is no answer, whatever letter it holds; the files keep EvalScope's
// reading, and both figures are there.
func TestScoreRefusal(t *testing.T) {
	t.Parallel()
	items := ownItems(t, 3)
	run, err := eval.Run(t.Context(), job(t, items, t.TempDir(), func(_ context.Context, i int) (eval.Answer, error) {
		a := says(gold(i))
		a.Reply.Refused = i == 1
		return a, nil
	}))
	if err != nil || run.Correct != 2 || run.EvalScope == nil || run.EvalScope.Correct != 3 || !noted(run, "evalscope_differs") {
		t.Fatalf("%s, %v", marshal(t, run), err)
	}
	if report := read(t, run.Files.Report); !strings.Contains(report, `"score": 1.0`) {
		t.Errorf("report %s", report)
	}
	predictions := []byte(read(t, run.Files.Predictions))
	for _, j := range []eval.ScoreJob{
		{Benchmark: choice(t), Items: items, Data: predictions},
		{Benchmark: choice(t), Items: items, Data: []byte(read(t, run.Files.Reviews)), Predictions: predictions},
	} {
		if s, err := eval.Score(j); err != nil || s.Correct != 2 || s.EvalScope == nil || s.EvalScope.Correct != 3 {
			t.Errorf("%s, %v", marshal(t, s), err)
		}
	}
}

func TestFindAnswers(t *testing.T) {
	t.Parallel()
	rev, pred := review(t, 0, []string{"红", "绿"}, "A", "[A]"), `{"index":0,"model":"m","model_output":{"model":"m","choices":[{"message":{"id":"1","content":"[A]"},"stop_reason":"stop"}]}}`+"\n"
	part := `{"0":{"origin_prompt":"q","prediction":"[A]","gold":"A"}}`
	for name, c := range map[string]struct {
		fsys fstest.MapFS
		want string
		says string
	}{
		"EvalScope": {fstest.MapFS{
			"reviews/m/b_default.jsonl": {Data: []byte(rev)}, "predictions/m/b_default.jsonl": {Data: []byte(pred)},
			"reports/m/b.json": {Data: []byte("{\n  \"name\": 1\n}")}, ".drydock/eval/m/b.jsonl": {Data: []byte(pred)},
		}, "reviews/m/b_default.jsonl", ""},
		"swift eval": {fstest.MapFS{"native/20260101_000000/predictions/m/b.jsonl": {Data: []byte(pred)}}, "native/20260101_000000/predictions/m/b.jsonl", ""},
		"lm-eval": {fstest.MapFS{
			"m/samples_b_2026-01-01.jsonl": {Data: []byte(`{"doc_id":0,"resps":[["x"]],"target":"A"}` + "\n")}, "m/results_2026-01-01.json": {Data: []byte(`{"results":{}}`)},
		}, "m/samples_b_2026-01-01.jsonl", ""},
		"two models": {fstest.MapFS{"reviews/a/b.jsonl": {Data: []byte(rev)}, "reviews/c/b.jsonl": {Data: []byte(rev)}}, "", "2 files"},
		"parts": {fstest.MapFS{
			"predictions/m/b_0.json": {Data: []byte(part)}, "predictions/m/b_1.json": {Data: []byte(part)}, "predictions/m/b_10.json": {Data: []byte(part)},
		}, "", "3 files"},
		"all parts": {fstest.MapFS{"p/b_1.json": {Data: []byte(part)}, "p/b_0.json": {Data: []byte(part)}}, "p/b_0.json p/b_1.json", ""},
		"none":      {fstest.MapFS{"data/test.jsonl": {Data: []byte(`{"question":"q","answer":"A","A":"x","B":"y"}` + "\n")}}, "", "no file of answers"},
	} {
		got, err := eval.FindAnswers(c.fsys)
		if got := strings.Join(got, " "); got != c.want || (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

// First match and last match differ (openai/frontier-evals issue 125).
func TestScoreSelfCorrection(t *testing.T) {
	t.Parallel()
	data := read(t, filepath.Join("testdata", "09-self-correction.jsonl"))
	for rule, want := range map[string]float64{"bracket_first@1": 0.5, "bracket_last@1": 0.75} {
		b, err := choice(t).WithRule(rule)
		if err != nil {
			t.Fatal(err)
		}
		s, err := eval.Score(eval.ScoreJob{Benchmark: b, Name: "09.jsonl", Data: []byte(data)})
		if err != nil {
			t.Fatal(err)
		}
		if s.Accuracy != want || s.Rule != rule || cmp.Diff([]int{0, 1, 2}, s.OtherDiffersIndexes) != "" {
			t.Errorf("%s: %s", rule, marshal(t, s))
		}
	}
	if _, err := choice(t).WithRule("bracket_middle"); err == nil {
		t.Error("an unknown rule is taken")
	}
}

func codes(s eval.Summary) []string {
	var out []string
	for _, p := range s.Problems {
		out = append(out, p.Code)
	}
	return out
}

func TestScoreNamesBadRows(t *testing.T) {
	t.Parallel()
	four := []string{"红", "紫", "黑", "灰"}
	row := func(i int) string { return review(t, i, four, "A", "[A]") }
	data := row(0) + row(3) + row(3) + "{\"x\"\n" + row(1) + strings.TrimSuffix(row(1), "\n")[:40]
	s, err := eval.Score(eval.ScoreJob{Benchmark: choice(t), Name: "f", Data: []byte(data)})
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"duplicate", "bad_json", "torn", "missing"}, codes(s)); d != "" {
		t.Errorf("codes (-want +got):\n%s", d)
	}
	lines := []int{s.Problems[0].Line, s.Problems[1].Line, s.Problems[2].Line}
	if d := cmp.Diff([]int{3, 4, 6}, lines); d != "" || s.Problems[3].Index != 2 {
		t.Errorf("lines %v, missing %d", lines, s.Problems[3].Index)
	}
	if s.N != 3 || fail.Code(s.Err()) != 3 {
		t.Errorf("n %d, %v", s.N, s.Err())
	}
	for _, bad := range []string{"", "\n\n", "not json\n", `{"index":0}` + "\n"} {
		if _, err := eval.Score(eval.ScoreJob{Benchmark: choice(t), Name: "f", Data: []byte(bad)}); err == nil {
			t.Errorf("%q: no error", bad)
		}
	}
}

// Of rows that ask a registered item, the item's key counts, whatever the row
// claims.
func TestScoreForgedKey(t *testing.T) {
	t.Parallel()
	items := ownItems(t, 3)
	run, err := eval.Run(t.Context(), job(t, items, t.TempDir(), func(context.Context, int) (eval.Answer, error) { return says("[B]"), nil }))
	if err != nil {
		t.Fatal(err)
	}
	forged := strings.ReplaceAll(strings.ReplaceAll(read(t, run.Files.Reviews), `"target": "A"`, `"target": "B"`), `"acc": 0.0`, `"acc": 1.0`)
	s, err := eval.Score(eval.ScoreJob{Benchmark: choice(t), Items: items, Name: "f", Data: []byte(forged)})
	if err != nil || s.Correct != 1 {
		t.Fatalf("correct %d, %v", s.Correct, err)
	}
	var notes []string
	for _, n := range s.Notes {
		notes = append(notes, n.Code)
	}
	if d := cmp.Diff([]string{"file_differs", "other_key"}, notes); d != "" {
		t.Errorf("notes (-want +got):\n%s", d)
	}
}

func TestScoreOutputs(t *testing.T) {
	t.Parallel()
	items := ownItems(t, 4)
	data := `{"index": 1, "output": "<think>\n[A]\n</think>\n\n[B]"}
{"index": 0, "output": "[A]"}
{"index": 3, "output": "[D]"}
{"index": 9, "output": "[D]"}
`
	if _, err := eval.Score(eval.ScoreJob{Benchmark: choice(t), Name: "f", Data: []byte(data)}); fail.Code(err) != 2 {
		t.Errorf("without items: %v", err)
	}
	dir := t.TempDir()
	s, err := eval.Score(eval.ScoreJob{Benchmark: choice(t), Items: items, Name: "f", Data: []byte(data), WorkDir: dir, Model: "mine"})
	if err != nil {
		t.Fatal(err)
	}
	if s.N != 3 || s.Correct != 2 || s.OutsideOptions != 1 {
		t.Errorf("%s", marshal(t, s))
	}
	if d := cmp.Diff([]string{"unknown_index", "missing"}, codes(s)); d != "" {
		t.Errorf("codes (-want +got):\n%s", d)
	}
	if got := strings.Count(read(t, s.Files.Reviews), "\n"); got != 3 {
		t.Errorf("%d review rows", got)
	}
}

// Scoring what a run wrote gives the run's numbers and the same bytes.
func TestScoreOwnFiles(t *testing.T) {
	t.Parallel()
	items := ownItems(t, 20)
	replies := []string{"[A]", "[B]", "x", "[C] [A]", "[D]"}
	run, err := eval.Run(t.Context(), job(t, items, t.TempDir(), func(_ context.Context, i int) (eval.Answer, error) {
		a := says(replies[i%5])
		if i%4 == 1 {
			a.Reply.Think, a.Reply.Reasoning = &benchmark.Think{}, "想"
		}
		return a, nil
	}))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{run.Files.Predictions, run.Files.Reviews} {
		dir := t.TempDir()
		s, err := eval.Score(eval.ScoreJob{Benchmark: choice(t), Items: items, Name: file, Data: []byte(read(t, file)), WorkDir: dir, Model: run.Model})
		if err != nil || s.Err() != nil {
			t.Fatal(err, s.Err())
		}
		if s.Correct != run.Correct || s.OtherDiffers != run.OtherDiffers || s.OutsideOptions != run.OutsideOptions || s.NoExtraction != run.NoExtraction || len(s.Notes) != 0 {
			t.Errorf("%s: %s", file, marshal(t, s))
		}
		if d := cmp.Diff(read(t, run.Files.Reviews), read(t, s.Files.Reviews)); d != "" {
			t.Errorf("reviews (-run +score):\n%s", d)
		}
		if file == run.Files.Predictions {
			if d := cmp.Diff(read(t, run.Files.Predictions), read(t, s.Files.Predictions)); d != "" {
				t.Errorf("predictions (-run +score):\n%s", d)
			}
		}
	}
}

// Files the real tool wrote, both versions, come out as it scored them.
func TestScoreRealFiles(t *testing.T) {
	t.Parallel()
	items := benchtest.RealItems(t)
	for _, c := range []struct {
		path    string
		rule    string
		n, want int
	}{
		{"v1.4.2/limit25/reviews.jsonl", "bracket_first@1", 25, 10},
		{"v1.4.2/limit25/predictions.jsonl", "bracket_first@1", 25, 10},
		{"v1.14.1/limit25/reviews.jsonl", "bracket_last@1", 25, -1},
		{"v1.14.1/limit25/predictions.jsonl", "bracket_last@1", 25, -1},
	} {
		path := golden.RealData(t, "evalscope-golden", filepath.FromSlash(c.path))
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		b, err := choice(t).WithRule(c.rule)
		if err != nil {
			t.Fatal(err)
		}
		s, err := eval.Score(eval.ScoreJob{Benchmark: b, Items: items[:25], Name: c.path, Data: data})
		if err != nil {
			t.Fatal(err)
		}
		if s.N != c.n || (c.want >= 0 && s.Correct != c.want) || len(s.Problems) != 0 {
			t.Errorf("%s: %s", c.path, marshal(t, s))
		}
		for _, n := range s.Notes {
			if n.Code == "file_differs" || n.Code == "other_items" {
				t.Errorf("%s: %s", c.path, n.Text)
			}
		}
	}
}
