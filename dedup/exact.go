// Package dedup removes records that repeat others. [Exact] finds those that say
// the same after folding; which of them stays, and the pair, is recorded.
//
// Deduplication sees every record before it decides, so it works in two passes:
// sketches are taken while the records are first read, Decide is called once,
// and the records are then sent through Do.
package dedup

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/internal/parallel"
)

// Reasons a record is dropped.
const (
	Duplicate = "duplicate_exact"    // another record says the same
	Conflict  = "conflicting_answer" // the same question has another answer elsewhere
)

// Exact removes records that repeat an earlier one. Of equal records the first
// in source order stays; of equal questions the first that has an answer. A
// question with another answer than the one that stays is dropped as a conflict.
//
// It holds 36 bytes for a record and about 4 for its place until Decide, and
// only the repeated records' pairs after it.
type Exact struct {
	Workers int // goroutines of Decide; below 1: one per CPU

	mu    sync.Mutex
	units []*unit

	decided bool
	pairs   []Pair
	removed map[drydock.ID]int // place in pairs
}

// NewExact returns an empty Exact.
func NewExact() *Exact { return &Exact{} }

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

// A Pair is a record that was removed and the one that stands for it.
type Pair struct {
	Removed, Kept Ref
	Reason        string // Duplicate or Conflict
}

// unit holds what one unit of the input sketched, in reading order.
type unit struct {
	keys    []sketch
	ids     []drydock.ID
	answers []uint32 // hash of the right answer; 0 when there is none
	files   []fileRun
	places  []byte   // locators, one after the other
	names   []string // sheets and parts the places point at
}

// fileRun says that records from index start on came from file.
type fileRun struct {
	start int
	file  *drydock.File
}

// Sketch returns what takes the records of one unit, in order, batch by batch.
// Units are numbered in source order; they may be sketched at the same time and
// in any order. A unit that is sketched again replaces its first sketch.
func (e *Exact) Sketch(number int) func(context.Context, []*drydock.Record) error {
	u := &unit{}
	e.mu.Lock()
	for len(e.units) <= number {
		e.units = append(e.units, nil)
	}
	e.units[number] = u
	e.mu.Unlock()
	var k keyer
	return func(ctx context.Context, batch []*drydock.Record) error {
		for _, r := range batch {
			key, answer := k.key(r)
			u.keys = append(u.keys, key)
			u.ids = append(u.ids, r.ID)
			u.answers = append(u.answers, answer)
			u.addPlace(r.Origin)
		}
		return ctx.Err()
	}
}

