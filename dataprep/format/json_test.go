package format_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/unicode"
	"pgregory.net/rapid"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/dataprep/format"
	"github.com/drydock-ml/drydock/dataprep/format/formattest"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/golden"
	"github.com/drydock-ml/drydock/internal/meter"
)

func TestJSONShapes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, text  string
		want, notes []string
	}{
		{"array", `[{"a":1},{"a":"\u951a"}]`, []string{`r1|{"a":1}`, `r2|{"a":"\u951a"}`}, nil},
		{"under a key", `{"version":1,"data":[{"a":1},{"a":2}],"total":2}`, []string{`r1|{"a":1}`, `r2|{"a":2}`}, []string{"fields_beside_rows"}},
		{"chapters", `{"第一章":[{"题":1}],"第二章":{"第五条":[{"题":2},{"题":3}]}}`, []string{"para1 l1|h1|第一章", `r1|{"题":1}`, "para2 l1|h1|第二章", "para3 l1|h2|第五条", `r2|{"题":2}`, `r3|{"题":3}`}, nil},
		{"map of rows", `{"q1":{"question":"x","options":[{"l":"A"}]},"q2":{"question":"y"}}`, []string{`r1|{"question":"x","options":[{"l":"A"}]}`, `r2|{"question":"y"}`}, nil},
		{"one row", `{"messages":[{"role":"user"}]}`, []string{`r1|{"messages":[{"role":"user"}]}`}, nil},
		{"one row of scalars", "{\n \"a\": [1,2], \"b\": {\"c\": 1}}", []string{"r1|{\n \"a\": [1,2], \"b\": {\"c\": 1}}"}, nil},
		{"rows as arrays", `[["题","A"],["目","B"]]`, []string{`r1|["题","A"]`, `r2|["目","B"]`}, nil},
		{"scalars", `["一",2,null]`, []string{`r1|"一"`, "r2|2", "r3|null"}, nil},
		{"mark", "\xEF\xBB\xBF[{}]", []string{"r1|{}"}, nil},
		{"commas", `[{"a":1} {"a":2},]`, []string{`r1|{"a":1}`, `r2|{"a":2}`}, []string{"array_commas"}},
		{"not a number", `[{"a":NaN,"b":"NaN","c":-Infinity}]`, []string{`r1|{"a":null,"b":"NaN","c":null}`}, []string{"nan_as_null"}},
		{"lone surrogate", `[{"a":"\ud83d x"},{"a":"\ud83d\ude00"}]`, []string{`r1|{"a":"\ufffd x"}`, `r2|{"a":"\ud83d\ude00"}`}, []string{"lone_surrogate"}},
		{
			"lone surrogates among others", `[{"a":"\\\udc00\ud83d\ud83d\ude00\n\u00e9\\ud800","\uDFFF":NaN}]`,
			[]string{`r1|{"a":"\\\ufffd\ufffd\ud83d\ude00\n\u00e9\\ud800","\ufffd":null}`},
			[]string{"lone_surrogate", "nan_as_null"},
		},
		{"several", "{\"question\":\n1}\n{\"question\":2}", []string{"r1|{\"question\":\n1}", `r2|{"question":2}`}, []string{"several_documents"}},
		{"empty", `[]`, nil, []string{"no_rows"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := readAll(t, fileOf(t, "a.json", []byte(c.text)))
			compare(t, c.want, shown(r))
			compare(t, c.notes, codes(r))
		})
	}
}

// What stands beside the rows is given as text where it is asked for, and not
// told as left out.
func TestJSONAside(t *testing.T) {
	t.Parallel()
	const text = `{"version":1,"note":"a\n\u951a","data":[{"a":1}],"第一章":["b",NaN,"c"],"meta":{"more":{"d":[null,"e"]},"rows":[{"a":2}]}}`
	r, _ := formattest.Read(t.Context(), fileOf(t, "a.json", []byte(text)), format.Options{Aside: true})
	if r.Err != nil {
		t.Fatal(r.Err)
	}
	compare(t, []string{"para1|a\n锚", `r1|{"a":1}`, "para2|第一章\nb\nNaN,\"c\"]", `r2|{"d":[null,"e"]}`, `r3|{"a":2}`}, shown(r))
	compare(t, nil, codes(r))
}

