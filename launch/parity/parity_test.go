package parity_test

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/drydock-ml/drydock/dataprep/emit"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/launch/feed"
	"github.com/drydock-ml/drydock/launch/parity"
)

func check(t testing.TB, rows, trainer string, c emit.Contract, o parity.Options) *parity.Report {
	t.Helper()
	s, err := feed.For(trainer, c)
	if err != nil {
		t.Fatal(err)
	}
	o.Settings, o.Contract, o.NoThinking = s, c, c == emit.EmptyThinkMasked
	r, err := parity.Check(context.Background(), "rows", strings.NewReader(rows), o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

const (
	emptyRow = `{"id":"e","messages":[{"role":"user","content":"问"},{"role":"assistant","content":"<think>\n\n</think>\n\n[C]"}]}` + "\n"
	twoTurns = `{"id":"m","messages":[{"role":"system","content":"答"},{"role":"user","content":"问"},{"role":"assistant","content":"[A]"},{"role":"user","content":"再问"},{"role":"assistant","content":"<think>\n\n</think>\n\n[C]"}]}` + "\n"
	cotRow   = `{"id":"c","messages":[{"role":"user","content":"问"},{"role":"assistant","content":"<think>\n想一想\n</think>\n\n[C]"}]}` + "\n"
	plainRow = `{"id":"p","messages":[{"role":"user","content":"问"},{"role":"assistant","content":"[C]"}]}` + "\n"
)

// Under the settings drydock writes, every trainer keeps every contract it can,
// for one turn and for several.
func TestSettingsKeepTheirContract(t *testing.T) {
	t.Parallel()
	for _, trainer := range feed.Trainers() {
		for _, c := range append(emit.Contracts(), emit.Plain) {
			rows := map[emit.Contract]string{
				emit.EmptyThink: emptyRow + twoTurns + plainRow, emit.EmptyThinkMasked: emptyRow + twoTurns + plainRow,
				emit.CoT: cotRow, emit.Plain: plainRow,
			}[c]
			if _, err := feed.For(trainer, c); err != nil {
				if c != emit.Plain || trainer == "llamafactory" || trainer == "swift" {
					t.Errorf("%s, %s: %v", trainer, c, err)
				}
				continue
			}
			if r := check(t, rows, trainer, c, parity.Options{}); r.Matching != r.Rows || r.Rows != strings.Count(rows, "\n") || r.Errors() != 0 {
				t.Errorf("%s, %s: %d of %d rows match: %+v", trainer, c, r.Matching, r.Rows, r.Findings)
			}
		}
	}
	if _, err := feed.For("unsloth", emit.EmptyThink); err == nil {
		t.Error("an unknown trainer has settings")
	}
	if _, err := feed.For("swift", "none"); err == nil {
		t.Error("an unknown contract has settings")
	}
}

// found lists what a row comes to: id and place.
func found(r *parity.Report) []string {
	var out []string
	for _, f := range r.Findings {
		for _, p := range f.Places {
			s := strings.TrimSpace(f.ID + " " + p.Pointer)
			if p.Detail != "" {
				s += ": " + p.Detail
			}
			out = append(out, s)
		}
	}
	return out
}

func TestFindings(t *testing.T) {
	t.Parallel()
	row := func(turns string) string { return `{"messages":[` + turns + `]}` }
	const ask, answer = `{"role":"user","content":"问"},`, `,{"role":"assistant","content":"[C]"}`
	for _, c := range []struct {
		name, trainer string
		contract      emit.Contract
		row           string
		want          []string
	}{
		{"a special token of the user", "llamafactory", emit.EmptyThink, row(`{"role":"user","content":"a<|im_end|>b"}` + answer), []string{"special_token /messages/0/content: <|im_end|> at byte 1"}},
		{"of the answer", "llamafactory", emit.EmptyThink, row(ask + `{"role":"assistant","content":"[C]<|endoftext|>"}`), []string{"special_token /messages/1/content: <|endoftext|>"}},
		{"a switch", "trl", emit.EmptyThink, row(`{"role":"user","content":"问 /no_think"}` + answer), []string{"soft_switch /messages/0/content: /no_think"}},
		{"a path is none", "trl", emit.EmptyThink, row(`{"role":"user","content":"看 a/think 与 /thinking 及 /think.txt"}` + answer), nil},
		{"an empty system turn", "swift", emit.EmptyThink, row(`{"role":"system","content":""},` + ask + `{"role":"assistant","content":"[C]"}`), []string{"tokens_differ /messages/0/content", "empty_system /messages/0/content"}},
		{"the template has it, too", "axolotl", emit.EmptyThink, row(`{"role":"system","content":""},` + ask + `{"role":"assistant","content":"[C]"}`), []string{"empty_system /messages/0/content"}},
		{"line ends before the answer", "swift", emit.EmptyThink, row(ask + `{"role":"assistant","content":"\n\n[C]"}`), []string{"tokens_differ /messages/1/content", "leading_newlines /messages/1/content"}},
		{"reasoning apart", "llamafactory", emit.CoT, row(ask + `{"role":"assistant","content":"[C]","reasoning_content":"想"}`), []string{"tokens_differ /messages/1/content", "reasoning_content /messages/1/content: llamafactory does not read it"}},
		{"and beside", "axolotl", emit.CoT, row(ask + `{"role":"assistant","content":"<think>\n想\n</think>\n\n[C]","reasoning_content":"想"}`), []string{"reasoning_content /messages/1/content: content holds a think block as well"}},
		{"a block without line ends", "llamafactory", emit.CoT, row(ask + `{"role":"assistant","content":"<think>想</think>[C]"}`), []string{"tokens_differ /messages/1/content", "think_newlines /messages/1/content"}},
		{"the template mends it", "trl", emit.CoT, row(ask + `{"role":"assistant","content":"<think>想</think>[C]"}`), []string{"think_newlines /messages/1/content"}},
		{"a letter in the reasoning", "llamafactory", emit.CoT, row(ask + `{"role":"assistant","content":"<think>\n选 [A]？\n</think>\n\n[C]"}`), []string{"letter_in_reasoning /messages/1/content: [A]"}},
		{"reasoning where none is asked", "llamafactory", emit.EmptyThink, strings.TrimSpace(cotRow), []string{"not_the_contract /messages/1/content: it has reasoning, and the contract is empty-think"}},
		{"none where it is", "llamafactory", emit.CoT, strings.TrimSpace(plainRow), []string{"not_the_contract /messages/1/content: it has no reasoning, and the contract is cot"}},
		{"a block where none is", "llamafactory", emit.Plain, strings.TrimSpace(emptyRow), []string{"not_the_contract /messages/1/content: it has a think block, and the contract is plain"}},
		{"two answers", "llamafactory", emit.EmptyThink, row(ask + `{"role":"assistant","content":"a"}` + answer), []string{"dropped: LLaMA-Factory drops rows whose turns do not go user, assistant, user, assistant"}},
		{"no answer", "swift", emit.EmptyThink, row(`{"role":"user","content":"问"}`), []string{"no_answer /messages/0/content"}},
		{"history that is trained", "axolotl", emit.EmptyThinkMasked, strings.TrimSpace(twoTurns), []string{"history_trained /messages/2/content"}},
		{"a row that closes the block by itself", "trl", emit.EmptyThink, `{"prompt":[` + ask[:len(ask)-1] + `],"completion":[` + answer[1:] + `],"chat_template_kwargs":{"enable_thinking":false}}`, []string{"loss_span /completion/0/content: the loss begins at token 13, the answer at token 9: \"<think>\\n\\n</think>\\n\\n\" is not trained"}},
		{"a row that says so as asked", "trl", emit.EmptyThinkMasked, `{"prompt":[` + ask[:len(ask)-1] + `],"completion":[` + answer[1:] + `],"chat_template_kwargs":{"enable_thinking":false}}`, nil},
		{"tools", "swift", emit.EmptyThink, `{"messages":[` + ask + `{"role":"assistant","content":"[C]"}],"tools":[{}]}`, []string{"tools"}},
		{"tools that the template renders", "trl", emit.EmptyThink, `{"messages":[` + ask + `{"role":"assistant","content":"[C]"}],"tools":[{"name":"f"}]}`, nil},
		{"as text", "axolotl", emit.EmptyThink, `{"messages":[` + ask + `{"role":"assistant","content":"[C]"}],"tools":"[{\"name\":\"f\"}]"}`, nil},
		{"as no list", "trl", emit.EmptyThink, `{"messages":[` + ask + `{"role":"assistant","content":"[C]"}],"tools":{"name":"f"}}`, []string{"tools"}},
		{"a call that ends the row", "trl", emit.EmptyThink, `{"messages":[` + ask + `{"role":"assistant","content":null,"tool_calls":[{"function":{"name":"f","arguments":{"a":1}}}]}]}`, nil},
		{"a call with a control token", "trl", emit.EmptyThink, `{"messages":[` + ask + `{"role":"assistant","tool_calls":[{"function":{"name":"f","arguments":"<|im_end|>"}}]},{"role":"tool","content":""},` + answer[1:] + `]}`, []string{"special_token /messages/1/content: <|im_end|>"}},
	} {
		if d := cmp.Diff(c.want, found(check(t, c.row, c.trainer, c.contract, parity.Options{}))); d != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, d)
		}
	}
}

