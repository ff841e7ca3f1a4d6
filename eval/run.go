package eval

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/eval/benchmark"
	"github.com/drydock-ml/drydock/eval/evalscope"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/runstore"
)

// A Job is one run of a benchmark.
type Job struct {
	Benchmark    benchmark.Benchmark // says prompt, rule and key
	Items        []benchmark.Item    // all of them, in the order of the benchmark
	Limit        int                 // only the first n; 0: all
	Repeats      int                 // answers wanted of each item, next to each other; 0: 1
	Model        string              // as the server knows it, or builtin:NAME
	Endpoint     Endpoint            // who is asked
	SystemPrompt string              // sent before the question; empty: none
	WorkDir      string              // gets EvalScope's layout
	Schema       evalscope.Schema    // of the files there
	OnError      OnError             // what becomes of failed requests; empty: [OnErrorWrong]

	// Logprobs has the letters counted that the model thought most probable, from
	// answers that tell it: then the endpoint asks for them.
	Logprobs bool

	Concurrency int  // requests at a time; 0: found by itself
	Hedge       bool // ask late items a second time when there is room
	Preflight   Preflight
	Fresh       bool // forget the answers an earlier run left in WorkDir
	Resume      bool // there must be such answers

	// Ready is called once, before the first request, when there is something to
	// ask; an error ends the run. nil: nothing is to be done.
	Ready func(context.Context) error
	// Queries is the file that counts how often a model was asked these items;
	// empty: not counted.
	Queries string

	Holder   runstore.Holder  // who locks WorkDir
	Clock    func() time.Time // for latencies; nil: none are known, and Concurrency 0 goes by refusals only
	Progress func(Progress)   // called after each answer, never at the same time; nil: not
	Item     func(ItemEvent)  // the same, with what came
	Warn     func(Note)       // called when something is to be known while the run goes on
}

// A run is a job under way.
type run struct {
	Job
	layout  evalscope.Layout
	results []result
	done    []bool
	log     *rowLog
	limit   *limiter
	late    latencies

	mu       sync.Mutex
	progress Progress
	traffic  Traffic
	answered bool
	heard    map[int]bool  // statuses that were told
	longest  time.Duration // the longest wait the server asked for
	checks   *PreflightReport
	queries  int
}

// Run asks every item that has no answer yet, writes the files and returns the
// summary. Items that failed are in the summary ([Summary.Err]), not in the
// error. The error is not nil when the run could not be finished: cancelled,
// refused by preflight, key refused, host unreachable, disk full. What was
// answered until then is saved and is not asked again.
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
	case job.Repeats < 0:
		return nil, fail.New(fail.Usage, msg.Text{"repeats %d: ask at least once", "repeats 为 %d：至少要问一次"}, job.Repeats)
	case len(job.Items) == 0:
		return nil, fail.New(fail.Usage, msg.Text{"%s has no items", "%s 没有题目"}, job.Benchmark.Ref()).
			Hint(msg.Text{"drydock bench add NAME FILE registers them", "drydock bench add NAME FILE 可登记题目"})
	case job.Model == "":
		return nil, fail.New(fail.Usage, msg.Text{"no model is named", "未指定模型"})
	case job.WorkDir == "":
		return nil, fail.New(fail.Usage, msg.Text{"no work folder is named", "未指定工作目录"})
	case job.Fresh && job.Resume:
		return nil, fail.New(fail.Usage, msg.Text{"fresh and resume exclude each other", "fresh 与 resume 不能同时使用"})
	}
	job.Repeats = max(job.Repeats, 1)
	n := len(job.Items)
	if job.Limit > 0 {
		n = min(n, job.Limit)
	}
	n *= job.Repeats
	r := &run{
		Job:     job,
		layout:  evalscope.Layout{Dir: job.WorkDir, Model: job.Model, Bench: job.Benchmark.Ref().Name},
		results: make([]result, n), done: make([]bool, n), heard: map[int]bool{},
	}
	for i := range n {
		it := job.Items[i/job.Repeats]
		m := withSystem(job.SystemPrompt, job.Benchmark.Prompt(it))
		r.results[i] = result{index: i, item: it, messages: m, input: evalscope.Input(m), id: messageID(&it, i%job.Repeats)}
	}
	r.progress.Total = n
	return r, nil
}

// messageID names an answer; those to one item differ.
func messageID(it *benchmark.Item, repeat int) string {
	id := benchmark.MessageID(it)
	if repeat == 0 {
		return id
	}
	sum := sha256.Sum256([]byte(id + " " + strconv.Itoa(repeat)))
	return hex.EncodeToString(sum[:4])
}

func withSystem(system string, m []drydock.Message) []drydock.Message {
	if system == "" {
		return m
	}
	return append([]drydock.Message{{Role: "system", Content: system}}, m...)
}

