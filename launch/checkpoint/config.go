package checkpoint

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/internal/msg"
)

const configFile = "config.json"

// An object is a JSON object whose values are kept as they were written.
type object map[string]json.RawMessage

// readObject reads a file; a missing one is nil without an error.
func readObject(path string) (object, error) {
	raw, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var o object
	err = decodeJSON(raw, &o)
	if err == nil && o == nil {
		err = errors.New("it is no JSON object")
	}
	return o, err
}

// value decodes one entry; nil where there is none, and for null.
func (o object) value(key string) any {
	var v any
	if raw, ok := o[key]; ok && json.Unmarshal(raw, &v) == nil {
		return v
	}
	return nil
}

func (o object) text(key string) string {
	s, _ := o.value(key).(string)
	return s
}

// shown writes an entry for people.
func (o object) shown(key string) string {
	raw, ok := o[key]
	if !ok {
		return "–"
	}
	s := compact(raw)
	if len([]rune(s)) > 60 {
		s = string([]rune(s)[:60]) + "…"
	}
	return s
}

// same compares two entries by value: 1e6 is 1000000, and null is as good as
// absent.
func same(a, b object, key string) bool { return reflect.DeepEqual(a.value(key), b.value(key)) }

// rope is the rotary embedding of a configuration. Two spellings are in use:
// rope_theta with rope_scaling, and, since transformers 5, rope_parameters. A
// reader of the old one silently takes 10000 where it finds none.
type rope struct {
	theta    float64 // 0: not said
	old, new bool    // how it is spelled
	scaling  map[string]any
}

func (o object) rope() rope {
	var r rope
	if t, ok := o.value("rope_theta").(float64); ok {
		r.theta, r.old = t, true
	}
	scaling, _ := o.value("rope_scaling").(map[string]any)
	if p, ok := o.value("rope_parameters").(map[string]any); ok {
		t, ok := p["rope_theta"].(float64)
		if ok {
			r.new = true
			if !r.old {
				r.theta = t
			}
		}
		if scaling == nil {
			scaling = p
		}
	}
	r.scaling = map[string]any{}
	for k, v := range scaling {
		switch {
		case k == "rope_theta", (k == "rope_type" || k == "type") && v == "default":
		case k == "type": // how rope_type was called before
			r.scaling["rope_type"] = v
		default:
			r.scaling[k] = v
		}
	}
	return r
}

// dtype is what the configuration says of the weights' type, in either spelling.
func (o object) dtype() string {
	if d := o.text("torch_dtype"); d != "" {
		return d
	}
	return o.text("dtype")
}

// architecture are the keys that make another model of the same weights.
var architecture = [...]string{
	"model_type", "architectures", "hidden_size", "intermediate_size", "num_hidden_layers", "num_attention_heads",
	"num_key_value_heads", "head_dim", "hidden_act", "rms_norm_eps", "attention_bias", "tie_word_embeddings",
	"use_sliding_window", "quantization_config",
}

// config compares the configurations.
func (l *findings) config(c, base object) {
	for _, key := range architecture {
		if !same(c, base, key) {
			l.add("architecture", Error, configFile, msg.Text{"%s is %s, and the base's is %s: this is another model", "%s 为 %s，而基座为 %s：不是同一模型"}, key, c.shown(key), base.shown(key))
		}
	}
	l.rope(c.rope(), base.rope())
	if c["dtype"] != nil && c["torch_dtype"] == nil {
		l.add("dtype_spelling", Warning, configFile, msg.Text{"the type of the weights is spelled dtype only: readers before transformers 4.56 look for torch_dtype and take float32", "权重类型只写作 dtype：transformers 4.56 之前的读取方查找 torch_dtype，会当作 float32"}).before("4.56").fixable()
	}
	for _, key := range []string{"eos_token_id", "bos_token_id", "pad_token_id"} {
		if base.value(key) == nil || same(c, base, key) {
			continue
		}
		s := Warning
		if key == "eos_token_id" {
			s = Error // generation does not stop where it should
		}
		l.add("token_ids", s, configFile, msg.Text{"%s is %s, and the base's is %s", "%s 为 %s，而基座为 %s"}, key, c.shown(key), base.shown(key)).fixable()
	}
	if c.value("use_cache") == false && base.value("use_cache") != false {
		l.add("use_cache", Warning, configFile, msg.Text{"use_cache is off, as trainers set it: generation is many times slower where it is heeded", "use_cache 被训练器关闭：遵循它的程序生成会慢很多倍"}).fixable()
	}
	if !same(c, base, "max_position_embeddings") {
		l.add("max_position", Warning, configFile, msg.Text{"max_position_embeddings is %s, and the base's is %s", "max_position_embeddings 为 %s，而基座为 %s"}, c.shown("max_position_embeddings"), base.shown("max_position_embeddings"))
	}
}

