package eval_test

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/eval"
)

func FuzzReadTraining(f *testing.F) {
	for _, s := range []string{
		`{"question":"q","answer":"A","A":"x","B":"y"}`,
		`{"stem":"q","options":[{"label":"A","text":"x"},{"label":"ß"}],"answer":["A"]}`,
		`{"messages":[{"role":"user","content":"q\nA. x\nB. y"},{"role":"assistant","content":"<think>z</think>[Z]"}]}`,
		`[{"conversations":[{"from":"human","value":"q"},{"from":"gpt","value":"a"}]},{"options":{"A":null}}]`,
		`{"prompt":[{"content":"q"}],"completion":[{"content":"D."}]}`, "[", "{}", "\ufeff\n",
	} {
		f.Add([]byte(s))
	}
	b := choice(f)
	q := drydock.Question{Stem: "q", Options: []drydock.Option{{Text: "x"}, {Text: "y"}}}
	p, err := b.PromptText(&q)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		tr, err := eval.ReadTraining("f", data, b)
		if (err == nil) != (tr != nil && len(tr.Examples) > 0) {
			t.Fatalf("%+v, %v", tr, err)
		}
		if err != nil {
			return
		}
		for _, ex := range tr.Examples {
			if ex.Stem == "" || (ex.Letter == "" && ex.Answer == "") {
				t.Fatalf("an example without question or answer: %+v", ex)
			}
		}
		for _, e := range []eval.Endpoint{eval.NewMajority(tr), eval.NewLookup(tr, b)} {
			if a, err := e.Ask(t.Context(), []drydock.Message{{Role: "user", Content: p}}); err != nil || len(a.Reply.Text) != 3 {
				t.Fatalf("%+v, %v", a, err)
			}
		}
	})
}

func FuzzScore(f *testing.F) {
	for _, s := range []string{
		`{"index":0,"output":"[A]"}`, `{"index":99999999999,"target":"A","sample_score":{"score":{"prediction":"x"}}}`,
		`{"index":1,"model_output":{"choices":[{"message":{"content":"[A]"}}]}}`, "x",
	} {
		f.Add([]byte(s))
	}
	b, items := choice(f), ownItems(f, 3)
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := eval.Score(eval.ScoreJob{Benchmark: b, Items: items, Name: "f", Data: data})
		if err != nil {
			return
		}
		if s.N == 0 || s.N != s.Rows || s.N != s.Asked || s.Correct > s.N {
			t.Fatalf("%+v", s)
		}
		letters := 0
		for _, n := range s.Letters {
			letters += n
		}
		if letters != s.N {
			t.Fatalf("%d letters of %d rows", letters, s.N)
		}
	})
}

// FuzzLog: whatever a crash, or anyone, left in the log, the run goes on with the
// rows that are whole and ends with one row an item.
func FuzzLog(f *testing.F) {
	items := ownItems(f, 4)
	ask := func(_ context.Context, i int) (eval.Answer, error) { return says(gold(i)), nil }
	dir := f.TempDir()
	if _, err := eval.Run(f.Context(), job(f, items, dir, ask)); err != nil {
		f.Fatal(err)
	}
	whole := read(f, logPath(dir))
	f.Add([]byte(whole))
	f.Add([]byte(whole[:len(whole)-1]))
	f.Add([]byte(whole[:len(whole)/2] + "\x00\x00"))
	f.Add([]byte(whole + whole))
	f.Add([]byte(strings.ReplaceAll(whole, `"index": 1`, `"index": 99`)))
	f.Add([]byte(strings.ReplaceAll(whole, `"drydock": {`, `"drydock": [{`)))
	f.Add([]byte("\ufeff" + strings.ReplaceAll(whole, "\n", "\r\n")))
	f.Fuzz(func(t *testing.T, log []byte) {
		if err := os.WriteFile(logPath(dir), log, 0o644); err != nil {
			t.Fatal(err)
		}
		s, err := eval.Run(t.Context(), job(t, items, dir, ask))
		if err != nil || s.N != 4 || s.Rows != 4 {
			t.Fatalf("n %d, %v", s.N, err)
		}
		if n, twice := logRows(t, dir); n < 4 || twice {
			t.Fatalf("%d rows, twice %v", n, twice)
		}
	})
}
