package eval

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/text/unicode/norm"

	"github.com/drydock-ml/drydock/internal/llm"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/launch/checkpoint"
)

// ChatML, the form of Qwen's prompts, and the block that ends thinking before it
// begins.
const (
	turnStart  = "<|im_start|>"
	emptyThink = "<think>\n\n</think>\n\n"
)

// versions tells vLLM's constraints apart: what one version takes, another
// accepts and ignores.
func (p *probe) versions(err error) {
	v := p.report.Server.Version
	if err != nil || v == "" {
		p.add("version", CheckSkipped, nil, msg.Text{"the server does not tell its version", "服务端未提供版本"})
		return
	}
	major, minor, ok := versionOf(v)
	old, current := "", ""
	for _, f := range p.h.sampling.Extra {
		if strings.HasPrefix(f.Name, "guided_") {
			old = f.Name
		}
		if f.Name == "structured_outputs" {
			current = f.Name
		}
	}
	const removed, since = 12, 12 // vLLM 0.12.0
	switch {
	case ok && old != "" && (major > 0 || minor >= removed):
		p.add("version", CheckFailed, []string{"S17"}, msg.Text{"vLLM %s takes %s and ignores it", "vLLM %s 接受 %s 但会忽略它"}, v, old).
			repair(msg.Text{`since 0.12.0 it is "structured_outputs": {"choice": […]}`, `自 0.12.0 起应写 "structured_outputs": {"choice": […]}`})
	case ok && current != "" && major == 0 && minor < since:
		p.add("version", CheckFailed, []string{"S17"}, msg.Text{"vLLM %s takes %s and ignores it", "vLLM %s 接受 %s 但会忽略它"}, v, current).
			repair(msg.Text{"before 0.12.0 it is guided_choice, guided_regex", "0.12.0 之前应写 guided_choice、guided_regex"})
	default:
		p.add("version", CheckPassed, []string{"S17"}, msg.Text{"version %s", "版本 %s"}, v)
	}
}

func versionOf(v string) (major, minor int, ok bool) {
	parts := strings.SplitN(strings.TrimPrefix(v, "v"), ".", 3)
	if len(parts) < 2 {
		return 0, 0, false
	}
	major, err := strconv.Atoi(parts[0])
	minor, err2 := strconv.Atoi(parts[1])
	return major, minor, err == nil && err2 == nil
}

// held is how bad another prompt than Qwen3's own is: where the checkpoint's
// contract is known the run does not begin; other models have other templates.
func (p *probe) held() CheckStatus {
	if p.run.Preflight.Contract == "" {
		return CheckWarned
	}
	return CheckFailed
}

// prompt compares what the model is really given with what was asked: the texts
// whole, no turn more, and the end that the contract wants.
func (p *probe) prompt(err error) {
	if err != nil || p.tokens.Text == "" {
		p.add("prompt", CheckSkipped, []string{"S1", "S2", "S13"}, msg.Text{"the server does not show the prompt it makes (/tokenize, /detokenize)", "服务端不提供其生成的提示（/tokenize、/detokenize）"})
		return
	}
	// Qwen's tokenizer reads every text in its composed form
	text := norm.NFC.String(p.tokens.Text)
	p.report.Server.PromptTokens = p.tokens.IDs
	p.report.Server.MaxLen = max(p.report.Server.MaxLen, p.tokens.MaxLen)
	messages := p.run.results[0].messages
	for _, m := range messages {
		content := norm.NFC.String(m.Content)
		switch {
		case strings.Contains(text, content):
		case strings.Contains(text, strings.TrimSpace(content)):
			p.add("text", CheckWarned, []string{"S1"}, msg.Text{"the server cuts white space off the ends of the %s message", "服务端会去掉 %s 消息两端的空白"}, m.Role)
		default:
			p.add("prompt", p.held(), []string{"S1"}, msg.Text{"the prompt the server makes does not hold the %s message as it was sent", "服务端生成的提示不含原样的 %s 消息"}, m.Role).
				repair(msg.Text{"its chat template changes the text; serve with the model's own template", "其对话模板改动了文本；请使用模型自带的模板部署"})
			return
		}
	}
	if !strings.Contains(text, turnStart) {
		p.report.Server.PromptEnd = lastRunes(text, 40)
		p.add("prompt", CheckPassed, nil, msg.Text{"the prompt is not ChatML; it ends in %q", "提示不是 ChatML；结尾为 %q"}, p.report.Server.PromptEnd)
		return
	}
	end := text[strings.LastIndex(text, turnStart):]
	p.report.Server.PromptEnd = end
	if n := strings.Count(text, turnStart); n != len(messages)+1 {
		p.add("prompt", p.held(), []string{"S1"}, msg.Text{"%d {message was|messages were} sent, and the prompt has %d turns before the answer", "发送了 %d 条消息，而提示在回答之前有 %d 轮"}, len(messages), n-1).
			repair(msg.Text{"the server's chat template adds a system turn: training rows must have it, too, or the template must not", "服务端的对话模板添加了 system 轮次：训练数据须一致，否则应去掉"})
		return
	}
	p.ending(end)
}

