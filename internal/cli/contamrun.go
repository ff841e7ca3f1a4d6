package cli

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/drydock-ml/drydock/dataprep/format"
	"github.com/drydock-ml/drydock/dedup/contam"
	"github.com/drydock-ml/drydock/dedup/contam/report"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/parallel"
	"github.com/drydock-ml/drydock/internal/pipeline"
	"github.com/drydock-ml/drydock/internal/runstore"
	"github.com/drydock-ml/drydock/internal/textnorm"
)

// shownHits is how many leaks are shown side by side.
const shownHits = 5

// contamAnswer is what a check or a merge answers. Its fields are stable.
type contamAnswer struct {
	report.Summary
	contamFiles
	contamClean
	Judge   *judgeAnswer `json:"judge,omitempty"`
	seconds float64
	shown   []report.Hit // the first leaks
}

// contamRun is a check that is ready to begin.
type contamRun struct {
	*pipeline.ContamCheck
	settings contamSettings
	waivers  *report.Waivers
	shard    *report.Shard // nil: the whole
	files    []string
	bad      fail.List // what is already known to be missing
}

// prepareContam reads everything a check needs but the data.
func (a *app) prepareContam(o *ContamCheckOptions) (r contamRun, err error) {
	if r.shard, err = o.check(); err != nil {
		return r, err
	}
	if r.waivers, err = a.readWaivers(o.Waivers); err != nil {
		return r, err
	}
	benches, ix, err := a.contamIndexWith(o.Against, o.Thresholds)
	if err != nil {
		return r, err
	}
	if r.files, r.bad, err = o.files(); err != nil {
		return r, err
	}
	read, err := o.options()
	if err != nil {
		return r, err
	}
	r.ContamCheck = &pipeline.ContamCheck{Index: ix, Benches: benches, Read: read}
	if r.shard != nil {
		r.Shard = pipeline.ContamShard{Index: r.shard.Index, Of: r.shard.Of}
	}
	r.settings, err = usePreset(o.Preset, ix, r.ContamCheck)
	return r, err
}

func runContamCheck(ctx context.Context, a *app, o ContamCheckOptions) error {
	r, err := a.prepareContam(&o)
	if err != nil {
		return err
	}
	start := a.host.Now()
	judged, unjudged, err := a.useJudge(ctx, o.judgeOptions, r.ContamCheck, r.files)
	if err != nil {
		return err
	}
	ans := &contamAnswer{Summary: newContamSummary(r.Benches, r.settings), Judge: judged}
	ans.Summary.Shard, ans.Redacted, ans.Preset = r.shard, o.Redact, o.Preset
	sink, err := a.contamSink(o.contamOutputs, o.DryRun, &ans.Summary, r.ContamCheck, r.waivers)
	if err != nil {
		return err
	}
	defer sink.close()
	blind := blindSpots(r.settings)
	t, err := a.scanContam(ctx, o, r.ContamCheck, r.files, sink)
	ans.Blind, ans.BlindStemOnly = blind()
	if err != nil {
		return err
	}
	ans.take(t, sink)
	ans.contamClean.take(o.contamClean, t, o.DryRun)
	ans.seconds = a.host.Now().Sub(start).Seconds()
	bad := slices.Concat(r.bad, unjudged, t.Bad)
	switch {
	case ans.Failed > 0:
		bad = append(bad, contamLeaks(o, t, r.files))
	case ans.Records == 0 && r.shard == nil && len(bad) == 0:
		bad = append(bad, nothingChecked())
	}
	if o.Redact {
		unquote(bad)
	}
	ans.Exit = fail.Code(bad.OrNil())
	if err := sink.finish(a.lang); err != nil {
		return err
	}
	if !o.DryRun {
		ans.contamFiles = o.contamFiles
		if err := a.keepCheck(&ans.Summary, start); err != nil {
			return err
		}
	}
	ans.shown = sink.shown
	if err := a.answer(ans); err != nil {
		return err
	}
	return bad.OrNil()
}

// check refuses flags that do not go together, and reads --shard.
func (o *ContamCheckOptions) check() (*report.Shard, error) {
	if err := o.contamClean.check(); err != nil {
		return nil, err
	}
	if err := distinct(slices.Concat(o.contamFiles.named(), o.contamClean.named())...); err != nil {
		return nil, err
	}
	if o.Preset != "" && o.Thresholds != "" {
		return nil, fail.New(fail.Usage, msg.Text{"--preset and --thresholds do not go together: a preset has the thresholds of its program", "--preset 与 --thresholds 不能同时使用：预设自带其程序的阈值"})
	}
	if o.Shard == "" {
		return nil, nil
	}
	index, of, _ := strings.Cut(o.Shard, "/")
	i, err1 := strconv.Atoi(index)
	n, err2 := strconv.Atoi(of)
	if err1 != nil || err2 != nil || i < 1 || n < 1 || i > n {
		return nil, fail.New(fail.Usage, msg.Text{"--shard %q: want i/n with i from 1 to n", "--shard %q：应为 i/n，i 从 1 到 n"}, o.Shard)
	}
	if o.Report == "" {
		return nil, fail.New(fail.Usage, msg.Text{"--shard needs --report FILE: that is what contam merge joins", "--shard 需要 --report FILE：contam merge 合并的就是它"})
	}
	if o.Clean != "" {
		return nil, fail.New(fail.Usage, msg.Text{"--shard and --clean do not go together", "--shard 与 --clean 不能同时使用"}).
			Hint(msg.Text{"check in shards, then clean in one run", "先分片检查，再用一次运行清理"})
	}
	return &report.Shard{Index: i, Of: n, Units: []report.ShardUnit{}}, nil
}

