package pipeline

import (
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/drydock-ml/drydock/eval/benchmark"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/runstore"
)

// A Bench is a benchmark with the user's own copy of its items.
type Bench struct {
	Name      string // as the user called it
	Benchmark benchmark.Benchmark
	Items     []benchmark.Item
	Path      string // where the items lie
	SHA256    string // of the file, or of the files of a folder one after another
	Canonical string // [benchmark.CanonicalHash] of the items
}

// FindBench resolves a reference: a benchmark of the configuration, a
// registered one, or a file. base is the folder relative paths start from.
func FindBench(ref, base, home string, own []BenchmarkConfig) (*Bench, error) {
	name, _, _ := strings.Cut(ref, "@")
	for _, b := range own {
		if b.Name == name {
			return readBench(b.Name, b.Like, inside(base, b.Path))
		}
	}
	reg, ok, err := runstore.FindBenchmark(home, name)
	if err != nil {
		return nil, err
	}
	if ok {
		if r, err := benchmark.ParseRef(ref); err == nil && r.Revision != "" {
			if _, err := benchmark.Lookup(reg.Like + "@" + r.Revision); err != nil {
				return nil, err
			}
		}
		return readBench(reg.Name, reg.Like, reg.Path())
	}
	path := inside(base, ref)
	if _, err := os.Stat(path); err == nil {
		return readBench("", "", path)
	}
	// one subject or split of a folder of several: DIR/SUBJECT
	if dir, part := filepath.Split(path); dir != "" {
		if b, err := openPart(filepath.Clean(dir), part, path); b != nil || err != nil {
			return b, err
		}
	}
	if _, err := benchmark.Lookup(ref); err == nil {
		return nil, fail.New(fail.Config, msg.Text{
			"no copy of %s is registered: drydock ships no benchmark's items",
			"尚未登记 %s：drydock 不附带任何评测集的题目",
		}, ref).Hint(msg.Text{"drydock bench add %s FILE", "drydock bench add %s 文件"}, name)
	}
	return nil, fail.New(fail.Config, msg.Text{"there is no benchmark and no file %q", "不存在评测集或文件 %q"}, ref).
		Hint(msg.Text{"drydock bench list shows the registered ones", "drydock bench list 会列出已登记的评测集"})
}

func orLike(s string) string {
	if s == "" {
		return "maritime_bench"
	}
	return s
}

func inside(base, p string) string { return runstore.Project{Dir: base}.Path(p) }

// readBench reads the items. A file without a name of its own is the shipped
// benchmark when its items are that benchmark's, else it is called after the
// file.
func readBench(name, like, path string) (*Bench, error) {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return openFolder(name, like, path)
	}
	if ext := strings.ToLower(filepath.Ext(path)); ext == ".yaml" || ext == ".yml" {
		fsys := rowFS{filepath.Dir(path)}
		set, err := benchmark.OpenPack(fsys, filepath.Base(path))
		return fsys.bench(name, path, set, err)
	}
	data, err := ReadItemFile(path)
	if err != nil {
		return nil, err
	}
	if like == "" && benchmark.FreeQuestions(data) {
		like = "general_qa"
	}
	base, err := benchmark.Lookup(orLike(like))
	if err != nil {
		return nil, err
	}
	items, err := benchmark.ReadItemsOf(base, filepath.Base(path), data)
	if err != nil {
		return nil, err
	}
	sum, err := hashAll("", []string{path})
	if err != nil {
		return nil, err
	}
	return likeBench(name, orLike(like), path, items, sum)
}

// likeBench makes a Bench of items that have no pack of their own: the shipped
// benchmark they are the items of, else one like another.
func likeBench(name, like, path string, items []benchmark.Item, sum string) (*Bench, error) {
	b := &Bench{Name: name, Items: items, Path: path, SHA256: sum, Canonical: benchmark.CanonicalHash(items)}
	pack := published(name, b.Canonical)
	if pack == nil {
		if name == "" {
			b.Name = plainName(strings.TrimSuffix(filepath.Base(path), filepath.Ext(path)))
		}
		src, err := benchmark.LikePack(b.Name, like, items).Marshal()
		if err != nil {
			return nil, err
		}
		if pack, err = benchmark.ParsePack(b.Name, src, benchmark.ShippedPack); err != nil {
			return nil, err
		}
	}
	var err error
	b.Name = pack.Name
	b.Benchmark, err = benchmark.New(pack)
	return b, err
}

// published finds the shipped benchmark whose items these are; nil where they are
// nobody's, or the user calls them something else.
func published(name, canonical string) *benchmark.Pack {
	for _, p := range benchmark.Packs() {
		if p.ItemsSHA256 == canonical && (name == "" || name == p.Name) {
			return p
		}
	}
	return nil
}

// at names a file where an error names none; what is no finding of ours is a file
// that cannot be read.
func at(err error, file string) error {
	if err == nil {
		return nil
	}
	var known *fail.Error
	if !errors.As(err, &known) {
		return fail.New(fail.Config, msg.Text{"%v", "%v"}, fail.Describe(err, msg.En)).At(fail.Where{File: file})
	}
	for _, e := range fail.All(err) {
		if e.Where.File == "" {
			e.At(fail.Where{File: file})
		}
	}
	return err
}

// plainName makes a name of a file's: letters that cannot stand in a reference
// become underscores.
func plainName(s string) string {
	out := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_', r == '-', r == '.':
			return r
		}
		return '_'
	}, s)
	if out = strings.TrimLeft(out, ".-"); out == "" {
		return "benchmark"
	}
	return out
}
