package cli

import (
	"github.com/spf13/cobra"

	"github.com/drydock-ml/drydock/internal/msg"
)

// newRoot builds the whole tree of commands. The order here is the order of
// the help.
func newRoot(a *app) *cobra.Command {
	version := false
	root := a.command("drydock", about{
		use: "COMMAND",
		short: msg.Text{
			"Prepare training data for maritime language models, and carry a fine-tune to a checked result.",
			"为航海领域语言模型准备训练数据，并将微调一路带到经过检验的结果。",
		},
		examples: []example{
			{msg.Text{"a project of your own: put files into bank/raw, then run", "自己的项目：将文件放入 bank/raw，然后运行"}, "drydock init bank && drydock run -C bank"},
			{msg.Text{"the questions of a bank, without a project", "不建项目，直接提取题库题目"}, "drydock prep bank.pdf --to question -o q.jsonl"},
			{msg.Text{"is the benchmark in it?", "其中有评测集题目吗？"}, "drydock contam check q.jsonl --against maritime_bench"},
			{msg.Text{"what this installation can do, and what it lacks", "查看当前安装能做什么、缺什么"}, "drydock doctor"},
		},
	}, func(cmd *cobra.Command, _ []string) error {
		if version {
			return runVersion(cmd.Context(), a)
		}
		return cmd.Help()
	})
	root.Args = a.unknownCommand
	a.flags(root.Flags()).gate(&version, "version", "", msg.Text{"print the version, as drydock version does", "显示版本，与 drydock version 相同"})
	root.CompletionOptions.DisableDefaultCmd = true
	root.SetOut(a.host.Out)
	root.SetErr(a.host.Err)
	root.SetIn(a.host.In)
	root.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error { return a.setup(cmd) }
	root.SetFlagErrorFunc(a.flagError)
	root.SetHelpFunc(func(cmd *cobra.Command, _ []string) { _, _ = a.term.Write([]byte(a.helpText(cmd))) })
	root.SetUsageFunc(func(cmd *cobra.Command) error {
		_, err := a.term.Write([]byte(a.helpText(cmd)))
		return err
	})
	a.globalFlags(root)
	help := newHelpCommand(a)
	root.SetHelpCommand(help)
	a.groups = a.commandGroups(help)
	for _, g := range a.groups {
		for _, c := range g.commands {
			if c != help { // cobra adds it
				root.AddCommand(c)
			}
		}
	}
	root.AddCommand(newWorkerCommand(a)) // hidden: an engine calls it
	return root
}

// commandGroups makes all commands but the root.
func (a *app) commandGroups(help *cobra.Command) []commandGroup {
	return []commandGroup{
		{msg.Text{"The road", "主线"}, []*cobra.Command{
			newInitCommand(a), newLintCommand(a), newPlanCommand(a), newRunCommand(a),
		}},
		{msg.Text{"Parts of the road, each alone", "各环节，可单独使用"}, []*cobra.Command{
			newPrepCommand(a), newQuestionCommand(a), newConvertCommand(a), newDedupCommand(a), newContamCommand(a), newTemplateCommand(a), newTrainCommand(a), newCheckpointCommand(a), newServeCommand(a), newEvalCommand(a),
			newScoreCommand(a), newCompareCommand(a), newCardCommand(a), newSubmitCommand(a),
		}},
		{msg.Text{"What there is", "已有的内容"}, []*cobra.Command{
			newRunsCommand(a), newBenchCommand(a), a.catalogueCommand(formatsCatalogue()), a.catalogueCommand(stepsCatalogue()),
			a.catalogueCommand(trainersCatalogue()),
			newDoctorCommand(a),
		}},
		{msg.Text{"drydock itself", "关于 drydock"}, []*cobra.Command{
			newCompletionCommand(a), newVersionCommand(a), help,
		}},
	}
}
