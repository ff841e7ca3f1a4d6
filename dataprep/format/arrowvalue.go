package format

import (
	"fmt"
	"strconv"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/drydock-ml/drydock"
)

// An arrowAppend appends value i of a column as JSON.
type arrowAppend = func(dst []byte, i int) []byte

// writer returns what writes a column's values, nulls included.
func (w *rowWalk) writer(a arrow.Array) (arrowAppend, error) {
	value, err := w.plainWriter(a)
	if err == nil && value == nil {
		value, err = w.nestedWriter(a)
	}
	if err != nil {
		return nil, err
	}
	if value == nil {
		return nil, fmt.Errorf("values of type %s are not read", a.DataType())
	}
	if a.NullN() == 0 && a.DataType().ID() != arrow.NULL {
		return value, nil
	}
	return func(dst []byte, i int) []byte {
		if a.IsNull(i) {
			return append(dst, "null"...)
		}
		return value(dst, i)
	}, nil
}

// plainWriter writes values that hold no others; nil: the type does.
func (w *rowWalk) plainWriter(a arrow.Array) (arrowAppend, error) {
	switch a := a.(type) {
	case *array.Null:
		return func(dst []byte, _ int) []byte { return append(dst, "null"...) }, nil
	case *array.Boolean:
		return func(dst []byte, i int) []byte { return strconv.AppendBool(dst, a.Value(i)) }, nil
	case *array.Int8:
		return signed(a), nil
	case *array.Int16:
		return signed(a), nil
	case *array.Int32:
		return signed(a), nil
	case *array.Int64:
		return signed(a), nil
	case *array.Uint8:
		return unsigned(a), nil
	case *array.Uint16:
		return unsigned(a), nil
	case *array.Uint32:
		return unsigned(a), nil
	case *array.Uint64:
		return unsigned(a), nil
	case *array.Float16:
		return func(dst []byte, i int) []byte { return w.values.float(dst, float64(a.Value(i).Float32()), 32) }, nil
	case *array.Float32:
		return func(dst []byte, i int) []byte { return w.values.float(dst, float64(a.Value(i)), 32) }, nil
	case *array.Float64:
		return func(dst []byte, i int) []byte { return w.values.float(dst, a.Value(i), 64) }, nil
	case *array.String:
		return stringsOf(a), nil
	case *array.LargeString:
		return stringsOf(a), nil
	case *array.StringView:
		return stringsOf(a), nil
	case *array.Binary:
		return w.byteStrings(a), nil
	case *array.LargeBinary:
		return w.byteStrings(a), nil
	case *array.BinaryView:
		return w.byteStrings(a), nil
	case *array.FixedSizeBinary:
		return w.byteStrings(a), nil
	}
	return w.measuredWriter(a)
}

func signed[T int8 | int16 | int32 | int64](a interface{ Value(int) T }) arrowAppend {
	return func(dst []byte, i int) []byte { return strconv.AppendInt(dst, int64(a.Value(i)), 10) }
}

func unsigned[T uint8 | uint16 | uint32 | uint64](a interface{ Value(int) T }) arrowAppend {
	return func(dst []byte, i int) []byte { return strconv.AppendUint(dst, uint64(a.Value(i)), 10) }
}

func stringsOf(a interface{ Value(int) string }) arrowAppend {
	return func(dst []byte, i int) []byte { return drydock.AppendJSONString(dst, a.Value(i)) }
}

func (w *rowWalk) byteStrings(a interface{ Value(int) []byte }) arrowAppend {
	return func(dst []byte, i int) []byte { return w.values.bytes(dst, a.Value(i)) }
}

// unitDigits says how many digits the fraction of a second has.
func unitDigits(u arrow.TimeUnit) int { return [...]int{0, 3, 6, 9}[u&3] }

// measuredWriter writes dates, times and decimals.
func (w *rowWalk) measuredWriter(a arrow.Array) (arrowAppend, error) {
	switch a := a.(type) {
	case *array.Date32:
		return func(dst []byte, i int) []byte { return appendDate(dst, int64(a.Value(i))) }, nil
	case *array.Date64:
		return func(dst []byte, i int) []byte {
			days, _ := floorDiv(int64(a.Value(i)), secondsOfDay*1000)
			return appendDate(dst, days)
		}, nil
	case *array.Time32:
		unit := a.DataType().(*arrow.Time32Type).Unit
		return func(dst []byte, i int) []byte {
			return appendClock(dst, int64(a.Value(i))*int64(unit.Multiplier()), unitDigits(unit))
		}, nil
	case *array.Time64:
		unit := a.DataType().(*arrow.Time64Type).Unit
		return func(dst []byte, i int) []byte {
			return appendClock(dst, int64(a.Value(i))*int64(unit.Multiplier()), unitDigits(unit))
		}, nil
	case *array.Timestamp:
		kind := a.DataType().(*arrow.TimestampType)
		unit, utc := int64(kind.Unit.Multiplier()), kind.TimeZone != ""
		return func(dst []byte, i int) []byte {
			seconds, rest := floorDiv(int64(a.Value(i)), int64(time.Second)/unit)
			return appendTimestamp(dst, seconds, rest*unit, unitDigits(kind.Unit), utc)
		}, nil
	case *array.Duration: // counted in the unit of its column
		return func(dst []byte, i int) []byte { return strconv.AppendInt(dst, int64(a.Value(i)), 10) }, nil
	case *array.MonthInterval:
		return func(dst []byte, i int) []byte { return strconv.AppendInt(dst, int64(a.Value(i)), 10) }, nil
	case *array.DayTimeInterval:
		return func(dst []byte, i int) []byte {
			v := a.Value(i)
			return fmt.Appendf(dst, `{"days":%d,"milliseconds":%d}`, v.Days, v.Milliseconds)
		}, nil
	case *array.MonthDayNanoInterval:
		return func(dst []byte, i int) []byte {
			v := a.Value(i)
			return fmt.Appendf(dst, `{"months":%d,"days":%d,"nanoseconds":%d}`, v.Months, v.Days, v.Nanoseconds)
		}, nil
	case *array.Decimal32:
		scale := int(a.DataType().(*arrow.Decimal32Type).Scale)
		return func(dst []byte, i int) []byte {
			return appendScaled(dst, strconv.FormatInt(int64(a.Value(i)), 10), scale)
		}, nil
	case *array.Decimal64:
		scale := int(a.DataType().(*arrow.Decimal64Type).Scale)
		return func(dst []byte, i int) []byte {
			return appendScaled(dst, strconv.FormatInt(int64(a.Value(i)), 10), scale)
		}, nil
	case *array.Decimal128:
		scale := int(a.DataType().(*arrow.Decimal128Type).Scale)
		return func(dst []byte, i int) []byte { return appendDecimal(dst, a.Value(i).BigInt(), scale) }, nil
	case *array.Decimal256:
		scale := int(a.DataType().(*arrow.Decimal256Type).Scale)
		return func(dst []byte, i int) []byte { return appendDecimal(dst, a.Value(i).BigInt(), scale) }, nil
	}
	return nil, nil
}

