package cli

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/dataprep/format"
	"github.com/drydock-ml/drydock/dedup/contam"
	"github.com/drydock-ml/drydock/dedup/contam/report"
	"github.com/drydock-ml/drydock/dedup/contam/rowtext"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/pipeline"
	"github.com/drydock-ml/drydock/internal/ui"
)

// ContamExplainOptions are the flags of contam explain.
type ContamExplainOptions struct {
	Place      string // as reports write it: FILE:LINE, FILE LOCATOR, or FILE with Record
	Record     string
	Against    []string
	Item       string
	Near       int
	Thresholds string
	readOptions
}

func newContamExplainCommand(a *app) *cobra.Command {
	var o ContamExplainOptions
	c := a.command("explain", about{
		use: "FILE:LINE --against REF|FILE…", args: someArgs("FILE:LINE"),
		short: msg.Text{"Say why a record is, or is not, a benchmark item.", "说明一条记录为何是或不是评测集题目。"},
		long: msg.Text{
			"Every step of the check is shown with its threshold: how much of the item's rare letter sequences the record has, how alike stem and options are, which rule gave the verdict, and both texts side by side. Without --item the nearest items are explained. A place may be copied as contam check prints it (FILE sheet:S1 r27, or a line inside a document); FILE --record ID names the row by its own id instead.",
			"逐步列出检查过程及其阈值：记录含有题目多少罕见字串、题干与选项的相似度、由哪条规则判定，并列出两侧原文。不带 --item 时说明最接近的题目。位置可直接复制 contam check 的输出（如 FILE sheet:S1 r27，或文档中的某一行）；也可用 FILE --record ID 按数据行自身的 id 指定。",
		},
		examples: []example{
			{msg.Text{"why was this row not found?", "这一行为何没有被发现？"}, "drydock contam explain train.jsonl:1042 --against maritime_bench --item 1740"},
		},
		exits: []int{3},
	}, nil)
	c.RunE = func(cmd *cobra.Command, args []string) error {
		if err := a.require(cmd, "against", strings.Join(o.Against, "")); err != nil {
			return err
		}
		o.Place = strings.Join(args, " ") // a place with a blank, copied without quotes
		return runContamExplain(cmd.Context(), a, o)
	}
	f := a.flags(c.Flags())
	f.strs(&o.Against, "against", "", msg.Text{"benchmark name, file or folder `REF`; may be repeated", "评测集名称、文件或文件夹 `REF`；可重复"})
	f.str(&o.Item, "item", "", "", msg.Text{"explain item `N`, by its index (BENCH:N with several benchmarks)", "说明题目 `N`（按 index；多个评测集时写作 BENCH:N）"})
	f.str(&o.Record, "record", "", "", msg.Text{"the row with the id `ID`", "id 为 `ID` 的数据行"})
	f.int(&o.Near, "near", "", 3, msg.Text{"without --item: explain the `N` nearest items", "不带 --item 时：说明最接近的 `N` 题"})
	f.str(&o.Thresholds, "thresholds", "", "", msg.Text{"`FILE` of other thresholds, as for contam check", "另设阈值的 `FILE`，同 contam check"})
	f.read(&o.readOptions)
	a.completeFunc(c, "against", a.knownBenches)
	return c
}

// explainAnswer is the answer of contam explain. Its fields are stable.
type explainAnswer struct {
	Schema  string        `json:"schema"`
	File    string        `json:"file"`
	Line    int           `json:"line"`
	ID      string        `json:"id,omitempty"`
	SHA256  string        `json:"sha256"`
	Letters int           `json:"letters"`
	Config  string        `json:"config"`
	Items   []explainItem `json:"items"`
}

// explainItem is one item, how near it is, and why.
type explainItem struct {
	Item    report.Item      `json:"item"`
	Verdict string           `json:"verdict,omitempty"`
	Fail    bool             `json:"fail"`
	Rule    string           `json:"rule,omitempty"`
	Score   float64          `json:"score"`
	Reached string           `json:"reached"` // seeds, letters, verdict: the last step it came to
	Steps   []explainStep    `json:"steps"`
	Data    []report.Stretch `json:"data"`
	Bench   []report.Stretch `json:"bench"`
}

