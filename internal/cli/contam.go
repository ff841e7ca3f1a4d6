package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/drydock-ml/drydock/dataprep/format"
	"github.com/drydock-ml/drydock/dedup/contam"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/pipeline"
	"github.com/drydock-ml/drydock/internal/ui"
	"github.com/drydock-ml/drydock/provenance"
)

func newContamCommand(a *app) *cobra.Command {
	return a.group("contam", msg.Text{"Check data against benchmarks.", "检查数据是否含有评测集题目。"}, newContamCheckCommand(a))
}

// ContamCheckOptions are the flags of contam check.
type ContamCheckOptions struct {
	Inputs  []string
	Against []string
	Report  string
	Clean   string
	OnHit   string
	readOptions
	DryRun bool
}

func newContamCheckCommand(a *app) *cobra.Command {
	var o ContamCheckOptions
	c := a.command("check", about{
		use: "IN… --against REF|FILE…", args: someArgs("IN"),
		short: msg.Text{"Find benchmark items in data, also in disguise.", "在数据中查找评测集题目，包括改头换面的题目。"},
		long: msg.Text{
			"IN is JSONL, JSON, CSV, XLSX or any other file drydock reads, or a folder. Shuffled options, traditional characters, full-width letters, other numbering and wrapped lines do not hide an item. Only a leak ends with 10; the same question with other numbers, negated or made from the item is reported and not counted. The data itself is never changed: --clean writes a second file.",
			"IN 为 JSONL、JSON、CSV、XLSX 或 drydock 可读取的其他文件，也可以是目录。打乱选项、繁体字、全角字母、不同编号和换行都不能掩盖题目。只有泄漏才以 10 退出；改动数字、否定或由原题改编的题目只报告、不计数。原数据绝不改动：--clean 写出另一个文件。",
		},
		examples: []example{
			{msg.Text{"training rows against the registered benchmark", "用已登记的评测集检查训练数据"}, "drydock contam check build/train.jsonl --against maritime_bench"},
			{msg.Text{"against a file, with evidence, and a copy without leaks", "用文件检查，输出证据，并写出无泄漏的副本"}, "drydock contam check q.jsonl --against bench.json --report r.jsonl --clean c.jsonl"},
		},
		exits: []int{3, 10},
	}, nil)
	c.RunE = func(cmd *cobra.Command, args []string) error {
		if err := a.require(cmd, "against", strings.Join(o.Against, "")); err != nil {
			return err
		}
		o.Inputs = args
		return runContamCheck(cmd.Context(), a, o)
	}
	f := a.flags(c.Flags())
	f.strs(&o.Against, "against", "", msg.Text{"benchmark name or file `REF`; may be repeated", "评测集名称或文件 `REF`；可重复"})
	f.output(&o.Report, "report", "", msg.Text{"write every finding to `FILE`, one JSON object a line", "将每个发现写入 `FILE`，每行一个 JSON 对象"})
	f.output(&o.Clean, "clean", "", msg.Text{"write the rows to `FILE` without leaks; one JSONL input", "将去除泄漏后的数据行写入 `FILE`；仅限一个 JSONL 输入"})
	f.str(&o.OnHit, "on-hit", "", "drop", msg.Text{"with --clean: `drop|annotate` rows that leak", "配合 --clean：对泄漏行 `drop|annotate`（删除或标注）"})
	f.read(&o.readOptions)
	f.dryRun(&o.DryRun)
	a.completeFunc(c, "against", a.knownBenches)
	a.complete(c, "on-hit", "drop", "annotate")
	return c
}

// shownHits is how many leaks are shown side by side.
const shownHits = 5

// contamAnswer is the summary of a check. Its fields are stable.
type contamAnswer struct {
	Schema     string                 `json:"schema"`
	Benchmarks []contamBench          `json:"benchmarks"`
	Inputs     []pipeline.ContamInput `json:"inputs"`
	Records    int                    `json:"records"`
	Bytes      int64                  `json:"bytes"`
	Items      int                    `json:"items"`
	Blind      []contamItem           `json:"blind"` // items these settings cannot see
	Verdicts   map[string]int         `json:"verdicts"`
	Failed     int                    `json:"failed_records"` // records with a verdict that fails the check
	Config     string                 `json:"config"`
	Report     string                 `json:"report,omitempty"`
	Clean      string                 `json:"clean,omitempty"`
	CleanRows  int                    `json:"clean_rows,omitempty"`
	Exit       int                    `json:"exit"`
	seconds    float64
	shown      []pipeline.ContamHit
}

type contamBench struct {
	Name   string `json:"name"`
	Ref    string `json:"ref"`
	Items  int    `json:"items"`
	SHA256 string `json:"sha256"`
}

// contamItem names an item as report rows do.
type contamItem struct {
	Benchmark string `json:"benchmark"`
	Index     int    `json:"index"`
}

