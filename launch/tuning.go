package launch

import (
	"slices"
	"strconv"
	"strings"

	"github.com/drydock-ml/drydock/dataprep/emit"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/spec"
	"github.com/drydock-ml/drydock/launch/feed"

	"go.yaml.in/yaml/v3"
)

// What is trained, and where.
const (
	lora      = "lora"
	qlora     = "qlora"
	full      = "full"
	deviceCPU = "cpu"
)

// A RowKind says what the rows of a training file hold.
type RowKind string

// The kinds of rows: each trainer takes them in a layout of its own, which drydock
// convert writes.
const (
	RowsChat  RowKind = "chat"  // {"messages": [...]}, the rows of qwen3_chat
	RowsPairs RowKind = "pairs" // a chosen and a rejected answer, in the trainer's layout
	RowsText  RowKind = "text"  // {"text": "..."}
)

// A RowTaker is a trainer that says what rows its method takes; one that is none
// takes what it is given.
type RowTaker interface{ Rows() RowKind }

// RowsOf says what rows a trainer takes; conversations where it does not say, and
// where there is none.
func RowsOf(t Trainer) RowKind {
	if t, ok := t.(RowTaker); ok {
		return t.Rows()
	}
	return RowsChat
}

// tuning are the options of a training, the same for every trainer.
type tuning struct {
	Method       string  `yaml:"method" enum:"lora,qlora,full,dpo,pretrain" help:"What is done: supervised training of an adapter, of an adapter over a 4-bit base, or of all weights; training on pairs of answers (dpo); or on running text (pretrain)." zh:"训练方式：监督训练适配器、4 比特基座上的适配器或全部权重；用成对回答训练（dpo）；或用连续文本继续预训练（pretrain）。"`
	Weights      string  `yaml:"weights" enum:"lora,qlora,full" help:"What dpo and pretrain train." zh:"dpo 与 pretrain 所训练的权重。"`
	Base         string  `yaml:"base" help:"The base model: Qwen/Qwen3-8B, or a folder that holds it." zh:"基座模型：Qwen/Qwen3-8B 或其本地文件夹。"`
	Rank         int     `yaml:"rank" help:"Rank of the adapter." zh:"适配器的秩。"`
	Alpha        int     `yaml:"alpha" help:"Scale of the adapter; 0 is twice the rank." zh:"适配器的缩放；0 表示秩的两倍。"`
	Dropout      float64 `yaml:"dropout" help:"Dropout in the adapter." zh:"适配器的 dropout。"`
	Epochs       float64 `yaml:"epochs" help:"Passes over the data." zh:"训练轮数。"`
	MaxSteps     int     `yaml:"max_steps" help:"Steps after which it ends, however many epochs that is; 0: by epochs." zh:"到此步数即结束，不论轮数；0 表示按轮数。"`
	LearningRate float64 `yaml:"learning_rate" help:"Peak learning rate." zh:"学习率峰值。"`
	Warmup       float64 `yaml:"warmup" help:"Part of the steps in which the learning rate rises." zh:"学习率上升阶段占总步数的比例。"`
	BatchSize    int     `yaml:"batch_size" help:"Rows per device and step." zh:"每个设备每步的样本数。"`
	Accumulate   int     `yaml:"accumulate" help:"Steps whose gradients are added up." zh:"梯度累积步数。"`
	MaxTokens    int     `yaml:"max_tokens" help:"Longest row in tokens. LLaMA-Factory and TRL cut longer ones, ms-swift leaves them out, axolotl refuses to start." zh:"单行最大 token 数。更长的行：LLaMA-Factory 与 TRL 截断，ms-swift 丢弃，axolotl 拒绝启动。"`
	SaveSteps    int     `yaml:"save_steps" help:"Steps between checkpoints." zh:"保存检查点的步数间隔。"`
	Beta         float64 `yaml:"beta" help:"Of dpo: how strongly the model is held to what it was." zh:"用于 dpo：约束模型不偏离原模型的强度。"`
	Device       string  `yaml:"device" enum:"auto,cpu" help:"Where it runs; cpu is for trying a tiny model." zh:"运行设备；cpu 供试跑极小模型。"`
}