// now tells the time, or always the same one when there is no clock.
func (r *run) now() time.Time {
	if r.Clock == nil {
		return time.Time{}
	}
	return r.Clock()
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
	var rows []savedRow
	var err error
	r.log, rows, err = openLog(r.layout, r.conditions(), r.Fresh)
	if err != nil {
		return err
	}
	for _, row := range rows {
		if row.Index >= len(r.results) {
			continue
		}
		res := &r.results[row.Index]
		res.reply, res.served, res.usage, res.id = *row.Reply, row.Served, row.Usage, row.ID
		res.attempts, res.latency, res.surrogate = row.extra.Attempts, time.Duration(row.extra.Millis)*time.Millisecond, row.extra.Surrogate
		res.prefers = row.extra.preference()
		r.done[row.Index] = true
		r.progress.Reused++
		r.count(res)
	}
	if r.Resume && r.progress.Reused == 0 {
		return errors.Join(r.log.close(), fail.New(fail.Refused, msg.Text{"%s holds no answers of %s to go on with", "%s 中没有 %s 的已存回答，无法继续"}, filepath.ToSlash(r.WorkDir), r.Model).
			Hint(msg.Text{"without --resume the run begins", "去掉 --resume 即可从头开始"}))
	}
	return nil
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
		Reused: r.progress.Reused, Repeats: r.Repeats, Preflight: r.checks, Queries: r.queries,
	}
	if r.traffic.Requests > 0 {
		s.Traffic = &r.traffic
	}
	counted := summarize(r.Benchmark, r.results, r.OnError, &s)
	s.DependsOn = r.dependsOn()
	out := output{layout: r.layout, bench: r.Benchmark, config: r.config(), schema: r.Schema, onError: r.OnError}
	if err := out.write(counted, &s); err != nil {
		return Summary{}, err
	}
	if b, ok := r.Endpoint.(baseline); ok {
		b.remark(r.results, &s)
	}
	if r.Logprobs {
		r.scoreLogprobs(&s)
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
	if ok && thinking > 0 && h.sampling.Temperature != nil && *h.sampling.Temperature == 0 {
		s.note("greedy_thinking", msg.Text{"%d {reply thinks|replies think}, at temperature 0; the makers of Qwen3 advise against that", "%d 条回复含思考过程，而温度为 0；Qwen3 官方不建议如此"}, thinking)
	}
}

// notePositions says so when the files' index is not the items' own: EvalScope
// counts positions, and its files can only be joined that way.
func (r *run) notePositions(s *Summary) {
	for i := range r.results {
		if r.results[i].item.Index != i/r.Repeats {
			s.note("positions", msg.Text{"the items have indexes of their own; files and lists here count places from 0, as EvalScope does", "题目自带 index；此处的文件与列表按从 0 起的位置编号，与 EvalScope 一致"})
			return
		}
	}
}

// config lists what task_config says.
func (r *run) config() evalscope.Config {
	c := evalscope.Config{
		Model: r.Model, Bench: r.layout.Bench, Info: r.Benchmark.Info(), Template: benchmark.TemplateOf(r.Benchmark),
		Limit: r.Limit, BatchSize: r.Concurrency, SystemPrompt: r.SystemPrompt, Repeats: r.Repeats,
		Filters: benchmark.FiltersOf(r.Benchmark), IgnoreErrors: r.OnError == OnErrorEvalScope,
	}
	if h, ok := r.Endpoint.(*HTTP); ok {
		c.APIURL = strings.TrimSuffix(h.URL(), "/chat/completions")
		c.Temperature, c.Stream = h.sampling.Temperature, h.sampling.Stream
		c.Generation = h.sampling.generation()
	}
	return c
}

// conditions lists what the answers depend on. Repeats change which row an
// answer is; the limit does not.
func (r *run) conditions() []Condition {
	c := []Condition{
		{"benchmark", r.Benchmark.Ref().String()},
		{"items", "sha256:" + benchmark.CanonicalHash(r.Items)},
		{"prompts", "sha256:" + r.promptHash()},
		{"model", r.Model},
		{"endpoint", r.Endpoint.Kind()},
	}
	if r.Repeats > 1 {
		c = append(c, Condition{"repeats", strconv.Itoa(r.Repeats)})
	}
	if r.Preflight.Contract != "" && r.Endpoint.Kind() == "http" {
		c = append(c, Condition{"contract", r.Preflight.Contract})
	}
	return append(c, r.Endpoint.Conditions()...)
}

// query counts this run among those that asked a model these items. Baselines
// choose nothing.
func (r *run) query() error {
	if r.Queries == "" || r.Endpoint.Kind() == "builtin" {
		return nil
	}
	h := sha256.New()
	for _, c := range r.conditions() {
		fmt.Fprintf(h, "%d:%s%d:%s", len(c.Name), c.Name, len(c.Value), c.Value)
	}
	var err error
	r.queries, err = runstore.CountQuery(r.Queries, runstore.Query{
		Benchmark: r.Benchmark.Ref().String(), Items: "sha256:" + benchmark.CanonicalHash(r.Items), Model: r.Model,
		Run: "sha256:" + hex.EncodeToString(h.Sum(nil)),
	}, r.Fresh)
	return err
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
