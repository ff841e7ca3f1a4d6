package eval

import "math"

// z95 is the normal quantile of 0.975.
const z95 = 1.959963984540054

// Wilson returns the 95 % score interval of k successes in n trials. It is
// [0, 1] for no trials, and its ends are exactly 0 and 1 where k is 0 or n.
func Wilson(k, n int) (low, high float64) {
	if n <= 0 {
		return 0, 1
	}
	nn, p := float64(n), float64(k)/float64(n)
	z2 := z95 * z95
	mid := (p + z2/(2*nn)) / (1 + z2/nn)
	half := z95 / (1 + z2/nn) * math.Sqrt(p*(1-p)/nn+z2/(4*nn*nn))
	low, high = mid-half, mid+half
	if k == 0 {
		low = 0
	}
	if k == n {
		high = 1
	}
	return low, high
}

// BinomialTail returns the chance of k successes or more in n trials of chance
// p each: the one-sided test of whether something beats p.
func BinomialTail(k, n int, p float64) float64 {
	switch {
	case k <= 0 || p >= 1:
		return 1
	case p <= 0 || k > n:
		return 0
	}
	lg := func(x int) float64 { v, _ := math.Lgamma(float64(x + 1)); return v }
	sum := 0.0
	for i := n; i >= k; i-- { // small terms first
		sum += math.Exp(lg(n) - lg(i) - lg(n-i) + float64(i)*math.Log(p) + float64(n-i)*math.Log1p(-p))
	}
	return min(sum, 1)
}
