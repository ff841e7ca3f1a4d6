package contam

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// lineSure is the similarity from which a line that holds nothing but a stem
	// is that stem.
	lineSure = 0.9
	// lineLabel is how many letters and digits of a number or key may stand
	// before the stem on its line: Q12: or "question":.
	lineLabel = 10
	// lineReach bytes on either side of a stem are read for the rest of its line.
	lineReach = 256
	// entryEnds are the signs that end an entry of a list, besides a line: quotes
	// of a string and borders of a table's cell.
	entryEnds = "\n\t|\"'`"
)

// ownLine reports whether a line, a string or a cell of the text is the stem and
// nothing else but marks, a number or key before it and one letter behind: an
// entry of a list of questions, in whatever notation. A rule that the stem quotes
// goes on behind it, or has the label of its clause before it.
func (e *evidence) ownLine() bool {
	if e.line == unknown {
		e.line = truthOf(e.standsAsLine())
	}
	return e.line == yes
}

func (e *evidence) standsAsLine() bool {
	from, to := e.region[0], e.region[1]
	if to == 0 || e.how != asPieces || e.stem < lineSure || e.fieldOf(from) != e.fieldOf(to-1) {
		return false
	}
	if to-from > e.it.stemLen+e.stemDist+2*e.it.statements {
		return false // something stands in its blanks
	}
	return e.entryBegins(e.head()) && e.entryCloses(e.tail(lineReach))
}

// entryBegins reports whether an entry begins where head ends.
func (e *evidence) entryBegins(head []byte) bool {
	head = head[max(0, len(head)-lineReach):]
	line := readable(e.plain[:0], head)
	e.plain = line
	if open := bytes.TrimRightFunc(line, isMark); len(open) == 0 || strings.IndexByte(entryEnds, open[len(open)-1]) >= 0 {
		return true
	}
	line = line[bytes.LastIndexAny(line, "\n\t|")+1:]
	return entryLabel(line) && !clause(head)
}

// isMark reports whether r is no letter and ends no entry.
func isMark(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune(entryEnds, r)
}

// entryCloses reports whether an entry ends where tail begins, with at most the
// letter of an answer behind it.
func (e *evidence) entryCloses(tail []byte) bool {
	e.plain = readable(e.plain[:0], tail)
	rest := bytes.TrimLeftFunc(e.plain, isMark)
	if len(rest) == 0 || strings.IndexByte(entryEnds, rest[0]) >= 0 {
		return true
	}
	line, _, _ := bytes.Cut(rest, []byte("\n"))
	return signs(line, 2) <= 1
}

// readable appends text to out with its escapes and character references decoded, line
// ends where a tag or an escape begins a line, and without other markup.
func readable(out, text []byte) []byte {
	for i := 0; i < len(text); {
		if n := skipMarkup(text[i:]); n > 0 {
			if beginsLine(text[i : i+n]) {
				out = append(out, '\n')
			}
			i += n
			continue
		}
		r, n := sign(text, i)
		if n == 0 {
			r, n = utf8.DecodeRune(text[i:])
		}
		out = utf8.AppendRune(out, r)
		i += n
	}
	return out
}

// signs counts the letters and digits in text, no more than most.
func signs(text []byte, most int) int {
	n := 0
	for i := 0; i < len(text) && n < most; {
		r, size := utf8.DecodeRune(text[i:])
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			n++
		}
		i += size
	}
	return n
}

// entryLabel reports whether label, what stands before a stem on its line, is
// that of an entry of a list, or nothing. The number of a clause, 5.3, is not.
func entryLabel(label []byte) bool {
	n := signs(label, lineLabel+1)
	if n == 0 {
		return true
	}
	label = bytes.TrimRight(label, " \t　")
	last, _ := utf8.DecodeLastRune(label)
	if n > lineLabel || unicode.IsLetter(last) && last != '题' || unicode.IsDigit(last) {
		return false
	}
	for i := 1; i+1 < len(label); i++ {
		if label[i] == '.' && asciiDigit(label[i-1]) && asciiDigit(label[i+1]) {
			return false
		}
	}
	return true
}

func asciiDigit(c byte) bool { return c >= '0' && c <= '9' }
