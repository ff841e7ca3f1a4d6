package benchmark_test

import (
	"errors"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/eval/benchmark"
	"github.com/drydock-ml/drydock/eval/benchmark/benchtest"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
)

const letterPack = `schema: drydock.benchmark/1
name: harbour
kind: choice
title: Harbour exam
rule: bracket_first@2
other_rule: bracket_last@2
max_options: 8
option_format: "({letter}) {text}"
prompt: "{subject}：{question}\n{choices}\n可选 {letters}，答案写在[]里。"
examples: 1
example_format: "{question}\n{choices}\n[{answer}]"
examples_prompt: "示例\n{examples}\n---\n"
file: items.csv
examples_file: dev.jsonl
`

func harbour() fstest.MapFS {
	return fstest.MapFS{
		"b/harbour.yaml": {Data: []byte(letterPack)},
		"b/items.csv":    {Data: []byte("question,A,B,C,D,E,F,G,H,answer,subject\n锚球的颜色,红,绿,白,蓝,灰,紫,黄,黑,H,信号\n缆桩,系缆,测深,,,,,,,A,\n")},
		"b/dev.jsonl":    {Data: []byte(`{"question":"左舷灯","answer":"A","A":"红","B":"绿"}` + "\n" + `{"question":"旗号","answer":"B","A":"甲","B":"乙","subject":"信号"}` + "\n")},
	}
}

