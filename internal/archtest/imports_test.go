package archtest

import (
	"maps"
	"path"
	"slices"
	"strings"
	"testing"
)

// level0 are the leaves of docs/ARCHITECTURE.md: every package above may import
// them and the root package, and beyond that exactly what allow says.
var level0 = []string{
	"data", "qwen3",
	"internal/msg", "internal/fail", "internal/spec", "internal/textnorm", "internal/parallel",
	"internal/atomicfile", "internal/runstore", "internal/llm", "internal/bm25", "internal/golden",
	"internal/shuffle", "internal/stats", "internal/chart", "internal/page",
	"internal/archive", "internal/meter",
}

// leaves says what the packages of level 0 may import of ours. What is not
// listed imports none.
var leaves = map[string][]string{
	"qwen3":             {".", "internal/msg", "internal/fail"},
	"internal/fail":     {"internal/msg"},
	"internal/spec":     {"internal/msg", "internal/fail"},
	"internal/parallel": {"internal/fail"},
	"internal/runstore": {".", "internal/msg", "internal/fail", "internal/atomicfile"},
	"internal/llm":      {".", "internal/msg", "internal/fail", "internal/parallel"},
	"internal/bm25":     {"internal/textnorm"},
	"internal/archive":  {"internal/msg", "internal/fail"},
	"internal/shuffle":  {".", "internal/textnorm"},
}

// allow lists, for each package above level 0, what it may import besides the
// root package and level 0.
var allow = map[string][]string{
	"dataprep/format":            {},
	"dataprep/format/formattest": {"dataprep/format"},
	"dataprep/question":          {},
	"dataprep/overlay":           {},
	"dedup":                      {},
	"eval/benchmark":             {},
	"eval/benchmark/benchtest":   {"eval/benchmark"},
	"provenance":                 {},
	"dataprep/step":              {"dataprep/question"},
	"dataprep/step/steptest":     {"dataprep/step"},
	"dataprep/emit":              {},
	"dataprep/rowfile":           {},
	"dataprep/emit/emittest":     {"dataprep/emit"},
	"dedup/contam":               {"eval/benchmark"},
	"dedup/contam/selftest":      {"dedup/contam", "eval/benchmark"},
	"dedup/contam/preset":        {"dedup/contam", "dedup/contam/rowtext", "eval/benchmark"},
	"dedup/contam/rowtext":       {"dedup/contam"},
	"dedup/contam/judge":         {"dedup/contam", "eval/benchmark"},
	"dedup/contam/report":        {"dedup/contam", "dedup/contam/rowtext", "eval/benchmark", "provenance"},
	"eval/evalscope":             {"eval/benchmark"},
	"eval":                       {"eval/benchmark", "eval/evalscope", "launch/checkpoint"},
	"eval/report":                {"eval", "eval/benchmark"},
	"launch/checkpoint":          {},
	"launch/vllm":                {"dataprep/emit", "launch", "launch/checkpoint", "launch/parity"},
	"launch/vllm/vllmtest":       {},
	"launch/feed":                {"dataprep/emit", "qwen3"},
	"launch/parity":              {"dataprep/emit", "launch/feed", "qwen3"},
	"launch":                     {"dataprep/emit", "launch/checkpoint", "launch/feed", "launch/parity"},
	"launch/launchtest":          {"launch"},
	"provenance/submission":      {"provenance", "eval/benchmark", "eval/evalscope", "dedup/contam"},
	"internal/training": {
		"dataprep/emit", "dedup/contam/report", "eval", "eval/benchmark",
		"launch", "launch/checkpoint", "launch/feed", "launch/parity", "provenance",
	},
	"internal/pipeline": {
		"dataprep/format", "dataprep/question", "dataprep/overlay", "dataprep/step", "dataprep/emit", "dataprep/rowfile",
		"dedup", "dedup/contam", "dedup/contam/report", "eval", "eval/benchmark", "eval/evalscope",
		"internal/training", "launch", "launch/feed", "provenance", "provenance/submission",
	},
	"internal/convert": {"dataprep/emit", "dataprep/format", "dataprep/rowfile", "internal/pipeline"},
	"internal/ui":      {},
	"cmd/drydock":      {"internal/cli"},
	"cmd/gendocs":      {"internal/cli", "internal/pipeline"},
}

// testOnly may be used by every test, besides what its package may.
var testOnly = []string{"internal/golden", "internal/meter"}

