package question

import (
	"strings"

	"github.com/valyala/fastjson"

	"github.com/drydock-ml/drydock"
)

// setOptions reads an options value: a map by letter, a list of texts, of
// objects or of pairs, parallel lists of labels and texts, or one text.
func (j *jsonItem) setOptions(v *fastjson.Value) {
	if j.hasOpts {
		return
	}
	switch v.Type() {
	case fastjson.TypeObject:
		j.optionsObject(v)
	case fastjson.TypeArray:
		j.optionsArray(v.GetArray())
	case fastjson.TypeString:
		if s := trim(scalarText(v)); s != "" {
			j.options = cellOptions(s)
			j.hasOpts = true
		}
	}
}

func (j *jsonItem) optionsObject(v *fastjson.Value) {
	if t := v.Get("text"); t != nil && t.Type() == fastjson.TypeArray {
		for _, l := range v.GetArray("label") {
			j.labels = append(j.labels, scalarText(l))
		}
		labels := j.labels
		j.optionsArray(t.GetArray())
		j.labels = labels
		return
	}
	byPlace := map[int]string{}
	base, known := 0, true
	v.GetObject().Visit(func(key []byte, x *fastjson.Value) {
		if x.Type() == fastjson.TypeNull {
			return
		}
		if p, ok := optionName(foldName(string(key))); ok {
			byPlace[p] = j.optionText(x, p)
			return
		}
		n, w := number(string(key))
		if w == 0 || w != len(key) || n > maxOptions {
			known = false
			return
		}
		base = 1
		byPlace[n] = j.optionText(x, n)
	})
	if _, zero := byPlace[0]; zero {
		base = 0
	}
	if !known || len(byPlace) == 0 {
		j.bad, j.badDetail = reasonGap, "the options' names are no letters or numbers"
		return
	}
	j.options, j.gap = fromMap(byPlace, base)
	j.hasOpts = true
}

func (j *jsonItem) optionsArray(list []*fastjson.Value) {
	cells := make([]string, 0, len(list))
	labels := make([]string, 0, len(list))
	for i, x := range list {
		text, label, right, flagged := j.optionOf(x, i)
		cells = append(cells, text)
		labels = append(labels, label)
		if flagged {
			j.hasRight = true
			if right {
				j.right = append(j.right, i)
			}
		}
	}
	if j.hasRight && len(j.right) == 0 {
		j.hasRight = false
	}
	j.options, j.gap = optionCells(cells)
	j.labels = labels
	j.hasOpts = len(cells) > 0
}

// optionOf reads one element of a list of options.
func (j *jsonItem) optionOf(x *fastjson.Value, i int) (text, label string, right, flagged bool) {
	switch x.Type() {
	case fastjson.TypeNull:
		return "", "", false, false
	case fastjson.TypeArray:
		a := x.GetArray()
		if len(a) == 2 {
			if a[1].Type() == fastjson.TypeTrue || a[1].Type() == fastjson.TypeFalse {
				return trim(scalarText(a[0])), "", a[1].Type() == fastjson.TypeTrue, true
			}
			return trim(scalarText(a[1])), scalarText(a[0]), false, false
		}
	case fastjson.TypeObject:
		return optionObject(x)
	}
	return j.optionText(x, i), "", false, false
}

// flagged reports a list of answers of which each says whether it is right: the
// options, under the name of the answer.
func flagged(v *fastjson.Value) bool {
	list := v.GetArray()
	for i, x := range list {
		if _, _, _, ok := new(jsonItem).optionOf(x, i); !ok {
			return false
		}
	}
	return len(list) >= 2
}

// The names, as foldName gives them, of what an option's object holds.
var (
	optionLabels = [...]string{"label", "key", "letter", "optionname", "optionkey", "optionlabel", "optionno", "id", "option", "name", "no", "index", "tag", "prefix", "value"}
	optionTexts  = [...]string{"text", "content", "optioncontent", "optiontext", "answertext", "value", "optionvalue", "option", "answer", "choice", "title", "body", "desc", "description", "name"}
	optionRights = [...]string{"iscorrect", "correct", "isright", "right", "isanswer", "istrue", "rightflag", "checked"}
)

// optionObject reads {"label": "A", "text": "…", "is_correct": true} under any
// of its names.
func optionObject(x *fastjson.Value) (text, label string, right, flagged bool) {
	by := map[string]*fastjson.Value{}
	x.GetObject().Visit(func(key []byte, v *fastjson.Value) {
		if scalar(v) {
			by[foldName(string(key))] = v
		}
	})
	for _, k := range optionLabels {
		if v := by[k]; v != nil && len(scalarText(v)) <= 4 {
			label = scalarText(v)
			break
		}
	}
	for _, k := range optionTexts {
		if v := by[k]; v != nil && (scalarText(v) != label || text == "") {
			text = trim(repair(untag(scalarText(v))))
			if scalarText(v) != label {
				break
			}
		}
	}
	for _, k := range optionRights {
		if v := by[k]; v != nil {
			switch v.Type() {
			case fastjson.TypeTrue, fastjson.TypeFalse:
				return text, label, v.Type() == fastjson.TypeTrue, true
			case fastjson.TypeNumber:
				return text, label, v.GetInt() == 1, true
			case fastjson.TypeString:
				if j := readJudge(scalarText(v)); j != "" || scalarText(v) == "1" || scalarText(v) == "0" {
					return text, label, j == "true" || scalarText(v) == "1", true
				}
			}
		}
	}
	return text, label, false, false
}

// jsonOptionsText reads a cell that holds a JSON list or map of options.
func jsonOptionsText(s string) []drydock.Option {
	var p fastjson.Parser
	v, err := p.Parse(s)
	if err != nil {
		return nil
	}
	j := jsonItem{}
	j.setOptions(v)
	if j.gap != "" || j.bad != "" {
		return nil
	}
	return j.options
}

func scalar(v *fastjson.Value) bool {
	return v.Type() != fastjson.TypeObject && v.Type() != fastjson.TypeArray
}

// scalarText is a value as text: strings without quotes, numbers as written.
func scalarText(v *fastjson.Value) string {
	if v == nil {
		return ""
	}
	switch v.Type() {
	case fastjson.TypeNull:
		return ""
	case fastjson.TypeString:
		return string(v.GetStringBytes())
	}
	return v.String()
}

// texts lists a value's texts, one or many.
func texts(v *fastjson.Value) []string {
	var out []string
	add := func(v *fastjson.Value) {
		if s := trim(scalarText(v)); s != "" && scalar(v) {
			out = append(out, s)
		}
	}
	if v.Type() == fastjson.TypeArray {
		for _, x := range v.GetArray() {
			add(x)
		}
		return out
	}
	add(v)
	return out
}

// lastUser returns what the user said last in a list of chat messages.
func lastUser(v *fastjson.Value) string {
	out := ""
	for _, m := range v.GetArray() {
		role := scalarText(m.Get("role"))
		if role == "" {
			role = scalarText(m.Get("from"))
		}
		if role != "user" && role != "human" {
			continue
		}
		c := m.Get("content")
		if c == nil {
			c = m.Get("value")
		}
		if c != nil && scalar(c) {
			out = strings.TrimSpace(scalarText(c))
		}
	}
	return out
}
