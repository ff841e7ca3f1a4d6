package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/pipeline"
)

func newContamCommand(a *app) *cobra.Command {
	return a.group("contam", msg.Text{"Check data against benchmarks.", "检查数据是否含有评测集题目。"}, newContamCheckCommand(a),
		newContamReviewCommand(a), newContamExplainCommand(a), newContamSelftestCommand(a), newContamPresetsCommand(a),
		newContamMergeCommand(a), newContamCompareCommand(a))
}

// ContamCheckOptions are the flags of contam check.
type ContamCheckOptions struct {
	Inputs     []string
	Against    []string
	Preset     string
	Thresholds string
	Waivers    string
	contamOutputs
	contamClean
	Shard string
	judgeOptions
	readOptions
	DryRun bool
}

func newContamCheckCommand(a *app) *cobra.Command {
	var o ContamCheckOptions
	c := a.command("check", about{
		use: "IN… --against REF|FILE…", args: someArgs("IN"),
		short: msg.Text{"Find benchmark items in data, also in disguise.", "在数据中查找评测集题目，包括改头换面的题目。"},
		long: msg.Text{
			"IN is any file, or a folder: rows of JSONL, JSON, CSV and XLSX one by one, documents as text, archives member by member (also in each other), and everything else as bytes in every usual encoding. Shuffled options, traditional characters, full-width letters, other numbering and wrapped lines do not hide an item. Only a leak ends with 10; the same question with other numbers, negated or made from the item is reported and not counted. The data itself is never changed: --clean writes a second file.",
			"IN 可以是任何文件或目录：JSONL、JSON、CSV、XLSX 逐行检查，文档按文本检查，压缩包逐个成员检查（可嵌套），其余文件按字节以各种常见编码检查。打乱选项、繁体字、全角字母、不同编号和换行都不能掩盖题目。只有泄漏才以 10 退出；改动数字、否定或由原题改编的题目只报告、不计数。原数据绝不改动：--clean 写出另一个文件。",
		},
		examples: []example{
			{msg.Text{"training rows against the registered benchmark", "用已登记的评测集检查训练数据"}, "drydock contam check build/train.jsonl --against maritime_bench"},
			{msg.Text{"against a file, with evidence, and a copy without leaks", "用文件检查，输出证据，并写出无泄漏的副本"}, "drydock contam check q.jsonl --against b.json --report r.jsonl --clean c.jsonl"},
		},
		exits: []int{3, 10},
	}, nil)
	c.RunE = func(cmd *cobra.Command, args []string) error {
		if err := a.require(cmd, "against", strings.Join(o.Against, "")); err != nil {
			return err
		}
		o.Inputs, o.onHitGiven = args, cmd.Flags().Changed("on-hit")
		return runContamCheck(cmd.Context(), a, o)
	}
	f := a.flags(c.Flags())
	f.strs(&o.Against, "against", "", msg.Text{"benchmark name, file or folder `REF`; may be repeated", "评测集名称、文件或文件夹 `REF`；可重复"})
	f.str(&o.Preset, "preset", "", "", msg.Text{"go by another program's rule, `NAME` (drydock contam presets)", "改用其他程序的规则 `NAME`（见 drydock contam presets）"})
	f.str(&o.Thresholds, "thresholds", "", "", msg.Text{"`FILE` of other thresholds, YAML or JSON, as contamination.thresholds", "另设阈值的 `FILE`（YAML 或 JSON），同 contamination.thresholds"})
	f.contamOutputs(&o.contamOutputs)
	f.contamClean(&o.contamClean)
	f.str(&o.Waivers, "waivers", "", "", msg.Text{"`FILE` of findings that someone excused, one JSON object a line", "经人工豁免的发现 `FILE`，每行一个 JSON 对象"})
	f.str(&o.Shard, "shard", "", "", msg.Text{"check part `i/n` only (i from 1); contam merge joins the reports", "只检查第 `i/n` 部分（i 从 1 起）；用 contam merge 合并报告"})
	f.judge(&o.judgeOptions)
	f.read(&o.readOptions)
	f.dryRun(&o.DryRun)
	a.completeFunc(c, "against", a.knownBenches)
	a.complete(c, "preset", presetNames()...)
	a.complete(c, "on-hit", pipeline.OnHits()...)
	return c
}
