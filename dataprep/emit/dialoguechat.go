package emit

import (
	"fmt"
	"strings"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/qwen3"
)

// chat makes the turns of a conversation: an optional system turn, then user
// and assistant by turns, the assistant last. The last answer stands behind the
// contract's think block; earlier ones have none, as the template renders
// history at inference.
func (e *trainEmitter) chat(d *dialogue, r *drydock.Record) error {
	c := r.Chat
	if err := e.takes(r); err != nil {
		return err
	}
	turns := c.Messages
	if len(turns) > 0 && turns[0].Role == "system" {
		turns = turns[1:]
	}
	if len(turns) == 0 || len(turns)%2 != 0 {
		return drop(r, "bad_turn_order", "user and assistant must take turns, the assistant last")
	}
	d.turns = make([]drydock.Message, 0, len(c.Messages)-1)
	if len(turns) < len(c.Messages) {
		m, err := textTurn(r, c.Messages[0], "turn 1")
		if err != nil {
			return err
		}
		d.turns = append(d.turns, m)
	}
	first := len(d.turns) + 1
	for i, m := range turns {
		where := fmt.Sprintf("turn %d", first+i)
		if want := [2]string{"user", "assistant"}[i%2]; m.Role != want {
			return drop(r, "bad_turn_order", fmt.Sprintf("%s is %q; user and assistant must take turns, the assistant last", where, m.Role))
		}
		var err error
		switch {
		case m.Role == "user":
			m, err = textTurn(r, m, where)
		case i < len(turns)-1:
			m, err = pastAnswer(r, m, where)
		default:
			d.chosen, err = e.answer(r, m, where)
		}
		if err != nil {
			return err
		}
		if i < len(turns)-1 {
			d.turns = append(d.turns, m)
		}
	}
	return e.preference(d, r)
}

// preference takes over a conversation's losing answer and its label.
func (e *trainEmitter) preference(d *dialogue, r *drydock.Record) (err error) {
	d.label = r.Chat.Label
	if len(r.Chat.Rejected) == 0 {
		return nil
	}
	if d.rejected, err = e.answer(r, r.Chat.Rejected[0], "the rejected answer"); err != nil {
		return err
	}
	if d.rejected == d.chosen {
		return drop(r, "same_answers", "the rejected answer is the chosen one")
	}
	return nil
}

// takes reports what a conversation carries that the target's rows cannot, or
// lacks that they need: leaving it out would change what is trained.
func (e *trainEmitter) takes(r *drydock.Record) error {
	c := r.Chat
	switch task := e.target.Task; {
	case task == SFT && c.Rejected != nil:
		return drop(r, "preference_pair", "a preference pair has no place in a supervised row")
	case task == SFT && c.Label != nil:
		return drop(r, "kto_label", "a liked or disliked answer has no place in a supervised row")
	case task == DPO && c.Rejected == nil, task == KTO && c.Rejected == nil && c.Label == nil:
		return drop(r, "no_rejected", "the conversation has one answer only, and no label that says whether it is good")
	case c.Rejected != nil && (len(c.Rejected) != 1 || c.Rejected[0].Role != "assistant"):
		return drop(r, "rejected_turns", "the rejected answer is not one turn of the assistant")
	case task == DPO && c.Label != nil, task == KTO && c.Rejected != nil && c.Label != nil:
		return drop(r, "kto_label", "the pair has a label as well: it is not clear what of it is good")
	case len(c.Tools) > 0:
		return drop(r, "tools", "tool definitions have no place in this row")
	}
	for _, f := range c.Extra {
		if f.Name == messagesAsRead {
			return drop(r, "message_fields", "turns carry more than role and text (weights, tool calls or other parts)")
		}
	}
	return nil
}

// textTurn checks a turn that holds text only.
func textTurn(r *drydock.Record, m drydock.Message, where string) (drydock.Message, error) {
	if strings.TrimSpace(m.Content) == "" {
		return m, drop(r, "empty_turn", where+" is empty")
	}
	if t, found := qwen3.FindSpecial(m.Content); found {
		return m, drop(r, "special_token", fmt.Sprintf("%s holds %s, which is a control token of the model", where, t.Text))
	}
	return drydock.Message{Role: m.Role, Content: m.Content}, nil
}

// thoughts parts an assistant turn into its reasoning and its text.
func thoughts(m drydock.Message) (reasoning string, text drydock.Message) {
	reasoning, rest, _ := splitThink(m.Content)
	if m.Reasoning != "" {
		reasoning = strings.TrimSpace(m.Reasoning)
	}
	return reasoning, drydock.Message{Role: m.Role, Content: rest}
}

// pastAnswer checks an answer that others follow.
func pastAnswer(r *drydock.Record, m drydock.Message, where string) (drydock.Message, error) {
	reasoning, text := thoughts(m)
	m, err := textTurn(r, text, where)
	if err == nil && reasoning != "" {
		err = drop(r, "reasoning_in_history", where+" has reasoning, which the template leaves out before the last answer")
	}
	return m, err
}

// answer gives the last answer, or the one it won over, the block its contract
// asks for.
func (e *trainEmitter) answer(r *drydock.Record, m drydock.Message, where string) (reply, error) {
	reasoning, text := thoughts(m)
	text, err := textTurn(r, text, where)
	if err != nil {
		return reply{}, err
	}
	if t, found := qwen3.FindSpecial(reasoning); found {
		return reply{}, drop(r, "special_token", fmt.Sprintf("the reasoning of %s holds %s", where, t.Text))
	}
	switch {
	case e.contract == CoT && reasoning == "":
		return reply{}, drop(r, "no_reasoning", "the contract cot needs reasoning in the last answer")
	case e.contract != CoT && reasoning != "":
		return reply{}, drop(r, "has_reasoning", fmt.Sprintf("the contract %s has no place for the reasoning of the last answer", e.contract))
	}
	return reply{e.block(reasoning), text.Content}, nil
}
