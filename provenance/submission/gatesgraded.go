package submission

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/eval/benchmark"
	"github.com/drydock-ml/drydock/eval/evalscope"
	"github.com/drydock-ml/drydock/internal/msg"
)

func gradedGates() []gate {
	return []gate{
		{"G01", Rule, roleResults, msg.Text{"the graded file has one row of EvalScope 1.4.2 for every item", "评分文件为 EvalScope 1.4.2 格式，且每题一行"}, gateG01},
		{"G02", Rule, roleResults, msg.Text{"every index stands once, from 0 without a gap", "题号从 0 起连续，且各出现一次"}, gateG02},
		{"G03", Rule, roleResults, msg.Text{"prompts and keys are the benchmark's", "提示与答案均与评测集一致"}, gateG03},
		{"G04", Rule, roleResults, msg.Text{"extracted answers and scores follow from the replies", "抽取的答案与得分可由回复重新得出"}, gateG04},
		{"G05", Risk, roleResults, msg.Text{"replies are in the form that was asked for", "回复符合要求的格式"}, gateG05},
		{"G06", Rule, roleResults, msg.Text{"the evaluation report says what the rows say", "评测报告与各行一致"}, gateG06},
	}
}

func gateG01(c *check) error {
	r := &c.reviews
	switch {
	case r.missing:
		c.fails(at(r.file, 0).fix(msg.Text{"put the reviews file there: reviews/MODEL/%s of the evaluation's work folder", "请将评测工作目录中的 reviews/模型/%s 放到该位置"}, c.decl.Benchmark.Name+"_default.jsonl"),
			msg.Text{"there is no %s", "没有 %s"}, r.file)
		return nil
	case r.err != nil:
		return r.err
	}
	for _, f := range r.bad {
		c.add(f)
	}
	switch {
	case c.n == 0:
		c.fails(at(declarationName, 0), msg.Text{"how many items %s has is not known: declare benchmark.n", "未知 %s 的题目数：请声明 benchmark.n"}, c.decl.Benchmark.Name)
	case c.n != r.lines:
		c.fails(at(r.file, 0).want(c.n, r.lines).fix(msg.Text{"evaluate all items, without --limit and without --ignore-errors", "请评测全部题目，不要使用 --limit 与 --ignore-errors"}),
			msg.Text{"%d {row|rows}, the benchmark has %d {item|items}", "共 %d 行，而评测集有 %d 道题"}, r.lines, c.n)
	case c.declared && c.decl.Benchmark.N != 0 && c.decl.Benchmark.N != c.n:
		c.fails(at(declarationName, 0).want(c.n, c.decl.Benchmark.N), msg.Text{"declares %d {item|items}, %s has %d", "声明为 %d 道题，而 %s 有 %d 道"}, c.decl.Benchmark.N, c.decl.Benchmark.Name, c.n)
	}
	c.passes(msg.Text{"%d {row|rows}", "共 %d 行"}, r.lines)
	return nil
}

func gateG02(c *check) error {
	if c.unusable() {
		return nil
	}
	r := &c.reviews
	n := c.n
	if n == 0 {
		n = len(r.rows)
	}
	seen := make([]int, n)
	for _, v := range r.rows {
		switch {
		case v.index < 0 || v.index >= n:
			c.fails(r.at(v).want(fmt.Sprintf("0…%d", n-1), v.index), msg.Text{"index %d is outside 0 to %d", "题号 %d 不在 0 到 %d 之内"}, v.index, n-1)
		case seen[v.index] > 0:
			c.fails(r.at(v), msg.Text{"index %d stands in line %d, too", "题号 %d 已在第 %d 行出现"}, v.index, seen[v.index])
		default:
			seen[v.index] = v.line
		}
	}
	var gone []int
	for i, line := range seen {
		if line == 0 {
			gone = append(gone, i)
		}
	}
	// rows that cannot be read are G01's business
	if len(gone) > r.unread {
		c.fails(at(r.file, 0).fix(msg.Text{"resume the evaluation; the missing items are asked again", "续跑评测即可补齐缺失的题目"}), msg.Text{"no row for index %s", "缺少题号 %s"}, msg.Few(msg.Numbers(gone), 20))
	}
	c.passes(msg.Text{"0 to %d, each once", "0 到 %d，各一次"}, n-1)
	return nil
}

