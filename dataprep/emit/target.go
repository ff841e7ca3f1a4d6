package emit

import (
	"errors"

	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/spec"
)

// A Task says what rows are trained for.
type Task string

// The tasks of training rows.
const (
	SFT      Task = "sft"      // answers
	DPO      Task = "dpo"      // pairs of a better and a worse answer
	KTO      Task = "kto"      // answers with a label: good or bad
	Pretrain Task = "pretrain" // running text
)

// A Target describes training rows: who reads them, and for what.
type Target struct {
	Name    string
	Trainer string // llamafactory, swift, trl or axolotl; "": any that reads such rows
	Task    Task
	// Messages says that a row is id and messages, which every trainer reads.
	Messages bool
}

// A Trained is a Builder of training rows.
type Trained interface {
	Target() Target
}

// TargetOf returns the target of that name; ok is false for shapes that train
// nothing.
func TargetOf(name string) (t Target, ok bool) {
	for _, k := range targets {
		if k.Name == name {
			return k.Target, true
		}
	}
	return Target{}, false
}

// A writer appends the fields of a row that come after its id.
type writer func(dst []byte, d *dialogue, c Contract) []byte

// A rowTarget is a Target, and how its rows are written.
type rowTarget struct {
	Target
	summary msg.Text
	path    string
	// noPlain says that the trainer renders with the model's own template, which
	// puts a think block before the last answer whatever the row holds.
	noPlain bool
	write   writer // nil: rows of running text
	text    textWriter
}

// targets are all shapes of training rows. TRL and axolotl render with the
// model's template, so plain is not among their contracts (see feed.For).
var targets = [...]rowTarget{
	{Target{"openai", "", SFT, true}, msg.Text{"OpenAI messages.", "OpenAI messages 格式。"}, "build/openai.jsonl", false, writeMessages, nil},
	{Target{"prompt_completion", "", SFT, false}, msg.Text{"Prompt and completion, both as messages.", "prompt 与 completion，均为 messages。"}, "build/prompt_completion.jsonl", false, writePromptCompletion, nil},
	{Target{"sharegpt", "", SFT, false}, msg.Text{"ShareGPT conversations (human, gpt).", "ShareGPT conversations 格式（human、gpt）。"}, "build/sharegpt.jsonl", false, writeShareGPT, nil},
	{Target{"alpaca", "", SFT, false}, msg.Text{"Alpaca: instruction, input and output.", "Alpaca 格式：instruction、input、output。"}, "build/alpaca.jsonl", false, writeAlpaca, nil},
	{Target{"text", "", Pretrain, false}, msg.Text{"Running text, one passage a row, for continued pretraining.", "正文文本，每行一个段落，用于继续预训练。"}, "build/text.jsonl", false, nil, writeText},
	{Target{"tokens", "", SFT, false}, msg.Text{"Token ids with labels (-100 where no loss is taken) and attention mask: no template is left to the trainer.", "token id、labels（不计损失处为 -100）与 attention_mask：训练器无需再套用模板。"}, "build/tokens.jsonl", false, writeTokens, nil},

	{Target{"swift", "swift", SFT, true}, msg.Text{"ms-swift: messages.", "ms-swift：messages。"}, "build/swift.jsonl", false, writeMessages, nil},
	{Target{"swift-dpo", "swift", DPO, false}, msg.Text{"ms-swift preference pairs: messages and rejected_response.", "ms-swift 偏好对：messages 与 rejected_response。"}, "build/swift-dpo.jsonl", false, writeSwiftDPO, nil},
	{Target{"swift-kto", "swift", KTO, false}, msg.Text{"ms-swift KTO: messages and label.", "ms-swift KTO：messages 与 label。"}, "build/swift-kto.jsonl", false, writeMessagesKTO, nil},
	{Target{"swift-pretrain", "swift", Pretrain, false}, msg.Text{"ms-swift pretraining: one assistant turn of running text.", "ms-swift 预训练：一条 assistant 正文。"}, "build/swift-pretrain.jsonl", false, nil, writeSwiftText},

	{Target{"llamafactory", "llamafactory", SFT, true}, msg.Text{"LLaMA-Factory: messages, with their dataset_info.json.", "LLaMA-Factory：messages，并写出 dataset_info.json。"}, "build/llamafactory/sft.jsonl", false, writeMessages, nil},
	{Target{"llamafactory-dpo", "llamafactory", DPO, false}, msg.Text{"LLaMA-Factory preference pairs: conversations, chosen and rejected.", "LLaMA-Factory 偏好对：conversations、chosen、rejected。"}, "build/llamafactory/dpo.jsonl", false, writeLLaMAFactoryDPO, nil},
	{Target{"llamafactory-kto", "llamafactory", KTO, false}, msg.Text{"LLaMA-Factory KTO: messages and label.", "LLaMA-Factory KTO：messages 与 label。"}, "build/llamafactory/kto.jsonl", false, writeMessagesKTO, nil},
	{Target{"llamafactory-pretrain", "llamafactory", Pretrain, false}, msg.Text{"LLaMA-Factory pretraining: running text.", "LLaMA-Factory 预训练：正文文本。"}, "build/llamafactory/pretrain.jsonl", false, nil, writeText},

	{Target{"trl", "trl", SFT, false}, msg.Text{"TRL: prompt and completion, so that the loss is on the answer.", "TRL：prompt 与 completion，损失只计在回答上。"}, "build/trl.jsonl", true, writeTRL, nil},
	{Target{"trl-dpo", "trl", DPO, false}, msg.Text{"TRL preference pairs: prompt, chosen and rejected.", "TRL 偏好对：prompt、chosen、rejected。"}, "build/trl-dpo.jsonl", true, writeTRLDPO, nil},
	{Target{"trl-kto", "trl", KTO, false}, msg.Text{"TRL KTO: prompt, completion and label.", "TRL KTO：prompt、completion、label。"}, "build/trl-kto.jsonl", true, writeTRLKTO, nil},

	{Target{"axolotl", "axolotl", SFT, true}, msg.Text{"axolotl chat_template: messages.", "axolotl chat_template：messages。"}, "build/axolotl.jsonl", true, writeMessages, nil},
	{Target{"axolotl-dpo", "axolotl", DPO, false}, msg.Text{"axolotl preference pairs: messages, chosen and rejected.", "axolotl 偏好对：messages、chosen、rejected。"}, "build/axolotl-dpo.jsonl", true, writeAxolotlDPO, nil},
	{Target{"axolotl-segments", "axolotl", SFT, false}, msg.Text{"axolotl input_output: the rendered text in segments, each with its loss on or off.", "axolotl input_output：渲染后的文本分段，每段标明是否计损失。"}, "build/axolotl-segments.jsonl", false, writeSegments, nil},

	{Target{"qwen3_chat", "", SFT, true}, msg.Text{
		"Training rows for Qwen3: the benchmark's own question, the answer behind an explicit think block.",
		"Qwen3 训练数据：以评测集自身的提示词提问，答案前带有显式思考块。",
	}, "build/train.jsonl", true, writeMessages, nil},
}

