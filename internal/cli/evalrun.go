package cli

import (
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/drydock-ml/drydock/dataprep/emit"
	"github.com/drydock-ml/drydock/eval"
	"github.com/drydock-ml/drydock/eval/benchmark"
	"github.com/drydock-ml/drydock/eval/evalscope"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/llm"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/pipeline"
	"github.com/drydock-ml/drydock/internal/runstore"
	"github.com/drydock-ml/drydock/internal/ui"
)

// evalSettings are the flags of eval, read.
type evalSettings struct {
	concurrency int // 0: auto
	deadline    time.Duration
	sampling    eval.Sampling
	filters     benchmark.Filters
	schema      evalscope.Schema
	onError     eval.OnError
}

func runEval(ctx context.Context, a *app, o EvalOptions) error {
	subjects, err := a.readSubjects(o.Subjects)
	if err != nil {
		return err
	}
	b, err := a.findBench(o.Bench)
	if err != nil {
		return err
	}
	set, err := o.check()
	if err != nil {
		return err
	}
	if err := useRule(b, o.Rule); err != nil {
		return err
	}
	if err := useFilters(b, set.filters); err != nil {
		return err
	}
	if o.WorkDir == "" {
		o.WorkDir = filepath.Join("build", "eval")
	}
	if o.Checkpoints != "" {
		return runSweep(ctx, a, o, set, b)
	}
	endpoint, err := a.endpoint(o, set, b)
	if err != nil {
		return err
	}
	if o.DryRun {
		return a.answer(newEvalPlan(o, b, endpoint))
	}
	watch := a.evalWatch(b.Name, len(b.Items))
	job, err := a.evalJob(o, set, b, endpoint, watch)
	if err != nil {
		return err
	}
	s, err := eval.RunPermuted(ctx, job, o.Permutations)
	watch.progress.End()
	if err == nil {
		err = watch.err
	}
	if err != nil {
		return err
	}
	a.noteEvaluation(s.Model, &s)
	return a.evalAnswer(s, o.MinAcc, o.reportOptions, subjects)
}

// evalJob is what the flags ask for.
func (a *app) evalJob(o EvalOptions, set evalSettings, b *pipeline.Bench, endpoint eval.Endpoint, watch *evalWatch) (eval.Job, error) {
	env, err := a.pipelineEnv()
	if err != nil {
		return eval.Job{}, err
	}
	queries, err := a.queriesFile()
	if err != nil {
		return eval.Job{}, err
	}
	job := eval.Job{
		Benchmark: b.Benchmark, Items: b.Items, Limit: o.Limit, Repeats: o.Repeats, Model: o.Model, Endpoint: endpoint,
		SystemPrompt: o.SystemPrompt, Logprobs: o.Logprobs, WorkDir: o.WorkDir, Schema: set.schema, OnError: set.onError,
		Concurrency: set.concurrency, Hedge: o.Hedge, Fresh: o.Fresh, Resume: o.Resume,
		Preflight: eval.Preflight{Skip: o.NoPreflight, Contract: o.Contract, BaseModel: o.BaseModel},
		Queries:   queries,
		Holder:    runstore.Holder{PID: env.PID, Host: env.Host, Start: env.Now()},
		Clock:     a.host.Now, Progress: watch.step, Warn: watch.warn,
	}
	if a.term.JSON() {
		job.Item = watch.item
	}
	return job, nil
}

// An evalWatch shows a run while it goes: a bar and warnings for people, NDJSON
// for programs.
type evalWatch struct {
	a        *app
	progress *ui.Progress
	err      error // of the first line that could not be written
}

func (a *app) evalWatch(label string, items int) *evalWatch {
	return &evalWatch{a: a, progress: a.term.Progress(label, int64(items), false)}
}

func (w *evalWatch) step(p eval.Progress) {
	w.progress.SetTotal(int64(p.Total))
	w.progress.Set(int64(p.Done))
}

func (w *evalWatch) write(v any) {
	if err := w.a.term.Value(v); err != nil && w.err == nil {
		w.err = err
	}
}

func (w *evalWatch) item(e eval.ItemEvent) { w.write(e) }

func (w *evalWatch) warn(n eval.Note) {
	if !w.a.term.JSON() {
		w.a.term.Warn(msg.Text{"%s", "%s"}, n)
		return
	}
	w.write(struct {
		Type    string `json:"type"`
		Schema  string `json:"schema"`
		Code    string `json:"code"`
		Message string `json:"message"`
	}{"warning", "drydock.warning/1", n.Code, n.In(w.a.lang)})
}

