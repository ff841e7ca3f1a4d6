package report_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/drydock-ml/drydock/dedup/contam"
	"github.com/drydock-ml/drydock/dedup/contam/report"
	"github.com/drydock-ml/drydock/internal/fail"
)

// unitRows are the rows of one unit of a check.
type unitRows struct {
	file, unit int
	rows       []report.Row
}

// check writes report and summary of the units that are a shard's; of 0: of the
// whole check.
func check(units []unitRows, index, of int) report.Part {
	s := &report.Summary{Version: "v0", Config: "sha256:c", Items: 50, Benchmarks: []report.Benchmark{{Name: "b", Ref: "b@1", Items: 50}}}
	var rows []byte
	for f := range 3 {
		s.Inputs = append(s.Inputs, report.Input{File: fmt.Sprintf("f%d.jsonl", f), SHA256: fmt.Sprint(f)})
	}
	if of > 0 {
		s.Shard = &report.Shard{Index: index, Of: of}
	}
	for n, u := range units {
		if of > 0 && n%of != index-1 {
			continue
		}
		s.Inputs[u.file].Records += 10
		s.Inputs[u.file].Bytes += 100
		s.Records += 10
		s.Bytes += 100
		for i := range u.rows {
			s.Add(&u.rows[i])
			rows = u.rows[i].Append(rows)
			if u.rows[i].Fail {
				s.Failed++
			}
		}
		if of > 0 && len(u.rows) > 0 {
			s.Shard.Units = append(s.Shard.Units, report.ShardUnit{File: u.file, Unit: u.unit, Rows: len(u.rows)})
		}
	}
	switch {
	case s.Failed > 0:
		s.Exit = 10
	case s.Records == 0 && of == 0:
		s.Exit = 3
	}
	sum := sha256.Sum256(rows)
	s.RowsSHA256 = hex.EncodeToString(sum[:])
	s.Normalize()
	return report.Part{Name: fmt.Sprintf("part%d", index), Summary: s, Rows: rows}
}

func TestMergeIsOneRun(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var units []unitRows
		for f := range 3 {
			for u := range rapid.IntRange(0, 6).Draw(t, "units") {
				unit := unitRows{file: f, unit: u}
				for i := range rapid.IntRange(0, 3).Draw(t, "rows") {
					v := rapid.SampledFrom(contam.Verdicts()).Draw(t, "verdict")
					unit.rows = append(unit.rows, report.Row{Finding: contam.Finding{
						Record: contam.Place{File: fmt.Sprintf("f%d.jsonl", f), Line: 10*u + i + 1}, Verdict: v,
						Item: contam.ItemRef{Benchmark: "b", Index: rapid.IntRange(0, 9).Draw(t, "item")}, Fail: v == contam.Exact, Score: 0.5,
					}})
				}
				units = append(units, unit)
			}
		}
		whole := check(units, 0, 0)
		of := rapid.IntRange(1, 8).Draw(t, "of")
		var parts []report.Part
		for _, i := range rapid.Permutation(seqTo(of)).Draw(t, "order") {
			parts = append(parts, check(units, i, of))
		}
		var rows bytes.Buffer
		s, err := report.Merge(parts, &rows)
		if err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256(rows.Bytes())
		s.RowsSHA256 = hex.EncodeToString(sum[:])
		if !bytes.Equal(rows.Bytes(), whole.Rows) {
			t.Errorf("rows differ:\n%s", cmp.Diff(string(whole.Rows), rows.String()))
		}
		want, _ := whole.Summary.MarshalFile()
		got, _ := s.MarshalFile()
		if d := cmp.Diff(string(want), string(got)); d != "" {
			t.Errorf("summaries (-want +got):\n%s", d)
		}
	})
}

func seqTo(n int) []int {
	var out []int
	for i := 1; i <= n; i++ {
		out = append(out, i)
	}
	return out
}

