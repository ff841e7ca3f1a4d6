package pipeline

import (
	"testing"

	"github.com/drydock-ml/drydock/dedup/contam"
)

func TestAnnotated(t *testing.T) {
	t.Parallel()
	found := []contam.Finding{{Item: contam.ItemRef{Benchmark: "b", Index: 3}, Verdict: contam.Near, Score: 0.5}}
	const mark = `"contamination":[{"benchmark":"b","index":3,"verdict":"near","score":0.5000}]}`
	for row, want := range map[string]string{
		`{}`:                  `{` + mark,
		`{ }`:                 `{` + mark,
		`{"a":1}`:             `{"a":1,` + mark,
		"{\"a\":{\"b\":2} } ": `{"a":{"b":2},` + mark + " ",
		`[1]`:                 `[1]`,
	} {
		if got := string(annotated([]byte(row), found)); got != want {
			t.Errorf("%s became %s, want %s", row, got, want)
		}
	}
}
