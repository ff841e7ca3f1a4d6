package contam

import (
	"bytes"
	"slices"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/text/encoding/simplifiedchinese"
)

// rawEncoding is a way of writing text that a check of bytes reads.
type rawEncoding uint8

const (
	encUTF8 rawEncoding = iota
	encUTF16LE
	encGB18030
	encUTF16BE
	encUTF32LE
	encUTF32BE
)

// String names the encoding as the IANA does.
func (e rawEncoding) String() string {
	return [...]string{"utf-8", "utf-16le", "gb18030", "utf-16be", "utf-32le", "utf-32be"}[e]
}

// width returns how many bytes the text takes in the encoding.
func (e rawEncoding) width(text []byte) int {
	switch e {
	case encUTF32BE, encUTF32LE:
		return 4 * utf8.RuneCount(text)
	case encUTF16BE, encUTF16LE:
		n := 0
		for _, r := range string(text) {
			n += 2 * utf16.RuneLen(r)
		}
		return n
	case encGB18030:
		b, err := simplifiedchinese.GB18030.NewEncoder().Bytes(text)
		if err == nil {
			return len(b)
		}
	}
	return len(text)
}

// What two bytes are in UTF-16LE, GB18030 and UTF-16BE: two bits each in
// wideTables.class, in this order from the lowest.
const (
	wideNot    = 0 // no text, or a character that no item has
	widePlain  = 1 // text without letters
	wideLetter = 2 // a letter of an item
)

// enough letters in a row of each encoding, with nothing strange between them,
// begin a run of text. Four are a seed; in GB18030 two do, since a Latin letter
// between them takes one byte and moves the next character to another parity.
var enough = [3]uint8{seedLen, 2, seedLen}

// wideTables tell at a glance what two bytes may be.
type wideTables struct {
	class []uint8  // by two bytes, the first one high
	gb    []uint16 // code point by two bytes of GB18030; 0: none
}

func newWideTables(a *alphabet) *wideTables {
	w := &wideTables{class: make([]uint8, 1<<16), gb: make([]uint16, 1<<16)}
	of := func(r rune) uint8 {
		switch {
		case r == 0: // half of a UTF-32 character
			return widePlain
		case r < ' ' && !isBlank(r), r == utf8.RuneError, !utf8.ValidRune(r):
			return wideNot
		}
		p, rest := a.folder.Rune(r)
		l := a.number(p, false)
		for _, q := range rest {
			if l == none || l == foreign {
				l = a.number(q, false)
			}
		}
		switch l {
		case none:
			return widePlain
		case foreign:
			return wideNot
		}
		return wideLetter
	}
	dec := simplifiedchinese.GB18030.NewDecoder()
	pair, out := []byte{0, 0}, make([]byte, 8)
	for v := range 1 << 16 {
		k := of(rune(v))
		w.class[v] |= k << 4
		w.class[uint16(v)<<8|uint16(v)>>8] |= k
		if v>>8 < 0x81 || v>>8 == 0xFF || v&0xFF < 0x40 || v&0xFF == 0x7F || v&0xFF == 0xFF {
			continue
		}
		pair[0], pair[1] = byte(v>>8), byte(v)
		dec.Reset()
		n, _, err := dec.Transform(out, pair, true)
		if r, size := utf8.DecodeRune(out[:n]); err == nil && size == n && r != utf8.RuneError && r < 1<<16 {
			w.gb[v] = uint16(r)
			w.class[v] |= of(r) << 2
		}
	}
	return w
}

// gateSize bytes that are UTF-8 without a zero byte hold no item in another
// encoding: one Chinese character in four of UTF-16 or GB18030 breaks the rules
// of UTF-8, and one Latin letter of UTF-16 has a zero byte.
const gateSize = 4 << 10