func TestMergeRefuses(t *testing.T) {
	t.Parallel()
	units := []unitRows{}
	for u := range 6 {
		units = append(units, unitRows{unit: u, rows: []report.Row{{Finding: contam.Finding{
			Record: contam.Place{File: "f0.jsonl", Line: u + 1}, Verdict: contam.Exact, Fail: true, Score: 1, Item: contam.ItemRef{Benchmark: "b", Index: u},
		}}}})
	}
	part := func(i int, change ...func(*report.Part)) report.Part {
		p := check(units, i, 3)
		for _, c := range change {
			c(&p)
		}
		return p
	}
	for name, c := range map[string]struct {
		parts []report.Part
		says  string
	}{
		"none":        {nil, "no parts"},
		"missing":     {[]report.Part{part(1), part(3)}, "shard 2 of 3 is missing"},
		"twice":       {[]report.Part{part(1), part(2), part(2), part(3)}, "both shard 2"},
		"other split": {[]report.Part{part(1), part(2), check(units, 3, 4)}, "of 4"},
		"whole":       {[]report.Part{check(units, 0, 0)}, "whole check"},
		"settings":    {[]report.Part{part(1), part(2), part(3, func(p *report.Part) { p.Summary.Config = "sha256:d" })}, "the settings"},
		"version":     {[]report.Part{part(1), part(2), part(3, func(p *report.Part) { p.Summary.Version = "v1" })}, "version"},
		"benchmark": {[]report.Part{part(1), part(2), part(3, func(p *report.Part) {
			p.Summary.Benchmarks = []report.Benchmark{{Name: "b", SHA256: "other"}}
		})}, "benchmarks"},
		"inputs":   {[]report.Part{part(1), part(2), part(3, func(p *report.Part) { p.Summary.Inputs[0].SHA256 = "other" })}, "inputs"},
		"redacted": {[]report.Part{part(1), part(2), part(3, func(p *report.Part) { p.Summary.Redacted = true })}, "redaction"},
		"waivers": {[]report.Part{part(1), part(2), part(3, func(p *report.Part) {
			p.Summary.Waivers = &report.WaiverState{SHA256: "w"}
		})}, "waivers"},
		"torn row": {[]report.Part{part(1), part(2), part(3, func(p *report.Part) { p.Rows = p.Rows[:len(p.Rows)-9] })}, "cut off in row 2"},
		"lost row": {[]report.Part{part(1), part(2), part(3, func(p *report.Part) {
			p.Rows = p.Rows[:bytes.IndexByte(p.Rows, '\n')+1]
		})}, "has 1 row"},
		"changed": {[]report.Part{part(1), part(2), part(3, func(p *report.Part) {
			p.Rows = bytes.Replace(p.Rows, []byte("true"), []byte("tame"), 1)
		})}, "sha256"},
		"overlap": {[]report.Part{part(1), part(2), part(3, func(p *report.Part) { p.Summary.Shard.Units[0].Unit = 0 })}, "overlap"},
		"no unit": {[]report.Part{part(1), part(2), part(3, func(p *report.Part) { p.Summary.Shard.Units[0].File = 7 })}, "which there is not"},
		"units":   {[]report.Part{part(1), part(2), part(3, func(p *report.Part) { p.Summary.Shard.Units[0].Rows = 5 })}, "units of the summary"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := report.Merge(c.parts, &bytes.Buffer{})
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%v does not say %q", err, c.says)
			}
		})
	}
}

func TestSummaryReadsBack(t *testing.T) {
	t.Parallel()
	p := check(nil, 2, 5)
	b, err := p.Summary.MarshalFile()
	if err != nil {
		t.Fatal(err)
	}
	got, err := report.ParseSummary("s", b)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(p.Summary, got); d != "" {
		t.Error(d)
	}
	for _, bad := range []string{"", "{", `{"schema":"x"}`, `{"schema":"drydock.contam.summary/1","shard":{"index":4,"of":3}}`} {
		if _, err := report.ParseSummary("s", []byte(bad)); err == nil {
			t.Errorf("%q is read", bad)
		}
	}
}

