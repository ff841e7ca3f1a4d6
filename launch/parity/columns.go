package parity

import (
	"cmp"
	"slices"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/internal/msg"

	"github.com/valyala/fastjson"
)

// inferredBytes is how much of a file the datasets library reads before it fixes
// the columns' types (packaged_modules/json: chunksize 10 << 20).
const inferredBytes = 10 << 20

// A valueType is a type as Arrow tells them apart; whole numbers and others are
// one, since they are widened.
type valueType uint8

const (
	ofNull valueType = iota
	ofBool
	ofNumber
	ofText
	ofList
	ofObject
	valueTypes
)

func (t valueType) String() string {
	return [valueTypes]string{"null", "boolean", "number", "string", "list", "object"}[t]
}

func typeOf(v *fastjson.Value) valueType {
	switch v.Type() {
	case fastjson.TypeTrue, fastjson.TypeFalse:
		return ofBool
	case fastjson.TypeNumber:
		return ofNumber
	case fastjson.TypeString:
		return ofText
	case fastjson.TypeArray:
		return ofList
	case fastjson.TypeObject:
		return ofObject
	}
	return ofNull
}

// maxColumns bounds the columns that are watched: a file of maps has a new one in
// every row.
const maxColumns = 4096

// A column is what stands at one place of all rows.
type column struct {
	first  [valueTypes]int // line of the first of each type, 0 for none
	early  bool            // a value that is not null stands within inferredBytes
	late   int             // line of the first value that is not null behind them
	name   string
	fields map[string]*column // of objects
	item   *column            // of lists
}

// columns watches the types of all columns of a share of the rows.
type columns struct {
	root column
	n    int
}

// row takes in one row; late says that it stands behind what types are inferred
// from.
func (c *columns) row(v *fastjson.Value, line int, late bool) { c.value(&c.root, v, line, late) }

func (c *columns) value(at *column, v *fastjson.Value, line int, late bool) {
	t := typeOf(v)
	if at.first[t] == 0 || line < at.first[t] {
		at.first[t] = line
	}
	if t == ofNull {
		return
	}
	if late {
		if at.late == 0 || line < at.late {
			at.late = line
		}
	} else {
		at.early = true
	}
	switch t {
	case ofObject:
		o, _ := v.Object()
		o.Visit(func(key []byte, f *fastjson.Value) {
			if k := c.field(at, key); k != nil {
				c.value(k, f, line, late)
			}
		})
	case ofList:
		list, _ := v.Array()
		if len(list) > 0 && at.item == nil {
			at.item = &column{name: "*"}
		}
		for _, f := range list {
			c.value(at.item, f, line, late)
		}
	}
}

func (c *columns) field(at *column, key []byte) *column {
	if k := at.fields[string(key)]; k != nil {
		return k
	}
	if c.n++; c.n > maxColumns {
		return nil
	}
	if at.fields == nil {
		at.fields = map[string]*column{}
	}
	k := &column{name: string(key)}
	at.fields[k.name] = k
	return k
}

// join adds what another share has seen.
func (at *column) join(o *column) {
	for t, line := range o.first {
		if line > 0 && (at.first[t] == 0 || line < at.first[t]) {
			at.first[t] = line
		}
	}
	at.early = at.early || o.early
	if o.late > 0 && (at.late == 0 || o.late < at.late) {
		at.late = o.late
	}
	if o.item != nil {
		if at.item == nil {
			at.item = &column{name: "*"}
		}
		at.item.join(o.item)
	}
	for name, f := range o.fields {
		if at.fields == nil {
			at.fields = map[string]*column{}
		}
		if at.fields[name] == nil {
			at.fields[name] = &column{name: name}
		}
		at.fields[name].join(f)
	}
}

// A drift is a column that the loader cannot make one type of.
type drift struct {
	line    int
	pointer string // into a row, * for any item of a list
	said    msg.Phrase
}

// drifts lists the columns whose types clash, and those of which nothing is known
// when the types are fixed.
func (at *column) drifts(pointer string) (out []drift) {
	var seen []valueType
	for t := ofBool; t < valueTypes; t++ {
		if at.first[t] > 0 {
			seen = append(seen, t)
		}
	}
	slices.SortStableFunc(seen, func(a, b valueType) int { return cmp.Compare(at.first[a], at.first[b]) })
	switch {
	case len(seen) > 1:
		a, b := seen[0], seen[1]
		return []drift{{at.first[b], pointer, msg.Phrase{Text: msg.Text{
			"%s here, %s in line %d", "此处为 %s，另有 %s（第 %d 行）",
		}, Args: []any{b.String(), a.String(), at.first[a]}}}}
	case !at.early && at.late > 0 && pointer != "":
		return []drift{{at.late, pointer, msg.Phrase{Text: msg.Text{
			"null, empty or missing in the first %d MB, %s from here", "前 %d MB 中为空或缺失，从此处起为 %s",
		}, Args: []any{inferredBytes >> 20, seen[0].String()}}}}
	}
	if at.item != nil {
		out = append(out, at.item.drifts(pointer+"/*")...)
	}
	names := make([]string, 0, len(at.fields))
	for name := range at.fields {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		out = append(out, at.fields[name].drifts(pointer+"/"+drydock.EscapePointer(name))...)
	}
	return out
}
