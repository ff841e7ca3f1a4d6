package question

import (
	"strings"
	"unicode/utf8"

	"github.com/drydock-ml/drydock"
)

// cleanStem takes off what is printed with a stem but is no part of it: the
// number once more, a tag such as (单选题, 1.0 分), the score.
func cleanStem(s string, n int) (stem string, form drydock.QuestionKind) {
	s = trim(s)
	if m := scanNumber(s); n > 0 && m.n == n && m.style == numPlain && (!m.weak || strings.HasSuffix(s[:m.end], "、")) {
		s = s[m.end:]
	}
	s, form = trailingTag(s)
	if f, rest, ok := formOf(s); ok && f != "" {
		if r, w := utf8.DecodeRuneInString(rest); r == '：' || r == ':' {
			s, form = trim(rest[w:]), f // 单选题：…
		}
	}
	for {
		r, w := utf8.DecodeRuneInString(s)
		if r != '（' && r != '(' && !openBracket(r) {
			return s, form
		}
		end := strings.IndexAny(s, "）)]】")
		if end < 0 {
			return s, form
		}
		in := trim(s[w:end])
		_, cw := utf8.DecodeRuneInString(s[end:])
		f, rest, ok := formOf(in)
		switch {
		case ok && (trim(rest) == "" || strings.HasPrefix(trim(rest), ",") || strings.HasPrefix(trim(rest), "，") || strings.HasPrefix(trim(rest), "、") || scoreTag(trim(rest))):
			if f != "" {
				form = f
			}
		case scoreTag(strings.TrimLeft(in, "本题每共 ")):
		default:
			return s, form
		}
		if s = trim(s[end+cw:]); s == "" {
			return s, form
		}
	}
}

// trailingTag takes off the kind of item or the score behind a stem: …（单选题）,
// …（2分）.
func trailingTag(s string) (stem string, form drydock.QuestionKind) {
	if t := strings.TrimRight(s, "* "); formMark(t) {
		s = t
	}
	start, in, ok := lastBracket(s)
	if !ok || trim(s[:start]) == "" {
		return s, ""
	}
	in = trim(in)
	if scoreTag(strings.TrimLeft(in, "本题每共 ")) {
		return trim(s[:start]), ""
	}
	if f, rest, ok := formOf(in); ok && trim(rest) == "" && f != "" && strings.HasSuffix(in, "题") {
		return trim(s[:start]), f
	}
	return s, ""
}

// scoreTag reports "1分", "1.0 分", "2 points".
func scoreTag(s string) bool {
	i := 0
	for i < len(s) && (s[i] >= '0' && s[i] <= '9' || s[i] == '.') {
		i++
	}
	t := trim(s[i:])
	return i > 0 && (t == "分" || strings.HasPrefix(t, "point") || t == "分)" || strings.HasPrefix(t, "分，") || strings.HasPrefix(t, "分/"))
}

// An inlineAnswer is a key printed inside the stem: 雾航时应（ C ）航速.
type inlineAnswer struct {
	start, end int // the bracket group, brackets included
	ans        answer
	strong     bool // blanks inside the brackets, or at the stem's end
	filled     bool // blanks inside the brackets: a place that was filled in
}

// maxInline is how many bytes a key inside brackets may take.
const maxInline = 40

// findInline looks for the one bracket group of the stem that holds letters or
// a true/false mark. Two different ones prove nothing.
func findInline(s string) (inlineAnswer, bool) {
	var found inlineAnswer
	n := 0
	for i := 0; i < len(s); {
		r, w := utf8.DecodeRuneInString(s[i:])
		var closer string
		switch r {
		case '（', '(':
			closer = "）)"
		case '【', '[', '［':
			closer = "】]］"
		default:
			i += w
			continue
		}
		end := strings.IndexAny(s[i+w:min(len(s), i+w+maxInline)], closer)
		if end < 0 {
			i += w
			continue
		}
		end += i + w
		_, cw := utf8.DecodeRuneInString(s[end:])
		in := s[i+w : end]
		a := answer{}
		if t := trim(in); t != "" {
			if l := readLetters(t); l != nil && (upperOnly(t) || len(l) == 1 && t != in) {
				a.letters = l
			} else if j := readJudge(t); j != "" && (judgeMark(t) == len(t) || len(t) == 1) {
				a.judge = j
			}
		}
		if !a.none() {
			n++
			tail := strings.Trim(s[end+cw:], " 　。.？?；;：:")
			found = inlineAnswer{start: i, end: end + cw, ans: a, strong: tail == "" || trim(in) != in, filled: trim(in) != in}
		}
		i = end + cw
	}
	return found, n == 1
}

