package emit

import (
	"fmt"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/internal/spec"
	"github.com/drydock-ml/drydock/qwen3"
)

// A textWriter appends the fields of a row of running text that come after its
// id. The text is given in parts: some of them may be empty.
type textWriter func(dst []byte, text string) []byte

type textOptions struct {
	Output
	Headings bool `yaml:"headings" help:"Put the headings a passage stands under in front of it, one a line." zh:"在段落前逐行写出其所属标题。"`
}

func (t *rowTarget) textSpec(out Output) spec.Spec[Builder] {
	return spec.Of(t.Name, t.summary, textOptions{out, true}, func(o textOptions) (Builder, error) {
		return &textBuilder{o.Output, t, o.Headings}, nil
	})
}

// A textBuilder makes rows of running text.
type textBuilder struct {
	Output
	target   *rowTarget
	headings bool
}

// Target implements [Trained].
func (b *textBuilder) Target() Target { return b.target.Target }

// New implements [Builder].
func (b *textBuilder) New(ctx Context) (Emitter, error) {
	return &textEmitter{ctx, b.target, b.headings}, nil
}

// A textEmitter writes passages. It is immutable.
type textEmitter struct {
	ctx      Context
	target   *rowTarget
	headings bool
}

// Describe implements [Emitter].
func (e *textEmitter) Describe(r *drydock.Record) []Emitted {
	return []Emitted{{RowID: e.ctx.rowID(r), Shape: e.target.Name}}
}

// Emit implements [Emitter].
func (e *textEmitter) Emit(dst []byte, r *drydock.Record) ([]byte, error) {
	p := r.Passage
	if p == nil {
		return dst, drop(r, "not_a_passage", fmt.Sprintf("a %s is no running text", kindName(r)))
	}
	text := p.Text
	if e.headings && len(p.Heading) > 0 {
		var b []byte
		for _, h := range p.Heading {
			if h != "" {
				b = append(append(b, h...), '\n')
			}
		}
		text = string(append(b, text...))
	}
	if t, found := qwen3.FindSpecial(text); found {
		return dst, drop(r, "special_token", fmt.Sprintf("the text holds %s, which is a control token of the model", t.Text))
	}
	dst = append(dst, `{"id":`...)
	dst = drydock.AppendJSONString(dst, e.ctx.rowID(r))
	return append(e.target.text(dst, text), '}', '\n'), nil
}

func writeText(dst []byte, text string) []byte { return appendText(dst, "text", text) }

func writeSwiftText(dst []byte, text string) []byte {
	dst = append(dst, `,"messages":[`...)
	dst = appendMessage(dst, "assistant", "", text)
	return append(dst, ']')
}
