package contam

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/drydock-ml/drydock"
)

func input(name, content string) Input {
	return Input{Name: name, Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(content)), nil }}
}

// checkAll runs a check and returns report and summary as they are written.
func checkAll(t testing.TB, ix *Index, o Options, in ...Input) (report, summary string, s *Summary) {
	t.Helper()
	var b []byte
	o.Report = func(f *Finding) error { b = f.Append(b); return nil }
	s, err := ix.Check(t.Context(), in, o)
	if err != nil {
		t.Fatal(err)
	}
	sum, err := s.Append(nil)
	if err != nil {
		t.Fatal(err)
	}
	if !json.Valid(sum) {
		t.Errorf("summary is not JSON: %s", sum)
	}
	return string(b), string(sum), s
}

// places lists line, item and verdict of every finding of a report.
func places(report string) (out []string) {
	for _, line := range strings.Split(strings.TrimSpace(report), "\n") {
		var f struct {
			Record struct {
				ID      string
				File    string
				Line    int
				Pointer string
			}
			Item    struct{ Index int }
			Verdict string
		}
		if json.Unmarshal([]byte(line), &f) == nil {
			out = append(out, fmt.Sprintf("%s:%d%s %d %s", f.Record.File, f.Record.Line, f.Record.Pointer, f.Item.Index, f.Verdict))
		}
	}
	return out
}

func TestCheckContainers(t *testing.T) {
	t.Parallel()
	ix := testIndex(t)
	one, two := string(row(render(0))), string(row(render(7)))
	for _, c := range []struct {
		name, content string
		want          []string
		records       int
	}{
		{"a.jsonl", one + "\n\n" + two, []string{"a.jsonl:1/text 0 exact", "a.jsonl:3/text 7 exact"}, 2},
		{"bom.jsonl", "\ufeff" + one + "\r\n", []string{"bom.jsonl:1/text 0 exact"}, 1},
		{"array.json", "[" + one + ",\n" + two + "]\n", []string{"array.json:1/text 0 exact", "array.json:2/text 7 exact"}, 2},
		{"strings.json", `["x", ` + string(drydock.AppendJSONString(nil, render(7))) + `]`, []string{"strings.json:1 7 exact"}, 2},
		{"pretty.json", "[\n  {\n    \"id\": 1\n  },\n  {\n    \"q\": [\n      " + string(drydock.AppendJSONString(nil, render(7))) + "\n    ]\n  }\n]", []string{"pretty.json:5/q/0 7 exact"}, 2},
		{"one.json", "{\n \"q\": " + string(drydock.AppendJSONString(nil, render(7))) + "\n}", []string{"one.json:1/q 7 exact"}, 1},
		{"noname", one + "\n" + two + "\n", []string{"noname:1/text 0 exact", "noname:2/text 7 exact"}, 2},
		{"book.txt", "第一章\n\n" + render(7) + "\n完", []string{"book.txt:3 7 exact"}, 1},
		{"empty.jsonl", "", nil, 0},
		{"empty.txt", "\n", nil, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			report, _, s := checkAll(t, ix, Options{}, input(c.name, c.content))
			if d := cmp.Diff(c.want, places(report)); d != "" {
				t.Error(d)
			}
			if s.Records != c.records || len(s.BadRows) > 0 {
				t.Errorf("%d records, want %d; bad %v", s.Records, c.records, s.BadRows)
			}
			sha := sha256.Sum256([]byte(c.content))
			if s.Inputs[0].SHA256 != hex.EncodeToString(sha[:]) || s.Bytes != int64(len(c.content)) {
				t.Errorf("inputs %v, bytes %d", s.Inputs, s.Bytes)
			}
		})
	}
}

func TestCheckBadRows(t *testing.T) {
	t.Parallel()
	ix := testIndex(t)
	_, _, s := checkAll(t, ix, Options{}, input("t.jsonl", "{\"a\":1}\n{\"text\": \"x\n{\"b\":2}\n"))
	if d := cmp.Diff([]BadRow{{"t.jsonl", 2, 10, "a string is cut off"}}, s.BadRows); d != "" {
		t.Error(d)
	}
	if s.Exit() != 3 || s.Records != 3 {
		t.Errorf("exit %d, records %d", s.Exit(), s.Records)
	}
	// a leak in a broken row is found all the same
	report, _, s := checkAll(t, ix, Options{}, input("t.jsonl", string(row(render(7)))[:len(row(render(7)))-2]))
	if len(places(report)) != 1 || s.Exit() != 10 || len(s.BadRows) != 1 {
		t.Errorf("%v, exit %d, %v", places(report), s.Exit(), s.BadRows)
	}
	_, _, s = checkAll(t, ix, Options{}, input("cut.json", `[{"a":1}, {"b":`))
	if len(s.BadRows) != 1 || s.Records != 2 {
		t.Errorf("an array that is cut off: %+v", s)
	}
}

