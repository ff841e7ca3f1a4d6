package atomicfile

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
)

func TestWrite(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "a", "b.txt")
	if err := WriteFile(path, []byte("one")); err != nil {
		t.Fatal(err)
	}
	broken := errors.New("broken")
	err := Write(path, func(w io.Writer) error {
		if _, err := io.WriteString(w, "half"); err != nil {
			return err
		}
		return broken
	})
	if !errors.Is(err, broken) {
		t.Fatalf("got %v", err)
	}
	if b, _ := os.ReadFile(path); string(b) != "one" {
		t.Errorf("a failed write changed the file to %q", b)
	}
	if err := WriteFile(path, []byte("two")); err != nil {
		t.Fatal(err)
	}
	if b, _ := os.ReadFile(path); string(b) != "two" {
		t.Errorf("got %q", b)
	}
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(entries) != 1 {
		t.Errorf("temporary files are left: %v %v", entries, err)
	}
}

func TestCommitTwiceIsAnError(t *testing.T) {
	t.Parallel()
	f, err := Create(filepath.Join(t.TempDir(), "x"))
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Commit(); err != nil {
		t.Fatal(err)
	}
	if err := f.Commit(); err == nil {
		t.Error("no error")
	}
	f.Abort() // must not remove what was committed
	if _, err := os.Stat(f.path); err != nil {
		t.Error(err)
	}
}

func TestErrorsNameTheFileThatWasAskedFor(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "taken")
	if err := os.Mkdir(path, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(path, "x"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	err := WriteFile(path, []byte("x"))
	var pe *os.PathError
	if !errors.As(err, &pe) || pe.Path != path {
		t.Errorf("got %v", err)
	}
}

// A write that fails before Commit, as on a full disk, names that file, too.
func TestWriteErrorsNameTheFileThatWasAskedFor(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "big")
	f, err := Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Abort()
	if err := f.f.Close(); err != nil {
		t.Fatal(err)
	}
	_, err = f.Write(make([]byte, 1<<20))
	var pe *os.PathError
	if !errors.As(err, &pe) || pe.Path != path {
		t.Errorf("got %v", err)
	}
}
