package question

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/drydock-ml/drydock"
)

// numStyle is the family of a question number. Forms that printers mix freely
// (1. 1、 1． 1)) are one family; a statement list inside a stem usually uses
// another one.
type numStyle uint8

const (
	noNumber   numStyle = iota
	numPlain            // 1. 1、 1．1) 1:
	numParen            // (1) （1）
	numBracket          // 【1】 [1]
	numWord             // 第1题 Q1: 题目1 Question 1.
	numHan              // 七、
	numBare             // "1 text": only believed in sequence
	numDotted           // 1.1 text: the last number counts
	numCode             // ANR0101: an id that is printed for a number
	numLone             // 1 alone on its line, the text below
	numLoose            // none printed: counted here
)

// A numberMark is the question number a line opens with.
type numberMark struct {
	style numStyle
	n     int
	end   int  // byte offset of the text after the mark
	weak  bool // digits follow at once, as in 3.5: a decimal or a wrapped line

	titles bool                 // 练习1, # 1: numbers parts of a bank as well
	form   drydock.QuestionKind // of 判断题1
}

// scanNumber reads the number at the start of a trimmed line.
func scanNumber(s string) numberMark {
	r, w := utf8.DecodeRuneInString(s)
	switch {
	case isDigit(r):
		return scanPlainNumber(s)
	case r == '(' || r == '（':
		if n, end, ok := enclosedNumber(s, w, ')', '）'); ok {
			return numberMark{style: numParen, n: n, end: end}
		}
		return bracketedWord(s, w)
	case r == '[' || r == '【' || r == '〔' || r == '［':
		if n, end, ok := enclosedNumber(s, w, ']', '】', '〕', '］'); ok {
			return numberMark{style: numBracket, n: n, end: end}
		}
		return bracketedWord(s, w)
	case r == '{' || r == '<' || r == '《':
		if n, end, ok := enclosedNumber(s, w, '}', '>', '》'); ok {
			return numberMark{style: numBracket, n: n, end: end}
		}
	case startsWord(r):
		if m := scanWordNumber(s); m.style != noNumber || r >= 0x80 || r == '#' || r|0x20 == 'q' {
			return m
		}
		fallthrough
	case r >= 'A' && r <= 'Z' && len(s) > 4:
		if n, end := codeNumber(s); n > 0 {
			if end < len(s) && s[end] != ' ' && s[end] != '\t' && s[end] != '.' && s[end] != ':' && !strings.HasPrefix(s[end:], "：") && !strings.HasPrefix(s[end:], "、") && !strings.HasPrefix(s[end:], "　") {
				return numberMark{}
			}
			return numberMark{style: numCode, n: n, end: skipMarks(s, end)}
		}
	case r == '*' || r == '★' || r == '☆' || r == '▲' || r == '△' || r == '※' || r == '◆': // *1. an item that is set apart
		if i := skipSpace(s, w); i < len(s) && isDigit(rune(s[i])) {
			if m := scanPlainNumber(s[i:]); m.style == numPlain && !m.weak {
				m.end += i
				return m
			}
		}
	case hanDigit(r) >= 0 || r == '十':
		if n, end := hanNumber(s); n > 0 {
			if m, mw := utf8.DecodeRuneInString(s[end:]); m == '、' || m == '．' || m == '.' {
				return numberMark{style: numHan, n: n, end: skipSpace(s, end+mw)}
			}
		}
	}
	return numberMark{}
}

func scanPlainNumber(s string) numberMark {
	n, end := number(s)
	if end < len(s) && (s[end] == 'O' || s[end] == 'o' || s[end] == 'l') {
		if m, ok := misreadNumber(s); ok {
			return m
		}
	}
	if end == 0 || n == 0 || n > 99999 {
		return numberMark{}
	}
	rest := s[end:]
	gap := skipSpace(rest, 0)
	m, mw := utf8.DecodeRuneInString(rest[gap:])
	switch m {
	case '/', '／', 'o', '题', '題', '(', '（', '[', '【', '\\', '>', '】', ']', '}', '〕', '；', '-', '–', '—':
		if n := scanMarkedNumber(s, n, end, end+gap); n.style != noNumber {
			return n
		}
	case '.', '、', '．', ')', '）', ':', '：', '﹒', '。', ',', '，', '·':
		if gap > 1 || (gap > 0 && m != '.' && m != '、' && m != '．') {
			return numberMark{}
		}
		after := end + gap + mw
		next, _ := utf8.DecodeRuneInString(s[after:])
		if n, e := dottedNumber(s, after); n > 0 && m == '.' && gap == 0 {
			return numberMark{style: numDotted, n: n, end: e, weak: true}
		}
		weak := isDigit(next) && (m == '.' || m == ':' || m == '：' || m == '·' || m == '、' && numberList(s[after:])) || m == ',' || m == '，' || m == '。'
		switch next { // 1.) 1.、
		case ')', '）', '、', '．':
			after += utf8.RuneLen(next)
		case '.':
			if m != '.' && m != '．' {
				after++
			}
		}
		return numberMark{style: numPlain, n: n, end: skipSpace(s, after), weak: weak}
	}
	if gap > 0 && m != utf8.RuneError {
		return numberMark{style: numBare, n: n, end: end + gap, weak: true}
	}
	return numberMark{}
}

