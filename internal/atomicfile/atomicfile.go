// Package atomicfile writes files that are whole or not there: to a temporary
// name in the same directory, synced, then renamed. What is no file, such as
// /dev/null or a pipe of the shell, is written to as it stands.
package atomicfile

import (
	"bufio"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// A File is a file being written. Nothing stands under its name until Commit.
type File struct {
	*bufio.Writer
	f      *os.File
	path   string
	stream bool // f is what stands at path, and no file
	done   bool
}

// Create begins a file at path, making its directories. A device or a pipe that
// stands there is opened, and stays: a file renamed over it would take its place.
func Create(path string) (*File, error) {
	if st, err := os.Stat(path); err == nil && !st.IsDir() && !st.Mode().IsRegular() {
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return nil, err
		}
		return &File{Writer: bufio.NewWriterSize(f, 256<<10), f: f, path: path, stream: true}, nil
	}
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	f, err := os.CreateTemp(dir, ".tmp-"+filepath.Base(path)+"-*")
	if err != nil {
		return nil, asPath(err, path)
	}
	return &File{Writer: bufio.NewWriterSize(named{f, path}, 256<<10), f: f, path: path}, nil
}

// named writes to the temporary file under the name the user asked for: a disk
// may be full long before Commit.
type named struct {
	f    *os.File
	path string
}

// Write implements [io.Writer].
func (n named) Write(b []byte) (int, error) {
	size, err := n.f.Write(b)
	if err != nil {
		err = asPath(err, n.path)
	}
	return size, err
}

// Commit flushes, syncs and puts the file under its name. After an error
// nothing stands there that was not there before; a device or a pipe has what
// was written by then.
func (f *File) Commit() error {
	if f.done {
		return errors.New("commit " + f.path + ": already closed")
	}
	err := f.Flush()
	if f.stream {
		f.done = true
		return errors.Join(err, f.f.Close())
	}
	if err == nil {
		err = f.f.Chmod(0o644)
	}
	if err == nil {
		err = f.f.Sync()
	}
	if err != nil {
		f.Abort()
		return asPath(err, f.path)
	}
	f.done = true
	if err := f.f.Close(); err != nil {
		os.Remove(f.f.Name())
		return asPath(err, f.path)
	}
	if err := Replace(f.f.Name(), f.path); err != nil {
		os.Remove(f.f.Name())
		return asPath(err, f.path)
	}
	return nil
}

// Abort throws the file away. After Commit it does nothing, so it can be
// deferred.
func (f *File) Abort() {
	if f.done {
		return
	}
	f.done = true
	f.f.Close()
	if !f.stream {
		os.Remove(f.f.Name())
	}
}

// Write writes what fill writes as a whole file.
func Write(path string, fill func(io.Writer) error) error {
	f, err := Create(path)
	if err != nil {
		return err
	}
	defer f.Abort()
	if err := fill(f); err != nil {
		return err
	}
	return f.Commit()
}

// WriteFile writes data as a whole file.
func WriteFile(path string, data []byte) error {
	return Write(path, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}

// asPath names the file the user asked for instead of the temporary one.
func asPath(err error, path string) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return &fs.PathError{Op: "write", Path: path, Err: pe.Err}
	}
	var le *os.LinkError
	if errors.As(err, &le) {
		return &fs.PathError{Op: "write", Path: path, Err: le.Err}
	}
	return err
}
