package cli

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/pipeline"
	"github.com/drydock-ml/drydock/internal/training"
	"github.com/drydock-ml/drydock/internal/ui"
	"github.com/drydock-ml/drydock/provenance"
)

// A runPrinter shows a run while it goes: a line a stage for people, NDJSON for
// programs.
type runPrinter interface {
	event(e pipeline.Event)
	end(r *pipeline.Result, err error, planned bool) error
}

func (a *app) runPrinter() runPrinter {
	if a.term.JSON() {
		return &jsonRun{a: a}
	}
	return &textRun{t: a.term}
}

// jsonRun prints one object a line, told apart by type.
type jsonRun struct {
	a   *app
	err error // of the first line that could not be written
}

func (j *jsonRun) write(v any) {
	if err := j.a.term.Value(v); err != nil && j.err == nil {
		j.err = err
	}
}

func (j *jsonRun) event(e pipeline.Event) {
	switch e.Type {
	case "stage":
		j.write(struct {
			Type   string `json:"type"`
			Schema string `json:"schema"`
			*pipeline.StageResult
		}{"stage", "drydock.run.stage/1", e.Result})
	case "warning":
		j.write(struct {
			Type    string `json:"type"`
			Schema  string `json:"schema"`
			Message string `json:"message"`
		}{"warning", "drydock.warning/1", e.Text.In(j.a.lang)})
	}
}

func (j *jsonRun) end(r *pipeline.Result, err error, planned bool) error {
	type stage struct {
		Name   string `json:"name"`
		Status string `json:"status"`
	}
	s := struct {
		Type   string  `json:"type"`
		Schema string  `json:"schema"`
		RunID  string  `json:"run_id,omitempty"`
		DryRun bool    `json:"dry_run"`
		Stages []stage `json:"stages"`
		Exit   int     `json:"exit"`
	}{Type: "summary", Schema: "drydock.run.summary/1", DryRun: planned, Stages: []stage{}, Exit: fail.Code(err)}
	if r != nil {
		s.RunID = r.RunID
		for _, x := range r.Stages {
			s.Stages = append(s.Stages, stage{x.Name, x.Status})
		}
	}
	j.write(s)
	return j.err
}

// textRun prints a row a stage as it ends.
type textRun struct {
	t        *ui.Terminal
	progress *ui.Progress
	stage    string // that progress is of
}

func (p *textRun) event(e pipeline.Event) {
	switch e.Type {
	case "progress":
		if p.stage != e.Stage {
			p.endProgress()
			p.stage, p.progress = e.Stage, p.t.Progress(e.Stage, int64(e.Total), false)
		}
		p.progress.Set(int64(e.Done))
	case "warning":
		p.t.Note(msg.Text{"%s", "%s"}, e.Text)
	case "stage":
		p.endProgress()
		p.row(e.Result)
	}
}

func (p *textRun) endProgress() {
	if p.progress != nil {
		p.progress.End()
		p.progress, p.stage = nil, ""
	}
}

// row prints: stage, how much went in, what became of it, how long it took. For
// a program: stage, status, amount, the rest, seconds, tab-separated.
func (p *textRun) row(s *pipeline.StageResult) {
	amount, details := describeStage(p.t, s)
	if s.Status == pipeline.StatusSkipped {
		if p.t.Verbose(1) {
			p.t.Detail(msg.Text{"%s skipped: %s", "%s 已跳过：%s"}, s.Name, s.Reason)
		}
		return
	}
	took := p.t.Duration(time.Duration(s.Seconds * float64(time.Second)))
	if s.Status != pipeline.StatusDone {
		took = stageWord(p.t, s.Status)
	}
	if !p.t.OutTTY() {
		p.t.Println(strings.Join([]string{s.Name, s.Status, amount, strings.Join(details, "; "), fmt.Sprintf("%.3f", s.Seconds)}, "\t"))
		return
	}
	width := min(p.t.Width(), 100) - 9 - 11 - 10
	var lines []string
	for _, d := range details {
		lines = append(lines, ui.Wrap(p.t.Commands(d), width)...)
	}
	if len(lines) == 0 {
		lines = []string{""}
	}
	p.t.Println(strings.TrimRight(ui.Pad(s.Name, 9)+ui.Pad(amount, 11)+ui.Pad(lines[0], width)+ui.PadLeft(took, 10), " "))
	for _, l := range lines[1:] {
		p.t.Println(strings.Repeat(" ", 20) + l)
	}
}

// printNotes names the file of a note unless its words do.
func printNotes(t *ui.Terminal, notes []pipeline.Note) {
	for _, n := range notes {
		if n.File == "" || strings.HasPrefix(n.En, n.File) {
			t.Note(msg.Text{"%s", "%s"}, n)
			continue
		}
		t.Note(msg.Text{"%s: %s", "%s：%s"}, n.File, n)
	}
}