func upperOnly(s string) bool {
	for _, r := range s {
		if _, lower := letterValue(r); lower {
			return false
		}
	}
	return true
}

// blankOut removes a printed answer from the stem, so that the stem does not
// give it away: an empty bracket stays where the answer was part of the
// sentence, nothing where it stood behind it.
func blankOut(s string, in inlineAnswer) string {
	before, after := s[:in.start], s[in.end:]
	b := strings.TrimRight(before, " 　")
	last, _ := utf8.DecodeLastRuneInString(b)
	if trim(strings.Trim(after, "。.")) == "" && (strings.ContainsRune("。.？?！!；;", last) || hasBlank(b) || in.ans.judge != "") {
		return trim(b + trim(after))
	}
	return before + "（  ）" + after
}

// statements lists the numbered statements of a stem: Ⅰ.…；Ⅱ.… , I、… II、…,
// ①…②…. They must run from one, without a gap, two at least.
func statements(stem string) []string {
	if strings.Contains(stem, "②") {
		if out := statementsBy(stem, circled); out != nil {
			return out
		}
	}
	if strings.Contains(stem, "II") || strings.Contains(stem, "Ⅱ") {
		return statementsBy(stem, roman)
	}
	return nil
}

// statementsBy cuts the stem at the marks that read 1, 2, 3 … in order.
func statementsBy(s string, read func(s string, i int) (n, end int)) []string {
	type cut struct{ start, end int }
	var cuts []cut
	for i := 0; i < len(s); {
		n, end := read(s, i)
		if n == len(cuts)+1 {
			cuts = append(cuts, cut{i, end})
			i = end
			continue
		}
		_, w := utf8.DecodeRuneInString(s[i:])
		i += w
	}
	if len(cuts) < 2 {
		return nil
	}
	out := make([]string, len(cuts))
	for i, c := range cuts {
		end := len(s)
		if i+1 < len(cuts) {
			end = cuts[i+1].start
		}
		text := trim(s[c.end:end])
		if i+1 == len(cuts) {
			text = cutQuestion(text)
		}
		out[i] = strings.TrimRight(text, "；;，,、。. 　")
		if out[i] == "" {
			return nil
		}
	}
	return out
}

// cutQuestion takes off the last statement what the stem asks behind it: ③明显。
// 正确的是.
func cutQuestion(s string) string {
	for _, end := range [...]string{"。", "；", ". ", "; "} {
		i := strings.Index(s, end)
		if i <= 0 {
			continue
		}
		rest := trim(s[i+len(end):])
		for _, w := range [...]string{"是", "有", "为", "：", ":", "?", "？", "包括", "____", "）", ")"} {
			if strings.HasSuffix(strings.TrimRight(rest, "。."), w) {
				return s[:i]
			}
		}
	}
	return s
}

// circled reads ① … ⑳.
func circled(s string, i int) (n, end int) {
	if s[i] < 0x80 {
		return 0, 0
	}
	r, w := utf8.DecodeRuneInString(s[i:])
	if r < '①' || r > '⑳' {
		return 0, 0
	}
	return int(r-'①') + 1, skipMarks(s, i+w)
}

// roman reads Ⅰ. or I、 at a place where a statement can begin. "I、II" in a
// list of numbers is no statement: something other than a numeral must follow.
func roman(s string, i int) (n, end int) {
	switch s[i] {
	case 'I', 'V', 'X', "Ⅰ"[0]:
	default:
		return 0, 0
	}
	r, w := utf8.DecodeRuneInString(s[i:])
	switch {
	case r >= 'Ⅰ' && r <= 'Ⅻ':
		n, end = int(r-'Ⅰ')+1, i+w
	case r == 'I' || r == 'V' || r == 'X':
		if i > 0 && (isLatin(s[i-1]) || s[i-1] >= '0' && s[i-1] <= '9') {
			return 0, 0
		}
		j := i
		for j < len(s) && (s[j] == 'I' || s[j] == 'V' || s[j] == 'X') {
			j++
		}
		if j < len(s) && isLatin(s[j]) {
			return 0, 0
		}
		n, end = romanValue(s[i:j]), j
	default:
		return 0, 0
	}
	j := skipSpace(s, end)
	m, mw := utf8.DecodeRuneInString(s[j:])
	marked := strings.ContainsRune(".．、:：)）", m) && mw > 0 && m != utf8.RuneError
	if marked {
		end = skipSpace(s, j+mw)
	} else if !wideText(m) || strings.ContainsRune("～，、；", m) {
		return 0, 0
	}
	if next, _ := utf8.DecodeRuneInString(s[end:]); next == 'I' || next == 'V' || next >= 'Ⅰ' && next <= 'Ⅻ' {
		return 0, 0
	}
	return n, end
}

