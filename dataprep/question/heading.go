package question

import (
	"strings"
	"unicode/utf8"

	"github.com/drydock-ml/drydock"
)

type headingKind uint8

const (
	notHeading  headingKind = iota
	headChapter             // 第1章, Chapter 1
	headArticle             // 第三条, 第2节, Rule 5: numbers restart below it
	headForm                // 一、单选题: says what kind of items follow
	headTitle               // any other title
)

// A heading is a line that opens a part of a bank.
type heading struct {
	kind  headingKind
	n     int
	title string
	form  drydock.QuestionKind // for headForm; empty when only "choice" is said
	glued bool                 // nothing parts number and title: may be a wrapped sentence
}

// maxTitle is how long, in characters, a heading may be.
const maxTitle = 40

// scanHeading recognises headings by their words. level is the heading level
// the container gave, 0 for none.
func scanHeading(s string, level int8) heading {
	numbered := strings.HasPrefix(s, "#") && scanNumber(s).style == numWord
	for strings.HasPrefix(s, "#") { // Markdown
		s = trim(strings.TrimLeft(s, "#"))
		level = max(level, 1)
	}
	if s == "" || len(s) > 600 {
		return heading{}
	}
	if len(s) > 4*maxTitle || utf8.RuneCountInString(s) > maxTitle {
		// 一、单项选择题（本大题共20小题……): the instruction makes it long
		if m := scanNumber(s); m.style == numHan || strings.HasPrefix(s, "（") {
			if form, ok := formHeading(s); ok {
				return heading{kind: headForm, title: s, form: form}
			}
		}
		return heading{}
	}
	if h := numberedPart(s); h.kind != notHeading {
		return h
	}
	if form, ok := formHeading(s); ok {
		return heading{kind: headForm, title: s, form: form}
	}
	if level > 0 && !numbered && scanNumber(s).style != numPlain && scanNumber(s).style != numWord {
		return heading{kind: headTitle, title: s}
	}
	return heading{}
}

// numberedPart reads 第N章 …, 第N条 …, Chapter N …, Rule N ….
func numberedPart(s string) heading {
	if rest, ok := strings.CutPrefix(s, "第"); ok {
		i := skipSpace(rest, 0)
		n, w := anyNumber(rest[i:])
		if w == 0 || n == 0 {
			return heading{}
		}
		i = skipSpace(rest, i+w)
		r, rw := utf8.DecodeRuneInString(rest[i:])
		kind := notHeading
		switch r {
		case '章', '篇', '编', '編', '讲', '单', '部':
			kind = headChapter
		case '条', '條', '节', '節', '课':
			kind = headArticle
		}
		tail := rest[i+rw:]
		if r == '单' || r == '部' {
			t, ok := strings.CutPrefix(tail, map[rune]string{'单': "元", '部': "分"}[r])
			if !ok {
				return heading{}
			}
			tail = t
		}
		if kind == notHeading {
			return heading{}
		}
		// 第一部分 单选题 is a kind of item, not a chapter
		if form, ok := formHeading(trim(tail)); ok {
			return heading{kind: headForm, title: s, form: form}
		}
		if !titleTail(tail) {
			return heading{}
		}
		first, _ := utf8.DecodeRuneInString(tail)
		return heading{kind: kind, n: n, title: s, glued: tail != "" && !isSpace(first)}
	}
	for _, w := range [...]struct {
		word string
		kind headingKind
	}{{"chapter", headChapter}, {"part", headChapter}, {"unit", headChapter}, {"rule", headArticle}, {"section", headArticle}, {"annex", headArticle}} {
		if !hasPrefixFold(s, w.word) || len(s) <= len(w.word) || s[len(w.word)] != ' ' {
			continue
		}
		i := skipSpace(s, len(w.word))
		n, nw := number(s[i:])
		if nw == 0 && i < len(s) && s[i] >= 'A' && s[i] <= 'Z' && (i+1 == len(s) || !isLatin(s[i+1])) {
			n, nw = int(s[i]-'A')+1, 1
		}
		if nw == 0 || !titleTail(s[i+nw:]) {
			return heading{}
		}
		if form, ok := formHeading(strings.TrimLeft(s[i+nw:], " .:-–—")); ok {
			return heading{kind: headForm, title: s, form: form}
		}
		return heading{kind: w.kind, n: n, title: s}
	}
	return heading{}
}

func isLatin(b byte) bool { return b|0x20 >= 'a' && b|0x20 <= 'z' }

