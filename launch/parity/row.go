package parity

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/launch/feed"
	"github.com/drydock-ml/drydock/qwen3"

	"github.com/valyala/fastjson"
)

// Columns name the fields of a row, as LLaMA-Factory's dataset_info.json does. A
// field that is "" is not there.
type Columns struct {
	Alpaca                           bool // Prompt, Query, Response and History; else Messages
	Prompt, Query, Response, History string
	Messages, System                 string
	Role, Content                    string // tags of a turn
	User, Assistant, SystemRole      string // values of Role; others are no role that is known
	Chosen, Rejected                 string // of preference pairs, behind the prompt
	Label                            string // of rows that a boolean says are good or bad (KTO)
	Text                             string // of rows of running text, which have nothing else
	Strict                           bool   // only these names; else the usual shapes are known, too
}

// A row is a training row as a conversation.
type row struct {
	id       string
	conv     qwen3.Conversation
	pointers []string // of each message's text, RFC 6901
	// tooled is set where functions are offered or called, foreign for what no
	// trainer's feed is known for.
	tooled, foreign bool
	reserved        []string // columns beside the conversation that the trainer takes for its own
	running         *running // of a row that holds no conversation
	layout          feed.Layout
	rejected        *row // the losing answer of a preference pair, behind the same turns
	rated           bool // a label says whether the answer is good (KTO)
	// unanswered is where a losing answer is null; "": nowhere
	unanswered string
}

// rowParser reads rows; it is not safe for concurrent use.
type rowParser struct {
	json     fastjson.Parser
	columns  Columns
	reserved []string        // names the trainer takes for its own
	value    *fastjson.Value // of the last row, until the next; nil where it is no JSON
}

// parse reads one row. The error is of kind partial; its column is the byte of
// the row.
func (p *rowParser) parse(data []byte) (*row, error) {
	p.value = nil
	if !utf8.Valid(data) {
		return nil, fail.New(fail.Partial, msg.Text{"not UTF-8", "不是 UTF-8"}).
			Hint(msg.Text{"drydock prep FILE reads other encodings", "drydock prep FILE 可读取其他编码"})
	}
	if !json.Valid(data) {
		return nil, notJSON(data)
	}
	v, err := p.json.ParseBytes(data)
	p.value = v
	if err != nil { // nested deeper than it reads
		return nil, fail.New(fail.Partial, msg.Text{"not read: %v", "无法读取：%v"}, err)
	}
	if v.Type() == fastjson.TypeArray {
		r := &row{}
		return r, p.turns(r, "", v, usualTags())
	}
	if v.Type() != fastjson.TypeObject {
		return nil, bad("", msg.Text{"a row must be an object", "一行必须是对象"})
	}
	r := &row{id: idOf(v)}
	if !p.columns.Strict || p.columns.Text != "" {
		var err error
		if r.running, err = p.runningOf(v); r.running != nil || err != nil {
			return r, err
		}
	}
	if err := p.shape(r, v); err != nil {
		return nil, err
	}
	if err := p.pair(r, v); err != nil {
		return nil, err
	}
	if len(r.conv.Messages) == 0 {
		return nil, bad("", msg.Text{"the conversation has no turn", "对话中没有消息"})
	}
	r.layout.NoThinking = isFalse(v.Get("chat_template_kwargs", "enable_thinking"))
	for _, name := range p.columns.labels() {
		r.rated = r.rated || r.rejected == nil && isBool(v.Get(name))
	}
	p.beside(r, v)
	return r, nil
}

// Conversation reads a training row of a usual shape as [Check] does. The error is
// of kind partial.
func Conversation(data []byte) (*qwen3.Conversation, error) {
	var p rowParser
	r, err := p.parse(data)
	switch {
	case err != nil:
		return nil, err
	case r.running != nil:
		return nil, bad("", msg.Text{"no conversation in it", "其中没有对话"})
	case r.foreign:
		return nil, bad("", msg.Text{"what it holds beside text and functions cannot be rendered", "除文本与函数之外的内容无法渲染"})
	}
	return &r.conv, nil
}

func notJSON(data []byte) error {
	var any json.RawMessage
	err := json.Unmarshal(data, &any)
	var s *json.SyntaxError
	e := fail.New(fail.Partial, msg.Text{"not valid JSON: %v", "不是有效的 JSON：%v"}, err)
	if errors.As(err, &s) {
		e = e.At(fail.Where{Column: int(s.Offset)})
	}
	return e
}

func bad(pointer string, text msg.Text, args ...any) error {
	if pointer == "" {
		return fail.New(fail.Partial, text, args...)
	}
	return fail.New(fail.Partial, msg.Text{"%s: %s", "%s：%s"}, pointer, msg.Phrase{Text: text, Args: args})
}

