package eval

import (
	"maps"
	"slices"
	"strings"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/eval/benchmark"
	"github.com/drydock-ml/drydock/eval/evalscope"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
)

// A ScoreJob grades a file again, without a model.
type ScoreJob struct {
	Benchmark benchmark.Benchmark
	// Items are the benchmark's; nil when they are not at hand. Reviews can be
	// graded without, since they hold key and prompt.
	Items []benchmark.Item
	Name  string // of the file, for errors
	Data  []byte // reviews, predictions, or {"index", "output"} rows
	// WorkDir gets reviews, predictions and a report in EvalScope's layout; empty:
	// nothing is written.
	WorkDir string
	Model   string           // names the folders there; empty: as the rows say
	Schema  evalscope.Schema // of these files; empty: 1.4.2
}

// Score grades every row of a file. n is the rows given; lines that cannot be
// read, repeated indexes and, where the items are known, missing ones are in
// the summary's problems.
func Score(job ScoreJob) (Summary, error) {
	kind, rows, problems := evalscope.Read(job.Data)
	if kind == evalscope.KindEmpty {
		f := fail.New(fail.Config, msg.Text{"no row of reviews, predictions or {\"index\", \"output\"}", "没有 reviews、predictions 或 {\"index\", \"output\"} 记录"}).
			At(fail.Where{File: job.Name})
		if len(problems) > 0 {
			p := problems[0]
			f = fail.New(fail.Config, msg.Text{"no row can be read; %s", "没有可读的记录；%s"}, p).At(fail.Where{File: job.Name, Line: p.Line})
		}
		return Summary{}, f
	}
	if kind != evalscope.KindReviews && job.Items == nil {
		return Summary{}, fail.New(fail.Usage, msg.Text{"rows of %s hold no key; the items of %s are needed", "%s 记录不含标准答案；需要 %s 的题目"}, string(kind), job.Benchmark.Ref()).
			Hint(msg.Text{"drydock bench add NAME FILE registers them", "drydock bench add NAME FILE 可登记题目"})
	}
	s := Summary{Model: job.Model}
	foreign := kind == evalscope.KindReviews && job.Items != nil && !job.anyMatches(rows)
	if foreign {
		job.Items = nil
	}
	for _, p := range problems {
		s.problem(p.Code, p.Line, p.Index, p.Text, p.Args...)
	}
	results := job.results(rows, &s)
	if len(results) == 0 {
		return Summary{}, fail.New(fail.Config, msg.Text{"no row belongs to an item of %s", "没有一行属于 %s 的题目"}, job.Benchmark.Ref()).
			At(fail.Where{File: job.Name})
	}
	if s.Model == "" {
		s.Model = rows[0].Model
	}
	counted := summarize(job.Benchmark, results, OnErrorWrong, &s)
	if foreign {
		s.note("other_items", msg.Text{"no row asks an item of %s as it is registered; graded by the rows' own keys", "没有一行与已登记的 %s 题目相符；按各行自带的标准答案评分"}, job.Benchmark.Ref())
	}
	job.compare(rows, results, &s)
	if job.WorkDir == "" {
		return s, nil
	}
	return s, job.write(counted, &s)
}

// results joins rows to items by index, in the order of the index.
func (job *ScoreJob) results(rows []evalscope.Row, s *Summary) []result {
	byIndex := map[int]*evalscope.Row{}
	most := -1
	for i := range rows {
		byIndex[rows[i].Index] = &rows[i]
		most = max(most, rows[i].Index)
	}
	if job.Items != nil {
		for i := range rows {
			if r := &rows[i]; r.Index >= len(job.Items) {
				s.problem("unknown_index", r.Line, r.Index, msg.Text{"line %d: the benchmark has no item %d", "第 %d 行：评测集中没有第 %d 题"}, r.Line, r.Index)
				delete(byIndex, r.Index)
			}
		}
		most = len(job.Items) - 1
	}
	var out []result
	// indexes may be as wild as the file likes, so walk the rows, not the range
	for _, index := range slices.Sorted(maps.Keys(byIndex)) {
		out = append(out, job.result(byIndex[index]))
	}
	missing := most + 1 - len(out)
	if missing <= 0 {
		return out
	}
	named := 0
	next := 0
	for _, r := range append(out, result{index: most + 1}) {
		for ; next < r.index && named < maxMissing; next++ {
			s.problem("missing", 0, next, msg.Text{"no row has index %d", "没有 index 为 %d 的行"}, next)
			named++
		}
		next = r.index + 1
	}
	if missing > named {
		s.problem("missing", 0, -1, msg.Text{"%d more indexes have no row", "另有 %d 个 index 没有对应行"}, missing-named)
	}
	return out
}