// titleTail tells a title from running text that happens to open with a rule's
// number: 第十条规定的船舶应……。
func titleTail(s string) bool {
	if s == "" {
		return true
	}
	if strings.ContainsAny(s, "。？?；;！，") || strings.HasSuffix(s, "：") && utf8.RuneCountInString(s) > 12 {
		return false
	}
	r, _ := utf8.DecodeRuneInString(s)
	if isSpace(r) || strings.ContainsRune("：:、.—-·《（(", r) {
		return true
	}
	// 第1章习题集: glued, but short
	return r >= 0x2E80 && utf8.RuneCountInString(s) <= 14 && !strings.ContainsAny(s, "的应是在：")
}

// formWords name kinds of items.
var formWords = [...]struct {
	word string
	form drydock.QuestionKind
}{
	{"单项选择", drydock.Single},
	{"單項選擇", drydock.Single},
	{"单选", drydock.Single},
	{"單選", drydock.Single},
	{"多项选择", drydock.Multiple},
	{"多項選擇", drydock.Multiple},
	{"不定项选择", drydock.Multiple},
	{"多选", drydock.Multiple},
	{"多選", drydock.Multiple},
	{"判断", drydock.Judge},
	{"判斷", drydock.Judge},
	{"是非", drydock.Judge},
	{"填空", drydock.Blank},
	{"简答", drydock.Short},
	{"簡答", drydock.Short},
	{"问答", drydock.Short},
	{"論述", drydock.Short},
	{"论述", drydock.Short},
	{"名词解释", drydock.Short},
	{"计算", drydock.Short},
	{"案例分析", drydock.Short},
	{"配伍", drydock.Matching},
	{"匹配", drydock.Matching},
	{"连线", drydock.Matching},
	{"选择", ""},
	{"選擇", ""},
	{"multiple choice", ""},
	{"single choice", drydock.Single},
	{"multiple answer", drydock.Multiple},
	{"true/false", drydock.Judge},
	{"t/f", drydock.Judge},
	{"true or false", drydock.Judge},
	{"fill in the blanks", drydock.Blank},
	{"fill in the blank", drydock.Blank},
	{"fill-in-the-blank", drydock.Blank},
	{"fill in", drydock.Blank},
	{"select all that apply", drydock.Multiple},
	{"choose all that apply", drydock.Multiple},
	{"matching", drydock.Matching},
	{"short answer", drydock.Short},
}

// formOf reads a word for a kind of item at the start of s, as it stands in a
// heading, a 题型 cell or a tag before the stem. rest follows the word.
func formOf(s string) (form drydock.QuestionKind, rest string, ok bool) {
	r, _ := utf8.DecodeRuneInString(s)
	if !strings.ContainsRune("单單多不判是填简簡问論论名计案配匹连选選mstfcMSTFC", r) {
		return "", s, false
	}
	for _, w := range formWords {
		if hasPrefixFold(s, w.word) {
			rest = s[len(w.word):]
			for _, tail := range [...]string{"题型", "题", "題", "正误"} {
				if t, cut := strings.CutPrefix(rest, tail); cut {
					rest = t
					break
				}
			}
			return w.form, rest, true
		}
	}
	return "", s, false
}

// formHeading recognises a line such as 二、多项选择题（每题2分）.
func formHeading(s string) (drydock.QuestionKind, bool) {
	m := scanNumber(s)
	if m.style == numHan || m.style == numParen || m.style == numPlain {
		s = s[m.end:]
	} else if m.style == noNumber && (strings.HasPrefix(s, "（") || strings.HasPrefix(s, "(")) {
		// （一）单选题
		_, w := utf8.DecodeRuneInString(s)
		if n, end := hanNumber(s[w:]); n > 0 {
			s = s[skipMarks(s, w+end):]
		}
	}
	s = trim(s)
	in := stripBrackets(s)
	if strings.ContainsAny(in, "（(）)") {
		in = s // （单选题，2分）…（ ）: brackets of their own at either end
	}
	form, rest, ok := formOf(in)
	if !ok {
		return "", false
	}
	rest = trim(rest)
	if rest == "" {
		return form, true
	}
	r, w := utf8.DecodeRuneInString(rest)
	if r == ':' || r == '：' {
		return form, m.style != numPlain && !strings.ContainsAny(rest, "？?") && scanOptionsFast(rest) < 2 || instruction(rest[w:])
	}
	if strings.ContainsRune("（([【,，共每本", r) || hasPrefixFold(rest, "question") || hasPrefixFold(rest, "item") {
		return form, !strings.ContainsAny(rest, "？?") && scanOptionsFast(rest) < 2
	}
	return "", false
}

