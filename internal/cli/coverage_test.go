package cli

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// Every command has a script that runs it well, badly, in Chinese and, where it
// gives a result, as JSON that is then checked.
func TestEveryCommandIsScripted(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../../testdata/script/*/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	var lines []string
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		script, _, _ := strings.Cut(string(b), "\n-- ")
		lines = append(lines, strings.Split(script, "\n")...)
	}
	host, _, _ := testHost(t, nil)
	a := newApp(nil, host)
	everyCommand(newRoot(a), func(c *cobra.Command) {
		if len(a.children[c]) > 0 || !c.HasParent() {
			return
		}
		call := regexp.QuoteMeta(c.CommandPath())
		for what, pattern := range map[string]string{
			"success": `^exec ` + call + `( |$)`,
			"failure": `^(code [1-9]\d*|! exec) ` + call + `( |$)`,
			"Chinese": `^(exec|code \d+) ` + call + `.*--lang zh`,
		} {
			if !matchLine(lines, pattern, "") {
				t.Errorf("%s: no script shows %s", c.CommandPath(), what)
			}
		}
		switch c.Name() {
		case "completion", "help": // they print text for a shell or a person
			return
		}
		if !matchLine(lines, `^(exec|code \d+) `+call+`.*--json`, "jsonout ") {
			t.Errorf("%s: no script checks its --json", c.CommandPath())
		}
	})
}

// matchLine reports whether a line matches and, unless next is empty, the line
// after it begins so.
func matchLine(lines []string, pattern, next string) bool {
	re := regexp.MustCompile(pattern)
	for i, l := range lines {
		if re.MatchString(l) && (next == "" || i+1 < len(lines) && strings.HasPrefix(lines[i+1], next)) {
			return true
		}
	}
	return false
}
