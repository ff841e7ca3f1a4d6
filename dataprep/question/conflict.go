package question

import (
	"slices"
	"unicode"

	"github.com/drydock-ml/drydock"
)

// A Digest is what must be kept of a question to tell whether another one with
// the same stem contradicts it.
type Digest struct {
	Stem    uint64 // of its letters and digits; questions of one stem share it
	open    bool   // no options: right is what it says
	above   bool   // what is right speaks of the options beside it: 以上都对, A和B
	figure  bool   // cannot be answered without a figure that is not named
	right   []uint64
	offered []uint64
}

// DigestOf takes a question's digest; false for one without an answer and for
// one answered in its own words, which nothing can contradict.
func DigestOf(q *drydock.Question) (Digest, bool) {
	if len(q.Answer) == 0 || q.Kind == drydock.Short || q.Kind == drydock.Matching {
		return Digest{}, false
	}
	d := Digest{Stem: StemKey(q), open: len(q.Options) == 0, figure: q.NeedsFigure}
	for _, f := range q.Figures {
		d.Stem = textKey(d.Stem, f) // of one diagram
		d.figure = false
	}
	for _, o := range q.Options {
		k := textKey(fnvBasis, o.Text)
		d.offered = append(d.offered, k)
		if slices.Contains(q.Answer, o.Label) {
			d.right = append(d.right, k)
			d.above = d.above || saysAbove(o.Text) || namesOptions(o.Text)
		}
	}
	if d.open {
		for _, a := range q.Answer {
			d.right = append(d.right, textKey(fnvBasis, a))
		}
	}
	slices.Sort(d.right)
	return d, true
}

// StemKey hashes a stem by its letters and digits.
func StemKey(q *drydock.Question) uint64 { return textKey(fnvBasis, q.Stem) }

// Contradicts reports that two questions of one stem cannot both be keyed right:
// the answers differ although each offers what the other calls right, among the
// same options but for one. A stem such as 下列说法正确的是 over other options asks
// something else.
func (d Digest) Contradicts(e Digest) bool {
	if d.Stem != e.Stem || d.open != e.open || d.figure || e.figure || slices.Equal(d.right, e.right) {
		return false
	}
	if d.open {
		return true
	}
	common := 0
	for _, k := range d.offered {
		if slices.Contains(e.offered, k) {
			common++
		}
	}
	apart := max(len(d.offered), len(e.offered)) - common
	within := func(right, offered []uint64) bool {
		return !slices.ContainsFunc(right, func(k uint64) bool { return !slices.Contains(offered, k) })
	}
	return (apart == 0 || apart == 1 && !d.above && !e.above && common > 2) && within(d.right, e.offered) && within(e.right, d.offered)
}

const (
	fnvBasis = 14695981039346656037
	fnvPrime = 1099511628211
)

// textKey goes on with a hash over the letters and digits of a text (FNV-1a).
// Other signs count where there are no letters: √ and × differ.
func textKey(h uint64, s string) uint64 {
	start := h
	for _, r := range s {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.Is(unicode.Nl, r) || unicode.Is(unicode.No, r) {
			h = (h ^ uint64(lowerRune(r))) * fnvPrime
		}
	}
	if h == start {
		for _, r := range s {
			h = (h ^ uint64(r)) * fnvPrime
		}
	}
	return (h ^ 0xFF) * fnvPrime
}