// ending holds the last turn of the prompt to the contract.
func (p *probe) ending(end string) {
	contract := p.run.Preflight.Contract
	traps := []string{"S1", "S2", "S13"}
	off := strings.HasSuffix(end, "assistant\n"+emptyThink)
	open := strings.HasSuffix(end, "assistant\n")
	use := msg.Text{`send --extra-body '{"chat_template_kwargs":{"enable_thinking":%s}}', or serve with --default-chat-template-kwargs`, `请使用 --extra-body '{"chat_template_kwargs":{"enable_thinking":%s}}'，或以 --default-chat-template-kwargs 部署`}
	switch {
	case !off && !open:
		p.add("prompt", p.held(), traps, msg.Text{"the answer would begin after %q, which is no beginning of Qwen's own template", "回答将从 %q 之后开始，这不是 Qwen 自带模板的开头"}, end).
			repair(msg.Text{"a trainer saved another template into the tokenizer; serve with the base model's tokenizer_config.json or --chat-template", "训练器在分词器中保存了别的模板；请使用基座模型的 tokenizer_config.json 或 --chat-template 部署"})
	case contract == "empty-think-masked" && !off:
		p.add("prompt", CheckFailed, traps, msg.Text{"the contract is %s, and the server leaves thinking on", "约定为 %s，而服务端未关闭思考"}, contract).repair(use, "false")
	case (contract == "cot" || contract == "plain") && off:
		p.add("prompt", CheckFailed, traps, msg.Text{"the contract is %s, and the server closes thinking before the answer", "约定为 %s，而服务端在回答前关闭了思考"}, contract).repair(use, "true")
	case off:
		p.add("prompt", CheckPassed, traps, msg.Text{"%d prompt tokens; thinking is closed", "提示 %d 个 token；思考已关闭"}, len(p.tokens.IDs))
	default:
		p.add("prompt", CheckPassed, traps, msg.Text{"%d prompt tokens; thinking is left to the model", "提示 %d 个 token；是否思考由模型决定"}, len(p.tokens.IDs))
	}
}

func lastRunes(s string, n int) string {
	r := []rune(s)
	return string(r[max(len(r)-n, 0):])
}

// lengths compares the longest prompt and the answer's limit with the model's.
func (p *probe) lengths() {
	room, limit := p.report.Server.MaxLen, p.h.sampling.MaxTokens
	longest := len(p.long.IDs)
	traps := []string{"S5"}
	switch {
	case room == 0:
		p.add("length", CheckSkipped, traps, msg.Text{"the server does not tell how long a text may be", "服务端未提供最大长度"})
	case longest >= room:
		p.add("length", CheckFailed, traps, msg.Text{"the longest prompt has %d tokens, the server takes %d", "最长提示有 %d 个 token，服务端上限为 %d"}, longest, room).
			repair(msg.Text{"serve with a larger --max-model-len", "请以更大的 --max-model-len 部署"})
	case limit > room:
		p.add("length", CheckFailed, traps, msg.Text{"--max-tokens %d is more than the server takes at all, %d", "--max-tokens %d 超过服务端上限 %d"}, limit, room).
			repair(msg.Text{"ask for at most %d", "最多请求 %d"}, room-longest)
	case longest+limit > room:
		p.add("length", CheckWarned, traps, msg.Text{"the longest prompt, %d tokens, leaves %d of --max-tokens %d: the server cuts such answers without an error", "最长提示有 %d 个 token，只剩 %d 个可用于 --max-tokens %d：服务端会不报错地截断"}, longest, room-longest, limit).
			repair(msg.Text{"serve with a larger --max-model-len", "请以更大的 --max-model-len 部署"})
	case limit == 0:
		p.add("length", CheckPassed, traps, msg.Text{"no --max-tokens: one answer may run to %d tokens", "未设 --max-tokens：单条回答最长可达 %d 个 token"}, room-longest)
	default:
		p.add("length", CheckPassed, traps, msg.Text{"the longest prompt has %d tokens, the server takes %d", "最长提示有 %d 个 token，服务端上限为 %d"}, longest, room)
	}
}

