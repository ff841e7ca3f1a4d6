package question_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/dataprep/question"
)

// drain parses a document and checks what must hold of anything it gives.
func drain(t *testing.T, doc *drydock.Document) {
	t.Helper()
	for r, err := range question.New(question.Options{}).Parse(context.Background(), doc) {
		var d *drydock.Drop
		if errors.As(err, &d) {
			if d.Reason == "" || d.Record == nil || d.Record.Passage == nil || d.Record.ID.IsZero() {
				t.Fatalf("incomplete drop %+v", d)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		q := r.Question
		if q.Stem == "" || q.Kind == "" || r.ID.IsZero() || r.Origin.File == nil || q.Confidence < 0 || q.Confidence > 1 {
			t.Fatalf("incomplete question %+v", q)
		}
		offered := map[string]bool{}
		for i, o := range q.Options {
			if o.Label != string(rune('A'+i)) || o.Text == "" {
				t.Fatalf("options %+v", q.Options)
			}
			offered[o.Label] = true
		}
		for _, a := range q.Answer {
			if len(q.Options) > 0 && !offered[a] && !(q.Kind == drydock.Matching && offered[a[len(a)-1:]]) {
				t.Fatalf("answer outside the options: %+v", q)
			}
		}
		if q.Kind == drydock.Judge && len(q.Answer) > 0 && q.Answer[0] != "true" && q.Answer[0] != "false" {
			t.Fatalf("true/false answer: %+v", q)
		}
	}
	if _, err := question.Accepts(context.Background(), doc); err != nil {
		t.Fatal(err)
	}
}

func FuzzText(f *testing.F) {
	for _, c := range textShapes {
		f.Add(c.in)
	}
	f.Add(twoSections + "第1条 1-2、BA\n第2条 （1）BAB （2）A")
	f.Add("答案：\n\nA\n（）\n1-99999 A\n第条\n（1\n【】1.")
	f.Fuzz(func(t *testing.T, s string) {
		if len(s) > 1<<14 {
			return
		}
		drain(t, text(s))
		var pages []drydock.Block
		for i, l := range strings.Split(s, "\n") {
			pages = append(pages, drydock.Block{Text: l, At: drydock.Locator{Page: i/3 + 1, Line: i%3 + 1}})
		}
		drain(t, document(pages))
		doc := text("1. 甲\nA. 红\nB. 绿")
		doc.Key = text(s)
		drain(t, doc)
	})
}

func FuzzTable(f *testing.F) {
	for _, c := range rowShapes {
		var lines []string
		for _, r := range c.rows {
			lines = append(lines, strings.Join(r, "\t"))
		}
		f.Add(strings.Join(lines, "\x00"))
	}
	f.Fuzz(func(t *testing.T, s string) {
		if len(s) > 1<<14 {
			return
		}
		var rows [][]string
		for _, l := range strings.Split(s, "\x00") {
			rows = append(rows, strings.Split(l, "\t"))
		}
		drain(t, rowsDocument(rows))
	})
}

func FuzzJSON(f *testing.F) {
	for _, c := range rowShapes {
		f.Add(c.json)
	}
	f.Add(`{"question":{"stem":[],"choices":{}},"options":[[1,2],[null],{"value":{}}],"answer":{"label":{}}}`)
	f.Fuzz(func(t *testing.T, s string) {
		if len(s) > 1<<14 || !utf8.ValidString(s) {
			return
		}
		drain(t, document([]drydock.Block{{Raw: []byte(s)}, {Raw: json.RawMessage(`{"question":"x","choices":["a","b"],"answer":1}`)}}))
	})
}
