package eval

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/drydock-ml/drydock/eval/benchmark"
	"github.com/drydock-ml/drydock/eval/evalscope"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/llm"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/parallel"
)

// hopeless is after how many failures without one answer a run stops: the
// endpoint does not do what is asked of it.
const hopeless = 20

// Progress tells how far a run is.
type Progress struct {
	Done    int // items with an answer or a failure, reused ones included
	Total   int
	Reused  int // answers taken over from an earlier run
	Correct int
	Failed  int // items that got no answer
}

// ItemSchema names the shape of an [ItemEvent] as JSON.
const ItemSchema = "drydock.eval.item/1"

// An ItemEvent is one answer, or failure, as it came in.
type ItemEvent struct {
	Type      string            `json:"type"` // item
	Schema    string            `json:"schema"`
	Index     int               `json:"index"` // place of the row, from 0
	ID        string            `json:"id"`    // of the item
	Verdict   benchmark.Verdict `json:"verdict"`
	Extracted string            `json:"extracted"`
	Error     string            `json:"error,omitempty"`
	Attempts  int               `json:"attempts,omitempty"`
	Hedged    bool              `json:"hedged,omitempty"` // it was asked twice at once
	Millis    int64             `json:"ms,omitempty"`
	Done      int               `json:"done"`
	Total     int               `json:"total"`
}

// Traffic counts the questions a run sent.
type Traffic struct {
	Requests  int `json:"requests"`   // all of them, repeated attempts and second asks included
	Retries   int `json:"retries"`    // attempts after the first
	Hedged    int `json:"hedged"`     // items asked a second time because the answer was late
	HedgeWins int `json:"hedge_wins"` // second asks that answered first
}

// ask answers what is not done, work-conserving: a free worker takes the next
// item at once and waits for no other.
func (r *run) ask(ctx context.Context) error {
	todo := r.todo()
	if r.Progress != nil && r.progress.Reused > 0 {
		r.Progress(r.progress)
	}
	if len(todo) == 0 {
		return nil
	}
	workers := r.Concurrency
	if r.Endpoint.Kind() == "builtin" {
		workers = parallel.Workers(r.Concurrency)
	}
	if r.Ready != nil {
		if err := r.Ready(ctx); err != nil {
			return err
		}
	}
	r.limit = newLimiter(workers, r.now)
	ctx = llm.WithRetryHook(ctx, r.retrying)
	if err := r.probe(ctx, todo); err != nil {
		return err
	}
	if err := r.query(); err != nil {
		return err
	}
	todo = r.todo() // preflight has answered some
	return parallel.Each(ctx, r.limit.most, len(todo), func(ctx context.Context, k int) error {
		return r.one(ctx, todo[k])
	})
}

func (r *run) todo() []int {
	var todo []int
	for i, done := range r.done {
		if !done {
			todo = append(todo, i)
		}
	}
	return todo
}

// one asks one item and records what came.
func (r *run) one(ctx context.Context, i int) error {
	if err := r.limit.acquire(ctx); err != nil {
		return err
	}
	start := r.now()
	t, err := r.hedge(ctx, r.results[i].messages)
	t.took = r.now().Sub(start)
	took := t.took
	if t.waited || err != nil {
		took = 0 // it says how long we waited, not how long the server takes
	} else {
		r.late.add(took)
	}
	r.limit.release(took)
	if ctx.Err() != nil && err != nil {
		return context.Cause(ctx)
	}
	return r.record(i, t, err)
}

// A trial is what asking an item came to.
type trial struct {
	Answer
	took   time.Duration
	waited bool // between attempts
	hedged bool
	won    bool // the second ask answered first
}

// goesOn reports whether an error that would end the run does not: EvalScope with
// --ignore-errors goes on whatever a server answers, also after a refused key.
func (r *run) goesOn(err error) bool {
	var answered *llm.Error
	return r.OnError == OnErrorEvalScope && errors.As(err, &answered) && answered.Status > 0
}

