package emit_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/dataprep/emit"
	"github.com/drydock-ml/drydock/dataprep/emit/emittest"
	"github.com/drydock-ml/drydock/internal/golden"
	"github.com/drydock-ml/drydock/internal/meter"
	"github.com/drydock-ml/drydock/internal/shuffle"
	"github.com/drydock-ml/drydock/internal/spec"

	"github.com/google/go-cmp/cmp"
)

// testPrompt stands for a benchmark's template; letters by position.
func testPrompt(q *drydock.Question) (string, error) {
	var b strings.Builder
	b.WriteString("请回答：" + q.Stem)
	for i, o := range q.Options {
		fmt.Fprintf(&b, "\n%c. %s", 'A'+i, o.Text)
	}
	return b.String(), nil
}

func shape(t testing.TB, name string) emit.Shape {
	t.Helper()
	for _, s := range emit.Shapes() {
		if s.Name == name {
			return s
		}
	}
	t.Fatalf("no shape %q", name)
	return emit.Shape{}
}

// build makes an emitter from YAML options.
func build(t testing.TB, name, options string) emit.Emitter {
	t.Helper()
	s, ok := spec.Find(emit.Emitters(), name)
	if !ok {
		t.Fatalf("no row shape %q", name)
	}
	b, err := s.Default()
	if err != nil {
		t.Fatal(err)
	}
	if options != "" {
		d := spec.Parse("drydock.yaml", []byte(options))
		b, ok = s.Build(d, d.Root, name)
		if !ok {
			t.Fatal(d.Findings())
		}
	}
	e, err := b.New(emit.Context{Prompt: testPrompt, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestQuestion(t *testing.T) {
	t.Parallel()
	emittest.Run(t, build(t, "question", ""), shape(t, "question"))
}

func TestPassage(t *testing.T) {
	t.Parallel()
	emittest.Run(t, build(t, "passage", ""), shape(t, "passage"))
}

// TestTrainingRows holds every training shape under every contract it takes to
// the suite; what can be read back as a conversation is.
func TestTrainingRows(t *testing.T) {
	t.Parallel()
	for _, s := range emit.Emitters() {
		target, ok := emit.TargetOf(s.Name)
		if !ok {
			continue
		}
		back := emit.Shape{}
		if target.Messages {
			back = shape(t, "chat")
		}
		options := []string{""}
		for _, f := range s.Fields {
			if f.Name == "contract" {
				options = f.Enum
			}
		}
		for _, c := range options {
			t.Run(strings.TrimSuffix(s.Name+"/"+c, "/"), func(t *testing.T) {
				t.Parallel()
				yaml := ""
				if c != "" {
					yaml = "contract: " + c
				}
				emittest.Run(t, build(t, s.Name, yaml), back)
			})
		}
	}
}

func TestQwen3ChatUnshuffled(t *testing.T) {
	t.Parallel()
	emittest.Run(t, build(t, "qwen3_chat", "shuffle: false"), shape(t, "chat"))
}

// A chat row that a contract wrote is read back and written the same.
func TestQwen3ChatOfChatRowsIsStable(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ contract, row string }{
		{"empty-think", `{"id":"a","messages":[{"role":"user","content":"问"},{"role":"assistant","content":"<think>\n\n</think>\n\n[C]"}]}`},
		{"cot", `{"id":"b","messages":[{"role":"system","content":"S"},{"role":"user","content":"问"},{"role":"assistant","content":"答"},{"role":"user","content":"问"},{"role":"assistant","content":"<think>\n因为\n</think>\n\n[C]"}]}`},
	} {
		r, err := shape(t, "chat").Decode([]byte(c.row))
		if err != nil {
			t.Fatal(err)
		}
		s, _ := spec.Find(emit.Emitters(), "qwen3_chat")
		d := spec.Parse("y", []byte("contract: "+c.contract))
		b, _ := s.Build(d, d.Root, "qwen3_chat")
		e, err := b.New(emit.Context{Prompt: testPrompt, RowID: func(r *drydock.Record) string { return r.RowID }})
		if err != nil {
			t.Fatal(err)
		}
		got, err := e.Emit(nil, r)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(c.row+"\n", string(got)); d != "" {
			t.Errorf("%s: %s", c.contract, d)
		}
	}
}

func TestChatDrops(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ contract, row, reason string }{
		{"empty-think", `{"messages":[{"role":"user","content":"a"}]}`, "bad_turn_order"},
		{"empty-think", `{"messages":[]}`, "bad_turn_order"},
		{"empty-think", `{"messages":[{"role":"assistant","content":"a"},{"role":"user","content":"b"}]}`, "bad_turn_order"},
		{"empty-think", `{"conversations":[{"from":"human","value":"a"},{"from":"function_call","value":"{}"}]}`, "bad_turn_order"},
		{"empty-think", `{"messages":[{"role":"user","content":" "},{"role":"assistant","content":"b"}]}`, "empty_turn"},
		{"empty-think", `{"messages":[{"role":"user","content":"<|im_start|>"},{"role":"assistant","content":"b"}]}`, "special_token"},
		{"empty-think", `{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b </think>"}]}`, "special_token"},
		{"empty-think", `{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"<think>x</think>b"}]}`, "has_reasoning"},
		{"empty-think", `{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b","reasoning_content":"x"}]}`, "has_reasoning"},
		{"cot", `{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"}]}`, "no_reasoning"},
		{"cot", `{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"<think>x</think>b"},{"role":"user","content":"a"},{"role":"assistant","content":"<think>x</think>b"}]}`, "reasoning_in_history"},
		{"empty-think", `{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b","weight":0}]}`, "message_fields"},
		{"empty-think", `{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"}],"label":false}`, "kto_label"},
		{"empty-think", `{"messages":[{"role":"user","content":"a"}],"chosen":{"role":"assistant","content":"b"},"rejected":{"role":"assistant","content":"c"}}`, "preference_pair"},
		{"empty-think", `{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"}],"tools":"[{}]"}`, "tools"},
		{"empty-think", `{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":null,"tool_calls":[{}]}]}`, "message_fields"},
	} {
		r, err := shape(t, "chat").Decode([]byte(c.row))
		if err != nil {
			t.Errorf("%s: %v", c.row, err)
			continue
		}
		_, err = build(t, "qwen3_chat", "contract: "+c.contract).Emit(nil, r)
		var d *drydock.Drop
		if !errors.As(err, &d) || d.Reason != c.reason {
			t.Errorf("%s under %s: %v, want drop %s", c.row, c.contract, err, c.reason)
		}
	}
}

func TestDecodeChat(t *testing.T) {
	t.Parallel()
	got, err := shape(t, "chat").Decode([]byte(`{"id":7,"b":1.50,"conversations":[{"from":"human","value":"问\u4e00"},{"from":"gpt","value":"答"}],"system":"S","tools":"","a":{"x":[null]}}`))
	if err != nil {
		t.Fatal(err)
	}
	want := &drydock.Record{RowID: "7", Chat: &drydock.Chat{
		Messages: []drydock.Message{{Role: "system", Content: "S"}, {Role: "user", Content: "问一"}, {Role: "assistant", Content: "答"}},
		Extra:    []drydock.RawField{{Name: "b", Value: drydock.RawJSON("1.50")}, {Name: "a", Value: drydock.RawJSON(`{"x":[null]}`)}},
	}}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	parts, err := shape(t, "chat").Decode([]byte(`{"messages":[{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","value":"b"}]},{"role":"assistant","content":"c"}]}`))
	if err != nil || parts.Chat.Messages[0].Content != "ab" || parts.Chat.Extra != nil {
		t.Errorf("text parts: %+v, %v", parts, err)
	}
}

func TestDecodeRefuses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ shape, row, want string }{
		{"chat", `[1]`, "a row must be an object"},
		{"chat", `{"messages":`, "not valid JSON"},
		{"chat", `{"a":1}`, `field "messages"`},
		{"chat", `{"messages":{}}`, `field "messages" must be a list of turns, not object`},
		{"chat", `{"messages":[1]}`, `field "messages[1]" must be an object`},
		{"chat", `{"messages":[{"content":"a"}]}`, `field "messages[1].role" is missing`},
		{"chat", `{"messages":[{"role":"user","content":null}]}`, `field "messages[1].content" must be a string, not null`},
		{"chat", `{"messages":[{"role":"user","content":5}]}`, `field "messages[1].content" must be a string, not number`},
		{"question", `{"kind":"sinlge","stem":"x"}`, `field "kind" is "sinlge"`},
		{"question", `{"kind":"single"}`, `field "stem" is missing`},
		{"question", `{"kind":"single","stem":1}`, `field "stem" must be a string`},
		{"question", `{"kind":"single","stem":"a","options":[1]}`, `field "options" must be a list`},
		{"question", `{"kind":"single","stem":"a","options":[{"label":1}]}`, `options: field "label"`},
		{"question", `{"kind":"single","stem":"a","answer":"A"}`, `field "answer" must be a list of strings, not string`},
		{"question", `{"kind":"single","stem":"a","origin":{"locator":"x9"}}`, `origin: locator "x9"`},
		{"passage", `{"heading":[],"origin":{}}`, `field "text" is missing`},
	} {
		_, err := shape(t, c.shape).Decode([]byte(c.row))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %s: %v, want %q", c.shape, c.row, err, c.want)
		}
	}
}

