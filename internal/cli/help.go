package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/ui"
)

// helpWidth is the width of help, whatever the terminal's, so that help reads
// alike everywhere and fits the narrowest window in use.
const helpWidth = 80

// about is what a command says about itself, in both languages.
type about struct {
	use      string // the words after the command's path: "IN… -o OUT"
	short    msg.Text
	long     msg.Text
	examples []example
	args     argRule
	exits    []int // besides 0, 1, 2, 70 and 130, which any command may return
}

// example is one command line worth copying, and what it is for.
type example struct {
	what msg.Text
	line string
}

// command makes a command from what it says about itself.
func (a *app) command(name string, ab about, run func(cmd *cobra.Command, args []string) error) *cobra.Command {
	c := &cobra.Command{
		Use:                   strings.TrimSpace(name + " " + ab.use),
		Short:                 a.say(ab.short),
		Args:                  a.checkArgs(ab.args),
		RunE:                  run,
		DisableFlagsInUseLine: true,
		SilenceErrors:         true,
		SilenceUsage:          true,
	}
	c.Flags().SortFlags = false
	a.abouts[c] = ab
	return c
}

// group makes a command that only holds others.
func (a *app) group(name string, short msg.Text, children ...*cobra.Command) *cobra.Command {
	c := a.command(name, about{use: "COMMAND", short: short}, func(cmd *cobra.Command, _ []string) error {
		return cmd.Help()
	})
	c.Args = a.unknownCommand
	c.AddCommand(children...)
	a.children[c] = children
	return c
}

// commandGroup is a heading in the list of commands.
type commandGroup struct {
	title    msg.Text
	commands []*cobra.Command
}

// helpText writes the help of a command: what it is, examples, usage, more,
// flags, exit codes.
func (a *app) helpText(cmd *cobra.Command) string {
	h := helpWriter{a: a}
	ab := a.abouts[cmd]
	h.para(a.say(ab.short))
	if len(ab.examples) > 0 {
		h.title(msg.Text{"Examples", "示例"})
		for i, e := range ab.examples {
			if i > 0 {
				h.line("")
			}
			h.item(2, "# "+a.say(e.what), 4)
			h.line("  " + e.line)
		}
	}
	h.title(msg.Text{"Usage", "用法"})
	h.item(2, usageLine(cmd), 6)
	if long := a.say(ab.long); long != "" {
		h.line("")
		h.para(long)
	}
	h.commands(cmd)
	if !cmd.HasParent() {
		h.topics()
	}
	h.flags(msg.Text{"Flags", "选项"}, cmd.LocalNonPersistentFlags())
	if cmd.HasParent() {
		h.line("")
		h.para(a.say(msg.Text{"Flags of every command (-C, --json, -q, -v, -j, --lang …): drydock --help", "所有命令通用的选项（-C、--json、-q、-v、-j、--lang 等）：drydock --help"}))
	} else {
		h.flags(msg.Text{"Flags of every command", "所有命令通用的选项"}, cmd.PersistentFlags())
	}
	h.exits(cmd, ab)
	return h.b.String()
}

// usageLine writes how a command is called.
func usageLine(cmd *cobra.Command) string {
	line := cmd.CommandPath()
	if use := strings.TrimSpace(strings.TrimPrefix(cmd.Use, cmd.Name())); use != "" {
		line += " " + use
	}
	if cmd.LocalNonPersistentFlags().HasAvailableFlags() {
		line += " [FLAGS]"
	}
	return line
}

type helpWriter struct {
	a     *app
	b     strings.Builder
	width int  // 0: helpWidth
	plain bool // paragraphs only, for a page that has the lists as tables
}

func (h *helpWriter) line(s string) { h.b.WriteString(s + "\n") }

func (h *helpWriter) title(t msg.Text) {
	h.line("")
	h.line(h.a.say(t) + h.a.say(msg.Text{":", "："}))
}

