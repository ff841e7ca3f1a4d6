package pipeline

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/dataprep/format"
	"github.com/drydock-ml/drydock/dataprep/rowfile"
	"github.com/drydock-ml/drydock/internal/meter"
)

// BenchmarkReadRows reads the same rows from each kind of file, as JSON without
// making records of them. MB are those of the JSON, whatever the file's size.
func BenchmarkReadRows(b *testing.B) {
	data := zhRows(8 << 20)
	path := filepath.Join(b.TempDir(), "rows.jsonl")
	if err := os.WriteFile(path, data, 0o644); err != nil {
		b.Fatal(err)
	}
	rows := bytes.Count(data, []byte{'\n'})
	b.Run("jsonl", func(b *testing.B) { benchRead(b, path, rows, len(data)) })
	splits := []rowfile.Split{{Name: "train", Path: path}}
	schema, err := rowfile.SchemaOf(b.Context(), splits, func(_ rowfile.Split, _ int, err error) error { return err })
	if err != nil {
		b.Fatal(err)
	}
	for _, kind := range []rowfile.Kind{rowfile.Parquet, rowfile.Arrow} {
		file := filepath.Join(b.TempDir(), "rows."+string(kind))
		if _, err := rowfile.Write(b.Context(), file, kind, &rowfile.Set{Splits: splits, Schema: schema}); err != nil {
			b.Fatal(err)
		}
		b.Run(string(kind), func(b *testing.B) { benchRead(b, file, rows, len(data)) })
	}
}

func benchRead(b *testing.B, path string, want, size int) {
	f, kind, err := format.Open(&drydock.File{Name: filepath.Base(path)}, path, format.Options{}, nil)
	if err != nil {
		b.Fatal(err)
	}
	defer meter.CPU(b, size)()
	for b.Loop() {
		units, err := kind.Units(b.Context(), f)
		if err != nil {
			b.Fatal(err)
		}
		n := 0
		for _, u := range units {
			for block, err := range kind.Document(u, nil).Blocks(b.Context()) {
				if err != nil || len(block.Raw) == 0 {
					b.Fatal(err, block)
				}
				n++
			}
		}
		if n != want {
			b.Fatalf("%d rows, want %d", n, want)
		}
	}
}
