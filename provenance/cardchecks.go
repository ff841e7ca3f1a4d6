package provenance

import (
	"fmt"
	"strings"

	"github.com/drydock-ml/drydock/internal/msg"
)

// contamination writes the statement for every benchmark that was compared.
func (m *markdown) contamination(steps []Step) {
	m.h2(msg.Text{"Contamination statement", "污染检查声明"})
	n := 0
	for _, s := range steps {
		for i := range s.Bench {
			m.benchmark(&s.Bench[i])
			n++
		}
	}
	if n == 0 {
		m.p(msg.Text{"**No benchmark was compared with this data.** Nothing is said about overlap.", "**未与任何评测集比对。** 对是否重叠不作任何说明。"})
		return
	}
	m.p(msg.Text{
		"The statement covers what is listed as scanned. It says nothing about what the base model saw in its own pre-training.",
		"本声明仅涵盖所列的扫描范围，不涉及基座模型自身预训练时所见的数据。",
	})
}

func (m *markdown) benchmark(c *Contamination) {
	name := c.Benchmark
	if c.Revision != "" {
		name += "@" + c.Revision
	}
	fmt.Fprintf(m, "\n### %s\n", code(name))
	lines := []string{
		m.say(msg.Text{"items: %d, canonical sha256 %s", "题目：%d 道，规范化 sha256 %s"}, c.Items, code(short(c.SHA256))),
	}
	for _, s := range c.Scanned {
		line := m.say(msg.Text{"scanned: %s, %d {record|records}", "已扫描：%s，%d 条"}, m.scanned(s.What), s.Records)
		if s.Bytes != nil {
			line += m.say(msg.Text{", %d {byte|bytes}", "，%d 字节"}, *s.Bytes)
		}
		lines = append(lines, line)
	}
	for _, s := range c.NotScanned {
		lines = append(lines, m.say(msg.Text{"**not scanned**: %s", "**未扫描**：%s"}, cell(s)))
	}
	if c.Method != "" {
		lines = append(lines, m.say(msg.Text{"method: %s, settings %s", "方法：%s，设置 %s"}, cell(c.Method), code(c.Config)))
	} else {
		lines = append(lines, m.say(msg.Text{"settings: %s", "设置：%s"}, code(c.Config)))
	}
	lines = append(lines, m.blind(c), m.outcome(c))
	m.list(lines)
	if len(c.Verdicts) == 0 {
		m.p(msg.Text{"No record matched an item.", "没有记录与题目匹配。"})
		return
	}
	var rows [][]string
	for _, v := range sortedKeys(c.Verdicts) {
		t, _ := VerdictMeaning(v)
		rows = append(rows, []string{code(v), count(c.Verdicts[v]), t.In(m.lang)})
	}
	m.table([]column{col(msg.Text{"strongest verdict", "最强判定"}), num(msg.Text{"records", "条数"}), col(msg.Text{"meaning", "说明"})}, rows)
}

// scanned says what was compared; a file stands as code.
func (m *markdown) scanned(what string) string {
	if what == ScannedRecords {
		return m.say(msg.Text{"training records", "训练记录"})
	}
	return code(what)
}

func (m *markdown) blind(c *Contamination) string {
	if len(c.Blind) == 0 {
		return m.say(msg.Text{"blind spots: none; every item can be seen at these settings", "盲区：无；在此设置下每道题都可检出"})
	}
	return m.say(msg.Text{"**blind spots**: %d of %d {item|items} cannot be seen at these settings (index %s)", "**盲区**：在此设置下有 %d 道（共 %d 道）题无法检出（编号 %s）"},
		len(c.Blind), c.Items, msg.Few(msg.Numbers(c.Blind), 20))
}

func (m *markdown) outcome(c *Contamination) string {
	if c.Residual > 0 {
		return m.say(msg.Text{"leaks: %d found, %d removed, **%d still in the data** (on_hit: %s)", "泄漏：发现 %d 条，移除 %d 条，**数据中仍有 %d 条**（on_hit：%s）"},
			c.Failed, c.Removed, c.Residual, cell(c.OnHit))
	}
	return m.say(msg.Text{"leaks: %d found, %d removed, none left in the data", "泄漏：发现 %d 条，移除 %d 条，数据中已无残留"}, c.Failed, c.Removed)
}