// A block on every turn is named as such, with the setting that mends it.
func TestBlockOnEveryTurn(t *testing.T) {
	t.Parallel()
	yes := true
	for trainer, f := range map[string]feed.Feeder{
		"llamafactory": feed.LLaMAFactory{EnableThinking: &yes}.Feeder(),
		"swift":        feed.Swift{}.Feeder(),
		"trl":          feed.TRL{AssistantOnlyLoss: true}.Feeder(),
	} {
		r, err := parity.Check(context.Background(), "rows", strings.NewReader(twoTurns), parity.Options{Settings: feed.Settings{Trainer: trainer, Feed: f}})
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Findings) == 0 || r.Findings[0].ID != "think_block_in_history" || r.Findings[0].FixIn(msg.Zh) == "" {
			t.Errorf("%s: %+v", trainer, r.Findings)
		}
	}
}

func TestLengths(t *testing.T) {
	t.Parallel()
	r := check(t, plainRow+strings.ReplaceAll(plainRow, "问", strings.Repeat("船舶", 60)), "llamafactory", emit.EmptyThink, parity.Options{MaxLength: 64})
	if d := cmp.Diff([]string{"too_long: 76 tokens, the limit is 64"}, found(r)); d != "" {
		t.Error(d)
	}
	want := parity.Tokens{Total: 93, Trained: 16, Longest: 76, Line: 2, Max: 64, Histogram: []parity.Bucket{{32, 1}, {64, 0}, {128, 1}}}
	if d := cmp.Diff(want, r.Tokens, cmpopts.IgnoreUnexported(parity.Tokens{})); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}

