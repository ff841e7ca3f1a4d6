package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/dataprep/emit"
	"github.com/drydock-ml/drydock/dataprep/format"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/pipeline"
	"github.com/drydock-ml/drydock/internal/ui"
)

// ConvertOptions are the flags of convert.
type ConvertOptions struct {
	Inputs   []string
	Out      string
	From, To string
	Dropped  string
	Encoding string
	DryRun   bool
	// SpecialTokens says what becomes of control tokens spelled out in a text.
	SpecialTokens string
}

func newConvertCommand(a *app) *cobra.Command {
	var o ConvertOptions
	c := a.command("convert", about{
		use: "IN… -o FILE", args: someArgs("IN"),
		short: msg.Text{"Turn rows of one training format into another, without loss.", "在训练数据格式之间无损转换。"},
		long: msg.Text{
			"IN is a file or folder of rows: JSONL, JSON, Parquet, Arrow, or what datasets saves to disk. A row is converted without loss or not at all: the drop file names the field that has no place in the new format. Ids and foreign fields are kept, null is the same as no field, text parts are joined, and Alpaca's input follows its instruction on a line of its own, as trainers join them. The ending of -o says how rows are written: .jsonl or .json.",
			"IN 为含数据行的文件或文件夹：JSONL、JSON、Parquet、Arrow，或 datasets 保存到磁盘的数据集。每行要么无损转换，要么不转换：丢弃文件会指出新格式容纳不下的字段。保留 id 和其他字段，null 等同于没有该字段，文本片段会合并，Alpaca 的 input 与训练器一样另起一行接在 instruction 之后。-o 的后缀决定写法：.jsonl 或 .json。",
		},
		examples: []example{
			{msg.Text{"ShareGPT as OpenAI messages", "ShareGPT 转为 OpenAI messages"}, "drydock convert data.json --from sharegpt -o out.jsonl"},
			{msg.Text{"a saved set of datasets as training rows for Qwen3", "将 datasets 保存的数据集转为 Qwen3 训练数据"}, "drydock convert saved/ --to qwen3_chat -o train.jsonl"},
		},
		exits: []int{3},
	}, nil)
	c.RunE = func(cmd *cobra.Command, args []string) error {
		if !o.DryRun {
			if err := a.require(cmd, "output", o.Out); err != nil {
				return err
			}
		}
		o.Inputs = args
		return runConvert(cmd.Context(), a, o)
	}
	names := strings.Join(emit.ConvertFormats(), ", ")
	f := a.flags(c.Flags())
	f.output(&o.Out, "output", "o", msg.Text{"write the rows to `FILE`", "将数据行写入 `FILE`"})
	f.str(&o.From, "from", "", "", msg.Text{"format `NAME` of the rows (default: found row by row)", "数据行的格式 `NAME`（默认：逐行识别）"})
	f.str(&o.To, "to", "", "openai", msg.Text{"format `NAME` to write: " + names, "写出的格式 `NAME`：" + names})
	f.output(&o.Dropped, "dropped", "", msg.Text{"write rows that could not be converted to `FILE` (default: beside -o)", "将无法转换的行写入 `FILE`（默认：与 -o 同目录）"})
	f.encoding(&o.Encoding)
	a.specialTokens(c, f, &o.SpecialTokens)
	f.dryRun(&o.DryRun)
	a.completeFunc(c, "to", emit.ConvertFormats)
	a.completeFunc(c, "from", emit.ConvertFormats)
	return c
}

// convertAnswer says what became of the rows.
type convertAnswer struct {
	Schema  string          `json:"schema"`
	To      string          `json:"to"`
	Inputs  []dedupInput    `json:"inputs"`
	Sums    drydock.Sums    `json:"sums"`
	Out     string          `json:"out,omitempty"`
	Dropped string          `json:"dropped,omitempty"`
	Info    drydock.RawJSON `json:"dataset_info,omitempty"` // LLaMA-Factory's entry for the rows
	DryRun  bool            `json:"dry_run,omitempty"`
}

// convertRun reads rows and writes them, one at a time.
type convertRun struct {
	a       *app
	o       ConvertOptions
	conv    *emit.Conversion
	out     output
	drops   output
	array   bool // rows stand in one JSON array
	buf     []byte
	answer  convertAnswer
	bad     fail.List
	pairs   int // rows written as preference pairs
	labels  int // rows written with a label
	refused int // rows told on the terminal
}