func (u *unit) addPlace(o drydock.Origin) {
	if n := len(u.files); n == 0 || u.files[n-1].file != o.File {
		u.files = append(u.files, fileRun{len(u.keys) - 1, o.File})
	}
	at := o.At
	for _, v := range []int{at.Page, at.Para, at.Line, at.Row, u.name(at.Part), u.name(at.Sheet)} {
		u.places = binary.AppendUvarint(u.places, uint64(max(v, 0)))
	}
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

// spot is a record by unit and position: source order.
type spot struct{ unit, at uint32 }

func (s spot) compare(o spot) int {
	return cmp.Or(cmp.Compare(s.unit, o.unit), cmp.Compare(s.at, o.at))
}

type match struct {
	removed, kept spot
	conflict      bool
}

// partitions is how many parts Decide cuts the keys into, by their first byte:
// each is small enough to be matched in a map of its own.
const partitions = 256

// Decide settles which records stay. It is called once, after all sketches.
func (e *Exact) Decide(ctx context.Context) error {
	if e.decided {
		return errors.New("exact duplicates were decided before")
	}
	parts := e.partition()
	found := make([][]match, partitions)
	err := parallel.Each(ctx, e.Workers, partitions, func(_ context.Context, p int) error {
		found[p] = e.matchPart(parts[p])
		return nil
	})
	if err != nil {
		return err
	}
	all := slices.Concat(found...)
	slices.SortFunc(all, func(a, b match) int { return a.removed.compare(b.removed) })
	if err := e.record(all); err != nil {
		return err
	}
	e.units, e.decided = nil, true
	return nil
}

// partition sorts the spots of all records by the first byte of their keys,
// keeping source order within.
func (e *Exact) partition() [partitions][]spot {
	var count [partitions]int
	for _, u := range e.units {
		if u != nil {
			for i := range u.keys {
				count[u.keys[i][0]]++
			}
		}
	}
	var parts [partitions][]spot
	for p, n := range count {
		parts[p] = make([]spot, 0, n)
	}
	for n, u := range e.units {
		if u != nil {
			for i := range u.keys {
				p := u.keys[i][0]
				parts[p] = append(parts[p], spot{uint32(n), uint32(i)})
			}
		}
	}
	return parts
}

// matchPart finds the records that repeat others among spots in source order.
func (e *Exact) matchPart(spots []spot) []match {
	first := make(map[sketch]spot, len(spots))
	repeated := map[sketch][]spot{} // all but the first
	for _, s := range spots {
		k := e.units[s.unit].keys[s.at]
		if _, seen := first[k]; seen {
			repeated[k] = append(repeated[k], s)
		} else {
			first[k] = s
		}
	}
	var out []match
	answer := func(s spot) uint32 { return e.units[s.unit].answers[s.at] }
	for k, rest := range repeated {
		group := append([]spot{first[k]}, rest...)
		kept := group[0]
		if i := slices.IndexFunc(group, func(s spot) bool { return answer(s) != 0 }); i >= 0 {
			kept = group[i]
		}
		for _, s := range group {
			if s != kept {
				out = append(out, match{s, kept, answer(s) != 0 && answer(s) != answer(kept)})
			}
		}
	}
	return out // in map order; Decide sorts
}

// record turns matches, sorted by the removed record, into pairs.
func (e *Exact) record(all []match) error {
	want := map[uint32][]uint32{}
	for _, m := range all {
		want[m.removed.unit] = append(want[m.removed.unit], m.removed.at)
		want[m.kept.unit] = append(want[m.kept.unit], m.kept.at)
	}
	at := make(map[spot]Ref, 2*len(all))
	for n, positions := range want {
		slices.Sort(positions)
		positions = slices.Compact(positions)
		for i, r := range e.units[n].refs(positions) {
			at[spot{n, positions[i]}] = r
		}
	}
	e.pairs = make([]Pair, 0, len(all))
	e.removed = make(map[drydock.ID]int, len(all))
	for _, m := range all {
		p := Pair{Removed: at[m.removed], Kept: at[m.kept], Reason: Duplicate}
		if m.conflict {
			p.Reason = Conflict
		}
		if p.Removed.ID == p.Kept.ID {
			return fmt.Errorf("two records have the id %s: %s and %s", p.Kept.ID, p.Kept, p.Removed)
		}
		e.removed[p.Removed.ID] = len(e.pairs)
		e.pairs = append(e.pairs, p)
	}
	return nil
}

// Pairs returns what was removed in favour of what, in source order of the
// removed records. It must not be changed.
func (e *Exact) Pairs() []Pair { return e.pairs }

// Do drops the records that Decide settled on. It implements [drydock.Step].
func (e *Exact) Do(ctx context.Context, in []*drydock.Record) ([]*drydock.Record, []drydock.Drop, error) {
	if !e.decided {
		return nil, nil, errors.New("exact duplicates are not decided yet")
	}
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	out := in[:0]
	var dropped []drydock.Drop
	for _, r := range in {
		i, drop := e.removed[r.ID]
		if !drop {
			out = append(out, r)
			continue
		}
		p := e.pairs[i]
		detail := "says the same as " + p.Kept.String()
		if p.Reason == Conflict {
			detail = fmt.Sprintf("its answer %q is not that of %s", r.Question.Answer, p.Kept)
		}
		dropped = append(dropped, drydock.Drop{Record: r, Reason: p.Reason, Detail: detail})
	}
	return out, dropped, nil
}

// AppendJSON appends the pair as one JSON line.
func (p Pair) AppendJSON(dst []byte) []byte {
	dst = append(dst, `{"removed":`...)
	dst = p.Removed.appendJSON(dst)
	dst = append(dst, `,"kept":`...)
	dst = p.Kept.appendJSON(dst)
	dst = append(dst, `,"reason":`...)
	dst = drydock.AppendJSONString(dst, p.Reason)
	return append(dst, '}', '\n')
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
