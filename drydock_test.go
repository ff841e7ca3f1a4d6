package drydock_test

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/drydock-ml/drydock"
)

func id(n byte) drydock.ID { return drydock.ID{15: n} }

func rec(n byte, parents ...drydock.ID) *drydock.Record {
	return &drydock.Record{ID: id(n), Parents: parents}
}

func TestAccount(t *testing.T) {
	t.Parallel()
	drop := func(n byte, reason string) drydock.Drop {
		return drydock.Drop{Record: rec(n), Reason: reason}
	}
	for name, c := range map[string]struct {
		in      []drydock.ID
		out     []*drydock.Record
		dropped []drydock.Drop
		want    drydock.Sums
		err     string
	}{
		"all kept":    {in: []drydock.ID{id(1), id(2)}, out: []*drydock.Record{rec(1), rec(2)}, want: drydock.Sums{In: 2, Out: 2}},
		"reordered":   {in: []drydock.ID{id(1), id(2)}, out: []*drydock.Record{rec(2), rec(1)}, want: drydock.Sums{In: 2, Out: 2}},
		"one dropped": {in: []drydock.ID{id(1), id(2)}, out: []*drydock.Record{rec(2)}, dropped: []drydock.Drop{drop(1, "short")}, want: drydock.Sums{In: 2, Out: 1, Dropped: map[string]int{"short": 1}}},
		"split": {
			in: []drydock.ID{id(1)}, out: []*drydock.Record{rec(7, id(1)), rec(8, id(1))},
			want: drydock.Sums{In: 1, Made: 2, Out: 2, Merged: 1},
		},
		"merged": {
			in: []drydock.ID{id(1), id(2)}, out: []*drydock.Record{rec(1, id(1), id(2))},
			want: drydock.Sums{In: 2, Out: 1, Merged: 1},
		},
		"bad block":      {dropped: []drydock.Drop{{Reason: "torn"}}, want: drydock.Sums{Made: 1, Dropped: map[string]int{"torn": 1}}},
		"disappeared":    {in: []drydock.ID{id(1)}, err: "disappeared"},
		"kept twice":     {in: []drydock.ID{id(1)}, out: []*drydock.Record{rec(1), rec(1)}, err: "went out twice"},
		"new twice":      {out: []*drydock.Record{rec(1), rec(1)}, err: "went out twice"},
		"kept and drop":  {in: []drydock.ID{id(1)}, out: []*drydock.Record{rec(1)}, dropped: []drydock.Drop{drop(1, "x")}, err: "both kept and dropped"},
		"dropped twice":  {in: []drydock.ID{id(1)}, dropped: []drydock.Drop{drop(1, "x"), drop(1, "x")}, err: "dropped twice"},
		"no reason":      {in: []drydock.ID{id(1)}, dropped: []drydock.Drop{drop(1, "")}, err: "without a reason"},
		"came in twice":  {in: []drydock.ID{id(1), id(1)}, out: []*drydock.Record{rec(1)}, err: "came in twice"},
		"empty batch":    {want: drydock.Sums{}},
		"vanished in re": {in: []drydock.ID{id(1), id(2)}, out: []*drydock.Record{rec(1), rec(3)}, err: "disappeared"},
	} {
		got, err := drydock.Account(c.in, c.out, c.dropped)
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s: error %v, want %q", name, err, c.err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
		if err := got.Close(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestLocatorRoundTrip(t *testing.T) {
	t.Parallel()
	if s := (drydock.Locator{Page: 12, Line: 7}).String(); s != "p12 l7" {
		t.Errorf("got %q", s)
	}
	if s := (drydock.Locator{Sheet: "选择 题", Row: 3}).String(); s != "sheet:选择%20题 r3" {
		t.Errorf("got %q", s)
	}
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 1<<20)
		l := drydock.Locator{
			Part: rapid.String().Draw(t, "part"), Sheet: rapid.String().Draw(t, "sheet"),
			Page: n.Draw(t, "page"), Para: n.Draw(t, "para"), Line: n.Draw(t, "line"), Row: n.Draw(t, "row"), OCR: rapid.Bool().Draw(t, "ocr"),
		}
		got, err := drydock.ParseLocator(l.String())
		if err != nil || got != l {
			t.Fatalf("%+v → %q → %+v, %v", l, l.String(), got, err)
		}
	})
	for _, bad := range []string{"x3", "p0", "l-1", "pp", "p"} {
		if _, err := drydock.ParseLocator(bad); err == nil {
			t.Errorf("%q is read as a locator", bad)
		}
	}
}

func TestIDsTellTuplesApart(t *testing.T) {
	t.Parallel()
	if drydock.NewID("ab", "c", "", "x") == drydock.NewID("a", "bc", "", "x") {
		t.Error("moving a letter between parts gives the same id")
	}
	if drydock.NewID("a", "b", "c", "x", "y") == drydock.NewID("a", "b", "c", "xy") {
		t.Error("joining payloads gives the same id")
	}
	if drydock.NewRowID("a", "b", "c", []byte("row")) != drydock.NewID("a", "b", "c", "row") {
		t.Error("a row and a text of the same bytes have two ids")
	}
	var back drydock.ID
	one := drydock.NewID("a", "b", "c")
	if err := back.UnmarshalText([]byte(one.String())); err != nil || back != one {
		t.Errorf("%v, %v", back, err)
	}
	if err := back.UnmarshalText([]byte("zz")); err == nil {
		t.Error("two digits are read as an id")
	}
}