// effective looks for what the server fills in by itself: a model's
// generation_config counts for every field a request leaves out.
func (p *probe) effective(ctx context.Context) {
	if p.report.Server.Version == "" {
		return
	}
	traps := []string{"S16"}
	use := msg.Text{"serve with --generation-config vllm, or send the field with --extra-body", "请以 --generation-config vllm 部署，或用 --extra-body 发送该字段"}
	e, err := p.h.client.Effective(ctx, probeLimit, p.h.request(p.run.results[0].messages))
	switch {
	case err == nil && e.RepetitionPenalty != 0 && e.RepetitionPenalty != 1:
		p.add("sampling", CheckWarned, traps, msg.Text{"the server adds repetition_penalty %v: temperature 0 is then not plain greedy decoding", "服务端附加 repetition_penalty %v：温度 0 将不是纯贪心解码"}, e.RepetitionPenalty).repair(use)
	case p.h.sampling.Temperature == nil:
		p.add("sampling", CheckWarned, traps, msg.Text{"no temperature is sent: the model's generation_config decides (0.6 for Qwen3)", "未发送温度：由模型的 generation_config 决定（Qwen3 为 0.6）"}).
			repair(msg.Text{"send one: --temperature 0", "请发送温度：--temperature 0"})
	case err == nil:
		p.add("sampling", CheckPassed, traps, msg.Text{"temperature %v, top_p %v, top_k %d, repetition_penalty %v", "temperature %v，top_p %v，top_k %d，repetition_penalty %v"}, e.Temperature, e.TopP, e.TopK, e.RepetitionPenalty)
	default:
		p.add("sampling", CheckSkipped, traps, msg.Text{"the server does not tell what it fills in for fields that are not sent", "服务端未说明如何填充未发送的字段"})
	}
}

// judge reads the answers of the first items.
func (p *probe) judge() {
	answered, null, hidden, empty, cut, thought, lettered := 0, 0, 0, 0, 0, 0, 0
	for i := range p.trials {
		t, err := &p.trials[i].t, p.trials[i].err
		if err != nil {
			continue
		}
		answered++
		item := p.run.results[p.trials[i].i].item
		for _, c := range []struct {
			n  *int
			is bool
		}{
			{&null, t.NoContent},
			{&hidden, t.NoContent && t.Thought},
			{&empty, strings.TrimSpace(t.Reply.Text) == ""},
			{&cut, t.Reply.Finish == "max_tokens"},
			{&thought, t.Thought},
			{&lettered, p.run.Benchmark.Grade(item, t.Reply).Extracted != ""},
		} {
			if c.is {
				*c.n++
			}
		}
		if p.report.Server.Fingerprint == "" {
			p.report.Server.Fingerprint = t.Server
		}
	}
	if answered == 0 {
		status := CheckWarned
		if p.noServer() {
			status = CheckFailed
		}
		p.add("canary", status, nil, msg.Text{"the first %d {request|requests} got no answer: %v", "前 %d 个请求未得到回答：%v"}, len(p.trials), p.trials[0].err)
		return
	}
	p.content(answered, null, hidden, empty)
	p.thinking(answered, thought, cut)
	if lettered == 0 {
		p.add("letter", CheckWarned, []string{"S4"}, msg.Text{"no letter is read from the first %d {answer|answers}", "前 %d 条回答中未抽取到字母"}, answered).
			repair(msg.Text{"look at the saved reply; --rule and --filter change what is read", "请查看已保存的回复；--rule 与 --filter 可改变读取方式"})
	} else {
		p.add("letter", CheckPassed, []string{"S4"}, msg.Text{"a letter is read", "已抽取到字母"})
	}
	p.constraint()
	p.samePrompt()
}

// noServer reports whether every one of as many items as tell the server from the
// item failed for reasons no item is to blame for: the server's own errors, and
// replies that are no completion, attempt after attempt.
func (p *probe) noServer() bool {
	for i := range p.trials {
		var e *llm.Error
		if !errors.As(p.trials[i].err, &e) || e.Status != http.StatusOK && e.Status < http.StatusInternalServerError {
			return false
		}
	}
	return len(p.trials) == canaries
}

