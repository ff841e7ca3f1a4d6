package eval

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/eval/benchmark"
	"github.com/drydock-ml/drydock/eval/evalscope"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/llm"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/parallel"
	"github.com/drydock-ml/drydock/internal/runstore"
)

// hopeless is after how many failures without one answer a run stops: the
// endpoint does not do what is asked of it.
const hopeless = 20

// A Job is one run of a benchmark.
type Job struct {
	Benchmark    benchmark.Benchmark // says prompt, rule and key
	Items        []benchmark.Item    // all of them, in the order of the benchmark
	Limit        int                 // only the first n; 0: all
	Model        string              // as the server knows it, or builtin:NAME
	Endpoint     Endpoint            // who is asked
	SystemPrompt string              // sent before the question; empty: none
	WorkDir      string              // gets EvalScope's layout
	Concurrency  int                 // requests at a time; 0: found by itself
	Fresh        bool                // forget the answers an earlier run left in WorkDir
	Holder       runstore.Holder     // who locks WorkDir
	Progress     func(Progress)      // called after each answer, never at the same time; nil: not
}

// Progress tells how far a run is.
type Progress struct {
	Done    int // items with an answer or a failure, reused ones included
	Total   int
	Reused  int // answers taken over from an earlier run
	Correct int
	Failed  int // items that got no answer
}

// A run is a job under way.
type run struct {
	Job
	layout   evalscope.Layout
	messages [][]drydock.Message
	results  []result
	done     []bool
	log      *rowLog
	limit    *limiter

	mu       sync.Mutex
	progress Progress
	answered bool
}

// Run asks every item that has no answer yet, writes the files and returns the
// summary. Items that failed are in the summary ([Summary.Err]), not in the
// error. The error is not nil when the run could not be finished: cancelled,
// key refused, host unreachable, disk full. What was answered until then is
// saved and is not asked again.
func Run(ctx context.Context, job Job) (Summary, error) {
	r, err := newRun(job)
	if err != nil {
		return Summary{}, err
	}
	lock, err := runstore.Project{Dir: job.WorkDir}.Acquire(ctx, job.Holder, 0)
	if err != nil {
		return Summary{}, err
	}
	defer lock.Close()
	if err := r.open(); err != nil {
		return Summary{}, err
	}
	err = r.ask(ctx)
	if cerr := r.log.close(); err == nil {
		err = cerr
	}
	if err != nil {
		return Summary{}, r.stopped(ctx, err)
	}
	return r.finish()
}

func newRun(job Job) (*run, error) {
	switch {
	case job.Limit < 0:
		return nil, fail.New(fail.Usage, msg.Text{"limit %d: ask at least one item", "limit 为 %d：至少要问一道题"}, job.Limit)
	case len(job.Items) == 0:
		return nil, fail.New(fail.Usage, msg.Text{"%s has no items", "%s 没有题目"}, job.Benchmark.Ref()).
			Hint(msg.Text{"drydock bench add NAME FILE registers them", "drydock bench add NAME FILE 可登记题目"})
	case job.Model == "":
		return nil, fail.New(fail.Usage, msg.Text{"no model is named", "未指定模型"})
	case job.WorkDir == "":
		return nil, fail.New(fail.Usage, msg.Text{"no work folder is named", "未指定工作目录"})
	}
	n := len(job.Items)
	if job.Limit > 0 {
		n = min(n, job.Limit)
	}
	r := &run{
		Job:     job,
		layout:  evalscope.Layout{Dir: job.WorkDir, Model: job.Model, Bench: job.Benchmark.Ref().Name},
		results: make([]result, n), messages: make([][]drydock.Message, n), done: make([]bool, n),
	}
	for i := range n {
		it := job.Items[i]
		m := withSystem(job.SystemPrompt, job.Benchmark.Prompt(it))
		r.messages[i] = m
		r.results[i] = result{index: i, item: it, input: evalscope.Input(m), id: benchmark.MessageID(&it)}
	}
	r.progress.Total = n
	return r, nil
}

