package dedup_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/dedup"
	"github.com/drydock-ml/drydock/internal/parallel"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// drawRecords makes records of all kinds, many of them edited or twisted copies of
// others, from a few seeds.
func drawRecords(t *rapid.T) []*drydock.Record {
	w := newWriter(rapid.Uint64().Draw(t, "seed"))
	n := rapid.IntRange(1, 120).Draw(t, "n")
	lang := rapid.SampledFrom([]string{"zh", "en"}).Draw(t, "lang")
	write := w.zh
	if lang == "en" {
		write = w.en
	}
	out := make([]*drydock.Record, n)
	for i := range out {
		var from *drydock.Record
		if i > 0 && w.IntN(3) > 0 {
			from = out[w.IntN(i)]
		}
		alter := func(s string) string {
			if len([]rune(s)) < 4 {
				return s
			}
			return edits[w.IntN(4)].do(w, s)
		}
		switch {
		case from != nil && from.Passage != nil:
			out[i] = text(alter(from.Passage.Text))
		case from != nil && from.Question != nil:
			q := *from.Question
			q.Stem = alter(q.Stem)
			q.Options = slices.Clone(q.Options)
			k := w.IntN(len(q.Options))
			q.Options[0].Text, q.Options[k].Text = q.Options[k].Text, q.Options[0].Text
			out[i] = &drydock.Record{Question: &q}
		case from != nil && from.Chat != nil:
			m := from.Chat.Messages
			if w.IntN(2) == 0 {
				out[i] = chat(alter(m[0].Content), m[1].Content)
			} else {
				out[i] = chat(m[0].Content, alter(m[1].Content))
			}
		case w.IntN(4) == 0:
			out[i] = text([]string{"", "是", "…", "⚓", write(6), write(300)}[w.IntN(6)])
		case w.IntN(3) == 0:
			tw := twists[w.IntN(len(twists))]
			a, b := tw.pair(w, lang, 40)
			out[i] = text([]string{a, b}[w.IntN(2)])
		case w.IntN(2) == 0:
			out[i] = &drydock.Record{Question: w.question(lang)}
		default:
			out[i] = chat(write(20), write(60))
		}
	}
	return records(0, out)
}

// run finds the pairs of records that are cut into units of the given size.
func run(t *rapid.T, list []*drydock.Record, unit, batch, workers int, prefer func(*drydock.File) int, memory int64) []dedup.Pair {
	e := dedup.New(dedup.Options{Threshold: dedup.DefaultThreshold, Workers: workers, Prefer: prefer, TextMemory: memory})
	defer e.Close()
	units := slices.Collect(slices.Chunk(list, unit))
	err := parallel.Each(context.Background(), workers, len(units), func(ctx context.Context, i int) error {
		sketch := e.Sketch(i)
		for b := range slices.Chunk(units[i], batch) {
			if err := sketch(ctx, b); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil {
		err = e.Decide(context.Background())
	}
	if err != nil {
		t.Fatal(err)
	}
	return e.Pairs()
}

// What is found does not depend on units, batches, workers or where the texts
// wait; what stays has nothing left to remove; who stays is who is preferred.
func TestNearProperties(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		list := drawRecords(t)
		files := []*drydock.File{{Name: "a"}, {Name: "b"}, {Name: "c"}}
		rank := map[*drydock.File]int{}
		for i, f := range files {
			rank[f] = rapid.IntRange(0, 2).Draw(t, fmt.Sprint("rank ", i))
		}
		at := map[drydock.ID]int{}
		for i, r := range list {
			r.Origin.File = files[i*len(files)/len(list)]
			at[r.ID] = i
		}
		prefer := func(f *drydock.File) int { return rank[f] }
		want := run(t, list, len(list), 512, 1, prefer, 0)
		got := run(t, list, rapid.IntRange(1, 50).Draw(t, "unit"), rapid.IntRange(1, 9).Draw(t, "batch"), 4, prefer, 1)
		if d := cmp.Diff(want, got); d != "" {
			t.Fatalf("another cut, another result:\n%s", d)
		}
		gone := map[drydock.ID]bool{}
		for _, p := range want {
			if !p.Listed {
				gone[p.Removed.ID] = true
			}
		}
		for _, p := range want {
			if p.Removed.ID == p.Kept.ID || gone[p.Kept.ID] {
				t.Fatalf("%v stands for %v and is gone, or itself", p.Kept, p.Removed)
			}
			x, y := list[at[p.Kept.ID]], list[at[p.Removed.ID]]
			if better(y, x, prefer, at) {
				t.Fatalf("%v is preferred to %v", p.Removed, p.Kept)
			}
			if p.Reason == dedup.Near && p.Similarity < dedup.DefaultThreshold-0.2 {
				t.Fatalf("near at %v", p.Similarity)
			}
		}
		var rest []*drydock.Record
		for _, r := range list {
			if !gone[r.ID] {
				rest = append(rest, r)
			}
		}
		for _, p := range run(t, rest, len(rest), 512, 2, prefer, 0) {
			if !p.Listed {
				t.Fatalf("%v was left over: %s %s", p.Removed, p.Reason, p.Differs)
			}
		}
	})
}

// better is the keep policy in other words.
func better(x, y *drydock.Record, prefer func(*drydock.File) int, at map[drydock.ID]int) bool {
	if a, b := prefer(x.Origin.File), prefer(y.Origin.File); a != b {
		return a < b
	}
	return at[x.ID] < at[y.ID]
}

// FuzzNear feeds two texts as every kind of record: nothing panics, equal ones are
// duplicates, the order does not decide whether two are one.
func FuzzNear(f *testing.F) {
	f.Add("船舶在狭水道航行时，应尽量靠近本船右舷。", "船舶在狭水道航行时，应尽量靠近本船左舷")
	f.Add("", "……")
	f.Add("5 mW\xff", "5 MW")
	f.Add("A vessel engaged in fishing shall exhibit two lights", "A vesse1 engaged in fishing shal exhibit 2 lights.")
	f.Add("1.5.5.5.5.5.5.5", "1.5.5.5.5.5.5.5.")
	f.Fuzz(func(t *testing.T, a, b string) {
		kinds := []func(string) *drydock.Record{
			text,
			func(s string) *drydock.Record { return q(s, "A", "右转", s, "停车") },
			func(s string) *drydock.Record { return chat(s, "是") },
			func(s string) *drydock.Record { return chat("怎样避让？", s) },
		}
		for _, kind := range kinds {
			if got := relation(t, kind(a), kind(a)); got != dedup.Duplicate {
				t.Errorf("%q and itself: %q", a, got)
			}
			relation(t, kind(a), kind(b))
		}
	})
}
