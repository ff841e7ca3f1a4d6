package launch

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/drydock-ml/drydock/dataprep/emit"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/launch/feed"
	"github.com/drydock-ml/drydock/launch/parity"
	"github.com/drydock-ml/drydock/qwen3"
)

// thinkingOff is the system text that LLaMA-Factory adds to every row without
// tools under formatting: openai (data/converter.py of 0.9.5).
const thinkingOff = "detailed thinking off"

// flag reads a boolean; null and missing are nil, and text acts as true.
func (r *trainingReader) flag(key string, missing *bool) *bool {
	v, n := r.text(key), r.value(key)
	switch {
	case n == nil:
		return missing
	case v == "":
		return nil
	case n.Tag == "!!str":
		r.doc.Report(n, msg.Text{"%s: %q is text, which LLaMA-Factory takes for true", "%s：%q 是文本，LLaMA-Factory 会当作 true"}, key, v).
			Hint(msg.Text{"write true, false or null without quotes", "请写不带引号的 true、false 或 null"})
		return missing
	}
	b, err := strconv.ParseBool(strings.ToLower(v))
	if err != nil {
		r.doc.Report(n, msg.Text{"%s must be true or false, not %s", "%s 必须是 true 或 false，而不是 %s"}, key, v)
	}
	return &b
}

// llamaFactoryFile reads the settings of LLaMA-Factory.
func (r *trainingReader) llamaFactoryFile(t *TrainingFile) error {
	yes, no := true, false
	thinking, history := r.flag("enable_thinking", &yes), r.flag("mask_history", &no)
	preserve, prompt := r.flag("preserve_thinking", &no), r.flag("train_on_prompt", &no)
	t.Template, t.MaxLength = r.text("template"), r.limit("cutoff_len", 2048)
	if t.Template != "" {
		t.At = r.doc.Where(r.value("template"))
	}
	o := feed.LLaMAFactory{Template: t.Template, EnableThinking: thinking, MaskHistory: isSet(history), PreserveThinking: isSet(preserve), DefaultSystem: r.text("default_system")}
	t.says("template: "+orWord(t.Template, "null"), "enable_thinking: "+word(thinking), "mask_history: "+word(history))
	t.Known = t.Template == "" || slices.Contains(feed.LLaMAFactoryTemplates(), t.Template)
	if t.Known {
		t.Settings.Feed, t.Settings.Pair, t.Settings.Rated = o.Feeder(), o.Pair(), o.Rated()
	}
	if o.DefaultSystem != "" {
		t.says("default_system: " + strconv.Quote(o.DefaultSystem))
	}
	if isSet(prompt) {
		t.says("train_on_prompt: true")
		t.Settings.Feed = wholeLoss(t.Settings.Feed)
	}
	switch {
	case t.Template != "" && t.Template != "qwen3":
		t.Contract = emit.Plain
	case thinking != nil && !*thinking:
		t.Contract = emit.EmptyThinkMasked
	}
	if len(r.doc.Findings()) > 0 {
		return nil // the data sets come after what they need
	}
	return r.datasets(t)
}

func isSet(b *bool) bool { return b != nil && *b }

func word(b *bool) string {
	if b == nil {
		return "null"
	}
	return strconv.FormatBool(*b)
}

func orWord(s, none string) string {
	if s == "" {
		return none
	}
	return s
}

// wholeLoss takes the loss on the question, too.
func wholeLoss(f feed.Feeder) feed.Feeder {
	if f == nil {
		return nil
	}
	return func(c *qwen3.Conversation) (feed.Sample, error) {
		s, err := f(c)
		for i := range s.Loss {
			s.Loss[i] = true
		}
		return s, err
	}
}

// datasets finds the rows the training file names.
func (r *trainingReader) datasets(t *TrainingFile) error {
	names, folder := r.text("dataset"), orWord(r.text("dataset_dir"), "data")
	at := r.doc.Where(r.value("dataset"))
	if names == "" {
		return nil
	}
	if _, err := os.Stat(filepath.Join(folder, emit.DatasetInfoName)); err != nil && !filepath.IsAbs(folder) {
		folder = filepath.Join(r.dir, folder)
	}
	file := filepath.Join(folder, emit.DatasetInfoName)
	src, err := os.ReadFile(file)
	if err != nil {
		return fail.New(fail.Config, msg.Text{"dataset_dir: %v", "dataset_dir：%v"}, err).At(r.doc.Where(r.value("dataset_dir")))
	}
	var info map[string]datasetEntry
	if err := json.Unmarshal(src, &info); err != nil {
		return fail.New(fail.Config, msg.Text{"%v", "%v"}, err).At(fail.Where{File: filepath.ToSlash(file)})
	}
	for name := range strings.SplitSeq(names, ",") {
		name = strings.TrimSpace(name)
		e, there := info[name]
		if !there {
			return fail.New(fail.Config, msg.Text{"%s has no dataset %q", "%s 中没有数据集 %q"}, filepath.ToSlash(file), name).At(at).
				Near(name, slices.Sorted(maps.Keys(info)))
		}
		if e.FileName == "" {
			return fail.New(fail.Config, msg.Text{"the dataset %q is no local file", "数据集 %q 不是本地文件"}, name).At(fail.Where{File: filepath.ToSlash(file)})
		}
		d, err := e.dataset(name, r.text("stage"))
		if err != nil {
			return fail.New(fail.Config, msg.Text{"the dataset %q: %v", "数据集 %q：%v"}, name, err).At(fail.Where{File: filepath.ToSlash(file)})
		}
		d.File = filepath.Join(folder, filepath.FromSlash(e.FileName))
		t.Datasets = append(t.Datasets, d)
	}
	return nil
}

