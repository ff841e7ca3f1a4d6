package emit

import (
	"fmt"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/spec"

	"github.com/valyala/fastjson"
)

var questionSummary = msg.Text{
	"Exam items as read: letters and order of the source are kept.",
	"按原样输出试题：保留来源的选项字母和顺序。",
}

type questionOptions struct {
	Output
}

type questionEmitter struct {
	Output
	ctx Context
}

func questionRows() spec.Spec[Builder] {
	return spec.Of("question", questionSummary, questionOptions{Output{File: "build/questions.jsonl"}},
		func(o questionOptions) (Builder, error) { return &questionEmitter{Output: o.Output}, nil })
}

// New implements [Builder].
func (e *questionEmitter) New(ctx Context) (Emitter, error) {
	return &questionEmitter{e.Output, ctx}, nil
}

// Describe implements [Emitter].
func (e *questionEmitter) Describe(r *drydock.Record) []Emitted {
	return []Emitted{{RowID: e.ctx.rowID(r), Shape: "question"}}
}

// Emit implements [Emitter]. Every field is in every row, so that readers which
// infer a schema find one; reasoning, figures and doubts are only where there are some.
func (e *questionEmitter) Emit(dst []byte, r *drydock.Record) ([]byte, error) {
	q := r.Question
	if q == nil {
		return dst, drop(r, "not_a_question", fmt.Sprintf("a %s has no question row", kindName(r)))
	}
	dst = append(dst, '{')
	dst = appendText(dst, "id", e.ctx.rowID(r))
	dst = appendText(dst, "kind", string(q.Kind))
	dst = appendText(dst, "lang", r.Lang)
	dst = appendText(dst, "stem", q.Stem)
	dst = appendTexts(dst, "statements", q.Statements)
	dst = append(appendField(dst, "options"), '[')
	for i, o := range q.Options {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, '{')
		dst = appendText(dst, "label", o.Label)
		dst = appendText(dst, "text", o.Text)
		dst = append(dst, '}')
	}
	dst = append(dst, ']')
	dst = appendTexts(dst, "answer", q.Answer)
	dst = appendText(dst, "explanation", q.Explanation)
	if q.Reasoning != "" {
		dst = appendText(dst, "reasoning", q.Reasoning)
	}
	dst = appendTexts(dst, "subject", q.Subject)
	if len(q.Figures) > 0 {
		dst = appendTexts(dst, "figures", q.Figures)
	}
	dst = appendBool(dst, "needs_figure", q.NeedsFigure)
	dst = appendNumber(dst, "confidence", q.Confidence)
	if len(q.Doubts) > 0 {
		dst = appendTexts(dst, "doubts", q.Doubts)
	}
	dst = appendOrigin(dst, r.Origin)
	return append(dst, '}', '\n'), nil
}

func questionShape() Shape {
	return Shape{
		Name: "question", Summary: questionSummary,
		Sniff: func(row []byte) bool { return hasFields(row, "kind", "stem", "options", "answer") },
		Decode: decoder(func(in *reader) *drydock.Record {
			q := &drydock.Question{
				Kind: drydock.QuestionKind(in.text("kind")), Stem: in.text("stem"), Statements: in.texts("statements"),
				Options: in.options(), Answer: in.texts("answer"),
				Explanation: in.text("explanation"), Reasoning: in.text("reasoning"),
				Subject: in.texts("subject"), Figures: in.texts("figures"),
				NeedsFigure: in.bool("needs_figure"), Confidence: in.number("confidence"), Doubts: in.texts("doubts"),
			}
			switch q.Kind {
			case drydock.Single, drydock.Multiple, drydock.Judge, drydock.Blank, drydock.Short, drydock.Matching:
			default:
				if in.err == nil {
					in.err = fmt.Errorf("field \"kind\" is %q: one of single, multiple, judge, blank, short, matching is wanted", q.Kind)
				}
			}
			if q.Stem == "" {
				in.fail("stem", "", nil)
			}
			return &drydock.Record{RowID: in.rowID(), Lang: in.text("lang"), Question: q, Origin: in.origin()}
		}),
	}
}

// options reads a list of {"label","text"}.
func (r *reader) options() []drydock.Option {
	v := r.o.Get("options")
	if v == nil || v.Type() == fastjson.TypeNull {
		return nil
	}
	list, err := v.Array()
	if err != nil {
		r.fail("options", `a list of {"label","text"}`, v)
		return nil
	}
	var out []drydock.Option
	for _, e := range list {
		obj, err := e.Object()
		if err != nil {
			r.fail("options", `a list of {"label","text"}`, e)
			return nil
		}
		in := reader{o: obj}
		out = append(out, drydock.Option{Label: in.text("label"), Text: in.text("text")})
		if in.err != nil && r.err == nil {
			r.err = fmt.Errorf("options: %w", in.err)
		}
	}
	return out
}

func kindName(r *drydock.Record) string {
	if k := r.Kind(); k != "" {
		return string(k)
	}
	return "record without a payload"
}
