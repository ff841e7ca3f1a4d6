package training

import (
	"context"
	"fmt"

	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/launch"
)

// A Machine is what the machine has against what the training will take.
// Figures are bytes; nil and 0 are not known.
type Machine struct {
	GPUs       []launch.GPU           `json:"gpus"` // those the training may use
	Estimate   *launch.MemoryEstimate `json:"estimate,omitempty"`
	FreeDisk   int64                  `json:"free_disk,omitempty"`
	Checkpoint int64                  `json:"checkpoint,omitempty"` // one, estimated
	warnings   []*fail.Error
}

// kept is how many checkpoints there should at least be room for.
const kept = 3

// machine looks at cards and disk. Nothing it finds stops a training: estimates
// are advice, and a trainer may do with less.
func (c *Config) machine(ctx context.Context, env Env, t *Result) *Machine {
	m := &Machine{GPUs: []launch.GPU{}}
	gpus, err := env.programs().GPUs(ctx)
	if err != nil {
		m.warn(msg.Text{"%v", "%v"}, err)
	}
	m.GPUs = append(m.GPUs, launch.VisibleGPUs(gpus, env.Environ)...)
	if free, err := launch.FreeSpace(c.Path(t.Plan.Dir)); err == nil {
		m.FreeDisk = free
	}
	if len(gpus) > 0 && len(m.GPUs) == 0 && t.Plan.Load != nil {
		m.warn(msg.Text{"CUDA_VISIBLE_DEVICES hides every card: Qwen3-8B does not train without a GPU", "CUDA_VISIBLE_DEVICES 屏蔽了所有显卡：没有 GPU 无法训练 Qwen3-8B"})
	}
	if port := t.Plan.MeetingPort(env.Environ, len(m.GPUs)); port != 0 && launch.PortTaken(port) {
		m.warn(msg.Text{
			"port %d is in use, at which the processes of the training meet; set MASTER_PORT to another", "训练各进程会合所用的端口 %d 已被占用；请用 MASTER_PORT 指定其他端口",
		}, port)
	}
	if t.Plan.Load != nil {
		c.memory(m, t)
	}
	return m
}

// memory holds what the training will take against the cards and the disk.
func (c *Config) memory(m *Machine, t *Result) {
	load := *t.Plan.Load
	load.Devices = max(len(m.GPUs), 1)
	load.Tokens = t.Plan.Limit
	if f := t.Feed; f != nil && f.Longest > 0 && (load.Tokens == 0 || f.Longest < load.Tokens) {
		load.Tokens = f.Longest
	}
	e := launch.EstimateMemory(load)
	m.Estimate, m.Checkpoint = &e, launch.CheckpointBytes(load)
	for _, g := range m.GPUs {
		if g.Memory > 0 && e.Total > g.Memory {
			option := heaviest(load, e)
			m.warn(msg.Text{
				"the training takes about %s a card (weights %s, optimizer %s, a batch of %d rows of %d tokens %s), GPU %d (%s) has %s; most of what can be less follows from %s",
				"训练每卡约需 %s（权重 %s，优化器 %s，每批 %d 行、每行 %d token 占 %s），GPU %d（%s）共有 %s；可减少的部分主要取决于 %s",
			}, GiB(e.Total), GiB(e.Weights), GiB(e.Optimizer), load.BatchSize, load.Tokens, GiB(e.Activations+e.Logits), g.Index, g.Name, GiB(g.Memory), option).At(c.at(option))
			break
		}
		if g.Free > 0 && e.Total > g.Free {
			m.warn(msg.Text{
				"the training takes about %s a card; of GPU %d (%s) only %s of %s are free: other programs hold the rest",
				"训练每卡约需 %s；GPU %d（%s）仅剩 %s，共 %s：其余被其他程序占用",
			}, GiB(e.Total), g.Index, g.Name, GiB(g.Free), GiB(g.Memory)).At(c.at(heaviest(load, e)))
			break
		}
	}
	if m.FreeDisk > 0 && m.FreeDisk < kept*m.Checkpoint {
		m.warn(msg.Text{"%s are free on the disk; a checkpoint takes about %s", "磁盘剩余 %s；一个检查点约占 %s"}, GiB(m.FreeDisk), GiB(m.Checkpoint))
	}
}

// heaviest names the option that decides about the largest part of a training's
// memory that its settings can make less.
func heaviest(l launch.Load, e launch.MemoryEstimate) string {
	method := "method"
	if l.Preference {
		method = "weights" // dpo says there what it trains
	}
	switch rows := e.Activations + e.Logits; {
	case l.Method == "full" && e.Weights+e.Optimizer > rows:
		return method
	case l.Method != "full" && e.Optimizer > rows:
		return "rank"
	case l.Method == "lora" && e.Weights > rows:
		return method // qlora holds them in 4 bits
	case l.BatchSize > 1:
		return "batch_size"
	}
	return "max_tokens"
}

// warn adds a warning and returns it, for its place.
func (m *Machine) warn(text msg.Text, args ...any) *fail.Error {
	w := fail.New(fail.Refused, text, args...)
	m.warnings = append(m.warnings, w)
	return w
}

// GiB writes bytes as graphics cards are sold.
func GiB(n int64) string { return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30)) }

// Warnings say what may not be enough.
func (m *Machine) Warnings() []*fail.Error { return m.warnings }
