package cli

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/drydock-ml/drydock/dataprep/emit"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/launch"
	"github.com/drydock-ml/drydock/launch/checkpoint"
	"github.com/drydock-ml/drydock/launch/vllm"
)

// ServeOptions are the flags of serve.
type ServeOptions struct {
	Model         string
	Extra         []string
	Name          string
	Contract      string
	Adapters      []string
	NoLoRA        bool
	Base          string
	Host          string
	Port          int
	MaxModelLen   int
	DType         string
	Seed          int
	MaxRank       int
	MaxAdapters   int
	ChatTemplate  string
	Kwargs        bool
	Program       string
	Wait          string
	AllowFindings bool
	AllowMismatch bool
	DryRun        bool
	asked         string // the model eval asks for, by drydock.yaml
}

func newServeCommand(a *app) *cobra.Command {
	var o ServeOptions
	c := a.command("serve", about{
		use:   "[MODEL] [-- VLLM OPTIONS]",
		short: msg.Text{"Start vLLM so that a model is asked as it was trained, and stop it cleanly.", "以与训练一致的方式启动 vLLM，并干净地停止。"},
		long: msg.Text{
			"MODEL is a folder or a name of the hub (default Qwen/Qwen3-8B). In a project, contract, model, name, host and port come from drydock.yaml where they are not given: from its training rows, its trainer's base, its eval. Checkpoints are looked at first; the flags follow from the template contract and the version of vLLM; every option behind -- is held to vLLM's own list. Once the server answers, its prompt is compared token by token, an answer and a constraint are looked at, adapters are loaded and compared with the base. A fatal line of the log is told at once, with what to do. ^C stops the server and everything it started; a server that was ready and is stopped ends with 0.",
			"MODEL 为目录或模型站点名称（默认 Qwen/Qwen3-8B）。在项目中，未给出的约定、模型、部署名、地址与端口取自 drydock.yaml：训练数据、训练器的 base 与 eval。先检查检查点；选项由模板约定与 vLLM 版本决定；-- 之后的每个选项都按 vLLM 自己的列表检查。服务就绪后逐 token 比较提示，检查一条回答与一次受限回答，载入适配器并与基座比较。日志中的致命行会立即连同处理方法报告。^C 停止服务及其启动的一切；已就绪的服务被停止时以 0 退出。",
		},
		examples: []example{
			{msg.Text{"what would be started", "将启动什么"}, "drydock serve -n"},
			{msg.Text{"the base and a checkpoint of a training", "基座与一个训练检查点"}, "drydock serve Qwen3-8B --adapter out/checkpoint-400"},
			{msg.Text{"a merged model, held to its base, on two GPUs", "合并后的模型，与基座比较，使用两个 GPU"}, "drydock serve merged --base Qwen3-8B -- -tp 2"},
		},
		args: argRule{0, -1, "MODEL"}, exits: []int{20, 21},
	}, nil)
	c.RunE = func(cmd *cobra.Command, args []string) error {
		n := cmd.ArgsLenAtDash()
		if n < 0 {
			n = len(args)
		}
		if n > 1 {
			return a.seeHelp(cmd, fail.New(fail.Usage, msg.Text{"%s: %q is one argument too many", "%s：参数 %q 多余"}, cmd.CommandPath(), args[1]).
				Hint(msg.Text{"options of vLLM stand behind --", "vLLM 的选项写在 -- 之后"}))
		}
		o.Extra = args[n:]
		if n == 1 {
			o.Model = args[0]
		}
		if err := o.takeProject(a, cmd); err != nil {
			return err
		}
		o.Model = cmp.Or(o.Model, launch.BaseModel)
		return runServe(cmd.Context(), a, o)
	}
	a.serveFlags(c, &o)
	children := []*cobra.Command{newServeLoadCommand(a), newServeUnloadCommand(a)}
	c.AddCommand(children...)
	a.children[c] = children
	return c
}

