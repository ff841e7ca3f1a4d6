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
	Data  []byte // what [evalscope.Read] reads
	// Predictions are those that reviews in Data were made from, where they are at
	// hand: they tell a refusal from an answer.
	Predictions []byte
	// WorkDir gets reviews, predictions and a report in EvalScope's layout; empty:
	// nothing is written.
	WorkDir string
	Model   string           // names the folders there; empty: as the rows say
	Schema  evalscope.Schema // of these files; empty: 1.4.2
	repeats int              // how often each item was asked
}

// Score grades every row of a file. n is the rows given; lines that cannot be
// read, repeated indexes and, where the items are known, missing ones are in the
// summary's problems.
func Score(job ScoreJob) (Summary, error) {
	kind, rows, problems := evalscope.Read(job.Data)
	if len(rows) == 0 {
		return Summary{}, job.nothing(problems)
	}
	if job.Items == nil && !slices.ContainsFunc(rows, func(r evalscope.Row) bool { return r.Target != "" }) {
		return Summary{}, fail.New(fail.Usage, msg.Text{"rows of %s hold no key; the items of %s are needed", "%s 记录不含标准答案；需要 %s 的题目"}, string(kind), job.Benchmark.Ref()).
			Hint(msg.Text{"drydock bench add NAME FILE registers them", "drydock bench add NAME FILE 可登记题目"})
	}
	job.takePredictions(rows)
	s := Summary{Model: job.Model, Source: &Source{Kind: string(kind), Schema: rows[0].Schema, File: job.Name}}
	if job.repeats = repeatsOf(rows, len(job.Items)); job.repeats > 1 {
		s.Repeats = job.repeats
	}
	foreign := job.Items != nil && !job.anyMatches(rows)
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
	s.Baseline = IsBuiltin(s.Model)
	counted := summarize(job.Benchmark, results, OnErrorWrong, &s)
	s.DependsOn = job.dependsOn()
	if foreign {
		s.note("other_items", msg.Text{"no row asks an item of %s as it is registered; graded by the rows' own keys (--bench names another benchmark)", "没有一行与已登记的 %s 题目相符；按各行自带的标准答案评分（--bench 可指定其他评测集）"}, job.Benchmark.Ref())
	}
	s.noteOrder(rows)
	job.compare(rows, results, &s)
	if job.WorkDir == "" {
		return s, nil
	}
	return s, job.write(counted, &s)
}

// takePredictions adds to reviews what only their predictions tell.
func (job *ScoreJob) takePredictions(rows []evalscope.Row) {
	if len(job.Predictions) == 0 {
		return
	}
	kind, made, _ := evalscope.Read(job.Predictions)
	if kind != evalscope.KindPredictions {
		return
	}
	at := make(map[int]*evalscope.Row, len(made))
	for i := range made {
		at[made[i].Index] = &made[i]
	}
	for i := range rows {
		r := &rows[i]
		if p := at[r.Index]; p != nil && p.Text == r.Text && r.Reply == nil {
			r.Reply, r.Usage, r.Error, r.Served, r.ID, r.Model = p.Reply, p.Usage, p.Error, p.Served, p.ID, p.Model
		}
	}
}

// nothing says why a file has no row.
func (job *ScoreJob) nothing(problems []evalscope.Problem) error {
	if len(problems) > 0 {
		p := problems[0]
		return fail.New(fail.Config, msg.Text{"no row can be read; %s", "没有可读的记录；%s"}, p).At(fail.Where{File: job.Name, Line: p.Line}).
			Hint(msg.Text{"drydock score takes reviews, predictions, lm-eval samples, or rows of {\"index\": 0, \"output\": \"[A]\"}", "drydock score 接受 reviews、predictions、lm-eval samples 或 {\"index\": 0, \"output\": \"[A]\"} 行"})
	}
	return fail.New(fail.Config, msg.Text{"no row of reviews, predictions or {\"index\", \"output\"}", "没有 reviews、predictions 或 {\"index\", \"output\"} 记录"}).
		At(fail.Where{File: job.Name})
}

