package launch

import (
	"path/filepath"
	"strings"

	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/spec"

	"go.yaml.in/yaml/v3"
)

// A Finding is something wrong with a trainer's configuration.
type Finding struct {
	// ID names the rule: unknown_setting, bad_value, a trap of docs/guide/training.md
	// (S1, S2, …), or another of its names.
	ID string
	// Warning: the training starts and may be what was meant.
	Warning bool
	*fail.Error
}

// Findings are all that is wrong with a configuration, in the order of the file.
type Findings []Finding

// Errors returns those that are no warnings.
func (f Findings) Errors() Findings {
	var out Findings
	for _, x := range f {
		if !x.Warning {
			out = append(out, x)
		}
	}
	return out
}

// TrainerOf says whose configuration a YAML file is, by the names it uses; "" when
// they are no trainer's.
func TrainerOf(src []byte) string {
	var root map[string]yaml.Node
	if yaml.Unmarshal(src, &root) != nil {
		return ""
	}
	marks := map[string][]string{ // names that no other trainer has
		"llamafactory": {"stage", "finetuning_type", "cutoff_len", "dataset_dir", "do_train", "lora_target"},
		"swift":        {"tuner_type", "train_type", "sft_type", "split_dataset_ratio", "truncation_strategy", "model", "target_modules"},
		"axolotl":      {"base_model", "sequence_len", "micro_batch_size", "num_epochs", "lora_target_linear", "val_set_size"},
		"trl":          {"use_peft", "lora_target_modules", "dtype", "datasets", "dataset_name", "assistant_only_loss", "completion_only_loss"},
	}
	best, most := "", 0
	for _, name := range []string{"llamafactory", "swift", "axolotl", "trl"} {
		n := 0
		for _, m := range marks[name] {
			if _, ok := root[m]; ok {
				n++
			}
		}
		if n > most {
			best, most = name, n
		}
	}
	return best
}

// CheckConfig looks at a trainer's own training file: names and values against
// the trainer's lists, and settings that its parser takes and that do harm. version
// is that of the trainer; "" is the one plans are tried with. file is the file's
// name, for the findings' places, and for what the file names beside it: only a
// dataset_info.json and the first row of data is read. A trainer without a list
// ("command") has no findings.
func CheckConfig(trainer, version, file string, src []byte) Findings {
	s := settingsOf(trainer)
	if s == nil {
		return nil
	}
	d := spec.Parse(filepath.ToSlash(file), src)
	c := newConfigCheck(s, version, d, filepath.Dir(file))
	if d.Root != nil {
		c.values = d.Pairs(d.Root, msg.Text{"the training file", "训练文件"})
	}
	for _, f := range d.Findings() {
		c.found = append(c.found, Finding{ID: "yaml", Error: f})
	}
	c.command = commandOf(c)
	c.run()
	return c.found
}

// CheckArgv does the same for a command line, the program first: swift sft --model
// … or trl sft --learning_rate …; a --config or a YAML file it names is not read.
func CheckArgv(trainer, version string, argv []string) Findings {
	s := settingsOf(trainer)
	if s == nil || len(argv) == 0 {
		return nil
	}
	c := newConfigCheck(s, version, &spec.Document{File: argv[0]}, ".")
	c.argv(argv)
	c.run()
	return c.found
}

// argv takes the settings of a command line.
func (c *configCheck) argv(argv []string) {
	c.line = true
	for i := 1; i < len(argv); i++ {
		name, value, both := strings.Cut(argv[i], "=")
		key, isName := strings.CutPrefix(name, "--")
		switch {
		case !isName && i == 1:
			c.command = argv[i]
		case isName && both:
			c.values = append(c.values, spec.Pair{Key: scalar(key), Value: scalar(value)})
		case isName:
			v := &yaml.Node{Kind: yaml.SequenceNode}
			for i+1 < len(argv) && !strings.HasPrefix(argv[i+1], "--") {
				i++
				v.Content = append(v.Content, scalar(argv[i]))
			}
			if len(v.Content) == 1 {
				v = v.Content[0]
			} else if len(v.Content) == 0 {
				v = scalar("true") // a flag
			}
			c.values = append(c.values, spec.Pair{Key: scalar(key), Value: v})
		}
	}
}

// scalar is a word of a command line.
func scalar(s string) *yaml.Node {
	n := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: s}
	if s == "None" { // what ms-swift makes of null
		n.Tag = "!!null"
	}
	return n
}

// A configCheck goes over one configuration.
type configCheck struct {
	settings *settings
	version  string
	command  string // part of the trainer that runs; "" when unknown
	doc      *spec.Document
	dir      string // of the file
	line     bool   // it is a command line
	values   []spec.Pair
	found    Findings
}

