package question

import (
	"strings"
	"unicode"
)

// hasBlank reports a place to fill in: ____, （  ）, ( ), 【】. Brackets with nothing in
// them right behind a Latin word call what it names, New().
func hasBlank(s string) bool { return countBlanks(s) > 0 }

func countBlanks(s string) int {
	n := 0
	rs := []rune(s)
	for i := 0; i < len(rs); i++ {
		switch r := rs[i]; {
		case r == '_' || r == '＿':
			j := i
			for j < len(rs) && (rs[j] == '_' || rs[j] == '＿') {
				j++
			}
			if j-i >= 2 || r == '＿' {
				n++
			}
			i = j - 1
		case r == '（' || r == '(' || r == '[' || r == '【' || r == '{':
			j := i + 1
			for j < len(rs) && (isSpace(rs[j]) || rs[j] == '_' || rs[j] == '＿') {
				j++
			}
			call := r == '(' && j == i+1 && i > 0 && rs[i-1] < unicode.MaxASCII && unicode.IsLetter(rs[i-1])
			if j < len(rs) && strings.ContainsRune("）)]】}", rs[j]) && !call {
				n++
				i = j
			}
		}
	}
	return n
}

// splitBlanks deals a text out to the blanks when it clearly has as many parts.
func splitBlanks(s string, blanks int) []string {
	if blanks > 1 {
		for _, sep := range [...]string{"；", ";", "、", "|", "，", ",", " "} {
			parts := strings.Split(s, sep)
			if len(parts) != blanks {
				continue
			}
			for i := range parts {
				parts[i] = trim(parts[i])
			}
			return parts
		}
	}
	return []string{s}
}