func idOf(v *fastjson.Value) string {
	switch id := v.Get("id"); {
	case id == nil:
		return ""
	case id.Type() == fastjson.TypeString:
		return string(id.GetStringBytes())
	case id.Type() == fastjson.TypeNumber:
		return id.String()
	}
	return ""
}

// shape finds the fields that hold the conversation.
func (p *rowParser) shape(r *row, v *fastjson.Value) error {
	c := p.columns
	r.foreign = present(v, "functions")
	if r.tooled = present(v, "tools"); r.tooled {
		var ok bool
		r.conv.Tools, ok = toolsOf(v)
		r.foreign = r.foreign || !ok
	}
	switch {
	case c.Strict && c.Alpaca:
		return p.alpaca(r, v, c)
	case c.Strict:
		return p.conversation(r, v, c)
	case v.Exists("messages"):
		return p.turns(r, "/messages", v.Get("messages"), usualTags())
	case v.Exists("conversations"):
		c = usualTags()
		c.Messages, c.System = "conversations", "system"
		return p.conversation(r, v, c)
	case v.Exists("prompt") && (v.Exists("completion") || v.Exists("chosen")):
		r.layout.Prompt = true
		return p.completion(r, v)
	case v.Exists("instruction") || v.Exists("output"):
		return p.alpaca(r, v, Columns{Prompt: "instruction", Query: "input", Response: "output", System: "system", History: "history"})
	}
	return bad("", msg.Text{
		"no conversation in it: none of messages, conversations, prompt with completion, instruction with output",
		"其中没有对话：没有 messages、conversations、prompt 加 completion、instruction 加 output 中的任何一种",
	})
}

// labels are the fields that may say whether an answer is good.
func (c *Columns) labels() []string {
	if c.Strict {
		return []string{c.Label}
	}
	return []string{"label", "kto_tag"}
}

func isBool(v *fastjson.Value) bool {
	return isFalse(v) || v != nil && v.Type() == fastjson.TypeTrue
}

func isFalse(v *fastjson.Value) bool { return v != nil && v.Type() == fastjson.TypeFalse }

// beside lists the columns that are no part of the conversation and have a name
// of the trainer's.
func (p *rowParser) beside(r *row, v *fastjson.Value) {
	own := map[string]bool{}
	for _, at := range r.pointers {
		name, _, _ := strings.Cut(at[1:], "/")
		own[name] = true
	}
	v.GetObject().Visit(func(key []byte, f *fastjson.Value) {
		name := string(key)
		if (name == "label" || name == "kto_tag") && f.Type() == fastjson.TypeString || slices.Contains(p.reserved, name) && !own[name] && !partOfRow(name, own) {
			r.reserved = append(r.reserved, name)
		}
	})
}

// partOfRow reports the fields that rows of a known shape have besides their
// turns: those of preference pairs, and what is empty in most rows of Alpaca's.
func partOfRow(name string, own map[string]bool) bool {
	switch name {
	case "chosen", "rejected", "rejected_response", "rejected_messages", "label", "kto_tag":
		return true
	case "input", "history", "system", "output":
		return own["instruction"] || own["output"] || own["conversations"]
	}
	return false
}

// present reports a field that holds something.
func present(v *fastjson.Value, name string) bool {
	f := v.Get(name)
	switch {
	case f == nil, f.Type() == fastjson.TypeNull:
		return false
	case f.Type() == fastjson.TypeArray:
		return len(f.GetArray()) > 0
	case f.Type() == fastjson.TypeString:
		s := string(f.GetStringBytes())
		return s != "" && s != "[]"
	}
	return true
}

// usualTags are OpenAI's names; ShareGPT's are known beside them.
func usualTags() Columns { return Columns{} }

// conversation reads a list of turns and the system text beside it.
func (p *rowParser) conversation(r *row, v *fastjson.Value, c Columns) error {
	if err := p.system(r, v, c.System); err != nil {
		return err
	}
	return p.turns(r, "/"+c.Messages, v.Get(c.Messages), c)
}

func (p *rowParser) system(r *row, v *fastjson.Value, name string) error {
	if name == "" {
		return nil
	}
	s, there, err := text(v, "", name)
	if there && s != "" {
		r.add("system", s, "/"+name)
	}
	return err
}

func (r *row) add(role, content, pointer string) {
	r.conv.Messages = append(r.conv.Messages, qwen3.Message{Role: role, Content: content, Text: true})
	r.pointers = append(r.pointers, pointer)
}

// text returns a field that must be a string where it is there and not null.
func text(v *fastjson.Value, at, name string) (s string, there bool, err error) {
	switch f := v.Get(name); {
	case f == nil || f.Type() == fastjson.TypeNull:
		return "", false, nil
	case f.Type() == fastjson.TypeString:
		return string(f.GetStringBytes()), true, nil
	default:
		return "", false, bad(at+"/"+name, msg.Text{"must be a string, not %s", "必须是字符串，而不是 %s"}, f.Type().String())
	}
}

