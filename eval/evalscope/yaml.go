package evalscope

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/eval/benchmark"
)

// A yamlWriter writes the small part of YAML such a file needs, folded as
// PyYAML folds at 80 columns.
type yamlWriter struct{ b []byte }

func (y *yamlWriter) lines(l ...string) {
	for _, s := range l {
		y.b = append(y.b, s...)
		y.b = append(y.b, '\n')
	}
}

// str writes a key with a text; an empty one is null.
func (y *yamlWriter) str(indent int, key, value string) {
	pad := strings.Repeat(" ", indent)
	y.b = append(y.b, pad+key+": "...)
	if value == "" {
		y.b = append(y.b, "null\n"...)
		return
	}
	y.scalar(value, indent+len(key)+2, pad+"  ")
	y.b = append(y.b, '\n')
}

// scalar writes a text that begins at a column; indent begins its further
// lines. Which of the three styles it takes is PyYAML's choice.
func (y *yamlWriter) scalar(s string, column int, indent string) {
	switch {
	case plainYAML(s):
		y.plain(s, column, indent)
	case singleYAML(s):
		y.single(s, column, indent)
	default:
		y.quoted(s, column, indent)
	}
}

// filters writes a benchmark's filters as PyYAML writes Python's OrderedDict.
func (y *yamlWriter) filters(f benchmark.Filters) {
	if len(f) == 0 {
		y.lines("    filters: null")
		return
	}
	y.lines("    filters: !!python/object/apply:collections.OrderedDict")
	for i, f := range f {
		lead := "      - - "
		if i == 0 {
			lead = "    - - - "
		}
		y.b = append(y.b, lead...)
		y.scalar(f.Name, len(lead), "          ")
		y.b = append(y.b, "\n        - "...)
		y.scalar(f.Value, len("        - "), "          ")
		y.b = append(y.b, '\n')
	}
}

// generation writes a mapping at an indent of two.
func (y *yamlWriter) generation(fields []drydock.RawField) {
	for _, f := range fields {
		y.value("  ", f.Name, []byte(f.Value))
	}
}

// value writes a key with any JSON value in PyYAML's block style, keys sorted.
// What is no JSON is written as text.
func (y *yamlWriter) value(pad, key string, v json.RawMessage) {
	y.b = append(y.b, pad...)
	y.scalar(key, len(pad), pad+"  ")
	y.b = append(y.b, ':')
	var object map[string]json.RawMessage
	var list []json.RawMessage
	switch {
	case json.Unmarshal(v, &object) == nil && len(object) > 0:
		y.b = append(y.b, '\n')
		for _, k := range slices.Sorted(maps.Keys(object)) {
			y.value(pad+"  ", k, object[k])
		}
		return
	case json.Unmarshal(v, &list) == nil && len(list) > 0:
		y.b = append(y.b, '\n')
		for _, e := range list {
			y.b = append(y.b, pad+"- "...)
			y.leaf(e, len(pad)+2, pad+"  ")
			y.b = append(y.b, '\n')
		}
		return
	}
	y.b = append(y.b, ' ')
	y.leaf(v, len(pad)+len(key)+2, pad+"  ")
	y.b = append(y.b, '\n')
}

// leaf writes a JSON value on one line: text as YAML text, anything else as
// JSON, which YAML reads the same.
func (y *yamlWriter) leaf(v json.RawMessage, column int, indent string) {
	var text *string
	if json.Unmarshal(v, &text) == nil && text != nil {
		y.scalar(*text, column, indent)
		return
	}
	y.b = append(y.b, strings.TrimSpace(string(v))...)
}

// plainYAML tells values that need no quotes: PyYAML takes them for nothing but
// text, and they hold no sign of YAML where it would be read as one.
func plainYAML(s string) bool {
	if s == "" || otherYAML(s) || strings.HasPrefix(s, "---") || strings.HasPrefix(s, "...") {
		return false
	}
	first, rest := s[0], s[1:]
	if strings.IndexByte("#,[]{}&*!|>'\"%@` ", first) >= 0 {
		return false
	}
	if strings.IndexByte("-?:", first) >= 0 && (rest == "" || rest[0] == ' ') {
		return false
	}
	if strings.HasSuffix(s, " ") || strings.HasSuffix(s, ":") || strings.Contains(s, ": ") || strings.Contains(s, " #") {
		return false
	}
	return !strings.ContainsAny(s, "\n\u0085\u2028\u2029") && !specialYAML(s)
}

// otherYAML tells texts that YAML 1.1 reads as something else: null, a truth
// value, a number, a date.
func otherYAML(s string) bool {
	switch s {
	case "~", "null", "Null", "NULL", "<<", "=":
		return true
	}
	if l := strings.ToLower(s); s == l || s == strings.ToUpper(s) || s == strings.ToUpper(s[:1])+l[1:] {
		switch l {
		case "yes", "no", "true", "false", "on", "off":
			return true
		}
	}
	const number = `[-+]?(0b[01_]+|0[0-7_]+|0|[1-9][0-9_]*|0x[0-9a-fA-F_]+|[1-9][0-9_]*(:[0-5]?[0-9])+` +
		`|[0-9][0-9_]*\.[0-9_]*([eE][-+][0-9]+)?|[0-9][0-9_]*(:[0-5]?[0-9])+\.[0-9_]*|\.(inf|Inf|INF))` +
		`|\.[0-9][0-9_]*([eE][-+][0-9]+)?|\.(nan|NaN|NAN)`
	const date = `[0-9]{4}-[0-9]{2}-[0-9]{2}|[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}([Tt]|[ \t]+)[0-9]{1,2}:[0-9]{2}:[0-9]{2}(\.[0-9]*)?` +
		`([ \t]*(Z|[-+][0-9]{1,2}(:[0-9]{2})?))?`
	return regexp.MustCompile(`^(` + number + `|` + date + `)$`).MatchString(s)
}

