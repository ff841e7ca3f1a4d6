package checkpoint

import (
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
)

// The names of a model's weights, whole or in shards.
const (
	wholeWeights = "model.safetensors"
	shardIndex   = "model.safetensors.index.json"
)

// weights are the tensors of a model or an adapter, in however many files.
type weights struct {
	files []*tensorFile
	byKey map[string]*Tensor
}

// Close closes the files.
func (w *weights) Close() error {
	var errs []error
	for _, f := range w.files {
		errs = append(errs, f.Close())
	}
	return errors.Join(errs...)
}

// names lists the tensors in the order of their names.
func (w *weights) names() []string { return slices.Sorted(maps.Keys(w.byKey)) }

// add opens one more file.
func (w *weights) add(path string) (*tensorFile, error) {
	f, err := openTensors(path)
	if err != nil {
		var e *fail.Error
		if errors.As(err, &e) {
			return nil, fail.New(fail.Failed, msg.Text{"%s: %v", "%s：%v"}, filepath.Base(path), err)
		}
		return nil, err
	}
	w.files = append(w.files, f)
	for i := range f.tensors {
		t := &f.tensors[i]
		if w.byKey[t.Name] != nil {
			return nil, fail.New(fail.Failed, msg.Text{"%s: tensor %q stands in another file, too", "%s：张量 %q 也在另一个文件中"}, filepath.Base(path), t.Name)
		}
		w.byKey[t.Name] = t
	}
	return f, nil
}

// errNoWeights says that a folder holds no safetensors weights at all.
var errNoWeights = errors.New("no safetensors weights")

// openWeights opens the weights of a model: one file, or the shards its index
// names, each of which must be there and hold just what the index says.
func openWeights(dir string) (*weights, error) {
	w := &weights{byKey: map[string]*Tensor{}}
	if whole := filepath.Join(dir, wholeWeights); isFile(whole) {
		if _, err := w.add(whole); err != nil {
			return nil, errors.Join(err, w.Close())
		}
		return w, nil
	}
	raw, err := os.ReadFile(filepath.Join(dir, shardIndex))
	if errors.Is(err, os.ErrNotExist) {
		return nil, errNoWeights
	}
	if err == nil {
		err = w.shards(dir, raw)
	}
	if err != nil {
		return nil, errors.Join(err, w.Close())
	}
	return w, nil
}

// shards opens what an index names.
func (w *weights) shards(dir string, raw []byte) error {
	var index struct {
		Map map[string]string `json:"weight_map"`
	}
	if err := json.Unmarshal(raw, &index); err != nil || len(index.Map) == 0 {
		return fail.New(fail.Failed, msg.Text{"%s is not whole", "%s 不完整"}, shardIndex)
	}
	var names []string
	for _, tensor := range slices.Sorted(maps.Keys(index.Map)) {
		name := index.Map[tensor]
		if name != filepath.Base(name) || strings.ContainsAny(name, `/\`) {
			return fail.New(fail.Failed, msg.Text{"%s names %q, which is no file beside it", "%s 指向 %q，不是同一目录中的文件"}, shardIndex, name)
		}
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		path := filepath.Join(dir, name)
		if !isFile(path) {
			return fail.New(fail.Failed, msg.Text{"the shard %s is missing: the checkpoint is not whole", "缺少分片 %s：检查点不完整"}, name)
		}
		f, err := w.add(path)
		if err != nil {
			return err
		}
		for i := range f.tensors {
			if t := f.tensors[i].Name; index.Map[t] != name {
				return fail.New(fail.Failed, msg.Text{"%s holds tensor %q, which the index does not place there", "%s 含张量 %q，而索引未将其放在该文件"}, name, t)
			}
		}
	}
	for _, tensor := range slices.Sorted(maps.Keys(index.Map)) {
		if w.byKey[tensor] == nil {
			return fail.New(fail.Failed, msg.Text{"tensor %q is in no shard, though the index places it in %s", "张量 %q 不在任何分片中，而索引将其放在 %s"}, tensor, index.Map[tensor])
		}
	}
	return nil
}

func isFile(path string) bool {
	s, err := os.Stat(path)
	return err == nil && s.Mode().IsRegular()
}