// stageWord says in words how a stage ended; a program gets the word of the
// data.
func stageWord(t *ui.Terminal, status string) string {
	if !t.OutTTY() {
		return status
	}
	switch status {
	case pipeline.StatusDone:
		return t.Say(msg.Text{"done", "完成"})
	case pipeline.StatusSkipped:
		return t.Say(msg.Text{"skipped", "已跳过"})
	case pipeline.StatusCached:
		return t.Say(msg.Text{"unchanged", "未变化"})
	case pipeline.StatusPlanned:
		return t.Say(msg.Text{"to do", "待执行"})
	case pipeline.StatusFailed:
		return t.Bad(t.Say(msg.Text{"failed", "失败"}))
	case pipeline.StatusInterrupted:
		return t.Say(msg.Text{"interrupted", "已中断"})
	}
	return status
}

func (p *textRun) end(r *pipeline.Result, err error, planned bool) error {
	p.endProgress()
	if r == nil {
		return nil
	}
	if s := r.Stage(pipeline.StageEval); s != nil {
		for _, e := range s.Eval {
			if l := e.Summary.LeakSignal; l != nil {
				p.t.Println("")
				p.t.Print(msg.Text{"%s: %s", "%s：%s"}, e.Endpoint, l)
			}
			if e.WithLeaks != nil {
				p.t.Println("")
				p.t.Print(msg.Text{
					"With the leaks left in, %s would have scored %.1f %% instead of %.1f %%.",
					"若保留泄漏题目，%s 的得分将为 %.1f %%，而不是 %.1f %%。",
				}, e.Endpoint, 100**e.WithLeaks, 100*e.Summary.Accuracy)
			}
		}
	}
	switch {
	case err != nil:
	case planned:
		p.t.Next("drydock run")
	case r.RunID != "":
		p.t.Next(nextAfter(r))
	}
	return nil
}

// nextAfter is the command most likely wanted after a run.
func nextAfter(r *pipeline.Result) string {
	if s := r.Stage(pipeline.StagePack); s != nil && s.Pack != nil {
		return "drydock submit verify " + s.Pack.Path
	}
	if s := r.Stage(pipeline.StageTrain); s != nil && s.Train != nil && !s.Train.Ran {
		return "drydock train -n"
	}
	return "drydock runs show " + r.RunID
}

// describeStage says how much a stage got and what became of it.
func describeStage(t *ui.Terminal, s *pipeline.StageResult) (amount string, details []string) {
	if s.Sums != nil && s.Name != pipeline.StageSources {
		amount = t.Say(msg.Text{"%d in", "输入 %d"}, s.Sums.In)
	}
	switch s.Name {
	case pipeline.StageSources:
		amount = t.Count(len(s.Inputs), "file", "files", "个文件")
		details = append(details, kindCounts(t, s.Kinds))
		details = append(details, sectionTotals(t, s.Inputs)...)
		details = append(details, conflictLines(t, s.Conflicts)...)
	case pipeline.StageContam:
		details = describeContam(t, s)
	case pipeline.StageOutput:
		details = describeOutput(t, s)
	case pipeline.StageMix:
		details = describeMix(t, s)
	case pipeline.StageTrain:
		details = describeTrain(t, s.Train)
	case pipeline.StageEval:
		details = describeEval(t, s.Eval)
	case pipeline.StagePack:
		if s.Pack != nil {
			details = append(details, s.Pack.Path, t.Say(msg.Text{"gates: %d passed, %d failed, %d {warning|warnings}", "检查项：通过 %d，不通过 %d，警告 %d"},
				s.Pack.Summary.Passed, s.Pack.Summary.Failed+s.Pack.Summary.Errors, s.Pack.Summary.Warned))
		}
	case pipeline.StageCard:
		details = append(details, fileNames(s.Files).In(t.Lang()))
	}
	if s.Sums != nil && s.Name != pipeline.StageOutput && s.Name != pipeline.StageContam && s.Name != pipeline.StageMix {
		details = append(details, sumsText(t, s)...)
	}
	if s.Dedup != nil && len(s.Dedup.Listed) > 0 {
		details = append(details, t.Say(msg.Text{"alike, and kept: %s", "相似但保留：%s"}, listedWords(s.Dedup.Listed)))
	}
	if s.Status == pipeline.StatusPlanned && s.Train == nil {
		details = append(details, reasonText(t, s.Reason))
	}
	return amount, slices.DeleteFunc(details, func(d string) bool { return d == "" })
}

