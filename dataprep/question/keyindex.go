package question

import (
	"slices"
	"strings"

	"github.com/drydock-ml/drydock"
)

// An index finds the sections that a key's label may mean, so that a bank of many
// parts with a key for each is joined in one pass.
type index struct {
	chapter, article, part map[int][]*section
	form                   map[drydock.QuestionKind][]*section
	title                  map[string][]*section
	all                    []*section
}

// maxSuffix is how many sections are searched for one whose title only ends as the
// label of a key reads; among more of them titles must be equal.
const maxSuffix = 1000

// indexSections indexes sections; a label finds them in their order.
func indexSections(sections []*section) *index {
	x := &index{
		chapter: map[int][]*section{}, article: map[int][]*section{}, part: map[int][]*section{},
		form: map[drydock.QuestionKind][]*section{}, title: map[string][]*section{}, all: slices.Clone(sections),
	}
	for _, s := range sections {
		x.chapter[s.path.chapter] = append(x.chapter[s.path.chapter], s)
		x.article[s.path.article] = append(x.article[s.path.article], s)
		x.form[s.path.form] = append(x.form[s.path.form], s)
		for _, n := range s.path.parts() {
			x.part[n] = append(x.part[n], s)
		}
		for _, t := range s.folded() {
			x.title[t] = append(x.title[t], s)
		}
	}
	return x
}

// candidates lists the sections among which are all that the label fits, and says
// how to put a shorter list in its place.
func (x *index) candidates(l keyLabel) (list []*section, set func([]*section)) {
	byNumber := func(m map[int][]*section, n int) ([]*section, func([]*section)) {
		return m[n], func(s []*section) { m[n] = s }
	}
	switch {
	case l.article > 0:
		return byNumber(x.article, l.article)
	case l.chapter > 0:
		return byNumber(x.chapter, l.chapter)
	case l.part > 0:
		return byNumber(x.part, l.part)
	case l.isForm:
		return x.form[l.form], func(s []*section) { x.form[l.form] = s }
	case l.title != "" && len(x.all) > maxSuffix:
		t := fold(l.title)
		return x.title[t], func(s []*section) { x.title[t] = s }
	}
	return x.all, func(s []*section) { x.all = s }
}

// open lists the sections that the label fits, that ask something and have no key,
// most of them at most. Those that have their key leave the index on the way.
func (x *index) open(l keyLabel, most int) []*section {
	list, set := x.candidates(l)
	var found []*section
	n := 0
	for i, s := range list {
		if len(found) == most {
			n += copy(list[n:], list[i:])
			break
		}
		if s.keyed {
			continue
		}
		list[n] = s
		n++
		if s.fits(l) && s.questions() > 0 {
			found = append(found, s)
		}
	}
	set(list[:n])
	return found
}

// parts are the numbers by which a key may name a part: 一、.
func (p path) parts() []int {
	var out []int
	for _, t := range [...]string{p.formTitle, p.title, p.chapterTitle} {
		n := 0
		if m := scanNumber(t); m.style == numHan {
			n = m.n
		}
		own, _ := labelPart(t)
		for _, v := range [...]int{n, own.part} {
			if v > 0 && !slices.Contains(out, v) {
				out = append(out, v)
			}
		}
	}
	return out
}

// folded are the titles by which a key may name the section, made comparable, each
// once.
func (s *section) folded() []string {
	if s.titles == nil {
		s.titles = []string{}
		for _, t := range [...]string{s.path.title, s.path.articleTitle, s.path.subTitle, s.path.chapterTitle} {
			if t == "" {
				continue
			}
			if t = fold(t); !slices.Contains(s.titles, t) {
				s.titles = append(s.titles, t)
			}
		}
	}
	return s.titles
}

// titled reports a title of the section that is, or ends as, the label reads.
func (s *section) titled(label string) bool {
	return slices.ContainsFunc(s.folded(), func(have string) bool { return strings.HasSuffix(have, label) })
}
