package cli

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/spf13/cobra"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/dataprep/format"
	"github.com/drydock-ml/drydock/dedup/contam"
	"github.com/drydock-ml/drydock/dedup/contam/report"
	"github.com/drydock-ml/drydock/dedup/contam/rowtext"
	"github.com/drydock-ml/drydock/dedup/contam/selftest"
	"github.com/drydock-ml/drydock/internal/atomicfile"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/pipeline"
	"github.com/drydock-ml/drydock/internal/ui"
)

// ContamSelftestOptions are the flags of contam selftest.
type ContamSelftestOptions struct {
	Inputs     []string
	Against    []string
	Thresholds string
	Items      int
	Seed       int
	MinRecall  float64
	Kinds      []string
	Copies     string
	readOptions
	DryRun bool
}

func newContamSelftestCommand(a *app) *cobra.Command {
	var o ContamSelftestOptions
	c := a.command("selftest", about{
		use: "FILE… --against REF|FILE…", args: someArgs("FILE"),
		short: msg.Text{"Prove the check on your own benchmark and data.", "用您自己的评测集和数据检验污染检查。"},
		long: msg.Text{
			"Copies of the benchmark's items are changed in every way drydock knows (shuffled, traditional characters, misread letters, split over turns, …), hidden in the text of your files in memory, and checked. The table says how many came out with the right item named, with the Wilson interval, and how many look-alikes were false alarms. Below a bar it ends with 1. The files are not changed; what they hold already is counted apart.",
			"将评测集题目以 drydock 所知的各种方式改动（打乱选项、繁体、误识、拆成多轮等），在内存中嵌入您文件的文字并加以检查。表中列出正确指认原题的比例及其 Wilson 区间，以及多少相似而非题目的文字被误报。未达标时以 1 退出。文件不会被改动；其中原有的发现另行计数。",
		},
		examples: []example{
			{msg.Text{"all items, all kinds of change", "全部题目、全部改动方式"}, "drydock contam selftest build/train.jsonl --against maritime_bench"},
			{msg.Text{"a quick look, as one JSON document", "快速检查，输出一个 JSON 文档"}, "drydock contam selftest q.jsonl --against bench.json --items 100 --json"},
			{msg.Text{"the copies themselves, for another program", "导出副本，供其他程序检查"}, "drydock contam selftest q.jsonl --against bench.json --copies copies.jsonl"},
		},
		exits: []int{3},
	}, nil)
	c.RunE = func(cmd *cobra.Command, args []string) error {
		if err := a.require(cmd, "against", strings.Join(o.Against, "")); err != nil {
			return err
		}
		o.Inputs = args
		return runContamSelftest(cmd.Context(), a, o)
	}
	f := a.flags(c.Flags())
	f.strs(&o.Against, "against", "", msg.Text{"benchmark name, file or folder `REF`; may be repeated", "评测集名称、文件或文件夹 `REF`；可重复"})
	f.str(&o.Thresholds, "thresholds", "", "", msg.Text{"`FILE` of other thresholds, as for contam check", "另设阈值的 `FILE`，同 contam check"})
	f.int(&o.Items, "items", "", 0, msg.Text{"take `N` items, evenly spread (0: all)", "均匀抽取 `N` 题（0：全部）"})
	f.int(&o.Seed, "seed", "", 1, msg.Text{"seed `N` of what is drawn at random", "随机抽取的种子 `N`"})
	f.float(&o.MinRecall, "min-recall", "", 0, msg.Text{"least share `X` of copies found, for every kind (0: each its own)", "每种方式的最低检出比例 `X`（0：各自的标准）"})
	f.strs(&o.Kinds, "kind", "", msg.Text{"only this kind of change, `NAME`; may be repeated", "仅此改动方式 `NAME`；可重复"})
	f.output(&o.Copies, "copies", "", msg.Text{"write the copies to `FILE`, one JSON object a line", "将副本写入 `FILE`，每行一个 JSON 对象"})
	f.read(&o.readOptions)
	f.dryRun(&o.DryRun)
	a.completeFunc(c, "against", a.knownBenches)
	var names []string
	for _, k := range selftest.Kinds() {
		names = append(names, k.Name)
	}
	a.complete(c, "kind", names...)
	return c
}

