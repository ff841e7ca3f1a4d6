package format

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/internal/msg"
)

const (
	arrowMagic = "ARROW1"
	// arrowStart is where the messages of an Arrow file begin: the magic, padded
	// to eight bytes.
	arrowStart = 8
	// maxBatch bounds the memory of a record batch with its dictionaries. Writers
	// of training sets make batches of a thousand rows.
	maxBatch = 768 << 20
	// maxMetadata bounds the description of a message: names and types of columns.
	maxMetadata = 64 << 20
	// continuation begins every message of Arrow 0.15 and later.
	continuation = 0xFFFFFFFF
)

// arrowFormat reads Arrow IPC files (Feather version 2) and streams, as Hugging
// Face datasets keeps its sets: each row as a JSON object.
func arrowFormat() Format {
	return Format{
		Name:    "arrow",
		Exts:    []string{".arrow", ".arrows", ".feather", ".ipc"},
		Summary: msg.Text{"Arrow IPC files and streams, each row as a JSON object", "Arrow IPC 文件与流，每行为一个 JSON 对象"},
		Sniff:   sniffArrow,
		Read:    readArrow,
	}
}

// sniffArrow knows a file by its magic; a stream has none, so its first message
// must be a schema.
func sniffArrow(head []byte, _ string) bool {
	if bytes.HasPrefix(head, []byte(arrowMagic)) {
		return true
	}
	if len(head) < 16 {
		return false
	}
	size := binary.LittleEndian.Uint32(head)
	if size == continuation {
		return startsWithSchema(head) || int(binary.LittleEndian.Uint32(head[4:])) > len(head)
	}
	// before 0.15 a message began with its length
	return size >= 16 && int(size) < len(head) && startsWithSchema(head)
}

func startsWithSchema(head []byte) bool {
	r, err := openStream(bytes.NewReader(head), int64(len(head)))
	if err != nil {
		return false
	}
	r.Release()
	return true
}

// openStream reads the schema of a stream of at most size bytes. A panic of the
// library comes back as an error.
func openStream(r arrowInput, size int64) (s *ipc.Reader, err error) {
	defer func() {
		if v := recover(); v != nil {
			s, err = nil, fmt.Errorf("%v", v)
		}
	}()
	if err := checkArrowStream(r); err != nil {
		return nil, err
	}
	opts := arrowLimits(size)
	return ipc.NewReaderFromMessageReader(ipc.NewMessageReader(r, opts...), opts...)
}

// arrowInput is a stream whose first message can be looked at before.
type arrowInput interface {
	io.Reader
	io.ReaderAt
}

// arrowLimits bounds what a message may claim: never more than the file has.
func arrowLimits(size int64) []ipc.Option {
	return []ipc.Option{
		ipc.WithMetadataSizeLimit(max(1, min(size, maxMetadata))),
		ipc.WithBodySizeLimit(max(1, min(size, maxBatch))),
		ipc.WithAllocator(&boundedAllocator{left: maxBatch}),
	}
}

// A boundedAllocator gives memory up to a bound and panics beyond it, which the
// reader recovers: a buffer may claim to unpack to anything.
type boundedAllocator struct{ left int64 }

// Allocate implements [memory.Allocator].
func (a *boundedAllocator) Allocate(size int) []byte {
	a.take(size)
	return memory.DefaultAllocator.Allocate(size)
}

// Reallocate implements [memory.Allocator].
func (a *boundedAllocator) Reallocate(size int, b []byte) []byte {
	a.take(size - len(b))
	return memory.DefaultAllocator.Reallocate(size, b)
}

// Free implements [memory.Allocator].
func (a *boundedAllocator) Free(b []byte) {
	a.left += int64(len(b))
	memory.DefaultAllocator.Free(b)
}

func (a *boundedAllocator) take(n int) {
	if a.left -= int64(n); a.left < 0 {
		panic(fmt.Sprintf("a record batch of more than %d MiB", maxBatch>>20))
	}
}

// An arrowSource gives record batches one after the other; io.EOF ends them.
type arrowSource interface {
	Read() (arrow.RecordBatch, error)
}

// readArrow gives the rows of all batches.
func readArrow(_ context.Context, u Unit, note func(Note)) iter.Seq2[drydock.Block, error] {
	return func(yield func(drydock.Block, error) bool) {
		r, err := os.Open(u.File.Path)
		if err != nil {
			yield(drydock.Block{}, cannotOpen(u.File, err))
			return
		}
		defer r.Close()
		w := &rowWalk{file: u.File, yield: yield}
		readArrowRows(w, r, note)
		w.values.tell(u.File, note)
	}
}

func readArrowRows(w *rowWalk, r *os.File, note func(Note)) {
	size := w.file.Size
	head := make([]byte, arrowStart)
	n, _ := r.ReadAt(head, 0)
	isFile := bytes.HasPrefix(head[:n], []byte(arrowMagic))
	var src arrowSource
	var schema *arrow.Schema
	cut := false
	if isFile {
		f, err := openArrowFile(r, size)
		if err == nil {
			defer f.Close()
			src, schema = f, f.Schema()
		}
		cut = err != nil // its footer is gone or broken: the messages may be whole
	}
	if src == nil {
		from := int64(0)
		if isFile {
			from = min(arrowStart, size)
		}
		s, err := openStream(io.NewSectionReader(r, from, size-from), size)
		if err != nil {
			w.end(badArrow(w.file, err))
			return
		}
		defer s.Release()
		src, schema = s, s.Schema()
	}
	rows, err := arrowRows(w, src, schema, note)
	switch {
	case errors.Is(err, errStop):
	case err != nil:
		w.end(badBatch(w.file, rows, err))
	case !isFile && !endsStream(r, size):
		note(Note{Code: "no_end_mark", Damage: true, Text: msg.Text{
			"%s: the Arrow stream has no end mark; rows after row %d may be missing", "%s：Arrow 流没有结束标记；第 %d 行之后可能缺行",
		}, Args: []any{w.file.name(), rows}})
	case cut:
		w.end(unreadable(w.file, msg.Text{"the Arrow file is cut off: its footer is missing", "Arrow 文件不完整：缺少文件尾"}).Hint(rowsBeforeCame()))
	}
}

