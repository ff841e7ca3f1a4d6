package cli

import (
	"context"
	"os"
	"path/filepath"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/drydock-ml/drydock/eval"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/llm"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/pipeline"
	"github.com/drydock-ml/drydock/internal/runstore"
	"github.com/drydock-ml/drydock/internal/ui"
)

// EvalOptions are the flags of eval.
type EvalOptions struct {
	Bench        string
	Model        string
	BaseURL      string
	APIKeyFile   string
	WorkDir      string
	Concurrency  string
	Fresh        bool
	Limit        int
	SystemPrompt string
	Temperature  string
	MinAcc       float64
	Train        string
	DryRun       bool
}

func newEvalCommand(a *app) *cobra.Command {
	var o EvalOptions
	c := a.command("eval", about{
		use:   "--model NAME",
		short: msg.Text{"Ask a served model, or a baseline, a benchmark's questions.", "向已部署的模型或基线提问评测集题目。"},
		long: msg.Text{
			"builtin:majority always answers the commonest letter of --train; builtin:lookup answers by looking the question up in --train. They know nothing: a lookup far above chance says that the training data holds the benchmark. Answers are saved as they come; the same command goes on where it stopped. The files have EvalScope's layout.",
			"builtin:majority 始终回答 --train 中最常见的字母；builtin:lookup 在 --train 中检索作答。二者没有任何知识：检索远高于随机水平说明训练数据含有评测集。回答随到随存；再次运行同一命令从停止处继续。文件采用 EvalScope 的目录结构。",
		},
		examples: []example{
			{msg.Text{"a model served here", "本机部署的模型"}, "drydock eval --model qwen3-8b --base-url http://127.0.0.1:8000/v1"},
			{msg.Text{"a baseline that needs no model", "不需要模型的基线"}, "drydock eval --model builtin:lookup --train q.jsonl --work-dir w"},
		},
		exits: []int{3, 4, 12, 20},
	}, nil)
	c.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := a.require(cmd, "model", o.Model); err != nil {
			return err
		}
		return runEval(cmd.Context(), a, o)
	}
	f := a.flags(c.Flags())
	f.str(&o.Bench, "bench", "", "maritime_bench", msg.Text{"benchmark name or file `REF`", "评测集名称或文件 `REF`"})
	f.str(&o.Model, "model", "", "", msg.Text{"model `NAME` as the server knows it, or builtin:majority, builtin:lookup", "服务端的模型名称 `NAME`，或 builtin:majority、builtin:lookup"})
	f.str(&o.BaseURL, "base-url", "", "", msg.Text{"OpenAI-compatible server at `URL`, with /v1", "OpenAI 兼容服务地址 `URL`，含 /v1"})
	f.str(&o.APIKeyFile, "api-key-file", "", "", msg.Text{"`FILE` with the key (default: DRYDOCK_API_KEY)", "含密钥的 `FILE`（默认：DRYDOCK_API_KEY）"})
	f.output(&o.WorkDir, "work-dir", "", msg.Text{"write the files below `DIR` (default build/eval)", "将文件写入 `DIR`（默认 build/eval）"})
	f.str(&o.Train, "train", "", "", msg.Text{"training rows in `FILE`, for the baselines", "基线使用的训练数据 `FILE`"})
	f.str(&o.Concurrency, "concurrency", "", "auto", msg.Text{"ask `N` questions at once, or auto", "同时提问 `N` 题，或 auto"})
	f.int(&o.Limit, "limit", "", 0, msg.Text{"ask the first `N` items only (0: all)", "只问前 `N` 题（0：全部）"})
	f.str(&o.SystemPrompt, "system-prompt", "", "", msg.Text{"send `TEXT` before the question", "在题目之前发送 `TEXT`"})
	f.str(&o.Temperature, "temperature", "", "0", msg.Text{"sampling temperature `T`; server: leave it to the server", "采样温度 `T`；server：由服务端决定"})
	f.float(&o.MinAcc, "min-acc", "", 0, msg.Text{"end with 12 when the accuracy is below `X` (0 to 1)", "准确率低于 `X`（0 到 1）时以 12 退出"})
	f.gate(&o.Fresh, "fresh", "", msg.Text{"forget saved answers", "不使用已保存的回答"})
	f.dryRun(&o.DryRun)
	a.completeFunc(c, "bench", a.knownBenches)
	a.complete(c, "model", eval.MajorityModel, eval.LookupModel)
	return c
}

func runEval(ctx context.Context, a *app, o EvalOptions) error {
	b, err := a.findBench(o.Bench)
	if err != nil {
		return err
	}
	n, err := o.check()
	if err != nil {
		return err
	}
	endpoint, err := a.endpoint(o, b)
	if err != nil {
		return err
	}
	if o.WorkDir == "" {
		o.WorkDir = filepath.Join("build", "eval")
	}
	if o.DryRun {
		return a.answer(newEvalPlan(o, b, endpoint))
	}
	env, err := a.pipelineEnv()
	if err != nil {
		return err
	}
	progress := a.term.Progress(b.Name, int64(len(b.Items)), false)
	s, err := eval.Run(ctx, eval.Job{
		Benchmark: b.Benchmark, Items: b.Items, Limit: o.Limit, Model: o.Model, Endpoint: endpoint,
		SystemPrompt: o.SystemPrompt, WorkDir: o.WorkDir, Concurrency: n, Fresh: o.Fresh,
		Holder: runstore.Holder{PID: env.PID, Host: env.Host, Start: env.Now()},
		Progress: func(p eval.Progress) {
			progress.SetTotal(int64(p.Total))
			progress.Set(int64(p.Done))
		},
	})
	progress.End()
	if err != nil {
		return err
	}
	return a.evalAnswer(s, o.MinAcc)
}

