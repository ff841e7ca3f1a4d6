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
		t.Logf("%-22s %-8s %5d made  %.4f [%.3f, %.3f] bar %.3f %v  leak %d variant %d other %d", o.Name, o.Expect, o.Made,
			float64(o.Met)/float64(max(o.Made, 1)), o.Low, o.High, o.Bar, o.Pass, o.Leaks, o.Variants, o.Others)
	}
}
