package format

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// HubSet reports whether dir is a set as the Hugging Face Hub keeps it, a
// README.md that begins with YAML and Parquet files in data, and lists these. The
// README holds no rows.
func HubSet(dir string) (files []string, ok bool) {
	f, err := os.Open(filepath.Join(dir, "README.md"))
	if err != nil {
		return nil, false
	}
	defer f.Close()
	head := make([]byte, 4)
	if _, err := io.ReadFull(f, head); err != nil || !bytes.HasPrefix(head, []byte("---")) {
		return nil, false
	}
	entries, err := os.ReadDir(filepath.Join(dir, "data"))
	if err != nil {
		return nil, false
	}
	for _, e := range entries {
		if e.IsDir() || !strings.HasSuffix(e.Name(), ".parquet") {
			return nil, false
		}
		files = append(files, filepath.Join(dir, "data", e.Name()))
	}
	slices.SortStableFunc(files, func(a, b string) int {
		// the split of training first, as its name does not say
		train := func(p string) bool { return strings.HasPrefix(filepath.Base(p), "train") }
		switch {
		case train(a) && !train(b):
			return -1
		case train(b) && !train(a):
			return 1
		}
		return strings.Compare(a, b)
	})
	return files, len(files) > 0
}