// instruction recognises what a heading says to whoever sits the paper: 每题2分,
// 下列各题只有一个答案.
func instruction(s string) bool {
	if trim(s) == "" {
		return true
	}
	for _, w := range [...]string{"每题", "每小题", "小题", "各题", "本大题", "本题", "共计", "points each", "marks each"} {
		if strings.Contains(s, w) && !hasBlank(s) {
			return true
		}
	}
	return false
}

// saysYesIsA reports a true/false heading that gives the marks letters: 判断题
// （正确选A，错误选B）.
func saysYesIsA(title string) bool {
	if !strings.Contains(title, "A") && !strings.Contains(title, "Ａ") {
		return false
	}
	t := strings.NewReplacer("Ａ", "A", " ", "", "的", "", "、", "", ".", "", "．", "", "：", "", ":", "", "请", "", "“", "", "”", "").Replace(title)
	for _, yes := range [...]string{"正确", "对"} {
		for _, verb := range [...]string{"", "选", "选择", "填", "涂", "为", "写", "用", "表示", "代表", "是"} {
			if strings.Contains(t, yes+verb+"A") && verb != "" || strings.Contains(t, "A"+verb+yes) {
				return true
			}
		}
	}
	return false
}

// keyHeader reports whether a line announces a table of answers: 习题集答案,
// 第一章 参考答案：, Answer key. bare is true when it may as well be the label of
// one question's answer that follows on the next line.
func keyHeader(s string) (ok, bare bool) {
	s = trim(strings.TrimLeft(s, "#"))
	s = strings.TrimRight(stripBrackets(strings.TrimRight(s, ":：")), ":： 】")
	s = trim(strings.TrimLeft(s, "【"))
	for _, w := range [...]string{"附：", "附:", "附"} {
		if t, cut := strings.CutPrefix(s, w); cut && !strings.HasPrefix(t, "录") {
			s = trim(t)
			break
		}
	}
	if len(s) > 3*24 {
		return false, false
	}
	for _, w := range [...]string{"答案", "答案及解析", "答案与解析", "答案解析", "答案和解析", "答案及评分标准", "解答", "答案表", "答案汇总"} {
		head, cut := strings.CutSuffix(s, w)
		if !cut || strings.ContainsAny(head, "，。？?；：") || strings.Contains(head, "我的") || strings.Contains(head, "备选") || strings.Contains(head, "共用") || strings.Contains(head, "选") && strings.HasSuffix(head, "的") {
			continue
		}
		if utf8.RuneCountInString(head) > 16 || strings.HasSuffix(head, "的") {
			continue
		}
		head = trim(head)
		return true, w == "答案" && (head == "" || head == "正确" || head == "参考" || head == "标准")
	}
	switch strings.ToLower(s) {
	case "answer key", "answers", "key", "answer keys", "key to exercises", "answer sheet":
		return true, false
	case "answer":
		return true, true
	}
	return false, false
}

// filePath recognises a path that a converter printed into the text.
func filePath(s string) bool {
	i := strings.LastIndexByte(s, '.')
	return i > 0 && len(s)-i <= 5 && len(s)-i >= 3 && strings.ContainsAny(s[:i], "/\\") && !strings.ContainsAny(s[i:], "/\\0123456789：")
}

// noise recognises lines that carry nothing: page numbers, rules, and what
// course platforms print between questions.
func noise(s string) bool {
	if len(s) > 60 {
		return false
	}
	r, _ := utf8.DecodeRuneInString(s)
	switch {
	case r == '第':
		return pageOf(s)
	case r == '共' && strings.HasSuffix(s, "页"):
		return onlyDigits(s[len("共") : len(s)-len("页")])
	case r == 'p' || r == 'P':
		return pageEnglish(s)
	case r >= 0x2E80:
		return platformLine(s) || buttons(s) || markedBySite(s)
	case platformEnglish(s):
		return true
	case r|0x20 == 'h' || r|0x20 == 'w' || strings.IndexByte(s, '.') > 0 && (strings.IndexByte(s, '/') > 0 || strings.IndexByte(s, '\\') > 0):
		if !strings.ContainsAny(s, " 　，。") && (hasPrefixFold(s, "http://") || hasPrefixFold(s, "https://") || hasPrefixFold(s, "www.") || filePath(s)) {
			return true
		}
	}
	return ruleOrPage(s)
}

