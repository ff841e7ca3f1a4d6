package launch

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/drydock-ml/drydock/dataprep/emit"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/spec"
	"github.com/drydock-ml/drydock/launch/feed"
	"github.com/drydock-ml/drydock/launch/parity"

	"go.yaml.in/yaml/v3"
)

// A TrainingFile is a trainer's own training file, as far as it decides what the
// model is fed.
type TrainingFile struct {
	Template string // as written; "" is the model's own, Qwen3's
	// Known reports whether the template's text is known here; Settings.Feed is
	// nil where it is not.
	Known    bool
	At       fail.Where // of the template, or of the file
	Settings feed.Settings
	// Contract is what the settings come to: empty-think-masked, plain, or ""
	// for a trained block with reasoning or without.
	Contract  emit.Contract
	MaxLength int // the trainer's limit in tokens; 0: none
	Datasets  []Dataset
}

// A Dataset is a file of rows that a training file names.
type Dataset struct {
	Name    string // of LLaMA-Factory's dataset_info.json
	File    string // path of the rows
	Columns parity.Columns
	// System is what LLaMA-Factory adds to every row's system turn.
	System string
}

// ReadTrainingFile reads a trainer's own training file: YAML, or for ms-swift also
// a shell script whose first command of swift counts. Files it names are looked for
// from the working directory, as the trainers do, and then beside it. The error is
// a list of all that is wrong, or names what of it is not known here.
func ReadTrainingFile(trainer, file string) (*TrainingFile, error) {
	src, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	s := settingsOf(trainer)
	if s == nil {
		return nil, fail.New(fail.Usage, msg.Text{"training files of %s are not read", "不读取 %s 的训练文件"}, trainer)
	}
	name := filepath.ToSlash(file)
	if strings.EqualFold(filepath.Ext(file), ".sh") {
		c := newConfigCheck(s, "", &spec.Document{File: name}, filepath.Dir(file))
		if err := c.script(string(src)); err != nil {
			return nil, err
		}
		return (&trainingReader{c}).read()
	}
	d := spec.Parse(name, src)
	if d.Root == nil {
		return nil, d.Findings()
	}
	c := newConfigCheck(s, "", d, filepath.Dir(file))
	c.values = d.Pairs(d.Root, msg.Text{"the training file", "训练文件"})
	c.command = commandOf(c)
	return (&trainingReader{c}).read()
}

// A trainingReader takes from a configuration what decides what is fed.
type trainingReader struct{ *configCheck }

func (r *trainingReader) read() (*TrainingFile, error) {
	t := &TrainingFile{Known: true, At: fail.Where{File: r.doc.File}}
	t.Settings.Trainer, t.Settings.Version = r.settings.trainer, r.settings.version
	var err error
	switch r.settings.trainer {
	case "llamafactory":
		err = r.llamaFactoryFile(t)
	case "swift":
		err = r.swiftFile(t)
	case "trl":
		err = r.trlFile(t)
	case "axolotl":
		err = r.axolotlFile(t)
	}
	if found := r.doc.Findings(); len(found) > 0 {
		return nil, found
	}
	if err != nil {
		return nil, err
	}
	if len(t.Datasets) == 0 {
		return nil, fail.New(fail.Config, msg.Text{"it names no dataset", "未指定 dataset"}).At(fail.Where{File: r.doc.File})
	}
	return t, nil
}

// script takes the settings of the first command of ms-swift in a shell script.
func (c *configCheck) script(src string) error {
	words, err := shellWords(src)
	if err != nil {
		return err.At(fail.Where{File: c.doc.File, Line: err.Where.Line})
	}
	for i, w := range words {
		if filepath.Base(w) == c.settings.trainer {
			end := i
			for end < len(words) && words[end] != commandEnd {
				end++
			}
			c.argv(words[i:end])
			return nil
		}
	}
	return fail.New(fail.Config, msg.Text{"it starts no %s", "其中没有启动 %s"}, c.settings.trainer).At(fail.Where{File: c.doc.File})
}

// limit reads the setting that bounds the tokens of a row.
func (r *trainingReader) limit(name string, missing int) int {
	v := r.text(name)
	if v == "" {
		return missing
	}
	n, err := strconv.Atoi(v)
	if err != nil || n < 1 {
		r.wrong(r.value(name), fail.New(fail.Config, msg.Text{"%s must be a whole number above 0, not %s", "%s 必须是大于 0 的整数，而不是 %s"}, name, v))
	}
	return n
}

