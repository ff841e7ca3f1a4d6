package emit

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/valyala/fastjson"

	"github.com/drydock-ml/drydock"
)

// A convTurn is one turn of a row on its way from one format to another.
type convTurn struct {
	role, content, reasoning string
	more                     []drydock.RawField // what else it carries: tool_calls, name, loss, train …
	at                       string             // JSON Pointer to it in the row it was read from
}

// A convRow is a row free of its format. What is null is not there: tables give
// null for every field that a row lacks.
type convRow struct {
	id       drydock.RawJSON // as it stood; nil: none
	turns    []convTurn
	rejected []convTurn
	label    *bool
	tools    drydock.RawJSON
	text     *string
	extra    []drydock.RawField
	// where turns, the rejected answer and the label were read
	turnsAt, rejectedAt, labelAt string
	// as is the format of a row that has no other form (see opaque), all of whose
	// fields but the id are in extra.
	as string
}

// A Refusal says why a row is not converted.
type Refusal struct {
	Reason  string // ASCII snake_case, stable
	Field   string // where it would stand, or stands: messages[2].tool_calls
	Detail  string // English, for people
	Pointer string // JSON Pointer into the row that was read; "" is the row
}

// Error names field and reason.
func (r *Refusal) Error() string { return fmt.Sprintf("%s: %s", r.Field, r.Detail) }

func lost(field, pointer, format string) error {
	return &Refusal{"field_lost", field, "the format " + format + " has no place for it", pointer}
}

// A convReader reads one row; the first refusal stays.
type convReader struct {
	row *convRow
	err error
}

func (r *convReader) refuse(reason, field, format string, args ...any) {
	if r.err == nil {
		r.err = &Refusal{reason, field, fmt.Sprintf(format, args...), pointerOf(field)}
	}
}

// convFields are the fields with a meaning, by the format that --from may name.
// Every format reads its trainer's preference and KTO fields, too.
func convFields(format string) []string {
	switch baseFormat(format) {
	case "openai", "qwen3_chat":
		return []string{"messages"}
	case "swift":
		return []string{"messages", "rejected_response", "rejected_messages", "label", "query", "response", "system", "history"}
	case "axolotl", "llamafactory":
		return []string{"messages", "conversations", "chosen", "rejected", "label", "kto_tag"}
	case "sharegpt":
		return []string{"conversations", "chosen", "rejected", "kto_tag", "system"}
	case "alpaca":
		return []string{"instruction", "input", "output", "history", "system", "chosen", "rejected", "kto_tag"}
	case "prompt_completion":
		return []string{"prompt", "completion"}
	case "trl":
		return []string{"messages", "prompt", "completion", "chosen", "rejected", "label"}
	case "text":
		return []string{"text"}
	}
	return nil
}

// convFormats lists the formats that rows are read from and written to.
var convFormats = [...]string{
	"openai", "prompt_completion", "sharegpt", "alpaca", "text", "tokens",
	"swift", "swift-dpo", "swift-kto", "swift-pretrain",
	"llamafactory", "llamafactory-dpo", "llamafactory-kto", "llamafactory-pretrain",
	"trl", "trl-dpo", "trl-kto", "axolotl", "axolotl-dpo", "axolotl-segments",
	"qwen3_chat", "question", "passage",
}

// baseFormat is the format whose fields the rows of a task have: a trainer's rows
// are read alike whatever they are for.
func baseFormat(format string) string {
	if format == "llamafactory-pretrain" {
		return "text"
	}
	for _, task := range [...]string{"-dpo", "-kto", "-pretrain"} {
		format = strings.TrimSuffix(format, task)
	}
	return format
}

// opaque names the field that a format is known by whose rows have no other form:
// what was rendered gives no conversation back, and a question is asked by a
// prompt, not converted. It is "" for the other formats.
func opaque(format string) string {
	switch format {
	case "tokens":
		return "input_ids"
	case "axolotl-segments":
		return "segments"
	case "question":
		return "stem"
	case "passage":
		return "text"
	}
	return ""
}

