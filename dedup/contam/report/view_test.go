package report

import (
	"strings"
	"testing"

	"github.com/drydock-ml/drydock/dedup/contam"
)

func TestFields(t *testing.T) {
	t.Parallel()
	const row = `{"a":[{"x/y":"deep"},1,500.0],"~":"tilde","n":{"content":"c"},"t":true}`
	for pointer, want := range map[string]string{
		"/a/0/x~1y": "deep", "/~0": "tilde", "/n/content": "c", "/a/1": "1", "/a/2": "500.0",
		"/a/3": row, "/a/x": row, "/n": row, "": row, "/a/0/x~1y/z": row, "/t": row,
	} {
		f := contam.Finding{Record: contam.Place{Pointer: pointer}}
		if got := Fields([]byte(row), nil, &f); len(got) != 1 || got[0].Text != want {
			t.Errorf("%s: %+v", pointer, got)
		}
	}
	f := contam.Finding{Spans: []contam.Span{{Pointer: "/a", Start: 0, End: 2}, {Pointer: "/b", Next: true, Start: 0, End: 1}}}
	got := Fields([]byte(`{"a":"first"}`), []byte(`{"b":"second"}`), &f)
	if len(got) != 2 || got[0].Text != "first" || got[1].Text != "second" || !got[1].Next {
		t.Errorf("%+v", got)
	}
}

func TestLongFieldIsCut(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("前", 5000) + "匹配" + strings.Repeat("后", 5000)
	f := contam.Finding{Spans: []contam.Span{{Start: 5000, End: 5002}}}
	got := TextField(text, &f)[0]
	want := Field{Offset: 5000 - fieldSide, Text: strings.Repeat("前", fieldSide) + "匹配" + strings.Repeat("后", fieldAfter), Cut: true}
	if got != want {
		t.Errorf("%+v", got)
	}
	f.Spans = []contam.Span{{Start: 20000, End: 20010}} // of another text
	if got := TextField(text, &f)[0]; got.Offset != 0 || len([]rune(got.Text)) != fieldMost {
		t.Errorf("offset %d, %d characters", got.Offset, len([]rune(got.Text)))
	}
}
