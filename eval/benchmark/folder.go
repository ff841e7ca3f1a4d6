package benchmark

import (
	"cmp"
	"errors"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
)

// A Set is a benchmark with its items, as a pack file or a folder holds them.
type Set struct {
	Benchmark Benchmark
	Items     []Item
	// Files are what the items and the examples were read from, by path.
	Files []string
}

// packFile is the name a folder's own pack has.
const packFile = "benchmark.yaml"

// OpenPack reads a pack file that names its items by file, and its examples by
// examples_file, both beside it.
func OpenPack(fsys fs.FS, name string) (*Set, error) {
	src, err := fs.ReadFile(fsys, name)
	if err != nil {
		return nil, err
	}
	p, err := ParsePack(name, src, ShippedPack)
	if err != nil {
		return nil, err
	}
	s := &Set{}
	if s.Benchmark, err = New(p); err != nil {
		return nil, err
	}
	if p.File == "" {
		return nil, fail.New(fail.Config, msg.Text{"the pack names no items", "评测集文件未指明题目"}).At(fail.Where{File: name}).
			Hint(msg.Text{"file: items.csv names a file beside it", "file: items.csv 指明同目录下的题目文件"})
	}
	if s.Items, err = s.read(fsys, path.Join(path.Dir(name), p.File), ""); err != nil {
		return nil, err
	}
	if p.Examples == 0 {
		return s, nil
	}
	if p.ExamplesFile == "" {
		return nil, fail.New(fail.Config, msg.Text{"the pack shows examples and names no examples_file", "评测集使用示例，但未指明 examples_file"}).At(fail.Where{File: name})
	}
	shown, err := s.read(fsys, path.Join(path.Dir(name), p.ExamplesFile), "")
	if err != nil {
		return nil, err
	}
	return s.withExamples(shown)
}

// withExamples has the benchmark show examples.
func (s *Set) withExamples(shown []Item) (*Set, error) {
	c, ok := s.Benchmark.(*Choice)
	if !ok {
		return s, nil
	}
	c, err := c.WithExamples(shown)
	s.Benchmark = c
	return s, err
}

// examples returns how many examples the benchmark shows.
func (s *Set) examples() int {
	if c, ok := s.Benchmark.(*Choice); ok {
		return c.Examples()
	}
	return 0
}

// ReadItemsOf reads items as a benchmark takes them: with as many options and
// right answers as it allows.
func ReadItemsOf(b Benchmark, name string, data []byte) ([]Item, error) {
	if r, ok := b.(interface {
		ReadItems(name string, data []byte) ([]Item, error)
	}); ok {
		return r.ReadItems(name, data)
	}
	return ReadItems(name, data)
}

// read reads one file of items; a subject that is not empty goes to each that
// names none itself.
func (s *Set) read(fsys fs.FS, name, subject string) ([]Item, error) {
	data, err := fs.ReadFile(fsys, name)
	if err != nil {
		return nil, err
	}
	items, err := ReadItemsOf(s.Benchmark, name, data)
	if err != nil {
		return nil, err
	}
	TagSubject(items, subject)
	s.Files = append(s.Files, name)
	return items, nil
}

// TagSubject gives items a subject that is not empty, but to those that name one
// themselves.
func TagSubject(items []Item, subject string) {
	for i := range items {
		if subject != "" && items[i].Tags["subject"] == "" {
			if items[i].Tags == nil {
				items[i].Tags = map[string]string{}
			}
			items[i].Tags["subject"] = subject
		}
	}
}

// Join makes one sequence of the items of several files. They are numbered anew
// from 0, and ids that are only numbers with them, where two files use the same.
func Join(parts [][]Item) []Item {
	all := slices.Concat(parts...)
	seen := make(map[int]bool, len(all))
	for i := range all {
		seen[all[i].Index] = true
	}
	if len(seen) == len(all) {
		return all
	}
	for i := range all {
		if all[i].ID == strconv.Itoa(all[i].Index) {
			all[i].ID = strconv.Itoa(i)
		}
		all[i].Index = i
	}
	return all
}

// A Split is one subject's files in a folder.
type Split struct {
	Subject  string
	Items    string // path of the questions
	Examples string // path of the answered examples; "" for none
}

