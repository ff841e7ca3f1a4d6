package pipeline

import (
	"slices"
	"testing"

	"github.com/drydock-ml/drydock/dedup/contam"
)

// Findings come in the order of the items; a record counts as its gravest.
func TestRecordCountsAsItsGravestFinding(t *testing.T) {
	t.Parallel()
	found := []contam.Finding{
		{Verdict: contam.SharedMaterial},
		{Verdict: contam.NumericVariant, Fail: true}, // a benchmark's own setting
		{Verdict: contam.OptionsOnly},
		{Verdict: contam.StemOnly, Fail: true},
		{Verdict: contam.StemOnly, Fail: true, Item: contam.ItemRef{Index: 9}},
	}
	if x := slices.MinFunc(found, worse); x.Verdict != contam.StemOnly || x.Item.Index != 0 {
		t.Errorf("%+v", x)
	}
	if x := slices.MinFunc(found[:1], worse); x.Fail {
		t.Errorf("%+v", x)
	}
	if x := slices.MinFunc([]contam.Finding{found[0], found[2]}, worse); x.Verdict != contam.OptionsOnly {
		t.Errorf("%+v", x)
	}
}
