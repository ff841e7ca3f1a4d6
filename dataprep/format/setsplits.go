package format

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
)

// A SetSplit is one split of a data set that lies in a folder.
type SetSplit struct {
	Subset string   // the folder it stands in where a set has several; else ""
	Name   string   // train, validation, test; of a saved set whatever it is called; "" where nothing says
	Files  []string // by path, in the order of their rows
}

// maxSetEntries bounds how much of a folder is looked at, and maxSetDepth how
// deep: a cache of Hugging Face's datasets keeps its files four folders down.
const (
	maxSetEntries = 20_000
	maxSetDepth   = 6
)

// SetSplits finds the splits of a data set in a folder:
//
//   - one that datasets wrote with save_to_disk, as EvalScope keeps what it has
//     loaded under ModelScope's cache;
//   - a folder of Hugging Face's hub cache (datasets--OWNER--NAME), of which the
//     snapshot counts that refs/main names, or the only one;
//   - a folder of files, as a repository's snapshot is or the cache of
//     load_dataset: JSON Lines, JSON, CSV, TSV, Parquet or Arrow, whose names or
//     folders name the split as load_dataset (datasets 3.6.0) reads them. Where
//     none does, Parquet and Arrow are the split train, as they are there.
//
// Of a split in several formats the one with most files counts. A folder that
// holds nothing of the kind has no splits; one that holds several copies of a set
// is an error of kind config that names them.
func SetSplits(dir string) ([]SetSplit, error) {
	var set struct {
		Splits []string `json:"splits"`
	}
	if readJSONFile(filepath.Join(dir, "dataset_dict.json"), &set) && len(set.Splits) > 0 {
		return savedSplits(dir, set.Splits), nil
	}
	if files, ok := savedSplit(dir); ok {
		var state struct {
			Split string `json:"_split"`
		}
		readJSONFile(filepath.Join(dir, "state.json"), &state)
		return []SetSplit{{Name: state.Split, Files: files}}, nil
	}
	dir, err := snapshot(dir)
	if err != nil {
		return nil, err
	}
	files, err := setFiles(dir)
	if err != nil {
		return nil, err
	}
	if err := oneCopy(dir, files); err != nil {
		return nil, err
	}
	return splitsOf(dir, files), nil
}

// savedSplits lists the splits of a saved set of several. One that is named but
// not there is listed with the file that should describe it, so that opening it
// says so.
func savedSplits(dir string, names []string) []SetSplit {
	var out []SetSplit
	for _, name := range names {
		if !filepath.IsLocal(name) {
			return nil
		}
		files, ok := savedSplit(filepath.Join(dir, name))
		if !ok {
			files = []string{filepath.Join(dir, name, "state.json")}
		}
		out = append(out, SetSplit{Name: name, Files: files})
	}
	return out
}

// snapshot finds the files of a folder of the hub cache; any other folder is
// returned as it is.
func snapshot(dir string) (string, error) {
	all, err := os.ReadDir(filepath.Join(dir, "snapshots"))
	if err != nil || len(all) == 0 {
		return dir, nil
	}
	if rev, err := os.ReadFile(filepath.Join(dir, "refs", "main")); err == nil {
		name := strings.TrimSpace(string(rev))
		if slices.ContainsFunc(all, func(e fs.DirEntry) bool { return e.Name() == name }) {
			return filepath.Join(dir, "snapshots", name), nil
		}
	}
	if len(all) == 1 {
		return filepath.Join(dir, "snapshots", all[0].Name()), nil
	}
	var names []string
	for _, e := range all {
		names = append(names, "snapshots/"+e.Name())
	}
	return "", severalCopies(dir, names)
}

func severalCopies(dir string, names []string) error {
	return fail.New(fail.Config, msg.Text{"the folder holds %d copies of a data set", "文件夹中有 %d 份数据集"}, len(names)).
		At(fail.Where{File: filepath.ToSlash(dir)}).
		Hint(msg.Text{"name one of them: %s", "请指明其中之一：%s"}, msg.List(names))
}

// setFiles lists the files of rows under dir, by slash path from there, in order.
func setFiles(dir string) ([]string, error) {
	var files []string
	seen := 0
	err := fs.WalkDir(os.DirFS(dir), ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if seen++; seen > maxSetEntries {
			return fail.New(fail.Config, msg.Text{"the folder holds more than %d files and folders, which is no data set", "文件夹中的文件和目录超过 %d 个，不是数据集"}, maxSetEntries)
		}
		hidden := p != "." && strings.HasPrefix(d.Name(), ".")
		switch {
		case d.IsDir() && (hidden || strings.Count(p, "/") >= maxSetDepth):
			return fs.SkipDir
		case d.IsDir() || hidden || !setFile(d.Name()):
		default:
			files = append(files, p)
		}
		return nil
	})
	return files, err
}

