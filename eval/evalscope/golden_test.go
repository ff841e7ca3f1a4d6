package evalscope_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/eval/benchmark"
	"github.com/drydock-ml/drydock/eval/evalscope"
	"github.com/drydock-ml/drydock/internal/golden"
)

// mockReply is a line of replies.jsonl: what the server of the goldens said.
type mockReply struct {
	Index            int             `json:"index"`
	Content          *string         `json:"content"`
	ReasoningContent *string         `json:"reasoning_content"`
	Reasoning        *string         `json:"reasoning"`
	Finish           *string         `json:"finish_reason"`
	FinishNull       bool            `json:"finish_null"`
	NoUsage          bool            `json:"no_usage"`
	Model            string          `json:"model"`
	Usage            json.RawMessage `json:"usage"`
	Extra            map[string]any  `json:"message_extra"`
	Fail             json.RawMessage `json:"fail"`
}

func readReplies(t testing.TB, path string) map[int]mockReply {
	t.Helper()
	out := map[int]mockReply{}
	for _, l := range bytes.Split(bytes.TrimSpace(golden.ReadFile(t, path)), []byte{'\n'}) {
		var r mockReply
		if err := json.Unmarshal(l, &r); err != nil {
			t.Fatal(err)
		}
		out[r.Index] = r
	}
	return out
}

func (m *mockReply) reply() benchmark.Reply {
	finish := m.Finish
	if finish == nil && !m.FinishNull {
		stop := "stop"
		finish = &stop
	}
	a := benchmark.Assistant{Content: m.Content, ReasoningContent: m.ReasoningContent, Reasoning: m.Reasoning}
	if s, ok := m.Extra["refusal"].(string); ok {
		a.Refusal = &s
	}
	return benchmark.AssistantText(a, finish)
}

// streamed is the same reply put together from a stream. The server of the
// goldens streams the content, also where it is null, and the reasoning.
func (m *mockReply) streamed() benchmark.Reply {
	a := benchmark.Assistant{Content: m.Content, ReasoningContent: m.ReasoningContent, Reasoning: m.Reasoning}
	return benchmark.StreamedAssistantText(a, m.Finish)
}

// failure tells how the request for a reply ended for good. A reply that came
// with half a surrogate pair is none.
func (m *mockReply) failure(t testing.TB) (f evalscope.Failure, failed, surrogate bool) {
	t.Helper()
	if len(m.Fail) == 0 {
		return f, false, false
	}
	var w struct {
		Status, Times int
		Body, Raw     string
		Reset         bool
		Hang          int `json:"hang_ms"`
	}
	if err := json.Unmarshal(m.Fail, &w); err != nil {
		t.Fatal(err)
	}
	if w.Times > 0 {
		return f, false, false // a later try went well
	}
	if strings.Contains(w.Raw, `\ud83d `) {
		return f, false, true
	}
	f.Status = w.Status
	var body struct {
		Error struct {
			Message string
			Code    any
		}
	}
	if json.Unmarshal([]byte(w.Body), &body) == nil {
		f.Message = body.Error.Message
		f.Code, _ = body.Error.Code.(string)
	}
	return f, true, false
}

func (m *mockReply) usage(t testing.TB, prompt string) *benchmark.Usage {
	if m.NoUsage {
		return nil
	}
	u := &benchmark.Usage{Input: len([]rune(prompt))}
	if m.Content != nil {
		u.Output = len([]rune(*m.Content))
	}
	u.Total = u.Input + u.Output
	if len(m.Usage) > 0 {
		var w struct {
			Prompt     int `json:"prompt_tokens"`
			Completion int `json:"completion_tokens"`
			Total      int `json:"total_tokens"`
			PD         struct {
				Cached *int `json:"cached_tokens"`
			} `json:"prompt_tokens_details"`
			CD struct {
				Reasoning *int `json:"reasoning_tokens"`
			} `json:"completion_tokens_details"`
		}
		if err := json.Unmarshal(m.Usage, &w); err != nil {
			t.Fatal(err)
		}
		u = &benchmark.Usage{Input: w.Prompt, Output: w.Completion, Total: w.Total, CacheRead: w.PD.Cached, Reasoning: w.CD.Reasoning}
	}
	return u
}

var idField = regexp.MustCompile(`"id": "[0-9a-f]{8}"`)

