package launch

import (
	_ "embed"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"

	"go.yaml.in/yaml/v3"
)

// What each trainer's own parser takes, written by scripts/interop/trainer_keys.py
// in an environment that has the trainer: a line is name, kinds, and the commands
// that have it where not all do. LLaMA-Factory, ms-swift and TRL refuse other
// names (the last two take the beginning of one); axolotl ignores them.
var (
	//go:embed llamafactory_keys.txt
	llamafactoryKeys string
	//go:embed swift_keys.txt
	swiftKeys string
	//go:embed trl_keys.txt
	trlKeys string
	//go:embed axolotl_keys.txt
	axolotlKeys string
)

// A setting is what a trainer takes for one name.
type setting struct {
	kinds    []string // int, float, bool, str, list, dict, any, null
	words    []string // all texts it takes; nil: any
	commands []string // of the trainer that have it; nil: all
}

func (s setting) takes(kind string) bool { return slices.Contains(s.kinds, kind) }

// settings are the names one version of a trainer takes.
type settings struct {
	trainer string // as drydock.yaml names it
	title   string // as its authors write it
	version string // that the list is of
	known   map[string]setting
	names   []string // sorted
}

var (
	llamafactorySettings = sync.OnceValue(func() *settings { return parseSettings("llamafactory", "LLaMA-Factory", llamafactoryKeys) })
	swiftSettings        = sync.OnceValue(func() *settings { return parseSettings("swift", "ms-swift", swiftKeys) })
	trlSettings          = sync.OnceValue(func() *settings { return parseSettings("trl", "TRL", trlKeys) })
	axolotlSettings      = sync.OnceValue(func() *settings { return parseSettings("axolotl", "axolotl", axolotlKeys) })
)

// settingsOf returns the list of a trainer; nil when there is none.
func settingsOf(trainer string) *settings {
	switch trainer {
	case "llamafactory":
		return llamafactorySettings()
	case "swift":
		return swiftSettings()
	case "trl":
		return trlSettings()
	case "axolotl":
		return axolotlSettings()
	}
	return nil
}

func parseSettings(trainer, title, list string) *settings {
	s := &settings{trainer: trainer, title: title, known: map[string]setting{}}
	for line := range strings.Lines(strings.ReplaceAll(list, "\r\n", "\n")) {
		line = strings.TrimSuffix(line, "\n")
		if head, ok := strings.CutPrefix(line, "# "); ok { // "# trl 1.16.0, transformers …"
			s.version = strings.TrimSuffix(strings.Fields(head)[1], ",")
			continue
		}
		f := strings.Split(line, "\t")
		kinds, words, _ := strings.Cut(f[1], "=")
		e := setting{}
		if kinds != "" {
			e.kinds = strings.Split(kinds, ",")
		}
		if words != "" {
			e.words = strings.Split(words, "|")
		}
		if len(f) > 2 {
			e.commands = strings.Split(f[2], ",")
		}
		s.known[f[0]] = e
		s.names = append(s.names, f[0])
	}
	return s
}

// has reports whether a command of the trainer has the setting.
func (s *settings) has(name, command string) bool {
	e, ok := s.known[name]
	return ok && (e.commands == nil || command == "" || slices.Contains(e.commands, command))
}

// sameSetting are names of one thing in different trainers, and in older versions
// of them. What stands in a row is what a wrong name of the row is taken to mean.
func sameSetting() [][]string {
	return [][]string{
		{"cutoff_len", "max_length", "sequence_len", "max_seq_length", "max_seq_len", "max_tokens", "model_max_length"},
		{"lora_rank", "lora_r", "rank", "r"},
		{"lora_alpha", "alpha"},
		{"lora_dropout", "dropout"},
		{"lora_target", "target_modules", "lora_target_modules", "lora_target_linear"},
		{"num_train_epochs", "num_epochs", "epochs", "max_epochs"},
		{"per_device_train_batch_size", "micro_batch_size", "batch_size", "train_batch_size"},
		{"gradient_accumulation_steps", "accumulate", "grad_accum_steps"},
		{"learning_rate", "lr"},
		{"lr_scheduler_type", "lr_scheduler", "scheduler"},
		{"optim", "optimizer"},
		{"model_name_or_path", "model", "base_model", "model_id_or_path", "model_path"},
		{"finetuning_type", "tuner_type", "train_type", "sft_type", "adapter", "use_peft"},
		{"torch_dtype", "dtype", "infer_dtype", "bf16"},
		{"eval_strategy", "evaluation_strategy"},
		{"quantization_bit", "quant_bits", "load_in_4bit"},
		{"pref_beta", "beta", "rl_beta", "dpo_beta"},
		{"warmup_ratio", "warmup_steps"},
		{"dataset", "datasets", "dataset_name", "train_file"},
		{"val_size", "split_dataset_ratio", "val_set_size", "eval_ratio"},
	}
}

