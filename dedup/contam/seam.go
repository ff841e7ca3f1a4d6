package contam

import "slices"

// An item can be cut in two by where its text was cut: the end of one chunk and
// the begin of the next. Such a seam is looked at only where seeds of one item
// lie close to it on both sides, and only for items that neither record holds by
// itself.

const (
	// seamNear is how close to the cut, in letters, an item must have a seed
	// before it; behind it a heading or a label may stand first.
	seamNear   = 28
	seamBehind = 64
	// seamReach is how many letters on either side are kept.
	seamReach = 640
	// seamGap is how many letters may stand between what matched and the cut.
	seamGap = 24
	// leastOverlap is the fewest letters two chunks must share to overlap.
	leastOverlap = 3
	// seamLeast letters of the item must stand on either side.
	seamLeast = 3
)

// A kept record is what a scanner remembers of one for the seam with the next.
type kept struct {
	known  bool // there is such a record
	row    bool // its texts are those of a JSON row, still to be read
	id     string
	raw    []byte  // the row, else the texts of fields
	fields []field // without row: of raw
	n      int     // letters

	head, tail         []letter
	headHits, tailHits []hit    // ends counted in head and tail
	found, variants    []uint32 // items that fail it, and that it holds variants of
}

// Break says that the next record has none before it: a file begins. From then
// on the scanner remembers the record before, and [Scanner.Seam] may be asked.
func (s *Scanner) Break() {
	s.seams = true
	s.before.known, s.last.known = false, false
}

// Seam returns the items that begin in the record before the one checked last
// and end in that one, as where a text was cut into chunks: those that fail, and
// variants that neither record holds by itself. Two records that only stand beside
// each other have shared material enough. They belong to the
// record before: Record is its place and Next that of the one checked last, ids
// and pointers filled in, the rest for the caller. Without Break there is none.
func (s *Scanner) Seam() []Finding {
	a, b := &s.before, &s.last
	if !a.known || !b.known || len(a.tailHits) == 0 || len(b.headHits) == 0 {
		return nil
	}
	var out []Finding
	for _, i := range s.astride(a, b) {
		f, ok := s.join(a, b, i)
		if ok && (f.Fail || f.Verdict.variant() && !slices.Contains(a.variants, i) && !slices.Contains(b.variants, i)) {
			out = append(out, f)
		}
	}
	return out
}

// remember keeps what a seam needs of the record that was just checked.
func (s *Scanner) remember(row []byte, id string) {
	if !s.seams {
		return
	}
	s.before, s.last = s.last, s.before
	k := &s.last
	*k = kept{
		known: true, row: row != nil, id: id, n: len(s.text.letters), raw: k.raw[:0], fields: k.fields[:0],
		head: k.head[:0], tail: k.tail[:0], headHits: k.headHits[:0], tailHits: k.tailHits[:0],
		found: k.found[:0], variants: k.variants[:0],
	}
	n := int32(k.n)
	near, far := false, false
	for _, h := range s.hits {
		near = near || h.end <= seamBehind
		far = far || h.end > n-seamNear
	}
	from := max(0, k.n-seamReach)
	for _, h := range s.hits {
		if near && h.end <= seamReach {
			k.headHits = append(k.headHits, h)
		}
		if far && int(h.end) > from {
			k.tailHits = append(k.tailHits, hit{h.end - int32(from), h.seed})
		}
	}
	if !near && !far {
		return
	}
	k.head = append(k.head, s.text.letters[:min(k.n, seamReach)]...)
	k.tail = append(k.tail, s.text.letters[from:]...)
	k.found = append(k.found, s.failed...)
	k.variants = append(k.variants, s.variants...)
	if row != nil {
		k.raw = append(k.raw, row...)
		return
	}
	for _, f := range s.fields {
		at := len(k.raw)
		k.raw = append(k.raw, f.text...)
		k.fields = append(k.fields, field{first: at, text: k.raw[at:], pointer: f.pointer})
	}
}