func (m *markdown) evaluations(list []Evaluation) {
	m.h2(msg.Text{"Evaluation", "评测"})
	if len(list) == 0 {
		m.p(msg.Text{"No evaluation was made.", "未进行评测。"})
		return
	}
	var rows [][]string
	var notes []string
	for _, e := range list {
		what := m.say(msg.Text{"model", "模型"})
		if e.Baseline {
			what = m.say(msg.Text{"baseline, no model", "基线，无模型"})
		}
		if e.Graded {
			what += m.say(msg.Text{"; submitted", "；提交"})
		}
		rows = append(rows, []string{
			code(e.Benchmark), code(e.Model), what, count(e.N), percent(e.Correct, e.N),
			fmt.Sprintf("%.1f – %.1f %%", 100*e.Low, 100*e.High), count(e.NoExtraction), code(e.Rule),
		})
		if note := e.Note.In(m.lang); note != "" {
			notes = append(notes, m.say(msg.Text{"%s, %s: %s", "%s，%s：%s"}, code(e.Benchmark), code(e.Model), note))
		}
	}
	m.table([]column{
		col(msg.Text{"benchmark", "评测集"}), col(msg.Text{"model", "模型"}), col(msg.Text{"what it is", "性质"}), num(msg.Text{"items", "题数"}), num(msg.Text{"accuracy", "准确率"}),
		col(msg.Text{"interval (Wilson, 95 %)", "置信区间（Wilson，95 %）"}), num(msg.Text{"no answer", "无答案"}), col(msg.Text{"rule", "抽取规则"}),
	}, rows)
	m.list(notes)
}

// limits lists what was not checked: what the ledgers do not hold.
func (m *markdown) limits(in *CardInput) {
	m.h2(msg.Text{"Limits: what was not checked", "局限：未核查的内容"})
	var lines []string
	add := func(t msg.Text, args ...any) { lines = append(lines, m.say(t, args...)) }
	m.sourceLimits(in.Summary.Sources, add)
	if len(in.Summary.Profile.Forms) > 0 {
		add(msg.Text{"Answer keys are those of the sources; no person has checked them.", "答案沿用来源所给答案，未经人工复核。"})
	}
	compared, dedup, near := false, false, false
	for _, s := range in.Summary.Steps {
		compared = compared || len(s.Bench) > 0
		if strings.Contains(s.Name, "dedup") {
			dedup = true
			near = near || strings.Contains(s.Name, "near") || strings.Contains(string(s.Params), `"near"`)
		}
	}
	switch {
	case dedup && !near:
		add(msg.Text{"Only records that are the same after normalisation count as duplicates; near duplicates were not searched for.", "仅将规范化后相同的记录视为重复；未查找近似重复。"})
	case !dedup:
		add(msg.Text{"Duplicates were not searched for.", "未查找重复记录。"})
	}
	if !compared {
		add(msg.Text{"No contamination check was made.", "未进行污染检查。"})
	}
	baselines := len(in.Evaluations) > 0
	for _, e := range in.Evaluations {
		baselines = baselines && e.Baseline
	}
	switch {
	case len(in.Evaluations) == 0:
		add(msg.Text{"No model was evaluated.", "未对任何模型进行评测。"})
	case baselines:
		add(msg.Text{"All evaluations above are baselines that need no model; they say nothing about a trained one.", "上述评测均为无需模型的基线，不能说明训练后模型的水平。"})
	}
	for _, t := range in.Limits {
		add(t)
	}
	m.list(lines)
}

func (m *markdown) sourceLimits(sources []Source, add func(msg.Text, ...any)) {
	var unlicensed []string
	var personal, screen, ocr, warned int
	for _, s := range sources {
		if s.License.Declared == "" {
			unlicensed = append(unlicensed, code(s.File))
		}
		if s.Personal == "" {
			personal++
		}
		if s.Screen == nil {
			screen++
		}
		ocr += s.Units["ocr_pages"]
		if len(s.Warnings) > 0 {
			warned++
		}
	}
	if n := len(unlicensed); n > 0 {
		add(msg.Text{"Files without a declared licence: %d (%s).", "未声明许可的文件：%d 个（%s）。"}, n, msg.Few(unlicensed, 5))
	}
	if personal > 0 {
		add(msg.Text{"Files not screened for personal data: %d.", "未筛查个人信息的文件：%d 个。"}, personal)
	}
	if screen > 0 {
		add(msg.Text{"Files not screened for unwanted content: %d.", "未筛查不良内容的文件：%d 个。"}, screen)
	}
	if ocr > 0 {
		add(msg.Text{"Pages read by OCR, not proofread: %d.", "由 OCR 识别、未经校对的页：%d 页。"}, ocr)
	}
	if warned > 0 {
		add(msg.Text{"Files read with warnings: %d; see the list of sources.", "读取时有警告的文件：%d 个，见来源说明。"}, warned)
	}
}
