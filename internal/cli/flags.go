package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/training"
)

// typedKey marks a flag that must be typed each time: it lifts a gate, destroys
// something or names an output, so no environment variable sets it.
const typedKey = "drydock_typed"

// flags declares flags whose usage is in the reader's language. In a usage,
// the word in backquotes is the placeholder of the value.
type flags struct {
	a  *app
	fs *pflag.FlagSet
}

func (a *app) flags(fs *pflag.FlagSet) flags {
	fs.SortFlags = false
	return flags{a, fs}
}

func (f flags) str(p *string, name, short, def string, usage msg.Text) {
	f.fs.StringVarP(p, name, short, def, f.a.say(usage))
}

func (f flags) strs(p *[]string, name, short string, usage msg.Text) {
	f.fs.StringArrayVarP(p, name, short, nil, f.a.say(usage))
}

func (f flags) bool(p *bool, name, short string, usage msg.Text) {
	f.fs.BoolVarP(p, name, short, false, f.a.say(usage))
}

func (f flags) int(p *int, name, short string, def int, usage msg.Text) {
	f.fs.IntVarP(p, name, short, def, f.a.say(usage))
}

func (f flags) float(p *float64, name, short string, def float64, usage msg.Text) {
	f.fs.Float64VarP(p, name, short, def, f.a.say(usage))
}

func (f flags) count(p *int, name, short string, usage msg.Text) {
	f.fs.CountVarP(p, name, short, f.a.say(usage))
}

// output declares a flag that names a file to write.
func (f flags) output(p *string, name, short string, usage msg.Text) {
	f.str(p, name, short, "", usage)
	f.typed(name)
}

// gate declares a switch that lifts a gate or destroys something.
func (f flags) gate(p *bool, name, short string, usage msg.Text) {
	f.bool(p, name, short, usage)
	f.typed(name)
}

// trainGates declares the switches that lift the gates of a training.
func (f flags) trainGates(g *training.Gates) {
	for _, x := range []struct {
		p     *bool
		name  string
		usage msg.Text
	}{
		{&g.Unchecked, "allow-unchecked-data", msg.Text{"start the trainer though no contamination check covers the data; this and its like are written into the record", "即使没有污染检查覆盖数据也启动训练器；此类放行均会写入记录"}},
		{&g.Unlicensed, "allow-unlicensed", msg.Text{"start it though a source has no declared licence", "即使有来源未声明许可也启动"}},
		{&g.Mismatch, "allow-template-mismatch", msg.Text{"start it though rows are fed otherwise than the endpoint will be asked", "即使训练内容与提问不一致也启动"}},
		{&g.Truncation, "allow-truncation", msg.Text{"start it though rows are longer than it takes", "即使有行超过其长度上限也启动"}},
	} {
		f.gate(x.p, x.name, "", x.usage)
	}
}

// dryRun declares -n.
func (f flags) dryRun(p *bool) {
	f.gate(p, "dry-run", "n", msg.Text{"say what would be done, and do nothing", "只说明将要做什么，不实际执行"})
}

func (f flags) typed(name string) {
	fl := f.fs.Lookup(name)
	if fl.Annotations == nil {
		fl.Annotations = map[string][]string{}
	}
	fl.Annotations[typedKey] = []string{"true"}
}

// envName returns the variable that sets a flag, empty when none does.
func envName(f *pflag.Flag) string {
	if f.Name == "help" || f.Annotations[typedKey] != nil || strings.HasPrefix(f.Name, "allow-") {
		return ""
	}
	return "DRYDOCK_" + strings.ToUpper(strings.ReplaceAll(f.Name, "-", "_"))
}

// A setting says where a value that is no default came from.
type setting struct{ name, value, from string }

// applyEnv sets the flags not given on the command line from the environment.
func (a *app) applyEnv(cmd *cobra.Command) (found []setting, err error) {
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if err != nil {
			return
		}
		if f.Changed {
			found = append(found, setting{"--" + f.Name, f.Value.String(), a.say(msg.Text{"the command line", "命令行"})})
			return
		}
		name := envName(f)
		if name == "" {
			return
		}
		v := a.host.Getenv(name)
		if v == "" {
			return
		}
		if f.Name == "lang" {
			// like LANG, it may hold a locale drydock does not speak
			if _, ok := msg.ParseLang(v); !ok {
				v = "en"
			}
		}
		if e := cmd.Flags().Set(f.Name, v); e != nil {
			err = badValue(name, v, valueKind(f))
			return
		}
		found = append(found, setting{"--" + f.Name, v, name})
	})
	return found, err
}

// complete offers fixed values for a flag in the shell.
func (a *app) complete(cmd *cobra.Command, flag string, values ...string) {
	a.completeFunc(cmd, flag, func() []string { return values })
}

// completeFunc offers values that are looked up when they are asked for.
func (a *app) completeFunc(cmd *cobra.Command, flag string, values func() []string) {
	err := cmd.RegisterFlagCompletionFunc(flag, func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return values(), cobra.ShellCompDirectiveNoFileComp
	})
	if err != nil {
		panic(fmt.Sprintf("completion of --%s: %v", flag, err)) // the flag is not declared
	}
}
