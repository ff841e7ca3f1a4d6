package pipeline

import (
	"cmp"
	"slices"
)

// A mixTask asks how many records of each cell to take. A cell is what has the
// same group in every dimension.
type mixTask struct {
	have   []int                    // records by cell
	group  [][mixDimensions]int     // of each cell
	weight [mixDimensions][]float64 // by group; nil: the dimension has none
	quota  [mixDimensions][]int     // by group, below 0 for none; nil: the dimension has none
	size   int                      // in all; 0: any
}

const (
	mixRounds    = 300
	mixPrecision = 1e-9
	mixHalvings  = 48
)

// solve returns how many to take of each cell: in the proportions of the weights
// (raked to all dimensions at once, as surveys are), within the quotas, and as
// many as that and the size allow without taking a record twice. What a quota
// keeps out makes room for others.
func (t *mixTask) solve() []int {
	whole := make([]float64, len(t.have))
	for c := range whole {
		whole[c] = float64(t.have[c])
	}
	if t.rake(whole) {
		t.scale(whole, true)
	}
	x := t.drawn(whole, 1)
	if t.size > 0 && sumOf(x) > float64(t.size) {
		// the largest share of all that fits, to a precision below one record
		low, high := 0.0, 1.0
		for range mixHalvings {
			if mid := (low + high) / 2; sumOf(t.drawn(whole, mid)) > float64(t.size) {
				high = mid
			} else {
				low = mid
			}
		}
		x = t.drawn(whole, low)
	}
	return t.round(x)
}

// drawn takes a share of all cells and brings it within the quotas.
func (t *mixTask) drawn(whole []float64, share float64) []float64 {
	x := make([]float64, len(whole))
	for c := range x {
		x[c] = share * whole[c]
	}
	for range mixRounds {
		if !t.limit(x) {
			break
		}
		if t.rake(x) {
			t.scale(x, false)
		}
	}
	return x
}

func sumOf(x []float64) float64 {
	total := 0.0
	for _, v := range x {
		total += v
	}
	return total
}

// rake brings the cells to the proportions of the weights and keeps their sum;
// false: there are no weights.
func (t *mixTask) rake(x []float64) (weighted bool) {
	for range mixRounds {
		worst := 0.0
		for d, weight := range t.weight {
			if weight == nil {
				continue
			}
			weighted = true
			sums, total, asked := make([]float64, len(weight)), 0.0, 0.0
			for c := range x {
				if weight[t.group[c][d]] == 0 {
					x[c] = 0
				}
				sums[t.group[c][d]] += x[c]
				total += x[c]
			}
			for g, s := range sums {
				if s > 0 {
					asked += weight[g]
				}
			}
			for c := range x {
				if g := t.group[c][d]; x[c] > 0 {
					f := total * weight[g] / (asked * sums[g])
					x[c] *= f
					worst = max(worst, f-1, 1-f)
				}
			}
		}
		if worst < mixPrecision {
			break
		}
	}
	return weighted
}

// scale shrinks all cells alike until none holds more than there is; with grow
// it makes them as large as that allows.
func (t *mixTask) scale(x []float64, grow bool) {
	least := -1.0
	for c := range x {
		if x[c] > 0 {
			if s := float64(t.have[c]) / x[c]; least < 0 || s < least {
				least = s
			}
		}
	}
	if least < 0 || least > 1 && !grow {
		return
	}
	for c := range x {
		x[c] *= least
	}
}

// limit shrinks what is above its quota; false: nothing was.
func (t *mixTask) limit(x []float64) (changed bool) {
	for d, quota := range t.quota {
		if quota == nil {
			continue
		}
		sums := make([]float64, len(quota))
		for c := range x {
			sums[t.group[c][d]] += x[c]
		}
		for c := range x {
			g := t.group[c][d]
			if q := quota[g]; q >= 0 && sums[g] > float64(q)+mixPrecision {
				x[c] *= float64(q) / sums[g]
				changed = true
			}
		}
	}
	return changed
}

// round makes whole numbers of the cells: what is lost below is given to the
// largest remainders, the first of equals, as far as the limits allow.
func (t *mixTask) round(x []float64) []int {
	take := make([]int, len(x))
	order := make([]int, len(x))
	total, whole := sumOf(x), 0
	var sums [mixDimensions][]int
	for d, quota := range t.quota {
		sums[d] = make([]int, len(quota))
	}
	for c, v := range x {
		take[c] = min(int(v+1e-6), t.have[c])
		order[c] = c
		whole += take[c]
		for d, quota := range t.quota {
			if quota != nil {
				sums[d][t.group[c][d]] += take[c]
			}
		}
	}
	remainder := func(c int) float64 { return x[c] - float64(take[c]) }
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(remainder(b), remainder(a)) })
	most := int(total + 0.5)
	if t.size > 0 {
		most = min(most, t.size)
	}
	for _, c := range order {
		if whole >= most || remainder(c) < 1e-6 {
			break
		}
		if take[c] == t.have[c] || !t.room(c, &sums) {
			continue
		}
		take[c]++
		whole++
		for d, quota := range t.quota {
			if quota != nil {
				sums[d][t.group[c][d]]++
			}
		}
	}
	return take
}

// room reports whether every quota that a cell falls under allows one more.
func (t *mixTask) room(c int, sums *[mixDimensions][]int) bool {
	for d, quota := range t.quota {
		if quota == nil {
			continue
		}
		if g := t.group[c][d]; quota[g] >= 0 && sums[d][g] >= quota[g] {
			return false
		}
	}
	return true
}
