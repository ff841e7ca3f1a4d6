package rowfile

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/valyala/fastjson"

	"github.com/drydock-ml/drydock"
)

// A form is what a value is.
type form uint8

const (
	nothing form = iota // null, or never seen
	boolean
	integer // 64 bits
	float
	text
	list
	object
)

func (f form) String() string {
	return [...]string{"null", "true or false", "a whole number", "a number", "text", "a list", "an object"}[f]
}

// A column is the type of a column, a list's elements or an object's field.
type column struct {
	form   form
	big    bool      // a whole number that a 64-bit float cannot hold
	narrow int       // bits of a whole number, where the caller knows; 0: 64
	elem   *column   // of a list
	fields []*column // of an object, in the order they were first seen
	name   string    // of a field
	row    int       // the row it was first seen in as what it is, from 1
	at     int64     // where that row begins, bytes of JSON Lines
}

func (c *column) field(name string) *column {
	for _, f := range c.fields {
		if f.name == name {
			return f
		}
	}
	return nil
}

// maxFields bounds the fields of one object: beyond it the keys are data, not
// columns.
const maxFields = 1000

// maxDepth bounds how deep a row is nested; Parquet counts levels in a byte, and
// no training row has more than a few.
const maxDepth = 64

// A Conflict says that a value does not fit the column it stands in.
type Conflict struct {
	Pointer string // JSON Pointer into the row
	Row     int    // the row that gave the column its type, from 1; 0: this row itself
	Detail  string // English, for people
	// Table says that only a table has no place for the value: see Schema.Loose.
	Table bool
}

// Error names the place.
func (c *Conflict) Error() string { return c.Pointer + ": " + c.Detail }

// A Schema is the type of every column of the rows seen so far. Null is the same
// as no field. The zero Schema has seen none; it is not safe for concurrent use.
type Schema struct {
	// Loose takes what does no harm in JSON and has no place in a table only: an
	// object without fields, a number of more digits than a column holds. Such a
	// schema writes no table.
	Loose bool

	root   column
	rows   int
	bytes  int64
	parser fastjson.Parser
}

// Add takes in a row, one JSON object. A *[Conflict] means that it does not fit
// the rows before it, and that the schema is as it was; any other error that it
// is no JSON object.
func (s *Schema) Add(row []byte) error {
	v, err := s.parser.ParseBytes(row)
	if err != nil {
		return fmt.Errorf("not valid JSON: %w", err)
	}
	if v.Type() != fastjson.TypeObject {
		return fmt.Errorf("a row must be an object, not %s", v.Type())
	}
	if !s.root.holds(v) {
		seen := &column{}
		w := widening{row: s.rows + 1, at: s.bytes, loose: s.Loose}
		if w.see(seen, v, ""); w.err == nil {
			w.join(&s.root, seen, "", false)
		}
		if w.err != nil {
			return w.err
		}
		w.join(&s.root, seen, "", true)
	}
	s.rows++
	s.bytes += int64(len(row)) + 1
	return nil
}

// Rows returns how many rows the schema has taken in.
func (s *Schema) Rows() int { return s.rows }

// Has reports whether a row has a column of that name that is not null.
func (s *Schema) Has(name string) bool {
	f := s.root.field(name)
	return f != nil && f.form != nothing
}

// Tokens gives the columns of tokenised rows the types they have where datasets
// tokenises: input_ids of 32 bits, attention_mask of 8. It does nothing to rows
// that lack one of them or hold anything but lists of whole numbers there.
func (s *Schema) Tokens() {
	ids, mask := s.root.field("input_ids"), s.root.field("attention_mask")
	for _, c := range [...]*column{ids, mask} {
		if c == nil || c.form != list || c.elem.form != integer || c.elem.big {
			return
		}
	}
	ids.elem.narrow, mask.elem.narrow = 32, 8
}

// holds reports whether the column already has room for a value. It allocates
// nothing, since nearly every row is like the one before it.
func (c *column) holds(v *fastjson.Value) bool {
	switch v.Type() {
	case fastjson.TypeNull:
		return true
	case fastjson.TypeTrue, fastjson.TypeFalse:
		return c.form == boolean
	case fastjson.TypeString:
		return c.form == text
	case fastjson.TypeNumber:
		// a float must be looked at digit by digit, a whole number for its size
		n, err := v.Int64()
		return err == nil && c.form == integer && (c.big || !isBig(n))
	case fastjson.TypeArray:
		if c.form != list {
			return false
		}
		for _, e := range v.GetArray() {
			if !c.elem.holds(e) {
				return false
			}
		}
		return true
	}
	return c.form == object && c.holdsFields(v)
}

func (c *column) holdsFields(v *fastjson.Value) bool {
	o := v.GetObject()
	n, all := 0, true
	o.Visit(func(key []byte, e *fastjson.Value) {
		if !all {
			return
		}
		// fields mostly come in the order they came before
		var f *column
		if n < len(c.fields) && c.fields[n].name == string(key) {
			f = c.fields[n]
			n++
		} else {
			f = c.field(string(key))
			all = n == len(c.fields) || o.Len() < len(c.fields)
			for i := range c.fields {
				if c.fields[i] == f {
					n = i + 1
				}
			}
		}
		all = all && f != nil && f.holds(e)
	})
	return all && o.Len() > 0
}

func isBig(n int64) bool { return n > 1<<53 || n < -1<<53 }

// A widening makes a column hold one more row.
type widening struct {
	row   int
	at    int64
	loose bool
	err   error
}

func (w *widening) refuse(pointer string, row int, format string, args ...any) {
	if w.err == nil && !(w.loose && row == 0) {
		w.err = &Conflict{Pointer: pointer, Row: row, Detail: fmt.Sprintf(format, args...), Table: row == 0}
	}
}

