package pipeline

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/dataprep/emit"
	"github.com/drydock-ml/drydock/dataprep/step"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/spec"
	"github.com/drydock-ml/drydock/launch"

	"go.yaml.in/yaml/v3"
)

// ConfigName is the file a project is known by.
const ConfigName = "drydock.yaml"

// A Config is a drydock.yaml, decoded and checked.
type Config struct {
	File          string              // the path it was read from
	Dir           string              // the project's folder; paths in the file are relative to it
	Source        []byte              // the bytes it was read from
	Version       int                 `yaml:"version" help:"Version of this file's form; 1." zh:"本文件格式的版本；1。" required:"true"`
	Seed          uint64              `yaml:"seed" help:"Seed of everything random." zh:"一切随机过程的种子。"`
	Sources       []SourceConfig      `yaml:"sources" help:"Input files." zh:"输入文件。" required:"true"`
	Fixes         string              `yaml:"fixes" help:"File of corrections to questions, as drydock question review writes it." zh:"题目修正文件，由 drydock question review 写出。"`
	Images        string              `yaml:"images" help:"Folder to which the images of questions are copied, as FILE/NAME." zh:"题目图片复制到的文件夹，路径为 FILE/NAME。"`
	Steps         stepList            `yaml:"steps" help:"What is done to the text and the records, in order; parse_questions and split_sections when left out." zh:"按顺序对文本和记录执行的步骤；省略时为 parse_questions 与 split_sections。"`
	Dedup         DedupConfig         `yaml:"dedup" help:"Removal of duplicates." zh:"去除重复。"`
	Benchmarks    []BenchmarkConfig   `yaml:"benchmarks" help:"Benchmarks that only this project knows." zh:"仅本项目使用的评测集。"`
	Contamination ContaminationConfig `yaml:"contamination" help:"The check against the benchmarks." zh:"与评测集的污染检查。"`
	Mix           *MixConfig          `yaml:"mix" help:"How much of what the outputs hold: weights and quotas by source, subject, language and kind." zh:"输出的配比：按来源、主题、语言与类型设置权重和配额。"`
	Split         *SplitConfig        `yaml:"split" help:"Records kept from training, in files of their own (x.jsonl and x.dev.jsonl)." zh:"不参与训练的记录，另存为独立文件（x.jsonl 与 x.dev.jsonl）。"`
	SpecialTokens string              `yaml:"special_tokens" enum:"refuse,escape" help:"Records in whose text a control token of the model is spelled out (<|im_end|>): refuse drops them, escape writes <\\|im_end|> in training rows." zh:"文本中写出模型控制 token（<|im_end|>）的记录：refuse 丢弃，escape 在训练数据中写为 <\\|im_end|>。"`
	Output        outputList          `yaml:"output" help:"Files to write." zh:"要写出的文件。" required:"true"`
	Card          CardConfig          `yaml:"card" help:"Texts of the data card that only people know." zh:"数据卡中只有人知道的内容。"`
	Train         trainConfig         `yaml:"train" help:"The trainer and its options." zh:"训练器及其选项。"`
	Eval          EvalConfig          `yaml:"eval" help:"Evaluation of baselines or a served model." zh:"对基线或已部署模型的评测。"`
	Submission    SubmissionConfig    `yaml:"submission" help:"The challenge package." zh:"竞赛提交包。"`
}

// A SourceConfig is one entry of sources.
type SourceConfig struct {
	spec.Place
	Name            string   `yaml:"name" help:"Name of the source in every output." zh:"该来源在所有输出中的名称。" required:"true"`
	Path            []string `yaml:"path" help:"File, folder or pattern (* and **), or a list of them." zh:"文件、文件夹或通配模式（* 与 **），或其列表。" required:"true"`
	Lang            string   `yaml:"lang" help:"Language (BCP 47); found per record when empty." zh:"语言（BCP 47）；为空时逐条识别。"`
	License         string   `yaml:"license" help:"SPDX id or the terms in words." zh:"SPDX 标识或许可条款说明。"`
	As              string   `yaml:"as" help:"What the files hold; found out when empty." zh:"文件内容的类型；为空时自动判断。" enum:"question,passage"`
	Key             string   `yaml:"key" help:"A second file that holds the answers." zh:"存放答案的第二个文件。"`
	Encoding        string   `yaml:"encoding" help:"Text encoding; found out when empty." zh:"文本编码；为空时自动识别。"`
	HTML            string   `yaml:"html" help:"What of web pages is read: main is the content, whole is menus and side columns, too; main when empty." zh:"网页的读取范围：main 为正文，whole 还包括菜单和侧栏；为空时为 main。" enum:"main,whole"`
	PasswordFile    string   `yaml:"password_file" help:"File with the password of encrypted inputs." zh:"含有加密文件密码的文件。"`
	AllowRestricted bool     `yaml:"allow_restricted" help:"Read PDF files whose owner forbids extraction." zh:"读取所有者禁止提取内容的 PDF。"`
	OCRCommand      string   `yaml:"ocr_command" help:"Program that reads PDF pages which show only a picture; {} is the picture's path, the text comes on stdout." zh:"识别仅有图片的 PDF 页面的程序；{} 为图片路径，文字由标准输出给出。"`
}

