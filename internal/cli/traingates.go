package cli

import (
	"fmt"

	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/training"
	"github.com/drydock-ml/drydock/internal/ui"
)

// printPreflight says what would stop the training, and what it would take.
func printPreflight(t *ui.Terminal, r *training.Result) {
	names := map[string]msg.Text{
		training.GateContamination: {"contamination", "污染检查"}, training.GateLicense: {"licences", "许可"},
		training.GateTemplate: {"template", "模板"}, training.GateLength: {"length", "长度"},
	}
	for _, g := range r.Gates {
		var state string
		switch g.State {
		case training.GatePassed:
			state = t.Say(msg.Text{"passed (%s)", "通过（%s）"}, g.Proof)
		case training.GateUnknown:
			state = t.Say(msg.Text{"not known here", "情况未知"})
		case training.GateLifted:
			state = t.Say(msg.Text{"lifted by %s; %s", "由 %s 放行；%s"}, g.Flag, g.In(t.Lang()))
		default:
			state = t.Say(msg.Text{"would refuse; %s", "将拒绝；%s"}, g.In(t.Lang()))
		}
		t.Print(msg.Text{"gate  %s: %s", "关卡  %s：%s"}, names[g.Gate], state)
	}
	m := r.Machine
	if m == nil {
		return
	}
	if e := m.Estimate; e != nil {
		t.Print(msg.Text{
			"memory, each card: about %s (weights %s, optimizer %s, activations %s, logits %s)",
			"每卡显存：约 %s（权重 %s，优化器 %s，激活 %s，logits %s）",
		}, training.GiB(e.Total), training.GiB(e.Weights), training.GiB(e.Optimizer), training.GiB(e.Activations), training.GiB(e.Logits))
	}
	for _, g := range m.GPUs {
		t.Println(fmt.Sprintf("GPU %d  %s  %s", g.Index, g.Name, training.GiB(g.Memory)))
	}
	for _, w := range m.Warnings() {
		t.Warn(msg.Text{"%s", "%s"}, w)
	}
}
