package eval

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestLetterBiasMixed: items of two, three and four options together. Where wrong
// letters are drawn evenly, the statistic must be as large as its degrees of
// freedom say, and items of two options must not count.
func TestLetterBiasMixed(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(5, 8))
	const runs, n = 400, 600
	sum, below := 0.0, 0
	for range runs {
		all := make([]Outcome, n)
		for i := range all {
			offer := 2 + i%3
			key := rng.IntN(offer)
			wrong := (key + 1 + rng.IntN(offer-1)) % offer
			all[i] = Outcome{Index: i, Key: string(rune('A' + key)), Letter: string(rune('A' + wrong)), Offer: offer, Tries: 1}
		}
		b := letterBias(all)
		if b.DF != 3 || b.Wrong != n*2/3 {
			t.Fatalf("%+v", b)
		}
		sum += b.ChiSquare
		if b.PValue < 0.05 {
			below++
		}
	}
	// mean 3, with a standard error of √(6/400) = 0.12; 20 of 400 below .05, ± 4.4
	if mean := sum / runs; math.Abs(mean-3) > 0.4 {
		t.Errorf("mean %.3f of 3 degrees of freedom", mean)
	}
	if below < 7 || below > 34 {
		t.Errorf("%d of %d below .05", below, runs)
	}
	// a key that was not offered, several letters, no letter
	odd := []Outcome{{Key: "D", Letter: "A", Offer: 3}, {Key: "AC", Letter: "B", Offer: 4}, {Key: "A", Offer: 4}, {Letter: "A", Offer: 4}}
	if b := letterBias(odd); b.Wrong != 0 || b.PValue != 1 {
		t.Errorf("%+v", b)
	}
}