// files lists what is checked, and keeps outputs off it.
func (o *ContamCheckOptions) files() (files []string, bad fail.List, err error) {
	if files, bad, err = expandInputs(o.Inputs); err != nil {
		return nil, nil, err
	}
	if o.Clean != "" && len(files) != 1 {
		return nil, nil, fail.New(fail.Usage, msg.Text{"--clean takes one input, got %d {file|files}", "--clean 只接受一个输入，得到 %d 个文件"}, len(files)).
			Hint(msg.Text{"clean each file by a run of its own; the check of all needs no --clean", "请逐个文件运行 --clean；检查全部文件时无需该选项"})
	}
	for _, out := range append(o.contamFiles.named(), o.contamClean.named()...) {
		if err := keepInputs(out.flag, out.path, files); err != nil {
			return nil, nil, err
		}
	}
	return files, bad, nil
}

// keepCheck keeps the summary with the project's runs, where drydock train looks
// for a check that covers its data. Outside a project nothing is kept.
func (a *app) keepCheck(s *report.Summary, start time.Time) error {
	if _, err := os.Stat(a.configFile()); err != nil || s.Shard != nil {
		return nil
	}
	runs, err := a.projectRuns()
	if err != nil {
		return err
	}
	env, err := a.runEnv()
	if err != nil {
		return err
	}
	run, err := runstore.Begin(runs, runstore.Info{Command: "contam check", Start: start, Host: env.Host, PID: env.PID, Tool: env.Tool}, nil)
	if err != nil {
		return err
	}
	b, err := s.MarshalFile()
	if err == nil {
		err = run.SaveCheck(b)
	}
	status, text := runstore.Success, ""
	if s.Exit == fail.Partial.Code() {
		status = runstore.Partial
	} else if s.Exit != 0 || err != nil {
		status = runstore.Failed
	}
	if err != nil {
		text = err.Error()
	}
	return errors.Join(err, run.End(a.host.Now(), status, s.Exit, text, 0))
}

func nothingChecked() *fail.Error {
	p := report.NothingChecked()
	return fail.New(fail.Partial, p.Text, p.Args...)
}

// unquote takes the lines that errors show out of them: they may hold an item.
func unquote(bad fail.List) {
	for _, e := range bad {
		e.Where.Excerpt = ""
	}
}

// readWaivers reads --waivers; nil when there is none.
func (a *app) readWaivers(name string) (*report.Waivers, error) {
	if name == "" {
		return nil, nil
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, fail.New(fail.Usage, msg.Text{"--waivers: %v", "--waivers：%v"}, err)
	}
	return report.ReadWaivers(name, data, a.host.Now())
}

// newContamSummary says what is checked against.
func newContamSummary(benches []*pipeline.Bench, settings contamSettings) report.Summary {
	s := report.Summary{
		Version: buildVersion().Version, Benchmarks: reportBenches(benches), Items: settings.Items(), Config: settings.ConfigHash(),
	}
	s.Fail = failVerdicts(benches, settings)
	s.Normalize()
	return s
}

// blindSpots looks for what the settings cannot see, whole items and stems alone,
// beside the scan; wait gives it.
func blindSpots(settings contamSettings) (wait func() (whole, stems []report.Item)) {
	whole, stems := []report.Item{}, []report.Item{}
	task := parallel.Go(func() error {
		whole = reportItems(settings.Blind())
		if s, ok := settings.(interface{ BlindStems() []contam.ItemRef }); ok {
			stems = reportItems(s.BlindStems())
		}
		return nil
	})
	return func() ([]report.Item, []report.Item) {
		if err := task.Wait(); err != nil {
			panic(err) // a bug, as it would be without the goroutine
		}
		return whole, stems
	}
}

// failVerdicts lists what fails the check, against any of the benchmarks.
func failVerdicts(benches []*pipeline.Bench, settings contamSettings) []string {
	config := contam.DefaultConfig()
	if ix, ok := settings.(*contam.Index); ok {
		config = ix.Config()
	}
	var out []string
	for _, v := range contam.Verdicts() {
		if slices.ContainsFunc(benches, func(b *pipeline.Bench) bool { return slices.Contains(config.For(b.Ref().Name).Fail, v) }) {
			out = append(out, string(v))
		}
	}
	return out
}

