package cli

import (
	"context"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/ui"
)

// release is the version of a program built from an archive without history. It
// is set when linking: -ldflags "-X github.com/drydock-ml/drydock/internal/cli.release=v1.2.3".
var release string

func newVersionCommand(a *app) *cobra.Command {
	return a.command("version", about{
		short:    msg.Text{"Print the version.", "显示版本。"},
		examples: []example{{msg.Text{"for a bug report", "用于问题报告"}, "drydock version --json"}},
	}, func(cmd *cobra.Command, _ []string) error { return runVersion(cmd.Context(), a) })
}

func runVersion(_ context.Context, a *app) error { return a.answer(buildVersion()) }

// versionAnswer says which program this is.
type versionAnswer struct {
	Schema   string `json:"schema"`
	Version  string `json:"version"`
	Commit   string `json:"commit,omitempty"`
	Modified bool   `json:"modified"` // built from a checkout with changes
	Go       string `json:"go"`
	OS       string `json:"os"`
	Arch     string `json:"arch"`
}

// buildVersion reads what the Go tool wrote into the binary.
func buildVersion() versionAnswer {
	v := versionAnswer{Schema: "drydock.version/1", Version: "devel", Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return v
	}
	if m := info.Main.Version; m != "" && m != "(devel)" {
		v.Version = m
	}
	if release != "" {
		v.Version = release
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			v.Commit = s.Value
		case "vcs.modified":
			v.Modified = s.Value == "true"
		}
	}
	return v
}

func (v versionAnswer) text(t *ui.Terminal) {
	line := "drydock " + v.Version
	if v.Commit != "" {
		line += " (" + v.Commit[:min(12, len(v.Commit))]
		if v.Modified {
			line += t.Say(msg.Text{", modified", "，有改动"})
		}
		line += ")"
	}
	t.Println(line + " " + v.Go + " " + v.OS + "/" + v.Arch)
}