func TestCheckClean(t *testing.T) {
	t.Parallel()
	ix := testIndex(t)
	leak, fine := string(row(render(7))), `{"id":"ok","text":"风力六级"}`
	var b bytes.Buffer
	_, sum, s := checkAll(t, ix, Options{Clean: &b}, input("t.jsonl", fine+"\n"+leak+"\n"+fine+"\n"))
	if b.String() != fine+"\n"+fine+"\n" || s.Kept != 2 || s.FailedRecords != 1 || s.ItemsHit != 1 {
		t.Errorf("kept %q\n%s", b.String(), sum)
	}
	b.Reset()
	checkAll(t, ix, Options{Clean: &b, OnHit: Annotate}, input("t.jsonl", leak+"\n"+fine))
	want := leak[:len(leak)-1] + `, "contamination": [{"benchmark": "harbour_quiz", "index": 7, "verdict": "exact"}]}` + "\n" + fine + "\n"
	if d := cmp.Diff(want, b.String()); d != "" {
		t.Error(d)
	}
	if _, err := ix.Check(t.Context(), []Input{input("a.txt", "text")}, Options{Clean: &b}); err == nil {
		t.Error("plain text was cleaned")
	}
	if _, err := ix.Check(t.Context(), nil, Options{OnHit: "burn"}); err == nil {
		t.Error("an unknown action was taken")
	}
}

func TestCheckErrors(t *testing.T) {
	t.Parallel()
	ix := testIndex(t)
	boom := errors.New("boom")
	bad := Input{Name: "x", Open: func() (io.ReadCloser, error) { return nil, boom }}
	if _, err := ix.Check(t.Context(), []Input{bad}, Options{}); !errors.Is(err, boom) {
		t.Errorf("got %v", err)
	}
	many := strings.Repeat(string(row(render(7)))+"\n", 20_000)
	_, err := ix.Check(t.Context(), []Input{input("m.jsonl", many)}, Options{Workers: 4, Report: func(*Finding) error { return boom }})
	if !errors.Is(err, boom) {
		t.Errorf("got %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := ix.Check(ctx, []Input{input("m.jsonl", many)}, Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	for _, bytes := range []string{"\xff\xfe\x6d\x4e", "%PDF-1.7\x00\x01", "\xb4\xac\xb2\xb0\xba\xbd\xd0\xd0\xb0\xb2\xc8\xab"} {
		if _, err := ix.Check(t.Context(), []Input{input("x", bytes)}, Options{}); err == nil {
			t.Errorf("%q was called clean", bytes)
		}
	}
	if _, err := NewIndex(nil, testRef, Config{}); err == nil {
		t.Error("an index of nothing")
	}
	if _, err := NewIndex(testSet(), testRef, Config{StemSame: 3}); err == nil {
		t.Error("a similarity of 3")
	}
	if _, err := NewIndex(testSet(), testRef, Config{Fail: []Verdict{"bad"}}); err == nil {
		t.Error("an unknown verdict")
	}
}

// Report, cleaned data and summary are the same bytes for any number of
// workers, over several chunks and inputs.
func TestCheckIsDeterministic(t *testing.T) {
	t.Parallel()
	ix := testIndex(t)
	var b strings.Builder
	for i := range 12_000 {
		switch {
		case i%997 == 5:
			b.Write(row(render(i % len(testItems))))
		case i%3001 == 7:
			b.WriteString(`{"text": broken`)
		default:
			fmt.Fprintf(&b, `{"id":%d,"text":"%s 第%d次航行，值班驾驶员记录了风向、风力与海况，并向船长报告。"}`, i, strings.Repeat("平静的一天。", i%20), i)
		}
		b.WriteByte('\n')
	}
	rows := b.String()
	text := strings.Repeat("港口今天没有船舶进出，码头上的工人正在修理系缆桩。\n", 30_000) + render(3) + strings.Repeat("\n夜里有雾。", 1000)
	run := func(workers int) string {
		var clean bytes.Buffer
		report, sum, _ := checkAll(t, ix, Options{Workers: workers, Clean: &clean}, input("a.jsonl", rows), input("b.jsonl", rows))
		textReport, textSum, _ := checkAll(t, ix, Options{Workers: workers}, input("c.txt", text))
		return report + sum + clean.String() + textReport + textSum
	}
	want := run(1)
	if !strings.Contains(want, `"c.txt","line":30001,`) || strings.Count(want, `"verdict":"exact"`) != 2*13+1 {
		t.Fatalf("findings are missing or in the wrong place: %d", strings.Count(want, `"verdict":"exact"`))
	}
	for _, n := range []int{2, 8} {
		if got := run(n); got != want {
			t.Errorf("%d workers give other bytes", n)
		}
	}
}

// An item of a text file is reported once and in its place, wherever the file is
// cut.
func TestCheckTextAcrossChunks(t *testing.T) {
	t.Parallel()
	ix := testIndex(t)
	line := "码头工人在修理系缆桩。\n"
	for _, shift := range []int{-textOverlap - 40, -textOverlap, -300, -60, 0, 60} {
		lines := (chunkSize + shift) / len(line)
		text := strings.Repeat(line, lines) + render(7) + "\n" + strings.Repeat(line, 3000)
		report, _, _ := checkAll(t, ix, Options{Workers: 3}, input("a.txt", text))
		want := []string{fmt.Sprintf("a.txt:%d 7 exact", lines+1)}
		if d := cmp.Diff(want, places(report)); d != "" {
			t.Errorf("shift %d: %s", shift, d)
		}
	}
}