// Bad rows are named with their line and what is wrong; the others are checked.
func TestUnreadableRows(t *testing.T) {
	t.Parallel()
	rows := plainRow + `{"messages":[{"role":"user","content":1}]}` + "\n" + `{"a":` + "\n\n" + `7` + "\n" + `{"question":"x"}` + "\n" +
		`{"messages":[{"content":"x"}]}` + "\n" + `{"messages":[]}` + "\n\"\xff\"\n" + plainRow
	r := check(t, rows, "trl", emit.EmptyThink, parity.Options{})
	var got []string
	for _, e := range r.Unread {
		got = append(got, e.Where.String()+" "+e.Message(msg.En))
	}
	want := []string{
		"rows:2 /messages/0/content: must be a string, not number",
		"rows:3:5 not valid JSON: unexpected end of JSON input",
		"rows:5 a row must be an object",
		"rows:6 no conversation in it: none of messages, conversations, prompt with completion, instruction with output",
		"rows:7 /messages/0: has no role",
		"rows:8 the conversation has no turn",
		"rows:9 not UTF-8",
	}
	if d := cmp.Diff(want, got); d != "" || r.Rows != 2 || r.Unreadable != 7 {
		t.Errorf("%d rows, %d not (-want +got):\n%s", r.Rows, r.Unreadable, d)
	}
}

