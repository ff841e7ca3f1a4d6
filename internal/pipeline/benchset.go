package pipeline

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/dataprep/format"
	"github.com/drydock-ml/drydock/eval/benchmark"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
)

// maxItemBytes bounds the rows taken from one Parquet or Arrow file, as lines of
// JSON: a file of kilobytes can hold gigabytes of the same.
const maxItemBytes = 1 << 30

// ReadItemFile returns the bytes of a file of items: of Parquet and Arrow, told by
// content, its rows, one JSON object a line; of anything else the file's own.
func ReadItemFile(path string) ([]byte, error) {
	f, kind, err := format.Open(&drydock.File{Name: filepath.ToSlash(path)}, path, format.Options{}, nil)
	if err != nil || kind.Name != "parquet" && kind.Name != "arrow" {
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, fail.New(fail.Config, msg.Text{"%v", "%v"}, err)
		}
		return data, nil
	}
	rows, err := columnRows(f, kind)
	var own *fail.Error
	if errors.As(err, &own) {
		own.Kind = fail.Config // of a benchmark, every row is needed
	}
	return rows, err
}

// columnRows reads the rows of a file of typed columns. The first one that cannot
// be read is the error.
func columnRows(f *format.File, kind *format.Format) ([]byte, error) {
	ctx := context.Background() // a benchmark is small, and read before anything runs
	units, err := kind.Units(ctx, f)
	if err != nil {
		return nil, err
	}
	var damage error
	note := func(n format.Note) {
		if n.Damage && damage == nil {
			damage = fail.New(fail.Config, n.Text, n.Args...)
		}
	}
	var out bytes.Buffer
	for _, u := range units {
		for b, err := range kind.Document(u, note).Blocks(ctx) {
			var bad *drydock.Drop
			switch {
			case errors.As(err, &bad):
				return nil, fail.New(fail.Config, msg.Text{"%s cannot be read: %s", "%s 无法读取：%s"}, bad.Record.Origin.At, bad.Detail).At(fail.Where{File: f.Name})
			case err != nil:
				return nil, err
			case out.Len()+len(b.Raw) > maxItemBytes:
				return nil, fail.New(fail.Config, msg.Text{"the rows take more than 1 GB, which is no benchmark", "数据行超过 1 GB，不是评测集"}).At(fail.Where{File: f.Name})
			}
			out.Write(b.Raw)
			out.WriteByte('\n')
		}
	}
	return out.Bytes(), damage
}

// A rowFS is a folder in which a file of typed columns reads as its rows, see
// [ReadItemFile]: packs and folders of items may hold such files.
type rowFS struct{ dir string }

// Open implements [fs.FS].
func (f rowFS) Open(name string) (fs.File, error) { return os.DirFS(f.dir).Open(name) }

// ReadFile implements [fs.ReadFileFS].
func (f rowFS) ReadFile(name string) ([]byte, error) {
	data, err := fs.ReadFile(os.DirFS(f.dir), name)
	if err != nil || filepath.Ext(name) != ".parquet" && filepath.Ext(name) != ".arrow" {
		return data, err
	}
	return ReadItemFile(filepath.Join(f.dir, filepath.FromSlash(name)))
}

// bench makes a Bench of what a pack file or a folder holds. Its name is the
// pack's own unless the user gave it another, or the items are a shipped
// benchmark's, asked as that asks them.
func (f rowFS) bench(name, path string, set *benchmark.Set, err error) (*Bench, error) {
	if err != nil {
		return nil, at(err, filepath.ToSlash(path))
	}
	sum, err := hashAll(f.dir, set.Files)
	if err != nil {
		return nil, err
	}
	b := &Bench{
		Name: cmp.Or(name, set.Benchmark.Ref().Name), Benchmark: set.Benchmark, Items: set.Items, Path: path,
		SHA256: sum, Canonical: benchmark.CanonicalHash(set.Items),
	}
	if p := published(name, b.Canonical); p != nil {
		shipped, err := benchmark.New(p)
		if err != nil {
			return nil, err
		}
		if shipped.Fingerprint() == b.Benchmark.Fingerprint() {
			b.Name, b.Benchmark = p.Name, shipped
		}
	}
	return b, nil
}

