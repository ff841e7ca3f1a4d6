package pipeline

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// An item cut in two by neighbouring rows is a leak of the row it begins in; the
// report names both.
func TestLeakOverTwoRecords(t *testing.T) {
	t.Parallel()
	dir := newProject(t, 1, 5)
	rows := `{"messages":[{"role":"user","content":"接着写。"},{"role":"assistant","content":"缆绳已经检查完毕。拖轮顶推大船时，拖缆与船"}]}
{"messages":[{"role":"user","content":"首尾线的夹角一般不宜小于______。"},{"role":"assistant","content":"好的，下一章介绍绞车的保养与检修周期。"}]}
{"messages":[{"role":"user","content":"怎样检查锚链？"},{"role":"assistant","content":"逐节敲击，听声音并测量直径。"}]}
`
	if err := os.WriteFile(filepath.Join(dir, "raw", "rows.jsonl"), []byte(rows), 0o644); err != nil {
		t.Fatal(err)
	}
	res := mustRun(t, dir, Options{})
	s := res.Stage(StageContam)
	if s.Sums.Dropped["contam_stem_only"] != 1 || s.Sums.DroppedTotal() != 2 {
		t.Errorf("%+v", s.Sums)
	}
	report, err := os.ReadFile(filepath.Join(dir, reportFile))
	if err != nil {
		t.Fatal(err)
	}
	var row string
	for line := range strings.Lines(string(report)) {
		if strings.Contains(line, `"next":{`) {
			row = line
		}
	}
	for _, want := range []string{`"line":1,"pointer":"/messages/1/content"`, `"line":2,"pointer":"/messages/0/content"`, `"verdict":"stem_only"`} {
		if !strings.Contains(row, want) {
			t.Errorf("%s is not in %q", want, row)
		}
	}
	out, err := os.ReadFile(filepath.Join(dir, "build", "train.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(out), "拖缆与船") || !strings.Contains(string(out), "绞车的保养") {
		t.Error("the row it begins in is to go, the other one to stay")
	}
}
