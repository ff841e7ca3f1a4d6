package question

import (
	"strings"
	"unicode/utf8"

	"github.com/drydock-ml/drydock"
)

// answeredInPlace reads the answers of a blank that is filled in: 显示【上绿下白】灯,
// …负责#船长, …为（白）色 under a heading that says blanks, ____米。（1852）. The places
// become blanks again, so that the stem does not give them away.
func (d *draft) answeredInPlace() bool {
	if d.form != "" && d.form != drydock.Blank && d.form != drydock.Short || len(d.options) > 0 {
		return false
	}
	if before, a, ok := behindSign(d.stem); ok {
		d.stem, d.ans, d.given = before, answer{text: a}, true
		return true
	}
	if start, in, ok := lastBracket(strings.TrimRight(d.stem, "。. ")); ok && countBlanks(d.stem[:start]) == 1 && fills(in) {
		d.stem, d.ans, d.given = trim(d.stem[:start]), answer{text: trim(in)}, true
		d.doubted(doubtInStem)
		return true
	}
	var b strings.Builder
	var found []string
	for s := d.stem; ; {
		i := strings.IndexAny(s, "【（(")
		if i < 0 {
			b.WriteString(s)
			break
		}
		r, w := utf8.DecodeRuneInString(s[i:])
		end := strings.IndexAny(s[i:], map[bool]string{true: "】", false: "）)"}[r == '【'])
		if end < 0 {
			b.WriteString(s)
			break
		}
		in := s[i+w : i+end]
		_, cw := utf8.DecodeRuneInString(s[i+end:])
		if !fills(in) || r != '【' && d.form != drydock.Blank {
			b.WriteString(s[:i+end+cw])
		} else {
			found = append(found, trim(in))
			b.WriteString(s[:i] + "（  ）")
		}
		s = s[i+end+cw:]
	}
	stem := b.String()
	if len(found) == 0 || trim(strings.ReplaceAll(stem, "（  ）", "")) == "" {
		return false
	}
	d.stem, d.given, d.form = stem, true, drydock.Blank
	d.ans = answer{text: strings.Join(found, "；")}
	d.doubted(doubtInStem)
	return true
}

// behindSign takes off an answer that a # parts from its stem, 负责#船长. The sign also
// stands in addresses, entities and references, guide.html#parts, &#39; and issue #12,
// and before what is said of a command; none of them parts an answer, nor does the
// second # of a text.
func behindSign(stem string) (before, a string, ok bool) {
	i := strings.IndexAny(stem, "#＃")
	if i < 0 {
		return "", "", false
	}
	_, w := utf8.DecodeRuneInString(stem[i:])
	before, a = trim(stem[:i]), trim(stem[i+w:])
	if before == "" || a == "" || utf8.RuneCountInString(a) > 60 || strings.ContainsAny(a, "#＃") {
		return "", "", false
	}
	word := before[strings.LastIndexFunc(before, isSpace)+1:]
	last := before[len(before)-1]
	switch {
	case last == '&' || last == '(' || last == '[' || address(word):
		return "", "", false
	case isDigit(rune(a[0])) && last < utf8.RuneSelf && last != '.' && last != '?' && last != '_':
		return "", "", false
	}
	return before, a, true
}

// address reports a word that may name a page or a file: ./a, https://a, guide.html.
func address(word string) bool {
	if strings.Contains(word, "://") {
		return true
	}
	if strings.IndexFunc(word, func(r rune) bool { return r >= utf8.RuneSelf }) >= 0 {
		return false
	}
	dot := strings.LastIndexByte(word, '.') + 1
	return strings.Contains(word, "/") || dot > 1 && dot < len(word) && !isDigit(rune(word[dot]))
}

// fills reports a text that may fill a blank: short, and neither a sentence nor a
// reference to a figure.
func fills(s string) bool {
	s = trim(s)
	return s != "" && utf8.RuneCountInString(s) <= 30 && !strings.ContainsAny(s, "。；？?！_") && !figureWords(s) && !kindTag(s) && !scoreTag(s)
}
