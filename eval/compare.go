package eval

import (
	"math"
	"slices"
	"strconv"

	"github.com/drydock-ml/drydock/internal/stats"
)

// CompareSchema names the shape of a [Comparison] as JSON.
const CompareSchema = "drydock.compare/1"

// A Graded is a run to compare: its name for the reader, and what became of its
// items.
type Graded struct {
	Name     string
	Model    string
	File     string // where the answers stand, with slashes
	Outcomes []Outcome
	// DependsOn is what the run's figures rest on ([Summary.DependsOn]).
	DependsOn []Condition
}

// A Comparison is one run beside others over the same items. Field names are
// stable.
type Comparison struct {
	Schema    string     `json:"schema"`
	Benchmark string     `json:"benchmark"`
	Base      RunScore   `json:"base"`
	Others    []Contrast `json:"others"`
	// Luck is by how much the best of these runs, were all equally good, would
	// look better than it is: the expected largest of as many draws of the noise
	// that the runs show against each other. Choosing by a benchmark buys it.
	Luck float64 `json:"luck"`
}

// A RunScore is the figure of one run.
type RunScore struct {
	Name     string     `json:"name"`
	Model    string     `json:"model,omitempty"`
	File     string     `json:"file,omitempty"`
	N        int        `json:"n"`
	Accuracy float64    `json:"accuracy"`
	Wilson95 [2]float64 `json:"wilson95"`
	FlipRate float64    `json:"flip_rate"` // repeated answers that differ from the item's first
	// DependsOn is what the run's figures rest on.
	DependsOn []Condition `json:"depends_on,omitempty"`
}

// A Contrast is a run against the base, item by item.
type Contrast struct {
	RunScore
	Shared     int        `json:"shared"` // items that both answered
	Gained     int        `json:"gained"` // better than the base
	Lost       int        `json:"lost"`
	Difference float64    `json:"difference"` // over the shared items
	Interval95 [2]float64 `json:"interval95"`
	PValue     float64    `json:"p_value"`
	Holm       float64    `json:"holm"` // p_value, adjusted for all comparisons here
	Test       string     `json:"test"` // mcnemar_exact; paired_t where items were asked several times, sign where all of these changed alike
	// Detectable is the smallest true gain that this many items find with 80 %
	// power when runs differ on as many as these do.
	Detectable float64 `json:"detectable"`
	// Clustered is the interval when items of one group count as depending on
	// each other; nil with fewer than six groups, or when
	// no group changed.
	Clustered *[2]float64 `json:"clustered95,omitempty"`
	Flips     []Flip      `json:"flips"`     // items the runs score differently
	OnlyBase  []int       `json:"only_base"` // items without a row here
	OnlyHere  []int       `json:"only_here"`
}

// A Flip is an item that two runs score differently.
type Flip struct {
	Index  int    `json:"index"`
	Key    string `json:"key"`
	Before string `json:"before"` // letter of the base; empty: none
	After  string `json:"after"`
	Gained bool   `json:"gained"`
}

// Compare sets runs beside the base, the first. group names what an item belongs
// to (a subject); nil: every item stands for itself.
func Compare(bench string, base Graded, others []Graded, group func(index int) string) Comparison {
	c := Comparison{Schema: CompareSchema, Benchmark: bench, Base: scoreOf(base), Others: []Contrast{}}
	var p, noise []float64
	for _, o := range others {
		k := contrast(base, o, group)
		c.Others = append(c.Others, k)
		p = append(p, k.PValue)
	}
	for i, h := range stats.Holm(p) {
		c.Others[i].Holm = h
	}
	for i := range others {
		for j := range i {
			noise = append(noise, pairNoise(others[i].Outcomes, others[j].Outcomes))
		}
	}
	c.Luck = luck(len(others), noise)
	return c
}

// luck is E[max] of k draws of the runs' own noise, which is the noise of a
// difference over the square root of two.
func luck(k int, noise []float64) float64 {
	if len(noise) == 0 {
		return 0
	}
	sum := 0.0
	for _, n := range noise {
		sum += n
	}
	return stats.ExpectedMax(k) * sum / float64(len(noise)) / math.Sqrt2
}

func pairNoise(a, b []Outcome) float64 {
	d := differences(a, b)
	if len(d.delta) < 2 {
		return 0
	}
	se, _ := stats.ClusterError(d.delta, alone(len(d.delta)))
	return se
}

