package cli

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/dedup/contam"
	"github.com/drydock-ml/drydock/dedup/contam/report"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/pipeline"
	"github.com/drydock-ml/drydock/internal/ui"
)

// ContamReviewOptions are the flags of contam review.
type ContamReviewOptions struct {
	Report   string
	Against  []string
	Verdicts []string
	Sort     string
	Limit    int
	Waivers  bool
	contamOutputs
	readOptions
	DryRun bool
}

func newContamReviewCommand(a *app) *cobra.Command {
	var o ContamReviewOptions
	c := a.command("review", about{
		use: "REPORT", args: oneArg("REPORT"),
		short: msg.Text{"Show a report's findings side by side.", "逐条对照查看报告中的发现。"},
		long: msg.Text{
			"The report holds places, not texts: these are read again from the data it names, starting in the folder you are in, and from the benchmarks. What is not there any more, or has changed since, is said. Leaks come first. --waiver-lines prints a waiver for every finding shown, to be completed and given to contam check --waivers.",
			"报告只记录位置，不含文本：文本从其所列数据（以当前目录为起点）和评测集中重新读取。已不存在或已改动的会予以说明。泄漏在前。--waiver-lines 为所示的每个发现输出一条豁免，补全后供 contam check --waivers 使用。",
		},
		examples: []example{
			{msg.Text{"what build servers found", "查看构建服务器的发现"}, "drydock contam review contam.jsonl"},
			{msg.Text{"the variants, most alike first, as a page", "变体，最相似的在前，写为网页"}, "drydock contam review r.jsonl --verdict variant --sort score --html v.html"},
		},
	}, nil)
	c.RunE = func(cmd *cobra.Command, args []string) error {
		o.Report = args[0]
		if o.Waivers && !cmd.Flags().Changed("limit") {
			o.Limit = 0 // a waiver that is left out would not be missed
		}
		return runContamReview(cmd.Context(), a, o)
	}
	f := a.flags(c.Flags())
	f.strs(&o.Verdicts, "verdict", "", msg.Text{"only findings with this `VERDICT`; may be repeated", "只看判定为 `VERDICT` 的发现；可重复"})
	f.str(&o.Sort, "sort", "", "verdict", msg.Text{"order by `verdict|score|item|file`", "按 `verdict|score|item|file` 排序"})
	f.int(&o.Limit, "limit", "", 20, msg.Text{"show at most `N`; 0: all", "最多显示 `N` 个；0 表示全部"})
	f.strs(&o.Against, "against", "", msg.Text{"benchmark or file `REF` with the items; may be repeated (default: by the report's names)", "含题目的评测集或文件 `REF`；可重复（默认按报告中的名称）"})
	f.bool(&o.Waivers, "waiver-lines", "", msg.Text{"print waivers instead, reason, author and day to be filled in", "改为输出豁免行，理由、豁免人和日期待填"})
	f.str(&o.Markdown, "md", "", "", msg.Text{"write what is chosen to `FILE` as Markdown", "将所选内容写为 Markdown `FILE`"})
	f.str(&o.HTML, "html", "", "", msg.Text{"write it to `FILE` as one page", "写为单个网页 `FILE`"})
	f.str(&o.JUnit, "junit", "", "", msg.Text{"write it to `FILE` as JUnit XML", "写为 JUnit XML `FILE`"})
	f.str(&o.SARIF, "sarif", "", "", msg.Text{"write it to `FILE` as SARIF 2.1.0", "写为 SARIF 2.1.0 `FILE`"})
	for _, name := range []string{"md", "html", "junit", "sarif"} {
		f.typed(name)
	}
	f.bool(&o.Redact, "redact", "", msg.Text{"show hashes instead of texts", "以哈希代替文本"})
	f.read(&o.readOptions)
	f.dryRun(&o.DryRun)
	a.complete(c, "sort", reviewOrders()...)
	a.complete(c, "verdict", verdictWords()...)
	a.completeFunc(c, "against", a.knownBenches)
	return c
}

func reviewOrders() []string { return []string{"verdict", "score", "item", "file"} }

func verdictWords() []string {
	var out []string
	for _, v := range contam.Verdicts() {
		out = append(out, string(v))
	}
	return out
}

// reviewAnswer is the answer of contam review. Its fields are stable.
type reviewAnswer struct {
	Schema   string          `json:"schema"`
	Report   string          `json:"report"`
	Rows     int             `json:"rows"` // of the report
	Chosen   int             `json:"chosen"`
	Findings []reviewFinding `json:"findings"` // as many as --limit lets
	Lacks    []string        `json:"lacks"`    // why texts are missing
	pages    contamFiles
	shown    []report.Hit
}

