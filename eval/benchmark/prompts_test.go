package benchmark_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/eval/benchmark"
	"github.com/drydock-ml/drydock/internal/fail"
)

func TestReadPrompts(t *testing.T) {
	t.Parallel()
	prompt := func(i int, stem string, gold ...string) benchmark.Item {
		return benchmark.Item{ID: string(rune('0' + i)), Index: i, Gold: gold, Question: drydock.Question{Kind: drydock.Short, Stem: stem, Answer: gold}}
	}
	choice := func(i int, stem string, opts ...string) benchmark.Item {
		it := prompt(i, stem, "B")
		it.Question.Kind, it.Question.Options = drydock.Single, options(opts...)
		return it
	}
	for name, c := range map[string]struct {
		data string
		want []benchmark.Item
	}{
		"open answers": {
			`{"question":"锚链一节多长？","answers":["27.5 m","15 拓"]}` + "\n" + `{"question":"q","answer":"a"}` + "\n" + `{"question":"r"}`,
			[]benchmark.Item{prompt(0, "锚链一节多长？", "27.5 m", "15 拓"), prompt(1, "q", "a"), prompt(2, "r")},
		},
		"prompts":       {`[{"prompt":"Name the lights."},{"id":"1","prompt":"Now the shapes."}]`, []benchmark.Item{prompt(0, "Name the lights."), prompt(1, "Now the shapes.")}},
		"instruction":   {`{"instruction":"Translate","input":"starboard","output":"右舷"}`, []benchmark.Item{prompt(0, "Translate\nstarboard", "右舷")}},
		"lines":         {"Name the lights, please.\r\n\r\n  Now the shapes.", []benchmark.Item{prompt(0, "Name the lights, please."), prompt(1, "Now the shapes.")}},
		"a word a line": {"input\nanswer\n", []benchmark.Item{prompt(0, "input"), prompt(1, "answer")}},
		"table":         {"prompt,answer\n\"a, b\",c\n", []benchmark.Item{prompt(0, "a, b", "c")}},
		"one column":    {"question\nq1\nq2\n", []benchmark.Item{prompt(0, "q1"), prompt(1, "q2")}},
		"six options":   {`{"question":"q","answer":"B","choices":["1","2","3","4","5","6"]}`, []benchmark.Item{choice(0, "q", "1", "2", "3", "4", "5", "6")}},
		"by letter":     {`{"question":"q","answer":"B","options":{"B":"y","A":"x"}}`, []benchmark.Item{choice(0, "q", "x", "y")}},
		"letters":       {`{"question":"q","answer":"B","A":"x","B":"y"}`, []benchmark.Item{choice(0, "q", "x", "y")}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := benchmark.ReadPrompts("f", []byte(c.data))
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(c.want, got, cmpopts.IgnoreFields(benchmark.Item{}, "Raw"), cmpopts.EquateEmpty()); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

func TestReadPromptsErrors(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		data string
		line int
	}{
		"empty": {" \n", 0}, "no rows": {"[]", 0}, "not UTF-8": {"a\n\xff\n", 2},
		"no question": {`{"question":"q"}` + "\n" + `{"answer":"a"}`, 2},
		"torn":        {`{"question":"q"}` + "\n" + `{"quest`, 2},
		"index twice": {`{"index":1,"prompt":"a"}` + "\n" + `{"index":1,"prompt":"b"}`, 2},
	} {
		_, err := benchmark.ReadPrompts("f", []byte(c.data))
		if all := fail.All(err); len(all) != 1 || all[0].Where.Line != c.line || fail.Code(err) != 2 {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzReadPrompts(f *testing.F) {
	f.Add([]byte(`{"question":"q","options":{"A":"x"},"answers":["a"]}`))
	f.Add([]byte("prompt,answer\na,b\n"))
	f.Add([]byte("one\ntwo"))
	f.Fuzz(func(t *testing.T, data []byte) {
		items, err := benchmark.ReadPrompts("f", data)
		if err == nil && len(items) == 0 {
			t.Error("neither items nor an error")
		}
	})
}
