package eval_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/eval"
	"github.com/drydock-ml/drydock/eval/benchmark"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
)

func TestReadTraining(t *testing.T) {
	t.Parallel()
	q := drydock.Question{Stem: "自编：舷灯是", Options: []drydock.Option{{Text: "白"}, {Text: "红"}, {Text: "黑"}}}
	prompt, err := choice(t).PromptText(&q)
	if err != nil {
		t.Fatal(err)
	}
	red := eval.Example{Stem: "自编：舷灯是", Options: []string{"白", "红", "黑"}, Letter: "B", Answer: "红"}
	text := func(s string) string { return string(marshal(t, s)) }
	for name, c := range map[string]struct {
		row  string
		want eval.Example
	}{
		"question row":        {`{"id":"1","kind":"single","stem":"自编：舷灯是","options":[{"label":"A","text":"白"},{"label":"B","text":"红"},{"label":"C","text":"黑"}],"answer":["B"]}`, red},
		"chat, own template":  {`{"messages":[{"role":"system","content":"x"},{"role":"user","content":` + text(prompt) + `},{"role":"assistant","content":"<think>\n\n</think>\n\n[B]"}]}`, red},
		"chat, other words":   {`{"messages":[{"role":"user","content":"自编：舷灯是\nA. 白\nB、红\nC）黑"},{"role":"assistant","content":"答案：B"}]}`, red},
		"content parts":       {`{"messages":[{"role":"user","content":[{"type":"text","text":"自编：舷灯是\nA. 白\nB. 红\nC. 黑"}]},{"role":"assistant","content":"B. 红"}]}`, red},
		"sharegpt":            {`{"conversations":[{"from":"human","value":"自编：舷灯是\nA. 白\nB. 红\nC. 黑"},{"from":"gpt","value":"B"}]}`, red},
		"alpaca":              {`{"instruction":"自编：舷灯是","input":"A. 白\nB. 红\nC. 黑","output":"[B]"}`, red},
		"columns":             {`{"index":3,"question":"自编：舷灯是","answer":"B","A":"白","B":"红","C":"黑","D":null}`, red},
		"options by letter":   {`{"question":"自编：舷灯是","options":{"A":"白","B":"红","C":"黑"},"answer":"B"}`, red},
		"options as a list":   {`{"question":"自编：舷灯是","options":["白","红","黑"],"answer":"B"}`, red},
		"open question":       {`{"prompt":"舷灯是何颜色","completion":"左红右绿"}`, eval.Example{Stem: "舷灯是何颜色", Answer: "左红右绿"}},
		"prompt as messages":  {`{"prompt":[{"role":"user","content":"舷灯是何颜色"}],"completion":[{"role":"assistant","content":"左红右绿"}]}`, eval.Example{Stem: "舷灯是何颜色", Answer: "左红右绿"}},
		"words with a letter": {`{"query":"哪种船","response":"A型船"}`, eval.Example{Stem: "哪种船", Answer: "A型船"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, data := range []string{c.row, "[" + c.row + "]", "\ufeff" + c.row + "\n"} {
				got, err := eval.ReadTraining("t.jsonl", []byte(data), choice(t))
				if err != nil {
					t.Fatal(err)
				}
				if d := cmp.Diff([]eval.Example{c.want}, got.Examples); d != "" {
					t.Errorf("(-want +got):\n%s", d)
				}
			}
		})
	}
}

