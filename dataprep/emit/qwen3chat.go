package emit

import (
	"errors"
	"fmt"
	"strings"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/shuffle"
	"github.com/drydock-ml/drydock/internal/spec"
)

type qwen3ChatOptions struct {
	Output
	Contract    string `yaml:"contract" enum:"empty-think,empty-think-masked,cot" help:"What stands in front of the answer: an empty think block trained with it or masked, or the reasoning." zh:"答案之前的内容：空思考块（参与训练或被掩蔽），或推理过程。"`
	Shuffle     bool   `yaml:"shuffle" help:"Shuffle the options, seeded by each record's id; options that speak of others keep the order." zh:"打乱选项（按每条记录的 id 取种子）；涉及其他选项位置的题目保持原序。"`
	Template    string `yaml:"prompt" help:"Whose prompt the questions are asked with: a benchmark or a template file." zh:"提问所用的提示词：评测集名称或模板文件。"`
	KeepFigures bool   `yaml:"keep_needs_figure" help:"Keep questions that cannot be answered without a figure." zh:"保留必须看图才能作答的题目。"`
}

var qwen3Summary = msg.Text{
	"Training rows for Qwen3: the benchmark's own question, the answer behind an explicit think block.",
	"Qwen3 训练数据：以评测集自身的提示词提问，答案前带有显式思考块。",
}

func qwen3ChatRows() spec.Spec[Builder] {
	return spec.Of("qwen3_chat", qwen3Summary, qwen3ChatOptions{
		Output: Output{"build/train.jsonl"}, Contract: string(EmptyThink), Shuffle: true, Template: "maritime_bench",
	}, func(o qwen3ChatOptions) (Builder, error) { return &qwen3Builder{o}, nil })
}

type qwen3Builder struct{ o qwen3ChatOptions }

// Path implements [Builder].
func (b *qwen3Builder) Path() string { return b.o.Path() }

// Prompt implements [Prompted].
func (b *qwen3Builder) Prompt() string { return b.o.Template }

// Contract implements [Contracted].
func (b *qwen3Builder) Contract() Contract { return Contract(b.o.Contract) }

// New implements [Builder].
func (b *qwen3Builder) New(ctx Context) (Emitter, error) {
	if ctx.Prompt == nil {
		return nil, errors.New("qwen3_chat needs a prompt template")
	}
	return &qwen3Emitter{ctx: ctx, o: b.o}, nil
}

type qwen3Emitter struct {
	ctx Context
	o   qwen3ChatOptions
}

func (e *qwen3Emitter) contract() Contract { return Contract(e.o.Contract) }

// Emit implements [Emitter].
func (e *qwen3Emitter) Emit(dst []byte, r *drydock.Record) ([]byte, error) {
	var messages []drydock.Message
	var err error
	switch {
	case r.Question != nil:
		messages, err = e.question(r)
	case r.Chat != nil:
		messages, err = e.chat(r)
	case r.Passage != nil:
		err = drop(r, "passage_not_chat", "running text has no question and answer to train as a conversation")
	default:
		err = drop(r, "no_payload", "the record holds nothing")
	}
	if err != nil {
		return dst, err
	}
	dst = append(dst, '{')
	dst = appendText(dst, "id", e.ctx.rowID(r))
	dst = append(appendField(dst, "messages"), '[')
	for i, m := range messages {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, '{')
		dst = appendText(dst, "role", m.Role)
		dst = appendText(dst, "content", m.Content)
		dst = append(dst, '}')
	}
	return append(dst, ']', '}', '\n'), nil
}

// Describe implements [Emitter].
func (e *qwen3Emitter) Describe(r *drydock.Record) Emitted {
	d := Emitted{RowID: e.ctx.rowID(r), Shape: "qwen3_chat"}
	if r.Question == nil {
		return d
	}
	p := e.plan(r)
	d.Letters, d.Pinned = p.Moves(r.Question), p.Pinned
	for i := range d.Letters {
		d.Letters[i].To = letterOf(r.Question, d.Letters[i].To)
	}
	return d
}

// plan decides the order of a question's options.
func (e *qwen3Emitter) plan(r *drydock.Record) shuffle.Plan {
	if !e.o.Shuffle {
		return shuffle.Plan{}
	}
	return shuffle.For(r.Question, r.ID, "qwen3_chat", e.ctx.Seed, e.contract() == CoT)
}

// letterOf maps a label to the letter the prompt prints at its place: prompts
// letter options by position, whatever the source called them.
func letterOf(q *drydock.Question, label string) string {
	for i, o := range q.Options {
		if o.Label == label {
			return string(rune('A' + i))
		}
	}
	return ""
}

// question makes the two turns of a single-choice question.
func (e *qwen3Emitter) question(r *drydock.Record) ([]drydock.Message, error) {
	if err := e.fits(r); err != nil {
		return nil, err
	}
	q := e.plan(r).Apply(r.Question)
	letter := letterOf(q, q.Answer[0])
	if letter == "" {
		return nil, drop(r, "answer_not_an_option", fmt.Sprintf("the answer %q is none of the option labels", q.Answer[0]))
	}
	reasoning := ""
	if e.contract() == CoT {
		reasoning = q.Reasoning
		if strings.TrimSpace(reasoning) == "" {
			reasoning = q.Explanation
		}
		reasoning = strings.TrimSpace(strings.ReplaceAll(reasoning, "\r\n", "\n"))
		switch b := BracketedLetter(reasoning); {
		case reasoning == "":
			return nil, drop(r, "no_reasoning", "the contract cot needs reasoning or an explanation")
		case b != "":
			return nil, drop(r, "bracket_in_reasoning", fmt.Sprintf("the reasoning holds %s, which a grader may take for the answer", b))
		}
	}
	prompt, err := e.ctx.Prompt(q)
	if err != nil {
		var d *drydock.Drop
		if errors.As(err, &d) {
			return nil, drop(r, d.Reason, d.Detail)
		}
		return nil, fmt.Errorf("prompt of record %s: %w", r.ID, err)
	}
	for _, text := range []string{prompt, reasoning} {
		if t := specialToken(text); t != "" {
			return nil, drop(r, "special_token", fmt.Sprintf("the text holds %s, which is a control token of the model", t))
		}
	}
	return []drydock.Message{
		{Role: "user", Content: prompt},
		{Role: "assistant", Content: thinkBlock(reasoning) + "[" + letter + "]"},
	}, nil
}

// fits reports why a question is no single choice that can be asked.
func (e *qwen3Emitter) fits(r *drydock.Record) error {
	q := r.Question
	switch {
	case q.Kind == drydock.Multiple, q.Kind == drydock.Single && len(q.Answer) > 1:
		return drop(r, "multiple_answer", fmt.Sprintf("%d right options; the prompt asks for one", len(q.Answer)))
	case q.Kind != drydock.Single:
		return drop(r, "not_single_choice", fmt.Sprintf("a %s question; the prompt asks for one option", q.Kind))
	case len(q.Options) < 2:
		return drop(r, "no_options", fmt.Sprintf("%d options", len(q.Options)))
	case len(q.Options) > 26:
		return drop(r, "too_many_options", fmt.Sprintf("%d options; there are letters for 26", len(q.Options)))
	case len(q.Answer) == 0:
		return drop(r, "no_answer", "the source gives no answer")
	case q.NeedsFigure && !e.o.KeepFigures:
		return drop(r, "needs_figure", "it cannot be answered without its figure")
	}
	return nil
}