func TestJSONBroken(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, text string
		blocks     int
		drops      []string
		err        string // with its place
	}{
		{"bad element", "[{\"a\":1},\n {\"a\":tru},\n{\"a\":3}]", 2, []string{`r2 bad_json {"a":tru}`}, ""},
		{"twice a key", `[{"a":1,"a":2},{"b":1}]`, 1, []string{`r1 duplicate_key {"a":1,"a":2}`}, ""},
		{"cut", "[{\"a\":1},\n{\"a\":", 1, nil, "b.json:2:1: the file ends inside row 2"},
		{"cut between", `[{"a":1},`, 1, nil, "b.json:1:10: the file ends inside an array"},
		{"open quote", "[{\"a\":1},\n{\"a\":\"x},\n{\"a\":2}]", 1, nil, "b.json:2:10: row 2 is broken"},
		{"stray bracket", `[{"a":1}}]`, 1, nil, "b.json:1:9: '}' where a row should begin"},
		{"text behind", `[{"a":1}] and more`, 1, nil, "b.json:1:11: 'a' where '[' or '{' should stand"},
		{"no colon", `{"data" [{}]}`, 0, nil, "b.json:1:9: ':' is missing"},
		{"cut in object", `{"data":[{"a":1}]`, 1, nil, "b.json:1:18: the file ends inside an object"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r, _ := formattest.Read(t.Context(), fileOf(t, "b.json", []byte(c.text)), format.Options{})
			if len(r.Blocks) != c.blocks {
				t.Errorf("blocks %q, want %d", shown(r), c.blocks)
			}
			compare(t, c.drops, dropped(r))
			if got := fmt.Sprint(r.Err); c.err != "" && !strings.HasPrefix(got, c.err) || c.err == "" && r.Err != nil {
				t.Errorf("error %v, want %q", r.Err, c.err)
			}
		})
	}
}

func TestJSONWrongName(t *testing.T) {
	t.Parallel()
	rows := "{\"a\":1}\n{\"a\":2}\n"
	for _, c := range []struct{ name, text, kind string }{
		{"rows.json", rows, "jsonl"},
		{"array.jsonl", "[{\"a\":1},\n{\"a\":2}]", "json"},
		{"indented.jsonl", "{\n \"data\": [\n{\"a\":1}]}\n", "json"},
		{"array.txt", `[{"a":1}]`, "json"},
		{"rows.txt", rows, "jsonl"},
	} {
		r, kind := formattest.Read(t.Context(), fileOf(t, c.name, []byte(c.text)), format.Options{})
		if kind == nil || kind.Name != c.kind || r.Err != nil {
			t.Errorf("%s was read as %v, %v", c.name, kind, r.Err)
		}
		if d := codes(r); len(d) != 1 || d[0] != "wrong_extension" {
			t.Errorf("%s: notes %q", c.name, d)
		}
	}
}

// TestJSONLBadLine is the issue's own: line 7 is broken, the others come.
func TestJSONLBadLine(t *testing.T) {
	t.Parallel()
	var s strings.Builder
	for i := 1; i <= 9; i++ {
		if i == 7 {
			s.WriteString("{\"题目\":\"锚\" \"答案\":\"A\"}\n")
			continue
		}
		fmt.Fprintf(&s, "{\"id\":%d}\r\n", i)
	}
	r, kind := formattest.Read(t.Context(), fileOf(t, "b.jsonl", []byte(s.String())), format.Options{})
	if kind.Name != "jsonl" || r.Err != nil || len(r.Blocks) != 8 || r.Blocks[6].At.Line != 8 || string(r.Blocks[6].Raw) != `{"id":8}` {
		t.Fatalf("%v %v %q", kind, r.Err, shown(r))
	}
	compare(t, []string{`l7 bad_json {"题目":"锚" "答案":"A"}`}, dropped(r))
	if got := r.Drops[0].Detail; got != `line 7, column 11: '"' where ',' or '}' should stand` {
		t.Error(got)
	}
}

func TestJSONLOdd(t *testing.T) {
	t.Parallel()
	text := "\xEF\xBB\xBF{\"a\":1}\n\n  \n<<<<<<< HEAD\n{\"a\":2}\n=======\n{\"a\":3}\n>>>>>>> x\n" +
		"{\"a\":\"\xff\"}\n{\"a\":1,\"\\u0061\":2}\n{\"b\":NaN}\n[1]\n{\"a\":\"x\x01\"}\n{\"a\":\"torn"
	r, _ := formattest.Read(t.Context(), fileOf(t, "o.jsonl", []byte(text)), format.Options{})
	compare(t, []string{`l1|{"a":1}`, `l5|{"a":2}`, `l7|{"a":3}`, `l11|{"b":null}`, `l12|[1]`}, shown(r))
	var reasons []string
	for _, d := range r.Drops {
		reasons = append(reasons, fmt.Sprint(d.Record.Origin.At.Line, " ", d.Reason))
	}
	compare(t, []string{"4 git_conflict", "6 git_conflict", "8 git_conflict", "9 invalid_utf8", "10 duplicate_key", "13 bad_json", "14 torn_line"}, reasons)
	if r.Err != nil {
		t.Error(r.Err)
	}
}

