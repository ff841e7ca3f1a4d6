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
	if i := strings.LastIndexAny(d.stem, "#＃"); i > 0 {
		_, w := utf8.DecodeRuneInString(d.stem[i:])
		if a, before := trim(d.stem[i+w:]), trim(d.stem[:i]); a != "" && before != "" && utf8.RuneCountInString(a) <= 60 {
			d.stem, d.ans, d.given = before, answer{text: a}, true
			return true
		}
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

// fills reports a text that may fill a blank: short, and neither a sentence nor a
// reference to a figure.
func fills(s string) bool {
	s = trim(s)
	return s != "" && utf8.RuneCountInString(s) <= 30 && !strings.ContainsAny(s, "。；？?！_") && !figureWords(s) && !kindTag(s) && !scoreTag(s)
}
