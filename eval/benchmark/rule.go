package benchmark

import (
	"fmt"
	"slices"
	"strings"
)

// A Rule reads the answer out of a reply. Rules never change: another behaviour
// is another version.
type Rule struct {
	Name    string // bracket_first
	Version int    // from 1
	Since   string // the EvalScope versions that read so; empty: none does
	// Several tells that the rule can read several letters as one answer.
	Several bool
	read    func(text string, options int, several bool) reading
}

// A reading is what a rule makes of a text.
type reading struct {
	letters    string // in the order of the alphabet, each once; "" for none
	start, end int    // where they stand; both 0 for none
}

// String writes name@version: bracket_first@1.
func (r Rule) String() string { return fmt.Sprintf("%s@%d", r.Name, r.Version) }

// Extract returns the letter and the byte range it was read from, bracket to
// bracket; an empty letter and zeros when there is none. Rules that look at the
// options take there to be as many as there are letters.
func (r Rule) Extract(text string) (letter string, start, end int) {
	return r.extract(text, maxOptions, false)
}

func (r Rule) extract(text string, options int, several bool) (letters string, start, end int) {
	got := r.read(text, options, several)
	return got.letters, got.start, got.end
}

// Rules returns the extraction rules. The ones called answer read what EvalScope's
// general prompts ask for, 答案：A or ANSWER: A, and take the last capital letter
// of a reply that has no such line.
func Rules() []Rule {
	return []Rule{
		{Name: "bracket_first", Version: 1, Since: "evalscope 1.4.2–1.6.1", read: firstBracket('D')},
		{Name: "bracket_last", Version: 1, Since: "evalscope 1.7.0–", read: lastBracket('D')},
		{Name: "bracket_first", Version: 2, read: firstBracket('J')},
		{Name: "bracket_last", Version: 2, read: lastBracket('J')},
		{Name: "answer_zh_first", Version: 1, Since: "evalscope 1.4.2", Several: true, read: answerFirst(markersZH())},
		{Name: "answer_zh_last", Version: 1, Several: true, read: answerLast(markersZH())},
		{Name: "answer_en_first", Version: 1, Since: "evalscope 1.4.2", Several: true, read: answerFirst(markersEN())},
		{Name: "answer_en_last", Version: 1, Several: true, read: answerLast(markersEN())},
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

// isBracket reports whether a letter from A to last stands in brackets at i. They
// are ASCII, so no UTF-8 sequence can be cut by looking at bytes.
func isBracket(s string, i int, last byte) bool {
	return i+2 < len(s) && s[i] == '[' && s[i+1] >= 'A' && s[i+1] <= last && s[i+2] == ']'
}

func bracketAt(s string, i int) reading {
	return reading{letters: s[i+1 : i+2], start: i, end: i + 3}
}

// firstBracket reads the first letter in brackets: up to D it is EvalScope
// 1.4.2's re.search(r'\[([A-D])\]').
func firstBracket(last byte) func(string, int, bool) reading {
	return func(s string, _ int, _ bool) reading {
		for i := 0; ; i++ {
			n := strings.IndexByte(s[i:], '[')
			if n < 0 {
				return reading{}
			}
			if i += n; isBracket(s, i, last) {
				return bracketAt(s, i)
			}
		}
	}
}

// lastBracket reads the last such letter, as EvalScope does from 1.7.0 on.
func lastBracket(last byte) func(string, int, bool) reading {
	return func(s string, _ int, _ bool) reading {
		for end := len(s); ; {
			i := strings.LastIndexByte(s[:end], '[')
			if i < 0 {
				return reading{}
			}
			if isBracket(s, i, last) {
				return bracketAt(s, i)
			}
			end = i
		}
	}
}

// inOrder returns letters in the order of the alphabet, each once.
func inOrder(letters []byte) string {
	slices.Sort(letters)
	return string(slices.Compact(letters))
}
