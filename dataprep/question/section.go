package question

import (
	"slices"
	"strings"

	"github.com/drydock-ml/drydock"
)

// A path is where in a bank a section stands. The key of a question is
// (chapter, article, subsection, number).
type path struct {
	chapter, article, sub                       int
	chapterTitle, articleTitle, title, subTitle string
	formTitle                                   string
	form                                        drydock.QuestionKind
	isForm                                      bool
}

// subject is the path as titles, outermost first.
func (p path) subject() []string {
	var out []string
	for _, t := range [...]string{p.chapterTitle, p.articleTitle, p.title, p.subTitle} {
		if t != "" {
			out = append(out, t)
		}
	}
	return out
}

// titles is the path as titles with the kind of item at its end.
func (p path) titles() []string {
	out := p.subject()
	if p.formTitle != "" {
		out = append(out, p.formTitle)
	}
	return out
}

// A section is a run of items between two headings.
type section struct {
	path  path
	items []*item
	keyed bool
	tally tally
	// titles are its titles made comparable; nil until asked for, see folded.
	titles []string
}

// questions counts the items that are no headings.
func (s *section) questions() int {
	n := 0
	for _, it := range s.items {
		if !it.heading {
			n++
		}
	}
	return n
}

// waits reports a section with an item that has no answer beside it.
func (s *section) waits() bool {
	return slices.ContainsFunc(s.items, func(it *item) bool { return !it.heading && !it.solved })
}

// fits reports whether a key's label may mean this section.
func (s *section) fits(l keyLabel) bool {
	if l.chapter > 0 && l.chapter != s.path.chapter {
		return false
	}
	if l.article > 0 && l.article != s.path.article {
		return false
	}
	if l.part > 0 {
		for _, t := range [...]string{s.path.formTitle, s.path.title, s.path.chapterTitle} {
			if m := scanNumber(t); m.style == numHan && m.n == l.part {
				return true
			}
			if own, _ := labelPart(t); own.part == l.part {
				return true
			}
		}
		return false
	}
	if l.isForm {
		if l.form != "" {
			return s.path.form == l.form
		}
		return s.path.isForm && s.path.form == ""
	}
	if l.chapter == 0 && l.article == 0 && l.title != "" {
		return s.titled(fold(l.title))
	}
	return true
}

// fold makes titles comparable: no blanks, no punctuation at the ends.
func fold(s string) string {
	return strings.ToLower(strings.Map(func(r rune) rune {
		if isSpace(r) || strings.ContainsRune("：:、.．", r) {
			return -1
		}
		return r
	}, s))
}
