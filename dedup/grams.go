package dedup

import (
	"slices"
	"unicode/utf8"
)

// How texts are cut into grams. A gram is measured in units: an ideograph counts
// two, any other letter or digit one, so that three ideographs and six Latin
// letters tell about the same. Short texts need short grams: one changed letter
// must not hit them all.
const (
	unitsShort  = 48  // below it grams of 6 units: three ideographs
	unitsLong   = 512 // from it on grams of 16 units, see winnow
	gramShort   = 6
	gramMedium  = 8 // four ideographs
	gramLong    = 16
	sampleAsked = 16 // grams kept of what is asked, or of a passage
	sampleSaid  = 8  // and of an assistant's answer
	// winnowSpan: of so many neighbouring long grams at least one is kept, hence
	// two texts that share (winnowSpan + a gram) letters share a key.
	winnowSpan = 32
	// unitsContained is the shortest passage that is looked for inside longer
	// ones: long enough to be sure of a shared key.
	unitsContained = 2*winnowSpan + gramLong + 16
)

const (
	rollBase = 0x9E3779B97F4A7C15 // odd, so that no letter is lost
	mixA     = 0xBF58476D1CE4E5B9 // splitmix64's finalizer
	mixB     = 0x94D049BB133111EB
)

func mix(h uint64) uint64 {
	h = (h ^ h>>30) * mixA
	h = (h ^ h>>27) * mixB
	return h ^ h>>31
}

// gramer cuts texts into hashed grams. Its buffers are reused.
type gramer struct {
	roll  []uint64 // polynomial hash of the first i letters
	units []int32  // units of the first i letters
	pow   [gramLong + 1]uint64
	all   []uint64
	part  int // of the record, that is loaded; -1: none
}

func newGramer() *gramer {
	g := &gramer{}
	g.pow[0] = 1
	for i := 1; i < len(g.pow); i++ {
		g.pow[i] = g.pow[i-1] * rollBase
	}
	return g
}

// load takes a folded text; spaces do not count.
func (g *gramer) load(text []byte) (units int) {
	g.roll, g.units = append(g.roll[:0], 0), append(g.units[:0], 0)
	h, u := uint64(0), int32(0)
	for i := 0; i < len(text); {
		r, n := rune(text[i]), 1
		if r >= utf8.RuneSelf {
			r, n = utf8.DecodeRune(text[i:])
		}
		i += n
		if r == ' ' {
			continue
		}
		h = h*rollBase + uint64(r)
		u += int32(unitsOf(r))
		g.roll, g.units = append(g.roll, h), append(g.units, u)
	}
	return int(u)
}

// loadPart takes part i of a record, unless it is what was taken last.
func (g *gramer) loadPart(s *saved, i int) {
	if g.part != i {
		g.load(s.parts[i].text)
		g.part = i
	}
}

// unitsOf is what a folded code point counts.
func unitsOf(r rune) int {
	if r < 0x2e80 {
		return 1
	}
	return 2
}

// countUnits measures a folded text.
func countUnits(text []byte) (units int) {
	for i := 0; i < len(text); {
		switch c := text[i]; {
		case c < utf8.RuneSelf:
			if c != ' ' {
				units++
			}
			i++
		case c < 0xE0:
			units++
			i += 2
		case c == 0xE2 && i+1 < len(text) && text[i+1] < 0xBA:
			units++
			i += 3
		case c < 0xE2:
			units++
			i += 3
		case c < 0xF0:
			units += 2
			i += 3
		default:
			units += 2
			i += 4
		}
	}
	return units
}

// grams returns the hash of every gram of the loaded text; of a text that is
// shorter than one, that of the whole. It is valid until the next call.
func (g *gramer) grams(size int32, seed uint64) []uint64 {
	last := len(g.roll) - 1
	g.all = g.all[:0]
	switch {
	case last == 0:
	case g.units[last] < size:
		g.all = append(g.all, mix(g.roll[last]^seed))
	case int(g.units[last]) == last: // no ideographs: so many letters are a gram
		pow := g.pow[size]
		ends := g.roll[size:]
		for i, h := range g.roll[:len(ends)] {
			g.all = append(g.all, mix((ends[i]-h*pow)^seed))
		}
	default:
		for i, j := 0, 0; i < last; i++ {
			for g.units[j]-g.units[i] < size {
				if j++; j > last {
					return g.all
				}
			}
			g.all = append(g.all, mix((g.roll[j]-g.roll[i]*g.pow[j-i])^seed))
		}
	}
	return g.all
}