func TestJSONLEncodings(t *testing.T) {
	t.Parallel()
	text := strings.Repeat(`{"题目":"船舶在雾中航行时，应以安全航速行驶","答案":"A"}`+"\n", 3)
	gbk, err := simplifiedchinese.GB18030.NewEncoder().String(text)
	ok(t, err)
	wide, err := unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewEncoder().String(text)
	ok(t, err)
	array, err := simplifiedchinese.GB18030.NewEncoder().String("[" + strings.ReplaceAll(strings.TrimSpace(text), "\n", ",") + "]")
	ok(t, err)
	for name, b := range map[string]string{"gbk.jsonl": gbk, "wide.jsonl": wide, "gbk.json": array} {
		r := readAll(t, fileOf(t, name, []byte(b)))
		if len(r.Blocks) != 3 || string(r.Blocks[2].Raw) != strings.SplitN(text, "\n", 2)[0] {
			t.Errorf("%s: %q", name, shown(r))
		}
	}
}

// TestJSONLUnits proves on a file of several units that none tears a row and
// that lines are numbered through.
func TestJSONLUnits(t *testing.T) {
	t.Parallel()
	var s strings.Builder
	n := 0
	for s.Len() < 9<<20 {
		n++
		fmt.Fprintf(&s, `{"n":%d,"text":"%s"}`+"\n", n, strings.Repeat("锚", n%3000))
		if n%50 == 0 {
			s.WriteString("\n")
		}
	}
	path := fileOf(t, "u.jsonl", []byte(s.String()))
	f, kind, err := format.Open(nil, path, format.Options{}, nil)
	ok(t, err)
	units, err := kind.Units(t.Context(), f)
	ok(t, err)
	if len(units) != 3 {
		t.Fatalf("%d units of 9 MiB", len(units))
	}
	got := 0
	for i, u := range units {
		first := true
		for b, err := range kind.Document(u, nil).Blocks(t.Context()) {
			ok(t, err)
			var row struct{ N int }
			ok(t, json.Unmarshal(b.Raw, &row))
			if got++; row.N != got || b.At.Line != got+(got-1)/50 {
				t.Fatalf("unit %d: row %d at %s, want row %d", i, row.N, b.At, got)
			}
			if first && i > 0 && b.At.Line < u.Line {
				t.Fatalf("unit %d begins with line %d, says %d", i, b.At.Line, u.Line)
			}
			first = false
		}
	}
	if got != n {
		t.Errorf("%d rows of %d", got, n)
	}
}

func TestJSONLCutCancelled(t *testing.T) {
	t.Parallel()
	path := fileOf(t, "c.jsonl", []byte("{}\n{}\n"))
	f, kind, err := format.Open(nil, path, format.Options{}, nil)
	ok(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := kind.Units(ctx, f); !errors.Is(err, context.Canceled) {
		t.Errorf("cutting after a cancel gave %v", err)
	}
}

// TestJSONRoundTrip: any rows written as JSON Lines, as an array and under a key
// come back as they were.
func TestJSONRoundTrip(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.SliceOfN(rapid.String(), 2, 6).Draw(t, "rows")
		var rows [][]byte
		for i, s := range text {
			b, err := drydock.MarshalJSON(map[string]any{"question": s, "n": i})
			if err != nil {
				t.Fatal(err)
			}
			rows = append(rows, b)
		}
		join := func(sep string) string {
			var p []string
			for _, r := range rows {
				p = append(p, string(r))
			}
			return strings.Join(p, sep)
		}
		for name, file := range map[string]string{
			"r.jsonl": join("\n") + "\n", "r.json": "[" + join(" ,\n") + "]", "k.json": `{"data":[` + join(",") + `]}`,
		} {
			path := dir + "/" + name
			if err := os.WriteFile(path, []byte(file), 0o644); err != nil {
				t.Fatal(err)
			}
			r, _ := formattest.Read(context.Background(), path, format.Options{Encoding: "utf-8"})
			var got [][]byte
			for _, b := range r.Blocks {
				got = append(got, b.Raw)
			}
			if d := cmp.Diff(rows, got); d != "" || r.Err != nil || len(r.Drops) > 0 {
				t.Fatalf("%s: %v %v\n%s", name, r.Err, r.Drops, d)
			}
		}
	})
}

