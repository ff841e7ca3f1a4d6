package checkpoint

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
)

// Models returns the folders in a trainer's output that hold whole models, in the
// order of their steps, as dir names them.
func Models(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, e := range entries {
		if f := filepath.Join(dir, e.Name()); e.IsDir() && IsModel(f) {
			out = append(out, f)
		}
	}
	// checkpoint-90 comes before checkpoint-100
	slices.SortStableFunc(out, func(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) })
	return out, nil
}

// IsCheckpoint reports whether a folder is one that a trainer wrote between two
// steps, with its state.
func IsCheckpoint(dir string) bool { return isFile(filepath.Join(dir, StateFile)) }

// probed is how many bytes of each tensor the hash of a model takes, from the
// middle: every step of a full training changes every one, and reading 16 GB would
// take longer than the start of a server.
const probed = 4 << 10

// ReadModel reads what names a whole model: its folder, its step and a hash of its
// configuration, of the names, types and shapes of its tensors and of a part of
// each.
func ReadModel(dir string) (Checkpoint, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return Checkpoint{}, err
	}
	c := Checkpoint{Name: filepath.Base(abs), Dir: abs, Step: stepOf(abs)}
	config, err := os.ReadFile(filepath.Join(abs, configFile))
	if err != nil {
		return c, err
	}
	w, err := openWeights(abs)
	if err != nil {
		return c, err
	}
	h := sha256.New()
	h.Write(config)
	err = w.probe(h)
	c.SHA256 = hex.EncodeToString(h.Sum(nil))
	return c, errors.Join(err, w.Close())
}

// probe writes what tells the weights from others.
func (w *weights) probe(to io.Writer) error {
	buf := make([]byte, probed)
	for _, name := range w.names() {
		t := w.byKey[name]
		part := buf[:min(t.size, probed)]
		if _, err := t.file.ReadAt(part, t.from+(t.size-int64(len(part)))/2); err != nil {
			return err
		}
		if _, err := fmt.Fprintf(to, "%q %s %v %s", name, t.DType, t.Shape, part); err != nil {
			return err
		}
	}
	return nil
}

// hashFiles is the sha256 of files one behind the other, in hex.
func hashFiles(paths ...string) (string, error) {
	h := sha256.New()
	for _, path := range paths {
		f, err := os.Open(path)
		if err != nil {
			return "", err
		}
		_, err = io.Copy(h, f)
		if err := errors.Join(err, f.Close()); err != nil {
			return "", err
		}
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
