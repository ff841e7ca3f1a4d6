package emit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode/utf8"

	"github.com/valyala/fastjson"

	"github.com/drydock-ml/drydock"
)

// DatasetInfoName is the file LLaMA-Factory looks up its data sets in.
const DatasetInfoName = "dataset_info.json"

// DatasetInfo is the entry that LLaMA-Factory's dataset_info.json needs for rows
// in file, relative to it, as one JSON object. beside lists columns the rows have
// besides those of their task, by LLaMA-Factory's own names: tools.
//
// What columns and tags leave out is not there for LLaMA-Factory, so all are
// named. "formatting": "openai" is never written: it puts words of its own into
// the system turn.
func DatasetInfo(file string, task Task, beside ...string) []byte {
	dst := appendText([]byte{'{'}, "file_name", file)
	const (
		roles  = `"role_tag":"role","content_tag":"content","user_tag":"user","assistant_tag":"assistant","system_tag":"system","observation_tag":"tool","function_tag":"function_call"`
		saying = `"role_tag":"from","content_tag":"value","user_tag":"human","assistant_tag":"gpt","system_tag":"system","observation_tag":"observation","function_tag":"function_call"`
	)
	if task == Pretrain {
		return append(dst, `,"columns":{"prompt":"text"}}`...)
	}
	dst = append(dst, `,"formatting":"sharegpt"`...)
	columns, tags := `"messages":"messages"`, roles
	switch task {
	case DPO:
		dst = append(dst, `,"ranking":true`...)
		columns, tags = `"messages":"conversations","chosen":"chosen","rejected":"rejected"`, saying
	case KTO:
		columns += `,"kto_tag":"label"`
	}
	dst = append(append(dst, `,"columns":{`...), columns...)
	for _, name := range beside {
		dst = appendText(dst, name, name)
	}
	return append(append(append(dst, `},"tags":{`...), tags...), "}}"...)
}

// MergeDatasetInfo puts an entry into a dataset_info.json under name, in the place
// of an older one or at the end; old is the file as it stands, nil when there is
// none. Other entries are kept. The text is ASCII: LLaMA-Factory opens the file in
// the encoding of the machine.
func MergeDatasetInfo(old []byte, name string, entry []byte) ([]byte, error) {
	dst := []byte{'{'}
	put := func(key string, value []byte) {
		if len(dst) > 1 {
			dst = append(dst, ',')
		}
		dst = append(append(drydock.AppendJSONString(dst, key), ':'), value...)
	}
	placed := false
	if len(bytes.TrimSpace(old)) > 0 {
		v, err := fastjson.ParseBytes(old)
		if err != nil {
			return nil, fmt.Errorf("not valid JSON: %w", err)
		}
		o, err := v.Object()
		if err != nil {
			return nil, fmt.Errorf("it must be an object of data sets, not %s", v.Type())
		}
		o.Visit(func(key []byte, v *fastjson.Value) {
			if string(key) == name {
				placed = true
				put(name, entry)
				return
			}
			put(string(key), rawValue(v))
		})
	}
	if !placed {
		put(name, entry)
	}
	var out bytes.Buffer
	if err := json.Indent(&out, append(dst, '}'), "", "  "); err != nil {
		return nil, err
	}
	return append(asciiJSON(out.Bytes()), '\n'), nil
}

// asciiJSON escapes what is not ASCII; in JSON that stands in strings only.
func asciiJSON(text []byte) []byte {
	out := make([]byte, 0, len(text))
	for len(text) > 0 {
		r, n := utf8.DecodeRune(text)
		switch {
		case r < utf8.RuneSelf:
			out = append(out, text[0])
		case r > 0xffff:
			r -= 0x10000
			out = fmt.Appendf(out, "\\u%04x\\u%04x", 0xd800+r>>10, 0xdc00+r&0x3ff)
		default:
			out = fmt.Appendf(out, "\\u%04x", r)
		}
		text = text[n:]
	}
	return out
}
