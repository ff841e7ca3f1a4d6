package cli

import (
	"fmt"
	"path"
	"path/filepath"
	"strings"

	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/runstore"
	"github.com/drydock-ml/drydock/internal/training"
	"github.com/drydock-ml/drydock/internal/ui"
)

// training adds what a training has beside a run.
func (r *runAnswer) training(dir string) error {
	m, ok, err := runstore.ReadManifest(dir)
	if err != nil || !ok {
		return err
	}
	r.Training = &m
	if r.Evaluations, err = runstore.Evaluations(dir); err != nil {
		return err
	}
	r.curve, err = training.ReadCurve(filepath.Dir(dir), r.ID)
	return err
}

// trainingText prints the way of a training: data, trainer, checkpoints,
// evaluations; and its loss.
func (r runAnswer) trainingText(t *ui.Terminal) {
	m := r.Training
	if m == nil {
		return
	}
	t.Println("")
	tb := t.Table(ui.Column{}, ui.Column{}).Bare().Wrapped()
	for _, f := range m.Data {
		tb.Row(t.Say(msg.Text{"data", "数据"}), f.Path+"  sha256:"+short(f.SHA256))
	}
	for _, g := range m.Gates {
		if g.Proof != "" {
			tb.Row(t.Say(msg.Text{"checked", "检查"}), g.Gate+": "+g.State+" ("+g.Proof+")")
		}
	}
	tr := m.Trainer
	tb.Row(t.Say(msg.Text{"trainer", "训练器"}), strings.TrimSpace(tr.Name+" "+tr.Version))
	tb.Row(t.Say(msg.Text{"base model", "基座模型"}), tr.Base)
	tb.Row(t.Say(msg.Text{"contract", "模板约定"}), fmt.Sprintf("%s  seed %d", tr.Contract, tr.Seed))
	if c := m.Code; c != nil {
		dirty := ""
		if c.Dirty {
			dirty = t.Say(msg.Text{" and changes", "，另有未提交的修改"})
		}
		tb.Row(t.Say(msg.Text{"code", "代码"}), short(c.Commit)+dirty)
	}
	if e := environmentLine(m.Environment); e != "" {
		tb.Row(t.Say(msg.Text{"environment", "环境"}), e)
	}
	if p := m.Resumed; p != nil {
		tb.Row(t.Say(msg.Text{"goes on from", "继续自"}), strings.TrimSpace(fmt.Sprintf("%s  %s  %s", p.Checkpoint, p.Run, t.Say(verdictText(p)))))
	}
	if o := m.Outcome; o != nil {
		if o.Step > 0 { // a trainer of one's own may name none
			tb.Row(t.Say(msg.Text{"steps", "步数"}), stepOf(o.Step, o.MaxSteps))
		}
		if o.Cause != "" {
			tb.Row(t.Say(msg.Text{"cause", "原因"}), o.Cause)
		}
	}
	for _, c := range m.Checkpoints {
		tb.Row(t.Say(msg.Text{"checkpoint", "检查点"}), c.Path+"  sha256:"+short(c.SHA256))
	}
	for _, e := range r.Evaluations {
		tb.Row(t.Say(msg.Text{"evaluated", "评测"}), fmt.Sprintf("%s  %s  %d/%d  %s", path.Base(e.Checkpoint), e.Benchmark, e.Correct, e.N, e.Reviews))
	}
	tb.Print()
	if r.curve != nil && r.curve.Len() > 1 {
		t.Println("")
		printCurve(t, r.curve)
		t.Note(msg.Text{"as a drawing: %s", "图形文件：%s"}, path.Join(r.Dir, training.CurvePage))
	}
}

// short is what of a hash tells it from others at sight.
func short(hash string) string { return hash[:min(12, len(hash))] }

// environmentLine names what decides most: Python, torch, the cards.
func environmentLine(e runstore.Environment) string {
	var parts []string
	for _, p := range [][2]string{{"python", e.Python}, {"torch", e.Torch}, {"cuda", e.CUDA}, {"driver", e.Driver}} {
		if p[1] != "" {
			parts = append(parts, p[0]+" "+p[1])
		}
	}
	for _, g := range e.GPUs {
		parts = append(parts, g.Name)
	}
	return strings.Join(parts, "  ")
}

// verdictText says whether a resumed training went on.
func verdictText(r *runstore.Resumed) msg.Text {
	switch r.Verdict {
	case "continues":
		return msg.Text{"it went on", "已继续"}
	case "restarted":
		return msg.Text{"it began anew", "实际重新开始"}
	case "loss_jumped":
		return msg.Text{"the loss jumped", "损失突增"}
	}
	return msg.Text{"no figures came", "没有指标"}
}

// stepOf writes a step and how many there are, when the trainer has said that.
func stepOf(step, of int) string {
	if of <= 0 {
		return fmt.Sprint(step)
	}
	return fmt.Sprintf("%d/%d", step, of)
}