func scoreOf(g Graded) RunScore {
	s := RunScore{Name: g.Name, Model: g.Model, File: g.File, N: len(g.Outcomes), DependsOn: g.DependsOn}
	sum, tries, flips := 0.0, 0, 0
	for _, o := range g.Outcomes {
		sum += o.Score
		tries += o.Tries - 1
		flips += o.Flips
	}
	if s.N > 0 {
		s.Accuracy = sum / float64(s.N)
	}
	if tries > 0 {
		s.FlipRate = float64(flips) / float64(tries)
	}
	s.Wilson95[0], s.Wilson95[1] = stats.WilsonMean(sum, float64(s.N))
	return s
}

// paired holds the items of two runs side by side.
type paired struct {
	delta              []float64 // score of the second less the first
	index              []int
	first, second      []Outcome
	onlyFirst, onlySec []int
}

func differences(a, b []Outcome) paired {
	var d paired
	i, j := 0, 0
	for i < len(a) || j < len(b) {
		switch {
		case j == len(b) || i < len(a) && a[i].Index < b[j].Index:
			d.onlyFirst = append(d.onlyFirst, a[i].Index)
			i++
		case i == len(a) || b[j].Index < a[i].Index:
			d.onlySec = append(d.onlySec, b[j].Index)
			j++
		default:
			d.index = append(d.index, a[i].Index)
			d.delta = append(d.delta, b[j].Score-a[i].Score)
			d.first, d.second = append(d.first, a[i]), append(d.second, b[j])
			i++
			j++
		}
	}
	return d
}

func contrast(base, other Graded, group func(int) string) Contrast {
	d := differences(base.Outcomes, other.Outcomes)
	c := Contrast{RunScore: scoreOf(other), Shared: len(d.delta), Flips: []Flip{}, OnlyBase: orEmpty(d.onlyFirst), OnlyHere: orEmpty(d.onlySec)}
	whole := true
	for i, x := range d.delta {
		whole = whole && (x == 0 || x == 1 || x == -1)
		if x == 0 {
			continue
		}
		if x > 0 {
			c.Gained++
		} else {
			c.Lost++
		}
		c.Flips = append(c.Flips, Flip{Index: d.index[i], Key: d.first[i].Key, Before: d.first[i].Letter, After: d.second[i].Letter, Gained: x > 0})
	}
	if whole {
		p := stats.Paired{N: c.Shared, Gained: c.Gained, Lost: c.Lost}
		c.Test, c.Difference, c.PValue = "mcnemar_exact", p.Difference(), p.PValue()
		c.Interval95[0], c.Interval95[1] = p.Interval()
	} else {
		c.meanTest(d.delta)
	}
	if c.Shared > 0 {
		// runs that differ nowhere differ on less than one item
		c.Detectable = stats.DetectableGain(c.Shared, float64(max(1, c.Gained+c.Lost))/float64(c.Shared))
	}
	if group != nil {
		c.cluster(d, group)
	}
	return c
}

// meanTest compares means over repeated answers by a paired t test.
func (c *Contrast) meanTest(delta []float64) {
	c.Test = "paired_t"
	n := len(delta)
	for _, x := range delta {
		c.Difference += x
	}
	c.Difference /= float64(n)
	se, half := stats.ClusterError(delta, alone(n))
	if n > 1 && se > noSpread {
		c.PValue = stats.StudentTail(c.Difference/se, float64(n-1))
		c.Interval95 = [2]float64{max(-1, c.Difference-half), min(1, c.Difference+half)}
		return
	}
	// every item changed by as much: how much they vary is not seen, which way
	// they went is
	c.Test, c.PValue, c.Interval95 = "sign", stats.Paired{N: n, Gained: c.Gained, Lost: c.Lost}.PValue(), [2]float64{-1, 1}
}

// noSpread is an error below which nothing varies but the last digits.
const noSpread = 1e-12

// leastGroups is how many groups it takes to see how much they differ: the
// error of two that happen to agree would come out as nil.
const leastGroups = 6

func (c *Contrast) cluster(d paired, group func(int) string) {
	names, groups := make([]string, len(d.index)), map[string]bool{}
	for i, index := range d.index {
		if names[i] = group(index); names[i] == "" {
			names[i] = "\x00" + strconv.Itoa(index)
		}
		groups[names[i]] = true
	}
	if _, half := stats.ClusterError(d.delta, names); len(groups) >= leastGroups && half > noSpread {
		c.Clustered = &[2]float64{max(-1, c.Difference-half), min(1, c.Difference+half)}
	}
}

// alone gives each of n items a group of its own.
func alone(n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = strconv.Itoa(i)
	}
	return out
}

func orEmpty(s []int) []int {
	if s == nil {
		return []int{}
	}
	return slices.Clip(s)
}

// round rounds to a number of decimal places.
func round(x float64, places int) float64 {
	f := math.Pow(10, float64(places))
	return math.Round(x*f) / f
}