// meant returns the name that a wrong one is taken to stand for; "" when none is
// near.
func (s *settings) meant(name, command string) string {
	var names []string
	inList := strings.HasPrefix(name, "datasets[].")
	for _, n := range s.names {
		if s.has(n, command) && strings.HasPrefix(n, "datasets[].") == inList {
			names = append(names, n)
		}
	}
	for _, row := range sameSetting() {
		if !slices.Contains(row, name) {
			continue
		}
		for _, n := range row {
			if n != name && s.has(n, command) {
				return n
			}
		}
	}
	// the beginning of a name, which ms-swift and TRL take on the command line
	for _, n := range names {
		if len(name) >= 4 && strings.HasPrefix(n, name) {
			return n
		}
	}
	return fail.Nearest(name, names)
}

// unknown is the finding about a name that no command, or another one, has. nil:
// it has it.
func (s *settings) unknown(name, command string) *fail.Error {
	if s.has(name, command) {
		return nil
	}
	if e, ok := s.known[name]; ok {
		return fail.New(fail.Config, msg.Text{"%s is a setting of %s %s, not of %s", "%s 是 %s %s 的设置，%s 没有"}, name, s.title, msg.List(e.commands), command)
	}
	return fail.New(fail.Config, msg.Text{"%s %s has no setting %s", "%s %s 没有设置 %s"}, s.title, s.version, name).Meant(s.meant(name, command))
}

// limits are values that a trainer's parser takes and no training survives: by
// name, the least, whether it may be reached, and what it must stay below.
func limits(name string) (low float64, open bool, high float64, ok bool) {
	switch name {
	case "cutoff_len", "max_length", "sequence_len", "per_device_train_batch_size", "micro_batch_size", "gradient_accumulation_steps",
		"lora_rank", "lora_r", "logging_steps", "save_total_limit":
		return 1, false, math.Inf(1), true
	case "lora_alpha", "num_train_epochs", "num_epochs", "save_steps", "pref_beta", "beta", "rl_beta", "max_grad_norm":
		return 0, true, math.Inf(1), true
	case "learning_rate":
		return 0, true, 1, true
	case "lora_dropout", "warmup_ratio", "val_size", "val_set_size", "split_dataset_ratio":
		return 0, false, 1, true
	case "quantization_bit", "quant_bits":
		return 2, false, 9, true
	}
	return 0, false, 0, false
}

// bad is the finding about a value; nil: the setting takes it. strict is a trainer
// that takes a quoted number or boolean for text, as LLaMA-Factory does.
func (s *settings) bad(name string, v *yaml.Node, strict bool) *fail.Error {
	e, ok := s.known[name]
	if !ok {
		return nil
	}
	if v.Kind == yaml.AliasNode {
		v = v.Alias
	}
	switch {
	case v.Kind == yaml.SequenceNode && e.takes("list"):
		for _, x := range v.Content {
			if f := e.badWord(name, x); f != nil {
				return f
			}
		}
		return badTarget(name, v)
	case v.Kind == yaml.MappingNode && (e.takes("dict") || e.takes("any")), v.Kind == yaml.SequenceNode && e.takes("any"):
		return nil
	case v.Kind != yaml.ScalarNode:
		return fail.New(fail.Config, msg.Text{"%s must be %s", "%s 必须是%s"}, name, e)
	}
	if f := e.badScalar(name, v, strict); f != nil {
		return f
	}
	if f := badTarget(name, v); f != nil {
		return f
	}
	low, open, high, ok := limits(name)
	if !ok {
		return nil
	}
	x, err := number(v.Value)
	switch {
	case err != nil: // a text the setting takes
		return nil
	case x < low || open && x <= low:
		text := msg.Text{"%s must be at least %s, not %s", "%s 至少为 %s，而不是 %s"}
		if open {
			text = msg.Text{"%s must be above %s, not %s", "%s 须大于 %s，而不是 %s"}
		}
		return fail.New(fail.Config, text, name, strconv.FormatFloat(low, 'g', -1, 64), v.Value)
	case x >= high:
		return fail.New(fail.Config, msg.Text{"%s must be below %s, not %s", "%s 须小于 %s，而不是 %s"}, name, strconv.FormatFloat(high, 'g', -1, 64), v.Value)
	}
	return nil
}

// number reads a number as PyYAML and argparse do.
func number(s string) (float64, error) {
	return strconv.ParseFloat(strings.ReplaceAll(s, "_", ""), 64)
}

func isQuoted(n *yaml.Node) bool {
	return n.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) != 0
}

// In says what the setting takes.
func (s setting) In(l msg.Lang) string {
	var parts []string
	for _, k := range s.kinds {
		switch k {
		case "int":
			parts = append(parts, msg.Text{"a whole number", "整数"}.In(l))
		case "float":
			parts = append(parts, msg.Text{"a number", "数字"}.In(l))
		case "bool":
			parts = append(parts, msg.Text{"true or false", "true 或 false"}.In(l))
		case "str", "any":
			parts = append(parts, msg.Text{"text", "文本"}.In(l))
		case "list":
			parts = append(parts, msg.Text{"a list", "列表"}.In(l))
		case "dict":
			parts = append(parts, msg.Text{"a mapping", "映射"}.In(l))
		}
	}
	if len(s.words) > 0 {
		parts = append(parts, msg.Few(s.words, 12).In(l))
	}
	return strings.Join(parts, msg.Text{" or ", "或"}.In(l))
}