func TestWaivers(t *testing.T) {
	t.Parallel()
	all := hits(t, nil)
	line := func(h report.Hit, expires string) string {
		w := report.Waiver{Record: h.Record.SHA256, Item: h.Item, Reason: "quoted on purpose", Author: "zhao", Expires: expires}
		return string(w.Append(nil))
	}
	stale := strings.Replace(line(all[2], "2099-12-31"), all[2].Record.SHA256, strings.Repeat("0", 64), 1)
	file := line(all[0], "2027-03-01") + line(all[1], "2026-01-31") + stale
	today := time.Date(2027, 3, 1, 23, 0, 0, 0, time.UTC)
	ws, err := report.ReadWaivers("w.jsonl", []byte(file), today)
	if err != nil {
		t.Fatal(err)
	}
	got := hits(t, ws)
	if got[0].Fail || got[0].Waived == nil || !got[1].Fail || got[1].Waived != nil || !got[2].Fail {
		t.Errorf("waived: %v %v %v", got[0].Waived, got[1].Waived, got[2].Waived)
	}
	var states []string
	for _, e := range ws.State().Entries {
		states = append(states, fmt.Sprint(e.State, " ", e.Findings))
	}
	if d := cmp.Diff([]string{"used 1", "expired 1", "unmatched 0"}, states); d != "" {
		t.Error(d)
	}
	later, err := report.ReadWaivers("w.jsonl", []byte(file), today.Add(2*time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	if later.Find(&all[0].Finding) != nil {
		t.Error("a waiver outlives its last day")
	}
	row := got[0].Append(nil)
	if back, err := report.ParseRow(row); err != nil || back.Waived == nil || back.Waived.Reason != "quoted on purpose" {
		t.Errorf("%v: %s", err, row)
	}
}

func TestBadWaivers(t *testing.T) {
	t.Parallel()
	good := string((&report.Waiver{Record: strings.Repeat("a", 64), Item: contam.ItemRef{Benchmark: "b"}, Reason: "r", Author: "a", Expires: "2030-01-01"}).Append(nil))
	for name, c := range map[string]struct{ line, says string }{
		"no JSON":       {"reason: x", "not valid JSON"},
		"typo":          {strings.Replace(good, `"expires"`, `"expiry"`, 1), "expiry"},
		"no hash":       {strings.Replace(good, "aaaa", "", 1), "is no sha256"},
		"no item":       {strings.Replace(good, `"item":{"benchmark":"b","index":0},`, "", 1), "names no item"},
		"no reason":     {strings.Replace(good, `"reason":"r"`, `"reason":" "`, 1), "no reason"},
		"no author":     {strings.Replace(good, `"author":"a",`, "", 1), "no author"},
		"no such day":   {strings.Replace(good, "2030-01-01", "2030-02-30", 1), "is no day"},
		"never expires": {strings.Replace(good, "2030-01-01", "", 1), "is no day"},
		"two on a line": {strings.TrimSpace(good) + good, "something follows"},
		"twice":         {good, "line 1, too"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := report.ReadWaivers("w.jsonl", []byte(good+strings.TrimSpace(c.line)+"\n"), time.Unix(0, 0))
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Fatalf("%v does not say %q", err, c.says)
			}
			if e := fail.All(err)[0]; e.Where.Line != 2 || fail.Code(err) != 2 {
				t.Errorf("line %d, code %d", e.Where.Line, fail.Code(err))
			}
		})
	}
}

func FuzzReadWaivers(f *testing.F) {
	f.Add([]byte(`{"record":"sha256:00","item":{"benchmark":"b","index":1},"reason":"r","author":"a","expires":"2030-01-01"}`))
	f.Add([]byte("\ufeff{}\n\n[]"))
	f.Fuzz(func(t *testing.T, data []byte) {
		ws, _ := report.ReadWaivers("w", data, time.Unix(0, 0))
		ws.State()
	})
}

func TestCompare(t *testing.T) {
	t.Parallel()
	row := func(line, item int, v contam.Verdict, fails bool) report.Row {
		return report.Row{Finding: contam.Finding{Record: contam.Place{File: "f", Line: line}, Item: contam.ItemRef{Benchmark: "b", Index: item}, Verdict: v, Fail: fails, Score: 0.9}}
	}
	a := []report.Row{row(1, 1, contam.Exact, true), row(2, 2, contam.Near, true), row(3, 3, contam.Variant, false)}
	b := []report.Row{row(1, 1, contam.Exact, true), row(2, 2, contam.Variant, false), row(4, 4, contam.StemOnly, true), row(4, 4, contam.Variant, false)}
	c := report.Compare(a, b, 10)
	share := 0.8
	want := &report.Comparison{
		Schema: report.CompareSchema, Both: 2, OnlyA: 1, OnlyB: 1, Same: 1, Agreement: 0.5, FailBoth: 1, FailOnlyA: 1, FailOnlyB: 1,
		Records: 10, RecordAgreement: &share, Changes: []report.Change{{A: "near", B: "variant", Pairs: 1}},
		Pairs: []report.Pair{
			{Record: report.PairRecord{File: "f", Line: 2}, Item: report.Item{Benchmark: "b", Index: 2}, VerdictA: "near", VerdictB: "variant", ScoreA: .9, ScoreB: .9, FailA: true},
			{Record: report.PairRecord{File: "f", Line: 3}, Item: report.Item{Benchmark: "b", Index: 3}, VerdictA: "variant", ScoreA: .9},
			{Record: report.PairRecord{File: "f", Line: 4}, Item: report.Item{Benchmark: "b", Index: 4}, VerdictB: "stem_only", ScoreB: .9, FailB: true},
		},
	}
	if d := cmp.Diff(want, c); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if same := report.Compare(nil, nil, 0); same.Agreement != 1 || same.RecordAgreement != nil {
		t.Errorf("two empty reports: %+v", same)
	}
}
