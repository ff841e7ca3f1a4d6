package report_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"iter"
	"slices"
	"testing"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/dedup/contam"
	"github.com/drydock-ml/drydock/dedup/contam/report"
	"github.com/drydock-ml/drydock/eval/benchmark"
)

// items are two questions of our own.
func items() []benchmark.Item {
	question := func(i int, stem, answer string, texts ...string) benchmark.Item {
		q := drydock.Question{Kind: drydock.Single, Stem: stem, Answer: []string{answer}}
		for k, t := range texts {
			q.Options = append(q.Options, drydock.Option{Label: string(rune('A' + k)), Text: t})
		}
		return benchmark.Item{Index: i, Question: q, Gold: []string{answer}}
	}
	return []benchmark.Item{
		question(7, "拖轮顶推大船时，拖缆与船首尾线的夹角一般不宜小于______。", "B", "与首尾线平行", "约三十度", "不足五度", "任意角度均可"),
		question(9, "When two sailing vessels approach each other with the wind on different sides, which one keeps out of the way?", "A",
			"the one with the wind on the port side", "the one with the wind on the starboard side", "the one to leeward", "the larger one"),
	}
}

func question(ref contam.ItemRef) *drydock.Question {
	all := items()
	i := slices.IndexFunc(all, func(it benchmark.Item) bool { return it.Index == ref.Index })
	return &all[i].Question
}

// rows are training rows: an exact copy, a shuffled one, one with a number
// changed, and two that have nothing to do with the items.
func rows() []string {
	return []string{
		`{"id":"r1","text":"锚地选择应考虑底质、水深与避风条件。"}`,
		`{"id":"r2","question":"拖轮顶推大船时，拖缆与船首尾线的夹角一般不宜小于______。","A":"与首尾线平行","B":"约三十度","C":"不足五度","D":"任意角度均可"}`,
		`{"id":"r3","messages":[{"role":"user","content":"When two sailing vessels approach each other with the wind on different sides, which one keeps out of the way?\nA. the larger one\nB. the one to leeward\nC. the one with the wind on the starboard side\nD. the one with the wind on the port side"},{"role":"assistant","content":"[D]"}]}`,
		`{"id":"r4","text":"A towing vessel shows two masthead lights in a vertical line."}`,
		`{"id":"r5","question":"拖輪頂推大船時，拖纜與船首尾線的夾角一般不宜小於多少？"}`,
	}
}

// hits are what a check of the rows finds.
func hits(t testing.TB, ws *report.Waivers) []report.Hit {
	t.Helper()
	ix, err := contam.NewIndex(items(), benchmark.Ref{Name: "own"}, contam.Config{})
	if err != nil {
		t.Fatal(err)
	}
	s := ix.Scanner()
	var out []report.Hit
	for i, row := range rows() {
		found, err := s.Row([]byte(row))
		if err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256([]byte(row))
		for _, f := range found {
			f.Record.File, f.Record.Line, f.Record.SHA256 = "train.jsonl", i+1, hex.EncodeToString(sum[:])
			h := report.Hit{Row: report.Row{Finding: f, Waived: ws.Count(&f)}, Question: question(f.Item)}
			h.Fail = f.Fail && h.Waived == nil
			h.Fields = report.Fields([]byte(row), nil, &f)
			out = append(out, h)
		}
	}
	if len(out) != 3 {
		t.Fatalf("%d findings", len(out))
	}
	return out
}

func seq(hits []report.Hit) iter.Seq2[report.Hit, error] {
	return func(yield func(report.Hit, error) bool) {
		for _, h := range hits {
			if !yield(h, nil) {
				return
			}
		}
	}
}

// summary books the hits.
func summary(hits []report.Hit) *report.Summary {
	s := &report.Summary{
		Version: "v0", Config: "sha256:" + fmt.Sprintf("%064d", 1), Records: len(rows()), Items: 2, Bytes: 900,
		Benchmarks: []report.Benchmark{{Name: "own", Ref: "own", Items: 2, SHA256: fmt.Sprintf("%064d", 2)}},
		Inputs:     []report.Input{{File: "train.jsonl", SHA256: fmt.Sprintf("%064d", 3), Records: len(rows()), Bytes: 900}},
	}
	for i := range hits {
		s.Add(&hits[i].Row)
		if hits[i].Fail {
			s.Failed++
		}
	}
	if s.Failed > 0 {
		s.Exit = 10
	}
	s.Normalize()
	return s
}
