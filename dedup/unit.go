package dedup

import (
	"cmp"
	"encoding/binary"
	"slices"

	"github.com/drydock-ml/drydock"
)

// unit holds what one unit of the input sketched, in reading order.
type unit struct {
	keys    []sketch
	ids     []drydock.ID
	answers []uint32 // hash of the right answer; 0 when there is none
	files   []fileRun
	places  []byte   // locators, one after the other
	names   []string // sheets and parts the places point at
	texts   payloads // of near duplicates
}

// fileRun says that records from index start on came from file.
type fileRun struct {
	start int
	file  *drydock.File
	rank  uint32
}

// spot is a record by unit and position: source order.
type spot struct{ unit, at uint32 }

func (s spot) compare(o spot) int {
	return cmp.Or(cmp.Compare(s.unit, o.unit), cmp.Compare(s.at, o.at))
}

func (u *unit) addPlace(o drydock.Origin, prefer func(*drydock.File) int) {
	if n := len(u.files); n == 0 || u.files[n-1].file != o.File {
		run := fileRun{start: len(u.keys) - 1, file: o.File}
		if prefer != nil && o.File != nil {
			run.rank = uint32(max(prefer(o.File), 0))
		}
		u.files = append(u.files, run)
	}
	at := o.At
	for _, v := range []int{at.Page, at.Para, at.Line, at.Row, u.name(at.Part), u.name(at.Sheet)} {
		u.places = binary.AppendUvarint(u.places, uint64(max(v, 0)))
	}
}

// rank is that of the file a record came from.
func (u *unit) rank(at uint32) uint32 {
	i, found := slices.BinarySearchFunc(u.files, int(at), func(f fileRun, at int) int { return cmp.Compare(f.start, at) })
	if !found {
		i--
	}
	return u.files[i].rank
}

// name returns 0 for no name, else its number; a unit has few.
func (u *unit) name(s string) int {
	if s == "" {
		return 0
	}
	i := slices.Index(u.names, s)
	if i < 0 {
		i = len(u.names)
		u.names = append(u.names, s)
	}
	return i + 1
}

// refs names the records at the given rising positions.
func (u *unit) refs(positions []uint32) []Ref {
	out := make([]Ref, 0, len(positions))
	rest, run := u.places, -1
	for i := 0; len(out) < len(positions); i++ {
		var v [6]int
		for j := range v {
			x, n := binary.Uvarint(rest)
			v[j], rest = int(x), rest[n:]
		}
		for run+1 < len(u.files) && u.files[run+1].start <= i {
			run++
		}
		if uint32(i) != positions[len(out)] {
			continue
		}
		name := func(n int) string {
			if n == 0 {
				return ""
			}
			return u.names[n-1]
		}
		out = append(out, Ref{ID: u.ids[i], File: u.files[run].file, At: drydock.Locator{
			Page: v[0], Para: v[1], Line: v[2], Row: v[3], Part: name(v[4]), Sheet: name(v[5]),
		}})
	}
	return out
}