// ruleOrPage recognises ----, ……, "- 12 -".
func ruleOrPage(s string) bool {
	digits := 0
	for _, r := range s {
		switch r {
		case '-', '—', '–', '_', '=', '*', '·', '~', '～', '/', '|', '.', '…':
			continue
		}
		if isDigit(r) {
			digits++
		} else if !isSpace(r) {
			return false
		}
	}
	if digits == 0 {
		return true
	}
	first, _ := utf8.DecodeRuneInString(s)
	last, _ := utf8.DecodeLastRuneInString(s)
	return (first == '-' || first == '—' || first == '–' || first == '~' || first == '·') && !isDigit(last)
}

// buttonWords are what quiz sites let a reader press, longer ones first.
var buttonWords = [...]string{"加入错题本", "查看解析", "查看答案", "显示答案", "参考解析", "我要纠错", "添加笔记", "查看讨论", "上一题", "下一题", "错题本", "收藏", "纠错", "笔记", "反馈", "分享", "收起", "展开", "举报", "标记", "复制", "点赞", "评论"}

// buttons recognises a line of nothing but such words.
func buttons(s string) bool {
	n := 0
	for s = strings.TrimLeft(s, " |/\t　"); s != ""; s = strings.TrimLeft(s, " |/\t　") {
		cut := false
		for _, w := range buttonWords {
			if s, cut = strings.CutPrefix(s, w); cut {
				n++
				break
			}
		}
		if !cut {
			return false
		}
	}
	return n > 0
}

// markedBySite recognises the line by which a quiz site marks what its user chose.
func markedBySite(s string) bool {
	switch strings.TrimRight(s, "！!。.") {
	case "回答正确", "回答错误", "答对了", "答错了", "你答对了", "你答错了", "您答对了", "您答错了", "未作答", "未答题", "已作答":
		return true
	}
	return false
}

// scoreLine recognises a line that is nothing but points: 2.0分, (1 分).
func scoreLine(s string) bool {
	if len(s) > 20 || !strings.Contains(s, "分") {
		return false
	}
	t, ok := strings.CutSuffix(stripBrackets(s), "分")
	return ok && t != "" && strings.Trim(t, "0123456789. ") == ""
}

// platformEnglish recognises what course platforms print around a question.
func platformEnglish(s string) bool {
	if len(s) < 2 || len(s) > 40 || !isLatin(s[1]) || !strings.Contains("cinfqaspyCINFQASPYMm", s[:1]) {
		return false
	}
	switch strings.ToLower(s) {
	case "correct", "incorrect", "not answered", "not yet answered", "flag question", "question text", "answer text", "select one:", "select one or more:", "feedback", "your answer is correct.", "your answer is incorrect.", "complete", "partially correct":
		return true
	}
	return hasPrefixFold(s, "mark ") && strings.Contains(s, " out of ") || hasPrefixFold(s, "marked out of ")
}

// pageOf recognises 第12页 共30页.
func pageOf(s string) bool {
	rest := s[len("第"):]
	i := skipSpace(rest, 0)
	n, w := number(rest[i:])
	if w == 0 || n == 0 {
		return false
	}
	t, page := strings.CutPrefix(trim(rest[i+w:]), "页")
	return page && utf8.RuneCountInString(t) <= 10
}

// pageEnglish recognises "Page 3 of 9".
func pageEnglish(s string) bool {
	if !hasPrefixFold(s, "page ") {
		return false
	}
	_, w := number(s[5:])
	rest := strings.ToLower(trim(s[5+w:]))
	return w > 0 && (rest == "" || strings.HasPrefix(rest, "of") || strings.HasPrefix(rest, "/"))
}

// platformLine recognises what course platforms print between questions.
func platformLine(s string) bool {
	switch r, _ := utf8.DecodeRuneInString(s); r {
	case '此', '本', '得', '展', '收', '我', '你', '您', '显', '查', '窗', '—', '·', '～', '…':
	default:
		return false
	}
	for _, w := range [...]string{"此题得分", "本题得分", "得分：", "得分:", "展开解析", "收起解析", "我的答案：", "我的答案:", "你的答案", "您的答案", "显示答案", "查看答案", "窗体顶端", "窗体底端"} {
		if strings.HasPrefix(s, w) {
			return !strings.Contains(s, "正确答案")
		}
	}
	return ruleOrPage(s)
}
