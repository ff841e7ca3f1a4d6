// Package golden compares test output with a file named after the test;
// go test -update rewrites the files.
package golden

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite golden files")

// Equal compares got with testdata/<test name><ext>. Line ends are normalised,
// so that a checkout on Windows passes.
func Equal(t testing.TB, ext string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", filepath.FromSlash(strings.ReplaceAll(t.Name(), " ", "_"))+ext)
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v (run go test -update once, then read the file)", err)
	}
	if d := cmp.Diff(lf(want), lf(got)); d != "" {
		t.Errorf("%s differs (-want +got):\n%s", path, d)
	}
}

func lf(b []byte) string { return string(bytes.ReplaceAll(b, []byte("\r\n"), []byte("\n"))) }
