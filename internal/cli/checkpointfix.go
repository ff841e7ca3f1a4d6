package cli

import (
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/ui"
	"github.com/drydock-ml/drydock/launch/checkpoint"
)

// CheckpointFixOptions are the flags of checkpoint fix.
type CheckpointFixOptions struct {
	Dir    string
	Base   string
	DryRun bool
}

func newCheckpointFixCommand(a *app) *cobra.Command {
	var o CheckpointFixOptions
	c := a.command("fix", about{
		use: "DIR --base BASE", args: oneArg("DIR"),
		short: msg.Text{"Give a merged or fully trained model what its base has: both spellings, tokenizer, template.", "为合并或全参训练的模型补回基座的内容：两种写法、分词器、模板。"},
		long: msg.Text{
			"config.json gets both spellings (rope_theta and rope_parameters, torch_dtype and dtype), so that readers before transformers 5 do not silently take 10000 for 1000000; the tokenizer's files, the chat template and generation_config.json become the base's. Weights are not touched. What was there is kept beside it, as NAME.before-fix-HASH. A second run changes nothing. A model with a fault the base cannot mend is refused.",
			"config.json 写入两种写法（rope_theta 与 rope_parameters，torch_dtype 与 dtype），使 transformers 5 之前的读取方不会静默地用 10000 代替 1000000；分词器文件、对话模板与 generation_config.json 恢复为基座的。不改动权重。原文件保留为 NAME.before-fix-HASH。再次运行不会有任何改动。基座无法修复的问题会被拒绝。",
		},
		examples: []example{
			{msg.Text{"what would be changed", "查看将作的更改"}, "drydock checkpoint fix merged --base Qwen3-8B -n"},
			{msg.Text{"change it", "执行修复"}, "drydock checkpoint fix merged --base Qwen3-8B"},
		},
	}, nil)
	c.RunE = func(cmd *cobra.Command, args []string) error {
		o.Dir = args[0]
		if err := a.require(cmd, "base", o.Base); err != nil {
			return err
		}
		return runCheckpointFix(a, o)
	}
	f := a.flags(c.Flags())
	f.str(&o.Base, "base", "", "", msg.Text{"folder `BASE` of the model it was trained on", "训练所用基座的目录 `BASE`"})
	f.dryRun(&o.DryRun)
	return c
}

// fixAnswer is what a fix changed, or would.
type fixAnswer struct {
	Schema   string              `json:"schema"`
	DryRun   bool                `json:"dry_run"`
	Dir      string              `json:"dir"`
	Findings []findingRow        `json:"findings"`
	Changes  []checkpoint.Change `json:"changes"`
}

func runCheckpointFix(a *app, o CheckpointFixOptions) error {
	for _, dir := range []string{o.Dir, o.Base} {
		if !isDir(dir) {
			return fail.New(fail.Usage, msg.Text{"%s is no folder", "%s 不是目录"}, dir)
		}
	}
	p, err := checkpoint.PlanFix(o.Dir, o.Base)
	if err != nil {
		return err
	}
	if !o.DryRun {
		if err := p.Apply(); err != nil {
			return err
		}
	}
	ans := fixAnswer{Schema: "drydock.checkpoint.fix/1", DryRun: o.DryRun, Dir: filepath.ToSlash(o.Dir), Findings: findingRows(p.Findings, a.lang), Changes: p.Changes}
	if ans.Changes == nil {
		ans.Changes = []checkpoint.Change{}
	}
	return a.answer(ans)
}

func (ans fixAnswer) text(t *ui.Terminal) {
	if len(ans.Changes) == 0 {
		t.Print(msg.Text{"%s: there is nothing to mend", "%s：无需修复"}, ans.Dir)
		return
	}
	printFindingRows(t, ans.Findings)
	tb := t.Table(ui.Column{Title: msg.Text{"FILE", "文件"}}, ui.Column{Title: msg.Text{"CHANGE", "更改"}}, ui.Column{Title: msg.Text{"KEPT AS", "原件保留为"}})
	for _, c := range ans.Changes {
		tb.Row(c.File, changeText(t, c.Action), c.Backup)
	}
	tb.Print()
	if ans.DryRun {
		t.Note(msg.Text{"nothing was changed", "未做任何更改"})
	}
}

func changeText(t *ui.Terminal, action string) string {
	switch action {
	case "copy":
		return t.Say(msg.Text{"copied from the base", "从基座复制"})
	case "remove":
		return t.Say(msg.Text{"taken away", "移除"})
	}
	return t.Say(msg.Text{"written", "改写"})
}
