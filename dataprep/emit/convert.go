package emit

import (
	"fmt"
	"slices"
	"strings"

	"github.com/valyala/fastjson"

	"github.com/drydock-ml/drydock"
)

// ConvertFormats lists the formats that rows are converted from and to.
func ConvertFormats() []string { return slices.Clone(convFormats[:]) }

// A Conversion turns rows of one training format into rows of another, each
// without a loss or not at all. It is safe for concurrent use.
type Conversion struct {
	from, to string
	escape   bool // control tokens are escaped, not refused
	parsers  fastjson.ParserPool
}

// NewConversion makes a conversion. An empty from means: each row's own, found
// by its fields. Both names are of [ConvertFormats].
func NewConversion(from, to string) *Conversion { return &Conversion{from: from, to: to} }

// Row appends a row as JSON, without a line end. The error is a *[Refusal] that
// names the field which has no place in the format or is not as it should be; dst
// is then returned as it was.
func (c *Conversion) Row(dst, row []byte) ([]byte, error) {
	p := c.parsers.Get()
	defer c.parsers.Put(p)
	o, err := parseRow(p, row)
	if err != nil {
		return dst, &Refusal{"not_a_row", "row", err.Error(), ""}
	}
	from := c.from
	if field := opaque(c.to); from == "" && field != "" && o.Get(field) != nil {
		from = c.to // from another nothing could become it
	}
	if from == "" {
		if from = sniffConv(o); from == "" {
			return dst, &Refusal{"unknown_format", "row", fmt.Sprintf("none of the known formats has the fields %s", fieldList(o)), ""}
		}
	}
	r, err := readConv(o, from)
	if err != nil {
		return dst, err
	}
	if from == "qwen3_chat" {
		splitLastThink(r)
	}
	if err := c.specials(r); err != nil {
		return dst, err
	}
	out, err := writeConv(dst, r, c.to)
	if err != nil {
		return dst, err
	}
	return out, nil
}

// fieldList names up to ten fields of a row.
func fieldList(o *fastjson.Object) string {
	var names []string
	o.Visit(func(key []byte, _ *fastjson.Value) { names = append(names, string(key)) })
	if len(names) > 10 {
		names = append(names[:10], "…")
	}
	return fmt.Sprintf("%q", names)
}

// splitLastThink takes the think block off the last answer: it is the contract's,
// not the row's.
func splitLastThink(r *convRow) {
	if len(r.turns) == 0 {
		return
	}
	t := &r.turns[len(r.turns)-1]
	if reasoning, rest, ok := splitThink(t.content); ok && t.role == "assistant" && t.reasoning == "" {
		t.reasoning, t.content = reasoning, rest
	}
}

// A convWriter writes one row.
type convWriter struct {
	dst    []byte
	format string   // as asked for
	to     string   // its trainer's, whatever the task
	task   Task     // what the format is for, where it says so
	names  []string // fields written
	err    error
}

func (w *convWriter) refuse(err error) {
	if w.err == nil {
		w.err = err
	}
}

// field begins a field of the row.
func (w *convWriter) field(name string) {
	w.names = append(w.names, name)
	w.dst = appendField(w.dst, name)
}

func (w *convWriter) text(name, value string) {
	w.field(name)
	w.dst = drydock.AppendJSONString(w.dst, value)
}

// reserved lists names that a trainer takes for its own, so that a field of that
// name would change what is trained. Source: ms-swift's column mapping and TRL's
// dataset formats.
func reserved(to string) []string {
	if to == "swift-pretrain" {
		return append(reserved("swift"), "tools") // it would render them before the text
	}
	switch baseFormat(to) {
	case "swift":
		return []string{
			"text", "content", "answer", "question", "input", "output", "target", "targets", "answer_key", "answers",
			"solution", "completion", "response", "query", "prompt", "problem", "system", "label", "channel", "images",
			"audios", "videos", "objects", "margin", "instruction", "conversations", "conversation", "history",
		}
	case "trl", "prompt_completion":
		return []string{"text", "messages", "prompt", "completion", "chosen", "rejected", "label", "input_ids", "labels", "images"}
	case "axolotl", "llamafactory", "openai", "sharegpt", "qwen3_chat":
		return []string{"messages", "conversations", "chosen", "rejected", "label", "kto_tag", "rejected_response", "input_ids", "labels"}
	case "alpaca":
		return []string{"instruction", "input", "output", "history", "system", "chosen", "rejected", "kto_tag"}
	}
	return []string{"text", "input_ids", "labels"}
}

// writeConv appends a row of a format.
func writeConv(dst []byte, r *convRow, to string) ([]byte, error) {
	w := &convWriter{dst: append(dst, '{'), format: to, to: baseFormat(to)}
	if t, ok := TargetOf(to); ok {
		w.task = t.Task
	}
	if r.id != nil {
		w.field("id")
		w.dst = append(w.dst, r.id...)
	}
	switch {
	case r.as != "" && r.as != to:
		return dst, lost(strings.TrimPrefix(r.turnsAt, "/"), r.turnsAt, to)
	case r.as != "": // the fields that follow are all of it
	case opaque(to) != "":
		return dst, lost("messages", r.turnsAt, to)
	case r.text != nil && w.task != Pretrain:
		return dst, lost("text", "/text", to)
	case r.text == nil && w.task == Pretrain:
		return dst, lost("messages", r.turnsAt, to)
	default:
		w.payload(r)
	}
	if r.tools != nil {
		w.tools(r.tools)
	}
	for _, f := range r.extra {
		if r.as == "" && (slices.Contains(w.names, f.Name) || slices.Contains(reserved(to), f.Name)) {
			w.refuse(lost(f.Name, "/"+escapePointer(f.Name), to))
			continue
		}
		w.dst = append(drydock.AppendJSONString(comma(w.dst), f.Name), ':')
		w.dst = append(w.dst, f.Value...)
	}
	if w.err != nil {
		return dst, w.err
	}
	return append(w.dst, '}'), nil
}

// comma parts a field from the one before it.
func comma(dst []byte) []byte {
	if dst[len(dst)-1] == '{' {
		return dst
	}
	return append(dst, ',')
}

// Preference reports whether a row is a preference pair or has KTO's label.
func Preference(row []byte) (pair, label bool) {
	eachField(row, func(name []byte) bool {
		switch string(name) {
		case "rejected", "rejected_response", "rejected_messages":
			pair = true
		case "label", "kto_tag":
			label = true
		}
		return true
	})
	return pair, label
}