// astride returns the items that have seeds close to the seam on both sides and
// fail on neither, rising.
func (s *Scanner) astride(a, b *kept) []uint32 {
	t := &s.ix.seeds
	left := s.left[:0]
	var out []uint32
	for _, h := range a.tailHits {
		if int(h.end) > len(a.tail)-seamNear {
			_, posts := t.of(h.seed)
			for _, p := range posts {
				left = append(left, p.item())
			}
		}
	}
	slices.Sort(left)
	s.left = left
	for _, h := range b.headHits {
		if h.end > seamBehind {
			continue
		}
		_, posts := t.of(h.seed)
		for _, p := range posts {
			i := p.item()
			if _, ok := slices.BinarySearch(left, i); ok && !slices.Contains(a.found, i) && !slices.Contains(b.found, i) {
				out = append(out, i)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// weighs returns how many nats of an item's stem and options hits carry.
func (s *Scanner) weighs(i uint32, hits []hit, from, to int) (stem, opt float32) {
	t := &s.ix.seeds
	for _, h := range hits {
		if int(h.end) <= from || int(h.end) > to {
			continue
		}
		idf, posts := t.of(h.seed)
		for _, p := range posts {
			switch {
			case p.item() != i:
			case p.option():
				opt += idf
			default:
				stem += idf
			}
		}
	}
	return stem, opt
}

// join measures item i across the seam.
func (s *Scanner) join(a, b *kept, i uint32) (Finding, bool) {
	it := &s.ix.items[i]
	reach := it.length + seamGap
	from, to := max(0, len(a.tail)-reach), min(len(b.head), reach+seamBehind)
	stem1, opt1 := s.weighs(i, a.tailHits, from, len(a.tail))
	stem2, opt2 := s.weighs(i, b.headHits, 0, to)
	stem := stem1 + stem2
	if !s.ix.needs[i].met(stem, opt1+opt2) {
		return Finding{}, false
	}
	end := len(a.tail) - overlap(a.tail, b.head)
	from = min(from, end)
	window := slices.Concat(a.tail[from:end], b.head[:to])
	rescue := stem >= rescueShare*it.stemMass
	if !rescue && s.hopeless(it, window, window, true) {
		return Finding{}, false
	}
	m := s.verify(it, window, true)
	if rescue && (!m.same || m.stem < it.limits.StemSame) {
		m = s.rescue(it, window, m)
	}
	if !m.same {
		return Finding{}, false
	}
	left, right := s.texts(a), s.texts(b)
	cut := end - from // the first letter of b in the window
	lo := a.n - len(a.tail) + from
	e := s.evidenceOf(m, it)
	e.window, e.letters = window, a.n+b.n
	e.origins = slices.Concat(left.window(lo, lo+cut), right.window(0, to))
	for _, f := range left.fields {
		if f.first -= lo; f.first < cut {
			e.fields = append(e.fields, f)
		}
	}
	e.next = len(e.fields)
	for _, f := range right.fields {
		f.first += cut
		e.fields = append(e.fields, f)
	}
	s.locate(e)
	if !e.acrossSeam(cut) {
		return Finding{}, false
	}
	f, ok := s.finding(e)
	if !ok {
		return Finding{}, false
	}
	f.Record = Place{ID: a.id, Pointer: f.Record.Pointer}
	f.Next = &Place{ID: b.id}
	for _, sp := range f.Spans {
		if sp.Next {
			f.Next.Pointer = sp.Pointer
			break
		}
	}
	return f, true
}

// acrossSeam reports whether the item stands on both sides of letter cut of the
// window, close to it, and not the wrong way round: a statement of one question and
// the next question are no item.
func (e *evidence) acrossSeam(cut int) bool {
	if e.how != asClauses && e.turnedAt(cut) {
		return false
	}
	left, right := 0, 0             // letters
	last, first := 0, len(e.window) // that are nearest to the cut
	for _, f := range e.pieces {
		if l := min(f.place.end, cut) - f.place.start; l > 0 {
			left += l
			last = max(last, min(f.place.end, cut))
		}
		if r := f.place.end - max(f.place.start, cut); r > 0 {
			right += r
			first = min(first, max(f.place.start, cut))
		}
	}
	return left >= seamLeast && right >= seamLeast && cut-last <= seamGap && first-cut <= seamBehind
}

// turnedAt reports whether a part of the stem stands behind letter cut of the window
// that belongs before one that stands before it. Statements may have any order.
func (e *evidence) turnedAt(cut int) bool {
	left, right := 0, e.it.stemLen // the last place on the left, the first on the right, in the stem
	for _, f := range e.pieces {
		switch p := f.piece; {
		case p.kind == optionPart || len(p.letters) <= shortPiece:
		case f.place.end <= cut:
			left = max(left, p.from)
		case f.place.start >= cut && p.kind == stemPart:
			right = min(right, p.from)
		}
	}
	return right < left
}

// overlap returns how many letters at the end of a stand at the begin of b, too:
// chunks are often cut so that they share some.
func overlap(a, b []letter) int {
	for n := min(len(a), len(b)); n >= leastOverlap; n-- {
		if a[len(a)-n] == b[0] && slices.Equal(a[len(a)-n:], b[:n]) {
			return n
		}
	}
	return 0
}

// texts reads a kept record again, now with the places of its letters.
func (s *Scanner) texts(k *kept) *unfolded {
	var fields []field
	var text stream
	add := func(pointer string, value []byte) {
		fields = append(fields, field{first: len(text.letters), text: value, pointer: pointer})
		s.ix.alpha.feed(&text, value)
	}
	if k.row {
		r := rowScanner{track: true}
		// the row has been walked before, so this cannot fail
		_ = r.walk(k.raw, func(text []byte, number bool) {
			if p := r.pointer(); k.id == "" && IsID(p) {
				k.id = string(text)
			}
			if !r.bookkeeping(text, number) {
				add(r.pointer(), text)
			}
		})
	}
	for i, f := range k.fields {
		end := len(k.raw)
		if i+1 < len(k.fields) {
			end = k.fields[i+1].first
		}
		add(f.pointer, k.raw[f.first:end])
	}
	u := &unfolded{alpha: s.ix.alpha}
	u.reset(fields, len(text.letters))
	return u
}
