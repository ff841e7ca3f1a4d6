package eval

import (
	"slices"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/qwen3"
)

// exact holds the ids of the first and the longest prompt to those Qwen3-8B's own
// template and tokenizer make of the messages. What differs is another model's,
// which is not looked at unless the checkpoint's contract is known, or a server's
// that changes the text, the template or the tokenizer.
func (p *probe) exact() {
	if len(p.tokens.IDs) == 0 || len(p.long.IDs) == 0 || !p.passed("prompt") {
		return
	}
	traps := []string{"S1", "S13"}
	for _, x := range []struct {
		at  int
		ids []int
	}{{0, p.tokens.IDs}, {p.longN, p.long.IDs}} {
		ours := ownTokens(p.run.results[x.at].messages, x.ids)
		if ours == nil {
			return // roles that the template does not know
		}
		at := firstDifference(x.ids, ours)
		if at < 0 {
			continue
		}
		const opening = 3 // <|im_start|>, the role, the line end
		if p.run.Preflight.Contract == "" && at < opening {
			return
		}
		p.add("tokens", p.held(), traps, msg.Text{
			"token %d of the prompt is %q, and Qwen3-8B's template and tokenizer make it %q; before it %q",
			"提示的第 %d 个 token 是 %q，而 Qwen3-8B 的模板与分词器得到 %q；其前为 %q",
		}, at, tokenText(x.ids, at), tokenText(ours, at), lastRunes(decoded(ours[:at]), 40)).
			repair(msg.Text{"serve with the base model's tokenizer files and chat template", "请以基座模型的分词器文件与对话模板部署"})
		return
	}
	p.add("tokens", CheckPassed, traps, msg.Text{"the prompt is Qwen3-8B's own, token by token", "提示与 Qwen3-8B 自身的逐 token 一致"})
}

// passed reports whether a check has passed.
func (p *probe) passed(id string) bool {
	return slices.ContainsFunc(p.report.Checks, func(c Check) bool { return c.ID == id && c.Status == CheckPassed })
}

// ownTokens renders messages and encodes them, thinking closed where the
// server's ids end so; nil where the template fails.
func ownTokens(messages []drydock.Message, server []int) []int {
	c := qwen3.Conversation{}
	for _, m := range messages {
		c.Messages = append(c.Messages, qwen3.Message{Role: m.Role, Content: m.Content, Text: true})
	}
	closed := widened(qwen3.Encode(nil, qwen3.EmptyThink))
	text, err := qwen3.Render(nil, &c, qwen3.RenderOptions{
		GenerationPrompt: true, NoThinking: len(server) >= len(closed) && slices.Equal(server[len(server)-len(closed):], closed),
	})
	if err != nil {
		return nil
	}
	return widened(qwen3.Encode(nil, string(text)))
}

func widened(ids []int32) []int {
	out := make([]int, len(ids))
	for i, id := range ids {
		out[i] = int(id)
	}
	return out
}

// firstDifference returns where two sequences first differ, -1 for nowhere.
func firstDifference(a, b []int) int {
	for i := range max(len(a), len(b)) {
		if i >= len(a) || i >= len(b) || a[i] != b[i] {
			return i
		}
	}
	return -1
}

func tokenText(ids []int, at int) string {
	if at >= len(ids) {
		return ""
	}
	return decoded(ids[at : at+1])
}

// decoded is the text of ids; what is no id of Qwen3's is left out.
func decoded(ids []int) string {
	narrow := make([]int32, 0, len(ids))
	for _, id := range ids {
		if id >= 0 && id < 1<<31 {
			narrow = append(narrow, int32(id))
		}
	}
	return qwen3.Decode(narrow)
}