// repeatsOf tells how often each item was asked: reviews say which sample they
// belong to; other files may hold a whole number of times the items.
func repeatsOf(rows []evalscope.Row, items int) int {
	const most = 1000
	grouped, top := false, 0
	for i := range rows {
		grouped = grouped || rows[i].Group != nil
		top = max(top, rows[i].Index)
	}
	if !grouped {
		if items > 0 && len(rows) == top+1 && len(rows) > items && len(rows)%items == 0 {
			return len(rows) / items
		}
		return 1
	}
	for n := 1; n <= most; n++ {
		if !slices.ContainsFunc(rows, func(r evalscope.Row) bool { return r.Group != nil && *r.Group != r.Index/n }) {
			return n
		}
	}
	return 1
}

// noteOrder says where a file leaves the order of the index, which is no fault:
// EvalScope itself writes rows as they come.
func (s *Summary) noteOrder(rows []evalscope.Row) {
	first, n := 0, 0
	for i := 1; i < len(rows); i++ {
		if rows[i].Index < rows[i-1].Index {
			if n++; n == 1 {
				first = i
			}
		}
	}
	if n > 0 {
		s.note(evalscope.CodeOutOfOrder, msg.Text{
			"the rows are not in the order of their index: in line %d, %d stands after %d; %d {row goes|rows go} back so",
			"行未按 index 排序：第 %d 行的 %d 排在 %d 之后；共 %d 处逆序",
		}, rows[first].Line, rows[first].Index, rows[first-1].Index, n)
	}
}

// results joins rows to items by index, in the order of the index.
func (job *ScoreJob) results(rows []evalscope.Row, s *Summary) []result {
	byIndex := map[int]*evalscope.Row{}
	most := -1
	for i := range rows {
		byIndex[rows[i].Index] = &rows[i]
		most = max(most, rows[i].Index)
	}
	asked := len(job.Items) * job.repeats
	if job.Items != nil {
		for i := range rows {
			if r := &rows[i]; r.Index >= asked {
				s.problem("unknown_index", r.Line, r.Index, msg.Text{"line %d: the benchmark has no item %d", "第 %d 行：评测集中没有第 %d 题"}, r.Line, r.Index)
				delete(byIndex, r.Index)
			}
		}
		most = asked - 1
	}
	var out []result
	// indexes may be as wild as the file likes, so walk the rows, not the range
	for _, index := range slices.Sorted(maps.Keys(byIndex)) {
		row := byIndex[index]
		if row.Target == "" && !job.known(row) {
			s.problem("no_key", row.Line, index, msg.Text{"line %d: the row has no key, and its item is not known", "第 %d 行：该行没有标准答案，题目也未知"}, row.Line)
			continue
		}
		out = append(out, job.result(row))
	}
	s.nameMissing(out, byIndex, most)
	return out
}

// nameMissing names the indexes up to most that have no row, each at the line of
// the row it would stand after.
func (s *Summary) nameMissing(out []result, rows map[int]*evalscope.Row, most int) {
	missing := most + 1 - len(rows)
	named, next, line := 0, 0, 0
	for _, r := range append(slices.Clone(out), result{index: most + 1}) {
		for ; next < r.index && named < min(maxMissing, missing); next++ {
			if rows[next] != nil {
				continue // there, and said to be of no use
			}
			s.problem("missing", line, next, msg.Text{"no row has index %d", "没有 index 为 %d 的行"}, next)
			named++
		}
		next = r.index + 1
		if row := rows[r.index]; row != nil {
			line = row.Line
		}
	}
	if missing > named {
		s.problem("missing", 0, -1, msg.Text{"%d more indexes have no row", "另有 %d 个 index 没有对应行"}, missing-named)
	}
}

// maxMissing is how many missing indexes are named one by one.
const maxMissing = 2000

func (job *ScoreJob) result(row *evalscope.Row) result {
	r := result{index: row.Index, served: row.Served, id: row.ID, usage: row.Usage, err: row.Error, input: row.Input}
	r.reply.Text = row.Text
	if row.Reply != nil {
		r.reply = *row.Reply
	}
	if job.known(row) {
		r.item = job.Items[row.Index/job.repeats]
		r.messages = job.Benchmark.Prompt(r.item)
		if r.input == "" {
			r.input = evalscope.Input(r.messages)
		}
		return r
	}
	r.item = benchmark.Item{Index: row.Index, Gold: []string{row.Target}}
	r.item.Question = shownQuestion(job.Benchmark, row)
	return r
}

