package llm

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
)

// A Reply is the first choice of a completion, and the body it came in.
type Reply struct {
	Raw      []byte // the body as it came
	Streamed bool   // it came piece by piece
	Attempts int    // requests made, from 1
	Model    string // as the server names it
	// Fingerprint is the server's system_fingerprint: a change in it is a change
	// of the server.
	Fingerprint string
	Content, ReasoningContent, Reasoning,
	Refusal *string // nil: null or absent
	Finish *string // finish_reason; nil: null or absent
	Usage  *Usage  // nil: the server gave none
	// PromptTokens are the ids of the prompt, where the request asked for them
	// ("return_token_ids": true).
	PromptTokens []int
	// Tokens are those of the content with their log probabilities, where the
	// request asked for them ("logprobs": true).
	Tokens []Token
	// Replaced tells that the text held code points no text can have (lone
	// surrogates), now U+FFFD.
	Replaced bool
}

// Usage is the token count as servers send it.
type Usage struct {
	Prompt        int `json:"prompt_tokens"`
	Completion    int `json:"completion_tokens"`
	Total         int `json:"total_tokens"`
	PromptDetails *struct {
		Cached *int `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
	CompletionDetails *struct {
		Reasoning *int `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`
}

type wireReply struct {
	Model       string          `json:"model"`
	Fingerprint string          `json:"system_fingerprint"`
	Choices     []wireChoice    `json:"choices"`
	Usage       *Usage          `json:"usage"`
	Prompt      []int           `json:"prompt_token_ids"`
	Error       json.RawMessage `json:"error"`
}

type wireChoice struct {
	Index    int          `json:"index"`
	Message  *wireMessage `json:"message"`
	Delta    *wireMessage `json:"delta"` // of a stream
	Finish   *string      `json:"finish_reason"`
	LogProbs *struct {
		Content []Token `json:"content"`
	} `json:"logprobs"`
}

// A Token is a piece of an answer, and how probable it was.
type Token struct {
	Text    string  `json:"token"`
	LogProb float64 `json:"logprob"` // natural logarithm
	// Top are the most probable tokens at this place, as many as the request asked
	// for ("top_logprobs").
	Top []Token `json:"top_logprobs"`
}

type wireMessage struct {
	Content          json.RawMessage `json:"content"`
	ReasoningContent *string         `json:"reasoning_content"`
	Reasoning        *string         `json:"reasoning"`
	Refusal          *string         `json:"refusal"`
}

func (c *wireChoice) tokens() []Token {
	if c.LogProbs == nil {
		return nil
	}
	return c.LogProbs.Content
}

// parse reads a completion sent in one piece. A body that is no completion at
// all broke on its way, or a proxy answered: that may pass. One that is whole
// and says nothing will say nothing again.
func (c *Client) parse(raw []byte) (*Reply, *Error) {
	var w wireReply
	if err := json.Unmarshal(raw, &w); err != nil {
		return nil, &Error{Status: http.StatusOK, Text: "the reply is not a chat completion: " + c.hide(oneLine(err.Error())), Transient: true, cause: err}
	}
	if len(w.Choices) == 0 || w.Choices[0].Message == nil {
		return nil, c.noChoices(raw, w.Error)
	}
	ch := &w.Choices[0]
	m := ch.Message
	r := &Reply{
		Raw: raw, Model: w.Model, Fingerprint: w.Fingerprint, ReasoningContent: m.ReasoningContent, Reasoning: m.Reasoning,
		Refusal: m.Refusal, Finish: ch.Finish, Usage: w.Usage, PromptTokens: w.Prompt, Tokens: ch.tokens(),
	}
	text, ok := textOf(m.Content)
	if !ok {
		return nil, &Error{Status: http.StatusOK, Text: "the reply's content is not text"}
	}
	r.Content, r.Replaced = text, replaced(text, m.Content)
	return r, nil
}

// noChoices tells what came in the place of an answer. An error of the server's
// own under status 200 is sorted by the code it gives.
func (c *Client) noChoices(raw, wireError json.RawMessage) *Error {
	if len(wireError) == 0 || string(wireError) == "null" {
		return &Error{Status: http.StatusOK, Text: "the reply has no choices"}
	}
	text, code := serverMessage(raw)
	status, err := strconv.Atoi(code)
	return &Error{Status: http.StatusOK, Text: c.hide(oneLine(text)), Code: code, Transient: err == nil && transientStatus(status)}
}

// textOf reads a content: a string, null or absent.
func textOf(raw json.RawMessage) (text *string, ok bool) {
	if len(raw) == 0 || string(raw) == "null" {
		return nil, true
	}
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return nil, false
	}
	return &s, true
}

// replaced tells whether decoding had to put U+FFFD where the wire had an
// escape that is no character.
func replaced(text *string, raw []byte) bool {
	return text != nil && strings.ContainsRune(*text, '\ufffd') && !bytes.Contains(raw, []byte("\ufffd"))
}
