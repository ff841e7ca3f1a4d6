package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/dataprep/emit"
	"github.com/drydock-ml/drydock/dataprep/rowfile"
	"github.com/drydock-ml/drydock/internal/atomicfile"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/pipeline"
	"github.com/drydock-ml/drydock/internal/ui"
)

// convertAnswer says what became of the rows.
type convertAnswer struct {
	Schema  string          `json:"schema"`
	To      string          `json:"to"`
	Inputs  []dedupInput    `json:"inputs"`
	Sums    drydock.Sums    `json:"sums"`
	Out     string          `json:"out,omitempty"`
	Dropped string          `json:"dropped,omitempty"`
	Info    drydock.RawJSON `json:"dataset_info,omitempty"`      // LLaMA-Factory's entry for the rows
	InfoAt  string          `json:"dataset_info_file,omitempty"` // where it was put
	Renamed int             `json:"renamed_ids,omitempty"`       // ids that stand in several inputs
	AsText  bool            `json:"ids_as_text,omitempty"`       // some were text, others not
	DryRun  bool            `json:"dry_run,omitempty"`
}

// write makes the output of the rows that wait.
func (r *convertRun) write(ctx context.Context) error {
	r.answer.AsText = r.idKinds[1] && (r.idKinds[0] || r.ids.Any())
	path := r.spool()
	if r.ids.Any() || r.answer.AsText {
		path = filepath.Join(r.work, "named.jsonl")
		if err := atomicfile.Write(path, func(w io.Writer) error { return r.rename(ctx, w) }); err != nil {
			return err
		}
	}
	if !r.kind.Columns() {
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
func (r *convertRun) place(ctx context.Context, path string) error {
	if r.kind == rowfile.JSONL {
		return atomicfile.Replace(path, r.o.Out)
	}
	splits := []rowfile.Split{{Name: "train", Path: path}}
	schema := &rowfile.Schema{}
	if r.kind.Columns() {
		var err error
		// all rows fitted already: now their ids do, too
		if schema, err = rowfile.SchemaOf(ctx, splits, func(_ rowfile.Split, _ int, err error) error { return err }); err != nil {
			return err
		}
		schema.Tokens()
	}
	if r.kind.Columns() && schema.Rows() == 0 {
		r.bad = append(r.bad, fail.New(fail.Partial, msg.Text{"%s was not written: no row is left, and a table needs one", "未写出 %s：没有剩余数据行，而表至少需要一行"}, r.o.Out))
		r.answer.Out = ""
		return nil
	}
	_, err := rowfile.Write(ctx, r.o.Out, r.kind, &rowfile.Set{Splits: splits, Schema: schema, Title: filepath.Base(r.o.Out)})
	return err
}

// rename writes the waiting rows with the ids they keep: SOURCE/ID where several
// inputs have an id, and all of them text where some are.
func (r *convertRun) rename(ctx context.Context, w io.Writer) error {
	f, err := os.Open(r.spool())
	if err != nil {
		return err
	}
	defer f.Close()
	in := bufio.NewReaderSize(f, 256<<10)
	var buf []byte
	for _, part := range r.parts {
		for range part.rows {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			row, err := in.ReadBytes('\n')
			if err != nil {
				return err
			}
			buf = r.renamed(buf[:0], row, part.source.Source)
			if _, err := w.Write(buf); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *convertRun) renamed(dst, row []byte, source string) []byte {
	id := idOf(row)
	if id == nil {
		return append(dst, row...)
	}
	text, quoted := idText(id)
	dst = append(dst, idField...)
	switch {
	case r.ids.Shared(text):
		r.answer.Renamed++
		dst = drydock.AppendJSONString(dst, source+"/"+text)
	case quoted || !r.answer.AsText:
		dst = append(dst, id...)
	default:
		dst = drydock.AppendJSONString(dst, text)
	}
	return append(dst, row[len(idField)+len(id):]...)
}

// lateTypes says which rows Hugging Face's datasets would fail at.
func (r *convertRun) lateTypes() {
	for _, late := range r.schema.Late() {
		r.bad = append(r.bad, fail.New(fail.Partial, msg.Text{
			"%s: readers that take the columns from the first 10 MB fail at row %d: %s is in no row before it",
			"%s：从前 10 MB 推断列类型的读取程序会在第 %d 行失败：%s 未出现在此前的行中",
		}, r.o.Out, late.Row, late.Pointer).Hint(msg.Text{"write a .parquet file: it carries the types", "请写成 .parquet 文件：其中带有类型"}))
	}
}

// info makes the entry for LLaMA-Factory's dataset_info.json, which fits a file of
// one kind of rows only, and puts it into the file beside the rows.
func (r *convertRun) info() error {
	out := r.answer.Sums.Out
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
		r.answer.Info = emit.DatasetInfo(filepath.Base(r.o.Out), t.Task, besides...)
		return nil
	}
	file, entry, err := pipeline.PutDatasetInfo(r.o.Out, r.kind, t.Task, besides...)
	r.answer.Info = entry
	if unread := (*fail.Error)(nil); errors.As(err, &unread) {
		r.bad = append(r.bad, unread)
		return nil
	}
	r.answer.InfoAt = file
	return err
}

func (v convertAnswer) text(t *ui.Terminal) {
	tb := t.Table(ui.Column{Title: msg.Text{"file", "文件"}}, ui.Column{Title: msg.Text{"rows", "行"}, Right: true})
	for _, in := range v.Inputs {
		tb.Row(in.File, fmt.Sprint(in.Rows))
	}
	if len(v.Inputs) > 0 {
		tb.Print()
	}
	t.Print(msg.Text{"%d in, %d converted to %s, %d dropped", "输入 %d，%d 行转为 %s，丢弃 %d"}, v.Sums.In, v.Sums.Out, v.To, v.Sums.DroppedTotal())
	if words := countWords(v.Sums.Dropped); len(words) > 0 {
		t.Print(msg.Text{"dropped: %s", "丢弃：%s"}, words)
	}
	if v.Renamed > 0 {
		t.Print(msg.Text{"%d {id stands|ids stand} in several inputs and became SOURCE/ID", "%d 个 id 出现在多个输入中，已写为 来源/id"}, v.Renamed)
	}
	if v.AsText {
		t.Print(msg.Text{"some ids were text, some not: all are text now", "id 有文本也有其他类型：现均为文本"})
	}
	if v.Info != nil {
		t.Print(msg.Text{"entry for dataset_info.json: %s", "dataset_info.json 条目：%s"}, v.Info)
		if v.InfoAt != "" {
			t.Print(msg.Text{"it stands in %s", "已写入 %s"}, v.InfoAt)
		}
	}
	if !v.DryRun {
		if v.Out != "" {
			t.Print(msg.Text{"rows: %s", "数据行：%s"}, v.Out)
		}
		if v.Dropped != "" {
			t.Print(msg.Text{"left out: %s", "未采用：%s"}, v.Dropped)
		}
	}
}