// runs returns the runs of text in the encodings of two and four bytes.
func (w *wideTables) runs(b []byte) [][]rawRun {
	var out [6][]rawRun
	for from := 0; from < len(b); {
		lo := from
		for from < len(b) && !plainUTF8(b, from) {
			from += gateSize
		}
		if from > lo {
			w.find(b, max(0, lo-gateSize), min(len(b), from+gateSize), &out)
		}
		from += gateSize
	}
	var lists [][]rawRun
	for _, l := range out {
		if len(l) > 0 {
			slices.SortStableFunc(l, func(a, b rawRun) int { return a.at - b.at })
			// gates overlap, so a run may come twice
			lists = append(lists, slices.CompactFunc(l, func(a, b rawRun) bool { return a.at == b.at }))
		}
	}
	return lists
}

// plainUTF8 reports whether the gate at from can hold UTF-8 only.
func plainUTF8(b []byte, from int) bool {
	end := min(len(b), from+gateSize)
	g := b[from:end]
	// a character may be cut at either end
	for n := 0; n < 3 && len(g) > 0 && !utf8.RuneStart(g[0]); n++ {
		g = g[1:]
	}
	for n := 1; n < utf8.UTFMax && n <= len(g); n++ {
		if c := g[len(g)-n]; utf8.RuneStart(c) {
			if c >= utf8.RuneSelf && !utf8.FullRune(g[len(g)-n:]) {
				g = g[:len(g)-n]
			}
			break
		}
	}
	return utf8.Valid(g) && bytes.IndexByte(g, 0) < 0
}

// find looks at every pair of bytes in b[lo:hi] and follows what reads as text.
func (w *wideTables) find(b []byte, lo, hi int, out *[6][]rawRun) {
	var count [2][3]uint8 // letters in a row by parity and encoding
	var until [2][3]int   // what has been followed
	for i := lo; i+1 < hi; i++ {
		k := w.class[uint16(b[i])<<8|uint16(b[i+1])]
		c := &count[i&1]
		if k == 0 {
			*c = [3]uint8{}
			continue
		}
		for e := range c {
			switch k >> (2 * e) & 3 {
			case wideNot:
				c[e] = 0
			case wideLetter:
				if c[e]++; c[e] >= enough[e] {
					c[e] = 0
					if i < until[i&1][e] {
						continue
					}
					run, end := w.follow(b, i, rawEncoding(e+1))
					until[i&1][e] = end
					out[run.enc] = append(out[run.enc], run)
				}
			}
		}
	}
}

// maxStrange characters that no item has, in a row, end a run: they are the
// bytes of a database or an index between two strings, or a text that speaks of
// something else. Strings have to be told apart, since a short stem is a leak by
// itself and no news inside a sentence.
const maxStrange = 2

// after counts strange characters in a row: a letter ends the row, a sign does
// not, since the bytes between two strings read as signs, too.
func after(odd int, kind uint8) int {
	switch kind {
	case wideLetter:
		return 0
	case wideNot:
		return odd + 1
	}
	return odd
}

