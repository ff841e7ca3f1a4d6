package question_test

import (
	"context"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/dataprep/question"
	"github.com/drydock-ml/drydock/internal/meter"
)

// hostilePieces are said over and over, behind a first number, on one line or, where
// they end their line, on many.
var hostilePieces = []string{
	"A.", "A. ", "（A）", "（", "(", "[", "I、", "①", "②", "1-", "1-5 A ", "1A 2B ", "答案", "答案：A ", "答案：; A ", "【", "第", "____（", "A.x B.y ",
	"1.", "解析：", "（A", "Answer: ", "Ans. ", "图", "无", "#", " ", "一、", "正确答案是", "难度：", "A和", "ANR0101 ",
	"x\n", "1. x\n", "1.\n", "A. x\n", "答案：A\n", "1. x\nA. y\nB. z\n", "1-2 AB\n", "答案\n1. A\n", "解析：x\n", "第1章 x\n", "1、x\n1. y\n",
	"答案：\n", "难度：易\n", "x（A）\n", "题号 1 2 3\n", "第1条 x\n1. y\n", "1. x（A）\n",
}

// hostileTexts make texts of about n bytes in which one part of the parser is asked
// again and again about what was read long before. A "#" in a repeated piece counts.
var hostileTexts = []struct {
	name string
	text func(n int) string
}{
	{"meta lines under a long stem", func(n int) string {
		return "1. " + strings.Repeat("A. x ", n/2/5) + "\n" + repeat("难度：易\n", n/2)
	}},
	{"meta lines under long options", func(n int) string {
		return "1. x\n" + repeat("A. "+strings.Repeat("甲", 40)+"\n", n/2) + repeat("难度：易\n", n/2)
	}},
	{"answers before options", func(n int) string {
		return "1. " + strings.Repeat("甲", n/2/3) + "\n" + repeat("答案：B\nA. x\n", n/2)
	}},
	{"an answer in words over lines", func(n int) string {
		return "答案\n一、填空题\n1. 潜水员\n" + repeat("甲乙\n", n)
	}},
	{"an answer label and many lines", func(n int) string {
		return "1. 甲____\n答案：见下\n" + repeat("甲乙\n", n)
	}},
	{"questions without answer, then key", func(n int) string {
		return repeat("#. x（A）y\nA. u\nB. v\n", n/2) + "最后一题\nA. u\nB. v\n" + repeat("#. A\n", n/2)
	}},
	{"one question without an answer", func(n int) string {
		return "1. x\nA. u\nB. v\n" + repeat("#. x（ A ）y\n", n)
	}},
	{"chapters, their keys at the end", func(n int) string {
		return repeat("第#章 x\n1. x\nA. u\nB. v\n", n/2) + "答案\n" + repeat("第#章 1. A\n", n/2)
	}},
	{"articles, their keys at the end", func(n int) string {
		return repeat("第#条 x\n1. x\nA. u\nB. v\n", n/2) + "答案\n" + repeat("第#条 1. A\n", n/2)
	}},
	{"one article again and again", func(n int) string {
		return repeat("第1条 x\n1. x\nA. u\nB. v\n", n/2) + "答案\n" + repeat("第1条 1. A\n", n/2)
	}},
	{"titles, their keys at the end", func(n int) string {
		return repeat("#标题\n\n1. x\nA. u\nB. v\n", n/2) + "答案\n" + repeat("#标题\n1. A\n", n/2)
	}},
	{"parts, their keys at the end", func(n int) string {
		return repeat("一、单选题\n1. x\nA. u\nB. v\n", n/2) + "答案\n" + repeat("一、单选题 1. A\n", n/2)
	}},
	{"keys that start again", func(n int) string {
		return repeat("第#章 x\n1. x\nA. u\nB. v\n", n/2) + "答案\n" + repeat("1. A\n", n/2)
	}},
	{"keys without answers", func(n int) string {
		return repeat("ANR0#01 x\nA. u\nB. v\n", n/2) + "答案\n" + repeat("第#条 无\n", n/2)
	}},
	{"open answers in a key", func(n int) string {
		return "一、简答题\n" + repeat("#. x\n", n/2) + "答案\n" + repeat("#. 甲乙丙丁\n", n/2)
	}},
	{"numbers that run one behind", func(n int) string {
		return "1. x\nA. u\nB. v\n" + repeat("#. x\nA. u\nB. v\n", n)
	}},
	{"steps of an explanation", func(n int) string {
		return "1. x\nA. u\nB. v\n答案：A\n解析：y\n" + repeat("#. z\n", n/2) + repeat("2. z\n", n/2)
	}},
	{"a text shared by all items", func(n int) string {
		return "四、配伍题\nA. " + strings.Repeat("甲", n/2/3) + "\nB. v\n" + repeat("#. x\n", n/2)
	}},
	{"a text shared by fifty items", func(n int) string {
		return "根据下文回答1-49题\n" + strings.Repeat("甲", n/2/3) + "\n" + repeat("#. x\nA. u\nB. v\n答案：A\n", n/2)
	}},
	{"letters parted by blanks", func(n int) string {
		return "1. x\nA. u\nB. v\n答案：" + strings.Repeat("; A ", n/4)
	}},
	{"labels of answers on one line", func(n int) string {
		return "1. x " + strings.Repeat("答案 ", n/7)
	}},
	{"labels of explanations on one line", func(n int) string {
		return "1. x 答案：A " + strings.Repeat("解析：y ", n/11)
	}},
	{"a last label far away", func(n int) string {
		return "1. x " + strings.Repeat("Answer: A ", n/2/10) + strings.Repeat("甲", n/2/3) + "解"
	}},
	{"brackets that close at the end", func(n int) string {
		return "1. " + strings.Repeat("（", n/3) + "）"
	}},
	{"a blank and another bracket", func(n int) string {
		return "1. " + strings.Repeat("（ _", n/5)
	}},
	{"numbers of a table, never its keys", func(n int) string {
		return "答案\n" + repeat("1 2 3\n", n)
	}},
	{"headings that hold nothing", func(n int) string {
		return repeat("第#章 x\n", n)
	}},
	{"titles of parts, never an item", func(n int) string {
		return repeat("#、甲\n1、乙\n", n)
	}},
	{"options without a question", func(n int) string {
		return repeat("A. x\nB. y\nC. z\n", n)
	}},
	{"statements that never become a list", func(n int) string {
		return repeat("#. x\n", n)
	}},
}

