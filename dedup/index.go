package dedup

import "math/bits"

// bucketMax is how many records a key leads to at most: the first ones. A gram
// that more records share is a phrase of the trade and tells nothing; and it is
// what keeps the time of a record bounded.
const bucketMax = 64

// An index leads from keys to the records that stay, by their number in the order
// of preference. It holds 12 bytes for a key of a record, and 4 to 8 for its
// place.
type index struct {
	heads   []uint32 // by low bits of the key: 1 + the newest entry
	entries []entry
}

type entry struct{ key, record, next uint32 }

// newIndex makes an index for about so many keys.
func newIndex(keys int) *index {
	size := 1 << bits.Len(uint(min(max(keys, 1024), 1<<30)))
	return &index{heads: make([]uint32, size)}
}

// add leads from a key to a record, unless it is known for enough of them.
// Records come in rising order.
func (x *index) add(key, record uint32) {
	head := &x.heads[int(key)&(len(x.heads)-1)]
	n := 0
	for i := *head; i != 0; i = x.entries[i-1].next {
		if x.entries[i-1].key == key {
			if n++; n == bucketMax {
				return
			}
		}
	}
	x.entries = append(x.entries, entry{key, record, *head})
	*head = uint32(len(x.entries))
}

// find calls f with the records of a key that are not below from, newest first.
func (x *index) find(key, from uint32, f func(record uint32)) {
	for i := x.heads[int(key)&(len(x.heads)-1)]; i != 0; {
		e := x.entries[i-1]
		if e.record < from {
			return
		}
		if e.key == key {
			f(e.record)
		}
		i = e.next
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