// check reads the flags that are more than one value.
func (o EvalOptions) check() (evalSettings, error) {
	var set evalSettings
	var bad fail.List
	add := func(err error) {
		bad = append(bad, fail.All(err)...)
	}
	if o.Concurrency != "auto" {
		n, err := strconv.Atoi(o.Concurrency)
		if err != nil || n < 1 {
			add(badValue("--concurrency", o.Concurrency, msg.Text{"a number from 1, or auto", "从 1 起的数字，或 auto"}))
		}
		set.concurrency = n
	}
	for _, f := range []struct {
		name     string
		n, least int
		want     msg.Text
	}{
		{"--limit", o.Limit, 0, msg.Text{"a number from 0", "从 0 起的数字"}},
		{"--max-tokens", o.MaxTokens, 0, msg.Text{"a number from 0", "从 0 起的数字"}},
		{"--permutations", o.Permutations, 0, msg.Text{"a number from 0", "从 0 起的数字"}},
		{"--repeats", o.Repeats, 1, msg.Text{"a number from 1", "从 1 起的数字"}},
	} {
		if f.n < f.least {
			add(badValue(f.name, strconv.Itoa(f.n), f.want))
		}
	}
	if o.MinAcc < 0 || o.MinAcc > 1 {
		add(badValue("--min-acc", strconv.FormatFloat(o.MinAcc, 'g', -1, 64), msg.Text{"a number from 0 to 1", "0 到 1 之间的数字"}))
	}
	if o.Checkpoints != "" && (o.Resume || o.MinAcc > 0 || o.Permutations > 0) {
		add(fail.New(fail.Usage, msg.Text{"--checkpoints takes no --resume, --min-acc or --permutations: saved answers are always taken up, and there is more than one accuracy", "--checkpoints 不接受 --resume、--min-acc 和 --permutations：已存回答总会沿用，且准确率不止一个"}))
	}
	if o.Permutations > 0 && o.Repeats > 1 {
		add(fail.New(fail.Usage, msg.Text{"--permutations and --repeats exclude each other", "--permutations 与 --repeats 不能同时使用"}))
	}
	if o.Fresh && o.Resume {
		add(fail.New(fail.Usage, msg.Text{"--fresh and --resume exclude each other", "--fresh 与 --resume 不能同时使用"}))
	}
	add(set.read(o))
	add(o.checkEndpoint())
	return set, bad.OrNil()
}

// read takes the flags that have a form of their own.
func (set *evalSettings) read(o EvalOptions) error {
	var bad fail.List
	var err error
	if set.deadline, err = time.ParseDuration(o.Deadline); err != nil || set.deadline <= 0 {
		bad = append(bad, badValue("--deadline", o.Deadline, msg.Text{"a time such as 90s or 10m", "时长，如 90s 或 10m"}))
	}
	set.sampling = eval.Sampling{MaxTokens: o.MaxTokens, Stream: o.Stream}
	if set.sampling.Temperature, err = temperatureOf(o.Temperature); err != nil {
		bad = append(bad, fail.All(err)...)
	}
	if set.sampling.Extra, err = llm.ParseExtra(o.ExtraBody); err != nil {
		bad = append(bad, fail.All(err)...)
	}
	if o.Logprobs {
		set.sampling.AskLogprobs()
	}
	if set.filters, err = benchmark.ParseFilters(o.Filter); err != nil {
		bad = append(bad, fail.All(err)...)
	}
	if set.schema, err = evalscope.ParseSchema(o.Schema); err != nil {
		bad = append(bad, fail.All(err)...)
	}
	set.onError = eval.OnError(o.OnError)
	if set.onError != eval.OnErrorWrong && set.onError != eval.OnErrorEvalScope {
		bad = append(bad, oneOf("--on-error", o.OnError, stringsOf(eval.OnErrors())...))
	}
	if o.Contract != "" {
		known := false
		for _, c := range contracts() {
			known = known || c == o.Contract
		}
		if !known {
			bad = append(bad, oneOf("--contract", o.Contract, contracts()...))
		}
	}
	return bad.OrNil()
}