// DedupConfig says which duplicates go.
type DedupConfig struct {
	spec.Place
	Exact  bool        `yaml:"exact" help:"Remove records equal after normalisation; the first stays." zh:"去除规范化后相同的记录；保留第一条。"`
	Near   *NearConfig `yaml:"near" help:"Remove near duplicates, too; what differs in a number, unit, polarity, symbol or answer stays and is listed in build/dedup.jsonl." zh:"同时去除近似重复；数字、单位、正反义、符号或答案不同的予以保留，并列入 build/dedup.jsonl。"`
	Prefer []string    `yaml:"prefer" help:"Sources whose records stay before others, in order." zh:"优先保留其记录的来源，按顺序。"`
}

// NearConfig says when records are near.
type NearConfig struct {
	spec.Place
	Threshold float64 `yaml:"threshold" help:"Least similarity, above 0.5 and below 1; 0.85 when left out." zh:"最低相似度，大于 0.5 且小于 1；省略时为 0.85。"`
}

// threshold is that of near duplicates; 0: none are looked for.
func (c DedupConfig) threshold() float64 {
	if c.Near == nil {
		return 0
	}
	return c.Near.Threshold
}

// A BenchmarkConfig registers a benchmark for this project.
type BenchmarkConfig struct {
	spec.Place
	Name string `yaml:"name" help:"Name to use in contamination and eval." zh:"在 contamination 与 eval 中使用的名称。" required:"true"`
	Path string `yaml:"path" help:"The items: JSON array, JSONL or CSV." zh:"题目文件：JSON 数组、JSONL 或 CSV。" required:"true"`
	Like string `yaml:"like" help:"Benchmark whose prompt and rule it has." zh:"沿用其提示词与判分规则的评测集。"`
}

// ContaminationConfig says what to check against and what becomes of leaks.
type ContaminationConfig struct {
	spec.Place
	Against []string `yaml:"against" help:"Benchmarks (registered, of this project, or files)." zh:"评测集（已登记的、本项目的，或文件）。"`
	OnHit   string   `yaml:"on_hit" help:"What becomes of a leak." zh:"如何处理泄漏的记录。" enum:"drop,mask,annotate,quarantine"`

	Thresholds ThresholdsConfig `yaml:"thresholds" help:"From where on a match is what; for specialists." zh:"各类判定的阈值；供专业人员使用。"`
}

// CardConfig holds what cannot be computed.
type CardConfig struct {
	Title string `yaml:"title" help:"Name of the data set." zh:"数据集名称。"`
}

// EvalConfig says what to evaluate and how.
type EvalConfig struct {
	spec.Place
	Benchmarks  []string `yaml:"benchmarks" help:"Benchmarks to ask." zh:"要运行的评测集。"`
	Endpoints   []string `yaml:"endpoints" help:"builtin:majority, builtin:lookup, or a base URL." zh:"builtin:majority、builtin:lookup 或服务地址。"`
	BaseURL     string   `yaml:"base_url" help:"OpenAI-compatible server, with /v1." zh:"OpenAI 兼容服务地址，含 /v1。"`
	Model       string   `yaml:"model" help:"Model name, as the server lists it under /v1/models." zh:"模型名称，与服务器 /v1/models 所列一致。"`
	Concurrency int      `yaml:"concurrency" help:"Requests at a time; 0 finds out." zh:"并发请求数；0 为自动。"`
	MinAcc      float64  `yaml:"min_acc" help:"Below this accuracy the run ends with 12." zh:"准确率低于此值时以 12 退出。"`
}

// SubmissionConfig says what goes into the package.
type SubmissionConfig struct {
	spec.Place
	Team    string   `yaml:"team" help:"Name of the team." zh:"队伍名称。"`
	Methods []string `yaml:"methods" help:"Methods used: sft, lora, qlora, cpt, dpo, rag, graphrag, agent, workflow." zh:"使用的方法：sft、lora、qlora、cpt、dpo、rag、graphrag、agent、workflow。"`
	Report  string   `yaml:"report" help:"The technical report, DOCX or PDF." zh:"技术报告，DOCX 或 PDF。"`
	Results string   `yaml:"results" help:"The evaluation that is graded: an endpoint of eval." zh:"参与评分的评测：eval 中的一个端点。"`
	Path    string   `yaml:"path" help:"Where the package is written." zh:"提交包写出位置。"`
}

