package stats

import (
	"encoding/json"
	"math"
	"os"
	"testing"

	"pgregory.net/rapid"
)

// close reports whether a and b agree to nine digits.
func closeTo(a, b float64) bool {
	return math.Abs(a-b) <= 1e-9*max(1, math.Abs(a), math.Abs(b)) || math.IsNaN(a) && math.IsNaN(b)
}

// TestReference holds the functions to scipy and statsmodels
// (scripts/interop/stats_reference.py).
func TestReference(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("testdata/reference.json")
	if err != nil {
		t.Fatal(err)
	}
	var ref struct {
		Wilson, BinomialTail, McNemar, ChiSquare, Student, ExpectedMax [][]float64
		Holm                                                           []struct{ P, Adjusted []float64 }
	}
	var raw map[string]json.RawMessage
	if err := json.Unmarshal(data, &raw); err != nil {
		t.Fatal(err)
	}
	for name, to := range map[string]any{
		"wilson": &ref.Wilson, "binomial_tail": &ref.BinomialTail, "mcnemar": &ref.McNemar, "chi_square": &ref.ChiSquare,
		"student": &ref.Student, "expected_max": &ref.ExpectedMax, "holm": &ref.Holm,
	} {
		if err := json.Unmarshal(raw[name], to); err != nil {
			t.Fatal(name, err)
		}
	}
	check := func(name string, in []float64, got, want float64) {
		t.Helper()
		if !closeTo(got, want) {
			t.Errorf("%s%v = %.15g, want %.15g", name, in, got, want)
		}
	}
	for _, c := range ref.Wilson {
		low, high := Wilson(int(c[0]), int(c[1]))
		check("Wilson low", c[:2], low, c[2])
		check("Wilson high", c[:2], high, c[3])
	}
	for _, c := range ref.BinomialTail {
		check("BinomialTail", c[:3], BinomialTail(int(c[0]), int(c[1]), c[2]), c[3])
	}
	for _, c := range ref.McNemar {
		check("PValue", c[:2], Paired{N: 1888, Gained: int(c[0]), Lost: int(c[1])}.PValue(), c[2])
	}
	for _, c := range ref.ChiSquare {
		check("ChiSquareTail", c[:2], ChiSquareTail(c[0], int(c[1])), c[2])
	}
	for _, c := range ref.Student {
		check("studentQuantile", c[:2], studentQuantile(c[0], c[1]), c[2])
	}
	for _, c := range ref.ExpectedMax {
		check("ExpectedMax", c[:1], ExpectedMax(int(c[0])), c[1])
	}
	for _, c := range ref.Holm {
		for i, got := range Holm(c.P) {
			check("Holm", c.P, got, c.Adjusted[i])
		}
	}
}

func TestWilson(t *testing.T) {
	t.Parallel()
	if low, high := Wilson(0, 0); low != 0 || high != 1 {
		t.Errorf("Wilson(0, 0) = %v, %v", low, high)
	}
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 5000).Draw(t, "n")
		k := rapid.IntRange(0, n).Draw(t, "k")
		low, high := Wilson(k, n)
		p := float64(k) / float64(n)
		if low < 0 || high > 1 || low > p || high < p {
			t.Fatalf("Wilson(%d, %d) = %v, %v", k, n, low, high)
		}
		// the ends are where the score test just rejects
		for _, e := range []float64{low, high} {
			if e == 0 || e == 1 {
				continue
			}
			if z := math.Abs(p-e) / math.Sqrt(e*(1-e)/float64(n)); math.Abs(z-z95) > 1e-6 {
				t.Fatalf("Wilson(%d, %d): end %v has z %v", k, n, e, z)
			}
		}
	})
}

func TestBinomialTailEnds(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		k, n int
		p    float64
		want float64
	}{
		{0, 10, 0.3, 1}, {11, 10, 0.5, 0}, {3, 10, 0, 0}, {3, 10, 1, 1}, {3, 3, 0.5, 0.125},
	} {
		if got := BinomialTail(c.k, c.n, c.p); !closeTo(got, c.want) {
			t.Errorf("BinomialTail(%d, %d, %v) = %v, want %v", c.k, c.n, c.p, got, c.want)
		}
	}
}

