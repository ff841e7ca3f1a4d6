package launch

import (
	"errors"
	"strings"
)

// commandEnd is a word that stands for what ends a command in a shell script: a
// line end, ;, & and |. No word of a script is equal to it.
const commandEnd = "\n"

// shellWords parts a shell script into words as a POSIX shell does: quotes and
// backslashes are taken off, comments are left out. Nothing is expanded: $NAME stays
// as it is.
func shellWords(src string) ([]string, error) {
	var words []string
	var word strings.Builder
	inWord := false
	end := func() {
		if inWord {
			words = append(words, word.String())
		}
		word.Reset()
		inWord = false
	}
	for i := 0; i < len(src); i++ {
		switch c := src[i]; {
		case c == '\\' && strings.HasPrefix(src[i+1:], "\r\n"):
			i += 2
		case c == '\\' && i+1 < len(src):
			if i++; src[i] != '\n' {
				word.WriteByte(src[i])
				inWord = true
			}
		case c == '\'' || c == '"':
			n, err := quotedWord(&word, src[i:])
			if err != nil {
				return nil, err
			}
			i, inWord = i+n-1, true
		case c == '#' && !inWord:
			n := strings.IndexByte(src[i:], '\n')
			if n < 0 {
				n = len(src) - i
			}
			i += n - 1
		case c == ' ' || c == '\t' || c == '\r':
			end()
		case strings.IndexByte("\n;&|", c) >= 0:
			end()
			words = append(words, commandEnd)
		default:
			word.WriteByte(c)
			inWord = true
		}
	}
	end()
	return words, nil
}

// quotedWord appends a text in quotes without them, and returns its length with them.
func quotedWord(dst *strings.Builder, src string) (int, error) {
	for i := 1; i < len(src); i++ {
		switch {
		case src[i] == src[0]:
			return i + 1, nil
		case src[0] == '"' && src[i] == '\\' && i+1 < len(src) && strings.IndexByte("\"\\$`\n", src[i+1]) >= 0:
			if i++; src[i] != '\n' {
				dst.WriteByte(src[i])
			}
		default:
			dst.WriteByte(src[i])
		}
	}
	return 0, errors.New("a quote is not closed")
}
