package contam

import (
	"slices"

	"github.com/drydock-ml/drydock"
)

// Blind returns the items whose verbatim copy, stem and options, would not fail
// the check at these settings, found by checking such a copy. A check is only
// worth what this list is short; for a sound benchmark it is empty. It is found
// once, and the caller must not change it.
func (ix *Index) Blind() []ItemRef { return ix.blind() }

// BlindStems returns the items, besides those of [Index.Blind], whose stem alone,
// without its options, would not fail the check: the very short ones.
func (ix *Index) BlindStems() []ItemRef {
	blind := ix.Blind()
	return slices.DeleteFunc(ix.unseen(false), func(r ItemRef) bool { return slices.Contains(blind, r) })
}

// unseen returns the items that do not fail when only their stem is given, or
// with options, when they are given whole.
func (ix *Index) unseen(options bool) []ItemRef {
	s := ix.Scanner()
	var out []ItemRef
	n := 0
	for _, set := range ix.sets {
		for i := range set.Items {
			q := &set.Items[i].Question
			r := drydock.Record{Question: &drydock.Question{Kind: q.Kind, Stem: q.Stem}}
			if options {
				r.Question.Options = q.Options
			}
			s.begin()
			s.addRecord(&r)
			s.findOnly(uint32(n))
			if !s.failsAs(uint32(n)) {
				out = append(out, ItemRef{set.Ref.Name, ix.items[n].index})
			}
			n++
		}
	}
	return out
}

// findOnly is find for one item: what else the record holds does not change what
// becomes of it.
func (s *Scanner) findOnly(i uint32) {
	if len(s.text.letters) > blockLen {
		s.find()
		return
	}
	s.scan()
	clear(s.best)
	s.order = s.order[:0]
	t := &s.ix.seeds
	var marks []mark
	var stem, opt float32
	for _, h := range s.hits {
		idf, posts := t.of(h.seed)
		for _, p := range posts {
			if p.item() == i {
				m := markOf(h.end, idf, p)
				marks = append(marks, m)
				stem, opt = stem+m.stem, opt+m.opt
			}
		}
	}
	if s.ix.needs[i].met(stem, opt) {
		s.windows(i, marks)
	}
}

// failsAs reports whether the record just searched fails the check as item i.
func (s *Scanner) failsAs(i uint32) bool {
	s.unfolded.reset(s.fields, len(s.text.letters))
	for m := range s.places(i) {
		e := s.located(i, m)
		if verdict, _ := s.judge(e); slices.Contains(e.it.limits.Fail, verdict) {
			return true
		}
	}
	return false
}
