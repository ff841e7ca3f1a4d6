package parity

import (
	"strings"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/dataprep/emit"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/qwen3"

	"github.com/valyala/fastjson"
)

// lint looks for what no comparison of tokens shows, or shows without its cause.
func (k *checker) lint(r *row, out *found) {
	last := len(r.conv.Messages) - 1
	for _, name := range r.reserved {
		out.add(reservedColumn, "/"+drydock.EscapePointer(name), msg.Text{})
	}
	if r.unanswered != "" && k.o.Settings.Trainer == "swift" {
		out.add(dropped, r.unanswered, msg.Text{"ms-swift deletes pairs whose losing answer is null", "ms-swift 会删除 rejected 为 null 的偏好对"})
	}
	for i := range r.conv.Messages {
		m, at := &r.conv.Messages[i], r.pointers[i]
		if m.Role != "system" && m.Role != "tool" && len(m.ToolCalls) == 0 && !r.foreign && strings.TrimSpace(m.Content) == "" {
			out.add(emptyTurn, at, msg.Text{})
		}
		if i > 0 && m.Role == r.conv.Messages[i-1].Role && k.o.Settings.Trainer == "swift" {
			out.add(merged, at, msg.Text{"%s", "%s"}, m.Role)
		}
		if m.Role == "assistant" {
			k.lintAnswer(m, at, i == last, out)
			for j := range m.ToolCalls {
				out.control(string(m.ToolCalls[j].Arguments), at)
			}
			continue
		}
		if m.Role == "system" && strings.TrimSpace(m.Content) == "" {
			out.add(emptySystem, at, msg.Text{})
		}
		if s, ok := qwen3.FindSpecial(m.Content); ok {
			out.add(specialToken, at, msg.Text{"%s at byte %d", "%s，位于第 %d 字节"}, s.Text, s.Start)
		}
		if s := switchIn(m.Content); s != "" {
			out.add(softSwitch, at, msg.Text{"%s", "%s"}, s)
		}
	}
}

func (k *checker) lintAnswer(m *qwen3.Message, at string, last bool, out *found) {
	reasoning, _ := m.Thinking()
	inline := strings.Contains(m.Content, "<think>") || strings.Contains(m.Content, "</think>")
	if m.Reasoning != nil {
		trainer := k.o.Settings.Trainer
		switch {
		case inline:
			out.add(reasoningContent, at, msg.Text{"content holds a think block as well", "content 中也有思考块"})
		case *m.Reasoning != "" && (trainer == "llamafactory" || trainer == "swift"):
			out.add(reasoningContent, at, msg.Text{"%s does not read it", "%s 不读取它"}, trainer)
		}
		out.control(*m.Reasoning, at)
	}
	body := m.Content
	if inline {
		block, rest, ok := ownBlock(m.Content)
		if !ok {
			out.add(thinkNewlines, at, msg.Text{})
			block, rest = "", strings.NewReplacer("<think>", "", "</think>", "").Replace(m.Content)
		}
		out.control(block, at)
		body = rest
	}
	if strings.HasPrefix(body, "\n") {
		out.add(leadingNewlines, at, msg.Text{})
	}
	out.control(body, at)
	if inline && k.o.Contract == emit.Plain {
		out.add(notTheContract, at, msg.Text{"it has a think block, and the contract is plain", "含思考块，而约定为 plain"})
		return
	}
	if reasoning = strings.Trim(reasoning, "\n"); reasoning == "" {
		if last && k.o.Contract == emit.CoT {
			out.add(notTheContract, at, msg.Text{"it has no reasoning, and the contract is cot", "没有推理过程，而约定为 cot"})
		}
		return
	}
	if s := emit.BracketedLetter(reasoning); s != "" {
		out.add(letterInReasoning, at, msg.Text{"%s", "%s"}, s)
	}
	switch c := k.o.Contract; {
	case !last:
		out.add(historyReasoning, at, msg.Text{})
	case c != "" && c != emit.CoT:
		out.add(notTheContract, at, msg.Text{"it has reasoning, and the contract is %s", "含推理过程，而约定为 %s"}, string(c))
	}
}

// lintTools looks for control tokens in the definitions of tools, which the
// template renders as they are.
func lintTools(row *fastjson.Value, out *found) {
	if row.Type() != fastjson.TypeObject {
		return
	}
	if tools := row.Get("tools"); tools != nil {
		out.control(string(tools.MarshalTo(nil)), "/tools")
	}
}

// ownBlock takes off a think block written as the model writes it.
func ownBlock(s string) (block, rest string, ok bool) {
	inner, ok := strings.CutPrefix(s, "<think>\n")
	if !ok {
		return "", s, false
	}
	block, rest, ok = strings.Cut(inner, "\n</think>\n\n")
	return block, rest, ok && strings.Trim(block, "\n") == block
}

// control finds the spelling of a special token in an answer's parts.
func (f *found) control(text, at string) {
	if s, ok := qwen3.FindSpecial(text); ok {
		f.add(specialToken, at, msg.Text{"%s", "%s"}, s.Text)
	}
}

// switchIn returns the last of Qwen3's soft switches in a text, "" for none.
func switchIn(s string) string {
	if !strings.Contains(s, "think") {
		return ""
	}
	found, at := "", -1
	for _, w := range []string{"/think", "/no_think"} {
		for from := 0; ; {
			i := strings.Index(s[from:], w)
			if i < 0 {
				break
			}
			i += from
			from = i + len(w)
			// a path or an address is no switch
			if (i == 0 || !wordByte(s[i-1])) && (from == len(s) || !wordByte(s[from])) && i > at {
				found, at = w, i
			}
		}
	}
	return found
}

// wordByte reports the bytes of words, paths and addresses.
func wordByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("_-./:<", c) >= 0
}