func TestSniff(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ row, want string }{
		{`{"id":"1","kind":"single","stem":"","options":[],"answer":[]}`, "question"},
		{`{"text":"x","heading":[],"origin":{"a":"messages"}}`, "passage"},
		{`{"messages":[]}`, "chat"},
		{` {"conversations" : [] }`, "chat"},
		{`{"a":{"messages":[]}}`, ""},
		{`{"a":"messages","b":["messages"]}`, ""},
		{`{"x\"messages":1}`, ""},
		{`["messages"]`, ""},
		{`[{"messages":[]}]`, ""},
		{`{"question":"q","A":"1"}`, ""},
		{``, ""},
		{`{"`, ""},
		{`{"messages`, ""},
	} {
		got := ""
		for _, s := range emit.Shapes() {
			if s.Sniff([]byte(c.row)) {
				got = s.Name
				break
			}
		}
		if got != c.want {
			t.Errorf("%s is %q, want %q", c.row, got, c.want)
		}
	}
}

// Answer letters come out near uniform within 3- and within 4-option items even
// when the right option always stands first in the source.
func TestLettersNearUniform(t *testing.T) {
	t.Parallel()
	e := build(t, "qwen3_chat", "")
	for n, limit := range map[int]float64{3: 13.8, 4: 16.3} {
		const items = 3000
		count := map[string]float64{}
		for i := range items {
			r := bankItem(i, n)
			row, err := e.Emit(nil, r)
			if err != nil {
				t.Fatal(err)
			}
			user, letter := turns(t, row)
			if !strings.Contains(user, "\n"+letter+". 正确选项") {
				t.Fatalf("the answer %s is not the right option of:\n%s", letter, user)
			}
			count[letter]++
		}
		x := 0.0
		for _, c := range count {
			d := c - items/float64(n)
			x += d * d / (items / float64(n))
		}
		if len(count) != n || x > limit {
			t.Errorf("%d options: %v, chi-square %.1f over %.1f", n, count, x, limit)
		}
	}
}