// hashAll is the sha256 of files one after another: of one, its own.
func hashAll(dir string, files []string) (string, error) {
	h := sha256.New()
	for _, name := range files {
		r, err := os.Open(filepath.Join(dir, filepath.FromSlash(name)))
		if err != nil {
			return "", err
		}
		_, err = io.Copy(h, r)
		r.Close()
		if err != nil {
			return "", err
		}
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// openFolder reads a folder: of a pack or of files named as ours or EvalScope's,
// else a data set.
func openFolder(name, like, path string) (*Bench, error) {
	fsys := rowFS{path}
	set, err := benchmark.OpenFolder(fsys, cmp.Or(name, plainName(filepath.Base(path))), like, "")
	if errors.Is(err, benchmark.ErrNoItems) {
		if b, setErr := openSet(name, like, path, ""); b != nil || setErr != nil {
			return b, setErr
		}
	}
	return fsys.bench(name, path, set, err)
}

// openPart reads one subject or split of a folder of several, which the user named
// behind the folder; nil when it has none of that name.
func openPart(dir, part, path string) (*Bench, error) {
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return nil, nil
	}
	splits, err := benchmark.Splits(rowFS{dir})
	if err == nil && slices.ContainsFunc(splits, func(s benchmark.Split) bool { return s.Subject == part }) {
		set, err := benchmark.OpenFolder(rowFS{dir}, plainName(part), "", part)
		return rowFS{dir}.bench("", path, set, err)
	}
	return openSet("", "", dir, part)
}

// openSet reads the items of a data set: of the split part or the subset part, else
// of each subset the split its items are in, see [itemSplits]. It is nil where dir
// holds no such set.
func openSet(name, like, dir, part string) (*Bench, error) {
	splits, err := itemSplits(dir, part)
	if err != nil || len(splits) == 0 {
		return nil, err
	}
	several := slices.ContainsFunc(splits, func(s format.SetSplit) bool { return s.Subset != splits[0].Subset })
	var base benchmark.Benchmark
	parts, files, err := readSplits(splits, func(name string, data []byte) ([]benchmark.Item, error) {
		if base == nil {
			switch {
			case like != "":
			case benchmark.FreeQuestions(data):
				like = "general_qa"
			case several:
				like = "general_mcq"
			default:
				like = orLike("")
			}
			if base, err = benchmark.Lookup(like); err != nil {
				return nil, err
			}
		}
		return benchmark.ReadItemsOf(base, name, data)
	})
	if err != nil {
		return nil, err
	}
	sum, err := hashAll("", files)
	if err != nil {
		return nil, err
	}
	return likeBench(name, like, filepath.Join(dir, part), benchmark.Join(parts), sum)
}

// readSplits reads the files of splits, each file's items by itself, and returns
// the files as well. The items of a subset are tagged with it, unless they name a
// subject themselves.
func readSplits(splits []format.SetSplit, read func(name string, data []byte) ([]benchmark.Item, error)) (parts [][]benchmark.Item, files []string, err error) {
	for _, s := range splits {
		for _, file := range s.Files {
			data, err := ReadItemFile(file)
			if err != nil {
				return nil, nil, at(err, filepath.ToSlash(file))
			}
			items, err := read(filepath.ToSlash(file), data)
			if err != nil {
				return nil, nil, err
			}
			benchmark.TagSubject(items, s.Subset)
			parts, files = append(parts, items), append(files, file)
		}
	}
	return parts, files, nil
}

// itemSplits chooses what of a data set is a benchmark's items: the split or subset
// called part; without one, of every subset the split test, else validation, else
// the only one there is.
func itemSplits(dir, part string) ([]format.SetSplit, error) {
	splits, err := format.SetSplits(dir)
	if err != nil || len(splits) == 0 {
		return nil, at(err, filepath.ToSlash(dir))
	}
	if part != "" {
		subset := slices.ContainsFunc(splits, func(s format.SetSplit) bool { return s.Subset == part })
		splits = slices.DeleteFunc(splits, func(s format.SetSplit) bool {
			return subset && s.Subset != part || !subset && s.Name != part
		})
	}
	bySubset := map[string][]format.SetSplit{}
	for _, s := range splits {
		bySubset[s.Subset] = append(bySubset[s.Subset], s)
	}
	var out []format.SetSplit
	for _, s := range splits {
		if of := bySubset[s.Subset]; len(of) == 1 && len(bySubset) == 1 || s.Name == "test" ||
			s.Name == "validation" && !slices.ContainsFunc(of, func(o format.SetSplit) bool { return o.Name == "test" }) || part == s.Name && part != "" {
			out = append(out, s)
		}
	}
	if len(out) == 0 && len(splits) > 0 {
		return nil, noItemSplit(dir, splits)
	}
	return out, nil
}

// noItemSplit says which splits there are.
func noItemSplit(dir string, splits []format.SetSplit) error {
	var names []string
	for _, s := range splits {
		if !slices.Contains(names, s.Name) {
			names = append(names, s.Name)
		}
	}
	return fail.New(fail.Config, msg.Text{"the data set has neither a split test nor validation", "数据集既没有 test 划分，也没有 validation 划分"}).
		At(fail.Where{File: filepath.ToSlash(dir)}).
		Hint(msg.Text{"name one, as DIR/SPLIT: %s", "请指明一个，写法为 目录/划分：%s"}, msg.List(names)).
		Hint(msg.Text{"or as DIR/SUBSET", "或写成 目录/子集"})
}

// readPrompts is [benchmark.ReadPrompts] over a file, or over the items of a data
// set. It returns the sha256 of the files; no items: there is nothing to read.
func readPrompts(path string) (items []benchmark.Item, sum string, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, "", nil
	}
	if !info.IsDir() {
		data, err := ReadItemFile(path)
		if err != nil {
			return nil, "", at(err, filepath.ToSlash(path))
		}
		if items, err = benchmark.ReadPrompts(filepath.Base(path), data); err != nil {
			return nil, "", err
		}
		sum, err = hashAll("", []string{path})
		return items, sum, err
	}
	splits, err := itemSplits(path, "")
	if err != nil || len(splits) == 0 {
		return nil, "", err
	}
	parts, files, err := readSplits(splits, benchmark.ReadPrompts)
	if err != nil {
		return nil, "", err
	}
	sum, err = hashAll("", files)
	return benchmark.Join(parts), sum, err
}