func runContamCheck(ctx context.Context, a *app, o ContamCheckOptions) error {
	if o.OnHit != "drop" && o.OnHit != "annotate" {
		return oneOf("--on-hit", o.OnHit, "drop", "annotate")
	}
	benches, ix, err := a.contamIndex(o.Against)
	if err != nil {
		return err
	}
	files, bad, err := expandInputs(o.Inputs)
	if err != nil {
		return err
	}
	if o.Clean != "" && len(files) != 1 {
		return fail.New(fail.Usage, msg.Text{"--clean takes one input, got %d {file|files}", "--clean 只接受一个输入，得到 %d 个文件"}, len(files))
	}
	for flag, out := range map[string]string{"--clean": o.Clean, "--report": o.Report} {
		if err := keepInputs(flag, out, files); err != nil {
			return err
		}
	}
	read, err := o.options()
	if err != nil {
		return err
	}
	start := a.host.Now()
	ans := contamAnswer{Verdicts: map[string]int{}, Blind: []contamItem{}, Inputs: []pipeline.ContamInput{}}
	t, err := a.scanContam(ctx, o, &pipeline.ContamCheck{Index: ix, Benches: benches, Read: read}, files, &ans)
	if err != nil {
		return err
	}
	if !o.DryRun {
		ans.Report, ans.Clean = o.Report, o.Clean
	}
	bad = append(bad, t.Bad...)
	ans.Schema, ans.Items, ans.Config = "drydock.contam.summary/1", ix.Items(), ix.ConfigHash()
	ans.seconds = a.host.Now().Sub(start).Seconds()
	for _, b := range ix.Blind() {
		ans.Blind = append(ans.Blind, contamItem{b.Benchmark, b.Index})
	}
	for _, b := range benches {
		ans.Benchmarks = append(ans.Benchmarks, contamBench{b.Name, b.Benchmark.Ref().String(), len(b.Items), b.SHA256})
	}
	if ans.Failed > 0 {
		bad = append(bad, contamLeaks(o, t, files))
	}
	ans.Exit = fail.Code(bad.OrNil())
	if err := a.answer(ans); err != nil {
		return err
	}
	return bad.OrNil()
}

// scanContam checks the files. Report and clean rows are written while it goes,
// in the order of the data.
func (a *app) scanContam(ctx context.Context, o ContamCheckOptions, c *pipeline.ContamCheck, files []string, ans *contamAnswer) (*pipeline.ContamTotals, error) {
	report, err := a.createOutput(o.Report, o.DryRun)
	if err != nil {
		return nil, err
	}
	defer report.Abort()
	clean, err := a.createOutput(o.Clean, o.DryRun)
	if err != nil {
		return nil, err
	}
	defer clean.Abort()
	if o.Clean != "" {
		c.Clean, c.OnHit = clean, o.OnHit
	}
	c.Read.CacheDir, c.Read.Workers = a.host.cache(), a.workers()
	c.Read.PDF = format.NewPDFRuntime(a.host.cache())
	defer c.Read.PDF.Close()
	c.Workers, c.Note = a.workers(), a.note
	c.Progress = func(name string, size int64) (func(int64), func()) {
		p := a.term.Progress(name, size, true)
		return p.Set, p.End
	}
	var buf []byte
	c.Hit = func(h *pipeline.ContamHit) error {
		ans.Verdicts[string(h.Verdict)]++
		if h.Fail && len(ans.shown) <= shownHits {
			ans.shown = append(ans.shown, *h)
		}
		buf = h.Append(buf[:0])
		_, err := report.Write(buf)
		return err
	}
	t, err := c.Files(ctx, files)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(report.Commit(), clean.Commit()); err != nil {
		return nil, err
	}
	ans.Inputs = append(ans.Inputs, t.Inputs...)
	ans.Records, ans.Bytes, ans.Failed, ans.CleanRows = t.Records, t.Bytes, t.Failed, t.CleanRows
	return t, nil
}

// contamLeaks is the error of records that fail the check.
func contamLeaks(o ContamCheckOptions, t *pipeline.ContamTotals, files []string) *fail.Error {
	e := fail.New(fail.Contamination, msg.Text{"records that are benchmark items: %d", "属于评测集题目的记录：%d 条"}, t.Failed)
	switch {
	case o.Clean != "":
		return e
	case !t.OnlyRows:
		return e.Hint(msg.Text{
			"for rows without them: drydock prep makes JSONL of it, which --clean FILE takes",
			"若要不含它们的数据行：先用 drydock prep 转换为 JSONL，再用 --clean FILE",
		})
	case len(files) > 1:
		return e.Hint(msg.Text{"to write the rows without them: --clean FILE, one input at a time", "写出不含它们的数据：--clean FILE，每次一个输入"})
	}
	return e.Hint(msg.Text{"to write the rows without them: --clean FILE", "写出不含它们的数据：--clean FILE"})
}

