package benchmark

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// markers are the words before an answer.
type markers struct {
	word   string // without a colon
	colons string // what may stand for one
	fold   bool   // in any case
	// strict: of several, one at the begin of a line whose answer ends the line
	// goes first, as EvalScope 1.4.2 reads English.
	strict bool
}

func markersZH() markers { return markers{word: "答案", colons: ":："} }

func markersEN() markers { return markers{word: "ANSWER", colons: ":", fold: true, strict: true} }

// A marked is a place where an answer is announced.
type marked struct {
	start int // of the word
	after int // where the answer begins, spaces skipped
}

// find lists the announcements in a text.
func (m markers) find(text string) []marked {
	var out []marked
	for i := 0; i+len(m.word) <= len(text); i++ {
		at := text[i : i+len(m.word)]
		if at != m.word && !(m.fold && strings.EqualFold(at, m.word)) {
			continue
		}
		j := skipSpace(text, i+len(m.word))
		r, n := utf8.DecodeRuneInString(text[j:])
		if n == 0 || !strings.ContainsRune(m.colons, r) {
			continue
		}
		out = append(out, marked{i, skipSpace(text, j+n)})
	}
	return out
}

// answerFirst reads as EvalScope 1.4.2: letters, digits, spaces and commas after
// the first announcement. When they are no offered option there is no answer; when
// nothing is announced, the last capital letter of the text is the answer, whether
// it was offered or not.
func answerFirst(m markers) func(string, int, bool) reading {
	return func(text string, options int, several bool) reading {
		at, end, ok := m.first(text)
		if !ok {
			return lastCapital(text, maxOptions)
		}
		letters, ok := offered(strings.TrimSpace(text[at.after:end]), options, several)
		if !ok {
			return reading{}
		}
		return reading{letters, at.start, end}
	}
}

// first returns the announcement that counts, and where its answer ends.
func (m markers) first(text string) (at marked, end int, ok bool) {
	found := m.find(text)
	if m.strict {
		for _, f := range found {
			end := answerEnd(text, f.after, " ")
			begins := f.start == 0 || text[f.start-1] == '\n'
			ends := end == len(text) || text[end] == '\n' || text[end] == '.' || (text[end] == '\r' && strings.HasPrefix(text[end:], "\r\n"))
			if begins && ends && end > f.after {
				return f, end, true
			}
		}
	}
	for _, f := range found {
		inner := ""
		if m.strict {
			inner = " "
		}
		if end := answerEnd(text, f.after, inner); end > f.after {
			return f, end, true
		}
	}
	return at, 0, false
}

// answerEnd returns where letters, digits, commas and the extra characters end.
func answerEnd(text string, from int, extra string) int {
	for i, r := range text[from:] {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == ',', r == '，', strings.ContainsRune(extra, r):
		default:
			return from + i
		}
	}
	return len(text)
}

// answerLast reads the last announcement that is followed by offered options, bare
// or in brackets or asterisks. When none is, the last capital letter of the text is
// the answer if it was offered.
func answerLast(m markers) func(string, int, bool) reading {
	return func(text string, options int, several bool) reading {
		found := m.find(text)
		for i := len(found) - 1; i >= 0; i-- {
			at := found[i]
			from := skipSpace(text, len(text)-len(strings.TrimLeft(text[at.after:], "*")))
			if r, n := utf8.DecodeRuneInString(text[from:]); n > 0 && strings.ContainsRune("([（【", r) {
				from = skipSpace(text, from+n)
			}
			end := from
			for end < len(text) && text[end] >= 'A' && int(text[end]-'A') < options || several && end > from && end < len(text) && strings.ContainsRune(", ，、", firstRune(text[end:])) {
				end += utf8.RuneLen(firstRune(text[end:]))
			}
			if letters, ok := offered(strings.Trim(text[from:end], ", ，、"), options, several); ok && !(end < len(text) && isASCIIWord(text[end])) {
				return reading{letters, at.start, end}
			}
		}
		return lastCapital(text, options)
	}
}

func firstRune(s string) rune {
	r, _ := utf8.DecodeRuneInString(s)
	return r
}

// offered reads the letters of options; more than one only where several may be
// right.
func offered(text string, options int, several bool) (letters string, ok bool) {
	var got []byte
	for _, r := range text {
		switch {
		case r >= 'A' && int(r-'A') < options:
			got = append(got, byte(r))
		case several && strings.ContainsRune(", ，、", r):
		default:
			return "", false
		}
	}
	if len(got) == 0 || len(got) > 1 && !several {
		return "", false
	}
	return inOrder(got), true
}

// lastCapital reads the last capital letter of a text. EvalScope takes any
// script's; one that names no option is no answer here, and counts the same.
func lastCapital(text string, options int) reading {
	for i := len(text); i > 0; {
		r, n := utf8.DecodeLastRuneInString(text[:i])
		i -= n
		if !unicode.IsUpper(r) {
			continue
		}
		if r > 'Z' || int(r-'A') >= options {
			return reading{}
		}
		return reading{string(r), i, i + n}
	}
	return reading{}
}
