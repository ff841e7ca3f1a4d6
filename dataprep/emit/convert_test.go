package emit_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/drydock-ml/drydock/dataprep/emit"
	"github.com/drydock-ml/drydock/internal/golden"
)

func TestConvert(t *testing.T) {
	t.Parallel()
	const chat = `{"id":7,"messages":[{"role":"system","content":"s"},{"role":"user","content":"问"},{"role":"assistant","content":"答"}],"source":"bank"}`
	for _, c := range []struct{ name, from, to, row, want string }{
		{"kept as it is", "openai", "openai", chat, chat},
		{"ShareGPT", "", "sharegpt", chat, `{"id":7,"conversations":[{"from":"system","value":"s"},{"from":"human","value":"问"},{"from":"gpt","value":"答"}],"source":"bank"}`},
		{"Alpaca", "", "alpaca", chat, `{"id":7,"instruction":"问","input":"","output":"答","system":"s","source":"bank"}`},
		{"prompt and completion", "", "prompt_completion", chat, `{"id":7,"prompt":[{"role":"system","content":"s"},{"role":"user","content":"问"}],"completion":[{"role":"assistant","content":"答"}],"source":"bank"}`},
		{"Alpaca's input", "alpaca", "openai", `{"instruction":"a","input":"b","output":"c","history":[["x","y"]]}`, `{"messages":[{"role":"user","content":"x"},{"role":"assistant","content":"y"},{"role":"user","content":"a\nb"},{"role":"assistant","content":"c"}]}`},
		{"reasoning in the text", "", "swift", `{"messages":[{"role":"user","content":"q"},{"role":"assistant","content":"a","reasoning_content":"r"}]}`, `{"messages":[{"role":"user","content":"q"},{"role":"assistant","content":"<think>\nr\n</think>\n\na"}]}`},
		{"a think block taken off", "qwen3_chat", "openai", `{"messages":[{"role":"user","content":"q"},{"role":"assistant","content":"<think>\n\n</think>\n\n[C]"}]}`, `{"messages":[{"role":"user","content":"q"},{"role":"assistant","content":"[C]"}]}`},
		{"a think block put on", "", "qwen3_chat", `{"messages":[{"role":"user","content":"q"},{"role":"assistant","content":"[C]"}],"tag":null}`, `{"messages":[{"role":"user","content":"q"},{"role":"assistant","content":"<think>\n\n</think>\n\n[C]"}]}`},
		{"a pair", "sharegpt", "trl", `{"conversations":[{"from":"human","value":"q"}],"chosen":{"from":"gpt","value":"a"},"rejected":{"from":"gpt","value":"b"}}`, `{"prompt":[{"role":"user","content":"q"}],"chosen":[{"role":"assistant","content":"a"}],"rejected":[{"role":"assistant","content":"b"}]}`},
		{"a pair for swift", "trl", "swift", `{"prompt":"q","chosen":"a","rejected":"b"}`, `{"messages":[{"role":"user","content":"q"},{"role":"assistant","content":"a"}],"rejected_response":"b"}`},
		{"a label", "", "trl", `{"messages":[{"role":"user","content":"q"},{"role":"assistant","content":"a"}],"label":false}`, `{"prompt":[{"role":"user","content":"q"}],"completion":[{"role":"assistant","content":"a"}],"label":false}`},
		{"text", "", "text", `{"text":"船","n":1}`, `{"text":"船","n":1}`},

		{"tool calls", "", "sharegpt", `{"messages":[{"role":"user","content":"q"},{"role":"assistant","tool_calls":[{"id":"1"}]}]}`, `refused field_lost at conversations[1].tool_calls`},
		{"a call of a function", "", "openai", `{"conversations":[{"from":"human","value":"q"},{"from":"function_call","value":"{}"}]}`, `refused field_lost at messages[1] (function_call)`},
		{"a pair into one answer", "", "openai", `{"messages":[{"role":"user","content":"q"}],"chosen":"a","rejected":"b"}`, `refused field_lost at rejected`},
		{"an image", "", "openai", `{"messages":[{"role":"user","content":[{"type":"image","image":"x.png"}]}]}`, `refused content_part at messages[0].content[0]`},
		{"a name the trainer takes", "", "swift", `{"messages":[{"role":"user","content":"q"}],"answer":"A"}`, `refused field_lost at answer`},
		{"chat as text", "", "text", chat, `refused field_lost at messages`},
		{"text as chat", "", "openai", `{"text":"t"}`, `refused field_lost at text`},
		{"another format than said", "alpaca", "openai", chat, `refused missing_field at instruction`},
		{"no format", "", "openai", `{"question":"q","A":"1"}`, `refused unknown_format at row`},
		{"only an input", "", "openai", `{"input":"q","output":"a"}`, `{"messages":[{"role":"user","content":"q"},{"role":"assistant","content":"a"}]}`},
		{"ms-swift's query", "", "openai", `{"system":"s","query":"q","response":"a","history":[["x","y"]]}`, `{"messages":[{"role":"system","content":"s"},{"role":"user","content":"x"},{"role":"assistant","content":"y"},{"role":"user","content":"q"},{"role":"assistant","content":"a"}]}`},
		{"reasoning of a pair of axolotl", "trl", "axolotl-dpo", `{"prompt":"q","chosen":[{"role":"assistant","content":"a","reasoning_content":"r"}],"rejected":"b"}`, `{"messages":[{"role":"user","content":"q"}],"chosen":{"role":"assistant","content":"<think>\nr\n</think>\n\na"},"rejected":{"role":"assistant","content":"b"}}`},
		{"a pair of axolotl", "trl", "axolotl-dpo", `{"id":"p","prompt":"q","chosen":"a","rejected":"b"}`, `{"id":"p","messages":[{"role":"user","content":"q"}],"chosen":{"role":"assistant","content":"a"},"rejected":{"role":"assistant","content":"b"}}`},
		{"no pair", "", "swift-dpo", chat, `refused missing_field at rejected`},
		{"no label", "", "trl-kto", chat, `refused missing_field at label`},
		{"a pair is no label", "", "trl-kto", `{"prompt":"q","chosen":"a","rejected":"b"}`, `refused field_lost at rejected`},
		{"a label for pairs", "", "swift-dpo", `{"messages":[{"role":"user","content":"q"},{"role":"assistant","content":"a"}],"label":true}`, `refused field_lost at label`},
		{"text for ms-swift", "", "swift-pretrain", `{"id":1,"text":"船"}`, `{"id":1,"messages":[{"role":"assistant","content":"船"}]}`},
		{"and back", "swift-pretrain", "llamafactory-pretrain", `{"id":1,"messages":[{"role":"assistant","content":"船"}]}`, `{"id":1,"text":"船"}`},
		{"no text", "swift-pretrain", "text", chat, `refused wrong_type at messages`},
		{"ids as they are", "", "tokens", `{"id":1,"input_ids":[1],"labels":[-100],"attention_mask":[1],"n":1.50}`, `{"id":1,"input_ids":[1],"labels":[-100],"attention_mask":[1],"n":1.50}`},
		{"ids give no conversation", "", "openai", `{"input_ids":[1],"labels":[-100]}`, `refused field_lost at input_ids`},
		{"segments give none", "", "swift", `{"segments":[{"label":true,"text":"x"}]}`, `refused field_lost at segments`},
		{"a question is not asked", "", "openai", `{"id":"1","kind":"single","stem":"q","options":[]}`, `refused field_lost at stem`},
		{"no object", "", "openai", `[1]`, `refused not_a_row at row`},

		{"two roles", "", "openai", `{"messages":[{"role":"user","from":"gpt","content":"q"},{"role":"assistant","content":"a"}]}`, `refused conflicting_fields at messages[0].from`},
		{"two texts", "", "openai", `{"messages":[{"value":"x","role":"user","content":"q"},{"role":"assistant","content":"a"}]}`, `refused conflicting_fields at messages[0].content`},
		{"two conversations", "llamafactory", "llamafactory", `{"messages":[{"role":"user","content":"q"},{"role":"assistant","content":"a"}],"conversations":[{"role":"user","content":"q"},{"role":"assistant","content":"a"}]}`, `refused conflicting_fields at conversations`},
		{"a conversation and a query", "swift", "swift", `{"messages":[{"role":"user","content":"q"},{"role":"assistant","content":"a"}],"query":"x","response":"y"}`, `refused conflicting_fields at query`},
		{"a conversation and nothing", "swift", "swift", `{"messages":[{"role":"user","content":"q"},{"role":"assistant","content":"a"}],"query":"","history":[],"system":""}`, `{"messages":[{"role":"user","content":"q"},{"role":"assistant","content":"a"}]}`},
		{"an output beside what is chosen", "", "trl", `{"instruction":"q","output":"a","chosen":"b","rejected":"c"}`, `refused conflicting_fields at output`},
		{"an empty one", "", "trl", `{"instruction":"q","output":"","chosen":"b","rejected":"c"}`, `{"prompt":[{"role":"user","content":"q"}],"chosen":[{"role":"assistant","content":"b"}],"rejected":[{"role":"assistant","content":"c"}]}`},
		{"a completion beside what is chosen", "", "trl", `{"prompt":"q","completion":"a","chosen":"b","rejected":"c"}`, `refused conflicting_fields at completion`},
		{"an answer before what is chosen", "", "trl", `{"messages":[{"role":"user","content":"q"},{"role":"assistant","content":"a"}],"chosen":"b","rejected":"c"}`, `refused conflicting_fields at chosen`},
		{"the question in both sides", "", "trl", `{"prompt":"q","chosen":[{"role":"user","content":"q"},{"role":"assistant","content":"a"}],"rejected":[{"role":"user","content":"q"},{"role":"assistant","content":"a"}]}`, `refused bad_turn_order at chosen`},
		{"two that are rejected", "", "swift", `{"messages":[{"role":"user","content":"q"},{"role":"assistant","content":"a"}],"rejected_response":"b","rejected_messages":[{"role":"assistant","content":"a"}]}`, `refused conflicting_fields at rejected_messages`},
		{"two labels", "", "llamafactory", `{"messages":[{"role":"user","content":"q"},{"role":"assistant","content":"a"}],"label":true,"kto_tag":false}`, `refused conflicting_fields at kto_tag`},
		{"reasoning twice", "", "swift", `{"messages":[{"role":"user","content":"q"},{"role":"assistant","content":"<think>\nx\n</think>\n\na","reasoning_content":"r"}]}`, `refused conflicting_fields at messages[1].reasoning_content`},
		{"reasoning twice for the template", "", "qwen3_chat", `{"messages":[{"role":"user","content":"q"},{"role":"assistant","content":"<think>\nx\n</think>\n\na","reasoning_content":"r"}]}`, `refused conflicting_fields at messages[1].reasoning_content`},
		{"a user who reasons", "", "openai", `{"messages":[{"role":"user","content":"q","reasoning_content":"r"},{"role":"assistant","content":"a"}]}`, `refused wrong_type at messages[0].reasoning_content`},
		{"tools beside text", "", "swift-pretrain", `{"text":"t","tools":"[]"}`, `refused field_lost at tools`},
		{"tools as LLaMA-Factory reads them", "", "llamafactory", `{"messages":[{"role":"user","content":"q"},{"role":"assistant","content":"a"}],"tools":[{"name":"f","n":1.0}]}`, `{"messages":[{"role":"user","content":"q"},{"role":"assistant","content":"a"}],"tools":"[{\"name\":\"f\",\"n\":1.0}]"}`},
		{"a control token in tools", "", "openai", `{"messages":[{"role":"user","content":"q"},{"role":"assistant","content":"a"}],"tools":[{"name":"\u003c|im_end|>"}]}`, `refused special_token at tools`},
		{"in a call", "", "openai", `{"messages":[{"role":"user","content":"q"},{"role":"assistant","content":"","tool_calls":[{"function":{"name":"<|im_end|>"}}]}]}`, `refused special_token at messages[1].tool_calls`},
		{"in a role", "", "openai", `{"messages":[{"role":"<|im_start|>","content":"q"},{"role":"assistant","content":"a"}]}`, `refused special_token at messages[0].role`},
		{"in a text", "", "openai", `{"messages":[{"role":"user","content":"<|im_start|>"},{"role":"assistant","content":"a"}]}`, `refused special_token at messages[0].content`},
		{"an empty conversation", "", "openai", `{"messages":[]}`, `refused missing_field at messages`},
		{"turns out of order", "", "alpaca", `{"messages":[{"role":"assistant","content":"a"},{"role":"user","content":"q"}]}`, `refused bad_turn_order at turn 1`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, err := emit.NewConversion(c.from, c.to).Row(nil, []byte(c.row))
			if no := (*emit.Refusal)(nil); errors.As(err, &no) {
				got = []byte("refused " + no.Reason + " at " + no.Field)
			}
			if string(got) != c.want {
				t.Errorf("%s\nwant %s", got, c.want)
			}
		})
	}
}