// reasonText says in the reader's language why a stage would run; a reason it
// does not know stays as the pipeline gave it.
func reasonText(t *ui.Terminal, reason string) string {
	for _, r := range []msg.Text{
		{"sources, steps or options changed", "来源、步骤或选项有变化"},
		{"some units are new or changed", "部分内容为新增或有变化"},
		{"not done yet", "尚未执行"},
		{"follows the output", "在输出之后"},
		{"follows the evaluation", "在评测之后"},
		{"answers are reused where nothing changed", "未变化之处沿用已有回答"},
	} {
		if r[msg.En] == reason {
			return t.Say(r)
		}
	}
	return reason
}

// sumsText says what became of a stage's records; on a terminal with a line for
// each reason why some were dropped.
func sumsText(t *ui.Terminal, s *pipeline.StageResult) []string {
	text := t.Say(msg.Text{"%d kept", "保留 %d"}, s.Sums.Out)
	n := s.Sums.DroppedTotal()
	switch {
	case n > 0 && t.OutTTY():
		text += t.Say(msg.Text{", %d dropped", "，丢弃 %d"}, n)
	case n > 0:
		text += t.Say(msg.Text{", %d dropped (%s)", "，丢弃 %d（%s）"}, n, countWords(s.Sums.Dropped))
	}
	if s.Sums.Merged > 0 {
		text += t.Say(msg.Text{", %d merged", "，合并 %d"}, s.Sums.Merged)
	}
	lines := []string{text}
	if t.OutTTY() {
		lines = append(lines, meaningLines(t, s.Sums.Dropped, provenance.ReasonMeaning)...)
	}
	return lines
}

// meaningLines says in words what was counted, the largest count first. A name
// that has no words stands for itself.
func meaningLines(t *ui.Terminal, counts map[string]int, meaning func(name string) (msg.Text, bool)) []string {
	var lines []string
	for _, name := range byCount(counts) {
		line := fmt.Sprintf("%d %s", counts[name], name)
		if means, ok := meaning(name); ok {
			line = t.Say(msg.Text{"%d %s: %s", "%d %s：%s"}, counts[name], name, means)
		}
		lines = append(lines, line)
	}
	return lines
}

// kindCounts counts kinds of records by their names in the reader's language; a
// program gets the names of the data.
func kindCounts(t *ui.Terminal, kinds map[string]int) string {
	if !t.OutTTY() || t.Lang() == msg.En {
		return countWords(kinds).In(msg.En)
	}
	var parts msg.List
	for _, k := range byCount(kinds) {
		parts = append(parts, fmt.Sprintf("%s %d", kindName(k, t.Lang()), kinds[k]))
	}
	return parts.In(t.Lang())
}

// kindName is a kind of record or question in the reader's language.
func kindName(k string, l msg.Lang) string {
	if l == msg.En {
		return k
	}
	zh := map[string]string{
		string(drydock.Single): "单选题", string(drydock.Multiple): "多选题", string(drydock.Judge): "判断题",
		string(drydock.Blank): "填空题", string(drydock.Short): "简答题", string(drydock.Matching): "匹配题",
		string(drydock.KindPassage): "段落", string(drydock.KindQuestion): "题目", string(drydock.KindChat): "对话",
	}
	return cmp.Or(zh[k], k)
}

func describeContam(t *ui.Terminal, s *pipeline.StageResult) []string {
	var out []string
	for _, c := range s.Contam {
		name, _, _ := strings.Cut(c.Benchmark, "@")
		items := t.Count(c.Items, "item", "items", "题")
		switch {
		case s.Status == pipeline.StatusPlanned:
			out = append(out, t.Say(msg.Text{"will be compared with %s (%s)", "将与 %s（%s）比对"}, name, items))
			continue
		case s.Sums == nil: // a plan has not looked
			out = append(out, t.Say(msg.Text{"compared with %s (%s)", "已与 %s（%s）比对"}, name, items))
			continue
		}
		line := t.Good(t.Say(msg.Text{"no leak of %s (%s)", "无 %s 泄漏（%s）"}, name, items))
		if c.Leaks > 0 {
			line = t.Bad(t.Count(c.Leaks, "LEAK", "LEAKS", "处泄漏")) + t.Say(msg.Text{" of %s (%s), %d removed", "：%s（%s），已移除 %d"}, name, items, c.Removed)
			if c.Masked > 0 {
				line += t.Say(msg.Text{", %d of them masked", "，其中 %d 条为遮盖"}, c.Masked)
			}
		}
		out = append(out, line)
		if t.OutTTY() {
			out = append(out, meaningLines(t, c.Verdicts, provenance.VerdictMeaning)...)
		} else {
			out = append(out, countWords(c.Verdicts).In(t.Lang()))
		}
	}
	return out
}

