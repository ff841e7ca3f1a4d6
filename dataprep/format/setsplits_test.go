package format_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/drydock-ml/drydock/dataprep/format"
	"github.com/drydock-ml/drydock/internal/fail"
)

// lay writes files of a folder; of most only the names count.
func lay(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		p := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func empties(names ...string) map[string]string {
	m := map[string]string{}
	for _, n := range names {
		m[n] = "x"
	}
	return m
}

// The names are those load_dataset of datasets 3.6.0 puts into these splits.
func TestSetSplits(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		files map[string]string
		want  []string // "subset|split: files"
	}{
		"hub": {
			empties("README.md", "data/train-00000-of-00002.parquet", "data/train-00001-of-00002.parquet", "data/test-00000-of-00001.parquet"),
			[]string{"|test: data/test-00000-of-00001.parquet", "|train: data/train-00000-of-00002.parquet data/train-00001-of-00002.parquet"},
		},
		"a split of any name": {empties("data/harbour-00000-of-00001.parquet"), []string{"|harbour: data/harbour-00000-of-00001.parquet"}},
		"ModelScope": {
			empties("test.jsonl", "dataset_infos.json", "configuration.json", ".git/test.jsonl", ".msc", "cache-12.arrow"),
			[]string{"|test: test.jsonl"},
		},
		"the challenge's file": {empties("maritimebench_test.json", "README.md"), []string{"|test: maritimebench_test.json"}},
		"folders":              {empties("default/test/0000.parquet", "default/dev/0000.parquet"), []string{"|validation: default/dev/0000.parquet", "|test: default/test/0000.parquet"}},
		"subsets": {
			empties("law/test-00000-of-00001.parquet", "law/val-00000-of-00001.parquet", "radar/test-00000-of-00001.parquet"),
			[]string{"law|test: law/test-00000-of-00001.parquet", "law|validation: law/val-00000-of-00001.parquet", "radar|test: radar/test-00000-of-00001.parquet"},
		},
		"two formats": {empties("test.csv", "test.jsonl", "testing.csv"), []string{"|test: test.csv testing.csv"}},
		"as many":     {empties("test.csv", "test.jsonl"), []string{"|test: test.jsonl"}},
		"load_dataset's cache": {
			empties("default-12/0.0.0/abc/dataset_info.json", "default-12/0.0.0/abc/maritime_bench-test.arrow", "default-12/0.0.0/abc/cache-1.arrow"),
			[]string{"|test: default-12/0.0.0/abc/maritime_bench-test.arrow"},
		},
		"hub cache": {
			map[string]string{"refs/main": "bbb\n", "snapshots/aaa/test.csv": "x", "snapshots/bbb/validation.csv": "x"},
			[]string{"|validation: snapshots/bbb/validation.csv"},
		},
		"one snapshot": {empties("snapshots/aaa/test.csv"), []string{"|test: snapshots/aaa/test.csv"}},
		"a saved split": {
			map[string]string{"state.json": `{"_data_files": [{"filename": "data-00000-of-00001.arrow"}], "_split": "test"}`, "data-00000-of-00001.arrow": "x"},
			[]string{"|test: data-00000-of-00001.arrow"},
		},
		"a saved set": {
			map[string]string{
				"dataset_dict.json": `{"splits": ["test", "gone"]}`,
				"test/state.json":   `{"_data_files": [{"filename": "data-00000-of-00001.arrow"}]}`,
			},
			[]string{"|test: test/data-00000-of-00001.arrow", "|gone: gone/state.json"},
		},
		"a saved set that leads outside": {map[string]string{"dataset_dict.json": `{"splits": ["../x"]}`}, nil},
		"folders before names":           {empties("sea_test.csv", "test/law.csv", "sub-test/x.csv", "train/test.csv"), []string{"|test: sub-test/x.csv test/law.csv", "|train: train/test.csv"}},
		"no split named":                 {empties("a.parquet", "b.parquet", "notes.json"), []string{"|train: a.parquet b.parquet"}},
		"nothing":                        {empties("manual.pdf", "contest.csv", "latest.jsonl"), nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := lay(t, c.files)
			splits, err := format.SetSplits(dir)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, s := range splits {
				line := s.Subset + "|" + s.Name + ":"
				for _, f := range s.Files {
					rel, err := filepath.Rel(dir, f)
					if err != nil {
						t.Fatal(err)
					}
					line += " " + filepath.ToSlash(rel)
				}
				got = append(got, line)
			}
			if d := cmp.Diff(c.want, got); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

// Several copies of a set are not one set.
func TestSetSplitsCopies(t *testing.T) {
	t.Parallel()
	for name, files := range map[string]map[string]string{
		"snapshots": empties("snapshots/aaa/test.csv", "snapshots/bbb/test.csv"),
		"caches": empties("default-1/0.0.0/a/dataset_info.json", "default-1/0.0.0/a/b-test.arrow",
			"default-2/0.0.0/a/dataset_info.json", "default-2/0.0.0/a/b-test.arrow"),
	} {
		_, err := format.SetSplits(lay(t, files))
		if err == nil || fail.Code(err) != 2 || !strings.Contains(err.Error(), "2 copies") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := format.SetSplits(filepath.Join(t.TempDir(), "gone")); err == nil {
		t.Error("no folder, no error")
	}
}
