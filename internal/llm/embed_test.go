package llm

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func embedClient(t *testing.T, handler http.HandlerFunc) *Client {
	t.Helper()
	srv := httptest.NewServer(handler)
	t.Cleanup(srv.Close)
	c, err := New(Options{
		BaseURL: srv.URL + "/v1", APIKey: "sk-secret", HTTP: srv.Client(), Clock: time.Now, Attempts: 3,
		Sleep: func(context.Context, time.Duration) error { return nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestEmbed(t *testing.T) {
	t.Parallel()
	tries := 0
	c := embedClient(t, func(w http.ResponseWriter, r *http.Request) {
		if tries++; tries == 1 {
			http.Error(w, "busy", http.StatusServiceUnavailable)
			return
		}
		body, _ := io.ReadAll(r.Body)
		if r.URL.Path != "/v1/embeddings" || string(body) != `{"model":"m","input":["a","b"]}` || r.Header.Get("Authorization") != "Bearer sk-secret" {
			t.Errorf("%s %s", r.URL.Path, body)
		}
		_, _ = io.WriteString(w, `{"data":[{"index":1,"embedding":[3,4]},{"index":0,"embedding":[1,2]}]}`)
	})
	got, err := c.Embed(t.Context(), "m", []string{"a", "b"})
	if d := cmp.Diff([][]float32{{1, 2}, {3, 4}}, got); err != nil || d != "" {
		t.Errorf("%v\n%s", err, d)
	}
}

func TestEmbedErrors(t *testing.T) {
	t.Parallel()
	for name, reply := range map[string]string{
		"no JSON":        `<html>`,
		"too few":        `{"data":[{"embedding":[1]}]}`,
		"twice":          `{"data":[{"index":0,"embedding":[1]},{"index":0,"embedding":[1]}]}`,
		"out of range":   `{"data":[{"index":0,"embedding":[1]},{"index":7,"embedding":[1]}]}`,
		"other length":   `{"data":[{"embedding":[1]},{"embedding":[1,2]}]}`,
		"empty":          `{"data":[{"embedding":[]},{"embedding":[]}]}`,
		"nothing at all": ``,
	} {
		c := embedClient(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, reply) })
		if _, err := c.Embed(t.Context(), "m", []string{"a", "b"}); err == nil {
			t.Errorf("%s is no error", name)
		}
	}
	c := embedClient(t, http.NotFound)
	var e *Error
	if _, err := c.Embed(t.Context(), "m", []string{"a"}); !errors.As(err, &e) || e.Status != http.StatusNotFound {
		t.Errorf("a server without embeddings: %v", err)
	}
	c = embedClient(t, func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "sk-secret", http.StatusBadRequest) })
	if _, err := c.Embed(t.Context(), "m", []string{"a"}); err == nil || strings.Contains(err.Error(), "sk-secret") {
		t.Errorf("the key shows: %v", err)
	}
}
