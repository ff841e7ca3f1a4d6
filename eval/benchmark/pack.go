package benchmark

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/spec"

	"go.yaml.in/yaml/v3"
)

// Schema is the first line of every pack.
const Schema = "drydock.benchmark/1"

// A Pack declares a benchmark: what data/benchmarks/NAME.yaml and a user's own
// registration hold. With Like, whatever is left out comes from that benchmark.
type Pack struct {
	Schema      string `yaml:"schema" help:"Version of this file's shape." zh:"本文件的格式版本。"`
	Name        string `yaml:"name" help:"What the benchmark is called on the command line." zh:"命令行中的名称。"`
	Like        string `yaml:"like,omitempty" help:"A shipped benchmark whose prompt and rules this one shares." zh:"与之共用提示模板和规则的内置评测集。"`
	Revision    string `yaml:"revision,omitempty" help:"Which prompt and rules: tool and version." zh:"提示模板与规则的出处：工具和版本。"`
	Kind        string `yaml:"kind,omitempty" enum:"choice,qa" help:"Form of the items." zh:"题目形式。"`
	Title       string `yaml:"title,omitempty" help:"Name shown in reports." zh:"报告中显示的名称。"`
	Dataset     string `yaml:"dataset,omitempty" help:"Id on the hub." zh:"数据集在平台上的编号。"`
	Description string `yaml:"description,omitempty" help:"One paragraph." zh:"一段说明。"`
	// LongDescription stands in the reports of EvalScope's newer schema.
	LongDescription string   `yaml:"long_description,omitempty" help:"Text of newer reports." zh:"新版报告中的说明。"`
	Tags            []string `yaml:"tags,omitempty" help:"Words reports carry." zh:"报告中的标签。"`
	Items           int      `yaml:"items,omitempty" help:"How many items there are; 0: not fixed." zh:"题目数；0 表示不固定。"`
	ItemsSHA256     string   `yaml:"items_sha256,omitempty" help:"Canonical hash of the items; empty: not fixed." zh:"题目的规范哈希；空表示不固定。"`
	Rule            string   `yaml:"rule,omitempty" help:"How the answer is read." zh:"抽取答案的规则。"`
	OtherRule       string   `yaml:"other_rule,omitempty" help:"The rule other versions use; differences are reported." zh:"其他版本使用的规则；差异会列出。"`
	Prompt          string   `yaml:"prompt,omitempty" help:"Template with {question} and {choices}; {letters} is A,B,C and {subject} the item's." zh:"含 {question} 和 {choices} 的模板；{letters} 为 A,B,C，{subject} 为题目的科目。"`
	// PromptSHA256 guards a template that must not change by a stray editor.
	PromptSHA256 string `yaml:"prompt_sha256,omitempty" help:"sha256 of the template; empty: not checked." zh:"模板的 sha256；空表示不校验。"`
	// OptionFormat is how one option is shown.
	OptionFormat string `yaml:"option_format,omitempty" help:"One option, with {letter} and {text}; default {letter}. {text}" zh:"单个选项，含 {letter} 和 {text}；默认 {letter}. {text}"`
	MaxOptions   int    `yaml:"max_options,omitempty" help:"Most options an item has, up to 26; default 4." zh:"每题选项数上限，最多 26；默认 4。"`
	Answers      string `yaml:"answers,omitempty" enum:"one,several" help:"How many options are right." zh:"正确选项的个数。"`
	// Examples is how many answered items stand before the question.
	Examples       int    `yaml:"examples,omitempty" help:"Answered examples shown before the question." zh:"题目之前展示的示例数。"`
	ExampleFormat  string `yaml:"example_format,omitempty" help:"One example, with {question}, {choices} and {answer}." zh:"单个示例，含 {question}、{choices} 和 {answer}。"`
	ExamplesPrompt string `yaml:"examples_prompt,omitempty" help:"Text around the examples, with {examples}; stands before the prompt." zh:"示例的外层文本，含 {examples}；置于提示之前。"`
	File           string `yaml:"file,omitempty" help:"The items, beside this file." zh:"题目文件，相对于本文件。"`
	ExamplesFile   string `yaml:"examples_file,omitempty" help:"The examples, beside this file." zh:"示例文件，相对于本文件。"`
}