// explainStep is something measured and what it had to reach.
type explainStep struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
	Need  float64 `json:"need"`
	Met   bool    `json:"met"`
	note  msg.Phrase
}

func runContamExplain(ctx context.Context, a *app, o ContamExplainOptions) error {
	at, err := o.place()
	if err != nil {
		return err
	}
	benches, ix, err := a.contamIndexWith(o.Against, o.Thresholds)
	if err != nil {
		return err
	}
	read, err := o.options()
	if err != nil {
		return err
	}
	read.CacheDir, read.Workers = a.host.cache(), a.workers()
	s := ix.Scanner()
	rec, found, err := o.find(ctx, at, read, a.note, s)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		return a.cannotRead(at.file, err)
	case rec == nil:
		return o.noRecord(at)
	}
	ans := &explainAnswer{
		Schema: "drydock.contam.explain/1", File: at.file, Line: pipeline.LineOf(rec.At), ID: rowID(rec),
		SHA256: rec.SHA256(), Config: ix.ConfigHash(), Items: []explainItem{},
	}
	refs, err := o.items(benches, s, found)
	if err != nil {
		return err
	}
	questions := questionsOf(benches)
	for _, ref := range refs {
		x, ok := s.Explain(ref, found)
		if !ok {
			return fail.New(fail.Usage, msg.Text{"there is no item %d in %s", "没有题目 %d：%s"}, ref.Index, ref.Benchmark)
		}
		ans.Letters = x.Letters
		ans.Items = append(ans.Items, explained(&x, rec, questions[ref]))
	}
	return a.answer(ans)
}

// find checks the record that is meant, and returns it with what was found; nil
// when there is none.
func (o *ContamExplainOptions) find(ctx context.Context, at explainPlace, read format.Options, note func(format.Note), s *contam.Scanner) (rec *pipeline.CheckedRecord, found []contam.Finding, err error) {
	err = pipeline.EachChecked(ctx, at.file, read, note, func(r *pipeline.CheckedRecord) bool {
		if meant := at.means(r); o.Record != "" && rowID(r) != o.Record || o.Record == "" && !meant {
			return true
		}
		rec = &pipeline.CheckedRecord{Raw: slices.Clone(r.Raw), JSON: r.JSON, At: r.At}
		var broken error
		if r.JSON {
			found, broken = s.Row(rec.Raw)
		}
		if !r.JSON || broken != nil {
			found = s.Text(rec.Raw)
		}
		return false
	})
	return rec, found, err
}

// rowID is the row's own id; empty when it has none.
func rowID(r *pipeline.CheckedRecord) string {
	if !r.JSON {
		return ""
	}
	row, err := rowtext.Read(r.Raw)
	if err != nil {
		return ""
	}
	return row.ID
}

func (o *ContamExplainOptions) noRecord(at explainPlace) error {
	switch {
	case o.Record != "":
		return fail.New(fail.Usage, msg.Text{"%s has no row with the id %q", "%s 中没有 id 为 %q 的数据行"}, at.file, o.Record)
	case at.locator != "":
		return fail.New(fail.Usage, msg.Text{"%s has no record at %s", "%s 的 %s 处没有记录"}, at.file, at.locator)
	case at.line == 0:
		return fail.New(fail.Usage, msg.Text{"%s holds many records: which one?", "%s 含有多条记录：请指明是哪一条"}, at.file).
			Hint(msg.Text{"FILE:LINE, or the place as contam check prints it", "写作 FILE:LINE，或照抄 contam check 输出的位置"})
	}
	return fail.New(fail.Usage, msg.Text{"%s has no record in line %d", "%s 的第 %d 行没有记录"}, at.file, at.line).
		Hint(msg.Text{"contam check --report FILE says where records stand", "contam check --report FILE 会给出记录的位置"})
}

// explainPlace is where a record stands, as reports write it.
type explainPlace struct {
	file    string
	line    int    // 0: none was given
	locator string // empty: none was given
}

