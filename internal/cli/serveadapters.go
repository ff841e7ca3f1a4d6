package cli

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/llm"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/ui"
	"github.com/drydock-ml/drydock/launch/checkpoint"
	"github.com/drydock-ml/drydock/launch/vllm"
)

// ServeAdapterOptions are the flags of serve load and serve unload.
type ServeAdapterOptions struct {
	BaseURL       string
	APIKeyFile    string
	Base          string
	MaxRank       int
	AllowFindings bool
}

func newServeLoadCommand(a *app) *cobra.Command {
	var o ServeAdapterOptions
	c := a.command("load", about{
		use: "[NAME=]DIR", args: oneArg("[NAME=]DIR"),
		short: msg.Text{"Have a running vLLM load an adapter, after a look at its files.", "先检查文件，再让运行中的 vLLM 载入适配器。"},
		long: msg.Text{
			"Without NAME it is served as its folder's name and the first digits of its hash, so that no two checkpoints share one: the server may otherwise answer with what it kept of the one before. Then 16 prompts are asked of the adapter and of its base; where every answer is the same, the adapter is not applied. A DIR that is not on this machine needs NAME and is not looked at.",
			"不写 NAME 时，部署名为目录名加哈希前几位，使检查点互不重名：否则服务可能沿用前一个的缓存作答。随后向适配器与基座各问 16 个提示；若回答全部相同，则适配器未生效。DIR 不在本机时必须给出 NAME，且不作检查。",
		},
		examples: []example{
			{msg.Text{"a checkpoint, under a name of its own", "以独有名称载入检查点"}, "drydock serve load out/checkpoint-400 --base-url http://127.0.0.1:8000/v1"},
		},
		exits: []int{4, 20},
	}, nil)
	c.RunE = func(cmd *cobra.Command, args []string) error {
		if err := a.require(cmd, "base-url", o.BaseURL); err != nil {
			return err
		}
		return runServeLoad(cmd.Context(), a, args[0], o)
	}
	f := a.serveAdapterFlags(c, &o)
	f.str(&o.Base, "base", "", "", msg.Text{"hold its shapes to the base in `DIR` (default: what the server says it serves)", "将形状与目录 `DIR` 中的基座比较（默认：服务端所部署的模型）"})
	f.int(&o.MaxRank, "max-lora-rank", "", 0, msg.Text{"the server's --max-lora-rank `N` (0: not known)", "服务端的 --max-lora-rank `N`（0：未知）"})
	f.gate(&o.AllowFindings, "allow-checkpoint-errors", "", msg.Text{"load it although a check of its files failed", "即使文件检查失败也载入"})
	return c
}

func newServeUnloadCommand(a *app) *cobra.Command {
	var o ServeAdapterOptions
	c := a.command("unload", about{
		use: "NAME", args: oneArg("NAME"),
		short:    msg.Text{"Have a running vLLM drop an adapter.", "让运行中的 vLLM 移除适配器。"},
		examples: []example{{msg.Text{"by the name it was loaded under", "按载入时的名称"}, "drydock serve unload checkpoint-400-0a1b2c3d --base-url http://gpu:8000/v1"}},
		exits:    []int{4, 20},
	}, nil)
	c.RunE = func(cmd *cobra.Command, args []string) error {
		if err := a.require(cmd, "base-url", o.BaseURL); err != nil {
			return err
		}
		return runServeUnload(cmd.Context(), a, args[0], o)
	}
	a.serveAdapterFlags(c, &o)
	return c
}

func (a *app) serveAdapterFlags(c *cobra.Command, o *ServeAdapterOptions) flags {
	f := a.flags(c.Flags())
	f.str(&o.BaseURL, "base-url", "", "", msg.Text{"vLLM server at `URL`, with /v1", "vLLM 服务地址 `URL`，含 /v1"})
	f.str(&o.APIKeyFile, "api-key-file", "", "", msg.Text{"`FILE` with the key (default: DRYDOCK_API_KEY)", "含密钥的 `FILE`（默认：DRYDOCK_API_KEY）"})
	return f
}

// loadedAnswer is what serve load did.
type loadedAnswer struct {
	Schema   string       `json:"schema"`
	Name     string       `json:"name"`
	Dir      string       `json:"dir"`
	SHA256   string       `json:"sha256,omitempty"`
	Base     string       `json:"base"`
	Already  bool         `json:"already"` // it was loaded
	Findings []findingRow `json:"findings"`
	Check    checkRow     `json:"check"`
}

func (ans loadedAnswer) text(t *ui.Terminal) {
	if ans.Already {
		t.Print(msg.Text{"%s was loaded already, on %s", "%s 此前已载入（基座 %s）"}, ans.Name, ans.Base)
	} else {
		t.Print(msg.Text{"%s is loaded, on %s", "%s 已载入（基座 %s）"}, ans.Name, ans.Base)
	}
	printFindingRows(t, ans.Findings)
	if ans.Check.Status == string(vllm.Warned) {
		t.Warn(msg.Text{"%s; %s", "%s；%s"}, ans.Check.Text, ans.Check.Fix)
		return
	}
	t.Println(ans.Check.Text)
}

