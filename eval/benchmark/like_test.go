package benchmark_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/drydock-ml/drydock/eval/benchmark"
)

// A copy of a benchmark's own items is that benchmark: reports call it by its
// title, as EvalScope does. Another set of items has a name of its own.
func TestLikePackInfo(t *testing.T) {
	t.Parallel()
	base, err := benchmark.Lookup("maritime_bench")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		want benchmark.Info
	}{
		{"maritime_bench", base.Info()},
		{"harbour", benchmark.Info{Title: "harbour", Rule: base.Info().Rule, OtherRule: base.Info().OtherRule}},
	} {
		src, err := benchmark.LikePack(c.name, "maritime_bench", nil).Marshal()
		if err != nil {
			t.Fatal(err)
		}
		p, err := benchmark.ParsePack("pack.yaml", src, benchmark.ShippedPack)
		if err != nil {
			t.Fatal(err)
		}
		b, err := benchmark.NewChoice(p)
		if err != nil {
			t.Fatal(err)
		}
		got := b.Info()
		got.Items, got.ItemsSHA256 = c.want.Items, c.want.ItemsSHA256
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, d)
		}
	}
}
