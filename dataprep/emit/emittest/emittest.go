// Package emittest is the contract suite of row shapes: a new shape's whole test
// is one call.
package emittest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/dataprep/emit"
	"github.com/drydock-ml/drydock/internal/golden"
	"github.com/drydock-ml/drydock/internal/parallel"

	"github.com/google/go-cmp/cmp"
)

// hard holds what JSON writers get wrong: quotes, control characters, HTML
// signs, line separators, astral characters, full-width forms.
const hard = "船“舶”\"引\\擎\"\t<br>&amp;\u2028\u2029\x01\x1f 𠮷 Ａ．\r\n末"

// Records returns records of every kind, among them texts that are hard to
// escape and items no training row can hold.
func Records() []*drydock.Record {
	f := &drydock.File{Source: "bank", Name: "题库/一.txt", SHA256: strings.Repeat("ab", 32), License: "CC-BY-4.0"}
	n := 0
	rec := func(r drydock.Record) *drydock.Record {
		n++
		r.Origin = drydock.Origin{File: f, At: drydock.Locator{Page: n, Line: 7}}
		r.ID = drydock.NewID(f.Source, f.Name, r.Origin.At.String())
		return &r
	}
	opts := func(texts ...string) (out []drydock.Option) {
		for i, t := range texts {
			out = append(out, drydock.Option{Label: string(rune('A' + i)), Text: t})
		}
		return out
	}
	keyed := rec(drydock.Record{RowID: "42", Lang: "zh", Question: &drydock.Question{
		Kind: drydock.Single, Stem: "两船交叉相遇，①让路船②直航船应____。", Statements: []string{"让路船", "直航船"},
		Options: opts("保速保向", "避免横越他船前方", "鸣放五声短声", "停车"), Answer: []string{"B"},
		Explanation: "A、C错误，故选B。", Subject: []string{"第二章", "交叉相遇"}, Confidence: 0.98,
	}})
	keyed.Origin.Key = drydock.Locator{Page: 99}
	keyed.Parents = []drydock.ID{drydock.NewID("bank", "parent", "")}
	yes := true
	return []*drydock.Record{
		keyed,
		rec(drydock.Record{Lang: "en", Question: &drydock.Question{
			Kind: drydock.Single, Stem: "A vessel at anchor shows:", Options: opts("one light", "two lights", "All of the above"), Answer: []string{"C"}, Reasoning: "Both lights are shown.",
		}}),
		rec(drydock.Record{Lang: "zh", Question: &drydock.Question{Kind: drydock.Single, Stem: hard, Options: opts(hard, "乙"), Answer: []string{"A"}, Explanation: hard}}),
		rec(drydock.Record{Lang: "zh", Question: &drydock.Question{Kind: drydock.Multiple, Stem: "多选", Options: opts("甲", "乙", "丙"), Answer: []string{"A", "C"}}}),
		rec(drydock.Record{Lang: "zh", Question: &drydock.Question{Kind: drydock.Judge, Stem: "判断", Answer: []string{"true"}, Figures: []string{"图1"}, NeedsFigure: true}}),
		rec(drydock.Record{Lang: "zh", Question: &drydock.Question{Kind: drydock.Single, Stem: "无答案", Options: opts("甲", "乙")}}),
		rec(drydock.Record{Lang: "zh", Question: &drydock.Question{Kind: drydock.Single, Stem: "控制符<|im_end|>", Options: opts("甲", "乙"), Answer: []string{"A"}, Explanation: "见图"}}),
		rec(drydock.Record{Lang: "zh", Passage: &drydock.Passage{Heading: []string{"第一章", "总则"}, Text: hard}}),
		rec(drydock.Record{RowID: "c1", Lang: "mul", Chat: &drydock.Chat{Messages: []drydock.Message{{Role: "user", Content: hard}, {Role: "assistant", Content: "好的"}}}}),
		rec(drydock.Record{Chat: &drydock.Chat{Messages: []drydock.Message{{Role: "user", Content: "问"}, {Role: "assistant", Content: "好", Reasoning: "想"}}, Label: &yes}}),
		rec(drydock.Record{Chat: &drydock.Chat{Messages: []drydock.Message{{Role: "user", Content: "答？"}, {Role: "assistant", Content: "对"}}, Label: &yes}}),
		rec(drydock.Record{RowID: "p1", Chat: &drydock.Chat{
			Messages: []drydock.Message{{Role: "user", Content: "选"}, {Role: "assistant", Content: hard + "好"}},
			Rejected: []drydock.Message{{Role: "assistant", Content: "差" + hard}},
		}}),
		rec(drydock.Record{RowID: "m1", Chat: &drydock.Chat{Messages: []drydock.Message{
			{Role: "system", Content: "船长"}, {Role: "user", Content: "一"}, {Role: "assistant", Content: "甲"}, {Role: "user", Content: "二"}, {Role: "assistant", Content: "乙"},
		}}}),
	}
}

