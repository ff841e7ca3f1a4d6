package emit

import (
	"fmt"
	"slices"
	"strings"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/qwen3"
)

// EscapeSpecials returns a record in whose texts no control token of the model is
// spelled out (see [qwen3.Escape]), and whether there was one; r itself when not.
// The think block an answer begins with is meant, and stays.
func EscapeSpecials(r *drydock.Record) (*drydock.Record, bool) {
	var e escaper
	out := *r
	if r.Passage != nil {
		out.Passage = &drydock.Passage{Heading: e.texts(r.Passage.Heading), Text: e.text(r.Passage.Text)}
	}
	if r.Question != nil {
		q := *r.Question
		q.Stem, q.Explanation, q.Reasoning = e.text(q.Stem), e.text(q.Explanation), e.text(q.Reasoning)
		q.Statements = e.texts(q.Statements)
		q.Options = slices.Clone(q.Options)
		for i := range q.Options {
			q.Options[i].Text = e.text(q.Options[i].Text)
		}
		if len(q.Options) == 0 { // else answers are labels
			q.Answer = e.texts(q.Answer)
		}
		out.Question = &q
	}
	if r.Chat != nil {
		c := *r.Chat
		c.Messages, c.Rejected = e.turns(c.Messages), e.turns(c.Rejected)
		out.Chat = &c
	}
	if !e.found {
		return r, false
	}
	return &out, true
}

// An escaper escapes texts and knows whether any needed it.
type escaper struct{ found bool }

func (e *escaper) text(s string) string {
	if !strings.Contains(s, "<") {
		return s
	}
	escaped := qwen3.Escape(s)
	e.found = e.found || escaped != s
	return escaped
}

func (e *escaper) texts(list []string) []string {
	out := slices.Clone(list)
	for i, s := range out {
		out[i] = e.text(s)
	}
	return out
}

// answer escapes an assistant's turn but for the tags of the think block it
// begins with.
func (e *escaper) answer(s string) string {
	if _, _, ok := splitThink(s); !ok {
		return e.text(s)
	}
	const openTag, shutTag = "<think>", "</think>"
	open := strings.Index(s, openTag) + len(openTag)
	shut := open + strings.Index(s[open:], shutTag)
	end := shut + len(shutTag)
	return s[:open] + e.text(s[open:shut]) + shutTag + e.text(s[end:])
}

func (e *escaper) turns(list []drydock.Message) []drydock.Message {
	out := slices.Clone(list)
	for i, m := range out {
		out[i].Reasoning = e.text(m.Reasoning)
		if m.Role == "assistant" {
			out[i].Content = e.answer(m.Content)
			continue
		}
		out[i].Content = e.text(m.Content)
	}
	return out
}

// EscapeSpecials has the conversion escape what it would refuse: control tokens
// of the model that are spelled out in a text. It returns the conversion.
func (c *Conversion) EscapeSpecials() *Conversion {
	c.escape = true
	return c
}

// specials refuses a row in which a control token is spelled out, or escapes it.
// What the model itself writes in an answer is meant, and so is what parts the
// documents of running text.
func (c *Conversion) specials(r *convRow) error {
	for _, part := range []struct {
		name  string
		turns []convTurn
	}{{"messages", r.turns}, {"rejected", r.rejected}} {
		for i := range part.turns {
			t := &part.turns[i]
			where := fmt.Sprintf("%s[%d].", part.name, i)
			if err := fixedSpecials(where, t); err != nil {
				return err
			}
			meant := []string(nil)
			if t.role == "assistant" {
				meant = []string{"<think>", "</think>", "<tool_call>", "</tool_call>"}
			}
			if err := c.special(&t.content, where+"content", t.at, meant); err != nil {
				return err
			}
			if err := c.special(&t.reasoning, where+"reasoning_content", t.at, nil); err != nil {
				return err
			}
		}
	}
	if err := fixedSpecial("tools", "/tools", r.tools); err != nil {
		return err
	}
	if r.text != nil {
		return c.special(r.text, "text", "/text", []string{"<|endoftext|>"})
	}
	return nil
}

func (c *Conversion) special(text *string, where, pointer string, meant []string) error {
	for at, token := range qwen3.Specials(*text) {
		if slices.Contains(meant, token) {
			continue
		}
		if !c.escape {
			return &Refusal{"special_token", where, fmt.Sprintf("%s at byte %d is a control token of the model", token, at), pointer}
		}
		var e escaper
		if meant == nil {
			*text = e.text(*text)
		} else {
			*text = e.answer(*text)
		}
		return nil
	}
	return nil
}

// fixedSpecials refuses a control token in what the template renders of a turn
// besides its text: tool calls, and the role that opens the turn. Names and
// arguments of functions would not be the same if they were escaped.
func fixedSpecials(where string, t *convTurn) error {
	if s, found := qwen3.FindSpecial(t.role); found {
		return &Refusal{"special_token", where + "role", s.Text + " is a control token of the model", t.at}
	}
	for _, f := range t.more {
		if err := fixedSpecial(where+f.Name, t.at+"/"+escapePointer(f.Name), f.Value); err != nil {
			return err
		}
	}
	return nil
}

// fixedSpecial looks for one in a JSON value. Our values are written without
// escapes of letters and signs (see rawValue), so that a token stands as it is.
func fixedSpecial(where, pointer string, value drydock.RawJSON) error {
	if s, found := qwen3.FindSpecial(string(value)); found {
		return &Refusal{"special_token", where, s.Text + " is a control token of the model, and cannot be escaped here", pointer}
	}
	return nil
}
