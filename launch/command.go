package launch

import (
	"context"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/spec"
)

type commandOptions struct {
	Argv   []string `yaml:"argv" required:"true" help:"The program and its arguments; {data}, {output}, {base}, {contract}, {seed} and {resume} (a checkpoint, or nothing) are filled in. No shell reads them. The program runs in the folder of the training, build/train: a script of the project is ../../train.py there." zh:"程序及其参数；{data}、{output}、{base}、{contract}、{seed} 和 {resume}（检查点或空）会被替换；不经过 shell。程序在训练目录 build/train 中运行：项目中的脚本应写作 ../../train.py。"`
	Env    []string `yaml:"env" help:"Names of environment variables the program reads, to be shown in the plan." zh:"程序读取的环境变量名，会在计划中列出。"`
	Follow []string `yaml:"follow" help:"Files in the run's folder the program appends figures to." zh:"程序会追加指标的文件（相对于运行目录）。"`
}

var commandSpec = spec.Of("command", msg.Text{"Any program as the trainer.", "以任意程序作为训练器。"}, commandOptions{}, newCommand)

func newCommand(o commandOptions) (Trainer, error) {
	if len(o.Argv) == 0 || o.Argv[0] == "" {
		return nil, spec.Bad("argv", msg.Text{"must name a program", "必须给出程序"})
	}
	for i, a := range o.Argv {
		if i > 0 && (looksSecret(a) || namesSecret(o.Argv[i-1]) && !strings.HasPrefix(a, "-") && !strings.HasPrefix(a, "{")) {
			return nil, spec.Bad("argv", msg.Text{"holds what looks like a secret (argument %d); pass it by an environment variable", "含有疑似密钥的内容（第 %d 个参数）；请用环境变量传递"}, i)
		}
		if name, value, ok := strings.Cut(a, "="); ok && value != "" && namesSecret(name) {
			return nil, spec.Bad("argv", msg.Text{"holds what looks like a secret (argument %d); pass it by an environment variable", "含有疑似密钥的内容（第 %d 个参数）；请用环境变量传递"}, i)
		}
	}
	for _, n := range o.Env {
		if strings.Contains(n, "=") {
			return nil, spec.Bad("env", msg.Text{"holds names, not values: %q", "只写变量名，不写值：%q"}, strings.SplitN(n, "=", 2)[0])
		}
	}
	return command{o}, nil
}

var secretName = regexp.MustCompile(`(?i)(^|[-_])(api[-_]?key|key|token|secret|password|passwd)$`)

// namesSecret reports an option such as --hub-token.
func namesSecret(option string) bool {
	return strings.HasPrefix(option, "-") && secretName.MatchString(strings.TrimLeft(option, "-"))
}

type command struct{ o commandOptions }

// Name implements [Trainer].
func (command) Name() string { return "command" }

// Check implements [Trainer].
func (c command) Check(_ context.Context, h Host) (Found, []Problem) {
	if c.isRelative() {
		return Found{Binary: c.o.Argv[0]}, nil // counts from the project, which a check does not know
	}
	binary, err := h.LookPath(c.o.Argv[0])
	if err != nil {
		return Found{}, []Problem{{fail.New(fail.Trainer, msg.Text{"the program %s is not found", "找不到程序 %s"}, c.o.Argv[0]).Because(err).
			Hint(msg.Text{"install it, or write its path in train: command: argv", "请安装该程序，或在 train: command: argv 中写出其路径"}), true}}
	}
	return Found{Binary: binary}, nil
}

// Plan implements [Trainer].
func (c command) Plan(j Job, f Found) (Plan, error) {
	base, err := j.base()
	if err != nil {
		return Plan{}, err
	}
	contract, err := j.contract()
	if err != nil {
		return Plan{}, err
	}
	fill := strings.NewReplacer(
		"{data}", fromDir(j.Dir, j.Data), "{output}", outputDir, "{base}", fromBase(j, base),
		"{resume}", resumeFrom(j), "{contract}", string(contract), "{seed}", strconv.FormatUint(j.Seed, 10),
	)
	p := Plan{
		Trainer: c.Name(), Version: f.Version, Dir: j.Dir, Output: outputDir,
		Env: reads(c.o.Env...), Set: []string{unbuffered}, Files: []File{}, Follow: slices.Clone(c.o.Follow),
	}
	if p.Follow == nil {
		p.Follow = []string{}
	}
	for _, a := range c.o.Argv {
		p.Argv = append(p.Argv, fill.Replace(a))
	}
	if c.isRelative() {
		p.Argv[0] = fromDir(j.Dir, p.Argv[0]) // the program runs in the run's folder
	}
	p.Notes = argvNotes(p.Argv)
	return p, nil
}

// argvNotes says what a command line of ms-swift or TRL holds that the lists of
// their settings do not know. They are notes: the version that runs may have them.
func argvNotes(argv []string) []Note {
	trainer := strings.TrimSuffix(path.Base(filepath.ToSlash(argv[0])), ".exe")
	if trainer != "swift" && trainer != "trl" || len(argv) < 2 || !slices.Contains([]string{"sft", "pt", "rlhf", "dpo"}, argv[1]) {
		return nil
	}
	var notes []Note
	for _, f := range CheckArgv(trainer, "", argv) {
		notes = append(notes, Note{msg.Phrase{Text: msg.Text{"%s", "%s"}, Args: []any{f.Error}}})
	}
	return notes
}

// isRelative reports a program given by a path from the project, not by a name.
func (c command) isRelative() bool {
	name := c.o.Argv[0]
	return strings.ContainsAny(name, `/\`) && !filepath.IsAbs(name) && !path.IsAbs(name)
}

// Parse implements [Trainer]: it knows every shape other trainers print.
func (command) Parse(from string, line []byte) (Event, bool) { return parseLine(from, line) }

// resumeFrom writes the checkpoint to go on from as the program sees it; "" for
// none.
func resumeFrom(j Job) string {
	if j.Resume == "" {
		return ""
	}
	return fromDir(j.Dir, j.Resume)
}

// outputDir is where checkpoints go, from the run's folder.
const outputDir = "output"

// fromBase writes the base model as the program sees it from the run's folder: a
// name stays a name.
func fromBase(j Job, base string) string {
	if base == BaseModel {
		return base
	}
	return fromDir(j.Dir, base)
}
