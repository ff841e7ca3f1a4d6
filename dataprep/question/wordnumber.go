package question

import (
	"strings"
	"unicode/utf8"

	"github.com/drydock-ml/drydock"
)

// A numberWord stands before the number of a question: 问题1, No. 1, Question 1.
type numberWord struct {
	word string
	// sure words name nothing but questions; behind another a mark must follow the
	// number (例1：) for it to be believed wherever it stands.
	sure bool
}

// numberWords, longer ones before those they begin with. Latin ones are read in
// any case.
var numberWords = [...]numberWord{
	{"题目编号", true},
	{"试题编号", true},
	{"题目", true},
	{"题号", true},
	{"题", true},
	{"題目", true},
	{"題號", true},
	{"題", true},
	{"问题", true},
	{"問題", true},
	{"试题", true},
	{"試題", true},
	{"考题", true},
	{"小题", true},
	{"习题", false},
	{"習題", false},
	{"练习题", false},
	{"练习", false},
	{"練習", false},
	{"例题", false},
	{"例", false},
	{"序号", false},
	{"编号", false},
	{"questions", false},
	{"question", true},
	{"ques", true},
	{"qn", true},
	{"qu", true},
	{"q", true},
	{"item", false},
	{"exercise", false},
	{"problem", false},
	{"task", false},
	{"ex", false},
	{"number", false},
	{"nr", false},
	{"no", false},
	{"n°", false},
	{"nº", false},
	{"№", true},
	{"#", false},
	{"＃", false},
}

// startsWord reports what those words, 第1题 and the kinds of items begin with. Small
// Latin letters but q begin sentences more often.
func startsWord(r rune) bool {
	switch r {
	case '第', '题', '題', '问', '問', '试', '試', '考', '小', '习', '習', '练', '練', '例', '序', '编', '№', '#', '＃',
		'Q', 'q', 'N', 'I', 'E', 'P', 'T', '单', '單', '多', '不', '判', '是', '选', '選', '填', '简', '簡', '计':
		return true
	}
	return false
}

// scanWordNumber reads 第1题, Q1., 问题 1：, No. 1, #1, 单选题1、 at the start of s.
func scanWordNumber(s string) numberMark {
	if t := strings.TrimLeft(s, "#"); len(s)-len(t) > 1 || len(s) > len(t) && t != "" && !isDigit(rune(t[0])) {
		return hashNumber(s, len(s)-len(t))
	}
	n, end, sure, form := afterWord(s)
	if n <= 0 {
		return numberMark{}
	}
	total := false
	if !strings.HasPrefix(s, "第") {
		end, total = skipTotal(s, end, n)
	}
	after := skipMarks(s, end)
	marked := after == len(s) || total || trim(s[end:after]) != ""
	if after == end && after < len(s) {
		if tag := skipTag(s, end); tag == 0 {
			return numberMark{}
		}
		marked = true
	}
	if form != "" && !marked {
		return numberMark{} // 单选题 20 分
	}
	if !sure && (strings.HasSuffix(trim(s[end:after]), "、") || strings.HasSuffix(trim(s[end:after]), ".")) && after < len(s) && isDigit(rune(s[after])) {
		return numberMark{} // 例1、2, No. 1.5
	}
	return numberMark{style: numWord, n: n, end: after, weak: !sure && !marked, titles: !sure, form: form}
}

// hashNumber reads a number behind signs that may mark a heading of Markdown as
// well: # 1, ### 第1题.
func hashNumber(s string, hashes int) numberMark {
	i := skipSpace(s, hashes)
	if hashes > 6 || i == len(s) {
		return numberMark{}
	}
	m := scanNumber(s[i:])
	switch m.style {
	case numPlain, numWord:
	case numBare:
		m.weak = true
	default:
		return numberMark{}
	}
	m.style, m.titles = numWord, true
	m.end += i
	return m
}

// afterWord reads the word and the number: where it ends, whether the word is sure,
// and the kind of items it names.
func afterWord(s string) (n, end int, sure bool, form drydock.QuestionKind) {
	if rest, ok := strings.CutPrefix(s, "第"); ok {
		n, end = ordinal(rest)
		return n, end + len("第"), true, ""
	}
	for _, w := range numberWords {
		if !hasPrefixFold(s, w.word) {
			continue
		}
		i := skipMarks(s, len(w.word)) // Q.1, No. 1, 题号：1
		if i < len(s) && (s[i] == '#' || s[i] == '-') {
			i++ // Question #1, Q-1
		} else if hasPrefixFold(s[i:], "no.") {
			i = skipSpace(s, i+len("no.")) // Question No. 1
		}
		n, w2 := number(s[i:])
		if w2 > 5 {
			return 0, 0, false, ""
		}
		return n, i + w2, w.sure, ""
	}
	if form, rest, ok := formOf(s); ok {
		i := skipSpace(rest, 0)
		n, w := number(rest[i:])
		if form == "" {
			form = drydock.Single // 选择题1：
		}
		return n, len(s) - len(rest) + i + w, false, form
	}
	return 0, 0, false, ""
}

