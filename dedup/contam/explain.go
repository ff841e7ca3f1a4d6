package contam

import (
	"cmp"
	"slices"
)

// An Explanation says how far an item is from being found in a record, and why
// it was found or not. Nats weigh the surprise of seeds: rare letter sequences
// count more than those that stand in many items.
type Explanation struct {
	Item    ItemRef
	Letters int // of the record
	// StemLetters and OptionLetters are those of the item.
	StemLetters, OptionLetters int

	// StemHit and OptionHit are the nats of the item's seeds that stand anywhere
	// in the record, StemMass and OptionMass those of all its seeds.
	StemHit, StemMass, OptionHit, OptionMass float64
	// NeedStem or NeedOption must be hit for a closer look, or both NeedBothStem
	// and NeedBothOption; Candidate says whether the record has as many at all.
	NeedStem, NeedOption, NeedBothStem, NeedBothOption float64
	Candidate                                          bool

	// What the closer look measures at the likeliest place, whether or not the
	// check itself took it. Stem is the similarity of the stem, StemAbove the same
	// above what chance gives in this script, StemEdits the edits between, Nats
	// what matched is worth.
	Stem, StemAbove, Nats float64
	StemEdits             int
	// Options is the share of telling options found, NaN when the item has none;
	// OptionsFound counts all of them, InOrder says that they stand there one
	// after the other, letter by letter.
	Options      float64
	OptionsFound int
	InOrder      bool

	Same    bool       // by the letters it is the item
	Shown   bool       // it is less, and worth showing
	Finding *Finding   // what was reported; nil: nothing
	Limits  Thresholds // those of the item's benchmark
}

// Config returns the settings of the index, with the defaults filled in.
func (ix *Index) Config() Config { return ix.config }

// Nearest names the n items that the record checked last has most of, by the
// share of their seeds' nats.
func (s *Scanner) Nearest(n int) []ItemRef {
	type near struct {
		item  uint32
		share float32
	}
	var all []near
	for i, w := range s.hitNats() {
		it := &s.ix.items[i]
		share := w[0] / max(it.stemMass, 1)
		if it.optionMass > 0 {
			share = max(share, (w[0]+w[1])/(it.stemMass+it.optionMass))
		}
		all = append(all, near{i, share})
	}
	slices.SortFunc(all, func(a, b near) int {
		return cmp.Or(cmp.Compare(b.share, a.share), cmp.Compare(a.item, b.item))
	})
	var out []ItemRef
	for _, a := range all[:min(n, len(all))] {
		out = append(out, s.refOf(a.item))
	}
	return out
}

// Explain explains an item in the record checked last, of which found are the
// findings. It is false for an item that the index does not hold.
func (s *Scanner) Explain(ref ItemRef, found []Finding) (Explanation, bool) {
	n := slices.IndexFunc(s.ix.items, func(it item) bool {
		return it.index == ref.Index && s.ix.sets[it.set].Ref.Name == ref.Benchmark
	})
	if n < 0 {
		return Explanation{}, false
	}
	it, need := &s.ix.items[n], &s.ix.needs[n]
	hit := s.hitNats()[uint32(n)]
	x := Explanation{
		Item: ref, Letters: len(s.text.letters), StemLetters: it.stemLen, OptionLetters: it.optionLen,
		StemHit: float64(hit[0]), StemMass: float64(it.stemMass), OptionHit: float64(hit[1]), OptionMass: float64(it.optionMass),
		NeedStem: float64(need.stem), NeedOption: float64(need.opt),
		NeedBothStem: float64(need.bothStem), NeedBothOption: float64(need.bothOption),
		Candidate: need.met(hit[0], hit[1]), Limits: *it.limits,
	}
	m, looked := s.best[uint32(n)]
	if !looked {
		lo, hi := s.likeliest(uint32(n))
		m = s.verify(it, s.text.letters[lo:hi], true)
	}
	x.Stem, x.StemAbove, x.Nats, x.StemEdits = m.stem, m.stemAbove, m.nats, m.stemDist
	x.Options, x.OptionsFound, x.InOrder = orNaN(m.options), m.found, m.inOrder
	x.Same, x.Shown = m.same, m.shown
	if i := slices.IndexFunc(found, func(f Finding) bool { return f.Item == ref }); i >= 0 {
		x.Finding = &found[i]
	}
	return x, true
}

func (s *Scanner) refOf(i uint32) ItemRef {
	it := &s.ix.items[i]
	return ItemRef{s.ix.sets[it.set].Ref.Name, it.index}
}

// hitNats sums up, by item, the nats of stem and options that the seeds of the
// record hit, each seed once.
func (s *Scanner) hitNats() map[uint32][2]float32 {
	t := &s.ix.seeds
	out := map[uint32][2]float32{}
	seen := map[uint32]bool{}
	for _, h := range s.hits {
		if seen[h.seed] {
			continue
		}
		seen[h.seed] = true
		idf, posts := t.of(h.seed)
		for _, p := range posts {
			w := out[p.item()]
			if p.option() {
				w[1] += idf
			} else {
				w[0] += idf
			}
			out[p.item()] = w
		}
	}
	return out
}

// likeliest returns the window of the record in which most of an item's seeds
// stand; the beginning where there are none.
func (s *Scanner) likeliest(item uint32) (lo, hi int) {
	t, it := &s.ix.seeds, &s.ix.items[item]
	slack := it.length + 24
	var ends []int
	for _, h := range s.hits {
		_, posts := t.of(h.seed)
		if slices.ContainsFunc(posts, func(p posting) bool { return p.item() == item }) {
			ends = append(ends, int(h.end))
		}
	}
	first, last, most := 0, 0, 0
	for i, from := 0, 0; i < len(ends); i++ {
		for ends[from] < ends[i]-it.length*9/5-40 {
			from++
		}
		if i-from+1 > most {
			most, first, last = i-from+1, ends[from], ends[i]
		}
	}
	return max(0, first-slack), min(len(s.text.letters), last+slack)
}
