package vllm

import (
	_ "embed"
	"slices"
	"strings"

	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
)

// ListedVersion is the version whose options are known one by one.
const ListedVersion = "0.32.0"

// optionList is made by scripts/interop/vllm_options.py from the server's own
// parser: spellings, how many values, and which ones, tab-separated.
//
//go:embed options_0.32.0.txt
var optionList string

// An Option is one option of `vllm serve`.
type Option struct {
	Names   []string // spellings; the first is the usual one
	Values  string   // how many it takes: 0, 1, ? (none or one) or + (one or more)
	Choices []string // what it takes; nil: it does not say
}

// Options lists what the server of [ListedVersion] takes.
func Options() []Option {
	var out []Option
	for line := range strings.Lines(optionList) {
		f := strings.Split(strings.TrimRight(line, "\r\n"), "\t")
		if len(f) < 2 {
			continue
		}
		o := Option{Names: strings.Split(f[0], ","), Values: f[1]}
		if len(f) > 2 {
			o.Choices = strings.Split(f[2], ",")
		}
		out = append(out, o)
	}
	return out
}

// gone are options of earlier versions, and what there is instead.
func gone(name string) (msg.Text, bool) {
	switch name {
	case "--enable-reasoning":
		return msg.Text{"--reasoning-parser alone does it now; drydock sets it by --contract", "现在只需 --reasoning-parser；drydock 按 --contract 设置"}, true
	case "--guided-decoding-backend":
		return msg.Text{"it is --structured-outputs-config.backend now", "现为 --structured-outputs-config.backend"}, true
	case "--disable-log-requests":
		return msg.Text{"requests are not logged unless --enable-log-requests is given", "默认不记录请求，除非给出 --enable-log-requests"}, true
	case "--swap-space":
		return msg.Text{"it was taken away; leave it out", "该选项已移除；请去掉"}, true
	case "--task":
		return msg.Text{"it is --runner and --convert now; a chat model needs neither", "现为 --runner 与 --convert；对话模型不需要"}, true
	}
	return msg.Text{}, false
}

// owned are options that drydock decides, and what decides them.
func owned(name string) (msg.Text, bool) {
	switch name {
	case "--host", "--port", "--dtype", "--max-model-len", "--seed", "--max-lora-rank", "--max-loras", "--max-cpu-loras":
		return msg.Text{"give it to drydock serve itself, before --", "请直接交给 drydock serve，写在 -- 之前"}, true
	case "--served-model-name":
		return msg.Text{"drydock serve --name", "请用 drydock serve --name"}, true
	case "--model":
		return msg.Text{"the model is drydock serve's argument", "模型是 drydock serve 的参数"}, true
	case "--enable-lora", "--no-enable-lora", "--lora-modules":
		return msg.Text{"drydock serve --adapter DIR, or drydock serve load later: then a bad adapter does not end the server", "请用 drydock serve --adapter DIR，或之后用 drydock serve load：这样有问题的适配器不会使服务退出"}, true
	case "--reasoning-parser", "--reasoning-parser-plugin", "--default-chat-template-kwargs", "--chat-template", "--generation-config", "--override-generation-config":
		return msg.Text{"it follows from --contract and --chat-template; with another the answers are not those the training was for", "由 --contract 与 --chat-template 决定；改用其他值会使回答与训练不符"}, true
	case "--config":
		return msg.Text{"a file of options cannot be checked: give them one by one", "选项文件无法检查：请逐个给出"}, true
	case "--api-key":
		return msg.Text{"a key on the command line is seen by every user of the machine: set VLLM_API_KEY, and DRYDOCK_API_KEY for drydock", "命令行中的密钥对本机所有用户可见：请设置 VLLM_API_KEY，并为 drydock 设置 DRYDOCK_API_KEY"}, true
	case "--headless", "--grpc", "--grpc-port", "--uds", "--root-path", "--ssl-keyfile", "--ssl-certfile":
		return msg.Text{"drydock asks the server over http at its host and port", "drydock 通过 http 在其主机与端口上访问服务"}, true
	}
	return msg.Text{}, false
}

// An optionTable finds options by any spelling.
type optionTable struct {
	byName map[string]*Option
	names  []string // long ones, for suggestions
}

func newOptionTable() *optionTable {
	t := &optionTable{byName: map[string]*Option{}}
	for _, o := range Options() {
		for _, n := range o.Names {
			t.byName[n] = &o
			if strings.HasPrefix(n, "--") {
				t.names = append(t.names, n)
			}
		}
	}
	return t
}

