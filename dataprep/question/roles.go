package question

import (
	"strings"
	"unicode/utf8"

	"github.com/drydock-ml/drydock"
)

// A role is what a column of a table or a field of a JSON row holds.
type role uint8

const (
	roleNone role = iota
	roleID
	roleQuestion
	roleAnswer
	roleOption  // one option; which one is kept beside it
	roleOptions // all options in one cell or value
	roleWrong   // only the wrong options, the right one being the answer
	roleExplain
	roleForm
	roleSubject
	roleFigure
	roleLang
)

// roleOf reads a column or field name, Chinese in either script or English.
// For an option it also returns which one, 0 for A.
func roleOf(name string) (r role, option int) {
	n := foldName(name)
	if n == "" {
		return roleNone, 0
	}
	if v, ok := optionName(n); ok {
		return roleOption, v
	}
	switch n {
	case "id", "qid", "uid", "uuid", "no", "number", "index", "questionid", "itemid", "编号", "序号", "题号", "編號", "序號", "題號", "试题编号", "题目编号", "試題編號", "试题id", "题目id", "rowid":
		return roleID, 0
	case "q", "question", "questiontext", "questions", "stem", "questionstem", "questioncontent", "questiontitle", "questionname", "题干", "题目", "問題", "问题", "题目内容", "试题", "试题内容", "試題", "試題內容", "題幹", "題目", "題目內容", "题干内容", "问题内容", "试题题干", "题目题干", "prompt", "query":
		return roleQuestion, 0
	case "answer", "answers", "ans", "key", "correct", "correctanswer", "correctanswers", "answerkey", "rightanswer", "correctoption", "correctchoice", "gold", "goldanswer", "label", "target", "answeridx", "answerindex", "correctindex", "answerid", "correctid", "correctoptionid", "correctanswerid", "correctchoiceid", "correctanswernum", "correctidx", "cop", "correctoptionindex", "correctanswerindex", "rightoption", "standardanswer", "trueanswer", "answertext", "answercontent", "answerletter", "correctletter", "correctresponse", "答案", "正确答案", "参考答案", "标准答案", "正確答案", "參考答案", "標準答案", "试题答案", "题目答案", "答案选项", "正解":
		return roleAnswer, 0
	case "options", "option", "choices", "candidates", "choice", "optionlist", "answeroptions", "answerchoices", "choicelist", "answerlist", "alternatives", "选项列表", "选项", "選項", "备选项", "备选答案", "答案选项内容", "选项内容", "題目選項", "题目选项", "试题选项":
		return roleOptions, 0
	case "incorrectanswers", "wronganswers", "distractors", "incorrectoptions", "干扰项":
		return roleWrong, 0
	case "explanation", "explain", "rationale", "analysis", "comment", "解析", "答案解析", "试题解析", "题目解析", "詳解", "详解", "解释", "說明", "说明", "讲解", "試題解析":
		return roleExplain, 0
	case "type", "kind", "questiontype", "qtype", "题型", "題型", "类型", "類型", "题目类型", "試題類型", "试题类型", "题类":
		return roleForm, 0
	case "subject", "chapter", "category", "topic", "section", "subcategory", "subtopic", "questioncategory", "chaptercategory", "domain", "章节", "章節", "章", "节", "知识点", "知識點", "科目", "分类", "分類", "所属章节", "类别", "類別":
		return roleSubject, 0
	case "image", "img", "figure", "figures", "picture", "diagram", "questiondiagram", "illustration", "图片", "圖片", "图", "配图", "插图":
		return roleFigure, 0
	case "lang", "language":
		return roleLang, 0
	}
	return roleNone, 0
}

// foldName makes names comparable: lower case, without blanks, marks and what
// stands in brackets.
func foldName(s string) string {
	if len(s) > 80 {
		return ""
	}
	if i := strings.IndexAny(s, "（(["); i > 0 {
		s = s[:i]
	}
	if i := strings.Index(s, " - "); i > 0 {
		s = s[:i] // Question - max 120 characters
	}
	return strings.Map(func(r rune) rune {
		switch {
		case isSpace(r), strings.ContainsRune("_-.:：*、．/", r):
			return -1
		case r >= 'Ａ' && r <= 'ｚ':
			r -= 'Ａ' - 'A'
		}
		if r >= 'A' && r <= 'Z' {
			r += 'a' - 'A'
		}
		return r
	}, s)
}

// optionName reads a, 选项a, optiona, option1, a选项, choice3.
func optionName(n string) (int, bool) {
	for _, p := range [...]string{"选项", "選項", "option", "choice", "opt", "op", "答案选项", "备选答案", "answer"} {
		if rest, ok := strings.CutPrefix(n, p); ok && rest != "" {
			if p == "answer" && (rest[0] < 'a' || len(rest) != 1) {
				continue
			}
			n = rest
			break
		}
	}
	for _, p := range [...]string{"选项", "選項"} {
		if rest, ok := strings.CutSuffix(n, p); ok && rest != "" {
			n = rest
		}
	}
	if len(n) == 1 && n[0] >= 'a' && n[0] < 'a'+maxOptions {
		return int(n[0] - 'a'), true
	}
	return 0, false
}

