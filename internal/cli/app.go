package cli

import (
	"io"
	"os"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/parallel"
	"github.com/drydock-ml/drydock/internal/ui"
)

// An app is one call of drydock: the machine, the terminal and the flags all
// commands share.
type app struct {
	host     Host
	args     []string // after the program's name
	lang     msg.Lang
	term     *ui.Terminal
	global   globalOptions
	abouts   map[*cobra.Command]about
	groups   []commandGroup
	children map[*cobra.Command][]*cobra.Command // in the order of the help; cobra sorts its own
	logFile  *os.File
}

// globalOptions are the flags of every command.
type globalOptions struct {
	Config   string
	Dir      string
	JSON     bool
	Quiet    bool
	Verbose  int
	Workers  int
	NoInput  bool
	NoColor  bool
	Progress string
	Lang     string
	LogFile  string
}

func newApp(args []string, host Host) *app {
	lang, json := prescan(args, host)
	a := &app{host: host, args: args, lang: lang, abouts: map[*cobra.Command]about{}, children: map[*cobra.Command][]*cobra.Command{}}
	a.term = ui.New(terminalFor(host, lang, json))
	return a
}

func (a *app) close() {
	if a.logFile != nil {
		_ = a.logFile.Close()
	}
}

// say returns a text in the reader's language.
func (a *app) say(t msg.Text, args ...any) string { return t.Format(a.lang, args...) }

func (a *app) globalFlags(root *cobra.Command) {
	f := a.flags(root.PersistentFlags())
	g := &a.global
	f.str(&g.Config, "config", "c", "", msg.Text{"configuration `FILE` (default drydock.yaml)", "配置文件 `FILE`（默认 drydock.yaml）"})
	f.str(&g.Dir, "dir", "C", "", msg.Text{"work in `DIR`", "在目录 `DIR` 中运行"})
	f.bool(&g.JSON, "json", "", msg.Text{"write the result as JSON", "以 JSON 输出结果"})
	f.bool(&g.Quiet, "quiet", "q", msg.Text{"no notes and no progress on stderr", "stderr 上不显示提示和进度"})
	f.count(&g.Verbose, "verbose", "v", msg.Text{"say more; twice: even more", "显示更多信息；重复则更多"})
	f.int(&g.Workers, "workers", "j", 0, msg.Text{"work on `N` things at once (default: one per CPU)", "同时处理 `N` 项（默认：每个 CPU 一项）"})
	f.bool(&g.NoInput, "no-input", "", msg.Text{"never wait for input from the terminal", "从不等待终端输入"})
	f.bool(&g.NoColor, "no-color", "", msg.Text{"no colour", "不使用颜色"})
	f.str(&g.Progress, "progress", "", "auto", msg.Text{"progress as `auto|plain|none`", "进度显示方式 `auto|plain|none`"})
	f.str(&g.Lang, "lang", "", "", msg.Text{"language `en|zh` (default: from the locale)", "语言 `en|zh`（默认：按系统区域）"})
	f.str(&g.LogFile, "log-file", "", "", msg.Text{"append a log to `FILE`", "将日志追加到 `FILE`"})
	root.PersistentFlags().BoolP("help", "h", false, a.say(msg.Text{"show help", "显示帮助"}))
	a.complete(root, "progress", "auto", "plain", "none")
	a.complete(root, "lang", "en", "zh")
}

