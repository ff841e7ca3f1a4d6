package ui

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/mattn/go-runewidth"
)

// condition is fixed, unlike runewidth's own default, which reads the
// environment: the same text is laid out alike everywhere.
func condition() *runewidth.Condition { return &runewidth.Condition{StrictEmojiNeutral: true} }

// Width returns the columns s takes on a terminal: 2 for a Chinese character
// or a full-width sign, 0 for a combining mark.
func Width(s string) int {
	ascii := true
	for i := 0; i < len(s); i++ {
		if s[i] < 0x20 || s[i] >= 0x7f {
			ascii = false
			break
		}
	}
	if ascii {
		return len(s)
	}
	return condition().StringWidth(stripSGR(s))
}

// Pad fills s with spaces up to width columns.
func Pad(s string, width int) string {
	if n := width - Width(s); n > 0 {
		return s + strings.Repeat(" ", n)
	}
	return s
}

// PadLeft puts spaces before s up to width columns.
func PadLeft(s string, width int) string {
	if n := width - Width(s); n > 0 {
		return strings.Repeat(" ", n) + s
	}
	return s
}

// Truncate cuts s to width columns, ending it with … when something is gone.
func Truncate(s string, width int) string {
	if Width(s) <= width {
		return s
	}
	if width < 1 {
		return ""
	}
	return condition().Truncate(s, width, "…")
}

// Wrap breaks text into lines of at most width columns: at spaces, or between
// Chinese characters, never before closing punctuation. A line end in the text
// stays; a word longer than a line stands alone.
func Wrap(text string, width int) []string {
	var lines []string
	for para := range strings.SplitSeq(text, "\n") {
		lines = append(lines, wrapLine(para, width)...)
	}
	carryColor(lines)
	return lines
}

// carryColor ends a colour with its line and begins it again on the next, so that
// a line can be moved, set in or left out.
func carryColor(lines []string) {
	open := ""
	for i, l := range lines {
		before := open
		for k := 0; k < len(l); k++ {
			if n := sgrLen(l[k:]); n > 0 {
				if open = l[k : k+n]; open == reset {
					open = ""
				}
				k += n - 1
			}
		}
		if l = before + l; open != "" {
			l += reset
		}
		lines[i] = l
	}
}

func wrapLine(s string, width int) []string {
	var (
		lines []string
		line  strings.Builder
		w     int
	)
	for _, word := range breakWords(s) {
		ww := Width(word)
		if w > 0 && w+Width(strings.TrimRight(word, " ")) > width {
			lines = append(lines, strings.TrimRight(line.String(), " "))
			line.Reset()
			w = 0
		}
		line.WriteString(word)
		w += ww
	}
	return append(lines, strings.TrimRight(line.String(), " "))
}

// breakWords cuts s after every space and around every wide character, keeping
// closing signs with what they close and opening ones with what they open.
func breakWords(s string) []string {
	var (
		words []string
		start int
	)
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		next, _ := utf8.DecodeRuneInString(s[i+n:])
		i += n
		if i == len(s) {
			break
		}
		wide := isWide(r) || isWide(next)
		if (r == ' ' && next != ' ') || (wide && r != ' ' && !closes(next) && !opens(r)) {
			words = append(words, s[start:i])
			start = i
		}
	}
	return append(words, s[start:])
}

// isWide tells a character that a line may be broken beside. Full-width letters
// and digits make words, like those they stand for.
func isWide(r rune) bool {
	if r >= 0xff10 && r <= 0xff5a && (unicode.IsLetter(r) || unicode.IsDigit(r)) {
		return false
	}
	return r >= 0x2e80 && condition().RuneWidth(r) == 2
}

func closes(r rune) bool {
	return strings.ContainsRune("，。、；：．？！）】》」』”’…%,.;:?!)]}", r) || unicode.Is(unicode.Mn, r)
}

func opens(r rune) bool { return strings.ContainsRune("（【《「『“‘([{", r) }

// Clean replaces control characters, which could move the cursor or hide text
// when a source file holds them, except tab, line end and our own colours.
func Clean(s string) string {
	bad := func(r rune) bool {
		return (unicode.IsControl(r) && r != '\n' && r != '\t') || isBidi(r)
	}
	if strings.IndexFunc(s, bad) < 0 {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		if n := sgrLen(s[i:]); n > 0 {
			b.WriteString(s[i : i+n])
			i += n
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		if bad(r) {
			r = '\ufffd'
		}
		b.WriteRune(r)
		i += n
	}
	return b.String()
}

// isBidi tells the signs that reorder the text around them.
func isBidi(r rune) bool {
	return (r >= 0x202a && r <= 0x202e) || (r >= 0x2066 && r <= 0x2069)
}

// sgrLen returns the length of the colour sequence s begins with, 0 for none.
func sgrLen(s string) int {
	if !strings.HasPrefix(s, "\x1b[") {
		return 0
	}
	for i := 2; i < len(s) && i < 12; i++ {
		switch {
		case s[i] == 'm':
			return i + 1
		case s[i] != ';' && (s[i] < '0' || s[i] > '9'):
			return 0
		}
	}
	return 0
}

func stripSGR(s string) string {
	if !strings.Contains(s, "\x1b[") {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		if n := sgrLen(s[i:]); n > 0 {
			i += n
			continue
		}
		b.WriteByte(s[i])
		i++
	}
	return b.String()
}
