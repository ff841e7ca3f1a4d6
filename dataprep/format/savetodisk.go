package format

import (
	"encoding/json"
	"os"
	"path/filepath"
)

// SavedSet reports whether dir is a set that Hugging Face datasets wrote with
// save_to_disk, and lists its Arrow files: those that state.json names, in its
// order, split by split as dataset_dict.json names these. Other files beside them
// are the library's own (metadata, caches of map and filter) and hold no rows of
// the set. A file that is named but not there is listed, too, so that opening it
// says so.
func SavedSet(dir string) (files []string, ok bool) {
	var set struct {
		Splits []string `json:"splits"`
	}
	if readJSONFile(filepath.Join(dir, "dataset_dict.json"), &set) && len(set.Splits) > 0 {
		for _, split := range set.Splits {
			if !filepath.IsLocal(split) {
				return nil, false
			}
			shards, is := savedSplit(filepath.Join(dir, split))
			if !is {
				shards = []string{filepath.Join(dir, split, "state.json")}
			}
			files = append(files, shards...)
		}
		return files, true
	}
	return savedSplit(dir)
}

// savedSplit lists the files of one split.
func savedSplit(dir string) (files []string, ok bool) {
	var state struct {
		Files []struct {
			Name string `json:"filename"`
		} `json:"_data_files"`
	}
	if !readJSONFile(filepath.Join(dir, "state.json"), &state) {
		return nil, false
	}
	for _, f := range state.Files {
		if !filepath.IsLocal(f.Name) {
			return nil, false
		}
		files = append(files, filepath.Join(dir, f.Name))
	}
	return files, len(files) > 0
}

// readJSONFile decodes a small file; false: it is not there or no such JSON.
func readJSONFile(path string, to any) bool {
	b, err := os.ReadFile(path)
	return err == nil && json.Unmarshal(b, to) == nil
}