func TestJSONReal(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		parts []string
		rows  int
	}{
		{[]string{"maritimebench", "maritimebench_test.json"}, 1888},
		{[]string{"docx-bank-zh", "单选题.json"}, 441},
		{[]string{"llamafactory-demos", "alpaca_zh_demo.json"}, 1000},
	} {
		r := readAll(t, golden.RealData(t, c.parts...))
		if len(r.Blocks) != c.rows {
			t.Errorf("%s: %d rows, want %d", c.parts[1], len(r.Blocks), c.rows)
		}
	}
}

func FuzzJSON(f *testing.F) {
	f.Add([]byte(`{"a":[{"b":1},{"c":[{}]}],"第":{"x":[[1]]}}`))
	f.Add([]byte(`[{"a":"\ud83d"},NaN,{"a":1,"a":2} {}],`))
	f.Fuzz(func(t *testing.T, b []byte) {
		path := fileOf(t, "f.json", append([]byte("["), b...))
		r, _ := formattest.Read(t.Context(), path, format.Options{Encoding: "utf-8"})
		checkFuzzed(t, r)
		checkRaw(t, r)
	})
}

func FuzzJSONL(f *testing.F) {
	f.Add([]byte("{\"a\":1}\n<<<<<<< x\n{\"b\":"))
	f.Add([]byte("{\"a\":-0.1e+5,\"b\":[true,false,null]}\r\n\r\n{\"\\u00e9\":\"\\\\\"}"))
	f.Fuzz(func(t *testing.T, b []byte) {
		path := fileOf(t, "f.jsonl", append([]byte("{\"first\":0}\n"), b...))
		r, _ := formattest.Read(t.Context(), path, format.Options{Encoding: "utf-8"})
		if r.Err != nil && fail.Code(r.Err) == 70 {
			t.Fatal(r.Err)
		}
		checkFuzzed(t, r)
		checkRaw(t, r)
		// nothing disappears: each line that is not blank is a row or a drop
		lines := 1
		for l := range strings.Lines(string(b)) {
			if strings.TrimSpace(l) != "" {
				lines++
			}
		}
		if r.Err == nil && len(r.Blocks)+len(r.Drops) != lines {
			t.Fatalf("%d rows and %d drops of %d lines", len(r.Blocks), len(r.Drops), lines)
		}
	})
}

// checkRaw holds our validator against the standard library's.
func checkRaw(t *testing.T, r formattest.Result) {
	t.Helper()
	for _, b := range r.Blocks {
		if b.Raw != nil && !json.Valid(b.Raw) {
			t.Fatalf("%s: %q came as valid", b.At, b.Raw)
		}
	}
	for _, d := range r.Drops {
		if d.Reason == "bad_json" && json.Valid([]byte(d.Record.Passage.Text)) && !strings.Contains(d.Detail, "nested deeper") {
			t.Fatalf("%v, but %q is valid", d, d.Record.Passage.Text)
		}
	}
}

func BenchmarkJSONL(b *testing.B) {
	row := `{"id":"bank/123","messages":[{"role":"user","content":"船舶在能见度不良的水域中航行时，应以适合当时环境的安全航速行驶。A. 备车 B. 停车 C. 抛锚 D. 全速"},{"role":"assistant","content":"<think>\n\n</think>\n\n[A]"}],"score":0.98}` + "\n"
	text := strings.Repeat(row, 40<<20/len(row))
	path := fileOf(b, "b.jsonl", []byte(text))
	defer meter.CPU(b, len(text))()
	for b.Loop() {
		benchBlocks(b, path, 40<<20/len(row))
	}
}

func BenchmarkJSON(b *testing.B) {
	row := `{"index":12,"question":"船舶在能见度不良的水域中航行时，应以______行驶。","answer":"A","A":"安全航速","B":"全速","C":"微速","D":"停车"}`
	n := 10 << 20 / len(row)
	text := "[" + strings.TrimSuffix(strings.Repeat(row+",\n", n), ",\n") + "]"
	path := fileOf(b, "b.json", []byte(text))
	defer meter.CPU(b, len(text))()
	for b.Loop() {
		benchBlocks(b, path, n)
	}
}
