package cli_test

import (
	"bytes"
	"flag"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/drydock-ml/drydock/internal/cli"
	_ "github.com/drydock-ml/drydock/internal/golden" // the flag -update
	"github.com/drydock-ml/drydock/launch"
)

const repository = "../.."

// TestREADMESessions runs every command of the ```console blocks of the README
// and the guide, in their order, as someone would who follows them from the
// root of a clone with a terminal of 80 columns, and compares what is printed.
// Each document begins with a fresh copy of the sample. Durations may differ.
// With -update the blocks that are no longer true are rewritten.
//
// It changes the working directory, so neither it nor a part of it is parallel.
func TestREADMESessions(t *testing.T) {
	docs := documents(t)
	cache := filepath.Join(os.TempDir(), "drydock-test-pdf") // compiling the PDF reader takes seconds
	t.Setenv("PATH", "")                                     // a trainer on this machine would change what is said
	for _, doc := range docs {
		name, err := filepath.Rel(repository, doc)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(filepath.ToSlash(name), func(t *testing.T) {
			file, err := filepath.Abs(doc)
			if err != nil {
				t.Fatal(err)
			}
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			s := newShell(t, strings.HasSuffix(doc, ".zh.md"), cache)
			changed := false
			parts := splitSessions(string(text))
			for i := 1; i < len(parts); i += 2 {
				got := s.replay(parts[i])
				if masked(got) == masked(parts[i]) {
					continue
				}
				if update := flag.Lookup("update"); update.Value.String() != "true" {
					t.Errorf("a session is not true any more; go test ./internal/cli -run README -update rewrites it (-document +now):\n%s",
						cmp.Diff(masked(parts[i]), masked(got)))
					continue
				}
				parts[i], changed = got, true
			}
			if changed {
				if err := os.WriteFile(file, []byte(strings.Join(parts, "")), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// The two languages show the same commands in the same order.
func TestREADMETwins(t *testing.T) {
	t.Parallel()
	for _, doc := range documents(t) {
		base, ok := strings.CutSuffix(doc, ".zh.md")
		if !ok {
			if _, err := os.Stat(strings.TrimSuffix(doc, ".md") + ".zh.md"); err != nil {
				t.Errorf("%s has no Chinese twin: %v", doc, err)
			}
			continue
		}
		if d := cmp.Diff(commandsOf(t, base+".md"), commandsOf(t, doc)); d != "" {
			t.Errorf("%s.md and %s show different commands (-en +zh):\n%s", base, doc, d)
		}
	}
}

// Every link to a file of the repository leads somewhere.
func TestREADMELinks(t *testing.T) {
	t.Parallel()
	link := regexp.MustCompile(`\]\(([^)#\s]+)(#[^)]*)?\)`)
	for _, doc := range documents(t) {
		text, err := os.ReadFile(doc)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range link.FindAllStringSubmatch(string(text), -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			if _, err := os.Stat(filepath.Join(filepath.Dir(doc), filepath.FromSlash(m[1]))); err != nil {
				t.Errorf("%s: the link %s leads nowhere", doc, m[1])
			}
		}
	}
}

// documents lists the README and the guide, in both languages.
func documents(t *testing.T) []string {
	t.Helper()
	docs, err := filepath.Glob(repository + "/docs/guide/*.md")
	if err != nil || len(docs) == 0 {
		t.Fatalf("no guide: %v", err)
	}
	return append([]string{repository + "/README.md", repository + "/README.zh.md"}, docs...)
}

func commandsOf(t *testing.T, doc string) []string {
	t.Helper()
	text, err := os.ReadFile(doc)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for i, part := range splitSessions(string(text)) {
		if i%2 == 1 {
			for _, c := range parseSession(part) {
				all = append(all, c.line)
			}
		}
	}
	return all
}

// splitSessions cuts a document so that the parts with odd numbers are what
// stands inside its ```console blocks; joined, the parts are the document.
func splitSessions(text string) []string {
	const open, end = "```console\n", "```"
	text = strings.ReplaceAll(text, "\r\n", "\n")
	var parts []string
	for {
		before, rest, ok := strings.Cut(text, open)
		if !ok {
			return append(parts, text)
		}
		i := strings.Index(rest, "\n"+end)
		if i < 0 {
			return append(parts, text)
		}
		parts = append(parts, before+open, rest[:i+1])
		text = rest[i+1:]
	}
}

// A command is one of a session: "$ line", with the lines after "> " that
// belong to a here-document.
type command struct{ line, here string }

func parseSession(block string) []command {
	var cs []command
	inHere := false
	for line := range strings.SplitSeq(block, "\n") {
		if c, ok := strings.CutPrefix(line, "$ "); ok {
			cs = append(cs, command{line: c})
			inHere = strings.HasSuffix(c, "<<'EOF'")
		} else if h, ok := strings.CutPrefix(line, "> "); ok && inHere {
			if h == "EOF" {
				inHere = false
			} else {
				cs[len(cs)-1].here += h + "\n"
			}
		}
	}
	return cs
}

var (
	duration = regexp.MustCompile(`[ \t]+\d+(\.\d)? (s|秒)(\.?)(\n|,|，|。|$)`)
	runID    = regexp.MustCompile(`\d{8}-\d{6}(-\d+)?`)
	refused  = regexp.MustCompile(`dial tcp .*`)      // the system's own words
	sha256   = regexp.MustCompile(`\b[0-9a-f]{64}\b`) // of packages: another Go may compress otherwise
)

// masked hides what two runs may say differently, with the spaces that put a
// duration at the end of its line.
func masked(s string) string {
	s = duration.ReplaceAllString(s, " (time)$3$4")
	s = runID.ReplaceAllString(s, "(run)")
	s = sha256.ReplaceAllString(s, "(sha256)")
	return refused.ReplaceAllString(s, "(why)")
}

// A shell is what these documents need of one: drydock on a terminal of 80
// columns, and cat, head, cp and echo $?.
type shell struct {
	t    *testing.T
	root string
	host cli.Host
	out  bytes.Buffer // both streams, as a person sees them
	code int
}

func newShell(t *testing.T, zh bool, cache string) *shell {
	t.Helper()
	s := &shell{t: t, root: t.TempDir()}
	const sample = "data/samples/colreg"
	copySample(t, filepath.Join(repository, sample), filepath.Join(s.root, sample))
	env := map[string]string{
		"DRYDOCK_PROGRESS": "none",
		"NO_COLOR":         "1",
		"LANG":             "en_US.UTF-8",
	}
	if zh {
		env["LANG"] = "zh_CN.UTF-8"
	}
	config := t.TempDir()
	s.host = cli.Host{
		In: strings.NewReader(""), Out: &s.out, Err: &s.out,
		InTTY: true, OutTTY: true, ErrTTY: true, Width: 80,
		Getenv:    func(k string) string { return env[k] },
		Now:       time.Now,
		Chdir:     os.Chdir,
		ConfigDir: func() (string, error) { return config, nil },
		CacheDir:  func() (string, error) { return cache, nil },
		HTTP:      &http.Client{},
		Trainers:  launch.Local(),
	}
	t.Chdir(s.root)
	return s
}

// copySample copies a sample as a fresh clone has it.
func copySample(t *testing.T, from, to string) {
	t.Helper()
	src := os.DirFS(from)
	err := fs.WalkDir(src, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && slices.Contains([]string{"build", "runs", ".drydock"}, name):
			return fs.SkipDir
		case d.IsDir():
			return nil
		}
		b, err := fs.ReadFile(src, name)
		if err == nil {
			writeFile(t, filepath.Join(to, filepath.FromSlash(name)), b)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func writeFile(t *testing.T, name string, b []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, b, 0o644); err != nil {
		t.Fatal(err)
	}
}

// replay runs the commands of a block and returns the block as it should be.
func (s *shell) replay(block string) string {
	s.t.Helper()
	var b strings.Builder
	for _, c := range parseSession(block) {
		b.WriteString("$ " + c.line + "\n")
		if c.here != "" {
			for line := range strings.Lines(c.here) {
				b.WriteString("> " + line)
			}
			b.WriteString("> EOF\n")
		}
		s.out.Reset()
		s.run(c)
		b.WriteString(s.out.String())
	}
	return b.String()
}

func (s *shell) run(c command) {
	s.t.Helper()
	args, ok := words(c.line)
	if !ok || len(args) == 0 {
		s.t.Fatalf("not a command this test understands: %s", c.line)
	}
	if strings.HasPrefix(c.line, "go run ./cmd/drydock ") {
		args = append([]string{"drydock"}, args[3:]...)
	}
	code := 0
	var err error
	switch {
	case args[0] == "drydock":
		code = s.drydock(args[1:])
	case c.line == "echo $?":
		fmt.Fprintln(&s.out, s.code)
	case args[0] == "cat" && len(args) == 2:
		err = s.show(args[1], -1)
	case args[0] == "cat" && len(args) == 4 && args[1] == ">" && args[3] == "<<EOF":
		writeFile(s.t, args[2], []byte(c.here))
	case args[0] == "head" && len(args) >= 4 && args[1] == "-n":
		var n int
		if n, err = strconv.Atoi(args[2]); err == nil {
			err = s.show(args[3], n)
		}
		if len(args) == 6 && args[4] == ">" {
			writeFile(s.t, args[5], s.out.Bytes())
			s.out.Reset()
		}
	case args[0] == "cp" && len(args) >= 3:
		err = s.cp(args[1:len(args)-1], args[len(args)-1])
	default:
		s.t.Fatalf("not a command this test understands: %s", c.line)
	}
	if err != nil {
		s.t.Fatalf("%s: %v", c.line, err)
	}
	s.code = code
}

func (s *shell) drydock(args []string) int {
	s.t.Helper()
	code := cli.Main(args, s.host)
	if err := os.Chdir(s.root); err != nil { // -C is the program's, not the shell's
		s.t.Fatal(err)
	}
	return code
}

// show prints the first n lines of a file, or all when n is negative.
func (s *shell) show(name string, n int) error {
	b, err := os.ReadFile(filepath.FromSlash(name))
	if err != nil {
		return err
	}
	for line := range bytes.Lines(b) {
		if n == 0 {
			break
		}
		n--
		if _, err := s.out.Write(line); err != nil {
			return err
		}
	}
	return nil
}

func (s *shell) cp(files []string, to string) error {
	for _, f := range files {
		b, err := os.ReadFile(filepath.FromSlash(f))
		if err != nil {
			return err
		}
		dst := filepath.FromSlash(to)
		if strings.HasSuffix(to, "/") {
			dst = filepath.Join(dst, path.Base(f))
		}
		if err := os.WriteFile(dst, b, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// words splits a command line at spaces; single and double quotes group.
func words(line string) ([]string, bool) {
	var (
		out   []string
		word  strings.Builder
		quote rune
		open  bool
	)
	for _, r := range line {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case r == '\'' || r == '"':
			quote, open = r, true
		case r == ' ':
			if open {
				out = append(out, word.String())
			}
			word.Reset()
			open = false
		default:
			word.WriteRune(r)
			open = true
		}
	}
	if open {
		out = append(out, word.String())
	}
	return out, quote == 0
}