// once returns the rows by index, leaving out what G02 speaks of.
func (c *check) once() map[int]review {
	byIndex := make(map[int]review, len(c.reviews.rows))
	for _, v := range c.reviews.rows {
		if _, dup := byIndex[v.index]; !dup && v.index >= 0 && (c.n == 0 || v.index < c.n) {
			byIndex[v.index] = v
		}
	}
	return byIndex
}

func gateG03(c *check) error {
	if c.unusable() {
		return nil
	}
	if c.itemsErr != nil {
		return c.itemsErr
	}
	if c.items == nil || c.bench == nil {
		return c.promptsByHash()
	}
	if d := c.decl.Benchmark; c.declared && d.SHA256 != "" {
		if got := benchmark.CanonicalHash(c.items); got != d.SHA256 {
			c.fails(at(declarationName, 0).want(got, d.SHA256), msg.Text{"the declared %s is not the one registered here", "所声明的 %s 与本机登记的不一致"}, d.Name)
			return nil
		}
	}
	rows := c.once()
	for i := range c.items {
		v, ok := rows[i]
		if !ok {
			continue
		}
		it := c.items[i]
		want := evalscope.Input(c.bench.Prompt(it))
		if v.input != want {
			p := firstDifference(want, v.input)
			c.fails(c.reviews.at(v).pointer("/input").want(fingerprint(want), fingerprint(v.input)),
				msg.Text{"the prompt of index %d is not the benchmark's; they part at character %d", "题号 %d 的提示与评测集不一致，自第 %d 个字符起不同"}, v.index, p)
		}
		if gold := strings.Join(it.Gold, ","); v.target != gold {
			c.fails(c.reviews.at(v).pointer("/target").want(gold, v.target), msg.Text{"the key of index %d is not the benchmark's", "题号 %d 的答案与评测集不一致"}, v.index)
		}
	}
	c.passes(msg.Text{"compared with the registered copy, %d {item|items}", "已与本机登记的副本比对，共 %d 道题"}, len(c.items))
	return nil
}

// promptsByHash proves the prompts without a copy of the benchmark: the items
// are read back out of the prompts and their canonical hash is compared with
// the known one. It can say that something differs, not what.
func (c *check) promptsByHash() error {
	register := said(msg.Text{"drydock bench add %s FILE registers your copy", "用 drydock bench add %s 文件 登记您的副本"}, c.decl.Benchmark.Name)
	choice, ok := c.bench.(*benchmark.Choice)
	if !ok {
		c.skips(register, msg.Text{"no copy of %s is registered here", "本机未登记 %s"}, c.decl.Benchmark.Name)
		return nil
	}
	want := choice.Info().ItemsSHA256
	if want == "" {
		c.skips(register, msg.Text{"no copy of %s is registered here, and no hash of it is known", "本机未登记 %s，也没有其哈希"}, c.decl.Benchmark.Name)
		return nil
	}
	rows := c.once()
	if len(rows) != c.n {
		c.skips(register, msg.Text{"without a registered copy the whole set is needed, and rows are missing (G01, G02)", "未登记副本时需要完整的题集，而有缺行（见 G01、G02）"})
		return nil
	}
	items := make([]benchmark.Item, c.n)
	for i := range items {
		it, ok := itemOf(choice, rows[i])
		if !ok {
			c.fails(c.reviews.at(rows[i]).pointer("/input").fix(msg.Text{"evaluate with the benchmark's own prompt, without a system prompt or template of your own", "请使用评测集自带的提示评测，不要加系统提示或自定义模板"}),
				msg.Text{"the prompt of index %d does not follow the benchmark's template", "题号 %d 的提示不符合评测集模板"}, i)
			continue
		}
		items[i] = it
	}
	if c.v.Findings > 0 {
		return nil
	}
	if got := benchmark.CanonicalHash(items); got != want {
		f := at(c.reviews.file, 0).want(want, got)
		f.Fix = register
		c.fails(f, msg.Text{"the questions or keys in the file are not those of %s; register a copy to see which", "文件中的题目或答案与 %s 不一致；登记副本后可知是哪些"}, c.decl.Benchmark.Name)
		return nil
	}
	c.passes(msg.Text{"questions and keys have the benchmark's own hash, %d {item|items}", "题目与答案的哈希与评测集一致，共 %d 道题"}, c.n)
	return nil
}

