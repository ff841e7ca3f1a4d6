package rowfile

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/valyala/fastjson"
	"github.com/zeebo/xxh3"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/internal/atomicfile"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
)

// writeFolder writes a folder beside its place and moves it there when it is
// whole.
func writeFolder(ctx context.Context, path string, k Kind, s *Set) (files []File, err error) {
	if err := CheckFolder(path); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, err
	}
	tmp, err := os.MkdirTemp(filepath.Dir(path), ".tmp-"+filepath.Base(path)+"-*")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(tmp)
	if err := os.Chmod(tmp, 0o755); err != nil {
		return nil, err
	}
	f := &folder{dir: tmp, kind: k, set: s}
	if k == Hub {
		err = f.hub(ctx)
	} else {
		err = f.disk(ctx)
	}
	if err != nil {
		return nil, err
	}
	if err := os.RemoveAll(path); err != nil {
		return nil, err
	}
	return f.files, os.Rename(tmp, path)
}

// CheckFolder refuses a folder that holds anything a layout does not write:
// writing a set replaces the folder as a whole.
func CheckFolder(path string) error {
	return filepath.WalkDir(path, func(p string, d os.DirEntry, err error) error {
		switch {
		case errors.Is(err, os.ErrNotExist) && p == path:
			return nil
		case err != nil || d.IsDir():
			return err
		}
		name := d.Name()
		if name == "README.md" || name == "state.json" || name == "dataset_info.json" || name == "dataset_dict.json" ||
			strings.HasSuffix(name, ".parquet") || strings.HasSuffix(name, ".arrow") {
			return nil
		}
		return fail.New(fail.Usage, msg.Text{
			"%s holds %s, which is no part of a set: writing the set would remove it", "%s 中有 %s，不属于数据集：写出数据集会将其删除",
		}, path, name).Hint(msg.Text{"name a folder of its own", "请指定单独的文件夹"})
	})
}

// A folder is a set being written.
type folder struct {
	dir   string
	kind  Kind
	set   *Set
	files []File
}

func (f *folder) file(name string, data []byte) error {
	f.files = append(f.files, File{Name: name})
	return atomicfile.WriteFile(filepath.Join(f.dir, filepath.FromSlash(name)), data)
}

// shards writes the rows of a split as one or more files, which are named by
// number and count, and returns their names and a hash of their bytes.
func (f *folder) shards(ctx context.Context, split Split, format string) (names []string, hash uint64, err error) {
	w := &shardWriter{f: f, limit: f.set.ShardBytes, sum: xxh3.New()}
	if w.limit <= 0 {
		w.limit = defaultShard
	}
	if err := w.open(); err != nil {
		return nil, 0, err
	}
	defer w.abort()
	if _, err := copyRows(ctx, w, split.Path); err != nil {
		return nil, 0, err
	}
	for i, rows := range w.counts {
		name := fmt.Sprintf(format, i, len(w.counts))
		to := filepath.Join(f.dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return nil, 0, err
		}
		if err := os.Rename(w.temporary(i), to); err != nil {
			return nil, 0, err
		}
		names = append(names, name)
		f.files = append(f.files, File{name, rows})
	}
	return names, w.sum.Sum64(), nil
}

// A shardWriter begins a new file when one is large enough.
type shardWriter struct {
	f      *folder
	limit  int64
	counts []int // rows of each shard
	size   int64
	out    *atomicfile.File
	rows   rowWriter
	sum    *xxh3.Hasher
}

func (w *shardWriter) temporary(i int) string {
	return filepath.Join(w.f.dir, "shard-"+strconv.Itoa(i))
}

func (w *shardWriter) open() (err error) {
	if w.out, err = atomicfile.Create(w.temporary(len(w.counts))); err != nil {
		return err
	}
	w.counts = append(w.counts, 0)
	w.size = 0
	w.rows = newRowWriter(w.f.kind, io.MultiWriter(w.out, w.sum), w.f.set.Schema)
	return nil
}

func (w *shardWriter) abort() { w.out.Abort() }