func romanValue(s string) int {
	for i, v := range [...]string{"I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X"} {
		if s == v {
			return i + 1
		}
	}
	return 0
}

// needsFigure reports an item that cannot be answered without a picture.
func needsFigure(q *drydock.Question) bool {
	if len(q.Figures) > 0 || figureWords(q.Stem) {
		return true
	}
	for _, o := range q.Options {
		if figureOnly(o.Text) {
			return true
		}
	}
	return false
}

// figureOnly recognises an option that is a picture: [图片], <img …>, ![](x.png), 图A.
func figureOnly(s string) bool {
	if s == "" || len(s) >= 80 || s[0] != '!' && s[0] != '<' && s[0] != '[' && s[0] < 0x80 && strings.IndexByte(s, '.') < 0 {
		return false
	}
	for _, w := range [...]string{"![", "<img", "[IMG", "[img", "[图", "【图", "（图", "[image", "[Image"} {
		if strings.HasPrefix(s, w) {
			return true
		}
	}
	for _, w := range [...]string{".png", ".jpg", ".jpeg", ".gif", ".bmp"} {
		if len(s) > len(w) && strings.EqualFold(s[len(s)-len(w):], w) {
			return true
		}
	}
	return false
}

func figureWords(s string) bool {
	if !strings.Contains(s, "图") && !strings.Contains(s, "圖") {
		return figureWordsEnglish(s)
	}
	for _, w := range [...]string{"[图", "【图", "（图片", "见图", "見圖", "如图", "如圖", "下图", "下圖", "上图中", "图中所示", "图示为", "右图", "左图", "附图", "根据图", "由图可", "所示图"} {
		if i := strings.Index(s, w); i >= 0 {
			return true
		}
	}
	return figureNumber(s) || figureWordsEnglish(s)
}

// figurePhrases are what a stem says that cannot do without its picture. Each
// must hold one of the words of figureWordIn.
var figurePhrases = [...]string{"![", "<img", "[IMG", "[image", "ee figure", "ee Figure", "ee Fig", "in the figure", "in the picture", "the picture shows", "shown in the sketch", "ee illustration", "ee Illustration", "illustration D", "ee diagram", "ee Diagram", "ee sketch", "ee Sketch", "in the diagram", "the illustration", "shown in figure", "the figure below", "see figure", "See figure", "diagram below", "ILLUSTRATION", "DIAGRAM"}

func figureWordsEnglish(s string) bool {
	if !figureWordIn(s) {
		return false // as nearly always
	}
	for _, w := range figurePhrases {
		if strings.Contains(s, w) {
			return true
		}
	}
	return false
}

// figureWordIn reports one of the words of which each of figurePhrases holds one.
func figureWordIn(s string) bool {
	for i := 0; i+1 < len(s); i++ {
		word := ""
		switch s[i] {
		case '!':
			word = "!["
		case '<':
			word = "<img"
		case '[':
			if strings.HasPrefix(s[i:], "[IMG") {
				return true
			}
			word = "[image"
		case 'f':
			word = "figure"
		case 'F':
			word = "Fig"
		case 'c':
			word = "cture"
		case 'k':
			word = "ketch"
		case 'i':
			word = "iagram" // of d and D, as those below
		case 'l':
			word = "llustration"
		case 'D':
			word = "DIAGRAM"
		case 'I':
			word = "ILLUSTRATION"
		default:
			continue
		}
		if strings.HasPrefix(s[i:], word) {
			return true
		}
	}
	return false
}

// figureNumber reports 图3-2 or "DIAGRAM 12"-like references.
func figureNumber(s string) bool {
	for i := strings.Index(s, "图"); i >= 0; {
		j := skipSpace(s, i+len("图"))
		if r, _ := utf8.DecodeRuneInString(s[j:]); isDigit(r) {
			return true
		}
		next := strings.Index(s[i+len("图"):], "图")
		if next < 0 {
			return false
		}
		i += len("图") + next
	}
	return false
}
