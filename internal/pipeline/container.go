package pipeline

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/drydock-ml/drydock/dataprep/rowfile"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/runstore"
)

// An OutputFile is one file of an output that is a folder.
type OutputFile struct {
	Path   string `json:"path"`
	Rows   int    `json:"rows"` // 0 for a file that describes the others
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// beside names a file that goes with an output: train.parquet has
// train.sidecar.jsonl.
func beside(path, suffix string) string {
	switch ext := filepath.Ext(path); strings.ToLower(ext) {
	case ".jsonl", ".json", ".parquet", ".arrow":
		path = strings.TrimSuffix(path, ext)
	}
	return path + suffix
}

// kind says how an output's rows stand on disk. A configuration that was linted
// has no other.
func (o namedOutput) kind() rowfile.Kind {
	k, err := rowfile.KindOf(o.path(), o.builder.Layout())
	if err != nil {
		return rowfile.JSONL
	}
	return k
}

// devPath names the output of the records that a split keeps from training: a
// file of its own, in a folder its own split.
func (o namedOutput) devPath() string {
	if o.kind().Folder() {
		return o.path()
	}
	ext := filepath.Ext(o.path())
	return strings.TrimSuffix(o.path(), ext) + ".dev" + ext
}

// rowsPath is where an output's rows stand one a line: the output itself, or a
// file beside it that it is made from. Ledgers and packages speak of lines.
func (o namedOutput) rowsPath(side int) string {
	switch dev := side == inDev; {
	case o.kind() == rowfile.JSONL && dev:
		return o.devPath()
	case o.kind() == rowfile.JSONL:
		return o.path()
	case dev:
		return beside(o.path(), ".dev.rows.jsonl")
	}
	return beside(o.path(), ".rows.jsonl")
}

// contain makes the output's file or folder of its rows, where these are not it.
func (c *corpus) contain(ctx context.Context, i int, row *OutputResult) error {
	o := c.r.cfg.Output[i]
	kind := o.kind()
	if kind == rowfile.JSONL {
		c.checkTypes(ctx, i, row)
		return nil
	}
	var splits []rowfile.Split
	for side := range row.sides() {
		splits = append(splits, rowfile.Split{Name: splitNames()[side], Path: inside(c.r.base, o.rowsPath(side))})
	}
	schema, err := rowfile.SchemaOf(ctx, splits, func(_ rowfile.Split, n int, err error) error {
		return fail.New(fail.Partial, msg.Text{"%s: row %d cannot stand in one table with those before it: %v", "%s：第 %d 行无法与之前的行同处一张表：%v"}, o.path(), n, err)
	})
	if err != nil {
		return err
	}
	schema.Tokens()
	if kind.Folder() {
		return c.r.writeSet(ctx, o, row, kind, &rowfile.Set{Splits: splits, Schema: schema, Title: c.r.cfg.Card.Title})
	}
	for n, f := range row.sides() {
		to := inside(c.r.base, f.Path)
		if _, err := rowfile.Write(ctx, to, kind, &rowfile.Set{Splits: splits[n : n+1], Schema: schema}); err != nil {
			return err
		}
		if f.Bytes, f.SHA256, err = measure(to); err != nil {
			return err
		}
	}
	return nil
}

// writeSet writes a folder and says what is in it: the dev split's files are
// those of dev, all others those of training.
func (r *runner) writeSet(ctx context.Context, o namedOutput, row *OutputResult, kind rowfile.Kind, set *rowfile.Set) error {
	dir := inside(r.base, o.path())
	files, err := rowfile.Write(ctx, dir, kind, set)
	if err != nil {
		return err
	}
	slices.SortFunc(files, func(a, b rowfile.File) int { return strings.Compare(a.Name, b.Name) })
	for _, f := range row.sides() {
		f.Bytes, f.Files = 0, nil
	}
	for _, w := range files {
		to := row
		if row.Dev != nil && strings.HasPrefix(strings.TrimPrefix(w.Name, "data/"), splitNames()[inDev]) {
			to = row.Dev
		}
		f := OutputFile{Path: path.Join(filepath.ToSlash(o.path()), w.Name), Rows: w.Rows}
		if f.Bytes, f.SHA256, err = measure(inside(r.base, f.Path)); err != nil {
			return err
		}
		to.Files = append(to.Files, f)
		to.Bytes += f.Bytes
	}
	for _, f := range row.sides() {
		list := sha256.New()
		for _, w := range f.Files {
			fmt.Fprintf(list, "%s  %s\n", w.SHA256, w.Path)
		}
		f.SHA256 = hex.EncodeToString(list.Sum(nil))
	}
	return nil
}

func measure(path string) (size int64, sum string, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return 0, "", err
	}
	sum, err = runstore.HashFile(path)
	return info.Size(), sum, err
}

// files are the output's files: itself, or what is in its folder.
func (o *OutputResult) files() []OutputFile {
	if o.Files != nil {
		return o.Files
	}
	return []OutputFile{{o.Path, o.Rows, o.Bytes, o.SHA256}}
}

// lines is the file whose lines are the output's rows.
func (o *OutputResult) lines() string {
	if o.RowsFile != "" {
		return o.RowsFile
	}
	return o.Path
}

// checkTypes says which rows Hugging Face's datasets would fail at, since it takes
// the columns from the first rows of a JSON Lines file. Only shapes with fields
// that some rows lack can have any.
func (c *corpus) checkTypes(ctx context.Context, i int, row *OutputResult) {
	if row.Shape != "alpaca" && row.Shape != "question" {
		return
	}
	for side, f := range row.sides() {
		schema, err := rowfile.SchemaOf(ctx, []rowfile.Split{{Path: inside(c.r.base, c.r.cfg.Output[i].rowsPath(side))}}, func(_ rowfile.Split, _ int, err error) error { return err })
		if err != nil {
			continue
		}
		for _, late := range schema.Late() {
			c.r.partial = append(c.r.partial, fail.New(fail.Partial, msg.Text{
				"%s: readers that take the columns from the first 10 MB fail at row %d: %s is in no row before it",
				"%s：从前 10 MB 推断列类型的读取程序会在第 %d 行失败：%s 未出现在此前的行中",
			}, f.Path, late.Row, late.Pointer).Hint(msg.Text{"write a .parquet file: it carries the types", "请写成 .parquet 文件：其中带有类型"}))
		}
	}
}
