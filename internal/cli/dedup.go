package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/dataprep/format"
	"github.com/drydock-ml/drydock/dedup"
	"github.com/drydock-ml/drydock/internal/atomicfile"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/pipeline"
	"github.com/drydock-ml/drydock/internal/ui"
)

// DedupOptions are the flags of dedup.
type DedupOptions struct {
	Inputs   []string
	Out      string
	Report   string
	Encoding string
	DryRun   bool
}

func newDedupCommand(a *app) *cobra.Command {
	var o DedupOptions
	c := a.command("dedup", about{
		use: "IN… -o FILE", args: someArgs("IN"),
		short: msg.Text{"Remove rows that say what another row says.", "去除与其他行内容相同的行。"},
		long: msg.Text{
			"IN is JSONL of questions, passages or chats. Width, case, traditional characters, spacing and the order of options do not make a difference. Of equal rows the first stays, of equal questions the first with an answer; one with another answer is dropped as a conflict. Rows that stay are byte for byte as they were; a row of no known shape stays and is reported.",
			"IN 为题目、段落或对话的 JSONL。全半角、大小写、繁简、空白和选项顺序不影响判断。相同的行保留第一条；相同的题目保留第一条有答案的；答案不同的作为冲突丢弃。保留的行逐字节不变；格式未知的行予以保留并报告。",
		},
		examples: []example{
			{msg.Text{"several files into one", "多个文件合并去重"}, "drydock dedup a.jsonl b.jsonl -o unique.jsonl"},
			{msg.Text{"with what was removed in favour of what", "并记录保留与去除的对应关系"}, "drydock dedup q.jsonl -o unique.jsonl --report pairs.jsonl"},
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
		return runDedup(cmd.Context(), a, o)
	}
	f := a.flags(c.Flags())
	f.output(&o.Out, "output", "o", msg.Text{"write the rows that stay to `FILE`", "将保留的行写入 `FILE`"})
	f.output(&o.Report, "report", "", msg.Text{"write the removed rows and what they repeat to `FILE`", "将去除的行及其重复对象写入 `FILE`"})
	f.encoding(&o.Encoding)
	f.dryRun(&o.DryRun)
	return c
}

// dedupAnswer says what became of the rows.
type dedupAnswer struct {
	Schema  string       `json:"schema"`
	Inputs  []dedupInput `json:"inputs"`
	Sums    drydock.Sums `json:"sums"`
	Unknown int          `json:"unknown"` // rows of no known shape: kept, not compared
	Out     string       `json:"out,omitempty"`
	Report  string       `json:"report,omitempty"`
	DryRun  bool         `json:"dry_run,omitempty"`
}

type dedupInput struct {
	File   string `json:"file"`
	SHA256 string `json:"sha256"`
	Rows   int    `json:"rows"`
	Bytes  int64  `json:"bytes"`
}

// dedupRun reads the rows twice: to compare them all, and to write those that
// stay.
type dedupRun struct {
	a      *app
	exact  *dedup.Remover
	files  []*pipeline.InputFile
	answer dedupAnswer
	bad    fail.List
}

func runDedup(ctx context.Context, a *app, o DedupOptions) error {
	if err := format.CheckEncoding(o.Encoding); err != nil {
		return err
	}
	names, bad, err := expandInputs(o.Inputs)
	if err != nil {
		return err
	}
	for flag, out := range map[string]string{"-o": o.Out, "--report": o.Report} {
		if err := keepInputs(flag, out, names); err != nil {
			return err
		}
	}
	d := &dedupRun{a: a, exact: dedup.New(dedup.Options{}), bad: bad}
	d.answer = dedupAnswer{Schema: "drydock.dedup/1", Inputs: []dedupInput{}, Out: o.Out, Report: o.Report, DryRun: o.DryRun}
	for _, name := range names {
		if err := d.open(ctx, name, o.Encoding); err != nil {
			return err
		}
	}
	if len(d.files) == 0 {
		return d.bad.OrNil()
	}
	if err := d.compare(ctx); err != nil {
		return err
	}
	if err := d.write(ctx, o); err != nil {
		return err
	}
	if err := d.answer.Sums.Close(); err != nil {
		return fail.Bug(err)
	}
	if err := a.answer(d.answer); err != nil {
		return err
	}
	return d.bad.OrNil()
}

func (d *dedupRun) open(ctx context.Context, name, encoding string) error {
	in, err := d.a.openInput(ctx, name, format.Options{Encoding: encoding}, d.a.note)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		d.bad = append(d.bad, fail.All(err)...)
		return nil
	}
	if in.Kind.Name != "jsonl" && in.Kind.Name != "json" {
		d.bad = append(d.bad, fail.New(fail.Partial, msg.Text{"%s holds no rows but is %s", "%s 不是数据行，而是 %s"}, in.Name(), in.Kind.Name).
			Hint(msg.Text{"drydock prep makes rows of it", "请先用 drydock prep 转换为数据行"}))
		return nil
	}
	d.files = append(d.files, in)
	d.answer.Inputs = append(d.answer.Inputs, dedupInput{File: in.Name(), SHA256: in.File.SHA256, Bytes: in.File.Size})
	return nil
}

// rows reads a unit and hands each row to f: with its record, or nil when the
// row has no known shape.
func (d *dedupRun) rows(ctx context.Context, in *pipeline.InputFile, u format.Unit, f func(raw []byte, r *drydock.Record) error) (bad fail.List, err error) {
	for b, err := range in.Kind.Document(u, nil).Blocks(ctx) {
		var drop *drydock.Drop
		switch {
		case errors.As(err, &drop):
			bad = append(bad, pipeline.BadBlock(drop))
			continue
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case err != nil:
			return append(bad, fail.All(err)...), nil
		}
		r, why := pipeline.DecodeRow(b.Raw)
		if r == nil {
			bad = append(bad, fail.New(fail.Partial, msg.Text{"kept, not compared: %s", "已保留，未比较：%s"}, why).
				At(fail.Where{File: in.Name(), Line: pipeline.LineOf(b.At)}))
		} else {
			r.ID = drydock.NewID("", in.Name(), b.At.String(), string(b.Raw))
			r.Origin = drydock.Origin{File: in.File.File, At: b.At}
		}
		if err := f(b.Raw, r); err != nil {
			return nil, err
		}
	}
	return bad, nil
}

// compare sketches every row and decides.
func (d *dedupRun) compare(ctx context.Context) error {
	number := 0
	for i, in := range d.files {
		bads := make([]fail.List, len(in.Units))
		counts := make([]int, len(in.Units))
		first := number
		number += len(in.Units)
		err := d.a.inOrder(ctx, len(in.Units), func(ctx context.Context, k int) error {
			sketch := d.exact.Sketch(first + k)
			var err error
			bads[k], err = d.rows(ctx, in, in.Units[k], func(_ []byte, r *drydock.Record) error {
				counts[k]++
				if r == nil {
					return nil
				}
				return sketch(ctx, []*drydock.Record{r})
			})
			return err
		}, func(k int) error {
			d.bad = append(d.bad, bads[k]...)
			d.answer.Inputs[i].Rows += counts[k]
			d.answer.Sums.In += counts[k]
			return nil
		})
		if err != nil {
			return err
		}
	}
	return d.exact.Decide(ctx)
}

// write writes the rows that stay, in order, and the pairs.
func (d *dedupRun) write(ctx context.Context, o DedupOptions) error {
	out, err := d.a.createOutput(o.Out, o.DryRun)
	if err != nil {
		return err
	}
	defer out.Abort()
	d.answer.Sums.Dropped = map[string]int{}
	for _, in := range d.files {
		kept := make([]keptRows, len(in.Units))
		err := d.a.inOrder(ctx, len(in.Units), func(ctx context.Context, k int) error {
			return d.keep(ctx, in, in.Units[k], &kept[k])
		}, func(k int) error {
			d.answer.Sums.Out += kept[k].out
			d.answer.Unknown += kept[k].unknown
			for reason, n := range kept[k].dropped {
				d.answer.Sums.Dropped[reason] += n
			}
			_, err := out.Write(kept[k].rows)
			kept[k].rows = nil
			return err
		})
		if err != nil {
			return err
		}
	}
	if err := out.Commit(); err != nil {
		return err
	}
	return d.report(o)
}

// keptRows is what stays of one unit.
type keptRows struct {
	rows         []byte
	out, unknown int
	dropped      map[string]int
}

func (d *dedupRun) keep(ctx context.Context, in *pipeline.InputFile, u format.Unit, k *keptRows) error {
	k.dropped = map[string]int{}
	_, err := d.rows(ctx, in, u, func(raw []byte, r *drydock.Record) error {
		if r == nil {
			k.unknown++
		} else {
			_, dropped, err := d.exact.Do(ctx, []*drydock.Record{r})
			if err != nil {
				return err
			}
			if len(dropped) > 0 {
				k.dropped[dropped[0].Reason]++
				return nil
			}
		}
		k.out++
		k.rows = append(append(k.rows, raw...), '\n')
		return nil
	})
	return err
}

func (d *dedupRun) report(o DedupOptions) error {
	if o.Report == "" || o.DryRun {
		return nil
	}
	f, err := atomicfile.Create(o.Report)
	if err != nil {
		return err
	}
	defer f.Abort()
	var buf []byte
	for _, p := range d.exact.Pairs() {
		buf = p.AppendJSON(buf[:0])
		if _, err := f.Write(buf); err != nil {
			return err
		}
	}
	return f.Commit()
}

func (d dedupAnswer) text(t *ui.Terminal) {
	tb := t.Table(ui.Column{Title: msg.Text{"file", "文件"}}, ui.Column{Title: msg.Text{"rows", "行数"}, Right: true}, ui.Column{Title: msg.Text{"bytes", "大小"}})
	for _, in := range d.Inputs {
		tb.Row(in.File, fmt.Sprint(in.Rows), ui.Size(in.Bytes))
	}
	tb.Print()
	t.Print(msg.Text{"%d in, %d kept, %d {duplicate|duplicates}, %d conflicting {answer|answers}", "输入 %d，保留 %d，重复 %d，答案冲突 %d"},
		d.Sums.In, d.Sums.Out, d.Sums.Dropped[dedup.Duplicate], d.Sums.Dropped[dedup.Conflict])
	if d.Out != "" && !d.DryRun {
		t.Print(msg.Text{"rows: %s", "数据行：%s"}, filepath.ToSlash(d.Out))
	}
	if d.Report != "" && !d.DryRun {
		t.Print(msg.Text{"removed: %s", "已去除：%s"}, filepath.ToSlash(d.Report))
	}
}
