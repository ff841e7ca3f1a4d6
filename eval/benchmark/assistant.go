package benchmark

import "strings"

// An Assistant is the message of a chat completion as the server sent it. Nil
// is null or absent.
type Assistant struct {
	Content          *string // text only; parts are the caller's to join
	ReasoningContent *string // the thinking, as vLLM and DeepSeek name it
	Reasoning        *string // the thinking, as others name it
	Refusal          *string
}

// AssistantText turns a message into the text EvalScope 1.4.2 grades:
//
//   - a refusal, when not empty, replaces the content; with one present, even
//     empty, no think block is looked for;
//   - when the server gives reasoning apart (reasoning_content when not empty,
//     else reasoning when present), the content stays as it is;
//   - otherwise the first <think>…</think>, wherever it stands, is taken out
//     and both ends of the rest are trimmed;
//   - a block that is never closed, a lone </think>, a second block, and tags
//     in other spellings stay and are read like any text.
//
// finish is the server's finish_reason; nil is null.
func AssistantText(m Assistant, finish *string) Reply {
	r := Reply{Finish: stopReason(finish)}
	if r.Finish == "unknown" {
		r.FinishAs = deref(finish)
	}
	text := deref(m.Content)
	if refusal := deref(m.Refusal); refusal != "" {
		text = refusal
	}
	reasoning := m.ReasoningContent
	if deref(reasoning) == "" {
		reasoning = m.Reasoning
	}
	if reasoning != nil {
		r.Refused = deref(m.Refusal) != ""
		r.Text, r.Reasoning, r.Think = text, *reasoning, &Think{}
		return r
	}
	if m.Refusal != nil {
		r.Refused = true
		r.Text = text
		return r
	}
	r.Text, r.Reasoning, r.Think = SplitThink(text)
	return r
}

// StreamedAssistantText is [AssistantText] for a message put together from the
// chunks of a stream. EvalScope 1.4.2 gathers content and reasoning_content there
// and nothing else: the thinking is lost where a server calls it reasoning, a
// refusal is not seen, and a stream that names no finish_reason has stopped.
func StreamedAssistantText(m Assistant, finish *string) Reply {
	m.Reasoning, m.Refusal = nil, nil
	if deref(m.ReasoningContent) == "" {
		m.ReasoningContent = nil
	}
	if stop := "stop"; deref(finish) == "" {
		finish = &stop
	}
	return AssistantText(m, finish)
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// stopReason maps a finish_reason as EvalScope 1.4.2 does.
func stopReason(finish *string) string {
	switch f := deref(finish); f {
	case "stop", "tool_calls", "content_filter", "model_length", "max_tokens":
		return f
	case "eos":
		return "stop"
	case "length":
		return "max_tokens"
	case "function_call":
		return "tool_calls"
	}
	return "unknown"
}

// SplitThink takes the first think block out of a text. Without one the text
// comes back untouched and think is nil.
func SplitThink(text string) (rest, reasoning string, think *Think) {
	for from := 0; ; {
		i := strings.Index(text[from:], "<think")
		if i < 0 {
			return text, "", nil
		}
		start := from + i
		t, body, ok := thinkTag(text, start+len("<think"))
		if ok {
			n := strings.Index(text[body:], "</think>")
			if n < 0 { // no later tag can be closed either
				return text, "", nil
			}
			rest = text[:start] + text[body+n+len("</think>"):]
			return trimPython(rest), trimPython(text[body : body+n]), t
		}
		from = start + 1
	}
}

// thinkTag reads what may stand between "<think" and ">": an optional
// signature="…", then an optional redacted="true", each after white space.
func thinkTag(s string, i int) (t *Think, body int, ok bool) {
	t = &Think{}
	if j := skipSpace(s, i); j > i && strings.HasPrefix(s[j:], `signature="`) {
		v := j + len(`signature="`)
		n := strings.IndexByte(s[v:], '"')
		if n < 0 {
			return nil, 0, false
		}
		sig := s[v : v+n]
		t.Signature = &sig
		i = v + n + 1
	}
	if j := skipSpace(s, i); j > i && strings.HasPrefix(s[j:], `redacted="true"`) {
		t.Redacted = true
		i = j + len(`redacted="true"`)
	}
	i = skipSpace(s, i)
	if i < len(s) && s[i] == '>' {
		return t, i + 1, true
	}
	return nil, 0, false
}

func skipSpace(s string, i int) int {
	return len(s) - len(strings.TrimLeftFunc(s[i:], isPythonSpace))
}

func trimPython(s string) string { return strings.TrimFunc(s, isPythonSpace) }

// isPythonSpace is str.isspace: Unicode white space and the four ASCII
// separators, which Go does not count.
func isPythonSpace(r rune) bool {
	switch {
	case r == ' ', r >= '\t' && r <= '\r', r >= 0x1c && r <= 0x1f, r == 0x85, r == 0xa0:
		return true
	case r < 0x1680:
		return false
	}
	return r == 0x1680 || (r >= 0x2000 && r <= 0x200a) || r == 0x2028 || r == 0x2029 ||
		r == 0x202f || r == 0x205f || r == 0x3000
}