// misreadNumber reads a number in which an O stands for 0 or an l for 1: 1O. It is
// believed only where it goes on with the count.
func misreadNumber(s string) (numberMark, bool) {
	n, end := 0, 0
	for ; end < len(s) && end < 5; end++ {
		d := digitValue(rune(s[end]))
		switch s[end] {
		case 'O', 'o':
			d = 0
		case 'l':
			d = 1
		}
		if d < 0 {
			break
		}
		n = n*10 + d
	}
	m, w := utf8.DecodeRuneInString(s[end:])
	if m != '.' && m != '、' && m != '．' || n == 0 {
		return numberMark{}, false
	}
	return numberMark{style: numPlain, n: n, end: skipSpace(s, end+w), weak: true}, true
}

// dottedNumber reads the rest of 1.1 or 2.3.4 up to the blank behind it: the last
// number and where the text begins.
func dottedNumber(s string, i int) (n, end int) {
	for {
		v, w := number(s[i:])
		if w == 0 || w > 3 {
			return 0, 0
		}
		i += w
		if i < len(s) && s[i] == '.' {
			i++
			continue
		}
		if j := skipSpace(s, i); j > i && j < len(s) {
			return v, j
		}
		return 0, 0
	}
}

// numberList reports that a list of numbers goes on: 1、2、3均正确.
func numberList(s string) bool {
	_, w := number(s)
	switch r, _ := utf8.DecodeRuneInString(s[w:]); r {
	case '、', '和', '及', '均', '都', '两', ',', '，':
		return true
	}
	return w == len(s)
}

// codeNumber reads an id of capitals and digits, ANR0101, NAV-012: its digits and
// where it ends; 0, 0 when there is none. Fewer than three digits name things:
// CH16, GM1.
func codeNumber(s string) (n, end int) {
	for end < len(s) && s[end] >= 'A' && s[end] <= 'Z' {
		end++
	}
	if end == 0 || end > 6 || end == len(s) {
		return 0, 0
	}
	if s[end] == '-' || s[end] == '_' {
		end++
	}
	from := end
	for end < len(s) && s[end] >= '0' && s[end] <= '9' {
		end++
	}
	if end-from < 3 || end-from > 8 || end < len(s) && (isLatin(s[end]) || s[end] == '-') {
		return 0, 0
	}
	n, _ = number(s[from:end])
	return n, end
}

func enclosedNumber(s string, from int, closers ...rune) (n, end int, ok bool) {
	i := skipSpace(s, from)
	n, w := number(s[i:])
	if w == 0 || n == 0 || n > 99999999 {
		return 0, 0, false
	}
	i = skipSpace(s, i+w)
	c, cw := utf8.DecodeRuneInString(s[i:])
	for _, want := range closers {
		if c == want {
			return n, skipMarks(s, i+cw), true
		}
	}
	return 0, 0, false
}

// number reads decimal digits, half or full width.
func number(s string) (n, end int) {
	for end < len(s) {
		r, w := utf8.DecodeRuneInString(s[end:])
		d := digitValue(r)
		if d < 0 || n > 1e8 {
			break
		}
		n = n*10 + d
		end += w
	}
	return n, end
}

// anyNumber reads digits or a Chinese numeral.
func anyNumber(s string) (n, end int) {
	if n, end = number(s); end > 0 {
		return n, end
	}
	return hanNumber(s)
}

// hanNumber reads 一 … 九百九十九. It returns 0, 0 when there is none.
func hanNumber(s string) (n, end int) {
	digit, seen := 0, false
	for end < len(s) {
		r, w := utf8.DecodeRuneInString(s[end:])
		if d := hanDigit(r); d >= 0 {
			if digit > 0 { // 一二: read as digits
				n = n*10 + digit
			}
			digit, seen = d, true
		} else if unit := hanUnit(r); unit > 0 {
			n += max(digit, 1) * unit
			digit, seen = 0, true
		} else {
			break
		}
		end += w
	}
	if !seen {
		return 0, 0
	}
	return n + digit, end
}

func hanUnit(r rune) int {
	switch r {
	case '十':
		return 10
	case '百':
		return 100
	}
	return 0
}

