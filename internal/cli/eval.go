package cli

import (
	"path/filepath"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/drydock-ml/drydock/eval"
	"github.com/drydock-ml/drydock/eval/evalscope"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/pipeline"
	"github.com/drydock-ml/drydock/internal/ui"
)

// EvalOptions are the flags of eval.
type EvalOptions struct {
	Bench        string
	Model        string
	BaseURL      string
	APIKeyFile   string
	WorkDir      string
	Train        string
	Limit        int
	Repeats      int
	Permutations int
	SystemPrompt string
	Temperature  string
	MaxTokens    int
	ExtraBody    string
	Logprobs     bool
	Stream       bool
	Rule         string
	Filter       string
	Schema       string
	OnError      string
	MinAcc       float64
	Concurrency  string
	Deadline     string
	Hedge        bool
	Contract     string
	BaseModel    string
	Checkpoints  string
	Dev          string
	NoPreflight  bool
	Resume       bool
	Fresh        bool
	reportOptions
	DryRun bool
}

func newEvalCommand(a *app) *cobra.Command {
	var o EvalOptions
	c := a.command("eval", about{
		use:   "--model NAME",
		short: msg.Text{"Ask a served model, or a baseline, a benchmark's questions.", "向已部署的模型或基线提问评测集题目。"},
		long: msg.Text{
			"builtin:majority always answers the commonest letter of --train; builtin:lookup answers by looking the question up in --train. They know nothing: a lookup far above chance says that the training data holds the benchmark. A server is looked at first, and what would spoil the result ends the run before it begins. Answers are saved as they come; the same command goes on where it stopped. The files have EvalScope's layout.",
			"builtin:majority 始终回答 --train 中最常见的字母；builtin:lookup 在 --train 中检索作答。二者没有任何知识：检索远高于随机水平说明训练数据含有评测集。提问前先查看服务端，会使结果失效的问题在开始前就终止运行。回答随到随存；再次运行同一命令从停止处继续。文件采用 EvalScope 的目录结构。",
		},
		examples: []example{
			{msg.Text{"a model served here", "本机部署的模型"}, "drydock eval --model qwen3-8b --base-url http://127.0.0.1:8000/v1"},
			{msg.Text{"every checkpoint of a training, chosen on other items", "训练的每个检查点，在其他题目上选择"}, "drydock eval --checkpoints out/ --dev dev.jsonl --base-url http://gpu:8000/v1"},
			{msg.Text{"a baseline that needs no model", "不需要模型的基线"}, "drydock eval --model builtin:lookup --train q.jsonl --work-dir w"},
		},
		exits: []int{3, 4, 12, 20},
	}, nil)
	c.RunE = func(cmd *cobra.Command, _ []string) error {
		if o.Checkpoints == "" {
			if err := a.require(cmd, "model", o.Model); err != nil {
				return err
			}
		}
		return runEval(cmd.Context(), a, o)
	}
	f := a.flags(c.Flags())
	f.str(&o.Bench, "bench", "", "maritime_bench", msg.Text{"benchmark name, file or folder `REF`", "评测集名称、文件或文件夹 `REF`"})
	f.str(&o.Model, "model", "", "", msg.Text{"model `NAME` as the server knows it, or builtin:majority, builtin:lookup", "服务端的模型名称 `NAME`，或 builtin:majority、builtin:lookup"})
	f.str(&o.BaseURL, "base-url", "", "", msg.Text{"OpenAI-compatible server at `URL`, with /v1", "OpenAI 兼容服务地址 `URL`，含 /v1"})
	f.str(&o.APIKeyFile, "api-key-file", "", "", msg.Text{"`FILE` with the key (default: DRYDOCK_API_KEY)", "含密钥的 `FILE`（默认：DRYDOCK_API_KEY）"})
	f.output(&o.WorkDir, "work-dir", "", msg.Text{"write the files below `DIR` (default build/eval)", "将文件写入 `DIR`（默认 build/eval）"})
	f.str(&o.Train, "train", "", "", msg.Text{"training rows in `FILE`, for the baselines", "基线使用的训练数据 `FILE`"})
	f.int(&o.Limit, "limit", "", 0, msg.Text{"ask the first `N` items only (0: all)", "只问前 `N` 题（0：全部）"})
	f.int(&o.Repeats, "repeats", "", 1, msg.Text{"ask every item `N` times", "每题提问 `N` 次"})
	f.int(&o.Permutations, "permutations", "", 0, msg.Text{"then ask again with the options in `N` other orders", "再以 `N` 种其他选项顺序重新提问"})
	evalRequestFlags(f, &o)
	evalRunFlags(f, &o)
	f.reports(&o.reportOptions)
	f.dryRun(&o.DryRun)
	a.completeFunc(c, "bench", a.knownBenches)
	a.complete(c, "model", eval.MajorityModel, eval.LookupModel)
	a.complete(c, "rule", ruleNames()...)
	a.complete(c, "schema", stringsOf(evalscope.Schemas())...)
	a.complete(c, "on-error", stringsOf(eval.OnErrors())...)
	a.complete(c, "contract", contracts()...)
	return c
}

