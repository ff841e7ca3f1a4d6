package contam

import "slices"

// once reports whether the letters still make a match the item where each of them
// counts for one part of it only. verify searches the pieces of a stem each by
// itself, and a stem that is far off in the whole window: a stem with two parts
// alike is found in one of them twice, and one that speaks as its options do is
// found in these.
func (s *Scanner) once(e *evidence) bool {
	if e.stemDist == 0 || e.how == asBroken || e.apart {
		return e.same // so it is if no two parts want the same letters
	}
	pieces := e.it.stem
	if e.how == asClauses {
		pieces = e.it.clauses
	}
	s.work = append(s.work[:0], e.window...)
	order := make([]*piece, 0, len(pieces)) // a long one has but one place
	for i := range pieces {
		order = append(order, &pieces[i])
	}
	slices.SortStableFunc(order, func(a, b *piece) int { return len(b.letters) - len(a.letters) })
	dist := 0
	var far []*piece
	for _, p := range order {
		d, end := s.m.search(p.letters, s.work)
		if d*5 > len(p.letters)*2 {
			far = append(far, p)
			continue
		}
		s.blot(s.work, p.letters, place{dist: d, end: end})
		dist += d
	}
	if len(far) > 0 {
		s.blotOptions(e.it, s.work)
	}
	for _, p := range far {
		d, _ := s.m.search(p.letters, s.work)
		dist += d
	}
	m := e.match
	m.setStem(e.it, dist)
	m.decide(e.it, e.it.limits)
	return m.same || len(far) == 0 && dist-e.stemDist <= e.it.stemLen/10
}

// blotOptions overwrites the options, each at the last place where it stands: they
// follow their stem.
func (s *Scanner) blotOptions(it *item, w []letter) {
	for i := range it.options {
		o := &it.options[i]
		if o.trivial {
			continue
		}
		for k := range o.pieces {
			ls := o.pieces[k].letters
			if at := lastIndex(w, ls); at >= 0 {
				for n := range ls {
					w[at+n] = none
				}
			} else if d, end := s.m.search(ls, w); d <= tolerance(len(ls), it.latin) {
				s.blot(w, ls, place{dist: d, end: end})
			}
		}
	}
}

// lastIndex is strings.LastIndex for letters.
func lastIndex(w, ls []letter) int {
	for at := len(w) - len(ls); at >= 0; at-- {
		if slices.Equal(w[at:at+len(ls)], ls) {
			return at
		}
	}
	return -1
}