// itemOf reads an item back out of its prompt. It can only go wrong towards a
// hash that differs.
func itemOf(b *benchmark.Choice, v review) (benchmark.Item, bool) {
	text, ok := strings.CutPrefix(v.input, evalscope.Input([]drydock.Message{{Role: "user"}}))
	if !ok {
		return benchmark.Item{}, false
	}
	q, ok := b.Unprompt(text)
	return benchmark.Item{Question: q, Gold: []string{v.target}}, ok
}

func gateG04(c *check) error {
	if c.unusable() {
		return nil
	}
	rule, ok := benchmark.LookupRule(c.ruleName())
	if !ok {
		c.fails(at(declarationName, 0), msg.Text{"unknown extraction rule %q", "未知的抽取规则 %q"}, c.ruleName())
		return nil
	}
	for _, v := range c.reviews.rows {
		letter, _, _ := rule.Extract(v.prediction)
		if letter != v.extracted {
			c.fails(c.reviews.at(v).pointer("/sample_score/score/extracted_prediction").want(letter, v.extracted),
				msg.Text{"index %d: the rule %s extracts %q, the file says %q", "题号 %d：按规则 %s 应抽取 %q，文件为 %q"}, v.index, rule.String(), letter, v.extracted)
		}
		// EvalScope compares what was extracted with the key, spaces and case aside
		acc := 0.0
		if strings.EqualFold(strings.TrimSpace(v.extracted), strings.TrimSpace(v.target)) {
			acc = 1
		}
		if v.acc != acc {
			c.fails(c.reviews.at(v).pointer("/sample_score/score/value/acc").want(acc, v.acc),
				msg.Text{"index %d: %q against key %q scores %v, the file says %v", "题号 %d：%q 对答案 %q 应得 %v 分，文件为 %v"}, v.index, v.extracted, v.target, acc, v.acc)
		}
	}
	c.passes(msg.Text{"%d {row|rows} recomputed by the rule %s", "已重新计算 %d 行（规则 %s）"}, len(c.reviews.rows), rule.String())
	return nil
}

func (c *check) ruleName() string {
	if choice, ok := c.bench.(*benchmark.Choice); ok {
		return choice.Rule().String()
	}
	if c.decl.Benchmark.Rule != "" {
		return c.decl.Benchmark.Rule
	}
	return "bracket_first@1"
}

var strictForm = regexp.MustCompile(`^\s*\[([A-D])\]\s*$`)

func gateG05(c *check) error {
	if c.unusable() {
		return nil
	}
	first, _ := benchmark.LookupRule("bracket_first@1")
	last, _ := benchmark.LookupRule("bracket_last@1")
	counts := map[string][]review{}
	add := func(kind string, v review) { counts[kind] = append(counts[kind], v) }
	for _, v := range c.reviews.rows {
		a, _, _ := first.Extract(v.prediction)
		b, _, _ := last.Extract(v.prediction)
		if a == "" {
			add("none", v)
		}
		if a != b {
			add("differ", v)
		}
		if a != "" && int(a[0]-'A') >= countOptions(v.input) {
			add("outside", v)
		}
		if strings.Contains(v.prediction, "<think>") || strings.Contains(v.prediction, "</think>") {
			add("think", v)
		}
		if !strictForm.MatchString(v.prediction) {
			add("form", v)
		}
	}
	report := func(kind string, t msg.Text) {
		if list := counts[kind]; len(list) > 0 {
			c.warns(c.reviews.at(list[0]), t, len(list), list[0].index)
		}
	}
	report("none", msg.Text{"replies without an answer: %d, first at index %d", "未给出答案的回复：%d 条，首条题号为 %d"})
	report("outside", msg.Text{"replies that name an option which was not offered: %d, first at index %d", "选择了不存在选项的回复：%d 条，首条题号为 %d"})
	report("differ", msg.Text{"replies read differently by EvalScope 1.7.0 and later, which take the last letter: %d, first at index %d", "EvalScope 1.7.0 及以后版本（取最后一个字母）读法不同的回复：%d 条，首条题号为 %d"})
	report("think", msg.Text{"replies with a think tag: %d, first at index %d", "含 think 标记的回复：%d 条，首条题号为 %d"})
	report("form", msg.Text{"replies that are not just [A] to [D]: %d, first at index %d; a stricter parser would count them as wrong", "不是单独 [A] 至 [D] 的回复：%d 条，首条题号为 %d；若解析更严将判为错误"})
	c.passes(msg.Text{"%d {reply|replies}, each just a bracketed letter", "共 %d 条回复，均为单独的方括号字母"}, len(c.reviews.rows))
	return nil
}