// sniffConv names the format of a row by its fields; "" when it has none.
func sniffConv(o *fastjson.Object) string {
	has := func(name string) bool { v := o.Get(name); return v != nil && v.Type() != fastjson.TypeNull }
	switch {
	case has("input_ids"):
		return "tokens"
	case has("segments"):
		return "axolotl-segments"
	case has("stem") && has("options"):
		return "question"
	case has("messages") && (has("rejected_response") || has("rejected_messages")):
		return "swift"
	case has("messages") && (has("chosen") || has("rejected") || has("label") || has("kto_tag")):
		return "llamafactory"
	case has("messages"):
		return "openai"
	case has("conversations"):
		return "sharegpt"
	case has("instruction"), has("input") && has("output"):
		return "alpaca"
	case has("query") && has("response"):
		return "swift"
	case has("prompt") && (has("chosen") || has("label")):
		return "trl"
	case has("prompt"):
		return "prompt_completion"
	case has("text"):
		return "text"
	}
	return ""
}

// readConv reads a row of a format.
func readConv(o *fastjson.Object, format string) (*convRow, error) {
	r := &convReader{row: &convRow{}}
	if field := opaque(format); field != "" {
		return r.asIs(o, format, field)
	}
	meant := convMeant{}
	for _, name := range convFields(format) {
		meant[name] = nil
	}
	o.Visit(func(key []byte, v *fastjson.Value) {
		name := string(key)
		_, known := meant[name]
		switch {
		case v.Type() == fastjson.TypeNull:
		case name == "id":
			r.row.id = rawValue(v)
		case name == "tools" && format != "text":
			r.row.tools = rawValue(v)
		case known:
			meant[name] = v
		default:
			r.row.extra = append(r.row.extra, drydock.RawField{Name: name, Value: rawValue(v)})
		}
	})
	r.conversation(meant, format)
	r.preference(meant)
	r.unread(meant, format)
	if format == "swift-pretrain" {
		r.assistantText()
	}
	return r.row, r.err
}

// convMeant are the fields of a row that have a meaning in its format; nil: the row
// has none of that name.
type convMeant map[string]*fastjson.Value

// take returns a field, and marks it as read.
func (f convMeant) take(name string) *fastjson.Value {
	v := f[name]
	delete(f, name)
	return v
}

// unread refuses a row in which two fields say the same thing, such as messages
// and conversations: one of them would be lost.
func (r *convReader) unread(f convMeant, format string) {
	for _, name := range convFields(format) {
		if v := f[name]; v != nil && !isEmpty(v) {
			r.refuse("conflicting_fields", name, "another field of the row says the same already; only one of them can be meant")
		}
	}
}

// isEmpty reports "" and [].
func isEmpty(v *fastjson.Value) bool {
	switch v.Type() {
	case fastjson.TypeString:
		return len(v.GetStringBytes()) == 0
	case fastjson.TypeArray:
		return len(v.GetArray()) == 0
	}
	return false
}

// asIs reads a row that has one form only.
func (r *convReader) asIs(o *fastjson.Object, format, first string) (*convRow, error) {
	if o.Get(first) == nil {
		r.refuse("missing_field", first, "the row has no such field; this is no row of %s", format)
	}
	if v := o.Get("id"); v != nil && v.Type() != fastjson.TypeNull {
		r.row.id = rawValue(v)
	}
	o.Visit(func(key []byte, v *fastjson.Value) {
		if string(key) != "id" {
			r.row.extra = append(r.row.extra, drydock.RawField{Name: string(key), Value: rawValue(v)})
		}
	})
	r.row.as, r.row.turnsAt = format, "/"+first
	return r.row, r.err
}

// assistantText takes a row of ms-swift's pretraining for what it is: text.
func (r *convReader) assistantText() {
	t := r.row.turns
	if len(t) != 1 || t[0].role != "assistant" || len(t[0].more) > 0 || t[0].reasoning != "" {
		r.refuse("wrong_type", "messages", "running text is one turn of the assistant")
		return
	}
	r.row.text, r.row.turns = &t[0].content, nil
}

