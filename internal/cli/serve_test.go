package cli_test

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/drydock-ml/drydock/qwen3"
)

// cmdServe starts a chat server for the rest of a script and puts its address
// into a variable:
//
//	serve URL [FAULT…]
//
// It serves m and the adapter ck, answers [A] to everything, and loads adapters
// while it runs. A fault is null (a reasoning parser takes the answers), busy
// (429 at first), deny (no key is good), bad (the second item is refused), cold
// (loads no adapters), tokens (shows the prompt's tokens, as vLLM does), system
// (the same, with a system turn of its own).
func cmdServe(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 {
		ts.Fatalf("usage: serve VARIABLE FAULT…")
	}
	s := httptest.NewServer(&chatServer{faults: args[1:], served: []string{"m", "ck"}})
	ts.Defer(s.Close)
	ts.Setenv(args[0], s.URL+"/v1")
}

type chatServer struct {
	faults []string
	mu     sync.Mutex
	served []string
	calls  int
}

func (c *chatServer) has(fault string) bool { return slices.Contains(c.faults, fault) }

func (c *chatServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	var q struct {
		Model  string
		Stream bool
		Name   string `json:"lora_name"`
		Path   string `json:"lora_path"`
	}
	_ = json.Unmarshal(body, &q)
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.has("deny"):
		http.Error(w, `{"error":{"message":"no such key"}}`, http.StatusUnauthorized)
	case r.URL.Path == "/v1/models":
		var data []string
		for _, name := range c.served {
			parent := "null"
			if name != "m" {
				parent = `"m"`
			}
			data = append(data, fmt.Sprintf(`{"id":%q,"parent":%s}`, name, parent))
		}
		fmt.Fprintf(w, `{"data":[%s]}`, strings.Join(data, ","))
	case r.URL.Path == "/v1/load_lora_adapter" && !c.has("cold"):
		c.served = append(c.served, q.Name)
	case r.URL.Path == "/v1/unload_lora_adapter":
		c.served = slices.DeleteFunc(c.served, func(s string) bool { return s == q.Name })
	case r.URL.Path == "/tokenize" && (c.has("tokens") || c.has("system")):
		c.tokenize(w, body)
	case r.URL.Path == "/detokenize" && (c.has("tokens") || c.has("system")):
		var ids struct{ Tokens []int32 }
		_ = json.Unmarshal(body, &ids)
		_ = json.NewEncoder(w).Encode(map[string]string{"prompt": qwen3.Decode(ids.Tokens)})
	case r.URL.Path == "/v1/chat/completions":
		c.calls++
		c.chat(w, string(body), q.Model, q.Stream)
	default:
		http.NotFound(w, r)
	}
}

func (c *chatServer) tokenize(w io.Writer, body []byte) {
	var q struct {
		qwen3.Conversation
		Kwargs struct {
			Thinking *bool `json:"enable_thinking"`
		} `json:"chat_template_kwargs"`
	}
	_ = json.Unmarshal(body, &q)
	if c.has("system") {
		q.Messages = append([]qwen3.Message{{Role: "system", Content: "x", Text: true}}, q.Messages...)
	}
	text, _ := qwen3.Render(nil, &q.Conversation, qwen3.RenderOptions{GenerationPrompt: true, NoThinking: q.Kwargs.Thinking != nil && !*q.Kwargs.Thinking})
	_ = json.NewEncoder(w).Encode(map[string]any{"tokens": qwen3.Encode(nil, string(text)), "max_model_len": 4096})
}

func (c *chatServer) chat(w http.ResponseWriter, body, model string, streamed bool) {
	switch {
	case c.has("busy") && c.calls == 1:
		w.Header().Set("Retry-After", "0.1")
		w.WriteHeader(http.StatusTooManyRequests)
	case c.has("bad") && strings.Contains(body, "追越"):
		http.Error(w, `{"error":{"message":"this is too long [C]","code":"context_length_exceeded"}}`, http.StatusBadRequest)
	case c.has("null"):
		io.WriteString(w, `{"model":"m","choices":[{"message":{"role":"assistant","content":null,"reasoning":"[A]"},"finish_reason":"stop"}]}`)
	case streamed:
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, "data: {\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"[\"}}]}\r\n\r\ndata: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"A]\"},\"finish_reason\":\"stop\"}]}\r\n\r\ndata: [DONE]\r\n\r\n")
	default:
		fmt.Fprintf(w, `{"model":%q,"choices":[{"message":{"role":"assistant","content":"[A]"},"finish_reason":"stop","logprobs":{"content":[{"token":"[A]","logprob":-%d}]}}],"usage":{"prompt_tokens":9,"completion_tokens":3,"total_tokens":12}}`, model, len(model))
	}
}

// cmdSafetensors writes the weights of a small trained adapter into a folder:
//
//	safetensors DIR
func cmdSafetensors(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: safetensors DIR")
	}
	header := `{"base_model.model.l.q_proj.lora_A.weight":{"dtype":"F32","shape":[8,1],"data_offsets":[0,32]},"base_model.model.l.q_proj.lora_B.weight":{"dtype":"F32","shape":[1,8],"data_offsets":[32,64]}}`
	file := binary.LittleEndian.AppendUint64(nil, uint64(len(header)))
	file = append(file, header...)
	for range 16 {
		file = append(file, 0, 0, 128, 63)
	}
	ts.Check(os.WriteFile(filepath.Join(ts.MkAbs(args[0]), "adapter_model.safetensors"), file, 0o644))
}