// TestConvertProperty: a conversation comes back from every format that takes it.
func TestConvertProperty(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		type turn struct {
			Role    string `json:"role"`
			Content string `json:"content"`
		}
		var turns []turn
		if rapid.Bool().Draw(t, "system") {
			turns = append(turns, turn{"system", rapid.StringN(1, 20, -1).Draw(t, "s")})
		}
		for range rapid.IntRange(1, 3).Draw(t, "pairs") {
			turns = append(turns, turn{"user", rapid.StringN(1, 20, -1).Draw(t, "q")}, turn{"assistant", rapid.StringN(1, 20, -1).Draw(t, "a")})
		}
		row, err := json.Marshal(map[string]any{"id": rapid.Int().Draw(t, "id"), "messages": turns, "kept": []int{1}})
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range emit.ConvertFormats() {
			there, err := emit.NewConversion("openai", f).Row(nil, row)
			if err != nil {
				continue
			}
			back, err := emit.NewConversion(f, "openai").Row(nil, there)
			if err != nil || !sameValue(row, back) {
				t.Fatalf("%s: %v\n%s\n%s\n%s", f, err, row, there, back)
			}
		}
	})
}

func sameValue(a, b []byte) bool {
	var x, y any
	return json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && cmp.Equal(x, y)
}

