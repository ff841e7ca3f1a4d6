package llm

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/drydock-ml/drydock"
)

// Embed turns texts into vectors, one for each, all of one length. It is tried
// again as [Client.Chat] is, and its errors are the same, but a server without
// embeddings is an *[Error] of status 404 or 405.
func (c *Client) Embed(ctx context.Context, model string, texts []string) ([][]float32, error) {
	body, err := drydock.MarshalJSON(struct {
		Model string   `json:"model"`
		Input []string `json:"input"`
	}{model, texts})
	if err != nil {
		return nil, err
	}
	var out [][]float32
	var missing *Error
	_, err = c.persist(ctx, func(limit time.Duration) (e *Error) {
		out, e = c.embedOnce(ctx, body, len(texts), limit)
		if e != nil && (e.Status == http.StatusNotFound || e.Status == http.StatusMethodNotAllowed) {
			missing = e
		}
		return e
	})
	if missing != nil {
		return nil, missing
	}
	return out, err
}

func (c *Client) embedOnce(ctx context.Context, body []byte, n int, limit time.Duration) ([][]float32, *Error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	_, raw, e := c.do(ctx, http.MethodPost, c.base.JoinPath("embeddings").String(), body)
	if e != nil {
		return nil, e
	}
	var reply struct {
		Data []struct {
			Index     *int      `json:"index"`
			Embedding []float32 `json:"embedding"`
		} `json:"data"`
	}
	if err := json.Unmarshal(raw, &reply); err != nil {
		return nil, &Error{Status: http.StatusOK, Text: "the embeddings are no JSON: " + c.hide(oneLine(err.Error())), cause: err}
	}
	out := make([][]float32, n)
	for i, d := range reply.Data {
		at := i
		if d.Index != nil {
			at = *d.Index
		}
		if at < 0 || at >= n || out[at] != nil || len(d.Embedding) == 0 || len(d.Embedding) != len(reply.Data[0].Embedding) {
			return nil, &Error{Status: http.StatusOK, Text: "the embeddings do not belong to the texts sent"}
		}
		out[at] = d.Embedding
	}
	if len(reply.Data) != n {
		return nil, &Error{Status: http.StatusOK, Text: fmt.Sprintf("%d embeddings for %d texts", len(reply.Data), n)}
	}
	return out, nil
}
