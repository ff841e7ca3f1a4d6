package rowfile

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"
	"github.com/valyala/fastjson"

	"github.com/drydock-ml/drydock/internal/golden"
	"github.com/drydock-ml/drydock/internal/meter"
)

// testRows are of every form, with what a table has trouble with.
const testRows = `{"id":"a","messages":[{"role":"user","content":"问 \"q\"\n"},{"role":"assistant","content":""}],"n":1,"f":1.5,"tags":["x",null,"y"],"meta":{"k":true,"l":[[1,2],[]]},"none":[],"z":null}
{"id":"b","messages":[],"n":null,"f":2,"tags":[],"meta":null,"none":[]}
{"meta":{"l":null,"k":false},"id":"c","messages":[{"content":"q","role":"user"}],"n":9007199254740993}
`

func schemaOf(t testing.TB, rows string) *Schema {
	t.Helper()
	s := &Schema{}
	for line := range strings.Lines(rows) {
		if err := s.Add([]byte(line)); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
	}
	return s
}

func TestConflicts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ row, want string }{
		{`{"id":1}`, "/id: it is a whole number, and the column holds text since row 1"},
		{`{"id":null,"nov":{"a":[{"b":1}]}}`, ""},
		{`{"x":` + strings.Repeat("[", 80) + strings.Repeat("]", 80) + `}`, "lists and objects inside each other"},
		{`{"id":"x","tags":[1]}`, "/tags: it is a whole number, and the column holds text since row 1"},
		{`{"meta":{"k":"s"}}`, "/meta/k: it is text, and the column holds true or false since row 1"},
		{`{"a/b~":{}}`, "/a~1b~0: an object without fields has no place in a table"},
		{`{"messages":[{"role":"u"},5]}`, "/messages/1: it is a whole number, and the column holds an object since row 4"},
		{`{"x":[1,1.5]}`, ""},
		{`{"x":[9007199254740993,1.5]}`, "/x/1: it makes a column of a number hold fractions and numbers of more than 15 digits"},
		{`{"n":1.5}`, "/n: it makes a column of a number hold fractions and numbers of more than 15 digits"},
		{`{"f":0.12345678901234567890123}`, "/f: the number 0.12345678901234567890123 has more digits than a column holds"},
		{`{"f":18446744073709551616}`, "/f: the number 18446744073709551616 has more digits than a column holds"},
		{`{"f":1e300}`, ""},
		{`{"f":123456789012345678901}`, "/f: the number 123456789012345678901 has more digits than a column holds"},
		{`{"f":-1.10e+1}`, ""},
		{`{"a":1,"a":2}`, "/a: the field stands twice in one object"},
		{`{"none":["now text"]}`, ""},
		{`{"none":[{"now":1}],"z":2}`, ""},
		{`[1]`, "a row must be an object, not array"},
		{`{`, "not valid JSON"},
	} {
		t.Run(c.row, func(t *testing.T) {
			t.Parallel()
			s := schemaOf(t, testRows)
			before := s.featureInfo()
			err := s.Add([]byte(c.row))
			switch {
			case err == nil && c.want != "", err != nil && (c.want == "" || !strings.Contains(err.Error(), c.want)):
				t.Fatalf("%v, want %q", err, c.want)
			case err != nil && s.featureInfo() != before:
				t.Error("a row that was refused changed the schema")
			case err == nil && !s.root.holds(fastjson.MustParse(c.row)) && !strings.ContainsAny(c.row, ".e"):
				t.Error("the schema does not hold what it took")
			}
		})
	}
}

// TestLate: readers of JSON Lines take the types from the first 10 MB.
func TestLate(t *testing.T) {
	t.Parallel()
	row := `{"a":[],"b":1,"t":"` + strings.Repeat("x", 1<<20) + `"}` + "\n"
	s := schemaOf(t, strings.Repeat(row, 9))
	if late := s.Late(); late != nil {
		t.Fatal(late)
	}
	s = schemaOf(t, strings.Repeat(row, 11)+`{"a":["x"],"b":1.5,"c":{"d":1},"t":""}`)
	var got []string
	for _, c := range s.Late() {
		got = append(got, c.Pointer)
	}
	if d := cmp.Diff([]string{"/a", "/b", "/c"}, got); d != "" {
		t.Error(d)
	}
}

func TestKindOf(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		path, layout string
		want         Kind
	}{
		{"a.jsonl", "", JSONL},
		{"a.JSON", "", JSON},
		{"a.b.parquet", "", Parquet},
		{"x/a.arrow", "", Arrow},
		{"set", "hub", Hub},
		{"set.v1", "disk", Disk},
		{"set", "", ""},
		{"a.csv", "", ""},
		{"a.jsonl", "hub", ""},
		{"set", "nothing", ""},
	} {
		got, err := KindOf(c.path, c.layout)
		if got != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%s %s: %s, %v", c.path, c.layout, got, err)
		}
	}
}

