package cli

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"os"

	"github.com/spf13/cobra"

	"github.com/drydock-ml/drydock/dedup/contam/report"
	"github.com/drydock-ml/drydock/internal/atomicfile"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
)

// ContamMergeOptions are the flags of contam merge.
type ContamMergeOptions struct {
	Parts  []string
	Out    string
	DryRun bool
}

func newContamMergeCommand(a *app) *cobra.Command {
	var o ContamMergeOptions
	c := a.command("merge", about{
		use: "PART… -o FILE", args: someArgs("PART"),
		short: msg.Text{"Join the reports of contam check --shard.", "合并 contam check --shard 的报告。"},
		long: msg.Text{
			"Each PART is a report with its PART.summary.json beside it. The result is byte for byte what one run would have written, in whatever order the parts are named. Parts that are torn, missing, doubled, or were made with other data, benchmarks, settings or another version are refused. Ends as the one run would: with 10 on a leak.",
			"每个 PART 是一份报告，旁边应有 PART.summary.json。结果与单次运行逐字节相同，与分片的排列顺序无关。残缺、缺失、重复的分片，或数据、评测集、设置、版本不同的分片会被拒绝。退出码与单次运行相同：有泄漏时为 10。",
		},
		examples: []example{
			{msg.Text{"two machines, one report", "两台机器，一份报告"}, "drydock contam merge part1.jsonl part2.jsonl -o contam.jsonl"},
		},
		exits: []int{3, 10},
	}, nil)
	c.RunE = func(cmd *cobra.Command, args []string) error {
		if err := a.require(cmd, "output", o.Out); err != nil {
			return err
		}
		o.Parts = args
		return runContamMerge(cmd.Context(), a, o)
	}
	f := a.flags(c.Flags())
	f.output(&o.Out, "output", "o", msg.Text{"write the joined report to `FILE`, and FILE.summary.json", "将合并后的报告写入 `FILE`，并写出 FILE.summary.json"})
	f.dryRun(&o.DryRun)
	return c
}

func runContamMerge(_ context.Context, a *app, o ContamMergeOptions) error {
	if err := keepInputs("-o", o.Out, o.Parts); err != nil {
		return err
	}
	var parts []report.Part
	var bad fail.List
	for _, name := range o.Parts {
		p, err := a.readPart(name)
		if err != nil {
			bad = append(bad, fail.All(err)...)
			continue
		}
		parts = append(parts, p)
	}
	if len(bad) > 0 {
		return bad
	}
	var rows bytes.Buffer
	s, err := report.Merge(parts, &rows)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(rows.Bytes())
	s.RowsSHA256 = hex.EncodeToString(sum[:])
	ans := &contamAnswer{Summary: *s}
	if !o.DryRun {
		if err := atomicfile.WriteFile(o.Out, rows.Bytes()); err != nil {
			return err
		}
		if err := writeSummary(o.Out, s); err != nil {
			return err
		}
		ans.Report = o.Out
	}
	if err := a.answer(ans); err != nil {
		return err
	}
	return exitOf(s)
}

// exitOf is the error a check ends with whose summary this is; nil for none.
func exitOf(s *report.Summary) error {
	switch {
	case s.Failed > 0:
		return leaksFound(s.Failed)
	case s.Records == 0:
		return nothingChecked()
	case s.Exit == fail.Partial.Code():
		return fail.New(fail.Partial, msg.Text{"some inputs or rows could not be read when the parts were made", "生成分片时，部分输入或数据行未能读取"})
	}
	return nil
}

// readPart reads a report and the summary beside it.
func (a *app) readPart(name string) (report.Part, error) {
	rows, err := a.readFile(name)
	if err != nil {
		return report.Part{}, err
	}
	s, err := readSummary(name)
	if err == nil && s == nil {
		err = fail.New(fail.Refused, msg.Text{"%s is missing: without it nothing says that the report is whole", "缺少 %s：没有它就无法确认报告是否完整"}, name+report.SummarySuffix).
			Hint(msg.Text{"contam check --report writes both; move them together", "contam check --report 会同时写出两者；请一并移动"})
	}
	return report.Part{Name: name, Summary: s, Rows: rows}, err
}

// readSummary reads the summary beside a report; nil when there is none.
func readSummary(reportFile string) (*report.Summary, error) {
	name := reportFile + report.SummarySuffix
	data, err := os.ReadFile(name)
	if os.IsNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fail.New(fail.Failed, msg.Text{"%v", "%v"}, err)
	}
	return report.ParseSummary(name, data)
}
