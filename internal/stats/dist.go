package stats

import "math"

func normalCDF(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }

// studentQuantile returns t with P(T ≤ t) = p for df degrees of freedom, p > .5.
func studentQuantile(p, df float64) float64 {
	high := 1.0
	for studentCDF(high, df) < p {
		high *= 2
	}
	return bisect(0, high, func(t float64) bool { return studentCDF(t, df) < p })
}

func studentCDF(t, df float64) float64 {
	return 1 - incompleteBeta(df/(df+t*t), df/2, 0.5)/2
}

// fraction sums a continued fraction by Lentz's method: step gives the next
// partial numerator and denominator. 400 terms are more than any argument here
// needs.
func fraction(first float64, step func(i int) (a, b float64)) float64 {
	const tiny, enough = 1e-300, 1e-15
	nonzero := func(x float64) float64 {
		if math.Abs(x) < tiny {
			return tiny
		}
		return x
	}
	f := nonzero(first)
	c, d := f, 0.0
	for i := 1; i < 400; i++ {
		a, b := step(i)
		d = 1 / nonzero(b+a*d)
		c = nonzero(b + a/c)
		f *= c * d
		if math.Abs(c*d-1) < enough {
			break
		}
	}
	return f
}

// incompleteBeta is the regularised incomplete beta function I_x(a, b)
// (Abramowitz & Stegun 26.5.8).
func incompleteBeta(x, a, b float64) float64 {
	switch {
	case x <= 0:
		return 0
	case x >= 1:
		return 1
	case x > (a+1)/(a+b+2):
		return 1 - incompleteBeta(1-x, b, a)
	}
	la, _ := math.Lgamma(a)
	lb, _ := math.Lgamma(b)
	lab, _ := math.Lgamma(a + b)
	front := math.Exp(lab-la-lb+a*math.Log(x)+b*math.Log1p(-x)) / a
	return front / fraction(1, func(i int) (float64, float64) {
		m := float64(i / 2)
		if i%2 == 0 {
			return m * (b - m) * x / ((a + 2*m - 1) * (a + 2*m)), 1
		}
		return -(a + m) * (a + b + m) * x / ((a + 2*m) * (a + 2*m + 1)), 1
	})
}

// upperGamma is the regularised upper incomplete gamma function Q(a, x)
// (Abramowitz & Stegun 6.5.29 and 6.5.31).
func upperGamma(a, x float64) float64 {
	lg, _ := math.Lgamma(a)
	front := math.Exp(a*math.Log(x) - x - lg)
	if x < a+1 {
		term, sum := 1/a, 1/a
		for n := 1; n < 1000 && term > sum*1e-16; n++ {
			term *= x / (a + float64(n))
			sum += term
		}
		return 1 - front*sum
	}
	return front / fraction(x+1-a, func(i int) (float64, float64) {
		k := float64(i)
		return -k * (k - a), x + 2*k + 1 - a
	})
}

// StudentTail returns the chance that Student's t of df degrees of freedom is
// at least |t| from 0, on either side.
func StudentTail(t, df float64) float64 {
	if math.IsInf(t, 0) {
		return 0
	}
	return incompleteBeta(df/(df+t*t), df/2, 0.5)
}
