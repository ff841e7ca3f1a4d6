package cli

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
)

// flagError turns pflag's errors into ours: kind usage, both languages, and
// the flag that was probably meant.
func (a *app) flagError(cmd *cobra.Command, err error) error {
	var (
		unknown *pflag.NotExistError
		missing *pflag.ValueRequiredError
		invalid *pflag.InvalidValueError
		syntax  *pflag.InvalidSyntaxError
	)
	switch {
	case errors.As(err, &unknown) && unknown.GetSpecifiedShortnames() != "":
		return a.seeHelp(cmd, fail.New(fail.Usage, msg.Text{"no flag -%s", "没有选项 -%s"}, unknown.GetSpecifiedName()))
	case errors.As(err, &unknown):
		e := fail.New(fail.Usage, msg.Text{"no flag --%s", "没有选项 --%s"}, unknown.GetSpecifiedName())
		if unknown.GetSpecifiedName() == "version" {
			return e.Hint(msg.Text{"drydock version prints it", "用 drydock version 查看版本"})
		}
		if s := fail.Nearest(unknown.GetSpecifiedName(), flagNames(cmd)); s != "" {
			return meantUse(e, "--"+s)
		}
		return a.seeHelp(cmd, e)
	case errors.As(err, &missing):
		return a.seeHelp(cmd, fail.New(fail.Usage, msg.Text{"--%s needs a value", "--%s 需要一个值"}, missing.GetFlag().Name))
	case errors.As(err, &invalid):
		return badValue("--"+invalid.GetFlag().Name, invalid.GetValue(), valueKind(invalid.GetFlag()))
	case errors.As(err, &syntax):
		return a.seeHelp(cmd, fail.New(fail.Usage, msg.Text{"%q is not a flag", "%q 不是选项"}, syntax.GetSpecifiedFlag()))
	}
	return a.seeHelp(cmd, fail.New(fail.Usage, msg.Text{"%v", "%v"}, err))
}

// meantUse hints at the flag or command that was probably meant.
func meantUse(e *fail.Error, what string) *fail.Error {
	return e.Hint(msg.Text{"did you mean %s?", "是否想用 %s？"}, what)
}

func (a *app) seeHelp(cmd *cobra.Command, e *fail.Error) error {
	return e.Hint(msg.Text{"see %s --help", "参见 %s --help"}, cmd.CommandPath())
}

func flagNames(cmd *cobra.Command) []string {
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	return names
}

// valueKind is what the value of a flag should have been.
func valueKind(f *pflag.Flag) msg.Text {
	switch f.Value.Type() {
	case "int", "count":
		return msg.Text{"a whole number", "整数"}
	case "float64":
		return msg.Text{"a number", "数字"}
	case "bool":
		return msg.Text{"true or false", "true 或 false"}
	}
	return msg.Text{"a valid value", "有效值"}
}

func badValue(name, value string, want msg.Text) *fail.Error {
	return fail.New(fail.Usage, msg.Text{"%s %q: want %s", "%s %q：应为%s"}, name, value, want)
}

// oneOf says that a value is not among those allowed.
func oneOf(flag, got string, allowed ...string) *fail.Error {
	return fail.New(fail.Usage, msg.Text{"%s %q: want one of %s", "%s %q：应为以下之一：%s"}, flag, got, msg.List(allowed)).Near(got, allowed)
}

// An argRule says how many arguments a command takes and what they are called.
type argRule struct {
	min, max int // max -1: any number
	name     string
}

func oneArg(name string) argRule      { return argRule{1, 1, name} }
func maybeArg(name string) argRule    { return argRule{0, 1, name} }
func anyArgs(name string) argRule     { return argRule{0, -1, name} }
func someArgs(name string) argRule    { return argRule{1, -1, name} }
func exactly(n int, s string) argRule { return argRule{n, n, s} }

func (a *app) checkArgs(r argRule) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) < r.min:
			return a.seeHelp(cmd, fail.New(fail.Usage, msg.Text{"%s: missing %s", "%s：缺少 %s"}, cmd.CommandPath(), r.name))
		case r.max == 0 && len(args) > 0:
			return a.seeHelp(cmd, fail.New(fail.Usage, msg.Text{"%s takes no argument, got %q", "%s 不接受参数，得到 %q"}, cmd.CommandPath(), args[0]))
		case r.max > 0 && len(args) > r.max:
			return a.seeHelp(cmd, fail.New(fail.Usage, msg.Text{"%s: %q is one argument too many", "%s：参数 %q 多余"}, cmd.CommandPath(), args[r.max]))
		}
		return nil
	}
}

// unknownCommand is the argument check of a command that only groups others.
func (a *app) unknownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	e := fail.New(fail.Usage, msg.Text{"%s has no command %q", "%s 没有命令 %q"}, cmd.CommandPath(), args[0])
	var names []string
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
	}
	if s := fail.Nearest(args[0], names); s != "" {
		return meantUse(e, strconv.Quote(cmd.CommandPath()+" "+s))
	}
	return a.seeHelp(cmd, e)
}

// require refuses a call without a flag the command cannot do without.
func (a *app) require(cmd *cobra.Command, flag, value string) error {
	if value != "" {
		return nil
	}
	f := cmd.Flags().Lookup(flag)
	if f == nil {
		return fmt.Errorf("no flag %s", flag)
	}
	name := "--" + flag
	if f.Shorthand != "" {
		name = "-" + f.Shorthand
	}
	word, _ := pflag.UnquoteUsage(f)
	return a.seeHelp(cmd, fail.New(fail.Usage, msg.Text{"%s: missing %s", "%s：缺少 %s"}, cmd.CommandPath(), strings.TrimSpace(name+" "+word)))
}