// record keeps an answer or a failure: in the log first, then in the counts. The
// log has the answer before anyone is told of it.
func (r *run) record(i int, t trial, err error) error {
	var fatal *fail.Error
	if errors.As(err, &fatal) && !r.goesOn(err) {
		return r.why(fatal)
	}
	res := &r.results[i]
	if err != nil {
		r.failed(res, err)
	} else {
		res.reply, res.served, res.usage, res.attempts = t.Reply, t.Served, t.Usage, t.Attempts
		res.latency, res.surrogate = t.took, t.Surrogate
		if r.Logprobs {
			res.prefers = preferred(&res.item, t.Places)
		}
		p := res.prediction(r.Model)
		if err := r.log.append(&p, t, res.prefers); err != nil {
			return err
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.done[i] = true
	if t.hedged {
		r.traffic.Hedged++
	}
	if t.won {
		r.traffic.HedgeWins++
	}
	verdict, letter := r.count(res)
	if r.Item != nil {
		r.Item(ItemEvent{
			Type: "item", Schema: ItemSchema, Index: i, ID: res.item.ID, Verdict: verdict, Extracted: letter, Error: res.err,
			Attempts: res.attempts, Hedged: t.hedged, Millis: t.took.Milliseconds(), Done: r.progress.Done, Total: r.progress.Total,
		})
	}
	if r.Progress != nil {
		r.Progress(r.progress)
	}
	if !r.answered && r.progress.Failed >= hopeless {
		return fail.New(fail.Failed, msg.Text{"the first %d {request|requests} all failed; the last: %v", "前 %d 个请求全部失败；最后一个：%v"}, r.progress.Failed, err)
	}
	return nil
}

// failed notes why an item has no answer.
func (r *run) failed(res *result, err error) {
	res.err = err.Error()
	res.reply.Finish = "unknown"
	res.served = r.Model
	res.attempts = 1
	var e *llm.Error
	if errors.As(err, &e) {
		res.attempts = max(e.Attempts, 1)
		res.failure = evalscope.Failure{Status: e.Status, Code: e.Code, Message: e.Message}
	}
}

// count updates the progress; the caller holds mu or is alone.
func (r *run) count(res *result) (benchmark.Verdict, string) {
	r.progress.Done++
	if res.err != "" {
		r.progress.Failed++
		return benchmark.Wrong, ""
	}
	r.answered = true
	g := r.Benchmark.Grade(res.item, res.reply)
	if g.Verdict == benchmark.Correct {
		r.progress.Correct++
	}
	return g.Verdict, g.Extracted
}

// retrying hears of every attempt that is made again: the pool steps back, and
// the first of each kind is told, as is every wait the server asked for that is
// longer than those before.
func (r *run) retrying(t llm.Retry) {
	r.limit.pushback()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.traffic.Requests++
	r.traffic.Retries++
	known := r.heard[t.Err.Status]
	if known && t.Asked <= r.longest {
		return
	}
	r.heard[t.Err.Status] = true
	r.longest = max(r.longest, t.Asked)
	switch {
	case t.Asked > t.Wait:
		r.warn("retry", msg.Text{"the server asks to wait %v (%s); trying again after %v", "服务端要求等待 %v（%s）；%v 后重试"}, t.Asked.Round(time.Second), t.Err, t.Wait.Round(time.Second))
	default:
		r.warn("retry", msg.Text{"%s; trying again after %v", "%s；%v 后重试"}, t.Err, t.Wait.Round(100*time.Millisecond))
	}
}

// warn tells something while the run goes on; the caller holds mu or is alone.
func (r *run) warn(code string, text msg.Text, args ...any) {
	if r.Warn == nil {
		return
	}
	said := msg.Phrase{Text: text, Args: args}
	r.Warn(Note{Code: code, Text: said.In(msg.En), said: said})
}

// why adds to an answer that ends the run what the server could have been asked
// instead.
func (r *run) why(err *fail.Error) error {
	var e *llm.Error
	h, ok := r.Endpoint.(*HTTP)
	if !ok || !errors.As(err, &e) || e.Status != http.StatusNotFound {
		return err
	}
	models, lerr := h.client.Models(context.Background(), probeLimit)
	if lerr != nil || len(models) == 0 || listed(models, r.Model) {
		return err
	}
	return notListed(h, r.Model, models).Because(err)
}

// notListed names the models a server has, the one most like first.
func notListed(h *HTTP, model string, models []llm.ServedModel) *fail.Error {
	names := make([]string, len(models))
	for i, m := range models {
		names[i] = m.ID
	}
	e := fail.New(fail.Failed, msg.Text{"%s does not serve %q; it serves %s", "%s 没有模型 %q；现有：%s"}, h.URL(), model, shortList(names))
	if near := nearest(model, names); near != "" {
		e = e.Meant("--model " + near)
	}
	return e
}

// nearest finds what was probably meant: a typing mistake, another case, the name
// without its owner, or the only one there is.
func nearest(model string, names []string) string {
	if s := fail.Nearest(model, names); s != "" || len(names) == 0 {
		return s
	}
	low := strings.ToLower(model)
	for _, n := range names {
		if l := strings.ToLower(n); strings.Contains(l, low) || strings.Contains(low, l) {
			return n
		}
	}
	if len(names) == 1 {
		return names[0]
	}
	return ""
}

func listed(models []llm.ServedModel, name string) bool {
	for _, m := range models {
		if m.ID == name {
			return true
		}
	}
	return false
}

// shortList quotes names, the first of many.
func shortList(names []string) string {
	const most = 20
	s := ""
	for i, n := range names {
		if i == most {
			return s + fmt.Sprintf(", … (%d)", len(names))
		}
		if i > 0 {
			s += ", "
		}
		s += fmt.Sprintf("%q", n)
	}
	return s
}
