package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/drydock-ml/drydock/eval"
	"github.com/drydock-ml/drydock/eval/report"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/llm"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/page"
	"github.com/drydock-ml/drydock/internal/pipeline"
	"github.com/drydock-ml/drydock/internal/ui"
	"github.com/drydock-ml/drydock/launch/checkpoint"
)

// queriesFile counts how often models were asked a benchmark: in the project,
// or, outside of one, in the user's folder.
func (a *app) queriesFile() (string, error) {
	config := a.configFile()
	if _, err := os.Stat(config); err == nil {
		return filepath.Join(filepath.Dir(config), ".drydock", "queries.jsonl"), nil
	}
	home, err := a.host.home()
	return filepath.Join(home, "queries.jsonl"), err
}

// runSweep evaluates every checkpoint of a folder over one server.
func runSweep(ctx context.Context, a *app, o EvalOptions, set evalSettings, b *pipeline.Bench) error {
	found, err := checkpoint.Find(o.Checkpoints, checkpoint.AdapterOptions{})
	if err != nil {
		return err
	}
	dev, err := a.devExam(o, set, b)
	if err != nil {
		return err
	}
	if o.DryRun {
		return a.answer(newSweepPlan(o, b, found, dev))
	}
	client, err := a.client(o, set)
	if err != nil {
		return err
	}
	if o.Model == "" {
		if o.Model, err = baseOf(ctx, client); err != nil {
			return err
		}
	}
	watch := a.evalWatch(b.Name, len(b.Items))
	job, err := a.evalJob(o, set, b, nil, watch)
	if err != nil {
		return err
	}
	s, err := eval.RunSweep(ctx, eval.SweepJob{
		Job: job, Client: client, Sampling: set.sampling, Checkpoints: found, Dev: dev,
		Begin: func(c checkpoint.Checkpoint, exam string, items int) {
			watch.progress.End()
			watch.progress = a.term.Progress(c.Name+" "+exam, int64(items), false)
		},
	})
	watch.progress.End()
	if err == nil {
		err = watch.err
	}
	if err != nil {
		return err
	}
	for _, r := range s.Rows {
		a.noteEvaluation(r.SHA256, r.Dev)
		a.noteEvaluation(r.SHA256, r.Test)
	}
	if err := a.answer(sweepAnswer{s}); err != nil {
		return err
	}
	if err := a.writePages(o.reportOptions, func() *page.Doc { return report.Sweep(&s, a.term.Lang()) }); err != nil {
		return err
	}
	return s.Err()
}

// devExam reads what the choice is made on; nil when none is named.
func (a *app) devExam(o EvalOptions, set evalSettings, b *pipeline.Bench) (*eval.Exam, error) {
	if o.Dev == "" {
		return nil, nil
	}
	d, err := a.findBench(o.Dev)
	if err != nil {
		return nil, err
	}
	if d.Canonical == b.Canonical {
		return nil, fail.New(fail.Usage, msg.Text{"--dev %s holds the items of %s: choosing on the test spoils it", "--dev %s 与 %s 的题目相同：在测试集上选择会使其失效"}, o.Dev, b.Name)
	}
	if err := useRule(d, o.Rule); err != nil {
		return nil, err
	}
	if err := useFilters(d, set.filters); err != nil {
		return nil, err
	}
	return &eval.Exam{Benchmark: d.Benchmark, Items: d.Items}, nil
}

// baseOf finds the one model of a server that is no adapter.
func baseOf(ctx context.Context, c *llm.Client) (string, error) {
	models, err := c.Models(ctx, 10*time.Second)
	if err != nil {
		return "", err
	}
	var names []string
	for _, m := range models {
		if m.Parent == "" {
			names = append(names, m.ID)
		}
	}
	if len(names) != 1 {
		return "", fail.New(fail.Usage, msg.Text{"the server has %d models that are no adapters: %s", "服务端有 %d 个非适配器模型：%s"}, len(names), msg.List(names)).
			Hint(msg.Text{"--model names the one the checkpoints sit on", "请用 --model 指定检查点所基于的模型"})
	}
	return names[0], nil
}

// sweepAnswer prints what came of a sweep.
type sweepAnswer struct{ eval.Sweep }

func (s sweepAnswer) text(t *ui.Terminal) {
	cols := []ui.Column{
		{Title: msg.Text{"STEP", "步数"}, Right: true}, {Title: msg.Text{"CHECKPOINT", "检查点"}},
	}
	figures := func(exam msg.Text) {
		cols = append(cols, ui.Column{Title: exam, Right: true}, ui.Column{Title: msg.Text{"ACCURACY %", "准确率 %"}, Right: true}, ui.Column{Title: msg.Text{"95 %", "95 %"}})
	}
	if s.Dev != "" {
		figures(msg.Text{"DEV", "开发集"})
	}
	if s.Comparison != nil {
		cols = append(cols, ui.Column{Title: msg.Text{"VS BASE", "较基座"}, Right: true}, ui.Column{Title: msg.Text{"P", "P"}, Right: true})
	}
	figures(msg.Text{"TEST", "测试集"})
	tb := t.Table(cols...)
	if s.Comparison != nil {
		tb.Row(append(append([]string{"", s.Base}, sweepCells(s.BaseDev)...), "", "", "", "", "")...)
	}
	for _, r := range s.Rows {
		cells := []string{strconv.Itoa(r.Step), r.Checkpoint}
		if r.Checkpoint == s.Chosen {
			cells[1] += t.Say(msg.Text{" (chosen)", "（选中）"})
		}
		if s.Dev != "" {
			cells = append(cells, sweepCells(r.Dev)...)
		}
		if s.Comparison != nil {
			cells = append(cells, s.against(r.Checkpoint)...)
		}
		tb.Row(append(cells, sweepCells(r.Test)...)...)
	}
	tb.Print()
	s.notes(t)
}