// conversation reads the turns, whatever they are called.
func (r *convReader) conversation(f convMeant, format string) {
	row := r.row
	if v := f.take("system"); v != nil {
		if s := r.text("system", v); s != "" {
			row.turns = append(row.turns, convTurn{role: "system", content: s, at: "/system"})
		}
	}
	switch {
	case f["messages"] != nil:
		row.turnsAt = "/messages"
		row.turns = append(row.turns, r.turns("messages", f.take("messages"))...)
	case f["conversations"] != nil:
		row.turnsAt = "/conversations"
		row.turns = append(row.turns, r.turns("conversations", f.take("conversations"))...)
	case f["instruction"] != nil, f["input"] != nil && f["output"] != nil:
		r.alpaca(f)
	case f["query"] != nil:
		r.history(f.take("history"))
		row.turnsAt = "/query"
		row.turns = append(row.turns, convTurn{role: "user", content: r.text("query", f.take("query")), at: "/query"})
		if v := f.take("response"); v != nil {
			row.turns = append(row.turns, convTurn{role: "assistant", content: r.text("response", v), at: "/response"})
		}
	case f["prompt"] != nil:
		row.turnsAt = "/prompt"
		row.turns = append(row.turns, r.side("prompt", "user", f.take("prompt"))...)
		switch {
		case f["chosen"] != nil: // a completion beside it says the same
		case f["completion"] != nil:
			row.turns = append(row.turns, r.side("completion", "assistant", f.take("completion"))...)
		default:
			r.refuse("missing_field", "completion", "the row has a prompt and no answer")
		}
	case f["text"] != nil:
		s := r.text("text", f.take("text"))
		row.text = &s
	default:
		r.refuse("missing_field", convFields(format)[0], "the row has no such field; this is no row of %s", format)
	}
}

// alpaca reads an instruction with what surrounds it. The prompt is instruction
// and input on lines of their own, as trainers join them.
func (r *convReader) alpaca(f convMeant) {
	r.history(f.take("history"))
	prompt := ""
	r.row.turnsAt = "/input"
	if v := f.take("instruction"); v != nil {
		r.row.turnsAt = "/instruction"
		prompt = r.text("instruction", v)
	}
	if v := f.take("input"); v != nil {
		if s := r.text("input", v); s != "" && prompt != "" {
			prompt += "\n" + s
		} else if s != "" {
			prompt = s
		}
	}
	r.row.turns = append(r.row.turns, convTurn{role: "user", content: prompt, at: r.row.turnsAt})
	switch {
	case f["chosen"] != nil: // an output beside it says the same
	case f["output"] != nil:
		r.row.turns = append(r.row.turns, convTurn{role: "assistant", content: r.text("output", f.take("output")), at: "/output"})
	default:
		r.refuse("missing_field", "output", "the row has no answer")
	}
}

// history reads the questions and answers before the last; nil: there are none.
func (r *convReader) history(h *fastjson.Value) {
	if h == nil {
		return
	}
	list, err := h.Array()
	if err != nil {
		r.refuse("wrong_type", "history", "must be a list of pairs, not %s", h.Type())
	}
	for i, e := range list {
		pair, err := e.Array()
		if err != nil || len(pair) != 2 {
			r.refuse("wrong_type", fmt.Sprintf("history[%d]", i), "must be a question and an answer")
			continue
		}
		for j, role := range [...]string{"user", "assistant"} {
			r.row.turns = append(r.row.turns, convTurn{role: role, content: r.text(fmt.Sprintf("history[%d][%d]", i, j), pair[j]), at: fmt.Sprintf("/history/%d/%d", i, j)})
		}
	}
}

// preference reads the winning and the losing answer, and the label of KTO.
func (r *convReader) preference(f convMeant) {
	if v := f.take("chosen"); v != nil {
		answer := r.answer("chosen", v)
		if n := len(r.row.turns); n > 0 && r.row.turns[n-1].role == "assistant" {
			r.refuse("conflicting_fields", "chosen", "the turns before it end with an answer already")
		}
		r.row.turns = append(r.row.turns, answer...)
	}
	for _, name := range [...]string{"rejected", "rejected_response", "rejected_messages"} {
		if f[name] != nil && r.row.rejected == nil {
			r.row.rejectedAt = "/" + name
			r.row.rejected = r.answer(name, f.take(name))
		}
	}
	for _, name := range [...]string{"label", "kto_tag"} {
		if f[name] == nil || r.row.label != nil {
			continue
		}
		v := f.take(name)
		b, err := v.Bool()
		if err != nil {
			r.refuse("wrong_type", name, "must be true or false, not %s", v.Type())
			continue
		}
		r.row.label, r.row.labelAt = &b, "/"+name
	}
}