// never refuses what readers of tables give the whole file up for, JSON or not.
func (w *widening) never(pointer, detail string) {
	if w.err == nil {
		w.err = &Conflict{Pointer: pointer, Detail: detail, Table: true}
	}
}

// see finds the type of a value by itself.
func (w *widening) see(c *column, v *fastjson.Value, pointer string) {
	c.row, c.at = w.row, w.at
	if strings.Count(pointer, "/") > maxDepth {
		w.never(pointer, fmt.Sprintf("more than %d lists and objects inside each other", maxDepth))
		return
	}
	switch v.Type() {
	case fastjson.TypeTrue, fastjson.TypeFalse:
		c.form = boolean
	case fastjson.TypeString:
		c.form = text
	case fastjson.TypeNumber:
		w.number(c, v, pointer)
	case fastjson.TypeArray:
		c.form, c.elem = list, &column{}
		for i, e := range v.GetArray() {
			seen, at := &column{}, pointer+"/"+strconv.Itoa(i)
			if w.see(seen, e, at); w.err == nil {
				w.join(c.elem, seen, at, true)
			}
			if w.err != nil {
				return
			}
		}
	case fastjson.TypeObject:
		w.object(c, v, pointer)
	}
}

func (w *widening) object(c *column, v *fastjson.Value, pointer string) {
	c.form = object
	v.GetObject().Visit(func(key []byte, e *fastjson.Value) {
		if w.err != nil {
			return
		}
		f, at := &column{name: string(key)}, pointer+"/"+drydock.EscapePointer(string(key))
		if c.field(f.name) != nil {
			w.refuse(at, 0, "the field stands twice in one object")
			return
		}
		w.see(f, e, at)
		c.fields = append(c.fields, f)
	})
	if len(c.fields) == 0 && pointer != "" && w.err == nil {
		w.refuse(pointer, 0, "an object without fields has no place in a table")
	}
}

// number tells whole numbers from others, and refuses what a column would round.
func (w *widening) number(c *column, v *fastjson.Value, pointer string) {
	if n, err := v.Int64(); err == nil {
		c.form, c.big = integer, isBig(n)
		return
	}
	digits := string(v.MarshalTo(nil))
	x, err := strconv.ParseFloat(digits, 64)
	if err != nil {
		w.never(pointer, "the number "+digits+" is beyond what a 64-bit float holds")
	}
	if !sameNumber(digits, strconv.FormatFloat(x, 'e', -1, 64)) {
		w.refuse(pointer, 0, "the number %s has more digits than a column holds", digits)
	}
	c.form = float
}

// sameNumber reports whether two decimal numbers are the same.
func sameNumber(a, b string) bool {
	da, ea := decimal(a)
	db, eb := decimal(b)
	return da == db && (ea == eb || da == "" || da == "-")
}

// decimal writes a number as its digits without zeros at either end, the sign in
// front, and the power of ten of the last of them.
func decimal(s string) (digits string, exponent int) {
	sign := ""
	if strings.HasPrefix(s, "-") {
		sign, s = "-", s[1:]
	}
	s = strings.ToLower(s)
	mantissa, exp, _ := strings.Cut(s, "e")
	exponent, _ = strconv.Atoi(strings.TrimPrefix(exp, "+"))
	whole, fraction, _ := strings.Cut(mantissa, ".")
	exponent -= len(fraction)
	all := strings.TrimLeft(whole+fraction, "0")
	short := strings.TrimRight(all, "0")
	return sign + short, exponent + len(all) - len(short)
}

// join widens a column by another. Without apply it only looks whether it can.
func (w *widening) join(c, by *column, pointer string, apply bool) {
	switch {
	case by.form == nothing:
		// a field that is null so far still has its place
	case c.form == nothing:
		if apply {
			name := c.name
			*c = *by
			c.name = name
		}
	case c.form == integer && by.form == float, c.form == float && by.form == integer:
		if c.big || by.big {
			w.refuse(pointer, 0, "it makes a column of %s hold fractions and numbers of more than 15 digits", by.form)
		}
		if apply && c.form == integer { // nothing was refused, or it is loose
			c.form, c.row, c.at = float, by.row, by.at
		}
	case c.form != by.form:
		w.refuse(pointer, c.row, "it is %s, and the column holds %s since row %d", by.form, c.form, c.row)
	case c.form == list:
		w.join(c.elem, by.elem, pointer, apply)
	case c.form == object:
		w.joinFields(c, by, pointer, apply)
	case apply:
		c.big = c.big || by.big
	}
}

func (w *widening) joinFields(c, by *column, pointer string, apply bool) {
	added := 0
	for _, f := range by.fields {
		at := pointer + "/" + drydock.EscapePointer(f.name)
		have := c.field(f.name)
		switch {
		case have != nil:
			w.join(have, f, at, apply)
		case len(c.fields)+added >= maxFields: // a loose schema lets them be
			w.refuse(at, 0, "the object would have more than %d different fields", maxFields)
		case apply:
			c.fields = append(c.fields, f)
		default:
			added++
		}
	}
}

// settle gives what held nothing its final type: a column that was never more
// than null goes, and lists that were always empty, or fields inside that were
// always null, become text.
func (s *Schema) settle() {
	s.root.fields = slices.DeleteFunc(s.root.fields, func(f *column) bool { return f.form == nothing })
	for _, f := range s.root.fields {
		f.settle()
	}
}

func (c *column) settle() {
	if c.form == nothing {
		c.form = text
	}
	if c.elem != nil {
		c.elem.settle()
	}
	for _, f := range c.fields {
		f.settle()
	}
}