// usual are the defaults, the same for every trainer so that one can be put in
// the place of another.
func usual() tuning {
	return tuning{
		Method: lora, Weights: lora, Base: BaseModel, Rank: 16, Epochs: 3, LearningRate: 1e-4, Warmup: 0.1, BatchSize: 4, Accumulate: 4,
		MaxTokens: 2048, SaveSteps: 100, Beta: 0.1, Device: "auto",
	}
}

// check refuses values no training survives.
func (o tuning) check() error {
	for _, c := range []struct {
		name string
		ok   bool
		text msg.Text
	}{
		{"rank", o.Rank >= 1 && o.Rank <= 512, msg.Text{"must be from 1 to 512", "须在 1 到 512 之间"}},
		{"alpha", o.Alpha >= 0, msg.Text{"must not be negative", "不能为负"}},
		{"dropout", o.Dropout >= 0 && o.Dropout < 1, msg.Text{"must be from 0 to below 1", "须在 0（含）到 1（不含）之间"}},
		{"epochs", o.Epochs > 0, msg.Text{"must be above 0", "须大于 0"}},
		{"max_steps", o.MaxSteps >= 0, msg.Text{"must not be negative", "不能为负"}},
		{"learning_rate", o.LearningRate > 0 && o.LearningRate < 1, msg.Text{"must be between 0 and 1", "须在 0 和 1 之间"}},
		{"warmup", o.Warmup >= 0 && o.Warmup < 1, msg.Text{"must be from 0 to below 1", "须在 0（含）到 1（不含）之间"}},
		{"batch_size", o.BatchSize >= 1, msg.Text{"must be at least 1", "至少为 1"}},
		{"accumulate", o.Accumulate >= 1, msg.Text{"must be at least 1", "至少为 1"}},
		{"max_tokens", o.MaxTokens >= 64, msg.Text{"must be at least 64", "至少为 64"}},
		{"save_steps", o.SaveSteps >= 1, msg.Text{"must be at least 1", "至少为 1"}},
		{"beta", o.Beta > 0, msg.Text{"must be above 0", "须大于 0"}},
		{"weights", o.Method == rowsDPO || o.Method == rowsPretrain || o.Weights == lora, msg.Text{"is for dpo and pretrain; write method: lora, qlora or full", "只用于 dpo 与 pretrain；请写 method: lora、qlora 或 full"}},
	} {
		if !c.ok {
			return spec.Bad(c.name, c.text)
		}
	}
	if _, err := (Job{Base: o.Base}).base(); err != nil {
		return spec.Bad("base", msg.Text{"must be Qwen3-8B: %s, or a folder of that name", "必须是 Qwen3-8B：%s 或同名文件夹"}, BaseModel)
	}
	return nil
}

// The methods that take other rows than conversations.
const (
	rowsDPO      = "dpo"
	rowsPretrain = "pretrain"
)

// weights says what is trained: lora, qlora or full.
func (o tuning) weights() string {
	if o.Method == rowsDPO || o.Method == rowsPretrain {
		return o.Weights
	}
	return o.Method
}

// rows says what the training file must hold.
func (o tuning) rows() RowKind {
	switch o.Method {
	case rowsDPO:
		return RowsPairs
	case rowsPretrain:
		return RowsText
	}
	return RowsChat
}

func (o tuning) alpha() int {
	if o.Alpha == 0 {
		return 2 * o.Rank
	}
	return o.Alpha
}

func (o tuning) cpu() bool { return o.Device == deviceCPU }

// load is what decides the memory; recomputes says whether the trainer recomputes
// activations. It is nil on a CPU, which trains tiny models only: their sizes are
// not those of Qwen3-8B.
func (o tuning) load(recomputes bool) *Load {
	if o.cpu() {
		return nil
	}
	return &Load{
		Method: o.weights(), Rank: o.Rank, BatchSize: o.BatchSize, Tokens: o.MaxTokens, Devices: 1,
		Preference: o.Method == rowsDPO, Checkpointing: recomputes,
	}
}

// needs resolves what every plan needs of a job: the base model as the program sees
// it, and the contract, which must be one the trainer has settings for.
func (o tuning) needs(trainer string, j Job) (base string, contract emit.Contract, err error) {
	if j.Base == "" {
		j.Base = o.Base
	}
	if base, err = j.base(); err != nil {
		return "", "", err
	}
	if contract, err = j.contract(); err != nil {
		return "", "", err
	}
	if o.rows() == RowsChat {
		if _, err := feed.For(trainer, contract); err != nil {
			return "", "", err
		}
	}
	return fromBase(j, base), contract, nil
}

