package emit

import (
	"fmt"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/spec"
)

var passageSummary = msg.Text{
	"Running text under its headings, as read.",
	"按原样输出正文段落及其标题路径。",
}

type passageOptions struct {
	Output
}

type passageEmitter struct {
	Output
	ctx Context
}

func passageRows() spec.Spec[Builder] {
	return spec.Of("passage", passageSummary, passageOptions{Output{File: "build/passages.jsonl"}},
		func(o passageOptions) (Builder, error) { return &passageEmitter{Output: o.Output}, nil })
}

// New implements [Builder].
func (e *passageEmitter) New(ctx Context) (Emitter, error) {
	return &passageEmitter{e.Output, ctx}, nil
}

// Describe implements [Emitter].
func (e *passageEmitter) Describe(r *drydock.Record) []Emitted {
	return []Emitted{{RowID: e.ctx.rowID(r), Shape: "passage"}}
}

// Emit implements [Emitter].
func (e *passageEmitter) Emit(dst []byte, r *drydock.Record) ([]byte, error) {
	p := r.Passage
	if p == nil {
		return dst, drop(r, "not_a_passage", fmt.Sprintf("a %s has no passage row", kindName(r)))
	}
	dst = append(dst, '{')
	dst = appendText(dst, "id", e.ctx.rowID(r))
	dst = appendText(dst, "lang", r.Lang)
	dst = appendTexts(dst, "heading", p.Heading)
	dst = appendText(dst, "text", p.Text)
	dst = appendOrigin(dst, r.Origin)
	return append(dst, '}', '\n'), nil
}

func passageShape() Shape {
	return Shape{
		Name: "passage", Summary: passageSummary,
		Sniff: plainText,
		Decode: decoder(func(in *reader) *drydock.Record {
			p := &drydock.Passage{Heading: in.texts("heading"), Text: in.text("text")}
			if in.o.Get("text") == nil {
				in.fail("text", "", nil) // an empty text is one, a missing one is none
			}
			return &drydock.Record{RowID: in.rowID(), Lang: in.text("lang"), Passage: p, Origin: in.origin()}
		}),
	}
}

// plainText reports a row of running text: our own, or any with a text and
// nothing that makes it an exam item or an instruction.
func plainText(row []byte) bool {
	text, other := false, false
	eachField(row, func(name []byte) bool {
		switch string(name) {
		case "text":
			text = true
		case "stem", "question", "options", "choices", "answer", "messages", "conversations",
			"instruction", "output", "prompt", "response":
			other = true
		}
		return !other
	})
	return text && !other
}