// means reports whether a record is the one at the place. A document is one
// record, whatever line of it a finding names; so is one that stands alone.
func (p explainPlace) means(r *pipeline.CheckedRecord) bool {
	document := !r.JSON && r.At.Sheet == "" && r.At.Row == 0
	switch {
	case p.locator != "":
		return r.At.String() == p.locator
	case p.line > 0:
		return pipeline.LineOf(r.At) == p.line || document && pipeline.LineOf(r.At) < p.line
	}
	return document
}

// place takes a place apart: FILE:LINE, FILE LOCATOR, or FILE. A file of that
// very name goes before.
func (o *ContamExplainOptions) place() (explainPlace, error) {
	if _, err := os.Stat(o.Place); err == nil {
		return explainPlace{file: o.Place}, noStdin(o.Place)
	}
	if i := strings.LastIndexByte(o.Place, ':'); i > 0 {
		if n, err := strconv.Atoi(o.Place[i+1:]); err == nil && n > 0 {
			return explainPlace{file: o.Place[:i], line: n}, noStdin(o.Place[:i])
		}
	}
	for i := len(o.Place) - 1; i > 0; i-- {
		if o.Place[i] != ' ' {
			continue
		}
		if _, err := os.Stat(o.Place[:i]); err == nil {
			return explainPlace{file: o.Place[:i], locator: o.Place[i+1:]}, nil
		}
	}
	return explainPlace{file: o.Place}, noStdin(o.Place)
}

// items lists what to explain.
func (o *ContamExplainOptions) items(benches []*pipeline.Bench, s *contam.Scanner, found []contam.Finding) ([]contam.ItemRef, error) {
	if o.Item == "" {
		var refs []contam.ItemRef
		for i := range found {
			refs = append(refs, found[i].Item)
		}
		for _, ref := range s.Nearest(o.Near) {
			if len(refs) < o.Near && !slices.Contains(refs, ref) {
				refs = append(refs, ref)
			}
		}
		return refs, nil
	}
	bench, number := benches[0].Ref().Name, o.Item
	if i := strings.LastIndexByte(o.Item, ':'); i >= 0 {
		bench, number = o.Item[:i], o.Item[i+1:]
	}
	n, err := strconv.Atoi(number)
	if err != nil {
		return nil, fail.New(fail.Usage, msg.Text{"--item %q is no number", "--item %q 不是数字"}, o.Item)
	}
	return []contam.ItemRef{{Benchmark: bench, Index: n}}, nil
}

// explained turns an explanation into what is shown; q is the item.
func explained(x *contam.Explanation, rec *pipeline.CheckedRecord, q *drydock.Question) explainItem {
	c := &x.Limits
	share := func(part, all float64) msg.Phrase {
		return msg.Phrase{Text: msg.Text{"%.1f of %.1f nats", "%.1f / %.1f nat"}, Args: []any{part, all}}
	}
	e := explainItem{Item: report.Item{Benchmark: x.Item.Benchmark, Index: x.Item.Index}, Reached: "seeds"}
	e.Steps = []explainStep{
		{"stem_seeds", x.StemHit, x.NeedStem, x.StemHit > 0 && x.StemHit >= x.NeedStem, share(x.StemHit, x.StemMass)},
		{"option_seeds", x.OptionHit, x.NeedOption, x.OptionHit > x.NeedOption, share(x.OptionHit, x.OptionMass)},
		{"stem", x.Stem, c.StemSame, x.Stem >= c.StemSame, msg.Phrase{Text: msg.Text{"%d {edit|edits} in %d letters", "%d 处改动，共 %d 字"}, Args: []any{x.StemEdits, x.StemLetters}}},
		{"stem_nats", x.Nats, c.StemNats, x.Nats >= c.StemNats, msg.Phrase{Text: msg.Text{"what of the stem is there", "题干所含部分"}}},
		{"stem_above_chance", x.StemAbove, c.StemWithOptions, x.StemAbove >= c.StemWithOptions, msg.Phrase{Text: msg.Text{"together with the options", "与选项合计"}}},
	}
	if x.Options == x.Options { // NaN: no option tells the item
		e.Steps = append(e.Steps, explainStep{
			"options", x.Options, c.OptionsNear, x.Options >= c.OptionsNear,
			msg.Phrase{Text: msg.Text{"%d {option|options} found", "找到 %d 个选项"}, Args: []any{x.OptionsFound}},
		})
	}
	if x.Candidate {
		e.Reached = "letters"
	}
	var f contam.Finding
	if x.Finding != nil {
		f, e.Reached = *x.Finding, "verdict"
		e.Verdict, e.Fail, e.Rule, e.Score = string(f.Verdict), f.Fail, f.Rule, f.Score
	}
	h := report.Hit{Row: report.Row{Finding: f}, Question: q}
	if x.Finding == nil {
		h.Item = x.Item
	}
	if rec.JSON {
		h.Fields = report.Fields(rec.Raw, nil, &f)
	} else {
		h.Fields = report.TextField(string(rec.Raw), &f)
	}
	v := h.View()
	e.Data, e.Bench = v.Data, v.Item
	return e
}

