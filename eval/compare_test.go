package eval_test

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/drydock-ml/drydock/eval"
)

// graded makes a run of n items of which the first right are right; items in
// wrong are turned round.
func graded(name string, n, right int, turned ...int) eval.Graded {
	g := eval.Graded{Name: name}
	for i := range n {
		o := eval.Outcome{Index: i, Key: "A", Letter: "B", Tries: 1, Offer: 4}
		if i < right {
			o.Letter, o.Score = "A", 1
		}
		g.Outcomes = append(g.Outcomes, o)
	}
	for _, i := range turned {
		o := &g.Outcomes[i]
		o.Score = 1 - o.Score
		o.Letter = map[float64]string{0: "C", 1: "A"}[o.Score]
	}
	return g
}

func TestCompare(t *testing.T) {
	t.Parallel()
	base := graded("base", 100, 50)
	better := graded("better", 100, 50, 1, 60, 61, 62, 63, 64, 65, 66)
	same := graded("same", 99, 50)
	c := eval.Compare("b@1", base, []eval.Graded{better, same}, nil)
	k := c.Others[0]
	if k.Gained != 7 || k.Lost != 1 || k.Shared != 100 || math.Abs(k.Difference-0.06) > 1e-12 || k.Test != "mcnemar_exact" {
		t.Errorf("%+v", k)
	}
	if want := 0.0703125; math.Abs(k.PValue-want) > 1e-12 || math.Abs(k.Holm-2*want) > 1e-12 {
		t.Errorf("p %v, holm %v", k.PValue, k.Holm)
	}
	if k.Interval95[0] > 0.06 || k.Interval95[1] < 0.06 || k.Interval95[0] < -0.02 || k.Interval95[1] > 0.15 {
		t.Errorf("interval %v", k.Interval95)
	}
	if want := 2.8016 * math.Sqrt(0.08/100); math.Abs(k.Detectable-want) > 1e-4 {
		t.Errorf("detectable %v, want %v", k.Detectable, want)
	}
	if d := cmp.Diff(eval.Flip{Index: 1, Key: "A", Before: "A", After: "C"}, k.Flips[0]); d != "" {
		t.Error(d)
	}
	if k := c.Others[1]; k.Shared != 99 || !cmp.Equal(k.OnlyBase, []int{99}) || k.PValue != 1 || k.Difference != 0 {
		t.Errorf("%+v", k)
	}
	if c.Luck <= 0 {
		t.Errorf("luck %v of two runs that differ", c.Luck)
	}
	if one := eval.Compare("b@1", base, []eval.Graded{better}, nil); one.Luck != 0 {
		t.Errorf("luck %v of one run", one.Luck)
	}
}

// TestCompareRepeats: answers to one item are one trial, however often it was
// asked.
func TestCompareRepeats(t *testing.T) {
	t.Parallel()
	base, other := graded("a", 40, 20), graded("b", 40, 20)
	for i := range 8 {
		other.Outcomes[i].Score, other.Outcomes[i].Tries, other.Outcomes[i].Flips = 0.75, 4, 1
	}
	k := eval.Compare("b@1", base, []eval.Graded{other}, nil).Others[0]
	if k.Test != "paired_t" || math.Abs(k.Difference+0.05) > 1e-12 || k.Lost != 8 || k.FlipRate != 8.0/24 {
		t.Errorf("%+v", k)
	}
	if k.PValue < 0.001 || k.PValue > 0.02 || k.Interval95[1] >= 0 {
		t.Errorf("p %v, interval %v", k.PValue, k.Interval95)
	}
}

// TestCompareNoSpread: where nothing varies no interval has no width.
func TestCompareNoSpread(t *testing.T) {
	t.Parallel()
	base, other := graded("a", 20, 10), graded("b", 20, 10)
	inTwos := func(i int) string { return string(rune('a' + i/2)) }
	if k := eval.Compare("b@1", base, []eval.Graded{other}, inTwos).Others[0]; k.Clustered != nil || k.Interval95[1] < 0.05 {
		t.Errorf("runs that differ nowhere: clustered %v, plain %v", k.Clustered, k.Interval95)
	}
	for i := range other.Outcomes {
		base.Outcomes[i].Score, other.Outcomes[i].Score = 0.25, 0.75
	}
	k := eval.Compare("b@1", base, []eval.Graded{other}, nil).Others[0]
	if k.Test != "sign" || k.PValue > 1e-5 || k.Difference != 0.5 {
		t.Errorf("every item half better: %s, p %v, difference %v", k.Test, k.PValue, k.Difference)
	}
}

// TestCompareClusters: items of one group that change together tell less than
// as many items on their own.
func TestCompareClusters(t *testing.T) {
	t.Parallel()
	base := graded("a", 100, 0)
	other := graded("b", 100, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9)
	inTens := func(i int) string { return string(rune('a' + i/10)) }
	k := eval.Compare("b@1", base, []eval.Graded{other}, inTens).Others[0]
	if k.Clustered == nil || k.Clustered[0] > 0 || k.Interval95[0] < 0.04 {
		t.Errorf("clustered %v, plain %v: ten flips of one group are one observation", k.Clustered, k.Interval95)
	}
	apart := func(i int) string { return "" }
	k = eval.Compare("b@1", base, []eval.Graded{other}, apart).Others[0]
	if k.Clustered[0] < 0.03 {
		t.Errorf("clustered %v: items without a group stand for themselves", k.Clustered)
	}
}

// TestCompareMirrors: changing places turns every sign and keeps the p-value.
func TestCompareMirrors(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 60).Draw(t, "n")
		pick := func(name string) eval.Graded {
			g := graded(name, n, rapid.IntRange(0, n).Draw(t, name))
			drop := rapid.IntRange(0, len(g.Outcomes)-1).Draw(t, name+" first")
			g.Outcomes = g.Outcomes[drop:]
			return g
		}
		a, b := pick("a"), pick("b")
		ab := eval.Compare("b@1", a, []eval.Graded{b}, nil).Others[0]
		ba := eval.Compare("b@1", b, []eval.Graded{a}, nil).Others[0]
		if ab.PValue != ba.PValue || ab.Gained != ba.Lost || math.Abs(ab.Difference+ba.Difference) > 1e-12 ||
			math.Abs(ab.Interval95[0]+ba.Interval95[1]) > 1e-9 || !cmp.Equal(ab.OnlyBase, ba.OnlyHere) {
			t.Fatalf("%+v\n%+v", ab, ba)
		}
		if ab.Shared+len(ab.OnlyBase) != len(a.Outcomes) || ab.Shared+len(ab.OnlyHere) != len(b.Outcomes) {
			t.Fatalf("items lost: %+v", ab)
		}
	})
}
