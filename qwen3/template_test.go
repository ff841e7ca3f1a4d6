package qwen3

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/drydock-ml/drydock/internal/golden"
)

type kwargs struct {
	AddGenerationPrompt bool  `json:"add_generation_prompt"`
	EnableThinking      *bool `json:"enable_thinking"`
	Tools               []json.RawMessage
}

func (k kwargs) options() RenderOptions {
	return RenderOptions{GenerationPrompt: k.AddGenerationPrompt, NoThinking: k.EnableThinking != nil && !*k.EnableThinking}
}

// TestRender holds Render to what Jinja made of conversations made up at random
// (scripts/interop/qwen3_template.py).
func TestRender(t *testing.T) {
	t.Parallel()
	n, failed := 0, 0
	for line := range bytes.Lines(unzip(t, "testdata/render.jsonl.gz")) {
		var v struct {
			Row      json.RawMessage
			Kwargs   kwargs
			Rendered *string
		}
		if err := json.Unmarshal(line, &v); err != nil {
			t.Fatal(err)
		}
		n++
		var c Conversation
		if err := json.Unmarshal(v.Row, &c); err != nil {
			t.Fatalf("%s: %v", v.Row, err)
		}
		got, err := Render(nil, &c, v.Kwargs.options())
		switch {
		case v.Rendered == nil:
			failed++
			if err == nil {
				t.Errorf("%s: Jinja fails, Render does not", v.Row)
			}
		case err != nil:
			t.Errorf("%s: %v", v.Row, err)
		case string(got) != *v.Rendered:
			t.Errorf("%s: %s", v.Row, cmp.Diff(*v.Rendered, string(got)))
		}
	}
	if n < 3000 || failed == 0 {
		t.Errorf("%d rows, %d that fail", n, failed)
	}
}

func TestChatVectors(t *testing.T) {
	t.Parallel()
	n := 0
	for line := range bytes.Lines(golden.ReadFile(t, golden.RealData(t, "qwen3-tokenizer", "chat_vectors.jsonl"))) {
		var v struct {
			Name string
			Conversation
			Kwargs   kwargs
			Rendered string
			IDs      []int32
		}
		if err := json.Unmarshal(line, &v); err != nil {
			t.Fatal(err)
		}
		n++
		v.Conversation.Tools = v.Kwargs.Tools
		got, err := Render(nil, &v.Conversation, v.Kwargs.options())
		if err != nil || string(got) != v.Rendered {
			t.Errorf("%s: %v %s", v.Name, err, cmp.Diff(v.Rendered, string(got)))
		}
		if ids := Encode(nil, string(got)); !equal(ids, v.IDs) {
			t.Errorf("%s: %v, want %v", v.Name, ids, v.IDs)
		}
	}
	if n < 16 {
		t.Errorf("%d vectors", n)
	}
}

// TestServerVectors: rendering and encoding give the ids of the real vLLM's
// /tokenize.
func TestServerVectors(t *testing.T) {
	t.Parallel()
	n := 0
	for line := range bytes.Lines(golden.ReadFile(t, golden.RealData(t, "vllm-real", "tokenize_vectors.jsonl"))) {
		var v struct {
			Conversation
			Kwargs struct {
				EnableThinking *bool `json:"enable_thinking"`
			} `json:"chat_template_kwargs"`
			AddGenerationPrompt *bool `json:"add_generation_prompt"`
			Tokens              []int32
		}
		if err := json.Unmarshal(line, &v); err != nil {
			t.Fatal(err)
		}
		n++
		k := kwargs{AddGenerationPrompt: v.AddGenerationPrompt == nil || *v.AddGenerationPrompt, EnableThinking: v.Kwargs.EnableThinking}
		text, err := Render(nil, &v.Conversation, k.options())
		if ids := Encode(nil, string(text)); err != nil || !equal(ids, v.Tokens) {
			t.Errorf("%s: %v\n got %v\nwant %v", line, err, ids, v.Tokens)
		}
	}
	if n < 73 {
		t.Errorf("%d vectors", n)
	}
}