// content looks for answers that stand where nobody reads them.
func (p *probe) content(answered, null, hidden, empty int) {
	traps := []string{"S3"}
	status := CheckWarned
	if answered == canaries {
		status = CheckFailed
	}
	switch {
	case hidden == answered:
		p.add("content", status, traps, msg.Text{"content is null and the whole answer stands under reasoning: a reasoning parser took it", "content 为 null，整个回答位于 reasoning 中：被推理解析器取走"}).
			repair(msg.Text{`serve without --reasoning-parser, or send --extra-body '{"chat_template_kwargs":{"enable_thinking":false}}'`, `请去掉 --reasoning-parser 部署，或使用 --extra-body '{"chat_template_kwargs":{"enable_thinking":false}}'`})
	case null == answered:
		p.add("content", status, traps, msg.Text{"content is null", "content 为 null"}).
			repair(msg.Text{"the server holds the answer back: look for --reasoning-parser and include_reasoning", "服务端未返回回答：请检查 --reasoning-parser 与 include_reasoning"})
	case empty == answered:
		p.add("content", CheckWarned, traps, msg.Text{"the answer is empty", "回答为空"})
	default:
		p.add("content", CheckPassed, traps, msg.Text{"content holds the answer", "content 含有回答"})
	}
}

// thinking holds the answers to the contract.
func (p *probe) thinking(answered, thought, cut int) {
	contract, t := p.run.Preflight.Contract, p.h.sampling.Temperature
	traps := []string{"S2", "S5"}
	switch {
	case cut > 0 && thought > 0:
		p.add("thinking", CheckWarned, traps, msg.Text{"the model thinks until the token limit cuts it off", "模型一直思考，直到被 token 上限截断"}).
			repair(msg.Text{"raise --max-tokens, or close thinking", "请调大 --max-tokens，或关闭思考"})
	case cut > 0:
		p.add("thinking", CheckWarned, traps, msg.Text{"the answer is cut off by the token limit", "回答被 token 上限截断"}).
			repair(msg.Text{"raise --max-tokens", "请调大 --max-tokens"})
	case thought == answered && (contract == "empty-think" || contract == "empty-think-masked" || contract == "plain"):
		p.add("thinking", CheckWarned, traps, msg.Text{"the contract is %s, and the model thinks", "约定为 %s，而模型在思考"}, contract).
			repair(msg.Text{"is this the checkpoint, or its base?", "这是该检查点，还是其基座模型？"})
	case thought == 0 && contract == "cot":
		p.add("thinking", CheckWarned, traps, msg.Text{"the contract is cot, and the model does not think", "约定为 cot，而模型不思考"})
	case thought > 0 && t != nil && *t == 0:
		p.add("thinking", CheckWarned, traps, msg.Text{"the model thinks, at temperature 0; the makers of Qwen3 advise against that", "模型在温度 0 下思考；Qwen3 官方不建议如此"}).
			repair(msg.Text{"close thinking, or --temperature 0.6", "请关闭思考，或使用 --temperature 0.6"})
	case thought > 0:
		p.add("thinking", CheckPassed, traps, msg.Text{"the model thinks", "模型在思考"})
	default:
		p.add("thinking", CheckPassed, traps, msg.Text{"the model does not think", "模型不思考"})
	}
}

// choices returns what structured_outputs allows, where it is a list.
func (p *probe) choices() []string {
	for _, f := range p.h.sampling.Extra {
		var o struct {
			Choice []string `json:"choice"`
		}
		if f.Name == "structured_outputs" && json.Unmarshal(f.Value, &o) == nil {
			return o.Choice
		}
	}
	return nil
}

// constrained tells whether an answer keeps to the choices that were demanded.
func (p *probe) constrained(text string) bool {
	c := p.choices()
	return len(c) == 0 || slices.Contains(c, text)
}

// constraint looks whether the choices that were demanded show in the answers:
// a server that does not know the field says nothing.
func (p *probe) constraint() {
	if len(p.choices()) == 0 {
		return
	}
	traps := []string{"S3", "S17"}
	for _, c := range p.trials {
		if c.err == nil && p.constrained(c.t.Reply.Text) {
			p.add("constraint", CheckPassed, traps, msg.Text{"the answer is one of the choices", "回答在给定选项之中"})
			return
		}
	}
	p.add("constraint", CheckFailed, traps, msg.Text{"structured_outputs demands one of %d choices, and no answer is one: the server does not apply it", "structured_outputs 要求 %d 个选项之一，而回答均不在其中：服务端未应用该约束"}, len(p.choices())).
		repair(msg.Text{"vLLM before 0.12 wants guided_choice; with a reasoning parser thinking must be closed", "vLLM 0.12 之前应使用 guided_choice；使用推理解析器时须关闭思考"})
}