// countOptions counts the lettered lines at the end of a prompt.
func countOptions(input string) int {
	lines := strings.Split(input, "\n")
	for i := len(lines) - 1; i >= 0; i-- {
		if strings.HasPrefix(lines[i], "A. ") {
			return len(lines) - i
		}
	}
	return 26
}

func gateG06(c *check) error {
	if c.unusable() {
		return nil
	}
	if c.reviews.unread > 0 {
		c.skips(nil, msg.Text{"%d {row|rows} cannot be read, so nothing can be added up (G01)", "有 %d 行无法读取，因此无法汇总（见 G01）"}, c.reviews.unread)
		return nil
	}
	name := c.decl.Results.Report
	e, ok := c.bundle.find(name)
	if !ok {
		c.fails(at(name, 0).fix(msg.Text{"put the evaluation's reports/MODEL/%s there", "请将评测的 reports/模型/%s 放到该位置"}, c.decl.Benchmark.Name+".json"), msg.Text{"there is no %s", "没有 %s"}, name)
		return nil
	}
	data, err := e.read(16 << 20)
	if err != nil {
		return err
	}
	var rep struct {
		Score   *float64 `json:"score"`
		Dataset string   `json:"dataset_name"`
		Metrics []struct {
			Num   *int     `json:"num"`
			Score *float64 `json:"score"`
		} `json:"metrics"`
	}
	if err := json.Unmarshal(bytes.TrimPrefix(data, []byte("\ufeff")), &rep); err != nil {
		c.fails(at(name, 0), msg.Text{"not a report of EvalScope: %v", "不是 EvalScope 的报告：%v"}, err)
		return nil
	}
	if rep.Score == nil || len(rep.Metrics) == 0 || rep.Metrics[0].Num == nil || rep.Metrics[0].Score == nil {
		c.fails(at(name, 0), msg.Text{"score or metrics[0].num is missing", "缺少 score 或 metrics[0].num"})
		return nil
	}
	correct := 0
	for _, v := range c.reviews.rows {
		if v.acc == 1 {
			correct++
		}
	}
	n := c.n
	if n == 0 {
		n = len(c.reviews.rows)
	}
	score := evalscope.Round4(float64(correct) / float64(n))
	if *rep.Score != score {
		c.fails(at(name, 0).pointer("/score").want(score, *rep.Score), msg.Text{"score is %v; %d correct of %d give %v", "score 为 %v；%d 题正确、共 %d 题应为 %v"}, *rep.Score, correct, n, score)
	}
	if *rep.Metrics[0].Score != *rep.Score {
		c.fails(at(name, 0).pointer("/metrics/0/score").want(*rep.Score, *rep.Metrics[0].Score), msg.Text{"metrics[0].score differs from score", "metrics[0].score 与 score 不同"})
	}
	if *rep.Metrics[0].Num != n {
		c.fails(at(name, 0).pointer("/metrics/0/num").want(n, *rep.Metrics[0].Num), msg.Text{"num is %d, the benchmark has %d {item|items}", "num 为 %d，而评测集有 %d 道题"}, *rep.Metrics[0].Num, n)
	}
	if rep.Dataset != "" && rep.Dataset != c.decl.Benchmark.Name {
		c.fails(at(name, 0).pointer("/dataset_name").want(c.decl.Benchmark.Name, rep.Dataset), msg.Text{"the report is of %s", "该报告属于 %s"}, rep.Dataset)
	}
	c.passes(msg.Text{"%d correct of %d, score %v", "%d 题正确，共 %d 题，得分 %v"}, correct, n, score)
	return nil
}

// firstDifference returns the character (from 1) at which two texts part.
func firstDifference(a, b string) int {
	x, y := []rune(a), []rune(b)
	for i := range min(len(x), len(y)) {
		if x[i] != y[i] {
			return i + 1
		}
	}
	return min(len(x), len(y)) + 1
}

// fingerprint tells texts apart without repeating a question.
func fingerprint(s string) string {
	sum := sha256.Sum256([]byte(s))
	return fmt.Sprintf("%d characters, sha256 %s", len([]rune(s)), hex.EncodeToString(sum[:])[:16])
}
