package cli

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/drydock-ml/drydock/dataprep/emit"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/launch"
	"github.com/drydock-ml/drydock/launch/feed"
	"github.com/drydock-ml/drydock/launch/parity"
)

// TemplateCheckOptions are the flags of template check.
type TemplateCheckOptions struct {
	Train      string
	Contract   string
	Trainer    string
	MaxLength  int
	Serve      string
	BaseURL    string
	Model      string
	APIKeyFile string
	Show       int

	trainerGiven bool // --trainer was given, and is not the default
}

func newTemplateCheckCommand(a *app) *cobra.Command {
	var o TemplateCheckOptions
	c := a.command("check", about{
		use: "TRAIN", args: oneArg("TRAIN"),
		short: msg.Text{"Compare what a trainer is fed with what a server is asked.", "比较训练器收到的 token 与服务端收到的 token。"},
		long: msg.Text{
			"TRAIN holds training rows: JSON lines or an array of messages, conversations, prompt with completion, or instruction with output. Each row is fed as the trainer feeds it, under the settings drydock writes for the contract, and compared token by token with the prompt the endpoint receives and the answer it is to give; then where the loss begins with where the answer begins. TRAIN may also be a trainer's own training file (.yaml, for ms-swift also the shell script that starts it): then its own settings and data sets are compared. What is no error by tokens but goes wrong all the same is told as well.",
			"TRAIN 为训练数据：JSONL 或数组，内容为 messages、conversations、prompt 加 completion，或 instruction 加 output。每一行都按训练器在 drydock 为该约定写出的设置下的方式送入，并与端点收到的提示及应给出的回答逐 token 比较；再比较损失与回答的起点。TRAIN 也可以是训练器自己的训练文件（.yaml；ms-swift 还可以是启动它的 shell 脚本）：此时比较其自身的设置与数据集。token 相同但仍会出错的情形也会指出。",
		},
		examples: []example{
			{msg.Text{"the rows of the last run, as LLaMA-Factory feeds them", "按 LLaMA-Factory 的方式检查最近一次运行的数据"}, "drydock template check build/train.jsonl --max-length 2048"},
			{msg.Text{"an existing training file against how the model is served", "将已有训练文件与部署方式比较"}, "drydock template check sft.yaml --trainer llamafactory --serve serve.json"},
			{msg.Text{"ask the live server, too", "同时询问运行中的服务端"}, "drydock template check t.jsonl --base-url http://gpu:8000/v1 --model Qwen3-8B"},
		},
		exits: []int{3, 20},
	}, nil)
	c.RunE = func(cmd *cobra.Command, args []string) error {
		o.Train, o.trainerGiven = args[0], cmd.Flags().Changed("trainer")
		return runTemplateCheck(cmd.Context(), a, o)
	}
	f := a.flags(c.Flags())
	f.str(&o.Contract, "contract", "", "", msg.Text{"hold rows and loss to the contract `NAME` (default empty-think; of a training file: what it says)", "要求数据与损失符合约定 `NAME`（默认 empty-think；训练文件则按其内容）"})
	f.str(&o.Trainer, "trainer", "", "llamafactory", msg.Text{"feed the rows as trainer `NAME` does (of a training file: whose it is)", "按训练器 `NAME` 的方式送入数据（训练文件则按其所属）"})
	f.int(&o.MaxLength, "max-length", "", 0, msg.Text{"name rows of more than `N` tokens (0: no limit)", "指出超过 `N` 个 token 的行（0：不限）"})
	f.str(&o.Serve, "serve", "", "", msg.Text{"JSON `FILE` that says how the model is served: chat_template, chat_template_kwargs", "说明部署方式的 JSON `FILE`：chat_template、chat_template_kwargs"})
	f.str(&o.BaseURL, "base-url", "", "", msg.Text{"ask the vLLM server at `URL` for the first prompts' tokens", "向 `URL` 处的 vLLM 服务端询问前几条提示的 token"})
	f.str(&o.Model, "model", "", "", msg.Text{"the model's `NAME` on that server", "该服务端上的模型 `NAME`"})
	f.str(&o.APIKeyFile, "api-key-file", "", "", msg.Text{"`FILE` with the key (default: DRYDOCK_API_KEY)", "含密钥的 `FILE`（默认：DRYDOCK_API_KEY）"})
	f.int(&o.Show, "show", "", 3, msg.Text{"show `N` places of each finding", "每类问题显示 `N` 处"})
	a.complete(c, "contract", contracts()...)
	a.complete(c, "trainer", feed.Trainers()...)
	return c
}

// A feeding is what is compared: settings, rows, and how the model is served.
type feeding struct {
	template *templateMismatch
	options  parity.Options
	data     []launch.Dataset
	serving  launch.Serving
}

func runTemplateCheck(ctx context.Context, a *app, o TemplateCheckOptions) error {
	f, err := a.feeding(o)
	if err != nil {
		return err
	}
	ans, err := a.checkFeeding(ctx, f)
	if err != nil {
		return err
	}
	if o.BaseURL != "" {
		if ans.Server, err = a.askServer(ctx, o, ans.Files, f.options.NoThinking); err != nil {
			return err
		}
	}
	if err := a.answer(ans); err != nil {
		return err
	}
	return ans.verdict()
}

