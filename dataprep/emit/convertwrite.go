package emit

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/drydock-ml/drydock"
)

// payload writes the fields that make a row one of its format.
func (w *convWriter) payload(r *convRow) {
	if r.text == nil && len(r.turns) == 0 {
		w.refuse(&Refusal{"missing_field", "messages", "the conversation is empty", r.turnsAt})
		return
	}
	pairs := w.to == "swift" || w.to == "llamafactory" || w.to == "trl" || w.to == "axolotl"
	switch {
	case r.rejected != nil && (!pairs || w.task == KTO):
		w.refuse(lost("rejected", r.rejectedAt, w.format))
	case r.label != nil && (!pairs || w.to == "axolotl" || w.task == DPO):
		w.refuse(lost("label", r.labelAt, w.format))
	case r.rejected != nil && r.label != nil:
		w.refuse(lost("label", r.labelAt, w.to+" of preference pairs"))
	case r.rejected == nil && w.task == DPO:
		w.refuse(&Refusal{"missing_field", "rejected", "the format " + w.format + " wants a rejected answer beside the chosen one", r.turnsAt})
	case r.label == nil && w.task == KTO:
		w.refuse(&Refusal{"missing_field", "label", "the format " + w.format + " wants to know whether the answer is good", r.turnsAt})
	}
	switch {
	case r.text != nil && w.format == "swift-pretrain":
		w.messages("messages", []convTurn{{role: "assistant", content: *r.text}})
		return
	case r.text != nil:
		w.text("text", *r.text)
		return
	}
	switch w.to {
	case "sharegpt":
		w.field("conversations")
		w.fromValue("conversations", r.turns)
	case "alpaca":
		w.alpaca(r)
	case "prompt_completion":
		w.promptCompletion(r)
	case "swift":
		w.swift(r)
	case "trl":
		w.trl(r)
	case "llamafactory", "axolotl":
		w.trainerPairs(r)
	case "qwen3_chat":
		w.qwen3(r)
	default:
		w.messages("messages", r.turns)
	}
}

// tools writes the definitions of functions: for LLaMA-Factory and ShareGPT, which
// want JSON in a string, as one.
func (w *convWriter) tools(v drydock.RawJSON) {
	w.field("tools")
	if (w.to == "llamafactory" || w.to == "sharegpt") && v[0] != '"' {
		w.dst = drydock.AppendJSONString(w.dst, string(v))
		return
	}
	w.dst = append(w.dst, v...)
}

// messages writes a list of {"role","content"}.
func (w *convWriter) messages(name string, turns []convTurn) {
	w.field(name)
	w.dst = append(w.dst, '[')
	for i, t := range turns {
		if i > 0 {
			w.dst = append(w.dst, ',')
		}
		w.message(fmt.Sprintf("%s[%d]", name, i), t)
	}
	w.dst = append(w.dst, ']')
}

func (w *convWriter) message(where string, t convTurn) {
	if t.role == "function_call" && w.to != "llamafactory" {
		w.refuse(lost(where+" (function_call)", t.at, w.to))
	}
	w.dst = append(w.dst, '{')
	w.dst = appendText(w.dst, "role", t.role)
	content, reasoning := t.content, t.reasoning
	if reasoning != "" && (w.to == "swift" || w.to == "llamafactory") {
		// these trainers know no field for it: it stands in the text
		content, reasoning = w.inline(where, t), ""
	}
	w.dst = appendText(w.dst, "content", content)
	if reasoning != "" {
		w.dst = appendText(w.dst, "reasoning_content", reasoning)
	}
	for _, f := range t.more {
		if known, all := turnFields(w.to); !all && !slices.Contains(known, f.Name) {
			w.refuse(lost(where+"."+f.Name, t.at+"/"+escapePointer(f.Name), w.to))
		}
		w.dst = append(drydock.AppendJSONString(append(w.dst, ','), f.Name), ':')
		w.dst = append(w.dst, f.Value...)
	}
	w.dst = append(w.dst, '}')
}

// inline puts a turn's reasoning in front of its text, as the model writes it.
func (w *convWriter) inline(where string, t convTurn) string {
	w.oneThought(where, t)
	return thinkBlock(t.reasoning) + t.content
}

// oneThought refuses a turn whose text has a think block beside its reasoning: no
// row has room for both.
func (w *convWriter) oneThought(where string, t convTurn) {
	if _, _, inText := splitThink(t.content); inText && t.reasoning != "" {
		w.refuse(&Refusal{"conflicting_fields", where + ".reasoning_content", "the text has a think block of its own; only one of them can be meant", t.at + "/reasoning_content"})
	}
}