func runConvert(ctx context.Context, a *app, o ConvertOptions) error {
	names, bad, err := o.check()
	if err != nil {
		return err
	}
	r := &convertRun{a: a, o: o, conv: o.conversion(), bad: bad, array: strings.EqualFold(filepath.Ext(o.Out), ".json")}
	r.answer = convertAnswer{
		Schema: "drydock.convert/1", To: o.To, Inputs: []dedupInput{},
		Sums: drydock.Sums{Dropped: map[string]int{}}, Out: o.Out, DryRun: o.DryRun,
	}
	if err := r.write(ctx, names); err != nil {
		return err
	}
	if err := r.answer.Sums.Close(); err != nil {
		return fail.Bug(err)
	}
	if o.To == "llamafactory" && r.answer.Sums.Out > 0 {
		r.info()
	}
	if err := a.answer(r.answer); err != nil {
		return err
	}
	return r.bad.OrNil()
}

// conversion is the one the flags ask for.
func (o *ConvertOptions) conversion() *emit.Conversion {
	c := emit.NewConversion(o.From, o.To)
	if o.SpecialTokens == "escape" {
		c.EscapeSpecials()
	}
	return c
}

// check refuses what could not be done, or would destroy an input.
func (o *ConvertOptions) check() (names []string, bad fail.List, err error) {
	formats := emit.ConvertFormats()
	switch ext := strings.ToLower(filepath.Ext(o.Out)); {
	case !slices.Contains(formats, o.To):
		return nil, nil, oneOf("--to", o.To, formats...)
	case o.From != "" && !slices.Contains(formats, o.From):
		return nil, nil, oneOf("--from", o.From, formats...)
	case o.Out != "" && ext != ".jsonl" && ext != ".json":
		return nil, nil, fail.New(fail.Usage, msg.Text{"-o %s: rows are written as .jsonl or .json", "-o %s：数据行只能写成 .jsonl 或 .json"}, o.Out)
	}
	if err := checkSpecialTokens(o.SpecialTokens); err != nil {
		return nil, nil, err
	}
	if err := format.CheckEncoding(o.Encoding); err != nil {
		return nil, nil, err
	}
	if names, bad, err = expandInputs(o.Inputs); err != nil {
		return nil, nil, err
	}
	outs := []namedOutput{{"-o", o.Out}, {"--dropped", o.Dropped}}
	if err := distinct(outs...); err != nil {
		return nil, nil, err
	}
	for _, out := range outs {
		if err := keepInputs(out.flag, out.path, names); err != nil {
			return nil, nil, err
		}
	}
	return names, bad, nil
}

// write converts all inputs. Nothing stands under the names of the outputs until
// all rows are written.
func (r *convertRun) write(ctx context.Context, names []string) (err error) {
	if r.out, err = r.a.createOutput(r.o.Out, r.o.DryRun); err != nil {
		return err
	}
	defer r.out.Abort()
	dropped := r.o.Dropped
	if dropped == "" && r.o.Out != "" {
		dropped = strings.TrimSuffix(r.o.Out, filepath.Ext(r.o.Out)) + ".dropped.jsonl"
	}
	if r.drops, err = r.a.createOutput(dropped, r.o.DryRun); err != nil {
		return err
	}
	defer r.drops.Abort()
	for _, name := range names {
		if err := r.file(ctx, name); err != nil {
			return err
		}
	}
	if r.array {
		end := "\n]\n"
		if r.answer.Sums.Out == 0 {
			end = "[]\n"
		}
		if _, err := io.WriteString(r.out, end); err != nil {
			return err
		}
	}
	if r.answer.Sums.DroppedTotal() > 0 || r.o.Dropped != "" {
		r.answer.Dropped = dropped
		if err := r.drops.Commit(); err != nil {
			return err
		}
	}
	return r.out.Commit()
}

// file converts the rows of one input. What is wrong with it goes to bad; an
// error is of the disk or the context.
func (r *convertRun) file(ctx context.Context, name string) error {
	in, err := pipeline.OpenInput(ctx, name, format.Options{Encoding: r.o.Encoding, Workers: r.a.workers()}, r.a.note)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		r.bad = append(r.bad, fail.All(err)...)
		return nil
	}
	rows := 0
	for _, u := range in.Units {
		for b, err := range in.Kind.Document(u, r.a.note).Blocks(ctx) {
			var d *drydock.Drop
			switch {
			case ctx.Err() != nil:
				return context.Cause(ctx)
			case errors.As(err, &d):
				rows++
				if err := r.drop(in, d.Record.Origin.At, d.Reason, "", d.Detail, d.Record.Passage.Text); err != nil {
					return err
				}
				continue
			case err != nil:
				r.bad = append(r.bad, fail.All(err)...)
			case b.Raw == nil && b.Level > 0: // the name of a part of a JSON document
			default:
				rows++
				if err := r.row(in, b); err != nil {
					return err
				}
			}
		}
	}
	r.answer.Inputs = append(r.answer.Inputs, dedupInput{File: in.Name(), SHA256: in.File.SHA256, Rows: rows, Bytes: in.File.Size})
	return nil
}

