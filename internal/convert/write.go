package convert

import (
	"context"
	"errors"
	"io"
	"path/filepath"

	"github.com/drydock-ml/drydock/dataprep/emit"
	"github.com/drydock-ml/drydock/dataprep/rowfile"
	"github.com/drydock-ml/drydock/internal/atomicfile"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/pipeline"
)

// write makes the output of the rows that wait.
func (r *run) write(ctx context.Context) error {
	r.res.AsText = r.idKinds[1] && (r.idKinds[0] || r.ids.Any())
	path := r.spool()
	if r.ids.Any() || r.res.AsText {
		path = filepath.Join(r.work, "named.jsonl")
		if err := atomicfile.Write(path, func(w io.Writer) error { return r.rename(ctx, w) }); err != nil {
			return err
		}
	}
	if !r.o.Kind.Columns() {
		r.lateTypes()
	}
	if !r.o.DryRun {
		if err := r.place(ctx, path); err != nil {
			return err
		}
	}
	return r.info()
}

// place writes the output from rows, one a line in the file path.
func (r *run) place(ctx context.Context, path string) error {
	if r.o.Kind == rowfile.JSONL {
		return atomicfile.Replace(path, r.o.Out)
	}
	splits := []rowfile.Split{{Name: "train", Path: path}}
	schema := &rowfile.Schema{}
	if r.o.Kind.Columns() {
		var err error
		// all rows fitted already: now their ids do, too
		if schema, err = rowfile.SchemaOf(ctx, splits, func(_ rowfile.Split, _ int, err error) error { return err }); err != nil {
			return err
		}
		schema.Tokens()
	}
	if r.o.Kind.Columns() && schema.Rows() == 0 {
		r.bad = append(r.bad, fail.New(fail.Partial, msg.Text{"%s was not written: no row is left, and a table needs one", "未写出 %s：没有剩余数据行，而表至少需要一行"}, r.o.Out))
		r.res.Out = ""
		return nil
	}
	_, err := rowfile.Write(ctx, r.o.Out, r.o.Kind, &rowfile.Set{Splits: splits, Schema: schema, Title: filepath.Base(r.o.Out)})
	return err
}

// lateTypes says which rows Hugging Face's datasets would fail at.
func (r *run) lateTypes() {
	for _, late := range r.schema.Late() {
		r.bad = append(r.bad, fail.New(fail.Partial, msg.Text{
			"%s: readers that take the columns from the first 10 MB fail at row %d: %s is in no row before it",
			"%s：从前 10 MB 推断列类型的读取程序会在第 %d 行失败：%s 未出现在此前的行中",
		}, r.o.Out, late.Row, late.Pointer).Hint(msg.Text{"write a .parquet file: it carries the types", "请写成 .parquet 文件：其中带有类型"}))
	}
}

// info makes the entry for LLaMA-Factory's dataset_info.json, which fits a file of
// one kind of rows only, and puts it into the file beside the rows.
func (r *run) info() error {
	out := r.res.Sums.Out
	t, _ := emit.TargetOf(r.o.To)
	if t.Trainer != "llamafactory" || out == 0 {
		return nil
	}
	if mixed := func(n int) bool { return n > 0 && n < out }; mixed(r.pairs) || mixed(r.labels) {
		r.bad = append(r.bad, fail.New(fail.Partial, msg.Text{
			"of %d rows %d are preference pairs and %d have a label: LLaMA-Factory wants a file for each kind",
			"%d 行中有 %d 行为偏好对、%d 行带标签：LLaMA-Factory 要求每种数据各用一个文件",
		}, out, r.pairs, r.labels))
		return nil
	}
	switch {
	case r.pairs > 0:
		t.Task = emit.DPO
	case r.labels > 0:
		t.Task = emit.KTO
	}
	var besides []string
	if r.schema.Has("tools") {
		besides = []string{"tools"}
	}
	if r.o.DryRun {
		r.res.Info = emit.DatasetInfo(filepath.Base(r.o.Out), t.Task, besides...)
		return nil
	}
	file, entry, err := pipeline.PutDatasetInfo(r.o.Out, r.o.Kind, t.Task, besides...)
	r.res.Info = entry
	if unread := (*fail.Error)(nil); errors.As(err, &unread) {
		r.bad = append(r.bad, unread)
		return nil
	}
	r.res.InfoAt = file
	return err
}
