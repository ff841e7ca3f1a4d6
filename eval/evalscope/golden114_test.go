package evalscope_test

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/drydock-ml/drydock/eval/benchmark"
	"github.com/drydock-ml/drydock/eval/evalscope"
	"github.com/drydock-ml/drydock/internal/golden"
)

// TestNewerGoldens writes the values that the real EvalScope 1.14.1 wrote: ids,
// and what the clock says, aside.
func TestNewerGoldens(t *testing.T) {
	t.Parallel()
	root := golden.RealData(t, "evalscope-golden")
	for _, c := range []goldenRun{
		{folder: "limit25", replies: "v1.14.1/limit25/replies.jsonl", n: 25},
		{folder: "edge64", items: "edge64/test.jsonl", replies: "edge64/replies.jsonl", n: 64},
		{folder: "full-messy", replies: "v1.4.2/full-messy/replies.jsonl", n: 1888},
		{folder: "fail25-ignore-errors", replies: "v1.14.1/fail25-ignore-errors/replies.jsonl", n: 25, fails: true},
	} {
		t.Run(c.folder, func(t *testing.T) {
			t.Parallel()
			b, err := maritime(t).(*benchmark.Choice).WithRule("bracket_last@1")
			if err != nil {
				t.Fatal(err)
			}
			predictions, reviews, report := c.rows(t, root, evalscope.Schema114, b)
			dir := filepath.Join(root, "v1.14.1", c.folder)
			for name, ours := range map[string][]byte{"reviews.jsonl": reviews, "predictions.jsonl": predictions} {
				real, ours := values(t, golden.ReadFile(t, filepath.Join(dir, name))), values(t, ours)
				if !reflect.DeepEqual(real, ours) { // a diff of equal values of this size takes seconds
					t.Errorf("%s (-real +ours):\n%s", name, cmp.Diff(real, ours))
				}
			}
			ours := evalscope.Schema114.AppendReport(nil, &report)
			if d := cmp.Diff(values(t, golden.ReadFile(t, filepath.Join(dir, "report.json"))), values(t, ours)); d != "" {
				t.Errorf("report (-real +ours):\n%s", d)
			}
		})
	}
}

// values reads JSON documents, with ids and what the clock says masked, in the
// order of their index.
func values(t testing.TB, data []byte) []any {
	t.Helper()
	var out []any
	dec := json.NewDecoder(bytes.NewReader(data))
	for dec.More() {
		var v any
		if err := dec.Decode(&v); err != nil {
			t.Fatal(err)
		}
		out = append(out, mask("", v))
	}
	slices.SortFunc(out, func(a, b any) int {
		x, _ := a.(map[string]any)["index"].(float64)
		y, _ := b.(map[string]any)["index"].(float64)
		return int(x - y)
	})
	return out
}

func mask(key string, v any) any {
	switch x := v.(type) {
	case map[string]any:
		for k, e := range x {
			x[k] = mask(k, e)
		}
		if key == "latency" || key == "throughput" {
			for k := range x {
				if _, number := x[k].(float64); number && !strings.HasPrefix(k, "display") {
					x[k] = "clock"
				}
			}
		}
	case []any:
		for i := range x {
			x[i] = mask(key, x[i])
		}
	case float64:
		if key == "latency" || key == "time" {
			return "clock"
		}
	case string:
		if key == "id" {
			return "id"
		}
	}
	if key == "id" {
		return "id"
	}
	return v
}
