package format_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/csv"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"

	"github.com/drydock-ml/drydock/dataprep/format"
	"github.com/drydock-ml/drydock/dataprep/format/formattest"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/golden"
	"github.com/drydock-ml/drydock/internal/meter"
)

// rowLines gives what was read as JSON Lines.
func rowLines(r formattest.Result) string {
	var b strings.Builder
	for _, block := range r.Blocks {
		b.Write(block.Raw)
		b.WriteByte('\n')
	}
	return b.String()
}

// TestColumnsAsPyarrow reads one column of each type as pyarrow does.
// scripts/interop/parquet.py made the files.
func TestColumnsAsPyarrow(t *testing.T) {
	t.Parallel()
	want := string(golden.ReadFile(t, "testdata/interop/types.jsonl"))
	for _, name := range []string{"types.parquet", "types.arrow", "types.arrows"} {
		r, _ := formattest.Read(t.Context(), filepath.Join("testdata/interop", name), format.Options{})
		if r.Err != nil {
			t.Fatal(r.Err)
		}
		if d := cmp.Diff(want, rowLines(r)); d != "" {
			t.Errorf("%s differs from pyarrow (-pyarrow +drydock):\n%s", name, d)
		}
	}
}

// pyarrowFile is what pyarrow made of a file.
type pyarrowFile struct {
	Rows   int
	SHA256 string
	Error  bool
}

// TestRealParquet reads Apache's own test files, broken ones among them, as
// pyarrow does, or refuses them saying why.
func TestRealParquet(t *testing.T) {
	t.Parallel()
	root := golden.RealData(t, "parquet-testing")
	var peer struct{ Files map[string]pyarrowFile }
	ok(t, json.Unmarshal(golden.ReadFile(t, "testdata/interop/real-parquet.json"), &peer))
	for name, want := range peer.Files {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, kind := formattest.Read(t.Context(), filepath.Join(root, name), format.Options{})
			if kind == nil || kind.Name != "parquet" {
				t.Fatalf("read as %v: %v", kind, r.Err)
			}
			if code := fail.Code(r.Err); r.Err != nil && code != 3 {
				t.Fatalf("exit code %d: %v", code, r.Err)
			}
			switch filepath.Base(name) {
			case "column_chunk_key_value_metadata.parquet":
				return // a key without a value in a column's metadata: the library refuses the footer; there are no rows
			case "datapage_v1-corrupt-checksum.parquet":
				if r.Err == nil { // pyarrow does not look unless told to
					t.Error("a page whose checksum is wrong was read")
				}
				return
			case "incorrect_map_schema.parquet":
				if len(r.Blocks) != 1 { // pyarrow wants map keys required; the values are whole
					t.Errorf("%d rows", len(r.Blocks))
				}
				return
			}
			if want.Error {
				if r.Err == nil {
					t.Errorf("pyarrow refuses it; %d rows came without an error", len(r.Blocks))
				}
				return
			}
			sum := sha256.Sum256([]byte(rowLines(r)))
			if got := hex.EncodeToString(sum[:]); r.Err != nil || len(r.Blocks) != want.Rows || got != want.SHA256 {
				t.Errorf("%d rows of %d, error %v; first: %.300s", len(r.Blocks), want.Rows, r.Err, rowLines(r))
			}
		})
	}
}