// trainingRows are the emitters of all targets.
func trainingRows() []spec.Spec[Builder] {
	out := make([]spec.Spec[Builder], len(targets))
	for i := range targets {
		out[i] = targets[i].spec()
	}
	return out
}

// asking are the options of rows that ask a question.
type asking struct {
	Shuffle     bool   `yaml:"shuffle" help:"Shuffle the options, seeded by each record's id; options that speak of others keep the order." zh:"打乱选项（按每条记录的 id 取种子）；涉及其他选项位置的题目保持原序。"`
	Template    string `yaml:"prompt" help:"Whose prompt the questions are asked with: a benchmark or a template file." zh:"提问所用的提示词：评测集名称或模板文件。"`
	KeepFigures bool   `yaml:"keep_needs_figure" help:"Keep questions that cannot be answered without a figure." zh:"保留必须看图才能作答的题目。"`
}

type blockOptions struct {
	Output
	Contract string `yaml:"contract" enum:"empty-think,empty-think-masked,cot" help:"What stands in front of the answer: an empty think block trained with it or masked, or the reasoning." zh:"答案之前的内容：空思考块（参与训练或被掩蔽），或推理过程。"`
	asking
}

type contractOptions struct {
	Output
	Contract string `yaml:"contract" enum:"empty-think,empty-think-masked,cot,plain" help:"What stands in front of the answer: an empty think block trained with it or masked, the reasoning, or nothing." zh:"答案之前的内容：空思考块（参与训练或被掩蔽）、推理过程，或没有任何内容。"`
	asking
}

func (t *rowTarget) spec() spec.Spec[Builder] {
	out, ask := Output{File: t.path}, asking{Shuffle: true, Template: "maritime_bench"}
	switch {
	case t.write == nil:
		return t.textSpec(out)
	case t.noPlain:
		return spec.Of(t.Name, t.summary, blockOptions{out, string(EmptyThink), ask}, func(o blockOptions) (Builder, error) {
			return &trainBuilder{o.Output, t, Contract(o.Contract), o.asking}, nil
		})
	}
	return spec.Of(t.Name, t.summary, contractOptions{out, string(EmptyThink), ask}, func(o contractOptions) (Builder, error) {
		return &trainBuilder{o.Output, t, Contract(o.Contract), o.asking}, nil
	})
}

// A trainBuilder makes rows that ask and answer.
type trainBuilder struct {
	Output
	target   *rowTarget
	contract Contract
	ask      asking
}

// Prompt implements [Prompted].
func (b *trainBuilder) Prompt() string { return b.ask.Template }

// Contract implements [Contracted].
func (b *trainBuilder) Contract() Contract { return b.contract }

// Target implements [Trained].
func (b *trainBuilder) Target() Target { return b.target.Target }

// New implements [Builder].
func (b *trainBuilder) New(ctx Context) (Emitter, error) {
	if ctx.Prompt == nil {
		return nil, errors.New(b.target.Name + " needs a prompt template")
	}
	return &trainEmitter{ctx: ctx, target: b.target, contract: b.contract, ask: b.ask}, nil
}