// reviewFinding is a finding with the texts of both sides.
type reviewFinding struct {
	Finding drydock.RawJSON  `json:"finding"` // the report's row
	Data    []report.Stretch `json:"data"`
	Bench   []report.Stretch `json:"bench"`
}

func runContamReview(ctx context.Context, a *app, o ContamReviewOptions) error {
	if !slices.Contains(reviewOrders(), o.Sort) {
		return oneOf("--sort", o.Sort, reviewOrders()...)
	}
	for _, v := range o.Verdicts {
		if !slices.Contains(verdictWords(), v) {
			return oneOf("--verdict", v, verdictWords()...)
		}
	}
	if err := keepApart([]string{o.Report}, o.named()...); err != nil {
		return err
	}
	rows, summary, err := a.readReport(o.Report)
	if err != nil {
		return err
	}
	ans := &reviewAnswer{Schema: "drydock.contam.review/1", Report: o.Report, Rows: len(rows), Findings: []reviewFinding{}, Lacks: []string{}}
	rows = o.choose(rows)
	ans.Chosen = len(rows)
	if o.Waivers {
		if o.Limit > 0 {
			rows = rows[:min(o.Limit, len(rows))]
		}
		return a.waiverLines(rows)
	}
	pages := o.Markdown+o.HTML+o.JUnit+o.SARIF != ""
	if !pages && o.Limit > 0 && len(rows) > o.Limit {
		rows = rows[:o.Limit]
	}
	hits, lacks, err := a.reviewHits(ctx, o, rows, summary)
	if err != nil {
		return err
	}
	ans.Lacks = append(ans.Lacks, lacks...)
	if pages && !o.DryRun {
		if summary == nil {
			summary = summaryOf(rows)
		}
		summary.Redacted = o.Redact
		if err := o.write(summary, hitSeq(hits), a.lang); err != nil {
			return err
		}
		ans.pages = o.contamFiles
		ans.pages.Report = ""
	}
	if o.Limit > 0 {
		hits = hits[:min(o.Limit, len(hits))]
	}
	ans.shown = hits
	for i := range hits {
		v := hits[i].View()
		row := hits[i].Append(nil)
		ans.Findings = append(ans.Findings, reviewFinding{Finding: row[:len(row)-1], Data: v.Data, Bench: v.Item})
	}
	return a.answer(ans)
}

// choose returns the rows that are wanted, in the order wanted.
func (o *ContamReviewOptions) choose(rows []report.Row) []report.Row {
	if len(o.Verdicts) > 0 {
		rows = slices.DeleteFunc(rows, func(r report.Row) bool { return !slices.Contains(o.Verdicts, string(r.Verdict)) })
	}
	rank := func(r *report.Row) int {
		n := slices.Index(contam.Verdicts(), r.Verdict)
		switch {
		case n < 0:
			n = len(contam.Verdicts())
		case r.Fail:
			n -= 1000
		}
		return n
	}
	slices.SortStableFunc(rows, func(x, y report.Row) int {
		switch o.Sort {
		case "score":
			return cmp.Compare(y.Score, x.Score)
		case "item":
			return cmp.Or(cmp.Compare(x.Item.Benchmark, y.Item.Benchmark), cmp.Compare(x.Item.Index, y.Item.Index))
		case "file":
			return cmp.Or(cmp.Compare(x.Record.File, y.Record.File), cmp.Compare(x.Record.Line, y.Record.Line))
		}
		return cmp.Compare(rank(&x), rank(&y))
	})
	return rows
}

// waiverLines prints a waiver for each row, for someone to complete.
func (a *app) waiverLines(rows []report.Row) error {
	var out []byte
	for i := range rows {
		r := &rows[i]
		if r.Record.SHA256 == "" || r.Waived != nil {
			continue
		}
		w := report.Waiver{Record: r.Record.SHA256, Item: r.Item}
		out = w.Append(out)
	}
	a.term.Note(msg.Text{"fill in reason, author and expires (2027-03-01): contam check refuses a waiver without them", "请填写 reason、author 和 expires（如 2027-03-01）：缺少它们的豁免会被 contam check 拒绝"})
	_, err := a.term.Write(out)
	return err
}

func hitSeq(hits []report.Hit) func(func(report.Hit, error) bool) {
	return func(yield func(report.Hit, error) bool) {
		for _, h := range hits {
			if !yield(h, nil) {
				return
			}
		}
	}
}

// summaryOf counts rows that no summary stands beside.
func summaryOf(rows []report.Row) *report.Summary {
	s := &report.Summary{Version: buildVersion().Version}
	records := map[string]bool{}
	for i := range rows {
		r := &rows[i]
		s.Add(r)
		s.Config = r.Config
		if r.Fail && !records[report.Where(&r.Record)] {
			records[report.Where(&r.Record)] = true
			s.Failed++
		}
		if !slices.ContainsFunc(s.Inputs, func(in report.Input) bool { return in.File == r.Record.File }) {
			s.Inputs = append(s.Inputs, report.Input{File: r.Record.File})
		}
	}
	s.Normalize()
	return s
}