func hitPlace(h *pipeline.ContamHit) string {
	if h.Record.Line > 0 {
		return fmt.Sprintf("%s:%d", h.Record.File, h.Record.Line)
	}
	return h.Record.File + " " + h.Record.ID
}

func secondsOf(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// contamIndex resolves the references and builds one index of them all.
func (a *app) contamIndex(refs []string) ([]*pipeline.Bench, *contam.Index, error) {
	var benches []*pipeline.Bench
	var sets []contam.Set
	for _, ref := range refs {
		b, err := a.findBench(ref)
		if err != nil {
			return nil, nil, err
		}
		benches = append(benches, b)
		sets = append(sets, contam.Set{Ref: b.Benchmark.Ref(), Items: b.Items})
	}
	ix, err := contam.NewIndexOf(sets, contam.Config{})
	return benches, ix, err
}

func (c contamAnswer) text(t *ui.Terminal) {
	for _, b := range c.Benchmarks {
		t.Print(msg.Text{"%s  %d {item|items} (%s)", "%s  %d 题（%s）"}, b.Ref, b.Items, b.SHA256[:min(8, len(b.SHA256))])
	}
	if len(c.Blind) > 0 {
		t.Print(msg.Text{"blind to %d {item|items}: a verbatim copy would not be found", "对 %d 题是盲区：即使逐字复制也不会被发现"}, len(c.Blind))
		for _, b := range c.Blind {
			t.Println(fmt.Sprintf("  %s %d", b.Benchmark, b.Index))
		}
	}
	t.Print(msg.Text{"scanned  %s of %s, %s in %s", "已扫描  %s，%s，%s，用时 %s"},
		t.Count(c.Records, "record", "records", "条记录"), t.Count(len(c.Inputs), "file", "files", "个文件"),
		ui.Size(c.Bytes), t.Duration(secondsOf(c.seconds)))
	c.verdicts(t)
	switch {
	case c.Records == 0:
		t.Print(msg.Text{"nothing was checked", "没有检查任何内容"})
	case len(c.Verdicts) > 0:
	case c.Exit == 0:
		t.Println(t.Good(t.Say(msg.Text{"no benchmark item found", "未发现评测集题目"})))
	default:
		t.Print(msg.Text{"no benchmark item found in what could be read", "可读取的内容中未发现评测集题目"})
	}
	for i, h := range c.shown {
		if i == shownHits {
			t.Print(msg.Text{"… and more: --report FILE lists all", "……以及更多：--report FILE 列出全部"})
			break
		}
		t.Println("")
		t.Println(hitPlace(&h) + "  " + string(h.Verdict) + "  " + fmt.Sprintf("%s %d  %.2f", h.Item.Benchmark, h.Item.Index, h.Score))
		sideBySide(t, msg.Text{"yours", "数据"}, h.Text)
		sideBySide(t, msg.Text{"bench", "题目"}, pipeline.QuestionText(&h.BenchItem.Question))
	}
	if c.Report != "" {
		t.Print(msg.Text{"report: %s", "报告：%s"}, c.Report)
	}
	if c.Clean != "" {
		t.Print(msg.Text{"clean: %s, %d {row|rows}", "干净数据：%s，%d 行"}, c.Clean, c.CleanRows)
	}
}

// verdicts prints how often each was given; on a terminal with what it means.
func (c contamAnswer) verdicts(t *ui.Terminal) {
	columns := []ui.Column{{}, {Right: true}, {}}
	if t.OutTTY() {
		columns = append(columns, ui.Column{})
	}
	tb := t.Table(columns...).Bare().Wrapped()
	leaks := contam.DefaultConfig().Fail
	for _, v := range contam.Verdicts() {
		n := c.Verdicts[string(v)]
		if n == 0 {
			continue
		}
		note := t.Say(msg.Text{"not counted as a leak", "不计为泄漏"})
		if slices.Contains(leaks, v) {
			note = t.Bad(t.Say(msg.Text{"LEAK", "泄漏"}))
		}
		row := []string{string(v), fmt.Sprint(n), note}
		if means, ok := provenance.VerdictMeaning(string(v)); ok && t.OutTTY() {
			row = append(row, t.Say(means))
		}
		tb.Row(row...)
	}
	tb.Print()
}

// sideBySide shows the beginning of a text under a label.
func sideBySide(t *ui.Terminal, label msg.Text, text string) {
	const most = 3
	lines := ui.Wrap(text, min(t.Width(), 100)-9)
	if len(lines) > most {
		lines = append(lines[:most-1], lines[most-1]+"…")
	}
	for i, l := range lines {
		head := ""
		if i == 0 {
			head = t.Say(label)
		}
		t.Println("  " + ui.Pad(head, 7) + l)
	}
}
