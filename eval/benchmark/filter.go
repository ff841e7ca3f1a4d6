package benchmark

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
)

// A Filter changes what the extraction rule reads of a reply, as EvalScope's
// dataset_args.filters do; the reply itself stays as it was.
type Filter struct {
	// Name is remove_until, which takes what follows the first Value and leaves a
	// text without one alone, or extract, which takes the first match of the
	// regular expression Value (RE2): its first group that is not empty where it
	// has groups, [invalid] where nothing matches.
	Name  string
	Value string
}

// Filters are applied one after another.
type Filters []Filter

// The names of filters.
const (
	FilterRemoveUntil = "remove_until"
	FilterExtract     = "extract"
)

// ParseFilters reads what EvalScope takes: a JSON object of filters, applied in
// the order written, {"remove_until": "</think>"}. Nothing gives none.
func ParseFilters(text string) (Filters, error) {
	if strings.TrimSpace(text) == "" {
		return nil, nil
	}
	bad := func(err error) error {
		return fail.New(fail.Usage, msg.Text{"filters are no JSON object of texts: %v", "过滤器不是由文本组成的 JSON 对象：%v"}, err).
			Hint(msg.Text{`for example {"remove_until": "</think>"}`, `例如 {"remove_until": "</think>"}`})
	}
	dec := json.NewDecoder(bytes.NewReader([]byte(text)))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		if err == nil {
			err = errors.New("it does not begin with {")
		}
		return nil, bad(err)
	}
	var out Filters
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return nil, bad(err)
		}
		var f Filter
		f.Name, _ = name.(string)
		if err := dec.Decode(&f.Value); err != nil {
			return nil, bad(err)
		}
		if err := f.check(); err != nil {
			return nil, err
		}
		if slices.ContainsFunc(out, func(o Filter) bool { return o.Name == f.Name }) {
			return nil, bad(errors.New(f.Name + " stands there twice"))
		}
		out = append(out, f)
	}
	if _, err := dec.Token(); err != nil {
		return nil, bad(err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, bad(errors.New("something follows it"))
	}
	return out, nil
}

func (f Filter) check() error {
	switch f.Name {
	case FilterRemoveUntil:
		if f.Value == "" {
			return fail.New(fail.Usage, msg.Text{"%s: the text to remove up to is empty", "%s：截止文本为空"}, f.Name)
		}
		return nil
	case FilterExtract:
		if _, err := regexp.Compile(f.Value); err != nil {
			return fail.New(fail.Usage, msg.Text{"%s: %v", "%s：%v"}, f.Name, err)
		}
		return nil
	}
	return fail.New(fail.Usage, msg.Text{"no filter %q", "没有过滤器 %q"}, f.Name).
		Hint(msg.Text{"there are: %s, %s", "可用：%s、%s"}, FilterRemoveUntil, FilterExtract)
}

// Apply returns what is left of a text. Filters that do not pass [ParseFilters]
// do nothing.
func (fs Filters) Apply(text string) string {
	for _, f := range fs {
		switch f.Name {
		case FilterRemoveUntil:
			if _, after, found := strings.Cut(text, f.Value); found && f.Value != "" {
				text = after
			}
		case FilterExtract:
			if re, err := regexp.Compile(f.Value); err == nil {
				text = extract(re, text)
			}
		}
	}
	return text
}

// noMatch is what EvalScope's extract leaves of a text without a match.
const noMatch = "[invalid]"

func extract(re *regexp.Regexp, text string) string {
	m := re.FindStringSubmatch(text)
	switch {
	case m == nil:
		return noMatch
	case len(m) == 1:
		return trimPython(m[0])
	case len(m) == 2: // one group may be empty
		return trimPython(m[1])
	}
	for _, g := range m[1:] {
		if g != "" {
			return trimPython(g)
		}
	}
	return noMatch
}

// String writes the filters as [ParseFilters] reads them; none is "".
func (fs Filters) String() string {
	if len(fs) == 0 {
		return ""
	}
	var b strings.Builder
	for i, f := range fs {
		b.WriteString(map[bool]string{true: "{", false: ", "}[i == 0])
		name, _ := json.Marshal(f.Name)
		var value bytes.Buffer
		e := json.NewEncoder(&value)
		e.SetEscapeHTML(false)
		_ = e.Encode(f.Value)
		b.Write(name)
		b.WriteString(": ")
		b.Write(bytes.TrimSpace(value.Bytes()))
	}
	return b.String() + "}"
}
