package shuffle

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/drydock-ml/drydock/internal/textnorm"
)

// A ref is a place in a text that names options by letter.
type ref struct {
	start, end int   // bytes
	letters    []int // positions of the options named, rising
	base       rune  // the letter of the first option as written here: A, Ａ or a
	sure       bool
}

// references finds where an explanation names options of a question with n
// options. sure is false when some letter may be an option or may be something
// else (C级动力工具, A类火灾): then nothing may be moved.
func references(text string, n int) (found []ref, sure bool) {
	if !strings.ContainsFunc(text, func(r rune) bool { return isLatin(textnorm.HalfWidth(r)) }) {
		return nil, true
	}
	var all []ref
	prev := rune(0) // the character before
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		if !isLatin(textnorm.HalfWidth(r)) {
			prev, i = r, i+size
			continue
		}
		j := i
		for j < len(text) {
			l, s := utf8.DecodeRuneInString(text[j:])
			if !isLatin(textnorm.HalfWidth(l)) {
				break
			}
			j += s
		}
		if c, ok := candidate(text, i, j, n); ok && !partOfWord(prev, text[j:]) {
			all = append(all, c)
		}
		prev, _ = utf8.DecodeLastRuneInString(text[:j])
		i = j
	}
	join(text, all)
	sure = true
	for _, c := range all {
		switch {
		case c.sure:
			found = append(found, c)
		case !isArticle(text, c):
			sure = false
		}
	}
	return found, sure
}

// candidate reads a run of letters as option labels. A lower-case letter counts
// only behind a word that names it: elsewhere it is a word, a symbol, or a
// paragraph of a rule, (a).
func candidate(text string, i, j, n int) (ref, bool) {
	run := halfWidth(text[i:j])
	up := strings.ToUpper(run)
	if !risingLabels(up, n) {
		return ref{}, false
	}
	c := ref{start: i, end: j}
	for _, l := range up {
		c.letters = append(c.letters, int(l-'A'))
	}
	first, _ := utf8.DecodeRuneInString(text[i:])
	c.base = first - rune(c.letters[0])
	if run == up {
		c.sure = cued(text[:i], text[j:], len(run) == 1)
		return c, true
	}
	c.sure = len(run) == 1 && namedBefore(text[:i])
	return c, c.sure
}

// namedBefore reports a word such as "option" in front of a letter.
func namedBefore(before string) bool {
	return endsWithCue(strings.ToLower(strings.TrimRight(halfWidth(tail(before, 24)), " \t([{【「“\"':=：")))
}

// partOfWord reports letters that belong to a code or a measure: B2, 3A, A-1, α.
func partOfWord(before rune, after string) bool {
	if unicode.IsDigit(before) || before == '\'' || before == '-' || before == '_' || unicode.IsLetter(before) && before < 0x2e80 {
		return true
	}
	next, size := utf8.DecodeRuneInString(after)
	if unicode.IsDigit(next) || next == '\'' || next == '_' || next == '°' || unicode.IsLetter(next) && next < 0x2e80 {
		return true
	}
	if next == '-' {
		n2, _ := utf8.DecodeRuneInString(after[size:])
		return unicode.IsLetter(n2) || unicode.IsDigit(n2)
	}
	return false
}

// cues before and after a letter that make it an option's label
var (
	cueBefore = []string{
		"选项", "選項", "选", "選", "选择", "選擇", "答案", "答案是", "答案为", "答案為", "应选", "應選", "本题", "本題",
		"option", "options", "choice", "choices", "answer", "answers", "answer is", "select", "choose",
	}
	// these say so whatever follows, those only where the letter ends the clause
	cueAlways = []string{"选项", "選項", "option", "options", "choice", "choices"}
	cueAtStop = []string{"答", "的是", "项是", "項是", "项为", "項為", "answer is", "option is", "is"}
	cueAfter  = []string{
		"项", "項", "选项", "選項", "正确", "正確", "不正确", "不正確", "错误", "錯誤", "有误", "有誤", "为正确", "為正確", "是正确", "是错", "是對", "是对", "为错", "为对", "不对", "不對", "不符", "均", "都",
		"is correct", "is incorrect", "is wrong", "is right", "is true", "is false", "are correct", "are incorrect", "are wrong", "are right", "are true", "are false",
	}
)