// singleYAML tells values that single quotes can hold: nothing to escape, and no
// line end with a space beside it.
func singleYAML(s string) bool {
	if specialYAML(s) {
		return false
	}
	for _, br := range []string{"\n", "\u0085", "\u2028", "\u2029"} {
		if strings.Contains(s, " "+br) || strings.Contains(s, br+" ") {
			return false
		}
	}
	return true
}

// specialYAML tells values with characters that only an escape can show.
func specialYAML(s string) bool {
	for _, r := range s {
		switch r {
		case '"', '\\', '\n', 0x85, 0x2028, 0x2029:
			continue
		}
		// PyYAML escapes what lies beyond the first plane in double quotes, but
		// does not take to them for it
		if r <= 0xffff && escapeYAML(r) != "" {
			return true
		}
	}
	return false
}

const yamlWidth = 80

// plain breaks at the first single space past the width.
func (y *yamlWriter) plain(s string, column int, indent string) {
	words := strings.Split(s, " ")
	for i, w := range words {
		if i > 0 {
			single := w != "" && words[i-1] != ""
			if single && column > yamlWidth {
				y.b = append(y.b, '\n')
				y.b = append(y.b, indent...)
				column = len(indent)
			} else {
				y.b = append(y.b, ' ')
				column++
			}
		}
		y.b = append(y.b, w...)
		column += len([]rune(w))
	}
}

// single writes a single-quoted text: line ends doubled, and broken like a plain
// one.
func (y *yamlWriter) single(s string, column int, indent string) {
	rs := []rune(s)
	isBreak := func(r rune) bool { return r == '\n' || r == 0x85 || r == 0x2028 || r == 0x2029 }
	y.b = append(y.b, '\'')
	column++
	for i := 0; i < len(rs); {
		j := i + 1
		switch r := rs[i]; {
		case r == '\'':
			y.b = append(y.b, "''"...)
			column += 2
		case isBreak(r):
			for j < len(rs) && isBreak(rs[j]) {
				j++
			}
			if r == '\n' {
				y.b = append(y.b, '\n')
			}
			y.b = append(y.b, string(rs[i:j])...)
			y.b = append(y.b, indent...)
			column = len(indent)
		case r == ' ':
			for j < len(rs) && rs[j] == ' ' {
				j++
			}
			if j == i+1 && column > yamlWidth && i > 0 && j < len(rs) {
				y.b = append(append(y.b, '\n'), indent...)
				column = len(indent)
				break
			}
			y.b = append(y.b, string(rs[i:j])...)
			column += j - i
		default:
			for j < len(rs) && rs[j] != '\'' && rs[j] != ' ' && !isBreak(rs[j]) {
				j++
			}
			y.b = append(y.b, string(rs[i:j])...)
			column += j - i
		}
		i = j
	}
	y.b = append(y.b, '\'')
}

// quoted writes a double-quoted text. A line that grows past the width ends
// with a backslash; one before a space keeps that space.
func (y *yamlWriter) quoted(s string, column int, indent string) {
	rs := []rune(s)
	y.b = append(y.b, '"')
	column++
	start := 0
	for i := 0; i <= len(rs); i++ {
		special := i < len(rs) && escapeYAML(rs[i]) != ""
		if i == len(rs) || special {
			y.b = append(y.b, string(rs[start:i])...)
			column += i - start
			start = i
			if special {
				e := escapeYAML(rs[i])
				y.b = append(y.b, e...)
				column += len(e)
				start = i + 1
			}
		}
		space := i < len(rs) && rs[i] == ' '
		if i > 0 && i < len(rs)-1 && (space || start >= i) && column+(i-start) > yamlWidth {
			if start < i {
				y.b = append(y.b, string(rs[start:i])...)
				start = i
			}
			y.b = append(y.b, "\\\n"...)
			y.b = append(y.b, indent...)
			column = len(indent)
			if rs[start] == ' ' {
				y.b = append(y.b, '\\')
				column++
			}
		}
	}
	y.b = append(y.b, '"')
}

func escapeYAML(r rune) string {
	switch r {
	case '"':
		return `\"`
	case '\\':
		return `\\`
	case '\n':
		return `\n`
	case '\t':
		return `\t`
	case '\r':
		return `\r`
	case 0x85:
		return `\N`
	case 0x2028:
		return `\L`
	case 0x2029:
		return `\P`
	}
	switch {
	case r < 0x20 || r == 0x7f:
		return `\x` + strings.ToUpper(hexN(r, 2))
	case r == 0xfeff || (r > 0x7f && r < 0xa0):
		return `\u` + strings.ToUpper(hexN(r, 4))
	case r > 0xffff:
		return `\U` + strings.ToUpper(hexN(r, 8))
	}
	return ""
}

func hexN(r rune, n int) string {
	s := strconv.FormatInt(int64(r), 16)
	return strings.Repeat("0", max(n-len(s), 0)) + s
}
