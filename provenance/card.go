package provenance

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/drydock-ml/drydock/internal/msg"
)

// CardInput is all that a card is made from. Everything in it is derived from
// the ledgers, except the evaluations and what the caller adds to the limits.
type CardInput struct {
	Title       string  // name of the project; empty: none is shown
	Version     string  // of drydock
	Summary     Summary // what [Load] read
	Evaluations []Evaluation
	Limits      []msg.Text // further limits, after those the ledgers show
}

// Evaluation is one result as the card shows it.
type Evaluation struct {
	Benchmark    string // name@revision
	Model        string // as it was asked for
	N            int    // items
	Correct      int
	Low, High    float64  // 95 % Wilson interval of the accuracy, 0–1
	NoExtraction int      // replies in which the rule found no answer
	Rule         string   // that read the answers, name@version
	Baseline     bool     // needs no model: builtin:majority, builtin:lookup
	Graded       bool     // the one that is submitted
	Note         msg.Text // what the reader must know beside the number; may be empty
}

// Card writes the data card as Markdown: what the data is, where it comes from,
// what became of every record, what was checked against which benchmark, what
// came of it, and what was not checked.
func Card(lang msg.Lang, in CardInput) []byte {
	m := &markdown{lang: lang}
	if in.Title == "" {
		m.h1(msg.Text{"Data card", "数据卡片"})
	} else {
		m.h1(msg.Text{"Data card: %s", "数据卡片：%s"}, cell(in.Title))
	}
	m.whatItIs(&in)
	m.cardSources(&in.Summary)
	m.waterfall(in.Summary.Steps)
	m.drops(in.Summary.Steps)
	m.contents(&in.Summary.Profile)
	m.contamination(in.Summary.Steps)
	m.evaluations(in.Evaluations)
	m.limits(&in)
	m.proof(&in)
	return m.Bytes()
}

func (m *markdown) whatItIs(in *CardInput) {
	p := &in.Summary.Profile
	var read int
	for _, s := range in.Summary.Steps {
		read += s.Sums.Made
	}
	m.p(msg.Text{
		"%d {row|rows} from %d source {file|files}; %d {record was|records were} read, each is in the data or listed with the reason why it is not.",
		"共 %d 行数据，来自 %d 个源文件；共读入 %d 条记录，每一条都在数据中，或列出了未收入的原因。",
	},
		p.Rows, len(in.Summary.Sources), read)
	var files []string
	for _, f := range sortedKeys(p.Files) {
		files = append(files, m.say(msg.Text{"%s: %d {row|rows}", "%s：%d 行"}, code(f), p.Files[f]))
	}
	m.list(files)
}

func (m *markdown) cardSources(s *Summary) {
	m.h2(msg.Text{"Sources", "数据来源"})
	if len(s.Sources) == 0 {
		m.p(msg.Text{"None.", "无。"})
		return
	}
	var rows [][]string
	for _, src := range s.Sources {
		rows = append(rows, []string{
			cell(src.Name), code(src.File), m.orUnknown(src.License.Declared), cell(msg.List(src.Languages).In(m.lang)),
			count(src.Records), count(s.Profile.Sources[src.ID]), code(short(src.SHA256)),
		})
	}
	m.table([]column{
		col(msg.Text{"source", "来源"}), col(msg.Text{"file", "文件"}), col(msg.Text{"licence", "许可"}), col(msg.Text{"language", "语言"}),
		num(msg.Text{"read", "读入"}), num(msg.Text{"in the data", "收入"}), col(msg.Text{"sha256", "sha256"}),
	}, rows)
}

// waterfall shows how many records each step left, with a bar to see it by.
func (m *markdown) waterfall(steps []Step) {
	m.h2(msg.Text{"Steps", "处理步骤"})
	most := 1
	for _, s := range steps {
		most = max(most, s.Sums.In+s.Sums.Made)
	}
	var rows [][]string
	for _, s := range steps {
		rows = append(rows, []string{
			count(s.Order), code(s.Name), count(s.Sums.In), count(s.Sums.Made),
			count(s.Sums.DroppedTotal()), count(s.Sums.Merged), count(s.Sums.Out), bar(s.Sums.Out, most),
		})
	}
	m.table([]column{
		num(msg.Text{"#", "序"}), col(msg.Text{"step", "步骤"}), num(msg.Text{"in", "输入"}), num(msg.Text{"made", "新增"}),
		num(msg.Text{"dropped", "丢弃"}), num(msg.Text{"merged", "合并"}), num(msg.Text{"out", "输出"}),
		{},
	}, rows)
	if slices.ContainsFunc(steps, func(s Step) bool { return s.Sums.Dropped[WrittenElsewhere] > 0 }) {
		m.p(msg.Text{"What an output leaves to another output of the run counts as dropped there.", "某一输出留给本次运行其他输出的记录，在该处计为丢弃。"})
	}
	m.p(msg.Text{"In every line: in + made = dropped + merged + out.", "每一行都满足：输入 + 新增 = 丢弃 + 合并 + 输出。"})
}

