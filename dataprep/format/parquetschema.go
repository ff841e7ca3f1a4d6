package format

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/deprecated"
	pq "github.com/parquet-go/parquet-go/format"
)

// A pqKind says how the values of a node come together.
type pqKind uint8

const (
	pqLeaf pqKind = iota
	pqStruct
	pqList
	pqMap // children: key, value
)

// A pqNode is a field of a Parquet schema as JSON sees it: the helper groups
// that lists and maps are wrapped in are gone. Levels are Parquet's: a value is
// there when its definition level reaches that of the node, and goes on with the
// list whose repetition level it has.
type pqNode struct {
	name     string
	key      []byte // the name with its colon
	kind     pqKind
	def      int // level from which the node is not null
	elemDef  int // lists and maps: level from which there is an element
	rep      int // lists and maps: level at which an element follows
	children []*pqNode
	first    int // its leaf columns are first to end-1
	end      int
	append   func(c *columnValues, dst []byte, v parquet.Value) []byte // leaves
}

// maxSchemaDepth is deeper than any schema made for use.
const maxSchemaDepth = 64

// pqSchema builds the tree from the flat list of a footer.
type pqSchema struct {
	elems []pq.SchemaElement
	pos   int
	leafs int
	again []string // names that stand twice in one group
}

// parquetTree returns the rows' schema. again lists field names that had to be
// changed, since a JSON object holds each name once.
func parquetTree(elems []pq.SchemaElement) (root *pqNode, again []string, err error) {
	s := &pqSchema{elems: elems}
	if len(elems) == 0 {
		return nil, nil, errors.New("the schema is empty")
	}
	s.pos = 1
	root = &pqNode{kind: pqStruct}
	if err := s.fields(root, &elems[0], 0, 0, 0); err != nil {
		return nil, nil, err
	}
	if s.pos != len(elems) {
		return nil, nil, fmt.Errorf("the schema holds %d fields that belong to no group", len(elems)-s.pos)
	}
	if root.end == 0 {
		return nil, nil, errors.New("the schema has no columns")
	}
	return root, s.again, nil
}

// fields reads the children of a group.
func (s *pqSchema) fields(n *pqNode, e *pq.SchemaElement, def, rep, depth int) error {
	count := int(e.NumChildren.V)
	if count < 0 || count > len(s.elems)-s.pos {
		return fmt.Errorf("group %q claims %d fields", e.Name, count)
	}
	n.first = s.leafs
	names := make([]string, 0, count)
	for range count {
		c, err := s.node(def, rep, depth+1)
		if err != nil {
			return err
		}
		n.children = append(n.children, c)
		names = append(names, c.name)
	}
	n.end = s.leafs
	unique, again := uniqueNames(names)
	for i, c := range n.children {
		c.name, c.key = unique[i], jsonKey(unique[i])
	}
	s.again = append(s.again, again...)
	return nil
}

// node reads the field at pos with all below it. def and rep are the levels of
// what it stands in.
func (s *pqSchema) node(def, rep, depth int) (*pqNode, error) {
	if depth > maxSchemaDepth {
		return nil, fmt.Errorf("the schema is nested deeper than %d levels", maxSchemaDepth)
	}
	if s.pos >= len(s.elems) {
		return nil, errors.New("the schema ends in the middle of a group")
	}
	e := &s.elems[s.pos]
	s.pos++
	switch e.RepetitionType.V {
	case pq.Optional:
		def++
	case pq.Repeated:
		// a repeated field outside a LIST group is a list of its own
		elem, err := s.value(e, def+1, rep+1, depth, true)
		if err != nil {
			return nil, err
		}
		return listOf(e.Name, def, def+1, rep+1, elem), nil
	}
	return s.value(e, def, rep, depth, false)
}

func listOf(name string, def, elemDef, rep int, elem *pqNode) *pqNode {
	return &pqNode{
		name: name, key: jsonKey(name), kind: pqList, def: def, elemDef: elemDef, rep: rep,
		children: []*pqNode{elem}, first: elem.first, end: elem.end,
	}
}

