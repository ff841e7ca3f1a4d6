package rowfile

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/valyala/fastjson"

	"github.com/drydock-ml/drydock/internal/atomicfile"
)

// A Split is one part of a set: its name, and its rows as JSON Lines.
type Split struct {
	Name string // train, dev …
	Path string
}

// A Set is what is written.
type Set struct {
	Splits []Split // a file has one; a folder one or more
	Schema *Schema // of all rows of all splits
	// Title, License and Text say in a hub folder's README what the set is; all
	// may be empty.
	Title, License, Text string
	// ShardBytes is how many bytes of JSON go into one file of a folder; 0: 500 MB,
	// as datasets does.
	ShardBytes int64
}

const defaultShard = 500 << 20

// A File is one that was written.
type File struct {
	Name string // slashes, relative to the folder; "" for the file itself
	Rows int    // 0 for a file that describes the others
}

// Write writes the rows to path, whole or not at all, and returns the files.
// Nothing of the rows is held in memory beyond a row group or record batch.
func Write(ctx context.Context, path string, k Kind, s *Set) (files []File, err error) {
	if !k.Folder() && len(s.Splits) != 1 {
		return nil, fmt.Errorf("%s: a file holds one split, not %d", path, len(s.Splits))
	}
	s.Schema.settle()
	if k.Columns() && len(s.Schema.root.fields) == 0 {
		return nil, fmt.Errorf("%s: no row has a field, so there is no column to write", path)
	}
	if k.Folder() {
		return writeFolder(ctx, path, k, s)
	}
	one := File{}
	err = atomicfile.Write(path, func(w io.Writer) error {
		one.Rows, err = copyRows(ctx, newRowWriter(k, w, s.Schema), s.Splits[0].Path)
		return err
	})
	return []File{one}, err
}

// A rowWriter takes rows one after the other.
type rowWriter interface {
	// write takes a row, and as what it stood in its line.
	write(row *fastjson.Value, line []byte) error
	close() error
}

func newRowWriter(k Kind, to io.Writer, s *Schema) rowWriter {
	switch k {
	case Parquet, Hub:
		return newParquetWriter(to, s)
	case Arrow, Disk:
		return newArrowWriter(to, s)
	}
	return &jsonWriter{w: to, array: k == JSON}
}

// A jsonWriter writes rows as they stand.
type jsonWriter struct {
	w     io.Writer
	array bool
	rows  int
}

func (w *jsonWriter) write(_ *fastjson.Value, line []byte) error {
	before, after := "", "\n"
	if w.array {
		if before, after = ",\n", ""; w.rows == 0 {
			before = "[\n"
		}
	}
	w.rows++
	if _, err := io.WriteString(w.w, before); err != nil {
		return err
	}
	if _, err := w.w.Write(line); err != nil {
		return err
	}
	_, err := io.WriteString(w.w, after)
	return err
}

func (w *jsonWriter) close() (err error) {
	switch {
	case w.array && w.rows == 0:
		_, err = io.WriteString(w.w, "[]\n")
	case w.array:
		_, err = io.WriteString(w.w, "\n]\n")
	}
	return err
}

func copyRows(ctx context.Context, w rowWriter, from string) (n int, err error) {
	var parser fastjson.Parser
	err = eachLine(ctx, from, func(line []byte) error {
		n++
		v, err := parser.ParseBytes(line)
		if err == nil {
			err = w.write(v, line)
		}
		if err != nil {
			return fmt.Errorf("row %d: %w", n, err)
		}
		return nil
	})
	return n, errors.Join(err, w.close())
}

// eachLine calls do with every line of a file, without its end.
func eachLine(ctx context.Context, path string, do func(line []byte) error) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	in := bufio.NewReaderSize(f, 256<<10)
	var long []byte
	for {
		line, err := in.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			long = append(long, line...)
			continue
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if len(long) > 0 {
			long = append(long, line...)
			line = long
		}
		if line = bytes.TrimSuffix(line, []byte{'\n'}); len(line) > 0 {
			if err := do(line); err != nil {
				return err
			}
		}
		long = long[:0]
		if err != nil {
			return nil
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
}

// SchemaOf reads the rows of JSON Lines files and returns the schema of all. A row
// that does not fit those before it is given to conflict with its file and number
// from 1, and is not part of the schema; conflict may end the reading by an error.
func SchemaOf(ctx context.Context, splits []Split, conflict func(s Split, row int, err error) error) (*Schema, error) {
	schema := &Schema{}
	for _, split := range splits {
		n := 0
		err := eachLine(ctx, split.Path, func(line []byte) error {
			n++
			if err := schema.Add(line); err != nil {
				return conflict(split, n, err)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return schema, nil
}
