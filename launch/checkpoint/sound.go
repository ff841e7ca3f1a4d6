package checkpoint

import (
	"encoding/json"
	"errors"
	"path/filepath"
	"reflect"

	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
)

// decodeJSON reads JSON that a person may have edited: what is of another type
// than it should be is said in words, not in those of this program's types.
func decodeJSON(raw []byte, v any) error {
	err := json.Unmarshal(raw, v)
	var other *json.UnmarshalTypeError
	switch {
	case err == nil || !errors.As(err, &other):
		return err
	case other.Field == "":
		return fail.New(fail.Failed, msg.Text{"it holds JSON of the type %s, and should hold an object", "其内容是 JSON 的 %s，应为 object"}, other.Value)
	}
	return fail.New(fail.Failed, msg.Text{"%s is of the type %s, and should be %s", "%s 的类型是 %s，应为 %s"}, other.Field, other.Value, jsonType(other.Type))
}

// jsonType names the JSON that a Go type is read from, as JSON Schema does.
func jsonType(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Bool:
		return "boolean"
	case reflect.String:
		return "string"
	case reflect.Slice:
		return "array"
	case reflect.Map, reflect.Struct:
		return "object"
	}
	return "number"
}

// sampled is how many values are read at the beginning and in the middle of each
// tensor of a model: a training that broke down leaves none of them whole, and
// all norms are shorter.
const sampled = 16 << 10

// finite looks for values that are no numbers: a model with one answers with noise.
func (l *findings) finite(w *weights) {
	var buf []byte
	for _, name := range w.names() {
		t := w.byKey[name]
		if !readable(t.DType) {
			continue
		}
		values := make([]float32, min(t.Len(), sampled))
		for _, from := range []int64{0, max(0, t.Len()/2-int64(len(values)))} {
			var err error
			if buf, err = t.floats(values, from, buf); err != nil {
				l.add("weights_unreadable", Error, "", msg.Text{"%v", "%v"}, err)
				return
			}
			for _, x := range values {
				if x-x != 0 {
					l.add("not_finite", Error, "", msg.Text{"%s holds values that are no numbers (NaN or infinite): the training or the merge broke down", "%s 含非数值（NaN 或无穷）：训练或合并已失败"}, name)
					return
				}
			}
		}
	}
}

// beside looks for weights that are left over beside a single file: transformers
// reads that one alone, and vLLM the shards of the index, or every file there is.
func (l *findings) beside(dir string) {
	if !isFile(filepath.Join(dir, wholeWeights)) {
		return
	}
	all, _ := filepath.Glob(filepath.Join(dir, "*.safetensors")) // a pattern without a fault
	for _, path := range append(all, filepath.Join(dir, shardIndex)) {
		if name := filepath.Base(path); name != wholeWeights && isFile(path) {
			l.add("two_weights", Error, "", msg.Text{"%s lies beside %s: transformers reads the latter alone, vLLM does not", "%s 与 %s 并存：transformers 只读取后者，vLLM 则不然"}, name, wholeWeights).
				repair(msg.Text{"remove what is left over from an earlier save", "请删除之前保存所遗留的文件"})
			return
		}
	}
}
