package runstore_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/drydock-ml/drydock/internal/runstore"
)

func TestCountQuery(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a", "queries.jsonl")
	q := func(items, run string) runstore.Query {
		return runstore.Query{Benchmark: "b@1", Items: items, Model: "m", Run: run}
	}
	for i, c := range []struct {
		q     runstore.Query
		again bool
		want  int
	}{
		{q("x", "1"), false, 1},
		{q("x", "1"), false, 1}, // it goes on
		{q("x", "2"), false, 2},
		{q("y", "1"), false, 1},
		{q("x", "2"), true, 3}, // begun anew
		{q("x", "1"), false, 3},
	} {
		if n, err := runstore.CountQuery(path, c.q, c.again); n != c.want || err != nil {
			t.Errorf("%d: %d, want %d, %v", i, n, c.want, err)
		}
	}
	// a torn line spoils no other
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(`{"benchmark":"b@1","ite`); err != nil {
		t.Fatal(err)
	}
	f.Close()
	for want := 4; want < 6; want++ {
		if n, err := runstore.CountQuery(path, q("x", "3"), true); n != want || err != nil {
			t.Errorf("after a torn line: %d, want %d, %v", n, want, err)
		}
	}
	if _, err := runstore.CountQuery(t.TempDir(), q("x", "1"), false); err == nil {
		t.Error("a folder as the file: no error")
	}
}
