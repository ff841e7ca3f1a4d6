package archtest

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestDependenciesHaveAReason holds docs/design/dependencies.md to go.mod: every
// direct dependency in a row of its own, and no other.
func TestDependenciesHaveAReason(t *testing.T) {
	t.Parallel()
	read := func(path ...string) string {
		b, err := os.ReadFile(filepath.Join(append([]string{"..", ".."}, path...)...))
		if err != nil {
			t.Fatal(err)
		}
		return strings.ReplaceAll(string(b), "\r\n", "\n")
	}
	find := func(text, expr string) []string {
		var out []string
		for _, m := range regexp.MustCompile(expr).FindAllStringSubmatch(text, -1) {
			out = append(out, m[1])
		}
		slices.Sort(out)
		return out
	}
	required := find(read("go.mod"), `(?m)^\t(\S+) v\S+$`) // an indirect one has a comment
	explained := find(read("docs", "design", "dependencies.md"), `(?m)^\| (\S+\.\S+) \| .*\w.* \|$`)
	if d := cmp.Diff(required, explained); d != "" {
		t.Errorf("go.mod and docs/design/dependencies.md differ (-required +explained):\n%s", d)
	}
}
