package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/ui"
	"github.com/drydock-ml/drydock/launch/checkpoint"
)

func newCheckpointCommand(a *app) *cobra.Command {
	return a.group("checkpoint", msg.Text{"Look at what a training left before a server loads it.", "在服务端载入之前检查训练产物。"},
		newCheckpointCheckCommand(a), newCheckpointFixCommand(a))
}

// CheckpointCheckOptions are the flags of checkpoint check.
type CheckpointCheckOptions struct {
	Dir     string
	Base    string
	Adapter string
	MaxRank int
	Rows    int
}

func newCheckpointCheckCommand(a *app) *cobra.Command {
	var o CheckpointCheckOptions
	c := a.command("check", about{
		use: "DIR", args: oneArg("DIR"),
		short: msg.Text{"Check adapters and merged models: what vLLM refuses, or takes and answers wrongly with.", "检查适配器与合并后的模型：vLLM 会拒绝的，或接受但答错的。"},
		long: msg.Text{
			"DIR holds an adapter, a model, or a trainer's checkpoint-N folders. Of an adapter, the settings and every tensor are held to vLLM's rules and, with --base, to the base's shapes. A model is compared with its base by what decides ids, positions, prompt and stopping. With --base and --adapter the merge itself is recomputed, base + scale·B·A, and told apart from one that was forgotten, done twice or done with another scale.",
			"DIR 可为适配器、模型，或训练器的 checkpoint-N 目录。适配器：按 vLLM 的规则检查设置与每个张量；给出 --base 时还比较形状。模型：与基座比较决定 id、位置、提示与停止的内容。同时给出 --base 与 --adapter 时重算合并（基座 + scale·B·A），并区分未合并、合并两次与缩放错误。",
		},
		examples: []example{
			{msg.Text{"every checkpoint of a training", "一次训练的所有检查点"}, "drydock checkpoint check out/ --base Qwen3-8B"},
			{msg.Text{"is the merge the adapter's?", "合并结果是否正确？"}, "drydock checkpoint check merged --base Qwen3-8B --adapter out/checkpoint-400"},
		},
	}, nil)
	c.RunE = func(cmd *cobra.Command, args []string) error {
		o.Dir = args[0]
		return runCheckpointCheck(cmd.Context(), a, o)
	}
	f := a.flags(c.Flags())
	f.str(&o.Base, "base", "", "", msg.Text{"the model `BASE` it was trained on: a folder, or Qwen/Qwen3-8B for shapes", "训练所用的基座 `BASE`：目录，或仅比较形状时写 Qwen/Qwen3-8B"})
	f.str(&o.Adapter, "adapter", "", "", msg.Text{"recompute the merge of the adapter in `DIR`", "重算 `DIR` 中适配器的合并"})
	f.int(&o.MaxRank, "max-rank", "", 0, msg.Text{"refuse ranks over `N`, the server's --max-lora-rank (0: vLLM's largest)", "拒绝大于 `N`（服务端 --max-lora-rank）的秩（0：vLLM 上限）"})
	f.int(&o.Rows, "rows", "", 64, msg.Text{"recompute `N` rows of each weight, evenly spread (0: all)", "每个权重均匀抽取 `N` 行重算（0：全部）"})
	return c
}

// findingRow is one finding in the reader's language.
type findingRow struct {
	ID       string   `json:"id"`
	Severity string   `json:"severity"`
	Traps    []string `json:"traps,omitempty"`
	File     string   `json:"file,omitempty"`
	Text     string   `json:"text"`
	Fix      string   `json:"fix,omitempty"`
	Fixable  bool     `json:"fixable"`
	Before   string   `json:"before,omitempty"`
}

func findingRows(list []checkpoint.Finding, l msg.Lang) []findingRow {
	out := make([]findingRow, len(list))
	for i, f := range list {
		out[i] = findingRow{f.ID, string(f.Severity), f.Traps, f.File, f.In(l), f.FixIn(l), f.Fixable, f.Before}
	}
	return out
}

// checkpointAnswer is what a check found.
type checkpointAnswer struct {
	Schema      string          `json:"schema"`
	Checkpoints []checkpointRow `json:"checkpoints"`
}

