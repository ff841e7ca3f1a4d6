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

// TestGoldens writes what the real EvalScope 1.4.2 wrote, every byte.
func TestGoldens(t *testing.T) {
	t.Parallel()
	root := golden.RealData(t, "evalscope-golden")
	full := filepath.Join(filepath.Dir(root), "maritimebench", "maritimebench_test.json")
	for _, c := range []struct {
		folder, items, replies string
		n                      int
		system                 string
	}{
		{folder: "limit25", items: full, replies: "v1.4.2/limit25/replies.jsonl", n: 25},
		{folder: "edge64", items: filepath.Join(root, "edge64", "test.jsonl"), replies: "edge64/replies.jsonl", n: 64},
		{folder: "full-perfect", items: full, n: 1888},
		{folder: "full-messy", items: full, replies: "v1.4.2/full-messy/replies.jsonl", n: 1888},
		{folder: "sample10", items: full, replies: "v1.4.2/sample10/replies.jsonl", n: 10},
		{folder: "nostream6", items: full, replies: "v1.4.2/nostream6/replies.jsonl", n: 6},
		{folder: "system-prompt-limit4", items: full, n: 4, system: "你是船长。"},
	} {
		t.Run(c.folder, func(t *testing.T) {
			t.Parallel()
			replies := map[int]mockReply{}
			if c.replies != "" {
				replies = readReplies(t, filepath.Join(root, filepath.FromSlash(c.replies)))
			}
			b := maritime(t)
			var reviews, predictions []byte
			correct := 0
			for i, it := range loadItems(t, c.items)[:c.n] {
				m := b.Prompt(it)
				shown := m
				if c.system != "" {
					shown = append([]drydock.Message{{Role: "system", Content: c.system}}, m...)
				}
				r, ok := replies[i]
				if !ok {
					gold := "[" + it.Gold[0] + "]"
					r = mockReply{Index: i, Content: &gold}
				}
				served := r.Model
				if served == "" {
					served = "qwen3-8b-sft"
				}
				reply := r.reply()
				g := b.Grade(it, reply)
				if g.Verdict == benchmark.Correct {
					correct++
				}
				reviews = evalscope.AppendReview(reviews, &evalscope.Review{
					Index: i, Input: evalscope.Input(shown), Target: it.Gold[0], Acc: g.Score,
					Extracted: g.Extracted, Prediction: reply.Text, SampleID: i, GroupID: i,
				})
				prompt := ""
				for _, m := range shown {
					prompt += m.Content
				}
				predictions = evalscope.AppendPrediction(predictions, &evalscope.Prediction{
					Index: i, Model: "qwen3-8b-sft", Served: served, ID: "XXXXXXXX", Reply: reply, Usage: r.usage(t, m[0].Content),
				})
			}
			dir := filepath.Join(root, "v1.4.2", c.folder)
			if d := cmp.Diff(sortRows(t, golden.ReadFile(t, filepath.Join(dir, "reviews.jsonl"))), sortRows(t, reviews)); d != "" {
				t.Errorf("reviews (-real +ours):\n%s", d)
			}
			if d := cmp.Diff(sortRows(t, golden.ReadFile(t, filepath.Join(dir, "predictions.jsonl"))), sortRows(t, predictions)); d != "" {
				t.Errorf("predictions (-real +ours):\n%s", d)
			}
			report := evalscope.AppendReport(nil, &evalscope.Report{Model: "qwen3-8b-sft", Bench: "maritime_bench", Info: b.Info(), Correct: correct, Num: c.n})
			if d := cmp.Diff(string(golden.ReadFile(t, filepath.Join(dir, "report.json"))), string(report)); d != "" {
				t.Errorf("report (-real +ours):\n%s", d)
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

// TestTaskConfig writes the real file but for the paths of the machine.
func TestTaskConfig(t *testing.T) {
	t.Parallel()
	zero := 0.0
	b := maritime(t).(*benchmark.Choice)
	for _, c := range []struct {
		folder string
		limit  int
		system string
	}{{folder: "limit25", limit: 25}, {folder: "edge64"}, {folder: "system-prompt-limit4", limit: 4, system: "你是船长。"}} {
		want := string(golden.ReadFile(t, golden.RealData(t, "evalscope-golden", "v1.4.2", c.folder, "task_config.yaml")))
		want = strings.NewReplacer(
			"dataset_id: DATASET_DIR", "dataset_id: HiDolphin/MaritimeBench",
			"dataset_dir: HOME/.cache/modelscope/hub/datasets", "dataset_dir: null",
			"work_dir: WORK_DIR", "work_dir: .",
			"PORT", "8000",
		).Replace(want)
		_, got := evalscope.Config{
			Model: "qwen3-8b-sft", Bench: "maritime_bench", Info: b.Info(), Template: b.Template(),
			APIURL: "http://127.0.0.1:8000/v1", Temperature: &zero, Limit: c.limit, SystemPrompt: c.system,
		}.File()
		// the batch size of edge64 was not the default
		want = regexp.MustCompile(`batch_size: \d+`).ReplaceAllString(want, "batch_size: 1")
		if d := cmp.Diff(want, string(got)); d != "" {
			t.Errorf("%s (-real +ours):\n%s", c.folder, d)
		}
	}
}
