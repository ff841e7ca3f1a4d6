package dedup

import (
	"context"
	"slices"

	"github.com/drydock-ml/drydock/internal/parallel"
)

// partitions is how many parts the keys are cut into, by their first byte: each
// is small enough to be matched in a map of its own.
const partitions = 256

// matchEqual finds the records that say the same as another.
func (r *Remover) matchEqual(ctx context.Context) ([]match, error) {
	parts := r.partition()
	found := make([][]match, partitions)
	err := parallel.Each(ctx, r.opt.Workers, partitions, func(_ context.Context, p int) error {
		found[p] = r.matchPart(parts[p])
		return nil
	})
	return slices.Concat(found...), err
}

// partition sorts the spots of all records by the first byte of their keys,
// keeping source order within.
func (r *Remover) partition() [partitions][]spot {
	var count [partitions]int
	for _, u := range r.units {
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
	for n, u := range r.units {
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
func (r *Remover) matchPart(spots []spot) []match {
	first := make(map[sketch]spot, len(spots))
	repeated := map[sketch][]spot{} // all but the first
	for _, s := range spots {
		k := r.units[s.unit].keys[s.at]
		if _, seen := first[k]; seen {
			repeated[k] = append(repeated[k], s)
		} else {
			first[k] = s
		}
	}
	var out []match
	answer := func(s spot) uint32 { return r.units[s.unit].answers[s.at] }
	for k, rest := range repeated {
		group := append([]spot{first[k]}, rest...)
		kept := slices.MinFunc(group, r.order)
		for _, s := range group {
			if s == kept {
				continue
			}
			m := match{removed: s, kept: kept, reason: Duplicate, similarity: 1}
			if answer(s) != 0 && answer(s) != answer(kept) {
				m.reason = Conflict
			}
			out = append(out, m)
		}
	}
	return out // in map order; Decide sorts
}

// order is the keep policy: of two duplicates the lesser stays.
func (r *Remover) order(a, b spot) int {
	x, y := r.grade(a), r.grade(b)
	switch {
	case x < y:
		return -1
	case x > y:
		return 1
	}
	return a.compare(b)
}

// grade is what counts before source order: no answer, then the file's rank.
func (r *Remover) grade(s spot) uint64 {
	u := r.units[s.unit]
	g := uint64(u.rank(s.at))
	if u.answers[s.at] == 0 {
		g |= 1 << 63
	}
	return g
}
