package llm_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/drydock-ml/drydock/internal/llm"
)

func FuzzReply(f *testing.F) {
	f.Add(200, []byte(good))
	f.Add(500, []byte(`{"error":"`+key+`"}`))
	f.Add(400, []byte(`{"error":{"message":7,"code":{}},"detail":[{"msg":"`+key+`"}]}`))
	f.Add(200, []byte(`{"choices":[{"message":null}],"error":{"message":"x"}}`))
	f.Add(200, []byte("data: "+chunkA+"\r\n\r\ndata: "+chunkC+"\n\ndata: [DONE]\n\n"))
	f.Add(200, []byte(": x\nevent: error\ndata: {\"error\":{\"message\":\""+key+"\"}}\n\n"))
	f.Fuzz(func(t *testing.T, status int, body []byte) {
		if status < 200 || status > 599 || (status >= 300 && status < 400) {
			return
		}
		d := doer(func(*http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(bytes.NewReader(body))}, nil
		})
		c, err := llm.New(llm.Options{
			BaseURL: "http://h/v1", APIKey: key, HTTP: d, Clock: time.Now, Attempts: 2,
			Sleep: func(context.Context, time.Duration) error { return nil },
		})
		if err != nil {
			t.Fatal(err)
		}
		r, err := c.Chat(t.Context(), request())
		if (r == nil) == (err == nil) {
			t.Fatalf("reply %v, error %v", r, err)
		}
		if err != nil && strings.Contains(err.Error(), key) {
			t.Fatalf("the key is told: %v", err)
		}
	})
}
