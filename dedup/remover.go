package dedup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"

	"github.com/drydock-ml/drydock"
)

// Reasons a record is dropped.
const (
	Duplicate = "duplicate_exact"    // another record says the same
	Conflict  = "conflicting_answer" // the same question has another answer elsewhere
	Near      = "duplicate_near"     // another record says nearly the same, and nothing that counts differs
)

// DefaultThreshold is the similarity from which two records are near: about one
// letter in seven may differ.
const DefaultThreshold = 0.85

// Options say what a [Remover] looks for. The zero value looks for equal records.
type Options struct {
	// Threshold is the least similarity of near duplicates, above 0.5 and up to
	// 1; 0 and 1 look for equal records only.
	Threshold float64
	// Workers is the number of goroutines of Decide; below 1: one per CPU.
	Workers int
	// Prefer ranks files: of two duplicates the one with the lower rank stays.
	// nil: all are alike, and the first in source order stays.
	Prefer func(*drydock.File) int
	// Dir is where texts wait that do not fit into TextMemory, in a temporary
	// file. Empty: the system's folder for such files.
	Dir string
	// Alike is told every pair of records that were found to resemble each other,
	// whatever becomes of them; nil: nobody asks. Near ones then meet others, too,
	// so that what hangs together can be told from the pairs. Decide calls it from
	// one goroutine, in an order that depends on the records only.
	Alike func(a, b drydock.ID)
	// TextMemory is how many bytes of folded text are held in memory at most, a
	// batch for each unit aside; 0: 256 MiB.
	TextMemory int64
}

// A Remover finds records that repeat others and drops them. Of equal or near
// records one stays: a question that has an answer before one that has none,
// then by the rank of the file, then the first in source order. What looks alike
// but differs in something that counts stays, and is listed.
type Remover struct {
	opt   Options
	spool spool

	mu    sync.Mutex
	units []*unit

	decided bool
	pairs   []Pair
	removed map[drydock.ID]int // place in pairs
}

// New returns a Remover that has seen nothing.
func New(o Options) *Remover {
	return &Remover{opt: o, spool: spool{dir: o.Dir, limit: cmp.Or(o.TextMemory, 256<<20)}}
}

// near reports whether near duplicates are looked for.
func (r *Remover) near() bool { return r.opt.Threshold > 0 && r.opt.Threshold < 1 }

// Sketch returns what takes the records of one unit, in order, batch by batch.
// Units are numbered in source order; they may be sketched at the same time and
// in any order. A unit that is sketched again replaces its first sketch.
func (r *Remover) Sketch(number int) func(context.Context, []*drydock.Record) error {
	u := &unit{}
	r.mu.Lock()
	for len(r.units) <= number {
		r.units = append(r.units, nil)
	}
	if old := r.units[number]; old != nil {
		r.spool.held.Add(-int64(len(old.texts.tail)))
	}
	r.units[number] = u
	r.mu.Unlock()
	var d draft
	return func(ctx context.Context, batch []*drydock.Record) error {
		held := len(u.texts.tail)
		for _, rec := range batch {
			key, answer := d.read(rec)
			u.keys = append(u.keys, key)
			u.ids = append(u.ids, rec.ID)
			u.answers = append(u.answers, answer)
			u.addPlace(rec.Origin, r.opt.Prefer)
			if r.near() {
				u.texts.add(&d, answer)
			}
		}
		if err := r.spool.settle(&u.texts, len(u.texts.tail)-held); err != nil {
			return err
		}
		return ctx.Err()
	}
}

// Decide settles which records stay. It is called once, after all sketches.
func (r *Remover) Decide(ctx context.Context) error {
	if r.decided {
		return errors.New("duplicates were decided before")
	}
	same, err := r.matchEqual(ctx)
	if err != nil {
		return err
	}
	all := same
	if r.near() {
		near, err := r.matchNear(ctx, same)
		if err != nil {
			return err
		}
		all = append(all, near...)
	}
	slices.SortFunc(all, func(a, b match) int { return a.removed.compare(b.removed) })
	if err := r.record(all); err != nil {
		return err
	}
	r.units, r.decided = nil, true
	return r.Close()
}

// Close gives up what Decide has not come to: the file of waiting texts.
func (r *Remover) Close() error { return r.spool.close() }

// A match is a record and the one that stands for it, or resembles it.
type match struct {
	removed, kept spot
	reason        string
	similarity    float64
	differs       string
}

// gone reports whether the record is removed, not only listed.
func (m match) gone() bool {
	return m.reason == Duplicate || m.reason == Conflict || m.reason == Near
}

// record turns matches, sorted by the removed record, into pairs.
func (r *Remover) record(all []match) error {
	follow(all)
	want := map[uint32][]uint32{}
	for _, m := range all {
		want[m.removed.unit] = append(want[m.removed.unit], m.removed.at)
		want[m.kept.unit] = append(want[m.kept.unit], m.kept.at)
	}
	at := make(map[spot]Ref, 2*len(all))
	for n, positions := range want {
		slices.Sort(positions)
		positions = slices.Compact(positions)
		for i, ref := range r.units[n].refs(positions) {
			at[spot{n, positions[i]}] = ref
		}
	}
	r.pairs = make([]Pair, 0, len(all))
	r.removed = make(map[drydock.ID]int, len(all))
	for _, m := range all {
		p := Pair{Removed: at[m.removed], Kept: at[m.kept], Reason: m.reason, Similarity: m.similarity, Differs: m.differs, Listed: !m.gone()}
		if p.Removed.ID == p.Kept.ID {
			return fmt.Errorf("two records have the id %s: %s and %s", p.Kept.ID, p.Kept, p.Removed)
		}
		if m.gone() {
			r.removed[p.Removed.ID] = len(r.pairs)
		}
		r.pairs = append(r.pairs, p)
	}
	return nil
}

// follow lets every match name the record that stays: what an equal record was
// removed for may itself have gone as a near one.
func follow(all []match) {
	near := map[spot]*match{}
	for i := range all {
		if all[i].reason == Near {
			near[all[i].removed] = &all[i]
		}
	}
	for i := range all {
		m := &all[i]
		end, gone := near[m.kept]
		if !gone {
			continue
		}
		m.kept = end.kept
		if m.reason == Duplicate {
			m.reason, m.similarity, m.differs = Near, end.similarity, end.differs
		}
	}
}

// Pairs returns what was removed in favour of what, and what was listed, in
// source order of the removed or listed record. It must not be changed.
func (r *Remover) Pairs() []Pair { return r.pairs }

// Do drops the records that Decide settled on. It implements [drydock.Step].
func (r *Remover) Do(ctx context.Context, in []*drydock.Record) ([]*drydock.Record, []drydock.Drop, error) {
	if !r.decided {
		return nil, nil, errors.New("duplicates are not decided yet")
	}
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	out := in[:0]
	var dropped []drydock.Drop
	for _, rec := range in {
		i, drop := r.removed[rec.ID]
		if !drop {
			out = append(out, rec)
			continue
		}
		p := r.pairs[i]
		dropped = append(dropped, drydock.Drop{Record: rec, Reason: p.Reason, Detail: p.detail(rec)})
	}
	return out, dropped, nil
}

// detail says in English why the record went.
func (p *Pair) detail(rec *drydock.Record) string {
	switch p.Reason {
	case Conflict:
		return fmt.Sprintf("its answer %q is not that of %s", rec.Question.Answer, p.Kept)
	case Near:
		return "similarity " + strconv.FormatFloat(p.Similarity, 'f', 3, 64) + " to " + p.Kept.String()
	}
	return "says the same as " + p.Kept.String()
}