func TestReadTrainingReportsRows(t *testing.T) {
	t.Parallel()
	good := `{"question":"q","answer":"A","A":"x","B":"y"}`
	tr, err := eval.ReadTraining("t", []byte(good+"\n"+`{"text":"只有一段文字"}`+"\n"+good+"\n"+`{"question":"q","answer":["A","B"],"A":"x","B":"y"}`+"\n[]\n"), choice(t))
	if err != nil || len(tr.Examples) != 2 || tr.Skipped != 3 || tr.FirstSkipped != 2 {
		t.Fatalf("%+v, %v", tr, err)
	}
	s, err := eval.Run(t.Context(), eval.Job{Benchmark: choice(t), Items: ownItems(t, 3), Model: eval.MajorityModel, WorkDir: t.TempDir(), Endpoint: eval.NewMajority(tr)})
	if err != nil || len(s.Notes) != 2 || s.Notes[1].Code != "training_rows_skipped" || !strings.Contains(s.Notes[1].In(msg.Zh), "3 行") {
		t.Errorf("notes %+v, %v", s.Notes, err)
	}
	for name, c := range map[string]struct {
		data string
		line int
	}{
		"broken":  {good + "\n{\"question\": oops}\n", 2},
		"torn":    {good + "\n{\"question\": \"q", 2},
		"nothing": {`{"text":"x"}` + "\n", 0},
		"empty":   {"", 0},
	} {
		_, err := eval.ReadTraining("t.jsonl", []byte(c.data), choice(t))
		if err == nil {
			t.Errorf("%s: no error", name)
			continue
		}
		if w := fail.All(err)[0].Where; w.File != "t.jsonl" || w.Line != c.line {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func training(t testing.TB, rows ...string) *eval.Training {
	t.Helper()
	tr, err := eval.ReadTraining("t", []byte(strings.Join(rows, "\n")), choice(t))
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

func TestMajority(t *testing.T) {
	t.Parallel()
	rowOf := func(letter string) string {
		return fmt.Sprintf(`{"question":"q","answer":%q,"A":"x","B":"y","C":"z"}`, letter)
	}
	for want, rows := range map[string][]string{"C": {rowOf("C"), rowOf("A"), rowOf("C")}, "A": {rowOf("B"), rowOf("A")}} {
		if got := eval.NewMajority(training(t, rows...)).Letter(); got != want {
			t.Errorf("%v: %s, want %s", rows, got, want)
		}
	}
	if _, err := eval.Builtin("builtin:oracle", training(t, rowOf("A")), choice(t)); fail.Code(err) != 2 {
		t.Errorf("unknown baseline: %v", err)
	}
}

func ask(t testing.TB, e eval.Endpoint, stem string, options ...string) string {
	t.Helper()
	q := drydock.Question{Stem: stem}
	for _, o := range options {
		q.Options = append(q.Options, drydock.Option{Text: o})
	}
	p, err := choice(t).PromptText(&q)
	if err != nil {
		t.Fatal(err)
	}
	a, err := e.Ask(t.Context(), []drydock.Message{{Role: "user", Content: p}})
	if err != nil || a.Usage != nil || a.Reply.Finish != "stop" {
		t.Fatalf("%+v, %v", a, err)
	}
	return a.Reply.Text
}

// The look-up goes by the text of the answer, so shuffled options, another
// script and another width do not throw it off.
func TestLookupFindsShuffledQuestions(t *testing.T) {
	t.Parallel()
	l := eval.NewLookup(training(t,
		`{"question":"在能见度不良时，机动船在航对水移动应鸣放______。","answer":"A","A":"一长声","B":"二长声","C":"一短声","D":"五短声"}`,
		`{"question":"锚泊船在能见度不良时应急敲号钟约______。","answer":"C","A":"一分钟","B":"十秒","C":"五秒","D":"一小时"}`,
		`{"question":"Which light shall a vessel under oars show?","answer":"B","A":"masthead light","B":"a lantern ready at hand","C":"towing light"}`,
	), choice(t))
	for _, c := range []struct {
		want, stem string
		options    []string
	}{
		{"[C]", "在能见度不良时，机动船在航对水移动应鸣放______。", []string{"五短声", "一短声", "一长声", "二长声"}},
		{"[B]", "錨泊船在能見度不良時應急敲號鐘約", []string{"一分鐘", "５秒", "十秒"}[:2]},
		{"[A]", "WHICH LIGHT SHALL A VESSEL UNDER OARS SHOW", []string{"A lantern, ready at hand", "Towing light"}},
	} {
		if c.want == "[B]" {
			c.options[1] = "五秒"
		}
		if got := ask(t, l, c.stem, c.options...); got != c.want {
			t.Errorf("%s: %s, want %s", c.stem, got, c.want)
		}
	}
	// nothing in common with any row: the commonest letter, if it is offered
	if got := ask(t, l, "zzz", "1", "2"); got != "[A]" {
		t.Errorf("without a trace: %s", got)
	}
	if _, err := l.Ask(t.Context(), []drydock.Message{{Role: "user", Content: "你好"}}); err == nil {
		t.Error("a foreign prompt is answered")
	}
}

// Trained on the items it is asked, the look-up reports itself.
func TestLeakSignal(t *testing.T) {
	t.Parallel()
	items := ownItems(t, 60)
	var leaked, clean []string
	for i, it := range items {
		leaked = append(leaked, strings.TrimSpace(string(benchmark.AppendCanonical(nil, &it))))
		clean = append(clean, fmt.Sprintf(`{"question":"另一份题库第%d问：缆绳用途","answer":"%c","A":"系泊%d","B":"测深","C":"照明"}`, i, 'A'+(i*7)%3, i))
	}
	for name, c := range map[string]struct {
		rows []string
		leak bool
	}{"leaked": {leaked, true}, "clean": {clean, false}} {
		s, err := eval.Run(t.Context(), eval.Job{
			Benchmark: choice(t), Items: items, Model: eval.LookupModel, WorkDir: t.TempDir(), Endpoint: eval.NewLookup(training(t, c.rows...), choice(t)),
		})
		if err != nil {
			t.Fatal(err)
		}
		if (s.LeakSignal != nil) != c.leak || !s.Baseline || s.Endpoint != "builtin" || len(s.Notes) == 0 || s.Notes[0].Code != "baseline" {
			t.Errorf("%s: %s", name, marshal(t, s))
		}
		if c.leak && (s.Correct != 60 || s.LeakSignal.NearIdentical != 60 || !strings.Contains(s.LeakSignal.Text, "contam check") || !strings.Contains(s.LeakSignal.In(msg.Zh), "60 题")) {
			t.Errorf("%s: %+v", name, s.LeakSignal)
		}
		rows := strings.Split(read(t, s.Files.Predictions), "\n")
		if !strings.Contains(rows[0], `"model": "builtin:lookup"`) || !strings.Contains(rows[0], `"usage": null`) {
			t.Errorf("%s: %s", name, rows[0])
		}
	}
}
