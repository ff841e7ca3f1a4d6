package cli

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/drydock-ml/drydock/eval/benchmark"
	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/pipeline"
	"github.com/drydock-ml/drydock/internal/runstore"
	"github.com/drydock-ml/drydock/internal/ui"
)

func newBenchCommand(a *app) *cobra.Command {
	return a.group("bench", msg.Text{"Register and list benchmarks.", "登记和列出评测集。"},
		newBenchListCommand(a), newBenchShowCommand(a), newBenchAddCommand(a), newBenchLintCommand(a))
}

func newBenchListCommand(a *app) *cobra.Command {
	return a.command("list", about{
		short: msg.Text{"List the benchmarks drydock knows, your copies and the project's own.", "列出 drydock 已知的评测集、您的副本以及本项目的评测集。"},
		long: msg.Text{
			"drydock ships what a benchmark asks and how it is graded, never its items: these you register with drydock bench add.",
			"drydock 附带评测集的提示词与判分规则，但不附带题目：题目由您用 drydock bench add 登记。",
		},
		examples: []example{{msg.Text{"all of them", "全部"}, "drydock bench list"}},
	}, func(cmd *cobra.Command, _ []string) error { return runBenchList(cmd.Context(), a) })
}

// benchRow is one benchmark: what is shipped of it, and the user's copy.
type benchRow struct {
	Name       string `json:"name"`
	Ref        string `json:"ref,omitempty"`      // of a shipped one
	Like       string `json:"like,omitempty"`     // whose prompt and rule a registered one has
	Expected   int    `json:"expected,omitempty"` // items the published one has
	Registered bool   `json:"registered"`
	Project    bool   `json:"project,omitempty"` // drydock.yaml here names it
	Items      int    `json:"items,omitempty"`
	SHA256     string `json:"sha256,omitempty"`
	Path       string `json:"path,omitempty"`
}

