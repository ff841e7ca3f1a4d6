package cli

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/drydock-ml/drydock/eval/benchmark"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/ui"
)

func newBenchLintCommand(a *app) *cobra.Command {
	c := a.command("lint", about{
		use: "NAME|FILE", args: oneArg("FILE"),
		short: msg.Text{"Check a benchmark of your own before it is asked.", "在提问之前检查自有评测集。"},
		long: msg.Text{
			"FILE is items (JSON, JSONL, CSV, TSV), a pack (YAML), or a folder: one with benchmark.yaml, EvalScope's general_mcq (NAME_val.csv, NAME_dev.csv) or C-Eval's and CMMLU's (val, test, dev). Every bad row is named. Told besides: keys that name no option shown, questions that stand there twice, options that cannot be permuted, how the keys fall.",
			"FILE 为题目文件（JSON、JSONL、CSV、TSV）、评测集描述（YAML）或文件夹：含 benchmark.yaml，或 EvalScope general_mcq（NAME_val.csv、NAME_dev.csv），或 C-Eval、CMMLU（val、test、dev）的布局。每个错误行都会列出；此外还报告：答案不对应任何选项的题、重复的题、选项不可重排的题，以及答案分布。",
		},
		examples: []example{
			{msg.Text{"a pack of your own", "自有评测集"}, "drydock bench lint harbour.yaml"},
			{msg.Text{"a folder of C-Eval's layout", "C-Eval 布局的文件夹"}, "drydock bench lint ceval/"},
		},
	}, func(cmd *cobra.Command, args []string) error { return runBenchLint(cmd.Context(), a, args[0]) })
	c.ValidArgsFunction = a.benchNames
	return c
}

// benchLint is the answer of bench lint.
type benchLint struct {
	Schema      string         `json:"schema"`
	Name        string         `json:"name"`
	Path        string         `json:"path"`
	Items       int            `json:"items"`
	SHA256      string         `json:"sha256"`    // of the files
	Canonical   string         `json:"canonical"` // of what is asked
	Fingerprint string         `json:"fingerprint"`
	Rule        string         `json:"rule"`
	Options     map[string]int `json:"options"` // how many items have so many
	Keys        map[string]int `json:"keys"`    // how many items have this key
	Subjects    map[string]int `json:"subjects,omitempty"`
	Flawed      []int          `json:"flawed"`    // items whose key names no option shown
	Repeated    []int          `json:"repeated"`  // items whose question and options stand before
	Bound       []int          `json:"bound"`     // items whose options cannot all be permuted
	Unfitting   []int          `json:"unfitting"` // items whose own text would be read as the answer
}

func runBenchLint(_ context.Context, a *app, name string) error {
	b, err := a.findBench(name)
	if err != nil {
		return err
	}
	l := benchLint{
		Schema: "drydock.bench.lint/1", Name: b.Name, Path: filepath.ToSlash(b.Path), Items: len(b.Items), SHA256: b.SHA256, Canonical: b.Canonical,
		Fingerprint: b.Benchmark.Fingerprint(), Rule: b.Benchmark.Info().Rule,
		Options: map[string]int{}, Keys: map[string]int{}, Subjects: map[string]int{},
		Flawed: []int{}, Repeated: []int{}, Bound: []int{}, Unfitting: []int{},
	}
	seen := map[string]bool{}
	for i := range b.Items {
		l.look(b.Benchmark, &b.Items[i], seen)
	}
	return a.answer(l)
}

// look adds what there is to say of one item.
func (l *benchLint) look(b benchmark.Benchmark, it *benchmark.Item, seen map[string]bool) {
	if n := len(it.Question.Options); n > 0 {
		l.Options[fmt.Sprint(n)]++
		l.Keys[strings.ToUpper(strings.TrimSpace(it.Key()))]++
	}
	if s := it.Tags["subject"]; s != "" {
		l.Subjects[s]++
	}
	if it.Flaw() != benchmark.FlawNone {
		l.Flawed = append(l.Flawed, it.Index)
	}
	row := *it
	row.Gold = nil
	same := string(benchmark.AppendCanonical(nil, &row))
	if seen[same] {
		l.Repeated = append(l.Repeated, it.Index)
	}
	seen[same] = true
	if benchmark.Permute(*it, 0).Bound {
		l.Bound = append(l.Bound, it.Index)
	}
	// a model that repeats the question first would be graded by it
	if strings.HasPrefix(b.Info().Rule, "bracket") && b.Grade(*it, benchmark.Reply{Text: it.Question.Stem}).Extracted != "" {
		l.Unfitting = append(l.Unfitting, it.Index)
	}
}

func (l benchLint) text(t *ui.Terminal) {
	tb := t.Table(ui.Column{}, ui.Column{}).Bare().Wrapped()
	row := func(label msg.Text, value string) {
		if value != "" {
			tb.Row(t.Say(label), value)
		}
	}
	row(msg.Text{"name", "名称"}, l.Name)
	row(msg.Text{"items", "题数"}, fmt.Sprint(l.Items))
	row(msg.Text{"options", "选项数"}, countsOf(l.Options))
	row(msg.Text{"keys", "答案分布"}, countsOf(l.Keys))
	row(msg.Text{"subjects", "科目"}, countsOf(l.Subjects))
	row(msg.Text{"rule", "抽取规则"}, l.Rule)
	row(msg.Text{"fingerprint", "指纹"}, l.Fingerprint)
	row(msg.Text{"of what is asked", "题目哈希"}, l.Canonical)
	tb.Print()
	for _, w := range []struct {
		items []int
		text  msg.Text
	}{
		{l.Flawed, msg.Text{"%d {item has|items have} a key that names no option shown: %s", "%d 题的答案不对应任何可见选项：%s"}},
		{l.Repeated, msg.Text{"%d {item stands|items stand} there before, options and all: %s", "%d 题与前面的题完全相同（含选项）：%s"}},
		{l.Unfitting, msg.Text{"%d {question holds|questions hold} what the rule would read as an answer: %s", "%d 题的题干中含有会被当作答案抽取的文本：%s"}},
	} {
		if len(w.items) > 0 {
			t.Warn(w.text, len(w.items), firstNumbers(w.items))
		}
	}
	if len(l.Bound) > 0 {
		t.Note(msg.Text{"the options of %d {item|items} name one another and keep their places in permutations: %s", "%d 题的选项相互引用，重排时保持原位：%s"}, len(l.Bound), firstNumbers(l.Bound))
	}
}

// countsOf lists counts in the order of their names.
func countsOf(m map[string]int) string {
	const most = 12
	var parts []string
	for _, k := range slices.Sorted(maps.Keys(m)) {
		if len(parts) == most {
			parts = append(parts, fmt.Sprintf("… (%d)", len(m)))
			break
		}
		parts = append(parts, fmt.Sprintf("%s: %d", k, m[k]))
	}
	return strings.Join(parts, " · ")
}

// isPack reports whether a file name is a pack's.
func isPack(name string) bool {
	ext := strings.ToLower(filepath.Ext(name))
	return ext == ".yaml" || ext == ".yml"
}
