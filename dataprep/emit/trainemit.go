package emit

import (
	"fmt"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/internal/shuffle"
)

// A trainEmitter writes rows that ask and answer. It is immutable.
type trainEmitter struct {
	ctx      Context
	target   *rowTarget
	contract Contract
	ask      asking
}

// Emit implements [Emitter].
func (e *trainEmitter) Emit(dst []byte, r *drydock.Record) ([]byte, error) {
	var d dialogue
	var err error
	switch {
	case r.Question != nil:
		err = e.question(&d, r)
	case r.Chat != nil:
		err = e.chat(&d, r)
	case r.Passage != nil:
		err = drop(r, "passage_not_chat", "running text has no question and answer to train as a conversation")
	default:
		err = drop(r, "no_payload", "the record holds nothing")
	}
	if err != nil {
		return dst, err
	}
	id := e.ctx.rowID(r)
	if e.target.Task == KTO && d.label == nil {
		dst = e.row(dst, id+chosenRow, d.labelled(true))
		return e.row(dst, id+rejectedRow, d.labelled(false)), nil
	}
	return e.row(dst, id, &d), nil
}

// A record with two answers gives KTO two rows: their ids are the record's with
// these behind it.
const (
	chosenRow   = "/chosen"
	rejectedRow = "/rejected"
)

func (e *trainEmitter) row(dst []byte, id string, d *dialogue) []byte {
	dst = append(dst, `{"id":`...)
	dst = drydock.AppendJSONString(dst, id)
	return append(e.target.write(dst, d, e.contract), '}', '\n')
}

// Describe implements [Emitter].
func (e *trainEmitter) Describe(r *drydock.Record) []Emitted {
	d := Emitted{RowID: e.ctx.rowID(r), Shape: e.target.Name}
	if r.Question != nil {
		p := e.plan(r)
		d.Letters, d.Pinned = p.Moves(r.Question), p.Pinned
		for i := range d.Letters {
			d.Letters[i].To = letterOf(r.Question, d.Letters[i].To)
		}
	}
	if e.target.Task != KTO || r.Chat != nil && r.Chat.Label != nil {
		return []Emitted{d}
	}
	chosen, rejected := d, d
	chosen.RowID, rejected.RowID = d.RowID+chosenRow, d.RowID+rejectedRow
	return []Emitted{chosen, rejected}
}

// orderDomain separates the order of options in training rows from every other.
// All targets share it: a question reads the same to each trainer.
const orderDomain = "qwen3_chat"

// plan decides the order of a question's options.
func (e *trainEmitter) plan(r *drydock.Record) shuffle.Plan {
	if !e.ask.Shuffle {
		return shuffle.Plan{}
	}
	return shuffle.For(r.Question, r.ID, orderDomain, e.ctx.Seed, e.contract == CoT)
}

// letterOf is the letter printed for an option label: letters go by position,
// since sources also label 1, 2, 3 or ㄱ, ㄴ. It is "" when there is none.
func letterOf(q *drydock.Question, label string) string {
	for i, o := range q.Options {
		if o.Label == label {
			return letters[i : i+1]
		}
	}
	return ""
}

const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"

// fits reports why a question is no single choice that can be asked.
func (e *trainEmitter) fits(r *drydock.Record) error {
	q := r.Question
	switch {
	case q.Kind == drydock.Multiple, q.Kind == drydock.Single && len(q.Answer) > 1:
		return drop(r, "multiple_answer", fmt.Sprintf("%d right options; the prompt asks for one", len(q.Answer)))
	case q.Kind != drydock.Single:
		return drop(r, "not_single_choice", fmt.Sprintf("a %s question; the prompt asks for one option", q.Kind))
	case len(q.Options) < 2:
		return drop(r, "no_options", fmt.Sprintf("%d options", len(q.Options)))
	case len(q.Options) > len(letters):
		return drop(r, "too_many_options", fmt.Sprintf("%d options; there are letters for %d", len(q.Options), len(letters)))
	case len(q.Answer) == 0:
		return drop(r, "no_answer", "the source gives no answer")
	case q.NeedsFigure && !e.ask.KeepFigures:
		return drop(r, "needs_figure", "it cannot be answered without its figure")
	}
	return nil
}