func drawPaired(t *rapid.T) Paired {
	n := rapid.IntRange(1, 3000).Draw(t, "n")
	b := rapid.IntRange(0, n).Draw(t, "gained")
	return Paired{N: n, Gained: b, Lost: rapid.IntRange(0, n-b).Draw(t, "lost")}
}

// TestPairedInterval: the interval holds the difference, mirrors when the runs
// change places, and ends where the score statistic does.
func TestPairedInterval(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p := drawPaired(t)
		low, high := p.Interval()
		d := p.Difference()
		if low < -1 || high > 1 || low > d+1e-12 || high < d-1e-12 {
			t.Fatalf("%+v: %v not in [%v, %v]", p, d, low, high)
		}
		l2, h2 := Paired{p.N, p.Lost, p.Gained}.Interval()
		if math.Abs(l2+high) > 1e-9 || math.Abs(h2+low) > 1e-9 {
			t.Fatalf("%+v: [%v, %v], mirrored [%v, %v]", p, low, high, l2, h2)
		}
		for _, e := range []struct{ at, z float64 }{{low, z95}, {high, -z95}} {
			if e.at > -0.999 && e.at < 0.999 && math.Abs(p.tango(e.at)-e.z) > 1e-3 {
				t.Fatalf("%+v: at %v the statistic is %v, not %v", p, e.at, p.tango(e.at), e.z)
			}
		}
	})
}

// TestTangoPublished holds the interval to a published one: airway
// hyper-responsiveness before and after, 1 and 7 of 21 pairs discordant, in
// Fagerland, Lydersen & Laake, Statist. Med. 33 (2014) 2850.
func TestTangoPublished(t *testing.T) {
	t.Parallel()
	low, high := Paired{N: 21, Gained: 1, Lost: 7}.Interval()
	if math.Abs(low+0.517) > 5e-4 || math.Abs(high+0.026) > 5e-4 {
		t.Errorf("[%.4f, %.4f], published [-0.517, -0.026]", low, high)
	}
}

// TestLostShare finds the share that makes the counts likeliest by trying all.
func TestLostShare(t *testing.T) {
	t.Parallel()
	for _, p := range []Paired{{100, 12, 5}, {50, 0, 3}, {1888, 70, 45}, {30, 4, 0}} {
		for _, d := range []float64{-0.2, -0.01, 0, 0.03, 0.3} {
			best, at := math.Inf(-1), 0.0
			for i := 0; i <= 200000; i++ {
				q := float64(i) / 200000 // of lost; gained is q+d
				g, same := q+d, 1-2*q-d
				if g < 0 || same < 0 {
					continue
				}
				ll := times(p.Gained, g) + times(p.Lost, q) + times(p.N-p.Gained-p.Lost, same)
				if ll > best {
					best, at = ll, q
				}
			}
			if got := p.lostShare(d); math.Abs(got-at) > 1e-4 {
				t.Errorf("%+v, d %v: %v, likeliest %v", p, d, got, at)
			}
		}
	}
}

// times is n·ln(x), with 0·ln(0) = 0.
func times(n int, x float64) float64 {
	if n == 0 {
		return 0
	}
	return float64(n) * math.Log(x)
}

// TestPairedCoverage draws pairs of runs with a known difference; about 95 % of
// the intervals must hold it, where simple ones fail: few flips, small n.
func TestPairedCoverage(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		n            int
		gained, lost float64
	}{{68, 0.06, 0.02}, {400, 0.05, 0.05}, {1888, 0.02, 0.01}} {
		held, exact := 0.0, 0.0
		for b := 0; b <= c.n; b++ {
			pb := choose(c.n, b, c.gained)
			if pb < 1e-9 {
				continue
			}
			for l := 0; l <= c.n-b; l++ {
				w := pb * choose(c.n-b, l, c.lost/(1-c.gained))
				if w < 1e-9 {
					continue
				}
				low, high := Paired{c.n, b, l}.Interval()
				exact += w
				if d := c.gained - c.lost; low <= d && d <= high {
					held += w
				}
			}
		}
		if share := held / exact; share < 0.935 || share > 0.975 {
			t.Errorf("n %d, gained %v, lost %v: %.4f of the intervals hold the difference", c.n, c.gained, c.lost, share)
		}
	}
}