func newConfigCheck(s *settings, version string, d *spec.Document, dir string) *configCheck {
	if version == "" {
		version = s.version
	}
	return &configCheck{settings: s, version: version, doc: d, dir: dir}
}

// commandOf says which part of a trainer a file is for, by what it sets.
func commandOf(c *configCheck) string {
	switch c.settings.trainer {
	case "swift":
		if c.has("rlhf_type") {
			return "rlhf"
		}
		return "sft"
	case "trl":
		for _, name := range []string{"beta", "loss_weights", "ref_model_sync_steps", "precompute_ref_log_probs"} {
			if c.has(name) {
				return "dpo"
			}
		}
		return "sft"
	}
	return ""
}

// value returns the value of a setting; nil when it is not there.
func (c *configCheck) value(name string) *yaml.Node {
	for _, p := range c.values {
		if p.Key.Value == name {
			return p.Value
		}
	}
	return nil
}

func (c *configCheck) has(name string) bool { return c.value(name) != nil }

// text returns a scalar's text; "" when it is missing, null or no scalar.
func (c *configCheck) text(name string) string {
	v := c.value(name)
	if v == nil || v.Kind != yaml.ScalarNode || v.Tag == "!!null" {
		return ""
	}
	return v.Value
}

// is reports whether a setting is true, as Python readers take it.
func (c *configCheck) is(name string) bool {
	switch strings.ToLower(c.text(name)) {
	case "true", "yes", "on", "1":
		return true
	}
	return false
}

// report adds a finding at a node; nil is the file as a whole.
func (c *configCheck) report(id string, at *yaml.Node, e *fail.Error) {
	if c.line || at == nil {
		e.At(fail.Where{File: c.doc.File})
	} else {
		e.At(c.doc.Where(at))
	}
	c.found = append(c.found, Finding{ID: id, Error: e})
}

// warn adds a finding that does not stop.
func (c *configCheck) warn(id string, at *yaml.Node, e *fail.Error) {
	c.report(id, at, e)
	c.found[len(c.found)-1].Warning = true
}

func (c *configCheck) run() {
	for _, p := range c.values {
		c.setting("", p)
	}
	switch c.settings.trainer {
	case "llamafactory":
		c.llamafactory()
	case "swift":
		c.swift()
	case "trl":
		c.trl()
	case "axolotl":
		c.axolotl()
	}
}

// setting checks one name and value; prefix is of the names within a list.
func (c *configCheck) setting(prefix string, p spec.Pair) {
	name := prefix + p.Key.Value
	if prefix == "" && c.renamed(p) {
		return
	}
	if e := c.settings.unknown(name, c.command); e != nil {
		if c.settings.trainer == "axolotl" {
			e.Hint(msg.Text{"axolotl ignores it without a word", "axolotl 会忽略它而不作任何提示"})
		}
		c.report("unknown_setting", p.Key, e)
		return
	}
	if c.settings.trainer != "swift" && name == "datasets" && p.Value.Kind == yaml.SequenceNode {
		for _, item := range p.Value.Content {
			if item.Kind == yaml.MappingNode {
				for i := 0; i+1 < len(item.Content); i += 2 {
					c.setting("datasets[].", spec.Pair{Key: item.Content[i], Value: item.Content[i+1]})
				}
			}
		}
		return
	}
	if e := c.settings.bad(name, p.Value, c.settings.trainer == "llamafactory"); e != nil {
		c.report("bad_value", p.Value, e)
	}
}

// renamed reports settings that have another name in this version of the trainer.
// It returns true for one that is right in this version and unknown to the list.
func (c *configCheck) renamed(p spec.Pair) bool {
	name := p.Key.Value
	switch c.settings.trainer {
	case "swift":
		old := before(c.version, "4.0.0")
		if name == "train_type" && old {
			return true
		}
		if name == "tuner_type" && old {
			c.report("unknown_setting", p.Key, fail.New(fail.Config, msg.Text{"ms-swift %s has no setting tuner_type", "ms-swift %s 没有设置 tuner_type"}, c.version).
				Hint(msg.Text{"before 4.0 it is called train_type", "4.0 之前名为 train_type"}))
			return true
		}
	case "trl":
		// transformers 5.24, which 1.16.0 is used with, has dropped them
		if before(c.version, trlVersion) && (name == "warmup_ratio" || name == "overwrite_output_dir" || name == "torch_dtype" && before(c.version, "0.24.0")) {
			return true
		}
		if name == "warmup_ratio" {
			c.report("unknown_setting", p.Key, fail.New(fail.Config, msg.Text{"TRL %s has no setting warmup_ratio", "TRL %s 没有设置 warmup_ratio"}, c.version).
				Hint(msg.Text{"write warmup_steps: %s, which below 1 is a part of the steps", "请写 warmup_steps: %s；小于 1 时表示占总步数的比例"}, p.Value.Value))
			return true
		}
	}
	return false
}