func withSystem(system string, m []drydock.Message) []drydock.Message {
	if system == "" {
		return m
	}
	return append([]drydock.Message{{Role: "system", Content: system}}, m...)
}

// open takes up the answers an earlier run left.
func (r *run) open() error {
	// what a killed run was writing is not part of the result; the work folder
	// itself may hold other programs' files
	for _, sub := range []string{"predictions", "reviews", "reports", "configs", ".drydock"} {
		if err := runstore.SweepTree(filepath.Join(r.WorkDir, sub)); err != nil {
			return err
		}
	}
	var rows []evalscope.Row
	var err error
	r.log, rows, err = openLog(r.layout, r.conditions(), r.Fresh)
	if err != nil {
		return err
	}
	for _, row := range rows {
		if row.Index >= len(r.results) || row.Error != "" || row.Reply == nil {
			continue
		}
		res := &r.results[row.Index]
		res.reply, res.served, res.usage, res.id = *row.Reply, row.Served, row.Usage, row.ID
		r.done[row.Index] = true
		r.progress.Reused++
		r.count(res)
	}
	return nil
}

// count updates the progress; the caller holds mu or is alone.
func (r *run) count(res *result) {
	r.progress.Done++
	if res.err != "" {
		r.progress.Failed++
		return
	}
	r.answered = true
	if r.Benchmark.Grade(res.item, res.reply).Verdict == benchmark.Correct {
		r.progress.Correct++
	}
}

// ask answers what is not done, work-conserving: a free worker takes the next
// item at once.
func (r *run) ask(ctx context.Context) error {
	var todo []int
	for i, done := range r.done {
		if !done {
			todo = append(todo, i)
		}
	}
	if r.Progress != nil && r.progress.Reused > 0 {
		r.Progress(r.progress)
	}
	workers := r.Concurrency
	if r.Endpoint.Kind() == "builtin" {
		workers = parallel.Workers(r.Concurrency)
	}
	r.limit = newLimiter(workers)
	return parallel.Each(ctx, r.limit.most, len(todo), func(ctx context.Context, k int) error {
		return r.one(ctx, todo[k])
	})
}

