package pipeline

import (
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync/atomic"

	"github.com/drydock-ml/drydock/eval"
	"github.com/drydock-ml/drydock/eval/benchmark"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/llm"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/parallel"
	"github.com/drydock-ml/drydock/internal/runstore"
	"github.com/drydock-ml/drydock/internal/training"
	"github.com/drydock-ml/drydock/launch"
	"github.com/drydock-ml/drydock/provenance"
)

// evalDir is the work folder of an endpoint: EvalScope's layout lies in it.
func evalDir(endpoint string) string { return "build/eval/" + plainName(endpoint) }

// runEval asks every endpoint every benchmark. Answers that an earlier run got
// are not asked again.
func (r *runner) runEval(ctx context.Context) error {
	res := StageResult{Name: StageEval, Status: StatusDone}
	if len(r.cfg.Eval.Benchmarks) == 0 {
		res.Status, res.Reason = StatusSkipped, "no eval in the configuration"
		return r.done(res)
	}
	if r.opt.DryRun {
		res.Status, res.Reason = StatusPlanned, "answers are reused where nothing changed"
		return r.done(res)
	}
	took := r.clock()
	stage := r.stage(StageEval)
	k := runstore.Key(r.env.Tool.Program, r.corpus.key)
	d, ok := stage.Done()
	if err := stage.Reset(); err != nil {
		return err
	}
	// a baseline costs nothing and learns from the data, so it starts over when
	// the data changed; a model's answers are kept until someone says --fresh
	r.staleBaselines = r.opt.Fresh || !ok || d.Key != k
	var evals []provenance.Evaluation
	asked := 0
	for _, e := range r.cfg.endpoints() {
		for _, ref := range r.cfg.Eval.Benchmarks {
			row, err := r.evaluate(ctx, e, r.benches[ref])
			if err != nil {
				return err
			}
			asked += row.Summary.N - row.Summary.Reused
			res.Eval = append(res.Eval, row)
			evals = append(evals, r.cardRow(e, row))
			if err := row.Summary.Err(); err != nil {
				r.partial = append(r.partial, asPartial("", err))
			}
		}
	}
	if asked == 0 {
		res.Status, res.Reason = StatusCached, "unchanged"
	}
	if err := r.writeCard(evals); err != nil {
		return err
	}
	if _, err := stage.Finish(r.project, k, nil); err != nil {
		return err
	}
	res.Seconds = took()
	return r.done(res)
}

func (r *runner) evaluate(ctx context.Context, endpoint string, b *Bench) (EvalResult, error) {
	row := EvalResult{Endpoint: endpoint}
	choice, ok := b.Benchmark.(*benchmark.Choice)
	if !ok {
		return row, fail.New(fail.Config, msg.Text{"%s cannot be evaluated yet", "暂不支持评测 %s"}, b.Name)
	}
	var train *eval.Training
	if eval.IsBuiltin(endpoint) {
		data, name, err := r.trainingRows()
		if err != nil {
			return row, err
		}
		if train, err = eval.ReadTraining(name, data, choice); err != nil {
			return row, err
		}
	}
	ep, model, err := NewEndpoint(EndpointOptions{
		Endpoint: endpoint, Model: r.cfg.Eval.Model, Training: train, Benchmark: choice,
		Concurrency: r.cfg.Eval.Concurrency,
	}, r.env)
	if err != nil {
		return row, err
	}
	_, contract := r.cfg.trainRows(launch.RowsOf(r.cfg.Train.trainer))
	row.Summary, err = eval.Run(ctx, eval.Job{
		Benchmark: b.Benchmark, Items: b.Items, Model: model, Endpoint: ep,
		WorkDir:     inside(r.base, evalDir(endpoint)),
		Concurrency: r.cfg.Eval.Concurrency, Fresh: r.opt.Fresh || eval.IsBuiltin(endpoint) && r.staleBaselines,
		Holder: runstore.Holder{PID: r.env.PID, Host: r.env.Host, Start: r.env.Now()},
		Clock:  r.env.Now, Queries: inside(r.base, ".drydock/queries.jsonl"),
		Preflight: eval.Preflight{Contract: string(contract)}, Warn: func(n eval.Note) { r.warn(n) },
		Progress: func(p eval.Progress) {
			r.tell(Event{Type: "progress", Stage: StageEval, Done: p.Done, Total: p.Total})
		},
	})
	if err != nil {
		return row, err
	}
	r.relativeFiles(&row.Summary)
	if _, err := training.NoteEvaluation(r.project.Runs(), row.Summary.Model, &row.Summary); err != nil {
		return row, err
	}
	if endpoint == eval.LookupModel {
		row.WithLeaks, err = r.withLeaks(ctx, b, choice)
	}
	return row, err
}

