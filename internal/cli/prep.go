package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/drydock-ml/drydock/dataprep/emit"
	"github.com/drydock-ml/drydock/dataprep/question"
	"github.com/drydock-ml/drydock/dataprep/rowfile"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/pipeline"
	"github.com/drydock-ml/drydock/internal/spec"
	"github.com/drydock-ml/drydock/internal/ui"
	"github.com/drydock-ml/drydock/provenance"
)

// PrepOptions are the flags of prep.
type PrepOptions struct {
	Sources []string
	pipeline.PrepOptions
	Limit   int
	Seed    int
	Explain bool
	DryRun  bool
}

func newPrepCommand(a *app) *cobra.Command {
	var o PrepOptions
	c := a.command("prep", about{
		use: "SRC… -o FILE", args: someArgs("SRC"),
		short: msg.Text{"Turn source files into questions, passages or training rows.", "将来源文件转换为题目、段落或训练数据。"},
		long: msg.Text{
			"SRC is a file, a folder or a pattern. Every block that did not become a row is in the drop file with its reason and place. With question and passage, letters and order of the source are kept; qwen3_chat shuffles the options.",
			"SRC 为文件、目录或通配模式。未成为数据行的内容都会连同原因和位置写入丢弃文件。question 和 passage 保留原字母与顺序；qwen3_chat 会打乱选项。",
		},
		examples: []example{
			{msg.Text{"the questions of a bank", "题库中的题目"}, "drydock prep bank.pdf --to question -o q.jsonl --dropped d.jsonl"},
			{msg.Text{"answers in a second file", "答案在另一个文件中"}, "drydock prep bank.docx --key answers.docx -o q.jsonl"},
			{msg.Text{"a scanned bank", "扫描版题库"}, `drydock prep scan.pdf --ocr-command "tesseract {} - -l chi_sim+eng" -o q.jsonl`},
			{msg.Text{"training rows", "训练数据"}, "drydock prep raw/ --to qwen3_chat --license CC-BY-4.0 -o train.jsonl"},
		},
		exits: []int{3},
	}, nil)
	c.RunE = func(cmd *cobra.Command, args []string) error {
		if err := a.require(cmd, "output", o.Out); err != nil {
			return err
		}
		o.Sources = args
		return runPrep(cmd.Context(), a, o)
	}
	shapes := msg.List(spec.Names(emit.Emitters()))
	f := a.flags(c.Flags())
	f.output(&o.Out, "output", "o", msg.Text{"write rows to `FILE`", "将数据行写入 `FILE`"})
	f.str(&o.To, "to", "", "question", msg.Text{"row shape `SHAPE`: " + shapes.In(msg.En), "行格式 `SHAPE`：" + shapes.In(msg.Zh)})
	f.str(&o.Contract, "contract", "", "", msg.Text{"template contract `NAME` of training rows: empty-think (default), empty-think-masked, cot, plain", "训练数据的模板约定 `NAME`：empty-think（默认）、empty-think-masked、cot、plain"})
	a.layout(c, f, &o.Layout)
	f.str(&o.Key, "key", "", "", msg.Text{"answers stand in `FILE`", "答案在 `FILE` 中"})
	f.output(&o.Images, "images", "", msg.Text{"copy the images of questions to folder `DIR`, as FILE/NAME", "将题目的图片复制到文件夹 `DIR`，路径为 FILE/NAME"})
	f.str(&o.Fixes, "fixes", "", "", msg.Text{"apply the corrections in `FILE`, which drydock question review writes", "应用 `FILE` 中的修正（由 drydock question review 写出）"})
	f.str(&o.Lang, "source-lang", "", "", msg.Text{"language `TAG` of the sources (default: found per record)", "来源的语言 `TAG`（默认：逐条识别）"})
	f.str(&o.License, "license", "", "", msg.Text{"terms of the sources: SPDX id or `TEXT`", "来源的许可：SPDX 标识或 `TEXT`"})
	f.output(&o.Dropped, "dropped", "", msg.Text{"write what was left out to `FILE` (default: beside -o)", "将未采用的内容写入 `FILE`（默认：与 -o 同目录）"})
	f.gate(&o.AllowRestricted, "allow-restricted", "", msg.Text{"read PDF files whose owner forbids extraction", "读取所有者禁止提取内容的 PDF"})
	f.str(&o.PasswordFile, "password-file", "", "", msg.Text{"`FILE` with the password of encrypted sources", "含加密来源密码的 `FILE`"})
	f.str(&o.OCRCommand, "ocr-command", "", "", msg.Text{"read PDF pages that are only a picture with `CMD`; {} is the picture", "用 `CMD` 识别仅有图片的 PDF 页面；{} 为图片路径"})
	f.encoding(&o.Encoding)
	f.str(&o.HTML, "html", "", "main", msg.Text{"what of web pages to read, `PART`: main (the content) or whole", "读取网页的范围 `PART`：main（正文）或 whole（整页）"})
	f.int(&o.Limit, "limit", "", 0, msg.Text{"read at most `N` records of each file (0: all)", "每个文件最多读取 `N` 条记录（0：全部）"})
	f.bool(&o.Explain, "explain", "", msg.Text{"say how each section was read, and what else it could have been", "说明每个部分按何种版式读取，以及次优的读法"})
	f.str(&o.NoOptions, "no-options", "", "drop", msg.Text{"questions that lack their options: `WHAT` is drop or short", "缺少选项的题目：`WHAT` 为 drop 或 short"})
	f.float(&o.MinConfidence, "min-confidence", "", question.DefaultBar, msg.Text{"drop questions below confidence `X`, 0 to 1", "丢弃可信度低于 `X`（0 到 1）的题目"})
	a.specialTokens(c, f, &o.SpecialTokens)
	f.dryRun(&o.DryRun)
	f.int(&o.Seed, "seed", "", 0, msg.Text{"seed `N` of shuffled options", "打乱选项的种子 `N`"})
	a.completeFunc(c, "to", func() []string { return spec.Names(emit.Emitters()) })
	a.complete(c, "contract", "empty-think", "empty-think-masked", "cot", "plain")
	return c
}