// ParsePack reads a pack. file names it in errors. base finds the benchmark a
// pack is like; nil allows none.
func ParsePack(file string, src []byte, base func(name string) (*Pack, bool)) (*Pack, error) {
	d := spec.Parse(file, src)
	p := &Pack{}
	if d.Root != nil {
		d.Decode(d.Root, p, msg.Text{"a benchmark", "评测集"})
	}
	if err := d.Findings().OrNil(); err != nil {
		return nil, err
	}
	if err := p.check(base); err != nil {
		return nil, err.At(fail.Where{File: file})
	}
	return p, nil
}

func (p *Pack) check(base func(name string) (*Pack, bool)) *fail.Error {
	if p.Schema != Schema {
		return fail.New(fail.Config, msg.Text{"schema is %q, this program reads %q", "schema 为 %q，本程序读取 %q"}, p.Schema, Schema)
	}
	if p.Like != "" {
		var b *Pack
		if base != nil {
			b, _ = base(p.Like)
		}
		if b == nil {
			return fail.New(fail.Config, msg.Text{"no benchmark %q to be like", "没有可参照的评测集 %q"}, p.Like)
		}
		p.inherit(b)
	}
	if p.Kind != "choice" && p.Kind != "qa" {
		return fail.New(fail.Config, msg.Text{"%s: kind must be choice or qa", "%s：kind 必须为 choice 或 qa"}, p.Name)
	}
	if p.Items < 0 {
		return fail.New(fail.Config, msg.Text{"%s: items cannot be %d", "%s：items 不能为 %d"}, p.Name, p.Items)
	}
	if p.PromptSHA256 != "" {
		if sum := sha256.Sum256([]byte(p.Prompt)); hex.EncodeToString(sum[:]) != p.PromptSHA256 {
			return fail.New(fail.Config, msg.Text{"%s: the prompt is not the one its sha256 names", "%s：提示模板与其 sha256 不符"}, p.Name).
				Hint(msg.Text{"an editor may have changed spaces or line ends", "编辑器可能改动了空格或换行"})
		}
	}
	return nil
}

// inherit takes from b what says how to ask and grade, never the items.
func (p *Pack) inherit(b *Pack) {
	set := func(to *string, from string) {
		if *to == "" {
			*to = from
		}
	}
	set(&p.Revision, b.Revision)
	set(&p.Kind, b.Kind)
	set(&p.Rule, b.Rule)
	set(&p.OtherRule, b.OtherRule)
	if p.Prompt == "" {
		p.Prompt, p.PromptSHA256 = b.Prompt, b.PromptSHA256
	}
	set(&p.OptionFormat, b.OptionFormat)
	set(&p.Answers, b.Answers)
	set(&p.ExampleFormat, b.ExampleFormat)
	set(&p.ExamplesPrompt, b.ExamplesPrompt)
	if p.MaxOptions == 0 {
		p.MaxOptions = b.MaxOptions
	}
	if p.Name == b.Name {
		set(&p.Title, b.Title)
		set(&p.Dataset, b.Dataset)
		set(&p.Description, b.Description)
		set(&p.LongDescription, b.LongDescription)
		if p.Tags == nil {
			p.Tags = b.Tags
		}
	}
	set(&p.Title, p.Name)
}

// LikePack returns the pack that registers items under a name with the prompt
// and rules of another benchmark.
func LikePack(name, like string, items []Item) *Pack {
	return &Pack{Schema: Schema, Name: name, Like: like, Items: len(items), ItemsSHA256: CanonicalHash(items)}
}

// Marshal writes the pack as YAML.
func (p *Pack) Marshal() ([]byte, error) {
	var b strings.Builder
	e := yaml.NewEncoder(&b)
	e.SetIndent(2)
	if err := e.Encode(p); err != nil {
		return nil, err
	}
	if err := e.Close(); err != nil {
		return nil, err
	}
	return []byte(b.String()), nil
}
