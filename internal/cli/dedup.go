package cli

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

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
	Inputs    []string
	Out       string
	Removed   string
	Report    string
	Threshold float64
	Prefer    []string
	Encoding  string
	DryRun    bool
}

func newDedupCommand(a *app) *cobra.Command {
	var o DedupOptions
	c := a.command("dedup", about{
		use: "IN… -o FILE", args: someArgs("IN"),
		short: msg.Text{"Remove rows that say what another row says.", "去除与其他行内容相同或近似的行。"},
		long: msg.Text{
			"IN is JSONL of questions, passages or chats. Width, case, traditional characters, spacing and the order of options do not make a difference. Rows that differ in few letters are near duplicates and go, too, unless what differs counts: another number, unit, polarity, symbol or answer makes another row, which stays and is listed in the report. The first row of the preferred file stays, of questions one with an answer; the same question with another answer is dropped as a conflict, a chat with another answer stays. Rows that stay are byte for byte as they were; a row of no known shape stays and is reported.",
			"IN 为题目、段落或对话的 JSONL。全半角、大小写、繁简、空白和选项顺序不影响判断。仅少数字不同的行为近似重复，同样去除；但差异涉及数字、单位、正反义、符号或答案时视为不同的行，予以保留并列入报告。保留优先文件中的第一条，题目优先保留有答案的；同一题目答案不同的作为冲突丢弃，对话的不同回答予以保留。保留的行逐字节不变；格式未知的行予以保留并报告。",
		},
		examples: []example{
			{msg.Text{"several files into one", "多个文件合并去重"}, "drydock dedup a.jsonl b.jsonl -o unique.jsonl"},
			{msg.Text{"with what was removed in favour of what, and what only looks alike", "并记录保留与去除的对应关系及仅相似的行"}, "drydock dedup q.jsonl -o unique.jsonl --report pairs.jsonl"},
			{msg.Text{"the checked bank before what was scraped", "优先保留已校对题库"}, "drydock dedup scraped.jsonl bank.jsonl --prefer bank.jsonl -o unique.jsonl"},
			{msg.Text{"equal rows only", "仅去除相同的行"}, "drydock dedup q.jsonl --threshold 1 -o unique.jsonl"},
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
	f.output(&o.Removed, "removed", "", msg.Text{"write the removed rows, as they were, to `FILE`", "将去除的行原样写入 `FILE`"})
	f.output(&o.Report, "report", "", msg.Text{"write the removed rows and what they repeat to `FILE`", "将去除的行及其重复对象写入 `FILE`"})
	f.float(&o.Threshold, "threshold", "", dedup.DefaultThreshold, msg.Text{"least similarity `N` of near duplicates, above 0.5; 1: equal rows only", "近似重复的最低相似度 `N`，大于 0.5；1 表示仅去除相同的行"})
	f.strs(&o.Prefer, "prefer", "", msg.Text{"rows of `FILE` or folder stay before others; repeat in order", "优先保留 `FILE` 或文件夹中的行；可按优先顺序重复"})
	f.encoding(&o.Encoding)
	f.dryRun(&o.DryRun)
	return c
}

// dedupAnswer says what became of the rows.
type dedupAnswer struct {
	Schema    string               `json:"schema"`
	Inputs    []pipeline.InputRows `json:"inputs"`
	Sums      drydock.Sums         `json:"sums"`
	Threshold float64              `json:"threshold"`
	Clusters  int                  `json:"clusters"` // rows that stay for others
	Listed    map[string]int       `json:"listed"`   // rows that look like another and stay, by reason
	Unknown   int                  `json:"unknown"`  // rows of no known shape: kept, not compared
	Out       string               `json:"out,omitempty"`
	Removed   string               `json:"removed,omitempty"`
	Report    string               `json:"report,omitempty"`
	DryRun    bool                 `json:"dry_run,omitempty"`
}

// dedupRun reads the rows twice: to compare them all, and to write those that
// stay.
type dedupRun struct {
	a       *app
	remover *dedup.Remover
	members pipeline.Members
	files   []*pipeline.InputFile
	answer  dedupAnswer
	bad     fail.List
}

func runDedup(ctx context.Context, a *app, o DedupOptions) (err error) {
	if err := format.CheckEncoding(o.Encoding); err != nil {
		return err
	}
	if !(o.Threshold > 0.5 && o.Threshold <= 1) {
		return fail.New(fail.Usage, msg.Text{"--threshold %v is not above 0.5 and up to 1", "--threshold %v 不在 0.5（不含）到 1 之间"}, o.Threshold)
	}
	names, bad, err := expandInputs(o.Inputs)
	if err != nil {
		return err
	}
	if err := keepApart(names, namedOutput{"-o", o.Out}, namedOutput{"--removed", o.Removed}, namedOutput{"--report", o.Report}); err != nil {
		return err
	}
	prefer, err := preferred(o.Prefer, names)
	if err != nil {
		return err
	}
	d := &dedupRun{a: a, bad: bad, remover: dedup.New(dedup.Options{
		Threshold: o.Threshold, Workers: a.workers(), Prefer: prefer, Dir: waitingDir(o),
	})}
	defer func() {
		if e := errors.Join(d.remover.Close(), d.members.Close()); err == nil {
			err = e
		}
	}()
	d.members.Dir = waitingDir(o)
	d.answer = dedupAnswer{
		Schema: "drydock.dedup/1", Inputs: []pipeline.InputRows{}, Threshold: o.Threshold,
		Out: o.Out, Removed: o.Removed, Report: o.Report, DryRun: o.DryRun,
	}
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

// waitingDir is where texts wait that do not fit into memory: beside the output,
// where there is room.
func waitingDir(o DedupOptions) string {
	if o.DryRun || o.Out == "" {
		return ""
	}
	dir := filepath.Dir(o.Out)
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return ""
	}
	return dir
}

// preferred ranks the inputs by the files and folders that --prefer names.
func preferred(order, names []string) (func(*drydock.File) int, error) {
	if len(order) == 0 {
		return nil, nil
	}
	rank := map[string]int{}
	for i, p := range order {
		p = filepath.Clean(p)
		found := false
		for _, name := range names {
			clean := filepath.Clean(name)
			if clean != p && !strings.HasPrefix(clean, p+string(filepath.Separator)) {
				continue
			}
			found = true
			if _, ranked := rank[filepath.ToSlash(name)]; !ranked {
				rank[filepath.ToSlash(name)] = i
			}
		}
		if !found {
			return nil, fail.New(fail.Usage, msg.Text{"--prefer %s is none of the inputs", "--prefer %s 不在输入之中"}, order[i]).
				Hint(msg.Text{"name a file or folder as it stands among the inputs", "请按输入中的写法指定文件或文件夹"})
		}
	}
	return func(f *drydock.File) int {
		outer, _, _ := strings.Cut(f.Name, "!") // of a file in an archive
		for _, name := range [...]string{f.Name, outer} {
			if i, ok := rank[name]; ok {
				return i
			}
		}
		return len(order)
	}, nil
}

func (d *dedupRun) open(ctx context.Context, name, encoding string) error {
	files, bad, err := d.members.OpenInputs(ctx, name, format.Options{Encoding: encoding}, d.a.note)
	if err != nil {
		return err
	}
	d.bad = append(d.bad, bad...)
	for _, in := range files {
		if !in.Kind.HoldsRows() {
			d.bad = append(d.bad, fail.New(fail.Partial, msg.Text{"%s holds no rows but is %s", "%s 不是数据行，而是 %s"}, in.Name(), in.Kind.Name).
				Hint(msg.Text{"drydock prep makes rows of it", "请先用 drydock prep 转换为数据行"}))
			continue
		}
		d.files = append(d.files, in)
		d.answer.Inputs = append(d.answer.Inputs, pipeline.InputRows{File: in.Name(), SHA256: in.File.SHA256, Bytes: in.File.Size})
	}
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
			r.ID = drydock.NewRowID("", in.Name(), b.At.String(), b.Raw)
			r.Origin = drydock.Origin{File: in.File.File, At: b.At}
		}
		if err := f(b.Raw, r); err != nil {
			return nil, err
		}
	}
	return bad, nil
}

// sketchBatch is how many rows are sketched at once.
const sketchBatch = 512

// compare sketches every row and decides.
func (d *dedupRun) compare(ctx context.Context) error {
	number := 0
	for i, in := range d.files {
		bads := make([]fail.List, len(in.Units))
		counts := make([]int, len(in.Units))
		first := number
		number += len(in.Units)
		err := d.a.inOrder(ctx, len(in.Units), func(ctx context.Context, k int) (err error) {
			bads[k], counts[k], err = d.sketch(ctx, in, k, first+k)
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
	return d.remover.Decide(ctx)
}

// sketch reads unit k of a file, which is unit number of all.
func (d *dedupRun) sketch(ctx context.Context, in *pipeline.InputFile, k, number int) (bad fail.List, rows int, err error) {
	sketch := d.remover.Sketch(number)
	batch := make([]*drydock.Record, 0, sketchBatch)
	flush := func() error {
		err := sketch(ctx, batch)
		batch = batch[:0]
		return err
	}
	bad, err = d.rows(ctx, in, in.Units[k], func(_ []byte, r *drydock.Record) error {
		rows++
		if r == nil {
			return nil
		}
		if batch = append(batch, r); len(batch) < sketchBatch {
			return nil
		}
		return flush()
	})
	if err != nil {
		return nil, 0, err
	}
	return bad, rows, flush()
}

// write writes the rows that stay and those that go, in order, and the pairs.
func (d *dedupRun) write(ctx context.Context, o DedupOptions) error {
	out, err := atomicfile.CreateUnless(o.DryRun, o.Out)
	if err != nil {
		return err
	}
	defer out.Abort()
	gone, err := atomicfile.CreateUnless(o.DryRun, o.Removed)
	if err != nil {
		return err
	}
	defer gone.Abort()
	d.answer.Sums.Dropped = map[string]int{}
	for _, in := range d.files {
		kept := make([]keptRows, len(in.Units))
		err := d.a.inOrder(ctx, len(in.Units), func(ctx context.Context, k int) error {
			return d.keep(ctx, in, in.Units[k], &kept[k], o.Removed != "")
		}, func(k int) error {
			d.answer.Sums.Out += kept[k].out
			d.answer.Unknown += kept[k].unknown
			for reason, n := range kept[k].dropped {
				d.answer.Sums.Dropped[reason] += n
			}
			if _, err := gone.Write(kept[k].gone); err != nil {
				return err
			}
			_, err := out.Write(kept[k].rows)
			kept[k] = keptRows{}
			return err
		})
		if err != nil {
			return err
		}
	}
	if err := gone.Commit(); err != nil {
		return err
	}
	if err := out.Commit(); err != nil {
		return err
	}
	return d.report(o)
}

// keptRows is what stays of one unit, and what does not when that is asked for.
type keptRows struct {
	rows, gone   []byte
	out, unknown int
	dropped      map[string]int
}

func (d *dedupRun) keep(ctx context.Context, in *pipeline.InputFile, u format.Unit, k *keptRows, gone bool) error {
	k.dropped = map[string]int{}
	_, err := d.rows(ctx, in, u, func(raw []byte, r *drydock.Record) error {
		if r == nil {
			k.unknown++
		} else {
			_, dropped, err := d.remover.Do(ctx, []*drydock.Record{r})
			if err != nil {
				return err
			}
			if len(dropped) > 0 {
				k.dropped[dropped[0].Reason]++
				if gone {
					k.gone = append(append(k.gone, raw...), '\n')
				}
				return nil
			}
		}
		k.out++
		k.rows = append(append(k.rows, raw...), '\n')
		return nil
	})
	return err
}

// report counts the pairs and writes them.
func (d *dedupRun) report(o DedupOptions) error {
	f, err := atomicfile.CreateUnless(o.DryRun, o.Report)
	if err != nil {
		return err
	}
	defer f.Abort()
	t, err := d.remover.WritePairs(f)
	if err != nil {
		return err
	}
	d.answer.Clusters, d.answer.Listed = t.Clusters, t.Listed
	return f.Commit()
}

func (d dedupAnswer) text(t *ui.Terminal) {
	tb := t.Table(ui.Column{Title: msg.Text{"file", "文件"}}, ui.Column{Title: msg.Text{"rows", "行数"}, Right: true}, ui.Column{Title: msg.Text{"bytes", "大小"}})
	for _, in := range d.Inputs {
		tb.Row(in.File, fmt.Sprint(in.Rows), ui.Size(in.Bytes))
	}
	tb.Print()
	near := d.Sums.Dropped[dedup.Near]
	t.Print(msg.Text{"%d in, %d kept, %d {duplicate|duplicates}, %d conflicting {answer|answers}", "输入 %d，保留 %d，重复 %d，答案冲突 %d"},
		d.Sums.In, d.Sums.Out, d.Sums.Dropped[dedup.Duplicate]+near, d.Sums.Dropped[dedup.Conflict])
	if near > 0 {
		t.Print(msg.Text{"%d of the duplicates {is|are} near, not equal (similarity from %v)", "其中 %d 条为近似重复（相似度不低于 %v）"}, near, d.Threshold)
	}
	if len(d.Listed) > 0 {
		t.Print(msg.Text{"alike, and kept: %s", "相似但保留：%s"}, listedWords(d.Listed))
		if d.Report == "" {
			t.Note(msg.Text{"--report FILE shows each beside what it resembles", "--report FILE 会逐条列出其相似对象"})
		}
	}
	for _, f := range []struct {
		name string
		what msg.Text
	}{
		{d.Out, msg.Text{"rows: %s", "数据行：%s"}},
		{d.Removed, msg.Text{"removed rows: %s", "去除的行：%s"}},
		{d.Report, msg.Text{"removed: %s", "已去除：%s"}},
	} {
		if f.name != "" && !d.DryRun {
			t.Print(f.what, filepath.ToSlash(f.name))
		}
	}
}

// listedWords says why rows that look like another stay.
type listedWords map[string]int

// In implements msg.Localizer.
func (l listedWords) In(lang msg.Lang) string {
	var out []string
	for _, r := range slices.Sorted(maps.Keys(l)) {
		out = append(out, fmt.Sprintf("%s %d", listedWord(r).In(lang), l[r]))
	}
	return strings.Join(out, msg.Text{", ", "，"}.In(lang))
}

func listedWord(reason string) msg.Text {
	switch reason {
	case dedup.OtherAnswer:
		return msg.Text{"another answer", "答案不同"}
	case dedup.OtherNumber:
		return msg.Text{"another number", "数字不同"}
	case dedup.OtherUnit:
		return msg.Text{"another unit", "单位不同"}
	case dedup.OtherPolarity:
		return msg.Text{"opposite", "正反义"}
	case dedup.OtherSymbol:
		return msg.Text{"another symbol", "符号不同"}
	case dedup.OtherWording:
		return msg.Text{"another word", "用词不同"}
	case dedup.OtherOptions:
		return msg.Text{"other options", "选项不同"}
	case dedup.OtherPassage:
		return msg.Text{"a passage more or other", "段落增减或不同"}
	case dedup.Contained:
		return msg.Text{"contained", "被包含"}
	}
	return msg.Text{reason, reason}
}
