package step

import (
	"encoding/json"
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/drydock-ml/drydock"
)

// A lineJoiner decides where a paragraph ends in text that comes line by line.
// Containers that know paragraphs give each its own number; where only lines are
// known, a line that ends well before the margin ended on purpose.
type lineJoiner struct {
	margin int // width of the widest of the lines just before
	last   drydock.Block
}

// minMargin is the narrowest column of running text, in columns of a terminal:
// shorter lines are titles until a longer one has been seen.
const minMargin = 40

func (j *lineJoiner) saw(b drydock.Block) {
	j.last = b
	// one line that is far too long (a table of contents, a command) must not
	// make all later lines look short
	width := columns(b.Text)
	j.margin = max(width, j.margin-max(1, (j.margin-width)/marginDecay), minMargin)
}

// marginDecay is about how many lines a margin is remembered for.
const marginDecay = 32

// breaks reports whether b starts a new paragraph after what was seen last.
func (j *lineJoiner) breaks(open string, b drydock.Block) bool {
	a := j.last.At
	switch {
	case b.At.Para != a.Para, b.At.Para > 0 && b.At.Line == a.Line:
		return true
	case b.At.Line == 0 && b.At.Page == 0: // not cut into lines
		return true
	case b.At.Page == a.Page && b.At.Line > a.Line+1: // something stood between
		return true
	case isIndented(b.Text) && !isIndented(j.last.Text), startsItem(strings.TrimSpace(b.Text)):
		return true
	}
	width := columns(j.last.Text)
	if endsSentence(open) {
		return width*10 < j.margin*9
	}
	return width*10 < j.margin*7
}

// columns is the width of a line on a terminal, white space at its end aside.
func columns(s string) int {
	n := 0
	for _, r := range strings.TrimRightFunc(s, unicode.IsSpace) {
		n++
		if r >= 0x1100 && isWide(r) {
			n++
		}
	}
	return n
}

// isWide reports ideographs and full-width signs: script that needs no spaces.
func isWide(r rune) bool {
	return r >= 0x2e80 && r <= 0xa4cf || r >= 0xac00 && r <= 0xd7a3 || r >= 0xf900 && r <= 0xfaff ||
		r >= 0xfe30 && r <= 0xfe6f || r >= 0xff00 && r <= 0xff60 || r >= 0xffe0 && r <= 0xffe6 || r >= 0x20000 && r <= 0x3fffd
}

func isIndented(s string) bool {
	return strings.HasPrefix(s, "　") || strings.HasPrefix(s, "  ") || strings.HasPrefix(s, "\t")
}

func endsSentence(s string) bool {
	s = strings.TrimRight(s, "”’\"')）】」》")
	r, _ := utf8.DecodeLastRuneInString(s)
	return strings.ContainsRune("。！？；：.!?;:…", r)
}

// startsItem reports a line that opens a list item: （一）, (1), 1., 1、, ①, 一、, •.
func startsItem(s string) bool {
	r, size := utf8.DecodeRuneInString(s)
	switch {
	case strings.ContainsRune("•·●○■□◆▪–—*-", r):
		next, _ := utf8.DecodeRuneInString(s[size:])
		return next == ' ' || next == '\t' || r != '-' && r != '—' && r != '–' && r != '*'
	case r >= 0x2460 && r <= 0x249b: // ① … ⒛
		return true
	case r == '(' || r == '（':
		inside, _, ok := strings.Cut(s[size:], "）")
		if !ok {
			inside, _, ok = strings.Cut(s[size:], ")")
		}
		return ok && isMark(inside)
	}
	if isDecimal(s) {
		return true
	}
	i := strings.IndexFunc(s, func(r rune) bool { return strings.ContainsRune(".、．)）", r) })
	if i <= 0 || !isMark(s[:i]) {
		return false
	}
	next := strings.TrimLeft(s[i:], ".、．)）")
	d, _ := utf8.DecodeRuneInString(next)
	return next != "" && !unicode.IsDigit(d) && (!isLatinLetter(rune(s[0])) || d == ' ')
}

// isDecimal reports a line that opens with a number of several levels and a
// space: 1.2 or 3.1.4.
func isDecimal(s string) bool {
	rest := strings.TrimLeft(s, "0123456789.")
	number := s[:len(s)-len(rest)]
	return len(rest) < len(s) && strings.HasPrefix(rest, " ") && strings.Contains(strings.Trim(number, "."), ".") &&
		number[0] != '.' && !strings.Contains(number, "..")
}