func bankItem(i, n int) *drydock.Record {
	q := &drydock.Question{Kind: drydock.Single, Stem: fmt.Sprintf("第%d题", i), Answer: []string{"A"}}
	for k, s := range []string{"正确选项", "干扰一", "干扰二", "干扰三"}[:n] {
		q.Options = append(q.Options, drydock.Option{Label: string(rune('A' + k)), Text: s})
	}
	return &drydock.Record{ID: drydock.NewID("b", "f", fmt.Sprint(i)), Question: q}
}

func turns(t *testing.T, row []byte) (user, letter string) {
	t.Helper()
	var v struct{ Messages []drydock.Message }
	if err := json.Unmarshal(row, &v); err != nil {
		t.Fatal(err)
	}
	a, ok := strings.CutPrefix(v.Messages[1].Content, "<think>\n\n</think>\n\n[")
	if !ok {
		t.Fatalf("assistant text %q", v.Messages[1].Content)
	}
	return v.Messages[0].Content, strings.TrimSuffix(a, "]")
}

// Labels that are not A, B, C are printed as letters by position.
func TestForeignLabels(t *testing.T) {
	t.Parallel()
	q := &drydock.Question{Kind: drydock.Single, Stem: "数字标号", Answer: []string{"3"}, Options: []drydock.Option{{Label: "1", Text: "甲"}, {Label: "2", Text: "乙"}, {Label: "3", Text: "丙"}}}
	e := build(t, "qwen3_chat", "")
	r := &drydock.Record{ID: drydock.NewID("x", "", ""), Question: q}
	row, err := e.Emit(nil, r)
	if err != nil {
		t.Fatal(err)
	}
	user, letter := turns(t, row)
	if !strings.Contains(user, "\n"+letter+". 丙") {
		t.Errorf("answer %s of\n%s", letter, user)
	}
	m := e.Describe(r)[0].Letters
	if i := slices.IndexFunc(m, func(m shuffle.Move) bool { return m.From == "3" }); i < 0 || m[i].To != letter {
		t.Errorf("letters %v, printed %s", m, letter)
	}
}