// optionNumber reads option1, 选项2, 选项一 for lists that count their options;
// whether they count from 0 or 1 is the caller's to find out.
func optionNumber(name string) (int, bool) {
	n := foldName(name)
	for _, p := range [...]string{"选项", "選項", "option", "choice", "opt", "ending", "mcanswer", "op", "answer"} {
		if rest, ok := strings.CutPrefix(n, p); ok && rest != "" {
			v, w := anyNumber(rest)
			return v, w == len(rest) && v <= maxOptions
		}
	}
	return 0, false
}

// isWrong reads distractor1, wrong_answer_2.
func isWrong(name string) bool {
	n := foldName(name)
	for _, p := range [...]string{"distractor", "wronganswer", "incorrectanswer"} {
		if rest, ok := strings.CutPrefix(n, p); ok {
			_, w := number(rest)
			return w > 0 && w == len(rest)
		}
	}
	return false
}

// formValue reads a 题型 cell or a type field.
func formValue(s string) drydock.QuestionKind {
	s = trim(s)
	if f, rest, ok := formOf(s); ok && utf8.RuneCountInString(rest) <= 4 {
		return f
	}
	switch foldName(s) {
	case "single", "singlechoice", "singleanswer", "radio", "单", "單":
		return drydock.Single
	case "multi", "multiple", "multianswer", "multipleanswer", "multipleanswers", "multiselect", "multipleselect", "checkbox", "多":
		return drydock.Multiple
	case "judge", "judgement", "judgment", "truefalse", "trueorfalse", "tf", "boolean", "bool", "判":
		return drydock.Judge
	case "blank", "fillblank", "fillintheblank", "fill", "cloze":
		return drydock.Blank
	case "short", "shortanswer", "qa", "essay", "open":
		return drydock.Short
	case "matching":
		return drydock.Matching
	}
	return ""
}

// splitOptions takes apart a cell that holds all options: labelled, one a line,
// or parted by | or ; signs.
func splitOptions(s string) []string {
	s = trim(s)
	if s == "" {
		return nil
	}
	var buf [24]mark
	c := bestChain(scanMarks(s, buf[:0]))
	if len(c.marks) >= 2 && trim(s[:c.marks[0].start]) == "" {
		b := splitBody(s)
		out := make([]string, len(b.options))
		for i, o := range b.options {
			out[i] = strings.TrimRight(trim(o.Text), "|;；")
		}
		return out
	}
	for _, sep := range [...]string{"\n", "|", "$$", "；", ";", "\t"} {
		if !strings.Contains(s, sep) {
			continue
		}
		var out []string
		for p := range strings.SplitSeq(s, sep) {
			if p = trim(p); p != "" {
				out = append(out, p)
			}
		}
		if len(out) >= 2 {
			return trimJoints(out)
		}
	}
	return []string{s}
}

// trimJoints takes off the rest of a separator of several signs, as the dollars
// of "红$;$绿".
func trimJoints(parts []string) []string {
	for _, sign := range [...]string{"$", "#", "@", "~", "^", "*", "&"} {
		all := true
		for i, p := range parts {
			all = all && (i == 0 || strings.HasPrefix(p, sign)) && (i == len(parts)-1 || strings.HasSuffix(p, sign))
		}
		for i := range parts {
			if all && i > 0 {
				parts[i] = strings.TrimPrefix(parts[i], sign)
			}
			if all && i < len(parts)-1 {
				parts[i] = strings.TrimSuffix(parts[i], sign)
			}
		}
	}
	return parts
}

// labelOptions makes options of texts, by position, taking off labels that the
// texts carry themselves.
func labelOptions(texts []string) []drydock.Option {
	out := make([]drydock.Option, 0, len(texts))
	for i, t := range texts {
		if i >= maxOptions {
			break
		}
		out = append(out, drydock.Option{Label: letter(i), Text: trim(stripOwnLabel(trim(t), i))})
	}
	return out
}

// optionCells turns a row's option cells into options. Empty cells at the end
// are options that are not there; one in the middle breaks the list.
func optionCells(cells []string) (o []drydock.Option, gap string) {
	n := len(cells)
	for n > 0 && trim(cells[n-1]) == "" {
		n--
	}
	for i, c := range cells[:n] {
		if trim(c) == "" {
			gap = "option " + letter(i) + " is empty, a later one is not"
		}
	}
	return dropFillers(labelOptions(cells[:n])), gap
}