func reportItems(refs []contam.ItemRef) []report.Item {
	out := []report.Item{}
	for _, r := range refs {
		out = append(out, report.Item{Benchmark: r.Benchmark, Index: r.Index})
	}
	return out
}

// take fills in what was counted.
func (ans *contamAnswer) take(t *pipeline.ContamTotals, sink *contamSink) {
	for i, in := range t.Inputs {
		r := report.Input{File: in.File, SHA256: in.SHA256, Records: in.Records, Bytes: in.Bytes, Failing: sink.failing[i], ReadAs: string(in.ReadAs)}
		for how, n := range in.Members {
			if r.Members == nil {
				r.Members = map[string]int{}
			}
			r.Members[string(how)] = n
		}
		ans.Inputs = append(ans.Inputs, r)
	}
	ans.Records, ans.Bytes, ans.Failed = t.Records, t.Bytes, t.Failed
	ans.Waivers = sink.waivers.State()
}

// scanContam checks the files. Report and clean rows are written while it goes,
// in the order of the data.
func (a *app) scanContam(ctx context.Context, o ContamCheckOptions, c *pipeline.ContamCheck, files []string, sink *contamSink) (*pipeline.ContamTotals, error) {
	commit, abort, err := o.open(a, o.DryRun, c)
	if err != nil {
		return nil, err
	}
	defer abort()
	c.Read.CacheDir, c.Read.Workers = a.host.cache(), a.workers()
	c.Read.PDF = format.NewPDFRuntime(a.host.cache())
	defer c.Read.PDF.Close()
	c.Workers, c.Note = a.workers(), a.note
	c.Progress = func(name string, size int64) (func(int64), func()) {
		p := a.term.Progress(name, size, true)
		return p.Set, p.End
	}
	c.Hit = sink.hit
	t, err := c.Files(ctx, files)
	if err != nil {
		return nil, err
	}
	return t, commit()
}

// contamLeaks is the error of records that fail the check.
func contamLeaks(o ContamCheckOptions, t *pipeline.ContamTotals, files []string) *fail.Error {
	e := leaksFound(t.Failed)
	switch {
	case o.Clean != "" || o.Shard != "":
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

func leaksFound(n int) *fail.Error {
	return fail.New(fail.Contamination, msg.Text{"records that are benchmark items: %d", "属于评测集题目的记录：%d 条"}, n)
}

func secondsOf(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// contamIndex resolves the references and builds one index of them all.
func (a *app) contamIndex(refs []string) ([]*pipeline.Bench, *contam.Index, error) {
	return a.contamIndexWith(refs, "")
}

// contamIndexWith is contamIndex with the thresholds of a file, if one is named.
func (a *app) contamIndexWith(refs []string, thresholds string) ([]*pipeline.Bench, *contam.Index, error) {
	var c contam.Config
	if thresholds != "" {
		src, err := a.readFile(thresholds)
		if err != nil {
			return nil, nil, err
		}
		var bad fail.List
		if c, bad = pipeline.ReadThresholds(thresholds, src); len(bad) > 0 {
			return nil, nil, bad.OrNil()
		}
	}
	if a.workers() > 1 {
		// the index wants it next, whichever benchmarks these are
		parallel.Go(func() error { textnorm.NewFolder(); return nil })
	}
	var benches []*pipeline.Bench
	names := map[string]string{}
	for _, ref := range refs {
		b, err := a.findReference(ref)
		if err != nil {
			return nil, nil, err
		}
		name := b.Ref().Name
		if other, twice := names[name]; twice {
			return nil, nil, fail.New(fail.Usage, msg.Text{"--against %s and %s are both called %s: findings could not tell them apart", "--against %s 与 %s 同名 %s：报告无法区分"}, other, ref, name).
				Hint(msg.Text{"drydock bench add NAME %s gives it a name of its own", "用 drydock bench add 名称 %s 另取名称"}, ref)
		}
		names[name] = ref
		benches = append(benches, b)
	}
	for _, name := range slices.Sorted(maps.Keys(c.Benchmarks)) {
		if _, ok := names[name]; !ok {
			return nil, nil, fail.New(fail.Config, msg.Text{"%s sets thresholds for %q, which is not checked against", "%s 为 %q 设置了阈值，但并未与其比对"}, thresholds, name).
				Hint(msg.Text{"it is one of: %s", "可选：%s"}, msg.List(slices.Sorted(maps.Keys(names))))
		}
	}
	ix, err := contam.NewIndexOf(benchSets(benches), c)
	return benches, ix, err
}

// benchItem writes an item as people name it.
func benchItem(ref contam.ItemRef) string { return fmt.Sprintf("%s %d", ref.Benchmark, ref.Index) }
