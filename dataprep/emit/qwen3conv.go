package emit

import (
	"fmt"
	"strings"

	"github.com/drydock-ml/drydock"
)

// chat makes the turns of a conversation: an optional system turn, then user
// and assistant by turns, the assistant last. The last answer stands behind the
// contract's think block; earlier ones have none, as the template renders
// history at inference.
func (e *qwen3Emitter) chat(r *drydock.Record) ([]drydock.Message, error) {
	c := r.Chat
	if err := plainChat(r); err != nil {
		return nil, err
	}
	turns := c.Messages
	if len(turns) > 0 && turns[0].Role == "system" {
		turns = turns[1:]
	}
	if len(turns) == 0 || len(turns)%2 != 0 {
		return nil, drop(r, "bad_turn_order", "user and assistant must take turns, the assistant last")
	}
	out := make([]drydock.Message, 0, len(c.Messages))
	if len(turns) < len(c.Messages) {
		m, err := textTurn(r, c.Messages[0], 0)
		if err != nil {
			return nil, err
		}
		out = append(out, m)
	}
	for i, m := range turns {
		var err error
		at := len(out)
		switch want := [2]string{"user", "assistant"}[i%2]; {
		case m.Role != want:
			return nil, drop(r, "bad_turn_order", fmt.Sprintf("turn %d is %q; user and assistant must take turns, the assistant last", at+1, m.Role))
		case want == "user":
			m, err = textTurn(r, m, at)
		default:
			m, err = e.answerTurn(r, m, at, i == len(turns)-1)
		}
		if err != nil {
			return nil, err
		}
		out = append(out, m)
	}
	return out, nil
}

// plainChat reports what a conversation carries that a row of id and messages
// cannot: leaving it out would change what is trained.
func plainChat(r *drydock.Record) error {
	c := r.Chat
	switch {
	case c.Rejected != nil:
		return drop(r, "preference_pair", "a preference pair has no place in a supervised row")
	case c.Label != nil:
		return drop(r, "kto_label", "a liked or disliked answer has no place in a supervised row")
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
func textTurn(r *drydock.Record, m drydock.Message, at int) (drydock.Message, error) {
	if strings.TrimSpace(m.Content) == "" {
		return m, drop(r, "empty_turn", fmt.Sprintf("turn %d is empty", at+1))
	}
	if t := specialToken(m.Content); t != "" {
		return m, drop(r, "special_token", fmt.Sprintf("turn %d holds %s, which is a control token of the model", at+1, t))
	}
	return drydock.Message{Role: m.Role, Content: m.Content}, nil
}

// answerTurn gives an assistant turn the think block its place asks for.
func (e *qwen3Emitter) answerTurn(r *drydock.Record, m drydock.Message, at int, last bool) (drydock.Message, error) {
	reasoning, rest, _ := splitThink(m.Content)
	if m.Reasoning != "" {
		reasoning = strings.TrimSpace(m.Reasoning)
	}
	out, err := textTurn(r, drydock.Message{Role: m.Role, Content: rest}, at)
	if err != nil {
		return out, err
	}
	if t := specialToken(reasoning); t != "" {
		return out, drop(r, "special_token", fmt.Sprintf("the reasoning of turn %d holds %s", at+1, t))
	}
	cot := e.contract() == CoT
	switch {
	case !last && reasoning != "":
		return out, drop(r, "reasoning_in_history", fmt.Sprintf("turn %d has reasoning, which the template leaves out before the last answer", at+1))
	case !last:
		return out, nil
	case cot && reasoning == "":
		return out, drop(r, "no_reasoning", "the contract cot needs reasoning in the last answer")
	case !cot && reasoning != "":
		return out, drop(r, "has_reasoning", fmt.Sprintf("the contract %s has no place for the reasoning of the last answer", e.contract()))
	}
	out.Content = thinkBlock(reasoning) + out.Content
	return out, nil
}