// endsStream reports whether the last bytes are the mark that ends a stream: a
// message of no length, before Arrow 0.15 without the continuation in front.
func endsStream(r io.ReaderAt, size int64) bool {
	var tail [4]byte
	n, _ := r.ReadAt(tail[:], size-4)
	return n == 4 && tail == [4]byte{}
}

// openArrowFile reads the footer and the schema.
func openArrowFile(r *os.File, size int64) (f *ipc.FileReader, err error) {
	defer func() {
		if v := recover(); v != nil {
			f, err = nil, fmt.Errorf("%v", v)
		}
	}()
	if err := checkArrowFile(r, size); err != nil {
		return nil, err
	}
	return ipc.NewFileReader(r, arrowLimits(size)...)
}

// arrowRows gives the rows of a source and says how many there were.
func arrowRows(w *rowWalk, src arrowSource, schema *arrow.Schema, note func(Note)) (rows int, err error) {
	names := make([]string, schema.NumFields())
	for i, f := range schema.Fields() {
		names[i] = f.Name
	}
	names, again := uniqueNames(names)
	if again = append(again, repeatedBelow(schema.Fields())...); len(again) > 0 {
		note(repeatedNames(w.file, again))
	}
	for {
		batch, err := readBatch(src)
		if errors.Is(err, io.EOF) {
			return rows, nil
		}
		if err != nil {
			return rows, err
		}
		if rows, err = batchRows(w, names, batch, rows); err != nil {
			return rows, err
		}
	}
}

// readBatch is src.Read with a panic as error.
func readBatch(src arrowSource) (b arrow.RecordBatch, err error) {
	defer func() {
		if v := recover(); v != nil {
			b, err = nil, fmt.Errorf("%v", v)
		}
	}()
	return src.Read()
}

// batchRows gives the rows of a batch; done is how many came before it.
func batchRows(w *rowWalk, names []string, b arrow.RecordBatch, done int) (int, error) {
	columns, err := batchWriters(w, b)
	if err != nil {
		return done, err
	}
	keys := make([][]byte, len(names))
	for i, n := range names {
		keys[i] = jsonKey(n)
	}
	for i := range int(b.NumRows()) {
		w.keys.reset()
		if err := w.object(keys, columns, i); err != nil {
			return done, fmt.Errorf("row %d: %w", done+1, err)
		}
		done++
		if !w.row(done) {
			return done, errStop
		}
	}
	return done, nil
}

// object writes row i of a batch to the buffer. Offsets of a broken file make
// the library index out of range.
func (w *rowWalk) object(keys [][]byte, columns []arrowAppend, i int) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("%v", v)
		}
	}()
	dst := append(w.buf[:0], '{')
	for c, column := range columns {
		if c > 0 {
			dst = append(dst, ',')
		}
		dst = column(append(dst, keys[c]...), i)
	}
	w.buf = append(dst, '}')
	return nil
}

// batchWriters makes what writes the columns of a batch.
func batchWriters(w *rowWalk, b arrow.RecordBatch) (columns []arrowAppend, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("%v", v)
		}
	}()
	for i, column := range b.Columns() {
		if column.Len() < int(b.NumRows()) {
			return nil, fmt.Errorf("column %s holds %d rows of %d", b.ColumnName(i), column.Len(), b.NumRows())
		}
		write, err := w.writer(column)
		if err != nil {
			return nil, fmt.Errorf("column %s: %w", b.ColumnName(i), err)
		}
		columns = append(columns, write)
	}
	return columns, nil
}

func badArrow(file *File, err error) error {
	return unreadable(file, msg.Text{"not an Arrow file that can be read: %s", "无法读取此 Arrow 文件：%s"}, plainFault(err)).
		Hint(msg.Text{"write it again, or export the rows as JSONL", "请重新写出，或将数据导出为 JSONL"})
}

func badBatch(file *File, rows int, err error) error {
	return unreadable(file, msg.Text{"after row %d: %s", "第 %d 行之后：%s"}, rows, plainFault(err)).Hint(rowsBeforeCame())
}

// repeatedBelow lists the names that stand twice in a struct of the schema.
func repeatedBelow(fields []arrow.Field) (again []string) {
	for _, f := range fields {
		nested, ok := f.Type.(arrow.NestedType)
		if !ok {
			continue
		}
		below := nested.Fields()
		if _, is := f.Type.(*arrow.StructType); is {
			_, twice := uniqueNames(fieldNames(below))
			again = append(again, twice...)
		}
		again = append(again, repeatedBelow(below)...)
	}
	return again
}

func fieldNames(fields []arrow.Field) []string {
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.Name
	}
	return names
}
