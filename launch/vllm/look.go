package vllm

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/dataprep/emit"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/llm"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/launch/checkpoint"
	"github.com/drydock-ml/drydock/launch/parity"
	"github.com/drydock-ml/drydock/qwen3"
)

// probeLimit bounds a question about the server itself.
const probeLimit = 30 * time.Second

// Status is what a check of a running server came to.
type Status string

// The values of [Status].
const (
	Passed  Status = "pass"
	Warned  Status = "warn"
	Failed  Status = "fail" // what is served is not what was trained for
	Skipped Status = "skip" // the server does not tell
)

// A Check is one thing that was looked at once the server was ready.
type Check struct {
	ID     string
	Status Status
	Traps  []string // as docs/design/043-preflight.md numbers them
	text   msg.Phrase
	fix    msg.Phrase
}

// In says what was found in a language.
func (c Check) In(l msg.Lang) string { return c.text.In(l) }

// FixIn says what to do in a language; empty: nothing is to be done.
func (c Check) FixIn(l msg.Lang) string { return c.fix.In(l) }

// Err is a failed check as an error of kind Refused.
func (c Check) Err() *fail.Error {
	e := fail.New(fail.Refused, msg.Text{"%s: %s", "%s：%s"}, c.ID, c)
	if c.fix.Text != (msg.Text{}) {
		e = e.Hint(msg.Text{"%s", "%s"}, c.fix)
	}
	return e
}

func check(id string, s Status, traps []string, text msg.Text, args ...any) Check {
	return Check{ID: id, Status: s, Traps: traps, text: msg.Phrase{Text: text, Args: args}}
}

func (c Check) repair(text msg.Text, args ...any) Check {
	c.fix = msg.Phrase{Text: text, Args: args}
	return c
}

// request is a question as the contract has it asked.
func (p *Plan) request(model string, messages ...drydock.Message) llm.Request {
	q := llm.Request{Model: model, Messages: messages}
	if p.contract == emit.EmptyThinkMasked && p.kwargs {
		q.Extra = append(q.Extra, drydock.RawField{Name: "chat_template_kwargs", Value: []byte(closedThinking)})
	}
	return q
}

// Look asks a server that is ready whether it is what the plan means: the
// version, the prompt token by token, an answer that stands where it is read,
// a constraint that shows.
func (p *Plan) Look(ctx context.Context, client *llm.Client) ([]Check, error) {
	var out []Check
	for _, look := range []func(context.Context, *llm.Client) (Check, error){p.version, p.prompt, p.content, p.constraint} {
		c, err := look(ctx, client)
		if err != nil {
			return out, err
		}
		out = append(out, c)
	}
	return out, nil
}

// spoken sorts errors: what the server says of a question is a finding, all
// else ends the look.
func spoken(err error) (*llm.Error, error) {
	var e *llm.Error
	var fatal *fail.Error
	if errors.As(err, &e) && !errors.As(err, &fatal) {
		return e, nil
	}
	return nil, err
}

func (p *Plan) version(ctx context.Context, client *llm.Client) (Check, error) {
	v, err := client.Version(ctx, probeLimit)
	if e, fatal := spoken(err); fatal != nil {
		return Check{}, fatal
	} else if e != nil {
		return check("version", Skipped, nil, msg.Text{"the server does not tell its version", "服务端未提供版本"}), nil
	}
	if parseVersion(v) != parseVersion(p.Version) {
		return check("version", Warned, []string{"S17"}, msg.Text{"the server is vLLM %s, and the plan was made for %s", "服务端为 vLLM %s，而计划按 %s 制定"}, v, p.Version), nil
	}
	return check("version", Passed, []string{"S17"}, msg.Text{"vLLM %s", "vLLM %s"}, v), nil
}

// conversations are rendered by the server and by us: one of an exam, one with
// signs that tokenizers differ on, one of several turns.
func conversations() [][]drydock.Message {
	user := func(s string) drydock.Message { return drydock.Message{Role: "user", Content: s} }
	return [][]drydock.Message{
		{user("单选题：船舶在能见度不良的水域中航行，应以______行驶。\nA. 安全航速\nB. 全速\nC. 微速\nD. 经济航速")},
		{user("Tab\tand  two blanks, 1 000 000.5 kn, “quotes”, ½, é, ⚓\r\nend ")},
		{{Role: "system", Content: "Answer with a letter."}, user("Which side light is red?"), {Role: "assistant", Content: "A"}, user("And the other?")},
	}
}