// CheckArgs holds options a user adds to those of [ListedVersion]: unknown ones,
// abbreviations, wrong values and values too many cost vLLM a start of minutes
// or are taken for something else. Options that drydock decides are refused.
func CheckArgs(args []string) error {
	t := newOptionTable()
	var bad fail.List
	for i := 0; i < len(args); {
		n, e := t.option(args[i:])
		if e != nil {
			bad = append(bad, e)
		}
		i += n
	}
	return bad.OrNil()
}

func usage(text msg.Text, args ...any) *fail.Error { return fail.New(fail.Usage, text, args...) }

// option reads one option with its values and returns how many words it took.
func (t *optionTable) option(words []string) (int, *fail.Error) {
	word := words[0]
	if !isOption(word) {
		return 1, usage(msg.Text{"%q belongs to no option of vLLM", "%q 不属于 vLLM 的任何选项"}, word)
	}
	name, value, joined := strings.Cut(word, "=")
	name, nested := spelling(name)
	values := 0
	for values+1 < len(words) && !isOption(words[values+1]) {
		values++
	}
	if strings.HasPrefix(name, "-O") { // -O3, -O 3, -O.level=3: of the compiler
		return 1 + min(values, 1), nil
	}
	o := t.byName[name]
	if o == nil {
		return 1 + values, t.unknown(name)
	}
	if hint, ours := owned(o.Names[0]); ours {
		return 1 + values, usage(msg.Text{"%s is set by drydock", "%s 由 drydock 设置"}, name).Hint(hint)
	}
	given := words[1 : 1+values]
	if joined {
		given = []string{value}
		values = 0
	}
	if nested { // --x-config.key value
		return 1 + min(values, 1), nil
	}
	taken, e := o.take(name, given, joined)
	if joined {
		taken = 0
	}
	return 1 + taken, e
}

// take reads the values of an option and returns how many it takes.
func (o *Option) take(name string, given []string, joined bool) (int, *fail.Error) {
	limit := map[string]int{"0": 0, "1": 1, "?": 1, "+": len(given)}[o.Values]
	switch {
	case joined && o.Values == "0":
		return 0, usage(msg.Text{"%s takes no value", "%s 不带值"}, name)
	case (o.Values == "1" || o.Values == "+") && len(given) == 0:
		return 0, usage(msg.Text{"%s wants a value", "%s 需要一个值"}, name)
	}
	taken := given[:min(limit, len(given))]
	for _, v := range taken {
		if len(o.Choices) > 0 && !slices.Contains(o.Choices, v) {
			e := usage(msg.Text{"%s takes no %q", "%s 不接受 %q"}, name, v)
			if s := fail.Nearest(v, o.Choices); s != "" {
				return len(taken), e.Meant(s)
			}
			return len(taken), e.Hint(msg.Text{"one of %s", "可取值：%s"}, msg.List(o.Choices))
		}
	}
	return len(taken), nil
}

// unknown says what an option that is none may have meant.
func (t *optionTable) unknown(name string) *fail.Error {
	e := usage(msg.Text{"vLLM %s has no option %s", "vLLM %s 没有选项 %s"}, ListedVersion, name)
	if hint, was := gone(name); was {
		return e.Hint(hint)
	}
	var full []string
	for _, n := range t.names {
		if strings.HasPrefix(n, name) && len(name) > 2 {
			full = append(full, n)
		}
	}
	slices.Sort(full)
	if len(full) > 0 {
		return e.Hint(msg.Text{"abbreviations are not taken, since another version may read another option: write %s", "不接受缩写，因为其他版本可能读作别的选项：请写 %s"}, msg.List(full[:min(4, len(full))]))
	}
	if s := fail.Nearest(name, t.names); s != "" {
		return e.Meant(s)
	}
	return e.Hint(msg.Text{"vllm serve --help=all lists all", "vllm serve --help=all 会列出全部选项"})
}

// spelling is an option's name as the list has it: vLLM takes underscores for
// dashes, and a key of a JSON value behind a dot.
func spelling(name string) (plain string, nested bool) {
	plain, _, nested = strings.Cut(name, ".")
	if strings.HasPrefix(plain, "--") {
		plain = "--" + strings.ReplaceAll(plain[2:], "_", "-")
	}
	return plain, nested
}

// isOption tells an option from a value, as argparse does: a negative number is
// a value.
func isOption(word string) bool {
	return len(word) > 1 && word[0] == '-' && (word[1] < '0' || word[1] > '9') && word[1] != '.'
}
