package dedup_test

import (
	"runtime"
	"slices"
	"testing"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/dedup"
)

// shortTexts are n records of 40 to 60 letters (100 to 150 in English), one in
// ten of them a damaged copy of an earlier one.
func shortTexts(lang string, n int) []*drydock.Record {
	w := newWriter(3)
	out := make([]*drydock.Record, n)
	for i := range out {
		switch {
		case i > 10 && i%10 == 9:
			out[i] = text(w.noise(out[w.IntN(i)].Passage.Text, 1))
		case lang == "zh":
			out[i] = text(w.zh(40 + w.IntN(20)))
		default:
			out[i] = text(w.en(100 + w.IntN(50)))
		}
	}
	return records(0, out)
}

// questions are n questions of their own, one in ten repeating another.
func questions(n int) []*drydock.Record {
	w := newWriter(4)
	out := make([]*drydock.Record, n)
	for i := range out {
		q := w.question("zh")
		if i%10 == 9 {
			c := *out[w.IntN(i)].Question
			q = &c
			q.Stem = w.noise(q.Stem, 1)
		}
		out[i] = &drydock.Record{Question: q}
	}
	return records(0, out)
}

// BenchmarkNear is what one goroutine does to short records: both passes, from
// records in memory. Records that only numbers tell apart are the worst case:
// each is like every other.
func BenchmarkNear(b *testing.B) {
	const n = 50_000
	for _, c := range []struct {
		name string
		make func() []*drydock.Record
	}{
		{"zh", func() []*drydock.Record { return shortTexts("zh", n) }},
		{"en", func() []*drydock.Record { return shortTexts("en", n) }},
		{"questions", func() []*drydock.Record { return questions(n) }},
		{"numbers", func() []*drydock.Record { return many(n) }},
	} {
		b.Run(c.name, func(b *testing.B) {
			list := c.make()
			b.ReportAllocs()
			pairs := 0
			cpu := cpuTime()
			for b.Loop() {
				pairs = len(remove(b, dedup.Options{Threshold: dedup.DefaultThreshold, Workers: 1}, list).Pairs())
			}
			used := (cpuTime() - cpu).Seconds()
			b.ReportMetric(float64(n)*float64(b.N)/used, "records/cpu-s")
			b.ReportMetric(float64(pairs), "pairs")
		})
	}
}

// remove runs a Remover over a list, batch by batch.
func remove(b *testing.B, o dedup.Options, list []*drydock.Record) *dedup.Remover {
	e := dedup.New(o)
	sketch := e.Sketch(0)
	for batch := range slices.Chunk(list, 512) {
		if err := sketch(b.Context(), batch); err != nil {
			b.Fatal(err)
		}
	}
	if err := e.Decide(b.Context()); err != nil {
		b.Fatal(err)
	}
	return e
}

// BenchmarkNearMemory measures what is alive of a record when Decide is done but
// for the index, and the most the process has taken from the system, while all
// texts wait in the file.
func BenchmarkNearMemory(b *testing.B) {
	const n = 200_000
	list := shortTexts("zh", n)
	for b.Loop() {
		var before, sketched, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		e := dedup.New(dedup.Options{Threshold: dedup.DefaultThreshold, Workers: 1, TextMemory: 1, Dir: b.TempDir()})
		sketch := e.Sketch(0)
		for batch := range slices.Chunk(list, 512) {
			if err := sketch(b.Context(), batch); err != nil {
				b.Fatal(err)
			}
		}
		runtime.GC()
		runtime.ReadMemStats(&sketched)
		b.ReportMetric((float64(sketched.HeapAlloc)-float64(before.HeapAlloc))/n, "waiting-B/record")
		if err := e.Decide(b.Context()); err != nil {
			b.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		b.ReportMetric((float64(after.Sys)-float64(before.Sys))/n, "system-B/record")
		runtime.KeepAlive(list)
	}
}
