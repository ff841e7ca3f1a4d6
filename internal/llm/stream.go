package llm

import (
	"bytes"
	"encoding/json"
	"mime"
	"net/http"
	"strings"
)

// isStream tells a stream of events from a body in one piece; some servers send
// the one where the other was asked for. The content type decides; a missing or
// wrong one, the first bytes.
func isStream(h http.Header, raw []byte) bool {
	kind, _, _ := mime.ParseMediaType(h.Get("Content-Type"))
	if kind == "text/event-stream" {
		return true
	}
	start := bytes.TrimLeft(bytes.TrimPrefix(raw, []byte("\ufeff")), " \t\r\n")
	for _, field := range []string{"data:", "event:", "id:", "retry:", ":"} {
		if bytes.HasPrefix(start, []byte(field)) {
			return true
		}
	}
	return false
}

// An event is one server-sent event.
type event struct {
	name string // "" is a message
	data []byte
}

// nextEvent reads the first event off a stream: lines end with LF, CR or both, a
// line that begins with a colon is a comment, several data lines are joined by
// line ends, an empty line ends the event, and so does the stream. It returns
// false when there is none left.
func nextEvent(stream []byte) (e event, rest []byte, ok bool) {
	has := false
	for len(stream) > 0 {
		var line []byte
		line, stream = cutLine(stream)
		if len(line) == 0 {
			if has {
				return e, stream, true
			}
			e = event{}
			continue
		}
		field, value, _ := bytes.Cut(line, []byte{':'})
		value = bytes.TrimPrefix(value, []byte{' '})
		switch string(field) {
		case "event":
			e.name = string(value)
		case "data":
			if has {
				e.data = append(append(e.data[:len(e.data):len(e.data)], '\n'), value...)
			} else {
				e.data, has = value, true
			}
		}
	}
	return e, nil, has
}

func cutLine(b []byte) (line, rest []byte) {
	i := bytes.IndexAny(b, "\r\n")
	switch {
	case i < 0:
		return b, nil
	case b[i] == '\r' && i+1 < len(b) && b[i+1] == '\n':
		return b[:i], b[i+2:]
	}
	return b[:i], b[i+1:]
}

// A gathering puts the pieces of a reply together.
type gathering struct {
	content, reasoningContent, reasoning, refusal gathered
	replaced                                      bool
	finish                                        *string
	usage                                         *Usage
	model, fingerprint                            string
	prompt                                        []int
	tokens                                        []Token
	done                                          bool // [DONE] came
}

// gathered is text that grows; it stays nil when no piece came.
type gathered struct {
	text strings.Builder
	any  bool
}

func (g *gathered) add(piece *string) {
	if piece != nil {
		g.any = true
		g.text.WriteString(*piece)
	}
}

func (g *gathered) value() *string {
	if !g.any {
		return nil
	}
	s := g.text.String()
	return &s
}

// parseStream puts a reply together from its events. The last usage counts. A
// stream is whole when it said [DONE] or gave a finish_reason; one that broke
// off before is a failure that may pass, as is an error in its middle.
func (c *Client) parseStream(raw []byte) (*Reply, *Error) {
	broken := func(why string) *Error {
		return &Error{Status: http.StatusOK, Text: why, Transient: true}
	}
	var g gathering
	rest := bytes.TrimPrefix(raw, []byte("\ufeff"))
	for !g.done {
		e, after, ok := nextEvent(rest)
		if !ok {
			break
		}
		rest = after
		data := bytes.TrimSpace(e.data)
		if string(data) == "[DONE]" {
			g.done = true
			break
		}
		var w wireReply
		if err := json.Unmarshal(data, &w); err != nil {
			if e.name == "error" {
				return nil, broken("the server broke off: " + c.hide(oneLine(string(data))))
			}
			return nil, broken("the stream holds no chat completion: " + c.hide(oneLine(err.Error())))
		}
		if e.name == "error" || len(w.Error) > 0 && string(w.Error) != "null" {
			text, code := serverMessage(data)
			f := broken("the server broke off: " + c.hide(oneLine(text)))
			f.Code = code
			return nil, f
		}
		if err := g.add(&w); err != "" {
			return nil, &Error{Status: http.StatusOK, Text: err}
		}
	}
	if !g.done && g.finish == nil {
		return nil, broken("the stream ended before the reply did")
	}
	return g.reply(raw), nil
}

// add takes one chunk; it returns what is wrong with it.
func (g *gathering) add(w *wireReply) string {
	if g.model == "" {
		g.model = w.Model
	}
	if g.fingerprint == "" {
		g.fingerprint = w.Fingerprint
	}
	if w.Usage != nil {
		g.usage = w.Usage
	}
	if w.Prompt != nil {
		g.prompt = w.Prompt
	}
	for i := range w.Choices {
		ch := &w.Choices[i]
		if ch.Index != 0 {
			continue
		}
		if ch.Finish != nil {
			g.finish = ch.Finish
		}
		g.tokens = append(g.tokens, ch.tokens()...)
		m := ch.Delta
		if m == nil {
			m = ch.Message
		}
		if m == nil {
			continue
		}
		text, ok := textOf(m.Content)
		if !ok {
			return "the reply's content is not text"
		}
		g.replaced = g.replaced || replaced(text, m.Content)
		g.content.add(text)
		g.reasoningContent.add(m.ReasoningContent)
		g.reasoning.add(m.Reasoning)
		g.refusal.add(m.Refusal)
	}
	return ""
}

func (g *gathering) reply(raw []byte) *Reply {
	return &Reply{
		Raw: raw, Streamed: true, Model: g.model, Fingerprint: g.fingerprint,
		Content: g.content.value(), ReasoningContent: g.reasoningContent.value(), Reasoning: g.reasoning.value(), Refusal: g.refusal.value(),
		Finish: g.finish, Usage: g.usage, Replaced: g.replaced, PromptTokens: g.prompt, Tokens: g.tokens,
	}
}