func write(t testing.TB, k Kind, splits map[string]string, shard int64) (dir string) {
	t.Helper()
	dir = t.TempDir()
	var list []Split
	for _, name := range []string{"train", "dev"} {
		if rows, ok := splits[name]; ok {
			p := filepath.Join(dir, name+".jsonl")
			if err := os.WriteFile(p, []byte(rows), 0o644); err != nil {
				t.Fatal(err)
			}
			list = append(list, Split{name, p})
		}
	}
	schema, err := SchemaOf(t.Context(), list, func(_ Split, _ int, err error) error { return err })
	if err != nil {
		t.Fatal(err)
	}
	to := filepath.Join(dir, "out")
	files, err := Write(t.Context(), to, k, &Set{Splits: list, Schema: schema, Title: "题库", License: "CC-BY-4.0", ShardBytes: shard})
	if err != nil {
		t.Fatal(err)
	}
	rows := 0
	for _, f := range files {
		rows += f.Rows
		if _, err := os.Stat(filepath.Join(to, f.Name)); err != nil {
			t.Error(err)
		}
	}
	if want := 3 * len(splits); rows != want {
		t.Errorf("%d rows in the files, want %d", rows, want)
	}
	return to
}

// TestFiles holds every kind to its bytes, twice: nothing in them is of the clock
// or the machine.
func TestFiles(t *testing.T) {
	t.Parallel()
	for _, k := range []Kind{JSONL, JSON, Parquet, Arrow} {
		t.Run(string(k), func(t *testing.T) {
			t.Parallel()
			a, b := write(t, k, map[string]string{"train": testRows}, 0), write(t, k, map[string]string{"train": testRows}, 0)
			one, err := os.ReadFile(a)
			if err != nil {
				t.Fatal(err)
			}
			if two, _ := os.ReadFile(b); !bytes.Equal(one, two) {
				t.Error("two writings differ")
			}
			if !k.Columns() {
				golden.Equal(t, "."+string(k), one)
			}
		})
	}
}

// wantRows are testRows as a table gives them back: every column in every row.
func wantRows(t *testing.T) (rows []map[string]any) {
	t.Helper()
	for line := range strings.Lines(testRows) {
		var v map[string]any
		if err := json.Unmarshal([]byte(line), &v); err != nil {
			t.Fatal(err)
		}
		delete(v, "z")
		for _, name := range []string{"n", "f", "tags", "meta", "none"} {
			if _, ok := v[name]; !ok {
				v[name] = nil
			}
		}
		rows = append(rows, v)
	}
	return rows
}