// setup runs once the flags are parsed, before any command.
func (a *app) setup(cmd *cobra.Command) error {
	sources, err := a.applyEnv(cmd)
	if err != nil {
		return err
	}
	g := &a.global
	if err := g.check(); err != nil {
		return err
	}
	if g.Dir != "" {
		if err := a.host.Chdir(g.Dir); err != nil {
			return fail.New(fail.Usage, msg.Text{"%v", "%v"}, err).
				Hint(msg.Text{"-C names the folder to work in", "-C 指定工作目录"})
		}
	}
	if g.LogFile != "" {
		f, err := os.OpenFile(g.LogFile, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
		if err != nil {
			return fail.New(fail.Usage, msg.Text{"--log-file: %v", "--log-file：%v"}, err)
		}
		a.logFile = f
	}
	a.term = ui.New(a.terminalConfig(false))
	for _, s := range sources {
		a.term.Detail(msg.Text{"%s = %s (from %s)", "%s = %s（来自 %s）"}, s.name, s.value, s.from)
	}
	return nil
}

// terminalConfig is how the flags want the Terminal. With toErr, what would be
// the result goes to stderr, because stdout carries the data itself.
func (a *app) terminalConfig(toErr bool) ui.Config {
	g := &a.global
	c := terminalFor(a.host, a.lang, g.JSON)
	c.Quiet, c.Verbose, c.Progress, c.Commands = g.Quiet, g.Verbose, g.Progress, g.placed()
	c.Color, c.ForceColor = ui.ColorWanted(g.NoColor, a.host.Getenv)
	if a.logFile != nil {
		c.Log = a.logFile
	}
	if toErr {
		c.Out, c.OutTTY = c.Err, c.ErrTTY
	}
	return c
}

// placed returns what adds -C and -c, where they were given, to the commands of
// a project that a text names: pasted, they then do what is meant. It is nil
// when there is nothing to add.
func (g *globalOptions) placed() func(text string) string {
	where := ""
	if g.Dir != "" {
		where += " -C " + shellWord(g.Dir)
	}
	if g.Config != "" {
		where += " -c " + shellWord(g.Config)
	}
	if where == "" {
		return nil
	}
	named := regexp.MustCompile(`\bdrydock (run|plan|lint|train|eval|card|question review|contam review|submit (pack|verify)|runs (list|show|attach|stop|compare|rm|gc)) ?(-C|-c|--help)?\b`)
	return func(text string) string {
		return named.ReplaceAllStringFunc(text, func(command string) string {
			if strings.Contains(command, " -") {
				return command
			}
			line := strings.TrimSuffix(command, " ")
			return line + where + command[len(line):]
		})
	}
}

// shellWord quotes a word that a shell would take apart.
func shellWord(s string) string {
	plain := func(r rune) bool {
		return r > 127 || strings.ContainsRune("-_./:\\+,@%=~", r) || r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z'
	}
	if s != "" && strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0 {
		return s
	}
	if !strings.ContainsAny(s, "\"$`\\!") {
		return `"` + s + `"`
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// check refuses values that no command could use.
func (g *globalOptions) check() error {
	var bad fail.List
	if g.Workers < 0 {
		bad = append(bad, fail.New(fail.Usage, msg.Text{"--workers %d: must not be negative", "--workers %d：不能为负数"}, g.Workers))
	}
	if g.Lang != "" {
		if _, ok := msg.ParseLang(g.Lang); !ok {
			bad = append(bad, oneOf("--lang", g.Lang, "en", "zh"))
		}
	}
	if g.Progress != "auto" && g.Progress != "plain" && g.Progress != "none" {
		bad = append(bad, oneOf("--progress", g.Progress, "auto", "plain", "none"))
	}
	return bad.OrNil()
}

// workers returns how many goroutines to use.
func (a *app) workers() int { return parallel.Workers(a.global.Workers) }

// open returns the bytes of a file, or stdin for "-".
func (a *app) open(name string) (io.ReadCloser, error) {
	if name != "-" {
		return os.Open(name)
	}
	if a.host.InTTY && a.global.NoInput {
		return nil, fail.New(fail.Usage, msg.Text{"- reads stdin, which is a terminal, and --no-input forbids waiting for it", "- 表示读取标准输入，但标准输入是终端，而 --no-input 禁止等待输入"})
	}
	return io.NopCloser(a.host.In), nil
}

// An answer is a finite result: its JSON is the value itself, and for people
// it prints itself.
type answer interface{ text(t *ui.Terminal) }

// answer prints a result in the form asked for.
func (a *app) answer(v answer) error {
	if a.term.JSON() {
		return a.term.Value(v)
	}
	v.text(a.term)
	return nil
}

// cannotRead says that an input named on the command line cannot be read.
func (a *app) cannotRead(name string, err error) error {
	if len(fail.All(err)) == 1 && fail.All(err)[0] == err {
		return err
	}
	if list, ok := err.(fail.List); ok && len(list) > 0 {
		return err
	}
	if os.IsNotExist(err) {
		return fail.New(fail.Failed, msg.Text{"%s: no such file", "%s：文件不存在"}, name).Because(err)
	}
	return fail.New(fail.Failed, msg.Text{"%v", "%v"}, err)
}