// nestedWriter writes values that hold others.
func (w *rowWalk) nestedWriter(a arrow.Array) (arrowAppend, error) {
	switch a := a.(type) {
	case *array.Struct:
		return w.structWriter(a)
	case *array.Map: // before lists: it is one, too
		return w.mapWriter(a)
	case array.ListLike:
		elem, err := w.writer(a.ListValues())
		if err != nil {
			return nil, err
		}
		return func(dst []byte, i int) []byte {
			from, to := a.ValueOffsets(i)
			return sequence(dst, '[', ']', from, to, elem)
		}, nil
	case *array.Dictionary:
		value, err := w.writer(a.Dictionary())
		if err != nil {
			return nil, err
		}
		return func(dst []byte, i int) []byte { return value(dst, a.GetValueIndex(i)) }, nil
	case *array.RunEndEncoded:
		value, err := w.writer(a.Values())
		if err != nil {
			return nil, err
		}
		return func(dst []byte, i int) []byte { return value(dst, a.GetPhysicalIndex(i)) }, nil
	case array.Union:
		return w.unionWriter(a)
	case array.ExtensionArray:
		storage := a.Storage()
		if b, ok := storage.(*array.FixedSizeBinary); ok && a.ExtensionType().ExtensionName() == "arrow.uuid" {
			return func(dst []byte, i int) []byte { return w.values.uuid(dst, b.Value(i)) }, nil
		}
		return w.writer(storage)
	}
	return nil, nil
}

// sequence writes values from to to-1 between brackets.
func sequence(dst []byte, open, shut byte, from, to int64, value arrowAppend) []byte {
	dst = append(dst, open)
	for i := from; i < to; i++ {
		if i > from {
			dst = append(dst, ',')
		}
		dst = value(dst, int(i))
	}
	return append(dst, shut)
}

func (w *rowWalk) structWriter(a *array.Struct) (arrowAppend, error) {
	names, _ := uniqueNames(fieldNames(a.DataType().(*arrow.StructType).Fields()))
	keys := make([][]byte, len(names))
	fields := make([]arrowAppend, len(names))
	for i, n := range names {
		keys[i] = jsonKey(n)
		var err error
		if fields[i], err = w.writer(a.Field(i)); err != nil {
			return nil, fmt.Errorf("field %s: %w", n, err)
		}
	}
	return func(dst []byte, i int) []byte {
		dst = append(dst, '{')
		for f, field := range fields {
			if f > 0 {
				dst = append(dst, ',')
			}
			dst = field(append(dst, keys[f]...), i)
		}
		return append(dst, '}')
	}, nil
}

func (w *rowWalk) mapWriter(a *array.Map) (arrowAppend, error) {
	key, err := w.writer(a.Keys())
	if err != nil {
		return nil, err
	}
	item, err := w.writer(a.Items())
	if err != nil {
		return nil, err
	}
	return func(dst []byte, i int) []byte {
		from, to := a.ValueOffsets(i)
		w.keys.open()
		dst = sequence(dst, '{', '}', from, to, func(dst []byte, i int) []byte {
			return item(w.keys.add(dst, key(nil, i)), i)
		})
		w.keys.shut()
		return dst
	}, nil
}

// unionWriter writes the value that stands in a union, not which of its types it
// has: JSON tells them apart.
func (w *rowWalk) unionWriter(a array.Union) (arrowAppend, error) {
	fields := make([]arrowAppend, a.NumFields())
	for i := range fields {
		var err error
		if fields[i], err = w.writer(a.Field(i)); err != nil {
			return nil, err
		}
	}
	dense, _ := a.(*array.DenseUnion)
	return func(dst []byte, i int) []byte {
		child := a.ChildID(i)
		if dense != nil {
			return fields[child](dst, int(dense.ValueOffset(i)))
		}
		return fields[child](dst, i)
	}, nil
}
