package rowfile

import (
	"io"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/valyala/fastjson"
)

// arrowType is the column in Arrow: no dictionaries, no large types.
func (c *column) arrowType() arrow.DataType {
	switch c.form {
	case boolean:
		return arrow.FixedWidthTypes.Boolean
	case integer:
		switch c.narrow {
		case 8:
			return arrow.PrimitiveTypes.Int8
		case 32:
			return arrow.PrimitiveTypes.Int32
		}
		return arrow.PrimitiveTypes.Int64
	case float:
		return arrow.PrimitiveTypes.Float64
	case list:
		return arrow.ListOfField(arrow.Field{Name: "item", Type: c.elem.arrowType(), Nullable: true})
	case object:
		return arrow.StructOf(c.arrowFields()...)
	}
	return arrow.BinaryTypes.String
}

func (c *column) arrowFields() []arrow.Field {
	fields := make([]arrow.Field, len(c.fields))
	for i, f := range c.fields {
		fields[i] = arrow.Field{Name: f.name, Type: f.arrowType(), Nullable: true}
	}
	return fields
}

// A record batch has at most this many rows, as datasets writes them, and about
// this many bytes of JSON.
const (
	batchRows  = 1000
	batchBytes = 16 << 20
)

// An arrowWriter writes rows as an IPC stream.
type arrowWriter struct {
	w     *ipc.Writer
	b     *array.RecordBuilder
	root  *column
	rows  int
	bytes int
}

func newArrowWriter(to io.Writer, s *Schema) rowWriter {
	meta := arrow.NewMetadata([]string{featureKey}, []string{s.featureInfo()})
	schema := arrow.NewSchema(s.root.arrowFields(), &meta)
	return &arrowWriter{
		root: &s.root,
		w:    ipc.NewWriter(to, ipc.WithSchema(schema)),
		b:    array.NewRecordBuilder(memory.DefaultAllocator, schema),
	}
}

func (w *arrowWriter) write(row *fastjson.Value, line []byte) (err error) {
	defer recovered(&err)
	for i, f := range w.root.fields {
		f.build(w.b.Field(i), row.Get(f.name))
	}
	w.bytes += len(line)
	if w.rows++; w.rows == batchRows || w.bytes >= batchBytes {
		return w.flush()
	}
	return nil
}

func (w *arrowWriter) flush() error {
	if w.rows == 0 {
		return nil
	}
	w.rows, w.bytes = 0, 0
	batch := w.b.NewRecordBatch()
	defer batch.Release()
	return w.w.Write(batch)
}

func (w *arrowWriter) close() (err error) {
	defer recovered(&err)
	defer w.b.Release()
	if err := w.flush(); err != nil {
		return err
	}
	return w.w.Close()
}

// build appends a value to its column's builder.
func (c *column) build(b array.Builder, v *fastjson.Value) {
	if v == nil || v.Type() == fastjson.TypeNull {
		b.AppendNull()
		return
	}
	switch b := b.(type) {
	case *array.BooleanBuilder:
		b.Append(v.Type() == fastjson.TypeTrue)
	case *array.Int8Builder:
		b.Append(int8(v.GetInt64()))
	case *array.Int32Builder:
		b.Append(int32(v.GetInt64()))
	case *array.Int64Builder:
		b.Append(v.GetInt64())
	case *array.Float64Builder:
		b.Append(v.GetFloat64())
	case *array.StringBuilder:
		b.BinaryBuilder.Append(v.GetStringBytes())
	case *array.ListBuilder:
		b.Append(true)
		for _, e := range v.GetArray() {
			c.elem.build(b.ValueBuilder(), e)
		}
	case *array.StructBuilder:
		b.Append(true)
		for i, f := range c.fields {
			f.build(b.FieldBuilder(i), v.Get(f.name))
		}
	}
}