// value reads what one occurrence of a field holds, its own levels counted in.
func (s *pqSchema) value(e *pq.SchemaElement, def, rep, depth int, element bool) (*pqNode, error) {
	if e.Type.Valid {
		write, err := leafWriter(e)
		if err != nil {
			return nil, fmt.Errorf("column %q: %w", e.Name, err)
		}
		n := &pqNode{name: e.Name, key: jsonKey(e.Name), def: def, first: s.leafs, end: s.leafs + 1, append: write}
		s.leafs++
		return n, nil
	}
	if e.NumChildren.V == 1 && s.pos < len(s.elems) && s.elems[s.pos].RepetitionType.V == pq.Repeated && !element {
		switch annotated(e) {
		case deprecated.List:
			return s.list(e, def, rep, depth)
		case deprecated.Map, deprecated.MapKeyValue:
			switch inner := &s.elems[s.pos]; {
			case inner.NumChildren.V == 2:
				return s.mapping(e, def, rep, depth)
			case inner.NumChildren.V == 1:
				return s.list(e, def, rep, depth) // a map without values is a set
			}
		}
	}
	n := &pqNode{name: e.Name, key: jsonKey(e.Name), kind: pqStruct, def: def}
	return n, s.fields(n, e, def, rep, depth)
}

// notAnnotated stands for a group without meaning of its own.
const notAnnotated deprecated.ConvertedType = -1

// annotated returns whether a group is a list or a map, by the new annotation
// or the old one.
func annotated(e *pq.SchemaElement) deprecated.ConvertedType {
	switch e.LogicalType.Value.(type) {
	case *pq.ListType:
		return deprecated.List
	case *pq.MapType:
		return deprecated.Map
	}
	if e.ConvertedType.Valid {
		return e.ConvertedType.V
	}
	return notAnnotated
}

// list reads a LIST group by the rules for old writers, too: the repeated field
// is the element itself when it is no group, has several fields, or is called
// array or NAME_tuple; else it only wraps the element. Source: LogicalTypes.md
// of apache/parquet-format, "Lists".
func (s *pqSchema) list(e *pq.SchemaElement, def, rep, depth int) (*pqNode, error) {
	inner := &s.elems[s.pos]
	s.pos++
	wraps := !inner.Type.Valid && inner.NumChildren.V == 1 && inner.Name != "array" && inner.Name != e.Name+"_tuple" &&
		s.pos < len(s.elems) && s.elems[s.pos].RepetitionType.V != pq.Repeated
	var elem *pqNode
	var err error
	if wraps {
		elem, err = s.node(def+1, rep+1, depth+2)
	} else {
		elem, err = s.value(inner, def+1, rep+1, depth+1, true)
	}
	if err != nil {
		return nil, err
	}
	return listOf(e.Name, def, def+1, rep+1, elem), nil
}

// mapping reads a MAP group of two fields.
func (s *pqSchema) mapping(e *pq.SchemaElement, def, rep, depth int) (*pqNode, error) {
	s.pos++
	n := &pqNode{name: e.Name, key: jsonKey(e.Name), kind: pqMap, def: def, elemDef: def + 1, rep: rep + 1, first: s.leafs}
	for range 2 {
		c, err := s.node(def+1, rep+1, depth+2)
		if err != nil {
			return nil, err
		}
		n.children = append(n.children, c)
	}
	n.end = s.leafs
	return n, nil
}

type leafAppend = func(c *columnValues, dst []byte, v parquet.Value) []byte

