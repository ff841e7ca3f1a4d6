package launch

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/drydock-ml/drydock/internal/spec"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// cutInto runs a stream through a splitter in pieces of the given sizes.
func cutInto(t interface{ Fatal(...any) }, stream string, sizes []int) []string {
	var out []string
	line := func(text []byte, bar bool) error {
		out = append(out, fmt.Sprintf("%v %s", bar, text))
		return nil
	}
	var s splitter
	for stream != "" {
		n := len(stream)
		if len(sizes) > 0 {
			n, sizes = min(n, sizes[0]), sizes[1:]
		}
		if err := s.write([]byte(stream[:n]), line); err != nil {
			t.Fatal(err)
		}
		stream = stream[n:]
	}
	if err := s.end(line); err != nil {
		t.Fatal(err)
	}
	return out
}

func TestSplitter(t *testing.T) {
	t.Parallel()
	for stream, want := range map[string][]string{
		"":                             nil,
		"a\nb":                         {"false a", "false b"},
		"a\r\nb\r\n":                   {"false a", "false b"},
		" 1%\r 2%\r\r\n":               {"true  1%", "true  2%", "false "},
		"\n\nx":                        {"false ", "false ", "false x"},
		"\r":                           nil,
		"船  \n":                        {"false 船"},
		strings.Repeat("a", maxLine+1): {"false " + strings.Repeat("a", maxLine), "false a"},
	} {
		if d := cmp.Diff(want, cutInto(t, stream, nil)); d != "" {
			t.Errorf("%.20q: %s", stream, d)
		}
	}
}

// Lines do not depend on how the pipe cuts the stream.
func TestSplitterInAnyPieces(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		stream := rapid.StringOf(rapid.SampledFrom([]rune("ab \r\n船"))).Draw(rt, "stream")
		sizes := rapid.SliceOf(rapid.IntRange(1, 3)).Draw(rt, "sizes")
		if d := cmp.Diff(cutInto(rt, stream, nil), cutInto(rt, stream, sizes)); d != "" {
			rt.Fatal(d)
		}
	})
}

func TestTail(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "log.jsonl")
	var got []string
	read := func(tl *tail) []string {
		got = nil
		if err := tl.read(func(b []byte) error { got = append(got, string(b)); return nil }); err != nil {
			t.Fatal(err)
		}
		return got
	}
	write := func(s string, flag int) {
		f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|flag, 0o644)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if _, err := f.WriteString(s); err != nil {
			t.Fatal(err)
		}
	}
	fresh := newTail("log", path)
	if read(fresh) != nil {
		t.Error("a file that is not there has lines")
	}
	write("old\n", os.O_APPEND)
	resumed := newTail("log", path) // what stood there before the start is not news
	write("one\r\ntor", os.O_APPEND)
	if d := cmp.Diff([]string{"one"}, read(resumed)); d != "" {
		t.Error(d)
	}
	write("n\n\ntwo\n", os.O_APPEND)
	if d := cmp.Diff([]string{"torn", "two"}, read(resumed)); d != "" {
		t.Error(d)
	}
	write("new\n", os.O_TRUNC)
	if d := cmp.Diff([]string{"new"}, read(resumed)); d != "" {
		t.Error(d)
	}
}

func TestRedact(t *testing.T) {
	t.Parallel()
	s := SecretsOf([]string{
		"HF_TOKEN=hf_abc123456", "API_KEY=hf_abc", "WANDB_API_KEY=hf_abc123456xyz", "DB_PASSWORD=geheim99",
		"TOKENIZERS_PARALLELISM=falsefalse", "SSH_KEY_FILE=/home/u/id_rsa", "KEYBOARD=querty1", "SHORT_TOKEN=abc", "PATH=/usr/bin",
	})
	for in, want := range map[string]string{
		"login hf_abc123456xyz and hf_abc123456": "login [redacted] and [redacted]",
		"geheim99":                               "[redacted]",
		"falsefalse querty1 abc /home/u/id_rsa":  "falsefalse querty1 abc /home/u/id_rsa",
		"":                                       "",
	} {
		if got := string(s.Redact([]byte(in))); got != want {
			t.Errorf("%q → %q, want %q", in, got, want)
		}
	}
}

func TestYAMLScalars(t *testing.T) {
	t.Parallel()
	for x, want := range map[float64]string{
		1e-5: "1.0e-05", 1.5e-7: "1.5e-07", 1e-4: "0.0001", 3: "3.0", 0: "0.0", 0.1: "0.1", 1e20: "1.0e+20", -2e-6: "-2.0e-06",
	} {
		if got := yamlFloat(x); got != want {
			t.Errorf("%g is %s, want %s", x, got, want)
		}
	}
	for s, want := range map[string]string{
		"all": "all", "": `""`, "yes": `"yes"`, "No": `"No"`, "null": `"null"`, "1e5": `"1e5"`, "0x1f": `"0x1f"`, ".": ".", "..": `".."`,
		"../a-b_c.yaml": "../a-b_c.yaml", "/abs/p": "/abs/p", "a b": `"a b"`, "a: b": `"a: b"`, "#x": `"#x"`, "数据": `"数据"`, "-x": `"-x"`, "a\"b": `"a\"b"`, "Qwen/Qwen3-8B": "Qwen/Qwen3-8B",
	} {
		if got := yamlText(s); got != want {
			t.Errorf("%q is %s, want %s", s, got, want)
		}
	}
	var y yamlFile
	d := spec.Parse("x.yaml", []byte("{a: true, b: 10, c: 1e-5, d: adamw, e: null, f: NaN, g: 'false', h: yes, i: [1e-6, x y], j: {k: 1_000}, l: 12e3, m: '12e3'}"))
	for _, p := range d.Pairs(d.Root, "x") {
		y.node(p.Key.Value, p.Value)
	}
	y.int("b", 11)
	want := "a: true\nb: 11\nc: 1.0e-05\nd: adamw\ne: null\nf: NaN\ng: \"false\"\nh: true\ni: [1.0e-06, \"x y\"]\nj: {\"k\": 1000}\nl: 12000.0\nm: \"12e3\"\n"
	if got := y.String(); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}
