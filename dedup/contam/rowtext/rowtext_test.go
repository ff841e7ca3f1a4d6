package rowtext

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/drydock-ml/drydock/dedup/contam"
)

func TestRead(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, row string
		want      Row
	}{
		{"text", `{"id":"r1","text":"甲 \u4e59"}`, Row{ID: "r1", Fields: []Field{{"/text", "甲 乙"}}}},
		{"another id", `{"uid":"u1","text":"甲","id":"r1"}`, Row{ID: "u1", Fields: []Field{{"/text", "甲"}}}},
		{"number as id", `{"id":7,"n":3,"b":true,"x":null}`, Row{ID: "7"}},
		{
			"turns", `{"messages":[{"role":"user","content":"q"},{"role":"assistant","content":"a"}]}`,
			Row{Chat: true, Fields: []Field{{"/messages/0/content", "q"}, {"/messages/1/content", "a"}}},
		},
		{"names escaped", `{"a/b":{"c~d":"x"}}`, Row{Fields: []Field{{"/a~1b/c~0d", "x"}}}},
		{"a string", `"x"`, Row{Fields: []Field{{"", "x"}}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, err := Read([]byte(c.row))
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(c.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestReadErrors(t *testing.T) {
	t.Parallel()
	for _, row := range []string{
		"", `{"a":`, `{"a":1`, `{"a":1} {`, `{"a":1}{"b":2}`, "{\"a\":\"\xff\"}", `{"text":"torn`, `[1,2,]`, `{"a" "b"}`, `{"y":tr`,
		strings.Repeat("[", 20000),
	} {
		_, err := Read([]byte(row))
		var bad *contam.SyntaxError
		if !errors.As(err, &bad) {
			t.Errorf("%q: %v, want a SyntaxError", row, err)
			continue
		}
		if bad.Column < 1 || bad.Column > len(row)+1 {
			t.Errorf("%q: column %d is outside the row", row, bad.Column)
		}
	}
}

func FuzzRead(f *testing.F) {
	for _, s := range []string{`{"text":"x"}`, `{"messages":[{"content":"a"}]}`, `{"a":`, "\xff", `[[[[]]]]`, `{"a":1}x`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, row []byte) {
		r, err := Read(row)
		var bad *contam.SyntaxError
		if err != nil && (!errors.As(err, &bad) || bad.Column < 1 || bad.Column > len(row)+1) {
			t.Fatalf("%q: %v", row, err)
		}
		_ = r.Join()
	})
}
