package contam

import (
	"bytes"
	"slices"
)

// flank is how many letters on either side of a changed word must be the item's.
const flank = 3

// A spot is a segment of the stem beside the letters it was found at.
type spot struct {
	item   []letter
	lo, hi int // in the window
}

// spots returns the segments whose pieces were all found, close together.
func (e *evidence) spots() []spot {
	if e.spotted {
		return e.spotList
	}
	out := e.spotList
	for from, k := 0, 0; k < len(e.it.segments); k++ {
		seg := e.it.segments[k]
		lo, hi, letters := len(e.window), 0, 0
		for _, f := range e.pieces {
			if f.piece.kind != optionPart && f.piece.from >= from && f.piece.from < from+len(seg) {
				lo, hi = min(lo, f.place.start), max(hi, f.place.end)
				letters += len(f.piece.letters)
			}
		}
		from += len(seg)
		if letters == len(seg) && hi-lo <= 2*len(seg)+4*flank {
			out = append(out, spot{seg, lo, hi})
		}
	}
	e.spotList, e.spotted = out, true
	return out
}

// near returns the letters of a spot and those around it that may be of a word
// of so many letters.
func (e *evidence) near(p spot, word int) []letter {
	return e.window[max(0, p.lo-word-flank):min(len(e.window), p.hi+word+flank)]
}

// swapped reports whether the data has word to where the item has word from, one
// of which may be empty: with the item's letters on both sides of it, or at an
// end of the segment and touching it.
func (e *evidence) swapped(p spot, from, to []letter) bool {
	if index(p.item, from) < 0 {
		return false
	}
	near := e.near(p, len(to))
	first := index(near, to)
	if first < 0 {
		return false
	}
	here := near[max(0, first-flank):] // where to may stand with what is before it
	for i := 0; i+len(from) <= len(p.item); i++ {
		end := i + len(from)
		if !slices.Equal(p.item[i:end], from) {
			continue
		}
		left, right := p.item[max(0, i-flank):i], p.item[end:min(len(p.item), end+flank)]
		switch {
		case len(left) == 0 && len(right) == 0:
		case len(left) == 0 || len(right) == 0:
			// what the item has stands inside what the data has where a word is added
			added := len(from) == 0
			side := left
			if len(side) == 0 {
				side = right
			}
			if added && (!sameScript(side, to) || e.standsFree(p.item)) {
				return false
			}
			if len(left)+len(right) >= 2 && (added || !stands(near, left, from, right)) &&
				e.atEdge(p, left, to, right, !added && len(to) > 0) {
				return true
			}
		case stands(here, left, to, right) && !stands(near, left, from, right):
			return true
		}
	}
	return false
}

// stands reports whether the three texts stand in text, one after the other.
func stands(text, left, word, right []letter) bool {
	var buf [2*flank + longestTurn]letter
	return index(text, append(append(append(buf[:0], left...), word...), right...)) >= 0
}

// atEdge reports whether word stands before right, or behind left, touching it
// and with nothing else that touches it on its other side but an option that
// fills the blank, unless open says that anything may.
func (e *evidence) atEdge(p spot, left, word, right []letter, open bool) bool {
	var buf [2*flank + longestTurn]letter
	text := append(append(append(buf[:0], left...), word...), right...)
	lo := max(0, p.lo-len(word)-flank)
	for at := lo; ; at++ {
		k := index(e.window[at:min(len(e.window), p.hi+len(word)+flank)], text)
		if k < 0 {
			return false
		}
		at += k
		end := at + len(text)
		free := !e.touching(at-1) || isDigit(e.window[at-1]) // behind a number: ①
		touch := len(word) == 0 || e.touching(at+len(word)-1)
		if len(left) > 0 {
			free = !e.touching(end-1) || e.optionAt(end) && (len(word) == 0 || !e.optionAt(end-len(word)))
			touch = len(word) == 0 || e.touching(at+len(left)-1)
		} else if !free {
			free = e.optionBefore(at) && (len(word) == 0 || !e.optionBefore(at+len(word)))
		}
		if touch && (free || open) {
			return true
		}
	}
}

// optionAt reports whether an option of the item begins at letter k of the window,
// letter by letter.
func (e *evidence) optionAt(k int) bool {
	return slices.ContainsFunc(e.it.options, func(o option) bool {
		n := len(o.letters)
		return n > 0 && k+n <= len(e.window) && slices.Equal(e.window[k:k+n], o.letters)
	})
}

