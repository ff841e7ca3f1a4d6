package launch

import (
	"strings"

	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
)

// commandEnd is a word that stands for what ends a command in a shell script: a
// line end, ;, & and |. No word of a script is equal to it.
const commandEnd = "\n"

// shellWords parts a shell script into words as a POSIX shell does: quotes and
// backslashes are taken off, comments are left out. Nothing is expanded: $NAME stays
// as it is. The error is of kind config and names the line.
func shellWords(src string) ([]string, *fail.Error) {
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
			n := quotedWord(&word, src[i:])
			if n == 0 {
				return nil, fail.New(fail.Config, msg.Text{"a quote is not closed", "引号未闭合"}).
					At(fail.Where{Line: 1 + strings.Count(src[:i], "\n")})
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

// quotedWord appends a text in quotes without them, and returns its length with them;
// 0: the quote is not closed.
func quotedWord(dst *strings.Builder, src string) int {
	for i := 1; i < len(src); i++ {
		switch {
		case src[i] == src[0]:
			return i + 1
		case src[0] == '"' && src[i] == '\\' && i+1 < len(src) && strings.IndexByte("\"\\$`\n", src[i+1]) >= 0:
			if i++; src[i] != '\n' {
				dst.WriteByte(src[i])
			}
		default:
			dst.WriteByte(src[i])
		}
	}
	return 0
}
