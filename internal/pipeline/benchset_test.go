package pipeline

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/drydock-ml/drydock/dataprep/rowfile"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/golden"
)

// A published benchmark is known by its items, in whatever a data set stands: the
// same as in the file they came from.
func TestRealSavedBenchmark(t *testing.T) {
	t.Parallel()
	src := golden.RealData(t, "maritimebench", "maritimebench_test.json")
	want, err := FindBench(src, "", t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	rows := filepath.Join(dir, "rows.jsonl")
	var lines bytes.Buffer
	for _, it := range want.Items {
		if err := json.Compact(&lines, it.Raw); err != nil {
			t.Fatal(err)
		}
		lines.WriteByte('\n')
	}
	if err := os.WriteFile(rows, lines.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	splits := []rowfile.Split{{Name: "test", Path: rows}}
	schema, err := rowfile.SchemaOf(t.Context(), splits, func(_ rowfile.Split, _ int, err error) error { return err })
	if err != nil {
		t.Fatal(err)
	}
	for name, kind := range map[string]rowfile.Kind{
		"saved": rowfile.Disk, "hub": rowfile.Hub, "t.parquet": rowfile.Parquet, "t.arrow": rowfile.Arrow,
	} {
		path := filepath.Join(dir, name)
		// small shards, so that folders hold several files
		set := &rowfile.Set{Splits: splits, Schema: schema, ShardBytes: 200 << 10}
		if _, err := rowfile.Write(t.Context(), path, kind, set); err != nil {
			t.Fatal(err)
		}
		got, err := FindBench(path, "", t.TempDir(), nil)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got.Name != "maritime_bench" || got.Canonical != want.Canonical || got.Benchmark.Fingerprint() != want.Benchmark.Fingerprint() {
			t.Errorf("%s: %s, %d items", name, got.Name, len(got.Items))
		}
	}
}

// The hash of a benchmark is that of its files, so that one file has the hash
// anybody gets of it.
func TestFolderHash(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	put := func(name, text string) string {
		p := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return p
	}
	file := put("set/default/test.csv", "question,A,B,answer\n谁保管航海日志,船长,厨工,A\n")
	byFile, err := FindBench(file, "", t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	byFolder, err := FindBench(filepath.Join(dir, "set"), "", t.TempDir(), nil)
	if err != nil || byFile.SHA256 != byFolder.SHA256 || byFile.Canonical != byFolder.Canonical {
		t.Errorf("%v: %s, %s", err, byFile.SHA256, byFolder.SHA256)
	}
}

// A file of typed columns that breaks off is an error of configuration, not of an
// input among many.
func TestReadItemFileBroken(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{"a.parquet": "PAR1 cut off", "a.arrow": "ARROW1\x00\x00\xff\xff\xff\xff\x10\x00\x00\x00"} {
		p := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadItemFile(p); fail.Code(err) != 2 {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := ReadItemFile(filepath.Join(t.TempDir(), "gone")); fail.Code(err) != 2 {
		t.Errorf("%v", err)
	}
}
