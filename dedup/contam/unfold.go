package contam

import (
	"slices"
	"unicode/utf8"
)

// An origin is where in its field a letter comes from: the first byte of its
// character, and how many code points stand before that.
type origin struct{ byte, char int32 }

// unfolded is a record's text with the origins of its letters, read as far as
// they are asked for. It may be used again.
type unfolded struct {
	alpha   *alphabet
	fields  []field
	origins []origin  // by letter of the stream
	read    []reading // by field
	one     stream    // what one character folds to
}

// A reading is how far a field was read: the next character, and the letters
// before it.
type reading struct {
	next    origin
	letters int
}

// reset makes it the text of other fields, with so many letters.
func (u *unfolded) reset(fields []field, letters int) {
	u.fields = fields
	u.origins = slices.Grow(u.origins[:0], letters)[:letters]
	u.read = slices.Grow(u.read[:0], len(fields))[:len(fields)]
	clear(u.read)
}

// window returns the origins of letters lo to hi.
func (u *unfolded) window(lo, hi int) []origin {
	n, _ := slices.BinarySearchFunc(u.fields, lo+1, func(f field, at int) int { return f.first - at })
	for n = max(0, n-1); n < len(u.fields) && u.fields[n].first < hi; n++ {
		first, end := u.fields[n].first, len(u.origins)
		if n+1 < len(u.fields) {
			end = u.fields[n+1].first
		}
		r := &u.read[n]
		if want := min(hi, end) - first; r.letters < want {
			r.letters += u.more(u.fields[n].text, &r.next, u.origins[first+r.letters:end], want-r.letters)
		}
	}
	return u.origins[lo:hi]
}

// more reads text on from next until it has the origins of so many letters, and
// of those that the last character has beside, and returns how many these are.
// out has room for all that follow in the text.
func (u *unfolded) more(text []byte, next *origin, out []origin, letters int) int {
	low, high := u.alpha.low, u.alpha.high
	i, n := int(next.byte), 0
	behind := i - int(next.char) // bytes read less code points
	for n < letters && i < len(text) {
		before := i
		for end := min(len(text), i+letters-n); i < end && text[i] < utf8.RuneSelf; i++ {
			l := low[text[i]]
			if l == ask {
				break
			}
			out[n] = origin{int32(i), int32(i - behind)}
			n += (int(l) + 63) >> 6 // 1 for a letter, 0 for none
		}
		for n < letters && i+2 < len(text) {
			a, b, c := text[i], text[i+1], text[i+2]
			if a&0xF0 != 0xE0 || a == 0xED || b&0xC0 != 0x80 || c&0xC0 != 0x80 {
				break // 0xED may begin half a surrogate pair, which is three characters
			}
			l := high[uint16(a)<<12|uint16(b&0x3F)<<6|uint16(c&0x3F)]
			if l == ask {
				break
			}
			out[n] = origin{int32(i), int32(i - behind)}
			n += (int(l) + 1<<16 - 1) >> 16
			i += 3
			behind += 2
		}
		if i > before {
			continue
		}
		at := origin{int32(i), int32(i - behind)}
		size, count := u.character(text, i)
		for range count {
			out[n] = at
			n++
		}
		behind += size - utf8.RuneCount(text[i:i+size])
		i += size
	}
	*next = origin{int32(i), int32(i - behind)}
	return n
}

// character returns the bytes of what stands at text[i:], as feed reads it, and
// how many letters it is.
func (u *unfolded) character(text []byte, i int) (size, letters int) {
	r, size := utf8.DecodeRune(text[i:])
	if l := u.alpha.at(r); l != ask {
		return size, min(1, int(l))
	}
	u.one.reset()
	size = u.alpha.slow(&u.one, text, i, false)
	return size, len(u.one.letters)
}