// ordinal reads what follows 第 in 第1题, 第 十 道题, 第1/50题.
func ordinal(s string) (n, end int) {
	i := skipSpace(s, 0)
	n, w := anyNumber(s[i:])
	i, _ = skipTotal(s, i+w, n)
	i = skipSpace(s, i)
	for _, word := range [...]string{"小题", "小題", "道题", "道題", "题", "題", "道", "问"} {
		if strings.HasPrefix(s[i:], word) {
			return n, i + len(word)
		}
	}
	return 0, 0
}

// skipTotal skips the count of all questions behind the number of one: 1/50, 1 of
// 50, and says whether one stands there.
func skipTotal(s string, i, n int) (end int, found bool) {
	j := skipSpace(s, i)
	switch {
	case strings.HasPrefix(s[j:], "/"):
		j++
	case strings.HasPrefix(s[j:], "／"):
		j += len("／")
	case j > i && strings.HasPrefix(s[j:], "of "):
		j += len("of ")
	default:
		return i, false
	}
	j = skipSpace(s, j)
	total, w := number(s[j:])
	if w == 0 || w > 5 || total < n || total < 3 {
		return i, false
	}
	return j + w, true
}

// skipTag returns where a tag in brackets that stands at i ends, （单选题） or （2分）;
// 0 for anything else. The tag itself is left to the stem.
func skipTag(s string, i int) int {
	r, w := utf8.DecodeRuneInString(s[i:])
	if r != '(' && r != '（' && !openBracket(r) {
		return 0
	}
	const most = 36 // bytes inside the brackets
	in := s[i+w : min(len(s), i+w+most)]
	end := strings.IndexAny(in, ")）]】")
	if end < 0 {
		return 0
	}
	if t := trim(in[:end]); !kindTag(t) && !scoreTag(strings.TrimLeft(t, "本题每共 ")) {
		return 0
	}
	_, cw := utf8.DecodeRuneInString(in[end:])
	return i + w + end + cw
}

// bracketedWord reads 【第1题】, [Q1], （题1）.
func bracketedWord(s string, open int) numberMark {
	const most = 40 // bytes inside the brackets
	end := strings.IndexAny(s[open:min(len(s), open+most)], ")）]】〕］")
	if end < 0 {
		return numberMark{}
	}
	end += open
	in := trim(s[open:end])
	n, w, sure, form := afterWord(in)
	if w, _ = skipTotal(in, w, n); n <= 0 || w != len(in) {
		return numberMark{}
	}
	_, cw := utf8.DecodeRuneInString(s[end:])
	return numberMark{style: numWord, n: n, end: skipMarks(s, end+cw), titles: !sure, form: form}
}

// scanMarkedNumber reads what follows a bare number that ends at end, the blanks
// behind it at i, where it is none of the common marks: 1/50, 1题、, 1（单选题）, 1】,
// 1 - text.
func scanMarkedNumber(s string, n, end, i int) numberMark {
	if j, ok := skipTotal(s, end, n); ok {
		after := skipMarks(s, j)
		if after == j || after == len(s) {
			return numberMark{} // alone on its line it counts pages or screens
		}
		weak := trim(s[j:after]) == ""
		if weak && s[i] == 'o' {
			return numberMark{} // 1 of 50 vessels
		}
		return numberMark{style: numWord, n: n, end: after, weak: weak}
	}
	r, w := utf8.DecodeRuneInString(s[i:])
	after := i + w
	next, _ := utf8.DecodeRuneInString(s[after:])
	switch r {
	case '题', '題':
		if j := skipMarks(s, after); j > after && i == end {
			return numberMark{style: numWord, n: n, end: j}
		}
	case '(', '（', '[', '【':
		if skipTag(s, i) > 0 {
			return numberMark{style: numPlain, n: n, end: i}
		}
	case '\\':
		if i == end && next == '.' {
			return numberMark{style: numPlain, n: n, end: skipSpace(s, after+1)}
		}
	case '>', '】', ']', '}', '〕', '；', '·':
		if i == end {
			return numberMark{style: numPlain, n: n, end: skipSpace(s, after), weak: isDigit(next) || r == '；' || r == '>'}
		}
	case '-', '–', '—':
		if isSpace(next) || i == end && wideText(next) {
			return numberMark{style: numPlain, n: n, end: skipSpace(s, after), weak: true}
		}
	}
	return numberMark{}
}