// prompt compares the server's ids with those of the base's own template and
// tokenizer (S1, S2, S13).
func (p *Plan) prompt(ctx context.Context, client *llm.Client) (Check, error) {
	traps := []string{"S1", "S2", "S13"}
	for i, messages := range conversations() {
		got, err := client.Tokenize(ctx, probeLimit, p.request(p.Name, messages...))
		if e, fatal := spoken(err); fatal != nil {
			return Check{}, fatal
		} else if e != nil {
			return check("prompt", Skipped, traps, msg.Text{"the server does not show its tokens: %v", "服务端不显示 token：%v"}, e), nil
		}
		ours, err := p.ids(messages)
		if err != nil {
			return Check{}, err
		}
		if d := parity.Compare(got.Narrow(), ours); d != nil {
			return check("prompt", Failed, traps, msg.Text{
				"conversation %d: token %d is %q, and Qwen3's own template and tokenizer make it %q; before it %q", "第 %d 段对话：第 %d 个 token 为 %q，而 Qwen3 自身的模板与分词器得到 %q；其前为 %q",
			}, i+1, d.At, d.Fed.Text, d.Wanted.Text, d.Before).
				repair(msg.Text{"the model's tokenizer files or chat template are not the base's: drydock checkpoint fix DIR --base B", "模型的分词器文件或对话模板与基座不同：drydock checkpoint fix DIR --base B"}), nil
		}
	}
	return check("prompt", Passed, traps, msg.Text{"the prompt is the contract's, token by token, for %d conversations", "%d 段对话的提示与约定逐 token 一致"}, len(conversations())), nil
}

// ids are a prompt's by the contract.
func (p *Plan) ids(messages []drydock.Message) ([]int32, error) {
	if p.contract == emit.Plain {
		var b strings.Builder
		for _, m := range messages {
			b.WriteString("<|im_start|>" + m.Role + "\n" + m.Content + "<|im_end|>\n")
		}
		b.WriteString("<|im_start|>assistant\n")
		return qwen3.Encode(nil, b.String()), nil
	}
	c := qwen3.Conversation{}
	for _, m := range messages {
		c.Messages = append(c.Messages, qwen3.Message{Role: m.Role, Content: m.Content, Text: true})
	}
	text, err := qwen3.Render(nil, &c, qwen3.RenderOptions{GenerationPrompt: true, NoThinking: p.contract == emit.EmptyThinkMasked})
	return qwen3.Encode(nil, string(text)), err
}

// content asks one question: the answer must stand under content, where graders
// read it (S3).
func (p *Plan) content(ctx context.Context, client *llm.Client) (Check, error) {
	zero := 0.0
	q := p.request(p.Name, conversations()[0]...)
	q.Temperature, q.MaxTokens = &zero, 8
	if p.contract == emit.CoT {
		return check("content", Skipped, []string{"S3"}, msg.Text{"under cot the parser takes the reasoning, as it should", "cot 约定下推理由解析器取走，符合预期"}), nil
	}
	reply, err := client.Patient().Chat(ctx, q) // a first answer may take long
	if e, fatal := spoken(err); fatal != nil {
		return Check{}, fatal
	} else if e != nil {
		return check("content", Failed, []string{"S3"}, msg.Text{"the server answers with an error: %v", "服务端返回错误：%v"}, e), nil
	}
	if reply.Content == nil {
		return check("content", Failed, []string{"S3"}, msg.Text{"content is null: a reasoning parser took the answer", "content 为 null：回答被推理解析器取走"}).
			repair(msg.Text{"serve without --reasoning-parser under %s", "%s 约定下请勿使用 --reasoning-parser"}, string(p.contract)), nil
	}
	return check("content", Passed, []string{"S3"}, msg.Text{"content holds the answer", "content 含有回答"}), nil
}