// wrong reports what is wrong with the value at of a setting.
func (r *trainingReader) wrong(at *yaml.Node, e *fail.Error) {
	if r.line {
		at = nil
	}
	r.doc.ReportError(at, e)
}

// unknown reports a value, at a place, under which it is not known what is fed.
func (r *trainingReader) unknown(at *yaml.Node, name, value string) {
	r.wrong(at, fail.New(fail.Config, msg.Text{"what is fed under %s: %s is not known", "不清楚 %s: %s 时送入的内容"}, name, value).
		Hint(msg.Text{"drydock template check ROWS compares the rows under the settings that drydock train writes", "drydock template check ROWS 会按 drydock train 写出的设置比较数据"}))
}

// says adds a setting to what is shown of the file.
func (t *TrainingFile) says(words ...string) { t.Settings.Words = append(t.Settings.Words, words...) }

// file adds a file of rows.
func (r *trainingReader) file(t *TrainingFile, name string, columns parity.Columns) {
	if _, err := os.Stat(name); err != nil && !filepath.IsAbs(name) {
		name = filepath.Join(r.dir, filepath.FromSlash(name))
	}
	t.Datasets = append(t.Datasets, Dataset{File: name, Columns: columns})
}

// entry returns a value of a mapping in a list; nil when it is not there.
func entry(d *yaml.Node, name string) *yaml.Node {
	if v := spec.ValueOf(d, name); v != d {
		return v
	}
	return nil
}

// rowFiles are the files of an entry of datasets: data_files, or else path.
func rowFiles(d *yaml.Node) []string {
	if files := texts(entry(d, "data_files")); len(files) > 0 {
		return files
	}
	return texts(entry(d, "path"))
}

// texts returns a setting that is one text or a list of them.
func texts(n *yaml.Node) []string {
	switch {
	case n == nil || n.Tag == "!!null":
		return nil
	case n.Kind == yaml.SequenceNode:
		var out []string
		for _, e := range n.Content {
			out = append(out, texts(e)...)
		}
		return out
	case n.Kind == yaml.ScalarNode:
		return []string{n.Value}
	}
	return nil
}

// swiftFile reads the settings of ms-swift.
func (r *trainingReader) swiftFile(t *TrainingFile) error {
	t.Template, t.MaxLength = r.text("template"), r.limit("max_length", 0)
	o := feed.Swift{Template: t.Template, DisableIgnoreEmptyThink: r.is("disable_ignore_empty_think"), NoNonThinkingPrefix: r.text("add_non_thinking_prefix") != "" && !r.is("add_non_thinking_prefix")}
	scale := r.text("loss_scale")
	switch {
	case scale == "last_round", scale == "" && r.command == "rlhf":
		o.LastRound = true
	case scale == "", scale == "default", r.command == "pt":
	default:
		r.unknown(r.value("loss_scale"), "loss_scale", scale)
	}
	if r.has("columns") && r.command != "pt" {
		r.unknown(r.value("columns"), "columns", strings.Join(texts(r.value("columns")), " "))
	}
	switch t.Template {
	case "", "qwen3", "qwen3_nothinking", "qwen3_thinking":
		t.Settings.Feed = o.Feeder()
	default:
		t.Known = false
	}
	usual := "default"
	if o.LastRound {
		usual = "last_round"
	}
	t.says("--template "+orWord(t.Template, "qwen3"), "--loss_scale "+orWord(scale, usual))
	switch {
	case t.Template != "" && t.Template != "qwen3", o.NoNonThinkingPrefix:
		t.Contract = emit.Plain
		t.says("--add_non_thinking_prefix " + strconv.FormatBool(!o.NoNonThinkingPrefix))
	case !o.DisableIgnoreEmptyThink:
		t.Contract = emit.EmptyThinkMasked
	default:
		t.says("--disable_ignore_empty_think true")
	}
	for _, name := range texts(r.value("dataset")) {
		name, _, _ = strings.Cut(name, "#") // how many rows of it
		r.file(t, name, parity.Columns{})
	}
	return nil
}