func (a *app) serveFlags(c *cobra.Command, o *ServeOptions) {
	f := a.flags(c.Flags())
	f.str(&o.Contract, "contract", "", string(emit.EmptyThink), msg.Text{"template contract `NAME` of the checkpoint", "检查点的模板约定 `NAME`"})
	f.strs(&o.Adapters, "adapter", "", msg.Text{"load the adapter `[NAME=]DIR` once the server is ready (repeat)", "就绪后载入适配器 `[NAME=]DIR`（可重复）"})
	f.bool(&o.NoLoRA, "no-lora", "", msg.Text{"serve the model alone: nothing can be loaded later", "只部署模型：之后无法载入适配器"})
	f.str(&o.Base, "base", "", "", msg.Text{"hold MODEL to the files of its base in `DIR`", "将 MODEL 与目录 `DIR` 中的基座文件比较"})
	f.str(&o.Name, "name", "", "", msg.Text{"serve it as `NAME` (default: its last part in lower case; of a trainer's checkpoint, with its hash)", "部署名 `NAME`（默认：模型名末段的小写；训练器的检查点则附其哈希）"})
	f.str(&o.Host, "host", "", "127.0.0.1", msg.Text{"listen at `HOST`", "监听 `HOST`"})
	f.int(&o.Port, "port", "", 8000, msg.Text{"listen at port `N`", "监听端口 `N`"})
	f.int(&o.MaxModelLen, "max-model-len", "", 4096, msg.Text{"prompt and answer together take at most `N` tokens", "提示与回答合计最多 `N` 个 token"})
	f.str(&o.DType, "dtype", "", "bfloat16", msg.Text{"compute in `TYPE`: bfloat16, float16, float32 or auto", "计算类型 `TYPE`：bfloat16、float16、float32 或 auto"})
	f.int(&o.Seed, "seed", "", 0, msg.Text{"random seed `N`", "随机种子 `N`"})
	f.int(&o.MaxRank, "max-lora-rank", "", 0, msg.Text{"largest rank `N` of an adapter (0: what --adapter needs, at least 16)", "适配器最大秩 `N`（0：按 --adapter 所需，至少 16）"})
	f.int(&o.MaxAdapters, "max-cpu-loras", "", 8, msg.Text{"keep up to `N` adapters in memory", "内存中最多保留 `N` 个适配器"})
	f.str(&o.ChatTemplate, "chat-template", "", "", msg.Text{"serve with the template in `FILE`", "使用 `FILE` 中的对话模板"})
	f.bool(&o.Kwargs, "kwargs-in-requests", "", msg.Text{"under empty-think-masked, leave closing the think block to the requests", "在 empty-think-masked 下由请求自行关闭思考块"})
	f.str(&o.Program, "vllm", "", "vllm", msg.Text{"run the program at `PATH`", "运行 `PATH` 处的程序"})
	f.str(&o.Wait, "wait", "", "30m", msg.Text{"give a start up after `TIME`", "启动超过 `TIME` 即放弃"})
	f.gate(&o.AllowFindings, "allow-checkpoint-errors", "", msg.Text{"serve although a check of the checkpoint failed", "即使检查点检查失败也部署"})
	f.gate(&o.AllowMismatch, "allow-template-mismatch", "", msg.Text{"keep a server whose prompt or answers are not the contract's", "即使服务的提示或回答与约定不符也保留"})
	f.dryRun(&o.DryRun)
	a.complete(c, "contract", contracts()...)
	a.complete(c, "dtype", dtypes()...)
}

func dtypes() []string { return []string{"bfloat16", "float16", "float32", "auto"} }

// runServe plans, checks, and carries out.
func runServe(ctx context.Context, a *app, o ServeOptions) error {
	if err := o.check(); err != nil {
		return err
	}
	wait, err := time.ParseDuration(o.Wait)
	if err != nil || wait <= 0 {
		return badValue("--wait", o.Wait, msg.Text{"a time such as 30m", "时长，如 30m"})
	}
	found, err := vllm.Find(ctx, a.host.Trainers, o.Program)
	if err != nil && !o.DryRun {
		return err
	}
	adapters, err := a.lookAtCheckpoints(o, found.Packages["transformers"])
	if err != nil {
		return err
	}
	if o.Name == "" && checkpoint.IsModel(o.Model) && checkpoint.IsCheckpoint(o.Model) {
		// as an adapter: the name tells the training that an evaluation is of
		if m, err := checkpoint.ReadModel(o.Model); err == nil {
			o.Name = m.Served()
		}
	}
	// the plan names the program as the user does, not where it lies here
	plan, err := vllm.NewPlan(o.config(a, adapters), launch.Found{Binary: o.Program, Version: found.Version})
	if err != nil {
		return err
	}
	o.tellAsked(a, plan)
	if o.DryRun {
		return a.answer(newServePlan(o, plan, a.lang))
	}
	plan.Argv[0] = found.Binary
	if err := vllm.CheckPort(o.Host, o.Port); err != nil {
		return err
	}
	return a.serve(ctx, o, plan, wait)
}

