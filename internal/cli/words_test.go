package cli

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/drydock-ml/drydock"
	"github.com/drydock-ml/drydock/dedup/contam"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/pipeline"
	"github.com/drydock-ml/drydock/internal/runstore"
	"github.com/drydock-ml/drydock/internal/ui"
	"github.com/drydock-ml/drydock/provenance"
)

func TestPlacedCommands(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		g          globalOptions
		text, want string
	}{
		{globalOptions{Dir: "bank"}, "drydock run goes on", "drydock run -C bank goes on"},
		{globalOptions{Dir: "bank"}, "drydock submit verify build/x.zip", "drydock submit verify -C bank build/x.zip"},
		{globalOptions{Dir: "a b"}, "drydock lint && drydock run", `drydock lint -C "a b" && drydock run -C "a b"`},
		{globalOptions{Dir: "$a'b"}, "drydock run", `drydock run -C '$a'\''b'`},
		{globalOptions{Dir: "题库", Config: "x.yaml"}, "see drydock runs list", "see drydock runs list -C 题库 -c x.yaml"},
		{globalOptions{Dir: `C:\bank`}, "用 drydock plan 查看", `用 drydock plan -C C:\bank 查看`},
		{globalOptions{Dir: "bank"}, "see drydock run --help", "see drydock run --help"},
		{globalOptions{Dir: "bank"}, "drydock run -C bank", "drydock run -C bank"},
		{globalOptions{Dir: "bank"}, "drydock bench add x FILE", "drydock bench add x FILE"},
		{globalOptions{Dir: "bank"}, "the drydock running now", "the drydock running now"},
	} {
		if got := c.g.placed()(c.text); got != c.want {
			t.Errorf("%q became %q, want %q", c.text, got, c.want)
		}
	}
	if (&globalOptions{}).placed() != nil {
		t.Error("there is something to add to commands without -C and -c")
	}
}

// Only the newest run can be the one that holds the lock.
func TestCrashedRuns(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	runs := []runstore.Info{{ID: "4", Status: runstore.Success}, {ID: "3", Status: runstore.Started}, {ID: "2", Status: runstore.Started}, {ID: "1", Status: runstore.Failed}}
	lock, err := runstore.Project{Dir: dir}.Acquire(t.Context(), runstore.Holder{}, 0)
	if err != nil {
		t.Fatal(err)
	}
	if got := crashedRuns(filepath.Join(dir, "runs"), runs); got["3"] || !got["2"] || got["4"] || got["1"] {
		t.Errorf("while one runs: %v", got)
	}
	if err := lock.Close(); err != nil {
		t.Fatal(err)
	}
	if got := crashedRuns(filepath.Join(dir, "runs"), runs); !got["3"] || !got["2"] || got["4"] || got["1"] {
		t.Errorf("when none runs: %v", got)
	}
}

func TestStarterConfigFitsATerminal(t *testing.T) {
	t.Parallel()
	for _, lang := range []string{"en", "zh"} {
		host, _, _ := testHost(t, nil)
		a := newApp([]string{"--lang", lang}, host)
		for line := range strings.Lines(a.starterConfig(false)) {
			if w := ui.Width(strings.TrimRight(line, "\n")); w > 80 {
				t.Errorf("%s: %d columns: %s", lang, w, line)
			}
		}
	}
}

// Every reason the code gives for leaving something out has words in both
// languages.
func TestEveryReasonHasWords(t *testing.T) {
	t.Parallel()
	given := regexp.MustCompile(`(?:reason[A-Z]\w* += +|Reason: +|drop\(\w+, |^\t(?:Duplicate|Conflict|Near) += +)"([a-z_]+[a-z])"`)
	found := 0
	for _, root := range []string{"../../dataprep", "../../dedup", "../pipeline"} {
		err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
				return err
			}
			b, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			for line := range strings.Lines(string(b)) {
				for _, m := range given.FindAllStringSubmatch(line, -1) {
					found++
					if words, ok := provenance.ReasonMeaning(m[1]); !ok || words[msg.Zh] == "" {
						t.Errorf("%s: %s has no words", name, m[1])
					}
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if found < 25 {
		t.Errorf("found %d reasons only: the pattern is out of date", found)
	}
	for _, v := range contam.Verdicts() {
		if _, ok := provenance.VerdictMeaning(string(v)); !ok {
			t.Errorf("the verdict %s has no words", v)
		}
	}
}

// A person reads what a stage says in words that fit; a program reads codes.
func TestStagesInWords(t *testing.T) {
	t.Parallel()
	stages := []*pipeline.StageResult{
		{
			Name: pipeline.StageSources, Status: pipeline.StatusDone, Kinds: map[string]int{"single": 2, "passage": 1},
			Sums: &drydock.Sums{In: 9, Out: 3, Dropped: map[string]int{"no_options": 5, "new_reason": 1}},
		},
		{Name: pipeline.StageContam, Status: pipeline.StatusPlanned, Contam: []pipeline.ContamResult{{Benchmark: "b@1", Items: 1}}},
		{Name: pipeline.StageOutput, Status: pipeline.StatusInterrupted},
	}
	for _, c := range []struct {
		lang     msg.Lang
		tty      bool
		has, not []string
	}{
		{msg.En, true, []string{"3 kept, 6 dropped\n", "5 no_options: a question without options\n", "1 new_reason\n", "will be compared with b (1 item)", "interrupted"}, []string{"no leak"}},
		{msg.Zh, true, []string{"单选题 2、段落 1", "5 no_options：题目没有选项\n", "将与 b（1 题）比对", "已中断"}, []string{"single", "passage"}},
		{msg.En, false, []string{"single 2, passage 1; 3 kept, 6 dropped (no_options 5, new_reason 1)\t", "contam\tplanned\t", "output\tinterrupted\t"}, []string{"question without"}},
	} {
		var out strings.Builder
		term := ui.New(ui.Config{Out: &out, Err: &out, OutTTY: c.tty, Lang: c.lang, Now: time.Now, Encode: func(any) ([]byte, error) { return nil, nil }})
		p := textRun{t: term}
		for _, s := range stages {
			p.row(s)
		}
		for _, want := range c.has {
			if !strings.Contains(out.String(), want) {
				t.Errorf("%v, terminal %v: %q is missing in\n%s", c.lang, c.tty, want, out.String())
			}
		}
		for _, not := range c.not {
			if strings.Contains(out.String(), not) {
				t.Errorf("%v, terminal %v: %q is in\n%s", c.lang, c.tty, not, out.String())
			}
		}
	}
}

// Advice names flags that the command it is given by has.
func TestReadingCommandsHaveTheFlagsTheyAreTold(t *testing.T) {
	t.Parallel()
	host, _, _ := testHost(t, nil)
	root := newRoot(newApp(nil, host))
	for _, path := range [][]string{{"prep"}, {"contam", "check"}} {
		c, _, err := root.Find(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, flag := range []string{"encoding", "password-file", "allow-restricted"} {
			if c.Flags().Lookup(flag) == nil {
				t.Errorf("%s has no --%s, which hints of the formats name", c.CommandPath(), flag)
			}
		}
	}
}
