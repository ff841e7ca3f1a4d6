package pipeline

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/drydock-ml/drydock"
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

// Rows of one file are of several units where it is large; an item that is cut at
// the border of two is found like any other.
func TestLeakOverTwoUnits(t *testing.T) {
	t.Parallel()
	dir := newProject(t, 1, 5)
	const rows = 55
	var b []byte
	for i := range rows {
		filler := strings.Repeat(fmt.Sprintf("第%d段航次记录：海面平静，水手们在清洗绞车。", i), 1600) // 100 KB
		b = append(b, `{"messages":[{"role":"user","content":`...)
		b = drydock.AppendJSONString(b, "首尾线的夹角一般不宜小于______。\n"+filler)
		b = append(b, `},{"role":"assistant","content":`...)
		b = drydock.AppendJSONString(b, "好的，已记录。拖轮顶推大船时，拖缆与船")
		b = append(b, "}]}\n"...)
	}
	if len(b) < 5<<20 {
		t.Fatalf("%d bytes are one unit", len(b))
	}
	if err := os.WriteFile(filepath.Join(dir, "raw", "rows.jsonl"), b, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, workers := range []int{1, 3} {
		res := mustRun(t, dir, Options{Workers: workers})
		// each row but the last ends with what the next one goes on with
		if s := res.Stage(StageContam); s.Sums.Dropped["contam_stem_only"] != rows-1 {
			t.Errorf("%d workers: %+v", workers, s.Sums)
		}
		if err := os.RemoveAll(filepath.Join(dir, ".drydock")); err != nil {
			t.Fatal(err)
		}
	}
}
