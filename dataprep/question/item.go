package question

import (
	"strings"
	"unicode/utf8"

	"github.com/drydock-ml/drydock"
)

// A line is one block of text on its way into an item.
type line struct {
	text   string
	at     drydock.Locator
	full   bool   // as wide as its neighbours: the text may go on below
	blank  bool   // a blank line stood before it
	figure string // an image that stands with it
	edge   bool   // first or last of its page: may be a running title
	ticked
}

// An item is a numbered stretch of lines that may be a question.
type item struct {
	num     numberMark
	lines   []line
	options int  // labels seen in order so far
	next    int  // the label that would continue them
	solved  bool // an answer or a true/false mark was seen
	marked  bool // solved by a true/false mark behind the text
	explain bool // the lines now are an explanation
	form    drydock.QuestionKind
	radio   bool // printed as a form: ○ and ● before its options
	heading bool // found to be the title of a subsection
	inside  bool // opened inside an explanation: perhaps one of its steps

	given    bool // found, when it was taken apart, to have an answer
	hasKey   bool
	key      keyEntry
	keyDoubt doubt  // about the way the key was joined
	mismatch string // why the key could not be used
	path     *path
	shared   *shared // a text that stands before several items and belongs to each
}

// add appends a line and keeps count of what has been seen.
func (it *item) add(l line) {
	it.lines = append(it.lines, l)
	if lb, ok := scanLabel(l.text); ok {
		it.explain = lb.explain
		if !lb.explain && trim(l.text[lb.end:]) != "" {
			it.solved = true
		}
		return
	}
	if it.explain {
		return
	}
	if findAnswerLabel(l.text) >= 0 {
		it.solved = true
	}
	if len(it.lines) == 1 || it.options < 4 || len(l.text) > 0 {
		it.countOptions(l.text)
	}
	if start, in, ok := lastBracket(l.text); ok && !it.solved && it.form == drydock.Blank && fills(in) && countBlanks(l.text[:start]) == 1 {
		it.solved = true // …____米。（1852）
	}
	if !it.solved && trailingMark(l.text) {
		it.solved, it.marked = true, true
	}
}

// countOptions follows the labels A, B, C … over the lines as they come; the
// exact list is made later, this only tells an open stem from a closed item.
func (it *item) countOptions(s string) {
	var buf [24]mark
	for _, m := range scanMarks(s, buf[:0]) {
		if m.v != it.next {
			continue
		}
		if m.v == 0 && m.place == placeGlued && m.style >= labelRound {
			continue // （A） inside a stem is an answer more often
		}
		if (m.style == labelBare || m.style == labelGlued) && m.v == 0 && m.place != placeLine {
			continue
		}
		it.next++
		it.options = it.next
	}
}

// code is the id that an item prints for a number.
func (it *item) code() string {
	_, end := codeNumber(it.lines[0].text)
	return it.lines[0].text[:end]
}

// expects reports a line that begins with the very option label that is due.
func (it *item) expects(s string) bool {
	if it.explain || s == "" {
		return false
	}
	m, ok := letterMark(s, 0)
	return ok && m.v == it.next && m.style <= labelParen
}

// closed reports whether the item has all a question needs, so that a new
// number opens the next one.
func (it *item) closed() bool { return it.options >= 2 || it.solved }

// answered reports whether an answer stands with the item.
func (it *item) answered() bool {
	if it.solved {
		return true
	}
	in, ok := findInline(it.text())
	return ok && in.strong
}

func (it *item) size() int {
	n := 0
	for _, l := range it.lines {
		n += len(l.text)
	}
	return n
}

// trailingMark reports a true/false mark or answer in brackets at the end of a
// stem: …出航。（ × ）
func trailingMark(s string) bool {
	s = strings.TrimRight(s, "。. 　")
	_, in, ok := lastBracket(s)
	return ok && (judgeMark(trim(in)) == len(trim(in)) && trim(in) != "")
}