func runServeLoad(ctx context.Context, a *app, spelled string, o ServeAdapterOptions) error {
	client, err := a.serveClient(o.BaseURL, o.APIKeyFile)
	if err != nil {
		return err
	}
	models, err := servedModels(ctx, client)
	if err != nil {
		return err
	}
	base, err := baseAmong(models)
	if err != nil {
		return err
	}
	ans := loadedAnswer{Schema: "drydock.serve.load/1", Base: base.ID, Findings: []findingRow{}}
	if err := a.readAdapter(spelled, base, o, &ans); err != nil {
		return err
	}
	for _, m := range models {
		if m.ID != ans.Name {
			continue
		}
		if m.Root != ans.Dir {
			return fail.New(fail.Refused, msg.Text{"%s serves another adapter as %s: %s", "%s 已将另一个适配器部署为 %s：%s"}, o.BaseURL, m.ID, m.Root).
				Hint(msg.Text{"leave NAME= out: the name then holds the adapter's hash", "请去掉 NAME=：名称将包含适配器的哈希"})
		}
		ans.Already = true
	}
	if !ans.Already {
		if err := checkpoint.Load(ctx, client, ans.Name, ans.Dir); err != nil {
			return err
		}
	}
	plan := vllm.Plan{Name: base.ID}
	c, err := plan.Canary(ctx, client, ans.Name)
	if err != nil {
		return err
	}
	ans.Check = newCheckRow(c, a.lang)
	return a.answer(ans)
}

// readAdapter looks at the files of an adapter that lies on this machine.
func (a *app) readAdapter(spelled string, base llm.ServedModel, o ServeAdapterOptions, ans *loadedAnswer) error {
	ans.Name, ans.Dir = adapterArg(spelled)
	if !isDir(ans.Dir) {
		if ans.Name == "" {
			return fail.New(fail.Usage, msg.Text{"there is no folder %s on this machine", "本机没有目录 %s"}, ans.Dir).
				Hint(msg.Text{"if it is on the server's, write NAME=%s with a name no other checkpoint has", "若在服务端机器上，请写 NAME=%s，且名称不与其他检查点相同"}, ans.Dir)
		}
		a.term.Note(msg.Text{"%s is not on this machine and was not looked at", "%s 不在本机，未作检查"}, ans.Dir)
		return nil
	}
	if !checkpoint.IsAdapter(ans.Dir) {
		return fail.New(fail.Usage, msg.Text{"there is no adapter_config.json in %s", "%s 中没有 adapter_config.json"}, ans.Dir)
	}
	if o.Base == "" {
		o.Base = base.Root
		if !filepath.IsAbs(o.Base) && isDir(o.Base) {
			o.Base = "" // a path that counts from where the server runs
		}
	}
	c := checkpoint.Read(ans.Dir, checkpoint.AdapterOptions{Base: o.Base, MaxRank: o.MaxRank})
	if err := a.tellFindings(ans.Dir, c.Findings, o.AllowFindings); err != nil {
		return err
	}
	ans.Dir, ans.SHA256, ans.Findings = c.Dir, c.SHA256, findingRows(c.Findings, a.lang)
	if ans.Name == "" {
		ans.Name = c.Served()
	}
	return nil
}

// unloadedAnswer is what serve unload did.
type unloadedAnswer struct {
	Schema string   `json:"schema"`
	Name   string   `json:"name"`
	Left   []string `json:"left"` // adapters that are still loaded
}

func (ans unloadedAnswer) text(t *ui.Terminal) {
	t.Print(msg.Text{"%s is dropped; %d {adapter is|adapters are} still loaded", "%s 已移除；仍有 %d 个适配器"}, ans.Name, len(ans.Left))
}

func runServeUnload(ctx context.Context, a *app, name string, o ServeAdapterOptions) error {
	client, err := a.serveClient(o.BaseURL, o.APIKeyFile)
	if err != nil {
		return err
	}
	models, err := servedModels(ctx, client)
	if err != nil {
		return err
	}
	ans := unloadedAnswer{Schema: "drydock.serve.unload/1", Name: name, Left: []string{}}
	for _, m := range models {
		if m.Parent != "" && m.ID != name {
			ans.Left = append(ans.Left, m.ID)
		}
	}
	if !slices.ContainsFunc(models, func(m llm.ServedModel) bool { return m.ID == name && m.Parent != "" }) {
		e := fail.New(fail.Failed, msg.Text{"%s serves no adapter %s", "%s 没有部署适配器 %s"}, o.BaseURL, name)
		if s := fail.Nearest(name, ans.Left); s != "" {
			return e.Meant(s)
		}
		if len(ans.Left) > 0 {
			return e.Hint(msg.Text{"it serves %s", "已部署：%s"}, msg.List(ans.Left))
		}
		return e
	}
	if err := checkpoint.Unload(ctx, client, name); err != nil {
		return err
	}
	return a.answer(ans)
}

func servedModels(ctx context.Context, c *llm.Client) ([]llm.ServedModel, error) {
	models, err := c.Models(ctx, 10*time.Second)
	var said *fail.Error
	if err != nil && !errors.As(err, &said) { // what the server says of the question
		return nil, fail.New(fail.Failed, msg.Text{"%v", "%v"}, err)
	}
	return models, err
}

// baseAmong finds the one model that is no adapter.
func baseAmong(models []llm.ServedModel) (llm.ServedModel, error) {
	var bases []llm.ServedModel
	for _, m := range models {
		if m.Parent == "" {
			bases = append(bases, m)
		}
	}
	if len(bases) == 0 {
		return llm.ServedModel{}, fail.New(fail.Failed, msg.Text{"the server lists no model", "服务端未列出任何模型"})
	}
	return bases[0], nil // more than one are names of the same
}
