package benchmark_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/eval/benchmark"
	"github.com/drydock-ml/drydock/internal/fail"
)

func options(texts ...string) []drydock.Option {
	var out []drydock.Option
	for i, s := range texts {
		out = append(out, drydock.Option{Label: string(rune('A' + i)), Text: s})
	}
	return out
}

func item(id string, index int, stem, gold, answer string, opts ...string) benchmark.Item {
	it := benchmark.Item{ID: id, Index: index, Gold: []string{gold}, Question: drydock.Question{Kind: drydock.Single, Stem: stem, Options: options(opts...)}}
	if answer != "" {
		it.Question.Answer = []string{answer}
	}
	return it
}

func TestReadItems(t *testing.T) {
	t.Parallel()
	two := []benchmark.Item{item("0", 0, "甲", "B", "B", "a", "b", "c"), item("1", 1, "乙", "A", "A", "1", "2", "3", "4")}
	for name, c := range map[string]struct {
		data string
		want []benchmark.Item
	}{
		"array": {`[{"question":"甲","answer":"B","A":"a","B":"b","C":"c","D":null},
			{"question":"乙","answer":"A","A":1,"B":2,"C":3,"D":4}]`, two},
		"lines, byte order mark, blank line, no last line end": {"\ufeff" + `{"index":0,"question":"甲","answer":"B","A":"a","B":"b","C":"c","D":""}` + "\r\n\r\n" +
			`{"index":"1","question":"乙","answer":["A"],"A":"1","B":"2","C":"3","D":"4"}`, two},
		"csv":             {"index,question,answer,A,B,C,D\n0,甲,B,a,b,c,\n1,乙,A,1,2,3,4\n", two},
		"csv header case": {"Question,Answer,a,b,c,d\r\n甲,B,a,b,c\r\n乙,A,1,2,3,4\r\n", two},
		"tsv":             {"question\tanswer\tA\tB\tC\tD\n甲\tB\ta\tb\tc\t\n乙\tA\t1\t2\t3\t4\n", two},
		"choices": {`{"input":"甲","target":"B","choices":["a","b","c"]}
			{"input":"乙","target":"A","choices":[1,"2","3","4"]}`, two},
		"our question rows": {
			`{"id":"a","kind":"single","stem":"甲","options":[{"label":"A","text":"a"},{"label":"B","text":"b"},{"label":"C","text":"c"}],"answer":["B"]}
			{"id":"b","kind":"single","stem":"乙","options":[{"label":"A","text":"1"},{"label":"B","text":"2"}],"answer":["A"]}`,
			[]benchmark.Item{item("a", 0, "甲", "B", "B", "a", "b", "c"), item("b", 1, "乙", "A", "A", "1", "2")},
		},
		"gap moves the letters": {
			`[{"question":"q","answer":"C","A":"a","B":null,"C":"c","D":"d"}]`,
			[]benchmark.Item{item("0", 0, "q", "C", "B", "a", "c", "d")},
		},
		"key not offered": {
			`[{"question":"q","answer":"D","A":"a","B":"b","D":null}]`,
			[]benchmark.Item{item("0", 0, "q", "D", "", "a", "b")},
		},
		"index with gaps, id": {
			`[{"index":7,"id":"x9","question":"q","answer":"a","A":"a","B":"b"},{"index":3,"question":"r","answer":"B","A":"a","B":"b"}]`,
			[]benchmark.Item{item("x9", 7, "q", "a", "A", "a", "b"), item("3", 3, "r", "B", "B", "a", "b")},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := benchmark.ReadItems("f", []byte(c.data))
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(c.want, got, cmpopts.IgnoreFields(benchmark.Item{}, "Raw")); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

func TestReadItemsKeepsTheRow(t *testing.T) {
	t.Parallel()
	rows := []string{`{"question":"甲","answer":"B","A":"a", "B":"b"}`, `{"question":"乙","answer":"A","A":"1","B":"2","category":"避碰"}`}
	items, err := benchmark.ReadItems("f", []byte("[\n"+rows[0]+",\n  "+rows[1]+"]"))
	if err != nil {
		t.Fatal(err)
	}
	for i, it := range items {
		if string(it.Raw) != rows[i] {
			t.Errorf("row %d: %q", i, it.Raw)
		}
	}
	if d := cmp.Diff(map[string]string{"category": "避碰"}, items[1].Tags); d != "" {
		t.Error(d)
	}
}

func TestFlaws(t *testing.T) {
	t.Parallel()
	items, err := benchmark.ReadItems("f", []byte(`[{"question":"q","answer":"C","A":"a","B":"","C":"c"},
		{"question":"r","answer":"D","A":"a","B":"b"},{"question":"s","answer":" b ","A":"a","B":"b"}]`))
	if err != nil {
		t.Fatal(err)
	}
	want := []benchmark.Flaw{benchmark.FlawRelettered, benchmark.FlawNotOffered, benchmark.FlawNone}
	for i := range items {
		if got := items[i].Flaw(); got != want[i] {
			t.Errorf("item %d: flaw %q, want %q", i, got, want[i])
		}
	}
	// EvalScope compares with the key as it stands
	if g := maritime(t).Grade(items[2], benchmark.Reply{Text: "[B]"}); g.Verdict != benchmark.Correct {
		t.Errorf("key %q against [B]: %s", items[2].Gold, g.Verdict)
	}
}

func TestReadItemsErrors(t *testing.T) {
	t.Parallel()
	good := `{"question":"q","answer":"A","A":"a","B":"b"}`
	for name, c := range map[string]struct {
		data  string
		lines []int
		says  string
	}{
		"empty":           {" \n", []int{0}, "empty"},
		"torn line":       {good + "\n" + `{"question":"q","ans`, []int{2}, "ends in the middle of row 2"},
		"torn array":      {"[" + good + ",\n" + good + "\n", []int{2}, "ends in the middle"},
		"cut line":        {good + "\n" + good + "\n" + `{"question":"q",` + "\n" + good, []int{3}, "row 3 is not valid JSON"},
		"cut first line":  {`{"question":{"q":1}` + "\n\n" + good, []int{1}, "row 1 is not valid JSON"},
		"over two lines":  {good + "\n{\n" + ` "question": "q"; "answer": "A"}` + "\n" + good, []int{3}, "row 2 is not valid JSON"},
		"broken line":     {good + "\n" + `{"question":"q",,}` + "\n" + good, []int{2}, "not valid JSON"},
		"no question":     {good + "\n" + `{"answer":"A","A":"a","B":"b"}`, []int{2}, "no question"},
		"several at once": {`{"question":"q"}` + "\n" + good + "\n" + `{"question":"q","answer":"AB","A":"a","B":"b"}` + "\n" + `{"question":"q","answer":"A","A":"a"}`, []int{1, 3, 4}, "no answer"},
		"answer number":   {`{"question":"q","answer":1,"A":"a","B":"b"}`, []int{1}, `"1" is not one letter`},
		"two answers":     {`{"question":"q","answer":["A","B"],"A":"a","B":"b"}`, []int{1}, "2 answers"},
		"option true":     {`{"question":"q","answer":"A","A":"a","B":true}`, []int{1}, "option B is not text"},
		"five options":    {`{"question":"q","answer":"A","A":"a","B":"b","C":"c","D":"d","E":"e"}`, []int{1}, "A to D"},
		"index twice":     {`{"index":4,"question":"q","answer":"A","A":"a","B":"b"}` + "\n" + `{"index":4,"question":"q","answer":"A","A":"a","B":"b"}`, []int{2}, "index 4 stands in line 1"},
		"index missing":   {`{"index":4,"question":"q","answer":"A","A":"a","B":"b"}` + "\n" + good, []int{2}, "no index"},
		"index negative":  {`{"index":-1,"question":"q","answer":"A","A":"a","B":"b"}`, []int{1}, "whole number"},
		"not an object":   {`["x"]`, []int{1}, "not an object"},
		"not UTF-8":       {"question,answer\n\xb4\xac,A\n", []int{2}, "not UTF-8"},
		"no table":        {"hello\nworld\n", []int{1}, "neither JSON nor a table"},
		"csv quote":       {"question,answer,A,B\nq,A,\"a,b\n", []int{2}, "not valid CSV"},
		"csv too wide":    {"question,answer,A,B\nq,A,a,b,c\n", []int{2}, "5 cells"},
		"twice in header": {"question,answer,A,a\nq,A,a,b\n", []int{1}, "twice"},
		"after the array": {"[" + good + "]\n" + good, []int{2}, "follows"},
		"no rows":         {"[]", []int{0}, "no items"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			items, err := benchmark.ReadItems("f.jsonl", []byte(c.data))
			if err == nil {
				t.Fatalf("no error; %d items", len(items))
			}
			var lines []int
			for _, e := range fail.All(err) {
				lines = append(lines, e.Where.Line)
				if e.Where.File != "f.jsonl" {
					t.Errorf("names file %q", e.Where.File)
				}
			}
			if d := cmp.Diff(c.lines, lines); d != "" {
				t.Errorf("lines (-want +got):\n%s\n%v", d, err)
			}
			if !strings.Contains(err.Error(), c.says) {
				t.Errorf("error %q does not say %q", err, c.says)
			}
		})
	}
}

func TestManyBadRowsAreCounted(t *testing.T) {
	t.Parallel()
	_, err := benchmark.ReadItems("f", []byte(strings.Repeat(`{"question":"q"}`+"\n", 50)))
	var l fail.List
	if !errors.As(err, &l) || len(l) != 21 || !strings.Contains(l[20].Error(), "30 more") {
		t.Errorf("%v", err)
	}
}

func TestLookup(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{"", "nobench", "maritime_bench@1.0", "../x", "a b"} {
		if _, err := benchmark.Lookup(bad); err == nil || fail.Code(err) != 2 {
			t.Errorf("Lookup(%q): %v", bad, err)
		}
	}
}

func TestParsePackErrors(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ src, says string }{
		"unknown key":   {"schema: drydock.benchmark/1\nname: x\nlik: maritime_bench\n", `"lik"`},
		"other schema":  {"schema: drydock.benchmark/9\nname: x\n", "schema"},
		"unknown like":  {"schema: drydock.benchmark/1\nname: x\nlike: nothing\n", `"nothing"`},
		"changed words": {"schema: drydock.benchmark/1\nname: x\nkind: choice\nprompt: \"{question} {choices}\"\nprompt_sha256: \"00\"\n", "sha256"},
	} {
		if _, err := benchmark.ParsePack("p.yaml", []byte(c.src), benchmark.ShippedPack); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, p := range map[string]benchmark.Pack{
		"no rule":    {Name: "x", Prompt: "{question}{choices}", Rule: "r@1", OtherRule: "bracket_last@1"},
		"no choices": {Name: "x", Prompt: "{question}", Rule: "bracket_first@1", OtherRule: "bracket_last@1"},
		"bad name":   {Name: "a/b", Prompt: "{question}{choices}", Rule: "bracket_first@1", OtherRule: "bracket_last@1"},
	} {
		if _, err := benchmark.NewChoice(&p); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// TestChineseColumns: the columns of a Chinese question bank are known by name.
func TestChineseColumns(t *testing.T) {
	t.Parallel()
	items, err := benchmark.ReadItems("b.csv", []byte("\ufeff序号,题目,选项A,选项b,选项C,正确答案,科目,解析\r\n7,左舷灯是什么颜色？,红,绿,,A,避碰,规则\r\n"))
	if err != nil || len(items) != 1 {
		t.Fatal(items, err)
	}
	it := items[0]
	if it.ID != "7" || it.Index != 0 || it.Question.Stem != "左舷灯是什么颜色？" || len(it.Question.Options) != 2 || it.Key() != "A" || it.Tags["subject"] != "避碰" {
		t.Errorf("%+v", it)
	}
	if _, err := benchmark.ReadItems("b.csv", []byte("题目,题干,答案\nx,y,A\n")); err == nil {
		t.Error("two columns of questions are one")
	}
}

func TestFreeQuestions(t *testing.T) {
	t.Parallel()
	for data, want := range map[string]bool{
		"\ufeff{\"query\":\"首都？\",\"response\":\"北京\"}\n{": true, `{"system":"s","query":"q","response":["a","b"]}`: true,
		`{"query":"q","A":"x","B":"y","answer":"A"}`: false, `{"question":"q","answer":"A"}`: false, "": false, "query,response\n": false, `[{"query":"q"}]`: false,
	} {
		if got := benchmark.FreeQuestions([]byte(data)); got != want {
			t.Errorf("%q: %v", data, got)
		}
	}
}