// answer reads one side of a pair. Some sets repeat the question in both; what is
// then common to them, and what the prompt is, they do not say.
func (r *convReader) answer(name string, v *fastjson.Value) []convTurn {
	turns := r.side(name, "assistant", v)
	if len(turns) > 0 && (turns[0].role == "user" || turns[0].role == "system") {
		r.refuse("bad_turn_order", name, "it begins with a turn of the %s; only the answer belongs here", turns[0].role)
	}
	return turns
}

// side reads text, one turn or several.
func (r *convReader) side(name, role string, v *fastjson.Value) []convTurn {
	switch v.Type() {
	case fastjson.TypeString:
		return []convTurn{{role: role, content: r.text(name, v), at: "/" + name}}
	case fastjson.TypeObject:
		return []convTurn{r.turn(name, v)}
	}
	return r.turns(name, v)
}

func (r *convReader) turns(name string, v *fastjson.Value) []convTurn {
	list, err := v.Array()
	if err != nil {
		r.refuse("wrong_type", name, "must be a list of turns, not %s", v.Type())
		return nil
	}
	out := make([]convTurn, 0, len(list))
	for i, e := range list {
		out = append(out, r.turn(name+"["+strconv.Itoa(i)+"]", e))
	}
	return out
}

// turn reads {"role","content"} or {"from","value"}.
func (r *convReader) turn(where string, v *fastjson.Value) (t convTurn) {
	o, err := v.Object()
	if err != nil {
		r.refuse("wrong_type", where, "must be an object, not %s", v.Type())
		return t
	}
	t.at = pointerOf(where)
	var whose, said string // the fields that role and text stood in
	once := func(before *string, name string) {
		if *before != "" {
			r.refuse("conflicting_fields", where+"."+name, "%s says the same already; only one of them can be meant", *before)
		}
		*before = name
	}
	o.Visit(func(key []byte, v *fastjson.Value) {
		if v.Type() == fastjson.TypeNull {
			return
		}
		switch name := string(key); name {
		case "role", "from":
			once(&whose, name)
			t.role = roleOf(r.text(where+"."+name, v))
		case "content", "value":
			once(&said, name)
			t.content = r.content(where+"."+name, v)
		case "reasoning_content":
			t.reasoning = r.text(where+"."+name, v)
		default:
			t.more = append(t.more, drydock.RawField{Name: name, Value: rawValue(v)})
		}
	})
	switch {
	case t.role == "":
		r.refuse("missing_field", where+".role", "the turn does not say whose it is")
	case said == "" && len(t.more) == 0:
		r.refuse("missing_field", where+".content", "the turn says nothing")
	case t.reasoning != "" && t.role != "assistant":
		r.refuse("wrong_type", where+".reasoning_content", "only the assistant reasons, and this turn is %s's", t.role)
	}
	return t
}

// content reads a turn's text: a string, one text object, or text parts, which
// are joined. A part of another kind has no place in a text row.
func (r *convReader) content(where string, v *fastjson.Value) string {
	switch v.Type() {
	case fastjson.TypeObject:
		return r.part(where, v)
	case fastjson.TypeArray:
		list, _ := v.Array()
		var b strings.Builder
		for i, p := range list {
			b.WriteString(r.part(fmt.Sprintf("%s[%d]", where, i), p))
		}
		return b.String()
	}
	return r.text(where, v)
}

func (r *convReader) part(where string, v *fastjson.Value) string {
	if v.Type() == fastjson.TypeString {
		return r.text(where, v)
	}
	o, err := v.Object()
	if err != nil {
		r.refuse("wrong_type", where, "must be text, not %s", v.Type())
		return ""
	}
	kind, text := "text", ""
	o.Visit(func(key []byte, v *fastjson.Value) {
		switch name := string(key); {
		case v.Type() == fastjson.TypeNull: // a table's part has every field
		case name == "type":
			kind = r.text(where+".type", v)
		case name == "text" || name == "value":
			text = r.text(where+"."+name, v)
		default:
			r.refuse("content_part", where+"."+escapePointer(name), "only text can be converted, and this part holds more")
		}
	})
	if kind != "text" {
		r.err = nil // the kind says it best
		r.refuse("content_part", where, "a part of type %s; only text can be converted", kind)
	}
	return text
}

func (r *convReader) text(where string, v *fastjson.Value) string {
	b, err := v.StringBytes()
	if err != nil {
		r.refuse("wrong_type", where, "must be text, not %s", v.Type())
	}
	return string(b)
}