func TestAppendJSONStringIsReadBack(t *testing.T) {
	t.Parallel()
	if got := string(drydock.AppendJSONString(nil, "<a>&\u2028\"\\\x01船\n")); got != "\"<a>&\u2028\\\"\\\\\\u0001船\\n\"" {
		t.Errorf("got %s", got)
	}
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.String().Draw(t, "s")
		var back string
		if err := json.Unmarshal(drydock.AppendJSONString(nil, s), &back); err != nil || back != s {
			t.Fatalf("%q → %q, %v", s, back, err)
		}
	})
	for c := range byte(utf8.RuneSelf) {
		for at := range 12 { // wherever it stands among the eight looked at together
			s := strings.Repeat("船", at) + string(rune(c)) + strings.Repeat("x", 12-at)
			var back string
			if err := json.Unmarshal(drydock.AppendJSONString(nil, s), &back); err != nil || back != s {
				t.Errorf("%q reads back as %q: %v", s, back, err)
			}
		}
	}
	if got := string(drydock.AppendJSONString(nil, "a\xffb\xe8")); got != `"a�b�"` {
		t.Errorf("bytes that are no UTF-8: %s", got)
	}
}

// The forms are those of Python 3's json.dumps.
func TestAppendJSONFloat(t *testing.T) {
	t.Parallel()
	for x, want := range map[float64]string{
		0: "0.0", 1: "1.0", -2: "-2.0", 0.8: "0.8", 0.78125: "0.78125", 1e-4: "0.0001", 1e-5: "1e-05", 1.5e-7: "1.5e-07",
		123456789: "123456789.0", 1e15: "1000000000000000.0", 1e16: "1e+16", math.Inf(1): "0.0",
	} {
		if got := string(drydock.AppendJSONFloat([]byte("x"), x)); got != "x"+want {
			t.Errorf("%v is written %s, want %s", x, got, want)
		}
	}
	if got := string(drydock.AppendJSONFloat(nil, math.NaN())); got != "0.0" {
		t.Errorf("NaN is written %s", got)
	}
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.Float64().Draw(t, "x")
		got, err := strconv.ParseFloat(string(drydock.AppendJSONFloat(nil, x)), 64)
		if err != nil || got != x {
			t.Fatalf("%v reads back as %v, %v", x, got, err)
		}
	})
}

func TestFileTableRoundTrip(t *testing.T) {
	t.Parallel()
	f := &drydock.File{Source: "bank", Name: "题库.pdf", SHA256: strings.Repeat("a", 64)}
	yes := true
	records := []*drydock.Record{
		{ID: id(1), RowID: "17", Lang: "zh", Origin: drydock.Origin{File: f, At: drydock.Locator{Page: 3, Line: 4}, Key: drydock.Locator{Page: 9}}, Question: &drydock.Question{
			Kind: drydock.Single, Stem: "锚<b>链</b>", Statements: []string{"①"}, Options: []drydock.Option{{Label: "A", Text: "x"}}, Answer: []string{"A"}, Confidence: .5,
		}},
		{ID: id(2), Origin: drydock.Origin{File: f}, Passage: &drydock.Passage{Heading: []string{"第一章"}, Text: "正文"}, Parents: []drydock.ID{id(9)}},
		{ID: id(3), Origin: drydock.Origin{File: f}, Chat: &drydock.Chat{
			Messages: []drydock.Message{{Role: "user", Content: "?"}}, Label: &yes, Tools: drydock.RawJSON(`[1]`),
			Extra: []drydock.RawField{{Name: "k", Value: drydock.RawJSON(`{"a":1}`)}},
		}},
	}
	var table drydock.FileTable
	table.Add(f)
	for _, r := range records {
		line, err := table.Append(nil, r)
		if err != nil {
			t.Fatal(err)
		}
		back, err := table.Decode(line)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(r, back); d != "" {
			t.Errorf("(-want +got):\n%s", d)
		}
	}
	if _, err := table.Append(nil, &drydock.Record{Origin: drydock.Origin{File: &drydock.File{}}}); err == nil {
		t.Error("a file that is not in the table is written")
	}
	if _, err := table.Decode([]byte(`{"id":"` + id(1).String() + `","file":5}`)); err == nil {
		t.Error("file 5 of 1 is read")
	}
}

func FuzzDecodeRecord(f *testing.F) {
	f.Add([]byte(`{"id":"00000000000000000000000000000001","file":0,"at":"p1"}`))
	f.Add([]byte(`{"file":-7}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		var table drydock.FileTable
		table.Add(&drydock.File{Name: "x"})
		r, err := table.Decode(line)
		if err != nil {
			return
		}
		again, err := table.Append(nil, r)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := table.Decode(again); err != nil {
			t.Fatalf("%s: %v", again, err)
		}
	})
}

func TestPointerParts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, part string }{{"id", "id"}, {"", ""}, {"a/b", "a~1b"}, {"~", "~0"}, {"~1", "~01"}, {"~/题", "~0~1题"}} {
		if got := drydock.EscapePointer(c.name); got != c.part {
			t.Errorf("%q is written %q, want %q", c.name, got, c.part)
		}
		if got := drydock.UnescapePointer(c.part); got != c.name {
			t.Errorf("%q is read %q, want %q", c.part, got, c.name)
		}
	}
}