// rope compares the rotary embeddings: the value, and how it is written.
func (l *findings) rope(c, base rope) {
	switch {
	case base.theta != 0 && c.theta != 0 && c.theta != base.theta:
		l.add("rope_value", Error, configFile, msg.Text{"rope_theta is %s, and the base's is %s", "rope_theta 为 %s，而基座为 %s"}, whole(c.theta), whole(base.theta)).fixable()
	case base.theta != 0 && c.theta == 0:
		l.add("rope_missing", Error, configFile, msg.Text{"rope_theta is missing: readers take 10000 for %s without a word", "缺少 rope_theta：读取方会静默地用 10000 代替 %s"}, whole(base.theta)).fixable()
	case c.theta != 0 && c.new && !c.old:
		l.add("rope_spelling", Error, configFile, msg.Text{"rope_theta %s is spelled rope_parameters only: readers before transformers 5 take 10000 without a word, and the model answers with noise on long prompts", "rope_theta %s 只写在 rope_parameters 中：transformers 5 之前的读取方会静默地使用 10000，模型在长提示上输出错乱"}, whole(c.theta)).before("5.0").fixable()
	}
	if !reflect.DeepEqual(c.scaling, base.scaling) {
		l.add("rope_scaling", Error, configFile, msg.Text{"the scaling of positions is %v, and the base's is %v", "位置缩放为 %v，而基座为 %v"}, asJSON(c.scaling), asJSON(base.scaling)).fixable()
	}
}

func asJSON(v any) string {
	b, err := drydock.MarshalJSON(v)
	if err != nil {
		return err.Error()
	}
	return string(b)
}

// mendConfig is config.json with both spellings, and the base's values where
// trainers leave their own. Keys it does not know stay as they are.
func mendConfig(c, base object) ([]byte, error) {
	out := object{}
	for k, v := range c {
		out[k] = v
	}
	r, b := c.rope(), base.rope()
	if b.theta != 0 {
		r.theta, r.scaling = b.theta, b.scaling
	}
	if r.theta != 0 {
		if err := out.setRope(r); err != nil {
			return nil, err
		}
	}
	if d := c.dtype(); d != "" {
		raw, err := drydock.MarshalJSON(d)
		if err != nil {
			return nil, err
		}
		out["dtype"], out["torch_dtype"] = raw, raw
	}
	for _, key := range []string{"eos_token_id", "bos_token_id", "pad_token_id", "use_cache"} {
		if base.value(key) != nil {
			out[key] = base[key]
		}
	}
	var buf bytes.Buffer
	raw, err := json.Marshal(out) // sorts the keys, as the trainers do
	if err != nil {
		return nil, err
	}
	if err := json.Indent(&buf, raw, "", "  "); err != nil {
		return nil, err
	}
	buf.WriteByte('\n')
	return buf.Bytes(), nil
}

// setRope writes a rotary embedding in both spellings.
func (o object) setRope(r rope) error {
	params := map[string]any{"rope_type": "default"}
	for k, v := range r.scaling {
		params[k] = v
	}
	var scaling any
	if len(r.scaling) > 0 {
		own := map[string]any{}
		for k, v := range params {
			own[k] = v
		}
		scaling = own
	}
	params["rope_theta"] = r.theta
	for key, v := range map[string]any{"rope_theta": r.theta, "rope_scaling": scaling, "rope_parameters": params} {
		raw, err := drydock.MarshalJSON(v)
		if err != nil {
			return err
		}
		o[key] = raw
	}
	return nil
}

// ids reads a token id or a list of them, in order.
func (o object) ids(key string) []float64 {
	switch v := o.value(key).(type) {
	case float64:
		return []float64{v}
	case []any:
		var out []float64
		for _, x := range v {
			if f, ok := x.(float64); ok {
				out = append(out, f)
			}
		}
		slices.Sort(out)
		return out
	}
	return nil
}

const generationFile = "generation_config.json"

// generation compares what a server takes for fields a request leaves out, and
// where it stops.
func (l *findings) generation(dir, baseDir string) {
	base, err := readObject(filepath.Join(baseDir, generationFile))
	if err != nil || base == nil {
		return
	}
	c, err := readObject(filepath.Join(dir, generationFile))
	switch {
	case err != nil:
		l.add("generation_unreadable", Error, generationFile, msg.Text{"%v", "%v"}, err).fixable()
		return
	case c == nil:
		l.add("generation_missing", Warning, generationFile, msg.Text{"it is missing: a server then stops at fewer tokens than the base does", "缺少该文件：服务端的停止 token 会少于基座"}).fixable()
		return
	}
	if a, b := c.ids("eos_token_id"), base.ids("eos_token_id"); !slices.Equal(a, b) {
		l.add("generation_eos", Error, generationFile, msg.Text{"eos_token_id is %s, and the base's is %s: answers do not end where they should", "eos_token_id 为 %s，而基座为 %s：回答不会在应止处停止"}, c.shown("eos_token_id"), base.shown("eos_token_id")).fixable()
	}
	var differ []string
	for _, key := range []string{"do_sample", "temperature", "top_p", "top_k", "min_p", "repetition_penalty"} {
		if !same(c, base, key) {
			differ = append(differ, key+" "+c.shown(key)+" ("+base.shown(key)+")")
		}
	}
	if len(differ) > 0 {
		l.add("generation_sampling", Warning, generationFile, msg.Text{"other sampling than the base's: %s; vLLM takes it where a request says nothing", "采样设置与基座不同：%s；请求未指定时 vLLM 会采用"}, msg.List(differ)).trap("S16").fixable()
	}
}