// isMark reports a counter: up to three digits or numerals, or one letter, or a
// small Roman number.
func isMark(s string) bool {
	n := utf8.RuneCountInString(s)
	if n == 0 || n > 4 {
		return false
	}
	if strings.Trim(s, "0123456789０１２３４５６７８９") == "" || strings.Trim(s, zhNumerals) == "" || strings.Trim(s, "ivx") == "" {
		return n <= 4
	}
	return n == 1 && isLatinLetter(rune(s[0]))
}

func isLatinLetter(r rune) bool { return r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' }

// joinLines joins two lines of one paragraph: by nothing where Chinese stands on
// either side, by nothing where a hyphen divides a word, else by a space.
func joinLines(a, b string) string {
	last, n := utf8.DecodeLastRuneInString(a)
	first, _ := utf8.DecodeRuneInString(b)
	switch {
	case isWide(last) || isWide(first):
		return a + b
	case last == 0xad:
		return a[:len(a)-n] + b
	case last == '-' && unicode.IsLower(first):
		if before, _ := utf8.DecodeLastRuneInString(a[:len(a)-1]); unicode.IsLower(before) {
			return a[:len(a)-1] + b
		}
	}
	return a + " " + b
}

// pieces cuts a paragraph that is too long: after a sentence where possible,
// else after a comma or a space, else anywhere.
func pieces(text string, maxRunes int) iter.Seq[string] {
	return func(yield func(string) bool) {
		for {
			if len(text) <= maxRunes || utf8.RuneCountInString(text) <= maxRunes {
				if text != "" {
					yield(text)
				}
				return
			}
			cut := cutAt(text, maxRunes)
			if !yield(strings.TrimRightFunc(text[:cut], unicode.IsSpace)) {
				return
			}
			text = strings.TrimLeftFunc(text[cut:], unicode.IsSpace)
		}
	}
}

// cutAt returns the byte after which to cut so that at most maxRunes characters,
// and more than half as many, stand before.
func cutAt(text string, maxRunes int) int {
	sentence, clause, n := 0, 0, 0
	for i, end := 0, 0; i < len(text); i = end {
		r, size := utf8.DecodeRuneInString(text[i:])
		end = i + size
		if n == maxRunes {
			switch {
			case sentence > 0:
				return sentence
			case clause > 0:
				return clause
			}
			return i
		}
		n++
		if n*2 <= maxRunes {
			continue
		}
		next, _ := utf8.DecodeRuneInString(text[end:])
		switch {
		case strings.ContainsRune("。！？；\n", r), strings.ContainsRune(".!?;", r) && unicode.IsSpace(next):
			sentence = end
		case strings.ContainsRune("，、：", r), unicode.IsSpace(r):
			clause = end
		}
	}
	return len(text)
}

// A pageFilter holds one line back so as to see where a page ends: a number that
// stands alone at the head or foot of a page is the page's, not the text's.
type pageFilter struct {
	held     drydock.Block
	holds    bool
	page     int // page of the line before the held one
	released [2]drydock.Block
}

// next takes a block and returns those that are free to go.
func (f *pageFilter) next(b drydock.Block) []drydock.Block {
	out := f.released[:0]
	if f.holds && !f.isFolio(b.At.Page) {
		out = append(out, f.held)
	}
	if f.holds {
		f.page = f.held.At.Page
	}
	f.holds = b.At.Page > 0 && b.Raw == nil
	if !f.holds {
		return append(out, b)
	}
	f.held = b
	return out
}

// rest returns the line still held at the end of the document.
func (f *pageFilter) rest() []drydock.Block {
	if !f.holds || f.isFolio(0) {
		return nil
	}
	f.holds = false
	return []drydock.Block{f.held}
}

func (f *pageFilter) isFolio(nextPage int) bool {
	if f.held.At.Page == f.page && f.held.At.Page == nextPage || f.held.Cells != nil || f.held.Level > 0 {
		return false
	}
	s := strings.ToLower(strings.TrimSpace(f.held.Text))
	s = strings.Trim(s, "-—–－ ·.|第页頁共of/page")
	return len(s) <= 12 && strings.ContainsFunc(s, unicode.IsDigit) && strings.Trim(s, "0123456789 /-页頁第共of，,") == ""
}

// rowText takes text and heading out of a JSON row: a string, or an object with
// one of the usual field names.
func rowText(raw []byte) (text, heading string) {
	if json.Unmarshal(raw, &text) == nil {
		return strings.TrimSpace(text), ""
	}
	var row map[string]json.RawMessage
	if json.Unmarshal(raw, &row) != nil {
		return "", ""
	}
	field := func(names ...string) string {
		for _, n := range names {
			var s string
			if json.Unmarshal(row[n], &s) == nil && strings.TrimSpace(s) != "" {
				return strings.TrimSpace(s)
			}
		}
		return ""
	}
	return field("text", "content", "body", "正文", "内容"), field("title", "heading", "标题", "章节")
}
