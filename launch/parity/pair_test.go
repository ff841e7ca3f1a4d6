package parity_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/drydock-ml/drydock/dataprep/emit"
	"github.com/drydock-ml/drydock/launch/parity"
)

const block = `<think>\n\n</think>\n\n`

// Both answers of a preference pair are held to the contract, however its trainer
// writes it.
func TestPairs(t *testing.T) {
	t.Parallel()
	const asked = `{"role":"user","content":"问"}`
	for _, c := range []struct{ name, trainer, row string }{
		{"messages", "swift", `{"messages":[` + asked + `,{"role":"assistant","content":"%s"}],"rejected_response":"%s"}`},
		{"messages, turns", "swift", `{"messages":[` + asked + `,{"role":"assistant","content":"%s"}],"rejected_messages":[{"role":"assistant","content":"%s"}]}`},
		{"ShareGPT", "llamafactory", `{"conversations":[{"from":"human","value":"问"}],"chosen":{"from":"gpt","value":"%s"},"rejected":{"from":"gpt","value":"%s"}}`},
		{"Alpaca", "llamafactory", `{"instruction":"问","chosen":"%s","rejected":"%s"}`},
		{"prompt", "trl", `{"prompt":[` + asked + `],"chosen":[{"role":"assistant","content":"%s"}],"rejected":[{"role":"assistant","content":"%s"}]}`},
		{"prompt as text", "trl", `{"prompt":"问","chosen":"%s","rejected":"%s"}`},
		{"axolotl", "axolotl", `{"messages":[` + asked + `],"chosen":{"role":"assistant","content":"%s"},"rejected":{"role":"assistant","content":"%s"}}`},
	} {
		for _, x := range []struct {
			won, lost string
			want      []string
		}{
			{block + "[A]", block + "[B]", nil},
			{block + "[A]", block + "[A]", []string{"same_answers"}},
			{block + "[A]", `<think>\n想\n</think>\n\n[B]`, []string{"not_the_contract"}},
			{block + "[A]", block + "[B]<|im_end|>", []string{"special_token"}},
			{block + "[A]<|im_end|>", block + "[B]", []string{"special_token"}},
		} {
			r := check(t, fmt.Sprintf(c.row, x.won, x.lost)+"\n", c.trainer, emit.EmptyThink, parity.Options{})
			var got []string
			for _, f := range r.Findings {
				got = append(got, f.ID)
			}
			if d := cmp.Diff(x.want, got); d != "" || r.Unreadable != 0 || (r.Matching == 1) != (x.want == nil) {
				t.Errorf("%s, %s and %s: %d match, %v (-want +got):\n%s", c.name, x.won, x.lost, r.Matching, r.Unread, d)
			}
		}
	}
	// the longer of the two counts
	long := fmt.Sprintf(`{"prompt":"问","chosen":"%s[A]","rejected":"%s"}`, block, block+strings.Repeat("长", 100))
	if got := found(check(t, long, "trl", emit.EmptyThink, parity.Options{MaxLength: 64})); len(got) != 1 || !strings.HasPrefix(got[0], "too_long /rejected: ") {
		t.Error(got)
	}
	apart := `{"messages":[{"role":"user","content":"问"}],"chosen":{"role":"assistant","content":"[A]","reasoning_content":"想"},"rejected":{"role":"assistant","content":"` + block + `[B]"}}`
	if got := found(check(t, apart, "axolotl", emit.CoT, parity.Options{})); len(got) == 0 || !strings.HasPrefix(got[0], "tokens_differ /chosen/content") {
		t.Error(got)
	}
	null := `{"messages":[{"role":"user","content":"问"},{"role":"assistant","content":"` + block + `[A]"}],"rejected_response":null}`
	if got := found(check(t, null, "swift", emit.EmptyThink, parity.Options{})); len(got) != 1 || !strings.HasPrefix(got[0], "dropped /rejected_response: ms-swift deletes") {
		t.Error(got)
	}
}

// Rows that ask nothing are counted, and looked at for what goes wrong in them.
func TestRowsThatAskNothing(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		trainer, row    string
		tokens, trained int64
		want            []string
	}{
		{"llamafactory", `{"text":"船舶"}`, 2, 2, nil},
		{"axolotl", `{"text":"a<|endoftext|>b<|im_end|>"}`, 5, 5, []string{"special_token /text: <|im_end|> at byte 15"}},
		{"swift", `{"messages":[{"role":"assistant","content":"a b c d e f g h i"}]}`, 10, 10, []string{"too_long /messages/0/content: 10 tokens, the limit is 8"}},
		{"llamafactory", `{"text":"a b c d e f g h i"}`, 10, 10, nil},
		{"trl", `{"input_ids":[1,2,3],"labels":[-100,2,3],"attention_mask":[1,1,1]}`, 3, 2, nil},
		{"axolotl", `{"segments":[{"label":false,"text":"<|im_start|>user\n"},{"label":true,"text":"a"}]}`, 4, 1, nil},
	} {
		r := check(t, c.row, c.trainer, emit.EmptyThink, parity.Options{MaxLength: 8})
		want := append(c.want, "not_asked")
		if d := cmp.Diff(want, found(r)); d != "" || r.Uncompared != 1 || r.Tokens.Total != c.tokens || r.Tokens.Trained != c.trained {
			t.Errorf("%s %s: %+v (-want +got):\n%s", c.trainer, c.row, r.Tokens, d)
		}
	}
	r := check(t, `{"input_ids":[1,2],"labels":[1]}`, "trl", emit.EmptyThink, parity.Options{})
	if r.Unreadable != 1 || !strings.Contains(r.Unread[0].Error(), "/labels: has 1 value, and input_ids 2") {
		t.Error(r.Unread)
	}
}

// What datasets' reader gives up on is told, wherever it stands; so are labels that
// are no labels, and control tokens of tools.
func TestRowsThatDoNotLoad(t *testing.T) {
	t.Parallel()
	const turns = `"messages":[{"role":"user","content":"问"},{"role":"assistant","content":"` + block + `[A]"}]`
	for _, c := range []struct {
		row  string
		want []string
	}{
		{`{` + turns + `,"note":"\\ud800 \ud83d\ude00 \u00e9","n":1e300}`, nil},
		{`{"id":"x","id":"y",` + turns + `}`, []string{"not_loaded /id: the key stands twice"}},
		{`{"meta":[{"a":{"b":1,"b":2}}],` + turns + `}`, []string{"not_loaded /meta/0/a/b: the key stands twice"}},
		{`{"note":"\ud83d",` + turns + `}`, []string{`not_loaded: \ud83d at byte 9 is half of a surrogate pair`}},
		{`{"note":"\uDC00\ud83d",` + turns + `}`, []string{`not_loaded: \uDC00 at byte 9 is half of a surrogate pair`}},
		{`{"n":-1e999,` + turns + `}`, []string{"not_loaded /n: the number is beyond a 64-bit float"}},
		{`{"label":"good",` + turns + `}`, []string{"reserved_column /label"}},
		{`{"label":true,` + turns + `}`, nil},
		{`{"tools":[{"name":"<|im_end|>"}],` + turns + `}`, []string{"special_token /tools: <|im_end|>", "tools"}},
	} {
		if d := cmp.Diff(c.want, found(check(t, c.row, "swift", emit.EmptyThink, parity.Options{}))); d != "" {
			t.Errorf("%s (-want +got):\n%s", c.row, d)
		}
	}
}
