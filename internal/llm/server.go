package llm

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/drydock-ml/drydock"
)

// A ServedModel is one entry of /v1/models.
type ServedModel struct {
	ID     string `json:"id"`
	Root   string `json:"root"`   // vLLM: the path or name it was loaded from
	Parent string `json:"parent"` // vLLM: the model an adapter sits on; empty: it is a model
	MaxLen int    `json:"max_model_len"`
}

// Models lists what the server serves, trying once within limit.
func (c *Client) Models(ctx context.Context, limit time.Duration) ([]ServedModel, error) {
	var list struct {
		Data []ServedModel `json:"data"`
	}
	if err := c.ask(ctx, limit, http.MethodGet, c.base.JoinPath("models"), nil, &list); err != nil {
		return nil, err
	}
	return list.Data, nil
}

// Health reports whether vLLM's engine is up: nil when it is.
func (c *Client) Health(ctx context.Context, limit time.Duration) error {
	return c.ask(ctx, limit, http.MethodGet, c.root("health"), nil, nil)
}

// Version returns what vLLM's /version says.
func (c *Client) Version(ctx context.Context, limit time.Duration) (string, error) {
	var v struct {
		Version string `json:"version"`
	}
	err := c.ask(ctx, limit, http.MethodGet, c.root("version"), nil, &v)
	return v.Version, err
}

// Tokens are a prompt as the server reads it.
type Tokens struct {
	IDs    []int  `json:"tokens"`
	MaxLen int    `json:"max_model_len"`
	Text   string `json:"-"` // the ids as text, control tokens included
}

// Narrow returns the ids as our own tokenizer gives them.
func (t Tokens) Narrow() []int32 {
	out := make([]int32, len(t.IDs))
	for i, id := range t.IDs {
		out[i] = int32(id)
	}
	return out
}

// Tokenize has vLLM render messages as it would for a chat request, and turns
// the ids back into text. Of the extra fields it sends those that change the
// rendering.
func (c *Client) Tokenize(ctx context.Context, limit time.Duration, r Request) (Tokens, error) {
	var t Tokens
	body := Request{Model: r.Model, Messages: r.Messages}
	for _, f := range r.Extra {
		switch f.Name {
		case "chat_template_kwargs", "add_generation_prompt", "continue_final_message", "tools", "chat_template":
			body.Extra = append(body.Extra, f)
		}
	}
	b, err := body.Body()
	if err != nil {
		return t, err
	}
	if err := c.ask(ctx, limit, http.MethodPost, c.root("tokenize"), b, &t); err != nil {
		return t, err
	}
	ids, err := drydock.MarshalJSON(struct {
		Model  string `json:"model"`
		Tokens []int  `json:"tokens"`
	}{r.Model, t.IDs})
	if err != nil {
		return t, err
	}
	var text struct {
		Prompt string `json:"prompt"`
	}
	err = c.ask(ctx, limit, http.MethodPost, c.root("detokenize"), ids, &text)
	t.Text = text.Prompt
	return t, err
}

// Effective is how a server would sample, its own defaults filled in.
type Effective struct {
	Temperature       float64 `json:"temperature"`
	TopP              float64 `json:"top_p"`
	TopK              int     `json:"top_k"`
	RepetitionPenalty float64 `json:"repetition_penalty"`
	MaxTokens         int     `json:"max_tokens"`
}

// Effective asks vLLM what it would make of a request without running it. Only a
// server started with --enable-scale-out says so.
func (c *Client) Effective(ctx context.Context, limit time.Duration, r Request) (Effective, error) {
	var a struct {
		Sampling Effective `json:"sampling_params"`
	}
	b, err := r.Body()
	if err != nil {
		return a.Sampling, err
	}
	err = c.ask(ctx, limit, http.MethodPost, c.base.JoinPath("chat", "completions", "render"), b, &a)
	return a.Sampling, err
}

// LoadAdapter has vLLM load a LoRA adapter from a path on the server. The server
// must run with VLLM_ALLOW_RUNTIME_LORA_UPDATING=True.
func (c *Client) LoadAdapter(ctx context.Context, limit time.Duration, name, path string) error {
	return c.adapter(ctx, limit, "load_lora_adapter", struct {
		Name string `json:"lora_name"`
		Path string `json:"lora_path"`
	}{name, path})
}

// UnloadAdapter has vLLM drop a LoRA adapter.
func (c *Client) UnloadAdapter(ctx context.Context, limit time.Duration, name string) error {
	return c.adapter(ctx, limit, "unload_lora_adapter", struct {
		Name string `json:"lora_name"`
	}{name})
}

func (c *Client) adapter(ctx context.Context, limit time.Duration, verb string, body any) error {
	b, err := drydock.MarshalJSON(body)
	if err != nil {
		return err
	}
	return c.ask(ctx, limit, http.MethodPost, c.base.JoinPath(verb), b, nil)
}

// root is an address beside /v1: vLLM's own routes stand there.
func (c *Client) root(name string) *url.URL {
	u := *c.base
	u.Path = strings.TrimSuffix(strings.TrimRight(u.Path, "/"), "/v1")
	return u.JoinPath(name)
}

// ask sends one request, once, and reads the JSON of the answer; a nil answer
// takes anything. Errors are as of [Client.Chat], but 404 comes as *[Error]: the
// server has no such route.
func (c *Client) ask(ctx context.Context, limit time.Duration, method string, u *url.URL, body []byte, answer any) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	_, raw, e := c.do(ctx, method, u.String(), body)
	if e != nil {
		e.Attempts = 1
		if e.Status == http.StatusNotFound || e.Status == http.StatusMethodNotAllowed {
			return e
		}
		return c.explain(e)
	}
	if answer == nil {
		return nil
	}
	if err := json.Unmarshal(raw, answer); err != nil {
		return &Error{Status: http.StatusOK, Text: shownURL(u) + " does not answer with JSON: " + c.hide(oneLine(err.Error())), Attempts: 1, cause: err}
	}
	return nil
}