// samePrompt compares the prompt of the chat answer with the one of /tokenize.
func (p *probe) samePrompt() {
	c := &p.trials[0]
	if c.err != nil || len(p.tokens.IDs) == 0 || c.i != 0 {
		return
	}
	var own struct {
		IDs []int `json:"prompt_token_ids"`
	}
	if json.Unmarshal(c.t.Raw, &own) == nil && len(own.IDs) > 0 {
		if !slices.Equal(own.IDs, p.tokens.IDs) {
			p.add("prompt_tokens", CheckWarned, nil, msg.Text{"the prompt that was answered has other tokens than /tokenize shows", "实际回答的提示与 /tokenize 的 token 不同"})
			return
		}
		p.add("prompt_tokens", CheckPassed, nil, msg.Text{"the prompt that was answered is the one above, token by token", "实际回答的提示与上述逐 token 一致"})
		return
	}
	if u := c.t.Usage; u != nil && u.Input != len(p.tokens.IDs) {
		p.add("prompt_tokens", CheckWarned, nil, msg.Text{"the prompt that was answered has %d tokens, the one /tokenize shows %d", "实际回答的提示有 %d 个 token，/tokenize 为 %d 个"}, u.Input, len(p.tokens.IDs)).
			repair(msg.Text{"something between here and the model changes the request: a gateway, a request template", "请求在途中被改动：网关或请求模板"})
	}
}

// baseline asks the first items of the adapter and of its base: where every
// answer is the same, the adapter is not applied.
func (p *probe) baseline(ctx context.Context) error {
	r, base := p.run, p.run.Preflight.BaseModel
	if base == "" {
		return nil
	}
	if len(p.models) > 0 && !listed(p.models, base) {
		return notListed(p.h, base, p.models)
	}
	questions := make([]llm.Request, min(checkpoint.Canaries, len(r.results)/r.Repeats))
	for i := range questions {
		questions[i] = p.h.request(r.results[i*r.Repeats].messages)
	}
	c, err := checkpoint.Compare(ctx, p.h.client, r.Model, base, questions, func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.traffic.Requests++
	})
	if err != nil {
		return err
	}
	p.compared(c, base)
	return nil
}

func (p *probe) compared(c checkpoint.Canary, base string) {
	traps := []string{"S15"}
	apply := msg.Text{"serve with --enable-lora and name the adapter, not its base; an adapter whose B matrices are zero was never trained", "请以 --enable-lora 部署并指定适配器名而非基座名；B 矩阵全为零的适配器未经训练"}
	switch applied, sure := c.Applied(); {
	case c.Compared == 0:
		p.add("adapter", CheckSkipped, traps, msg.Text{"%s and %s could not be compared", "无法比较 %s 与 %s"}, p.run.Model, base)
	case applied && c.Same == c.Compared:
		// a good base may answer a few items right as well: no warning
		p.add("adapter", CheckPassed, traps, msg.Text{
			"%s answers %d {prompt|prompts} as %s does, with other probabilities, by up to %.2g", "%s 对 %d 个提示的回答与 %s 相同，但概率不同，最多相差 %.2g",
		}, p.run.Model, c.Compared, base, c.Most)
	case applied:
		p.add("adapter", CheckPassed, traps, msg.Text{"%s answers otherwise than %s: %d of %d prompts", "%s 与 %s 的回答不同：%d / %d 个提示"}, p.run.Model, base, c.Compared-c.Same, c.Compared)
	case sure:
		p.add("adapter", CheckFailed, traps, msg.Text{"%s answers %d {prompt|prompts} exactly as %s does, probabilities included: the adapter is not applied", "%s 对 %d 个提示的回答与 %s 完全相同（含概率）：适配器未生效"}, p.run.Model, c.Compared, base).repair(apply)
	default:
		p.add("adapter", CheckWarned, traps, msg.Text{"%s answers %d {prompt|prompts} as %s does: the adapter may not be applied", "%s 对 %d 个提示的回答与 %s 相同：适配器可能未生效"}, p.run.Model, c.Compared, base).repair(apply)
	}
}
