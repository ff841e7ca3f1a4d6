package dedup

import "math/bits"

// listMax is how many records a key leads to at most: the first ones. A gram that
// more records share is a phrase of the trade and tells nothing; and it is what
// keeps the time of a record bounded.
const listMax = 32

// An index leads from keys to the records that stay, by their number in the order
// of preference. A key of one record takes 8 bytes of a table that is half to
// three quarters full; the records of other keys stand together, so that a look-up
// costs two places in memory, not one for each.
type index struct {
	slots []slot // by the key's low bits, open addressing
	used  int
	// lists are blocks of records of keys that have several: how many, and room for
	// 2, 4, 8 … listMax
	lists []uint32
}

// A slot is one key. to is 0 in an empty one, else one more than its record, or with
// inList where its list starts.
type slot struct{ key, to uint32 }

const inList = 1 << 31

// newIndex makes an index for about so many keys.
func newIndex(keys int) *index {
	return &index{slots: make([]slot, 1<<bits.Len(uint(max(keys, 512))))}
}

// slot returns that of a key, or the empty one where it belongs.
func (x *index) slot(key uint32) *slot {
	mask := uint32(len(x.slots) - 1)
	for i := key & mask; ; i = (i + 1) & mask {
		if s := &x.slots[i]; s.to == 0 || s.key == key {
			return s
		}
	}
}

// add leads from a key to a record, unless it is known for enough of them.
// Records come in rising order.
func (x *index) add(key, record uint32) {
	s := x.slot(key)
	if s.to == 0 {
		*s = slot{key, record + 1}
		if x.used++; 4*x.used > 3*len(x.slots) {
			x.grow()
		}
		return
	}
	if s.to&inList == 0 {
		x.lists = append(x.lists, 2, s.to-1, record)
		s.to = uint32(len(x.lists)-3) | inList
		return
	}
	at := s.to &^ inList
	switch n := x.lists[at]; {
	case n == listMax:
	case n&(n-1) == 0: // the block is full: a larger one
		s.to = uint32(len(x.lists)) | inList
		x.lists = append(x.lists, n+1)
		x.lists = append(x.lists, x.lists[at+1:at+1+n]...)
		x.lists = append(x.lists, record)
		for range n - 1 {
			x.lists = append(x.lists, 0)
		}
	default:
		x.lists[at+1+n] = record
		x.lists[at] = n + 1
	}
}

func (x *index) grow() {
	old := x.slots
	x.slots = make([]slot, 2*len(old))
	for _, s := range old {
		if s.to > 0 {
			*x.slot(s.key) = s
		}
	}
}

// lookAhead is how many keys are looked up before what they lead to is read: so
// one wait for memory covers many of them.
const lookAhead = 32

// count adds a weight to the tally for every record that one of the keys leads to
// and that is not below from.
func (x *index) count(keys []uint32, from, weight uint32, t *tally) {
	var to [lookAhead]uint32
	for len(keys) > 0 {
		some := keys[:min(len(keys), lookAhead)]
		keys = keys[len(some):]
		for i, k := range some {
			to[i] = x.slot(k).to
		}
		for _, at := range to[:len(some)] {
			switch {
			case at == 0:
			case at&inList == 0:
				if at > from {
					t.add(at-1, weight)
				}
			default:
				at &^= inList
				list := x.lists[at+1 : at+1+x.lists[at]]
				for i := len(list) - 1; i >= 0 && list[i] >= from; i-- { // newest first
					t.add(list[i], weight)
				}
			}
		}
	}
}

// A tally counts how many keys candidates share with a record.
type tally struct {
	slots []tallySlot
	stamp uint32
	found []uint32 // slots in use
}

type tallySlot struct{ stamp, record, shared uint32 }

func newTally() *tally { return &tally{slots: make([]tallySlot, 1024)} }

func (t *tally) reset() {
	t.found = t.found[:0]
	if t.stamp++; t.stamp == 0 {
		clear(t.slots)
		t.stamp = 1
	}
}

// add gives a candidate so many shared keys more.
func (t *tally) add(record, n uint32) {
	if 2*len(t.found) >= len(t.slots) {
		t.grow()
	}
	mask := uint32(len(t.slots) - 1)
	for i := record * 0x9E3779B1 >> 7 & mask; ; i = (i + 1) & mask {
		s := &t.slots[i]
		if s.stamp != t.stamp {
			*s = tallySlot{t.stamp, record, n}
			t.found = append(t.found, i)
			return
		}
		if s.record == record {
			s.shared += n
			return
		}
	}
}

func (t *tally) grow() {
	old := *t
	*t = tally{slots: make([]tallySlot, 2*len(old.slots)), stamp: 1}
	for _, i := range old.found {
		t.add(old.slots[i].record, old.slots[i].shared)
	}
}