// A namedStep is one entry of steps: a parser or a record step.
type namedStep struct {
	name   string
	parser drydock.Parser
	step   drydock.Step
	params string // canonical text of its options, for the stage key
	node   *yaml.Node
}

type stepList []namedStep

// DecodeSpec reads "- name:" entries.
func (l *stepList) DecodeSpec(d *spec.Document, n *yaml.Node, what any) {
	*l = nil
	for _, it := range d.Items(n, what, false) {
		key, val := oneEntry(d, it, what)
		if key == nil {
			continue
		}
		s := namedStep{name: key.Value, params: canonical(val), node: val}
		ok := false
		if p, found := spec.Find(step.Parsers(), s.name); found {
			s.parser, ok = p.Build(d, val, component("step", "步骤", s.name))
		} else if r, found := spec.Find(step.Steps(), s.name); found {
			s.step, ok = r.Build(d, val, component("step", "步骤", s.name))
		} else {
			unknown(d, key, component("step", "步骤", s.name), append(spec.Names(step.Parsers()), spec.Names(step.Steps())...))
		}
		if ok {
			*l = append(*l, s)
		}
	}
}

// defaultSteps are the two parsers: questions where there are some, else text.
func defaultSteps() *yaml.Node {
	n := &yaml.Node{Kind: yaml.SequenceNode}
	for _, name := range []string{"parse_questions", "split_sections"} {
		n.Content = append(n.Content, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: name})
	}
	return n
}

// A namedOutput is one entry of output.
type namedOutput struct {
	shape   string
	builder emit.Builder
	params  string
	node    *yaml.Node
}

func (o namedOutput) path() string { return o.builder.Path() }

// contract names the template contract of training rows; "" for other rows.
func (o namedOutput) contract() emit.Contract {
	if k, ok := o.builder.(emit.Contracted); ok {
		return k.Contract()
	}
	return ""
}

// prompt names the template of the user turn; "" when the shape has none.
func (o namedOutput) prompt() string {
	if p, ok := o.builder.(emit.Prompted); ok {
		return p.Prompt()
	}
	return ""
}

type outputList []namedOutput

// DecodeSpec reads "- shape: {path: …}" entries.
func (l *outputList) DecodeSpec(d *spec.Document, n *yaml.Node, what any) {
	*l = nil
	for _, it := range d.Items(n, what, false) {
		key, val := oneEntry(d, it, what)
		if key == nil {
			continue
		}
		name := component("output", "输出", key.Value)
		sp, found := spec.Find(emit.Emitters(), key.Value)
		if !found {
			unknown(d, key, name, spec.Names(emit.Emitters()))
			continue
		}
		b, ok := sp.Build(d, val, name)
		if ok && b.Path() == "" {
			d.Report(it, msg.Text{"%s needs the option %q", "%s 缺少选项 %q"}, name, "path")
			ok = false
		}
		if ok {
			*l = append(*l, namedOutput{key.Value, b, canonical(val), val})
		}
	}
}

// trainConfig is one trainer and its options, and whether a run starts it.
type trainConfig struct {
	name    string
	dryRun  bool
	trainer launch.Trainer
	params  string
	node    *yaml.Node
	options *yaml.Node // of the trainer
}

// DecodeSpec reads "{trainer: options}", with dry_run beside it.
func (t *trainConfig) DecodeSpec(d *spec.Document, n *yaml.Node, what any) {
	*t = trainConfig{node: n}
	var names []spec.Pair
	for _, p := range d.Pairs(n, what) {
		if p.Key.Value == "dry_run" {
			var o struct {
				DryRun bool `yaml:"dry_run"`
			}
			one := yaml.Node{Kind: yaml.MappingNode, Content: []*yaml.Node{p.Key, p.Value}}
			d.Decode(&one, &o, what)
			t.dryRun = o.DryRun
			continue
		}
		names = append(names, p)
	}
	trainers := 0
	for _, p := range names {
		sp, found := spec.Find(launch.Trainers(), p.Key.Value)
		if !found {
			unknown(d, p.Key, component("trainer", "训练器", p.Key.Value), append(spec.Names(launch.Trainers()), "dry_run"))
			continue
		}
		trainers++
		if tr, ok := sp.Build(d, p.Value, component("trainer", "训练器", p.Key.Value)); ok {
			t.name, t.params, t.trainer, t.options = p.Key.Value, canonical(p.Value), tr, p.Value
		}
	}
	if trainers > 1 || len(names) == 0 {
		d.Report(n, msg.Text{"train needs exactly one trainer", "train 需要且只需要一个训练器"})
	}
}

