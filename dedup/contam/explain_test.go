package contam

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestExplain(t *testing.T) {
	t.Parallel()
	s := testIndex(t).Scanner()
	ref := ItemRef{testRef.Name, 3}
	stem := testItems[3].stem
	for name, c := range map[string]struct {
		text            string
		candidate, same bool
		found, allSeeds bool
		fewest, most    float64 // similarity of the stem
	}{
		"verbatim":   {stem + "\nA. 检查水密门的关闭\nB. 穿戴消防员装备\nC. 启动应急消防泵\nD. 丈量货舱容积", true, true, true, true, 1, 1},
		"other text": {"锚地选择应考虑底质、水深与避风条件，并留出旋回余地。", false, false, false, false, 0, 0.5},
		"half":       {"下列哪一项不属于航海日志的记载范围？", true, false, false, false, 0.3, 0.95},
		"empty":      {"", false, false, false, false, 0, 0.3},
	} {
		found, err := s.Row(row(c.text))
		if err != nil {
			t.Fatal(err)
		}
		x, ok := s.Explain(ref, found)
		if !ok {
			t.Fatalf("%s: the item is not known", name)
		}
		if x.Candidate != c.candidate || x.Same != c.same || (x.Finding != nil) != c.found || x.Stem < c.fewest || x.Stem > c.most {
			t.Errorf("%s: %+v", name, x)
		}
		if all := x.StemHit > 0.99*x.StemMass; all != c.allSeeds {
			t.Errorf("%s: %v of %v nats", name, x.StemHit, x.StemMass)
		}
	}
	if _, ok := s.Explain(ItemRef{testRef.Name, 99}, nil); ok {
		t.Error("explains an item there is not")
	}
}

func TestNearest(t *testing.T) {
	t.Parallel()
	s := testIndex(t).Scanner()
	if _, err := s.Row(row(testItems[7].stem + " " + testItems[0].stem[:30])); err != nil {
		t.Fatal(err)
	}
	got := s.Nearest(1)
	if d := cmp.Diff([]ItemRef{{testRef.Name, 7}}, got); d != "" {
		t.Error(d)
	}
	if _, err := s.Row(row("今日无事")); err != nil {
		t.Fatal(err)
	}
	if got := s.Nearest(5); len(got) > 0 {
		t.Errorf("%v", got)
	}
}

func TestBlindStems(t *testing.T) {
	t.Parallel()
	ix := testIndex(t)
	s := ix.Scanner()
	for _, ref := range ix.BlindStems() {
		found, err := s.Row(row(testItems[ref.Index].stem))
		if err != nil {
			t.Fatal(err)
		}
		if failsAs(found, ref) {
			t.Errorf("item %d fails by its stem alone, and is called blind", ref.Index)
		}
	}
}