// evalRequestFlags declares what is sent and how it is read.
func evalRequestFlags(f flags, o *EvalOptions) {
	f.str(&o.SystemPrompt, "system-prompt", "", "", msg.Text{"send `TEXT` before the question", "在题目之前发送 `TEXT`"})
	f.str(&o.Temperature, "temperature", "", "0", msg.Text{"sampling temperature `T`; server: leave it to the server", "采样温度 `T`；server：由服务端决定"})
	f.int(&o.MaxTokens, "max-tokens", "", 0, msg.Text{"at most `N` tokens an answer (0: the server's limit)", "每条回答最多 `N` 个 token（0：服务端上限）"})
	f.str(&o.ExtraBody, "extra-body", "", "", msg.Text{"send the fields of the object `JSON`, too", "同时发送 `JSON` 对象中的字段"})
	f.bool(&o.Logprobs, "logprobs", "", msg.Text{"ask for log probabilities, too, and count the most probable letters", "同时请求对数概率，并统计概率最高的字母"})
	f.bool(&o.Stream, "stream", "", msg.Text{"have answers sent piece by piece", "以流式接收回答"})
	f.str(&o.Rule, "rule", "", "", msg.Text{"read the letter by `RULE` (default: the benchmark's)", "按 `RULE` 抽取字母（默认：评测集的规则）"})
	f.str(&o.Filter, "filter", "", "", msg.Text{"before that, EvalScope's filters: `JSON`, such as {\"remove_until\":\"</think>\"}", "抽取前应用 EvalScope 过滤器 `JSON`，如 {\"remove_until\":\"</think>\"}"})
	f.str(&o.Schema, "schema", "", "", msg.Text{"write files as EvalScope `1.4.2|1.14` does (default 1.4.2)", "按 EvalScope `1.4.2|1.14` 的格式写文件（默认 1.4.2）"})
	f.str(&o.OnError, "on-error", "", "wrong", msg.Text{"count a failed request `wrong|evalscope`: as wrong, or not at all, as EvalScope does", "失败请求的计法 `wrong|evalscope`：计为错误，或如 EvalScope 不计入"})
	f.float(&o.MinAcc, "min-acc", "", 0, msg.Text{"end with 12 when the accuracy is below `X` (0 to 1)", "准确率低于 `X`（0 到 1）时以 12 退出"})
}

// evalRunFlags declares how the run goes.
func evalRunFlags(f flags, o *EvalOptions) {
	f.str(&o.Concurrency, "concurrency", "", "auto", msg.Text{"ask `N` questions at once, or auto", "同时提问 `N` 题，或 auto"})
	f.str(&o.Deadline, "deadline", "", "30m", msg.Text{"give an item up after `TIME`, all attempts together", "单题超过 `TIME`（含重试）即放弃"})
	f.bool(&o.Hedge, "hedge", "", msg.Text{"ask late items a second time; the first answer counts", "对迟迟未答的题再问一次，先到者有效"})
	f.str(&o.Contract, "contract", "", "", msg.Text{"hold the server to the checkpoint's template contract `NAME`", "要求服务端符合检查点的模板约定 `NAME`"})
	f.str(&o.BaseModel, "base-model", "", "", msg.Text{"check that the adapter answers otherwise than `NAME`", "检查适配器的回答与 `NAME` 不同"})
	f.str(&o.Checkpoints, "checkpoints", "", "", msg.Text{"load and ask every LoRA checkpoint in `DIR`, one after another", "依次载入并提问 `DIR` 中的每个 LoRA 检查点"})
	f.str(&o.Dev, "dev", "", "", msg.Text{"choose among them on the items of `FILE`, then ask the benchmark once", "在 `FILE` 的题目上选出一个，再做一次评测集"})
	f.gate(&o.NoPreflight, "no-preflight", "", msg.Text{"do not look at the server first; this is recorded", "不做预检；此事会记录在案"})
	f.bool(&o.Resume, "resume", "", msg.Text{"go on with saved answers; refuse when there are none", "沿用已保存的回答；没有则拒绝"})
	f.gate(&o.Fresh, "fresh", "", msg.Text{"forget saved answers", "不使用已保存的回答"})
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