// optionBefore reports whether an option of the item ends before letter k of the
// window, letter by letter.
func (e *evidence) optionBefore(k int) bool {
	return slices.ContainsFunc(e.it.options, func(o option) bool {
		n := len(o.letters)
		return n > 0 && k >= n && slices.Equal(e.window[k-n:k], o.letters)
	})
}

// sameScript reports whether two texts are both in Latin script or both not, by
// their first letters.
func sameScript(a, b []letter) bool { return (a[0] < firstOwn) == (b[0] < firstOwn) }

// standsFree reports whether a segment stands somewhere in the window, letter by
// letter, with nothing that touches it: ①不成文②成文.
func (e *evidence) standsFree(seg []letter) bool {
	for at := 0; ; at++ {
		k := index(e.window[at:], seg)
		if k < 0 {
			return false
		}
		at += k
		if end := at + len(seg); (!e.touching(at-1) || isDigit(e.window[at-1])) && !e.touching(end-1) {
			return true
		}
	}
}

// touching reports whether nothing but spaces stands between letter k of the
// window and the next.
func (e *evidence) touching(k int) bool {
	if k < 0 || k+1 >= len(e.origins) || e.fieldOf(k) != e.fieldOf(k+1) {
		return false
	}
	from, to := e.after(k), int(e.origins[k+1].byte)
	return from >= to || len(bytes.Trim(e.fields[e.fieldOf(k)].text[from:to], " \t")) == 0
}

// A word is looked for in many a text that has not even its letters.
type word struct {
	letters []letter
	bits    []uint16 // of a letterMask
}

func newWord(ls []letter) word {
	w := word{letters: ls}
	for i, l := range ls {
		w.bits = append(w.bits, maskBit(l, none))
		if i > 0 {
			w.bits = append(w.bits, maskBit(ls[i-1], l))
		}
	}
	slices.Sort(w.bits)
	w.bits = slices.Compact(w.bits)
	return w
}

// mayBeIn reports whether a text with these letters can have the word.
func (w *word) mayBeIn(has *letterMask) bool {
	for _, b := range w.bits {
		if has[b>>6]>>(b&63)&1 == 0 {
			return false
		}
	}
	return true
}

// A letterMask says roughly which letters a text has, and which pairs of them side
// by side: each is one of 1,024 bits.
type letterMask [16]uint64

// maskBit returns the bit of two letters, or of one with none behind it.
func maskBit(a, b letter) uint16 {
	return uint16((uint64(a)<<16 | uint64(b)) * mix >> 54)
}

func maskOf(ls []letter) (m letterMask) {
	for i, l := range ls {
		m.add(maskBit(l, none))
		if i > 0 {
			m.add(maskBit(ls[i-1], l))
		}
	}
	return m
}

func (m *letterMask) add(bit uint16) { m[bit>>6] |= 1 << (bit & 63) }

// A change is a stretch in which item and data differ, between letters that both
// have.
type change struct {
	item, data             []letter
	before, behind         letter // the letter of the item at either side; none at an end
	dataBefore, dataBehind letter // the same of the data, where it touches; else none
}

// changes returns where a segment differs from its place.
func (e *evidence) changes(p spot) []change {
	text := e.window[p.lo:p.hi]
	if slices.Equal(p.item, text) {
		return nil
	}
	out := e.changed[:0]
	at := func(ls []letter, i int) letter {
		if i < 0 || i >= len(ls) {
			return none
		}
		return ls[i]
	}
	put := func(i, j, k, l int) {
		if i < j || k < l {
			c := change{item: p.item[i:j], data: text[k:l], before: at(p.item, i-1), behind: at(p.item, j)}
			if e.adjacent(p.lo + k - 1) {
				c.dataBefore = at(e.window, p.lo+k-1)
			}
			if e.adjacent(p.lo + l - 1) {
				c.dataBehind = at(e.window, p.lo+l)
			}
			out = append(out, c)
		}
	}
	i, k := 0, 0
	for n, q := range e.aligner.align(p.item, text) {
		if q.to >= 0 && p.item[n] == text[q.to] && p.item[n] != foreign {
			put(i, n, k, q.to)
			i, k = n+1, q.to+1
		}
	}
	put(i, len(p.item), k, len(text))
	e.changed = out
	return out
}
