package qwen3

import (
	"encoding/json"
	"strings"

	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
)

// A Conversation is what the chat template renders.
type Conversation struct {
	Messages []Message         `json:"messages"`
	Tools    []json.RawMessage `json:"tools"`
}

// A Message is one turn.
type Message struct {
	Role string
	// Content is the text; "" where the turn has none, which is also what the
	// template makes of a list of parts.
	Content string
	// Text is set when the content is a string.
	Text bool
	// Reasoning is the thinking given apart from the content; nil: none, and the
	// template looks for </think> in the content.
	Reasoning *string
	ToolCalls []ToolCall
}

// A ToolCall is a call an assistant turn makes.
type ToolCall struct {
	Name      string
	Arguments json.RawMessage // a JSON string is written as it is, anything else as JSON
}

// UnmarshalJSON reads a turn as OpenAI's API writes it.
func (m *Message) UnmarshalJSON(data []byte) error {
	var raw struct {
		Role      string          `json:"role"`
		Content   json.RawMessage `json:"content"`
		Reasoning json.RawMessage `json:"reasoning_content"`
		ToolCalls []ToolCall      `json:"tool_calls"`
	}
	if err := json.Unmarshal(data, &raw); err != nil {
		return err
	}
	*m = Message{Role: raw.Role, ToolCalls: raw.ToolCalls}
	m.Text = json.Unmarshal(raw.Content, &m.Content) == nil && len(raw.Content) > 0 && raw.Content[0] == '"'
	var reasoning string
	if len(raw.Reasoning) > 0 && raw.Reasoning[0] == '"' && json.Unmarshal(raw.Reasoning, &reasoning) == nil {
		m.Reasoning = &reasoning
	}
	return nil
}

// UnmarshalJSON reads a call with or without its "function" wrapping.
func (c *ToolCall) UnmarshalJSON(data []byte) error {
	type flat struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	}
	var raw struct {
		flat
		Function *flat `json:"function"`
	}
	if err := json.Unmarshal(data, &raw); err != nil {
		return err
	}
	if raw.Function != nil {
		raw.flat = *raw.Function
	}
	*c = ToolCall(raw.flat)
	return nil
}

// RenderOptions are what a server or trainer tells the template.
type RenderOptions struct {
	// GenerationPrompt opens the assistant's turn that is to come.
	GenerationPrompt bool
	// NoThinking is enable_thinking=false: the opened turn begins with an empty
	// think block. True and unset are the same to the template.
	NoThinking bool
}

// EmptyThink is the block of a turn without thinking.
const EmptyThink = "<think>\n\n</think>\n\n"

const (
	toolsHead = "# Tools\n\nYou may call one or more functions to assist with the user query.\n\n" +
		"You are provided with function signatures within <tools></tools> XML tags:\n<tools>"
	toolsFoot = "\n</tools>\n\nFor each function call, return a json object with function name and arguments within " +
		"<tool_call></tool_call> XML tags:\n<tool_call>\n{\"name\": <function-name>, \"arguments\": <args-json-object>}\n</tool_call><|im_end|>\n"
)