// selftestAnswer is the result of a self-test. Its fields are stable.
type selftestAnswer struct {
	Schema     string                 `json:"schema"`
	Benchmarks []report.Benchmark     `json:"benchmarks"`
	Inputs     []pipeline.ContamInput `json:"inputs"`
	Records    int                    `json:"records"`
	Found      map[string]int         `json:"found"` // in the data as it is, by verdict
	Items      int                    `json:"items"` // that copies were made of
	Seed       int                    `json:"seed"`
	Config     string                 `json:"config"`
	Kinds      []selftestKind         `json:"kinds"`
	Pass       bool                   `json:"pass"`
	Copies     string                 `json:"copies,omitempty"`
	Exit       int                    `json:"exit"`
	titles     []msg.Text
}

// selftestKind is one row of the table.
type selftestKind struct {
	Kind     string         `json:"kind"`
	Expect   string         `json:"expect"`
	Made     int            `json:"made"`
	Met      int            `json:"met"`
	Share    float64        `json:"share"` // met of made
	Wilson95 [2]float64     `json:"wilson95"`
	Bar      float64        `json:"bar"`
	Leaks    int            `json:"leaks"`
	Variants int            `json:"variants"`
	Others   int            `json:"others"` // another item was named as a leak
	Pass     bool           `json:"pass"`
	Missed   []selftestMiss `json:"missed"`
}

// selftestMiss is a copy that did not come out as expected.
type selftestMiss struct {
	Item    report.Item `json:"item"`
	Verdict string      `json:"verdict"` // the item was given; empty: not named
	Other   string      `json:"other"`   // verdict another item was given
	Rows    []string    `json:"rows"`
}

func runContamSelftest(ctx context.Context, a *app, o ContamSelftestOptions) error {
	if o.Items < 0 || o.Seed < 0 || !(o.MinRecall >= 0 && o.MinRecall <= 1) {
		return fail.New(fail.Usage, msg.Text{
			"--items and --seed are 0 or more, and --min-recall is a share from 0 to 1",
			"--items 与 --seed 不小于 0，--min-recall 为 0 到 1 之间的比例",
		})
	}
	benches, ix, err := a.contamIndexWith(o.Against, o.Thresholds)
	if err != nil {
		return err
	}
	files, bad, err := expandInputs(o.Inputs)
	if err != nil {
		return err
	}
	if err := keepInputs("--copies", o.Copies, files); err != nil {
		return err
	}
	read, err := o.options()
	if err != nil {
		return err
	}
	ans := selftestAnswer{Schema: "drydock.contam.selftest/1", Found: map[string]int{}, Inputs: []pipeline.ContamInput{}, Seed: o.Seed, Config: ix.ConfigHash()}
	carrier, t, err := a.selftestCarrier(ctx, &pipeline.ContamCheck{Index: ix, Benches: benches, Read: read}, files, ans.Found)
	if err != nil {
		return err
	}
	bad = append(bad, t.Bad...)
	ans.Inputs, ans.Records = append(ans.Inputs, t.Inputs...), t.Records
	ans.Benchmarks = reportBenches(benches)
	sets := benchSets(benches)
	opts := selftest.Options{Seed: uint64(o.Seed), Items: o.Items, MinRecall: o.MinRecall, Kinds: o.Kinds, Workers: a.workers()}
	result, err := selftest.Run(ctx, ix, sets, carrier, opts)
	if err != nil {
		return errors.Join(bad.OrNil(), err)
	}
	if err := a.writeCopies(o, sets, carrier, opts); err != nil {
		return err
	}
	if !o.DryRun {
		ans.Copies = o.Copies
	}
	ans.fill(result)
	if !ans.Pass {
		bad = append(bad, ans.refusal())
	}
	ans.Exit = fail.Code(bad.OrNil())
	if err := a.answer(ans); err != nil {
		return err
	}
	return bad.OrNil()
}