// lastBracket returns the text in the brackets that end s and where they start.
func lastBracket(s string) (start int, in string, ok bool) {
	if s == "" {
		return 0, "", false
	}
	switch s[len(s)-1] {
	case ')', ']', "）"[2], "】"[2]:
	default:
		return 0, "", false // the commonest lines
	}
	for _, p := range [...][2]string{{"（", "）"}, {"(", ")"}, {"【", "】"}, {"[", "]"}, {"（", ")"}, {"(", "）"}} {
		if !strings.HasSuffix(s, p[1]) {
			continue
		}
		i := strings.LastIndex(s, p[0])
		if i < 0 {
			continue
		}
		return i, s[i+len(p[0]) : len(s)-len(p[1])], true
	}
	return 0, "", false
}

// findAnswerLabel finds an answer label inside a line, behind options or a
// stem; -1 when there is none.
func findAnswerLabel(s string) int {
	for from := 0; ; {
		i := strings.Index(s[from:], "答案")
		if i < 0 {
			break
		}
		i += from
		start := i
		for _, w := range [...]string{"正确", "参考", "标准", "正確", "參考", "標準"} {
			if strings.HasSuffix(s[:start], w) {
				start -= len(w)
				break
			}
		}
		if strings.HasSuffix(s[:start], "本题") {
			start -= len("本题")
		}
		for _, w := range [...]string{"【", "[", "［", "〔"} {
			if strings.HasSuffix(s[:start], w) {
				start -= len(w)
				break
			}
		}
		if !strings.HasSuffix(s[:start], "我的") && !strings.HasSuffix(s[:start], "你的") && !strings.HasSuffix(s[:start], "您的") {
			if _, ok := scanLabel(s[start:]); ok {
				return start
			}
		}
		from = i + len("答案")
	}
	if strings.IndexByte(s, 'A') < 0 && strings.IndexByte(s, 'K') < 0 {
		return -1
	}
	for _, w := range [...]string{"Ans", "ANS", "Key:"} {
		i := strings.Index(s, w)
		if i < 0 || i > 0 && !isSpace(rune(s[i-1])) && !strings.ContainsRune("([.)", rune(s[i-1])) {
			continue
		}
		if i > 0 && (s[i-1] == '(' || s[i-1] == '[') {
			i--
		}
		if lb, ok := scanLabel(strings.TrimLeft(s[i:], "(")); ok && !lb.explain {
			return i
		}
	}
	return -1
}

// findExplainLabel finds an explanation label inside a line.
func findExplainLabel(s string) int {
	if !strings.Contains(s, "解") && !strings.Contains(s, "Explanation:") {
		return -1
	}
	for _, w := range [...]string{"【解析】", "【详解】", "【試題解析】", "【答案解析】", "[解析]", "答案解析：", "解析：", "解析:", "详解：", "Explanation:"} {
		if i := strings.Index(s, w); i >= 0 {
			return i
		}
	}
	return -1
}

// nextLabel finds the first answer or explanation label in s.
func nextLabel(s string) (start int, lb label, found bool) {
	if lb, ok := scanLabel(s); ok {
		return 0, lb, true
	}
	a, e := findAnswerLabel(s), findExplainLabel(s)
	if a < 0 || e >= 0 && e < a {
		a = e
	}
	if a < 0 {
		return 0, label{}, false
	}
	skip := 0
	if s[a] == '(' {
		skip = 1
	}
	lb, ok := scanLabel(s[a+skip:])
	lb.end += skip
	if ok && (strings.HasSuffix(s[:a], "（") || strings.HasSuffix(s[:a], "(")) {
		_, w := utf8.DecodeLastRuneInString(s[:a])
		a -= w
		lb.end += w
	}
	return a, lb, ok
}

// opensOption reports whether a line begins with an option label.
func opensOption(s string) bool {
	if m, ok := letterMark(s, 0); ok && m.style != labelGlued && m.style != labelBare {
		return m.v == 0
	}
	m, ok := enclosedMark(s, 0)
	return ok && m.v == 0
}

// text is all lines of the item as they stood.
func (it *item) text() string {
	var b strings.Builder
	for i, l := range it.lines {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(l.text)
	}
	for _, e := range it.key.explain { // what the key says goes with the item
		b.WriteByte('\n')
		b.WriteString(e)
	}
	return b.String()
}
