package parity

import (
	"slices"

	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/launch/feed"
	"github.com/drydock-ml/drydock/qwen3"

	"github.com/valyala/fastjson"
)

// sides are the fields of the two answers of a preference pair. Of the losing one
// the trainers have several names.
func (c *Columns) sides() (chosen string, rejected []string) {
	if c.Strict {
		return c.Chosen, []string{c.Rejected}
	}
	return "chosen", []string{"rejected", "rejected_response", "rejected_messages"}
}

// pair takes over the answers of a preference pair: the winning one as the last
// turn of the row, where it does not stand there already, the losing one as a row
// of its own behind the same turns.
func (p *rowParser) pair(r *row, v *fastjson.Value) error {
	chosen, losing := p.columns.sides()
	if f := v.Get(chosen); chosen != "" && f != nil && f.Type() != fastjson.TypeNull {
		if err := p.side(r, chosen, f); err != nil {
			return err
		}
	}
	for _, name := range losing {
		f := v.Get(name)
		if name == "" || f == nil {
			continue
		}
		if f.Type() == fastjson.TypeNull {
			r.unanswered = "/" + name
			continue
		}
		n := len(r.conv.Messages)
		if n > 0 && r.conv.Messages[n-1].Role == "assistant" {
			n--
		}
		r.unanswered = ""
		r.rejected = &row{conv: qwen3.Conversation{Messages: slices.Clone(r.conv.Messages[:n]), Tools: r.conv.Tools}, pointers: slices.Clone(r.pointers[:n])}
		err := p.side(r.rejected, name, f)
		r.tooled, r.foreign = r.tooled || r.rejected.tooled, r.foreign || r.rejected.foreign
		return err
	}
	return nil
}

// tags are the names within a turn.
func (p *rowParser) tags() Columns {
	if p.columns.Strict {
		return p.columns
	}
	return usualTags()
}

// side reads an answer: text, a turn, or a list of turns.
func (p *rowParser) side(r *row, name string, v *fastjson.Value) error {
	switch v.Type() {
	case fastjson.TypeString:
		r.add("assistant", string(v.GetStringBytes()), "/"+name)
		return nil
	case fastjson.TypeObject:
		return p.turn(r, "/"+name, v, p.tags())
	}
	return p.turns(r, "/"+name, v, p.tags())
}

// lintPair looks at what a pair needs besides two answers that are each as the
// endpoint is to give them. samples are nil where the trainer leaves the row out.
func (k *checker) lintPair(r *row, samples []feed.Sample, out *found) error {
	lost := r.rejected
	if lost == nil {
		return nil
	}
	last := len(lost.conv.Messages) - 1
	m, at := &lost.conv.Messages[last], lost.pointers[last]
	if won := r.conv.Messages[len(r.conv.Messages)-1]; len(r.conv.Messages) == len(lost.conv.Messages) && won.Role == m.Role && won.Content == m.Content {
		out.add(sameAnswers, at, msg.Text{})
	}
	if m.Role != "assistant" {
		out.add(noAnswer, at, msg.Text{})
		return nil
	}
	k.lintAnswer(m, at, true, out)
	if samples == nil {
		return nil
	}
	s := &samples[1]
	if k.o.MaxLength > 0 && len(s.IDs) > k.o.MaxLength && out.tokens <= k.o.MaxLength {
		out.add(tooLong, at, msg.Text{"%d {token|tokens}, the limit is %d", "%d 个 token，上限为 %d"}, len(s.IDs), k.o.MaxLength)
	}
	w, err := k.wants(&lost.conv)
	if err == nil {
		compare(lost, s, w, out)
	}
	return err
}