// TestConvertReal takes whole public sets to every format and back: each row comes
// back equal in value, or is refused by the name of a field.
func TestConvertReal(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		file, format string
		refused      map[string]string // format → the field that is named
		all          string            // the field named for every format
	}{
		{file: "llamafactory-demos/alpaca_zh_demo.json", format: "alpaca", refused: map[string]string{"text": "messages"}},
		{file: "llamafactory-demos/identity.json", format: "alpaca", refused: map[string]string{"text": "messages"}},
		{file: "axolotl-fixtures/alpaca/alpaca.json", format: "alpaca", refused: map[string]string{"text": "messages"}},
		{file: "llamafactory-demos/dpo_zh_demo.json", format: "sharegpt", refused: map[string]string{
			"openai": "rejected", "prompt_completion": "rejected", "sharegpt": "rejected", "alpaca": "rejected", "text": "messages", "qwen3_chat": "rejected",
		}},
		{file: "llamafactory-demos/kto_en_demo.json", format: "llamafactory", refused: map[string]string{
			"openai": "label", "prompt_completion": "label", "sharegpt": "label", "alpaca": "label", "text": "messages", "axolotl": "label", "qwen3_chat": "label",
		}},
		{file: "llamafactory-demos/glaive_toolcall_zh_demo.json", format: "sharegpt"},
		{file: "llamafactory-demos/v1_sft_demo.jsonl", format: "openai"},
		{file: "axolotl-fixtures/conversation.json", format: "sharegpt", refused: map[string]string{"text": "messages"}},
		{file: "axolotl-fixtures/conversation.missingturns.json", format: "sharegpt", refused: map[string]string{"text": "messages"}},
		{file: "zh-mt-llm-sft/Zh-mt-sft-example.json", format: "alpaca", refused: map[string]string{"text": "messages"}},
		{file: "navreas/scene_understanding.jsonl", all: "completion"},
		{file: "navreas/spatial_relationship_and_estimation_of_motion.jsonl", all: "completion"},
		{file: "evalscope-custom-mcq/mcq/example_val.jsonl", all: "row"},
		{file: "evalscope-custom-mcq/mcq/example_multi_val.jsonl", all: "row"},
	} {
		t.Run(c.file, func(t *testing.T) {
			t.Parallel()
			rows := realSet(t, golden.RealData(t, filepath.FromSlash(c.file)))
			for _, to := range emit.ConvertFormats() {
				equal, fields := 0, map[string]int{}
				for _, row := range rows {
					there, err := emit.NewConversion(c.format, to).Row(nil, row)
					var no *emit.Refusal
					if errors.As(err, &no) {
						fields[no.Field]++
						continue
					}
					home := c.format
					if bytes.Contains(there, []byte(`"rejected`)) || bytes.Contains(there, []byte(`"label"`)) {
						home = "llamafactory" // which writes these sets' own shape
					}
					back, err := emit.NewConversion(to, home).Row(nil, there)
					if err != nil || !sameValue(joined(t, row), back) {
						t.Fatalf("%s: %v\n%.300s\n%.300s\n%.300s", to, err, row, there, back)
					}
					equal++
				}
				field := c.all
				if field == "" {
					field = c.refused[to]
				}
				if target, ok := emit.TargetOf(to); c.all == "" && ok && field == "" {
					// what a task needs that these rows lack, or has no place for
					switch pair, label := emit.Preference(rows[0]); {
					case target.Name == "tokens", target.Name == "axolotl-segments", target.Task == emit.Pretrain:
						field = "messages"
					case target.Task == emit.DPO && label, target.Task == emit.KTO && !pair && !label:
						field = "label"
					case target.Task == emit.DPO && !pair, target.Task == emit.KTO && pair:
						field = "rejected"
					}
				}
				if field != "" && fields[field] != len(rows) {
					t.Errorf("%s: every row should be refused for %s, got %v", to, field, fields)
				}
				t.Logf("%s: %d rows, %d equal, refused %v", to, len(rows), equal, fields)
			}
		})
	}
}