// datasetEntry is an entry of dataset_info.json. Where columns or tags are given
// at all, what they leave out is not there, whatever the default is.
type datasetEntry struct {
	FileName   string             `json:"file_name"`
	Formatting string             `json:"formatting"`
	Columns    map[string]*string `json:"columns"`
	Tags       map[string]*string `json:"tags"`
	Ranking    bool               `json:"ranking"`
}

// dataset says where the rows of an entry stand, for a stage of the training.
func (e *datasetEntry) dataset(name, stage string) (Dataset, error) {
	column := named(e.Columns, map[string]string{"prompt": "instruction", "query": "input", "response": "output", "messages": "conversations"})
	tag := named(e.Tags, map[string]string{"role_tag": "from", "content_tag": "value", "user_tag": "human", "assistant_tag": "gpt", "system_tag": "system"})
	d := Dataset{Name: name, Columns: parity.Columns{
		Strict: true, Prompt: column("prompt"), Query: column("query"), Response: column("response"), History: column("history"),
		Messages: column("messages"), System: column("system"),
		Chosen: ofPairs(e.Ranking, column("chosen")), Rejected: ofPairs(e.Ranking, column("rejected")), Label: column("kto_tag"),
		Role: tag("role_tag"), Content: tag("content_tag"), User: tag("user_tag"), Assistant: tag("assistant_tag"), SystemRole: tag("system_tag"),
	}}
	if pairs := stage == "dpo" || stage == "rm"; pairs != e.Ranking { // data/loader.py of 0.9.5
		return d, fail.New(fail.Config, msg.Text{"ranking is %t, and stage is %s", "ranking 为 %t，而 stage 为 %s"}, e.Ranking, orWord(stage, "sft")).
			Hint(msg.Text{`preference pairs, with "ranking": true, are for the stages dpo and rm, and these take no others`, `偏好对（"ranking": true）只用于 stage dpo 与 rm，且它们只接受偏好对`})
	}
	if stage == "pt" {
		d.Columns = parity.Columns{Strict: true, Text: column("prompt")}
		return d, nil
	}
	need := []string{d.Columns.Messages, d.Columns.Role, d.Columns.Content}
	switch e.Formatting {
	case "", "alpaca":
		d.Columns.Alpaca, need = true, []string{d.Columns.Prompt, d.Columns.Response}
		if e.Ranking {
			need, d.Columns.Response = []string{d.Columns.Prompt}, ""
		}
	case "openai":
		d.System = thinkingOff
	case "sharegpt":
	default:
		return d, fail.New(fail.Config, msg.Text{"formatting %q is none of alpaca, sharegpt, openai", "formatting %q 不是 alpaca、sharegpt、openai 之一"}, e.Formatting)
	}
	if e.Ranking {
		need = append(need, d.Columns.Chosen, d.Columns.Rejected)
	}
	if slices.Contains(need, "") {
		return d, fail.New(fail.Config, msg.Text{"columns and tags, where they are given, must name every field", "给出 columns 或 tags 时必须写全各字段"}).
			Hint(msg.Text{"alpaca needs prompt and response; sharegpt messages, role_tag and content_tag; pairs chosen and rejected", "alpaca 需要 prompt 与 response；sharegpt 需要 messages、role_tag 与 content_tag；偏好对需要 chosen 与 rejected"})
	}
	return d, nil
}

// ofPairs is a column that LLaMA-Factory reads only where ranking is true.
func ofPairs(ranking bool, column string) string {
	if !ranking {
		return ""
	}
	return column
}

// named looks names up in what was given, and else in the defaults.
func named(given map[string]*string, defaults map[string]string) func(key string) string {
	return func(key string) string {
		if given == nil {
			return defaults[key]
		}
		if p := given[key]; p != nil {
			return *p
		}
		return ""
	}
}

// Serving is how a model is to be served, as far as it decides the prompt.
type Serving struct {
	Model string
	// Template is the chat template by name; "" is the model's own, Qwen3's.
	Template   string
	NoThinking bool // enable_thinking is false
}

// Own reports whether the server renders with the model's own template.
func (s Serving) Own() bool { return s.Template == "" || s.Template == "qwen3" }

// ReadServing reads a file such as
//
//	{"model": "Qwen/Qwen3-8B", "chat_template": "qwen3", "chat_template_kwargs": {"enable_thinking": false}}
//
// default_chat_template_kwargs, as vLLM's flag is called, means the same.
func ReadServing(file string, src []byte) (Serving, error) {
	var raw struct {
		Model    string `json:"model"`
		Template string `json:"chat_template"`
		Kwargs   kwargs `json:"chat_template_kwargs"`
		Default  kwargs `json:"default_chat_template_kwargs"`
	}
	if err := json.Unmarshal(src, &raw); err != nil {
		return Serving{}, fail.New(fail.Config, msg.Text{"%v", "%v"}, err).At(fail.Where{File: filepath.ToSlash(file)})
	}
	s := Serving{Model: raw.Model, Template: raw.Template}
	for _, k := range []kwargs{raw.Default, raw.Kwargs} { // a request's own go before
		if k.Thinking != nil {
			s.NoThinking = !*k.Thinking
		}
	}
	return s, nil
}

type kwargs struct {
	Thinking *bool `json:"enable_thinking"`
}