// choose is the chance of k in n at p.
func choose(n, k int, p float64) float64 {
	lg := func(x int) float64 { v, _ := math.Lgamma(float64(x + 1)); return v }
	return math.Exp(lg(n) - lg(k) - lg(n-k) + times(k, p) + times(n-k, 1-p))
}

func TestDetectable(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ got, want float64 }{
		{DetectableGain(1888, 0.02), 0.009},
		{DetectableGain(1888, 0.05), 0.014},
		{DetectableGain(1888, 0.10), 0.020},
		{DetectableUnpaired(1888, 0.8), 0.0365},
		{DetectableGain(0, 0.1), 1},
		{DetectableUnpaired(0, 0.1), 1},
	} {
		if math.Abs(c.got-c.want) > 5e-4 {
			t.Errorf("got %v, want %v", c.got, c.want)
		}
	}
}

func TestClusterError(t *testing.T) {
	t.Parallel()
	scores := []float64{1, 0, 1, 1, 0, 0, 1, 0}
	alone := []string{"a", "b", "c", "d", "e", "f", "g", "h"}
	se, half := ClusterError(scores, alone)
	// every item its own group: the usual standard error, n-1 in the divisor
	if want := math.Sqrt(0.25 / 7); !closeTo(se, want) {
		t.Errorf("se = %v, want %v", se, want)
	}
	if want := se * 2.364624251592785; !closeTo(half, want) { // t, 7 degrees of freedom
		t.Errorf("half = %v, want %v", half, want)
	}
	// pairs that agree: half as many items
	twice, _ := ClusterError(append(append([]float64{}, scores...), scores...), append(append([]string{}, alone...), alone...))
	if !closeTo(twice, se) {
		t.Errorf("doubled items: se = %v, want %v", twice, se)
	}
	if se, half := ClusterError(scores, make([]string, 8)); !math.IsNaN(se) || !math.IsNaN(half) {
		t.Errorf("one group: %v, %v", se, half)
	}
}

func TestHolmKeepsOrder(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p := rapid.SliceOfN(rapid.Float64Range(0, 1), 1, 12).Draw(t, "p")
		adj := Holm(p)
		for i := range p {
			if adj[i] < p[i] || adj[i] > 1 {
				t.Fatalf("%v: %v", p, adj)
			}
			for j := range p {
				if p[i] < p[j] && adj[i] > adj[j] {
					t.Fatalf("%v: %v changes the order", p, adj)
				}
			}
		}
	})
}

// TestChiSquare: of one multinomial it is Pearson's statistic, and of items whose
// chances differ its mean is its degrees of freedom, where Pearson's is less.
func TestChiSquare(t *testing.T) {
	t.Parallel()
	p, n, seen := []float64{0.2, 0.3, 0.5}, 50.0, []float64{15, 12, 23}
	pearson, d, v := 0.0, make([]float64, 3), make([][]float64, 3)
	for i := range p {
		d[i] = seen[i] - n*p[i]
		pearson += d[i] * d[i] / (n * p[i])
		v[i] = make([]float64, 3)
		for j := range p {
			v[i][j] = -n * p[i] * p[j]
		}
		v[i][i] += n * p[i]
	}
	if x, df := ChiSquare(d, v); !closeTo(x, pearson) || df != 2 {
		t.Errorf("ChiSquare = %v, %d; Pearson %v, 2", x, df, pearson)
	}
	if x, df := ChiSquare(nil, nil); x != 0 || df != 0 {
		t.Errorf("nothing: %v, %d", x, df)
	}
	if x, df := ChiSquare([]float64{0, 0}, [][]float64{{0, 0}, {0, 0}}); x != 0 || df != 0 {
		t.Errorf("no variance: %v, %d", x, df)
	}
}