// seed takes of a job's seed what fits a C int, which is what NumPy takes.
func (j Job) seed() int { return int(j.Seed % (1 << 31)) }

// extra are further settings in a trainer's own words, each checked against its
// list where it is decoded.
type extra map[string]*yaml.Node

// owned says which option of ours decides a setting; "" where drydock writes it
// so that rows, training and serving agree.
type owned map[string]string

// decode reads the settings and reports every one that the trainer does not take,
// or that is decided elsewhere.
func (x *extra) decode(d *spec.Document, n *yaml.Node, what any, s *settings, owns owned) {
	*x = extra{}
	for _, p := range d.Pairs(n, what) {
		key := p.Key.Value
		if by, decided := owns[key]; decided {
			if by != "" {
				d.Report(p.Key, msg.Text{"%s must not hold %s; write the option %s", "%s 不能包含 %s；请写选项 %s"}, what, key, by)
			} else {
				d.Report(p.Key, msg.Text{"%s must not hold %s; drydock writes it so that rows, training and serving agree", "%s 不能包含 %s；它由 drydock 写入，以保证数据、训练与部署一致"}, what, key)
			}
			continue
		}
		at, f := p.Key, s.unknown(key, "")
		if f == nil {
			at, f = p.Value, s.bad(key, p.Value, true)
		}
		if f == nil && key == "max_length" && s.trainer == "llamafactory" {
			at, f = p.Key, generationLimit()
		}
		if f != nil {
			d.ReportError(at, f)
			continue
		}
		(*x)[key] = p.Value
	}
}

// generationLimit is the finding about LLaMA-Factory's max_length, which its
// parser takes for it is a key of generation.
func generationLimit() *fail.Error {
	return fail.New(fail.Config, msg.Text{"max_length limits what LLaMA-Factory generates, not what it trains on", "max_length 限制的是 LLaMA-Factory 的生成长度，而不是训练长度"}).
		Hint(msg.Text{"the limit of a training row is cutoff_len (in drydock.yaml: max_tokens)", "训练行的长度上限是 cutoff_len（drydock.yaml 中为 max_tokens）"})
}

// forCommand refuses settings that the command does not have.
func (x extra) forCommand(s *settings, command string) error {
	for _, key := range x.keys() {
		if e := s.unknown(key, command); e != nil {
			return spec.Bad("extra", msg.Text{"holds what the method cannot use: %s", "包含该训练方式无法使用的设置：%s"}, e)
		}
	}
	return nil
}

// keys are the settings' names, sorted.
func (x extra) keys() []string {
	keys := make([]string, 0, len(x))
	for k := range x {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

func (x extra) has(key string) bool { _, ok := x[key]; return ok }

// says reports a setting that is there and holds this truth value.
func (x extra) says(key string, want bool) bool {
	n, ok := x[key]
	var got bool
	return ok && n.Decode(&got) == nil && got == want
}

// words writes a value as arguments of a command line: a list as several, a mapping
// as JSON.
func words(n *yaml.Node) []string {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	switch n.Kind {
	case yaml.SequenceNode:
		var out []string
		for _, c := range n.Content {
			out = append(out, words(c)...)
		}
		return out
	case yaml.MappingNode:
		return []string{flow(n)}
	}
	if n.Tag == "!!null" {
		return []string{"None"} // as ms-swift writes the null of a YAML file
	}
	return []string{n.Value}
}

// flow writes a value as JSON is written, which every YAML reader takes too.
func flow(n *yaml.Node) string {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	var parts []string
	switch n.Kind {
	case yaml.SequenceNode:
		for _, c := range n.Content {
			parts = append(parts, flow(c))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			parts = append(parts, jsonText(n.Content[i].Value)+": "+flow(n.Content[i+1]))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	}
	switch n.Tag {
	case "!!null":
		return "null"
	case "!!bool":
		return strings.ToLower(n.Value)
	case "!!int":
		if i, err := strconv.ParseInt(strings.ReplaceAll(n.Value, "_", ""), 10, 64); err == nil {
			return strconv.FormatInt(i, 10)
		}
	case "!!float":
		if x, err := number(n.Value); err == nil && x-x == 0 {
			return yamlFloat(x)
		}
	}
	return jsonText(n.Value)
}