func TestRealChatRows(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		file string
		min  int
	}{{"dpo_zh_demo.json", 300}, {"kto_en_demo.json", 300}, {"glaive_toolcall_zh_demo.json", 300}} {
		t.Run(c.file, func(t *testing.T) {
			t.Parallel()
			rows := realRows(t, golden.RealData(t, "llamafactory-demos", c.file))
			if len(rows) < c.min {
				t.Fatalf("%d rows", len(rows))
			}
			s := shape(t, "chat")
			for i, row := range rows {
				if !s.Sniff(row) {
					t.Fatalf("row %d is not sniffed", i)
				}
				if _, err := s.Decode(row); err != nil {
					t.Fatalf("row %d: %v", i, err)
				}
			}
		})
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"messages":[{"role":"user","content":[{"type":"text"}]}],"tools":[]}`))
	f.Add([]byte(`{"conversations":[{"from":"human","value":null,"x":1}],"system":{},"rejected":"a","chosen":5}`))
	f.Add([]byte(`{"kind":"single","stem":"a","options":[{"label":"A","text":"x"}],"answer":["A"],"origin":{"locator":"p1"}}`))
	f.Add([]byte(`{"heading":["a"],"text":"b","origin":null}`))
	var emitters []emit.Emitter
	for _, s := range emit.Emitters() {
		emitters = append(emitters, build(f, s.Name, ""))
	}
	f.Fuzz(func(t *testing.T, row []byte) {
		for _, s := range emit.Shapes() {
			s.Sniff(row)
			r, err := s.Decode(row)
			if err != nil {
				continue
			}
			for _, e := range emitters {
				out, err := e.Emit(nil, r)
				var d *drydock.Drop
				if err != nil && !errors.As(err, &d) {
					t.Fatal(err)
				}
				if err == nil && !json.Valid(out) {
					t.Fatalf("row %q made %q", row, out)
				}
			}
		}
	})
}

// benchRecords are an exam item of usual length, asked by a prompt of usual
// length, a conversation, and a passage.
func benchRecords() map[string]*drydock.Record {
	q := bankItem(7, 4)
	q.Question.Stem = "在能见度不良的水域中航行时，" + strings.Repeat("听到他船雾号显示在本船正横以前的船舶，", 3) + "应当____。"
	for i := range q.Question.Options {
		q.Question.Options[i].Text += "，将航速减到能维持其航向的最小速度"
	}
	q.Question.Explanation = "规则第十九条第五款规定，除已断定不存在碰撞危险外，每一船舶应减速，故选A。"
	return map[string]*drydock.Record{
		"question": q,
		"chat": {Chat: &drydock.Chat{Messages: []drydock.Message{
			{Role: "user", Content: strings.Repeat("两船在互见中相遇时如何判断存在碰撞危险？", 8)}, {Role: "assistant", Content: strings.Repeat("罗经方位没有明显变化即存在碰撞危险。\n", 12)},
		}}},
		"passage": {Passage: &drydock.Passage{Heading: []string{"第二章", "驾驶和航行规则"}, Text: strings.Repeat("每一船舶在任何时候都应以安全航速行驶。\n", 40)}},
	}
}

// BenchmarkEmit measures rows of every target per second, by what they are made of.
func BenchmarkEmit(b *testing.B) {
	prompt := strings.Repeat("请回答单选题。要求只输出选项，不输出解释。", 6)
	for _, c := range []struct{ shape, of string }{
		{"qwen3_chat", "question"},
		{"llamafactory-dpo", "question"},
		{"swift-kto", "question"},
		{"trl", "question"},
		{"tokens", "question"},
		{"openai", "chat"},
		{"sharegpt", "chat"},
		{"alpaca", "chat"},
		{"axolotl-segments", "chat"},
		{"text", "passage"},
	} {
		b.Run(c.shape+"/"+c.of, func(b *testing.B) {
			s, _ := spec.Find(emit.Emitters(), c.shape)
			builder, err := s.Default()
			if err != nil {
				b.Fatal(err)
			}
			e, err := builder.New(emit.Context{Seed: 1, Prompt: func(q *drydock.Question) (string, error) {
				text := make([]byte, 0, 2048)
				text = append(append(text, prompt...), q.Stem...)
				for i, o := range q.Options {
					text = append(append(text, '\n', byte('A'+i), '.', ' '), o.Text...)
				}
				return string(text), nil
			}})
			if err != nil {
				b.Fatal(err)
			}
			r := benchRecords()[c.of]
			buf, err := e.Emit(nil, r)
			if err != nil {
				b.Fatal(err)
			}
			defer meter.CPU(b, len(buf))()
			for b.Loop() {
				buf, _ = e.Emit(buf[:0], r)
			}
		})
	}
}

func BenchmarkEmitQuestion(b *testing.B) {
	e := build(b, "question", "")
	r := emittest.Records()[0]
	buf, _ := e.Emit(nil, r)
	defer meter.CPU(b, len(buf))()
	for b.Loop() {
		buf, _ = e.Emit(buf[:0], r)
	}
}

// BenchmarkConvert turns rows of one format into another, without loss.
func BenchmarkConvert(b *testing.B) {
	row := []byte(`{"id":"bank/123","messages":[{"role":"user","content":"请回答单选题，只输出选项。\n\n船舶在能见度不良的水域中航行时，应以适合当时环境的安全航速行驶。\nA. 备车\nB. 停车\nC. 抛锚\nD. 全速"},{"role":"assistant","content":"<think>\n\n</think>\n\n[A]"}],"score":0.98}`)
	for _, to := range []string{"openai", "sharegpt", "prompt_completion"} {
		b.Run(to, func(b *testing.B) {
			c := emit.NewConversion("", to)
			buf, err := c.Row(nil, row)
			if err != nil {
				b.Fatal(err)
			}
			defer meter.CPU(b, len(row))()
			for b.Loop() {
				buf, _ = c.Row(buf[:0], row)
			}
		})
	}
}

func BenchmarkDecodeQuestion(b *testing.B) {
	row, _ := build(b, "question", "").Emit(nil, emittest.Records()[0])
	s := shape(b, "question")
	defer meter.CPU(b, len(row))()
	for b.Loop() {
		if _, err := s.Decode(row); err != nil {
			b.Fatal(err)
		}
	}
}

// Foreign fields are kept as JSON whatever their text holds; a control character
// once came back in an escape that JSON does not know.
func TestForeignFieldsStayJSON(t *testing.T) {
	t.Parallel()
	row := `{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"}],` +
		`"meta":{"raw":"\u0000\u0007\u007f\u2028","n":1.50e3,"big":12345678901234567890,"list":[null,true,"\ud83d\udea2"]}}`
	var chat *emit.Shape
	for _, s := range emit.Shapes() {
		if s.Name == "chat" {
			chat = &s
		}
	}
	r, err := chat.Decode([]byte(row))
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Chat.Extra) != 1 || !json.Valid(r.Chat.Extra[0].Value) {
		t.Fatalf("%q", r.Chat.Extra)
	}
	got := string(r.Chat.Extra[0].Value)
	for _, want := range []string{`1.50e3`, `12345678901234567890`, `\u0000\u0007`, "\u2028", "🚢"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in %s", want, got)
		}
	}
}