// notes says what stands below the table.
func (s sweepAnswer) notes(t *ui.Terminal) {
	for _, r := range s.Rows {
		if r.Failed() != nil {
			t.Warn(msg.Text{"%s: %v", "%s：%v"}, r.Checkpoint, r.Failed())
			for _, e := range fail.All(r.Failed()) {
				for _, h := range e.Hints(t.Lang()) {
					t.Note(msg.Text{"hint: %s", "提示：%s"}, h)
				}
			}
		}
	}
	if s.BaseError != "" {
		t.Warn(msg.Text{"%s was not compared with: %s", "未能与 %s 比较：%s"}, s.Base, s.BaseError)
	}
	if s.Comparison != nil {
		for _, line := range report.ComparisonNotes(s.Comparison, t.Lang()) {
			t.Println(line)
		}
	}
	if t.OutTTY() {
		if c := report.SweepChart(&s.Sweep, t.Lang()); c != nil {
			t.Println("")
			t.Println(strings.TrimRight(c.Text(min(t.Width(), 100), 14), "\n"))
		}
	}
	if advice := report.SweepAdvice(&s.Sweep, t.Lang()); advice != "" {
		t.Note(msg.Text{"%s", "%s"}, advice)
	}
	noteQueries(t, s.Queries)
}

// against says how a checkpoint stands to the base: difference and p-value,
// adjusted for the number of checkpoints.
func (s sweepAnswer) against(checkpoint string) []string {
	for i := range s.Comparison.Others {
		if k := &s.Comparison.Others[i]; k.Name == checkpoint {
			return []string{fmt.Sprintf("%+.2f", 100*k.Difference), report.PValue(k.Holm)}
		}
	}
	return []string{"", ""}
}

// sweepCells are items, accuracy and interval; empty where nothing was asked.
func sweepCells(x *eval.Summary) []string {
	if x == nil {
		return []string{"", "", ""}
	}
	return []string{strconv.Itoa(x.N), fmt.Sprintf("%.2f", 100*x.Accuracy), fmt.Sprintf("%.2f–%.2f", 100*x.Wilson95[0], 100*x.Wilson95[1])}
}

// noteQueries says how often the items were asked. Once is what they are for.
func noteQueries(t *ui.Terminal, n int) {
	if n > 1 {
		t.Note(msg.Text{"models were asked these items in %d runs so far; a choice made by them is no independent result", "至今已有 %d 次运行向模型提问这些题目；据此作出的选择不是独立结果"}, n)
	}
}

// sweepPlan says what a sweep would do.
type sweepPlan struct {
	Type        string      `json:"type"`
	Schema      string      `json:"schema"`
	DryRun      bool        `json:"dry_run"`
	Benchmark   string      `json:"benchmark"`
	Items       int         `json:"items"`
	Dev         string      `json:"dev,omitempty"`
	DevItems    int         `json:"dev_items,omitempty"`
	WorkDir     string      `json:"work_dir"`
	Checkpoints []sweepStep `json:"checkpoints"`
}

type sweepStep struct {
	Checkpoint string `json:"checkpoint"`
	Step       int    `json:"step"`
	Served     string `json:"served"`
	Problem    string `json:"problem,omitempty"`
	problem    *fail.Error
}

func newSweepPlan(o EvalOptions, b *pipeline.Bench, found []checkpoint.Checkpoint, dev *eval.Exam) sweepPlan {
	p := sweepPlan{
		Type: "summary", Schema: "drydock.eval.sweep.plan/1", DryRun: true, Benchmark: b.Benchmark.Ref().String(), Items: len(b.Items),
		WorkDir: filepath.ToSlash(o.WorkDir),
	}
	if dev != nil {
		p.Dev, p.DevItems = dev.Benchmark.Ref().String(), len(dev.Items)
	}
	for _, c := range found {
		step := sweepStep{Checkpoint: c.Name, Step: c.Step, Served: c.Served(), problem: c.Problem}
		if c.Problem != nil {
			step.Problem = c.Problem.Error()
		}
		p.Checkpoints = append(p.Checkpoints, step)
	}
	return p
}

func (p sweepPlan) text(t *ui.Terminal) {
	tb := t.Table(ui.Column{Title: msg.Text{"STEP", "步数"}, Right: true}, ui.Column{Title: msg.Text{"CHECKPOINT", "检查点"}}, ui.Column{Title: msg.Text{"SERVED AS", "部署名"}}, ui.Column{Title: msg.Text{"PROBLEM", "问题"}})
	for _, c := range p.Checkpoints {
		problem := ""
		if c.problem != nil {
			problem = c.problem.In(t.Lang())
		}
		tb.Row(strconv.Itoa(c.Step), c.Checkpoint, c.Served, problem)
	}
	tb.Print()
	if p.Dev != "" {
		t.Print(msg.Text{"all are asked %s (%d {item|items}); the best one then %s (%d)", "全部先做 %s（%d 题）；最佳者再做 %s（%d 题）"}, p.Dev, p.DevItems, p.Benchmark, p.Items)
		return
	}
	t.Print(msg.Text{"all are asked %s (%d {item|items})", "全部做 %s（%d 题）"}, p.Benchmark, p.Items)
}
