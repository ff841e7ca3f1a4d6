package contam

// hopeless reports whether verify would neither call the window the item nor
// show it. Most candidates are of that kind, so this asks for distances only,
// two pieces at a time, and stops as soon as the answer is known. It never says
// so of a window that verify would take: the distances are the same, and options
// are searched here with the stem still in place, which can only bring them
// nearer.
func (s *Scanner) hopeless(it *item, window []letter, withOptions bool) bool {
	c := it.limits
	base := chance(it.latin)
	far := it.stemLen + 1
	if !withOptions {
		far = int((1-c.StemWithAllOptions)*(1-base)*float64(it.stemLen)) + 1
	}
	near := &nearness{s.m, it.all, window, s.dists[:0]}
	defer func() { s.dists = near.dist }()
	dist, ok := near.sum(0, len(it.stem), far)
	if !ok {
		return true
	}
	stem := 0.0
	if it.stemLen > 0 {
		stem = 1 - float64(dist)/float64(it.stemLen)
	}
	above := max(0, (stem-base)/(1-base))
	nats := stem * float64(it.stemMass)
	switch {
	case above < c.StemWithAllOptions && !withOptions:
		return true
	case dist == 0 && it.stemLen > 0, stem >= c.StemSame && nats >= c.StemNats,
		stem >= c.StemShown && above >= c.StemWithOptions && nats >= c.StemNats:
		return false
	}
	return fewOptions(it, near)
}

// fewOptions reports whether so few options stand in the window that they decide
// nothing.
func fewOptions(it *item, near *nearness) bool {
	c := it.limits
	telling := 0
	for i := range it.options {
		if o := &it.options[i]; len(o.letters) > 0 && !o.trivial {
			telling++
		}
	}
	least := min(c.OptionsNear, c.OptionsOnly) * float64(telling)
	have, left := 0, telling
	inOrder := true
	at := len(it.stem)
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
