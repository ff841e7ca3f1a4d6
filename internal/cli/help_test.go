package cli

import (
	"bytes"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
	"github.com/drydock-ml/drydock/internal/ui"
)

// testHost is a machine of buffers with nothing in its environment.
func testHost(t *testing.T, env map[string]string) (Host, *bytes.Buffer, *bytes.Buffer) {
	t.Helper()
	var out, errs bytes.Buffer
	dir := t.TempDir()
	return Host{
		In: strings.NewReader(""), Out: &out, Err: &errs,
		Getenv:    func(k string) string { return env[k] },
		Now:       func() time.Time { return time.Unix(1_800_000_000, 0) },
		Chdir:     func(string) error { return os.ErrPermission },
		ConfigDir: func() (string, error) { return dir, nil },
		CacheDir:  func() (string, error) { return dir, nil },
		HTTP:      http.DefaultClient,
	}, &out, &errs
}

// everyCommand calls f for every command of the tree that users see.
func everyCommand(root *cobra.Command, f func(*cobra.Command)) {
	f(root)
	for _, c := range root.Commands() {
		if !c.Hidden {
			everyCommand(c, f)
		}
	}
}

// Help of every command exists in both languages, begins with what it is, shows
// an example, ends with exit codes, and fits 80 columns.
func TestHelpOfEveryCommand(t *testing.T) {
	t.Parallel()
	pages := map[msg.Lang]map[string]string{msg.En: {}, msg.Zh: {}}
	for lang := range pages {
		host, _, _ := testHost(t, map[string]string{"DRYDOCK_LANG": lang.String()})
		a := newApp(nil, host)
		everyCommand(newRoot(a), func(c *cobra.Command) {
			c.InitDefaultHelpFlag()
			pages[lang][c.CommandPath()] = a.helpText(c)
			group := len(a.children[c]) > 0
			if len(a.abouts[c].examples) == 0 && !group {
				t.Errorf("%s has no example", c.CommandPath())
			}
			everyFlag(c, func(f *pflag.Flag) {
				if f.Usage == "" {
					t.Errorf("%s --%s is not explained", c.CommandPath(), f.Name)
				}
			})
		})
		for _, topic := range topics() {
			pages[lang]["topic "+topic.name] = topic.render(a)
		}
	}
	for path, en := range pages[msg.En] {
		zh := pages[msg.Zh][path]
		if strings.IndexFunc(en, func(r rune) bool { return unicode.Is(unicode.Han, r) }) >= 0 {
			t.Errorf("%s: Chinese in English help:\n%s", path, en)
		}
		if strings.IndexFunc(zh, func(r rune) bool { return unicode.Is(unicode.Han, r) }) < 0 {
			t.Errorf("%s: no Chinese help", path)
		}
		for _, page := range []string{en, zh} {
			for line := range strings.SplitSeq(page, "\n") {
				if w := ui.Width(line); w > helpWidth {
					t.Errorf("%s: %d columns: %s", path, w, line)
				}
			}
		}
		if strings.HasPrefix(path, "topic") {
			continue
		}
		if !strings.Contains(en, "\nExit codes:\n") || !strings.Contains(zh, "\n退出码：\n") {
			t.Errorf("%s: no exit codes", path)
		}
		if ex, usage := strings.Index(en, "Examples:"), strings.Index(en, "Usage:"); ex > usage {
			t.Errorf("%s: usage stands before the examples", path)
		}
	}
}

func everyFlag(c *cobra.Command, f func(*pflag.Flag)) { c.Flags().VisitAll(f) }

// No two flags of a command may be set by one variable, and what lifts a gate
// or names an output has none.
func TestFlagVariables(t *testing.T) {
	t.Parallel()
	host, _, _ := testHost(t, nil)
	a := newApp(nil, host)
	typed := []string{"force", "fresh", "output", "dry-run", "clean", "report", "dropped"}
	everyCommand(newRoot(a), func(c *cobra.Command) {
		_ = c.InheritedFlags() // merges those of the root in
		everyFlag(c, func(f *pflag.Flag) {
			name := envName(f)
			if gate := slices.Contains(typed, f.Name) || strings.HasPrefix(f.Name, "allow-"); gate && name != "" {
				t.Errorf("%s --%s can be set by %s", c.CommandPath(), f.Name, name)
			}
		})
	})
}

// The table of exit codes and package fail agree.
func TestExitCodesMatchKinds(t *testing.T) {
	t.Parallel()
	kinds := []fail.Kind{
		fail.Failed, fail.Refused, fail.Usage, fail.Config, fail.Partial, fail.Credentials, fail.Contamination,
		fail.Submission, fail.BelowMinAcc, fail.Unreachable, fail.Trainer, fail.Internal, fail.Interrupted,
	}
	seen := 0
	for _, e := range exitCodes() {
		for name := range strings.SplitSeq(e.Kind, ", ") {
			if name == "" {
				continue
			}
			seen++
			if got := fail.Kind(name).Code(); got != e.Code {
				t.Errorf("kind %s has code %d, the table says %d", name, got, e.Code)
			}
			if !slices.Contains(kinds, fail.Kind(name)) {
				t.Errorf("the table has a kind %q", name)
			}
		}
	}
	if seen != len(kinds) {
		t.Errorf("the table has %d kinds, want %d", seen, len(kinds))
	}
}

// A panic ends with 70 and asks for a report; ^C with 130; a second one at once.
func TestMainEndings(t *testing.T) {
	t.Parallel()
	t.Run("panic", func(t *testing.T) {
		t.Parallel()
		host, _, errs := testHost(t, nil)
		host.Out = panicWriter{}
		if code := Main([]string{"version"}, host); code != 70 {
			t.Errorf("code %d, want 70", code)
		}
		if !strings.Contains(errs.String(), "bug in drydock: boom") || !strings.Contains(errs.String(), "please report") {
			t.Errorf("stderr: %s", errs)
		}
	})
	t.Run("interrupt", func(t *testing.T) {
		t.Parallel()
		host, out, _ := testHost(t, nil)
		signals := make(chan os.Signal, 2)
		exited := make(chan int, 1)
		host.Signals = func() (<-chan os.Signal, func()) { return signals, func() {} }
		host.Exit = func(code int) { exited <- code }
		host.Chdir = func(string) error { // a long piece of work that is interrupted twice
			signals <- os.Interrupt
			signals <- os.Interrupt
			exited <- <-exited
			return io.ErrUnexpectedEOF
		}
		if code := Main([]string{"version", "-C", "x"}, host); code != 130 {
			t.Errorf("code %d, want 130", code)
		}
		if code := <-exited; code != 130 {
			t.Errorf("the second ^C exits with %d, want 130", code)
		}
		if out.Len() > 0 {
			t.Errorf("stdout: %s", out)
		}
	})
}

type panicWriter struct{}

func (panicWriter) Write([]byte) (int, error) { panic("boom") }
