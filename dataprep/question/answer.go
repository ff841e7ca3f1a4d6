package question

import (
	"strings"
	"unicode/utf8"
)

// An answer is what the source gives as the key, before it is compared with
// the options.
type answer struct {
	letters []int  // option positions, in the order printed
	judge   string // "true" or "false"
	text    string // anything else
}

func (a answer) none() bool { return len(a.letters) == 0 && a.judge == "" && a.text == "" }

// readAnswer understands the value of an answer field or label: letters in any
// of their separations, a true/false mark, else text.
func readAnswer(s string) answer {
	words := trim(s)
	s = strings.TrimRight(words, "。.;；")
	s = trim(stripBrackets(s))
	if s == "" {
		return answer{}
	}
	if lb, ok := scanLabel(s); ok && !lb.explain {
		if rest := trim(s[lb.end:]); readLetters(rest) != nil || readJudge(rest) != "" {
			s, words = rest, rest // 答案：A in a field of answers
		}
	}
	for _, w := range [...]string{"选项", "選項", "option", "choice"} {
		if hasPrefixFold(s, w) { // "Option 2", "选项B"
			if rest := trim(strings.TrimLeft(s[len(w):], "_- ")); readLetters(rest) != nil || loneNumber(rest) > 0 {
				s, words = rest, rest
			}
			break
		}
	}
	for _, w := range [...]string{"应选", "故选", "选"} { // 答案：选B
		if rest, ok := strings.CutPrefix(s, w); ok && readLetters(rest) != nil {
			s = rest
			break
		}
	}
	if l := readLetters(s); l != nil {
		return answer{letters: l}
	}
	if j := readJudge(s); j != "" {
		return answer{judge: j}
	}
	return answer{text: words}
}

// readLetters reads "ABD", "A,B,D", "A、B、D", "A|B|D |E", " Ｄ", "A和C". It
// returns nil when anything else stands there or a letter comes twice.
func readLetters(s string) []int {
	var out []int
	lower := 0
	seen := 0
	if len(s) < 64 && (strings.Contains(s, " and ") || strings.Contains(s, " or ") || strings.Contains(s, " & ")) {
		s = strings.NewReplacer(" and ", ",", " or ", ",", " & ", ",").Replace(s) // A, B and D
	}
	for i, r := range s {
		v, low := letterValue(r)
		switch {
		case v >= 0 && v < maxOptions:
			if seen&(1<<v) != 0 {
				return nil
			}
			seen |= 1 << v
			if low {
				lower++
			}
			out = append(out, v)
		case strings.ContainsRune(",，、|;；/\t 　+", r) || r == 0xA0 || r == '和' || r == '及' || r == '与':
		case i > 0 && i+utf8.RuneLen(r) == len(s) && strings.ContainsRune(".．)）", r):
		default:
			return nil
		}
	}
	// lower-case words such as "bad" or "edge" are texts, not letters
	if lower > 1 && lower == len(out) && !strings.ContainsAny(s, ",，、|;；/ ") {
		return nil
	}
	return out
}

// readJudge reads a true/false mark; "" when it is none. T, F, Y and N are
// letters of no option list, so they are safe alone.
func readJudge(s string) string {
	switch strings.ToLower(s) {
	case "√", "✓", "✔", "✅", "对", "對", "正确", "正確", "是", "t", "true", "y", "yes", "right", "correct", "☑", "v":
		return "true"
	case "×", "✗", "✘", "✕", "❌", "╳", "错", "錯", "错误", "錯誤", "否", "不对", "不正确", "f", "false", "n", "no", "wrong", "incorrect", "x", "ⅹ", "χ":
		return "false"
	}
	return ""
}

func stripBrackets(s string) string {
	for _, p := range [...][2]string{{"（", "）"}, {"(", ")"}, {"【", "】"}, {"[", "]"}, {"［", "］"}, {"〔", "〕"}} {
		if strings.HasPrefix(s, p[0]) && strings.HasSuffix(s, p[1]) && len(s) >= len(p[0])+len(p[1]) {
			return s[len(p[0]) : len(s)-len(p[1])]
		}
	}
	return s
}

// answerWords open an answer, longest first.
var answerWords = [...]string{
	"本题正确答案", "本题答案", "正确选项", "应选", "正确答案", "参考答案", "標準答案", "标准答案", "正確答案", "參考答案", "正解", "答案", "答",
	"the correct answer", "the right answer", "the answer", "correct answers", "correct answer", "correct option", "correct choice", "right answer", "answers", "answer", "ans", "key",
}

// explainWords open an explanation.
var explainWords = [...]string{
	"答案解析", "题目解析", "試題解析", "试题解析", "试题分析", "题目分析", "解析", "详解", "詳解", "解释", "解释说明", "说明", "分析",
	"explanation", "reason", "rationale", "analysis", "solution",
}

// A label is a word such as 答案 or 解析 that says what follows it.
type label struct {
	start, end int // the label with its mark; the value starts at end
	explain    bool
}

// scanLabel reads an answer or explanation label at the start of s. Words that
// are also ordinary language need a colon or brackets after them.
func scanLabel(s string) (label, bool) {
	i := skipSpace(s, 0)
	open := false
	r, w := utf8.DecodeRuneInString(s[i:])
	if openBracket(r) {
		open = true
		i = skipSpace(s, i+w)
		r, _ = utf8.DecodeRuneInString(s[i:])
	}
	if r < 0x80 && i+1 < len(s) && !isLatin(s[i+1]) {
		return label{}, false // an option: A. …
	}
	answer, explain := labelStart(r)
	if explain {
		for _, w := range explainWords {
			if end, ok := labelEnd(s, i, w, open, false); ok {
				return label{start: 0, end: end, explain: true}, true
			}
		}
	}
	if answer {
		for _, w := range answerWords {
			if end, ok := labelEnd(s, i, w, open, true); ok {
				return label{start: 0, end: end}, true
			}
		}
	}
	return label{}, false
}

