package dedup

import (
	"cmp"
	"slices"
)

// A hunk is a stretch of two texts that differs: a[a0:a1] stands where b[b0:b1]
// does. One of them may be empty.
type hunk struct{ a0, a1, b0, b1 int }

// A differ finds the shortest edit script between two texts (Myers 1986): its
// time is about their length plus the square of the distance, so that unlike
// texts are given up early. Its buffers are reused.
type differ struct {
	hunks []hunk
	v     []int32
	trace []int32
	// of long texts: where a run of letters stands in a, -1: in several places;
	// and its number among those met in b
	at   map[uint64]int32
	seen map[uint64]int
}

const (
	// maxScript bounds the distance of one script, and with it the memory of its
	// trace: 4 MB.
	maxScript = 1024
	// anchorRunes is the length of what long texts are aligned by.
	anchorRunes = 16
	// longRunes is from where on texts are aligned by anchors first.
	longRunes = 2048
)

// diff returns the number of letters to insert and delete on the way from a to b,
// and leaves the hunks. ok is false when there are more than most.
func (d *differ) diff(a, b []rune, most int) (dist int, ok bool) {
	d.hunks = d.hunks[:0]
	if len(a) > longRunes || len(b) > longRunes {
		return d.anchored(a, b, most, maxScript)
	}
	return d.script(a, b, 0, 0, most)
}

// script is diff for texts of bounded length, which begin at a0 and b0 of whole
// ones.
func (d *differ) script(a, b []rune, a0, b0, most int) (int, bool) {
	head := 0
	for head < len(a) && head < len(b) && a[head] == b[head] {
		head++
	}
	a, b, a0, b0 = a[head:], b[head:], a0+head, b0+head
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	switch {
	case len(a) == 0 && len(b) == 0:
		return 0, true
	case len(a) == 0 || len(b) == 0:
		d.add(hunk{a0, a0 + len(a), b0, b0 + len(b)})
		return len(a) + len(b), len(a)+len(b) <= most
	}
	most = min(most, maxScript)
	if gap := len(a) - len(b); max(gap, -gap) > most {
		return 0, false
	}
	steps, ok := d.forward(a, b, most)
	if !ok {
		return 0, false
	}
	d.backward(a, b, a0, b0, steps)
	return steps, true
}

// forward finds the distance and keeps the furthest ends of each step: those of
// step n are trace[n*n:][:2n+1], by diagonal from -n.
func (d *differ) forward(a, b []rune, most int) (steps int, ok bool) {
	n, m := len(a), len(b)
	if len(d.v) < 2*most+3 {
		d.v = make([]int32, 2*most+3)
	}
	v, zero := d.v, most+1
	v[zero+1] = 0
	d.trace = d.trace[:0]
	for step := 0; step <= most; step++ {
		// of the diagonals from -step on only those from which the end, on diagonal
		// n-m, can still be reached; the neighbours they come from were such, too
		low, high := max(-step, n-m-(most-step)), min(step, n-m+(most-step))
		low += (low + step) & 1 // they have the parity of step
		for k := low; k <= high; k += 2 {
			var x int
			if k == -step || k != step && v[zero+k-1] < v[zero+k+1] {
				x = int(v[zero+k+1]) // down: insert from b
			} else {
				x = int(v[zero+k-1]) + 1 // right: delete from a
			}
			y := x - k
			for x < n && y < m && y >= 0 && a[x] == b[y] {
				x, y = x+1, y+1
			}
			v[zero+k] = int32(x)
			if x >= n && y >= m {
				d.trace = append(d.trace, v[zero-step:zero+step+1]...)
				return step, true
			}
		}
		d.trace = append(d.trace, v[zero-step:zero+step+1]...)
	}
	return 0, false
}

// backward walks the trace to the start and appends its hunks in order.
func (d *differ) backward(a, b []rune, a0, b0, steps int) {
	first := len(d.hunks)
	x, y := len(a), len(b)
	for step := steps; step > 0; step-- {
		prev := d.trace[(step-1)*(step-1):]
		k, zero := x-y, step-1
		from := k - 1 // right
		if k == -step || k != step && prev[zero+k-1] < prev[zero+k+1] {
			from = k + 1 // down
		}
		px := int(prev[zero+from])
		py := px - from
		ex, ey := px, py // where the edit ends
		if from < k {
			ex++
		} else {
			ey++
		}
		h := hunk{a0 + px, a0 + ex, b0 + py, b0 + ey}
		if n := len(d.hunks); n > first && d.hunks[n-1].a0 == h.a1 && d.hunks[n-1].b0 == h.b1 {
			d.hunks[n-1].a0, d.hunks[n-1].b0 = h.a0, h.b0
		} else {
			d.hunks = append(d.hunks, h)
		}
		x, y = px, py
	}
	for i, j := first, len(d.hunks)-1; i < j; i, j = i+1, j-1 {
		d.hunks[i], d.hunks[j] = d.hunks[j], d.hunks[i]
	}
}