// selftestCarrier checks the data as it is and keeps text of it in which the
// check found nothing.
func (a *app) selftestCarrier(ctx context.Context, c *pipeline.ContamCheck, files []string, found map[string]int) (*selftest.Carrier, *pipeline.ContamTotals, error) {
	c.Read.PDF = format.NewPDFRuntime(a.host.cache())
	defer c.Read.PDF.Close()
	c.Read.CacheDir, c.Read.Workers = a.host.cache(), a.workers()
	c.Workers, c.Note = a.workers(), a.note
	c.Hit = func(h *pipeline.ContamHit) error {
		found[string(h.Verdict)]++
		return nil
	}
	t, err := c.Files(ctx, files)
	if err != nil {
		return nil, nil, err
	}
	// again, one unit after the other and only as far as needed, so that what is
	// kept does not depend on the number of workers
	carrier := &selftest.Carrier{}
	full := errors.New("enough text")
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	again := *c
	again.Workers, again.Hit, again.Note = 1, nil, func(format.Note) {}
	again.Scanner = func() pipeline.ContamScanner {
		return &carrierScanner{c.Index.Scanner(), carrier, func() { stop(full) }}
	}
	if _, err := again.Files(ctx, files); err != nil && !errors.Is(err, full) {
		return nil, nil, err
	}
	return carrier, t, nil
}

// carrierScanner gives the text of records without a finding to a carrier.
type carrierScanner struct {
	*contam.Scanner
	carrier *selftest.Carrier
	full    func()
}

func (s *carrierScanner) Row(row []byte) ([]contam.Finding, error) {
	found, err := s.Scanner.Row(row)
	if err == nil && len(found) == 0 {
		if r, err := rowtext.Read(row); err == nil {
			s.add(r.Join(), r.Chat)
		}
	}
	return found, err
}

func (s *carrierScanner) Text(text []byte) []contam.Finding {
	found := s.Scanner.Text(text)
	if len(found) == 0 {
		s.add(string(text), false)
	}
	return found
}

func (s *carrierScanner) add(text string, chat bool) {
	s.carrier.Add(text, chat)
	if s.carrier.Full() {
		s.full()
	}
}

// writeCopies writes the copies as rows that any program can check.
func (a *app) writeCopies(o ContamSelftestOptions, sets []contam.Set, carrier *selftest.Carrier, opts selftest.Options) error {
	if o.Copies == "" {
		return nil
	}
	copies, err := selftest.Copies(sets, carrier, opts)
	if err != nil {
		return err
	}
	out, err := atomicfile.CreateUnless(o.DryRun, o.Copies)
	if err != nil {
		return err
	}
	defer out.Abort()
	for c := range copies {
		b := drydock.AppendJSONString([]byte(`{"id":`), c.ID)
		b = drydock.AppendJSONString(append(b, `,"benchmark":`...), c.Item.Benchmark)
		b = fmt.Appendf(b, `,"index":%d,"kind":`, c.Item.Index)
		b = drydock.AppendJSONString(b, c.Kind.Name)
		b = drydock.AppendJSONString(append(b, `,"expect":`...), string(c.Kind.Expect))
		b = drydock.AppendJSONString(append(b, `,"text":`...), c.Text)
		if _, err := out.Write(append(b, "}\n"...)); err != nil {
			return err
		}
	}
	return out.Commit()
}

func (s *selftestAnswer) fill(r *selftest.Result) {
	s.Items, s.Pass = r.Items, r.Pass()
	for _, o := range r.Kinds {
		k := selftestKind{
			Kind: o.Name, Expect: string(o.Expect), Made: o.Made, Met: o.Met, Bar: o.Bar,
			Wilson95: [2]float64{places(o.Low), places(o.High)},
			Leaks:    o.Leaks, Variants: o.Variants, Others: o.Others, Pass: o.Pass, Missed: []selftestMiss{},
		}
		if o.Made > 0 {
			k.Share = places(float64(o.Met) / float64(o.Made))
		}
		for _, m := range o.Missed {
			k.Missed = append(k.Missed, selftestMiss{report.Item{Benchmark: m.Item.Benchmark, Index: m.Item.Index}, m.Verdict, m.OtherAs, m.Rows})
		}
		s.Kinds = append(s.Kinds, k)
		s.titles = append(s.titles, o.Title)
	}
}