// sample keeps the smallest distinct hashes: of two sets that share much, the
// same ones.
type sample struct {
	hashes [sampleAsked]uint64
	n, max int
}

func (s *sample) add(hashes []uint64) {
	for _, h := range hashes {
		if s.n < s.max || h < s.hashes[s.n-1] {
			s.insert(h)
		}
	}
}

func (s *sample) insert(h uint64) {
	i := s.n
	for i > 0 && s.hashes[i-1] > h {
		i--
	}
	if i > 0 && s.hashes[i-1] == h {
		return
	}
	s.n = min(s.n+1, s.max)
	copy(s.hashes[i+1:s.n], s.hashes[i:s.n-1])
	s.hashes[i] = h
}

// winnow appends the least hash of every winnowSpan neighbouring ones, each place
// once (Schleimer, Wilkerson, Aiken 2003).
func winnow(dst []uint32, hashes []uint64) []uint32 {
	least := -1
	for end := min(winnowSpan, len(hashes)); end <= len(hashes) && end > 0; end++ {
		from := max(0, end-winnowSpan)
		switch {
		case least < from:
			least = from
			for i := from; i < end; i++ {
				if hashes[i] <= hashes[least] {
					least = i
				}
			}
		case hashes[end-1] <= hashes[least]:
			least = end - 1
		default:
			continue
		}
		dst = append(dst, uint32(hashes[least]))
	}
	return dst
}

// A keySet is what a record is found by. own is indexed; asked also holds the
// keys of the neighbouring length, for records near the border.
type keySet struct {
	own   []uint32
	asked []uint32
	along []uint32 // asked, too: those that stand all along a text
	whole uint32   // of everything asked: equal prompts meet whatever else they share; 0: none
}

func (k *keySet) reset() { k.own, k.asked, k.along, k.whole = k.own[:0], k.asked[:0], k.along[:0], 0 }

// keys computes the keys of a record. Records whose frames differ share none.
func (g *gramer) keys(k *keySet, s *saved) {
	k.reset()
	units, passage, said := 0, false, false
	whole := s.frame
	g.part = -1
	for i, p := range s.parts {
		switch p.role {
		case roleAnswer:
			said = true
			continue
		case roleText:
			passage = true
		}
		units += g.load(p.text)
		g.part = i
		whole = mix(whole ^ g.roll[len(g.roll)-1])
	}
	if units == 0 {
		return
	}
	if said {
		k.whole = uint32(whole) | 1
	}
	near := func(bound int) bool { return units*4 > bound*3 && units*3 < bound*4 } // within the reach of a threshold of .85
	var short, medium, long bool
	switch {
	case units < unitsShort:
		short = true
	case units < unitsLong:
		medium = true
	default:
		long = true
	}
	inside := passage && units >= unitsContained
	if short || near(unitsShort) {
		g.sampled(k, s, gramShort, short)
	}
	if medium || near(unitsShort) || near(unitsLong) {
		g.sampled(k, s, gramMedium, medium)
	}
	if long || inside || near(unitsLong) {
		g.winnowed(k, s, long || inside)
	}
	slices.Sort(k.own)
	k.own = slices.Compact(k.own)
	slices.Sort(k.asked)
	k.asked = slices.Compact(k.asked)
	slices.Sort(k.along)
	k.along = slices.Compact(k.along)
}

// sampled adds the smallest hashes of what is asked and of what is answered.
func (g *gramer) sampled(k *keySet, s *saved, size int32, own bool) {
	asked, said := sample{max: sampleAsked}, sample{max: sampleSaid}
	seed := mix(s.frame + uint64(size))
	for i := range s.parts {
		into := &asked
		if s.parts[i].role == roleAnswer {
			into = &said
		}
		g.loadPart(s, i)
		into.add(g.grams(size, seed))
	}
	for _, h := range append(asked.hashes[:asked.n:asked.n], said.hashes[:said.n]...) {
		k.add(uint32(h), own) // the high bits of the smallest are all alike
	}
}

// winnowed adds keys all along the text, so that a piece of it is found, too.
func (g *gramer) winnowed(k *keySet, s *saved, own bool) {
	seed := mix(s.frame + gramLong)
	for i := range s.parts {
		g.loadPart(s, i)
		n := len(k.along)
		k.along = winnow(k.along, g.grams(gramLong, seed))
		if own {
			k.own = append(k.own, k.along[n:]...)
		}
	}
}

func (k *keySet) add(key uint32, own bool) {
	k.asked = append(k.asked, key)
	if own {
		k.own = append(k.own, key)
	}
}
