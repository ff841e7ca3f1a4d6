package dedup

// A bag tells unlike texts apart quickly: the pairs of neighbouring letters they
// do not share. One letter put in or left out changes three pairs at most, so that
// a third of the difference is never more than the distance. It holds one text,
// which others are compared with.
type bag struct {
	count [1 << bagBits]int16
	text  []rune   // what it holds
	taken []uint32 // slots of pairs that were found
}

const bagBits = 11

func newBag() *bag { return &bag{} }

func bagSlot(x, y rune) uint32 {
	return (uint32(x)*0x9E3779B1 + uint32(y)*0x85EBCA6B) >> (32 - bagBits)
}

// hold makes b the text the bag holds.
func (g *bag) hold(b []rune) {
	for i := 1; i < len(g.text); i++ {
		g.count[bagSlot(g.text[i-1], g.text[i])] = 0
	}
	g.text = append(g.text[:0], b...)
	for i := 1; i < len(b); i++ {
		g.count[bagSlot(b[i-1], b[i])]++
	}
}

// distance is at most the number of letters to insert and delete on the way from
// a to the text held, with which it shares so many pairs.
func (g *bag) distance(a []rune) (dist, shared int) {
	g.taken = g.taken[:0]
	for i := 1; i < len(a); i++ {
		at := bagSlot(a[i-1], a[i])
		if c := &g.count[at]; *c > 0 {
			*c--
			g.taken = append(g.taken, at)
		}
	}
	for _, at := range g.taken {
		g.count[at]++
	}
	shared = len(g.taken)
	return (max(0, len(a)-1) + max(0, len(g.text)-1) - 2*shared) / 3, shared
}