// Render appends the text Qwen3-8B's chat template makes of a conversation, byte
// for byte what Jinja renders (the template's text of trl 1.16.0, sha256
// a55ee1b1…). Where the template fails, Render returns an error that says which
// turn.
//
// What surprises: the last turn of an assistant always gets a think block, empty
// when it has no thinking; thinking before the last question is dropped; a
// turn of an unknown role is not rendered at all.
func Render(dst []byte, c *Conversation, o RenderOptions) ([]byte, error) {
	if len(c.Messages) == 0 {
		return dst, fail.New(fail.Config, msg.Text{"no turn to render", "没有可渲染的消息"})
	}
	first := &c.Messages[0]
	if first.Role == "system" && !first.Text {
		return dst, fail.New(fail.Config, msg.Text{"messages[0]: the content of a system turn must be text", "messages[0]：system 消息的 content 必须是文本"})
	}
	switch {
	case len(c.Tools) > 0:
		dst = append(dst, "<|im_start|>system\n"...)
		if first.Role == "system" {
			dst = append(append(dst, first.Content...), "\n\n"...)
		}
		dst = append(dst, toolsHead...)
		for i, tool := range c.Tools {
			var err error
			if dst, err = appendPythonJSON(append(dst, '\n'), tool); err != nil {
				return dst, fail.New(fail.Config, msg.Text{"tools[%d]: %v", "tools[%d]：%v"}, i, err)
			}
		}
		dst = append(dst, toolsFoot...)
	case first.Role == "system":
		dst = turn(dst, "system", first.Content)
	}
	last := c.lastQuery()
	for i := range c.Messages {
		m := &c.Messages[i]
		switch {
		case m.Role == "user", m.Role == "system" && i > 0:
			dst = turn(dst, m.Role, m.Content)
		case m.Role == "assistant":
			var err error
			if dst, err = m.assistant(dst, i > last, i == len(c.Messages)-1); err != nil {
				return dst, fail.New(fail.Config, msg.Text{"messages[%d]: %v", "messages[%d]：%v"}, i, err)
			}
		case m.Role == "tool":
			if i == 0 || c.Messages[i-1].Role != "tool" {
				dst = append(dst, "<|im_start|>user"...)
			}
			dst = append(append(append(dst, "\n<tool_response>\n"...), m.Content...), "\n</tool_response>"...)
			if i == len(c.Messages)-1 || c.Messages[i+1].Role != "tool" {
				dst = append(dst, "<|im_end|>\n"...)
			}
		}
	}
	if o.GenerationPrompt {
		dst = append(dst, "<|im_start|>assistant\n"...)
		if o.NoThinking {
			dst = append(dst, EmptyThink...)
		}
	}
	return dst, nil
}

func turn(dst []byte, role, content string) []byte {
	dst = append(append(append(dst, "<|im_start|>"...), role...), '\n')
	return append(append(dst, content...), "<|im_end|>\n"...)
}

// lastQuery returns the last user turn that is more than a tool's response.
func (c *Conversation) lastQuery() int {
	for i := len(c.Messages) - 1; i >= 0; i-- {
		m := &c.Messages[i]
		if m.Role == "user" && m.Text && !(strings.HasPrefix(m.Content, "<tool_response>") && strings.HasSuffix(m.Content, "</tool_response>")) {
			return i
		}
	}
	return len(c.Messages) - 1
}

// Thinking splits a turn into its thinking and its answer as the template does.
func (m *Message) Thinking() (reasoning, answer string) {
	if m.Reasoning != nil {
		return *m.Reasoning, m.Content
	}
	before, _, ok := strings.Cut(m.Content, "</think>")
	if !ok {
		return "", m.Content
	}
	before = strings.TrimRight(before, "\n")
	if i := strings.LastIndex(before, "<think>"); i >= 0 {
		before = before[i+len("<think>"):]
	}
	after := m.Content[strings.LastIndex(m.Content, "</think>")+len("</think>"):]
	return strings.TrimLeft(before, "\n"), strings.TrimLeft(after, "\n")
}

func (m *Message) assistant(dst []byte, afterQuery, last bool) ([]byte, error) {
	reasoning, content := m.Thinking()
	dst = append(dst, "<|im_start|>assistant\n"...)
	if afterQuery && (last || reasoning != "") {
		dst = append(append(append(dst, "<think>\n"...), strings.Trim(reasoning, "\n")...), "\n</think>\n\n"...)
		dst = append(dst, strings.TrimLeft(content, "\n")...)
	} else {
		dst = append(dst, content...)
	}
	for i := range m.ToolCalls {
		if i > 0 || content != "" {
			dst = append(dst, '\n')
		}
		var err error
		if dst, err = m.ToolCalls[i].render(dst); err != nil {
			return dst, fail.New(fail.Config, msg.Text{"tool_calls[%d]: %v", "tool_calls[%d]：%v"}, i, err)
		}
	}
	return append(dst, "<|im_end|>\n"...), nil
}

func (c *ToolCall) render(dst []byte) ([]byte, error) {
	dst = append(append(append(dst, "<tool_call>\n{\"name\": \""...), c.Name...), "\", \"arguments\": "...)
	var text string
	if len(c.Arguments) > 0 && c.Arguments[0] == '"' && json.Unmarshal(c.Arguments, &text) == nil {
		dst = append(dst, text...)
	} else {
		var err error
		if dst, err = appendPythonJSON(dst, c.Arguments); err != nil {
			return dst, err
		}
	}
	return append(dst, "}\n</tool_call>"...), nil
}