// joined is a row with what is joined on the way: an instruction and its input,
// the text parts of a turn.
func joined(t *testing.T, row []byte) []byte {
	t.Helper()
	var v map[string]any
	if err := json.Unmarshal(row, &v); err != nil {
		t.Fatal(err)
	}
	if in, is := v["input"].(string); is && in != "" {
		instruction, _ := v["instruction"].(string)
		v["instruction"], v["input"] = strings.TrimPrefix(instruction+"\n"+in, "\n"), ""
	}
	if v["system"] == "" {
		delete(v, "system")
	}
	if list, is := v["messages"].([]any); is {
		for _, m := range list {
			turn := m.(map[string]any)
			parts, is := turn["content"].([]any)
			if !is {
				continue
			}
			text := ""
			for _, p := range parts {
				text += p.(map[string]any)["value"].(string)
			}
			turn["content"] = text
		}
	}
	out, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// realSet reads a JSON array, one object or JSON Lines.
func realSet(t *testing.T, path string) (rows []json.RawMessage) {
	t.Helper()
	if strings.HasSuffix(path, ".jsonl") {
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		s := bufio.NewScanner(f)
		s.Buffer(nil, 16<<20)
		for s.Scan() {
			rows = append(rows, bytes.Clone(s.Bytes()))
		}
		return rows
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if b = bytes.TrimSpace(b); b[0] == '{' {
		return []json.RawMessage{b}
	}
	return realRows(t, path)
}

// TestPointers: what is refused stands where the pointer says.
func TestPointers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ to, row, pointer, value string }{
		{"openai", ` {"a":[{}], "messages" : [ {"role":"user","content":[{"type":"text","text":"x"}, {"type":"image"}]} ]}`, "/messages/0/content/1", `{"type":"image"}`},
		{"sharegpt", `{"messages":[{"role":"user","content":"a,\"}]:{"},{"role":"assistant","content":"b","x/y~":[1,{"z":"]"}]}]}`, "/messages/1/x~1y~0", `[1,{"z":"]"}]`},
		{"alpaca", `{"conversations":[{"from":"gpt","value":"a"}]}`, "/conversations/0", `{"from":"gpt"`},
		{"openai", `{"conversations":[{"from":"human","value":"q"}],"chosen":"a","rejected_response":1,"rejected":{"from":"gpt","value":"b"}}`, "/rejected", `{"from":"gpt"`},
		{"swift", `{"messages":[{"role":"user","content":"q"}],"answer":  "A"}`, "/answer", `"A"`},
		{"openai", `{"prompt":"q"}`, "/completion", `{"prompt"`},
		{"openai", `{"instruction":"q","output":"a","history":[["x","y"],["z",5]]}`, "/history/1/1", `5]`},
		{"openai", `{"x":1}`, "", `{"x":1}`},
	} {
		_, err := emit.NewConversion("", c.to).Row(nil, []byte(c.row))
		var no *emit.Refusal
		if !errors.As(err, &no) || no.Pointer != c.pointer {
			t.Errorf("%s: %v, pointer %q, want %q", c.row, err, no.Pointer, c.pointer)
			continue
		}
		if at := emit.Locate([]byte(c.row), no.Pointer); !strings.HasPrefix(c.row[at:], c.value) {
			t.Errorf("%s: %s is at %q", c.row, no.Pointer, c.row[at:])
		}
	}
}

