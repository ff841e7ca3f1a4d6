package format

import (
	"encoding/binary"
	"errors"
	"io"
)

// The library makes room for as many fields, children and keys as a schema
// claims to have, before it looks at one of them: a few wrong bytes end the
// process. So the claims are held against the bytes first. The schema is a
// FlatBuffers table; fields are counted as in Arrow's Schema.fbs.

var errSchema = errors.New("its schema claims more than the file holds")

// maxDepth is how deep columns may nest.
const maxDepth = 64

// unionType is the number of Union among the types of Schema.fbs.
const unionType = 14

// fbTable is a table in the bytes of a FlatBuffers message.
type fbTable struct {
	b   []byte
	pos int
}

// fbRoot returns the table a message begins with.
func fbRoot(b []byte) (fbTable, error) { return fbTable{b, 0}.follow(0) }

func (t fbTable) u16(at int) (int, error) {
	if at < 0 || at+2 > len(t.b) {
		return 0, errSchema
	}
	return int(binary.LittleEndian.Uint16(t.b[at:])), nil
}

func (t fbTable) u32(at int) (int, error) {
	if at < 0 || at+4 > len(t.b) {
		return 0, errSchema
	}
	return int(int32(binary.LittleEndian.Uint32(t.b[at:]))), nil
}

// follow returns the table that the offset at a place leads to.
func (t fbTable) follow(at int) (fbTable, error) {
	off, err := t.u32(at)
	if err != nil || off <= 0 || at+off+4 > len(t.b) {
		return fbTable{}, errSchema
	}
	return fbTable{t.b, at + off}, nil
}

// field returns where field i lies; 0: it is not there.
func (t fbTable) field(i int) (int, error) {
	back, err := t.u32(t.pos)
	if err != nil {
		return 0, err
	}
	size, err := t.u16(t.pos - back)
	if err != nil || 4+2*i+2 > size {
		return 0, err
	}
	off, err := t.u16(t.pos - back + 4 + 2*i)
	if err != nil || off == 0 {
		return 0, err
	}
	return t.pos + off, nil
}

// table returns the table in field i; ok is false when it is not there.
func (t fbTable) table(i int) (sub fbTable, ok bool, err error) {
	at, err := t.field(i)
	if err != nil || at == 0 {
		return fbTable{}, false, err
	}
	sub, err = t.follow(at)
	return sub, err == nil, err
}

// vector returns where the elements of field i begin and how many there are, all
// of which lie within the bytes.
func (t fbTable) vector(i, size int) (start, n int, err error) {
	at, err := t.field(i)
	if err != nil || at == 0 {
		return 0, 0, err
	}
	v, err := t.follow(at)
	if err != nil {
		return 0, 0, err
	}
	n, err = v.u32(v.pos)
	if err != nil || n < 0 || n > (len(t.b)-v.pos-4)/size {
		return 0, 0, errSchema
	}
	return v.pos + 4, n, nil
}

// checkArrowFields holds the fields in vector i of a table, and below, to the
// bytes. left is how many there may be in all: tables may share others.
func (t fbTable) checkArrowFields(i, depth int, left *int) error {
	start, n, err := t.vector(i, 4)
	if err != nil {
		return err
	}
	if *left -= n; depth == 0 || *left < 0 {
		return errSchema
	}
	for k := range n {
		f, err := t.follow(start + 4*k)
		if err != nil {
			return err
		}
		if _, _, err := f.vector(6, 4); err != nil { // custom_metadata
			return err
		}
		if at, err := f.field(2); err == nil && at > 0 && at < len(t.b) && t.b[at] == unionType {
			if union, ok, err := f.table(3); err != nil {
				return err
			} else if ok {
				if _, _, err := union.vector(1, 4); err != nil { // typeIds
					return err
				}
			}
		}
		if err := f.checkArrowFields(5, depth-1, left); err != nil { // children
			return err
		}
	}
	return nil
}

func (t fbTable) checkArrowSchema() error {
	if _, _, err := t.vector(2, 4); err != nil { // custom_metadata
		return err
	}
	left := len(t.b)
	return t.checkArrowFields(1, maxDepth, &left)
}

// checkArrowStream holds the schema a stream begins with to its bytes. A message
// that is no schema, or cut off, is left to the library.
func checkArrowStream(r io.ReaderAt) error {
	var head [8]byte
	n, _ := r.ReadAt(head[:], 0)
	if n < 8 {
		return nil
	}
	from, size := int64(8), binary.LittleEndian.Uint32(head[4:])
	if first := binary.LittleEndian.Uint32(head[:]); first != continuation {
		from, size = 4, first // before 0.15
	}
	return checkArrowMeta(r, from, int64(size), func(root fbTable) (fbTable, bool, error) { return root.table(2) })
}

// checkArrowFile does the same with the footer of a file of size bytes.
func checkArrowFile(r io.ReaderAt, size int64) error {
	var tail [10]byte
	if n, _ := r.ReadAt(tail[:], size-10); n < 10 {
		return nil
	}
	footer := int64(binary.LittleEndian.Uint32(tail[:]))
	return checkArrowMeta(r, size-10-footer, footer, func(root fbTable) (fbTable, bool, error) { return root.table(1) })
}

func checkArrowMeta(r io.ReaderAt, from, size int64, schema func(fbTable) (fbTable, bool, error)) error {
	if from < 0 || size < 4 || size > maxMetadata {
		return nil // the library refuses it
	}
	b := make([]byte, size)
	if n, _ := r.ReadAt(b, from); int64(n) < size {
		return nil
	}
	root, err := fbRoot(b)
	if err != nil {
		return err
	}
	s, ok, err := schema(root)
	if err != nil || !ok {
		return err
	}
	return s.checkArrowSchema()
}
