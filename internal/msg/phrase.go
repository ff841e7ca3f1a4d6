package msg

import (
	"slices"
	"strconv"
	"strings"
)

// A Phrase is a text with what fills its verbs, to be said when the reader's
// language is known.
type Phrase struct {
	Text Text
	Args []any
}

// In says the phrase in a language.
func (p Phrase) In(l Lang) string { return p.Text.Format(l, p.Args...) }

// A List is names, said one behind the other: with ", " in English, "、" in
// Chinese.
type List []string

// In says the list in a language.
func (s List) In(l Lang) string { return strings.Join(s, Text{", ", "、"}.In(l)) }

// Few is the list of the first names, with an ellipsis where there are more than
// most.
func Few(names []string, most int) List {
	if len(names) > most {
		names = append(slices.Clone(names[:most]), "…")
	}
	return names
}

// Numbers is a list of numbers.
func Numbers(n []int) List {
	s := make(List, len(n))
	for i, v := range n {
		s[i] = strconv.Itoa(v)
	}
	return s
}