func (e *explainAnswer) text(t *ui.Terminal) {
	where := e.File
	if e.Line > 0 {
		where += fmt.Sprintf(":%d", e.Line)
	}
	if len(e.Items) == 0 {
		t.Print(msg.Text{"%s: no item shares any rare letter sequence with it", "%s：没有题目与其共有任何罕见字串"}, where)
		return
	}
	t.Print(msg.Text{"%s: %d {letter|letters} that count", "%s：有效字符 %d 个"}, where, e.Letters)
	for i := range e.Items {
		t.Println("")
		e.Items[i].text(t)
	}
}

func (e *explainItem) text(t *ui.Terminal) {
	item := benchItem(contam.ItemRef{Benchmark: e.Item.Benchmark, Index: e.Item.Index})
	answer := t.Say(msg.Text{"not found: the letters are too different", "未发现：文字差异过大"})
	switch {
	case e.Verdict != "" && e.Fail:
		answer = t.Bad(t.Say(msg.Text{"%s, a leak (rule %s, score %.2f)", "%s，属于泄漏（规则 %s，得分 %.2f）"}, e.Verdict, e.Rule, e.Score))
	case e.Verdict != "":
		answer = t.Say(msg.Text{"%s, not counted as a leak (rule %s, score %.2f)", "%s，不计为泄漏（规则 %s，得分 %.2f）"}, e.Verdict, e.Rule, e.Score)
	case e.Reached == "seeds":
		answer = t.Say(msg.Text{"not found: too few of its rare letter sequences are there", "未发现：所含罕见字串过少"})
	}
	t.Println(t.Bold(item) + "  " + answer)
	tb := t.Table(ui.Column{}, ui.Column{Title: msg.Text{"measured", "测得"}, Right: true}, ui.Column{Title: msg.Text{"needed", "需达到"}, Right: true}, ui.Column{}, ui.Column{})
	for _, s := range e.Steps {
		met := t.Say(msg.Text{"no", "否"})
		if s.Met {
			met = t.Say(msg.Text{"yes", "是"})
		}
		tb.Row("  "+t.Say(stepWord(s.Name)), fmt.Sprintf("%.2f", s.Value), fmt.Sprintf("%.2f", s.Need), met, t.Say(s.note.Text, s.note.Args...))
	}
	tb.Print()
	printSide(t, msg.Text{"yours", "数据"}, e.Data, "+[", "]+", 4)
	printSide(t, msg.Text{"bench", "题目"}, e.Bench, "-[", "]-", 4)
}

func stepWord(name string) msg.Text {
	switch name {
	case "stem_seeds":
		return msg.Text{"seeds of the stem", "题干字串"}
	case "option_seeds":
		return msg.Text{"seeds of the options", "选项字串"}
	case "stem":
		return msg.Text{"stem alike", "题干相似度"}
	case "stem_nats":
		return msg.Text{"worth of the stem", "题干信息量"}
	case "stem_above_chance":
		return msg.Text{"stem above chance", "题干超出偶然"}
	}
	return msg.Text{"options alike", "选项相似度"}
}
