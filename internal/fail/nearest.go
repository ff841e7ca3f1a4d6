package fail

import (
	"strconv"
	"strings"

	"github.com/drydock-ml/drydock/internal/msg"
)

// Meant hints at what was probably meant, as it is to be written; "" adds nothing.
func (e *Error) Meant(what string) *Error {
	if what == "" {
		return e
	}
	return e.Hint(msg.Text{"did you mean %s?", "是否想写 %s？"}, what)
}

// Near hints at the name that word is probably meant to be; where none is near, it
// adds nothing.
func (e *Error) Near(word string, names []string) *Error { return e.NearOr(word, names, msg.Text{}) }

// NearOr is [Error.Near], and where no name is near it says all that there are:
// known takes them in its one %s.
func (e *Error) NearOr(word string, names []string, known msg.Text) *Error {
	switch near := Nearest(word, names); {
	case near != "":
		return e.Meant(strconv.Quote(near))
	case len(names) > 0 && known != msg.Text{}:
		return e.Hint(known, msg.List(names))
	}
	return e
}

// Nearest returns the candidate a typing mistake away from word, or "".
func Nearest(word string, candidates []string) string {
	best, at := "", 1+len([]rune(word))/3
	for _, c := range candidates {
		if n := distance([]rune(strings.ToLower(word)), []rune(strings.ToLower(c))); n <= at && (best == "" || n < at) {
			best, at = c, n
		}
	}
	return best
}

// distance counts insertions, deletions, substitutions and swaps of neighbours.
func distance(a, b []rune) int {
	var prev2, prev []int
	cur := make([]int, len(b)+1)
	for j := range cur {
		cur[j] = j
	}
	for i := 1; i <= len(a); i++ {
		prev2, prev, cur = prev, cur, make([]int, len(b)+1)
		cur[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			cur[j] = min(prev[j]+1, cur[j-1]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				cur[j] = min(cur[j], prev2[j-2]+1)
			}
		}
	}
	return cur[len(b)]
}