// cued reports whether what stands around a run of letters makes it name
// options. Brackets are a cue for a single letter: （AC） is an abbreviation.
func cued(before, after string, single bool) bool {
	b := strings.TrimRight(halfWidth(tail(before, 24)), " \t")
	bracketed := false
	if k := strings.TrimRight(b, "([{【"); k != b {
		bracketed = single
		b = k
	}
	b = strings.TrimRight(b, " \t「“\"'")
	b = strings.ToLower(strings.TrimRight(b, ":= ：\t"))
	a := strings.TrimLeft(halfWidth(head(after, 24)), " \t")
	closed := strings.TrimLeft(a, ")]}】")
	quoted := strings.TrimLeft(closed, "」”\"'")
	rest := strings.ToLower(strings.TrimLeft(quoted, " \t"))
	next, _ := utf8.DecodeRuneInString(rest)
	stop := rest == "" || strings.ContainsRune(",，.。;；、!？?)）\n", next)
	// 应选A类灭火器 names a class, 故选A。 and 选A因为 an option
	if endsWith(b, cueAlways) || endsWithCue(b) && (stop || !unicode.Is(unicode.Han, next) || strings.ContainsRune("项項是为為因故不正错錯均都和与與或及而", next)) {
		return true
	}
	if stop && endsWith(b, cueAtStop) {
		return true
	}
	for _, c := range cueAfter {
		if strings.HasPrefix(rest, c) {
			return true
		}
	}
	switch {
	case bracketed && closed != a:
		// (A): a label, unless it counts paragraphs: Rule 9(A), 第三条(B)
		last, _ := utf8.DecodeLastRuneInString(b)
		return !unicode.IsDigit(last) && !strings.ContainsRune("条條款)", last)
	case atLineStart(before):
		if mark, _ := utf8.DecodeRuneInString(a); mark != utf8.RuneError && strings.ContainsRune(".、:,)", mark) {
			return true
		}
	}
	// 对 and 错 are also a preposition and part of words: only before a stop
	for _, c := range []string{"对", "對", "错", "錯"} {
		if r, ok := strings.CutPrefix(rest, c); ok {
			next, _ = utf8.DecodeRuneInString(r)
			return r == "" || strings.ContainsRune(",，.。;；、!？?)）\n", next)
		}
	}
	return false
}

func endsWithCue(b string) bool { return endsWith(b, cueBefore) }

func endsWith(b string, cues []string) bool {
	for _, c := range cues {
		if !strings.HasSuffix(b, c) {
			continue
		}
		if c[0] < utf8.RuneSelf { // a whole English word
			last, _ := utf8.DecodeLastRuneInString(b[:len(b)-len(c)])
			if isLatin(last) {
				continue
			}
		}
		return true
	}
	return false
}

func atLineStart(before string) bool {
	b := strings.TrimRight(before, " \t　")
	return b == "" || strings.HasSuffix(b, "\n")
}

// join makes letters sure that stand in a list with a sure one: A、B、D错误.
func join(text string, all []ref) {
	link := func(i int) bool {
		between := strings.ToLower(strings.TrimSpace(halfWidth(text[all[i].end:all[i+1].start])))
		return slices.Contains([]string{"、", ",", "，", "/", "和", "与", "與", "及", "或", "and", "or", "&", ", and", ", or", "项和", "项、", "项与"}, between)
	}
	for i := 0; i+1 < len(all); i++ {
		if all[i].sure && link(i) {
			all[i+1].sure = true
		}
	}
	for i := len(all) - 2; i >= 0; i-- {
		if all[i+1].sure && link(i) {
			all[i].sure = true
		}
	}
}

// isArticle reports the English word A before another word.
func isArticle(text string, c ref) bool {
	if len(c.letters) != 1 || c.letters[0] != 0 {
		return false
	}
	rest := text[c.end:]
	trimmed := strings.TrimLeft(rest, " \t\n")
	if trimmed == rest {
		return false
	}
	r, _ := utf8.DecodeRuneInString(trimmed)
	if !isLatin(r) && r != '"' {
		return false
	}
	for _, verb := range []string{"is ", "are ", "and ", "or ", "was ", "has ", "does ", "would ", "because "} {
		if strings.HasPrefix(trimmed, verb) {
			return false
		}
	}
	return true
}

// tail and head cut a window of at most n bytes at a character.
func tail(s string, n int) string {
	if len(s) <= n {
		return s
	}
	s = s[len(s)-n:]
	for s != "" && !utf8.RuneStart(s[0]) {
		s = s[1:]
	}
	return s
}

func head(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
