package step

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

const zhNumerals = "〇零一二三四五六七八九十百千两"

// Levels of headings that are known by their words. They lie below those a
// container marks (1 to 9), so that 第三条 in the text stands under any title.
const (
	levelPart = 11 + iota
	levelChapter
	levelSection
	levelArticle
	levelItem
)

// maxHeading is the longest line, in characters, that is taken for a heading
// by its words.
const maxHeading = 60

// headingOf reads a line as a heading. level is 0 when it is none; more says
// that the line goes on with text after the heading's name, so that it is body,
// too.
func headingOf(line string, marked int8) (level int, name string, more bool) {
	if marked > 0 {
		return int(marked), line, false
	}
	if level, name, more = zhHeading(line); level > 0 {
		return level, name, more
	}
	if utf8.RuneCountInString(line) > maxHeading {
		return 0, "", false
	}
	if level = enHeading(line); level > 0 {
		return level, line, false
	}
	return 0, "", false
}

// zhHeading reads 第N编, 章, 节, 条 and 一、 at the start of a line. 第N条 often goes
// on with the article's text; then only the number is the heading.
func zhHeading(line string) (level int, name string, more bool) {
	rest, ok := strings.CutPrefix(line, "第")
	if !ok {
		return zhItem(line)
	}
	rest = strings.TrimLeft(rest, " 　")
	after := strings.TrimLeft(rest, zhNumerals+"0123456789０１２３４５６７８９")
	if after == rest {
		return 0, "", false
	}
	after = strings.TrimLeft(after, " 　")
	unit, size := utf8.DecodeRuneInString(after)
	switch unit {
	case '编', '編', '篇', '部', '卷':
		level = levelPart
	case '章', '讲', '課', '课':
		level = levelChapter
	case '节', '節':
		level = levelSection
	case '条', '條':
		level = levelArticle
	default:
		return 0, "", false
	}
	after = after[size:]
	if strings.HasPrefix(after, "分") && unit == '部' {
		after = after[len("分"):]
	}
	number := line[:len(line)-len(after)]
	if level == levelArticle {
		// 第十条之一
		if r, found := strings.CutPrefix(after, "之"); found {
			if t := strings.TrimLeft(r, zhNumerals); t != r {
				after = t
				number = line[:len(line)-len(after)]
			}
		}
	}
	tail := strings.TrimSpace(after)
	first, _ := utf8.DecodeRuneInString(after)
	switch {
	case tail == "":
		return level, number, false
	case strings.ContainsRune("，,。、；的规規和与及至所中或", first) && level != levelPart:
		return 0, "", false // 第五条规定的船舶 …: a sentence that begins with a citation
	case isTitleText(tail):
		return level, line, false
	case level == levelArticle && (unicode.IsSpace(first) || strings.ContainsRune("：:【[（(", first)):
		return level, number, true
	}
	return 0, "", false
}

// zhItem reads 一、标题: short, and no sentence.
func zhItem(line string) (level int, name string, more bool) {
	rest := strings.TrimLeft(line, zhNumerals)
	t, ok := strings.CutPrefix(rest, "、")
	if rest == line || !ok || !isTitleText(strings.TrimSpace(t)) {
		return 0, "", false
	}
	return levelItem, line, false
}

// isTitleText reports a short text without the punctuation of a sentence.
func isTitleText(s string) bool {
	n := utf8.RuneCountInString(s)
	return n > 0 && n <= 30 && !strings.ContainsAny(s, "。；;，,？?！!")
}

// enHeading reads Part B, Chapter 2, Section II, Rule 5 Look-out, ANNEX I: the
// word, a number or letter, and at most a title behind it.
func enHeading(line string) int {
	word, rest, _ := strings.Cut(line, " ")
	level := 0
	switch strings.ToLower(word) {
	case "part", "title", "annex", "appendix":
		level = levelPart
	case "chapter":
		level = levelChapter
	case "section", "subpart":
		level = levelSection
	case "rule", "article", "regulation", "reg.", "§":
		level = levelArticle
	default:
		return 0
	}
	if r, _ := utf8.DecodeRuneInString(word); !unicode.IsUpper(r) && r != '§' {
		return 0
	}
	number, title, _ := strings.Cut(strings.TrimSpace(rest), " ")
	number = strings.TrimRight(number, ".:-–—")
	if !isEnNumber(number) {
		return 0
	}
	title = strings.TrimLeft(title, " .:-–—")
	first, _ := utf8.DecodeRuneInString(title)
	if title != "" && (unicode.IsLower(first) || strings.HasSuffix(title, ".") || strings.HasSuffix(title, ";") || strings.HasSuffix(title, ",")) {
		return 0
	}
	return level
}

// isEnNumber reports a number, a Roman number or a single letter, with a suffix
// as in 13bis or 5-2.
func isEnNumber(s string) bool {
	if s == "" || len(s) > 8 {
		return false
	}
	if s[0] >= '0' && s[0] <= '9' {
		return strings.Trim(s, "0123456789.-/abcdefghis") == ""
	}
	return len(s) == 1 && s[0] >= 'A' && s[0] <= 'Z' || strings.Trim(s, "IVXLC") == ""
}

// A decimals follows headings numbered 1.1, 1.2, 1.2.1. Such a line may as well
// be a quantity at the start of a line (1.5 海里以内), so it is only a heading where
// its number goes on from the one before, or starts a row: x.1.
type decimals struct{ last []int }

// heading returns the level of a numbered heading, 0 when the line is none.
func (d *decimals) heading(line string) int {
	i := strings.IndexFunc(line, unicode.IsSpace)
	if i < 0 {
		return 0
	}
	number, title := line[:i], line[i:]
	parts := strings.Split(strings.TrimRight(number, ".．"), ".")
	if len(parts) < 2 || len(parts) > 5 {
		return 0
	}
	at := make([]int, len(parts))
	for i, p := range parts {
		n, err := strconv.Atoi(p)
		if err != nil || n < 0 || n > 999 || len(p) > 3 {
			return 0
		}
		at[i] = n
	}
	title = strings.TrimSpace(title)
	first, _ := utf8.DecodeRuneInString(title)
	if n := utf8.RuneCountInString(title); n > maxHeading || !unicode.IsLetter(first) || strings.ContainsAny(title, "。；;，,") || strings.HasSuffix(title, ".") {
		return 0
	}
	if !d.follows(at) {
		return 0
	}
	d.last = at
	return levelSection + len(at) - 2
}

// follows reports whether a number may come after the last one.
func (d *decimals) follows(at []int) bool {
	n := len(at)
	if at[n-1] == 1 {
		return true // the first of a row
	}
	// one of the next in its row: 1.2 → 1.3, 1.2.5 → 1.3; a few may have been
	// missed
	return len(d.last) >= n && slices.Equal(at[:n-1], d.last[:n-1]) && at[n-1] > d.last[n-1] && at[n-1] <= d.last[n-1]+3
}
