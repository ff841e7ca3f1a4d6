package format

import (
	"errors"

	"github.com/parquet-go/parquet-go"
)

// errLevels is what columns say that do not fit together.
var errLevels = errors.New("the columns do not fit together: their repetition and definition levels contradict each other")

// An assembly puts the values of a row back together: Parquet stores columns,
// with levels that say where nested values belong (the Dremel encoding).
type assembly struct {
	root *pqNode
	walk *rowWalk
	cols [][]parquet.Value // of the row, by leaf column
	bad  bool
}

func newAssembly(root *pqNode, w *rowWalk) *assembly {
	return &assembly{root: root, walk: w, cols: make([][]parquet.Value, root.end)}
}

// row appends a row to the walk's buffer as one JSON object.
func (a *assembly) row(row parquet.Row) error {
	clear(a.cols)
	a.bad = false
	for len(row) > 0 {
		c := row[0].Column()
		n := 1
		for n < len(row) && row[n].Column() == c {
			n++
		}
		if c < 0 || c >= len(a.cols) || a.cols[c] != nil {
			return errLevels
		}
		a.cols[c], row = row[:n], row[n:]
	}
	a.walk.keys.reset()
	a.walk.buf = a.value(a.walk.buf, a.root)
	for _, rest := range a.cols {
		a.bad = a.bad || len(rest) > 0
	}
	if a.bad {
		return errLevels
	}
	return nil
}

// level returns the definition level of the next value of a node.
func (a *assembly) level(n *pqNode) int {
	if len(a.cols[n.first]) == 0 {
		a.bad = true
		return 0
	}
	return a.cols[n.first][0].DefinitionLevel()
}

// skip takes the placeholders that the columns hold where nothing is.
func (a *assembly) skip(n *pqNode) {
	for c := n.first; c < n.end; c++ {
		if len(a.cols[c]) == 0 {
			a.bad = true
			continue
		}
		a.cols[c] = a.cols[c][1:]
	}
}

func (a *assembly) value(dst []byte, n *pqNode) []byte {
	level := a.level(n)
	if level < n.def || a.bad {
		a.skip(n)
		return append(dst, "null"...)
	}
	switch n.kind {
	case pqLeaf:
		v := a.cols[n.first][0]
		a.cols[n.first] = a.cols[n.first][1:]
		if v.IsNull() { // where the levels promise one
			a.bad = true
			return append(dst, "null"...)
		}
		return n.append(&a.walk.values, dst, v)
	case pqStruct:
		dst = append(dst, '{')
		for i, c := range n.children {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = a.value(append(dst, c.key...), c)
		}
		return append(dst, '}')
	case pqList:
		return a.elements(dst, n, '[', ']', func(dst []byte) []byte { return a.value(dst, n.children[0]) })
	}
	keys := &a.walk.keys
	keys.open()
	dst = a.elements(dst, n, '{', '}', func(dst []byte) []byte {
		key := a.value(nil, n.children[0]) // may itself hold maps
		return a.value(keys.add(dst, key), n.children[1])
	})
	keys.shut()
	return dst
}

// elements writes what repeats, from the level of the first element on.
func (a *assembly) elements(dst []byte, n *pqNode, open, shut byte, element func([]byte) []byte) []byte {
	dst = append(dst, open)
	if a.level(n) < n.elemDef {
		a.skip(n)
		return append(dst, shut)
	}
	for !a.bad {
		dst = element(dst)
		next := a.cols[n.first]
		if len(next) == 0 || next[0].RepetitionLevel() < n.rep {
			break
		}
		if next[0].RepetitionLevel() > n.rep {
			a.bad = true
		}
		dst = append(dst, ',')
	}
	return append(dst, shut)
}

// mapKeys finds keys that stand twice in one map of a row. Maps nest: those that
// are open stand one behind the other.
type mapKeys struct {
	maps  []map[string]bool
	depth int
	twice []byte
}

func (k *mapKeys) reset() { k.depth, k.twice = 0, nil }

// open begins a map, shut ends it.
func (k *mapKeys) open() {
	if k.depth == len(k.maps) {
		k.maps = append(k.maps, map[string]bool{})
	}
	clear(k.maps[k.depth])
	k.depth++
}

func (k *mapKeys) shut() { k.depth-- }

// add appends a key, a JSON value, as the name of a field: text as it is, other
// values as their JSON text.
func (k *mapKeys) add(dst, key []byte) []byte {
	if len(key) == 0 || key[0] != '"' {
		key = quoteJSON(key)
	}
	seen := k.maps[k.depth-1]
	if seen[string(key)] {
		k.twice = key
	}
	seen[string(key)] = true
	return append(append(dst, key...), ':')
}

// repeated returns a key that stood twice in one map of the row.
func (k *mapKeys) repeated() ([]byte, bool) { return k.twice, k.twice != nil }
