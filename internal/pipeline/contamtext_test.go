package pipeline

import (
	"testing"

	"github.com/drydock-ml/drydock/dedup/contam"
)

func TestAnnotated(t *testing.T) {
	t.Parallel()
	found := []contam.Finding{{Item: contam.ItemRef{Benchmark: "b", Index: 3}, Verdict: contam.Near, Score: 0.5}}
	const mark = `"contamination":[{"benchmark":"b","index":3,"verdict":"near","score":0.5000}]}`
	for row, want := range map[string]string{
		`{}`:                  `{` + mark,
		`{ }`:                 `{` + mark,
		`{"a":1}`:             `{"a":1,` + mark,
		"{\"a\":{\"b\":2} } ": `{"a":{"b":2},` + mark + " ",
		`[1]`:                 `[1]`,
	} {
		if got := string(annotated([]byte(row), found)); got != want {
			t.Errorf("%s became %s, want %s", row, got, want)
		}
	}
}

func TestMatchedText(t *testing.T) {
	t.Parallel()
	text := []rune("前言前言前言前言前言前言前言 问：灯为何色？答：红。结尾结尾结尾结尾结尾结尾结尾")
	for _, c := range []struct {
		spans []contam.Span
		want  string
	}{
		{nil, string(text)},
		{[]contam.Span{{Start: 15, End: 22}, {Start: 22, End: 25}}, "…言前言前言前言前言前言 问：灯为何色？答：红。结尾结尾结尾结尾结尾结…"},
		{[]contam.Span{{Start: 0, End: len(text)}}, string(text)},
		{[]contam.Span{{Start: 2, End: 4}}, "前言前言前言前言前言前言前言 问…"},
	} {
		if got := matched(text, c.spans); got != c.want {
			t.Errorf("%v: %q, want %q", c.spans, got, c.want)
		}
	}
	const row = `{"a":[{"x/y":"deep"},1],"~":"tilde","n":{"content":"c"}}`
	for pointer, want := range map[string]string{
		"/a/0/x~1y": "deep", "/~0": "tilde", "/n/content": "c", "/a/1": "", "/a/2": "", "/a/x": "", "/n": "", "": "", "/a/0/x~1y/z": "",
	} {
		if got, ok := fieldText([]byte(row), pointer); got != want || ok != (want != "") {
			t.Errorf("%s: %q %v", pointer, got, ok)
		}
	}
	if _, ok := fieldText([]byte(`{`), "/a"); ok {
		t.Error("a torn row has a field")
	}
}