// leafWriter returns what writes the values of a column. Physical types come
// first: an annotation that does not fit its type is passed over, as the
// specification asks of readers.
func leafWriter(e *pq.SchemaElement) (leafAppend, error) {
	switch e.Type.V {
	case pq.Boolean:
		return func(_ *columnValues, dst []byte, v parquet.Value) []byte { return strconv.AppendBool(dst, v.Boolean()) }, nil
	case pq.Int32:
		return intWriter(e, func(v parquet.Value) int64 { return int64(v.Int32()) }, 32), nil
	case pq.Int64:
		return intWriter(e, parquet.Value.Int64, 64), nil
	case pq.Int96:
		return func(_ *columnValues, dst []byte, v parquet.Value) []byte { return appendInt96(dst, v.Int96()) }, nil
	case pq.Float:
		return func(c *columnValues, dst []byte, v parquet.Value) []byte {
			return c.float(dst, float64(v.Float()), 32)
		}, nil
	case pq.Double:
		return func(c *columnValues, dst []byte, v parquet.Value) []byte { return c.float(dst, v.Double(), 64) }, nil
	case pq.ByteArray, pq.FixedLenByteArray:
		return bytesWriter(e), nil
	}
	return nil, fmt.Errorf("unknown physical type %d", e.Type.V)
}

// julianEpoch is the Julian day of 1970-01-01, from which INT96 does not count.
const julianEpoch = 2440588

// appendInt96 appends the old timestamp: nanoseconds of the day, Julian day.
func appendInt96(dst []byte, v deprecated.Int96) []byte {
	nanos := int64(uint64(v[1])<<32 | uint64(v[0]))
	days := int64(v[2]) - julianEpoch
	seconds, rest := floorDiv(nanos, int64(time.Second))
	return appendTimestamp(dst, days*secondsOfDay+seconds, rest, 9, false)
}

// intWriter returns the writer of an integer column by its meaning.
func intWriter(e *pq.SchemaElement, get func(parquet.Value) int64, bits int) leafAppend {
	if scale, ok := decimalScale(e); ok {
		return func(_ *columnValues, dst []byte, v parquet.Value) []byte {
			return appendScaled(dst, strconv.FormatInt(get(v), 10), scale)
		}
	}
	if isDate(e) && bits == 32 {
		return func(_ *columnValues, dst []byte, v parquet.Value) []byte { return appendDate(dst, get(v)) }
	}
	if unit, digits, utc, ok := timestampUnit(e); ok && bits == 64 {
		return func(_ *columnValues, dst []byte, v parquet.Value) []byte {
			seconds, rest := floorDiv(get(v), int64(time.Second/unit))
			return appendTimestamp(dst, seconds, rest*int64(unit), digits, utc)
		}
	}
	if unit, digits, ok := timeUnit(e); ok {
		return func(_ *columnValues, dst []byte, v parquet.Value) []byte {
			return appendClock(dst, get(v)*int64(unit), digits)
		}
	}
	if isUnsigned(e) {
		mask := uint64(math.MaxUint64) >> (64 - bits)
		return func(_ *columnValues, dst []byte, v parquet.Value) []byte {
			return strconv.AppendUint(dst, uint64(get(v))&mask, 10)
		}
	}
	return func(_ *columnValues, dst []byte, v parquet.Value) []byte { return strconv.AppendInt(dst, get(v), 10) }
}

// bytesWriter returns the writer of a byte string column by its meaning.
func bytesWriter(e *pq.SchemaElement) leafAppend {
	if scale, ok := decimalScale(e); ok {
		return func(_ *columnValues, dst []byte, v parquet.Value) []byte {
			return appendDecimal(dst, bigEndian(v.ByteArray()), scale)
		}
	}
	fixed := e.Type.V == pq.FixedLenByteArray
	switch e.LogicalType.Value.(type) {
	case *pq.UUIDType:
		return func(c *columnValues, dst []byte, v parquet.Value) []byte { return c.uuid(dst, v.ByteArray()) }
	case *pq.Float16Type:
		if fixed && e.TypeLength.V == 2 {
			return func(c *columnValues, dst []byte, v parquet.Value) []byte {
				return c.float(dst, float64(halfFloat(binary.LittleEndian.Uint16(v.ByteArray()))), 32)
			}
		}
	}
	if e.ConvertedType.Valid && e.ConvertedType.V == deprecated.Interval && fixed && e.TypeLength.V == 12 {
		return func(_ *columnValues, dst []byte, v parquet.Value) []byte { return appendInterval(dst, v.ByteArray()) }
	}
	return func(c *columnValues, dst []byte, v parquet.Value) []byte { return c.bytes(dst, v.ByteArray()) }
}