func FuzzLocate(f *testing.F) {
	f.Add([]byte(`{"a":[1,{"b":"\"}"}]}`), "/a/1/b")
	f.Add([]byte(`[[,]:}{"`), "/0/0")
	f.Fuzz(func(t *testing.T, row []byte, pointer string) {
		if at := emit.Locate(row, pointer); at < 0 || at > len(row) {
			t.Fatal(at)
		}
	})
}

func FuzzConvert(f *testing.F) {
	f.Add([]byte(`{"id":1,"messages":[{"role":"user","content":[{"type":"text","text":"q"}]},{"role":"assistant","content":"a"}]}`))
	f.Add([]byte(`{"instruction":"a","input":"b","output":"c","history":[["x","y"]]}`))
	f.Add([]byte(`{"prompt":"a","chosen":"b","rejected":["c"]}`))
	f.Fuzz(func(t *testing.T, row []byte) {
		for _, to := range emit.ConvertFormats() {
			out, err := emit.NewConversion("", to).Row([]byte("x"), row)
			if err != nil {
				if string(out) != "x" {
					t.Fatalf("%s: a refused row left %q", to, out)
				}
				continue
			}
			if !json.Valid(out[1:]) {
				t.Fatalf("%s: no JSON: %q", to, out)
			}
		}
	})
}
