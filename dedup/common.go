package dedup

import "math/bits"

// A measure tells how far texts are from one that it holds, by the longest common
// subsequence of their letters, 64 letters of the held text a step (Hyyrö 2004).
type measure struct {
	text  []rune
	words int      // of a row
	rows  []uint64 // where each letter stands in text; the first row is that of no letter
	low   [128]uint16
	wide  bool                         // high has any
	high  [1 << measureSlots]letterRow // of letters above ASCII: open addressing
}

// A letterRow is the row of one letter; 0: there is none.
type letterRow struct {
	letter rune
	row    uint16
}

const (
	// measureMost is how many letters a held text may have: beyond it the differ is
	// as quick.
	measureMost  = 256
	measureWords = measureMost / 64
	measureSlots = 9 // at most half of the slots are used
)

// hold makes b the text the measure holds; false: it is too long for it.
func (m *measure) hold(b []rune) bool {
	for _, r := range m.text {
		if r < rune(len(m.low)) {
			m.low[r] = 0
		}
	}
	if m.wide {
		clear(m.high[:])
		m.wide = false
	}
	m.text = m.text[:0]
	if len(b) > measureMost {
		return false
	}
	m.text = append(m.text, b...)
	m.words = (len(b) + 63) / 64
	m.rows = append(m.rows[:0], make([]uint64, m.words)...)
	for i, r := range b {
		m.wide = m.wide || r >= rune(len(m.low))
		row := m.row(r)
		if *row == 0 {
			*row = uint16(len(m.rows) / max(1, m.words))
			m.rows = append(m.rows, make([]uint64, m.words)...)
		}
		m.rows[int(*row)*m.words+i/64] |= 1 << (i % 64)
	}
	return true
}

// row returns where the row of a letter is kept, 0 where it has none.
func (m *measure) row(r rune) *uint16 {
	if uint(r) < uint(len(m.low)) {
		return &m.low[r]
	}
	for i := uint32(r) * 0x9E3779B1 >> (32 - measureSlots); ; i = (i + 1) % uint32(len(m.high)) {
		s := &m.high[i]
		if s.row == 0 {
			s.letter = r
		}
		if s.letter == r {
			return &s.row
		}
	}
}

// distance returns the number of letters to insert and delete on the way from a to
// the text held.
func (m *measure) distance(a []rune) int {
	var left [measureWords]uint64 // bit i: letter i ends no longer subsequence
	v := left[:m.words]
	for i := range v {
		v[i] = ^uint64(0)
	}
	for _, r := range a {
		row := int(*m.row(r))
		if row == 0 {
			continue
		}
		var carry uint64
		for i, at := range m.rows[row*m.words:][:len(v)] {
			u := v[i] & at
			var sum uint64
			sum, carry = bits.Add64(v[i], u, carry)
			v[i] = sum | v[i]&^at
		}
	}
	common := 0
	for i, w := range v {
		if last := len(m.text) - 64*i; last < 64 {
			w |= ^uint64(0) << last
		}
		common += bits.OnesCount64(^w)
	}
	return len(a) + len(m.text) - 2*common
}