func (r *run) one(ctx context.Context, i int) error {
	if err := r.limit.acquire(ctx); err != nil {
		return err
	}
	a, err := r.Endpoint.Ask(ctx, r.messages[i])
	r.limit.release(smooth(a, err))
	if ctx.Err() != nil && err != nil {
		return context.Cause(ctx)
	}
	var fatal *fail.Error
	if errors.As(err, &fatal) {
		return err
	}
	res := &r.results[i]
	if err != nil {
		res.err = err.Error()
		var e *llm.Error
		if errors.As(err, &e) {
			res.attempts = e.Attempts
		}
		res.reply.Finish = "unknown"
		res.served = r.Model
	} else {
		res.reply, res.served, res.usage, res.attempts = a.Reply, a.Served, a.Usage, a.Attempts
		if err := r.log.append(r.prediction(res)); err != nil {
			return err
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.count(res)
	if r.Progress != nil {
		r.Progress(r.progress)
	}
	if !r.answered && r.progress.Failed >= hopeless {
		return fail.New(fail.Failed, msg.Text{"the first %d {request|requests} all failed; the last: %v", "前 %d 个请求全部失败；最后一个：%v"}, r.progress.Failed, err)
	}
	return nil
}

// smooth tells an answer that shows no sign of a busy server.
func smooth(a Answer, err error) bool {
	var e *llm.Error
	if errors.As(err, &e) {
		return !e.Transient
	}
	return err == nil && a.Attempts <= 1
}

func (r *run) prediction(res *result) *evalscope.Prediction {
	return &evalscope.Prediction{
		Index: res.index, Model: r.Model, Served: res.served, ID: res.id,
		Reply: res.reply, Usage: res.usage, Error: res.err,
	}
}

// stopped says how to go on after a run that was cut short.
func (r *run) stopped(ctx context.Context, err error) error {
	saved := r.progress.Done - r.progress.Failed
	if ctx.Err() != nil {
		return fail.New(fail.Interrupted, msg.Text{"stopped; %d of %d answers are saved", "已停止；已保存 %d 条回答，共 %d 条"}, saved, r.progress.Total).
			Because(err).
			Hint(msg.Text{"the same command goes on where this one stopped", "再次运行同一命令即可继续"})
	}
	var f *fail.Error
	if errors.As(err, &f) && saved > 0 {
		return f.Hint(msg.Text{"%d of %d answers are saved; the same command goes on from there", "已保存 %d 条回答，共 %d 条；再次运行同一命令即可继续"}, saved, r.progress.Total)
	}
	return err
}

// finish writes the files and sums up.
func (r *run) finish() (Summary, error) {
	s := Summary{
		Model: r.Model, Endpoint: r.Endpoint.Kind(), Baseline: r.Endpoint.Kind() == "builtin",
		Asked: len(r.results), Reused: r.progress.Reused,
	}
	summarize(r.Benchmark, r.results, &s)
	if err := writeFiles(r.layout, r.Benchmark, r.results, r.config(), &s); err != nil {
		return Summary{}, err
	}
	if b, ok := r.Endpoint.(baseline); ok {
		b.remark(r.results, &s)
	}
	r.noteThinking(&s)
	r.notePositions(&s)
	return s, nil
}

// noteThinking warns of what makes thinking models score badly.
func (r *run) noteThinking(s *Summary) {
	thinking := 0
	for i := range r.results {
		if r.results[i].reply.Reasoning != "" {
			thinking++
		}
	}
	h, ok := r.Endpoint.(*HTTP)
	if ok && thinking > 0 && h.temperature != nil && *h.temperature == 0 {
		s.note("greedy_thinking", msg.Text{"%d {reply thinks|replies think}, at temperature 0; the makers of Qwen3 advise against that", "%d 条回复含思考过程，而温度为 0；Qwen3 官方不建议如此"}, thinking)
	}
}

// notePositions says so when the files' index is not the items' own: EvalScope
// counts positions, and its files can only be joined that way.
func (r *run) notePositions(s *Summary) {
	for i := range r.results {
		if r.results[i].item.Index != i {
			s.note("positions", msg.Text{"the items have indexes of their own; files and lists here count places from 0, as EvalScope does", "题目自带 index；此处的文件与列表按从 0 起的位置编号，与 EvalScope 一致"})
			return
		}
	}
}

// config lists what task_config says.
func (r *run) config() evalscope.Config {
	c := evalscope.Config{
		Model: r.Model, Bench: r.layout.Bench, Info: r.Benchmark.Info(), Template: benchmark.TemplateOf(r.Benchmark),
		Limit: r.Limit, BatchSize: r.Concurrency, SystemPrompt: r.SystemPrompt,
	}
	if h, ok := r.Endpoint.(*HTTP); ok {
		c.APIURL = strings.TrimSuffix(h.URL(), "/chat/completions")
		c.Temperature = h.temperature
	}
	return c
}

// conditions lists what the answers depend on.
func (r *run) conditions() []Condition {
	c := []Condition{
		{"benchmark", r.Benchmark.Ref().String()},
		{"items", "sha256:" + benchmark.CanonicalHash(r.Items)},
		{"prompts", "sha256:" + r.promptHash()},
		{"model", r.Model},
		{"endpoint", r.Endpoint.Kind()},
	}
	return append(c, r.Endpoint.Conditions()...)
}

// promptHash covers all items, so that a run with a limit can be taken up
// without it.
func (r *run) promptHash() string {
	h := sha256.New()
	for i := range r.Items {
		for _, m := range withSystem(r.SystemPrompt, r.Benchmark.Prompt(r.Items[i])) {
			fmt.Fprintf(h, "%d:%s%d:%s", len(m.Role), m.Role, len(m.Content), m.Content)
		}
	}
	return hex.EncodeToString(h.Sum(nil))
}
