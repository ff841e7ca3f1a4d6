package convert_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/drydock-ml/drydock/dataprep/format"
	"github.com/drydock-ml/drydock/dataprep/rowfile"
	"github.com/drydock-ml/drydock/internal/convert"
	"github.com/drydock-ml/drydock/internal/msg"
)

// Ids that two inputs share become SOURCE/ID, a row with a field of another type is
// left out with its place, and what is left out stands beside the output.
func TestRun(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	turns := `"messages":[{"role":"user","content":"q"},{"role":"assistant","content":"a"}]`
	in := []string{filepath.Join(dir, "a.jsonl"), filepath.Join(dir, "b.jsonl")}
	for i, rows := range []string{
		`{"id":"1",` + turns + `,"score":1}` + "\n" + `{"id":"2",` + turns + `,"score":"high"}` + "\n",
		`{"id":1,` + turns + `,"score":2}` + "\n",
	} {
		if err := os.WriteFile(in[i], []byte(rows), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	out := filepath.Join(dir, "rows.jsonl")
	o := convert.Options{Inputs: in, To: "openai", Out: out, Kind: rowfile.JSONL, Workers: 1, Note: func(format.Note) {}}
	res, bad, err := convert.Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"id":"a/1",` + turns + `,"score":1}` + "\n" + `{"id":"b/1",` + turns + `,"score":2}` + "\n"
	if d := cmp.Diff(want, string(got)); d != "" {
		t.Errorf("rows (-want +got):\n%s", d)
	}
	if res.Sums.In != 3 || res.Sums.Out != 2 || res.Sums.Dropped["type_drift"] != 1 || res.Renamed != 2 || !res.AsText {
		t.Errorf("result %+v", res)
	}
	if len(bad) != 1 || bad[0].Where.Line != 2 || !strings.Contains(bad[0].In(msg.En), "type_drift") {
		t.Errorf("told %v", bad)
	}
	dropped, err := os.ReadFile(filepath.Join(dir, "rows.dropped.jsonl"))
	if err != nil || !strings.Contains(string(dropped), `"pointer":"/score"`) {
		t.Errorf("dropped %s, %v", dropped, err)
	}
}

// A dry run leaves nothing behind.
func TestDryRun(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in := filepath.Join(dir, "a.jsonl")
	if err := os.WriteFile(in, []byte(`{"instruction":"q","input":"","output":"a"}`+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	res, bad, err := convert.Run(t.Context(), convert.Options{
		Inputs: []string{in}, To: "openai", Out: filepath.Join(dir, "out", "rows.jsonl"), Kind: rowfile.JSONL,
		DryRun: true, Workers: 1, Note: func(format.Note) {},
	})
	if err != nil || len(bad) > 0 || res.Sums.Out != 1 {
		t.Errorf("%+v, %v, %v", res, bad, err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}
