package submission

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/valyala/fastjson"
)

// a problem is what is wrong with a training row.
type problem struct {
	pointer string
	text    msg.Text
	args    []any
}

func wrong(pointer string, text msg.Text, args ...any) *problem {
	return &problem{pointer, text, args}
}

// rowChecker reads training rows. It is for one goroutine.
type rowChecker struct {
	p       fastjson.Parser
	methods []string
}

// check says what keeps a trainer from using a row; nil when nothing does.
func (r *rowChecker) check(line []byte) *problem {
	// the fast parser forgives what Python's does not
	if !json.Valid(line) {
		var v any
		err := json.Unmarshal(line, &v)
		return wrong("", msg.Text{"not valid JSON: %v", "不是有效的 JSON：%v"}, err)
	}
	v, err := r.p.ParseBytes(line)
	if err != nil {
		return wrong("", msg.Text{"not valid JSON: %v", "不是有效的 JSON：%v"}, err)
	}
	if v.Type() != fastjson.TypeObject {
		return wrong("", msg.Text{"a row must be an object, not %s", "一行必须是对象，而不是 %s"}, v.Type().String())
	}
	has := func(key string) bool { f := v.Get(key); return f != nil && f.Type() != fastjson.TypeNull }
	switch {
	case has("messages"):
		return checkTurns("/messages", v.Get("messages"))
	case has("conversations"):
		return checkTurns("/conversations", v.Get("conversations"))
	case has("instruction"):
		return checkPair(v, "instruction", "output")
	case has("query"):
		return checkPair(v, "query", "response")
	case has("prompt") && (has("completion") || has("chosen")), has("chosen") && has("rejected"):
		return nil // text or turns on both sides: their templates differ by trainer
	case has("text"):
		// plain text is only for going on with pre-training
		if !slices.Contains(r.methods, "cpt") {
			return wrong("/text", msg.Text{"plain text, and cpt is not declared", "为纯文本，但未声明 cpt"})
		}
		if text, ok := text(v.Get("text")); !ok || strings.TrimSpace(text) == "" {
			return wrong("/text", msg.Text{"the text is empty", "文本为空"})
		}
		return nil
	}
	return wrong("", msg.Text{"no conversation: messages, conversations, instruction or prompt is missing", "没有对话：缺少 messages、conversations、instruction 或 prompt"})
}

func checkPair(v *fastjson.Value, ask, answer string) *problem {
	for _, f := range []struct {
		key  string
		what msg.Text
	}{
		{ask, msg.Text{"the question is empty", "提问为空"}},
		{answer, msg.Text{"the answer is empty", "回答为空"}},
	} {
		if s, ok := text(v.Get(f.key)); !ok || strings.TrimSpace(s) == "" {
			return wrong("/"+f.key, f.what)
		}
	}
	return nil
}

// checkTurns wants: at most one system message, first; then user and assistant
// in turn (tools after an assistant); the assistant last, and never silent.
func checkTurns(pointer string, list *fastjson.Value) *problem {
	turns, err := list.Array()
	if err != nil {
		return wrong(pointer, msg.Text{"the conversation is not a list", "对话不是列表"})
	}
	if len(turns) == 0 {
		return wrong(pointer, msg.Text{"the conversation is empty", "对话为空"})
	}
	last := ""
	for i, t := range turns {
		if p := checkTurn(t, &last); p != nil {
			p.pointer = pointer + "/" + strconv.Itoa(i)
			return p
		}
	}
	if last != "assistant" {
		return wrong(pointer, msg.Text{"the conversation ends with %s, not with the assistant", "对话以 %s 结尾，而不是助手"}, last)
	}
	return nil
}

// checkTurn checks one message that follows the role last, and moves last on.
func checkTurn(t *fastjson.Value, last *string) *problem {
	named := string(t.GetStringBytes("role")) + string(t.GetStringBytes("from"))
	role := roleOf(named)
	switch {
	case role == "":
		return wrong("", msg.Text{"unknown role %q", "未知的角色 %q"}, named)
	case !follows(role, *last) && *last == "":
		return wrong("", msg.Text{"the conversation begins with %s", "对话以 %s 开头"}, role)
	case !follows(role, *last):
		return wrong("", msg.Text{"%s comes after %s", "%s 紧跟在 %s 之后"}, role, *last)
	}
	content := t.Get("content")
	if content == nil {
		content = t.Get("value")
	}
	s, ok := text(content)
	calls := len(t.GetArray("tool_calls")) > 0
	switch {
	case !ok && role == "assistant" && calls:
	case !ok:
		return wrong("", msg.Text{"a message without text", "消息没有文本"})
	case role == "assistant" && !calls && strings.TrimSpace(answerOf(s)) == "":
		return wrong("", msg.Text{"the assistant says nothing", "助手的回答为空"})
	case role == "user" && strings.TrimSpace(s) == "":
		return wrong("", msg.Text{"the user says nothing", "用户的提问为空"})
	case strings.Contains(s, "<|im_start|>") || strings.Contains(s, "<|im_end|>"):
		return wrong("", msg.Text{"the text holds a control token of the template (%s)", "文本含有模板控制符（%s）"}, "<|im_…|>")
	}
	*last = role
	return nil
}

func roleOf(name string) string {
	switch strings.ToLower(name) {
	case "system":
		return "system"
	case "user", "human":
		return "user"
	case "assistant", "gpt", "function_call":
		return "assistant"
	case "tool", "observation", "function":
		return "tool"
	}
	return ""
}

func follows(role, last string) bool {
	switch role {
	case "system":
		return last == ""
	case "user":
		return last == "" || last == "system" || last == "assistant"
	case "assistant":
		return last == "user" || last == "tool"
	case "tool":
		return last == "assistant" || last == "tool"
	}
	return false
}

// text returns a string, or the text of a list of parts, joined.
func text(v *fastjson.Value) (string, bool) {
	if v == nil {
		return "", false
	}
	switch v.Type() {
	case fastjson.TypeString:
		return string(v.GetStringBytes()), true
	case fastjson.TypeArray:
		s := ""
		for _, p := range v.GetArray() {
			s += string(p.GetStringBytes("text"))
		}
		return s, true
	}
	return "", false
}

// answerOf drops a think block at the front.
func answerOf(s string) string {
	s = strings.TrimSpace(s)
	if strings.HasPrefix(s, "<think>") {
		if _, after, ok := strings.Cut(s, "</think>"); ok {
			return after
		}
	}
	return s
}
