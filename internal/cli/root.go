package cli

import (
	"github.com/spf13/cobra"

	"github.com/drydock-ml/drydock/internal/msg"
)

// newRoot builds the whole tree of commands. The order here is the order of
// the help.
func newRoot(a *app) *cobra.Command {
	root := a.command("drydock", about{
		use: "COMMAND",
		short: msg.Text{
			"Prepare training data for maritime language models, and carry a fine-tune to a checked result.",
			"为航海领域语言模型准备训练数据，并将微调一路带到经过检验的结果。",
		},
		examples: []example{
			{msg.Text{"what this installation can do, and what it lacks", "查看当前安装能做什么、缺什么"}, "drydock doctor"},
		},
	}, func(cmd *cobra.Command, _ []string) error { return cmd.Help() })
	root.Args = a.unknownCommand
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
	a.groups = []commandGroup{
		{msg.Text{"The road", "主线"}, []*cobra.Command{
			newInitCommand(a),
		}},
		{msg.Text{"Parts of the road, each alone", "各环节，可单独使用"}, []*cobra.Command{
			newDedupCommand(a),
		}},
		{msg.Text{"What there is", "已有的内容"}, []*cobra.Command{
			newRunsCommand(a), newBenchCommand(a), a.catalogueCommand(formatsCatalogue()), a.catalogueCommand(stepsCatalogue()),
			newDoctorCommand(a),
		}},
		{msg.Text{"drydock itself", "关于 drydock"}, []*cobra.Command{
			newCompletionCommand(a), newVersionCommand(a), help,
		}},
	}
	for _, g := range a.groups {
		for _, c := range g.commands {
			if c != help { // cobra adds it
				root.AddCommand(c)
			}
		}
	}
	return root
}