// Splits finds the questions of a folder laid out as EvalScope's general_mcq takes
// it (NAME_val.csv, NAME_dev.csv), or as C-Eval and CMMLU are (val/NAME_val.csv or
// test/NAME.csv, dev/NAME_dev.csv): CSV, TSV, JSONL or, where the file system reads
// such as lines of JSON, Parquet, by subject. Where a subject
// has both, val goes before test, whose answers C-Eval keeps to itself.
func Splits(fsys fs.FS) ([]Split, error) {
	found := map[string]map[string]string{} // subject → split → path
	err := fs.WalkDir(fsys, ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if strings.Count(p, "/") >= 2 {
				return fs.SkipDir
			}
			return nil
		}
		subject, split, ok := splitName(p)
		if !ok {
			return nil
		}
		if found[subject] == nil {
			found[subject] = map[string]string{}
		}
		// of the same in two formats, the first by name
		if _, twice := found[subject][split]; !twice {
			found[subject][split] = p
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	var out []Split
	for subject, files := range found {
		if items := cmp.Or(files["val"], files["test"]); items != "" {
			out = append(out, Split{Subject: subject, Items: items, Examples: files["dev"]})
		}
	}
	slices.SortFunc(out, func(a, b Split) int { return strings.Compare(a.Subject, b.Subject) })
	return out, nil
}

// splitName reads subject and split from a path: from the end of the file's name,
// or from its folder.
func splitName(p string) (subject, split string, ok bool) {
	ext := strings.ToLower(path.Ext(p))
	if ext != ".csv" && ext != ".tsv" && ext != ".jsonl" && ext != ".parquet" {
		return "", "", false
	}
	base := strings.TrimSuffix(path.Base(p), path.Ext(p))
	for _, s := range []string{"val", "test", "dev"} {
		if name, cut := strings.CutSuffix(base, "_"+s); cut && name != "" {
			return name, s, true
		}
		if path.Base(path.Dir(p)) == s {
			return base, s, true
		}
	}
	return "", "", false
}

// OpenFolder reads a folder: one with a pack of its own (benchmark.yaml), one of
// the layouts of [Splits], one of JSONL files of query and response as general_qa
// takes them, or one of [ItemFiles]. name and like are for a folder without a pack:
// what to call it, and the shipped benchmark whose prompt and rule it has; like ""
// is general_mcq for splits, or general_mcq_multi where several options are right,
// general_qa for the third, and maritime_bench otherwise. only chooses one subject
// of several; "" takes them all.
func OpenFolder(fsys fs.FS, name, like, only string) (*Set, error) {
	if _, err := fs.Stat(fsys, packFile); err == nil {
		return OpenPack(fsys, packFile)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	splits, err := Splits(fsys)
	if err != nil {
		return nil, err
	}
	if only != "" {
		splits = slices.DeleteFunc(splits, func(s Split) bool { return s.Subject != only })
	}
	if len(splits) == 0 {
		return openFiles(fsys, name, like)
	}
	s, err := openSplits(fsys, splits, name, cmp.Or(like, "general_mcq"))
	if err == nil || like != "" {
		return s, err
	}
	if several, serr := openSplits(fsys, splits, name, "general_mcq_multi"); serr == nil && len(splits) == 1 {
		return several, nil
	}
	if len(splits) > 1 {
		var names []string
		for _, sp := range splits {
			names = append(names, sp.Subject)
		}
		for _, e := range fail.All(err) {
			e.Hint(msg.Text{"name one subject, as DIR/SUBJECT: %s", "可指定单个科目，写法为 目录/科目：%s"}, msg.List(names))
			break
		}
	}
	return nil, err
}

// openSplits reads the files of subjects.
func openSplits(fsys fs.FS, splits []Split, name, like string) (*Set, error) {
	s := &Set{}
	var err error
	if s.Benchmark, err = likeBenchmark(name, like); err != nil {
		return nil, err
	}
	var shown []Item
	for _, sp := range splits {
		subject := sp.Subject
		if len(splits) == 1 {
			subject = ""
		}
		items, err := s.read(fsys, sp.Items, subject)
		if err != nil {
			return nil, err
		}
		s.Items = append(s.Items, items...)
		if sp.Examples == "" || s.examples() == 0 {
			continue
		}
		more, err := s.read(fsys, sp.Examples, subject)
		if err != nil {
			return nil, err
		}
		shown = append(shown, more...)
	}
	if len(splits) > 1 {
		renumber(s.Items)
	}
	if s.examples() > 0 {
		return s.withExamples(shown)
	}
	return s, nil
}

// renumber gives items of several files one sequence of indexes, and ids that
// name the subject.
func renumber(items []Item) {
	for i := range items {
		items[i].ID = items[i].Tags["subject"] + "/" + items[i].ID
		items[i].Index = i
	}
}

// openFiles reads the one file of items a folder has: by its name, or a JSONL file
// of free questions.
func openFiles(fsys fs.FS, name, like string) (*Set, error) {
	file, data, err := readItemFile(fsys)
	if err != nil {
		free, ferr := fs.Glob(fsys, "*.jsonl")
		if ferr != nil || len(free) != 1 || like != "" && like != "general_qa" {
			return nil, err
		}
		lone, ferr := fs.ReadFile(fsys, free[0])
		if ferr != nil {
			return nil, ferr
		}
		if like == "" && firstHas(lone, "A", "choices", "options") {
			return nil, err
		}
		file, data, like = free[0], lone, "general_qa"
	}
	s := &Set{Files: []string{file}}
	if s.Benchmark, err = likeBenchmark(name, cmp.Or(like, "maritime_bench")); err != nil {
		return nil, err
	}
	s.Items, err = ReadItemsOf(s.Benchmark, file, data)
	return s, err
}

// likeBenchmark builds a benchmark with the prompt and the rule of a shipped one.
func likeBenchmark(name, like string) (Benchmark, error) {
	base, ok := ShippedPack(like)
	if !ok {
		_, err := Lookup(like)
		return nil, err
	}
	p := &Pack{Schema: Schema, Name: name, Like: like}
	p.inherit(base)
	return New(p)
}