// A pack says everything: how options look, which letters there are, how the
// answer is read, what stands before the question.
func TestOpenPack(t *testing.T) {
	t.Parallel()
	s, err := benchmark.OpenPack(harbour(), "b/harbour.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var prompts []string
	for _, it := range s.Items {
		prompts = append(prompts, s.Benchmark.Prompt(it)[0].Content)
	}
	want := []string{
		"示例\n旗号\n(A) 甲\n(B) 乙\n[B]\n---\n信号：锚球的颜色\n(A) 红\n(B) 绿\n(C) 白\n(D) 蓝\n(E) 灰\n(F) 紫\n(G) 黄\n(H) 黑\n可选 A,B,C,D,E,F,G,H，答案写在[]里。",
		"示例\n左舷灯\n(A) 红\n(B) 绿\n[A]\n---\n：缆桩\n(A) 系缆\n(B) 测深\n可选 A,B，答案写在[]里。",
	}
	if d := cmp.Diff(want, prompts); d != "" {
		t.Errorf("prompts (-want +got):\n%s", d)
	}
	for reply, right := range map[string]bool{"[H]": true, "[A] 不，[H]": false, "[K]": false, "H": false} {
		if g := s.Benchmark.Grade(s.Items[0], benchmark.Reply{Text: reply}); (g.Verdict == benchmark.Correct) != right {
			t.Errorf("%s: %+v", reply, g)
		}
	}
	if d := cmp.Diff([]string{"b/items.csv", "b/dev.jsonl"}, s.Files); d != "" {
		t.Error(d)
	}
	// another example is another benchmark
	other := harbour()
	other["b/dev.jsonl"] = &fstest.MapFile{Data: []byte(`{"question":"左舷灯","answer":"A","A":"红","B":"白"}` + "\n")}
	o, err := benchmark.OpenPack(other, "b/harbour.yaml")
	if err != nil || o.Benchmark.Fingerprint() == s.Benchmark.Fingerprint() {
		t.Errorf("fingerprint %s, %v", o.Benchmark.Fingerprint(), err)
	}
}

func TestOpenPackErrors(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		from, to, says string
	}{
		"no items":         {"file: items.csv\n", "", "names no items"},
		"items not there":  {"file: items.csv", "file: gone.csv", "gone.csv"},
		"no examples file": {"examples_file: dev.jsonl\n", "", "examples_file"},
		"too few examples": {"examples: 1", "examples: 2", "2 examples wanted, 1 there"},
		"no format":        {"example_format:", "title_x:", `"title_x"`},
		"no letter":        {"({letter}) {text}", "{text}", "{letter}"},
		"letter twice":     {"({letter}) {text}", "{letter}{letter}{text}", "exactly once"},
		"too many options": {"max_options: 8", "max_options: 6", "8 options; this kind of benchmark has A to F"},
		"no such options":  {"max_options: 8", "max_options: 99", "max_options is 99"},
		"a rule for one":   {"max_options: 8", "max_options: 8\nanswers: several", "reads one letter"},
		"outside":          {"file: items.csv", "file: ../../items.csv", "items.csv"},
	} {
		fsys := harbour()
		src := strings.Replace(letterPack, c.from, c.to, 1)
		if src == letterPack {
			t.Fatalf("%s: nothing changed", name)
		}
		fsys["b/harbour.yaml"] = &fstest.MapFile{Data: []byte(src)}
		if _, err := benchmark.OpenPack(fsys, "b/harbour.yaml"); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := benchmark.OpenPack(harbour(), "gone.yaml"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v", err)
	}
}

const qaItems = `{"system": "你是船长。", "query": "左舷灯是什么颜色？", "response": "红色"}
{"messages": [{"role": "system", "content": "s"}, {"role": "user", "content": "右舷灯是什么颜色？"}], "response": ["绿色", "绿"]}
{"id": "x", "question": "COLREG 第几条讲瞭望？", "answer": 5}
`

// Free questions are asked as their rows say, and right when the reply holds an
// answer.
func TestQA(t *testing.T) {
	t.Parallel()
	s, err := benchmark.OpenFolder(fstest.MapFS{"example.jsonl": {Data: []byte(qaItems)}}, "exam", "", "")
	if err != nil {
		t.Fatal(err)
	}
	want := [][]drydock.Message{
		{{Role: "system", Content: "你是船长。"}, {Role: "user", Content: "左舷灯是什么颜色？"}},
		{{Role: "system", Content: "s"}, {Role: "user", Content: "右舷灯是什么颜色？"}},
		{{Role: "user", Content: "COLREG 第几条讲瞭望？"}},
	}
	for i, it := range s.Items {
		if d := cmp.Diff(want[i], s.Benchmark.Prompt(it)); d != "" {
			t.Errorf("item %d (-want +got):\n%s", i, d)
		}
	}
	for _, c := range []struct {
		item            int
		reply           string
		right, rightToo bool
	}{
		{0, "是红色。", true, false},
		{0, " 红 色！", true, true},
		{0, "绿色", false, false},
		{0, "", false, false},
		{0, "。", false, false},
		{1, "绿", true, true},
		{1, "绿色", true, true},
		{2, "第５条", true, false},
		{2, "5", true, true},
	} {
		g := s.Benchmark.Grade(s.Items[c.item], benchmark.Reply{Text: c.reply})
		if (g.Verdict == benchmark.Correct) != c.right || (g.OtherVerdict == benchmark.Correct) != c.rightToo {
			t.Errorf("%q to item %d: %+v", c.reply, c.item, g)
		}
	}
	qa := s.Benchmark.(*benchmark.QA)
	for _, list := range []string{"answer", "response", "answers", "accepted_answers"} {
		items, err := qa.ReadItems("f", []byte(`{"question":"锚链一节多长？","`+list+`":["27.5 m","15 拓"]}`))
		if err != nil || !slices.Equal(items[0].Gold, []string{"27.5 m", "15 拓"}) {
			t.Errorf("%s: %v %v", list, items, err)
		}
	}
	for _, bad := range []string{`{"query":"q"}`, `{"response":"r"}`, `{"query":1,"response":"r"}`, "[", "", "\xff"} {
		if _, err := qa.ReadItems("f", []byte(bad)); err == nil {
			t.Errorf("%q: no error", bad)
		}
	}
}

func FuzzReadQA(f *testing.F) {
	f.Add([]byte(qaItems), "红")
	f.Add([]byte(`{"messages":[{}],"response":[null]}`), "")
	b, err := benchmark.Lookup("general_qa")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, data []byte, reply string) {
		items, err := b.(*benchmark.QA).ReadItems("f", data)
		if (err == nil) != (len(items) > 0) {
			t.Fatalf("%d items, %v", len(items), err)
		}
		for _, it := range items {
			if len(b.Prompt(it)) == 0 {
				t.Fatalf("%s asks nothing", it.Raw)
			}
			benchtest.CheckGrade(t, b, it, reply)
		}
	})
}

const rowAB = "id,question,A,B,C,D,answer,explanation\n0,甲,1,2,3,4,B,因为\n1,乙,1,2,3,4,C,\n"