func TestArrowHoldsTheRows(t *testing.T) {
	t.Parallel()
	b, err := os.ReadFile(write(t, Arrow, map[string]string{"train": testRows}, 0))
	if err != nil {
		t.Fatal(err)
	}
	r, err := ipc.NewReader(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Release()
	var got []map[string]any
	for r.Next() {
		var out bytes.Buffer
		if err := array.RecordToJSON(r.RecordBatch(), &out); err != nil {
			t.Fatal(err)
		}
		for line := range bytes.Lines(out.Bytes()) {
			var v map[string]any
			if err := json.Unmarshal(line, &v); err != nil {
				t.Fatal(err)
			}
			got = append(got, v)
		}
	}
	if d := cmp.Diff(wantRows(t), got); d != "" {
		t.Error(d)
	}
	features, _ := r.Schema().Metadata().GetValue(featureKey)
	golden.Equal(t, ".json", []byte(features))
}

func TestParquetColumns(t *testing.T) {
	t.Parallel()
	path := write(t, Parquet, map[string]string{"train": testRows}, 0)
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	f, err := parquet.OpenFile(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	golden.Equal(t, ".txt", []byte(f.Schema().String()+"\n"))
	if f.NumRows() != 3 {
		t.Errorf("%d rows", f.NumRows())
	}
	if v, _ := f.Lookup(featureKey); !strings.HasPrefix(v, `{"info":{"features":{"id":`) {
		t.Errorf("metadata %q", v)
	}
}

// TestFolders shows what stands in a folder, with splits and shards.
func TestFolders(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		kind   Kind
		splits map[string]string
		shard  int64
	}{
		{Hub, map[string]string{"train": testRows}, 0},
		{Hub, map[string]string{"train": testRows, "dev": testRows}, 150},
		{Disk, map[string]string{"train": testRows}, 150},
		{Disk, map[string]string{"train": testRows, "dev": testRows}, 0},
	} {
		t.Run(string(c.kind)+"-"+string(rune('0'+len(c.splits))), func(t *testing.T) {
			t.Parallel()
			dir := write(t, c.kind, c.splits, c.shard)
			var b strings.Builder
			err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
				if err != nil || d.IsDir() {
					return err
				}
				name, _ := filepath.Rel(dir, p)
				b.WriteString("== " + filepath.ToSlash(name) + "\n")
				if ext := filepath.Ext(p); ext != ".parquet" && ext != ".arrow" {
					text, err := os.ReadFile(p)
					if err != nil {
						return err
					}
					b.Write(append(text, '\n'))
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			golden.Equal(t, ".txt", []byte(b.String()))
		})
	}
}

// TestFolderOfOthers: a folder is replaced only when all in it is a set's.
func TestFolderOfOthers(t *testing.T) {
	t.Parallel()
	dir := write(t, Hub, map[string]string{"train": testRows}, 0)
	if err := CheckFolder(dir); err != nil {
		t.Error(err)
	}
	if err := CheckFolder(filepath.Join(dir, "gone")); err != nil {
		t.Error(err)
	}
	mine := filepath.Join(dir, "data", "notes.txt")
	if err := os.WriteFile(mine, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	rows := filepath.Join(filepath.Dir(dir), "train.jsonl")
	if _, err := Write(t.Context(), dir, Disk, &Set{Splits: []Split{{"train", rows}}, Schema: schemaOf(t, testRows)}); err == nil {
		t.Error("another's file would have been removed")
	}
	if _, err := os.Stat(mine); errors.Is(err, fs.ErrNotExist) {
		t.Error("another's file was removed")
	}
}

func TestTokens(t *testing.T) {
	t.Parallel()
	s := schemaOf(t, `{"input_ids":[151644,1],"labels":[-100,1],"attention_mask":[1,1]}`)
	s.Tokens()
	want := `{"info":{"features":{"input_ids":[{"dtype":"int32","_type":"Value"}],"labels":[{"dtype":"int64","_type":"Value"}],"attention_mask":[{"dtype":"int8","_type":"Value"}]}}}`
	if got := s.featureInfo(); got != want {
		t.Error(got)
	}
	s = schemaOf(t, `{"input_ids":["text"],"attention_mask":[1]}`)
	s.Tokens()
	if got := s.featureInfo(); strings.Contains(got, "int8") {
		t.Error(got)
	}
}

func TestTooManyFields(t *testing.T) {
	t.Parallel()
	s := &Schema{}
	var err error
	for i := range maxFields + 1 {
		err = errors.Join(err, s.Add([]byte(`{"by_id":{"`+strings.Repeat("k", i+1)+`":1}}`)))
	}
	var c *Conflict
	if !errors.As(err, &c) || !strings.Contains(c.Detail, "more than 1000 different fields") {
		t.Error(err)
	}
}

func FuzzRows(f *testing.F) {
	for line := range strings.Lines(testRows) {
		f.Add([]byte(line), []byte(`{"n":1.5,"meta":{"l":[[]]},"none":[[1]]}`))
	}
	f.Add([]byte(`{"":{"":[[{"":null}]]}}`), []byte(`{"":{"":[[{"":1e400}]]}}`))
	f.Fuzz(func(t *testing.T, a, b []byte) {
		s := &Schema{}
		var taken [][]byte
		for _, row := range [][]byte{a, b} {
			if s.Add(row) == nil {
				taken = append(taken, row)
			}
		}
		s.settle()
		if len(s.root.fields) == 0 {
			return
		}
		for _, k := range []Kind{Arrow, Parquet} {
			var out bytes.Buffer
			w := newRowWriter(k, &out, s)
			for _, row := range taken {
				if err := w.write(fastjson.MustParseBytes(row), row); err != nil {
					t.Fatalf("%s: %q of %q: %v", k, row, taken, err)
				}
			}
			if err := w.close(); err != nil {
				t.Fatal(err)
			}
		}
	})
}

func benchmarkRows(b *testing.B, k Kind) {
	rows := slices.Repeat([]byte(`{"id":"q1","messages":[{"role":"user","content":"`+strings.Repeat("两船交叉相遇时，让路船应当", 12)+`"},{"role":"assistant","content":"[C]"}]}`+"\n"), 2000)
	path := filepath.Join(b.TempDir(), "rows.jsonl")
	if err := os.WriteFile(path, rows, 0o644); err != nil {
		b.Fatal(err)
	}
	splits := []Split{{"train", path}}
	defer meter.CPU(b, len(rows))()
	for b.Loop() {
		s, err := SchemaOf(b.Context(), splits, func(_ Split, _ int, err error) error { return err })
		if err != nil {
			b.Fatal(err)
		}
		if _, err := Write(b.Context(), path+".out", k, &Set{Splits: splits, Schema: s}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkParquet(b *testing.B) { benchmarkRows(b, Parquet) }

func BenchmarkArrow(b *testing.B) { benchmarkRows(b, Arrow) }

// What does no harm in JSON is taken where no table is written; a number that no
// reader of tables takes is not.
func TestLoose(t *testing.T) {
	t.Parallel()
	s := &Schema{Loose: true}
	if err := s.Add([]byte(`{"o":{},"n":123456789012345678901,"f":0.12345678901234567890123}`)); err != nil {
		t.Error(err)
	}
	var c *Conflict
	if err := s.Add([]byte(`{"f":-1e400}`)); !errors.As(err, &c) || !c.Table || c.Pointer != "/f" || !strings.Contains(c.Detail, "beyond what a 64-bit float holds") {
		t.Error(err)
	}
	if err := s.Add([]byte(`{"deep":` + strings.Repeat("[", 80) + strings.Repeat("]", 80) + `}`)); !errors.As(err, &c) || !c.Table {
		t.Error(err)
	}
}
