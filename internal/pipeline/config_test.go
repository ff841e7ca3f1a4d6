package pipeline

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/drydock-ml/drydock/internal/fail"
	"github.com/drydock-ml/drydock/internal/msg"
)

// lintText parses a configuration that stands in a folder with a few files.
func lintText(t *testing.T, text string) fail.List {
	t.Helper()
	dir := t.TempDir()
	for name, content := range map[string]string{
		"a.txt": "x", "sub/b.txt": "y", "key.txt": "1 A", "report.docx": "PK",
		"bench.json": `[{"question":"q","answer":"A","A":"1","B":"2"}]`, "torn.json": `[{"question":`,
	} {
		p := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	p := filepath.Join(dir, ConfigName)
	if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	_, findings := LoadFor(p, t.TempDir())
	return findings
}

const good = `version: 1
sources: [{name: a, path: a.txt, license: CC0-1.0}]
output: [{question: {path: build/q.jsonl}}]
`

func TestLint(t *testing.T) {
	t.Parallel()
	if f := lintText(t, good); len(f) > 0 {
		t.Fatal(f)
	}
	for name, c := range map[string]struct{ text, want string }{
		"no version":        {strings.Replace(good, "version: 1\n", "", 1), `needs the option "version"`},
		"version 2":         {strings.Replace(good, "version: 1", "version: 2", 1), "version 2 is not known"},
		"no sources":        {"version: 1\noutput: [{question: {path: q.jsonl}}]\n", `needs the option "sources"`},
		"no output":         {"version: 1\nsources: [{name: a, path: a.txt}]\n", `needs the option "output"`},
		"missing file":      {strings.Replace(good, "path: a.txt", "path: b.txt", 1), "b.txt"},
		"nothing matches":   {strings.Replace(good, "path: a.txt", `path: "*.pdf"`, 1), "no file matches *.pdf"},
		"same name twice":   {strings.Replace(good, "sources: [", "sources: [{name: a, path: key.txt}, ", 1), `two sources are called "a"`},
		"slash in a name":   {strings.Replace(good, "name: a", "name: a/b", 1), "cannot hold /"},
		"no key file":       {strings.Replace(good, "path: a.txt", "path: a.txt, key: k.txt", 1), "k.txt"},
		"unknown step":      {good + "steps: [drop_shrot]\n", "there is no step drop_shrot"},
		"step by a mapping": {good + "steps: [{drop_short: {min_runes: 3}, tidy_text: }]\n", "one name with its options"},
		"unknown shape":     {strings.Replace(good, "question:", "questions:", 1), "there is no output questions"},
		"twice written":     {strings.Replace(good, "output: [", "output: [{passage: {path: build/q.jsonl}}, ", 1), "two outputs write build/q.jsonl"},
		"not jsonl":         {strings.Replace(good, "q.jsonl", "q.csv", 1), "rows are written as .jsonl, .json, .parquet or .arrow"},
		"outside":           {strings.Replace(good, "build/q.jsonl", "../q.jsonl", 1), "outside the project"},
		"reads its output":  {strings.Replace(strings.Replace(good, "build/q.jsonl", "sub/x.jsonl", 1), "path: a.txt", "path: sub", 1), ""},
		"as without parser": {strings.Replace(good, "path: a.txt", "path: a.txt, as: passage", 1) + "steps: [parse_questions]\n", "no step in steps makes a passage"},
		"unknown benchmark": {good + "contamination: {against: [maritime_bench]}\n", "no copy of maritime_bench is registered"},
		"no such benchmark": {good + "contamination: {against: [martime_bench]}\n", "there is no benchmark and no file"},
		"torn benchmark":    {good + "benchmarks: [{name: b, path: torn.json}]\n", "torn.json"},
		"bad on_hit":        {good + "contamination: {on_hit: keep}\n", `on_hit cannot be "keep"`},
		"nobody to ask":     {good + "benchmarks: [{name: b, path: bench.json}]\neval: {benchmarks: [b]}\n", "nobody to ask"},
		"nothing to ask":    {good + "eval: {endpoints: [\"builtin:lookup\"]}\n", "no benchmarks"},
		"bad endpoint":      {good + "eval: {benchmarks: [bench.json], endpoints: [\"builtin:best\"]}\n", "there is no builtin:best"},
		"no model":          {good + "eval: {benchmarks: [bench.json], base_url: \"http://127.0.0.1:1/v1\"}\n", "names no model"},
		"bad accuracy":      {good + "eval: {benchmarks: [bench.json], endpoints: [\"builtin:lookup\"], min_acc: 60}\n", "between 0 and 1"},
		"near":              {good + "dedup: {near: {threshold: 0.9}, prefer: [a]}\n", ""},
		"near by default":   {good + "dedup: {near: {}}\n", ""},
		"threshold 0":       {good + "dedup: {near: {threshold: 0}}\n", "threshold 0 is not above 0.5"},
		"threshold 85":      {good + "dedup: {near: {threshold: 85}}\n", "threshold 85 is not above 0.5"},
		"near, not exact":   {good + "dedup: {near: {threshold: 0.9}, exact: false}\n", "near removes equal records, too"},
		"no such source":    {good + "dedup: {prefer: [b]}\n", "there is no source \"b\""},
		"two trainers":      {good + "train: {command: {argv: [sh]}, llamafactory: {}}\n", "exactly one trainer"},
		"no team":           {good + "submission: {report: report.docx}\n", "needs a team"},
		"bad method":        {good + "submission: {team: t, methods: [sftt], report: report.docx}\n", `"sftt" is no method`},
		"no report":         {good + "submission: {team: t, report: r.docx}\n", "r.docx"},
		"not evaluated":     {good + "submission: {team: t, report: report.docx}\n", "eval is missing"},
	} {
		f := lintText(t, c.text)
		if c.want == "" {
			if len(f) > 0 {
				t.Errorf("%s: %v", name, f)
			}
			continue
		}
		if !strings.Contains(f.Error(), c.want) {
			t.Errorf("%s: got %q, want %q", name, f.Error(), c.want)
		}
		for _, e := range f {
			if e.Kind != fail.Config || e.Where.Line == 0 && e.Where.File == "" {
				t.Errorf("%s: kind %s, place %q", name, e.Kind, e.Where)
			}
			if e.Message(msg.Zh) == e.Message(msg.En) && !strings.Contains(e.Error(), "no such file") {
				t.Errorf("%s: no Chinese for %q", name, e.Message(msg.En))
			}
		}
	}
}

func TestEveryMistakeAtOnce(t *testing.T) {
	t.Parallel()
	f := lintText(t, `version: 1
sources:
  - {name: a, path: a.txt, licence: x}
steps:
  - drop_short: {min_runes: ten}
output:
  - qwen3_chat: {path: build/t.jsonl}
  - qwen3_chat: {path: build/t.jsonl}
contamination: {against: [nowhere]}
version: 1
`)
	var lines []int
	for _, e := range f {
		lines = append(lines, e.Where.Line)
	}
	if d := cmp.Diff([]int{3, 5, 8, 9, 10}, lines); d != "" {
		t.Errorf("lines of the findings (-want +got):\n%s\n%v", d, f)
	}
}

func TestMatch(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		pattern, path string
		want          bool
	}{
		{"*.txt", "a.txt", true},
		{"*.txt", "sub/a.txt", false},
		{"**/*.txt", "a.txt", true},
		{"**/*.txt", "x/y/a.txt", true},
		{"sub/**", "sub/x/y.pdf", true},
		{"sub/**/b?.txt", "sub/b1.txt", true},
		{"sub/**/b?.txt", "other/b1.txt", false},
		{"题库[12].xlsx", "题库2.xlsx", true},
		{"**", "", true},
	} {
		if got := match(strings.Split(c.pattern, "/"), strings.Split(c.path, "/")); got != c.want {
			t.Errorf("match(%q, %q) = %v", c.pattern, c.path, got)
		}
	}
}

func TestFindKeepsAFixedOrderAndNamesFromTheRoot(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"b.txt", "a.txt", "sub/c.txt", ".hidden/d.txt", "~$open.docx", ".e.txt"} {
		p := filepath.Join(dir, "raw", name)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for pattern, want := range map[string][]string{
		"raw":          {"a.txt", "b.txt", "sub/c.txt"},
		"raw/*.txt":    {"a.txt", "b.txt"},
		"raw/**/*.txt": {"a.txt", "b.txt", "sub/c.txt"},
		"raw/b.txt":    {"b.txt"},
		"raw/sub":      {"c.txt"},
	} {
		s := SourceConfig{Name: "s", Path: []string{pattern, pattern}}
		found, err := s.find(dir)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, f := range found {
			names = append(names, f.name)
		}
		if d := cmp.Diff(want, names); d != "" {
			t.Errorf("%s (-want +got):\n%s", pattern, d)
		}
	}
	if _, err := (&SourceConfig{Path: []string{"nowhere"}}).find(dir); err == nil {
		t.Error("a missing folder is no error")
	}
	if _, err := (&SourceConfig{Path: []string{"raw/[a.txt"}}).find(dir); err == nil {
		t.Error("a torn pattern is no error")
	}
}
