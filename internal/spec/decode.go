package spec

import (
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/drydock-ml/drydock/internal/msg"

	"go.yaml.in/yaml/v3"
)

// A Decodable decodes itself, for shapes that one struct cannot say.
type Decodable interface {
	DecodeSpec(d *Document, n *yaml.Node, what any)
}

// A Place is embedded in an option struct that wants to know where it stood, for
// findings that come after decoding.
type Place struct{ Node *yaml.Node }

// Decode fills the struct that into points to from a mapping. Keys that are not
// there keep the value they have: the struct's contents are the defaults. what
// names the thing in findings ("step drop_short"); it is a string or a
// msg.Localizer.
func (d *Document) Decode(n *yaml.Node, into any, what any) {
	d.decodeStruct(n, reflect.ValueOf(into).Elem(), what, 0)
}

func (d *Document) decodeStruct(n *yaml.Node, v reflect.Value, what any, depth int) {
	if depth > maxDepth {
		d.Report(n, msg.Text{"nested too deep", "嵌套过深"})
		return
	}
	if at := v.FieldByName("Place"); at.IsValid() && at.Type() == reflect.TypeFor[Place]() {
		at.Set(reflect.ValueOf(Place{n}))
	}
	fields := map[string]reflect.StructField{}
	var names []string
	var required []string
	walk(v.Type(), func(f reflect.StructField, name string) {
		fields[name] = f
		names = append(names, name)
		if f.Tag.Get("required") == "true" {
			required = append(required, name)
		}
	})
	seen := map[string]bool{}
	for _, p := range d.Pairs(n, what) {
		f, ok := fields[p.Key.Value]
		if !ok {
			d.Report(p.Key, msg.Text{"%s has no option %q", "%s 没有选项 %q"}, what, p.Key.Value).
				NearOr(p.Key.Value, names, msg.Text{"it knows: %s", "可用选项：%s"})
			continue
		}
		seen[p.Key.Value] = true
		d.decodeValue(p.Value, v.FieldByIndex(f.Index), f, p.Key.Value, depth+1)
	}
	for _, name := range required {
		if !seen[name] {
			d.Report(n, msg.Text{"%s needs the option %q", "%s 缺少选项 %q"}, what, name)
		}
	}
}

func (d *Document) decodeValue(n *yaml.Node, v reflect.Value, f reflect.StructField, name string, depth int) {
	if dec, ok := v.Addr().Interface().(Decodable); ok {
		dec.DecodeSpec(d, n, name)
		return
	}
	if v.Type() == reflect.TypeFor[yaml.Node]() {
		v.Set(reflect.ValueOf(*n))
		return
	}
	if isNull(n) && v.Kind() != reflect.String {
		return // "key:" alone keeps the default
	}
	switch v.Kind() {
	case reflect.Pointer:
		p := reflect.New(v.Type().Elem())
		if !v.IsNil() {
			p.Elem().Set(v.Elem())
		}
		d.decodeValue(n, p.Elem(), f, name, depth)
		v.Set(p)
	case reflect.Struct:
		d.decodeStruct(n, v, name, depth)
	case reflect.Slice:
		items := d.Items(n, name, v.Type().Elem().Kind() == reflect.String)
		out := reflect.MakeSlice(v.Type(), len(items), len(items))
		for i, it := range items {
			d.decodeValue(it, out.Index(i), f, name+"["+strconv.Itoa(i+1)+"]", depth+1)
		}
		v.Set(out)
	case reflect.Map:
		m := reflect.MakeMap(v.Type())
		for _, p := range d.Pairs(n, name) {
			e := reflect.New(v.Type().Elem()).Elem()
			d.decodeValue(p.Value, e, f, name+"."+p.Key.Value, depth+1)
			m.SetMapIndex(reflect.ValueOf(p.Key.Value), e)
		}
		v.Set(m)
	default:
		d.decodeScalar(n, v, f, name)
	}
}

func (d *Document) decodeScalar(n *yaml.Node, v reflect.Value, f reflect.StructField, name string) {
	if n.Kind != yaml.ScalarNode {
		d.Report(n, msg.Text{"%s must be %s, not %s", "%s 必须是%s，而不是%s"}, name, typeWords(v.Kind()), kindOf(n))
		return
	}
	bad := func() {
		d.Report(n, msg.Text{"%s must be %s, not %s", "%s 必须是%s，而不是%s"}, name, typeWords(v.Kind()), kindOf(n))
	}
	switch v.Kind() {
	case reflect.String:
		if isNull(n) {
			return
		}
		if enum := f.Tag.Get("enum"); enum != "" {
			allowed := strings.Split(enum, ",")
			if !slices.Contains(allowed, n.Value) {
				d.Report(n, msg.Text{"%s cannot be %q; it is one of %s", "%s 不能是 %q；可选值：%s"}, name, n.Value, msg.List(allowed)).Near(n.Value, allowed)
				return
			}
		}
		v.SetString(n.Value)
	case reflect.Bool:
		// YAML 1.1 readers also take yes and on; refusing them here would
		// surprise, taking them as text would be worse
		switch strings.ToLower(n.Value) {
		case "true", "yes", "on":
			v.SetBool(true)
		case "false", "no", "off":
			v.SetBool(false)
		default:
			bad()
		}
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		i, err := strconv.ParseInt(strings.ReplaceAll(n.Value, "_", ""), 10, 64)
		if err != nil || n.Tag == "!!str" || v.OverflowInt(i) {
			bad()
			return
		}
		v.SetInt(i)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		i, err := strconv.ParseUint(strings.ReplaceAll(n.Value, "_", ""), 10, 64)
		if err != nil || n.Tag == "!!str" || v.OverflowUint(i) {
			bad()
			return
		}
		v.SetUint(i)
	case reflect.Float32, reflect.Float64:
		x, err := strconv.ParseFloat(n.Value, 64)
		if err != nil || math.IsNaN(x) || math.IsInf(x, 0) || n.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) != 0 {
			bad()
			return
		}
		v.SetFloat(x)
	default:
		bad()
	}
}

func typeWords(k reflect.Kind) msg.Localizer {
	switch k {
	case reflect.Bool:
		return msg.Text{"true or false", "true 或 false"}
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return msg.Text{"a whole number", "整数"}
	case reflect.Float32, reflect.Float64:
		return msg.Text{"a number", "数字"}
	}
	return msg.Text{"text", "文本"}
}

// walk visits the fields of an option struct that have a yaml key, flattening
// anonymous ones.
func walk(t reflect.Type, visit func(f reflect.StructField, name string)) {
	for _, f := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		if f.Anonymous || !f.IsExported() || name == "" || name == "-" {
			continue
		}
		visit(f, name)
	}
}