// checkpointRow is one folder that was looked at.
type checkpointRow struct {
	Dir      string                  `json:"dir"`
	Kind     string                  `json:"kind"` // adapter or model
	Status   string                  `json:"status"`
	Step     int                     `json:"step,omitempty"`
	Rank     int                     `json:"rank,omitempty"`
	SHA256   string                  `json:"sha256,omitempty"`
	Served   string                  `json:"served,omitempty"`
	Findings []findingRow            `json:"findings"`
	Merge    *checkpoint.MergeReport `json:"merge,omitempty"`
}

// The values of a row's status.
const (
	rowOK      = "ok"
	rowWarning = "warning"
	rowError   = "error"
)

func (r *checkpointRow) take(list []checkpoint.Finding, l msg.Lang) {
	r.Status = rowOK
	for _, f := range list {
		switch {
		case f.Severity == checkpoint.Error:
			r.Status = rowError
		case f.Severity == checkpoint.Warning && r.Status == rowOK:
			r.Status = rowWarning
		}
	}
	r.Findings = findingRows(list, l)
}

func runCheckpointCheck(ctx context.Context, a *app, o CheckpointCheckOptions) error {
	if err := o.check(); err != nil {
		return err
	}
	ans := checkpointAnswer{Schema: "drydock.checkpoint.check/1"}
	models, err := checkpoint.Models(o.Dir)
	if err != nil {
		return err
	}
	if checkpoint.IsModel(o.Dir) {
		models = append(models, o.Dir)
		if o.Adapter != "" {
			models = []string{o.Dir}
		}
	} else {
		found, err := checkpoint.Find(o.Dir, checkpoint.AdapterOptions{Base: o.Base, MaxRank: o.MaxRank})
		if err != nil && len(models) == 0 {
			return err
		}
		for _, c := range found {
			row := checkpointRow{Dir: a.shownDir(o.Dir, c), Kind: "adapter", Step: c.Step, Rank: c.Rank, SHA256: c.SHA256, Served: c.Served()}
			row.take(c.Findings, a.lang)
			ans.Checkpoints = append(ans.Checkpoints, row)
		}
	}
	for _, dir := range models {
		o.Dir = dir
		row, err := a.checkModel(ctx, o)
		if err != nil {
			return err
		}
		ans.Checkpoints = append(ans.Checkpoints, row)
	}
	if err := a.answer(ans); err != nil {
		return err
	}
	return ans.verdict()
}

// shownDir names an adapter as the user named the folder it lies in.
func (a *app) shownDir(dir string, c checkpoint.Checkpoint) string {
	if checkpoint.IsAdapter(dir) && filepath.Base(filepath.Clean(dir)) == c.Name {
		return filepath.ToSlash(dir)
	}
	return filepath.ToSlash(filepath.Join(dir, c.Name))
}

