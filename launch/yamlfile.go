package launch

import (
	"strconv"
	"strings"

	"github.com/drydock-ml/drydock"

	"go.yaml.in/yaml/v3"
)

// A yamlFile is a flat YAML mapping in the order its keys were given. Setting a
// key again changes its value in place.
type yamlFile struct {
	keys   []string
	values map[string]string
}

func (y *yamlFile) set(key, value string) {
	if y.values == nil {
		y.values = map[string]string{}
	}
	if _, there := y.values[key]; !there {
		y.keys = append(y.keys, key)
	}
	y.values[key] = value
}

func (y *yamlFile) int(key string, v int)       { y.set(key, strconv.Itoa(v)) }
func (y *yamlFile) bool(key string, v bool)     { y.set(key, strconv.FormatBool(v)) }
func (y *yamlFile) float(key string, v float64) { y.set(key, yamlFloat(v)) }
func (y *yamlFile) text(key, v string)          { y.set(key, yamlText(v)) }

// node writes a value a user gave: numbers so that PyYAML reads numbers, and all
// else as it stands.
func (y *yamlFile) node(key string, n *yaml.Node) {
	if n.Kind == yaml.ScalarNode && n.Tag == "!!str" {
		if b, ok := pythonBool(n); ok {
			y.bool(key, b)
			return
		}
		y.text(key, n.Value)
		return
	}
	y.set(key, flow(n))
}

// pythonBool reads the booleans that only YAML 1.1, and so PyYAML, knows.
func pythonBool(n *yaml.Node) (value, ok bool) {
	if isQuoted(n) {
		return false, false
	}
	switch strings.ToLower(n.Value) {
	case "yes", "on":
		return true, true
	case "no", "off":
		return false, true
	}
	return false, false
}

// String returns the file.
func (y *yamlFile) String() string {
	var b strings.Builder
	for _, k := range y.keys {
		b.WriteString(k + ": " + y.values[k] + "\n")
	}
	return b.String()
}

// yamlFloat writes x so that every YAML reader takes it for a number: PyYAML
// reads 1e-05 as text, and 1.0e-05 as a number.
func yamlFloat(x float64) string {
	format := byte('f')
	if x != 0 && (x < 1e-4 && x > -1e-4 || x >= 1e15 || x <= -1e15) {
		format = 'e'
	}
	s := strconv.FormatFloat(x, format, -1, 64)
	if mantissa, exp, found := strings.Cut(s, "e"); found {
		if !strings.Contains(mantissa, ".") {
			mantissa += ".0"
		}
		return mantissa + "e" + exp
	}
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}

// yamlText writes a string plain where no reader can take it for anything else,
// else in double quotes, which are JSON's.
func yamlText(s string) string {
	plain := s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_./-", r))
	})
	switch strings.ToLower(s) {
	case "true", "false", "yes", "no", "on", "off", "null", "y", "n":
		plain = false
	case ".": // a path of its own, no number
		return s
	}
	if plain && (s[0] >= 'a' && s[0] <= 'z' || s[0] >= 'A' && s[0] <= 'Z' || strings.HasPrefix(s, "../") || s[0] == '/') {
		return s
	}
	return jsonText(s)
}

// jsonText writes a JSON string, which is a YAML string in double quotes.
func jsonText(s string) string { return string(drydock.AppendJSONString(nil, s)) }

// TopSettings returns the keys and values at the top of a configuration written
// for a trainer, in their order; nil when it is no mapping.
func TopSettings(config []byte) [][2]string {
	var doc yaml.Node
	if yaml.Unmarshal(config, &doc) != nil || len(doc.Content) != 1 || doc.Content[0].Kind != yaml.MappingNode {
		return nil
	}
	var out [][2]string
	fields := doc.Content[0].Content
	for i := 0; i+1 < len(fields); i += 2 {
		value := fields[i+1].Value
		if fields[i+1].Kind != yaml.ScalarNode {
			text, err := yaml.Marshal(fields[i+1])
			if err != nil {
				return nil
			}
			value = string(text)
		}
		out = append(out, [2]string{fields[i].Value, value})
	}
	return out
}
