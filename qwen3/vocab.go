package qwen3

import (
	_ "embed"
	"slices"
	"sync"
	"unicode/utf8"
)

// The merges of the tokenizer, pairs of 18-bit ids in the order of their rank
// (scripts/qwen3 writes it). Qwen's, under the Apache License 2.0; see NOTICE.
//
//go:embed merges.bin
var merges []byte

// ByteTokens is how many tokens stand for one byte; the token of merge i has the
// id ByteTokens+i.
const ByteTokens = 256

// vocab is the tokenizer's tables, built on first use in some 60 ms and read-only
// from then on.
type vocab struct {
	left, right []uint32 // the halves of a token, by id; a byte is its own half
	text        []byte   // the bytes of all tokens, one after the other
	start       []uint32 // where a token's bytes begin in text
	shorter     []uint32 // the longest token that begins this one; none for bytes
	pairs       *pairTable
	trie        *trie
	byteToken   [256]uint32
}

const none = ^uint32(0)

var getVocab = sync.OnceValue(buildVocab)

func buildVocab() *vocab {
	n := ByteTokens + len(merges)*8/36
	v := &vocab{
		left: make([]uint32, n), right: make([]uint32, n), start: make([]uint32, n+1), shorter: make([]uint32, n),
		text: make([]byte, 0, 1<<20), pairs: newPairTable(n),
	}
	for i, b := range byteOrder() {
		v.byteToken[b] = uint32(i)
		v.left[i], v.right[i] = uint32(i), uint32(i)
		v.text = append(v.text, b)
		v.start[i+1] = uint32(len(v.text))
	}
	at := uint(0)
	next := func() uint32 {
		x := uint32(0)
		for i := range uint(4) { // 18 bits lie in at most four bytes
			if k := at/8 + i; k < uint(len(merges)) {
				x |= uint32(merges[k]) << (8 * i)
			}
		}
		x = x >> (at % 8) & (1<<18 - 1)
		at += 18
		return x
	}
	for id := uint32(ByteTokens); id < uint32(n); id++ {
		l, r := next(), next()
		v.left[id], v.right[id] = l, r
		v.text = append(append(v.text, v.bytes(l)...), v.bytes(r)...)
		v.start[id+1] = uint32(len(v.text))
		v.pairs.put(l, r, id)
	}
	v.trie = newTrie(v)
	for id := range uint32(n) {
		b := v.bytes(id)
		v.shorter[id] = v.trie.longest(string(b[:len(b)-1]))
	}
	return v
}

// bytes returns what a token stands for.
func (v *vocab) bytes(id uint32) []byte { return v.text[v.start[id]:v.start[id+1]:v.start[id+1]] }

func (v *vocab) size() uint32 { return uint32(len(v.left)) }

// byteOrder lists the bytes in the order of their tokens: GPT-2's, which begins
// with the ones that print.
func byteOrder() []byte {
	var shown, hidden []byte
	for b := range 256 {
		switch {
		case b >= '!' && b <= '~', b >= 0xA1 && b <= 0xAC, b >= 0xAE:
			shown = append(shown, byte(b))
		default:
			hidden = append(hidden, byte(b))
		}
	}
	return append(shown, hidden...)
}

// pairTable finds the token two tokens merge into: open addressing, a power of
// two of slots at most half full.
type pairTable struct {
	shift uint
	slots []pairSlot
	// maybe has a bit for every pair and few others: most pairs that are asked for
	// do not merge, and this answer lies in the cache
	maybe [1 << (maybeBits - 6)]uint64
}

// maybeBits makes a filter of 256 KB, with one pair in 14 let through in vain.
const maybeBits = 21

type pairSlot struct{ left, right, token uint32 }

func newPairTable(n int) *pairTable {
	bits := uint(1)
	for 1<<bits < 2*n {
		bits++
	}
	t := &pairTable{shift: 64 - bits, slots: make([]pairSlot, 1<<bits)}
	for i := range t.slots {
		t.slots[i].token = none
	}
	return t
}

func pairHash(l, r uint32) uint64 { return (uint64(l)<<32 | uint64(r)) * 0x9E3779B97F4A7C15 }

func (t *pairTable) put(l, r, token uint32) {
	h := pairHash(l, r)
	t.maybe[h>>(64-maybeBits)/64] |= 1 << (h >> (64 - maybeBits) % 64)
	i := int(h >> t.shift)
	for t.slots[i].token != none {
		i = (i + 1) & (len(t.slots) - 1)
	}
	t.slots[i] = pairSlot{l, r, token}
}

