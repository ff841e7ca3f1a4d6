package question

import (
	"strings"
	"unicode/utf8"

	"github.com/drydock-ml/drydock"
)

// trailingAnswer takes off a key that ends a stem without brackets: behind a tab
// or a wide gap where options follow, 船舶应…。 √ where none do.
func trailingAnswer(stem string, options int, form drydock.QuestionKind) (rest string, a answer, ok bool) {
	i := strings.LastIndexFunc(stem, isSpace)
	r, w := utf8.DecodeRuneInString(stem[max(i, 0):])
	if i >= 0 {
		tail, before := stem[i+w:], stem[:i]
		wide := r == '\t' || strings.TrimRightFunc(before, isSpace) != before
		if options >= 2 && wide && upperOnly(tail) {
			if l := readLetters(tail); l != nil {
				return trim(before), answer{letters: l}, true
			}
		}
	}
	if options > 0 {
		return stem, answer{}, false
	}
	for _, word := range [...]string{"√", "✓", "✔", "×", "✗", "✘", "❌", "正确", "错误", "对", "错"} {
		before, found := strings.CutSuffix(stem, word)
		t := trim(before)
		last, _ := utf8.DecodeLastRuneInString(t)
		sign := word[0] != 0xE5 && word[0] != 0xE6 && word[0] != 0xE9
		if found && t != "" && strings.ContainsRune("。.！!；;", last) && (sign || form == drydock.Judge) {
			return t, answer{judge: readJudge(word)}, true
		}
	}
	return stem, answer{}, false
}

// numberedOptions reads options that are numbered, ① ② ③ or (1) (2) (3), when the
// answer names some of their numbers.
func (d *draft) numberedOptions() {
	var picks []int
	s := d.ans.text
	for i := 0; i < len(s); {
		r, w := utf8.DecodeRuneInString(s[i:])
		n, nw := number(s[i:])
		switch {
		case r >= '①' && r <= '⑳':
			picks = append(picks, int(r-'①'))
			i += w
		case nw > 0:
			picks = append(picks, n-1)
			i += nw
		case isSpace(r) || strings.ContainsRune("()（）,，、;；.", r):
			i += w
		default:
			return
		}
	}
	for _, read := range [...]func(string, int) (int, int){circled, bracketed} {
		texts := statementsBy(d.stem, read)
		if len(texts) < 2 || len(texts) > maxOptions || len(picks) == 0 {
			continue
		}
		ok := true
		for _, v := range picks {
			ok = ok && v >= 0 && v < len(texts)
		}
		at := firstMark(d.stem, read)
		if stem := trim(d.stem[:at]); ok && stem != "" {
			d.stem, d.options, d.ans = stem, labelOptions(texts), answer{letters: picks}
			d.doubted(doubtNumbered)
			return
		}
	}
}

// bracketed reads (1) … (12).
func bracketed(s string, i int) (n, end int) {
	if s[i] != '(' && !strings.HasPrefix(s[i:], "（") {
		return 0, 0
	}
	_, w := utf8.DecodeRuneInString(s[i:])
	n, e, ok := enclosedNumber(s[i:], w, ')', '）')
	if !ok {
		return 0, 0
	}
	return n, i + e
}

// firstMark is where the mark for 1 stands.
func firstMark(s string, read func(string, int) (int, int)) int {
	for i := 0; i < len(s); {
		if n, _ := read(s, i); n == 1 {
			return i
		}
		_, w := utf8.DecodeRuneInString(s[i:])
		i += w
	}
	return len(s)
}

// metaWords head what a bank says about a question besides its answer.
var metaWords = [...]string{"考点", "难度", "知识点", "章节", "分值", "来源", "出处", "考查点", "题型", "难易程度", "难易度", "所属章节", "考核点", "认知层次"}

// metaLine reports a line that says such a thing: 【难度】易, 知识点：船艺.
func metaLine(s string) bool {
	r, w := utf8.DecodeRuneInString(s)
	open := openBracket(r)
	if open {
		s = s[w:]
	}
	for _, word := range metaWords {
		if rest, ok := strings.CutPrefix(s, word); ok {
			r, _ := utf8.DecodeRuneInString(trim(rest))
			return open && closeBracket(r) || r == ':' || r == '：'
		}
	}
	return false
}

// stripCode takes off what numbers an item in a way that is not counted here:
// 1.2.3, NAV-012.
func stripCode(s string) string {
	i := strings.IndexFunc(s, isSpace)
	if i <= 0 || i > 16 {
		return s
	}
	digits, parts := 0, 0
	for j, r := range s[:i] {
		switch {
		case isDigit(r):
			digits++
		case r == '.' || r == '-' || r == '_':
			parts++
		case j > 0 && digits > 0 || r < 'A' || r > 'Z':
			return s
		}
	}
	if digits == 0 || parts == 0 {
		return s
	}
	return trim(s[i:])
}