// row converts and writes one row.
func (r *convertRun) row(in *pipeline.InputFile, b drydock.Block) error {
	if b.Raw == nil {
		return r.drop(in, b.At, "not_a_row", "", "a line or cell of "+in.Kind.Name+"; rows are JSON objects", b.Text+strings.Join(b.Cells, "\t"))
	}
	r.buf = r.buf[:0]
	switch {
	case r.array && r.answer.Sums.Out == 0:
		r.buf = append(r.buf, "[\n"...)
	case r.array:
		r.buf = append(r.buf, ",\n"...)
	}
	head := len(r.buf)
	out, err := r.conv.Row(r.buf, b.Raw)
	var no *emit.Refusal
	if errors.As(err, &no) {
		return r.drop(in, b.At, no.Reason, no.Field, no.Error(), string(b.Raw))
	}
	if err != nil {
		return err
	}
	if !r.array {
		out = append(out, '\n')
	}
	r.buf = out
	r.answer.Sums.In++
	r.answer.Sums.Out++
	pair, label := emit.Preference(out[head:])
	if pair {
		r.pairs++
	}
	if label {
		r.labels++
	}
	_, err = r.out.Write(out)
	return err
}

// maxTold is how many refused rows are named on the terminal; all of them are in
// the drop file.
const maxTold = 10

// drop writes a row that was not converted to the drop file.
func (r *convertRun) drop(in *pipeline.InputFile, at drydock.Locator, reason, field, detail, text string) error {
	r.answer.Sums.In++
	r.answer.Sums.Dropped[reason]++
	if r.refused++; r.refused <= maxTold {
		r.bad = append(r.bad, fail.New(fail.Partial, msg.Text{"not converted (%s): %s", "未转换（%s）：%s"}, reason, detail).
			At(fail.Where{File: in.Name(), Line: pipeline.LineOf(at)}))
	}
	line, err := drydock.MarshalJSON(droppedRow{
		ID: drydock.NewRowID("", in.Name(), at.String(), []byte(text)).String(), Step: "convert", Reason: reason, Field: field, Detail: detail, Text: text,
		Origin: droppedOrigin{File: in.Name(), SHA256: in.File.SHA256, Locator: at.String()},
	})
	if err != nil {
		return err
	}
	_, err = r.drops.Write(append(line, '\n'))
	return err
}

// droppedRow is a line of the drop file, as prep writes it.
type droppedRow struct {
	ID     string        `json:"id"`
	Step   string        `json:"step"`
	Reason string        `json:"reason"`
	Field  string        `json:"field,omitempty"`
	Detail string        `json:"detail"`
	Text   string        `json:"text"`
	Origin droppedOrigin `json:"origin"`
}

type droppedOrigin struct {
	Source  string `json:"source"`
	File    string `json:"file"`
	SHA256  string `json:"sha256"`
	Locator string `json:"locator"`
	License string `json:"license"`
}

// info makes the entry for dataset_info.json, which fits a file of one kind of
// rows only.
func (r *convertRun) info() {
	out := r.answer.Sums.Out
	if mixed := func(n int) bool { return n > 0 && n < out }; mixed(r.pairs) || mixed(r.labels) {
		r.bad = append(r.bad, fail.New(fail.Partial, msg.Text{
			"of %d rows %d are preference pairs and %d have a label: LLaMA-Factory wants a file for each kind",
			"%d 行中有 %d 行为偏好对、%d 行带标签：LLaMA-Factory 要求每种数据各用一个文件",
		}, out, r.pairs, r.labels))
		return
	}
	r.answer.Info = emit.DatasetInfo(filepath.Base(r.o.Out), r.pairs > 0, r.labels > 0)
}

func (v convertAnswer) text(t *ui.Terminal) {
	tb := t.Table(ui.Column{Title: msg.Text{"file", "文件"}}, ui.Column{Title: msg.Text{"rows", "行"}, Right: true})
	for _, in := range v.Inputs {
		tb.Row(in.File, fmt.Sprint(in.Rows))
	}
	tb.Print()
	t.Print(msg.Text{"%d in, %d converted to %s, %d dropped", "输入 %d，%d 行转为 %s，丢弃 %d"}, v.Sums.In, v.Sums.Out, v.To, v.Sums.DroppedTotal())
	if words := countWords(v.Sums.Dropped); words != "" {
		t.Print(msg.Text{"dropped: %s", "丢弃：%s"}, words)
	}
	if v.Info != nil {
		t.Print(msg.Text{"entry for dataset_info.json: %s", "dataset_info.json 条目：%s"}, v.Info)
	}
	if !v.DryRun {
		t.Print(msg.Text{"rows: %s", "数据行：%s"}, v.Out)
		if v.Dropped != "" {
			t.Print(msg.Text{"left out: %s", "未采用：%s"}, v.Dropped)
		}
	}
}
