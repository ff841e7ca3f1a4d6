package pipeline

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"slices"
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
	Data      []byte // the file's bytes
	SHA256    string // of the file
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
	// one subject of a folder of several: DIR/SUBJECT
	if dir, subject := filepath.Split(path); dir != "" && isSubject(dir, subject) {
		set, err := benchmark.OpenFolder(os.DirFS(dir), plainName(subject), "", subject)
		return setBench("", path, set, err)
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

// isSubject reports whether a folder has questions of a subject.
func isSubject(dir, subject string) bool {
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return false
	}
	splits, err := benchmark.Splits(os.DirFS(dir))
	return err == nil && slices.ContainsFunc(splits, func(s benchmark.Split) bool { return s.Subject == subject })
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
		for _, ext := range []string{"*.arrow", "*.parquet"} {
			if found, err := filepath.Glob(filepath.Join(path, ext)); err == nil && len(found) > 0 {
				return nil, columns(found[0])
			}
		}
		set, err := benchmark.OpenFolder(os.DirFS(path), cmp.Or(name, plainName(filepath.Base(path))), like, "")
		return setBench(name, path, set, err)
	}
	if ext := strings.ToLower(filepath.Ext(path)); ext == ".yaml" || ext == ".yml" {
		set, err := benchmark.OpenPack(os.DirFS(filepath.Dir(path)), filepath.Base(path))
		return setBench(name, path, set, err)
	}
	if ext := strings.ToLower(filepath.Ext(path)); ext == ".parquet" || ext == ".arrow" {
		return nil, columns(path)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fail.New(fail.Config, msg.Text{"%v", "%v"}, err)
	}
	if like == "" && benchmark.FreeQuestions(data) {
		like = "general_qa"
	}
	like = orLike(like)
	base, err := benchmark.Lookup(like)
	if err != nil {
		return nil, err
	}
	items, err := benchmark.ReadItemsOf(base, filepath.Base(path), data)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(data)
	b := &Bench{
		Name: name, Items: items, Path: path, Data: data,
		SHA256: hex.EncodeToString(sum[:]), Canonical: benchmark.CanonicalHash(items),
	}
	for _, p := range benchmark.Packs() {
		if p.ItemsSHA256 == b.Canonical && (name == "" || name == p.Name) {
			if b.Benchmark, err = benchmark.New(p); err != nil {
				return nil, err
			}
			b.Name = p.Name
			return b, nil
		}
	}
	if name == "" {
		b.Name = plainName(strings.TrimSuffix(filepath.Base(path), filepath.Ext(path)))
	}
	src, err := benchmark.LikePack(b.Name, like, items).Marshal()
	if err != nil {
		return nil, err
	}
	pack, err := benchmark.ParsePack(b.Name, src, benchmark.ShippedPack)
	if err != nil {
		return nil, err
	}
	b.Benchmark, err = benchmark.New(pack)
	return b, err
}

// columns says what to do with Parquet, and with the Arrow files that ModelScope's
// and Hugging Face's caches keep.
func columns(path string) error {
	return fail.New(fail.Config, msg.Text{"items are not read from Parquet or Arrow files", "无法从 Parquet 或 Arrow 文件读取题目"}).
		At(fail.Where{File: filepath.ToSlash(path)}).
		Hint(msg.Text{
			`Python writes them as lines: datasets.load_from_disk(DIR).to_json("items.jsonl", force_ascii=False)`,
			`可用 Python 转为逐行 JSON：datasets.load_from_disk(DIR).to_json("items.jsonl", force_ascii=False)`,
		}).
		Hint(msg.Text{
			`or pandas.read_parquet(FILE).to_json("items.jsonl", orient="records", lines=True, force_ascii=False)`,
			`或 pandas.read_parquet(FILE).to_json("items.jsonl", orient="records", lines=True, force_ascii=False)`,
		})
}

// setBench makes a Bench of what a pack file or a folder holds. Its name is the
// pack's own unless the user gave it another.
func setBench(name, path string, set *benchmark.Set, err error) (*Bench, error) {
	if err != nil {
		return nil, at(err, filepath.ToSlash(path))
	}
	sum := sha256.Sum256(set.Data)
	return &Bench{
		Name: cmp.Or(name, set.Benchmark.Ref().Name), Benchmark: set.Benchmark, Items: set.Items, Path: path, Data: set.Data,
		SHA256: hex.EncodeToString(sum[:]), Canonical: benchmark.CanonicalHash(set.Items),
	}, nil
}

// at names a file where an error names none; what is no finding of ours is a file
// that cannot be read.
func at(err error, file string) error {
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