// setFile tells files of rows from those that describe them and from what map and
// filter keep.
func setFile(name string) bool {
	switch strings.ToLower(name) {
	case "config.json", "dataset_info.json", "dataset_infos.json", "dataset_dict.json", "state.json", "configuration.json":
		return false
	}
	return slices.Contains(setExts(), strings.ToLower(path.Ext(name))) && !strings.HasPrefix(name, "cache-")
}

// setExts are the extensions of files of rows; of as many files in two formats the
// earlier one counts.
func setExts() []string {
	return []string{".jsonl", ".json", ".csv", ".tsv", ".parquet", ".arrow"}
}

// oneCopy refuses a cache of load_dataset that holds a set more than once, each
// with a dataset_info.json beside its Arrow files.
func oneCopy(dir string, files []string) error {
	var copies []string
	for _, f := range files {
		at := path.Dir(f)
		if path.Ext(f) != ".arrow" || slices.Contains(copies, at) {
			continue
		}
		if _, err := os.Stat(filepath.Join(dir, filepath.FromSlash(at), "dataset_info.json")); err == nil {
			copies = append(copies, at)
		} else if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	if len(copies) > 1 {
		return severalCopies(dir, copies)
	}
	return nil
}

// A naming is how a file says which split it is of, the surest first. Where some
// file of a set is named one way, load_dataset takes no file named a later way.
type naming int

const (
	byShard  naming = iota // data/NAME-00000-of-00001
	byFolder               // test/…
	byName                 // test.csv
	unnamed                // Parquet and Arrow of a set without splits
	nothing                // says nothing
)

// splitsOf puts files into their splits.
func splitsOf(dir string, files []string) []SetSplit {
	type key struct{ subset, name string }
	names := newSplitNames()
	best := nothing
	for _, f := range files {
		_, _, how := names.of(f)
		best = min(best, how)
	}
	byExt := map[key]map[string][]string{}
	var keys []key
	for _, f := range files {
		name, subset, how := names.of(f)
		if how != best || how == nothing {
			continue
		}
		k := key{subset, name}
		if byExt[k] == nil {
			byExt[k] = map[string][]string{}
			keys = append(keys, k)
		}
		ext := strings.ToLower(path.Ext(f))
		byExt[k][ext] = append(byExt[k][ext], filepath.Join(dir, filepath.FromSlash(f)))
	}
	subsets := map[string]bool{}
	var out []SetSplit
	for _, k := range keys {
		var most []string
		for _, ext := range setExts() {
			if found := byExt[k][ext]; len(found) > len(most) {
				most = found
			}
		}
		subsets[k.subset] = true
		out = append(out, SetSplit{Subset: k.subset, Name: k.name, Files: most})
	}
	if len(subsets) == 1 {
		for i := range out {
			out[i].Subset = ""
		}
	}
	return out
}

// splitNames finds what the names of files and folders say of their split.
type splitNames struct {
	word  *regexp.Regexp // a word for a split, between the signs load_dataset takes for the ends of a word
	shard *regexp.Regexp // a file of data that is one of several
}

func newSplitNames() splitNames {
	return splitNames{
		word:  regexp.MustCompile(`(?:^|[-._ 0-9])(train|training|validation|valid|dev|val|test|testing|eval|evaluation)(?:[-._ 0-9]|$)`),
		shard: regexp.MustCompile(`^data/([^/]+)-\d{5}-of-\d{5}[^/]*\.[^/]*$`),
	}
}

// of reads split and subset from a file's path in its set. The subset is the folder,
// without what only says the split or that there is data.
func (n splitNames) of(file string) (name, subset string, how naming) {
	if m := n.shard.FindStringSubmatch(file); m != nil {
		return splitWord(m[1]), "", byShard
	}
	parts := strings.Split(file, "/")
	base := parts[len(parts)-1]
	ext := path.Ext(base)
	how = nothing
	var dirs []string
	for _, p := range parts[:len(parts)-1] {
		if m := n.word.FindStringSubmatch(p); m != nil && how == nothing {
			name, how = splitWord(m[1]), byFolder
		} else if p != "data" {
			dirs = append(dirs, p)
		}
	}
	if m := n.word.FindStringSubmatch(strings.TrimSuffix(base, ext)); m != nil && how == nothing {
		name, how = splitWord(m[1]), byName
	}
	if ext = strings.ToLower(ext); how == nothing && (ext == ".parquet" || ext == ".arrow") {
		name, how = "train", unnamed
	}
	return name, strings.Join(dirs, "/"), how
}

// splitWord gives a split the name load_dataset knows it by.
func splitWord(s string) string {
	switch s {
	case "training":
		return "train"
	case "valid", "dev", "val":
		return "validation"
	case "testing", "eval", "evaluation":
		return "test"
	}
	return s
}
