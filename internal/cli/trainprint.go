package cli

import (
	"fmt"
	"strings"
	"time"

	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/training"
	"github.com/drydock-ml/drydock/internal/ui"
	"github.com/drydock-ml/drydock/launch"
)

// A trainPrinter shows a training while it goes.
type trainPrinter interface {
	report(r launch.Report)
	end(r *training.Result, planned bool) error
}

func (a *app) trainPrinter() trainPrinter {
	if a.term.JSON() {
		return &jsonTrain{t: a.term}
	}
	return &textTrain{t: a.term}
}

// trainSummary is the last line of train.
type trainSummary struct {
	Type   string `json:"type"`
	Schema string `json:"schema"`
	DryRun bool   `json:"dry_run"`
	*training.Result
	Problems []string `json:"problems"`
}

func newTrainSummary(r *training.Result, planned bool, l msg.Lang) trainSummary {
	s := trainSummary{"summary", "drydock.train/1", planned, r, []string{}}
	for _, p := range r.Problems {
		s.Problems = append(s.Problems, p.In(l))
	}
	return s
}

// trainItem is a line a report.
type trainItem struct {
	Type   string `json:"type"`
	Schema string `json:"schema"`
	launch.Report
}

type jsonTrain struct {
	t   *ui.Terminal
	err error
}

func (p *jsonTrain) report(r launch.Report) {
	if err := p.t.Value(trainItem{"item", "drydock.train.event/1", r}); err != nil && p.err == nil {
		p.err = err
	}
}

func (p *jsonTrain) end(r *training.Result, planned bool) error {
	if p.err != nil {
		return p.err
	}
	return p.t.Value(newTrainSummary(r, planned, p.t.Lang()))
}

type textTrain struct {
	t        *ui.Terminal
	progress *ui.Progress
}

func (p *textTrain) report(r launch.Report) {
	if r.MaxSteps > 0 {
		if p.progress == nil {
			p.progress = p.t.Progress(p.t.Say(msg.Text{"training", "训练"}), int64(r.MaxSteps), false)
		}
		p.progress.Set(int64(r.Step))
	}
	if r.Again || r.Loss == nil && r.EvalLoss == nil {
		return // told already, or shown by the progress line
	}
	line := figures(r.Event)
	if r.ETA != nil {
		line += p.t.Say(msg.Text{"  %s left", "  剩余 %s"}, p.t.Duration(time.Duration(*r.ETA*float64(time.Second))))
	}
	p.t.Note(msg.Text{"%s", "%s"}, line)
}

// figures writes what a trainer said: "step 20  loss 1.23  lr 1e-05".
func figures(e launch.Event) string {
	var parts []string
	switch {
	case e.Step > 0 && e.MaxSteps > 0:
		parts = append(parts, fmt.Sprintf("step %d/%d", e.Step, e.MaxSteps))
	case e.Step > 0:
		parts = append(parts, fmt.Sprintf("step %d", e.Step))
	}
	for _, f := range []struct {
		name string
		v    *float64
	}{{"epoch", e.Epoch}, {"loss", e.Loss}, {"eval_loss", e.EvalLoss}, {"lr", e.LR}, {"grad_norm", e.GradNorm}} {
		if f.v != nil {
			parts = append(parts, fmt.Sprintf("%s %.4g", f.name, *f.v))
		}
	}
	return strings.Join(parts, "  ")
}

func (p *textTrain) end(r *training.Result, planned bool) error {
	if p.progress != nil {
		p.progress.End()
	}
	if planned {
		p.plan(r)
		return nil
	}
	if f := r.Feed; f != nil {
		p.t.Print(msg.Text{"fed: %d {row|rows}, %s tokens, longest %d (%s)", "送入：%d 行，%s 个 token，最长 %d（%s）"}, f.Rows, grouped(f.Tokens), f.Longest, f.Contract)
	}
	if line := figures(r.Last); line != "" {
		p.t.Println(line)
	}
	if c := r.Curve(); c != nil {
		printCurve(p.t, c)
	}
	p.t.Print(msg.Text{"%s has ended; log and checkpoints: %s", "%s 已结束；日志与检查点：%s"}, r.Trainer, r.Plan.Dir)
	if r.RunID != "" {
		p.t.Next("drydock runs show " + r.RunID)
	}
	return nil
}

// plan shows what would be started.
func (p *textTrain) plan(r *training.Result) {
	p.t.Println(strings.TrimRight(r.Plan.Text(p.t.Lang()), "\n"))
	for _, n := range r.Notes() {
		p.t.Note(msg.Text{"%s", "%s"}, n)
	}
	printPreflight(p.t, r)
	for _, x := range r.Problems {
		p.t.Warn(msg.Text{"%s", "%s"}, x.Error)
		for _, h := range x.Hints(p.t.Lang()) {
			p.t.Note(msg.Text{"hint: %s", "提示：%s"}, h)
		}
	}
}

// curveRows is how high a curve is drawn, axes included.
const curveRows = 12

// printCurve draws the loss as wide as the terminal, but not so wide that the
// eye loses it: a line of it on a pipe, where nobody looks.
func printCurve(t *ui.Terminal, c *launch.Curve) {
	if c.Len() < 2 {
		return
	}
	width := min(t.Width(), 100)
	if !t.OutTTY() {
		t.Println(t.Say(msg.Text{"loss", "损失"}) + "\t" + launch.Sparkline(c.Losses(), 40))
		return
	}
	t.Println(strings.TrimRight(c.Chart(t.Lang(), width-12).Text(width, curveRows), "\n"))
}
