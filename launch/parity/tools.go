package parity

import (
	"encoding/json"

	"github.com/drydock-ml/drydock/qwen3"

	"github.com/valyala/fastjson"
)

// rendersTools reports whether a trainer renders tools by the model's own template,
// so that what it makes of them is known. LLaMA-Factory and ms-swift have formats
// of their own for them.
func rendersTools(trainer string) bool { return trainer == "trl" || trainer == "axolotl" }

// toolsOf reads the definitions of functions of a row: a list, or one that is
// written as JSON in a string. ok is false where they are something else.
func toolsOf(v *fastjson.Value) (tools []json.RawMessage, ok bool) {
	f := v.Get("tools")
	if f.Type() == fastjson.TypeString {
		var err error
		if f, err = fastjson.ParseBytes(f.GetStringBytes()); err != nil {
			return nil, false
		}
	}
	if f.Type() != fastjson.TypeArray {
		return nil, false
	}
	for _, t := range f.GetArray() {
		tools = append(tools, t.MarshalTo(nil))
	}
	return tools, true
}

// callsOf reads the calls of a turn.
func callsOf(turn *fastjson.Value) (calls []qwen3.ToolCall, ok bool) {
	f := turn.Get("tool_calls")
	if f == nil || f.Type() == fastjson.TypeNull {
		return nil, true
	}
	return calls, json.Unmarshal(f.MarshalTo(nil), &calls) == nil
}