func (o EvalOptions) checkEndpoint() error {
	switch {
	case o.Checkpoints == "" && o.Dev != "":
		return fail.New(fail.Usage, msg.Text{"--dev chooses among --checkpoints DIR, which is missing", "--dev 用于在 --checkpoints DIR 中选择，但未给出该选项"})
	case o.Checkpoints != "" && eval.IsBuiltin(o.Model):
		return fail.New(fail.Usage, msg.Text{"--checkpoints needs a server, not %s", "--checkpoints 需要服务端，而不是 %s"}, o.Model)
	case o.Checkpoints != "" && o.BaseURL == "" && !o.DryRun:
		return fail.New(fail.Usage, msg.Text{"--checkpoints: missing --base-url", "--checkpoints：缺少 --base-url"}).
			Hint(msg.Text{"vLLM started with VLLM_ALLOW_RUNTIME_LORA_UPDATING=True and --enable-lora", "以 VLLM_ALLOW_RUNTIME_LORA_UPDATING=True 和 --enable-lora 启动的 vLLM"})
	case o.Checkpoints != "":
		return nil
	case eval.IsBuiltin(o.Model) && o.Train == "":
		return fail.New(fail.Usage, msg.Text{"%s needs --train FILE", "%s 需要 --train FILE"}, o.Model).
			Hint(msg.Text{"the training rows it answers from, for example --train build/train.jsonl", "它据以作答的训练数据，例如 --train build/train.jsonl"})
	case eval.IsBuiltin(o.Model) && o.Logprobs:
		return fail.New(fail.Usage, msg.Text{"%s has no probabilities: leave out --logprobs", "%s 没有概率：请去掉 --logprobs"}, o.Model)
	case eval.IsBuiltin(o.Model) && o.BaseURL != "":
		return fail.New(fail.Usage, msg.Text{"%s needs no server: leave out --base-url", "%s 不需要服务端：请去掉 --base-url"}, o.Model)
	case !eval.IsBuiltin(o.Model) && o.BaseURL == "":
		return fail.New(fail.Usage, msg.Text{"model %s: missing --base-url", "模型 %s：缺少 --base-url"}, o.Model).
			Hint(msg.Text{"an OpenAI-compatible server, for example http://127.0.0.1:8000/v1", "OpenAI 兼容服务，例如 http://127.0.0.1:8000/v1"})
	}
	return nil
}

// stringsOf returns named values as plain text.
func stringsOf[T ~string](values []T) []string {
	out := make([]string, len(values))
	for i, v := range values {
		out[i] = string(v)
	}
	return out
}

// contracts are the template contracts a server can be held to: those rows are
// made for, and plain, an answer without a think block.
func contracts() []string { return append(stringsOf(emit.Contracts()), "plain") }

// useFilters has replies filtered before the rule reads them.
func useFilters(b *pipeline.Bench, f benchmark.Filters) error {
	if len(f) == 0 {
		return nil
	}
	choice, ok := b.Benchmark.(*benchmark.Choice)
	if !ok {
		return fail.New(fail.Usage, msg.Text{"--filter: %s takes no filters", "--filter：%s 不支持过滤器"}, b.Name)
	}
	b.Benchmark = choice.WithFilters(f)
	return nil
}

// endpoint makes what is asked: a baseline or a server.
func (a *app) endpoint(o EvalOptions, set evalSettings, b *pipeline.Bench) (eval.Endpoint, error) {
	if eval.IsBuiltin(o.Model) {
		data, err := os.ReadFile(o.Train)
		if err != nil {
			return nil, a.cannotRead(o.Train, err)
		}
		u, ok := b.Benchmark.(eval.Unprompter)
		if !ok {
			return nil, fail.New(fail.Usage, msg.Text{"%s cannot be asked of a baseline", "%s 不能用于基线"}, b.Name)
		}
		t, err := eval.ReadTraining(filepath.ToSlash(o.Train), data, u)
		if err != nil {
			return nil, err
		}
		return eval.Builtin(o.Model, t, u)
	}
	client, err := a.client(o, set)
	if err != nil {
		return nil, err
	}
	return eval.NewHTTP(client, o.Model, set.sampling), nil
}

// client makes the connection to a server.
func (a *app) client(o EvalOptions, set evalSettings) (*llm.Client, error) {
	key, err := a.apiKey(o.APIKeyFile)
	if err != nil {
		return nil, err
	}
	return llm.New(llm.Options{
		BaseURL: o.BaseURL, APIKey: key, HTTP: llm.Sized(a.host.HTTP, set.concurrency), Clock: a.host.Now,
		Deadline: set.deadline, Jitter: rand.Float64,
	})
}

func temperatureOf(s string) (*float64, error) {
	if s == "server" {
		return nil, nil
	}
	t, err := strconv.ParseFloat(s, 64)
	if err != nil || t < 0 || t > 2 {
		return nil, badValue("--temperature", s, msg.Text{"a number from 0 to 2, or server", "0 到 2 之间的数字，或 server"})
	}
	return &t, nil
}