// checkFeeding compares all rows.
func (a *app) checkFeeding(ctx context.Context, f *feeding) (*templateCheckAnswer, error) {
	ans := &templateCheckAnswer{
		Schema: "drydock.template.check/1", Template: f.template, EnableThinking: !f.options.NoThinking,
		Files: []*parity.Report{}, Unread: []unreadRow{},
	}
	if f.options.Settings.Feed == nil {
		return ans, nil
	}
	for _, d := range f.data {
		r, err := a.checkRows(ctx, d, f.options)
		if err != nil {
			return nil, err
		}
		ans.add(r, a.lang)
	}
	return ans, nil
}

// checkRows compares the rows of one file.
func (a *app) checkRows(ctx context.Context, d launch.Dataset, o parity.Options) (*parity.Report, error) {
	in, err := a.open(d.File)
	if err != nil {
		return nil, a.cannotRead(d.File, err)
	}
	defer in.Close()
	o.Columns, o.System = d.Columns, d.System
	return parity.Check(ctx, filepath.ToSlash(d.File), in, o)
}

// feeding reads the flags and the files they name.
func (a *app) feeding(o TemplateCheckOptions) (*feeding, error) {
	if o.Contract != "" && !slices.Contains(contracts(), o.Contract) {
		return nil, oneOf("--contract", o.Contract, contracts()...)
	}
	if !slices.Contains(feed.Trainers(), o.Trainer) {
		return nil, oneOf("--trainer", o.Trainer, feed.Trainers()...)
	}
	if o.MaxLength < 0 || o.Show < 0 {
		return nil, fail.New(fail.Usage, msg.Text{"--max-length and --show cannot be negative", "--max-length 与 --show 不能为负"})
	}
	if (o.BaseURL == "") != (o.Model == "") {
		return nil, fail.New(fail.Usage, msg.Text{"--base-url and --model go together", "--base-url 与 --model 必须同时给出"})
	}
	f := &feeding{options: parity.Options{
		Contract: emit.Contract(o.Contract), MaxLength: o.MaxLength, Workers: a.workers(), Places: max(o.Show, 1),
	}}
	if o.BaseURL != "" {
		f.options.Prompts = askedPrompts
	}
	if isTrainingFile(o.Train) {
		if err := a.trainingFile(f, o); err != nil {
			return nil, err
		}
	} else {
		if f.options.Contract == "" {
			f.options.Contract = emit.EmptyThink
		}
		s, err := feed.For(o.Trainer, f.options.Contract)
		if err != nil {
			return nil, err
		}
		f.options.Settings, f.data = s, []launch.Dataset{{File: o.Train}}
	}
	f.options.NoThinking = f.options.Contract == emit.EmptyThinkMasked
	return f, f.serve(o)
}

// isTrainingFile reports a trainer's own training file, where others hold rows.
func isTrainingFile(name string) bool {
	return slices.Contains([]string{".yaml", ".yml", ".sh"}, strings.ToLower(filepath.Ext(name)))
}

// trainingFile takes settings and rows from a trainer's own training file. Unless
// --trainer says whose it is, its text does.
func (a *app) trainingFile(f *feeding, o TemplateCheckOptions) error {
	trainer := o.Trainer
	if !o.trainerGiven {
		trainer = a.ownerOf(o.Train)
	}
	t, err := launch.ReadTrainingFile(trainer, o.Train)
	if err != nil {
		return a.cannotRead(o.Train, err)
	}
	f.options.Settings, f.data = t.Settings, t.Datasets
	if f.options.Contract == "" {
		f.options.Contract = t.Contract
	}
	if f.options.MaxLength == 0 {
		f.options.MaxLength = t.MaxLength
	}
	if !rendersAs(t.Template, f.options.Contract) {
		f.template = &templateMismatch{Trainer: t.Template, Server: "qwen3", Known: t.Known, at: t.At}
	}
	return nil
}

// rendersAs reports whether a trainer's template, by its name, is the one that a
// contract is served with.
func rendersAs(template string, c emit.Contract) bool {
	switch template {
	case "", "qwen3":
		return true
	case "qwen3_nothink", "qwen3_nothinking": // LLaMA-Factory's name, ms-swift's
		return c == emit.Plain
	}
	return false
}

// ownerOf is the trainer whose training file it is; LLaMA-Factory where the text
// does not tell, or is not there.
func (a *app) ownerOf(name string) string {
	if strings.EqualFold(filepath.Ext(name), ".sh") {
		return "swift"
	}
	src, err := os.ReadFile(name)
	if err != nil {
		return "llamafactory"
	}
	return cmp.Or(launch.TrainerOf(src), "llamafactory")
}

// serve reads how the model is served.
func (f *feeding) serve(o TemplateCheckOptions) error {
	if o.Serve == "" {
		return nil
	}
	src, err := os.ReadFile(o.Serve)
	if err != nil {
		return fail.New(fail.Usage, msg.Text{"--serve: %v", "--serve：%v"}, err)
	}
	if f.serving, err = launch.ReadServing(o.Serve, src); err != nil {
		return err
	}
	f.options.NoThinking = f.serving.NoThinking
	if !f.serving.Own() {
		f.template = &templateMismatch{Trainer: f.trainerTemplate(), Server: f.serving.Template, at: fail.Where{File: filepath.ToSlash(o.Serve)}}
	}
	return nil
}

func (f *feeding) trainerTemplate() string {
	if f.template != nil {
		return f.template.Trainer
	}
	return "qwen3"
}
