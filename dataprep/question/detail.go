package question

import (
	"strings"

	"github.com/drydock-ml/drydock/internal/msg"
)

// details are what a drop of this package says besides its reason. The drop file has
// them in English, as they stand in the code; %s is what the code fills in.
var details = [...]msg.Text{
	{"option %s stands twice", "选项 %s 出现两次"},
	{"option %s is empty, a later one is not", "选项 %s 为空，其后的选项不为空"},
	{"option %s has no text", "选项 %s 没有文字"},
	{"option %s follows %s", "选项 %s 紧接在 %s 之后"},
	{"labels %s make no list from A", "选项标号 %s 不能从 A 连成一列"},
	{"options without a question", "有选项，没有题干"},
	{"only option %s stands there", "只有选项 %s"},
	{"the answer is number %s, there are %s options", "答案为第 %s 项，但只有 %s 个选项"},
	{"the answer is the number of an option, but no options stand there", "答案是选项的序号，但没有选项"},
	{"the answer is the number %s; nothing in the file says whether such numbers count from 0 or 1", "答案是数字 %s，文件中无从判断从 0 还是从 1 数起"},
	{"the answers are the numbers %s; nothing in the file says whether such numbers count from 0 or 1", "答案是数字 %s，文件中无从判断从 0 还是从 1 数起"},
	{"the answer is neither true nor false", "答案既不是“对”也不是“错”"},
	{"the answer is an object without a known field", "答案是对象，其中没有已知的字段"},
	{"the answer is %s, the options end at %s", "答案为 %s，选项只到 %s"},
	{"the answer %s is none of the options", "答案 %s 不在选项之中"},
	{"the answer %s is neither true nor false", "答案 %s 既不是“对”也不是“错”"},
	{"the answer %s is an option's text and may be a position, too", "答案 %s 既是某个选项的文字，也可能是序号"},
	{"answer %s is none of the options", "答案 %s 不在选项之中"},
	{"a true/false item without a mark", "判断题没有标出对错"},
	{"a choice item, but no options stand there", "选择题没有选项"},
	{"neither options nor an answer stand there", "既没有选项也没有答案"},
	{"numbered text without options or answer", "有编号的文字，没有选项和答案"},
	{"text that belongs to no question", "不属于任何题目的文字"},
	{"too much about it is doubtful: %s", "存疑之处过多：%s"},
	{"the options' names are no letters or numbers", "选项的名称既不是字母也不是数字"},
	{"the row is not JSON: %s", "该行不是 JSON：%s"},
	{"the row has no field that holds a question", "该行没有题干字段"},
	{"the row has no question text", "该行没有题干"},
	{"an example of how the form is filled in", "填表示例"},
	{"no subsection %s is open", "没有尚缺答案的小节 %s"},
	{"%s questions, %s answers in the key", "题目 %s 道，答案 %s 个"},
	{"%s answers for %s rows", "%s 个答案，对应 %s 行"},
	{"%s ids in the key are not in the file", "答案中有 %s 个题目编号不在文件中"},
	{"%s ids in the key are not in the file, or twice", "答案中有 %s 个题目编号不在文件中，或出现两次"},
	{"the key has no answer for number %s; %s", "答案表中没有第 %s 题；%s"},
	{"a row of the key has more or fewer letters than numbers", "答案表某一行的字母数与题号数不符"},
	{"answers for questions that are not in the file", "答案所属的题目不在文件中"},
	{"an answer stands in option %s, in no form that is known", "选项 %s 中有答案，但写法无法识别"},
	{"a list from A, but neither a number nor an answer", "有从 A 起的选项，但没有题号，也没有答案"},
	{"two different answers stand with the question", "题目旁有两个不同的答案"},
	{"the answer beside the question differs from the key", "题目旁的答案与答案表不一致"},
	{"the answer written into the stem differs from the one that stands with it", "题干中填写的答案与题目的答案不一致"},
	{"the option ticked is not the one the answer names", "打勾的选项与答案不一致"},
}

// DetailMeaning says the detail of a drop in words that know both languages; false
// for one that is not of this package.
func DetailMeaning(detail string) (msg.Phrase, bool) {
	var best msg.Phrase
	found, plain := false, -1
	for _, t := range details {
		args, ok := unfilled(t[msg.En], detail)
		if n := len(t[msg.En]) - 2*len(args); ok && n > plain { // the one that leaves least open
			best, found, plain = msg.Phrase{Text: t, Args: args}, true, n
		}
	}
	for i, a := range best.Args {
		if s, ok := a.(string); ok {
			best.Args[i] = meant(s)
		}
	}
	return best, found
}

// meant is an argument of a detail: a detail of its own, doubts by their codes, or
// what the source says.
func meant(s string) any {
	if p, ok := DetailMeaning(s); ok {
		return p
	}
	codes := strings.Split(s, ", ")
	said := make([]doubtNames, 0, len(codes))
	for _, c := range codes {
		t, ok := DoubtMeaning(c)
		if !ok {
			return s
		}
		said = append(said, doubtNames{c, t})
	}
	return doubtList(said)
}

type doubtNames struct {
	code string
	text msg.Text
}

// A doubtList names doubts: by their codes in English, as the drop file does.
type doubtList []doubtNames

// In implements [msg.Localizer].
func (l doubtList) In(lang msg.Lang) string {
	out := make(msg.List, len(l))
	for i, d := range l {
		if out[i] = d.code; lang != msg.En {
			out[i] = d.text.In(lang)
		}
	}
	return out.In(lang)
}

// unfilled takes a filled text apart: what stands for each %s of its format.
func unfilled(format, s string) (args []any, ok bool) {
	for {
		before, rest, verb := strings.Cut(format, "%s")
		if s, ok = strings.CutPrefix(s, before); !ok {
			return nil, false
		}
		if !verb {
			return args, s == ""
		}
		next, _, _ := strings.Cut(rest, "%s")
		end := len(s)
		if next != "" {
			if rest == next { // the last: what follows it ends the text
				end = strings.LastIndex(s, next)
			} else {
				end = strings.Index(s, next)
			}
		}
		if end < 0 {
			return nil, false
		}
		args = append(args, s[:end])
		format, s = rest, s[end:]
	}
}
