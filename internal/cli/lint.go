package cli

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/launch"
	"github.com/drydock-ml/drydock/launch/feed"
)

// LintOptions are the flags of lint.
type LintOptions struct {
	Files  []string
	Format string
	// Trainer has the files be training rows, looked at as this trainer feeds
	// them.
	Trainer   string
	Contract  string
	MaxLength int
}

func newLintCommand(a *app) *cobra.Command {
	var o LintOptions
	c := a.command("lint", about{
		use: "[FILE…]", args: anyArgs("FILE"),
		short: msg.Text{"Report everything wrong with drydock.yaml, or with training rows, at once.", "一次报告 drydock.yaml 或训练数据的全部错误。"},
		long: msg.Text{
			"Every finding has its place, the line itself and what was probably meant. Nothing is read but the configuration and the list of files it names. FILE may also be a trainer's own training file or a dataset_info.json of LLaMA-Factory. With --trainer, FILE holds training rows: which of them the trainer drops, cuts, masks or feeds otherwise than the model will be asked is told with line, row and pointer, and with the setting that mends it, as drydock template check does.",
			"每个问题都给出位置、所在行以及可能的正确写法。只读取配置及其中列出的文件清单。FILE 也可以是训练器自己的训练文件，或 LLaMA-Factory 的 dataset_info.json。带 --trainer 时 FILE 为训练数据：指出训练器会丢弃、截断、掩蔽或与提问不一致的行，给出行号、行 id、指针以及修正所用的设置，与 drydock template check 相同。",
		},
		examples: []example{
			{msg.Text{"the project here", "当前项目"}, "drydock lint"},
			{msg.Text{"as annotations of a GitHub workflow", "作为 GitHub 工作流注解"}, "drydock lint --format github"},
			{msg.Text{"training rows, as ms-swift feeds them", "按 ms-swift 的方式检查训练数据"}, "drydock lint data.jsonl --trainer swift --max-length 2048"},
			{msg.Text{"the data sets LLaMA-Factory is told of", "LLaMA-Factory 的数据集清单"}, "drydock lint data/dataset_info.json"},
		},
	}, nil)
	c.RunE = func(cmd *cobra.Command, args []string) error {
		o.Files = args
		return runLint(cmd.Context(), a, o)
	}
	f := a.flags(c.Flags())
	f.str(&o.Format, "format", "", "text", msg.Text{"write findings as `text|json|github`", "以 `text|json|github` 输出问题"})
	f.str(&o.Trainer, "trainer", "", "", msg.Text{"FILE holds training rows: look at them as trainer `NAME` feeds them", "FILE 为训练数据：按训练器 `NAME` 的方式检查"})
	f.str(&o.Contract, "contract", "", "", msg.Text{"with --trainer: hold rows and loss to the contract `NAME` (default empty-think)", "与 --trainer 同用：要求数据与损失符合约定 `NAME`（默认 empty-think）"})
	f.int(&o.MaxLength, "max-length", "", 0, msg.Text{"with --trainer: name rows of more than `N` tokens (0: no limit)", "与 --trainer 同用：指出超过 `N` 个 token 的行（0：不限）"})
	a.complete(c, "format", "text", "json", "github")
	a.complete(c, "trainer", feed.Trainers()...)
	a.complete(c, "contract", contracts()...)
	return c
}

// finding is one finding in JSON.
type finding struct {
	File    string    `json:"file"`
	Line    int       `json:"line,omitempty"`
	Column  int       `json:"column,omitempty"`
	Kind    fail.Kind `json:"kind"`
	Message string    `json:"message"`
	Hint    string    `json:"hint,omitempty"`
	// Severity is "warning" for what may be meant; an error has none.
	Severity string `json:"severity,omitempty"`
}

type lintAnswer struct {
	Schema   string    `json:"schema"`
	Files    []string  `json:"files"`
	Findings []finding `json:"findings"`
	Errors   int       `json:"errors"`
}

func runLint(ctx context.Context, a *app, o LintOptions) error {
	if o.Format != "text" && o.Format != "json" && o.Format != "github" {
		return oneOf("--format", o.Format, "text", "json", "github")
	}
	if o.Trainer != "" {
		return lintTraining(ctx, a, o)
	}
	if o.Contract != "" || o.MaxLength != 0 {
		return fail.New(fail.Usage, msg.Text{"--contract and --max-length go with --trainer", "--contract 与 --max-length 须与 --trainer 同用"})
	}
	if len(o.Files) == 0 {
		o.Files = []string{a.configFile()}
	}
	home, err := a.host.home()
	if err != nil {
		return err
	}
	return a.lintConfigs(o, home)
}

// lintConfigs reports what is wrong with the configurations among the files. The
// error holds what is no warning.
func (a *app) lintConfigs(o LintOptions, home string) error {
	ans := lintAnswer{Schema: "drydock.lint/1", Findings: []finding{}}
	var all fail.List
	text := o.Format == "text" && !a.term.JSON()
	for _, name := range o.Files {
		found, err := a.lintConfig(name, o.Trainer, home)
		if err != nil {
			return err
		}
		ans.Files = append(ans.Files, filepath.ToSlash(name))
		for _, f := range found {
			ans.Findings = append(ans.Findings, a.findingOf(f))
			if !f.Warning {
				all = append(all, f.Error)
			} else if text {
				a.term.Note(msg.Text{"%v", "%v"}, f.Error)
			}
		}
		if len(found.Errors()) == 0 && text {
			a.term.Print(msg.Text{"%s: no errors", "%s：没有错误"}, name)
		}
	}
	ans.Errors = len(all)
	switch {
	case o.Format == "github":
		for _, f := range ans.Findings {
			a.term.Println(githubAnnotation(cmp.Or(f.Severity, "error"), f))
		}
	case o.Format == "json" || a.term.JSON():
		if err := a.term.Value(ans); err != nil {
			return err
		}
	default:
		return all.OrNil()
	}
	if len(all) == 0 {
		return nil
	}
	return shown{all}
}

func (a *app) findingOf(f launch.Finding) finding {
	e := f.Error
	out := finding{
		File: filepath.ToSlash(e.Where.File), Line: e.Where.Line, Column: e.Where.Column,
		Kind: e.Kind, Message: e.Message(a.lang), Hint: strings.Join(e.Hints(a.lang), "\n"),
	}
	if f.Warning {
		out.Severity = "warning"
	}
	return out
}

// githubAnnotation is a workflow command that marks the line in a pull request:
// error, warning or notice.
func githubAnnotation(level string, f finding) string {
	esc := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	prop := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
	text := f.Message
	if f.Hint != "" {
		text += "\n" + f.Hint
	}
	return fmt.Sprintf("::%s file=%s,line=%d,col=%d::%s", level, prop.Replace(f.File), max(f.Line, 1), max(f.Column, 1), esc.Replace(text))
}