// describeEval puts the endpoints of a benchmark under each other.
// describeOutput names the files, their rows, and what none of them took.
func describeOutput(t *ui.Terminal, s *pipeline.StageResult) (details []string) {
	for _, o := range s.Output {
		if s.Sums == nil { // a plan has not counted
			details = append(details, o.Path)
			if o.Dev != nil {
				details = append(details, o.Dev.Path)
			}
			continue
		}
		details = append(details, t.Say(msg.Text{"%s: %d %s {row|rows}", "%s：%d 行 %s"}, o.Path, o.Rows, o.Shape))
		details = append(details, lettersText(t, o.Letters)...)
		details = append(details, packedText(t, o.Packed)...)
		if d := o.Dev; d != nil {
			details = append(details, t.Say(msg.Text{"%s: %d %s {row|rows}", "%s：%d 行 %s"}, d.Path, d.Rows, d.Shape))
		}
	}
	if s.Sums == nil || s.Sums.DroppedTotal() == 0 {
		return details
	}
	if !t.OutTTY() {
		return append(details, t.Say(msg.Text{"%d dropped (%s)", "丢弃 %d（%s）"}, s.Sums.DroppedTotal(), countWords(s.Sums.Dropped)))
	}
	details = append(details, t.Say(msg.Text{"%d dropped", "丢弃 %d"}, s.Sums.DroppedTotal()))
	return append(details, meaningLines(t, s.Sums.Dropped, provenance.ReasonMeaning)...)
}

func describeEval(t *ui.Terminal, results []pipeline.EvalResult) []string {
	var out []string
	last, wide := "", 0
	for _, e := range results {
		wide = max(wide, ui.Width(e.Endpoint))
	}
	for _, e := range results {
		if e.Summary.Benchmark != last {
			last = e.Summary.Benchmark
			name, _, _ := strings.Cut(last, "@")
			out = append(out, name+t.Say(msg.Text{", ", "，"})+t.Count(e.Summary.N, "item", "items", "题"))
		}
		out = append(out, fmt.Sprintf("%s %5.1f %% (95 %%: %.1f–%.1f)", ui.Pad(e.Endpoint, wide),
			100*e.Summary.Accuracy, 100*e.Summary.Wilson95[0], 100*e.Summary.Wilson95[1]))
	}
	return out
}

func describeTrain(t *ui.Terminal, r *training.Result) []string {
	switch {
	case r == nil:
		return nil
	case r.Ran:
		return []string{t.Say(msg.Text{"%s ended well", "%s 正常结束"}, r.Trainer)}
	case !r.Found:
		return []string{t.Say(msg.Text{"planned only: %s is not installed (drydock doctor)", "仅生成计划：未安装 %s（drydock doctor）"}, r.Trainer)}
	}
	return []string{t.Say(msg.Text{"%s will be started, as by drydock train", "将启动 %s，与 drydock train 相同"}, r.Trainer)}
}

// countWords writes counts by name, the largest first: "single 118, judge 5".
func countWords(m map[string]int) msg.List {
	var parts msg.List
	for _, n := range byCount(m) {
		parts = append(parts, fmt.Sprintf("%s %d", n, m[n]))
	}
	return parts
}

// byCount lists the names that were counted, the largest count first.
func byCount(m map[string]int) []string {
	names := slices.SortedFunc(maps.Keys(m), func(x, y string) int {
		return cmp.Or(cmp.Compare(m[y], m[x]), cmp.Compare(x, y))
	})
	return slices.DeleteFunc(names, func(n string) bool { return m[n] == 0 })
}

// lettersText shows how even the answer letters are, apart for each number of
// options: "4 options: A 27 · B 24 …". The keys are "4:A".
func lettersText(t *ui.Terminal, letters map[string]int) []string {
	groups := map[string][]string{}
	for _, key := range slices.Sorted(maps.Keys(letters)) {
		options, letter, _ := strings.Cut(key, ":")
		groups[options] = append(groups[options], fmt.Sprintf("%s %d", letter, letters[key]))
	}
	var out []string
	for _, options := range slices.Sorted(maps.Keys(groups)) {
		out = append(out, t.Say(msg.Text{"%s options: %s", "%s 个选项：%s"}, options, strings.Join(groups[options], " · ")))
	}
	return out
}

// fileNames shortens a list of files of one folder.
func fileNames(files []string) msg.List {
	if len(files) == 0 {
		return nil
	}
	dir := path.Dir(files[0])
	names := msg.List{files[0]}
	for _, f := range files[1:] {
		if path.Dir(f) == dir {
			f = path.Base(f)
		}
		names = append(names, f)
	}
	return names
}
