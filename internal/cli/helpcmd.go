package cli

import (
	"context"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
)

func newHelpCommand(a *app) *cobra.Command {
	c := a.command("help", about{
		use:   "[COMMAND… | TOPIC]",
		short: msg.Text{"Explain a command or a topic.", "解释命令或主题。"},
		examples: []example{
			{msg.Text{"a command", "命令"}, "drydock help version"},
			{msg.Text{"a topic", "主题"}, "drydock help exit-codes"},
		},
		args: anyArgs("COMMAND|TOPIC"),
	}, func(cmd *cobra.Command, args []string) error { return runHelp(cmd.Context(), a, cmd.Root(), args) })
	c.ValidArgsFunction = func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		at, _, err := cmd.Root().Find(args)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		var words []string
		for _, s := range at.Commands() {
			if s.IsAvailableCommand() {
				words = append(words, s.Name()+"\t"+s.Short)
			}
		}
		if len(args) == 0 {
			for _, t := range topics() {
				words = append(words, t.name+"\t"+a.say(t.short))
			}
		}
		return words, cobra.ShellCompDirectiveNoFileComp
	}
	return c
}

func runHelp(_ context.Context, a *app, root *cobra.Command, args []string) error {
	if len(args) == 0 {
		_, err := a.term.Write([]byte(a.helpText(root)))
		return err
	}
	if len(args) == 1 {
		for _, t := range topics() {
			if t.name == args[0] {
				_, err := a.term.Write([]byte(t.render(a)))
				return err
			}
		}
	}
	cmd, rest, err := root.Find(args)
	if err == nil && cmd != root && len(rest) == 0 {
		_, err := a.term.Write([]byte(a.helpText(cmd)))
		return err
	}
	e := fail.New(fail.Usage, msg.Text{"no command or topic %q", "没有命令或主题 %q"}, strings.Join(args, " "))
	var words []string
	for _, c := range root.Commands() {
		words = append(words, c.Name())
	}
	for _, t := range topics() {
		words = append(words, t.name)
	}
	if s := fail.Nearest(args[0], words); s != "" {
		return meantUse(e, strconv.Quote("drydock help "+s))
	}
	return e.Hint(msg.Text{"see drydock help", "参见 drydock help"})
}
