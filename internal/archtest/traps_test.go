package archtest

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The table of silent failures has a row for each, and the tests it names are there.
func TestTrapsHaveTests(t *testing.T) {
	t.Parallel()
	root := filepath.Join("..", "..")
	text, err := os.ReadFile(filepath.Join(root, "docs", "design", "043-preflight.md"))
	if err != nil {
		t.Fatal(err)
	}
	// "launch/checkpoint `TestFix`, `TestFind`": a folder and its tests
	group := regexp.MustCompile("([a-z/]+) ((?:`Test\\w+`(?:, )?)+)")
	test := regexp.MustCompile("`(Test\\w+)`")
	row := regexp.MustCompile(`(?m)^\| (S\d+(?:, S\d+)*) .*$`)
	have := map[string]bool{}
	for _, m := range row.FindAllStringSubmatch(string(text), -1) {
		for trap := range strings.SplitSeq(m[1], ", ") {
			have[trap] = true
		}
		groups := group.FindAllStringSubmatch(m[0][strings.LastIndex(m[0][:len(m[0])-1], "|"):], -1)
		if len(groups) == 0 {
			t.Errorf("%s names no test", m[1])
		}
		for _, g := range groups {
			source := testsOf(t, filepath.Join(root, filepath.FromSlash(g[1])))
			for _, name := range test.FindAllStringSubmatch(g[2], -1) {
				if !strings.Contains(source, "func "+name[1]+"(t *testing.T)") {
					t.Errorf("%s: %s has no test %s", m[1], g[1], name[1])
				}
			}
		}
	}
	for n := 1; n <= 22; n++ {
		if trap := fmt.Sprintf("S%d", n); !have[trap] {
			t.Errorf("the table has no row of %s", trap)
		}
	}
}

// testsOf is the text of a folder's tests.
func testsOf(t *testing.T, dir string) string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, name := range names {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(b)
	}
	return all.String()
}
