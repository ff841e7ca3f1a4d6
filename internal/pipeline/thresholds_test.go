package pipeline

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/drydock-ml/drydock/dedup/contam"
)

// The thresholds of drydock.yaml decide what is a leak, and their hash stands in
// the result.
func TestThresholdsOfAProject(t *testing.T) {
	t.Parallel()
	dir := newProject(t, 1, 5)
	p := filepath.Join(dir, ConfigName)
	b, err := os.ReadFile(p)
	if err != nil {
		t.Fatal(err)
	}
	b = bytes.Replace(b, []byte("against: [own_bench]"), []byte("against: [own_bench], thresholds: {benchmarks: {own_bench: {fail: [exact]}}}"), 1)
	if err := os.WriteFile(p, b, 0o644); err != nil {
		t.Fatal(err)
	}
	s := mustRun(t, dir, Options{}).Stage(StageContam)
	if c := s.Contam[0]; s.Sums.DroppedTotal() != 0 || c.Leaks != 0 || c.Verdicts["shuffled"] != 1 || c.Config == contam.DefaultConfig().Hash() {
		t.Errorf("%+v, %+v", s.Sums, c)
	}
}

func TestReadThresholds(t *testing.T) {
	t.Parallel()
	c, bad := ReadThresholds("t.yaml", []byte("stem_same: 0.9\nleast: {near: 0.5}\nbenchmarks: {a: {fail: [exact]}}\n"))
	if len(bad) > 0 || c.StemSame != 0.9 || c.Least["near"] != 0.5 || len(c.Benchmarks["a"].Fail) != 1 {
		t.Errorf("%+v, %v", c, bad)
	}
	for src, want := range map[string]string{
		"stem_same: 2\n":          "t.yaml:1:1: stem_same is a share above 0 and up to 1, not 2",
		"stem_same: much\n":       "t.yaml:1:12: stem_same must be a number",
		"- stem_same\n":           "t.yaml:1:1",
		"":                        "t.yaml: the file is empty",
		"fail: [leak]\n":          `unknown contamination verdict "leak"`,
		"benchmarks: {a: {b: 1}}": `has no option "b"`,
	} {
		if _, bad := ReadThresholds("t.yaml", []byte(src)); len(bad) == 0 || !strings.Contains(bad[0].Error(), want) {
			t.Errorf("%q: %v", src, bad)
		}
	}
}
