package format_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/drydock-ml/drydock/dataprep/format"
)

func TestSavedSet(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, text string) {
		p := filepath.Join(dir, filepath.FromSlash(name))
		ok(t, os.MkdirAll(filepath.Dir(p), 0o755))
		ok(t, os.WriteFile(p, []byte(text), 0o644))
	}
	state := `{"_data_files": [{"filename": "data-00001-of-00002.arrow"}, {"filename": "data-00000-of-00002.arrow"}], "_split": "train"}`
	write("set/state.json", state)
	write("set/cache-1.arrow", "")
	write("dict/dataset_dict.json", `{"splits": ["train", "test"]}`)
	write("dict/train/state.json", state)
	write("out/state.json", `{"_data_files": [{"filename": "../../etc/passwd"}]}`)
	write("other/state.json", `{"phase": "running"}`)
	for name, want := range map[string][]string{
		"set":   {"set/data-00001-of-00002.arrow", "set/data-00000-of-00002.arrow"},
		"dict":  {"dict/train/data-00001-of-00002.arrow", "dict/train/data-00000-of-00002.arrow", "dict/test/state.json"},
		"out":   nil,
		"other": nil,
	} {
		files, is := format.SavedSet(filepath.Join(dir, name))
		var got []string
		for _, f := range files {
			rel, err := filepath.Rel(dir, f)
			ok(t, err)
			got = append(got, filepath.ToSlash(rel))
		}
		if d := cmp.Diff(want, got); d != "" || is != (want != nil) {
			t.Errorf("%s: %v\n%s", name, is, d)
		}
	}
}