// turns reads a list of turns.
func (p *rowParser) turns(r *row, at string, v *fastjson.Value, c Columns) error {
	if v == nil || v.Type() != fastjson.TypeArray {
		return bad(at, msg.Text{"must be a list of turns", "必须是消息列表"})
	}
	for i, t := range v.GetArray() {
		here := fmt.Sprintf("%s/%d", at, i)
		if t.Type() != fastjson.TypeObject {
			return bad(here, msg.Text{"a turn must be an object", "每条消息必须是对象"})
		}
		if err := p.turn(r, here, t, c); err != nil {
			return err
		}
	}
	return nil
}

func (p *rowParser) turn(r *row, at string, t *fastjson.Value, c Columns) error {
	roleName, contentName := c.Role, c.Content
	if roleName == "" {
		roleName, contentName = "role", "content"
		if !t.Exists("role") && t.Exists("from") {
			roleName, contentName = "from", "value"
		}
	}
	role, there, err := text(t, at, roleName)
	if err != nil {
		return err
	}
	if !there {
		return bad(at, msg.Text{"has no %s", "没有 %s"}, roleName)
	}
	role = c.roleOf(role)
	content, there, err := text(t, at, contentName)
	calls, known := callsOf(t)
	r.tooled = r.tooled || len(calls) > 0 || role == "tool"
	r.foreign = r.foreign || !known || present(t, "function_call") || role == "observation" || role == "function_call" || role == "function"
	if err != nil {
		return err
	}
	if !there && len(calls) == 0 && !r.foreign {
		return bad(at, msg.Text{"has no %s", "没有 %s"}, contentName)
	}
	r.add(role, content, at+"/"+contentName)
	m := &r.conv.Messages[len(r.conv.Messages)-1]
	m.Text, m.ToolCalls = there, calls
	for _, name := range []string{"reasoning_content", "reasoning"} {
		if s, there, err := text(t, at, name); err != nil {
			return err
		} else if there {
			m.Reasoning = &s
			break
		}
	}
	return nil
}

// roleOf maps the names of roles to the template's; others stay as they are.
func (c Columns) roleOf(s string) string {
	if c.Role != "" {
		switch s {
		case c.User:
			return "user"
		case c.Assistant:
			return "assistant"
		case c.SystemRole:
			return "system"
		case "user", "assistant", "system":
			return "(" + s + ")" // the trainer knows it by another name only
		}
		return s
	}
	switch s {
	case "human":
		return "user"
	case "gpt":
		return "assistant"
	}
	return s
}

// completion reads a prompt and its completion: lists of turns, or texts.
func (p *rowParser) completion(r *row, v *fastjson.Value) error {
	for _, f := range []struct{ name, role string }{{"prompt", "user"}, {"completion", "assistant"}} {
		part := v.Get(f.name)
		if part == nil { // of a pair
			continue
		}
		if part.Type() == fastjson.TypeString {
			r.add(f.role, string(part.GetStringBytes()), "/"+f.name)
			continue
		}
		if err := p.turns(r, "/"+f.name, part, usualTags()); err != nil {
			return err
		}
	}
	return nil
}

// alpaca reads an instruction, its input and its output: LLaMA-Factory joins the
// two by a line end and leaves out what is empty.
func (p *rowParser) alpaca(r *row, v *fastjson.Value, c Columns) error {
	if err := p.system(r, v, c.System); err != nil {
		return err
	}
	if h := v.Get(c.History); c.History != "" && h != nil {
		for i, pair := range h.GetArray() {
			two := pair.GetArray()
			if len(two) != 2 || two[0].Type() != fastjson.TypeString || two[1].Type() != fastjson.TypeString {
				return bad(fmt.Sprintf("/%s/%d", c.History, i), msg.Text{"must be a question and its answer", "必须是一问一答"})
			}
			r.add("user", string(two[0].GetStringBytes()), fmt.Sprintf("/%s/%d/0", c.History, i))
			r.add("assistant", string(two[1].GetStringBytes()), fmt.Sprintf("/%s/%d/1", c.History, i))
		}
	}
	prompt, _, err := text(v, "", c.Prompt)
	if err != nil {
		return err
	}
	query, at := "", "/"+c.Prompt
	if c.Query != "" {
		if query, _, err = text(v, "", c.Query); err != nil {
			return err
		}
	}
	switch {
	case prompt == "":
		prompt, at = query, "/"+c.Query
	case query != "":
		prompt += "\n" + query
	}
	r.add("user", prompt, at)
	if c.Response == "" { // of a pair
		return nil
	}
	answer, there, err := text(v, "", c.Response)
	if err != nil {
		return err
	}
	if there { // an empty one is an answer, too
		r.add("assistant", answer, "/"+c.Response)
	}
	return nil
}