func TestImports(t *testing.T) {
	t.Parallel()
	for _, s := range sources(t) {
		if strings.HasPrefix(s.pkg, "scripts") || s.pkg == "internal/archtest" {
			continue
		}
		for _, imp := range s.ast.Imports {
			p := strings.Trim(imp.Path.Value, `"`)
			if p != module && !strings.HasPrefix(p, module+"/") {
				continue
			}
			to := strings.TrimPrefix(strings.TrimPrefix(p, module), "/")
			if to == "" {
				to = "."
			}
			if to == s.pkg || mayImport(s, to) {
				continue
			}
			t.Errorf("%s: %s may not import %s (see docs/ARCHITECTURE.md)", fset.Position(imp.Pos()), s.pkg, to)
		}
	}
}

func mayImport(s source, to string) bool {
	if s.test && slices.Contains(testOnly, to) {
		return true
	}
	if kit := path.Dir(to); s.test && strings.HasSuffix(to, "test") && (kit == s.pkg || mayImport(s, kit)) {
		return true // a package's test kit is for its own tests and its users'
	}
	switch {
	case s.pkg == "." || s.pkg == "data":
		return false
	case slices.Contains(level0, s.pkg):
		return slices.Contains(leaves[s.pkg], to)
	case s.pkg == "internal/ui":
		return slices.Contains([]string{"internal/msg", "internal/fail", "internal/textnorm"}, to)
	case s.pkg == "internal/cli":
		return true
	}
	list, known := allow[s.pkg]
	return known && (to == "." || slices.Contains(level0, to) || slices.Contains(list, to))
}

// TestRulesNameWhatThereIs keeps the lists from speaking of packages that are
// gone.
func TestRulesNameWhatThereIs(t *testing.T) {
	t.Parallel()
	have := map[string]bool{"internal/cli": true}
	for _, s := range sources(t) {
		have[s.pkg] = true
	}
	named := slices.Concat(level0, testOnly, slices.Collect(maps.Keys(leaves)), slices.Collect(maps.Keys(allow)))
	for _, list := range []map[string][]string{leaves, allow} {
		for _, to := range list {
			named = append(named, to...)
		}
	}
	for _, f := range fences {
		named = append(named, f.only...)
	}
	slices.Sort(named)
	for _, p := range slices.Compact(named) {
		if !have[p] {
			t.Errorf("the rules name %s, which is no package", p)
		}
	}
}

// TestAllowListHasNoCycle proves that the rules themselves can be followed.
func TestAllowListHasNoCycle(t *testing.T) {
	t.Parallel()
	edges := map[string][]string{}
	for p, to := range leaves {
		edges[p] = to
	}
	for p, to := range allow {
		edges[p] = append(append(slices.Clone(to), "."), level0...)
	}
	state := map[string]int{}
	var visit func(p string, trail []string)
	visit = func(p string, trail []string) {
		switch state[p] {
		case 1:
			t.Fatalf("cycle: %s", strings.Join(append(trail, p), " → "))
		case 2:
			return
		}
		state[p] = 1
		for _, to := range edges[p] {
			visit(to, append(trail, p))
		}
		state[p] = 2
	}
	for p := range edges {
		visit(p, nil)
	}
}

// fences keep each heavy library behind one door.
var fences = []struct {
	prefix string
	only   []string
}{
	{"github.com/spf13/", []string{"internal/cli", "cmd/gendocs"}},
	{"github.com/klippa-app/go-pdfium", []string{"dataprep/format"}},
	{"github.com/tetratelabs/wazero", []string{"dataprep/format"}},
	{"github.com/xuri/excelize", []string{"dataprep/format"}},
	{"github.com/parquet-go/parquet-go", []string{"dataprep/format", "dataprep/rowfile"}},
	{"github.com/apache/arrow-go", []string{"dataprep/format", "dataprep/rowfile"}},
	{"go.yaml.in/yaml", []string{"internal/spec", "internal/pipeline", "eval/benchmark", "launch"}},
	{"golang.org/x/term", []string{"internal/ui"}},
	{"github.com/mattn/go-runewidth", []string{"internal/ui"}},
	{"github.com/clipperhouse/uax29", []string{"dedup/contam/preset"}},
}

func TestFences(t *testing.T) {
	t.Parallel()
	for _, s := range sources(t) {
		if s.test || strings.HasPrefix(s.pkg, "scripts") {
			continue
		}
		for _, imp := range s.ast.Imports {
			p := strings.Trim(imp.Path.Value, `"`)
			if s.pkg == "." && strings.Contains(strings.Split(p, "/")[0], ".") {
				t.Errorf("%s: the root package imports the standard library only", fset.Position(imp.Pos()))
			}
			for _, f := range fences {
				if strings.HasPrefix(p, f.prefix) && !slices.Contains(f.only, s.pkg) {
					t.Errorf("%s: %s belongs in %s", fset.Position(imp.Pos()), p, strings.Join(f.only, ", "))
				}
			}
		}
	}
}