// trlFile reads the settings of TRL.
func (r *trainingReader) trlFile(t *TrainingFile) error {
	t.MaxLength = r.limit("max_length", 1024)
	if t.Template = r.text("chat_template_path"); t.Template != "" {
		t.Known, t.At = false, r.doc.Where(r.value("chat_template_path"))
	}
	if v := r.value("completion_only_loss"); v != nil && v.Tag != "!!null" && !r.is("completion_only_loss") {
		r.unknown(v, "completion_only_loss", v.Value)
	}
	only := feed.TRL{AssistantOnlyLoss: r.is("assistant_only_loss")}
	if t.Known {
		t.Settings.Feed = only.Feeder()
		made := t.Settings
		t.Settings.Of = func(l feed.Layout) *feed.Settings {
			out := made
			if l.Prompt {
				o := feed.TRL{PromptCompletion: true, NoThinking: l.NoThinking}
				out.Feed, out.Pair = o.Feeder(), o.Pair()
			}
			return &out
		}
	}
	t.says("assistant_only_loss: " + strconv.FormatBool(only.AssistantOnlyLoss))
	columns := parity.Columns{}
	if name := r.text("dataset_text_field"); name != "" && name != "text" {
		columns = parity.Columns{Strict: true, Text: name}
	}
	list := r.value("datasets")
	if list == nil {
		if name := r.text("dataset_name"); name != "" {
			r.file(t, name, columns)
		}
		return nil
	}
	for _, d := range list.Content {
		for _, name := range rowFiles(d) {
			r.file(t, name, columns)
		}
	}
	return nil
}

// axolotlFile reads the settings of axolotl.
func (r *trainingReader) axolotlFile(t *TrainingFile) error {
	t.MaxLength = r.limit("sequence_len", 512)
	if name := r.text("chat_template"); name != "" && name != "tokenizer_default" && name != "qwen3" {
		t.Template, t.Known, t.At = name, false, r.doc.Where(r.value("chat_template"))
	}
	list := r.value("datasets")
	if list == nil {
		return nil
	}
	var told []string
	for i, d := range list.Content {
		chat, columns, words := r.axolotlDataset(d)
		if i > 0 && strings.Join(words, "\n") != strings.Join(told, "\n") {
			r.doc.Report(d, msg.Text{"its settings differ from those of the dataset before it: check them one by one", "其设置与前一个数据集不同：请分别检查"})
		}
		told = words
		if t.Known {
			t.Settings.Feed, t.Settings.Pair = feed.Axolotl{}.Feeder(), feed.Axolotl{}.Pair()
		}
		t.Contract = "" // of pairs the block is always trained, and segments say it themselves
		if chat && r.text("rl") == "" {
			t.Contract = emit.EmptyThinkMasked
		}
		for _, name := range rowFiles(d) {
			r.file(t, name, columns)
		}
	}
	t.says(told...)
	return nil
}

// axolotlDataset reads an entry of axolotl's datasets; chat says that its rows are
// rendered.
func (r *trainingReader) axolotlDataset(d *yaml.Node) (chat bool, columns parity.Columns, words []string) {
	field := func(name string) (*yaml.Node, string) {
		n := entry(d, name)
		return n, strings.Join(texts(n), ",")
	}
	n, kind := field("type")
	words = []string{"type: " + orWord(kind, "null")}
	switch kind {
	case "completion":
		if _, text := field("field"); text != "" {
			columns = parity.Columns{Strict: true, Text: text}
		}
		return false, columns, words
	case "", "input_output":
		return false, columns, words
	case "chat_template", "chat_template.default":
	default:
		r.unknown(n, "type", kind)
		return false, columns, words
	}
	for _, usual := range []string{"messages", "chosen", "rejected"} {
		name := "field_" + usual
		if n, v := field(name); v != "" && v != usual && v != "conversations" {
			r.unknown(n, name, v)
		}
	}
	for _, name := range []string{"message_field_training", "message_field_training_detail", "roles", "split_thinking"} {
		if n, _ := field(name); n != nil {
			r.unknown(n, name, n.Value)
		}
	}
	trained, eos := axolotlLoss(d, "roles_to_train", "assistant"), axolotlLoss(d, "train_on_eos", "turn")
	switch {
	case trained != "assistant":
		r.unknown(entry(d, "roles_to_train"), "roles_to_train", trained)
	case eos != "turn":
		r.unknown(entry(d, "train_on_eos"), "train_on_eos", eos)
	}
	return true, columns, append(words, "roles_to_train: "+trained, "train_on_eos: "+eos)
}

// axolotlLoss is a setting of an entry as text; missing where it is not there or
// null, which axolotl's reader leaves out.
func axolotlLoss(d *yaml.Node, name, missing string) string {
	n := entry(d, name)
	switch {
	case n == nil || n.Tag == "!!null":
		return missing
	case n.Kind == yaml.SequenceNode && len(n.Content) == 0:
		return "[]"
	}
	return strings.Join(texts(n), ",")
}