// TestRealParquetCSV compares with the values that stand beside four files.
func TestRealParquetCSV(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"delta_binary_packed", "delta_byte_array", "delta_encoding_optional_column", "delta_encoding_required_column"} {
		path := golden.RealData(t, "parquet-testing", "data", name+".parquet")
		f, err := os.Open(strings.TrimSuffix(path, ".parquet") + "_expect.csv")
		ok(t, err)
		defer f.Close()
		want, err := csv.NewReader(f).ReadAll()
		ok(t, err)
		r, _ := formattest.Read(t.Context(), path, format.Options{})
		if r.Err != nil || len(r.Blocks) != len(want)-1 {
			t.Fatalf("%s: %d rows of %d, %v", name, len(r.Blocks), len(want)-1, r.Err)
		}
		for i, b := range r.Blocks {
			var row map[string]any
			d := json.NewDecoder(bytes.NewReader(b.Raw))
			d.UseNumber()
			ok(t, d.Decode(&row))
			for j, column := range want[0] {
				column = strings.TrimSpace(column) // headers there have a blank, names here a colon
				got := cell(row[column]) + cell(row[column+":"])
				if got != want[i+1][j] {
					t.Fatalf("%s row %d, %s: %q, want %q", name, i+1, column, got, want[i+1][j])
				}
			}
		}
	}
}

// cell is a JSON value as a table shows it.
func cell(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case json.Number:
		return v.String()
	}
	return ""
}

// TestParquetFaults names what is wrong, and where.
func TestParquetFaults(t *testing.T) {
	t.Parallel()
	whole := golden.ReadFile(t, "testdata/interop/types.parquet")
	damaged := bytes.Clone(whole)
	copy(damaged[len(whole)/3:], bytes.Repeat([]byte{0xFF}, 40))
	for _, c := range []struct {
		name string
		data []byte
		want string
	}{
		{"cut.parquet", whole[:len(whole)-1], "its footer is missing"},
		{"encrypted.parquet", append([]byte("PARE"), whole[4:]...), "is encrypted"},
		{"damaged.parquet", damaged, "row group 2, column"},
	} {
		r, _ := formattest.Read(t.Context(), fileOf(t, c.name, c.data), format.Options{})
		if fail.Code(r.Err) != 3 || !strings.Contains(r.Err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, r.Err, c.want)
		}
	}
}

func FuzzParquet(f *testing.F) {
	whole, err := os.ReadFile("testdata/interop/types.parquet")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(whole)
	f.Add(whole[:len(whole)/2])
	f.Fuzz(func(t *testing.T, data []byte) {
		r, _ := formattest.Read(t.Context(), fileOf(t, "f.parquet", append([]byte("PAR1"), data...)), format.Options{})
		checkFuzzed(t, r)
		checkJSONRows(t, r)
	})
}

// checkJSONRows holds that every row is a JSON object.
func checkJSONRows(t *testing.T, r formattest.Result) {
	t.Helper()
	for _, b := range r.Blocks {
		if len(b.Raw) > 0 && (b.Raw[0] != '{' || !json.Valid(b.Raw)) {
			t.Fatalf("no JSON object: %.200s", b.Raw)
		}
	}
}

// BenchmarkParquet reads rows of text columns; its bytes are those of the rows as
// JSON.
func BenchmarkParquet(b *testing.B) {
	type row struct {
		Question string   `parquet:"question"`
		Choices  []string `parquet:"choices,list"`
		Answer   int32    `parquet:"answer"`
	}
	one := row{Question: "船舶在能见度不良的水域中航行时，应以适合当时环境的安全航速行驶，机动船应将机器作好随时操纵的准备，这一规定适用于______。", Choices: []string{"所有船舶", "机动船", "帆船", "从事捕鱼的船舶"}, Answer: 1}
	asJSON, err := json.Marshal(one)
	if err != nil {
		b.Fatal(err)
	}
	const n = 50_000
	var file bytes.Buffer
	w := parquet.NewGenericWriter[row](&file, parquet.Compression(&parquet.Snappy))
	for i := range n {
		one.Question = fmt.Sprintf("%d. %s", i, one.Question[strings.Index(one.Question, "船"):])
		if _, err := w.Write([]row{one}); err != nil {
			b.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		b.Fatal(err)
	}
	path := fileOf(b, "b.parquet", file.Bytes())
	defer meter.CPU(b, n*len(asJSON))()
	for b.Loop() {
		benchBlocks(b, path, n)
	}
}