func (h *helpWriter) para(s string) { h.item(0, s, 0) }

// item wraps text: the first line indented by first, the others by rest.
func (h *helpWriter) item(first int, text string, rest int) {
	for i, l := range ui.Wrap(text, max(h.width, helpWidth)-max(first, rest)) {
		indent := first
		if i > 0 {
			indent = rest
		}
		h.line(strings.TrimRight(strings.Repeat(" ", indent)+l, " "))
	}
}

// columns writes a two-column list, aligned by display width.
func (h *helpWriter) columns(rows [][2]string, most int) {
	if h.plain {
		return
	}
	w := 0
	for _, r := range rows {
		if n := ui.Width(r[0]); n <= most {
			w = max(w, n)
		}
	}
	for _, r := range rows {
		lines := ui.Wrap(r[1], helpWidth-w-4)
		left := r[0]
		if ui.Width(left) > w {
			h.line("  " + left)
			left = ""
		}
		for _, l := range lines {
			h.line(strings.TrimRight("  "+ui.Pad(left, w)+"  "+l, " "))
			left = ""
		}
	}
}

func (h *helpWriter) commands(cmd *cobra.Command) {
	if cmd.HasParent() {
		h.commandList(msg.Text{"Commands", "命令"}, h.a.children[cmd])
		return
	}
	for _, g := range h.a.groups {
		h.commandList(g.title, g.commands)
	}
}

func (h *helpWriter) commandList(title msg.Text, cmds []*cobra.Command) {
	var rows [][2]string
	for _, c := range cmds {
		if c.IsAvailableCommand() || c.Name() == "help" {
			rows = append(rows, [2]string{c.Name(), c.Short})
		}
	}
	if len(rows) > 0 {
		h.title(title)
		h.columns(rows, 20)
	}
}

// topics lists the pages of help that belong to no command.
func (h *helpWriter) topics() {
	var rows [][2]string
	for _, t := range topics() {
		rows = append(rows, [2]string{t.name, h.a.say(t.short)})
	}
	h.title(msg.Text{"Topics, for drydock help", "主题（drydock help 主题名）"})
	h.columns(rows, 20)
}

func (h *helpWriter) flags(title msg.Text, fs *pflag.FlagSet) {
	var rows [][2]string
	fs.SortFlags = false // the order they were declared in: the usual ones first
	fs.VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		left, usage := flagWords(h.a, f)
		if f.Shorthand == "" {
			left = "    " + left
		}
		rows = append(rows, [2]string{left, usage})
	})
	if len(rows) > 0 {
		h.title(title)
		h.columns(rows, 28)
	}
}

// flagWords returns how a flag is written and what it does.
func flagWords(a *app, f *pflag.Flag) (left, usage string) {
	word, usage := pflag.UnquoteUsage(f)
	if t := f.Value.Type(); t == "bool" || t == "count" {
		word = ""
	}
	left = "--" + f.Name
	if f.Shorthand != "" {
		left = "-" + f.Shorthand + ", " + left
	}
	if word != "" {
		left += " " + word
	}
	if d := f.DefValue; d != "" && d != "0" && d != "false" && d != "[]" {
		usage += a.say(msg.Text{" (default %s)", "（默认 %s）"}, d)
	}
	return left, usage
}

func (h *helpWriter) exits(cmd *cobra.Command, ab about) {
	h.title(msg.Text{"Exit codes", "退出码"})
	codes := []int{0, 1, 2}
	if !cmd.HasParent() {
		h.line("  " + h.a.say(msg.Text{"0 is success; all others: drydock help exit-codes", "0 表示成功；其余见：drydock help exit-codes"}))
		return
	}
	var rows [][2]string
	for _, c := range append(codes, ab.exits...) {
		rows = append(rows, [2]string{fmt.Sprint(c), h.a.say(exitText(c))})
	}
	h.columns(rows, 4)
}
