package emit

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/drydock-ml/drydock"

	"github.com/valyala/fastjson"
)

// appendField appends ,"name": — or without the comma right after the brace.
func appendField(dst []byte, name string) []byte {
	if dst[len(dst)-1] != '{' {
		dst = append(dst, ',')
	}
	dst = append(dst, '"')
	dst = append(dst, name...)
	return append(dst, '"', ':')
}

func appendText(dst []byte, name, value string) []byte {
	return drydock.AppendJSONString(appendField(dst, name), value)
}

func appendTexts(dst []byte, name string, values []string) []byte {
	dst = append(appendField(dst, name), '[')
	for i, v := range values {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = drydock.AppendJSONString(dst, v)
	}
	return append(dst, ']')
}

func appendBool(dst []byte, name string, v bool) []byte {
	return strconv.AppendBool(appendField(dst, name), v)
}

func appendNumber(dst []byte, name string, x float64) []byte {
	return drydock.AppendJSONFloat(appendField(dst, name), x)
}

// appendOrigin writes where a record came from: the object of the stable rows.
func appendOrigin(dst []byte, o drydock.Origin) []byte {
	dst = append(appendField(dst, "origin"), '{')
	f := o.File
	if f == nil {
		f = &drydock.File{}
	}
	dst = appendText(dst, "source", f.Source)
	dst = appendText(dst, "file", f.Name)
	dst = appendText(dst, "sha256", f.SHA256)
	dst = appendText(dst, "locator", o.At.String())
	if !o.Key.IsZero() {
		dst = appendText(dst, "key", o.Key.String())
	}
	dst = appendText(dst, "license", f.License)
	return append(dst, '}')
}

// A fieldError names the field that is not as it should be.
type fieldError struct{ field, want, got string }

func (e *fieldError) Error() string {
	if e.got == "" {
		return fmt.Sprintf("field %q is missing", e.field)
	}
	return fmt.Sprintf("field %q must be %s, not %s", e.field, e.want, e.got)
}

// A reader takes typed fields out of a row; the first error stays.
type reader struct {
	o   *fastjson.Object
	err error
}

func (r *reader) fail(field, want string, v *fastjson.Value) {
	if r.err != nil {
		return
	}
	got := ""
	if v != nil {
		got = v.Type().String()
	}
	r.err = &fieldError{field, want, got}
}

// text returns a string field; missing and null are "".
func (r *reader) text(name string) string {
	v := r.o.Get(name)
	if v == nil || v.Type() == fastjson.TypeNull {
		return ""
	}
	b, err := v.StringBytes()
	if err != nil {
		r.fail(name, "a string", v)
	}
	return string(b)
}

// texts returns a list of strings; missing, null and [] are nil.
func (r *reader) texts(name string) []string {
	v := r.o.Get(name)
	if v == nil || v.Type() == fastjson.TypeNull {
		return nil
	}
	list, err := v.Array()
	if err != nil {
		r.fail(name, "a list of strings", v)
		return nil
	}
	var out []string
	for _, e := range list {
		b, err := e.StringBytes()
		if err != nil {
			r.fail(name, "a list of strings", e)
			return nil
		}
		out = append(out, string(b))
	}
	return out
}

func (r *reader) bool(name string) bool {
	v := r.o.Get(name)
	if v == nil || v.Type() == fastjson.TypeNull {
		return false
	}
	b, err := v.Bool()
	if err != nil {
		r.fail(name, "true or false", v)
	}
	return b
}

func (r *reader) number(name string) float64 {
	v := r.o.Get(name)
	if v == nil || v.Type() == fastjson.TypeNull {
		return 0
	}
	x, err := v.Float64()
	if err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
		r.fail(name, "a number", v)
		return 0
	}
	return x
}

// rowID returns the row's own id as text: banks number theirs.
func (r *reader) rowID() string {
	v := r.o.Get("id")
	if v == nil {
		return ""
	}
	switch v.Type() {
	case fastjson.TypeString:
		b, _ := v.StringBytes()
		return string(b)
	case fastjson.TypeNumber:
		return string(rawValue(v))
	case fastjson.TypeNull:
		return ""
	}
	r.fail("id", "a string or a number", v)
	return ""
}

