package cli

import (
	"bytes"
	"context"

	"github.com/spf13/cobra"

	"github.com/drydock-ml/drydock/internal/msg"
)

func newCompletionCommand(a *app) *cobra.Command {
	c := a.command("completion", about{
		use:   "bash|zsh|fish|powershell",
		short: msg.Text{"Print the completion script for a shell.", "输出 shell 的补全脚本。"},
		long: msg.Text{
			"The script asks drydock itself for the words to offer, so it need not be renewed with every version.",
			"脚本会向 drydock 查询补全词，因此升级后无需重新生成。",
		},
		examples: []example{
			{msg.Text{"bash, for this user", "bash，当前用户"}, "drydock completion bash > ~/.local/share/bash-completion/completions/drydock"},
			{msg.Text{"PowerShell, for this session", "PowerShell，当前会话"}, "drydock completion powershell | Out-String | Invoke-Expression"},
		},
		args: oneArg("bash|zsh|fish|powershell"),
	}, nil)
	c.ValidArgs = []string{"bash", "zsh", "fish", "powershell"}
	c.RunE = func(cmd *cobra.Command, args []string) error {
		return runCompletion(cmd.Context(), a, cmd.Root(), args[0])
	}
	return c
}

func runCompletion(_ context.Context, a *app, root *cobra.Command, shell string) error {
	var b bytes.Buffer
	var err error
	switch shell {
	case "bash":
		err = root.GenBashCompletionV2(&b, true)
	case "zsh":
		err = root.GenZshCompletion(&b)
	case "fish":
		err = root.GenFishCompletion(&b, true)
	case "powershell":
		err = root.GenPowerShellCompletionWithDesc(&b)
	default:
		return oneOf("completion", shell, "bash", "zsh", "fish", "powershell")
	}
	if err != nil {
		return err
	}
	_, err = a.term.Write(b.Bytes())
	return err
}