// check refuses what no server is started with.
func (o *ServeOptions) check() error {
	if !slices.Contains(contracts(), o.Contract) {
		return oneOf("--contract", o.Contract, contracts()...)
	}
	if !slices.Contains(dtypes(), o.DType) {
		return oneOf("--dtype", o.DType, dtypes()...)
	}
	if o.NoLoRA && len(o.Adapters) > 0 {
		return fail.New(fail.Usage, msg.Text{"--no-lora and --adapter exclude each other", "--no-lora 与 --adapter 不能同时使用"})
	}
	if o.Seed < 0 || o.MaxAdapters < 1 {
		return fail.New(fail.Usage, msg.Text{"--seed cannot be negative, and --max-cpu-loras must be 1 or more", "--seed 不能为负，--max-cpu-loras 至少为 1"})
	}
	if o.ChatTemplate != "" {
		if _, err := os.Stat(o.ChatTemplate); err != nil {
			return fail.New(fail.Usage, msg.Text{"--chat-template: %v", "--chat-template：%v"}, err)
		}
	}
	if looksLikePath(o.Model) && !isDir(o.Model) {
		return fail.New(fail.Usage, msg.Text{"there is no folder %s", "没有目录 %s"}, o.Model).
			Hint(msg.Text{"a name of the hub looks like Qwen/Qwen3-8B", "模型站点名称形如 Qwen/Qwen3-8B"})
	}
	return vllm.CheckArgs(o.Extra)
}

// looksLikePath tells a path from a name of the hub.
func looksLikePath(model string) bool {
	return filepath.IsAbs(model) || strings.HasPrefix(model, ".") || strings.Count(filepath.ToSlash(model), "/") != 1
}

func (o *ServeOptions) config(a *app, adapters []vllm.Adapter) vllm.Config {
	return vllm.Config{
		Model: o.Model, Name: o.Name, Contract: emit.Contract(o.Contract), KwargsInRequests: o.Kwargs, Host: o.Host, Port: o.Port,
		MaxModelLen: o.MaxModelLen, DType: o.DType, Seed: uint64(o.Seed), Adapters: adapters, MaxRank: o.MaxRank, LoRA: !o.NoLoRA,
		MaxAdapters: o.MaxAdapters, ChatTemplate: o.ChatTemplate, Extra: o.Extra, BatchInvariant: a.host.Getenv("VLLM_BATCH_INVARIANT") == "1",
	}
}

// lookAtCheckpoints checks the model and the adapters before anything starts.
func (a *app) lookAtCheckpoints(o ServeOptions, transformers string) ([]vllm.Adapter, error) {
	if checkpoint.IsAdapter(o.Model) {
		return nil, fail.New(fail.Usage, msg.Text{"%s is an adapter", "%s 是适配器"}, o.Model).
			Hint(msg.Text{"drydock serve BASE --adapter %s", "drydock serve BASE --adapter %s"}, o.Model)
	}
	if checkpoint.IsModel(o.Model) {
		var list []checkpoint.Finding
		for _, f := range checkpoint.CheckModel(o.Model, o.Base) {
			if f.Concerns(transformers) {
				list = append(list, f)
			}
		}
		if err := a.tellFindings(o.Model, list, o.AllowFindings); err != nil {
			return nil, err
		}
	}
	var out []vllm.Adapter
	for _, spelled := range o.Adapters {
		name, dir := adapterArg(spelled)
		if !checkpoint.IsAdapter(dir) {
			return nil, fail.New(fail.Usage, msg.Text{"--adapter %s: there is no adapter_config.json in %s", "--adapter %s：%s 中没有 adapter_config.json"}, spelled, dir)
		}
		c := checkpoint.Read(dir, checkpoint.AdapterOptions{Base: o.Model, MaxRank: o.MaxRank})
		if err := a.tellFindings(dir, c.Findings, o.AllowFindings); err != nil {
			return nil, err
		}
		if name == "" {
			name = c.Served()
		}
		if !o.DryRun {
			dir = c.Dir // a plan names no machine; a running server is told the whole path
		}
		out = append(out, vllm.Adapter{Name: name, Dir: filepath.ToSlash(dir), Rank: c.Rank})
	}
	return out, nil
}

// adapterArg reads [NAME=]DIR.
func adapterArg(s string) (name, dir string) {
	if name, dir, ok := strings.Cut(s, "="); ok && !strings.ContainsAny(name, `/\`) {
		return name, dir
	}
	return "", s
}

// tellFindings warns of what was found, and refuses errors unless they are
// allowed.
func (a *app) tellFindings(dir string, list []checkpoint.Finding, allow bool) error {
	for _, f := range list {
		if f.Severity == checkpoint.Error && !allow {
			e := fail.New(fail.Refused, msg.Text{"%s: %s", "%s：%s"}, dir, f)
			if fix := f.FixIn(a.lang); fix != "" {
				e = e.Hint(msg.Text{"%s", "%s"}, fix)
			}
			return e.Hint(msg.Text{"--allow-checkpoint-errors serves it all the same", "--allow-checkpoint-errors 可强制部署"})
		}
		if f.Severity != checkpoint.Note {
			a.term.Warn(msg.Text{"%s: %s", "%s：%s"}, dir, f)
		}
	}
	return nil
}