// sortRows orders rows by index and masks message ids, the two things the real
// tool does otherwise in every run.
func sortRows(t testing.TB, b []byte) []string {
	t.Helper()
	lines := strings.SplitAfter(string(b), "\n")
	lines = lines[:len(lines)-1]
	place := map[string]int{}
	for _, l := range lines {
		digits, _, _ := strings.Cut(strings.TrimPrefix(l, `{"index": `), ",")
		n, err := strconv.Atoi(digits)
		if err != nil {
			t.Fatal(err)
		}
		place[l] = n
	}
	slices.SortFunc(lines, func(a, b string) int { return place[a] - place[b] })
	for i := range lines {
		lines[i] = idField.ReplaceAllString(lines[i], `"id": "XXXXXXXX"`)
	}
	return lines
}

func loadItems(t testing.TB, path string) []benchmark.Item {
	t.Helper()
	items, err := benchmark.ReadItems(filepath.Base(path), golden.ReadFile(t, path))
	if err != nil {
		t.Fatal(err)
	}
	return items
}

func maritime(t testing.TB) benchmark.Benchmark {
	t.Helper()
	b, err := benchmark.Lookup("maritime_bench")
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// A goldenRun is a folder of the goldens and how it was made.
type goldenRun struct {
	folder  string
	items   string // under realdata; empty: the whole benchmark
	replies string // empty: the key of every item
	n       int
	system  string
	repeats int
	filters string
	stream  bool
	fails   bool // failed requests are left out, as --ignore-errors does
}

// rows renders what the run must have written.
func (c goldenRun) rows(t testing.TB, root string, schema evalscope.Schema, b *benchmark.Choice) (predictions, reviews []byte, report evalscope.Report) {
	t.Helper()
	items := filepath.Join(filepath.Dir(root), "maritimebench", "maritimebench_test.json")
	if c.items != "" {
		items = filepath.Join(root, filepath.FromSlash(c.items))
	}
	replies := map[int]mockReply{}
	if c.replies != "" {
		replies = readReplies(t, filepath.Join(root, filepath.FromSlash(c.replies)))
	}
	const model = "qwen3-8b-sft"
	report = evalscope.Report{Model: model, Bench: "maritime_bench", Info: b.Info(), Asked: c.n}
	repeats := max(c.repeats, 1)
	all := loadItems(t, items)
	for i := range c.n * repeats {
		it := all[i/repeats]
		m := b.Prompt(it)
		if c.system != "" {
			m = append([]drydock.Message{{Role: "system", Content: c.system}}, m...)
		}
		mock, ok := replies[i]
		if !ok {
			gold := "[" + it.Gold[0] + "]"
			mock = mockReply{Index: i, Content: &gold}
		}
		p := evalscope.Prediction{Index: i, Model: model, Served: model, ID: "XXXXXXXX", Messages: m, Latency: time.Second}
		if mock.Model != "" {
			p.Served = mock.Model
		}
		failure, failed, surrogate := mock.failure(t)
		switch {
		case failed:
			reply, ok := failure.Reply()
			if !ok {
				continue
			}
			p.Reply, p.Latency = reply, 0
		case c.stream:
			p.Reply = mock.streamed()
		default:
			p.Reply = mock.reply()
		}
		if !failed {
			p.Usage = mock.usage(t, m[len(m)-1].Content)
		}
		g := b.Grade(it, p.Reply)
		if surrogate {
			if schema == evalscope.Schema114 {
				continue // counted as failed since
			}
			g.Verdict = benchmark.Wrong
		}
		report.Num++
		report.Perf = append(report.Perf, p.Perf())
		if g.Verdict == benchmark.Correct {
			report.Correct++
		}
		if surrogate {
			continue
		}
		predictions = schema.AppendPrediction(predictions, &p)
		reviews = schema.AppendReview(reviews, &evalscope.Review{
			Index: i, Input: evalscope.Input(m), Target: it.Key(), Acc: g.Score, Extracted: g.Extracted, Prediction: p.Reply.Text,
			SampleID: i, GroupID: i / repeats, Generation: i % repeats, Answer: &p,
		})
	}
	return predictions, reviews, report
}

// TestGoldens writes what the real EvalScope 1.4.2 wrote, every byte.
func TestGoldens(t *testing.T) {
	t.Parallel()
	root := golden.RealData(t, "evalscope-golden")
	for _, c := range []goldenRun{
		{folder: "limit25", replies: "v1.4.2/limit25/replies.jsonl", n: 25},
		{folder: "edge64", items: "edge64/test.jsonl", replies: "edge64/replies.jsonl", n: 64},
		{folder: "full-perfect", n: 1888},
		{folder: "full-messy", replies: "v1.4.2/full-messy/replies.jsonl", n: 1888},
		{folder: "sample10", replies: "v1.4.2/sample10/replies.jsonl", n: 10},
		{folder: "nostream6", replies: "v1.4.2/nostream6/replies.jsonl", n: 6},
		{folder: "stream6", replies: "v1.4.2/stream6/replies.jsonl", n: 6, stream: true},
		{folder: "filters6", replies: "v1.4.2/filters6/replies.jsonl", n: 6, filters: `{"remove_until":"</think>"}`},
		{folder: "repeats2-limit4", n: 4, repeats: 2},
		{folder: "system-prompt-limit4", n: 4, system: "你是船长。"},
		{folder: "fail25-ignore-errors", replies: "v1.4.2/fail25-ignore-errors/replies.jsonl", n: 25, fails: true},
	} {
		t.Run(c.folder, func(t *testing.T) {
			t.Parallel()
			b := filtered(t, c.filters)
			predictions, reviews, report := c.rows(t, root, evalscope.Schema142, b)
			dir := filepath.Join(root, "v1.4.2", c.folder)
			if d := cmp.Diff(sortRows(t, golden.ReadFile(t, filepath.Join(dir, "reviews.jsonl"))), sortRows(t, reviews)); d != "" {
				t.Errorf("reviews (-real +ours):\n%s", d)
			}
			if d := cmp.Diff(sortRows(t, golden.ReadFile(t, filepath.Join(dir, "predictions.jsonl"))), sortRows(t, predictions)); d != "" {
				t.Errorf("predictions (-real +ours):\n%s", d)
			}
			if d := cmp.Diff(string(golden.ReadFile(t, filepath.Join(dir, "report.json"))), string(evalscope.AppendReport(nil, &report))); d != "" {
				t.Errorf("report (-real +ours):\n%s", d)
			}
			if c.fails && (report.Num != 12 || len(sortRows(t, reviews)) != 11 || evalscope.Round4(float64(report.Correct)/float64(report.Num)) != .9167) {
				t.Errorf("%d counted, %d rows, %d right", report.Num, len(sortRows(t, reviews)), report.Correct)
			}
			if c.folder == "full-perfect" {
				sum := sha256.Sum256(reviews)
				if got := hex.EncodeToString(sum[:]); got != "028a182afe6e77b26ae073e1494d1a6e0125481cfd8aef6e32626cc2bbe5ba66" {
					t.Errorf("perfect reviews: sha256 %s", got)
				}
			}
		})
	}
}

// filtered is MaritimeBench with filters before its rule.
func filtered(t testing.TB, filters string) *benchmark.Choice {
	t.Helper()
	f, err := benchmark.ParseFilters(filters)
	if err != nil {
		t.Fatal(err)
	}
	return maritime(t).(*benchmark.Choice).WithFilters(f)
}

// The official sample is in another order and must come out the same bytes when
// read and written.
func TestOfficialSample(t *testing.T) {
	t.Parallel()
	data := golden.ReadFile(t, golden.RealData(t, "maritimebench", "Q2-sample-submit.jsonl"))
	kind, rows, problems := evalscope.Read(data)
	if kind != evalscope.KindReviews || len(rows) != 10 || len(problems) != 0 {
		t.Fatalf("kind %s, %d rows, problems %v", kind, len(rows), problems)
	}
	var out []byte
	for _, r := range rows {
		out = evalscope.AppendReview(out, &evalscope.Review{
			Index: r.Index, Input: r.Input, Target: r.Target, Acc: r.Acc, Extracted: r.Extracted,
			Prediction: r.Text, SampleID: r.Index, GroupID: r.Index,
		})
	}
	if d := cmp.Diff(string(data), string(out)); d != "" {
		t.Errorf("sample (-theirs +ours):\n%s", d)
	}
}

func TestHalfEvenReports(t *testing.T) {
	t.Parallel()
	b := maritime(t)
	for n, name := range map[int]string{59: "report_59_of_1888.json", 1475: "report_1475_of_1888.json"} {
		want := golden.ReadFile(t, golden.RealData(t, "evalscope-golden", "v1.4.2", "half-even", name))
		got := evalscope.AppendReport(nil, &evalscope.Report{Model: "qwen3-8b-sft", Bench: "maritime_bench", Info: b.Info(), Correct: n, Num: 1888})
		if d := cmp.Diff(string(want), string(got)); d != "" {
			t.Errorf("%s (-real +ours):\n%s", name, d)
		}
	}
}

// TestReadsWhatTheToolWrites reads predictions of both versions and finds the
// text the tool graded.
func TestReadsWhatTheToolWrites(t *testing.T) {
	t.Parallel()
	root := golden.RealData(t, "evalscope-golden")
	for _, version := range []string{"v1.4.2", "v1.14.1"} {
		for _, folder := range []string{"edge64", "full-messy"} {
			_, reviews, problems := evalscope.Read(golden.ReadFile(t, filepath.Join(root, version, folder, "reviews.jsonl")))
			if len(problems) > 0 {
				t.Errorf("%s/%s reviews: %v", version, folder, problems)
			}
			kind, predictions, problems := evalscope.Read(golden.ReadFile(t, filepath.Join(root, version, folder, "predictions.jsonl")))
			if kind != evalscope.KindPredictions || len(problems) > 0 {
				t.Errorf("%s/%s predictions: %s %v", version, folder, kind, problems)
			}
			text := map[int]string{}
			for _, p := range predictions {
				text[p.Index] = p.Text
			}
			if len(reviews) != len(predictions) {
				t.Errorf("%s/%s: %d reviews, %d predictions", version, folder, len(reviews), len(predictions))
			}
			for _, r := range reviews {
				if r.Text != text[r.Index] {
					t.Errorf("%s/%s index %d: review says %q, prediction %q", version, folder, r.Index, r.Text, text[r.Index])
				}
				if r.Input == "" || r.Target == "" || !r.Scored {
					t.Errorf("%s/%s index %d: input, target or score missing", version, folder, r.Index)
				}
			}
		}
	}
}

// newerFolders are the goldens of 1.14.1.
func newerFolders() []string {
	return []string{"limit25", "edge64", "full-messy", "fail25-ignore-errors"}
}

// TestTaskConfig writes the real file but for the paths of the machine.
func TestTaskConfig(t *testing.T) {
	t.Parallel()
	zero := 0.0
	for version, schema := range map[string]evalscope.Schema{"v1.4.2": evalscope.Schema142, "v1.14.1": evalscope.Schema114} {
		for folder, c := range map[string]evalscope.Config{
			"limit25":              {Limit: 25, Temperature: &zero},
			"edge64":               {Temperature: &zero, BatchSize: 16},
			"full-perfect":         {Temperature: &zero, BatchSize: 64},
			"full-messy":           {Temperature: &zero, BatchSize: 64},
			"full-fixedB":          {Temperature: &zero, BatchSize: 64},
			"sample10":             {Temperature: &zero, Limit: 10},
			"system-prompt-limit4": {Temperature: &zero, Limit: 4, SystemPrompt: "你是船长。"},
			"nostream6":            {Temperature: &zero, Limit: 6},
			"stream6":              {Temperature: &zero, Limit: 6, Stream: true},
			"filters6":             {Temperature: &zero, Limit: 6, Filters: benchmark.Filters{{Name: "remove_until", Value: "</think>"}}},
			"repeats2-limit4":      {Limit: 4, Repeats: 2, Generation: []drydock.RawField{{Name: "n", Value: drydock.RawJSON("1")}}},
			"fail25-ignore-errors": {Temperature: &zero, Limit: 25, BatchSize: 25, Timeout: 2, IgnoreErrors: true},
		} {
			if folders := newerFolders(); version == "v1.14.1" && !slices.Contains(folders, folder) {
				continue
			}
			path := golden.RealData(t, "evalscope-golden", version, folder, "task_config.yaml")
			b := maritime(t).(*benchmark.Choice)
			c.Model, c.Bench, c.Info, c.Template, c.APIURL = "qwen3-8b-sft", "maritime_bench", b.Info(), b.Template(), "http://127.0.0.1:8000/v1"
			if version == "v1.4.2" && folder == "edge64" {
				c.BatchSize = 0
			}
			want := strings.NewReplacer(
				"dataset_id: DATASET_DIR", "dataset_id: HiDolphin/MaritimeBench",
				"dataset_dir: HOME/.cache/modelscope/hub/datasets", "dataset_dir: null",
				"work_dir: WORK_DIR", "work_dir: .", "PORT", "8000",
				// the newer one's own ways to name the machine's
				"  maritime_bench:\n    local_path: DATASET_DIR\n", "  maritime_bench: {}\n",
			).Replace(string(golden.ReadFile(t, path)))
			want = regexp.MustCompile(`fingerprint: sha256:\w+`).ReplaceAllString(want, "fingerprint: null")
			_, got := schema.ConfigFile(c)
			if d := cmp.Diff(want, string(got)); d != "" {
				t.Errorf("%s/%s (-real +ours):\n%s", version, folder, d)
			}
		}
	}
}
