package training

import (
	"fmt"
	"path/filepath"

	"github.com/drydock-ml/drydock/internal/atomicfile"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/page"
	"github.com/drydock-ml/drydock/launch"
)

// The files that hold a training's loss, in the folder of its run.
const (
	CurveSVG  = "loss.svg"
	CurvePage = "loss.html"
)

// curvePoints is how many points a drawn line has at most: more than a screen
// has columns, few enough to open at once.
const curvePoints = 1000

// Curve is the loss of the training, with that of the runs it goes on from; nil
// before a start.
func (t *Result) Curve() *launch.Curve { return t.curve }

// drawCurve writes the loss as a drawing and as a page.
func (r *follower) drawCurve() error {
	if r.curve.Len() == 0 {
		return nil
	}
	lang := r.o.Lang
	drawing := r.curve.Chart(lang, curvePoints)
	svg := drawing.SVG()
	if err := atomicfile.WriteFile(filepath.Join(r.log.Dir, CurveSVG), []byte(svg)); err != nil {
		return err
	}
	say := func(t msg.Text) string { return t.In(lang) }
	d := page.New(lang.String(), say(msg.Text{"training ", "训练 "})+r.t.RunID)
	m := r.manifest
	rows := [][]string{
		{say(msg.Text{"trainer", "训练器"}), m.Trainer.Name + " " + m.Trainer.Version},
		{say(msg.Text{"base model", "基座模型"}), m.Trainer.Base},
		{say(msg.Text{"template contract", "模板约定"}), m.Trainer.Contract},
		{say(msg.Text{"seed", "随机种子"}), fmt.Sprint(m.Trainer.Seed)},
	}
	for _, f := range m.Data {
		rows = append(rows, []string{say(msg.Text{"data", "数据"}), f.Path + " sha256:" + f.SHA256})
	}
	if p := m.Resumed; p != nil {
		rows = append(rows, []string{say(msg.Text{"goes on from", "继续自"}), fmt.Sprintf("%s (%d) %s", p.Checkpoint, p.Step, p.Verdict)})
	}
	if o := m.Outcome; o != nil {
		rows = append(rows, []string{say(msg.Text{"steps", "步数"}), fmt.Sprintf("%d / %d", o.Step, o.MaxSteps)})
		if o.Loss != nil {
			rows = append(rows, []string{say(msg.Text{"last loss", "最后的损失"}), fmt.Sprintf("%.4g", *o.Loss)})
		}
		if o.Cause != "" {
			rows = append(rows, []string{say(msg.Text{"cause of failure", "失败原因"}), o.Cause})
		}
	}
	d.Chart(svg, r.curve.Chart(lang, 68).Text(80, 16))
	d.Table([]page.Column{{Name: ""}, {Name: "", Code: true}}, rows)
	return atomicfile.WriteFile(filepath.Join(r.log.Dir, CurvePage), d.HTML())
}