// Run checks an emitter. shape reads its rows back; the zero Shape skips that.
func Run(t *testing.T, e emit.Emitter, shape emit.Shape) {
	t.Helper()
	records := Records()
	t.Run("golden", func(t *testing.T) {
		var b, side []byte
		for _, r := range records {
			rows, err := e.Emit(b, r)
			var d *drydock.Drop
			if errors.As(err, &d) {
				b = fmt.Appendf(b, "// %s dropped: %s: %s\n", r.Origin.At, d.Reason, d.Detail)
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			b = rows
			for _, d := range e.Describe(r) {
				side = emit.AppendSidecar(side, r, d)
			}
		}
		golden.Equal(t, ".jsonl", append(append(b, "// sidecar\n"...), side...))
	})
	for i, r := range records {
		t.Run(fmt.Sprintf("record%d", i), func(t *testing.T) { one(t, e, shape, r) })
	}
	t.Run("concurrent", func(t *testing.T) {
		err := parallel.Each(t.Context(), 8, 64, func(_ context.Context, i int) error {
			r := records[i%len(records)]
			a, errA := e.Emit(nil, r)
			b, errB := e.Emit(nil, r)
			if !bytes.Equal(a, b) || (errA == nil) != (errB == nil) {
				return fmt.Errorf("record %d differs between two calls", i)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	})
}

func one(t *testing.T, e emit.Emitter, shape emit.Shape, r *drydock.Record) {
	before, err := drydock.MarshalJSON(r)
	if err != nil {
		t.Fatal(err)
	}
	const prefix = "kept"
	got, err := e.Emit([]byte(prefix), r)
	after, _ := drydock.MarshalJSON(r)
	if d := cmp.Diff(string(before), string(after)); d != "" {
		t.Errorf("Emit changed the record:\n%s", d)
	}
	if err != nil {
		var d *drydock.Drop
		if !errors.As(err, &d) || d.Reason == "" || d.Record != r {
			t.Errorf("the error is no drop of this record with a reason: %v", err)
		}
		if string(got) != prefix {
			t.Errorf("a drop changed dst to %q", got)
		}
		return
	}
	rows, ok := bytes.CutPrefix(got, []byte(prefix))
	described := e.Describe(r)
	if !ok || !bytes.HasSuffix(rows, []byte("\n")) || bytes.Count(rows, []byte("\n")) != len(described) {
		t.Fatalf("not %d lines appended to dst: %q", len(described), got)
	}
	i := 0
	for row := range bytes.Lines(rows) {
		checkRow(t, row, described[i].RowID)
		side := emit.AppendSidecar(nil, r, described[i])
		if !json.Valid(side) || bytes.Count(side, []byte("\n")) != 1 {
			t.Errorf("bad sidecar line %q", side)
		}
		readBack(t, e, shape, r, row)
		i++
	}
}

// readBack reads a row by its shape and writes the record again.
func readBack(t *testing.T, e emit.Emitter, shape emit.Shape, r *drydock.Record, row []byte) {
	t.Helper()
	if shape.Decode == nil {
		return
	}
	if !shape.Sniff(row) {
		t.Errorf("the shape does not know its own row %s", row)
	}
	back, err := shape.Decode(row)
	if err != nil {
		t.Fatalf("Decode: %v\n%s", err, row)
	}
	back.ID, back.Parents = r.ID, r.Parents
	if shape.Name == "chat" {
		return // a question became a conversation: there is no way back
	}
	again, err := e.Emit(nil, back)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(row), string(again)); d != "" {
		t.Errorf("round trip (-first +second):\n%s", d)
	}
}

func checkRow(t *testing.T, row []byte, id string) {
	t.Helper()
	var v struct {
		ID *string `json:"id"`
	}
	if err := json.Unmarshal(row, &v); err != nil {
		t.Fatalf("not JSON: %v\n%s", err, row)
	}
	if v.ID == nil || *v.ID == "" || *v.ID != id {
		t.Errorf("the id is not %q in %s", id, row)
	}
	if !utf8.Valid(row) {
		t.Errorf("not UTF-8: %q", row)
	}
	for _, escaped := range []string{`\u8239`, `\u003c`, `\u0026`, `\u2028`} {
		if bytes.Contains(bytes.ToLower(row), []byte(escaped)) {
			t.Errorf("%s is escaped without need in %s", escaped, row)
		}
	}
}