func TestOpenFolder(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fsys     fstest.MapFS
		ids      []string
		subjects []string
		ref      string
		only     string
	}{
		"general_mcq": {
			fstest.MapFS{"example_val.csv": {Data: []byte(rowAB)}, "example_dev.csv": {Data: []byte(rowAB)}},
			[]string{"0", "1"},
			[]string{"", ""},
			"exam@evalscope-1.4.2", "",
		},
		"C-Eval": {
			fstest.MapFS{
				"val/law_val.csv": {Data: []byte(rowAB)}, "dev/law_dev.csv": {Data: []byte(rowAB)}, "test/law_test.csv": {Data: []byte("id,question\n")},
				"val/sea_val.csv": {Data: []byte(rowAB)}, "dev/sea_dev.csv": {Data: []byte(rowAB)},
			},
			[]string{"law/0", "law/1", "sea/0", "sea/1"},
			[]string{"law", "law", "sea", "sea"},
			"exam@evalscope-1.4.2", "",
		},
		"CMMLU": {
			fstest.MapFS{"test/sea.csv": {Data: []byte(",Question,A,B,C,D,Answer\n0,甲,1,2,3,4,B\n")}, "dev/sea.csv": {Data: []byte(",Question,A,B,C,D,Answer\n")}},
			[]string{"0"},
			[]string{""},
			"exam@evalscope-1.4.2", "",
		},
		"one subject": {
			fstest.MapFS{"law_val.csv": {Data: []byte(rowAB)}, "sea_val.csv": {Data: []byte("question,A,B,answer\n甲,1,2,A\n")}},
			[]string{"0"},
			[]string{""},
			"exam@evalscope-1.4.2", "sea",
		},
		"several right options": {
			fstest.MapFS{"x_val.jsonl": {Data: []byte(`{"question":"q","answer":["A","C"],"A":"a","B":"b","C":"c"}` + "\n")}},
			[]string{"0"},
			[]string{""},
			"exam@evalscope-1.4.2", "",
		},
		"general_qa": {
			fstest.MapFS{"example.jsonl": {Data: []byte(qaItems)}},
			[]string{"0", "1", "x"},
			[]string{"", "", ""},
			"exam@evalscope-1.4.2", "",
		},
		"a pack of its own": {
			fstest.MapFS{
				"benchmark.yaml": {Data: []byte("schema: drydock.benchmark/1\nname: own\nlike: maritime_bench\nfile: q.csv\n")},
				"q.csv":          {Data: []byte(rowAB)},
			},
			[]string{"0", "1"},
			[]string{"", ""},
			"own@evalscope-1.4.2", "",
		},
		"EvalScope's offline folder": {fstest.MapFS{"test.jsonl": {Data: []byte(ownItems)}}, []string{"0", "1"}, []string{"", ""}, "exam@evalscope-1.4.2", ""},
	} {
		s, err := benchmark.OpenFolder(c.fsys, "exam", "", c.only)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var ids, subjects []string
		for i, it := range s.Items {
			ids, subjects = append(ids, it.ID), append(subjects, it.Tags["subject"])
			if it.Index != i {
				t.Errorf("%s: item %d has index %d", name, i, it.Index)
			}
		}
		if d := cmp.Diff(c.ids, ids); d != "" {
			t.Errorf("%s: ids %s", name, d)
		}
		if d := cmp.Diff(c.subjects, subjects); d != "" {
			t.Errorf("%s: subjects %s", name, d)
		}
		if got := s.Benchmark.Ref().String(); got != c.ref {
			t.Errorf("%s: %s", name, got)
		}
	}
	mixed := fstest.MapFS{"one_val.csv": {Data: []byte(rowAB)}, "many_val.jsonl": {Data: []byte(`{"question":"q","answer":["A","B"],"A":"a","B":"b"}`)}}
	if _, err := benchmark.OpenFolder(mixed, "exam", "", ""); err == nil || len(fail.All(err)[0].Hints(msg.En)) == 0 {
		t.Errorf("subjects of two kinds: %v", err)
	}
	if _, err := benchmark.OpenFolder(fstest.MapFS{"readme.md": {}}, "exam", "", ""); fail.Code(err) != 2 {
		t.Errorf("an empty folder: %v", err)
	}
	if _, err := benchmark.OpenFolder(fstest.MapFS{"x_val.csv": {Data: []byte(rowAB)}}, "exam", "nosuch", ""); err == nil {
		t.Error("no error for a base that is none")
	}
}

// Where several options are right, the letters count as a set.
func TestSeveralAnswers(t *testing.T) {
	t.Parallel()
	p := &benchmark.Pack{
		Schema: benchmark.Schema, Name: "many", Kind: "choice", Rule: "answer_zh_first@1", OtherRule: "answer_en_last@1",
		Prompt: "{question}{choices}", Answers: "several",
	}
	b, err := benchmark.NewChoice(p)
	if err != nil {
		t.Fatal(err)
	}
	items, err := b.ReadItems("f", []byte(`{"question":"q","answer":["C","A"],"A":"a","B":"b","C":"c"}
		{"question":"q","answer":"AB","A":"a","B":"b","C":"c"}
		{"question":"q","answer":"A、C","A":"a","B":"b","C":"c"}
		{"question":"q","answer":"B","A":"a","B":"b","C":"c"}
		{"question":"q","answer":"AD","A":"a","B":"b","C":"c"}`))
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"答案：AC", "答案：B，A", "答案：C,A", "答案：B", ""} {
		for _, reply := range []string{"答案：AC", "答案：B，A", "答案：C,A", "答案：B", "答案：ABC", "答案：AD"} {
			g := b.Grade(items[i], benchmark.Reply{Text: reply})
			right := reply == want || (i == 0 && reply == "答案：C,A") || (i == 2 && reply == "答案：AC")
			if (g.Verdict == benchmark.Correct) != right {
				t.Errorf("item %d, %s: %+v", i, reply, g)
			}
		}
	}
	if items[4].Flaw() != benchmark.FlawNotOffered || items[0].Flaw() != benchmark.FlawNone {
		t.Errorf("flaws %q, %q", items[4].Flaw(), items[0].Flaw())
	}
	if _, err := b.ReadItems("f", []byte(`{"question":"q","answer":"A?","A":"a","B":"b"}`)); err == nil {
		t.Error("no error for a key that is no letters")
	}
}

