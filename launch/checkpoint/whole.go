package checkpoint

import (
	"errors"
	"path/filepath"
)

// Whole looks at the weights of an adapter or a model, as headers and lengths
// tell: nil when every file, and every shard that an index names, is there to its
// last byte. ok is false when there are no safetensors weights to look at.
func Whole(dir string) (ok bool, err error) {
	if isFile(filepath.Join(dir, adapterWeights)) {
		w, err := openAdapter(dir)
		if err != nil {
			return true, err
		}
		return true, w.Close()
	}
	w, err := openWeights(dir)
	if errors.Is(err, errNoWeights) {
		return false, nil
	}
	if err != nil {
		return true, err
	}
	return true, w.Close()
}
