package golden

import (
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"testing"
)

// RealData returns a path in the folder of real files that is never part of
// the project: DRYDOCK_REALDATA, or ../shared/realdata beside the checkout. The
// test is skipped, saying so, when it is not there.
func RealData(t testing.TB, parts ...string) string {
	t.Helper()
	root := os.Getenv("DRYDOCK_REALDATA")
	if root == "" {
		dir, err := os.Getwd()
		if err != nil {
			t.Fatal(err)
		}
		for ; ; dir = filepath.Dir(dir) {
			if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
				root = filepath.Join(filepath.Dir(dir), "shared", "realdata")
				break
			}
			if dir == filepath.Dir(dir) {
				t.Skip("no go.mod above the test; set DRYDOCK_REALDATA")
			}
		}
	}
	p := filepath.Join(append([]string{root}, parts...)...)
	if _, err := os.Stat(p); err != nil {
		t.Skipf("real data is not here: %v", err)
	}
	return p
}

// ReadFile returns the bytes of a file, unpacked when only NAME.gz is there.
func ReadFile(t testing.TB, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err == nil {
		return b
	}
	f, err := os.Open(path + ".gz")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	if b, err = io.ReadAll(z); err != nil {
		t.Fatal(err)
	}
	return b
}