func TestAnswerRules(t *testing.T) {
	t.Parallel()
	for rule, cases := range map[string]map[string]string{
		"answer_en_first@1": {
			"ANSWER: A": "A", "answer: B.": "B", "I think ANSWER: C, no\nANSWER: D": "D", "ANSWER: C, no": "", "The Answer : A": "A",
			"nothing": "", "option B or C": "C", "ANSWER: a": "", "ANSWER:\nB": "B",
		},
		"answer_en_last@1": {
			"ANSWER: A": "A", "ANSWER: [LETTER]\nANSWER: (B)": "B", "ANSWER: A ... ANSWER: **C**": "C", "ANSWER: Z": "",
		},
		"answer_zh_last@1": {"答案：A\n答案：【B】": "B", "答案：**C**": "C", "答案：以上": "", "答案: D级": "D", "选A": "A", "选Ａ": ""},
		"bracket_first@2":  {"[E]": "E", "[J]": "J", "[K]": "", "【E】": ""},
		"bracket_last@2":   {"[E][A]": "A"},
	} {
		r, ok := benchmark.LookupRule(rule)
		if !ok {
			t.Fatal(rule)
		}
		for text, want := range cases {
			got, start, end := r.Extract(text)
			if rule == "answer_en_last@1" && text == "ANSWER: Z" {
				want = "Z" // of 26 options
			}
			if got != want || !strings.Contains(text[start:end], got) {
				t.Errorf("%s %q: %q at %d–%d, want %q", rule, text, got, start, end, want)
			}
		}
	}
}

func FuzzRules(f *testing.F) {
	for _, s := range []string{"答案：A", "ANSWER: [B]\r\n", "答案 : **【A，C】**。", "[A][J]", "ANSWER:", "\xff答案：\xff"} {
		f.Add(s, 4)
	}
	f.Fuzz(func(t *testing.T, text string, options int) {
		options = 2 + (options&0xff)%25
		for _, r := range benchmark.Rules() {
			p := &benchmark.Pack{Schema: benchmark.Schema, Name: "x", Kind: "choice", Rule: r.String(), OtherRule: r.String(), Prompt: "{question}{choices}", MaxOptions: options}
			if r.Several {
				p.Answers = "several"
			}
			b, err := benchmark.NewChoice(p)
			if err != nil {
				t.Fatal(err)
			}
			it := itemOf("A", strings.Split(strings.Repeat("x ", options-1)+"x", " ")...)
			g := b.Grade(it, benchmark.Reply{Text: text})
			if g.Start < 0 || g.End < g.Start || g.End > len(text) || (g.Extracted == "") != (g.End == 0) {
				t.Fatalf("%s %q: %+v", r, text, g)
			}
			for i := 1; i < len(g.Extracted); i++ {
				if g.Extracted[i-1] >= g.Extracted[i] {
					t.Fatalf("%s %q: letters %q", r, text, g.Extracted)
				}
			}
		}
	})
}

// Items of several files are numbered as one sequence; numbers and ids of their own
// stay where no two files use the same.
func TestJoin(t *testing.T) {
	t.Parallel()
	item := func(index int, id string) benchmark.Item { return benchmark.Item{Index: index, ID: id} }
	for name, c := range map[string]struct {
		parts [][]benchmark.Item
		want  []benchmark.Item
	}{
		"none":       {nil, nil},
		"shards":     {[][]benchmark.Item{{item(0, "0"), item(1, "x")}, {item(0, "0")}}, []benchmark.Item{item(0, "0"), item(1, "x"), item(2, "2")}},
		"own number": {[][]benchmark.Item{{item(7, "7")}, {item(3, "3")}}, []benchmark.Item{item(7, "7"), item(3, "3")}},
	} {
		if d := cmp.Diff(c.want, benchmark.Join(c.parts)); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
	}
}
