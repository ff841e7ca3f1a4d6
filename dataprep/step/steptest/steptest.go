// Package steptest is the contract suite of steps and parsers: a new one's whole
// test begins with one call.
package steptest

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"regexp"
	"strings"
	"testing"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/internal/parallel"

	"github.com/google/go-cmp/cmp"
)

var reason = regexp.MustCompile(`^[a-z][a-z0-9]*(_[a-z0-9]+)*$`)

// Records returns a mixed bag of records with distinct ids: questions of every
// kind, passages and conversations, clean and not.
func Records() []*drydock.Record {
	f := &drydock.File{Source: "bank", Name: "题库.txt", SHA256: strings.Repeat("00", 32)}
	options := func(texts ...string) (out []drydock.Option) {
		for i, t := range texts {
			out = append(out, drydock.Option{Label: string(rune('A' + i)), Text: t})
		}
		return out
	}
	bag := []drydock.Record{
		{Question: &drydock.Question{Kind: drydock.Single, Stem: "船舶在雾中航行时应当使用____。", Options: options("安全航速", "全速", "经济航速", "最低航速"), Answer: []string{"A"}, Explanation: "B、C错误，故选A。"}},
		{Question: &drydock.Question{Kind: drydock.Single, Stem: "A vessel aground shall exhibit", Options: options("two all-round red lights", "a cone", "All of the above"), Answer: []string{"A"}}},
		{Question: &drydock.Question{Kind: drydock.Single, Stem: "灭火", Options: options("水", "水"), Answer: []string{"A"}}},
		{Question: &drydock.Question{Kind: drydock.Multiple, Stem: "下列属于操纵能力受到限制的船舶有哪些？", Options: options("敷设电缆的船", "扫雷船", "锚泊船"), Answer: []string{"A", "B"}, Reasoning: "选项A和选项B都是。"}},
		{Question: &drydock.Question{Kind: drydock.Judge, Stem: "  船长对船舶安全负责。\u200b\n", Answer: []string{"true"}}},
		{Question: &drydock.Question{Kind: drydock.Blank, Stem: "一节为____米。", Answer: []string{"27.5"}}},
		{Passage: &drydock.Passage{Heading: []string{"第一章　总则"}, Text: "本规则适用于公海　和连接于公海的一切水域中的一切船舶。\r\n\r\n\r\n\ufb01n"}},
		{Passage: &drydock.Passage{Text: "短"}},
		{Chat: &drydock.Chat{Messages: []drydock.Message{{Role: "user", Content: "什么是  让路船？\u200b"}, {Role: "assistant", Content: "应当给他船让路的船。"}}}},
		{Question: &drydock.Question{Kind: drydock.Single, Stem: "无选项"}},
		{},
	}
	out := make([]*drydock.Record, 0, 4*len(bag))
	for round := range 4 {
		for i := range bag {
			r := clone(&bag[i])
			r.Origin = drydock.Origin{File: f, At: drydock.Locator{Line: len(out) + 1}}
			r.ID = drydock.NewID(f.Source, f.Name, r.Origin.At.String(), fmt.Sprint(round))
			r.Lang = "zh"
			out = append(out, r)
		}
	}
	return out
}

// clone copies a record with its payload through its own encoding.
func clone(r *drydock.Record) *drydock.Record {
	var t drydock.FileTable
	if r.Origin.File != nil {
		t.Add(r.Origin.File)
	}
	line, err := t.Append(nil, r)
	if err != nil {
		panic(err)
	}
	c, err := t.Decode(line)
	if err != nil {
		panic(err)
	}
	return c
}

func cloneAll(in []*drydock.Record) []*drydock.Record {
	out := make([]*drydock.Record, len(in))
	for i, r := range in {
		out[i] = clone(r)
	}
	return out
}

func ids(in []*drydock.Record) []drydock.ID {
	out := make([]drydock.ID, len(in))
	for i, r := range in {
		out[i] = r.ID
	}
	return out
}

// show writes what a step made of records, for comparing.
func show(out []*drydock.Record, dropped []drydock.Drop) []string {
	var lines []string
	for _, r := range out {
		b, err := drydock.MarshalJSON(r)
		lines = append(lines, fmt.Sprint("out ", string(b), err))
	}
	for _, d := range dropped {
		lines = append(lines, fmt.Sprint("drop ", d.Reason, d.Detail, d.Record.ID))
	}
	return lines
}

// Step checks a step against the laws of [drydock.Step] on records; nil means
// [Records].
func Step(t *testing.T, s drydock.Step, records []*drydock.Record) {
	t.Helper()
	if records == nil {
		records = Records()
	}
	c := &contract{step: s, records: records}
	out, dropped := c.do(t, cloneAll(records))
	c.want = show(out, dropped)
	t.Run("empty batch", c.emptyBatch)
	t.Run("order", func(t *testing.T) { c.order(t, out) })
	t.Run("any batch size", c.anyBatchSize)
	t.Run("keeps nothing", c.keepsNothing)
	t.Run("concurrent", c.concurrent)
	t.Run("cancelled", c.cancelled)
}

// contract is a step with the records it is tried on and what it makes of them.
type contract struct {
	step    drydock.Step
	records []*drydock.Record
	want    []string
}