func hanDigit(r rune) int {
	switch r {
	case '〇', '零':
		return 0
	case '一':
		return 1
	case '二':
		return 2
	case '三':
		return 3
	case '四':
		return 4
	case '五':
		return 5
	case '六':
		return 6
	case '七':
		return 7
	case '八':
		return 8
	case '九':
		return 9
	}
	return -1
}

func digitValue(r rune) int {
	switch {
	case r >= '0' && r <= '9':
		return int(r - '0')
	case r >= '０' && r <= '９':
		return int(r - '０')
	}
	return -1
}

func isDigit(r rune) bool { return digitValue(r) >= 0 }

// letterValue returns 0 for A, 1 for B … for Latin letters of either width and
// case, and whether the letter was lower case; -1 for anything else.
func letterValue(r rune) (v int, lower bool) {
	switch {
	case r >= 'A' && r <= 'Z':
		return int(r - 'A'), false
	case r >= 'a' && r <= 'z':
		return int(r - 'a'), true
	case r >= 'Ａ' && r <= 'Ｚ':
		return int(r - 'Ａ'), false
	case r >= 'ａ' && r <= 'ｚ':
		return int(r - 'ａ'), true
	}
	return -1, false
}

func letter(v int) string {
	const all = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	if v < 0 || v >= len(all) {
		return string(rune('A' + v))
	}
	return all[v : v+1]
}

// maxOptions is how far option labels are followed: A to L.
const maxOptions = 12

// isSpace holds for the blanks that real files carry, the ideographic, the
// no-break and the zero-width ones included.
func isSpace(r rune) bool {
	switch r {
	case ' ', '\t', '\n', '\r', '\v', '\f', 0xA0, 0x3000, 0x200B, 0xFEFF, 0x2002, 0x2003, 0x2009, 0x202F:
		return true
	}
	return false
}

func trim(s string) string {
	// most lines need no work: look at the bytes first
	if s == "" || (s[0] > ' ' && s[0] < 0x80 && s[len(s)-1] > ' ' && s[len(s)-1] < 0x80) {
		return s
	}
	return strings.TrimFunc(s, isSpace)
}

func skipSpace(s string, i int) int {
	for i < len(s) {
		if s[i] == ' ' || s[i] == '\t' || s[i] == '\n' {
			i++
			continue
		}
		if s[i] < 0x80 {
			return i
		}
		r, w := utf8.DecodeRuneInString(s[i:])
		if !isSpace(r) {
			return i
		}
		i += w
	}
	return i
}

// skipMarks skips blanks and one punctuation mark after a number or label.
func skipMarks(s string, i int) int {
	i = skipSpace(s, i)
	switch r, w := utf8.DecodeRuneInString(s[i:]); r {
	case '.', '．', '、', ':', '：', ')', '）', ',', '，':
		i = skipSpace(s, i+w)
	}
	return i
}

func hasPrefixFold(s, lowerPrefix string) bool {
	return len(s) >= len(lowerPrefix) && strings.EqualFold(s[:len(lowerPrefix)], lowerPrefix)
}

// wideText reports whether a rune belongs to text set without blanks between
// words.
func wideText(r rune) bool {
	return r >= 0x2E80 && (unicode.Is(unicode.Han, r) || r >= 0x3000 && r <= 0x303F || r >= 0xFF00 && r <= 0xFFEF || r >= 0x3040 && r <= 0x30FF) ||
		r == '“' || r == '”' || r == '‘' || r == '’' || r == '…' || r == '—' || r == '～' || r >= 0x2160 && r <= 0x217F || r >= 0x2460 && r <= 0x2473
}

// width is the printed width of a line in half-width columns.
func width(s string) int {
	n := 0
	for _, r := range s {
		if r < 0x1100 {
			n++
		} else {
			n += 2
		}
	}
	return n
}

// join puts a wrapped line back on the one before it: without a blank where
// either side is Chinese, with one between Latin words.
func join(dst []byte, s string) []byte {
	if len(dst) == 0 {
		return append(dst, s...)
	}
	if s == "" {
		return dst
	}
	last, _ := utf8.DecodeLastRune(dst)
	first, _ := utf8.DecodeRuneInString(s)
	if !wideText(last) && !wideText(first) && !isSpace(last) {
		dst = append(dst, ' ')
	}
	return append(dst, s...)
}

// unwrap joins the lines of a text.
func unwrap(s string) string {
	if s = trim(s); strings.IndexByte(s, '\n') < 0 {
		return s
	}
	b := make([]byte, 0, len(s))
	for l := range strings.SplitSeq(s, "\n") {
		b = join(b, trim(l))
	}
	return string(b)
}
