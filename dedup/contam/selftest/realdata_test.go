package selftest

import (
	"os"
	"strings"
	"testing"

	"github.com/drydock-ml/drydock/dedup/contam"
	"github.com/drydock-ml/drydock/eval/benchmark"
	"github.com/drydock-ml/drydock/eval/benchmark/benchtest"
	"github.com/drydock-ml/drydock/internal/golden"
)

// TestRealBenchmark holds the check to its bars on the published items, hidden
// in Chinese prose that has nothing to do with ships.
func TestRealBenchmark(t *testing.T) {
	t.Parallel()
	items := benchtest.RealItems(t)
	prose, err := os.ReadFile(golden.RealData(t, "debian-docs-zh", "debian-faq.zh-cn.txt"))
	if err != nil {
		t.Fatal(err)
	}
	set := contam.Set{Ref: benchmark.Ref{Name: "maritime_bench"}, Items: items}
	ix, err := contam.NewIndexOf([]contam.Set{set}, contam.Config{})
	if err != nil {
		t.Fatal(err)
	}
	var c Carrier
	for p := range strings.SplitSeq(string(prose), "\n\n") {
		c.Add(p, false)
	}
	r, err := Run(t.Context(), ix, []contam.Set{set}, &c, Options{Seed: 1, Items: 400})
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range r.Kinds {
		if o.Made < 20 {
			t.Errorf("%s: only %d copies", o.Name, o.Made)
		}
		if !o.Pass {
			t.Errorf("%s: %d of %d came out as %s, bar %.3f; first miss: %+v", o.Name, o.Met, o.Made, o.Expect, o.Bar, o.Missed[0])
		}
	}
}