// do runs the step on one batch and proves that nothing disappeared.
func (c *contract) do(t *testing.T, in []*drydock.Record) (out []*drydock.Record, dropped []drydock.Drop) {
	t.Helper()
	before := ids(in)
	out, dropped, err := c.step.Do(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := drydock.Account(before, out, dropped); err != nil {
		t.Fatal(err)
	}
	for _, d := range dropped {
		if !reason.MatchString(d.Reason) || d.Record == nil || d.Step != "" {
			t.Errorf("drop %+v: reason must be snake_case, the record given, the step left to the runner", d)
		}
	}
	return out, dropped
}

func (c *contract) emptyBatch(t *testing.T) {
	for _, in := range [][]*drydock.Record{nil, {}} {
		if out, dropped, err := c.step.Do(t.Context(), in); len(out) != 0 || len(dropped) != 0 || err != nil {
			t.Errorf("an empty batch gave %d, %d, %v", len(out), len(dropped), err)
		}
	}
}

func (c *contract) order(t *testing.T, out []*drydock.Record) {
	at := map[drydock.ID]int{}
	for i, r := range c.records {
		at[r.ID] = i
	}
	last := -1
	for _, r := range out {
		if i, old := at[r.ID]; old && i < last {
			t.Fatalf("record %s was moved", r.ID)
		} else if old {
			last = i
		}
	}
}

func (c *contract) anyBatchSize(t *testing.T) {
	for _, size := range []int{1, 2, 3, 7, len(c.records)} {
		var all []*drydock.Record
		var drops []drydock.Drop
		in := cloneAll(c.records)
		for len(in) > 0 {
			n := min(size, len(in))
			out, dropped := c.do(t, in[:n:n])
			all, drops = append(all, out...), append(drops, dropped...)
			in = in[n:]
		}
		if d := cmp.Diff(c.want, show(all, drops)); d != "" {
			t.Fatalf("batches of %d differ:\n%s", size, d)
		}
	}
}

func (c *contract) keepsNothing(t *testing.T) {
	in := cloneAll(c.records)
	c.do(t, in)
	for _, r := range in { // whoever owns them now may do this
		if r != nil {
			*r = drydock.Record{}
		}
	}
	out, dropped := c.do(t, cloneAll(c.records))
	if d := cmp.Diff(c.want, show(out, dropped)); d != "" {
		t.Fatalf("it kept records: the second run differs:\n%s", d)
	}
}

func (c *contract) concurrent(t *testing.T) {
	err := parallel.Each(t.Context(), 8, 16, func(ctx context.Context, _ int) error {
		out, dropped, err := c.step.Do(ctx, cloneAll(c.records))
		if err != nil {
			return err
		}
		if d := cmp.Diff(c.want, show(out, dropped)); d != "" {
			return errors.New(d)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

func (c *contract) cancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := c.step.Do(ctx, cloneAll(c.records)); err != nil && !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled context gave %v", err)
	}
}

// Document makes a document of blocks. An error among them is yielded in its
// place.
func Document(name string, blocks ...any) *drydock.Document {
	return &drydock.Document{
		File: &drydock.File{Source: "src", Name: name, SHA256: strings.Repeat("11", 32)},
		Blocks: func(context.Context) iter.Seq2[drydock.Block, error] {
			return func(yield func(drydock.Block, error) bool) {
				for _, b := range blocks {
					ok := false
					switch b := b.(type) {
					case drydock.Block:
						ok = yield(b, nil)
					case error:
						ok = yield(drydock.Block{}, b)
					}
					if !ok {
						return
					}
				}
			}
		},
	}
}

// Lines makes the blocks of a text file: one per line, numbered from 1.
func Lines(text string) []any {
	var out []any
	for i, l := range strings.Split(text, "\n") {
		out = append(out, drydock.Block{Text: l, At: drydock.Locator{Line: i + 1}})
	}
	return out
}

// Parse runs a parser and checks what every parser owes: records with distinct
// ids, an origin and one payload; drops with reasons; the same again when asked
// again; an end when the consumer stops.
func Parse(t testing.TB, p drydock.Parser, doc *drydock.Document) ([]*drydock.Record, []*drydock.Drop, error) {
	t.Helper()
	records, drops, last := collect(t, p, doc)
	seen := map[drydock.ID]*drydock.Record{}
	for _, r := range records {
		if other := seen[r.ID]; other != nil || r.ID.IsZero() {
			t.Errorf("id %s stands twice or was not set: %+v and %+v", r.ID, r, other)
		}
		seen[r.ID] = r
		if r.Kind() == "" || r.Origin.File != doc.File {
			t.Errorf("a record without payload or without its file: %+v", r)
		}
	}
	for _, d := range drops {
		if !reason.MatchString(d.Reason) {
			t.Errorf("drop reason %q", d.Reason)
		}
	}
	again, dropsAgain, lastAgain := collect(t, p, doc)
	if d := cmp.Diff(fmt.Sprint(show(records, nil), len(drops), last), fmt.Sprint(show(again, nil), len(dropsAgain), lastAgain)); d != "" {
		t.Errorf("a second parse differs:\n%s", d)
	}
	for range p.Parse(t.Context(), doc) {
		break // must not call us again
	}
	return records, drops, last
}

func collect(t testing.TB, p drydock.Parser, doc *drydock.Document) (records []*drydock.Record, drops []*drydock.Drop, last error) {
	t.Helper()
	for r, err := range p.Parse(t.Context(), doc) {
		var d *drydock.Drop
		switch {
		case last != nil:
			t.Fatalf("something came after the error %v", last)
		case errors.As(err, &d):
			drops = append(drops, d)
		case err != nil:
			last = err
		default:
			records = append(records, r)
		}
	}
	return records, drops, last
}