// origin reads what appendOrigin wrote; without one the origin is zero.
func (r *reader) origin() drydock.Origin {
	v := r.o.Get("origin")
	if v == nil || v.Type() == fastjson.TypeNull {
		return drydock.Origin{}
	}
	obj, err := v.Object()
	if err != nil {
		r.fail("origin", "an object", v)
		return drydock.Origin{}
	}
	in := reader{o: obj}
	o := drydock.Origin{File: &drydock.File{
		Source: in.text("source"), Name: in.text("file"), SHA256: in.text("sha256"), License: in.text("license"),
	}}
	at, key := in.text("locator"), in.text("key")
	if in.err == nil {
		o.At, in.err = drydock.ParseLocator(at)
	}
	if in.err == nil {
		o.Key, in.err = drydock.ParseLocator(key)
	}
	if in.err != nil && r.err == nil {
		r.err = fmt.Errorf("origin: %w", in.err)
	}
	return o
}

// hasFields reports whether the outermost object of row has all the names. It
// reads strings and brackets only, so that it is cheap and cannot fail; names
// holding escapes do not match.
func hasFields(row []byte, names ...string) bool {
	left := len(names)
	eachField(row, func(name []byte) bool {
		if slices.Contains(names, string(name)) {
			left--
		}
		return left > 0
	})
	return left <= 0
}

// eachField visits the names of the outermost object of row until told to stop.
// Strings are skipped from quote to quote: they are most of a row.
func eachField(row []byte, visit func(name []byte) bool) {
	depth, key := 0, false
	for i := 0; i < len(row); i++ {
		switch c := row[i]; c {
		case '{', '[':
			depth++
			key = depth == 1 && c == '{'
			if depth == 1 && c == '[' {
				return
			}
		case '}', ']':
			depth--
		case ',':
			key = depth == 1
		case '"':
			end := stringEnd(row, i+1)
			if end < 0 {
				return
			}
			if key {
				key = false
				if !visit(row[i+1 : end]) {
					return
				}
			}
			i = end
		}
	}
}

// stringEnd returns where the string that begins at i has its closing quote; -1
// when it has none.
func stringEnd(row []byte, i int) int {
	for {
		n := bytes.IndexByte(row[i:], '"')
		if n < 0 {
			return -1
		}
		end := i + n
		escapes := 0
		for end-escapes > i && row[end-1-escapes] == '\\' {
			escapes++
		}
		if escapes%2 == 0 {
			return end
		}
		i = end + 1
	}
}

// parseRow parses one row that must be an object.
func parseRow(p *fastjson.Parser, row []byte) (*fastjson.Object, error) {
	v, err := p.ParseBytes(row)
	if err != nil {
		return nil, fmt.Errorf("not valid JSON: %w", err)
	}
	o, err := v.Object()
	if err != nil {
		return nil, fmt.Errorf("a row must be an object, not %s", v.Type())
	}
	return o, nil
}

// decoder makes a shape's Decode from what reads its fields; the parsers are
// pooled.
func decoder(fields func(*reader) *drydock.Record) func([]byte) (*drydock.Record, error) {
	pool := &fastjson.ParserPool{}
	return func(row []byte) (*drydock.Record, error) {
		p := pool.Get()
		defer pool.Put(p)
		o, err := parseRow(p, row)
		if err != nil {
			return nil, err
		}
		in := reader{o: o}
		rec := fields(&in)
		if in.err != nil {
			return nil, in.err
		}
		return rec, nil
	}
}

// rawValue writes a value as it stood, numbers digit by digit. fastjson's own
// writer escapes control characters in Go's way, which is no JSON.
func rawValue(v *fastjson.Value) []byte { return appendValue(nil, v) }

func appendValue(dst []byte, v *fastjson.Value) []byte {
	switch v.Type() {
	case fastjson.TypeString:
		b, _ := v.StringBytes()
		return drydock.AppendJSONString(dst, string(b))
	case fastjson.TypeArray:
		list, _ := v.Array()
		dst = append(dst, '[')
		for i, e := range list {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendValue(dst, e)
		}
		return append(dst, ']')
	case fastjson.TypeObject:
		o, _ := v.Object()
		dst = append(dst, '{')
		first := true
		o.Visit(func(key []byte, e *fastjson.Value) {
			if !first {
				dst = append(dst, ',')
			}
			first = false
			dst = append(drydock.AppendJSONString(dst, string(key)), ':')
			dst = appendValue(dst, e)
		})
		return append(dst, '}')
	}
	return v.MarshalTo(dst) // numbers, true, false, null
}