// oneEntry reads a node that is a name or a mapping with one entry.
func oneEntry(d *spec.Document, n *yaml.Node, what any) (key, val *yaml.Node) {
	if n.Kind == yaml.ScalarNode && n.Tag != "!!null" {
		return n, nil
	}
	pairs := d.Pairs(n, what)
	if len(pairs) != 1 {
		d.Report(n, msg.Text{"each entry of %s is one name with its options", "%s 的每一项是一个名称及其选项"}, what)
		return nil, nil
	}
	return pairs[0].Key, pairs[0].Value
}

func unknown(d *spec.Document, n *yaml.Node, what any, names []string) {
	d.Report(n, msg.Text{"there is no %s", "不存在%s"}, what).NearOr(n.Value, names, msg.Text{"known: %s", "可用：%s"})
}

// canonical writes a node so that formatting and comments do not change a
// stage's key, but every value does.
func canonical(n *yaml.Node) string {
	if n == nil {
		return ""
	}
	var b strings.Builder
	var walk func(*yaml.Node, int)
	walk = func(n *yaml.Node, depth int) {
		if depth > 64 {
			return
		}
		switch n.Kind {
		case yaml.ScalarNode:
			b.WriteString(strconv.Quote(n.Value))
		case yaml.AliasNode:
			walk(n.Alias, depth+1)
		default:
			b.WriteByte('[')
			for _, c := range n.Content {
				walk(c, depth+1)
				b.WriteByte(' ')
			}
			b.WriteByte(']')
		}
	}
	walk(n, 0)
	return b.String()
}

type named struct{ en, zh, name string }

func (n named) In(l msg.Lang) string {
	if l == msg.Zh {
		return n.zh + " " + n.name
	}
	return n.en + " " + n.name
}

func component(en, zh, name string) msg.Localizer { return named{en, zh, name} }

// Load reads a drydock.yaml and checks everything that can be checked without
// running: all findings come back at once. The config is usable only when there
// are none.
func Load(path string) (*Config, fail.List) {
	src, err := os.ReadFile(path)
	if err != nil {
		e := fail.New(fail.Config, msg.Text{"%v", "%v"}, err)
		if os.IsNotExist(err) {
			e = fail.New(fail.Config, msg.Text{"there is no such file", "文件不存在"}).
				Hint(msg.Text{"drydock init writes one; -C names another folder", "drydock init 会写出一份；-C 可指定其他文件夹"})
		}
		return nil, fail.List{e.At(fail.Where{File: path})}
	}
	return Parse(path, src)
}

// LoadFor is Load, and looks up the benchmarks the file names among those
// registered under home, so that a user sees every mistake at once.
func LoadFor(path, home string) (*Config, fail.List) {
	c, findings := Load(path)
	if c == nil {
		return nil, findings
	}
	_, unresolved := c.Resolve(home)
	for _, e := range unresolved {
		// a benchmark of the project that cannot be read has been reported already
		if !slices.ContainsFunc(c.Benchmarks, func(b BenchmarkConfig) bool { return strings.Contains(e.Error(), b.Path) && len(findings) > 0 }) {
			findings = append(findings, e)
		}
	}
	slices.SortStableFunc(findings, func(a, b *fail.Error) int {
		return cmp.Or(cmp.Compare(a.Where.Line, b.Where.Line), cmp.Compare(a.Where.Column, b.Where.Column))
	})
	return c, findings
}

// Parse is Load for bytes already read.
func Parse(path string, src []byte) (*Config, fail.List) {
	d := spec.Parse(path, src)
	if d.Root == nil {
		return nil, d.Findings()
	}
	c := &Config{File: path, Dir: filepath.Dir(path), Source: src}
	c.Dedup.Exact = true
	c.Contamination.OnHit = "drop"
	c.SpecialTokens = "refuse"
	c.Steps.DecodeSpec(d, defaultSteps(), "steps")
	d.Decode(d.Root, c, component("file", "文件", filepath.Base(path)))
	if c.Split != nil && c.Split.By == "" {
		c.Split.By = "item"
	}
	c.lint(d)
	if n := c.Contamination.Thresholds.Node; n != nil {
		c.Contamination.Thresholds.check(d, n)
	}
	return c, d.Findings()
}
