package pipeline

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// oneDimension is a task with groups in the first dimension only, a cell each.
func oneDimension(have []int, weight []float64, quota []int, size int) *mixTask {
	t := &mixTask{have: have, group: make([][mixDimensions]int, len(have)), size: size}
	for c := range have {
		t.group[c][0] = c
	}
	t.weight[0], t.quota[0] = weight, quota
	return t
}

func TestSolveOneDimension(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		have   []int
		weight []float64
		quota  []int
		size   int
		want   []int
	}{
		{"nothing is asked", []int{3, 4}, nil, nil, 0, []int{3, 4}},
		{"size in proportion", []int{60, 30, 10}, nil, nil, 50, []int{30, 15, 5}},
		{"weights, as many as there are", []int{100, 10}, []float64{1, 1}, nil, 0, []int{10, 10}},
		{"weights and size", []int{100, 100}, []float64{3, 1}, nil, 40, []int{30, 10}},
		{"a weight of none", []int{100, 7}, []float64{0, 1}, nil, 0, []int{0, 7}},
		{"quota", []int{100, 7}, nil, []int{20, -1}, 0, []int{20, 7}},
		{"quota 0", []int{100, 7}, nil, []int{0, -1}, 0, []int{0, 7}},
		{"weights hold under a quota", []int{400, 400}, []float64{2, 1}, []int{100, -1}, 0, []int{100, 50}},
		{"remainders", []int{10, 10, 10}, nil, nil, 10, []int{4, 3, 3}},
		{"an empty group does not count", []int{0, 9}, []float64{5, 1}, nil, 0, []int{0, 9}},
		{"nothing there", []int{0, 0}, []float64{5, 1}, nil, 3, []int{0, 0}},
	} {
		if diff := cmp.Diff(c.want, oneDimension(c.have, c.weight, c.quota, c.size).solve()); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
}

// Weights of two dimensions hold at once, whatever stands together.
func TestSolveTwoDimensions(t *testing.T) {
	t.Parallel()
	task := &mixTask{
		have:  []int{900, 100, 300, 700}, // zh single, zh judge, en single, en judge
		group: [][mixDimensions]int{{0, 0}, {0, 1}, {1, 0}, {1, 1}},
	}
	task.weight[0], task.weight[1] = []float64{3, 1}, []float64{1, 1}
	got := task.solve()
	zh, en := got[0]+got[1], got[2]+got[3]
	single, judge := got[0]+got[2], got[1]+got[3]
	if math.Abs(float64(zh)-3*float64(en)) > 4 || math.Abs(float64(single-judge)) > 4 || zh+en < 200 {
		t.Errorf("%v: zh %d, en %d, single %d, judge %d", got, zh, en, single, judge)
	}
}

func TestSolveKeepsLimits(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 12).Draw(t, "cells")
		task := &mixTask{have: make([]int, n), group: make([][mixDimensions]int, n), size: rapid.IntRange(0, 300).Draw(t, "size")}
		for c := range n {
			task.have[c] = rapid.IntRange(0, 200).Draw(t, "have")
			for d := range mixDimensions {
				task.group[c][d] = rapid.IntRange(0, 2).Draw(t, "group")
			}
		}
		for d := range mixDimensions {
			if rapid.Bool().Draw(t, "weighted") {
				for range 3 {
					task.weight[d] = append(task.weight[d], float64(rapid.IntRange(0, 4).Draw(t, "weight")))
				}
			}
			if rapid.Bool().Draw(t, "limited") {
				for range 3 {
					task.quota[d] = append(task.quota[d], rapid.IntRange(-1, 100).Draw(t, "quota"))
				}
			}
		}
		take := task.solve()
		if diff := cmp.Diff(take, task.solve()); diff != "" {
			t.Fatalf("a second time it is another: %s", diff)
		}
		total := 0
		var sums [mixDimensions][3]int
		for c, k := range take {
			if k < 0 || k > task.have[c] {
				t.Fatalf("cell %d: %d of %d", c, k, task.have[c])
			}
			total += k
			for d := range mixDimensions {
				sums[d][task.group[c][d]] += k
				if w := task.weight[d]; w != nil && w[task.group[c][d]] == 0 && k > 0 {
					t.Fatalf("cell %d has the weight 0, %d are taken", c, k)
				}
			}
		}
		if task.size > 0 && total > task.size {
			t.Fatalf("%d, at most %d", total, task.size)
		}
		for d, quota := range task.quota {
			for g, q := range quota {
				if q >= 0 && sums[d][g] > q {
					t.Fatalf("dimension %d, group %d: %d, at most %d", d, g, sums[d][g], q)
				}
			}
		}
	})
}
