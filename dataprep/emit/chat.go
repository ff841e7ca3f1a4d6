package emit

import (
	"fmt"
	"strings"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/internal/msg"

	"github.com/valyala/fastjson"
)

// messagesAsRead is the name under which a conversation keeps its turns as they
// stood, when they carry more than role, text and reasoning.
const messagesAsRead = "messages"

func chatShape() Shape {
	return Shape{
		Name:    "chat",
		Summary: msg.Text{"Conversations: OpenAI messages or ShareGPT conversations.", "对话：OpenAI messages 或 ShareGPT conversations 格式。"},
		Sniff: func(row []byte) bool {
			return hasFields(row, "messages") || hasFields(row, "conversations")
		},
		Decode: decoder(decodeChat),
	}
}

func decodeChat(in *reader) *drydock.Record {
	c := &drydock.Chat{}
	rec := &drydock.Record{Chat: c}
	turns := "messages"
	if in.o.Get("conversations") != nil && in.o.Get(turns) == nil {
		turns = "conversations"
	}
	in.o.Visit(func(key []byte, v *fastjson.Value) {
		switch name := string(key); name {
		case turns:
			c.Messages = in.turns(name, v, &c.Extra)
		case "id":
			rec.RowID = in.rowID()
		case "system":
			// ShareGPT holds the system turn beside the others; null is none
			switch {
			case v.Type() == fastjson.TypeNull:
			case v.Type() != fastjson.TypeString:
				in.fail(name, "a string", v)
			}
		case "tools":
			if v.Type() != fastjson.TypeNull && !isEmptyTools(v) {
				c.Tools = rawValue(v)
			}
		case "label", "kto_tag":
			switch v.Type() {
			case fastjson.TypeTrue, fastjson.TypeFalse:
				label := v.Type() == fastjson.TypeTrue
				c.Label = &label
			default:
				c.Extra = append(c.Extra, drydock.RawField{Name: name, Value: rawValue(v)})
			}
		case "rejected", "rejected_messages", "rejected_response":
			c.Rejected = in.rejected(name, v, &c.Extra)
		case "chosen":
			// the winning answer of a pair ends the conversation
		default:
			c.Extra = append(c.Extra, drydock.RawField{Name: name, Value: rawValue(v)})
		}
	})
	if s := in.text("system"); in.err == nil && s != "" {
		c.Messages = append([]drydock.Message{{Role: "system", Content: s}}, c.Messages...)
	}
	if v := in.o.Get("chosen"); v != nil && in.err == nil {
		c.Messages = append(c.Messages, in.rejected("chosen", v, &c.Extra)...)
	}
	if c.Messages == nil && in.err == nil {
		in.fail(turns, "", nil)
	}
	return rec
}

func isEmptyTools(v *fastjson.Value) bool {
	s := strings.TrimSpace(string(rawValue(v)))
	return s == `""` || s == "[]" || s == `"[]"`
}

// rejected reads an answer of a preference pair: text, one turn or several.
func (r *reader) rejected(name string, v *fastjson.Value, extra *[]drydock.RawField) []drydock.Message {
	switch v.Type() {
	case fastjson.TypeNull:
		return nil
	case fastjson.TypeString:
		b, _ := v.StringBytes()
		return []drydock.Message{{Role: "assistant", Content: string(b)}}
	case fastjson.TypeObject:
		m, _ := r.turn(name, 1, v)
		return []drydock.Message{m}
	}
	return r.turns(name, v, extra)
}

// turns reads a list of turns. Where one holds more than a Message can, the
// whole list is kept as it stood in extra.
func (r *reader) turns(name string, v *fastjson.Value, extra *[]drydock.RawField) []drydock.Message {
	list, err := v.Array()
	if err != nil {
		r.fail(name, "a list of turns", v)
		return nil
	}
	out := make([]drydock.Message, 0, len(list))
	more := false
	for i, e := range list {
		m, foreign := r.turn(name, i+1, e)
		more = more || foreign
		out = append(out, m)
	}
	if more {
		*extra = append(*extra, drydock.RawField{Name: messagesAsRead, Value: rawValue(v)})
	}
	return out
}

// turn reads {"role","content"} or {"from","value"}. foreign reports fields or
// content parts that a Message does not hold.
func (r *reader) turn(name string, at int, v *fastjson.Value) (m drydock.Message, foreign bool) {
	where := func(field string) string { return fmt.Sprintf("%s[%d].%s", name, at, field) }
	o, err := v.Object()
	if err != nil {
		r.fail(fmt.Sprintf("%s[%d]", name, at), "an object", v)
		return m, false
	}
	nothing := false
	o.Visit(func(key []byte, v *fastjson.Value) {
		switch field := string(key); field {
		case "role", "from":
			b, err := v.StringBytes()
			if err != nil {
				r.fail(where(field), "a string", v)
			}
			m.Role = roleOf(string(b))
		case "content", "value":
			var parts bool
			m.Content, parts, nothing = r.content(where(field), v)
			foreign = foreign || parts
		case "reasoning_content", "reasoning":
			if b, err := v.StringBytes(); err == nil {
				m.Reasoning = string(b)
			} else if v.Type() != fastjson.TypeNull {
				foreign = true
			}
		default:
			foreign = foreign || v.Type() != fastjson.TypeNull
		}
	})
	switch {
	case m.Role == "":
		r.fail(where("role"), "", nil)
	case nothing && !foreign:
		r.fail(where("content"), "a string", v.Get("content"))
	}
	return m, foreign
}

// content reads a turn's text: a string, or text parts joined. parts reports
// parts of another kind; nothing reports null.
func (r *reader) content(where string, v *fastjson.Value) (text string, parts, nothing bool) {
	switch v.Type() {
	case fastjson.TypeString:
		b, _ := v.StringBytes()
		return string(b), false, false
	case fastjson.TypeNull:
		return "", false, true
	case fastjson.TypeArray:
		list, _ := v.Array()
		var b strings.Builder
		for _, p := range list {
			s := p.Get("text")
			if s == nil {
				s = p.Get("value")
			}
			if s == nil || s.Type() != fastjson.TypeString || string(p.GetStringBytes("type")) != "text" {
				parts = true
				continue
			}
			t, _ := s.StringBytes()
			b.Write(t)
		}
		return b.String(), parts, false
	}
	r.fail(where, "a string", v)
	return "", false, false
}

// roleOf maps ShareGPT's names to OpenAI's; others stay.
func roleOf(s string) string {
	switch s {
	case "human":
		return "user"
	case "gpt", "bot", "model":
		return "assistant"
	case "observation", "tool_response", "function_response":
		return "tool"
	}
	return s
}