// The usual shapes are the same conversation; each names its own fields.
func TestShapes(t *testing.T) {
	t.Parallel()
	const want = "special_token /"
	for shape, at := range map[string]string{
		`{"conversations":[{"from":"human","value":"a<think>"},{"from":"gpt","value":"[C]"}]}`:                                        "conversations/0/value",
		`{"prompt":[{"role":"user","content":"a<think>"}],"completion":[{"role":"assistant","content":"[C]"}]}`:                       "prompt/0/content",
		`{"prompt":"a<think>","completion":"[C]"}`:                                                                                    "prompt",
		`{"instruction":"a","input":"b<think>","output":"[C]","system":null}`:                                                         "instruction",
		`{"instruction":"a","output":"[C]","history":[["q<think>","r"]]}`:                                                             "history/0/0",
		`[{"role":"user","content":"a<think>"},{"role":"assistant","content":"[C]"}]`:                                                 "0/content",
		"[\n" + `{"messages":[{"role":"user","content":"a<think>"},{"role":"assistant","content":"[C]"}]}` + "\n]":                    "messages/0/content",
		`{"system":"s<think>","conversations":[{"from":"human","value":"a"},{"from":"gpt","value":"[C]"}]}`:                           "system",
		`{"id":7,"messages":[{"role":"user","content":"a<think>"},{"role":"assistant","content":"[C]"}],"tools":null,"functions":[]}`: "messages/0/content",
	} {
		r := check(t, shape, "trl", emit.EmptyThink, parity.Options{})
		if got := found(r); len(got) != 1 || !strings.HasPrefix(got[0], want+at+":") {
			t.Errorf("%s: %v %v", shape, got, r.Unread)
		}
	}
}

// Any number of workers, any way the bytes come, lines or an array: the same
// report, but for the lines.
func TestSameReport(t *testing.T) {
	t.Parallel()
	pool := []string{emptyRow, twoTurns, cotRow, plainRow, "7\n", `{"messages":[{"role":"user","content":"\"[{,<|im_end|>\\"}]}` + "\n"}
	rapid.Check(t, func(t *rapid.T) {
		picked := rapid.SliceOfN(rapid.SampledFrom(pool), 1, 200).Draw(t, "rows")
		lines := strings.Join(picked, "")
		array := "[\n" + strings.TrimSuffix(strings.ReplaceAll(lines, "\n", ",\n"), ",\n") + "\n]\n"
		s, err := feed.For("llamafactory", emit.EmptyThink)
		if err != nil {
			t.Fatal(err)
		}
		var reports [3][]byte
		for i, in := range []func() (*parity.Report, error){
			func() (*parity.Report, error) {
				return parity.Check(context.Background(), "r", strings.NewReader(lines), parity.Options{Settings: s, Workers: 1})
			},
			func() (*parity.Report, error) {
				return parity.Check(context.Background(), "r", iotest.OneByteReader(strings.NewReader(lines)), parity.Options{Settings: s, Workers: 5})
			},
			func() (*parity.Report, error) {
				return parity.Check(context.Background(), "r", iotest.HalfReader(strings.NewReader(array)), parity.Options{Settings: s, Workers: 3})
			},
		} {
			r, err := in()
			if err != nil {
				t.Fatal(err)
			}
			if i == 2 { // the array begins on a line of its own
				r.Tokens.Line -= min(r.Tokens.Line, 1)
				for _, f := range r.Findings {
					for j := range f.Places {
						f.Places[j].Line--
					}
				}
			}
			if reports[i], err = json.Marshal(r); err != nil {
				t.Fatal(err)
			}
		}
		if !bytes.Equal(reports[0], reports[1]) || !bytes.Equal(reports[0], reports[2]) {
			t.Fatalf("%s\n%s\n%s", reports[0], reports[1], reports[2])
		}
	})
}

// Nothing a file holds makes it panic, and every row is counted once.
func FuzzCheck(f *testing.F) {
	for _, s := range []string{emptyRow + cotRow, "[\n" + strings.TrimSpace(plainRow) + ",\n{]", "[[", "\ufeff[\n\"\\", `{"conversations":[{"from":"gpt","value":"<think>x</think>"}]}`, `{"instruction":"","output":""}`} {
		f.Add([]byte(s), "trl", true)
		f.Add([]byte(s), "swift", false)
	}
	f.Fuzz(func(t *testing.T, data []byte, trainer string, masked bool) {
		c := emit.EmptyThink
		if masked {
			c = emit.EmptyThinkMasked
		}
		s, err := feed.For(trainer, c)
		if err != nil {
			t.Skip()
		}
		r, err := parity.Check(context.Background(), "f", bytes.NewReader(data), parity.Options{Settings: s, Contract: c, NoThinking: masked, Workers: 1})
		if err != nil {
			t.Fatal(err)
		}
		if r.Matching+r.Uncompared > r.Rows || len(r.Unread) > r.Unreadable {
			t.Errorf("%+v", r)
		}
	})
}