// badScalar judges a scalar by the setting's kinds; the first that fits decides.
func (s setting) badScalar(name string, v *yaml.Node, strict bool) *fail.Error {
	text := v.Value
	if v.Tag == "!!null" {
		if s.takes("null") || s.takes("any") {
			return nil
		}
		return fail.New(fail.Config, msg.Text{"%s must be %s, not null", "%s 必须是%s，而不能是 null"}, name, s)
	}
	quoted := isQuoted(v)
	flag := slices.Contains([]string{"true", "false", "yes", "no", "on", "off"}, strings.ToLower(text))
	num, err := number(text)
	finite := err == nil && num-num == 0
	whole := finite && num == math.Trunc(num) && !strings.ContainsAny(text, ".eE")
	bare := !quoted || !strict
	switch {
	case s.takes("bool") && flag && bare, s.takes("int") && whole && bare, s.takes("float") && finite && bare:
		return nil
	case s.takes("any"), s.takes("str") && len(s.words) == 0, s.takes("dict") && strings.HasPrefix(strings.TrimSpace(text), "{"):
		return nil
	case len(s.words) > 0:
		if !s.takes("list") {
			return s.badWord(name, v)
		}
		for w := range strings.SplitSeq(text, ",") {
			if f := s.badText(name, strings.TrimSpace(w)); f != nil {
				return f
			}
		}
		return nil
	case s.takes("list") && !s.takes("bool") && !s.takes("int") && !s.takes("float"):
		return nil // one element, or several between commas
	case quoted && strict && (flag || finite):
		return fail.New(fail.Config, msg.Text{"%s: %q is text, which the trainer takes for set whatever it says", "%s：%q 是文本，训练器不论内容都当作已设置"}, name, text).
			Hint(msg.Text{"write %s without quotes", "请去掉引号，写成 %s"}, text)
	}
	return fail.New(fail.Config, msg.Text{"%s must be %s, not %q", "%s 必须是%s，而不是 %q"}, name, s, text)
}

// badWord judges a text by the words the setting takes.
func (s setting) badWord(name string, v *yaml.Node) *fail.Error {
	if len(s.words) == 0 || v.Kind != yaml.ScalarNode || v.Tag == "!!null" {
		return nil
	}
	return s.badText(name, v.Value)
}

func (s setting) badText(name, text string) *fail.Error {
	parts := []string{text}
	switch name {
	case "loss_scale": // several are chained: last_round+ignore_empty_think
		parts = strings.Split(text, "+")
	case "datasets[].type": // a loader of its own behind a dot; any other module is one's own
		text, _, _ = strings.Cut(text, ".")
		if !slices.Contains(s.words, text) && fail.Nearest(text, s.words) == "" {
			return nil
		}
		parts = []string{text}
	case "datasets[].chat_template", "chat_template":
		if strings.HasPrefix(text, "tokenizer_default_fallback_") {
			return nil
		}
	}
	for _, p := range parts {
		if slices.Contains(s.words, p) {
			continue
		}
		e := fail.New(fail.Config, msg.Text{"%s cannot be %q; it is one of %s", "%s 不能是 %q；可选值：%s"}, name, p, msg.List(s.words))
		if len(s.words) > 12 {
			e = fail.New(fail.Config, msg.Text{"%s cannot be %q", "%s 不能是 %q"}, name, p)
		}
		return e.Near(p, s.words)
	}
	return nil
}

// linear are the modules of Qwen3 that take an adapter, and the words that stand
// for many of them.
func linear() []string {
	return []string{
		"q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj", "lm_head", "embed_tokens",
		"all", "all-linear", "all-embedding", "all-norm",
	}
}

// badTarget is the finding about a module to adapt that Qwen3 does not have: no
// trainer says so before the model is loaded, and some never.
func badTarget(name string, v *yaml.Node) *fail.Error {
	if name != "lora_target" && name != "target_modules" && name != "lora_target_modules" {
		return nil
	}
	var all []string
	for _, n := range append([]*yaml.Node{v}, v.Content...) {
		if n.Kind == yaml.ScalarNode && n.Tag != "!!null" {
			all = append(all, strings.FieldsFunc(n.Value, func(r rune) bool { return r == ',' || r == ' ' })...)
		}
	}
	for _, m := range all {
		if strings.ContainsAny(m, `*\()|[^$`) { // a pattern
			continue
		}
		m = m[strings.LastIndexByte(m, '.')+1:]
		if !slices.Contains(linear(), m) {
			return fail.New(fail.Config, msg.Text{"%s: Qwen3 has no module %q", "%s：Qwen3 没有模块 %q"}, name, m).Near(m, linear())
		}
	}
	return nil
}