// places rounds to four places.
func places(x float64) float64 { return math.Round(x*1e4) / 1e4 }

func (s *selftestAnswer) refusal() *fail.Error {
	n := 0
	for _, k := range s.Kinds {
		if !k.Pass {
			n++
		}
	}
	return fail.New(fail.Refused, msg.Text{"%d {kind of change is|kinds of change are} below the bar", "%d 种改动方式未达标"}, n).
		Hint(msg.Text{"--json lists the copies that were missed", "--json 列出未检出的副本"})
}

func (s selftestAnswer) text(t *ui.Terminal) {
	for _, b := range s.Benchmarks {
		t.Print(msg.Text{"%s  %d {item|items} (%s)", "%s  %d 题（%s）"}, b.Ref, b.Items, b.SHA256[:min(8, len(b.SHA256))])
	}
	t.Print(msg.Text{"your data  %s of %s", "您的数据  %s，%s"},
		t.Count(s.Records, "record", "records", "条记录"), t.Count(len(s.Inputs), "file", "files", "个文件"))
	for _, v := range contam.Verdicts() {
		if n := s.Found[string(v)]; n > 0 {
			t.Print(msg.Text{"  in it as it is: %s %d", "  其中原有：%s %d"}, string(v), n)
		}
	}
	tb := t.Table(ui.Column{Title: msg.Text{"Kind", "方式"}}, ui.Column{Title: msg.Text{"Must be", "应为"}},
		ui.Column{Title: msg.Text{"Made", "份数"}, Right: true}, ui.Column{Title: msg.Text{"Came out so", "符合"}, Right: true},
		ui.Column{Title: msg.Text{"Interval", "区间"}}, ui.Column{Title: msg.Text{"Bar", "标准"}}, ui.Column{})
	for _, k := range s.Kinds {
		mark := t.Good(t.Say(msg.Text{"ok", "通过"}))
		share, low := fmt.Sprintf("%.3f", k.Share), fmt.Sprintf("%.3f–%.3f", k.Wilson95[0], k.Wilson95[1])
		switch {
		case k.Made == 0:
			share, low, mark = "-", "-", "-"
		case !k.Pass:
			mark = t.Bad(t.Say(msg.Text{"BELOW", "未达标"}))
		}
		tb.Row(k.Kind, k.Expect, fmt.Sprint(k.Made), share, low, fmt.Sprintf("%.3f", k.Bar), mark)
	}
	tb.Print()
	reached, made := 0, 0
	for _, k := range s.Kinds {
		if k.Made > 0 && k.Pass {
			reached++
		}
		if k.Made > 0 {
			made++
		}
	}
	t.Print(msg.Text{"%d of %d kinds reach their bar", "%d / %d 种方式达标"}, reached, made)
	for i, k := range s.Kinds {
		if !k.Pass {
			s.missed(t, k, s.titles[i])
		}
	}
	if s.Copies != "" {
		t.Print(msg.Text{"copies: %s", "副本：%s"}, s.Copies)
	}
}

// missed names the first items a kind was missed of.
func (s *selftestAnswer) missed(t *ui.Terminal, k selftestKind, title msg.Text) {
	const most = 6
	var names []string
	for i, m := range k.Missed {
		if i == most {
			names = append(names, "…")
			break
		}
		as := m.Verdict
		if as == "" && m.Other != "" {
			as = "≠"
		}
		names = append(names, strings.TrimSpace(fmt.Sprintf("%d %s", m.Item.Index, as)))
	}
	t.Print(msg.Text{"%s (%s): %s", "%s（%s）：%s"}, k.Kind, t.Say(title), msg.List(names))
}