// check reads the flags that are more than one value.
func (o EvalOptions) check() (concurrency int, err error) {
	var bad fail.List
	if o.Concurrency != "auto" {
		n, err := strconv.Atoi(o.Concurrency)
		if err != nil || n < 1 {
			bad = append(bad, badValue("--concurrency", o.Concurrency, kindWords{"a number from 1, or auto", "从 1 起的数字，或 auto"}))
		}
		concurrency = n
	}
	if o.Limit < 0 {
		bad = append(bad, badValue("--limit", strconv.Itoa(o.Limit), kindWords{"a number from 0", "从 0 起的数字"}))
	}
	if o.MinAcc < 0 || o.MinAcc > 1 {
		bad = append(bad, badValue("--min-acc", strconv.FormatFloat(o.MinAcc, 'g', -1, 64), kindWords{"a number from 0 to 1", "0 到 1 之间的数字"}))
	}
	switch {
	case eval.IsBuiltin(o.Model) && o.Train == "":
		bad = append(bad, fail.New(fail.Usage, msg.Text{"%s needs --train FILE", "%s 需要 --train FILE"}, o.Model))
	case eval.IsBuiltin(o.Model) && o.BaseURL != "":
		bad = append(bad, fail.New(fail.Usage, msg.Text{"%s needs no server: leave out --base-url", "%s 不需要服务端：请去掉 --base-url"}, o.Model))
	case !eval.IsBuiltin(o.Model) && o.BaseURL == "":
		bad = append(bad, fail.New(fail.Usage, msg.Text{"model %s: missing --base-url", "模型 %s：缺少 --base-url"}, o.Model).
			Hint(msg.Text{"an OpenAI-compatible server, for example http://127.0.0.1:8000/v1", "OpenAI 兼容服务，例如 http://127.0.0.1:8000/v1"}))
	}
	return concurrency, bad.OrNil()
}

// findBench resolves a benchmark by name or file. A drydock.yaml with mistakes
// matters only when the benchmark is not found without it.
func (a *app) findBench(ref string) (*pipeline.Bench, error) {
	home, err := a.host.home()
	if err != nil {
		return nil, err
	}
	own, mistakes := a.projectBenchmarks()
	b, err := pipeline.FindBench(ref, "", home, own)
	if err != nil && mistakes != nil {
		return nil, mistakes
	}
	return b, err
}

// endpoint makes what is asked: a baseline or a server.
func (a *app) endpoint(o EvalOptions, b *pipeline.Bench) (eval.Endpoint, error) {
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
	key, err := a.apiKey(o.APIKeyFile)
	if err != nil {
		return nil, err
	}
	temperature, err := temperatureOf(o.Temperature)
	if err != nil {
		return nil, err
	}
	client, err := llm.New(llm.Options{
		BaseURL: o.BaseURL, APIKey: key, HTTP: a.host.HTTP, Clock: a.host.Now,
	})
	if err != nil {
		return nil, err
	}
	return eval.NewHTTP(client, o.Model, eval.Sampling{Temperature: temperature}), nil
}

func temperatureOf(s string) (*float64, error) {
	if s == "server" {
		return nil, nil
	}
	t, err := strconv.ParseFloat(s, 64)
	if err != nil || t < 0 || t > 2 {
		return nil, badValue("--temperature", s, kindWords{"a number from 0 to 2, or server", "0 到 2 之间的数字，或 server"})
	}
	return &t, nil
}

// evalPlan says what would be asked, and whom.
type evalPlan struct {
	Type       string           `json:"type"`
	Schema     string           `json:"schema"`
	DryRun     bool             `json:"dry_run"`
	Benchmark  string           `json:"benchmark"`
	Items      int              `json:"items"`
	Model      string           `json:"model"`
	Endpoint   string           `json:"endpoint"`
	URL        string           `json:"url,omitempty"`
	WorkDir    string           `json:"work_dir"`
	Conditions []eval.Condition `json:"conditions"`
}

func newEvalPlan(o EvalOptions, b *pipeline.Bench, e eval.Endpoint) evalPlan {
	p := evalPlan{
		Type: "summary", Schema: "drydock.eval.plan/1", DryRun: true, Benchmark: b.Benchmark.Ref().String(), Items: len(b.Items),
		Model: o.Model, Endpoint: e.Kind(), WorkDir: filepath.ToSlash(o.WorkDir), Conditions: e.Conditions(),
	}
	if o.Limit > 0 {
		p.Items = min(p.Items, o.Limit)
	}
	if h, ok := e.(*eval.HTTP); ok {
		p.URL = h.URL()
	}
	return p
}

func (p evalPlan) text(t *ui.Terminal) {
	tb := t.Table(ui.Column{}, ui.Column{}).Bare().Wrapped()
	tb.Row(t.Say(msg.Text{"benchmark", "评测集"}), p.Benchmark)
	tb.Row(t.Say(msg.Text{"items", "题数"}), strconv.Itoa(p.Items))
	tb.Row(t.Say(msg.Text{"model", "模型"}), p.Model)
	if p.URL != "" {
		tb.Row(t.Say(msg.Text{"server", "服务端"}), p.URL)
	}
	for _, c := range p.Conditions {
		tb.Row(c.Name, c.Value)
	}
	tb.Row(t.Say(msg.Text{"files below", "文件目录"}), p.WorkDir)
	tb.Print()
}
