package dedup

// A bag tells unlike texts apart quickly: the pairs of neighbouring letters they
// do not share. One letter put in or left out changes three pairs at most, so that
// a third of the difference is never more than the distance.
type bag struct{ count [1 << bagBits]int16 }

const bagBits = 11

func newBag() *bag { return &bag{} }

func bagSlot(x, y rune) uint32 {
	return (uint32(x)*0x9E3779B1 + uint32(y)*0x85EBCA6B) >> (32 - bagBits)
}

// distance is at most the number of letters to insert and delete on the way from
// a to b.
func (g *bag) distance(a, b []rune) int {
	return (max(0, len(a)-1) + max(0, len(b)-1) - 2*g.shared(a, b)) / 3
}

// shared counts the pairs that both have.
func (g *bag) shared(a, b []rune) (n int) {
	for i := 1; i < len(a); i++ {
		g.count[bagSlot(a[i-1], a[i])]++
	}
	for i := 1; i < len(b); i++ {
		if c := &g.count[bagSlot(b[i-1], b[i])]; *c > 0 {
			*c--
			n++
		}
	}
	for i := 1; i < len(a); i++ {
		g.count[bagSlot(a[i-1], a[i])] = 0
	}
	return n
}
