package archive

import (
	"encoding/binary"
	"errors"
)

// thriftStruct is a structure of Apache Thrift by field number: int64, bool,
// []byte, []any or a thriftStruct.
type thriftStruct map[int]any

func (s thriftStruct) int(field int) int64 {
	v, _ := s[field].(int64)
	return v
}

func (s thriftStruct) child(field int) thriftStruct {
	v, _ := s[field].(thriftStruct)
	return v
}

func (s thriftStruct) list(field int) []thriftStruct {
	l, _ := s[field].([]any)
	out := make([]thriftStruct, 0, len(l))
	for _, v := range l {
		if c, ok := v.(thriftStruct); ok {
			out = append(out, c)
		}
	}
	return out
}

// thrift reads the compact protocol
// (thrift/doc/specs/thrift-compact-protocol.md). What it makes is never larger
// than a few times its input.
type thrift struct {
	b   []byte
	i   int
	err error
}

var errThrift = errors.New("its description is damaged")

func (t *thrift) byte() byte {
	if t.i >= len(t.b) {
		t.err = errThrift
		return 0
	}
	t.i++
	return t.b[t.i-1]
}

func (t *thrift) varint() uint64 {
	v, n := binary.Uvarint(t.b[min(t.i, len(t.b)):])
	if n <= 0 {
		t.err = errThrift
		return 0
	}
	t.i += n
	return v
}

func (t *thrift) zigzag() int64 {
	v := t.varint()
	return int64(v>>1) ^ -int64(v&1)
}

const maxThriftDepth = 64

// structure reads fields up to the one that stops.
func (t *thrift) structure(depth int) thriftStruct {
	s := thriftStruct{}
	field := 0
	if depth > maxThriftDepth {
		t.err = errThrift
	}
	for t.err == nil {
		head := t.byte()
		if head&15 == 0 {
			return s
		}
		if d := int(head >> 4); d > 0 {
			field += d
		} else {
			field = int(t.zigzag())
		}
		switch head & 15 {
		case 1, 2: // the type is the value
			s[field] = head&15 == 1
		default:
			s[field] = t.value(head&15, depth)
		}
	}
	return s
}

func (t *thrift) value(kind byte, depth int) any {
	switch kind {
	case 1, 2:
		return t.byte() == 1
	case 3:
		return int64(int8(t.byte()))
	case 4, 5, 6:
		return t.zigzag()
	case 7:
		t.skip(8)
	case 8:
		n := t.varint()
		from := t.i
		t.skip(n)
		if t.err == nil {
			return t.b[from:t.i]
		}
	case 9, 10:
		return t.sequence(depth)
	case 11:
		t.mapping(depth)
	case 12:
		return t.structure(depth + 1)
	default:
		t.err = errThrift
	}
	return nil
}

func (t *thrift) skip(n uint64) {
	if n > uint64(len(t.b)-t.i) {
		t.err = errThrift
		return
	}
	t.i += int(n)
}

func (t *thrift) sequence(depth int) []any {
	head := t.byte()
	n := uint64(head >> 4)
	if n == 15 {
		n = t.varint()
	}
	if depth > maxThriftDepth || n > uint64(len(t.b)-t.i) { // an element takes a byte
		t.err = errThrift
		return nil
	}
	var out []any
	for ; n > 0 && t.err == nil; n-- {
		out = append(out, t.value(head&15, depth+1))
	}
	return out
}

func (t *thrift) mapping(depth int) {
	n := t.varint()
	if n == 0 {
		return
	}
	kinds := t.byte()
	if depth > maxThriftDepth {
		t.err = errThrift
	}
	for ; n > 0 && t.err == nil; n-- {
		t.value(kinds>>4, depth+1)
		t.value(kinds&15, depth+1)
	}
}