func (o *CheckpointCheckOptions) check() error {
	if o.Rows < 0 || o.MaxRank < 0 {
		return fail.New(fail.Usage, msg.Text{"--rows and --max-rank cannot be negative", "--rows 与 --max-rank 不能为负"})
	}
	if _, err := os.Stat(o.Dir); err != nil {
		return fail.New(fail.Usage, msg.Text{"%v", "%v"}, err)
	}
	if o.Adapter == "" {
		return nil
	}
	if o.Base == "" || !isDir(o.Base) {
		return fail.New(fail.Usage, msg.Text{"--adapter goes with --base DIR, the folder of the base", "--adapter 须与基座目录 --base DIR 同时给出"})
	}
	if !checkpoint.IsModel(o.Dir) {
		return fail.New(fail.Usage, msg.Text{"%s is no merged model: it has no config.json", "%s 不是合并后的模型：没有 config.json"}, o.Dir)
	}
	return nil
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// checkModel looks at a merged or full model, and at the merge where an adapter
// is named.
func (a *app) checkModel(ctx context.Context, o CheckpointCheckOptions) (checkpointRow, error) {
	row := checkpointRow{Dir: filepath.ToSlash(o.Dir), Kind: "model"}
	base := o.Base
	if base != "" && !isDir(base) {
		return row, fail.New(fail.Usage, msg.Text{"--base %s is no folder: a model is compared with the files of its base", "--base %s 不是目录：模型须与基座文件比较"}, base)
	}
	list := checkpoint.CheckModel(o.Dir, base)
	if o.Adapter != "" {
		progress := a.term.Progress(a.say(msg.Text{"recomputing the merge", "重算合并"}), 0, false)
		r, err := checkpoint.CheckMerge(ctx, checkpoint.MergeOptions{
			Merged: o.Dir, Base: base, Adapter: o.Adapter, Rows: o.Rows, Workers: a.workers(),
			Progress: func(done, total int) { progress.SetTotal(int64(total)); progress.Set(int64(done)) },
		})
		progress.End()
		switch broken := checkpoint.Worst(list) != nil; {
		case err != nil && (!broken || ctx.Err() != nil):
			return row, err
		case err != nil: // why is among the findings, or follows from one
			a.term.Warn(msg.Text{"the merge was not recomputed: %v", "未重算合并：%v"}, err)
		default:
			row.Merge, list = r, append(list, r.Finding())
		}
	}
	row.take(list, a.lang)
	return row, nil
}

// verdict is the error of a check that found one.
func (ans checkpointAnswer) verdict() error {
	bad, fixable := 0, false
	for _, c := range ans.Checkpoints {
		if c.Status == rowError {
			bad++
		}
		for _, f := range c.Findings {
			fixable = fixable || f.Fixable
		}
	}
	if bad == 0 {
		return nil
	}
	e := fail.New(fail.Refused, msg.Text{"%d of %d {checkpoint|checkpoints} should not be served as it is", "%d 个检查点（共 %d 个）不应按现状部署"}, bad, len(ans.Checkpoints))
	if fixable {
		return e.Hint(msg.Text{"drydock checkpoint fix DIR --base B -n shows what can be mended", "drydock checkpoint fix DIR --base B -n 可查看能修复的内容"})
	}
	return e
}

func (ans checkpointAnswer) text(t *ui.Terminal) {
	for i, c := range ans.Checkpoints {
		if i > 0 {
			t.Println("")
		}
		head := []string{c.Dir, kindText(t, c.Kind)}
		if c.Kind == "adapter" {
			if c.Step > 0 {
				head = append(head, t.Say(msg.Text{"step %d", "第 %d 步"}, c.Step))
			}
			head = append(head, t.Say(msg.Text{"rank %d", "秩 %d"}, c.Rank), t.Say(msg.Text{"served as %s", "部署名 %s"}, c.Served))
		}
		head = append(head, rowStatus(t, c.Status))
		t.Println(strings.Join(head, "  "))
		printFindingRows(t, c.Findings)
		if m := c.Merge; m != nil {
			t.Print(msg.Text{"  merge: %s weights, %s values looked at; deviation at most %.3g, %.3g on average; factor %.3f", "  合并：%s 个权重，检查 %s 个数值；最大偏差 %.3g，平均 %.3g；倍数 %.3f"},
				grouped(int64(m.Weights)), grouped(m.Values), m.MaxDeviation, m.MeanDeviation, m.Factor)
			for _, w := range m.Bad[:min(len(m.Bad), 10)] {
				t.Println(fmt.Sprintf("    %s  %s  ×%.3g", w.Name, w.Verdict, w.Factor))
			}
			if more := len(m.Bad) - 10; more > 0 {
				t.Print(msg.Text{"    and %d more (--json lists all)", "    另有 %d 个（--json 列出全部）"}, more)
			}
		}
	}
}

func printFindingRows(t *ui.Terminal, list []findingRow) {
	for _, f := range list {
		t.Prose("  " + severityText(t, f.Severity) + f.Text)
		if f.Fix != "" {
			t.Prose(t.Say(msg.Text{"    mend: %s", "    修正：%s"}, f.Fix))
		}
	}
}

func kindText(t *ui.Terminal, kind string) string {
	if kind == "adapter" {
		return t.Say(msg.Text{"adapter", "适配器"})
	}
	return t.Say(msg.Text{"model", "模型"})
}

func rowStatus(t *ui.Terminal, s string) string {
	switch s {
	case rowOK:
		return t.Good(t.Say(msg.Text{"ok", "正常"}))
	case rowWarning:
		return t.Say(msg.Text{"with warnings", "有警告"})
	}
	return t.Bad(t.Say(msg.Text{"not to be served", "不应部署"}))
}

func severityText(t *ui.Terminal, s string) string {
	switch checkpoint.Severity(s) {
	case checkpoint.Error:
		return t.Bad(t.Say(msg.Text{"error: ", "错误："}))
	case checkpoint.Warning:
		return t.Say(msg.Text{"warning: ", "警告："})
	}
	return t.Say(msg.Text{"note: ", "说明："})
}
