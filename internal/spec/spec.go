package spec

import (
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/drydock-ml/drydock/internal/msg"

	"go.yaml.in/yaml/v3"
)

// A Spec describes one component: its name in YAML, what it does, its options,
// and how to make one.
type Spec[T any] struct {
	Name    string   // snake_case, as YAML names it
	Summary msg.Text // one sentence
	Fields  []Field  // its options
	build   func(d *Document, n *yaml.Node, what any) (T, error)
}

// A Field is one option, for documentation and the schema.
type Field struct {
	Name     string // the YAML key
	Type     string // string, bool, int, number, list, map, object
	Default  string // as it would be written in YAML; empty when there is none
	Help     msg.Text
	Enum     []string // allowed values; nil: any
	Required bool
	Fields   []Field // of an object, or of a list's elements
}

// Of declares a component whose options are the struct defaults.
func Of[T, O any](name string, summary msg.Text, defaults O, build func(O) (T, error)) Spec[T] {
	return Spec[T]{
		Name: name, Summary: summary, Fields: FieldsOf(defaults),
		build: func(d *Document, n *yaml.Node, what any) (T, error) {
			o := defaults
			if n != nil {
				d.Decode(n, &o, what)
			}
			return build(o)
		},
	}
}

// Build makes the component from its YAML node; nil means defaults. Findings go
// to the document; ok is false when there were any.
func (s Spec[T]) Build(d *Document, n *yaml.Node, what any) (made T, ok bool) {
	before := len(d.findings)
	made, err := s.build(d, n, what)
	if len(d.findings) > before {
		return made, false
	}
	if err != nil {
		var bad *OptionError
		at := n
		if errors.As(err, &bad) {
			at = ValueOf(n, bad.Option)
		}
		d.Report(at, msg.Text{"%s: %s", "%s：%s"}, what, err)
		return made, false
	}
	return made, true
}

// Default makes the component with its defaults.
func (s Spec[T]) Default() (T, error) { return s.build(&Document{}, nil, s.Name) }

// Find returns the spec of a name.
func Find[T any](specs []Spec[T], name string) (Spec[T], bool) {
	for _, s := range specs {
		if s.Name == name {
			return s, true
		}
	}
	return Spec[T]{}, false
}

// Names returns the names of specs in order.
func Names[T any](specs []Spec[T]) []string {
	out := make([]string, len(specs))
	for i, s := range specs {
		out[i] = s.Name
	}
	return out
}

// An OptionError is a constructor's complaint about one option, so that the
// finding points at its value.
type OptionError struct {
	Option string // its YAML key
	text   msg.Text
	args   []any
}

// Bad makes an OptionError. The text need not repeat the option's name.
func Bad(option string, text msg.Text, args ...any) error {
	return &OptionError{option, text, args}
}

// Error says it in English.
func (e *OptionError) Error() string { return e.In(msg.En) }

// In says it in a language.
func (e *OptionError) In(l msg.Lang) string { return e.Option + " " + e.text.Format(l, e.args...) }

// ValueOf returns the value of a key of a mapping, for a finding about it; the node
// itself when it is no mapping or has no such key.
func ValueOf(n *yaml.Node, key string) *yaml.Node {
	if n == nil || n.Kind != yaml.MappingNode {
		return n
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return n.Content[i+1]
		}
	}
	return n
}

// FieldsOf reads the declaration of an option struct; its contents are the
// defaults.
func FieldsOf(options any) []Field {
	return fieldsOf(reflect.ValueOf(options), 0)
}

func fieldsOf(v reflect.Value, depth int) []Field {
	if v.Kind() != reflect.Struct || depth > 8 {
		return nil
	}
	var out []Field
	walk(v.Type(), func(f reflect.StructField, name string) {
		fv := v.FieldByIndex(f.Index)
		field := Field{
			Name: name, Help: msg.Text{f.Tag.Get("help"), f.Tag.Get("zh")},
			Required: f.Tag.Get("required") == "true",
		}
		if e := f.Tag.Get("enum"); e != "" {
			field.Enum = strings.Split(e, ",")
		}
		t := f.Type
		if t.Kind() == reflect.Pointer {
			t = t.Elem()
			if fv.IsNil() {
				fv = reflect.Zero(t)
			} else {
				fv = fv.Elem()
			}
		}
		switch t.Kind() {
		case reflect.Bool:
			field.Type = "bool"
		case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
			reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
			field.Type = "int"
		case reflect.Float32, reflect.Float64:
			field.Type = "number"
		case reflect.Slice:
			field.Type = "list"
			field.Fields = fieldsOf(reflect.Zero(t.Elem()), depth+1)
		case reflect.Map:
			field.Type = "map"
		case reflect.Struct:
			field.Type = "object"
			field.Fields = fieldsOf(fv, depth+1)
		default:
			field.Type = "string"
		}
		switch fv.Kind() {
		case reflect.Struct, reflect.Map, reflect.Slice:
		default:
			if !fv.IsZero() {
				field.Default = fmt.Sprint(fv.Interface())
			}
		}
		out = append(out, field)
	})
	return out
}