// maxMissing is how many missing indexes are named one by one.
const maxMissing = 2000

func (job *ScoreJob) result(row *evalscope.Row) result {
	r := result{index: row.Index, served: row.Served, id: row.ID, usage: row.Usage, err: row.Error, input: row.Input}
	r.reply.Text = row.Text
	if row.Reply != nil {
		r.reply = *row.Reply
	}
	if job.Items != nil && (row.Input == "" || job.matches(row)) {
		r.item = job.Items[row.Index]
		if r.input == "" {
			r.input = evalscope.Input(job.Benchmark.Prompt(r.item))
		}
		return r
	}
	r.item = benchmark.Item{Index: row.Index, Gold: []string{row.Target}}
	r.item.Question = shownQuestion(job.Benchmark, row)
	return r
}

// matches reports whether a row's prompt is that of the item with its index; a
// system prompt may stand before it.
func (job *ScoreJob) matches(row *evalscope.Row) bool {
	return row.Index < len(job.Items) && strings.HasSuffix(row.Input, evalscope.Input(job.Benchmark.Prompt(job.Items[row.Index])))
}

func (job *ScoreJob) anyMatches(rows []evalscope.Row) bool {
	for i := range rows {
		if rows[i].Input == "" || job.matches(&rows[i]) {
			return true
		}
	}
	return false
}

// shownQuestion reads the question back from a review's prompt, so that a
// letter that was not offered is seen. A prompt that is not this benchmark's
// counts as having the usual four options.
func shownQuestion(b benchmark.Benchmark, row *evalscope.Row) drydock.Question {
	if u, ok := b.(Unprompter); ok {
		prompt := row.Input
		if i := strings.LastIndex(prompt, "**User**: \n"); i >= 0 {
			prompt = prompt[i+len("**User**: \n"):]
		}
		if q, ok := u.Unprompt(prompt); ok {
			for _, o := range q.Options {
				if strings.EqualFold(o.Label, strings.TrimSpace(row.Target)) {
					q.Answer = []string{o.Label}
				}
			}
			return q
		}
	}
	return drydock.Question{Options: make([]drydock.Option, 4)}
}

// compare reports where the file itself says otherwise.
func (job *ScoreJob) compare(rows []evalscope.Row, results []result, s *Summary) {
	at := map[int]*result{}
	for i := range results {
		at[results[i].index] = &results[i]
	}
	letters, scores, keys, prompts := 0, 0, 0, 0
	for i := range rows {
		row := &rows[i]
		r, ok := at[row.Index]
		if !ok || !row.Scored {
			continue
		}
		if row.Extracted != r.grade.Extracted {
			letters++
		}
		if row.Acc != r.grade.Score {
			scores++
		}
		if job.Items != nil {
			switch {
			case row.Input != "" && !job.matches(row):
				prompts++
			case row.Target != r.item.Key():
				keys++
			}
		}
	}
	if letters > 0 || scores > 0 {
		s.note("file_differs", msg.Text{"the file extracted another letter in %d {row|rows} and scored %d {row|rows} otherwise than %s", "文件中有 %d 行抽取的字母、%d 行的得分与 %s 不同"}, letters, scores, s.Rule)
	}
	if keys > 0 {
		s.note("other_key", msg.Text{"%d {row names|rows name} another key than the item of that index; the items' keys count", "%d 行的标准答案与题目不同；以题目为准"}, keys)
	}
	if prompts > 0 {
		s.note("other_items", msg.Text{"%d {row asks|rows ask} something else than the item of that index; their own keys count", "%d 行的提示与同序号题目不同；以各行自带的标准答案为准"}, prompts)
	}
}

func (job *ScoreJob) write(results []result, s *Summary) error {
	for i := range results {
		r := &results[i]
		if r.input == "" {
			return fail.New(fail.Usage, msg.Text{"index %d: the row shows no prompt; the items of %s are needed to write reviews", "index %d：该行不含提示；写出 reviews 需要 %s 的题目"}, r.index, job.Benchmark.Ref())
		}
		if r.id == "" {
			r.id = benchmark.MessageID(&r.item)
		}
		if r.served == "" {
			r.served = s.Model
		}
		if r.reply.Finish == "" {
			r.reply.Finish = "unknown"
		}
	}
	if s.Model == "" {
		s.Model = "scored"
	}
	l := evalscope.Layout{Dir: job.WorkDir, Model: s.Model, Bench: job.Benchmark.Ref().Name}
	c := evalscope.Config{Model: s.Model, Bench: l.Bench, Info: job.Benchmark.Info(), Template: benchmark.TemplateOf(job.Benchmark)}
	return output{layout: l, bench: job.Benchmark, config: c, schema: job.Schema}.write(results, s)
}
