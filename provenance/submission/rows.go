package submission

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/drydock-ml/drydock/internal/msg"
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

// turn is one message, whichever names its keys have.
type turn struct {
	Role      string           `json:"role"`
	From      string           `json:"from"`
	Content   *json.RawMessage `json:"content"`
	Value     *json.RawMessage `json:"value"`
	Reasoning string           `json:"reasoning_content"`
	ToolCalls json.RawMessage  `json:"tool_calls"`
}

// trainRow has the keys of the shapes that trainers read.
type trainRow struct {
	Messages      *[]turn `json:"messages"`
	Conversations *[]turn `json:"conversations"`
	Instruction   *string `json:"instruction"`
	Output        *string `json:"output"`
	Prompt        any     `json:"prompt"`
	Completion    any     `json:"completion"`
	Response      *string `json:"response"`
	Query         *string `json:"query"`
	Chosen        any     `json:"chosen"`
	Rejected      any     `json:"rejected"`
	Text          *string `json:"text"`
}

// checkRow says what keeps a trainer from using a row; nil when nothing does.
func checkRow(line []byte, methods []string) *problem {
	var row trainRow
	d := json.NewDecoder(bytes.NewReader(line))
	if err := d.Decode(&row); err != nil {
		return wrong(pointerOf(err), msg.Text{"not a training row: %s", "不是训练数据行：%s"}, strings.TrimPrefix(err.Error(), "json: "))
	}
	if d.More() || len(bytes.TrimSpace(line[d.InputOffset():])) > 0 {
		return wrong("", msg.Text{"text after the JSON object", "JSON 对象之后还有内容"})
	}
	switch {
	case row.Messages != nil:
		return checkTurns("/messages", *row.Messages)
	case row.Conversations != nil:
		return checkTurns("/conversations", *row.Conversations)
	case row.Instruction != nil:
		return checkPair("/instruction", *row.Instruction, "/output", row.Output)
	case row.Query != nil:
		return checkPair("/query", *row.Query, "/response", row.Response)
	case row.Prompt != nil && (row.Completion != nil || row.Chosen != nil):
		return nil // text or turns on both sides: their templates differ by trainer
	case row.Chosen != nil && row.Rejected != nil:
		return nil
	case row.Text != nil && *row.Text != "":
		// plain text is only for going on with pre-training
		if !slices.Contains(methods, "cpt") {
			return wrong("/text", msg.Text{"plain text, and cpt is not declared", "为纯文本，但未声明 cpt"})
		}
		return nil
	}
	return wrong("", msg.Text{"no conversation: messages, conversations, instruction or prompt is missing", "没有对话：缺少 messages、conversations、instruction 或 prompt"})
}

func checkPair(ask, question, answer string, text *string) *problem {
	switch {
	case strings.TrimSpace(question) == "":
		return wrong(ask, msg.Text{"the question is empty", "提问为空"})
	case text == nil || strings.TrimSpace(*text) == "":
		return wrong(answer, msg.Text{"the answer is empty", "回答为空"})
	}
	return nil
}

// checkTurns wants: at most one system message, first; then user and assistant
// in turn (tools after an assistant); the assistant last, and never silent.
func checkTurns(pointer string, turns []turn) *problem {
	if len(turns) == 0 {
		return wrong(pointer, msg.Text{"the conversation is empty", "对话为空"})
	}
	last := ""
	for i, t := range turns {
		where := fmt.Sprintf("%s/%d", pointer, i)
		role := roleOf(t)
		if role == "" {
			return wrong(where, msg.Text{"unknown role %q", "未知的角色 %q"}, t.Role+t.From)
		}
		if !follows(role, last) {
			if last == "" {
				return wrong(where, msg.Text{"the conversation begins with %s", "对话以 %s 开头"}, role)
			}
			return wrong(where, msg.Text{"%s comes after %s", "%s 紧跟在 %s 之后"}, role, last)
		}
		text, ok := t.text()
		switch {
		case !ok && role == "assistant" && len(t.ToolCalls) > 0:
		case !ok:
			return wrong(where, msg.Text{"a message without text", "消息没有文本"})
		case role == "assistant" && len(t.ToolCalls) == 0 && strings.TrimSpace(answerOf(text)) == "":
			return wrong(where, msg.Text{"the assistant says nothing", "助手的回答为空"})
		case role == "user" && strings.TrimSpace(text) == "":
			return wrong(where, msg.Text{"the user says nothing", "用户的提问为空"})
		}
		if strings.Contains(text, "<|im_start|>") || strings.Contains(text, "<|im_end|>") {
			return wrong(where, msg.Text{"the text holds a control token of the template (%s)", "文本含有模板控制符（%s）"}, "<|im_…|>")
		}
		last = role
	}
	if last != "assistant" {
		return wrong(pointer, msg.Text{"the conversation ends with %s, not with the assistant", "对话以 %s 结尾，而不是助手"}, last)
	}
	return nil
}

func roleOf(t turn) string {
	switch strings.ToLower(t.Role + t.From) {
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

// text returns a message's text; parts are joined.
func (t turn) text() (string, bool) {
	raw := t.Content
	if raw == nil {
		raw = t.Value
	}
	if raw == nil {
		return "", false
	}
	var s string
	if json.Unmarshal(*raw, &s) == nil && len(*raw) > 0 && (*raw)[0] == '"' {
		return s, true
	}
	var parts []struct {
		Text string `json:"text"`
	}
	if json.Unmarshal(*raw, &parts) != nil || parts == nil {
		return "", false
	}
	for _, p := range parts {
		s += p.Text
	}
	return s, true
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