// add appends a hunk, joined with the one before when nothing stands between.
func (d *differ) add(h hunk) {
	if n := len(d.hunks); n > 0 && d.hunks[n-1].a1 == h.a0 && d.hunks[n-1].b1 == h.b0 {
		d.hunks[n-1].a1, d.hunks[n-1].b1 = h.a1, h.b1
		return
	}
	d.hunks = append(d.hunks, h)
}

// anchored aligns long texts by what stands once in each, in the longest run of
// places that rise in both, and compares what lies between. A gap whose distance
// is above gapMost counts whole.
func (d *differ) anchored(a, b []rune, most, gapMost int) (dist int, ok bool) {
	i, j := 0, 0 // up to where both are aligned
	gap := func(i1, j1 int) {
		hunks := len(d.hunks)
		n, ok := d.script(a[i:i1], b[j:j1], i, j, min(gapMost, most-dist))
		if !ok {
			n = i1 - i + j1 - j
			d.hunks = d.hunks[:hunks]
			d.add(hunk{i, i1, j, j1})
		}
		dist += n
	}
	for _, at := range rising(d.anchors(a, b)) {
		if dist > most {
			return dist, false
		}
		x, y := int(at.a), int(at.b)
		if x < i || y < j {
			continue // inside of what the last one has grown to
		}
		for x > i && y > j && a[x-1] == b[y-1] {
			x, y = x-1, y-1
		}
		gap(x, y)
		i, j = int(at.a)+anchorRunes, int(at.b)+anchorRunes
		for i < len(a) && j < len(b) && a[i] == b[j] {
			i, j = i+1, j+1
		}
	}
	gap(len(a), len(b))
	return dist, dist <= most
}

// An anchor is where a run of letters stands that each text has once.
type anchor struct{ a, b int32 }

// anchors lists them in the order of b.
func (d *differ) anchors(a, b []rune) []anchor {
	if d.at == nil {
		d.at, d.seen = map[uint64]int32{}, map[uint64]int{}
	}
	clear(d.at)
	clear(d.seen)
	eachRun(a, func(hash uint64, at int32) {
		if _, twice := d.at[hash]; twice {
			at = -1
		}
		d.at[hash] = at
	})
	var out []anchor
	eachRun(b, func(hash uint64, at int32) {
		p, known := d.at[hash]
		if !known || p < 0 || !slices.Equal(a[p:p+anchorRunes], b[at:at+anchorRunes]) {
			return
		}
		if n, twice := d.seen[hash]; twice {
			out[n].a = -1
			return
		}
		d.seen[hash] = len(out)
		out = append(out, anchor{p, at})
	})
	return slices.DeleteFunc(out, func(x anchor) bool { return x.a < 0 })
}

// rising returns the longest subsequence that rises in a (patience sorting).
func rising(list []anchor) []anchor {
	var tops []int // by length: the anchor that ends such a run lowest
	before := make([]int, len(list))
	for n, x := range list {
		k, _ := slices.BinarySearchFunc(tops, x.a, func(i int, a int32) int { return cmp.Compare(list[i].a, a) })
		before[n] = -1
		if k > 0 {
			before[n] = tops[k-1]
		}
		if k == len(tops) {
			tops = append(tops, n)
		} else {
			tops[k] = n
		}
	}
	out := make([]anchor, len(tops))
	for k, n := len(tops)-1, 0; k >= 0; k-- {
		if k == len(tops)-1 {
			n = tops[k]
		}
		out[k], n = list[n], before[n]
	}
	return out
}

// eachRun calls f with a hash of every anchorRunes neighbouring letters.
func eachRun(s []rune, f func(hash uint64, at int32)) {
	h := uint64(0)
	for i, r := range s {
		h = h*rollBase + uint64(r)
		if i >= anchorRunes {
			h -= rollOut * uint64(s[i-anchorRunes])
		}
		if i+1 >= anchorRunes {
			f(h, int32(i+1-anchorRunes))
		}
	}
}

// rollOut is rollBase to the power of anchorRunes.
const rollOut uint64 = 0xf53f7dff42a4f4c1
