package emit

import (
	"errors"
	"fmt"
	"strings"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/qwen3"
)

// A dialogue is a record as the turns to train on, under a contract and free of
// any trainer's format.
type dialogue struct {
	turns    []drydock.Message // an optional system turn, then user and assistant by turns, the user last
	chosen   reply
	rejected reply // of a preference pair
	label    *bool // of KTO
}

// A reply is an answer behind the contract's think block.
type reply struct {
	think string // with its line ends; "" under plain
	text  string
}

// labelled returns one answer of a pair as KTO's.
func (d *dialogue) labelled(good bool) *dialogue {
	out := *d
	out.label = &good
	if !good {
		out.chosen = d.rejected
	}
	return &out
}

// question makes the turns of a single-choice question.
func (e *trainEmitter) question(d *dialogue, r *drydock.Record) error {
	if err := e.fits(r); err != nil {
		return err
	}
	printed := *r.Question
	if e.contract != CoT { // texts that are not printed need no new letters
		printed.Explanation, printed.Reasoning = "", ""
	}
	q := e.plan(r).Apply(&printed)
	letter := letterOf(q, q.Answer[0])
	if letter == "" {
		return drop(r, "answer_not_an_option", fmt.Sprintf("the answer %q is none of the option labels", q.Answer[0]))
	}
	reasoning := ""
	if e.contract == CoT {
		var err error
		if reasoning, err = e.reasoning(r, q); err != nil {
			return err
		}
	}
	prompt, err := e.ctx.Prompt(q)
	if err != nil {
		var d *drydock.Drop
		if errors.As(err, &d) {
			return drop(r, d.Reason, d.Detail)
		}
		return fmt.Errorf("prompt of record %s: %w", r.ID, err)
	}
	for _, text := range [...]string{prompt, reasoning} {
		if t, found := qwen3.FindSpecial(text); found {
			return drop(r, "special_token", fmt.Sprintf("the text holds %s, which is a control token of the model", t.Text))
		}
	}
	d.turns = []drydock.Message{{Role: "user", Content: prompt}}
	d.chosen = reply{e.block(reasoning), bracketed(letter)}
	if e.target.Task == DPO || e.target.Task == KTO {
		p, err := PairOf(q, r.ID, e.ctx.Seed)
		if err != nil {
			return drop(r, "no_rejected", err.Error())
		}
		d.chosen.text = bracketed(letterOf(q, p.Chosen))
		d.rejected = reply{e.block(""), bracketed(letterOf(q, p.Rejected))}
	}
	return nil
}

// bracketed is an answer as the benchmark asks for it.
func bracketed(letter string) string { return "[" + letter + "]" }

// reasoning is what a question's answer is reasoned with; the explanation where
// it has no worked thinking.
func (e *trainEmitter) reasoning(r *drydock.Record, q *drydock.Question) (string, error) {
	if e.target.Task != SFT {
		return "", drop(r, "no_rejected_reasoning", "the contract cot needs reasoning for the rejected answer, too, and a question has none")
	}
	text := q.Reasoning
	if strings.TrimSpace(text) == "" {
		text = q.Explanation
	}
	text = strings.TrimSpace(strings.ReplaceAll(text, "\r\n", "\n"))
	if text == "" {
		return "", drop(r, "no_reasoning", "the contract cot needs reasoning or an explanation")
	}
	if b := BracketedLetter(text); b != "" {
		return "", drop(r, "bracket_in_reasoning", fmt.Sprintf("the reasoning holds %s, which a grader may take for the answer", b))
	}
	return text, nil
}

// block is what the contract puts in front of the last answer.
func (e *trainEmitter) block(reasoning string) string {
	if e.contract == Plain {
		return ""
	}
	return thinkBlock(reasoning)
}
