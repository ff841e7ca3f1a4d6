package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/drydock-ml/drydock/dedup/contam"
	"github.com/drydock-ml/drydock/dedup/contam/preset"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/pipeline"
	"github.com/drydock-ml/drydock/internal/ui"
)

// contamSettings are what a report says of the rules it was made by.
type contamSettings interface {
	Items() int
	Blind() []contam.ItemRef
	ConfigHash() string
}

// usePreset lets check go by another program's rule; name "" leaves ix in place.
func usePreset(name string, ix *contam.Index, check *pipeline.ContamCheck) (contamSettings, error) {
	if name == "" {
		return ix, nil
	}
	p, err := preset.New(name, benchSets(check.Benches))
	if err != nil {
		return nil, err
	}
	check.Scanner = func() pipeline.ContamScanner { return p.Scanner() }
	check.Index = nil // its search of bytes is not the preset's
	return p, nil
}

// presetNames are the values --preset takes.
func presetNames() []string {
	var names []string
	for _, r := range preset.Rules() {
		names = append(names, r.Name)
	}
	return names
}

func newContamPresetsCommand(a *app) *cobra.Command {
	return a.command("presets", about{
		short: msg.Text{"List other people's rules that --preset follows.", "列出 --preset 所遵循的他人规则。"},
		long: msg.Text{
			"Each is written from the source of the program it names, and says where it cannot be the same. They are for repeating and comparing other people's claims: what counts for a submission is the check without --preset.",
			"每条规则均依据所注程序的源码编写，并注明无法一致之处。用于复现和比较他人的结论；提交以不带 --preset 的检查为准。",
		},
		examples: []example{{msg.Text{"what would decon have found?", "decon 会发现什么？"}, "drydock contam check q.jsonl --against bench.json --preset decon"}},
	}, func(cmd *cobra.Command, _ []string) error { return runContamPresets(cmd.Context(), a) })
}

// presetsAnswer lists the rules. Its fields are stable.
type presetsAnswer struct {
	Schema  string       `json:"schema"`
	Presets []presetRule `json:"presets"`
}

type presetRule struct {
	Name    string   `json:"name"`
	Version string   `json:"version"`
	Rule    string   `json:"rule"` // as findings name it
	Source  string   `json:"source"`
	Summary string   `json:"summary"`
	Differs []string `json:"differs"`
}

func runContamPresets(_ context.Context, a *app) error {
	ans := presetsAnswer{Schema: "drydock.contam.presets/1"}
	for _, r := range preset.Rules() {
		p := presetRule{Name: r.Name, Version: r.Version, Rule: r.ID(), Source: r.Source, Summary: a.say(r.Title)}
		for _, d := range r.Differs {
			p.Differs = append(p.Differs, a.say(d))
		}
		ans.Presets = append(ans.Presets, p)
	}
	return a.answer(ans)
}

func (p presetsAnswer) text(t *ui.Terminal) {
	for i, r := range p.Presets {
		if i > 0 {
			t.Println("")
		}
		t.Println(t.Bold(r.Name) + "  " + r.Version)
		for _, text := range []string{r.Summary, r.Source} {
			for _, l := range ui.Wrap(text, min(t.Width(), 80)-2) {
				t.Println("  " + l)
			}
		}
		for _, d := range r.Differs {
			for j, l := range ui.Wrap(d, min(t.Width(), 80)-6) {
				head := "  ≠ "
				if j > 0 {
					head = strings.Repeat(" ", 4)
				}
				t.Println(head + l)
			}
		}
	}
}