// repeat says a piece until there are n bytes; "#" counts from 1.
func repeat(piece string, n int) string {
	var b strings.Builder
	for i := 1; b.Len() < n; i++ {
		b.WriteString(strings.ReplaceAll(piece, "#", strconv.Itoa(i)))
	}
	return b.String()
}

// Whatever is repeated, what comes out is whole, and something does.
func TestHostile(t *testing.T) {
	t.Parallel()
	const size = 20_000
	for _, h := range hostileTexts {
		drain(t, text(h.text(size)))
	}
	for _, piece := range hostilePieces {
		s := "1. 甲" + repeat(piece, size)
		for _, doc := range []*drydock.Document{text(s), rowsDocument([][]string{{"题目", "选项", "答案"}, {s, s, s}})} {
			drain(t, doc)
			if _, err := question.Accepts(context.Background(), doc); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// A long answer between many labels, lists and lines is kept whole all the same.
func TestHostileKeepsText(t *testing.T) {
	t.Parallel()
	words := strings.Repeat("甲乙丙丁", 200)
	for _, s := range []string{
		"1. 简述____。\n答案：见下\n" + repeat(words+"\n", 20_000),
		"一、简答题\n1. 简述避碰的要点。\n答案\n一、简答题\n1. 见下\n" + repeat(words+"\n", 20_000),
	} {
		n := 0
		for r, err := range question.New(question.Options{}).Parse(context.Background(), text(s)) {
			if err != nil {
				t.Fatal(err)
			}
			n++
			if got := strings.Count(r.Question.Answer[0], words); got != len(repeat(words+"\n", 20_000))/(len(words)+1) {
				t.Errorf("%d of the lines are in the answer", got)
			}
		}
		if n != 1 {
			t.Errorf("%d questions", n)
		}
	}
}

// BenchmarkHostile shows that what is made to hurt is read in time that grows with
// its size only: "growth" is the processor time a byte of a text four times as long
// takes over that of the short one, 1 where the time is linear.
func BenchmarkHostile(b *testing.B) {
	const size = 250_000
	run := func(name string, short, long string) {
		b.Run(name, func(b *testing.B) {
			var a, z time.Duration
			b.SetBytes(int64(len(short) + len(long)))
			for b.Loop() {
				start := meter.Used()
				parseAll(text(short))
				mid := meter.Used()
				parseAll(text(long))
				a, z = a+mid-start, z+meter.Used()-mid
			}
			b.ReportMetric(float64(z)*float64(len(short))/float64(a)/float64(len(long)), "growth")
		})
	}
	for _, h := range hostileTexts {
		run(strings.ReplaceAll(h.name, " ", "-"), h.text(size), h.text(4*size))
	}
	for _, piece := range hostilePieces {
		run(strconv.QuoteToASCII(piece), "1. x"+repeat(piece, size), "1. x"+repeat(piece, 4*size))
	}
}

func parseAll(doc *drydock.Document) {
	for range question.New(question.Options{}).Parse(context.Background(), doc) {
	}
}
