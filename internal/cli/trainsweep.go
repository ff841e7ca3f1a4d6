package cli

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/drydock-ml/drydock/eval/report"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/training"
	"github.com/drydock-ml/drydock/internal/ui"
	"github.com/drydock-ml/drydock/launch"
)

// runTrainSweep trains every job of a sweep file in turn.
func runTrainSweep(ctx context.Context, a *app, c *training.Config, env training.Env, plan *launch.Sweep, o training.Options) error {
	p := &sweepPrinter{a: a}
	r, err := training.Sweep(ctx, c, env, plan, o, p.report)
	p.end()
	if r == nil {
		return err
	}
	if p.err != nil && err == nil {
		err = p.err
	}
	if aerr := a.answer(trainSweepAnswer{"summary", r}); aerr != nil && err == nil {
		err = aerr
	}
	return err
}

// sweepPrinter shows the training that runs.
type sweepPrinter struct {
	a   *app
	id  string
	bar *ui.Progress
	err error
}

// trainSweepItem is a line a report of a sweep.
type trainSweepItem struct {
	trainItem
	ID string `json:"id"`
}

func (p *sweepPrinter) report(r training.SweepRun, v launch.Report) {
	if p.a.term.JSON() {
		if err := p.a.term.Value(trainSweepItem{trainItem{"item", "drydock.train.event/1", v}, r.ID}); err != nil && p.err == nil {
			p.err = err
		}
		return
	}
	if r.ID != p.id {
		p.end()
		p.id, p.bar = r.ID, nil
		p.a.term.Note(msg.Text{"training %s: %s", "训练 %s：%s"}, r.ID, settingsText(r.Settings))
	}
	if v.MaxSteps > 0 {
		if p.bar == nil {
			p.bar = p.a.term.Progress(r.ID, int64(v.MaxSteps), false)
		}
		p.bar.Set(int64(v.Step))
	}
}

func (p *sweepPrinter) end() {
	if p.bar != nil {
		p.bar.End()
		p.bar = nil
	}
}

// settingsText writes what a training sets otherwise: "rank 8, learning_rate 1.0e-05".
func settingsText(s []launch.SweepSetting) msg.List {
	parts := make(msg.List, len(s))
	for i, x := range s {
		parts[i] = x.Name + " " + x.Value
	}
	return parts
}

// trainSweepAnswer prints what came of a sweep.
type trainSweepAnswer struct {
	Type string `json:"type"`
	*training.SweepResult
}

func (s trainSweepAnswer) text(t *ui.Terminal) {
	if s.DryRun {
		s.plans(t)
		return
	}
	tb := t.Table(
		ui.Column{Title: msg.Text{"RUN", "编号"}}, ui.Column{Title: msg.Text{"SETTINGS", "设置"}}, ui.Column{Title: msg.Text{"STATE", "状态"}},
		ui.Column{Title: msg.Text{"STEPS", "步数"}, Right: true}, ui.Column{Title: msg.Text{"LOSS", "损失"}, Right: true},
		ui.Column{Title: msg.Text{"BEST STEP", "最佳步数"}, Right: true}, ui.Column{Title: msg.Text{"ACCURACY %", "准确率 %"}, Right: true}, ui.Column{Title: msg.Text{"95 %", "95 %"}},
		ui.Column{Title: msg.Text{"VS BEST", "较最佳"}, Right: true}, ui.Column{Title: msg.Text{"P (HOLM)", "P（Holm）"}, Right: true},
	)
	for _, r := range s.Runs {
		id := r.ID
		if r.ID == s.Best {
			id += t.Say(msg.Text{" (best)", "（最佳）"})
		}
		tb.Row(append([]string{id, settingsText(r.Settings).In(t.Lang()), t.Say(stateWords(r.State)), strconv.Itoa(r.Steps)}, sweepFigures(r)...)...)
	}
	tb.Print()
	for _, r := range s.Runs {
		if r.Error != "" {
			t.Warn(msg.Text{"training %s: %s", "训练 %s：%s"}, r.ID, r.Error)
		}
	}
	if s.Best == "" {
		return
	}
	for _, r := range s.Runs {
		if r.ID == s.Best {
			t.Print(msg.Text{"best: %s (%s)", "最佳：%s（%s）"}, r.Best.Checkpoint, settingsText(r.Settings))
		}
	}
	if s.Luck > 0 {
		t.Note(msg.Text{
			"the best of so many looks %.1f points better than it is by luck alone; score it once more on items that chose nothing", "在这么多次训练中，最佳者仅凭运气就会高出 %.1f 个百分点；请用未参与选择的题目再评一次",
		}, 100*s.Luck)
	}
}

// plans prints what would be trained.
func (s trainSweepAnswer) plans(t *ui.Terminal) {
	for _, r := range s.Runs {
		t.Print(msg.Text{"training %s: %s (%s)", "训练 %s：%s（%s）"}, r.ID, settingsText(r.Settings), stateWords(r.State))
		if r.Plan != nil {
			t.Println(strings.TrimRight(r.Plan.Text(t.Lang()), "\n"))
		}
	}
	if len(s.Runs) == 0 {
		return
	}
	for _, x := range s.Runs[0].Problems {
		t.Warn(msg.Text{"%s", "%s"}, x.Error)
	}
}

// sweepFigures are loss, best step, accuracy, interval, difference and p-value.
func sweepFigures(r training.SweepRun) []string {
	out := make([]string, 6)
	if r.Loss != nil {
		out[0] = fmt.Sprintf("%.4g", *r.Loss)
	}
	if b := r.Best; b != nil {
		out[1], out[2] = strconv.Itoa(b.Step), fmt.Sprintf("%.2f", 100*b.Accuracy)
		out[3] = fmt.Sprintf("%.1f–%.1f", 100*b.Wilson95[0], 100*b.Wilson95[1])
	}
	if c := r.Contrast; c != nil {
		out[4], out[5] = fmt.Sprintf("%+.2f", 100*c.Difference), report.PValue(c.Holm)
	}
	return out
}

func stateWords(s training.SweepState) msg.Text {
	switch s {
	case training.SweepDone:
		return msg.Text{"done", "完成"}
	case training.SweepStopped:
		return msg.Text{"stopped early", "提前停止"}
	case training.SweepOutclassed:
		return msg.Text{"outclassed", "被淘汰"}
	case training.SweepFailed:
		return msg.Text{"failed", "失败"}
	case training.SweepLeftOut:
		return msg.Text{"left out: budget", "略过：预算"}
	}
	return msg.Text{"planned", "计划"}
}
