package benchmark

import (
	"fmt"
	"strings"
)

// A Rule reads the answer letter out of a reply. Rules never change: another
// behaviour is another version.
type Rule struct {
	Name    string // bracket_first
	Version int    // from 1
	Since   string // the EvalScope versions that read so
	find    func(text string) (at int)
}

// String writes name@version: bracket_first@1.
func (r Rule) String() string { return fmt.Sprintf("%s@%d", r.Name, r.Version) }

// Extract returns the letter and the byte range of its bracket; an empty
// letter and zeros when there is none.
func (r Rule) Extract(text string) (letter string, start, end int) {
	i := r.find(text)
	if i < 0 {
		return "", 0, 0
	}
	return text[i+1 : i+2], i, i + 3
}

// Rules returns the extraction rules.
func Rules() []Rule {
	return []Rule{
		{Name: "bracket_first", Version: 1, Since: "evalscope 1.4.2–1.6.1", find: bracketFirst},
		{Name: "bracket_last", Version: 1, Since: "evalscope 1.7.0–", find: bracketLast},
	}
}

// LookupRule finds a rule by name@version; the name alone is its first version.
func LookupRule(s string) (Rule, bool) {
	for _, r := range Rules() {
		if s == r.String() || s == r.Name {
			return r, true
		}
	}
	return Rule{}, false
}

// isBracket reports whether [A], [B], [C] or [D] stands at i. The brackets and
// letters are ASCII, so no UTF-8 sequence can be cut by looking at bytes.
func isBracket(s string, i int) bool {
	return i+2 < len(s) && s[i] == '[' && s[i+1] >= 'A' && s[i+1] <= 'D' && s[i+2] == ']'
}

// bracketFirst is EvalScope 1.4.2's re.search(r'\[([A-D])\]').
func bracketFirst(s string) int {
	for i := 0; ; i++ {
		n := strings.IndexByte(s[i:], '[')
		if n < 0 {
			return -1
		}
		if i += n; isBracket(s, i) {
			return i
		}
	}
}

// bracketLast is the last such match, as EvalScope reads from 1.7.0 on.
func bracketLast(s string) int {
	for end := len(s); ; {
		i := strings.LastIndexByte(s[:end], '[')
		if i < 0 || isBracket(s, i) {
			return i
		}
		end = i
	}
}
