package eval

import (
	"context"
	"crypto/sha256"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/eval/benchmark"
	"github.com/drydock-ml/drydock/internal/shuffle"
	"github.com/drydock-ml/drydock/internal/stats"
)

// Permutations is what came of asking the items with their options in other
// orders: a model that knows the answer gives it wherever it stands.
type Permutations struct {
	Orders []OrderScore `json:"orders"` // the benchmark's own first
	Items  int          `json:"items"`  // whose options were put in another order
	// Fixed counts the items that keep their order: their options speak of each
	// other by place, or their key cannot be reached.
	Fixed int `json:"fixed"`
	// Consistent counts the moved items answered with the same option, not the
	// same letter, in every order; AlwaysRight those of them that are right.
	Consistent  int `json:"consistent"`
	AlwaysRight int `json:"always_right"`
	// MeanAccuracy is over all orders and items.
	MeanAccuracy float64 `json:"mean_accuracy"`
}

// OrderScore is the result under one order.
type OrderScore struct {
	Order    int            `json:"order"` // 0: the benchmark's own
	Correct  int            `json:"correct"`
	N        int            `json:"n"`
	Accuracy float64        `json:"accuracy"`
	Wilson95 [2]float64     `json:"wilson95"`
	Letters  map[string]int `json:"letters"`
}

// RunPermuted runs a job, and then again k times with the options of each item in
// another order; the same k give the same orders. The files, and all figures of
// the summary but Permutations, are those of the benchmark's own order; those of
// the others lie under WorkDir/permutations/N.
func RunPermuted(ctx context.Context, job Job, k int) (Summary, error) {
	s, err := Run(ctx, job)
	if err != nil || k <= 0 {
		return s, err
	}
	p := &Permutations{}
	chosen := [][]int{places(&s, nil)}
	p.add(0, &s)
	var moved []bool
	for n := 1; n <= k; n++ {
		j := job
		var orders [][]int
		j.Items, orders = permuted(job.Items, n)
		j.WorkDir = filepath.Join(job.WorkDir, "permutations", strconv.Itoa(n))
		j.Preflight.Skip, j.Queries, j.Resume = true, "", false // it is the same question
		x, err := Run(ctx, j)
		if err != nil {
			return s, err
		}
		p.add(n, &x)
		s.Failures = slices.Concat(s.Failures, x.requestFailures())
		chosen = append(chosen, places(&x, orders))
		moved = make([]bool, len(chosen[0]))
		for i := range moved {
			moved[i] = orders[i] != nil
		}
	}
	p.compare(&s, chosen, moved)
	s.Permutations = p
	return s, nil
}

// requestFailures are the failures that asking again may mend.
func (s *Summary) requestFailures() []Failure {
	var out []Failure
	for _, f := range s.Failures {
		if f.Kind == FailureRequest {
			out = append(out, f)
		}
	}
	return out
}

func (p *Permutations) add(n int, s *Summary) {
	o := OrderScore{Order: n, Correct: s.Correct, N: s.N, Accuracy: s.Accuracy, Letters: s.Letters}
	o.Wilson95[0], o.Wilson95[1] = stats.Wilson(s.Correct, s.N)
	p.Orders = append(p.Orders, o)
}

func (p *Permutations) compare(s *Summary, chosen [][]int, moved []bool) {
	for _, o := range p.Orders {
		p.MeanAccuracy += o.Accuracy / float64(len(p.Orders))
	}
	for i, o := range s.Outcomes() {
		if !moved[i] {
			p.Fixed++
			continue
		}
		p.Items++
		same := true
		for _, c := range chosen {
			same = same && c[i] == chosen[0][i]
		}
		if same && chosen[0][i] >= 0 {
			p.Consistent++
			if o.Letter == o.Key {
				p.AlwaysRight++
			}
		}
	}
}

// places returns for each item which of its own options was answered, -1: none.
func places(s *Summary, orders [][]int) []int {
	var out []int
	for i, o := range s.Outcomes() {
		place := letterPlace(o.Letter)
		if place >= o.Offer {
			place = -1
		}
		if place >= 0 && orders != nil && orders[i] != nil {
			place = orders[i][place]
		}
		out = append(out, place)
	}
	return out
}

// permuted returns the items with their options in the n-th other order, and
// which option stands where; nil for an item that keeps its order.
func permuted(items []benchmark.Item, n int) ([]benchmark.Item, [][]int) {
	out := make([]benchmark.Item, len(items))
	orders := make([][]int, len(items))
	for i := range items {
		out[i] = items[i]
		q := &items[i].Question
		if q.Kind != drydock.Single || len(q.Answer) != 1 || items[i].Flaw() != benchmark.FlawNone {
			continue
		}
		sum := sha256.Sum256(benchmark.AppendCanonical(nil, &items[i]))
		plan := shuffle.For(q, drydock.ID(sum[:16]), "eval", uint64(n), false)
		if plan.Order == nil {
			continue
		}
		orders[i] = plan.Order
		out[i].Question = *plan.Apply(q)
		out[i].Gold = out[i].Question.Answer
	}
	return out, orders
}
