package emit

import (
	"fmt"
	"strings"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/internal/spec"
	"github.com/drydock-ml/drydock/qwen3"
)

// A textWriter appends the fields of a row of running text that come after its
// id. The text is given in parts: some of them may be empty.
type textWriter func(dst []byte, text string) []byte

type textOptions struct {
	Output
	Headings     bool `yaml:"headings" help:"Put the headings a passage stands under in front of it, one a line." zh:"在段落前逐行写出其所属标题。"`
	Explanations bool `yaml:"explanations" help:"Also write questions that have an explanation: stem, right answer and explanation." zh:"同时写出带解析的题目：题干、正确答案与解析。"`
	Pack         int  `yaml:"pack" help:"Join documents to rows of up to so many tokens, <|endoftext|> between them; 0: a row each." zh:"将文档合并为至多这么多 token 的行，文档之间以 <|endoftext|> 分隔；0：每篇一行。"`
	Overlap      int  `yaml:"overlap" help:"With pack: tokens that parts of a document too long for a row have in common." zh:"与 pack 同用：过长文档切分后相邻部分重叠的 token 数。"`
}

func (t *rowTarget) textSpec(out Output) spec.Spec[Builder] {
	return spec.Of(t.Name, t.summary, textOptions{Output: out, Headings: true}, func(o textOptions) (Builder, error) {
		if err := o.check(); err != nil {
			return nil, err
		}
		return &textBuilder{o.Output, t, o}, nil
	})
}

// A textBuilder makes rows of running text.
type textBuilder struct {
	Output
	target *rowTarget
	o      textOptions
}

// Target implements [Trained].
func (b *textBuilder) Target() Target { return b.target.Target }

// New implements [Builder].
func (b *textBuilder) New(ctx Context) (Emitter, error) {
	return &textEmitter{ctx, b.target, b.o}, nil
}

// A textEmitter writes passages. It is immutable.
type textEmitter struct {
	ctx    Context
	target *rowTarget
	o      textOptions
}

// Describe implements [Emitter].
func (e *textEmitter) Describe(r *drydock.Record) []Emitted {
	return []Emitted{{RowID: e.ctx.rowID(r), Shape: e.target.Name}}
}

// Emit implements [Emitter].
func (e *textEmitter) Emit(dst []byte, r *drydock.Record) ([]byte, error) {
	text, err := e.text(r)
	if err != nil {
		return dst, err
	}
	if t, found := qwen3.FindSpecial(text); found {
		return dst, drop(r, "special_token", fmt.Sprintf("the text holds %s, which is a control token of the model", t.Text))
	}
	return e.target.appendText(dst, e.ctx.rowID(r), text), nil
}

// text is what a record has to read: a passage under its headings, or what a
// question explains.
func (e *textEmitter) text(r *drydock.Record) (string, error) {
	switch {
	case r.Passage != nil:
		return e.passage(r.Passage), nil
	case r.Question == nil || !e.o.Explanations:
		return "", drop(r, "not_a_passage", fmt.Sprintf("a %s is no running text", kindName(r)))
	case strings.TrimSpace(r.Question.Explanation) == "":
		return "", drop(r, "no_explanation", "the question has no explanation to read")
	}
	return explained(r.Question), nil
}

func (e *textEmitter) passage(p *drydock.Passage) string {
	if !e.o.Headings || len(p.Heading) == 0 {
		return p.Text
	}
	var b strings.Builder
	for _, h := range p.Heading {
		if h != "" {
			b.WriteString(h + "\n")
		}
	}
	return b.String() + p.Text
}

// explained is a question as running text: the stem, the right answer in words,
// the explanation.
func explained(q *drydock.Question) string {
	lines := []string{q.Stem}
	for _, a := range q.Answer {
		for _, o := range q.Options {
			if o.Label == a {
				a = o.Text
				break
			}
		}
		lines = append(lines, a)
	}
	if q.Kind == drydock.Judge { // "true" is no word of the source's
		lines = lines[:1]
	}
	return strings.Join(append(lines, q.Explanation), "\n")
}

func writeText(dst []byte, text string) []byte { return appendText(dst, "text", text) }

func writeSwiftText(dst []byte, text string) []byte {
	dst = append(dst, `,"messages":[`...)
	dst = appendMessage(dst, "assistant", "", text)
	return append(dst, ']')
}
