package provenance

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/drydock-ml/drydock/internal/golden"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/google/go-cmp/cmp"
)

func cardInput(t *testing.T) CardInput {
	t.Helper()
	dir, _ := newSample().build(t)
	sum, err := Load(context.Background(), os.DirFS(dir))
	if err != nil {
		t.Fatal(err)
	}
	sum.Sources[1].License = License{}
	return CardInput{
		Title: "colreg", Version: "0.1.0", Summary: sum,
		Evaluations: []Evaluation{
			{Benchmark: "sample_bench@1", Model: "builtin:majority", N: 60, Correct: 17, Low: 0.185, High: 0.408, Rule: "bracket_first@1", Baseline: true},
			{
				Benchmark: "sample_bench@1", Model: "builtin:lookup", N: 60, Correct: 20, Low: 0.227, High: 0.459, NoExtraction: 1, Rule: "bracket_first@1", Baseline: true, Graded: true,
				Note: msg.Text{"near chance: the data does not give the answers away", "接近随机：数据没有泄漏答案"},
			},
		},
		Limits: []msg.Text{{"Near duplicates were not searched for.", "未查找近似重复。"}},
	}
}

func TestCard(t *testing.T) {
	t.Parallel()
	for _, lang := range []msg.Lang{msg.En, msg.Zh} {
		t.Run(lang.String(), func(t *testing.T) {
			t.Parallel()
			golden.Equal(t, ".md", Card(lang, cardInput(t)))
		})
	}
}

func TestCardOfNothing(t *testing.T) {
	t.Parallel()
	for _, lang := range []msg.Lang{msg.En, msg.Zh} {
		if got := string(Card(lang, CardInput{})); !strings.Contains(got, "**") || strings.Contains(got, "NaN") {
			t.Errorf("%s card without data:\n%s", lang, got)
		}
	}
}

func TestSourcesMD(t *testing.T) {
	t.Parallel()
	for _, lang := range []msg.Lang{msg.En, msg.Zh} {
		t.Run(lang.String(), func(t *testing.T) {
			t.Parallel()
			golden.Equal(t, ".md", SourcesMD(lang, cardInput(t).Summary))
		})
	}
}

const chatRows = `{"id":"a","messages":[{"role":"user","content":"问 | 题?"},{"role":"assistant","content":"` + "`[A]`" + `"}],"extra":1}
{"id":"b","messages":[{"role":"user","content":"问"},{"role":"assistant","content":"[B]","reasoning_content":"想"}],"extra":1.5}

{"id":"c","messages":[],"extra":null,"letters":{"A":"C"},"origin":{"file":"x"}}
`

func schemaOf(t *testing.T, rows string) FileFields {
	t.Helper()
	s, err := ReadSchema(strings.NewReader(rows))
	if err != nil {
		t.Fatal(err)
	}
	return FileFields{Path: "data/train.jsonl", Rows: s.Rows, Fields: s.Fields()}
}

func TestSchema(t *testing.T) {
	t.Parallel()
	got := schemaOf(t, chatRows)
	want := []Field{
		{Path: "id", Types: []string{"string"}, Present: 3, Of: 3, Example: "a"},
		{Path: "messages", Types: []string{"array"}, Present: 3, Of: 3},
		{Path: "messages[].role", Types: []string{"string"}, Present: 4, Of: 4, Example: "user"},
		{Path: "messages[].content", Types: []string{"string"}, Present: 4, Of: 4, Example: "问 | 题?"},
		{Path: "extra", Types: []string{"integer", "null", "number"}, Present: 3, Of: 3, Example: "1"},
		{Path: "messages[].reasoning_content", Types: []string{"string"}, Present: 1, Of: 4, Example: "想"},
		{Path: "letters", Types: []string{"object"}, Present: 1, Of: 3},
		{Path: "letters.A", Types: []string{"string"}, Present: 1, Of: 1, Example: "C"},
		{Path: "origin", Types: []string{"object"}, Present: 1, Of: 3},
		{Path: "origin.file", Types: []string{"string"}, Present: 1, Of: 1, Example: "x"},
	}
	if d := cmp.Diff(want, got.Fields); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	for _, f := range got.Fields {
		if _, known := meaning(f.Path); known == (f.Path == "extra") {
			t.Errorf("meaning of %s known: %v", f.Path, known)
		}
	}
}

func TestSchemaErrorsNameTheLine(t *testing.T) {
	t.Parallel()
	for rows, want := range map[string]string{
		"{}\n[1]\n":       "line 2: a row must be an object",
		"{}\n\n{\"a\":\n": "line 3",
	} {
		if _, err := ReadSchema(strings.NewReader(rows)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", rows, err, want)
		}
	}
}

func TestFieldsMD(t *testing.T) {
	t.Parallel()
	files := []FileFields{schemaOf(t, chatRows)}
	for _, lang := range []msg.Lang{msg.En, msg.Zh} {
		t.Run(lang.String(), func(t *testing.T) {
			t.Parallel()
			md := FieldsMD(lang, files, map[string]string{"origin.file": "own | words"})
			golden.Equal(t, ".md", md)
			back := ReadFieldsMD(md)
			if len(back) != 1 || back[0].Path != files[0].Path {
				t.Fatalf("read back %+v", back)
			}
			for i, f := range files[0].Fields {
				g := back[0].Fields[i]
				if g.Path != f.Path || !cmp.Equal(g.Types, f.Types) {
					t.Errorf("field %d: %s %v, want %s %v", i, g.Path, g.Types, f.Path, f.Types)
				}
			}
		})
	}
}

func TestLicenseOf(t *testing.T) {
	t.Parallel()
	for declared, want := range map[string]License{
		"cc-by-4.0":              {Declared: "cc-by-4.0", SPDX: "CC-BY-4.0"},
		"school permission 2026": {Declared: "school permission 2026"},
		"LicenseRef-school":      {Declared: "LicenseRef-school", SPDX: "LicenseRef-school"},
		"  ":                     {},
	} {
		if got := LicenseOf(declared); got != want {
			t.Errorf("%q: %+v, want %+v", declared, got, want)
		}
	}
}

func FuzzReadFieldsMD(f *testing.F) {
	f.Add([]byte("# x\n|a|b|\n|---|---|\n| `id` | string |\n"))
	f.Add([]byte("|\\||"))
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, f := range ReadFieldsMD(b) {
			if len(f.Fields) == 0 {
				t.Fatal("a file without fields")
			}
		}
	})
}

func FuzzReadSchema(f *testing.F) {
	f.Add([]byte(chatRows))
	f.Add([]byte(`{"a":[[1],[{"b":2}]],"":{"":1},"a.b":1}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := ReadSchema(strings.NewReader(string(b)))
		if err != nil {
			return
		}
		for _, f := range s.Fields() {
			if f.Of < 0 || len(f.Types) == 0 {
				t.Fatalf("field %+v", f)
			}
		}
		FieldsMD(msg.Zh, []FileFields{{Path: "x", Rows: s.Rows, Fields: s.Fields()}}, nil)
	})
}
