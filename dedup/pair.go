package dedup

import (
	"bufio"
	"fmt"
	"io"
	"strconv"

	"github.com/drydock-ml/drydock"
)

// A Ref names a record and where it stood.
type Ref struct {
	ID   drydock.ID
	File *drydock.File
	At   drydock.Locator
}

// String writes "id (file place)".
func (r Ref) String() string {
	if r.File == nil {
		return r.ID.String()
	}
	return fmt.Sprintf("%s (%s %s)", r.ID, r.File.Name, r.At)
}

// A Pair is a record that was removed and the one that stands for it; or, when
// Listed, one that resembles the other, differs in something that counts, and
// stays.
type Pair struct {
	Removed, Kept Ref     // a listed record is called Removed, too
	Reason        string  // Duplicate, Conflict, Near; of a listed one OtherNumber and the like
	Similarity    float64 // 0–1: the letters both have in common; 1 for equal ones
	Differs       string  // what differs, folded: "右→左 +不 -的"; empty for equal ones
	Listed        bool
}

// AppendJSON appends the pair as one JSON line, drydock.dedup.pair/1. The cluster
// is the id of the record that stays for all of it.
func (p Pair) AppendJSON(dst []byte) []byte {
	if p.Listed {
		dst = append(dst, `{"listed":`...)
	} else {
		dst = append(dst, `{"removed":`...)
	}
	dst = p.Removed.appendJSON(dst)
	dst = append(dst, `,"kept":`...)
	dst = p.Kept.appendJSON(dst)
	dst = append(dst, `,"reason":`...)
	dst = drydock.AppendJSONString(dst, p.Reason)
	dst = append(dst, `,"similarity":`...)
	dst = strconv.AppendFloat(dst, p.Similarity, 'f', 4, 64)
	dst = append(dst, `,"differs":`...)
	dst = drydock.AppendJSONString(dst, p.Differs)
	dst = append(dst, `,"cluster":`...)
	dst = drydock.AppendJSONString(dst, p.Kept.ID.String())
	return append(dst, `,"schema":"drydock.dedup.pair/1"}`+"\n"...)
}

func (r Ref) appendJSON(dst []byte) []byte {
	f := r.File
	if f == nil {
		f = &drydock.File{}
	}
	for i, field := range [...][2]string{
		{"id", r.ID.String()}, {"source", f.Source}, {"file", f.Name}, {"locator", r.At.String()},
	} {
		dst = append(dst, "{,"[min(i, 1)])
		dst = drydock.AppendJSONString(dst, field[0])
		dst = append(dst, ':')
		dst = drydock.AppendJSONString(dst, field[1])
	}
	return append(dst, '}')
}

// A Tally counts pairs.
type Tally struct {
	Clusters int            // records that stay for others
	Listed   map[string]int // pairs that are only listed, by reason; not nil
}

// WritePairs writes what [Remover.Pairs] returns as JSON Lines, and counts it.
func (r *Remover) WritePairs(w io.Writer) (Tally, error) {
	t := Tally{Listed: map[string]int{}}
	clusters := map[drydock.ID]bool{}
	bw := bufio.NewWriter(w)
	var buf []byte
	for _, p := range r.pairs {
		if p.Listed {
			t.Listed[p.Reason]++
		} else {
			clusters[p.Kept.ID] = true
		}
		buf = p.AppendJSON(buf[:0])
		if _, err := bw.Write(buf); err != nil {
			return t, err
		}
	}
	t.Clusters = len(clusters)
	return t, bw.Flush()
}
