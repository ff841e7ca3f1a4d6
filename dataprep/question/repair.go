package question

import (
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// repair replaces the look-alike radicals that PDF copies carry (⽤ U+2F64 for
// 用) and unusual line ends. Texts without them come back as they are.
func repair(s string) string {
	for i := 0; i+2 < len(s); i++ {
		// U+2E80–U+2FDF begin with E2 BA … E2 BF
		if s[i] == 0xE2 && s[i+1] >= 0xBA && s[i+1] <= 0xBF {
			return repairRadicals(s)
		}
	}
	return s
}

// radicals maps the ones of U+2E80–U+2EFF that NFKC leaves alone to the
// character they stand for, by Unicode's Equivalent_Unified_Ideograph.
func radical(r rune) rune {
	switch r {
	case '⺠':
		return '民'
	case '⻅':
		return '见'
	case '⻉':
		return '贝'
	case '⻋':
		return '车'
	case '⻓':
		return '长'
	case '⻔':
		return '门'
	case '⻘':
		return '青'
	case '⻚':
		return '页'
	case '⻛':
		return '风'
	case '⻜':
		return '飞'
	case '⻝':
		return '食'
	case '⻢':
		return '马'
	case '⻤':
		return '鬼'
	case '⻥':
		return '鱼'
	case '⻦':
		return '鸟'
	case '⻨':
		return '麦'
	case '⻩':
		return '黄'
	case '⻬':
		return '齐'
	case '⻮':
		return '齿'
	case '⻰':
		return '龙'
	case '⻳':
		return '龟'
	case '⺟':
		return '母'
	case '⻄':
		return '西'
	case '⻆':
		return '角'
	case '⻙':
		return '韦'
	}
	return r
}

func repairRadicals(s string) string {
	out := make([]rune, 0, len(s)/2)
	for _, r := range s {
		switch {
		case r >= 0x2E80 && r < 0x2F00:
			out = append(out, radical(r))
		case r >= 0x2F00 && r < 0x2FE0:
			out = append(out, []rune(norm.NFKC.String(string(r)))...)
		default:
			out = append(out, r)
		}
	}
	return string(out)
}

// numberFirst puts the place for the answer behind the number where a paper
// prints it before: （ B ）1. …, (√) 2、….
func numberFirst(s string) string {
	r, w := utf8.DecodeRuneInString(s)
	if r != '(' && r != '（' && r != '[' && r != '【' {
		return s
	}
	const most = 24 // bytes inside the brackets
	end := strings.IndexAny(s[:min(len(s), w+most)], ")）]】")
	if end < 0 {
		return s
	}
	in := trim(s[w:end])
	if openBracket(r) && !kindTag(in) {
		return s
	}
	_, cw := utf8.DecodeRuneInString(s[end:])
	rest := trim(s[end+cw:])
	if m := scanNumber(rest); m.style != numPlain || m.weak || in != "" && !readable(in) && !kindTag(in) {
		return s
	} else if in != "" {
		return rest[:m.end] + "（" + in + "）" + rest[m.end:]
	}
	return rest
}

// kindTag reports 单选题 and the like, as a paper prints it in brackets.
func kindTag(s string) bool {
	_, rest, ok := formOf(s)
	return ok && trim(rest) == ""
}

// behindBullet is a line without the bullet of a list before it.
func behindBullet(s string) string {
	for _, b := range [...]string{"• ", "● ", "○ ", "◆ ", "▪ ", "· ", "■ ", "– "} {
		if rest, ok := strings.CutPrefix(s, b); ok {
			return trim(rest)
		}
	}
	return s
}

// plain takes off Markdown's emphasis and the bullets before numbers and labels.
func plain(s string) string {
	if strings.Contains(s, "**") {
		s = trim(strings.ReplaceAll(s, "**", ""))
	}
	if strings.IndexByte(s, '<') >= 0 {
		s = trim(unwrap(cutTags(s)))
	}
	s = strings.Replace(s, "答 案", "答案", 1)
	for _, w := range [...]string{"→", "->", "=>", "选", "應選", "应选"} {
		if s == "" || s[0] != w[0] {
			continue
		}
		// an arrow or 选 and the letters, alone on a line
		if rest, ok := strings.CutPrefix(s, w); ok && readLetters(trim(rest)) != nil && upperOnly(rest) {
			return "答案：" + trim(rest)
		}
	}
	if s = numberFirst(s); len(s) == 0 || s[0] >= 0xE3 && !strings.HasPrefix(s, "选") && !strings.HasPrefix(s, "選") || s[0] >= '0' && s[0] <= '9' {
		return s // the commonest lines
	}
	if rest := behindBullet(s); rest != s {
		return plain(rest)
	}
	for _, w := range [...]string{"Option ", "选项", "選項"} {
		// Option A: x, 选项A：x
		if rest, ok := strings.CutPrefix(s, w); ok {
			if _, label := letterMark(rest, 0); label {
				return rest
			}
			if rest = trim(strings.TrimLeft(rest, ":： ")); opensAny(rest) || rest == "" {
				return rest
			}
		}
	}
	if len(s) > 2 && (s[0] == '-' || s[0] == '*' || s[0] == '+' || s[0] == '>') && s[1] == ' ' {
		rest := trim(s[2:])
		if _, ok := scanLabel(rest); ok || opensAny(rest) || !scanNumber(rest).weak && scanNumber(rest).style != noNumber || boxed(rest) {
			return rest
		}
	}
	return s
}
