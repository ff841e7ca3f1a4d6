//go:build !windows

package atomicfile

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

func TestPipeIsWrittenTo(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Skip(err)
	}
	// opened for both: neither end waits for the other
	pipe, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer pipe.Close()
	broken := errors.New("broken")
	if err := Write(path, func(io.Writer) error { return broken }); !errors.Is(err, broken) {
		t.Fatalf("got %v", err)
	}
	if err := WriteFile(path, []byte("one")); err != nil {
		t.Fatal(err)
	}
	got := make([]byte, 3)
	if _, err := io.ReadFull(pipe, got); err != nil || string(got) != "one" {
		t.Errorf("read %q, %v", got, err)
	}
	st, err := os.Stat(path)
	if err != nil || st.Mode()&os.ModeNamedPipe == 0 {
		t.Errorf("no pipe stands at its name: %v, %v", st, err)
	}
}

func TestFullDeviceIsAnError(t *testing.T) {
	t.Parallel()
	const full = "/dev/full"
	st, err := os.Stat(full)
	if err != nil || st.Mode()&os.ModeCharDevice == 0 {
		t.Skip("no such device here")
	}
	var pe *os.PathError
	if err := WriteFile(full, []byte("x")); !errors.As(err, &pe) || pe.Path != full {
		t.Errorf("got %v", err)
	}
	if after, err := os.Stat(full); err != nil || after.Mode() != st.Mode() {
		t.Errorf("the device became %v, %v", after, err)
	}
}