func (w *shardWriter) write(row *fastjson.Value, line []byte) error {
	if w.size > 0 && w.size+int64(len(line)) > w.limit {
		if err := w.close(); err != nil {
			return err
		}
		if err := w.open(); err != nil {
			return err
		}
	}
	w.size += int64(len(line)) + 1
	w.counts[len(w.counts)-1]++
	return w.rows.write(row, line)
}

func (w *shardWriter) close() error {
	if err := w.rows.close(); err != nil {
		return err
	}
	return w.out.Commit()
}

// hub writes data/SPLIT-00000-of-00001.parquet and a README that says which file
// is which split, as load_dataset wants to be told.
func (f *folder) hub(ctx context.Context) error {
	var b strings.Builder
	b.WriteString("---\n")
	if f.set.License != "" {
		b.WriteString("license: " + quoteYAML(f.set.License) + "\n")
	}
	b.WriteString("configs:\n- config_name: default\n  data_files:\n")
	for _, s := range f.set.Splits {
		b.WriteString("  - split: " + s.Name + "\n    path: data/" + s.Name + "-*.parquet\n")
	}
	b.WriteString("---\n")
	if f.set.Title != "" {
		b.WriteString("\n# " + f.set.Title + "\n")
	}
	if f.set.Text != "" {
		b.WriteString("\n" + strings.TrimSpace(f.set.Text) + "\n")
	}
	if err := f.file("README.md", []byte(b.String())); err != nil {
		return err
	}
	for _, s := range f.set.Splits {
		if _, _, err := f.shards(ctx, s, "data/"+s.Name+"-%05d-of-%05d.parquet"); err != nil {
			return err
		}
	}
	return nil
}

// quoteYAML writes a text as a YAML string, which JSON's form is.
func quoteYAML(s string) string { return string(drydock.AppendJSONString(nil, s)) }

// disk writes what save_to_disk writes: one folder, or one for each of several
// splits and dataset_dict.json beside them.
func (f *folder) disk(ctx context.Context) error {
	if len(f.set.Splits) == 1 {
		return f.diskSplit(ctx, f.set.Splits[0], "")
	}
	names := []byte{}
	for _, s := range f.set.Splits {
		if len(names) > 0 {
			names = append(names, ", "...)
		}
		names = drydock.AppendJSONString(names, s.Name)
	}
	if err := f.file("dataset_dict.json", []byte(`{"splits": [`+string(names)+"]}")); err != nil {
		return err
	}
	for _, s := range f.set.Splits {
		if err := f.diskSplit(ctx, s, s.Name+"/"); err != nil {
			return err
		}
	}
	return nil
}

// diskSplit writes the shards, state.json and dataset_info.json of a split. The
// fingerprint, random where datasets makes it, is that of the bytes.
func (f *folder) diskSplit(ctx context.Context, split Split, under string) error {
	shards, sum, err := f.shards(ctx, split, under+"data-%05d-of-%05d.arrow")
	if err != nil {
		return err
	}
	var list []byte
	for i, name := range shards {
		if i > 0 {
			list = append(list, ',')
		}
		list = append(list, "\n    {\n      \"filename\": "...)
		list = append(drydock.AppendJSONString(list, strings.TrimPrefix(name, under)), "\n    }"...)
	}
	fingerprint := hex.EncodeToString([]byte{byte(sum >> 56), byte(sum >> 48), byte(sum >> 40), byte(sum >> 32), byte(sum >> 24), byte(sum >> 16), byte(sum >> 8), byte(sum)})
	state := "{\n  \"_data_files\": [" + string(list) + "\n  ],\n  \"_fingerprint\": \"" + fingerprint +
		"\",\n  \"_format_columns\": null,\n  \"_format_kwargs\": {},\n  \"_format_type\": null,\n  \"_output_all_columns\": false,\n  \"_split\": " +
		string(drydock.AppendJSONString(nil, split.Name)) + "\n}"
	if err := f.file(under+"state.json", []byte(state)); err != nil {
		return err
	}
	info := append([]byte(`{"citation":"","description":"","features":`), f.set.Schema.root.appendFeatures(nil)...)
	info = append(info, `,"homepage":"","license":`...)
	info = append(drydock.AppendJSONString(info, f.set.License), '}')
	return f.file(under+"dataset_info.json", info)
}