// follow returns the run of text around the character at i, and where it ends.
func (w *wideTables) follow(b []byte, i int, e rawEncoding) (rawRun, int) {
	if e == encGB18030 {
		return w.followGB(b, i)
	}
	step := 2
	zero := func(k int) bool { return k >= 0 && k+1 < len(b) && b[k] == 0 && b[k+1] == 0 }
	switch {
	case e == encUTF16LE && zero(i-2) && zero(i+2):
		e, step = encUTF32LE, 4
	case e == encUTF16BE && zero(i-2) && zero(i-6):
		e, step, i = encUTF32BE, 4, i-2
	}
	unit := func(k int) (rune, bool) {
		var v uint32
		for n := range step {
			if e == encUTF16BE || e == encUTF32BE {
				v = v<<8 | uint32(b[k+n])
			} else {
				v |= uint32(b[k+n]) << (8 * n)
			}
		}
		return rune(v), v >= ' ' && v <= utf8.MaxRune || isBlank(rune(v))
	}
	kind := func(r rune) uint8 {
		if r >= 1<<16 {
			return wideNot
		}
		return w.class[r] >> 4
	}
	start, odd := i, 0
	for k := i - step; k >= 0 && odd < maxStrange; k -= step {
		r, ok := unit(k)
		if !ok {
			break
		}
		if odd = after(odd, kind(r)); odd == 0 {
			start = k
		}
	}
	var text []byte
	end, kept := start, 0
	odd = 0
	for k := start; k+step <= len(b) && odd < maxStrange; k += step {
		r, ok := unit(k)
		if !ok {
			break
		}
		if step == 2 && utf16.IsSurrogate(r) && k+4 <= len(b) {
			low, _ := unit(k + 2)
			if r = utf16.DecodeRune(r, low); r != utf8.RuneError {
				k += 2
			}
		}
		text = utf8.AppendRune(text, r)
		if odd = after(odd, kind(r)); odd == 0 {
			kept, end = len(text), k+step
		}
	}
	return rawRun{at: start, text: text[:kept], enc: e}, end
}

// maxBack bytes are looked at for where a run of GB18030 begins.
const maxBack = 4 << 10

// followGB is follow for GB18030, whose characters take one, two or four bytes.
func (w *wideTables) followGB(b []byte, i int) (rawRun, int) {
	var text []byte
	start := w.startGB(b, i)
	k, odd, kept, end := start, 0, 0, i+2
	for odd < maxStrange {
		r, n := w.charGB(b, k)
		if n == 0 {
			break
		}
		text = utf8.AppendRune(text, r)
		k += n
		kind := uint8(wideNot)
		switch n {
		case 1:
			kind = w.class[b[k-1]] >> 4 // ASCII is that of UTF-16
		case 2:
			kind = w.class[uint16(b[k-2])<<8|uint16(b[k-1])] >> 2 & 3
		}
		if odd = after(odd, kind); odd == 0 {
			kept, end = len(text), max(end, k)
		}
	}
	return rawRun{at: start, text: text[:kept], enc: encGB18030}, end
}

// startGB returns where the text begins that the character at i belongs to. A
// second byte may be an ASCII letter, so the text is read forward from a place
// that can only lie between two characters.
func (w *wideTables) startGB(b []byte, i int) int {
	from := i
	for from > 0 && i-from < maxBack && b[from-1] != 0x7F && b[from-1] != 0xFF && (b[from-1] >= ' ' || isBlank(b[from-1])) {
		from--
	}
	for first := from; first < min(from+4, i); first++ {
		start, k := first, first
		for k < i {
			_, n := w.charGB(b, k)
			if n == 0 { // noise before the text
				k++
				start = k
				continue
			}
			k += n
		}
		if k == i {
			return start
		}
	}
	return i
}

// isBlank reports whether a control character stands in texts.
func isBlank[T byte | rune](c T) bool { return c == '\t' || c == '\n' || c == '\r' }

// charGB decodes the character at k; n is 0 when there is none.
func (w *wideTables) charGB(b []byte, k int) (r rune, n int) {
	switch {
	case k >= len(b):
		return 0, 0
	case b[k] < 0x7F:
		if b[k] < ' ' && !isBlank(b[k]) {
			return 0, 0
		}
		return rune(b[k]), 1
	case k+1 < len(b) && w.gb[uint16(b[k])<<8|uint16(b[k+1])] != 0:
		return rune(w.gb[uint16(b[k])<<8|uint16(b[k+1])]), 2
	case k+3 < len(b) && b[k+1] >= '0' && b[k+1] <= '9':
		out, err := simplifiedchinese.GB18030.NewDecoder().Bytes(b[k : k+4])
		if r, n := utf8.DecodeRune(out); err == nil && n == len(out) && r != utf8.RuneError {
			return r, 4
		}
	}
	return 0, 0
}