// labelStart reports whether a label can begin with r.
func labelStart(r rune) (answer, explain bool) {
	switch r {
	case '正', '参', '參', '标', '標', '本', '应', 'c', 'C', 'k', 'K', 't', 'T':
		return true, false
	case '答', 'a', 'A', 'r', 'R':
		return true, true
	case '题', '題', '試', '试', '解', '详', '詳', '说', '分', 'e', 'E', 's', 'S':
		return false, true
	}
	return false, false
}

// openBracket reports the square brackets that labels stand in.
func openBracket(r rune) bool {
	return r == '【' || r == '[' || r == '〔' || r == '［'
}

func closeBracket(r rune) bool {
	return r == '】' || r == ']' || r == '〕' || r == '］'
}

// labelEnd returns where the value after the label word w begins.
func labelEnd(s string, i int, w string, open, answer bool) (int, bool) {
	if !hasPrefixFold(s[i:], w) {
		return 0, false
	}
	j := skipSpace(s, i+len(w))
	spaced := j > i+len(w)
	closed := false
	if r, rw := utf8.DecodeRuneInString(s[j:]); closeBracket(r) {
		closed = true
		j = skipSpace(s, j+rw)
	}
	if r, rw := utf8.DecodeRuneInString(s[j:]); r == ':' || r == '：' {
		return skipSpace(s, j+rw), true
	}
	if closed || open && spaced {
		return j, true
	}
	if !answer {
		return j, j == len(s) && i == 0 && (strings.HasSuffix(w, "解析") || w == "详解" || w == "explanation") // alone on its line
	}
	if rest, ok := strings.CutPrefix(s[j:], "is:"); ok {
		return len(s) - len(trim(rest)), true
	}
	if w == "ans" && strings.HasPrefix(s[j:], ".") && valueLike(stripBrackets(trim(s[j+1:]))) {
		return skipSpace(s, j+1), true
	}
	for _, is := range [...]string{"应为", "应选", "选", "为", "是", "is "} {
		if strings.HasPrefix(s[j:], is) && valueLike(s[j+len(is):]) {
			k := skipSpace(s, j+len(is))
			if r, rw := utf8.DecodeRuneInString(s[k:]); r == ':' || r == '：' {
				k = skipSpace(s, k+rw)
			}
			return k, true
		}
	}
	// "参考答案　B", "答案B", "Ans C": only with a plain key behind it
	if (spaced || w == "答案" || len(w) > len("答案")) && w != "答" && w != "key" && valueLike(s[j:]) {
		return j, true
	}
	return 0, false
}

// valueLike reports whether s opens with letters or a true/false mark standing
// alone, up to a blank, mark or the end.
func valueLike(s string) bool {
	s = trim(s[:min(len(s), 40)])
	if r, w := utf8.DecodeRuneInString(s); r == ':' || r == '：' {
		s = trim(s[w:])
	}
	s = trim(stripBrackets(s))
	end := strings.IndexFunc(s, func(r rune) bool {
		return isSpace(r) || strings.ContainsRune("。，,;；.（(【[", r)
	})
	if end < 0 {
		end = len(s)
	}
	v := s[:end]
	return v != "" && (readLetters(v) != nil || readJudge(v) != "")
}

// partsLetters reports a sign that ends a sentence but here stands between letters
// or behind the last of them: A;B;C;. At most so many letters are looked at.
func partsLetters(s string, letters int) bool {
	t := strings.TrimLeft(s, ";；/ ")
	if len(t) == len(s) {
		return false
	}
	if t == "" {
		return true
	}
	r, w := utf8.DecodeRuneInString(t)
	next, _ := utf8.DecodeRuneInString(t[w:])
	v, lower := letterValue(r)
	return v >= 0 && v < maxOptions && !lower && (w == len(t) || strings.ContainsRune(";；/、,，|", next) || isSpace(next) && letters > 0 && partsLetters(t[w:], letters-1))
}

// cutValue takes the answer value at the start of s and returns what follows
// it: a course platform prints "A 你的答案：B 得分：0" on one line.
func cutValue(s string) (value, rest string) {
	end := len(s)
	for _, w := range [...]string{"我的答案", "你的答案", "您的答案", "此题得分", "本题得分", "得分", "难度", "【", "答案解析", "题目解析", "试题解析", "试题分析", "解析", "\n"} {
		if i := strings.Index(s, w); i >= 0 && i < end && (i > 0 || w != "【") {
			end = i
		}
	}
	if end < len(s) {
		end = len(strings.TrimRight(s[:end], " [【(（")) // of A [难度] 易
	}
	value, rest = trim(s[:end]), trim(s[end:])
	// letters first, then prose: "B。因为…", "A 项正确"
	i := 0
	for i < len(value) {
		r, w := utf8.DecodeRuneInString(value[i:])
		if v, _ := letterValue(r); v < 0 && !strings.ContainsRune("、,，|", r) && !partsLetters(value[i:], maxOptions) {
			break
		}
		i += w
	}
	if i == len(value) {
		return strings.TrimRight(value, ";；|,，、 "), rest
	}
	if i > 0 && i < len(value) {
		r, w := utf8.DecodeRuneInString(value[i:])
		if strings.ContainsRune("。；;.（(", r) && readLetters(value[:i]) != nil {
			return value[:i], value[i+w:] + rest
		}
	}
	return value, rest
}