// known reports whether the item of a row is at hand: one of its index that is
// not plainly another question.
func (job *ScoreJob) known(row *evalscope.Row) bool {
	return job.Items != nil && row.Index < len(job.Items)*job.repeats && job.matches(row)
}

// matches reports whether what a row shows of its question is the item of its
// index; a row that shows nothing may be anything. A system prompt may stand
// before EvalScope's, anything around the question elsewhere.
func (job *ScoreJob) matches(row *evalscope.Row) bool {
	if row.Index/job.repeats >= len(job.Items) {
		return false
	}
	it := &job.Items[row.Index/job.repeats]
	switch {
	case row.Input != "" && row.Schema != "":
		return strings.HasSuffix(row.Input, evalscope.Input(job.Benchmark.Prompt(*it)))
	case row.Input != "":
		return strings.Contains(row.Input, strings.TrimSpace(it.Question.Stem))
	case row.Question != nil && row.Question.Stem != "":
		return strings.TrimSpace(row.Question.Stem) == strings.TrimSpace(it.Question.Stem)
	}
	return true
}

func (job *ScoreJob) anyMatches(rows []evalscope.Row) bool {
	return slices.ContainsFunc(rows, func(r evalscope.Row) bool { return job.matches(&r) })
}

// shownQuestion reads the question back from a review's prompt, so that a
// letter that was not offered is seen. A prompt that is not this benchmark's
// counts as having the usual four options.
func shownQuestion(b benchmark.Benchmark, row *evalscope.Row) drydock.Question {
	if row.Question != nil && len(row.Question.Options) > 0 {
		return answered(*row.Question, row.Target)
	}
	if u, ok := b.(Unprompter); ok {
		prompt := row.Input
		if i := strings.LastIndex(prompt, "**User**: \n"); i >= 0 {
			prompt = prompt[i+len("**User**: \n"):]
		}
		if q, ok := u.Unprompt(prompt); ok {
			return answered(q, row.Target)
		}
	}
	return drydock.Question{Options: make([]drydock.Option, 4)}
}

// answered sets the answer a key names among the options shown.
func answered(q drydock.Question, key string) drydock.Question {
	for i := range q.Options {
		if label := string(rune('A' + i)); strings.EqualFold(label, strings.TrimSpace(key)) {
			q.Answer = []string{label}
		}
	}
	return q
}

// compare reports where the file itself says otherwise.
func (job *ScoreJob) compare(rows []evalscope.Row, results []result, s *Summary) {
	at := map[int]*result{}
	for i := range results {
		at[results[i].index] = &results[i]
	}
	letters, scores, keys, keyed, prompts := 0, 0, 0, 0, 0
	for i := range rows {
		row := &rows[i]
		r, ok := at[row.Index]
		if !ok {
			continue
		}
		if job.Items != nil {
			if row.Target != "" {
				keyed++
			}
			switch {
			case !job.matches(row):
				prompts++
			case row.Target != "" && !strings.EqualFold(strings.TrimSpace(row.Target), strings.TrimSpace(r.item.Key())):
				keys++
			}
		}
		if !row.Scored {
			continue
		}
		if !row.ExtractedUnknown && row.Extracted != r.grade.Extracted {
			letters++
		}
		if row.Acc != r.grade.Score {
			scores++
		}
	}
	if letters > 0 || scores > 0 {
		s.note("file_differs", msg.Text{"the file extracted another letter in %d {row|rows} and scored %d {row|rows} otherwise than %s", "文件中有 %d 行抽取的字母、%d 行的得分与 %s 不同"}, letters, scores, s.Rule)
	}
	switch {
	case keys > 1 && 2*keys > keyed:
		// the rows do not show what they asked, or it would have been seen
		s.note("other_benchmark", msg.Text{"%d of %d rows name another key than the item of that index: the file looks like answers to other questions than those of %s; --bench names others", "%d / %d 行的标准答案与题目不同：该文件似乎不是对 %s 的回答；请用 --bench 指定评测集"}, keys, keyed, job.Benchmark.Ref())
	case keys > 0:
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
	c := evalscope.Config{Model: s.Model, Bench: l.Bench, Info: job.Benchmark.Info(), Template: benchmark.TemplateOf(job.Benchmark), Repeats: job.repeats}
	return output{layout: l, bench: job.Benchmark, config: c, schema: job.Schema}.write(results, s)
}