// relativeFiles makes the paths in a summary relative to the project.
func (r *runner) relativeFiles(s *eval.Summary) {
	for _, p := range []*string{&s.Files.Reviews, &s.Files.Predictions, &s.Files.Report, &s.Files.Config} {
		if *p != "" {
			*p = relative(r.base, filepath.FromSlash(*p))
		}
	}
}

// trainingRows returns the first output that holds questions with answers.
func (r *runner) trainingRows() (data []byte, name string, err error) {
	for i, o := range r.cfg.Output {
		if o.shape == "question" || o.shape == "qwen3_chat" {
			if res := r.result.Stage(StageOutput); res != nil && res.Output[i].Rows == 0 {
				return nil, "", fail.New(fail.Failed, msg.Text{
					"%s has no rows, so a built-in baseline has nothing to learn from; left out: %s",
					"%s 没有任何数据行，内置基线无从学习；未采用：%s",
				}, o.path(), counts(res.Output[i].LeftOut))
			}
			data, err = os.ReadFile(inside(r.base, o.rowsPath(inTrain)))
			return data, o.path(), err
		}
	}
	return nil, "", fail.New(fail.Config, msg.Text{
		"a built-in baseline learns from questions, and no output has any",
		"内置基线从题目中学习，但没有任何输出包含题目",
	}).Hint(msg.Text{"add an output of shape question or qwen3_chat", "请加入 question 或 qwen3_chat 形式的输出"})
}

// withLeaks is what builtin:lookup would have scored had the leaks stayed in:
// the plainest way to show what a leak is worth. nil when there were none.
func (r *runner) withLeaks(ctx context.Context, b *Bench, c *benchmark.Choice) (*float64, error) {
	leaked, err := os.ReadFile(r.stage(StageContam).Path("leaked.jsonl"))
	if err != nil || len(leaked) == 0 {
		return nil, err
	}
	data, name, err := r.trainingRows()
	if err != nil {
		return nil, err
	}
	train, err := eval.ReadTraining(name, append(data, leaked...), c)
	if err != nil {
		return nil, err
	}
	lookup := eval.NewLookup(train, c)
	var correct atomic.Int64
	err = parallel.Each(ctx, r.opt.Workers, len(b.Items), func(ctx context.Context, i int) error {
		a, err := lookup.Ask(ctx, c.Prompt(b.Items[i]))
		if err == nil && c.Grade(b.Items[i], a.Reply).Verdict == benchmark.Correct {
			correct.Add(1)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	acc := float64(correct.Load()) / float64(len(b.Items))
	return &acc, nil
}

func (r *runner) cardRow(endpoint string, row EvalResult) provenance.Evaluation {
	s := &row.Summary
	e := provenance.Evaluation{
		Benchmark: s.Benchmark, Model: s.Model, N: s.N, Correct: s.Correct,
		Low: s.Wilson95[0], High: s.Wilson95[1], NoExtraction: s.NoExtraction, Rule: s.Rule,
		Baseline: s.Baseline, Graded: endpoint == r.cfg.Submission.Results,
	}
	if s.LeakSignal != nil {
		e.Note = msg.Text{s.LeakSignal.In(msg.En), s.LeakSignal.In(msg.Zh)}
	}
	return e
}

// EndpointOptions say who answers.
type EndpointOptions struct {
	Endpoint    string // builtin:NAME or the base URL of an OpenAI-compatible server
	Model       string // as the server knows it; not for builtin
	Training    *eval.Training
	Benchmark   *benchmark.Choice
	Concurrency int
	Temperature *float64 // nil: 0, as EvalScope sends
}

// NewEndpoint makes the endpoint and says under which model name it answers.
func NewEndpoint(o EndpointOptions, env Env) (eval.Endpoint, string, error) {
	if eval.IsBuiltin(o.Endpoint) {
		e, err := eval.Builtin(o.Endpoint, o.Training, o.Benchmark)
		return e, o.Endpoint, err
	}
	if o.Model == "" {
		return nil, "", fail.New(fail.Config, msg.Text{"no model is named", "未指定模型"}).
			Hint(msg.Text{"name it as the server lists it under /v1/models", "请按服务器 /v1/models 中的名称填写"})
	}
	client, err := llm.New(llm.Options{
		BaseURL: o.Endpoint, APIKey: env.APIKey, HTTP: llm.Sized(env.HTTP, o.Concurrency), Clock: env.Now, Jitter: rand.Float64,
	})
	if err != nil {
		return nil, "", err
	}
	t := o.Temperature
	if t == nil {
		t = new(float64)
	}
	return eval.NewHTTP(client, o.Model, eval.Sampling{Temperature: t}), o.Model, nil
}
