package emit

import (
	"slices"
	"strconv"

	"github.com/drydock-ml/drydock"
)

// appendJoined appends two texts as one JSON string.
func appendJoined(dst []byte, a, b string) []byte {
	dst = drydock.AppendJSONString(dst, a)
	if b == "" {
		return dst
	}
	n := len(dst) - 1 // the quote between them goes
	dst = drydock.AppendJSONString(dst[:n], b)
	return slices.Delete(dst, n, n+1)
}

// appendMessage appends {"role","content"}.
func appendMessage(dst []byte, role, think, text string) []byte {
	dst = append(dst, `{"role":`...)
	dst = drydock.AppendJSONString(dst, role)
	dst = append(dst, `,"content":`...)
	dst = appendJoined(dst, think, text)
	return append(dst, '}')
}

func appendReply(dst []byte, r reply) []byte { return appendMessage(dst, "assistant", r.think, r.text) }

// appendTurns appends the turns before the answer, without brackets around them.
func appendTurns(dst []byte, turns []drydock.Message) []byte {
	for i, m := range turns {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendMessage(dst, m.Role, "", m.Content)
	}
	return dst
}

// writeMessages writes OpenAI's messages, the answer last.
func writeMessages(dst []byte, d *dialogue, _ Contract) []byte {
	dst = append(dst, `,"messages":[`...)
	dst = append(appendTurns(dst, d.turns), ',')
	return append(appendReply(dst, d.chosen), ']')
}

func writeMessagesKTO(dst []byte, d *dialogue, c Contract) []byte {
	return appendBool(writeMessages(dst, d, c), "label", *d.label)
}

func appendPrompt(dst []byte, d *dialogue) []byte {
	dst = append(dst, `,"prompt":[`...)
	return append(appendTurns(dst, d.turns), ']')
}

func appendSide(dst []byte, name string, r reply) []byte {
	dst = append(appendField(dst, name), '[')
	return append(appendReply(dst, r), ']')
}

// writePromptCompletion writes turns, not strings: TRL applies the chat template
// to turns only.
func writePromptCompletion(dst []byte, d *dialogue, _ Contract) []byte {
	return appendSide(appendPrompt(dst, d), "completion", d.chosen)
}

// appendTemplateKwargs closes the think block in TRL's prompt, so that the loss
// leaves it out: prompt and completion are the only rows of TRL that heed it.
func appendTemplateKwargs(dst []byte, c Contract) []byte {
	if c != EmptyThinkMasked {
		return dst
	}
	return append(dst, `,"chat_template_kwargs":{"enable_thinking":false}`...)
}

func writeTRL(dst []byte, d *dialogue, c Contract) []byte {
	return appendTemplateKwargs(writePromptCompletion(dst, d, c), c)
}

func writeTRLDPO(dst []byte, d *dialogue, c Contract) []byte {
	dst = appendSide(appendPrompt(dst, d), "chosen", d.chosen)
	return appendTemplateKwargs(appendSide(dst, "rejected", d.rejected), c)
}

func writeTRLKTO(dst []byte, d *dialogue, c Contract) []byte {
	dst = appendBool(writePromptCompletion(dst, d, c), "label", *d.label)
	return appendTemplateKwargs(dst, c)
}

func writeSwiftDPO(dst []byte, d *dialogue, c Contract) []byte {
	dst = appendField(writeMessages(dst, d, c), "rejected_response")
	return appendJoined(dst, d.rejected.think, d.rejected.text)
}

func writeAxolotlDPO(dst []byte, d *dialogue, _ Contract) []byte {
	dst = append(dst, `,"messages":[`...)
	dst = append(appendTurns(dst, d.turns), `],"chosen":`...)
	dst = append(appendReply(dst, d.chosen), `,"rejected":`...)
	return appendReply(dst, d.rejected)
}

// appendSaying appends ShareGPT's {"from","value"}.
func appendSaying(dst []byte, role, think, text string) []byte {
	dst = append(dst, `{"from":`...)
	dst = drydock.AppendJSONString(dst, shareGPTRole(role))
	dst = append(dst, `,"value":`...)
	dst = appendJoined(dst, think, text)
	return append(dst, '}')
}

// shareGPTRole is ShareGPT's word for a role.
func shareGPTRole(role string) string {
	switch role {
	case "user":
		return "human"
	case "assistant":
		return "gpt"
	case "tool":
		return "observation"
	}
	return role
}

func appendSayings(dst []byte, turns []drydock.Message) []byte {
	for i, m := range turns {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendSaying(dst, m.Role, "", m.Content)
	}
	return dst
}

func writeShareGPT(dst []byte, d *dialogue, _ Contract) []byte {
	dst = append(dst, `,"conversations":[`...)
	dst = append(appendSayings(dst, d.turns), ',')
	return append(appendSaying(dst, "assistant", d.chosen.think, d.chosen.text), ']')
}

func writeLLaMAFactoryDPO(dst []byte, d *dialogue, _ Contract) []byte {
	dst = append(dst, `,"conversations":[`...)
	dst = append(appendSayings(dst, d.turns), `],"chosen":`...)
	dst = append(appendSaying(dst, "assistant", d.chosen.think, d.chosen.text), `,"rejected":`...)
	return appendSaying(dst, "assistant", d.rejected.think, d.rejected.text)
}

// writeAlpaca writes an empty input, which every reader of Alpaca wants to see,
// and system and history only where there are some.
func writeAlpaca(dst []byte, d *dialogue, _ Contract) []byte {
	turns, system := d.turns, ""
	if turns[0].Role == "system" {
		system, turns = turns[0].Content, turns[1:]
	}
	last := len(turns) - 1
	dst = appendText(dst, "instruction", turns[last].Content)
	dst = append(dst, `,"input":"","output":`...)
	dst = appendJoined(dst, d.chosen.think, d.chosen.text)
	if system != "" {
		dst = appendText(dst, "system", system)
	}
	if last == 0 {
		return dst
	}
	dst = append(dst, `,"history":[`...)
	for i := 0; i < last; i += 2 {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = drydock.AppendJSONString(append(dst, '['), turns[i].Content)
		dst = append(drydock.AppendJSONString(append(dst, ','), turns[i+1].Content), ']')
	}
	return append(dst, ']')
}

func appendIDs(dst []byte, name string, ids []int32) []byte {
	dst = append(appendField(dst, name), '[')
	for i, id := range ids {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = strconv.AppendInt(dst, int64(id), 10)
	}
	return append(dst, ']')
}
