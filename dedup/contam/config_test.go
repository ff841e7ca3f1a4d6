package contam

import (
	"slices"
	"strings"
	"testing"

	"github.com/drydock-ml/drydock/eval/benchmark"
)

// Thresholds of one benchmark are those of all but for what it sets itself, and
// another benchmark is not touched by them.
func TestThresholdsPerBenchmark(t *testing.T) {
	t.Parallel()
	strict := Thresholds{Fail: []Verdict{Exact}, StemSame: 0.95}
	c := Config{Thresholds: Thresholds{SourceRatio: 3}, Benchmarks: map[string]Thresholds{"strict": strict}}
	got := c.For("strict")
	if got.StemSame != 0.95 || got.SourceRatio != 3 || got.StemNats != 18 || !slices.Equal(got.Fail, strict.Fail) {
		t.Errorf("%+v", got)
	}
	if got := c.For("other"); got.StemSame != 0.8 || len(got.Fail) != 4 {
		t.Errorf("%+v", got)
	}
	ix, err := NewIndexOf([]Set{
		{benchmark.Ref{Name: "strict"}, testSet()[:4]}, {benchmark.Ref{Name: "other"}, testSet()[4:]},
	}, c)
	if err != nil {
		t.Fatal(err)
	}
	s := ix.Scanner()
	for i, want := range map[int]bool{0: false, 7: true} {
		found := s.Text([]byte(testItems[i].stem))
		if len(found) != 1 || found[0].Verdict != StemOnly || found[0].Fail != want {
			t.Errorf("item %d: %+v", i, found)
		}
		if found[0].Config != c.Hash() {
			t.Error("the finding names other settings")
		}
	}
	if b := ix.Blind(); len(b) > 0 {
		t.Errorf("blind to %v", b)
	}
}

// A verdict's least score takes weaker findings out of the report.
func TestLeastScore(t *testing.T) {
	t.Parallel()
	c := Config{Thresholds: Thresholds{Least: map[string]float64{"near": 0.95}}}
	ix, err := NewIndex(testSet(), testRef, c)
	if err != nil {
		t.Fatal(err)
	}
	text := strings.NewReplacer("良", "好", "首先", "先").Replace(render(0))
	if v := verdict(testIndex(t).Scanner().Text([]byte(text)), 0); v != Near {
		t.Fatalf("without it: %q", v)
	}
	if found := ix.Scanner().Text([]byte(text)); len(found) > 0 {
		t.Errorf("%+v", found)
	}
	if v := verdict(ix.Scanner().Text([]byte(render(0))), 0); v != Exact {
		t.Errorf("another verdict: %q", v)
	}
}

// Every setting changes the hash, and settings that mean the same do not.
func TestConfigHash(t *testing.T) {
	t.Parallel()
	seen := map[string]string{}
	for name, c := range map[string]Config{
		"default":   {},
		"stem same": {Thresholds: Thresholds{StemSame: 0.9}},
		"least":     {Thresholds: Thresholds{Least: map[string]float64{"near": 0.9}}},
		"benchmark": {Benchmarks: map[string]Thresholds{"a": {StemSame: 0.9}}},
		"another":   {Benchmarks: map[string]Thresholds{"b": {StemSame: 0.9}}},
		"fail":      {Thresholds: Thresholds{Fail: []Verdict{Exact}}},
	} {
		h := c.Hash()
		if other, twice := seen[h]; twice {
			t.Errorf("%s and %s have the same hash", name, other)
		}
		seen[h] = name
	}
	if DefaultConfig().Hash() != (Config{}).Hash() {
		t.Error("the defaults, written out, have another hash")
	}
}

func TestConfigRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]Config{
		"share":     {Thresholds: Thresholds{OptionsNear: -1}},
		"amount":    {Thresholds: Thresholds{SourceRatio: -2}},
		"count":     {Thresholds: Thresholds{OptionsOnlyLetters: -1}},
		"max df":    {MaxLatinDF: -1},
		"least":     {Thresholds: Thresholds{Least: map[string]float64{"near": 2}}},
		"verdict":   {Thresholds: Thresholds{Least: map[string]float64{"nearly": 0.5}}},
		"benchmark": {Benchmarks: map[string]Thresholds{"a": {StemSame: 7}}},
	} {
		if c.Check() == nil {
			t.Errorf("%s: taken", name)
		}
	}
}
