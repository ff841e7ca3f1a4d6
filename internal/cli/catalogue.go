package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/drydock-ml/drydock/dataprep/emit"
	"github.com/drydock-ml/drydock/dataprep/format"
	"github.com/drydock-ml/drydock/dataprep/step"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/spec"
	"github.com/drydock-ml/drydock/internal/ui"
	"github.com/drydock-ml/drydock/launch"
)

// A catalogue is a list of components that describe themselves.
type catalogue struct {
	noun    string // formats
	schema  string
	title   msg.Text
	short   msg.Text
	example string // a name worth showing
	load    func(a *app) []component
}

// component is one row of a catalogue. Summary and help are in the reader's
// language.
type component struct {
	Name       string   `json:"name"`
	Kind       string   `json:"kind"`
	Summary    string   `json:"summary"`
	Extensions []string `json:"extensions,omitempty"`
	Options    []option `json:"options,omitempty"`
}

// option is one option of a component in drydock.yaml.
type option struct {
	Name     string   `json:"name"`
	Type     string   `json:"type"`
	Default  string   `json:"default,omitempty"`
	Required bool     `json:"required,omitempty"`
	Allowed  []string `json:"allowed,omitempty"`
	Help     string   `json:"help"`
	Options  []option `json:"options,omitempty"`
}

func options(a *app, fields []spec.Field) []option {
	var out []option
	for _, f := range fields {
		out = append(out, option{
			Name: f.Name, Type: f.Type, Default: f.Default, Required: f.Required,
			Allowed: f.Enum, Help: a.say(f.Help), Options: options(a, f.Fields),
		})
	}
	return out
}

func components[T any](a *app, kind string, specs []spec.Spec[T]) []component {
	var out []component
	for _, s := range specs {
		out = append(out, component{Name: s.Name, Kind: kind, Summary: a.say(s.Summary), Options: options(a, s.Fields)})
	}
	return out
}

// catalogues are all there are, in the order of the help.
func catalogues() []catalogue {
	return []catalogue{formatsCatalogue(), stepsCatalogue(), trainersCatalogue()}
}

// formatsCatalogue holds the containers, and the shapes of rows in them.
func formatsCatalogue() catalogue {
	return catalogue{
		noun: "formats", schema: "drydock.formats", example: "qwen3_chat",
		title: msg.Text{"Formats", "格式"},
		short: msg.Text{"List the file formats and row shapes.", "列出文件格式和行格式。"},
		load: func(a *app) []component {
			var out []component
			for _, f := range format.All() {
				out = append(out, component{Name: f.Name, Kind: "file", Summary: a.say(f.Summary), Extensions: f.Exts})
			}
			return append(out, components(a, "row", emit.Emitters())...)
		},
	}
}

// stepsCatalogue holds what can stand under steps in drydock.yaml.
func stepsCatalogue() catalogue {
	return catalogue{
		noun: "steps", schema: "drydock.steps", example: "drop_short",
		title: msg.Text{"Steps", "步骤"},
		short: msg.Text{"List the steps of drydock.yaml.", "列出 drydock.yaml 的步骤。"},
		load: func(a *app) []component {
			return append(components(a, "parser", step.Parsers()), components(a, "step", step.Steps())...)
		},
	}
}

// trainersCatalogue holds what can stand under train in drydock.yaml.
func trainersCatalogue() catalogue {
	return catalogue{
		noun: "trainers", schema: "drydock.trainers", example: "llamafactory",
		title: msg.Text{"Trainers", "训练器"},
		short: msg.Text{"List the trainers drydock can start.", "列出 drydock 能启动的训练器。"},
		load:  func(a *app) []component { return components(a, "trainer", launch.Trainers()) },
	}
}

func (a *app) catalogueCommand(c catalogue) *cobra.Command {
	ls := a.command("list", about{
		short:    msg.Text{"List all of them.", "列出全部。"},
		examples: []example{{msg.Text{"for a script", "供脚本使用"}, "drydock " + c.noun + " list --json"}},
	}, func(cmd *cobra.Command, _ []string) error { return runCatalogueList(cmd.Context(), a, c) })
	show := a.command("show", about{
		use: "NAME", args: oneArg("NAME"),
		short:    msg.Text{"Show one of them.", "显示其中一个。"},
		examples: []example{{msg.Text{"what it is and its options", "说明及其选项"}, "drydock " + c.noun + " show " + c.example}},
	}, func(cmd *cobra.Command, args []string) error { return runCatalogueShow(cmd.Context(), a, c, args[0]) })
	show.ValidArgsFunction = func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		var words []string
		for _, x := range c.load(a) {
			words = append(words, x.Name+"\t"+x.Summary)
		}
		return words, cobra.ShellCompDirectiveNoFileComp
	}
	return a.group(c.noun, c.short, ls, show)
}

func runCatalogueList(_ context.Context, a *app, c catalogue) error {
	return a.answer(catalogueAnswer{Schema: c.schema + "/1", Components: c.load(a)})
}

func runCatalogueShow(_ context.Context, a *app, c catalogue, name string) error {
	var names []string
	for _, x := range c.load(a) {
		if x.Name == name {
			return a.answer(componentAnswer{Schema: c.schema + ".show/1", component: x})
		}
		names = append(names, x.Name)
	}
	return fail.New(fail.Usage, msg.Text{"drydock %s: there is no %q", "drydock %s：没有 %q"}, c.noun, name).
		NearOr(name, names, msg.Text{"there are: %s", "可用：%s"})
}

// catalogueAnswer is a whole catalogue.
type catalogueAnswer struct {
	Schema     string      `json:"schema"`
	Components []component `json:"components"`
}

func (c catalogueAnswer) text(t *ui.Terminal) {
	tb := t.Table(
		ui.Column{Title: msg.Text{"name", "名称"}}, ui.Column{Title: msg.Text{"kind", "种类"}},
		ui.Column{Title: msg.Text{"endings", "后缀"}}, ui.Column{Title: msg.Text{"what it is", "说明"}},
	).Wrapped()
	for _, x := range c.Components {
		tb.Row(x.Name, x.Kind, strings.Join(x.Extensions, " "), x.Summary)
	}
	tb.Print()
}

// componentAnswer is one component in full.
type componentAnswer struct {
	Schema string `json:"schema"`
	component
}

func (c componentAnswer) text(t *ui.Terminal) {
	t.Println(t.Bold(c.Name) + "  " + c.Kind)
	for _, l := range ui.Wrap(c.Summary, min(t.Width(), helpWidth)) {
		t.Println(l)
	}
	if len(c.Extensions) > 0 {
		t.Print(msg.Text{"endings: %s", "后缀：%s"}, strings.Join(c.Extensions, " "))
	}
	printOptions(t, c.Options, "")
}

func printOptions(t *ui.Terminal, opts []option, prefix string) {
	for _, o := range opts {
		line := prefix + o.Name + ": " + o.Type
		if len(o.Allowed) > 0 {
			line = prefix + o.Name + ": " + strings.Join(o.Allowed, "|")
		}
		switch {
		case o.Required:
			line += t.Say(msg.Text{", required", "，必填"})
		case o.Default != "":
			line += t.Say(msg.Text{", default %s", "，默认 %s"}, o.Default)
		}
		t.Println("")
		t.Println(line)
		for _, l := range ui.Wrap(o.Help, min(t.Width(), helpWidth)-2) {
			t.Println(fmt.Sprintf("  %s", l))
		}
		printOptions(t, o.Options, prefix+o.Name+".")
	}
}