// benchRows lists the shipped benchmarks, those registered, and those of the
// project here, which go before a registered one of the same name.
func (a *app) benchRows() ([]benchRow, error) {
	home, err := a.host.home()
	if err != nil {
		return nil, err
	}
	registered, err := runstore.ListBenchmarks(home)
	if err != nil {
		return nil, err
	}
	var rows []benchRow
	at := map[string]int{}
	for _, b := range benchmark.All() {
		at[b.Ref().Name] = len(rows)
		rows = append(rows, benchRow{Name: b.Ref().Name, Ref: b.Ref().String(), Expected: b.Info().Items})
	}
	for _, r := range registered {
		i, shipped := at[r.Name]
		if !shipped {
			i = len(rows)
			rows = append(rows, benchRow{Name: r.Name, Like: r.Like})
		}
		rows[i].Registered, rows[i].Items, rows[i].SHA256, rows[i].Path = true, r.Items, r.SHA256, r.Path()
	}
	own, err := a.projectBenchmarks()
	if err != nil {
		a.term.Detail(msg.Text{"without the benchmarks of %s, which has mistakes: drydock lint", "不含 %s 中的评测集，该文件有错误：drydock lint"}, a.configFile())
	}
	for _, b := range own {
		row := benchRow{Name: b.Name, Like: cmp.Or(b.Like, "maritime_bench"), Project: true, Path: b.Path}
		if found, err := a.findBench(b.Name); err == nil {
			row.Items, row.SHA256 = len(found.Items), found.SHA256
		}
		if i := slices.IndexFunc(rows, func(r benchRow) bool { return r.Name == b.Name }); i >= 0 {
			row.Ref, row.Expected = rows[i].Ref, rows[i].Expected
			rows[i] = row
			continue
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// benchList is the answer of bench list.
type benchList struct {
	Schema     string     `json:"schema"`
	Benchmarks []benchRow `json:"benchmarks"`
}

func runBenchList(_ context.Context, a *app) error {
	rows, err := a.benchRows()
	if err != nil {
		return err
	}
	return a.answer(benchList{"drydock.bench.list/1", rows})
}

func (l benchList) text(t *ui.Terminal) {
	tb := t.Table(
		ui.Column{Title: msg.Text{"name", "名称"}}, ui.Column{Title: msg.Text{"items", "题数"}, Right: true},
		ui.Column{Title: msg.Text{"your copy", "您的副本"}},
	).Wrapped()
	for _, r := range l.Benchmarks {
		name := r.Ref
		if name == "" {
			name = r.Name
		}
		items, copied := "-", t.Say(msg.Text{"none: drydock bench add %s FILE", "无：drydock bench add %s FILE"}, r.Name)
		switch {
		case r.Expected == 0 && !r.Registered && !r.Project:
			copied = t.Say(msg.Text{"none needed: --bench FILE", "不需要：--bench FILE"})
		case r.Project:
			items, copied = fmt.Sprint(r.Items), filepath.ToSlash(r.Path)
		case r.Registered:
			items, copied = fmt.Sprint(r.Items), r.SHA256[:min(12, len(r.SHA256))]
		}
		tb.Row(name, items, copied)
	}
	tb.Print()
}

func newBenchShowCommand(a *app) *cobra.Command {
	c := a.command("show", about{
		use: "NAME|FILE", args: oneArg("NAME"),
		short: msg.Text{"Show a benchmark: rule, prompt, your copy.", "显示评测集：规则、提示词、您的副本。"},
		long: msg.Text{
			"FILE is items, a pack (YAML) or a folder, as --bench takes them; then the prompt of its first item is shown, too.",
			"FILE 为题目文件、评测集描述（YAML）或文件夹，与 --bench 相同；此时还会显示第一题的提示词。",
		},
		examples: []example{
			{msg.Text{"the challenge's benchmark", "竞赛所用评测集"}, "drydock bench show maritime_bench"},
			{msg.Text{"a pack of your own", "自有评测集"}, "drydock bench show harbour.yaml"},
		},
	}, func(cmd *cobra.Command, args []string) error { return runBenchShow(cmd.Context(), a, args[0]) })
	c.ValidArgsFunction = a.benchNames
	return c
}

func (a *app) benchNames(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return a.knownBenches(), cobra.ShellCompDirectiveNoFileComp
}

func (a *app) knownBenches() []string {
	rows, err := a.benchRows()
	if err != nil {
		return nil
	}
	var names []string
	for _, r := range rows {
		names = append(names, r.Name)
	}
	return names
}

// benchShow is the answer of bench show.
type benchShow struct {
	Schema string `json:"schema"`
	benchRow
	Title       string `json:"title"`
	Dataset     string `json:"dataset,omitempty"`
	Description string `json:"description,omitempty"`
	Rule        string `json:"rule"`
	OtherRule   string `json:"other_rule,omitempty"`
	Fingerprint string `json:"fingerprint"`
	promptShape
	FirstPrompt string `json:"first_prompt,omitempty"` // of a file's first item
}

// promptShape says what a benchmark asks.
type promptShape struct {
	Prompt       string `json:"prompt"` // with {question} and {choices}
	OptionFormat string `json:"option_format"`
	MaxOptions   int    `json:"max_options"`
	Examples     int    `json:"examples"` // answered ones before the question
}

func shapeOf(b benchmark.Benchmark) promptShape {
	c, ok := b.(*benchmark.Choice)
	if !ok {
		return promptShape{}
	}
	return promptShape{Prompt: c.Template(), OptionFormat: c.OptionFormat(), MaxOptions: c.MaxOptions(), Examples: c.Examples()}
}

// showOf describes a benchmark.
func showOf(row benchRow, b benchmark.Benchmark) benchShow {
	info := b.Info()
	return benchShow{
		Schema: "drydock.bench.show/1", benchRow: row, Title: info.Title, Dataset: info.Dataset, Description: info.Description,
		Rule: info.Rule, OtherRule: info.OtherRule, Fingerprint: b.Fingerprint(), promptShape: shapeOf(b),
	}
}

func runBenchShow(_ context.Context, a *app, name string) error {
	rows, err := a.benchRows()
	if err != nil {
		return err
	}
	var names []string
	for _, r := range rows {
		names = append(names, r.Name)
		if r.Name != name && r.Ref != name {
			continue
		}
		like := r.Ref
		if like == "" {
			like = r.Like
		}
		b, err := benchmark.Lookup(like)
		if err != nil {
			return err
		}
		return a.answer(showOf(r, b))
	}
	if b, err := a.findBench(name); err == nil {
		return a.showFile(b)
	} else if _, there := os.Stat(name); there == nil {
		return err
	}
	return fail.New(fail.Usage, msg.Text{"there is no benchmark %q", "没有评测集 %q"}, name).Near(name, names).
		Hint(msg.Text{"there are: %s", "可用：%s"}, msg.List(names)).
		Hint(msg.Text{"drydock bench add %s FILE registers a copy of yours", "用 drydock bench add %s FILE 登记您的副本"}, name)
}

// showFile describes a benchmark that is a file or a folder.
func (a *app) showFile(b *pipeline.Bench) error {
	show := showOf(benchRow{
		Name: b.Name, Ref: b.Benchmark.Ref().String(), Project: true, Items: len(b.Items), SHA256: b.SHA256, Path: filepath.ToSlash(b.Path),
	}, b.Benchmark)
	if len(b.Items) > 0 {
		m := b.Benchmark.Prompt(b.Items[0])
		show.FirstPrompt = m[len(m)-1].Content
	}
	return a.answer(show)
}

func (b benchShow) text(t *ui.Terminal) {
	tb := t.Table(ui.Column{}, ui.Column{}).Bare().Wrapped()
	row := func(label msg.Text, value string) {
		if value != "" {
			tb.Row(t.Say(label), value)
		}
	}
	row(msg.Text{"name", "名称"}, b.Name)
	row(msg.Text{"revision", "版本"}, b.Ref)
	row(msg.Text{"prompt and rule of", "提示词与规则同"}, b.Like)
	row(msg.Text{"dataset", "数据集"}, b.Dataset)
	if b.Expected > 0 {
		row(msg.Text{"published items", "发布题数"}, fmt.Sprint(b.Expected))
	}
	row(msg.Text{"rule", "抽取规则"}, b.Rule)
	row(msg.Text{"rule elsewhere", "其他版本的规则"}, b.OtherRule)
	row(msg.Text{"fingerprint", "指纹"}, b.Fingerprint)
	if b.Registered || b.Project {
		row(msg.Text{"your copy", "您的副本"}, b.Path)
		row(msg.Text{"its items", "副本题数"}, fmt.Sprint(b.Items))
		row(msg.Text{"its sha256", "副本 sha256"}, b.SHA256)
	} else {
		row(msg.Text{"your copy", "您的副本"}, t.Say(msg.Text{"none: drydock bench add %s FILE", "无：drydock bench add %s FILE"}, b.Name))
	}
	if b.Examples > 0 {
		row(msg.Text{"examples shown", "展示的示例"}, fmt.Sprint(b.Examples))
	}
	tb.Print()
	if text := cmp.Or(b.FirstPrompt, b.Prompt); text != "" {
		t.Print(msg.Text{"\n%s", "\n%s"}, text)
	}
}

// BenchAddOptions are the flags of bench add.
type BenchAddOptions struct {
	Name, File string
	Like       string
	DryRun     bool
}

func newBenchAddCommand(a *app) *cobra.Command {
	var o BenchAddOptions
	c := a.command("add", about{
		use: "NAME FILE", args: exactly(2, "NAME FILE"),
		short: msg.Text{"Register your copy of a benchmark.", "登记您的评测集副本。"},
		long: msg.Text{
			"FILE is a JSON array, JSONL, CSV, Parquet or Arrow with the columns question, answer, A, B, C and, for four options, D; index is optional. It is copied under DRYDOCK_HOME by its content hash; the last copy added is the one a bare name means.",
			"FILE 为 JSON 数组、JSONL、CSV、Parquet 或 Arrow，字段为 question、answer、A、B、C，四个选项时还有 D；index 可省略。文件按内容哈希复制到 DRYDOCK_HOME；同名时以最后登记的副本为准。",
		},
		examples: []example{
			{msg.Text{"the challenge's benchmark, as downloaded", "下载得到的竞赛评测集"}, "drydock bench add maritime_bench maritimebench_test.json"},
			{msg.Text{"a development set of your own with the same prompt", "使用相同提示词的自有开发集"}, "drydock bench add dev dev.jsonl"},
		},
	}, nil)
	c.RunE = func(cmd *cobra.Command, args []string) error {
		o.Name, o.File = args[0], args[1]
		return runBenchAdd(cmd.Context(), a, o)
	}
	f := a.flags(c.Flags())
	f.str(&o.Like, "like", "", "maritime_bench", msg.Text{"use prompt and rule of benchmark `NAME`", "沿用评测集 `NAME` 的提示词与规则"})
	f.dryRun(&o.DryRun)
	a.complete(c, "like", "maritime_bench", "general_mcq", "general_mcq_multi", "general_qa")
	return c
}

// benchAdded is the answer of bench add.
type benchAdded struct {
	Schema    string `json:"schema"`
	Name      string `json:"name"`
	Like      string `json:"like"`
	Items     int    `json:"items"`
	Three     int    `json:"three_options"`
	Flawed    int    `json:"flawed"`    // items whose key names no option shown
	Published bool   `json:"published"` // the items are those of the published benchmark
	SHA256    string `json:"sha256"`
	Path      string `json:"path"`
	DryRun    bool   `json:"dry_run,omitempty"`
	expected  int
}

func runBenchAdd(_ context.Context, a *app, o BenchAddOptions) error {
	like := o.Like
	if shipped, err := benchmark.Lookup(o.Name); err == nil {
		like = shipped.Ref().Name
	}
	b, err := benchmark.Lookup(like)
	if err != nil {
		return err
	}
	if info, err := os.Stat(o.File); err == nil && (info.IsDir() || isPack(o.File)) {
		return fail.New(fail.Usage, msg.Text{"%s is a folder or a pack, and bench add keeps one file of items", "%s 是文件夹或评测集描述，而 bench add 只登记单个题目文件"}, filepath.ToSlash(o.File)).
			Hint(msg.Text{"name it where it lies: --bench %s, or benchmarks in drydock.yaml", "请直接引用：--bench %s，或写入 drydock.yaml 的 benchmarks"}, filepath.ToSlash(o.File))
	}
	data, err := a.readFile(o.File)
	if err != nil {
		return err
	}
	rows := data
	if o.File != "-" {
		if rows, err = pipeline.ReadItemFile(o.File); err != nil {
			return err
		}
	}
	items, err := benchmark.ReadItemsOf(b, filepath.Base(o.File), rows)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(data)
	// always one name: the user's could be that of a file the store keeps
	base := "items" + strings.ToLower(filepath.Ext(o.File))
	reg := runstore.Registered{Name: o.Name, Like: b.Ref().Name, File: base, SHA256: hex.EncodeToString(sum[:]), Items: len(items)}
	home, err := a.host.home()
	if err != nil {
		return err
	}
	if !o.DryRun {
		if reg, err = runstore.AddBenchmark(home, reg, data); err != nil {
			return err
		}
	}
	ans := added(reg, b, items)
	ans.DryRun = o.DryRun
	if ans.expected > 0 && !ans.Published {
		a.term.Warn(msg.Text{
			"these are not the published items of %s: %d here, %d published",
			"这些不是 %s 的发布题目：此处 %d 题，发布 %d 题",
		}, o.Name, ans.Items, ans.expected)
	}
	return a.answer(ans)
}

// added says what the items of a registered file are, beside those that the
// benchmark they are asked like has published.
func added(reg runstore.Registered, b benchmark.Benchmark, items []benchmark.Item) benchAdded {
	ans := benchAdded{
		Schema: "drydock.bench.add/1", Name: reg.Name, Like: reg.Like, Items: reg.Items, SHA256: reg.SHA256, Path: reg.Path(),
		Published: benchmark.CanonicalHash(items) == b.Info().ItemsSHA256,
	}
	if reg.Name == b.Ref().Name {
		ans.expected = b.Info().Items
	}
	for i := range items {
		if len(items[i].Question.Options) == 3 {
			ans.Three++
		}
		if items[i].Flaw() != benchmark.FlawNone {
			ans.Flawed++
		}
	}
	return ans
}

func (b benchAdded) text(t *ui.Terminal) {
	what := msg.Text{"%s: registered %d {item|items} (%s), %d with three options", "%s：已登记 %d 题（%s），其中三选项 %d 题"}
	if b.DryRun {
		what = msg.Text{"%s: would register %d {item|items} (%s), %d with three options", "%s：将登记 %d 题（%s），其中三选项 %d 题"}
	}
	t.Print(what, b.Name, b.Items, b.SHA256[:12], b.Three)
	if b.Flawed > 0 {
		t.Print(msg.Text{
			"%d {item has|items have} a key that names no option shown; counted all the same, as the referee does",
			"%d 题的答案不对应任何可见选项；与裁判一致，它们仍计入总数",
		}, b.Flawed)
	}
	if b.Published {
		t.Print(msg.Text{"the items are those of the published benchmark", "题目与发布的评测集一致"})
	}
}

// readFile reads a whole input, stdin for "-". An error is about usage: the
// user named the file.
func (a *app) readFile(name string) ([]byte, error) {
	r, err := a.open(name)
	if err != nil {
		return nil, a.cannotRead(name, err)
	}
	defer r.Close()
	b, err := io.ReadAll(r)
	if err != nil {
		return nil, a.cannotRead(name, err)
	}
	return b, nil
}