// bar is up to 20 blocks wide; anything above zero shows at least one.
func bar(n, of int) string {
	w := n * 20 / of
	if n > 0 && w == 0 {
		w = 1
	}
	return strings.Repeat("█", w)
}

func (m *markdown) drops(steps []Step) {
	var rows [][]string
	for _, s := range steps {
		for _, r := range sortedKeys(s.Sums.Dropped) {
			if n := s.Sums.Dropped[r]; n > 0 && r != WrittenElsewhere {
				t, _ := ReasonMeaning(r)
				rows = append(rows, []string{code(s.Name), code(r), count(n), t.In(m.lang)})
			}
		}
	}
	m.h2(msg.Text{"Left out, and why", "未收入的记录及原因"})
	if len(rows) == 0 {
		m.p(msg.Text{"Nothing was left out.", "没有丢弃任何记录。"})
		return
	}
	m.table([]column{col(msg.Text{"step", "步骤"}), col(msg.Text{"reason", "原因"}), num(msg.Text{"records", "条数"}), col(msg.Text{"meaning", "说明"})}, rows)
	m.p(msg.Text{"Each record with its place in the source: %s.", "每条记录及其在来源中的位置见 %s。"}, code(DroppedFile))
}

func (m *markdown) contents(p *Profile) {
	m.h2(msg.Text{"What the rows are", "数据构成"})
	for _, t := range []struct {
		head   column
		counts map[string]int
	}{
		{col(msg.Text{"kind", "类型"}), p.Kinds},
		{col(msg.Text{"form of question", "题型"}), p.Forms},
		{col(msg.Text{"language", "语言"}), p.Languages},
		{col(msg.Text{"split", "划分"}), p.Splits},
		{col(msg.Text{"flag", "标记"}), p.Flags},
	} {
		if len(t.counts) == 0 || (len(t.counts) == 1 && t.counts["all"] > 0) {
			continue
		}
		keys := slices.Collect(maps.Keys(t.counts))
		slices.SortFunc(keys, func(a, b string) int {
			return cmp.Or(cmp.Compare(t.counts[b], t.counts[a]), cmp.Compare(a, b))
		})
		var rows [][]string
		for _, k := range keys {
			rows = append(rows, []string{m.value(k), count(t.counts[k]), percent(t.counts[k], p.Rows)})
		}
		m.table([]column{t.head, num(msg.Text{"rows", "行数"}), num(msg.Text{"share", "占比"})}, rows)
	}
	m.letters(p.Letters)
}

// letters shows how often each answer letter is right: a lopsided key teaches a
// model to guess the letter.
func (m *markdown) letters(byOptions map[int]map[string]int) {
	if len(byOptions) == 0 {
		return
	}
	m.p(msg.Text{"Answer letters of single-choice questions, by number of options:", "单选题答案字母分布，按选项数分列："})
	var rows [][]string
	for _, n := range slices.Sorted(maps.Keys(byOptions)) {
		counts := byOptions[n]
		total := 0
		for _, c := range counts {
			total += c
		}
		var parts []string
		for _, l := range lettersOf(n, counts) {
			parts = append(parts, fmt.Sprintf("%s %d (%s)", cell(l), counts[l], percent(counts[l], total)))
		}
		even := "–"
		if n > 0 {
			even = percent(1, n)
		}
		rows = append(rows, []string{count(n), count(total), strings.Join(parts, " · "), even})
	}
	m.table([]column{num(msg.Text{"options", "选项数"}), num(msg.Text{"questions", "题数"}), col(msg.Text{"letters", "字母"}), num(msg.Text{"even share", "均匀占比"})}, rows)
}

// lettersOf lists the letters n options have, then whatever else was an answer.
func lettersOf(n int, counts map[string]int) []string {
	var out []string
	for i := range min(n, 26) {
		out = append(out, string(rune('A'+i)))
	}
	for _, l := range sortedKeys(counts) {
		if !slices.Contains(out, l) {
			out = append(out, l)
		}
	}
	return out
}

// value says a counted value in words, with the value itself beside it.
func (m *markdown) value(v string) string {
	t, ok := valueMeaning(v)
	if !ok {
		return m.orUnknown(v)
	}
	return m.say(msg.Text{"%s (%s)", "%s（%s）"}, t, v)
}

func (m *markdown) proof(in *CardInput) {
	m.h2(msg.Text{"How to check this card", "如何核对"})
	m.p(msg.Text{
		"Every number above is computed from the ledgers, whose root hash is %s. Equal inputs, options and version give the same bytes.",
		"以上数字均由账本计算得出，账本根哈希为 %s。输入、选项与版本相同，则所得字节相同。",
	}, code(in.Summary.Root.Hash))
	if in.Version != "" {
		m.p(msg.Text{"Made by drydock %s.", "由 drydock %s 生成。"}, cell(in.Version))
	}
}
