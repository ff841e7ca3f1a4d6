package pipeline

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// withNear turns the search for near duplicates on and adds a file of rows with
// some: one of them repeats a question of the first bank but for a letter.
func withNear(t *testing.T, dir string) string {
	t.Helper()
	path := filepath.Join(dir, ConfigName)
	src, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	near := "dedup: {near: {}, prefer: [checked]}\nsources:\n  - {name: chats, path: chats.jsonl, license: CC0-1.0}\n  - {name: checked, path: checked.jsonl, license: CC0-1.0}\n"
	files := map[string]string{
		ConfigName: strings.Replace(string(src), "sources:\n", near, 1),
		"checked.jsonl": `{"id":"c1","messages":[{"role":"user","content":"锚泊船在能见度不良时应当怎样鸣放雾号？"},{"role":"assistant","content":"每隔不超过一分钟急敲号钟约五秒。"}]}
`,
		"chats.jsonl": `{"id":"d1","messages":[{"role":"user","content":"锚泊船在能见度不良时应该怎样鸣放雾号？"},{"role":"assistant","content":"每隔不超过一分钟急敲号钟约五秒。"}]}
{"id":"d2","messages":[{"role":"user","content":"锚泊船在能见度不良时应该怎样鸣放雾号？"},{"role":"assistant","content":"每隔不超过两分钟急敲号钟约五秒。"}]}
{"id":"d3","messages":[{"role":"user","content":"拖轮在能见度不良时应该怎样鸣放雾号？"},{"role":"assistant","content":"一长声接着两短声。"}]}
`,
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestNearDuplicates(t *testing.T) {
	t.Parallel()
	dir := withNear(t, newProject(t, 1, 4))
	res := mustRun(t, dir, Options{})
	s := res.Stage(StageDedup)
	if s.Sums.Dropped["duplicate_near"] != 1 || s.Dedup == nil || s.Dedup.Threshold != 0.85 || s.Dedup.Listed["conflict_answer"] != 1 {
		t.Errorf("sums %v, near %+v", s.Sums, s.Dedup)
	}
	report, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(duplicatesFile)))
	if err != nil {
		t.Fatal(err)
	}
	// d1 went for the row of the preferred source, though it is read first;
	// d2 stays with its other answer
	for _, want := range []string{
		`"source":"chats","file":"chats.jsonl","locator":"l1"},"kept":{`, `"reason":"duplicate_near"`, `"differs":"当→该"`,
		`{"listed":{`, `"reason":"conflict_answer"`,
	} {
		if !bytes.Contains(report, []byte(want)) {
			t.Errorf("%s is missing in\n%s", want, report)
		}
	}
	for file, want := range map[string][]string{
		".drydock/stages/03-dedup/dropped.jsonl": {`"evidence":{"score":0.9697`, `"rule":"near@1","kept":"`},
		"build/provenance/steps.jsonl":           {`"near":{"threshold":0.85},"prefer":["checked"]`},
	} {
		b, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(file)))
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range want {
			if !bytes.Contains(b, []byte(w)) {
				t.Errorf("%s is missing in %s:\n%s", w, file, b)
			}
		}
	}
	again := mustRun(t, dir, Options{}).Stage(StageDedup)
	if again.Status != StatusCached {
		t.Errorf("the second run: %s", again.Status)
	}
	if d := cmp.Diff(s.Dedup, again.Dedup); d != "" {
		t.Error(d)
	}
}
