package llm

import (
	"bytes"
	"encoding/json"
	"strconv"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
)

// A Request is one question.
type Request struct {
	Model       string             // as the server knows it
	Messages    []drydock.Message  // role and content are sent, nothing else
	Stream      bool               // have the reply sent piece by piece, with the usage at its end
	MaxTokens   int                // 0: not sent
	Temperature *float64           // nil: not sent
	Extra       []drydock.RawField // further fields of the body, in this order
}

// ownFields are set by the fields of a [Request], never by Extra.
var ownFields = map[string]string{
	"model": "--model", "messages": "", "stream": "--stream", "stream_options": "--stream",
	"max_tokens": "--max-tokens", "temperature": "--temperature",
}

// Body returns the request body, UTF-8, nothing escaped that need not be, in the
// order in which EvalScope 1.4.2's client sends the same settings: model,
// stream, messages, max_tokens, stream_options, temperature, then the extra
// fields.
func (r *Request) Body() ([]byte, error) {
	b := append([]byte(nil), `{"model":`...)
	b = drydock.AppendJSONString(b, r.Model)
	if r.Stream {
		b = append(b, `,"stream":true`...)
	}
	b = append(b, `,"messages":[`...)
	for i, m := range r.Messages {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, `{"role":`...)
		b = drydock.AppendJSONString(b, m.Role)
		b = append(b, `,"content":`...)
		b = drydock.AppendJSONString(b, m.Content)
		b = append(b, '}')
	}
	b = append(b, ']')
	if r.MaxTokens > 0 {
		b = strconv.AppendInt(append(b, `,"max_tokens":`...), int64(r.MaxTokens), 10)
	}
	if r.Stream {
		b = append(b, `,"stream_options":{"include_usage":true}`...)
	}
	if r.Temperature != nil {
		b = drydock.AppendJSONFloat(append(b, `,"temperature":`...), *r.Temperature)
	}
	if err := checkExtra(r.Extra); err != nil {
		return nil, err
	}
	for _, f := range r.Extra {
		b = append(b, ',')
		b = drydock.AppendJSONString(b, f.Name)
		b = append(b, ':')
		b = append(b, f.Value...)
	}
	return append(b, '}'), nil
}

func checkExtra(fields []drydock.RawField) error {
	seen := map[string]bool{}
	for _, f := range fields {
		if flag, own := ownFields[f.Name]; own {
			e := fail.New(fail.Usage, msg.Text{"extra body: %q is set elsewhere", "附加请求体：%q 由其他选项设置"}, f.Name)
			if flag != "" {
				e = e.Hint(msg.Text{"use %s", "请使用 %s"}, flag)
			}
			return e
		}
		if seen[f.Name] {
			return fail.New(fail.Usage, msg.Text{"extra body: %q stands there twice", "附加请求体：%q 出现了两次"}, f.Name)
		}
		seen[f.Name] = true
		if !json.Valid(f.Value) {
			return fail.New(fail.Usage, msg.Text{"extra body: the value of %q is not JSON", "附加请求体：%q 的值不是 JSON"}, f.Name)
		}
	}
	return nil
}

// ParseExtra reads the fields of a JSON object in their order. Values are
// compacted, so that white space in a flag does not make another request.
func ParseExtra(object string) ([]drydock.RawField, error) {
	if object == "" {
		return nil, nil
	}
	bad := func(why any) error {
		return fail.New(fail.Usage, msg.Text{"extra body: not a JSON object: %v", "附加请求体：不是 JSON 对象：%v"}, why).
			Hint(msg.Text{`it looks like {"chat_template_kwargs":{"enable_thinking":false}}`, `形如 {"chat_template_kwargs":{"enable_thinking":false}}`})
	}
	d := json.NewDecoder(bytes.NewReader([]byte(object)))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, bad(object)
	}
	var fields []drydock.RawField
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil, bad(err)
		}
		var v json.RawMessage
		if err := d.Decode(&v); err != nil {
			return nil, bad(err)
		}
		var compact bytes.Buffer
		if err := json.Compact(&compact, v); err != nil {
			return nil, bad(err)
		}
		fields = append(fields, drydock.RawField{Name: name.(string), Value: compact.Bytes()})
	}
	if _, err := d.Token(); err != nil {
		return nil, bad(err)
	}
	if d.More() {
		return nil, bad(object)
	}
	return fields, checkExtra(fields)
}
