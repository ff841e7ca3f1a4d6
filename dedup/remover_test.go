package dedup_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/dedup"
	"github.com/drydock-ml/drydock/internal/parallel"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func question(stem, answer string, texts ...string) *drydock.Question {
	q := &drydock.Question{Kind: drydock.Single, Stem: stem}
	if answer != "" {
		q.Answer = []string{answer}
	}
	for i, s := range texts {
		q.Options = append(q.Options, drydock.Option{Label: string(rune('A' + i)), Text: s})
	}
	return q
}

var bank = &drydock.File{Source: "bank", Name: "题库.txt"}

// place gives records ids and places in order.
func place(unit int, records ...*drydock.Record) []*drydock.Record {
	for i, r := range records {
		r.Origin = drydock.Origin{File: bank, At: drydock.Locator{Page: unit + 1, Line: i + 1}}
		r.ID = drydock.NewID("bank", bank.Name, r.Origin.At.String())
	}
	return records
}

func q(stem, answer string, texts ...string) *drydock.Record {
	return &drydock.Record{Question: question(stem, answer, texts...)}
}

// dedupe runs both passes and says what became of each record.
func dedupe(t testing.TB, units ...[]*drydock.Record) (kept []string, dropped []string, e *dedup.Remover) {
	t.Helper()
	e = dedup.New(dedup.Options{})
	for i, u := range units {
		if err := e.Sketch(i)(t.Context(), u); err != nil {
			t.Fatal(err)
		}
	}
	if err := e.Decide(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, u := range units {
		ids := make([]drydock.ID, len(u))
		for i, r := range u {
			ids[i] = r.ID
		}
		out, drops, err := e.Do(t.Context(), u)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := drydock.Account(ids, out, drops); err != nil {
			t.Fatal(err)
		}
		for _, r := range out {
			kept = append(kept, r.Origin.At.String())
		}
		for _, d := range drops {
			_, at, _ := strings.Cut(d.Detail, bank.Name+" ")
			dropped = append(dropped, fmt.Sprintf("%s %s → %s", d.Record.Origin.At, d.Reason, strings.TrimSuffix(at, ")")))
		}
	}
	return kept, dropped, e
}

func TestEqual(t *testing.T) {
	t.Parallel()
	yes := true
	for _, c := range []struct {
		name  string
		units [][]*drydock.Record
		want  []string
	}{
		{"nothing", nil, nil},
		{"empty units", [][]*drydock.Record{nil, {}}, nil},
		{"options in another order, other width and script", [][]*drydock.Record{
			place(0, q("两船对遇时应____。", "A", "向右转向", "停车", "甲板")),
			place(1, q("兩船對遇時，應（　）", "C", "甲板", "停　车", "向右轉向")),
		}, []string{"p2 l1 duplicate_exact → p1 l1"}},
		{"another answer", [][]*drydock.Record{
			place(0, q("对遇时", "A", "右转", "停车"), q("对遇时", "B", "右转", "停车"), q("对遇时", "A", "停车", "右转")),
		}, []string{"p1 l2 conflicting_answer → p1 l1", "p1 l3 conflicting_answer → p1 l1"}},
		{"the first with an answer stays", [][]*drydock.Record{
			place(0, q("对遇时", "", "右转", "停车"), q("对遇时", "B", "右转", "停车"), q("对遇时", "", "右转", "停车")),
		}, []string{"p1 l1 duplicate_exact → p1 l2", "p1 l3 duplicate_exact → p1 l2"}},
		{"other options are another question", [][]*drydock.Record{
			place(0, q("对遇时", "A", "右转", "停车"), q("对遇时", "A", "右转", "停车", "左转")),
		}, nil},
		{"other signs are another question", [][]*drydock.Record{
			place(0, q("5°C以上", "A", "对", "错"), q("-5°C以上", "A", "对", "错"), q("1.5海里", "A", "对", "错"), q("15海里", "A", "对", "错")),
		}, nil},
		{"symbols keep their case, words do not", [][]*drydock.Record{
			place(0, q("词头 M的含义", "A", "10²", "102"), q("词头 m的含义", "B", "10²", "102"), q("功率为5 mW", "A", "是", "否"), q("功率为5 MW", "A", "是", "否"),
				q("10²为多少", "A", "是", "否"), q("102为多少", "A", "是", "否"), q("A vessel AGROUND shall", "A", "Stop", "go"), q("a Vessel aground shall", "A", "stop", "Go")),
		}, []string{"p1 l8 duplicate_exact → p1 l7"}},
		{"texts that fold to nothing", [][]*drydock.Record{
			place(0, &drydock.Record{Passage: &drydock.Passage{Text: "……"}}, &drydock.Record{Passage: &drydock.Passage{Text: "——"}}, &drydock.Record{Passage: &drydock.Passage{Text: " ——"}}),
		}, []string{"p1 l3 duplicate_exact → p1 l2"}},
		{"judge", [][]*drydock.Record{
			place(0, &drydock.Record{Question: &drydock.Question{Kind: drydock.Judge, Stem: "船长负责。", Answer: []string{"true"}}},
				&drydock.Record{Question: &drydock.Question{Kind: drydock.Judge, Stem: "船长负责", Answer: []string{"false"}}},
				q("船长负责", "")),
		}, []string{"p1 l2 conflicting_answer → p1 l1"}},
		{"open answers are part of the question", [][]*drydock.Record{
			place(0, &drydock.Record{Question: &drydock.Question{Kind: drydock.Short, Stem: "何谓让路船？", Answer: []string{"甲"}}},
				&drydock.Record{Question: &drydock.Question{Kind: drydock.Short, Stem: "何谓让路船？", Answer: []string{"乙"}}},
				&drydock.Record{Question: &drydock.Question{Kind: drydock.Short, Stem: "何谓让路船", Answer: []string{"甲。"}}}),
		}, []string{"p1 l3 duplicate_exact → p1 l1"}},
		{"figures", [][]*drydock.Record{
			place(0, figure("A", "图1"), figure("B", "图2"), figure("B", "图1"), figure("A", ""), figure("B", ""), figure("B", "")),
		}, []string{"p1 l3 conflicting_answer → p1 l1", "p1 l6 duplicate_exact → p1 l5"}},
		{"several right options", [][]*drydock.Record{
			place(0, multi("AB", "甲", "乙", "丙"), multi("BC", "丙", "甲", "乙"), multi("AC", "甲", "乙", "丙")),
		}, []string{"p1 l2 duplicate_exact → p1 l1", "p1 l3 conflicting_answer → p1 l1"}},
		{"kinds are apart", [][]*drydock.Record{
			place(0, &drydock.Record{Passage: &drydock.Passage{Text: "文"}}, q("文", ""), &drydock.Record{Chat: &drydock.Chat{Messages: []drydock.Message{{Content: "文"}}}},
				&drydock.Record{Chat: &drydock.Chat{Messages: []drydock.Message{{Content: "文"}}, Label: &yes}}, &drydock.Record{}, &drydock.Record{}),
			place(1, &drydock.Record{Chat: &drydock.Chat{Messages: []drydock.Message{{Content: "文 "}}}}),
		}, []string{"p2 l1 duplicate_exact → p1 l3"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, got, e := dedupe(t, c.units...)
			if d := cmp.Diff(c.want, got); d != "" {
				t.Error(d)
			}
			for i, p := range e.Pairs() {
				if got := fmt.Sprintf("%s %s → %s", p.Removed.At, p.Reason, p.Kept.At); got != c.want[i] {
					t.Errorf("pair %d is %s, want %s", i, got, c.want[i])
				}
			}
		})
	}
}

func figure(answer, name string) *drydock.Record {
	r := q("图示灯号表示", answer, "锚泊", "拖带")
	r.Question.NeedsFigure = true
	if name != "" {
		r.Question.Figures = []string{name}
	}
	return r
}

func multi(answer string, texts ...string) *drydock.Record {
	r := q("多选", "", texts...)
	r.Question.Kind = drydock.Multiple
	r.Question.Answer = strings.Split(answer, "")
	return r
}

func TestDoIsAStep(t *testing.T) {
	t.Parallel()
	records := many(300) // every tenth repeats another
	e := dedup.New(dedup.Options{})
	if err := e.Sketch(0)(t.Context(), records); err != nil {
		t.Fatal(err)
	}
	if _, _, err := e.Do(t.Context(), records); err == nil {
		t.Error("Do before Decide must fail")
	}
	if err := e.Decide(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := e.Decide(t.Context()); err == nil {
		t.Error("a second Decide must fail")
	}
	var _ drydock.Step = e
	err := parallel.Each(t.Context(), 8, 16, func(ctx context.Context, n int) error {
		kept, dropped := 0, 0
		for b := range slices.Chunk(many(300), 1+n*20) { // any batch size, many goroutines
			ids := make([]drydock.ID, len(b))
			for i, r := range b {
				ids[i] = r.ID
			}
			out, drops, err := e.Do(ctx, b)
			if err != nil {
				return err
			}
			if _, err := drydock.Account(ids, out, drops); err != nil {
				return err
			}
			kept, dropped = kept+len(out), dropped+len(drops)
		}
		if kept != 270 || dropped != 30 || len(e.Pairs()) != 30 {
			return fmt.Errorf("%d kept, %d dropped, %d pairs", kept, dropped, len(e.Pairs()))
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

func TestSameIDTwice(t *testing.T) {
	t.Parallel()
	u := place(0, q("甲", "A", "一", "二"))
	e := dedup.New(dedup.Options{})
	for i := range 2 {
		if err := e.Sketch(i)(t.Context(), u); err != nil {
			t.Fatal(err)
		}
	}
	if err := e.Decide(t.Context()); err == nil || !strings.Contains(err.Error(), "two records have the id") {
		t.Errorf("Decide = %v", err)
	}
}

func TestCancelled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	e := dedup.New(dedup.Options{})
	if err := e.Sketch(0)(ctx, nil); err == nil {
		t.Error("Sketch went on")
	}
	if err := e.Decide(ctx); err == nil {
		t.Error("Decide went on")
	}
}

func TestPairJSON(t *testing.T) {
	t.Parallel()
	p := dedup.Pair{
		Removed: dedup.Ref{ID: drydock.ID{1}, File: bank, At: drydock.Locator{Sheet: "题 库", Row: 3}},
		Kept:    dedup.Ref{ID: drydock.ID{2}}, Reason: dedup.Near, Similarity: 0.95, Differs: "的→之",
	}
	want := `{"removed":{"id":"01000000000000000000000000000000","source":"bank","file":"题库.txt","locator":"sheet:题%20库 r3"},"kept":{"id":"02000000000000000000000000000000","source":"","file":"","locator":""},"reason":"duplicate_near","similarity":0.9500,"differs":"的→之","cluster":"02000000000000000000000000000000","schema":"drydock.dedup.pair/1"}` + "\n"
	if d := cmp.Diff(want, string(p.AppendJSON(nil))); d != "" {
		t.Error(d)
	}
}

// The answer does not depend on how units are timed, cut into batches or put on
// workers, every locator comes back whole, and what is kept has no equal left.
func TestEqualDoesNotDependOnTiming(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		units := make([][]*drydock.Record, rapid.IntRange(0, 6).Draw(rt, "units"))
		files := []*drydock.File{bank, {Source: "b", Name: "b"}, nil}
		n := 0
		for i := range units {
			for range rapid.IntRange(0, 12).Draw(rt, "records") {
				n++
				r := q(fmt.Sprint("题", rapid.IntRange(0, 5).Draw(rt, "stem")), rapid.SampledFrom([]string{"", "A", "B"}).Draw(rt, "answer"), "甲", "乙")
				r.Origin = drydock.Origin{File: rapid.SampledFrom(files).Draw(rt, "file"), At: drydock.Locator{
					Line: n, Page: rapid.IntRange(0, 300).Draw(rt, "page"), Sheet: rapid.SampledFrom([]string{"", "一", "二 三"}).Draw(rt, "sheet"),
				}}
				r.ID = drydock.NewID("s", "f", fmt.Sprint(n))
				units[i] = append(units[i], r)
			}
		}
		run := func(workers int, order []int, batch int) []dedup.Pair {
			e := dedup.New(dedup.Options{Workers: workers})
			err := parallel.Each(context.Background(), workers, len(order), func(ctx context.Context, i int) error {
				sketch := e.Sketch(order[i])
				for b := range slices.Chunk(units[order[i]], batch) {
					if err := sketch(ctx, b); err != nil {
						return err
					}
				}
				return nil
			})
			if err != nil {
				rt.Fatal(err)
			}
			if err := e.Decide(context.Background()); err != nil {
				rt.Fatal(err)
			}
			return e.Pairs()
		}
		order := make([]int, len(units))
		for i := range order {
			order[i] = i
		}
		want := run(1, order, 100)
		rand.New(rand.NewPCG(uint64(n), 1)).Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
		if d := cmp.Diff(want, run(4, order, 1+n%3)); d != "" {
			rt.Fatal(d)
		}
		removed := map[drydock.ID]bool{}
		byID := map[drydock.ID]*drydock.Record{}
		for _, p := range want {
			removed[p.Removed.ID] = true
		}
		stems := map[string]bool{}
		for _, u := range units {
			for _, r := range u {
				byID[r.ID] = r
				if removed[r.ID] {
					continue
				}
				if stems[r.Question.Stem] {
					rt.Fatalf("%s is kept twice", r.Question.Stem)
				}
				stems[r.Question.Stem] = true
			}
		}
		for _, p := range want {
			for _, ref := range []dedup.Ref{p.Removed, p.Kept} {
				if r := byID[ref.ID]; r.Origin.At != ref.At || r.Origin.File != ref.File {
					rt.Fatalf("%v came back as %v", r.Origin, ref)
				}
			}
			if removed[p.Kept.ID] {
				rt.Fatalf("%s stands for another and was removed", p.Kept)
			}
		}
	})
}

func many(n int) []*drydock.Record {
	out := make([]*drydock.Record, n)
	for i := range out {
		r := q(fmt.Sprintf("在能见度不良的水域中航行，第%d号船舶应当采取的行动是____。", i%(n*9/10)), "B",
			"保持航向和航速不变", "以安全航速行驶并备车", "立即停车并鸣放五声短声", fmt.Sprintf("转向%d度", i%(n*9/10)%360))
		r.Origin = drydock.Origin{File: bank, At: drydock.Locator{Line: i + 1}}
		r.ID = drydock.NewID("b", "f", fmt.Sprint(i))
		out[i] = r
	}
	return out
}

func bytesOf(records []*drydock.Record) (n int64) {
	for _, r := range records {
		n += int64(len(r.Question.Stem))
		for _, o := range r.Question.Options {
			n += int64(len(o.Text))
		}
	}
	return n
}

func BenchmarkSketch(b *testing.B) {
	records := many(2000)
	b.SetBytes(bytesOf(records))
	b.ReportAllocs()
	for b.Loop() {
		if err := dedup.New(dedup.Options{}).Sketch(0)(b.Context(), records); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDecide(b *testing.B) {
	const n = 200_000
	records := many(n)
	b.ReportAllocs()
	for b.Loop() {
		b.StopTimer()
		runtime.GC()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		e := dedup.New(dedup.Options{})
		s := e.Sketch(0)
		for c := range slices.Chunk(records, 512) {
			if err := s(b.Context(), c); err != nil {
				b.Fatal(err)
			}
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/n, "B/record")
		b.StartTimer()
		if err := e.Decide(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/record")
}
