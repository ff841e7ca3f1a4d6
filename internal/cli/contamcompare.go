package cli

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/drydock-ml/drydock/dedup/contam"
	"github.com/drydock-ml/drydock/dedup/contam/report"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/ui"
)

// ContamCompareOptions are the flags of contam compare.
type ContamCompareOptions struct {
	A, B  string
	Limit int
}

func newContamCompareCommand(a *app) *cobra.Command {
	var o ContamCompareOptions
	c := a.command("compare", about{
		use: "A B", args: exactly(2, "A B"),
		short: msg.Text{"Show what one report finds and the other misses.", "比较两份报告：一份发现而另一份遗漏的内容。"},
		long: msg.Text{
			"A and B are reports of contam check over the same data: with another preset, other thresholds or another version. Findings are joined by record and item. It ends with 0 whatever differs.",
			"A 与 B 是对同一数据的两份 contam check 报告，例如规则、阈值或版本不同。按记录和题目对应。无论差异如何均以 0 退出。",
		},
		examples: []example{
			{msg.Text{"what would decon have missed?", "decon 会漏掉什么？"}, "drydock contam compare ours.jsonl decon.jsonl"},
		},
	}, nil)
	c.RunE = func(cmd *cobra.Command, args []string) error {
		o.A, o.B = args[0], args[1]
		return runContamCompare(cmd.Context(), a, o)
	}
	f := a.flags(c.Flags())
	f.int(&o.Limit, "limit", "", 20, msg.Text{"show at most `N` differences; 0: all", "最多显示 `N` 处差异；0 表示全部"})
	return c
}

// contamComparison is the answer of contam compare.
type contamComparison struct {
	A string `json:"a"`
	B string `json:"b"`
	*report.Comparison
	limit int
}

func runContamCompare(_ context.Context, a *app, o ContamCompareOptions) error {
	rowsA, sumA, err := a.readReport(o.A)
	if err != nil {
		return err
	}
	rowsB, sumB, err := a.readReport(o.B)
	if err != nil {
		return err
	}
	records := 0
	if sumA != nil && sumB != nil {
		same := func(x, y report.Input) bool { return x.SHA256 == y.SHA256 }
		if slices.EqualFunc(sumA.Inputs, sumB.Inputs, same) {
			records = sumA.Records
		} else {
			a.term.Warn(msg.Text{"the reports are of different data: what only one has may be for that reason", "两份报告的数据不同：只在一份中出现的内容可能由此造成"})
		}
	}
	return a.answer(contamComparison{o.A, o.B, report.Compare(rowsA, rowsB, records), o.Limit})
}

// readReport reads a report, and its summary where it stands beside it.
func (a *app) readReport(name string) ([]report.Row, *report.Summary, error) {
	data, err := a.readFile(name)
	if err != nil {
		return nil, nil, err
	}
	rows, err := report.ReadAll(name, bytes.NewReader(data))
	if err != nil {
		return nil, nil, err
	}
	s, err := readSummary(name)
	return rows, s, err
}

func (c contamComparison) text(t *ui.Terminal) {
	t.Print(msg.Text{"A  %s: %d {finding|findings}", "A  %s：%d 个发现"}, c.A, c.Both+c.OnlyA)
	t.Print(msg.Text{"B  %s: %d {finding|findings}", "B  %s：%d 个发现"}, c.B, c.Both+c.OnlyB)
	tb := t.Table(
		ui.Column{}, ui.Column{Title: msg.Text{"both", "两者"}, Right: true}, ui.Column{Title: msg.Text{"only A", "仅 A"}, Right: true},
		ui.Column{Title: msg.Text{"only B", "仅 B"}, Right: true}, ui.Column{Title: msg.Text{"agreement", "一致率"}, Right: true},
	)
	agreement := func(v float64) string { return fmt.Sprintf("%.1f %%", 100*v) }
	tb.Row(t.Say(msg.Text{"record and item", "记录与题目"}), fmt.Sprint(c.Both), fmt.Sprint(c.OnlyA), fmt.Sprint(c.OnlyB), agreement(c.Agreement))
	failing := ""
	if c.RecordAgreement != nil {
		failing = t.Say(msg.Text{"%s of %d records", "%s（共 %d 条记录）"}, agreement(*c.RecordAgreement), c.Records)
	}
	tb.Row(t.Say(msg.Text{"records that fail", "判为泄漏的记录"}), fmt.Sprint(c.FailBoth), fmt.Sprint(c.FailOnlyA), fmt.Sprint(c.FailOnlyB), failing)
	tb.Print()
	if len(c.Changes) > 0 {
		t.Println("")
		tb := t.Table(ui.Column{Title: msg.Text{"verdict in A", "A 的判定"}}, ui.Column{Title: msg.Text{"in B", "B 的判定"}}, ui.Column{Title: msg.Text{"findings", "个数"}, Right: true})
		for _, ch := range c.Changes {
			tb.Row(ch.A, ch.B, fmt.Sprint(ch.Pairs))
		}
		tb.Print()
	}
	if len(c.Pairs) == 0 {
		t.Println(t.Good(t.Say(msg.Text{"both find the same", "两者发现一致"})))
		return
	}
	t.Println("")
	pairs := t.Table(
		ui.Column{Title: msg.Text{"item", "题目"}}, ui.Column{Title: msg.Text{"A", "A"}}, ui.Column{Title: msg.Text{"B", "B"}},
		ui.Column{Title: msg.Text{"record", "记录"}},
	).Wrapped()
	for i, p := range c.Pairs {
		if c.limit > 0 && i == c.limit {
			break
		}
		place := contam.Place{File: p.Record.File, Line: p.Record.Line, ID: p.Record.ID, Locator: p.Record.Locator}
		pairs.Row(benchItem(contam.ItemRef{Benchmark: p.Item.Benchmark, Index: p.Item.Index}), dash(p.VerdictA), dash(p.VerdictB), report.Where(&place))
	}
	pairs.Print()
	if more := len(c.Pairs) - c.limit; c.limit > 0 && more > 0 {
		t.Print(msg.Text{"%d more: --limit 0 shows all", "另有 %d 处：--limit 0 显示全部"}, more)
	}
}

func dash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