// turnFields lists what a turn may carry beside role and content: what the trainer
// knows. OpenAI messages may carry anything.
func turnFields(to string) (names []string, all bool) {
	switch to {
	case "openai":
		return nil, true
	case "swift":
		return []string{"tool_calls", "tool_call_id", "name", "loss", "loss_scale"}, false
	case "trl", "prompt_completion":
		return []string{"tool_calls", "tool_call_id", "name"}, false
	case "axolotl":
		return []string{"tool_calls", "tool_call_id", "name", "train", "train_detail", "weight"}, false
	}
	return nil, false
}

// fromValue writes a list of ShareGPT's {"from","value"}.
func (w *convWriter) fromValue(name string, turns []convTurn) {
	w.dst = append(w.dst, '[')
	for i, t := range turns {
		if i > 0 {
			w.dst = append(w.dst, ',')
		}
		w.saying(fmt.Sprintf("%s[%d]", name, i), t)
	}
	w.dst = append(w.dst, ']')
}

func (w *convWriter) saying(where string, t convTurn) {
	for _, f := range t.more {
		w.refuse(lost(where+"."+f.Name, t.at+"/"+escapePointer(f.Name), w.to))
	}
	content := t.content
	if t.reasoning != "" {
		if w.to != "llamafactory" {
			w.refuse(lost(where+".reasoning_content", t.at+"/reasoning_content", w.to))
		}
		content = w.inline(where, t)
	}
	w.dst = appendSaying(w.dst, t.role, content, "")
}

// plainPairs takes a leading system turn off and holds that user and assistant
// take turns, the assistant last, each with text only.
func (w *convWriter) plainPairs(r *convRow) (system string, pairs []convTurn) {
	turns := r.turns
	if len(turns) > 0 && turns[0].role == "system" && len(turns[0].more) == 0 {
		system, turns = turns[0].content, turns[1:]
	}
	for i, t := range turns {
		where := "turn " + strconv.Itoa(i+1)
		switch want := [2]string{"user", "assistant"}[i%2]; {
		case t.role != want:
			w.refuse(&Refusal{"bad_turn_order", where, fmt.Sprintf("it is %s's; %s wants user and assistant by turns", t.role, w.to), t.at})
		case len(t.more) > 0:
			w.refuse(lost(where+": "+t.more[0].Name, t.at+"/"+escapePointer(t.more[0].Name), w.to))
		case t.reasoning != "":
			w.refuse(lost(where+": reasoning_content", t.at+"/reasoning_content", w.to))
		}
	}
	if len(turns) == 0 || len(turns)%2 != 0 {
		w.refuse(&Refusal{"bad_turn_order", "messages", w.to + " wants the assistant's turn last", r.turnsAt})
		return system, nil
	}
	return system, turns
}

func (w *convWriter) alpaca(r *convRow) {
	if r.tools != nil {
		w.refuse(lost("tools", "/tools", w.to))
	}
	system, turns := w.plainPairs(r)
	if turns == nil {
		return
	}
	last := len(turns) - 2
	w.text("instruction", turns[last].content)
	w.text("input", "")
	w.text("output", turns[last+1].content)
	if system != "" {
		w.text("system", system)
	}
	if last > 0 {
		w.field("history")
		w.dst = append(w.dst, '[')
		for i := 0; i < last; i += 2 {
			if i > 0 {
				w.dst = append(w.dst, ',')
			}
			w.dst = drydock.AppendJSONString(append(w.dst, '['), turns[i].content)
			w.dst = append(drydock.AppendJSONString(append(w.dst, ','), turns[i+1].content), ']')
		}
		w.dst = append(w.dst, ']')
	}
}

// answerApart parts the last turn, which must be the assistant's.
func (w *convWriter) answerApart(turns []convTurn) (before, answer []convTurn) {
	n := len(turns) - 1
	if turns[n].role != "assistant" {
		w.refuse(&Refusal{"bad_turn_order", fmt.Sprintf("messages[%d]", n), w.to + " wants the assistant's turn last", turns[n].at})
	}
	return turns[:n], turns[n:]
}

// promptCompletion writes turns, not strings: TRL applies the chat template to
// turns only.
func (w *convWriter) promptCompletion(r *convRow) {
	before, answer := w.answerApart(r.turns)
	w.messages("prompt", before)
	w.messages("completion", answer)
}

