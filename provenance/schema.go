package provenance

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/valyala/fastjson"
)

// A Schema is inferred from the rows of a JSONL file, one [Schema.Add] a row.
type Schema struct {
	Rows   int // rows added
	parser fastjson.Parser
	fields []*Field
	byPath map[string]*Field
	types  map[*Field]map[string]int
}

// A Field is one key of the data. Path writes nesting as messages[].role.
type Field struct {
	Path    string
	Types   []string // string, integer, number, boolean, array, object, null; sorted
	Present int      // how often the key stands in the object it belongs to
	Of      int      // how many such objects there are
	Example string   // the first value that is not empty, as JSON, shortened
}

// maxFields bounds a schema: data whose keys are values has no fields to
// describe, and says so.
const maxFields = 1000

// NewSchema begins an empty schema.
func NewSchema() *Schema {
	return &Schema{byPath: map[string]*Field{}, types: map[*Field]map[string]int{}}
}

// ReadSchema infers a schema from a JSONL file. Blank lines are skipped; an
// error names the line.
func ReadSchema(r io.Reader) (*Schema, error) {
	s := NewSchema()
	br := bufio.NewReaderSize(r, 256<<10)
	var long []byte
	for n := 1; ; n++ {
		line, err := readLine(br, &long)
		if len(bytes.TrimSpace(line)) > 0 {
			if aerr := s.Add(line); aerr != nil {
				return s, fmt.Errorf("line %d: %w", n, aerr)
			}
		}
		if err == io.EOF {
			return s, nil
		}
		if err != nil {
			return s, fmt.Errorf("line %d: %w", n, err)
		}
	}
}

// Add takes one row, which must be a JSON object.
func (s *Schema) Add(line []byte) error {
	v, err := s.parser.ParseBytes(line)
	if err != nil {
		return err
	}
	o, err := v.Object()
	if err != nil {
		return fmt.Errorf("a row must be an object, this is %s", v.Type())
	}
	s.Rows++
	return s.object("", o)
}

func (s *Schema) object(prefix string, o *fastjson.Object) error {
	var err error
	o.Visit(func(key []byte, v *fastjson.Value) {
		if err == nil {
			err = s.value(joinPath(prefix, string(key)), v)
		}
	})
	return err
}

func joinPath(prefix, key string) string {
	if prefix == "" {
		return key
	}
	return prefix + "." + key
}

func (s *Schema) value(path string, v *fastjson.Value) error {
	f := s.byPath[path]
	if f == nil {
		if len(s.fields) == maxFields {
			return fmt.Errorf("more than %d different keys: the keys are data, not fields", maxFields)
		}
		f = &Field{Path: path}
		s.byPath[path] = f
		s.types[f] = map[string]int{}
		s.fields = append(s.fields, f)
	}
	f.Present++
	s.types[f][typeOf(v)]++
	if f.Example == "" {
		f.Example = example(v)
	}
	switch v.Type() {
	case fastjson.TypeObject:
		return s.object(path, v.GetObject())
	case fastjson.TypeArray:
		for _, e := range v.GetArray() {
			// an element has no row of its own unless it holds something
			switch e.Type() {
			case fastjson.TypeObject:
				s.types[f]["object[]"]++
				if err := s.object(path+"[]", e.GetObject()); err != nil {
					return err
				}
			case fastjson.TypeArray:
				if err := s.value(path+"[]", e); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func typeOf(v *fastjson.Value) string {
	switch v.Type() {
	case fastjson.TypeString:
		return "string"
	case fastjson.TypeNumber:
		if bytes.ContainsAny(v.MarshalTo(nil), ".eE") {
			return "number"
		}
		return "integer"
	case fastjson.TypeTrue, fastjson.TypeFalse:
		return "boolean"
	case fastjson.TypeArray:
		return "array"
	case fastjson.TypeObject:
		return "object"
	}
	return "null"
}

// example is a value as JSON, short; empty for what shows nothing.
func example(v *fastjson.Value) string {
	switch v.Type() {
	case fastjson.TypeObject, fastjson.TypeNull:
		return ""
	case fastjson.TypeArray:
		a := v.GetArray()
		if len(a) == 0 || a[0].Type() == fastjson.TypeObject || a[0].Type() == fastjson.TypeArray {
			return ""
		}
	case fastjson.TypeString:
		if len(v.GetStringBytes()) == 0 {
			return ""
		}
		return shorten(string(v.GetStringBytes()), 40)
	}
	return shorten(string(v.MarshalTo(nil)), 40)
}

// shorten keeps the first n characters, on one line.
func shorten(s string, n int) string {
	s = strings.Join(strings.Fields(s), " ")
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return string([]rune(s)[:n-1]) + "…"
}

// Fields returns the fields in the order in which the data first shows them.
func (s *Schema) Fields() []Field {
	out := make([]Field, 0, len(s.fields))
	for _, f := range s.fields {
		g := *f
		g.Of = s.parents(f.Path)
		for t := range s.types[f] {
			if t != "object[]" {
				g.Types = append(g.Types, t)
			}
		}
		slices.Sort(g.Types)
		out = append(out, g)
	}
	return out
}

// parents counts the objects a path's last key could have stood in.
func (s *Schema) parents(path string) int {
	if strings.HasSuffix(path, "[]") { // an array in an array: once per element
		return s.byPath[path].Present
	}
	i := strings.LastIndexByte(path, '.')
	if i < 0 {
		return s.Rows
	}
	parent, inArray := strings.CutSuffix(path[:i], "[]")
	f := s.byPath[parent]
	switch {
	case f == nil: // the key itself holds a dot
		return s.Rows
	case inArray:
		return s.types[f]["object[]"]
	}
	return s.types[f]["object"]
}