func appendInterval(dst, b []byte) []byte {
	for i, name := range [...]string{`{"months":`, `,"days":`, `,"milliseconds":`} {
		dst = append(dst, name...)
		dst = strconv.AppendUint(dst, uint64(binary.LittleEndian.Uint32(b[4*i:])), 10)
	}
	return append(dst, '}')
}

// halfFloat widens an IEEE 754 number of 16 bits.
func halfFloat(h uint16) float32 {
	sign, exp, frac := uint32(h>>15)<<31, uint32(h>>10)&0x1F, uint32(h)&0x3FF
	switch exp {
	case 0:
		x := float32(frac) / (1 << 24)
		return math.Float32frombits(sign | math.Float32bits(x))
	case 0x1F:
		return math.Float32frombits(sign | 0x7F800000 | frac<<13)
	}
	return math.Float32frombits(sign | (exp+127-15)<<23 | frac<<13)
}

func decimalScale(e *pq.SchemaElement) (scale int, ok bool) {
	if d, is := e.LogicalType.Value.(*pq.DecimalType); is {
		return int(d.Scale), true
	}
	return int(e.Scale.V), e.ConvertedType.Valid && e.ConvertedType.V == deprecated.Decimal
}

func converted(e *pq.SchemaElement, t deprecated.ConvertedType) bool {
	return e.LogicalType.Value == nil && e.ConvertedType.Valid && e.ConvertedType.V == t
}

func isDate(e *pq.SchemaElement) bool {
	_, is := e.LogicalType.Value.(*pq.DateType)
	return is || converted(e, deprecated.Date)
}

func isUnsigned(e *pq.SchemaElement) bool {
	if i, is := e.LogicalType.Value.(*pq.IntType); is {
		return !i.IsSigned
	}
	return converted(e, deprecated.Uint8) || converted(e, deprecated.Uint16) ||
		converted(e, deprecated.Uint32) || converted(e, deprecated.Uint64)
}

// unitOf returns a unit of time and how many digits a fraction of it has.
func unitOf(u pq.TimeUnit) (time.Duration, int, bool) {
	switch u.Value.(type) {
	case *pq.MilliSeconds:
		return time.Millisecond, 3, true
	case *pq.MicroSeconds:
		return time.Microsecond, 6, true
	case *pq.NanoSeconds:
		return time.Nanosecond, 9, true
	}
	return 0, 0, false
}

func timestampUnit(e *pq.SchemaElement) (unit time.Duration, digits int, utc, ok bool) {
	if t, is := e.LogicalType.Value.(*pq.TimestampType); is {
		unit, digits, ok = unitOf(t.Unit)
		return unit, digits, t.IsAdjustedToUTC, ok
	}
	switch { // the old annotations mean UTC
	case converted(e, deprecated.TimestampMillis):
		return time.Millisecond, 3, true, true
	case converted(e, deprecated.TimestampMicros):
		return time.Microsecond, 6, true, true
	}
	return 0, 0, false, false
}

func timeUnit(e *pq.SchemaElement) (unit time.Duration, digits int, ok bool) {
	if t, is := e.LogicalType.Value.(*pq.TimeType); is {
		return unitOf(t.Unit)
	}
	switch {
	case converted(e, deprecated.TimeMillis):
		return time.Millisecond, 3, true
	case converted(e, deprecated.TimeMicros):
		return time.Microsecond, 6, true
	}
	return 0, 0, false
}
