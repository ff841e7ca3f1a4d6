package rowfile

import (
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go"
	"github.com/valyala/fastjson"
)

// An inOrder is a group whose fields keep their order; the library's own sorts
// them by name.
type inOrder struct {
	parquet.Group
	fields []parquet.Field
}

// Fields implements [parquet.Node].
func (g inOrder) Fields() []parquet.Field { return g.fields }

// node is the column in Parquet. Everything is optional and lists have three
// levels, as Arrow's own writer does it.
func (c *column) node() parquet.Node {
	var n parquet.Node
	switch c.form {
	case boolean:
		n = parquet.Leaf(parquet.BooleanType)
	case integer:
		bits := c.narrow
		if bits == 0 {
			bits = 64
		}
		n = parquet.Int(bits)
	case float:
		n = parquet.Leaf(parquet.DoubleType)
	case list:
		n = parquet.List(c.elem.node())
	case object:
		n = c.group()
	default:
		n = parquet.String()
	}
	return parquet.Optional(n)
}

func (c *column) group() parquet.Node {
	g := parquet.Group{}
	for _, f := range c.fields {
		g[f.name] = f.node()
	}
	byName := map[string]parquet.Field{}
	for _, f := range g.Fields() {
		byName[f.Name()] = f
	}
	fields := make([]parquet.Field, len(c.fields))
	for i, f := range c.fields {
		fields[i] = byName[f.name]
	}
	return inOrder{g, fields}
}

// groupBytes is about how many bytes of JSON make a row group: what a writer
// holds, and a reader must, at a time.
const groupBytes = 32 << 20

// A parquetWriter writes rows as Parquet.
type parquetWriter struct {
	w     *parquet.GenericWriter[any]
	root  *column
	leafs [][]parquet.Value // of the row at hand, by column
	row   parquet.Row
	bytes int
}

func newParquetWriter(to io.Writer, s *Schema) rowWriter {
	return &parquetWriter{root: &s.root, w: parquet.NewGenericWriter[any](to,
		parquet.NewSchema("schema", s.root.group()),
		parquet.Compression(&parquet.Snappy),
		parquet.CreatedBy("drydock", "1", "1"),
		parquet.KeyValueMetadata(featureKey, s.featureInfo()),
	)}
}

func (w *parquetWriter) write(row *fastjson.Value, line []byte) (err error) {
	defer recovered(&err)
	column := 0
	for _, f := range w.root.fields {
		w.shred(f, row.Get(f.name), 0, 0, 0, &column)
	}
	w.row = w.row[:0]
	for i, leaf := range w.leafs {
		w.row = append(w.row, leaf...)
		w.leafs[i] = leaf[:0]
	}
	if _, err := w.w.WriteRows([]parquet.Row{w.row}); err != nil {
		return err
	}
	if w.bytes += len(line); w.bytes >= groupBytes {
		w.bytes = 0
		return w.w.Flush()
	}
	return nil
}

func (w *parquetWriter) close() (err error) {
	defer recovered(&err)
	return w.w.Close()
}

// shred appends a value's leaves with their levels: rep and def are those of the
// value itself, depth counts the lists around it. See Dremel, and "Nested
// Encoding" of the Parquet format.
func (w *parquetWriter) shred(c *column, v *fastjson.Value, rep, def, depth int, column *int) {
	absent := v == nil || v.Type() == fastjson.TypeNull
	switch {
	case c.form == object:
		if !absent {
			def++
		}
		for _, f := range c.fields {
			var e *fastjson.Value
			if !absent {
				e = v.Get(f.name)
			}
			w.shred(f, e, rep, def, depth, column)
		}
	case c.form == list:
		first := *column
		var elems []*fastjson.Value
		if !absent {
			def++
			elems = v.GetArray()
		}
		if len(elems) == 0 {
			w.shred(c.elem, nil, rep, def, depth+1, column)
		}
		for i, e := range elems {
			if i > 0 {
				rep = depth + 1
			}
			*column = first
			w.shred(c.elem, e, rep, def+1, depth+1, column)
		}
	case absent:
		w.leaf(parquet.NullValue().Level(rep, def, *column), column)
	default:
		w.leaf(c.leaf(v).Level(rep, def+1, *column), column)
	}
}

func (w *parquetWriter) leaf(v parquet.Value, column *int) {
	if *column == len(w.leafs) {
		w.leafs = append(w.leafs, nil)
	}
	w.leafs[*column] = append(w.leafs[*column], v)
	*column++
}

func (c *column) leaf(v *fastjson.Value) parquet.Value {
	switch c.form {
	case boolean:
		return parquet.BooleanValue(v.Type() == fastjson.TypeTrue)
	case integer:
		if c.narrow > 0 && c.narrow <= 32 {
			return parquet.Int32Value(int32(v.GetInt64()))
		}
		return parquet.Int64Value(v.GetInt64())
	case float:
		return parquet.DoubleValue(v.GetFloat64())
	}
	return parquet.ByteArrayValue(v.GetStringBytes())
}

// recovered turns a panic of a library into an error: the rows are the user's.
func recovered(err *error) {
	if v := recover(); v != nil {
		*err = fmt.Errorf("%v", v)
	}
}
