package cli

import (
	"context"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/drydock-ml/drydock/dataprep/emit"
	"github.com/drydock-ml/drydock/dataprep/format"
	"github.com/drydock-ml/drydock/dataprep/rowfile"
	"github.com/drydock-ml/drydock/internal/convert"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
)

// ConvertOptions are the flags of convert.
type ConvertOptions struct {
	Inputs   []string
	Out      string
	From, To string
	Dropped  string
	Encoding string
	Layout   string
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
			"IN is a file or folder of rows: JSONL, JSON, Parquet, Arrow, or what datasets saves to disk. A row is converted without loss or not at all: the drop file names the field that has no place in the new format. Ids and foreign fields are kept, null is the same as no field, text parts are joined, and Alpaca's input follows its instruction on a line of its own, as trainers join them. A row whose field has another type than in the rows before it is left out, too, so that every column has one. Ids that stand in several inputs become SOURCE/ID. The ending of -o says how rows are written: .jsonl, .json, .parquet or .arrow; --layout makes a folder for Hugging Face's datasets. To LLaMA-Factory's formats the entry for dataset_info.json is written beside the rows.",
			"IN 为含数据行的文件或文件夹：JSONL、JSON、Parquet、Arrow，或 datasets 保存到磁盘的数据集。每行要么无损转换，要么不转换：丢弃文件会指出新格式容纳不下的字段。保留 id 和其他字段，null 等同于没有该字段，文本片段会合并，Alpaca 的 input 与训练器一样另起一行接在 instruction 之后。字段类型与此前各行不同的行也会被丢弃，以保证每列类型唯一。多个输入中重复的 id 写为 来源/id。-o 的后缀决定写法：.jsonl、.json、.parquet 或 .arrow；--layout 写出供 Hugging Face datasets 使用的文件夹。转为 LLaMA-Factory 格式时，会在数据旁写出 dataset_info.json 条目。",
		},
		examples: []example{
			{msg.Text{"ShareGPT as OpenAI messages", "ShareGPT 转为 OpenAI messages"}, "drydock convert data.json --from sharegpt -o out.jsonl"},
			{msg.Text{"a saved set of datasets as training rows for Qwen3", "将 datasets 保存的数据集转为 Qwen3 训练数据"}, "drydock convert saved/ --to qwen3_chat -o train.jsonl"},
			{msg.Text{"a folder that load_dataset opens", "load_dataset 可打开的文件夹"}, "drydock convert train.jsonl --to trl --layout hub -o set"},
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
	names := msg.List(emit.ConvertFormats())
	f := a.flags(c.Flags())
	f.output(&o.Out, "output", "o", msg.Text{"write the rows to `FILE`", "将数据行写入 `FILE`"})
	f.str(&o.From, "from", "", "", msg.Text{"format `NAME` of the rows (default: found row by row)", "数据行的格式 `NAME`（默认：逐行识别）"})
	f.str(&o.To, "to", "", "openai", msg.Text{"format `NAME` to write: " + names.In(msg.En), "写出的格式 `NAME`：" + names.In(msg.Zh)})
	f.output(&o.Dropped, "dropped", "", msg.Text{"write rows that could not be converted to `FILE` (default: beside -o)", "将无法转换的行写入 `FILE`（默认：与 -o 同目录）"})
	a.layout(c, f, &o.Layout)
	f.encoding(&o.Encoding)
	a.specialTokens(c, f, &o.SpecialTokens)
	f.dryRun(&o.DryRun)
	a.completeFunc(c, "to", emit.ConvertFormats)
	a.completeFunc(c, "from", emit.ConvertFormats)
	return c
}

// layout adds the flag that makes a folder of the output.
func (a *app) layout(c *cobra.Command, f flags, to *string) {
	f.str(to, "layout", "", "", msg.Text{
		"-o is a folder for Hugging Face's datasets: `hub|disk`, for load_dataset or load_from_disk",
		"-o 为供 Hugging Face datasets 使用的文件夹：`hub|disk`，分别用于 load_dataset 和 load_from_disk",
	})
	a.complete(c, "layout", rowfile.Layouts()...)
}

// keepFolder refuses an output folder that holds what is no part of a set, or an
// input: it would be replaced as a whole.
func keepFolder(out, layout string, inputs []string) error {
	if layout == "" || out == "" {
		return nil
	}
	for _, in := range inputs {
		if rel, err := filepath.Rel(out, in); err == nil && filepath.IsLocal(rel) {
			return fail.New(fail.Usage, msg.Text{"-o %s holds %s, which is an input, too", "-o %s 中的 %s 同时是输入"}, out, in)
		}
	}
	return rowfile.CheckFolder(out)
}

// kind says how the rows are written; a dry run without -o makes JSON Lines.
func (o *ConvertOptions) kind() (rowfile.Kind, error) {
	if o.Out == "" && o.Layout == "" {
		return rowfile.JSONL, nil
	}
	return rowfile.KindOf(o.Out, o.Layout)
}

func runConvert(ctx context.Context, a *app, o ConvertOptions) error {
	names, bad, err := o.check()
	if err != nil {
		return err
	}
	kind, err := o.kind()
	if err != nil {
		return err
	}
	res, refused, err := convert.Run(ctx, convert.Options{
		Inputs: names, Encoding: o.Encoding, From: o.From, To: o.To, EscapeSpecials: o.SpecialTokens == "escape",
		Out: o.Out, Kind: kind, Dropped: o.Dropped, DryRun: o.DryRun, Workers: a.workers(), Note: a.note,
	})
	if err != nil {
		return err
	}
	if err := a.answer(convertAnswer{res}); err != nil {
		return err
	}
	return append(bad, refused...).OrNil()
}

// check refuses what could not be done, or would destroy an input.
func (o *ConvertOptions) check() (names []string, bad fail.List, err error) {
	formats := emit.ConvertFormats()
	switch {
	case !slices.Contains(formats, o.To):
		return nil, nil, oneOf("--to", o.To, formats...)
	case o.From != "" && !slices.Contains(formats, o.From):
		return nil, nil, oneOf("--from", o.From, formats...)
	}
	if _, err := o.kind(); err != nil {
		return nil, nil, err
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
	if err := keepFolder(o.Out, o.Layout, names); err != nil {
		return nil, nil, err
	}
	return names, bad, keepApart(names, namedOutput{"-o", o.Out}, namedOutput{"--dropped", o.Dropped})
}