func (w *convWriter) trl(r *convRow) {
	if r.rejected == nil {
		w.promptCompletion(r)
		w.bool("label", r.label)
		return
	}
	before, answer := w.answerApart(r.turns)
	w.messages("prompt", before)
	w.messages("chosen", answer)
	w.messages("rejected", r.rejected)
}

func (w *convWriter) bool(name string, v *bool) {
	if v != nil {
		w.field(name)
		w.dst = strconv.AppendBool(w.dst, *v)
	}
}

func (w *convWriter) swift(r *convRow) {
	w.messages("messages", r.turns)
	w.bool("label", r.label)
	switch rejected := r.rejected; {
	case rejected == nil:
	case len(rejected) == 1 && rejected[0].role == "assistant" && len(rejected[0].more) == 0 && rejected[0].reasoning == "":
		w.text("rejected_response", rejected[0].content)
	default:
		w.messages("rejected_response", rejected)
	}
}

// trainerPairs writes rows of LLaMA-Factory and axolotl: messages, for pairs with
// one chosen and one rejected turn beside them.
func (w *convWriter) trainerPairs(r *convRow) {
	if r.rejected == nil {
		w.messages("messages", r.turns)
		w.bool("label", r.label)
		return
	}
	before, answer := w.answerApart(r.turns)
	if len(r.rejected) != 1 {
		w.refuse(lost("rejected: more than one turn", r.rejectedAt, w.to))
		return
	}
	if w.to == "llamafactory" {
		w.field("conversations")
		w.fromValue("conversations", before)
		w.field("chosen")
		w.saying("chosen", answer[0])
		w.field("rejected")
		w.saying("rejected", r.rejected[0])
		return
	}
	if r.tools != nil {
		w.refuse(lost("tools", "/tools", "axolotl of preference pairs"))
	}
	w.messages("messages", before)
	w.field("chosen")
	w.message("chosen", w.inlined("chosen", answer[0]))
	w.field("rejected")
	w.message("rejected", w.inlined("rejected", r.rejected[0]))
}

// inlined is an answer whose reasoning stands in its text: of the turns of a pair,
// axolotl reads role and content.
func (w *convWriter) inlined(where string, t convTurn) convTurn {
	for _, f := range t.more {
		w.refuse(lost(where+"."+f.Name, t.at+"/"+escapePointer(f.Name), "axolotl of preference pairs"))
	}
	if t.reasoning != "" {
		t.content, t.reasoning = w.inline(where, t), ""
	}
	return t
}

// qwen3 writes the rows of the emitter of that name: the last answer behind its
// think block, which is empty where the row has no reasoning.
func (w *convWriter) qwen3(r *convRow) {
	if r.tools != nil {
		w.refuse(lost("tools", "/tools", w.to))
	}
	chat := &drydock.Chat{}
	for i, t := range r.turns {
		for _, f := range t.more {
			w.refuse(lost(fmt.Sprintf("messages[%d].%s", i, f.Name), t.at+"/"+escapePointer(f.Name), w.to))
		}
		w.oneThought(fmt.Sprintf("messages[%d]", i), t)
		m := drydock.Message{Role: t.role, Content: t.content, Reasoning: t.reasoning}
		if _, text := thoughts(m); strings.TrimSpace(text.Content) == "" {
			w.refuse(&Refusal{"empty_turn", fmt.Sprintf("messages[%d]", i), "the turn is empty", t.at})
		}
		chat.Messages = append(chat.Messages, m)
	}
	contract := EmptyThink
	last := r.turns[len(r.turns)-1]
	reasoning, answer, _ := splitThink(last.content)
	if last.reasoning != "" {
		reasoning = last.reasoning
	}
	if reasoning != "" {
		contract = CoT
	}
	e := &trainEmitter{target: &rowTarget{Target: Target{Task: SFT}}, contract: contract}
	var d dialogue
	if err := e.chat(&d, &drydock.Record{Chat: chat}); err != nil {
		no, _ := err.(*drydock.Drop)
		w.refuse(&Refusal{no.Reason, "messages", no.Detail, r.turnsAt})
		return
	}
	out := make([]convTurn, 0, len(d.turns)+1)
	for _, m := range d.turns {
		out = append(out, convTurn{role: m.Role, content: m.Content})
	}
	out = append(out, convTurn{role: "assistant", content: d.chosen.think + d.chosen.text})
	if was, is, _ := splitThink(out[len(out)-1].content); was != reasoning || is != answer {
		w.refuse(&Refusal{"field_lost", fmt.Sprintf("messages[%d].content", len(out)-1), "the template takes away line ends in front of an answer and blanks around reasoning", last.at})
	}
	w.messages("messages", out)
}