// constraint asks for one of two words a model would not say by itself: a server
// that does not know the field takes it all the same (S17).
func (p *Plan) constraint(ctx context.Context, client *llm.Client) (Check, error) {
	traps := []string{"S17"}
	if p.contract == emit.CoT {
		return check("constraint", Skipped, traps, msg.Text{"under cot no constraint is applied while the model thinks", "cot 约定下模型思考时不应用约束"}), nil
	}
	words := []string{"[A]", "[B]", "[C]", "[D]"}
	field, value := "structured_outputs", any(map[string][]string{"choice": words})
	if parseVersion(p.Version).before(0, 12) {
		field, value = "guided_choice", words
	}
	raw, err := json.Marshal(value)
	if err != nil {
		return Check{}, err
	}
	zero := 0.0
	q := p.request(p.Name, drydock.Message{Role: "user", Content: "Write a long sentence about the sea."})
	q.Temperature, q.MaxTokens = &zero, 8
	q.Extra = append(q.Extra, drydock.RawField{Name: field, Value: raw})
	reply, err := client.Patient().Chat(ctx, q)
	if e, fatal := spoken(err); fatal != nil {
		return Check{}, fatal
	} else if e != nil {
		return check("constraint", Warned, traps, msg.Text{"%s is refused: %v", "%s 被拒绝：%v"}, field, e), nil
	}
	if reply.Content == nil || !slices.Contains(words, *reply.Content) {
		return check("constraint", Warned, traps, msg.Text{"%s is taken and not applied", "%s 被接受但未应用"}, field).
			repair(msg.Text{"do not rely on constrained answers of this server", "请勿依赖此服务的受限回答"}), nil
	}
	return check("constraint", Passed, traps, msg.Text{"%s is applied", "%s 已生效"}, field), nil
}

// Canary compares an adapter with its base on fixed prompts (S15).
func (p *Plan) Canary(ctx context.Context, client *llm.Client, adapter string) (Check, error) {
	questions := make([]llm.Request, checkpoint.Canaries)
	for i := range questions {
		questions[i] = p.request("", drydock.Message{Role: "user", Content: canaryPrompt(i)})
	}
	c, err := checkpoint.Compare(ctx, client, adapter, p.Name, questions, nil)
	if err != nil {
		return Check{}, err
	}
	traps := []string{"S15"}
	repair := msg.Text{"drydock checkpoint check DIR looks at its weights; older vLLM ignores adapters on some architectures", "drydock checkpoint check DIR 可检查其权重；旧版 vLLM 在部分架构上会忽略适配器"}
	switch applied, sure := c.Applied(); {
	case c.Compared == 0:
		return check("adapter", Skipped, traps, msg.Text{"%s and its base could not be compared", "无法比较 %s 与其基座"}, adapter), nil
	case applied && c.Same == c.Compared:
		return check("adapter", Warned, traps, msg.Text{
			"%s is applied, and yet answers %d of %d prompts as its base does; only the probabilities differ, by up to %.2g", "%s 已生效，但对 %d / %d 个提示的回答与其基座相同；只有概率不同，最多相差 %.2g",
		}, adapter, c.Same, c.Compared, c.Most).repair(msg.Text{"after a training that learned something, some answers differ: look at its loss, and at the weights with drydock checkpoint check DIR", "训练若有成效，总有回答会不同：请查看其损失，并用 drydock checkpoint check DIR 检查权重"}), nil
	case applied:
		return check("adapter", Passed, traps, msg.Text{"%s answers otherwise than its base: %d of %d prompts", "%s 与其基座的回答不同：%d / %d 个提示"}, adapter, c.Compared-c.Same, c.Compared), nil
	case sure:
		return check("adapter", Warned, traps, msg.Text{"%s answers %d prompts exactly as its base does, probabilities included: the adapter is not applied", "%s 对 %d 个提示的回答与其基座完全相同（含概率）：适配器未生效"}, adapter, c.Compared).repair(repair), nil
	default:
		return check("adapter", Warned, traps, msg.Text{"%s answers %d prompts as its base does: the adapter may not be applied", "%s 对 %d 个提示的回答与其基座相同：适配器可能未生效"}, adapter, c.Compared).repair(repair), nil
	}
}

// canaryPrompt is the i-th of the fixed prompts.
func canaryPrompt(i int) string {
	subjects := [...]string{"号灯", "锚泊", "避碰", "潮汐", "罗经", "载重线", "雷达", "应急操舵"}
	if i < len(subjects) {
		return "请用一句话说明" + subjects[i] + "。"
	}
	return "单选题 " + strconv.Itoa(i) + "：关于" + subjects[i%len(subjects)] + "，下列说法正确的是______。\nA. 甲\nB. 乙\nC. 丙\nD. 丁"
}
