package emit_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/drydock-ml/drydock/dataprep/emit/emittest"
	"github.com/drydock-ml/drydock/qwen3"
)

// TestTokensAreTheTemplates: the ids are those of the rendered row, and the loss
// begins where the endpoint's prompt ends.
func TestTokensAreTheTemplates(t *testing.T) {
	t.Parallel()
	for _, c := range []string{"empty-think", "empty-think-masked", "cot"} {
		chat, ids := build(t, "openai", "contract: "+c), build(t, "tokens", "contract: "+c)
		n := 0
		for _, r := range emittest.Records() {
			row, err := chat.Emit(nil, r)
			tokens, terr := ids.Emit(nil, r)
			if (err == nil) != (terr == nil) {
				t.Fatalf("%v, %v", err, terr)
			}
			if err != nil {
				continue
			}
			n++
			var conv qwen3.Conversation
			var got struct {
				IDs    []int32 `json:"input_ids"`
				Labels []int32 `json:"labels"`
				Mask   []int32 `json:"attention_mask"`
			}
			if json.Unmarshal(row, &conv) != nil || json.Unmarshal(tokens, &got) != nil {
				t.Fatalf("%s%s", row, tokens)
			}
			text, err := qwen3.Render(nil, &conv, qwen3.RenderOptions{})
			if err != nil {
				t.Fatal(err)
			}
			want := qwen3.Encode(nil, string(text))
			if d := cmp.Diff(want, got.IDs); d != "" {
				t.Errorf("%s: %s", c, d)
			}
			prompt := conv
			prompt.Messages = conv.Messages[:len(conv.Messages)-1]
			text, err = qwen3.Render(nil, &prompt, qwen3.RenderOptions{GenerationPrompt: true, NoThinking: c == "empty-think-masked"})
			if err != nil {
				t.Fatal(err)
			}
			for i := range qwen3.Encode(nil, string(text)) {
				want[i] = -100
			}
			if d := cmp.Diff(want, got.Labels); d != "" || len(got.Mask) != len(want) {
				t.Errorf("%s: labels %s, %d masks", c, d, len(got.Mask))
			}
		}
		if n == 0 {
			t.Errorf("%s: no row", c)
		}
	}
}
