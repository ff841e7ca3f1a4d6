package contam

// hopeless reports whether verify would neither call the window the item nor
// show it. Most candidates are of that kind, so this asks for distances only,
// two pieces at a time, of stem or options first, and stops as soon as the answer
// is known. Where stem, the part of the window in which the item's stem is looked
// for, is all of it, this never says so of a window that verify would take: the
// distances are the same, and options are searched here with the stem still in
// place, which can only bring them nearer.
func (s *Scanner) hopeless(it *item, stem, window []letter, withOptions bool) bool {
	if withOptions && !s.fewOptions(it, window) {
		return false
	}
	if it.stemLen == 0 {
		return withOptions || s.fewOptions(it, window)
	}
	c, base := it.limits, chance(it.latin)
	const rounding = 1e-9
	alone := min(c.StemSame, max(c.StemShown, base+c.StemWithOptions*(1-base))) - rounding
	least := alone
	if !withOptions {
		least = min(least, base+c.StemWithAllOptions*(1-base)-rounding)
	}
	near := &nearness{s.m, it.stem, stem, s.dists[:0]}
	dist, ok := near.sum(0, len(it.stem), int((1-least)*float64(it.stemLen)))
	s.dists = near.dist
	if !ok {
		return true
	}
	same := 1 - float64(dist)/float64(it.stemLen)
	if dist == 0 || same >= alone && same*float64(it.stemMass) >= c.StemNats {
		return false
	}
	return withOptions || s.fewOptions(it, window)
}

// fewOptions reports whether so few options stand in the window that they decide
// nothing.
func (s *Scanner) fewOptions(it *item, window []letter) bool {
	c := it.limits
	telling := it.telling()
	near := &nearness{s.m, it.all[len(it.stem):], window, s.dists[:0]}
	defer func() { s.dists = near.dist }()
	least := min(c.OptionsNear, c.OptionsOnly) * float64(telling)
	have, left := 0, telling
	inOrder := true
	at := 0
	for i := range it.options {
		o := &it.options[i]
		if len(o.letters) == 0 {
			continue
		}
		d, ok := near.sum(at, at+len(o.pieces), tolerance(len(o.letters), it.latin))
		at += len(o.pieces)
		inOrder = inOrder && ok && d == 0
		if !o.trivial {
			left--
			if ok {
				have++
			}
		}
		if !inOrder && float64(have+left) < least {
			return true
		}
	}
	return !inOrder && (telling == 0 || float64(have) < least)
}