// get returns none when the two do not merge.
func (t *pairTable) get(l, r uint32) uint32 {
	h := pairHash(l, r)
	if t.maybe[h>>(64-maybeBits)/64]>>(h>>(64-maybeBits)%64)&1 == 0 {
		return none
	}
	for i := int(h >> t.shift); ; i = (i + 1) & (len(t.slots) - 1) {
		s := &t.slots[i]
		if s.token == none || s.left == l && s.right == r {
			return s.token
		}
	}
}

// trie finds the longest token that a text begins with. The node a token ends at
// is its id plus one, other nodes have numbers above; an edge is a slot of an
// open-addressed table under its node and byte.
type trie struct {
	edges  []trieEdge
	tokens uint32   // nodes from 1 to this one end a token
	nodes  uint32   // the last node's number
	inner  []uint64 // by bit: nodes that lead on, so that the end of a token costs no look-up
	// chars leads from the root over one character of two or three bytes at once;
	// 0: no node there
	chars [1 << 16]uint32
}

type trieEdge struct{ key, node uint32 } // key: node<<8 | byte, plus 1; 0: free

// trieBits makes a table of 8 MB; Qwen's tokens fill a third of it.
const trieBits = 20

func (t *trie) slot(key uint32) int { return int(key * 0x9E3779B1 >> (32 - trieBits)) }

// next returns 0 where no token goes on with b.
func (t *trie) next(node uint32, b byte) uint32 {
	key := (node<<8 | uint32(b)) + 1
	for i := t.slot(key); ; i = (i + 1) & (1<<trieBits - 1) {
		e := &t.edges[i]
		if e.key == key {
			return e.node
		}
		if e.key == 0 {
			return 0
		}
	}
}

// add adds a token; those that begin it have been added before.
func (t *trie) add(b []byte, token uint32) {
	node := uint32(0)
	for i, c := range b {
		n := t.next(node, c)
		if n == 0 {
			n = token + 1
			if i < len(b)-1 {
				t.nodes++
				n = t.nodes
			}
			key := (node<<8 | uint32(c)) + 1
			s := t.slot(key)
			for t.edges[s].key != 0 {
				s = (s + 1) & (1<<trieBits - 1)
			}
			t.edges[s] = trieEdge{key, n}
			t.inner[node/64] |= 1 << (node % 64)
		}
		node = n
	}
}

func newTrie(v *vocab) *trie {
	t := &trie{edges: make([]trieEdge, 1<<trieBits), tokens: v.size(), nodes: v.size(), inner: make([]uint64, 1<<trieBits/64)}
	byLength := make([]uint32, v.size())
	for i := range byLength {
		byLength[i] = uint32(i)
	}
	slices.SortStableFunc(byLength, func(a, b uint32) int { return v.length(a) - v.length(b) })
	for _, id := range byLength {
		t.add(v.bytes(id), id)
	}
	for r := rune(0x80); r < 1<<16; r++ {
		var b [4]byte
		t.chars[r] = t.walk(b[:utf8.EncodeRune(b[:], r)])
	}
	return t
}

// walk returns the node at the end of b, 0 when there is none.
func (t *trie) walk(b []byte) uint32 {
	node := uint32(0)
	for _, c := range b {
		if node = t.next(node, c); node == 0 {
			break
		}
	}
	return node
}

// longest returns the longest token b begins with, none for no byte.
func (t *trie) longest(b string) uint32 {
	best, node, i := none, uint32(0), 0
	if len(b) > 2 && b[0] >= 0xE0 && b[0] < 0xF0 {
		// valid UTF-8, as texts are by now; inside a character b[0] is below
		r := uint32(b[0]&0x0F)<<12 | uint32(b[1]&0x3F)<<6 | uint32(b[2]&0x3F)
		if node = t.chars[r]; node != 0 && node <= t.tokens {
			best, i = node-1, 3
		} else {
			node = 0 // what token it begins with is a part of it
		}
	}
	for ; i < len(b) && t.inner[node/64]>>(node%64)&1 != 0; i++ {
		if node = t.next(node, b[i]); node == 0 {
			break
		}
		if node <= t.tokens {
			best = node - 1
		}
	}
	return best
}