// reviewHits puts the texts to the rows.
func (a *app) reviewHits(ctx context.Context, o ContamReviewOptions, rows []report.Row, summary *report.Summary) (hits []report.Hit, lacks []string, err error) {
	read, err := o.options()
	if err != nil {
		return nil, nil, err
	}
	read.CacheDir, read.Workers = a.host.cache(), a.workers()
	benches, lacks := a.reviewBenches(o.Against, rows, summary)
	items := questionsOf(benches)
	texts := reviewTexts{a: a, read: read}
	if err := texts.find(ctx, rows, benches); err != nil {
		return nil, nil, err
	}
	for i := range rows {
		h := report.Hit{Row: rows[i], Question: items[rows[i].Item], Fields: texts.fields(&rows[i])}
		if o.Redact {
			h.Redact()
		}
		hits = append(hits, h)
	}
	return hits, append(lacks, texts.lacks...), nil
}

// reviewBenches finds the benchmarks, by the names in the report where none is
// given.
func (a *app) reviewBenches(refs []string, rows []report.Row, summary *report.Summary) (benches []*pipeline.Bench, lacks []string) {
	if len(refs) == 0 {
		for i := range rows {
			if name := rows[i].Item.Benchmark; !slices.Contains(refs, name) {
				refs = append(refs, name)
			}
		}
	}
	for _, ref := range refs {
		b, err := a.findReference(ref)
		if err != nil {
			lacks = append(lacks, a.say(msg.Text{"no items of %s: --against FILE names them", "没有 %s 的题目：用 --against FILE 指定"}, ref))
			continue
		}
		benches = append(benches, b)
		if summary == nil {
			continue
		}
		i := slices.IndexFunc(summary.Benchmarks, func(x report.Benchmark) bool { return x.Name == b.Ref().Name })
		if i >= 0 && summary.Benchmarks[i].SHA256 != b.SHA256 {
			lacks = append(lacks, a.say(msg.Text{"%s is not the copy that was checked against: texts may be other ones", "%s 不是检查时所用的副本：文本可能不同"}, ref))
		}
	}
	return benches, lacks
}

func (r *reviewAnswer) text(t *ui.Terminal) {
	t.Print(msg.Text{"%s: %d {finding|findings}, %d chosen, %d shown", "%s：%d 个发现，选中 %d 个，显示 %d 个"}, r.Report, r.Rows, r.Chosen, len(r.shown))
	for _, l := range r.Lacks {
		t.Prose("  " + l)
	}
	for i := range r.shown {
		h := &r.shown[i]
		t.Println("")
		printHit(t, h, 0)
		printComponents(t, &h.Row)
	}
	if more := r.Chosen - len(r.shown); more > 0 {
		t.Println("")
		t.Print(msg.Text{"%d more: --limit 0 shows all", "另有 %d 个：--limit 0 显示全部"}, more)
	}
	(&contamAnswer{contamFiles: r.pages}).files(t)
}

// printComponents says what a score is made of and which rule decided.
func printComponents(t *ui.Terminal, r *report.Row) {
	var parts []string
	for _, p := range []struct {
		name msg.Text
		v    float64
	}{
		{msg.Text{"stem", "题干"}, r.Components.Stem},
		{msg.Text{"options", "选项"}, r.Components.Options},
		{msg.Text{"statements", "陈述"}, r.Components.Statements},
	} {
		if p.v == p.v { // NaN: the item has no such part
			parts = append(parts, t.Say(p.name)+" "+percent(p.v))
		}
	}
	if r.Run > 0 {
		parts = append(parts, t.Say(msg.Text{"longest stretch %d {letter|letters}", "最长连续 %d 字"}, r.Run))
	}
	if r.Answer != "" {
		parts = append(parts, t.Say(msg.Text{"answer given %s", "给出的答案 %s"}, r.Answer))
	}
	parts = append(parts, t.Say(msg.Text{"rule %s", "规则 %s"}, r.Rule))
	for _, l := range ui.Wrap(strings.Join(parts, " · "), min(t.Width(), 100)-9) {
		t.Println("         " + l)
	}
	if w := r.Waived; w != nil {
		t.Prose("         " + t.Say(msg.Text{"waived by %s until %s: %s", "由 %s 豁免至 %s：%s"}, w.Author, w.Expires, w.Reason))
	}
}

func percent(v float64) string { return fmt.Sprintf("%.0f %%", 100*v) }
