// Package stats holds the statistics of counted answers: intervals of a share,
// paired comparison of two runs over the same items, and what choosing among
// many runs does to the figure of the chosen one. All functions are pure; none
// draws random numbers.
package stats

import (
	"cmp"
	"math"
	"slices"
)

// z95 is the normal quantile of 0.975.
const z95 = 1.959963984540054

// Wilson returns the 95 % score interval of k successes in n trials. It is
// [0, 1] for no trials, and its ends are exactly 0 and 1 where k is 0 or n.
// E. B. Wilson, JASA 22 (1927) 209.
func Wilson(k, n int) (low, high float64) { return WilsonMean(float64(k), float64(n)) }

// WilsonMean is [Wilson] for the sum of n scores from 0 to 1, such as the shares of
// repeated answers to an item that are right. A score between 0 and 1 varies less
// than one trial does, so the interval is too wide rather than too narrow.
func WilsonMean(sum, n float64) (low, high float64) {
	if n <= 0 {
		return 0, 1
	}
	p, z2 := sum/n, z95*z95
	mid := (p + z2/(2*n)) / (1 + z2/n)
	half := z95 / (1 + z2/n) * math.Sqrt(max(0, p*(1-p))/n+z2/(4*n*n))
	low, high = mid-half, mid+half
	if sum <= 0 {
		low = 0
	}
	if sum >= n {
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

// Holm returns the p-values adjusted for having made all of these tests, in
// their order: the smallest times m, the next times m-1, and so on, never
// falling and never above 1. S. Holm, Scand. J. Statist. 6 (1979) 65.
func Holm(p []float64) []float64 {
	order := ranks(p)
	out := make([]float64, len(p))
	worst := 0.0
	for rank, i := range order {
		worst = max(worst, min(1, float64(len(p)-rank)*p[i]))
		out[i] = worst
	}
	return out
}

// ranks returns the indexes of p from its smallest value up; equal values keep
// their order.
func ranks(p []float64) []int {
	order := make([]int, len(p))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(p[i], p[j]) })
	return order
}

// ExpectedMax returns the expected largest of k independent standard normal
// draws: by how many standard errors the best of k equally good runs looks
// better than it is. 1.16 for 5, 1.54 for 10, 1.87 for 20.
func ExpectedMax(k int) float64 {
	if k < 2 {
		return 0
	}
	// Simpson over x k φ(x) Φ(x)^(k-1); beyond 9 the density is nil
	const steps, limit = 2000, 9.0
	h := 2 * limit / steps
	f := func(x float64) float64 {
		return x * float64(k) * math.Exp(-x*x/2) / math.Sqrt(2*math.Pi) * math.Pow(normalCDF(x), float64(k-1))
	}
	sum := f(-limit) + f(limit)
	for i := 1; i < steps; i++ {
		w := 2.0
		if i%2 == 1 {
			w = 4
		}
		sum += w * f(-limit+float64(i)*h)
	}
	return sum * h / 3
}

// ClusterError returns the standard error of the mean of scores whose items
// come in groups that succeed or fail together: sqrt(C/(C-1) Σ (Σ residuals of
// a group)²) / n, for C groups, and the half width of the 95 % interval by
// Student's t with C-1 degrees of freedom. Both are NaN for fewer than two
// groups. E. Miller, arXiv 2411.00640.
func ClusterError(scores []float64, group []string) (se, half float64) {
	mean := 0.0
	for _, s := range scores {
		mean += s
	}
	n := float64(len(scores))
	mean /= n
	at := map[string]int{}
	var sums []float64 // in the order of appearance: the sum must not depend on a map
	for i, s := range scores {
		j, ok := at[group[i]]
		if !ok {
			j = len(sums)
			at[group[i]] = j
			sums = append(sums, 0)
		}
		sums[j] += s - mean
	}
	c := float64(len(sums))
	if c < 2 {
		return math.NaN(), math.NaN()
	}
	total := 0.0
	for _, s := range sums {
		total += s * s
	}
	se = math.Sqrt(c/(c-1)*total) / n
	return se, se * studentQuantile(0.975, c-1)
}

// ChiSquare returns d'V⁻d, which is chi-square with df degrees of freedom when the
// deviations d are about normal with mean 0 and covariance v, and df, the rank of
// v. For counts of one multinomial it is Pearson's statistic; counts gathered from
// items whose chances differ have another covariance, the sum of the items' own.
// v is symmetric and has as many rows as d.
func ChiSquare(d []float64, v [][]float64) (x float64, df int) {
	// LDL' with the largest pivot first; what is left of a dependent row is nil
	rest := make([][]float64, len(d))
	most := 0.0
	for i := range rest {
		rest[i] = append(slices.Clone(v[i]), d[i])
		most = max(most, v[i][i])
	}
	done := make([]bool, len(d))
	for range d {
		p := -1
		for i := range rest {
			if !done[i] && (p < 0 || rest[i][i] > rest[p][p]) {
				p = i
			}
		}
		if rest[p][p] <= 1e-9*most {
			break
		}
		done[p] = true
		df++
		x += rest[p][len(d)] * rest[p][len(d)] / rest[p][p]
		for i := range rest {
			if done[i] {
				continue
			}
			f := rest[i][p] / rest[p][p]
			for j := range rest[i] {
				rest[i][j] -= f * rest[p][j]
			}
		}
	}
	return x, df
}

// ChiSquareTail returns the chance that a chi-square of df degrees of freedom is
// x or more.
func ChiSquareTail(x float64, df int) float64 {
	if x <= 0 || df < 1 {
		return 1
	}
	return upperGamma(float64(df)/2, x/2)
}