func runPrep(ctx context.Context, a *app, o PrepOptions) error {
	if err := o.check(); err != nil {
		return err
	}
	switch {
	case o.DryRun:
		return o.dryRun(ctx, a)
	case o.Out == "-":
		return o.toStdout(ctx, a)
	}
	res, err := o.prep(ctx, a, a.term)
	if res == nil {
		return err
	}
	if aerr := a.answer(prepAnswer{"drydock.prep/1", res, false, o.Explain}); aerr != nil {
		return aerr
	}
	return err
}

// toStdout writes the rows to stdout, so what would be the result goes to
// stderr.
func (o PrepOptions) toStdout(ctx context.Context, a *app) error {
	dir, err := os.MkdirTemp("", "drydock-prep-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	o.Out = filepath.Join(dir, "rows.jsonl")
	term := ui.New(a.terminalConfig(true))
	res, err := o.prep(ctx, a, term)
	if res == nil {
		return err
	}
	rows, rerr := os.ReadFile(o.Out)
	if rerr != nil {
		return rerr
	}
	if _, werr := a.term.Write(rows); werr != nil {
		return werr
	}
	if !a.term.JSON() {
		res.Out = "-"
		prepAnswer{"drydock.prep/1", res, false, o.Explain}.text(term)
	}
	return err
}

// dryRun reads everything and counts, and leaves no file.
func (o PrepOptions) dryRun(ctx context.Context, a *app) error {
	dir, err := os.MkdirTemp("", "drydock-prep-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	out, dropped := o.Out, o.Dropped
	o.Out, o.Dropped = filepath.Join(dir, "rows.jsonl"), filepath.Join(dir, "dropped.jsonl")
	res, err := o.prep(ctx, a, a.term)
	if res == nil {
		return err
	}
	res.Out, res.Dropped, res.Sidecar = out, dropped, ""
	if aerr := a.answer(prepAnswer{"drydock.prep/1", res, true, o.Explain}); aerr != nil {
		return aerr
	}
	return err
}

// check refuses what could not be done, or would destroy an input.
func (o PrepOptions) check() error {
	if _, ok := spec.Find(emit.Emitters(), o.To); !ok {
		return oneOf("--to", o.To, spec.Names(emit.Emitters())...)
	}
	if err := checkSpecialTokens(o.SpecialTokens); err != nil {
		return err
	}
	if o.HTML != "main" && o.HTML != "whole" {
		return oneOf("--html", o.HTML, "main", "whole")
	}
	if o.NoOptions != "drop" && o.NoOptions != "short" {
		return oneOf("--no-options", o.NoOptions, "drop", "short")
	}
	if o.MinConfidence < 0 || o.MinConfidence > 1 {
		return fail.New(fail.Usage, msg.Text{"--min-confidence %g: want a number from 0 to 1", "--min-confidence %g：应为 0 到 1 之间的数"}, o.MinConfidence)
	}
	for _, out := range [][2]string{{"-o", o.Out}, {"--dropped", o.Dropped}} {
		if err := keepInputs(out[0], out[1], append(o.Sources, o.Key)); err != nil {
			return err
		}
	}
	if o.Out == "-" && o.Layout == "" {
		// lines, as below
	} else if _, err := rowfile.KindOf(o.Out, o.Layout); err != nil {
		return err
	}
	if err := keepFolder(o.Out, o.Layout, o.Sources); err != nil {
		return err
	}
	if o.Seed < 0 {
		return fail.New(fail.Usage, msg.Text{"--seed %d: must not be negative", "--seed %d：不能为负数"}, o.Seed)
	}
	if o.Out == "-" && o.Dropped == "" {
		return fail.New(fail.Usage, msg.Text{"-o - needs --dropped, so that nothing disappears", "使用 -o - 时必须指定 --dropped，以免内容丢失"})
	}
	for _, name := range append([]string{o.Key}, o.Sources...) {
		if err := noStdin(name); err != nil {
			return err
		}
	}
	return nil
}

// prep runs the pipeline and shows how far it is. A result may come with an
// error that names the inputs which could not be read.
func (o PrepOptions) prep(ctx context.Context, a *app, term *ui.Terminal) (*pipeline.PrepResult, error) {
	env, err := a.pipelineEnv()
	if err != nil {
		return nil, err
	}
	p := textRun{t: term}
	defer p.endProgress()
	po := o.PrepOptions
	po.Inputs, po.Seed = o.Sources, uint64(o.Seed)
	po.Options = pipeline.Options{Workers: a.workers(), Limit: o.Limit, Explain: o.Explain, Observe: func(e pipeline.Event) {
		if e.Type == "progress" {
			p.event(e)
		}
	}}
	return pipeline.Prep(ctx, po, env)
}

type prepAnswer struct {
	Schema string `json:"schema"`
	*pipeline.PrepResult
	DryRun  bool `json:"dry_run,omitempty"`
	Explain bool `json:"-"`
}

func (r prepAnswer) text(t *ui.Terminal) {
	tb := t.Table(
		ui.Column{Title: msg.Text{"file", "文件"}}, ui.Column{Title: msg.Text{"format", "格式"}},
		ui.Column{Title: msg.Text{"records", "记录"}, Right: true}, ui.Column{Title: msg.Text{"kinds", "种类"}},
		ui.Column{Title: msg.Text{"dropped", "丢弃"}},
	).Wrapped()
	for _, in := range r.Inputs {
		tb.Row(in.File, in.Format, fmt.Sprint(in.Records), kindCounts(t, in.Kinds), countWords(in.Dropped).In(t.Lang()))
	}
	tb.Print()
	printSections(t, r.Inputs, r.Explain)
	if r.Explain {
		explainSections(t, r.Inputs)
	}
	for _, l := range conflictLines(t, r.Conflicts) {
		t.Println(l)
	}
	printNotes(t, r.Notes)
	t.Print(msg.Text{"%d found = %d {row|rows} + %d dropped + %d merged", "共发现 %d = 数据行 %d + 丢弃 %d + 合并 %d"},
		r.Sums.In+r.Sums.Made, r.Sums.Out, r.Sums.DroppedTotal(), r.Sums.Merged)
	switch words := countWords(r.Sums.Dropped); {
	case len(words) == 0:
	case t.OutTTY():
		t.Print(msg.Text{"dropped:", "丢弃："})
		for _, l := range meaningLines(t, r.Sums.Dropped, provenance.ReasonMeaning) {
			t.Prose("  " + l)
		}
	default:
		t.Print(msg.Text{"dropped: %s", "丢弃：%s"}, words)
	}
	if !r.DryRun {
		t.Print(msg.Text{"rows: %s", "数据行：%s"}, r.Out)
		printFixes(t, r.Fixes)
		if m := r.Images; m != nil {
			t.Print(msg.Text{"images: %d, in %s", "图片：%d 张，位于 %s"}, m.Files, m.Dir)
		}
		if r.Info != "" {
			t.Print(msg.Text{"entry for LLaMA-Factory: %s", "LLaMA-Factory 条目：%s"}, r.Info)
		}
		if r.Dropped != "" {
			t.Print(msg.Text{"left out: %s", "未采用：%s"}, r.Dropped)
		}
	}
	if len(r.Settings) > 0 {
		t.Print(msg.Text{"settings of the trainer that belong to the rows:", "与这些数据配套的训练器设置："})
		for _, l := range r.Settings {
			t.Print(msg.Text{"  %s", "  %s"}, l)
		}
	}
	for _, l := range lettersText(t, r.Letters) {
		t.Print(msg.Text{"answers of %s", "答案分布，%s"}, l)
	}
}
